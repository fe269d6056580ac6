/* What the writers of meshes share: points, elements and numbers as text and bytes, the registry's
 * symbols.
 *
 * To add a format: end its file with a BrioMeshWriter brio__writer_NAME and add a line to
 * writers.def. */
#ifndef BRIO_WRITERS_H
#define BRIO_WRITERS_H

#include "mesh.h"

#define WRITER(symbol) extern const BrioMeshWriter brio__writer_##symbol;
#include "writers.def"
#undef WRITER

void brio__put_point(const double *p, FILE *file); /* "x y z" */
/* One vertex per line, between `before` and `after`. */
void brio__put_points(const BrioMesh *mesh, const char *before, const char *after, FILE *file);
/* One element a line: `before`, its vertices counted from `base`, `after`. */
void brio__put_elements(const int32_t *vertex, int64_t count, int corners, int base,
                        const char *before, const char *after, FILE *file);

void brio__put_int32(int64_t value, bool big_endian, FILE *file);
void brio__put_int64(int64_t value, bool big_endian, FILE *file);
void brio__put_double(double value, bool big_endian, FILE *file);
void brio__put_float(double value, bool big_endian, FILE *file);

/* Elements of one kind, and the numbers that VTK and Gmsh have for it. */
typedef struct BrioMeshGroup {
    int corners, vtk, gmsh;
    int64_t count;
    const int32_t *vertex;
} BrioMeshGroup;
/* Lines, triangles and tets, in this order. */
void brio__mesh_groups(const BrioMesh *mesh, BrioMeshGroup group[3]);
int64_t brio__mesh_cells(const BrioMesh *mesh);   /* elements of all kinds */
int64_t brio__mesh_corners(const BrioMesh *mesh); /* of all of them */

#endif
