/* What the readers share: a mesh that grows while a file is read, whole files, the registry's
 * symbols. */
#ifndef BRIO_READERS_H
#define BRIO_READERS_H

#include "mesh.h"
#include "scan.h"

#define READER(symbol) extern const BrioMeshReader brio__reader_##symbol;
#include "readers.def"
#undef READER

/* Elements by their number of corners: 2 edges, 3 triangles, 4 tets. */
typedef struct BrioDraft {
    double *x;
    int64_t vertex_count, vertex_room;
    int32_t *element[5];
    int64_t element_count[5], element_room[5];
    bool points; /* vertices alone make a mesh */
} BrioDraft;

const char *brio__element_name(int corners); /* "edge", "triangle", "tet" */

/* All report to scan->error. */
BrioStatus brio__draft_vertex(BrioDraft *draft, const BrioScan *scan, const double point[3]);
/* Refuses an element that names a vertex twice. */
BrioStatus brio__draft_element(BrioDraft *draft, const BrioScan *scan, int corners,
                               const int32_t *vertices);
/* Reads the number of a vertex; `base` is the number of the first one in the file, `count` how many
 * there are. Binary ones are of the type scan->index. */
BrioStatus brio__draft_index(BrioScan *scan, int64_t base, int64_t count, int32_t *index);
/* The same of a number that was read. */
BrioStatus brio__draft_number(const BrioScan *scan, int64_t value, int64_t base, int64_t count,
                              int32_t *index);
/* Reads that many of them and adds the element. */
BrioStatus brio__draft_read_element(BrioDraft *draft, BrioScan *scan, int corners, int64_t base);
/* The corners of a polygon as a fan of triangles; two corners make an edge, one makes nothing. */
BrioStatus brio__draft_read_polygon(BrioDraft *draft, BrioScan *scan, int64_t corners,
                                    int64_t base);

/* A cell by VTK's number of its type: lines, triangles, tets, and polygons, strips and quads as
 * triangles; points make nothing; all others are rejected. `vertex` holds `corners` of them. */
BrioStatus brio__draft_cell(BrioDraft *draft, const BrioScan *scan, int64_t type, int64_t corners,
                            const int32_t *vertex);

/* Turns what was read into a mesh and frees the draft; on `status` other than OK only frees it.
 * Tets that are all oriented negatively (a convention of some programs) are turned, with a
 * warning. */
BrioStatus brio__draft_finish(BrioDraft *draft, BrioStatus status, const char *file,
                              BrioMesh **mesh, BrioError *error);

/* The file's bytes and a NUL; freed with brio__free. Directories, missing, empty and too large
 * files are rejected. */
BrioStatus brio__read_file(const char *file, char **text, size_t *size, BrioError *error);

/* TetGen's pair of files, both in memory. */
BrioStatus brio__tetgen_parse(const char *node_file, const char *node_text, size_t node_size,
                              const char *ele_file, const char *ele_text, size_t ele_size,
                              BrioMesh **mesh, BrioError *error);

#endif
