/* [You2026], section 5.4: are the linear systems of A-search worse conditioned than those of BDF2?
 *
 * A Newton matrix is M + c h^2 K, with c = 1 for the solve of A-search and c = 4/9 for BDF2. Scaled
 * by the masses its eigenvalues are 1 + c h^2 w^2, with w the frequencies of the modes. The ratio
 * of two of them grows at most as c h^2, so the iterations of conjugate gradients, which go with
 * the square root of the condition number, grow at most as sqrt(c) h. They grow less where all
 * modes are stiff for the step (h w > 1) but rigid motions, of which conjugate gradients take one
 * per iteration: then the condition number is that of K. Backward Euler has the matrix of A-search
 * and another motion, so it tells which of the two makes a system worse. */
#include "you2026.h"

/* Coefficient of h^2 K, and the step: that of A-search, or the one at which the paper's BDF2 took a
 * similar time. */
typedef struct System {
    Method method;
    double c;
} System;

typedef struct Scene {
    const char *name, *seconds;
    System system[4];
} Scene;

#define SYSTEMS(h, similar)                                                               \
    {                                                                                     \
        {{"A-search as printed", YOU2026_PRINTED, h}, 1},                                 \
            {{"backward Euler", "backward-euler", h}, 1}, {{"BDF2", "bdf2", h}, 4.0 / 9}, \
        {                                                                                 \
            {"BDF2, similar time", "bdf2", similar}, 4.0 / 9                              \
        }                                                                                 \
    }

static const Scene scenes[] = {
    {"cube-soft", "time.end=1", SYSTEMS(30, 60)},
    {"cube-stiff", "time.end=1", SYSTEMS(30, 60)},
    {"twisted-bar", "time.end=0.5", SYSTEMS(30, 90)},
    {"ball-soft", "time.end=0.5", SYSTEMS(120, 600)},
};

/* CG iterations per Newton iteration; NAN: the run failed. */
static double iterations(Report *r, const Scene *scene, const Method *method)
{
    char integrator[128], step[64];
    const char *sets[] = {scene->seconds, integrator, step, "solver={linear: pcg, tol: 0.01}"};
    BrioScene *file = NULL;
    BrioLinearStats stats;
    snprintf(integrator, sizeof integrator, "integrator=%s", method->integrator);
    snprintf(step, sizeof step, "time.h=1/%g", method->inverse_h);
    BrioSim *sim = report_shipped(r, scene->name, sets, BRIO_COUNT(sets), &file);
    if (!sim) return NAN;
    int64_t steps = brio__scene_steps(file);
    brio__scene_free(file);
    bool fine = true;
    for (int64_t k = 0; k < steps && fine; k++) {
        fine = brio_sim_step(sim, NULL) == BRIO_OK;
        report_progress(r, (double)k / (double)steps, "%s, %s", scene->name, method->name);
    }
    if (!fine) report_fact(r, false, "%s: %s", method->name, brio_sim_reason(sim));
    brio__linear_stats(sim->stepper->solver->linear, &stats);
    double newton = (double)sim->stepper->solver->totals.iterations;
    brio_sim_free(sim);
    return fine ? (double)stats.iterations / newton : NAN;
}

static void condition(Report *r)
{
    for (size_t k = 0; k < BRIO_COUNT(scenes); k++) {
        const Scene *scene = &scenes[k];
        double found[4];
        report_section(r, "%s: CG iterations per Newton iteration", scene->name);
        for (int m = 0; m < 4; m++) {
            found[m] = iterations(r, scene, &scene->system[m].method);
            report_number(r, NAN, found[m], "%s, h = 1/%g s", scene->system[m].method.name,
                          scene->system[m].method.inverse_h);
        }
        for (int m = 2; m < 4; m++) {
            const System *a = &scene->system[0], *b = &scene->system[m];
            double growth = sqrt(a->c / b->c) * b->method.inverse_h / a->method.inverse_h;
            report_bound(r, found[0] / found[m], nextafter(1, 2), growth,
                         "A-search over BDF2 at 1/%g s", b->method.inverse_h);
        }
        /* a quarter: the motions differ, so the matrices are not the same ones */
        report_bound(r, found[0] / found[1], 0.8, 1.25,
                     "A-search over backward Euler, which has its matrix");
    }
}

REPRODUCTION(you2026_condition){
    .name = "you2026-condition",
    .paper = "You2026",
    .summary = "section 5.4: systems of A-search are worse conditioned than those of BDF2",
    .about =
        "Conjugate gradients with block Jacobi, as in the paper, to one relative accuracy. The "
        "paper says that at equal run times A-search needs more of them per Newton iteration, "
        "since it \"must resolve new high frequency data every frame\". Its matrix M + h^2 K has "
        "a larger step and a larger coefficient than BDF2's M + 4/9 h^2 K; backward Euler has the "
        "same matrix without that data. The upper "
        "limits: the iterations grow at most as h and the root of the coefficient.",
    .chosen = "the scenes, their first 0.5 or 1 s, a quarter for \"the same\"",
    .minutes = 0.6,
    .run = condition,
};
