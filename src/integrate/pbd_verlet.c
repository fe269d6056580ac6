/* Position-based cloth [Gentle2025, the cloth of its first page; Mueller2007]: no forces of
 * springs; every spring is a wish for its rest length. A step first goes `iterations` times over
 * all springs and moves both ends along the spring by `stiffness` times what is missing, then moves
 * every vertex by Verlet's rule with its velocity damped:
 *
 *     x_c = relaxed q_n,    u = damping (x_c - x_c of the step before),    q' = x_c + u + h^2 g, v'
 * = (q' - x_c)/h.
 *
 * What would end behind a plane ends on it, with the part of u along its normal turned round [the
 * walls of that page].
 *
 * The two ends share a correction by the inverse of their masses; a held end leaves the other half
 * of it, as there. How stiff the cloth appears depends on the iterations and the step, not on the
 * material's k. There: masses of 1, 3 iterations, stiffness 0.8, damping 0.99 a picture (here:
 * every 1/60 s, converted with the step). */
#include "../potential/hands.h"
#include "integrator.h"

#include <string.h>

static const BrioField fields[] = {
    {"iterations", BRIO_INTEGER, "", 3, 1, 100000, 0, "How often a step goes over all springs."},
    {"stiffness", BRIO_REAL, "", 0.8, 0, 1, 0,
     "Share of a spring's error that is corrected each time."},
    {"damping", BRIO_REAL, "", 0.99, 0, 1, 0, "Share of the velocity that is left after 1/60 s."},
    {0}};

/* The coordinates of a vertex, NULL: it is held. */
static double *coordinates(const BrioSystem *system, double *q, int32_t vertex)
{
    int32_t k = system->map_start[vertex];
    return system->map_start[vertex + 1] > k ? q + 3 * (int64_t)system->map_block[k] : NULL;
}

/* Springs one after the other, in their order; attachments are springs of no length, unless they
 * were let go. */
static void relax(const BrioSystem *system, const BrioTerm *term, const double *param,
                  double stiffness, const double *x, double *q)
{
    bool anchors = term->energy->element == BRIO_ELEMENT_ANCHOR;
    for (int64_t e = 0; e < term->elements; e++) {
        int64_t block = e / LANES, place = e % LANES;
        const int32_t *node = term->node + block * 2 * LANES + place;
        double length = anchors ? 0 : term->rest[(block * term->energy->rest + 1) * LANES + place];
        if (anchors && param[term->live + block * LANES + place] == 0) continue;
        int32_t at[2] = {node[0] / 3, node[LANES] / 3};
        double *end[2], now[2][3], d[3], square = 0;
        for (int k = 0; k < 2; k++) {
            end[k] = coordinates(system, q, at[k]);
            for (int r = 0; r < 3; r++) now[k][r] = end[k] ? end[k][r] : x[node[k * LANES] + r];
        }
        for (int r = 0; r < 3; r++) d[r] = now[1][r] - now[0][r], square += d[r] * d[r];
        if (square == 0) continue;
        double distance = sqrt(square);
        double share = (length - distance) / distance;
        double m[2] = {system->vertex_mass[at[0]], system->vertex_mass[at[1]]};
        double first = end[0] && end[1] ? m[1] / (m[0] + m[1]) : 0.5;
        for (int r = 0; r < 3; r++) {
            if (end[0]) end[0][r] -= d[r] * (share * first) * stiffness;
            if (end[1]) end[1][r] += d[r] * (share * (1 - first)) * stiffness;
        }
    }
}

/* Hands wish for their points to be where they are, as attachments do: half of the way is left to
 * whoever holds. */
static void relax_hands(const BrioSystem *system, const BrioState *state, double stiffness,
                        double *q)
{
    for (int h = 0; h < BRIO_MAX_HANDS; h++) {
        const BrioGrip *grip = &state->hand[h];
        if (grip->k == 0) continue;
        double c[3], square = 0;
        brio__grip_place(system, grip, q, c);
        for (int i = 0; i < 3; i++) square += grip->weight[i] * grip->weight[i];
        for (int i = 0; i < 3 && grip->vertex[i] >= 0; i++)
            for (int r = 0; r < 3; r++)
                coordinates(system, q, grip->vertex[i])[r] +=
                    stiffness / 2 * grip->weight[i] / square * (grip->point[r] - c[r]);
    }
}

/* Vertices that came closer to a plane than dhat are put back, and leave as fast as u says that
 * they came. */
static void reflect(const BrioSystem *system, const BrioTerm *term, const double *param,
                    const double *u, double h, double *q, double *v, double *past)
{
    double dhat = param[term->params + 1];
    for (int64_t e = 0; e < term->elements; e++) {
        int64_t block = e / LANES, place = e % LANES;
        const double *rest = term->rest + block * BRIO_PLANE_REST * LANES + place;
        double *x = coordinates(system, q, brio__term_vertex(term, e, 0)), distance = -dhat;
        if (!x) continue;
        for (int r = 0; r < 3; r++)
            distance += rest[(1 + r) * LANES] * (x[r] - rest[(4 + r) * LANES]);
        if (distance >= 0) continue;
        double *w = v + (x - q), *from = past + (x - q), along = 0, back = 0;
        for (int r = 0; r < 3; r++)
            along += rest[(1 + r) * LANES] * w[r], back += rest[(1 + r) * LANES] * u[x - q + r];
        for (int r = 0; r < 3; r++) {
            double n = rest[(1 + r) * LANES], p = rest[(4 + r) * LANES];
            if (n == 0) continue;
            /* exactly on it, where it is parallel to the axes */
            x[r] = p + (x[r] - p - distance * n);
            w[r] = w[r] - along * n - back * n;
            from[r] = x[r] - h * w[r];
        }
    }
}

static BrioStatus step(BrioStepper *s, double h)
{
    const BrioSystem *system = s->system;
    const double *q = brio_stepper_q(s);
    const double *v = brio_stepper_v(s);
    const double *g = s->state->param + system->term[system->gravity_term].params;
    double *moved = brio_stepper_scratch(s, 0);
    double *next = brio_stepper_scratch(s, 1);
    double *velocity = brio_stepper_scratch(s, 2);
    double *push = brio_stepper_scratch(s, 3);
    double *u = brio_stepper_scratch(s, 4);
    /* x_c of the step before, and the velocities that it left */
    double *past = brio_stepper_history(s, 0), *left = brio_stepper_history(s, 1);
    int iterations = (int)brio_stepper_value(s, "iterations");
    double kept = pow(brio_stepper_value(s, "damping"), 60 * h);
    double stiffness = brio_stepper_value(s, "stiffness");
    brio_stepper_combine(s, 1, q, 0, q, moved);
    /* held vertices where they are going */
    brio__system_positions(system, s->state, q, brio_stepper_time(s) + h, s->solver->x);
    for (int n = 0; n < iterations; n++) {
        for (int t = 0; t < system->term_count; t++) {
            BrioElement element = system->term[t].energy->element;
            if (element == BRIO_ELEMENT_SPRING || element == BRIO_ELEMENT_ANCHOR)
                relax(system, &system->term[t], s->state->param, stiffness, s->solver->x, moved);
        }
        relax_hands(system, s->state, stiffness, moved);
    }
    s->iterations += iterations;
    brio_stepper_damping_force(s, q, v, h, 1, push);
    brio_stepper_mass_solve(s, push, push);
    for (int64_t i = 0; i < s->state->coordinates; i++) push[i] += g[i % 3];
    if (brio_stepper_history_used(s) == 0 || brio_stepper_last_h(s) != h ||
        memcmp(left, v, (size_t)s->state->coordinates * sizeof *v) != 0)
        /* a start, another step, or a damping model has changed velocities since */
        brio_stepper_combine(s, 1, q, -h, v, past);
    brio_stepper_combine(s, 1, moved, -1, past, u);
    brio_stepper_combine(s, kept / h, u, 0, u, u);
    brio_stepper_combine(s, 1, u, h, push, velocity);
    brio_stepper_combine(s, 1, moved, h, velocity, next);
    brio_stepper_combine(s, 1, moved, 0, moved, past);
    for (int t = 0; t < system->term_count; t++)
        if (system->term[t].energy->element == BRIO_ELEMENT_CONTACT)
            reflect(system, &system->term[t], s->state->param, u, h, next, velocity, past);
    brio_stepper_combine(s, 1, velocity, 0, velocity, left);
    brio_stepper_set_history_used(s, 2);
    return brio_stepper_accept(s, h, next, velocity);
}

BRIO_INTEGRATOR(pbd_verlet){
    .name = "pbd-verlet",
    .summary = "Moves vertices until springs have their lengths: never explodes, but how stiff "
               "things look depends on the step. Springs only.",
    .citation = "Gentle2025",
    .history = 2,
    .traits = BRIO_SPRINGS_ONLY,
    .fields = fields,
    .step = step,
};
