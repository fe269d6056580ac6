/* `constraints` and `stitches` of a scene: rods and joints, and springs between bodies. */
#include "read.h"

#include "../constraint/constraint.h"

#include <string.h>

/* ---- constraints ------------------------------------------------------------------------ */

static const BrioKey constraint_keys[] = {
    {KEY_OTHER("type", "a kind of constraint",
               "Kind of constraint: a name of `brio list "
               "constraints`."),
     KEY_REQUIRED},
    {KEY_TEXT("name", "Name of the constraint."), KEY_WORDS("constraint0, constraint1, ..."),
     KEY_INTO(BrioConstraintDef, name)},
    {KEY_OTHER(
         "a", "name, [body, vertex], [x, y, z], or a map",
         "One end: a body, a vertex, or a point of a body. It may be fixed, but not scripted."),
     KEY_REQUIRED},
    {KEY_OTHER("b", "as a", "The other end."), KEY_WORDS("the world")},
    {KEY_VECTOR("at", "m", NAN, "Initial position of ends that have no position of their own."),
     KEY_WORDS("where the other end is"), KEY_INTO(BrioConstraintDef, at)},
    {KEY_VECTOR(
         "axis", "", NAN,
         "Axis of a hinge or slider, direction of a line, or normal of a plane; any length."),
     KEY_WORDS("none"), KEY_INTO(BrioConstraintDef, axis)},
    {KEY_BOOLEAN("collide", 0, "Whether the two bodies collide with each other."),
     KEY_WORDS("true; false for ball, hinge and slider")},
    KEY_END};
BRIO_SECTION(constraint){"constraints[]", "Constraints", constraint_keys};

static const BrioKey end_keys[] = {
    {KEY_TEXT("body", "Name of the body; world: the fixed world."), KEY_WORDS("the only body")},
    {KEY_OTHER("vertex", "integer", "Vertex of the body, from 0.")},
    {KEY_VECTOR("point", "m", NAN,
                "Instead of a vertex: a point of the body in the initial state."),
     KEY_WORDS("at"), KEY_INTO(BrioEnd, point)},
    KEY_END};
BRIO_SECTION(end){"constraints[].a", "An end of a constraint", end_keys};

static BrioStatus read_body(const BrioNode *node, const BrioBuilder *builder, bool world, int *body,
                            BrioError *error)
{
    const char *text, *names[256];
    int count = 0;
    BRIO_CHECK(brio__node_text(node, &text, error));
    *body = brio__builder_find(builder, text);
    if (*body >= 0 || (world && !strcmp(text, "world"))) return BRIO_OK;
    for (; count < (int)BRIO_COUNT(names) && brio__builder_name(builder, count); count++)
        names[count] = brio__builder_name(builder, count);
    return brio__no_such(node, "body", text, names, count, error);
}

static BrioStatus read_vertex(const BrioNode *node, const BrioBuilder *builder, BrioEnd *end,
                              BrioError *error)
{
    int64_t value;
    BrioError inner = {0};
    BRIO_CHECK(brio__node_integer(node, &value, error));
    BrioStatus status = brio__builder_check_vertex(builder, end->body, value, &inner);
    end->vertex = (int32_t)value;
    return status == BRIO_OK ? BRIO_OK : brio__at_node(node, status, error, &inner);
}

/* {body: chain, vertex: 0} or {body: link, point: [0, 1, 0]}. */
static BrioStatus read_map(BrioNode *node, const BrioBuilder *builder, BrioEnd *end,
                           BrioError *error)
{
    BRIO_CHECK(brio__read_keys(node, end_keys, end, error));
    BrioNode *named = brio__node_get(node, "body"), *number = brio__node_get(node, "vertex");
    end->body = 0;
    if (named)
        BRIO_CHECK(read_body(named, builder, true, &end->body, error));
    else if (brio__builder_name(builder, 1))
        return brio__node_error(node, error, "missing key \"body\": there are several bodies");
    if (number && brio__node_get(node, "point"))
        return brio__node_error(node, error, "give a vertex or a point, not both");
    if (number && end->body < 0)
        return brio__node_error(number, error, "the world has no vertices: give a point");
    return number ? read_vertex(number, builder, end, error) : BRIO_OK;
}

/* An end: chain, [chain, 0], [0, 1, 0] in the world, or a map. */
static BrioStatus read_end(BrioNode *node, const BrioBuilder *builder, bool bare, BrioEnd *end,
                           BrioError *error)
{
    if (node->kind == BRIO_NODE_MAP) return read_map(node, builder, end, error);
    if (node->kind == BRIO_NODE_LIST && node->count == 3)
        return brio__node_reals(node, end->point, 3, error);
    if (node->kind == BRIO_NODE_LIST && node->count == 2) {
        BRIO_CHECK(read_body(node->child[0], builder, false, &end->body, error));
        return read_vertex(node->child[1], builder, end, error);
    }
    if (node->kind == BRIO_NODE_LIST || !bare)
        return brio__node_error(node, error,
                                "expected {body: name, vertex: number} or [name, number]");
    return read_body(node, builder, true, &end->body, error);
}

static BrioStatus find_type(BrioNode *node, const BrioConstraintType **type, BrioError *error)
{
    const char *name, *names[64];
    int count = 0;
    BRIO_CHECK(brio__expect(node, BRIO_NODE_MAP, error));
    BRIO_CHECK(brio__type_of(node, &name, error));
    *type = brio__constraint_type(name);
    if (*type) return BRIO_OK;
    for (; brio__constraint_type_at(count) && count < (int)BRIO_COUNT(names); count++)
        names[count] = brio__constraint_type_at(count)->name;
    return brio__no_such(brio__type_node(node), "constraint", name, names, count, error);
}

static BrioStatus read_constraint(BrioNode *node, const BrioBuilder *builder,
                                  BrioConstraintDef *def, BrioError *error)
{
    const BrioConstraintType *type;
    const char *own[16];
    int count = brio__key_names(constraint_keys, own, BRIO_COUNT(own));
    BRIO_CHECK(find_type(node, &type, error));
    BRIO_CHECK(brio_default_constraint(type->name, def, error));
    BRIO_CHECK(brio__node_fields(node, type->fields, own, count, def->values, error));
    BRIO_CHECK(brio__read_keys(node, constraint_keys, def, error));
    BrioNode *a = brio__node_get(node, "a"), *b = brio__node_get(node, "b");
    BrioNode *collide = brio__node_get(node, "collide");
    bool bare = brio__node_get(node, "at") || !type->role_count;
    BRIO_CHECK(read_end(a, builder, true, &def->a, error));
    if (!b && !bare)
        return brio__node_error(node, error,
                                "missing key \"b\": The other end. Or give at: [x, y, z], the "
                                "position in the world where body a is held");
    if (b && !type->role_count)
        return brio__node_key_error(b, error, "a %s is of one body, a: remove b", type->name);
    if (b) BRIO_CHECK(read_end(b, builder, true, &def->b, error));
    /* a body without a place takes that of the other end; a rod has none to give */
    bool placed[2] = {def->a.vertex >= 0 || !isnan(def->a.point[0]),
                      def->b.vertex >= 0 || !isnan(def->b.point[0])};
    for (int k = 0; k < 2 && !bare && type->drawn; k++)
        if (!placed[k])
            return brio__node_error(k ? b : a, error,
                                    "expected {body: name, vertex: number} or [name, number]");
    if (collide) {
        bool value;
        BRIO_CHECK(brio__node_boolean(collide, &value, error));
        def->collide = value;
    }
    return BRIO_OK;
}

BrioStatus brio__read_constraints(BrioNode *root, BrioBuilder *builder, BrioError *error)
{
    BrioNode *list = brio__node_get(root, "constraints");
    for (int i = 0; list && i < list->count; i++) {
        BrioConstraintDef def;
        BrioError inner = {0};
        BRIO_CHECK(read_constraint(list->child[i], builder, &def, error));
        BrioStatus status = brio_builder_constraint(builder, &def, &inner);
        if (status != BRIO_OK) return brio__at_node(list->child[i], status, error, &inner);
    }
    return BRIO_OK;
}

/* ---- stitches --------------------------------------------------------------------------- */

static const BrioKey stitch_keys[] = {
    {KEY_TEXT("a", "Body whose vertices or edges are stitched."), KEY_REQUIRED},
    {KEY_TEXT("b", "Body that they are stitched to, at its nearest points."), KEY_REQUIRED},
    {KEY_CHOICE("by", "vertices|edges", 0,
                "Stitch vertices to triangles, or edges to edges as along a seam."),
     KEY_INTO(BrioStitchDef, edges)},
    {KEY_LIST("vertices", "Only these vertices of a, by number from 0."),
     KEY_TAKES("list of numbers"), KEY_WORDS("all that are near enough")},
    {KEY_REAL("distance", "m", INFINITY, KEY_POSITIVE, 1e15,
              "Maximum distance in the initial state."),
     KEY_WORDS("any"), KEY_INTO(BrioStitchDef, distance)},
    {KEY_REAL("k", "N/m", 1000, KEY_POSITIVE, 1e15, "Stiffness of each stitch."),
     KEY_INTO(BrioStitchDef, k)},
    {KEY_REAL("rest", "m", NAN, 0, 1e15, "Rest length of a stitch."),
     KEY_WORDS("that of the initial state"), KEY_INTO(BrioStitchDef, rest)},
    {KEY_REAL("breaking", "N", INFINITY, KEY_POSITIVE, 1e300,
              "A stitch whose force exceeds this at the end of a step breaks."),
     KEY_WORDS("never"), KEY_INTO(BrioStitchDef, breaking)},
    KEY_END};
BRIO_SECTION(stitch){"stitches[]", "Stitches", stitch_keys};

static BrioStatus read_stitch(BrioNode *node, BrioBuilder *builder, BrioError *error)
{
    BrioStitchDef def = brio_default_stitch();
    BrioError inner = {0};
    int32_t *vertices = NULL;
    BRIO_CHECK(brio__read_keys(node, stitch_keys, &def, error));
    BRIO_CHECK(read_body(brio__node_get(node, "a"), builder, false, &def.a, error));
    BRIO_CHECK(read_body(brio__node_get(node, "b"), builder, false, &def.b, error));
    BrioNode *list = brio__node_get(node, "vertices");
    BrioStatus status = BRIO_OK;
    if (list && list->count == 0)
        return brio__node_error(list, error,
                                "there are no vertices: remove vertices to use all that are near "
                                "enough, or remove the stitches");
    if (list) {
        vertices = brio__calloc((size_t)list->count + 1, sizeof *vertices);
        if (!vertices) return brio__no_memory(error);
        for (int i = 0; status == BRIO_OK && i < list->count; i++) {
            BrioEnd end = {.body = def.a};
            status = read_vertex(list->child[i], builder, &end, error);
            vertices[i] = end.vertex;
        }
        def.vertices = vertices;
        def.vertex_count = list->count;
    }
    if (status == BRIO_OK) {
        status = brio_builder_stitch(builder, &def, NULL, &inner);
        if (status != BRIO_OK) brio__at_node(node, status, error, &inner);
    }
    brio__free(vertices);
    return status;
}

BrioStatus brio__read_stitches(BrioNode *root, BrioBuilder *builder, BrioError *error)
{
    BrioNode *list = brio__node_get(root, "stitches");
    for (int i = 0; list && i < list->count; i++)
        BRIO_CHECK(read_stitch(list->child[i], builder, error));
    return BRIO_OK;
}
