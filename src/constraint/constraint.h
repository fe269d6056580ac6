/* Holonomic constraints: conditions g(y) = 0, or one-sided g(y) >= 0, on world points y that bodies
 * carry. One file for each kind and one line in list.def [Kharevych2006, Sec. 3.5].
 *
 * A point is y = fixed + sum_i weight_i x_i of up to four world vertices: a vertex, a place in a
 * tet or a triangle, a place in an affine body (by its four mass points), or a point of the world
 * (no vertices). So every kind is written on points alone, and works between bodies of every kind.
 *
 * A kind says where its points are (`roles`): on which side of the joint, and at which place of a
 * frame of three orthogonal vectors of the length c->length around the joint's own point. What it
 * returns are metres: directions are divided by that length. */
#ifndef BRIO_CONSTRAINT_FAMILY_H
#define BRIO_CONSTRAINT_FAMILY_H

#include "../base.h"

typedef struct BrioPoint {
    int32_t count; /* vertices; 0: of the world */
    int32_t vertex[4];
    double weight[4], fixed[3];
} BrioPoint;

/* A point of a joint: what carries it, and its position. */
enum { BRIO_SIDE_A, BRIO_SIDE_B };
enum {
    BRIO_PLACE_AT,     /* the point of the joint, or of that end */
    BRIO_PLACE_ALONG,  /* from there along the axis */
    BRIO_PLACE_ACROSS, /* along a direction u perpendicular to it */
    BRIO_PLACE_BESIDE  /* along axis x u */
};
typedef struct BrioRole {
    uint8_t side, place;
} BrioRole;

enum { BRIO_MAX_ROWS = 8, BRIO_MAX_ROLES = 8 };

typedef struct BrioConstraintType BrioConstraintType;

/* A constraint of a system. */
typedef struct BrioConstraint {
    const BrioConstraintType *type;
    char *name;
    double values[BRIO_MAX_VALUES];
    int body[2]; /* -1: the world */
    int point_count;
    BrioPoint *point;
    double length; /* m: of the frame; of a rod its own */
    int rows;      /* conditions */
    bool one_sided[BRIO_MAX_ROWS];
    int first;      /* of its rows among those of the system */
    double rest[2]; /* what a kind keeps of the initial state */
    int64_t triangle_count;
    int32_t *triangle; /* of its points */
} BrioConstraint;

/* Receives 3x3 blocks of a second derivative by the points i and j, row by row; each pair is given
 * once, i = j with a symmetric block. */
typedef struct BrioBlocks {
    void (*add)(const struct BrioBlocks *to, int i, int j, double scale, const double B[9]);
    void *user;
} BrioBlocks;

struct BrioConstraintType {
    const char *name, *summary, *citation;
    const BrioField *fields;
    int role_count; /* 0: its points are all vertices of body a, with the triangles */
    const BrioRole *roles;
    bool axis;   /* needs an axis (or normal) */
    bool bodies; /* a joint of bodies: by default these do not collide */
    bool drawn;  /* as a tube between its first two points */
    /* How many of the roles it needs with these values. NULL: all. */
    int (*points)(const double *values);
    /* Rows, which of them are one-sided, what is kept of the initial points y; refuses values. */
    BrioStatus (*begin)(BrioConstraint *c, const double *y, BrioError *error);
    /* g of all rows and, unless NULL, its gradient: rows x 3 point_count. */
    void (*value)(const BrioConstraint *c, const double *y, double *g, double *gradient);
    /* The second derivative of sum multiplier g; semidefinite or nothing with `project`. NULL: the
     * conditions are linear. */
    void (*curvature)(const BrioConstraint *c, const double *y, const double *multiplier,
                      bool project, const BrioBlocks *to);
    /* Values for tests, where the defaults omit conditions. May be NULL. */
    void (*sample)(double *values);
};

#define BRIO_CONSTRAINT(symbol)                                \
    extern const BrioConstraintType brio__constraint_##symbol; \
    const BrioConstraintType brio__constraint_##symbol =

const BrioConstraintType *brio__constraint_type(const char *name); /* NULL: none of that name */
const BrioConstraintType *brio__constraint_type_at(int i);         /* NULL past the last */
void brio__constraint_free(BrioConstraint *constraint);            /* what it points to */

/* Positions of its points, given those of world vertices. */
void brio__constraint_points(const BrioConstraint *c, const double *x, double *y);
/* The largest violation of its conditions at y, over its length. */
double brio__constraint_violation(const BrioConstraint *c, const double *y);
/* Two unit vectors that make a right-handed frame with a unit vector n. */
void brio__constraint_frame(const double n[3], double u[3], double w[3]);
/* Initial points of a joint at `at` with a frame of the length c->length about `axis`. */
void brio__constraint_place(const BrioConstraintType *type, int roles, const double at[2][3],
                            const double axis[3], double length, double *y);

/* ---- for kinds -------------------------------------------------------------------------- */

/* The row g = (y_a - y_b).(y_c - y_d)/l: what most joints are made of. */
typedef struct BrioDotRow {
    uint8_t a, b, c, d;
} BrioDotRow;
double brio__dot_row(const BrioConstraint *c, const double *y, BrioDotRow row, double *gradient);
void brio__dot_row_curvature(const BrioConstraint *c, BrioDotRow row, double multiplier,
                             const BrioBlocks *to);

#endif
