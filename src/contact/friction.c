/* Smoothed Coulomb friction, lagged [Li2020, Sec. 5].
 *
 * At the start of a step every pair closer than dhat, and every vertex that close to a plane, gets its normal force lambda = -db/dd, its closest
 * points with their weights w, and two tangents T, which hold for the whole step. With u = T^T sum w_i (x_i - x_i^n), the way that the two points slide
 * along each other from the start of the step on (obstacles move too), the dissipation potential is
 *
 *     D_n = mu lambda f0(|u|),   f0(y) = y for y >= eps,   y^2 (1/eps - y/(3 eps^2)) + eps/3 below,   eps = epsv (t - t_n).
 *
 * Its force has the size mu lambda where they slide, and less where they hold: there they creep by epsv at most. Newton's method takes its
 * Hessian where the others are exact too, and the bound of energy/friction.c in place of it where those are projected. */
#include "friction.h"

#include "../solve/minimise.h"
#include "contact.h"
#include "distance.h"

#include <string.h>

typedef struct Friction {
    BrioPairs pairs;
    double *x; /* world positions */
} Friction;

static void destroy(void *self)
{
    Friction *f = self;
    if (!f) return;
    brio__pairs_free(&f->pairs);
    brio__free(f->x);
    brio__free(f);
}

static BrioStatus create(const BrioSystem *system, const double *values, void **self)
{
    (void)values;
    Friction *f = brio__calloc(1, sizeof *f);
    if (!f) return BRIO_ERROR_MEMORY;
    f->x = brio__alloc(3 * (size_t)system->vertex_count, sizeof(double));
    BrioStatus status = f->x ? brio__pairs_create(&f->pairs, brio__energy("friction"), false) : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK)
        *self = f;
    else
        destroy(f);
    return status;
}

/* Bodies, and obstacles after them, have their vertices in this order. */
static int owner_of(const BrioSystem *s, int32_t vertex)
{
    bool body = vertex < s->body_vertices;
    int low = 0, high = (body ? s->body_count : s->obstacle_count) - 1;
    while (low < high) { /* the first that ends behind the vertex */
        int middle = (low + high) / 2;
        int64_t end = body ? s->body[middle].first + s->body[middle].count : s->obstacle[middle].first + s->obstacle[middle].count;
        if (vertex < end)
            high = middle;
        else
            low = middle + 1;
    }
    return body ? low : s->body_count + low;
}

static double coefficient(const BrioSystem *s, int a, int b) { return s->friction[a * (s->body_count + s->obstacle_count) + b]; }

/* A pair that pushes along n with the force mu lambda already multiplied. */
static BrioStatus add(Friction *f, const int32_t vertex[4], const double w[4], const double n[3], double force)
{
    double rest[13] = {force, w[0], w[1], w[2], w[3]}, *t = rest + 5, *u = rest + 8;
    int least = 0; /* the axis most across n */
    for (int r = 1; r < 3; r++)
        if (fabs(n[r]) < fabs(n[least])) least = r;
    double length = sqrt(1 - n[least] * n[least]); /* |e - (e.n) n| */
    for (int r = 0; r < 3; r++) t[r] = ((r == least) - n[least] * n[r]) / length;
    for (int r = 0; r < 3; r++) u[r] = n[(r + 1) % 3] * t[(r + 2) % 3] - n[(r + 2) % 3] * t[(r + 1) % 3];
    for (int k = 0; k < 4; k++)
        for (int r = 0; r < 3; r++) {
            double at = w[k] * f->x[3 * (int64_t)vertex[k] + r];
            rest[11] += t[r] * at;
            rest[12] += u[r] * at;
        }
    return brio__pairs_add(&f->pairs, vertex, rest);
}

/* The mollifier of nearly parallel edges, as in barrier_edge_edge. */
static double mollifier(const double x[12], double bound)
{
    double n[3], square = 0;
    for (int r = 0; r < 3; r++) {
        int p = (r + 1) % 3, q = (r + 2) % 3;
        n[r] = (x[3 + p] - x[p]) * (x[9 + q] - x[6 + q]) - (x[3 + q] - x[q]) * (x[9 + p] - x[6 + p]);
        square += n[r] * n[r];
    }
    return square < bound ? square / bound * (2 - square / bound) : 1;
}

static BrioStatus lag_pairs(Friction *f, BrioContact *contact, const BrioSystem *s, const double *param)
{
    double least;
    brio__contact_out_of_memory(contact); /* what was is over */
    brio__contact_count(contact, param, f->x, &least, NULL);
    if (brio__contact_out_of_memory(contact)) return BRIO_ERROR_MEMORY;
    param += s->contact_params;
    for (int kind = 0; kind < BRIO_PAIR_KINDS; kind++) {
        const BrioPairs *pairs = brio__contact_pairs(contact, kind);
        for (int64_t e = 0; e < pairs->term.elements; e++) {
            int32_t vertex[4];
            double x[12], w[4], n[3] = {0, 0, 0};
            for (int k = 0; k < 4; k++) {
                vertex[k] = brio__pairs_vertex(pairs, e, k);
                memcpy(x + 3 * k, f->x + 3 * (int64_t)vertex[k], 3 * sizeof *x);
            }
            double mu = coefficient(s, owner_of(s, vertex[0]), owner_of(s, vertex[kind == BRIO_PAIR_VERTEX_FACE ? 1 : 2]));
            if (mu == 0) continue;
            double d = (kind == BRIO_PAIR_VERTEX_FACE ? brio__closest_vertex_face : brio__closest_edge_edge)(x, w);
            if (!(d > param[BRIO_CONTACT_THICKNESS])) continue;
            double force = -mu * brio__barrier_slope(param[BRIO_CONTACT_KAPPA], param[BRIO_CONTACT_DHAT], d - param[BRIO_CONTACT_THICKNESS]);
            if (kind == BRIO_PAIR_PARALLEL) force *= mollifier(x, pairs->term.rest[(e / LANES * 2 + 1) * LANES + e % LANES]);
            for (int k = 0; k < 4; k++)
                for (int r = 0; r < 3; r++) n[r] += w[k] * x[3 * k + r] / d;
            if (force > 0) BRIO_CHECK(add(f, vertex, w, n, force));
        }
    }
    return BRIO_OK;
}

static BrioStatus lag_planes(Friction *f, const BrioSystem *s, const double *param)
{
    for (int k = 0; k < s->plane_count; k++) {
        const BrioTerm *term = &s->term[s->plane_term + k];
        const double *p = param + term->params, *rest = term->rest;
        double thickness = s->barrier ? p[BRIO_CONTACT_THICKNESS] : 0;
        for (int64_t e = 0; e < term->elements; e++) {
            double d = brio__plane_distance(term, e, f->x) - thickness, w[4] = {1, 0, 0, 0}, n[3];
            if (!(d < p[BRIO_CONTACT_DHAT])) continue;
            int32_t v = term->node[e] / 3, vertex[4] = {v, v, v, v};
            double lambda = s->barrier ? -brio__barrier_slope(p[BRIO_CONTACT_KAPPA], p[BRIO_CONTACT_DHAT], d) : p[BRIO_CONTACT_KAPPA] * (p[BRIO_CONTACT_DHAT] - d);
            double force = lambda * coefficient(s, owner_of(s, v), s->body_count + term->obstacle);
            for (int r = 0; r < 3; r++) n[r] = rest[(e / LANES * BRIO_PLANE_REST + 1 + r) * LANES + e % LANES];
            if (force > 0) BRIO_CHECK(add(f, vertex, w, n, force));
        }
    }
    return BRIO_OK;
}

static BrioStatus lag(void *self, const double *values, BrioSolver *solver, const BrioState *state)
{
    (void)values;
    Friction *f = self;
    brio__system_positions(solver->system, state, state->q, state->time, f->x);
    brio__pairs_clear(&f->pairs);
    if (solver->contact) BRIO_CHECK(lag_pairs(f, solver->contact, solver->system, state->param));
    BRIO_CHECK(lag_planes(f, solver->system, state->param));
    brio__pairs_finish(&f->pairs);
    return BRIO_OK;
}

static double slide(const BrioSystem *system, const BrioState *state, double time) { return system->epsv * (time - state->time); }

static double potential(void *self, const double *values, BrioSolver *solver, const BrioState *state, const BrioMotion *motion, double *gradient)
{
    (void)values;
    Friction *f = self;
    double eps = slide(solver->system, state, motion->time);
    if (f->pairs.term.elements == 0 || !(eps > 0)) return 0;
    brio__solver_positions(solver, state, motion->q, motion->time, f->x);
    return brio__pairs_evaluate(&f->pairs, solver->system, (double[2]){eps, 0}, f->x, gradient, NULL);
}

static BrioStatus assemble(void *self, const double *values, BrioSolver *solver, const BrioState *state, const BrioMotion *motion, double weight)
{
    (void)values;
    Friction *f = self;
    double eps = slide(solver->system, state, motion->time);
    if (f->pairs.term.elements == 0 || !(eps > 0)) return BRIO_OK;
    brio__solver_positions(solver, state, motion->q, motion->time, f->x);
    double param[2] = {eps, solver->project ? 1 : 0};
    return brio__pairs_assemble(&f->pairs, solver->system, param, f->x, weight, true, solver->linear->extra);
}

/* Explicit methods: the way that the velocity leads in the step. */
static void force(void *self, const double *values, BrioSolver *solver, const BrioState *state, const double *q, const double *v, double time,
                  double h, double *out)
{
    (void)q, (void)time, (void)values;
    Friction *f = self;
    double eps = solver->system->epsv * h;
    size_t bytes = (size_t)state->coordinates * sizeof(double);
    if (f->pairs.term.elements == 0) return;
    brio__combine(solver->system, 1, state->q, h, v, solver->blend);
    brio__system_positions(solver->system, state, solver->blend, state->time + h, f->x);
    memset(solver->blend, 0, bytes);
    brio__pairs_evaluate(&f->pairs, solver->system, (double[2]){eps, 0}, f->x, solver->blend, NULL);
    brio__combine(solver->system, 1, out, -1, solver->blend, out);
}

const BrioDampingModel brio__friction_model = {
    .name = "friction",
    .summary = "Smoothed Coulomb friction between what is in contact, with normal forces of the start of the step.",
    .citation = "Li2020",
    .create = create,
    .destroy = destroy,
    .lag = lag,
    .potential = potential,
    .assemble = assemble,
    .force = force,
};
