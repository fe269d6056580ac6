/* The lattice that a cage is made of, and what of it is inside of the surface: what cage.c and
 * cage_fill.c share. */
#ifndef BRIO_LATTICE_H
#define BRIO_LATTICE_H

#include "cage.h"

typedef struct BrioLattice {
    const BrioMesh *surface;
    BrioMesh outward;       /* the surface, if it is closed: its components look outward */
    double origin[3], edge; /* of the first corner; of a cube */
    int64_t cubes[3];
    /* of each tet of the lattice, 12 a cube: 1 if the surface passes it */
    uint8_t *passed;
    /* samples in each tet, and how many of them are inside */
    uint16_t *count, *in;
    bool closed, inward;
    double inside; /* m3, by samples */
    double twice;  /* m3, by samples: what of a closed surface's volume is enclosed again */
} BrioLattice;

enum { BRIO_CAGE_TETS = 12 }; /* that begin at a cube: 3 axes, 4 edges */

/* The tet of a point, and its four corners as points of the lattice; -1 beyond the lattice. */
int64_t brio__lattice_locate(const BrioLattice *lattice, const double p[3]);
void brio__lattice_corners(const BrioLattice *lattice, int64_t tet, int64_t point[4]);
void brio__lattice_position(const BrioLattice *lattice, int64_t point, double x[3]);
/* Barycentric coordinates in the tet of these corners. */
void brio__lattice_weights(const double corner[4][3], const double p[3], double w[4]);

/* Which samples are inside: `count` and `in`. `use` is called for every sample inside a tet that
 * the surface passes, with the volume that it stands for. */
typedef void BrioCageSample(void *context, int64_t tet, const double p[3], double volume);
BrioStatus brio__lattice_sample(BrioLattice *lattice, BrioCageSample *use, void *context);
/* Of what a closed surface encloses; negative volume: it looks inward. */
typedef struct BrioMoments {
    double volume, centre[3];
    /* int (X - centre)(X - centre)^T dV / volume: xx, yy, zz, xy, yz, zx */
    double second[6];
} BrioMoments;

void brio__lattice_enclosed(const BrioMesh *surface, BrioMoments *moments);
/* Volumes of the nodes with this sum and, unless it is NULL, with the centre and the second moments
 * of the body (cage_mass.c). */
void brio__cage_correct(BrioCage *cage, double volume, const BrioMoments *moments);
/* The area of the holes (fans about their centres) over that of the surface, and the number of
 * edges around them. */
BrioStatus brio__lattice_holes(const BrioMesh *surface, double *fraction, int64_t *edges);

#endif
