/* The solver: its family, its matrix, and the start of a minimisation. */
#include "solver.h"

#include "../linear/overlay.h"
#include "direction.h"
#include "../potential/rigid.h"
#include "free_motions.h"
#include "foresee.h"
#include "ranks.h"

#include <string.h>

#define SOLVER(symbol) extern const BrioSolverType brio__solve_##symbol;
#include "list.def"
#undef SOLVER

static const BrioSolverType *const types[] = {
#define SOLVER(symbol) &brio__solve_##symbol,
#include "list.def"
#undef SOLVER
};

const BrioSolverType *brio__solver_type_at(int i)
{
    return i >= 0 && i < (int)BRIO_COUNT(types) ? types[i] : NULL;
}

const BrioSolverType *brio__solver_type(const char *name)
{
    for (size_t i = 0; name && i < BRIO_COUNT(types); i++)
        if (!strcmp(types[i]->name, name)) return types[i];
    return NULL;
}

BrioSolverOptions brio_default_solver(void)
{
    return (BrioSolverOptions){.type = types[0]->name,
                               .linear = brio__linear_at(0)->name,
                               .tol = BRIO_AUTO,
                               .max_iterations = 100,
                               .linear_tol = 1e-6,
                               .max_halvings = 6,
                               .iterations = 10,
                               .single_precision = 2,
                               .memory = -1};
}

BrioQuality brio__solver_quality(const BrioSystem *system, const BrioSolverOptions *options)
{
    if (options->quality != BRIO_QUALITY_AUTO) return options->quality;
    return brio__has_barriers(system) ? BRIO_QUALITY_FILM : BRIO_QUALITY_EXACT;
}

double brio__solver_tol(const BrioSystem *system, const BrioSolverOptions *options)
{
    BrioQuality quality = brio__solver_quality(system, options);
    if (options->tol != BRIO_AUTO) return options->tol;
    if (quality == BRIO_QUALITY_EXACT) return 1e-8;
    if (quality == BRIO_QUALITY_PREVIEW) return 1e-2 * system->fall_speed;
    /* where friction holds, steps are as short as epsv, whatever force is left */
    return system->friction ? 0.01 * system->epsv : 3e-4 * system->fall_speed;
}

static BrioStatus create_vectors(BrioSolver *s)
{
    size_t coordinates = 3 * (size_t)s->system->block_count;
    size_t world = 3 * (size_t)s->system->vertex_count;
    double **vector[] = {&s->gradient, &s->step,       &s->trial,
                         &s->blend,    &s->difference, &s->damped_pose};
    double **positions[] = {&s->x, &s->dx, &s->x_fixed_n};
    bool all = true;
    for (size_t i = 0; i < BRIO_COUNT(vector); i++)
        all &= (*vector[i] = brio__alloc(coordinates, sizeof(double))) != NULL;
    for (size_t i = 0; i < BRIO_COUNT(positions); i++)
        all &= (*positions[i] = brio__calloc(world, sizeof(double))) != NULL;
    return all ? BRIO_OK : BRIO_ERROR_MEMORY;
}

BrioStatus brio__solver_create(const BrioSystem *system, const BrioSolverOptions *options,
                               BrioSolver **solver)
{
    BrioSolver *s = brio__calloc(1, sizeof *s);
    if (!s) return BRIO_ERROR_MEMORY;
    s->system = system;
    s->type = brio__solver_type(options->type);
    s->options = *options;
    s->options.tol = brio__solver_tol(system, options);
    s->options.linear_options = NULL;
    if (s->type) s->options.type = s->type->name; /* which outlives that of the caller */
    const BrioLinearType *linear = brio__linear_type(options->linear);
    if (linear) s->options.linear = linear->name;
    s->script_fraction = 1;
    BrioStatus status = s->type ? create_vectors(s) : BRIO_ERROR_ARGUMENT;
    if (status == BRIO_OK && options->linear_options) {
        s->options.linear_options = brio__strdup(options->linear_options);
        if (!s->options.linear_options) status = BRIO_ERROR_MEMORY;
    }
    if (status == BRIO_OK && system->row_count)
        status = brio__constraints_create(system, &s->constraints);
    if (status == BRIO_OK) status = brio__components_create(system, &s->components);
    if (status == BRIO_OK) status = brio__rigid_create(s->components, &s->rigid);
    if (status == BRIO_OK) status = brio__ranks_create(system, &s->ranks);
    if (status == BRIO_OK && !s->ranks) status = brio__foresight_create(system, &s->foresight);
    if (status == BRIO_OK)
        *solver = s;
    else
        brio__solver_free(s);
    return status;
}

void brio__solver_set(BrioSolver *s, BrioPotential *potential, BrioDissipation *dissipation)
{
    s->potential = potential;
    s->dissipation = dissipation;
}

void brio__solver_free(BrioSolver *s)
{
    if (!s) return;
    if (s->self) s->type->destroy(s->self);
    brio__constraints_free(s->constraints);
    brio__ranks_free(s->ranks);
    brio__foresight_free(s->foresight);
    brio__rigid_free(s->rigid);
    brio__components_free(s->components);
    brio__linear_free(s->linear);
    double *arrays[] = {s->x,     s->dx,    s->x_fixed_n,  s->gradient,   s->step,
                        s->trial, s->blend, s->difference, s->damped_pose};
    for (size_t i = 0; i < BRIO_COUNT(arrays); i++) brio__free(arrays[i]);
    brio__free((char *)s->options.linear_options);
    brio__free(s);
}

BrioStatus brio__solver_begin(BrioSolver *s, const BrioState *state)
{
    s->script_fraction = 1;
    s->pushed = false;
    if (s->linear && s->linear->overlay) brio__overlay_forget(s->linear->overlay);
    if (brio__dissipation_needs_matrix(s->dissipation)) BRIO_CHECK(brio__solver_prepare(s, state));
    return brio__dissipation_lag(s->dissipation, s->potential, state, s->linear);
}

/* The matrix with the pattern of elements and constraints. */
static BrioStatus create_matrix(BrioSolver *s, const BrioLinearType *type, const BrioState *state)
{
    int64_t *start = NULL;
    int32_t *neighbour = NULL;
    BrioLinearOptions options = {.tol = s->options.linear_tol,
                                 .partition = s->system->partition,
                                 .position = state->q,
                                 .text = s->options.linear_options};
    BrioStatus status = brio__potential_graph(s->potential, &start, &neighbour);
    if (status == BRIO_OK && s->constraints)
        status = brio__constraints_join_graph(s->constraints, s->system->block_count, &start,
                                              &neighbour);
    if (status == BRIO_OK)
        status = brio__linear_create(type, &options, s->system->block_count, start, neighbour,
                                     &s->linear);
    brio__free(start);
    brio__free(neighbour);
    return status;
}

BrioStatus brio__solver_prepare(BrioSolver *s, const BrioState *state)
{
    if (s->linear) return BRIO_OK;
    const BrioLinearType *type = brio__linear_type(s->options.linear);
    if (!type) return BRIO_ERROR_ARGUMENT;
    BrioStatus status = create_matrix(s, type, state);
    if (status == BRIO_OK)
        status = brio__potential_plan(s->potential, s->dissipation->friction >= 0, s->linear);
    status = brio__partition_agree(s->system->partition, status);
    if (status == BRIO_OK) return status;
    brio__linear_free(s->linear); /* the next try starts afresh */
    s->linear = NULL;
    snprintf(s->message, sizeof s->message, "the %s solver could not be set up: %s%s", type->name,
             brio_status_text(status),
             status == BRIO_ERROR_TOO_LARGE ? "; solver: {linear: multilevel} needs no factor"
                                            : "");
    return status;
}

/* Constraints and the objective decide: a saddle point, one linear step, or what the options
 * say. Solvers that end before they have solved take constraints in themselves. */
static BrioStatus solve(const BrioProblem *p, const BrioSolverType *type, double *q,
                        BrioValue *value)
{
    if (p->solver->constraints && !type->unfinished) return brio__saddle_minimise(p, q, value);
    if (p->objective->linear) return brio__linear_step(p, q, value);
    return type->minimise(p, q, value);
}

BrioStatus brio__minimise(BrioSolver *s, const BrioState *state, const BrioObjective *objective,
                          double *q, BrioValue *value)
{
    const BrioSolverType *type = objective->massless ? types[0] : s->type;
    s->message[0] = 0;
    s->limit.term = NULL;
    s->iterations = 0;
    s->speed = 0;
    s->massless = objective->massless;
    s->totals.minimisations++;
    if (s->constraints && (objective->massless || objective->linear)) {
        snprintf(s->message, sizeof s->message,
                 "static equilibria and linearised steps do not take rods and other constraints in "
                 "this version of brio");
        return BRIO_ERROR_UNSUPPORTED;
    }
    if (s->stopped) return brio__solver_stop(s);
    if (!type->unfinished) BRIO_CHECK(brio__solver_prepare(s, state));
    BrioContact *contact = brio__potential_contact(s->potential);
    if (contact) brio__contact_out_of_memory(contact); /* what was is over */
    brio__foresight_out_of_memory(s->foresight);
    BrioProblem problem = brio__problem(s, state, objective);
    BrioStatus status = solve(&problem, type, q, value);
    /* whatever came of it: pairs were missing */
    if (contact &&
        brio__partition_any(s->system->partition, brio__contact_out_of_memory(contact))) {
        status = BRIO_ERROR_MEMORY;
        s->message[0] = 0;
    }
    if (brio__foresight_out_of_memory(s->foresight)) status = BRIO_ERROR_MEMORY;
    if (s->stopped && status >= 0) return brio__solver_stop(s);
    if (objective->massless == 2)
        status = brio__refuse_free_motions(s, state, objective->time, q, status);
    if (status != BRIO_OK && !s->message[0])
        snprintf(s->message, sizeof s->message, "%s", brio_status_text(status));
    return status;
}
