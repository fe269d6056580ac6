/* Constraints and stitches, which join bodies. docs/constraints.md has the formulas.
 *
 * Constraints are conditions that the solver keeps exactly, by multipliers: rods, joints, volumes
 * (`brio list constraints`). They do no work. They need an integrator with the trait
 * BRIO_TAKES_CONSTRAINTS. Stitches are springs between points of bodies. They yield, may break, and
 * work with every integrator and solver.
 *
 * Part of brio.h, which includes it. Licence: MIT. */
#ifndef BRIO_CONSTRAINT_API_H
#define BRIO_CONSTRAINT_API_H

#include "brio.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- constraints ------------------------------------------------------------------------ */

BRIO_API const char *brio_constraint_at(int i); /* names, i = 0, 1, ...; NULL past the last */
BRIO_API const BrioField *brio_constraint_fields(const char *type); /* NULL: no such constraint */

/* An end: a point, the body that carries it, and its position in the initial state. If the point is
 * not a vertex, the tet around it or the triangle below it carries it; an affine body carries any
 * point. */
typedef struct BrioEnd {
    int body;        /* -1: the world */
    int32_t vertex;  /* of the body; -1: `point` */
    double point[3]; /* m; NAN: `at` of the definition */
} BrioEnd;

typedef struct BrioConstraintDef {
    const char *type;
    const char *name; /* NULL: "constraint0", ... */
    BrioEnd a, b;
    double at[3];   /* m: the point of a joint, for ends without one */
    double axis[3]; /* of a hinge, slider, line or cone; the normal of a plane; any length */
    int collide;    /* whether the bodies collide; -1: not for balls, hinges, sliders */
    double values[BRIO_MAX_VALUES]; /* of the type's field table */
} BrioConstraintDef;
BRIO_API BrioStatus brio_default_constraint(const char *type, BrioConstraintDef *def,
                                            BrioError *error);
BRIO_API BrioStatus brio_constraint_set(BrioConstraintDef *def, const char *name, double value,
                                        BrioError *error);
/* Bodies and fixed vertices come first. */
BRIO_API BrioStatus brio_builder_constraint(BrioBuilder *builder, const BrioConstraintDef *def,
                                            BrioError *error);

BRIO_API int brio_system_constraints(const BrioSystem *system);
BRIO_API int brio_system_constraint(const BrioSystem *system, const char *name); /* -1: none */
/* Force (N) and torque about its point (N m) that a constraint exerts on body a, as the last solve
 * of the last step found them; zero before the first. */
BRIO_API BrioStatus brio_sim_reaction(const BrioSim *sim, int constraint, double force[3],
                                      double torque[3]);

/* ---- stitches --------------------------------------------------------------------------- */

/* Springs from points of body a to the nearest points of body b, E = k/2 (d - rest)^2 with the
 * distance d of the two points. */
typedef struct BrioStitchDef {
    int a, b;
    /* NULL: all of body a, or of its edges, that are within `distance` of b's surface */
    const int32_t *vertices;
    int64_t vertex_count;
    int edges;       /* edges to edges instead of vertices to triangles */
    double distance; /* m: how far apart they may be; INFINITY: any */
    double k;        /* N/m, of each */
    double rest;     /* m; NAN: as far apart as they are */
    double
        breaking; /* N: a stitch whose force exceeds this at the end of a step breaks; INFINITY */
} BrioStitchDef;
BRIO_API BrioStitchDef brio_default_stitch(void);
/* `count` (may be NULL) receives how many there are. */
BRIO_API BrioStatus brio_builder_stitch(BrioBuilder *builder, const BrioStitchDef *def,
                                        int64_t *count, BrioError *error);
/* How many stitches there are, and how many of them have broken (may be NULL). The energy of a
 * stitch that breaks is booked as dissipated. */
BRIO_API int64_t brio_sim_stitches(const BrioSim *sim, int64_t *broken);
/* The force of stitch i on body a, in N. */
BRIO_API BrioStatus brio_sim_stitch(const BrioSim *sim, int64_t i, double force[3]);

#ifdef __cplusplus
}
#endif

#endif
