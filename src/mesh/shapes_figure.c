/* Figures: creatures and other round things, given by short tables of tapered limbs, filled with
 * well-shaped tets.
 *
 * A limb is the union of the balls whose centres go from a to b while their radii go from one to
 * the other. With u the place of a point along the axis, v its distance from it and
 * k = (r_b - r_a)/|b - a|, its distance is the smallest over 0 <= s <= |b - a| of
 *
 *     sqrt((u - s)^2 + v^2) - r_a - k s,    taken at s = u + k v/sqrt(1 - k^2).
 *
 * Limbs join what stands before them in the table smoothly: min(d, e) - m^2/(4 w),
 * m = max(w - |d - e|, 0), where w is how softly.
 *
 * The inside is filled by isosurface stuffing [Labelle2007] with a uniform lattice: a body-centred
 * cubic lattice, whose vertices are those of cubes and their centres. Lattice vertices that the
 * surface passes closely are moved onto it (by at most `closest` of an edge); tets that it still
 * cuts are replaced by the part inside, by stencils that depend on signs and on which edges are
 * long, so that neighbours agree. The paper's bounds of the dihedral angles are 10.7 and 164.8
 * degrees. */
#include "shapes.h"

#include <string.h>

/* ---- the figures ------------------------------------------------------------------------ */

typedef struct Limb {
    double a[3], radius_a, b[3], radius_b;
    double softness; /* w */
    bool twice;      /* and again on the other side of the plane z = 0 */
} Limb;

/* They stand on y = 0 about, look along x. Lengths are relative. */
static const Limb bunny[] = {
    {{-0.14, 0.29, 0}, 0.26, {0.04, 0.36, 0}, 0.23, 0.0, false},           /* body */
    {{0.06, 0.40, 0}, 0.17, {0.17, 0.56, 0}, 0.13, 0.10, false},           /* chest and neck */
    {{0.19, 0.64, 0}, 0.155, {0.31, 0.60, 0}, 0.095, 0.06, false},         /* head */
    {{0.12, 0.74, 0.06}, 0.042, {0.03, 0.93, 0.115}, 0.064, 0.04, true},   /* ears */
    {{0.03, 0.93, 0.115}, 0.064, {-0.03, 1.06, 0.135}, 0.036, 0.01, true}, /* their tips */
    {{-0.13, 0.22, 0.15}, 0.16, {-0.03, 0.16, 0.18}, 0.12, 0.06, true},    /* thighs */
    {{-0.08, 0.065, 0.19}, 0.065, {0.08, 0.055, 0.21}, 0.055, 0.04, true}, /* hind feet */
    {{0.17, 0.34, 0.08}, 0.075, {0.26, 0.055, 0.09}, 0.055, 0.04, true},   /* front legs */
    {{-0.42, 0.24, 0}, 0.085, {-0.44, 0.26, 0}, 0.085, 0.03, false},       /* tail */
};
static const Limb hippo[] = {
    {{-0.42, 0.52, 0}, 0.34, {0.28, 0.52, 0}, 0.33, 0.0, false},        /* body */
    {{0.45, 0.62, 0}, 0.22, {0.66, 0.66, 0}, 0.19, 0.15, false},        /* neck and skull */
    {{0.80, 0.54, 0.06}, 0.17, {0.98, 0.47, 0.08}, 0.17, 0.12, true},   /* snout */
    {{0.72, 0.40, 0}, 0.12, {0.98, 0.33, 0}, 0.13, 0.06, false},        /* jaw */
    {{1.06, 0.65, 0.10}, 0.06, {1.08, 0.64, 0.10}, 0.055, 0.04, true},  /* nostrils */
    {{0.72, 0.83, 0.10}, 0.055, {0.74, 0.84, 0.10}, 0.05, 0.04, true},  /* eyes */
    {{0.56, 0.84, 0.15}, 0.05, {0.53, 0.90, 0.18}, 0.05, 0.03, true},   /* ears */
    {{-0.50, 0.36, 0.20}, 0.15, {-0.50, 0.11, 0.22}, 0.12, 0.06, true}, /* hind legs */
    {{0.30, 0.36, 0.20}, 0.14, {0.32, 0.11, 0.22}, 0.12, 0.06, true},   /* front legs */
    {{-0.74, 0.62, 0}, 0.05, {-0.84, 0.42, 0}, 0.045, 0.04, false},     /* tail */
};
static const Limb head[] = {
    {{-0.22, 0.22, 0}, 0.22, {-0.10, 0.40, 0}, 0.26, 0.0, false},        /* neck */
    {{-0.02, 0.62, 0}, 0.32, {0.10, 0.58, 0}, 0.28, 0.10, false},        /* skull */
    {{0.28, 0.50, 0}, 0.20, {0.62, 0.47, 0}, 0.14, 0.10, false},         /* snout */
    {{0.38, 0.40, 0.08}, 0.13, {0.58, 0.38, 0.08}, 0.11, 0.05, true},    /* lips */
    {{0.74, 0.57, 0}, 0.085, {0.78, 0.58, 0}, 0.08, 0.04, false},        /* nose */
    {{0.24, 0.78, 0.13}, 0.085, {0.28, 0.77, 0.13}, 0.08, 0.05, true},   /* brows */
    {{-0.06, 0.88, 0.22}, 0.08, {-0.12, 0.84, 0.44}, 0.085, 0.06, true}, /* ears */
    {{-0.12, 0.84, 0.44}, 0.085, {-0.12, 0.52, 0.56}, 0.10, 0.02, true}, /* that hang down */
};
static const Limb horn[] = {
    {{0, 0.10, 0}, 0.17, {0.02, 0.24, 0}, 0.145, 0.0, false},
    {{0.02, 0.24, 0}, 0.145, {0.10, 0.44, 0}, 0.118, 0.0, false},
    {{0.10, 0.44, 0}, 0.118, {0.24, 0.60, 0}, 0.094, 0.0, false},
    {{0.24, 0.60, 0}, 0.094, {0.42, 0.71, 0}, 0.074, 0.0, false},
    {{0.42, 0.71, 0}, 0.074, {0.63, 0.75, 0}, 0.056, 0.0, false},
    {{0.63, 0.75, 0}, 0.056, {0.83, 0.72, 0}, 0.038, 0.0, false},
};
static const Limb cactus[] = {
    {{0, 0.16, 0}, 0.13, {0, 0.86, 0}, 0.12, 0.0, false},         /* stem */
    {{0, 0.36, 0.05}, 0.07, {0, 0.40, 0.27}, 0.072, 0.04, false}, /* an arm */
    {{0, 0.40, 0.27}, 0.072, {0, 0.68, 0.30}, 0.068, 0.02, false},
    {{0, 0.50, -0.05}, 0.065, {0, 0.53, -0.24}, 0.066, 0.04, false}, /* another, higher */
    {{0, 0.53, -0.24}, 0.066, {0, 0.76, -0.27}, 0.062, 0.02, false},
    {{0, 0.09, 0}, 0.15, {0, 0.10, 0}, 0.15, 0.05, false}, /* foot */
};

static const struct {
    const char *name;
    const Limb *limb;
    int count;
} figures[] = {
    {"bunny", bunny, BRIO_COUNT(bunny)},    {"hippo", hippo, BRIO_COUNT(hippo)},
    {"head", head, BRIO_COUNT(head)},       {"horn", horn, BRIO_COUNT(horn)},
    {"cactus", cactus, BRIO_COUNT(cactus)},
};

static double limb_distance(const Limb *limb, const double p[3])
{
    double axis[3], d[3], length = 0, along = 0, square = 0;
    for (int k = 0; k < 3; k++) {
        axis[k] = limb->b[k] - limb->a[k];
        d[k] = p[k] - limb->a[k];
        length += axis[k] * axis[k];
        along += d[k] * axis[k];
        square += d[k] * d[k];
    }
    length = sqrt(length);
    double u = along / length;
    double v = sqrt(fmax(square - u * u, 0));
    double slope = (limb->radius_b - limb->radius_a) / length;
    double s = fmin(fmax(u + slope * v / sqrt(1 - slope * slope), 0), length);
    return sqrt((u - s) * (u - s) + v * v) - limb->radius_a - slope * s;
}

/* Positive inside. */
static double inside(const Limb *limb, int count, const double p[3])
{
    double all = INFINITY;
    for (int i = 0; i < count; i++)
        for (int side = 0; side <= (int)limb[i].twice; side++) {
            double d = limb_distance(&limb[i], (const double[3]){p[0], p[1], side ? -p[2] : p[2]});
            double w = limb[i].softness;
            double m = w > 0 ? fmax(w - fabs(all - d), 0) : 0;
            all = fmin(all, d) - (m > 0 ? m * m / (4 * w) : 0);
        }
    return -all;
}

/* The box about all limbs. */
static void extent(const Limb *limb, int count, double low[3], double high[3])
{
    for (int k = 0; k < 3; k++) {
        low[k] = INFINITY;
        high[k] = -INFINITY;
    }
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k],
                          fmin(limb[i].a[k] - limb[i].radius_a, limb[i].b[k] - limb[i].radius_b));
            high[k] = fmax(high[k],
                           fmax(limb[i].a[k] + limb[i].radius_a, limb[i].b[k] + limb[i].radius_b));
            if (k == 2 && limb[i].twice) {
                low[k] = fmin(low[k], -high[k]);
                high[k] = -low[k];
            }
        }
}

/* ---- the lattice ------------------------------------------------------------------------ */

/* Point 2 c + kind is corner (kind 0) or centre (kind 1) of cube c; places count half cubes. Every
 * point has seven edges of its own, and is the other end of seven. The first three are long. */
enum { OWN = 7 };
static const int way[OWN][3] = {{2, 0, 0},  {0, 2, 0},  {0, 0, 2}, {1, -1, -1},
                                {1, -1, 1}, {1, 1, -1}, {1, 1, 1}};
/* fraction of a long, of a short edge [Labelle2007, table 2] */
static const double closest[2] = {0.24999, 0.41189};

/* A point with an edge that the surface cuts. */
typedef struct Near {
    double x[3]; /* where it is now */
    /* where the surface cuts its own edges, as a fraction of them; NAN: it does not */
    double cut[OWN];
    int32_t number[OWN]; /* of the vertices there */
} Near;

typedef struct Lattice {
    const Limb *limb;
    int limbs;
    double origin[3], half; /* of the first corner; half a cube's edge */
    int64_t cubes[3], points;
    int8_t *sign;
    int32_t *near;   /* -1: not near the surface */
    int32_t *number; /* of the vertex; -1: no tet has it */
    Near *list;
    int64_t near_count;
    int64_t vertices, tets;
    BrioMesh *mesh; /* NULL: counting */
} Lattice;

static void place_of(const Lattice *l, int64_t point, int64_t at[3])
{
    int64_t cube = point / 2;
    at[0] = 2 * (cube % l->cubes[0]) + point % 2;
    at[1] = 2 * (cube / l->cubes[0] % l->cubes[1]) + point % 2;
    at[2] = 2 * (cube / (l->cubes[0] * l->cubes[1])) + point % 2;
}

/* The point at a place; -1 beyond the lattice. */
static int64_t point_at(const Lattice *l, const int64_t at[3])
{
    int64_t cube = 0;
    for (int k = 2; k >= 0; k--) {
        if (at[k] < 0 || at[k] / 2 >= l->cubes[k]) return -1;
        cube = cube * l->cubes[k] + at[k] / 2;
    }
    return 2 * cube + at[0] % 2;
}

/* The other end of own edge e, or (forward = -1) the point whose own edge e ends here. */
static int64_t step_along(const Lattice *l, int64_t point, int e, int forward)
{
    int64_t at[3];
    place_of(l, point, at);
    for (int k = 0; k < 3; k++) at[k] += forward * way[e][k];
    return point_at(l, at);
}

static void position_of(const Lattice *l, int64_t point, double x[3])
{
    int64_t at[3];
    if (l->near && l->near[point] >= 0) {
        memcpy(x, l->list[l->near[point]].x, 3 * sizeof *x);
        return;
    }
    place_of(l, point, at);
    for (int k = 0; k < 3; k++) x[k] = l->origin[k] + l->half * (double)at[k];
}

static int8_t sign_of(double value) { return (int8_t)((value > 0) - (value < 0)); }

static void sample(Lattice *l)
{
    for (int64_t p = 0; p < l->points; p++) {
        double x[3];
        position_of(l, p, x);
        l->sign[p] = sign_of(inside(l->limb, l->limbs, x));
    }
}

/* Numbers the points with edges that change sign. */
static void find_near(Lattice *l)
{
    l->near_count = 0;
    for (int64_t p = 0; p < l->points; p++) l->near[p] = -1;
    for (int64_t p = 0; p < l->points; p++)
        for (int e = 0; e < OWN && l->sign[p]; e++) {
            int64_t other = step_along(l, p, e, 1);
            if (other < 0 || l->sign[p] * l->sign[other] >= 0) continue;
            if (l->near[p] < 0) l->near[p] = (int32_t)l->near_count++;
            if (l->near[other] < 0) l->near[other] = (int32_t)l->near_count++;
        }
}

/* Where the surface cuts the edges, by bisection. */
static void find_cuts(Lattice *l)
{
    for (int64_t p = 0; p < l->points; p++) {
        if (l->near[p] < 0) continue;
        Near *near = &l->list[l->near[p]];
        int64_t at[3];
        place_of(l, p, at);
        for (int k = 0; k < 3; k++) near->x[k] = l->origin[k] + l->half * (double)at[k];
        for (int e = 0; e < OWN; e++) {
            int64_t other = step_along(l, p, e, 1);
            near->cut[e] = NAN;
            near->number[e] = -1;
            if (other < 0 || l->sign[p] * l->sign[other] >= 0) continue;
            double from = 0, to = 1;
            for (int i = 0; i < 45; i++) {
                double middle = (from + to) / 2, x[3];
                for (int k = 0; k < 3; k++) x[k] = near->x[k] + middle * l->half * way[e][k];
                if (sign_of(inside(l->limb, l->limbs, x)) == l->sign[p])
                    from = middle;
                else
                    to = middle;
            }
            near->cut[e] = (from + to) / 2;
        }
    }
}

/* Moves points onto the nearest cut that is too close, which ends the cuts of all their edges. */
static void warp(Lattice *l)
{
    for (int64_t p = 0; p < l->points; p++) {
        if (l->near[p] < 0) continue;
        double min = INFINITY, to[3] = {0, 0, 0};
        for (int e = 0; e < OWN; e++)
            for (int forward = -1; forward <= 1; forward += 2) {
                int64_t owner = forward > 0 ? p : step_along(l, p, e, -1);
                if (owner < 0 || l->near[owner] < 0) continue;
                const Near *near = &l->list[l->near[owner]];
                double fraction = forward > 0 ? near->cut[e] : 1 - near->cut[e];
                double distance = fraction * (e < 3 ? 2 : sqrt(3));
                if (!(fraction < closest[e >= 3]) || !(distance < min)) continue;
                min = distance;
                for (int k = 0; k < 3; k++) to[k] = near->x[k] + near->cut[e] * l->half * way[e][k];
            }
        if (min == INFINITY) continue;
        memcpy(l->list[l->near[p]].x, to, sizeof to);
        l->sign[p] = 0;
        for (int e = 0; e < OWN; e++) {
            int64_t owner = step_along(l, p, e, -1);
            l->list[l->near[p]].cut[e] = NAN;
            if (owner >= 0 && l->near[owner] >= 0) l->list[l->near[owner]].cut[e] = NAN;
        }
    }
}

/* ---- stencils --------------------------------------------------------------------------- */

static int64_t point_vertex(Lattice *l, int64_t point)
{
    if (l->number[point] < 0) l->number[point] = (int32_t)l->vertices++;
    if (l->mesh) position_of(l, point, l->mesh->x + 3 * (int64_t)l->number[point]);
    return l->number[point];
}

/* The vertex where the surface cuts the edge between two points. */
static int64_t cut_vertex(Lattice *l, int64_t p, int64_t q)
{
    int64_t from[3], to[3];
    place_of(l, p, from);
    place_of(l, q, to);
    bool turned = to[0] < from[0] ||
                  (to[0] == from[0] && (to[1] < from[1] || (to[1] == from[1] && to[2] < from[2])));
    Near *near = &l->list[l->near[turned ? q : p]];
    int e = 0;
    while ((to[0] - from[0]) * (turned ? -1 : 1) != way[e][0] ||
           (to[1] - from[1]) * (turned ? -1 : 1) != way[e][1] ||
           (to[2] - from[2]) * (turned ? -1 : 1) != way[e][2])
        e++;
    if (near->number[e] < 0) near->number[e] = (int32_t)l->vertices++;
    if (l->mesh)
        for (int k = 0; k < 3; k++)
            l->mesh->x[3 * (int64_t)near->number[e] + k] =
                near->x[k] + near->cut[e] * l->half * way[e][k];
    return near->number[e];
}

static void put(Lattice *l, int64_t a, int64_t b, int64_t c, int64_t d)
{
    if (l->mesh)
        brio__shape_tet(l->mesh, &l->tets, a, b, c, d);
    else
        l->tets++;
}

/* Of a side whose long edge lies inside and whose third corner does not: the end that holds the
 * diagonal of what is left is the one with an even number of places beyond that corner's (the
 * paper's parity rule). Otherwise the diagonal ends where the long edge is cut. */
static bool holds(const Lattice *l, int64_t point, int64_t outside)
{
    int64_t at[3], out[3];
    place_of(l, point, at);
    place_of(l, outside, out);
    return ((at[0] > out[0]) + (at[1] > out[1]) + (at[2] > out[2])) % 2 == 0;
}

static bool is_long(int a, int b) { return a / 2 == b / 2; }

/* Three corners in and n out, a prism: L, whose edge out is long, and p, q, of which p holds the
 * diagonal of the side without L. */
static void stuff_prism(Lattice *l, const int64_t point[4], const int in[3], int n)
{
    int first = is_long(in[0], n) ? 0 : is_long(in[1], n) ? 1 : 2;
    int L = in[first];
    int p = in[(first + 1) % 3];
    int q = in[(first + 2) % 3];
    if (!holds(l, point[p], point[n])) {
        int swap = p;
        p = q;
        q = swap;
    }
    int64_t P = point_vertex(l, point[p]);
    int64_t Q = point_vertex(l, point[q]);
    int64_t cut = cut_vertex(l, point[L], point[n]);
    int64_t p_cut = cut_vertex(l, point[p], point[n]);
    int64_t q_cut = cut_vertex(l, point[q], point[n]);
    put(l, point_vertex(l, point[L]), P, Q, cut);
    put(l, cut, P, Q, q_cut);
    put(l, cut, P, q_cut, p_cut);
}

/* Two inside: a holds the diagonal of the side with b and out[0] and, if there is another outside
 * (no `on`), b that of the side with a and out[1]. */
static void stuff_wedge(Lattice *l, const int64_t point[4], const int in[2], const int *out,
                        const int *on)
{
    int a = in[0], b = in[1];
    if (is_long(a, out[0]) || (is_long(a, b) && !holds(l, point[a], point[out[0]]))) {
        a = in[1];
        b = in[0];
    }
    int64_t A = point_vertex(l, point[a]), B = point_vertex(l, point[b]);
    int64_t a0 = cut_vertex(l, point[a], point[out[0]]);
    int64_t b0 = cut_vertex(l, point[b], point[out[0]]);
    int64_t far = on ? point_vertex(l, point[on[0]]) : cut_vertex(l, point[a], point[out[1]]);
    put(l, A, B, b0, far);
    put(l, A, b0, a0, far);
    if (!on) put(l, B, b0, far, cut_vertex(l, point[b], point[out[1]]));
}

/* A tet of the lattice, its long edges 0-1 and 2-3. */
static void stuff(Lattice *l, const int64_t point[4])
{
    int in[4], on[4], out[4], ins = 0, ons = 0, outs = 0;
    for (int i = 0; i < 4; i++) {
        int8_t sign = l->sign[point[i]];
        if (sign > 0)
            in[ins++] = i;
        else if (sign == 0)
            on[ons++] = i;
        else
            out[outs++] = i;
    }
    if (!ins) return;
    if (!outs) {
        put(l, point_vertex(l, point[0]), point_vertex(l, point[1]), point_vertex(l, point[2]),
            point_vertex(l, point[3]));
        return;
    }
    if (ins == 1) {
        int64_t v[3];
        for (int i = 0; i < ons; i++) v[i] = point_vertex(l, point[on[i]]);
        for (int i = 0; i < outs; i++) v[ons + i] = cut_vertex(l, point[in[0]], point[out[i]]);
        put(l, point_vertex(l, point[in[0]]), v[0], v[1], v[2]);
        return;
    }
    if (ins == 3)
        stuff_prism(l, point, in, out[0]);
    else
        stuff_wedge(l, point, in, out, ons ? on : NULL);
}

/* Every long edge between corners is part of four tets, whose other long edges go round it. */
static void stuff_all(Lattice *l)
{
    static const int round[5][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}, {1, 1}};
    l->tets = 0;
    for (int64_t p = 0; p < l->points; p += 2)
        for (int e = 0; e < 3; e++) {
            int64_t at[3], point[4] = {p, step_along(l, p, e, 1), -1, -1};
            place_of(l, p, at);
            for (int turn = 0; turn < 4 && point[1] >= 0; turn++) {
                for (int k = 0; k < 2; k++) {
                    int64_t spot[3] = {at[0], at[1], at[2]};
                    spot[e]++;
                    spot[(e + 1) % 3] += round[turn + k][0];
                    spot[(e + 2) % 3] += round[turn + k][1];
                    point[2 + k] = point_at(l, spot);
                }
                if (point[2] >= 0 && point[3] >= 0) stuff(l, point);
            }
        }
}

/* ---- the shape -------------------------------------------------------------------------- */

static const BrioField figure_fields[] = {
    {"of", BRIO_CHOICE, "bunny|hippo|head|horn|cactus", 0, 0, 4, 0,
     "Which figure; the head is a dog's, with a nose to pull."},
    BRIO_LENGTH("size", 1, "Extent along y, from y = 0."),
    {"cells", BRIO_INTEGER, "", 16, 4, 200, 0,
     "Cubes of the lattice along its extent; each has twelve tets."},
    {0},
};

/* One body with the surface of a ball, as all figures are: where limbs are thinner than cubes, it
 * would fall apart or touch itself. */
static BrioStatus check_whole(BrioMesh *mesh, bool *whole, BrioError *error)
{
    int64_t *start = NULL, hinges = 0, reached = 0, surface = 0;
    int32_t *neighbour = NULL;
    int32_t *hinge = NULL;
    int32_t *queue = brio__alloc((size_t)mesh->vertex_count, sizeof *queue);
    bool *seen = brio__calloc((size_t)mesh->vertex_count, sizeof *seen);
    BrioError shared; /* an edge of more than two triangles is no failure here */
    BrioStatus status =
        queue && seen ? brio__mesh_adjacency(mesh, &start, &neighbour) : BRIO_ERROR_MEMORY;
    if (status != BRIO_OK) brio__error(error, status, "out of memory for a figure");
    if (status == BRIO_OK) status = brio__mesh_surface(mesh, error);
    if (status == BRIO_OK) {
        seen[queue[reached++] = 0] = true;
        for (int64_t i = 0; i < reached; i++)
            for (int64_t k = start[queue[i]]; k < start[queue[i] + 1]; k++)
                if (!seen[neighbour[k]]) seen[queue[reached++] = neighbour[k]] = true;
        memset(seen, 0, (size_t)mesh->vertex_count * sizeof *seen);
        for (int64_t i = 0; i < 3 * mesh->triangle_count; i++)
            surface += !seen[mesh->triangle[i]], seen[mesh->triangle[i]] = true;
        status = brio__mesh_hinges(mesh, &hinge, &hinges, &shared);
        *whole = status == BRIO_OK && reached == mesh->vertex_count &&
                 2 * hinges == 3 * mesh->triangle_count &&
                 surface - hinges + mesh->triangle_count == 2;
        if (status == BRIO_ERROR_MEMORY)
            *error = shared;
        else
            status = BRIO_OK;
    }
    brio__free(mesh->triangle);
    mesh->triangle = NULL;
    mesh->triangle_count = 0;
    brio__free(start);
    brio__free(neighbour);
    brio__free(hinge);
    brio__free(queue);
    brio__free(seen);
    return status;
}

/* The cubes of the lattice: its middle is a corner, with room for a cube and what softness adds. */
static void lay_lattice(Lattice *l, double cube, const double low[3], const double high[3])
{
    l->half = cube / 2;
    l->points = 2;
    for (int k = 0; k < 3; k++) {
        double middle = (low[k] + high[k]) / 2;
        int64_t each = (int64_t)ceil((high[k] - low[k]) / (2 * cube)) + 2;
        l->origin[k] = middle - cube * (double)each;
        l->cubes[k] = 2 * each + 1;
        l->points *= l->cubes[k];
    }
}

/* Which points are inside, and where edges are cut. */
static BrioStatus fill_lattice(Lattice *l)
{
    l->sign = brio__alloc((size_t)l->points, sizeof *l->sign);
    l->number = brio__alloc((size_t)l->points, sizeof *l->number);
    if (!l->sign || !l->number) return BRIO_ERROR_MEMORY;
    sample(l);
    l->near = brio__alloc((size_t)l->points, sizeof *l->near);
    if (!l->near) return BRIO_ERROR_MEMORY;
    find_near(l);
    l->list = brio__alloc((size_t)l->near_count, sizeof *l->list);
    if (!l->list) return BRIO_ERROR_MEMORY;
    find_cuts(l);
    warp(l);
    for (int64_t p = 0; p < l->points; p++) l->number[p] = -1;
    return BRIO_OK;
}

/* Counts the tets, then makes them. */
static BrioStatus mesh_lattice(Lattice *l, BrioMesh **mesh, BrioError *error)
{
    if (fill_lattice(l) != BRIO_OK)
        return brio__error(error, BRIO_ERROR_MEMORY, "out of memory for a figure");
    stuff_all(l);
    BRIO_CHECK(brio__mesh_create(l->vertices, l->tets, 0, 0, mesh, error));
    l->mesh = *mesh;
    stuff_all(l);
    return BRIO_OK;
}

static BrioStatus make_figure(const double *values, BrioMesh **mesh, BrioError *error)
{
    int which = (int)values[0];
    Lattice l = {.limb = figures[which].limb, .limbs = figures[which].count};
    double low[3], high[3];
    int64_t cells = (int64_t)values[2];
    *mesh = NULL;
    extent(l.limb, l.limbs, low, high);
    double cube = (high[1] - low[1]) / (double)cells, scale = values[1] / (high[1] - low[1]);
    lay_lattice(&l, cube, low, high);
    BrioStatus status = mesh_lattice(&l, mesh, error);
    for (int64_t v = 0; status == BRIO_OK && v < l.vertices; v++)
        for (int k = 0; k < 3; k++)
            l.mesh->x[3 * v + k] =
                scale * (l.mesh->x[3 * v + k] - (k == 1 ? low[1] : (low[k] + high[k]) / 2));
    brio__free(l.sign);
    brio__free(l.number);
    brio__free(l.near);
    brio__free(l.list);
    bool whole = false;
    if (status == BRIO_OK) status = check_whole(*mesh, &whole, error);
    if (status == BRIO_OK && !whole)
        status = brio__error(error, BRIO_ERROR_INPUT,
                             "cells = %lld is too coarse for the %s: limbs would fall off or grow "
                             "together; use more",
                             (long long)cells, figures[which].name);
    if (status != BRIO_OK) {
        brio_mesh_free(*mesh);
        *mesh = NULL;
    }
    return status;
}

const BrioShape brio__shape_figure = {
    .name = "figure",
    .summary =
        "a solid bunny, hippo, dog's head, horn or cactus, standing on y = 0, looking along x",
    .kind = "solid",
    .fields = figure_fields,
    .make = make_figure,
};
