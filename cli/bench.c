/* brio bench: how fast the engine is on this machine, against what the machine can do. */
#include "commands.h"

#include "builder.h"
#include "field.h"
#include "linear/linear.h"
#include "linear/scalar.h"
#include "mesh/mesh.h"
#include "scene/scene.h"
#include "sim/sim.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#ifdef BRIO_HAVE_CHOLMOD
#include <cholmod.h>
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* ---- printing: a table for people, or one JSON object ----------------------------------- */

static bool json;
static int json_rows;

static void heading(const char *text)
{
    if (!json) printf("\n%s\n", text);
}

/* One figure: name, value, unit. */
static void figure(const char *bench, const char *name, double value, const char *unit)
{
    if (json)
        printf("%s\n  {\"bench\": \"%s\", \"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\"}",
               json_rows++ ? "," : "", bench, name, value, unit);
    else
        printf("  %-58s %10.4g %s\n", name, value, unit);
    fflush(stdout);
}

static void say(const char *text) { fprintf(stderr, "%s\n", text); }

/* ---- memory: what the library holds, counted where it asks for it; CHOLMOD's factor does not pass
 * here ---- */

static int64_t held, asked; /* bytes, calls */

static void *count_allocate(void *user, size_t size)
{
    (void)user;
    void *block = malloc(size);
    __atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED);
    if (block) __atomic_add_fetch(&held, (int64_t)malloc_usable_size(block), __ATOMIC_RELAXED);
    return block;
}

static void count_release(void *user, void *block)
{
    (void)user;
    __atomic_sub_fetch(&held, (int64_t)malloc_usable_size(block), __ATOMIC_RELAXED);
    free(block);
}

/* ---- limits of the machine -------------------------------------------------------------- */

enum { TRIES = 7 };

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static double fma_avx512(int64_t rounds)
{
    __m512d a[12], m = _mm512_set1_pd(0.999999), c = _mm512_set1_pd(1e-9);
    for (int i = 0; i < 12; i++) a[i] = _mm512_set1_pd(i);
    for (int64_t n = 0; n < rounds; n++)
        for (int i = 0; i < 12; i++) a[i] = _mm512_fmadd_pd(a[i], m, c);
    for (int i = 1; i < 12; i++) a[0] = _mm512_add_pd(a[0], a[i]);
    return _mm512_reduce_add_pd(a[0]);
}

__attribute__((target("avx2,fma"))) static double fma_avx2(int64_t rounds)
{
    __m256d a[12], m = _mm256_set1_pd(0.999999), c = _mm256_set1_pd(1e-9);
    for (int i = 0; i < 12; i++) a[i] = _mm256_set1_pd(i);
    for (int64_t n = 0; n < rounds; n++)
        for (int i = 0; i < 12; i++) a[i] = _mm256_fmadd_pd(a[i], m, c);
    for (int i = 1; i < 12; i++) a[0] = _mm256_add_pd(a[0], a[i]);
    return a[0][0] + a[0][1];
}
#endif

static volatile double sink;

/* Flops a second of one core: twelve independent chains of fused multiply-adds. */
static double measure_flops(void)
{
    int64_t rounds = 4000000;
    double best = 0;
    for (int k = 0; k < TRIES; k++) {
        double before = brio__seconds(), lanes = 1;
#if defined(__x86_64__)
        if (brio__isa() == BRIO_ISA_AVX512) {
            sink = fma_avx512(rounds);
            lanes = 8;
        } else if (brio__isa() == BRIO_ISA_AVX2) {
            sink = fma_avx2(rounds);
            lanes = 4;
        } else
#endif
        {
            double a[12];
            for (int i = 0; i < 12; i++) a[i] = i;
            for (int64_t n = 0; n < rounds; n++)
                for (int i = 0; i < 12; i++) a[i] = a[i] * 0.999999 + 1e-9;
            for (int i = 0; i < 12; i++) sink = a[i];
        }
        best = fmax(best, (double)rounds * 12 * 2 * lanes / (brio__seconds() - before));
    }
    return best;
}

/* Bytes a second that one core reads and writes in an array as large as what the gradient of a
 * million tets reads, or writes (part of it may be in the last cache, for both alike), in eight
 * streams, as one does not keep the memory busy. */
enum { STREAMS = 8 };

static void measure_bandwidth(double *reading, double *writing)
{
    size_t n = 1500000, all = STREAMS * n;
    double *a = brio__alloc(all, sizeof *a);
    *reading = *writing = NAN;
    if (!a) return;
    memset(a, 0, all * sizeof *a);
    *reading = *writing = 0;
    for (int k = 0; k < TRIES; k++) {
        lane sum[STREAMS];
        memset(sum, 0, sizeof sum);
        double before = brio__seconds();
        for (size_t i = 0; i < n; i += LANES)
            for (size_t j = 0; j < STREAMS; j++) sum[j] += lane_load(a + j * n + i);
        *reading = fmax(*reading, (double)all * 8 / (brio__seconds() - before));
        for (int j = 1; j < STREAMS; j++) sum[0] += sum[j];
        sink = lane_sum(sum[0]);
        before = brio__seconds();
        for (size_t i = 0; i < n; i += LANES)
            for (size_t j = 0; j < STREAMS; j++) lane_store(a + j * n + i, lane_set(k));
        *writing = fmax(*writing, (double)all * 8 / (brio__seconds() - before));
        sink = a[n / 2];
    }
    brio__free(a);
}

/* ---- bodies to measure on --------------------------------------------------------------- */

/* A bar of about so many tets, six to a cell, bent a little so that nothing is special about its
 * state. */
static BrioSim *bar(const char *material, int64_t tets, const char *linear, const char *integrator)
{
    BrioBuilder *builder = NULL;
    BrioBodyDef def = brio_body_def();
    BrioMesh *mesh = NULL;
    BrioSystem *system = NULL;
    BrioState *state = NULL;
    BrioSim *sim = NULL;
    BrioError error = {0};
    double values[BRIO_MAX_VALUES], gravity[3] = {0, -9.8, 0};
    double side = cbrt((double)tets / 24), cells[3] = {round(4 * side), round(side), round(side)};
    double size[3] = {0.4, 0.1, 0.1}, six = 6;
    const BrioField *fields = brio_shape_fields("box");
    brio_fields_defaults(fields, values);
    brio_fields_set(fields, values, "size", size);
    brio_fields_set(fields, values, "cells", cells);
    brio_fields_set(fields, values, "tets", &six);
    BrioStatus status = brio_mesh_shape("box", values, &mesh, &error);
    double *first = NULL;
    if (status == BRIO_OK) {
        first = brio__alloc((size_t)mesh->vertex_count * 6, sizeof *first);
        if (!first) status = BRIO_ERROR_MEMORY;
    }
    if (status == BRIO_OK) {
        BrioRandom random = {1};
        double jitter = 0.02 * size[1] / cells[1];
        for (int64_t v = 0; v < mesh->vertex_count; v++) {
            const double *X = mesh->x + 3 * v;
            double angle = 1.5 * X[0], c = cos(angle), s = sin(angle);
            double x[3] = {X[0], c * X[1] - s * X[2], s * X[1] + c * X[2]};
            for (int r = 0; r < 3; r++) {
                first[6 * v + r] = x[r] + jitter * (brio__random(&random) - 0.5);
                first[6 * v + 3 + r] = 0;
            }
        }
        def.name = "bar";
        def.mesh = mesh;
        def.state = first;
        status = brio_material(material, &def.material);
    }
    if (status == BRIO_OK) status = brio_builder_create(&builder);
    if (status == BRIO_OK) {
        brio_builder_gravity(builder, gravity);
        status = brio_builder_body(builder, &def, NULL, &error);
    }
    for (int32_t v = 0; status == BRIO_OK && v < mesh->vertex_count; v++)
        if (mesh->x[3 * (int64_t)v] < -0.5 * size[0] + 1e-9)
            status = brio_builder_fix(builder, 0, &v, 1, NULL, &error);
    if (status == BRIO_OK) status = brio_builder_finish(builder, &system, &state, &error);
    brio_builder_free(builder);
    brio_mesh_free(mesh);
    brio__free(first);
    BrioSimDef sim_def = brio_sim_def(integrator);
    sim_def.solver.linear = linear;
    sim_def.solver.tol = 1e-3;
    if (status == BRIO_OK) status = brio_sim_create(system, state, &sim_def, &sim, &error);
    if (status != BRIO_OK) {
        fprintf(stderr, "brio bench: %s: %s\n", brio_status_text(status), error.message);
        return NULL;
    }
    return sim;
}

/* ---- elements --------------------------------------------------------------------------- */

extern const BrioEnergy brio__energy_neo_hookean_one_lane, brio__energy_corotated_one_lane;

/* The flops of one element, counted in the source: products, sums, quotients and roots as one each;
 * the Hessians with five sweeps of the eigenvalue iteration. */
typedef struct Kernel {
    const char *material;
    const BrioEnergy *one_lane;
    double gradient_flops, hessian_flops;
    double gradient_goal, hessian_goal; /* millions a second and core */
} Kernel;

static const Kernel kernels[] = {
    {"neo-hookean", &brio__energy_neo_hookean_one_lane, 255, 2150, 40, 3},
    {"corotated", &brio__energy_corotated_one_lane, 430, 2150, 20, 3},
};

typedef struct Bench {
    BrioSim *sim;
    const BrioTerm *term;
    double *gradient, *hessian, *energy, *x, *q_gradient;
    BrioEvaluator *evaluator;
} Bench;

enum { CHUNK = 256 };

/* Seconds for all elements once, the least of several rounds. what: 0 gradient, 1 projected
 * Hessian. */
static double time_kernel(const Bench *b, const BrioEnergy *energy, bool one_lane, int what)
{
    double best = INFINITY;
    for (int k = 0; k < TRIES; k++) {
        double before = brio__seconds();
        for (int64_t block = 0; block < b->term->blocks; block += CHUNK)
            for (int sub = 0; sub < (one_lane ? LANES : 1); sub++) {
                BrioBatch batch = {.begin = block,
                                   .end = BRIO_MIN(block + CHUNK, b->term->blocks),
                                   .node = b->term->node + sub,
                                   .rest = b->term->rest + sub,
                                   .params = b->sim->state->param + b->term->params,
                                   .x = b->x,
                                   .project = true};
                batch.energy = what ? NULL : b->energy;
                batch.gradient = what ? NULL : b->gradient + sub;
                batch.hessian = what ? b->hessian + sub : NULL;
                energy->eval(&batch);
            }
        best = fmin(best, brio__seconds() - before);
    }
    return best;
}

static double time_evaluate(const Bench *b)
{
    double best = INFINITY;
    for (int k = 0; k < TRIES; k++) {
        double before = brio__seconds();
        brio__evaluate(b->evaluator, b->sim->state->param, b->x, b->q_gradient, NULL);
        best = fmin(best, brio__seconds() - before);
    }
    return best;
}

static bool start_elements(Bench *b, const char *material, int64_t tets)
{
    *b = (Bench){.sim = bar(material, tets, "pcg", "symplectic-euler")};
    if (!b->sim) return false;
    b->term = &b->sim->system->term[0];
    b->evaluator = brio__potential_elements(b->sim->stepper->potential);
    b->gradient = brio__alloc((size_t)b->term->blocks * LANES * 12, sizeof(double));
    b->hessian = brio__alloc((size_t)CHUNK * LANES * 90, sizeof(double));
    b->energy = brio__alloc((size_t)b->term->blocks, sizeof(double));
    b->q_gradient = brio__alloc(3 * (size_t)b->sim->system->block_count, sizeof(double));
    b->x = b->sim->positions;
    if (!b->gradient || !b->hessian || !b->energy || !b->q_gradient) return false;
    brio__system_positions(b->sim->system, b->sim->state, b->sim->state->q, 0, b->x);
    memset(b->gradient, 0, (size_t)b->term->blocks * LANES * 12 * sizeof(double));
    return true;
}

static void end_elements(Bench *b)
{
    brio_sim_free(b->sim);
    brio__free(b->gradient);
    brio__free(b->hessian);
    brio__free(b->energy);
    brio__free(b->q_gradient);
}

static int bench_elements(void)
{
    double flops = measure_flops(), reading, writing;
    measure_bandwidth(&reading, &writing);
    char text[160];
    snprintf(text, sizeof text, "elements: one core, %s, eight elements at a time", brio_isa());
    heading(text);
    figure("elements", "limit: fused multiply-adds", flops * 1e-9, "GFlop/s");
    figure("elements", "limit: reading 96 MB", reading * 1e-9, "GB/s");
    figure("elements", "limit: writing 96 MB", writing * 1e-9, "GB/s");
    int threads = brio_threads(), exit = EXIT_DONE;
    brio_set_threads(1);
    for (size_t k = 0; k < BRIO_COUNT(kernels) && exit == EXIT_DONE; k++)
        for (int large = 1; large >= 0 && exit == EXIT_DONE; large--) {
            const Kernel *kernel = &kernels[k];
            Bench b;
            snprintf(text, sizeof text, "measuring %s on %s tets ...", kernel->material,
                     large ? "1 million" : "8 thousand");
            say(text);
            if (start_elements(&b, kernel->material, large ? 1000000 : 8000)) {
                double n = (double)b.term->elements;
                const char *where = large ? "1M tets" : "8k tets, in cache";
                for (int isa = (int)brio__isa(); isa >= -1; isa--) {
                    const BrioEnergy *energy =
                        isa < 0 ? kernel->one_lane
                                : brio__energy_for(kernel->material, (BrioIsa)isa);
                    static const char *const names[] = {"one lane", "baseline", "avx2", "avx512"};
                    if (isa >= 0 && isa < (int)brio__isa() && !large) continue;
                    double g = time_kernel(&b, energy, isa < 0, 0);
                    double H = time_kernel(&b, energy, isa < 0, 1);
                    snprintf(text, sizeof text, "%s gradient, %s, %s", kernel->material, where,
                             names[isa + 1]);
                    figure("elements", text, n / g * 1e-6, "million/s");
                    snprintf(text, sizeof text, "%s projected Hessian, %s, %s", kernel->material,
                             where, names[isa + 1]);
                    figure("elements", text, n / H * 1e-6, "million/s");
                    if (isa != (int)brio__isa()) continue;
                    /* read: nodes 16, rest 80, positions 24 a vertex; written: 96 */
                    double read_bytes = 16 + 80 + 24.0 * (double)b.sim->system->vertex_count / n;
                    double limit = read_bytes / reading + 96 / writing;
                    snprintf(text, sizeof text, "  gradient: share of the flop limit (%.0f a tet)",
                             kernel->gradient_flops);
                    figure("elements", text, 100 * kernel->gradient_flops * n / g / flops, "%");
                    if (large) {
                        snprintf(text, sizeof text,
                                 "  gradient: share of the bandwidth limit (%.0f B read, 96 B "
                                 "written a tet)",
                                 read_bytes);
                        figure("elements", text, 100 * limit * n / g, "%");
                    }
                    snprintf(text, sizeof text,
                             "  Hessian: share of the flop limit (about %.0f a tet)",
                             kernel->hessian_flops);
                    figure("elements", text, 100 * kernel->hessian_flops * n / H / flops, "%");
                    double all = time_evaluate(&b);
                    figure("elements", "  gradient and sum per vertex", n / all * 1e-6,
                           "million/s");
                }
            } else {
                exit = EXIT_FAILED;
            }
            end_elements(&b);
        }
    brio_set_threads(threads);
    return exit;
}

/* ---- one Newton iteration --------------------------------------------------------------- */

static int bench_newton(void)
{
    char text[160];
    say("measuring Newton iterations at 24 thousand tets ...");
    int64_t before = held;
    BrioSim *sim = bar("neo-hookean", 24000, brio__linear_at(0)->name, "backward-euler");
    if (!sim) return EXIT_FAILED;
    const BrioSystem *system = sim->system;
    BrioSolver *solver = sim->stepper->solver;
    double best[7] = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};
    for (int k = 0; k < 8; k++) { /* the least of several steps, each phase by itself */
        BrioSolveTotals a = solver->totals;
        if (brio_sim_step(sim) != BRIO_OK) {
            fprintf(stderr, "brio bench: %s\n", brio_sim_reason(sim));
            brio_sim_free(sim);
            return EXIT_FAILED;
        }
        BrioSolveTotals b = solver->totals;
        double n = (double)(b.iterations - a.iterations);
        double phase[6] = {b.gradient - a.gradient, b.hessian - a.hessian,
                           b.assembly - a.assembly, b.factor - a.factor,
                           b.solve - a.solve,       b.line_search - a.line_search};
        for (int i = 0; i < 6 && k > 0; i++) best[i] = fmin(best[i], 1e3 * phase[i] / n);
    }
    static const char *const names[] = {"gradient and value",   "element Hessians, projected",
                                        "sums into the matrix", "numeric factorisation",
                                        "triangular solves",    "step limit and line search"};
    double tets = (double)system->body[0].tet_count, others = 0;
    snprintf(text, sizeof text, "newton: %.0f tets, %lld vertices, %d threads, %s, %s", tets,
             (long long)system->vertex_count, brio_threads(), brio_isa(), brio__blas_name());
    heading(text);
    for (int i = 0; i < 6; i++) {
        figure("newton", names[i], best[i], "ms an iteration");
        if (i != 3) others += best[i];
    }
    BrioLinearStats stats;
    brio__linear_stats(solver->linear, &stats);
    /* which has one thread */
    figure("newton", "everything but the factorisation / the factorisation", others / best[3],
           "(goal: below 1)");
    figure("newton", "factorisation", stats.factor_flops / best[3] * 1e-6, "GFlop/s");
    figure("newton", "nonzeros of the factor", stats.factor_nonzeros * 1e-6, "million");
    figure("newton", "memory without the factor", (double)(held - before) / tets,
           "B a tet (goal: below 1000)");
    figure("newton", "memory of the factor", stats.bytes / tets, "B a tet");
    brio_sim_free(sim);
    return EXIT_DONE;
}

/* ---- steps of growing bodies ------------------------------------------------------------ */

/* One row of the table; JSON has a figure for each column. */
typedef struct StepRow {
    double tets, step, iteration, newton, cg, memory, factor;
} StepRow;

static void print_row(const char *solver, const StepRow *row)
{
    if (!json) {
        printf("  %9.0f  %-9s %10.4g %8.3g %13.4g %8.0f %9.0f %9.0f\n", row->tets, solver,
               row->step, row->newton, row->iteration, row->cg, row->memory, row->factor);
        fflush(stdout);
        return;
    }
    const struct {
        const char *name, *unit;
        double value;
    } figures[] = {{"a step", "ms", row->step},
                   {"Newton iterations a step", "", row->newton},
                   {"a Newton iteration", "ms", row->iteration},
                   {"CG iterations a Newton iteration", "", row->cg},
                   {"memory without the factor", "B a tet", row->memory},
                   {"memory of the factor", "B a tet", row->factor}};
    for (size_t i = 0; i < BRIO_COUNT(figures); i++) {
        char text[160];
        snprintf(text, sizeof text, "%s, %.0f tets: %s", solver, row->tets, figures[i].name);
        figure("steps", text, figures[i].value, figures[i].unit);
    }
}

static int measure_steps(const char *solver, int64_t tets, StepRow *row)
{
    char text[160];
    snprintf(text, sizeof text, "measuring steps at %lld tets with %s ...", (long long)tets,
             solver);
    say(text);
    int64_t before = held;
    BrioSim *sim = bar("neo-hookean", tets, solver, "backward-euler");
    if (!sim) return EXIT_FAILED;
    const BrioSolveTotals *totals = &sim->stepper->solver->totals;
    BrioStatus status = BRIO_OK;
    int steps = tets > 50000 ? 3 : 6;
    *row = (StepRow){
        .tets = (double)sim->system->body[0].tet_count, .step = INFINITY, .iteration = INFINITY};
    for (int n = 0; n < steps && status == BRIO_OK; n++) {
        int64_t iterations = totals->iterations;
        double start = brio__seconds();
        status = brio_sim_step(sim);
        double ms = 1e3 * (brio__seconds() - start);
        if (n == 0) continue; /* it also analyses the matrix */
        row->step = fmin(row->step, ms);
        row->iteration = fmin(row->iteration, ms / (double)(totals->iterations - iterations));
    }
    if (status == BRIO_OK) {
        BrioLinearStats stats;
        brio__linear_stats(sim->stepper->solver->linear, &stats);
        row->newton = (double)totals->iterations / steps;
        row->cg = (double)stats.iterations / (double)totals->iterations;
        row->memory = (double)(held - before) / row->tets;
        row->factor = stats.factor_nonzeros > 0 ? stats.bytes / row->tets : 0;
    } else {
        fprintf(stderr, "brio bench: %s\n", brio_sim_reason(sim));
    }
    brio_sim_free(sim);
    return status == BRIO_OK ? EXIT_DONE : EXIT_FAILED;
}

static int bench_steps(void)
{
    static const int64_t sizes[] = {6000, 24000, 100000, 400000};
    static const char *const solvers[] = {"cholesky", "pcg"};
    char text[320];
    snprintf(
        text, sizeof text,
        "steps: backward Euler, neo-Hookean bar, h = 1/30 s, tolerance 1e-3 m/s, %d threads\n"
        "       tets  solver     step, ms   Newton  iteration, ms       CG   B a tet    factor",
        brio_threads());
    heading(text);
    double power[2] = {NAN, NAN};
    for (size_t k = 0; k < BRIO_COUNT(solvers); k++) {
        if (!brio__linear_type(solvers[k])) continue;
        double x = 0, y = 0, xx = 0, xy = 0, points = 0;
        for (size_t i = 0; i < BRIO_COUNT(sizes); i++) {
            /* its factor takes gigabytes and minutes: PCG's part of the table */
            if (k == 0 && sizes[i] > 100000) continue;
            StepRow row;
            int exit = measure_steps(solvers[k], sizes[i], &row);
            if (exit != EXIT_DONE) return exit;
            print_row(solvers[k], &row);
            double lx = log(row.tets), ly = log(row.step);
            x += lx, y += ly, xx += lx * lx, xy += lx * ly, points++;
        }
        power[k] = (points * xy - x * y) / (points * xx - x * x);
    }
    for (size_t k = 0; k < BRIO_COUNT(solvers); k++) {
        snprintf(text, sizeof text, "%s: a step grows as tets to the power", solvers[k]);
        if (!isnan(power[k])) figure("steps", text, power[k], "");
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    figure("steps", "most memory that the process held", (double)usage.ru_maxrss / 1e6, "GB");
    return EXIT_DONE;
}

/* ---- contact ---------------------------------------------------------------------------- */

/* Two layers of affine boxes on the ground, those above each on four below, n by n and n-1 by
 * n-1. */
static BrioSim *layers(int n)
{
    char text[1400];
    BrioSim *sim = NULL;
    BrioError error = {0};
    int length =
        snprintf(text, sizeof text,
                 "time: {h: 1/120, end: 1}\nintegrator: backward-euler\nsolver: {tol: 1e-3}\n"
                 "contact: {type: ipc, dhat: 1e-3, kappa: 1e5, mu: 0.3}\n"
                 "obstacles: [{type: plane, point: [0, 0, 0], normal: [0, 1, 0]}]\n"
                 "bodies:\n"
                 "  - {name: below, shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}, "
                 "kind: affine, material: {type: corotated, E: 1e8, rho: 500},"
                 " array: {count: [%d, 1, %d], spacing: [0.11, 0.11, 0.11]}, transform: "
                 "{translate: [0, 0.0508, 0]}}\n"
                 "  - {name: above, shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}, "
                 "kind: affine, material: {type: corotated, E: 1e8, rho: 500},"
                 " array: {count: [%d, 1, %d], spacing: [0.11, 0.11, 0.11]}, transform: "
                 "{translate: [0, 0.1514, 0]}}\n",
                 n, n, n - 1, n - 1);
    if (brio_sim_parse(text, (size_t)length, "layers", &sim, &error) == BRIO_OK) return sim;
    char message[1024];
    brio_error_text(&error, message, sizeof message);
    fprintf(stderr, "brio bench: %s\n", message);
    return NULL;
}

static int bench_contact(void)
{
    static const int sizes[] = {5, 13, 37};
    char text[400];
    snprintf(text, sizeof text,
             "contact: layers of affine boxes on each other, friction, h = 1/120 s, %d threads; ms "
             "of a Newton iteration by phase\n"
             "  contacts   bodies  Newton a step    all  broad phase      ccd  barriers  analysis  "
             " factor    solve     rest",
             brio_threads());
    heading(text);
    for (size_t i = 0; i < BRIO_COUNT(sizes); i++) {
        BrioSim *sim = layers(sizes[i]);
        if (!sim) return EXIT_FAILED;
        const BrioSolveTotals *totals = &sim->stepper->solver->totals;
        BrioStatus status = brio_sim_step(sim); /* the first makes and fills what the others use */
        BrioSolveTotals before = *totals;
        enum { STEPS = 2 };
        double start = brio__seconds();
        for (int n = 0; n < STEPS && status == BRIO_OK; n++) status = brio_sim_step(sim);
        double all = brio__seconds() - start;
        double iterations = (double)(totals->iterations - before.iterations);
        BrioLedger ledger = {0};
        if (status == BRIO_OK) status = brio_sim_ledger(sim, &ledger);
        if (status != BRIO_OK) {
            fprintf(stderr, "brio bench: %s\n", brio_sim_reason(sim));
            brio_sim_free(sim);
            return EXIT_FAILED;
        }
        struct {
            const char *name;
            double seconds;
        } phase[] = {{"all", all},
                     {"broad phase", totals->broad_phase - before.broad_phase},
                     {"ccd", totals->ccd - before.ccd},
                     {"barriers", totals->contact - before.contact},
                     {"analysis", totals->analysis - before.analysis},
                     {"factor", totals->factor - before.factor},
                     {"solve", totals->solve - before.solve},
                     {"rest", all}};
        if (!json)
            printf("  %8d %8d %14.3g", ledger.contacts, sim->system->body_count,
                   iterations / STEPS);
        for (size_t k = 0; k < BRIO_COUNT(phase); k++) {
            if (k > 0 && k + 1 < BRIO_COUNT(phase))
                phase[BRIO_COUNT(phase) - 1].seconds -= phase[k].seconds;
            snprintf(text, sizeof text, "%d contacts, a Newton iteration: %s", ledger.contacts,
                     phase[k].name);
            if (json)
                figure("contact", text, 1e3 * phase[k].seconds / iterations, "ms");
            else
                printf(" %*.3g",
                       (int)strlen(phase[k].name) > 8 ? 12
                       : k                            ? 8
                                                      : 6,
                       1e3 * phase[k].seconds / iterations);
        }
        if (!json) printf("\n");
        fflush(stdout);
        brio_sim_free(sim);
    }
    return EXIT_DONE;
}

/* ---- the scalar matrix of local/global steps -------------------------------------------- */

/* M + w L of springs along the edges of a graph. */
typedef struct Network {
    int32_t n;
    int64_t *start; /* full adjacency */
    int32_t *neighbour;
    double *diagonal, *off, *b, *x;
} Network;

static void network_free(Network *net)
{
    brio__free(net->start);
    brio__free(net->neighbour);
    brio__free(net->diagonal);
    brio__free(net->off);
    brio__free(net->b);
    brio__free(net->x);
}

/* The vertices of a grid; each has an edge to those at the given steps from it, and from those at
 * the opposite ones. */
static bool network_make(Network *net, const int size[3], const int (*step)[3], int steps)
{
    int32_t n = net->n = size[0] * size[1] * size[2];
    net->start = brio__alloc((size_t)n + 1, sizeof *net->start);
    net->neighbour = brio__alloc(2 * (size_t)steps * (size_t)n, sizeof *net->neighbour);
    net->off = brio__alloc(2 * (size_t)steps * (size_t)n, sizeof *net->off);
    net->diagonal = brio__alloc((size_t)n, sizeof *net->diagonal);
    net->b = brio__alloc(3 * (size_t)n, sizeof *net->b);
    net->x = brio__alloc(3 * (size_t)n, sizeof *net->x);
    if (!net->start || !net->neighbour || !net->off || !net->diagonal || !net->b || !net->x)
        return false;
    BrioRandom random = {1};
    int64_t count = 0;
    for (int32_t v = 0; v < n; v++) {
        int at[3] = {v % size[0], v / size[0] % size[1], v / size[0] / size[1]};
        net->start[v] = count;
        for (int s = 0; s < 2 * steps; s++) {
            int to[3];
            bool inside = true;
            for (int r = 0; r < 3; r++) {
                to[r] = at[r] + (s < steps ? 1 : -1) * step[s % steps][r];
                inside &= to[r] >= 0 && to[r] < size[r];
            }
            if (!inside) continue;
            net->neighbour[count] = (to[2] * size[1] + to[1]) * size[0] + to[0];
            net->off[count++] = -1;
        }
        net->diagonal[v] = 0.1 + (double)(count - net->start[v]);
        for (int r = 0; r < 3; r++) net->b[3 * (int64_t)v + r] = brio__random_normal(&random);
    }
    net->start[n] = count;
    return true;
}

/* Seconds of CHOLMOD's solve of three right-hand sides, NAN without it. */
static double cholmod_seconds(const Network *net)
{
    double best = NAN;
#ifdef BRIO_HAVE_CHOLMOD
    cholmod_common common;
    cholmod_start(&common);
    common.print = 0;
    common.supernodal = CHOLMOD_SUPERNODAL;
    cholmod_sparse *A = cholmod_allocate_sparse((size_t)net->n, (size_t)net->n,
                                                (size_t)(net->start[net->n] / 2 + net->n), 0, 1, -1,
                                                CHOLMOD_REAL, &common);
    cholmod_dense *B = cholmod_allocate_dense((size_t)net->n, 3, (size_t)net->n, CHOLMOD_REAL,
                                              &common),
                  *X = NULL, *Y = NULL, *E = NULL;
    cholmod_factor *L = NULL;
    if (A && B) {
        int *p = A->p, *row = A->i, count = 0;
        for (int32_t v = 0; v < net->n; v++) {
            p[v] = count;
            ((double *)A->x)[count] = net->diagonal[v];
            row[count++] = v;
            for (int64_t k = net->start[v]; k < net->start[v + 1]; k++) {
                if (net->neighbour[k] < v) continue;
                ((double *)A->x)[count] = net->off[k];
                row[count++] = net->neighbour[k];
            }
            for (int r = 0; r < 3; r++)
                ((double *)B->x)[r * (int64_t)net->n + v] = net->b[3 * (int64_t)v + r];
        }
        p[net->n] = count;
        L = cholmod_analyze(A, &common);
        if (L && cholmod_factorize(A, L, &common) && common.status == CHOLMOD_OK)
            for (int k = 0; k < 3 * TRIES; k++) {
                double before = brio__seconds();
                if (!cholmod_solve2(CHOLMOD_A, L, B, NULL, &X, NULL, &Y, &E, &common)) break;
                /* fmin takes the number beside a NAN */
                best = fmin(best, brio__seconds() - before);
            }
    }
    cholmod_free_factor(&L, &common);
    cholmod_free_sparse(&A, &common);
    cholmod_free_dense(&B, &common);
    cholmod_free_dense(&X, &common);
    cholmod_free_dense(&Y, &common);
    cholmod_free_dense(&E, &common);
    cholmod_finish(&common);
#else
    (void)net;
#endif
    return best;
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static double read_avx512(const double *a, int64_t count)
{
    __m512d sum[8];
    for (int i = 0; i < 8; i++) sum[i] = _mm512_setzero_pd();
    for (int64_t k = 0; k < count; k += 64)
        for (int i = 0; i < 8; i++) sum[i] = _mm512_add_pd(sum[i], _mm512_load_pd(a + k + 8 * i));
    for (int i = 1; i < 8; i++) sum[0] = _mm512_add_pd(sum[0], sum[i]);
    return _mm512_reduce_add_pd(sum[0]);
}
#endif

static double read_lanes(const double *a, int64_t count)
{
    lane sum[8];
    memset(sum, 0, sizeof sum);
    for (int64_t k = 0; k < count; k += 64)
        for (int i = 0; i < 8; i++) sum[i] += lane_load(a + k + 8 * i);
    for (int i = 1; i < 8; i++) sum[0] += sum[i];
    return lane_sum(sum[0]);
}

typedef struct Reading {
    const double *a;
    int64_t share; /* doubles of a thread, a multiple of 64 */
} Reading;

/* Twice, as a solve does. */
static void read_share(void *context, int64_t begin, int64_t end)
{
    const Reading *reading = context;
    for (int64_t w = begin; w < end; w++)
        for (int pass = 0; pass < 2; pass++) {
#if defined(__x86_64__)
            if (brio__isa() == BRIO_ISA_AVX512) {
                sink = read_avx512(reading->a + w * reading->share, reading->share);
                continue;
            }
#endif
            sink = read_lanes(reading->a + w * reading->share, reading->share);
        }
}

/* One factor: the least times of a factorisation, of a solve and of reading an array as large as
 * the factor, in turns. */
static bool measure_solve(const char *name, const Network *net, bool single, int threads,
                          double cholmod)
{
    BrioScalarPattern *pattern = NULL;
    BrioScalarFactor *factor = NULL;
    BrioScalarStats stats = {0};
    double *array = NULL;
    double *heavier = brio__alloc((size_t)net->n, sizeof *heavier);
    double factorise = INFINITY;
    double solve = INFINITY;
    double read = INFINITY;
    Reading reading = {0};
    brio_set_threads(threads);
    double before = brio__seconds();
    BrioStatus status = brio__scalar_analyse(net->n, net->start, net->neighbour, &pattern);
    double analyse = brio__seconds() - before;
    if (status == BRIO_OK && !heavier) status = BRIO_ERROR_MEMORY;
    for (int32_t i = 0; i < net->n && status == BRIO_OK; i++) heavier[i] = 1.001 * net->diagonal[i];
    if (status == BRIO_OK) status = brio__scalar_factor_create(pattern, single, &factor);
    if (status == BRIO_OK) {
        brio__scalar_stats(factor, &stats);
        reading.share = (int64_t)(stats.solve_bytes / 2 / 8 / 64 / threads + 1) * 64;
        array = brio__calloc((size_t)(reading.share * threads), sizeof *array);
        reading.a = array;
        if (!array) status = BRIO_ERROR_MEMORY;
    }
    for (int k = 0; k < TRIES && status == BRIO_OK; k++) {
        int rounds = stats.solve_bytes > 3e7 ? 4 : 40;
        before = brio__seconds();
        if (k < 3) {
            /* all of it has changed */
            status = brio__scalar_factorise(factor, k == 1 ? heavier : net->diagonal, net->off);
            factorise = fmin(factorise, brio__seconds() - before);
        }
        for (int i = 0; i < rounds && status == BRIO_OK; i++) {
            before = brio__seconds();
            brio__scalar_solve(factor, net->b, net->x);
            solve = fmin(solve, brio__seconds() - before);
        }
        for (int i = 0; i < rounds; i++) {
            before = brio__seconds();
            brio__parallel_for(threads, 1, read_share, &reading);
            read = fmin(read, brio__seconds() - before);
        }
    }
    if (status == BRIO_OK) {
        double bandwidth = 16.0 * (double)(reading.share * threads) / read;
        double limit = stats.least_bytes / bandwidth;
        const char *precision = single ? "single" : "double";
        if (!json) {
            printf("  %-16s %7d %10.0f  %-6s %7d %9.0f %8.2f %8.2f %8.3f %8.2f %8.2f %7.1f %8.3f "
                   "%6.2f\n",
                   name, net->n, stats.nonzeros, precision, threads, 1e3 * analyse, 1e3 * factorise,
                   1e3 * cholmod, 1e3 * solve, 1e-6 * stats.least_bytes, 1e-6 * stats.solve_bytes,
                   1e-9 * bandwidth, 1e3 * limit, solve / limit);
        } else {
            const struct {
                const char *name, *unit;
                double value;
            } figures[] = {{"vertices", "", net->n},
                           {"nonzeros of the factor", "", stats.nonzeros},
                           {"analysis", "ms", 1e3 * analyse},
                           {"factorisation", "ms", 1e3 * factorise},
                           {"CHOLMOD's solve, one thread", "ms", 1e3 * cholmod},
                           {"solve", "ms", 1e3 * solve},
                           {"to be read", "MB", 1e-6 * stats.least_bytes},
                           {"read", "MB", 1e-6 * stats.solve_bytes},
                           {"reading", "GB/s", 1e-9 * bandwidth},
                           {"limit", "ms", 1e3 * limit},
                           {"solve / limit", "(goal: below 2)", solve / limit}};
            for (size_t i = 0; i < BRIO_COUNT(figures); i++) {
                char text[160];
                snprintf(text, sizeof text, "%s, %s, %d thread%s: %s", name, precision, threads,
                         threads > 1 ? "s" : "", figures[i].name);
                if (!isnan(figures[i].value))
                    figure("solve", text, figures[i].value, figures[i].unit);
            }
        }
        fflush(stdout);
    } else {
        fprintf(stderr, "brio bench: %s\n", brio_status_text(status));
    }
    brio__free(array);
    brio__free(heavier);
    brio__scalar_factor_free(factor);
    brio__scalar_pattern_free(pattern);
    return status == BRIO_OK;
}

static int bench_solve(void)
{
    /* structural, shear, bend */
    static const int springs[6][3] = {{1, 0, 0},  {0, 1, 0}, {1, 1, 0},
                                      {-1, 1, 0}, {2, 0, 0}, {0, 2, 0}};
    /* cells of six */
    static const int tets[7][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0},
                                   {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
    static const struct {
        const char *name;
        int size[3], steps;
        const int (*step)[3];
    } problems[] = {{"cloth 51x51", {51, 51, 1}, 6, springs},
                    {"cloth 101x101", {101, 101, 1}, 6, springs},
                    {"cloth 201x201", {201, 201, 1}, 6, springs},
                    {"body 40x12x12", {40, 12, 12}, 7, tets},
                    {"body 81x21x21", {81, 21, 21}, 7, tets}};
    int threads = brio_threads(), exit = EXIT_DONE;
    heading("solve: the scalar matrix M + w L of local/global steps, factored once, three "
            "right-hand sides; ms, MB, GB/s\n"
            "  matrix            vertices   nonzeros         threads  analysis   factor  CHOLMOD   "
            " solve   needed     read    GB/s    limit  ratio");
    for (size_t i = 0; i < BRIO_COUNT(problems) && exit == EXIT_DONE; i++) {
        Network net = {0};
        char text[80];
        snprintf(text, sizeof text, "measuring solves of %s ...", problems[i].name);
        say(text);
        bool made = network_make(&net, problems[i].size, problems[i].step, problems[i].steps);
        if (!made) fprintf(stderr, "brio bench: %s\n", brio_status_text(BRIO_ERROR_MEMORY));
        double cholmod = made ? cholmod_seconds(&net) : NAN;
        for (int single = 0; single < 2 && made; single++) {
            made = measure_solve(problems[i].name, &net, single, 1, cholmod);
            if (made && threads > 1)
                made = measure_solve(problems[i].name, &net, single, threads, cholmod);
        }
        brio_set_threads(threads);
        network_free(&net);
        if (!made) exit = EXIT_FAILED;
    }
    return exit;
}

/* ---- frames: is the cost of a frame of real time fixed? --------------------------------- */

enum { FRAMES = 10000, RUNS = 3 };

typedef struct RealTime {
    const char *scene, *set;
    bool hands; /* points are grabbed, dragged and let go all the time */
} RealTime;

/* Grabs another vertex every 60 frames, and drags it about. */
static void play(BrioSim *sim, int frame, int *hand, BrioRandom *random)
{
    BrioHand held_by;
    if (frame % 60 == 0) {
        if (*hand >= 0) brio_sim_release(sim, *hand);
        int32_t vertex =
            (int32_t)(brio__random(random) * (double)brio_body_vertices(sim->system, 0));
        if (brio_sim_grab_vertex(sim, 0, vertex, 50, hand) != BRIO_OK) *hand = -1;
    } else if (*hand >= 0 && brio_sim_hand(sim, *hand, &held_by) == BRIO_OK) {
        for (int r = 0; r < 3; r++)
            held_by.point[r] = held_by.grip[r] + 0.05 * (brio__random(random) - 0.5);
        brio_sim_drag(sim, *hand, held_by.point);
    }
}

static bool run_frames(const RealTime *of, double *ms, int64_t *vertices, int64_t *allocations)
{
    enum { WARM = 3 };
    BrioScene *scene = NULL;
    BrioSim *sim = NULL;
    BrioError error = {0};
    char text[2048];
    bool fine = brio__scene_load(of->scene, &of->set, of->set ? 1 : 0, &scene, &error) == BRIO_OK &&
                brio__scene_sim(scene, &sim, &error) == BRIO_OK;
    brio__scene_free(scene);
    if (!fine) {
        brio_error_text(&error, text, sizeof text);
        fprintf(stderr, "brio bench: %s\n", text);
    }
    int hand = -1;
    BrioRandom random = {.state = 1};
    for (int f = -WARM; f < FRAMES && fine; f++) {
        if (f == 0) *allocations = asked;
        double start = brio__seconds();
        if (of->hands) play(sim, f, &hand, &random);
        fine = brio_sim_step(sim) == BRIO_OK;
        if (!fine) fprintf(stderr, "brio bench: %s: %s\n", of->scene, brio_sim_reason(sim));
        if (f >= 0) ms[f] = 1e3 * (brio__seconds() - start);
    }
    *allocations = asked - *allocations;
    if (fine) *vertices = brio_body_vertices(sim->system, 0);
    brio_sim_free(sim);
    return fine;
}

/* A machine that others use stands still for milliseconds, whatever it runs. The same frames of
 * three runs do the same work, to the bit: the least time of each is its own. */
static int bench_frames(void)
{
    static const RealTime cases[] = {{"rt-cube", NULL, false},
                                     {"rt-bar", NULL, true},
                                     {"rt-cloth", "output.frames=[]", true},
                                     {"rt-fall", NULL, false},
                                     {"rt-slide", "bodies.0.shape.cells=15", false}};
    double *ms = brio__alloc(2 * FRAMES, sizeof *ms), *least = ms + FRAMES;
    if (!ms) return EXIT_FAILED;
    bool fine = true;
    heading("frames: 10,000 frames of scenes in real time, a-search, ten iterations; ms, and "
            "slowest / median (goal: below 3) of one run and of the least times of three runs\n"
            "  scene              vertices   median   99 %   99.9 %   slowest   one run   three "
            "runs   allocations");
    for (size_t i = 0; i < BRIO_COUNT(cases) && fine; i++) {
        char text[160];
        int64_t vertices = 0, allocations = 0;
        double one = 0;
        for (int k = 0; k < RUNS && fine; k++) {
            snprintf(text, sizeof text, "running %d frames of %s, %d of %d ...", FRAMES,
                     cases[i].scene, k + 1, RUNS);
            say(text);
            fine = run_frames(&cases[i], ms, &vertices, &allocations);
            for (int f = 0; f < FRAMES; f++) least[f] = k ? fmin(least[f], ms[f]) : ms[f];
            if (k > 0) continue;
            qsort(ms, FRAMES, sizeof *ms, brio__ascending);
            one = ms[FRAMES - 1] / ms[FRAMES / 2];
        }
        if (!fine) break;
        qsort(least, FRAMES, sizeof *least, brio__ascending);
        double median = least[FRAMES / 2], slowest = least[FRAMES - 1];
        if (!json)
            printf("  %-18s %8lld %8.3f %6.3f %8.3f %9.3f %9.2f %12.2f %13lld\n", cases[i].scene,
                   (long long)vertices, median, least[FRAMES / 100 * 99],
                   least[FRAMES / 1000 * 999], slowest, one, slowest / median,
                   (long long)allocations);
        snprintf(text, sizeof text, "%s: median frame", cases[i].scene);
        if (json) figure("frames", text, median, "ms");
        snprintf(text, sizeof text, "%s: slowest / median, one run", cases[i].scene);
        if (json) figure("frames", text, one, "(goal: below 3)");
        snprintf(text, sizeof text, "%s: slowest / median, least times of three runs",
                 cases[i].scene);
        if (json) figure("frames", text, slowest / median, "(goal: below 3)");
        fflush(stdout);
    }
    brio__free(ms);
    return fine ? EXIT_DONE : EXIT_FAILED;
}

/* ---- command ---------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int (*run)(void);
} benches[] = {{"elements", bench_elements}, {"newton", bench_newton}, {"steps", bench_steps},
               {"contact", bench_contact},   {"solve", bench_solve},   {"frames", bench_frames}};

static const Option options[] = {{"--json", 0, NULL, "one JSON object on standard output"},
                                 {"--threads", 0, "N", "threads (default: one per core)"},
                                 {0}};

static int run(int argc, char **argv)
{
    Arguments arguments = {.command = &command_bench, .argc = argc, .argv = argv, .at = 1};
    const char *chosen = NULL;
    int64_t threads = 0;
    for (int option; (option = argument_next(&arguments)) != ARGUMENT_END;) {
        if (option == ARGUMENT_BAD) return arguments.exit;
        if (option == 0) json = true;
        if (option == 1 &&
            !read_count(&command_bench, "--threads", arguments.value, 1024, &threads))
            return EXIT_USAGE;
        if (option == ARGUMENT_WORD) {
            const char *names[BRIO_COUNT(benches)];
            for (size_t i = 0; i < BRIO_COUNT(benches); i++) {
                names[i] = benches[i].name;
                if (!strcmp(names[i], arguments.value)) chosen = names[i];
            }
            if (!chosen)
                return unknown_name(&command_bench, "bench", arguments.value, names,
                                    (int)BRIO_COUNT(benches));
        }
    }
    brio_set_threads((int)threads);
    brio_set_allocator(&(BrioAllocator){count_allocate, count_release, NULL});
    if (json)
        printf("{\"version\": \"%s\", \"isa\": \"%s\", \"blas\": \"%s\", \"threads\": %d, "
               "\"results\": [",
               brio_version(), brio_isa(), brio__blas_name(), brio_threads());
    int exit = EXIT_DONE;
    for (size_t i = 0; i < BRIO_COUNT(benches) && exit == EXIT_DONE; i++)
        if (!chosen || chosen == benches[i].name) exit = benches[i].run();
    if (json) printf("\n]}\n");
    return exit;
}

const Command command_bench = {
    .name = "bench",
    .summary = "Measure the engine's speed on this machine.",
    .synopsis = "[elements|newton|steps|contact|solve|frames] [--json] [--threads N]",
    .about =
        "elements: gradients and projected Hessians a second and core, beside the machine's limits "
        "and one-lane code.\n"
        "newton: the phases of a Newton iteration at 24 thousand tets, and memory.\n"
        "steps: the cost of a Newton iteration from 6 thousand to 400 thousand tets, and how it "
        "grows.\n"
        "contact: the phases of a Newton iteration from a thousand to a hundred thousand "
        "contacts.\n"
        "solve: solves with the scalar matrix of local/global steps, beside the time that reading "
        "its factor takes.\n"
        "frames: the slowest of 10,000 frames in real time, hands at work, beside the median, in "
        "one run and by the least times of three.\n"
        "Each other figure is the least of several tries. Timings of a busy machine mean little.",
    .options = options,
    .examples = "brio bench elements\nbrio bench --json > bench.json",
    .run = run,
};
