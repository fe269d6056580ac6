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
    {"A-search, momentum, alpha to 3", "{type: a-search, momentum: true, alpha_max: 3}"},
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
enum { PRINTED, FLIGHT, MOMENTUM, WIDE, METHODS = BRIO_COUNT(methods) };

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
    if (!report_has(r, t->shipped)) return NULL;
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

static void judge_form(Report *r, const Trial *t, const char *form, const Outcome *m,
                       const Outcome *o, const Outcome *reference)
{
    const Outcome *plain = &o[PRINTED];
    report_fact(r, m->finished, "%s: takes every step", form);
    /* where something fixes the body both are the same up to round-off */
    double same = 1 + 1e-6;
    report_bound(r, m->miss, 0, fmax(same * o[FLIGHT].miss, 0.01),
                 "%s: largest distance of the energy from its target (limit: flight)", form);
    /* a hundredth is the tolerance of blend */
    report_bound(r, m->settled, 0, fmax(same * o[FLIGHT].settled, 0.01),
                 "%s: mean distance in the second half of the run", form);
    if (!t->free) return;
    report_bound(r, m->angular, 0, 1e-10, "%s: change of angular momentum", form);
    report_bound(r, m->linear, 0, 1e-10, "%s: change of linear momentum", form);
    if (t->body)
        report_bound(r, fabs(m->rigid - reference->rigid), 0,
                     fabs(plain->rigid - reference->rigid) / 3,
                     "%s: rigid fraction, distance from the reference", form);
}

/* ---- stiff vibrations ------------------------------------------------------------------- */

/* For h w >> 1 one step of A-search is v'' = alpha (v' - v) for three successive velocities. So the
 * energy can be the target in every step only if successive velocities are 60 degrees apart. */

enum { PULLED = 3, STEPS = 60 }; /* coordinates of the second vertex; steps of a run */

/* A vertex of 1 kg at 1 m from where a spring of no length pulls it, with h w = 100 and h = 1 s,
 * and a velocity across. */
static BrioSim *stiff_vertex(Report *r, double alpha_max, double across)
{
    BrioSim *sim =
        report_scene(r,
                     "time: {h: 1}\ngravity: [0, 0, 0]\n"
                     "integrator: {type: a-search, alpha_max: %g}\nsolver: {tol: 1e-12}\nbodies:\n"
                     "  - shape: {type: line, length: 1, cells: 1}\n    kind: springs\n"
                     "    material: {type: hooke, k: 1.0e-9, vertex_mass: 1}\n"
                     "    fix: [{vertices: [0]}]\n    attach: [{vertices: [1], k: 1.0e4}]\n",
                     alpha_max);
    if (!sim) return NULL;
    double x[6], v[6] = {[PULLED + 1] = 100 * across};
    brio_sim_positions(sim, 0, x);
    x[PULLED] += 1;
    brio_sim_set_positions(sim, 0, x, NULL);
    brio_sim_set_velocities(sim, 0, v, NULL);
    return sim;
}

/* Energies over the target and alphas of STEPS steps, and angles between successive velocities. */
static bool watch_vertex(BrioSim *sim, double *energy, double *alpha, double *angle)
{
    double old[3] = {0}, v[6];
    if (!sim) return false;
    for (int k = 0; k < STEPS; k++) {
        BrioLedger now;
        if (brio_sim_step(sim, NULL) != BRIO_OK || brio_sim_ledger(sim, &now) != BRIO_OK)
            return false;
        energy[k] = now.total / now.target;
        alpha[k] = now.alpha;
        brio_sim_velocities(sim, 0, v);
        const double *w = v + PULLED;
        double dot = w[0] * old[0] + w[1] * old[1] + w[2] * old[2],
               size = trial_length(w) * trial_length(old);
        angle[k] = size > 0 ? acos(fmin(fmax(dot / size, -1), 1)) : NAN;
        for (int c = 0; c < 3; c++) old[c] = w[c];
    }
    return true;
}

static void stiff_vibrations(Report *r)
{
    static const double degree = 3.14159265358979323846 / 180;
    double energy[STEPS], alpha[STEPS], angle[STEPS], worst = 0, lowest = INFINITY;
    int run = 0, longest = 0;
    if (!report_part(r, "stiff vibrations, h w = 100: which energies alpha can reach")) return;
    BrioSim *sim = stiff_vertex(r, 10, 0);
    bool fine = watch_vertex(sim, energy, alpha, angle);
    brio_sim_free(sim);
    for (int k = 0; fine && k < STEPS; k++) {
        run = fabs(energy[k] - 1) < 0.01 ? run + 1 : 0;
        longest = BRIO_MAX(longest, run);
        lowest = fmin(lowest, energy[k]);
    }
    report_value(r, 2, fine ? longest : NAN, 0,
                 "along a line, alpha to 10: longest run of steps that meet the target");
    report_bound(r, lowest, 0, 1e-3, "along a line: smallest energy over the target");
    sim = stiff_vertex(r, 10, 0.3);
    fine = watch_vertex(sim, energy, alpha, angle);
    brio_sim_free(sim);
    /* the second step is the first that has both of its forces */
    for (int k = 2; fine && k < STEPS; k++)
        worst = brio__larger(worst, fabs(cos(angle[k]) - sin(angle[k - 1] / 2)));
    report_bound(r, fine ? worst : NAN, 0, 1e-3, "in a plane, alpha to 10: cos a' - sin(a/2)");
    report_value(r, 60, fine ? angle[STEPS - 1] / degree : NAN, 0.1,
                 "in a plane: angle of successive velocities at the end, degrees");
    report_value(r, 1, fine ? alpha[STEPS - 1] : NAN, 1e-3, "in a plane: alpha at the end");
    static const double limits[] = {1.1, 3, 10};
    for (size_t i = 0; i < BRIO_COUNT(limits); i++) {
        int missed = 0;
        sim = stiff_vertex(r, limits[i], 0.3);
        fine = watch_vertex(sim, energy, alpha, angle);
        brio_sim_free(sim);
        for (int k = 0; fine && k < STEPS; k++) missed += fabs(energy[k] - 1) > 0.01;
        report_number(r, NAN, fine ? missed : NAN,
                      "in a plane, alpha to %g: steps of %d that miss the target", limits[i],
                      STEPS);
    }
}

static void run(Report *r)
{
    FILE *file = report_file(r, "brio-momentum.csv");
    if (file)
        fprintf(
            file,
            "scene,method,h,finished,rigid,vibrating,elastic,lowest,highest,miss,settled,linear,"
            "angular\n");
    stiff_vibrations(r);
    for (size_t i = 0; i < FREE_CUBES + BRIO_COUNT(trials); i++) {
        const Trial *t = i < FREE_CUBES ? &free_cubes[i] : &trials[i - FREE_CUBES];
        Outcome o[METHODS], reference;
        if (!report_part(r, "%s; 1/%g s, %g s: rigid share of kinetic and elastic energy", t->name,
                         t->inverse_h, t->seconds))
            continue;
        reference = run_method(r, t, "reference", t->reference, t->reference_inverse_h, file);
        for (int k = 0; k < METHODS; k++)
            o[k] = run_method(r, t, methods[k].name, methods[k].integrator, t->inverse_h, file);
        judge_form(r, t, "momentum", &o[MOMENTUM], o, &reference);
        judge_form(r, t, "alpha to 3", &o[WIDE], o, &reference);
    }
    report_close(r, file);
}

REPRODUCTION(brio_momentum){
    .name = "brio-momentum",
    .paper = "Brio2026",
    .summary =
        "energy and momenta together: A-search with momenta compared with the printed form and ten "
        "rivals",
    .about =
        "Each line: the share of rigid motion in kinetic plus elastic energy, mean over the run; "
        "vib and el: the shares of vibration and elasticity; dL: the largest change of angular "
        "momentum; H: how far the total energy went down and up, as a fraction of the first or "
        "mean kinetic and elastic energy. References: explicit or second order at short steps. "
        "Methods that do not take barriers or constraints say so.",
    .minutes = 20,
    .parts = true,
    .run = run,
};
