/* brio bench solve: solves with the scalar matrix of local/global steps, compared with the time to
 * read its factor. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

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
    const BrioCholmod *call = brio__cholmod();
    if (!call) return NAN;
    cholmod_common common;
    call->start(&common);
    common.print = 0;
    common.supernodal = CHOLMOD_SUPERNODAL;
    cholmod_sparse *A = call->allocate_sparse((size_t)net->n, (size_t)net->n,
                                              (size_t)(net->start[net->n] / 2 + net->n), 0, 1, -1,
                                              CHOLMOD_REAL, &common);
    cholmod_dense *B = call->allocate_dense((size_t)net->n, 3, (size_t)net->n, CHOLMOD_REAL,
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
        L = call->analyze(A, &common);
        if (L && call->factorize(A, L, &common) && common.status == CHOLMOD_OK)
            for (int k = 0; k < 3 * TRIES; k++) {
                double before = brio__seconds();
                if (!call->solve2(CHOLMOD_A, L, B, NULL, &X, NULL, &Y, &E, &common)) break;
                /* fmin returns the other number if one is a NAN */
                best = fmin(best, brio__seconds() - before);
            }
    }
    call->free_factor(&L, &common);
    call->free_sparse(&A, &common);
    call->free_dense(&B, &common);
    call->free_dense(&X, &common);
    call->free_dense(&Y, &common);
    call->free_dense(&E, &common);
    call->finish(&common);
#else
    (void)net;
#endif
    return best;
}

typedef struct Reading {
    const double *a;
    int64_t per_thread; /* doubles of a thread, a multiple of 64 */
} Reading;

/* Twice, as a solve does. */
static void read_slice(void *context, int64_t begin, int64_t end)
{
    const Reading *reading = context;
    for (int64_t w = begin; w < end; w++)
        for (int pass = 0; pass < 2; pass++)
            bench_sink = bench_read(reading->a + w * reading->per_thread, reading->per_thread);
}

/* One factor, and the smallest times of its factorisation, of a solve and of reading an array as
 * large as the factor. */
typedef struct Solving {
    const char *name;
    const Network *net;
    BrioScalarPrecision precision;
    int threads;
    BrioScalarPattern *pattern;
    BrioScalarFactor *factor;
    BrioScalarStats stats;
    double *array, *heavier;
    Reading reading;
    double analyse, factorise, solve, read, cholmod; /* s */
} Solving;

static BrioStatus start_solve(Solving *s)
{
    const Network *net = s->net;
    double before = brio__seconds();
    s->factorise = s->solve = s->read = INFINITY;
    s->heavier = brio__alloc((size_t)net->n, sizeof *s->heavier);
    BRIO_CHECK(brio__scalar_analyse(net->n, net->start, net->neighbour, &s->pattern));
    s->analyse = brio__seconds() - before;
    if (!s->heavier) return BRIO_ERROR_MEMORY;
    for (int32_t i = 0; i < net->n; i++) s->heavier[i] = 1.001 * net->diagonal[i];
    BRIO_CHECK(brio__scalar_factor_create(s->pattern, s->precision, &s->factor));
    brio__scalar_stats(s->factor, &s->stats);
    s->reading.per_thread = (int64_t)(s->stats.solve_bytes / 2 / 8 / 64 / s->threads + 1) * 64;
    s->array = brio__calloc((size_t)(s->reading.per_thread * s->threads), sizeof *s->array);
    s->reading.a = s->array;
    return s->array ? BRIO_OK : BRIO_ERROR_MEMORY;
}

/* In turns, so that what else the machine does meets all of them. */
static BrioStatus time_solves(Solving *s)
{
    const Network *net = s->net;
    int rounds = s->stats.solve_bytes > 3e7 ? 4 : 40;
    for (int k = 0; k < TRIES; k++) {
        double before = brio__seconds();
        if (k < 3) { /* all of it has changed */
            BRIO_CHECK(
                brio__scalar_factorise(s->factor, k == 1 ? s->heavier : net->diagonal, net->off));
            s->factorise = fmin(s->factorise, brio__seconds() - before);
        }
        for (int i = 0; i < rounds; i++) {
            before = brio__seconds();
            brio__scalar_solve(s->factor, net->b, net->x);
            s->solve = fmin(s->solve, brio__seconds() - before);
        }
        for (int i = 0; i < rounds; i++) {
            before = brio__seconds();
            brio__parallel_for(s->threads, 1, read_slice, &s->reading);
            s->read = fmin(s->read, brio__seconds() - before);
        }
    }
    return BRIO_OK;
}

static void print_solve(const Solving *s)
{
    double bandwidth = 16.0 * (double)(s->reading.per_thread * s->threads) / s->read;
    double limit = s->stats.min_bytes / bandwidth;
    static const char *const names[] = {"double", "single", "half"};
    const char *precision = names[s->precision];
    if (!bench_by_figure) {
        printf("  %-16s %7d %10.0f  %-6s %7d %9.0f %8.2f %8.2f %8.3f %8.2f %8.2f %7.1f %8.3f "
               "%6.2f\n",
               s->name, s->net->n, s->stats.nonzeros, precision, s->threads, 1e3 * s->analyse,
               1e3 * s->factorise, 1e3 * s->cholmod, 1e3 * s->solve, 1e-6 * s->stats.min_bytes,
               1e-6 * s->stats.solve_bytes, 1e-9 * bandwidth, 1e3 * limit, s->solve / limit);
        return;
    }
    const struct {
        const char *name, *unit;
        double value;
    } figures[] = {{"vertices", "", s->net->n},
                   {"nonzeros of the factor", "", s->stats.nonzeros},
                   {"analysis", "ms", 1e3 * s->analyse},
                   {"factorisation", "ms", 1e3 * s->factorise},
                   {"CHOLMOD's solve, one thread", "ms", 1e3 * s->cholmod},
                   {"solve", "ms", 1e3 * s->solve},
                   {"to be read", "MB", 1e-6 * s->stats.min_bytes},
                   {"read", "MB", 1e-6 * s->stats.solve_bytes},
                   {"reading", "GB/s", 1e-9 * bandwidth},
                   {"limit", "ms", 1e3 * limit},
                   {"solve / limit", "(goal: below 2)", s->solve / limit}};
    for (size_t i = 0; i < BRIO_COUNT(figures); i++) {
        char text[160];
        snprintf(text, sizeof text, "%s, %s, %d thread%s: %s", s->name, precision, s->threads,
                 s->threads > 1 ? "s" : "", figures[i].name);
        if (!isnan(figures[i].value)) figure("solve", text, figures[i].value, figures[i].unit);
    }
}

static bool measure_solve(const char *name, const Network *net, int precision, int threads,
                          double cholmod)
{
    Solving s = {.name = name,
                 .net = net,
                 .precision = (BrioScalarPrecision)precision,
                 .threads = threads,
                 .cholmod = cholmod};
    brio_set_threads(threads);
    BrioStatus status = start_solve(&s);
    if (status == BRIO_OK) status = time_solves(&s);
    if (status == BRIO_OK)
        print_solve(&s);
    else
        fprintf(stderr, "brio bench: %s\n", brio_status_text(status));
    fflush(stdout);
    brio__free(s.array);
    brio__free(s.heavier);
    brio__scalar_factor_free(s.factor);
    brio__scalar_pattern_free(s.pattern);
    return status == BRIO_OK;
}

int bench_solve(void)
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
        bool good = network_make(&net, problems[i].size, problems[i].step, problems[i].steps);
        if (!good) fprintf(stderr, "brio bench: %s\n", brio_status_text(BRIO_ERROR_MEMORY));
        double cholmod = good ? cholmod_seconds(&net) : NAN;
        for (int precision = 0; precision < 3 && good; precision++) {
            good = measure_solve(problems[i].name, &net, precision, 1, cholmod);
            if (good && threads > 1)
                good = measure_solve(problems[i].name, &net, precision, threads, cholmod);
        }
        brio_set_threads(threads);
        network_free(&net);
        if (!good) exit = EXIT_FAILED;
    }
    return exit;
}
