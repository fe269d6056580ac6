/* Hands: their energy, and Woodbury's formula for solves with a constant matrix (hands.h). */
#include "hands.h"

#include "potential.h"

#include <string.h>

void brio__grip_place(const BrioGrip *grip, const double *x, double c[3])
{
    for (int r = 0; r < 3; r++) c[r] = 0;
    for (int i = 0; i < 3 && grip->vertex[i] >= 0; i++)
        for (int r = 0; r < 3; r++) c[r] += grip->weight[i] * x[3 * (int64_t)grip->vertex[i] + r];
}

static double energy_at(const BrioGrip *grip, const double c[3])
{
    double square = 0;
    for (int r = 0; r < 3; r++) square += (c[r] - grip->point[r]) * (c[r] - grip->point[r]);
    return grip->k / 2 * square;
}

double brio__grip_energy(const BrioGrip *grip, const double *x)
{
    double c[3];
    brio__grip_place(grip, x, c);
    return energy_at(grip, c);
}

double brio__hands_evaluate(const BrioSystem *s, const BrioState *state, const double *x,
                            double *gradient)
{
    double sum = 0;
    for (int h = 0; h < BRIO_MAX_HANDS; h++) {
        const BrioGrip *grip = &state->hand[h];
        if (grip->k == 0) continue;
        double c[3];
        brio__grip_place(grip, x, c);
        sum += energy_at(grip, c);
        for (int i = 0; gradient && i < 3 && grip->vertex[i] >= 0; i++)
            for (int32_t m = s->map_start[grip->vertex[i]]; m < s->map_start[grip->vertex[i] + 1];
                 m++)
                for (int r = 0; r < 3; r++)
                    gradient[3 * (int64_t)s->map_block[m] + r] +=
                        grip->k * grip->weight[i] * s->map_weight[m] * (c[r] - grip->point[r]);
    }
    return sum;
}

void brio__grip_blocks(const BrioSystem *s, const BrioGrip *grip, BrioGripBlocks *blocks)
{
    blocks->count = 0;
    for (int i = 0; i < 3 && grip->vertex[i] >= 0; i++)
        for (int32_t m = s->map_start[grip->vertex[i]]; m < s->map_start[grip->vertex[i] + 1];
             m++) {
            int at = 0;
            while (at < blocks->count && blocks->block[at] != s->map_block[m]) at++;
            if (at == blocks->count) {
                blocks->block[at] = s->map_block[m];
                blocks->weight[at] = 0;
                blocks->count++;
            }
            blocks->weight[at] += grip->weight[i] * s->map_weight[m];
        }
}

/* Adds a multiple of the identity to block (a, b), which is there because some element has both. */
static void add_multiple(BrioMatrix *A, int32_t a, int32_t b, double value)
{
    bool transposed; /* of no consequence */
    int64_t block = brio__matrix_find(A, a, b, &transposed);
    int32_t J = BRIO_MIN(A->position[a], A->position[b]);
    int64_t slot = brio__matrix_slot(A, J, block), stride = brio__matrix_stride(A, J);
    for (int r = 0; r < 3; r++) A->value[slot + r * stride + r] += value;
}

void brio__hands_assemble(const BrioSystem *s, const BrioState *state, double weight,
                          BrioLinear *linear)
{
    for (int h = 0; h < BRIO_MAX_HANDS; h++) {
        if (state->hand[h].k == 0) continue;
        BrioGripBlocks at;
        brio__grip_blocks(s, &state->hand[h], &at);
        for (int i = 0; i < at.count; i++)
            for (int j = 0; j <= i; j++)
                add_multiple(&linear->A, at.block[i], at.block[j],
                             weight * state->hand[h].k * at.weight[i] * at.weight[j]);
    }
}

/* w.x for one hand: three numbers. */
static void gather(const BrioGripBlocks *at, const double *x, double out[3])
{
    for (int r = 0; r < 3; r++) out[r] = 0;
    for (int i = 0; i < at->count; i++)
        for (int r = 0; r < 3; r++) out[r] += at->weight[i] * x[3 * (int64_t)at->block[i] + r];
}

/* ---- the member of the potential -------------------------------------------------------- */

static BrioStatus create(const BrioSystem *system, BrioSolveTotals *totals, void **self)
{
    (void)totals;
    *self = (void *)system; /* hands belong to the state: nothing else is needed */
    return BRIO_OK;
}

static void destroy(void *self) { (void)self; }

static double value(void *self, const BrioPose *pose, double *gradient, double *term_energy)
{
    (void)term_energy;
    return brio__hands_evaluate(self, pose->state, pose->x, gradient);
}

static void split(void *self, const BrioPose *pose, const BrioSplit *to)
{
    BrioState alone = *pose->state; /* the head of it, with one hand at a time */
    for (int h = 0; h < BRIO_MAX_HANDS; h++) {
        if (pose->state->hand[h].k == 0) continue;
        memset(alone.hand, 0, sizeof alone.hand);
        alone.hand[h] = pose->state->hand[h];
        *brio__split_place(to, alone.hand[h].vertex[0]) +=
            brio__hands_evaluate(self, &alone, pose->x, NULL);
    }
}

/* Nodes of a cage without coordinates may carry a grabbed vertex, too. */
static void fixed_gradient(void *self, const BrioPose *pose, double *gradient)
{
    const BrioSystem *s = self;
    for (int h = 0; h < BRIO_MAX_HANDS; h++) {
        const BrioGrip *grip = &pose->state->hand[h];
        double c[3];
        if (grip->k == 0) continue;
        brio__grip_place(grip, pose->x, c);
        for (int i = 0; i < 3 && grip->vertex[i] >= 0; i++) {
            int32_t node[4];
            double weight[4];
            int carriers = brio__system_carriers(s, grip->vertex[i], node, weight);
            for (int k = 0; k < carriers; k++) {
                int64_t at = 3 * brio__system_fixed_index(s, node[k]);
                for (int r = 0; r < 3; r++)
                    gradient[at + r] +=
                        grip->k * grip->weight[i] * weight[k] * (c[r] - grip->point[r]);
            }
        }
    }
}

static BrioStatus hessian(void *self, const BrioPose *pose, double weight, bool project,
                          BrioLinear *matrix)
{
    (void)project; /* springs of no length: it is semidefinite */
    brio__hands_assemble(self, pose->state, weight, matrix);
    return BRIO_OK;
}

BRIO_MEMBER(hands){
    .name = "hands",
    .create = create,
    .destroy = destroy,
    .value = value,
    .fixed_gradient = fixed_gradient,
    .hessian = hessian,
    .split = split,
};

/* ---- Woodbury's formula ----------------------------------------------------------------- */

void brio__hand_columns_forget(BrioHandColumns *columns)
{
    for (int h = 0; h < BRIO_MAX_HANDS; h++) columns->grip[h].k = 0;
}

void brio__hand_columns_free(BrioHandColumns *columns)
{
    for (int h = 0; h < BRIO_MAX_HANDS; h++) brio__free(columns->column[h]);
}

static bool same_place(const BrioGrip *a, const BrioGrip *b)
{
    return a->k != 0 && !memcmp(a->vertex, b->vertex, sizeof a->vertex) &&
           !memcmp(a->weight, b->weight, sizeof a->weight);
}

/* Z for one hand. It is solved for alone, so that its bits are the same whoever else holds on. */
static BrioStatus make_column(BrioHandColumns *columns, int h, const BrioGripBlocks *at, int64_t n,
                              const BrioScalarFactor *factor, double *scratch)
{
    if (!columns->column[h]) columns->column[h] = brio__alloc((size_t)n, sizeof(double));
    if (!columns->column[h]) return BRIO_ERROR_MEMORY;
    memset(scratch, 0, 3 * (size_t)n * sizeof *scratch);
    for (int i = 0; i < at->count; i++) scratch[3 * (int64_t)at->block[i]] = at->weight[i];
    brio__scalar_solve(factor, scratch, scratch);
    for (int64_t b = 0; b < n; b++) columns->column[h][b] = scratch[3 * b];
    return BRIO_OK;
}

/* lower lower^T = I + D W^T Z D by Cholesky's method. Pivots of the exact matrix are 1 at least;
 * those of a factor in single precision may come out less where hands are far stiffer than what
 * they hold. */
static void factor_small(BrioHandSolve *solve)
{
    for (int i = 0; i < solve->count; i++)
        for (int j = 0; j <= i; j++) {
            double sum = i == j ? 1 : 0;
            for (int k = 0; k < solve->at[i].count; k++)
                sum += solve->root[i] * solve->root[j] * solve->at[i].weight[k] *
                       solve->column[j][solve->at[i].block[k]];
            for (int k = 0; k < j; k++) sum -= solve->lower[i][k] * solve->lower[j][k];
            solve->lower[i][j] = i == j ? sqrt(fmax(sum, 1)) : sum / solve->lower[j][j];
        }
}

BrioStatus brio__hand_solve_begin(BrioHandSolve *solve, BrioHandColumns *columns,
                                  const BrioSystem *system, const BrioState *state, double s,
                                  const BrioScalarFactor *factor, double *scratch)
{
    solve->count = 0;
    for (int h = 0; h < BRIO_MAX_HANDS; h++) {
        const BrioGrip *grip = &state->hand[h];
        if (grip->k == 0) continue;
        BrioGripBlocks *at = &solve->at[solve->count];
        brio__grip_blocks(system, grip, at);
        if (!same_place(&columns->grip[h], grip)) {
            columns->grip[h].k = 0;
            BRIO_CHECK(make_column(columns, h, at, system->block_count, factor, scratch));
            columns->grip[h] = *grip;
        }
        solve->column[solve->count] = columns->column[h];
        solve->root[solve->count++] = sqrt(s * grip->k);
    }
    factor_small(solve);
    return BRIO_OK;
}

typedef struct CorrectWork {
    const BrioHandSolve *solve;
    double (*pull)[3];
    double *y;
} CorrectWork;

/* A tile of Z times the pulls at a time, so that y is read once, however many hands there are. */
static void correct_chunk(void *context, int64_t begin, int64_t end)
{
    enum { TILE = 64 };
    const CorrectWork *work = context;
    for (int64_t first = begin; first < end; first += TILE) {
        int64_t size = BRIO_MIN(end - first, (int64_t)TILE);
        double sum[3][TILE] = {{0}}, *y = work->y + 3 * first;
        for (int h = 0; h < work->solve->count; h++) {
            const double *z = work->solve->column[h] + first, *t = work->pull[h];
            for (int64_t i = 0; i < size; i++) {
                sum[0][i] += z[i] * t[0];
                sum[1][i] += z[i] * t[1];
                sum[2][i] += z[i] * t[2];
            }
        }
        for (int64_t i = 0; i < size; i++)
            for (int r = 0; r < 3; r++) y[3 * i + r] -= sum[r][i];
    }
}

void brio__hand_solve_correct(const BrioHandSolve *solve, const BrioSystem *system, double *y)
{
    double pull[BRIO_MAX_HANDS][3];
    if (!solve->count) return;
    for (int h = 0; h < solve->count; h++) gather(&solve->at[h], y, pull[h]);
    for (int r = 0; r < 3; r++) {
        for (int i = 0; i < solve->count; i++) {
            double sum = solve->root[i] * pull[i][r];
            for (int j = 0; j < i; j++) sum -= solve->lower[i][j] * pull[j][r];
            pull[i][r] = sum / solve->lower[i][i];
        }
        for (int i = solve->count - 1; i >= 0; i--) {
            double sum = pull[i][r];
            for (int j = i + 1; j < solve->count; j++) sum -= solve->lower[j][i] * pull[j][r];
            pull[i][r] = sum / solve->lower[i][i];
        }
        for (int i = 0; i < solve->count; i++) pull[i][r] *= solve->root[i];
    }
    brio__parallel_for(system->block_count, 4096, correct_chunk, &(CorrectWork){solve, pull, y});
}

void brio__hand_solve_column_sums(const BrioHandSolve *solve, double *sum)
{
    for (int h = 0; h < solve->count; h++) {
        const BrioGripBlocks *at = &solve->at[h];
        double all = 0;
        for (int i = 0; i < at->count; i++) all += at->weight[i];
        for (int i = 0; i < at->count; i++)
            sum[at->block[i]] += solve->root[h] * solve->root[h] * all * at->weight[i];
    }
}
