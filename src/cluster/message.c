/* One description of a partition serves for counting, writing and reading. Numbers are those of one
 * kind of machine: all processes of a job run on the same kind. */
#include "split.h"

#include "../contact/obstacle.h"
#include "../handle.h"

#include <string.h>

typedef struct Stream {
    char *bytes;
    size_t at, size;
    bool writing, reading, failed; /* neither writing nor reading: counting */
} Stream;

static void visit(Stream *s, void *data, size_t size)
{
    if (s->reading && s->at + size > s->size) s->failed = true;
    if (s->failed) return;
    if (s->reading && size) memcpy(data, s->bytes + s->at, size);
    if (s->writing && size) memcpy(s->bytes + s->at, data, size);
    s->at += size;
}

/* An array of `count` elements, made when it is read. */
static void visit_array(Stream *s, void *pointer, int64_t count, size_t size)
{
    void *data;
    memcpy(&data, pointer, sizeof data);
    if (s->reading) {
        data = count >= 0 ? brio__calloc((size_t)count + 1, size) : NULL;
        if (!data) s->failed = true;
        memcpy(pointer, &data, sizeof data);
    }
    if (data && count > 0) visit(s, data, (size_t)count * size);
}
#define ARRAY(field, count) visit_array(s, &(field), count, sizeof *(field))
#define VALUE(field) visit(s, &(field), sizeof(field))

static void visit_text(Stream *s, char **text)
{
    int64_t length = *text ? (int64_t)strlen(*text) : 0;
    VALUE(length);
    visit_array(s, text, length, 1);
}

/* An array that may be missing. */
static bool there(Stream *s, const void *pointer)
{
    uint8_t is = pointer != NULL;
    VALUE(is);
    return is && !s->failed;
}

static void visit_body(Stream *s, BrioBody *b)
{
    visit_text(s, &b->name);
    VALUE(b->first), VALUE(b->count), VALUE(b->mass_point), VALUE(b->term), VALUE(b->term_count),
        VALUE(b->values);
    VALUE(b->triangle_count), VALUE(b->edge_count), VALUE(b->tet_count);
    ARRAY(b->triangle, 3 * b->triangle_count);
    ARRAY(b->edge, 2 * b->edge_count);
    ARRAY(b->tet, 4 * b->tet_count);
}

static void visit_term(Stream *s, BrioTerm *t)
{
    char *name = s->reading ? NULL : (char *)t->energy->name; /* not changed */
    visit_text(s, &name);
    if (s->reading) {
        t->energy = name ? brio__energy(name) : NULL;
        brio__free(name);
        if (!t->energy) s->failed = true;
    }
    VALUE(t->body), VALUE(t->obstacle), VALUE(t->elements), VALUE(t->packs), VALUE(t->params),
        VALUE(t->live);
    if (s->failed) return;
    ARRAY(t->node, t->packs * LANES * t->energy->nodes);
    ARRAY(t->rest, t->packs * LANES * t->energy->rest);
}

static void visit_surface(Stream *s, BrioSurface *f)
{
    VALUE(f->vertex_count), VALUE(f->edge_count), VALUE(f->primitive_count), VALUE(f->node_count),
        VALUE(f->part_count);
#define X(name, count) ARRAY(f->name, count);
    BRIO_SURFACE_ARRAYS(X, f)
#undef X
}

static void visit_partition(Stream *s, BrioPartition *h, const BrioSystem *y)
{
    VALUE(h->process), VALUE(h->processes), VALUE(h->owned), VALUE(h->blocks), VALUE(h->vertices),
        VALUE(h->fixed_vertices), VALUE(h->params);
    VALUE(h->body_count), VALUE(h->component_count), VALUE(h->scene);
    ARRAY(h->block, y->block_count);
    ARRAY(h->vertex, y->vertex_count);
    ARRAY(h->fixed, y->fixed_count);
    ARRAY(h->param, y->param_count);
    ARRAY(h->writes_fixed, y->fixed_count);
    ARRAY(h->writes_param, y->param_count);
    ARRAY(h->body, h->body_count);
    ARRAY(h->component, y->block_count);
    ARRAY(h->component_fixed, h->component_count);
}

static void visit_obstacle(Stream *s, BrioObstacle *o)
{
    visit_text(s, &o->name);
    VALUE(o->analytic), VALUE(o->first), VALUE(o->count);
    VALUE(o->triangle_count), VALUE(o->edge_count);
    ARRAY(o->triangle, 3 * o->triangle_count);
    ARRAY(o->edge, 2 * o->edge_count);
    if (!there(s, o->table)) return;
    int64_t numbers = o->table ? (int64_t)o->table[BRIO_TABLE_COUNT] : 0;
    VALUE(numbers);
    ARRAY(o->table, numbers);
}

static void visit_system(Stream *s, BrioSystem *y)
{
    int bodies = y->body_count;
    int terms = y->term_count;
    int obstacles = y->obstacle_count;
    int scripts = y->scripted_count;
    VALUE(y->vertex_count), VALUE(y->body_vertices), VALUE(y->block_count), VALUE(y->fixed_count),
        VALUE(y->gravity_term), VALUE(y->analytic_count), VALUE(y->analytic_term);
    VALUE(y->law), VALUE(y->barrier), VALUE(y->contact_params), VALUE(y->collider_params),
        VALUE(y->epsv), VALUE(y->fall_speed), VALUE(y->friction_iterations), VALUE(y->start),
        VALUE(y->relax_time), VALUE(y->dhat), VALUE(y->param_count), VALUE(y->constraint_count),
        VALUE(y->stitch_term);
    VALUE(bodies), VALUE(terms), VALUE(obstacles), VALUE(scripts);
    ARRAY(y->map_start, y->vertex_count + 1);
    if (s->failed) return;
    int64_t entries = y->map_start[y->vertex_count], owners = bodies + obstacles;
    ARRAY(y->map_block, entries);
    ARRAY(y->map_weight, entries);
    ARRAY(y->fixed, y->fixed_count);
    ARRAY(y->vertex_mass, y->vertex_count);
    ARRAY(y->mass, y->block_count);
    if (s->reading) {
        y->body = brio__calloc((size_t)bodies + 1, sizeof *y->body);
        y->term = brio__calloc((size_t)terms + 1, sizeof *y->term);
        y->obstacle = brio__calloc((size_t)obstacles + 1, sizeof *y->obstacle);
        y->scripted = brio__calloc((size_t)scripts + 1, sizeof *y->scripted);
        if (!y->body || !y->term || !y->obstacle || !y->scripted) s->failed = true;
    }
    for (y->body_count = 0; !s->failed && y->body_count < bodies; y->body_count++)
        visit_body(s, &y->body[y->body_count]);
    for (y->term_count = 0; !s->failed && y->term_count < terms; y->term_count++)
        visit_term(s, &y->term[y->term_count]);
    for (y->obstacle_count = 0; !s->failed && y->obstacle_count < obstacles; y->obstacle_count++)
        visit_obstacle(s, &y->obstacle[y->obstacle_count]);
    brio__system_tables(y);
    for (y->scripted_count = 0; !s->failed && y->scripted_count < scripts; y->scripted_count++) {
        BrioScripted *c = &y->scripted[y->scripted_count];
        VALUE(c->script), VALUE(c->count);
        ARRAY(c->script.keys, 4 * c->script.key_count);
        ARRAY(c->script.poses, BRIO_POSE_NUMBERS * c->script.pose_count);
        ARRAY(c->fixed, c->count);
    }
    if (there(s, y->friction)) ARRAY(y->friction, owners * owners);
    if (there(s, y->stiffness)) ARRAY(y->stiffness, owners * owners);
    if (there(s, y->excluded)) ARRAY(y->excluded, owners * owners);
    if (there(s, y->surface)) {
        if (s->reading) y->surface = brio__calloc(1, sizeof *y->surface);
        if (y->surface)
            visit_surface(s, y->surface);
        else
            s->failed = true;
    }
    if (!s->failed) visit_partition(s, y->partition, y);
}

static void visit_all(Stream *s, BrioSystem *y, BrioState **state, int32_t **ghost)
{
    visit_system(s, y);
    if (s->failed) return;
    if (s->reading && brio__state_create(y, 0, state) != BRIO_OK) s->failed = true;
    if (s->failed) return;
    BrioState *n = *state;
    VALUE(n->time), VALUE(n->time_error), VALUE(n->step), VALUE(n->last_h);
    visit(s, n->q, (size_t)n->coordinates * sizeof *n->q);
    visit(s, n->v, (size_t)n->coordinates * sizeof *n->v);
    visit(s, n->anchor, (size_t)n->fixed * sizeof *n->anchor);
    visit(s, n->param, (size_t)n->params * sizeof *n->param);
    ARRAY(*ghost, 2 * (int64_t)(y->block_count - y->partition->owned));
}

BrioStatus brio__message_pack(const BrioSystem *local_system, const BrioState *state,
                              const int32_t *ghost, char **bytes, size_t *size)
{
    Stream s = {0};
    BrioState *written = (BrioState *)state; /* only read from here on */
    int32_t *pairs = (int32_t *)ghost;
    visit_all(&s, (BrioSystem *)local_system, &written, &pairs);
    *bytes = brio__alloc(s.at, 1);
    if (!*bytes) return BRIO_ERROR_MEMORY;
    s = (Stream){.bytes = *bytes, .size = *size = s.at, .writing = true};
    visit_all(&s, (BrioSystem *)local_system, &written, &pairs);
    return BRIO_OK;
}

BrioStatus brio__message_unpack(const char *bytes, size_t size, BrioSystem **local_system,
                                BrioState **state, int32_t **ghost)
{
    Stream s = {.bytes = (char *)bytes, .size = size, .reading = true};
    BrioSystem *y = brio__handle_create(sizeof *y, BRIO_HANDLE_SYSTEM);
    *state = NULL;
    *ghost = NULL;
    if (y && (y->partition = brio__calloc(1, sizeof *y->partition))) {
        y->partition->destroy = brio__partition_free;
        visit_all(&s, y, state, ghost);
    } else {
        s.failed = true;
    }
    if (!s.failed) return *local_system = y, BRIO_OK;
    brio_system_free(y);
    brio_state_free(*state);
    brio__free(*ghost);
    return BRIO_ERROR_MEMORY;
}
