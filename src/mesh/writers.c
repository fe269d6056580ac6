/* Writing meshes, by the extension of the file. Text has as many digits as it takes to read the
 * same numbers again; binary data are of the machine's byte order where a format can say which, and
 * little-endian for STL. Format errors of the stream are the caller's to ask for. */
#include "mesh.h"

#include "../base64.h"
#include "../number.h"

#include <string.h>
#include <strings.h>

/* ---- pieces of text and bytes ----------------------------------------------------------- */

static void put_point(const double *p, FILE *file)
{
    for (int k = 0; k < 3; k++) fprintf(file, "%s%s", k ? " " : "", brio__real_text(p[k], 1).text);
}

static void put_points(const BrioMesh *mesh, const char *before, const char *after, FILE *file)
{
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        fputs(before, file);
        put_point(mesh->x + 3 * v, file);
        fputs(after, file);
    }
}

/* One element a line: `before`, its vertices counted from `base`, `after`. */
static void put_elements(const int32_t *vertex, int64_t count, int corners, int base,
                         const char *before, const char *after, FILE *file)
{
    for (int64_t e = 0; e < count; e++) {
        fputs(before, file);
        for (int k = 0; k < corners; k++)
            fprintf(file, "%s%lld", k ? " " : "", (long long)vertex[corners * e + k] + base);
        fputs(after, file);
    }
}

/* Bytes of the lowest value first, or last. */
static void put_bytes(const void *data, int size, bool big_endian, FILE *file)
{
    const uint16_t one = 1;
    const unsigned char *byte = data;
    bool machine_big = *(const unsigned char *)&one == 0;
    for (int i = 0; i < size; i++) fputc(byte[big_endian == machine_big ? i : size - 1 - i], file);
}

static void put_int32(int64_t value, bool big_endian, FILE *file)
{
    int32_t number = (int32_t)value;
    put_bytes(&number, 4, big_endian, file);
}

static void put_int64(int64_t value, bool big_endian, FILE *file)
{
    put_bytes(&value, 8, big_endian, file);
}
static void put_double(double value, bool big_endian, FILE *file)
{
    put_bytes(&value, 8, big_endian, file);
}

static void put_float(double value, bool big_endian, FILE *file)
{
    float number = (float)value;
    put_bytes(&number, 4, big_endian, file);
}

/* Lines, triangles and tets of a mesh, in this order, by their corners. */
typedef struct Group {
    int corners, vtk, gmsh;
    int64_t count;
    const int32_t *vertex;
} Group;

static void groups_of(const BrioMesh *mesh, Group group[3])
{
    group[0] = (Group){2, 3, 1, mesh->edge_count, mesh->edge};
    group[1] = (Group){3, 5, 2, mesh->triangle_count, mesh->triangle};
    group[2] = (Group){4, 10, 4, mesh->tet_count, mesh->tet};
}

static int64_t cell_count(const BrioMesh *mesh)
{
    return mesh->edge_count + mesh->triangle_count + mesh->tet_count;
}
static int64_t corner_count(const BrioMesh *mesh)
{
    return 2 * mesh->edge_count + 3 * mesh->triangle_count + 4 * mesh->tet_count;
}

/* ---- surfaces --------------------------------------------------------------------------- */

static void write_obj(const BrioMesh *mesh, bool ascii, FILE *file)
{
    (void)ascii;
    put_points(mesh, "v ", "\n", file);
    put_elements(mesh->triangle, mesh->triangle_count, 3, 1, "f ", "\n", file);
    put_elements(mesh->edge, mesh->edge_count, 2, 1, "l ", "\n", file);
}

static void write_off(const BrioMesh *mesh, bool ascii, FILE *file)
{
    (void)ascii;
    fprintf(file, "OFF\n%lld %lld 0\n", (long long)mesh->vertex_count,
            (long long)(mesh->triangle_count + mesh->edge_count));
    put_points(mesh, "", "\n", file);
    put_elements(mesh->triangle, mesh->triangle_count, 3, 0, "3 ", "\n", file);
    put_elements(mesh->edge, mesh->edge_count, 2, 0, "2 ", "\n", file);
}

static void write_ply(const BrioMesh *mesh, bool ascii, FILE *file)
{
    fprintf(file,
            "ply\nformat %s 1.0\ncomment written by brio\nelement vertex %lld\nproperty double "
            "x\nproperty double y\nproperty double z\n",
            ascii ? "ascii" : "binary_little_endian", (long long)mesh->vertex_count);
    fprintf(file, "element face %lld\nproperty list uchar int vertex_indices\n",
            (long long)mesh->triangle_count);
    if (mesh->edge_count)
        fprintf(file, "element edge %lld\nproperty int vertex1\nproperty int vertex2\n",
                (long long)mesh->edge_count);
    fputs("end_header\n", file);
    if (ascii) {
        put_points(mesh, "", "\n", file);
        put_elements(mesh->triangle, mesh->triangle_count, 3, 0, "3 ", "\n", file);
        put_elements(mesh->edge, mesh->edge_count, 2, 0, "", "\n", file);
        return;
    }
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++) put_double(mesh->x[i], false, file);
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        fputc(3, file);
        for (int k = 0; k < 3; k++) put_int32(mesh->triangle[3 * t + k], false, file);
    }
    for (int64_t i = 0; i < 2 * mesh->edge_count; i++) put_int32(mesh->edge[i], false, file);
}

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
        put_int32(mesh->triangle_count, false, file);
    }
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        const int32_t *v = mesh->triangle + 3 * t;
        double n[3];
        normal_of(mesh, v, n);
        if (ascii) fprintf(file, "facet normal %.9g %.9g %.9g\nouter loop\n", n[0], n[1], n[2]);
        for (int k = 0; !ascii && k < 3; k++) put_float(n[k], false, file);
        for (int i = 0; i < 3; i++) {
            const double *p = mesh->x + 3 * (int64_t)v[i];
            if (ascii) {
                fputs("vertex ", file);
                put_point(p, file);
                fputc('\n', file);
            }
            for (int k = 0; !ascii && k < 3; k++) put_float(p[k], false, file);
        }
        fputs(ascii ? "endloop\nendfacet\n" : "", file);
        if (!ascii) fwrite("\0", 1, 2, file);
    }
    if (ascii) fputs("endsolid brio\n", file);
}

/* ---- grids ------------------------------------------------------------------------------ */

static void write_vtk(const BrioMesh *mesh, bool ascii, FILE *file)
{
    Group group[3];
    groups_of(mesh, group);
    fprintf(file,
            "# vtk DataFile Version 3.0\nwritten by brio\n%s\nDATASET UNSTRUCTURED_GRID\nPOINTS "
            "%lld double\n",
            ascii ? "ASCII" : "BINARY", (long long)mesh->vertex_count);
    if (ascii) put_points(mesh, "", "\n", file);
    for (int64_t i = 0; !ascii && i < 3 * mesh->vertex_count; i++)
        put_double(mesh->x[i], true, file);
    fprintf(file, "\nCELLS %lld %lld\n", (long long)cell_count(mesh),
            (long long)(cell_count(mesh) + corner_count(mesh)));
    for (int g = 0; g < 3; g++) {
        const char before[] = {(char)('0' + group[g].corners), ' ', 0};
        if (ascii)
            put_elements(group[g].vertex, group[g].count, group[g].corners, 0, before, "\n", file);
        for (int64_t e = 0; !ascii && e < group[g].count; e++) {
            put_int32(group[g].corners, true, file);
            for (int k = 0; k < group[g].corners; k++)
                put_int32(group[g].vertex[group[g].corners * e + k], true, file);
        }
    }
    fprintf(file, "\nCELL_TYPES %lld\n", (long long)cell_count(mesh));
    for (int g = 0; g < 3; g++)
        for (int64_t e = 0; e < group[g].count; e++) {
            if (ascii)
                fprintf(file, "%d\n", group[g].vtk);
            else
                put_int32(group[g].vtk, true, file);
        }
}

static void open_array(const char *type, const char *name, int components, bool ascii, FILE *file)
{
    fprintf(file, "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"%s\">\n",
            type, name, components, ascii ? "ascii" : "binary");
}

/* An array of numbers of `bytes` each: of the machine's byte order, as the head of the file
 * says. */
static void put_array(const void *data, uint64_t bytes, FILE *file)
{
    BrioBase64 base64 = {.file = file};
    brio__base64_put(&base64, &bytes, sizeof bytes);
    brio__base64_put(&base64, data, (size_t)bytes);
    brio__base64_end(&base64);
}

static void write_vtu(const BrioMesh *mesh, bool ascii, FILE *file)
{
    Group group[3];
    const uint16_t one = 1;
    int64_t offset = 0;
    BrioBase64 base64 = {.file = file};
    groups_of(mesh, group);
    fprintf(file,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
            "byte_order=\"%s\" header_type=\"UInt64\">\n<UnstructuredGrid>\n",
            *(const unsigned char *)&one ? "LittleEndian" : "BigEndian");
    fprintf(file, "<Piece NumberOfPoints=\"%lld\" NumberOfCells=\"%lld\">\n<Points>\n",
            (long long)mesh->vertex_count, (long long)cell_count(mesh));
    open_array("Float64", "position", 3, ascii, file);
    if (ascii)
        put_points(mesh, "", "\n", file);
    else
        put_array(mesh->x, 24 * (uint64_t)mesh->vertex_count, file);
    fputs("\n</DataArray>\n</Points>\n<Cells>\n", file);
    open_array("Int32", "connectivity", 1, ascii, file);
    uint64_t bytes = 4 * (uint64_t)corner_count(mesh);
    if (!ascii) brio__base64_put(&base64, &bytes, sizeof bytes);
    for (int g = 0; g < 3; g++) {
        if (ascii)
            put_elements(group[g].vertex, group[g].count, group[g].corners, 0, "", "\n", file);
        else
            brio__base64_put(&base64, group[g].vertex,
                             (size_t)(group[g].count * group[g].corners) * 4);
    }
    if (!ascii) brio__base64_end(&base64);
    fputs("\n</DataArray>\n", file);
    open_array("Int64", "offsets", 1, ascii, file);
    base64 = (BrioBase64){.file = file};
    bytes = 8 * (uint64_t)cell_count(mesh);
    if (!ascii) brio__base64_put(&base64, &bytes, sizeof bytes);
    for (int g = 0; g < 3; g++)
        for (int64_t e = 0; e < group[g].count; e++) {
            offset += group[g].corners;
            if (ascii)
                fprintf(file, "%lld\n", (long long)offset);
            else
                brio__base64_put(&base64, &offset, sizeof offset);
        }
    if (!ascii) brio__base64_end(&base64);
    fputs("\n</DataArray>\n", file);
    open_array("UInt8", "types", 1, ascii, file);
    base64 = (BrioBase64){.file = file};
    bytes = (uint64_t)cell_count(mesh);
    if (!ascii) brio__base64_put(&base64, &bytes, sizeof bytes);
    for (int g = 0; g < 3; g++)
        for (int64_t e = 0; e < group[g].count; e++) {
            unsigned char type = (unsigned char)group[g].vtk;
            if (ascii)
                fprintf(file, "%d\n", type);
            else
                brio__base64_put(&base64, &type, 1);
        }
    if (!ascii) brio__base64_end(&base64);
    fputs("\n</DataArray>\n</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n", file);
}

/* Version 4.1; nodes belong to the entity of the highest dimension, elements to those of their
 * own. */
static void write_msh(const BrioMesh *mesh, bool ascii, FILE *file)
{
    const uint16_t one = 1;
    bool big = *(const unsigned char *)&one == 0;
    Group group[3];
    int blocks = 0, dimension = mesh->tet_count ? 3 : mesh->triangle_count ? 2 : 1;
    int64_t cells = cell_count(mesh), tag = 0;
    groups_of(mesh, group);
    for (int g = 0; g < 3; g++) blocks += group[g].count > 0;
    fprintf(file, "$MeshFormat\n4.1 %d 8\n", !ascii);
    if (!ascii) {
        put_int32(1, big, file);
        fputc('\n', file);
    }
    fputs("$EndMeshFormat\n$Nodes\n", file);
    if (ascii) {
        fprintf(file, "1 %lld 1 %lld\n%d 1 0 %lld\n", (long long)mesh->vertex_count,
                (long long)mesh->vertex_count, dimension, (long long)mesh->vertex_count);
        for (int64_t v = 1; v <= mesh->vertex_count; v++) fprintf(file, "%lld\n", (long long)v);
        put_points(mesh, "", "\n", file);
    } else {
        const int64_t head[] = {1, mesh->vertex_count, 1, mesh->vertex_count};
        for (int k = 0; k < 4; k++) put_int64(head[k], big, file);
        put_int32(dimension, big, file);
        put_int32(1, big, file);
        put_int32(0, big, file);
        put_int64(mesh->vertex_count, big, file);
        for (int64_t v = 1; v <= mesh->vertex_count; v++) put_int64(v, big, file);
        for (int64_t i = 0; i < 3 * mesh->vertex_count; i++) put_double(mesh->x[i], big, file);
        fputc('\n', file);
    }
    fputs("$EndNodes\n$Elements\n", file);
    const int64_t head[] = {blocks, cells, 1, cells};
    for (int k = 0; k < 4; k++) {
        if (ascii)
            fprintf(file, "%lld%c", (long long)head[k], k < 3 ? ' ' : '\n');
        else
            put_int64(head[k], big, file);
    }
    for (int g = 0; g < 3; g++) {
        if (!group[g].count) continue;
        if (ascii) {
            fprintf(file, "%d 1 %d %lld\n", g + 1, group[g].gmsh, (long long)group[g].count);
        } else {
            put_int32(g + 1, big, file);
            put_int32(1, big, file);
            put_int32(group[g].gmsh, big, file);
            put_int64(group[g].count, big, file);
        }
        for (int64_t e = 0; e < group[g].count; e++) {
            const int32_t *v = group[g].vertex + group[g].corners * e;
            tag++;
            if (ascii) {
                fprintf(file, "%lld ", (long long)tag);
                put_elements(v, 1, group[g].corners, 1, "", "\n", file);
                continue;
            }
            put_int64(tag, big, file);
            for (int k = 0; k < group[g].corners; k++) put_int64((int64_t)v[k] + 1, big, file);
        }
    }
    fputs(ascii ? "$EndElements\n" : "\n$EndElements\n", file);
}

static void write_medit(const BrioMesh *mesh, bool ascii, FILE *file)
{
    (void)ascii;
    static const char *const name[3] = {"Edges", "Triangles", "Tetrahedra"};
    Group group[3];
    groups_of(mesh, group);
    fprintf(file, "MeshVersionFormatted 2\nDimension 3\nVertices\n%lld\n",
            (long long)mesh->vertex_count);
    put_points(mesh, "", " 0\n", file);
    for (int g = 0; g < 3; g++) {
        if (!group[g].count) continue;
        fprintf(file, "%s\n%lld\n", name[g], (long long)group[g].count);
        put_elements(group[g].vertex, group[g].count, group[g].corners, 1, "", " 0\n", file);
    }
    fputs("End\n", file);
}

static void write_node(const BrioMesh *mesh, bool ascii, FILE *file)
{
    (void)ascii;
    fprintf(file, "%lld 3 0 0\n", (long long)mesh->vertex_count);
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        fprintf(file, "%lld ", (long long)v);
        put_point(mesh->x + 3 * v, file);
        fputc('\n', file);
    }
}

static void write_ele(const BrioMesh *mesh, bool ascii, FILE *file)
{
    (void)ascii;
    fprintf(file, "%lld 4 0\n", (long long)mesh->tet_count);
    for (int64_t t = 0; t < mesh->tet_count; t++) {
        fprintf(file, "%lld ", (long long)t);
        put_elements(mesh->tet + 4 * t, 1, 4, 0, "", "\n", file);
    }
}

/* ---- registry --------------------------------------------------------------------------- */

static const BrioMeshWriter writers[] = {
    {.extension = ".obj", .triangles = true, .edges = true, .has_ascii = true, .write = write_obj},
    {.extension = ".off", .triangles = true, .edges = true, .has_ascii = true, .write = write_off},
    {.extension = ".ply",
     .triangles = true,
     .edges = true,
     .has_ascii = true,
     .has_binary = true,
     .write = write_ply},
    {.extension = ".stl",
     .triangles = true,
     .has_ascii = true,
     .has_binary = true,
     .single = true,
     .write = write_stl},
    {.extension = ".vtk",
     .tets = true,
     .triangles = true,
     .edges = true,
     .has_ascii = true,
     .has_binary = true,
     .write = write_vtk},
    {.extension = ".vtu",
     .tets = true,
     .triangles = true,
     .edges = true,
     .has_ascii = true,
     .has_binary = true,
     .write = write_vtu},
    {.extension = ".msh",
     .tets = true,
     .triangles = true,
     .edges = true,
     .has_ascii = true,
     .has_binary = true,
     .write = write_msh},
    {.extension = ".mesh",
     .tets = true,
     .triangles = true,
     .edges = true,
     .has_ascii = true,
     .write = write_medit},
    {.extension = ".node",
     .tets = true,
     .has_ascii = true,
     .second = ".ele",
     .write = write_node,
     .write_second = write_ele},
    {.extension = ".ele",
     .tets = true,
     .has_ascii = true,
     .second = ".node",
     .write = write_ele,
     .write_second = write_node},
};

const BrioMeshWriter *brio__mesh_writer_at(int i)
{
    return i >= 0 && i < (int)BRIO_COUNT(writers) ? &writers[i] : NULL;
}

BrioStatus brio__mesh_writer(const char *file, const BrioMeshWriter **writer, BrioError *error)
{
    const char *slash = strrchr(file, '/'), *dot = strrchr(file, '.');
    char list[128] = "";
    if (!dot || (slash && dot < slash)) dot = "";
    for (size_t i = 0; i < BRIO_COUNT(writers); i++) {
        if (!strcasecmp(dot, writers[i].extension)) return *writer = &writers[i], BRIO_OK;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", writers[i].extension);
    }
    return brio__error_at(error, BRIO_ERROR_UNSUPPORTED, file, 0, 0, NULL, "%s; brio writes %s",
                          dot[0] ? "meshes of this type are not written"
                                 : "the name has no extension to tell the format",
                          list);
}

BrioStatus brio__mesh_compact(BrioMesh *mesh)
{
    const struct {
        int32_t *vertex;
        int64_t count;
    } part[] = {{mesh->edge, 2 * mesh->edge_count},
                {mesh->triangle, 3 * mesh->triangle_count},
                {mesh->tet, 4 * mesh->tet_count}};
    int32_t *number = brio__alloc((size_t)mesh->vertex_count + 1, sizeof *number);
    int64_t kept = 0;
    if (!number) return BRIO_ERROR_MEMORY;
    memset(number, 0xff, (size_t)mesh->vertex_count * sizeof *number);
    for (size_t p = 0; p < BRIO_COUNT(part); p++)
        for (int64_t i = 0; i < part[p].count; i++) number[part[p].vertex[i]] = 0;
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        if (number[v] < 0) continue;
        memmove(mesh->x + 3 * kept, mesh->x + 3 * v, 3 * sizeof *mesh->x);
        number[v] = (int32_t)kept++;
    }
    for (size_t p = 0; p < BRIO_COUNT(part); p++)
        for (int64_t i = 0; i < part[p].count; i++) part[p].vertex[i] = number[part[p].vertex[i]];
    mesh->vertex_count = kept;
    brio__free(number);
    return BRIO_OK;
}

BrioStatus brio__mesh_fit(const BrioMeshWriter *writer, BrioMesh *mesh, char *note, size_t size,
                          BrioError *error)
{
    int64_t tets = mesh->tet_count, vertices = mesh->vertex_count;
    note[0] = 0;
    if (tets && !writer->tets) {
        BRIO_CHECK(brio__mesh_surface(mesh, error));
        mesh->tet_count = 0;
        if (brio__mesh_compact(mesh) != BRIO_OK)
            return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
        snprintf(note, size,
                 "%s holds no tets: written is the surface of the %lld tets, %lld triangles with "
                 "%lld of the %lld vertices",
                 writer->extension, (long long)tets, (long long)mesh->triangle_count,
                 (long long)mesh->vertex_count, (long long)vertices);
    }
    if (!writer->tets && !mesh->triangle_count && !(writer->edges && mesh->edge_count))
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "%s holds triangles%s, and the mesh has none; take .vtu, .msh or .mesh",
                           writer->extension, writer->edges ? " and lines" : "");
    if (!writer->triangles && !tets)
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "%s and %s hold tets, and the mesh has none; take another format, or "
                           "make tets first: brio mesh tetrahedralise",
                           writer->extension, writer->second);
    int64_t triangles = writer->triangles ? 0 : mesh->triangle_count;
    int64_t edges = writer->edges ? 0 : mesh->edge_count;
    if (!triangles && !edges) return BRIO_OK;
    if (triangles) mesh->triangle_count = 0;
    if (edges) mesh->edge_count = 0;
    size_t used = strlen(note);
    snprintf(note + used, size - used, "%s%s cannot hold %s%s%s: left out", used ? "; " : "",
             writer->extension, triangles ? "triangles" : "", triangles && edges ? " and " : "",
             edges ? "lines" : "");
    return BRIO_OK;
}
