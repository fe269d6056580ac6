/* Reproductions of [Shinya2004]: stability regions of explicit and implicit methods, and what
 * methods cost over the number of particles, the stiffness and the step. */
#include "reproduce.h"

#include "internal.h"

#include <complex.h>
#include <string.h>
#include <time.h>

/* ---- regions ---------------------------------------------------------------------------- */

enum { COLUMNS = 90, ROWS = 101 }; /* so that no point lies on the lines of Eq. 22 and 23 */
static const double width = 4.5, height = 10; /* X = h d, Y = h^2 k */

/* Stability from the polynomial 1 + z + z^2/2 + ... of the method at both eigenvalues z of
 * h [[0, 1], [-k, -d]]. */
static bool stable_polynomial(double X, double Y, int degree)
{
    double complex root = csqrt(X * X - 4 * Y);
    for (int sign = -1; sign <= 1; sign += 2) {
        double complex z = (-X + sign * root) / 2, sum = 1, term = 1;
        for (int j = 1; j <= degree; j++) sum += term *= z / j;
        if (cabs(sum) > 1) return false;
    }
    return true;
}

/* Eq. 22-24. */
static bool stable_euler(double X, double Y) { return Y < X && Y > 2 * X - 4 && Y > 0; }

/* Largest difference of RK4's measured trace and determinant from those of 1 + P +- Q sqrt(D) (App.
 * A.2). */
static double appendix_polynomials(BrioOscillator *o)
{
    double worst = 0;
    for (int i = 0; i < 400; i++) {
        double X = width * (i % 20 + 0.5) / 20, Y = height * (i / 20 + 0.5) / 20, D = X * X - 4 * Y;
        double P = -X / 2 + X * X / 4 - X * X * X / 12 + X * X * X * X / 48 - Y / 2 + X * Y / 4 -
                   X * X * Y / 12 + Y * Y / 24;
        double Q = -0.5 + X / 4 - X * X / 12 + X * X * X / 48 + Y / 12 - X * Y / 24;
        BrioAmplification a;
        if (brio__oscillator_measure(o, Y, X, 1, &a, NULL) != BRIO_OK) return INFINITY;
        worst = brio__larger(worst, brio__larger(fabs(a.trace - 2 * (1 + P)),
                                                 fabs(a.det - (1 + P) * (1 + P) + Q * Q * D)) /
                                        (1 + a.radius * a.radius));
    }
    return worst;
}

enum { REGION_EXPLICIT, REGION_RK2, REGION_RK4, REGION_IMPLICIT }; /* of the regions */

static void judge_euler(Report *r, BrioOscillator *o)
{
    double X, Y = brio__oscillator_peak(o, 16, &X);
    report_value(r, 4, Y, 1e-4, "explicit Euler: highest Y (Eq. 25)");
    report_value(r, 4, X, 1e-3, "explicit Euler: X there (Eq. 26)");
}

static void judge_rk4(Report *r, BrioOscillator *o)
{
    double X, Y = brio__oscillator_peak(o, 16, &X);
    report_value(r, 8.75, brio__oscillator_highest(o, 0.725, 16), 0.01,
                 "RK4: highest Y at the paper's X = 0.725 (Eq. 33)");
    report_erratum(r, 8.75, Y, 0.005,
                   "RK4: highest Y of all, which the paper takes for its point's");
    report_bound(r, Y, 8.7622, 8.7624, "RK4: the highest Y");
    report_erratum(r, 0.725, X, 0.005, "RK4: X of the highest Y");
    report_bound(r, X, 0.82, 0.83, "RK4: X there");
    report_value(r, 1.48, sqrt(Y) / 2, 0.005,
                 "RK4: steps longer than explicit Euler's by (Sec. 3.3)");
    report_number(r, NAN, brio__oscillator_limit(o),
                  "RK4: h sqrt(k) without damping (not in the paper; 2 sqrt 2)");
    report_bound(r, appendix_polynomials(o), -INFINITY, 5e-14,
                 "RK4: eigenvalues unlike 1 + P +- Q sqrt D (App. A.2)");
}

/* ---- figure 3: the whole plane ----------------------------------------------------------- */

enum { PLANE = 121 };
static const double extent = 6; /* of X and Y, both ways */

/* Implicit Euler with h = m = 1 is A = [[1 + X, 1], [-Y, 1]]/(1 + X + Y). Both eigenvalues inside
 * the unit circle? */
static bool stable_implicit(double X, double Y)
{
    double D = 1 + X + Y, trace = (2 + X) / D;
    double complex root = csqrt(trace * trace - 4 / D);
    return cabs(trace + root) < 2 && cabs(trace - root) < 2;
}

/* The same by hand from |det| < 1 and |trace| < 1 + det, with det = 1/D: for D > 0 they are D > 1
 * and |2 + X| < D + 1, for D < 0 D < -1 and |2 + X| < -1 - D, where the first follows. */
static bool stable_by_hand(double X, double Y)
{
    double D = 1 + X + Y;
    double turn = -4 - 2 * X;
    return D > 0 ? Y > 0 && Y > -X && Y > turn : Y < 0 && Y < turn;
}

static void whole_plane(Report *r, BrioOscillator *o)
{
    static uint8_t inside[PLANE * PLANE];
    double off = 0;
    int wrong = 0, quadrant = 0, calmed = 0;
    for (int i = 0; i < 400; i++) {
        double X = 0.3 * (i % 20), Y = 0.3 * (i / 20 + 1), D = 1 + X + Y;
        const double A[4] = {(1 + X) / D, 1 / D, -Y / D, 1 / D};
        BrioAmplification a;
        if (brio__oscillator_measure(o, Y, X, 1, &a, NULL) != BRIO_OK) off = INFINITY;
        for (int k = 0; k < 4 && isfinite(off); k++)
            off = brio__larger(off, fabs(a.matrix[k] - A[k]));
    }
    for (int i = 0; i < PLANE * PLANE; i++) {
        double X = extent * (2.0 * (i % PLANE) / (PLANE - 1) - 1) + 1e-3; /* on no line */
        double Y = extent * (2.0 * (i / PLANE) / (PLANE - 1) - 1) + 2e-3;
        inside[i] = stable_implicit(X, Y);
        wrong += inside[i] != stable_by_hand(X, Y);
        quadrant += X > 0 && Y > 0 && !inside[i];
        calmed += X < 0 && Y < 0 && inside[i];
    }
    report_section(r, "figure 3: implicit Euler on the whole plane, |X| and |Y| up to %g", extent);
    report_bound(r, off, 0, 1e-14, "the engine's matrix less [[1 + X, 1], [-Y, 1]]/(1 + X + Y)");
    report_value(r, 0, quadrant, 0, "X, Y > 0: points that are not stable (theorem of Sec. 3.4)");
    report_bound(r, calmed, 1, PLANE * PLANE / 4 - 1,
                 "X, Y < 0, unstable by nature: points that it calms (\"over-stability\")");
    report_value(r, 0, wrong, 0,
                 "points unlike Y > max(0, -X, -4 - 2 X), Y < min(0, -4 - 2 X) (our derivation)");
    FILE *file = report_file(r, "shinya2004-fig3.svg");
    if (!file) return;
    BrioPlotRegion region = {.name = "stable",
                             .nx = PLANE,
                             .ny = PLANE,
                             .low = {-extent, -extent},
                             .high = {extent, extent},
                             .inside = inside,
                             .colour = 2};
    BrioPlot plot = {.title = "Implicit Euler",
                     .x = {.label = "X = h d", .fixed = true, .low = -extent, .high = extent},
                     .y = {.label = "Y = h^2 k", .fixed = true, .low = -extent, .high = extent},
                     .region_count = 1,
                     .region = &region};
    brio__plot_write(file, &plot, 1, 1);
    report_close(r, file);
}

static void regions(Report *r)
{
    static const struct {
        const char *integrator, *title;
    } methods[] = {{"forward-euler", "Explicit Euler"},
                   {"rk2", "Runge-Kutta 2 (midpoint)"},
                   {"rk4", "Runge-Kutta 4"},
                   {"backward-euler", "Implicit Euler"}};
    static uint8_t inside[4][ROWS * COLUMNS];
    BrioPlotRegion region[4];
    BrioPlot plot[4];
    report_section(r, "regions of stability on a grid of %d x %d in X = h d < %g, Y = h^2 k < %g",
                   COLUMNS, ROWS, width, height);
    for (int m = 0; m < 4; m++) {
        BrioSimDef def = brio_default_sim(methods[m].integrator);
        BrioOscillator *o = NULL;
        BrioError error = {0};
        if (brio__oscillator_create(&def, 1, &o, &error) != BRIO_OK) {
            report_fact(r, false, "%s", error.message);
            return;
        }
        int wrong = 0;
        for (int i = 0; i < ROWS * COLUMNS; i++) {
            double X = width * (i % COLUMNS + 0.5) / COLUMNS;
            double Y = height * (i / COLUMNS + 0.5) / ROWS;
            bool known = m == REGION_EXPLICIT   ? stable_euler(X, Y)
                         : m == REGION_IMPLICIT ? true
                                                : stable_polynomial(X, Y, m == REGION_RK2 ? 2 : 4);
            inside[m][i] = brio__oscillator_is_stable(o, X, Y);
            wrong += inside[m][i] != known;
            if (i % 256 == 0)
                report_progress(r, (m + (double)i / (ROWS * COLUMNS)) / 4, "%s", methods[m].title);
        }
        report_value(r, 0, wrong, 0, "%s: points unlike %s", methods[m].title,
                     m == REGION_EXPLICIT   ? "Eq. 22-24"
                     : m == REGION_IMPLICIT ? "the theorem of Sec. 3.4"
                                            : "the method's polynomial");
        if (m == REGION_EXPLICIT) judge_euler(r, o);
        if (m == REGION_RK4) judge_rk4(r, o);
        if (m == REGION_IMPLICIT) whole_plane(r, o);
        brio__oscillator_free(o);
        region[m] = (BrioPlotRegion){.name = "stable",
                                     .nx = COLUMNS,
                                     .ny = ROWS,
                                     .high = {width, height},
                                     .inside = inside[m],
                                     .colour = 2};
        plot[m] = (BrioPlot){.title = methods[m].title,
                             .x = {.label = "X = h d", .fixed = true, .high = width},
                             .y = {.label = "Y = h^2 k", .fixed = true, .high = height},
                             .region_count = 1,
                             .region = &region[m]};
    }
    FILE *file = report_file(r, "shinya2004-regions.svg");
    if (file) brio__plot_write(file, plot, 4, 2);
    report_close(r, file);
    report_note(r, "Springs of negative stiffness do not exist here: outside X, Y > 0 the plane of "
                   "figure 3 is that of the engine's matrix as a function of X and Y.");
}

REPRODUCTION(shinya2004_regions){
    .name = "shinya2004-regions",
    .paper = "Shinya2004",
    .summary = "regions of stability of explicit and implicit methods (figures 1-3)",
    .about = "Each point is the matrix of the engine's own integrator on an oscillator, compared "
             "with Eq. "
             "22-24 and the Runge-Kutta polynomials. The paper's Y = 8.75 at "
             "X = 0.725 for RK4 is a point of the boundary, its highest one is elsewhere.",
    .minutes = 0.1,
    .run = regions,
};

/* ---- costs ------------------------------------------------------------------------------ */

enum { IMPLICIT, EULER, LINEARISED, RK4, METHODS, POINTS = 5 };
static const char *const method_name[METHODS] = {"implicit Euler, PCG", "explicit Euler",
                                                 "linearised explicit", "RK4"};
/* s, the paper's; 1/s, its example of a terminal velocity of 1 m/s */
static const double long_step = 0.01, air = 10;

typedef struct Cost {
    /* processor time of a simulated second on one thread, the minimum of several runs */
    double seconds;
    double work;   /* iterations of PCG, or explicit steps, of a simulated second */
    double height; /* of the centre of mass at the end */
    bool failed;
} Cost;

/* The paper measures processor time too; it does not count what else the machine does. */
static double processor_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* The paper's implicit method solves one linear system per step. */
static const char *implicit_method(void)
{
    return brio_integrator("linearly-implicit-euler") ? "linearly-implicit-euler"
                                                      : "backward-euler";
}

/* A cloth of springs of stiffness k, or of Baraff's potentials: k along warp and weft, a quarter of
 * it against shear, and bending that keeps its share. Both weigh 0.4 kg/m2. */
typedef struct Cloth {
    bool potentials;
    int cells;
    double k;
} Cloth;

static BrioSim *draped(Report *r, Cloth cloth, double h, const char *integrator, double beta)
{
    char damping[160] = "", material[160];
    if (cloth.potentials)
        snprintf(
            material, sizeof material,
            "{type: baraff-witkin, k_stretch: %.17g, k_shear: %.17g, k_bend: %.17g, areal: 0.4}",
            cloth.k, cloth.k / 4, 1e-6 * cloth.k);
    else
        snprintf(material, sizeof material, "{type: hooke, k: %.17g, vertex_mass: 0.001}", cloth.k);
    if (beta >= 0)
        snprintf(damping, sizeof damping,
                 "damping: [{type: rayleigh, alpha: %.17g, beta: %.17g}]\n", air, beta);
    return report_scene(r,
                        "time: {h: %.17g, end: 10}\ngravity: [0, -9.8, 0]\nintegrator: %s\nsolver: "
                        "{linear: pcg, tol: 0.01, linear_tol: 1e-3, max_halvings: 0}\n%sbodies:\n"
                        "  - name: cloth\n    shape: {type: grid, width: %.17g, depth: %.17g, "
                        "cells_x: %d, cells_z: %d}\n    material: %s\n"
                        "    fix: [{vertices: [0, %d]}]\n",
                        h, integrator, damping, 0.05 * cloth.cells, 0.05 * cloth.cells, cloth.cells,
                        cloth.cells, material, cloth.cells);
}

/* k0 of such a cloth; NAN, reported, if it cannot be had. */
static double stiffest(Report *r, Cloth cloth)
{
    BrioStiffness *stiffness = NULL;
    BrioSim *sim = draped(r, cloth, long_step, "backward-euler", -1);
    double k0 = NAN;
    int64_t iterations;
    if (sim && brio__stiffness_create(sim->system, &stiffness) == BRIO_OK) {
        brio__system_positions(sim->system, sim->state, sim->state->q, 0, sim->world);
        if (brio__stiffness_at(stiffness, sim->state, sim->world) == BRIO_OK)
            brio__stiffness_largest(stiffness, 0.005, 2000, &k0, &iterations);
    }
    brio__stiffness_free(stiffness);
    brio_sim_free(sim);
    return k0;
}

static Cost run_once(Report *r, Cloth cloth, double h, const char *integrator, double beta,
                     double duration)
{
    Cost cost = {.seconds = INFINITY};
    BrioSim *sim = draped(r, cloth, h, integrator, beta);
    if (!sim) return (Cost){.failed = true};
    int64_t steps = (int64_t)ceil(duration / h);
    BrioLedger ledger = {0};
    /* the first one also prepares everything */
    if (brio_sim_step(sim, NULL) != BRIO_OK) cost.failed = true;
    double before = processor_seconds();
    for (int64_t n = 1; n < steps && !cost.failed; n++) {
        cost.failed = brio_sim_step(sim, NULL) != BRIO_OK;
        cost.work += sim->stepper->iterations;
    }
    cost.seconds = (processor_seconds() - before) / ((double)(steps - 1) * h);
    BrioLinearStats stats = {0};
    bool explicit = !(sim->stepper->traits & BRIO_IMPLICIT);
    if (!explicit) brio__linear_stats(sim->stepper->solver->linear, &stats);
    if (!explicit) cost.work = (double)stats.iterations;
    if (explicit && cost.work == 0) cost.work = (double)steps;
    cost.work /= (double)steps * h;
    cost.failed |= brio_sim_ledger(sim, &ledger) != BRIO_OK || !(ledger.kinetic < 100);
    cost.height = ledger.centre[1];
    brio_sim_free(sim);
    return cost;
}

/* The largest stable step of an explicit method, by bisection to 1 %, with the damping of Eq. 30
 * for each step that is tried. Stable: 0.1 s from small random velocities stay calm. */
static double largest_step(Report *r, int method, Cloth cloth, double k0)
{
    double X = method == RK4 ? 0.725 : 4, Y = method == RK4 ? 8.75 : 4;
    double low = 0.25 * sqrt(Y / k0), high = 16 * low;
    while (high > 1.01 * low) {
        double h = sqrt(low * high), beta = h * (X - air * h) / Y;
        BrioSim *sim = draped(r, cloth, h, method == RK4 ? "rk4" : "forward-euler", fmax(beta, 0));
        if (!sim) return NAN;
        bool calm = true;
        int64_t n = 3 * brio_body_vertices(brio_sim_system(sim), 0);
        double *v = brio__alloc((size_t)n, sizeof *v);
        if (!v) abort();
        for (int64_t i = 0; i < n; i++)
            v[i] = 1e-3 * (fmod(0.6180339887498949 * (double)i, 1) - 0.5);
        brio_sim_set_velocities(sim, 0, v, NULL);
        brio__free(v);
        for (int64_t k = 0; k < (int64_t)ceil(0.1 / h) && calm; k++)
            calm = brio_sim_step(sim, NULL) == BRIO_OK;
        BrioLedger ledger;
        calm = calm && brio_sim_ledger(sim, &ledger) == BRIO_OK && ledger.kinetic < 100;
        brio_sim_free(sim);
        *(calm ? &low : &high) = h;
    }
    return low;
}

/* Eq. 27, 31 and 33 with the safety of Sec. 5.3. */
static Cost run_method(Report *r, int method, Cloth cloth, double k0, double h, double duration,
                       int repeats)
{
    double step = sqrt((method == RK4 ? 8.75 : 4) / (1.5 * k0));
    double X = method == RK4 ? 0.725 : 4;
    double Y = method == RK4 ? 8.75 : 4;
    double beta = step * (X - air * step) / Y;
    Cost best = {.seconds = INFINITY};
    for (int n = 0; n < repeats; n++) {
        Cost one =
            method == IMPLICIT ? run_once(r, cloth, h, implicit_method(), 0, duration)
            : method == LINEARISED
                ? run_once(r, cloth, h, "{type: linearized-explicit, form: forward}", beta,
                           duration)
                : run_once(r, cloth, step, method == RK4 ? "rk4" : "forward-euler", beta, duration);
        if (one.failed) return one;
        if (one.seconds < best.seconds) best = one;
    }
    return best;
}

/* The slope of log y over log x by least squares. */
static double exponent(int count, const double *x, const double *y)
{
    double sx = 0, sy = 0, xx = 0, xy = 0;
    for (int i = 0; i < count; i++) sx += log(x[i]) / count, sy += log(y[i]) / count;
    for (int i = 0; i < count; i++)
        xx += pow(log(x[i]) - sx, 2), xy += (log(x[i]) - sx) * (log(y[i]) - sy);
    return xy / xx;
}

typedef struct Curve {
    double x[POINTS], seconds[METHODS][POINTS], work[METHODS][POINTS], fall[METHODS][POINTS];
    bool failed[METHODS];
} Curve;

static BrioPlot plot_of(const Curve *c, const char *title, const char *label,
                        BrioPlotSeries *series)
{
    for (int m = 0; m < METHODS; m++)
        series[m] = (BrioPlotSeries){.name = method_name[m],
                                     .mark = BRIO_PLOT_LINE_AND_POINTS,
                                     .count = POINTS,
                                     .x = c->x,
                                     .y = c->seconds[m]};
    return (BrioPlot){.title = title,
                      .x = {.label = label, .log = true},
                      .y = {.label = "processor time of a second, s", .log = true},
                      .series_count = METHODS,
                      .series = series};
}

static void measure_point(Report *r, Curve *c, int at, Cloth cloth, double k0, double fraction)
{
    for (int m = 0; m < METHODS; m++) {
        report_progress(r, fraction, "%d x %d cells, %s", cloth.cells, cloth.cells, method_name[m]);
        Cost cost = run_method(r, m, cloth, k0, long_step, 0.1, 3);
        c->failed[m] |= cost.failed;
        c->seconds[m][at] = cost.seconds;
        c->work[m][at] = cost.work;
        c->fall[m][at] = -cost.height;
    }
}

static void report_curve(Report *r, const Curve *c, const char *over, bool stiffness,
                         double laws[METHODS])
{
    for (int m = 0; m < METHODS; m++) {
        if (c->failed[m]) {
            report_fact(r, false, "%s: every run stays calm", method_name[m]);
            continue;
        }
        double time = exponent(POINTS, c->x, c->seconds[m]);
        double work = exponent(POINTS, c->x, c->work[m]);
        laws[m] = stiffness ? work : time;
        report_bound(r, time, 0.75, 1.25, "%s: exponent of the time over %s (the paper: 1)",
                     method_name[m], over);
        if (stiffness && m == IMPLICIT)
            report_bound(r, work, 0.8, 1.1, "%s: exponent of its PCG iterations (Eq. 36: 1)",
                         method_name[m]);
        else if (stiffness)
            report_number(r, 1, work, "%s: exponent of its steps, which Eq. 27 sets",
                          method_name[m]);
    }
}

/* Where the linearised method pays: its inner step is a product with K, an explicit step a
 * force. */
static void honest_comparison(Report *r, Cloth cloth, double k0)
{
    double h = 2 / sqrt(1.5 * k0), best[3] = {INFINITY, INFINITY, INFINITY};
    for (int n = 0; n < 3; n++) {
        best[0] = fmin(best[0], run_once(r, cloth, h, "symplectic-euler", -1, 0.2).seconds);
        best[1] =
            fmin(best[1], run_once(r, cloth, long_step, "linearized-explicit", -1, 0.2).seconds);
        best[2] = fmin(best[2], run_once(r, cloth, h, "symplectic-euler", 1e-5, 0.2).seconds);
    }
    report_section(
        r, "without damping: a product with K against a force of this cloth (%d x %d cells)",
        cloth.cells, cloth.cells);
    report_number(r, NAN, best[0], "symplectic Euler: processor time of a second, s");
    report_number(r, NAN, best[1], "linearised explicit, velocities first: the same");
    report_number(r, NAN, best[1] / best[0], "linearised explicit over symplectic Euler");
    report_number(r, NAN, best[2] / best[0], "symplectic Euler with Rayleigh damping over without");
    report_note(r,
                "A product with K reads nine numbers for each pair of vertices; an explicit step "
                "computes the force of each element and the energy once more to "
                "see that its end is allowed. %s Rayleigh damping needs K in every step and makes "
                "linearising pay all the more.",
                best[1] < best[0] ? "That is why linearising pays here."
                                  : "Here linearising saves nothing by itself.");
}

/* The exponents that figures 5 to 7 are about. */
typedef struct Laws {
    double over_n[METHODS], over_k[METHODS]; /* of the time; of steps or iterations */
    double over_h[2];                        /* implicit Euler: iterations, time */
} Laws;

/* Figure 6: implicit Euler compared with linearised explicit, and whether all compute the same. */
static void judge_costs(Report *r, const Curve *over_k)
{
    if (!over_k->failed[LINEARISED] && !over_k->failed[IMPLICIT]) {
        for (int i = 0; i < POINTS; i += 2)
            report_number(r, 2, over_k->seconds[IMPLICIT][i] / over_k->seconds[LINEARISED][i],
                          "implicit over linearised explicit, time, sqrt(k0) = %.0f", over_k->x[i]);
        report_fact(r, over_k->seconds[IMPLICIT][2] > over_k->seconds[LINEARISED][2],
                    "linearised explicit is faster than implicit Euler (in the middle)");
        report_note(r,
                    "An iteration of PCG costs one product with a matrix, an inner step two: with "
                    "K and, for the Rayleigh damping that it cannot do without, with the K of the "
                    "damping. At sqrt(k0) = %.0f a simulated second takes %.0f inner steps or %.0f "
                    "iterations.",
                    over_k->x[2], over_k->work[LINEARISED][2], over_k->work[IMPLICIT][2]);
    }
    if (!over_k->failed[LINEARISED] && !over_k->failed[EULER])
        report_bound(r,
                     over_k->seconds[EULER][POINTS - 1] / over_k->seconds[LINEARISED][POINTS - 1],
                     1, INFINITY, "explicit Euler over linearised explicit, time");
    double apart = 0;
    for (int m = 0; m < METHODS; m++)
        apart = brio__larger(apart, fabs(over_k->fall[m][2] - over_k->fall[EULER][2]));
    report_bound(r, apart, 0, 0.02, "centres of mass after 0.1 s, apart by at most, m");
}

/* Figure 7: how iterations and time grow with 1/h. */
static void over_step(Report *r, bool potentials, const char *what, double power[2])
{
    report_section(r, "figure 7, %s: implicit Euler over the step", what);
    double step[4], iterations[4], seconds[4];
    for (int i = 0; i < 4; i++) {
        step[i] = 0.02 / (1 << i);
        Cost cost = run_method(r, IMPLICIT, (Cloth){potentials, 16, 6400}, 1, step[i], 0.2, 3);
        iterations[i] = cost.work;
        seconds[i] = cost.seconds;
        report_number(r, NAN, cost.work, "PCG iterations of a second at h = %g s (in %.3g s)",
                      step[i], cost.seconds);
    }
    power[0] = -exponent(4, step, iterations);
    power[1] = -exponent(4, step, seconds);
    report_bound(r, power[0], -0.2, 0.5,
                 "iterations grow with 1/h to the power (paper: very mild)");
    report_bound(r, power[1], -0.2, 1, "time grows with 1/h to the power (paper: less than 1)");
}

/* Eq. 36 takes 1 for the smallest eigenvalue of H = 1 + h^2 K'. Where a stretch spreads over the
 * whole cloth in a step, the smallest of the stiff directions is about h^2 k0 over the square of
 * the number of cells, and the iterations grow no more. */
static void sizes_of_cloth(Report *r, bool potentials, const char *what)
{
    static const int sizes[] = {8, 16, 32, 64};
    double power[BRIO_COUNT(sizes)];
    report_section(r, "Eq. 36, %s: PCG's iterations over sqrt(k0) by the size of the cloth", what);
    for (size_t s = 0; s < BRIO_COUNT(sizes); s++) {
        double root[POINTS], steps[POINTS];
        char text[128] = "";
        int used = 0;
        for (int i = 0; i < POINTS; i++) {
            Cloth cloth = {potentials, sizes[s], 100 * pow(4, i)};
            report_progress(r, (double)i / POINTS, "%d cells, %s", sizes[s], what);
            root[i] = sqrt(stiffest(r, cloth));
            steps[i] = long_step * run_once(r, cloth, long_step, implicit_method(), 0, 0.1).work;
            used += snprintf(text + used, sizeof text - (size_t)used, " %.0f", steps[i]);
        }
        power[s] = exponent(POINTS, root, steps);
        report_number(r, 1, power[s], "%d x %d cells: exponent (iterations per step:%s)", sizes[s],
                      sizes[s], text);
    }
    report_bound(r, power[BRIO_COUNT(sizes) - 1] - power[0], 0.3, INFINITY,
                 "the exponent grows with the cloth, by");
}

/* Eq. 27 and 33 against the largest stable step that bisection finds. */
static void stable_steps(Report *r, bool potentials, const char *what)
{
    static const int methods[2] = {EULER, RK4};
    report_section(r, "Eq. 27 and 33, %s: largest stable step by bisection, over the formula's",
                   what);
    for (int k = 0; k < 2; k++) {
        double root[POINTS], step[POINTS], Y = methods[k] == RK4 ? 8.75 : 4;
        for (int i = 0; i < POINTS; i++) {
            Cloth cloth = {potentials, 12, 100 * pow(4, i)};
            double k0 = stiffest(r, cloth);
            report_progress(r, (double)i / POINTS, "bisection, %s", method_name[methods[k]]);
            root[i] = sqrt(k0);
            step[i] = largest_step(r, methods[k], cloth, k0);
            report_bound(r, step[i] * root[i] / sqrt(Y), 0.9, 1.3, "%s at sqrt(k0) = %.0f",
                         method_name[methods[k]], root[i]);
        }
        report_bound(r, exponent(POINTS, root, step), -1.1, -0.9,
                     "%s: exponent of that step over sqrt(k0)", method_name[methods[k]]);
    }
}

static Laws figures(Report *r, bool potentials, const char *drawing)
{
    Curve over_n = {0}, over_k = {0};
    Laws laws = {0};
    static const int sizes[POINTS] = {12, 16, 24, 32, 48};
    const char *what = potentials ? "potentials" : "springs";
    int threads = brio_threads();
    brio_set_threads(1);
    report_note(r, "The implicit method here is %s.", implicit_method());
    report_section(r, "figure 5, %s: over the number of particles, k0 about the same", what);
    for (int i = 0; i < POINTS; i++) {
        Cloth cloth = {potentials, sizes[i], 400};
        double k0 = stiffest(r, cloth);
        over_n.x[i] = (sizes[i] + 1) * (sizes[i] + 1);
        measure_point(r, &over_n, i, cloth, k0, 0.4 * i / POINTS);
    }
    report_curve(r, &over_n, "n", false, laws.over_n);
    report_section(r, "figure 6, %s: over sqrt(k0), 16 x 16 cells", what);
    for (int i = 0; i < POINTS; i++) {
        Cloth cloth = {potentials, 16, 100 * pow(4, i)};
        double k0 = stiffest(r, cloth);
        over_k.x[i] = sqrt(k0);
        measure_point(r, &over_k, i, cloth, k0, 0.4 + 0.4 * i / POINTS);
    }
    report_curve(r, &over_k, "sqrt(k0)", true, laws.over_k);
    judge_costs(r, &over_k);
    sizes_of_cloth(r, potentials, what);
    stable_steps(r, potentials, what);
    over_step(r, potentials, what, laws.over_h);
    Cloth large = {potentials, 32, 1600};
    honest_comparison(r, large, stiffest(r, large));

    static BrioPlotSeries series[2][METHODS];
    BrioPlot plots[2] = {plot_of(&over_n, "Figure 5", "particles", series[0]),
                         plot_of(&over_k, "Figure 6", "sqrt(k0), 1/s", series[1])};
    FILE *file = report_file(r, drawing);
    if (file && brio__plot_write(file, plots, 2, 1) != BRIO_OK)
        report_fact(r, false, "figures 5 and 6 are drawn in %s", drawing);
    report_close(r, file);
    brio_set_threads(threads);
    return laws;
}

static void costs(Report *r) { figures(r, false, "shinya2004-costs.svg"); }

static void cloth_costs(Report *r)
{
    Laws springs = figures(r, false, "shinya2004-springs.svg"),
         potentials = figures(r, true, "shinya2004-cloth.svg");
    report_section(r, "exponents of both: ours of the potentials, in brackets of springs");
    for (int m = 0; m < METHODS; m++) {
        report_number(r, 1, potentials.over_n[m], "%s: time over n (%.2f)", method_name[m],
                      springs.over_n[m]);
        report_number(r, 1, potentials.over_k[m], "%s: %s over sqrt(k0) (%.2f)", method_name[m],
                      m == IMPLICIT ? "PCG iterations" : "steps", springs.over_k[m]);
    }
    report_number(r, NAN, potentials.over_h[0], "implicit Euler: iterations over 1/h (%.2f)",
                  springs.over_h[0]);
    report_number(r, NAN, potentials.over_h[1], "implicit Euler: time over 1/h (%.2f)",
                  springs.over_h[1]);
}

REPRODUCTION(shinya2004_costs){
    .name = "shinya2004-costs",
    .paper = "Shinya2004",
    .summary =
        "time of explicit, linearised and implicit methods over n, sqrt(k0) and h (figures 5-7)",
    .about = "A square cloth of springs (structural, shear, bend; 5 cm cells, 1 g vertices) "
             "instead of Baraff's potentials, held at two corners, falls. Steps and Rayleigh "
             "damping are those of Eq. 27, 31 and 33 with 1.5 k0 and d0 = 10/s; the implicit step "
             "and the interval of linearisation are 0.01 s; PCG stops at a thousandth. "
             "Times are processor times of one thread, the minimum of three. That steps grow as "
             "sqrt(k0) is the formula that sets them, so the largest stable step is looked for by "
             "bisection.",
    .chosen = "the cloth; the bounds of all exponents; 30 % between a formula and the bisection",
    .minutes = 1.5,
    .run = costs,
};

REPRODUCTION(shinya2004_cloth){
    .name = "shinya2004-cloth",
    .paper = "Shinya2004",
    .summary = "figures 5-7 once more on a cloth of Baraff's potentials, compared with springs",
    .about = "As shinya2004-costs, and then with the cloth that the paper has: stretch, shear and "
             "bend potentials [Baraff1998] of 0.4 kg/m2 on the triangles of the same grid. "
             "k_stretch is the springs' k, k_shear a quarter of it, k_bend 1e-6 of it (N m).",
    .chosen = "as shinya2004-costs",
    .minutes = 5,
    .run = cloth_costs,
};
