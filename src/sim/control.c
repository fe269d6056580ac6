/* Automatic steps. A step of length h is tried from the state at t; the integrator, or
 * a difference of velocities, or two steps of h/2 tell the error e of its positions (BrioEstimate).
 * With r = max|e|/tol the step counts if r <= 1. Then the next one is
 *
 *     h' = h 0.9 r^(-0.7/k) r_last^(0.4/k),      k = p + 1,
 *
 * the PI controller of [Gustafsson1991] as in [Hairer1996, Ch. IV.2], p being the order, where
 * r_last is taken for 0.3 at least, so that steps that were much too short grow fast; otherwise it
 * is tried again with h 0.9 r^(-1/k). Factors are between 1/5 and 2: BDF2 is stable as long as a
 * step is shorter than 1 + sqrt 2 times the one before [Grigorieff1983]. A step that cannot be
 * solved, or leads through something, is tried again with a quarter of h. A step of h_min counts
 * whatever its error is.
 *
 * What lies between t and the next instant k/fps is cut into equal pieces, none longer than 1.1
 * times the proposal (which has room for that by the factor 0.9), and the last one ends at k/fps to
 * the bit. The proposal stays: a short piece does not shorten what follows.
 *
 * All that the choice depends on is in the state: a run that is continued takes the same steps. */
#include "control.h"

#include "../handle.h"
#include "../vec.h"
#include "apart.h"

#include <string.h>

#define SAFETY 0.9
#define SLACK 1.1
#define GROWTH 2.0
#define SHRINK 0.2
#define FAILED 0.25 /* of h, if there is no error estimate */
#define FIRST_WAY 100.0
#define MIN_RATIO 1e-4
#define MIN_LAST 0.3
#define DEFAULT_TOL 1e-3 /* of the size of the smallest body */

/* ---- what can be controlled --------------------------------------------------------------- */

static void list_estimates(char *names, size_t size)
{
    size_t used = 0;
    for (int i = 0; brio_integrator_at(i) && used < size; i++) {
        const BrioIntegrator *other = brio_integrator_at(i);
        if (other->order > 0 &&
            (other->estimate == BRIO_BY_DIFFERENCES || other->estimate == BRIO_BY_ITSELF))
            used +=
                (size_t)snprintf(names + used, size - used, "%s%s", used ? ", " : "", other->name);
    }
}

BrioStatus brio__control_fits(const BrioSimDef *def, const BrioIntegrator *integrator,
                              BrioError *error)
{
    char names[512] = "";
    if (!(def->tol > 0) || !(def->h_min >= 0) || !(def->fps >= 0) || isinf(def->h_min))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "automatic steps: the tolerance must be positive, the shortest step and "
                           "the frames per second not negative");
    if (def->h_min > def->h)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "automatic steps: the shortest, %g s, is longer than the longest, %g s",
                           def->h_min, def->h);
    if (integrator->estimate == BRIO_NO_ESTIMATE || integrator->order < 1) {
        list_estimates(names, sizeof names);
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "%s cannot estimate the error of a step, which h: auto needs; set "
                           "time.h to a number, or use one of %s",
                           integrator->name, names);
    }
    if (brio__solver_type(def->solver.type)->unfinished)
        return brio__error(
            error, BRIO_ERROR_UNSUPPORTED,
            "solver %s ends after a fixed number of iterations, and the "
            "unsolved rest hides the error of a step; set time.h to a number, or use "
            "solver: newton",
            def->solver.type);
    return BRIO_OK;
}

int brio__control_history(const BrioIntegrator *integrator)
{
    return integrator->estimate == BRIO_BY_DIFFERENCES && integrator->order > 1;
}

double brio__control_tol(const BrioSystem *system, const BrioState *state, double tol)
{
    if (tol != BRIO_AUTO) return tol;
    double *x = brio__alloc(3 * (size_t)system->vertex_count + 1, sizeof *x), size = INFINITY;
    if (!x) return NAN;
    brio__system_positions(system, state, state->q, state->time, x);
    for (int i = 0; i < system->body_count; i++) {
        BrioMeshQuality q = brio__body_quality(&system->body[i], x);
        double extent = brio__hypot_distance3(q.high, q.low);
        if (extent > 0) size = fmin(size, extent);
    }
    brio__free(x);
    return DEFAULT_TOL * (isinf(size) ? 1 : size);
}

/* ---- making it ------------------------------------------------------------------------------ */

BrioStatus brio__control_create(BrioSim *sim, const BrioSimDef *def, BrioControl **control)
{
    BrioControl *c = brio__calloc(1, sizeof *c);
    if (!c) return BRIO_ERROR_MEMORY;
    c->steps = (BrioSteps){.automatic = 1,
                           .tol = brio__control_tol(sim->system, sim->state, def->tol),
                           .h_min = def->h_min > 0 ? def->h_min : def->h * 0x1p-20,
                           .h_max = def->h,
                           .h = def->h,
                           .next_h = def->h,
                           .error = NAN};
    c->fps = def->fps;
    BrioStatus status = isnan(c->steps.tol) ? BRIO_ERROR_MEMORY : BRIO_OK;
    if (status == BRIO_OK) status = brio_state_copy(sim->state, &c->start, NULL);
    if (status == BRIO_OK) status = brio_state_copy(sim->state, &c->other, NULL);
    sim->stepper->wants_error = true;
    if (status == BRIO_OK)
        *control = c;
    else
        brio__control_free(c);
    return status;
}

BrioStatus brio__control_change(BrioSim *sim)
{
    BrioControl *c = sim->control;
    BrioState *start = NULL, *other = NULL;
    if (c->start->history == sim->state->history) return BRIO_OK;
    BrioStatus status = brio_state_copy(sim->state, &start, NULL);
    if (status == BRIO_OK) status = brio_state_copy(sim->state, &other, NULL);
    if (status != BRIO_OK) {
        brio_state_free(start);
        return status;
    }
    brio_state_free(c->start);
    brio_state_free(c->other);
    c->start = start;
    c->other = other;
    return BRIO_OK;
}

void brio__control_free(BrioControl *c)
{
    if (!c) return;
    brio_state_free(c->start);
    brio_state_free(c->other);
    brio__free(c);
}

/* ---- the error of a step -------------------------------------------------------------------- */

/* Where the velocities of the step before are kept: behind the integrator's history. */
static double *last_velocity(BrioState *state)
{
    return state->past + (state->history - 1) * state->coordinates;
}

/* From c->start to the state. Of order 1: c h^2 q'' = c h (v' - v). Of order 2, over three
 * velocities: c h^3 q''' = c h^3 2 ((v' - v)/h - (v - v_last)/h_last)/(h + h_last); without the
 * last one as of order 1. */
static double by_differences(BrioSim *sim, double h)
{
    const BrioControl *c = sim->control;
    const BrioIntegrator *integrator = sim->stepper->integrator;
    const BrioSystem *system = sim->system;
    double constant = integrator->error_constant;
    double *e = brio_stepper_scratch(sim->stepper, 0), last = c->start->last_h;
    bool second = integrator->order > 1 && c->start->last_error > 0;
    if (constant == 0) constant = integrator->order > 1 ? 1.0 / 12 : 0.5;
    brio__combine(system, 1, sim->state->v, -1, c->start->v, e);
    if (!second) return fmax(constant, 0.5) * h * brio__norm_max(system, e);
    brio__combine(system, 1 / h, e, -1 / last, c->start->v, e);
    brio__combine(system, 1, e, 1 / last, last_velocity(c->start), e);
    return 2 * constant * h * h * h / (h + last) * brio__norm_max(system, e);
}

/* From c->start in two halves: the state is that of the second, and c->other the end of the whole
 * step [Hairer1993, Ch. II.4]. */
static BrioStatus by_halves(BrioSim *sim, double h, double *error)
{
    BrioControl *c = sim->control;
    BrioStepper *s = sim->stepper;
    brio_state_assign(c->other, sim->state);
    brio_state_assign(sim->state, c->start);
    int iterations = s->iterations;
    for (int k = 0; k < 2; k++) {
        BRIO_CHECK(brio__stepper_advance(s, sim->state, h / 2));
        iterations += s->iterations;
        if (k == 0 && s->observe) s->observe(s->observer, sim->state);
    }
    s->iterations = iterations;
    sim->state->step--; /* it is one */
    double *e = brio_stepper_scratch(s, 0);
    brio__combine(sim->system, 1, sim->state->q, -1, c->other->q, e);
    *error = brio__norm_max(sim->system, e) / (exp2(s->integrator->order) - 1);
    return BRIO_OK;
}

/* ---- steps ---------------------------------------------------------------------------------- */

static void put_back(BrioSim *sim)
{
    brio_state_assign(sim->state, sim->control->start);
    brio__sim_relax_stepped(sim, sim->control->dhat, false);
}

/* The state by h, with the error of that in m; c->start is where it began. */
static BrioStatus try_step(BrioSim *sim, double h, bool last, double *error)
{
    BrioControl *c = sim->control;
    BrioStepper *s = sim->stepper;
    c->dhat = brio__sim_relax_step(sim, h);
    brio_state_assign(c->start, sim->state);
    s->whole = !last;
    BrioStatus status = brio__stepper_advance(s, sim->state, h);
    *error = s->error;
    if (status == BRIO_OK && s->integrator->estimate == BRIO_BY_DIFFERENCES)
        *error = by_differences(sim, h);
    if (status == BRIO_OK && s->integrator->estimate == BRIO_BY_HALVES)
        status = by_halves(sim, h, error);
    s->whole = false;
    if (status == BRIO_OK && isnan(*error)) {
        char reason[160];
        snprintf(reason, sizeof reason, "the integrator %s did not say what error its step has",
                 s->integrator->name);
        status = brio_stepper_fail(s, BRIO_ERROR_ARGUMENT, reason);
    }
    if (status != BRIO_OK) put_back(sim);
    return status;
}

/* A step that ends at the next instant or, with others of its length, leads there. `instant` is
 * that, NAN: it ends before. */
static double fit(const BrioControl *c, const BrioState *state, double h, double *instant)
{
    *instant = NAN;
    if (c->fps == 0) return h;
    double next = (floor(state->time * c->fps + 1e-6) + 1) / c->fps, left = next - state->time;
    double pieces = ceil(left / (SLACK * h) * (1 - 1e-9));
    if (pieces > 1) return left / pieces;
    *instant = next;
    return left;
}

/* Before anything is known: the error h^2/2 |a| of what knows velocities only is tol, with the
 * acceleration a by P; and nothing moves more than a hundred times tol, since forces may begin to
 * act as things move. */
static double first_h(BrioSim *sim)
{
    const BrioSteps *steps = &sim->control->steps;
    BrioStepper *s = sim->stepper;
    double *a = brio_stepper_scratch(s, 0);
    brio_state_assign(s->state, sim->state);
    brio_stepper_potential(s, sim->state->q, sim->state->time, a);
    brio_stepper_mass_solve(s, a, a);
    double h = sqrt(2 * steps->tol / brio__norm_max(sim->system, a));
    h = fmin(h, FIRST_WAY * steps->tol / brio__norm_max(sim->system, sim->state->v));
    return isnan(h) ? steps->h_max : fmin(fmax(h, steps->h_min), steps->h_max);
}

/* After a step of h that counts, of which `asked` was to be. */
static double choose(const BrioControl *c, const BrioState *before, double asked, double h,
                     double ratio, double k)
{
    double last = before->last_error > 0 ? fmax(before->last_error, MIN_LAST) : 1;
    double r = fmax(ratio, MIN_RATIO);
    double factor = SAFETY * pow(r, -0.7 / k) * pow(last, 0.4 / k);
    factor = fmin(fmax(factor, SHRINK), c->steps.rejected ? 1 : GROWTH);
    double next = h * factor;
    /* it was cut to meet an instant */
    if (h < asked) next = fmax(next, fmin(asked, h * SAFETY * pow(r, -1 / k)));
    return fmin(fmax(next, c->steps.h_min), c->steps.h_max);
}

static void count(BrioSim *sim, double asked, double h, double instant, double error)
{
    BrioControl *c = sim->control;
    BrioState *state = sim->state;
    double ratio = error / c->steps.tol;
    state->next_h = choose(c, c->start, asked, h, ratio, sim->stepper->integrator->order + 1);
    state->last_error = fmax(ratio, MIN_RATIO);
    if (brio__control_history(sim->stepper->integrator))
        memcpy(last_velocity(state), c->start->v, (size_t)state->coordinates * sizeof(double));
    if (!isnan(instant)) {
        state->time = instant;
        state->time_error = 0;
    }
    brio__sim_relax_stepped(sim, c->dhat, true);
    c->steps.h = h;
    c->steps.next_h = state->next_h;
    c->steps.error = error;
}

BrioStatus brio__control_step(BrioSim *sim)
{
    BrioControl *c = sim->control;
    double k = sim->stepper->integrator->order + 1, instant, error;
    double asked = sim->state->next_h > 0 ? sim->state->next_h : first_h(sim);
    int iterations = 0;
    c->steps.rejected = 0;
    for (;;) {
        double h = fit(c, sim->state, asked, &instant);
        /* what was asked for counts: its pieces may be longer by the slack */
        bool last = fmin(asked, h) <= c->steps.h_min * (1 + 1e-9);
        BrioStatus status = try_step(sim, h, last, &error);
        iterations += sim->stepper->iterations;
        sim->stepper->iterations = iterations; /* what did not count is work, too */
        if (status < 0 || status == BRIO_STOPPED || (status != BRIO_OK && last)) return status;
        double ratio = error / c->steps.tol;
        if (status == BRIO_OK && (ratio <= 1 || last)) {
            count(sim, asked, h, instant, error);
            return BRIO_OK;
        }
        double factor = FAILED;
        if (status == BRIO_OK) {
            factor = fmin(fmax(SAFETY * pow(ratio, -1 / k), SHRINK), SAFETY);
            put_back(sim);
        }
        c->steps.rejected++;
        asked = fmax(h * factor, c->steps.h_min);
    }
}

BrioSteps brio_sim_steps(const BrioSim *sim)
{
    BrioSteps none = {.h = NAN, .error = NAN};
    BRIO_NEEDS_OR(BRIO_LIVES(SIM, sim), none);
    if (!sim->control)
        return (BrioSteps){.h_min = sim->h,
                           .h_max = sim->h,
                           .h = sim->h,
                           .next_h = sim->h,
                           .tol = NAN,
                           .error = NAN};
    return sim->control->steps;
}
