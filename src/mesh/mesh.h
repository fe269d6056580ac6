/* Meshes inside the library: growing arrays, checks, readers, shapes. The struct is public
 * (brio.h).
 *
 * To add a reader: one file with a BrioMeshReader and one line in readers.def. To add a shape: one
 * function and field table in a shape file and one line in shapes.def. */
#ifndef BRIO_MESH_H
#define BRIO_MESH_H

#include "../field.h"

/* Room for so many of each, all cleared; frees and returns NULL on failure. Refused (TOO_LARGE,
 * with a sentence) before anything is allocated if a simulation of that size cannot fit in memory,
 * or if a count passes 2^31 - 1. */
BrioStatus brio__mesh_create(int64_t vertices, int64_t tets, int64_t triangles, int64_t edges,
                             BrioMesh **mesh, BrioError *error);

/* What simulating a mesh of that size takes, about, in bytes. */
double brio__mesh_need(int64_t vertices, int64_t tets, int64_t triangles, int64_t edges);

/* Finite vertices, indices in range, no repeated index in an element; unused vertices, degenerate
 * or inverted tets are judged by brio__mesh_check_solid, since shells and springs do not mind the
 * latter. */
BrioStatus brio__mesh_check(const BrioMesh *mesh, BrioError *error);
/* Every tet has positive volume (relative to its longest edge cubed: 1e-10 is the smallest), every
 * vertex is used. */
BrioStatus brio__mesh_check_solid(const BrioMesh *mesh, BrioError *error);
/* The diagonal of the box around its vertices; 0 without any. */
double brio__mesh_diagonal(const BrioMesh *mesh);
/* Triangles without tets whose vertices have one z: the mesh of a two-dimensional code, or a sheet
 * that lies flat. */
bool brio__mesh_is_flat(const BrioMesh *mesh);
/* An error that says so, where a solid is asked for. */
BrioStatus brio__mesh_refuse_flat(const BrioMesh *mesh, BrioError *error);
/* Every edge has positive length and every vertex is used by an edge. */
BrioStatus brio__mesh_check_springs(const BrioMesh *mesh, BrioError *error);

/* Every triangle has an area (relative to its longest edge squared: 1e-8 is the smallest), every
 * vertex is used. */
BrioStatus brio__mesh_check_shell(const BrioMesh *mesh, BrioError *error);

/* Six times the volume of a tet given by its corners. */
double brio__tet_volume6(const double *a, const double *b, const double *c, const double *d);

/* brio_mesh_surface with a sentence; refuses a face that belongs to more than two tets. */
BrioStatus brio__mesh_surface(BrioMesh *mesh, BrioError *error);

/* The triangles must be a closed surface that uses every vertex: no open edge, and neighbours look
 * to the same side; components where that is inward are turned around (brio__shell_outward). */
BrioStatus brio__mesh_close(BrioMesh *mesh, BrioError *error);

/* Unique edges of the triangles, written to edge[] as structural springs (if the mesh has no edges
 * yet). */
BrioStatus brio__mesh_edges_from_triangles(BrioMesh *mesh);

/* The edges between two triangles, four vertices each: the edge's, then the corners across it.
 * Refuses an edge of three triangles. */
BrioStatus brio__mesh_hinges(const BrioMesh *mesh, int32_t **hinge, int64_t *count,
                             BrioError *error);
/* on[v] = 1 for every vertex at an edge that only one triangle has, 0 for the others. */
BrioStatus brio__mesh_boundary(const BrioMesh *mesh, uint8_t *on);

/* Vertex adjacency by elements (tets, triangles, edges): for each vertex its neighbours,
 * ascending. */
BrioStatus brio__mesh_adjacency(const BrioMesh *mesh, int64_t **start, int32_t **neighbour);

/* ---- faces ------------------------------------------------------------------------------ */

/* Room for so many of each, all cleared; NULL: no memory. Parts of which there is none are NULL. */
BrioFaces *brio__faces_create(int64_t faces, int64_t corners, int64_t uvs, int64_t normals,
                              int32_t groups);
BrioFaces *brio__faces_copy(const BrioFaces *from);
void brio__faces_free(BrioFaces *faces);
void brio__vertex_groups_free(BrioVertexGroups *groups);
int64_t brio__faces_triangles(const BrioFaces *faces); /* of the fans of all faces */
/* The corners of these triangles: corner[3 t + i] is an index into vertex, corner_uv and so on. */
void brio__faces_fan(const BrioFaces *faces, int32_t *corner);
void brio__faces_turn(BrioFaces *faces, int64_t face); /* one looks to the other side */

/* ---- readers ---------------------------------------------------------------------------- */

typedef struct BrioMeshReader {
    const char *extension; /* ".msh" */
    const char *summary;   /* "Medit, ASCII" */
    BrioStatus (*read)(const char *file, const char *text, size_t size, BrioMesh **mesh,
                       BrioError *error);
    /* Where the file is not there, an OBJ of the same name is read and this leaves of it what the
     * format holds. NULL: the file must be there. */
    BrioStatus (*reduce)(BrioMesh *mesh);
} BrioMeshReader;

const BrioMeshReader *brio__mesh_reader_at(int i); /* NULL past the last */
/* Whether brio_mesh_read would find the file, or the OBJ that serves in its place. */
bool brio__mesh_file_exists(const char *file);
/* Parses text that is already in memory, as if read from `file`: what the fuzzers call. */
BrioStatus brio__mesh_parse(const char *file, const char *text, size_t size, BrioMesh **mesh,
                            BrioError *error);

/* As brio_mesh_read, but elements that name a vertex twice are left out and counted. */
BrioStatus brio__mesh_read_broken(const char *file, int64_t *count, BrioMesh **mesh,
                                  BrioError *error);

/* ---- writers ---------------------------------------------------------------------------- */

/* What a format can hold, and its writer. TetGen's is a pair of files: `second` is the extension of
 * the other one. */
typedef struct BrioMeshWriter {
    const char *extension;
    bool tets, triangles, edges;
    bool has_ascii, has_binary;
    bool single;        /* its binary coordinates are of single precision */
    const char *second; /* NULL: none */
    void (*write)(const BrioMesh *mesh, bool ascii, FILE *file);
    void (*write_second)(const BrioMesh *mesh, bool ascii, FILE *file);
} BrioMeshWriter;

const BrioMeshWriter *brio__mesh_writer_at(int i); /* NULL past the last */
/* The name of the other file of a pair: with this extension, in the case of its own. NULL: no
 * memory. */
char *brio__mesh_partner(const char *file, const char *extension);
/* by its extension */
BrioStatus brio__mesh_writer(const char *file, const BrioMeshWriter **writer, BrioError *error);
/* Leaves in the mesh what the format can hold: of a solid its surface, without the vertices inside.
 * `note` says what was left out, "" if nothing. Refused if nothing is left. */
BrioStatus brio__mesh_fit(const BrioMeshWriter *writer, BrioMesh *mesh, char *note, size_t size,
                          BrioError *error);
/* Removes vertices that no element names. */
BrioStatus brio__mesh_compact(BrioMesh *mesh);

/* ---- shapes ----------------------------------------------------------------------------- */

typedef struct BrioShape {
    const char *name, *summary;
    /* "solid", "springs", "shell": what a body of this shape is unless it says otherwise */
    const char *kind;
    const BrioField *fields;
    BrioStatus (*make)(const double *values, BrioMesh **mesh, BrioError *error);
} BrioShape;

const BrioShape *brio__shape(const char *name);
const BrioShape *brio__shape_at(int i);

#endif
