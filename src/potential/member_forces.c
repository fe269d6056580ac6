/* Forces with a potential as a member of P:
 *
 *     E(q, t) = sum over forces of scale_k [ sum_i w_i factor_k(t) E_k(x_i, t)  or  E_k(V) ],
 *
 * with V the volume of a closed surface. Vertices go one by one into diagonal blocks of the
 * Hessian, triangles into those that their sides have; what volumes couple beyond that is in
 * forces.h. All sums run in the order of the scene, on one thread: the same bits for any number. */
#include "forces.h"

#include "../force/force.h"
#include "../force/symmetric.h"
#include "../vec.h"
#include "blocks.h"

#include <string.h>

typedef struct Forces {
    const BrioSystem *system;
    double *world; /* gradient by world positions, 3 each */
    /* of functions: positions, forces and Hessians of their vertices */
    double *x, *f, *h;
    double magnitude;
} Forces;

static void destroy(void *self)
{
    Forces *f = self;
    brio__free(f->world);
    brio__free(f->x);
    brio__free(f->f);
    brio__free(f->h);
    brio__free(f);
}

static BrioStatus create(const BrioSystem *system, BrioSolveTotals *totals, void **self)
{
    (void)totals;
    int count = 0;
    int64_t called = 0;
    for (int k = 0; k < system->force_count; k++) {
        const BrioForce *force = &system->force[k];
        count += force->conservative;
        if (force->type->called) called = BRIO_MAX(called, force->vertex_count);
    }
    if (!count) return BRIO_OK;
    Forces *f = brio__calloc(1, sizeof *f);
    if (!f) return BRIO_ERROR_MEMORY;
    f->system = system;
    f->world = brio__calloc(3 * (size_t)system->vertex_count, sizeof(double));
    f->x = brio__calloc(3 * (size_t)called + 1, sizeof(double));
    f->f = brio__calloc(3 * (size_t)called + 1, sizeof(double));
    f->h = brio__calloc(6 * (size_t)called + 1, sizeof(double));
    if (f->world && f->x && f->f && f->h) return *self = f, BRIO_OK;
    destroy(f);
    return BRIO_ERROR_MEMORY;
}

static double scale_of(const BrioForce *force, const BrioPose *pose)
{
    return pose->state->param[force->param];
}

/* ---- one force: its energy, and the gradient added to `world` unless NULL ---------------- */

static double value_of_vertices(Forces *f, const BrioForce *force, const BrioPose *pose,
                                double *world)
{
    double sum = 0, size = 0, scale = scale_of(force, pose);
    scale *= brio__force_factor(force, pose->x, pose->time); /* of the time only */
    for (int64_t i = 0; i < force->vertex_count; i++) {
        int64_t at = 3 * (int64_t)force->vertex[i];
        double g[3], w = scale * force->weight[i];
        double e =
            w * force->type->energy(force, pose->x + at, pose->time, false, world ? g : NULL, NULL);
        sum += e;
        size += fabs(e);
        for (int r = 0; world && r < 3; r++) world[at + r] += w * g[r];
    }
    f->magnitude += size;
    return sum;
}

static double value_of_function(Forces *f, const BrioForce *force, const BrioPose *pose,
                                double *world)
{
    double scale = scale_of(force, pose) * brio__force_factor(force, pose->x, pose->time);
    for (int64_t i = 0; i < force->vertex_count; i++)
        memcpy(f->x + 3 * i, pose->x + 3 * (int64_t)force->vertex[i], 3 * sizeof *f->x);
    memset(f->f, 0, 3 * (size_t)force->vertex_count * sizeof *f->f);
    double e = scale * brio__force_call(force, &(BrioForceCall){.time = pose->time,
                                                                .count = force->vertex_count,
                                                                .x = f->x,
                                                                .force = world ? f->f : NULL});
    for (int64_t i = 0; world && i < force->vertex_count; i++)
        for (int r = 0; r < 3; r++)
            world[3 * (int64_t)force->vertex[i] + r] -= scale * f->f[3 * i + r];
    f->magnitude += fabs(e);
    return e;
}

/* world += weight times the gradient of V: each corner has a sixth of the cross product of the
 * others. */
static void volume_gradient(const BrioForce *force, const double *x, double weight, double *world)
{
    const double *o = x + 3 * (int64_t)force->triangle[0];
    for (int64_t t = 0; t < force->triangle_count; t++) {
        const int32_t *vertex = force->triangle + 3 * t;
        double corner[3][3], g[3];
        for (int k = 0; k < 3; k++) brio__subtract3(x + 3 * (int64_t)vertex[k], o, corner[k]);
        for (int k = 0; k < 3; k++) {
            brio__cross3(corner[(k + 1) % 3], corner[(k + 2) % 3], g);
            for (int r = 0; r < 3; r++) world[3 * (int64_t)vertex[k] + r] += weight / 6 * g[r];
        }
    }
}

/* E, dE/dV and d2E/dV2 by the volume as the triangles are turned. */
static void volume_law(const BrioForce *force, const BrioPose *pose, double e[3])
{
    double sign = force->rest_volume < 0 ? -1 : 1, scale = scale_of(force, pose);
    double factor = brio__force_factor(force, pose->x, pose->time);
    force->type->volume(force, factor, sign * brio__force_volume(force, pose->x), e);
    for (int k = 0; k < 3; k++) e[k] *= scale;
    e[1] *= sign;
}

static double value_of(Forces *f, const BrioForce *force, const BrioPose *pose, double *world)
{
    if (force->type->called) return value_of_function(f, force, pose, world);
    if (!force->type->volume) return value_of_vertices(f, force, pose, world);
    double e[3];
    volume_law(force, pose, e);
    if (world) volume_gradient(force, pose->x, e[1], world);
    f->magnitude += fabs(e[0]);
    return e[0];
}

/* ---- the member ------------------------------------------------------------------------- */

static double value(void *self, const BrioPose *pose, double *gradient, double *term_energy)
{
    (void)term_energy;
    Forces *f = self;
    const BrioSystem *s = f->system;
    double sum = 0, *world = gradient ? f->world : NULL;
    f->magnitude = 0;
    if (world) memset(world, 0, 3 * (size_t)s->vertex_count * sizeof *world);
    for (int k = 0; k < s->force_count; k++)
        if (s->force[k].conservative) sum += value_of(f, &s->force[k], pose, world);
    if (gradient) brio__system_gather(s, world, gradient);
    return sum;
}

/* A function of several bodies has one energy, which is nobody's. */
static void split(void *self, const BrioPose *pose, const BrioSplit *to)
{
    Forces *f = self;
    const BrioSystem *s = f->system;
    for (int k = 0; k < s->force_count; k++) {
        const BrioForce *force = &s->force[k];
        bool at_vertices = !force->type->called && !force->type->volume;
        if (!force->conservative) continue;
        for (int64_t i = 0; at_vertices && i < force->vertex_count; i++) {
            BrioForce one = *force;
            one.vertex_count = 1;
            one.vertex = force->vertex + i;
            one.weight = force->weight + i;
            *brio__split_place(to, force->vertex[i]) += value_of_vertices(f, &one, pose, NULL);
        }
        if (at_vertices) continue;
        const int32_t *vertex = force->type->volume ? force->triangle : force->vertex;
        int64_t count = force->type->volume ? 1 : force->vertex_count;
        int32_t whose = count ? vertex[0] : -1;
        for (int64_t i = 0; i < count; i++)
            if (to->account[vertex[i]] != to->account[vertex[0]]) whose = -1;
        *brio__split_place(to, whose) += value_of(f, force, pose, NULL);
    }
}

static void fixed_gradient(void *self, const BrioPose *pose, double *gradient)
{
    Forces *f = self;
    const BrioSystem *s = f->system;
    memset(f->world, 0, 3 * (size_t)s->vertex_count * sizeof *f->world);
    for (int k = 0; k < s->force_count; k++)
        if (s->force[k].conservative) value_of(f, &s->force[k], pose, f->world);
    brio__system_gather_fixed(s, f->world, 1, gradient);
}

static void add_vertex(const BrioSystem *s, BrioMatrix *A, int32_t vertex, double weight,
                       const double h[6])
{
    const double B[9] = {h[0], h[1], h[2], h[1], h[3], h[4], h[2], h[4], h[5]};
    brio__pair_add(s, A, vertex, vertex, weight, B);
}

static void add_vertices(const BrioSystem *s, const BrioForce *force, const BrioPose *pose,
                         double weight, bool project, BrioMatrix *A)
{
    double h[6];
    weight *= scale_of(force, pose) * brio__force_factor(force, pose->x, pose->time);
    if (force->type->linear) return;
    for (int64_t i = 0; i < force->vertex_count; i++) {
        double w = weight * force->weight[i];
        /* a negative weight turns the sign of every eigenvalue: nothing of it is semidefinite */
        if (project && w < 0) continue;
        force->type->energy(force, pose->x + 3 * (int64_t)force->vertex[i], pose->time, project,
                            NULL, h);
        add_vertex(s, A, force->vertex[i], w, h);
    }
}

static void add_function(Forces *f, const BrioForce *force, const BrioPose *pose, double weight,
                         bool project, BrioMatrix *A)
{
    weight *= scale_of(force, pose) * brio__force_factor(force, pose->x, pose->time);
    for (int64_t i = 0; i < force->vertex_count; i++)
        memcpy(f->x + 3 * i, pose->x + 3 * (int64_t)force->vertex[i], 3 * sizeof *f->x);
    memset(f->f, 0, 3 * (size_t)force->vertex_count * sizeof *f->f);
    memset(f->h, 0, 6 * (size_t)force->vertex_count * sizeof *f->h);
    brio__force_call(force, &(BrioForceCall){.time = pose->time,
                                             .count = force->vertex_count,
                                             .x = f->x,
                                             .force = f->f,
                                             .hessian = f->h});
    for (int64_t i = 0; i < force->vertex_count; i++) {
        double h[6];
        memcpy(h, f->h + 6 * i, sizeof h);
        for (int k = 0; k < 6; k++) h[k] *= weight;
        if (project) brio__symmetric3_project(h);
        add_vertex(f->system, A, force->vertex[i], 1, h);
    }
}

/* E' d2V: d2V/da db = -[c]x/6 for the corners a, b, c in turn. It is indefinite, and projected
 * there is nothing of it. */
static void add_volume(const BrioSystem *s, const BrioForce *force, const BrioPose *pose,
                       double weight, BrioMatrix *A)
{
    const double *x = pose->x, *o = x + 3 * (int64_t)force->triangle[0];
    double e[3];
    volume_law(force, pose, e);
    for (int64_t t = 0; t < force->triangle_count; t++) {
        const int32_t *vertex = force->triangle + 3 * t;
        for (int k = 0; k < 3; k++) {
            double c[3];
            brio__subtract3(x + 3 * (int64_t)vertex[(k + 2) % 3], o, c);
            const double B[9] = {0, c[2], -c[1], -c[2], 0, c[0], c[1], -c[0], 0};
            brio__pair_add(s, A, vertex[k], vertex[(k + 1) % 3], weight * e[1] / 6, B);
        }
    }
}

static BrioStatus hessian(void *self, const BrioPose *pose, double weight, bool project,
                          BrioLinear *matrix)
{
    Forces *f = self;
    const BrioSystem *s = f->system;
    for (int k = 0; k < s->force_count; k++) {
        const BrioForce *force = &s->force[k];
        if (!force->conservative) continue;
        if (force->type->called)
            add_function(f, force, pose, weight, project, &matrix->A);
        else if (force->type->energy)
            add_vertices(s, force, pose, weight, project, &matrix->A);
        else if (!project)
            add_volume(s, force, pose, weight, &matrix->A);
    }
    return BRIO_OK;
}

BRIO_MEMBER(forces){
    .name = "forces",
    .create = create,
    .destroy = destroy,
    .value = value,
    .fixed_gradient = fixed_gradient,
    .hessian = hessian,
    .split = split,
};

/* ---- what others ask -------------------------------------------------------------------- */

bool brio__forces_vary(const BrioSystem *s)
{
    bool any = false;
    for (int k = 0; k < s->force_count; k++) any |= s->force[k].conservative && s->force[k].varies;
    return any;
}

const BrioForce *brio__forces_not_finite(BrioPotential *p, const BrioPose *pose)
{
    Forces *f = p->self[BRIO_MEMBER_forces];
    for (int k = 0; f && k < p->system->force_count; k++) {
        const BrioForce *force = &p->system->force[k];
        if (force->conservative && !isfinite(value_of(f, force, pose, NULL))) return force;
    }
    return NULL;
}

double brio__forces_varying(BrioPotential *p, const BrioPose *pose)
{
    Forces *f = p->self[BRIO_MEMBER_forces];
    double sum = 0;
    for (int k = 0; f && k < p->system->force_count; k++)
        if (p->system->force[k].conservative && p->system->force[k].varies)
            sum += value_of(f, &p->system->force[k], pose, NULL);
    return sum;
}

void brio__forces_split(BrioPotential *p, const BrioPose *pose, const BrioSplit *to)
{
    if (p->self[BRIO_MEMBER_forces]) split(p->self[BRIO_MEMBER_forces], pose, to);
}

int brio__forces_ranks(const BrioSystem *s)
{
    int count = 0;
    for (int k = 0; k < s->force_count; k++) count += s->force[k].type->volume != NULL;
    return count;
}

double brio__forces_rank(BrioPotential *p, const BrioPose *pose, int rank, double *u)
{
    Forces *f = p->self[BRIO_MEMBER_forces];
    const BrioSystem *s = p->system;
    int k = 0;
    for (; !s->force[k].type->volume || rank-- > 0; k++) continue;
    double e[3];
    volume_law(&s->force[k], pose, e);
    if (e[2] == 0) return 0;
    memset(f->world, 0, 3 * (size_t)s->vertex_count * sizeof *f->world);
    memset(u, 0, 3 * (size_t)s->block_count * sizeof *u);
    volume_gradient(&s->force[k], pose->x, 1, f->world);
    brio__system_gather(s, f->world, u);
    return e[2];
}

double brio__forces_magnitude(const BrioPotential *p)
{
    const Forces *f = p->self[BRIO_MEMBER_forces];
    return f ? f->magnitude : 0;
}
