/* Wavefront OBJ: vertices, faces (fans of triangles, whatever they say of texture and normals), lines. Negative
 * numbers count back from the vertex read last. Everything else is passed over. */
#include "readers.h"

#include <string.h>

/* How many vertices the whole file has: faces may name later ones. */
static int64_t count_vertices(BrioScan scan)
{
    int64_t count = 0;
    while (brio__scan_next_line(&scan)) {
        count += scan.end - scan.at >= 2 && scan.at[0] == 'v' && (scan.at[1] == ' ' || scan.at[1] == '\t');
        brio__scan_skip_line(&scan);
    }
    return count;
}

static BrioStatus read_corner(BrioScan *scan, int64_t so_far, int64_t total, int32_t *index)
{
    int64_t value;
    BRIO_CHECK(brio__scan_integer(scan, "the number of a vertex", 0, &value));
    if (value == 0) return brio__scan_error(scan, "there is no vertex 0: OBJ counts from 1, or back from -1");
    if (value > total)
        return brio__scan_error(scan, "there is no vertex %lld: the file has %lld", (long long)value, (long long)total);
    if (value < -so_far)
        return brio__scan_error(scan, "there is no vertex %lld: there are %lld before this line", (long long)value,
                                (long long)so_far);
    value = value > 0 ? value - 1 : so_far + value;
    if (value > INT32_MAX) return brio__scan_error(scan, "there are too many vertices: at most %d", INT32_MAX);
    *index = (int32_t)value;
    brio__scan_skip_value(scan); /* "/texture/normal" */
    return BRIO_OK;
}

/* A face (least = 3) or a line (least = 2). */
static BrioStatus read_chain(BrioScan *scan, BrioDraft *draft, int least, int64_t total)
{
    int32_t vertices[3];
    int corners = 0;
    for (; brio__scan_more(scan) || corners < least; corners += corners < 3) {
        int place = BRIO_MIN(corners, least - 1);
        if (!brio__scan_more(scan))
            return brio__scan_error(scan, "a %s needs at least %d vertices, and this one has %d",
                                    least == 3 ? "face" : "line", least, corners);
        BRIO_CHECK(read_corner(scan, draft->vertex_count, total, vertices + place));
        if (corners < least - 1) continue;
        BRIO_CHECK(brio__draft_element(draft, scan, least, vertices));
        vertices[least - 2] = vertices[least - 1];
    }
    return BRIO_OK;
}

static BrioStatus parse(BrioScan *scan, BrioDraft *draft)
{
    BRIO_CHECK(brio__scan_ascii(scan));
    scan->by_line = true;
    scan->stop = '/';
    int64_t total = count_vertices(*scan);
    while (brio__scan_next_line(scan)) {
        char word[8];
        BRIO_CHECK(brio__scan_word(scan, "a statement", word, sizeof word));
        if (!strcmp(word, "v")) {
            double point[3];
            BRIO_CHECK(brio__scan_point(scan, "a coordinate of vertex", draft->vertex_count + 1, point));
            BRIO_CHECK(brio__draft_vertex(draft, scan, point));
        } else if (!strcmp(word, "f")) {
            BRIO_CHECK(read_chain(scan, draft, 3, total));
        } else if (!strcmp(word, "l")) {
            BRIO_CHECK(read_chain(scan, draft, 2, total));
        }
        brio__scan_skip_line(scan);
    }
    return BRIO_OK;
}

static BrioStatus read_obj(const char *file, const char *text, size_t size, BrioMesh **mesh, BrioError *error)
{
    BrioScan scan;
    BrioDraft draft = {0};
    brio__scan_start(&scan, file, text, size, '#', error);
    BrioStatus status = parse(&scan, &draft);
    return brio__draft_finish(&draft, status, file, mesh, error);
}

const BrioMeshReader brio__reader_obj = {".obj", "Wavefront OBJ", read_obj};
