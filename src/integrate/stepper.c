/* The registry of integrators, the tools that they use, and the driver that tries a failed step in halves. */
#include "integrator.h"

#include "../field.h"

#include <string.h>

/* ---- registry ----------------------------------------------------------------------------------- */

#define INTEGRATOR(symbol) extern const BrioIntegrator brio__integrator_##symbol;
#include "list.def"
#undef INTEGRATOR

enum { BUILT_IN = 0
#define INTEGRATOR(symbol) +1
#include "list.def"
#undef INTEGRATOR
       , MOST = BUILT_IN + 64 };

static const BrioIntegrator *table[MOST] = {
#define INTEGRATOR(symbol) &brio__integrator_##symbol,
#include "list.def"
#undef INTEGRATOR
};
static int table_count = BUILT_IN;

const BrioIntegrator *brio_integrator_at(int i) { return i >= 0 && i < table_count ? table[i] : NULL; }

const BrioIntegrator *brio_integrator(const char *name)
{
    for (int i = 0; i < table_count; i++)
        if (!strcmp(table[i]->name, name)) return table[i];
    return NULL;
}

BrioStatus brio_register_integrator(const BrioIntegrator *integrator)
{
    if (!integrator || !integrator->name || !integrator->step || brio_integrator(integrator->name)) return BRIO_ERROR_ARGUMENT;
    if (table_count == MOST) return BRIO_ERROR_UNSUPPORTED;
    table[table_count++] = integrator;
    return BRIO_OK;
}

/* ---- tools of an integrator --------------------------------------------------------------------- */

const double *brio_stepper_q(const BrioStepper *s) { return s->state->q; }
const double *brio_stepper_v(const BrioStepper *s) { return s->state->v; }
double brio_stepper_time(const BrioStepper *s) { return s->state->time; }

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

double *brio_stepper_scratch(BrioStepper *s, int k) { return k >= 0 && k < BRIO_SCRATCH ? s->scratch[k] : NULL; }

BrioStatus brio_stepper_minimise(BrioStepper *s, const BrioObjective *objective, double *q)
{
    BrioStatus status = brio__minimise(s->solver, s->state, objective, q);
    s->iterations += s->solver->iterations;
    if (status != BRIO_OK) snprintf(s->reason, sizeof s->reason, "%s", s->solver->message);
    return status;
}

double brio_stepper_potential(BrioStepper *s, const double *q, double time, double *gradient)
{
    return brio__potential(s->solver, s->state, q, time, gradient);
}

void brio_stepper_mass_solve(BrioStepper *s, const double *f, double *a) { brio__mass_solve(s->system, f, a); }

void brio_stepper_combine(BrioStepper *s, double alpha, const double *x, double beta, const double *y, double *out)
{
    brio__combine(s->system, alpha, x, beta, y, out);
}

double brio_stepper_dot(BrioStepper *s, const double *x, const double *y) { return brio__dot(s->system, x, y); }

BrioStatus brio_stepper_accept(BrioStepper *s, double h, const double *q, const double *v)
{
    BrioState *state = s->state;
    if (!isfinite(brio__norm_max(s->system, q)) || !isfinite(brio__norm_max(s->system, v))) {
        snprintf(s->reason, sizeof s->reason, "the step of %g s led to positions or velocities that are not finite", h);
        return BRIO_NOT_FINITE;
    }
    if (!(s->integrator->traits & BRIO_END_IS_SOLVED)) {
        double P = brio__potential(s->solver, state, q, state->time + h, NULL);
        if (!isfinite(P)) {
            BrioLimit limit;
            char name[160];
            brio__find_forbidden(s->solver->evaluator, state->param, s->solver->x, &limit);
            brio__limit_text(s->system, &limit, name, sizeof name);
            snprintf(s->reason, sizeof s->reason, "the step of %g s would invert %s", h, name);
            return BRIO_STEP_REJECTED;
        }
    }
    memcpy(state->q, q, (size_t)state->coordinates * sizeof *q);
    memcpy(state->v, v, (size_t)state->coordinates * sizeof *v);
    state->time += h;
    state->last_h = h;
    s->accepted = true;
    return BRIO_OK;
}

/* ---- driver ------------------------------------------------------------------------------------- */

BrioStatus brio__stepper_create(const BrioSystem *system, const BrioIntegrator *integrator, const double *values,
                                const BrioSolverOptions *options, const BrioState *state, BrioStepper **stepper)
{
    BrioStepper *s = brio__calloc(1, sizeof *s);
    if (!s) return BRIO_ERROR_MEMORY;
    s->system = system;
    s->integrator = integrator;
    memcpy(s->values, values, sizeof s->values);
    BrioStatus status = brio__solver_create(system, options, &s->solver);
    if (status == BRIO_OK) status = brio_state_copy(state, &s->state);
    if (status == BRIO_OK) status = brio_state_copy(state, &s->before);
    size_t vector = (size_t)state->coordinates * sizeof(double) + BRIO_ALIGN;
    if (status == BRIO_OK) status = brio__arena_create(&s->arena, BRIO_SCRATCH * vector);
    for (int k = 0; k < BRIO_SCRATCH && status == BRIO_OK; k++) {
        s->scratch[k] = brio__arena_take(&s->arena, (size_t)state->coordinates, sizeof(double));
        memset(s->scratch[k], 0, (size_t)state->coordinates * sizeof(double));
    }
    if (status == BRIO_OK)
        *stepper = s;
    else
        brio__stepper_free(s);
    return status;
}

void brio__stepper_free(BrioStepper *s)
{
    if (!s) return;
    brio__solver_free(s->solver);
    brio_state_free(s->state);
    brio_state_free(s->before);
    brio__arena_free(&s->arena);
    brio__free(s);
}

/* `from` is the state at the start of this piece; on success it has moved on by h. */
static BrioStatus advance(BrioStepper *s, BrioState *from, double h, int depth)
{
    brio_state_assign(s->state, from);
    s->accepted = false;
    s->halvings = BRIO_MAX(s->halvings, depth);
    BrioStatus status = s->integrator->step(s, h);
    if (status == BRIO_OK && !s->accepted) {
        snprintf(s->reason, sizeof s->reason, "the integrator %s ended a step without accepting a state", s->integrator->name);
        return BRIO_ERROR_ARGUMENT;
    }
    if (status == BRIO_OK) {
        brio_state_assign(from, s->state);
        return BRIO_OK;
    }
    if (status < 0 || depth >= s->solver->options.max_halvings) return status;
    brio__log(BRIO_LOG_WARNING, "t = %g s: %s; trying two steps of %g s", from->time, s->reason, h / 2);
    BRIO_CHECK(advance(s, from, h / 2, depth + 1));
    return advance(s, from, h / 2, depth + 1);
}

BrioStatus brio__stepper_advance(BrioStepper *s, BrioState *state, double h)
{
    double before = state->time, rest = h - state->time_error, end = before + rest;
    s->iterations = s->halvings = 0;
    s->reason[0] = 0;
    brio_state_assign(s->before, state);
    BrioStatus status = advance(s, state, h, 0);
    if (status == BRIO_OK) {
        state->time = end;
        state->time_error = (end - before) - rest;
        state->step++;
    } else {
        brio_state_assign(state, s->before);
    }
    return status;
}
