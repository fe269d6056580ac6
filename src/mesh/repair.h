/* A mesh without the usual faults of assets: duplicate vertices, degenerate
 * or duplicate elements, triangles of inconsistent orientation, surfaces that intersect. */
#ifndef BRIO_REPAIR_H
#define BRIO_REPAIR_H

#include "untangle.h"

typedef struct BrioRepairOptions {
    double merge; /* m: vertices that are nearer become one; negative: 1e-7 of the box's diagonal */
    double gap;   /* m: how far apart surfaces that intersected shall be; 0: 1e-3 of a mean edge */
} BrioRepairOptions;

typedef struct BrioRepair {
    double merge, gap;       /* m: as taken */
    int64_t merged;          /* vertices that were another one's place */
    int64_t degenerate;      /* elements with a vertex twice, or triangles without area: left out */
    int64_t duplicate;       /* elements that were there already: left out */
    int64_t turned;          /* triangles and tets that were turned around */
    int64_t conflicts;       /* edges whose triangles cannot be oriented consistently */
    int64_t unused;          /* vertices of no element: left out */
    int components;          /* parts of untangling */
    BrioUntangled untangled; /* parts are components, numbered by their first vertices */
} BrioRepair;

/* Of a mesh that brio__mesh_read_broken or brio_mesh_read has read. Its faces are forgotten. Tets
 * stay positive; what is flat stays. Closed components look outward. */
BrioStatus brio__mesh_repair(BrioMesh *mesh, const BrioRepairOptions *options, BrioRepair *report,
                             BrioError *error);

#endif
