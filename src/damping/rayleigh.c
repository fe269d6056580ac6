/* Rayleigh's damping with the force -(alpha M + beta K_n) v, semi-implicit [You2026, Eq. 17;
 * Gast2015]: K_n is the Hessian of the elastic energies at the start of the step, projected to
 * semidefinite element by element, so that it never feeds energy.
 *
 *     D_n(q) = 1/(2h) d.(alpha M + beta K_n) d,     d = q - q_n
 *
 * (or the displacement and time of the method's own velocity). Since K_n is not K(q), implicit
 * methods of higher order are of first order in beta on nonlinear materials; in alpha they keep
 * their order. Explicit methods take K at the pose of the force.
 *
 * The stiffness part leaves translations alone. It does brake the rotation of a body under stress,
 * since K (w x x) is not zero there: the strain-energy model is the one that does not. */
#include "damping.h"

#include <string.h>

enum { ALPHA, BETA };

typedef struct Rayleigh {
    const BrioSystem *system;
    BrioLinear *matrix; /* whose pattern K has */
    BrioTerm *term;
    BrioEvaluator *evaluator;
    bool planned, elsewhere; /* elsewhere: K is that of another pose than the start of the step */
    double *stiffness;       /* K_n: the values of a matrix with that pattern */
    double *d, *image;       /* displacement or velocity, and its image */
    double *momentum;        /* M d */
    double *x;               /* world positions at the start of the step */
} Rayleigh;

static void destroy(void *self)
{
    Rayleigh *r = self;
    if (!r) return;
    brio__evaluator_free(r->evaluator);
    brio__free(r->term);
    brio__free(r->stiffness);
    brio__free(r->d);
    brio__free(r->image);
    brio__free(r->momentum);
    brio__free(r->x);
    brio__free(r);
}

static BrioStatus create(const BrioSystem *system, const double *values, void **self)
{
    Rayleigh *r = brio__calloc(1, sizeof *r);
    if (!r) return BRIO_ERROR_MEMORY;
    (void)values; /* may change: beta > 0 asks for more, which `lag` makes */
    size_t coordinates = 3 * (size_t)system->block_count;
    r->d = brio__alloc(coordinates, sizeof(double));
    r->image = brio__alloc(coordinates, sizeof(double));
    r->system = system;
    r->momentum = brio__alloc(coordinates, sizeof(double));
    r->x = brio__alloc(3 * (size_t)system->vertex_count, sizeof(double));
    if (r->d && r->image && r->momentum && r->x) return *self = r, BRIO_OK;
    destroy(r);
    return BRIO_ERROR_MEMORY;
}

static size_t matrix_size(const BrioMatrix *A) { return 9 * (size_t)A->start[A->n]; }

/* The matrix with the values of K instead of its own. */
static BrioLinear view_of(const Rayleigh *r)
{
    (void)brio__matrix_rows(&r->matrix->A); /* so that products are threaded */
    BrioLinear view = *r->matrix;
    view.A.value = r->stiffness;
    view.overlay = NULL;
    return view;
}

/* K at the coordinates q. */
static void stiffness_at(Rayleigh *r, const BrioState *state, const double *q, double time)
{
    BrioLinear K = view_of(r);
    brio__system_positions(r->system, state, q, time, r->x);
    brio__assemble(r->evaluator, state->param, r->x, 0, 1, true, &K, NULL);
}

static bool needs_matrix(const double *values) { return values[BETA] > 0; }

static BrioStatus lag(void *self, const double *values, BrioPotential *potential,
                      const BrioState *state, BrioLinear *matrix)
{
    (void)potential;
    Rayleigh *r = self;
    if (!needs_matrix(values)) return BRIO_OK;
    r->matrix = matrix;
    if (!r->planned) {
        int count;
        if (!r->evaluator)
            BRIO_CHECK(brio__elastic_evaluator(r->system, &r->term, &count, &r->evaluator));
        BRIO_CHECK(brio__evaluator_plan(r->evaluator, matrix));
        r->stiffness = brio__alloc(matrix_size(&matrix->A), sizeof(double));
        if (!r->stiffness) return BRIO_ERROR_MEMORY;
        r->planned = true;
    }
    stiffness_at(r, state, state->q, state->time);
    r->elsewhere = false;
    return BRIO_OK;
}

static void return_to_start(Rayleigh *r, const double *values, const BrioState *state)
{
    if (r->elsewhere && values[BETA] > 0) stiffness_at(r, state, state->q, state->time);
    r->elsewhere = false;
}

/* image = (alpha M + beta K_n) d */
static void apply(Rayleigh *r, const double *values, const double *d)
{
    const BrioSystem *system = r->system;
    if (values[BETA] > 0) {
        BrioLinear K = view_of(r);
        brio__linear_multiply(&K, d, r->image);
        brio__partition_complete(system->partition, r->image);
    } else {
        memset(r->image, 0, 3 * (size_t)system->block_count * sizeof(double));
    }
    if (values[ALPHA] > 0) {
        brio__mass_multiply(system, d, r->momentum);
        brio__combine(system, values[BETA], r->image, values[ALPHA], r->momentum, r->image);
    } else {
        brio__combine(system, values[BETA], r->image, 0, r->image, r->image);
    }
}

static double potential(void *self, const double *values, const BrioState *state,
                        const BrioMotion *motion, double *gradient)
{
    Rayleigh *r = self;
    return_to_start(r, values, state);
    brio__combine(r->system, 1, motion->q, -1, motion->from, r->d);
    apply(r, values, r->d);
    if (gradient) brio__combine(r->system, 1, gradient, 1 / motion->over, r->image, gradient);
    return brio__dot(r->system, r->d, r->image) / (2 * motion->over);
}

static BrioStatus assemble(void *self, const double *values, const BrioState *state,
                           const BrioMotion *motion, double weight, bool project,
                           BrioLinear *matrix)
{
    (void)project; /* it is always projected */
    Rayleigh *r = self;
    return_to_start(r, values, state);
    BrioMatrix *A = &matrix->A;
    double w = weight * values[BETA] / motion->over;
    for (size_t i = 0; values[BETA] > 0 && i < matrix_size(A); i++)
        A->value[i] += w * r->stiffness[i];
    if (values[ALPHA] > 0)
        brio__assemble_add_masses(r->system, weight * values[ALPHA] / motion->over, matrix);
    return BRIO_OK;
}

static void force(void *self, const double *values, const BrioState *state, const double *q,
                  const double *v, double time, double h, double *f)
{
    (void)h;
    Rayleigh *r = self;
    if (memcmp(q, state->q, (size_t)state->coordinates * sizeof *q) == 0) {
        return_to_start(r, values, state);
    } else if (values[BETA] > 0) {
        stiffness_at(r, state, q, time);
        r->elsewhere = true;
    }
    apply(r, values, v);
    brio__combine(r->system, 1, f, -1, r->image, f);
}

static const BrioField fields[] = {{"alpha", BRIO_REAL, "1/s", 0, 0, 1e15, 0,
                                    "Coefficient of the mass: damps every motion at this rate."},
                                   {"beta", BRIO_REAL, "s", 0, 0, 1e15, 0,
                                    "Coefficient of the stiffness: damps vibrations, fast ones "
                                    "most."},
                                   {0}};

BRIO_DAMPING_MODEL(rayleigh){
    .name = "rayleigh",
    .summary = "A combination of mass and stiffness at the start of the step; the stiffness part "
               "damps vibrations, fast ones most.",
    .citation = "You2026",
    .brakes_translation = true,
    .brakes_rotation = true,
    .fields = fields,
    .create = create,
    .destroy = destroy,
    .needs_matrix = needs_matrix,
    .lag = lag,
    .potential = potential,
    .assemble = assemble,
    .force = force,
};
