/* Energy and momentum together: A-search as the paper prints it, with exact flight, with momenta,
 * and its rivals, each compared with a fine reference (docs/results.md). Not of a paper: brio's
 * own. */
#include "brio_trials.h"

typedef struct Method {
    const char *name, *integrator;
} Method;

static const Method methods[] = {
    {"A-search as printed", "{type: a-search, flight: false, momentum: false}"},
    {"A-search, flight", "{type: a-search, momentum: false}"},
    {"A-search, momentum", "{type: a-search, momentum: true}"},
    {"blend", "blend"},
    {"BDF2", "bdf2"},
    {"generalized-alpha", "generalized-alpha"},
    {"energy-momentum", "energy-momentum"},
    {"FEPR", "fepr"},
    {"Bathe", "bathe"},
    {"average vector field", "average-vector-field"},
    {"relaxed TR-BDF2", "{type: relaxation, tableau: tr-bdf2}"},
    {"budget with momenta", "{type: energy-budget, momentum: true}"},
};
enum { PRINTED, FLIGHT, MOMENTUM, METHODS = BRIO_COUNT(methods) };

/* The free cubes come first. */
static const Trial trials[] = {
    {.name = "intermediate axis: an affine box at 1/60 s",
     .shipped = "intermediate-axis",
     .inverse_h = 60,
     .seconds = 10,
     .reference = "implicit-midpoint",
     .reference_inverse_h = 2400,
     .free = true},
    {.name = "twisted bar, fixed at one end, 12 x 6 x 3 cells",
     .shipped = "twisted-bar",
     .sets = {"bodies.0.shape.cells=[12, 6, 3]", "solver.tol=1e-5"},
     .inverse_h = 30,
     .seconds = 3,
     .reference = "verlet",
     .reference_inverse_h = 6000},
    {.name = "cloth on two pins, 8 x 8 cells",
     .shipped = "cloth",
     .sets = {"bodies.0.shape.cells_x=8", "bodies.0.shape.cells_z=8",
              "bodies.0.fix=[{vertices: [0, 8]}]", "probes=[]", "solver.tol=1e-6"},
     .inverse_h = 60,
     .seconds = 3,
     .reference = "verlet",
     .reference_inverse_h = 6000},
    {.name = "chain of affine links on ball joints",
     .shipped = "links",
     .inverse_h = 120,
     .seconds = 2,
     .reference = "variational",
     .reference_inverse_h = 1920},
    {.name = "dice: eight dice, mu from 0 to 1, without decay",
     .shipped = "dice",
     .inverse_h = 120,
     .seconds = 1,
     .reference = "bdf2",
     .reference_inverse_h = 960},
    {.name = "stairs, without decay",
     .shipped = "stairs",
     .inverse_h = 120,
     .seconds = 1,
     .reference = "bdf2",
     .reference_inverse_h = 960},
};

/* ---- scenes ----------------------------------------------------------------------------- */

/* NULL, with the reason in a note, where the method does not take the scene. */
static BrioSim *make(Report *r, const Trial *t, const char *name, const char *integrator,
                     double inverse_h)
{
    if (t->body) return trial_cube(r, t, integrator, inverse_h);
    char method[160], step[64], message[2048];
    const char *sets[8];
    int count = 0;
    snprintf(method, sizeof method, "integrator=%s", integrator);
    snprintf(step, sizeof step, "time.h=%.17g", 1 / inverse_h);
    sets[count++] = method;
    sets[count++] = step;
    for (int i = 0; i < 6 && t->sets[i]; i++) sets[count++] = t->sets[i];
    BrioScene *scene = NULL;
    BrioSim *sim = NULL;
    BrioError error = {0};
    BrioStatus status = brio__scene_load(t->shipped, sets, count, &scene, &error);
    if (status == BRIO_OK) status = brio__scene_sim(scene, &sim, &error);
    brio__scene_free(scene);
    if (status == BRIO_OK) return sim;
    brio_error_text(&error, message, sizeof message);
    report_note(r, "%s does not take it: %s", name, message);
    return NULL;
}

static Outcome run_method(Report *r, const Trial *t, const char *name, const char *integrator,
                          double inverse_h, FILE *file)
{
    BrioSim *sim = make(r, t, name, integrator, inverse_h);
    if (!sim) return (Outcome){0};
    Outcome o = trial_watch(r, sim, t->seconds, name);
    brio_sim_free(sim);
    if (!o.finished) report_note(r, "%s ends at %.2f s: a step failed", name, o.seconds);
    if (!(o.seconds > 0)) return o;
    report_number(r, NAN, o.rigid, "%s: vib %.3f el %.3f dL %.0e H %+.2f %+.2f", name, o.vibrating,
                  o.elastic, o.angular, o.lowest, o.highest);
    if (file)
        fprintf(file, "\"%s\",\"%s\",%.17g,%d,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g\n",
                t->name, name, 1 / inverse_h, o.finished, o.rigid, o.vibrating, o.elastic, o.lowest,
                o.highest, o.miss, o.settled, o.linear, o.angular);
    return o;
}

/* ---- verdicts --------------------------------------------------------------------------- */

static void judge(Report *r, const Trial *t, const Outcome *o, const Outcome *reference)
{
    const Outcome *m = &o[MOMENTUM], *plain = &o[PRINTED];
    report_fact(r, m->finished, "A-search with momentum takes every step");
    report_bound(r, m->miss, 0, fmax(o[FLIGHT].miss, 0.01),
                 "momentum: largest distance of the energy from its target (limit: flight)");
    /* a hundredth is the tolerance of blend */
    report_bound(r, m->settled, 0, fmax(o[FLIGHT].settled, 0.01),
                 "momentum: mean distance in the second half of the run");
    if (!t->free) return;
    report_bound(r, m->angular, 0, 1e-10, "momentum: change of angular momentum");
    report_bound(r, m->linear, 0, 1e-10, "momentum: change of linear momentum");
    if (t->body)
        report_bound(r, fabs(m->rigid - reference->rigid), 0,
                     fabs(plain->rigid - reference->rigid) / 3,
                     "momentum: rigid share, distance from the reference");
}

static void run(Report *r)
{
    FILE *file = report_file(r, "brio-momentum.csv");
    if (file)
        fprintf(
            file,
            "scene,method,h,finished,rigid,vibrating,elastic,lowest,highest,miss,settled,linear,"
            "angular\n");
    for (size_t i = 0; i < FREE_CUBES + BRIO_COUNT(trials); i++) {
        const Trial *t = i < FREE_CUBES ? &free_cubes[i] : &trials[i - FREE_CUBES];
        Outcome o[METHODS], reference;
        report_section(r, "%s; 1/%g s, %g s: rigid share of kinetic and elastic energy", t->name,
                       t->inverse_h, t->seconds);
        reference = run_method(r, t, "reference", t->reference, t->reference_inverse_h, file);
        for (int k = 0; k < METHODS; k++)
            o[k] = run_method(r, t, methods[k].name, methods[k].integrator, t->inverse_h, file);
        judge(r, t, o, &reference);
    }
    report_close(r, file);
}

REPRODUCTION(brio_momentum){
    .name = "brio-momentum",
    .paper = "Brio2026",
    .summary = "energy and momenta together: A-search with momenta beside the printed form and ten "
               "rivals",
    .about =
        "Each line: the share of rigid motion in kinetic plus elastic energy, mean over the run; "
        "vib and el: the shares of vibration and elasticity; dL: the largest change of angular "
        "momentum; H: how far the total energy went down and up, as a fraction of the first or "
        "mean kinetic and elastic energy. References: explicit or second order at short steps. "
        "Methods that do not take barriers or constraints say so.",
    .minutes = 20,
    .run = run,
};
