/* Gmsh MSH, ASCII and binary of both byte orders, versions 2.2 and 4.1, and ASCII of 4.0 (Gmsh
 * reference manual, "File formats"). Vertices stay in the order of the file; elements name them by
 * tags, which may have gaps and be of any size, so they are found by search. Lines, triangles and
 * tets are read, points only as members of groups, all other elements refused. */
#include "msh_groups.h"
#include "readers.h"
#include "writers.h"

#include <string.h>

typedef struct Tagged {
    int64_t tag;
    int32_t vertex;
} Tagged;

typedef struct Reader {
    BrioScan scan;
    BrioDraft draft;
    int64_t *tag; /* of each vertex, in the order of the file */
    int64_t tag_count, tag_room;
    Tagged *sorted; /* by tag */
    BrioMshGroups groups;
    bool has_nodes, has_elements, version4, binary;
    bool old4; /* version 4.0: entities come before dimensions, and every row has its tag */
} Reader;

/* What Gmsh calls the element types that brio cannot use. */
static const struct {
    int type;
    const char *name;
    bool higher_order;
} refused[] = {
    {3, "a quadrangle", false},
    {5, "a hexahedron", false},
    {6, "a prism", false},
    {7, "a pyramid", false},
    {8, "a line of 3 nodes", true},
    {9, "a triangle of 6 nodes", true},
    {10, "a quadrangle of 9 nodes", true},
    {11, "a tetrahedron of 10 nodes", true},
    {12, "a hexahedron of 27 nodes", true},
    {13, "a prism of 18 nodes", true},
    {14, "a pyramid of 14 nodes", true},
    {16, "a quadrangle of 8 nodes", true},
    {17, "a hexahedron of 20 nodes", true},
    {18, "a prism of 15 nodes", true},
    {19, "a pyramid of 13 nodes", true},
    {20, "a triangle of 9 nodes", true},
    {21, "a triangle of 10 nodes", true},
    {22, "a triangle of 12 nodes", true},
    {23, "a triangle of 15 nodes", true},
    {24, "a triangle of 15 nodes", true},
    {25, "a triangle of 21 nodes", true},
    {26, "a line of 4 nodes", true},
    {27, "a line of 5 nodes", true},
    {28, "a line of 6 nodes", true},
    {29, "a tetrahedron of 20 nodes", true},
    {30, "a tetrahedron of 35 nodes", true},
    {31, "a tetrahedron of 56 nodes", true},
    {32, "a tetrahedron of 22 nodes", true},
    {33, "a tetrahedron of 28 nodes", true},
    {71, "a tetrahedron of 84 nodes", true},
    {72, "a tetrahedron of 120 nodes", true},
    {73, "a tetrahedron of 165 nodes", true},
    {74, "a tetrahedron of 220 nodes", true},
    {75, "a tetrahedron of 286 nodes", true},
    {79, "a tetrahedron of 34 nodes", true},
    {80, "a tetrahedron of 40 nodes", true},
    {81, "a tetrahedron of 46 nodes", true},
    {82, "a tetrahedron of 52 nodes", true},
    {83, "a tetrahedron of 58 nodes", true},
    {92, "a hexahedron of 64 nodes", true},
};

/* The number of nodes of a type that is read (1 for points, which are not kept), or an error. */
static BrioStatus corners_of(const BrioScan *scan, int64_t type, int *corners)
{
    *corners = type == 1 ? 2 : type == 2 ? 3 : type == 4 ? 4 : type == 15 ? 1 : 0;
    if (*corners) return BRIO_OK;
    for (size_t i = 0; i < BRIO_COUNT(refused); i++) {
        if (refused[i].type != type) continue;
        if (refused[i].higher_order)
            return brio__scan_error(
                scan,
                "type %lld is %s, of second or higher order; brio simulates first-order "
                "elements: run gmsh with -order 1",
                (long long)type, refused[i].name);
        return brio__scan_error(
            scan,
            "type %lld is %s; brio simulates lines (1), triangles (2) and tetrahedra (4): "
            "mesh the model without recombination",
            (long long)type, refused[i].name);
    }
    return brio__scan_error(
        scan,
        "element type %lld is not known; brio reads lines (1), triangles (2) and tetrahedra (4)",
        (long long)type);
}

/* ---- nodes ------------------------------------------------------------------------------ */

static BrioStatus add_tag(Reader *reader, int64_t tag)
{
    if (tag < 1)
        return brio__scan_error(&reader->scan, "node tag %lld: tags are positive", (long long)tag);
    if (reader->tag_count == reader->tag_room) {
        int64_t room = BRIO_MAX((int64_t)256, 2 * reader->tag_room);
        int64_t *grown =
            brio__realloc(reader->tag, (size_t)reader->tag_count, (size_t)room, sizeof *grown);
        if (!grown)
            return brio__error_at(reader->scan.error, BRIO_ERROR_MEMORY, reader->scan.file,
                                  reader->scan.line, 0, NULL,
                                  "out of memory while reading the mesh");
        reader->tag = grown;
        reader->tag_room = room;
    }
    reader->tag[reader->tag_count++] = tag;
    return BRIO_OK;
}

static void sift_down(Tagged *heap, int64_t root, int64_t count)
{
    for (int64_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && heap[child + 1].tag > heap[child].tag) child++;
        if (heap[root].tag >= heap[child].tag) return;
        Tagged swap = heap[root];
        heap[root] = heap[child];
        heap[child] = swap;
    }
}

/* Sorted by heap: no extra memory, O(n log n) whatever the order. */
static BrioStatus sort_tags(Reader *reader)
{
    int64_t n = reader->tag_count;
    Tagged *sorted = brio__alloc((size_t)n + 1, sizeof *sorted);
    if (!sorted)
        return brio__error_at(reader->scan.error, BRIO_ERROR_MEMORY, reader->scan.file,
                              reader->scan.line, 0, NULL, "out of memory while reading the mesh");
    reader->sorted = sorted;
    bool ascending = true;
    for (int64_t i = 0; i < n; i++) {
        sorted[i] = (Tagged){reader->tag[i], (int32_t)i};
        ascending &= i == 0 || sorted[i].tag > sorted[i - 1].tag;
    }
    if (ascending) return BRIO_OK;
    for (int64_t i = n / 2 - 1; i >= 0; i--) sift_down(sorted, i, n);
    for (int64_t end = n - 1; end > 0; end--) {
        Tagged swap = sorted[0];
        sorted[0] = sorted[end];
        sorted[end] = swap;
        sift_down(sorted, 0, end);
    }
    for (int64_t i = 1; i < n; i++)
        if (sorted[i].tag == sorted[i - 1].tag)
            return brio__scan_error(
                &reader->scan, "two nodes have the tag %lld (the nodes no. %d and %d of the file)",
                (long long)sorted[i].tag, BRIO_MIN(sorted[i].vertex, sorted[i - 1].vertex) + 1,
                BRIO_MAX(sorted[i].vertex, sorted[i - 1].vertex) + 1);
    return BRIO_OK;
}

/* The bytes of a binary section begin on the next line. */
static void begin_data(Reader *reader)
{
    if (!reader->binary) return;
    brio__scan_skip_line(&reader->scan);
    reader->scan.binary = true;
}

static BrioStatus read_nodes2(Reader *reader)
{
    BrioScan *scan = &reader->scan;
    int64_t count, tag;
    BRIO_CHECK(brio__scan_count(scan, "the number of nodes", reader->binary ? 28 : 8, &count));
    begin_data(reader);
    for (int64_t i = 1; i <= count; i++) {
        double point[3];
        BRIO_CHECK(brio__value_integer(scan, BRIO_INT32, "the tag of node", i, &tag));
        BRIO_CHECK(add_tag(reader, tag));
        BRIO_CHECK(brio__value_point(scan, BRIO_FLOAT64, "a coordinate of node", i, point));
        BRIO_CHECK(brio__draft_vertex(&reader->draft, scan, point));
    }
    return BRIO_OK;
}

/* The four numbers that open a block of version 4: dimension, entity, whether it has parameters or
 * the type, count. */
static BrioStatus read_block(Reader *reader, const char *what, int64_t number, int64_t head[4])
{
    for (int k = 0; k < 4; k++)
        BRIO_CHECK(brio__value_integer(&reader->scan, k < 3 ? BRIO_INT32 : BRIO_UINT64, what,
                                       number, head + k));
    if (!reader->old4) return BRIO_OK;
    int64_t entity = head[0];
    head[0] = head[1];
    head[1] = entity;
    return BRIO_OK;
}

/* The blocks' counts, kept below the number that the section announced. */
static BrioStatus check_block_count(const BrioScan *scan, int64_t count, int64_t done,
                                    int64_t total, const char *name)
{
    if (count < 0 || count > total - done)
        return brio__scan_error(
            scan, "a block of %lld %s, but only %lld of the %lld announced are left",
            (long long)count, name, (long long)(total - done), (long long)total);
    return BRIO_OK;
}

static BrioStatus read_nodes4(Reader *reader)
{
    BrioScan *scan = &reader->scan;
    int64_t blocks, total, bound, tag, done = 0, head[4];
    begin_data(reader);
    BRIO_CHECK(brio__value_count(scan, BRIO_UINT64, "the number of node blocks", 8, &blocks));
    BRIO_CHECK(brio__value_count(scan, BRIO_UINT64, "the number of nodes", 8, &total));
    for (int k = 0; k < 2 && !reader->old4; k++)
        BRIO_CHECK(
            brio__value_integer(scan, BRIO_UINT64, "the smallest and largest node tag", 0, &bound));
    for (int64_t b = 1; b <= blocks; b++) {
        BRIO_CHECK(read_block(reader, "the head of node block", b, head));
        BRIO_CHECK(check_block_count(scan, head[3], done, total, "nodes"));
        if (head[0] < 0 || head[0] > 3)
            return brio__scan_error(scan, "a node block of dimension %lld: it must be 0 to 3",
                                    (long long)head[0]);
        for (int64_t i = 1; i <= head[3] && !reader->old4; i++) {
            BRIO_CHECK(brio__value_integer(scan, BRIO_UINT64, "the tag of node", done + i, &tag));
            BRIO_CHECK(add_tag(reader, tag));
        }
        for (int64_t i = 1; i <= head[3]; i++) {
            double point[3], parameter;
            if (reader->old4) {
                BRIO_CHECK(brio__scan_integer(scan, "the tag of node", done + i, &tag));
                BRIO_CHECK(add_tag(reader, tag));
            }
            BRIO_CHECK(
                brio__value_point(scan, BRIO_FLOAT64, "a coordinate of node", done + i, point));
            BRIO_CHECK(brio__draft_vertex(&reader->draft, scan, point));
            for (int64_t k = 0; head[2] != 0 && k < head[0]; k++)
                BRIO_CHECK(brio__value_real(scan, BRIO_FLOAT64, "a parameter of node", done + i,
                                            &parameter));
        }
        done += head[3];
    }
    if (done < total)
        return brio__scan_error(scan, "the blocks hold %lld nodes, but %lld were announced",
                                (long long)done, (long long)total);
    return BRIO_OK;
}

/* ---- elements --------------------------------------------------------------------------- */

static BrioStatus read_corner(Reader *reader, int32_t *vertex)
{
    int64_t tag;
    BRIO_CHECK(
        brio__value_integer(&reader->scan, reader->scan.index, "the tag of a node", 0, &tag));
    const Tagged *sorted = reader->sorted;
    int64_t low = 0, high = reader->tag_count; /* the place is in [low, high) */
    if (high > 0 && tag >= sorted[0].tag && tag - sorted[0].tag < high &&
        sorted[tag - sorted[0].tag].tag == tag) {
        *vertex = sorted[tag - sorted[0].tag].vertex; /* no gaps before it, as in most files */
        return BRIO_OK;
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (sorted[middle].tag <= tag)
            low = middle;
        else
            high = middle;
    }
    if (low >= reader->tag_count || sorted[low].tag != tag)
        return brio__scan_error(&reader->scan, "there is no node with the tag %lld",
                                (long long)tag);
    *vertex = sorted[low].vertex;
    return BRIO_OK;
}

/* An element of a physical group (version 2; 0: of none) or of an entity (version 4). */
static BrioStatus read_element(Reader *reader, int corners, int64_t group, int64_t dimension)
{
    int32_t vertices[4];
    BrioMshGroups *groups = &reader->groups;
    for (int i = 0; i < corners; i++) BRIO_CHECK(read_corner(reader, vertices + i));
    BrioStatus status = reader->version4
                            ? brio__msh_add_entity(groups, dimension, group, corners, vertices)
                            : brio__msh_add_physical(groups, dimension, group, corners, vertices);
    if (status != BRIO_OK) return brio__no_memory(reader->scan.error);
    return corners > 1 ? brio__draft_element(&reader->draft, &reader->scan, corners, vertices)
                       : BRIO_OK;
}

/* Binary elements come in runs of one type, whose head says it once. */
static BrioStatus read_runs2(Reader *reader, int64_t count)
{
    BrioScan *scan = &reader->scan;
    for (int64_t done = 0; done < count;) {
        int64_t type, run, tags, number, group = 0;
        int corners;
        BRIO_CHECK(brio__value_integer(scan, BRIO_INT32, "the type of element", done + 1, &type));
        BRIO_CHECK(corners_of(scan, type, &corners));
        BRIO_CHECK(
            brio__value_count(scan, BRIO_INT32, "the number of elements that follow", 4, &run));
        BRIO_CHECK(brio__value_count(scan, BRIO_INT32, "the number of tags", 4, &tags));
        if (run == 0 || run > count - done)
            return brio__scan_error(
                scan, "a run of %lld elements where %lld of the %lld announced are left",
                (long long)run, (long long)(count - done), (long long)count);
        for (int64_t i = 1; i <= run; i++) {
            /* and its number */
            for (int64_t k = 0; k <= tags; k++) {
                BRIO_CHECK(
                    brio__value_integer(scan, BRIO_INT32, "a tag of element", done + i, &number));
                if (k == 1) group = number;
            }
            BRIO_CHECK(read_element(reader, corners, group, corners - 1));
        }
        done += run;
    }
    return BRIO_OK;
}

static BrioStatus read_elements2(Reader *reader)
{
    BrioScan *scan = &reader->scan;
    int64_t count, number, type, tags, tag, group;
    BRIO_CHECK(brio__scan_count(scan, "the number of elements", 8, &count));
    begin_data(reader);
    if (reader->binary) return read_runs2(reader, count);
    for (int64_t i = 1; i <= count; i++) {
        int corners;
        BRIO_CHECK(brio__scan_integer(scan, "the number of element", i, &number));
        BRIO_CHECK(brio__scan_integer(scan, "the type of element", i, &type));
        BRIO_CHECK(corners_of(scan, type, &corners));
        BRIO_CHECK(brio__scan_count(scan, "the number of tags", 2, &tags));
        group = 0;
        for (int64_t k = 0; k < tags; k++) {
            BRIO_CHECK(brio__scan_integer(scan, "a tag of element", i, &tag));
            if (k == 0) group = tag;
        }
        BRIO_CHECK(read_element(reader, corners, group, corners - 1));
    }
    return BRIO_OK;
}

static BrioStatus read_elements4(Reader *reader)
{
    BrioScan *scan = &reader->scan;
    int64_t blocks, total, bound, tag, done = 0, head[4];
    begin_data(reader);
    BRIO_CHECK(brio__value_count(scan, BRIO_UINT64, "the number of element blocks", 8, &blocks));
    BRIO_CHECK(brio__value_count(scan, BRIO_UINT64, "the number of elements", 4, &total));
    for (int k = 0; k < 2 && !reader->old4; k++)
        BRIO_CHECK(brio__value_integer(scan, BRIO_UINT64, "the smallest and largest element tag", 0,
                                       &bound));
    for (int64_t b = 1; b <= blocks; b++) {
        int corners;
        BRIO_CHECK(read_block(reader, "the head of element block", b, head));
        BRIO_CHECK(check_block_count(scan, head[3], done, total, "elements"));
        if (head[3] == 0) continue;
        BRIO_CHECK(corners_of(scan, head[2], &corners));
        for (int64_t i = 1; i <= head[3]; i++) {
            BRIO_CHECK(
                brio__value_integer(scan, BRIO_UINT64, "the tag of element", done + i, &tag));
            BRIO_CHECK(read_element(reader, corners, head[1], corners - 1));
        }
        done += head[3];
    }
    if (done < total)
        return brio__scan_error(scan, "the blocks hold %lld elements, but %lld were announced",
                                (long long)done, (long long)total);
    return BRIO_OK;
}

/* ---- file ------------------------------------------------------------------------------- */

/* The number 1, by which a binary file tells its byte order. */
static BrioStatus read_byte_order(Reader *reader)
{
    BrioScan *scan = &reader->scan;
    int64_t one;
    begin_data(reader);
    BRIO_CHECK(
        brio__value_integer(scan, BRIO_INT32, "the number 1 that tells the byte order", 0, &one));
    scan->big_endian = one == 0x01000000;
    scan->index = reader->version4 ? BRIO_UINT64 : BRIO_INT32;
    if (one == 1 || scan->big_endian) return BRIO_OK;
    return brio__scan_error(scan,
                            "expected the number 1, which tells the byte order of a binary file, "
                            "found %lld: the file is damaged, or was edited as text",
                            (long long)one);
}

static BrioStatus read_format(Reader *reader)
{
    BrioScan *scan = &reader->scan;
    char version[16];
    int64_t type, size;
    if (brio__scan_more(scan) && scan->end - scan->at >= 4 && !strncmp(scan->at, "$NOD", 4))
        return brio__scan_error(
            scan, "this is version 1 of Gmsh's format; brio reads 2.2 and 4.1: convert it with "
                  "\"gmsh old.msh -save -format msh41 -o new.msh\"");
    BRIO_CHECK(brio__scan_expect(scan, "$MeshFormat", false));
    BRIO_CHECK(brio__scan_word(scan, "the version of the format", version, sizeof version));
    bool version2 = !strcmp(version, "2.2") || !strcmp(version, "2.1") || !strcmp(version, "2.0") ||
                    !strcmp(version, "2");
    reader->old4 = !strcmp(version, "4") || !strcmp(version, "4.0");
    reader->version4 = reader->old4 || !strcmp(version, "4.1");
    if (!version2 && !reader->version4) {
        char found[64];
        brio__scan_found(scan, found, sizeof found);
        return brio__scan_error(
            scan,
            "version %s of Gmsh's format is not read; brio reads 2.2 and 4.1: convert the file "
            "with \"gmsh old.msh -save -format msh41 -o new.msh\"",
            found);
    }
    BRIO_CHECK(brio__scan_integer(scan, "the file type (0: ASCII, 1: binary)", 0, &type));
    if (type != 0 && type != 1)
        return brio__scan_error(scan, "the file type is %lld; it is 0 (ASCII) or 1 (binary)",
                                (long long)type);
    BRIO_CHECK(brio__scan_integer(scan, "the size of a number", 0, &size));
    reader->binary = type == 1;
    if (reader->binary) {
        if (reader->old4)
            return brio__scan_error(
                scan, "this is a binary file of version 4.0; brio reads binary files of 2.2 and "
                      "4.1: convert it with \"gmsh old.msh -save -format msh41 -o new.msh\"");
        if (size != 8)
            return brio__scan_error(
                scan, "numbers of %lld bytes; brio reads binary files with numbers of 8",
                (long long)size);
        BRIO_CHECK(read_byte_order(reader));
    } else {
        BRIO_CHECK(brio__scan_ascii(scan));
    }
    return brio__scan_expect(scan, "$EndMeshFormat", false);
}

/* The end of a section that is passed over. In text it opens a line. Binary data of a section may
 * hold any byte and need not end with a newline (TetWild writes none), so that there the first
 * such word counts wherever it stands. NULL: there is none. */
static const char *find_end(BrioScan *scan, const char *end, bool binary)
{
    size_t length = strlen(end);
    if (binary) {
        const char *at = scan->at;
        while ((size_t)(scan->end - at) >= length) {
            at = memchr(at, '$', (size_t)(scan->end - at) - length + 1);
            if (!at || !memcmp(at, end, length)) return at;
            at++;
        }
        return NULL;
    }
    do brio__scan_skip_line(scan);
    while (scan->at < scan->end &&
           ((size_t)(scan->end - scan->at) < length || strncmp(scan->at, end, length)));
    return scan->at < scan->end ? scan->at : NULL;
}

/* Passes over a section up to and with its $End line. */
static BrioStatus skip_section(BrioScan *scan, const char *name, bool binary)
{
    BrioScan start = *scan;
    char end[80];
    snprintf(end, sizeof end, "$End%s", name + 1);
    const char *found = find_end(scan, end, binary);
    if (!found)
        return brio__scan_error(&start, "the section %.40s is not closed: there is no \"%.44s\"",
                                name, end);
    scan->at = found;
    brio__scan_skip_line(scan);
    return BRIO_OK;
}

/* Looks ahead at what a section that is passed over says of groups. */
static BrioStatus read_groups(Reader *reader, const char *name)
{
    BrioStatus status = BRIO_OK;
    if (!strcmp(name, "$PhysicalNames"))
        status = brio__msh_read_names(&reader->groups, reader->scan);
    if (!strcmp(name, "$Entities") && reader->version4)
        status =
            brio__msh_read_entities(&reader->groups, reader->scan, reader->binary, reader->old4);
    return status == BRIO_OK ? BRIO_OK : brio__no_memory(reader->scan.error);
}

static BrioStatus parse(Reader *reader)
{
    BrioScan *scan = &reader->scan;
    BRIO_CHECK(read_format(reader));
    while (brio__scan_more(scan)) {
        char name[64];
        if (*scan->at != '$') return brio__scan_expected(scan, "a section such as \"$Nodes\"", 0);
        BRIO_CHECK(brio__scan_word(scan, "a section", name, sizeof name));
        for (const char *c = name; *c; c++)
            if (*c < 0x21 || *c > 0x7e)
                return brio__scan_error(scan, "the name of this section is not readable text");
        if (!strcmp(name, "$Nodes")) {
            if (reader->has_nodes) return brio__scan_error(scan, "a second section $Nodes");
            reader->has_nodes = true;
            BRIO_CHECK(reader->version4 ? read_nodes4(reader) : read_nodes2(reader));
            BRIO_CHECK(brio__scan_expect(scan, "$EndNodes", false));
            BRIO_CHECK(sort_tags(reader));
        } else if (!strcmp(name, "$Elements")) {
            if (!reader->has_nodes)
                return brio__scan_error(scan, "the section $Nodes must come before $Elements");
            if (reader->has_elements) return brio__scan_error(scan, "a second section $Elements");
            reader->has_elements = true;
            BRIO_CHECK(reader->version4 ? read_elements4(reader) : read_elements2(reader));
            BRIO_CHECK(brio__scan_expect(scan, "$EndElements", false));
        } else {
            BRIO_CHECK(read_groups(reader, name));
            BRIO_CHECK(skip_section(scan, name, reader->binary));
        }
    }
    if (!reader->has_nodes) return brio__scan_error(scan, "the file has no section $Nodes");
    if (!reader->has_elements) return brio__scan_error(scan, "the file has no section $Elements");
    return BRIO_OK;
}

static BrioStatus read_msh(const char *file, const char *text, size_t size, BrioMesh **mesh,
                           BrioError *error)
{
    Reader reader = {0};
    brio__scan_start(&reader.scan, file, text, size, 0, error);
    BrioStatus status = parse(&reader);
    brio__free(reader.tag);
    brio__free(reader.sorted);
    status = brio__draft_finish(&reader.draft, status, file, mesh, error);
    if (status == BRIO_OK && brio__msh_finish_groups(&reader.groups, &(*mesh)->groups) != BRIO_OK) {
        brio_mesh_free(*mesh);
        *mesh = NULL;
        status = brio__no_memory(error);
    }
    brio__msh_free_groups(&reader.groups);
    return status;
}

const BrioMeshReader brio__reader_msh = {
    .extension = ".msh", .summary = "Gmsh 2.2 and 4.1, ASCII and binary", .read = read_msh};

/* ---- writing ---------------------------------------------------------------------------- */

static void write_nodes(const BrioMesh *mesh, bool ascii, bool big, FILE *file)
{
    int dimension = mesh->tet_count ? 3 : mesh->triangle_count ? 2 : 1;
    if (ascii) {
        fprintf(file, "1 %lld 1 %lld\n%d 1 0 %lld\n", (long long)mesh->vertex_count,
                (long long)mesh->vertex_count, dimension, (long long)mesh->vertex_count);
        for (int64_t v = 1; v <= mesh->vertex_count; v++) fprintf(file, "%lld\n", (long long)v);
        brio__put_points(mesh, "", "\n", file);
        return;
    }
    const int64_t head[] = {1, mesh->vertex_count, 1, mesh->vertex_count};
    for (int k = 0; k < 4; k++) brio__put_int64(head[k], big, file);
    brio__put_int32(dimension, big, file);
    brio__put_int32(1, big, file);
    brio__put_int32(0, big, file);
    brio__put_int64(mesh->vertex_count, big, file);
    for (int64_t v = 1; v <= mesh->vertex_count; v++) brio__put_int64(v, big, file);
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++) brio__put_double(mesh->x[i], big, file);
    fputc('\n', file);
}

/* The elements of one dimension, tagged on from `tag`. */
static void write_group(const BrioMeshGroup *group, int dimension, int64_t tag, bool ascii,
                        bool big, FILE *file)
{
    if (ascii) {
        fprintf(file, "%d 1 %d %lld\n", dimension, group->gmsh, (long long)group->count);
    } else {
        brio__put_int32(dimension, big, file);
        brio__put_int32(1, big, file);
        brio__put_int32(group->gmsh, big, file);
        brio__put_int64(group->count, big, file);
    }
    for (int64_t e = 0; e < group->count; e++) {
        const int32_t *v = group->vertex + group->corners * e;
        if (ascii) {
            fprintf(file, "%lld ", (long long)(tag + e));
            brio__put_elements(v, 1, group->corners, 1, "", "\n", file);
            continue;
        }
        brio__put_int64(tag + e, big, file);
        for (int k = 0; k < group->corners; k++) brio__put_int64((int64_t)v[k] + 1, big, file);
    }
}

/* Version 4.1; nodes belong to the entity of the highest dimension, elements to those of their
 * own. */
static void write_msh(const BrioMesh *mesh, bool ascii, FILE *file)
{
    const uint16_t one = 1;
    bool big = *(const unsigned char *)&one == 0;
    BrioMeshGroup group[3];
    int blocks = 0;
    int64_t cells = brio__mesh_cells(mesh), tag = 1;
    brio__mesh_groups(mesh, group);
    for (int g = 0; g < 3; g++) blocks += group[g].count > 0;
    fprintf(file, "$MeshFormat\n4.1 %d 8\n", !ascii);
    if (!ascii) {
        brio__put_int32(1, big, file);
        fputc('\n', file);
    }
    fputs("$EndMeshFormat\n$Nodes\n", file);
    write_nodes(mesh, ascii, big, file);
    fputs("$EndNodes\n$Elements\n", file);
    const int64_t head[] = {blocks, cells, 1, cells};
    for (int k = 0; k < 4; k++) {
        if (ascii)
            fprintf(file, "%lld%c", (long long)head[k], k < 3 ? ' ' : '\n');
        else
            brio__put_int64(head[k], big, file);
    }
    for (int g = 0; g < 3; g++) {
        if (group[g].count) write_group(&group[g], g + 1, tag, ascii, big, file);
        tag += group[g].count;
    }
    fputs(ascii ? "$EndElements\n" : "\n$EndElements\n", file);
}

const BrioMeshWriter brio__writer_msh = {.extension = ".msh",
                                         .tets = true,
                                         .triangles = true,
                                         .edges = true,
                                         .has_ascii = true,
                                         .has_binary = true,
                                         .write = write_msh};
