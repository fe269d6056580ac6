/* Projected Newton for the primitive.
 *
 * Each iteration solves (m M + s a^2 H + s a H_D) p = -(m M (q - target) + s a (g + g_D)), with g
 * and H the gradient and the Hessian (projected element by element as far as the matrix needs it to
 * be positive definite) of P at y = a q + (1-a) q_n, g_D and H_D those of the dissipation
 * potentials at q (at y, and s a^2 H_D, with blend_damping), shortens p so that no element becomes
 * forbidden, backtracks until the objective falls by a share of what its slope promises [Armijo
 * 1966], and ends when the full step is below the tolerance, max|p|/h < tol; that last step is
 * taken too.
 *
 * The objective is a sum of terms that may be far larger than what a step changes, so differences
 * below `noise` (a bound on the round-off of that sum) mean nothing: there, a step may raise it by
 * that much as long as steps get shorter, and when they no longer do, round-off has been reached
 * and the minimiser says so. */
#include "minimise.h"

#include "../contact/friction.h"
#include "../hands.h"
#include "local_global.h"

#include <float.h>
#include <string.h>

const char *brio__reason_text(BrioReason reason)
{
    switch (reason) {
#define X(name, text) \
    case BRIO_REASON_##name: return text;
        BRIO_REASON_LIST(X)
#undef X
    }
    return "unknown";
}

bool brio__solver_damped(const BrioSolver *s)
{
    for (int i = 0; i < s->damper_count; i++)
        if (s->damper[i].model->potential) return true;
    return false;
}

const char *brio__solver_type(const char *name)
{
    static const char *const names[] = BRIO_SOLVERS;
    for (size_t i = 0; name && i < BRIO_COUNT(names); i++)
        if (!strcmp(name, names[i])) return names[i];
    return NULL;
}

BrioSolverOptions brio_solver_options(void)
{
    return (BrioSolverOptions){.type = "newton",
                               .linear = brio__linear_at(0)->name,
                               .tol = 1e-8,
                               .max_iterations = 100,
                               .linear_tol = 1e-6,
                               .max_halvings = 6,
                               .iterations = 10,
                               .single_precision = 1,
                               .memory = -1};
}

static BrioStatus create_dampers(BrioSolver *s, const BrioDamping *damping, int count)
{
    if (count > BRIO_DAMPING_MOST) return BRIO_ERROR_ARGUMENT;
    for (int i = 0; i < count; i++) {
        BrioDamper *d = &s->damper[i];
        d->model = brio__damping_model(damping[i].type);
        if (!d->model) return BRIO_ERROR_ARGUMENT;
        s->damper_count = i + 1;
        memcpy(d->values, damping[i].values, sizeof d->values);
        if (d->model->create) BRIO_CHECK(d->model->create(s->system, d->values, &d->self));
    }
    s->friction = s->system->friction && (s->contact || s->system->plane_count);
    if (!s->friction) return BRIO_OK;
    BrioDamper *d = &s->damper[count];
    d->model = &brio__friction_model;
    s->damper_count = count + 1;
    return d->model->create(s->system, d->values, &d->self);
}

BrioStatus brio__solver_begin(BrioSolver *s, const BrioState *state)
{
    s->held_part = 1;
    if (s->linear && s->linear->extra) brio__extra_forget(s->linear->extra);
    for (int i = 0; i < s->damper_count; i++) {
        BrioDamper *d = &s->damper[i];
        if (d->model->lag) BRIO_CHECK(d->model->lag(d->self, d->values, s, state));
    }
    return BRIO_OK;
}

BrioStatus brio__solver_create(const BrioSystem *system, const BrioSolverOptions *options,
                               const BrioDamping *damping, int damping_count, BrioSolver **solver)
{
    BrioSolver *s = brio__calloc(1, sizeof *s);
    if (!s) return BRIO_ERROR_MEMORY;
    s->system = system;
    s->options = *options;
    s->options.linear_options = NULL;
    s->limit.term = NULL;
    s->held_part = 1;
    size_t coordinates = 3 * (size_t)system->block_count, world = 3 * (size_t)system->vertex_count;
    BrioStatus status =
        brio__evaluator_create(system, system->term, system->term_count, &s->evaluator);
    s->x = brio__calloc(world, sizeof(double));
    s->dx = brio__calloc(world, sizeof(double));
    s->x_held_n = brio__calloc(world, sizeof(double));
    s->gradient = brio__alloc(coordinates, sizeof(double));
    s->step = brio__alloc(coordinates, sizeof(double));
    s->trial = brio__alloc(coordinates, sizeof(double));
    s->blend = brio__alloc(coordinates, sizeof(double));
    s->difference = brio__alloc(coordinates, sizeof(double));
    s->damped_pose = brio__alloc(coordinates, sizeof(double));
    s->term_energy = brio__alloc((size_t)system->term_count + 2, sizeof(double));
    if (status == BRIO_OK &&
        (!s->x || !s->dx || !s->x_held_n || !s->gradient || !s->step || !s->trial || !s->blend ||
         !s->difference || !s->damped_pose || !s->term_energy))
        status = BRIO_ERROR_MEMORY;
    if (status == BRIO_OK && options->linear_options &&
        !(s->options.linear_options = brio__strdup(options->linear_options)))
        status = BRIO_ERROR_MEMORY;
    if (status == BRIO_OK && system->rod_count)
        status = brio__constraints_create(system, &s->constraints);
    if (status == BRIO_OK && system->surface) status = brio__contact_create(system, &s->contact);
    if (status == BRIO_OK) status = create_dampers(s, damping, damping_count);
    if (status == BRIO_OK)
        *solver = s;
    else
        brio__solver_free(s);
    return status;
}

void brio__solver_free(BrioSolver *s)
{
    if (!s) return;
    for (int i = 0; i < s->damper_count; i++)
        if (s->damper[i].model->destroy) s->damper[i].model->destroy(s->damper[i].self);
    brio__evaluator_free(s->evaluator);
    brio__contact_free(s->contact);
    brio__constraints_free(s->constraints);
    brio__linear_free(s->linear);
    brio__local_global_free(s->local_global);
    double *arrays[] = {s->x,     s->dx,    s->x_held_n,   s->gradient,    s->step,
                        s->trial, s->blend, s->difference, s->damped_pose, s->term_energy};
    for (size_t i = 0; i < BRIO_COUNT(arrays); i++) brio__free(arrays[i]);
    brio__free((char *)s->options.linear_options);
    brio__free(s);
}

BrioStatus brio__solver_prepare(BrioSolver *s, const BrioState *state)
{
    if (s->linear) return BRIO_OK;
    const BrioLinearType *type = brio__linear_type(s->options.linear);
    if (!type) return BRIO_ERROR_ARGUMENT;
    int64_t *start = NULL;
    int32_t *neighbour = NULL;
    BrioStatus status = brio__evaluator_graph(s->evaluator, &start, &neighbour);
    if (status == BRIO_OK && s->constraints)
        status = brio__constraints_join_graph(s->constraints, s->system->block_count, &start,
                                              &neighbour);
    BrioLinearOptions options = {.tol = s->options.linear_tol,
                                 .share = s->system->share,
                                 .position = state->q,
                                 .text = s->options.linear_options};
    if (status == BRIO_OK)
        status = brio__linear_create(type, &options, s->system->block_count, start, neighbour,
                                     &s->linear);
    brio__free(start);
    brio__free(neighbour);
    if (status == BRIO_OK) status = brio__evaluator_plan(s->evaluator, s->linear);
    if (status == BRIO_OK && s->constraints)
        status = brio__constraints_plan(s->constraints, s->linear);
    if (status == BRIO_OK && (s->contact || s->friction))
        status = brio__extra_create(&s->linear->extra);
    status = brio__share_agree(s->system->share, status);
    if (status != BRIO_OK) { /* the next try starts afresh */
        brio__linear_free(s->linear);
        s->linear = NULL;
        snprintf(s->message, sizeof s->message, "the %s solver could not be set up: %s%s",
                 type->name, brio_status_text(status),
                 status == BRIO_ERROR_TOO_LARGE ? "; solver: {linear: pcg} needs no factor" : "");
    }
    return status;
}

/* All potentials at the world positions s->x, of all processes. */
static double potential_here(BrioSolver *s, const BrioState *state, double *gradient)
{
    double P = brio__evaluate(s->evaluator, state->param, s->x, gradient, s->term_energy);
    double before = brio__seconds();
    s->hand_energy = brio__hands_evaluate(s->system, state, s->x, gradient);
    P += s->hand_energy;
    if (s->contact) {
        double broad = brio__contact_totals(s->contact)->broad_phase;
        s->contact_energy = brio__contact_evaluate(s->contact, state->param, s->x, gradient, NULL);
        double searched = brio__contact_totals(s->contact)->broad_phase - broad;
        s->totals.broad_phase += searched;
        s->totals.contact += brio__seconds() - before - searched;
        P += s->contact_energy;
    }
    if (!s->system->share) return P;
    double *joined = s->term_energy; /* room for the sum and contact behind them */
    joined[s->system->term_count] = P;
    joined[s->system->term_count + 1] = s->contact_energy;
    brio__share_sum(s->system->share, joined, s->system->term_count + 2);
    s->contact_energy = joined[s->system->term_count + 1];
    if (gradient) brio__share_complete(s->system->share, gradient);
    return joined[s->system->term_count];
}

double brio__potential(BrioSolver *s, const BrioState *state, const double *q, double time,
                       double *gradient)
{
    brio__system_positions(s->system, state, q, time, s->x);
    s->totals.evaluations++;
    double P = potential_here(s, state, gradient);
    if (gradient) s->potential = P;
    return P;
}

void brio__solver_positions(BrioSolver *s, const BrioState *state, const double *q, double time,
                            double *x)
{
    brio__system_positions(s->system, state, q, time, x);
    for (int64_t i = 0; s->held_part < 1 && i < s->system->held_count; i++)
        for (int r = 0; r < 3; r++) {
            int64_t k = 3 * (int64_t)s->system->held[i] + r;
            x[k] = s->held_part * x[k] + (1 - s->held_part) * s->x_held_n[k];
        }
}

/* Energy of all barriers, of the last evaluation. */
static double barrier_energy(const BrioSolver *s)
{
    double sum = s->contact && s->system->barrier ? s->contact_energy : 0;
    for (int k = 0; s->system->barrier && k < s->system->plane_count; k++)
        sum += s->term_energy[s->system->plane_term + k];
    return sum;
}

/* Seconds that other phases took inside of one that is being measured. */
static double inner_seconds(const BrioSolver *s)
{
    return s->totals.contact + s->totals.broad_phase + s->totals.ccd;
}

/* ---- the objective ---------------------------------------------------------------------- */

/* World positions of y = a q + (1-a) q_n, held vertices blended likewise. */
static void world_blend(const BrioProblem *p, const double *q)
{
    BrioSolver *s = p->solver;
    double a = p->objective->a;
    if (a == 1) {
        brio__solver_positions(s, p->state, q, p->objective->time, s->x);
        return;
    }
    brio__combine(s->system, a, q, 1 - a, p->state->q, s->blend);
    brio__system_positions(s->system, p->state, s->blend, p->objective->time, s->x);
    for (int64_t i = 0; i < s->system->held_count; i++)
        for (int r = 0; r < 3; r++) {
            int64_t k = 3 * (int64_t)s->system->held[i] + r;
            s->x[k] = a * s->x[k] + (1 - a) * s->x_held_n[k];
        }
}

BrioMotion brio__damped_motion(BrioSolver *s, const BrioState *state, const BrioObjective *o,
                               const double *q)
{
    if (!o->blend_damping || o->a == 1)
        return (BrioMotion){.q = q,
                            .from = o->from ? o->from : state->q,
                            .over = o->from ? o->over : o->h,
                            .time = o->time};
    brio__combine(s->system, o->a, q, 1 - o->a, state->q, s->damped_pose);
    return (BrioMotion){.q = s->damped_pose,
                        .from = state->q,
                        .over = o->a * o->h,
                        .time = state->time + o->a * (o->time - state->time)};
}

BrioValue brio__problem_value(const BrioProblem *p, const double *q, double *gradient)
{
    BrioSolver *s = p->solver;
    const BrioObjective *o = p->objective;
    double distance = 0, potential = 0, dissipation = 0, noise = 0;
    /* and s->x and s->potential are those of q */
    bool known = gradient && q == o->guess && o->guess_gradient;
    if (!known) {
        s->totals.evaluations++;
        world_blend(p, q);
    }
    if (o->s != 0) {
        if (known)
            memcpy(gradient, o->guess_gradient,
                   3 * (size_t)s->system->block_count * sizeof *gradient);
        potential = known ? s->potential : potential_here(s, p->state, gradient);
        if (gradient) s->potential = potential;
        noise = brio__evaluate_noise(s->evaluator, p->state->param, s->term_energy) +
                16 * DBL_EPSILON * (fabs(s->contact_energy) + s->hand_energy);
        BrioMotion motion =
            p->damper_count ? brio__damped_motion(s, p->state, o, q) : (BrioMotion){0};
        for (int i = 0; i < p->damper_count; i++) {
            const BrioDamper *d = &s->damper[i];
            if (d->model->potential)
                dissipation +=
                    d->model->potential(d->self, d->values, s, p->state, &motion, gradient);
        }
    } else if (gradient) {
        memset(gradient, 0, 3 * (size_t)s->system->block_count * sizeof *gradient);
    }
    /* either way its gradient has the factor s a */
    dissipation *= o->blend_damping ? o->s : o->s * o->a;
    if (p->mass != 0) {
        distance = p->mass / 2 *
                   brio__mass_distance(s->system, q, o->target, p->mass, o->s * o->a, gradient);
    } else if (gradient) {
        brio__combine(s->system, o->s * o->a, gradient, 0, gradient, gradient);
    }
    return (BrioValue){distance + o->s * potential + dissipation,
                       16 * DBL_EPSILON * (distance + fabs(dissipation)) + o->s * noise};
}

/* How far the world positions s->x may go along s->dx. */
static double allowed_here(const BrioProblem *p, BrioLimit *limit)
{
    BrioSolver *s = p->solver;
    double t = brio__max_step(s->evaluator, p->state->param, s->x, s->dx, limit);
    if (!s->contact) return brio__limit_join(s->system, t, limit);
    BrioLimit pair;
    BrioContactTotals before = *brio__contact_totals(s->contact);
    double u = brio__contact_max_step(s->contact, p->state->param, s->x, s->dx, &pair);
    const BrioContactTotals *after = brio__contact_totals(s->contact);
    s->totals.broad_phase += after->broad_phase - before.broad_phase;
    s->totals.ccd += after->ccd - before.ccd;
    s->totals.searches = after->searches;
    s->totals.candidates = after->candidates;
    if (u < t) *limit = pair;
    return brio__limit_join(s->system, fmin(t, u), limit);
}

/* How far q may go along `step` without an element becoming forbidden or two surfaces meeting, at y
 * and, if a < 1, at q itself. */
static double allowed(const BrioProblem *p, const double *q)
{
    BrioSolver *s = p->solver;
    double a = p->objective->a;
    BrioLimit limit = {.term = NULL};
    brio__system_directions(s->system, s->step, s->dx);
    for (int64_t k = 0; a != 1 && k < 3 * s->system->vertex_count; k++) s->dx[k] *= a;
    world_blend(p, q);
    double t = allowed_here(p, &limit);
    if (limit.term) s->limit = limit, s->limit_step = t;
    if (a != 1) {
        brio__system_positions(s->system, p->state, q, p->objective->time, s->x);
        brio__system_directions(s->system, s->step, s->dx);
        double u = allowed_here(p, &limit);
        if (u < t) {
            t = u;
            s->limit = limit;
            s->limit_step = t;
        }
    }
    return t;
}

/* ---- Newton ----------------------------------------------------------------------------- */

static BrioStatus finish(BrioSolver *s, BrioReason reason, BrioStatus status)
{
    char element[360] = "";
    if (status == BRIO_NOT_FINITE) reason = BRIO_REASON_NOT_FINITE; /* whoever met it */
    s->reason = reason;
    if (reason == BRIO_REASON_ROUNDOFF) s->totals.roundoff++;
    if (status == BRIO_OK) return status;
    bool limited = s->limit.term;
    if (brio__limit_is_here(&s->limit)) {
        char name[192];
        brio__limit_text(s->system, &s->limit, name, sizeof name);
        const char *who = s->limit.term->energy->element == BRIO_ELEMENT_PAIR
                              ? "continuous collision detection"
                          : s->limit.term->energy->element == BRIO_ELEMENT_CONTACT
                              ? "the distance from an obstacle"
                              : "the check against inversion";
        snprintf(element, sizeof element, "; %s limited the last step to %.2g of its length: %s",
                 who, s->limit_step, name);
    }
    if (limited)
        brio__share_text(s->system->share, brio__limit_is_here(&s->limit), element, sizeof element);
    if (s->held_part < 1) {
        size_t used = strlen(element);
        snprintf(element + used, sizeof element - used,
                 "; scripted vertices came %.2g of their way", s->held_part);
    }
    snprintf(s->message, sizeof s->message,
             "Newton stopped after %d iterations at %.3g m/s (tolerance %.3g m/s): %s%s%s",
             s->iterations, s->speed, s->options.tol, brio__reason_text(reason), element,
             s->massless ? "; a body that nothing holds has no equilibrium: is every body fixed or "
                           "attached somewhere?"
                         : "");
    return status;
}

/* The matrix with `shift` times the masses added, its Hessian a mean of the exact one and the one
 * projected element by element, the latter with weight `projected`. */
static BrioStatus assemble(const BrioProblem *p, const double *q, double projected, double shift)
{
    BrioSolver *s = p->solver;
    const BrioObjective *o = p->objective;
    double seconds[2] = {0, 0};
    brio__assemble_masses(s->system, p->mass + shift, s->linear);
    for (int project = 0; o->s != 0 && project < 2; project++) {
        double share = project ? projected : 1 - projected;
        if (share == 0) continue;
        s->project = project;
        brio__assemble_add(s->evaluator, p->state->param, s->x, share * o->s * o->a * o->a, project,
                           s->linear, seconds);
        brio__hands_assemble(s->system, p->state, share * o->s * o->a * o->a, s->linear);
        BrioMotion motion =
            p->damper_count ? brio__damped_motion(s, p->state, o, q) : (BrioMotion){0};
        for (int i = 0; i < p->damper_count; i++) {
            const BrioDamper *d = &s->damper[i];
            if (d->model->assemble)
                BRIO_CHECK(d->model->assemble(d->self, d->values, s, p->state, &motion,
                                              share * o->s * o->a * (o->blend_damping ? o->a : 1)));
        }
        double before = brio__seconds();
        if (s->contact)
            BRIO_CHECK(brio__contact_assemble(s->contact, p->state->param, s->x,
                                              share * o->s * o->a * o->a, project,
                                              s->linear->extra));
        s->totals.contact += brio__seconds() - before;
    }
    if (s->constraints && !o->rods_from_start)
        brio__constraints_assemble(s->constraints, s->x, projected > 0, s->linear);
    s->totals.hessian += seconds[0];
    s->totals.assembly += seconds[1];
    return BRIO_OK;
}

/* Factors. Only with all of the Hessian projected the matrix must be positive definite, and mass is
 * added until it is (only static problems ever need it). */
static BrioStatus factor(const BrioProblem *p, const double *q, double projected)
{
    BrioSolver *s = p->solver;
    double shift = 0;
    for (int attempt = 0; attempt < 24; attempt++) {
        BRIO_CHECK(brio__share_agree(s->system->share, assemble(p, q, projected, shift)));
        double before = brio__seconds(), analysed = 0, earlier = s->totals.analysis;
        s->linear->options.position = q;
        s->totals.factorisations++;
        BrioStatus status = brio__linear_factor(s->linear);
        s->linear->options.position = p->state->q; /* q is the caller's */
        if (s->linear->extra) {
            s->totals.analyses = brio__extra_analyses(s->linear->extra, &analysed);
            s->totals.analysis = analysed;
        }
        s->totals.factor += brio__seconds() - before - (s->totals.analysis - earlier);
        if (status != BRIO_NOT_POSITIVE_DEFINITE || projected < 1) return status;
        shift = shift > 0 ? 10 * shift : 1e-6;
    }
    return BRIO_NOT_POSITIVE_DEFINITE;
}

/* Moves held vertices on, towards where they end the step, as far as the vertices at q let them:
 * obstacles must not jump into bodies. Says whether they moved. */
static bool move_held(const BrioProblem *p, const double *q)
{
    BrioSolver *s = p->solver;
    const BrioSystem *system = s->system;
    BrioLimit limit = {.term = NULL};
    double part = s->held_part, least = INFINITY;
    brio__solver_positions(s, p->state, q, p->objective->time, s->x);
    /* where a pair is close already, the barrier is to open it first: pressed on, it would only
     * become stiffer and steps shorter */
    if (s->contact && part > 0)
        brio__contact_count(s->contact, p->state->param, s->x, &least, NULL);
    least = brio__share_least(system->share, least);
    const double *contact = p->state->param + system->contact_params;
    if (least - contact[BRIO_CONTACT_THICKNESS] < 0.25 * contact[BRIO_CONTACT_DHAT]) return false;
    memcpy(s->dx, s->x, 3 * (size_t)system->vertex_count * sizeof *s->dx);
    s->held_part = 1;
    brio__solver_positions(s, p->state, q, p->objective->time, s->dx);
    s->held_part = part;
    double way = 0;
    for (int64_t k = 0; k < 3 * system->vertex_count; k++) {
        s->dx[k] -= s->x[k];
        way = fmax(way, fabs(s->dx[k]));
    }
    way = brio__share_most(system->share, way);
    double t = way > 0 ? allowed_here(p, &limit) : 1;
    if (limit.term) s->limit = limit, s->limit_step = t;
    s->held_part = t == 1 ? 1 : part + t / 2 * (1 - part);
    return s->held_part > part;
}

/* Scripted vertices start where they are at q_n and come as far as what stands there lets them. */
static void start_script(const BrioProblem *p)
{
    BrioSolver *s = p->solver;
    brio__system_held(s->system, p->state, p->state->time, s->x_held_n);
    s->held_part = 0;
    move_held(p, p->state->q);
}

/* The better of q_n and where weight alone would lead to (as far as that is allowed) as a start. */
static BrioValue start(const BrioProblem *p, double *q)
{
    BrioSolver *s = p->solver;
    memcpy(q, p->state->q, 3 * (size_t)s->system->block_count * sizeof *q);
    if (p->mass == 0 || p->objective->linear) return brio__problem_value(p, q, s->gradient);
    BrioValue stay = brio__problem_value(p, q, NULL);
    memcpy(s->step, brio__linear_gradient(s->evaluator, p->state->param, s->x),
           3 * (size_t)s->system->block_count * sizeof *s->step);
    brio__share_complete(s->system->share, s->step);
    brio__mass_solve(s->system, s->step, s->step);
    brio__combine(s->system, 1, p->objective->target, -p->objective->s * p->objective->a, s->step,
                  s->step);
    brio__combine(s->system, 1, s->step, -1, q, s->step);
    double t = allowed(p, q);
    brio__combine(s->system, 1, q, t, s->step, s->trial);
    BrioValue go = brio__problem_value(p, s->trial, NULL);
    /* what rests would begin pressed against what it rests on */
    bool blocked = t < 1 && (s->contact || s->system->plane_count);
    if (go.value < stay.value && !blocked)
        memcpy(q, s->trial, 3 * (size_t)s->system->block_count * sizeof *q);
    s->limit.term = NULL;
    return brio__problem_value(p, q, s->gradient);
}

/* Whether going t of the step with this slope lowered the objective enough [Armijo 1966]; what
 * drowns in round-off may rise by that much. */
static bool lowered(BrioValue now, BrioValue next, double t, double slope)
{
    bool drowned = fabs(slope) < now.noise;
    return isfinite(next.value) &&
           next.value <= now.value + 1e-4 * t * slope + (drowned ? fmax(now.noise, next.noise) : 0);
}

/* The Newton step at q, where the gradient and the world positions of y were left, into s->step. */
static BrioStatus newton_step(const BrioProblem *p, const double *q, double projected)
{
    BrioSolver *s = p->solver;
    BrioStatus status = factor(p, q, projected);
    if (status < 0 || (projected < 1 && status != BRIO_OK)) return status;
    if (status != BRIO_OK) return finish(s, BRIO_REASON_INDEFINITE, status);
    double before = brio__seconds();
    if (s->constraints) {
        status = brio__constraints_solve(s->constraints, s->linear, s->gradient, s->step);
    } else {
        brio__combine(s->system, -1, s->gradient, 0, s->gradient, s->step);
        status = brio__linear_solve(s->linear, 1, s->step, s->step);
    }
    s->totals.solve += brio__seconds() - before;
    if (status == BRIO_NOT_POSITIVE_DEFINITE && s->constraints)
        return finish(s, BRIO_REASON_RODS, BRIO_NOT_CONVERGED);
    /* an iterative solver sees it late */
    if (status == BRIO_NOT_POSITIVE_DEFINITE && projected < 1) return status;
    if (status != BRIO_OK) return status < 0 ? status : finish(s, BRIO_REASON_LINEAR, status);
    s->iterations++;
    s->totals.iterations++;
    s->speed = brio__norm_max(s->system, s->step) / p->objective->h;
    return isfinite(s->speed) ? BRIO_OK : finish(s, BRIO_REASON_NOT_FINITE, BRIO_NOT_FINITE);
}

/* The step at q by the last factor, which is of a nearby point: true if it is within the tolerance,
 * so that no new factor is needed to see it. */
static bool last_factor_suffices(const BrioProblem *p)
{
    BrioSolver *s = p->solver;
    double before = brio__seconds();
    brio__combine(s->system, -1, s->gradient, 0, s->gradient, s->step);
    bool solved = brio__linear_solve(s->linear, 1, s->step, s->step) == BRIO_OK;
    double speed = brio__norm_max(s->system, s->step) / p->objective->h;
    s->totals.solve += brio__seconds() - before;
    if (!solved || !(speed < s->options.tol)) return false;
    s->iterations++;
    s->totals.iterations++;
    s->speed = speed;
    return true;
}

/* Solves gradient = 0 with the merit |gradient|^2/2 and exact Hessians, projected ones where those
 * are not positive definite: the way that [Kharevych2006, Sec. 5.4] compares minimisation with. */
static BrioStatus find_root(const BrioProblem *p, double *q)
{
    BrioSolver *s = p->solver;
    const BrioSystem *system = s->system;
    double last_speed = INFINITY;
    start(p, q);
    for (s->iterations = 0; s->iterations < s->options.max_iterations;) {
        double merit = brio__dot(system, s->gradient, s->gradient) / 2;
        if (!isfinite(merit)) return finish(s, BRIO_REASON_NOT_FINITE, BRIO_NOT_FINITE);
        if (merit == 0) return finish(s, BRIO_REASON_ROUNDOFF, BRIO_OK);
        BrioStatus status = newton_step(p, q, 0);
        if (status > 0) status = newton_step(p, q, 1);
        if (status != BRIO_OK) return status;
        bool small = s->speed < s->options.tol, found = false;
        double t = allowed(p, q), least = t * 0x1p-50;
        for (; !found && t > least; t = found ? t : t / 2) {
            brio__combine(system, 1, q, t, s->step, s->trial);
            BrioValue value = brio__problem_value(p, s->trial, s->gradient);
            found = isfinite(value.value) &&
                    brio__dot(system, s->gradient, s->gradient) / 2 <= (1 - 1e-4 * t) * merit;
        }
        if (!found) {
            brio__problem_value(p, q, s->gradient);
            if (small || s->speed > 0.5 * last_speed)
                return finish(s, small ? BRIO_REASON_TOLERANCE : BRIO_REASON_ROUNDOFF, BRIO_OK);
            return finish(s, BRIO_REASON_STALLED, BRIO_LINE_SEARCH_STALLED);
        }
        memcpy(q, s->trial, 3 * (size_t)system->block_count * sizeof *q);
        if (small) return finish(s, BRIO_REASON_TOLERANCE, BRIO_OK);
        last_speed = s->speed;
    }
    return finish(s, BRIO_REASON_ITERATIONS, BRIO_NOT_CONVERGED);
}

/* ---- with rods -------------------------------------------------------------------------- */

/* The residual of the saddle point, gradient + G^T multiplier, into s->gradient; returns what the
 * line search lowers, |residual|^2 in M^-1 plus sum inertia g^2 (both in kg m^2). `worst` receives
 * the largest |g_i|/l_i. */
static double residual(const BrioProblem *p, const double *q, double *worst)
{
    BrioSolver *s = p->solver;
    BrioConstraints *c = s->constraints;
    BrioValue value = brio__problem_value(p, q, s->gradient);
    brio__system_positions(s->system, p->state, q, p->objective->time, c->world);
    *worst = brio__constraints_update(c, c->world);
    if (!p->objective->rods_from_start) brio__constraints_pull_from_here(c);
    brio__constraints_add_force(c, s->gradient);
    brio__mass_solve(s->system, s->gradient, s->difference);
    return isfinite(value.value)
               ? brio__dot(s->system, s->gradient, s->difference) + brio__constraints_merit(c)
               : INFINITY;
}

/* Newton on the saddle point of the objective and the rods. Where rods pull along their directions
 * at q_n this is no minimum of anything, so the line search lowers the residual; Hessians are exact
 * where they are positive definite. Ends when steps are below the tolerance and lengths are right
 * to `exact`, or to round-off. */
static BrioStatus constrained(const BrioProblem *p, double *q)
{
    /* as shares of lengths: what is asked for, and what round-off may leave of it far from the
     * origin */
    const double exact = 1e-13, close = 1e-10;
    BrioSolver *s = p->solver;
    BrioConstraints *c = s->constraints;
    size_t coordinates = 3 * (size_t)s->system->block_count, rods = (size_t)c->count;
    double last_speed = INFINITY, worst;
    brio__system_positions(s->system, p->state, p->state->q, p->state->time, c->world);
    brio__constraints_update(c, c->world);
    brio__constraints_pull_from_here(c);
    memset(c->multiplier, 0, rods * sizeof(double));
    start(p, q);
    double merit = residual(p, q, &worst);
    if (!isfinite(merit)) return finish(s, BRIO_REASON_START, BRIO_STEP_REJECTED);
    for (s->iterations = 0; s->iterations < s->options.max_iterations;) {
        BrioStatus status = newton_step(p, q, 0);
        if (status == BRIO_NOT_POSITIVE_DEFINITE) status = newton_step(p, q, 1);
        if (status != BRIO_OK) return status;
        bool small = s->speed < s->options.tol, found = false;
        double t = s->speed > 0 ? allowed(p, q) : 1, least = t * 0x1p-30, next = merit;
        memcpy(c->kept, c->multiplier, rods * sizeof(double));
        for (; !found && t > least; t = found ? t : t / 2) {
            brio__combine(s->system, 1, q, t, s->step, s->trial);
            for (size_t i = 0; i < rods; i++) c->multiplier[i] = c->kept[i] + t * c->change[i];
            next = residual(p, s->trial, &worst);
            found = next <= (1 - 1e-4 * t) * merit || (small && t == 1 && isfinite(next));
        }
        if (!found) {
            memcpy(c->multiplier, c->kept, rods * sizeof(double));
            residual(p, q, &worst);
            if (worst <= close && s->speed * p->objective->h <= close * c->longest)
                return finish(s, BRIO_REASON_ROUNDOFF, BRIO_OK);
            return finish(s, s->limit.term ? BRIO_REASON_BLOCKED : BRIO_REASON_STALLED,
                          BRIO_LINE_SEARCH_STALLED);
        }
        if (t == 1) s->limit.term = NULL;
        memcpy(q, s->trial, coordinates * sizeof *q);
        merit = next;
        if (small && worst <= exact) return finish(s, BRIO_REASON_TOLERANCE, BRIO_OK);
        if (small && worst <= close && s->speed > 0.5 * last_speed)
            return finish(s, BRIO_REASON_ROUNDOFF, BRIO_OK);
        last_speed = s->speed;
    }
    return finish(s, BRIO_REASON_ITERATIONS, BRIO_NOT_CONVERGED);
}

/* Whether some states are forbidden: there are barriers, or elements that must not invert. */
static bool forbids(const BrioSolver *s)
{
    bool found = s->contact && s->system->barrier;
    for (int i = 0; i < s->system->term_count; i++)
        found |= (s->system->term[i].energy->traits & BRIO_ENERGY_INFINITE) &&
                 s->system->term[i].elements > 0;
    return found;
}

/* One Newton step from q_n: the whole of it or, where states are forbidden, as much as is allowed
 * and lowers the objective. Obstacles that something stands in the way of are not passed: the step
 * is then to be tried in halves. */
static BrioStatus linear_step(const BrioProblem *p, double *q)
{
    BrioSolver *s = p->solver;
    bool careful = forbids(s), script_moves = careful && s->system->scripted_count;
    s->held_part = 1;
    if (script_moves) start_script(p);
    BrioValue now = start(p, q);
    if (!isfinite(now.value)) return finish(s, BRIO_REASON_START, BRIO_STEP_REJECTED);
    s->iterations = 0;
    BRIO_CHECK(newton_step(p, q, 1));
    double t = allowed(p, q);
    double least = t * 0x1p-50;
    double slope = brio__dot(s->system, s->gradient, s->step);
    for (bool found = !careful; !found && t > least; t = found ? t : t / 2) {
        brio__combine(s->system, 1, q, t, s->step, s->trial);
        BrioValue next = brio__problem_value(p, s->trial, NULL);
        found = lowered(now, next, t, slope);
    }
    if (careful && !(t > least))
        return finish(s, s->limit.term ? BRIO_REASON_BLOCKED : BRIO_REASON_STALLED,
                      BRIO_LINE_SEARCH_STALLED);
    brio__combine(s->system, 1, q, t, s->step, q);
    if (script_moves && s->held_part < 1) {
        move_held(p, q);
        if (s->held_part < 1) return finish(s, BRIO_REASON_BLOCKED, BRIO_STEP_REJECTED);
    }
    return finish(s, BRIO_REASON_TOLERANCE, BRIO_OK);
}

/* As little projection as a positive definite matrix needs: with all of it iterations are many
 * where elements are compressed, for then they find no way out of a saddle. After a matrix that was
 * not definite there is more of it for a while, which doubles up to 8 iterations. */
static const double projection[] = {0, 1. / 64, 1. / 8, 1};
typedef struct Ladder {
    int rung, lower_at, wait;
} Ladder;

static bool climb(Ladder *ladder, int iteration)
{
    if (ladder->rung + 1 == (int)BRIO_COUNT(projection)) return false;
    ladder->rung++;
    ladder->lower_at = iteration + ladder->wait;
    ladder->wait = BRIO_MIN(2 * ladder->wait, 8);
    return true;
}

static BrioStatus newton(const BrioProblem *p, double *q)
{
    BrioSolver *s = p->solver;
    const BrioSystem *system = s->system;
    bool script_moves = system->scripted_count && p->objective->a == 1;
    double last_speed = INFINITY, before = brio__seconds(), inner = inner_seconds(s);
    s->held_part = 1;
    if (script_moves) start_script(p);
    BrioValue now = start(p, q);
    s->totals.gradient += brio__seconds() - before - (inner_seconds(s) - inner);
    if (!isfinite(now.value)) {
        bool forbidden = brio__find_forbidden(s->evaluator, p->state->param, s->x, &s->limit);
        brio__limit_join(system, forbidden ? 0 : 1, &s->limit);
        forbidden = s->limit.term;
        return finish(s,
                      isnan(now.value) || !forbidden ? BRIO_REASON_NOT_FINITE : BRIO_REASON_START,
                      BRIO_STEP_REJECTED);
    }
    Ladder ladder = {.wait = 1};
    int64_t most_iterations = (int64_t)s->options.max_iterations << BRIO_MIN(s->halved, 3);
    int64_t pushed = 0;
    int unsettled = 0;
    bool factored = false; /* at the last point, from which a whole step led here */
    double last_barrier = barrier_energy(s);
    for (s->iterations = 0; s->iterations < most_iterations + pushed;) {
        if (s->held_part < 1) {
            if (move_held(p, q)) now = brio__problem_value(p, q, s->gradient);
            /* what scripts push aside makes way a little in each iteration: these do not count */
            pushed += pushed < 20 * s->options.max_iterations;
        }
        bool chord = factored && last_factor_suffices(p);
        if (!chord && ladder.rung > 0 && s->iterations >= ladder.lower_at) ladder.rung--;
        BrioStatus status = chord ? BRIO_OK : newton_step(p, q, projection[ladder.rung]);
        while (status > 0 && climb(&ladder, s->iterations))
            status = newton_step(p, q, projection[ladder.rung]);
        BRIO_CHECK(status);
        before = brio__seconds();
        inner = inner_seconds(s);
        double slope = brio__dot(system, s->gradient, s->step);
        if (!isfinite(slope)) return finish(s, BRIO_REASON_NOT_FINITE, BRIO_NOT_FINITE);
        bool small = s->speed < s->options.tol && s->held_part == 1;
        bool drowned = fabs(slope) < now.noise;
        if (!small && drowned && s->held_part == 1 && s->speed > 0.9 * last_speed)
            return finish(s, BRIO_REASON_ROUNDOFF, BRIO_OK);

        double t = s->speed > 0 ? allowed(p, q) : 1, most = t, least = t * 0x1p-50;
        BrioValue next = now;
        bool found = false;
        for (; !found && t > least; t = found ? t : t / 2) {
            brio__combine(system, 1, q, t, s->step, s->trial);
            next = brio__problem_value(p, s->trial, NULL);
            found = lowered(now, next, t, slope);
        }
        s->totals.line_search += brio__seconds() - before - (inner_seconds(s) - inner);
        if (!found) {
            if (small || (drowned && s->held_part == 1))
                return finish(s, small ? BRIO_REASON_TOLERANCE : BRIO_REASON_ROUNDOFF, BRIO_OK);
            return finish(s, s->limit.term ? BRIO_REASON_BLOCKED : BRIO_REASON_STALLED,
                          BRIO_LINE_SEARCH_STALLED);
        }
        /* too far, across the kinks of friction */
        if (s->friction && t < most) climb(&ladder, s->iterations);
        if (t == 1 && s->held_part == 1) s->limit.term = NULL;
        memcpy(q, s->trial, 3 * (size_t)system->block_count * sizeof *q);
        before = brio__seconds();
        inner = inner_seconds(s);
        double barrier = last_barrier;
        now = brio__problem_value(p, q, s->gradient);
        last_barrier = barrier_energy(s);
        s->totals.gradient += brio__seconds() - before - (inner_seconds(s) - inner);
        /* Near contact steps are as short as distances, however large the force that is left:
         * there, barriers must have come to rest too. */
        bool settled = drowned || fabs(last_barrier - barrier) <=
                                      fmax(0.01 * fmax(last_barrier, barrier),
                                           1e-9 * fabs(now.value / p->objective->s));
        if (small && (t == 1 || drowned) && (settled || ++unsettled > 30))
            return finish(s, BRIO_REASON_TOLERANCE, BRIO_OK);
        last_speed = drowned ? s->speed : INFINITY;
        factored = t == 1 && settled && !s->linear->type->iterates;
    }
    return finish(s, BRIO_REASON_ITERATIONS, BRIO_NOT_CONVERGED);
}

static BrioProblem problem_of(BrioSolver *s, const BrioState *state, const BrioObjective *o)
{
    if (o->a != 1) brio__system_held(s->system, state, state->time, s->x_held_n);
    return (BrioProblem){s, state, o, o->massless ? 0 : 1,
                         o->massless || o->undamped || !brio__solver_damped(s) ? 0
                                                                               : s->damper_count};
}

void brio__objective_gradient(BrioSolver *s, const BrioState *state, const BrioObjective *objective,
                              const double *q)
{
    BrioProblem problem = problem_of(s, state, objective);
    brio__problem_value(&problem, q, s->gradient);
}

BrioStatus brio__minimise(BrioSolver *s, const BrioState *state, const BrioObjective *objective,
                          double *q)
{
    s->message[0] = 0;
    s->limit.term = NULL;
    s->iterations = 0;
    s->speed = 0;
    s->massless = objective->massless;
    s->totals.minimisations++;
    if (s->constraints && (objective->massless || objective->linear)) {
        snprintf(s->message, sizeof s->message,
                 "static equilibria and linearised steps do not take rods in this version of brio");
        return BRIO_ERROR_UNSUPPORTED;
    }
    bool fixed_cost = brio__solver_unfinished(s) && !objective->massless;
    if (!fixed_cost) BRIO_CHECK(brio__solver_prepare(s, state));
    if (s->contact) brio__contact_out_of_memory(s->contact); /* what was is over */
    BrioProblem problem = problem_of(s, state, objective);
    bool root = !strcmp(s->options.type, "root") && !objective->massless;
    BrioStatus status = fixed_cost          ? brio__local_global(&problem, q)
                        : s->constraints    ? constrained(&problem, q)
                        : objective->linear ? linear_step(&problem, q)
                        : root              ? find_root(&problem, q)
                                            : newton(&problem, q);
    /* whatever came of it: pairs were missing */
    if (s->contact && brio__share_any(s->system->share, brio__contact_out_of_memory(s->contact))) {
        status = BRIO_ERROR_MEMORY;
        s->message[0] = 0;
    }
    if (status < 0 && !s->message[0])
        snprintf(s->message, sizeof s->message, "%s", brio_status_text(status));
    return status;
}
