/* Position-based cloth [Gentle2025, the cloth of its first page; Mueller2007]: no forces of
 * springs; every spring is a wish for its rest length. A step first goes `iterations` times over
 * all springs and moves both ends along the spring by `stiffness` times what is missing, then moves
 * every vertex by Verlet's rule with its velocity damped:
 *
 *     x_c = relaxed q_n,    u = damping (x_c - x_c of the step before),
 *     q' = x_c + u + h^2 g,    v' = (q' - x_c)/h.
 *
 * What would end behind a plane ends on it, with the part of u along its normal turned round [the
 * walls of that page].
 *
 * The two ends share a correction by the inverse of their masses; a fixed end leaves the other half
 * of it, as there. How stiff the cloth appears depends on the iterations and the step, not on the
 * material's k. There: masses of 1, 3 iterations, stiffness 0.8, damping 0.99 a picture (here:
 * every 1/60 s, converted with the step). */
#include "integrator.h"

static const BrioField fields[] = {{"iterations", BRIO_INTEGER, "", 3, 1, 100000, 0,
                                    "Number of passes over all springs per step."},
                                   {"stiffness", BRIO_REAL, "", 0.8, 0, 1, 0,
                                    "Fraction of a spring's error that each pass corrects."},
                                   {"damping", BRIO_REAL, "", 0.99, 0, 1, 0,
                                    "Fraction of the velocity that is left after 1/60 s."},
                                   {0}};

/* Springs one after the other, in their order; attachments are springs of no length. x: world
 * positions of fixed vertices. */
static void relax_springs(const BrioStepper *s, double stiffness, const double *x, double *q)
{
    BrioSpring spring;
    for (int64_t i = 0; brio_stepper_spring(s, i, &spring); i++) {
        if (!spring.active) continue;
        double *end[2], now[2][3], d[3], square = 0;
        for (int k = 0; k < 2; k++) {
            end[k] = spring.coordinate[k] >= 0 ? q + spring.coordinate[k] : NULL;
            for (int r = 0; r < 3; r++)
                now[k][r] = end[k] ? end[k][r] : x[3 * spring.vertex[k] + r];
        }
        for (int r = 0; r < 3; r++) {
            d[r] = now[1][r] - now[0][r];
            square += d[r] * d[r];
        }
        if (square == 0) continue;
        double distance = sqrt(square), fraction = (spring.length - distance) / distance;
        const double *m = spring.mass;
        double first = end[0] && end[1] ? m[1] / (m[0] + m[1]) : 0.5;
        for (int r = 0; r < 3; r++) {
            if (end[0]) end[0][r] -= d[r] * (fraction * first) * stiffness;
            if (end[1]) end[1][r] += d[r] * (fraction * (1 - first)) * stiffness;
        }
    }
}

/* Hands wish for their points to be where they are, as attachments do: half of the way is left to
 * whoever holds. */
static void relax_hands(const BrioStepper *s, double stiffness, double *q)
{
    BrioPull pull;
    for (int h = 0; brio_stepper_pull(s, h, &pull); h++) {
        double c[3] = {0, 0, 0}, square = 0;
        for (int i = 0; i < pull.count; i++) {
            for (int r = 0; r < 3; r++) c[r] += pull.weight[i] * q[pull.coordinate[i] + r];
            square += pull.weight[i] * pull.weight[i];
        }
        for (int i = 0; i < pull.count; i++)
            for (int r = 0; r < 3; r++)
                q[pull.coordinate[i] + r] +=
                    stiffness / 2 * pull.weight[i] / square * (pull.point[r] - c[r]);
    }
}

/* Vertices that came closer to a plane than its gap are put back, and leave as fast as u says that
 * they came. */
static void reflect(const BrioStepper *s, int plane, const BrioPlane *at, const double *u, double h,
                    double *q, double *v, double *past)
{
    for (int64_t e = 0; e < at->count; e++) {
        int64_t c = brio_stepper_plane_vertex(s, plane, e);
        if (c < 0) continue;
        double *x = q + c, *w = v + c, *from = past + c;
        double distance = -at->gap, along = 0, back = 0;
        for (int r = 0; r < 3; r++) distance += at->normal[r] * (x[r] - at->point[r]);
        if (distance >= 0) continue;
        for (int r = 0; r < 3; r++) {
            along += at->normal[r] * w[r];
            back += at->normal[r] * u[c + r];
        }
        for (int r = 0; r < 3; r++) {
            double n = at->normal[r], p = at->point[r];
            if (n == 0) continue;
            /* exactly on it, where it is parallel to the axes */
            x[r] = p + (x[r] - p - distance * n);
            w[r] = w[r] - along * n - back * n;
            from[r] = x[r] - h * w[r];
        }
    }
}

/* q relaxed: springs and hands, `iterations` times. */
static void relax(BrioStepper *s, double h, double *moved)
{
    const double *q = brio_stepper_q(s);
    int iterations = (int)brio_stepper_value(s, "iterations");
    double stiffness = brio_stepper_value(s, "stiffness");
    brio_stepper_combine(s, 1, q, 0, q, moved);
    /* fixed vertices where they are going */
    const double *x = brio_stepper_positions(s, q, brio_stepper_time(s) + h);
    for (int n = 0; n < iterations && !brio_stepper_stopped(s, n); n++) {
        relax_springs(s, stiffness, x, moved);
        relax_hands(s, stiffness, moved);
    }
    brio_stepper_count_iterations(s, iterations);
}

static BrioStatus step(BrioStepper *s, double h)
{
    const double *q = brio_stepper_q(s);
    const double *v = brio_stepper_v(s);
    size_t coordinates = (size_t)brio_stepper_coordinates(s);
    double *moved = brio_stepper_scratch(s, 0);
    double *next = brio_stepper_scratch(s, 1);
    double *velocity = brio_stepper_scratch(s, 2);
    double *push = brio_stepper_scratch(s, 3);
    double *u = brio_stepper_scratch(s, 4);
    /* x_c of the step before, and the velocities that it left */
    double *past = brio_stepper_history(s, 0), *left = brio_stepper_history(s, 1);
    double kept = pow(brio_stepper_value(s, "damping"), 60 * h), g[3];
    BrioPlane plane;
    relax(s, h, moved);
    brio_stepper_damping_force(s, q, v, h, 1, push);
    brio_stepper_mass_solve(s, push, push);
    brio_stepper_gravity(s, g);
    for (size_t i = 0; i < coordinates; i++) push[i] += g[i % 3];
    if (brio_stepper_history_used(s) == 0 || brio_stepper_last_h(s) != h ||
        memcmp(left, v, coordinates * sizeof *v) != 0)
        /* a start, another step, or a damping model has changed velocities since */
        brio_stepper_combine(s, 1, q, -h, v, past);
    brio_stepper_combine(s, 1, moved, -1, past, u);
    brio_stepper_combine(s, kept / h, u, 0, u, u);
    brio_stepper_combine(s, 1, u, h, push, velocity);
    brio_stepper_combine(s, 1, moved, h, velocity, next);
    brio_stepper_combine(s, 1, moved, 0, moved, past);
    for (int k = 0; brio_stepper_plane(s, k, &plane); k++)
        reflect(s, k, &plane, u, h, next, velocity, past);
    brio_stepper_combine(s, 1, velocity, 0, velocity, left);
    brio_stepper_set_history_used(s, 2);
    return brio_stepper_accept(s, h, next, velocity);
}

BRIO_INTEGRATOR(pbd_verlet){
    .name = "pbd-verlet",
    .summary = "Position-based: moves vertices until springs have their lengths. Never explodes; "
               "stiffness depends on the step. Springs only.",
    .citation = "Gentle2025",
    .history = 2,
    .traits = BRIO_SPRINGS_ONLY,
    .fields = fields,
    .step = step,
};
