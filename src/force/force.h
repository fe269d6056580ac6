/* Forces in addition to gravity: one file for each kind and one line in list.def.
 *
 * A kind acts on one of four things, and says so by the one slot that it fills.
 *
 *     energy     vertices, with a potential E(x, t): the sum over vertices of w_i E(x_i, t) is part
 *                of P (potential/member_forces.c)
 *     push       vertices, without a potential: f_i = w_i F(x_i, t)
 *     volume     closed surfaces, with a potential E(V) of the volume that they enclose
 *     triangle   triangles in moving air: a drag -c u along the relative velocity u, and a lift
 *
 * What has no potential acts as a generalised force of the step (damping/forces.c).
 *
 * Every force has a factor that changes with time (keys, linear in between, or a formula of t) and
 * a live scale in the state's parameters. A formula of the place is a factor too; then a force with
 * a potential loses it and acts by -w_i factor(x_i, t) grad E.
 *
 * The weights w_i are what `per` says: 1, or the mass, volume or area of the vertex at rest, or its
 * fraction of a total. */
#ifndef BRIO_FORCE_H
#define BRIO_FORCE_H

#include "../base.h"
#include "formula.h"

typedef struct BrioForce BrioForce;

typedef struct BrioForceType {
    const char *name, *summary, *citation;
    const BrioField *fields;
    /* E at x in J, its gradient and its Hessian xx, xy, xz, yy, yz, zz (each may be NULL), the
     * latter with `project` made semidefinite. */
    double (*energy)(const BrioForce *force, const double x[3], double time, bool project,
                     double gradient[3], double hessian[6]);
    void (*push)(const BrioForce *force, const double x[3], double time, double f[3]);
    /* E(V), dE/dV, d2E/dV2 with a factor; INFINITY: there is no such volume. */
    void (*volume)(const BrioForce *force, double factor, double V, double e[3]);
    /* For a triangle with the normal n (as long as twice the area) and the velocity u relative to
     * the air: the drag is -c u, the lift is perpendicular to u. */
    void (*triangle)(const BrioForce *force, const double n[3], const double u[3], double *c,
                     double lift[3]);
    BrioStatus (*fits)(const double *values, BrioError *error); /* beyond `fields`; may be NULL */
    bool own_formula; /* the formula is no factor: the kind evaluates it, and needs it */
    bool three;       /* may have three formulas, one for each component */
    bool path;        /* may have a path */
    bool linear;      /* its potential, if it has one, is linear in x */
    bool called;      /* is a function of the program: not for scenes, unless registered */
    const struct BrioForceTypeDef *def; /* registered at run time; otherwise NULL */
} BrioForceType;

/* A force of a system. */
struct BrioForce {
    const BrioForceType *type;
    char *name;
    double values[BRIO_MAX_VALUES];
    int formula_count; /* 0, 1 or 3 */
    BrioFormula *formula;
    int64_t key_count, path_count;
    double *key;  /* rows t, factor */
    double *path; /* rows t, x, y, z */
    bool conservative;
    bool varies; /* its potential changes with time */
    int param;   /* offset of its live scale in the state's parameters */
    /* world vertices with weights, or world triangles */
    int64_t vertex_count, triangle_count;
    int32_t *vertex, *triangle;
    double *weight;
    int plan, body;     /* its number among the builder's, and the body it is of; -1: several */
    int kept;           /* 1 + `plan` before the edit that made this system; 0: it is new */
    double rest_volume; /* m3, initial; its sign is that of the triangles' orientation */
    BrioForceFunction *function;
    void *user;
};

const BrioForceType *brio__force_type(const char *name); /* NULL: none of that name */
const BrioForceType *brio__force_type_at(int i);         /* NULL past the last */
void brio__force_free(BrioForce *force);                 /* what it points to */

/* Of forces that are a function (`called`): the program's for this force, or that of its type. */
double brio__force_call(const BrioForce *force, const BrioForceCall *call);

/* The factor at a place and a time; of a kind that evaluates the formula itself that of the keys.
 */
double brio__force_factor(const BrioForce *force, const double x[3], double time);
/* Linear between rows of `width` numbers after t, constant before the first and after the last. */
void brio__force_between(const double *row, int64_t count, int width, double time, double *value);
/* The force on a vertex of weight 1, whether it has a potential or not. */
void brio__force_push(const BrioForce *force, const double x[3], double time, double f[3]);

/* Volume that triangles enclose, V = 1/6 sum a.(b x c), seen from the first corner of all. */
double brio__force_volume(const BrioForce *force, const double *x);

#define BRIO_FORCE(symbol)                           \
    extern const BrioForceType brio__force_##symbol; \
    const BrioForceType brio__force_##symbol =

/* What forces on vertices are measured by: the field `per`, first of their tables. */
enum { BRIO_PER_VERTEX, BRIO_PER_MASS, BRIO_PER_VOLUME, BRIO_PER_AREA, BRIO_PER_TOTAL };
#define BRIO_PER_FIELD(default_choice)                                                  \
    {                                                                                   \
        "per", BRIO_CHOICE, "vertex|mass|volume|area|total", default_choice, 0, 4, 0,   \
            "What the force refers to: one vertex, 1 kg, 1 m3 or 1 m2 at rest, or all " \
            "selected vertices together, distributed by mass."                          \
    }

#endif
