/* Contact of bodies with each other, as a whole: derivatives, completeness of the pairs, safety of
 * the steps, determinism, memory, momentum, stacks, thickness, and what a stall says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "contact/exact.h"
#include "distance.h"
#include "memory.h"
#include "run/run.h"
#include "scene/scene.h"
#include "simulate.h"

/* Soft and affine bodies in a heap, and a chain and a cloth of springs: everything that can
 * touch. */
#define HEAP                                                                                       \
    "time: {h: 1/120, end: 1}\n"                                                                   \
    "contact: {type: ipc, dhat: 4e-3, kappa: 1e5, mu: 0.3, thickness: %g%s}\n"                     \
    "integrator: %s\nsolver: {tol: %g}\n"                                                          \
    "obstacles: [{type: box, name: floor, size: [2, 0.2, 2], cells: [1, 1, 1], transform: "        \
    "{translate: [0, -0.1, 0]}}]\n"                                                                \
    "bodies:\n"                                                                                    \
    "  - {name: soft, shape: {type: box, size: [0.2, 0.1, 0.2], cells: [2, 1, 2]}, material: "     \
    "{type: neo-hookean, E: 1e5, nu: 0.3, rho: 1000},"                                             \
    " transform: {translate: [0, 0.053, 0]}}\n"                                                    \
    "  - {name: hard, shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}, kind: affine, " \
    "material: {type: corotated, E: 1e7, rho: 800},"                                               \
    " transform: {rotate: [[0, 1, 0], 20], translate: [0.02, 0.157, 0.01]}, velocity: {linear: "   \
    "[0.2, -0.5, 0]}}\n"                                                                           \
    "  - {name: round, shape: {type: ball, radius: 0.06, cells: 2}, material: {type: "             \
    "stable-neo-hookean, E: 1e5, nu: 0.3, rho: 1000},"                                             \
    " transform: {translate: [0.01, 0.275, 0]}, velocity: {linear: [0, -1, 0]}}\n"                 \
    "  - {name: cloth, shape: {type: grid, width: 0.3, depth: 0.3, cells_x: 5, cells_z: 5}, "      \
    "kind: springs,"                                                                               \
    " material: {type: hooke, k: 200, vertex_mass: 1e-3}, transform: {rotate: [[0, 0, 1], 8], "    \
    "translate: [0, 0.375, 0]}, velocity: {linear: [0, -3, 0]}}\n"

static BrioSim *heap(const char *integrator, double thickness, const char *more, double tol)
{
    return parse(HEAP, thickness, more, integrator, tol);
}

static double *numbers(int64_t count)
{
    double *created = calloc((size_t)count, sizeof *created);
    assert_non_null(created);
    return created;
}

static uint64_t hash(const BrioState *state)
{
    uint64_t h = 14695981039346656037u;
    const double *arrays[] = {state->q, state->v};
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < state->coordinates; i++) {
            uint64_t bits;
            memcpy(&bits, &arrays[k][i], sizeof bits);
            h = (h ^ bits) * 1099511628211u;
        }
    return h;
}

static double *world_of(BrioSim *sim)
{
    double *x = numbers(3 * sim->system->vertex_count);
    brio__system_positions(sim->system, sim->state, sim->state->q, sim->state->time, x);
    return x;
}

/* ---- derivatives ------------------------------------------------------------------------ */

/* Along a random direction the remainder of the Taylor sum of first order falls as e^2, and that of
 * second order as e^3. TOLERANCE 0.3 of the exponent, over a factor of four in e; the rest of the
 * potential is left out. */
static void derivatives(void **unused)
{
    (void)unused;
    BrioSim *sim = heap("backward-euler", 1e-3, "", 1e-6);
    BrioRandom random = {7};
    int tried = 0;
    for (int n = 0; n < 12; n++) {
        step(sim, 2);
        BrioSolver *solver = sim->stepper->solver;
        const BrioSystem *s = sim->system;
        int64_t count = sim->state->coordinates;
        double *x = world_of(sim);
        double *g = numbers(count);
        double *d = numbers(count);
        double *Hd = numbers(count);
        double *dx = numbers(3 * s->vertex_count);
        double *y = numbers(3 * s->vertex_count);
        double min;
        int64_t contacts = brio__contact_count(brio__potential_contact(solver->potential),
                                               sim->state->param, x, &min, NULL);
        if (contacts > 4) {
            for (int64_t i = 0; i < count; i++) d[i] = brio__random_normal(&random);
            brio__system_directions(s, d, dx);
            double max = 0;
            double E = brio__contact_evaluate(brio__potential_contact(solver->potential),
                                              sim->state->param, x, g, NULL);
            double slope = brio__dot(s, g, d);
            double curvature;
            for (int64_t i = 0; i < 3 * s->vertex_count; i++) max = brio__larger(max, fabs(dx[i]));
            brio__assemble_masses(s, 0, solver->linear); /* nothing but contact in the matrix */
            assert_int_equal(brio__contact_assemble(brio__potential_contact(solver->potential),
                                                    sim->state->param, x, 1, false,
                                                    solver->linear->overlay),
                             BRIO_OK);
            BrioLinear *joined;
            assert_int_equal(brio__overlay_join(solver->linear->overlay, solver->linear, &joined),
                             BRIO_OK);
            brio__linear_multiply(joined, d, Hd);
            curvature = brio__dot(s, d, Hd);
            double order[2], rest[2][2];
            for (int k = 0; k < 2; k++) {
                double e = (k ? 0.25 : 1) * 2e-3 * (min - 1e-3) / max;
                for (int64_t i = 0; i < 3 * s->vertex_count; i++) y[i] = x[i] + e * dx[i];
                double change = brio__contact_evaluate(brio__potential_contact(solver->potential),
                                                       sim->state->param, y, NULL, NULL) -
                                E;
                rest[0][k] = fabs(change - e * slope);
                rest[1][k] = fabs(change - e * slope - e * e / 2 * curvature);
            }
            for (int k = 0; k < 2; k++) order[k] = log(rest[k][0] / rest[k][1]) / log(4);
            print_message("  %lld contacts from %.3g m: remainders of order %.3f and %.3f\n",
                          (long long)contacts, min, order[0], order[1]);
            assert_true(order[0] > 1.7);
            assert_true(order[1] > 2.7 || rest[1][1] < 1e-13 * E);
            brio__overlay_clear(solver->linear->overlay);
            tried++;
        }
        free(x), free(g), free(d), free(Hd), free(dx), free(y);
    }
    assert_true(tried >= 4);
    brio_sim_free(sim);
}

/* ---- completeness ----------------------------------------------------------------------- */

/* A loop over everything: the surfaces that the exact check uses, where their vertices are, and
 * whose they are. */
typedef struct Everything {
    const BrioSystem *s;
    const BrioExactSurface *t;
    const double *x, *param;
    int *owner; /* of each world vertex; -1: of none */
    int64_t near;
} Everything;

static bool moves(const BrioSystem *s, const int32_t v[4])
{
    for (int k = 0; k < 4; k++)
        if (s->map_start[v[k]] < s->map_start[v[k] + 1]) return true;
    return false;
}

static bool meet(const Everything *a, int one, int other)
{
    int owners = a->s->body_count + a->s->obstacle_count;
    return !a->s->excluded || !a->s->excluded[one * owners + other];
}

/* The barrier of [Li2020], and how many pairs it acts between. */
static double barrier(Everything *a, double d)
{
    double dhat = a->param[BRIO_CONTACT_DHAT];
    d -= a->param[BRIO_CONTACT_THICKNESS];
    if (d >= dhat) return 0;
    if (d <= 0) return INFINITY;
    a->near++;
    return -a->param[BRIO_CONTACT_KAPPA] * (d - dhat) * (d - dhat) * log(d / dhat);
}

static void positions(const Everything *a, const int32_t node[4], double p[12])
{
    for (int k = 0; k < 4; k++) memcpy(p + 3 * k, a->x + 3 * (int64_t)node[k], 3 * sizeof *p);
}

/* Of a vertex and a triangle, an edge (d = c) or a vertex. */
static double barrier_of(Everything *a, int32_t v, int32_t b, int32_t c, int32_t d)
{
    int32_t node[4] = {v, b, c, d};
    double p[12], w[4];
    if (!moves(a->s, node)) return 0;
    positions(a, node, p);
    return barrier(a, brio__closest_vertex_face(p, w));
}

static bool corner(const int32_t *triangle, int32_t v)
{
    return triangle[0] == v || triangle[1] == v || triangle[2] == v;
}

/* Triangles with the corners b and c and without v. */
static int triangles_of(const Everything *a, int32_t b, int32_t c, int32_t v)
{
    int count = 0;
    for (int64_t f = 0; f < a->t->triangle_count; f++) {
        const int32_t *t = a->t->triangle + 3 * f;
        count += corner(t, b) && corner(t, c) && !corner(t, v);
    }
    return count;
}

/* How often the vertex u counts on the surface without v: 1 - triangles - sum of (1 - triangles)
 * over its edges. */
static int count_of(const Everything *a, int32_t u, int32_t v)
{
    int triangles = triangles_of(a, u, u, v), count = 1 - triangles;
    for (int64_t e = 0; triangles && e < a->t->edge_count; e++) {
        int32_t b = a->t->edge[2 * e], c = a->t->edge[2 * e + 1];
        int of = b == u || c == u ? triangles_of(a, b, c, v) : 0;
        if (of) count -= 1 - of;
    }
    return triangles ? count : 0;
}

/* The sum over the triangles, edges and vertices before v, all but those of its own triangles. */
static double before_vertex(Everything *a, int32_t v)
{
    const BrioExactSurface *t = a->t;
    double sum = 0;
    for (int64_t f = 0; f < t->triangle_count; f++) {
        const int32_t *c = t->triangle + 3 * f;
        if (!corner(c, v) && meet(a, a->owner[v], t->triangle_owner[f]))
            sum += barrier_of(a, v, c[0], c[1], c[2]);
    }
    for (int64_t e = 0; e < t->edge_count; e++) {
        int32_t b = t->edge[2 * e], c = t->edge[2 * e + 1];
        if (b == v || c == v || !meet(a, a->owner[v], t->edge_owner[e])) continue;
        double E = barrier_of(a, v, b, c, c);
        int triangles = E != 0 ? triangles_of(a, b, c, v) : 0;
        if (triangles > 1) sum += (1 - triangles) * E;
    }
    for (int32_t u = 0; u < a->s->vertex_count; u++) {
        if (a->owner[u] < 0 || u == v || !meet(a, a->owner[v], a->owner[u])) continue;
        double E = barrier_of(a, v, u, u, u);
        int count = E != 0 ? count_of(a, u, v) : 0;
        if (count) sum += count * E;
    }
    return sum;
}

/* The edge of the surface between two world vertices. */
static int32_t surface_edge(const BrioSurface *s, int32_t a, int32_t b)
{
    for (int32_t e = 0; e < s->edge_count; e++) {
        int32_t c = s->vertex[s->edge[2 * e]], d = s->vertex[s->edge[2 * e + 1]];
        if ((a == c && b == d) || (a == d && b == c)) return e;
    }
    fail_msg("no edge between the vertices %d and %d", a, b);
    return -1;
}

/* The sum over all pairs of edges, with the factor of nearly parallel ones. */
static double between_edges(Everything *a)
{
    const BrioExactSurface *t = a->t;
    const BrioSurface *surface = a->s->surface;
    double sum = 0;
    for (int64_t i = 0; i < t->edge_count; i++)
        for (int64_t j = 0; j < i; j++) {
            int32_t v[4] = {t->edge[2 * i], t->edge[2 * i + 1], t->edge[2 * j], t->edge[2 * j + 1]};
            double p[12], w[4];
            if (v[0] == v[2] || v[0] == v[3] || v[1] == v[2] || v[1] == v[3] || !moves(a->s, v) ||
                !meet(a, t->edge_owner[i], t->edge_owner[j]))
                continue;
            positions(a, v, p);
            double E = barrier(a, brio__closest_edge_edge(p, w));
            if (E == 0) continue;
            int32_t e = surface_edge(surface, v[0], v[1]), f = surface_edge(surface, v[2], v[3]);
            double c =
                brio__cross_square(p) / (1e-3 * surface->edge_square[e] * surface->edge_square[f]);
            E *= surface->edge_crease[e] * surface->edge_crease[f];
            sum += c < 1 ? c * (2 - c) * E : E;
        }
    return sum;
}

/* The energy at random states (shaken by much more than dhat, so that surfaces are anywhere)
 * against a loop over everything. TOLERANCE 1e-11 of the sum of both kinds: terms of both signs. */
static void compare_pairs(BrioSim *sim, const char *what, int64_t *total)
{
    const BrioSystem *s = sim->system;
    BrioContact *contact = brio__potential_contact(sim->stepper->solver->potential);
    BrioExact *exact;
    assert_int_equal(brio__exact_create(s, &exact), BRIO_OK);
    const BrioExactSurface *t = brio__exact_surface(exact);
    BrioRandom random = {23};
    double *start = world_of(sim), *x = numbers(3 * s->vertex_count);
    int *owner = calloc((size_t)s->vertex_count, sizeof *owner);
    for (int64_t i = 0; i < s->vertex_count; i++) owner[i] = -1;
    for (int64_t e = 0; e < 2 * t->edge_count; e++) owner[t->edge[e]] = t->edge_owner[e / 2];
    for (int n = 0; n < 6; n++) {
        for (int64_t i = 0; i < 3 * s->vertex_count; i++) {
            int32_t v = (int32_t)(i / 3);
            bool free_vertex = s->map_start[v] < s->map_start[v + 1];
            x[i] = start[i] +
                   (n && free_vertex ? (n % 3 ? 2e-3 : 2e-2) * brio__random_normal(&random) : 0);
        }
        Everything all = {s, t, x, sim->state->param + s->contact_params, owner, 0};
        double expected = between_edges(&all);
        for (int32_t i = 0; i < s->surface->vertex_count; i++)
            if (s->surface->vertex_crease[i] > 0)
                expected +=
                    s->surface->vertex_crease[i] * before_vertex(&all, s->surface->vertex[i]);
        double got = brio__contact_evaluate(contact, sim->state->param, x, NULL, NULL);
        bool same = isfinite(expected) ? fabs(got - expected) <= 1e-11 * expected : isinf(got);
        if (!same)
            fail_msg("%s, state %d: %.17g J, a loop over all finds %.17g J", what, n, got,
                     expected);
        *total += all.near;
    }
    free(start), free(x), free(owner);
    brio__exact_free(exact);
}

/* A grid folded over onto itself. */
static BrioSim *folded_cloth(void)
{
    BrioSim *sim =
        parse("contact: {type: ipc, dhat: 5e-3, kappa: 1e3}\nintegrator: backward-euler\nbodies:\n"
              "  - {shape: {type: grid, width: 0.4, depth: 0.2, cells_x: 8, cells_z: 4}, kind: "
              "springs, material: {type: hooke, k: 50, vertex_mass: 1e-3}}\n");
    double *q = sim->state->q;
    for (int64_t i = 0; i < sim->state->coordinates; i += 3)
        if (q[i] > 0.01) {
            q[i + 1] += 6e-3 + 0.01 * q[i];
            q[i] = -q[i] + 0.013;
        }
    return sim;
}

/* Two boxes of ten metres, two metres apart and shifted, that repel each other from four metres
 * on. */
static BrioSim *large_boxes(void)
{
    return parse("contact: {type: ipc, dhat: 4, kappa: 1e5}\nintegrator: backward-euler\nbodies:\n"
                 "  - {shape: {type: box, size: [10, 10, 10], cells: [2, 2, 2]}, material: "
                 "{type: neo-hookean, E: 1e5, nu: 0.3, rho: 1000}}\n"
                 "  - {shape: {type: box, size: [10, 10, 10], cells: [2, 2, 2]}, material: "
                 "{type: neo-hookean, E: 1e5, nu: 0.3, rho: 1000}, transform: {translate: "
                 "[11.5, 11.4, 6.2]}}\n");
}

static void all_pairs(void **unused)
{
    (void)unused;
    int64_t pairs[5] = {0};
    BrioSim *sim = heap("backward-euler", 0, "", 1e-3);
    step(sim, 6);
    compare_pairs(sim, "heap", &pairs[0]);
    brio_sim_free(sim);
    sim = heap("backward-euler", 2e-3, "", 1e-3);
    compare_pairs(sim, "heap with thickness", &pairs[1]);
    brio_sim_free(sim);
    sim = heap("backward-euler", 0, ", exclude: [[hard, soft], [cloth, cloth], [floor, cloth]]",
               1e-3);
    step(sim, 4);
    compare_pairs(sim, "heap with exclusions", &pairs[2]);
    brio_sim_free(sim);
    sim = folded_cloth();
    compare_pairs(sim, "folded cloth", &pairs[3]);
    brio_sim_free(sim);
    sim = large_boxes();
    compare_pairs(sim, "large boxes", &pairs[4]);
    brio_sim_free(sim);
    print_message("  the energies of %lld pairs, with thickness %lld, with exclusions %lld, of a "
                  "folded cloth %lld, of large boxes %lld: as of a loop over everything\n",
                  (long long)pairs[0], (long long)pairs[1], (long long)pairs[2],
                  (long long)pairs[3], (long long)pairs[4]);
    for (int k = 0; k < 5; k++) assert_true(pairs[k] > 50);
}

/* What was looked for before a step holds all along it: no part of the step needs another search.
 * The time of a search belongs to the broad phase, and is not counted again as that of the sweep.
 * TOLERANCE 1e-9 s: round-off. */
static void one_search_for_a_step(void **unused)
{
    (void)unused;
    BrioSim *sim = heap("backward-euler", 0, "", 1e-3);
    const BrioSystem *s = sim->system;
    BrioContact *contact = brio__potential_contact(sim->stepper->solver->potential);
    const BrioContactTotals *totals = brio__contact_totals(contact);
    double *start = world_of(sim), *x = numbers(3 * s->vertex_count);
    double *dx = numbers(3 * s->vertex_count);
    BrioRandom random = {29};
    BrioLimit limit;
    for (int64_t i = 0; i < 3 * s->vertex_count; i++)
        if (s->map_start[i / 3] < s->map_start[i / 3 + 1])
            dx[i] = 0.3 * (i % 3 - 1) + 0.1 * brio__random_normal(&random);
    BrioContactTotals before = *totals;
    double begin = brio__seconds();
    brio__contact_max_step(contact, sim->state->param, start, dx, &limit);
    double took = brio__seconds() - begin;
    assert_int_equal(totals->searches, before.searches + 1);
    assert_true(totals->ccd - before.ccd + totals->broad_phase - before.broad_phase <= took + 1e-9);
    for (int k = 0; k <= 8; k++) {
        for (int64_t i = 0; i < 3 * s->vertex_count; i++) x[i] = start[i] + k / 8.0 * dx[i];
        brio__contact_evaluate(contact, sim->state->param, x, NULL, NULL);
    }
    assert_int_equal(totals->searches, before.searches + 1);
    free(start), free(x), free(dx);
    brio_sim_free(sim);
}

/* ---- safety of steps -------------------------------------------------------------------- */

static void safe_steps(void **unused)
{
    (void)unused;
    BrioSim *sim = heap("backward-euler", 0, "", 1e-3);
    const BrioSystem *s = sim->system;
    BrioSolver *solver = sim->stepper->solver;
    BrioExact *exact;
    assert_int_equal(brio__exact_create(s, &exact), BRIO_OK);
    BrioRandom random = {5};
    int64_t size = 3 * s->vertex_count, limited = 0, beyond = 0;
    double *dx = numbers(size), *y = numbers(size), *d = numbers(sim->state->coordinates);
    for (int n = 0; n < 60; n++) {
        if (n % 10 == 0) step(sim, 3);
        double *x = world_of(sim), length = pow(10, -3 + 4 * brio__random(&random));
        bool together = n % 2;
        for (int64_t i = 0; i < sim->state->coordinates; i++)
            d[i] = length * (together ? -sim->state->q[i] + 0.1 * brio__random_normal(&random)
                                      : brio__random_normal(&random));
        brio__system_directions(s, d, dx);
        BrioLimit limit;
        double t = brio__contact_max_step(brio__potential_contact(solver->potential),
                                          sim->state->param, x, dx, &limit);
        assert_true(t > 0 && t <= 1);
        assert_true((t < 1) == (limit.term != NULL));
        if (limit.term) assert_true(limit.distance > 0);
        limited += t < 1;
        for (int k = 1; k <= 8; k++) {
            for (int64_t i = 0; i < size; i++) y[i] = x[i] + t * k / 8 * dx[i];
            BrioExactReport report;
            brio__exact_check_positions(exact, y, &report);
            if (report.intersections || report.not_finite) {
                char text[320];
                brio__exact_text(s, &report, text, sizeof text);
                fail_msg("direction %d, %d/8 of a step of %g: %s", n, k, t, text);
            }
        }
        if (t < 1) { /* and it is not safe because it is short */
            double over = fmin(1, 1.3 * t + 1e-12);
            bool meets = false;
            for (int k = 0; k <= 20 && !meets; k++) {
                BrioExactReport report;
                for (int64_t i = 0; i < size; i++) y[i] = x[i] + (t + (over - t) * k / 20) * dx[i];
                brio__exact_check_positions(exact, y, &report);
                meets = report.intersections > 0;
            }
            beyond += meets;
        }
        free(x);
    }
    print_message("  60 directions, %lld limited, none of them meets anything on its way; %lld do "
                  "within 1.3 of it\n",
                  (long long)limited, (long long)beyond);
    assert_true(limited >= 20 && 2 * beyond >= limited);
    free(dx), free(y), free(d);
    brio__exact_free(exact);
    brio_sim_free(sim);
}

/* ---- determinism ------------------------------------------------------------------------ */

static uint64_t heap_hash(int threads, int steps)
{
    brio_set_threads(threads);
    BrioSim *sim = heap("a-search", 0, "", 1e-4);
    step(sim, steps);
    uint64_t value = hash(sim->state);
    brio_sim_free(sim);
    brio_set_threads(1);
    return value;
}

static void same_bits(void **unused)
{
    (void)unused;
    uint64_t one = heap_hash(1, 12);
    assert_true(heap_hash(2, 12) == one && heap_hash(3, 12) == one);
}

/* Boxes enough that threads share the features of vertices, the terms of bodies and the blocks of
 * pairs. */
static uint64_t layers_hash(int threads)
{
    static const char text[] =
        "time: {h: 1/120, end: 1}\nintegrator: backward-euler\nsolver: {tol: 1e-3}\n"
        "contact: {type: ipc, dhat: 1e-3, kappa: 1e5, mu: 0.3, epsv: 1e-3}\n"
        "obstacles: [{type: plane, point: [0, 0, 0], normal: [0, 1, 0]}]\n"
        "bodies:\n"
        "  - {shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}, kind: affine, name: a,\n"
        "     array: {count: [9, 1, 9], spacing: [0.11, 0.11, 0.11]},\n"
        "     material: {type: corotated, E: 1e8, rho: 500}, transform: {translate: [0, 0.0508, "
        "0]}}\n"
        "  - {shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}, kind: affine, name: b,\n"
        "     array: {count: [8, 1, 8], spacing: [0.11, 0.11, 0.11]},\n"
        "     material: {type: corotated, E: 1e8, rho: 500}, transform: {translate: [0, 0.1514, "
        "0]}}\n";
    BrioSim *sim;
    BrioLedger ledger;
    brio_set_threads(threads);
    assert_int_equal(brio_sim_parse(text, strlen(text), "layers", &sim, NULL), BRIO_OK);
    step(sim, 2);
    assert_int_equal(brio_sim_ledger(sim, &ledger), BRIO_OK);
    assert_true(ledger.contacts > 2000);
    const BrioSolveTotals *totals = &sim->stepper->solver->totals;
    print_message("  %lld candidates in %lld searches, %d contacts\n",
                  (long long)totals->candidates, (long long)totals->searches, ledger.contacts);
    assert_true(totals->candidates > 6000 * totals->searches);
    uint64_t value = hash(sim->state);
    brio_sim_free(sim);
    brio_set_threads(1);
    return value;
}

static void same_bits_of_many(void **unused)
{
    (void)unused;
    uint64_t one = layers_hash(1);
    assert_true(layers_hash(2) == one && layers_hash(3) == one && layers_hash(12) == one);
}

/* A step after others, with their candidates and patterns, and from the state alone. */
static void state_only(void **unused)
{
    (void)unused;
    static const char *const names[] = {"backward-euler", "bdf2", "a-search"};
    for (size_t i = 0; i < BRIO_COUNT(names); i++) {
        BrioSim *sim = heap(names[i], 0, "", 1e-4), *fresh = heap(names[i], 0, "", 1e-4);
        BrioState *middle;
        step(sim, 6);
        assert_int_equal(brio_state_copy(sim->state, &middle, NULL), BRIO_OK);
        step(sim, 4);
        uint64_t once = hash(sim->state);
        step(sim, 5);
        brio_state_assign(sim->state, middle);
        step(sim, 4);
        assert_true(hash(sim->state) == once);
        brio_state_assign(fresh->state, middle);
        step(fresh, 4);
        assert_true(hash(fresh->state) == once);
        brio_state_free(middle);
        brio_sim_free(sim);
        brio_sim_free(fresh);
    }
}

/* ---- memory ----------------------------------------------------------------------------- */

/* What was as large before asks for nothing: only a matrix with another pattern is analysed in new
 * memory. */
static void no_allocation(void **unused)
{
    (void)unused;
    Memory memory;
    memory_start(&memory, -1, false);
    BrioSim *sim =
        parse("time: {h: 1/60, end: 1}\nintegrator: backward-euler\nsolver: {tol: 1e-4}\ncontact: "
              "{type: ipc, dhat: 2e-3, kappa: 1e5, mu: 0.5}\n"
              "obstacles: [{type: box, size: [1, 0.2, 1], cells: [1, 1, 1], transform: {translate: "
              "[0, -0.1, 0]}}]\nbodies:\n"
              "  - {shape: {type: box, size: [0.2, 0.1, 0.2], cells: [2, 1, 2]}, material: {type: "
              "neo-hookean, E: 1e6, nu: 0.3, rho: 1000}, transform: {translate: [0, 0.0515, 0]}}\n"
              "  - {shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}, kind: affine, "
              "material: {type: corotated, E: 1e7, rho: 800},"
              " transform: {rotate: [[0, 1, 0], 20], translate: [0.01, 0.153, 0]}}\n");
    BrioState *first;
    assert_int_equal(brio_state_copy(sim->state, &first, NULL), BRIO_OK);
    int quiet = 0;
    int64_t analyses = 0;
    for (int again = 0; again < 2; again++) {
        brio_state_assign(sim->state, first);
        for (int n = 0; n < 40; n++) {
            int64_t before = memory.calls, joined = sim->stepper->solver->totals.analyses;
            step(sim, 1);
            ledger(sim);
            bool same = sim->stepper->solver->totals.analyses == joined;
            if (again && same && memory.calls != before)
                fail_msg("step %d: %lld allocations", n, (long long)(memory.calls - before));
            quiet += again && same;
            analyses += again ? sim->stepper->solver->totals.analyses - joined : 0;
        }
    }
    print_message("  40 steps with %d contacts: %d without any allocation, %lld analyses of the "
                  "matrix in the others\n",
                  ledger(sim).contacts, quiet, (long long)analyses);
    assert_true(quiet >= 20);
    brio_state_free(first);
    brio_sim_free(sim);
    assert_int_equal(memory.live, 0);
    brio_set_allocator(NULL);
}

/* Each allocation of a few steps in contact fails once: a sentence, the state as before, and the
 * step works when there is memory. */
static void fail_steps(BrioSim *(*create)(void), int steps)
{
    Memory memory;
    memory_start(&memory, -1, false);
    int64_t k = 0, in_steps = 0;
    for (bool done = false; !done; k++) {
        BrioSim *sim = create();
        memory = (Memory){.live = memory.live, .fail_at = k};
        bool failed = false;
        for (int n = 0; n < steps; n++) {
            uint64_t before = hash(sim->state);
            BrioStatus status = brio_sim_step(sim, NULL);
            if (status == BRIO_OK) continue;
            failed = true;
            if (status != BRIO_ERROR_MEMORY)
                fail_msg("allocation %lld failed and the outcome is %s: %s", (long long)k,
                         brio_status_name(status), brio_sim_reason(sim));
            assert_true(brio_sim_reason(sim)[0] != 0 && hash(sim->state) == before);
            assert_int_equal(brio_sim_step(sim, NULL), BRIO_OK);
        }
        assert_int_equal(failed, memory.failed);
        in_steps += failed;
        done = !memory.failed;
        brio_sim_free(sim);
        if (memory.live != 0)
            fail_msg("allocation %lld failed: %lld blocks are left", (long long)k,
                     (long long)memory.live);
    }
    brio_set_allocator(NULL);
    print_message("  each of %lld allocations of %d steps failed once\n", (long long)in_steps,
                  steps);
    assert_true(in_steps > 20);
}

static BrioSim *coarse_heap(void) { return heap("backward-euler", 0, "", 1e-2); }

/* Cubes that fly at each other: after the step all of them is near, and there are more pairs than
 * there was room for. */
static BrioSim *crowd(void)
{
    return parse("time: {h: 1/20}\nintegrator: backward-euler\nsolver: {tol: 0.1}\n"
                 "contact: {type: ipc, dhat: 0.2, kappa: 1e-3}\nbodies:\n"
                 "  - {shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}, material: "
                 "{type: neo-hookean, E: 1e5, rho: 1000}, velocity: {linear: [3, 0, 0]}}\n"
                 "  - {shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}, material: "
                 "{type: neo-hookean, E: 1e5, rho: 1000}, velocity: {linear: [-3, 0, 0]}, "
                 "transform: {translate: [0.45, 0, 0]}}\n");
}

static void failing_memory(void **unused)
{
    (void)unused;
    fail_steps(coarse_heap, 3);
    fail_steps(crowd, 1);
}

/* ---- physics ---------------------------------------------------------------------------- */

/* Free bodies that collide. TOLERANCE 1e-9 of what they carry: what the solves leave at 1e-11
 * m/s. */
static void momentum(void **unused)
{
    (void)unused;
    static const char *const names[] = {"backward-euler", "bdf2", "a-search", "a-1"};
    for (size_t i = 0; i < BRIO_COUNT(names); i++) {
        BrioSim *sim =
            parse("time: {h: 1/240, end: 1}\ngravity: [0, 0, 0]\nintegrator: %s\nsolver: {tol: "
                  "1e-11}\ncontact: {type: ipc, dhat: 2e-3, kappa: 1e5, mu: 0.4}\nbodies:\n"
                  "  - {shape: {type: box, size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}, material: "
                  "{type: neo-hookean, E: 1e5, nu: 0.3, rho: 1000},"
                  " velocity: {linear: [1, 0.2, 0], angular: [1, 2, 3]}}\n"
                  "  - {shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}, kind: affine, "
                  "material: {type: corotated, E: 1e7, rho: 800},"
                  " transform: {rotate: [[1, 1, 0], 30], translate: [0.13, 0.03, 0.02]}, velocity: "
                  "{linear: [-1, 0, 0]}}\n",
                  names[i]);
        BrioLedger before = ledger(sim);
        double carried = 0, worst = 0, turned = 0;
        int contacts = 0;
        for (int k = 0; k < sim->system->block_count; k++)
            carried +=
                sim->system->mass[k] * hypot(hypot(sim->state->v[3 * k], sim->state->v[3 * k + 1]),
                                             sim->state->v[3 * k + 2]);
        for (int n = 0; n < 24; n++) {
            step(sim, 1);
            BrioLedger now = ledger(sim);
            contacts = BRIO_MAX(contacts, now.contacts);
            for (int r = 0; r < 3; r++) {
                worst = brio__larger(worst, fabs(now.momentum[r] - before.momentum[r]));
                turned = brio__larger(turned, fabs(now.angular[r] - before.angular[r]));
            }
        }
        print_message("  %-14s up to %d contacts: linear momentum off by %.2g of %.3g kg m/s, "
                      "angular by %.2g kg m^2/s\n",
                      names[i], contacts, worst, carried, turned);
        assert_true(contacts > 0);
        assert_true(worst <= 1e-9 * carried);
        brio_sim_free(sim);
    }
}

static void stack_of(const char *what, int count, double size, const char *body,
                     const char *integrator, double h, double seconds, double sideways,
                     double sinking)
{
    char text[6000];
    int used = 0;
    for (int k = 0; k < count; k++)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "  - {shape: {type: box, size: [%g, %g, %g], cells: [1, 1, 1]}, %s, "
                         "transform: {translate: [0, %.6f, 0]}}\n",
                         size, size, size, body, size / 2 + 0.5e-3 + k * (size + 0.5e-3));
    BrioSim *sim =
        parse("time: {h: %g, end: 1}\nintegrator: %s\nsolver: {tol: 1e-4}\ncontact: {type: ipc, "
              "dhat: 1e-3, kappa: 1e5, mu: 0.5, epsv: 1e-5}\n"
              "obstacles: [{type: plane, point: [0, 0, 0], normal: [0, 1, 0]}]\nbodies:\n%s",
              h, integrator, text);
    const BrioBody *top = &sim->system->body[count - 1];
    double *x = world_of(sim), *y, moved = 0, low = INFINITY, high = -INFINITY;
    step(sim, (int)(seconds / h + 0.5));
    y = world_of(sim);
    for (int64_t v = top->first; v < top->first + top->count; v++) {
        moved = brio__larger(moved, hypot(y[3 * v] - x[3 * v], y[3 * v + 2] - x[3 * v + 2]));
        low = fmin(low, y[3 * v + 1]), high = brio__larger(high, y[3 * v + 1]);
    }
    BrioLedger now = ledger(sim);
    print_message("  %s: after %g s the top is at %.5f m of %.5f, moved sideways by %.3g m, its "
                  "faces %.2g m from level; %d contacts from %.3g m, %lld iterations\n",
                  what, seconds, high, count * (size + 0.5e-3), moved, high - low - size,
                  now.contacts, now.min_distance,
                  (long long)sim->stepper->solver->totals.iterations);
    assert_true(moved < sideways);
    assert_true(high > count * size - sinking && high < count * (size + 1e-3));
    free(x), free(y);
    brio_sim_free(sim);
}

/* Vertices beyond the rim of the face below push sideways, in proportion to how far they are out
 * over dhat, and friction gives way to a force by a fraction of epsv: what rests on its rim creeps,
 * e-fold in 2 mu d/epsv seconds. */
static void stacks(void **unused)
{
    (void)unused;
    stack_of("ten affine boxes", 10, 0.1,
             "kind: affine, material: {type: corotated, E: 1e8, rho: 500}", "backward-euler",
             1.0 / 60, 10, 1e-3, 1e-4);
    /* the column of 0.6 m below the top presses them by rho g H^2/(2 E), about 5 mm */
    stack_of("three soft boxes", 3, 0.2, "material: {type: neo-hookean, E: 1e6, nu: 0.3, rho: 500}",
             "backward-euler", 1.0 / 60, 2, 1e-3, 5e-3);
}

/* Surfaces stay `thickness` apart; a chain of springs hangs over a box, points lie on it. */
static void thickness(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *body;
    } things[] = {
        {"box", "shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}, material: {type: "
                "neo-hookean, E: 1e5, rho: 500}, transform: {translate: [0, 0.06, 0]}"},
        {"line", "shape: {type: line, length: 0.8, cells: 9}, kind: springs, material: {type: "
                 "hooke, k: 100, vertex_mass: 2e-3}, transform: {translate: [-0.03, 0.02, 0.01]}"}};
    for (size_t i = 0; i < BRIO_COUNT(things); i++)
        for (int thick = 0; thick < 2; thick++) {
            double t = thick ? 5e-3 : 0, min = INFINITY;
            BrioSim *sim = parse("time: {h: 1/100, end: 1}\nintegrator: backward-euler\ncontact: "
                                 "{type: ipc, dhat: 1e-3, kappa: 1e4, mu: 0.2, thickness: %g}\n"
                                 "obstacles: [{type: box, size: [0.4, 0.2, 0.4], cells: [2, 1, 2], "
                                 "transform: {translate: [0, -0.1, 0]}}]\nbodies:\n  - {%s}\n",
                                 t, things[i].body);
            int contacts = 0;
            for (int n = 0; n < 30; n++) {
                step(sim, 1);
                BrioLedger now = ledger(sim);
                contacts = BRIO_MAX(contacts, now.contacts);
                min = fmin(min, now.contacts ? now.min_distance : INFINITY);
            }
            print_message("  %s, thickness %g m: up to %d contacts, smallest distance %.4g m\n",
                          things[i].name, t, contacts, min);
            assert_true(contacts > 0 && min > t && min < t + 1e-3);
            brio_sim_free(sim);
        }
}

/* ---- what a stall says ------------------------------------------------------------------ */

/* A box between two plates that close to nothing. */
static void squeezed(void **unused)
{
    (void)unused;
    BrioSim *sim =
        parse("time: {h: 1/50, end: 1}\nintegrator: backward-euler\nsolver: {max_halvings: "
              "1}\ncontact: {type: ipc, dhat: 1e-3, kappa: 1e5}\n"
              "obstacles:\n"
              "  - {type: box, name: anvil, size: [1, 0.1, 1], cells: [1, 1, 1], transform: "
              "{translate: [0, -0.0505, 0]}}\n"
              "  - {type: box, name: hammer, size: [1, 0.1, 1], cells: [1, 1, 1], transform: "
              "{translate: [0, 0.1505, 0]}, script: {velocity: [0, -10, 0], end: 0.0101}}\n"
              "bodies:\n  - {name: cube, shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, "
              "1]}, material: {type: neo-hookean, E: 1e6, rho: 1000}, transform: {translate: [0, "
              "0.05, 0]}}\n");
    BrioStatus status = BRIO_OK;
    for (int n = 0; n < 20 && status == BRIO_OK; n++) status = brio_sim_step(sim, NULL);
    print_message("  %s\n", brio_sim_reason(sim));
    assert_true(status > 0);
    /* between the two of them, the cube and one of both */
    const char *obstacle = strstr(brio_sim_reason(sim), "\"anvil\"") ? "\"anvil\"" : "\"hammer\"";
    const char *parts[] = {"continuous collision detection limited the last step to ", "\"cube\"",
                           obstacle, " m apart)", "scripted vertices covered "};
    for (size_t k = 0; k < BRIO_COUNT(parts); k++)
        if (!strstr(brio_sim_reason(sim), parts[k]))
            fail_msg("no '%s' in: %s", parts[k], brio_sim_reason(sim));
    brio_sim_free(sim);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    brio_set_threads(1); /* scenes are small */
    const struct CMUnitTest tests[] = {cmocka_unit_test(derivatives),
                                       cmocka_unit_test(all_pairs),
                                       cmocka_unit_test(safe_steps),
                                       cmocka_unit_test(same_bits),
                                       cmocka_unit_test(state_only),
                                       cmocka_unit_test(no_allocation),
                                       cmocka_unit_test(failing_memory),
                                       cmocka_unit_test(momentum),
                                       cmocka_unit_test(stacks),
                                       cmocka_unit_test(thickness),
                                       cmocka_unit_test(squeezed),
                                       cmocka_unit_test(same_bits_of_many),
                                       cmocka_unit_test(one_search_for_a_step)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
