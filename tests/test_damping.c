/* What damping models do and do not do: free fall, rates at different steps, momenta, the ledger's
 * entries, derivatives, signs. */
#include "system/system.h"
#include "field.h"
#include "memory.h"
#include "sim/sim.h"

#include <stdlib.h>
#include <string.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

typedef struct Setup {
    const char *integrator, *model; /* model NULL: no damping */
    double stiffness_only;          /* of Rayleigh: beta, with alpha = 0 */
    int cells;
    double E, h, stretch, g, spin;
} Setup;

/* Strengths with which a cube of E = 1e4 Pa loses some tenths of its vibration in a tenth of a
 * second. */
static BrioDamping damping_of(const char *model, double stiffness_only)
{
    static const struct {
        const char *model, *field;
        double value;
    } strength[] = {{"rayleigh", "alpha", 3},
                    {"rayleigh", "beta", 1e-4},
                    {"ether-drag", "k", 0.2},
                    {"momentum-preserving", "k", 0.1},
                    {"strain-energy", "beta", 3e-4}};
    BrioDamping damping;
    bool known = false;
    assert_int_equal(brio_default_damping(model, &damping, NULL), BRIO_OK);
    for (size_t i = 0; i < BRIO_COUNT(strength); i++)
        if (!strcmp(strength[i].model, model)) {
            assert_int_equal(brio_damping_set(&damping, strength[i].field, strength[i].value, NULL),
                             BRIO_OK);
            known = true;
        }
    if (!known) fail_msg("no strength is chosen here for the new model %s", model);
    if (stiffness_only > 0) {
        assert_int_equal(brio_damping_set(&damping, "alpha", 0, NULL), BRIO_OK);
        assert_int_equal(brio_damping_set(&damping, "beta", stiffness_only, NULL), BRIO_OK);
    }
    return damping;
}

static BrioSim *make(const Setup *s)
{
    const BrioField *fields = brio_shape_fields("box");
    const double size[3] = {0.1, 0.1, 0.1};
    const double cells[3] = {s->cells, s->cells, s->cells};
    const double gravity[3] = {0, s->g, 0};
    double values[BRIO_MAX_VALUES];
    BrioMesh *mesh;
    BrioBuilder *builder;
    BrioSystem *system;
    BrioState *state;
    BrioSim *sim;
    BrioError error = {0};
    BrioBodyDef body = brio_default_body();
    brio_fields_defaults(fields, values);
    assert_int_equal(brio_fields_set(fields, values, "size", size, NULL), BRIO_OK);
    assert_int_equal(brio_fields_set(fields, values, "cells", cells, NULL), BRIO_OK);
    assert_int_equal(brio_mesh_shape("box", values, &mesh, NULL), BRIO_OK);
    double *first = calloc((size_t)mesh->vertex_count, 6 * sizeof *first);
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        for (int r = 0; r < 3; r++)
            first[6 * v + r] = mesh->x[3 * v + r] * (r == 0 && s->stretch > 0 ? s->stretch : 1);
    body.name = "box";
    body.mesh = mesh;
    body.state = first;
    body.angular[1] = s->spin;
    body.angular[2] = s->spin / 3;
    assert_int_equal(brio_default_material("stable-neo-hookean", &body.material, NULL), BRIO_OK);
    assert_int_equal(brio_material_set(&body.material, "E", s->E, NULL), BRIO_OK);
    assert_int_equal(brio_material_set(&body.material, "nu", 0.3, NULL), BRIO_OK);
    assert_int_equal(brio_material_set(&body.material, "rho", 1000, NULL), BRIO_OK);
    assert_int_equal(brio_builder_create(&builder, NULL), BRIO_OK);
    brio_builder_gravity(builder, gravity);
    assert_int_equal(brio_builder_body(builder, &body, NULL, &error), BRIO_OK);
    assert_int_equal(brio_builder_finish(builder, &system, &state, &error), BRIO_OK);
    brio_builder_free(builder);
    brio_mesh_free(mesh);
    free(first);
    BrioSimDef def = brio_default_sim(s->integrator);
    def.h = s->h;
    def.solver.tol = 1e-13;
    if (s->model) def.damping[def.damping_count++] = damping_of(s->model, s->stiffness_only);
    if (brio_sim_create(system, state, &def, &sim, &error) != BRIO_OK)
        fail_msg("%s", error.message);
    return sim;
}

static void step(BrioSim *sim)
{
    if (brio_sim_step(sim, NULL) != BRIO_OK)
        fail_msg("%s: %s", sim->stepper->integrator->name, brio_sim_reason(sim));
}

static BrioLedger ledger_of(BrioSim *sim)
{
    BrioLedger ledger;
    assert_int_equal(brio_sim_ledger(sim, &ledger), BRIO_OK);
    return ledger;
}

/* ---- free fall -------------------------------------------------------------------------- */

/* Every model that does not brake translation, and Rayleigh's stiffness part: a body at rest in
 * itself falls vertex by vertex as without damping, and the centre of one that vibrates as well.
 * TOLERANCE 1e-12 of the fall: round-off of 480 steps. */
static void free_fall(void **unused)
{
    (void)unused;
    static const char *const integrators[] = {"backward-euler",    "bdf2",     "trapezoidal",
                                              "implicit-midpoint", "a-search", "symplectic-euler"};
    double worst_vertex = 0, worst_centre = 0;
    int runs = 0;
    for (int m = 0; brio_damping_at(m); m++) {
        const BrioDampingModel *model = brio__damping_model_at(m);
        bool stiffness = !strcmp(model->name, "rayleigh");
        if (model->brakes_translation && !stiffness) continue;
        for (size_t i = 0; i < BRIO_COUNT(integrators); i++)
            for (int fine = 0; fine < 2; fine++)
                for (int vibrating = 0; vibrating < 2; vibrating++) {
                    /* would not be stable */
                    if (!fine && !(brio_integrator(integrators[i])->traits & BRIO_IMPLICIT))
                        continue;
                    Setup s = {.integrator = integrators[i],
                               .cells = 2,
                               .E = 2e3,
                               .h = fine ? 1.0 / 480 : 1.0 / 30,
                               .g = -9.8,
                               .stretch = vibrating ? 1.05 : 1};
                    BrioSim *plain = make(&s);
                    s.model = model->name;
                    s.stiffness_only = stiffness ? 1e-3 : 0;
                    BrioSim *damped = make(&s);
                    int steps = fine ? 480 : 30;
                    BrioLedger first = ledger_of(plain);
                    for (int k = 0; k < steps; k++) step(plain), step(damped);
                    BrioLedger a = ledger_of(plain), b = ledger_of(damped);
                    double fall = first.centre[1] - a.centre[1], apart = 0;
                    assert_true(fall > 4);
                    for (int64_t k = 0; k < plain->state->coordinates; k++)
                        apart = brio__larger(apart, fabs(plain->state->q[k] - damped->state->q[k]));
                    double centre = fabs(a.centre[1] - b.centre[1]);
                    if (!vibrating) worst_vertex = brio__larger(worst_vertex, apart / fall);
                    worst_centre = brio__larger(worst_centre, centre / fall);
                    if (!(centre < 1e-12 * fall) || (!vibrating && !(apart < 1e-12 * fall)))
                        fail_msg("%s with %s at h = %g falls otherwise: vertices %.1e, centre %.1e "
                                 "of the fall apart",
                                 integrators[i], model->name, s.h, apart / fall, centre / fall);
                    brio_sim_free(plain);
                    brio_sim_free(damped);
                    runs++;
                }
    }
    print_message("%d falls with damping next to those without: vertices %.1e, centres %.1e of the "
                  "fall apart\n",
                  runs, worst_vertex, worst_centre);
    assert_true(runs >= 3 * 22);
}

/* ---- the same at every step ------------------------------------------------------------- */

/* Share of the energy that is left after a tenth of a second. */
static double left(const char *integrator, const char *model, double h)
{
    Setup s = {
        .integrator = integrator, .model = model, .cells = 2, .E = 1e4, .h = h, .stretch = 1.02};
    BrioSim *sim = make(&s);
    double first = ledger_of(sim).total;
    for (int k = 0; k < (int)(0.1 / h + 0.5); k++) step(sim);
    double fraction = ledger_of(sim).total / first;
    brio_sim_free(sim);
    return fraction;
}

/* TOLERANCE 10 % between rates at h and h/16, where the scheme itself loses nearly nothing. */
static void rates(void **unused)
{
    (void)unused;
    static const char *const integrators[] = {"implicit-midpoint", "trapezoidal"};
    const double h = 0.1 / 128;
    for (size_t i = 0; i < BRIO_COUNT(integrators); i++) {
        double none = -log(left(integrators[i], NULL, h)) / 0.1;
        print_message("%s: without damping the energy falls at the rate %.1e/s\n", integrators[i],
                      none);
        for (int m = 0; brio_damping_at(m); m++) {
            double coarse = -log(left(integrators[i], brio_damping_at(m), h)) / 0.1;
            double fine = -log(left(integrators[i], brio_damping_at(m), h / 16)) / 0.1;
            print_message("    %-20s %.4f/s with h = 0.78 ms, %.4f/s with h/16: %+.2f %%\n",
                          brio_damping_at(m), coarse, fine, 100 * (coarse / fine - 1));
            assert_true(fine > 0.5 && fabs(coarse / fine - 1) < 0.1 && fabs(none) < 0.05 * fine);
        }
    }
}

/* The same at the steps of frames and of 480 a second: a softer cube, whose slowest vibrations a
 * frame resolves. The energy is read at the same instants, every half second, and its rate fitted
 * over two seconds. TOLERANCE 10 %. */
static double frame_rate(const char *model, double h)
{
    Setup s = {.integrator = "implicit-midpoint",
               .model = model,
               .cells = 1,
               .E = 10,
               .h = h,
               .stretch = 1.1};
    BrioSim *sim = make(&s);
    /* slow vibrations ask for more of it */
    if (model && brio__fields_offset(brio_damping_fields(model), "beta") >= 0) {
        BrioDamper *d = &sim->stepper->dissipation->damper[0];
        d->values[brio__fields_offset(d->model->fields, "beta")] = 0.1;
    }
    double first = ledger_of(sim).total, weighted = 0, squares = 0;
    for (int k = 1; k <= 4; k++) {
        for (int64_t i = 0; i < (int64_t)round(0.5 / h); i++) step(sim);
        weighted -= 0.5 * k * log(ledger_of(sim).total / first);
        squares += 0.25 * k * k;
    }
    brio_sim_free(sim);
    return weighted / squares;
}

static void rates_of_frames(void **unused)
{
    (void)unused;
    double none = frame_rate(NULL, 1.0 / 30);
    print_message(
        "implicit-midpoint at h = 1/30 s: without damping the energy falls at the rate %.1e/s\n",
        none);
    for (int m = 0; brio_damping_at(m); m++) {
        double coarse = frame_rate(brio_damping_at(m), 1.0 / 30);
        double fine = frame_rate(brio_damping_at(m), 1.0 / 480);
        print_message("    %-20s %.4f/s with h = 1/30 s, %.4f/s with h = 1/480 s: %+.2f %%\n",
                      brio_damping_at(m), coarse, fine, 100 * (coarse / fine - 1));
        assert_true(fine > 0.2 && fabs(coarse / fine - 1) < 0.1 && fabs(none) < 0.05 * fine);
    }
}

/* ---- angular momentum ------------------------------------------------------------------- */

static double relative_change(const double *a, const double *b)
{
    double change = 0, size = 0;
    for (int r = 0; r < 3; r++) change += pow(a[r] - b[r], 2), size += pow(a[r], 2);
    return sqrt(change / size);
}

static double spin_change(const char *integrator, const char *model, double h, int steps,
                          double stiffness_only)
{
    Setup s = {.integrator = integrator,
               .model = model,
               .cells = 2,
               .E = 1e4,
               .h = h,
               .stretch = 1.15,
               .spin = 12,
               .stiffness_only = stiffness_only};
    BrioSim *sim = make(&s);
    BrioLedger first = ledger_of(sim), last;
    for (int k = 0; k < steps; k++) step(sim);
    last = ledger_of(sim);
    double change = relative_change(first.angular, last.angular);
    if (model) assert_true(last.dissipated > 1e-3 * first.total);
    brio_sim_free(sim);
    return change;
}

/* Methods that keep angular momentum keep it with models that brake no rotation. TOLERANCE 1e-10
 * relative, with solves to 1e-13 m/s. */
static void angular_momentum(void **unused)
{
    (void)unused;
    static const struct {
        const char *integrator;
        double h;
    } keeping[] = {{"implicit-midpoint", 1.0 / 480},
                   {"theta", 1.0 / 480},
                   {"symplectic-euler", 1.0 / 4800},
                   {"verlet", 1.0 / 4800}};
    for (size_t i = 0; i < BRIO_COUNT(keeping); i++)
        for (int m = 0; brio_damping_at(m); m++) {
            const BrioDampingModel *model = brio__damping_model_at(m);
            bool stiffness = !strcmp(model->name, "rayleigh");
            if (model->brakes_rotation && !stiffness) continue;
            double change = spin_change(keeping[i].integrator, model->name, keeping[i].h,
                                        (int)(0.2 / keeping[i].h), stiffness ? 1e-3 : 0);
            print_message("%-18s %-20s angular momentum changes by %.1e (relative)\n",
                          keeping[i].integrator, model->name, change);
            if (stiffness)
                assert_true(change > 1e-4); /* as its documentation says */
            else
                assert_true(change < 1e-10);
        }
}

/* Methods that do not keep it: the damping force of each step has no torque about the pose of the
 * solve. TOLERANCE 1e-10 of its arm. */
static void no_torque(void **unused)
{
    (void)unused;
    static const char *const integrators[] = {"backward-euler", "bdf2", "a-search"};
    for (size_t i = 0; i < BRIO_COUNT(integrators); i++) {
        Setup s = {.integrator = integrators[i],
                   .model = "strain-energy",
                   .cells = 2,
                   .E = 1e4,
                   .h = 1.0 / 240,
                   .stretch = 1.15,
                   .spin = 12};
        BrioSim *sim = make(&s);
        double worst = 0;
        for (int k = 0; k < 30; k++) {
            step(sim);
            const double *q = sim->state->q, *f = sim->stepper->impulse[0];
            double torque[3] = {0}, arm = 0;
            for (int64_t b = 0; b < sim->system->block_count; b++)
                for (int r = 0; r < 3; r++) {
                    int u = (r + 1) % 3, w = (r + 2) % 3;
                    double part = q[3 * b + u] * f[3 * b + w] - q[3 * b + w] * f[3 * b + u];
                    torque[r] += part, arm += fabs(part);
                }
            assert_true(arm > 0);
            for (int r = 0; r < 3; r++) worst = brio__larger(worst, fabs(torque[r]) / arm);
        }
        print_message("%-18s strain-energy exerts the torque %.1e of its arm\n", integrators[i],
                      worst);
        assert_true(worst < 1e-10);
        brio_sim_free(sim);
    }
}

/* A body that fills the tets of its cage in part: to first order both damp alike.
 * TOLERANCE 1 % of what is dissipated: the second order. */
static void caged(void **unused)
{
    (void)unused;
    static const char *const models[] = {"rayleigh", "strain-energy"};
    double dissipated[2];
    for (int k = 0; k < 2; k++) {
        char text[1024];
        BrioSim *sim;
        BrioLedger ledger;
        snprintf(text, sizeof text,
                 "brio: 1\ntime: {h: 1/2000}\nintegrator: trapezoidal\n"
                 "damping: [{type: %s, beta: 2e-4}]\n"
                 "bodies: [{shape: {type: sphere, radius: 0.3}, cage: 2, "
                 "material: {type: stable-neo-hookean, E: 1e5}, "
                 "transform: {scale: [1, 0.4, 0.4]}, velocity: {linear: [0.1, 0, 0]}, "
                 "fix: [{box: [[-1, -1, -1], [-0.2, 1, 1]]}]}]\n",
                 models[k]);
        assert_int_equal(brio_sim_parse(text, strlen(text), "caged", &sim, NULL), BRIO_OK);
        for (int i = 0; i < 50; i++) step(sim);
        assert_int_equal(brio_sim_ledger(sim, &ledger), BRIO_OK);
        dissipated[k] = ledger.dissipated;
        brio_sim_free(sim);
    }
    print_message("rayleigh takes %.6g J, strain-energy %.6g J\n", dissipated[0], dissipated[1]);
    assert_true(fabs(dissipated[1] - dissipated[0]) < 0.01 * dissipated[0]);
}

/* A coordinate that is fixed alone gets no velocity from the filter, which would then be lost
 * without a word. TOLERANCE 1e-9 of the energy: Runge-Kutta's own error. */
static void filter_leaves_fixed_coordinates(void **unused)
{
    (void)unused;
    static const char text[] =
        "brio: 1\ntime: {h: 1/1000}\nintegrator: rk4\ngravity: [0, 0, 0]\n"
        "damping: [{type: momentum-preserving, k: 0.5}]\n"
        "bodies: [{shape: {type: line, cells: 3}, kind: springs, velocity: {linear: [0, 1, 1]}, "
        "material: {type: hooke, k: 100, vertex_mass: 0.1}, fix: [{vertices: [0], axes: [y]}]}]\n";
    BrioSim *sim;
    BrioLedger start, end;
    assert_int_equal(brio_sim_parse(text, strlen(text), "slides", &sim, NULL), BRIO_OK);
    assert_int_equal(brio_sim_ledger(sim, &start), BRIO_OK);
    for (int i = 0; i < 200; i++) step(sim);
    assert_int_equal(brio_sim_ledger(sim, &end), BRIO_OK);
    double lost = end.total + end.dissipated - start.total;
    print_message("%.3g J of %.3g J are lost\n", lost, start.total);
    assert_true(end.dissipated > 0.01 * start.total);
    assert_true(fabs(lost) < 1e-9 * start.total);
    brio_sim_free(sim);
}

/* ---- the ledger ------------------------------------------------------------------------- */

enum { LINKS = 20 };

/* A chain of springs along x, whose motion along x is linear; its first vertex is fixed, and its
 * last on a spring to a point that `script` moves. */
static BrioSim *chain(const BrioSimDef *def, const BrioScript *script)
{
    double x[3 * LINKS] = {0}, state_of[6 * LINKS] = {0};
    int32_t edge[2 * (LINKS - 1)], fixed = 0;
    const double point[3] = {LINKS - 1, 0, 0};
    for (int v = 0; v < LINKS; v++) {
        x[3 * v] = state_of[6 * v] = v;
        state_of[6 * v] += v ? 0.2 * sin(1.3 * v) : 0;
        state_of[6 * v + 3] = v ? cos(0.7 * v) : 0;
        if (v) edge[2 * v - 2] = v - 1, edge[2 * v - 1] = v;
    }
    const BrioMesh mesh = {.vertex_count = LINKS, .edge_count = LINKS - 1, .x = x, .edge = edge};
    BrioBuilder *builder;
    BrioSystem *system;
    BrioState *state;
    BrioSim *sim;
    BrioError error = {0};
    BrioBodyDef body = brio_default_body();
    body.name = "chain";
    body.mesh = &mesh;
    body.state = state_of;
    assert_int_equal(brio_default_material("hooke", &body.material, NULL), BRIO_OK);
    assert_int_equal(brio_material_set(&body.material, "k", 100, NULL), BRIO_OK);
    assert_int_equal(brio_material_set(&body.material, "vertex_mass", 0.5, NULL), BRIO_OK);
    assert_int_equal(brio_builder_create(&builder, NULL), BRIO_OK);
    assert_int_equal(brio_builder_body(builder, &body, NULL, &error), BRIO_OK);
    assert_int_equal(brio_builder_fix(builder, 0, &fixed, 1, NULL, &error), BRIO_OK);
    assert_int_equal(brio_builder_attach(builder, 0, LINKS - 1, point, 70, script, &error),
                     BRIO_OK);
    assert_int_equal(brio_builder_finish(builder, &system, &state, &error), BRIO_OK);
    brio_builder_free(builder);
    if (brio_sim_create(system, state, def, &sim, &error) != BRIO_OK) fail_msg("%s", error.message);
    return sim;
}

/* Linear springs under implicit midpoint: energies, drag and a moving hand add up. TOLERANCE 1e-12
 * of the first energy for the remainder, 1e-10 for the sums made here. */
static void entries(void **unused)
{
    (void)unused;
    const double h = 0.02, drag = 0.3, k = 70, keys[] = {0, 0, 0, 0, 1, 0.8, 0, 0, 2.5, -0.5, 0, 0};
    BrioSimDef def = brio_default_sim("implicit-midpoint");
    BrioScript script = brio_default_script();
    script.key_count = 3;
    script.keys = keys;
    def.h = h;
    def.solver.tol = 1e-12;
    def.damping_count = 1;
    assert_int_equal(brio_default_damping("ether-drag", &def.damping[0], NULL), BRIO_OK);
    assert_int_equal(brio_damping_set(&def.damping[0], "k", drag, NULL), BRIO_OK);
    BrioSim *sim = chain(&def, &script);
    double before[3 * LINKS], now[3 * LINKS];
    double lost = 0;
    double work = 0;
    double first = ledger_of(sim).total;
    double worst = 0;
    brio_sim_positions(sim, 0, before);
    for (int n = 0; n < 150; n++) {
        step(sim);
        brio_sim_positions(sim, 0, now);
        /* force times way */
        for (int i = 0; i < 3 * LINKS; i++) lost += drag * pow(now[i] - before[i], 2) / h;
        double hand[2];
        for (int end = 0; end < 2; end++) { /* the keys by hand */
            double t = (n + end) * h;
            hand[end] = LINKS - 1 + (t < 1 ? 0.8 * t : t < 2.5 ? 0.8 - 1.3 * (t - 1) / 1.5 : -0.5);
        }
        work += k * ((hand[0] + hand[1]) / 2 - (before[3 * LINKS - 3] + now[3 * LINKS - 3]) / 2) *
                (hand[1] - hand[0]);
        memcpy(before, now, sizeof before);
        worst = brio__larger(worst, fabs(ledger_of(sim).remainder) / first);
    }
    BrioLedger last = ledger_of(sim);
    print_message("chain: dissipated %.6f J (relative error %.1e), added %.6f J (%.1e), remainder "
                  "at most %.1e of the first energy\n",
                  last.dissipated, fabs(last.dissipated / lost - 1), last.added,
                  fabs(last.added / work - 1), worst);
    assert_true(lost > 0.1 * first && fabs(work) > 0.1);
    assert_true(fabs(last.dissipated / lost - 1) < 1e-10 && fabs(last.added / work - 1) < 1e-10 &&
                worst < 1e-12);
    assert_true(last.dissipated_by[0] == last.dissipated);
    brio_sim_free(sim);
}

/* Loose conjugate gradients leave forces unbalanced; on a linear system under implicit midpoint
 * their work is the whole remainder. TOLERANCE 1e-10 of the first energy. */
static void unfinished(void **unused)
{
    (void)unused;
    BrioSimDef def = brio_default_sim("implicit-midpoint");
    def.h = 0.2;
    def.solver.tol = 1e6;
    def.solver.linear = "pcg";
    def.solver.linear_tol = 0.05;
    BrioSim *sim = chain(&def, NULL);
    double first = ledger_of(sim).total;
    for (int n = 0; n < 50; n++) step(sim);
    BrioLedger last = ledger_of(sim);
    print_message("loose solver: remainder %.6e J, unfinished %.6e J of %.3f J\n", last.remainder,
                  last.unfinished, first);
    assert_true(fabs(last.remainder) > 1e-6 * first);
    assert_true(fabs(last.remainder - last.unfinished) < 1e-10 * first);
    brio_sim_free(sim);
}

/* ---- derivatives and signs -------------------------------------------------------------- */

static double random_unit(void) { return 2.0 * rand() / RAND_MAX - 1; }

/* A pose at random around the rest shape, as the start of a step. */
static BrioSim *random_start(const char *model, double wildness)
{
    Setup s = {.integrator = "backward-euler", .model = model, .cells = 1, .E = 1e4, .h = 0.01};
    BrioSim *sim = make(&s);
    for (int64_t k = 0; k < sim->state->coordinates; k++) {
        sim->state->q[k] += wildness * random_unit();
        sim->state->v[k] = random_unit();
    }
    assert_int_equal(brio__solver_begin(sim->stepper->solver, sim->state), BRIO_OK);
    return sim;
}

/* D(q + e p) - D(q) - e g.p falls by four when e is halved. TOLERANCE 0.1 of the slope 2. */
static void derivatives(void **unused)
{
    (void)unused;
    srand(1);
    for (int m = 0; brio_damping_at(m); m++) {
        if (!brio__damping_model_at(m)->potential) continue;
        BrioSim *sim = random_start(brio_damping_at(m), 0.01);
        const BrioDamper *d = &sim->stepper->dissipation->damper[0];
        const BrioState *state = sim->state;
        size_t n = (size_t)state->coordinates;
        double *q = calloc(n, 8);
        double *p = calloc(n, 8);
        double *g = calloc(n, 8);
        double *trial = calloc(n, 8);
        double error[2];
        double slope = 0;
        double h = 0.01;
        for (size_t k = 0; k < n; k++)
            q[k] = state->q[k] + 0.005 * random_unit(), p[k] = random_unit();
        double D = d->model->potential(
            d->self, d->values, state,
            &(BrioMotion){.q = q, .from = state->q, .over = h, .time = h, .way = {.fraction = 1}},
            g);
        for (size_t k = 0; k < n; k++) slope += g[k] * p[k];
        for (int i = 0; i < 2; i++) {
            double e = 1e-4 / (1 << i);
            for (size_t k = 0; k < n; k++) trial[k] = q[k] + e * p[k];
            error[i] = fabs(
                d->model->potential(
                    d->self, d->values, state,
                    &(BrioMotion){
                        .q = trial, .from = state->q, .over = h, .time = h, .way = {.fraction = 1}},
                    NULL) -
                D - e * slope);
        }
        print_message("%-20s Taylor slope %.4f\n", brio_damping_at(m), log2(error[0] / error[1]));
        assert_true(fabs(log2(error[0] / error[1]) - 2) < 0.1);
        free(q), free(p), free(g), free(trial);
        brio_sim_free(sim);
    }
}

/* Over random poses, velocities and displacements each model takes energy: grad D_n.(q - q_n) >= 0,
 * force.v <= 0, a filter's share >= 0. */
static void signs(void **unused)
{
    (void)unused;
    srand(2);
    for (int m = 0; brio_damping_at(m); m++) {
        const BrioDampingModel *model = brio__damping_model_at(m);
        double min = INFINITY;
        for (int trial = 0; trial < 200; trial++) {
            BrioSim *sim = random_start(model->name, 0.02);
            const BrioDamper *d = &sim->stepper->dissipation->damper[0];
            BrioState *state = sim->state;
            size_t n = (size_t)state->coordinates;
            double *q = calloc(n, 8);
            double *g = calloc(n, 8);
            double h = 0.01;
            double size = pow(10, -4 + 2.0 * trial / 200);
            double taken;
            for (size_t k = 0; k < n; k++) q[k] = state->q[k] + size * random_unit();
            if (model->potential) {
                model->potential(
                    d->self, d->values, state,
                    &(BrioMotion){
                        .q = q, .from = state->q, .over = h, .time = h, .way = {.fraction = 1}},
                    g);
                taken = 0;
                for (size_t k = 0; k < n; k++) taken += g[k] * (q[k] - state->q[k]);
                min = fmin(min, taken / (size * size));
            }
            if (model->force) {
                memset(g, 0, n * 8);
                model->force(d->self, d->values, state, state->q, state->v, 0, 1e-4, g);
                taken = 0;
                for (size_t k = 0; k < n; k++) taken -= g[k] * state->v[k];
                min = fmin(min, taken);
            }
            if (model->filter)
                min = fmin(min,
                           model->filter(d->self, d->values, sim->system, state->q, h, state->v));
            free(q), free(g);
            brio_sim_free(sim);
        }
        print_message("%-20s takes at least %.3e\n", model->name, min);
        assert_true(min >= 0);
    }
}

/* Each allocation fails in turn while a scene with all models of damping, and friction of both
 * kinds, is made and does a step: a status, and nothing is left. */
static void memory_may_be_lacking(void **state)
{
    (void)state;
    static const char *const contacts[] = {"{type: ipc, mu: 0.3}", "{type: penalty, mu: 0.3}"};
    for (int k = 0; k < 2; k++) {
        char scene[1024];
        Memory memory = {.failed = true};
        snprintf(scene, sizeof scene,
                 "time: {h: 1/60}\ncontact: %s\ndamping: [{type: rayleigh, alpha: 0.1, beta: 0.01},"
                 " {type: ether-drag, k: 0.1}, {type: momentum-preserving, k: 0.1},"
                 " {type: strain-energy, beta: 0.001}]\n"
                 "bodies: [{name: a, shape: {type: box, size: [1, 1, 1], cells: [1, 1, 1]},"
                 " material: jelly, transform: {translate: [0, 0.5005, 0]}}]\n"
                 "obstacles: [{type: plane, normal: [0, 1, 0]}]\n",
                 contacts[k]);
        for (int64_t at = 0; memory.failed; at++) {
            BrioSim *sim = NULL;
            BrioError error = {0};
            memory_start(&memory, at, false);
            BrioStatus status = brio_sim_parse(scene, strlen(scene), "test", &sim, &error);
            if (status == BRIO_OK) status = brio_sim_step(sim, &error);
            brio_sim_free(sim);
            if (!memory.failed && status != BRIO_OK) fail_msg("%s", error.message);
            if (memory.live) fail_msg("call %d: %d were not freed", (int)at, (int)memory.live);
        }
    }
    brio_set_allocator(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_fall),
        cmocka_unit_test(rates),
        cmocka_unit_test(rates_of_frames),
        cmocka_unit_test(angular_momentum),
        cmocka_unit_test(no_torque),
        cmocka_unit_test(caged),
        cmocka_unit_test(filter_leaves_fixed_coordinates),
        cmocka_unit_test(entries),
        cmocka_unit_test(unfinished),
        cmocka_unit_test(derivatives),
        cmocka_unit_test(signs),
        cmocka_unit_test(memory_may_be_lacking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
