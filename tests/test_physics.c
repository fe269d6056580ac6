/* Motions whose answer is known: free fall, free spin, the measured order of every integrator, the
 * invariants that its traits claim, beams. */
#include "system/system.h"
#include "mesh/mesh.h"
#include "sim/sim.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

typedef struct Setup {
    const char *integrator, *material, *linear;
    double size[3];
    int cells[3];
    double E, nu, rho, h, tol;
    double gravity[3], velocity[3], angular[3];
    double stretch; /* first shape: x scaled by it */
    bool clamp;     /* fix the vertices at least x */
} Setup;

/* Of springs: a net of 1 m. */
static BrioMesh *net(const Setup *s)
{
    const BrioField *fields = brio_shape_fields("grid");
    double values[BRIO_MAX_VALUES], cells = s->cells[0] + 1;
    BrioMesh *mesh;
    brio_fields_defaults(fields, values);
    assert_int_equal(brio_fields_set(fields, values, "cells_x", &cells, NULL), BRIO_OK);
    assert_int_equal(brio_fields_set(fields, values, "cells_z", &cells, NULL), BRIO_OK);
    assert_int_equal(brio_mesh_shape("grid", values, &mesh, NULL), BRIO_OK);
    return mesh;
}

static BrioMesh *box(const Setup *s)
{
    if (!strcmp(s->material, "hooke")) return net(s);
    const BrioField *fields = brio_shape_fields("box");
    double values[BRIO_MAX_VALUES], cells[3] = {s->cells[0], s->cells[1], s->cells[2]};
    BrioMesh *mesh;
    brio_fields_defaults(fields, values);
    assert_int_equal(brio_fields_set(fields, values, "size", s->size, NULL), BRIO_OK);
    assert_int_equal(brio_fields_set(fields, values, "cells", cells, NULL), BRIO_OK);
    assert_int_equal(brio_mesh_shape("box", values, &mesh, NULL), BRIO_OK);
    return mesh;
}

static BrioSim *make(const Setup *s)
{
    BrioBuilder *builder;
    BrioSystem *system;
    BrioState *state;
    BrioSim *sim;
    BrioError error = {0};
    BrioBodyDef def = brio_default_body();
    BrioMesh *mesh = box(s);
    double *first = malloc((size_t)mesh->vertex_count * 6 * sizeof *first);
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        for (int r = 0; r < 3; r++) {
            first[6 * v + r] = mesh->x[3 * v + r] * (r == 0 && s->stretch > 0 ? s->stretch : 1);
            first[6 * v + 3 + r] = 0;
        }
    def.name = "box";
    def.mesh = mesh;
    def.state = first;
    memcpy(def.velocity, s->velocity, sizeof def.velocity);
    memcpy(def.angular, s->angular, sizeof def.angular);
    assert_int_equal(brio_default_material(s->material, &def.material, NULL), BRIO_OK);
    if (!strcmp(s->material, "hooke")) {
        assert_int_equal(brio_material_set(&def.material, "k", s->E, NULL), BRIO_OK);
        assert_int_equal(brio_material_set(&def.material, "vertex_mass", 0.1, NULL), BRIO_OK);
    } else {
        assert_int_equal(brio_material_set(&def.material, "E", s->E, NULL), BRIO_OK);
        assert_int_equal(brio_material_set(&def.material, "nu", s->nu, NULL), BRIO_OK);
        assert_int_equal(brio_material_set(&def.material, "rho", s->rho, NULL), BRIO_OK);
    }
    assert_int_equal(brio_builder_create(&builder, NULL), BRIO_OK);
    brio_builder_gravity(builder, s->gravity);
    assert_int_equal(brio_builder_body(builder, &def, NULL, &error), BRIO_OK);
    for (int32_t v = 0; s->clamp && v < mesh->vertex_count; v++)
        if (mesh->x[3 * (int64_t)v] < -s->size[0] / 2 + 1e-9 * s->size[0])
            assert_int_equal(brio_builder_fix(builder, 0, &v, 1, NULL, &error), BRIO_OK);
    assert_int_equal(brio_builder_finish(builder, &system, &state, &error), BRIO_OK);
    brio_builder_free(builder);
    brio_mesh_free(mesh);
    free(first);
    BrioSimDef sim_def = brio_default_sim(s->integrator);
    sim_def.h = s->h;
    sim_def.solver.tol = s->tol;
    if (s->linear) sim_def.solver.linear = s->linear;
    assert_int_equal(brio_sim_create(system, state, &sim_def, &sim, &error), BRIO_OK);
    return sim;
}

static void step(BrioSim *sim, int count)
{
    for (int i = 0; i < count; i++) {
        BrioStatus status = brio_sim_step(sim, NULL);
        if (status != BRIO_OK)
            fail_msg("step %d: %s: %s", i, brio_status_name(status), brio_sim_reason(sim));
    }
}

static const Setup cube = {.integrator = "backward-euler",
                           .material = "neo-hookean",
                           .size = {0.1, 0.1, 0.1},
                           .cells = {3, 3, 3},
                           .E = 1e5,
                           .nu = 0.3,
                           .rho = 1000,
                           .h = 1.0 / 30,
                           .tol = 1e-8};

/* A falling body follows gt^2/2 exactly under the trapezoidal rule; TOLERANCE 1e-12 relative:
 * round-off of 300 steps. */
static void free_fall(void **unused)
{
    (void)unused;
    Setup s = cube;
    s.integrator = "trapezoidal";
    s.gravity[1] = -9.8;
    BrioSim *sim = make(&s);
    BrioLedger first, last;
    brio_sim_ledger(sim, &first);
    step(sim, 300);
    brio_sim_ledger(sim, &last);
    double fall = first.centre[1] - last.centre[1], exact = 0.5 * 9.8 * last.time * last.time;
    print_message("free fall over %g s: relative error %.2e\n", last.time, fabs(fall / exact - 1));
    assert_true(fabs(fall / exact - 1) < 1e-12);
    brio_sim_free(sim);
}

/* A spinning soft body keeps its angular momentum under implicit midpoint; TOLERANCE 1e-10
 * relative, with the solver at 1e-13 m/s. */
static void free_spin(void **unused)
{
    (void)unused;
    Setup s = cube;
    s.integrator = "implicit-midpoint";
    s.tol = 1e-13;
    s.h = 1.0 / 240;
    s.angular[2] = 15;
    s.angular[0] = 4;
    BrioSim *sim = make(&s);
    BrioLedger first, last;
    brio_sim_ledger(sim, &first);
    step(sim, 100);
    brio_sim_ledger(sim, &last);
    double change = 0, size = 0;
    for (int r = 0; r < 3; r++) {
        change += pow(last.angular[r] - first.angular[r], 2);
        size += pow(first.angular[r], 2);
    }
    print_message(
        "angular momentum over 100 midpoint steps: relative change %.2e; energy %.6g of %.6g J\n",
        sqrt(change / size), last.total, first.total);
    assert_true(sqrt(change / size) < 1e-10);
    assert_true(last.total < 1.05 * first.total && last.total > 0.5 * first.total);
    brio_sim_free(sim);
}

/* What the traits claim, for every integrator, on a free, stretched, spinning, drifting body. */
static void invariants(void **unused)
{
    (void)unused;
    int checked = 0;
    for (int i = 0; brio_integrator_at(i); i++) {
        const BrioIntegrator *integrator = brio_integrator_at(i);
        if (!(integrator->traits &
              (BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_KEEPS_ANGULAR_MOMENTUM | BRIO_DISSIPATIVE)))
            continue;
        Setup s = cube;
        s.integrator = integrator->name;
        if (integrator->traits & BRIO_SPRINGS_ONLY) s.material = "hooke";
        s.tol = 1e-13;
        /* explicit methods, and BDF3 and BDF4, are not stable at more */
        s.h = (integrator->traits & BRIO_IMPLICIT) && integrator->order < 3 ? 1e-3 : 1e-4;
        s.stretch = 1.15;
        s.angular[1] = 6;
        s.velocity[0] = 0.7;
        BrioSim *sim = make(&s);
        BrioLedger first, last;
        brio_sim_ledger(sim, &first);
        double energy = first.total;
        for (int k = 0; k < 100; k++) {
            step(sim, 1);
            brio_sim_ledger(sim, &last);
            if (integrator->traits & BRIO_DISSIPATIVE)
                assert_true(last.total <= energy * (1 + 1e-9));
            energy = last.total;
        }
        double linear = 0, angular = 0, scale = 0;
        for (int r = 0; r < 3; r++) {
            linear = brio__larger(linear, fabs(last.momentum[r] - first.momentum[r]));
            angular = brio__larger(angular, fabs(last.angular[r] - first.angular[r]));
            scale = brio__larger(scale, fabs(first.angular[r]));
        }
        print_message("%-20s momentum %.1e, angular momentum %.1e (relative), energy x %.4f\n",
                      integrator->name, linear / fabs(first.momentum[0]), angular / scale,
                      last.total / first.total);
        if (integrator->traits & BRIO_KEEPS_LINEAR_MOMENTUM)
            assert_true(linear <= 1e-10 * fabs(first.momentum[0]));
        if (integrator->traits & BRIO_KEEPS_ANGULAR_MOMENTUM) assert_true(angular <= 1e-10 * scale);
        brio_sim_free(sim);
        checked++;
    }
    assert_true(checked >= 4);
}

static void final_positions(const char *integrator, bool springs, double h, int steps, double *x,
                            int *vertices)
{
    Setup s = cube;
    s.integrator = integrator;
    s.cells[0] = s.cells[1] = s.cells[2] = 1;
    s.material = springs ? "hooke" : "stable-neo-hookean";
    s.E = 2e3;
    s.h = h;
    s.tol = 1e-13;
    s.stretch = 1.3;
    s.angular[2] = 3;
    s.gravity[1] = -9.8;
    BrioSim *sim = make(&s);
    step(sim, steps);
    *vertices = (int)brio_body_vertices(brio_sim_system(sim), 0);
    brio_sim_positions(sim, 0, x);
    brio_sim_free(sim);
}

/* Declared order against the order measured by halving the step, on a nonlinear system; TOLERANCE
 * 0.2. The reference is the classical Runge-Kutta method at a step 16 times finer than the
 * finest. */
static void orders(void **unused)
{
    (void)unused;
    double reference[2][3 * 64], x[3 * 64], T = 0.064;
    int n;
    for (int k = 0; k < 2; k++) final_positions("rk4", k, T / 4096, 4096, reference[k], &n);
    for (int i = 0; brio_integrator_at(i); i++) {
        const BrioIntegrator *integrator = brio_integrator_at(i);
        if (integrator->order == 0) continue;
        double error[2];
        bool springs = integrator->traits & BRIO_SPRINGS_ONLY;
        for (int k = 0; k < 2; k++) {
            int steps = 128 << k;
            final_positions(integrator->name, springs, T / steps, steps, x, &n);
            error[k] = 0;
            for (int j = 0; j < 3 * n; j++) error[k] += pow(x[j] - reference[springs][j], 2);
        }
        double order = 0.5 * log2(error[0] / error[1]);
        print_message("%-20s order %.3f (declared %d), error %.2e m\n", integrator->name, order,
                      integrator->order, sqrt(error[1] / n));
        assert_true(fabs(order - integrator->order) < 0.2);
    }
}

/* ---- beams ------------------------------------------------------------------------------ */

enum { LEVELS = 3 };

/* The limit of values at cell sizes 1, 1/2, 1/3 (relative): a + b h^2 + c h^4 through the three. */
static double extrapolate(const double cells[LEVELS], const double value[LEVELS])
{
    double limit = 0;
    for (int i = 0; i < LEVELS; i++) { /* Lagrange's polynomial in h^2 at 0 */
        double w = 1, hi = 1 / (cells[i] * cells[i]);
        for (int j = 0; j < LEVELS; j++)
            if (j != i) w *= (1 / (cells[j] * cells[j])) / (1 / (cells[j] * cells[j]) - hi);
        limit += w * value[i];
    }
    return limit;
}

static int32_t tip_vertex(const BrioSim *sim, double *x)
{
    brio_sim_positions(sim, 0, x);
    int32_t tip = 0;
    for (int32_t v = 0; v < brio_body_vertices(brio_sim_system(sim), 0); v++) {
        const double *p = x + 3 * (int64_t)v, *q = x + 3 * (int64_t)tip;
        double off_p = fabs(p[1]) + fabs(p[2]), off_q = fabs(q[1]) + fabs(q[2]);
        if (p[0] > q[0] + 1e-9 || (p[0] > q[0] - 1e-9 && off_p < off_q - 1e-12)) tip = v;
    }
    return tip;
}

/* A slender clamped bar, L = 1, 0.1 x 0.1 in section, nu = 0 so that the clamp does not stiffen it:
 * static tip deflection under its weight, rho g A L^4/(8 E I) plus shear rho g A L^2/(2 kappa G A)
 * [Timoshenko], and first bending frequency 1.8751^2/(2 pi L^2) sqrt(EI/(rho A)) [Euler and
 * Bernoulli], which shear and rotary inertia lower by somewhat less than a percent at this
 * thickness. TOLERANCE 3 %. */
static void cantilever(void **unused)
{
    (void)unused;
    const double L = 1;
    const double a = 0.1;
    const double E = 1e6;
    const double rho = 1000;
    const double g = 0.01;
    const double I = a * a * a * a / 12;
    const double A = a * a;
    const double kappa = 5.0 / 6;
    const double G = E / 2;
    double cells[LEVELS] = {2, 3, 4}, deflection[LEVELS], frequency[LEVELS];
    for (int k = 0; k < LEVELS; k++) {
        Setup s = {.integrator = "trapezoidal",
                   .material = "corotated",
                   .size = {L, a, a},
                   .cells = {(int)(10 * cells[k]), (int)cells[k], (int)cells[k]},
                   .E = E,
                   .nu = 0,
                   .rho = rho,
                   .h = 0.02,
                   .tol = 1e-10,
                   .gravity = {0, -g, 0},
                   .clamp = true};
        BrioSim *sim = make(&s);
        double *x = malloc((size_t)brio_body_vertices(brio_sim_system(sim), 0) * 3 * sizeof *x);
        int32_t tip = tip_vertex(sim, x);
        double start = x[3 * tip + 1];
        assert_int_equal(brio_sim_settle(sim, NULL), BRIO_OK);
        brio_sim_positions(sim, 0, x);
        deflection[k] = start - x[3 * tip + 1];
        /* let go from there without gravity: the tip swings in the first mode, since the static
         * shape is close to it */
        const double none[3] = {0, 0, 0};
        assert_int_equal(brio_sim_set_gravity(sim, none, NULL), BRIO_OK);
        double last = -deflection[k], first_cross = 0, last_cross = 0;
        int crossings = 0;
        for (int n = 1; n <= 320; n++) {
            step(sim, 1);
            brio_sim_positions(sim, 0, x);
            double now = x[3 * tip + 1] - start;
            if (last < 0 && now >= 0) { /* upward zero crossings, interpolated */
                double t = brio_sim_time(sim) - s.h * now / (now - last);
                if (crossings++ == 0) first_cross = t;
                last_cross = t;
            }
            last = now;
        }
        assert_true(crossings > 2);
        frequency[k] = (crossings - 1) / (last_cross - first_cross);
        free(x);
        brio_sim_free(sim);
        print_message("cantilever with %g cells across: deflection %.5f mm, frequency %.5f Hz\n",
                      cells[k], 1e3 * deflection[k], frequency[k]);
    }
    double w = rho * g * A;
    double beam_deflection = w * pow(L, 4) / (8 * E * I) + w * L * L / (2 * kappa * G * A);
    double euler = 1.8751 * 1.8751 / (2 * 3.14159265358979 * L * L) * sqrt(E * I / (rho * A));
    double d = extrapolate(cells, deflection), f = extrapolate(cells, frequency);
    print_message("extrapolated deflection %.5f mm, beam theory %.5f mm (%+.2f %%); frequency %.5f "
                  "Hz, Euler-Bernoulli %.5f Hz (%+.2f %%)\n",
                  1e3 * d, 1e3 * beam_deflection, 100 * (d / beam_deflection - 1), f, euler,
                  100 * (f / euler - 1));
    assert_true(fabs(d / beam_deflection - 1) < 0.03);
    assert_true(fabs(f / euler - 1) < 0.03);
}

/* The same motion from every linear solver. */
static void solvers_agree(void **unused)
{
    (void)unused;
    double total[8];
    int count = 0;
    for (; brio__linear_at(count); count++) {
        Setup s = cube;
        s.linear = brio__linear_at(count)->name;
        s.gravity[1] = -9.8;
        s.clamp = true;
        BrioSim *sim = make(&s);
        step(sim, 20);
        BrioLedger ledger;
        brio_sim_ledger(sim, &ledger);
        total[count] = ledger.total;
        brio_sim_free(sim);
    }
    assert_true(count >= 2);
    /* TOLERANCE: Newton ends at 1e-8 m/s, iterative solvers leave 1e-6 of each step */
    for (int k = 1; k < count; k++) assert_true(fabs(total[k] - total[0]) < 1e-6 * fabs(total[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_fall), cmocka_unit_test(free_spin),  cmocka_unit_test(invariants),
        cmocka_unit_test(orders),    cmocka_unit_test(cantilever), cmocka_unit_test(solvers_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
