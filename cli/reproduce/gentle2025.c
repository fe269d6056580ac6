/* Reproductions of [Gentle2025]: the phase plane of an oscillator under Euler's three methods, and
 * the cloth of its first page. */
#include "reproduce.h"

#include "internal.h"

#include <string.h>

/* ---- the phase plane -------------------------------------------------------------------- */

enum { TURN = 63, STEPS = 2 * TURN }; /* of 0.1 with w = 1: about two turns */
static const double step = 0.1, start = 0.4;

typedef struct Path {
    double q[STEPS + 1], v[STEPS + 1];
} Path;

/* A vertex on a spring of length 1 along x: q'' = -q for q = x - 1. */
static bool follow(Report *r, const char *integrator, Path *path)
{
    BrioSim *sim =
        report_scene(r,
                     "time: {h: %.17g, end: 100}\ngravity: [0, 0, 0]\nintegrator: %s\nsolver: "
                     "{tol: 1e-14}\nbodies:\n  - name: block\n"
                     "    shape: {type: line, length: 1, cells: 1}\n    material: {type: hooke, k: "
                     "1, vertex_mass: 1}\n"
                     "    velocity: {linear: [%.17g, 0, 0]}\n    fix: [{vertices: [0]}]\n",
                     step, integrator, start);
    bool fine = sim != NULL;
    for (int n = 0; n <= STEPS && fine; n++) {
        double x[6], v[6];
        brio_sim_positions(sim, 0, x);
        brio_sim_velocities(sim, 0, v);
        path->q[n] = x[3] - 1;
        path->v[n] = v[3];
        fine = n == STEPS || brio_sim_step(sim, NULL) == BRIO_OK;
    }
    brio_sim_free(sim);
    return fine;
}

static double radius(const Path *p, int n) { return hypot(p->q[n], p->v[n]); }

static void draw_paths(Report *r, const Path *path, const Path *circle)
{
    static const char *const titles[] = {"forward Euler", "backward Euler", "symplectic Euler"};
    static BrioPlotSeries series[3][2];
    BrioPlot plot[3];
    for (int m = 0; m < 3; m++) {
        series[m][0] = (BrioPlotSeries){
            .name = "exact", .count = STEPS + 1, .x = circle->q, .y = circle->v, .colour = 3};
        series[m][1] = (BrioPlotSeries){.name = titles[m],
                                        .mark = BRIO_PLOT_LINE_AND_POINTS,
                                        .count = STEPS + 1,
                                        .x = path[m].q,
                                        .y = path[m].v,
                                        .colour = 1};
        plot[m] = (BrioPlot){.title = titles[m],
                             .x = {.label = "q", .fixed = true, .low = -0.8, .high = 0.8},
                             .y = {.label = "v", .fixed = true, .low = -0.8, .high = 0.8},
                             .series_count = 2,
                             .series = series[m]};
    }
    FILE *file = report_file(r, "gentle2025-phase.svg");
    if (file && brio__plot_write(file, plot, 3, 3) != BRIO_OK)
        report_fact(r, false, "the paths are drawn in gentle2025-phase.svg");
    report_close(r, file);
}

static void phase(Report *r)
{
    static const char *const names[] = {"forward-euler", "backward-euler", "symplectic-euler",
                                        "heun", "rk4"};
    enum { METHODS = 5 };
    static Path path[METHODS], circle;
    for (int m = 0; m < METHODS; m++)
        if (!follow(r, names[m], &path[m])) {
            report_fact(r, false, "%s goes through its steps", names[m]);
            return;
        }
    for (int n = 0; n <= STEPS; n++) {
        circle.q[n] = start * sin(n * step);
        circle.v[n] = start * cos(n * step);
    }
    double square = step * step, growth = pow(1 + square, STEPS / 2.0);
    report_section(r,
                   "q'' = -q, steps of %g, %d steps (two turns): distance from the origin of the "
                   "phase plane, as a factor",
                   step, STEPS);
    report_value(r, growth, radius(&path[0], STEPS) / start, 1e-12,
                 "forward Euler spirals out: (1 + h^2)^(n/2)");
    report_value(r, 1 / growth, radius(&path[1], STEPS) / start, 1e-12,
                 "backward Euler spirals in: its inverse");
    bool out = true, in = true;
    double min = INFINITY, max = 0, drift = 0, first = 0;
    for (int n = 0; n <= STEPS; n++) {
        if (n > 0)
            out &= radius(&path[0], n) > radius(&path[0], n - 1),
                in &= radius(&path[1], n) < radius(&path[1], n - 1);
        /* kept exactly by v' = v - h q, q' = q + h v' */
        double q = path[2].q[n], v = path[2].v[n], ellipse = q * q + v * v - step * q * v;
        if (n == 0) first = ellipse;
        drift = brio__larger(drift, fabs(ellipse / first - 1));
        min = fmin(min, radius(&path[2], n) / start);
        max = brio__larger(max, radius(&path[2], n) / start);
    }
    report_fact(r, out, "forward Euler moves out in every step");
    report_fact(r, in, "backward Euler moves in in every step");
    report_bound(r, drift, 0, 1e-13, "symplectic Euler stays on q^2 + v^2 - h q v = const to");
    report_value(r, sqrt((1 + step / 2) / (1 - step / 2)), max / min, 1e-4,
                 "an ellipse with axes of the ratio sqrt((2 + h)/(2 - h))");
    report_value(r, pow(1 + square * square / 4, STEPS / 2.0), radius(&path[3], STEPS) / start,
                 1e-12, "Heun: (1 + h^4/4)^(n/2)");
    report_value(r, pow(1 - pow(step, 6) / 72 + pow(step, 8) / 576, STEPS / 2.0),
                 radius(&path[4], STEPS) / start, 1e-12, "RK4: (1 - h^6/72 + h^8/576)^(n/2)");
    draw_paths(r, path, &circle);
}

REPRODUCTION(gentle2025_phase){
    .name = "gentle2025-phase",
    .paper = "Gentle2025",
    .summary = "Euler's methods in the phase plane: outward, inward, closed",
    .about = "The page draws the paths and gives no numbers; the numbers next to ours are those of "
             "the methods' matrices.",
    .minutes = 0.05,
    .run = phase,
};

/* ---- cloth ------------------------------------------------------------------------------ */

/* The page's cloth: 20 x 15 particles 25 pixels apart, here 2.5 cm, and 0.3 pixels a picture^2 of
 * gravity; the first, the middle and the last of the upper row are held. */
static BrioSim *cloth(Report *r, double h, const char *integrator, double k, const char *damping)
{
    return report_scene(r,
                        "time: {h: %.17g, end: 100}\ngravity: [0, -1.08, 0]\nintegrator: "
                        "%s\nsolver: {tol: 1e-5}\n%sbodies:\n  - name: cloth\n"
                        "    shape: {type: grid, width: 0.475, depth: 0.35, cells_x: 19, cells_z: "
                        "14, shear: false, bend: false}\n"
                        "    transform: {rotate: [[1, 0, 0], 90]}\n    material: {type: hooke, k: "
                        "%g, vertex_mass: 0.001}\n    fix: [{vertices: [%d, %d, %d]}]\n",
                        h, integrator, damping, k, 0, 10, 19);
}

/* The largest stretch of a spring, as a fraction of its length. */
static double largest_strain(const BrioSim *sim)
{
    enum { MAX = 20 * 15 };
    const BrioBody *body = &sim->system->body[0];
    double x[3 * MAX], max = 0;
    brio_sim_positions(sim, 0, x);
    for (int64_t e = 0; e < body->edge_count; e++) {
        const double *a = x + 3 * (int64_t)body->edge[2 * e];
        const double *b = x + 3 * (int64_t)body->edge[2 * e + 1];
        double l = sqrt(pow(b[0] - a[0], 2) + pow(b[1] - a[1], 2) + pow(b[2] - a[2], 2));
        max = brio__larger(max, l / 0.025 - 1);
    }
    return max;
}

static double strain_after(Report *r, double h, const char *integrator, double k,
                           const char *damping)
{
    const double duration = 20;
    BrioSim *sim = cloth(r, h, integrator, k, damping);
    if (!sim) return NAN;
    double strain = report_steps(r, sim, (int64_t)(duration / h + 0.5), INFINITY, integrator)
                        ? largest_strain(sim)
                        : NAN;
    brio_sim_free(sim);
    return strain;
}

static void position_based(Report *r)
{
    report_section(r, "position-based cloth (Verlet and 3 relaxations of stiffness 0.8), hanging "
                      "still: largest stretch of a spring");
    double page = strain_after(r, 1.0 / 60, "pbd-verlet", 1, "");
    double more = strain_after(r, 1.0 / 60, "{type: pbd-verlet, iterations: 30}", 1, "");
    double half = strain_after(r, 1.0 / 120, "pbd-verlet", 1, "");
    double stiff = strain_after(r, 1.0 / 60, "pbd-verlet", 1000, "");
    report_number(r, NAN, page, "as on the page, steps of 1/60 s");
    report_number(r, NAN, more, "with 30 relaxations");
    report_number(r, NAN, half, "with steps of 1/120 s");
    report_bound(r, more / page, 0, 0.5, "30 relaxations over 3: the cloth grows stiffer");
    report_bound(r, half / page, 0, 0.5, "steps of 1/120 s over 1/60 s: stiffer too");
    report_number(r, page, stiff,
                  "a thousandfold stiffness of the material, which it does not read");
    static const char air[] = "damping: [{type: rayleigh, alpha: 2}]\n";
    double springs[2] = {strain_after(r, 1.0 / 60, "backward-euler", 50, air),
                         strain_after(r, 1.0 / 120, "backward-euler", 50, air)};
    report_number(r, NAN, springs[0], "springs of 50 N/m, backward Euler, steps of 1/60 s");
    report_value(r, springs[0], springs[1], 1e-5,
                 "springs of 50 N/m with steps of 1/120 s: the same");
}

REPRODUCTION(gentle2025_position_based){
    .name = "gentle2025-position-based",
    .paper = "Gentle2025",
    .summary = "the position-based cloth of the first page: what its stiffness depends on",
    .about = "The page's program counts in pixels and pictures; here its 25 pixels are 2.5 cm and "
             "60 pictures are a second, so that its gravity of 0.3 is 1.08 m/s2; a particle "
             "weighs a gram. The page gives no numbers.",
    .chosen = "the units; a half for \"stiffer\"; the springs next to it",
    .minutes = 0.2,
    .run = position_based,
};

/* (M - h^2 K) v' = M v + h f with fixed vertices taken out of the unknowns: the page's method for
 * cloth. */
static void linearly_implicit(Report *r)
{
    enum { MAX = 20 * 15 };
    double first[3 * MAX], now[3 * MAX], moved = 0, strain[2] = {NAN, NAN};
    static const char *const names[2] = {"linearly-implicit-euler", "backward-euler"};
    int solves = 0;
    bool calm = true;
    report_section(r, "the cloth held at three points, springs of 50 N/m, steps of 1/60 s, 20 s");
    for (int m = 0; m < 2; m++) {
        BrioSim *sim = cloth(r, 1.0 / 60, names[m], 50, "damping: [{type: rayleigh, alpha: 2}]\n");
        if (!sim) return;
        brio_sim_positions(sim, 0, first);
        BrioLedger start_ledger, ledger;
        brio_sim_ledger(sim, &start_ledger);
        for (int n = 0; n < 1200; n++) {
            bool done =
                brio_sim_step(sim, NULL) == BRIO_OK && brio_sim_ledger(sim, &ledger) == BRIO_OK;
            if (m == 0)
                solves = BRIO_MAX(solves, done ? ledger.iterations : 1000),
                calm &= done && ledger.total < start_ledger.total + 1e-3 * fabs(start_ledger.total);
            if (!done) break;
            report_progress(r, (m * 1200.0 + n) / 2400, "%s", names[m]);
        }
        brio_sim_positions(sim, 0, now);
        const int fixed[3] = {0, 10, 19};
        for (int i = 0; i < 3 && m == 0; i++)
            for (int k = 0; k < 3; k++)
                moved = brio__larger(moved, fabs(now[3 * fixed[i] + k] - first[3 * fixed[i] + k]));
        strain[m] = largest_strain(sim);
        brio_sim_free(sim);
    }
    report_number(r, 0, moved, "fixed vertices, which are no unknowns, move by, m");
    report_number(r, 1, solves, "linear systems per step, at most");
    report_fact(r, calm, "the energy never rises above the first one");
    report_value(r, strain[1], strain[0], 1e-5,
                 "largest stretch at rest; next to it backward Euler's");
}

REPRODUCTION(gentle2025_cloth){
    .name = "gentle2025-cloth",
    .paper = "Gentle2025",
    .summary = "cloth with one linear system per step; fixed vertices are eliminated",
    .about = "The page derives the method and gives no numbers: what must hold is checked, in "
             "addition to "
             "backward Euler solved to the end. A drag of 2/s lets both come to rest.",
    .chosen = "springs, drag, 1e-3 between the two stretches",
    .minutes = 0.1,
    .run = linearly_implicit,
};
