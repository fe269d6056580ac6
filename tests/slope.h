/* A block on a slope of tan theta = 0.5, for one second from rest. Coulomb's law: below that
 * coefficient it slides by a t^2/2 with a = g (sin theta - mu cos theta), from there on it rests.
 * Include after simulate.h. */
#ifndef BRIO_TEST_SLOPE_H
#define BRIO_TEST_SLOPE_H

#include <math.h>

#define SLOPE_G 9.8
#define SLOPE_TAN 0.5

/* Half the height of each kind of body, lying. */
typedef struct SlopeKind {
    const char *name, *body;
    double half;
} SlopeKind;
static const SlopeKind slope_kinds[] = {
    {"solid",
     "shape: {type: box, size: [0.2, 0.1, 0.2], cells: [2, 1, 2]}, material: {type: neo-hookean, "
     "E: 1e7, nu: 0.3, rho: 1000}",
     0.05},
    {"shell",
     "shape: {type: grid, width: 0.2, depth: 0.2, cells_x: 2, cells_z: 2}, kind: shell, material: "
     "{type: membrane-neo-hookean, E: 1e7, nu: 0.3, rho: 1000, thickness: 0.01}",
     0},
    {"affine",
     "shape: {type: box, size: [0.2, 0.1, 0.2], cells: [2, 1, 2]}, kind: affine, material: {type: "
     "neo-hookean, E: 1e7, nu: 0.3, rho: 1000}",
     0.05},
};
static const char *const slope_integrators[] = {"backward-euler", "bdf2", "a-search"};

typedef struct Slope {
    const SlopeKind *kind;
    const char *integrator;
    int steps; /* in a second */
    double mu;
    double gap;       /* m: how far above the plane it begins */
    int taken;        /* friction_iterations */
    const char *mesh; /* an obstacle in place of the plane; NULL: a plane */
} Slope;

typedef struct Slid {
    double way; /* m, down the slope, in one second */
    int64_t iterations;
    double remainder; /* J: of the ledger, over what friction took */
} Slid;

/* x points down the slope: gravity is turned in place of the plane. */
static inline Slid slide(const Slope *s)
{
    double theta = atan(SLOPE_TAN);
    BrioSim *sim =
        parse("time: {h: %.17g}\ngravity: [%.17g, %.17g, 0]\nintegrator: %s\ncontact: {type: ipc, "
              "dhat: 1e-3, kappa: 1e5, mu: %g, friction_iterations: %d}\nobstacles: [%s]\n"
              "bodies:\n  - {name: block, %s, transform: {translate: [0, %.17g, 0]}}\n",
              1.0 / s->steps, SLOPE_G * sin(theta), -SLOPE_G * cos(theta), s->integrator, s->mu,
              s->taken, s->mesh ? s->mesh : "{type: plane, normal: [0, 1, 0]}", s->kind->body,
              s->kind->half + s->gap);
    BrioLedger first = ledger(sim);
    step(sim, s->steps);
    BrioLedger last = ledger(sim);
    Slid slid = {.way = last.centre[0] - first.centre[0],
                 .iterations = sim->stepper->solver->totals.iterations,
                 .remainder = last.remainder};
    brio_sim_free(sim);
    return slid;
}

/* a t^2/2 after a second. */
static inline double slope_expected(double mu)
{
    double theta = atan(SLOPE_TAN);
    return fmax(0, SLOPE_G * (sin(theta) - mu * cos(theta)) / 2);
}

#endif
