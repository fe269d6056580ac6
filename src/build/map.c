/* World vertices and the map x = J q + b(t) (system.h).
 *
 * Rows of J_s: a free vertex has one block of coordinates of weight 1; a vertex of an affine body
 * has the four blocks of the body's mass points with the weights w_k(X) of affine.h; a vertex of a
 * caged one has the blocks of the free nodes that carry it (cage.h), in descending order; a mass
 * point has one of these blocks. Fixed vertices, attachment points and obstacles have none. */
#include "build.h"

BrioStatus brio__build_bodies(const BrioBuilder *b, BrioSystem *s)
{
    s->body = brio__calloc((size_t)b->body_count, sizeof *s->body);
    if (!s->body) return BRIO_ERROR_MEMORY;
    s->body_count = b->body_count;
    for (int i = 0; i < b->body_count; i++) {
        const BrioBodyPlan *plan = &b->body[i];
        const BrioMesh *mesh = plan->mesh;
        s->body[i] = (BrioBody){.first = s->body_vertices,
                                .mass_point = -1,
                                .count = mesh->vertex_count,
                                .triangle_count = mesh->triangle_count,
                                .edge_count = mesh->edge_count,
                                .decay = plan->decay,
                                .energy_scale = plan->energy_scale,
                                .tet_count = mesh->tet_count};
        s->body_vertices += mesh->vertex_count;
        /* copies: the system keeps the plans for edits */
        s->body[i].name = brio__strdup(plan->name);
        bool complete =
            brio__copy_indices(mesh->triangle, 3 * mesh->triangle_count, &s->body[i].triangle) &&
            brio__copy_indices(mesh->edge, 2 * mesh->edge_count, &s->body[i].edge) &&
            brio__copy_indices(mesh->tet, 4 * mesh->tet_count, &s->body[i].tet);
        if (!s->body[i].name || !complete) return BRIO_ERROR_MEMORY;
    }
    s->vertex_count = s->body_vertices + b->attachment_count;
    for (int i = 0; i < b->body_count; i++)
        if (b->body[i].weight || b->body[i].cage) {
            s->body[i].mass_point = s->vertex_count;
            if (b->body[i].cage && !(s->body[i].cage = brio__copy_cage(b->body[i].cage)))
                return BRIO_ERROR_MEMORY;
            s->vertex_count += s->body[i].cage ? s->body[i].cage->node_count : 4;
        }
    s->vertex_count += b->obstacle_vertices;
    return s->vertex_count < INT32_MAX / 3 ? BRIO_OK : BRIO_ERROR_TOO_LARGE;
}

/* Rows of the map, written one after the other; counted only, in a first pass without `write`. */
typedef struct Rows {
    BrioSystem *s;
    bool write;
    int64_t entries;
    int32_t blocks;
} Rows;

static void start_row(Rows *rows, int64_t vertex)
{
    rows->s->map_start[vertex] = (int32_t)rows->entries;
}

static void add_entry(Rows *rows, int32_t block, double weight)
{
    if (rows->write) {
        rows->s->map_block[rows->entries] = block;
        rows->s->map_weight[rows->entries] = weight;
    }
    rows->entries++;
}

/* A vertex without coordinates: an empty row. */
static void add_fixed(Rows *rows, int64_t vertex)
{
    BrioSystem *s = rows->s;
    start_row(rows, vertex);
    if (rows->write) s->fixed[s->fixed_count] = (int32_t)vertex;
    s->fixed_count++;
}

/* Vertices ride if fixed and free nodes carry them, or fixed nodes with different motions. */
static void add_ride(Rows *rows, const BrioBody *body, int64_t v)
{
    BrioSystem *s = rows->s;
    int64_t at = s->ride_count++;
    if (!rows->write) return;
    s->ride_vertex[at] = (int32_t)(body->first + v);
    for (int k = 0; k < 4; k++) {
        s->ride_node[4 * at + k] = (int32_t)body->mass_point + body->cage->node[4 * v + k];
        s->ride_weight[4 * at + k] = body->cage->weight[4 * v + k];
    }
}

static void add_caged_vertex(Rows *rows, const BrioBodyPlan *plan, const BrioBody *body, int64_t v)
{
    const int32_t *node = body->cage->node + 4 * v;
    const double *weight = body->cage->weight + 4 * v;
    int32_t last = INT32_MAX, script = -1;
    bool rides = false;
    int free = 0, fixed = 0;
    for (int k = 0; k < 4; k++) {
        if (weight[k] == 0) continue;
        free += plan->node_fix[node[k]] < 0;
        if (plan->node_fix[node[k]] < 0) continue;
        rides |= fixed && plan->node_fix[node[k]] != script;
        script = plan->node_fix[node[k]];
        fixed++;
    }
    if (rides || (free && fixed)) add_ride(rows, body, v);
    if (free == 0) {
        add_fixed(rows, body->first + v);
        return;
    }
    start_row(rows, body->first + v);
    for (int i = 0; i < free; i++) { /* the largest block that is left */
        int next = -1;
        for (int k = 0; k < 4; k++) {
            if (weight[k] == 0 || plan->node_fix[node[k]] >= 0) continue;
            int32_t block = plan->node_block[node[k]];
            if (block < last && (next < 0 || block > plan->node_block[node[next]])) next = k;
        }
        last = plan->node_block[node[next]];
        add_entry(rows, last, weight[next]);
    }
}

static void add_caged(Rows *rows, const BrioBodyPlan *plan, const BrioBody *body)
{
    for (int64_t i = 0; i < body->cage->node_count; i++)
        plan->node_block[i] = plan->node_fix[i] < 0 ? rows->blocks++ : -1;
    for (int64_t v = 0; v < body->count; v++) add_caged_vertex(rows, plan, body, v);
}

static void add_body(Rows *rows, const BrioBodyPlan *plan, const BrioBody *body)
{
    if (body->cage) {
        add_caged(rows, plan, body);
        return;
    }
    for (int64_t v = 0; v < body->count; v++) {
        if (plan->fix[v] >= 0) {
            add_fixed(rows, body->first + v);
            continue;
        }
        start_row(rows, body->first + v);
        for (int k = 0; plan->weight && k < 4; k++)
            add_entry(rows, rows->blocks + k, plan->weight[4 * v + k]);
        if (!plan->weight) add_entry(rows, rows->blocks++, 1);
    }
    if (plan->weight && plan->fix[0] < 0) rows->blocks += 4;
}

/* An affine body is fixed as a whole or not at all. */
static void add_mass_points(Rows *rows, const BrioBodyPlan *plan, const BrioBody *body)
{
    const BrioSystem *s = rows->s;
    for (int64_t i = 0; body->cage && i < body->cage->node_count; i++) {
        if (plan->node_fix[i] >= 0) {
            add_fixed(rows, body->mass_point + i);
            continue;
        }
        start_row(rows, body->mass_point + i);
        add_entry(rows, plan->node_block[i], 1);
    }
    for (int k = 0; brio__body_is_affine(body) && k < 4; k++) {
        int64_t v = body->mass_point + k;
        if (plan->fix[0] >= 0) {
            add_fixed(rows, v);
            continue;
        }
        start_row(rows, v);
        add_entry(rows, rows->write ? s->map_block[s->map_start[body->first] + k] : 0, 1);
    }
}

static void add_all(const BrioBuilder *b, Rows *rows)
{
    BrioSystem *s = rows->s;
    s->fixed_count = 0;
    s->ride_count = 0;
    for (int i = 0; i < s->body_count; i++) add_body(rows, &b->body[i], &s->body[i]);
    for (int64_t a = 0; a < b->attachment_count; a++) add_fixed(rows, s->body_vertices + a);
    for (int i = 0; i < s->body_count; i++) add_mass_points(rows, &b->body[i], &s->body[i]);
    for (int64_t v = s->vertex_count - b->obstacle_vertices; v < s->vertex_count; v++)
        add_fixed(rows, v);
    start_row(rows, s->vertex_count);
    s->block_count = rows->blocks;
}

/* Coordinates that are fixed alone, of blocks. */
static BrioStatus build_axes(const BrioBuilder *b, BrioSystem *s)
{
    bool any = false;
    for (int i = 0; i < b->body_count; i++) any |= b->body[i].axes != NULL;
    if (!any) return BRIO_OK;
    s->axes = brio__calloc((size_t)s->block_count + 1, sizeof *s->axes);
    if (!s->axes) return BRIO_ERROR_MEMORY;
    for (int i = 0; i < b->body_count; i++)
        for (int64_t v = 0; b->body[i].axes && v < s->body[i].count; v++) {
            int32_t k = s->map_start[s->body[i].first + v];
            if (k < s->map_start[s->body[i].first + v + 1])
                s->axes[s->map_block[k]] = b->body[i].axes[v];
        }
    return BRIO_OK;
}

BrioStatus brio__build_map(const BrioBuilder *b, BrioSystem *s)
{
    Rows count = {.s = s};
    Rows rows = {.s = s, .write = true};
    s->map_start = brio__alloc((size_t)s->vertex_count + 1, sizeof *s->map_start);
    if (!s->map_start) return BRIO_ERROR_MEMORY;
    add_all(b, &count);
    s->map_block = brio__alloc((size_t)count.entries, sizeof *s->map_block);
    s->map_weight = brio__alloc((size_t)count.entries, sizeof *s->map_weight);
    s->fixed = brio__alloc((size_t)s->fixed_count, sizeof *s->fixed);
    s->ride_vertex = brio__alloc((size_t)s->ride_count, sizeof *s->ride_vertex);
    s->ride_node = brio__alloc(4 * (size_t)s->ride_count, sizeof *s->ride_node);
    s->ride_weight = brio__alloc(4 * (size_t)s->ride_count, sizeof *s->ride_weight);
    if (!s->map_block || !s->map_weight || !s->fixed || !s->ride_vertex || !s->ride_node ||
        !s->ride_weight)
        return BRIO_ERROR_MEMORY;
    add_all(b, &rows);
    return build_axes(b, s);
}
