/* STL, ASCII and binary: triangles with their corners written out. Corners with equal coordinates
 * become one vertex (-0 and 0 are equal), in the order in which they first occur; triangles that
 * lose a corner by that are left out, with a warning. */
#include "readers.h"
#include "writers.h"

#include <string.h>

typedef struct Weld {
    BrioScan scan;
    BrioDraft draft;
    int32_t *slot; /* a hash table of vertices, -1: free; a power of two, at most half full */
    int64_t slots, collapsed;
} Weld;

static uint64_t hash_of(const double p[3])
{
    uint64_t bits[3], hash = 0;
    memcpy(bits, p, sizeof bits);
    for (int k = 0; k < 3; k++) {
        hash = (hash ^ bits[k]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

/* The place of a vertex with these coordinates, or the free one where it belongs. */
static int32_t *find(const Weld *w, const double p[3])
{
    for (uint64_t at = hash_of(p);; at++) {
        int32_t *slot = w->slot + (at & (uint64_t)(w->slots - 1));
        if (*slot < 0 || !memcmp(w->draft.x + 3 * (int64_t)*slot, p, 3 * sizeof *p)) return slot;
    }
}

static BrioStatus grow(Weld *w)
{
    int64_t slots = BRIO_MAX((int64_t)1024, 2 * w->slots);
    int32_t *slot = brio__alloc((size_t)slots, sizeof *slot);
    if (!slot)
        return brio__error_at(w->scan.error, BRIO_ERROR_MEMORY, w->scan.file, 0, 0, NULL,
                              "out of memory while reading the mesh");
    memset(slot, 0xff, (size_t)slots * sizeof *slot);
    brio__free(w->slot);
    w->slot = slot;
    w->slots = slots;
    for (int64_t v = 0; v < w->draft.vertex_count; v++) *find(w, w->draft.x + 3 * v) = (int32_t)v;
    return BRIO_OK;
}

static BrioStatus add_corner(Weld *w, double p[3], int32_t *vertex)
{
    for (int k = 0; k < 3; k++) p[k] += 0.0; /* -0 + 0 = 0 */
    if (2 * (w->draft.vertex_count + 1) > w->slots) BRIO_CHECK(grow(w));
    int32_t *slot = find(w, p);
    if (*slot < 0) {
        if (w->draft.vertex_count == INT32_MAX)
            return brio__scan_error(&w->scan, "there are too many vertices: at most %d", INT32_MAX);
        *slot = (int32_t)w->draft.vertex_count;
        BRIO_CHECK(brio__draft_vertex(&w->draft, &w->scan, p));
    }
    *vertex = *slot;
    return BRIO_OK;
}

static BrioStatus add_triangle(Weld *w, const int32_t v[3])
{
    if (v[0] != v[1] && v[1] != v[2] && v[2] != v[0])
        return brio__draft_element(&w->draft, &w->scan, 3, v);
    w->collapsed++;
    return BRIO_OK;
}

static BrioStatus parse_binary(Weld *w)
{
    enum { HEAD = 80, TRIANGLE = 50 };
    BrioScan *scan = &w->scan;
    int64_t count, size = scan->end - scan->start;
    scan->binary = true;
    scan->at = scan->token = scan->start;
    if (size < HEAD + 4)
        return brio__scan_error(scan,
                                "the file has %lld bytes: too few for a binary STL, and it does "
                                "not begin with \"solid\" as an ASCII one does",
                                (long long)size);
    scan->at += HEAD;
    BRIO_CHECK(brio__value_count(scan, BRIO_UINT32, "the number of triangles", TRIANGLE, &count));
    for (int64_t i = 1; i <= count; i++) {
        int32_t v[3];
        scan->at += 3 * 4; /* the normal, which the corners say too */
        for (int k = 0; k < 3; k++) {
            double p[3];
            BRIO_CHECK(brio__value_point(scan, BRIO_FLOAT32, "a coordinate of triangle", i, p));
            BRIO_CHECK(add_corner(w, p, v + k));
        }
        scan->at += 2;
        BRIO_CHECK(add_triangle(w, v));
    }
    return BRIO_OK;
}

static BrioStatus parse_facet(Weld *w, int64_t number)
{
    BrioScan *scan = &w->scan;
    int32_t v[3];
    BRIO_CHECK(brio__scan_expect(scan, "normal", true));
    /* any value: some programs write nan for triangles without area */
    for (int k = 0; k < 3; k++) {
        if (!brio__scan_more(scan))
            return brio__scan_expected(scan, "the normal of triangle", number);
        brio__scan_skip_value(scan);
    }
    BRIO_CHECK(brio__scan_expect(scan, "outer", true));
    BRIO_CHECK(brio__scan_expect(scan, "loop", true));
    for (int k = 0; k < 3; k++) {
        double p[3];
        BRIO_CHECK(brio__scan_expect(scan, "vertex", true));
        BRIO_CHECK(brio__scan_point(scan, "a coordinate of triangle", number, p));
        BRIO_CHECK(add_corner(w, p, v + k));
    }
    BRIO_CHECK(brio__scan_expect(scan, "endloop", true));
    BRIO_CHECK(brio__scan_expect(scan, "endfacet", true));
    return add_triangle(w, v);
}

static BrioStatus parse_ascii(Weld *w)
{
    BrioScan *scan = &w->scan;
    int64_t count = 0;
    BRIO_CHECK(brio__scan_ascii(scan));
    while (brio__scan_more(scan)) { /* several solids may follow each other */
        BRIO_CHECK(brio__scan_expect(scan, "solid", true));
        brio__scan_skip_line(scan);
        for (;;) {
            char word[16];
            brio__scan_more(scan);
            const char *start = scan->at;
            BRIO_CHECK(brio__scan_word(scan, "\"facet\" or \"endsolid\"", word, sizeof word));
            if (!strcasecmp(word, "endsolid")) break;
            if (strcasecmp(word, "facet")) {
                scan->at = start;
                return brio__scan_expected(scan, "\"facet\" or \"endsolid\"", 0);
            }
            BRIO_CHECK(parse_facet(w, ++count));
        }
        brio__scan_skip_line(scan);
    }
    return BRIO_OK;
}

/* Headers of binary files may begin with "solid" as well: their size tells, or a byte 0. */
static bool is_ascii(const char *text, size_t size)
{
    BrioScan scan;
    brio__scan_start(&scan, "", text, size, 0, NULL);
    if (!brio__scan_more(&scan) || scan.end - scan.at < 5 || strncasecmp(scan.at, "solid", 5))
        return false;
    if (size < 84) return true;
    if (84 + 50 * (uint64_t)brio__number_as_integer(text + 80, BRIO_UINT32, false) == size)
        return false;
    return !memchr(text, 0, BRIO_MIN(size, (size_t)512));
}

static BrioStatus read_stl(const char *file, const char *text, size_t size, BrioMesh **mesh,
                           BrioError *error)
{
    Weld w = {0};
    brio__scan_start(&w.scan, file, text, size, 0, error);
    BrioStatus status = is_ascii(text, size) ? parse_ascii(&w) : parse_binary(&w);
    brio__free(w.slot);
    if (status == BRIO_OK && w.collapsed)
        brio__log(BRIO_LOG_WARNING,
                  "%s: %lld triangles have two corners in the same place; they were left out", file,
                  (long long)w.collapsed);
    return brio__draft_finish(&w.draft, status, file, mesh, error);
}

const BrioMeshReader brio__reader_stl = {
    .extension = ".stl", .summary = "STL, ASCII and binary", .read = read_stl};

/* ---- writing ---------------------------------------------------------------------------- */

static void normal_of(const BrioMesh *mesh, const int32_t *v, double n[3])
{
    const double *a = mesh->x + 3 * (int64_t)v[0];
    const double *b = mesh->x + 3 * (int64_t)v[1];
    const double *c = mesh->x + 3 * (int64_t)v[2];
    double length = 0;
    for (int k = 0; k < 3; k++) {
        int s = (k + 1) % 3, t = (k + 2) % 3;
        n[k] = (b[s] - a[s]) * (c[t] - a[t]) - (b[t] - a[t]) * (c[s] - a[s]);
        length += n[k] * n[k];
    }
    for (int k = 0; k < 3; k++) n[k] = length > 0 ? n[k] / sqrt(length) : 0;
}

static void write_stl(const BrioMesh *mesh, bool ascii, FILE *file)
{
    if (ascii) {
        fputs("solid brio\n", file);
    } else {
        char head[80] = "binary STL written by brio";
        fwrite(head, 1, sizeof head, file);
        brio__put_int32(mesh->triangle_count, false, file);
    }
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        const int32_t *v = mesh->triangle + 3 * t;
        double n[3];
        normal_of(mesh, v, n);
        if (ascii) fprintf(file, "facet normal %.9g %.9g %.9g\nouter loop\n", n[0], n[1], n[2]);
        for (int k = 0; !ascii && k < 3; k++) brio__put_float(n[k], false, file);
        for (int i = 0; i < 3; i++) {
            const double *p = mesh->x + 3 * (int64_t)v[i];
            if (ascii) {
                fputs("vertex ", file);
                brio__put_point(p, file);
                fputc('\n', file);
            }
            for (int k = 0; !ascii && k < 3; k++) brio__put_float(p[k], false, file);
        }
        fputs(ascii ? "endloop\nendfacet\n" : "", file);
        if (!ascii) fwrite("\0", 1, 2, file);
    }
    if (ascii) fputs("endsolid brio\n", file);
}

const BrioMeshWriter brio__writer_stl = {.extension = ".stl",
                                         .triangles = true,
                                         .has_ascii = true,
                                         .has_binary = true,
                                         .single = true,
                                         .write = write_stl};
