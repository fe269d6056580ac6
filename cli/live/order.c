/* The orders of a browser: their names and their arguments. */
#include "order.h"

#include <stdlib.h>
#include <string.h>

typedef enum Member {
    HAS_COUNT = 1,
    HAS_INDEX = 2,
    HAS_NAME = 4,
    HAS_VALUE = 8,
    HAS_POINT = 16,
    HAS_ON = 32,
    HAS_VALUES = 64,
    HAS_RAY_OR_VERTEX = 128
} Member;

static const struct {
    const char *name;
    unsigned has;
    const char *index; /* what the index is called */
} orders[ORDER_KINDS] = {
    [ORDER_PLAY] = {"play", 0, NULL},
    [ORDER_PAUSE] = {"pause", 0, NULL},
    [ORDER_STEP] = {"step", HAS_COUNT, NULL},
    [ORDER_RESTART] = {"restart", HAS_ON, NULL},
    [ORDER_GRAB] = {"grab", HAS_RAY_OR_VERTEX, NULL},
    [ORDER_DRAG] = {"drag", HAS_INDEX | HAS_POINT, "hand"},
    [ORDER_RELEASE] = {"release", HAS_INDEX, "hand"},
    [ORDER_MATERIAL] = {"material", HAS_INDEX | HAS_NAME | HAS_VALUE, "body"},
    [ORDER_DAMPING] = {"damping", HAS_INDEX | HAS_NAME | HAS_VALUE, "model"},
    [ORDER_FORCE] = {"force", HAS_INDEX | HAS_VALUE, "force"},
    [ORDER_GRAVITY] = {"gravity", HAS_POINT, NULL},
    [ORDER_INTEGRATOR] = {"integrator", HAS_NAME | HAS_VALUES, NULL},
    [ORDER_H] = {"h", HAS_VALUE, NULL},
    [ORDER_SPEED] = {"speed", HAS_VALUE, NULL},
    [ORDER_RECORD] = {"record", HAS_ON, NULL},
    [ORDER_LEAVE] = {NULL, 0, NULL}, /* no browser says it */
};

const char *order_name(OrderKind kind) { return orders[kind].name; }

/* The child of that name, or an error. */
static BrioStatus needed(BrioNode *root, const char *key, BrioNode **node, BrioError *error)
{
    *node = brio__node_get(root, key);
    return *node ? BRIO_OK : brio__node_error(root, error, "the order needs \"%s\"", key);
}

static BrioStatus read_whole(BrioNode *root, const char *key, int64_t *value, BrioError *error)
{
    BrioNode *node;
    BRIO_CHECK(needed(root, key, &node, error));
    BRIO_CHECK(brio__node_integer(node, value, error));
    if (*value >= 0 && *value <= INT32_MAX) return BRIO_OK;
    return brio__node_error(node, error, "expected an integer from 0");
}

static BrioStatus read_values(BrioNode *root, Order *order, BrioError *error)
{
    BrioNode *node = brio__node_get(root, "values");
    char *text = NULL;
    size_t size;
    if (!node) return BRIO_OK;
    if (node->kind != BRIO_NODE_MAP)
        return brio__node_error(node, error, "expected values by their names");
    FILE *file = open_memstream(&text, &size);
    if (!file) return brio__no_memory(error);
    brio__tree_json(node, -1, file);
    BrioStatus status = brio__text_close(file, &text);
    if (status != BRIO_OK)
        brio__no_memory(error);
    else if (size >= sizeof order->text)
        status = brio__node_error(node, error, "the values are too long");
    else
        memcpy(order->text, text, size + 1);
    free(text);
    return status;
}

static BrioStatus read_grip(BrioNode *root, Order *order, BrioError *error)
{
    int64_t body;
    BrioNode *node = brio__node_get(root, "origin");
    if (node) {
        BRIO_CHECK(brio__node_reals(node, order->point, 3, error));
        BRIO_CHECK(needed(root, "direction", &node, error));
        return brio__node_reals(node, order->direction, 3, error);
    }
    if (!brio__node_get(root, "body"))
        return brio__node_error(root, error,
                                "a hand needs a ray (origin and direction), or a "
                                "body and a vertex");
    BRIO_CHECK(read_whole(root, "body", &body, error));
    order->index = (int)body;
    return read_whole(root, "vertex", &order->vertex, error);
}

static BrioStatus read_members(BrioNode *root, unsigned has, const char *index, Order *order,
                               BrioError *error)
{
    int64_t whole = 1;
    const char *name;
    BrioNode *node;
    if (has & HAS_COUNT) {
        if (brio__node_get(root, "count")) BRIO_CHECK(read_whole(root, "count", &whole, error));
        order->value = (double)whole;
    }
    bool all = order->kind == ORDER_MATERIAL && !brio__node_get(root, index); /* bodies */
    if (has & HAS_INDEX && !all) {
        BRIO_CHECK(read_whole(root, index, &whole, error));
        order->index = (int)whole;
    }
    if (has & HAS_NAME) {
        BRIO_CHECK(needed(root, "name", &node, error));
        BRIO_CHECK(brio__node_text(node, &name, error));
        if (strlen(name) >= sizeof order->name)
            return brio__node_error(node, error, "no name is that long");
        snprintf(order->name, sizeof order->name, "%s", name);
    }
    if (has & HAS_VALUE) {
        BRIO_CHECK(needed(root, "value", &node, error));
        BRIO_CHECK(brio__node_real(node, &order->value, error));
    }
    if (has & HAS_POINT) {
        BRIO_CHECK(needed(root, order->kind == ORDER_GRAVITY ? "value" : "point", &node, error));
        BRIO_CHECK(brio__node_reals(node, order->point, 3, error));
    }
    if (has & HAS_ON) {
        node = brio__node_get(root, order->kind == ORDER_RESTART ? "reset" : "on");
        if (node) BRIO_CHECK(brio__node_boolean(node, &order->on, error));
    }
    if (has & HAS_VALUES) BRIO_CHECK(read_values(root, order, error));
    return has & HAS_RAY_OR_VERTEX ? read_grip(root, order, error) : BRIO_OK;
}

static BrioStatus read_tree(BrioNode *root, Order *order, BrioError *error)
{
    const char *names[ORDER_KINDS], *word;
    int kind = 0, count = 0;
    BrioNode *node;
    if (root->kind != BRIO_NODE_MAP)
        return brio__error(error, BRIO_ERROR_INPUT, "an order is an object: {\"do\": \"play\"}");
    if ((node = brio__node_get(root, "id")))
        BRIO_CHECK(brio__node_integer(node, &order->id, error));
    BRIO_CHECK(needed(root, "do", &node, error));
    BRIO_CHECK(brio__node_text(node, &word, error));
    for (int i = 0; i < ORDER_KINDS; i++)
        if (orders[i].name) names[count++] = orders[i].name;
    while (kind < ORDER_KINDS && (!orders[kind].name || strcmp(orders[kind].name, word))) kind++;
    if (kind == ORDER_KINDS) {
        const char *nearest = brio__nearest(word, names, count);
        return brio__node_error(node, error, "no order \"%s\"%s%s%s", brio__excerpt(word).text,
                                nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                                nearest ? "\"?" : "");
    }
    order->kind = (OrderKind)kind;
    return read_members(root, orders[kind].has, orders[kind].index, order, error);
}

BrioStatus order_read(const char *text, size_t size, Order *order, BrioError *error)
{
    BrioNode *root = NULL;
    *order = (Order){.id = -1, .index = -1, .vertex = -1};
    BRIO_CHECK(brio__tree_parse_with(brio__json_parse, text, size, "order", &root, error));
    BrioStatus status = root ? read_tree(root, order, error) : BRIO_ERROR_INPUT;
    brio__tree_free(root);
    return status;
}
