/* Energies: sums over elements of a function of the positions of the element's one to four nodes.
 *
 * To add one: write src/energy/NAME.c that ends in BRIO_ENERGY(NAME) { ... } and add a line to
 * list.def. You provide: what it is called and cites, the field table that users set, how field
 * values become parameters (`prepare`), how an element's rest shape becomes rest data
 * (`rest_shape`), the batched kernel (`eval`), a random state for the tests (`sample`), and
 * `max_step` if some states are forbidden. Looping, threads, assembly and the map x = J q + b are
 * done elsewhere, once. Tet materials provide less still: see tet.h.
 *
 * A new kind of element is a row in element.def and, if bodies are made of it, a row in
 * build/kinds.c.
 *
 * Every file here except energy.c, material.c and registered.c is compiled once per instruction
 * set; the registry hands out the descriptors of the one in use. */
#ifndef BRIO_ENERGY_H
#define BRIO_ENERGY_H

#include "../base.h"
#include "../lane.h"

/* Kinds of elements: element.def says what each is. */
typedef enum BrioElement {
#define ELEMENT(symbol, name, note, part, material) BRIO_ELEMENT_##symbol,
#include "element.def"
#undef ELEMENT
} BrioElement;

/* Where the ledger books the energy of an element. */
typedef enum BrioLedgerPart {
    BRIO_LEDGER_NONE,
    BRIO_LEDGER_ELASTIC,
    BRIO_LEDGER_GRAVITY,
    BRIO_LEDGER_ATTACHMENT,
    BRIO_LEDGER_CONTACT,
    BRIO_LEDGER_PARTS
} BrioLedgerPart;

/* A row of element.def. */
typedef struct BrioElementInfo {
    const char *name, *note;
    BrioLedgerPart part;
    bool material;
} BrioElementInfo;

enum {                         /* traits of energies */
       BRIO_ENERGY_LINEAR = 1, /* no Hessian */
       /* infinite at inverted elements and at touching ones: needs max_step */
       BRIO_ENERGY_INFINITE = 2,
       /* not smooth where two singular values cancel (built on the rotation) */
       BRIO_ENERGY_NOT_SMOOTH_FLIP = 4,
       /* sees x only: bodies of this material move along x and never in y or z */
       BRIO_ENERGY_ALONG_X = 8,
       BRIO_ENERGY_PROJECTION =
           16 /* a squared distance from a set: `laplacian` bounds the Hessian everywhere */
};

/* Rest data of a contact with a plane: weight, unit normal, point; with a solid: weight, centre,
 * two axes, half its extents, radius. */
enum { BRIO_PLANE_REST = 7, BRIO_SOLID_REST = 14 };

/* A batch: packs [begin, end) of eight elements, structure of arrays. A partial pack repeats its
 * last element with rest[0] = 0, and rest[0] multiplies the whole energy (volume, stiffness,
 * mass). */
typedef struct BrioBatch {
    int64_t begin, end;
    const int32_t *node;  /* [pack][nodes][8]: three times the vertex number */
    const double *rest;   /* [pack][rest][8] */
    const double *params; /* the same for all elements */
    const double *live;   /* [pack][live][8]: parameters that each element has of its own */
    const double *table;  /* of a contact: what its obstacle is made of (heights); may be NULL */
    const double *x;      /* world positions */
    const double *dx;     /* direction, for max_step and clearance only */
    /* wanted results, NULL if not */
    double *energy;   /* [pack]: sum of the pack; INFINITY at forbidden states */
    double *gradient; /* [pack][3*nodes][8] */
    /* [pack-begin][9*pairs][8]: 3x3 blocks, row by row, of the node pairs (i,j), i >= j, in the
     * order (0,0) (1,0) (1,1) (2,0) ... */
    double *hessian;
    /* [pack][8]: of pairs and of contacts with obstacles, how far apart they are (nothing else is
     * then computed) */
    double *distance;
    /* [pack][8]: of pairs, in addition to `distance`: how far apart they stay on x + [0,1] dx at
     * least; NULL: not requested */
    double *clearance;
    bool project;             /* to the nearest positive semidefinite matrix of each element */
    const BrioEnergyDef *def; /* of energies that were registered at run time */
    /* [pack-begin][6][8]: of friction, the Hessian is w w^T (x) K with the weights w of the nodes:
     * xx, xy, xz, yy, yz, zz of K */
    double *core;
    /* of friction: world positions of the last Hessian before, which tell how much of its bound is
     * taken; NULL: the rest data tell */
    const double *last;
    /* [pack][8]: of a vertex and a triangle, in addition to `distance`: between which corners the
     * nearest point lies, as bits; NULL: not requested */
    int8_t *nearest;
    /* [pack-begin][8][8]: of pairs, the weights of the nodes in the vector between the closest
     * points, its direction, and the normal force (nothing else is then computed) */
    double *touch;
    double *pull; /* [pack][3][8]: of friction, the gradient is w (x) the pull */
} BrioBatch;

/* What a material says of a sheet made of it. */
typedef struct BrioSheet {
    double areal;   /* kg/m2 */
    double bending; /* flexural rigidity, N m; 0: none */
    double stretch; /* of the first shape against the one without tension */
} BrioSheet;

typedef struct BrioEnergy {
    const char *name, *summary, *citation;
    BrioElement element;
    unsigned traits;
    int nodes;  /* of an element: at most 4 */
    int rest;   /* doubles of rest data an element, at most 16, the first being its weight */
    int params; /* doubles that all elements share, kept in the state */
    int live;   /* doubles that each element has of its own in the state, 1 at the start */
    const BrioField *fields;
    /* Field values to parameters; an error if they do not fit together. May be NULL (values are
     * copied). */
    BrioStatus (*prepare)(const double *values, double *params, BrioError *error);
    /* Of the materials of shells. */
    BrioStatus (*sheet)(const double *values, BrioSheet *sheet, BrioError *error);
    /* Rest data of one element from its nodes' rest positions (3*nodes) and its own scalar
     * (`scale`: mass of a vertex, stiffness of a spring, volume of an affine body over that of the
     * tet of its mass points; 1 otherwise) and second scalar (`length`: rest length, NAN: from X;
     * of gravity: what multiplies its y and z, NAN: 1; of a triangle: its stretch in this shape,
     * NAN: 1). Of a contact, X also holds the plane's point and normal, or the solid's rest data
     * but for the weight. */
    void (*rest_shape)(const double *X, double scale, double length, double *rest);
    /* The size of what cancels in an element's energy, for parameters of 1 (a tet: its volume):
     * round-off of the energy is this times the largest parameter times the machine precision,
     * however small the energy is. NULL: none. */
    double (*magnitude)(const double *rest);
    void (*eval)(const BrioBatch *batch);
    /* The largest t in (0, 1] such that no element of the batch becomes forbidden on x + [0,t] dx,
     * and the element that limits it (in elements from the term's start; untouched if none does).
     * May be NULL. */
    double (*max_step)(const BrioBatch *batch, int64_t *element);
    /* A quadratic form on the nodes, the same in x, y and z, that bounds the Hessian of one element
     * (for energies that are projections always, for others at moderate strain): the constant
     * matrix of local/global solves. The values of the pairs (i,j), i >= j, in the order of
     * `hessian`. NULL: there is none, and local/global refuses the energy; linear ones need
     * none. */
    void (*laplacian)(const double *rest, const double *params, const double *live, double *weight);
    /* A random rest shape and a random allowed state of one element. */
    void (*sample)(BrioRandom *random, double *X, double *x);
    const BrioEnergyDef *def; /* registered at run time (registered.c); otherwise NULL */
    /* of contacts with an obstacle: its type, and the table that `sample` and brio__energy_one use
     * (NULL: the obstacle has none) */
    const char *obstacle;
    const double *table;
} BrioEnergy;

#define BRIO_PASTE_(a, b, c) a##b##_##c
#define BRIO_PASTE(a, b, c) BRIO_PASTE_(a, b, c)
#ifdef BRIO_KERNEL_ISA
#define BRIO_ENERGY_SYMBOL(symbol) BRIO_PASTE(brio__energy_, symbol, BRIO_KERNEL_ISA)
#define BRIO_ENERGY(symbol)                             \
    extern const BrioEnergy BRIO_ENERGY_SYMBOL(symbol); \
    const BrioEnergy BRIO_ENERGY_SYMBOL(symbol) =
#endif

static inline int brio__pairs(int nodes) { return nodes * (nodes + 1) / 2; }
static inline int brio__pair(int i, int j) { return i * (i + 1) / 2 + j; } /* i >= j */

const BrioElementInfo *brio__element(const BrioEnergy *energy); /* of its elements */
const BrioEnergy *brio__energy(const char *name);               /* NULL: none of that name */
const BrioEnergy *brio__energy_at(int i);                       /* NULL past the last */
/* of those that were registered at run time; NULL past the last */
const BrioEnergy *brio__registered_energy_at(int i);
bool brio__energy_is_material(const BrioEnergy *energy);
bool brio__energy_is_elastic(const BrioEnergy *energy); /* a material, or the bending of one */
/* The same energy compiled for another instruction set (benchmarks); NULL if this machine cannot
 * run it. */
const BrioEnergy *brio__energy_for(const char *name, BrioIsa isa);

/* Energy, gradient (3*nodes) and Hessian (row by row, (3*nodes)^2) of one element: what tests and
 * error reports use. Any of the outputs may be NULL. */
double brio__energy_one(const BrioEnergy *energy, const double *params, const double *rest,
                        const double *x, double *gradient, double *hessian, bool project);

/* Lamé's constants from Young's modulus and Poisson's ratio. */
static inline double brio__lame_mu(double E, double nu) { return E / (2 * (1 + nu)); }
static inline double brio__lame_lambda(double E, double nu)
{
    return E * nu / ((1 + nu) * (1 - 2 * nu));
}

#endif
