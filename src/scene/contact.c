/* `contact` and `obstacles` of a scene: the contact law with its parameters, what bodies meet, by a
 * formula or by triangles, and what is said about single pairs. */
#include "read.h"

#include "../contact/law.h"
#include "../contact/obstacle.h"
#include "../mesh/mesh.h"

#include <string.h>

/* The keys of the law are added to these. */
static const BrioKey contact_keys[] = {
    {KEY_OTHER("type", "a law", "The contact law: a name of `brio list laws`."), KEY_REQUIRED},
    {KEY_REAL("mu", "", 0, 0, 1e9,
              "Friction coefficient of all pairs that `friction` does not name."),
     KEY_INTO(BrioContactDef, mu)},
    {KEY_REAL("epsv", "m/s|auto", INFINITY, KEY_POSITIVE, 1e9,
              "Speed below which friction sticks; bodies at rest may creep that fast. auto: 3e-4 "
              "of the speed that the smallest body reaches when it falls by its own size."),
     KEY_WORDS("auto"), KEY_INTO(BrioContactDef, epsv)},
    {KEY_INTEGER("friction_iterations", 0, 0, 1000,
                 "How often a step updates the normal forces of friction. 1: at its start only, "
                 "so friction is late by one step. 0: until the friction force no longer changes. "
                 "With quality: preview the default is 1."),
     KEY_INTO(BrioContactDef, friction_iterations)},
    {KEY_CHOICE("start", "strict|relax|untangle", BRIO_START_STRICT,
                "How to treat bodies that start too close. strict: reject intersections; barriers "
                "act at once. relax: barriers start without force and grow to dhat within "
                "relax_time. untangle: first move intersecting bodies apart, as little as "
                "possible, then relax. For barrier laws."),
     KEY_INTO(BrioContactDef, start)},
    {KEY_REAL("relax_time", "s", 0.1, KEY_POSITIVE, 1e9,
              "Time in which barriers grow to dhat (relax, untangle)."),
     KEY_INTO(BrioContactDef, relax_time)},
    {KEY_LIST("friction", "Friction coefficients of single pairs."), KEY_WORDS("[]")},
    {KEY_LIST("exclude", "Pairs of bodies, materials or obstacles that pass through each other; "
                         "[a, a]: a body through itself."),
     KEY_TAKES("list of [a, b]"), KEY_WORDS("[]")},
    KEY_END};
BRIO_SECTION(contact){"contact", "Contact, plus the keys of the law", contact_keys};

typedef struct Friction {
    double mu;
} Friction;

static const BrioKey friction_keys[] = {
    {KEY_OTHER("between", "[a, b]",
               "Names of bodies, materials or obstacles. Later entries override earlier ones."),
     KEY_REQUIRED},
    {KEY_REAL("mu", "", NAN, 0, 1e9, "Friction coefficient of the pair."), KEY_REQUIRED,
     KEY_INTO(Friction, mu)},
    KEY_END};
BRIO_SECTION(friction){"contact.friction[]", "Friction of single pairs", friction_keys};

typedef struct Obstacle {
    const char *name;
    double point[3], normal[3];
    double spacing;
    bool formula;
    BrioSequenceKeys sequence;
} Obstacle;

/* clang-format off */
#define OBSTACLE_TYPE                                                                             \
    {KEY_OTHER("type", "an obstacle | mesh | a shape",                                            \
               "Kind of obstacle: one of `brio list obstacles`, mesh (from a file), or a shape " \
               "of `brio list shapes`."),                                                          \
     KEY_REQUIRED},                                                                               \
    {KEY_TEXT("name", "Name of the obstacle in messages and in contact."),                         \
     KEY_WORDS("obstacle0, obstacle1, ..."), KEY_INTO(Obstacle, name)}
#define OBSTACLE_PLACE                                                                            \
    {KEY_MAP("transform", "Scales (not with a formula), then rotates, then translates.")},         \
    {KEY_MAP("script", "Motion of the obstacle. Not with a formula.")},                            \
    BRIO_SEQUENCE_KEYS(Obstacle, sequence)
/* clang-format on */

static const BrioKey plane_keys[] = {
    OBSTACLE_TYPE,
    {KEY_VECTOR("point", "m", 0, "A point of the plane."), KEY_INTO(Obstacle, point)},
    {KEY_VECTOR("normal", "", NAN, "Points to the side where bodies are; any length."),
     KEY_REQUIRED, KEY_INTO(Obstacle, normal)},
    KEY_END};
BRIO_SECTION(plane){"obstacles[] of type plane", "Obstacles: planes", plane_keys};

static const BrioKey mesh_keys[] = {
    OBSTACLE_TYPE,
    {KEY_FILE("mesh", "Mesh file, relative to the scene file: triangles, the surface of tets, "
                      "segments or points. Not needed if a sequence has triangles."),
     KEY_WORDS("that of the sequence")},
    OBSTACLE_PLACE,
    KEY_END};
BRIO_SECTION(mesh_obstacle){"obstacles[] of type mesh", "Obstacles: meshes", mesh_keys};

/* The keys of the shape are added to these. */
static const BrioKey shape_keys[] = {
    OBSTACLE_TYPE,
    {KEY_BOOLEAN("formula", 0,
                 "For a shape of `brio list obstacles`: use the exact distance instead of "
                 "triangles. Only vertices of bodies collide with it, not edges and faces."),
     KEY_WORDS("false; with penalty contact true, unless it moves"), KEY_INTO(Obstacle, formula)},
    OBSTACLE_PLACE,
    KEY_END};
BRIO_SECTION(shape_obstacle){"obstacles[] of a shape",
                             "Obstacles: shapes, plus the keys of the shape", shape_keys};

static const BrioKey heightfield_keys[] = {
    OBSTACLE_TYPE,
    {KEY_LIST("heights",
              "Rows along z of heights along x, centred at the origin; at least 2 rows of 2."),
     KEY_TAKES("list of rows of numbers, m")},
    {KEY_FILE("file", "Instead of heights: a table (CSV), relative to the scene file.")},
    {KEY_REAL("spacing", "m", 1, 1e-9, 1e9, "Distance between neighbouring heights."),
     KEY_INTO(Obstacle, spacing)},
    {KEY_MAP("transform", "Rotates, then translates.")},
    KEY_END};
BRIO_SECTION(heightfield){"obstacles[] of type heightfield", "Obstacles: height fields",
                          heightfield_keys};

/* A map by its rows, and the fields of a plug-in. */
static BrioStatus read_besides(BrioNode *map, const BrioKey *keys, void *into,
                               const BrioField *fields, double *values, BrioError *error)
{
    const char *own[16];
    int count = brio__key_names(keys, own, BRIO_COUNT(own));
    BRIO_CHECK(brio__node_fields(map, fields, own, count, values, error));
    return brio__read_keys(map, keys, into, error);
}

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

/* A shape's obstacle: its rows, and the values of the shape. */
static BrioStatus shape_values(BrioNode *node, const BrioShape *shape, double *values,
                               BrioError *error)
{
    Obstacle rows;
    brio__key_defaults(shape_keys, &rows);
    return read_besides(node, shape_keys, &rows, shape->fields, values, error);
}

static BrioStatus no_such_type(BrioNode *node, const char *type, BrioError *error)
{
    const char *names[96] = {"mesh"};
    int count = 1;
    for (int i = 0; count < (int)BRIO_COUNT(names) && brio__obstacle_type_at(i); i++)
        names[count++] = brio__obstacle_type_at(i)->name;
    for (int i = 0; count < (int)BRIO_COUNT(names) && brio__shape_at(i); i++)
        if (!brio__obstacle_type(brio__shape_at(i)->name)) names[count++] = brio__shape_at(i)->name;
    return brio__no_such(brio__type_node(node), "obstacle type", type, names, count, error);
}

/* The first frame of a sequence that has triangles. */
static BrioStatus sequence_mesh(BrioNode *node, const BrioSequence *sequence, BrioMesh **mesh,
                                BrioError *error)
{
    if (!sequence || sequence->triangle_count == 0)
        return brio__node_error(node, error,
                                sequence ? "this sequence has no triangles: add mesh"
                                         : "an obstacle of type mesh needs mesh, or a sequence "
                                           "that has triangles (OBJ, GLB)");
    BRIO_CHECK(
        brio__mesh_create(sequence->vertex_count, 0, sequence->triangle_count, 0, mesh, error));
    memcpy((*mesh)->x, sequence->x, 3 * (size_t)sequence->vertex_count * sizeof *sequence->x);
    memcpy((*mesh)->triangle, sequence->triangle,
           3 * (size_t)sequence->triangle_count * sizeof *sequence->triangle);
    return BRIO_OK;
}

/* The mesh of an obstacle: a file, a shape, or that of its sequence; and its rows. */
static BrioStatus obstacle_mesh(const BrioScene *scene, BrioNode *node, const char *type,
                                const BrioSequence *sequence, BrioMesh **mesh, BrioError *error)
{
    BrioError inner = {0};
    if (!strcmp(type, "mesh")) {
        char path[4096];
        BrioNode *file = brio__node_get(node, "mesh");
        if (!file) return sequence_mesh(node, sequence, mesh, error);
        BRIO_CHECK(brio__file_path(scene, file, path, sizeof path, error));
        BrioStatus status = brio_mesh_read(path, mesh, &inner);
        return status == BRIO_OK ? BRIO_OK : brio__at_node(file, status, error, &inner);
    }
    const BrioShape *shape = brio__shape(type);
    double values[BRIO_MAX_VALUES];
    BRIO_CHECK(shape_values(node, shape, values, error));
    BrioStatus status = brio_mesh_shape(type, values, mesh, &inner);
    return status == BRIO_OK ? BRIO_OK : brio__at_node(node, status, error, &inner);
}

static BrioStatus obstacle_rows(BrioNode *node, const char *type, Obstacle *rows, BrioError *error)
{
    brio__key_defaults(mesh_keys, rows);
    if (!strcmp(type, "mesh")) return brio__read_keys(node, mesh_keys, rows, error);
    const BrioShape *shape = brio__shape(type);
    double values[BRIO_MAX_VALUES];
    return shape ? read_besides(node, shape_keys, rows, shape->fields, values, error)
                 : no_such_type(node, type, error);
}

static BrioStatus read_mesh_obstacle(const BrioScene *scene, BrioNode *node, const char *type,
                                     const char *name, BrioBuilder *builder, BrioError *error)
{
    BrioObstacleDef def = brio_default_obstacle();
    BrioPlacement placement = brio__placement();
    BrioScript script = brio_default_script();
    BrioMesh *mesh = NULL;
    Obstacle rows;
    bool moves = false;
    BrioError inner = {0};
    BRIO_CHECK(brio__read_transform(brio__node_get(node, "transform"), &placement, error));
    BRIO_CHECK(obstacle_rows(node, type, &rows, error));
    BrioStatus status = brio__read_motion(scene, node, &rows.sequence, &script, &moves, error);
    if (status == BRIO_OK) status = obstacle_mesh(scene, node, type, script.sequence, &mesh, error);
    if (status == BRIO_OK) {
        memcpy(def.linear, placement.linear, sizeof def.linear);
        memcpy(def.translate, placement.translate, sizeof def.translate);
        def.name = name;
        def.mesh = mesh;
        def.script = moves ? &script : NULL;
        status = brio_builder_obstacle(builder, &def, &inner);
        if (status != BRIO_OK) brio__at_node(node, status, error, &inner);
    }
    brio__free_script(&script);
    brio_mesh_free(mesh);
    return status;
}

/* A shape without a mesh: a formula gives the distance from it. */
static BrioStatus read_formula_obstacle(BrioNode *node, const char *type, const char *name,
                                        BrioBuilder *builder, BrioError *error)
{
    BrioPlacement placement = brio__placement();
    BrioNode *script = brio__node_get(node, "script");
    BrioError inner = {0};
    const BrioShape *shape = brio__shape(type);
    bool known = shape && brio__obstacle_type(type);
    double values[BRIO_MAX_VALUES] = {0};
    if (!script) script = brio__node_get(node, "sequence");
    if (script)
        return brio__node_key_error(script, error,
                                    "obstacles with a formula cannot move: remove the %s, or use "
                                    "triangles (formula: false)",
                                    script->key);
    if (!shape && strcmp(type, "mesh")) return no_such_type(node, type, error);
    BRIO_CHECK(brio__read_transform(brio__node_get(node, "transform"), &placement, error));
    if (known) BRIO_CHECK(shape_values(node, shape, values, error));
    BrioStatus status = brio_builder_solid(builder, name, type, values, placement.linear,
                                           placement.translate, &inner);
    return status == BRIO_OK
               ? BRIO_OK
               : brio__at_node(known ? node : brio__type_node(node), status, error, &inner);
}

/* Rows of numbers of equal length. The caller frees them, also after an error. */
static BrioStatus read_heights(const BrioNode *list, double **height, int *columns, int64_t *rows,
                               BrioError *error)
{
    if (list->count == 0) return brio__node_error(list, error, "there are no heights");
    BRIO_CHECK(brio__expect(list->child[0], BRIO_NODE_LIST, error));
    *columns = list->child[0]->count;
    *rows = list->count;
    *height = brio__alloc((size_t)*columns * (size_t)*rows + 1, sizeof **height);
    if (!*height) return brio__no_memory(error);
    for (int j = 0; j < list->count; j++) {
        const BrioNode *row = list->child[j];
        BRIO_CHECK(brio__expect(row, BRIO_NODE_LIST, error));
        if (row->count != *columns)
            return brio__node_error(row, error, "this row has %d heights, the first row %d",
                                    (int)row->count, *columns);
        for (int i = 0; i < row->count; i++)
            BRIO_CHECK(brio__node_real(row->child[i], *height + (int64_t)j * *columns + i, error));
    }
    return BRIO_OK;
}

static BrioStatus read_heightfield(const BrioScene *scene, BrioNode *node, BrioBuilder *builder,
                                   BrioError *error)
{
    Obstacle ground;
    BrioPlacement placement = brio__placement();
    BrioNode *file = brio__node_get(node, "file"), *list = brio__node_get(node, "heights");
    double *height = NULL;
    int columns = 0;
    int64_t rows = 0;
    char path[4096];
    BrioError inner = {0};
    BrioStatus status;
    brio__key_defaults(heightfield_keys, &ground);
    BRIO_CHECK(brio__read_keys(node, heightfield_keys, &ground, error));
    BRIO_CHECK(brio__read_transform(brio__node_get(node, "transform"), &placement, error));
    if (!file == !list)
        return brio__node_error(node, error, "a height field takes either heights or a file");
    if (file) {
        BRIO_CHECK(brio__file_path(scene, file, path, sizeof path, error));
        status = brio__csv_grid(path, &height, &columns, &rows, error);
    } else {
        status = read_heights(list, &height, &columns, &rows, error);
    }
    if (status == BRIO_OK) {
        status =
            brio_builder_heightfield(builder, ground.name, columns, (int)rows, height,
                                     ground.spacing, placement.linear, placement.translate, &inner);
        if (status != BRIO_OK) brio__at_node(node, status, error, &inner);
    }
    brio__free(height);
    return status;
}

/* Laws between vertices meet formulas where there is one and it stands still; others meet triangles
 * unless a formula is asked for. */
static BrioStatus read_obstacle(const BrioScene *scene, BrioNode *node, const BrioLaw *law,
                                BrioBuilder *builder, BrioError *error)
{
    const char *type, *name = NULL;
    BrioNode *given;
    bool vertices = law->traits & BRIO_LAW_VERTICES;
    BRIO_CHECK(brio__expect(node, BRIO_NODE_MAP, error));
    BRIO_CHECK(brio__type_of(node, &type, error));
    if (!strcmp(type, "plane")) return read_plane(node, builder, error);
    if (!strcmp(type, "heightfield")) return read_heightfield(scene, node, builder, error);
    bool moves = brio__node_get(node, "script") || brio__node_get(node, "sequence");
    BRIO_CHECK(brio__check_motion_keys(node, error));
    bool formula = vertices && !moves && brio__obstacle_type(type);
    if ((given = brio__node_get(node, "name"))) BRIO_CHECK(brio__node_text(given, &name, error));
    if ((given = brio__node_get(node, "formula")))
        BRIO_CHECK(brio__node_boolean(given, &formula, error));
    if (formula) return read_formula_obstacle(node, type, name, builder, error);
    return read_mesh_obstacle(scene, node, type, name, builder, error);
}

static BrioStatus read_obstacles(BrioNode *list, const BrioScene *scene, const BrioLaw *law,
                                 BrioBuilder *builder, BrioError *error)
{
    for (int i = 0; i < list->count; i++)
        BRIO_CHECK(read_obstacle(scene, list->child[i], law, builder, error));
    return BRIO_OK;
}

/* ---- the law ---------------------------------------------------------------------------- */

double *brio__contact_member(BrioContactDef *def, const char *field)
{
    if (!strcmp(field, "dhat")) return &def->dhat;
    if (!strcmp(field, "kappa")) return &def->kappa;
    if (!strcmp(field, "thickness")) return &def->thickness;
    return strcmp(field, "self") ? NULL : &def->self;
}

static BrioStatus find_law(BrioNode *node, const BrioLaw **law, BrioError *error)
{
    const char *type, *names[32];
    int count = 0;
    BRIO_CHECK(brio__type_of(node, &type, error));
    *law = brio__law_at(brio__law_find(type));
    if (*law) return BRIO_OK;
    for (; count < (int)BRIO_COUNT(names) && brio__law_at(count); count++)
        names[count] = brio__law_at(count)->name;
    return brio__no_such(brio__type_node(node), "contact type", type, names, count, error);
}

static BrioStatus read_law(BrioNode *node, const BrioLaw *law, BrioContactDef *def,
                           BrioError *error)
{
    bool map = node->kind == BRIO_NODE_MAP;
    BrioNode *self = map ? brio__node_get(node, "self") : NULL;
    double values[BRIO_MAX_VALUES];
    def->law = law->name;
    brio__key_defaults(contact_keys, def);
    if (self && !(law->traits & BRIO_LAW_VERTICES))
        return brio__node_key_error(self, error,
                                    "contact of type %s keeps bodies apart from each other and "
                                    "themselves anyway: remove self",
                                    law->name);
    if (map)
        BRIO_CHECK(read_besides(node, contact_keys, def, law->fields, values, error));
    else
        brio_fields_defaults(law->fields, values);
    for (int k = 0; law->fields[k].name; k++)
        *brio__contact_member(def, law->fields[k].name) = values[k];
    return BRIO_OK;
}

BrioStatus brio__read_contact(BrioNode *root, const BrioScene *scene, BrioBuilder *builder,
                              BrioError *error)
{
    BrioNode *contact = brio__node_get(root, "contact");
    BrioNode *obstacles = brio__node_get(root, "obstacles");
    BrioContactDef def = brio_default_contact();
    const BrioLaw *law;
    bool any = obstacles && obstacles->count > 0;
    if (any && !contact)
        return brio__node_key_error(
            obstacles, error, "obstacles do nothing without contact: add contact: {type: ipc}");
    if (!contact) return BRIO_OK;
    BRIO_CHECK(find_law(contact, &law, error));
    BRIO_CHECK(read_law(contact, law, &def, error));
    bool given = contact->kind == BRIO_NODE_MAP && brio__node_get(contact, "friction_iterations");
    if (scene->def.solver.quality == BRIO_QUALITY_PREVIEW && !given) def.friction_iterations = 1;
    if (law->traits & BRIO_LAW_VERTICES && !any && def.self == 0)
        return brio__node_key_error(contact, error,
                                    "contact of type %s is between bodies and obstacles: add "
                                    "obstacles, or self: DISTANCE, or use type: ipc",
                                    law->name);
    brio_builder_contact(builder, &def);
    return any ? read_obstacles(obstacles, scene, law, builder, error) : BRIO_OK;
}

BrioStatus brio__read_more_obstacles(BrioNode *root, const BrioScene *scene, BrioBuilder *builder,
                                     BrioError *error)
{
    BrioNode *obstacles = brio__node_get(root, "obstacles");
    const BrioLaw *law = brio__law_at(brio__law_find(brio__builder_law(builder)));
    if (!obstacles || obstacles->count == 0) return BRIO_OK;
    if (!law)
        return brio__node_key_error(obstacles, error,
                                    "obstacles do nothing without contact, and this simulation "
                                    "began without: give its scene contact: {type: ipc}");
    return read_obstacles(obstacles, scene, law, builder, error);
}

/* ---- pairs ------------------------------------------------------------------------------ */

/* How many bodies an entry of `bodies` makes, which has been read: 1, or the copies of its array.
 */
static int copies_of(BrioNode *entry)
{
    double count[3];
    BrioNode *array = brio__node_get(entry, "array");
    BrioNode *counts = array ? brio__node_get(array, "count") : NULL;
    if (!counts || brio__node_reals(counts, count, 3, NULL) != BRIO_OK) return 1;
    return (int)(count[0] * count[1] * count[2]);
}

/* The bodies of a name into `numbers`; their count. A name stands for a body, or for all copies of
 * the entry that has it; or for all bodies of a material. */
static int find_bodies(BrioNode *bodies, const char *name, bool by_material,
                       const BrioBuilder *builder, int *numbers)
{
    int count = 0, body = 0;
    for (int k = 0; k < bodies->count; k++) {
        char own[32];
        const char *called = own;
        BrioNode *entry = bodies->child[k], *given = brio__node_get(entry, "name");
        snprintf(own, sizeof own, "body%d", k);
        if (by_material)
            brio__type_of(brio__node_get(entry, "material"), &called, NULL);
        else if (given)
            brio__node_text(given, &called, NULL);
        bool all = !strcmp(called, name);
        for (int last = body + copies_of(entry); body < last; body++)
            if (all || (!by_material && !strcmp(brio__builder_name(builder, body), name)))
                numbers[count++] = body;
    }
    return count;
}

/* The bodies and obstacles that a name stands for, into `numbers`: a body or all copies of it, an
 * obstacle, or all bodies of a material. */
static BrioStatus read_owners(BrioNode *root, const BrioNode *node, const BrioBuilder *builder,
                              int *numbers, int *count, BrioError *error)
{
    const char *name, *names[300];
    int known = 0;
    BrioNode *bodies = brio__node_get(root, "bodies");
    BRIO_CHECK(brio__node_text(node, &name, error));
    *count = find_bodies(bodies, name, false, builder, numbers);
    if (*count == 0 && brio__builder_find_obstacle(builder, name) >= 0)
        numbers[(*count)++] = BRIO_OBSTACLE(brio__builder_find_obstacle(builder, name));
    if (*count == 0) *count = find_bodies(bodies, name, true, builder, numbers);
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
