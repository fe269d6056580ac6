/* [You2026], table 1: seconds, Newton iterations and energy kept of all fourteen scenes. Runs of
 * hours are done with --fine; otherwise their figures are printed as they were stored, with date
 * and commit (stored.def), and their first steps are run again. */
#include "you2026.h"

#include <string.h>
#include <time.h>

enum { MAX_SETS = 6, MAX_RUNS = 8 };

/* A cell of the table: a method and a step with the paper's seconds (on a GPU) and iterations. */
typedef struct Run {
    const char *name, *integrator;
    double inverse_h, seconds, iterations;
    bool long_run; /* with --fine only */
} Run;

typedef struct Row {
    const char *name, *scene, *sizes; /* the paper's sizes */
    const char *sets[MAX_SETS];
    /* 1: rest is where all bodies are set down by the first distance from the floor; NAN: where
     * they settle */
    double drop;
    double part;   /* s: how long its first part is, which is run where the whole takes hours */
    double ground; /* J: what decays lead to, which is then rest; NAN: `drop` says what rest is */
    Run run[MAX_RUNS];
} Row;

#define SEARCH(h, s, n, is_long)                                \
    {"A-search as printed", YOU2026_PRINTED, h, s, n, is_long}, \
    {                                                           \
        "A-search", "a-search", h, NAN, NAN, is_long            \
    }
#define BDF2(h, s, n, is_long)           \
    {                                    \
        "BDF2", "bdf2", h, s, n, is_long \
    }
#define BLEND(h, is_long)                      \
    {                                          \
        "blend", "blend", h, NAN, NAN, is_long \
    }
#define DECAY(tau, ground, s, n)                                                                 \
    {                                                                                            \
        "A-search, tau = " #tau " s",                                                            \
            "{type: a-search, flight: false, momentum: false, decay: " #tau ", ground: " #ground \
            "}",                                                                                 \
            120, s, n, true                                                                      \
    }
/* with targets of its own */
#define TARGET(text, s, n)                                            \
    {"A-search as printed",                                           \
     "{type: a-search, flight: false, momentum: false, " text "}",    \
     120,                                                             \
     s,                                                               \
     n,                                                               \
     true},                                                           \
    {                                                                 \
        "A-search", "{type: a-search, " text "}", 120, NAN, NAN, true \
    }

static const Row rows[] = {
    {"soft square",
     "cube-soft",
     "1.3k nodes, 6.0k tets",
     {NULL},
     NAN,
     0,
     NAN,
     {SEARCH(30, 27.6, 902, false), BDF2(30, 20.3, 661, false), BLEND(30, false),
      BDF2(60, 28.3, 1203, false), BDF2(1500, 160.0, 16143, true)}},
    {"stiff square",
     "cube-stiff",
     "1.3k nodes, 6.0k tets",
     {NULL},
     NAN,
     0,
     NAN,
     {SEARCH(30, 43.8, 1500, false), BDF2(30, 27.3, 822, false), BLEND(30, false),
      BDF2(60, 43.0, 1349, false), BDF2(1500, 282.8, 30000, true)}},
    {"twisted bar",
     "twisted-bar",
     "4.8k nodes, 24k tets",
     {NULL},
     NAN,
     0,
     NAN,
     {SEARCH(30, 113.5, 947, false), BDF2(30, 60.8, 409, false), BLEND(30, true),
      BDF2(90, 98.6, 1546, true), BDF2(1500, 184.5, 1632, true)}},
    {"suspended armadillo",
     "suspended",
     "28k nodes, 110k tets",
     {"bodies.0.shape={type: figure, of: bunny, size: 0.5, cells: 46}",
      "bodies.0.material={type: corotated, E: 1e5, nu: 0.3, rho: 1000}",
      "bodies.0.transform={translate: [0, 0, 0]}",
      "bodies.0.velocity={gradient: [[0, 0, 0], [0, 1, 0], [0, 0, 0]], about: [0, 0.5, 0]}",
      "bodies.0.fix=[{box: [[-1, 0.42, -1], [1, 1, 1]]}]", "probes=[]"},
     NAN,
     0,
     NAN,
     {SEARCH(30, 1458.7, 1870, false), BDF2(30, 396.6, 453, false), BLEND(30, true),
      BDF2(300, 1020.9, 5750, true)}},
    {"soft ball",
     "ball-soft",
     "1.6k nodes, 7.1k tets",
     {NULL},
     1,
     0,
     NAN,
     {SEARCH(120, 75.0, 2681, false), BDF2(120, 36.3, 868, false), BDF2(600, 137.5, 8342, true),
      BDF2(3000, 581.8, 60097, true)}},
    {"medium ball",
     "ball-medium",
     "1.6k nodes, 7.1k tets",
     {NULL},
     1,
     0,
     NAN,
     {SEARCH(120, 68.3, 1683, false), BDF2(120, 34.6, 423, false), BDF2(600, 163.8, 6955, true),
      BDF2(3000, 516.2, 32637, true)}},
    {"stiff ball",
     "ball-stiff",
     "1.6k nodes, 7.1k tets",
     {NULL},
     1,
     0,
     NAN,
     {SEARCH(120, 94.2, 2391, false), BDF2(120, 37.3, 326, false), BDF2(600, 213.5, 5739, true),
      BDF2(3000, 657.6, 30674, true)}},
    {"stiff ball, affine",
     "ball-affine",
     "0.6k nodes, 1.3k faces",
     {NULL},
     1,
     0,
     NAN,
     {SEARCH(120, 224.9, 8902, false), BDF2(120, 48.4, 1221, false), BDF2(600, 227.7, 6064, false),
      BDF2(3000, 1252.8, 32514, false)}},
    {"membrane",
     "membrane",
     "16k nodes, 31k faces",
     {NULL},
     NAN,
     0.25,
     NAN,
     {SEARCH(120, 286.5, 954, true), BDF2(120, 185.9, 442, true), BLEND(120, true),
      BDF2(240, 284.0, 804, true), BDF2(3000, 1213.2, 12762, true)}},
    {"dice",
     "dice",
     "5.8k nodes, 24.6k tets",
     {NULL},
     1,
     0.5,
     NAN,
     {SEARCH(120, 326.6, 4659, true),
      BDF2(120, 307.3, 5744, true),
      BDF2(240, 307.2, 5744, true),
      BDF2(3000, 2413.3, 146443, true),
      {"A-search as printed", YOU2026_PRINTED, 240, 335.3, 7224, true}}},
    {"bunny stairs",
     "stairs",
     "7.5k nodes, 19k tets",
     {"bodies.0.shape={type: figure, of: bunny, size: 0.25, cells: 29}",
      "bodies.0.transform={translate: [0.97, 1.08, 0]}"},
     1,
     0.4,
     1.4,
     {SEARCH(120, 530.9, 4534, true), DECAY(2, 1.4, 342.1, 2248), DECAY(1, 1.4, 369.1, 2092),
      BDF2(120, NAN, NAN, true), BDF2(240, NAN, NAN, true)}},
    {"armadillo trampoline",
     "trampoline",
     "33k nodes, 110k tets",
     {"bodies.0.shape={type: figure, of: bunny, size: 0.5, cells: 46}",
      "bodies.0.transform={translate: [0.03, 0.42, 0.02]}"},
     NAN,
     0.3,
     -4,
     {SEARCH(120, 7570.9, 13145, true), DECAY(3, -4, 6502.7, 10975), DECAY(1.5, -4, 4498.0, 7411),
      BDF2(120, NAN, NAN, true), BDF2(240, NAN, NAN, true)}},
    {"chain net",
     "chain-net",
     "47k nodes, 93k faces",
     {NULL},
     NAN,
     0.35,
     -1.3,
     {TARGET("energy_scale: 0.95, decay: [[1, 1]], ground: -1.3", 6612.0, 21683),
      BDF2(120, NAN, NAN, true), BDF2(240, NAN, NAN, true)}},
    {"bunny splash",
     "splash",
     "19k nodes, 43k tets",
     {"bodies.0.shape={type: figure, of: bunny, size: 0.25, cells: 23}",
      "bodies.0.transform={translate: [0, 0.70, 0]}"},
     NAN,
     0.3,
     55,
     {TARGET("energy_scale: 0.95, decay: [[1, 1], [1.5, 0.5]], ground: 55", 1303.1, 5799),
      BDF2(120, NAN, NAN, true), BDF2(240, NAN, NAN, true)}},
};

/* What a run did; energies above rest over the first. */
typedef struct Cost {
    bool fine;
    double seconds, iterations, kept;
    double last; /* J: energy at the end */
} Cost;

static BrioSim *make(Report *r, const Row *row, const Run *run, int64_t *steps)
{
    char method[256], step[64];
    const char *sets[MAX_SETS + 2];
    int count = 0;
    BrioScene *scene = NULL;
    snprintf(method, sizeof method, "integrator=%s", run->integrator);
    snprintf(step, sizeof step, "time.h=1/%g", run->inverse_h);
    for (int i = 0; i < MAX_SETS && row->sets[i]; i++) sets[count++] = row->sets[i];
    sets[count++] = method;
    sets[count++] = step;
    BrioSim *sim = report_shipped(r, row->scene, sets, count, &scene);
    if (sim && steps) *steps = brio__scene_steps(scene);
    brio__scene_free(scene);
    return sim;
}

/* The energy at rest: the ground of the decays, all bodies set down by as much as the lowest vertex
 * is above what is below it, or settled from where they ended. */
static double rest_energy(BrioSim *sim, const Row *row, const BrioLedger *first)
{
    BrioLedger rest;
    if (!isnan(row->ground)) return row->ground;
    if (!isnan(row->drop))
        return first->total - first->gravity / first->centre[1] * first->min_distance * row->drop;
    if (brio_sim_settle(sim, NULL) != BRIO_OK || brio_sim_ledger(sim, &rest) != BRIO_OK) return NAN;
    return rest.total;
}

/* Of all threads: it does not count what else the machine does. */
static double processor_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* `end`: s; 0: the whole. */
static Cost cost(Report *r, const Row *row, const Run *run, double end)
{
    int64_t steps = 0;
    Cost c = {.kept = NAN, .seconds = NAN, .iterations = NAN, .last = NAN};
    BrioSim *sim = make(r, row, run, &steps);
    BrioLedger first, last;
    if (!sim) return c;
    if (end > 0) steps = BRIO_MIN((int64_t)lround(end * run->inverse_h), steps);
    c.fine = brio_sim_ledger(sim, &first) == BRIO_OK;
    c.iterations = 0;
    double begin = processor_seconds();
    for (int64_t k = 0; k < steps && c.fine; k++) {
        c.fine = brio_sim_step(sim, NULL) == BRIO_OK;
        c.iterations += sim->stepper->iterations;
        report_progress(r, (double)k / (double)steps, "%s, %s, h = 1/%g s", row->name, run->name,
                        run->inverse_h);
    }
    c.seconds = processor_seconds() - begin;
    if (!c.fine) report_fact(r, false, "%s: %s", run->name, brio_sim_reason(sim));
    if (c.fine && brio_sim_ledger(sim, &last) == BRIO_OK) c.last = last.total;
    if (c.fine && end == 0) {
        double rest = rest_energy(sim, row, &first);
        c.kept = (last.total - rest) / (first.total - rest);
    }
    brio_sim_free(sim);
    return c;
}

enum { SECONDS, ITERATIONS, KEPT, FIGURES };

/* Names of a run's figures in stored.def. */
static void keys_of(const Row *row, const Run *run, char key[FIGURES][96])
{
    static const char *const figure[FIGURES] = {"seconds", "iterations", "kept"};
    for (int f = 0; f < FIGURES; f++)
        snprintf(key[f], sizeof key[f], "%s, %s, 1/%g: %s", row->name, run->name, run->inverse_h,
                 figure[f]);
}

/* One run: whole, or what is stored of it. Returns the energy kept. A run whose seconds an
 * interrupted program has stored is not run again with --resume. */
static double measure(Report *r, const Row *row, const Run *run)
{
    char key[FIGURES][96], what[160];
    snprintf(what, sizeof what, "%s, h = 1/%g s: seconds", run->name, run->inverse_h);
    keys_of(row, run, key);
    if (report_is_done(r, key[SECONDS]) || (run->long_run && !report_fine(r))) {
        report_stored(r, run->seconds, key[SECONDS], what);
        report_stored(r, run->iterations, key[ITERATIONS], "  Newton iterations");
        return report_stored(r, NAN, key[KEPT], "  last energy above rest over the first");
    }
    Cost c = cost(r, row, run, 0);
    if (!c.fine) return NAN;
    report_number(r, run->seconds, c.seconds, "%s", what);
    report_number(r, run->iterations, c.iterations, "  Newton iterations");
    report_number(r, NAN, c.kept, "  last energy above rest over the first");
    report_store(r, key[KEPT], c.kept);
    report_store(r, key[ITERATIONS], c.iterations);
    report_store(r, key[SECONDS], c.seconds); /* the last: then all of it is there */
    return c.kept;
}

/* The first part of runs that take hours, of all methods without decay: does A-search have more
 * energy than BDF2 then? */
static void first_part(Report *r, const Row *row)
{
    Cost c[MAX_RUNS];
    int count = 0;
    report_note(r, "The first %g s of it, run now:", row->part);
    for (; count < MAX_RUNS && row->run[count].name; count++) {
        const Run *run = &row->run[count];
        c[count] = (Cost){.last = NAN};
        if (strchr(run->name, '=') || run->inverse_h > 1000) continue; /* decay, the reference */
        c[count] = cost(r, row, run, row->part);
        if (!c[count].fine) continue;
        report_number(r, NAN, c[count].seconds, "  %s, h = 1/%g s: seconds (%.0f iterations)",
                      run->name, run->inverse_h, c[count].iterations);
    }
    for (int k = 2; k < count; k++) {
        if (strcmp(row->run[k].name, "BDF2") || isnan(c[k].last)) continue;
        for (int s = 0; s < 2; s++)
            report_bound(r, c[s].last - c[k].last, nextafter(0, 1), INFINITY,
                         "  %s has more energy than BDF2 at 1/%g s, by, J", row->run[s].name,
                         row->run[k].inverse_h);
    }
}

/* A row of these names of its paper's sizes; false: --only leaves it out, or it cannot be made. */
static bool head_of(Report *r, const Row *row)
{
    BrioSim *sim = make(r, row, &row->run[0], NULL);
    int64_t nodes = 0, elements = 0;
    if (!sim) return false;
    for (int b = 0; b < brio_system_bodies(brio_sim_system(sim)); b++) {
        nodes += brio_body_vertices(brio_sim_system(sim), b);
        elements += sim->system->term[sim->system->body[b].term].elements;
    }
    brio_sim_free(sim);
    return report_part(r, "%s: %lld nodes, %lld elements (the paper: %s)", row->name,
                       (long long)nodes, (long long)elements, row->sizes);
}

static void report_row(Report *r, const Row *row)
{
    double kept[MAX_RUNS];
    int count = 0;
    if (!head_of(r, row)) return;
    for (; count < MAX_RUNS && row->run[count].name; count++)
        kept[count] = measure(r, row, &row->run[count]);
    if (row->part > 0 && !report_fine(r)) first_part(r, row);
    for (int k = 2; k < count; k++) {
        const Run *run = &row->run[k];
        if (strcmp(run->name, "BDF2") || isnan(kept[k])) continue;
        if (run->inverse_h > 1000) continue; /* the reference */
        for (int s = 0; s < 2; s++)
            if (!isnan(kept[s]))
                report_bound(r, kept[s] - kept[k], nextafter(0, 1), INFINITY,
                             "%s keeps more energy than BDF2 at 1/%g s, by", row->run[s].name,
                             run->inverse_h);
    }
}

/* Rows [from, to). */
static void some_rows(Report *r, int from, int to)
{
    for (int k = from; k < to; k++) report_row(r, &rows[k]);
    if (!report_fine(r))
        report_note(r, "Stored figures are of long runs. --fine --resume -o FOLDER does them, one "
                       "after another, and goes on where it was interrupted; FOLDER/stored.def has "
                       "its figures.");
}

enum { ELASTIC = 0, CONTACT = 4, LARGE = 10 }; /* first rows of Sec. 5.1, 5.2 and 5.3 */

static void elastic_rows(Report *r) { some_rows(r, ELASTIC, CONTACT); }

static void contact_rows(Report *r) { some_rows(r, CONTACT, LARGE); }

static void large_rows(Report *r) { some_rows(r, LARGE, (int)BRIO_COUNT(rows)); }

#define ABOUT                                                                                      \
    "The scenes of these names, whole. The paper's seconds are of a GPU with conjugate "           \
    "gradients; ours are processor seconds with a direct solver, so they are not judged. What is " \
    "judged: A-search, as printed and as brio has it, keeps more energy than BDF2 at the same "    \
    "step and at the one that took the paper a similar time. Where runs are long, their figures "  \
    "are stored, and their first part is judged again."

REPRODUCTION(you2026_table1){
    .name = "you2026-table1",
    .paper = "You2026",
    .summary = "table 1: seconds, Newton iterations and energy kept, the scenes of section 5.1",
    .about = ABOUT " A bunny of 28k nodes takes the armadillo's place; with a tet mesh of your "
                   "own: --set bodies.0.mesh=FILE on the scene suspended.",
    .chosen = "the bunny and how it is held",
    .minutes = 6,
    .parts = true,
    .run = elastic_rows,
};

REPRODUCTION(you2026_table1_contact){
    .name = "you2026-table1-contact",
    .paper = "You2026",
    .summary = "table 1: the scenes of section 5.2: balls, membrane, dice",
    .about = ABOUT,
    .chosen = "the membrane's thickness and tension, how the dice are turned",
    .minutes = 10,
    .parts = true,
    .run = contact_rows,
};

REPRODUCTION(you2026_table1_large){
    .name = "you2026-table1-large",
    .paper = "You2026",
    .summary = "table 1: the scenes of section 5.3: stairs, trampoline, chain net, splash",
    .about = ABOUT " A bunny takes the armadillo's place on the trampoline.",
    .chosen = "the bunny, the stairs, the drops, the net's pattern, friction on the stairs",
    .minutes = 8,
    .parts = true,
    .run = large_rows,
};
