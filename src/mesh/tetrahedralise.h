/* Filling a closed surface with tets, by a program that is installed: TetGen, or else Gmsh. They
 * run as processes of their own, without a shell, in a private folder that is removed at the end.
 *
 * Components of the surface inside of others are cavities, ones inside of those bodies again,
 * whatever the orientation of their triangles. The surface's vertices come first in the result, in
 * their order; TetGen may add vertices on the surface if an edge length is asked for. */
#ifndef BRIO_TETRAHEDRALISE_H
#define BRIO_TETRAHEDRALISE_H

#include "mesh.h"

typedef struct BrioTetOptions {
    /* length that edges should have at most, about; 0: as the surface has it, growing inside */
    double edge;
    double quality;   /* TetGen's bound on circumradius over shortest edge; 0: BRIO_TET_QUALITY */
    const char *tool; /* "tetgen", "gmsh"; NULL: the first that is installed */
} BrioTetOptions;

#define BRIO_TET_QUALITY 1.4
#define BRIO_TET_QUALITY_MIN 1.1 /* below, TetGen is not known to end */

/* Called some times a second while the program runs; true: end it. For all calls in this process,
 * so that also one inside of a scene can be shown and stopped; with `tool` NULL when it has ended.
 * NULL: nobody. */
typedef bool BrioTetWatch(const char *tool, double seconds);
void brio__tetrahedralise_watch(BrioTetWatch *watch);

/* `name` is what the surface is called in messages. `used` is the program's name afterwards.
 * BRIO_ERROR_UNSUPPORTED: there is none. */
BrioStatus brio__tetrahedralise(const BrioMesh *surface, const char *name,
                                const BrioTetOptions *options, BrioMesh **solid, const char **used,
                                BrioError *error);

/* The same for a file, whose result is kept in a folder ($XDG_CACHE_HOME/brio or ~/.cache/brio) and
 * found there the next time, by the bytes of the file, the options and the program. A folder that
 * cannot be written is a warning. */
BrioStatus brio__tetrahedralise_cached(const char *file, const BrioMesh *surface,
                                       const BrioTetOptions *options, BrioMesh **solid,
                                       BrioError *error);

#endif
