/* Edits of a simulation that runs: a copy of the plans that the system was made of is changed, a
 * new system is made of it, and the state is carried across.
 *
 *     what                          where it comes from
 *     coordinates, velocities       the plans, which an edit fills with what they are now; of an
 *                                   affine body the old coordinates themselves
 *     points without coordinates    the old anchors, unless they were pinned in this edit
 *     live parameters               the old ones of the same body, obstacle, attachment or force
 *     time, energies of the books   the old ones
 *     hands                         the same vertices, without those that are pinned now
 *
 * Values that contact chose for itself (dhat, epsv) stay, so that an edit changes only what it
 * names; stiffness is by pair, and those of new pairs are chosen. The system is a function of the
 * plans without the current positions, so that a checkpoint, which has both, gives the same bits.
 *
 * What fails, fails before anything of the simulation has changed. */
#include "edit.h"

#include "../handle.h"
#include "../build/build.h"

#include <string.h>

/* ---- the beginning ---------------------------------------------------------------------- */

/* Positions and velocities of the plans become those of the simulation. */
static BrioStatus fill_plans(BrioSim *sim, BrioBuilder *b)
{
    for (int i = 0; i < b->body_count; i++) {
        BrioBodyPlan *plan = &b->body[i];
        if (plan->removed) continue;
        plan->kept = true;
        if (!plan->start)
            plan->start = brio__copy_of(plan->x, 3 * plan->mesh->vertex_count, sizeof(double));
        if (!plan->start) return BRIO_ERROR_MEMORY;
        brio_sim_positions(sim, i, plan->x);
        brio_sim_velocities(sim, i, plan->v);
        const BrioBody *body = &sim->system->body[i];
        size_t nodes = body->cage ? 3 * (size_t)body->cage->node_count : 0;
        if (!nodes) continue; /* sim->world has the velocities */
        memcpy(plan->node_v, sim->world + 3 * body->mass_point, nodes * sizeof(double));
        memcpy(plan->node_x, brio__sim_world(sim) + 3 * body->mass_point, nodes * sizeof(double));
    }
    for (int64_t i = 0; i < b->attachment_count; i++) b->attachment[i].kept = i + 1;
    for (int i = 0; i < b->obstacle_count; i++) b->obstacle[i].kept = !b->obstacle[i].removed;
    for (int i = 0; i < b->force_count; i++) b->force[i].force.kept = i + 1;
    b->need = 0;
    for (int i = 0; i < b->body_count; i++) {
        const BrioMesh *mesh = b->body[i].mesh;
        b->need += brio__mesh_need(mesh->vertex_count, mesh->tet_count, mesh->triangle_count,
                                   mesh->edge_count);
    }
    return BRIO_OK;
}

static BrioStatus copy_plans(const BrioBuilder *from, BrioBuilder **copy, BrioError *error)
{
    unsigned char *bytes;
    size_t size;
    if (brio__builder_write(from, &bytes, &size) != BRIO_OK) return brio__no_memory(error);
    BrioStatus status = brio__builder_read(bytes, size, copy, error);
    brio__free(bytes);
    return status;
}

BrioStatus brio_sim_edit(BrioSim *sim, BrioBuilder **edit, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(SIM, sim) && edit, error);
    const BrioSystem *s = sim->system;
    BrioBuilder *copy = NULL;
    if (error) *error = (BrioError){0};
    if (s->partition)
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "a simulation on several processes cannot be edited; run it on one");
    if (!s->plans)
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "this simulation belongs to a run, and these are not edited; load the "
                           "scene by brio_sim_load");
    BRIO_CHECK(copy_plans(s->plans, &copy, error));
    if (fill_plans(sim, copy) != BRIO_OK) {
        brio_builder_free(copy);
        return brio__no_memory(error);
    }
    copy->edits = s;
    copy->step = sim->state->step;
    *edit = copy;
    return BRIO_OK;
}

/* ---- the state across ------------------------------------------------------------------- */

typedef struct Carry {
    const BrioSystem *from, *to;
    const BrioState *old;
    BrioState *state;
    const double *now; /* world positions before */
} Carry;

/* The body or obstacle of the same number, if it is the same. */
static const BrioBody *body_before(const Carry *c, int i)
{
    return c->to->plans->body[i].kept ? &c->from->body[i] : NULL;
}

static const BrioObstacle *obstacle_before(const Carry *c, int i)
{
    return c->to->plans->obstacle[i].kept ? &c->from->obstacle[i] : NULL;
}

static bool is_fixed(const BrioSystem *s, int64_t vertex)
{
    return s->map_start[vertex] == s->map_start[vertex + 1];
}

static void copy_anchor(const Carry *c, int64_t vertex, int64_t before)
{
    int64_t to = brio__system_fixed_index(c->to, (int32_t)vertex);
    int64_t from = brio__system_fixed_index(c->from, (int32_t)before);
    memcpy(c->state->anchor + 3 * to, c->old->anchor + 3 * from, 3 * sizeof(double));
}

static void carry_params(const Carry *c, int to, int from, int count)
{
    memcpy(c->state->param + to, c->old->param + from, (size_t)count * sizeof(double));
}

/* Whether the nodes that carry a vertex of a cage are fixed as before. */
static bool carried_alike(const BrioCage *cage, int64_t v, const int32_t *fix, const int32_t *was)
{
    for (int64_t k = 4 * v; k < 4 * v + 4; k++)
        if (cage->weight[k] != 0 && fix[cage->node[k]] != was[cage->node[k]]) return false;
    return true;
}

/* Nodes that are fixed as before, and the vertices that they alone carry. */
static void carry_cage(const Carry *c, int i)
{
    const BrioBody *body = &c->to->body[i], *before = body_before(c, i);
    const int32_t *fix = c->to->plans->body[i].node_fix, *was = c->from->plans->body[i].node_fix;
    for (int64_t n = 0; n < body->cage->node_count; n++)
        if (fix[n] >= 0 && fix[n] == was[n])
            copy_anchor(c, body->mass_point + n, before->mass_point + n);
    for (int64_t v = 0; v < body->count; v++)
        if (is_fixed(c->to, body->first + v) && is_fixed(c->from, before->first + v) &&
            carried_alike(body->cage, v, fix, was))
            copy_anchor(c, body->first + v, before->first + v);
}

static void carry_body(const Carry *c, int i)
{
    const BrioBody *body = &c->to->body[i], *before = body_before(c, i);
    if (!before) return;
    const int32_t *fix = c->to->plans->body[i].fix, *was = c->from->plans->body[i].fix;
    if (body->cage) carry_cage(c, i);
    for (int64_t v = 0; !body->cage && v < before->count; v++)
        if (fix[v] >= 0 && fix[v] == was[v]) copy_anchor(c, body->first + v, before->first + v);
    if (brio__body_is_affine(body) && fix[0] == was[0])
        for (int k = 0; k < 4; k++) {
            int64_t v = body->mass_point + k, old = before->mass_point + k;
            if (is_fixed(c->to, v)) {
                copy_anchor(c, v, old);
                continue;
            }
            int64_t at = 3 * (int64_t)c->to->map_block[c->to->map_start[v]];
            int64_t from = 3 * (int64_t)c->from->map_block[c->from->map_start[old]];
            memcpy(c->state->q + at, c->old->q + from, 3 * sizeof(double));
            memcpy(c->state->v + at, c->old->v + from, 3 * sizeof(double));
        }
    for (int t = 0; t < BRIO_MIN(body->term_count, before->term_count); t++) {
        const BrioTerm *term = &c->to->term[body->term + t];
        carry_params(c, term->params, c->from->term[before->term + t].params, term->energy->params);
    }
    carry_params(c, body->values, before->values,
                 brio__fields_count(c->to->term[body->term].energy->fields));
}

/* dhat and thickness, which may have grown; how stiff contact is depends on who is there. */
static void carry_contact(const Carry *c, int to, int from, int count)
{
    for (int k = BRIO_CONTACT_DHAT; k < count; k++)
        c->state->param[to + k] = c->old->param[from + k];
}

static const BrioTerm *formula_term(const BrioSystem *s, int obstacle)
{
    for (int k = 0; k < s->analytic_count; k++)
        if (s->term[s->analytic_term + k].obstacle == obstacle)
            return &s->term[s->analytic_term + k];
    return NULL;
}

/* While contact relaxes, dhat of what is new grows with that of all others. */
static void relax_formula(const Carry *c, const BrioTerm *term)
{
    const double *contact = c->old->param + c->from->contact_params;
    if (c->to->barrier && c->to->start != BRIO_START_STRICT)
        c->state->param[term->params + BRIO_CONTACT_DHAT] = contact[BRIO_CONTACT_DHAT];
}

/* The parameters of an obstacle that the program moves; NULL: it does not move it. */
const BrioScripted *brio__driven_set(const BrioSystem *s, int obstacle)
{
    const BrioObstaclePlan *plan = &s->plans->obstacle[obstacle];
    return plan->driven ? &s->scripted[plan->script - 1] : NULL;
}

static void carry_obstacle(const Carry *c, int i)
{
    const BrioObstacle *obstacle = &c->to->obstacle[i], *before = obstacle_before(c, i);
    const BrioTerm *term = formula_term(c->to, i), *old = formula_term(c->from, i);
    if (term) relax_formula(c, term);
    if (!before) return;
    if (term && old) carry_contact(c, term->params, old->params, term->energy->params);
    const BrioScripted *set = brio__driven_set(c->to, i), *was = brio__driven_set(c->from, i);
    for (int64_t v = 0; v < obstacle->count; v++) {
        if (set && !was) { /* from where its script has brought it */
            int64_t at = brio__system_fixed_index(c->to, (int32_t)(obstacle->first + v));
            memcpy(c->state->anchor + 3 * at, c->now + 3 * (before->first + v), 3 * sizeof(double));
        } else {
            copy_anchor(c, obstacle->first + v, before->first + v);
        }
    }
    if (set && was) carry_params(c, set->driven, was->driven, 2 + 3 * (int)obstacle->count);
}

static const BrioTerm *attachment_term(const BrioSystem *s)
{
    for (int t = 0; t < s->term_count; t++)
        if (s->term[t].energy->element == BRIO_ELEMENT_ANCHOR) return &s->term[t];
    return NULL;
}

/* Whether it is between bodies that were there before, and not others with their numbers. */
static bool stitch_stays(const Carry *c, const BrioStitchPlan *stitch)
{
    bool stays = true;
    for (int k = 0; k < 4; k++) stays &= body_before(c, stitch->body[k]) != NULL;
    return stays;
}

/* Broken ones stay broken: those that stay keep their order. */
static void carry_stitches(const Carry *c)
{
    if (c->to->stitch_term < 0 || c->from->stitch_term < 0) return;
    const BrioTerm *term = &c->to->term[c->to->stitch_term];
    const BrioTerm *before = &c->from->term[c->from->stitch_term];
    const BrioStitchPlan *now = c->to->plans->stitch, *old = c->from->plans->stitch;
    for (int64_t i = 0, k = 0; i < term->elements; i++) {
        if (!stitch_stays(c, &now[i])) continue;
        while (k < before->elements && memcmp(&now[i], &old[k], sizeof *now)) k++;
        if (k == before->elements) break;
        c->state->param[term->live + i] = c->old->param[before->live + k++];
    }
}

static void carry_attachments(const Carry *c)
{
    const BrioTerm *term = attachment_term(c->to), *before = attachment_term(c->from);
    for (int64_t i = 0; term && i < term->elements; i++) {
        int64_t old = c->to->plans->attachment[i].kept - 1;
        if (old < 0 || !before) continue;
        copy_anchor(c, brio__term_vertex(term, i, 1), brio__term_vertex(before, old, 1));
        c->state->param[term->live + i] = c->old->param[before->live + old];
    }
}

/* A force keeps its factor; of a volume there is one for each body. */
static void carry_forces(const Carry *c)
{
    for (int i = 0; i < c->to->force_count; i++)
        for (int k = 0; k < c->from->force_count; k++) {
            const BrioForce *force = &c->to->force[i], *before = &c->from->force[k];
            if (before->plan == force->kept - 1 && before->body == force->body)
                c->state->param[force->param] = c->old->param[before->param];
        }
}

static void carry_hand(const Carry *c, BrioGrip *hand)
{
    const BrioBody *before = hand->k != 0 ? body_before(c, hand->body) : NULL;
    BrioGrip grip = *hand;
    double sum = 0;
    int free = 0;
    for (int k = 0; k < 3; k++) grip.vertex[k] = -1, grip.weight[k] = 0;
    for (int k = 0; before && k < 3 && hand->vertex[k] >= 0; k++) {
        int64_t v = c->to->body[hand->body].first + hand->vertex[k] - before->first;
        if (is_fixed(c->to, v)) continue;
        grip.vertex[free] = (int32_t)v;
        grip.weight[free++] = hand->weight[k];
        sum += hand->weight[k];
    }
    for (int k = 0; k < free && sum != 1; k++)
        grip.weight[k] = sum > 1e-9 ? grip.weight[k] / sum : 1.0 / free;
    if (free)
        *hand = grip;
    else
        memset(hand, 0, sizeof *hand);
}

static void carry_state(const Carry *c)
{
    BrioState *to = c->state;
    const BrioState *from = c->old;
    to->time = from->time;
    to->time_error = from->time_error;
    to->step = from->step;
    to->last_h = from->last_h;
    to->first = from->first;
    to->target = from->target;
    to->alpha = from->alpha;
    to->added = from->added;
    to->unfinished = from->unfinished;
    to->broken = from->broken;
    memcpy(to->dissipated, from->dissipated, sizeof to->dissipated);
    memcpy(to->hand, from->hand, sizeof to->hand);
    for (int i = 0; i < BRIO_MIN(c->to->body_count, c->from->body_count); i++) carry_body(c, i);
    for (int i = 0; i < c->to->obstacle_count; i++) carry_obstacle(c, i);
    carry_attachments(c);
    carry_stitches(c);
    carry_forces(c);
    carry_params(c, c->to->term[c->to->gravity_term].params,
                 c->from->term[c->from->gravity_term].params, 3);
    carry_contact(c, c->to->contact_params, c->from->contact_params, BRIO_CONTACT_PARAMS);
    for (int h = 0; h < BRIO_MAX_HANDS; h++) carry_hand(c, &to->hand[h]);
}

/* What is seen of a body goes with it, unless it was cut: faces of the file are then others. */
static void carry_skins(BrioSystem *from, BrioSystem *to)
{
    for (int i = 0; i < BRIO_MIN(from->body_count, to->body_count); i++) {
        BrioBody *old = &from->body[i], *body = &to->body[i];
        bool whole = body->count == old->count && body->triangle_count == old->triangle_count;
        if (!to->plans->body[i].kept || !old->skin || (!whole && !old->skin->weight)) continue;
        body->skin = old->skin;
        old->skin = NULL;
    }
    for (int i = 0; i < BRIO_MIN(from->obstacle_count, to->obstacle_count); i++) {
        if (!to->plans->obstacle[i].kept || to->obstacle[i].faces) continue;
        to->obstacle[i].faces = from->obstacle[i].faces;
        from->obstacle[i].faces = NULL;
    }
}

/* ---- the end ---------------------------------------------------------------------------- */

BrioStatus brio__edit_finish(BrioSim *sim, BrioBuilder *edit, BrioError *error)
{
    BrioSystem *system, *old = sim->system;
    BrioState *state;
    edit->finished = false;
    BRIO_CHECK(brio_builder_finish(edit, &system, &state, error));
    carry_state(&(Carry){old, system, sim->state, state, brio__sim_world(sim)});
    BrioStatus status = brio__sim_replace(sim, system, &state, true, error);
    if (status == BRIO_OK) {
        carry_skins(old, system);
        brio_system_free(old);
        sim->edited = true;
        return BRIO_OK;
    }
    brio__builder_reopen(edit, system);
    brio_system_free(system);
    brio_state_free(state);
    return status;
}

static BrioStatus commit(BrioSim *sim, BrioBuilder *edit, BrioError *error)
{
    if (edit->edits != sim->system || edit->step != sim->state->step)
        return brio__error(error, BRIO_ERROR_ARGUMENT,
                           "this edit does not belong here: the simulation was stepped or edited "
                           "since, or is another one; start again with brio_sim_edit");
    BRIO_CHECK(brio__builder_choose_now(edit, error));
    return brio__edit_finish(sim, edit, error);
}

BrioStatus brio_sim_commit(BrioSim *sim, BrioBuilder *edit, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(SIM, sim) && BRIO_LIVES(BUILDER, edit), error);
    BrioError inner = {0};
    if (error) *error = (BrioError){0};
    BrioStatus status = commit(sim, edit, &inner);
    if (status == BRIO_OK) {
        brio_builder_free(edit);
        return BRIO_OK;
    }
    edit->finished = false;
    if (!inner.message[0]) brio__error(&inner, status, "%s", brio_status_text(status));
    snprintf(sim->stepper->reason, sizeof sim->stepper->reason, "the edit was not made: %.860s",
             inner.message);
    return brio__error(error, status, "%s", sim->stepper->reason);
}

/* ---- checkpoints ------------------------------------------------------------------------ */

BrioStatus brio__sim_image(const BrioSim *sim, unsigned char **bytes, size_t *size,
                           BrioError *error)
{
    *bytes = NULL;
    *size = 0;
    if (!sim->edited) return BRIO_OK;
    const char *call = brio__builder_calls(sim->system->plans);
    if (call)
        return brio__error(
            error, BRIO_ERROR_UNSUPPORTED,
            "force \"%s\" is a function of the program, and this simulation was edited: its "
            "checkpoint cannot store the function; remove the force first",
            call);
    return brio__builder_write(sim->system->plans, bytes, size) == BRIO_OK ? BRIO_OK
                                                                           : brio__no_memory(error);
}

BrioStatus brio__sim_prepare(const BrioSim *sim, const unsigned char *bytes, size_t size,
                             BrioSystem **system, BrioState **state, BrioError *error)
{
    BrioBuilder *builder;
    BrioState *first;
    const BrioSystem *old = sim->system;
    BRIO_CHECK(brio__builder_read(bytes, size, &builder, error));
    for (int i = 0; i < BRIO_MIN(builder->body_count, old->body_count); i++)
        builder->body[i].kept = !strcmp(builder->body[i].name, old->body[i].name);
    /* what those by box or sphere act on was decided before the file was written */
    for (int i = 0; i < builder->force_count; i++) builder->force[i].force.kept = i + 1;
    BrioStatus status =
        brio__builder_calls(builder) /* no checkpoint has one: an address of another program */
            ? brio__error(error, BRIO_ERROR_INPUT, "the edited bodies are damaged")
            : brio_builder_finish(builder, system, &first, error);
    brio_builder_free(builder);
    BRIO_CHECK(status);
    brio_state_free(first);
    if (brio__state_create(*system, sim->stepper->integrator->history, state) == BRIO_OK)
        return BRIO_OK;
    brio_system_free(*system);
    return brio__no_memory(error);
}

BrioStatus brio__sim_adopt(BrioSim *sim, BrioSystem *system, BrioState **state, BrioError *error)
{
    BrioSystem *old = sim->system;
    BRIO_CHECK(brio__sim_replace(sim, system, state, false, error));
    carry_skins(old, system);
    brio_system_free(old);
    sim->edited = true;
    return BRIO_OK;
}
