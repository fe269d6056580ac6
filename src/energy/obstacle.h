/* Obstacles with a formula: a signed distance d of a vertex (negative inside), in lanes, with its
 * gradient n and its second derivatives C.
 *
 * To add one: write src/energy/obstacle_NAME.h that ends in OBSTACLE(NAME), outside of its include
 * guard, and add its #include to obstacles.def. Kernels (BRIO_KERNEL_ISA) find there
 *
 *     NAME_rest, NAME_rest_shape  rest data of a vertex and the obstacle, weight first,
 *     NAME_shape                  a Shape: the distance, and whether it is flat, convex or neither,
 *     NAME_sample                 a random vertex near it, outside only if that is asked for,
 *     NAME_table                  the table that samples lie in; NULL: it has none.
 *
 * The library finds there a BrioObstacleType, NAME_type: keys, data, mesh. A distance must not be
 * larger than the true one, and |n| <= 1. Every obstacle works with every law. */
#ifndef BRIO_ENERGY_OBSTACLE_H
#define BRIO_ENERGY_OBSTACLE_H

#include "../mat3_lane.h"
#include "energy.h"

enum {                   /* of a table, before what the obstacle itself keeps there */
       BRIO_TABLE_COUNT, /* of all its numbers */
       BRIO_TABLE_BEND,  /* 1/m: d has no second derivative below minus this */
       BRIO_TABLE_OWN
};

#ifdef BRIO_KERNEL_ISA

typedef struct Distance {
    lane d;
    vec3l n;
    lane C[3][3]; /* if asked for, and not of flat ones */
} Distance;

typedef struct Shape {
    enum { SHAPE_FLAT, SHAPE_CONVEX, SHAPE_BENT } kind; /* bent: the table knows by how much */
    int rest;
    Distance (*distance)(const double *rest, const double *table, vec3l x, bool curved);
} Shape;

static inline double obstacle_bend(const double *table) { return table[BRIO_TABLE_BEND]; }

/* A vertex in the solid's own axes, its distance there with both derivatives, and the solid. */
typedef struct Solid {
    lane axis[3][3];
    lane half[3], radius;
    lane y[3];
    lane d, n[3], C[3][3];
} Solid;

static inline Solid solid_at(const double *rest, vec3l x)
{
    vec3l centre = {lane_load(rest + LANES), lane_load(rest + 2 * LANES),
                    lane_load(rest + 3 * LANES)};
    vec3l out = vec3l_sub(x, centre), a[3];
    for (int i = 0; i < 2; i++)
        a[i] = (vec3l){lane_load(rest + (4 + 3 * i) * LANES), lane_load(rest + (5 + 3 * i) * LANES),
                       lane_load(rest + (6 + 3 * i) * LANES)};
    a[2] = vec3l_cross(a[0], a[1]);
    Solid s = {.radius = lane_load(rest + 13 * LANES)};
    for (int i = 0; i < 3; i++) {
        s.axis[i][0] = a[i].x;
        s.axis[i][1] = a[i].y;
        s.axis[i][2] = a[i].z;
        s.half[i] = lane_load(rest + (10 + i) * LANES);
        s.y[i] = vec3l_dot(a[i], out);
    }
    return s;
}

/* From the solid's axes to the world's. */
static inline Distance solid_distance(const Solid *s, bool curved)
{
    lane n[3];
    for (int r = 0; r < 3; r++)
        n[r] = s->axis[0][r] * s->n[0] + s->axis[1][r] * s->n[1] + s->axis[2][r] * s->n[2];
    Distance at = {.d = s->d, .n = {n[0], n[1], n[2]}};
    for (int r = 0; curved && r < 3; r++)
        for (int c = 0; c < 3; c++) {
            lane curvature = lane_set(0);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) curvature += s->axis[i][r] * s->C[i][j] * s->axis[j][c];
            at.C[r][c] = curvature;
        }
    return at;
}

/* A solid's Shape from what fills in d, n and C in its axes. */
#define SOLID_SHAPE(name, how)                                                               \
    static inline Distance name##_distance(const double *rest, const double *table, vec3l x, \
                                           bool curved)                                      \
    {                                                                                        \
        Solid s = solid_at(rest, x);                                                         \
        name##_at(&s, table);                                                                \
        return solid_distance(&s, curved);                                                   \
    }                                                                                        \
    static const Shape name##_shape = {how, BRIO_SOLID_REST, name##_distance};               \
    enum { name##_rest = BRIO_SOLID_REST };

/* X: the vertex, then centre, two axes, half the extents, radius. */
static inline void solid_rest_shape(const double *X, double scale, double length, double *rest)
{
    (void)length;
    rest[0] = scale;
    memcpy(rest + 1, X + 3, (BRIO_SOLID_REST - 1) * sizeof *rest);
}

/* A random centre and axes; the vertex where it has the coordinates y and z in these, for the rest
 * shape and the state. */
static inline void solid_place(BrioRandom *random, const double half[3], double radius,
                               const double y[3], const double z[3], double *X, double *x)
{
    double *centre = X + 3, *a = X + 6, *b = X + 9, c[3], along = 0, length[2] = {0, 0};
    for (int r = 0; r < 3; r++) {
        centre[r] = brio__random_normal(random);
        a[r] = brio__random_normal(random);
        b[r] = brio__random_normal(random);
        length[0] += a[r] * a[r];
    }
    for (int r = 0; r < 3; r++) {
        a[r] /= sqrt(length[0]);
        along += a[r] * b[r];
    }
    for (int r = 0; r < 3; r++) {
        b[r] -= along * a[r];
        length[1] += b[r] * b[r];
    }
    for (int r = 0; r < 3; r++) b[r] /= sqrt(length[1]);
    for (int r = 0; r < 3; r++)
        c[r] = a[(r + 1) % 3] * b[(r + 2) % 3] - a[(r + 2) % 3] * b[(r + 1) % 3];
    for (int r = 0; r < 3; r++) {
        X[r] = centre[r] + y[0] * a[r] + y[1] * b[r] + y[2] * c[r];
        x[r] = centre[r] + z[0] * a[r] + z[1] * b[r] + z[2] * c[r];
        X[12 + r] = half[r];
    }
    X[15] = radius;
}

/* How far beyond a face a sample lies: 0.15 to 0.8 outside, or 0.1 to 0.4 inside. */
static inline double solid_beyond(BrioRandom *random, bool outside)
{
    return outside ? 0.15 + 0.65 * brio__random(random) : -0.1 - 0.3 * brio__random(random);
}

/* tests take dhat = 1 */
static inline bool solid_near_kink(double d) { return fabs(d - 1) < 0.07; }

#endif

/* What an obstacle is for the library. */
typedef struct BrioObstacleType {
    const char *name, *summary;
    const BrioField *fields; /* keys of a scene, in addition to name and transform */
    /* From values of the fields to what rest_shape takes after the vertex: 13 numbers, of which
     * centre and axes of a solid are filled in already. */
    BrioStatus (*prepare)(const double *values, double *data, BrioError *error);
    /* Triangles to draw it by, in the world, from its rest data. NULL: it is drawn as a plane. */
    BrioStatus (*mesh)(const double *rest, const double *table, BrioMesh **mesh, BrioError *error);
    /* The table of an obstacle that is made of rows of heights, which are no fields; NULL: it has
     * none. */
    BrioStatus (*table)(const double *values, int columns, int rows, const double *height,
                        double **table, BrioError *error);
    /* Whether a table that was read from a file has the numbers that its sizes announce. */
    bool (*table_fits)(const double *table);
} BrioObstacleType;

/* Triangles of a solid, from rings about its second axis: a cylinder, or all that is nearer than
 * the radius to the box of half its extents. */
BrioStatus brio__obstacle_rings(const double *rest, bool cylinder, BrioMesh **mesh,
                                BrioError *error);

#endif
