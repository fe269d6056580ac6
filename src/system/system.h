/* The system (constant during a run) and the state (small, copyable, saveable).
 *
 * World vertices are an affine function of the generalized coordinates, x = J q + b(t), with
 * J = J_s (x) I_3: every world vertex is a list of at most four (coordinate block, weight). A free
 * vertex has one of weight 1, a vertex of an affine body has four with ascending blocks, a fixed or
 * scripted vertex has none and stands where b(t) puts it. A vertex of a caged body has the blocks
 * of the nodes that carry it, in descending order, which tells it from an affine one; if some of
 * these nodes are fixed, it rides on them too (`ride` below).
 *
 * World vertices come in this order: the vertices of body 0, body 1, ..., then anchors (points of
 * attachments, without mass), then mass points (four for each affine body, the nodes of each cage;
 * they carry the mass and the coordinates: affine.h, cage.h), then those of obstacle 0, obstacle 1,
 * ... (without mass and coordinates; planes have none). Only vertices that have a block of their
 * own or none have mass: M = diag(m) (x) I_3. */
#ifndef BRIO_SYSTEM_H
#define BRIO_SYSTEM_H

#include "surface.h"
#include "../constraint/constraint.h"
#include "../energy/energy.h"
#include "../force/force.h"
#include "../force/formula.h"
#include "../mesh/cage.h"
#include "../mesh/quality.h"
#include "../partition.h"
#include "skin.h"

typedef struct BrioBody {
    char *name;
    int64_t first, count; /* world vertices */
    /* of an affine body the first of its four mass points, of a caged one the first of the cage's
     * nodes, among the world vertices; -1 otherwise */
    int64_t mass_point;
    BrioCage *cage;       /* NULL: none */
    int term, term_count; /* its elastic terms: of its material, then of a shell's bending */
    int values;           /* offset of its material's field values in the state's parameters */
    int64_t triangle_count;
    int32_t *triangle; /* surface, in the body's own vertex numbers */
    int64_t edge_count;
    int32_t *edge; /* springs, likewise; none for solids and shells */
    int64_t tet_count;
    int32_t *tet;
    BrioSkin *skin; /* what is seen instead of the triangles; NULL: nothing else */
    /* of a-search by body: its own; 0: that of the integrator */
    double decay, energy_scale;
} BrioBody;

/* One energy over many elements. */
typedef struct BrioTerm {
    const BrioEnergy *energy;
    int body;     /* whose; -1: of all */
    int obstacle; /* of contacts: with which */
    int64_t elements, packs;
    int32_t *node;       /* [pack][nodes][8]: three times the vertex number */
    double *rest;        /* [pack][rest][8] */
    int params;          /* offset of its parameters in the state's */
    int live;            /* offset of its elements' own parameters there: [pack][live][8] */
    const double *table; /* of contacts: that of the obstacle, which owns it */
} BrioTerm;

/* World vertex of node k of an element. */
static inline int32_t brio__term_vertex(const BrioTerm *term, int64_t element, int k)
{
    return term->node[(element / LANES * term->energy->nodes + k) * LANES + element % LANES] / 3;
}

/* All packs of a term at the positions x, for its kernel; `param`: the state's parameters. */
static inline BrioBatch brio__term_batch(const BrioTerm *term, const double *param, const double *x)
{
    return (BrioBatch){.def = term->energy->def,
                       .end = term->packs,
                       .node = term->node,
                       .rest = term->rest,
                       .params = param + term->params,
                       .live = param + term->live,
                       .table = term->table,
                       .x = x};
}

/* Something that bodies meet and that they do not move: a plane, or triangles, segments or points
 * that stand still or follow a script. */
typedef struct BrioObstacle {
    char *name;
    int analytic;         /* which of those with a formula; -1: a mesh */
    int64_t first, count; /* world vertices */
    /* in the obstacle's own vertex numbers: triangles, else segments, else every vertex is a
     * point */
    int64_t triangle_count, edge_count;
    int32_t *triangle, *edge;
    BrioFaces *faces; /* as its file has them, of which the triangles are fans; NULL: none */
    /* what its distance is read from (energy/obstacle.h: its first entry counts all); NULL: only
     * from the rest data of its contacts */
    double *table;
    bool bends; /* gets other shapes while the simulation runs */
} BrioObstacle;

/* Vertices without coordinates that move together (script.c). */
typedef struct BrioScripted {
    BrioScript script; /* keys and poses owned; the rest is below */
    int64_t count;
    int32_t *fixed; /* indices into the fixed vertices */
    /* of a sequence: times, and how far each row is from its base position, [frame][row][3] */
    int64_t frame_count, row_count;
    double *frame_time, *shift; /* NULL: none */
    int32_t *row;               /* of each vertex */
    BrioFormula *formula;       /* three; NULL: none */
    /* Of an obstacle that the program moves: where the state's parameters have t0, t1 and a shift
     * for each vertex, which goes from its anchor by the shift between these times; 0: none. */
    int driven;
} BrioScripted;
void brio__scripted_free(BrioScripted *set);
/* Whether a script has more than velocities and keys: a sequence, poses or formulas. */
bool brio__follows_data(const BrioSystem *system);

struct BrioSystem {
    int64_t vertex_count;  /* world vertices, anchors and mass points included */
    int64_t body_vertices; /* without them */
    int32_t block_count;   /* coordinate blocks: q has 3 * block_count numbers */
    /* the map */
    int32_t *map_start; /* vertex_count + 1 */
    int32_t *map_block;
    double *map_weight;
    uint8_t *axes;       /* of blocks: bits of coordinates that stay as they are; NULL: none do */
    int64_t fixed_count; /* vertices without coordinates */
    int32_t *fixed;      /* their vertex numbers, ascending */
    /* vertices of cages that nodes without coordinates carry, alone or with others: each is the sum
     * of four world vertices with their weights */
    int64_t ride_count;
    int32_t *ride_vertex, *ride_node; /* 1 and 4 each */
    double *ride_weight;              /* 4 each */
    /* masses */
    double *vertex_mass; /* of world vertices */
    double *mass;        /* one per block */
    /* what is in it */
    int body_count;
    BrioBody *body;
    int term_count;
    BrioTerm *term;
    int gravity_term; /* -1: none */
    int obstacle_count;
    BrioObstacle *obstacle;
    /* obstacles with a formula (contact/obstacle.h); each has a term of contacts */
    int analytic_count;
    int analytic_term; /* the first of them */
    int law;           /* of contact: brio__law_at */
    bool barrier;      /* the law forbids touching */
    /* what bodies and obstacles touch each other with; NULL: there are planes at most */
    BrioSurface *surface;
    /* offset of kappa, dhat, thickness of contact in the state's parameters */
    int contact_params;
    /* the same of contact between vertices and obstacles of triangles; -1: there is none */
    int collider_params;
    double epsv; /* m/s: speed below which friction holds */
    /* how often friction takes its normal forces in a solve; 0: until its force stays */
    int friction_iterations;
    BrioContactStart start; /* what happens to bodies that begin too close */
    double relax_time;      /* s: in which barriers grow to dhat */
    double dhat;            /* m: to which; the state has what it is now */
    /* coefficients of pairs of owners (bodies, then obstacles), a full matrix; NULL: all zero */
    double *friction;
    double *stiffness; /* factors of kappa for pairs of owners, likewise; NULL: all 1 */
    double fall_speed; /* m/s: after falling by the size of the smallest body */
    bool *excluded;    /* pairs of owners that do not see each other, likewise; NULL: none */
    int scripted_count;
    BrioScripted *scripted;
    int constraint_count;
    BrioConstraint *constraint; /* kept by multipliers (constraint/constraint.h) */
    int row_count;              /* their conditions */
    int stitch_term;            /* -1: no stitches */
    int force_count;
    BrioForce *force; /* in addition to gravity (force/force.h) */
    int param_count;
    BrioBuilder *plans; /* that it was made of, for edits; NULL: it cannot be edited */
    BrioPartition
        *partition; /* of a system on several processes (partition.h); NULL: all is here */
};

/* Whether anything is forbidden to touch: then an intersection is an error and not the user's
 * choice. */
static inline bool brio__has_barriers(const BrioSystem *system)
{
    return system->barrier && (system->surface || system->analytic_count);
}

/* Bodies, then obstacles. */
static inline int brio__owner_count(const BrioSystem *system)
{
    return system->body_count + system->obstacle_count;
}

/* The length of a table of all pairs of owners. */
static inline size_t brio__owner_pairs(const BrioSystem *system)
{
    return (size_t)brio__owner_count(system) * (size_t)brio__owner_count(system);
}

/* Where two owners are in a table of all pairs. */
static inline size_t brio__owner_pair(const BrioSystem *system, int a, int b)
{
    return (size_t)a * (size_t)brio__owner_count(system) + (size_t)b;
}

/* The factor of kappa between two owners. */
static inline double brio__stiffness_factor(const BrioSystem *system, int a, int b)
{
    return system->stiffness ? system->stiffness[brio__owner_pair(system, a, b)] : 1;
}

/* The coefficient of friction between two owners. */
static inline double brio__friction_of(const BrioSystem *system, int a, int b)
{
    return system->friction ? system->friction[brio__owner_pair(system, a, b)] : 0;
}

/* Two owners that the scene has taken out of contact. */
static inline bool brio__excluded(const BrioSystem *system, int a, int b)
{
    return system->excluded && system->excluded[brio__owner_pair(system, a, b)];
}

/* Coordinate blocks that this process answers for: the first ones. */
static inline int32_t brio__owned(const BrioSystem *system)
{
    return system->partition ? system->partition->owned : system->block_count;
}

/* Rest data of a stitch: k, length, four weights, the force at which it breaks. */
enum { BRIO_STITCH_K, BRIO_STITCH_LENGTH, BRIO_STITCH_WEIGHT, BRIO_STITCH_BREAKING = 6 };

enum { BRIO_LOSSES = BRIO_MAX_DAMPING + 1 }; /* damping models and friction */

/* A hand that holds a point of a body (hands.h). Without padding: states are saved byte by byte. */
typedef struct BrioGrip {
    int32_t body;
    int32_t vertex[3]; /* world vertices that have coordinates; -1: no more */
    double weight[3];  /* their sum is 1 */
    double k;          /* N/m; 0: nobody holds */
    double point[3];   /* where the hand is */
} BrioGrip;

/* One block of memory: the arrays follow the struct. */
struct BrioState {
    size_t bytes;            /* of the whole block */
    double time, time_error; /* the sum of all h, compensated [Kahan 1965] */
    int64_t step;
    int64_t history_used; /* how many history vectors hold something */
    double last_h;
    double first;         /* total energy at the start of the ledger */
    double target, alpha; /* energy control; NAN where there is none */
    /* the ledger's sums; the last by damping model, friction after them */
    double added, unfinished, dissipated[BRIO_LOSSES];
    double broken;  /* J that was in stitches when they broke */
    double memo[4]; /* numbers that the integrator keeps in addition to the history */
    BrioGrip hand[BRIO_MAX_HANDS];
    /* lengths: 3*blocks, 3*fixed vertices, parameters, history vectors */
    int64_t coordinates, fixed, params, history;
    double *q, *v;
    double *anchor; /* base positions of the fixed vertices, before their scripts */
    /* live parameters: gravity, materials, and the materials' field values that these were made
     * from */
    double *param;
    double *past; /* history vectors */
    /* Automatic steps (src/sim/control.c): the step to try next, 0: none yet; the error of the last
     * one over the tolerance, 0: nothing is known of it. Last, where earlier formats of checkpoints
     * have zeros. */
    double next_h, last_error;
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
    state->last_error = 0;
    for (int k = 0; k < 4; k++) state->memo[k] = 0;
}

/* An integer from 1 to 2^53 that tells parameters, anchors, hands and `count` more numbers from
 * other ones. */
double brio__state_fingerprint(const BrioSystem *system, const BrioState *state, const double *more,
                               int64_t count);

BrioStatus brio__state_create(const BrioSystem *system, int history, BrioState **state);
/* Bytes of the block of a state whose lengths are set, and where its five arrays (q, v, anchor,
 * param, past) begin in it. */
size_t brio__state_layout(const BrioState *head, size_t begin[5]);
/* Positions of all fixed vertices at a time: b(t), into the rows of x that belong to them. */
void brio__system_fixed(const BrioSystem *system, const BrioState *state, double time, double *x);
/* The velocities of scripted vertices into the rows of w that belong to them. */
void brio__scripts_velocities(const BrioSystem *system, const BrioState *state, double time,
                              double *w);
/* Which of the fixed vertices a world vertex is that has no coordinates. */
int64_t brio__system_fixed_index(const BrioSystem *system, int32_t vertex);
/* Puts the vertices that ride on fixed nodes of cages where these carry them: to be called wherever
 * rows of fixed vertices of positions, ways or velocities x have been changed. */
void brio__system_ride(const BrioSystem *system, double *x);
/* The vertices without coordinates that a world vertex moves with: itself, or the fixed ones of the
 * nodes that it rides on. Returns how many of at most four. */
int brio__system_carriers(const BrioSystem *system, int32_t vertex, int32_t node[4],
                          double weight[4]);
/* fixed += scale (db/dfixed)^T world: forces on world vertices as forces on those without
 * coordinates. */
void brio__system_gather_fixed(const BrioSystem *system, const double *world, double scale,
                               double *fixed);
/* q += J^T world: forces on world vertices, three numbers each, as forces on coordinates. */
void brio__system_gather(const BrioSystem *system, const double *world, double *q);
/* World positions x = J q + b(t), and velocities J v + db/dt. */
void brio__system_positions(const BrioSystem *system, const BrioState *state, const double *q,
                            double time, double *x);
/* Where fixed vertices are within a step: after `fraction` of it, from `start` (world
 * positions, of which only the rows of fixed vertices count); fraction 1 is where they end it. */
typedef struct BrioWay {
    double fraction;
    const double *start;
} BrioWay;
void brio__system_positions_on_way(const BrioSystem *system, const BrioState *state,
                                   const double *q, double time, const BrioWay *way, double *x);
void brio__system_velocities(const BrioSystem *system, const BrioState *state, const double *v,
                             double time, double *w);
/* World directions J d (fixed vertices: zero). */
void brio__system_directions(const BrioSystem *system, const double *d, double *dx);

/* Moves as a whole. */
static inline bool brio__body_is_affine(const BrioBody *body)
{
    return body->mass_point >= 0 && !body->cage;
}

/* The world vertices that carry a body's mass: its own, or its mass points. */
static inline int64_t brio__body_masses(const BrioBody *body, int64_t *count)
{
    *count = body->mass_point < 0 ? body->count : body->cage ? body->cage->node_count : 4;
    return body->mass_point < 0 ? body->first : body->mass_point;
}

double brio__body_mass(const BrioSystem *system, int body);
/* Its size and the shapes of its elements at world positions x. */
BrioMeshQuality brio__body_quality(const BrioBody *body, const double *x);

/* Whose a world vertex is: a body, its mass points included, or body_count + an obstacle. Anchors
 * are nobody's: -1. */
int brio__system_owner(const BrioSystem *system, int64_t vertex);

/* Distances of a pack's vertices from the plane or shape of a term of contacts, at world positions
 * x. `distance` is aligned like lanes; `param` may be NULL. */
void brio__obstacle_distances(const BrioTerm *term, const double *param, int64_t pack,
                              const double *x, double distance[LANES]);

/* Lets the terms of contacts know the tables of their obstacles. */
void brio__system_tables(BrioSystem *system);

/* Gradients of all contacts with the plane or shape of a term, [pack][3][8]: room for those of any
 * term, and the contact of one element as the size of its gradient, with its direction in n
 * (untouched if the size is 0). */
int64_t brio__obstacle_room(const BrioSystem *system);
void brio__obstacle_gradients(const BrioTerm *term, const double *param, const double *x,
                              double *gradients);
double brio__obstacle_push(const double *gradients, int64_t element, double n[3]);

/* Zero for coordinates that are fixed alone, of a vector of the length of q. */
void brio__system_mask(const BrioSystem *system, double *vector);

/* Vectors of the length of q. All sums are in a fixed order. */
double brio__dot(const BrioSystem *system, const double *x, const double *y);
double brio__norm_max(const BrioSystem *system, const double *x);
void brio__combine(const BrioSystem *system, double alpha, const double *x, double beta,
                   const double *y, double *out);
/* The square of the distance of q and target in the mass norm; unless it is NULL,
 * gradient = mass M (q - target) + scale gradient. */
double brio__mass_distance(const BrioSystem *system, const double *q, const double *target,
                           double mass, double scale, double *gradient);
void brio__mass_multiply(const BrioSystem *system, const double *v, double *p); /* p may be v */
void brio__mass_solve(const BrioSystem *system, const double *p, double *v);    /* v may be p */

#endif
