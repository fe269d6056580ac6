/* Writing meshes, by the extension of the file: what the writers share, and the registry. Text has
 * as many digits as it takes to read the same numbers again; binary data are of the machine's byte
 * order where a format can say which, and little-endian for STL. Format errors of the stream are
 * the caller's to ask for. */
#include "writers.h"

#include "../number.h"

#include <string.h>
#include <strings.h>

/* ---- pieces of text and bytes ----------------------------------------------------------- */

void brio__put_point(const double *p, FILE *file)
{
    for (int k = 0; k < 3; k++) fprintf(file, "%s%s", k ? " " : "", brio__real_text(p[k], 1).text);
}

void brio__put_points(const BrioMesh *mesh, const char *before, const char *after, FILE *file)
{
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        fputs(before, file);
        brio__put_point(mesh->x + 3 * v, file);
        fputs(after, file);
    }
}

/* One element a line: `before`, its vertices counted from `base`, `after`. */
void brio__put_elements(const int32_t *vertex, int64_t count, int corners, int base,
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

void brio__put_int32(int64_t value, bool big_endian, FILE *file)
{
    int32_t number = (int32_t)value;
    put_bytes(&number, 4, big_endian, file);
}

void brio__put_int64(int64_t value, bool big_endian, FILE *file)
{
    put_bytes(&value, 8, big_endian, file);
}
void brio__put_double(double value, bool big_endian, FILE *file)
{
    put_bytes(&value, 8, big_endian, file);
}

void brio__put_float(double value, bool big_endian, FILE *file)
{
    float number = (float)value;
    put_bytes(&number, 4, big_endian, file);
}

void brio__mesh_groups(const BrioMesh *mesh, BrioMeshGroup group[3])
{
    group[0] = (BrioMeshGroup){2, 3, 1, mesh->edge_count, mesh->edge};
    group[1] = (BrioMeshGroup){3, 5, 2, mesh->triangle_count, mesh->triangle};
    group[2] = (BrioMeshGroup){4, 10, 4, mesh->tet_count, mesh->tet};
}

int64_t brio__mesh_cells(const BrioMesh *mesh)
{
    return mesh->edge_count + mesh->triangle_count + mesh->tet_count;
}
int64_t brio__mesh_corners(const BrioMesh *mesh)
{
    return 2 * mesh->edge_count + 3 * mesh->triangle_count + 4 * mesh->tet_count;
}

/* ---- registry --------------------------------------------------------------------------- */

static const BrioMeshWriter *const writers[] = {
#define WRITER(symbol) &brio__writer_##symbol,
#include "writers.def"
#undef WRITER
};

const BrioMeshWriter *brio__mesh_writer_at(int i)
{
    return i >= 0 && i < (int)BRIO_COUNT(writers) ? writers[i] : NULL;
}

BrioStatus brio__mesh_writer(const char *file, const BrioMeshWriter **writer, BrioError *error)
{
    const char *slash = strrchr(file, '/'), *dot = strrchr(file, '.');
    char list[128] = "";
    if (!dot || (slash && dot < slash)) dot = "";
    for (size_t i = 0; i < BRIO_COUNT(writers); i++) {
        if (!strcasecmp(dot, writers[i]->extension)) return *writer = writers[i], BRIO_OK;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", writers[i]->extension);
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
    brio__vertex_groups_free(mesh->groups); /* the numbers are others now */
    mesh->groups = NULL;
    return BRIO_OK;
}

/* What the file had and no writer has: "texture coordinates, groups"; "" if nothing. */
static void list_lost(const BrioMesh *mesh, char *list, size_t size)
{
    const BrioFaces *f = mesh->faces;
    const struct {
        const char *name;
        bool there;
    } lost[] = {{"texture coordinates", f && f->corner_uv},
                {"normals", f && f->corner_normal},
                {"groups", mesh->groups || (f && f->face_group)}};
    list[0] = 0;
    for (size_t i = 0; i < BRIO_COUNT(lost); i++) {
        size_t used = strlen(list);
        if (lost[i].there)
            snprintf(list + used, size - used, "%s%s", used ? ", " : "", lost[i].name);
    }
}

BrioStatus brio__mesh_fit(const BrioMeshWriter *writer, BrioMesh *mesh, char *note, size_t size,
                          BrioError *error)
{
    int64_t tets = mesh->tet_count, vertices = mesh->vertex_count;
    char lost[64];
    note[0] = 0;
    list_lost(mesh, lost, sizeof lost);
    if (!tets && !mesh->triangle_count && !mesh->edge_count)
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "the mesh has points alone; brio writes tets, triangles and lines");
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
                           "%s stores triangles%s, and the mesh has none; use .vtu, .msh or .mesh",
                           writer->extension, writer->edges ? " and lines" : "");
    if (!writer->triangles && !tets)
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "%s and %s store tets, and the mesh has none; use another format, or "
                           "make tets first: brio mesh tetrahedralise",
                           writer->extension, writer->second);
    int64_t triangles = writer->triangles ? 0 : mesh->triangle_count;
    int64_t edges = writer->edges ? 0 : mesh->edge_count;
    size_t used = strlen(note);
    if (triangles) mesh->triangle_count = 0;
    if (edges) mesh->edge_count = 0;
    if (triangles || edges)
        snprintf(note + used, size - used, "%s%s cannot hold %s%s%s: left out", used ? "; " : "",
                 writer->extension, triangles ? "triangles" : "", triangles && edges ? " and " : "",
                 edges ? "lines" : "");
    used = strlen(note);
    if (lost[0])
        snprintf(note + used, size - used, "%sbrio does not write %s: left out", used ? "; " : "",
                 lost);
    return BRIO_OK;
}
