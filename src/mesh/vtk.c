/* Legacy VTK files (VTK User's Guide, file formats), ASCII and binary (big-endian):
 * UNSTRUCTURED_GRID and POLYDATA. Cells are written in the legacy layout, each with its number of
 * vertices before it, or since version 5.0 as two arrays OFFSETS and CONNECTIVITY. What is said
 * about points and cells (POINT_DATA, CELL_DATA, FIELD, METADATA) is passed over. */
#include "readers.h"
#include "writers.h"

#include <string.h>

/* Cells of one section, whose types may come later. */
typedef struct Cells {
    int64_t count;
    int64_t *start; /* [count + 1]: the first vertex of each */
    int32_t *vertex;
    int64_t vertex_count;
} Cells;

typedef struct Reader {
    BrioScan scan;
    BrioDraft draft;
    Cells cells;
    bool has_points, new_cells; /* new_cells: OFFSETS and CONNECTIVITY */
    bool unstructured;
} Reader;

static BrioStatus no_memory(const BrioScan *scan)
{
    return brio__error_at(scan->error, BRIO_ERROR_MEMORY, scan->file, 0, 0, NULL,
                          "out of memory while reading the mesh");
}

static void free_cells(Cells *cells)
{
    brio__free(cells->start);
    brio__free(cells->vertex);
    *cells = (Cells){0};
}

/* Words of the format are the same in either case. */
static BrioStatus read_type(BrioScan *scan, BrioNumberType *type)
{
    static const struct {
        const char *name;
        BrioNumberType type;
    } types[] = {{"float", BRIO_FLOAT32},       {"double", BRIO_FLOAT64},
                 {"int", BRIO_INT32},           {"unsigned_int", BRIO_UINT32},
                 {"long", BRIO_INT64},          {"unsigned_long", BRIO_UINT64},
                 {"short", BRIO_INT16},         {"unsigned_short", BRIO_UINT16},
                 {"char", BRIO_INT8},           {"unsigned_char", BRIO_UINT8},
                 {"vtktypeint64", BRIO_INT64},  {"vtktypeint32", BRIO_INT32},
                 {"vtkidtype", BRIO_INT32},     {"vtktypeuint64", BRIO_UINT64},
                 {"vtktypeuint32", BRIO_UINT32}};
    char word[32], found[64];
    BRIO_CHECK(brio__scan_word(scan, "a type such as \"double\"", word, sizeof word));
    for (size_t i = 0; i < BRIO_COUNT(types); i++)
        if (!strcasecmp(word, types[i].name)) return *type = types[i].type, BRIO_OK;
    brio__scan_found(scan, found, sizeof found);
    return brio__scan_error(
        scan, "the type %s is not known; brio reads float, double, int, long and the like", found);
}

/* The bytes of an array begin after the end of the line that announces it. */
static void begin_data(BrioScan *scan)
{
    if (scan->binary) brio__scan_skip_line(scan);
}

static int64_t number_bytes(const BrioScan *scan, BrioNumberType type)
{
    return scan->binary ? brio__number_size(type) : 2;
}

static BrioStatus read_points(Reader *r)
{
    BrioScan *scan = &r->scan;
    int64_t count;
    BrioNumberType type = BRIO_FLOAT64;
    if (r->has_points) return brio__scan_error(scan, "a second section POINTS");
    r->has_points = true;
    BRIO_CHECK(brio__scan_count(scan, "the number of points", 3, &count));
    BRIO_CHECK(read_type(scan, &type));
    begin_data(scan);
    if (count > (scan->end - scan->at + 1) / (3 * number_bytes(scan, type)))
        return brio__scan_error(scan,
                                "%lld points of 3 numbers each are announced, but only %lld bytes "
                                "are left: the file is cut off, or the number is wrong",
                                (long long)count, (long long)(scan->end - scan->at));
    for (int64_t i = 1; i <= count; i++) {
        double point[3];
        BRIO_CHECK(brio__value_point(scan, type, "a coordinate of point", i, point));
        BRIO_CHECK(brio__draft_vertex(&r->draft, scan, point));
    }
    return BRIO_OK;
}

static BrioStatus make_cells(Reader *r, int64_t count, int64_t vertices)
{
    free_cells(&r->cells);
    r->cells = (Cells){.count = count,
                       .start = brio__alloc((size_t)count + 1, sizeof *r->cells.start),
                       .vertex = brio__alloc((size_t)vertices + 1, sizeof *r->cells.vertex)};
    if (!r->cells.start || !r->cells.vertex) return no_memory(&r->scan);
    r->cells.start[0] = 0;
    return BRIO_OK;
}

/* `count` cells in `numbers` numbers: of each the number of its vertices, then these. */
static BrioStatus read_old_cells(Reader *r, int64_t count, int64_t numbers)
{
    BrioScan *scan = &r->scan;
    Cells *cells = &r->cells;
    if (count > numbers)
        return brio__scan_error(scan, "%lld cells cannot stand in %lld numbers", (long long)count,
                                (long long)numbers);
    BRIO_CHECK(make_cells(r, count, numbers));
    scan->index = BRIO_INT32;
    for (int64_t c = 0; c < count; c++) {
        int64_t corners, room = numbers - count - cells->vertex_count;
        BRIO_CHECK(brio__value_integer(scan, BRIO_INT32, "the number of vertices of cell", c + 1,
                                       &corners));
        if (corners < 0 || corners > room)
            return brio__scan_error(
                scan,
                "cell no. %lld has %lld vertices, but only %lld numbers of this section are left",
                (long long)(c + 1), (long long)corners, (long long)room);
        for (int64_t k = 0; k < corners; k++)
            BRIO_CHECK(brio__draft_index(scan, 0, r->draft.vertex_count,
                                         cells->vertex + cells->vertex_count++));
        cells->start[c + 1] = cells->vertex_count;
    }
    return BRIO_OK;
}

static BrioStatus expect_array(BrioScan *scan, const char *name, BrioNumberType *type)
{
    char word[32], what[32];
    snprintf(what, sizeof what, "\"%s\"", name);
    if (!brio__scan_more(scan)) return brio__scan_expected(scan, what, 0);
    const char *start = scan->at;
    BRIO_CHECK(brio__scan_word(scan, what, word, sizeof word));
    if (strcasecmp(word, name)) {
        scan->at = start;
        return brio__scan_expected(scan, what, 0);
    }
    BRIO_CHECK(read_type(scan, type));
    if (brio__number_real(*type))
        return brio__scan_error(scan, "%s must be of a type of integers", name);
    begin_data(scan);
    return BRIO_OK;
}

/* `offsets` is one more than there are cells. */
static BrioStatus read_new_cells(Reader *r, int64_t offsets, int64_t vertices)
{
    BrioScan *scan = &r->scan;
    Cells *cells = &r->cells;
    BrioNumberType type = BRIO_INT64;
    BRIO_CHECK(expect_array(scan, "OFFSETS", &type));
    if (offsets > (scan->end - scan->at + 1) / number_bytes(scan, type))
        return brio__scan_error(scan,
                                "%lld offsets are announced, but the file is too short for them",
                                (long long)offsets);
    BRIO_CHECK(make_cells(r, offsets - 1, vertices));
    for (int64_t c = 0; c < offsets; c++) {
        int64_t at;
        BRIO_CHECK(brio__value_integer(scan, type, "an offset of cell", c + 1, &at));
        if (at < (c ? cells->start[c - 1] : 0) || at > vertices || (c == 0 && at != 0) ||
            (c == offsets - 1 && at != vertices))
            return brio__scan_error(scan,
                                    "the offset %lld is not in order: offsets rise from 0 to %lld, "
                                    "the number of vertices of all cells",
                                    (long long)at, (long long)vertices);
        cells->start[c] = at;
    }
    BRIO_CHECK(expect_array(scan, "CONNECTIVITY", &type));
    scan->index = type;
    for (int64_t k = 0; k < vertices; k++)
        BRIO_CHECK(brio__draft_index(scan, 0, r->draft.vertex_count, cells->vertex + k));
    cells->vertex_count = vertices;
    return BRIO_OK;
}

static BrioStatus read_cells(Reader *r)
{
    BrioScan *scan = &r->scan;
    int64_t count, numbers;
    if (!r->has_points)
        return brio__scan_error(scan, "the section POINTS must come before the cells");
    BRIO_CHECK(brio__scan_count(scan, "the number of cells", 2, &count));
    BRIO_CHECK(brio__scan_count(scan, "the number of values of the cells", 2, &numbers));
    if (!r->new_cells) {
        begin_data(scan);
        return read_old_cells(r, count, numbers);
    }
    if (count == 0) return make_cells(r, 0, 0);
    return read_new_cells(r, count, numbers);
}

/* All cells of the section that was read last are of one type (type >= 0), or the types follow. */
static BrioStatus take_cells(Reader *r, int64_t type)
{
    BrioScan *scan = &r->scan;
    const Cells *cells = &r->cells;
    for (int64_t c = 0; c < cells->count; c++) {
        int64_t corners = cells->start[c + 1] - cells->start[c], own = type;
        if (type < 0)
            BRIO_CHECK(brio__value_integer(scan, BRIO_INT32, "the type of cell", c + 1, &own));
        if (type == 7 && corners < 3) own = corners == 2 ? 3 : 1;
        BRIO_CHECK(
            brio__draft_cell(&r->draft, scan, own, corners, cells->vertex + cells->start[c]));
    }
    free_cells(&r->cells);
    return BRIO_OK;
}

static BrioStatus read_cell_types(Reader *r)
{
    BrioScan *scan = &r->scan;
    int64_t count;
    BRIO_CHECK(brio__scan_count(scan, "the number of cell types", 2, &count));
    begin_data(scan);
    if (count != r->cells.count)
        return brio__scan_error(
            scan,
            "%lld types for %lld cells: the section CELLS must come first and have the same "
            "number",
            (long long)count, (long long)r->cells.count);
    return take_cells(r, -1);
}

/* Five lines: "# vtk DataFile Version 3.0", a title, ASCII or BINARY, DATASET type. */
static BrioStatus read_head(Reader *r)
{
    BrioScan *scan = &r->scan;
    char word[32];
    double version;
    static const char mark[] = "# vtk DataFile Version ";
    if ((size_t)(scan->end - scan->at) < sizeof mark ||
        strncasecmp(scan->at, mark, sizeof mark - 1))
        return brio__scan_error(scan, "expected \"# vtk DataFile Version\" at the start of the "
                                      "file: this is not a legacy VTK file");
    scan->at += sizeof mark - 1;
    scan->by_line = true;
    BRIO_CHECK(brio__scan_real(scan, "the version of the format", 0, &version));
    if (version < 1 || version >= 6)
        return brio__scan_error(
            scan, "version %g of the legacy VTK format is not known; brio reads 1 to 5.1", version);
    r->new_cells = version >= 5;
    brio__scan_skip_line(scan);
    brio__scan_skip_line(scan); /* the title, or nothing */
    scan->by_line = false;
    BRIO_CHECK(brio__scan_word(scan, "ASCII or BINARY", word, sizeof word));
    scan->big_endian = true;
    if (!strcasecmp(word, "BINARY")) {
        scan->binary = true;
    } else if (strcasecmp(word, "ASCII")) {
        char found[64];
        brio__scan_found(scan, found, sizeof found);
        return brio__scan_error(scan, "expected ASCII or BINARY on the third line, found %s",
                                found);
    } else {
        BRIO_CHECK(brio__scan_ascii(scan));
    }
    return BRIO_OK;
}

static BrioStatus read_dataset(Reader *r)
{
    BrioScan *scan = &r->scan;
    char word[32], found[64];
    BRIO_CHECK(brio__scan_word(scan, "the kind of data set", word, sizeof word));
    r->unstructured = !strcasecmp(word, "UNSTRUCTURED_GRID");
    if (r->unstructured || !strcasecmp(word, "POLYDATA")) return BRIO_OK;
    brio__scan_found(scan, found, sizeof found);
    return brio__scan_error(scan, "a data set %s; brio reads UNSTRUCTURED_GRID and POLYDATA",
                            found);
}

/* Passes over METADATA, which ends with an empty line. */
static void skip_metadata(BrioScan *scan)
{
    brio__scan_skip_line(scan);
    while (scan->at < scan->end && *scan->at != '\n' && *scan->at != '\r')
        brio__scan_skip_line(scan);
}

/* A FIELD between the head and the points: its arrays say what we do not ask. */
static BrioStatus skip_field(Reader *r)
{
    BrioScan *scan = &r->scan;
    char word[32];
    int64_t arrays;
    BRIO_CHECK(brio__scan_word(scan, "the name of the field", word, sizeof word));
    BRIO_CHECK(brio__scan_count(scan, "the number of arrays", 4, &arrays));
    for (int64_t a = 0; a < arrays; a++) {
        int64_t components, tuples;
        BrioNumberType type = BRIO_FLOAT64;
        BRIO_CHECK(brio__scan_word(scan, "the name of an array", word, sizeof word));
        if (!strcmp(word, "METADATA")) {
            skip_metadata(scan);
            a--;
            continue;
        }
        BRIO_CHECK(brio__scan_count(scan, "the number of components", 1, &components));
        BRIO_CHECK(brio__scan_count(scan, "the number of tuples", 1, &tuples));
        BRIO_CHECK(read_type(scan, &type));
        begin_data(scan);
        int64_t left = scan->end - scan->at;
        if (components && tuples > left / components / (scan->binary ? brio__number_size(type) : 1))
            return brio__scan_error(
                scan, "an array of %lld times %lld numbers, but only %lld bytes are left",
                (long long)components, (long long)tuples, (long long)left);
        if (scan->binary) {
            scan->at += components * tuples * brio__number_size(type);
            continue;
        }
        for (int64_t k = 0; k < components * tuples; k++) {
            if (!brio__scan_more(scan)) return brio__scan_expected(scan, "a value of a field", 0);
            brio__scan_skip_value(scan);
        }
    }
    return BRIO_OK;
}

static BrioStatus parse(Reader *r)
{
    BrioScan *scan = &r->scan;
    char word[32];
    bool has_dataset = false;
    BRIO_CHECK(read_head(r));
    while (brio__scan_more(scan)) {
        const char *start = scan->at;
        BRIO_CHECK(brio__scan_word(scan, "a section", word, sizeof word));
        if (!strcasecmp(word, "DATASET")) {
            BRIO_CHECK(read_dataset(r));
            has_dataset = true;
        } else if (!strcasecmp(word, "FIELD")) {
            BRIO_CHECK(skip_field(r));
        } else if (!strcasecmp(word, "METADATA")) {
            skip_metadata(scan);
        } else if (!strcasecmp(word, "POINT_DATA") || !strcasecmp(word, "CELL_DATA")) {
            break;
        } else if (!has_dataset) {
            scan->at = start;
            return brio__scan_expected(scan, "\"DATASET\"", 0);
        } else if (!strcasecmp(word, "POINTS")) {
            BRIO_CHECK(read_points(r));
        } else if (r->unstructured && !strcasecmp(word, "CELLS")) {
            BRIO_CHECK(read_cells(r));
        } else if (r->unstructured && !strcasecmp(word, "CELL_TYPES")) {
            BRIO_CHECK(read_cell_types(r));
        } else if (!r->unstructured &&
                   (!strcasecmp(word, "VERTICES") || !strcasecmp(word, "LINES") ||
                    !strcasecmp(word, "POLYGONS") || !strcasecmp(word, "TRIANGLE_STRIPS"))) {
            static const struct {
                char letter;
                int type;
            } types[] = {{'V', 2}, {'L', 4}, {'P', 7}, {'T', 6}};
            int type = 2;
            for (size_t i = 0; i < BRIO_COUNT(types); i++)
                if ((word[0] & 0x5f) == types[i].letter) type = types[i].type;
            BRIO_CHECK(read_cells(r));
            BRIO_CHECK(take_cells(r, type));
        } else {
            scan->at = start;
            return brio__scan_expected(
                scan,
                r->unstructured ? "\"POINTS\", \"CELLS\" or \"CELL_TYPES\""
                                : "\"POINTS\", \"LINES\", \"POLYGONS\" or \"TRIANGLE_STRIPS\"",
                0);
        }
    }
    if (!r->has_points) return brio__scan_error(scan, "the file has no section POINTS");
    if (r->cells.count)
        return brio__scan_error(scan, "the file has no section CELL_TYPES: it is cut off");
    return BRIO_OK;
}

static BrioStatus read_vtk(const char *file, const char *text, size_t size, BrioMesh **mesh,
                           BrioError *error)
{
    Reader reader = {0};
    brio__scan_start(&reader.scan, file, text, size, 0, error);
    BrioStatus status = parse(&reader);
    free_cells(&reader.cells);
    return brio__draft_finish(&reader.draft, status, file, mesh, error);
}

const BrioMeshReader brio__reader_vtk = {
    .extension = ".vtk", .summary = "legacy VTK, ASCII and binary", .read = read_vtk};

/* ---- writing ---------------------------------------------------------------------------- */

static void write_vtk(const BrioMesh *mesh, bool ascii, FILE *file)
{
    BrioMeshGroup group[3];
    brio__mesh_groups(mesh, group);
    fprintf(file,
            "# vtk DataFile Version 3.0\nwritten by brio\n%s\nDATASET UNSTRUCTURED_GRID\nPOINTS "
            "%lld double\n",
            ascii ? "ASCII" : "BINARY", (long long)mesh->vertex_count);
    if (ascii) brio__put_points(mesh, "", "\n", file);
    for (int64_t i = 0; !ascii && i < 3 * mesh->vertex_count; i++)
        brio__put_double(mesh->x[i], true, file);
    fprintf(file, "\nCELLS %lld %lld\n", (long long)brio__mesh_cells(mesh),
            (long long)(brio__mesh_cells(mesh) + brio__mesh_corners(mesh)));
    for (int g = 0; g < 3; g++) {
        const char before[] = {(char)('0' + group[g].corners), ' ', 0};
        if (ascii)
            brio__put_elements(group[g].vertex, group[g].count, group[g].corners, 0, before, "\n",
                               file);
        for (int64_t e = 0; !ascii && e < group[g].count; e++) {
            brio__put_int32(group[g].corners, true, file);
            for (int k = 0; k < group[g].corners; k++)
                brio__put_int32(group[g].vertex[group[g].corners * e + k], true, file);
        }
    }
    fprintf(file, "\nCELL_TYPES %lld\n", (long long)brio__mesh_cells(mesh));
    for (int g = 0; g < 3; g++)
        for (int64_t e = 0; e < group[g].count; e++) {
            if (ascii)
                fprintf(file, "%d\n", group[g].vtk);
            else
                brio__put_int32(group[g].vtk, true, file);
        }
}

const BrioMeshWriter brio__writer_vtk = {.extension = ".vtk",
                                         .tets = true,
                                         .triangles = true,
                                         .edges = true,
                                         .has_ascii = true,
                                         .has_binary = true,
                                         .write = write_vtk};
