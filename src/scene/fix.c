/* `fix` and `attach` of a body: which vertices, and how they are fixed, moved or pulled. */
#include "bodies.h"

#include "../vec.h"

#include <string.h>

typedef struct Fixed {
    double box[6], sphere[4], normal[4]; /* NAN: not given */
    bool boundary;
    const char *group;
    double k, point[3];
    BrioSequenceKeys sequence;
} Fixed;

#define SELECTION                                                                            \
    {KEY_BOX("box", "Vertices inside the box between two corners in the initial state."),    \
     KEY_INTO(Fixed, box)},                                                                  \
        {KEY_BALL("sphere", "[[x, y, z], radius]",                                           \
                  "Vertices inside the ball in the initial "                                 \
                  "state."),                                                                 \
         KEY_INTO(Fixed, sphere)},                                                           \
        {KEY_LIST("vertices", "Vertices by number, from 0."), KEY_TAKES("list of numbers")}, \
    {                                                                                        \
        KEY_BOOLEAN("boundary", 0,                                                           \
                    "Vertices on the open boundary of a surface, such as the rim "           \
                    "of a disk."),                                                           \
            KEY_TAKES("true"), KEY_WORDS(""), KEY_INTO(Fixed, boundary)                      \
    }

/* clang-format off */
#define SELECTION_BY_FACES                                                                         \
    {KEY_TEXT("group", "Vertices of the faces of a group or object (OBJ), or of a physical group " \
                       "(Gmsh)."),                                                                 \
     KEY_WORDS(""), KEY_INTO(Fixed, group)},                                                       \
    {KEY_BALL("normal", "[[x, y, z], degrees]",                                                    \
              "Of these vertices, or of all: only those of surface triangles whose initial " \
              "normal is within the given angle of a direction."),                                 \
     KEY_INTO(Fixed, normal)}
/* clang-format on */

static const BrioKey fix_keys[] = {
    SELECTION,
    SELECTION_BY_FACES,
    {KEY_LIST("axes", "Fixed coordinates: x, y, z. The vertices slide along the others."),
     KEY_TAKES("list of x, y, z"), KEY_WORDS("[x, y, z]")},
    {KEY_MAP("script", "Motion of the vertices.")},
    BRIO_SEQUENCE_KEYS(Fixed, sequence),
    KEY_END};
BRIO_SECTION(fix){"bodies[].fix[]", "Fixed vertices", fix_keys};

static const BrioKey attach_keys[] = {
    SELECTION,
    SELECTION_BY_FACES,
    {KEY_REAL("k", "N/m", 1000, KEY_POSITIVE, 1e15, "Stiffness of each spring."),
     KEY_INTO(Fixed, k)},
    {KEY_VECTOR("point", "m", NAN, "Point that the springs pull to."),
     KEY_WORDS("where each vertex starts"), KEY_INTO(Fixed, point)},
    {KEY_OTHER("weights", "list of numbers, or a .csv file",
               "Factors of k: one per selected vertex, in order, or one per vertex of the body.")},
    {KEY_MAP("script", "Motion of the points.")},
    BRIO_SEQUENCE_KEYS(Fixed, sequence),
    KEY_END};
BRIO_SECTION(attach){"bodies[].attach[]", "Attachments", attach_keys};

/* The vertices at open edges of a surface. */
static BrioStatus select_boundary(const BrioNode *node, bool wanted, const BrioMesh *mesh,
                                  int32_t *chosen, int64_t *count, BrioError *error)
{
    if (!wanted)
        return brio__node_error(node, error, "boundary: false selects nothing: remove the entry");
    uint8_t *on = brio__alloc((size_t)mesh->vertex_count, 1);
    BrioStatus status = on ? brio__mesh_boundary(mesh, on) : BRIO_ERROR_MEMORY;
    for (int64_t v = 0; status == BRIO_OK && v < mesh->vertex_count; v++)
        if (on[v]) chosen[(*count)++] = (int32_t)v;
    brio__free(on);
    if (status != BRIO_OK) return brio__no_memory(error);
    if (*count == 0)
        return brio__node_error(node, error, "this mesh has no boundary: %s",
                                mesh->triangle_count && !mesh->tet_count ? "its surface is closed"
                                                                         : "it is no surface");
    return BRIO_OK;
}

/* A vertex may stand in the list more than once, so that it is longer than the body. */
static BrioStatus select_vertices(BrioBodyWork *w, const BrioNode *list, int64_t *count,
                                  BrioError *error)
{
    int64_t vertices = w->mesh->vertex_count;
    if (list->count > vertices) {
        int32_t *grown = brio__realloc(w->chosen, 0, (size_t)list->count, sizeof *w->chosen);
        if (!grown) return brio__no_memory(error);
        w->chosen = grown;
    }
    for (int i = 0; i < list->count; i++) {
        int64_t v;
        BRIO_CHECK(brio__node_integer(list->child[i], &v, error));
        if (v < 0 || v >= vertices)
            return brio__node_error(list->child[i], error,
                                    "there is no vertex %lld: the body has vertices 0 to %lld",
                                    (long long)v, (long long)vertices - 1);
        w->chosen[(*count)++] = (int32_t)v;
    }
    return BRIO_OK;
}

static bool in_box(const double *p, const double *low, const double *high)
{
    return p[0] >= low[0] && p[0] <= high[0] && p[1] >= low[1] && p[1] <= high[1] &&
           p[2] >= low[2] && p[2] <= high[2];
}

static bool in_ball(const double *p, const double *centre, double radius)
{
    return hypot(hypot(p[0] - centre[0], p[1] - centre[1]), p[2] - centre[2]) <= radius;
}

/* Marks the vertices of a physical group. */
static BrioStatus mark_vertex_group(const BrioNode *node, const BrioVertexGroups *groups,
                                    const char *name, uint8_t *on, BrioError *error)
{
    int32_t g = 0;
    while (g < groups->count && strcmp(groups->name[g], name)) g++;
    if (g == groups->count)
        return brio__no_such(node, "group", name, (const char *const *)groups->name, groups->count,
                             error);
    for (int64_t k = groups->start[g]; k < groups->start[g + 1]; k++) on[groups->vertex[k]] = 1;
    return BRIO_OK;
}

/* Marks the vertices of the faces of a group, or of a physical group. */
static BrioStatus mark_group(const BrioBodyWork *w, const BrioNode *node, const char *name,
                             uint8_t *on, BrioError *error)
{
    /* of a surface that tets fill: its vertices come first */
    const BrioFaces *faces = w->filled ? w->filled->faces : w->mesh->faces;
    int group = -1, count = faces && faces->face_group ? faces->group_count : 0;
    if (w->mesh->groups) return mark_vertex_group(node, w->mesh->groups, name, on, error);
    for (int g = 0; g < count; g++)
        if (!strcmp(faces->group[g], name)) group = g;
    if (count == 0)
        return brio__node_error(node, error,
                                "the mesh file names no groups: OBJ files do (g or o), Gmsh files "
                                "do (physical groups with a name), or choose vertices by box, "
                                "sphere or number");
    if (group < 0)
        return brio__no_such(node, "group", name, (const char *const *)faces->group, count, error);
    for (int64_t f = 0; f < faces->count; f++)
        for (int32_t c = faces->start[f]; faces->face_group[f] == group && c < faces->start[f + 1];
             c++)
            on[faces->vertex[c]] = 1;
    return BRIO_OK;
}

/* Leaves of the marked vertices those of triangles that look along `normal`, all of whose corners
 * are marked. */
static BrioStatus keep_patch(BrioBodyWork *w, const BrioNode *node, const double *normal,
                             uint8_t *on, BrioError *error)
{
    int64_t n = w->mesh->vertex_count, count;
    const int32_t *triangle = brio__builder_triangles(w->builder, w->body, &count);
    double length = hypot(hypot(normal[0], normal[1]), normal[2]);
    double least = cos(normal[3] * 3.14159265358979323846 / 180) - 1e-12;
    if (!(length > 0)) return brio__node_error(node, error, "the direction has no length");
    if (!(normal[3] >= 0 && normal[3] <= 180))
        return brio__node_error(node->child[1], error,
                                "the angle = %g degrees is out of range: must be between 0 and 180",
                                normal[3]);
    if (count == 0) return brio__node_error(node, error, "this body has no surface");
    for (int64_t t = 0; t < count; t++) {
        const int32_t *v = triangle + 3 * t;
        double normal_of[3];
        brio__triangle_normal(w->x + 3 * (int64_t)v[0], w->x + 3 * (int64_t)v[1],
                              w->x + 3 * (int64_t)v[2], normal_of);
        double size = brio__norm3(normal_of);
        bool in = (on[v[0]] & 1) && (on[v[1]] & 1) && (on[v[2]] & 1) && size > 0 &&
                  brio__dot3(normal_of, normal) >= least * size * length;
        for (int i = 0; in && i < 3; i++) on[v[i]] |= 2;
    }
    for (int64_t v = 0; v < n; v++) on[v] >>= 1;
    return BRIO_OK;
}

/* Marks those in a box or a ball, or all if there is neither. */
static BrioStatus mark_place(BrioBodyWork *w, const BrioNode *box, const BrioNode *sphere,
                             const Fixed *values, uint8_t *on, BrioError *error)
{
    const double *low = values->box, *high = values->box + 3;
    for (int r = 0; r < 3 && box; r++)
        if (low[r] > high[r])
            return brio__node_error(
                box, error, "the first corner must be below the second: %g > %g", low[r], high[r]);
    for (int64_t v = 0; v < w->mesh->vertex_count; v++) {
        const double *p = w->x + 3 * v;
        on[v] = box      ? in_box(p, low, high)
                : sphere ? in_ball(p, values->sphere, values->sphere[3])
                         : 1;
    }
    return BRIO_OK;
}

/* Vertices by number, box, ball, group, normal, or those of the boundary, by the initial positions;
 * into w->chosen. */
static BrioStatus choose(BrioBodyWork *w, BrioNode *entry, const Fixed *values, int64_t *count,
                         BrioError *error)
{
    BrioNode *box = brio__node_get(entry, "box"), *sphere = brio__node_get(entry, "sphere");
    BrioNode *list = brio__node_get(entry, "vertices"), *group = brio__node_get(entry, "group");
    BrioNode *boundary = brio__node_get(entry, "boundary");
    BrioNode *normal = brio__node_get(entry, "normal");
    int ways = !!box + !!sphere + !!list + !!boundary + !!group;
    *count = 0;
    if (ways > 1 || (ways == 0 && !normal) || (normal && (list || boundary)))
        return brio__node_error(entry, error,
                                "give one of box, sphere, vertices, boundary and group; normal "
                                "may be combined with box, sphere or group, or stand alone");
    if (boundary)
        return select_boundary(boundary, values->boundary, w->mesh, w->chosen, count, error);
    if (list) return select_vertices(w, list, count, error);
    uint8_t *on = brio__calloc((size_t)w->mesh->vertex_count, 1);
    if (!on) return brio__no_memory(error);
    BrioStatus status = group ? mark_group(w, group, values->group, on, error)
                              : mark_place(w, box, sphere, values, on, error);
    if (status == BRIO_OK && normal) status = keep_patch(w, normal, values->normal, on, error);
    for (int64_t v = 0; status == BRIO_OK && v < w->mesh->vertex_count; v++)
        if (on[v]) w->chosen[(*count)++] = (int32_t)v;
    brio__free(on);
    BRIO_CHECK(status);
    if (*count > 0) return BRIO_OK;
    if (normal)
        return brio__node_error(
            normal, error,
            "no triangle of the surface faces this direction: change it, or widen the angle");
    if (group) return brio__node_error(group, error, "no face is of this group");
    return brio__node_error(box ? box : sphere, error, "no vertex lies in this %s",
                            box ? "box" : "sphere");
}

/* Factors of k for the chosen vertices; NULL: all 1. */
static BrioStatus read_weights(BrioBodyWork *w, BrioNode *node, int64_t count, double **weight,
                               BrioError *error)
{
    double *given = NULL;
    int64_t rows = 0, n = w->mesh->vertex_count;
    BrioStatus status = BRIO_OK;
    if (!node) return BRIO_OK;
    if (node->kind == BRIO_NODE_LIST) {
        rows = node->count;
        given = brio__alloc((size_t)rows + 1, sizeof *given);
        if (!given) return brio__no_memory(error);
        for (int64_t i = 0; status == BRIO_OK && i < rows; i++)
            status = brio__node_real(node->child[i], &given[i], error);
    } else {
        char path[4096];
        BRIO_CHECK(brio__file_path(w->scene, node, path, sizeof path, error));
        BRIO_CHECK(brio__csv_read(path, 1, &given, &rows, error));
    }
    if (status == BRIO_OK && rows != count && rows != n)
        status =
            brio__node_error(node, error,
                             "%lld weights: expected one for each of the %lld chosen vertices, "
                             "or of all %lld",
                             (long long)rows, (long long)count, (long long)n);
    *weight = status == BRIO_OK ? brio__alloc((size_t)count + 1, sizeof **weight) : NULL;
    if (status == BRIO_OK && !*weight) status = brio__no_memory(error);
    for (int64_t i = 0; status == BRIO_OK && i < count; i++)
        (*weight)[i] = given[rows == count ? i : w->chosen[i]];
    brio__free(given);
    return status;
}

static BrioStatus read_axes(BrioNode *node, unsigned *axes, BrioError *error)
{
    *axes = 0;
    for (int i = 0; i < node->count; i++) {
        const char *name, *const names[] = {"x", "y", "z"};
        BRIO_CHECK(brio__node_text(node->child[i], &name, error));
        int axis = !strcmp(name, "x") ? 0 : !strcmp(name, "y") ? 1 : !strcmp(name, "z") ? 2 : 3;
        if (axis == 3) return brio__no_such(node->child[i], "axis", name, names, 3, error);
        *axes |= 1u << axis;
    }
    if (*axes == 0) return brio__node_error(node, error, "no axes: leave the entry out");
    return BRIO_OK;
}

/* Many points of one script; `own`: each vertex is pulled to where it starts. */
static BrioStatus attach(BrioBodyWork *w, BrioNode *entry, const Fixed *values, int64_t count,
                         const BrioScript *script, BrioError *error)
{
    bool own = isnan(values->point[0]);
    double *weight = NULL, *points = NULL;
    BrioError inner = {0};
    BRIO_CHECK(read_weights(w, brio__node_get(entry, "weights"), count, &weight, error));
    if (!own && !(points = brio__alloc(3 * (size_t)count, sizeof *points))) {
        brio__free(weight);
        return brio__no_memory(error);
    }
    for (int64_t i = 0; points && i < 3 * count; i++) points[i] = values->point[i % 3];
    BrioStatus status = brio_builder_attach_all(w->builder, w->body, w->chosen, count, points,
                                                values->k, weight, script, &inner);
    brio__free(weight);
    brio__free(points);
    return status == BRIO_OK ? BRIO_OK : brio__at_node(entry, status, error, &inner);
}

static BrioStatus fix(BrioBodyWork *w, BrioNode *entry, int64_t count, const BrioScript *script,
                      BrioError *error)
{
    BrioNode *node = brio__node_get(entry, "axes");
    BrioError inner = {0};
    unsigned axes = 7;
    if (node) BRIO_CHECK(read_axes(node, &axes, error));
    if (axes != 7 && script)
        return brio__node_key_error(node, error,
                                    "coordinates that are fixed alone do not move: remove axes, "
                                    "or script and sequence");
    BrioStatus status =
        axes == 7 ? brio_builder_fix(w->builder, w->body, w->chosen, count, script, &inner)
                  : brio_builder_fix_axes(w->builder, w->body, w->chosen, count, axes, &inner);
    return status == BRIO_OK ? BRIO_OK : brio__at_node(entry, status, error, &inner);
}

static BrioStatus read_entry(BrioBodyWork *w, BrioNode *entry, bool attached, BrioError *error)
{
    int64_t count;
    Fixed values;
    bool moves;
    const BrioKey *keys = attached ? attach_keys : fix_keys;
    brio__key_defaults(attach_keys, &values);
    BRIO_CHECK(brio__read_keys(entry, keys, &values, error));
    BRIO_CHECK(choose(w, entry, &values, &count, error));
    BRIO_CHECK(brio__read_motion(w->scene, entry, &values.sequence, &w->script, &moves, error));
    const BrioScript *script = moves ? &w->script : NULL;
    BrioStatus status = attached ? attach(w, entry, &values, count, script, error)
                                 : fix(w, entry, count, script, error);
    brio__free_script(&w->script);
    return status;
}

BrioStatus brio__read_fixed(BrioBodyWork *w, BrioError *error)
{
    for (int attached = 0; attached < 2; attached++) {
        BrioNode *list = brio__node_get(w->node, attached ? "attach" : "fix");
        for (int i = 0; list && i < list->count; i++)
            BRIO_CHECK(read_entry(w, list->child[i], attached, error));
    }
    return BRIO_OK;
}
