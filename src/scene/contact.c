/* `contact` and `obstacles` of a scene: the contact law with its parameters, planes, meshes and
 * shapes that bodies meet, and what is said about single pairs. */
#include "read.h"

#include "../mesh/mesh.h"

#include <string.h>

#define LAW_TYPE                                                                                \
    {                                                                                           \
        KEY_OTHER(                                                                              \
            "type", "ipc | penalty",                                                            \
            "ipc: a barrier that grows without bound, nothing ever touches; penalty: a spring " \
            "that pushes out what sank in, for every integrator."),                             \
            KEY_REQUIRED                                                                        \
    }
#define LAW_PAIRS                                                                             \
    {KEY_REAL("thickness", "m", 0, 0, 1e9,                                                    \
              "Distances count from there: surfaces stay that far apart at least."),          \
     KEY_INTO(BrioContactDef, thickness)},                                                    \
        {KEY_REAL("mu", "", 0, 0, 1e9,                                                        \
                  "Coefficient of friction of all pairs that `friction` does not name."),     \
         KEY_INTO(BrioContactDef, mu)},                                                       \
        {KEY_REAL("epsv", "m/s", 1e-3, KEY_POSITIVE, 1e9,                                     \
                  "Speed below which friction holds; what rests may creep that fast."),       \
         KEY_INTO(BrioContactDef, epsv)},                                                     \
        {KEY_LIST("friction", "Coefficients of single pairs."), KEY_WORDS("[]")},             \
    {                                                                                         \
        KEY_LIST("exclude", "Pairs of bodies, materials or obstacles that pass through each " \
                            "other; [a, a]: a body and itself."),                             \
            KEY_TAKES("list of [a, b]"), KEY_WORDS("[]")                                      \
    }

static const BrioKey ipc_keys[] = {
    LAW_TYPE,
    {KEY_REAL("dhat", "m", 1e-3, KEY_POSITIVE, 1e9, "Distance below which the barrier acts."),
     KEY_INTO(BrioContactDef, dhat)},
    {KEY_REAL("kappa", "N/m|auto", 1e5, KEY_POSITIVE, 1e15,
              "Stiffness; auto: kappa dhat is twenty times the weight of the heaviest body."),
     KEY_INTO(BrioContactDef, kappa)},
    LAW_PAIRS,
    KEY_END};
BRIO_SECTION(ipc){"contact", "Contact of type ipc", ipc_keys};

static const BrioKey penalty_keys[] = {
    LAW_TYPE,
    {KEY_REAL("dhat", "m", 0, 0, 1e9, "Distance from an obstacle below which the spring acts."),
     KEY_INTO(BrioContactDef, dhat)},
    {KEY_REAL("self", "m", 0, 0, 1e9,
              "Vertices of bodies push each other apart below this distance; of one body those "
              "that are farther apart at rest. 0: bodies pass through each other."),
     KEY_INTO(BrioContactDef, self)},
    {KEY_REAL("kappa", "N/m", 1e5, KEY_POSITIVE, 1e15, "Stiffness."),
     KEY_INTO(BrioContactDef, kappa)},
    LAW_PAIRS,
    KEY_END};
BRIO_SECTION(penalty){"contact of type penalty", "Contact of type penalty", penalty_keys};

typedef struct Friction {
    double mu;
} Friction;

static const BrioKey friction_keys[] = {
    {KEY_OTHER("between", "[a, b]",
               "Names of bodies, of materials or of obstacles. Later entries win."),
     KEY_REQUIRED},
    {KEY_REAL("mu", "", NAN, 0, 1e9, "Their coefficient of friction."), KEY_REQUIRED,
     KEY_INTO(Friction, mu)},
    KEY_END};
BRIO_SECTION(friction){"contact.friction[]", "Friction of single pairs", friction_keys};

typedef struct Obstacle {
    const char *name;
    double point[3], normal[3];
} Obstacle;

/* clang-format off */
#define OBSTACLE_TYPE                                                                             \
    {KEY_OTHER("type", "plane | mesh | a shape",                                                  \
               "What it is: a plane, the mesh of a file, or a shape of `brio list shapes` "       \
               "(penalty: sphere, box, cylinder, capsule)."),                                     \
     KEY_REQUIRED},                                                                               \
    {KEY_TEXT("name", "What it is called in messages and in contact."),                           \
     KEY_WORDS("obstacle0, obstacle1, ..."), KEY_INTO(Obstacle, name)}
#define OBSTACLE_PLACE                                                                            \
    {KEY_MAP("transform", "Scale (not of penalty), then rotate, then translate.")},               \
    {KEY_MAP("script", "How it moves. Of ipc.")}
/* clang-format on */

static const BrioKey plane_keys[] = {
    OBSTACLE_TYPE,
    {KEY_VECTOR("point", "m", 0, "A point of the plane."), KEY_INTO(Obstacle, point)},
    {KEY_VECTOR("normal", "", NAN, "The side on which bodies are; of any length."), KEY_REQUIRED,
     KEY_INTO(Obstacle, normal)},
    KEY_END};
BRIO_SECTION(plane){"obstacles[]", "Obstacles: planes", plane_keys};

static const BrioKey mesh_keys[] = {
    OBSTACLE_TYPE,
    {KEY_FILE("mesh", "Its file, relative to the scene file; triangles, or tets whose surface "
                      "counts. Of ipc."),
     KEY_REQUIRED},
    OBSTACLE_PLACE,
    KEY_END};
BRIO_SECTION(mesh_obstacle){"obstacles[] of type mesh", "Obstacles: meshes", mesh_keys};

/* The shape's own keys come besides. */
static const BrioKey shape_keys[] = {OBSTACLE_TYPE, OBSTACLE_PLACE, KEY_END};
BRIO_SECTION(shape_obstacle){"obstacles[] of a shape",
                             "Obstacles: shapes, with the shape's keys besides", shape_keys};

/* ---- obstacles -------------------------------------------------------------------------- */

static BrioStatus read_plane(BrioNode *node, BrioBuilder *builder, BrioError *error)
{
    Obstacle plane;
    BrioError inner = {0};
    brio__key_defaults(plane_keys, &plane);
    BRIO_CHECK(brio__read_keys(node, plane_keys, &plane, error));
    BrioStatus status = brio_builder_plane(builder, plane.name, plane.point, plane.normal, &inner);
    return status == BRIO_OK ? BRIO_OK
                             : brio__at_node(brio__node_get(node, "normal"), status, error, &inner);
}

/* Values of a shape that stand among the obstacle's keys. */
static BrioStatus shape_values(BrioNode *node, const BrioShape *shape, double *values,
                               BrioError *error)
{
    const char *own[8];
    int count = brio__key_names(shape_keys, own, BRIO_COUNT(own));
    brio_fields_defaults(shape->fields, values);
    return brio__node_fields(node, shape->fields, own, count, values, error);
}

static BrioStatus no_such_type(BrioNode *node, const char *type, BrioError *error)
{
    const char *names[64] = {"plane", "mesh"};
    int count = 2;
    for (int i = 0; count < (int)BRIO_COUNT(names) && brio__shape_at(i); i++)
        names[count++] = brio__shape_at(i)->name;
    return brio__no_such(brio__type_node(node), "obstacle type", type, names, count, error);
}

/* The mesh of an obstacle: a file or a shape. */
static BrioStatus obstacle_mesh(const BrioScene *scene, BrioNode *node, const char *type,
                                BrioMesh **mesh, BrioError *error)
{
    BrioError inner = {0};
    if (!strcmp(type, "mesh")) {
        char path[4096];
        BRIO_CHECK(brio__read_keys(node, mesh_keys, NULL, error));
        BrioNode *file = brio__node_get(node, "mesh");
        BRIO_CHECK(brio__file_path(scene, file, path, sizeof path, error));
        BrioStatus status = brio_mesh_read(path, mesh, &inner);
        return status == BRIO_OK ? BRIO_OK : brio__at_node(file, status, error, &inner);
    }
    const BrioShape *shape = brio__shape(type);
    double values[BRIO_MAX_VALUES];
    if (!shape) return no_such_type(node, type, error);
    BRIO_CHECK(shape_values(node, shape, values, error));
    BrioStatus status = brio_mesh_shape(type, values, mesh, &inner);
    return status == BRIO_OK ? BRIO_OK : brio__at_node(node, status, error, &inner);
}

static BrioStatus read_mesh_obstacle(const BrioScene *scene, BrioNode *node, const char *type,
                                     const char *name, BrioBuilder *builder, BrioError *error)
{
    BrioObstacleDef def = brio_default_obstacle();
    BrioPlacement placement = brio__placement();
    BrioScript script = brio_default_script();
    BrioMesh *mesh = NULL;
    BrioNode *moved = brio__node_get(node, "script");
    BrioError inner = {0};
    BrioStatus status = BRIO_OK;
    BRIO_CHECK(brio__read_transform(brio__node_get(node, "transform"), &placement, error));
    if (moved) status = brio__read_script(moved, &script, error);
    if (status == BRIO_OK) status = obstacle_mesh(scene, node, type, &mesh, error);
    if (status == BRIO_OK) {
        memcpy(def.linear, placement.linear, sizeof def.linear);
        memcpy(def.translate, placement.translate, sizeof def.translate);
        def.name = name;
        def.mesh = mesh;
        def.script = moved ? &script : NULL;
        status = brio_builder_obstacle(builder, &def, &inner);
        if (status != BRIO_OK) brio__at_node(node, status, error, &inner);
    }
    brio__free((void *)script.keys);
    brio_mesh_free(mesh);
    return status;
}

/* A shape of penalty contact: no mesh, but a formula for the distance from it. */
static BrioStatus read_penalty_solid(BrioNode *node, const char *type, const char *name,
                                     BrioBuilder *builder, BrioError *error)
{
    BrioPlacement placement = brio__placement();
    BrioNode *given;
    BrioError inner = {0};
    const BrioShape *shape = brio__shape(type);
    double values[BRIO_MAX_VALUES] = {0};
    if ((given = brio__node_get(node, "script")))
        return brio__node_key_error(given, error,
                                    "obstacles of contact of type penalty stand still: leave the "
                                    "script out, or take type: ipc");
    given = brio__node_get(node, "transform");
    BRIO_CHECK(brio__read_transform(given, &placement, error));
    if (shape) BRIO_CHECK(shape_values(node, shape, values, error));
    BrioStatus status = brio_builder_solid(builder, name, type, values, placement.linear,
                                           placement.translate, &inner);
    return status == BRIO_OK ? BRIO_OK
                             : brio__at_node(given && shape ? node : brio__type_node(node), status,
                                             error, &inner);
}

static BrioStatus read_obstacle(const BrioScene *scene, BrioNode *node, bool penalty,
                                BrioBuilder *builder, BrioError *error)
{
    const char *type, *name = NULL;
    BrioNode *named;
    BRIO_CHECK(brio__expect(node, BRIO_NODE_MAP, error));
    BRIO_CHECK(brio__type_of(node, &type, error));
    if ((named = brio__node_get(node, "name"))) BRIO_CHECK(brio__node_text(named, &name, error));
    if (!strcmp(type, "plane")) return read_plane(node, builder, error);
    if (penalty) return read_penalty_solid(node, type, name, builder, error);
    return read_mesh_obstacle(scene, node, type, name, builder, error);
}

/* ---- the law ---------------------------------------------------------------------------- */

static BrioStatus read_law(BrioNode *node, BrioContactDef *def, BrioError *error)
{
    static const char *const types[] = {"ipc", "penalty"};
    const char *type;
    BRIO_CHECK(brio__type_of(node, &type, error));
    def->penalty = !strcmp(type, "penalty");
    if (!def->penalty && strcmp(type, "ipc"))
        return brio__no_such(brio__type_node(node), "contact type", type, types, 2, error);
    const BrioKey *keys = def->penalty ? penalty_keys : ipc_keys;
    brio__key_defaults(keys, def);
    if (node->kind != BRIO_NODE_MAP) return BRIO_OK;
    if (!def->penalty && brio__node_get(node, "self"))
        return brio__node_key_error(brio__node_get(node, "self"), error,
                                    "contact of type ipc keeps bodies apart from each other "
                                    "and themselves anyway: leave self out");
    BRIO_CHECK(brio__read_keys(node, keys, def, error));
    if (isinf(def->kappa)) def->kappa = NAN; /* auto */
    return BRIO_OK;
}

BrioStatus brio__read_contact(BrioNode *root, const BrioScene *scene, BrioBuilder *builder,
                              BrioError *error)
{
    BrioNode *contact = brio__node_get(root, "contact");
    BrioNode *obstacles = brio__node_get(root, "obstacles");
    BrioContactDef def = brio_default_contact();
    bool any = obstacles && obstacles->count > 0;
    if (any && !contact)
        return brio__node_key_error(
            obstacles, error, "obstacles do nothing without contact: add contact: {type: ipc}");
    if (!contact) return BRIO_OK;
    BRIO_CHECK(read_law(contact, &def, error));
    if (def.penalty && !any && def.self == 0)
        return brio__node_key_error(contact, error,
                                    "contact of type penalty is between bodies and obstacles: add "
                                    "obstacles, or self: DISTANCE, or take type: ipc");
    brio_builder_contact(builder, &def);
    for (int i = 0; any && i < obstacles->count; i++)
        BRIO_CHECK(read_obstacle(scene, obstacles->child[i], def.penalty, builder, error));
    return BRIO_OK;
}

/* ---- pairs ------------------------------------------------------------------------------ */

/* Whether a body's name is that of the node or of one of its copies. */
static bool is_copy(const char *body, const char *name)
{
    size_t length = strlen(name);
    return !strncmp(body, name, length) &&
           (body[length] == 0 || (body[length] == '.' && strspn(body + length + 1, "0123456789") ==
                                                             strlen(body + length + 1)));
}

/* The bodies and obstacles that a name stands for, into `numbers`: a body or all copies of it, an
 * obstacle, or all bodies of a material. */
static BrioStatus read_owners(BrioNode *root, const BrioNode *node, const BrioBuilder *builder,
                              int *numbers, int *count, BrioError *error)
{
    const char *name, *names[300], *material, *body;
    char own[32];
    int known = 0;
    BrioNode *bodies = brio__node_get(root, "bodies");
    BRIO_CHECK(brio__node_text(node, &name, error));
    *count = 0;
    for (int i = 0; (body = brio__builder_name(builder, i)); i++)
        if (is_copy(body, name)) numbers[(*count)++] = i;
    if (*count == 0 && brio__builder_find_obstacle(builder, name) >= 0)
        numbers[(*count)++] = BRIO_OBSTACLE(brio__builder_find_obstacle(builder, name));
    bool by_material = *count == 0;
    for (int k = 0, i = 0; by_material && k < bodies->count; k++) {
        BrioNode *of = brio__node_get(bodies->child[k], "material");
        BrioNode *called = brio__node_get(bodies->child[k], "name");
        bool match = of && brio__type_of(of, &material, NULL) == BRIO_OK && !strcmp(material, name);
        snprintf(own, sizeof own, "body%d", k);
        if (!called || brio__node_text(called, &material, NULL) != BRIO_OK) material = own;
        for (; (body = brio__builder_name(builder, i)) && is_copy(body, material); i++)
            if (match) numbers[(*count)++] = i;
    }
    if (*count > 0) return BRIO_OK;
    for (int i = 0; known < 200 && brio__builder_name(builder, i); i++)
        names[known++] = brio__builder_name(builder, i);
    for (int i = 0; known < (int)BRIO_COUNT(names) && brio__builder_obstacle_name(builder, i); i++)
        names[known++] = brio__builder_obstacle_name(builder, i);
    return brio__no_such(node, "body, material or obstacle", name, names, known, error);
}

/* Says something about all pairs of what two names stand for; mu NAN: they pass through each
 * other. */
static BrioStatus read_pair(BrioNode *root, const BrioNode *names, double mu, BrioBuilder *builder,
                            int *numbers, BrioError *error)
{
    int count[2], *second;
    BrioError inner = {0};
    if (names->kind != BRIO_NODE_LIST || names->count != 2)
        return brio__node_error(names, error, "expected two names, [a, b]");
    BRIO_CHECK(read_owners(root, names->child[0], builder, numbers, &count[0], error));
    second = numbers + count[0];
    BRIO_CHECK(read_owners(root, names->child[1], builder, second, &count[1], error));
    for (int i = 0; i < count[0]; i++)
        for (int k = 0; k < count[1]; k++) {
            BrioStatus status =
                isnan(mu) ? brio_builder_exclude(builder, numbers[i], second[k], &inner)
                          : brio_builder_friction(builder, numbers[i], second[k], mu, &inner);
            if (status != BRIO_OK) return brio__at_node(names, status, error, &inner);
        }
    return BRIO_OK;
}

static BrioStatus read_friction(BrioNode *root, BrioNode *entry, BrioBuilder *builder, int *numbers,
                                BrioError *error)
{
    Friction values;
    BRIO_CHECK(brio__read_keys(entry, friction_keys, &values, error));
    return read_pair(root, brio__node_get(entry, "between"), values.mu, builder, numbers, error);
}

BrioStatus brio__read_pairs(BrioNode *root, BrioBuilder *builder, BrioError *error)
{
    BrioNode *contact = brio__node_get(root, "contact");
    if (!contact || contact->kind != BRIO_NODE_MAP) return BRIO_OK;
    int bodies = 0;
    while (brio__builder_name(builder, bodies)) bodies++;
    int *numbers = brio__alloc(2 * (size_t)bodies + 2, sizeof *numbers);
    BrioStatus status = numbers ? BRIO_OK : brio__no_memory(error);
    BrioNode *friction = brio__node_get(contact, "friction");
    BrioNode *exclude = brio__node_get(contact, "exclude");
    for (int i = 0; status == BRIO_OK && friction && i < friction->count; i++)
        status = read_friction(root, friction->child[i], builder, numbers, error);
    for (int i = 0; status == BRIO_OK && exclude && i < exclude->count; i++)
        status = read_pair(root, exclude->child[i], NAN, builder, numbers, error);
    brio__free(numbers);
    return status;
}
