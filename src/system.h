/* The system (constant during a run) and the state (small, copyable, saveable).
 *
 * World vertices are an affine function of the generalized coordinates, x = J q + b(t), with J = J_s (x) I_3:
 * every world vertex is a list of at most four (coordinate block, weight). A free vertex has one of weight 1, a
 * vertex of an affine body and an embedded point have four, a fixed or scripted vertex has none and stands
 * where b(t) puts it. Masses are M = M_s (x) I_3 with M_s = J_s^T diag(m) J_s.
 *
 * World vertices come in this order: the vertices of body 0, body 1, ..., then anchors (points of attachments,
 * without mass). */
#ifndef BRIO_SYSTEM_H
#define BRIO_SYSTEM_H

#include "energy/energy.h"

typedef struct BrioBody {
    char *name;
    int64_t first, count;     /* world vertices */
    int term, term_count;     /* its elastic terms: of its material, then of a shell's bending */
    int64_t triangle_count;
    int32_t *triangle;        /* surface, in the body's own vertex numbers */
    int64_t edge_count;
    int32_t *edge;            /* springs, likewise; none for solids and shells */
    int64_t tet_count;
    int32_t *tet;
} BrioBody;

/* One energy over many elements. */
typedef struct BrioTerm {
    const BrioEnergy *energy;
    int body;              /* whose; -1: of all */
    int obstacle;          /* of contacts: with which */
    int64_t elements, blocks;
    int32_t *node;         /* [block][nodes][8]: three times the vertex number */
    double *rest;          /* [block][rest][8] */
    int params;            /* offset of its parameters in the state's */
    int live;              /* offset of its elements' own parameters there: [block][live][8] */
} BrioTerm;

/* Two world vertices that stay this far apart. */
typedef struct BrioRod {
    int32_t vertex[2];
    double length;
} BrioRod;

/* Vertices without coordinates that move together. */
typedef struct BrioScripted {
    BrioScript script; /* keys owned */
    int64_t count;
    int32_t *held;     /* indices into the held vertices */
} BrioScripted;

/* Coordinate blocks whose masses are coupled: M_s restricted to them and its inverse. */
typedef struct BrioMassGroup {
    int32_t block[4];
    double mass[16], inverse[16];
} BrioMassGroup;

struct BrioSystem {
    int64_t vertex_count;  /* world vertices, anchors included */
    int64_t body_vertices; /* without anchors */
    int32_t block_count;   /* coordinate blocks: q has 3 * block_count numbers */
    /* the map */
    int32_t *map_start;    /* vertex_count + 1 */
    int32_t *map_block;
    double *map_weight;
    int64_t held_count;    /* vertices without coordinates */
    int32_t *held;         /* their vertex numbers, ascending */
    /* masses */
    double *vertex_mass;   /* of world vertices */
    double *mass;          /* diagonal of M_s: one per block */
    int group_count;
    BrioMassGroup *group;
    /* what is in it */
    int body_count;
    BrioBody *body;
    int term_count;
    BrioTerm *term;
    int gravity_term;      /* -1: none */
    int obstacle_count;    /* each has a term of contacts */
    int contact_term;      /* the first of them */
    int scripted_count;
    BrioScripted *scripted;
    int rod_count;
    BrioRod *rod;
    int param_count;
};

/* One block of memory: the arrays follow the struct. */
struct BrioState {
    size_t bytes;          /* of the whole block */
    double time, time_error; /* the sum of all h, compensated [Kahan 1965] */
    int64_t step;
    int64_t history_used;  /* how many history vectors hold something */
    double last_h;
    double first;          /* total energy at the start of the ledger */
    double target, alpha;  /* energy control; NAN where there is none */
    double added, unfinished, dissipated[BRIO_DAMPING_MOST]; /* the ledger's sums; the last by damping model */
    double memo[4];        /* what the integrator keeps beside the history */
    int64_t coordinates, held, params, history; /* lengths: 3*blocks, 3*held vertices, parameters, history vectors */
    double *q, *v;
    double *anchor;        /* base positions of the held vertices, before their scripts */
    double *param;         /* live parameters: gravity, materials */
    double *past;          /* history vectors */
};

/* The elastic energy of a body, given that of all terms. */
static inline double brio__body_energy(const BrioBody *body, const double *term_energy)
{
    double sum = 0;
    for (int t = body->term; t < body->term + body->term_count; t++) sum += term_energy[t];
    return sum;
}

/* What the integrator knew of earlier steps no longer holds: the state was set from outside. */
static inline void brio__state_forget(BrioState *state)
{
    state->history_used = 0;
    for (int k = 0; k < 4; k++) state->memo[k] = 0;
}

BrioStatus brio__state_create(const BrioSystem *system, int history, BrioState **state);
/* Positions of all held vertices at a time: b(t), into the rows of x that belong to them. */
void brio__system_held(const BrioSystem *system, const BrioState *state, double time, double *x);
/* World positions x = J q + b(t), and velocities J v + db/dt. */
void brio__system_positions(const BrioSystem *system, const BrioState *state, const double *q, double time, double *x);
void brio__system_velocities(const BrioSystem *system, const BrioState *state, const double *v, double time, double *w);
/* World directions J d (held vertices: zero). */
void brio__system_directions(const BrioSystem *system, const double *d, double *dx);

/* Distance of a contact's vertex from its plane, at world positions x. */
double brio__plane_distance(const BrioTerm *term, int64_t contact, const double *x);

/* Vectors of the length of q. All sums are in a fixed order. */
double brio__dot(const BrioSystem *system, const double *x, const double *y);
double brio__norm_max(const BrioSystem *system, const double *x);
void brio__combine(const BrioSystem *system, double alpha, const double *x, double beta, const double *y, double *out);
void brio__mass_multiply(const BrioSystem *system, const double *v, double *p); /* p may be v */
void brio__mass_solve(const BrioSystem *system, const double *p, double *v);    /* v may be p */

#endif
