/* Medit .mesh, ASCII, versions 1 to 4: keywords, each followed by a count and rows that end with a
 * reference number. Vertices, Edges, Triangles and Tetrahedra are read; sections that say nothing
 * about the shape (Corners, Normals, ...) are passed over. */
#include "readers.h"
#include "writers.h"

#include <string.h>

/* Sections of elements that brio has none of: leaving them out would change the body. Those of
 * higher order end with P or Q and a digit: TetrahedraP2, HexahedraQ2. */
static bool is_refused(const char *word)
{
    static const char *const names[] = {"Edges",     "Triangles", "Tetrahedra", "Quadrilaterals",
                                        "Hexahedra", "Prisms",    "Pyramids"};
    for (size_t i = 0; i < BRIO_COUNT(names); i++) {
        size_t length = strlen(names[i]);
        if (strncmp(word, names[i], length)) continue;
        const char *rest = word + length;
        if (!*rest) return true; /* those that are read are not asked about */
        if ((rest[0] == 'P' || rest[0] == 'Q') && rest[1] >= '2' && rest[1] <= '9' && !rest[2])
            return true;
    }
    return false;
}

static BrioStatus read_vertices(BrioScan *scan, BrioDraft *draft)
{
    int64_t count, reference;
    if (draft->vertex_count > 0) return brio__scan_error(scan, "a second section \"Vertices\"");
    BRIO_CHECK(brio__scan_count(scan, "the number of vertices", 8, &count));
    for (int64_t i = 1; i <= count; i++) {
        double point[3];
        BRIO_CHECK(brio__scan_point(scan, "a coordinate of vertex", i, point));
        BRIO_CHECK(brio__draft_vertex(draft, scan, point));
        BRIO_CHECK(brio__scan_integer(scan, "the reference of vertex", i, &reference));
    }
    return BRIO_OK;
}

static BrioStatus read_elements(BrioScan *scan, BrioDraft *draft, int corners)
{
    static const char *const count_name[] = {NULL, NULL, "the number of edges",
                                             "the number of triangles", "the number of tetrahedra"};
    static const char *const reference_name[] = {NULL, NULL, "the reference of edge",
                                                 "the reference of triangle",
                                                 "the reference of tetrahedron"};
    int64_t count, reference;
    BRIO_CHECK(brio__scan_count(scan, count_name[corners], 2 * (corners + 1), &count));
    for (int64_t i = 1; i <= count; i++) {
        BRIO_CHECK(brio__draft_read_element(draft, scan, corners, 1));
        BRIO_CHECK(brio__scan_integer(scan, reference_name[corners], i, &reference));
    }
    return BRIO_OK;
}

static BrioStatus read_section(BrioScan *scan, BrioDraft *draft, const char *word)
{
    int64_t value;
    if (!strcmp(word, "Dimension")) {
        BRIO_CHECK(brio__scan_integer(scan, "the dimension", 0, &value));
        if (value != 3)
            return brio__scan_error(scan,
                                    "the dimension is %lld; brio reads three-dimensional meshes",
                                    (long long)value);
        return BRIO_OK;
    }
    if (!strcmp(word, "Vertices")) return read_vertices(scan, draft);
    if (!strcmp(word, "Edges")) return read_elements(scan, draft, 2);
    if (!strcmp(word, "Triangles")) return read_elements(scan, draft, 3);
    if (!strcmp(word, "Tetrahedra")) return read_elements(scan, draft, 4);
    if (is_refused(word)) {
        BRIO_CHECK(brio__scan_integer(scan, "the number of elements", 0, &value));
        if (value == 0) return BRIO_OK;
        return brio__scan_error(
            scan,
            "the file has %s, which brio does not simulate; save the mesh with first-order "
            "tetrahedra and triangles",
            word);
    }
    while (brio__scan_more(scan)) { /* a section that is passed over ends at the next keyword */
        char c = *scan->at;
        if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) break;
        brio__scan_skip_value(scan);
    }
    return BRIO_OK;
}

static BrioStatus parse(BrioScan *scan, BrioDraft *draft)
{
    char word[32];
    int64_t version;
    BRIO_CHECK(brio__scan_ascii(scan));
    BRIO_CHECK(brio__scan_word(scan, "\"MeshVersionFormatted\" at the start of the file", word,
                               sizeof word));
    if (strcmp(word, "MeshVersionFormatted")) {
        char found[64];
        brio__scan_found(scan, found, sizeof found);
        return brio__scan_error(
            scan, "expected \"MeshVersionFormatted\" at the start of the file, found %s", found);
    }
    BRIO_CHECK(brio__scan_integer(scan, "the version of the format", 0, &version));
    if (version < 1 || version > 4)
        return brio__scan_error(scan,
                                "version %lld of the Medit format is not known; brio reads 1 to 4",
                                (long long)version);
    while (brio__scan_more(scan)) {
        char first = *scan->at;
        if (!((first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z')))
            return brio__scan_expected(scan, "a keyword such as \"Vertices\" or \"Tetrahedra\"", 0);
        BRIO_CHECK(brio__scan_word(scan, "a keyword", word, sizeof word));
        if (!strcmp(word, "End")) break;
        BRIO_CHECK(read_section(scan, draft, word));
    }
    return BRIO_OK;
}

static BrioStatus read_medit(const char *file, const char *text, size_t size, BrioMesh **mesh,
                             BrioError *error)
{
    BrioScan scan;
    BrioDraft draft = {0};
    brio__scan_start(&scan, file, text, size, '#', error);
    BrioStatus status = parse(&scan, &draft);
    return brio__draft_finish(&draft, status, file, mesh, error);
}

const BrioMeshReader brio__reader_medit = {
    .extension = ".mesh", .summary = "Medit, ASCII", .read = read_medit};

/* ---- writing ---------------------------------------------------------------------------- */

static void write_medit(const BrioMesh *mesh, bool ascii, FILE *file)
{
    (void)ascii;
    static const char *const name[3] = {"Edges", "Triangles", "Tetrahedra"};
    BrioMeshGroup group[3];
    brio__mesh_groups(mesh, group);
    fprintf(file, "MeshVersionFormatted 2\nDimension 3\nVertices\n%lld\n",
            (long long)mesh->vertex_count);
    brio__put_points(mesh, "", " 0\n", file);
    for (int g = 0; g < 3; g++) {
        if (!group[g].count) continue;
        fprintf(file, "%s\n%lld\n", name[g], (long long)group[g].count);
        brio__put_elements(group[g].vertex, group[g].count, group[g].corners, 1, "", " 0\n", file);
    }
    fputs("End\n", file);
}

const BrioMeshWriter brio__writer_medit = {.extension = ".mesh",
                                           .tets = true,
                                           .triangles = true,
                                           .edges = true,
                                           .has_ascii = true,
                                           .write = write_medit};
