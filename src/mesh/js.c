/* Meshes as packages of npm have them: `exports.positions = [[x, y, z], ...]` and
 * `exports.cells = [[a, b, c], ...]`, or the same two lists in a JSON file. Cells of two corners
 * are edges, of four tets; vertices are counted from 0. What else the file holds is passed over.
 *
 * The numbers are scanned in a copy of the text in which brackets and commas are blanks; the text
 * itself tells where lists end. */
#include "readers.h"

#include <string.h>

enum { MAX_CORNERS = 4 };

/* Closing brackets before the next value: 1 ends an item, 2 the list. */
static int closings(BrioScan *scan, const char *text)
{
    const char *from = scan->at;
    int count = 0;
    if (!brio__scan_more(scan)) scan->at = scan->end;
    for (const char *at = from; at < scan->at; at++) count += text[at - scan->start] == ']';
    return count;
}

/* Goes behind the word that ends in NAME, whatever stands before and after it on its way to the
 * list: exports.NAME=, "NAME": */
static BrioStatus find_list(BrioScan *scan, const char *name)
{
    size_t length = strlen(name);
    for (; brio__scan_more(scan); brio__scan_skip_value(scan)) {
        const char *end = scan->at;
        while (end < scan->end && !strchr(" \t\r\n", *end)) end++;
        for (const char *at = scan->at; at + length <= end; at++) {
            if (memcmp(at, name, length)) continue;
            brio__scan_skip_value(scan);
            while (brio__scan_more(scan) && (*scan->at == '=' || *scan->at == ':'))
                brio__scan_skip_value(scan);
            return BRIO_OK;
        }
    }
    return brio__scan_error(scan,
                            "there is no list \"%s\": expected exports.positions = [[x, y, z], "
                            "...] and exports.cells = [[a, b, c], ...]",
                            name);
}

static BrioStatus read_positions(BrioScan *scan, const char *text, BrioDraft *draft)
{
    for (int closed = 1; closed == 1;) {
        double point[3];
        int64_t number = draft->vertex_count + 1;
        for (int r = 0; r < 3; r++) {
            if (r && closed)
                return brio__scan_error(scan, "vertex no. %lld has %d coordinates, not three",
                                        (long long)number, r);
            BRIO_CHECK(brio__scan_real(scan, "a coordinate of vertex", number, &point[r]));
            closed = closings(scan, text);
        }
        if (!closed) return brio__scan_expected(scan, "the end of vertex", number);
        BRIO_CHECK(brio__draft_vertex(draft, scan, point));
    }
    return BRIO_OK;
}

static BrioStatus read_cells(BrioScan *scan, const char *text, BrioDraft *draft)
{
    int64_t number = 0;
    for (int closed = 1; closed == 1;) {
        int32_t vertex[MAX_CORNERS];
        int corners = 0;
        number++;
        for (closed = 0; !closed; corners++) {
            if (corners == MAX_CORNERS)
                return brio__scan_error(scan, "cell no. %lld has more than %d corners",
                                        (long long)number, MAX_CORNERS);
            BRIO_CHECK(brio__draft_index(scan, 0, draft->vertex_count, &vertex[corners]));
            closed = closings(scan, text);
        }
        if (corners < 2)
            return brio__scan_error(scan, "cell no. %lld has one corner only", (long long)number);
        BRIO_CHECK(brio__draft_element(draft, scan, corners, vertex));
    }
    return BRIO_OK;
}

static BrioStatus parse(BrioScan *scan, const char *text, BrioDraft *draft)
{
    BRIO_CHECK(brio__scan_ascii(scan));
    const BrioScan start = *scan;
    BRIO_CHECK(find_list(scan, "positions"));
    BRIO_CHECK(read_positions(scan, text, draft));
    BrioScan rest = *scan;
    rest.error = NULL;
    if (find_list(&rest, "cells") != BRIO_OK) *scan = start; /* JSON has no order */
    BRIO_CHECK(find_list(scan, "cells"));
    return read_cells(scan, text, draft);
}

static BrioStatus read_js(const char *file, const char *text, size_t size, BrioMesh **mesh,
                          BrioError *error)
{
    BrioScan scan;
    BrioDraft draft = {0};
    char *blank = brio__alloc(size + 1, 1);
    if (!blank)
        return brio__error_at(error, BRIO_ERROR_MEMORY, file, 0, 0, NULL,
                              "out of memory while reading the mesh");
    for (size_t i = 0; i < size; i++)
        blank[i] = strchr("[],;{}", text[i]) && text[i] ? ' ' : text[i];
    blank[size] = 0;
    brio__scan_start(&scan, file, blank, size, 0, error);
    BrioStatus status = parse(&scan, text, &draft);
    status = brio__draft_finish(&draft, status, file, mesh, error);
    brio__free(blank);
    return status;
}

const BrioMeshReader brio__reader_js = {
    .extension = ".js", .summary = "positions and cells of npm packages", .read = read_js};
const BrioMeshReader brio__reader_json = {
    .extension = ".json", .summary = "positions and cells, JSON", .read = read_js};
