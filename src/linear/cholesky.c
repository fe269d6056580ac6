/* Supernodal Cholesky A = L L^T through CHOLMOD [Chen2008].
 *
 * The order is found on the graph of blocks by METIS or AMD (whichever gives the smaller factor)
 * with CHOLMOD's weighted postorder. The matrix is stored in that order, so that CHOLMOD analyses
 * it as it stands (natural order, no postorder), reads our values in place, and solves in place: no
 * permuted copy is ever made.
 *
 * 32-bit indices: half the memory of 64-bit ones for the pattern, and METIS has no others here.
 * Factors of more than 2^31 entries (17 GB) are rejected as too large. */
#include "cholmod_calls.h"
#include "linear.h"

#ifdef BRIO_HAVE_CHOLMOD
#include <pthread.h>
#include <stdlib.h>

typedef struct Cholesky {
    const BrioCholmod *call;
    cholmod_common common;
    cholmod_sparse A; /* our values, its pattern in scalars */
    cholmod_factor *L;
    double *below; /* workspace of solves, for `columns` right-hand sides */
    int columns;
    double flops;
} Cholesky;

static void start_common(const BrioCholmod *call, cholmod_common *common)
{
    call->start(common);
    common->print = 0;
    common->error_handler = NULL;
    common->try_catch = 1; /* no messages: the status is enough */
    common->useGPU = 0;    /* a GPU sums in another order */
}

static BrioStatus status_of(const cholmod_common *common)
{
    switch (common->status) {
    case CHOLMOD_OK: return BRIO_OK;
    case CHOLMOD_NOT_POSDEF:
    case CHOLMOD_DSMALL: return BRIO_NOT_POSITIVE_DEFINITE;
    case CHOLMOD_TOO_LARGE: return BRIO_ERROR_TOO_LARGE;
    case CHOLMOD_OUT_OF_MEMORY: return BRIO_ERROR_MEMORY;
    default: return BRIO_ERROR_ARGUMENT;
    }
}

/* ---- order ------------------------------------------------------------------------------ */

/* METIS seeds and draws from rand(), which the whole process shares: two orders found at a time
 * would not be the ones found one after the other. The program's own sequence is put back
 * afterwards. */
static cholmod_factor *analyse_graph(const BrioCholmod *call, cholmod_sparse *graph,
                                     cholmod_common *common)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    char draws[128];
    pthread_mutex_lock(&one_at_a_time);
    char *before = initstate(1, draws, sizeof draws);
    cholmod_factor *L = call->analyze(graph, common);
    if (before) setstate(before);
    pthread_mutex_unlock(&one_at_a_time);
    return L;
}

static BrioStatus cholesky_order(int32_t n, const int64_t *start, const int32_t *neighbour,
                                 int32_t *order)
{
    if (start[n] > INT32_MAX) return BRIO_ERROR_TOO_LARGE;
    const BrioCholmod *call = brio__cholmod();
    if (!call) return BRIO_ERROR_UNSUPPORTED;
    int *p = brio__alloc((size_t)n + 1, sizeof *p);
    int *i = brio__alloc((size_t)(start[n] / 2), sizeof *i);
    if (!p || !i) {
        brio__free(p);
        brio__free(i);
        return BRIO_ERROR_MEMORY;
    }
    int count = 0;
    /* the lower triangle; a diagonal is not needed for an order */
    for (int32_t v = 0; v < n; v++) {
        p[v] = count;
        for (int64_t k = start[v]; k < start[v + 1]; k++)
            if (neighbour[k] > v && count < start[n] / 2) i[count++] = neighbour[k];
    }
    p[n] = count;
    cholmod_sparse graph = {.nrow = (size_t)n,
                            .ncol = (size_t)n,
                            .nzmax = (size_t)count,
                            .p = p,
                            .i = i,
                            .stype = -1,
                            .itype = CHOLMOD_INT,
                            .xtype = CHOLMOD_PATTERN,
                            .dtype = CHOLMOD_DOUBLE,
                            .packed = 1};
    cholmod_common common;
    start_common(call, &common);
    common.nmethods = 2; /* one that fails, or is not in the library, leaves the other */
    common.method[0].ordering = CHOLMOD_METIS;
    common.method[1].ordering = CHOLMOD_AMD;
    common.postorder = 1;
    common.supernodal = CHOLMOD_SIMPLICIAL;
    cholmod_factor *L = analyse_graph(call, &graph, &common);
    BrioStatus status = L ? BRIO_OK : status_of(&common);
    for (int32_t k = 0; L && k < n; k++) order[k] = ((const int *)L->Perm)[k];
    call->free_factor(&L, &common);
    call->finish(&common);
    brio__free(p);
    brio__free(i);
    return status;
}

/* ---- analysis --------------------------------------------------------------------------- */

static void cholesky_destroy(void *self)
{
    Cholesky *f = self;
    f->call->free_factor(&f->L, &f->common);
    f->call->finish(&f->common);
    brio__free(f->A.p);
    brio__free(f->A.i);
    brio__free(f->below);
    brio__free(f);
}

/* Scalar compressed columns of the lower triangle: see linear.h. */
static BrioStatus make_pattern(Cholesky *f, const BrioMatrix *A)
{
    int32_t n = A->n;
    if (n > INT32_MAX / 3 || A->start[n] > INT32_MAX / 9) return BRIO_ERROR_TOO_LARGE;
    int *p = brio__alloc(3 * (size_t)n + 1, sizeof *p);
    int *i = brio__alloc((size_t)A->start[n], 9 * sizeof *i);
    f->A = (cholmod_sparse){.nrow = 3 * (size_t)n,
                            .ncol = 3 * (size_t)n,
                            .nzmax = 9 * (size_t)A->start[n],
                            .p = p,
                            .i = i,
                            .x = A->value,
                            .stype = -1,
                            .itype = CHOLMOD_INT,
                            .xtype = CHOLMOD_REAL,
                            .dtype = CHOLMOD_DOUBLE,
                            .sorted = 1,
                            .packed = 1};
    if (!p || !i) return BRIO_ERROR_MEMORY;
    int count = 0;
    for (int32_t J = 0; J < n; J++)
        for (int c = 0; c < 3; c++) {
            p[3 * J + c] = count;
            for (int64_t k = A->start[J]; k < A->start[J + 1]; k++)
                for (int r = 0; r < 3; r++) i[count++] = 3 * A->row[k] + r;
        }
    p[3 * n] = count;
    return BRIO_OK;
}

static double bytes_of(const Cholesky *f)
{
    const cholmod_factor *L = f->L;
    return 8.0 *
               ((double)L->xsize + (double)L->maxcsize + (double)f->columns * (double)L->maxesize) +
           4.0 * ((double)L->ssize + 3.0 * (double)L->nsuper + 4.0 * (double)L->n) +
           4.0 * ((double)f->A.nzmax + (double)f->A.ncol) + (double)f->common.iworksize * 4.0;
}

static BrioStatus grow_workspace(Cholesky *f, int columns)
{
    if (columns <= f->columns) return BRIO_OK;
    double *below = brio__alloc((size_t)columns * (f->L->maxesize + 1), sizeof *below);
    if (!below) return BRIO_ERROR_MEMORY;
    brio__free(f->below);
    f->below = below;
    f->columns = columns;
    return BRIO_OK;
}

static BrioStatus analyse(Cholesky *f, const BrioMatrix *A)
{
    BRIO_CHECK(make_pattern(f, A));
    f->common.nmethods = 1;
    f->common.method[0].ordering = CHOLMOD_NATURAL;
    f->common.postorder = 0;
    f->common.supernodal = CHOLMOD_SUPERNODAL;
    f->common.quick_return_if_not_posdef = 1;
    f->L = f->call->analyze(&f->A, &f->common);
    if (!f->L) return status_of(&f->common);
    f->flops = f->common.fl;
    if (f->L->xsize > INT32_MAX || bytes_of(f) > brio__memory_available())
        return BRIO_ERROR_TOO_LARGE;
    return grow_workspace(f, 1);
}

static BrioStatus cholesky_create(const BrioMatrix *A, const BrioLinearOptions *options,
                                  void **self)
{
    (void)options;
    *self = NULL;
    const BrioCholmod *call = brio__cholmod();
    if (!call) return BRIO_ERROR_UNSUPPORTED;
    Cholesky *f = brio__calloc(1, sizeof *f);
    if (!f) return BRIO_ERROR_MEMORY;
    f->call = call;
    start_common(call, &f->common);
    BrioStatus status = analyse(f, A);
    if (status != BRIO_OK) {
        cholesky_destroy(f);
        return status;
    }
    *self = f;
    return BRIO_OK;
}

/* ---- numbers ---------------------------------------------------------------------------- */

/* Some LAPACKs go on after a pivot that is NAN: it is on the diagonal of L then. */
static bool diagonal_finite(const cholmod_factor *L)
{
    const int *super = L->super, *pi = L->pi, *px = L->px;
    const double *x = L->x;
    double sum = 0;
    for (size_t s = 0; s < L->nsuper; s++)
        for (int j = 0; j < super[s + 1] - super[s]; j++)
            sum += x[px[s] + (int64_t)j * (pi[s + 1] - pi[s] + 1)];
    return isfinite(sum);
}

static BrioStatus cholesky_factor(void *self, const BrioMatrix *A)
{
    Cholesky *f = self;
    double none[2] = {0, 0};
    f->A.x = A->value;
    /* CHOLMOD copies even the smallest supernodes with four OpenMP threads of its own, whose waking
     * costs more than the whole factor of a small body: let it have one. */
    bool has_levels = f->call->omp_levels && f->call->set_omp_levels;
    int levels = has_levels ? f->call->omp_levels() : 0;
    if (has_levels) f->call->set_omp_levels(0);
    f->call->super_numeric(&f->A, NULL, none, f->L, &f->common);
    if (has_levels) f->call->set_omp_levels(levels);
    BRIO_CHECK(status_of(&f->common));
    return f->L->minor == f->L->n && diagonal_finite(f->L) ? BRIO_OK : BRIO_NOT_POSITIVE_DEFINITE;
}

static BrioStatus cholesky_solve(void *self, const BrioMatrix *A, int k, double *x)
{
    Cholesky *f = self;
    (void)A;
    BRIO_CHECK(grow_workspace(f, k));
    size_t n = f->L->n, below = f->L->maxesize;
    cholmod_dense X = {.nrow = n,
                       .ncol = (size_t)k,
                       .nzmax = n * (size_t)k,
                       .d = n,
                       .x = x,
                       .xtype = CHOLMOD_REAL};
    cholmod_dense E = {.nrow = below,
                       .ncol = (size_t)k,
                       .nzmax = (below + 1) * (size_t)k,
                       .d = below,
                       .x = f->below,
                       .xtype = CHOLMOD_REAL};
    if (!f->call->super_lsolve(f->L, &X, &E, &f->common) ||
        !f->call->super_ltsolve(f->L, &X, &E, &f->common))
        return f->common.status == CHOLMOD_OK ? BRIO_ERROR_ARGUMENT : status_of(&f->common);
    return BRIO_OK;
}

static void cholesky_stats(const void *self, BrioLinearStats *stats)
{
    const Cholesky *f = self;
    stats->factor_nonzeros = f->common.lnz;
    stats->factor_flops = f->flops;
    stats->bytes = bytes_of(f);
}

const BrioLinearType brio__solver_cholesky = {
    .name = "cholesky",
    .summary = "Direct: supernodal Cholesky of CHOLMOD, ordered by METIS or AMD.",
    .citation = "Chen2008",
    .order = cholesky_order,
    .create = cholesky_create,
    .factor = cholesky_factor,
    .solve = cholesky_solve,
    .stats = cholesky_stats,
    .destroy = cholesky_destroy,
};
#endif
