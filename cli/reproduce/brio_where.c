/* Where the energy sits (docs/results.md): the fraction of elastic energy in a vibration under
 * decoupled methods and A-search, by formula, by the matrix of a step, by modes of a cube, and on
 * the free cubes; and what other tableaus do. Not of a paper: brio's own. */
#include "brio_trials.h"

#include "brio/stages.h"

/* ---- A-1 that leaves what it does not resolve ------------------------------------------- */

/* dv through the factor of the solve, (M + h^2 K)^-1 M dv: 1/(1 + z^2) of it. */
static BrioStatus filtered_step(BrioStepper *s, double h)
{
    BRIO_CHECK(trial_euler(s, h));
    double *q = brio_stepper_scratch(s, TRIAL_Q), *w = brio_stepper_scratch(s, TRIAL_W);
    double *p = brio_stepper_scratch(s, TRIAL_P);
    BRIO_CHECK(brio_stepper_factor(s, q, brio_stepper_time(s) + h, h * h));
    BRIO_CHECK(brio_stepper_factored_solve(s, p, p));
    brio_stepper_combine(s, 1, w, -1, p, w);
    return brio_stepper_accept(s, h, q, w);
}

static const BrioIntegrator filtered = {
    .name = "a-1-filtered",
    .summary = "A-1 whose change of momenta goes through the matrix of the solve.",
    .citation = "You2026",
    .order = 1,
    .traits = BRIO_IMPLICIT | BRIO_END_IS_SOLVED,
    .step = filtered_step,
};

/* ---- the matrix of a step --------------------------------------------------------------- */

typedef struct Tableau {
    const char *name;
    double number; /* of the field `tableau` */
} Tableau;
static const Tableau tableaus[] = {
    {"backward-euler", 5}, {"sdirk2", 8}, {"tr-bdf2", 9}, {"sdirk3", 10}, {"sdirk2-wide", 11}};

/* The matrix of the decoupled method over a tableau for m = 1, h = 1, k = z^2. */
static bool measure(const Tableau *t, double alpha, double z, BrioAmplification *a)
{
    BrioSimDef def = brio_default_sim("decoupled");
    const BrioField *fields = brio_integrator("decoupled")->fields;
    BrioOscillator *o = NULL;
    brio_fields_set(fields, def.values, "tableau", &t->number, NULL);
    brio_fields_set(fields, def.values, "alpha", &alpha, NULL);
    BrioStatus status = brio__oscillator_create(&def, 1, &o, NULL);
    if (status == BRIO_OK) status = brio__oscillator_measure(o, z * z, 0, 1, a, NULL);
    brio__oscillator_free(o);
    return status == BRIO_OK && a->size == 2;
}

/* A matrix of determinant 1 keeps the quadratic form -A21 x^2 + (A11 - A22) x v + A12 v^2, and the
 * mean squares over its ellipse are as A12 to -A21. */
static void by_matrix(Report *r)
{
    static const double steps[] = {0.1, 0.3, 1, 3, 10, 30, 100};
    if (!report_part(r, "elastic over kinetic energy of a vibration, alpha = 1: the matrix of a "
                        "step and |R(i z)|^2, z = h w"))
        return;
    for (size_t i = 0; i < BRIO_COUNT(tableaus); i++) {
        double worst = 0;
        int known = 0;
        for (size_t k = 0; k < BRIO_COUNT(steps); k++) {
            BrioAmplification a, phi;
            double z = steps[k];
            if (!measure(&tableaus[i], 1, z, &a) || !measure(&tableaus[i], 0, z, &phi)) continue;
            if (!(fabs(a.trace) < 2)) {
                report_note(r, "%s grows at z = %g: there is no mean", tableaus[i].name, z);
                continue;
            }
            double ratio = -z * z * a.matrix[1] / a.matrix[2];
            report_number(r, phi.det, ratio, "%s, z = %g", tableaus[i].name, z);
            worst = brio__larger(worst, fabs(ratio / phi.det - 1));
            if (i == 0) worst = brio__larger(worst, fabs(ratio * (1 + z * z) - 1));
            known++;
        }
        report_bound(r, known ? worst : NAN, 0, 1e-7, "%s: relative distance from |R(i z)|^2",
                     tableaus[i].name);
    }
}

static void by_filter(Report *r)
{
    static const double steps[] = {0.1, 0.3, 1, 3, 10, 100};
    double worst = 0;
    if (!report_part(r, "A-1 with momenta through the matrix of the solve: determinant, "
                        "1 - z^4/(1 + z^2)^2"))
        return;
    for (size_t k = 0; k < BRIO_COUNT(steps); k++) {
        double z = steps[k], part = z * z / (1 + z * z), loss = 1 - part * part;
        BrioSimDef def = brio_default_sim(filtered.name);
        BrioOscillator *o = NULL;
        BrioAmplification a = {0};
        BrioStatus status = brio__oscillator_create(&def, 1, &o, NULL);
        if (status == BRIO_OK) status = brio__oscillator_measure(o, z * z, 0, 1, &a, NULL);
        brio__oscillator_free(o);
        if (status != BRIO_OK) return report_fact(r, false, "no matrix at z = %g", z);
        report_number(r, loss, a.det, "z = %g (backward Euler: %.3g)", z, 1 / (1 + z * z));
        worst = brio__larger(worst, fabs(a.det / loss - 1));
    }
    report_bound(r, worst, 0, 1e-7, "relative distance from the formula");
}

/* ---- the modes of a cube ---------------------------------------------------------------- */

enum { VERTICES = 64, N = 3 * VERTICES };

typedef struct Spectrum {
    BrioModes modes;
    double rest[N];
    /* of the modes' speeds and places, without rigid motion: sums over the run, of themselves and
     * squared; then energies about the mean */
    double speed[N], place[N], kinetic[N], potential[N];
    /* energies of the modes in the state before, and the largest elastic energy over what any
     * velocity allows */
    double before[N], reached;
} Spectrum;

static bool create_spectrum(Report *r, const Trial *t, Spectrum *s)
{
    Trial still = *t;
    still.stretch = still.spin = 0;
    BrioStiffness *stiffness = NULL;
    BrioSim *sim = trial_cube(r, &still, "backward-euler", t->inverse_h);
    *s = (Spectrum){0};
    if (!sim) return false;
    brio_sim_positions(sim, 0, s->rest);
    BrioStatus status = brio__stiffness_create(sim->system, &stiffness);
    if (status == BRIO_OK) status = brio__stiffness_at(stiffness, sim->state, s->rest);
    if (status == BRIO_OK) status = brio__modes_create(stiffness, &s->modes, NULL);
    brio__stiffness_free(stiffness);
    brio_sim_free(sim);
    report_fact(r, status == BRIO_OK, "the modes of the cube");
    return status == BRIO_OK;
}

/* The velocities without those of the rigid motion with the same momenta. */
static void take_rigid(const double *mass, const double *x, double *v)
{
    double all = 0, c[3] = {0}, p[3] = {0}, L[3] = {0}, I[3][3] = {{0}}, w[3];
    for (int i = 0; i < VERTICES; i++) {
        all += mass[i];
        for (int k = 0; k < 3; k++) {
            c[k] += mass[i] * x[3 * i + k];
            p[k] += mass[i] * v[3 * i + k];
        }
    }
    for (int pass = 0; pass < 2; pass++) { /* L and I, then w x r */
        for (int i = 0; i < VERTICES; i++) {
            double d[3], m = mass[i], square = 0;
            for (int k = 0; k < 3; k++) d[k] = x[3 * i + k] - c[k] / all, square += d[k] * d[k];
            for (int k = 0; k < 3; k++) {
                int a = (k + 1) % 3, b = (k + 2) % 3;
                if (pass) {
                    v[3 * i + k] -= p[k] / all + w[a] * d[b] - w[b] * d[a];
                    continue;
                }
                L[k] += m * (d[a] * v[3 * i + b] - d[b] * v[3 * i + a]);
                for (int j = 0; j < 3; j++) I[k][j] += m * ((k == j ? square : 0) - d[k] * d[j]);
            }
        }
        if (!pass) brio__solve_inertia(I, L, w);
    }
}

/* Adds the energies of a state, seen from the turned body. */
static void add_state(Spectrum *s, BrioSim *sim)
{
    double x[N], v[N], u[N], speed[N], a[N], b[N], scratch[N], R[9], shift[3];
    const double *mass = sim->system->vertex_mass;
    brio_sim_positions(sim, 0, x);
    brio_sim_velocities(sim, 0, v);
    take_rigid(mass, x, v);
    if (brio__rigid_fit(VERTICES, mass, s->rest, x, R, shift) != BRIO_OK) return;
    for (int i = 0; i < VERTICES; i++)
        for (int k = 0; k < 3; k++) {
            u[3 * i + k] = -s->rest[3 * i + k];
            speed[3 * i + k] = 0;
            for (int c = 0; c < 3; c++) {
                u[3 * i + k] += R[3 * c + k] * (x[3 * i + c] - shift[c]);
                speed[3 * i + k] += R[3 * c + k] * v[3 * i + c];
            }
        }
    brio__modes_project(sim->system, &s->modes, u, a, scratch);
    brio__modes_project(sim->system, &s->modes, speed, b, scratch);
    for (int k = 0; k < N; k++) {
        s->speed[k] += b[k];
        s->place[k] += a[k];
        double elastic = s->modes.squared[k] * a[k] * a[k] / 2, moving = b[k] * b[k] / 2;
        s->kinetic[k] += moving;
        s->potential[k] += elastic;
        double allowed = s->before[k] / (1 + sim->h * sim->h * s->modes.squared[k]);
        if (allowed > 0 && s->modes.squared[k] > s->modes.zero)
            s->reached = brio__larger(s->reached, elastic / allowed);
        s->before[k] = elastic + moving;
    }
}

/* Runs a cube; what its modes should have of elastic energy over kinetic by 1/(1 + z^2), and what
 * they have. */
static void run_spectrum(Report *r, Spectrum *s, BrioSim *sim, int64_t steps, double *expected,
                         double *found)
{
    double kinetic = 0, predicted = 0, potential = 0, count = 0;
    memset(s->speed, 0, sizeof s->speed);
    memset(s->place, 0, sizeof s->place);
    memset(s->kinetic, 0, sizeof s->kinetic);
    memset(s->potential, 0, sizeof s->potential);
    memset(s->before, 0, sizeof s->before);
    s->reached = 0;
    for (int64_t i = 0; i < steps && brio_sim_step(sim, NULL) == BRIO_OK; i++) {
        add_state(s, sim);
        count++;
        report_progress(r, (double)i / (double)steps, "modes");
    }
    for (int k = 0; k < N; k++) {
        if (s->modes.squared[k] <= s->modes.zero) continue;
        /* what rotation stretches stays: it does not vibrate */
        s->kinetic[k] -= s->speed[k] * s->speed[k] / (2 * count);
        s->potential[k] -= s->modes.squared[k] * s->place[k] * s->place[k] / (2 * count);
        kinetic += s->kinetic[k];
        potential += s->potential[k];
        predicted += s->kinetic[k] / (1 + sim->h * sim->h * s->modes.squared[k]);
    }
    *expected = predicted / kinetic;
    *found = potential / kinetic;
}

/* A cube at rest whose vertices are moved at random, by a millionth of its size: linear motion. */
static void by_mode(Report *r)
{
    static const double rates[] = {30, 300, 3000};
    static const char *const methods[] = {"a-1", "a-search"};
    Spectrum s;
    if (!report_part(r, "modes of the soft cube, small vibrations, 3000 steps of A-1 and A-search"))
        return;
    if (!create_spectrum(r, &free_cubes[0], &s)) return;
    for (size_t i = 0; i < BRIO_COUNT(rates); i++)
        for (size_t m = 0; m < BRIO_COUNT(methods); m++) {
            Trial still = free_cubes[0];
            still.stretch = still.spin = 0;
            BrioSim *sim = trial_cube(r, &still, methods[m], rates[i]);
            double x[N], expected, found, worst = 0, h = 1 / rates[i], low = 0, high = 0;
            if (!sim) break;
            uint32_t random = 1;
            for (int k = 0; k < N; k++) {
                random = random * 1664525u + 1013904223u;
                x[k] = s.rest[k] + 2e-7 * ((double)random / 4294967296. - 0.5);
            }
            brio_sim_set_positions(sim, 0, x, NULL);
            run_spectrum(r, &s, sim, 3000, &expected, &found);
            brio_sim_free(sim);
            for (int k = 0; k < N; k++) {
                if (s.modes.squared[k] <= s.modes.zero) continue;
                double z = h * sqrt(s.modes.squared[k]);
                if (low == 0) low = z;
                high = z;
                worst = brio__larger(worst, fabs(s.potential[k] / s.kinetic[k] * (1 + z * z) - 1));
            }
            report_number(r, expected, found, "%s at 1/%g s: all modes, z from %.2g to %.2g",
                          methods[m], rates[i], low, high);
            /* a cube that is not quite linear, and turns a little */
            report_bound(r, s.reached, 0, 1.01,
                         "%s at 1/%g s: largest elastic energy of a mode over (W3)", methods[m],
                         rates[i]);
            /* means over a finite time */
            report_bound(r, worst, 0, 0.1, "%s at 1/%g s: worst mode, relative distance",
                         methods[m], rates[i]);
        }
    brio__modes_free(&s.modes);
}

/* ---- the free cubes --------------------------------------------------------------------- */

typedef struct Method {
    const char *name, *integrator;
} Method;
static const Method methods[] = {
    {"A-search, momentum", "a-search"},
    {"search over backward-euler", "{type: decoupled, tableau: backward-euler, alpha: search}"},
    {"search over sdirk2-wide", "{type: decoupled, tableau: sdirk2-wide, alpha: search}"},
    {"search over sdirk2", "{type: decoupled, tableau: sdirk2, alpha: search}"},
    {"search over tr-bdf2", "{type: decoupled, tableau: tr-bdf2, alpha: search}"},
    {"search over sdirk3", "{type: decoupled, tableau: sdirk3, alpha: search}"},
    {"search over trapezoidal", "{type: decoupled, tableau: trapezoidal, alpha: search}"},
    {"exponential", "exponential"},
    {"A-1 through the matrix", "a-1-filtered"},
};

static double elastic_of_vibration(const Outcome *o)
{
    return o->elastic / (o->elastic + o->vibrating);
}

static void free_cube(Report *r, const Trial *t, FILE *file)
{
    Spectrum s;
    double expected = NAN, found = NAN;
    if (!report_part(r, "%s; 1/%g s: elastic fraction of vibration", t->name, t->inverse_h)) return;
    if (create_spectrum(r, t, &s)) {
        BrioSim *sim = trial_cube(r, t, "a-search", t->inverse_h);
        if (sim) run_spectrum(r, &s, sim, (int64_t)(t->seconds * t->inverse_h), &expected, &found);
        brio_sim_free(sim);
        brio__modes_free(&s.modes);
    }
    report_bound(r, found / expected, 0.9, 1.1,
                 "A-search: elastic over kinetic by modes, over the formula's %.2g", expected);
    for (int k = -1; k < (int)BRIO_COUNT(methods); k++) {
        const char *name = k < 0 ? "reference" : methods[k].name;
        BrioSim *sim = trial_cube(r, t, k < 0 ? t->reference : methods[k].integrator,
                                  k < 0 ? t->reference_inverse_h : t->inverse_h);
        if (!sim) continue;
        Outcome o = trial_watch(r, sim, t->seconds, name);
        brio_sim_free(sim);
        if (!o.finished) report_note(r, "%s ends at %.2f s: a step failed", name, o.seconds);
        if (!(o.seconds > 0)) continue;
        report_number(r, NAN, elastic_of_vibration(&o),
                      "%s: rigid %.3f vib %.3f el %.3f dL %.0e H %+.2f %+.2f", name, o.rigid,
                      o.vibrating, o.elastic, o.angular, o.lowest, o.highest);
        if (file)
            fprintf(file, "\"%s\",\"%s\",%d,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g\n", t->name, name,
                    o.finished, o.rigid, o.vibrating, o.elastic, o.lowest, o.highest, o.angular);
    }
}

static void run(Report *r)
{
    FILE *file = report_file(r, "brio-where.csv");
    if (file)
        fprintf(file, "scene,method,finished,rigid,vibrating,elastic,lowest,highest,angular\n");
    if (!brio_integrator(filtered.name)) brio_register_integrator(&filtered, NULL);
    by_matrix(r);
    by_filter(r);
    by_mode(r);
    for (int i = 0; i < FREE_CUBES; i++) free_cube(r, &free_cubes[i], file);
    report_close(r, file);
}

REPRODUCTION(brio_where){
    .name = "brio-where",
    .paper = "Brio2026",
    .summary = "where the energy sits: elastic and kinetic energy of vibrations under A-search",
    .about =
        "A decoupled method over a tableau with the stability function R divides the energy "
        "of a vibration as |R(i h w)|^2 to 1, elastic to kinetic. Measured by the matrix of a "
        "step, by the modes of a cube, and on the free cubes of brio-momentum compared with a fine "
        "reference.",
    .minutes = 8,
    .parts = true,
    .run = run,
};
