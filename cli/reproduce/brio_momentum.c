/* Energy and momentum together: A-search as the paper prints it, with exact flight, with momenta,
 * and its rivals, each beside a fine reference (docs/results.md). Not of a paper: brio's own. */
#include "reproduce.h"

#include "internal.h"

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

/* A scene: of its own, or one that ships with settings. */
typedef struct Trial {
    const char *name;
    const char *body;    /* YAML of a cube's material; NULL: it ships */
    double stretch;      /* of the cube along x */
    double spin;         /* rad/s, about a skew axis */
    const char *shipped; /* name */
    const char *sets[6];
    double inverse_h, seconds;
    const char *reference;
    double reference_inverse_h;
    bool free; /* nothing acts on it: momenta are judged */
} Trial;

static const Trial trials[] = {
    {.name = "free spin, soft: corotated, E = 5e4 Pa, stretched by 20 %, 10 rad/s",
     .body = "corotated, E: 5e4",
     .stretch = 0.2,
     .spin = 10,
     .inverse_h = 30,
     .seconds = 10,
     .reference = "verlet",
     .reference_inverse_h = 6000,
     .free = true},
    {.name = "free spin, stiff: neo-Hookean, E = 1e6 Pa, stretched by 5 %, 15 rad/s",
     .body = "neo-hookean, E: 1e6",
     .stretch = 0.05,
     .spin = 15,
     .inverse_h = 30,
     .seconds = 10,
     .reference = "verlet",
     .reference_inverse_h = 6000,
     .free = true},
    {.name = "free spin, not stretched: corotated, E = 5e4 Pa, 15 rad/s",
     .body = "corotated, E: 5e4",
     .spin = 15,
     .inverse_h = 30,
     .seconds = 10,
     .reference = "verlet",
     .reference_inverse_h = 6000,
     .free = true},
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

/* ---- what a run did --------------------------------------------------------------------- */

/* Shares are means over the run, of the mean of kinetic plus elastic energy. */
typedef struct Outcome {
    bool created, finished;
    double rigid, vibrating, elastic;
    /* change of the total energy over the first or mean kinetic and elastic energy, whichever is
     * larger */
    double lowest, highest;
    /* distance of the energy from its target, likewise: the largest, and the mean of the second
     * half of the run */
    double miss, settled;
    double linear, angular; /* largest change of momenta over the largest ones */
    double seconds;         /* how far it came */
} Outcome;

/* The kinetic energy of the rigid motion of each body: its momenta are those of the body. */
static double rigid_energy(BrioSim *sim)
{
    const BrioSystem *s = sim->system;
    double energy = 0, *x = sim->world;
    double *v = brio__alloc(3 * (size_t)s->vertex_count, sizeof *v);
    if (!v) abort();
    brio__system_positions(s, sim->state, sim->state->q, sim->state->time, x);
    brio__system_velocities(s, sim->state, sim->state->v, sim->state->time, v);
    for (int b = 0; b < s->body_count; b++) {
        int64_t count, first = brio__body_masses(&s->body[b], &count);
        double mass = 0, centre[3] = {0}, speed[3] = {0}, L[3] = {0}, I[3][3] = {{0}}, w[3];
        for (int64_t i = first; i < first + count; i++) {
            mass += s->vertex_mass[i];
            for (int r = 0; r < 3; r++) {
                centre[r] += s->vertex_mass[i] * x[3 * i + r];
                speed[r] += s->vertex_mass[i] * v[3 * i + r];
            }
        }
        for (int r = 0; r < 3; r++) centre[r] /= mass, speed[r] /= mass;
        for (int64_t i = first; i < first + count; i++) {
            double d[3], m = s->vertex_mass[i];
            for (int r = 0; r < 3; r++) d[r] = x[3 * i + r] - centre[r];
            double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            for (int r = 0; r < 3; r++) {
                int j = (r + 1) % 3, k = (r + 2) % 3;
                L[r] += m * (d[j] * v[3 * i + k] - d[k] * v[3 * i + j]);
                for (int c = 0; c < 3; c++) I[r][c] += m * ((r == c ? square : 0) - d[r] * d[c]);
            }
        }
        brio__solve_inertia(I, L, w);
        for (int r = 0; r < 3; r++) energy += (mass * speed[r] * speed[r] + w[r] * L[r]) / 2;
    }
    brio__free(v);
    return energy;
}

static double change_of(const double now[3], const double first[3])
{
    double sum = 0;
    for (int r = 0; r < 3; r++) sum += (now[r] - first[r]) * (now[r] - first[r]);
    return sqrt(sum);
}

static double length(const double a[3]) { return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

static Outcome watch(Report *r, BrioSim *sim, double seconds, const char *what)
{
    Outcome o = {.created = true, .finished = true};
    BrioLedger first, now;
    int64_t steps = (int64_t)round(seconds / sim->h), every = BRIO_MAX(steps / 600, 1);
    double sum = 0;
    int64_t late = 0, count = 0;
    brio_sim_ledger(sim, &first);
    double turning = length(first.angular), moving = length(first.momentum);
    for (int64_t k = 1; k <= steps && o.finished; k++) {
        o.finished = brio_sim_step(sim, NULL) == BRIO_OK;
        if (!o.finished || k % every) continue;
        if (brio_sim_ledger(sim, &now) != BRIO_OK) break;
        double rigid = rigid_energy(sim);
        o.rigid += rigid;
        o.vibrating += now.kinetic - rigid;
        o.elastic += now.elastic;
        sum += now.kinetic + now.elastic;
        count++;
        o.lowest = fmin(o.lowest, now.total - first.total);
        o.highest = fmax(o.highest, now.total - first.total);
        double off = isnan(now.target) ? 0 : fabs(now.total - now.target);
        o.miss = fmax(o.miss, off);
        if (2 * k > steps) {
            o.settled += off;
            late++;
        }
        turning = fmax(turning, length(now.angular));
        moving = fmax(moving, length(now.momentum));
        o.angular = fmax(o.angular, change_of(now.angular, first.angular));
        o.linear = fmax(o.linear, change_of(now.momentum, first.momentum));
        o.seconds = now.time;
        report_progress(r, (double)k / (double)steps, "%s", what);
    }
    double scale = fmax(first.kinetic + first.elastic, sum / (double)count);
    o.rigid /= sum, o.vibrating /= sum, o.elastic /= sum;
    o.lowest /= scale, o.highest /= scale, o.miss /= scale;
    o.settled /= scale * (double)late;
    if (turning > 0) o.angular /= turning;
    /* a body that stays where it is has next to none: then its spin over a metre counts */
    if (moving > 0) o.linear /= fmax(moving, turning);
    return o;
}

/* ---- scenes ----------------------------------------------------------------------------- */

static const double axis[3] = {1, 2, 3};

/* A cube of 64 vertices, stretched along x, spun about its centre. */
static BrioSim *make_cube(Report *r, const Trial *t, const char *integrator, double inverse_h)
{
    enum { VERTICES = 64 };
    double x[3 * VERTICES], v[3 * VERTICES], size = length(axis);
    BrioSim *sim = report_scene(
        r,
        "time: {h: %.17g}\ngravity: [0, 0, 0]\nintegrator: %s\nsolver: {tol: 1e-9}\nbodies:\n"
        "  - shape: {type: box, size: [0.1, 0.1, 0.1], cells: [3, 3, 3]}\n"
        "    material: {type: %s, nu: 0.3, rho: 1000}\n",
        1 / inverse_h, integrator, t->body);
    if (!sim) return NULL;
    brio_sim_positions(sim, 0, x);
    for (int i = 0; i < VERTICES; i++) x[3 * i] *= 1 + t->stretch;
    for (int i = 0; i < VERTICES; i++)
        for (int c = 0; c < 3; c++) {
            int j = (c + 1) % 3, k = (c + 2) % 3;
            v[3 * i + c] = t->spin / size * (axis[j] * x[3 * i + k] - axis[k] * x[3 * i + j]);
        }
    brio_sim_set_positions(sim, 0, x, NULL);
    brio_sim_set_velocities(sim, 0, v, NULL);
    return sim;
}

/* NULL, with the reason in a note, where the method does not take the scene. */
static BrioSim *make(Report *r, const Trial *t, const char *name, const char *integrator,
                     double inverse_h)
{
    if (t->body) return make_cube(r, t, integrator, inverse_h);
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
    Outcome o = watch(r, sim, t->seconds, name);
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
    for (size_t i = 0; i < BRIO_COUNT(trials); i++) {
        const Trial *t = &trials[i];
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
