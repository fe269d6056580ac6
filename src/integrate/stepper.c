/* The registry of integrators, the tools that they use, and the driver that tries a failed step in
 * halves. */
#include "integrator.h"

#include "../field.h"
#include "../potential/hands.h"

#include <string.h>

/* ---- registry --------------------------------------------------------------------------- */

#define INTEGRATOR(symbol) extern const BrioIntegrator brio__integrator_##symbol;
#include "list.def"
#undef INTEGRATOR

enum {
    BUILT_IN = 0
#define INTEGRATOR(symbol) +1
#include "list.def"
#undef INTEGRATOR
    ,
    MOST = BUILT_IN + 64
};

static const BrioIntegrator *table[MOST] = {
#define INTEGRATOR(symbol) &brio__integrator_##symbol,
#include "list.def"
#undef INTEGRATOR
};
static int table_count = BUILT_IN;

const BrioIntegrator *brio_integrator_at(int i)
{
    return i >= 0 && i < table_count ? table[i] : NULL;
}

const BrioIntegrator *brio_integrator(const char *name)
{
    for (int i = 0; i < table_count; i++)
        if (!strcmp(table[i]->name, name)) return table[i];
    return NULL;
}

BrioStatus brio_register_integrator(const BrioIntegrator *integrator, BrioError *error)
{
    if (!integrator || !integrator->name || !integrator->step)
        return brio__error(error, BRIO_ERROR_ARGUMENT, "an integrator needs a name and a step");
    if (brio_integrator(integrator->name))
        return brio__error(error, BRIO_ERROR_ARGUMENT,
                           "there is an integrator \"%s\" already; choose another name",
                           integrator->name);
    if (table_count == MOST)
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "%d integrators are registered already, and there is no room for more",
                           MOST);
    table[table_count++] = integrator;
    return BRIO_OK;
}

/* ---- tools of an integrator ------------------------------------------------------------- */

const double *brio_stepper_q(const BrioStepper *s) { return s->state->q; }
const double *brio_stepper_v(const BrioStepper *s) { return s->state->v; }
double brio_stepper_time(const BrioStepper *s) { return s->state->time; }
int64_t brio_stepper_coordinates(const BrioStepper *s) { return s->state->coordinates; }

double brio_stepper_value(const BrioStepper *s, const char *field)
{
    int at = brio__fields_offset(s->integrator->fields, field);
    return at >= 0 ? s->values[at] : NAN;
}

double *brio_stepper_history(BrioStepper *s, int k)
{
    return k >= 0 && k < s->state->history ? s->state->past + k * s->state->coordinates : NULL;
}

int brio_stepper_history_used(const BrioStepper *s) { return (int)s->state->history_used; }

void brio_stepper_set_history_used(BrioStepper *s, int count)
{
    s->state->history_used = BRIO_MAX(0, BRIO_MIN((int64_t)count, s->state->history));
}

double brio_stepper_last_h(const BrioStepper *s) { return s->state->last_h; }

const double *brio_stepper_list(const BrioStepper *s, const char *field, int *count)
{
    int at = brio__fields_offset(s->integrator->fields, field);
    *count = at >= 0 ? (int)s->values[at] : 0;
    return at >= 0 ? s->values + at + 1 : NULL;
}

double *brio_stepper_memo(BrioStepper *s, int k)
{
    return k >= 0 && k < (int)BRIO_COUNT(s->state->memo) ? &s->state->memo[k] : NULL;
}

/* If memory for a vector is lacking, the step works on a vector of another and is then refused. */
double *brio_stepper_scratch(BrioStepper *s, int k)
{
    if (k < 0 || k >= BRIO_SCRATCH) return NULL;
    if (!s->scratch[k]) s->scratch[k] = brio__calloc((size_t)s->state->coordinates, sizeof(double));
    s->out_of_memory |= !s->scratch[k];
    return s->scratch[k] ? s->scratch[k] : s->difference;
}

BrioStatus brio_stepper_fail(BrioStepper *s, BrioStatus status, const char *reason)
{
    snprintf(s->reason, sizeof s->reason, "%s", reason);
    return status;
}

/* After damping model i has been asked for its force. */
static void count_held(BrioStepper *s, int i, double weight)
{
    const BrioDamper *d = &s->solver->damper[i];
    if (d->model->held && s->system->scripted_count)
        d->model->held(d->self, s->system, weight, s->held_impulse);
}

static void count_damping(BrioStepper *s, const double *q, const BrioObjective *o, double weight)
{
    BrioMotion motion = brio__damped_motion(s->solver, s->state, o, q);
    for (int i = 0; i < s->solver->damper_count; i++) {
        const BrioDamper *d = &s->solver->damper[i];
        if (!d->model->potential) continue;
        memset(s->difference, 0, (size_t)s->state->coordinates * sizeof(double));
        d->model->potential(d->self, d->values, s->solver, s->state, &motion, s->difference);
        brio__combine(s->system, 1, s->impulse[i], weight, s->difference, s->impulse[i]);
        count_held(s, i, weight);
    }
}

void brio_stepper_count_damping(BrioStepper *s, const BrioObjective *o, const double *q)
{
    count_damping(s, q, o, o->weight == 0 ? 1 : o->weight);
}

void brio__stepper_count_known(BrioStepper *s, const BrioObjective *o, const double *q,
                               const double *gradient)
{
    double weight = o->weight == 0 ? 1 : o->weight;
    if (o->massless || o->weight == BRIO_NOT_COUNTED || o->s * o->a == 0) return;
    /* M (q - target) + s a grad(P + D) = r: as if the force r/(s a) acted too */
    if (!o->linear)
        brio__combine(s->system, 1, s->unbalanced, weight / (o->s * o->a), gradient, s->unbalanced);
    if (!o->undamped) count_damping(s, q, o, weight);
}

BrioStatus brio_stepper_minimise(BrioStepper *s, const BrioObjective *objective, double *q)
{
    BrioStatus status = brio__minimise(s->solver, s->state, objective, q);
    s->iterations += s->solver->iterations;
    if (status != BRIO_OK) return brio_stepper_fail(s, status, s->solver->message);
    brio__stepper_count_known(s, objective, q, s->solver->gradient);
    return BRIO_OK;
}

void brio_stepper_count_solve(BrioStepper *s, const BrioObjective *objective, const double *q)
{
    brio__objective_gradient(s->solver, s->state, objective, q);
    brio__stepper_count_known(s, objective, q, s->solver->gradient);
}

int brio_stepper_rods(const BrioStepper *s) { return s->system->rod_count; }

void brio_stepper_rod_force(BrioStepper *s, double *f)
{
    const BrioConstraints *rods = s->solver->constraints;
    if (rods)
        brio__combine(s->system, -1, rods->force, 0, rods->force, f);
    else
        memset(f, 0, (size_t)s->state->coordinates * sizeof *f);
}

BrioStatus brio_stepper_fit_velocities(BrioStepper *s, const double *q, double time, double *v)
{
    if (!s->solver->constraints ||
        brio__constraints_fit(s->solver->constraints, s->state, q, time, v) == BRIO_OK)
        return BRIO_OK;
    return brio_stepper_fail(s, BRIO_NOT_CONVERGED, brio__reason_text(BRIO_REASON_RODS));
}

static void damping_force(BrioStepper *s, const double *q, const double *v, double time, double h,
                          double weight, double *f)
{
    size_t bytes = (size_t)s->state->coordinates * sizeof(double);
    memset(f, 0, bytes);
    for (int i = 0; i < s->solver->damper_count; i++) {
        const BrioDamper *d = &s->solver->damper[i];
        if (!d->model->force) continue;
        memset(s->difference, 0, bytes);
        d->model->force(d->self, d->values, s->solver, s->state, q, v, time, h, s->difference);
        brio__combine(s->system, 1, f, 1, s->difference, f);
        if (weight == BRIO_NOT_COUNTED) continue;
        brio__combine(s->system, 1, s->impulse[i], -weight, s->difference, s->impulse[i]);
        count_held(s, i, weight);
    }
}

void brio_stepper_damping_force(BrioStepper *s, const double *q, const double *v, double h,
                                double weight, double *f)
{
    damping_force(s, q, v, s->state->time, h, weight, f);
}

void brio_stepper_force(BrioStepper *s, const double *q, const double *v, double time, double h,
                        double weight, double *f)
{
    if (s->solver->damper_count == 0) {
        brio__potential(s->solver, s->state, q, time, f);
        brio__combine(s->system, -1, f, 0, f, f);
        return;
    }
    damping_force(s, q, v, time, h, weight, f);
    brio__potential(s->solver, s->state, q, time, s->difference);
    brio__combine(s->system, 1, f, -1, s->difference, f);
}

BrioStatus brio_stepper_linearise(BrioStepper *s, const double *q, double time)
{
    BrioSolver *solver = s->solver;
    BRIO_CHECK(brio__solver_prepare(solver, s->state));
    brio__system_positions(s->system, s->state, q, time, solver->x);
    brio__assemble(solver->evaluator, s->state->param, solver->x, 0, 1, false, solver->linear,
                   NULL);
    return BRIO_OK;
}

void brio_stepper_stiffness(BrioStepper *s, const double *x, double *y)
{
    brio__linear_multiply(s->solver->linear, x, y);
    brio__hands_multiply(s->system, s->state, x, y);
    brio__share_complete(s->system->share, y);
}

BrioStatus brio_stepper_linear_solve(BrioStepper *s, const double *q, double time, double weight,
                                     const double *b, double *x)
{
    BrioSolver *solver = s->solver;
    BRIO_CHECK(brio__solver_prepare(solver, s->state));
    brio__system_positions(s->system, s->state, q, time, solver->x);
    brio__assemble(solver->evaluator, s->state->param, solver->x, 1, weight, true, solver->linear,
                   NULL);
    brio__hands_assemble(s->system, s->state, weight, solver->linear);
    BrioStatus status = brio__linear_factor(solver->linear);
    if (status == BRIO_OK) status = brio__linear_solve(solver->linear, 1, b, x);
    return status == BRIO_OK ? BRIO_OK : brio_stepper_fail(s, status, brio_status_text(status));
}

double brio_stepper_target(const BrioStepper *s) { return s->state->target; }

void brio_stepper_set_target(BrioStepper *s, double target, double alpha)
{
    s->state->target = target;
    s->state->alpha = alpha;
}

/* Forces on held vertices and where they are, for the coordinates q at a time, into held[2 * end],
 * held[2 * end + 1]. */
static void hold(BrioStepper *s, const double *q, double time, int end)
{
    BrioSolver *solver = s->solver;
    brio__system_positions(s->system, s->state, q, time, solver->x);
    for (int64_t i = 0; i < s->system->held_count; i++)
        memcpy(s->held[2 * end] + 3 * i, solver->x + 3 * (int64_t)s->system->held[i],
               3 * sizeof(double));
    double *force = s->held[2 * end + 1];
    brio__held_gradient(solver->evaluator, s->state->param, solver->x, force);
    if (!solver->contact) return;
    memset(solver->dx, 0, 3 * (size_t)s->system->vertex_count * sizeof *solver->dx);
    brio__contact_evaluate(solver->contact, s->state->param, solver->x, NULL, solver->dx);
    for (int64_t i = 0; i < s->system->held_count; i++)
        for (int r = 0; r < 3; r++)
            force[3 * i + r] += solver->dx[3 * (int64_t)s->system->held[i] + r];
}

/* Work of whoever moves the held vertices: the mean of the forces at both ends times the way, and
 * what overcomes friction, which is returned also in `rubbed`: friction takes it at once. */
static double held_work(BrioStepper *s, const double *q, double h, double *rubbed)
{
    *rubbed = 0;
    if (s->system->scripted_count == 0) return 0;
    double work = 0;
    bool moved = false;
    brio__system_held(s->system, s->state, s->state->time + h, s->solver->x);
    for (int64_t i = 0; i < s->system->held_count && !moved; i++)
        moved = memcmp(s->held[0] + 3 * i, s->solver->x + 3 * (int64_t)s->system->held[i],
                       3 * sizeof(double)) != 0;
    if (!brio__share_any(s->system->share, moved)) return 0;
    hold(s, q, s->state->time + h, 1);
    for (int64_t k = 0; k < 3 * s->system->held_count; k++) {
        double way = s->held[2][k] - s->held[0][k];
        work += (s->held[1][k] + s->held[3][k]) / 2 * way;
        *rubbed += s->held_impulse[k] * way;
    }
    double joined[2] = {work, *rubbed};
    brio__share_sum(s->system->share, joined, 2);
    *rubbed = joined[1];
    return joined[0] + joined[1];
}

void brio_stepper_work(BrioStepper *s, const double *q, double h, double *added, double *dissipated)
{
    *dissipated = 0;
    brio__combine(s->system, 1, q, -1, s->state->q, s->difference);
    for (int i = 0; i < s->solver->damper_count; i++)
        *dissipated += brio__dot(s->system, s->impulse[i], s->difference);
    double rubbed;
    *added = held_work(s, q, h, &rubbed);
    *dissipated += rubbed;
}

double brio_stepper_potential(BrioStepper *s, const double *q, double time, double *gradient)
{
    return brio__potential(s->solver, s->state, q, time, gradient);
}

void brio_stepper_mass_solve(BrioStepper *s, const double *f, double *a)
{
    brio__mass_solve(s->system, f, a);
}
void brio_stepper_mass_multiply(BrioStepper *s, const double *v, double *p)
{
    brio__mass_multiply(s->system, v, p);
}

double brio_stepper_kinetic(BrioStepper *s, const double *v)
{
    brio__mass_multiply(s->system, v, s->difference);
    return brio__dot(s->system, v, s->difference) / 2;
}

void brio_stepper_combine(BrioStepper *s, double alpha, const double *x, double beta,
                          const double *y, double *out)
{
    brio__combine(s->system, alpha, x, beta, y, out);
}

double brio_stepper_dot(BrioStepper *s, const double *x, const double *y)
{
    return brio__dot(s->system, x, y);
}

static BrioStatus must_be_finite(BrioStepper *s, double h, const double *q, const double *v)
{
    int64_t count = 3 * (int64_t)brio__owned(s->system);
    if (!brio__share_any(s->system->share,
                         !brio__all_finite(count, q) || !brio__all_finite(count, v)))
        return BRIO_OK;
    snprintf(s->reason, sizeof s->reason,
             "the step of %g s led to positions or velocities that are not finite", h);
    return BRIO_NOT_FINITE;
}

static BrioStatus move_on(BrioStepper *s, double h, const double *q, const double *v);

BrioStatus brio_stepper_accept(BrioStepper *s, double h, const double *q, const double *v)
{
    BrioState *state = s->state;
    BRIO_CHECK(must_be_finite(s, h, q, v));
    if (!(s->traits & BRIO_END_IS_SOLVED)) {
        double P = brio__potential(s->solver, state, q, state->time + h, NULL);
        if (!isfinite(P)) {
            BrioLimit limit;
            char name[160];
            bool here =
                brio__find_forbidden(s->solver->evaluator, state->param, s->solver->x, &limit);
            brio__limit_text(s->system, &limit, name, sizeof name);
            brio__share_text(s->system->share, here, name, sizeof name);
            snprintf(s->reason, sizeof s->reason, "the step of %g s would invert %s", h, name);
            return BRIO_STEP_REJECTED;
        }
    }
    return move_on(s, h, q, v);
}

BrioStatus brio__stepper_accept_allowed(BrioStepper *s, double h, const double *q, const double *v)
{
    BRIO_CHECK(must_be_finite(s, h, q, v));
    return move_on(s, h, q, v);
}

/* To the end of a step, with its losses. */
static BrioStatus move_on(BrioStepper *s, double h, const double *q, const double *v)
{
    BrioState *state = s->state;
    if (s->out_of_memory)
        return brio_stepper_fail(s, BRIO_ERROR_MEMORY, brio_status_text(BRIO_ERROR_MEMORY));
    brio__combine(s->system, 1, q, -1, state->q, s->difference);
    for (int i = 0; i < s->solver->damper_count; i++)
        state->dissipated[i] += brio__dot(s->system, s->impulse[i], s->difference);
    state->unfinished += brio__dot(s->system, s->unbalanced, s->difference);
    double rubbed;
    state->added += held_work(s, q, h, &rubbed);
    if (s->solver->friction) state->dissipated[s->solver->damper_count - 1] += rubbed;
    memcpy(state->q, q, (size_t)state->coordinates * sizeof *q);
    memcpy(state->v, v, (size_t)state->coordinates * sizeof *v);
    for (int i = 0; i < s->solver->damper_count; i++) {
        const BrioDamper *d = &s->solver->damper[i];
        if (!d->model->filter) continue;
        double taken = d->model->filter(d->self, d->values, s->system, state->q, h, state->v);
        state->dissipated[i] += taken;
        state->target -= taken;
    }
    state->time += h;
    state->last_h = h;
    s->accepted = true;
    return BRIO_OK;
}

/* ---- driver ----------------------------------------------------------------------------- */

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
    BrioStatus status = brio__solver_create(system, options, damping, damping_count, &s->solver);
    if (status == BRIO_OK && brio__fields_offset(integrator->fields, "flight") >= 0)
        status = brio__parts_create(s->system, &s->parts);
    if (status == BRIO_OK) status = brio_state_copy(state, &s->state, NULL);
    if (status == BRIO_OK) status = brio_state_copy(state, &s->before, NULL);
    size_t coordinates = (size_t)state->coordinates, held = 3 * (size_t)system->held_count;
    bool made = (s->difference = brio__calloc(coordinates, sizeof(double))) &&
                (s->unbalanced = brio__calloc(coordinates, sizeof(double)));
    for (int i = 0; status == BRIO_OK && made && i < s->solver->damper_count; i++)
        made = (s->impulse[i] = brio__calloc(coordinates, sizeof(double)));
    for (int i = 0; made && system->scripted_count && i < 4; i++)
        made = (s->held[i] = brio__calloc(held, sizeof(double)));
    if (made && system->scripted_count)
        made = (s->held_impulse = brio__calloc(held, sizeof(double)));
    if (status == BRIO_OK && !made) status = BRIO_ERROR_MEMORY;
    if (status == BRIO_OK)
        *stepper = s;
    else
        brio__stepper_free(s);
    return status;
}

BrioStatus brio__stepper_change(BrioStepper *s, const BrioIntegrator *integrator,
                                const double *values, unsigned traits, BrioState **state)
{
    BrioState **old[3] = {&s->state, &s->before, state}, *made[3] = {NULL, NULL, NULL};
    BrioStatus status = BRIO_OK;
    if (!s->parts && brio__fields_offset(integrator->fields, "flight") >= 0)
        status = brio__parts_create(s->system, &s->parts);
    for (int i = 0; i < 3 && status == BRIO_OK && (*state)->history != integrator->history; i++)
        status = brio__state_create(s->system, integrator->history, &made[i]);
    for (int i = 0; i < 3; i++) {
        if (status == BRIO_OK && made[i]) {
            brio_state_assign(made[i], *old[i]);
            brio_state_free(*old[i]);
            *old[i] = made[i];
        } else {
            brio_state_free(made[i]);
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
    brio__parts_free(s->parts);
    brio__solver_free(s->solver);
    brio_state_free(s->state);
    brio_state_free(s->before);
    for (int k = 0; k < BRIO_SCRATCH; k++) brio__free(s->scratch[k]);
    for (int i = 0; i < BRIO_LOSSES; i++) brio__free(s->impulse[i]);
    for (int i = 0; i < 4; i++) brio__free(s->held[i]);
    brio__free(s->held_impulse);
    brio__free(s->unbalanced);
    brio__free(s->difference);
    brio__free(s);
}

/* `from` is the state at the start of this piece; on success it has moved on by h. */
static BrioStatus advance(BrioStepper *s, BrioState *from, double h, int depth)
{
    brio_state_assign(s->state, from);
    s->accepted = s->out_of_memory = false;
    s->halvings = BRIO_MAX(s->halvings, depth);
    s->solver->halved = depth;
    size_t bytes = (size_t)s->state->coordinates * sizeof(double);
    memset(s->unbalanced, 0, bytes);
    for (int i = 0; i < s->solver->damper_count; i++) memset(s->impulse[i], 0, bytes);
    if (s->system->scripted_count) {
        memset(s->held_impulse, 0, 3 * (size_t)s->system->held_count * sizeof(double));
        hold(s, s->state->q, s->state->time, 0);
    }
    BRIO_CHECK(brio__solver_begin(s->solver, s->state));
    BrioStatus status = s->integrator->step(s, h);
    if (status == BRIO_OK && !s->accepted) {
        snprintf(s->reason, sizeof s->reason,
                 "the integrator %s ended a step without accepting a state", s->integrator->name);
        return BRIO_ERROR_ARGUMENT;
    }
    if (status == BRIO_OK) {
        brio_state_assign(from, s->state);
        return BRIO_OK;
    }
    if (status < 0 || depth >= s->solver->options.max_halvings) return status;
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
    BrioStatus status = advance(s, state, h, 0);
    if (status == BRIO_OK) {
        state->time = end;
        state->time_error = (end - before) - rest;
        state->step++;
    } else {
        if (s->halvings) brio_state_assign(state, s->before);
        if (!s->reason[0]) snprintf(s->reason, sizeof s->reason, "%s", brio_status_text(status));
    }
    return status;
}
