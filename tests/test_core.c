/* The core: derivatives of whole systems, the affine map, determinism, memory, states and halved
 * steps, inversion, the reasons that Newton gives, scripts, the public interface, the ledger. */
#include "system/system.h"
#include "memory.h"
#include "mesh/mesh.h"
#include "sim/sim.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

static const char *const solvers[] = {"cholesky", "ldlt", "pcg", "multilevel"};

/* ---- what the tests are made of --------------------------------------------------------- */

static BrioStatus box(double a, double b, double c, int i, int j, int k, BrioMesh **mesh)
{
    const BrioField *fields = brio_shape_fields("box");
    double values[BRIO_MAX_VALUES], size[3] = {a, b, c}, cells[3] = {i, j, k};
    brio_fields_defaults(fields, values);
    assert_int_equal(brio_fields_set(fields, values, "size", size, NULL), BRIO_OK);
    assert_int_equal(brio_fields_set(fields, values, "cells", cells, NULL), BRIO_OK);
    return brio_mesh_shape("box", values, mesh, NULL);
}

/* Four vertices and their six springs, or one tet. */
static double corner[12] = {0, 0, 0, 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1};
static int32_t corner_edges[12] = {0, 1, 0, 2, 0, 3, 1, 2, 1, 3, 2, 3},
               corner_tet[4] = {0, 1, 2, 3};
static const BrioMesh corner_springs = {
    .vertex_count = 4, .edge_count = 6, .x = corner, .edge = corner_edges};
static const BrioMesh corner_solid = {
    .vertex_count = 4, .tet_count = 1, .x = corner, .tet = corner_tet};
/* Two vertices and the spring between them: with a stiffness of nothing, single points. */
static const BrioMesh pair_of_points = {
    .vertex_count = 2, .edge_count = 1, .x = corner, .edge = corner_edges};

static BrioBodyDef body_def(const char *name, const BrioMesh *mesh, const char *material,
                            double stiffness, double shift)
{
    BrioBodyDef def = brio_default_body();
    def.name = name;
    def.mesh = mesh;
    def.translate[2] = shift;
    assert_int_equal(brio_default_material(material, &def.material, NULL), BRIO_OK);
    bool springs = !strcmp(material, "hooke");
    assert_int_equal(brio_material_set(&def.material, springs ? "k" : "E", stiffness, NULL),
                     BRIO_OK);
    if (springs)
        assert_int_equal(brio_material_set(&def.material, "vertex_mass", 0.02, NULL), BRIO_OK);
    return def;
}

#define TRY(call)                               \
    do {                                        \
        if (status == BRIO_OK) status = (call); \
    } while (0)

/* Everything there is, each body held by something: a neo-Hookean box with a fixed and a scripted
 * end, springs and a corotated box hanging on attachments that stand still, turn and follow keys,
 * and an affine box likewise. */
static BrioStatus build_mixed(int cells, BrioSystem **system, BrioState **state, BrioError *error)
{
    BrioBuilder *builder = NULL;
    BrioMesh *mesh = NULL;
    int first = -1, second = -1, third = -1, fourth = -1;
    double keys[12] = {0, 0, 0, 0, 0.1, 0.01, 0, 0, 0.3, -0.01, 0.02, 0};
    double gravity[3] = {0.3, -9.8, 0.1};
    BrioScript turning = brio_default_script(), stepping = brio_default_script(),
               pulled = brio_default_script();
    turning.angular[0] = 0.7;
    turning.end = 0.2;
    stepping.keys = keys;
    stepping.key_count = 3;
    pulled.velocity[0] = 0.05;
    *system = NULL;
    *state = NULL;
    BrioStatus status = brio_builder_create(&builder, NULL);
    TRY(box(0.2, 0.1, 0.1, 2 * cells, cells, cells, &mesh));
    if (status == BRIO_OK) {
        brio_builder_gravity(builder, gravity);
        BrioBodyDef def = body_def("solid", mesh, "neo-hookean", 2e4, 0);
        def.velocity[1] = 0.2;
        status = brio_builder_body(builder, &def, &first, error);
    }
    for (int32_t v = 0; status == BRIO_OK && v < mesh->vertex_count; v++) {
        double x = mesh->x[3 * (int64_t)v];
        if (x < -0.0999) TRY(brio_builder_fix(builder, first, &v, 1, NULL, error));
        if (x > 0.0999 && v % 2) TRY(brio_builder_fix(builder, first, &v, 1, &pulled, error));
    }
    if (status == BRIO_OK) {
        BrioBodyDef def = body_def("springs", &corner_springs, "hooke", 300, 0.3);
        def.angular[1] = 2;
        status = brio_builder_body(builder, &def, &second, error);
    }
    for (int k = 0; k < 3; k++) {
        double point[3] = {corner[3 * k] + 0.01, corner[3 * k + 1], corner[3 * k + 2] + 0.3};
        TRY(brio_builder_attach(builder, second, k, point, 40, k ? &stepping : NULL, error));
    }
    if (status == BRIO_OK) {
        BrioBodyDef def = body_def("rotated", &corner_solid, "corotated", 1e4, 0.5);
        status = brio_builder_body(builder, &def, &third, error);
    }
    for (int k = 0; k < 4; k++) {
        double point[3] = {corner[3 * k], corner[3 * k + 1], corner[3 * k + 2] + 0.5};
        TRY(brio_builder_attach(builder, third, k, point, 25, &turning, error));
    }
    brio_mesh_free(mesh);
    mesh = NULL;
    TRY(box(0.1, 0.1, 0.1, 1, 1, 1, &mesh));
    if (status == BRIO_OK) {
        BrioBodyDef def = body_def("affine", mesh, "stable-neo-hookean", 2e4, 0.7);
        def.kind = BRIO_KIND_AFFINE;
        def.angular[2] = 1;
        status = brio_builder_body(builder, &def, &fourth, error);
    }
    for (int k = 0; k < 4; k++) {
        int32_t v = 2 * k;
        if (status != BRIO_OK) break;
        double point[3] = {mesh->x[3 * v], mesh->x[3 * v + 1] + 0.01, mesh->x[3 * v + 2] + 0.7};
        TRY(brio_builder_attach(builder, fourth, v, point, 60, NULL, error));
    }
    TRY(brio_builder_finish(builder, system, state, error));
    brio_mesh_free(mesh);
    brio_builder_free(builder);
    return status;
}

static BrioSim *make_sim(BrioSystem *system, BrioState *state, const BrioSimDef *def)
{
    BrioError error = {0};
    BrioSim *sim = NULL;
    BrioStatus status = brio_sim_create(system, state, def, &sim, &error);
    if (status != BRIO_OK) fail_msg("%s", error.message);
    return sim;
}

static BrioSim *mixed_sim(int cells, const char *integrator, const char *linear)
{
    BrioSystem *system;
    BrioState *state;
    BrioError error = {0};
    if (build_mixed(cells, &system, &state, &error) != BRIO_OK) fail_msg("%s", error.message);
    BrioSimDef def = brio_default_sim(integrator);
    def.h = brio_integrator(integrator)->traits & BRIO_IMPLICIT ? 1.0 / 60 : 1e-4;
    def.solver.linear = linear;
    def.solver.tol = 1e-6;
    return make_sim(system, state, &def);
}

/* Whether an integrator takes that; those for springs only have tests of their own. */
static bool moves_all(int integrator)
{
    return !(brio_integrator_at(integrator)->traits & BRIO_SPRINGS_ONLY);
}

/* One body, with whatever its def says; `clamp` fixes the vertices at the smallest x. */
static BrioSim *one_body(const BrioBodyDef *body, bool clamp, const BrioScript *script,
                         const double *gravity, const BrioSimDef *def)
{
    BrioBuilder *builder;
    BrioSystem *system;
    BrioState *state;
    BrioError error = {0};
    assert_int_equal(brio_builder_create(&builder, NULL), BRIO_OK);
    if (gravity) brio_builder_gravity(builder, gravity);
    if (brio_builder_body(builder, body, NULL, &error) != BRIO_OK) fail_msg("%s", error.message);
    double min = INFINITY;
    for (int64_t v = 0; v < body->mesh->vertex_count; v++) min = fmin(min, body->mesh->x[3 * v]);
    for (int32_t v = 0; clamp && v < body->mesh->vertex_count; v++)
        if (body->mesh->x[3 * (int64_t)v] < min + 1e-9)
            assert_int_equal(brio_builder_fix(builder, 0, &v, 1, script, &error), BRIO_OK);
    assert_int_equal(brio_builder_finish(builder, &system, &state, &error), BRIO_OK);
    brio_builder_free(builder);
    return make_sim(system, state, def);
}

static void step(BrioSim *sim, int count)
{
    for (int i = 0; i < count; i++) {
        BrioStatus status = brio_sim_step(sim, NULL);
        if (status != BRIO_OK)
            fail_msg("%s, step %d: %s: %s", sim->stepper->integrator->name, i,
                     brio_status_name(status), brio_sim_reason(sim));
    }
}

static uint64_t hash(const BrioState *state) /* FNV-1a of the bits of q and v */
{
    uint64_t value = 0xcbf29ce484222325u;
    for (int part = 0; part < 2; part++) {
        const unsigned char *bytes = (const unsigned char *)(part ? state->v : state->q);
        for (size_t i = 0; i < (size_t)state->coordinates * sizeof(double); i++)
            value = (value ^ bytes[i]) * 0x100000001b3u;
    }
    return value;
}

static double *numbers(int64_t count)
{
    double *created = count > 0 ? calloc((size_t)count, sizeof *created) : NULL;
    assert_non_null(created);
    return created;
}

/* ---- derivatives of whole systems ------------------------------------------------------- */

static int32_t node(const BrioTerm *term, int64_t element, int k)
{
    return term->node[(element / LANES * term->energy->nodes + k) * LANES + element % LANES] / 3;
}

/* a M + b d2P/dq2 element by element, as a full matrix: what the assembly must give. */
static void dense(const BrioSystem *s, const BrioState *state, const double *x, double a, double b,
                  bool project, double *A)
{
    int64_t n = 3 * (int64_t)s->block_count;
    memset(A, 0, (size_t)(n * n) * sizeof *A);
    for (int64_t v = 0; v < s->vertex_count; v++)
        for (int32_t i = s->map_start[v]; i < s->map_start[v + 1]; i++)
            for (int32_t j = s->map_start[v]; j < s->map_start[v + 1]; j++)
                for (int r = 0; r < 3; r++)
                    A[(3 * s->map_block[i] + r) * n + 3 * s->map_block[j] + r] +=
                        a * s->vertex_mass[v] * s->map_weight[i] * s->map_weight[j];
    for (int t = 0; t < s->term_count; t++) {
        const BrioTerm *term = &s->term[t];
        int nodes = term->energy->nodes, size = 3 * nodes;
        for (int64_t e = 0; e < term->elements; e++) {
            double rest[16], xe[12], H[144];
            for (int k = 0; k < term->energy->rest; k++)
                rest[k] = term->rest[(e / LANES * term->energy->rest + k) * LANES + e % LANES];
            for (int k = 0; k < nodes; k++)
                memcpy(xe + 3 * k, x + 3 * (int64_t)node(term, e, k), 3 * sizeof *xe);
            brio__energy_one(term->energy, state->param + term->params, rest, xe, NULL, H, project);
            for (int k = 0; k < nodes * nodes; k++) {
                int32_t v = node(term, e, k / nodes), w = node(term, e, k % nodes);
                for (int32_t i = s->map_start[v]; i < s->map_start[v + 1]; i++)
                    for (int32_t j = s->map_start[w]; j < s->map_start[w + 1]; j++)
                        for (int m = 0; m < 9; m++)
                            A[(3 * s->map_block[i] + m / 3) * n + 3 * s->map_block[j] + m % 3] +=
                                b * s->map_weight[i] * s->map_weight[j] *
                                H[(3 * (k / nodes) + m / 3) * size + 3 * (k % nodes) + m % 3];
            }
        }
    }
}

static double potential(BrioSolver *solver, const BrioState *state, const double *q, double time,
                        double *gradient)
{
    brio__system_positions(solver->system, state, q, time, solver->x);
    BrioPose pose = {.state = state, .x = solver->x};
    double P = brio__potential_evaluate(solver->potential, &pose, gradient, NULL).energy;
    assert_true(isfinite(P));
    return P;
}

/* TOLERANCE 1e-6 of the largest entry: central differences over 2e-5 m of bodies of 0.1 m. */
static void check_gradient(BrioSolver *solver, BrioState *state, double time)
{
    int64_t n = state->coordinates;
    double *g = numbers(n), max = 0, worst = 0;
    potential(solver, state, state->q, time, g);
    for (int64_t i = 0; i < n; i++) max = brio__larger(max, fabs(g[i]));
    for (int64_t i = 0; i < n; i++) {
        double q = state->q[i], d = 1e-5;
        state->q[i] = q + d;
        double up = potential(solver, state, state->q, time, NULL);
        state->q[i] = q - d;
        double down = potential(solver, state, state->q, time, NULL);
        state->q[i] = q;
        worst = brio__larger(worst, fabs((up - down) / (2 * d) - g[i]));
    }
    free(g);
    if (!(worst <= 1e-6 * max)) fail_msg("gradient off by %g of %g", worst, max);
}

/* Against differences of the gradient (TOLERANCE 1e-6 of the largest entry) and against the sum of
 * elements (1e-12). */
static void check_hessian(BrioSolver *solver, BrioState *state, double time)
{
    const BrioSystem *s = solver->system;
    int64_t n = state->coordinates;
    double *A = numbers(n * n);
    double *unit = numbers(n);
    double *column = numbers(n);
    double *up = numbers(n);
    double *down = numbers(n);
    double *x = numbers(3 * s->vertex_count);
    brio__system_positions(s, state, state->q, time, x);
    /* the exact Hessian, the projected one, and a matrix of the primitive */
    for (int kind = 0; kind < 3; kind++) {
        bool project = kind > 0;
        double a = kind == 2 ? 0.7 : 0;
        double b = kind == 2 ? 1.3e-4 : 1;
        double max = 0;
        double worst = 0;
        double worst_difference = 0;
        double min = INFINITY;
        dense(s, state, x, a, b, project, A);
        brio__assemble(brio__potential_elements(solver->potential), state->param, x, a, b, project,
                       solver->linear, NULL);
        for (int64_t i = 0; i < n * n; i++) max = brio__larger(max, fabs(A[i]));
        for (int64_t j = 0; j < n; j++) {
            unit[j] = 1;
            brio__linear_multiply(solver->linear, unit, column);
            unit[j] = 0;
            for (int64_t i = 0; i < n; i++)
                worst = brio__larger(worst, fabs(column[i] - A[i * n + j]));
            if (kind > 0) continue;
            double q = state->q[j], d = 1e-6;
            state->q[j] = q + d;
            potential(solver, state, state->q, time, up);
            state->q[j] = q - d;
            potential(solver, state, state->q, time, down);
            state->q[j] = q;
            for (int64_t i = 0; i < n; i++)
                worst_difference =
                    brio__larger(worst_difference, fabs((up[i] - down[i]) / (2 * d) - column[i]));
        }
        BrioRandom random = {41};
        /* no direction of negative curvature */
        for (int again = 0; project && again < 200; again++) {
            double curvature = 0;
            for (int64_t i = 0; i < n; i++)
                unit[i] = again % 4 ? brio__random_normal(&random) : state->q[i];
            brio__linear_multiply(solver->linear, unit, column);
            for (int64_t i = 0; i < n; i++) curvature += unit[i] * column[i];
            min = fmin(min, curvature);
        }
        memset(unit, 0, (size_t)n * sizeof *unit);
        if (!(worst <= 1e-12 * max))
            fail_msg("%s, kind %d: matrix off by %g of %g", solver->linear->type->name, kind, worst,
                     max);
        if (!(worst_difference <= 1e-6 * max))
            fail_msg("%s: Hessian off by %g of %g", solver->linear->type->name, worst_difference,
                     max);
        if (project) assert_true(min >= -1e-9 * max);
    }
    free(A), free(unit), free(column), free(up), free(down), free(x);
}

static void derivatives(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < BRIO_COUNT(solvers); k++)
        for (int cells = 1; cells <= 2; cells++) {
            BrioSystem *system;
            BrioState *state;
            BrioSolver *solver;
            BrioSolverOptions options = brio_default_solver();
            options.linear = solvers[k];
            assert_int_equal(build_mixed(cells, &system, &state, NULL), BRIO_OK);
            BrioPotential *sum;
            BrioDissipation *losses;
            assert_int_equal(brio__solver_create(system, &options, &solver), BRIO_OK);
            assert_int_equal(brio__potential_create(system, &solver->totals, &sum), BRIO_OK);
            assert_int_equal(brio__dissipation_create(system, NULL, 0, &losses), BRIO_OK);
            brio__solver_set(solver, sum, losses);
            assert_int_equal(brio__solver_prepare(solver, state), BRIO_OK);
            BrioRandom random = {31};
            for (int64_t i = 0; i < state->coordinates; i++)
                state->q[i] += 0.004 * brio__random_normal(&random);
            check_gradient(solver, state, 0.15);
            check_hessian(solver, state, 0.15);
            brio__potential_free(sum);
            brio__dissipation_free(losses);
            brio__solver_free(solver);
            brio_state_free(state);
            brio_system_free(system);
        }
}

/* ---- the affine map --------------------------------------------------------------------- */

/* M = J^T m J by columns, and M^-1 undoes it. TOLERANCE 1e-12: round-off. */
static void affine_masses(void **unused)
{
    (void)unused;
    BrioSystem *s;
    BrioState *state;
    assert_int_equal(build_mixed(1, &s, &state, NULL), BRIO_OK);
    int64_t n = state->coordinates;
    assert_int_equal(s->vertex_count, s->body_vertices + 11 + 4);
    double *A = numbers(n * n);
    double *unit = numbers(n);
    double *p = numbers(n);
    double *v = numbers(n);
    double *in_place = numbers(n);
    double *x = numbers(3 * s->vertex_count);
    brio__system_positions(s, state, state->q, 0, x);
    dense(s, state, x, 1, 0, false, A);
    for (int64_t j = 0; j < n; j++) {
        unit[j] = 1;
        brio__mass_multiply(s, unit, p);
        brio__mass_solve(s, p, v);
        memcpy(in_place, unit, (size_t)n * sizeof *unit);
        brio__mass_multiply(s, in_place, in_place);
        assert_memory_equal(in_place, p, (size_t)n * sizeof *p);
        brio__mass_solve(s, in_place, in_place);
        assert_memory_equal(in_place, v, (size_t)n * sizeof *v);
        for (int64_t i = 0; i < n; i++) {
            assert_true(fabs(p[i] - A[i * n + j]) <= 1e-14);
            assert_true(fabs(v[i] - unit[i]) <= 1e-12);
        }
        unit[j] = 0;
    }
    /* the coordinates carry the rest shape and the first velocities, which are affine, exactly */
    const BrioBody *b = &s->body[3];
    double *w = numbers(3 * s->vertex_count);
    brio__system_velocities(s, state, state->v, 0, w);
    for (int64_t k = b->first; k < b->first + b->count; k++) {
        assert_true(fabs(fabs(x[3 * k]) - 0.05) < 1e-13 &&
                    fabs(fabs(x[3 * k + 2] - 0.7) - 0.05) < 1e-13);
        assert_true(fabs(w[3 * k] + x[3 * k + 1]) < 1e-12 && fabs(w[3 * k + 1] - x[3 * k]) < 1e-12);
    }
    free(A), free(unit), free(p), free(v), free(in_place), free(x), free(w);
    brio_state_free(state);
    brio_system_free(s);
}

/* One body in twelve coordinates. */
static BrioSim *affine_sim(const BrioMesh *mesh, double stretch, const double *gravity,
                           const char *integrator, double h)
{
    BrioBuilder *builder;
    BrioSystem *system;
    BrioState *state;
    double *first = numbers(6 * mesh->vertex_count);
    for (int64_t k = 0; k < 3 * mesh->vertex_count; k++)
        first[6 * (k / 3) + k % 3] = mesh->x[k] * (k % 3 ? 1 : stretch);
    BrioBodyDef def = body_def("body", mesh, "stable-neo-hookean", 2e4, 0);
    def.kind = BRIO_KIND_AFFINE;
    def.state = first;
    def.angular[0] = 3;
    def.angular[2] = 5;
    def.velocity[1] = 0.4;
    int32_t vertex = 0;
    assert_int_equal(brio_builder_create(&builder, NULL), BRIO_OK);
    brio_builder_gravity(builder, gravity);
    assert_int_equal(brio_builder_body(builder, &def, NULL, NULL), BRIO_OK);
    assert_int_equal(brio_builder_fix(builder, 0, &vertex, 1, NULL, NULL), BRIO_ERROR_INPUT);
    assert_int_equal(brio_builder_finish(builder, &system, &state, NULL), BRIO_OK);
    brio_builder_free(builder);
    free(first);
    assert_int_equal(brio_system_coordinates(system), 12);
    BrioSimDef sim = brio_default_sim(integrator);
    sim.h = h;
    sim.solver.tol = 1e-12;
    return make_sim(system, state, &sim);
}

/* A box in twelve coordinates: its centre falls as it must, it keeps its angular momentum
 * (midpoint), stays affine, and is nearly rigid if it is stiff. TOLERANCE 1e-10 relative, as for
 * free vertices. */
static void affine_flight(void **unused)
{
    (void)unused;
    const double gravity[3] = {0, -9.8, 0}, none[3] = {0};
    BrioMesh *mesh;
    assert_int_equal(box(0.1, 0.1, 0.1, 2, 2, 2, &mesh), BRIO_OK);
    BrioLedger first, last;
    BrioSim *sim = affine_sim(mesh, 1, gravity, "trapezoidal", 1e-2);
    brio_sim_ledger(sim, &first);
    step(sim, 100);
    brio_sim_ledger(sim, &last);
    assert_true(fabs(last.centre[1] - first.centre[1] -
                     (0.4 * last.time - 4.9 * last.time * last.time)) < 1e-11);
    brio_sim_free(sim);

    sim = affine_sim(mesh, 1.1, none, "implicit-midpoint", 2e-3);
    brio_sim_ledger(sim, &first);
    step(sim, 100);
    brio_sim_ledger(sim, &last);
    double size = sqrt(first.angular[0] * first.angular[0] + first.angular[1] * first.angular[1] +
                       first.angular[2] * first.angular[2]);
    for (int r = 0; r < 3; r++) {
        assert_true(fabs(last.angular[r] - first.angular[r]) < 1e-10 * size);
        assert_true(fabs(last.momentum[r] - first.momentum[r]) < 1e-10 * fabs(first.momentum[1]));
    }
    /* the centre vertex is the mean of opposite ones, always */
    double *x = numbers(3 * mesh->vertex_count);
    brio_sim_positions(sim, 0, x);
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        for (int64_t w = 0; w < v; w++) {
            double same = 0;
            for (int r = 0; r < 3; r++) same += fabs(mesh->x[3 * v + r] + mesh->x[3 * w + r]);
            for (int r = 0; same < 1e-12 && r < 3; r++)
                assert_true(fabs((x[3 * v + r] + x[3 * w + r]) / 2 - last.centre[r]) < 1e-12);
        }
    double *again = numbers(3 * mesh->vertex_count);
    assert_int_equal(brio_sim_set_positions(sim, 0, x, NULL), BRIO_OK);
    brio_sim_positions(sim, 0, again);
    for (int64_t k = 0; k < 3 * mesh->vertex_count; k++) assert_true(fabs(again[k] - x[k]) < 1e-14);
    free(again);
    free(x);
    brio_sim_free(sim);
    brio_mesh_free(mesh);
}

/* ---- determinism ------------------------------------------------------------------------ */

static uint64_t run_hash(int cells, const char *integrator, const char *linear, int threads,
                         int steps)
{
    brio_set_threads(threads);
    BrioSim *sim = mixed_sim(cells, integrator, linear);
    step(sim, steps);
    uint64_t value = hash(brio_sim_state(sim));
    brio_sim_free(sim);
    brio_set_threads(0);
    return value;
}

static void same_bits(void **unused)
{
    (void)unused;
    for (int i = 0; brio_integrator_at(i); i++)
        for (size_t k = 0; k < BRIO_COUNT(solvers) && moves_all(i); k++) {
            const char *integrator = brio_integrator_at(i)->name;
            uint64_t one = run_hash(3, integrator, solvers[k], 1, 20);
            for (int threads = 1; threads <= 3; threads++)
                if (run_hash(3, integrator, solvers[k], threads, 20) != one)
                    fail_msg("%s with %s: other bits with %d threads", integrator, solvers[k],
                             threads);
        }
}

/* Large enough for several chunks of everything. */
static void same_bits_large(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < BRIO_COUNT(solvers); k++) { /* 20 000 tets */
        uint64_t one = run_hash(13, "backward-euler", solvers[k], 1, 1);
        if (run_hash(13, "backward-euler", solvers[k], 3, 1) != one)
            fail_msg("%s: other bits with 3 threads", solvers[k]);
    }
    /* 120 000 tets, 27 000 vertices */
    uint64_t one = run_hash(23, "symplectic-euler", "pcg", 1, 4);
    for (int threads = 2; threads <= 3; threads++)
        assert_true(run_hash(23, "symplectic-euler", "pcg", threads, 4) == one);
}

/* ---- memory ----------------------------------------------------------------------------- */

static void no_allocation(void **unused)
{
    (void)unused;
    for (int i = 0; brio_integrator_at(i); i++)
        for (size_t k = 0; k < BRIO_COUNT(solvers) && moves_all(i); k++) {
            Memory memory;
            memory_start(&memory, -1, false);
            BrioSim *sim = mixed_sim(2, brio_integrator_at(i)->name, solvers[k]);
            step(sim, 1);
            int64_t before = memory.calls;
            BrioLedger ledger;
            for (int n = 0; n < 5; n++) {
                step(sim, 1);
                brio_sim_ledger(sim, &ledger);
                brio_sim_body_energy(sim, 0);
            }
            if (memory.calls != before)
                fail_msg("%s with %s: %lld allocations in 5 steps", brio_integrator_at(i)->name,
                         solvers[k], (long long)(memory.calls - before));
            assert_int_equal(brio_sim_settle(sim, NULL), BRIO_OK);
            if (brio_integrator_at(i)->traits & BRIO_IMPLICIT)
                assert_int_equal(memory.calls, before);
            brio_sim_free(sim);
            assert_int_equal(memory.live, 0);
        }
    brio_set_allocator(NULL);
}

/* From nothing to a settled body; what fails once for want of memory works when there is some. */
static BrioStatus whole_life(const char *linear, Memory *memory)
{
    BrioSystem *system;
    BrioState *state, *copy = NULL;
    BrioSim *sim = NULL;
    BrioError error = {0};
    BrioStatus status = build_mixed(1, &system, &state, &error);
    if (status != BRIO_OK) {
        assert_null(system);
        return status;
    }
    BrioSimDef def = brio_default_sim("backward-euler");
    def.solver.linear = linear;
    status = brio_sim_create(system, state, &def, &sim, &error);
    if (status != BRIO_OK) {
        assert_int_equal(error.status, status);
        assert_true(error.message[0] != 0);
        return status;
    }
    uint64_t before = hash(brio_sim_state(sim));
    status = brio_sim_step(sim, NULL);
    if (status != BRIO_OK) {
        assert_true(brio_sim_reason(sim)[0] != 0);
        assert_true(hash(brio_sim_state(sim)) == before && brio_sim_time(sim) == 0);
        memory->fail_at = -1;
        assert_int_equal(brio_sim_step(sim, NULL), BRIO_OK);
    }
    TRY(brio_sim_settle(sim, NULL));
    TRY(brio_state_copy(brio_sim_state(sim), &copy, NULL));
    brio_state_free(copy);
    brio_sim_free(sim);
    return status;
}

static void fail_everywhere(BrioStatus (*life)(const char *name, Memory *memory), const char *name)
{
    int64_t k = 0;
    for (;; k++) {
        Memory memory = {0};
        for (int stays = 0; stays < 2; stays++) {
            memory_start(&memory, k, stays);
            BrioStatus status = life(name, &memory);
            if (memory.live != 0)
                fail_msg("%s: allocation %lld failed: %lld blocks are left", name, (long long)k,
                         (long long)memory.live);
            if (memory.failed != (status == BRIO_ERROR_MEMORY) ||
                (!memory.failed && status != BRIO_OK))
                fail_msg("%s: allocation %lld failed and the outcome is %s", name, (long long)k,
                         brio_status_name(status));
        }
        if (!memory.failed) break;
    }
    brio_set_allocator(NULL);
    print_message("%s: each of %lld allocations failed once\n", name, (long long)k);
    assert_true(k > 50);
}

static void failing_memory(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < BRIO_COUNT(solvers); k++) fail_everywhere(whole_life, solvers[k]);
}

static const char scene_json[] =
    "{\"brio\": 1, \"time\": {\"h\": 0.02, \"end\": 1}, \"gravity\": [0, -9.8, 0],"
    " \"materials\": {\"rubber\": {\"type\": \"neo-hookean\", \"E\": 1e5, \"nu\": 0.3, \"rho\": "
    "1000}},"
    " \"bodies\": [{\"name\": \"bar\", \"shape\": {\"type\": \"box\", \"size\": [0.2, 0.1, 0.1], "
    "\"cells\": [2, 1, 1]},"
    " \"material\": \"rubber\", \"velocity\": {\"linear\": [1, 0, 0]},"
    " \"fix\": [{\"box\": [[-1, -1, -1], [-0.099, 1, 1]], \"script\": {\"velocity\": [0, 0.1, 0], "
    "\"end\": 2}}]}],"
    " \"output\": {}}\n";

/* The outcome must also be one sentence. The readers of YAML and JSON allocate on their own
 * account. */
static BrioStatus load_life(const char *file, Memory *memory)
{
    (void)memory;
    BrioSim *sim = NULL;
    BrioError error = {0};
    BrioStatus status = brio_sim_load(file, &sim, &error);
    if (status != BRIO_OK) {
        assert_null(sim);
        assert_int_equal(error.status, status);
        assert_true(error.message[0] != 0);
        return status;
    }
    status = brio_sim_step(sim, NULL);
    brio_sim_free(sim);
    return status;
}

static void failing_memory_scene(void **unused)
{
    (void)unused;
    char directory[] = "/tmp/brio-core-XXXXXX", file[64];
    assert_non_null(mkdtemp(directory));
    static const char *const extensions[] = {
        "json",
#ifdef BRIO_HAVE_LIBFYAML
        "yaml", /* JSON is YAML */
#endif
    };
    for (size_t k = 0; k < BRIO_COUNT(extensions); k++) {
        snprintf(file, sizeof file, "%s/scene.%s", directory, extensions[k]);
        FILE *out = fopen(file, "w");
        assert_non_null(out);
        fputs(scene_json, out);
        fclose(out);
        fail_everywhere(load_life, file);
        unlink(file);
    }
    rmdir(directory);
}

/* ---- states and halved steps ------------------------------------------------------------ */

static void replay(void **unused)
{
    (void)unused;
    for (int i = 0; brio_integrator_at(i); i++) {
        if (!moves_all(i)) continue;
        BrioSim *sim = mixed_sim(1, brio_integrator_at(i)->name, "cholesky");
        BrioState *copy;
        step(sim, 3);
        assert_int_equal(brio_state_copy(brio_sim_state(sim), &copy, NULL), BRIO_OK);
        assert_true(hash(copy) == hash(brio_sim_state(sim)) && copy->time == brio_sim_time(sim));
        step(sim, 4);
        uint64_t once = hash(brio_sim_state(sim));
        double time = brio_sim_time(sim);
        for (int again = 0; again < 2; again++) {
            brio_state_assign(brio_sim_state(sim), copy);
            step(sim, 4);
            assert_true(hash(brio_sim_state(sim)) == once && brio_sim_time(sim) == time);
        }
        assert_true(hash(copy) != once);
        brio_state_free(copy);
        brio_sim_free(sim);
    }
}

/* A tet whose tip flies at its base: in one step it would pass through. */
static BrioSim *flying_tip(const char *integrator, double h, int halvings)
{
    static const double first[24] = {0, 0,   0, 0, 0, 0, 0.1, 0, 0,   0, 0, 0,
                                     0, 0.1, 0, 0, 0, 0, 0,   0, 0.1, 0, 0, -1};
    BrioBodyDef body = body_def("tip", &corner_solid, "neo-hookean", 1e4, 0);
    body.state = first;
    BrioSimDef def = brio_default_sim(integrator);
    def.h = h;
    def.solver.max_halvings = halvings;
    return one_body(&body, false, NULL, NULL, &def);
}

static void remember(void *user, BrioLogLevel level, const char *message)
{
    char *last = user;
    if (level == BRIO_LOG_WARNING) snprintf(last, 256, "%s", message);
}

static void halving(void **unused)
{
    (void)unused;
    char warning[256] = "";
    brio_set_log(remember, warning);
    BrioSim *sim = flying_tip("symplectic-euler", 0.12, 6);
    assert_int_equal(brio_sim_step(sim, NULL), BRIO_OK);
    assert_true(sim->stepper->halvings > 0);
    assert_true(brio_sim_time(sim) == 0.12);
    assert_int_equal(brio_sim_state(sim)->step, 1);
    assert_non_null(strstr(
        warning, "would invert tet 0 of body \"tip\" (vertices 0 1 2 3); trying two steps of"));
    /* the halves are steps like any other: the same from steps of that length */
    int pieces = 1 << sim->stepper->halvings;
    BrioSim *other = flying_tip("symplectic-euler", 0.12, 0);
    bool even = true; /* all pieces of one length? */
    for (int k = 0; even && k < pieces; k++)
        even = brio_sim_step_by(other, 0.12 / pieces, NULL) == BRIO_OK;
    if (even && sim->stepper->halvings == 1)
        assert_true(hash(brio_sim_state(sim)) == hash(brio_sim_state(other)));
    brio_sim_free(other);
    brio_sim_free(sim);
    brio_set_log(NULL, NULL);

    sim = flying_tip("symplectic-euler", 0.12, 0);
    uint64_t before = hash(brio_sim_state(sim));
    assert_int_equal(brio_sim_step(sim, NULL), BRIO_STEP_REJECTED);
    assert_string_equal(brio_sim_reason(sim),
                        "the step of 0.12 s would invert tet 0 of body \"tip\" (vertices 0 1 2 3)");
    assert_true(hash(brio_sim_state(sim)) == before && brio_sim_time(sim) == 0 &&
                brio_sim_state(sim)->step == 0);
    assert_int_equal(brio_sim_step_by(sim, 0.03, NULL), BRIO_OK); /* and it can go on */
    assert_string_equal(brio_sim_reason(sim), "");
    static const double bad[] = {0, -1, NAN, INFINITY};
    for (size_t k = 0; k < BRIO_COUNT(bad); k++)
        assert_int_equal(brio_sim_step_by(sim, bad[k], NULL), BRIO_ERROR_ARGUMENT);
    brio_sim_free(sim);
}

/* Halves follow each other in time too: a clamp that shakes is where it is at the end of each. The
 * tip cannot pass its base in one step, and two of half the length lead to the same bits. */
static void halves_of_a_shaken_clamp(void **unused)
{
    (void)unused;
    double keys[8] = {0, 0, 0, 0, 0.5, 0, 0.4, 0};
    BrioScript script = brio_default_script();
    script.keys = keys;
    script.key_count = 2;
    BrioSim *sim[2];
    for (int k = 0; k < 2; k++) {
        BrioBodyDef body = body_def("tip", &corner_solid, "neo-hookean", 1e4, 0);
        BrioSimDef def = brio_default_sim("symplectic-euler");
        def.h = 0.12;
        def.solver.max_halvings = k ? 0 : 6;
        sim[k] = one_body(&body, true, &script, NULL, &def);
        sim[k]->state->v[0] = -1;
    }
    assert_int_equal(brio_sim_step(sim[0], NULL), BRIO_OK);
    assert_int_equal(sim[0]->stepper->halvings, 1);
    for (int k = 0; k < 2; k++) assert_int_equal(brio_sim_step_by(sim[1], 0.06, NULL), BRIO_OK);
    assert_true(hash(brio_sim_state(sim[0])) == hash(brio_sim_state(sim[1])));
    for (int k = 0; k < 2; k++) brio_sim_free(sim[k]);
}

/* A step that leads to positions or to velocities that are not finite is rejected, and the state
 * stays as it was. */
static void no_step_to_infinity(void **unused)
{
    (void)unused;
    static const double bad[] = {NAN, INFINITY};
    for (int k = 0; k < 4; k++) {
        BrioSim *sim = flying_tip("symplectic-euler", 0.01, 0);
        BrioState *state = brio_sim_state(sim);
        uint64_t before = hash(state);
        double q[12], v[12];
        assert_int_equal(state->coordinates, 12);
        memcpy(q, state->q, sizeof q);
        memcpy(v, state->v, sizeof v);
        (k < 2 ? q : v)[5] = bad[k % 2];
        assert_int_equal(brio_stepper_accept(sim->stepper, 0.01, q, v), BRIO_NOT_FINITE);
        assert_true(hash(state) == before && brio_sim_time(sim) == 0);
        brio_sim_free(sim);
    }
}

/* A failure in the second half puts back the state of before the first. */
static void failed_halves(void **unused)
{
    (void)unused;
    BrioMesh *mesh;
    assert_int_equal(box(0.1, 0.1, 0.1, 1, 1, 1, &mesh), BRIO_OK);
    /* at 0.5 s the clamp jumps through the body and far on */
    double keys[12] = {0, 0, 0, 0, 0.5, 0, 0, 0, 0.5 + 1e-9, 3, 0, 0};
    BrioScript script = brio_default_script();
    script.keys = keys;
    script.key_count = 3;
    BrioBodyDef body = body_def("cube", mesh, "neo-hookean", 1e4, 0);
    BrioSimDef def = brio_default_sim("backward-euler");
    def.h = 0.6;
    def.solver.max_halvings = 3;
    def.solver.max_iterations = 1;
    BrioSim *sim = one_body(&body, true, &script, NULL, &def);
    uint64_t before = hash(brio_sim_state(sim));
    /* the tets go along with the clamp, but one iteration is not enough for their equilibrium */
    assert_int_equal(brio_sim_step(sim, NULL), BRIO_NOT_CONVERGED);
    assert_int_equal(sim->stepper->halvings, 3);
    assert_int_equal(sim->stepper->solver->reason, BRIO_REASON_ITERATIONS);
    assert_non_null(strstr(brio_sim_reason(sim), "the iteration limit was reached"));
    assert_true(hash(brio_sim_state(sim)) == before && brio_sim_time(sim) == 0);
    brio_sim_free(sim);
    brio_mesh_free(mesh);
}

/* ---- no element ever inverts ------------------------------------------------------------ */

static double min_volume(BrioSim *sim)
{
    const BrioBody *b = &sim->system->body[0];
    double *x = numbers(3 * b->count), min = INFINITY;
    brio_sim_positions(sim, 0, x);
    for (int64_t t = 0; t < b->tet_count; t++) {
        const int32_t *n = b->tet + 4 * t;
        min = fmin(min, brio__tet_volume6(x + 3 * (int64_t)n[0], x + 3 * (int64_t)n[1],
                                          x + 3 * (int64_t)n[2], x + 3 * (int64_t)n[3]));
    }
    free(x);
    return min;
}

static void violence(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        double velocity, noise, gravity, spin, E, nu;
    } scenes[] = {
        {"thrown at its clamp", -100, 0, 0, 0, 1e4, 0.3},
        {"at 1000 m/s", -1000, 0, 0, 0, 1e5, 0.45},
        {"a thousand g", 0, 0, -1e4, 0, 1e4, 0.3},
        {"random velocities", 0, 30, -9.8, 0, 1e4, 0.4},
        {"random and nearly incompressible", 0, 30, 0, 0, 1e4, 0.49},
        {"spun", 0, 0, -9.8, 300, 1e4, 0.3},
    };
    static const char *const integrators[] = {"backward-euler", "trapezoidal", "implicit-midpoint"};
    BrioMesh *mesh;
    assert_int_equal(box(0.4, 0.1, 0.1, 4, 2, 2, &mesh), BRIO_OK);
    int refused = 0, accepted = 0;
    for (size_t k = 0; k < BRIO_COUNT(scenes); k++)
        for (size_t i = 0; i < BRIO_COUNT(integrators); i++) {
            BrioRandom random = {51};
            double *first = numbers(6 * mesh->vertex_count), gravity[3] = {0, scenes[k].gravity, 0};
            for (int64_t v = 0; v < mesh->vertex_count; v++)
                for (int r = 0; r < 3; r++) {
                    first[6 * v + r] = mesh->x[3 * v + r];
                    first[6 * v + 3 + r] = scenes[k].noise * brio__random_normal(&random);
                }
            BrioBodyDef body = body_def("bar", mesh, "neo-hookean", scenes[k].E, 0);
            assert_int_equal(brio_material_set(&body.material, "nu", scenes[k].nu, NULL), BRIO_OK);
            body.state = first;
            body.velocity[0] = scenes[k].velocity;
            body.angular[0] = scenes[k].spin;
            BrioSimDef def = brio_default_sim(integrators[i]);
            def.h = 0.1;
            def.solver.tol = 1e-4;
            BrioSim *sim = one_body(&body, true, NULL, gravity, &def);
            for (int n = 0; n < 10; n++) {
                BrioStatus status = brio_sim_step(sim, NULL);
                if (!(min_volume(sim) > 0))
                    fail_msg("%s, %s: inverted after step %d", scenes[k].name, integrators[i], n);
                if (status == BRIO_OK) {
                    accepted++;
                    continue;
                }
                refused++; /* honestly */
                assert_true(status > 0 && brio_sim_reason(sim)[0] != 0);
                print_message("%s, %s, step %d: %s: %s\n", scenes[k].name, integrators[i], n,
                              brio_status_name(status), brio_sim_reason(sim));
                if (!strcmp(integrators[i], "backward-euler"))
                    fail_msg("backward Euler must get through");
                break;
            }
            brio_sim_free(sim);
            free(first);
        }
    brio_mesh_free(mesh);
    print_message("%d violent steps accepted, %d refused, none inverted\n", accepted, refused);
    assert_true(accepted > 60);
}

/* ---- why Newton ended ------------------------------------------------------------------- */

typedef void Eval(const BrioBatch *batch);
static Eval *honest_eval;

static void uphill(const BrioBatch *batch) /* the gradient points the wrong way */
{
    honest_eval(batch);
    for (int64_t k = batch->begin * 6 * LANES; batch->gradient && k < batch->end * 6 * LANES; k++)
        batch->gradient[k] *= -1;
}

static void concave(const BrioBatch *batch)
{
    honest_eval(batch);
    for (int64_t k = 0; batch->hessian && k < (batch->end - batch->begin) * 27 * LANES; k++)
        batch->hessian[k] *= -1e30;
}

static void no_force(const BrioBatch *batch)
{
    honest_eval(batch);
    for (int64_t k = batch->begin * 6 * LANES; batch->gradient && k < batch->end * 6 * LANES; k++)
        batch->gradient[k] = NAN;
}

static void no_matrix(const BrioBatch *batch)
{
    honest_eval(batch);
    for (int64_t k = 0; batch->hessian && k < (batch->end - batch->begin) * 27 * LANES; k++)
        batch->hessian[k] = NAN;
}

static double no_room(const BrioBatch *batch, int64_t *element)
{
    (void)batch;
    *element = 0;
    return 0;
}

/* Two points, one fixed and one on an attachment whose energy is altered, solved once by backward
 * Euler. */
static void expect_reason(const BrioEnergy *energy, const char *linear, double velocity,
                          const BrioSolverOptions *options, BrioStatus status, BrioReason reason,
                          const char *text)
{
    BrioBuilder *builder;
    BrioSystem *system;
    BrioState *state;
    int32_t fixed = 0;
    double point[3] = {0.5, 0.2, 0};
    BrioBodyDef def = body_def("point", &pair_of_points, "hooke", 1e-9, 0);
    assert_int_equal(brio_builder_create(&builder, NULL), BRIO_OK);
    assert_int_equal(brio_builder_body(builder, &def, NULL, NULL), BRIO_OK);
    assert_int_equal(brio_builder_fix(builder, 0, &fixed, 1, NULL, NULL), BRIO_OK);
    assert_int_equal(brio_builder_attach(builder, 0, 1, point, 1000, NULL, NULL), BRIO_OK);
    assert_int_equal(brio_builder_finish(builder, &system, &state, NULL), BRIO_OK);
    brio_builder_free(builder);
    assert_int_equal(system->term[1].energy->element, BRIO_ELEMENT_ANCHOR);
    if (energy) system->term[1].energy = energy;
    BrioSimDef sim_def = brio_default_sim("backward-euler");
    if (options) sim_def.solver = *options;
    sim_def.solver.linear = linear;
    sim_def.solver.max_halvings = 0;
    BrioSim *sim = make_sim(system, state, &sim_def);
    sim->state->v[0] = velocity; /* creation rejects one whose energy is no number */
    BrioStatus got = brio_sim_step(sim, NULL);
    const BrioSolver *solver = sim->stepper->solver;
    if (got != status || solver->reason != reason ||
        (status != BRIO_OK && !strstr(brio_sim_reason(sim), text)))
        fail_msg("%s: expected %s (%s), got %s (%s): %s", linear, brio_status_name(status),
                 brio__reason_text(reason), brio_status_name(got),
                 brio__reason_text(solver->reason), brio_sim_reason(sim));
    if (status != BRIO_OK) assert_non_null(strstr(brio_sim_reason(sim), brio__reason_text(reason)));
    /* whoever solves next does so as accurately as the options say */
    const BrioLinear *matrix = solver->linear;
    assert_true(!matrix ||
                (matrix->options.tol == solver->options.linear_tol && !matrix->options.near));
    brio_sim_free(sim);
}

static void reasons(void **unused)
{
    (void)unused;
    const BrioEnergy *attachment = brio__energy("attachment");
    honest_eval = attachment->eval;
    BrioEnergy wrong = *attachment;
    BrioEnergy curved = *attachment;
    BrioEnergy none = *attachment;
    BrioEnergy blank = *attachment;
    BrioEnergy stuck = *attachment;
    wrong.eval = uphill;
    curved.eval = concave;
    none.eval = no_force;
    blank.eval = no_matrix;
    stuck.max_step = no_room;
    BrioSolverOptions exact = brio_default_solver();
    exact.tol = 1e-300;
    for (size_t k = 0; k < BRIO_COUNT(solvers); k++) {
        expect_reason(NULL, solvers[k], 0, NULL, BRIO_OK, BRIO_REASON_TOLERANCE, "");
        expect_reason(NULL, solvers[k], 0, &exact, BRIO_OK, BRIO_REASON_ROUNDOFF, "");
        expect_reason(&wrong, solvers[k], 0, NULL, BRIO_LINE_SEARCH_STALLED, BRIO_REASON_STALLED,
                      "Newton stopped after 1 iterations at ");
        expect_reason(&stuck, solvers[k], 0, NULL, BRIO_LINE_SEARCH_STALLED, BRIO_REASON_BLOCKED,
                      " of its length: attachment 0 of body \"point\" (vertices 1)");
        expect_reason(&curved, solvers[k], 0, NULL, BRIO_NOT_POSITIVE_DEFINITE,
                      BRIO_REASON_INDEFINITE, "after 0 iterations");
        expect_reason(&none, solvers[k], 0, NULL, BRIO_NOT_FINITE, BRIO_REASON_NOT_FINITE,
                      "a value is not finite");
        expect_reason(&blank, solvers[k], 0, NULL, BRIO_NOT_FINITE, BRIO_REASON_NOT_FINITE,
                      "a value is not finite");
        /* a target so far away that its distance is no number */
        expect_reason(NULL, solvers[k], 1e200, NULL, BRIO_STEP_REJECTED, BRIO_REASON_NOT_FINITE,
                      "a value is not finite");
    }
    /* one iteration is not enough for a swinging bar */
    BrioMesh *mesh;
    assert_int_equal(box(0.4, 0.1, 0.1, 4, 1, 1, &mesh), BRIO_OK);
    BrioBodyDef body = body_def("bar", mesh, "stable-neo-hookean", 1e4, 0);
    body.velocity[1] = 3;
    BrioSimDef def = brio_default_sim("backward-euler");
    def.solver.max_iterations = 1;
    def.solver.max_halvings = 0;
    BrioSim *sim = one_body(&body, true, NULL, NULL, &def);
    uint64_t before = hash(brio_sim_state(sim));
    assert_int_equal(brio_sim_step(sim, NULL), BRIO_NOT_CONVERGED);
    assert_int_equal(sim->stepper->solver->reason, BRIO_REASON_ITERATIONS);
    assert_non_null(strstr(brio_sim_reason(sim), "Newton stopped after 1 iterations at "));
    assert_non_null(strstr(brio_sim_reason(sim),
                           " m/s (tolerance 1e-08 m/s): the iteration limit was reached"));
    assert_true(hash(brio_sim_state(sim)) == before);
    brio_sim_free(sim);
    /* conjugate gradients cannot do better than round-off */
    def.solver.linear = "pcg";
    def.solver.linear_tol = 1e-30;
    sim = one_body(&body, true, NULL, NULL, &def);
    assert_int_equal(brio_sim_step(sim, NULL), BRIO_NOT_CONVERGED);
    assert_int_equal(sim->stepper->solver->reason, BRIO_REASON_LINEAR);
    assert_non_null(
        strstr(brio_sim_reason(sim), "after 0 iterations: the linear solver did not converge"));
    brio_sim_free(sim);
    brio_mesh_free(mesh);
}

/* Static equilibrium of bodies without supports. In free fall there is none: the outcome must say
 * so, and soon. Stretched and without weight there are many, and any will do. */
static void settle_unsupported(void **unused)
{
    (void)unused;
    static const char *const materials[] = {"neo-hookean", "corotated", "stvk"};
    const double gravity[3] = {0, -9.8, 0};
    BrioMesh *mesh;
    assert_int_equal(box(0.1, 0.1, 0.1, 2, 2, 2, &mesh), BRIO_OK);
    double *first = numbers(6 * mesh->vertex_count);
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        for (int r = 0; r < 3; r++) first[6 * v + r] = mesh->x[3 * v + r] * (r ? 1 : 1.2);
    for (size_t m = 0; m < BRIO_COUNT(materials); m++)
        for (size_t k = 0; k < BRIO_COUNT(solvers); k++)
            for (int falls = 0; falls < 2; falls++) {
                BrioBodyDef body = body_def("cube", mesh, materials[m], 1e4, 0);
                body.state = first;
                BrioSimDef def = brio_default_sim("static");
                def.solver.linear = solvers[k];
                BrioSim *sim = one_body(&body, false, NULL, falls ? gravity : NULL, &def);
                uint64_t before = hash(brio_sim_state(sim));
                double start = brio__seconds();
                BrioStatus status = brio_sim_settle(sim, NULL);
                double energy = brio_sim_body_energy(sim, 0);
                print_message("%-12s %-8s %s: %s after %d iterations, %.2f s: %s\n", materials[m],
                              solvers[k], falls ? "falling" : "weightless",
                              brio_status_name(status), sim->stepper->solver->iterations,
                              brio__seconds() - start, brio_sim_reason(sim));
                if (falls) {
                    assert_true(status > 0);
                    assert_true(brio_sim_reason(sim)[0] != 0);
                    assert_true(hash(brio_sim_state(sim)) == before);
                } else {
                    assert_int_equal(status, BRIO_OK);
                    assert_true(fabs(energy) < 1e-9);
                }
                brio_sim_free(sim);
            }
    free(first);
    brio_mesh_free(mesh);
}

/* ---- scripts ---------------------------------------------------------------------------- */

/* Where the fixed first point of a pair is at a time. */
static void fixed_at(const BrioScript *script, double time, double x[3], double v[3])
{
    BrioBuilder *builder;
    BrioSystem *system;
    BrioState *state;
    int32_t fixed = 1; /* at (0.1, 0, 0) */
    double world[6];
    BrioBodyDef def = body_def("point", &pair_of_points, "hooke", 1, 0);
    assert_int_equal(brio_builder_create(&builder, NULL), BRIO_OK);
    assert_int_equal(brio_builder_body(builder, &def, NULL, NULL), BRIO_OK);
    assert_int_equal(brio_builder_fix(builder, 0, &fixed, 1, script, NULL), BRIO_OK);
    assert_int_equal(brio_builder_finish(builder, &system, &state, NULL), BRIO_OK);
    brio_builder_free(builder);
    brio__system_positions(system, state, state->q, time, world);
    memcpy(x, world + 3, 3 * sizeof *x);
    brio__system_velocities(system, state, state->v, time, world);
    memcpy(v, world + 3, 3 * sizeof *v);
    brio_state_free(state);
    brio_system_free(system);
}

/* TOLERANCE 1e-15 m for positions, 1e-9 m/s for velocities. */
static void expect_fixed(const BrioScript *script, double time, double x, double y, double z,
                         double vx, double vy, double vz)
{
    double at[3], v[3], right[3] = {x, y, z}, speed[3] = {vx, vy, vz};
    fixed_at(script, time, at, v);
    for (int r = 0; r < 3; r++)
        if (!(fabs(at[r] - right[r]) < 1e-15) || !(fabs(v[r] - speed[r]) < 1e-9))
            fail_msg("at %g s: (%g %g %g) moving (%g %g %g), expected (%g %g %g) moving (%g %g %g)",
                     time, at[0], at[1], at[2], v[0], v[1], v[2], x, y, z, vx, vy, vz);
}

static void scripts(void **unused)
{
    (void)unused;
    BrioScript script = brio_default_script();
    expect_fixed(&script, 3, 0.1, 0, 0, 0, 0, 0);
    script.velocity[0] = 1;
    script.velocity[2] = -2;
    script.start = 1;
    script.end = 3;
    expect_fixed(&script, 0.5, 0.1, 0, 0, 0, 0, 0);
    expect_fixed(&script, 1.5, 0.6, 0, -1, 1, 0, -2);
    expect_fixed(&script, 7, 2.1, 0, -4, 0, 0, 0);

    double keys[12] = {1, 0.1, 0, 0, 2, 0.3, 0.4, 0, 4, 0, 0, -1};
    script = brio_default_script();
    script.keys = keys;
    script.key_count = 3;
    expect_fixed(&script, 0, 0.2, 0, 0, 0, 0, 0);
    expect_fixed(&script, 1.25, 0.25, 0.1, 0, 0.2, 0.4, 0);
    expect_fixed(&script, 3, 0.25, 0.2, -0.5, -0.15, -0.2, -0.5);
    expect_fixed(&script, 40, 0.1, 0, -1, 0, 0, 0);

    const double pi = 3.14159265358979323846, s = sqrt(0.5);
    script = brio_default_script();
    script.angular[2] = pi / 2;
    expect_fixed(&script, 1, 0, 0.1, 0, -0.05 * pi, 0, 0);
    expect_fixed(&script, 0.5, 0.1 * s, 0.1 * s, 0, -0.05 * pi * s, 0.05 * pi * s, 0);
    script.about[0] = 0.1; /* about itself: stays */
    expect_fixed(&script, 0.5, 0.1, 0, 0, 0, 0, 0);
    script.about[0] = 0;
    script.about[1] = -0.1; /* (0.1, 0.1) from there */
    script.velocity[1] = 2;
    script.end = 1;
    expect_fixed(&script, 0.5, -0, -0.1 + 0.1 * sqrt(2) + 1, 0, -0.05 * pi * sqrt(2), 2, 0);
    expect_fixed(&script, 1, -0.1, 2, 0, 0, 0, 0); /* at a corner: from there on */
    expect_fixed(&script, 9, -0.1, 2, 0, 0, 0, 0);
    expect_fixed(&script, 1e7, -0.1, 2, 0, 0, 0, 0);

    BrioBuilder *builder;
    BrioError error;
    int32_t vertex = 0;
    BrioBodyDef def = body_def("point", &pair_of_points, "hooke", 1, 0);
    assert_int_equal(brio_builder_create(&builder, NULL), BRIO_OK);
    assert_int_equal(brio_builder_body(builder, &def, NULL, NULL), BRIO_OK);
    BrioScript bad[6];
    for (int k = 0; k < 6; k++) bad[k] = brio_default_script();
    bad[0].start = 2, bad[0].end = 1;
    bad[1].start = NAN;
    keys[4] = 1;
    bad[2].keys = keys, bad[2].key_count = 3;
    bad[3].velocity[1] = NAN;
    bad[4].start = -INFINITY;
    bad[5].about[2] = INFINITY;
    for (int k = 0; k < 6; k++) {
        error = (BrioError){0};
        assert_int_equal(brio_builder_fix(builder, 0, &vertex, 1, &bad[k], &error),
                         BRIO_ERROR_INPUT);
        assert_true(error.message[0] != 0);
        assert_int_equal(brio_builder_attach(builder, 0, 0, corner, 1, &bad[k], NULL),
                         BRIO_ERROR_INPUT);
    }
    keys[4] = 2, keys[6] = NAN;
    assert_int_equal(brio_builder_fix(builder, 0, &vertex, 1,
                                      &(BrioScript){.end = 1, .keys = keys, .key_count = 3}, NULL),
                     BRIO_ERROR_INPUT);
    brio_builder_free(builder);
}

/* A point of mass m on a spring k to an anchor that moves by keys within the steps, next to the
 * formulas of the methods: the midpoint rule takes the mean of the anchor's ends. TOLERANCE 1e-12 m
 * after 100 steps of a motion of 1 m. */
static void oscillator(void **unused)
{
    (void)unused;
    const double m = 0.02, k = 30, h = 0.013;
    double keys[12] = {0.05, 0, 0, 0, 0.31, 0.8, 0.1, 0, 0.9, -0.2, 0, 0.3};
    static const char *const methods[] = {"backward-euler", "implicit-midpoint", "trapezoidal",
                                          "symplectic-euler", "static"};
    for (size_t i = 0; i < BRIO_COUNT(methods); i++)
        for (size_t j = 0; j < BRIO_COUNT(solvers); j++) {
            BrioBuilder *builder;
            BrioSystem *system;
            BrioState *state;
            int32_t fixed = 0;
            BrioScript script = brio_default_script();
            script.keys = keys;
            script.key_count = 3;
            script.angular[1] = 0.5;
            double point[3] = {0.5, 0.2, 0.1};
            BrioBodyDef def = body_def("point", &pair_of_points, "hooke", 1e-300, 0);
            def.velocity[1] = 0.3;
            assert_int_equal(brio_builder_create(&builder, NULL), BRIO_OK);
            assert_int_equal(brio_builder_body(builder, &def, NULL, NULL), BRIO_OK);
            assert_int_equal(brio_builder_fix(builder, 0, &fixed, 1, NULL, NULL), BRIO_OK);
            assert_int_equal(brio_builder_attach(builder, 0, 1, point, k, &script, NULL), BRIO_OK);
            assert_int_equal(brio_builder_finish(builder, &system, &state, NULL), BRIO_OK);
            brio_builder_free(builder);
            BrioSimDef sim_def = brio_default_sim(methods[i]);
            sim_def.h = h;
            sim_def.solver.linear = solvers[j];
            sim_def.solver.linear_tol = 1e-14;
            sim_def.solver.tol = 1e-13;
            BrioSim *sim = make_sim(system, state, &sim_def);
            double x[3] = {0.1, 0, 0}, v[3] = {0, 0.3, 0}, got[6], b[2][9], worst = 0;
            for (int n = 0; n < 100; n++) {
                double t = brio_sim_time(sim);
                /* the anchor is vertex 2 */
                for (int e = 0; e < 2; e++)
                    brio__system_fixed(sim->system, sim->state, t + e * h, b[e]);
                for (int r = 0; r < 3; r++) {
                    double old = x[r], b0 = b[0][6 + r], b1 = b[1][6 + r], a = -k / m * (x[r] - b0);
                    switch (i) {
                    case 0:
                        x[r] = (m * (old + h * v[r]) + h * h * k * b1) / (m + h * h * k);
                        v[r] = (x[r] - old) / h;
                        break;
                    case 1: /* m (x - old - h v) + h^2/2 k ((x + old)/2 - (b0 + b1)/2) = 0 */
                        x[r] = (m * (old + h * v[r]) - h * h * k / 4 * (old - b0 - b1)) /
                               (m + h * h * k / 4);
                        v[r] = 2 * (x[r] - old) / h - v[r];
                        break;
                    case 2:
                        x[r] = (m * (old + h * v[r] + h * h / 4 * a) + h * h / 4 * k * b1) /
                               (m + h * h / 4 * k);
                        v[r] = 2 * (x[r] - old) / h - v[r];
                        break;
                    case 3:
                        v[r] += h * a;
                        x[r] += h * v[r];
                        break;
                    default: x[r] = b1; v[r] = 0;
                    }
                }
                step(sim, 1);
                brio_sim_positions(sim, 0, got);
                for (int r = 0; r < 3; r++) worst = brio__larger(worst, fabs(got[3 + r] - x[r]));
                brio_sim_velocities(sim, 0, got);
                for (int r = 0; r < 3; r++)
                    worst = brio__larger(worst, fabs(got[3 + r] - v[r]) / 100);
            }
            if (!(worst < 1e-12)) fail_msg("%s with %s: %g m off", methods[i], solvers[j], worst);
            brio_sim_free(sim);
        }
}

/* ---- the public interface --------------------------------------------------------------- */

static void positions(void **unused)
{
    (void)unused;
    BrioSim *sim = mixed_sim(1, "backward-euler", "cholesky");
    const BrioSystem *system = brio_sim_system(sim);
    assert_int_equal(brio_system_bodies(system), 4);
    assert_int_equal(brio_system_body(system, "springs"), 1);
    assert_int_equal(brio_system_body(system, "spring"), -1);
    assert_string_equal(brio_body_name(system, 3), "affine");
    assert_null(brio_body_name(system, 4));
    assert_int_equal(brio_body_vertices(system, 1), 4);
    assert_int_equal(brio_body_vertices(system, -1), 0);
    int64_t count, vertices = brio_body_vertices(system, 0), total = 0;
    assert_non_null(brio_body_triangles(system, 0, &count));
    assert_int_equal(count, 20); /* two cubes in a row: ten faces of two triangles */
    assert_null(brio_body_triangles(system, 9, &count));
    for (int b = 0; b < 4; b++) total += brio_body_vertices(system, b);
    assert_int_equal(brio_system_vertices(system), total);

    double *x = numbers(3 * vertices), *y = numbers(3 * vertices), other[12], other_after[12];
    brio_sim_positions(sim, 0, x);
    brio_sim_positions(sim, 1, other);
    for (int64_t k = 0; k < 3 * vertices; k++) y[k] = x[k] + 0.001 * (double)(k % 5);
    assert_int_equal(brio_sim_set_positions(sim, 0, y, NULL), BRIO_OK);
    assert_int_equal(brio_sim_set_velocities(sim, 0, y, NULL), BRIO_OK);
    double *x_new = numbers(3 * vertices), *v_new = numbers(3 * vertices);
    brio_sim_positions(sim, 0, x_new);
    brio_sim_velocities(sim, 0, v_new);
    int fixed = 0, scripted = 0;
    for (int64_t v = 0; v < vertices; v++) {
        bool is_fixed = x[3 * v]<-0.0999, is_scripted = x[3 * v]> 0.0999 && v % 2;
        fixed += is_fixed;
        scripted += is_scripted;
        for (int r = 0; r < 3; r++) {
            assert_true(x_new[3 * v + r] == (is_fixed || is_scripted ? x : y)[3 * v + r]);
            if (is_scripted)
                assert_true(v_new[3 * v + r] == (r == 0 ? 0.05 : 0));
            else
                assert_true(v_new[3 * v + r] == (is_fixed ? 0 : y[3 * v + r]));
        }
    }
    assert_true(fixed == 4 && scripted > 0);
    brio_sim_positions(sim, 1, other_after);
    assert_memory_equal(other, other_after, sizeof other);

    uint64_t before = hash(brio_sim_state(sim)); /* what is rejected changes nothing */
    y[3 * vertices - 1] = NAN;
    assert_int_equal(brio_sim_set_positions(sim, 0, y, NULL), BRIO_ERROR_ARGUMENT);
    assert_int_equal(brio_sim_set_velocities(sim, 0, y, NULL), BRIO_ERROR_ARGUMENT);
    y[3 * vertices - 1] = INFINITY;
    assert_int_equal(brio_sim_set_velocities(sim, 0, y, NULL), BRIO_ERROR_ARGUMENT);
    for (int64_t k = 0; k < 3 * vertices; k++) y[k] = k % 3 ? x[k] : -3 * x[k]; /* inside out */
    assert_int_equal(brio_sim_set_positions(sim, 0, y, NULL), BRIO_STEP_REJECTED);
    assert_int_equal(brio_sim_set_positions(sim, 4, x, NULL), BRIO_ERROR_ARGUMENT);
    assert_int_equal(brio_sim_set_positions(sim, -1, x, NULL), BRIO_ERROR_ARGUMENT);
    assert_true(hash(brio_sim_state(sim)) == before);
    assert_true(isnan(brio_sim_body_energy(sim, 4)));
    free(x), free(y), free(x_new), free(v_new);
    brio_sim_free(sim);
}

/* What sim_create and the builder refuse, each with a sentence. */
static void refusals(void **unused)
{
    (void)unused;
    static const struct {
        const char *integrator, *linear, *message;
        double h, tol, linear_tol;
    } defs[] = {
        {"backward-eular", "cholesky", "no integrator \"backward-eular\"", 0.1, 1, 0.1},
        {"backward-euler", "lu", "no linear solver \"lu\"", 0.1, 1, 0.1},
        {"backward-euler", "ldlt", "the time step h = 0 s must be positive", 0, 1, 0.1},
        {"backward-euler", "ldlt", "the time step h = nan s must be positive", NAN, 1, 0.1},
        {"backward-euler", "ldlt", "the solver's tolerances and limits must be positive", 0.1, 0,
         0.1},
        {"backward-euler", "pcg", "the solver's tolerances and limits must be positive", 0.1, 1, 0},
        {"backward-euler", "pcg", "linear_tol must be less than 1", 0.1, 1, 1},
    };
    for (size_t k = 0; k < BRIO_COUNT(defs); k++) {
        BrioSystem *system;
        BrioState *state;
        BrioSim *sim = NULL;
        BrioError error = {0};
        Memory memory;
        memory_start(&memory, -1, false);
        assert_int_equal(build_mixed(1, &system, &state, &error), BRIO_OK);
        BrioSimDef def = brio_default_sim(defs[k].integrator);
        def.solver.linear = defs[k].linear;
        def.h = defs[k].h;
        def.solver.tol = defs[k].tol;
        def.solver.linear_tol = defs[k].linear_tol;
        assert_int_equal(brio_sim_create(system, state, &def, &sim, &error), BRIO_ERROR_INPUT);
        assert_string_equal(error.message, defs[k].message);
        assert_null(sim);
        assert_int_equal(memory.live, 0);
        brio_set_allocator(NULL);
    }
    BrioBuilder *builder;
    BrioSystem *system = NULL, *second = NULL;
    BrioState *state = NULL, *second_state = NULL;
    BrioError error = {0};
    int32_t outside = 4, all[4] = {0, 1, 2, 3};
    assert_int_equal(brio_builder_create(&builder, NULL), BRIO_OK);
    assert_int_equal(brio_builder_finish(builder, &system, &state, &error), BRIO_ERROR_INPUT);
    assert_string_equal(error.message, "there are no bodies");
    BrioBodyDef def = body_def("one", &corner_solid, "neo-hookean", 1e4, 0);
    assert_int_equal(brio_builder_body(builder, &def, NULL, NULL), BRIO_OK);
    error = (BrioError){0};
    assert_int_equal(brio_builder_body(builder, &def, NULL, &error), BRIO_ERROR_INPUT);
    assert_string_equal(error.message,
                        "two bodies are called \"one\": give each a name of its own");
    error = (BrioError){0};
    assert_int_equal(brio_builder_fix(builder, 0, &outside, 1, NULL, &error), BRIO_ERROR_INPUT);
    assert_string_equal(error.message, "body \"one\" has no vertex 4: it has vertices 0 to 3");
    assert_int_equal(brio_builder_fix(builder, 1, &outside, 1, NULL, NULL), BRIO_ERROR_ARGUMENT);
    assert_int_equal(brio_builder_attach(builder, 0, -1, corner, 1, NULL, NULL), BRIO_ERROR_INPUT);
    assert_int_equal(brio_builder_attach(builder, 0, 0, corner, 0, NULL, NULL), BRIO_ERROR_INPUT);
    error = (BrioError){0};
    brio_builder_gravity(builder, (double[3]){0, NAN, 0});
    assert_int_equal(brio_builder_finish(builder, &system, &state, &error), BRIO_ERROR_INPUT);
    assert_string_equal(error.message, "gravity is not finite");
    brio_builder_gravity(builder, (double[3]){0, -9.8, 0});
    assert_int_equal(brio_builder_finish(builder, &system, &state, NULL), BRIO_OK);
    error = (BrioError){0}; /* a builder makes one system */
    assert_int_equal(brio_builder_finish(builder, &second, &second_state, &error),
                     BRIO_ERROR_ARGUMENT);
    assert_true(error.message[0] != 0);
    assert_int_equal(brio_builder_body(builder, &def, NULL, NULL), BRIO_ERROR_ARGUMENT);
    assert_int_equal(brio_builder_fix(builder, 0, all, 4, NULL, NULL), BRIO_ERROR_ARGUMENT);
    assert_int_equal(brio_builder_attach(builder, 0, 0, corner, 1, NULL, NULL),
                     BRIO_ERROR_ARGUMENT);
    brio_builder_free(builder);
    brio_state_free(state);
    brio_system_free(system);

    assert_int_equal(brio_builder_create(&builder, NULL), BRIO_OK);
    assert_int_equal(brio_builder_body(builder, &def, NULL, NULL), BRIO_OK);
    assert_int_equal(brio_builder_fix(builder, 0, all, 4, NULL, NULL), BRIO_OK);
    error = (BrioError){0};
    assert_int_equal(brio_builder_finish(builder, &system, &state, &error), BRIO_ERROR_INPUT);
    assert_string_equal(error.message, "every vertex is fixed: nothing can move");
    brio_builder_free(builder);

    /* a initial state that the material forbids */
    double first[24] = {0};
    for (int k = 0; k < 12; k++) first[6 * (k / 3) + k % 3] = k == 11 ? -corner[k] : corner[k];
    BrioSim *sim = NULL;
    def.state = first;
    assert_int_equal(brio_builder_create(&builder, NULL), BRIO_OK);
    assert_int_equal(brio_builder_body(builder, &def, NULL, NULL), BRIO_OK);
    assert_int_equal(brio_builder_finish(builder, &system, &state, NULL), BRIO_OK);
    brio_builder_free(builder);
    error = (BrioError){0};
    BrioSimDef sim_def = brio_default_sim("backward-euler");
    assert_int_equal(brio_sim_create(system, state, &sim_def, &sim, &error), BRIO_ERROR_INPUT);
    assert_string_equal(error.message, "tet 0 of body \"one\" (vertices 0 1 2 3) is inverted in "
                                       "the initial state, and its material forbids that");
}

/* BDF2 from public functions alone: q' = argmin 1/2 |q - (q* + 2/3 h v*)|^2_M + (2/3 h)^2 P(q) with
 * z* = (4 z_n - z_n-1)/3 and v' = (q' - q*)/(2/3 h); the first step is backward Euler. The past is
 * kept in the state. */
static BrioStatus two_step(BrioStepper *s, double h)
{
    const double *q = brio_stepper_q(s), *v = brio_stepper_v(s);
    double *past_q = brio_stepper_history(s, 0), *past_v = brio_stepper_history(s, 1);
    double *q_star = brio_stepper_scratch(s, 0);
    double *v_star = brio_stepper_scratch(s, 1);
    double *target = brio_stepper_scratch(s, 2);
    double *next = brio_stepper_scratch(s, 3);
    double c = brio_stepper_time(s) > 0 ? brio_stepper_value(s, "share") : 1;
    if (brio_stepper_history(s, 2) || brio_stepper_scratch(s, BRIO_SCRATCH) ||
        !isnan(brio_stepper_value(s, "shore")))
        return BRIO_ERROR_ARGUMENT;
    brio_stepper_combine(s, c < 1 ? 4.0 / 3 : 1, q, c < 1 ? -1.0 / 3 : 0, past_q, q_star);
    brio_stepper_combine(s, c < 1 ? 4.0 / 3 : 1, v, c < 1 ? -1.0 / 3 : 0, past_v, v_star);
    brio_stepper_combine(s, 1, q_star, c * h, v_star, target);
    BrioObjective objective = {
        .target = target, .s = c * c * h * h, .a = 1, .time = brio_stepper_time(s) + h, .h = h};
    BRIO_CHECK(brio_stepper_minimise(s, &objective, next));
    brio_stepper_combine(s, 1, q, 0, q, past_q);
    brio_stepper_combine(s, 1, v, 0, v, past_v);
    brio_stepper_combine(s, 1 / (c * h), next, -1 / (c * h), q_star, v_star);
    return brio_stepper_accept(s, h, next, v_star);
}

static BrioStatus lazy(BrioStepper *s, double h)
{
    (void)s;
    (void)h;
    return BRIO_OK;
}

static void registered(void **unused)
{
    (void)unused;
    static const BrioField fields[] = {{"share", BRIO_REAL, "", 2.0 / 3, 0.1, 1, 0, "Of h."}, {0}};
    static const BrioIntegrator bdf2 = {.name = "test-bdf2",
                                        .summary = "For the test.",
                                        .order = 2,
                                        .history = 2,
                                        .traits = BRIO_IMPLICIT | BRIO_END_IS_SOLVED,
                                        .fields = fields,
                                        .step = two_step};
    static const BrioIntegrator idle = {
        .name = "test-idle", .summary = "Never ends a step.", .step = lazy};
    int count = 0;
    while (brio_integrator_at(count)) count++;
    assert_int_equal(brio_register_integrator(&bdf2, NULL), BRIO_OK);
    assert_int_equal(brio_register_integrator(&bdf2, NULL),
                     BRIO_ERROR_ARGUMENT); /* the name is taken */
    assert_int_equal(brio_register_integrator(NULL, NULL), BRIO_ERROR_ARGUMENT);
    assert_int_equal(brio_register_integrator(&(BrioIntegrator){.name = "test-none"}, NULL),
                     BRIO_ERROR_ARGUMENT);
    assert_int_equal(brio_register_integrator(&idle, NULL), BRIO_OK);
    assert_ptr_equal(brio_integrator_at(count), &bdf2);
    assert_ptr_equal(brio_integrator("test-bdf2"), &bdf2);
    assert_null(brio_integrator_at(count + 2));

    BrioSim *sim = mixed_sim(1, "test-idle", "cholesky");
    assert_int_equal(brio_sim_step(sim, NULL), BRIO_ERROR_ARGUMENT);
    assert_string_equal(brio_sim_reason(sim),
                        "the integrator test-idle ended a step without accepting a state");
    brio_sim_free(sim);

    /* a falling tet: BDF2 follows v = g t after a first step that is exact there */
    const double gravity[3] = {0, -9.8, 0}, h = 0.01;
    BrioBodyDef body = body_def("tet", &corner_solid, "stable-neo-hookean", 1e4, 0);
    BrioSimDef def = brio_default_sim("test-bdf2");
    assert_true(def.values[0] == 2.0 / 3);
    def.h = h;
    def.solver.tol = 1e-12;
    sim = one_body(&body, false, NULL, gravity, &def);
    double q = 0, v = 0, past_q = 0, past_v = 0;
    BrioState *copy = NULL;
    for (int n = 0; n < 50; n++) {
        double c = n ? 2.0 / 3 : 1;
        double q_star = n ? (4 * q - past_q) / 3 : q;
        double v_star = n ? (4 * v - past_v) / 3 : v;
        if (n == 20) assert_int_equal(brio_state_copy(brio_sim_state(sim), &copy, NULL), BRIO_OK);
        past_q = q;
        past_v = v;
        v = v_star - 9.8 * c * h;
        q = q_star + c * h * v;
        step(sim, 1);
    }
    double x[12];
    brio_sim_positions(sim, 0, x);
    assert_true(fabs(x[1] - q) < 1e-11);
    brio_sim_velocities(sim, 0, x);
    assert_true(fabs(x[1] - v) < 1e-9);
    uint64_t once = hash(brio_sim_state(sim)); /* the past is part of the state */
    brio_state_assign(brio_sim_state(sim), copy);
    step(sim, 30);
    assert_true(hash(brio_sim_state(sim)) == once);
    brio_state_free(copy);
    brio_sim_free(sim);
    def.values[0] = 0.01;
    BrioSystem *system;
    BrioState *state;
    BrioError error = {0};
    assert_int_equal(build_mixed(1, &system, &state, NULL), BRIO_OK);
    assert_int_equal(brio_sim_create(system, state, &def, &sim, &error), BRIO_ERROR_INPUT);
    assert_non_null(strstr(error.message, "share"));
}

/* ---- the ledger ------------------------------------------------------------------------- */

static bool near(double a, double b, double scale) { return fabs(a - b) <= 1e-12 * scale; }

/* Energies, momenta and centre by hand from positions and velocities. TOLERANCE 1e-12 of the sum of
 * magnitudes. */
static void ledger(void **unused)
{
    (void)unused;
    BrioSim *sim = mixed_sim(2, "backward-euler", "ldlt");
    step(sim, 4);
    BrioLedger l;
    assert_int_equal(brio_sim_ledger(sim, &l), BRIO_OK);
    const BrioSystem *s = sim->system;
    const double g[3] = {0.3, -9.8, 0.1};
    double kinetic = 0;
    double weight = 0;
    double momentum[3] = {0};
    double angular[3] = {0};
    double centre[3] = {0};
    double mass = 0;
    double elastic = 0;
    double weight_size = 0;
    double size = 0;
    double *x = numbers(3 * s->vertex_count), *v = numbers(3 * s->vertex_count);
    brio__system_positions(s, sim->state, sim->state->q, sim->state->time, x);
    brio__system_velocities(s, sim->state, sim->state->v, sim->state->time, v);
    for (int b = 0; b < s->body_count; b++) {
        elastic += brio_sim_body_energy(sim, b);
        int64_t count, at = brio__body_masses(&s->body[b], &count);
        for (int64_t i = at; i < at + count; i++) {
            double m = s->vertex_mass[i];
            bool moves = s->map_start[i + 1] > s->map_start[i];
            mass += m;
            for (int r = 0; r < 3; r++) {
                int p = (r + 1) % 3, q = (r + 2) % 3;
                if (moves) kinetic += 0.5 * m * v[3 * i + r] * v[3 * i + r];
                weight -= m * g[r] * x[3 * i + r];
                weight_size += fabs(m * g[r] * x[3 * i + r]);
                momentum[r] += m * v[3 * i + r];
                size += fabs(m * v[3 * i + r]);
                angular[r] += m * (x[3 * i + p] * v[3 * i + q] - x[3 * i + q] * v[3 * i + p]);
                centre[r] += m * x[3 * i + r];
            }
        }
    }
    assert_true(near(l.kinetic, kinetic, kinetic) && kinetic > 0);
    assert_true(near(l.gravity, weight, weight_size));
    assert_true(near(l.elastic, elastic, elastic) && elastic > 0);
    for (int r = 0; r < 3; r++) {
        assert_true(near(l.momentum[r], momentum[r], size));
        assert_true(near(l.angular[r], angular[r], size));
        assert_true(near(l.centre[r], centre[r] / mass, 1));
    }
    /* attachments: k/2 |x - anchor|^2, the anchors being where their scripts put them */
    double attached = 0;
    const BrioTerm *term = &s->term[s->body_count];
    assert_int_equal(term->energy->element, BRIO_ELEMENT_ANCHOR);
    brio__system_positions(s, sim->state, sim->state->q, sim->state->time, x);
    for (int64_t e = 0; e < term->elements; e++)
        for (int r = 0; r < 3; r++) {
            double d = x[3 * node(term, e, 0) + r] - x[3 * node(term, e, 1) + r];
            double k = e < 3 ? 40 : e < 7 ? 25 : 60;
            attached += 0.5 * k * d * d;
        }
    assert_int_equal(term->elements, 11);
    assert_true(near(l.attachment, attached, attached));
    assert_true(near(l.potential, l.elastic + l.gravity + l.attachment, weight_size + l.elastic));
    assert_true(l.total == l.kinetic + l.potential);
    assert_true(l.step == 4 && l.time == brio_sim_time(sim) && l.iterations > 0 && l.contact == 0 &&
                l.contacts == 0);
    assert_true(isnan(l.target) && isnan(l.alpha) && isnan(l.min_distance));
    free(x), free(v);
    brio_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives),
        cmocka_unit_test(affine_masses),
        cmocka_unit_test(affine_flight),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(same_bits_large),
        cmocka_unit_test(no_allocation),
        cmocka_unit_test(failing_memory),
        cmocka_unit_test(failing_memory_scene),
        cmocka_unit_test(replay),
        cmocka_unit_test(halving),
        cmocka_unit_test(failed_halves),
        cmocka_unit_test(halves_of_a_shaken_clamp),
        cmocka_unit_test(no_step_to_infinity),
        cmocka_unit_test(violence),
        cmocka_unit_test(reasons),
        cmocka_unit_test(settle_unsupported),
        cmocka_unit_test(scripts),
        cmocka_unit_test(oscillator),
        cmocka_unit_test(positions),
        cmocka_unit_test(refusals),
        cmocka_unit_test(ledger),
        cmocka_unit_test(registered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
