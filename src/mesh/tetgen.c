/* TetGen's pair: NAME.node holds the vertices, NAME.ele the tets; either name reads both. Rows are
 * numbered from 0 or 1, which the first row of the .node file decides; attributes and markers at
 * the end of a row are passed over. */
#include "readers.h"
#include "writers.h"

#include <string.h>

/* The row's own number, which must continue the sequence. */
static BrioStatus read_row_number(BrioScan *scan, const char *what, int64_t expected)
{
    int64_t number;
    if (!brio__scan_next_line(scan)) return brio__scan_expected(scan, what, expected);
    BRIO_CHECK(brio__scan_integer(scan, what, expected, &number));
    if (number != expected)
        return brio__scan_error(
            scan, "expected row %lld, found row %lld: rows must be numbered one after the other",
            (long long)expected, (long long)number);
    return BRIO_OK;
}

static BrioStatus parse_node(BrioScan *scan, BrioDraft *draft, int64_t *base)
{
    int64_t count, dimension;
    *base = 0;
    BRIO_CHECK(brio__scan_ascii(scan));
    scan->by_line = true;
    brio__scan_next_line(scan);
    BRIO_CHECK(brio__scan_count(scan, "the number of vertices", 8, &count));
    BRIO_CHECK(brio__scan_integer(scan, "the dimension", 0, &dimension));
    if (dimension != 3)
        return brio__scan_error(scan, "the dimension is %lld; brio reads three-dimensional meshes",
                                (long long)dimension);
    brio__scan_skip_line(scan);
    for (int64_t i = 0; i < count; i++) {
        double point[3];
        if (i == 0) {
            if (!brio__scan_next_line(scan))
                return brio__scan_expected(scan, "the first vertex", 0);
            BRIO_CHECK(brio__scan_integer(scan, "the number of the first vertex", 0, base));
            if (*base != 0 && *base != 1)
                return brio__scan_error(
                    scan, "the first vertex has number %lld; TetGen counts from 0 or 1",
                    (long long)*base);
        } else {
            BRIO_CHECK(read_row_number(scan, "the row of vertex", *base + i));
        }
        BRIO_CHECK(brio__scan_point(scan, "a coordinate of vertex", i + 1, point));
        BRIO_CHECK(brio__draft_vertex(draft, scan, point));
        brio__scan_skip_line(scan);
    }
    return BRIO_OK;
}

static BrioStatus parse_ele(BrioScan *scan, BrioDraft *draft, int64_t base)
{
    int64_t count, corners;
    BRIO_CHECK(brio__scan_ascii(scan));
    scan->by_line = true;
    brio__scan_next_line(scan);
    BRIO_CHECK(brio__scan_count(scan, "the number of tets", 10, &count));
    BRIO_CHECK(brio__scan_integer(scan, "the number of corners of a tet", 0, &corners));
    if (corners == 10)
        return brio__scan_error(
            scan, "these are second-order tets of 10 vertices; brio simulates first-order ones: "
                  "run tetgen without -o2");
    if (corners != 4)
        return brio__scan_error(scan, "tets have 4 corners, not %lld", (long long)corners);
    brio__scan_skip_line(scan);
    for (int64_t i = 0; i < count; i++) {
        BRIO_CHECK(read_row_number(scan, "the row of tet", base + i));
        BRIO_CHECK(brio__draft_read_element(draft, scan, 4, base));
        brio__scan_skip_line(scan);
    }
    return BRIO_OK;
}

BrioStatus brio__tetgen_parse(const char *node_file, const char *node_text, size_t node_size,
                              const char *ele_file, const char *ele_text, size_t ele_size,
                              BrioMesh **mesh, BrioError *error)
{
    BrioScan scan;
    BrioDraft draft = {0};
    int64_t base;
    brio__scan_start(&scan, node_file, node_text, node_size, '#', error);
    BrioStatus status = parse_node(&scan, &draft, &base);
    if (status == BRIO_OK) {
        brio__scan_start(&scan, ele_file, ele_text, ele_size, '#', error);
        status = parse_ele(&scan, &draft, base);
    }
    return brio__draft_finish(&draft, status, ele_file, mesh, error);
}

char *brio__mesh_partner(const char *file, const char *extension)
{
    size_t stem = (size_t)(strrchr(file, '.') - file);
    bool upper = file[stem + 1] >= 'A' && file[stem + 1] <= 'Z';
    char *name = brio__alloc(stem + strlen(extension) + 1, 1);
    if (!name) return NULL;
    memcpy(name, file, stem);
    strcpy(name + stem, extension);
    for (char *c = name + stem; upper && *c; c++)
        if (*c >= 'a' && *c <= 'z') *c -= 'a' - 'A';
    return name;
}

static BrioStatus read_pair(const char *file, const char *text, size_t size, bool is_node,
                            BrioMesh **mesh, BrioError *error)
{
    *mesh = NULL;
    char *other_text = NULL, *other = brio__mesh_partner(file, is_node ? ".ele" : ".node");
    size_t other_size;
    if (!other)
        return brio__error_at(error, BRIO_ERROR_MEMORY, file, 0, 0, NULL,
                              "out of memory while reading the mesh");
    BrioError why = {0};
    BrioStatus status = brio__read_file(other, &other_text, &other_size, &why);
    if (status != BRIO_OK)
        brio__error_at(error, status, other, 0, 0, NULL,
                       "%s (a TetGen mesh is a pair of files, .node and .ele, side by "
                       "side)",
                       why.message);
    else if (is_node)
        status = brio__tetgen_parse(file, text, size, other, other_text, other_size, mesh, error);
    else
        status = brio__tetgen_parse(other, other_text, other_size, file, text, size, mesh, error);
    brio__free(other_text);
    brio__free(other);
    return status;
}

static BrioStatus read_node(const char *file, const char *text, size_t size, BrioMesh **mesh,
                            BrioError *error)
{
    return read_pair(file, text, size, true, mesh, error);
}

static BrioStatus read_ele(const char *file, const char *text, size_t size, BrioMesh **mesh,
                           BrioError *error)
{
    return read_pair(file, text, size, false, mesh, error);
}

const BrioMeshReader brio__reader_tetgen_node = {
    .extension = ".node", .summary = "TetGen, with its .ele next to it", .read = read_node};
const BrioMeshReader brio__reader_tetgen_ele = {
    .extension = ".ele", .summary = "TetGen, with its .node next to it", .read = read_ele};

/* ---- writing ---------------------------------------------------------------------------- */

static void write_node(const BrioMesh *mesh, bool ascii, FILE *file)
{
    (void)ascii;
    fprintf(file, "%lld 3 0 0\n", (long long)mesh->vertex_count);
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        fprintf(file, "%lld ", (long long)v);
        brio__put_point(mesh->x + 3 * v, file);
        fputc('\n', file);
    }
}

static void write_ele(const BrioMesh *mesh, bool ascii, FILE *file)
{
    (void)ascii;
    fprintf(file, "%lld 4 0\n", (long long)mesh->tet_count);
    for (int64_t t = 0; t < mesh->tet_count; t++) {
        fprintf(file, "%lld ", (long long)t);
        brio__put_elements(mesh->tet + 4 * t, 1, 4, 0, "", "\n", file);
    }
}

const BrioMeshWriter brio__writer_tetgen_node = {.extension = ".node",
                                                 .tets = true,
                                                 .has_ascii = true,
                                                 .second = ".ele",
                                                 .write = write_node,
                                                 .write_second = write_ele};

const BrioMeshWriter brio__writer_tetgen_ele = {.extension = ".ele",
                                                .tets = true,
                                                .has_ascii = true,
                                                .second = ".node",
                                                .write = write_ele,
                                                .write_second = write_node};
