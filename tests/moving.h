/* A figure of its own that waves its arms, as positions over time, and a cloth that falls on it;
 * and balls that hit a thin cloth. Include after simulate.h. */
#ifndef BRIO_TEST_MOVING_H
#define BRIO_TEST_MOVING_H

#include "contact/exact.h"

#include <math.h>
#include <string.h>

/* The figure of the shape `cactus`, 0.4 m high: its stem sways, its arms wave. */
static inline void wave(const double X[3], double t, double x[3])
{
    double up = X[1] / 0.4, arm = fmin(fmax((fabs(X[2]) - 0.05) / 0.07, 0), 1);
    arm *= arm * (3 - 2 * arm);
    x[0] = X[0] + 0.06 * sin(4 * t) * up * up;
    x[1] = X[1] + 0.04 * sin(9 * t) * arm;
    x[2] = X[2] + 0.03 * sin(6 * t) * up * up;
}

/* Its frames, `fps` a second, `count` of them, and the mesh. */
static inline BrioSequence *waving(int count, double fps, int cells, BrioMesh **mesh)
{
    const BrioField *fields = brio_shape_fields("figure");
    double values[BRIO_MAX_VALUES];
    BrioSequence *s = NULL;
    brio_fields_defaults(fields, values);
    values[0] = 4; /* cactus */
    values[1] = 0.4;
    values[2] = cells;
    assert_int_equal(brio_mesh_shape("figure", values, mesh, NULL), BRIO_OK);
    assert_int_equal(brio_mesh_surface(*mesh, NULL), BRIO_OK);
    assert_int_equal(brio_sequence_create(count, (*mesh)->vertex_count, &s, NULL), BRIO_OK);
    for (int k = 0; k < count; k++) {
        s->time[k] = k / fps;
        for (int64_t v = 0; v < s->vertex_count; v++)
            wave((*mesh)->x + 3 * v, s->time[k], s->x + 3 * (k * s->vertex_count + v));
    }
    return s;
}

/* Pairs of an edge of one and a triangle of the other that intersect, of the body and obstacles. */
static inline int64_t meets_obstacle(BrioSim *sim)
{
    const BrioSystem *s = sim->system;
    static BrioIntersection found[4096];
    double *x = malloc(3 * (size_t)s->vertex_count * sizeof *x);
    int64_t among = 0;
    brio__system_positions(s, sim->state, sim->state->q, sim->state->time, x);
    int64_t all = brio__exact_intersections(s, x, found, 4096);
    assert_true(all >= 0 && all <= 4096);
    for (int64_t i = 0; i < all; i++)
        among += (found[i].owner[0] >= s->body_count) != (found[i].owner[1] >= s->body_count);
    free(x);
    return among;
}

#endif
