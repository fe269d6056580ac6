/* `constraints` of a scene: rods between two vertices. */
#include "read.h"

#include <string.h>

typedef struct Rod {
    double length; /* NAN: not given */
} Rod;

static const BrioKey rod_keys[] = {
    {KEY_CHOICE("type", "rod", NAN, "What it is: two vertices that stay as far apart as they are."),
     KEY_REQUIRED},
    {KEY_OTHER("a", "map, or [body, vertex]", "One end. It may be fixed, but not scripted."),
     KEY_REQUIRED},
    {KEY_OTHER("b", "map, or [body, vertex]", "The other end."), KEY_REQUIRED},
    {KEY_REAL("length", "m", NAN, KEY_POSITIVE, 1e15,
              "The distance; the initial state must have it."),
     KEY_WORDS("from the initial state"), KEY_INTO(Rod, length)},
    KEY_END};
BRIO_SECTION(rod){"constraints[]", "Rods", rod_keys};

static const BrioKey end_keys[] = {
    {KEY_TEXT("body", "Name of the body."), KEY_WORDS("the only body")},
    {KEY_OTHER("vertex", "whole number", "Vertex of the body, from 0."), KEY_REQUIRED},
    KEY_END};
BRIO_SECTION(end){"constraints[].a", "An end of a rod", end_keys};

/* An end of a rod: {body: chain, vertex: 0} or [chain, 0]. */
static BrioStatus read_end(BrioNode *node, const BrioBuilder *builder, int *body, int32_t *vertex,
                           BrioError *error)
{
    BrioNode *named = NULL, *number = NULL;
    int64_t value;
    *body = 0;
    if (node->kind == BRIO_NODE_LIST && node->count == 2) {
        named = node->child[0];
        number = node->child[1];
    } else if (node->kind == BRIO_NODE_MAP) {
        BRIO_CHECK(brio__read_keys(node, end_keys, NULL, error));
        named = brio__node_get(node, "body");
        number = brio__node_get(node, "vertex");
    } else {
        return brio__node_error(node, error,
                                "expected {body: name, vertex: number} or [name, number]");
    }
    if (named) {
        const char *text, *names[256];
        int count = 0;
        BRIO_CHECK(brio__node_text(named, &text, error));
        for (; count < (int)BRIO_COUNT(names) && brio__builder_name(builder, count); count++)
            names[count] = brio__builder_name(builder, count);
        *body = brio__builder_find(builder, text);
        if (*body < 0) return brio__no_such(named, "body", text, names, count, error);
    } else if (brio__builder_name(builder, 1)) {
        return brio__node_error(node, error, "missing key \"body\": there are several bodies");
    }
    BRIO_CHECK(brio__node_integer(number, &value, error));
    BrioError inner = {0};
    BrioStatus status = brio__builder_check_vertex(builder, *body, value, &inner);
    *vertex = (int32_t)value;
    return status == BRIO_OK ? BRIO_OK : brio__at_node(number, status, error, &inner);
}

BrioStatus brio__read_constraints(BrioNode *root, BrioBuilder *builder, BrioError *error)
{
    BrioNode *list = brio__node_get(root, "constraints");
    for (int i = 0; list && i < list->count; i++) {
        BrioNode *node = list->child[i];
        int body[2];
        int32_t vertex[2];
        Rod rod;
        brio__key_defaults(rod_keys, &rod);
        BRIO_CHECK(brio__read_keys(node, rod_keys, &rod, error));
        for (int k = 0; k < 2; k++)
            BRIO_CHECK(read_end(brio__node_get(node, k ? "b" : "a"), builder, &body[k], &vertex[k],
                                error));
        BrioError inner = {0};
        BrioStatus status =
            brio_builder_rod(builder, body[0], vertex[0], body[1], vertex[1], rod.length, &inner);
        if (status != BRIO_OK) return brio__at_node(node, status, error, &inner);
    }
    return BRIO_OK;
}
