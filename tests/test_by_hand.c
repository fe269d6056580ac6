/* Small answers worked out by hand: masses, elastic moduli, springs of their own, settling, the
 * clock, and what Newton does with its start, its last step and the end of a midpoint step. */
#include "system/system.h"
#include "mesh/mesh.h"
#include "mesh/shapes.h"
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

static BrioBodyDef body_def(const BrioMesh *mesh, const char *material)
{
    BrioBodyDef def = brio_default_body();
    def.name = "body";
    def.mesh = mesh;
    assert_int_equal(brio_default_material(material, &def.material, NULL), BRIO_OK);
    return def;
}

static void set(BrioBodyDef *def, const char *name, double value)
{
    assert_int_equal(brio_material_set(&def->material, name, value, NULL), BRIO_OK);
}

/* `hold` adds what fixes the body; may be NULL. */
static BrioSim *make(const BrioBodyDef *body, const double *gravity,
                     void (*hold)(BrioBuilder *builder), const BrioSimDef *def)
{
    BrioBuilder *builder;
    BrioSystem *system;
    BrioState *state;
    BrioSim *sim;
    BrioError error = {0};
    assert_int_equal(brio_builder_create(&builder, NULL), BRIO_OK);
    if (gravity) brio_builder_gravity(builder, gravity);
    if (brio_builder_body(builder, body, NULL, &error) != BRIO_OK) fail_msg("%s", error.message);
    if (hold) hold(builder);
    if (brio_builder_finish(builder, &system, &state, &error) != BRIO_OK)
        fail_msg("%s", error.message);
    brio_builder_free(builder);
    if (brio_sim_create(system, state, def, &sim, &error) != BRIO_OK) fail_msg("%s", error.message);
    return sim;
}

static void step(BrioSim *sim)
{
    if (brio_sim_step(sim, NULL) != BRIO_OK) fail_msg("%s", brio_sim_reason(sim));
}

/* Two vertices, 1 m apart, and the spring between them; a tet with edges of 1 m along the axes. */
static double points[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
static int32_t edges[4] = {0, 1, 1, 2}, tet[4] = {0, 1, 2, 3};
static const BrioMesh pair = {.vertex_count = 2, .edge_count = 1, .x = points, .edge = edges};
static const BrioMesh chain = {.vertex_count = 3, .edge_count = 2, .x = points, .edge = edges};
static const BrioMesh solid = {.vertex_count = 4, .tet_count = 1, .x = points, .tet = tet};

static BrioBodyDef spring_def(const BrioMesh *mesh, double k, double mass)
{
    BrioBodyDef def = body_def(mesh, "hooke");
    set(&def, "k", k);
    set(&def, "vertex_mass", mass);
    return def;
}

/* ---- masses ----------------------------------------------------------------------------- */

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double *a, const double *b, double *c)
{
    for (int r = 0; r < 3; r++)
        c[r] = a[(r + 1) % 3] * b[(r + 2) % 3] - a[(r + 2) % 3] * b[(r + 1) % 3];
}

static void edge(const BrioMesh *mesh, int32_t from, int32_t to, double *d)
{
    for (int r = 0; r < 3; r++)
        d[r] = mesh->x[3 * (int64_t)to + r] - mesh->x[3 * (int64_t)from + r];
}

/* Volume, area or length, whichever the mesh has. */
static double size_of(const BrioMesh *mesh)
{
    double size = 0, a[3], b[3], c[3], n[3];
    for (int64_t t = 0; t < mesh->tet_count; t++) {
        const int32_t *v = mesh->tet + 4 * t;
        edge(mesh, v[0], v[1], a), edge(mesh, v[0], v[2], b), edge(mesh, v[0], v[3], c);
        cross(a, b, n);
        size += dot(n, c) / 6;
    }
    for (int64_t t = 0; !mesh->tet_count && t < mesh->triangle_count; t++) {
        const int32_t *v = mesh->triangle + 3 * t;
        edge(mesh, v[0], v[1], a), edge(mesh, v[0], v[2], b);
        cross(a, b, n);
        size += sqrt(dot(n, n)) / 2;
    }
    for (int64_t e = 0; !mesh->tet_count && !mesh->triangle_count && e < mesh->edge_count; e++) {
        edge(mesh, mesh->edge[2 * e], mesh->edge[2 * e + 1], a);
        size += sqrt(dot(a, a));
    }
    return size;
}

/* By the vertices, and by the momentum of a body that moves at 2 m/s. */
static double total_mass(BrioBodyDef *def)
{
    BrioSimDef sim_def = brio_default_sim("symplectic-euler");
    BrioLedger ledger;
    def->velocity[1] = 2;
    BrioSim *sim = make(def, NULL, NULL, &sim_def);
    const BrioSystem *s = brio_sim_system(sim);
    double mass = 0;
    for (int64_t v = 0; v < s->vertex_count; v++) mass += s->vertex_mass[v];
    assert_int_equal(brio_sim_ledger(sim, &ledger), BRIO_OK);
    assert_true(fabs(ledger.momentum[1] / (2 * mass) - 1) < 1e-12);
    assert_true(fabs(ledger.kinetic / (2 * mass) - 1) < 1e-12);
    brio_sim_free(sim);
    return mass;
}

/* Every shape weighs its density times its size, at twice the length as well. TOLERANCE 1e-12: sums
 * of a few thousand. */
static void masses(void **unused)
{
    (void)unused;
    for (int i = 0; brio__shape_at(i); i++) {
        const char *shape = brio__shape_at(i)->name;
        double values[BRIO_MAX_VALUES], rho = 700;
        BrioMesh *mesh;
        brio_fields_defaults(brio_shape_fields(shape), values);
        assert_int_equal(brio_mesh_shape(shape, values, &mesh, NULL), BRIO_OK);
        BrioBodyDef def = body_def(mesh, mesh->tet_count ? "neo-hookean" : "hooke");
        set(&def, "rho", rho);
        double size = size_of(mesh), mass = total_mass(&def);
        if (!(fabs(mass / (rho * size) - 1) < 1e-12))
            fail_msg("%s of size %g weighs %g kg", shape, size, mass);
        if (!strcmp(shape, "box")) assert_true(fabs(mass / rho - 1) < 1e-12); /* 1 m3 */
        int dimension = mesh->tet_count ? 3 : mesh->triangle_count ? 2 : 1;
        for (int r = 0; r < 3; r++) def.linear[4 * r] = 2;
        assert_true(fabs(total_mass(&def) / (mass * pow(2, dimension)) - 1) < 1e-12);
        if (dimension < 3) {
            set(&def, "rho", NAN);
            set(&def, "vertex_mass", 0.03);
            assert_true(fabs(total_mass(&def) / (0.03 * (double)mesh->vertex_count) - 1) < 1e-12);
        }
        brio_mesh_free(mesh);
    }
    /* a tet, a triangle, an edge: equal shares */
    static int32_t triangle[3] = {0, 1, 2};
    static const BrioMesh face = {.vertex_count = 3,
                                  .triangle_count = 1,
                                  .edge_count = 2,
                                  .x = points,
                                  .triangle = triangle,
                                  .edge = edges};
    static const struct {
        const BrioMesh *mesh;
        double expected;
    } single[] = {{&solid, 12.0 / 6 / 4}, {&face, 12.0 / 2 / 3}, {&pair, 12.0 / 2}};
    for (size_t k = 0; k < BRIO_COUNT(single); k++) {
        BrioBodyDef def = body_def(single[k].mesh, k ? "hooke" : "corotated");
        BrioSimDef sim_def = brio_default_sim("symplectic-euler");
        set(&def, "rho", 12);
        BrioSim *sim = make(&def, NULL, NULL, &sim_def);
        for (int64_t v = 0; v < single[k].mesh->vertex_count; v++)
            assert_true(fabs(brio_sim_system(sim)->vertex_mass[v] - single[k].expected) < 1e-14);
        brio_sim_free(sim);
    }
}

/* ---- moduli ----------------------------------------------------------------------------- */

typedef struct Moduli {
    double bulk, shear;
} Moduli;

/* Of a material with E = 3e4 Pa and this Poisson's ratio, or of its own constants: what its small
 * strains must see. */
static Moduli moduli(const BrioEnergy *energy, double nu, BrioMaterial *material)
{
    const double E = 3e4, c1 = 1.1e4, c2 = 5e3, kappa = 7e4;
    assert_int_equal(brio_default_material(energy->name, material, NULL), BRIO_OK);
    if (!strcmp(energy->name, "mooney-rivlin")) {
        assert_int_equal(brio_material_set(material, "c1", c1, NULL), BRIO_OK);
        assert_int_equal(brio_material_set(material, "c2", c2, NULL), BRIO_OK);
        assert_int_equal(brio_material_set(material, "kappa", kappa, NULL), BRIO_OK);
        return (Moduli){kappa, 2 * (c1 + c2)};
    }
    assert_int_equal(brio_material_set(material, "E", E, NULL), BRIO_OK);
    assert_int_equal(brio_material_set(material, "nu", nu, NULL), BRIO_OK);
    double shear = E / (2 + 2 * nu);
    if (!strcmp(energy->name, "arap")) return (Moduli){2.0 / 3 * shear, shear}; /* lambda = 0 */
    return (Moduli){E / (3 - 6 * nu), shear};
}

/* Gradients of the weights of a tet's nodes, and its volume. */
static double weight_gradients(const double *X, double g[4][3])
{
    double d[3][3], volume6;
    for (int k = 0; k < 3; k++)
        for (int r = 0; r < 3; r++) d[k][r] = X[3 * (k + 1) + r] - X[r];
    for (int k = 0; k < 3; k++) cross(d[(k + 1) % 3], d[(k + 2) % 3], g[k + 1]);
    volume6 = dot(d[0], g[1]);
    for (int r = 0; r < 3; r++) {
        g[0][r] = 0;
        for (int k = 1; k < 4; k++) {
            g[k][r] /= volume6;
            g[0][r] -= g[k][r];
        }
    }
    return volume6 / 6;
}

/* The Hessian at rest is that of linear elasticity, V g_a C g_b with
 * C_rjsk = lambda d_rj d_sk + mu (d_rs d_jk + d_rk d_js), projected or not. TOLERANCE 1e-9 of the
 * largest entry. */
static void small_strains(const BrioEnergy *energy, double nu)
{
    BrioMaterial material;
    Moduli m = moduli(energy, nu, &material);
    double params[BRIO_MAX_VALUES], X[12], x[12], rest[16], H[144], gradient[12], g[4][3];
    double lambda = m.bulk - 2.0 / 3 * m.shear;
    double max = 0;
    memcpy(params, material.values, sizeof params);
    if (energy->prepare) assert_int_equal(energy->prepare(material.values, params, NULL), BRIO_OK);
    BrioRandom random = {7};
    energy->sample(&random, X, x);
    double volume = weight_gradients(X, g);
    assert_true(volume > 0);
    energy->rest_shape(X, 1, NAN, rest);
    for (int project = 0; project < 2; project++) {
        double worst = 0, force = 0;
        brio__energy_one(energy, params, rest, X, gradient, H, project);
        for (int i = 0; i < 144; i++) max = brio__larger(max, fabs(H[i]));
        for (int a = 0; a < 12; a++) {
            force = brio__larger(force, fabs(gradient[a]));
            for (int b = 0; b < 12; b++) {
                const double *p = g[a / 3], *q = g[b / 3];
                int r = a % 3, s = b % 3;
                double exact = volume * (lambda * p[r] * q[s] +
                                         m.shear * (p[s] * q[r] + (r == s ? dot(p, q) : 0)));
                worst = brio__larger(worst, fabs(H[12 * a + b] - exact));
            }
        }
        if (!(worst <= 1e-9 * max))
            fail_msg("%s, nu = %g: Hessian at rest off by %g of %g", energy->name, nu, worst, max);
        assert_true(force <= 1e-12 * max);
    }
}

/* Elastic energy of a box under F, the mean of the one for d and for -d, which has no cubic
 * term. */
static double strained(const BrioMaterial *material, const BrioMesh *mesh, double d, bool shear)
{
    double *first = calloc((size_t)mesh->vertex_count * 6, sizeof *first), energy = 0;
    BrioBodyDef def = body_def(mesh, material->type);
    BrioSimDef sim_def = brio_default_sim("symplectic-euler");
    def.material = *material;
    def.state = first;
    for (int sign = -1; sign <= 1; sign += 2) {
        for (int64_t v = 0; v < mesh->vertex_count; v++) {
            const double *X = mesh->x + 3 * v;
            for (int r = 0; r < 3; r++)
                first[6 * v + r] =
                    shear ? X[r] + (r == 0 ? sign * d * X[1] : 0) : (1 + sign * d) * X[r];
        }
        BrioSim *sim = make(&def, NULL, NULL, &sim_def);
        BrioLedger ledger;
        assert_int_equal(brio_sim_ledger(sim, &ledger), BRIO_OK);
        assert_true(ledger.elastic == brio_sim_body_energy(sim, 0));
        energy += ledger.elastic / 2;
        brio_sim_free(sim);
    }
    free(first);
    return energy;
}

/* A small dilation d stores 9/2 K d^2 V, a small shear d stores G/2 d^2 V. TOLERANCE 1e-5: fourth
 * order in d = 2e-4 with coefficients of some ten, and round-off of energies of 1e-8 of their
 * terms. */
static void moduli_of_materials(void **unused)
{
    (void)unused;
    static const double ratios[] = {-0.6, 0, 0.3, 0.45};
    double values[BRIO_MAX_VALUES];
    double size[3] = {0.3, 0.2, 0.1};
    double cells[3] = {2, 2, 1};
    double d = 2e-4;
    double volume = 0.3 * 0.2 * 0.1;
    BrioMesh *mesh;
    int checked = 0;
    brio_fields_defaults(brio_shape_fields("box"), values);
    assert_int_equal(brio_fields_set(brio_shape_fields("box"), values, "size", size, NULL),
                     BRIO_OK);
    assert_int_equal(brio_fields_set(brio_shape_fields("box"), values, "cells", cells, NULL),
                     BRIO_OK);
    assert_int_equal(brio_mesh_shape("box", values, &mesh, NULL), BRIO_OK);
    for (int i = 0; brio__energy_at(i); i++) {
        const BrioEnergy *energy = brio__energy_at(i);
        if (energy->element != BRIO_ELEMENT_TET) continue;
        for (size_t k = 0; k < BRIO_COUNT(ratios); k++) {
            BrioMaterial material;
            small_strains(energy, ratios[k]);
            Moduli m = moduli(energy, ratios[k], &material);
            double dilation = strained(&material, mesh, d, false) / (4.5 * m.bulk * d * d * volume);
            double shear = strained(&material, mesh, d, true) / (0.5 * m.shear * d * d * volume);
            if (!(fabs(dilation - 1) < 1e-5) || !(fabs(shear - 1) < 1e-5))
                fail_msg("%s, nu = %g: bulk modulus x %.8f, shear modulus x %.8f", energy->name,
                         ratios[k], dilation, shear);
            checked++;
        }
    }
    brio_mesh_free(mesh);
    assert_true(checked >= 6 * (int)BRIO_COUNT(ratios));
}

/* ---- springs ---------------------------------------------------------------------------- */

/* Springs with stiffness and length of their own, whatever the material's k is. */
static void springs_of_their_own(void **unused)
{
    (void)unused;
    static const double own[4] = {30, 0.8, 500, 1.5};
    BrioSimDef sim_def = brio_default_sim("symplectic-euler");
    for (int k = 0; k < 2; k++) {
        BrioBodyDef def = spring_def(&chain, k ? 7 : 1, 1);
        def.spring = own;
        BrioSim *sim = make(&def, NULL, NULL, &sim_def);
        double exact = 30.0 / 2 * 0.2 * 0.2 + 500.0 / 2 * pow(sqrt(2) - 1.5, 2);
        assert_true(fabs(brio_sim_body_energy(sim, 0) / exact - 1) < 1e-14);
        brio_sim_free(sim);
    }
}

static void hang(BrioBuilder *builder)
{
    assert_int_equal(brio_builder_fix(builder, 0, (int32_t[]){0}, 1, NULL, NULL), BRIO_OK);
}

/* A weight on a spring hangs m g/k lower, and at rest. */
static void settling(void **unused)
{
    (void)unused;
    const double g[3] = {10, 0, 0}; /* along the spring */
    BrioBodyDef def = spring_def(&pair, 200, 2);
    BrioSimDef sim_def = brio_default_sim("backward-euler");
    double x[6], v[6];
    def.velocity[0] = 3;
    def.velocity[1] = -1;
    BrioSim *sim = make(&def, g, hang, &sim_def);
    brio_sim_velocities(sim, 0, v);
    assert_true(v[3] == 3 && v[4] == -1);
    if (brio_sim_settle(sim, NULL) != BRIO_OK) fail_msg("%s", brio_sim_reason(sim));
    brio_sim_positions(sim, 0, x);
    brio_sim_velocities(sim, 0, v);
    assert_true(fabs(x[3] - 1.1) < 1e-12 && x[4] == 0 && x[5] == 0);
    for (int r = 0; r < 6; r++) assert_true(v[r] == 0);
    brio_sim_free(sim);
}

/* ---- the clock -------------------------------------------------------------------------- */

/* 1e5 steps of 0.1 s are 1e4 s; adding up without care gives 1e4 + 1.9e-8. */
static void long_time(void **unused)
{
    (void)unused;
    BrioBodyDef def = spring_def(&pair, 1, 1);
    BrioSimDef sim_def = brio_default_sim("symplectic-euler");
    sim_def.h = 0.1;
    BrioSim *sim = make(&def, NULL, NULL, &sim_def);
    for (int n = 0; n < 100000; n++) step(sim);
    assert_int_equal(brio_sim_state(sim)->step, 100000);
    if (!(fabs(brio_sim_time(sim) - 1e4) <= nextafter(1e4, INFINITY) - 1e4))
        fail_msg("the time is %.17g s", brio_sim_time(sim));
    brio_sim_free(sim);
}

/* ---- Newton ----------------------------------------------------------------------------- */

/* A body that flies on unchanged starts at the target. So it needs no iteration, or the one that
 * finds only round-off. */
static void free_flight(void **unused)
{
    (void)unused;
    BrioBodyDef def = body_def(&solid, "neo-hookean");
    BrioSimDef sim_def = brio_default_sim("backward-euler");
    def.velocity[0] = 5;
    def.velocity[2] = -3;
    BrioSim *sim = make(&def, NULL, NULL, &sim_def);
    for (int n = 0; n < 10; n++) {
        BrioLedger ledger;
        step(sim);
        assert_int_equal(brio_sim_ledger(sim, &ledger), BRIO_OK);
        assert_in_range(ledger.iterations, 0, 1);
    }
    double x[12];
    brio_sim_positions(sim, 0, x);
    assert_true(fabs(x[0] - 5 * brio_sim_time(sim)) < 1e-12 &&
                fabs(x[2] + 3 * brio_sim_time(sim)) < 1e-12);
    brio_sim_free(sim);
}

static void attach_two(BrioBuilder *builder)
{
    static const double far[3] = {1, 2, 3};
    for (int32_t v = 0; v < 2; v++)
        assert_int_equal(brio_builder_attach(builder, 0, v, far, 40, NULL, NULL), BRIO_OK);
}

/* Attachments alone are quadratic (the spring between the points is of no strength), so one Newton
 * step is exact: with any tolerance, since the last step is taken.
 * (m + h^2 k) x' = m x + h^2 k p. */
static void last_step_taken(void **unused)
{
    (void)unused;
    const double h = 0.1, m = 0.5, k = 40, p[3] = {1, 2, 3};
    BrioBodyDef def = spring_def(&pair, 1e-200, m);
    BrioSimDef sim_def = brio_default_sim("backward-euler");
    BrioLedger ledger;
    double x[6];
    sim_def.h = h;
    sim_def.solver.tol = 1e6;
    BrioSim *sim = make(&def, NULL, attach_two, &sim_def);
    step(sim);
    assert_int_equal(brio_sim_ledger(sim, &ledger), BRIO_OK);
    assert_int_equal(ledger.iterations, 1);
    brio_sim_positions(sim, 0, x);
    for (int i = 0; i < 6; i++) {
        double exact = (m * points[i] + h * h * k * p[i % 3]) / (m + h * h * k);
        assert_true(fabs(x[i] - exact) < 1e-14);
    }
    brio_sim_free(sim);
}

/* The tolerance is a speed: with h = 1e-3, 1e-4 m in one step is 0.1 m/s. A tolerance of 0.01 m/s
 * is not met by the first step, one of 1 m/s is. */
static void tolerance_is_a_speed(void **unused)
{
    (void)unused;
    /* the first step: h^2 k |p - x|/m, largest component 3: 2.4e-4 m, 0.24 m/s */
    const double h = 1e-3, m = 0.5;
    for (int loose = 0; loose < 2; loose++) {
        BrioBodyDef def = spring_def(&pair, 1e-200, m);
        BrioSimDef sim_def = brio_default_sim("backward-euler");
        BrioLedger ledger;
        sim_def.h = h;
        sim_def.solver.tol = loose ? 1 : 0.01;
        BrioSim *sim = make(&def, NULL, attach_two, &sim_def);
        step(sim);
        assert_int_equal(brio_sim_ledger(sim, &ledger), BRIO_OK);
        assert_int_equal(ledger.iterations, loose ? 1 : 2);
        brio_sim_free(sim);
    }
}

static double tip_height(const double *q) { return q[11] - q[2]; }

/* A midpoint step is solved at y = (q + q_n)/2, which may be allowed where its end q is not: a tip
 * that would end below its base, with y still above it. The minimiser must stop short of that and
 * name the element; the driver then takes halves, and the state that it accepts is allowed. */
static void midpoint_end_is_allowed(void **unused)
{
    (void)unused;
    const double h = 0.1;
    static const double first[24] = {0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0,
                                     0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, -15};
    BrioBodyDef def = body_def(&solid, "neo-hookean");
    BrioSimDef sim_def = brio_default_sim("implicit-midpoint");
    def.state = first;
    set(&def, "E", 3000);
    set(&def, "rho", 1000);
    sim_def.h = h;
    BrioSim *sim = make(&def, NULL, NULL, &sim_def);
    BrioState *state = brio_sim_state(sim);
    BrioSolver *solver = sim->stepper->solver;
    double target[12], q[12];
    for (int i = 0; i < 12; i++) target[i] = state->q[i] + h * state->v[i];
    assert_true(tip_height(target) < 0 && tip_height(target) + tip_height(state->q) > 0);
    BrioValue value;
    BrioStatus status = brio__minimise(
        solver, state, &(BrioObjective){.target = target, .s = h * h, .a = 0.5, .time = h, .h = h},
        q, &value);
    /* blocked, or creeping along the wall */
    assert_true(status == BRIO_LINE_SEARCH_STALLED || status == BRIO_NOT_CONVERGED);
    assert_non_null(strstr(solver->message, "tet 0 of body \"body\""));
    /* at the wall but for round-off */
    assert_true(brio__tet_volume6(q, q + 3, q + 6, q + 9) > -1e-15);
    BrioLedger ledger;
    step(sim);
    assert_true(sim->stepper->halvings > 0);
    assert_int_equal(brio_sim_ledger(sim, &ledger), BRIO_OK);
    assert_true(isfinite(ledger.total) &&
                brio__tet_volume6(state->q, state->q + 3, state->q + 6, state->q + 9) > 0);
    brio_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masses),
        cmocka_unit_test(moduli_of_materials),
        cmocka_unit_test(springs_of_their_own),
        cmocka_unit_test(settling),
        cmocka_unit_test(long_time),
        cmocka_unit_test(free_flight),
        cmocka_unit_test(last_step_taken),
        cmocka_unit_test(tolerance_is_a_speed),
        cmocka_unit_test(midpoint_end_is_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
