/* Small valid files of every mesh format, for the fuzzers and the tests of readers: some by hand,
 * some as brio writes them, some put together from bytes (other byte orders, appended and
 * compressed arrays). All describe the same body unless they say otherwise: two tets. */
#ifndef BRIO_TEST_MESH_SEEDS_H
#define BRIO_TEST_MESH_SEEDS_H

#include "mesh/mesh.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SEEDS = 64 };

typedef struct Seed {
    const char *extension; /* of its reader; of .node: both files, '%' in between */
    char *data;
    size_t size;
} Seed;

typedef struct Bytes {
    char data[8192];
    size_t size;
} Bytes;

static inline void add_bytes(Bytes *b, const void *data, size_t size)
{
    if (b->size + size > sizeof b->data) abort();
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

static inline void add_text(Bytes *b, const char *text) { add_bytes(b, text, strlen(text)); }

/* `size` bytes of a number, in the given order, whatever the machine's is. */
static inline void add_unsigned(Bytes *b, uint64_t value, int size, bool big)
{
    for (int i = 0; i < size; i++) {
        char c = (char)(value >> 8 * (big ? size - 1 - i : i));
        add_bytes(b, &c, 1);
    }
}

static inline void add_double(Bytes *b, double value, bool big)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    add_unsigned(b, bits, 8, big);
}

static inline void add_float(Bytes *b, double value, bool big)
{
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    add_unsigned(b, bits, 4, big);
}

static inline void add_base64(Bytes *b, const Bytes *from)
{
    static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < from->size; i += 3) {
        unsigned bits = 0;
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (i + k < from->size ? (unsigned char)from->data[i + k] : 0);
        for (size_t k = 0; k < 4; k++) {
            char c = k <= from->size - i ? letter[bits >> (18 - 6 * k) & 63] : '=';
            add_bytes(b, &c, 1);
        }
    }
}

/* zlib's format with the data as they are: a stored block. */
static inline void add_stored(Bytes *b, const char *data, size_t size)
{
    uint32_t low = 1, high = 0;
    add_text(b, "\x78\x01\x01");
    add_unsigned(b, size, 2, false);
    add_unsigned(b, ~size, 2, false);
    add_bytes(b, data, size);
    for (size_t i = 0; i < size; i++) {
        low = (low + (unsigned char)data[i]) % 65521;
        high = (high + low) % 65521;
    }
    add_unsigned(b, high << 16 | low, 4, true);
}

static const double seed_x[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1.5};
static const int32_t seed_tets[8] = {0, 1, 2, 3, 1, 2, 3, 4};

static inline void make_msh2(Bytes *b, bool big)
{
    add_text(b, "$MeshFormat\n2.2 1 8\n");
    add_unsigned(b, 1, 4, big);
    add_text(b,
             "\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"body\"\n$EndPhysicalNames\n$Nodes\n5\n");
    for (int v = 0; v < 5; v++) {
        add_unsigned(b, (uint64_t)v + 1, 4, big);
        for (int k = 0; k < 3; k++) add_double(b, seed_x[3 * v + k], big);
    }
    add_text(b, "\n$EndNodes\n$Elements\n3\n");
    const uint32_t point[] = {15, 1, 2, 1, 0, 1, 1};
    const uint32_t tets[] = {4, 2, 2, 2, 1, 1, 1, 2, 3, 4, 3, 1, 1, 2, 3, 4, 5};
    for (size_t i = 0; i < BRIO_COUNT(point); i++) add_unsigned(b, point[i], 4, big);
    for (size_t i = 0; i < BRIO_COUNT(tets); i++) add_unsigned(b, tets[i], 4, big);
    add_text(b, "\n$EndElements\n");
}

static inline void make_msh4(Bytes *b, bool big)
{
    add_text(b, "$MeshFormat\n4.1 1 8\n");
    add_unsigned(b, 1, 4, big);
    add_text(b, "\n$EndMeshFormat\n$PhysicalNames\n1\n3 7 \"body\"\n$EndPhysicalNames\n"
                "$Entities\n");
    for (int d = 0; d < 4; d++) add_unsigned(b, d == 3, 8, big); /* one volume, 1, */
    add_unsigned(b, 1, 4, big);
    for (int i = 0; i < 6; i++) add_double(b, i < 3 ? 0 : 1.5, big);
    add_unsigned(b, 1, 8, big); /* of group 7, with no bounds */
    add_unsigned(b, 7, 4, big);
    add_unsigned(b, 0, 8, big);
    add_text(b, "\n$EndEntities\n$Nodes\n");
    const uint64_t nodes[] = {1, 5, 1, 5};
    for (int i = 0; i < 4; i++) add_unsigned(b, nodes[i], 8, big);
    add_unsigned(b, 3, 4, big);
    add_unsigned(b, 1, 4, big);
    add_unsigned(b, 0, 4, big);
    add_unsigned(b, 5, 8, big);
    for (uint64_t v = 1; v <= 5; v++) add_unsigned(b, v, 8, big);
    for (int i = 0; i < 15; i++) add_double(b, seed_x[i], big);
    add_text(b, "\n$EndNodes\n$Elements\n");
    const uint64_t elements[] = {1, 2, 1, 2};
    for (int i = 0; i < 4; i++) add_unsigned(b, elements[i], 8, big);
    add_unsigned(b, 3, 4, big);
    add_unsigned(b, 1, 4, big);
    add_unsigned(b, 4, 4, big);
    add_unsigned(b, 2, 8, big);
    for (int t = 0; t < 2; t++) {
        add_unsigned(b, (uint64_t)t + 1, 8, big);
        for (int k = 0; k < 4; k++) add_unsigned(b, (uint64_t)seed_tets[4 * t + k] + 1, 8, big);
    }
    add_text(b, "\n$EndElements\n");
}

/* A square of one polygon and an edge; single precision, other properties in between. */
static inline void make_ply(Bytes *b, bool big)
{
    add_text(b, big ? "ply\r\nformat binary_big_endian 1.0\r\n"
                    : "ply\nformat binary_little_endian 1.0\n");
    add_text(b,
             "comment a square\nelement vertex 4\nproperty float x\nproperty uchar red\nproperty "
             "float y\nproperty double z\nelement other 1\nproperty list ushort short u\n"
             "element face 1\nproperty list uchar uint vertex_index\nproperty float "
             "quality\nelement edge 1\nproperty int vertex1\nproperty int vertex2\nend_header\n");
    for (int v = 0; v < 4; v++) {
        add_float(b, v == 1 || v == 2, big);
        add_unsigned(b, 255, 1, big);
        add_float(b, v >= 2, big);
        add_double(b, 0, big);
    }
    add_unsigned(b, 2, 2, big);
    add_unsigned(b, 7, 2, big);
    add_unsigned(b, 8, 2, big);
    add_unsigned(b, 4, 1, big);
    for (uint64_t v = 0; v < 4; v++) add_unsigned(b, v, 4, big);
    add_float(b, 0.5, big);
    add_unsigned(b, 0, 4, big);
    add_unsigned(b, 2, 4, big);
}

typedef enum Packing { PACK_INLINE, PACK_RAW, PACK_BASE64 } Packing;

/* The four arrays of a grid of two tets: their bytes, and what the file says of them. */
static inline void make_vtu(Bytes *b, Packing packing, bool big, bool wide, bool compressed)
{
    static const char *const head[4] = {"Float64\" NumberOfComponents=\"3",
                                        "Int32\" Name=\"connectivity", "Int64\" Name=\"offsets",
                                        "UInt8\" Name=\"types"};
    Bytes *array = calloc(4, sizeof *array), *block = calloc(4, sizeof *block),
          *part = calloc(1, sizeof *part);
    char text[256];
    size_t offset = 0;
    for (int i = 0; i < 15; i++) add_double(&array[0], seed_x[i], big);
    for (int i = 0; i < 8; i++) add_unsigned(&array[1], (uint64_t)seed_tets[i], 4, big);
    add_unsigned(&array[2], 4, 8, big);
    add_unsigned(&array[2], 8, 8, big);
    add_text(&array[3], "\n\n"); /* 10: VTK_TETRA */
    for (int a = 0; a < 4; a++) {
        int size = wide ? 8 : 4;
        if (compressed) { /* two blocks of which the second is shorter, or one */
            size_t whole = array[a].size > 64 ? 64 : array[a].size, rest = array[a].size - whole;
            Bytes *sizes = calloc(1, sizeof *sizes), *data = calloc(1, sizeof *data);
            size_t packed[2] = {0};
            if (rest > whole) whole = (array[a].size + 1) / 2, rest = array[a].size - whole;
            add_stored(data, array[a].data, whole);
            packed[0] = data->size;
            if (rest) add_stored(data, array[a].data + whole, rest);
            packed[1] = data->size - packed[0];
            add_unsigned(sizes, rest ? 2 : 1, size, big);
            add_unsigned(sizes, whole, size, big);
            add_unsigned(sizes, rest == whole ? 0 : rest, size, big);
            for (int k = 0; k < (rest ? 2 : 1); k++) add_unsigned(sizes, packed[k], size, big);
            if (packing == PACK_RAW) {
                add_bytes(&block[a], sizes->data, sizes->size);
                add_bytes(&block[a], data->data, data->size);
            } else {
                add_base64(&block[a], sizes);
                add_base64(&block[a], data);
            }
            free(sizes);
            free(data);
            continue;
        }
        part->size = 0;
        add_unsigned(part, array[a].size, size, big);
        add_bytes(part, array[a].data, array[a].size);
        if (packing == PACK_RAW)
            add_bytes(&block[a], part->data, part->size);
        else
            add_base64(&block[a], part);
    }
    snprintf(text, sizeof text,
             "<?xml version=\"1.0\"?>\n<!-- two tets -->\n<VTKFile type='UnstructuredGrid' "
             "version=\"1.0\" byte_order=\"%sEndian\"%s%s>\n<UnstructuredGrid>\n",
             big ? "Big" : "Little", wide ? " header_type=\"UInt64\"" : "",
             compressed ? " compressor=\"vtkZLibDataCompressor\"" : "");
    add_text(b, text);
    add_text(
        b, "<FieldData><DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
           "format=\"ascii\">0</DataArray></FieldData>\n"
           "<Piece NumberOfPoints=\"5\" NumberOfCells=\"2\">\n<PointData></PointData>\n<Points>\n");
    for (int a = 0; a < 4; a++) {
        if (packing == PACK_INLINE) {
            snprintf(text, sizeof text, "<DataArray type=\"%s\" format=\"binary\">\n", head[a]);
            add_text(b, text);
            add_bytes(b, block[a].data, block[a].size);
            add_text(b, "\n</DataArray>\n");
        } else {
            snprintf(text, sizeof text,
                     "<DataArray type=\"%s\" format=\"appended\" offset=\"%zu\"/>\n", head[a],
                     offset);
            add_text(b, text);
        }
        offset += block[a].size;
        if (a == 0) add_text(b, "</Points>\n<Cells>\n");
    }
    add_text(b, "</Cells>\n</Piece>\n</UnstructuredGrid>\n");
    if (packing != PACK_INLINE) {
        snprintf(text, sizeof text, "<AppendedData encoding=\"%s\">\n_",
                 packing == PACK_RAW ? "raw" : "base64");
        add_text(b, text);
        for (int a = 0; a < 4; a++) add_bytes(b, block[a].data, block[a].size);
        add_text(b, "\n</AppendedData>\n");
    }
    add_text(b, "</VTKFile>\n");
    free(array);
    free(block);
    free(part);
}

static inline void keep(Seed *seed, int *count, const char *extension, const void *data,
                        size_t size)
{
    if (*count == MAX_SEEDS) abort();
    seed[*count] = (Seed){extension, malloc(size + 1), size};
    memcpy(seed[*count].data, data, size);
    seed[(*count)++].data[size] = 0;
}

static inline void keep_text(Seed *seed, int *count, const char *extension, const char *text)
{
    keep(seed, count, extension, text, strlen(text));
}

/* As brio writes them. */
static inline void keep_written(Seed *seed, int *count)
{
    double x[15];
    int32_t tet[8], triangle[] = {0, 2, 1}, edge[] = {0, 4};
    memcpy(x, seed_x, sizeof x);
    memcpy(tet, seed_tets, sizeof tet);
    for (int i = 0; brio__mesh_writer_at(i); i++) {
        const BrioMeshWriter *w = brio__mesh_writer_at(i);
        for (int ascii = 0; ascii < 2; ascii++) {
            if ((ascii && !w->has_ascii) || (!ascii && !w->has_binary) ||
                !strcmp(w->extension, ".ele"))
                continue;
            BrioMesh mesh = {.vertex_count = 5,
                             .tet_count = w->tets ? 2 : 0,
                             .triangle_count = w->triangles,
                             .edge_count = w->edges,
                             .x = x,
                             .tet = tet,
                             .triangle = triangle,
                             .edge = edge};
            char *text = NULL;
            size_t size = 0;
            FILE *file = open_memstream(&text, &size);
            w->write(&mesh, ascii, file);
            if (w->second) {
                fputc('%', file);
                w->write_second(&mesh, ascii, file);
            }
            fclose(file);
            keep(seed, count, w->extension, text, size);
            free(text);
        }
    }
}

static inline int make_seeds(Seed seed[MAX_SEEDS])
{
    int count = 0;
    Bytes *b = calloc(1, sizeof *b);
    keep_text(seed, &count, ".msh",
              "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n30 0 1 0\n4 0 0 "
              "1\n5 1 1 1.5\n$EndNodes\n"
              "$Elements\n5\n1 15 2 0 1 1\n2 1 2 0 1 1 2\n3 2 2 0 1 1 2 30\n4 4 2 0 1 1 2 30 4\n5 "
              "4 3 0 1 7 2 30 4 5\n$EndElements\n");
    keep_text(seed, &count, ".msh",
              "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n1 1 1 1\n1 0 0 0 "
              "0\n$EndEntities\n$Nodes\n3 5 1 9\n0 1 0 1\n1\n"
              "0 0 0\n2 1 1 2\n2\n9\n1 0 0 0.5 0.25\n0 1 0 0.5 0.25\n3 1 0 2\n4\n5\n0 0 1\n1 1 "
              "1.5\n$EndNodes\n$Elements\n"
              "4 5 1 5\n0 1 15 1\n1 1\n1 1 1 1\n2 1 2\n2 1 2 1\n3 1 2 9\n3 1 4 2\n4 1 2 9 4\n5 2 9 "
              "4 5\n$EndElements\n");
    keep_text(seed, &count, ".msh",
              "$MeshFormat\n4 0 8\n$EndMeshFormat\n$Entities\n0 0 0 1\n0 0 0 0 1 1 1.5 0 "
              "0\n$EndEntities\n$Nodes\n1 5\n0 3 0 5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 "
              "1.5\n$EndNodes\n"
              "$Elements\n1 2\n0 3 4 2\n1 1 2 3 4\n2 2 3 4 5\n$EndElements\n$Surface\n1\n1 3 "
              "2\n$EndSurface\n");
    keep_text(seed, &count, ".mesh",
              "MeshVersionFormatted 2\nDimension\n3\nVertices\n5\n0 0 0 1\n1 0 0 1 # x\n0 1 0 1\n0 "
              "0 1 1\n1 1 15e-1 1\n"
              "Corners 2 1 2\nTriangles\n1\n1 2 3 0\nTetrahedra\n2\n1 2 3 4 0\n2 3 4 5 "
              "0\nEdges\n1\n1 2 0\nEnd\n");
    keep_text(seed, &count, ".node",
              "# comment\n5 3 1 1\n1 0 0 0 0.1 1\n2 1 0 0 0 1\n3 0 1 0 0 1\n4 0 0 1 0 1\n5 1 1 1.5 "
              "0 1\n%2 4 1\n1 1 2 3 4 9\n2 2 3 4 5 9\n");
    keep_text(seed, &count, ".obj",
              "# corner\nv 0 0 0\nv 1 0 0 1.0\nvn 0 0 1\nf 1/1/1 2/1 4//1 3\nv 1 1 0 0.5 0.5 "
              "0.5\nv 0 1 0\nf -4 -3 \\\n -2\nl 1 2 3 4\n");
    keep_text(seed, &count, ".off",
              "OFF # square\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3 255 0 0\n2 1 3\n");
    keep_text(seed, &count, ".pt", "# corners\nv 0 0 0\nv 1 0 0\nv 0 1.5e0 -1\nf 1 2 3\n");
    keep_text(seed, &count, ".seg", "v 0 0 0\nv 1 0 0\nv 0 1 0\n# two\ns 1 2\ns 2 3\n");
    keep_text(seed, &count, ".stl",
              "solid a name\n facet normal 0 0 nan\n  outer loop\n   vertex 0 0 0\n   vertex 1 0 "
              "0\n   vertex 0 1 0\n  endloop\n endfacet\n"
              "FACET NORMAL 0 0 1\nOUTER LOOP\nVERTEX 1 0 0\nVERTEX 1 1 0\nVERTEX -0 1 "
              "0\nENDLOOP\nENDFACET\nendsolid a name\nsolid\nendsolid\n");
    keep_text(seed, &count, ".vtk",
              "# vtk DataFile Version 2.0\nsurface\nASCII\nDATASET POLYDATA\nFIELD FieldData "
              "1\nTIME 1 1 double\n0.5\nPOINTS 5 float\n0 0 0 1 0 0 1 1 0\n0 1 0 2 0 0\n"
              "VERTICES 1 2\n1 0\nLINES 1 4\n3 0 1 2\nPOLYGONS 2 9\n4 0 1 2 3\n3 1 4 "
              "2\nTRIANGLE_STRIPS 1 5\n4 0 1 3 2\nPOINT_DATA 5\nSCALARS s float\n");
    keep_text(seed, &count, ".vtk",
              "# vtk DataFile Version 5.1\ngrid\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 "
              "double\n0 0 0 1 0 0 0 1 0 0 0 1 1 1 1.5\nMETADATA\nINFORMATION 0\n\n"
              "CELLS 5 13\nOFFSETS vtktypeint64\n0 4 8 9 13\nCONNECTIVITY vtktypeint64\n0 1 2 3 1 "
              "2 3 4 0\n0 1 2 3\nCELL_TYPES 4\n10\n10\n1\n8\n");
    make_msh2(b, false), keep(seed, &count, ".msh", b->data, b->size), b->size = 0;
    make_msh2(b, true), keep(seed, &count, ".msh", b->data, b->size), b->size = 0;
    make_msh4(b, false), keep(seed, &count, ".msh", b->data, b->size), b->size = 0;
    make_msh4(b, true), keep(seed, &count, ".msh", b->data, b->size), b->size = 0;
    make_ply(b, false), keep(seed, &count, ".ply", b->data, b->size), b->size = 0;
    make_ply(b, true), keep(seed, &count, ".ply", b->data, b->size), b->size = 0;
    for (int packing = 0; packing < 3; packing++)
        for (int form = 0; form < 8; form++)
            make_vtu(b, (Packing)packing, form & 1, form & 2, form & 4),
                keep(seed, &count, ".vtu", b->data, b->size), b->size = 0;
    keep_written(seed, &count);
    free(b);
    return count;
}

static inline void free_seeds(Seed *seed, int count)
{
    for (int i = 0; i < count; i++) free(seed[i].data);
}

#endif
