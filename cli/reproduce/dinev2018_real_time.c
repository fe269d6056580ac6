/* Reproductions of [Dinev2018]: what a frame costs, with local/global solves and with Newton's
 * method (Table 1), and what it takes to make implicit midpoint stable by substeps (Table 2). The
 * scenes are those that ship as rt-*.yaml, with about the paper's numbers of vertices. */
#include "reproduce.h"

#include <stdlib.h>
#include <string.h>

enum { SUBSTEPS = 5 };
static const int substeps[SUBSTEPS] = {1, 5, 10, 20, 100};

typedef struct Model {
    const char *name, *scene, *set; /* a scene that ships, and what is changed; NULL: nothing */
    /* the paper's ms per frame: backward Euler, blend, of the latter the search for alpha */
    double newton[3], global[3];
    double midpoint[SUBSTEPS]; /* with local/global solves */
    /* ms per frame of backward Euler that brio sets itself on two cores; 0: none */
    double goal;
    bool large; /* what takes minutes only with --fine */
} Model;

static const Model models[] = {
    {"Bar",
     "rt-bar",
     NULL,
     {148, 231, 3.27},
     {3.62, 5.73, 1.85},
     {3.79, 18.22, 36.42, 72.73, 361},
     0,
     false},
    {"Cube, figure 5",
     "rt-cube",
     NULL,
     {277, 505, 1.86},
     {5.84, 8.41, 1.66},
     {6.03, 29.86, 54.95, 111, 541},
     1,
     false},
    {"Cube, figure 15",
     "rt-fall",
     NULL,
     {365, 597, 0.76},
     {6.93, 9.50, 0.93},
     {7.16, 56.85, 122, 245, 1232},
     0,
     false},
    {"Hippo",
     "rt-hippo",
     NULL,
     {3985, 6296, 5},
     {66.4, 73.3, 4.93},
     {68.4, 312, 666, 1230, 6615},
     0,
     false},
    {"Bunny, figure 14",
     "rt-slide",
     NULL,
     {6288, 10720, 13.8},
     {194, 212, 9.62},
     {184, 830, 2014, 3568, 18907},
     0,
     true},
    {"Cactus",
     "rt-cactus",
     NULL,
     {5050, 7577, 41.6},
     {115, 174, 39.9},
     {120, 590, 1242, 2442, 13849},
     0,
     true},
    {"Bar of 5.6k vertices (not in the paper)",
     "rt-bar",
     "bodies.0.shape={type: bar, length: 3.8, height: 1.1, width: 1.1, cells: 38, across: 11}",
     {NAN, NAN, NAN},
     {NAN, NAN, NAN},
     {NAN, NAN, NAN, NAN, NAN},
     10,
     true},
    {"Cloth",
     "rt-cloth",
     NULL,
     {24958, 42758, 6.11},
     {110, 127, 7.58},
     {109, 478, 997, 1976, 8388},
     10,
     true},
    {"Dog",
     "rt-nose",
     NULL,
     {39101, 99138, 212},
     {916, 1205, 193},
     {904, 4413, 9079, 16660, 79369},
     0,
     true},
    {"Bunny, figure 9",
     "rt-bunny",
     NULL,
     {31624, 64037, 227},
     {1181, 1510, 215},
     {1101, 5616, 11293, 22577, 120631},
     120,
     true},
};

static BrioSim *make(Report *r, const Model *model, const char *integrator, const char *solver,
                     double *h)
{
    char method[128], how[128];
    const char *sets[3] = {method, how, model->set};
    snprintf(method, sizeof method, "integrator=%s", integrator);
    snprintf(how, sizeof how, "solver=%s", solver);
    BrioScene *scene;
    BrioSim *sim = report_shipped(r, model->scene, sets, model->set ? 3 : 2, &scene);
    if (sim && h) *h = scene->def.h;
    brio__scene_free(scene);
    return sim;
}

/* ---- table 1 ---------------------------------------------------------------------------- */

/* Seconds inside of solves since the solver was made. */
static double in_solves(const BrioSim *sim)
{
    const BrioSolveTotals *t = &sim->stepper->solver->totals;
    double sum = 0;
#define X(name) sum += t->name;
    BRIO_PHASE_LIST(X)
#undef X
    return sum;
}

enum { BACKWARD, BLEND, SEARCH, METHODS, FRAMES_MAX = 30, LARGE_MAX = 10 };
/* blend as the paper has timed it: with one iteration of backward Euler */
static const char printed_blend[] = "{type: blend, be_iterations: 1}";
static const char *const method[METHODS] = {"backward-euler", printed_blend, "a-search"};

typedef struct Cost {
    bool fine;
    double mean[METHODS], median[METHODS], search; /* ms per frame; of blend outside of solves */
    /* median of backward Euler's frames from the states of that method's */
    double plain[METHODS];
} Cost;

static bool timed_step(Report *r, BrioSim *sim, const char *name, double *ms)
{
    double before = brio__seconds();
    bool fine = brio_sim_step(sim, NULL) == BRIO_OK;
    *ms = 1e3 * (brio__seconds() - before);
    if (!fine) report_fact(r, false, "%s: %s", name, brio_sim_reason(sim));
    return fine;
}

static double mean_of(const double *ms, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++) sum += ms[i];
    return sum / count;
}

static double median_of(double *ms, int count)
{
    qsort(ms, (size_t)count, sizeof *ms, brio__ascending);
    return ms[count / 2];
}

/* The methods in turn, so that all see the same machine; in addition to blend and A-search backward
 * Euler takes each of their frames, too: a motion that is alive costs more than one that has died
 * (more turns of the polar decompositions, other contacts in each frame), whatever the method. All
 * of it is done `times` times, to the same bits, and the smallest time of each frame counts, so
 * that what else the machine does counts less. */
static Cost measure(Report *r, const Model *model, const char *solver, int methods, int warm,
                    int frames, int times)
{
    static double ms[METHODS][FRAMES_MAX], plain_ms[METHODS][FRAMES_MAX], outside[FRAMES_MAX];
    Cost cost = {.fine = true};
    for (int f = 0; f < FRAMES_MAX; f++) {
        outside[f] = INFINITY;
        for (int k = 0; k < METHODS; k++) ms[k][f] = plain_ms[k][f] = INFINITY;
    }
    for (int again = 0; again < times && cost.fine; again++) {
        BrioSim *sim[METHODS] = {NULL}, *plain[METHODS] = {NULL};
        for (int k = 0; k < methods && cost.fine; k++)
            cost.fine =
                (sim[k] = make(r, model, method[k], solver, NULL)) &&
                (k == BACKWARD || (plain[k] = make(r, model, method[BACKWARD], solver, NULL)));
        for (int f = 0; f < warm + frames && cost.fine; f++)
            for (int k = 0; k < methods && cost.fine; k++) {
                double took, plain_took = 0, solving = in_solves(sim[k]);
                if (plain[k]) {
                    brio_state_assign(brio_sim_state(plain[k]), brio_sim_state(sim[k]));
                    cost.fine = timed_step(r, plain[k], method[BACKWARD], &plain_took);
                }
                cost.fine = cost.fine && timed_step(r, sim[k], method[k], &took);
                report_progress(r, (again + (double)f / (warm + frames)) / times, "%s, %s",
                                model->name, method[k]);
                if (f < warm || !cost.fine) continue;
                int at = f - warm;
                ms[k][at] = fmin(ms[k][at], took);
                plain_ms[k][at] = fmin(plain_ms[k][at], plain_took);
                if (k == BLEND)
                    outside[at] = fmin(outside[at], took - 1e3 * (in_solves(sim[k]) - solving));
            }
        for (int k = 0; k < METHODS; k++) {
            brio_sim_free(sim[k]);
            brio_sim_free(plain[k]);
        }
    }
    for (int k = 0; k < methods && cost.fine; k++) {
        cost.mean[k] = mean_of(ms[k], frames);
        cost.median[k] = median_of(ms[k], frames);
        cost.plain[k] = median_of(plain_ms[k], frames);
    }
    cost.search = mean_of(outside, frames);
    return cost;
}

static void table1(Report *r)
{
    /* times are not those of halved steps */
    static const char *const newton = "{type: newton, tol: 1e-5, max_halvings: 0}";
    for (size_t m = 0; m < BRIO_COUNT(models); m++) {
        const Model *model = &models[m];
        const int timed = model->large ? LARGE_MAX : FRAMES_MAX, times = model->large ? 1 : 3;
        double h;
        BrioSim *sim = make(r, model, "a-search", "local-global", &h);
        if (!sim) continue;
        report_section(
            r,
            "%s: %lld vertices, %lld elements, h = %.4g s; ms per frame, mean of %d, each "
            "the minimum of %d",
            model->name, (long long)sim->system->body[0].count,
            (long long)sim->system->term[sim->system->body[0].term].elements, h, timed, times);
        brio_sim_free(sim);
        Cost cost =
            measure(r, model, "{type: local-global, iterations: 10}", METHODS, 3, timed, times);
        if (!cost.fine) continue;
        report_number(r, model->global[0], cost.mean[BACKWARD],
                      "local/global, ten iterations: backward Euler");
        if (model->goal > 0)
            report_bound(r, cost.median[BACKWARD], 0, model->goal,
                         "  its median frame, compared with the goal for two cores");
        report_number(r, model->global[1], cost.mean[BLEND], "  blend");
        report_number(r, model->global[2], cost.search, "  of that outside of solves");
        report_number(r, NAN, cost.mean[SEARCH], "  A-search");
        report_bound(
            r, cost.median[SEARCH] / cost.plain[SEARCH] - 1, -INFINITY, 0.08,
            "  A-search: overhead over backward Euler from the same states, of the median frames");
        report_bound(r, cost.median[BLEND] / cost.plain[BLEND] - 1, -INFINITY, 0.3,
                     "  blend: overhead from the same states");
        report_bound(r, cost.median[SEARCH] / cost.median[BACKWARD] - 1, -INFINITY, 0.08,
                     "  A-search: its frames over those of backward Euler's own, dying motion");
        report_bound(r, cost.median[BLEND] / cost.median[BACKWARD] - 1, -INFINITY, 0.3,
                     "  blend: its frames over those");
        if (model->large && !report_fine(r)) continue;
        int frames = model->large ? 3 : 10;
        int warm = model->large ? 1 : 3;
        cost = measure(r, model, newton, BLEND + 1, warm, frames, 1);
        bool both = cost.fine;
        if (!both) cost = measure(r, model, newton, BACKWARD + 1, warm, frames, 1);
        if (!cost.fine) continue;
        report_number(r, model->newton[0], cost.mean[BACKWARD],
                      "Newton's method to 1e-5 m/s, mean of %d: backward Euler", frames);
        if (!both) continue;
        report_number(r, model->newton[1], cost.mean[BLEND], "  blend");
        report_number(r, model->newton[2], cost.search, "  of that outside of solves");
    }
    if (!report_fine(r)) report_note(r, "Newton's method on the larger models is run with --fine.");
}

REPRODUCTION(dinev2018_table1){
    .name = "dinev2018-table1",
    .paper = "Dinev2018",
    .summary = "table 1: milliseconds per frame with local/global solves and with Newton's method",
    .about = "The scenes rt-*.yaml, whose sizes are near the paper's (its meshes are not public). "
             "The paper's times are of its own machine; it gives no sizes, stiffnesses or speeds.",
    .chosen = "all scenes; the goals for two cores; the bounds on overheads",
    .minutes = 6,
    .run = table1,
};

/* ---- table 2 ---------------------------------------------------------------------------- */

/* Largest kinetic energy with blend: how much motion there is. The first frame, in which it looks
 * for the settled pose, does not count in *ms. */
static double motion(Report *r, const Model *model, int frames, double *ms)
{
    double max = 0, before = 0;
    BrioSim *sim = make(r, model, printed_blend, "{type: local-global, iterations: 10}", NULL);
    bool fine = sim != NULL;
    for (int f = 0; f <= frames && fine; f++) {
        BrioLedger now;
        if (f == 1) before = brio__seconds();
        fine = brio_sim_step(sim, NULL) == BRIO_OK && brio_sim_ledger(sim, &now) == BRIO_OK;
        if (fine) max = brio__larger(max, now.kinetic);
        report_progress(r, (double)f / frames, "%s, blend", model->name);
    }
    *ms = 1e3 * (brio__seconds() - before) / frames;
    brio_sim_free(sim);
    return fine ? max : NAN;
}

/* Energy that implicit midpoint makes, over that motion, and ms per frame. Ends when that is 100.
 */
static double gained_energy(Report *r, const Model *model, int pieces, int frames, double scale,
                            double *ms)
{
    double h = 0, max = 0;
    BrioSim *sim = make(r, model, "implicit-midpoint", "{type: local-global, iterations: 10}", &h);
    BrioLedger first, now;
    bool fine = sim && brio_sim_ledger(sim, &first) == BRIO_OK;
    double before = brio__seconds();
    int f = 0;
    for (; f < frames && fine && max < 100; f++) {
        for (int k = 0; k < pieces && fine; k++)
            fine = brio_sim_step_by(sim, h / pieces, NULL) == BRIO_OK;
        fine = fine && brio_sim_ledger(sim, &now) == BRIO_OK;
        if (fine)
            max = brio__larger(max, (now.total - first.total - now.added + now.dissipated) / scale);
        report_progress(r, (double)f / frames, "%s, %d substeps", model->name, pieces);
    }
    *ms = 1e3 * (brio__seconds() - before) / BRIO_MAX(f, 1);
    brio_sim_free(sim);
    return fine ? max : INFINITY;
}

static void table2(Report *r)
{
    enum { FRAMES = 90, LARGE_FRAMES = 30 };
    for (size_t m = 0; m < BRIO_COUNT(models); m++) {
        const Model *model = &models[m];
        if (isnan(model->midpoint[0])) continue;
        double ms, scale, gained[SUBSTEPS];
        int frames = model->large ? LARGE_FRAMES : FRAMES;
        int count = model->large && !report_fine(r) ? 2 : SUBSTEPS;
        scale = motion(r, model, frames, &ms);
        report_section(
            r,
            "%s, local/global with ten iterations: ms per frame, mean of %d, and the energy that "
            "implicit midpoint makes over the largest kinetic energy of blend",
            model->name, frames);
        if (!(scale > 0)) continue;
        report_number(r, model->global[1], ms, "blend");
        for (int k = 0; k < count; k++) {
            gained[k] = gained_energy(r, model, substeps[k], frames, scale, &ms);
            report_number(r, model->midpoint[k], ms, "implicit midpoint, %d substep%s: %s (%.3g)",
                          substeps[k], k ? "s" : "", gained[k] < 0.1 ? "stable" : "not stable",
                          gained[k]);
        }
        if (!strcmp(model->name, "Hippo"))
            report_bound(r, gained[SUBSTEPS - 1], 0.1, INFINITY,
                         "100 substeps do not make it stable: energy made over the motion's");
        else if (count == SUBSTEPS)
            report_bound(r, gained[SUBSTEPS - 1] / fmax(gained[0], 1e-12), 0, 1,
                         "100 substeps over 1: stability improves");
    }
    if (!report_fine(r))
        report_note(r, "10 to 100 substeps of the larger models are run with --fine.");
    report_note(r, "The paper's colours, which say what was stable, are not part of its text. Here "
                   "stable means less energy than a tenth of the motion's.");
}

REPRODUCTION(dinev2018_table2){
    .name = "dinev2018-table2",
    .paper = "Dinev2018",
    .summary = "table 2: implicit midpoint with 1 to 100 substeps and local/global solves: "
               "milliseconds per frame, stable or not",
    .about = "The scenes rt-*.yaml, whose sizes are near the paper's (its meshes are not public). "
             "The paper's times are of its own machine.",
    .chosen = "all scenes; a tenth of the motion's energy as the limit of \"stable\"",
    .minutes = 3,
    .run = table2,
};
