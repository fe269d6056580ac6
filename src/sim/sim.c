/* The simulation of the public interface: what fits together, steps, positions, energies. */
#include "sim.h"

#include "../build/affine.h"
#include "../contact/law.h"
#include "../damping/forces.h"
#include "../field.h"
#include "../handle.h"
#include "../integrate/springs.h"
#include "../potential/forces.h"
#include "apart.h"
#include "control.h"
#include "joints.h"
#include "ledger.h"

#include <string.h>

BrioSimDef brio_default_sim(const char *integrator)
{
    BrioSimDef def = {.h = 1.0 / 30, .integrator = integrator, .solver = brio_default_solver()};
    const BrioIntegrator *found = integrator ? brio_integrator(integrator) : NULL;
    if (found) brio_fields_defaults(found->fields, def.values);
    return def;
}

/* A state with room for the integrator's history. */
static BrioStatus with_history(const BrioSystem *system, int history, BrioState **state)
{
    BrioState *old = *state, *grown;
    if (old->history == history) return BRIO_OK;
    BRIO_CHECK(brio__state_create(system, history, &grown));
    brio_state_assign(grown, old);
    brio_state_free(old);
    *state = grown;
    return BRIO_OK;
}

const double *brio__sim_world(BrioSim *sim)
{
    const BrioState *state = sim->state;
    brio__system_positions(sim->system, state, state->q, state->time, sim->positions);
    return sim->positions;
}

/* P at the coordinates q, with everything else as in the state; leaves sim->positions. */
static double potential_at(BrioSim *sim, const double *q, double *term_energy)
{
    const BrioState *state = sim->state;
    brio__system_positions(sim->system, state, q, state->time, sim->positions);
    BrioPose pose = {state, sim->positions, state->time};
    return brio__potential_evaluate(sim->stepper->potential, &pose, NULL, term_energy).energy;
}

double brio__sim_energy(BrioSim *sim)
{
    return brio_stepper_kinetic(sim->stepper, sim->state->v) +
           potential_at(sim, sim->state->q, NULL);
}

void brio__sim_add(BrioSim *sim, double change)
{
    sim->state->added += change;
    sim->state->target += change;
}

void brio__sim_book(BrioSim *sim, double before)
{
    brio__sim_add(sim, brio__sim_energy(sim) - before);
}

static BrioStatus check_values(const BrioIntegrator *integrator, const double *values,
                               unsigned *traits, BrioError *error)
{
    char reason[256];
    *traits = integrator->traits;
    BRIO_CHECK(brio__fields_check(integrator->fields, values, error));
    if (!integrator->check || integrator->check(values, traits, reason, sizeof reason) == BRIO_OK)
        return BRIO_OK;
    return brio__error(error, BRIO_ERROR_INPUT, "integrator %s: %s", integrator->name, reason);
}

static BrioStatus check(const BrioSimDef *def, const BrioIntegrator **integrator, unsigned *traits,
                        BrioError *error)
{
    *integrator = def->integrator ? brio_integrator(def->integrator) : NULL;
    if (!*integrator)
        return brio__error(error, BRIO_ERROR_INPUT, "no integrator \"%s\"",
                           def->integrator ? def->integrator : "");
    if (!(def->h > 0) || isinf(def->h))
        return brio__error(error, BRIO_ERROR_INPUT, "the time step h = %g s must be positive",
                           def->h);
    if (!def->solver.linear || !brio__linear_type(def->solver.linear))
        return brio__error(error, BRIO_ERROR_INPUT, "no linear solver \"%s\"",
                           def->solver.linear ? def->solver.linear : "");
    if (!(def->solver.tol > 0) || !(def->solver.linear_tol > 0) || def->solver.max_iterations < 1 ||
        def->solver.max_halvings < 0)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "the solver's tolerances and limits must be positive");
    if (!(def->solver.linear_tol < 1)) /* no step would be as good as one */
        return brio__error(error, BRIO_ERROR_INPUT, "linear_tol must be less than 1");
    if (!brio__solver_type(def->solver.type))
        return brio__error(error, BRIO_ERROR_INPUT, "no solver \"%s\"",
                           def->solver.type ? def->solver.type : "");
    if (def->damping_count < 0 || def->damping_count > BRIO_MAX_DAMPING)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "%d damping models: at most %d can act together", def->damping_count,
                           BRIO_MAX_DAMPING);
    for (int i = 0; i < def->damping_count; i++) {
        const char *type = def->damping[i].type;
        if (!brio__damping_model(type))
            return brio__error(error, BRIO_ERROR_INPUT, "no damping model \"%s\"",
                               type ? type : "");
        BRIO_CHECK(brio__fields_check(brio_damping_fields(type), def->damping[i].values, error));
    }
    return check_values(*integrator, def->values, traits, error);
}

static void list_integrators(unsigned trait, char *names, size_t size)
{
    size_t used = 0;
    names[0] = 0;
    for (int i = 0; brio_integrator_at(i) && used < size; i++) {
        const BrioIntegrator *other = brio_integrator_at(i);
        if (other->order > 0 && (other->traits & trait))
            used +=
                (size_t)snprintf(names + used, size - used, "%s%s", used ? ", " : "", other->name);
    }
}

/* Whether the integrator takes the forces of the scene. */
static BrioStatus check_forces(const BrioSystem *system, const BrioIntegrator *integrator,
                               unsigned traits, BrioError *error)
{
    for (int k = 0; k < system->force_count; k++) {
        const BrioForce *force = &system->force[k];
        if (traits & BRIO_SPRINGS_ONLY)
            return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                               "%s supports only springs and weight, and force \"%s\" would do "
                               "nothing; use another integrator",
                               integrator->name, force->name);
        if (!strcmp(integrator->name, "static") && !force->conservative)
            return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                               "%s minimises the potential, and force \"%s\" (%s) has none; "
                               "remove it, or use backward-euler with damping",
                               integrator->name, force->name, force->type->name);
        if (force->type->volume && system->constraint_count)
            return brio__error(
                error, BRIO_ERROR_UNSUPPORTED,
                "force \"%s\" couples a whole body through its volume, which the solver of "
                "constraints does not support; use stitches or springs instead",
                force->name);
    }
    return BRIO_OK;
}

BrioStatus brio__sim_fits(const BrioSystem *system, const BrioIntegrator *integrator,
                          const double *values, BrioError *error)
{
    unsigned traits = integrator->traits;
    if (integrator->check) integrator->check(values, &traits, (char[1]){""}, 1);
    char names[512];
    if (system->constraint_count && !(traits & BRIO_TAKES_CONSTRAINTS)) {
        list_integrators(BRIO_TAKES_CONSTRAINTS, names, sizeof names);
        return brio__error(
            error, BRIO_ERROR_UNSUPPORTED,
            "%s does not take rods and other constraints%s; use one of %s", integrator->name,
            integrator->traits & BRIO_TAKES_CONSTRAINTS ? " with these values" : "", names);
    }
    BRIO_CHECK(check_forces(system, integrator, traits, error));
    if (system->friction && (traits & BRIO_LINEARISED))
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "%s linearises forces at the start of the step, where friction sticks, "
                           "so nothing would ever slide; remove mu, or use backward-euler",
                           integrator->name);
    if (!brio__has_barriers(system) || (traits & BRIO_END_IS_SOLVED))
        return brio__springs_fit(system, integrator, traits, error);
    list_integrators(BRIO_END_IS_SOLVED, names, sizeof names);
    return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                       "%s does not support contact: %s: the end of its step is not the state that "
                       "the solver kept free of intersections; use one of %s",
                       integrator->name, brio__law_at(system->law)->name, names);
}

BrioStatus brio__solver_fits(const BrioSystem *system, const BrioSolverOptions *options,
                             const BrioIntegrator *integrator, BrioError *error)
{
    const BrioSolverType *type = brio__solver_type(options->type);
    return type->fits ? type->fits(system, options, integrator, error) : BRIO_OK;
}

/* What several processes can do together. */
static BrioStatus check_partition(const BrioSystem *system, const BrioSimDef *def, unsigned traits,
                                  BrioError *error)
{
    const BrioSolverType *solver = brio__solver_type(def->solver.type);
    const char *what = def->tol != 0                ? "time.h: auto"
                       : system->constraint_count   ? "constraints"
                       : system->stitch_term >= 0   ? "stitches"
                       : solver->unfinished         ? solver->name
                       : traits & BRIO_SPRINGS_ONLY ? def->integrator
                                                    : NULL;
    if (what)
        return brio__error(
            error, BRIO_ERROR_UNSUPPORTED,
            "%s%s: on one process only in this version of brio; run the scene without mpirun",
            what == solver->name ? "solver: " : "", what);
    if (brio__linear_type(def->solver.linear)->factor_partitions) return BRIO_OK;
    return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                       "the linear solver %s is for one process; with several use solver: {linear: "
                       "petsc}, which is also what auto becomes for them",
                       def->solver.linear);
}

/* Why the energy of the initial state is not a number, in words. */
static BrioStatus refuse_first_state(BrioSim *sim, BrioError *error)
{
    BrioLimit limit;
    char name[160];
    double min = INFINITY;
    BrioPotential *potential = sim->stepper->potential;
    const char *rest =
        isfinite(potential_at(sim, sim->state->q, NULL)) ? "motion" : "all elements together";
    BrioPose pose = {sim->state, brio__sim_world(sim), sim->state->time};
    BrioContact *pairs = brio__potential_contact(potential);
    const BrioForce *force;
    BrioStatus status;
    bool found = brio__potential_find_forbidden(potential, &pose, &limit);
    if (!found && pairs) {
        brio__contact_count(pairs, sim->state->param, pose.x, &min, &limit);
        found = limit.term;
    }
    brio__limit_text(sim->system, &limit, name, sizeof name);
    if (found && min < INFINITY)
        status = brio__error(error, BRIO_ERROR_INPUT,
                             "%s are closer than the thickness of contact in the initial state: "
                             "move them apart, or make it smaller",
                             name);
    else if (found && limit.term->energy->element == BRIO_ELEMENT_CONTACT)
        status = brio__error(
            error, BRIO_ERROR_INPUT,
            "%s are not apart in the initial state: start in front of the obstacle", name);
    else if (found && (limit.term->energy->traits & BRIO_ENERGY_INFINITE))
        status = brio__error(error, BRIO_ERROR_INPUT,
                             "%s %s in the initial state, and its material forbids that", name,
                             limit.term->energy->element == BRIO_ELEMENT_TRIANGLE ? "has collapsed"
                                                                                  : "is inverted");
    else if (!found && (force = brio__forces_not_finite(potential, &pose)))
        status = brio__error(error, BRIO_ERROR_INPUT,
                             "the energy of force \"%.64s\" (%s) is not a finite number in the "
                             "initial state: change its formula or the bodies that it acts on",
                             force->name, force->type->name);
    else
        status = brio__error(error, BRIO_ERROR_INPUT,
                             "the energy of %s is too large for a number in the initial state",
                             found ? name : rest);
    if (error)
        brio__partition_text(sim->system->partition, found, error->message, sizeof error->message);
    return status;
}

/* Whether definition, integrator and solver fit together and to the system. */
static BrioStatus check_all(const BrioSystem *system, const BrioSimDef *def,
                            const BrioIntegrator **integrator, unsigned *traits, BrioError *error)
{
    BRIO_CHECK(check(def, integrator, traits, error));
    BRIO_CHECK(brio__sim_fits(system, *integrator, def->values, error));
    BRIO_CHECK(brio__solver_fits(system, &def->solver, *integrator, error));
    if (def->tol != 0) BRIO_CHECK(brio__control_fits(def, *integrator, error));
    if (brio__forces_without_potential(system) &&
        def->damping_count + 1 + (system->friction != NULL) > BRIO_LOSSES)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "%d damping models in addition to friction and forces without a "
                           "potential: remove one",
                           def->damping_count);
    return system->partition ? check_partition(system, def, *traits, error) : BRIO_OK;
}

static BrioStatus create_parts(BrioSim *sim, const BrioSimDef *def,
                               const BrioIntegrator *integrator, unsigned traits)
{
    const BrioSystem *system = sim->system;
    sim->h = def->h;
    sim->world = brio__alloc(3 * (size_t)system->vertex_count, sizeof(double));
    sim->positions = brio__alloc(3 * (size_t)system->vertex_count, sizeof(double));
    sim->term_energy = brio__calloc((size_t)system->term_count + 1, sizeof(double));
    if (!sim->world || !sim->positions || !sim->term_energy) return BRIO_ERROR_MEMORY;
    int more = def->tol != 0 ? brio__control_history(integrator) : 0;
    BRIO_CHECK(with_history(system, integrator->history + more, &sim->state));
    BRIO_CHECK(brio__stepper_create(system, integrator, def->values, &def->solver, def->damping,
                                    def->damping_count, sim->state, &sim->stepper));
    sim->stepper->traits = traits;
    return def->tol != 0 ? brio__control_create(sim, def, &sim->control) : BRIO_OK;
}

/* A simulation of a system and a state, which it takes over. */
static BrioStatus fill(BrioSim *sim, const BrioSimDef *def, const BrioIntegrator *integrator,
                       unsigned traits, BrioError *error)
{
    BRIO_CHECK(create_parts(sim, def, integrator, traits));
    BRIO_CHECK(brio__sim_untangle(sim, error));
    BRIO_CHECK(brio__sim_check_apart(sim, brio__sim_world(sim), error));
    brio__sim_relax_begin(sim);
    return BRIO_OK;
}

BrioStatus brio_sim_create(BrioSystem *system, BrioState *state, const BrioSimDef *def,
                           BrioSim **sim, BrioError *error)
{
    const BrioIntegrator *integrator = NULL;
    unsigned traits = 0;
    if (!BRIO_LIVES(SYSTEM, system) || !BRIO_LIVES(STATE, state) || !def || !sim) {
        brio_system_free(system);
        brio_state_free(state);
        return brio__bad_argument(error, __func__);
    }
    if (error) *error = (BrioError){0};
    BrioSim *created = brio__handle_create(sizeof *created, BRIO_HANDLE_SIM);
    BrioStatus status = check_all(system, def, &integrator, &traits, error);
    if (status == BRIO_OK && !created) status = BRIO_ERROR_MEMORY;
    /* what follows takes all processes: none goes on if one does not */
    status = brio__partition_agree(system->partition, status);
    if (created) {
        created->system = system;
        created->state = state;
    }
    if (status == BRIO_OK) status = fill(created, def, integrator, traits, error);
    status = brio__partition_agree(system->partition, status);
    if (status == BRIO_OK && !isfinite(brio__sim_energy(created)))
        status = refuse_first_state(created, error);
    if (status != BRIO_OK) {
        brio__error(error, status, "%s", brio_status_text(status));
        if (!created) {
            brio_system_free(system);
            brio_state_free(state);
        }
        brio_sim_free(created);
        return status;
    }
    brio__state_forget(created->state); /* whatever filled it was another integrator */
    created->state->target = created->state->alpha = NAN;
    created->state->next_h = 0;
    created->state->first = brio__sim_energy(created);
    *sim = created;
    return BRIO_OK;
}

/* What the simulation was made with, as it is now. */
static BrioSimDef definition(const BrioSim *sim)
{
    const BrioStepper *s = sim->stepper;
    BrioSimDef def = {.h = sim->h,
                      .integrator = s->integrator->name,
                      .damping_count = brio__dissipation_asked(s->dissipation),
                      .solver = s->solver->options};
    if (sim->control) {
        def.tol = sim->control->steps.tol;
        def.h_min = sim->control->steps.h_min;
        def.fps = sim->control->fps;
    }
    memcpy(def.values, s->values, sizeof def.values);
    for (int i = 0; i < def.damping_count; i++) {
        def.damping[i].type = s->dissipation->damper[i].model->name;
        memcpy(def.damping[i].values, s->dissipation->damper[i].values,
               sizeof def.damping[i].values);
    }
    return def;
}

/* Friction and forces may have come or gone: what they took stays in the sum. */
static void carry_losses(const BrioSim *from, BrioSim *to)
{
    const BrioDissipation *a = from->stepper->dissipation, *b = to->stepper->dissipation;
    const double *old = from->state->dissipated;
    double *now = to->state->dissipated;
    if (a->friction == b->friction && a->forces == b->forces) return;
    int asked = brio__dissipation_asked(a), last = BRIO_LOSSES - 1;
    for (int i = asked; i < BRIO_LOSSES; i++) now[i] = 0;
    for (int i = asked; i < BRIO_LOSSES; i++)
        now[i == a->friction && b->friction >= 0 ? b->friction
            : i == a->forces && b->forces >= 0   ? b->forces
                                                 : last] += old[i];
}

BrioStatus brio__sim_replace(BrioSim *sim, BrioSystem *system, BrioState **state, bool edit,
                             BrioError *error)
{
    const BrioIntegrator *integrator;
    unsigned traits;
    BrioSimDef def = definition(sim);
    BRIO_CHECK(check_all(system, &def, &integrator, &traits, error));
    BrioSim next = *sim;
    next.system = system;
    next.state = *state;
    next.world = next.positions = next.term_energy = NULL;
    next.stepper = NULL;
    next.control = NULL;
    BrioStatus status = create_parts(&next, &def, integrator, traits);
    if (status == BRIO_OK && edit)
        status = brio__sim_check_apart(&next, brio__sim_world(&next), error);
    if (status == BRIO_OK && edit && !isfinite(brio__sim_energy(&next)))
        status = refuse_first_state(&next, error);
    *state = next.state;
    BrioSim *freed = status == BRIO_OK ? sim : &next;
    if (status == BRIO_OK) {
        double before = edit ? brio__sim_energy(sim) : 0;
        next.stepper->solver->watch = sim->stepper->solver->watch;
        next.stepper->solver->watcher = sim->stepper->solver->watcher;
        next.stepper->observe = sim->stepper->observe;
        next.stepper->observer = sim->stepper->observer;
        if (edit) carry_losses(sim, &next);
        if (edit) brio__state_forget(next.state);
        if (edit) brio__sim_book(&next, before);
        brio_state_free(sim->state);
    }
    brio__stepper_free(freed->stepper);
    brio__control_free(freed->control);
    brio__free(freed->world);
    brio__free(freed->positions);
    brio__free(freed->term_energy);
    if (status == BRIO_OK) *sim = next;
    return status == BRIO_OK ? status : brio__error(error, status, "%s", brio_status_text(status));
}

static BrioStatus change_integrator(BrioSim *sim, const BrioIntegrator *integrator,
                                    const double *values, BrioError *error)
{
    unsigned traits;
    BRIO_CHECK(check_values(integrator, values, &traits, error));
    BRIO_CHECK(brio__sim_fits(sim->system, integrator, values, error));
    BRIO_CHECK(brio__solver_fits(sim->system, &sim->stepper->solver->options, integrator, error));
    BrioSimDef def = definition(sim);
    if (sim->control) BRIO_CHECK(brio__control_fits(&def, integrator, error));
    bool other = integrator != sim->stepper->integrator;
    int history = integrator->history + (sim->control ? brio__control_history(integrator) : 0);
    BRIO_CHECK(
        brio__stepper_change(sim->stepper, integrator, values, traits, history, &sim->state));
    if (sim->control) BRIO_CHECK(brio__control_change(sim));
    brio__state_forget(sim->state);
    /* it takes up with the energy that there is */
    if (other) sim->state->target = sim->state->alpha = NAN;
    return BRIO_OK;
}

BrioStatus brio_sim_set_integrator(BrioSim *sim, const char *name, const double *values,
                                   BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(SIM, sim) && name, error);
    const BrioIntegrator *integrator = name ? brio_integrator(name) : NULL;
    BrioError inner = {0};
    double defaults[BRIO_MAX_VALUES] = {0};
    if (integrator && !values) brio_fields_defaults(integrator->fields, defaults);
    BrioStatus status =
        integrator
            ? change_integrator(sim, integrator, values ? values : defaults, &inner)
            : brio__error(&inner, BRIO_ERROR_ARGUMENT, "no integrator \"%s\"", name ? name : "");
    if (status == BRIO_OK) return status;
    brio_stepper_fail(sim->stepper, status,
                      inner.message[0] ? inner.message : brio_status_text(status));
    return brio__sim_report(sim, status, error);
}

const char *brio_sim_integrator(const BrioSim *sim, double *values)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SIM, sim), NULL);
    if (values) memcpy(values, sim->stepper->values, sizeof sim->stepper->values);
    return sim->stepper->integrator->name;
}

void brio_sim_free(BrioSim *sim)
{
    if (!BRIO_LIVES(SIM, sim)) return;
    brio__stepper_free(sim->stepper);
    brio__control_free(sim->control);
    brio_system_free(sim->system);
    brio_state_free(sim->state);
    brio__free(sim->world);
    brio__free(sim->positions);
    brio__free(sim->term_energy);
    brio__notes_free(sim->notes);
    brio__handle_free(sim);
}

BrioStatus brio__sim_report(const BrioSim *sim, BrioStatus status, BrioError *error)
{
    const char *reason = sim->stepper->reason;
    if (status == BRIO_OK) return status;
    if (error) *error = (BrioError){0}; /* it may be that of an earlier call */
    return brio__error(error, status, "%s", reason[0] ? reason : brio_status_text(status));
}

static BrioStatus refuse(BrioSim *sim, BrioStatus status, const char *reason, BrioError *error)
{
    return brio__sim_report(sim, brio_stepper_fail(sim->stepper, status, reason), error);
}

static void begin_step(BrioSim *sim)
{
    char text[600];
    if (sim->state->step == 0 && brio__sim_pressed_text(sim, text, sizeof text))
        brio__log(BRIO_LOG_WARNING, "%s", text);
    brio__notes_begin(sim);
}

static BrioStatus end_step(BrioSim *sim, double h, BrioStatus status, BrioError *error)
{
    if (status == BRIO_OK) brio__sim_break_stitches(sim);
    brio__notes_end(sim, h, status == BRIO_OK);
    return brio__sim_report(sim, status, error);
}

BrioStatus brio_sim_step(BrioSim *sim, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(SIM, sim), error);
    if (!sim->control) return brio_sim_step_by(sim, sim->h, error);
    begin_step(sim);
    BrioStatus status = brio__control_step(sim);
    return end_step(sim, sim->control->steps.h, status, error);
}

BrioStatus brio_sim_step_by(BrioSim *sim, double h, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(SIM, sim), error);
    if (!(h > 0) || isinf(h))
        return refuse(sim, BRIO_ERROR_ARGUMENT, "the step h must be positive and finite", error);
    double dhat = brio__sim_relax_step(sim, h);
    begin_step(sim);
    BrioStatus status = brio__stepper_advance(sim->stepper, sim->state, h);
    brio__sim_relax_stepped(sim, dhat, status == BRIO_OK);
    if (sim->control && status == BRIO_OK) sim->state->last_error = 0; /* it was not asked */
    return end_step(sim, h, status, error);
}

void brio_sim_watch(BrioSim *sim, BrioWatchFn *watch, void *user)
{
    BRIO_NEEDS_OR_NOTHING(BRIO_LIVES(SIM, sim));
    sim->stepper->solver->watch = watch;
    sim->stepper->solver->watcher = user;
}

/* The equilibrium, from where the barriers have grown. */
static BrioStatus find_rest(BrioSim *sim)
{
    BrioStepper *s = sim->stepper;
    BrioObjective still = {.s = 1, .a = 1, .time = sim->state->time, .h = 1, .massless = 2};
    brio_state_assign(s->state, sim->state);
    s->reason[0] = 0;
    s->iterations = s->halvings = 0;
    s->out_of_memory = false;
    brio__solver_begin_step(s->solver);
    double *q = brio_stepper_scratch(s, 0), before = brio__sim_energy(sim);
    if (s->out_of_memory)
        return brio_stepper_fail(s, BRIO_ERROR_MEMORY, brio_status_text(BRIO_ERROR_MEMORY));
    BRIO_CHECK(brio_stepper_minimise(s, &still, q));
    memcpy(sim->state->q, q, (size_t)sim->state->coordinates * sizeof(double));
    memset(sim->state->v, 0, (size_t)sim->state->coordinates * sizeof(double));
    brio__state_forget(sim->state);
    brio__sim_book(sim, before);
    return BRIO_OK;
}

static BrioStatus settle(BrioSim *sim)
{
    BrioState *state = sim->state;
    double added = state->added, target = state->target, dhat = brio__sim_relax_end(sim);
    BrioStatus status = find_rest(sim);
    if (status == BRIO_OK) return status;
    brio__sim_relax_stepped(sim, dhat, false);
    state->added = added;
    state->target = target;
    return status;
}

BrioStatus brio_sim_settle(BrioSim *sim, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(SIM, sim), error);
    return brio__sim_report(sim, settle(sim), error);
}

const char *brio_sim_reason(const BrioSim *sim)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SIM, sim), NULL);
    return sim->stepper->reason;
}
const BrioSystem *brio_sim_system(const BrioSim *sim)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SIM, sim), NULL);
    return sim->system;
}
BrioState *brio_sim_state(BrioSim *sim)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SIM, sim), NULL);
    return sim->state;
}
double brio_sim_time(const BrioSim *sim)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SIM, sim), NAN);
    return sim->state->time;
}
double brio_sim_h(const BrioSim *sim)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SIM, sim), NAN);
    return sim->control ? brio_sim_steps(sim).h : sim->h;
}

/* ---- positions and velocities ----------------------------------------------------------- */

void brio_sim_positions(const BrioSim *sim, int body, double *x)
{
    BRIO_NEEDS_OR_NOTHING(BRIO_LIVES(SIM, sim) && x);
    if (body < 0 || body >= sim->system->body_count) return;
    const BrioBody *b = &sim->system->body[body];
    brio__system_positions(sim->system, sim->state, sim->state->q, sim->state->time, sim->world);
    memcpy(x, sim->world + 3 * b->first, (size_t)b->count * 3 * sizeof *x);
}

void brio_sim_cage_positions(const BrioSim *sim, int body, double *x)
{
    BRIO_NEEDS_OR_NOTHING(BRIO_LIVES(SIM, sim) && x);
    if (body < 0 || body >= sim->system->body_count || !sim->system->body[body].cage) return;
    const BrioBody *b = &sim->system->body[body];
    brio__system_positions(sim->system, sim->state, sim->state->q, sim->state->time, sim->world);
    memcpy(x, sim->world + 3 * b->mass_point, 3 * (size_t)b->cage->node_count * sizeof *x);
}

void brio_sim_velocities(const BrioSim *sim, int body, double *v)
{
    BRIO_NEEDS_OR_NOTHING(BRIO_LIVES(SIM, sim) && v);
    if (body < 0 || body >= sim->system->body_count) return;
    const BrioBody *b = &sim->system->body[body];
    brio__system_velocities(sim->system, sim->state, sim->state->v, sim->state->time, sim->world);
    memcpy(v, sim->world + 3 * b->first, (size_t)b->count * 3 * sizeof *v);
}

/* The nodes of a cage, so that its vertices come nearest; fixed ones stay. */
static BrioStatus set_nodes(const BrioSim *sim, const BrioBody *b, const double *values,
                            double *coordinates)
{
    const BrioSystem *s = sim->system;
    double *node = sim->world + 3 * b->mass_point;
    (coordinates == sim->state->v ? brio__system_velocities : brio__system_positions)(
        s, sim->state, coordinates, sim->state->time, sim->world);
    BRIO_CHECK(brio__cage_fit(b->cage, values, node));
    for (int64_t i = 0; i < b->cage->node_count; i++) {
        int32_t k = s->map_start[b->mass_point + i];
        if (s->map_start[b->mass_point + i + 1] > k)
            memcpy(coordinates + 3 * (int64_t)s->map_block[k], node + 3 * i, 3 * sizeof *node);
    }
    return BRIO_OK;
}

/* Writes a body's vertex values into the coordinates that carry them one to one; of an affine or
 * caged body, into those that come nearest. y and z of a body that moves along x only must be what
 * they are. */
BrioStatus brio__sim_set_vertices(BrioSim *sim, int body, const double *values, double *coordinates,
                                  BrioError *error)
{
    const BrioSystem *s = sim->system;
    if (body < 0 || body >= s->body_count)
        return refuse(sim, BRIO_ERROR_ARGUMENT, "there is no body of that number", error);
    const BrioBody *b = &s->body[body];
    for (int64_t k = 0; k < 3 * b->count; k++)
        if (!isfinite(values[k]))
            return refuse(sim, BRIO_ERROR_ARGUMENT, "a value is not finite", error);
    bool along_x = s->term[b->term].energy->traits & BRIO_ENERGY_ALONG_X;
    for (int64_t v = 0; along_x && v < b->count; v++) {
        int32_t k = s->map_start[b->first + v];
        if (s->map_start[b->first + v + 1] == k) continue;
        const double *now = coordinates + 3 * (int64_t)s->map_block[k], *next = values + 3 * v;
        if (next[1] != now[1] || next[2] != now[2])
            return refuse(sim, BRIO_ERROR_ARGUMENT,
                          "a bar1d moves along x only: y and z must not change", error);
    }
    if (b->cage) {
        if (set_nodes(sim, b, values, coordinates) != BRIO_OK)
            return refuse(sim, BRIO_ERROR_MEMORY, brio_status_text(BRIO_ERROR_MEMORY), error);
        return BRIO_OK;
    }
    if (b->mass_point >= 0) {
        int32_t k = s->map_start[b->first];
        if (s->map_start[b->first + 1] > k)
            brio__affine_fit(b->count, s->map_weight + k, values,
                             coordinates + 3 * (int64_t)s->map_block[k]);
        return BRIO_OK;
    }
    for (int64_t v = 0; v < b->count; v++) {
        int32_t k = s->map_start[b->first + v];
        if (s->map_start[b->first + v + 1] == k) continue;
        memcpy(coordinates + 3 * (int64_t)s->map_block[k], values + 3 * v, 3 * sizeof *values);
    }
    return BRIO_OK;
}

BrioStatus brio_sim_set_positions(BrioSim *sim, int body, const double *x, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(SIM, sim) && x, error);
    BrioStepper *s = sim->stepper;
    s->out_of_memory = false;
    double *q = brio_stepper_scratch(s, 0), before = brio__sim_energy(sim);
    if (s->out_of_memory)
        return refuse(sim, BRIO_ERROR_MEMORY, brio_status_text(BRIO_ERROR_MEMORY), error);
    memcpy(q, sim->state->q, (size_t)sim->state->coordinates * sizeof(double));
    BRIO_CHECK(brio__sim_set_vertices(sim, body, x, q, error));
    if (!isfinite(potential_at(sim, q, NULL)))
        return refuse(sim, BRIO_STEP_REJECTED,
                      "these positions are forbidden: an element is inverted, or a contact touches",
                      error);
    BrioError inner = {0};
    if (brio__sim_check_apart(sim, sim->positions, &inner) != BRIO_OK)
        return refuse(sim, BRIO_STEP_REJECTED, inner.message, error);
    memcpy(sim->state->q, q, (size_t)sim->state->coordinates * sizeof(double));
    brio__state_forget(sim->state);
    brio__sim_book(sim, before);
    return BRIO_OK;
}

/* Books a change from outside, which has been made to the energies; integrators forget what they
 * know of earlier steps. False: the energy is no number now, and the change must be undone. */
static bool book_if_finite(BrioSim *sim, double before)
{
    double after = brio__sim_energy(sim);
    if (!isfinite(after)) return false;
    brio__state_forget(sim->state);
    brio__sim_add(sim, after - before);
    return true;
}

BrioStatus brio_sim_set_velocities(BrioSim *sim, int body, const double *v, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(SIM, sim) && v, error);
    BrioState *state = sim->state;
    BrioStepper *s = sim->stepper;
    s->out_of_memory = false;
    double *old = brio_stepper_scratch(s, 0), before = brio__sim_energy(sim);
    if (s->out_of_memory)
        return refuse(sim, BRIO_ERROR_MEMORY, brio_status_text(BRIO_ERROR_MEMORY), error);
    memcpy(old, state->v, (size_t)state->coordinates * sizeof *old);
    BRIO_CHECK(brio__sim_set_vertices(sim, body, v, state->v, error));
    brio__system_mask(sim->system, state->v);
    if (book_if_finite(sim, before)) return BRIO_OK;
    memcpy(state->v, old, (size_t)state->coordinates * sizeof *old);
    return refuse(sim, BRIO_STEP_REJECTED,
                  "with these velocities the energy is too large for a number", error);
}

BrioStatus brio_sim_set_gravity(BrioSim *sim, const double gravity[3], BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(SIM, sim) && gravity, error);
    for (int r = 0; r < 3; r++)
        if (!isfinite(gravity[r]))
            return refuse(sim, BRIO_ERROR_ARGUMENT, "gravity is not finite", error);
    double *now = sim->state->param + sim->system->term[sim->system->gravity_term].params;
    double old[3] = {now[0], now[1], now[2]}, before = brio__sim_energy(sim);
    memcpy(now, gravity, sizeof old);
    if (book_if_finite(sim, before)) return BRIO_OK;
    memcpy(now, old, sizeof old);
    return refuse(sim, BRIO_STEP_REJECTED, "with this gravity the energy is too large for a number",
                  error);
}

BrioStatus brio_sim_set_force(BrioSim *sim, int force, double factor, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(SIM, sim), error);
    if (force < 0 || force >= sim->system->force_count)
        return refuse(sim, BRIO_ERROR_ARGUMENT, "there is no force of that number", error);
    if (!isfinite(factor))
        return refuse(sim, BRIO_ERROR_ARGUMENT, "the factor of a force is not finite", error);
    double *now = &sim->state->param[sim->system->force[force].param];
    double old = *now, before = brio__sim_energy(sim);
    *now = factor;
    if (book_if_finite(sim, before)) return BRIO_OK;
    *now = old;
    return refuse(sim, BRIO_STEP_REJECTED, "with this factor the energy is too large for a number",
                  error);
}

/* ---- energies --------------------------------------------------------------------------- */

BrioStatus brio_sim_ledger(BrioSim *sim, BrioLedger *ledger)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SIM, sim) && ledger, BRIO_ERROR_ARGUMENT);
    brio__ledger(sim, ledger);
    ledger->iterations = sim->stepper->iterations;
    return isfinite(ledger->total) ? BRIO_OK : BRIO_NOT_FINITE;
}

double brio_sim_force_energy(BrioSim *sim)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SIM, sim), NAN);
    BrioLedger ledger;
    brio__ledger(sim, &ledger);
    return sim->force_energy;
}

double brio_sim_body_energy(BrioSim *sim, int body)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SIM, sim), NAN);
    if (body < 0 || body >= sim->system->body_count) return NAN;
    potential_at(sim, sim->state->q, sim->term_energy);
    return brio__body_energy(&sim->system->body[body], sim->term_energy);
}
