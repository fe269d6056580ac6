/* `bodies` of a scene: each with its material, mesh, initial state and fixed vertices, alone or as
 * an array of copies. */
#include "bodies.h"

#include "../mesh/cage.h"

#include <string.h>

static const BrioKey body_keys[] = {
    {KEY_TEXT("name", "Name of the body in results."), KEY_WORDS("body0, body1, ..."),
     KEY_INTO(BrioBodyWork, def.name)},
    {KEY_OTHER("shape", "map with `type`",
               "A procedural shape: `brio list shapes`. Or give mesh; null means none.")},
    {KEY_FILE("mesh",
              "A mesh file, relative to the scene file. Or give shape. With kind: solid, tetgen "
              "or gmsh fills a closed surface with tets, if one of them is installed; the result "
              "is cached in ~/.cache/brio.")},
    {KEY_REAL("edge", "", NAN, KEY_POSITIVE, 1e15,
              "For a surface that is filled with tets: maximum edge length, approximately."),
     KEY_TAKES("number, in units of the file"), KEY_WORDS("that of the surface"),
     KEY_INTO(BrioBodyWork, edge)},
    {KEY_INTEGER(
         "cage", 0, 0, BRIO_CAGE_MAX,
         "For a solid with a dense surface: a coarse lattice of tets carries the surface. The "
         "number of cells along the longest side, approximately. Contact uses the surface itself. "
         "0: no cage."),
     KEY_INTO(BrioBodyWork, def.cage)},
    {KEY_OTHER("surface", "file name, or a map",
               "A detailed surface that the body's tets carry. Pictures, the report and exported "
               "files show it.")},
    {KEY_CHOICE("kind", "auto|solid|springs|bar1d|points|affine|shell", BRIO_KIND_AUTO,
                "Kind of elements; auto: from the material. shell: a sheet of triangles. bar1d: a "
                "line of edges that moves along x only. points: masses without elements. affine: "
                "the body (tets or a closed surface) moves as a whole and "
                "uses E and rho of its material."),
     KEY_INTO(BrioBodyWork, def.kind)},
    {KEY_OTHER("material", "a name, or a map with `type`",
               "A name from `materials`, a preset (`brio list presets`), or the map itself, whose "
               "`type` may be any of these names."),
     KEY_REQUIRED},
    {KEY_MAP("transform", "Scales, then rotates, then translates the mesh. The result is the rest "
                          "shape.")},
    {KEY_MAP("velocity", "Initial velocity.")},
    {KEY_FILE("state", "Initial positions and velocities, one row per vertex: x,y,z,vx,vy,vz.")},
    {KEY_MAP("deform", "Initial deformation of the rest shape: twist, bend, pull, scatter. Or "
                       "give state.")},
    {KEY_FILE("springs", "The springs of kind springs, one row per spring: a,b,k,rest.")},
    {KEY_LIST("fix", "Vertices that are fixed or follow a script.")},
    {KEY_LIST("attach", "Springs from vertices to points.")},
    {KEY_REAL("decay", "s", 0, 0, 1e12,
              "For a-search: time in which this body's energy above the ground falls to 1/e. "
              "Switches `by_body` on."),
     KEY_WORDS("that of the integrator"), KEY_INTO(BrioBodyWork, def.decay)},
    {KEY_REAL("energy_scale", "", 0, 0, 10,
              "For a-search: initial target of this body's energy above the ground, as a fraction "
              "of its initial energy above it. Switches `by_body` on."),
     KEY_WORDS("that of the integrator"), KEY_INTO(BrioBodyWork, def.energy_scale)},
    {KEY_MAP("array", "Copies of the body in rows, columns and layers, each with its initial "
                      "state; their names are NAME.0, NAME.1, ...")},
    KEY_END};
BRIO_SECTION(body){"bodies[]", "A body", body_keys};

typedef struct Array {
    double count[3], spacing[3];
} Array;

static const BrioKey array_keys[] = {
    {KEY_COUNTS("count", 1, 1000, "Copies along x, y and z."), KEY_REQUIRED,
     KEY_INTO(Array, count)},
    {KEY_VECTOR("spacing", "m", NAN, "Distance between neighbouring copies along each axis."),
     KEY_REQUIRED, KEY_INTO(Array, spacing)},
    KEY_END};
BRIO_SECTION(array){"bodies[].array", "Copies of a body", array_keys};

void brio__body_place(const BrioBodyDef *def, const double *X, double *x)
{
    for (int r = 0; r < 3; r++) {
        x[r] = def->translate[r];
        for (int c = 0; c < 3; c++) x[r] += def->linear[3 * r + c] * X[c];
    }
}

/* Rest shape and initial positions of all vertices. */
static BrioStatus place_vertices(BrioBodyWork *w, BrioError *error)
{
    size_t vertices = (size_t)w->mesh->vertex_count, first = (size_t)w->first;
    w->chosen = brio__alloc(vertices, sizeof *w->chosen);
    w->x = brio__alloc(3 * vertices, sizeof *w->x);
    if (!w->chosen || !w->x) return brio__no_memory(error);
    double *rest = brio__realloc(w->scene->rest, 3 * first, 3 * (first + vertices), sizeof *rest);
    if (!rest) return brio__no_memory(error);
    w->scene->rest = rest;
    for (size_t v = 0; v < vertices; v++) {
        brio__body_place(&w->def, w->mesh->x + 3 * v, rest + 3 * (first + v));
        memcpy(w->x + 3 * v, w->state ? w->state + 6 * v : rest + 3 * (first + v),
               3 * sizeof *w->x);
    }
    return BRIO_OK;
}

/* Where the rest shape stands and how it moves: the copy of an array is shifted as a whole. */
static BrioStatus read_place(BrioBodyWork *w, BrioError *error)
{
    BrioPlacement placement = brio__placement();
    BRIO_CHECK(brio__read_transform(brio__node_get(w->node, "transform"), &placement, error));
    memcpy(w->def.linear, placement.linear, sizeof w->def.linear);
    memcpy(w->def.translate, placement.translate, sizeof w->def.translate);
    BRIO_CHECK(brio__read_velocity(w, error));
    for (int r = 0; r < 3; r++) {
        w->def.translate[r] += w->shift[r];
        w->def.about[r] += w->shift[r];
    }
    return BRIO_OK;
}

/* `copy` of an array; -1: there is no array. */
static BrioStatus build_body(BrioBodyWork *w, BrioNode *materials, int number, int copy,
                             BrioError *error)
{
    char own[32], copied[256];
    brio__key_defaults(body_keys, w);
    snprintf(own, sizeof own, "body%d", number);
    w->def.name = own;
    BRIO_CHECK(brio__read_keys(w->node, body_keys, w, error));
    if (copy >= 0) {
        snprintf(copied, sizeof copied, "%.240s.%d", w->def.name, copy);
        w->def.name = copied;
    }
    BRIO_CHECK(brio__read_material(materials, brio__node_get(w->node, "material"), &w->def.material,
                                   error));
    BRIO_CHECK(read_place(w, error));
    BRIO_CHECK(brio__read_body_mesh(w, error));
    BRIO_CHECK(brio__read_initial_state(w, error));
    BRIO_CHECK(brio__read_springs(w, error));
    w->def.mesh = w->mesh;

    BrioError inner = {0};
    BrioStatus status = brio_builder_body(w->builder, &w->def, &w->body, &inner);
    if (status != BRIO_OK) return brio__at_node(w->node, status, error, &inner);
    BRIO_CHECK(place_vertices(w, error));
    BRIO_CHECK(brio__read_fixed(w, error)); /* by groups of faces, which the next one takes */
    return brio__read_surface(w, error);
}

static BrioStatus read_array(BrioNode *node, Array *array, BrioError *error)
{
    BRIO_CHECK(brio__read_keys(node, array_keys, array, error));
    double copies = array->count[0] * array->count[1] * array->count[2];
    if (copies > 100000)
        return brio__node_error(brio__node_get(node, "count"), error,
                                "%.0f copies are more than 100000", copies);
    return BRIO_OK;
}

/* One entry of the list: a body, or all copies of it. */
static BrioStatus read_body(BrioNode *root, BrioScene *scene, BrioBuilder *builder, int i,
                            int64_t *first, BrioError *error)
{
    BrioNode *node = brio__node_get(root, "bodies")->child[i];
    Array array = {.count = {1, 1, 1}};
    BrioNode *copies = node->kind == BRIO_NODE_MAP ? brio__node_get(node, "array") : NULL;
    if (copies) BRIO_CHECK(read_array(copies, &array, error));
    int64_t nx = (int64_t)array.count[0], ny = (int64_t)array.count[1];
    for (int64_t k = 0; k < nx * ny * (int64_t)array.count[2]; k++) {
        BrioBodyWork w = {.scene = scene,
                          .builder = builder,
                          .node = node,
                          .def = brio_default_body(),
                          .shift = {(double)(k % nx) * array.spacing[0],
                                    (double)(k / nx % ny) * array.spacing[1],
                                    (double)(k / (nx * ny)) * array.spacing[2]},
                          .first = *first};
        BrioStatus status =
            build_body(&w, brio__node_get(root, "materials"), i, copies ? (int)k : -1, error);
        if (w.mesh) *first += w.mesh->vertex_count;
        brio_mesh_free(w.mesh);
        brio_mesh_free(w.filled);
        brio__free(w.state);
        brio__free(w.spring);
        brio__free(w.x);
        brio__free(w.chosen);
        brio__free_script(&w.script);
        if (status != BRIO_OK) return status;
    }
    return BRIO_OK;
}

BrioStatus brio__read_bodies(BrioNode *root, BrioScene *scene, BrioBuilder *builder,
                             BrioError *error)
{
    BrioNode *bodies = brio__node_get(root, "bodies");
    int64_t first = 0;
    BRIO_CHECK(brio__read_materials(brio__node_get(root, "materials"), error));
    if (bodies->count == 0)
        return brio__node_error(bodies, error,
                                "the list is empty: a scene needs at least one body");
    for (int i = 0; i < bodies->count; i++)
        BRIO_CHECK(read_body(root, scene, builder, i, &first, error));
    return BRIO_OK;
}
