/* [You2026], figures 1, 6 and 13 to 15: a body on stairs and on a trampoline, with and without
 * decay. */
#include "you2026.h"

/* ---- figures 13 and 14: stairs and trampoline under three decays ------------------------ */

enum { CURVE = 400 };

/* A run from step to step. */
typedef struct Curve {
    bool finished;
    int count;
    double time[CURVE], energy[CURVE], alpha[CURVE], contacts[CURVE];
    double height[CURVE], way[CURVE]; /* m: mean of the first body's vertices, up and along x */
    double drift;                     /* J: kinetic energy of the centre's motion at the end */
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
        c->time[k] = now.time, c->energy[k] = now.total, c->alpha[k] = now.alpha;
        c->contacts[k] = (double)now.contacts;
        place_of(sim, x, place);
        c->height[k] = place[1], c->way[k] = place[0];
        c->iterations += k ? now.iterations : 0;
        c->count = k + 1;
        report_progress(r, (double)k / steps, "%s", what);
    }
    double mass = 0;
    for (int64_t v = 0; v < brio_system_vertices(sim->system); v++)
        mass += sim->system->vertex_mass[v];
    c->drift =
        (pow(now.momentum[0], 2) + pow(now.momentum[1], 2) + pow(now.momentum[2], 2)) / (2 * mass);
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

/* The paper's law for the energy above the ground, over the first: exp(-t/tau); tau 0: no decay. */
static double law(double t, double tau) { return tau > 0 ? exp(-t / tau) : 1; }

/* Root mean square of energy - law over all steps, as a fraction of the first energy above the
 * ground. The law is that of the paper, not the target that the ledger states. */
static double off_law(const Curve *c, double ground, double tau)
{
    double sum = 0, first = c->energy[0] - ground;
    for (int k = 1; k < c->count; k++)
        sum += pow((c->energy[k] - ground) / first - law(c->time[k], tau), 2);
    return c->count > 1 ? sqrt(sum / (c->count - 1)) : NAN;
}

/* Steps before the first contact. */
static int falling(const Curve *c)
{
    int k = 1;
    while (k < c->count && c->contacts[k] == 0) k++;
    return k - 1;
}

/* Least and largest alpha while it falls freely: from the first step to the last one before a
 * contact. */
static void falling_alpha(const Curve *c, double *min, double *max)
{
    *min = INFINITY, *max = -INFINITY;
    for (int k = 1; k <= falling(c); k++) {
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
     "contact: {type: ipc, dhat: 0.5e-3, kappa: 1e5}\nobstacles: [{type: stairs, count: 5, width: "
     "1, "
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

/* The drop with decay k, from a start of report_perturb. */
static void drop_one(Report *r, const Drop *drop, int k, bool printed, double ground, int start,
                     char name[48], Curve *c)
{
    char decay[64] = "", what[128];
    if (drop->tau[k] > 0) snprintf(decay, sizeof decay, ", decay: %g", drop->tau[k]);
    if (drop->tau[k] > 0)
        snprintf(name, 48, "%stau = %g s", printed ? "as printed, " : "", drop->tau[k]);
    else
        snprintf(name, 48, "%sno decay", printed ? "as printed, " : "");
    snprintf(what, sizeof what, "%.40s, %.40s, start %d", drop->name, name, start);
    *c = (Curve){0};
    BrioSim *sim =
        report_scene(r,
                     "time: {h: 1/120}\ngravity: [0, -9.8, 0]\nsolver: {tol: "
                     "0.01}\nintegrator: {type: a-search, ground: %.17g%s%s}\n%s",
                     ground, printed ? ", flight: false, momentum: false" : "", decay, drop->text);
    if (!sim) return;
    report_perturb(sim, start, 1e-3);
    follow(r, sim, drop->seconds, what, c);
    if (!c->finished)
        report_fact(r, false, "%s ends at %.3f s: %s", what, brio_sim_time(sim),
                    brio_sim_reason(sim));
    brio_sim_free(sim);
}

/* The same from the scene's own start, with the verdicts on its energy. */
static void run_drop(Report *r, const Drop *drop, int k, bool printed, double ground, char name[48],
                     Curve *c)
{
    drop_one(r, drop, k, printed, ground, 0, name, c);
    if (!c->finished) return;
    double first = c->energy[0] - ground;
    double kept = (c->energy[c->count - 1] - ground) / first;
    double tau = drop->tau[k], aim = law(c->time[c->count - 1], tau);
    report_value(r, aim, kept, 0.05, "%s: energy at the end; exp(-t/tau) (%lld iterations, %.0f s)",
                 name, (long long)c->iterations, c->wall);
    report_bound(r, off_law(c, ground, tau), 0, 0.05, "%s: energy - exp(-t/tau), root mean square",
                 name);
    report_number(r, NAN, middle_alpha(c),
                  "%s: median of alpha (motion of the centre at the end: %.3f of the first energy)",
                  name, c->drift / first);
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

/* "Consistent rebound": the lower of the next two tops over the first, median of all starts; the
 * first start is `own`. */
static void judge_rebounds(Report *r, double ground, bool printed, const Curve *own)
{
    double ratio[REPORT_STARTS];
    for (int start = 0; start < REPORT_STARTS; start++) {
        static Curve c;
        char name[48];
        double top[TOPS];
        if (start > 0) drop_one(r, &drops[1], 0, printed, ground, start, name, &c);
        bounces_of(start > 0 ? &c : own, top);
        ratio[start] = fmin(top[1], top[2]) / top[0];
    }
    Quartiles q = report_quartiles(ratio, REPORT_STARTS);
    report_bound(r, q.median, 0.8, INFINITY,
                 "%sno decay: \"consistent rebound\": lower of the next two tops over the first, "
                 "median of %d starts (quartiles %.2f, %.2f)",
                 printed ? "as printed, " : "", q.count, q.low, q.high);
}

/* Figures 1 and 15: three bounces of one height without decay, lower ones with it. */
static void judge_bounces(Report *r, double ground, const Curve curve[RUNS], char name[RUNS][48])
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
        judge_rebounds(r, ground, k > 0, &curve[k]);
        for (int d = 1; d < 3; d++)
            report_bound(r, mean_top(top[d - 1]) - mean_top(top[d]), nextafter(0, 1), INFINITY,
                         "%s: mean top lower than with less decay, by, m", name[k + d]);
        report_bound(r, top[2][2] / top[2][0], 0, 0.8,
                     "%s: \"increasingly suppresses\": third top over the first", name[k + 2]);
    }
}

enum { WHOLE, LATE };                          /* of a run; what follows the paper's 1.8 s */
static const double stopped = 1.8, hop = 0.02; /* s; m: less is no bounce of a body of 0.25 m */

/* What the body rises, in all its bounces together. */
static double climbs(const Curve *c, int part)
{
    double up = 0;
    for (int i = 1; i < c->count; i++)
        if (part == WHOLE || c->time[i] > stopped) up += fmax(c->height[i] - c->height[i - 1], 0);
    return up;
}

/* What the body climbs in the runs with three decays, from all starts. */
typedef struct Climbs {
    double up[2][3][REPORT_STARTS];
} Climbs;

static void climb(Report *r, double ground, bool printed, const Curve own[3], Climbs *o)
{
    for (int d = 0; d < 3; d++)
        for (int start = 0; start < REPORT_STARTS; start++) {
            static Curve c;
            char name[48];
            if (start > 0) drop_one(r, &drops[0], d, printed, ground, start, name, &c);
            for (int part = WHOLE; part <= LATE; part++)
                o->up[part][d][start] = climbs(start > 0 ? &c : &own[d], part);
        }
}

/* Figure 6: bounces over the stairs under three decays; the last of them slides. */
static void judge_stairs(Report *r, double ground, const Curve curve[RUNS], char name[RUNS][48])
{
    static Climbs o;
    report_note(r,
                "Figure 6 shows the body bounce away over the stairs without decay, bounce less "
                "with tau = 2 s and slide with tau = 1 s. The text: with tau = 2 s it \"continued "
                "to bounce\", with tau = 1 s it \"stopped bouncing\" at around 1.8 s. Where it "
                "bounces depends on the start, so that these are medians of %d starts.",
                REPORT_STARTS);
    for (int k = 0; k < RUNS; k += 3) {
        climb(r, ground, k > 0, &curve[k], &o);
        double less[2][REPORT_STARTS];
        for (int i = 0; i < REPORT_STARTS; i++)
            for (int d = 0; d < 2; d++) less[d][i] = o.up[WHOLE][d][i] - o.up[WHOLE][d + 1][i];
        for (int d = 0; d < 3; d++) {
            Quartiles q = report_quartiles(o.up[WHOLE][d], REPORT_STARTS);
            report_number(r, NAN, q.median,
                          "%s: climbs in all bounces together, m (quartiles %.2f, %.2f)",
                          name[k + d], q.low, q.high);
        }
        for (int d = 0; d < 2; d++) {
            Quartiles q = report_quartiles(less[d], REPORT_STARTS);
            report_bound(r, q.median, nextafter(0, 1), INFINITY,
                         "%s: less than with less decay, by, m (quartiles %.2f, %.2f)",
                         name[k + d + 1], q.low, q.high);
        }
        for (int d = 1; d < 3; d++) {
            Quartiles q = report_quartiles(o.up[LATE][d], REPORT_STARTS);
            report_bound(r, q.median, d == 1 ? hop : 0, d == 1 ? INFINITY : hop,
                         "%s: \"%s\": climbs after %g s, m (quartiles %.3f, %.3f)", name[k + d],
                         d == 1 ? "continued to bounce" : "stopped bouncing", stopped, q.low,
                         q.high);
        }
    }
}

/* Figure 14: alpha in free fall, where the printed form loses energy and nothing corrects it. */
static void judge_fall(Report *r, const Curve *printed, const Curve *own, double ground,
                       bool all_fall)
{
    double min, max;
    falling_alpha(printed, &min, &max);
    report_value(r, 1.1, min, 0, "as printed, free fall before the first contact: least alpha");
    report_value(r, 1.1, max, 0, "  largest");
    if (!all_fall) return; /* a membrane that sags has an alpha of its own */
    const Curve *const curve[2] = {printed, own};
    double lost[2];
    for (int k = 0; k < 2; k++)
        lost[k] =
            1 - (curve[k]->energy[falling(curve[k])] - ground) / (curve[k]->energy[0] - ground);
    report_bound(r, lost[0], 1e-6, INFINITY,
                 "  \"free fall loses energy\": fraction lost before the first contact");
    report_bound(r, lost[1], -1e-12, 1e-12, "with exact flight: the same");
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
        judge_fall(r, &curve[d][3], &curve[d][0], ground, d == 0);
        if (d == 0)
            judge_stairs(r, ground, curve[d], name);
        else
            judge_bounces(r, ground, curve[d], name);
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
        "lying on the floor, or of the capsule settled on the trampoline. The paper names friction "
        "for the dice and the splash only, so that there is none here, and the energy is compared "
        "with exp(-t/tau) itself.",
    .chosen =
        "meshes, shapes, drops, thickness, no friction on the stairs; 5 % for \"closely adheres\", "
        "0.3 s for \"around 1.8 s\", 0.8 for \"consistent\" and for \"suppresses\", 2 cm for a "
        "bounce",
    .minutes = 6,
    .run = figure13,
};
