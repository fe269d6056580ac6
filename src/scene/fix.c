/* `fix` and `attach` of a body: which vertices, and how they are fixed, moved or pulled. */
#include "bodies.h"

typedef struct Fixed {
    double box[6], sphere[4]; /* NAN: not given */
    bool boundary;
    double k, point[3];
} Fixed;

#define SELECTION                                                                                  \
    {KEY_BOX("box", "Vertices in the box between two corners, at the start."),                     \
     KEY_INTO(Fixed, box)},                                                                        \
        {KEY_BALL("sphere", "[[x, y, z], radius]", "Vertices in the ball, at the start."),         \
         KEY_INTO(Fixed, sphere)},                                                                 \
        {KEY_LIST("vertices", "Vertices by number, from 0."), KEY_TAKES("list of numbers")},       \
    {                                                                                              \
        KEY_BOOLEAN("boundary", 0, "Vertices at the open edges of a surface: the rim of a disk."), \
            KEY_TAKES("true"), KEY_WORDS(""), KEY_INTO(Fixed, boundary)                            \
    }

static const BrioKey fix_keys[] = {SELECTION, {KEY_MAP("script", "How they move.")}, KEY_END};
BRIO_SECTION(fix){"bodies[].fix[]", "Fixed vertices", fix_keys};

static const BrioKey attach_keys[] = {
    SELECTION,
    {KEY_REAL("k", "N/m", 1000, KEY_POSITIVE, 1e15, "Stiffness of each spring."),
     KEY_INTO(Fixed, k)},
    {KEY_VECTOR("point", "m", NAN, "Point that they are pulled to."),
     KEY_WORDS("where each vertex starts"), KEY_INTO(Fixed, point)},
    {KEY_MAP("script", "How the points move.")},
    KEY_END};
BRIO_SECTION(attach){"bodies[].attach[]", "Attachments", attach_keys};

/* The vertices at open edges of a surface. */
static BrioStatus select_boundary(const BrioNode *node, bool wanted, const BrioMesh *mesh,
                                  int32_t *chosen, int64_t *count, BrioError *error)
{
    if (!wanted)
        return brio__node_error(node, error,
                                "boundary: false chooses nothing: leave the entry out");
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

static BrioStatus select_vertices(const BrioNode *list, int64_t vertices, int32_t *chosen,
                                  int64_t *count, BrioError *error)
{
    for (int i = 0; i < list->count; i++) {
        int64_t v;
        BRIO_CHECK(brio__node_integer(list->child[i], &v, error));
        if (v < 0 || v >= vertices)
            return brio__node_error(list->child[i], error,
                                    "there is no vertex %lld: the body has vertices 0 to %lld",
                                    (long long)v, (long long)vertices - 1);
        if (*count < vertices) chosen[(*count)++] = (int32_t)v;
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

/* Vertices by number, box or ball, or those of the boundary, by the initial positions; into
 * w->chosen. */
static BrioStatus choose(BrioBodyWork *w, BrioNode *entry, const Fixed *values, int64_t *count,
                         BrioError *error)
{
    BrioNode *box = brio__node_get(entry, "box"), *sphere = brio__node_get(entry, "sphere");
    BrioNode *list = brio__node_get(entry, "vertices");
    BrioNode *boundary = brio__node_get(entry, "boundary");
    const double *low = values->box, *high = values->box + 3;
    *count = 0;
    if (!!box + !!sphere + !!list + !!boundary != 1)
        return brio__node_error(entry, error, "give one of box, sphere, vertices and boundary");
    if (boundary)
        return select_boundary(boundary, values->boundary, w->mesh, w->chosen, count, error);
    if (list) return select_vertices(list, w->mesh->vertex_count, w->chosen, count, error);
    for (int r = 0; r < 3 && box; r++)
        if (low[r] > high[r])
            return brio__node_error(
                box, error, "the first corner must be below the second: %g > %g", low[r], high[r]);
    for (int64_t v = 0; v < w->mesh->vertex_count; v++) {
        const double *p = w->x + 3 * v;
        if (box ? in_box(p, low, high) : in_ball(p, values->sphere, values->sphere[3]))
            w->chosen[(*count)++] = (int32_t)v;
    }
    if (*count == 0)
        return brio__node_error(box ? box : sphere, error, "no vertex lies in this %s",
                                box ? "box" : "sphere");
    return BRIO_OK;
}

static BrioStatus read_entry(BrioBodyWork *w, BrioNode *entry, bool attach, BrioError *error)
{
    int64_t count;
    Fixed values;
    BrioError inner = {0};
    BrioStatus status = BRIO_OK;
    brio__key_defaults(attach_keys, &values);
    BRIO_CHECK(brio__read_keys(entry, attach ? attach_keys : fix_keys, &values, error));
    BRIO_CHECK(choose(w, entry, &values, &count, error));
    w->script = brio_default_script();
    BrioNode *moved = brio__node_get(entry, "script");
    const BrioScript *script = moved ? &w->script : NULL;
    if (moved) BRIO_CHECK(brio__read_script(moved, &w->script, error));
    bool own = isnan(values.point[0]); /* each vertex is pulled to where it starts */
    for (int64_t i = 0; attach && i < count && status == BRIO_OK; i++)
        status = brio_builder_attach(w->builder, w->body, w->chosen[i],
                                     own ? w->x + 3 * (int64_t)w->chosen[i] : values.point,
                                     values.k, script, &inner);
    if (!attach) status = brio_builder_fix(w->builder, w->body, w->chosen, count, script, &inner);
    brio__free((void *)w->script.keys);
    w->script.keys = NULL;
    return status == BRIO_OK ? BRIO_OK : brio__at_node(entry, status, error, &inner);
}

BrioStatus brio__read_fixed(BrioBodyWork *w, BrioError *error)
{
    for (int attach = 0; attach < 2; attach++) {
        BrioNode *list = brio__node_get(w->node, attach ? "attach" : "fix");
        for (int i = 0; list && i < list->count; i++)
            BRIO_CHECK(read_entry(w, list->child[i], attach, error));
    }
    return BRIO_OK;
}
