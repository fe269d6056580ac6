/* The tools of an integrator: the public functions of brio/integrator.h, over the state, the
 * solver, the potential and what dissipates. */
#include "stepper.h"

#include "../field.h"

#include <string.h>

/* ---- the state -------------------------------------------------------------------------- */

const char *brio_stepper_name(const BrioStepper *s)
{
    BRIO_NEEDS_OR(s, NULL);
    return s->integrator->name;
}
const double *brio_stepper_q(const BrioStepper *s)
{
    BRIO_NEEDS_OR(s, NULL);
    return s->state->q;
}
const double *brio_stepper_v(const BrioStepper *s)
{
    BRIO_NEEDS_OR(s, NULL);
    return s->state->v;
}
double brio_stepper_time(const BrioStepper *s)
{
    BRIO_NEEDS_OR(s, NAN);
    return s->state->time;
}
int64_t brio_stepper_coordinates(const BrioStepper *s)
{
    BRIO_NEEDS_OR(s, 0);
    return s->state->coordinates;
}

const double *brio_stepper_values(const BrioStepper *s)
{
    BRIO_NEEDS_OR(s, NULL);
    return s->values;
}

double brio_stepper_value(const BrioStepper *s, const char *field)
{
    BRIO_NEEDS_OR(s && field, NAN);
    int at = brio__fields_offset(s->integrator->fields, field);
    return at >= 0 ? s->values[at] : NAN;
}

double *brio_stepper_history(BrioStepper *s, int k)
{
    BRIO_NEEDS_OR(s, NULL);
    return k >= 0 && k < s->state->history ? s->state->past + k * s->state->coordinates : NULL;
}

int brio_stepper_history_used(const BrioStepper *s)
{
    BRIO_NEEDS_OR(s, 0);
    return (int)s->state->history_used;
}

void brio_stepper_set_history_used(BrioStepper *s, int count)
{
    BRIO_NEEDS_OR_NOTHING(s);
    s->state->history_used = BRIO_MAX(0, BRIO_MIN((int64_t)count, s->state->history));
}

double brio_stepper_last_h(const BrioStepper *s)
{
    BRIO_NEEDS_OR(s, NAN);
    return s->state->last_h;
}

const double *brio_stepper_list(const BrioStepper *s, const char *field, int *count)
{
    BRIO_NEEDS_OR(s && field && count, NULL);
    int at = brio__fields_offset(s->integrator->fields, field);
    *count = at >= 0 ? (int)s->values[at] : 0;
    return at >= 0 ? s->values + at + 1 : NULL;
}

double *brio_stepper_memo(BrioStepper *s, int k)
{
    BRIO_NEEDS_OR(s, NULL);
    return k >= 0 && k < (int)BRIO_COUNT(s->state->memo) ? &s->state->memo[k] : NULL;
}

/* If there is no memory for a vector, the step uses the memory of another one and is rejected in
 * the end. */
static double *vector_at(BrioStepper *s, int k)
{
    if (!s->scratch[k]) s->scratch[k] = brio__calloc((size_t)s->state->coordinates, sizeof(double));
    s->out_of_memory |= !s->scratch[k];
    return s->scratch[k] ? s->scratch[k] : s->difference;
}

int brio_stepper_wants_error(const BrioStepper *s)
{
    BRIO_NEEDS_OR(s, 0);
    return s->wants_error;
}

void brio_stepper_error(BrioStepper *s, double scale, const double *error)
{
    BRIO_NEEDS_OR_NOTHING(s && error);
    if (!s->wants_error) return;
    double more = fabs(scale) * brio__norm_max(s->system, error);
    s->error = isnan(s->error) ? more : s->error + more;
}

double *brio_stepper_scratch(BrioStepper *s, int k)
{
    BRIO_NEEDS_OR(s, NULL);
    return k >= 0 && k < BRIO_SCRATCH ? vector_at(s, k) : NULL;
}

double *brio_stepper_room(BrioStepper *s, int k)
{
    BRIO_NEEDS_OR(s, NULL);
    return k >= 0 && k < BRIO_ROOM ? vector_at(s, BRIO_SCRATCH + k) : NULL;
}

BrioStatus brio_stepper_fail(BrioStepper *s, BrioStatus status, const char *reason)
{
    BRIO_NEEDS_OR(s && reason, BRIO_ERROR_ARGUMENT);
    snprintf(s->reason, sizeof s->reason, "%s", reason);
    return status;
}

int64_t brio_stepper_step(const BrioStepper *s)
{
    BRIO_NEEDS_OR(s, 0);
    return s->state->step;
}

double brio_stepper_fingerprint(BrioStepper *s, int scripted)
{
    BRIO_NEEDS_OR(s, NAN);
    bool points = scripted && s->system->scripted_count;
    return brio__state_fingerprint(s->system, s->state, points ? s->fixed[0] : NULL,
                                   points ? 3 * s->system->fixed_count : 0);
}

/* ---- solving ---------------------------------------------------------------------------- */

BrioStatus brio_stepper_solve(BrioStepper *s, const BrioObjective *objective, double *q,
                              BrioSolution *solution)
{
    BRIO_NEEDS_OR(s && objective && q && (objective->massless || objective->target),
                  BRIO_ERROR_ARGUMENT);
    BrioValue value = {0};
    const BrioSolver *solver = s->solver;
    BrioStatus status = brio__minimise(s->solver, s->state, objective, q, &value);
    s->iterations += solver->iterations;
    if (status != BRIO_OK) return brio_stepper_fail(s, status, solver->message);
    brio_stepper_count_residual(s, objective, q, solver->gradient);
    if (!solution) return BRIO_OK;
    solution->potential = value.potential;
    if (solution->residual)
        memcpy(solution->residual, solver->gradient,
               (size_t)s->state->coordinates * sizeof *solution->residual);
    return BRIO_OK;
}

BrioStatus brio_stepper_minimise(BrioStepper *s, const BrioObjective *objective, double *q)
{
    BRIO_NEEDS_OR(s && objective && q, BRIO_ERROR_ARGUMENT);
    return brio_stepper_solve(s, objective, q, NULL);
}

void brio_stepper_objective_gradient(BrioStepper *s, const BrioObjective *objective,
                                     const double *q, double *gradient)
{
    BRIO_NEEDS_OR_NOTHING(s && objective && q && gradient);
    BrioProblem problem = brio__problem(s->solver, s->state, objective);
    brio__problem_value(&problem, q, gradient);
}

int brio_stepper_unfinished(const BrioStepper *s)
{
    BRIO_NEEDS_OR(s, 0);
    return s->solver->type->unfinished;
}

BrioStatus brio_stepper_prepare(BrioStepper *s, const BrioObjective *o)
{
    BRIO_NEEDS_OR(s && o, BRIO_ERROR_ARGUMENT);
    const BrioSolverType *type = s->solver->type;
    return type->prepare ? type->prepare(s->solver, s->state, o->s * o->a * o->a) : BRIO_OK;
}

double brio_stepper_tolerance(const BrioStepper *s, int *max_iterations)
{
    BRIO_NEEDS_OR(s, NAN);
    if (max_iterations) *max_iterations = s->solver->options.max_iterations;
    return s->solver->options.tol;
}

void brio_stepper_count_iterations(BrioStepper *s, int count)
{
    BRIO_NEEDS_OR_NOTHING(s);
    s->iterations += count;
}

int brio_stepper_stopped(BrioStepper *s, int iteration)
{
    BRIO_NEEDS_OR(s, 0);
    BrioSolver *solver = s->solver;
    if (!solver->watch) return 0;
    solver->iterations = iteration;
    solver->speed = NAN;
    solver->limit.term = NULL;
    return brio__solver_ask(solver, s->state, s->h) != BRIO_OK;
}

int brio_stepper_rods(const BrioStepper *s)
{
    BRIO_NEEDS_OR(s, 0);
    return s->system->row_count;
}

void brio_stepper_rod_force(BrioStepper *s, double *f)
{
    BRIO_NEEDS_OR_NOTHING(s && f);
    const BrioConstraints *rods = s->solver->constraints;
    if (rods)
        brio__combine(s->system, -1, rods->force, 0, rods->force, f);
    else
        memset(f, 0, (size_t)s->state->coordinates * sizeof *f);
}

BrioStatus brio_stepper_fit_velocities(BrioStepper *s, const double *q, double time, double *v)
{
    BRIO_NEEDS_OR(s && q && v, BRIO_ERROR_ARGUMENT);
    const BrioSolver *solver = s->solver;
    if (!solver->constraints ||
        brio__constraints_fit(solver->constraints, s->state, q, time, v) == BRIO_OK)
        return BRIO_OK;
    return brio_stepper_fail(s, BRIO_NOT_CONVERGED, brio__reason_text(BRIO_REASON_RODS));
}

BrioStatus brio_stepper_rattle(BrioStepper *s, double h, double rate, const double *q, double *v)
{
    BRIO_NEEDS_OR(s && q && v, BRIO_ERROR_ARGUMENT);
    double *pull = brio_stepper_scratch(s, 5);
    if (brio_stepper_rods(s) == 0) return BRIO_OK;
    brio_stepper_rod_force(s, pull);
    brio_stepper_mass_solve(s, pull, pull);
    brio_stepper_combine(s, 1, v, 1 / h - rate, pull, v);
    return brio_stepper_fit_velocities(s, q, brio_stepper_time(s) + h, v);
}

/* ---- potential and forces --------------------------------------------------------------- */

double brio_stepper_evaluate(BrioStepper *s, const double *q, double time, double *gradient,
                             double *noise)
{
    BRIO_NEEDS_OR(s && q, NAN);
    brio__system_positions(s->system, s->state, q, time, s->x);
    BrioSum sum =
        brio__potential_evaluate(s->potential, &(BrioPose){s->state, s->x, time}, gradient, NULL);
    if (noise) *noise = sum.noise;
    return sum.energy;
}

double brio_stepper_potential(BrioStepper *s, const double *q, double time, double *gradient)
{
    BRIO_NEEDS_OR(s && q, NAN);
    return brio_stepper_evaluate(s, q, time, gradient, NULL);
}

void brio_stepper_uniform_gradient(BrioStepper *s, double *gradient)
{
    BRIO_NEEDS_OR_NOTHING(s && gradient);
    const double *weight =
        brio__linear_gradient(brio__potential_elements(s->potential), s->state->param, s->x);
    brio__combine(s->system, 1, weight, 0, weight, gradient);
    brio__partition_complete(s->system->partition, gradient);
    brio__system_mask(s->system, gradient);
}

/* After damping model i has been asked for its force. */
static void count_more(BrioStepper *s, int i, double weight)
{
    const BrioDamper *d = &s->dissipation->damper[i];
    if (d->model->outside) d->model->outside(d->self, weight, s->brought, &s->air_power);
    if (d->model->fixed && s->system->scripted_count)
        d->model->fixed(d->self, s->system, weight, s->fixed_impulse);
}

static void damping_force(BrioStepper *s, const double *q, const double *v, double time, double h,
                          double weight, double *f)
{
    size_t bytes = (size_t)s->state->coordinates * sizeof(double);
    memset(f, 0, bytes);
    for (int i = 0; i < s->dissipation->count; i++) {
        const BrioDamper *d = &s->dissipation->damper[i];
        if (!d->model->force) continue;
        memset(s->difference, 0, bytes);
        d->model->force(d->self, d->values, s->state, q, v, time, h, s->difference);
        brio__combine(s->system, 1, f, 1, s->difference, f);
        if (weight == BRIO_NOT_COUNTED) continue;
        brio__combine(s->system, 1, s->impulse[i], -weight, s->difference, s->impulse[i]);
        count_more(s, i, weight);
    }
    brio__system_mask(s->system, f);
}

void brio_stepper_damping_force(BrioStepper *s, const double *q, const double *v, double h,
                                double weight, double *f)
{
    BRIO_NEEDS_OR_NOTHING(s && q && v && f);
    damping_force(s, q, v, s->state->time, h, weight, f);
}

int brio_stepper_friction_shift(BrioStepper *s, const BrioObjective *o, const double *q, double *f)
{
    BRIO_NEEDS_OR(s && o && q && f, 0);
    int i = s->dissipation->friction;
    if (i < 0) return 0;
    const BrioDamper *d = &s->dissipation->damper[i];
    BrioProblem problem = brio__problem(s->solver, s->state, o);
    BrioMotion motion = brio__problem_motion(&problem, q);
    d->model->shift(d->self, s->state, &motion, f);
    brio__system_mask(s->system, f);
    return brio__norm_max(s->system, f) > 0;
}

void brio_stepper_count_friction(BrioStepper *s, const BrioObjective *o, const double *q,
                                 double weight, double *f)
{
    BRIO_NEEDS_OR_NOTHING(s && o && q && f);
    int i = s->dissipation->friction;
    if (!brio_stepper_friction_shift(s, o, q, f)) return;
    brio__combine(s->system, 1, s->impulse[i], -weight, f, s->impulse[i]);
    count_more(s, i, weight);
}

void brio_stepper_force(BrioStepper *s, const double *q, const double *v, double time, double h,
                        double weight, double *f)
{
    BRIO_NEEDS_OR_NOTHING(s && q && v && f);
    if (s->dissipation->count == 0) {
        brio_stepper_potential(s, q, time, f);
        brio__combine(s->system, -1, f, 0, f, f);
        return;
    }
    damping_force(s, q, v, time, h, weight, f);
    brio_stepper_potential(s, q, time, s->difference);
    brio__combine(s->system, 1, f, -1, s->difference, f);
}

/* A = mass M + weight d2P/dq2 at q. */
static BrioStatus assemble(BrioStepper *s, const double *q, double time, double mass, double weight,
                           bool project)
{
    BRIO_CHECK(brio__solver_prepare(s->solver, s->state));
    BrioLinear *matrix = s->solver->linear;
    brio__system_positions(s->system, s->state, q, time, s->x);
    brio__assemble_masses(s->system, mass, matrix);
    return brio__potential_hessian(s->potential, &(BrioPose){s->state, s->x, time}, weight, project,
                                   matrix);
}

BrioStatus brio_stepper_linearise(BrioStepper *s, const double *q, double time)
{
    BRIO_NEEDS_OR(s && q, BRIO_ERROR_ARGUMENT);
    return assemble(s, q, time, 0, 1, false);
}

void brio_stepper_stiffness(BrioStepper *s, const double *x, double *y)
{
    BRIO_NEEDS_OR_NOTHING(s && x && y);
    brio__linear_multiply(s->solver->linear, x, y);
    brio__partition_complete(s->system->partition, y);
}

BrioStatus brio_stepper_linear_solve(BrioStepper *s, const double *q, double time, double weight,
                                     const double *b, double *x)
{
    BRIO_NEEDS_OR(s && q && b && x, BRIO_ERROR_ARGUMENT);
    BRIO_CHECK(brio_stepper_factor(s, q, time, weight));
    return brio_stepper_factored_solve(s, b, x);
}

static BrioStatus linear_outcome(BrioStepper *s, BrioStatus status)
{
    if (status == BRIO_OK) return BRIO_OK;
    return brio_stepper_fail(s, status,
                             status == BRIO_NOT_CONVERGED ? brio__reason_text(BRIO_REASON_LINEAR)
                                                          : brio_status_text(status));
}

BrioStatus brio_stepper_factor(BrioStepper *s, const double *q, double time, double weight)
{
    BRIO_NEEDS_OR(s && q, BRIO_ERROR_ARGUMENT);
    BRIO_CHECK(assemble(s, q, time, 1, weight, true));
    s->solver->linear->options.position = s->state->q; /* another method may have had another one */
    return linear_outcome(s, brio__linear_factor(s->solver->linear));
}

BrioStatus brio_stepper_factored_solve(BrioStepper *s, const double *b, double *x)
{
    BRIO_NEEDS_OR(s && b && x && s->solver->linear, BRIO_ERROR_ARGUMENT);
    return linear_outcome(s, brio__linear_solve(s->solver->linear, 1, b, x));
}

double brio_stepper_max_step(BrioStepper *s, const double *q, const double *step, double time)
{
    BRIO_NEEDS_OR(s && q && step, NAN);
    BrioLimit limit;
    double *way = s->solver->dx;
    brio__system_directions(s->system, step, way);
    brio__system_positions(s->system, s->state, q, time, s->x);
    return brio__potential_max_step(s->potential, &(BrioPose){s->state, s->x, time}, way, &limit);
}

/* ---- what the ledger counts ------------------------------------------------------------- */

static void count_damping(BrioStepper *s, const double *q, const BrioObjective *o, double weight)
{
    BrioProblem problem = brio__problem(s->solver, s->state, o);
    BrioMotion motion = brio__problem_motion(&problem, q);
    for (int i = 0; i < s->dissipation->count; i++) {
        const BrioDamper *d = &s->dissipation->damper[i];
        if (!d->model->potential) continue;
        memset(s->difference, 0, (size_t)s->state->coordinates * sizeof(double));
        d->model->potential(d->self, d->values, s->state, &motion, s->difference);
        brio__combine(s->system, 1, s->impulse[i], weight, s->difference, s->impulse[i]);
        count_more(s, i, weight);
    }
}

void brio_stepper_count_damping(BrioStepper *s, const BrioObjective *o, const double *q)
{
    BRIO_NEEDS_OR_NOTHING(s && o && q);
    count_damping(s, q, o, o->weight == 0 ? 1 : o->weight);
}

void brio_stepper_count_residual(BrioStepper *s, const BrioObjective *o, const double *q,
                                 const double *residual)
{
    BRIO_NEEDS_OR_NOTHING(s && o && q && residual);
    double weight = o->weight == 0 ? 1 : o->weight;
    if (o->massless || o->weight == BRIO_NOT_COUNTED || o->s * o->a == 0) return;
    /* M (q - target) + s a grad(P + D) = r: as if the force r/(s a) acted too */
    if (!o->linear)
        brio__combine(s->system, 1, s->unbalanced, weight / (o->s * o->a), residual, s->unbalanced);
    if (!o->undamped) count_damping(s, q, o, weight);
}

void brio_stepper_count_solve(BrioStepper *s, const BrioObjective *objective, const double *q)
{
    BRIO_NEEDS_OR_NOTHING(s && objective && q);
    brio_stepper_objective_gradient(s, objective, q, s->solver->gradient);
    brio_stepper_count_residual(s, objective, q, s->solver->gradient);
}

int brio_stepper_dampers(const BrioStepper *s)
{
    BRIO_NEEDS_OR(s, 0);
    return s->dissipation->count;
}
int brio_stepper_damped(const BrioStepper *s)
{
    BRIO_NEEDS_OR(s, 0);
    return s->dissipation->acts;
}

void brio_stepper_add_damping(BrioStepper *s, double scale, double *f)
{
    BRIO_NEEDS_OR_NOTHING(s && f);
    for (int i = 0; i < s->dissipation->count; i++)
        if (s->dissipation->damper[i].model->potential)
            brio__combine(s->system, 1, f, scale, s->impulse[i], f);
}

int brio_stepper_sticking_friction(const BrioStepper *s, double *f)
{
    BRIO_NEEDS_OR(s && f, 0);
    int i = s->dissipation->friction;
    if (i < 0 || !brio_stepper_unfinished(s)) return 0;
    brio__combine(s->system, 1, s->impulse[i], 0, s->impulse[i], f);
    return 1;
}

void brio_stepper_residual(BrioStepper *s, double *r)
{
    BRIO_NEEDS_OR_NOTHING(s && r);
    brio__combine(s->system, 1, s->unbalanced, 0, s->unbalanced, r);
}

void brio_stepper_discard_damping(BrioStepper *s)
{
    BRIO_NEEDS_OR_NOTHING(s);
    for (int i = 0; i < s->dissipation->count; i++)
        memset(s->impulse[i], 0, (size_t)s->state->coordinates * sizeof(double));
    if (s->brought) memset(s->brought, 0, (size_t)s->state->coordinates * sizeof(double));
    s->air_power = 0;
}

double brio_stepper_target(const BrioStepper *s)
{
    BRIO_NEEDS_OR(s, NAN);
    return s->state->target;
}

void brio_stepper_set_target(BrioStepper *s, double target, double alpha)
{
    BRIO_NEEDS_OR_NOTHING(s);
    s->state->target = target;
    s->state->alpha = alpha;
}

/* ---- vectors ---------------------------------------------------------------------------- */

void brio_stepper_mass_solve(BrioStepper *s, const double *f, double *a)
{
    BRIO_NEEDS_OR_NOTHING(s && f && a);
    brio__mass_solve(s->system, f, a);
}

void brio_stepper_mass_multiply(BrioStepper *s, const double *v, double *p)
{
    BRIO_NEEDS_OR_NOTHING(s && v && p);
    brio__mass_multiply(s->system, v, p);
}

double brio_stepper_kinetic(BrioStepper *s, const double *v)
{
    BRIO_NEEDS_OR(s && v, NAN);
    brio__mass_multiply(s->system, v, s->difference);
    return brio__dot(s->system, v, s->difference) / 2;
}

void brio_stepper_combine(BrioStepper *s, double alpha, const double *x, double beta,
                          const double *y, double *out)
{
    BRIO_NEEDS_OR_NOTHING(s && x && y && out);
    brio__combine(s->system, alpha, x, beta, y, out);
}

double brio_stepper_dot(BrioStepper *s, const double *x, const double *y)
{
    BRIO_NEEDS_OR(s && x && y, NAN);
    return brio__dot(s->system, x, y);
}

double brio_stepper_norm_max(BrioStepper *s, const double *x)
{
    BRIO_NEEDS_OR(s && x, NAN);
    return brio__norm_max(s->system, x);
}

void brio_stepper_random(BrioStepper *s, unsigned seed, double *x)
{
    BRIO_NEEDS_OR_NOTHING(s && x);
    BrioRandom random = {seed};
    for (int64_t i = 0; i < s->state->coordinates; i++) x[i] = brio__random_normal(&random);
    brio__partition_spread(s->system->partition, x);
}

/* A stepper whose integrator did not declare the trait leaves everything as it is. */
void brio_stepper_unsupported(BrioStepper *s, const double *gradient, double time, double *weight)
{
    BRIO_NEEDS_OR_NOTHING(s && gradient && weight);
    if (s->components) brio__components_unsupported(s->components, gradient, time, weight);
}

void brio_stepper_scale(BrioStepper *s, double missing, double gain, double *v)
{
    BRIO_NEEDS_OR_NOTHING(s && v);
    if (s->components) brio__components_scale(s->components, missing, gain, v);
}

void brio_stepper_rigid(BrioStepper *s, const double *q, const BrioImpulse *impulse, int count,
                        double *v, double *a)
{
    BRIO_NEEDS_OR_NOTHING(s && q && impulse && v);
    for (int k = 0; k < count; k++) BRIO_NEEDS_OR_NOTHING(impulse[k].q && impulse[k].p);
    size_t bytes = (size_t)s->state->coordinates * sizeof *v;
    if (s->rigid) {
        brio__rigid_motion(s->rigid, q, impulse, count, v, a);
    } else {
        memset(v, 0, bytes);
        if (a) memset(a, 0, bytes);
    }
}

void brio_stepper_rigid_way(BrioStepper *s, const double *q, const double *p, double time,
                            double *way)
{
    BRIO_NEEDS_OR_NOTHING(s && q && p && way);
    if (s->rigid)
        brio__rigid_way(s->rigid, q, p, time, way);
    else
        memset(way, 0, (size_t)s->state->coordinates * sizeof *way);
}

void brio_stepper_isolated(BrioStepper *s, const BrioImpulse *gradient, int count,
                           const double *from, double *to)
{
    BRIO_NEEDS_OR_NOTHING(s && gradient && from && to);
    for (int k = 0; k < count; k++) BRIO_NEEDS_OR_NOTHING(gradient[k].q && gradient[k].p);
    if (!s->rigid) return;
    brio_stepper_uniform_gradient(s, s->difference);
    brio__rigid_isolated(s->rigid, s->difference, gradient, count, from, to);
}
