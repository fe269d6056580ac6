/* Pairs that a step would close, as springs in its model (foresee.h).
 *
 * With A p = -r for the step p so far and its springs S, the springs C that come (k > 0) and go
 * (k < 0) change it by
 *
 *     (A + S + C) dp = -grad C(x + p),
 *
 * so that neither A nor r is needed again: only the blocks of C are added to the overlay, and what
 * comes of it is factored.
 *
 * A spring is the energy of friction far below its eps, where that is the parabola
 * force/eps u^2: with one tangent, n, and the start g of its slide. */
#include "foresee.h"

#include "direction.h"

#include <string.h>

/* How often springs may come and go for one step. */
enum { PASSES = 3 };
/* Stiffness of springs, relative to the diagonal blocks of their vertices. */
#define STIFF 10.0
/* The gap that is left at least: of the distance, and of dhat. */
#define LEFT 0.5
/* So large that no slide is near it. */
#define EPS 1e30

/* Of a spring: 2 force/eps is its stiffness. */
enum { FORCE, WEIGHT, NORMAL = 5, START = 11, REST = 14 };

typedef struct Spring {
    int32_t vertex[4];
    double rest[REST];
} Spring;

struct BrioForesight {
    BrioPairs change; /* springs that come and go in a pass */
    Spring *spring;   /* those that act */
    int64_t count, room;
    double *end;  /* world positions at the end of the step */
    double *kept; /* the step as it was */
    bool out_of_memory;
};

void brio__foresight_free(BrioForesight *f)
{
    if (!f) return;
    brio__pairs_free(&f->change);
    brio__free(f->spring);
    brio__free(f->end);
    brio__free(f->kept);
    brio__free(f);
}

BrioStatus brio__foresight_create(const BrioSystem *system, BrioForesight **foresight)
{
    if (!system->surface || !system->barrier || system->partition || system->row_count)
        return BRIO_OK;
    BrioForesight *f = brio__calloc(1, sizeof *f);
    if (!f) return BRIO_ERROR_MEMORY;
    f->end = brio__alloc(3 * (size_t)system->vertex_count, sizeof *f->end);
    f->kept = brio__alloc(3 * (size_t)system->block_count, sizeof *f->kept);
    f->room = system->surface->vertex_count;
    f->spring = brio__alloc((size_t)f->room, sizeof *f->spring);
    BrioStatus status = f->end && f->kept && f->spring ? BRIO_OK : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK)
        status = brio__pairs_create(&f->change, brio__energy("friction"), false, f->room);
    if (status == BRIO_OK)
        *foresight = f;
    else
        brio__foresight_free(f);
    return status;
}

/* n . sum_i w_i x_i */
static double gap(const int32_t vertex[4], const double w[4], const double n[3], const double *x)
{
    double sum = 0;
    for (int k = 0; k < 4; k++)
        for (int r = 0; r < 3; r++) sum += w[k] * n[r] * x[3 * (int64_t)vertex[k] + r];
    return sum;
}

/* What a pair has of the inverse of the matrix's diagonal, n . sum_i w_i^2 A_ii^-1 n; 0: it does
 * not move. */
static double softness(const BrioSystem *system, const BrioMatrix *A, const BrioClosing *c)
{
    double sum = 0;
    for (int k = 0; k < 4; k++)
        for (int32_t m = system->map_start[c->vertex[k]]; m < system->map_start[c->vertex[k] + 1];
             m++) {
            int32_t J = A->position[system->map_block[m]];
            const double *block = A->value + brio__matrix_slot(A, J, A->start[J]);
            int64_t stride = brio__matrix_stride(A, J);
            for (int r = 0; r < 3; r++) {
                double a = c->w[k] * system->map_weight[m] * c->n[r];
                double diagonal = block[r * stride + r];
                if (diagonal > 0) sum += a * a / diagonal;
            }
        }
    return sum;
}

/* The spring of a pair; false if it needs none. */
static bool make_spring(const BrioProblem *p, const BrioClosing *c, const double *end,
                        Spring *spring)
{
    const BrioSolver *s = p->solver;
    const double *law = p->state->param + s->system->contact_params;
    double dhat = law[BRIO_CONTACT_DHAT], thickness = law[BRIO_CONTACT_THICKNESS];
    double now = gap(c->vertex, c->w, c->n, s->x) - thickness;
    double target = thickness + LEFT * fmin(fmin(c->distance - thickness, dhat), now);
    double soft = softness(s->system, &s->linear->A, c);
    if (!(now > 0) || !(soft > 0) || gap(c->vertex, c->w, c->n, end) >= target) return false;
    memset(spring->rest, 0, sizeof spring->rest);
    memcpy(spring->vertex, c->vertex, sizeof spring->vertex);
    spring->rest[FORCE] = STIFF / soft * EPS / 2;
    memcpy(spring->rest + WEIGHT, c->w, sizeof c->w);
    memcpy(spring->rest + NORMAL, c->n, sizeof c->n);
    spring->rest[START] = target;
    return true;
}

static BrioStatus change_by(BrioForesight *f, const Spring *spring, double sign)
{
    double rest[REST];
    memcpy(rest, spring->rest, sizeof rest);
    rest[FORCE] *= sign;
    return brio__pairs_add(&f->change, spring->vertex, rest);
}

/* Springs that pull go. */
static BrioStatus let_go(BrioForesight *f)
{
    int64_t left = 0;
    for (int64_t i = 0; i < f->count; i++) {
        const Spring *spring = &f->spring[i];
        const double *rest = spring->rest;
        bool pulls = gap(spring->vertex, rest + WEIGHT, rest + NORMAL, f->end) > rest[START];
        if (pulls) BRIO_CHECK(change_by(f, spring, -1));
        if (!pulls) f->spring[left++] = *spring;
    }
    f->count = left;
    return BRIO_OK;
}

/* Springs come for all that the step still closes. */
static BrioStatus take_in(const BrioProblem *p, BrioForesight *f)
{
    const BrioSolver *s = p->solver;
    int64_t count;
    const BrioClosing *closing = brio__contact_closing(brio__potential_contact(p->potential),
                                                       p->state->param, s->x, s->dx, &count);
    if (f->count + count > f->room) {
        int64_t room = 2 * (f->count + count);
        Spring *more = brio__realloc(f->spring, (size_t)f->count, (size_t)room, sizeof *more);
        if (!more) return BRIO_ERROR_MEMORY;
        f->spring = more;
        f->room = room;
    }
    for (int64_t i = 0; i < count; i++) {
        Spring *spring = &f->spring[f->count];
        if (!make_spring(p, &closing[i], f->end, spring)) continue;
        BRIO_CHECK(change_by(f, spring, 1));
        f->count++;
    }
    return BRIO_OK;
}

/* Solves for the change that added and removed springs cause. */
static BrioStatus solve_changed(const BrioProblem *p, const double *q, BrioForesight *f)
{
    BrioSolver *s = p->solver;
    const double eps = EPS;
    memset(s->trial, 0, 3 * (size_t)s->system->block_count * sizeof *s->trial);
    brio__pairs_finish(&f->change);
    BRIO_CHECK(brio__pairs_prepare(&f->change, s->system));
    brio__pairs_evaluate(&f->change, s->system, &eps, f->end, s->trial, NULL);
    brio__system_mask(s->system, s->trial);
    BRIO_CHECK(
        brio__pairs_assemble(&f->change, s->system, &eps, f->end, 1, false, s->linear->overlay));
    BRIO_CHECK(brio__newton_refactor(p, q));
    double before = brio__seconds();
    BrioStatus status = brio__linear_solve(s->linear, 1, s->trial, s->trial);
    s->totals.solve += brio__seconds() - before;
    if (status != BRIO_OK) return status;
    brio__combine(s->system, 1, s->step, -1, s->trial, s->step);
    return isfinite(brio__norm_max(s->system, s->step)) ? BRIO_OK : BRIO_NOT_FINITE;
}

bool brio__limited_by_pairs(const BrioSolver *s)
{
    return s->foresight && s->limit.term && s->limit.term->energy->element == BRIO_ELEMENT_PAIR;
}

void brio__foresight_swap(const BrioProblem *p)
{
    BrioSolver *s = p->solver;
    double *kept = s->foresight->kept;
    s->foresight->kept = s->step;
    s->step = kept;
}

bool brio__foresight_out_of_memory(BrioForesight *f)
{
    bool any = f && f->out_of_memory;
    if (f) f->out_of_memory = false;
    return any;
}

bool brio__foresee(const BrioProblem *p, const double *q, BrioAimFn *aim)
{
    BrioSolver *s = p->solver;
    BrioForesight *f = s->foresight;
    BrioStatus status = BRIO_OK;
    bool changed = false;
    memcpy(f->kept, s->step, 3 * (size_t)s->system->block_count * sizeof *f->kept);
    f->count = 0;
    for (int pass = 0; pass < PASSES && status == BRIO_OK; pass++) {
        aim(p, q);
        for (int64_t k = 0; k < 3 * s->system->vertex_count; k++) f->end[k] = s->x[k] + s->dx[k];
        brio__pairs_clear(&f->change);
        status = let_go(f);
        if (status == BRIO_OK) status = take_in(p, f);
        if (status == BRIO_OK && f->change.term.elements == 0) break;
        if (status == BRIO_OK) status = brio__problem_look(p);
        if (status == BRIO_OK) status = solve_changed(p, q, f);
        changed = true;
    }
    f->out_of_memory |= status == BRIO_ERROR_MEMORY;
    if (status != BRIO_OK) brio__foresight_swap(p);
    return changed && status == BRIO_OK;
}
