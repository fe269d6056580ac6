/* Points without coordinates: fixed vertices and the far ends of attachments, which stand still or
 * follow a script: b(t) in x = J q + b(t). An attachment is a spring of no length from a vertex x
 * to such a point p, E = k/2 |x - p|^2. */
#include "build.h"

#include "../handle.h"

/* The points that hold a bar1d move along x only too. */
static BrioStatus check_script_along_x(const BrioBodyPlan *plan, const BrioScript *script,
                                       BrioError *error)
{
    if (!script || !brio__moves_along_x(plan)) return BRIO_OK;
    bool across = script->velocity[1] != 0 || script->velocity[2] != 0 || script->sequence ||
                  script->pose_count || script->formula[1] || script->formula[2];
    for (int r = 0; r < 3; r++) across |= script->angular[r] != 0;
    for (int64_t k = 0; k < script->key_count; k++)
        across |= script->keys[4 * k + 2] != 0 || script->keys[4 * k + 3] != 0;
    if (!across) return BRIO_OK;
    return brio__error(
        error, BRIO_ERROR_INPUT,
        "the script moves points of body \"%s\" in y or z: a bar1d moves along x only", plan->name);
}

/* An affine body is fixed as a whole or not at all. */
static BrioStatus check_whole(BrioBodyPlan *plan, const int32_t *vertices, int64_t count,
                              BrioError *error)
{
    if (!plan->weight) return BRIO_OK;
    int64_t n = plan->mesh->vertex_count, distinct = 0;
    bool *seen = brio__calloc((size_t)n, sizeof *seen);
    if (!seen) return brio__no_memory(error);
    for (int64_t i = 0; i < count; i++) {
        distinct += !seen[vertices[i]];
        seen[vertices[i]] = true;
    }
    brio__free(seen);
    if (distinct == n) return BRIO_OK;
    return brio__error(error, BRIO_ERROR_INPUT,
                       "%lld of the %lld vertices of the affine body \"%s\" cannot be fixed alone: "
                       "fix all of them, or attach these",
                       (long long)distinct, (long long)n, plan->name);
}

/* Affine bodies and cages move as their mass points and nodes do, which are no vertices of a mesh.
 */
static BrioStatus check_follows(const BrioBodyPlan *plan, const BrioScript *script,
                                BrioError *error)
{
    if ((!plan->weight && !plan->cage) || !script) return BRIO_OK;
    if (!script->formula[0] && !script->formula[1] && !script->formula[2] &&
        !(script->sequence && script->sequence->frame_count))
        return BRIO_OK;
    return brio__error(error, BRIO_ERROR_INPUT,
                       "body \"%s\" %s and cannot follow frames or formulas: give poses, keys or "
                       "a velocity, or make it a solid",
                       plan->name,
                       plan->cage ? "is carried by a cage" : "moves with twelve coordinates");
}

/* Vertices of a body as the points of a script, which start at `base`. */
static BrioScriptPoints points_of(const BrioBodyPlan *plan, const int32_t *vertices, int64_t count,
                                  const double *base)
{
    return (BrioScriptPoints){.count = count,
                              .row = vertices,
                              .of = plan->mesh->vertex_count,
                              .base = base,
                              .linear = plan->linear,
                              .translate = plan->translate};
}

BrioStatus brio_builder_fix(BrioBuilder *builder, int body, const int32_t *vertices, int64_t count,
                            const BrioScript *script, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder) && (vertices || count <= 0), error);
    int number;
    BRIO_CHECK(brio__builder_open(builder, error));
    for (int64_t i = 0; i < count; i++)
        BRIO_CHECK(brio__builder_check_vertex(builder, body, vertices[i], error));
    if (count <= 0) return BRIO_OK;
    BrioBodyPlan *plan = &builder->body[body];
    BRIO_CHECK(check_whole(plan, vertices, count, error));
    BRIO_CHECK(check_script_along_x(plan, script, error));
    BRIO_CHECK(check_follows(plan, script, error));
    double *base = brio__alloc(3 * (size_t)count, sizeof *base);
    if (!base) return brio__no_memory(error);
    for (int64_t i = 0; i < count; i++)
        memcpy(base + 3 * i, plan->x + 3 * (int64_t)vertices[i], 3 * sizeof *base);
    BrioScriptPoints points = points_of(plan, vertices, count, base);
    BrioStatus status = brio__plan_script(builder, script, &points, &number, error);
    brio__free(base);
    if (status == BRIO_OK && plan->cage)
        return brio__cage_fix(plan, vertices, count, number, error);
    for (int64_t i = 0; status == BRIO_OK && i < count; i++) {
        plan->fix[vertices[i]] = number;
        plan->row[vertices[i]] = (int32_t)i;
    }
    return status;
}

BrioStatus brio_builder_fix_axes(BrioBuilder *builder, int body, const int32_t *vertices,
                                 int64_t count, unsigned axes, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder) && (vertices || count <= 0), error);
    BRIO_CHECK(brio__builder_open(builder, error));
    if (axes > 7)
        return brio__error(error, BRIO_ERROR_INPUT, "axes %u: bit 0 is x, bit 1 is y, bit 2 is z",
                           axes);
    for (int64_t i = 0; i < count; i++)
        BRIO_CHECK(brio__builder_check_vertex(builder, body, vertices[i], error));
    if (count <= 0 || axes == 0) return BRIO_OK;
    if (axes == 7) return brio_builder_fix(builder, body, vertices, count, NULL, error);
    BrioBodyPlan *plan = &builder->body[body];
    if (plan->weight || plan->cage)
        return brio__error(
            error, BRIO_ERROR_INPUT,
            "body \"%s\" %s and cannot be fixed along some axes: fix all of them, or "
            "attach vertices",
            plan->name, plan->cage ? "is carried by a cage" : "moves with twelve coordinates");
    if (!plan->axes) {
        plan->axes = brio__calloc((size_t)plan->mesh->vertex_count, sizeof *plan->axes);
        if (!plan->axes) return brio__no_memory(error);
    }
    for (int64_t i = 0; i < count; i++) plan->axes[vertices[i]] |= (uint8_t)axes;
    return BRIO_OK;
}

/* Whether a spring of stiffness k may pull the vertex to the point. */
static BrioStatus check_attachment(const BrioBodyPlan *plan, int32_t vertex, const double point[3],
                                   double k, BrioError *error)
{
    if (!(k > 0) || isinf(k))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "the attachment's stiffness k = %g N/m must be positive", k);
    for (int r = 0; r < 3; r++)
        if (!isfinite(point[r]))
            return brio__error(error, BRIO_ERROR_INPUT, "the attachment's point is not finite");
    const double *x = plan->x + 3 * (int64_t)vertex;
    if (brio__moves_along_x(plan) && (point[1] != x[1] || point[2] != x[2]))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "the point [%g, %g, %g] pulls vertex %d of body \"%s\" in y or z: a "
                           "bar1d moves along x only",
                           point[0], point[1], point[2], vertex, plan->name);
    return BRIO_OK;
}

/* One attachment, of row `row` of a script that is planned. */
static BrioStatus add_attachment(BrioBuilder *builder, const BrioAttachmentPlan *attachment,
                                 BrioError *error)
{
    BrioAttachmentPlan *grown =
        brio__room_for_one(builder->attachment, builder->attachment_count, sizeof *attachment);
    if (!grown) return brio__no_memory(error);
    builder->attachment = grown;
    grown[builder->attachment_count++] = *attachment;
    return BRIO_OK;
}

BrioStatus brio_builder_attach_all(BrioBuilder *builder, int body, const int32_t *vertices,
                                   int64_t count, const double *points, double k,
                                   const double *weight, const BrioScript *script, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder) && (vertices || count <= 0), error);
    BRIO_CHECK(brio__builder_open(builder, error));
    for (int64_t i = 0; i < count; i++)
        BRIO_CHECK(brio__builder_check_vertex(builder, body, vertices[i], error));
    if (count <= 0) return BRIO_OK;
    const BrioBodyPlan *plan = &builder->body[body];
    double *base = brio__alloc(3 * (size_t)count, sizeof *base);
    BrioStatus status = base ? BRIO_OK : brio__no_memory(error);
    BrioScriptPoints starts = points_of(plan, vertices, count, base);
    BrioAttachmentPlan created = {.body = body};
    for (int64_t i = 0; status == BRIO_OK && i < count; i++) {
        const double *x = points ? points + 3 * i : plan->x + 3 * (int64_t)vertices[i];
        memcpy(base + 3 * i, x, 3 * sizeof *base);
        status = check_attachment(plan, vertices[i], base + 3 * i, k, error);
        if (status == BRIO_OK && weight && (!(weight[i] >= 0) || isinf(weight[i])))
            status = brio__error(error, BRIO_ERROR_INPUT,
                                 "the weight %g of vertex %d must not be negative", weight[i],
                                 vertices[i]);
    }
    if (status == BRIO_OK) status = check_script_along_x(plan, script, error);
    if (status == BRIO_OK)
        status = brio__plan_script(builder, script, &starts, &created.script, error);
    for (int64_t i = 0; status == BRIO_OK && i < count; i++) {
        if (weight && weight[i] == 0) continue;
        created.vertex = vertices[i];
        created.row = (int)i;
        created.k = k * (weight ? weight[i] : 1);
        memcpy(created.point, base + 3 * i, sizeof created.point);
        status = add_attachment(builder, &created, error);
    }
    brio__free(base);
    return status;
}

BrioStatus brio_builder_attach(BrioBuilder *builder, int body, int32_t vertex,
                               const double point[3], double k, const BrioScript *script,
                               BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder) && point, error);
    return brio_builder_attach_all(builder, body, &vertex, 1, point, k, NULL, script, error);
}
