/* OFF (Geomview): a header, three counts, one vertex a line, one polygon a line. Colours, normals
 * and texture coordinates after the values (COFF, NOFF, STOFF) are passed over; polygons become
 * fans of triangles. */
#include "readers.h"
#include "writers.h"

#include <string.h>

static BrioStatus check_header(const char *word, const BrioScan *scan)
{
    const char *rest = word;
    if (!strncmp(rest, "ST", 2)) rest += 2;
    if (*rest == 'C') rest++;
    if (*rest == 'N') rest++;
    if (!strcmp(rest, "OFF")) return BRIO_OK;
    if (!strcmp(rest, "4OFF") || !strcmp(rest, "nOFF") || !strcmp(rest, "4nOFF"))
        return brio__scan_error(
            scan, "this is OFF of another dimension; brio reads three-dimensional OFF");
    char found[64];
    brio__scan_found(scan, found, sizeof found);
    return brio__scan_error(scan, "expected \"OFF\" at the start of the file, found %s", found);
}

static BrioStatus parse(BrioScan *scan, BrioDraft *draft)
{
    char word[16];
    int64_t vertices, faces;
    BRIO_CHECK(brio__scan_word(scan, "\"OFF\" at the start of the file", word, sizeof word));
    BRIO_CHECK(check_header(word, scan));
    if (brio__scan_more(scan) && *scan->at == 'B')
        return brio__scan_error(scan,
                                "this is binary OFF; brio reads ASCII: save the mesh as ASCII OFF");
    BRIO_CHECK(brio__scan_ascii(scan));
    BRIO_CHECK(brio__scan_count(scan, "the number of vertices", 6, &vertices));
    BRIO_CHECK(brio__scan_count(scan, "the number of faces", 4, &faces));
    brio__scan_skip_line(scan); /* the number of edges, which nobody keeps right */
    scan->by_line = true;
    for (int64_t i = 1; i <= vertices; i++) {
        double point[3];
        brio__scan_next_line(scan);
        BRIO_CHECK(brio__scan_point(scan, "a coordinate of vertex", i, point));
        BRIO_CHECK(brio__draft_vertex(draft, scan, point));
        brio__scan_skip_line(scan);
    }
    for (int64_t i = 1; i <= faces; i++) {
        int64_t corners;
        brio__scan_next_line(scan);
        BRIO_CHECK(brio__scan_integer(scan, "the number of corners of face", i, &corners));
        if (corners < 1)
            return brio__scan_error(scan, "a face of %lld corners", (long long)corners);
        BRIO_CHECK(brio__draft_read_polygon(draft, scan, corners, 0));
        brio__scan_skip_line(scan);
    }
    return BRIO_OK;
}

static BrioStatus read_off(const char *file, const char *text, size_t size, BrioMesh **mesh,
                           BrioError *error)
{
    BrioScan scan;
    BrioDraft draft = {0};
    brio__scan_start(&scan, file, text, size, '#', error);
    BrioStatus status = parse(&scan, &draft);
    return brio__draft_finish(&draft, status, file, mesh, error);
}

const BrioMeshReader brio__reader_off = {
    .extension = ".off", .summary = "OFF, ASCII", .read = read_off};

/* ---- writing ---------------------------------------------------------------------------- */

static void write_off(const BrioMesh *mesh, bool ascii, FILE *file)
{
    (void)ascii;
    fprintf(file, "OFF\n%lld %lld 0\n", (long long)mesh->vertex_count,
            (long long)(mesh->triangle_count + mesh->edge_count));
    brio__put_points(mesh, "", "\n", file);
    brio__put_elements(mesh->triangle, mesh->triangle_count, 3, 0, "3 ", "\n", file);
    brio__put_elements(mesh->edge, mesh->edge_count, 2, 0, "2 ", "\n", file);
}

const BrioMeshWriter brio__writer_off = {
    .extension = ".off", .triangles = true, .edges = true, .has_ascii = true, .write = write_off};
