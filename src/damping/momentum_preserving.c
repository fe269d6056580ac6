/* Momentum-preserving damping [Mueller2007; Dinev2018, Eq. 32-36]: after a step, the part of the
 * velocities that is no rigid motion of the body is made smaller by the fraction k for every
 * 0.033 s,
 *
 *     dv_i = v_i - (v_cm + w x r_i),     v_i -= (1 - (1 - k)^(h / 0.033 s)) dv_i.
 *
 * v_cm and w are those of the rigid body with the same momenta, so both stay as they are. (The sign
 * of w x r_i in Eq. 32 must be this one: with the other a rigid rotation would be damped.) */
#include "damping.h"

#include "../potential/rigid.h"

static const double paper_step = 0.033;

static double filter_body(const BrioSystem *s, const BrioBody *body, const double *q,
                          double fraction, double *v)
{
    int64_t count, first = brio__body_masses(body, &count);
    double mass = 0;
    double centre[3] = {0, 0, 0};
    double speed[3] = {0, 0, 0};
    double L[3] = {0, 0, 0};
    double I[3][3] = {{0}};
    double w[3];
    double taken = 0;
    for (int64_t i = first; i < first + count; i++) {
        int32_t k = s->map_start[i];
        if (s->map_start[i + 1] == k) continue;
        const double *x = q + 3 * (int64_t)s->map_block[k], *u = v + 3 * (int64_t)s->map_block[k];
        double m = s->vertex_mass[i];
        mass += m;
        for (int r = 0; r < 3; r++) centre[r] += m * x[r], speed[r] += m * u[r];
    }
    double first_sums[7] = {mass, centre[0], centre[1], centre[2], speed[0], speed[1], speed[2]};
    brio__partition_sum(s->partition, first_sums, 7);
    mass = first_sums[0];
    if (mass == 0) return 0;
    for (int r = 0; r < 3; r++)
        centre[r] = first_sums[1 + r] / mass, speed[r] = first_sums[4 + r] / mass;
    for (int64_t i = first; i < first + count; i++) {
        int32_t k = s->map_start[i];
        if (s->map_start[i + 1] == k) continue;
        const double *x = q + 3 * (int64_t)s->map_block[k], *u = v + 3 * (int64_t)s->map_block[k];
        double m = s->vertex_mass[i], d[3], square = 0;
        for (int r = 0; r < 3; r++) d[r] = x[r] - centre[r], square += d[r] * d[r];
        for (int r = 0; r < 3; r++) {
            int a = (r + 1) % 3, b = (r + 2) % 3;
            L[r] += m * (d[a] * (u[b] - speed[b]) - d[b] * (u[a] - speed[a]));
            for (int c = 0; c < 3; c++) I[r][c] += m * ((r == c ? square : 0) - d[r] * d[c]);
        }
    }
    brio__partition_sum(s->partition, L, 3);
    brio__partition_sum(s->partition, &I[0][0], 9);
    brio__solve_inertia(I, L, w);
    for (int64_t i = first; i < first + count; i++) {
        int32_t k = s->map_start[i];
        if (s->map_start[i + 1] == k) continue;
        const double *x = q + 3 * (int64_t)s->map_block[k];
        double *u = v + 3 * (int64_t)s->map_block[k], m = s->vertex_mass[i];
        int fixed = s->axes ? s->axes[s->map_block[k]] : 0; /* coordinates that stay */
        for (int r = 0; r < 3; r++) {
            if (fixed >> r & 1) continue;
            int a = (r + 1) % 3, b = (r + 2) % 3;
            double rigid = speed[r] + w[a] * (x[b] - centre[b]) - w[b] * (x[a] - centre[a]);
            double before = u[r];
            u[r] -= fraction * (u[r] - rigid);
            taken += m / 2 * (before - u[r]) * (before + u[r]);
        }
    }
    brio__partition_sum(s->partition, &taken, 1);
    return taken;
}

static double filter(void *self, const double *values, const BrioSystem *system, const double *q,
                     double h, double *v)
{
    (void)self;
    double fraction = 1 - pow(1 - values[0], h / paper_step), taken = 0;
    for (int b = 0; b < system->body_count; b++)
        taken += filter_body(system, &system->body[b], q, fraction, v);
    return taken;
}

static const BrioField fields[] = {{"k", BRIO_REAL, "", 0.1, 0, 1, 0,
                                    "Fraction of the non-rigid velocity that is removed every "
                                    "0.033 s."},
                                   {0}};

BRIO_DAMPING_MODEL(momentum_preserving){
    .name = "momentum-preserving",
    .summary =
        "Damps all motion except the rigid motion of the whole body, fast and slow deformations "
        "alike.",
    .citation = "Dinev2018",
    .fields = fields,
    .filter = filter,
};
