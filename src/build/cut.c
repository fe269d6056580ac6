/* Cuts: elements come apart, none is divided.
 *
 * Two tets that share a face, or two triangles that share an edge, are parted if the segment
 * between their centres meets the knife. A corner is an element at one of its vertices. Corners of
 * a vertex stay together if a chain of elements that are not parted joins them around it. Each
 * further group of corners gets a copy of the vertex: the same place at rest, the same velocity.
 * Masses follow the elements, so mass, momentum and elastic energy stay (but that of hinges across
 * the cut, which are gone).
 *
 * Barriers need room: copies start at one place. Each goes back from the cut by some d with
 *
 *     d.n <= -dhat/2     for the outward normals n of all parted faces around it,
 *
 * which is found by projecting d on one of these half-spaces after the other [Agmon 1954]. So both
 * sides of a parted face are dhat apart. Vertices at the end of the cut stay. */
#include "build.h"

#include "../handle.h"

#include <stdlib.h>

enum { SWEEPS = 50 }; /* of projections */

/* The knife: what the segment between two centres is tested against. */
typedef struct Knife {
    const double *x; /* of triangles; NULL: a plane */
    const int32_t *triangle;
    int64_t count;
    double point[3], normal[3];
} Knife;

static bool crosses_triangle(const double *a, const double *b, const double *p, const double *q,
                             const double *r)
{
    double side_a = brio__tet_volume6(p, q, r, a), side_b = brio__tet_volume6(p, q, r, b);
    if ((side_a >= 0) == (side_b >= 0)) return false;
    double u = brio__tet_volume6(a, b, p, q), v = brio__tet_volume6(a, b, q, r);
    double w = brio__tet_volume6(a, b, r, p);
    return (u >= 0 && v >= 0 && w >= 0) || (u <= 0 && v <= 0 && w <= 0);
}

static bool crosses(const Knife *knife, const double *a, const double *b)
{
    double d[2] = {0, 0};
    for (int r = 0; !knife->x && r < 3; r++) {
        d[0] += knife->normal[r] * (a[r] - knife->point[r]);
        d[1] += knife->normal[r] * (b[r] - knife->point[r]);
    }
    if (!knife->x) return (d[0] >= 0) != (d[1] >= 0);
    for (int64_t t = 0; t < knife->count; t++) {
        const int32_t *n = knife->triangle + 3 * t;
        if (crosses_triangle(a, b, knife->x + 3 * (int64_t)n[0], knife->x + 3 * (int64_t)n[1],
                             knife->x + 3 * (int64_t)n[2]))
            return true;
    }
    return false;
}

/* ---- elements that share a face --------------------------------------------------------- */

/* A face of a tet or a side of a triangle: what lies across its node `place`. */
typedef struct Face {
    int32_t node[3]; /* ascending; of a side -1 first */
    int32_t element, place;
} Face;

static int by_nodes(const void *a, const void *b)
{
    const Face *p = a, *q = b;
    for (int k = 0; k < 3; k++)
        if (p->node[k] != q->node[k]) return p->node[k] < q->node[k] ? -1 : 1;
    return p->element < q->element ? -1 : p->element > q->element;
}

typedef struct Cut {
    const BrioBodyPlan *plan;
    int nodes; /* of an element: 4 or 3 */
    int64_t elements;
    const int32_t *element;
    Face *face; /* sorted: those that are shared come in pairs */
    int64_t face_count, parted_count;
    uint8_t *parted; /* face i from face i + 1 */
    /* of corners: groups before and after, by their first corner; vertices after */
    int32_t *before, *after, *vertex;
    int64_t vertex_count; /* after */
    int32_t *origin;      /* of new vertices */
} Cut;

static void free_cut(Cut *c)
{
    brio__free(c->face);
    brio__free(c->parted);
    brio__free(c->before);
    brio__free(c->after);
    brio__free(c->vertex);
    brio__free(c->origin);
}

static bool make_room(Cut *c)
{
    size_t corners = (size_t)(c->nodes * c->elements);
    c->face = brio__alloc(corners, sizeof *c->face);
    c->parted = brio__calloc(corners, 1);
    c->before = brio__alloc(corners, sizeof *c->before);
    c->after = brio__alloc(corners, sizeof *c->after);
    c->vertex = brio__alloc(corners, sizeof *c->vertex);
    c->origin = brio__alloc(corners, sizeof *c->origin);
    return c->face && c->parted && c->before && c->after && c->vertex && c->origin;
}

static void list_faces(Cut *c)
{
    c->face_count = c->nodes * c->elements;
    for (int64_t i = 0; i < c->face_count; i++) {
        const int32_t *n = c->element + i / c->nodes * c->nodes;
        Face *f = &c->face[i];
        *f = (Face){.element = (int32_t)(i / c->nodes), .place = (int32_t)(i % c->nodes)};
        int count = 0;
        if (c->nodes == 3) f->node[count++] = -1;
        for (int k = 0; k < c->nodes; k++)
            if (k != f->place) f->node[count++] = n[k];
        for (int a = 0; a < 2; a++)
            for (int k = 0; k < 2 - a; k++)
                if (f->node[k] > f->node[k + 1]) {
                    int32_t other = f->node[k];
                    f->node[k] = f->node[k + 1];
                    f->node[k + 1] = other;
                }
    }
    qsort(c->face, (size_t)c->face_count, sizeof *c->face, by_nodes);
}

static bool same_face(const Cut *c, int64_t i)
{
    return i + 1 < c->face_count &&
           !memcmp(c->face[i].node, c->face[i + 1].node, sizeof c->face[i].node);
}

static void centre(const Cut *c, int32_t element, double x[3])
{
    for (int r = 0; r < 3; r++) {
        x[r] = 0;
        for (int k = 0; k < c->nodes; k++)
            x[r] +=
                c->plan->x[3 * (int64_t)c->element[c->nodes * (int64_t)element + k] + r] / c->nodes;
    }
}

static void part(Cut *c, const Knife *knife)
{
    for (int64_t i = 0; i < c->face_count; i++) {
        double a[3], b[3];
        if (!same_face(c, i)) continue;
        centre(c, c->face[i].element, a);
        centre(c, c->face[i + 1].element, b);
        c->parted[i] = crosses(knife, a, b);
        c->parted_count += c->parted[i];
    }
}

/* ---- groups of corners ------------------------------------------------------------------ */

static int32_t first_of(int32_t *group, int32_t corner)
{
    while (group[corner] != corner) corner = group[corner] = group[group[corner]];
    return corner;
}

static void join(int32_t *group, int32_t a, int32_t b)
{
    a = first_of(group, a);
    b = first_of(group, b);
    if (a < b)
        group[b] = a;
    else
        group[a] = b;
}

static int32_t corner_at(const Cut *c, int32_t element, int32_t vertex)
{
    int64_t first = c->nodes * (int64_t)element;
    for (int k = 0; k < c->nodes; k++)
        if (c->element[first + k] == vertex) return (int32_t)(first + k);
    return (int32_t)first;
}

/* Which vertex each corner has after the cut. */
static void divide(Cut *c)
{
    int64_t corners = c->nodes * c->elements;
    for (int64_t i = 0; i < corners; i++) c->before[i] = c->after[i] = (int32_t)i;
    for (int64_t i = 0; i < c->face_count; i++) {
        if (!same_face(c, i)) continue;
        for (int k = c->nodes == 3; k < 3; k++) {
            int32_t a = corner_at(c, c->face[i].element, c->face[i].node[k]);
            int32_t b = corner_at(c, c->face[i + 1].element, c->face[i].node[k]);
            join(c->before, a, b);
            if (!c->parted[i]) join(c->after, a, b);
        }
    }
    int64_t old = c->vertex_count = c->plan->mesh->vertex_count;
    for (int64_t i = 0; i < corners; i++) { /* the first of a group comes first */
        int32_t first = first_of(c->after, (int32_t)i);
        int32_t whole = first_of(c->after, first_of(c->before, (int32_t)i));
        if (first != i) {
            c->vertex[i] = c->vertex[first];
        } else if (first == whole) {
            c->vertex[i] = c->element[i];
        } else {
            c->origin[c->vertex_count - old] = c->element[i];
            c->vertex[i] = (int32_t)c->vertex_count++;
        }
    }
}

/* ---- room for barriers ------------------------------------------------------------------ */

/* The unit normal of a face that looks away from its element; false: it has none. */
static bool outward(const Cut *c, const Face *face, double n[3])
{
    const double *p[4];
    int count = 0;
    for (int k = 0; k < c->nodes; k++)
        if (k != face->place)
            p[count++] =
                c->plan->x + 3 * (int64_t)c->element[c->nodes * (int64_t)face->element + k];
    const double *across =
        c->plan->x + 3 * (int64_t)c->element[c->nodes * (int64_t)face->element + face->place];
    double d[3], e[3];
    brio__subtract3(across, p[0], d);
    if (c->nodes == 4) {
        brio__triangle_normal(p[0], p[1], p[2], n);
    } else { /* minus d without its part along the side */
        brio__subtract3(p[1], p[0], e);
        double square = brio__dot3(e, e), along = square > 0 ? brio__dot3(d, e) / square : 0;
        for (int r = 0; r < 3; r++) n[r] = along * e[r] - d[r];
    }
    double size = brio__norm3(n), sign = brio__dot3(n, d) > 0 ? -1 : 1;
    for (int r = 0; r < 3; r++) n[r] *= sign / (size > 0 ? size : 1);
    return size > 0;
}

/* Calls of `visit` for each parted face at each of the vertices that it has after the cut. */
typedef void VisitFace(double *of_vertex, const double n[3]);

static void visit_parted(const Cut *c, double *of_vertices, VisitFace *visit)
{
    for (int64_t i = 0; i < c->face_count; i++)
        for (int side = 0; side < 2 && c->parted[i]; side++) {
            const Face *face = &c->face[i + side];
            double n[3];
            if (!outward(c, face, n)) continue;
            for (int k = 0; k < c->nodes; k++)
                if (k != face->place)
                    visit(of_vertices +
                              4 * (int64_t)c->vertex[c->nodes * (int64_t)face->element + k],
                          n);
        }
}

/* A vertex that is d away from its place, with the gap after d: behind one more face. */
static void go_behind(double *d, const double n[3])
{
    double lacks = d[3] + brio__dot3(d, n);
    for (int r = 0; r < 3 && lacks > 0; r++) d[r] -= lacks * n[r];
}

/* Moves vertices that were divided back from the cut by `gap`. */
static BrioStatus move_back(const Cut *c, double gap, double *x, BrioError *error)
{
    int64_t old = c->plan->mesh->vertex_count;
    double *d = brio__calloc(4 * (size_t)c->vertex_count, sizeof *d);
    if (!d) return brio__no_memory(error);
    for (int64_t v = old; v < c->vertex_count; v++)
        d[4 * v + 3] = d[4 * c->origin[v - old] + 3] = gap;
    for (int k = 0; k < SWEEPS; k++) visit_parted(c, d, go_behind);
    for (int64_t v = 0; v < c->vertex_count; v++)
        for (int r = 0; r < 3 && d[4 * v + 3] > 0; r++) x[3 * v + r] += d[4 * v + r];
    brio__free(d);
    return BRIO_OK;
}

/* ---- the body after the cut ------------------------------------------------------------- */

/* An array of `width` numbers per vertex, with those of new vertices. */
static void *extended(const Cut *c, const void *array, size_t width, bool *complete)
{
    size_t old = (size_t)c->plan->mesh->vertex_count, all = (size_t)c->vertex_count;
    char *grown = array ? brio__alloc(all, width) : NULL;
    if (!array) return NULL;
    if (!grown) {
        *complete = false;
        return NULL;
    }
    memcpy(grown, array, old * width);
    for (size_t v = old; v < all; v++)
        memcpy(grown + v * width, grown + (size_t)c->origin[v - old] * width, width);
    return grown;
}

static BrioStatus make_plan(const Cut *c, double gap, BrioBodyPlan *to, BrioError *error)
{
    const BrioBodyPlan *from = c->plan;
    const size_t point = 3 * sizeof(double);
    bool complete = true, tets = c->nodes == 4;
    *to = *from;
    to->weight = to->spring = NULL;
    to->hinge = NULL;
    to->hinge_count = 0;
    to->mesh = NULL;
    to->name = brio__strdup(from->name);
    to->mass = brio__calloc((size_t)c->vertex_count, sizeof(double));
    to->x = extended(c, from->x, point, &complete);
    to->v = extended(c, from->v, point, &complete);
    to->start = extended(c, from->start, point, &complete);
    to->fix = extended(c, from->fix, sizeof *from->fix, &complete);
    to->row = extended(c, from->row, sizeof *from->row, &complete);
    to->axes = extended(c, from->axes, sizeof *from->axes, &complete);
    if (!complete || !to->name || !to->mass) return brio__no_memory(error);
    BRIO_CHECK(brio__mesh_create(c->vertex_count, tets ? c->elements : 0, tets ? 0 : c->elements, 0,
                                 &to->mesh, error));
    brio__free(to->mesh->x);
    to->mesh->x = extended(c, from->mesh->x, point, &complete);
    if (!complete) return brio__no_memory(error);
    memcpy(tets ? to->mesh->tet : to->mesh->triangle, c->vertex,
           (size_t)(c->nodes * c->elements) * sizeof *c->vertex);
    BRIO_CHECK(to->kind->shape(to, error));
    BRIO_CHECK(to->kind->masses(to, error));
    return gap > 0 ? move_back(c, gap, to->x, error) : BRIO_OK;
}

static BrioStatus cut_elements(BrioBodyPlan *plan, const Knife *knife, double gap, int64_t *cuts,
                               BrioError *error)
{
    bool tets = plan->energy->element == BRIO_ELEMENT_TET;
    Cut c = {.plan = plan,
             .nodes = tets ? 4 : 3,
             .elements = tets ? plan->mesh->tet_count : plan->mesh->triangle_count,
             .element = tets ? plan->mesh->tet : plan->mesh->triangle};
    BrioStatus status = make_room(&c) ? BRIO_OK : brio__no_memory(error);
    if (status == BRIO_OK) {
        list_faces(&c);
        part(&c, knife);
        divide(&c);
    }
    *cuts = c.parted_count;
    if (status == BRIO_OK && c.parted_count > 0) {
        BrioBodyPlan created;
        status = make_plan(&c, gap, &created, error);
        brio__free_body_plan(status == BRIO_OK ? plan : &created);
        if (status == BRIO_OK) *plan = created;
    }
    free_cut(&c);
    return status;
}

/* ---- nets of springs -------------------------------------------------------------------- */

static bool cut_between(const BrioBodyPlan *plan, const Knife *knife, int32_t a, int32_t b)
{
    return crosses(knife, plan->x + 3 * (int64_t)a, plan->x + 3 * (int64_t)b);
}

/* Masses stay what they are: what is cut has none of its own. */
static BrioStatus cut_springs(BrioBodyPlan *plan, const Knife *knife, int64_t *cuts,
                              BrioError *error)
{
    BrioMesh *mesh = plan->mesh;
    uint8_t *used = brio__calloc((size_t)mesh->vertex_count, 1);
    uint8_t *cut = brio__calloc((size_t)mesh->edge_count + 1, 1);
    BrioStatus status = used && cut ? BRIO_OK : brio__no_memory(error);
    *cuts = 0;
    for (int64_t e = 0; status == BRIO_OK && e < mesh->edge_count; e++) {
        const int32_t *n = mesh->edge + 2 * e;
        cut[e] = cut_between(plan, knife, n[0], n[1]);
        *cuts += cut[e];
        if (!cut[e]) used[n[0]] = used[n[1]] = 1;
    }
    for (int64_t v = 0; status == BRIO_OK && v < mesh->vertex_count; v++)
        if (!used[v])
            status = brio__error(error, BRIO_ERROR_INPUT,
                                 "the cut removes all springs of vertex %lld of body \"%s\": cut "
                                 "elsewhere",
                                 (long long)v, plan->name);
    int64_t left = 0;
    for (int64_t e = 0; status == BRIO_OK && e < mesh->edge_count; e++) {
        if (cut[e]) continue;
        memmove(mesh->edge + 2 * left, mesh->edge + 2 * e, 2 * sizeof *mesh->edge);
        if (mesh->edge_kind) mesh->edge_kind[left] = mesh->edge_kind[e];
        if (plan->spring)
            memmove(plan->spring + 2 * left, plan->spring + 2 * e, 2 * sizeof(double));
        left++;
    }
    if (status == BRIO_OK) mesh->edge_count = left;
    left = 0;
    for (int64_t t = 0; status == BRIO_OK && t < mesh->triangle_count; t++) {
        const int32_t *n = mesh->triangle + 3 * t;
        if (cut_between(plan, knife, n[0], n[1]) || cut_between(plan, knife, n[1], n[2]) ||
            cut_between(plan, knife, n[2], n[0]))
            continue;
        memmove(mesh->triangle + 3 * left++, n, 3 * sizeof *n);
    }
    if (status == BRIO_OK) mesh->triangle_count = left;
    brio__free(used);
    brio__free(cut);
    return status;
}

/* ---- public ----------------------------------------------------------------------------- */

/* Half of what barriers ask for; 0: nothing keeps the sides apart. */
static double gap_of(const BrioBuilder *b)
{
    const BrioLaw *law = brio__contact_law(b);
    const BrioContactDef *c = &b->contact;
    bool barrier = b->contact_asked && law && (law->traits & BRIO_LAW_FORBIDS);
    return barrier && isfinite(c->dhat) ? 0.505 * c->dhat + 0.5 * c->thickness : 0;
}

static BrioStatus cut(BrioBuilder *builder, int body, const Knife *knife, int64_t *cuts,
                      BrioError *error)
{
    int64_t count = 0;
    BRIO_CHECK(brio__builder_check_vertex(builder, body, 0, error));
    BrioBodyPlan *plan = &builder->body[body];
    BrioElement element = plan->energy->element;
    BrioStatus status = BRIO_OK;
    if (plan->cage)
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "body \"%s\" has a cage, which cannot be cut; use a mesh of tets",
                           plan->name);
    if (element == BRIO_ELEMENT_TET || element == BRIO_ELEMENT_TRIANGLE)
        status = cut_elements(plan, knife, gap_of(builder), &count, error);
    else if (element == BRIO_ELEMENT_SPRING)
        status = cut_springs(plan, knife, &count, error);
    else
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "body \"%s\" is of kind %s: solids, shells and springs can be cut",
                           plan->name, plan->kind->name);
    if (cuts) *cuts = status == BRIO_OK ? count : 0;
    return status;
}

BrioStatus brio_builder_cut(BrioBuilder *builder, int body, const double *x,
                            const int32_t *triangle, int64_t count, int64_t *cuts, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder), error);
    BRIO_CHECK(brio__builder_open(builder, error));
    bool valid = x && triangle && count > 0;
    for (int64_t i = 0; valid && i < 3 * count; i++) {
        valid = triangle[i] >= 0;
        for (int r = 0; valid && r < 3; r++) valid = isfinite(x[3 * (int64_t)triangle[i] + r]);
    }
    if (!valid)
        return brio__error(error, BRIO_ERROR_ARGUMENT,
                           "a knife needs triangles with corners that are finite");
    return cut(builder, body, &(Knife){.x = x, .triangle = triangle, .count = count}, cuts, error);
}

BrioStatus brio_builder_cut_plane(BrioBuilder *builder, int body, const double point[3],
                                  const double normal[3], int64_t *cuts, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder), error);
    BRIO_CHECK(brio__builder_open(builder, error));
    Knife knife = {0};
    bool valid = point && normal && brio__norm3(normal) > 0;
    for (int r = 0; valid && r < 3; r++) {
        valid = isfinite(point[r]) && isfinite(normal[r]);
        knife.point[r] = point[r];
        knife.normal[r] = normal[r];
    }
    if (!valid)
        return brio__error(error, BRIO_ERROR_ARGUMENT,
                           "a plane to cut along needs a finite point and a normal");
    return cut(builder, body, &knife, cuts, error);
}
