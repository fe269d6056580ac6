/* The builder: an object that collects bodies, fixed vertices, attachments, constraints, obstacles
 * and contact until brio_builder_finish makes a system of them. Here are its life and the small
 * questions; each kind of thing that it collects has a file of its own. */
#include "build.h"

#include "../handle.h"

enum { MAX_NAME = 255 }; /* bytes; frame files and motion.bin hold names of that length */

BrioStatus brio__builder_open(const BrioBuilder *builder, BrioError *error)
{
    if (error) *error = (BrioError){0};
    if (!builder->finished) return BRIO_OK;
    return brio__error(error, BRIO_ERROR_ARGUMENT,
                       "this builder is already finished: create another one");
}

BrioStatus brio__check_name(const char *what, const char *name, BrioError *error)
{
    size_t length = strlen(name);
    if (length <= MAX_NAME) return BRIO_OK;
    return brio__error(error, BRIO_ERROR_INPUT,
                       "the name of %s has %zu bytes, and the maximum is %d; make it shorter", what,
                       length, MAX_NAME);
}

void *brio__copy_of(const void *array, int64_t count, size_t size)
{
    void *copy = brio__alloc((size_t)count + 1, size);
    if (copy && count > 0) memcpy(copy, array, (size_t)count * size);
    return copy;
}

void *brio__copy_any(const void *array, int64_t count, size_t size, bool *complete)
{
    void *copy = count > 0 ? brio__copy_of(array, count, size) : NULL;
    *complete &= copy || count <= 0;
    return copy;
}

bool brio__copy_indices(const int32_t *from, int64_t count, int32_t **to)
{
    bool complete = true;
    *to = brio__copy_any(from, count, sizeof *from, &complete);
    return complete;
}

BrioCage *brio__copy_cage(const BrioCage *from)
{
    BrioCage *to = brio__alloc(1, sizeof *to);
    if (!to) return NULL;
    *to = *from;
    to->x = brio__copy_of(from->x, 3 * from->node_count, sizeof *from->x);
    to->volume = brio__copy_of(from->volume, from->node_count, sizeof *from->volume);
    to->tet = brio__copy_of(from->tet, 4 * from->tet_count, sizeof *from->tet);
    to->fill = brio__copy_of(from->fill, from->tet_count, sizeof *from->fill);
    to->node = brio__copy_of(from->node, 4 * from->vertex_count, sizeof *from->node);
    to->weight = brio__copy_of(from->weight, 4 * from->vertex_count, sizeof *from->weight);
    if (to->x && to->volume && to->tet && to->fill && to->node && to->weight) return to;
    brio__cage_free(to);
    return NULL;
}

void *brio__room_for_one(void *array, int64_t count, size_t size)
{
    return count & (count - 1)
               ? array
               : brio__realloc(array, (size_t)count, count ? 2 * (size_t)count : 1, size);
}

BrioStatus brio_builder_create(BrioBuilder **builder, BrioError *error)
{
    BRIO_NEEDS(builder, error);
    if (error) *error = (BrioError){0};
    BrioBuilder *created = brio__handle_create(sizeof *created, BRIO_HANDLE_BUILDER);
    if (!created) return brio__no_memory(error);
    created->script = brio__calloc(1, sizeof *created->script);
    if (!created->script) {
        brio__handle_free(created);
        return brio__no_memory(error);
    }
    created->script[0].script = brio_default_script();
    created->script_count = 1;
    created->obstacle_at_fault = created->constraint_at_fault = created->force_at_fault = -1;
    created->contact = brio_default_contact();
    *builder = created;
    return BRIO_OK;
}

void brio_builder_free(BrioBuilder *builder)
{
    if (!BRIO_LIVES(BUILDER, builder)) return;
    for (int i = 0; i < builder->body_count; i++) brio__free_body_plan(&builder->body[i]);
    for (int i = 0; i < builder->script_count; i++) brio__free_script_plan(&builder->script[i]);
    brio__free(builder->body);
    brio__free(builder->script);
    brio__free(builder->attachment);
    for (int i = 0; i < builder->obstacle_count; i++) {
        brio__free(builder->obstacle[i].name);
        brio_mesh_free(builder->obstacle[i].mesh);
    }
    brio__free(builder->obstacle);
    for (int k = 0; k < builder->analytic_count; k++) brio__free(builder->analytic[k].table);
    brio__free(builder->analytic);
    brio__free(builder->pair);
    for (int i = 0; i < builder->constraint_count; i++)
        brio__free_constraint_plan(&builder->constraint[i]);
    brio__free(builder->constraint);
    brio__free(builder->stitch);
    for (int i = 0; i < builder->force_count; i++) brio__free_force_plan(&builder->force[i]);
    brio__free(builder->force);
    brio__handle_free(builder);
}

void brio_builder_gravity(BrioBuilder *builder, const double gravity[3])
{
    BRIO_NEEDS_OR_NOTHING(BRIO_LIVES(BUILDER, builder) && gravity);
    memcpy(builder->gravity, gravity, sizeof builder->gravity);
}

int brio__builder_find(const BrioBuilder *builder, const char *name)
{
    for (int i = 0; i < builder->body_count; i++)
        if (!strcmp(builder->body[i].name, name)) return i;
    return -1;
}

const char *brio__builder_law(const BrioBuilder *builder)
{
    return builder->contact_asked ? builder->contact.law : "";
}

const char *brio__builder_name(const BrioBuilder *builder, int body)
{
    return body >= 0 && body < builder->body_count ? builder->body[body].name : NULL;
}

BrioStatus brio__builder_check_vertex(const BrioBuilder *builder, int body, int64_t vertex,
                                      BrioError *error)
{
    if (body < 0 || body >= builder->body_count || builder->body[body].removed)
        return brio__error(error, BRIO_ERROR_ARGUMENT, "there is no body %d", body);
    const BrioBodyPlan *plan = &builder->body[body];
    if (vertex < 0 || vertex >= plan->mesh->vertex_count)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "body \"%s\" has no vertex %lld: it has vertices 0 to %lld", plan->name,
                           (long long)vertex, (long long)plan->mesh->vertex_count - 1);
    return BRIO_OK;
}

const int32_t *brio__builder_triangles(const BrioBuilder *builder, int body, int64_t *count)
{
    *count = builder->body[body].mesh->triangle_count;
    return builder->body[body].mesh->triangle;
}
