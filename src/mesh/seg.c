/* Segments (.seg) and points (.pt): text like OBJ's, without surfaces.
 *
 *     v x y z     a vertex
 *     s a b       of .seg: a segment between two vertices, which are counted from 1
 *
 * Of .pt only vertices count; other lines that an OBJ may have are passed over, so that an OBJ
 * under another name is the cloud of its vertices. Where the file itself is not there, an OBJ of
 * the same name serves: its vertices, or the edges of its faces. [Li2020] has obstacles in both
 * formats. */
#include "readers.h"

#include <string.h>

/* Keywords of an OBJ file other than vertices. */
static bool of_obj(const char *word)
{
    static const char *const known[] = {"vn", "vt", "vp", "f",      "l",     "p",
                                        "o",  "g",  "s",  "usemtl", "mtllib"};
    for (size_t i = 0; i < BRIO_COUNT(known); i++)
        if (!strcmp(word, known[i])) return true;
    return false;
}

static BrioStatus parse(BrioScan *scan, BrioDraft *draft)
{
    scan->by_line = scan->joins = true;
    while (brio__scan_next_line(scan)) {
        char word[16];
        BRIO_CHECK(brio__scan_word(scan, "v", word, sizeof word));
        if (!strcmp(word, "v")) {
            double point[3];
            BRIO_CHECK(
                brio__scan_point(scan, "a coordinate of vertex", draft->vertex_count + 1, point));
            BRIO_CHECK(brio__draft_vertex(draft, scan, point));
        } else if (!draft->points && !strcmp(word, "s")) {
            BRIO_CHECK(brio__draft_read_element(draft, scan, 2, 1));
        } else if (!draft->points || !of_obj(word)) {
            char found[64];
            brio__scan_found(scan, found, sizeof found);
            return brio__scan_error(scan, "expected v%s, found %s",
                                    draft->points ? " (a point: v x y z)"
                                                  : " (v x y z) or s (a segment: s a b)",
                                    found);
        }
        brio__scan_skip_line(scan);
    }
    return BRIO_OK;
}

static BrioStatus read_lines(bool points, const char *file, const char *text, size_t size,
                             BrioMesh **mesh, BrioError *error)
{
    BrioScan scan;
    BrioDraft draft = {.points = points};
    brio__scan_start(&scan, file, text, size, '#', error);
    BrioStatus status = brio__scan_ascii(&scan);
    if (status == BRIO_OK) status = parse(&scan, &draft);
    return brio__draft_finish(&draft, status, file, mesh, error);
}

static BrioStatus read_points(const char *file, const char *text, size_t size, BrioMesh **mesh,
                              BrioError *error)
{
    return read_lines(true, file, text, size, mesh, error);
}

static BrioStatus read_segments(const char *file, const char *text, size_t size, BrioMesh **mesh,
                                BrioError *error)
{
    return read_lines(false, file, text, size, mesh, error);
}

/* The cloud of all vertices of a mesh. */
static BrioStatus keep_points(BrioMesh *mesh)
{
    mesh->tet_count = mesh->triangle_count = mesh->edge_count = 0;
    brio__faces_free(mesh->faces);
    mesh->faces = NULL;
    return BRIO_OK;
}

static BrioStatus keep_edges(BrioMesh *mesh)
{
    if (mesh->edge_count == 0) BRIO_CHECK(brio__mesh_edges_from_triangles(mesh));
    mesh->tet_count = mesh->triangle_count = 0;
    brio__faces_free(mesh->faces);
    mesh->faces = NULL;
    return BRIO_OK;
}

const BrioMeshReader brio__reader_pt = {
    .extension = ".pt", .summary = "points, ASCII", .read = read_points, .reduce = keep_points};
const BrioMeshReader brio__reader_seg = {
    .extension = ".seg", .summary = "segments, ASCII", .read = read_segments, .reduce = keep_edges};
