/* Removals from a builder, for edits: an object, and everything that depends on it. A body or an
 * obstacle that is removed leaves its number behind, as one without vertices,
 * so that all other numbers stay what they are. */
#include "build.h"

#include "../handle.h"

/* ---- bodies ----------------------------------------------------------------------------- */

/* A body of no vertices. */
static BrioStatus make_empty(BrioBodyPlan *plan, BrioError *error)
{
    *plan = (BrioBodyPlan){.energy = brio__energy("mass"), .removed = true};
    plan->kind = brio__body_kind(plan->energy);
    plan->name = brio__strdup("");
    plan->x = brio__calloc(3, sizeof(double));
    plan->v = brio__calloc(3, sizeof(double));
    plan->mass = brio__calloc(1, sizeof(double));
    plan->fix = brio__calloc(1, sizeof *plan->fix);
    plan->row = brio__calloc(1, sizeof *plan->row);
    BrioStatus status = brio__mesh_create(0, 0, 0, 0, &plan->mesh, error);
    if (status == BRIO_OK) plan->mesh->x = brio__calloc(3, sizeof(double));
    if (status == BRIO_OK && plan->name && plan->x && plan->v && plan->mass && plan->fix &&
        plan->row && plan->mesh->x)
        return BRIO_OK;
    brio__free_body_plan(plan);
    return brio__no_memory(error);
}

static BrioStatus check_body(const BrioBuilder *b, int body, BrioError *error)
{
    if (body >= 0 && body < b->body_count && !b->body[body].removed) return BRIO_OK;
    return brio__error(error, BRIO_ERROR_ARGUMENT, "there is no body %d", body);
}

static void drop_force(BrioBuilder *b, int force)
{
    brio__free_force_plan(&b->force[force]);
    memmove(b->force + force, b->force + force + 1,
            (size_t)(--b->force_count - force) * sizeof *b->force);
}

/* Forces that name the body act on it no longer; one that acted on nothing else goes. */
static void drop_from_forces(BrioBuilder *b, int body)
{
    for (int i = b->force_count - 1; i >= 0; i--) {
        BrioForcePlan *plan = &b->force[i];
        int left = 0, named = plan->body_count;
        int64_t chosen = 0;
        for (int k = 0; k < named; k++)
            if (plan->bodies[k] != body) plan->bodies[left++] = plan->bodies[k];
        for (int64_t k = 0; k < plan->chosen_count; k++)
            if (plan->chosen[2 * k] != body)
                memmove(plan->chosen + 2 * chosen++, plan->chosen + 2 * k,
                        2 * sizeof *plan->chosen);
        bool idle = (named && left == 0) || (plan->chosen && chosen == 0);
        plan->body_count = left;
        plan->chosen_count = chosen;
        if (idle) drop_force(b, i);
    }
}

/* What two bodies or obstacles have between them; `number` as in brio_builder_friction. */
static void drop_pairs(BrioBuilder *b, int number)
{
    int left = 0;
    for (int i = 0; i < b->pair_count; i++)
        if (b->pair[i].a != number && b->pair[i].b != number) b->pair[left++] = b->pair[i];
    b->pair_count = left;
}

static void drop_constraint(BrioBuilder *b, int i)
{
    brio__free_constraint_plan(&b->constraint[i]);
    memmove(b->constraint + i, b->constraint + i + 1,
            (size_t)(--b->constraint_count - i) * sizeof *b->constraint);
}

/* brio__room_for_one doubles at powers of two: an array that has shrunk has more room than that
 * tells, which only costs a copy. */
static void drop_joined(BrioBuilder *b, int body)
{
    int64_t attachments = 0, stitches = 0;
    for (int64_t i = 0; i < b->attachment_count; i++)
        if (b->attachment[i].body != body) b->attachment[attachments++] = b->attachment[i];
    b->attachment_count = attachments;
    for (int64_t i = 0; i < b->stitch_count; i++) {
        const int *of = b->stitch[i].body;
        if (of[0] != body && of[1] != body && of[2] != body && of[3] != body)
            b->stitch[stitches++] = b->stitch[i];
    }
    b->stitch_count = stitches;
    for (int i = b->constraint_count - 1; i >= 0; i--) {
        const BrioConstraint *c = &b->constraint[i].constraint;
        if (c->body[0] == body || c->body[1] == body) drop_constraint(b, i);
    }
}

BrioStatus brio_builder_remove_body(BrioBuilder *builder, int body, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder), error);
    BrioBodyPlan empty;
    BRIO_CHECK(brio__builder_open(builder, error));
    BRIO_CHECK(check_body(builder, body, error));
    BRIO_CHECK(make_empty(&empty, error));
    brio__free_body_plan(&builder->body[body]);
    builder->body[body] = empty;
    drop_joined(builder, body);
    drop_from_forces(builder, body);
    drop_pairs(builder, body);
    return BRIO_OK;
}

/* ---- obstacles -------------------------------------------------------------------------- */

BrioStatus brio_builder_remove_obstacle(BrioBuilder *builder, int obstacle, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder), error);
    BRIO_CHECK(brio__builder_open(builder, error));
    if (obstacle < 0 || obstacle >= builder->obstacle_count || builder->obstacle[obstacle].removed)
        return brio__error(error, BRIO_ERROR_ARGUMENT, "there is no obstacle %d", obstacle);
    char *name = brio__strdup("");
    if (!name) return brio__no_memory(error);
    BrioObstaclePlan *plan = &builder->obstacle[obstacle];
    int formula = plan->analytic;
    if (formula >= 0) {
        brio__free(builder->analytic[formula].table);
        memmove(builder->analytic + formula, builder->analytic + formula + 1,
                (size_t)(--builder->analytic_count - formula) * sizeof *builder->analytic);
        for (int i = 0; i < builder->obstacle_count; i++)
            builder->obstacle[i].analytic -= builder->obstacle[i].analytic > formula;
    }
    if (plan->mesh) builder->obstacle_vertices -= plan->mesh->vertex_count;
    brio_mesh_free(plan->mesh);
    brio__free(plan->name);
    *plan = (BrioObstaclePlan){.name = name, .analytic = -1, .removed = true};
    drop_pairs(builder, BRIO_OBSTACLE(obstacle));
    return BRIO_OK;
}

/* ---- rods, attachments, forces, pins ---------------------------------------------------- */

BrioStatus brio_builder_remove_rod(BrioBuilder *builder, int body_a, int32_t vertex_a, int body_b,
                                   int32_t vertex_b, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder), error);
    BRIO_CHECK(brio__builder_open(builder, error));
    const int body[2] = {body_a, body_b};
    const int32_t vertex[2] = {vertex_a, vertex_b};
    for (int i = 0; i < builder->constraint_count; i++)
        for (int k = 0; k < 2; k++) {
            const BrioConstraintPlan *rod = &builder->constraint[i];
            if (rod->constraint.type != brio__constraint_type_at(0) ||
                rod->end[0].body != body[k] || rod->end[0].vertex != vertex[k] ||
                rod->end[1].body != body[1 - k] || rod->end[1].vertex != vertex[1 - k])
                continue;
            drop_constraint(builder, i);
            return BRIO_OK;
        }
    return brio__error(error, BRIO_ERROR_ARGUMENT,
                       "no rod joins vertex %d of body %d and vertex %d of body %d", vertex_a,
                       body_a, vertex_b, body_b);
}

BrioStatus brio_builder_remove_constraint(BrioBuilder *builder, const char *name, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder) && name, error);
    BRIO_CHECK(brio__builder_open(builder, error));
    for (int i = 0; i < builder->constraint_count; i++)
        if (!strcmp(builder->constraint[i].constraint.name, name)) {
            drop_constraint(builder, i);
            return BRIO_OK;
        }
    enum { LIMIT = 64 };
    const char *names[LIMIT];
    int count = BRIO_MIN(builder->constraint_count, LIMIT);
    for (int i = 0; i < count; i++) names[i] = builder->constraint[i].constraint.name;
    return brio__no_such_name("constraint", name, names, count, error);
}

BrioStatus brio_builder_detach(BrioBuilder *builder, int body, int32_t vertex, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder), error);
    BRIO_CHECK(brio__builder_open(builder, error));
    BRIO_CHECK(brio__builder_check_vertex(builder, body, vertex, error));
    int64_t left = 0, before = builder->attachment_count;
    for (int64_t i = 0; i < before; i++) {
        const BrioAttachmentPlan *plan = &builder->attachment[i];
        if (plan->body != body || plan->vertex != vertex) builder->attachment[left++] = *plan;
    }
    builder->attachment_count = left;
    if (left < before) return BRIO_OK;
    return brio__error(error, BRIO_ERROR_ARGUMENT, "vertex %d of body \"%s\" has no attachment",
                       vertex, builder->body[body].name);
}

BrioStatus brio_builder_remove_force(BrioBuilder *builder, const char *name, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder) && name, error);
    BRIO_CHECK(brio__builder_open(builder, error));
    for (int i = 0; i < builder->force_count; i++)
        if (!strcmp(builder->force[i].force.name, name)) {
            drop_force(builder, i);
            return BRIO_OK;
        }
    enum { LIMIT = 64 };
    const char *names[LIMIT];
    int count = BRIO_MIN(builder->force_count, LIMIT);
    for (int i = 0; i < count; i++) names[i] = builder->force[i].force.name;
    return brio__no_such_name("force", name, names, count, error);
}

BrioStatus brio_builder_unfix(BrioBuilder *builder, int body, const int32_t *vertices,
                              int64_t count, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder) && (vertices || count == 0), error);
    BRIO_CHECK(brio__builder_open(builder, error));
    BRIO_CHECK(check_body(builder, body, error));
    BrioBodyPlan *plan = &builder->body[body];
    for (int64_t i = 0; i < count; i++)
        BRIO_CHECK(brio__builder_check_vertex(builder, body, vertices[i], error));
    if (plan->weight && count > 0 && count < plan->mesh->vertex_count)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "the affine body \"%s\" is fixed as a whole: free all of its vertices",
                           plan->name);
    for (int64_t i = 0; i < count; i++) plan->fix[vertices[i]] = -1;
    for (int64_t i = 0; plan->axes && i < count; i++) plan->axes[vertices[i]] = 0;
    const BrioCage *cage = plan->cage; /* of it, the nodes that carry them */
    for (int64_t i = 0; cage && i < count; i++)
        for (int64_t k = 4 * (int64_t)vertices[i]; k < 4 * (int64_t)vertices[i] + 4; k++)
            if (cage->weight[k] != 0) plan->node_fix[cage->node[k]] = -1;
    return BRIO_OK;
}

/* ---- forces by box or sphere ------------------------------------------------------------ */

static bool acts_on(const BrioForcePlan *plan, int body)
{
    bool named = plan->body_count == 0;
    for (int i = 0; i < plan->body_count; i++) named |= plan->bodies[i] == body;
    return named;
}

static BrioStatus choose(BrioBuilder *b, BrioForcePlan *plan, BrioError *error)
{
    int64_t most = 0, count = 0;
    for (int i = 0; i < b->body_count; i++) most += b->body[i].mesh->vertex_count;
    uint8_t *on = brio__alloc((size_t)most + 1, 1);
    int32_t *chosen = brio__alloc(2 * (size_t)most + 1, sizeof *chosen);
    for (int i = 0; on && chosen && i < b->body_count; i++) {
        if (!acts_on(plan, i)) continue;
        brio__force_chooses(plan, &b->body[i], i, on);
        for (int64_t v = 0; v < b->body[i].mesh->vertex_count; v++)
            if (on[v]) {
                chosen[2 * count] = i;
                chosen[2 * count++ + 1] = (int32_t)v;
            }
    }
    brio__free(on);
    if (!on || !chosen) {
        brio__free(chosen);
        return brio__no_memory(error);
    }
    plan->chosen = chosen;
    plan->chosen_count = count;
    return BRIO_OK;
}

BrioStatus brio__builder_choose_now(BrioBuilder *b, BrioError *error)
{
    for (int i = 0; i < b->force_count; i++) {
        BrioForcePlan *plan = &b->force[i];
        bool region = !isnan(plan->box[0]) || !isnan(plan->sphere[0]);
        if (region && !plan->force.kept && !plan->chosen) BRIO_CHECK(choose(b, plan, error));
    }
    return BRIO_OK;
}

const char *brio__builder_calls(const BrioBuilder *b)
{
    for (int i = 0; i < b->force_count; i++)
        if (b->force[i].force.function) return b->force[i].force.name;
    return NULL;
}
