/* Conjugate gradients preconditioned by smoothed aggregation, an algebraic multigrid for elastic
 * bodies: the number of iterations hardly grows with the size of a body [Vanek1996]. multilevel.h
 * says where what is.
 *
 * Conjugate gradients and coarse matrices are computed in double, the cycle in single precision.
 *
 * The numbers of the levels take as long as six or seven iterations, and those of a nearby matrix
 * serve almost as well: within a minimisation they are kept until iterations become more than
 * SLOWER times as many. Solutions are as accurate either way, for conjugate gradients multiply by
 * the matrix itself. Where contacts join blocks nothing is kept: these are solved exactly. */
#include "multilevel.h"

#include "cg.h"
#include "order.h"

#include <string.h>

/* A few dozen are usual, also where contacts are stiff: who needs more needs a factorisation. */
enum { MAX_ITERATIONS = 400, MAX_KEPT_ITERATIONS = 60 };
#define SLOWER 1.5

typedef struct Multilevel {
    BrioCg cg;
    BrioHierarchy hierarchy;
    const BrioMatrix *A; /* what was factored */
    const BrioLinearOptions *options;
    int64_t max_iterations;
    bool keeps;   /* the levels have numbers that may be kept, */
    bool kept;    /* and they are those of a matrix before */
    double usual; /* iterations for each digit, with numbers of the matrix itself */
} Multilevel;

static void multilevel_destroy(void *self)
{
    Multilevel *s = self;
    brio__cg_free(&s->cg);
    brio__hierarchy_free(&s->hierarchy);
    brio__free(s);
}

static void precondition(void *self, const double *r, double *z)
{
    Multilevel *s = self;
    brio__hierarchy_apply(&s->hierarchy, s->A, r, z);
}

static BrioStatus multilevel_create(const BrioMatrix *A, const BrioLinearOptions *options,
                                    void **self)
{
    *self = NULL;
    Multilevel *s = brio__calloc(1, sizeof *s);
    if (!s) return BRIO_ERROR_MEMORY;
    s->options = options;
    BrioStatus status = brio__matrix_rows((BrioMatrix *)A); /* auto's matrix has none */
    if (status == BRIO_OK) status = brio__cg_create(A, options, &s->cg);
    if (options->max_iterations <= 0) s->cg.max_iterations = MAX_ITERATIONS;
    s->max_iterations = s->cg.max_iterations;
    s->cg.precondition = precondition;
    s->cg.self = s;
    if (status == BRIO_OK)
        status = brio__hierarchy_create(A, options->added, options->added_count, &s->hierarchy);
    if (status == BRIO_OK)
        *self = s;
    else
        multilevel_destroy(s);
    return status;
}

static BrioStatus make_numbers(Multilevel *s)
{
    s->kept = s->keeps = false;
    BRIO_CHECK(brio__hierarchy_factor(&s->hierarchy, s->A, s->options->position));
    s->keeps = !s->hierarchy.rest;
    return BRIO_OK;
}

static BrioStatus multilevel_factor(void *self, const BrioMatrix *A)
{
    Multilevel *s = self;
    s->A = A;
    s->kept = s->keeps && s->options->near;
    return s->kept ? BRIO_OK : make_numbers(s);
}

/* One solve, and how fast it was. */
static BrioStatus solve_one(Multilevel *s, const BrioMatrix *A, double *x)
{
    int64_t before = s->cg.iterations;
    double tol = s->options->tol > 0 ? s->options->tol : 1e-8;
    s->cg.max_iterations =
        s->kept ? BRIO_MIN(s->max_iterations, MAX_KEPT_ITERATIONS) : s->max_iterations;
    BrioStatus status = brio__cg_solve(&s->cg, A, 1, x);
    double for_a_digit = (double)(s->cg.iterations - before) / fmax(-log10(tol), 0.1);
    if (!s->kept)
        s->usual = for_a_digit;
    else if (for_a_digit > SLOWER * s->usual)
        s->keeps = false;
    return status;
}

static BrioStatus multilevel_solve(void *self, const BrioMatrix *A, int k, double *x)
{
    Multilevel *s = self;
    BrioStatus worst = BRIO_OK;
    for (int j = 0; j < k; j++, x += 3 * (int64_t)A->n) {
        BrioStatus status = solve_one(s, A, x);
        if (status == BRIO_NOT_CONVERGED && s->kept) {
            BRIO_CHECK(make_numbers(s));
            memcpy(x, s->cg.b, 3 * sizeof *x * (size_t)A->n);
            status = solve_one(s, A, x);
        }
        if (worst == BRIO_OK || status > BRIO_NOT_CONVERGED) worst = status;
    }
    return worst;
}

static void multilevel_stats(const void *self, BrioLinearStats *stats)
{
    const Multilevel *s = self;
    stats->iterations = s->cg.iterations;
    stats->bytes = 8.0 * 15.0 * s->cg.n + s->hierarchy.bytes;
}

const BrioLinearType brio__solver_multilevel = {
    .name = "multilevel",
    .summary = "Iterative, for large bodies: conjugate gradients with smoothed aggregation.",
    .citation = "Vanek1996",
    .order = brio__order_band,
    .create = multilevel_create,
    .factor = multilevel_factor,
    .solve = multilevel_solve,
    .stats = multilevel_stats,
    .destroy = multilevel_destroy,
    .inexact = true,
    .multiplies = true,
};
