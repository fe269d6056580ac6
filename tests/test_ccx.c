/* The cantilever of test_physics.c next to CalculiX [Dhondt, The Finite Element Method for
 * Three-Dimensional Thermomechanical Applications, 2004] on the same mesh of linear tets (C3D4):
 * displacements of all vertices under the bar's own weight, and its first two bending frequencies.
 *
 * For small loads the corotated material is linear elasticity, so that displacements must agree to
 * the seven digits that ccx prints (load and bar are such that the tip's own second-order motion,
 * 0.7 times the square of its deflection over the length, is below that). ccx integrates the masses
 * of a C3D4 at one point, which gives m/16 between any two corners, where brio has m/4 at each:
 * with ccx's masses put on brio's stiffness matrix the frequencies must agree to ccx's digits as
 * well; with brio's own they are lower by what that changes, which is of second order in the cell
 * size. */
#include "system/system.h"
#include "mesh/mesh.h"
#include "sim/sim.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

static const double length = 1, side = 0.1, E = 1e6, rho = 1000, g = 1e-4;

enum { MODES = 2 };

typedef struct Answer {
    int64_t vertices;
    double *u;               /* displacements under weight */
    double frequency[MODES]; /* Hz */
} Answer;

static double *numbers(int64_t count)
{
    double *created = count > 0 ? calloc((size_t)count, sizeof *created) : NULL;
    assert_non_null(created);
    return created;
}

static bool clamped(const BrioMesh *mesh, int64_t v) { return mesh->x[3 * v] < -length / 2 + 1e-9; }

/* ---- CalculiX --------------------------------------------------------------------------- */

/* Runs a program without a shell in a directory; its output goes nowhere. The exit code, or -1. */
static int run(const char *directory, const char *const *words)
{
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_RDWR);
        if (nowhere < 0 || chdir(directory) != 0) _exit(127);
        for (int k = 0; k < 3; k++) dup2(nowhere, k);
        setenv("OMP_NUM_THREADS", "1", 1);
        execvp(words[0], (char *const *)words);
        _exit(127);
    }
    int result = 0;
    if (child < 0 || waitpid(child, &result, 0) != child || !WIFEXITED(result)) return -1;
    return WEXITSTATUS(result);
}

static void write_deck(const char *file, const BrioMesh *mesh, double nu)
{
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fprintf(out, "*NODE, NSET=ALL\n");
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        fprintf(out, "%lld, %.15g, %.15g, %.15g\n", (long long)v + 1, mesh->x[3 * v],
                mesh->x[3 * v + 1], mesh->x[3 * v + 2]);
    fprintf(out, "*ELEMENT, TYPE=C3D4, ELSET=BAR\n");
    for (int64_t t = 0; t < mesh->tet_count; t++) {
        const int32_t *n = mesh->tet + 4 * t;
        fprintf(out, "%lld, %d, %d, %d, %d\n", (long long)t + 1, n[0] + 1, n[1] + 1, n[2] + 1,
                n[3] + 1);
    }
    fprintf(out, "*NSET, NSET=CLAMP\n");
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        if (clamped(mesh, v)) fprintf(out, "%lld,\n", (long long)v + 1);
    fprintf(
        out,
        "*BOUNDARY\nCLAMP, 1, 3\n*MATERIAL, NAME=RUBBER\n*ELASTIC\n%.15g, "
        "%.15g\n*DENSITY\n%.15g\n*SOLID SECTION, ELSET=BAR, MATERIAL=RUBBER\n"
        "*STEP\n*STATIC\n*DLOAD\nBAR, GRAV, %.15g, 0, -1, 0\n*NODE PRINT, NSET=ALL\nU\n*END STEP\n"
        "*STEP\n*FREQUENCY\n%d\n*END STEP\n",
        E, nu, rho, g, MODES);
    assert_int_equal(fclose(out), 0);
}

/* The .dat file: "displacements ..." and one line a node, then "MODE NO ..." and one line a
 * mode. */
static void read_results(const char *file, Answer *answer)
{
    FILE *in = fopen(file, "r");
    assert_non_null(in);
    char line[256];
    enum { NOTHING, DISPLACEMENTS, FREQUENCIES } part = NOTHING;
    int64_t nodes = 0;
    int modes = 0;
    while (fgets(line, sizeof line, in)) {
        long long number;
        double a, b, c;
        if (strstr(line, "displacements")) part = DISPLACEMENTS;
        /* participation factors follow */
        if (strstr(line, "MODE NO")) part = modes ? NOTHING : FREQUENCIES;
        if (sscanf(line, "%lld %lf %lf %lf", &number, &a, &b, &c) != 4) continue;
        /* the modes' follow */
        if (part == DISPLACEMENTS && number == nodes + 1 && nodes < answer->vertices) {
            memcpy(answer->u + 3 * (number - 1), (double[3]){a, b, c}, 3 * sizeof a);
            nodes++;
        } else if (part == FREQUENCIES && number == modes + 1 && modes < MODES) {
            answer->frequency[modes++] = c; /* eigenvalue, rad/s, Hz */
        }
    }
    fclose(in);
    assert_int_equal(nodes, answer->vertices);
    assert_int_equal(modes, MODES);
}

static void ask_calculix(const BrioMesh *mesh, double nu, Answer *answer)
{
    char directory[] = "/tmp/brio-ccx-XXXXXX", file[64];
    assert_non_null(mkdtemp(directory));
    snprintf(file, sizeof file, "%s/bar.inp", directory);
    write_deck(file, mesh, nu);
    int code = run(directory, (const char *const[]){"ccx", "-i", "bar", NULL});
    if (code != 0) fail_msg("ccx ended with %d", code);
    snprintf(file, sizeof file, "%s/bar.dat", directory);
    read_results(file, answer);
    static const char *const left[] = {"bar.inp", "bar.dat", "bar.frd", "bar.sta",
                                       "bar.cvg", "bar.12d", "bar.eig", "spooles.out"};
    for (size_t k = 0; k < BRIO_COUNT(left); k++) {
        snprintf(file, sizeof file, "%s/%s", directory, left[k]);
        unlink(file);
    }
    rmdir(directory);
}

/* ---- brio ------------------------------------------------------------------------------- */

static BrioSim *cantilever(const BrioMesh *mesh, double nu)
{
    BrioBuilder *builder;
    BrioSystem *system;
    BrioState *state;
    BrioSim *sim;
    BrioBodyDef def = brio_default_body();
    def.name = "bar";
    def.mesh = mesh;
    assert_int_equal(brio_default_material("corotated", &def.material, NULL), BRIO_OK);
    assert_int_equal(brio_material_set(&def.material, "E", E, NULL), BRIO_OK);
    assert_int_equal(brio_material_set(&def.material, "nu", nu, NULL), BRIO_OK);
    assert_int_equal(brio_material_set(&def.material, "rho", rho, NULL), BRIO_OK);
    assert_int_equal(brio_builder_create(&builder, NULL), BRIO_OK);
    brio_builder_gravity(builder, (double[3]){0, -g, 0});
    assert_int_equal(brio_builder_body(builder, &def, NULL, NULL), BRIO_OK);
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        if (clamped(mesh, v))
            assert_int_equal(brio_builder_fix(builder, 0, &v, 1, NULL, NULL), BRIO_OK);
    assert_int_equal(brio_builder_finish(builder, &system, &state, NULL), BRIO_OK);
    brio_builder_free(builder);
    BrioSimDef sim_def = brio_default_sim("backward-euler");
    sim_def.solver.tol = 1e-14;
    assert_int_equal(brio_sim_create(system, state, &sim_def, &sim, NULL), BRIO_OK);
    return sim;
}

/* p = M v with brio's masses, or with those of ccx. */
static void apply_masses(const BrioSystem *s, bool of_ccx, const double *v, double *p)
{
    if (!of_ccx) {
        brio__mass_multiply(s, v, p);
        return;
    }
    const BrioBody *body = &s->body[0];
    const BrioTerm *term = &s->term[body->term];
    memset(p, 0, 3 * (size_t)s->block_count * sizeof *p);
    for (int64_t t = 0; t < body->tet_count; t++) {
        /* rest data begin with the volume */
        double m = rho * term->rest[t / LANES * term->energy->rest * LANES + t % LANES];
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                int32_t a = body->tet[4 * t + i], b = body->tet[4 * t + j];
                if (s->map_start[a] == s->map_start[a + 1] ||
                    s->map_start[b] == s->map_start[b + 1])
                    continue;
                int64_t to = 3 * (int64_t)s->map_block[s->map_start[a]];
                int64_t from = 3 * (int64_t)s->map_block[s->map_start[b]];
                for (int r = 0; r < 3; r++) p[to + r] += m / 16 * v[from + r];
            }
    }
}

/* The two lowest frequencies at rest by subspace iteration with K^-1 M on two vectors. */
static void lowest_frequencies(BrioSim *sim, bool of_ccx, double frequency[MODES])
{
    const BrioSystem *s = sim->system;
    BrioSolver *solver = sim->stepper->solver;
    BrioState *state = sim->state;
    int64_t n = state->coordinates;
    double *v[MODES], *Mv[MODES], *Kv = numbers(n), *x = numbers(3 * s->vertex_count);
    assert_int_equal(brio__solver_prepare(solver, sim->state), BRIO_OK);
    brio__system_positions(s, state, state->q, 0, x);
    brio__assemble(brio__potential_elements(solver->potential), state->param, x, 0, 1, false,
                   solver->linear, NULL);
    assert_int_equal(brio__linear_factor(solver->linear), BRIO_OK);
    for (int k = 0; k < MODES; k++) {
        v[k] = numbers(n);
        Mv[k] = numbers(n);
        for (int64_t i = 1 + k; i < n; i += 3) v[k][i] = 1; /* along y and along z */
    }
    for (int round = 0; round < 40; round++) {
        double K[2][2], M[2][2];
        for (int k = 0; k < MODES; k++) {
            apply_masses(s, of_ccx, v[k], Mv[k]);
            assert_int_equal(brio__linear_solve(solver->linear, 1, Mv[k], v[k]), BRIO_OK);
            apply_masses(s, of_ccx, v[k], Mv[k]);
        }
        for (int i = 0; i < 2; i++) {
            brio__linear_multiply(solver->linear, v[i], Kv);
            for (int j = 0; j < 2; j++) {
                K[i][j] = brio__dot(s, v[j], Kv);
                M[i][j] = brio__dot(s, v[j], Mv[i]);
            }
        }
        /* det(K - w M) = a w^2 - b w + c */
        double a = M[0][0] * M[1][1] - M[0][1] * M[1][0], c = K[0][0] * K[1][1] - K[0][1] * K[1][0];
        double b = K[0][0] * M[1][1] + K[1][1] * M[0][0] - K[0][1] * M[1][0] - K[1][0] * M[0][1];
        double root = sqrt(fmax(b * b - 4 * a * c, 0));
        frequency[0] = sqrt(2 * c / (b + root)) / (2 * 3.14159265358979323846);
        frequency[1] = sqrt((b + root) / (2 * a)) / (2 * 3.14159265358979323846);
        for (int k = 0; k < MODES; k++) { /* keep the sizes near one */
            double size = 1 / sqrt(M[k][k]);
            for (int64_t i = 0; i < n; i++) v[k][i] *= size;
        }
    }
    for (int k = 0; k < MODES; k++) free(v[k]), free(Mv[k]);
    free(Kv), free(x);
}

/* TOLERANCES: displacements 1e-5 of the largest, frequencies with ccx's masses 1e-5 (ccx prints
 * seven digits), with brio's own masses 1 % from two cells across on. */
static void compare(int across, double nu)
{
    const BrioField *fields = brio_shape_fields("box");
    double values[BRIO_MAX_VALUES];
    BrioMesh *mesh;
    brio_fields_defaults(fields, values);
    assert_int_equal(brio_fields_set(fields, values, "size", (double[3]){length, side, side}, NULL),
                     BRIO_OK);
    assert_int_equal(
        brio_fields_set(fields, values, "cells", (double[3]){10 * across, across, across}, NULL),
        BRIO_OK);
    assert_int_equal(brio_mesh_shape("box", values, &mesh, NULL), BRIO_OK);
    Answer ccx = {.vertices = mesh->vertex_count, .u = numbers(3 * mesh->vertex_count)}, brio = ccx,
           same_masses;
    brio.u = numbers(3 * mesh->vertex_count);
    ask_calculix(mesh, nu, &ccx);

    BrioSim *sim = cantilever(mesh, nu);
    lowest_frequencies(sim, false, brio.frequency);
    lowest_frequencies(sim, true, same_masses.frequency);
    BrioStatus status = brio_sim_settle(sim, NULL);
    if (status != BRIO_OK) fail_msg("settle: %s", brio_sim_reason(sim));
    brio_sim_positions(sim, 0, brio.u);
    double max = 0, worst = 0;
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++) {
        brio.u[i] -= mesh->x[i];
        max = brio__larger(max, fabs(ccx.u[i]));
        worst = brio__larger(worst, fabs(brio.u[i] - ccx.u[i]));
    }
    print_message("%lld tets, nu = %g: largest displacement %.6e m, %.1e of it apart; frequencies "
                  "of ccx %.6f and %.6f Hz, with its masses %+.1e and "
                  "%+.1e, lumped %.6f and %.6f Hz (%+.2f and %+.2f %%)\n",
                  (long long)mesh->tet_count, nu, max, worst / max, ccx.frequency[0],
                  ccx.frequency[1], same_masses.frequency[0] / ccx.frequency[0] - 1,
                  same_masses.frequency[1] / ccx.frequency[1] - 1, brio.frequency[0],
                  brio.frequency[1], 100 * (brio.frequency[0] / ccx.frequency[0] - 1),
                  100 * (brio.frequency[1] / ccx.frequency[1] - 1));
    assert_true(worst < 1e-5 * max);
    for (int k = 0; k < MODES; k++) {
        assert_true(fabs(same_masses.frequency[k] / ccx.frequency[k] - 1) < 1e-5);
        assert_true(fabs(brio.frequency[k] / ccx.frequency[k] - 1) < 0.01);
    }
    brio_sim_free(sim);
    brio_mesh_free(mesh);
    free(ccx.u), free(brio.u);
}

static void statics_and_frequencies(void **unused)
{
    (void)unused;
    for (int across = 2; across <= 4; across++) compare(across, 0);
    compare(3, 0.3);
}

int main(void)
{
    if (run("/", (const char *const[]){"ccx", "-v", NULL}) == 127) {
        print_message("SKIPPED: ccx (Debian package calculix-ccx) is not installed\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(statics_and_frequencies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
