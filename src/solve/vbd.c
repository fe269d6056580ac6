/* Vertex block descent [Chen2024]: the primitive by sweeps over vertices, each of which takes a
 * Newton step of its own three coordinates while all others stand still,
 *
 *     q_i -= H_i^-1 g_i,    g_i = m_i (q_i - target_i) + s a sum_e grad_i E_e(y),
 *     H_i = m_i + s a^2 sum_e (d2E_e/dx_i2 projected),
 *
 * summed over the elements e that meet it. Vertices without a common element have the same colour:
 * they are moved at once, by all threads, and colours one after the other. Colours are given in the
 * order of the blocks, and sums have a fixed order: the same bits for any number of threads.
 *
 * What is no element (damping, forces) stays as it is during a sweep, with its gradient where the
 * sweep begins; hands are taken exactly. A sweep is a step of Gauss and Seidel's method for a
 * definite matrix, so its step descends. After it brio evaluates the objective: while that
 * has risen, the step is halved. So it falls with every sweep, which the paper has where sweeps are
 * exact and steps small. A solve has a fixed number of sweeps (`iterations`), as there; there is no
 * Chebyshev acceleration. */
#include "problem.h"

#include "../contact/law.h"
#include "../potential/hands.h"

#include <string.h>

enum { VALUES = 12, PACKS = 16, BLOCKS = 128, HALVINGS = 30 };

/* Elements of one term that touch one colour, packed again: each has one vertex of that colour. */
typedef struct Piece {
    const BrioTerm *term;
    int64_t count, packs, first; /* first: of its numbers in `share` */
    int64_t *element;            /* of the term */
    int8_t *corner;              /* which node has the colour */
    int32_t *node;
    double *rest, *live;
} Piece;

typedef struct BrioVbd {
    const BrioSystem *system;
    int colours;
    int32_t *colour;       /* of blocks */
    int64_t *colour_start; /* into */
    int32_t *block;        /* blocks by colour */
    int32_t *vertex;       /* of blocks; -1: of none */
    Piece *piece;          /* [colour][term] */
    int64_t *entry_start;  /* of blocks: into */
    int64_t *entry;        /* numbers of elements in `share` */
    double *share;         /* gradient and Hessian block of an element's vertex, VALUES each */
    double *before, *other, *elements;
} BrioVbd;

static void destroy(void *self)
{
    BrioVbd *g = self;
    int pieces = g->piece ? g->colours * g->system->term_count : 0;
    for (int i = 0; i < pieces; i++) {
        void *arrays[] = {g->piece[i].element, g->piece[i].corner, g->piece[i].node,
                          g->piece[i].rest, g->piece[i].live};
        for (size_t k = 0; k < BRIO_COUNT(arrays); k++) brio__free(arrays[k]);
    }
    void *arrays[] = {g->colour, g->colour_start, g->block,  g->vertex, g->piece,   g->entry_start,
                      g->entry,  g->share,        g->before, g->other,  g->elements};
    for (size_t k = 0; k < BRIO_COUNT(arrays); k++) brio__free(arrays[k]);
    brio__free(g);
}

/* ---- colours and pieces ----------------------------------------------------------------- */

/* The smallest colour that no neighbour has, block by block. `used`: room for as many. */
static void choose_colours(BrioVbd *g, const int64_t *start, const int32_t *neighbour,
                           int32_t *used)
{
    int32_t blocks = g->system->block_count;
    for (int32_t b = 0; b < blocks; b++) g->colour[b] = used[b] = -1;
    for (int32_t b = 0; b < blocks; b++) {
        for (int64_t k = start[b]; k < start[b + 1]; k++)
            if (g->colour[neighbour[k]] >= 0) used[g->colour[neighbour[k]]] = b;
        int32_t colour = 0;
        while (used[colour] == b) colour++;
        g->colour[b] = colour;
        g->colours = BRIO_MAX(g->colours, colour + 1);
    }
}

static BrioStatus create_colours(BrioSolver *s, BrioVbd *g)
{
    size_t n = (size_t)g->system->block_count;
    int64_t *start = NULL;
    int32_t *neighbour = NULL, *used = brio__alloc(n, sizeof *used);
    BrioStatus status = brio__potential_graph(s->potential, &start, &neighbour);
    g->colour = brio__alloc(n, sizeof *g->colour);
    g->block = brio__alloc(n, sizeof *g->block);
    if (status == BRIO_OK && !(used && g->colour && g->block)) status = BRIO_ERROR_MEMORY;
    if (status == BRIO_OK) {
        choose_colours(g, start, neighbour, used);
        g->colour_start = brio__calloc((size_t)g->colours + 1, sizeof *g->colour_start);
        if (!g->colour_start) status = BRIO_ERROR_MEMORY;
    }
    for (int c = 0; status == BRIO_OK && c < g->colours; c++) {
        int64_t at = g->colour_start[c];
        for (int32_t b = 0; b < g->system->block_count; b++)
            if (g->colour[b] == c) g->block[at++] = b;
        g->colour_start[c + 1] = at;
    }
    brio__free(start);
    brio__free(neighbour);
    brio__free(used);
    return status;
}

/* The block of node k of an element; -1: it is fixed. */
static int32_t block_of(const BrioSystem *system, const BrioTerm *term, int64_t element, int k)
{
    int32_t vertex = brio__term_vertex(term, element, k), at = system->map_start[vertex];
    return system->map_start[vertex + 1] > at ? system->map_block[at] : -1;
}

/* Copies an element into its place; the rest of the last pack repeats it with the weight 0. */
static void put_element(Piece *p, int64_t at, int64_t element, bool real)
{
    const BrioTerm *term = p->term;
    const BrioEnergy *energy = term->energy;
    int64_t to = at / LANES, from = element / LANES;
    int place = (int)(at % LANES), old = (int)(element % LANES);
    for (int k = 0; k < energy->nodes; k++)
        p->node[(to * energy->nodes + k) * LANES + place] =
            term->node[(from * energy->nodes + k) * LANES + old];
    for (int k = 0; k < energy->rest; k++)
        p->rest[(to * energy->rest + k) * LANES + place] =
            k == 0 && !real ? 0 : term->rest[(from * energy->rest + k) * LANES + old];
}

static BrioStatus create_piece(const BrioVbd *g, int colour, const BrioTerm *term, int64_t first,
                               Piece *p)
{
    const BrioEnergy *energy = term->energy;
    *p = (Piece){.term = term, .first = first};
    for (int64_t e = 0; e < term->elements; e++)
        for (int k = 0; k < energy->nodes; k++) {
            int32_t b = block_of(g->system, term, e, k);
            p->count += b >= 0 && g->colour[b] == colour;
        }
    p->packs = (p->count + LANES - 1) / LANES;
    if (p->count == 0) return BRIO_OK;
    size_t lanes = (size_t)p->packs * LANES;
    p->element = brio__alloc(lanes, sizeof *p->element);
    p->corner = brio__alloc(lanes, sizeof *p->corner);
    p->node = brio__alloc(lanes * (size_t)energy->nodes, sizeof *p->node);
    p->rest = brio__alloc(lanes * (size_t)energy->rest, sizeof *p->rest);
    p->live = brio__alloc(lanes * (size_t)BRIO_MAX(energy->live, 1), sizeof *p->live);
    if (!p->element || !p->corner || !p->node || !p->rest || !p->live) return BRIO_ERROR_MEMORY;
    int64_t at = 0;
    for (int64_t e = 0; e < term->elements; e++)
        for (int k = 0; k < energy->nodes; k++) {
            int32_t b = block_of(g->system, term, e, k);
            if (b < 0 || g->colour[b] != colour) continue;
            p->element[at] = e;
            p->corner[at] = (int8_t)k;
            put_element(p, at++, e, true);
        }
    for (; at < (int64_t)lanes; at++) {
        p->element[at] = p->element[p->count - 1];
        p->corner[at] = p->corner[p->count - 1];
        put_element(p, at, p->element[at], false);
    }
    return BRIO_OK;
}

/* Which elements each block adds up, in the order of the pieces. */
static BrioStatus create_entries(BrioVbd *g, int64_t lanes)
{
    int32_t n = g->system->block_count;
    int pieces = g->colours * g->system->term_count;
    g->entry_start = brio__calloc((size_t)n + 2, sizeof *g->entry_start);
    g->entry = brio__alloc((size_t)lanes + 1, sizeof *g->entry);
    g->share = brio__alloc(((size_t)lanes + 1) * VALUES, sizeof *g->share);
    if (!g->entry_start || !g->entry || !g->share) return BRIO_ERROR_MEMORY;
    for (int fill = 0; fill < 2; fill++) {
        for (int i = 0; i < pieces; i++) {
            const Piece *p = &g->piece[i];
            for (int64_t k = 0; k < p->count; k++) {
                int32_t b = block_of(g->system, p->term, p->element[k], p->corner[k]);
                if (fill)
                    g->entry[g->entry_start[b + 1]++] = p->first + k;
                else
                    g->entry_start[b + 2]++;
            }
        }
        for (int32_t b = 0; !fill && b < n; b++) g->entry_start[b + 2] += g->entry_start[b + 1];
    }
    return BRIO_OK;
}

static BrioStatus create(BrioSolver *s)
{
    const BrioSystem *system = s->system;
    size_t n = (size_t)system->block_count;
    BrioVbd *g = brio__calloc(1, sizeof *g);
    if (!g) return BRIO_ERROR_MEMORY;
    g->system = system;
    BrioStatus status = create_colours(s, g);
    g->vertex = brio__alloc(n, sizeof *g->vertex);
    g->before = brio__alloc(3 * n, sizeof *g->before);
    g->other = brio__calloc(3 * n, sizeof *g->other);
    g->elements = brio__alloc(3 * n, sizeof *g->elements);
    g->piece = brio__calloc((size_t)g->colours * (size_t)system->term_count + 1, sizeof *g->piece);
    if (!g->vertex || !g->before || !g->other || !g->elements || !g->piece)
        status = BRIO_ERROR_MEMORY;
    int64_t lanes = 0;
    for (int i = 0; status == BRIO_OK && i < g->colours * system->term_count; i++) {
        const BrioTerm *term = &system->term[i % system->term_count];
        status = create_piece(g, i / system->term_count, term, lanes, &g->piece[i]);
        lanes += g->piece[i].packs * LANES;
    }
    if (status == BRIO_OK) status = create_entries(g, lanes);
    for (size_t b = 0; status == BRIO_OK && b < n; b++) g->vertex[b] = -1;
    for (int64_t v = 0; status == BRIO_OK && v < system->vertex_count; v++)
        if (system->map_start[v + 1] > system->map_start[v])
            g->vertex[system->map_block[system->map_start[v]]] = (int32_t)v;
    if (status == BRIO_OK)
        s->self = g;
    else
        destroy(g);
    return status;
}

/* ---- a sweep ---------------------------------------------------------------------------- */

typedef struct Sweep {
    const BrioProblem *p;
    BrioVbd *g;
    double *q;
    const Piece *piece;
    int64_t first;        /* of the colour's blocks */
    BrioGripBlocks *hand; /* of all hands; count 0: it holds nothing */
} Sweep;

/* Gradients and Hessian blocks of the vertices of one colour in some packs of a piece. */
static void share_packs(void *context, int64_t begin, int64_t end)
{
    const Sweep *w = context;
    const Piece *p = w->piece;
    const BrioEnergy *energy = p->term->energy;
    _Alignas(BRIO_ALIGN) double gradient[12 * LANES], hessian[90 * LANES];
    bool linear = energy->traits & BRIO_ENERGY_LINEAR;
    for (int64_t pack = begin; pack < end; pack++) {
        BrioBatch batch = brio__term_batch(p->term, w->p->state->param, w->p->solver->x);
        batch.node = p->node + pack * energy->nodes * LANES;
        batch.rest = p->rest + pack * energy->rest * LANES;
        batch.live = p->live + pack * energy->live * LANES;
        batch.begin = 0;
        batch.end = 1;
        batch.gradient = gradient;
        batch.hessian = linear ? NULL : hessian;
        batch.project = true;
        energy->eval(&batch);
        for (int place = 0; place < LANES; place++) {
            int64_t at = pack * LANES + place;
            double *share = w->g->share + (p->first + at) * VALUES;
            int k = p->corner[at], pair = brio__pair(k, k);
            for (int r = 0; r < 3; r++) share[r] = gradient[(3 * k + r) * LANES + place];
            for (int r = 0; r < 9; r++)
                share[3 + r] = linear ? 0 : hessian[(9 * pair + r) * LANES + place];
        }
    }
}

/* x of H x = b, H symmetric and positive definite: Cholesky. */
static void solve3(double H[3][3], double b[3])
{
    for (int j = 0; j < 3; j++) {
        for (int k = 0; k < j; k++) H[j][j] -= H[j][k] * H[j][k];
        H[j][j] = sqrt(H[j][j]);
        for (int i = j + 1; i < 3; i++) {
            for (int k = 0; k < j; k++) H[i][j] -= H[i][k] * H[j][k];
            H[i][j] /= H[j][j];
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < i; k++) b[i] -= H[i][k] * b[k];
        b[i] /= H[i][i];
    }
    for (int i = 2; i >= 0; i--) {
        for (int k = i + 1; k < 3; k++) b[i] -= H[k][i] * b[k];
        b[i] /= H[i][i];
    }
}

/* Adds what hands do to a block. */
static void add_hands(const Sweep *w, int32_t block, double first, double second, double g[3],
                      double H[3][3])
{
    for (int h = 0; h < BRIO_MAX_HANDS; h++) {
        const BrioGrip *grip = &w->p->state->hand[h];
        for (int i = 0; i < w->hand[h].count; i++) {
            if (w->hand[h].block[i] != block) continue;
            double weight = w->hand[h].weight[i];
            for (int r = 0; r < 3; r++) {
                double c = 0;
                for (int k = 0; k < 3 && grip->vertex[k] >= 0; k++)
                    c += grip->weight[k] * w->p->solver->x[3 * (int64_t)grip->vertex[k] + r];
                g[r] += first * grip->k * weight * (c - grip->point[r]);
                H[r][r] += second * grip->k * weight * weight;
            }
        }
    }
}

/* Newton's step of each of some blocks of the colour. */
static void move_blocks(void *context, int64_t begin, int64_t end)
{
    const Sweep *w = context;
    const BrioVbd *g = w->g;
    const BrioSystem *system = g->system;
    const BrioObjective *o = w->p->objective;
    double first = o->s * o->a, second = o->s * o->a * o->a;
    for (int64_t i = begin; i < end; i++) {
        int32_t b = g->block[w->first + i];
        double H[3][3] = {{0}}, step[3], *q = w->q + 3 * (int64_t)b;
        for (int r = 0; r < 3; r++) step[r] = g->other[3 * (int64_t)b + r];
        for (int64_t k = g->entry_start[b]; k < g->entry_start[b + 1]; k++) {
            const double *share = g->share + g->entry[k] * VALUES;
            for (int r = 0; r < 3; r++) step[r] += first * share[r];
            for (int r = 0; r < 9; r++) H[r / 3][r % 3] += second * share[3 + r];
        }
        add_hands(w, b, first, second, step, H);
        for (int r = 0; r < 3; r++) {
            step[r] += system->mass[b] * (q[r] - o->target[3 * (int64_t)b + r]);
            H[r][r] += system->mass[b];
        }
        for (int r = 0; system->axes && r < 3; r++) {
            if (!(system->axes[b] >> r & 1)) continue;
            for (int k = 0; k < 3; k++) H[r][k] = H[k][r] = 0;
            H[r][r] = 1;
            step[r] = 0;
        }
        solve3(H, step);
        for (int r = 0; r < 3; r++) {
            q[r] -= step[r];
            w->p->solver->x[3 * (int64_t)g->vertex[b] + r] -= o->a * step[r];
        }
    }
}

/* Parameters that each element has of its own, as they are now. */
static void gather_live(BrioVbd *g, const double *param)
{
    for (int i = 0; i < g->colours * g->system->term_count; i++) {
        Piece *p = &g->piece[i];
        int live = p->term->energy->live;
        for (int64_t at = 0; at < p->packs * LANES; at++)
            for (int k = 0; k < live; k++)
                p->live[(at / LANES * live + k) * LANES + at % LANES] =
                    param[p->term->live + (p->element[at] / LANES * live + k) * LANES +
                          p->element[at] % LANES];
    }
}

static void sweep(Sweep *w)
{
    BrioVbd *g = w->g;
    brio__problem_positions(w->p, w->q, w->p->solver->x);
    for (int c = 0; c < g->colours; c++) {
        for (int t = 0; t < g->system->term_count; t++) {
            w->piece = &g->piece[c * g->system->term_count + t];
            brio__parallel_for(w->piece->packs, PACKS, share_packs, w);
        }
        w->first = g->colour_start[c];
        brio__parallel_for(g->colour_start[c + 1] - w->first, BLOCKS, move_blocks, w);
    }
}

/* ---- the solve -------------------------------------------------------------------------- */

/* Whether there is more than masses, elements and hands. */
static bool has_other(const BrioProblem *p)
{
    return p->dissipation || p->solver->system->force_count > 0;
}

/* Its gradient at q, where that of the objective is in s->gradient. */
static void find_other(const BrioProblem *p, BrioVbd *g, const double *q)
{
    BrioSolver *s = p->solver;
    const BrioObjective *o = p->objective;
    brio__problem_positions(p, q, s->x);
    brio__evaluate(brio__potential_elements(p->potential), p->state->param, s->x, g->elements,
                   NULL);
    brio__hands_evaluate(s->system, p->state, s->x, g->elements);
    brio__mass_distance(s->system, q, o->target, 1, o->s * o->a, g->elements);
    brio__combine(s->system, 1, s->gradient, -1, g->elements, g->other);
}

/* Where weight alone would lead to, or q_n if that is forbidden. */
static BrioValue begin(const BrioProblem *p, double *q)
{
    BrioSolver *s = p->solver;
    const BrioObjective *o = p->objective;
    size_t bytes = 3 * (size_t)s->system->block_count * sizeof *q;
    if (o->guess) {
        memcpy(q, o->guess->q, bytes);
    } else {
        brio__mass_solve(
            s->system,
            brio__linear_gradient(brio__potential_elements(p->potential), p->state->param, s->x),
            s->step);
        brio__system_mask(s->system, s->step);
        brio__combine(s->system, 1, o->target, -o->s * o->a, s->step, q);
    }
    BrioValue value = brio__problem_value(p, q, s->gradient);
    if (isfinite(value.value)) return value;
    memcpy(q, p->state->q, bytes);
    return brio__problem_value(p, q, s->gradient);
}

/* Shortens the step of a sweep until the objective is not above its start; false: there
 * is no such point but the start. */
static bool descend(const BrioProblem *p, const BrioVbd *g, BrioValue start, double *q,
                    BrioValue *now)
{
    BrioSolver *s = p->solver;
    for (int i = 0; i < HALVINGS; i++) {
        *now = brio__problem_value(p, q, s->gradient);
        if (now->value <= start.value + fmax(now->noise, start.noise)) return true;
        brio__combine(s->system, 0.5, q, 0.5, g->before, q);
    }
    return false;
}

static BrioStatus minimise(const BrioProblem *p, double *q, BrioValue *value)
{
    BrioSolver *s = p->solver;
    size_t bytes = 3 * (size_t)s->system->block_count * sizeof *q;
    BrioGripBlocks hand[BRIO_MAX_HANDS];
    if (!s->self) BRIO_CHECK(create(s));
    BrioVbd *g = s->self;
    Sweep w = {.p = p, .g = g, .q = q, .hand = hand};
    int iterations = p->objective->iterations ? p->objective->iterations : s->options.iterations;
    for (int h = 0; h < BRIO_MAX_HANDS; h++) {
        hand[h].count = 0;
        if (p->state->hand[h].k != 0) brio__grip_blocks(s->system, &p->state->hand[h], &hand[h]);
    }
    gather_live(g, p->state->param);
    memset(g->other, 0, bytes);
    *value = begin(p, q);
    for (s->iterations = 0; s->iterations < iterations; s->iterations++, s->totals.iterations++) {
        BRIO_CHECK(brio__problem_look(p));
        double before = brio__seconds();
        memcpy(g->before, q, bytes);
        if (has_other(p)) find_other(p, g, q);
        sweep(&w);
        s->totals.solve += brio__seconds() - before;
        before = brio__seconds();
        BrioValue now;
        bool lower = descend(p, g, *value, q, &now);
        if (!lower) {
            memcpy(q, g->before, bytes);
            now = brio__problem_value(p, q, s->gradient);
        }
        *value = now;
        s->totals.gradient += brio__seconds() - before;
        if (!lower) break;
    }
    s->reason = BRIO_REASON_TOLERANCE;
    if (isfinite(value->value)) return BRIO_OK;
    s->reason = BRIO_REASON_NOT_FINITE;
    snprintf(s->message, sizeof s->message,
             "vbd met a value that is not finite, at q_n already: inverted elements, or a step "
             "that is far too long");
    return BRIO_NOT_FINITE;
}

/* Whether each vertex has three coordinates of its own, or none. */
static bool own_coordinates(const BrioSystem *system)
{
    bool own = system->ride_count == 0;
    for (int64_t v = 0; v < system->vertex_count; v++) {
        int32_t at = system->map_start[v], count = system->map_start[v + 1] - at;
        own &= count == 0 || (count == 1 && system->map_weight[at] == 1);
    }
    return own;
}

static BrioStatus fits(const BrioSystem *system, const BrioSolverOptions *options,
                       const BrioIntegrator *integrator, BrioError *error)
{
    const char *what = NULL;
    if (options->iterations < 1)
        return brio__error(error, BRIO_ERROR_INPUT, "vbd takes at least one iteration");
    if (brio__has_barriers(system))
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "vbd does not support contact: %s, because it ends a step before the "
                           "solution; use contact: {type: penalty}, or solver: newton",
                           brio__law_at(system->law)->name);
    if (system->surface) what = "contact between bodies";
    if (system->collider_params >= 0) what = "obstacles of triangles";
    if (system->friction) what = "friction";
    if (system->constraint_count) what = "rods and other constraints";
    if (!own_coordinates(system)) what = "affine bodies and cages";
    if (integrator->traits & BRIO_LINEARISED) what = "steps of one linear solve";
    if (!what) return BRIO_OK;
    return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                       "vbd moves one vertex at a time and does not support %s; use solver: newton",
                       what);
}

BRIO_SOLVER(vbd){
    .name = "vbd",
    .summary = "Vertex block descent: a fixed number of sweeps, each vertex by Newton's method "
               "while the others are fixed. No matrix.",
    .citation = "Chen2024",
    .unfinished = true,
    .minimise = minimise,
    .destroy = destroy,
    .fits = fits,
};
