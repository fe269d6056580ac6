/* Mesh formats: what each reader makes of its file, what it says of a broken one, and every format
 * written and read again. */
#include "memory.h"
#include "mesh_seeds.h"

#include "mesh/measure.h"
#include "mesh/readers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <strings.h>

#include <cmocka.h>

static void parse(const char *file, const char *text, size_t size, BrioMesh **mesh)
{
    BrioError error = {0};
    char sentence[2048];
    /* of just that size, so that the address sanitizer sees a byte read too far */
    char *copy = malloc(size);
    memcpy(copy, text, size);
    BrioStatus status = brio__mesh_parse(file, copy, size, mesh, &error);
    free(copy);
    if (status == BRIO_OK) return;
    brio_error_text(&error, sentence, sizeof sentence);
    fail_msg("%s", sentence);
}

static void parse_text(const char *file, const char *text, BrioMesh **mesh)
{
    parse(file, text, strlen(text), mesh);
}

static void assert_elements(const BrioMesh *mesh, int64_t vertices, int64_t tets, int64_t triangles,
                            int64_t edges)
{
    assert_int_equal(mesh->vertex_count, vertices);
    assert_int_equal(mesh->tet_count, tets);
    assert_int_equal(mesh->triangle_count, triangles);
    assert_int_equal(mesh->edge_count, edges);
}

static void assert_indices(const int32_t *found, int count, const int32_t *expected)
{
    for (int i = 0; i < count; i++)
        if (found[i] != expected[i]) fail_msg("index %d is %d, not %d", i, found[i], expected[i]);
}

/* ---- what is right ---------------------------------------------------------------------- */

static void test_ply(void **state)
{
    (void)state;
    BrioMesh *mesh;
    parse_text(
        "a.ply",
        "ply\nformat ascii 1.0\ncomment by hand\nobj_info x\nelement vertex 5\nproperty float "
        "x\nproperty float y\nproperty uchar red\nproperty double z\n"
        "element face 2\nproperty uchar flags\nproperty list uchar int vertex_indices\nelement "
        "edge 1\nproperty int vertex2\nproperty int vertex1\nend_header\n"
        "0 0 255 0\n1 0 0 0\n1 1 0 0\n0 1 0 0.25\n-0.5 .5 7 1e-3\n0 5 0 1 2 3 4\n1 3 2 1 0\n3 1\n",
        &mesh);
    assert_elements(mesh, 5, 0, 4, 1);
    assert_indices(mesh->triangle, 12, (int32_t[]){0, 1, 2, 0, 2, 3, 0, 3, 4, 2, 1, 0});
    assert_indices(mesh->edge, 2, (int32_t[]){1, 3});
    assert_true(mesh->x[11] == 0.25 && mesh->x[12] == -0.5 && mesh->x[14] == 1e-3);
    brio_mesh_free(mesh);
    for (int big = 0; big < 2; big++) {
        Bytes bytes = {.size = 0};
        make_ply(&bytes, big);
        parse("b.ply", bytes.data, bytes.size, &mesh);
        assert_elements(mesh, 4, 0, 2, 1);
        assert_indices(mesh->triangle, 6, (int32_t[]){0, 1, 2, 0, 2, 3});
        assert_indices(mesh->edge, 2, (int32_t[]){0, 2});
        assert_memory_equal(mesh->x, ((double[]){0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0}),
                            12 * sizeof(double));
        brio_mesh_free(mesh);
    }
}

static char last_log[512];

static void keep_log(void *user, BrioLogLevel level, const char *message)
{
    (void)user;
    if (level >= BRIO_LOG_WARNING) snprintf(last_log, sizeof last_log, "%s", message);
}

static void test_stl(void **state)
{
    (void)state;
    BrioMesh *mesh;
    const char *square = "solid  two triangles\n facet normal 0 0 1\n outer loop\n vertex 0 0 0\n "
                         "vertex 1 0 0\n vertex 0 1 0\n endloop\n endfacet\n"
                         "facet normal nan nan nan\nouter loop\nvertex 1 0 0\nvertex 1 1 0\nvertex "
                         "-0 1 0\nendloop\nendfacet\n"
                         "facet normal 0 0 1\nouter loop\nvertex 1 0 0\nvertex 1 0 0\nvertex 5 5 "
                         "5\nendloop\nendfacet\nendsolid\n";
    brio_set_log(keep_log, NULL);
    parse_text("a.stl", square, &mesh);
    brio_set_log(NULL, NULL);
    assert_string_equal(
        last_log, "a.stl: 1 triangles have two corners in the same place; they were left out");
    assert_elements(mesh, 5, 0, 2, 0); /* the vertex of the triangle that was left out stays */
    assert_indices(mesh->triangle, 6, (int32_t[]){0, 1, 2, 1, 3, 2});
    brio_mesh_free(mesh);
    Bytes bytes = {.size = 80}; /* a head of zeros, and one that begins like text */
    for (int solid = 0; solid < 2; solid++) {
        bytes.size = 80;
        memcpy(bytes.data, solid ? "solid binary" : "\0\0\0\0\0\0\0\0\0\0\0\0", 12);
        add_unsigned(&bytes, 2, 4, false);
        for (int t = 0; t < 2; t++) {
            static const int corner[2][3] = {{0, 1, 2}, {1, 3, 2}};
            for (int k = 0; k < 3; k++) add_float(&bytes, NAN, false);
            for (int i = 0; i < 3; i++) {
                int c = corner[t][i];
                add_float(&bytes, c & 1, false);
                add_float(&bytes, c >> 1, false);
                add_float(&bytes, i == 2 ? -0.0 : 0.0, false);
            }
            add_unsigned(&bytes, 0xffff, 2, false);
        }
        parse("b.stl", bytes.data, bytes.size, &mesh);
        assert_elements(mesh, 4, 0, 2, 0);
        assert_indices(mesh->triangle, 6, (int32_t[]){0, 1, 2, 1, 3, 2});
        brio_mesh_free(mesh);
    }
}

static void test_vtk(void **state)
{
    (void)state;
    BrioMesh *mesh;
    parse_text("a.vtk",
               "# vtk DataFile Version 3.0\ncells of all sorts\nASCII\nDATASET "
               "UNSTRUCTURED_GRID\nPOINTS 6 float\n0 0 0 1 0 0\n0 1 0 1 1 0 0 0 1\n1 1 1\n"
               "CELLS 8 33\n4 0 1 2 4\n3 0 1 2\n4 0 1 3 2\n4 0 1 2 3\n2 0 5\n3 0 1 5\n1 3\n4 0 1 2 "
               "3\nCELL_TYPES 8\n10 5 9 8 3 4 1 6\nCELL_DATA 8\nwhatever\n",
               &mesh);
    assert_elements(mesh, 6, 1, 7, 3);
    assert_indices(mesh->tet, 4, (int32_t[]){0, 1, 2, 4});
    assert_indices(mesh->triangle, 21,
                   (int32_t[]){0, 1, 2, 0, 1, 3, 0, 3, 2, 0, 1, 3, 0, 3, 2, 0, 1, 2, 2, 1, 3});
    assert_indices(mesh->edge, 6, (int32_t[]){0, 5, 0, 1, 1, 5});
    brio_mesh_free(mesh);
    /* 5.0 has the cells of 5.1 */
    parse_text(
        "b.vtk",
        "# vtk DataFile Version 5.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 3 float\n0 0 0 1 0 0 "
        "0 1 0\nPOLYGONS 2 3\nOFFSETS vtktypeint64\n0 3\nCONNECTIVITY vtktypeint64\n0 2 1\n",
        &mesh);
    assert_elements(mesh, 3, 0, 1, 0);
    assert_indices(mesh->triangle, 3, (int32_t[]){0, 2, 1});
    brio_mesh_free(mesh);
}

static void test_binary_msh(void **state)
{
    (void)state; /* bytes as the manual has them, both orders, against our own writer's result */
    for (int form = 0; form < 4; form++) {
        BrioMesh *mesh;
        Bytes bytes = {.size = 0};
        (form & 2 ? make_msh4 : make_msh2)(&bytes, form & 1);
        parse("a.msh", bytes.data, bytes.size, &mesh);
        assert_elements(mesh, 5, 2, 0, 0);
        assert_memory_equal(mesh->x, seed_x, sizeof seed_x);
        assert_indices(mesh->tet, 8, seed_tets);
        /* the physical group of both tets: by the element in version 2, by the entity in 4 */
        assert_non_null(mesh->groups);
        assert_int_equal(mesh->groups->count, 1);
        assert_string_equal(mesh->groups->name[0], "body");
        assert_int_equal(mesh->groups->start[1], 5);
        assert_indices(mesh->groups->vertex, 5, (int32_t[]){0, 1, 2, 3, 4});
        brio_mesh_free(mesh);
    }
}

/* TetWild closes a section of binary data without a newline before $End; a dollar in the data is no
 * end. */
static void test_tetwild_msh(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++) {
        BrioMesh *mesh;
        BrioError error = {0};
        Bytes bytes = {.size = 0};
        make_msh2(&bytes, form & 1);
        const char head[] = "$ElementData\n1\n\"quality\"\n1\n0.0\n3\n0\n1\n2\n";
        const char data[] = "\001\000\n$End$EndElementDat\000\377$$\n$EndElementDatum";
        const char *tail = form & 2 ? "" : "$EndElementData";
        memcpy(bytes.data + bytes.size, head, sizeof head - 1);
        bytes.size += sizeof head - 1;
        memcpy(bytes.data + bytes.size, data, sizeof data - 1);
        bytes.size += sizeof data - 1;
        memcpy(bytes.data + bytes.size, tail, strlen(tail));
        bytes.size += strlen(tail);
        BrioStatus status =
            brio__mesh_parse("a.msh", (const char *)bytes.data, bytes.size, &mesh, &error);
        if (form & 2) {
            assert_int_equal(status, BRIO_ERROR_INPUT);
            assert_non_null(strstr(error.message, "the section $ElementData is not closed: there "
                                                  "is no \"$EndElementData\""));
            assert_non_null(strstr(error.message, "at byte "));
            continue;
        }
        if (status != BRIO_OK) fail_msg("%s", error.message);
        assert_elements(mesh, 5, 2, 0, 0);
        assert_memory_equal(mesh->x, seed_x, sizeof seed_x);
        assert_indices(mesh->tet, 8, seed_tets);
        brio_mesh_free(mesh);
    }
}

static void test_vtu(void **state)
{
    (void)state;
    BrioMesh *mesh;
    for (int packing = 0; packing < 3; packing++)
        for (int form = 0; form < 8; form++) {
            Bytes bytes = {.size = 0};
            make_vtu(&bytes, (Packing)packing, form & 1, form & 2, form & 4);
            parse("a.vtu", bytes.data, bytes.size, &mesh);
            assert_elements(mesh, 5, 2, 0, 0);
            assert_memory_equal(mesh->x, seed_x, sizeof seed_x);
            assert_indices(mesh->tet, 8, seed_tets);
            brio_mesh_free(mesh);
        }
    parse_text("b.vtu",
               "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece NumberOfPoints=\"3\" "
               "NumberOfCells=\"1\"><Points><DataArray type=\"Float32\" NumberOfComponents=\"3\" "
               "format=\"ascii\">\n"
               "0 0 0 1 0 0 0 1 0</DataArray></Points><Cells><DataArray type=\"Int32\" "
               "Name=\"types\" format=\"ascii\">5</DataArray><DataArray type=\"Int32\" "
               "Name=\"connectivity\" format=\"ascii\">0 1 2"
               "</DataArray><DataArray type=\"Int32\" Name=\"offsets\" "
               "format=\"ascii\">3</DataArray></Cells></Piece>\n"
               "<Piece NumberOfPoints=\"3\" NumberOfCells=\"1\"><Points><DataArray "
               "type=\"Float64\" format=\"ascii\">1 0 0 1 1 0 0 1 0</DataArray></Points><Cells>"
               "<DataArray type=\"Int64\" Name=\"connectivity\">0 1 2</DataArray><DataArray "
               "type=\"Int64\" Name=\"offsets\">3</DataArray><DataArray type=\"UInt8\" "
               "Name=\"types\">5</DataArray></Cells></Piece>"
               "</UnstructuredGrid></VTKFile>",
               &mesh);
    assert_elements(mesh, 6, 0, 2, 0);
    assert_indices(mesh->triangle, 6, (int32_t[]){0, 1, 2, 3, 4, 5});
    brio_mesh_free(mesh);
}

static void test_js(void **state)
{
    (void)state;
    BrioMesh *mesh;
    parse_text("a.js",
               "exports.positions=[[0,0,0],[1,0,-1.5e-1],[0,1,0],[0,0,1]];\nexports.cells=[[0,1,2],"
               "[0,3,1],[0,1]]",
               &mesh);
    assert_elements(mesh, 4, 0, 2, 1);
    assert_indices(mesh->triangle, 6, (int32_t[]){0, 1, 2, 0, 3, 1});
    assert_true(mesh->x[5] == -0.15);
    brio_mesh_free(mesh);
    parse_text("b.json",
               "{ \"name\": \"tet\",\n \"positions\" : [ [0, 0, 0],\n [1, 0, 0], [0, 1, 0], [0, 0, "
               "1] ],\n \"cells\": [ [0, 1, 2, 3] ] }\n",
               &mesh);
    assert_elements(mesh, 4, 1, 0, 0);
    brio_mesh_free(mesh);
    parse_text("c.json",
               "{\"cells\": [[0, 1, 2]],\n \"positions\": [[0, 0, 0], [1, 0, 0], [0, 1, 0]]}",
               &mesh);
    assert_elements(mesh, 3, 0, 1, 0);
    brio_mesh_free(mesh);
}

/* ---- what is wrong ---------------------------------------------------------------------- */

#define PLY                                                                                        \
    "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float " \
    "z\n" /* lines 1 to 6 */
#define VTK "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\n"
#define VTK3 VTK "POINTS 3 double\n0 0 0 1 0 0 0 1 0\n" /* lines 1 to 6 */
#define VTU "<VTKFile type=\"UnstructuredGrid\">\n"
#define VTU3                                                                      \
    VTU "<Piece NumberOfPoints=\"3\" NumberOfCells=\"1\">\n<Points>\n<DataArray " \
        "type=\"Float64\">\n0 0 0 1 0 0 0 1 0\n</DataArray></Points><Cells>\n"

static const struct Wrong {
    const char *file, *text;
    int line, column;
    const char *message;
} wrong[] = {
    {"a.ply", "plx\n", 1, 1, "expected \"ply\" at the start of the file, found \"plx\""},
    {"a.ply", "ply\nformat ascii 1.0\n", 3, 1,
     "expected \"end_header\", found the end of the file"},
    {"a.ply", "ply\nformat binary 1.0\n", 2, 8,
     "expected ascii, binary_little_endian or binary_big_endian, found \"binary\""},
    {"a.ply", "ply\nelement vertex 1\nproperty float x\nend_header\n", 4, 1,
     "the header has no line \"format\", such as \"format ascii 1.0\""},
    {"a.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nend_header\n", 5, 1,
     "the element \"vertex\" needs the properties x, y and z"},
    {"a.ply", "ply\nproperty float x\n", 2, 1, "a property before any element"},
    {"a.ply", PLY "property real w\n", 7, 10,
     "expected a type, one of char, uchar, short, ushort, int, uint, float and double, found "
     "\"real\""},
    {"a.ply", PLY "property list float int a\n", 7, 15,
     "the length of a list is of a type with a fraction; it must be an integer"},
    {"a.ply", PLY "property float x\n", 7, 16, "the property \"x\" occurs twice"},
    {"a.ply", PLY "element face 1\nproperty list uchar float vertex_indices\n", 8, 21,
     "numbers of vertices must be of a type of integers, such as \"int\""},
    {"a.ply", PLY "elements face 1\n", 7, 1,
     "expected \"element\", \"property\" or \"end_header\", found \"elements\""},
    {"a.ply",
     PLY "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 "
         "0\n3 0 1 3\n",
     13, 7, "there is no vertex 3: the vertices are numbered 0 to 2"},
    {"a.ply",
     PLY "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 "
         "0\n3 0 1 1\n",
     13, 7, "this triangle names the same vertex twice; remove the triangle"},
    {"a.ply", PLY "end_header\n0 0 0\n1 0 x\n0 0 0\n", 9, 5,
     "expected a coordinate of vertex no. 2, found \"x\""},
    {"a.ply", "ply\nformat ascii 1.0\nelement vertex 3000000\n", 3, 16,
     "the number of elements is 3000000, but only 1 bytes of the file are left, too few for so "
     "many: the file is cut off, or the number is wrong"},
    {"a.ply",
     "ply\nformat binary_little_endian 1.0\nelement vertex 30\nproperty double x\nproperty double "
     "y\nproperty double z\nend_header\n12345678",
     0, 0,
     "at byte 119: the header announces 30 of \"vertex\", but only 8 bytes are left, too few for "
     "so many: the file is cut off, or the number is wrong"},
    {"a.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0\nendloop\n", 5, 1,
     "expected a coordinate of triangle no. 1, found \"endloop\""},
    {"a.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop\n", 6, 1,
     "expected \"vertex\", found \"endloop\""},
    {"a.stl", "solid\ntriangle\n", 2, 1, "expected \"facet\" or \"endsolid\", found \"triangle\""},
    {"a.stl", "solid\nendsolid\n", 0, 0, "the file holds no vertices"},
    {"a.stl", "not one\n", 0, 0,
     "at byte 0: the file has 8 bytes: too few for a binary STL, and it does not begin with "
     "\"solid\" as an ASCII one does"},
    {"a.stl",
     "01234567890123456789012345678901234567890123456789012345678901234567890123456789\2\1\1\1abc",
     0, 0,
     "at byte 80: the number of triangles is 16843010, but only 3 bytes of the file are left, too "
     "few for so many: the file is cut off, or the number is wrong"},
    {"a.vtk", "vtk\n", 1, 1,
     "expected \"# vtk DataFile Version\" at the start of the file: this is not a legacy VTK file"},
    {"a.vtk", "# vtk DataFile Version 9.0\ntitle\nASCII\n", 1, 24,
     "version 9 of the legacy VTK format is not known; brio reads 1 to 5.1"},
    {"a.vtk", "# vtk DataFile Version 3.0\ntitle\nTEXT\n", 3, 1,
     "expected ASCII or BINARY on the third line, found \"TEXT\""},
    {"a.vtk", "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET STRUCTURED_POINTS\n", 4, 9,
     "a data set \"STRUCTURED_POINTS\"; brio reads UNSTRUCTURED_GRID and POLYDATA"},
    {"a.vtk", VTK "POINTS 3 decimal\n", 5, 10,
     "the type \"decimal\" is not known; brio reads float, double, int, long and the like"},
    {"a.vtk", VTK "CELLS 1 4\n", 5, 1, "the section POINTS must come before the cells"},
    {"a.vtk", VTK3 "CELLS 1 4\n3 0 1 3\n", 8, 7,
     "there is no vertex 3: the vertices are numbered 0 to 2"},
    {"a.vtk", VTK3 "CELLS 1 4\n9 0 1 2\n", 8, 1,
     "cell no. 1 has 9 vertices, but only 3 numbers of this section are left"},
    {"a.vtk", VTK3 "CELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n12\n", 10, 1,
     "cell type 12 is a hexahedron, which brio does not simulate; brio reads lines (3, 4), "
     "triangles and polygons (5 to 9) and tetrahedra (10): save the mesh with those"},
    {"a.vtk", VTK3 "CELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n10\n", 10, 1,
     "a cell of type 10 has 3 vertices; it needs 4"},
    {"a.vtk", VTK3 "CELLS 1 4\n3 0 1 2\nCELL_TYPES 2\n5\n5\n", 9, 12,
     "2 types for 1 cells: the section CELLS must come first and have the same number"},
    {"a.vtk", VTK3 "CELLS 1 4\n3 0 1 2\n", 9, 1,
     "the file has no section CELL_TYPES: it is cut off"},
    {"a.vtk", VTK3 "FACES 1\n", 7, 1,
     "expected \"POINTS\", \"CELLS\" or \"CELL_TYPES\", found \"FACES\""},
    {"a.vtk", VTK "POINTS 1000000 double\n0 0 0\n", 5, 8,
     "the number of points is 1000000, but only 14 bytes of the file are left, too few for so "
     "many: the file is cut off, or the number is wrong"},
    {"a.vtk",
     "# vtk DataFile Version 5.1\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 3 float\n0 0 0 1 0 0 "
     "0 1 0\nCELLS 2 3\nOFFSETS vtktypeint64\n0 2\nCONNECTIVITY vtktypeint64\n0 1 2\n",
     9, 3,
     "the offset 2 is not in order: offsets rise from 0 to 3, the number of vertices of all cells"},
    {"a.js", "module.exports = {}\n", 2, 1,
     "there is no list \"positions\": expected exports.positions = [[x, y, z], ...] and "
     "exports.cells = [[a, b, c], ...]"},
    {"a.js", "exports.positions=[[0,0,0],[1,0],[0,1,0]]", 1, 35,
     "vertex no. 2 has 2 coordinates, not three"},
    {"a.js", "exports.positions=[[0,0,0,0]]", 1, 27,
     "expected the end of vertex no. 1, found \"0\""},
    {"a.js", "exports.positions=[[0,0,0],[1,0,0],[0,1,0]]\nexports.cells=[[0,1,3]]", 2, 21,
     "there is no vertex 3: the vertices are numbered 0 to 2"},
    {"a.js", "exports.positions=[[0,0,0],[1,0,0],[0,1,0]]\nexports.cells=[[0,1", 2, 20,
     "expected the number of a vertex, found the end of the file"},
    {"a.js", "exports.positions=[[0,0,0],[1,0,0],[0,1,0]]\nexports.cells=[[0,1,2,0,1]]", 2, 25,
     "cell no. 1 has more than 4 corners"},
    {"a.json", "{\"positions\": [[0,0,x]]}", 1, 21,
     "expected a coordinate of vertex no. 1, found \"x\""},
    {"a.vtu", "<html>\n", 1, 2, "expected \"<VTKFile\": this is no file of VTK"},
    {"a.vtu", "VTK\n", 1, 1, "expected \"<VTKFile\", found none: this is no file of VTK"},
    {"a.vtu", "<VTKFile type=\"PolyData\">\n", 1, 2,
     "this is no VTKFile of type=\"UnstructuredGrid\"; save the mesh as an unstructured grid "
     "(.vtu)"},
    {"a.vtu", "<VTKFile type=\"UnstructuredGrid\" compressor=\"vtkLZ4DataCompressor\">\n", 1, 2,
     "the arrays are not compressed by zlib; brio reads vtkZLibDataCompressor or no compression: "
     "save the mesh that way"},
    {"a.vtu", VTU, 1, 1, "the file has no Piece, and so no points"},
    {"a.vtu", VTU "<Piece NumberOfPoints=\"x\">", 2, 2,
     "expected NumberOfPoints=\"...\", an integer, in this element"},
    {"a.vtu", VTU "<Piece NumberOfPoints=\"1000000000\" NumberOfCells=\"1\">", 2, 2,
     "this Piece has no array \"Points\""},
    {"a.vtu",
     VTU "<Piece NumberOfPoints=\"4\" NumberOfCells=\"1\">\n<Points>\n<DataArray "
         "type=\"Float64\">0 0 0</DataArray>",
     4, 27,
     "the array \"Points\" has 3 numbers where 12 are needed: the file is cut off, or the counts "
     "of its Piece are wrong"},
    {"a.vtu",
     VTU "<Piece NumberOfPoints=\"1\" NumberOfCells=\"1\">\n<Points>\n<DataArray type=\"Float64\" "
         "format=\"binary\">AAAA*\n",
     4, 47, "the base64 data of an array end here, 1 bytes too early, or are damaged"},
    {"a.vtu",
     VTU "<Piece NumberOfPoints=\"1\" NumberOfCells=\"1\">\n<Points>\n<DataArray type=\"Float64\" "
         "format=\"binary\">////f///\n",
     4, 43,
     "an array of 2147483647 bytes is announced here, but the file has only 6 more: it is cut off, "
     "or byte_order or header_type is wrong"},
    {"a.vtu",
     VTU "<Piece NumberOfPoints=\"1\" NumberOfCells=\"1\">\n<Points>\n<DataArray type=\"Float64\" "
         "format=\"appended\" offset=\"9\"/>\n",
     4, 57, "this array is said to be appended, but the file has no AppendedData"},
    {"a.vtu",
     VTU3
     "<DataArray type=\"Int32\" Name=\"connectivity\">0 1 7</DataArray>\n<DataArray type=\"Int32\" "
     "Name=\"offsets\">3</DataArray>\n<DataArray type=\"Int32\" Name=\"types\">5</DataArray>",
     7, 45, "there is no vertex 7: the vertices are numbered 0 to 2"},
    {"a.vtu",
     VTU3
     "<DataArray type=\"Int32\" Name=\"connectivity\">0 1 2</DataArray>\n<DataArray type=\"Int32\" "
     "Name=\"offsets\">4</DataArray>\n<DataArray type=\"Int32\" Name=\"types\">5</DataArray>",
     8, 40,
     "offset 4 of cell 0 (counted from 0) is not in order: offsets rise to 3, the length of "
     "\"connectivity\""},
    {"a.vtu", VTU3 "<DataArray type=\"Float32\" Name=\"connectivity\">0 1 2</DataArray>\n", 7, 47,
     "the array \"connectivity\" must be of integers"},
    {"a.msh", "$MeshFormat\n4.1 1 8\n\2\2\2\2\n", 0, 0,
     "at byte 20: expected the number 1, which tells the byte order of a binary file, found "
     "33686018: the file is damaged, or was edited as text"},
    {"a.msh", "$MeshFormat\n2.2 1 4\n", 2, 7,
     "numbers of 4 bytes; brio reads binary files with numbers of 8"},
    {"a.msh", "$MeshFormat\n2.2 2 8\n", 2, 5, "the file type is 2; it is 0 (ASCII) or 1 (binary)"},
};

static void test_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < BRIO_COUNT(wrong); i++) {
        BrioMesh *mesh = NULL;
        BrioError error = {0};
        size_t size = strlen(wrong[i].text);
        char *copy = malloc(size);
        memcpy(copy, wrong[i].text, size);
        BrioStatus status = brio__mesh_parse(wrong[i].file, copy, size, &mesh, &error);
        free(copy);
        assert_true(status < 0 && !mesh);
        if (strcmp(error.message, wrong[i].message) || error.line != wrong[i].line ||
            error.column != wrong[i].column)
            fail_msg("%s:%d:%d: %s\ninstead of %d:%d: %s\nfor %s", error.file, error.line,
                     error.column, error.message, wrong[i].line, wrong[i].column, wrong[i].message,
                     wrong[i].text);
    }
    printf("%zu broken files refused with their place\n", BRIO_COUNT(wrong));
}

/* Binary files that are cut anywhere are rejected or, where only the end is missing, read whole. */
static void test_cut_off(void **state)
{
    (void)state;
    static Seed seed[MAX_SEEDS];
    int count = make_seeds(seed), refused = 0, accepted = 0;
    for (int i = 0; i < count; i++) {
        char file[16];
        if (!strcmp(seed[i].extension, ".node")) continue;
        snprintf(file, sizeof file, "a%s", seed[i].extension);
        for (size_t size = 1; size < seed[i].size; size++) {
            BrioMesh *mesh = NULL;
            BrioError error = {0};
            char *copy = malloc(size);
            memcpy(copy, seed[i].data, size);
            if (brio__mesh_parse(file, copy, size, &mesh, &error) != BRIO_OK) {
                assert_true(error.message[0] && strlen(error.message) > 10);
                refused++;
            } else {
                accepted++;
            }
            brio_mesh_free(mesh);
            free(copy);
        }
    }
    free_seeds(seed, count);
    printf("%d files cut off: %d refused, %d complete enough\n", refused + accepted, refused,
           accepted);
    assert_true(refused > 5 * accepted);
}

/* Every allocation of a reader refused once: a sentence, and nothing is lost. */
static void test_no_memory(void **state)
{
    (void)state;
    static Seed seed[MAX_SEEDS];
    int count = make_seeds(seed), refusals = 0;
    for (int i = 0; i < count; i++) {
        char file[16];
        if (!strcmp(seed[i].extension, ".node")) continue;
        snprintf(file, sizeof file, "a%s", seed[i].extension);
        for (int64_t fail_at = 0;; fail_at++) {
            Memory memory;
            BrioMesh *mesh = NULL;
            BrioError error = {0};
            memory_start(&memory, fail_at, false);
            BrioStatus status = brio__mesh_parse(file, seed[i].data, seed[i].size, &mesh, &error);
            brio_mesh_free(mesh);
            brio_set_allocator(NULL);
            assert_int_equal(memory.live, 0);
            if (!memory.failed) {
                assert_int_equal(status, BRIO_OK);
                break;
            }
            assert_true(status == BRIO_ERROR_MEMORY && error.message[0]);
            refusals++;
        }
    }
    free_seeds(seed, count);
    printf("%d allocations refused\n", refusals);
    assert_true(refusals > 100);
}

/* ---- round trips ------------------------------------------------------------------------ */

static BrioMesh *make(const char *shape)
{
    double values[BRIO_MAX_VALUES];
    BrioMesh *mesh;
    brio_fields_defaults(brio_shape_fields(shape), values);
    assert_int_equal(brio_mesh_shape(shape, values, &mesh, NULL), BRIO_OK);
    return mesh;
}

/* Writes and reads again, in memory; NULL: the format cannot hold it. */
static BrioMesh *through(const BrioMeshWriter *w, bool ascii, const BrioMesh *from)
{
    char note[320], file[16];
    BrioError error = {0};
    BrioMesh *copy, *back = NULL;
    assert_int_equal(brio__mesh_create(from->vertex_count, from->tet_count, from->triangle_count,
                                       from->edge_count, &copy, NULL),
                     BRIO_OK);
    memcpy(copy->x, from->x, 24 * (size_t)from->vertex_count);
    if (from->tet_count) memcpy(copy->tet, from->tet, 16 * (size_t)from->tet_count);
    if (from->triangle_count)
        memcpy(copy->triangle, from->triangle, 12 * (size_t)from->triangle_count);
    if (from->edge_count) memcpy(copy->edge, from->edge, 8 * (size_t)from->edge_count);
    BrioStatus status = brio__mesh_fit(w, copy, note, sizeof note, &error);
    bool lost = copy->tet_count < from->tet_count || copy->edge_count < from->edge_count ||
                (copy->triangle_count < from->triangle_count && !from->tet_count);
    if (status == BRIO_OK && !from->tet_count) assert_int_equal(lost, note[0] != 0);
    if (status != BRIO_OK) {
        assert_true(error.message[0]);
        brio_mesh_free(copy);
        return NULL;
    }
    char *text[2] = {NULL, NULL};
    size_t size[2] = {0, 0};
    for (int part = 0; part < (w->second ? 2 : 1); part++) {
        FILE *stream = open_memstream(&text[part], &size[part]);
        (part ? w->write_second : w->write)(copy, ascii, stream);
        assert_int_equal(fclose(stream), 0);
    }
    snprintf(file, sizeof file, "a%s", w->extension);
    if (w->second) {
        int node = strcmp(w->extension, ".node") ? 1 : 0;
        status = brio__tetgen_parse("a.node", text[node], size[node], "a.ele", text[!node],
                                    size[!node], &back, &error);
    } else {
        status = brio__mesh_parse(file, text[0], size[0], &back, &error);
    }
    if (status != BRIO_OK)
        fail_msg("%s %s: %s", w->extension, ascii ? "ascii" : "binary", error.message);
    free(text[0]);
    free(text[1]);
    brio_mesh_free(copy);
    return back;
}

/* Volume and area to rounding (of single precision where that was on the way), and equal counts. */
static void assert_same_body(BrioMesh *a, BrioMesh *b, double tolerance, const char *what)
{
    BrioMeasure ma, mb;
    assert_int_equal(brio__measure(a, &ma, NULL), BRIO_OK);
    assert_int_equal(brio__measure(b, &mb, NULL), BRIO_OK);
    if (ma.triangles != mb.triangles || ma.open_edges != mb.open_edges ||
        ma.components != mb.components || mb.turned_edges || mb.intersections != ma.intersections)
        fail_msg("%s: %lld triangles, %lld open edges; %lld and %lld before", what,
                 (long long)mb.triangles, (long long)mb.open_edges, (long long)ma.triangles,
                 (long long)ma.open_edges);
    if (!(fabs(ma.area - mb.area) <= tolerance * ma.area))
        fail_msg("%s: area %.17g, %.17g before", what, mb.area, ma.area);
    if (isfinite(ma.volume) && !(fabs(ma.volume - mb.volume) <= tolerance * fabs(ma.volume)))
        fail_msg("%s: volume %.17g, %.17g before", what, mb.volume, ma.volume);
}

static void test_round_trips(void **state)
{
    (void)state;
    static const char *const shapes[] = {"ball", "grid", "sphere", "torus-surface"};
    int done = 0, refused = 0, exact = 0;
    for (size_t s = 0; s < BRIO_COUNT(shapes); s++) {
        BrioMesh *start = make(shapes[s]);
        if (start->tet_count == 0) start->edge_count = 0; /* a surface; lines are tested below */
        for (int i = 0; brio__mesh_writer_at(i); i++)
            for (int j = 0; brio__mesh_writer_at(j); j++)
                for (int form = 0; form < 4; form++) {
                    const BrioMeshWriter *a = brio__mesh_writer_at(i), *b = brio__mesh_writer_at(j);
                    bool first = form & 1, second = form & 2;
                    char what[64];
                    if ((!first && !a->has_binary) || (!second && !b->has_binary)) continue;
                    snprintf(what, sizeof what, "%s to %s%s to %s%s", shapes[s],
                             first ? "text " : "", a->extension, second ? "text " : "",
                             b->extension);
                    BrioMesh *middle = through(a, first, start);
                    BrioMesh *end = middle ? through(b, second, middle) : NULL;
                    if (end) {
                        bool single = (a->single && !first) || (b->single && !second);
                        assert_same_body(start, end, single ? 1e-6 : 1e-13, what);
                        bool whole = start->tet_count ? a->tets && b->tets : true;
                        /* STL numbers vertices again */
                        if (whole && !single && strcmp(a->extension, ".stl") &&
                            strcmp(b->extension, ".stl")) {
                            assert_int_equal(end->vertex_count, start->vertex_count);
                            assert_memory_equal(end->x, start->x, 24 * (size_t)start->vertex_count);
                            if (start->tet_count)
                                assert_memory_equal(end->tet, start->tet,
                                                    16 * (size_t)start->tet_count);
                            exact++;
                        }
                        done++;
                    } else {
                        refused++;
                    }
                    brio_mesh_free(middle);
                    brio_mesh_free(end);
                }
        brio_mesh_free(start);
    }
    printf("%d round trips over pairs of formats, %d of them the same to the bit; %d pairs cannot "
           "hold the body and say so\n",
           done, exact, refused);
    assert_true(done > 400 && exact > 200);
}

static void test_lines(void **state)
{
    (void)state;
    BrioMesh *line = make("line");
    int kept = 0;
    for (int i = 0; brio__mesh_writer_at(i); i++) {
        const BrioMeshWriter *w = brio__mesh_writer_at(i);
        BrioMesh *back = through(w, true, line);
        assert_int_equal(back != NULL, w->edges);
        if (back) {
            assert_int_equal(back->edge_count, line->edge_count);
            assert_memory_equal(back->edge, line->edge, 8 * (size_t)line->edge_count);
            kept++;
        }
        brio_mesh_free(back);
    }
    assert_int_equal(kept, 7);
    brio_mesh_free(line);
}

/* ---- measures --------------------------------------------------------------------------- */

static void test_measure(void **state)
{
    (void)state;
    /* a regular tet of edge sqrt(2) within the unit cube */
    double x[12] = {0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1};
    int32_t tet[4] = {0, 1, 2, 3};
    BrioMesh *mesh;
    BrioMeasure m;
    assert_int_equal(brio__mesh_create(4, 1, 0, 0, &mesh, NULL), BRIO_OK);
    memcpy(mesh->x, x, sizeof x);
    memcpy(mesh->tet, tet, sizeof tet);
    if (brio__tet_volume6(x, x + 3, x + 6, x + 9) < 0) mesh->tet[2] = 3, mesh->tet[3] = 2;
    assert_int_equal(brio__measure(mesh, &m, NULL), BRIO_OK);
    assert_true(fabs(m.volume - 1.0 / 3) < 1e-15 && fabs(m.area - 2 * sqrt(3)) < 1e-14);
    assert_true(fabs(m.quality_min - 1) < 1e-14 && m.quality[9] == 1);
    assert_true(fabs(m.angle_min - 70.528779365509308) < 1e-10 &&
                fabs(m.angle_max - 70.528779365509308) < 1e-10);
    assert_true(m.edges == 6 && fabs(m.edge_mean - sqrt(2)) < 1e-15 && m.components == 1 &&
                m.open_edges == 0);
    int32_t swap = mesh->tet[2];
    mesh->tet[2] = mesh->tet[3], mesh->tet[3] = swap;
    assert_int_equal(brio__measure(mesh, &m, NULL), BRIO_OK);
    assert_true(m.inverted == 1 && m.first_inverted == 0 && m.volume < 0 && m.quality_min < -0.99 &&
                m.quality[0] == 1);
    brio_mesh_free(mesh);
    /* two triangles that cross, and a third at one's edge: open, branching after a fourth */
    const double y[] = {0,   0,   0, 1,   0,   0,   0, 1, 0, 0.2, 0.2, -1,
                        0.2, 0.2, 1, 0.3, 0.9, 0.3, 0, 0, 9, 1,   0,   9};
    const int32_t triangles[] = {0, 1, 2, 3, 4, 5, 0, 1, 6, 1, 0, 7};
    assert_int_equal(brio__mesh_create(8, 0, 4, 0, &mesh, NULL), BRIO_OK);
    memcpy(mesh->x, y, sizeof y);
    memcpy(mesh->triangle, triangles, sizeof triangles);
    assert_int_equal(brio__measure(mesh, &m, NULL), BRIO_OK);
    assert_true(m.branching_edges == 1 && m.first_branching[0] == 0 && m.first_branching[1] == 1);
    assert_true(m.open_edges == 9 && m.components == 2 && isnan(m.volume));
    /* the edge 3 4 through triangle 0, and an edge of that through triangle 1 */
    assert_true(m.intersections == 2 && m.first.triangle >= 0);
    mesh->triangle_count = 3;
    assert_int_equal(brio__measure(mesh, &m, NULL), BRIO_OK);
    assert_true(m.branching_edges == 0 && m.turned_edges == 1 && m.first_turned[1] == 1 &&
                m.unused == 1);
    brio_mesh_free(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ply),         cmocka_unit_test(test_stl),
        cmocka_unit_test(test_vtk),         cmocka_unit_test(test_binary_msh),
        cmocka_unit_test(test_tetwild_msh), cmocka_unit_test(test_vtu),
        cmocka_unit_test(test_js),          cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_cut_off),     cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_round_trips), cmocka_unit_test(test_lines),
        cmocka_unit_test(test_measure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
