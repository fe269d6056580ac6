/* The strain energy of a step as its dissipation [Kharevych2006, Sec. 5.2]: the material's own
 * energy W of the new pose with the pose at the start of the step as its rest shape,
 *
 *     D_n(q) = beta/h W(q; rest shape q_n),
 *
 * which does not see rigid motions, so the force -grad D_n changes neither linear nor angular
 * momentum. To first order it is the force -beta K v of the unstressed material. The paper's factor
 * k_D is beta/h here, so that beta means the same at every step.
 *
 * Explicit methods take the pose q - h v as the rest shape, one step back: the force is free of
 * torque about q. */
#include "damping.h"

#include <string.h>

typedef struct StrainEnergy {
    const BrioSystem *system;
    BrioTerm *term;
    int count;
    BrioEvaluator *evaluator;
    bool planned;
    const BrioTerm *original; /* the system's */
    double *x, *gradient, *pose;
} StrainEnergy;

static void destroy(void *self)
{
    StrainEnergy *s = self;
    if (!s) return;
    brio__evaluator_free(s->evaluator);
    for (int t = 0; t < s->count; t++) brio__free(s->term[t].rest);
    brio__free(s->term);
    brio__free(s->x);
    brio__free(s->gradient);
    brio__free(s->pose);
    brio__free(s);
}

static BrioStatus create(const BrioSystem *system, const double *values, void **self)
{
    (void)values;
    StrainEnergy *s = brio__calloc(1, sizeof *s);
    if (!s) return BRIO_ERROR_MEMORY;
    s->system = system;
    s->original = system->term;
    BrioStatus status = brio__elastic_evaluator(system, &s->term, &s->count, &s->evaluator);
    for (int t = 0; t < s->count; t++) s->term[t].rest = NULL; /* each gets rest data of its own */
    for (int t = 0; t < s->count && status == BRIO_OK; t++) {
        s->term[t].rest = brio__alloc((size_t)(s->term[t].packs * s->term[t].energy->rest * LANES),
                                      sizeof(double));
        if (!s->term[t].rest) status = BRIO_ERROR_MEMORY;
    }
    s->x = brio__alloc(3 * (size_t)system->vertex_count, sizeof(double));
    s->gradient = brio__alloc(3 * (size_t)system->block_count, sizeof(double));
    s->pose = brio__alloc(3 * (size_t)system->block_count, sizeof(double));
    if (status == BRIO_OK && (!s->x || !s->gradient || !s->pose)) status = BRIO_ERROR_MEMORY;
    if (status == BRIO_OK)
        *self = s;
    else
        destroy(s);
    return status;
}

typedef struct RestWork {
    const BrioTerm *term, *original;
    const double *x;
    bool caged; /* of tets: the body fills them in part */
} RestWork;

/* What multiplies the size of an element's pose: a spring's stiffness; the volume of an affine
 * body, or of what fills a tet of a cage, over that of the tet, 1/(6 det B). */
static double own_scale(const RestWork *work, const double *rest)
{
    const BrioEnergy *energy = work->term->energy;
    bool tets = energy->element == BRIO_ELEMENT_TET;
    if (energy->element == BRIO_ELEMENT_SPRING || (tets && energy->def)) return rest[0];
    if (energy->element != BRIO_ELEMENT_AFFINE && !(tets && work->caged)) return 1;
    double det = 0;
    for (int c = 0; c < 3; c++) {
        int p = (c + 1) % 3, q = (c + 2) % 3;
        det += rest[(1 + c) * LANES] * (rest[(4 + p) * LANES] * rest[(7 + q) * LANES] -
                                        rest[(4 + q) * LANES] * rest[(7 + p) * LANES]);
    }
    return 6 * rest[0] * det;
}

/* The pose x as the rest shape of packs of elements. An element that is flat there (less than a
 * thousandth of its volume) has no strain to measure and is left out (weight 0 in its own rest
 * shape, where energies are finite); one that is inverted counts with its volume's size. */
static void rest_chunk(void *context, int64_t begin, int64_t end)
{
    const RestWork *work = context;
    const BrioTerm *term = work->term;
    const BrioEnergy *energy = term->energy;
    double X[12], rest[16];
    for (int64_t pack = begin; pack < end; pack++)
        for (int i = 0; i < LANES; i++) {
            for (int k = 0; k < energy->nodes; k++)
                memcpy(X + 3 * k, work->x + term->node[(pack * energy->nodes + k) * LANES + i],
                       3 * sizeof *X);
            const double *original = work->original->rest + pack * energy->rest * LANES + i;
            double own = original[0];
            energy->rest_shape(X, own_scale(work, original), NAN, rest);
            rest[0] = fabs(rest[0]);
            /* own = 0: lanes that only fill the last pack */
            bool left_out = !(rest[0] > 1e-3 * own) || own == 0;
            for (int k = 0; k < energy->rest; k++)
                term->rest[(pack * energy->rest + k) * LANES + i] = !left_out ? rest[k]
                                                                    : k > 0   ? original[k * LANES]
                                                                              : 0;
        }
}

/* The pose in s->x becomes the rest shape. */
static void rest_from(StrainEnergy *s)
{
    for (int t = 0, all = 0; t < s->count; t++, all++) {
        while (!brio__energy_is_elastic(s->original[all].energy)) all++;
        const BrioTerm *original = &s->original[all];
        RestWork work = {&s->term[t], original, s->x, s->system->body[original->body].cage != NULL};
        brio__parallel_for(s->term[t].packs, 512, rest_chunk, &work);
    }
}

/* So does the pose at the start of the step. */
static void rest_from_start(StrainEnergy *s, const BrioState *state)
{
    brio__system_positions(s->system, state, state->q, state->time, s->x);
    rest_from(s);
}

static BrioStatus lag(void *self, const double *values, BrioPotential *potential,
                      const BrioState *state, BrioLinear *matrix)
{
    (void)values;
    (void)potential;
    (void)matrix;
    rest_from_start(self, state);
    return BRIO_OK;
}

/* beta/h, with the time h in which the pose at the start of the step became this one. */
static double strength(const double *values, const BrioState *state, const BrioMotion *motion)
{
    double h = motion->time - state->time;
    return values[0] / (h > 0 ? h : motion->over);
}

static double potential(void *self, const double *values, const BrioState *state,
                        const BrioMotion *motion, double *gradient)
{
    StrainEnergy *s = self;
    double k = strength(values, state, motion);
    brio__system_positions(s->system, state, motion->q, motion->time, s->x);
    double W =
        brio__evaluate(s->evaluator, state->param, s->x, gradient ? s->gradient : NULL, NULL);
    brio__partition_sum(s->system->partition, &W, 1);
    if (gradient) {
        brio__partition_complete(s->system->partition, s->gradient);
        brio__combine(s->system, 1, gradient, k, s->gradient, gradient);
    }
    return k * W;
}

static BrioStatus assemble(void *self, const double *values, const BrioState *state,
                           const BrioMotion *motion, double weight, bool project,
                           BrioLinear *matrix)
{
    (void)project; /* it is always projected */
    StrainEnergy *s = self;
    if (!s->planned) BRIO_CHECK(brio__evaluator_plan(s->evaluator, matrix));
    s->planned = true;
    brio__system_positions(s->system, state, motion->q, motion->time, s->x);
    brio__assemble_add(s->evaluator, state->param, s->x, weight * strength(values, state, motion),
                       true, matrix, NULL);
    return BRIO_OK;
}

static void force(void *self, const double *values, const BrioState *state, const double *q,
                  const double *v, double time, double h, double *f)
{
    StrainEnergy *s = self;
    brio__combine(s->system, 1, q, -h, v, s->pose);
    brio__system_positions(s->system, state, s->pose, time - h, s->x);
    rest_from(s);
    brio__system_positions(s->system, state, q, time, s->x);
    brio__evaluate(s->evaluator, state->param, s->x, s->gradient, NULL);
    brio__partition_complete(s->system->partition, s->gradient);
    brio__combine(s->system, 1, f, -values[0] / h, s->gradient, f);
    /* implicit solves of the same step measure against its start */
    rest_from_start(s, state);
}

static const BrioField fields[] = {
    {"beta", BRIO_REAL, "s", 0.001, 0, 1e15, 0,
     "Strength: vibrations of frequency w lose energy at the rate beta w^2."},
    {0}};

BRIO_DAMPING_MODEL(strain_energy){
    .name = "strain-energy",
    .summary = "Damps the strain of each step, measured by the energy of the material: "
               "deformation only, never translation or rotation.",
    .citation = "Kharevych2006",
    .fields = fields,
    .create = create,
    .destroy = destroy,
    .lag = lag,
    .potential = potential,
    .assemble = assemble,
    .force = force,
};
