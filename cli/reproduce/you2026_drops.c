/* [You2026], figures 1, 6 and 13 to 15: a body on stairs and on a trampoline, with and without
 * decay. */
#include "you2026.h"

/* ---- figures 13 and 14: stairs and trampoline under three decays ------------------------ */

enum { CURVE = 400 };

/* A run from step to step. */
typedef struct Curve {
    bool finished;
    int count;
    double time[CURVE], energy[CURVE], target[CURVE], alpha[CURVE], contacts[CURVE];
    double height[CURVE], way[CURVE]; /* m: mean of the first body's vertices, up and along x */
    double wall;
    int64_t iterations;
} Curve;

/* Mean place of the first body's vertices. */
static void place_of(const BrioSim *sim, double *x, double place[3])
{
    int64_t n = brio_body_vertices(brio_sim_system(sim), 0);
    brio_sim_positions(sim, 0, x);
    for (int k = 0; k < 3; k++) {
        place[k] = 0;
        for (int64_t i = 0; i < n; i++) place[k] += x[3 * i + k] / (double)n;
    }
}

static void follow(Report *r, BrioSim *sim, double seconds, const char *what, Curve *c)
{
    BrioLedger now;
    double begin = brio__seconds(), place[3];
    int steps = (int)lround(seconds / sim->h);
    double *x = brio__alloc(3 * (size_t)brio_body_vertices(sim->system, 0), sizeof *x);
    *c = (Curve){.finished = true};
    if (!x) abort();
    for (int k = 0; k <= steps && k < CURVE; k++) {
        c->finished = (k == 0 || brio_sim_step(sim, NULL) == BRIO_OK) &&
                      brio_sim_ledger(sim, &now) == BRIO_OK;
        if (!c->finished) break;
        c->time[k] = now.time, c->energy[k] = now.total, c->target[k] = now.target,
        c->alpha[k] = now.alpha;
        c->contacts[k] = (double)now.contacts;
        place_of(sim, x, place);
        c->height[k] = place[1], c->way[k] = place[0];
        c->iterations += k ? now.iterations : 0;
        c->count = k + 1;
        report_progress(r, (double)k / steps, "%s", what);
    }
    c->wall = brio__seconds() - begin;
    brio__free(x);
}

/* Median of the steps' alpha. */
static double middle_alpha(const Curve *c)
{
    double sorted[CURVE];
    int count = 0;
    for (int k = 1; k < c->count; k++) {
        int at = count++;
        for (; at > 0 && sorted[at - 1] > c->alpha[k]; at--) sorted[at] = sorted[at - 1];
        sorted[at] = c->alpha[k];
    }
    return count ? sorted[count / 2] : NAN;
}

/* Root mean square of energy - target over all steps, as a fraction of the first energy above the
 * ground. */
static double off_target(const Curve *c, double ground)
{
    double sum = 0;
    for (int k = 1; k < c->count; k++) sum += pow(c->energy[k] - c->target[k], 2);
    return c->count > 1 ? sqrt(sum / (c->count - 1)) / (c->energy[0] - ground) : NAN;
}

/* Least and largest alpha while it falls freely: from the first step to the last one before a
 * contact. */
static void falling_alpha(const Curve *c, double *min, double *max)
{
    *min = INFINITY, *max = -INFINITY;
    for (int k = 1; k < c->count && c->contacts[k] == 0; k++) {
        *min = fmin(*min, c->alpha[k]);
        *max = brio__larger(*max, c->alpha[k]);
    }
}

/* From when alpha stays at 0, dissipation at its most, to the end. */
static double gives_up(const Curve *c)
{
    int k = c->count;
    while (k > 1 && c->alpha[k - 1] == 0) k--;
    return k < c->count ? c->time[k] : NAN;
}

typedef struct Drop {
    const char *name, *text;        /* text: the scene without the integrator */
    double seconds, ground, tau[3]; /* tau 0: no decay */
} Drop;

static const Drop drops[2] = {
    {"stairs",
     "contact: {type: ipc, dhat: 0.5e-3, kappa: 1e5, mu: 0.2, epsv: 1e-3}\nobstacles: [{type: "
     "stairs, count: 5, width: 1, "
     "height: 0.15, depth: 0.25}, {type: plane, normal: [0, 1, 0]}]\nbodies:\n"
     "  - shape: {type: ball, radius: 0.125, cells: 5}\n    material: {type: neo-hookean, E: 2e5, "
     "nu: 0.3, rho: 1000}\n    transform: {translate: [0.97, 1.2, 0]}\n",
     2.5,
     NAN,
     {0, 2, 1}},
    {"trampoline",
     "contact: {type: ipc, dhat: 0.5e-3, kappa: 1e5}\nbodies:\n"
     "  - shape: {type: capsule, radius: 0.1, height: 0.5, cells: 2}\n    material: {type: "
     "neo-hookean, E: 1e5, nu: 0.3, rho: 1000}\n"
     "    transform: {rotate: [[0, 0, 1], 75], translate: [0.03, 0.55, 0.02]}\n"
     "  - shape: {type: disk, radius: 0.5, rings: 8}\n    material: {type: membrane-neo-hookean, "
     "E: 5e6, nu: 0.3, thickness: 1e-3, areal: 0.4}\n"
     "    fix: [{vertices: [169, 175, 181, 187, 193, 199, 205, 211]}]\n",
     3,
     NAN,
     {0, 3, 1.5}},
};

/* The energy of the scene at rest: of the ball set down on the floor, of the capsule where it
 * settles on the trampoline. */
static double rest_of(Report *r, const Drop *d)
{
    bool stairs = d == &drops[0];
    BrioSim *sim =
        stairs
            ? report_scene(
                  r, "gravity: [0, -9.8, 0]\nsolver: {tol: 1e-6}\ncontact: {type: ipc, dhat: "
                     "0.5e-3, kappa: 1e5}\nobstacles: [{type: plane, normal: [0, 1, 0]}]\nbodies:\n"
                     "  - shape: {type: ball, radius: 0.125, cells: 5}\n    material: {type: "
                     "neo-hookean, E: 2e5, nu: 0.3, rho: 1000}\n"
                     "    transform: {translate: [0, 0.13, 0]}\n")
            : report_scene(r,
                           "gravity: [0, -9.8, 0]\nsolver: {tol: 1e-4, max_iterations: 1000}\n%s",
                           d->text);
    BrioLedger ledger = {.total = NAN};
    if (sim && (brio_sim_settle(sim, NULL) != BRIO_OK || brio_sim_ledger(sim, &ledger) != BRIO_OK))
        report_fact(r, false, "%s: does not settle: %s", d->name, brio_sim_reason(sim));
    brio_sim_free(sim);
    return ledger.total;
}

/* The drop with decay k. */
static void run_drop(Report *r, const Drop *drop, int k, bool printed, double ground, char name[48],
                     Curve *c)
{
    char decay[64] = "", what[96];
    if (drop->tau[k] > 0) snprintf(decay, sizeof decay, ", decay: %g", drop->tau[k]);
    if (drop->tau[k] > 0)
        snprintf(name, 48, "%stau = %g s", printed ? "as printed, " : "", drop->tau[k]);
    else
        snprintf(name, 48, "%sno decay", printed ? "as printed, " : "");
    snprintf(what, sizeof what, "%.40s, %.40s", drop->name, name);
    *c = (Curve){0};
    BrioSim *sim =
        report_scene(r,
                     "time: {h: 1/120}\ngravity: [0, -9.8, 0]\nsolver: {tol: "
                     "0.01}\nintegrator: {type: a-search, ground: %.17g%s%s}\n%s",
                     ground, printed ? ", flight: false, momentum: false" : "", decay, drop->text);
    if (!sim) return;
    follow(r, sim, drop->seconds, what, c);
    if (!c->finished)
        report_fact(r, false, "%s ends at %.3f s: %s", what, brio_sim_time(sim),
                    brio_sim_reason(sim));
    brio_sim_free(sim);
    double first = c->energy[0] - ground;
    double kept = (c->energy[c->count - 1] - ground) / first;
    double aim = (c->target[c->count - 1] - ground) / first;
    /* the target has what friction took away */
    report_value(r, aim, kept, 0.05, "%s: energy at the end; its target (%lld iterations, %.0f s)",
                 name, (long long)c->iterations, c->wall);
    report_bound(r, off_target(c, ground), 0, 0.05, "%s: energy - target, root mean square", name);
    report_number(r, NAN, middle_alpha(c), "%s: median of alpha", name);
}

enum { RUNS = 6 }; /* of a drop: three decays, each as brio has it and as printed */

static void plot_drop(Report *r, const Drop *drop, char name[RUNS][48], const Curve curve[RUNS])
{
    char file_name[64];
    snprintf(file_name, sizeof file_name, "you2026-fig13-%s.svg", drop->name);
    FILE *file = report_file(r, file_name);
    if (!file) return;
    BrioPlotSeries series[2][RUNS];
    for (int k = 0; k < RUNS; k++) {
        const Curve *c = &curve[k];
        series[0][k] =
            (BrioPlotSeries){.name = name[k], .count = c->count, .x = c->time, .y = c->energy};
        series[1][k] = (BrioPlotSeries){.name = name[k],
                                        .mark = BRIO_PLOT_POINTS,
                                        .count = c->count > 1 ? c->count - 1 : 0,
                                        .x = c->time + 1,
                                        .y = c->alpha + 1};
    }
    bool trampoline = drop == &drops[1];
    BrioPlot plot[2] = {{.title = trampoline ? "Trampoline: total energy" : "Stairs: total energy",
                         .x = {.label = "t, s"},
                         .y = {.label = "J"},
                         .series_count = RUNS,
                         .series = series[0]},
                        {.title = "alpha of every step",
                         .x = {.label = "t, s"},
                         .y = {.label = "alpha", .fixed = true, .low = -0.05, .high = 1.15},
                         .series_count = RUNS,
                         .series = series[1]}};
    brio__plot_write(file, plot, 2, 1);
    report_close(r, file);
}

/* ---- what figures 1, 6 and 15 show ---- */

enum { TOPS = 3 };

/* Heights of the tops after the first lows, m above the lowest point of all; tops that rise by less
 * than 1 cm do not count. Returns how many of TOPS there are. */
static int bounces_of(const Curve *c, double top[TOPS])
{
    double lowest = INFINITY, low = INFINITY, high = -INFINITY;
    int count = 0;
    bool up = false;
    for (int k = 0; k < c->count; k++) lowest = fmin(lowest, c->height[k]);
    for (int k = 0; k < TOPS; k++) top[k] = 0;
    for (int k = 0; k < c->count && count < TOPS; k++) {
        double y = c->height[k];
        low = fmin(low, y), high = brio__larger(high, y);
        if (!up && y > low + 0.01) up = true, high = y;
        if (up && y < high - 0.01) {
            top[count++] = high - lowest;
            up = false, low = y;
        }
    }
    return count;
}

static double mean_top(const double top[TOPS]) { return (top[0] + top[1] + top[2]) / TOPS; }

/* Figures 1 and 15: three bounces of one height without decay, lower ones with it. */
static void judge_bounces(Report *r, const Curve curve[RUNS], char name[RUNS][48])
{
    report_note(r, "Figures 1 and 15 show the body on the trampoline in three bounces: as high "
                   "every time without decay, lower and lower with it, the more the shorter tau.");
    for (int k = 0; k < RUNS; k += 3) {
        double top[3][TOPS];
        for (int d = 0; d < 3; d++) {
            int count = bounces_of(&curve[k + d], top[d]);
            report_number(r, NAN, top[d][0],
                          "%s: first top above the lowest point, m (then %.3f %.3f; %d of %d)",
                          name[k + d], top[d][1], top[d][2], count, TOPS);
        }
        report_bound(r, fmin(top[0][1], top[0][2]) / top[0][0], 0.6, INFINITY,
                     "%s: \"consistent rebound\": lower of the next two tops over the first",
                     name[k]);
        for (int d = 1; d < 3; d++)
            report_bound(r, mean_top(top[d - 1]) - mean_top(top[d]), nextafter(0, 1), INFINITY,
                         "%s: mean top lower than with less decay, by, m", name[k + d]);
        report_bound(r, top[2][2] / top[2][0], 0, 0.8,
                     "%s: \"increasingly suppresses\": third top over the first", name[k + 2]);
    }
}

/* Figure 6: bounces over the stairs under three decays; the last of them slides. */
static void judge_stairs(Report *r, const Curve curve[RUNS], char name[RUNS][48])
{
    report_note(r, "Figure 6 shows the body bounce away over the stairs without decay, bounce less "
                   "with tau = 2 s and slide with tau = 1 s.");
    for (int k = 0; k < RUNS; k += 3) {
        double up[3];
        for (int d = 0; d < 3; d++) {
            const Curve *c = &curve[k + d];
            up[d] = 0;
            for (int i = 1; i < c->count; i++) up[d] += fmax(c->height[i] - c->height[i - 1], 0);
            report_number(r, NAN, up[d], "%s: climbs in all bounces together, m (%.2f m along)",
                          name[k + d], c->way[c->count - 1] - c->way[0]);
        }
        for (int d = 1; d < 3; d++)
            report_bound(r, up[d - 1] - up[d], nextafter(0, 1), INFINITY,
                         "%s: less than with less decay, by, m", name[k + d]);
        report_bound(r, up[2] / up[0], 0, 0.5, "%s: stops bouncing: climbs over those without",
                     name[k + 2]);
    }
}

/* Figure 14: alpha in free fall, where the printed form loses energy and nothing corrects it. */
static void judge_fall(Report *r, const Curve *printed, const Curve *own, bool all_fall)
{
    double min, max;
    falling_alpha(printed, &min, &max);
    report_value(r, 1.1, min, 0, "as printed, free fall before the first contact: least alpha");
    report_value(r, 1.1, max, 0, "  largest");
    if (!all_fall) return; /* a membrane that sags has an alpha of its own */
    falling_alpha(own, &min, &max);
    report_bound(r, min, 1, 1, "with exact flight, which loses nothing: least alpha");
    report_bound(r, max, 1, 1, "  largest");
}

static void figure13(Report *r)
{
    static Curve curve[2][RUNS];
    for (int d = 0; d < 2; d++) {
        const Drop *drop = &drops[d];
        char name[RUNS][48];
        double ground = rest_of(r, drop);
        report_section(
            r, "%s: energy above that at rest (%.4g J) at the end, as a fraction of the first",
            drop->name, ground);
        if (isnan(ground)) continue;
        for (int k = 0; k < RUNS; k++)
            run_drop(r, drop, k % 3, k >= 3, ground, name[k], &curve[d][k]);
        for (int k = 0; k < RUNS; k += 3)
            if (d == 0)
                report_value(r, 1.8, gives_up(&curve[d][k + 2]), 0.3,
                             "%s: from when alpha stays at 0, s", name[k + 2]);
            else
                report_bound(r, middle_alpha(&curve[d][k]), 0.9, 1.1,
                             "%s: alpha generally stays near 1 (median)", name[k]);
        judge_fall(r, &curve[d][3], &curve[d][0], d == 0);
        if (d == 0)
            judge_stairs(r, curve[d], name);
        else
            judge_bounces(r, curve[d], name);
        plot_drop(r, drop, name, curve[d]);
    }
}

REPRODUCTION(you2026_fig13){
    .name = "you2026-fig13",
    .paper = "You2026",
    .summary =
        "figures 1, 6 and 13 to 15: stairs and trampoline, without decay and with two: energy, "
        "alpha, bounces",
    .about =
        "The scenes stairs and trampoline on coarser meshes: a ball of 2500 tets for the paper's "
        "bunny, a capsule of 900 tets for its armadillo (110k), a shell of 384 triangles. "
        "Shapes, drops and the shell's thickness are ours, so that only the targets of the energy "
        "can be compared, not its amount. The ground level is the energy of the ball "
        "lying on the floor, or of the capsule settled on the trampoline.",
    .chosen =
        "meshes, shapes, drops, thickness, friction on the stairs; 5 % for \"closely adheres\", "
        "0.3 s for \"around 1.8 s\", 0.6 for \"consistent\", 0.8 for \"suppresses\", a half for "
        "\"stopped bouncing\"",
    .minutes = 1.2,
    .run = figure13,
};
