/* Scripts of points without coordinates: checked and copied when they are given, and shared out to
 * the vertices when the system is built.
 *
 * Of a sequence the rows that are used are kept, as shifts from where the points start:
 * s_k = L S_k + t - X with the transform L, t of the body or obstacle. */
#include "../mesh/sequence.h"

#include "build.h"

BrioScript brio_default_script(void) { return (BrioScript){.end = INFINITY}; }

void brio__free_script_plan(BrioScriptPlan *plan)
{
    brio__free((void *)plan->script.keys);
    brio__free((void *)plan->script.poses);
    brio__scripted_free(&plan->data);
}

static BrioStatus check_script(const BrioScript *script, BrioError *error)
{
    if (!isfinite(script->start) || !(script->end >= script->start))
        return brio__error(error, BRIO_ERROR_INPUT, "a script must not end before it starts");
    if ((unsigned)script->interpolation > BRIO_INTERPOLATION_MONOTONE)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "a script's interpolation %d is unknown: "
                           "use a value of BrioInterpolation",
                           (int)script->interpolation);
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
    if (script->sequence) BRIO_CHECK(brio__sequence_check(script->sequence, error));
    if (script->pose_count && script->sequence && script->sequence->pose_count)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "poses are given twice: by the script and by its sequence");
    return brio__sequence_check(
        &(BrioSequence){.pose_count = script->pose_count ? script->pose_count : 1,
                        .pose = script->pose_count ? (double *)script->poses
                                                   : (double[]){0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1}},
        error);
}

static void normalise_poses(double *pose, int64_t count)
{
    for (int64_t k = 0; k < count; k++) {
        double *q = pose + BRIO_POSE_NUMBERS * k + 4;
        double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        for (int r = 0; r < 4; r++) q[r] /= length;
    }
}

static BrioStatus plan_formulas(const BrioScript *script, BrioScripted *data, BrioError *error)
{
    if (!script->formula[0] && !script->formula[1] && !script->formula[2]) return BRIO_OK;
    data->formula = brio__calloc(3, sizeof *data->formula);
    if (!data->formula) return brio__no_memory(error);
    for (int r = 0; r < 3; r++) {
        BrioError inner = {0};
        int column;
        const char *text = script->formula[r] ? script->formula[r] : "0";
        if (brio__formula_compile(text, &data->formula[r], &column, &inner) != BRIO_OK)
            return brio__error(error, BRIO_ERROR_INPUT, "in \"%s\", at character %d: %s", text,
                               column, inner.message);
    }
    return BRIO_OK;
}

/* Formulas must have a value where the points start. */
static BrioStatus check_formulas(const BrioScripted *data, const BrioScript *script,
                                 const BrioScriptPoints *points, BrioError *error)
{
    for (int64_t i = 0; data->formula && i < points->count; i++)
        for (int r = 0; r < 3; r++)
            if (!isfinite(
                    brio__formula_value(&data->formula[r], points->base + 3 * i, script->start)))
                return brio__error(error, BRIO_ERROR_INPUT,
                                   "the formula \"%s\" has no finite value at the start",
                                   script->formula[r]);
    return BRIO_OK;
}

static BrioStatus plan_sequence(const BrioSequence *s, const BrioScriptPoints *points,
                                BrioScripted *data, BrioError *error)
{
    if (!s || s->frame_count == 0) return BRIO_OK;
    int64_t n = s->vertex_count, frames = s->frame_count, rows = points->count;
    bool chosen = n != points->of; /* a row for each point of the call */
    if (chosen && n != rows)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "the sequence has %lld vertices: expected %lld, as the mesh has%s",
                           (long long)n, (long long)points->of,
                           points->row ? ", or one for each that is chosen" : "");
    bool complete = true;
    data->frame_time = brio__copy_any(s->time, frames, sizeof *s->time, &complete);
    data->shift = brio__alloc(3 * (size_t)rows * (size_t)frames, sizeof *data->shift);
    if (!complete || !data->shift) return brio__no_memory(error);
    data->frame_count = frames;
    data->row_count = rows;
    for (int64_t k = 0; k < frames; k++)
        for (int64_t i = 0; i < rows; i++) {
            const double *X = s->x + 3 * (k * n + (chosen || !points->row ? i : points->row[i]));
            const double *L = points->linear;
            for (int r = 0; r < 3; r++)
                data->shift[3 * (k * rows + i) + r] =
                    brio__dot3(L + 3 * r, X) + points->translate[r] - points->base[3 * i + r];
        }
    return BRIO_OK;
}

BrioStatus brio__plan_script(BrioBuilder *builder, const BrioScript *script,
                             const BrioScriptPoints *points, int *number, BrioError *error)
{
    *number = 0;
    if (!script) return BRIO_OK;
    BRIO_NEEDS(script->key_count == 0 || (script->key_count > 0 && script->keys), error);
    BRIO_NEEDS(script->pose_count == 0 || (script->pose_count > 0 && script->poses), error);
    BRIO_CHECK(check_script(script, error));
    BrioScriptPlan plan = {.script = *script};
    BrioScript *to = &plan.script;
    const BrioSequence *s = script->sequence;
    bool complete = true;
    to->keys = brio__copy_any(script->keys, 4 * script->key_count, sizeof(double), &complete);
    to->pose_count = s && s->pose_count ? s->pose_count : script->pose_count;
    double *poses = brio__copy_any(s && s->pose_count ? s->pose : script->poses,
                                   BRIO_POSE_NUMBERS * to->pose_count, sizeof(double), &complete);
    if (poses) normalise_poses(poses, to->pose_count);
    to->poses = poses;
    to->sequence = NULL;
    for (int r = 0; r < 3; r++) to->formula[r] = NULL;
    BrioStatus status =
        complete ? plan_formulas(script, &plan.data, error) : brio__no_memory(error);
    if (status == BRIO_OK) status = check_formulas(&plan.data, script, points, error);
    if (status == BRIO_OK) status = plan_sequence(s, points, &plan.data, error);
    BrioScriptPlan *grown =
        status == BRIO_OK ? brio__room_for_one(builder->script, builder->script_count, sizeof plan)
                          : NULL;
    if (status == BRIO_OK && !grown) status = brio__no_memory(error);
    if (status != BRIO_OK) {
        brio__free_script_plan(&plan);
        return status;
    }
    builder->script = grown;
    grown[builder->script_count] = plan;
    *number = builder->script_count++;
    return BRIO_OK;
}

/* The script of a world vertex that has no coordinates, and its row of the sequence. */
static int32_t vertex_script(const BrioBuilder *b, const BrioSystem *s, int64_t vertex,
                             int32_t *row)
{
    int64_t past = vertex - s->body_vertices;
    *row = 0;
    if (past >= 0 && past < b->attachment_count) {
        *row = b->attachment[past].row;
        return b->attachment[past].script;
    }
    int owner = brio__system_owner(s, vertex);
    if (owner >= s->body_count) {
        *row = (int32_t)(vertex - s->obstacle[owner - s->body_count].first);
        return b->obstacle[owner - s->body_count].script;
    }
    const BrioBody *body = &s->body[owner];
    if (body->cage)
        return b->body[owner].node_fix[past < 0 ? brio__cage_carrier(body, vertex - body->first)
                                                : vertex - body->mass_point];
    /* mass points go with the whole body */
    int64_t own = past < 0 ? vertex - s->body[owner].first : 0;
    *row = b->body[owner].row[own];
    return b->body[owner].fix[own];
}

/* A copy of the data of a plan, with room for its vertices. */
static BrioStatus start_set(const BrioScriptPlan *plan, int64_t count, BrioScripted *set)
{
    const BrioScript *script = &plan->script;
    const BrioScripted *data = &plan->data;
    int64_t numbers = 3 * data->frame_count * data->row_count;
    *set = (BrioScripted){
        .script = *script, .frame_count = data->frame_count, .row_count = data->row_count};
    set->script.keys = brio__copy_of(script->keys, 4 * script->key_count, sizeof(double));
    set->script.poses =
        brio__copy_of(script->poses, BRIO_POSE_NUMBERS * script->pose_count, sizeof(double));
    set->fixed = brio__alloc((size_t)count, sizeof *set->fixed);
    bool complete = set->script.keys && set->script.poses && set->fixed;
    if (data->shift) {
        set->frame_time = brio__copy_of(data->frame_time, data->frame_count, sizeof(double));
        set->shift = brio__copy_of(data->shift, numbers, sizeof(double));
        set->row = brio__alloc((size_t)count, sizeof *set->row);
        complete = complete && set->frame_time && set->shift && set->row;
    }
    if (data->formula) {
        set->formula = brio__copy_of(data->formula, 3, sizeof *data->formula);
        complete = complete && set->formula;
    }
    return complete ? BRIO_OK : BRIO_ERROR_MEMORY;
}

BrioStatus brio__build_scripts(BrioBuilder *b, BrioSystem *s)
{
    s->scripted = brio__calloc((size_t)b->script_count, sizeof *s->scripted);
    int64_t *count = brio__calloc((size_t)b->script_count, sizeof *count);
    BrioStatus status = s->scripted && count ? BRIO_OK : BRIO_ERROR_MEMORY;
    for (int pass = 0; status == BRIO_OK && pass < 2; pass++) {
        for (int k = 1; pass && status == BRIO_OK && k < b->script_count; k++) {
            s->scripted_count = k;
            status = start_set(&b->script[k], count[k], &s->scripted[k - 1]);
        }
        for (int64_t i = 0; status == BRIO_OK && i < s->fixed_count; i++) {
            int32_t row, script = vertex_script(b, s, s->fixed[i], &row);
            if (script == 0) continue;
            count[script]++;
            if (!pass) continue;
            BrioScripted *set = &s->scripted[script - 1];
            if (set->row) set->row[set->count] = row;
            set->fixed[set->count++] = (int32_t)i;
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
