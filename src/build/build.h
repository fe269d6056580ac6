/* Shared parts of this folder: the plans that the builder collects, and the functions that turn
 * them into a system and its initial state.
 *
 * Way of the data: public setters check their arguments at once and add to a plan (BrioBuilder);
 * brio_builder_finish (finish.c) checks what needs all parts, and turns the plans into arrays
 * in a fixed order: bodies and obstacles, the map x = J q + b, pairs, masses, terms,
 * constraints, scripts,
 * surface, state. */
#ifndef BRIO_BUILD_H
#define BRIO_BUILD_H

#include "../contact/law.h"
#include "../contact/obstacle.h"
#include "../field.h"
#include "../mesh/mesh.h"
#include "../vec.h"
#include "affine.h"
#include "builder.h"

#include <string.h>

typedef struct BrioBodyPlan BrioBodyPlan;

/* ---- kinds of bodies -------------------------------------------------------------------- */

enum { BRIO_BODY_TERMS = 2 }; /* most terms of a body: of its material, and of a shell's bending */

/* A kind of body: a row of the table in kinds.c. */
typedef struct BrioBodyKind {
    BrioKind kind;
    const char *name;
    BrioElement element; /* of the materials that make a body one of this kind */
    /* Fails if the mesh, as the caller gives it, lacks the elements of this kind. May be NULL. */
    BrioStatus (*require)(const BrioMesh *mesh, BrioError *error);
    /* Checks and completes the transformed mesh: surface, edges, hinges. May be NULL. */
    BrioStatus (*shape)(BrioBodyPlan *plan, BrioError *error);
    /* Masses, once the arrays per vertex are there. */
    BrioStatus (*masses)(BrioBodyPlan *plan, BrioError *error);
    /* Adds the elastic terms of body number `body`, that of its material first. */
    BrioStatus (*terms)(const BrioBodyPlan *plan, BrioSystem *system, int body);
    /* Parameters of the terms after the first, which has plan->params. May be NULL. */
    void (*params)(const BrioBodyPlan *plan, const BrioSystem *system, int body, double *param);
} BrioBodyKind;

const BrioBodyKind *brio__body_kind(const BrioEnergy *energy); /* of a material */
const char *brio__kind_name(BrioKind kind);

/* ---- plans ------------------------------------------------------------------------------ */

struct BrioBodyPlan {
    char *name;
    const BrioBodyKind *kind;
    const BrioEnergy *energy;
    /* of the material's fields, and what the energy makes of them */
    double values[BRIO_MAX_VALUES], params[BRIO_MAX_VALUES];
    BrioMesh *mesh;    /* with the transform applied: the rest shape */
    double *x, *v;     /* initial state */
    double *mass;      /* per vertex; of an affine body none */
    BrioAffine affine; /* of an affine body, and its vertices' weights (four each) */
    double *weight;    /* NULL: not affine */
    double point_mass; /* a quarter of its mass */
    BrioCage *cage;    /* around the mesh; NULL: none */
    /* of the cage's nodes: initial state; which script, as `fix`; coordinate block, set by map.c */
    double *node_x, *node_v;
    int32_t *node_fix, *node_block;
    double *spring;  /* edge_count x 2: weight, rest length; NULL: 1 and from the mesh */
    BrioSheet sheet; /* of shells */
    int64_t hinge_count;
    int32_t *hinge; /* x 4; NULL: no bending */
    int32_t *fix;   /* per vertex: -1 free, otherwise which script (0: stands still) */
    int32_t *row;   /* per vertex: its row of the script's sequence */
    uint8_t *axes;  /* per vertex: coordinates that are fixed alone; NULL: none */
    /* transform of the rest shape */
    double linear[9], translate[3];
    double decay, energy_scale; /* of the body's own energy control; 0: none */
    /* Of an edit (edit.c). What forces and trees were made by: positions at the start; NULL: x. */
    double *start;
    bool kept;    /* it was there before the edit */
    bool removed; /* its number is free: no vertices, and the next body takes the number */
};

/* A script, and what it has made of its sequence and formulas. */
typedef struct BrioScriptPlan {
    BrioScript script; /* keys and poses owned; sequence and formulas NULL */
    BrioScripted data; /* without vertices */
} BrioScriptPlan;

/* The points of a script, for its sequence. */
typedef struct BrioScriptPoints {
    int64_t count;        /* points */
    const int32_t *row;   /* their vertices of the body or obstacle; NULL: in order */
    int64_t of;           /* how many vertices that has */
    const double *base;   /* count x 3: where the points start */
    const double *linear; /* of the transform that the sequence takes too */
    const double *translate;
} BrioScriptPoints;

typedef struct BrioAttachmentPlan {
    int body;
    int32_t vertex;
    double point[3], k;
    int script, row;
    int64_t kept; /* 1 + its number before the edit; 0: it is new */
} BrioAttachmentPlan;

/* A constraint whose points name vertices of their own bodies; -1 - k: mass point k of an affine
 * body. */
typedef struct BrioConstraintPlan {
    BrioConstraint constraint;
    BrioEnd end[2];
    int *owner; /* bodies of the points, -1: the world */
} BrioConstraintPlan;

/* A spring between two points: weights of four vertices, of body a and (negative) of body b. */
typedef struct BrioStitchPlan {
    int body[4];
    int32_t vertex[4];
    double weight[4], k, rest, breaking;
} BrioStitchPlan;

/* An obstacle with a formula. */
typedef struct BrioFormulaPlan {
    const BrioObstacleType *type;
    /* what the energy's rest_shape takes after the vertex: of a plane its point and unit normal */
    double data[BRIO_OBSTACLE_DATA];
    double *table; /* moves to the system; NULL: the type has none */
    int obstacle;
} BrioFormulaPlan;

typedef struct BrioObstaclePlan {
    char *name;
    int analytic;   /* which of those with a formula; -1: a mesh */
    BrioMesh *mesh; /* with the transform applied */
    int script;
    bool kept, removed; /* as of bodies */
    bool driven;        /* the program moves it: its script is one of its own, which stands still */
    bool bends;         /* and gives it other shapes */
} BrioObstaclePlan;

/* What is known about two bodies or obstacles. */
typedef struct BrioPairPlan {
    int a, b;
    double mu; /* NAN: nothing */
    bool excluded;
} BrioPairPlan;

/* A force, and what it acts on. */
typedef struct BrioForcePlan {
    BrioForce force; /* without vertices and triangles */
    int body_count;  /* 0: all */
    int *bodies;
    int64_t vertex_count; /* 0: all, or those of box and sphere */
    int32_t *vertices;
    double box[6], sphere[4];
    /* pairs of body and vertex that were chosen when it was added to a simulation; NULL: by the
     * above */
    int64_t chosen_count;
    int32_t *chosen;
} BrioForcePlan;

struct BrioBuilder {
    bool finished; /* its plans are part of a system now */
    double need;   /* bytes that simulating the bodies so far takes, about */
    double gravity[3];
    int body_count;
    BrioBodyPlan *body;
    int script_count; /* script 0 stands still */
    BrioScriptPlan *script;
    int64_t attachment_count;
    BrioAttachmentPlan *attachment;
    BrioContactDef contact; /* whose law is a name of the registry, or "" if there is none such */
    bool contact_asked;     /* bodies meet each other too */
    int analytic_count;
    BrioFormulaPlan *analytic;
    int obstacle_count;
    BrioObstaclePlan *obstacle;
    int obstacle_at_fault; /* -1: none */
    int64_t obstacle_vertices;
    int pair_count;
    BrioPairPlan *pair;
    int constraint_count;
    BrioConstraintPlan *constraint;
    int constraint_at_fault; /* -1: none */
    int64_t stitch_count;
    BrioStitchPlan *stitch;
    int force_count;
    BrioForcePlan *force;
    int force_at_fault;      /* -1: none */
    const BrioSystem *edits; /* NULL: it is no edit of a simulation */
    int64_t step;            /* at which the edit began */
};

/* Bodies of some materials have no y and z (bar1d): nothing may push them there. */
static inline bool brio__moves_along_x(const BrioBodyPlan *plan)
{
    return plan->energy->traits & BRIO_ENERGY_ALONG_X;
}

/* NULL: there is no law of the name that was given. */
static inline const BrioLaw *brio__contact_law(const BrioBuilder *builder)
{
    return brio__law_at(brio__law_find(builder->contact.law));
}

/* Whether bodies meet by their vertices only. */
static inline bool brio__meets_by_vertices(const BrioBuilder *builder)
{
    return brio__contact_law(builder)->traits & BRIO_LAW_VERTICES;
}

/* ---- builder.c -------------------------------------------------------------------------- */

/* Every public function begins with it: clears the error, refuses a builder that is finished. */
BrioStatus brio__builder_open(const BrioBuilder *builder, BrioError *error);
/* Refuses a name that is longer than results hold. */
BrioStatus brio__check_name(const char *what, const char *name, BrioError *error);
/* A copy of an array, at least one byte; NULL if there is no memory. */
void *brio__copy_of(const void *array, int64_t count, size_t size);
/* A copy of an array, NULL if it is empty; clears `complete` if there is no memory. */
void *brio__copy_any(const void *array, int64_t count, size_t size, bool *complete);
/* A copy of indices, NULL if there are none; false: there is no memory. */
bool brio__copy_indices(const int32_t *from, int64_t count, int32_t **to);
BrioCage *brio__copy_cage(const BrioCage *cage); /* NULL: there is no memory */
/* Room for one more element in an array of `count`, which doubles at the powers of two; NULL if
 * there is no memory, and the array is kept. */
void *brio__room_for_one(void *array, int64_t count, size_t size);

/* ---- image.c, edit.c -------------------------------------------------------------------- */

/* All plans as bytes, and back: checkpoints of edited simulations have them, and an edit begins
 * with a copy. */
BrioStatus brio__builder_write(const BrioBuilder *builder, unsigned char **bytes, size_t *size);
BrioStatus brio__builder_read(const unsigned char *bytes, size_t size, BrioBuilder **builder,
                              BrioError *error);
/* The name of a force that is a function of the program, which no file can hold; NULL: none. */
const char *brio__builder_calls(const BrioBuilder *builder);
/* Takes the plans back from a system that was just made of them. */
void brio__builder_reopen(BrioBuilder *builder, BrioSystem *system);
/* The vertices of forces that were added by box or sphere, as they are now. */
BrioStatus brio__builder_choose_now(BrioBuilder *builder, BrioError *error);
/* Which vertices of a body a force acts on, into `on`; returns how many. */
int64_t brio__force_chooses(const BrioForcePlan *plan, const BrioBodyPlan *of, int body,
                            uint8_t *on);

/* ---- body.c, masses.c, fixed.c, scripts.c ----------------------------------------------- */

void brio__free_body_plan(BrioBodyPlan *plan);
/* A copy of a mesh with X -> linear X + translate; without its faces. */
BrioStatus brio__plan_mesh(const BrioMesh *from, const double linear[9], const double translate[3],
                           BrioMesh **copy, BrioError *error);
BrioStatus brio__lumped_masses(BrioBodyPlan *plan, BrioError *error); /* of rho or vertex_mass */
BrioStatus brio__shell_masses(BrioBodyPlan *plan, BrioError *error);
BrioStatus brio__affine_masses(BrioBodyPlan *plan, BrioError *error);
/* Copies a script and gives its number; NULL: number 0, which stands still. */
BrioStatus brio__plan_script(BrioBuilder *builder, const BrioScript *script,
                             const BrioScriptPoints *points, int *number, BrioError *error);
void brio__free_script_plan(BrioScriptPlan *plan);

int brio__obstacle_number(const BrioBuilder *builder); /* of the next one */

/* ---- terms.c ---------------------------------------------------------------------------- */

/* A term with room for its elements, which brio__set_element fills. */
BrioStatus brio__start_term(BrioSystem *system, const BrioEnergy *energy, int body,
                            int64_t elements, BrioTerm **started);
/* Element e of a term: world vertices, rest positions, and the scalars of rest_shape. */
void brio__set_element(BrioTerm *term, int64_t e, const int32_t *vertex, const double *X,
                       double scale, double length);
/* One term of a body over elements of the body's own vertices; `length` is what the energy's
 * rest_shape takes. */
BrioStatus brio__body_term(const BrioBodyPlan *plan, BrioSystem *system, int body,
                           const BrioEnergy *energy, const int32_t *element, int64_t elements,
                           double length);

/* ---- from the plans to the system: the steps of finish.c -------------------------------- */

/* Errors that name an obstacle or a constraint leave its number in the builder. */
BrioStatus brio__check_contact(BrioBuilder *builder, BrioError *error);
BrioStatus brio__check_constraints(BrioBuilder *builder, BrioError *error);

/* The only failure of these is a lack of memory, and of bodies TOO_LARGE. */
BrioStatus brio__build_bodies(const BrioBuilder *builder, BrioSystem *system);
BrioStatus brio__build_obstacles(const BrioBuilder *builder, BrioSystem *system);
BrioStatus brio__build_map(const BrioBuilder *builder, BrioSystem *system);
BrioStatus brio__build_masses(const BrioBuilder *builder, BrioSystem *system);
BrioStatus brio__build_terms(const BrioBuilder *builder, BrioSystem *system);
BrioStatus brio__contact_terms(const BrioBuilder *builder, BrioSystem *system);
BrioStatus brio__build_constraints(BrioBuilder *builder, BrioSystem *system);
void brio__free_constraint_plan(BrioConstraintPlan *plan);
BrioStatus brio__stitch_term(const BrioBuilder *builder, BrioSystem *system);
BrioStatus brio__build_scripts(BrioBuilder *builder, BrioSystem *system);

void brio__free_force_plan(BrioForcePlan *plan);
/* An error that names a force leaves its number in the builder. */
BrioStatus brio__build_forces(BrioBuilder *builder, BrioSystem *system, BrioError *error);

BrioStatus brio__build_pairs(const BrioBuilder *builder, BrioSystem *system, BrioError *error);
BrioStatus brio__build_surface(const BrioBuilder *builder, BrioSystem *system, BrioError *error);
/* Values of contact that the scene leaves to brio (auto.c): lengths when the surface is there, the
 * stiffness when the state is. */
BrioStatus brio__choose_lengths(BrioBuilder *builder, BrioSystem *system);
BrioStatus brio__choose_stiffness(const BrioBuilder *builder, BrioSystem *system, BrioState *state);
void brio__build_state(const BrioBuilder *builder, const BrioSystem *system, BrioState *state);
/* Fails if a vertex of the initial state is not in front of a plane. */
BrioStatus brio__check_distances(BrioBuilder *builder, const BrioSystem *system,
                                 const BrioState *state, BrioError *error);

/* ---- cages ------------------------------------------------------------------------------ */

/* Fails unless the kind of body can have one. */
BrioStatus brio__cage_fits(const BrioBodyPlan *plan, BrioError *error);
/* The surface of the mesh and its cage, the masses of its nodes, their initial state. */
BrioStatus brio__cage_shape(BrioBodyPlan *plan, int cells, BrioError *error);
BrioStatus brio__cage_masses(BrioBodyPlan *plan, BrioError *error);
BrioStatus brio__cage_state(const BrioBodyDef *def, BrioBodyPlan *plan, BrioError *error);
double brio__cage_mass(const BrioBodyPlan *plan, const BrioBody *body, int64_t node);
BrioStatus brio__cage_terms(const BrioBodyPlan *plan, BrioSystem *system, int body);
/* Fixes the nodes that carry these vertices. */
BrioStatus brio__cage_fix(BrioBodyPlan *plan, const int32_t *vertices, int64_t count, int script,
                          BrioError *error);
/* A node that carries a vertex. */
int64_t brio__cage_carrier(const BrioBody *body, int64_t vertex);
/* K of the vertices from K of the nodes: what resists where one vertex is pushed. */
void brio__cage_stiffness(const BrioBody *body, double *K);

#endif
