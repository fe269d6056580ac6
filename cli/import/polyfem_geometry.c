/* Geometry of a scene of polyfem: meshes with their transformations, planes, arrays, and the parts
 * of a body that selections name. x = R S X + b; selections look at the middle of faces. */
#include "polyfem.h"

#include <string.h>
#include <unistd.h>

enum { MAX_GEOMETRIES = 20000 };

void poly_place(const Geometry *g, const double *X, double *x)
{
    double y[3];
    for (int k = 0; k < 3; k++) y[k] = g->scale[k] * X[k];
    import_apply(((Geometry *)g)->rotate, y, x);
    for (int k = 0; k < 3; k++) x[k] += g->translate[k];
}

static void placed_box(const Geometry *g, double low[3], double high[3])
{
    for (int k = 0; k < 3; k++) low[k] = INFINITY, high[k] = -INFINITY;
    for (int64_t v = 0; v < g->mesh->vertex_count; v++) {
        double x[3];
        poly_place(g, g->mesh->x + 3 * v, x);
        for (int k = 0; k < 3; k++) low[k] = fmin(low[k], x[k]), high[k] = fmax(high[k], x[k]);
    }
}

/* ---- selections ------------------------------------------------------------------------- */

typedef struct Selections {
    Selection *item;
    int count;
    double low[3], high[3]; /* of the body, placed */
} Selections;

/* A point of the scene, or one of the box. */
static BrioStatus take_point(const Poly *p, const Selections *s, const BrioNode *node,
                             bool relative, double x[3])
{
    BRIO_CHECK(poly_vector(p, node, x));
    for (int k = 0; k < 3; k++)
        x[k] = relative ? s->low[k] + x[k] * (s->high[k] - s->low[k]) : x[k] * p->length;
    return BRIO_OK;
}

static BrioStatus take_radius(const Poly *p, const Selections *s, const BrioNode *node,
                              bool relative, double *radius)
{
    double sum = 0;
    BRIO_CHECK(brio__node_real(node, radius, p->error));
    for (int k = 0; k < 3; k++) sum += (s->high[k] - s->low[k]) * (s->high[k] - s->low[k]);
    *radius *= relative ? sqrt(sum) : p->length;
    return BRIO_OK;
}

/* The half space beyond a plane across an axis: "x", "-y", 3. */
static BrioStatus take_axis(const Poly *p, const Selections *s, const BrioNode *node,
                            const BrioNode *position, bool relative, Selection *out)
{
    const char *text = node->kind == BRIO_NODE_SCALAR ? node->text : "";
    bool minus = text[0] == '-';
    const char *name = text + (text[0] == '-' || text[0] == '+');
    const char *found = name[0] && !name[1] ? strchr("xyzXYZ123", name[0]) : NULL;
    if (!found || !position)
        return brio__node_error(node, p->error, "expected an axis (x, -y, 3) and its position");
    int axis = (int)(found - "xyzXYZ123") % 3;
    double at;
    BRIO_CHECK(brio__node_real(position, &at, p->error));
    out->kind = SELECT_HALF;
    out->b[axis] = minus ? -1 : 1;
    out->a[axis] = relative ? s->low[axis] + at * (s->high[axis] - s->low[axis]) : at * p->length;
    return BRIO_OK;
}

static BrioStatus take_plane(const Poly *p, const Selections *s, BrioNode *node, bool relative,
                             Selection *out)
{
    BrioNode *point = brio__node_get(node, "point"), *offset = brio__node_get(node, "offset");
    double by = 0;
    out->kind = SELECT_HALF;
    BRIO_CHECK(poly_vector(p, brio__node_get(node, "normal"), out->b));
    if (point) return take_point(p, s, point, relative, out->a);
    if (offset) BRIO_CHECK(brio__node_real(offset, &by, p->error));
    for (int k = 0; k < 3; k++) out->a[k] = out->b[k] * by * p->length;
    return BRIO_OK;
}

static BrioStatus take_selection(const Poly *p, const Selections *s, BrioNode *node, Selection *out)
{
    static const char *const keys[] = {"id",     "box",      "center",    "radius",   "axis",
                                       "p1",     "p2",       "position",  "normal",   "point",
                                       "offset", "relative", "threshold", "id_offset"};
    Value map = {.node = {node}, .count = 1};
    if (node->kind != BRIO_NODE_MAP)
        return brio__node_error(node, p->error,
                                "expected a selection: a map with id and box, "
                                "center, axis, normal or p1 and p2");
    poly_unknown(p, map, "a selection", keys, (int)BRIO_COUNT(keys));
    bool relative = poly_is_true(poly_get(map, "relative"), false);
    BrioNode *id = brio__node_get(node, "id"), *box = brio__node_get(node, "box");
    BrioNode *centre = brio__node_get(node, "center"), *radius = brio__node_get(node, "radius");
    BrioNode *axis = brio__node_get(node, "axis"), *p1 = brio__node_get(node, "p1");
    BrioNode *p2 = brio__node_get(node, "p2"), *threshold = brio__node_get(node, "threshold");
    *out = (Selection){.kind = SELECT_ALL};
    if (id) BRIO_CHECK(brio__node_integer(id, &out->id, p->error));
    if (box) {
        if (box->kind != BRIO_NODE_LIST || box->count != 2)
            return brio__node_error(box, p->error, "expected two corners");
        out->kind = SELECT_BOX;
        BRIO_CHECK(take_point(p, s, box->child[0], relative, out->a));
        return take_point(p, s, box->child[1], relative, out->b);
    }
    if (centre && radius) {
        out->kind = SELECT_BALL;
        BRIO_CHECK(take_point(p, s, centre, relative, out->a));
        return take_radius(p, s, radius, relative, &out->radius);
    }
    if (p1 && p2 && radius) {
        out->kind = SELECT_CYLINDER;
        BRIO_CHECK(take_point(p, s, p1, relative, out->a));
        BRIO_CHECK(take_point(p, s, p2, relative, out->b));
        return take_radius(p, s, radius, relative, &out->radius);
    }
    if (axis) return take_axis(p, s, axis, brio__node_get(node, "position"), relative, out);
    if (brio__node_get(node, "normal")) return take_plane(p, s, node, relative, out);
    if (threshold) {
        BrioNode *offset = brio__node_get(node, "id_offset");
        out->kind = SELECT_SIDES;
        if (offset) BRIO_CHECK(brio__node_integer(offset, &out->id, p->error));
        BRIO_CHECK(take_radius(p, s, threshold, false, &out->radius));
        if (out->radius < 0) out->radius = 1e-7 * p->length; /* the other code's own choice */
        return BRIO_OK;
    }
    return brio__node_error(node, p->error,
                            "expected a selection: id with box, center, axis, "
                            "normal, or p1 and p2");
}

/* A selection, or a list of them, or the id of everything. */
static BrioStatus read_selections(Poly *p, const Geometry *g, BrioNode *node, Selections *s)
{
    bool list = node->kind == BRIO_NODE_LIST;
    int count = list ? node->count : 1;
    s->count = 0;
    s->item = brio__calloc((size_t)count + 1, sizeof *s->item);
    if (!s->item) return poly_no_memory(p);
    placed_box(g, s->low, s->high);
    for (int i = 0; i < count; i++) {
        BrioNode *item = list ? node->child[i] : node;
        Selection *out = &s->item[s->count++];
        if (item->kind == BRIO_NODE_SCALAR && !item->quoted) {
            *out = (Selection){.kind = SELECT_ALL};
            BRIO_CHECK(brio__node_integer(item, &out->id, p->error));
        } else if (item->kind == BRIO_NODE_SCALAR) {
            poly_loss(p, item->key ? item : node,
                      "the ids of the file \"%.60s\" are not read; nothing is selected by them",
                      item->text);
            s->count--;
        } else {
            BRIO_CHECK(take_selection(p, s, item, out));
        }
    }
    return BRIO_OK;
}

static bool in_cylinder(const Selection *s, const double x[3])
{
    double d[3], along = 0, length = 0, off = 0;
    for (int k = 0; k < 3; k++) {
        d[k] = s->b[k] - s->a[k];
        along += (x[k] - s->a[k]) * d[k];
        length += d[k] * d[k];
    }
    if (!(length > 0) || along < 0 || along > length) return false;
    for (int k = 0; k < 3; k++) {
        double r = x[k] - s->a[k] - along / length * d[k];
        off += r * r;
    }
    return off <= s->radius * s->radius;
}

/* The id that the first selection which holds x gives it; -1: none does. */
static int64_t id_at(const Selections *all, const double x[3])
{
    for (int i = 0; i < all->count; i++) {
        const Selection *s = &all->item[i];
        double square = 0, along = 0;
        bool in = true;
        for (int k = 0; k < 3; k++) {
            square += (x[k] - s->a[k]) * (x[k] - s->a[k]);
            along += (x[k] - s->a[k]) * s->b[k];
            in &= s->kind != SELECT_BOX || (x[k] >= s->a[k] && x[k] <= s->b[k]);
        }
        if (s->kind == SELECT_BALL) in = square <= s->radius * s->radius;
        if (s->kind == SELECT_CYLINDER) in = in_cylinder(s, x);
        if (s->kind == SELECT_HALF) in = along >= 0;
        if (s->kind == SELECT_SIDES) { /* left, bottom, right, top, front, back, the rest */
            static const int axis[] = {0, 1, 0, 1, 2, 2};
            for (int side = 0; side < 6; side++) {
                bool high = side == 2 || side == 3 || side == 5;
                double wall = (high ? all->high : all->low)[axis[side]];
                if (fabs(x[axis[side]] - wall) < s->radius) return s->id + side + 1;
            }
            return s->id + 7;
        }
        if (in) return s->id;
    }
    return -1;
}

static bool is_one_of(int64_t id, const int64_t *ids, int count)
{
    for (int i = 0; i < count; i++)
        if (ids[i] == id) return true;
    return count == 0;
}

BrioStatus poly_choose(Poly *p, const Geometry *g, const int64_t *id, int count, uint8_t *chosen,
                       int64_t *found)
{
    Value map = {.node = {g->node}, .count = 1};
    BrioNode *faces = poly_first(poly_get(map, "surface_selection"));
    BrioNode *points = poly_first(poly_get(map, "point_selection"));
    const BrioMesh *mesh = g->mesh;
    Selections s = {.count = 0};
    BrioStatus status = faces ? read_selections(p, g, faces, &s) : BRIO_OK;
    for (int64_t t = 0; status == BRIO_OK && t < mesh->triangle_count; t++) {
        const int32_t *v = mesh->triangle + 3 * t;
        double x[3], middle[3] = {0, 0, 0};
        for (int i = 0; i < 3; i++) {
            poly_place(g, mesh->x + 3 * (int64_t)v[i], x);
            for (int k = 0; k < 3; k++) middle[k] += x[k] / 3;
        }
        int64_t at = faces ? id_at(&s, middle) : -1;
        if (count && !(at >= 0 && is_one_of(at, id, count))) continue;
        for (int i = 0; i < 3; i++) chosen[v[i]] = 1;
    }
    brio__free(s.item);
    s = (Selections){.count = 0};
    if (status == BRIO_OK && points) status = read_selections(p, g, points, &s);
    for (int64_t t = 0; status == BRIO_OK && points && t < 3 * mesh->triangle_count; t++) {
        double x[3];
        poly_place(g, mesh->x + 3 * (int64_t)mesh->triangle[t], x);
        int64_t at = id_at(&s, x);
        if (at >= 0 && is_one_of(at, id, count)) chosen[mesh->triangle[t]] = 1;
    }
    brio__free(s.item);
    *found = 0;
    for (int64_t v = 0; status == BRIO_OK && v < mesh->vertex_count; v++) *found += chosen[v];
    return status;
}

/* The id of the tets of a body, which brio has one material for. */
static BrioStatus find_volume_id(Poly *p, Geometry *g)
{
    Value map = {.node = {g->node}, .count = 1};
    BrioNode *node = poly_first(poly_get(map, "volume_selection"));
    const BrioMesh *mesh = g->mesh;
    Selections s = {.count = 0};
    g->volume_id = 0;
    if (!node) return BRIO_OK;
    if (node->kind == BRIO_NODE_MAP && brio__node_get(node, "id_offset") && node->count == 1)
        return brio__node_integer(brio__node_get(node, "id_offset"), &g->volume_id, p->error);
    BrioStatus status = read_selections(p, g, node, &s);
    bool differ = false;
    for (int64_t t = 0; status == BRIO_OK && s.count && t < mesh->tet_count; t++) {
        double x[3], middle[3] = {0, 0, 0};
        for (int i = 0; i < 4; i++) {
            poly_place(g, mesh->x + 3 * (int64_t)mesh->tet[4 * t + i], x);
            for (int k = 0; k < 3; k++) middle[k] += x[k] / 4;
        }
        int64_t id = BRIO_MAX(id_at(&s, middle), (int64_t)0);
        if (t == 0) g->volume_id = id;
        differ |= id != g->volume_id;
    }
    brio__free(s.item);
    if (status == BRIO_OK && differ)
        poly_loss(p, node,
                  "volume_selection: parts of one body have different ids, and brio has one "
                  "material for a body; all of it is taken as the part with the id %lld",
                  (long long)g->volume_id);
    return status;
}

/* ---- transformations --------------------------------------------------------------------- */

static BrioStatus take_rotation(Poly *p, const BrioNode *node, const char *mode, double out[3][3])
{
    double v[4] = {0, 0, 0, 0};
    bool four = !strcmp(mode, "axis_angle") || !strcmp(mode, "quaternion");
    if (node->kind == BRIO_NODE_LIST && node->count == 0) return BRIO_OK;
    if (node->kind == BRIO_NODE_SCALAR) {
        if (!mode[0] || mode[1] || !strchr("xyz", mode[0]))
            return brio__node_error(node, p->error, "a single angle needs rotation_mode x, y or z");
        BRIO_CHECK(brio__node_real(node, &v[strchr("xyz", mode[0]) - "xyz"], p->error));
    } else {
        BRIO_CHECK(brio__node_reals(node, v, four ? 4 : 3, p->error));
    }
    if (!strcmp(mode, "axis_angle")) {
        import_turn(v + 1, v[0] * PI / 180, out);
        return BRIO_OK;
    }
    if (!strcmp(mode, "quaternion")) { /* x, y, z, w */
        double sine = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        import_turn(v, 2 * atan2(sine, v[3]), out);
        return BRIO_OK;
    }
    if (!strcmp(mode, "rotation_vector")) {
        import_turn(v, sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) * PI / 180, out);
        return BRIO_OK;
    }
    for (const char *c = mode; *c; c++) { /* one after the other, each before those so far */
        double axis[3] = {0, 0, 0}, part[3][3];
        const char *found = strchr("xyz", *c);
        if (!found)
            return brio__node_error(node, p->error,
                                    "rotation_mode \"%.20s\" is not known; it is made of x, y and "
                                    "z, or axis_angle, quaternion, rotation_vector",
                                    mode);
        axis[found - "xyz"] = 1;
        import_turn(axis, v[found - "xyz"] * PI / 180, part);
        import_multiply(part, out, out);
    }
    return BRIO_OK;
}

static BrioStatus take_scale(Poly *p, Value map, const double extent[3], double unit,
                             double scale[3])
{
    BrioNode *node = poly_first(poly_get(map, "dimensions"));
    if (node && node->kind == BRIO_NODE_LIST) {
        BRIO_CHECK(poly_vector(p, node, scale));
        for (int k = 0; k < 3; k++) {
            /* a flat mesh has no extent to scale; its coordinate goes to 0 there */
            bool flat = extent[k] == 0;
            scale[k] = flat ? unit : scale[k] * unit / extent[k];
        }
    } else {
        node = poly_first(poly_get(map, "scale"));
        for (int k = 0; k < 3; k++) scale[k] = 1;
        if (node && node->kind == BRIO_NODE_SCALAR) {
            BRIO_CHECK(brio__node_real(node, &scale[0], p->error));
            scale[1] = scale[2] = scale[0];
        } else if (node && node->count) {
            BRIO_CHECK(poly_vector(p, node, scale));
        }
        for (int k = 0; k < 3; k++) scale[k] *= unit;
    }
    for (int k = 0; k < 3; k++)
        if (!(scale[k] > 0))
            return brio__node_error(node ? node : poly_first(map), p->error,
                                    "a scale must be positive: brio does not mirror meshes");
    return BRIO_OK;
}

static BrioStatus take_transformation(Poly *p, Geometry *g)
{
    static const char *const keys[] = {"translation", "rotation", "rotation_mode", "scale",
                                       "dimensions"};
    Value entry = {.node = {g->node}, .count = 1}, map = poly_get(entry, "transformation"), value;
    double low[3], high[3], extent[3], unit = p->length, largest = 0;
    char mode[32] = "xyz";
    poly_unknown(p, map, "transformation", keys, (int)BRIO_COUNT(keys));
    value = poly_get(entry, "unit");
    const BrioNode *named = poly_first(value); /* "" is the default there: none */
    if (named && !(named->kind == BRIO_NODE_SCALAR && !named->text[0]))
        BRIO_CHECK(poly_unit(p, named, &unit));
    import_box_of(g->mesh, low, high);
    for (int k = 0; k < 3; k++) {
        extent[k] = high[k] - low[k];
        largest = fmax(largest, extent[k]);
    }
    value = poly_get(poly_get(entry, "advanced"), "normalize_mesh");
    /* that of an obstacle is not looked at there */
    bool normal = !g->obstacle && poly_is_true(value, false) && largest > 0;
    for (int k = 0; k < 3 && normal; k++) extent[k] /= largest;
    BRIO_CHECK(take_scale(p, map, extent, unit, g->scale));
    bool fitted = poly_get(map, "dimensions").count &&
                  poly_first(poly_get(map, "dimensions"))->kind == BRIO_NODE_LIST;
    value = poly_get(map, "rotation_mode");
    if (value.count) snprintf(mode, sizeof mode, "%s", poly_text(value, ""));
    for (char *c = mode; *c; c++)
        if (*c >= 'A' && *c <= 'Z') *c += 'a' - 'A';
    value = poly_get(map, "rotation");
    if (value.count) BRIO_CHECK(take_rotation(p, poly_first(value), mode, g->rotate));
    value = poly_get(map, "translation");
    if (value.count && poly_first(value)->count)
        BRIO_CHECK(poly_vector(p, poly_first(value), g->translate));
    for (int k = 0; k < 3; k++) g->translate[k] *= p->length;
    double corner[3]; /* what goes to the origin: the smallest corner of what is normalized */
    for (int k = 0; k < 3; k++) {
        if (normal) g->scale[k] /= largest;
        corner[k] = normal || (fitted && extent[k] == 0) ? -g->scale[k] * low[k] : 0;
    }
    import_apply(g->rotate, corner, corner);
    for (int k = 0; k < 3; k++) g->translate[k] += corner[k];
    return BRIO_OK;
}

/* ---- entries ---------------------------------------------------------------------------- */

static Geometry *add_geometry(Poly *p, BrioNode *node)
{
    if (p->geometries == p->geometry_room) {
        int room = BRIO_MAX(8, 2 * p->geometry_room);
        Geometry *grown =
            brio__realloc(p->geometry, (size_t)p->geometries, (size_t)room, sizeof *grown);
        if (!grown) return NULL;
        p->geometry = grown;
        p->geometry_room = room;
    }
    Geometry *g = &p->geometry[p->geometries++];
    *g = (Geometry){.node = node,
                    .scale = {1, 1, 1},
                    .rotate = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                    .surface_id = -1};
    return g;
}

static BrioStatus take_mesh(Poly *p, Geometry *g)
{
    BrioNode *node = brio__node_get(g->node, "mesh");
    if (!node || node->kind != BRIO_NODE_SCALAR)
        return brio__node_error(g->node, p->error, "expected \"mesh\", the name of a file");
    int length =
        snprintf(g->path, sizeof g->path, "%s%s", node->text[0] == '/' ? "" : p->base, node->text);
    if (length >= (int)sizeof g->path || access(g->path, R_OK))
        return brio__node_error(node, p->error, "there is no file \"%.200s\"", g->path);
    BRIO_CHECK(brio_mesh_read(g->path, &g->mesh, p->error));
    if (g->obstacle) return BRIO_OK;
    if (brio__mesh_is_flat(g->mesh))
        return brio__node_error(node, p->error,
                                "the mesh is two-dimensional (flat triangles, no tets); brio "
                                "imports scenes in three dimensions");
    if (!g->mesh->tet_count)
        return brio__node_error(node, p->error,
                                "a body needs tets, and this mesh has none; "
                                "\"is_obstacle\": true makes it an obstacle");
    return brio__mesh_surface(g->mesh, p->error);
}

/* Whether an edge has a vertex that no face and no tet has. */
static bool has_loose_edges(const BrioMesh *mesh)
{
    uint8_t *used = brio__calloc((size_t)mesh->vertex_count + 1, 1);
    bool loose = false;
    if (!used) return false;
    for (int64_t i = 0; i < 3 * mesh->triangle_count; i++) used[mesh->triangle[i]] = 1;
    for (int64_t i = 0; i < 4 * mesh->tet_count; i++) used[mesh->tet[i]] = 1;
    for (int64_t i = 0; i < 2 * mesh->edge_count; i++) loose |= !used[mesh->edge[i]];
    brio__free(used);
    return loose;
}

/* What an obstacle keeps of its mesh. */
static BrioStatus take_extract(Poly *p, Geometry *g)
{
    Value entry = {.node = {g->node}, .count = 1}, value = poly_get(entry, "extract");
    const char *text = poly_text(value, "volume");
    if (!g->obstacle && strcmp(text, "volume"))
        return brio__node_error(poly_first(value), p->error,
                                "a body is a volume; \"is_obstacle\": true makes it an obstacle");
    g->extract = !strcmp(text, "points") ? 1 : !strcmp(text, "edges") ? 2 : 0;
    bool surface = g->mesh->tet_count || g->mesh->triangle_count;
    if (g->obstacle && !surface) g->extract = g->mesh->edge_count ? 2 : 1;
    if (g->obstacle && surface && !g->extract && has_loose_edges(g->mesh))
        poly_loss(p, g->node, "edges of an obstacle that also has faces are left out");
    if (!g->extract) return BRIO_OK;
    if (g->mesh->tet_count && !g->mesh->triangle_count)
        BRIO_CHECK(brio__mesh_surface(g->mesh, p->error));
    if (g->extract == 2 && !g->mesh->edge_count)
        BRIO_CHECK(brio__mesh_edges_from_triangles(g->mesh));
    g->mesh->tet_count = g->mesh->triangle_count = 0;
    if (g->extract == 1) g->mesh->edge_count = 0;
    g->lost = !import_reads(g->extract == 1 ? ".pt" : ".seg");
    if (g->lost)
        poly_loss(p, value.count ? poly_first(value) : g->node,
                  "extract: brio has no obstacles of %s; left out",
                  g->extract == 1 ? "points" : "edges");
    return BRIO_OK;
}

/* Copies of the last geometry, side by side along the axes. */
static BrioStatus take_array(Poly *p, Value map)
{
    static const char *const keys[] = {"offset", "size", "relative"};
    Geometry first = p->geometry[p->geometries - 1];
    double offset[3], size[3], low[3], high[3];
    BrioNode *by = poly_first(poly_get(map, "offset")), *of = poly_first(poly_get(map, "size"));
    poly_unknown(p, map, "array", keys, (int)BRIO_COUNT(keys));
    if (!by || !of) return brio__node_error(poly_first(map), p->error, "expected offset and size");
    BRIO_CHECK(poly_vector(p, of, size));
    if (by->kind == BRIO_NODE_LIST) {
        BRIO_CHECK(poly_vector(p, by, offset));
    } else {
        BRIO_CHECK(brio__node_real(by, &offset[0], p->error));
        offset[1] = offset[2] = offset[0];
    }
    if (!(size[0] >= 1 && size[1] >= 1 && size[2] >= 1 &&
          size[0] * size[1] * size[2] <= MAX_GEOMETRIES))
        return brio__node_error(of, p->error, "expected three numbers of copies, %d in all at most",
                                MAX_GEOMETRIES);
    placed_box(&first, low, high);
    bool relative = poly_is_true(poly_get(map, "relative"), false);
    for (int k = 0; k < 3; k++) offset[k] *= relative ? high[k] - low[k] : p->length;
    for (int64_t i = 1; i < (int64_t)(size[0] * size[1] * size[2]); i++) {
        const int64_t at[3] = {i % (int64_t)size[0], i / (int64_t)size[0] % (int64_t)size[1],
                               i / (int64_t)size[0] / (int64_t)size[1]};
        Geometry *g = add_geometry(p, first.node);
        if (!g) return poly_no_memory(p);
        *g = first;
        g->borrowed = true;
        for (int k = 0; k < 3; k++) g->translate[k] += (double)at[k] * offset[k];
    }
    return BRIO_OK;
}

static BrioStatus take_plane_entry(Poly *p, Geometry *g, bool ground)
{
    double height = 0;
    if (ground) {
        Value entry = {.node = {g->node}, .count = 1};
        BRIO_CHECK(poly_real(p, poly_get(entry, "height"), 0, &height));
        g->point[1] = height * p->length;
        g->normal[1] = 1;
        return BRIO_OK;
    }
    BrioNode *point = brio__node_get(g->node, "point"), *normal = brio__node_get(g->node, "normal");
    if (!point || !normal)
        return brio__node_error(g->node, p->error, "expected point and normal of the plane");
    BRIO_CHECK(poly_vector(p, point, g->point));
    for (int k = 0; k < 3; k++) g->point[k] *= p->length;
    return poly_vector(p, normal, g->normal);
}

static BrioStatus take_entry(Poly *p, BrioNode *node)
{
    static const char *const keys[] = {"mesh",
                                       "type",
                                       "extract",
                                       "unit",
                                       "transformation",
                                       "n_refs",
                                       "array",
                                       "volume_selection",
                                       "surface_selection",
                                       "curve_selection",
                                       "point",
                                       "normal",
                                       "point_selection",
                                       "advanced",
                                       "enabled",
                                       "height",
                                       "fps",
                                       "is_obstacle",
                                       "mesh_sequence"};
    Value entry = {.node = {node}, .count = 1}, value;
    if (node->kind != BRIO_NODE_MAP) return brio__node_error(node, p->error, "expected a map");
    poly_unknown(p, entry, "a geometry", keys, (int)BRIO_COUNT(keys));
    if (!poly_is_true(poly_get(entry, "enabled"), true)) return BRIO_OK;
    value = poly_get(entry, "type");
    const char *type = poly_text(value, "mesh");
    if (!strcmp(type, "mesh_sequence")) {
        poly_loss(p, node,
                  "mesh_sequence: brio does not move obstacles by a sequence of meshes; "
                  "left out");
        return BRIO_OK;
    }
    Geometry *g = add_geometry(p, node);
    if (!g) return poly_no_memory(p);
    if (!strcmp(type, "plane") || !strcmp(type, "ground")) {
        g->obstacle = true;
        return take_plane_entry(p, g, type[0] == 'g');
    }
    if (strcmp(type, "mesh") && strcmp(type, "mesh_array"))
        return brio__node_error(poly_first(value), p->error,
                                "geometry of type \"%.40s\" is not "
                                "known",
                                type);
    g->obstacle = poly_is_true(poly_get(entry, "is_obstacle"), false);
    BRIO_CHECK(take_mesh(p, g));
    BRIO_CHECK(take_extract(p, g));
    BRIO_CHECK(take_transformation(p, g));
    value = poly_get(entry, "n_refs");
    if (strcmp(poly_text(value, "0"), "0"))
        poly_note(p, poly_first(value), "n_refs: brio takes the mesh as it is, not refined");
    value = poly_get(entry, "surface_selection");
    if (g->obstacle && value.count && poly_first(value)->kind == BRIO_NODE_SCALAR)
        BRIO_CHECK(brio__node_integer(poly_first(value), &g->surface_id, p->error));
    if (!g->obstacle) BRIO_CHECK(find_volume_id(p, g));
    value = poly_get(entry, "array");
    return value.count ? take_array(p, value) : BRIO_OK;
}

BrioStatus poly_read_geometry(Poly *p)
{
    BrioNode *list = poly_first(poly_get(p->root, "geometry"));
    int bodies = 0;
    for (int i = 0; i < (list->kind == BRIO_NODE_LIST ? list->count : 1); i++)
        BRIO_CHECK(take_entry(p, list->kind == BRIO_NODE_LIST ? list->child[i] : list));
    for (int i = 0; i < p->geometries; i++) {
        char base[48];
        import_short_name(p->geometry[i].path, base, sizeof base);
        snprintf(p->geometry[i].name, sizeof p->geometry[i].name, "%s%s%d", base,
                 base[0] ? "-" : "plane", i);
        bodies += !p->geometry[i].obstacle;
    }
    if (bodies) return BRIO_OK;
    return brio__node_error(list, p->error,
                            "the scene has no body: all geometry is an obstacle, or "
                            "not enabled");
}
