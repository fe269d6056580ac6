/* brio bench factor: factorisations of real matrices, as fractions of what the cores can do.
 *
 * The matrices are those of bars of 1 to 100 thousand tets, and those that shipped scenes have
 * after some steps, with the blocks of their contacts. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

typedef struct Problem {
    const char *scene; /* NULL: a bar */
    int64_t tets;      /* of the bar */
    int steps;         /* before its matrix is taken */
} Problem;

static const Problem problems[] = {
    {NULL, 1000, 1},      {NULL, 5000, 1},       {NULL, 24000, 1},     {NULL, 100000, 1},
    {"cube-soft", 0, 20}, {"twisted-bar", 0, 3}, {"ball-soft", 0, 60}, {"membrane", 0, 2},
    {"dice", 0, 40},      {"stairs", 0, 20},     {"cloth", 0, 3},
};

typedef struct Measured {
    double seconds[2]; /* of a factorisation, by one and by all threads */
    double cholmod;    /* the minimum of CHOLMOD, NAN without it */
    double residual;   /* of a solve, relative to the right-hand side */
    BrioLinearStats stats;
} Measured;

static BrioSim *problem_sim(const Problem *problem)
{
    if (!problem->scene)
        return bench_bar("neo-hookean", problem->tets, brio__linear_at(0)->name, "backward-euler");
    return bench_scene(problem->scene, NULL);
}

/* The matrix of `from` for another solver, in the same order. */
static BrioStatus copy_matrix(const BrioMatrix *A, const BrioLinearType *type, BrioLinear **copy)
{
    int32_t n = A->n;
    int64_t *start = brio__calloc((size_t)n + 2, sizeof *start);
    int32_t *neighbour = brio__alloc(2 * (size_t)A->start[n], sizeof *neighbour);
    int32_t *order = brio__alloc((size_t)n, sizeof *order);
    BrioStatus status = start && neighbour && order ? BRIO_OK : BRIO_ERROR_MEMORY;
    for (int pass = 0; pass < 2 && status == BRIO_OK; pass++) {
        for (int32_t J = 0; J < n; J++)
            for (int64_t k = A->start[J] + 1; k < A->start[J + 1]; k++) {
                if (pass == 0) {
                    start[J + 2]++;
                    start[A->row[k] + 2]++;
                } else {
                    neighbour[start[J + 1]++] = A->row[k];
                    neighbour[start[A->row[k] + 1]++] = J;
                }
            }
        for (int32_t J = 0; J < n && pass == 0; J++) start[J + 2] += start[J + 1];
    }
    for (int32_t J = 0; J < n && status == BRIO_OK; J++) order[J] = J;
    if (status == BRIO_OK)
        status = brio__linear_create_ordered(type, NULL, n, start, neighbour, order, copy);
    if (status == BRIO_OK)
        memcpy((*copy)->A.value, A->value, 9 * sizeof *A->value * (size_t)A->start[n]);
    brio__free(start);
    brio__free(neighbour);
    brio__free(order);
    return status;
}

/* The least time of several factorisations. */
static BrioStatus min_seconds(BrioLinear *linear, double *seconds)
{
    double begin = brio__seconds();
    *seconds = INFINITY;
    for (int k = 0; k < TRIES || (k < 200 && brio__seconds() - begin < 0.5); k++) {
        double before = brio__seconds();
        BRIO_CHECK(linear->type->factor(linear->self, &linear->A));
        *seconds = fmin(*seconds, brio__seconds() - before);
    }
    return BRIO_OK;
}

/* |b - A x| / |b| of a random right-hand side. */
static double residual_of(BrioLinear *linear)
{
    int64_t length = 3 * (int64_t)linear->A.n;
    double *b = brio__alloc((size_t)length, sizeof *b), *x = brio__alloc((size_t)length, sizeof *x);
    BrioRandom random = {1};
    double left = 0, size = 0;
    for (int64_t i = 0; b && x && i < length; i++) b[i] = brio__random_normal(&random);
    bool solved = b && x && brio__linear_solve(linear, 1, b, x) == BRIO_OK;
    if (solved) brio__linear_multiply(linear, x, x);
    for (int64_t i = 0; solved && i < length; i++) {
        left += (b[i] - x[i]) * (b[i] - x[i]);
        size += b[i] * b[i];
    }
    brio__free(b);
    brio__free(x);
    return solved ? sqrt(left / size) : NAN;
}

static BrioStatus measure(const BrioMatrix *A, int threads, Measured *m)
{
    BrioStatus status = BRIO_OK;
    *m = (Measured){.cholmod = NAN};
    for (int k = 0; k < 2 && status == BRIO_OK; k++) {
        BrioLinear *copy = NULL;
        brio_set_threads(k ? threads : 1);
        status = copy_matrix(A, brio__linear_type("ldlt"), &copy);
        if (status == BRIO_OK) status = min_seconds(copy, &m->seconds[k]);
        if (status == BRIO_OK) {
            m->residual = residual_of(copy);
            brio__linear_stats(copy, &m->stats);
        }
        brio__linear_free(copy);
    }
    const BrioLinearType *cholmod = brio__linear_type("cholesky");
    if (status == BRIO_OK && cholmod) {
        BrioLinear *copy = NULL;
        status = copy_matrix(A, cholmod, &copy);
        if (status == BRIO_OK) status = min_seconds(copy, &m->cholmod);
        brio__linear_free(copy);
    }
    return status;
}

static void print_factor(const Problem *problem, const Measured *m, const double peak[2])
{
    char name[64];
    if (problem->scene)
        snprintf(name, sizeof name, "%s", problem->scene);
    else
        snprintf(name, sizeof name, "bar of %lldk tets", (long long)problem->tets / 1000);
    double flops = m->stats.factor_flops, all = flops / m->seconds[1];
    if (!bench_by_figure) {
        printf("  %-17s %8.3f %8.3f %8.3f %8.3f %8.1f %5.2f %8.1f %5.2f %8.3f %9.1e\n", name,
               1e-6 * m->stats.factor_nonzeros, 1e-9 * flops, 1e3 * m->seconds[0],
               1e3 * m->seconds[1], 1e-9 * flops / m->seconds[0], flops / m->seconds[0] / peak[0],
               1e-9 * all, all / peak[1], 1e3 * m->cholmod, m->residual);
        fflush(stdout);
        return;
    }
    const struct {
        const char *name, *unit;
        double value;
    } figures[] = {{"nonzeros of the factor", "million", 1e-6 * m->stats.factor_nonzeros},
                   {"operations", "GFlop", 1e-9 * flops},
                   {"one thread", "ms", 1e3 * m->seconds[0]},
                   {"all threads", "ms", 1e3 * m->seconds[1]},
                   {"one thread / peak", "", flops / m->seconds[0] / peak[0]},
                   {"all threads / peak", "", all / peak[1]},
                   {"CHOLMOD", "ms", 1e3 * m->cholmod},
                   {"residual", "", m->residual}};
    for (size_t i = 0; i < BRIO_COUNT(figures); i++) {
        char text[160];
        snprintf(text, sizeof text, "%s: %s", name, figures[i].name);
        if (!isnan(figures[i].value)) figure("factor", text, figures[i].value, figures[i].unit);
    }
}

int bench_factor(void)
{
    int threads = brio_threads(), exit = EXIT_DONE;
    double peak[2] = {bench_flops(1), bench_flops(threads)};
    char text[400];
    snprintf(text, sizeof text,
             "factor: peak %.1f GFlop/s by one thread, %.1f by %d\n"
             "  matrix            nonzeros    GFlop    ms, 1  ms, all  GFlop/s  peak  GFlop/s  peak"
             "  CHOLMOD  residual",
             1e-9 * peak[0], 1e-9 * peak[1], threads);
    heading(text);
    for (size_t i = 0; i < BRIO_COUNT(problems) && exit == EXIT_DONE; i++) {
        const Problem *problem = &problems[i];
        BrioSim *sim = problem_sim(problem);
        BrioStatus status = sim ? BRIO_OK : BRIO_ERROR_INPUT;
        for (int k = 0; k < problem->steps && status == BRIO_OK; k++)
            status = brio_sim_step(sim, NULL);
        Measured measured;
        if (status == BRIO_OK) {
            peak[0] = fmax(peak[0], bench_flops(1));
            peak[1] = fmax(peak[1], bench_flops(threads));
            status = measure(&sim->stepper->solver->linear->factored->A, threads, &measured);
        }
        brio_set_threads(threads);
        if (status == BRIO_OK)
            print_factor(problem, &measured, peak);
        else
            exit = EXIT_FAILED;
        if (status != BRIO_OK && sim) fprintf(stderr, "brio bench: %s\n", brio_status_text(status));
        brio_sim_free(sim);
    }
    return exit;
}
