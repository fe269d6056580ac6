/* The lattice of a cage: where a point is in it, which tets the surface passes, its nodes and tets,
 * the weights of the surface's vertices, and the fit of nodes to vertices (cage.h). */
#include "cage.h"

#include "lattice.h"
#include "within.h"
#include "../sets.h"
#include "../vec.h"

#include <string.h>

#define CUBES_MAX 1e6    /* of a lattice */
#define HOLES_MAX 0.1    /* of the area: wider ones are no accident */
#define EDGE_MIN 1e-10   /* of the distance from the origin: below it places are round-off */
#define WEIGHT_MIN 1e-13 /* of a vertex: below it is round-off */

void brio__cage_free(BrioCage *c)
{
    if (!c) return;
    brio__free(c->x);
    brio__free(c->volume);
    brio__free(c->tet);
    brio__free(c->fill);
    brio__free(c->node);
    brio__free(c->weight);
    brio__free(c);
}

/* ---- the lattice ------------------------------------------------------------------------ */

static int64_t cube_count(const BrioLattice *l) { return l->cubes[0] * l->cubes[1] * l->cubes[2]; }

static int64_t corner_count(const BrioLattice *l)
{
    return (l->cubes[0] + 1) * (l->cubes[1] + 1) * (l->cubes[2] + 1);
}

static int64_t cube_at(const BrioLattice *l, const int64_t at[3])
{
    return at[0] + l->cubes[0] * (at[1] + l->cubes[1] * at[2]);
}

static int64_t corner_at(const BrioLattice *l, const int64_t at[3])
{
    return at[0] + (l->cubes[0] + 1) * (at[1] + (l->cubes[1] + 1) * at[2]);
}

static void place_of(const int64_t size[3], int64_t number, int64_t more, int64_t at[3])
{
    at[0] = number % (size[0] + more);
    at[1] = number / (size[0] + more) % (size[1] + more);
    at[2] = number / ((size[0] + more) * (size[1] + more));
}

/* Corners come first, then centres. */
void brio__lattice_position(const BrioLattice *l, int64_t point, double x[3])
{
    int64_t at[3], corners = corner_count(l);
    bool centre = point >= corners;
    place_of(l->cubes, centre ? point - corners : point, !centre, at);
    for (int r = 0; r < 3; r++)
        x[r] = l->origin[r] + l->edge * ((double)at[r] + (centre ? 0.5 : 0));
}

/* Edge e of the square between two cubes goes from its corner e to the next, against the clock as
 * seen from the second cube. */
void brio__lattice_corners(const BrioLattice *l, int64_t tet, int64_t point[4])
{
    static const int square[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    int64_t at[3], corners = corner_count(l);
    int axis = (int)(tet / 4 % 3), e = (int)(tet % 4);
    place_of(l->cubes, tet / BRIO_CAGE_TETS, 0, at);
    point[0] = corners + cube_at(l, at);
    at[axis]++;
    point[1] = corners + cube_at(l, at);
    for (int k = 0; k < 2; k++) {
        int64_t corner[3] = {at[0], at[1], at[2]};
        corner[(axis + 1) % 3] += square[(e + k) % 4][0];
        corner[(axis + 2) % 3] += square[(e + k) % 4][1];
        point[2 + k] = corner_at(l, corner);
    }
}

/* A cube and an axis have tets if there is a cube behind it. */
static bool has_tets(const BrioLattice *l, const int64_t cube[3], int axis)
{
    for (int r = 0; r < 3; r++)
        if (cube[r] < 0 || cube[r] >= l->cubes[r] - (r == axis)) return false;
    return true;
}

/* In a cube the tets are told by the two largest coordinates from its centre. */
int64_t brio__lattice_locate(const BrioLattice *l, const double p[3])
{
    int64_t at[3];
    double d[3];
    for (int r = 0; r < 3; r++) {
        double place = (p[r] - l->origin[r]) / l->edge;
        if (!(place >= 0) || !(place < (double)l->cubes[r])) return -1;
        at[r] = (int64_t)place;
        d[r] = place - (double)at[r] - 0.5;
    }
    int axis = fabs(d[0]) >= fabs(d[1]) ? 0 : 1;
    if (fabs(d[2]) > fabs(d[axis])) axis = 2;
    double u = d[(axis + 1) % 3], v = d[(axis + 2) % 3];
    int e = fabs(v) >= fabs(u) ? (v < 0 ? 0 : 2) : (u > 0 ? 1 : 3);
    if (d[axis] < 0) at[axis]--;
    if (!has_tets(l, at, axis)) return -1;
    return (cube_at(l, at) * 3 + axis) * 4 + e;
}

static void corner_positions(const BrioLattice *l, int64_t tet, double x[4][3])
{
    int64_t point[4];
    brio__lattice_corners(l, tet, point);
    for (int k = 0; k < 4; k++) brio__lattice_position(l, point[k], x[k]);
}

void brio__lattice_weights(const double x[4][3], const double p[3], double w[4])
{
    double all = brio__tet_volume6(x[0], x[1], x[2], x[3]);
    w[1] = brio__tet_volume6(x[0], p, x[2], x[3]) / all;
    w[2] = brio__tet_volume6(x[0], x[1], p, x[3]) / all;
    w[3] = brio__tet_volume6(x[0], x[1], x[2], p) / all;
    w[0] = 1 - w[1] - w[2] - w[3];
}

/* ---- what the surface passes ------------------------------------------------------------- */

/* Whether the plane across `axis` separates them by more than round-off. */
static bool separates(const double axis[3], const double tet[4][3], const double triangle[3][3],
                      double edge)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int k = 0; k < 7; k++) {
        double place = brio__dot3(axis, k < 4 ? tet[k] : triangle[k - 4]);
        low[k >= 4] = fmin(low[k >= 4], place);
        high[k >= 4] = fmax(high[k >= 4], place);
    }
    return fmax(low[1] - high[0], low[0] - high[1]) > 1e-9 * edge * brio__norm3(axis);
}

/* A tet and a triangle meet unless a face of one of them or two edges tell a plane between them. */
static bool tet_meets(const double tet[4][3], const double triangle[3][3], double edge)
{
    double side[6][3], rim[3][3], axis[3];
    for (int r = 0; r < 3; r++) { /* boxes first */
        for (int c = 0; c < 3; c++) axis[c] = c == r;
        if (separates(axis, tet, triangle, edge)) return false;
    }
    for (int k = 0, n = 0; k < 4; k++)
        for (int j = 0; j < k; j++, n++) brio__subtract3(tet[k], tet[j], side[n]);
    for (int k = 0; k < 3; k++) brio__subtract3(triangle[(k + 1) % 3], triangle[k], rim[k]);
    brio__cross3(rim[0], rim[1], axis);
    if (separates(axis, tet, triangle, edge)) return false;
    for (int f = 0; f < 4; f++) {
        brio__triangle_normal(tet[f == 0], tet[f <= 1 ? 2 : 1], tet[f <= 2 ? 3 : 2], axis);
        if (separates(axis, tet, triangle, edge)) return false;
    }
    for (int k = 0; k < 6; k++)
        for (int j = 0; j < 3; j++) {
            brio__cross3(side[k], rim[j], axis);
            if (separates(axis, tet, triangle, edge)) return false;
        }
    return true;
}

static void pass_cube(BrioLattice *l, const int64_t at[3], const double triangle[3][3])
{
    for (int axis = 0; axis < 3; axis++)
        for (int e = 0; e < 4 && has_tets(l, at, axis); e++) {
            int64_t tet = (cube_at(l, at) * 3 + axis) * 4 + e;
            double x[4][3];
            if (l->passed[tet]) continue;
            corner_positions(l, tet, x);
            l->passed[tet] = tet_meets(x, triangle, l->edge);
        }
}

/* Marks the tets that the triangles meet. A triangle whose corners are in one tet is in it. */
static void pass(BrioLattice *l)
{
    const BrioMesh *mesh = l->surface;
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        double x[3][3];
        int64_t in[3], low[3], high[3], at[3];
        for (int k = 0; k < 3; k++) {
            memcpy(x[k], mesh->x + 3 * (int64_t)mesh->triangle[3 * t + k], sizeof x[k]);
            in[k] = brio__lattice_locate(l, x[k]);
            l->passed[in[k]] = 1;
        }
        if (in[0] == in[1] && in[1] == in[2]) continue;
        for (int r = 0; r < 3; r++) {
            double a = fmin(x[0][r], fmin(x[1][r], x[2][r]));
            double b = fmax(x[0][r], fmax(x[1][r], x[2][r]));
            /* tets reach half a cube into the one behind theirs */
            low[r] = (int64_t)floor((a - l->origin[r]) / l->edge - 1e-6) - 1;
            high[r] = (int64_t)floor((b - l->origin[r]) / l->edge + 1e-6);
        }
        for (at[2] = low[2]; at[2] <= high[2]; at[2]++)
            for (at[1] = low[1]; at[1] <= high[1]; at[1]++)
                for (at[0] = low[0]; at[0] <= high[0]; at[0]++) pass_cube(l, at, x);
    }
}

/* ---- nodes and tets ---------------------------------------------------------------------- */

typedef struct Work {
    BrioLattice l;
    BrioCage *cage;
    int32_t *number; /* of the points of the lattice: nodes; -1: none */
    int32_t *place;  /* of the tets of the lattice: tets; -1: none */
    double *volume;  /* of the points, from samples */
} Work;

static void take_sample(void *context, int64_t tet, const double p[3], double volume)
{
    Work *w = context;
    int64_t point[4];
    double x[4][3], weight[4];
    brio__lattice_corners(&w->l, tet, point);
    for (int k = 0; k < 4; k++) brio__lattice_position(&w->l, point[k], x[k]);
    brio__lattice_weights(x, p, weight);
    for (int k = 0; k < 4; k++) w->volume[point[k]] += volume * weight[k];
}

/* Of tets that the surface does not pass all or nothing is inside. Where no sample fell into one, a
 * neighbour at one of its corners tells; -1 and 1 in `number` for now. */
static void decide(Work *w)
{
    BrioLattice *l = &w->l;
    int64_t tets = BRIO_CAGE_TETS * cube_count(l), point[4], at[3];
    for (int pass_number = 0; pass_number < 2; pass_number++)
        for (int64_t t = 0; t < tets; t++) {
            place_of(l->cubes, t / BRIO_CAGE_TETS, 0, at);
            w->place[t] = -1;
            if (!has_tets(l, at, (int)(t / 4 % 3))) continue;
            int32_t side = 0;
            brio__lattice_corners(l, t, point);
            if (!l->passed[t] && l->count[t]) side = 2 * l->in[t] > l->count[t] ? 1 : -1;
            for (int k = 0; k < 4 && pass_number && !l->passed[t] && !side; k++)
                side = w->number[point[k]];
            for (int k = 0; k < 4 && side; k++) w->number[point[k]] = side;
            if (l->passed[t] || side > 0) w->place[t] = 0;
        }
}

/* Numbers what stays, in the order of the lattice. */
static void number_all(Work *w)
{
    const BrioLattice *l = &w->l;
    BrioCage *c = w->cage;
    int64_t point[4], points = corner_count(l) + cube_count(l);
    for (int64_t p = 0; p < points; p++) w->number[p] = -1;
    for (int64_t t = 0; t < BRIO_CAGE_TETS * cube_count(l); t++) {
        if (w->place[t] < 0) continue;
        w->place[t] = (int32_t)c->tet_count++;
        brio__lattice_corners(l, t, point);
        for (int k = 0; k < 4; k++) w->number[point[k]] = 0;
    }
    for (int64_t p = 0; p < points; p++)
        if (w->number[p] >= 0) w->number[p] = (int32_t)c->node_count++;
}

/* How much of a tet is inside, and what of it the samples have not given to its corners. */
static void fill_tet(Work *w, int64_t tet, const int64_t point[4])
{
    BrioLattice *l = &w->l;
    double volume = l->edge * l->edge * l->edge / BRIO_CAGE_TETS, more = 0, *fill;
    fill = &w->cage->fill[w->place[tet]];
    if (!l->passed[tet]) {
        *fill = more = 1;
    } else {
        double part = l->count[tet] ? (double)l->in[tet] / l->count[tet] : 0;
        *fill = fmax(part, BRIO_CAGE_MIN_FILL);
        more = *fill - part;
    }
    for (int k = 0; k < 4; k++) w->volume[point[k]] += more * volume / 4;
}

static void fill_arrays(Work *w)
{
    const BrioLattice *l = &w->l;
    BrioCage *c = w->cage;
    int64_t point[4];
    for (int64_t cube = 0; cube < cube_count(l); cube++) {
        bool any = false;
        for (int64_t t = BRIO_CAGE_TETS * cube; t < BRIO_CAGE_TETS * (cube + 1); t++) {
            if (w->place[t] < 0) continue;
            any = true;
            brio__lattice_corners(l, t, point);
            fill_tet(w, t, point);
            for (int k = 0; k < 4; k++) c->tet[4 * (int64_t)w->place[t] + k] = w->number[point[k]];
        }
        c->cells += any;
    }
    for (int64_t p = 0; p < corner_count(l) + cube_count(l); p++) {
        if (w->number[p] < 0) continue;
        brio__lattice_position(l, p, c->x + 3 * (int64_t)w->number[p]);
        c->volume[w->number[p]] = w->volume[p];
    }
}

/* Weights of the vertices; weights that are round-off go to the largest one. */
static void weigh(Work *w)
{
    const BrioMesh *mesh = w->l.surface;
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        double x[4][3], *weight = w->cage->weight + 4 * v;
        int64_t tet = brio__lattice_locate(&w->l, mesh->x + 3 * v), point[4];
        int largest = 0;
        brio__lattice_corners(&w->l, tet, point);
        corner_positions(&w->l, tet, x);
        brio__lattice_weights(x, mesh->x + 3 * v, weight);
        for (int k = 0; k < 4; k++) {
            w->cage->node[4 * v + k] = w->number[point[k]];
            if (weight[k] > weight[largest]) largest = k;
        }
        for (int k = 0; k < 4; k++) {
            if (weight[k] >= WEIGHT_MIN) continue;
            weight[largest] += weight[k];
            weight[k] = 0;
        }
    }
}

/* ---- exact moments -------------------------------------------------------------------------- */

/* A closed surface that overlaps itself encloses what is in it twice only once. */
static void correct_volume(Work *w)
{
    BrioMoments moments;
    brio__lattice_enclosed(w->l.surface, &moments);
    if (!w->l.closed)
        brio__cage_correct(w->cage, w->l.inside, NULL);
    else if (w->l.twice > 1e-3 * fabs(moments.volume))
        brio__cage_correct(w->cage, fabs(moments.volume) - w->l.twice, NULL);
    else
        brio__cage_correct(w->cage, fabs(moments.volume), &moments);
}

/* ---- components -------------------------------------------------------------------------- */

/* Sets of vertices that elements join. */
static BrioStatus count_components(int64_t vertices, const int32_t *element, int64_t elements,
                                   int corners, int32_t *count)
{
    int32_t *parent = brio__alloc((size_t)vertices + 1, sizeof *parent);
    if (!parent) return BRIO_ERROR_MEMORY;
    for (int64_t v = 0; v < vertices; v++) parent[v] = -1; /* in no element */
    for (int64_t k = 0; k < corners * elements; k++) parent[element[k]] = element[k];
    for (int64_t k = 0; k < corners * elements; k++)
        parent[brio__set_root(parent, element[k])] =
            brio__set_root(parent, element[k / corners * corners]);
    *count = 0;
    for (int64_t v = 0; v < vertices; v++) *count += parent[v] == v;
    brio__free(parent);
    return BRIO_OK;
}

/* ---- all together ------------------------------------------------------------------------ */

/* A vertex of no triangle must lie in the cage all the same. */
static BrioStatus check_carried(const Work *w, BrioError *error)
{
    const BrioMesh *mesh = w->l.surface;
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        int64_t tet = brio__lattice_locate(&w->l, mesh->x + 3 * v);
        if (tet >= 0 && w->place[tet] >= 0) continue;
        return brio__error(error, BRIO_ERROR_INPUT,
                           "vertex %lld belongs to no triangle and lies outside, where no cage "
                           "carries it: remove such vertices with `brio mesh repair`",
                           (long long)v);
    }
    return BRIO_OK;
}

/* The surface with components that look outward. */
static BrioStatus turn_outward(BrioLattice *l, BrioError *error)
{
    size_t corners = 3 * (size_t)l->surface->triangle_count;
    l->outward = *l->surface;
    l->outward.triangle = brio__alloc(corners, sizeof *l->outward.triangle);
    if (l->outward.triangle) {
        memcpy(l->outward.triangle, l->surface->triangle, corners * sizeof *l->outward.triangle);
        l->surface = &l->outward;
        if (brio__shell_outward(l->outward.triangle, l->outward.triangle_count,
                                l->outward.vertex_count, l->outward.x) == BRIO_OK)
            return BRIO_OK;
    }
    return brio__error(error, BRIO_ERROR_MEMORY, "out of memory for a cage");
}

/* Whether it is closed, and its orientation. Rejects a surface that encloses nothing. */
static BrioStatus look(BrioLattice *l, BrioError *error)
{
    const BrioMesh *mesh = l->surface;
    BrioMoments moments;
    double holes = 0;
    int64_t edges = 0;
    if (mesh->triangle_count == 0)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "a cage needs a surface, and this mesh has no triangles");
    if (brio__shell_closed(&(BrioShell){mesh->triangle_count, mesh->triangle, 0}, &l->closed) !=
            BRIO_OK ||
        brio__lattice_holes(mesh, &holes, &edges) != BRIO_OK)
        return brio__error(error, BRIO_ERROR_MEMORY, "out of memory for a cage");
    if (edges && holes > HOLES_MAX)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "the surface is open: %lld edges of one triangle run around holes of "
                           "%.0f %% of its area, and a cage needs an inside; close it, or use "
                           "kind: shell",
                           (long long)edges, 100 * holes);
    if (l->closed) return turn_outward(l, error);
    brio__log(BRIO_LOG_WARNING,
              "the surface of a cage has %lld open edges, or triangles of inconsistent "
              "orientation: a vote of lines through it decides what is inside; `brio mesh "
              "repair` removes the usual causes",
              (long long)edges);
    brio__lattice_enclosed(mesh, &moments);
    l->inward = moments.volume < 0;
    return BRIO_OK;
}

/* Cubes around the box of the surface, one more on each side. */
static BrioStatus lay(BrioLattice *l, int cells, BrioError *error)
{
    const BrioMesh *mesh = l->surface;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double longest = 0, cubes = 1, far = 0;
    for (int64_t k = 0; k < 9 * mesh->triangle_count; k++) {
        double x = mesh->x[3 * (int64_t)mesh->triangle[k / 3] + k % 3];
        low[k % 3] = fmin(low[k % 3], x);
        high[k % 3] = fmax(high[k % 3], x);
        far = fmax(far, fabs(x));
    }
    for (int r = 0; r < 3; r++) longest = fmax(longest, high[r] - low[r]);
    l->edge = longest / cells;
    for (int r = 0; r < 3; r++) {
        l->cubes[r] = (int64_t)fmax(ceil((high[r] - low[r]) / l->edge - 1e-6), 1) + 2;
        l->origin[r] = (low[r] + high[r]) / 2 - l->edge * (double)l->cubes[r] / 2;
        cubes *= (double)l->cubes[r];
    }
    if (!(l->edge > 0) || !isfinite(l->edge))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "the surface has no size, so no cage can be made around it");
    if (l->edge < EDGE_MIN * far)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "the surface is %.3g m away from the origin, where coordinates are too "
                           "coarse for cells of %.3g m: move it nearer",
                           far, l->edge);
    if (cubes > CUBES_MAX)
        return brio__error(error, BRIO_ERROR_TOO_LARGE,
                           "a cage of %d cells along the longest side has a lattice of %.0f "
                           "cubes, and the maximum is %.0f; use fewer cells",
                           cells, cubes, CUBES_MAX);
    return BRIO_OK;
}

static BrioStatus make_lattice(Work *w)
{
    BrioLattice *l = &w->l;
    size_t tets = (size_t)(BRIO_CAGE_TETS * cube_count(l));
    size_t points = (size_t)(corner_count(l) + cube_count(l));
    l->passed = brio__calloc(tets, sizeof *l->passed);
    l->count = brio__calloc(tets, sizeof *l->count);
    l->in = brio__calloc(tets, sizeof *l->in);
    w->number = brio__calloc(points, sizeof *w->number);
    w->place = brio__alloc(tets, sizeof *w->place);
    w->volume = brio__calloc(points, sizeof *w->volume);
    if (!l->passed || !l->count || !l->in || !w->number || !w->place || !w->volume)
        return BRIO_ERROR_MEMORY;
    pass(l);
    BRIO_CHECK(brio__lattice_sample(l, take_sample, w));
    decide(w);
    number_all(w);
    return BRIO_OK;
}

static BrioStatus make_cage(Work *w)
{
    BrioCage *c = w->cage;
    const BrioMesh *mesh = w->l.surface;
    c->edge = w->l.edge;
    c->closed = w->l.closed;
    c->vertex_count = mesh->vertex_count;
    c->x = brio__alloc(3 * (size_t)c->node_count + 1, sizeof *c->x);
    c->volume = brio__alloc((size_t)c->node_count + 1, sizeof *c->volume);
    c->tet = brio__alloc(4 * (size_t)c->tet_count + 1, sizeof *c->tet);
    c->fill = brio__alloc((size_t)c->tet_count + 1, sizeof *c->fill);
    c->node = brio__alloc(4 * (size_t)c->vertex_count + 1, sizeof *c->node);
    c->weight = brio__alloc(4 * (size_t)c->vertex_count + 1, sizeof *c->weight);
    if (!c->x || !c->volume || !c->tet || !c->fill || !c->node || !c->weight)
        return BRIO_ERROR_MEMORY;
    fill_arrays(w);
    weigh(w);
    correct_volume(w);
    BRIO_CHECK(count_components(c->node_count, c->tet, c->tet_count, 4, &c->pieces));
    return count_components(mesh->vertex_count, mesh->triangle, mesh->triangle_count, 3,
                            &c->components);
}

/* Closed surfaces have an inside however thin it is; open ones, where samples found some. */
static bool is_empty(const Work *w)
{
    const BrioLattice *l = &w->l;
    BrioMoments moments;
    double cells = 0, cube = l->edge * l->edge * l->edge;
    brio__lattice_enclosed(l->surface, &moments);
    for (int64_t t = 0; t < BRIO_CAGE_TETS * cube_count(l); t++) cells += w->place[t] >= 0;
    return (l->closed ? fabs(moments.volume) : l->inside) < 1e-4 * cells * cube / BRIO_CAGE_TETS;
}

static void free_work(Work *w)
{
    brio__free(w->l.outward.triangle);
    brio__free(w->l.passed);
    brio__free(w->l.count);
    brio__free(w->l.in);
    brio__free(w->number);
    brio__free(w->place);
    brio__free(w->volume);
}

BrioStatus brio__cage_create(const BrioMesh *surface, int cells, BrioCage **cage, BrioError *error)
{
    Work w = {.l = {.surface = surface}};
    *cage = NULL;
    if (cells < 1 || cells > BRIO_CAGE_MAX)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "a cage of %d cells: give 1 to %d along the longest side", cells,
                           BRIO_CAGE_MAX);
    BrioStatus status = look(&w.l, error);
    if (status == BRIO_OK) status = lay(&w.l, cells, error);
    bool empty = false, said = status != BRIO_OK;
    if (status == BRIO_OK) {
        w.cage = brio__calloc(1, sizeof *w.cage);
        status = w.cage ? make_lattice(&w) : BRIO_ERROR_MEMORY;
    }
    if (status == BRIO_OK) empty = is_empty(&w);
    if (status == BRIO_OK && !empty) {
        status = check_carried(&w, error);
        said = status != BRIO_OK;
    }
    if (status == BRIO_OK && !empty) status = make_cage(&w);
    free_work(&w);
    if (status == BRIO_OK && !empty) {
        *cage = w.cage;
        return BRIO_OK;
    }
    brio__cage_free(w.cage);
    if (said) return status;
    if (!empty) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory for a cage");
    return brio__error(error, BRIO_ERROR_INPUT,
                       "the surface encloses nothing that a cage of %d cells could resolve: use "
                       "more cells, or kind: shell for a sheet",
                       cells);
}
