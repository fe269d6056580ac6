/* Points without coordinates: fixed vertices and the far ends of attachments, which stand still or
 * follow a script: b(t) in x = J q + b(t). An attachment is a spring of no length from a vertex x
 * to such a point p, E = k/2 |x - p|^2. */
#include "build.h"

BrioScript brio_default_script(void) { return (BrioScript){.end = INFINITY}; }

BrioStatus brio__plan_script(BrioBuilder *builder, const BrioScript *script, int *number,
                             BrioError *error)
{
    *number = 0;
    if (!script) return BRIO_OK;
    if (!isfinite(script->start) || !(script->end >= script->start))
        return brio__error(error, BRIO_ERROR_INPUT, "a script must not end before it starts");
    bool finite = true;
    for (int r = 0; r < 3; r++)
        finite &= isfinite(script->velocity[r]) && isfinite(script->angular[r]) &&
                  isfinite(script->about[r]);
    for (int64_t k = 0; k < 4 * script->key_count; k++) finite &= isfinite(script->keys[k]) != 0;
    if (!finite)
        return brio__error(error, BRIO_ERROR_INPUT, "a script has a number that is not finite");
    for (int64_t k = 0; k < script->key_count; k++)
        if (k > 0 && !(script->keys[4 * k] > script->keys[4 * (k - 1)]))
            return brio__error(
                error, BRIO_ERROR_INPUT,
                "the times of a script's keys must rise: key %lld is at %g s, after one at %g s",
                (long long)k, script->keys[4 * k], script->keys[4 * (k - 1)]);
    BrioScript copy = *script;
    double *keys = NULL;
    if (script->key_count) {
        keys = brio__alloc((size_t)script->key_count * 4, sizeof *keys);
        if (!keys) return brio__no_memory(error);
        memcpy(keys, script->keys, (size_t)script->key_count * 4 * sizeof *keys);
    }
    copy.keys = keys;
    BrioScript *grown = brio__room_for_one(builder->script, builder->script_count, sizeof copy);
    if (!grown) {
        brio__free(keys);
        return brio__no_memory(error);
    }
    builder->script = grown;
    grown[builder->script_count] = copy;
    *number = builder->script_count++;
    return BRIO_OK;
}

/* The points that hold a bar1d move along x only too. */
static BrioStatus check_script_along_x(const BrioBodyPlan *plan, const BrioScript *script,
                                       BrioError *error)
{
    if (!script || !brio__moves_along_x(plan)) return BRIO_OK;
    bool across = script->velocity[1] != 0 || script->velocity[2] != 0;
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

BrioStatus brio_builder_fix(BrioBuilder *builder, int body, const int32_t *vertices, int64_t count,
                            const BrioScript *script, BrioError *error)
{
    int number;
    BRIO_CHECK(brio__builder_open(builder, error));
    for (int64_t i = 0; i < count; i++)
        BRIO_CHECK(brio__builder_check_vertex(builder, body, vertices[i], error));
    if (count > 0) BRIO_CHECK(check_whole(&builder->body[body], vertices, count, error));
    if (count > 0) BRIO_CHECK(check_script_along_x(&builder->body[body], script, error));
    BRIO_CHECK(brio__plan_script(builder, script, &number, error));
    if (count > 0 && builder->body[body].cage)
        return brio__cage_fix(&builder->body[body], vertices, count, number, error);
    for (int64_t i = 0; i < count; i++) builder->body[body].fix[vertices[i]] = number;
    return BRIO_OK;
}

BrioStatus brio_builder_attach(BrioBuilder *builder, int body, int32_t vertex,
                               const double point[3], double k, const BrioScript *script,
                               BrioError *error)
{
    BrioAttachmentPlan created = {.body = body, .vertex = vertex, .k = k};
    BRIO_CHECK(brio__builder_open(builder, error));
    BRIO_CHECK(brio__builder_check_vertex(builder, body, vertex, error));
    if (!(k > 0) || isinf(k))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "the attachment's stiffness k = %g N/m must be positive", k);
    for (int r = 0; r < 3; r++) {
        created.point[r] = point[r];
        if (!isfinite(point[r]))
            return brio__error(error, BRIO_ERROR_INPUT, "the attachment's point is not finite");
    }
    const BrioBodyPlan *plan = &builder->body[body];
    const double *x = plan->x + 3 * (int64_t)vertex;
    if (brio__moves_along_x(plan) && (point[1] != x[1] || point[2] != x[2]))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "the point [%g, %g, %g] pulls vertex %d of body \"%s\" in y or z: a "
                           "bar1d moves along x only",
                           point[0], point[1], point[2], vertex, plan->name);
    BRIO_CHECK(check_script_along_x(plan, script, error));
    BRIO_CHECK(brio__plan_script(builder, script, &created.script, error));
    BrioAttachmentPlan *grown =
        brio__room_for_one(builder->attachment, builder->attachment_count, sizeof created);
    if (!grown) return brio__no_memory(error);
    builder->attachment = grown;
    grown[builder->attachment_count++] = created;
    return BRIO_OK;
}

/* The script of a world vertex that has no coordinates. */
static int32_t vertex_script(const BrioBuilder *b, const BrioSystem *s, int64_t vertex)
{
    int64_t past = vertex - s->body_vertices;
    if (past >= 0 && past < b->attachment_count) return b->attachment[past].script;
    int owner = brio__system_owner(s, vertex);
    if (owner >= s->body_count) return b->obstacle[owner - s->body_count].script;
    const BrioBody *body = &s->body[owner];
    if (body->cage)
        return b->body[owner].node_fix[past < 0 ? brio__cage_carrier(body, vertex - body->first)
                                                : vertex - body->mass_point];
    /* mass points go with the whole body */
    return b->body[owner].fix[past < 0 ? vertex - body->first : 0];
}

BrioStatus brio__build_scripts(BrioBuilder *b, BrioSystem *s)
{
    s->scripted = brio__calloc((size_t)b->script_count, sizeof *s->scripted);
    int64_t *count = brio__calloc((size_t)b->script_count, sizeof *count);
    BrioStatus status = s->scripted && count ? BRIO_OK : BRIO_ERROR_MEMORY;
    for (int pass = 0; status == BRIO_OK && pass < 2; pass++) {
        for (int k = 1; pass && k < b->script_count; k++) {
            BrioScripted *set = &s->scripted[k - 1];
            set->script = b->script[k];
            set->script.keys = brio__copy_of(b->script[k].keys, 4 * b->script[k].key_count, 8);
            set->fixed = brio__alloc((size_t)count[k], sizeof *set->fixed);
            s->scripted_count = k;
            if (!set->fixed || !set->script.keys) status = BRIO_ERROR_MEMORY;
        }
        for (int64_t i = 0; status == BRIO_OK && i < s->fixed_count; i++) {
            int32_t script = vertex_script(b, s, s->fixed[i]);
            if (script == 0) continue;
            if (pass) s->scripted[script - 1].fixed[s->scripted[script - 1].count++] = (int32_t)i;
            count[script]++;
        }
    }
    for (int i = 0; status == BRIO_OK && i < b->obstacle_count; i++) {
        if (!b->obstacle[i].driven) continue;
        s->scripted[b->obstacle[i].script - 1].driven = s->param_count;
        s->param_count += 2 + 3 * (int)s->obstacle[i].count;
    }
    brio__free(count);
    return status;
}
