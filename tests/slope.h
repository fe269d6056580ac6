/* A block on a slope of tan theta = 0.5, for one second from rest. Coulomb's law: below that
 * coefficient it slides by a t^2/2 with a = g (sin theta - mu cos theta), from there on it rests.
 * Include after simulate.h. */
#ifndef BRIO_TEST_SLOPE_H
#define BRIO_TEST_SLOPE_H

#include <math.h>

#define SLOPE_G 9.8
#define SLOPE_TAN 0.5

/* Half the height of each kind of body, lying; the mass of all but the shell is 4 kg. */
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
enum { SLOPE_KINDS = 3, SLOPE_INTEGRATORS = 3 };

typedef struct Slope {
    const SlopeKind *kind;
    const char *integrator;
    int steps; /* in a second */
    double mu;
    double gap; /* m: how far above the plane it begins; 0: where the plane carries it */
    int taken;  /* friction_iterations */
} Slope;

typedef struct Slid {
    double way; /* m, down the slope, in one second */
    int64_t iterations;
    double remainder; /* J, of the ledger */
} Slid;

/* x points down the slope: gravity is turned instead of the plane. */
static inline BrioSim *slope_block(const Slope *s, const char *integrator, double h, double mu)
{
    double theta = atan(SLOPE_TAN);
    return parse(
        "time: {h: %.17g}\ngravity: [%.17g, %.17g, 0]\nintegrator: %s\ncontact: {type: ipc, dhat: "
        "1e-3, kappa: 1e5, mu: %g, friction_iterations: %d}\nobstacles: [{type: plane, normal: [0, "
        "1, 0]}]\nbodies:\n  - {name: block, %s, transform: {translate: [0, %.17g, 0]}}\n",
        h, SLOPE_G * sin(theta), -SLOPE_G * cos(theta), integrator, mu, s->taken, s->kind->body,
        s->kind->half + (s->gap > 0 ? s->gap : 0.9e-3));
}

/* Puts it where it rests if friction holds it: a block that is let go elsewhere rocks and bounces,
 * and with methods that keep energy it never stops. */
static inline void slope_rest(const Slope *s, BrioSim *sim)
{
    static double x[3 * 64], v[3 * 64];
    BrioSim *resting = slope_block(s, "backward-euler", 0.01, 10);
    step(resting, 100);
    brio_sim_positions(resting, 0, x);
    assert_int_equal(brio_sim_set_positions(sim, 0, x, NULL), BRIO_OK);
    assert_int_equal(brio_sim_set_velocities(sim, 0, v, NULL), BRIO_OK);
    brio_sim_free(resting);
}

static inline Slid slide(const Slope *s)
{
    BrioSim *sim = slope_block(s, s->integrator, 1.0 / s->steps, s->mu);
    if (s->gap == 0) slope_rest(s, sim);
    BrioLedger first = ledger(sim);
    step(sim, s->steps);
    BrioLedger last = ledger(sim);
    Slid slid = {.way = last.centre[0] - first.centre[0],
                 .iterations = sim->stepper->solver->totals.iterations,
                 .remainder = last.remainder - first.remainder};
    brio_sim_free(sim);
    return slid;
}

/* a t^2/2 after a second. */
static inline double slope_expected(double mu)
{
    double theta = atan(SLOPE_TAN);
    return fmax(0, SLOPE_G * (sin(theta) - mu * cos(theta)) / 2);
}

/* TOLERANCES. Below the angle: 2 % of the way, what the integrator adds (backward Euler takes the
 * speed of the end of a step, which makes a h t/2 more; the others may be as far off) and 1 mm:
 * below epsv = 1 mm/s friction holds less. Above the angle: 2 mm, of which 1 mm is creep. At the
 * angle nothing decides which of the two it is. */
static inline bool slope_is_right(const Slope *s, double way)
{
    double expected = slope_expected(s->mu), tolerance = 0.02 * expected + 1e-3;
    if (s->mu == SLOPE_TAN) return true;
    if (s->mu > SLOPE_TAN) return fabs(way) < 2e-3;
    double more = expected / s->steps;
    return way > expected - tolerance && way < expected + more + tolerance;
}

static inline void slope_head(int count, const double *mu)
{
    print_message("%-7s %-15s %6s  way in mm with mu =", "body", "integrator", "h");
    for (int k = 0; k < count; k++) print_message("%8.2f", mu[k]);
    print_message("\n%31s right:            ", "");
    for (int k = 0; k < count; k++) print_message("%8.1f", 1e3 * slope_expected(mu[k]));
    print_message("\n");
}

/* Prints a row and returns how many of it are wrong. */
static inline int slope_row(Slope s, int count, const double *mu)
{
    int wrong = 0;
    int64_t iterations = 0;
    print_message("%-7s %-15s 1/%-4d %20s", s.kind->name, s.integrator, s.steps, "");
    for (int k = 0; k < count; k++) {
        s.mu = mu[k];
        Slid slid = slide(&s);
        bool right = slope_is_right(&s, slid.way);
        wrong += !right;
        iterations += slid.iterations;
        print_message("%7.1f%c", 1e3 * slid.way, right ? ' ' : '*');
    }
    print_message("  %.1f iterations per step\n", (double)iterations / count / s.steps);
    return wrong;
}

#endif
