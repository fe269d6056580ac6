/* Each element belongs to the owner of its first vertex that has coordinates. A process receives
 * the vertices that it owns, those of its elements, all mass points, all obstacles and, where
 * surfaces meet, all surfaces [so contact needs no messages of its own]; process 0 also what is to
 * be seen. Numbers keep the order that they have in the whole, so that bodies stay contiguous;
 * coordinate blocks have the owned ones first. Terms are the same on every process, though some
 * have no elements there. */
#include "split.h"

#include "../contact/obstacle.h"

#include "../contact/contact.h"
#include "../field.h"
#include "../handle.h"
#include "../potential/components.h"

#include <string.h>

static bool has_coordinates(const BrioSystem *s, int64_t v)
{
    return s->map_start[v] < s->map_start[v + 1];
}

static int owner_of_vertex(const BrioSystem *s, const BrioDivision *d, int64_t v)
{
    return has_coordinates(s, v) ? d->owner[s->map_block[s->map_start[v]]]
                                 : d->fixed_owner[brio__system_fixed_index(s, (int32_t)v)];
}

static int owner_of_element(const BrioSystem *s, const BrioDivision *d, const BrioTerm *term,
                            int64_t e)
{
    for (int k = 0; k < term->energy->nodes; k++) {
        int32_t v = brio__term_vertex(term, e, k);
        if (has_coordinates(s, v)) return d->owner[s->map_block[s->map_start[v]]];
    }
    return 0;
}

/* Vertices of bodies that surfaces, springs or the caller need. */
static void mark_seen(const BrioSystem *s, const int64_t *also, int64_t also_count, uint8_t *seen)
{
    for (int i = 0; i < s->body_count; i++) {
        const BrioBody *b = &s->body[i];
        const BrioSkin *skin = b->skin;
        for (int64_t k = 0; k < 3 * b->triangle_count; k++) seen[b->first + b->triangle[k]] = 1;
        for (int64_t k = 0; k < 2 * b->edge_count; k++) seen[b->first + b->edge[k]] = 1;
        for (int64_t k = 0; skin && skin->weight && k < skin->start[skin->vertex_count]; k++)
            seen[b->first + skin->node[k]] = 1;
        for (int64_t v = 0; b->triangle_count + b->edge_count == 0 && v < b->count; v++)
            seen[b->first + v] = 1;
    }
    for (int64_t k = 0; k < also_count; k++) seen[also[k]] = 1;
}

BrioStatus brio__division_create(const BrioSystem *s, int processes, int32_t *owner,
                                 const int64_t *also, int64_t also_count, BrioDivision *d)
{
    *d = (BrioDivision){.processes = processes, .owner = owner};
    d->place = brio__alloc((size_t)s->block_count, sizeof *d->place);
    d->fixed_owner = brio__calloc((size_t)s->fixed_count, sizeof *d->fixed_owner);
    d->component = brio__alloc((size_t)s->block_count, sizeof *d->component);
    d->seen = brio__calloc((size_t)s->vertex_count, 1);
    int32_t *next = brio__calloc((size_t)processes, sizeof *next);
    BrioStatus status = d->owner && d->place && d->fixed_owner && d->component && d->seen && next
                            ? BRIO_OK
                            : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK) {
        for (int32_t b = 0; b < s->block_count; b++) d->place[b] = next[owner[b]]++;
        for (int t = s->term_count - 1; t >= 0; t--) /* the first element that has it decides */
            for (int64_t e = s->term[t].elements - 1; e >= 0; e--)
                for (int k = 0; k < s->term[t].energy->nodes; k++) {
                    int32_t v = brio__term_vertex(&s->term[t], e, k);
                    if (!has_coordinates(s, v))
                        d->fixed_owner[brio__system_fixed_index(s, v)] =
                            owner_of_element(s, d, &s->term[t], e);
                }
        mark_seen(s, also, also_count, d->seen);
        status = brio__components_find(s, d->component, &d->component_count, &d->component_fixed);
    }
    brio__free(next);
    if (status != BRIO_OK) brio__division_free(d);
    return status;
}

void brio__division_free(BrioDivision *d)
{
    brio__free(d->owner);
    brio__free(d->place);
    brio__free(d->fixed_owner);
    brio__free(d->component);
    brio__free(d->component_fixed);
    brio__free(d->seen);
    *d = (BrioDivision){0};
}

void brio__partition_free(BrioPartition *partition)
{
    if (!partition) return;
    void *arrays[] = {partition->block, partition->vertex,       partition->fixed,
                      partition->param, partition->writes_fixed, partition->writes_param,
                      partition->body,  partition->component,    partition->component_fixed};
    for (size_t i = 0; i < BRIO_COUNT(arrays); i++) brio__free(arrays[i]);
    brio__free(partition);
}

/* ---- one partition -------------------------------------------------------------------------- */

typedef struct Split {
    const BrioSystem *from;
    const BrioState *from_state;
    const BrioDivision *d;
    int process;
    BrioSystem *to;
    BrioPartition *partition;
    int32_t *vertex; /* of the whole: its number here, -1 for none */
    int32_t *block;
    int32_t *ghost;
    bool surfaces; /* all of them are here */
    bool failed;
} Split;

static void *room(Split *w, int64_t count, size_t size)
{
    void *created = brio__calloc((size_t)count + 1, size);
    if (!created) w->failed = true;
    return created;
}

static void choose_vertices(Split *w)
{
    const BrioSystem *s = w->from;
    for (int64_t v = 0; v < s->vertex_count; v++)
        w->vertex[v] =
            owner_of_vertex(s, w->d, v) == w->process || (w->process == 0 && w->d->seen[v]) ? 1
                                                                                            : -1;
    for (int t = 0; t < s->term_count; t++)
        for (int64_t e = 0; e < s->term[t].elements; e++) {
            if (owner_of_element(s, w->d, &s->term[t], e) != w->process) continue;
            for (int k = 0; k < s->term[t].energy->nodes; k++)
                w->vertex[brio__term_vertex(&s->term[t], e, k)] = 1;
        }
    for (int32_t i = 0; s->surface && i < s->surface->vertex_count; i++)
        w->vertex[s->surface->vertex[i]] = 1;
    for (int i = 0; i < s->body_count; i++)
        for (int64_t k = 0; s->body[i].mass_point >= 0 && k < 4; k++)
            w->vertex[s->body[i].mass_point + k] = 1;
    for (int i = 0; i < s->obstacle_count; i++)
        for (int64_t k = 0; k < s->obstacle[i].count; k++) w->vertex[s->obstacle[i].first + k] = 1;
    int32_t next = 0;
    for (int64_t v = 0; v < s->vertex_count; v++) {
        if (w->vertex[v] < 0) continue;
        w->vertex[v] = next++;
        w->to->body_vertices += v < s->body_vertices;
    }
    w->to->vertex_count = next;
}

static void choose_blocks(Split *w)
{
    const BrioSystem *s = w->from;
    for (int32_t b = 0; b < s->block_count; b++) w->block[b] = -1;
    for (int64_t v = 0; v < s->vertex_count; v++)
        for (int32_t m = s->map_start[v]; w->vertex[v] >= 0 && m < s->map_start[v + 1]; m++)
            w->block[s->map_block[m]] = 0;
    int32_t next = 0;
    for (int ghosts = 0; ghosts < 2; ghosts++) {
        for (int32_t b = 0; b < s->block_count; b++)
            if (w->block[b] >= 0 && (w->d->owner[b] != w->process) == ghosts) w->block[b] = next++;
        if (!ghosts) w->partition->owned = next;
    }
    w->to->block_count = next;
    w->partition->block = room(w, next, sizeof *w->partition->block);
    w->partition->component = room(w, next, sizeof *w->partition->component);
    w->ghost = room(w, 2 * (int64_t)(next - w->partition->owned), sizeof *w->ghost);
    w->to->mass = room(w, next, sizeof *w->to->mass);
    for (int32_t b = 0; !w->failed && b < s->block_count; b++) {
        int32_t here = w->block[b];
        if (here < 0) continue;
        w->partition->block[here] = b;
        w->partition->component[here] = w->d->component[b];
        w->to->mass[here] = s->mass[b];
        if (here < w->partition->owned) continue;
        w->ghost[2 * (here - w->partition->owned)] = w->d->owner[b];
        w->ghost[2 * (here - w->partition->owned) + 1] = w->d->place[b];
    }
}

static void split_map(Split *w)
{
    const BrioSystem *s = w->from;
    BrioSystem *to = w->to;
    int64_t entries = 0, fixed = 0;
    for (int64_t v = 0; v < s->vertex_count; v++)
        if (w->vertex[v] >= 0)
            entries += s->map_start[v + 1] - s->map_start[v], fixed += !has_coordinates(s, v);
    to->map_start = room(w, to->vertex_count, sizeof *to->map_start);
    to->map_block = room(w, entries, sizeof *to->map_block);
    to->map_weight = room(w, entries, sizeof *to->map_weight);
    to->fixed = room(w, fixed, sizeof *to->fixed);
    to->vertex_mass = room(w, to->vertex_count, sizeof *to->vertex_mass);
    w->partition->vertex = room(w, to->vertex_count, sizeof *w->partition->vertex);
    w->partition->fixed = room(w, fixed, sizeof *w->partition->fixed);
    w->partition->writes_fixed = room(w, fixed, 1);
    int32_t at = 0;
    for (int64_t v = 0; !w->failed && v < s->vertex_count; v++) {
        int32_t here = w->vertex[v];
        if (here < 0) continue;
        bool own = owner_of_vertex(s, w->d, v) == w->process;
        w->partition->vertex[here] = v;
        if (own) to->vertex_mass[here] = s->vertex_mass[v];
        for (int32_t m = s->map_start[v]; m < s->map_start[v + 1]; m++, at++) {
            to->map_block[at] = w->block[s->map_block[m]];
            to->map_weight[at] = s->map_weight[m];
        }
        to->map_start[here + 1] = at;
        if (has_coordinates(s, v)) continue;
        w->partition->fixed[to->fixed_count] = brio__system_fixed_index(s, (int32_t)v);
        w->partition->writes_fixed[to->fixed_count] = own;
        to->fixed[to->fixed_count++] = here;
    }
}

/* First vertex here at or after v. */
static int64_t first_here(const Split *w, int64_t v)
{
    while (v < w->from->vertex_count && w->vertex[v] < 0) v++;
    return v < w->from->vertex_count ? w->vertex[v] : w->to->vertex_count;
}

static int32_t *own_numbers(Split *w, const int32_t *element, int64_t count, int64_t first,
                            int64_t first_new)
{
    int32_t *numbers = room(w, count, sizeof *numbers);
    for (int64_t k = 0; numbers && k < count; k++)
        numbers[k] = (int32_t)(w->vertex[first + element[k]] - first_new);
    return numbers;
}

static void split_bodies(Split *w)
{
    const BrioSystem *s = w->from;
    BrioSystem *to = w->to;
    to->body = room(w, s->body_count, sizeof *to->body);
    w->partition->body = room(w, s->body_count, sizeof *w->partition->body);
    w->partition->body_count = s->body_count;
    for (int i = 0; !w->failed && i < s->body_count; i++, to->body_count++) {
        const BrioBody *b = &s->body[i];
        BrioBody *n = &to->body[i];
        const BrioTerm *term = &s->term[b->term];
        *n = (BrioBody){.name = brio__strdup(b->name),
                        .first = first_here(w, b->first),
                        .mass_point = b->mass_point < 0 ? -1 : w->vertex[b->mass_point],
                        .term = b->term,
                        .term_count = b->term_count};
        n->count = first_here(w, b->first + b->count) - n->first;
        w->partition->body[i] =
            (BrioGlobalBody){b->first, b->count, b->tet_count, b->triangle_count, b->edge_count};
        if (!n->name) w->failed = true;
        if (w->surfaces || w->process == 0) {
            n->triangle = own_numbers(w, b->triangle, 3 * b->triangle_count, b->first, n->first);
            n->edge = own_numbers(w, b->edge, 2 * b->edge_count, b->first, n->first);
            n->triangle_count = b->triangle_count;
            n->edge_count = b->edge_count;
        }
        if (term->energy->element != BRIO_ELEMENT_TET) continue;
        n->tet = room(w, 4 * b->tet_count, sizeof *n->tet);
        for (int64_t e = 0; !w->failed && e < b->tet_count; e++) {
            if (owner_of_element(s, w->d, term, e) != w->process) continue;
            for (int k = 0; k < 4; k++)
                n->tet[4 * n->tet_count + k] =
                    (int32_t)(w->vertex[b->first + b->tet[4 * e + k]] - n->first);
            n->tet_count++;
        }
    }
}

static void split_term(Split *w, int t)
{
    const BrioTerm *term = &w->from->term[t];
    const BrioEnergy *energy = term->energy;
    BrioTerm *n = &w->to->term[t];
    *n = (BrioTerm){.energy = energy,
                    .body = term->body,
                    .obstacle = term->obstacle,
                    .params = w->to->param_count};
    for (int64_t e = 0; e < term->elements; e++)
        n->elements += owner_of_element(w->from, w->d, term, e) == w->process;
    n->packs = (n->elements + LANES - 1) / LANES;
    n->node = room(w, n->packs * LANES * energy->nodes, sizeof *n->node);
    n->rest = room(w, n->packs * LANES * energy->rest, sizeof *n->rest);
    w->to->param_count += energy->params;
    if (energy->live) {
        n->live = (w->to->param_count + LANES - 1) / LANES * LANES;
        w->to->param_count = n->live + (int)n->packs * LANES * energy->live;
    }
    for (int64_t e = 0, at = 0; !w->failed && e < term->elements; e++) {
        if (owner_of_element(w->from, w->d, term, e) != w->process) continue;
        /* the last element fills its block, weightless */
        int64_t last = at == n->elements - 1 ? n->packs * LANES : at + 1;
        for (int64_t i = at; i < last; i++) {
            for (int k = 0; k < energy->nodes; k++)
                n->node[(i / LANES * energy->nodes + k) * LANES + i % LANES] =
                    3 * w->vertex[brio__term_vertex(term, e, k)];
            for (int k = 0; k < energy->rest; k++)
                n->rest[(i / LANES * energy->rest + k) * LANES + i % LANES] =
                    i > at && k == 0
                        ? 0
                        : term->rest[(e / LANES * energy->rest + k) * LANES + e % LANES];
        }
        at++;
    }
}

/* Which parameter of the whole each one here is. */
static void number_params(Split *w)
{
    const BrioSystem *s = w->from;
    BrioSystem *to = w->to;
    int64_t *number = w->partition->param;
    for (int64_t k = 0; k < to->param_count; k++) number[k] = -1;
    for (int t = 0; t < s->term_count; t++) {
        const BrioTerm *term = &s->term[t], *n = &to->term[t];
        int live = term->energy->live;
        for (int k = 0; k < term->energy->params; k++)
            number[n->params + k] = term->params + k,
                               w->partition->writes_param[n->params + k] = w->process == 0;
        for (int64_t e = 0, at = 0; live && e < term->elements; e++) {
            if (owner_of_element(s, w->d, term, e) != w->process) continue;
            for (int k = 0; k < live; k++) {
                int64_t here = n->live + (at / LANES * live + k) * LANES + at % LANES;
                number[here] = term->live + (e / LANES * live + k) * LANES + e % LANES;
                w->partition->writes_param[here] = 1;
            }
            at++;
        }
    }
    for (int k = 0; k < BRIO_CONTACT_PARAMS; k++)
        number[to->contact_params + k] = s->contact_params + k,
                                    w->partition->writes_param[to->contact_params + k] =
                                        w->process == 0;
    for (int i = 0; i < s->body_count; i++)
        for (int k = 0; k < brio__fields_count(s->term[s->body[i].term].energy->fields); k++) {
            number[to->body[i].values + k] = s->body[i].values + k;
            w->partition->writes_param[to->body[i].values + k] = w->process == 0;
        }
}

static void split_terms(Split *w)
{
    const BrioSystem *s = w->from;
    BrioSystem *to = w->to;
    to->term = room(w, s->term_count, sizeof *to->term);
    for (int t = 0; !w->failed && t < s->term_count; t++, to->term_count++) split_term(w, t);
    if (w->failed) return;
    to->gravity_term = s->gravity_term;
    to->analytic_count = s->analytic_count;
    to->analytic_term = s->analytic_term;
    to->law = s->law;
    to->barrier = s->barrier;
    to->collider_params = s->collider_params; /* -1: cluster.c asks for it */
    to->epsv = s->epsv;
    to->fall_speed = s->fall_speed;
    to->friction_iterations = s->friction_iterations;
    to->start = s->start;
    to->relax_time = s->relax_time;
    to->dhat = s->dhat;
    to->contact_params = to->param_count;
    to->param_count += BRIO_CONTACT_PARAMS;
    for (int i = 0; i < s->body_count; i++) {
        to->body[i].values = to->param_count;
        to->param_count += brio__fields_count(s->term[s->body[i].term].energy->fields);
    }
    w->partition->param = room(w, to->param_count, sizeof *w->partition->param);
    w->partition->writes_param = room(w, to->param_count, 1);
    if (!w->failed) number_params(w);
}

static void *copy_of(Split *w, const void *from, int64_t count, size_t size)
{
    void *created = room(w, count, size);
    if (created && count) memcpy(created, from, (size_t)count * size);
    return created;
}

static void split_contact(Split *w)
{
    const BrioSystem *s = w->from;
    const BrioSurface *f = s->surface;
    BrioSystem *to = w->to;
    int64_t pairs = (int64_t)brio__owner_pairs(s);
    if (s->friction) to->friction = copy_of(w, s->friction, pairs, sizeof *s->friction);
    if (s->stiffness) to->stiffness = copy_of(w, s->stiffness, pairs, sizeof *s->stiffness);
    if (s->excluded) to->excluded = copy_of(w, s->excluded, pairs, sizeof *s->excluded);
    to->obstacle = room(w, s->obstacle_count, sizeof *to->obstacle);
    for (int i = 0; !w->failed && i < s->obstacle_count; i++, to->obstacle_count++) {
        const BrioObstacle *o = &s->obstacle[i];
        to->obstacle[i] = (BrioObstacle){
            .name = brio__strdup(o->name),
            .analytic = o->analytic,
            .first = first_here(w, o->first),
            .count = o->count,
            .triangle_count = o->triangle_count,
            .triangle = copy_of(w, o->triangle, 3 * o->triangle_count, sizeof *o->triangle),
            .edge_count = o->edge_count,
            .edge = copy_of(w, o->edge, 2 * o->edge_count, sizeof *o->edge)};
        if (o->table)
            to->obstacle[i].table =
                copy_of(w, o->table, (int64_t)o->table[BRIO_TABLE_COUNT], sizeof *o->table);
    }
    brio__system_tables(to);
    if (!f || w->failed) return;
    BrioSurface *n = to->surface = room(w, 1, sizeof *n);
    if (!n) return;
    *n = *f;
#define X(name, count) n->name = copy_of(w, f->name, count, sizeof *f->name);
    BRIO_SURFACE_ARRAYS(X, f)
#undef X
    for (int32_t i = 0; !w->failed && i < n->vertex_count; i++)
        n->vertex[i] = w->vertex[f->vertex[i]];
}

static void split_scripts(Split *w)
{
    const BrioSystem *s = w->from;
    BrioSystem *to = w->to;
    to->scripted = room(w, s->scripted_count, sizeof *to->scripted);
    for (int i = 0; !w->failed && i < s->scripted_count; i++, to->scripted_count++) {
        const BrioScripted *f = &s->scripted[i];
        BrioScripted *n = &to->scripted[i];
        n->script = f->script;
        n->script.keys =
            copy_of(w, f->script.keys, 4 * f->script.key_count, sizeof *f->script.keys);
        n->script.poses = copy_of(w, f->script.poses, BRIO_POSE_NUMBERS * f->script.pose_count,
                                  sizeof *f->script.poses);
        n->fixed = room(w, f->count, sizeof *n->fixed);
        for (int64_t k = 0; !w->failed && k < f->count; k++) {
            int32_t here = w->vertex[s->fixed[f->fixed[k]]];
            if (here >= 0) n->fixed[n->count++] = (int32_t)brio__system_fixed_index(to, here);
        }
    }
}

static BrioStatus split_state(Split *w, BrioState **created)
{
    const BrioState *from = w->from_state;
    const BrioSystem *to = w->to;
    BrioState *n;
    BRIO_CHECK(brio__state_create(to, 0, &n));
    n->time = from->time, n->time_error = from->time_error, n->step = from->step,
    n->last_h = from->last_h;
    for (int32_t b = 0; b < to->block_count; b++)
        for (int r = 0; r < 3; r++) {
            n->q[3 * (int64_t)b + r] = from->q[3 * w->partition->block[b] + r];
            n->v[3 * (int64_t)b + r] = from->v[3 * w->partition->block[b] + r];
        }
    for (int64_t i = 0; i < to->fixed_count; i++)
        for (int r = 0; r < 3; r++)
            n->anchor[3 * i + r] = from->anchor[3 * w->partition->fixed[i] + r];
    /* 1: lanes that only fill a block */
    for (int k = 0; k < to->param_count; k++)
        n->param[k] = w->partition->param[k] < 0 ? 1 : from->param[w->partition->param[k]];
    *created = n;
    return BRIO_OK;
}

BrioStatus brio__split(const BrioSystem *system, const BrioState *state, const BrioDivision *d,
                       int process, BrioSystem **local_system, BrioState **partition_state,
                       int32_t **ghost, int32_t *local_of)
{
    Split w = {.from = system,
               .from_state = state,
               .d = d,
               .process = process,
               .surfaces = system->surface};
    w.to = brio__handle_create(sizeof *w.to, BRIO_HANDLE_SYSTEM);
    w.failed = !w.to;
    w.partition = room(&w, 1, sizeof *w.partition);
    w.vertex = local_of ? local_of : room(&w, system->vertex_count, sizeof *w.vertex);
    w.block = room(&w, system->block_count, sizeof *w.block);
    if (!w.failed) {
        w.to->partition = w.partition;
        /* for the check that refuses them */
        w.to->constraint_count = system->constraint_count;
        w.to->stitch_term = system->stitch_term;
        w.partition->process = process;
        w.partition->processes = d->processes;
        w.partition->destroy = brio__partition_free;
        w.partition->blocks = system->block_count;
        w.partition->vertices = system->body_vertices;
        w.partition->fixed_vertices = system->fixed_count;
        w.partition->params = system->param_count;
        w.partition->component_count = d->component_count;
        w.partition->component_fixed =
            copy_of(&w, d->component_fixed, d->component_count, sizeof *d->component_fixed);
        choose_vertices(&w);
        choose_blocks(&w);
    }
    if (!w.failed) split_map(&w);
    if (!w.failed) split_bodies(&w);
    if (!w.failed) split_terms(&w);
    if (!w.failed) split_contact(&w);
    if (!w.failed) split_scripts(&w);
    if (!w.failed) w.failed = split_state(&w, partition_state) != BRIO_OK;
    if (!local_of) brio__free(w.vertex);
    brio__free(w.block);
    if (w.failed) {
        if (!w.to || !w.to->partition) brio__free(w.partition);
        brio_system_free(w.to);
        brio__free(w.ghost);
        return BRIO_ERROR_MEMORY;
    }
    *local_system = w.to;
    *ghost = w.ghost;
    return BRIO_OK;
}
