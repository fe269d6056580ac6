/* [You2026], figures 8 and 9: rotating cubes. */
#include "you2026.h"

/* ---- figures 8 and 9: rotating cubes ---------------------------------------------------- */

/* What a run did; energies in J. */
typedef struct Outcome {
    bool finished;
    double time;                                  /* when it ended */
    double initial_kinetic, last_kinetic, change; /* of the total energy, over the run */
    /* largest total energy above the first, over the first kinetic */
    double max;
    double spin;  /* last angular momentum about z over the first */
    double mean;  /* mean change of the total energy over the run */
    double away;  /* mean of its size */
    double turns; /* of the centre about the pivot, forward less backward */
    double wall;
} Outcome;

/* Angular momentum along z about a point. */
static double turning(const BrioLedger *l, const double point[2])
{
    return l->angular[2] - (point[0] * l->momentum[1] - point[1] * l->momentum[0]);
}

/* Turns of the centre about the pivot since *angle, which is renewed (NAN: the first). */
static double turned(const BrioLedger *l, const double point[2], double *angle)
{
    double now = atan2(l->centre[1] - point[1], l->centre[0] - point[0]);
    double way = isnan(*angle) ? 0 : remainder(now - *angle, 2 * 3.14159265358979323846);
    *angle = now;
    return way / (2 * 3.14159265358979323846);
}

/* Runs for some seconds, keeping the total energy and angular momentum (about the pivot) of every
 * 1/30 s in rows of the curves (each may be NULL). */
static Outcome watch(Report *r, BrioSim *sim, const double pivot[2], double seconds, double limit,
                     const char *what, double *energy, double *spin)
{
    Outcome o = {.finished = true};
    BrioLedger first, now;
    double begin = brio__seconds(), angle = NAN;
    int64_t steps = (int64_t)round(seconds / sim->h), kept = 0;
    brio_sim_ledger(sim, &first);
    for (int64_t k = 0; k <= steps; k++) {
        if (k > 0) o.finished = brio_sim_step(sim, NULL) == BRIO_OK;
        if (brio_sim_ledger(sim, &now) != BRIO_OK) o.finished = false;
        if (!o.finished) break;
        double above = (now.total - first.total) / first.kinetic;
        o.max = brio__larger(o.max, above);
        if (now.time * 30 > (double)kept - 1e-6) {
            if (energy) energy[kept] = now.total;
            if (spin) spin[kept] = turning(&now, pivot);
            kept++;
        }
        o.mean += (now.total - first.total) / (double)(steps + 1);
        o.away += fabs(now.total - first.total) / (double)(steps + 1);
        o.turns += turned(&now, pivot, &angle);
        if (above > limit) {
            o.finished = false;
            break;
        }
        report_progress(r, (double)k / (double)steps, "%s", what);
    }
    o.wall = brio__seconds() - begin;
    o.time = now.time;
    o.initial_kinetic = first.kinetic;
    o.last_kinetic = now.kinetic;
    o.change = now.total - first.total;
    o.spin = turning(&now, pivot) / turning(&first, pivot);
    return o;
}

static const Method cube_methods[] = {
    {"backward Euler, 1/30", "backward-euler", 30},
    {"BDF2, 1/30", "bdf2", 30},
    {"BDF2, 1/60", "bdf2", 60},
    {"A-1, 1/30", "a-1", 30},
    {"A-search as printed, 1/30", YOU2026_PRINTED, 30},
    {"A-search, 1/30", "a-search", 30},
    {"blend, 1/30", "blend", 30},
    {"BDF2, 1/1500 (reference)", "bdf2", 1500},
    {"implicit midpoint, 1/30", "implicit-midpoint", 30},
    {"trapezoidal, 1/30", "trapezoidal", 30},
};

enum {
    BACKWARD,
    BDF2,
    BDF2_60,
    A1,
    PRINTED,
    SEARCH,
    BLEND,
    REFERENCE,
    MIDPOINT,
    TRAPEZOIDAL,
    CUBE_METHODS
};

static BrioSim *cube(Report *r, const Method *m, double E, bool pinned)
{
    return report_scene(r,
                        "time: {h: %.17g}\ngravity: [0, %g, 0]\nintegrator: %s\nsolver: {tol: "
                        "1e-7, linear: ldlt, max_halvings: %d}\nbodies:\n"
                        "  - shape: {type: box, size: [0.1, 0.1, 0.1], cells: [5, 5, 5]}\n    "
                        "material: {type: corotated, E: %g, nu: 0.3, rho: 1000}\n"
                        "    velocity: {angular: [0, 0, 15], about: %s}\n%s",
                        1 / m->inverse_h, pinned ? -9.8 : 0, m->integrator, 0, E,
                        pinned ? "[-0.05, -0.05, 0]" : "[0, 0, 0]",
                        pinned ? "    fix: [{box: [[-0.051, -0.051, -1], [-0.049, -0.049, 1]]}]\n"
                               : "");
}

/* One cube with every method. */
typedef struct Cubes {
    Outcome o[CUBE_METHODS];
    double energy[CUBE_METHODS][SAMPLES], spin[CUBE_METHODS][SAMPLES];
} Cubes;

static void run_cube(Report *r, int m, double E, bool pinned, Cubes *c)
{
    const double pivot[2] = {pinned ? -0.05 : 0, pinned ? -0.05 : 0};
    const char *name = cube_methods[m].name;
    Outcome *o = &c->o[m];
    for (int i = 0; i < SAMPLES; i++) c->energy[m][i] = c->spin[m][i] = NAN;
    BrioSim *sim = cube(r, &cube_methods[m], E, pinned);
    *o = (Outcome){.change = NAN, .last_kinetic = NAN, .initial_kinetic = NAN, .spin = NAN};
    if (!sim) return;
    *o = watch(r, sim, pivot, 10, 20, name, c->energy[m], c->spin[m]);
    brio_sim_free(sim);
    if (o->finished)
        report_number(r, NAN, o->change / o->initial_kinetic,
                      "%s (mean %+.3f, highest %+.3f%s%.3f, %.1f turns; %.1f s)", name,
                      o->mean / o->initial_kinetic, o->max,
                      pinned ? ", last/first kinetic " : ", angular momentum x ",
                      pinned ? o->last_kinetic / o->initial_kinetic : o->spin, o->turns, o->wall);
    else
        report_note(r,
                    "%s: ends at %.2f s, energy up to %.3g times the first kinetic energy above "
                    "the start",
                    name, o->time, o->max);
}

/* Root mean square of the distance of the angular momentum from the reference's, over the first. */
static double spin_error(const Cubes *c, int m)
{
    double sum = 0, count = 0;
    for (int i = 0; i < SAMPLES; i++) {
        double off = c->spin[m][i] - c->spin[REFERENCE][i];
        if (!isnan(off)) sum += off * off, count++;
    }
    return sqrt(sum / count) / fabs(c->spin[REFERENCE][0]);
}

/* The claims about A-search, on the method m. */
static void judge_search(Report *r, bool pinned, const Cubes *c, int m)
{
    const Outcome *o = c->o;
    const char *name = cube_methods[m].name;
    static const int others[] = {BACKWARD, BDF2, BDF2_60, A1, BLEND};
    double next = INFINITY, mine = spin_error(c, m);
    for (size_t k = 0; k < BRIO_COUNT(others); k++)
        if (o[others[k]].finished) next = fmin(next, spin_error(c, others[k]));
    report_bound(r, o[m].away / o[m].initial_kinetic, 0, 0.05,
                 "%s: mean distance of the energy from the first", name);
    report_fact(r, o[BDF2].change < o[m].change - 0.1 * o[m].initial_kinetic,
                "BDF2 at 1/30 ends well below %s", name);
    report_bound(r, mine, 0, next, "%s: angular momentum off the reference; limit: the best other",
                 name);
    if (pinned)
        report_bound(r, o[m].turns / o[REFERENCE].turns, 0.9, 1.1,
                     "%s: full turns (%.1f) over the reference's (%.1f)", name, o[m].turns,
                     o[REFERENCE].turns);
}

static void judge_cubes(Report *r, bool pinned, const Cubes *c)
{
    const Outcome *o = c->o;
    judge_search(r, pinned, c, PRINTED);
    judge_search(r, pinned, c, SEARCH);
    report_bound(r, o[BLEND].away / o[BLEND].initial_kinetic, 0, 0.05,
                 "blend: mean distance of the energy from the first");
    report_bound(r, o[BACKWARD].last_kinetic / o[BACKWARD].initial_kinetic, 0, 0.1,
                 "backward Euler: last kinetic energy / first");
    report_bound(r, o[MIDPOINT].max, 10, INFINITY,
                 "implicit midpoint: largest energy above the start / first kinetic");
    report_fact(r, o[A1].finished && o[A1].max < 2, "A-1 does not blow up");
    if (pinned) return;
    report_bound(r, o[TRAPEZOIDAL].max, 10, INFINITY,
                 "trapezoidal: largest energy above the start / first kinetic");
    report_bound(r, 1 - o[BLEND].spin, 0.1, INFINITY,
                 "blend: fraction of the angular momentum that it loses");
    report_note(r, "A-search keeps the angular momentum of a free body by construction unless "
                   "momentum is false; the paper's claim is that of the printed form.");
}

static void plot_cubes(Report *r, bool pinned, const char *kind, const Cubes *c)
{
    char name[64];
    snprintf(name, sizeof name, "you2026-fig%s-%s.svg", pinned ? "9" : "9-free", kind);
    FILE *file = report_file(r, name);
    if (!file) return;
    double time[SAMPLES], turn = 0;
    BrioPlotSeries series[2][CUBE_METHODS];
    double scale = c->o[REFERENCE].initial_kinetic;
    double low = c->energy[REFERENCE][0] - 1.2 * scale;
    double high = c->energy[REFERENCE][0] + scale;
    for (int i = 0; i < SAMPLES; i++) time[i] = i / 30.0;
    for (int m = 0; m < CUBE_METHODS; m++) {
        series[0][m] = (BrioPlotSeries){
            .name = cube_methods[m].name, .count = SAMPLES, .x = time, .y = c->energy[m]};
        series[1][m] = (BrioPlotSeries){
            .name = cube_methods[m].name, .count = SAMPLES, .x = time, .y = c->spin[m]};
    }
    for (int i = 0; i < SAMPLES; i++) {
        double spin = c->spin[REFERENCE][i];
        turn = brio__larger(turn, isnan(spin) ? 0 : fabs(spin));
    }
    BrioPlot plot[2] = {
        {.title = "Total energy",
         .x = {.label = "t, s"},
         .y = {.label = "J", .fixed = true, .low = low, .high = high},
         .series_count = CUBE_METHODS,
         .series = series[0]},
        {.title = pinned ? "Angular momentum about the edge" : "Angular momentum",
         .x = {.label = "t, s"},
         .y = {.label = "kg m2/s", .fixed = true, .low = -1.2 * turn, .high = 1.2 * turn},
         .series_count = CUBE_METHODS,
         .series = series[1]}};
    brio__plot_write(file, plot, 2, 1);
    report_close(r, file);
}

static void spin_cubes(Report *r, bool pinned)
{
    static const double modulus[2] = {5e4, 1e6};
    static const char *const kind[2] = {"soft", "stiff"};
    static Cubes cubes;
    for (int k = 0; k < 2; k++) {
        report_section(r,
                       "%s cube, %s: change of the total energy over 10 s / first kinetic energy",
                       kind[k], pinned ? "about its fixed edge" : "free");
        for (int m = 0; m < CUBE_METHODS; m++) run_cube(r, m, modulus[k], pinned, &cubes);
        judge_cubes(r, pinned, &cubes);
        plot_cubes(r, pinned, kind[k], &cubes);
    }
}

static void fixed_edge(Report *r) { spin_cubes(r, true); }

static void free_spin(Report *r) { spin_cubes(r, false); }

REPRODUCTION(you2026_fig8){
    .name = "you2026-fig8",
    .paper = "You2026",
    .summary = "figures 8 and 9: soft and stiff cube turn about a fixed edge under gravity",
    .about = "Cube of 0.1 m with 5 x 5 x 5 cells (the paper: 1.3k nodes), corotated, E = 5e4 and "
             "1e6 Pa, nu = 0.3, 15 rad/s about its lower left edge, which is fixed; 10 s. A step "
             "that cannot be solved ends a run here: nothing is halved. A run also ends when its "
             "energy is 20 times the first kinetic energy above the start.",
    .chosen = "the mesh; the bounds of 5 % on energies, 10 % on turns, 10 % on BDF2's loss",
    .minutes = 5.5,
    .run = fixed_edge,
};

REPRODUCTION(you2026_fig9_free){
    .name = "you2026-fig9-free",
    .paper = "You2026",
    .summary =
        "the cubes of figure 9 spinning freely, without gravity: energy and angular momentum",
    .about = "As you2026-fig8, about the cube's centre.",
    .chosen = "as you2026-fig8",
    .minutes = 5.5,
    .run = free_spin,
};
