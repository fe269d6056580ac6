/* Methods, step sizes and the reference of a comparison, as they are given on the command line. */
#include "compare_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- what was asked for ----------------------------------------------------------------- */

/* Cuts the next piece off a list, at a comma outside of braces, brackets and quotes; NULL at the
 * end. Blanks around it go. */
static char *next_piece(char **rest)
{
    char *start = *rest, quote = 0;
    int depth = 0;
    if (!start) return NULL;
    char *at = start;
    for (; *at; at++) {
        if (quote) {
            if (*at == quote) quote = 0;
        } else if (*at == '"' || *at == '\'') {
            quote = *at;
        } else if (*at == '{' || *at == '[') {
            depth++;
        } else if (*at == '}' || *at == ']') {
            depth--;
        } else if (*at == ',' && depth == 0) {
            break;
        }
    }
    *rest = *at ? at + 1 : NULL;
    *at = 0;
    while (at > start && isspace((unsigned char)at[-1])) *--at = 0;
    while (isspace((unsigned char)*start)) start++;
    return start;
}

/* "key=value" and the node that --set makes of it, in a tree that the caller frees. */
static BrioStatus assign(const char *key, const char *value, char **assignment, BrioNode **root,
                         BrioError *error)
{
    size_t size = strlen(key) + strlen(value) + 2;
    *assignment = brio__alloc(size, 1);
    if (!*assignment) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    snprintf(*assignment, size, "%s=%s", key, value);
    BRIO_CHECK(brio__tree_parse("{}", 2, "", root, error));
    return brio__tree_set(*root, *assignment, error);
}

/* "a-search", or "a-search decay=10" of {type: a-search, decay: 10}. */
static BrioStatus make_label(const BrioNode *node, const char *type, char *label, size_t size,
                             BrioError *error)
{
    size_t used = (size_t)snprintf(label, size, "%s", type);
    for (int i = 0; node->kind == BRIO_NODE_MAP && i < node->count && used < size; i++) {
        const BrioNode *child = node->child[i];
        char *text = NULL;
        size_t length;
        if (!strcmp(child->key, "type")) continue;
        FILE *file = open_memstream(&text, &length);
        if (!file) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
        BrioStatus status = brio__tree_json(child, -1, file);
        if (brio__text_close(file, &text)) status = BRIO_ERROR_MEMORY;
        if (status == BRIO_OK)
            used += (size_t)snprintf(label + used, size - used, " %s=%s", child->key,
                                     child->kind == BRIO_NODE_SCALAR ? child->text : text);
        free(text);
        if (status != BRIO_OK) return brio__error(error, status, "%s", brio_status_text(status));
    }
    return BRIO_OK;
}

/* Names and parameters are checked here, before anything runs; what a scene has against an
 * integrator is for its trial to say. */
static BrioStatus check_method(BrioNode *root, Method *method, BrioError *error)
{
    static const char *const type_key[] = {"type"};
    BrioNode *node = brio__node_get(root, "integrator");
    BrioNode *type = node->kind == BRIO_NODE_MAP ? brio__node_get(node, "type") : node;
    const char *name, *names[128];
    double values[BRIO_MAX_VALUES];
    char reason[256];
    int count = 0;
    if (!type)
        return brio__node_error(node, error, "missing key \"type\": {type: a-search, decay: 10}");
    BRIO_CHECK(brio__node_text(type, &name, error));
    const BrioIntegrator *integrator = brio_integrator(name);
    if (!integrator) {
        for (; count < (int)BRIO_COUNT(names) && brio_integrator_at(count); count++)
            names[count] = brio_integrator_at(count)->name;
        const char *nearest = brio__nearest(name, names, count);
        if (nearest)
            return brio__node_error(type, error, "no integrator \"%s\"; did you mean \"%s\"?", name,
                                    nearest);
        return brio__node_error(type, error, "no integrator \"%s\"; see `brio list integrators`",
                                name);
    }
    brio_fields_defaults(integrator->fields, values);
    if (node->kind == BRIO_NODE_MAP)
        BRIO_CHECK(brio__node_fields(node, integrator->fields, type_key, 1, values, error));
    unsigned traits = integrator->traits;
    if (integrator->check && integrator->check(values, &traits, reason, sizeof reason) != BRIO_OK)
        return brio__node_error(node, error, "%s", reason);
    return make_label(node, name, method->label, sizeof method->label, error);
}

static BrioStatus read_method(const char *text, Method *method, BrioError *error)
{
    BrioNode *root = NULL;
    if (!text[0])
        return brio__error(error, BRIO_ERROR_INPUT, "an integrator is missing next to a comma");
    BrioStatus status = assign("integrator", text, &method->assignment, &root, error);
    if (status == BRIO_OK) status = check_method(root, method, error);
    brio__tree_free(root);
    return status;
}

BrioStatus comparison_read_size(const char *text, StepSize *size, BrioError *error)
{
    BrioNode *root = NULL;
    if (!text[0])
        return brio__error(error, BRIO_ERROR_INPUT, "a step size is missing next to a comma");
    BrioStatus status = assign("time.h", text, &size->assignment, &root, error);
    if (status == BRIO_OK) {
        BrioNode *node = brio__node_get(brio__node_get(root, "time"), "h");
        size->text = strchr(size->assignment, '=') + 1;
        status = brio__node_real(node, &size->h, error);
        if (status == BRIO_OK && !(size->h > 0))
            status = brio__node_error(node, error, "a step size must be positive");
    }
    brio__tree_free(root);
    return status;
}

static int by_size(const void *a, const void *b)
{
    double x = ((const StepSize *)a)->h, y = ((const StepSize *)b)->h;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* The place in a message is that of the option. */
static BrioStatus at_option(const char *option, BrioStatus status, BrioError *error)
{
    if (status == BRIO_OK) return BRIO_OK;
    snprintf(error->file, sizeof error->file, "%s", option);
    error->path[0] = 0;
    error->line = error->column = 0;
    return status;
}

/* Where "NAME:h" or "NAME@h" has its step, outside of braces; NULL: it has none. */
static char *step_of(char *reference)
{
    char *from = strrchr(reference, '}');
    if (!from) from = reference;
    char *at = strrchr(from, '@');
    return at ? at : strrchr(from, ':');
}

BrioStatus comparison_read_lists(Comparison *c, char *methods, char *sizes, char *reference,
                                 BrioError *error)
{
    for (char *piece; (piece = next_piece(&methods));) {
        if (c->method_count == MAX_METHODS)
            return at_option("--integrators",
                             brio__error(error, BRIO_ERROR_INPUT, "more than %d", MAX_METHODS),
                             error);
        BRIO_CHECK(at_option("--integrators",
                             read_method(piece, &c->method[c->method_count++], error), error));
        for (int i = 0; i < c->method_count - 1; i++)
            if (!strcmp(c->method[i].label, c->method[c->method_count - 1].label))
                return at_option(
                    "--integrators",
                    brio__error(error, BRIO_ERROR_INPUT, "%s is listed twice", c->method[i].label),
                    error);
    }
    for (char *piece; (piece = next_piece(&sizes));) {
        if (c->size_count == MAX_SIZES)
            return at_option("--h", brio__error(error, BRIO_ERROR_INPUT, "more than %d", MAX_SIZES),
                             error);
        BRIO_CHECK(
            at_option("--h", comparison_read_size(piece, &c->size[c->size_count++], error), error));
        for (int i = 0; i < c->size_count - 1; i++)
            if (c->size[i].h == c->size[c->size_count - 1].h)
                return at_option("--h",
                                 brio__error(error, BRIO_ERROR_INPUT, "%s and %s are the same",
                                             c->size[i].text, piece),
                                 error);
    }
    qsort(c->size, (size_t)c->size_count, sizeof *c->size, by_size);
    if (!reference) return BRIO_OK;
    char *at = step_of(reference);
    c->old_reference = at && *at == '@';
    if (at) *at = 0;
    BRIO_CHECK(at_option("--reference", read_method(reference, &c->method[c->method_count], error),
                         error));
    if (!at) return BRIO_OK; /* the step is chosen once the others are known */
    return at_option("--reference", comparison_read_size(at + 1, &c->size[MAX_SIZES], error),
                     error);
}
