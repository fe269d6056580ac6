/* `forces` of a scene: kinds with their values, what they act on, and their factors. */
#include "read.h"

#include <string.h>

static const BrioKey force_keys[] = {
    {KEY_OTHER("type", "a kind of force", "Kind of force: a name of `brio list forces`."),
     KEY_REQUIRED},
    {KEY_TEXT("name", "Name of the force in messages."), KEY_WORDS("force0, force1, ..."),
     KEY_INTO(BrioForceDef, name)},
    {KEY_OTHER("bodies", "name, or list of names", "Bodies that the force acts on."),
     KEY_WORDS("all")},
    {KEY_LIST("vertices", "Only these vertices of one body, by number from 0."),
     KEY_TAKES("list of numbers")},
    {KEY_BOX("box", "Only vertices inside the box between two corners in the initial state."),
     KEY_INTO(BrioForceDef, box)},
    {KEY_BALL("sphere", "[[x, y, z], radius]",
              "Only vertices inside the ball in the initial "
              "state."),
     KEY_INTO(BrioForceDef, sphere)},
    {KEY_LIST("keys", "Factor of the force over time, linear in between: [[0, 0], [1, 1]]."),
     KEY_TAKES("list of [t, factor]")},
    {KEY_OTHER("formula", "text, or list of three",
               "Factor as a formula of t, x, y, z. For a constant force: one formula per "
               "component. For a potential: the potential itself, in J.")},
    {KEY_LIST("path", "spring: path of its point, linear in between."),
     KEY_TAKES("list of [t, x, y, z]")},
    KEY_END};
BRIO_SECTION(force){"forces[]", "Forces", force_keys};

/* What a definition points to while it is read. */
typedef struct Arrays {
    int *bodies;
    int32_t *vertices;
    double *keys, *path;
} Arrays;

static BrioStatus read_body(const BrioNode *node, const BrioBuilder *builder, int *body,
                            BrioError *error)
{
    const char *text, *names[256];
    int count = 0;
    BRIO_CHECK(brio__node_text(node, &text, error));
    *body = brio__builder_find(builder, text);
    if (*body >= 0) return BRIO_OK;
    for (; count < (int)BRIO_COUNT(names) && brio__builder_name(builder, count); count++)
        names[count] = brio__builder_name(builder, count);
    return brio__no_such(node, "body", text, names, count, error);
}

static BrioStatus read_bodies(BrioNode *node, const BrioBuilder *builder, BrioForceDef *def,
                              Arrays *arrays, BrioError *error)
{
    bool list = node->kind == BRIO_NODE_LIST;
    def->body_count = list ? node->count : 1;
    if (list && node->count == 0)
        return brio__node_error(node, error, "a force on no bodies: remove it");
    def->bodies = arrays->bodies = brio__calloc((size_t)def->body_count, sizeof(int));
    if (!def->bodies) return brio__no_memory(error);
    for (int i = 0; i < def->body_count; i++)
        BRIO_CHECK(read_body(list ? node->child[i] : node, builder, &arrays->bodies[i], error));
    return BRIO_OK;
}

static BrioStatus read_vertices(const BrioNode *node, const BrioBuilder *builder, BrioForceDef *def,
                                Arrays *arrays, BrioError *error)
{
    def->vertex_count = node->count;
    def->vertices = arrays->vertices = brio__calloc((size_t)node->count + 1, sizeof(int32_t));
    if (!def->vertices) return brio__no_memory(error);
    if (node->count == 0) return brio__node_error(node, error, "a force on no vertices: remove it");
    if (def->body_count == 0 && !brio__builder_name(builder, 1)) { /* the only body */
        def->bodies = arrays->bodies = brio__calloc(1, sizeof(int));
        if (!def->bodies) return brio__no_memory(error);
        def->body_count = 1;
    }
    if (def->body_count != 1)
        return brio__node_error(node, error, "vertices by number need one body: name it in bodies");
    for (int i = 0; i < node->count; i++) {
        int64_t value;
        BrioError inner = {0};
        BRIO_CHECK(brio__node_integer(node->child[i], &value, error));
        BrioStatus status = brio__builder_check_vertex(builder, def->bodies[0], value, &inner);
        if (status != BRIO_OK) return brio__at_node(node->child[i], status, error, &inner);
        arrays->vertices[i] = (int32_t)value;
    }
    return BRIO_OK;
}

/* Rows of `width` numbers, the first ascending. */
static BrioStatus read_rows(const BrioNode *list, int width, double **rows, int64_t *count,
                            BrioError *error)
{
    *count = list->count;
    if (list->count == 0) return brio__node_error(list, error, "there are no rows");
    *rows = brio__calloc((size_t)width * (size_t)list->count, sizeof **rows);
    if (!*rows) return brio__no_memory(error);
    for (int i = 0; i < list->count; i++) {
        double *row = *rows + (int64_t)width * i;
        BRIO_CHECK(brio__node_reals(list->child[i], row, width, error));
        if (i > 0 && !(row[0] > row[-width]))
            return brio__node_error(list->child[i], error,
                                    "times must ascend, and %g s follows %g s", row[0],
                                    row[-width]);
    }
    return BRIO_OK;
}

/* Compiled here for the place of an error, and again by the builder. */
static BrioStatus read_formula(const BrioNode *node, const char **text, BrioError *error)
{
    BrioFormula formula;
    BrioError inner = {0};
    int column;
    BRIO_CHECK(brio__node_text(node, text, error));
    if (brio__formula_compile(*text, &formula, &column, &inner) == BRIO_OK) {
        /* where the bodies are is seen later */
        bool alone = !(formula.uses & ~(unsigned)BRIO_FORMULA_TIME);
        if (!alone || isfinite(brio__formula_value(&formula, (double[3]){0, 0, 0}, 0)))
            return BRIO_OK;
        return brio__node_error(node, error,
                                "the formula has no finite value at t = 0 s, where the run starts: "
                                "change it, for example 1/max(t, 0.01) for 1/t");
    }
    brio__node_error(node, error, "%s", inner.message);
    if (error) error->column += column - 1 + (node->quoted ? 1 : 0);
    return BRIO_ERROR_INPUT;
}

static BrioStatus read_formulas(BrioNode *node, BrioForceDef *def, BrioError *error)
{
    bool list = node->kind == BRIO_NODE_LIST;
    if (list && node->count != 3)
        return brio__node_error(node, error, "expected a formula, or three of them");
    def->formula_count = list ? 3 : 1;
    for (int i = 0; i < def->formula_count; i++)
        BRIO_CHECK(read_formula(list ? node->child[i] : node, &def->formula[i], error));
    return BRIO_OK;
}

static BrioStatus find_type(BrioNode *node, const BrioForceType **type, BrioError *error)
{
    const char *name, *names[64];
    int count = 0;
    BRIO_CHECK(brio__expect(node, BRIO_NODE_MAP, error));
    BRIO_CHECK(brio__type_of(node, &name, error));
    *type = brio__force_type(name);
    if (*type && !((*type)->called && !(*type)->def)) return BRIO_OK;
    for (int i = 0; brio__force_type_at(i) && count < (int)BRIO_COUNT(names); i++)
        if (!brio__force_type_at(i)->called || brio__force_type_at(i)->def)
            names[count++] = brio__force_type_at(i)->name;
    return brio__no_such(brio__type_node(node), "force", name, names, count, error);
}

static BrioStatus read_definition(BrioNode *node, const BrioBuilder *builder, BrioForceDef *def,
                                  Arrays *arrays, BrioError *error)
{
    const BrioForceType *type;
    const char *own[16];
    int count = brio__key_names(force_keys, own, BRIO_COUNT(own));
    BRIO_CHECK(find_type(node, &type, error));
    BRIO_CHECK(brio_default_force(type->name, def, error));
    BRIO_CHECK(brio__node_fields(node, type->fields, own, count, def->values, error));
    BRIO_CHECK(brio__read_keys(node, force_keys, def, error));
    BrioNode *bodies = brio__node_get(node, "bodies"), *keys = brio__node_get(node, "keys");
    BrioNode *vertices = brio__node_get(node, "vertices"), *path = brio__node_get(node, "path");
    BrioNode *formula = brio__node_get(node, "formula");
    if (bodies) BRIO_CHECK(read_bodies(bodies, builder, def, arrays, error));
    if (vertices) BRIO_CHECK(read_vertices(vertices, builder, def, arrays, error));
    if (formula) BRIO_CHECK(read_formulas(formula, def, error));
    if (keys) {
        BrioStatus status = read_rows(keys, 2, &arrays->keys, &def->key_count, error);
        def->keys = arrays->keys;
        BRIO_CHECK(status);
    }
    if (path) {
        BrioStatus status = read_rows(path, 4, &arrays->path, &def->path_count, error);
        def->path = arrays->path;
        BRIO_CHECK(status);
    }
    return BRIO_OK;
}

BrioStatus brio__read_forces(BrioNode *root, BrioBuilder *builder, BrioError *error)
{
    BrioNode *list = brio__node_get(root, "forces");
    for (int i = 0; list && i < list->count; i++) {
        Arrays arrays = {0};
        BrioForceDef def;
        BrioError inner = {0};
        BrioStatus status = read_definition(list->child[i], builder, &def, &arrays, error);
        if (status == BRIO_OK) {
            status = brio_builder_force(builder, &def, &inner);
            if (status != BRIO_OK) brio__at_node(list->child[i], status, error, &inner);
        }
        brio__free(arrays.bodies);
        brio__free(arrays.vertices);
        brio__free(arrays.keys);
        brio__free(arrays.path);
        BRIO_CHECK(status);
    }
    return BRIO_OK;
}
