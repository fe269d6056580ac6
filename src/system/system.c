/* The state in one block of memory, the map x = J q + b, and sums of vectors (system.h). */
#include "system.h"

#include "../handle.h"
#include "../vec.h"

#include <string.h>

/* ---- state ------------------------------------------------------------------------------ */

static size_t padded(int64_t doubles)
{
    return ((size_t)doubles * sizeof(double) + BRIO_ALIGN - 1) & ~(size_t)(BRIO_ALIGN - 1);
}

/* Sets the array pointers of a state whose lengths are known; returns the size of the block. */
static size_t lay_out(BrioState *state)
{
    size_t at = (sizeof(BrioState) + BRIO_ALIGN - 1) & ~(size_t)(BRIO_ALIGN - 1);
    char *base = (char *)state;
    state->q = (double *)(base + at), at += padded(state->coordinates);
    state->v = (double *)(base + at), at += padded(state->coordinates);
    state->anchor = (double *)(base + at), at += padded(state->fixed);
    state->param = (double *)(base + at), at += padded(state->params);
    state->past = (double *)(base + at), at += padded(state->coordinates * state->history);
    return at;
}

size_t brio__state_layout(const BrioState *head, size_t begin[5])
{
    BrioState copy = *head;
    size_t bytes = lay_out(&copy);
    const double *array[5] = {copy.q, copy.v, copy.anchor, copy.param, copy.past};
    for (int i = 0; i < 5; i++) begin[i] = (size_t)((const char *)array[i] - (const char *)&copy);
    return bytes;
}

BrioStatus brio__state_create(const BrioSystem *system, int history, BrioState **state)
{
    BrioState head = {.coordinates = 3 * (int64_t)system->block_count,
                      .fixed = 3 * system->fixed_count,
                      .params = system->param_count,
                      .history = history,
                      .target = NAN,
                      .alpha = NAN};
    head.bytes = lay_out(&head);
    BrioState *created = brio__handle_create(head.bytes, BRIO_HANDLE_STATE);
    if (!created) return BRIO_ERROR_MEMORY;
    *created = head;
    lay_out(created);
    *state = created;
    return BRIO_OK;
}

BrioStatus brio_state_copy(const BrioState *from, BrioState **copy, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(STATE, from) && copy, error);
    if (error) *error = (BrioError){0};
    BrioState *created = brio__handle_create(from->bytes, BRIO_HANDLE_STATE);
    if (!created) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    memcpy(created, from, from->bytes);
    lay_out(created);
    *copy = created;
    return BRIO_OK;
}

/* `to` keeps its own room for history: the same system may be stepped by integrators that need more
 * or less of it. */
typedef struct CopyWork {
    double *to;
    const double *from;
} CopyWork;

static void copy_chunk(void *context, int64_t begin, int64_t end)
{
    const CopyWork *work = context;
    memcpy(work->to + begin, work->from + begin, (size_t)(end - begin) * sizeof *work->to);
}

static void copy(double *to, const double *from, int64_t count)
{
    brio__parallel_for(count, 8192, copy_chunk, &(CopyWork){to, from});
}

void brio_state_assign(BrioState *to, const BrioState *from)
{
    BRIO_NEEDS_OR_NOTHING(BRIO_LIVES(STATE, to) && BRIO_LIVES(STATE, from));
    if (to == from) return;
    if (to->coordinates != from->coordinates || to->fixed != from->fixed ||
        to->params != from->params) {
        brio__log(BRIO_LOG_ERROR,
                  "a state cannot be assigned to one of another system: nothing was changed");
        return;
    }
    BrioState head = *from;
    head.bytes = to->bytes;
    head.history = to->history;
    head.history_used = BRIO_MIN(from->history_used, to->history);
    *to = head;
    lay_out(to);
    copy(to->q, from->q, to->coordinates);
    copy(to->v, from->v, to->coordinates);
    memcpy(to->anchor, from->anchor, (size_t)to->fixed * sizeof(double));
    memcpy(to->param, from->param, (size_t)to->params * sizeof(double));
    copy(to->past, from->past, to->coordinates * BRIO_MIN(to->history, from->history));
}

void brio_state_free(BrioState *state)
{
    if (BRIO_LIVES(STATE, state)) brio__handle_free(state);
}

const double *brio_state_q(const BrioState *state)
{
    BRIO_NEEDS_OR(BRIO_LIVES(STATE, state), NULL);
    return state->q;
}
const double *brio_state_v(const BrioState *state)
{
    BRIO_NEEDS_OR(BRIO_LIVES(STATE, state), NULL);
    return state->v;
}

/* ---- the map x = J q + b(t) ------------------------------------------------------------- */

typedef struct MapWork {
    const BrioSystem *system;
    const double *q;
    double *x;
} MapWork;

static void map_chunk(void *context, int64_t begin, int64_t end)
{
    const MapWork *work = context;
    const BrioSystem *system = work->system;
    for (int64_t v = begin; v < end; v++) {
        int32_t k = system->map_start[v], last = system->map_start[v + 1];
        if (k == last) continue; /* fixed: not ours */
        double x[3] = {0, 0, 0};
        for (; k < last; k++) {
            const double *q = work->q + 3 * (int64_t)system->map_block[k];
            double w = system->map_weight[k];
            for (int r = 0; r < 3; r++) x[r] += w * q[r];
        }
        for (int r = 0; r < 3; r++) work->x[3 * v + r] = x[r];
    }
}

static void map_apply(const BrioSystem *system, const double *q, double *x)
{
    brio__parallel_for(system->vertex_count, 4096, map_chunk, &(MapWork){system, q, x});
}

void brio__system_gather(const BrioSystem *system, const double *world, double *q)
{
    for (int64_t v = 0; v < system->vertex_count; v++)
        for (int32_t k = system->map_start[v]; k < system->map_start[v + 1]; k++)
            for (int r = 0; r < 3; r++)
                q[3 * (int64_t)system->map_block[k] + r] +=
                    system->map_weight[k] * world[3 * v + r];
}

void brio__system_mask(const BrioSystem *system, double *vector)
{
    for (int64_t b = 0; system->axes && b < system->block_count; b++)
        for (int r = 0; system->axes[b] && r < 3; r++)
            if (system->axes[b] >> r & 1) vector[3 * b + r] = 0;
}

void brio__system_ride(const BrioSystem *s, double *x)
{
    for (int64_t i = 0; i < s->ride_count; i++)
        for (int r = 0; r < 3; r++) {
            double sum = 0;
            for (int64_t k = 4 * i; k < 4 * i + 4; k++)
                sum += s->ride_weight[k] * x[3 * (int64_t)s->ride_node[k] + r];
            x[3 * (int64_t)s->ride_vertex[i] + r] = sum;
        }
}

/* Where a vertex is among those that ride; -1: it does not. */
static int64_t find_ride(const BrioSystem *s, int32_t vertex)
{
    int64_t low = 0, high = s->ride_count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (s->ride_vertex[middle] < vertex)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->ride_count && s->ride_vertex[low] == vertex ? low : -1;
}

int brio__system_carriers(const BrioSystem *s, int32_t vertex, int32_t node[4], double weight[4])
{
    int count = 0;
    if (s->map_start[vertex] == s->map_start[vertex + 1]) {
        node[0] = vertex;
        weight[0] = 1;
        return 1;
    }
    int64_t i = s->ride_count ? find_ride(s, vertex) : -1;
    for (int64_t k = 4 * i; i >= 0 && k < 4 * i + 4; k++) {
        int32_t n = s->ride_node[k];
        if (s->map_start[n] < s->map_start[n + 1] || s->ride_weight[k] == 0) continue;
        node[count] = n;
        weight[count++] = s->ride_weight[k];
    }
    return count;
}

void brio__system_gather_fixed(const BrioSystem *s, const double *world, double scale,
                               double *fixed)
{
    for (int64_t i = 0; i < s->fixed_count; i++)
        for (int r = 0; r < 3; r++) fixed[3 * i + r] += scale * world[3 * (int64_t)s->fixed[i] + r];
    for (int64_t i = 0; i < s->ride_count; i++) {
        int32_t v = s->ride_vertex[i], node[4];
        double weight[4];
        if (s->map_start[v] == s->map_start[v + 1]) continue; /* one of `fixed` */
        int count = brio__system_carriers(s, v, node, weight);
        for (int k = 0; k < count; k++) {
            int64_t at = 3 * brio__system_fixed_index(s, node[k]);
            for (int r = 0; r < 3; r++)
                fixed[at + r] += scale * weight[k] * world[3 * (int64_t)v + r];
        }
    }
}

void brio__system_positions(const BrioSystem *system, const BrioState *state, const double *q,
                            double time, double *x)
{
    map_apply(system, q, x);
    brio__system_fixed(system, state, time, x);
    brio__system_ride(system, x);
}

void brio__system_directions(const BrioSystem *system, const double *d, double *dx)
{
    map_apply(system, d, dx);
    for (int64_t i = 0; i < system->fixed_count; i++)
        for (int r = 0; r < 3; r++) dx[3 * (int64_t)system->fixed[i] + r] = 0;
}

void brio__system_positions_on_way(const BrioSystem *s, const BrioState *state, const double *q,
                                   double time, const BrioWay *way, double *x)
{
    brio__system_positions(s, state, q, time, x);
    for (int64_t i = 0; way->fraction < 1 && i < s->fixed_count; i++)
        for (int r = 0; r < 3; r++) {
            int64_t k = 3 * (int64_t)s->fixed[i] + r;
            x[k] = way->fraction * x[k] + (1 - way->fraction) * way->start[k];
        }
    if (way->fraction < 1) brio__system_ride(s, x);
}

void brio__system_velocities(const BrioSystem *system, const BrioState *state, const double *v,
                             double time, double *w)
{
    brio__system_directions(system, v, w);
    brio__scripts_velocities(system, state, time, w);
    brio__system_ride(system, w);
}

static const BrioBody *caged_body(const BrioSystem *s, int body)
{
    return body >= 0 && body < s->body_count && s->body[body].cage ? &s->body[body] : NULL;
}

BrioStatus brio_body_cage(const BrioSystem *s, int body, BrioCageInfo *info)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SYSTEM, s) && info, BRIO_ERROR_ARGUMENT);
    const BrioBody *b = caged_body(s, body);
    if (!b) return BRIO_ERROR_ARGUMENT;
    const BrioCage *c = b->cage;
    *info = (BrioCageInfo){.cells = c->cells,
                           .nodes = c->node_count,
                           .tets = c->tet_count,
                           .edge = c->edge,
                           .enclosed = c->enclosed,
                           .closed = c->closed,
                           .pieces = c->pieces,
                           .components = c->components};
    return BRIO_OK;
}

const int32_t *brio_body_cage_tets(const BrioSystem *s, int body, int64_t *count)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SYSTEM, s) && count, NULL);
    const BrioBody *b = caged_body(s, body);
    *count = b ? b->cage->tet_count : 0;
    return b ? b->cage->tet : NULL;
}

BrioStatus brio_body_cage_weights(const BrioSystem *s, int body, const int32_t **nodes,
                                  const double **weights)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SYSTEM, s) && nodes && weights, BRIO_ERROR_ARGUMENT);
    const BrioBody *b = caged_body(s, body);
    if (!b) return BRIO_ERROR_ARGUMENT;
    *nodes = b->cage->node;
    *weights = b->cage->weight;
    return BRIO_OK;
}

int brio_system_forces(const BrioSystem *s)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SYSTEM, s), 0);
    return s->force_count;
}

int brio_system_force(const BrioSystem *s, const char *name)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SYSTEM, s) && name, -1);
    for (int i = 0; i < s->force_count; i++)
        if (!strcmp(s->force[i].name, name)) return i;
    return -1;
}

double brio__body_mass(const BrioSystem *s, int body)
{
    int64_t count, first = brio__body_masses(&s->body[body], &count);
    double sum = 0;
    for (int64_t v = first; v < first + count; v++) sum += s->vertex_mass[v];
    return sum;
}

BrioMeshQuality brio__body_quality(const BrioBody *b, const double *x)
{
    if (b->cage) { /* the box is that of the surface */
        BrioMeshQuality box =
            brio__quality(&(BrioMeshView){.x = x + 3 * b->first, .vertices = b->count});
        BrioMeshQuality q = brio__quality(&(BrioMeshView){
            .x = x + 3 * b->mass_point, .tets = b->cage->tet_count, .tet = b->cage->tet});
        memcpy(q.low, box.low, sizeof q.low);
        memcpy(q.high, box.high, sizeof q.high);
        return q;
    }
    return brio__quality(&(BrioMeshView){.x = x + 3 * b->first,
                                         .vertices = b->count,
                                         .tets = b->tet_count,
                                         .tet = b->tet,
                                         .edges = b->edge_count,
                                         .edge = b->edge,
                                         .triangles = b->triangle_count,
                                         .triangle = b->triangle});
}

int brio__system_owner(const BrioSystem *s, int64_t vertex)
{
    bool body = vertex < s->body_vertices;
    if (!body && vertex < (s->obstacle_count ? s->obstacle[0].first : s->vertex_count)) {
        for (int i = 0; i < s->body_count; i++) {
            int64_t count, first = brio__body_masses(&s->body[i], &count);
            if (first >= s->body_vertices && vertex >= first && vertex < first + count) return i;
        }
        return -1;
    }
    int low = 0, high = (body ? s->body_count : s->obstacle_count) - 1;
    while (low < high) { /* the first that ends behind the vertex */
        int middle = (low + high) / 2;
        int64_t end = body ? s->body[middle].first + s->body[middle].count
                           : s->obstacle[middle].first + s->obstacle[middle].count;
        if (vertex < end)
            high = middle;
        else
            low = middle + 1;
    }
    return body ? low : s->body_count + low;
}

void brio__obstacle_distances(const BrioTerm *term, const double *param, int64_t pack,
                              const double *x, double distance[LANES])
{
    const BrioEnergy *energy = term->energy;
    energy->eval(&(BrioBatch){.end = 1,
                              .node = term->node + pack * LANES,
                              .rest = term->rest + pack * energy->rest * LANES,
                              .params = param ? param + term->params : NULL,
                              .table = term->table,
                              .x = x,
                              .distance = distance});
}

/* ---- vectors ---------------------------------------------------------------------------- */

typedef struct VectorWork {
    double alpha, beta;
    const double *x, *y;
    double *out;
} VectorWork;

static double dot_chunk(void *context, int64_t begin, int64_t end)
{
    const VectorWork *work = context;
    double sum[4] = {0, 0, 0, 0};
    int64_t i = begin;
    for (; i + 4 <= end; i += 4)
        for (int k = 0; k < 4; k++) sum[k] += work->x[i + k] * work->y[i + k];
    for (; i < end; i++) sum[0] += work->x[i] * work->y[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

double brio__dot(const BrioSystem *system, const double *x, const double *y)
{
    double sum = brio__parallel_sum(3 * (int64_t)brio__owned(system), dot_chunk,
                                    &(VectorWork){.x = x, .y = y});
    brio__partition_sum(system->partition, &sum, 1);
    return sum;
}

double brio__norm_max(const BrioSystem *system, const double *x)
{
    double max = 0;
    for (int64_t i = 0; i < 3 * (int64_t)brio__owned(system); i++) {
        double size = fabs(x[i]);
        if (!(size <= max)) max = size; /* lets a NaN through */
    }
    return brio__partition_max(system->partition, max);
}

static void combine_chunk(void *context, int64_t begin, int64_t end)
{
    const VectorWork *work = context;
    for (int64_t i = begin; i < end; i++)
        work->out[i] = work->alpha * work->x[i] + work->beta * work->y[i];
}

void brio__combine(const BrioSystem *system, double alpha, const double *x, double beta,
                   const double *y, double *out)
{
    brio__parallel_for(3 * (int64_t)system->block_count, 8192, combine_chunk,
                       &(VectorWork){alpha, beta, x, y, out});
}

typedef struct DistanceWork {
    const BrioSystem *system;
    const double *q, *target;
    double mass, scale, *gradient;
} DistanceWork;

/* Chunks of coordinates; a block is of the chunk that has its first one. */
static double distance_chunk(void *context, int64_t begin, int64_t end)
{
    const DistanceWork *work = context;
    const double *q = work->q, *target = work->target, *mass = work->system->mass;
    double *gradient = work->gradient, m = work->mass, s = work->scale, square[3] = {0, 0, 0};
    int64_t first = (begin + 2) / 3;
    int64_t last = (end + 2) / 3;
    int64_t counted = BRIO_MIN(last, (int64_t)brio__owned(work->system));
    for (int64_t b = first; b < counted; b++)
        for (int r = 0; r < 3; r++) {
            double d = q[3 * b + r] - target[3 * b + r];
            square[r] += mass[b] * d * d;
        }
    for (int64_t b = first; gradient && b < last; b++)
        for (int r = 0; r < 3; r++)
            gradient[3 * b + r] =
                m * mass[b] * (q[3 * b + r] - target[3 * b + r]) + s * gradient[3 * b + r];
    return square[0] + square[1] + square[2];
}

double brio__mass_distance(const BrioSystem *system, const double *q, const double *target,
                           double mass, double scale, double *gradient)
{
    DistanceWork work = {system, q, target, mass, scale, gradient};
    double sum = brio__parallel_sum(3 * (int64_t)system->block_count, distance_chunk, &work);
    brio__partition_sum(system->partition, &sum, 1);
    return sum;
}

static void mass_chunk(void *context, int64_t begin, int64_t end)
{
    const VectorWork *work = context;
    for (int64_t b = begin; b < end; b++)
        for (int r = 0; r < 3; r++) work->out[3 * b + r] = work->x[b] * work->y[3 * b + r];
}

static void inverse_mass_chunk(void *context, int64_t begin, int64_t end)
{
    const VectorWork *work = context;
    for (int64_t b = begin; b < end; b++)
        for (int r = 0; r < 3; r++) work->out[3 * b + r] = work->y[3 * b + r] / work->x[b];
}

void brio__mass_multiply(const BrioSystem *system, const double *v, double *p)
{
    brio__parallel_for(system->block_count, 4096, mass_chunk,
                       &(VectorWork){.x = system->mass, .y = v, .out = p});
}

void brio__mass_solve(const BrioSystem *system, const double *p, double *v)
{
    brio__parallel_for(system->block_count, 4096, inverse_mass_chunk,
                       &(VectorWork){.x = system->mass, .y = p, .out = v});
}

/* ---- public readers --------------------------------------------------------------------- */

int64_t brio_system_vertices(const BrioSystem *system)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SYSTEM, system), 0);
    return system->body_vertices;
}
int64_t brio_system_coordinates(const BrioSystem *system)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SYSTEM, system), 0);
    return 3 * (int64_t)system->block_count;
}
int brio_system_bodies(const BrioSystem *system)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SYSTEM, system), 0);
    return system->body_count;
}

int brio_system_body(const BrioSystem *system, const char *name)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SYSTEM, system) && name, -1);
    for (int i = 0; i < system->body_count; i++)
        if (!strcmp(system->body[i].name, name)) return i;
    return -1;
}

static const BrioBody *body_at(const BrioSystem *system, int body)
{
    return body >= 0 && body < system->body_count ? &system->body[body] : NULL;
}

const char *brio_body_name(const BrioSystem *system, int body)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SYSTEM, system), NULL);
    const BrioBody *b = body_at(system, body);
    return b ? b->name : NULL;
}

int64_t brio_body_vertices(const BrioSystem *system, int body)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SYSTEM, system), 0);
    const BrioBody *b = body_at(system, body);
    return b ? b->count : 0;
}

const int32_t *brio_body_triangles(const BrioSystem *system, int body, int64_t *count)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SYSTEM, system) && count, NULL);
    const BrioBody *b = body_at(system, body);
    *count = b ? b->triangle_count : 0;
    return b ? b->triangle : NULL;
}

const int32_t *brio_body_edges(const BrioSystem *system, int body, int64_t *count)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SYSTEM, system) && count, NULL);
    const BrioBody *b = body_at(system, body);
    *count = b ? b->edge_count : 0;
    return b ? b->edge : NULL;
}

const int32_t *brio_body_tets(const BrioSystem *system, int body, int64_t *count)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SYSTEM, system) && count, NULL);
    const BrioBody *b = body_at(system, body);
    *count = b ? b->tet_count : 0;
    return b ? b->tet : NULL;
}

void brio_system_free(BrioSystem *system)
{
    if (!BRIO_LIVES(SYSTEM, system)) return;
    for (int i = 0; i < system->body_count; i++) {
        brio__free(system->body[i].name);
        brio__free(system->body[i].triangle);
        brio__free(system->body[i].edge);
        brio__free(system->body[i].tet);
        brio__skin_free(system->body[i].skin);
        brio__cage_free(system->body[i].cage);
    }
    for (int i = 0; i < system->obstacle_count; i++) {
        brio__free(system->obstacle[i].name);
        brio__free(system->obstacle[i].triangle);
        brio__free(system->obstacle[i].edge);
        brio__free(system->obstacle[i].table);
        brio__faces_free(system->obstacle[i].faces);
    }
    for (int i = 0; i < system->term_count; i++) {
        brio__free(system->term[i].node);
        brio__free(system->term[i].rest);
    }
    for (int i = 0; i < system->scripted_count; i++) {
        brio__scripted_free(&system->scripted[i]);
    }
    brio__free(system->map_start);
    brio__free(system->map_block);
    brio__free(system->map_weight);
    brio__free(system->fixed);
    brio__free(system->axes);
    brio__free(system->ride_vertex);
    brio__free(system->ride_node);
    brio__free(system->ride_weight);
    brio__free(system->vertex_mass);
    brio__free(system->mass);
    brio__free(system->body);
    brio__free(system->term);
    brio__free(system->scripted);
    for (int i = 0; system->constraint && i < system->constraint_count; i++)
        brio__constraint_free(&system->constraint[i]);
    brio__free(system->constraint);
    for (int i = 0; i < system->force_count; i++) brio__force_free(&system->force[i]);
    brio__free(system->force);
    brio__free(system->obstacle);
    brio__surface_free(system->surface);
    brio__free(system->friction);
    brio__free(system->stiffness);
    brio__free(system->excluded);
    brio_builder_free(system->plans);
    if (system->partition) system->partition->destroy(system->partition);
    brio__handle_free(system);
}

int64_t brio__system_fixed_index(const BrioSystem *s, int32_t vertex)
{
    int64_t low = 0, high = s->fixed_count - 1;
    while (low < high) { /* fixed[] ascends */
        int64_t middle = (low + high) / 2;
        if (s->fixed[middle] < vertex)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void brio__system_tables(BrioSystem *s)
{
    for (int t = 0; t < s->term_count; t++)
        if (s->term[t].energy->element == BRIO_ELEMENT_CONTACT &&
            s->term[t].obstacle < s->obstacle_count)
            s->term[t].table = s->obstacle[s->term[t].obstacle].table;
}

int64_t brio__obstacle_room(const BrioSystem *s)
{
    int64_t packs = 0;
    for (int k = 0; k < s->analytic_count; k++)
        packs = BRIO_MAX(packs, s->term[s->analytic_term + k].packs);
    return 3 * LANES * packs;
}

void brio__obstacle_gradients(const BrioTerm *term, const double *param, const double *x,
                              double *gradients)
{
    term->energy->eval(&(BrioBatch){.end = term->packs,
                                    .node = term->node,
                                    .rest = term->rest,
                                    .params = param + term->params,
                                    .table = term->table,
                                    .x = x,
                                    .gradient = gradients});
}

double brio__obstacle_push(const double *gradients, int64_t element, double n[3])
{
    const double *g = gradients + element / LANES * 3 * LANES + element % LANES;
    double size = sqrt(g[0] * g[0] + g[LANES] * g[LANES] + g[2 * LANES] * g[2 * LANES]);
    for (int r = 0; r < 3 && size > 0; r++) n[r] = g[r * LANES] / size;
    return size;
}

double brio__state_fingerprint(const BrioSystem *system, const BrioState *state, const double *more,
                               int64_t more_count)
{
    const void *array[4] = {state->param, state->anchor, state->hand, more};
    int64_t count[4] = {state->params, state->fixed, sizeof state->hand / (sizeof(uint64_t)),
                        more_count};
    uint64_t hash = 0xcbf29ce484222325u;
    for (int a = 0; a < 4; a++)
        for (int64_t i = 0; i < count[a]; i++) {
            uint64_t bits;
            memcpy(&bits, (const char *)array[a] + i * (int64_t)sizeof bits, sizeof bits);
            hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
            hash ^= hash >> 29;
        }
    double number = (double)(hash >> 11);
    brio__partition_sum(system->partition, &number, 1);
    return fmod(number, 0x1p53) + 1;
}
