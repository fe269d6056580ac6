/* Rigid rods: |x_a - x_b| = length. The solver keeps them by multipliers (solve/constraint.h). */
#include "build.h"

#include "../handle.h"

BrioStatus brio_builder_rod(BrioBuilder *builder, int body_a, int32_t vertex_a, int body_b,
                            int32_t vertex_b, double length, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder), error);
    BrioRodPlan created = {{body_a, body_b}, {vertex_a, vertex_b}, length};
    BRIO_CHECK(brio__builder_open(builder, error));
    for (int k = 0; k < 2; k++) {
        BRIO_CHECK(brio__builder_check_vertex(builder, created.body[k], created.vertex[k], error));
        if (brio__moves_along_x(&builder->body[created.body[k]]))
            return brio__error(
                error, BRIO_ERROR_INPUT,
                "a rod at body \"%s\" would push it in y or z: a bar1d moves along x only",
                builder->body[created.body[k]].name);
    }
    if (body_a == body_b && vertex_a == vertex_b)
        return brio__error(
            error, BRIO_ERROR_INPUT,
            "both ends of the rod are vertex %d of body \"%s\": a rod needs two vertices", vertex_a,
            builder->body[body_a].name);
    if (!isnan(length) && (!(length > 0) || isinf(length)))
        return brio__error(error, BRIO_ERROR_INPUT, "the rod's length = %g m must be positive",
                           length);
    double apart = brio__distance3(builder->body[body_a].x + 3 * (int64_t)vertex_a,
                                   builder->body[body_b].x + 3 * (int64_t)vertex_b);
    if (!(apart > 0))
        return brio__error(
            error, BRIO_ERROR_INPUT,
            "the ends of the rod are at the same place in the first state: a rod needs a length");
    if (isnan(length)) created.length = apart;
    if (fabs(apart - created.length) > 1e-6 * created.length)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "the ends of the rod are %.9g m apart in the first state, and its "
                           "length is %.9g m: move them, or leave length out",
                           apart, length);
    for (int i = 0; i < builder->rod_count; i++) {
        const BrioRodPlan *other = &builder->rod[i];
        for (int k = 0; k < 2; k++)
            if (other->body[0] == created.body[k] && other->vertex[0] == created.vertex[k] &&
                other->body[1] == created.body[1 - k] && other->vertex[1] == created.vertex[1 - k])
                return brio__error(error, BRIO_ERROR_INPUT,
                                   "rod %d joins the same two vertices: leave one out", i);
    }
    BrioRodPlan *grown = brio__room_for_one(builder->rod, builder->rod_count, sizeof created);
    if (!grown) return brio__no_memory(error);
    builder->rod = grown;
    grown[builder->rod_count++] = created;
    return BRIO_OK;
}

int brio__builder_rod_at_fault(const BrioBuilder *builder) { return builder->rod_at_fault; }

/* Vertices may have been fixed after a rod was joined to them. */
BrioStatus brio__check_rods(BrioBuilder *b, BrioError *error)
{
    for (int i = 0; i < b->rod_count; i++) {
        const BrioRodPlan *rod = &b->rod[i];
        int fixed = 0;
        b->rod_at_fault = i;
        for (int k = 0; k < 2; k++) {
            const BrioBodyPlan *plan = &b->body[rod->body[k]];
            fixed += plan->fix[rod->vertex[k]] >= 0;
            if (plan->fix[rod->vertex[k]] > 0)
                return brio__error(error, BRIO_ERROR_INPUT,
                                   "vertex %d of body \"%s\" is moved by a script: the ends of a "
                                   "rod are free or stand still in this version of brio",
                                   rod->vertex[k], plan->name);
        }
        if (fixed == 2)
            return brio__error(error, BRIO_ERROR_INPUT,
                               "both ends of rod %d are fixed: leave it out", i);
    }
    b->rod_at_fault = -1;
    return BRIO_OK;
}

BrioStatus brio__build_rods(const BrioBuilder *b, BrioSystem *s)
{
    s->rod = brio__calloc((size_t)b->rod_count, sizeof *s->rod);
    if (!s->rod) return BRIO_ERROR_MEMORY;
    s->rod_count = b->rod_count;
    for (int i = 0; i < b->rod_count; i++) {
        s->rod[i].length = b->rod[i].length;
        for (int k = 0; k < 2; k++)
            s->rod[i].vertex[k] = (int32_t)s->body[b->rod[i].body[k]].first + b->rod[i].vertex[k];
    }
    return BRIO_OK;
}
