/* Forces without a potential: vortices, formulas of the place, functions of a program, and drag and
 * lift in moving air. They are with the damping models, because they enter a step in the same
 * two ways.
 *
 * Explicit methods take the force at (q, v, t), so that they keep their order.
 *
 * Implicit methods take the gradient of a function of this step,
 *
 *     D_n(q) = -F_n.(q - from) + over/2 sum over triangles of c_n |u|^2,
 *     u = (x(q) - x(from))/over - w_n     at the centre of a triangle, w the velocity of the air.
 *
 * F_n is the force (and the lift) at the pose that q_n and v_n predict for the time at which the
 * method takes P: the end of the step, or its middle. That is the force F^- of a forced variational
 * integrator [Kharevych2006, Sec. 3.4], with an error of second order in h, so that methods of
 * second order stay so. Drag is linear in the velocity that the method solves for, and the
 * coefficient c_n = rho/2 Cd A |u_n.n| is of the start of the step: stable at any speed of the
 * wind, of first order.
 *
 * What these forces do to the energy is booked as it entered the equations of the step: the work of
 * F_n is `added`. Of the work -c u.v of drag, v = u + w, the part c u.u is dissipated and the part
 * -c u.w is added, as friction with a moved obstacle is. Vertices without coordinates feel nothing:
 * whoever holds them takes it. */
#include "forces.h"

#include "../force/force.h"
#include "../potential/blocks.h"
#include "../vec.h"

#include <string.h>

typedef struct Model {
    const BrioSystem *system;
    double *q, *x, *v;                /* predicted coordinates, world positions, world velocities */
    double *world;                    /* forces on world vertices, 3 each */
    double *push;                     /* F_n by coordinates, lift included */
    double *brought;                  /* of it what is no lift */
    double *c;                        /* drag of each triangle of each force */
    double *air;                      /* velocity of the air there, 3 each */
    double *call_x, *call_v, *call_f; /* of functions */
    double lift_power;                /* that the air gives away by lift, */
    double power;                     /* and by lift and drag, of the last evaluation */
    double at;                        /* the time that all this is of; NAN: none yet */
} Model;

int brio__forces_without_potential(const BrioSystem *s)
{
    int count = 0;
    for (int k = 0; k < s->force_count; k++) count += !s->force[k].conservative;
    return count;
}

static void destroy(void *self)
{
    Model *m = self;
    if (!m) return;
    double *const all[] = {m->q, m->x,   m->v,      m->world,  m->push,  m->brought,
                           m->c, m->air, m->call_x, m->call_v, m->call_f};
    for (size_t i = 0; i < BRIO_COUNT(all); i++) brio__free(all[i]);
    brio__free(m);
}

static BrioStatus create(const BrioSystem *system, const double *values, void **self)
{
    (void)values;
    Model *m = brio__calloc(1, sizeof *m);
    if (!m) return BRIO_ERROR_MEMORY;
    size_t triangles = 0, called = 0, all = 3 * (size_t)system->vertex_count;
    size_t coordinates = 3 * (size_t)system->block_count;
    for (int k = 0; k < system->force_count; k++) {
        triangles += (size_t)system->force[k].triangle_count;
        if (system->force[k].type->called)
            called = BRIO_MAX(called, 3 * (size_t)system->force[k].vertex_count);
    }
    m->system = system;
    double **const array[] = {&m->q, &m->push, &m->brought, &m->x,      &m->v,     &m->world,
                              &m->c, &m->air,  &m->call_x,  &m->call_v, &m->call_f};
    const size_t size[] = {coordinates, coordinates,   coordinates, all,    all,   all,
                           triangles,   3 * triangles, called,      called, called};
    bool complete = true;
    for (size_t i = 0; i < BRIO_COUNT(array); i++)
        complete &= (*array[i] = brio__calloc(size[i] + 1, sizeof(double))) != NULL;
    if (complete) return *self = m, BRIO_OK;
    destroy(m);
    return BRIO_ERROR_MEMORY;
}

static BrioStatus lag(void *self, const double *values, BrioPotential *potential,
                      const BrioState *state, BrioLinear *matrix)
{
    (void)values;
    (void)potential;
    (void)state;
    (void)matrix;
    Model *m = self;
    m->at = NAN; /* `potential` sets the time */
    return BRIO_OK;
}

/* ---- forces at m->x, m->v --------------------------------------------------------------- */

/* q += J^T world, and world = 0. */
static void take_world(Model *m, double *q)
{
    brio__system_gather(m->system, m->world, q);
    memset(m->world, 0, 3 * (size_t)m->system->vertex_count * sizeof *m->world);
}

static void push_vertices(Model *m, const BrioForce *force, double scale, double time)
{
    for (int64_t i = 0; i < force->vertex_count; i++) {
        int64_t at = 3 * (int64_t)force->vertex[i];
        double f[3];
        brio__force_push(force, m->x + at, time, f);
        for (int r = 0; r < 3; r++) m->world[at + r] += scale * force->weight[i] * f[r];
    }
}

static void push_function(Model *m, const BrioForce *force, double scale, double time)
{
    size_t count = (size_t)force->vertex_count;
    for (size_t i = 0; i < count; i++) {
        int64_t at = 3 * (int64_t)force->vertex[i];
        memcpy(m->call_x + 3 * i, m->x + at, 3 * sizeof *m->x);
        memcpy(m->call_v + 3 * i, m->v + at, 3 * sizeof *m->v);
    }
    memset(m->call_f, 0, 3 * count * sizeof *m->call_f);
    brio__force_call(force, &(BrioForceCall){.time = time,
                                             .count = force->vertex_count,
                                             .x = m->call_x,
                                             .v = m->call_v,
                                             .force = m->call_f});
    scale *= brio__force_factor(force, m->x, time);
    for (size_t i = 0; i < count; i++)
        for (int r = 0; r < 3; r++)
            m->world[3 * (int64_t)force->vertex[i] + r] += scale * m->call_f[3 * i + r];
}

/* What of a force on a triangle reaches coordinates: a third of it at each corner that has some. */
static double free_part(const BrioSystem *s, const int32_t *vertex)
{
    int count = 0;
    for (int k = 0; k < 3; k++) count += s->map_start[vertex[k]] < s->map_start[vertex[k] + 1];
    return count / 3.;
}

/* Air, drag and lift of all triangles of one force; lift goes to `world`, and its power with it. */
static void blow(Model *m, const BrioForce *force, int64_t first, double scale, double time)
{
    const BrioSystem *s = m->system;
    for (int64_t t = 0; t < force->triangle_count; t++) {
        const int32_t *vertex = force->triangle + 3 * t;
        const double *corner[3];
        double centre[3] = {0, 0, 0}, u[3] = {0, 0, 0}, n[3], lift[3];
        double *air = m->air + 3 * (first + t);
        for (int k = 0; k < 3; k++) {
            corner[k] = m->x + 3 * (int64_t)vertex[k];
            for (int r = 0; r < 3; r++) {
                centre[r] += corner[k][r] / 3;
                u[r] += m->v[3 * (int64_t)vertex[k] + r] / 3;
            }
        }
        double factor = brio__force_factor(force, centre, time);
        for (int r = 0; r < 3; r++) {
            air[r] = factor * force->values[r];
            u[r] -= air[r];
        }
        brio__triangle_normal(corner[0], corner[1], corner[2], n);
        force->type->triangle(force, n, u, &m->c[first + t], lift);
        m->c[first + t] *= scale;
        m->lift_power += scale * free_part(s, vertex) * brio__dot3(lift, air);
        for (int k = 0; k < 3; k++)
            for (int r = 0; r < 3; r++) m->world[3 * (int64_t)vertex[k] + r] += scale * lift[r] / 3;
    }
}

/* All forces at m->x and m->v: push, brought, c, air, and the power of the air at lift. */
static void evaluate(Model *m, const BrioState *state, double time)
{
    const BrioSystem *s = m->system;
    size_t bytes = 3 * (size_t)s->block_count * sizeof *m->push;
    int64_t first = 0;
    memset(m->world, 0, 3 * (size_t)s->vertex_count * sizeof *m->world);
    memset(m->brought, 0, bytes);
    m->lift_power = 0;
    for (int k = 0; k < s->force_count; k++) {
        const BrioForce *force = &s->force[k];
        double scale = state->param[force->param];
        if (force->conservative || force->type->triangle) continue;
        if (force->type->called)
            push_function(m, force, scale, time);
        else
            push_vertices(m, force, scale, time);
    }
    take_world(m, m->brought);
    memcpy(m->push, m->brought, bytes);
    for (int k = 0; k < s->force_count; k++) {
        const BrioForce *force = &s->force[k];
        if (!force->type->triangle) continue;
        blow(m, force, first, state->param[force->param], time);
        first += force->triangle_count;
    }
    take_world(m, m->push);
    m->at = time;
}

/* ---- drag ------------------------------------------------------------------------------- */

/* For the world velocities v: the sum of c |u|^2 over all triangles; `gradient` (by coordinates)
 * += c u, a third for each corner, and m->power is that of the air. */
static double drag(Model *m, const double *v, double *gradient)
{
    const BrioSystem *s = m->system;
    double sum = 0;
    int64_t at = 0;
    if (gradient) m->power = m->lift_power;
    for (int k = 0; k < s->force_count; k++) {
        const BrioForce *force = &s->force[k];
        for (int64_t t = 0; force->type->triangle && t < force->triangle_count; t++, at++) {
            const int32_t *vertex = force->triangle + 3 * t;
            double u[3], c = m->c[at];
            for (int r = 0; r < 3; r++)
                u[r] = (v[3 * (int64_t)vertex[0] + r] + v[3 * (int64_t)vertex[1] + r] +
                        v[3 * (int64_t)vertex[2] + r]) /
                           3 -
                       m->air[3 * at + r];
            sum += c * brio__dot3(u, u);
            if (!gradient) continue;
            m->power -= free_part(s, vertex) * c * brio__dot3(u, m->air + 3 * at);
            for (int i = 0; i < 3; i++)
                for (int r = 0; r < 3; r++) m->world[3 * (int64_t)vertex[i] + r] += c * u[r] / 3;
        }
    }
    if (gradient) take_world(m, gradient);
    return sum;
}

/* ---- implicit methods ------------------------------------------------------------------- */

/* The forces of this step, for the time at which the method takes P. */
static void predict(Model *m, const BrioState *state, double at)
{
    if (m->at == at) return;
    brio__combine(m->system, 1, state->q, at - state->time, state->v, m->q);
    brio__system_positions(m->system, state, m->q, at, m->x);
    brio__system_velocities(m->system, state, state->v, state->time, m->v);
    evaluate(m, state, at);
}

static double potential(void *self, const double *values, const BrioState *state,
                        const BrioMotion *motion, double *gradient)
{
    (void)values;
    Model *m = self;
    const BrioSystem *s = m->system;
    predict(m, state, motion->at);
    brio__combine(s, 1, motion->q, -1, motion->from, m->q);
    double D = -brio__dot(s, m->push, m->q);
    if (gradient) brio__combine(s, 1, gradient, -1, m->push, gradient);
    brio__combine(s, 1 / motion->over, m->q, 0, m->q, m->q);
    brio__system_velocities(s, state, m->q, motion->time, m->v);
    D += motion->over / 2 * drag(m, m->v, gradient);
    return D;
}

static BrioStatus assemble(void *self, const double *values, const BrioState *state,
                           const BrioMotion *motion, double weight, bool project,
                           BrioLinear *matrix)
{
    (void)values;
    (void)project;
    Model *m = self;
    const BrioSystem *s = m->system;
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    int64_t at = 0;
    predict(m, state, motion->at);
    for (int k = 0; k < s->force_count; k++) {
        const BrioForce *force = &s->force[k];
        for (int64_t t = 0; force->type->triangle && t < force->triangle_count; t++, at++)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j <= i; j++)
                    brio__pair_add(s, &matrix->A, force->triangle[3 * t + i],
                                   force->triangle[3 * t + j],
                                   weight * m->c[at] / (9 * motion->over), identity);
    }
    return BRIO_OK;
}

/* ---- explicit methods ------------------------------------------------------------------- */

static void force(void *self, const double *values, const BrioState *state, const double *q,
                  const double *v, double time, double h, double *f)
{
    (void)values;
    (void)h;
    Model *m = self;
    const BrioSystem *s = m->system;
    brio__system_positions(s, state, q, time, m->x);
    brio__system_velocities(s, state, v, time, m->v);
    evaluate(m, state, time);
    memset(m->q, 0, 3 * (size_t)s->block_count * sizeof *m->q);
    drag(m, m->v, m->q);
    brio__combine(s, 1, m->push, -1, m->q, m->q);
    brio__combine(s, 1, f, 1, m->q, f);
    m->at = NAN; /* not what a solve of this step predicts */
}

static void outside(void *self, double weight, double *brought, double *power)
{
    Model *m = self;
    brio__combine(m->system, 1, brought, weight, m->brought, brought);
    *power += weight * m->power;
}

const BrioDampingModel brio__forces_model = {
    .name = "forces",
    .summary = "Forces of the scene that have no potential.",
    .create = create,
    .destroy = destroy,
    .lag = lag,
    .potential = potential,
    .assemble = assemble,
    .force = force,
    .outside = outside,
};
