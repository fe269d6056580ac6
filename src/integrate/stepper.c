/* The driver of steps: makes a stepper, lets the integrator work on a copy of the state, and tries
 * a step that failed in halves. */
#include "stepper.h"

#include "../potential/accounts.h"
#include "../potential/colliders.h"
#include "by_body.h"

#include <string.h>

/* What acts: the solver with its potential and everything that dissipates. */
static BrioStatus create_solver(BrioStepper *s, const BrioSolverOptions *options,
                                const BrioDamping *damping, int damping_count)
{
    BRIO_CHECK(brio__solver_create(s->system, options, &s->solver));
    BRIO_CHECK(brio__potential_create(s->system, &s->solver->totals, &s->potential));
    BRIO_CHECK(brio__dissipation_create(s->system, damping, damping_count, &s->dissipation));
    brio__solver_set(s->solver, s->potential, s->dissipation);
    return BRIO_OK;
}

static BrioStatus create_vectors(BrioStepper *s)
{
    const BrioSystem *system = s->system;
    size_t coordinates = 3 * (size_t)system->block_count, fixed = 3 * (size_t)system->fixed_count;
    bool all = (s->difference = brio__calloc(coordinates, sizeof(double))) &&
               (s->unbalanced = brio__calloc(coordinates, sizeof(double))) &&
               (s->x = brio__calloc(3 * (size_t)system->vertex_count, sizeof(double)));
    if (all && system->collider_params < 0)
        all = brio__colliders_create(system, &s->moved) == BRIO_OK;
    if (all && (s->moved || system->collider_params >= 0))
        all = (s->end = brio__calloc(3 * (size_t)system->vertex_count, sizeof(double)));
    for (int i = 0; all && i < s->dissipation->count; i++)
        all = (s->impulse[i] = brio__calloc(coordinates, sizeof(double)));
    if (all && s->dissipation->forces >= 0)
        all = (s->brought = brio__calloc(coordinates, sizeof(double)));
    for (int i = 0; all && system->scripted_count && i < 4; i++)
        all = (s->fixed[i] = brio__calloc(fixed, sizeof(double)));
    if (all && system->scripted_count)
        all = (s->fixed_impulse = brio__calloc(fixed, sizeof(double)));
    return all ? BRIO_OK : BRIO_ERROR_MEMORY;
}

/* Unless they are there or the integrator asks nothing of them. */
static BrioStatus create_components(BrioStepper *s, const BrioIntegrator *integrator)
{
    if (!(integrator->traits & BRIO_USES_COMPONENTS)) return BRIO_OK;
    if (!s->components) BRIO_CHECK(brio__components_create(s->system, &s->components));
    if (!s->rigid) BRIO_CHECK(brio__rigid_create(s->components, &s->rigid));
    if (s->accounts || !brio__by_body_is_used(s)) return BRIO_OK;
    return brio__accounts_create(s->system, s->components, &s->accounts);
}

BrioStatus brio__stepper_create(const BrioSystem *system, const BrioIntegrator *integrator,
                                const double *values, const BrioSolverOptions *options,
                                const BrioDamping *damping, int damping_count,
                                const BrioState *state, BrioStepper **stepper)
{
    BrioStepper *s = brio__calloc(1, sizeof *s);
    if (!s) return BRIO_ERROR_MEMORY;
    s->system = system;
    s->integrator = integrator;
    s->traits = integrator->traits;
    memcpy(s->values, values, sizeof s->values);
    BrioStatus status = create_solver(s, options, damping, damping_count);
    if (status == BRIO_OK) status = create_components(s, integrator);
    if (status == BRIO_OK) status = brio_state_copy(state, &s->state, NULL);
    if (status == BRIO_OK) status = brio_state_copy(state, &s->before, NULL);
    if (status == BRIO_OK) status = create_vectors(s);
    if (status == BRIO_OK)
        *stepper = s;
    else
        brio__stepper_free(s);
    return status;
}

BrioStatus brio__stepper_change(BrioStepper *s, const BrioIntegrator *integrator,
                                const double *values, unsigned traits, int history,
                                BrioState **state)
{
    BrioState **old[3] = {&s->state, &s->before, state}, *created[3] = {NULL, NULL, NULL};
    BrioStatus status = create_components(s, integrator);
    for (int i = 0; i < 3 && status == BRIO_OK && (*state)->history != history; i++)
        status = brio__state_create(s->system, history, &created[i]);
    for (int i = 0; i < 3; i++) {
        if (status == BRIO_OK && created[i]) {
            brio_state_assign(created[i], *old[i]);
            brio_state_free(*old[i]);
            *old[i] = created[i];
        } else {
            brio_state_free(created[i]);
        }
    }
    BRIO_CHECK(status);
    s->integrator = integrator;
    s->traits = traits;
    memcpy(s->values, values, sizeof s->values);
    return BRIO_OK;
}

void brio__stepper_free(BrioStepper *s)
{
    if (!s) return;
    brio__accounts_free(s->accounts);
    brio__rigid_free(s->rigid);
    brio__components_free(s->components);
    brio__solver_free(s->solver);
    brio__potential_free(s->potential);
    brio__dissipation_free(s->dissipation);
    brio_state_free(s->state);
    brio_state_free(s->before);
    for (int k = 0; k < BRIO_SCRATCH + BRIO_ROOM; k++) brio__free(s->scratch[k]);
    for (int i = 0; i < BRIO_LOSSES; i++) brio__free(s->impulse[i]);
    for (int i = 0; i < 4; i++) brio__free(s->fixed[i]);
    brio__free(s->brought);
    brio__free(s->fixed_impulse);
    brio__free(s->unbalanced);
    brio__free(s->difference);
    brio__free(s->x);
    brio__free(s->end);
    brio__colliders_free(s->moved);
    brio__free(s);
}

/* Steps that lead through an obstacle of triangles are halved so many times more. */
enum { MORE_HALVINGS = 8 };

/* Of its smallest extent: how far an obstacle may push a surface in one step. */
#define LARGEST_WAY 0.5

/* Shells, or springs and points without tets: they can slip off what pushes them. */
static bool has_thin_bodies(const BrioSystem *system)
{
    bool thin = false;
    for (int i = 0; i < system->body_count; i++)
        thin |= system->body[i].tet_count == 0 && system->body[i].mass_point < 0;
    return thin;
}

/* Whether a vertex is on the other side of an obstacle after moving from `from` to s->state.
 * Contact by springs forbids nothing. Barriers do, but where an obstacle goes far in a step, the
 * solve may lead a body around it: that is looked at where obstacles had to push. */
static bool went_through(BrioStepper *s, const BrioState *from)
{
    const BrioSystem *system = s->system;
    BrioColliders *colliders = brio__potential_colliders(s->potential);
    if (!colliders && s->solver->pushed) colliders = s->moved;
    int32_t vertex, obstacle;
    if (!colliders) return false;
    brio__system_positions(system, from, from->q, from->time, s->x);
    brio__system_positions(system, s->state, s->state->q, s->state->time, s->end);
    if (has_thin_bodies(system) &&
        brio__colliders_way(colliders, s->x, s->end, &obstacle) > LARGEST_WAY) {
        snprintf(
            s->reason, sizeof s->reason,
            "in a step of %g s obstacle \"%s\" moves more than half of its size while it pushes a "
            "surface",
            s->h, system->obstacle[obstacle].name);
        return true;
    }
    if (!brio__colliders_passed(colliders, s->x, s->end, &vertex, &obstacle)) return false;
    int body = brio__system_owner(system, vertex);
    snprintf(s->reason, sizeof s->reason,
             "in a step of %g s obstacle \"%s\" passed through vertex %lld of body \"%s\": its "
             "contact is too soft (kappa) for this speed, or it is too thin",
             s->h, system->obstacle[obstacle].name, (long long)(vertex - system->body[body].first),
             system->body[body].name);
    return true;
}

/* `from` is the state at the start of this piece; on success it has moved on by h. */
static BrioStatus advance(BrioStepper *s, BrioState *from, double h, int depth)
{
    brio_state_assign(s->state, from);
    s->accepted = s->out_of_memory = false;
    s->h = h;
    s->error = NAN;
    s->halvings = BRIO_MAX(s->halvings, depth);
    s->solver->halved = depth;
    size_t bytes = (size_t)s->state->coordinates * sizeof(double);
    memset(s->unbalanced, 0, bytes);
    brio_stepper_discard_damping(s);
    if (s->system->scripted_count) {
        memset(s->fixed_impulse, 0, 3 * (size_t)s->system->fixed_count * sizeof(double));
        brio__stepper_hold(s, s->state->q, s->state->time, 0);
    }
    BRIO_CHECK(brio__solver_begin(s->solver, s->state));
    BrioStatus status = s->integrator->step(s, h);
    if (s->solver->stopped && status >= 0) status = BRIO_STOPPED; /* whatever came of it */
    if (status == BRIO_OK && !s->accepted) {
        snprintf(s->reason, sizeof s->reason,
                 "the integrator %s ended a step without accepting a state", s->integrator->name);
        return BRIO_ERROR_ARGUMENT;
    }
    bool through = status == BRIO_OK && went_through(s, from);
    if (status == BRIO_OK && !through) {
        brio_state_assign(from, s->state);
        return BRIO_OK;
    }
    if (through) status = BRIO_STEP_REJECTED;
    if (s->whole) return status;
    int deepest = s->solver->options.max_halvings;
    if (through && deepest > 0) deepest += MORE_HALVINGS;
    if (through && s->moved && depth >= deepest) { /* nothing intersects: it may be as it is */
        brio_state_assign(from, s->state);
        return BRIO_OK;
    }
    bool hopeless = status < 0 || status == BRIO_STOPPED || s->solver->unsolvable;
    if (hopeless || depth >= deepest) return status;
    /* from here on the first half of a failed step may have been taken */
    if (depth == 0) brio_state_assign(s->before, from);
    brio__log(BRIO_LOG_WARNING, "t = %g s: %s; trying two steps of %g s", from->time, s->reason,
              h / 2);
    BRIO_CHECK(advance(s, from, h / 2, depth + 1));
    if (s->observe) s->observe(s->observer, from);
    return advance(s, from, h / 2, depth + 1);
}

BrioStatus brio__stepper_advance(BrioStepper *s, BrioState *state, double h)
{
    double before = state->time, rest = h - state->time_error, end = before + rest;
    s->iterations = s->halvings = 0;
    s->reason[0] = 0;
    brio__solver_begin_step(s->solver);
    BrioStatus status = advance(s, state, h, 0);
    if (status == BRIO_OK) {
        state->time = end;
        state->time_error = (end - before) - rest;
        state->step++;
    } else {
        if (s->halvings) brio_state_assign(state, s->before);
        if (status == BRIO_STOPPED) snprintf(s->reason, sizeof s->reason, "%s", s->solver->message);
        if (!s->reason[0]) snprintf(s->reason, sizeof s->reason, "%s", brio_status_text(status));
    }
    return status;
}
