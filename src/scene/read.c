/* Small readers: a map by the rows of its section, names of plug-ins with their parameters, files.
 * Every message has the place of the value; names that are not known come with the nearest. */
#include "read.h"

#include "../mesh/mesh.h"

#include <string.h>

BrioStatus brio__expect(const BrioNode *node, BrioNodeKind kind, BrioError *error)
{
    static const char *const names[] = {"a single value", "a list", "a map of keys and values"};
    if (node->kind == kind) return BRIO_OK;
    return brio__node_error(node, error, "expected %s, found %s%s", names[kind], names[node->kind],
                            kind == BRIO_NODE_LIST && node->kind == BRIO_NODE_SCALAR
                                ? "; write one element as [value]"
                                : "");
}

BrioStatus brio__at_node(const BrioNode *node, BrioStatus status, BrioError *error,
                         const BrioError *inner)
{
    if (inner->file[0]) { /* an error inside a mesh file keeps its own place */
        if (error && error->status == BRIO_OK) *error = *inner;
        return status;
    }
    brio__node_error(node, error, "%s",
                     inner->message[0] ? inner->message : brio_status_text(status));
    if (error) error->status = status;
    return status;
}

/* ---- rows ------------------------------------------------------------------------------- */

/* A list of two, a point and a number or two points. */
static BrioStatus read_pair(const BrioNode *node, const BrioKey *key, double *values,
                            BrioError *error)
{
    bool box = key->form == BRIO_KEY_BOX;
    if (node->kind != BRIO_NODE_LIST || node->count != 2)
        return brio__node_error(node, error, "expected %s",
                                key->takes ? key->takes : "two corners, [[x, y, z], [x, y, z]]");
    BRIO_CHECK(brio__node_reals(node->child[0], values, 3, error));
    return box ? brio__node_reals(node->child[1], values + 3, 3, error)
               : brio__node_real(node->child[1], values + 3, error);
}

static BrioStatus read_counts(const BrioNode *node, const BrioKey *key, double *values,
                              BrioError *error)
{
    if (node->kind != BRIO_NODE_LIST || node->count != 3)
        return brio__node_error(node, error, "expected a list of 3 integers");
    for (int i = 0; i < 3; i++)
        BRIO_CHECK(brio__node_field(node->child[i], &key->field, values + i, error));
    return BRIO_OK;
}

static BrioStatus read_matrix(const BrioNode *node, double *values, BrioError *error)
{
    if (node->kind != BRIO_NODE_LIST || node->count != 3)
        return brio__node_error(node, error,
                                "expected three rows of three numbers, for example [[0, 0, 0], "
                                "[0, 1, 0], [0, 0, 0]]");
    for (int r = 0; r < 3; r++)
        BRIO_CHECK(brio__node_reals(node->child[r], values + 3 * r, 3, error));
    return BRIO_OK;
}

/* Three numbers, or one that stands for all three. */
static BrioStatus read_scale(const BrioNode *node, const BrioKey *key, double *values,
                             BrioError *error)
{
    BrioField one = key->field;
    one.type = BRIO_REAL;
    if (node->kind == BRIO_NODE_LIST) return brio__node_field(node, &key->field, values, error);
    BRIO_CHECK(brio__node_field(node, &one, values, error));
    values[1] = values[2] = values[0];
    return BRIO_OK;
}

static BrioStatus read_value(BrioNode *node, const BrioKey *key, void *into, BrioError *error)
{
    double values[BRIO_KEY_MAX_NUMBERS] = {0};
    const char *text;
    switch (key->form) {
    case BRIO_KEY_FIELD: BRIO_CHECK(brio__node_field(node, &key->field, values, error)); break;
    case BRIO_KEY_SCALE: BRIO_CHECK(read_scale(node, key, values, error)); break;
    case BRIO_KEY_COUNTS: BRIO_CHECK(read_counts(node, key, values, error)); break;
    case BRIO_KEY_BALL:
    case BRIO_KEY_BOX: BRIO_CHECK(read_pair(node, key, values, error)); break;
    case BRIO_KEY_MATRIX: BRIO_CHECK(read_matrix(node, values, error)); break;
    case BRIO_KEY_LIST: return brio__expect(node, BRIO_NODE_LIST, error);
    case BRIO_KEY_MAP: return brio__expect(node, BRIO_NODE_MAP, error);
    case BRIO_KEY_TEXT:
    case BRIO_KEY_FILE:
        BRIO_CHECK(brio__node_text(node, &text, error));
        if (into && key->store == BRIO_STORE_TEXT)
            *(const char **)((char *)into + key->offset) = text;
        return BRIO_OK;
    case BRIO_KEY_OTHER: return BRIO_OK;
    }
    if (into) brio__key_store(key, values, into);
    return BRIO_OK;
}

BrioStatus brio__read_keys(BrioNode *map, const BrioKey *keys, void *into, BrioError *error)
{
    const char *names[32];
    int count = brio__key_names(keys, names, BRIO_COUNT(names));
    BRIO_CHECK(brio__expect(map, BRIO_NODE_MAP, error));
    for (int i = 0; i < count; i++) brio__node_get(map, names[i]);
    BRIO_CHECK(brio__node_unknown(map, names, count, error));
    for (int i = 0; i < count; i++)
        if (keys[i].field.required && !brio__node_get(map, names[i]))
            return brio__node_missing(map, &keys[i].field, error);
    for (int i = 0; i < count; i++) {
        BrioNode *node = brio__node_get(map, names[i]);
        if (node) BRIO_CHECK(read_value(node, &keys[i], into, error));
    }
    return BRIO_OK;
}

/* `name` is none of the names that next(i) gives: says so at the node, with the nearest. */
BrioStatus brio__no_such(const BrioNode *node, const char *what, const char *name,
                         const char *const *names, int count, BrioError *error)
{
    const char *nearest = brio__nearest(name, names, count);
    if (nearest)
        return brio__node_error(node, error, "no %s \"%s\"; did you mean \"%s\"?", what, name,
                                nearest);
    char list[512] = "";
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    if (count == 0)
        return brio__node_error(node, error, "no %s \"%s\"; there are none", what, name);
    return brio__node_error(node, error, "no %s \"%s\"; there are: %s", what, name, list);
}

/* The name in `x: name` or in `x: {type: name, ...}`. */
BrioStatus brio__type_of(BrioNode *node, const char **type, BrioError *error)
{
    if (node->kind == BRIO_NODE_MAP) {
        BrioNode *named = brio__node_get(node, "type");
        if (!named) return brio__node_error(node, error, "missing key \"type\"");
        return brio__node_text(named, type, error);
    }
    return brio__node_text(node, type, error);
}

/* The other keys of a map of parameters. */
static const char *const type_key[] = {"type"};

/* Parameters of a plug-in from the same node; a bare name means the defaults. */
BrioStatus brio__values_of(BrioNode *node, const BrioField *fields, double *values,
                           BrioError *error)
{
    brio_fields_defaults(fields, values);
    if (node->kind != BRIO_NODE_MAP) return BRIO_OK;
    return brio__node_fields(node, fields, type_key, 1, values, error);
}

BrioNode *brio__type_node(BrioNode *node)
{
    BrioNode *type = node->kind == BRIO_NODE_MAP ? brio__node_get(node, "type") : NULL;
    return type ? type : node;
}

/* A file named in the scene: relative to the scene file. */
BrioStatus brio__file_path(const BrioScene *scene, const BrioNode *node, char *path, size_t size,
                           BrioError *error)
{
    const char *name;
    BRIO_CHECK(brio__node_text(node, &name, error));
    const char *slash = strrchr(scene->file, '/');
    int folder = slash && name[0] != '/' ? (int)(slash - scene->file) + 1 : 0;
    if (snprintf(path, size, "%.*s%s", folder, scene->file, name) >= (int)size)
        return brio__node_error(node, error, "the file name is too long");
    if (!brio__mesh_file_exists(path))
        return brio__node_error(
            node, error, "there is no file \"%s\": names are relative to the scene file", path);
    return BRIO_OK;
}
