/* Reading meshes: the registry by extension, whole files, and the draft that readers fill. */
#include "readers.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* ---- draft ------------------------------------------------------------------------------ */

const char *brio__element_name(int corners)
{
    return corners == 4 ? "tet" : corners == 3 ? "triangle" : "edge";
}

static BrioStatus no_memory(const BrioScan *scan)
{
    return brio__error_at(scan->error, BRIO_ERROR_MEMORY, scan->file, scan->line, 0, NULL,
                          "out of memory while reading the mesh");
}

BrioStatus brio__draft_vertex(BrioDraft *draft, const BrioScan *scan, const double point[3])
{
    if (draft->vertex_count == draft->vertex_room) {
        int64_t room = BRIO_MAX((int64_t)256, 2 * draft->vertex_room);
        double *grown =
            brio__realloc(draft->x, (size_t)draft->vertex_count, (size_t)room, 3 * sizeof *grown);
        if (!grown) return no_memory(scan);
        draft->x = grown;
        draft->vertex_room = room;
    }
    memcpy(draft->x + 3 * draft->vertex_count++, point, 3 * sizeof *point);
    return BRIO_OK;
}

/* Counts the elements that a mesh to be repaired loses; NULL: such a mesh is rejected. (The engine
 * for JavaScript is linked without storage for threads, and reads meshes in one only.) */
#ifdef __EMSCRIPTEN__
static int64_t *left_out;
#else
static _Thread_local int64_t *left_out;
#endif

BrioStatus brio__draft_element(BrioDraft *draft, const BrioScan *scan, int corners,
                               const int32_t *vertices)
{
    for (int i = 1; i < corners; i++)
        for (int j = 0; j < i; j++) {
            if (vertices[i] != vertices[j]) continue;
            if (!left_out)
                return brio__scan_error(scan, "this %s names the same vertex twice; remove the %s",
                                        brio__element_name(corners), brio__element_name(corners));
            (*left_out)++;
            return BRIO_OK;
        }
    int64_t *count = draft->element_count + corners, *room = draft->element_room + corners;
    if (*count == *room) {
        int64_t more = BRIO_MAX((int64_t)256, 2 * *room);
        int32_t *grown = brio__realloc(draft->element[corners], (size_t)*count, (size_t)more,
                                       (size_t)corners * sizeof *grown);
        if (!grown) return no_memory(scan);
        draft->element[corners] = grown;
        *room = more;
    }
    memcpy(draft->element[corners] + corners * (*count)++, vertices,
           (size_t)corners * sizeof *vertices);
    return BRIO_OK;
}

BrioStatus brio__draft_index(BrioScan *scan, int64_t base, int64_t count, int32_t *index)
{
    int64_t value;
    BRIO_CHECK(brio__value_integer(scan, scan->index, "the number of a vertex", 0, &value));
    return brio__draft_number(scan, value, base, count, index);
}

BrioStatus brio__draft_number(const BrioScan *scan, int64_t value, int64_t base, int64_t count,
                              int32_t *index)
{
    if (value < base || value - base >= count || value - base > INT32_MAX) {
        if (count == 0)
            return brio__scan_error(scan, "there is no vertex %lld: the vertices must come first",
                                    (long long)value);
        return brio__scan_error(scan,
                                "there is no vertex %lld: the vertices are numbered %lld to %lld",
                                (long long)value, (long long)base, (long long)(base + count - 1));
    }
    *index = (int32_t)(value - base);
    return BRIO_OK;
}

BrioStatus brio__draft_read_element(BrioDraft *draft, BrioScan *scan, int corners, int64_t base)
{
    int32_t vertices[4];
    for (int i = 0; i < corners; i++)
        BRIO_CHECK(brio__draft_index(scan, base, draft->vertex_count, vertices + i));
    return brio__draft_element(draft, scan, corners, vertices);
}

BrioStatus brio__draft_read_polygon(BrioDraft *draft, BrioScan *scan, int64_t corners, int64_t base)
{
    int32_t vertices[3];
    for (int64_t i = 0; i < corners; i++) {
        int place = (int)BRIO_MIN(i, 2);
        BRIO_CHECK(brio__draft_index(scan, base, draft->vertex_count, vertices + place));
        if (i == 1 && corners == 2) BRIO_CHECK(brio__draft_element(draft, scan, 2, vertices));
        if (i < 2) continue;
        BRIO_CHECK(brio__draft_element(draft, scan, 3, vertices));
        vertices[1] = vertices[2];
    }
    return BRIO_OK;
}

/* The cells of VTK that brio cannot use. */
static const char *cell_name(int64_t type)
{
    switch (type) {
    case 11:
    case 12: return "a hexahedron";
    case 13: return "a wedge";
    case 14: return "a pyramid";
    case 15:
    case 16: return "a prism";
    case 41:
    case 42: return "a polyhedron";
    case 24: return "a tetrahedron of 10 nodes, of second order";
    case 61:
    case 71: return "a tetrahedron of second or higher order";
    case 22: return "a triangle of 6 nodes, of second order";
    }
    return type >= 21 && type <= 81 ? "of second or higher order" : NULL;
}

BrioStatus brio__draft_cell(BrioDraft *draft, const BrioScan *scan, int64_t type, int64_t corners,
                            const int32_t *v)
{
    static const int8_t exact[] = {[3] = 2, [5] = 3, [8] = 4, [9] = 4, [10] = 4};
    static const int8_t min[] = {[4] = 2, [6] = 3, [7] = 3};
    int64_t need = type >= 0 && type < (int)BRIO_COUNT(exact) ? exact[type] : 0;
    int64_t some = type >= 0 && type < (int)BRIO_COUNT(min) ? min[type] : 0;
    if (type >= 0 && type <= 2) return BRIO_OK; /* nothing, points */
    if ((need && corners != need) || (some && corners < some))
        return brio__scan_error(scan, "a cell of type %lld has %lld vertices; it needs %s%lld",
                                (long long)type, (long long)corners, need ? "" : "at least ",
                                (long long)(need ? need : some));
    switch (type) {
    case 3:
    case 5:
    case 10: return brio__draft_element(draft, scan, (int)corners, v);
    case 4: /* a chain of lines */
        for (int64_t i = 0; i + 1 < corners; i++)
            BRIO_CHECK(brio__draft_element(draft, scan, 2, v + i));
        return BRIO_OK;
    case 6: /* a strip: every second triangle is turned */
        for (int64_t i = 0; i + 2 < corners; i++)
            BRIO_CHECK(brio__draft_element(
                draft, scan, 3, (const int32_t[]){v[i + i % 2], v[i + 1 - i % 2], v[i + 2]}));
        return BRIO_OK;
    case 7:
    case 9:
        for (int64_t i = 1; i + 1 < corners; i++)
            BRIO_CHECK(
                brio__draft_element(draft, scan, 3, (const int32_t[]){v[0], v[i], v[i + 1]}));
        return BRIO_OK;
    case 8: /* a pixel: its rows run in the same direction */
        BRIO_CHECK(brio__draft_element(draft, scan, 3, (const int32_t[]){v[0], v[1], v[3]}));
        return brio__draft_element(draft, scan, 3, (const int32_t[]){v[0], v[3], v[2]});
    }
    const char *name = cell_name(type);
    return brio__scan_error(scan,
                            "cell type %lld%s%s%s; brio reads lines (3, 4), triangles and polygons "
                            "(5 to 9) and tetrahedra (10): save the mesh with those",
                            (long long)type, name ? " is " : " is not known", name ? name : "",
                            name ? ", which brio does not simulate" : "");
}

static void turn_negative_tets(BrioMesh *mesh, const char *file)
{
    int64_t negative = 0;
    for (int64_t t = 0; t < mesh->tet_count; t++) {
        const int32_t *v = mesh->tet + 4 * t;
        const double *x = mesh->x;
        double volume6 = brio__tet_volume6(x + 3 * (int64_t)v[0], x + 3 * (int64_t)v[1],
                                           x + 3 * (int64_t)v[2], x + 3 * (int64_t)v[3]);
        if (volume6 > 0) return;
        negative += volume6 < 0;
    }
    if (negative == 0) return;
    for (int64_t t = 0; t < mesh->tet_count; t++) {
        int32_t *v = mesh->tet + 4 * t, swap = v[2];
        v[2] = v[3];
        v[3] = swap;
    }
    brio__log(BRIO_LOG_WARNING,
              "%s: all tets are oriented negatively; the last two vertices of each were swapped",
              file);
}

static BrioStatus make_mesh(const BrioDraft *draft, const char *file, BrioMesh **mesh,
                            BrioError *error)
{
    const int64_t *count = draft->element_count;
    if (draft->vertex_count == 0)
        return brio__error_at(error, BRIO_ERROR_INPUT, file, 0, 0, NULL,
                              "the file holds no vertices");
    if (count[2] + count[3] + count[4] == 0 && !draft->points)
        return brio__error_at(error, BRIO_ERROR_INPUT, file, 0, 0, NULL,
                              "the file holds vertices but no tets, triangles or edges");
    BRIO_CHECK(brio__mesh_create(draft->vertex_count, count[4], count[3], count[2], mesh, error));
    BrioMesh *created = *mesh;
    memcpy(created->x, draft->x, (size_t)draft->vertex_count * 3 * sizeof(double));
    if (count[4]) memcpy(created->tet, draft->element[4], (size_t)count[4] * 4 * sizeof(int32_t));
    if (count[3])
        memcpy(created->triangle, draft->element[3], (size_t)count[3] * 3 * sizeof(int32_t));
    if (count[2]) memcpy(created->edge, draft->element[2], (size_t)count[2] * 2 * sizeof(int32_t));
    BRIO_CHECK(brio__mesh_check(created, error));
    turn_negative_tets(created, file);
    return BRIO_OK;
}

BrioStatus brio__draft_finish(BrioDraft *draft, BrioStatus status, const char *file,
                              BrioMesh **mesh, BrioError *error)
{
    *mesh = NULL;
    if (status == BRIO_OK) status = make_mesh(draft, file, mesh, error);
    if (status != BRIO_OK) {
        brio_mesh_free(*mesh);
        *mesh = NULL;
        if (error && !error->file[0]) snprintf(error->file, sizeof error->file, "%s", file);
    }
    brio__free(draft->x);
    for (int corners = 2; corners <= 4; corners++) brio__free(draft->element[corners]);
    *draft = (BrioDraft){0};
    return status;
}

/* ---- files ------------------------------------------------------------------------------ */

static BrioStatus read_open_file(FILE *stream, const char *file, char **text, size_t *size,
                                 BrioError *error)
{
    struct stat about;
    if (fstat(fileno(stream), &about))
        return brio__error_at(error, BRIO_ERROR_FILE, file, 0, 0, NULL, "cannot be read: %s",
                              strerror(errno));
    if (S_ISDIR(about.st_mode))
        return brio__error_at(error, BRIO_ERROR_FILE, file, 0, 0, NULL,
                              "this is a directory; name the mesh file in it");
    if (!S_ISREG(about.st_mode))
        return brio__error_at(error, BRIO_ERROR_FILE, file, 0, 0, NULL,
                              "this is not a regular file");
    if (about.st_size == 0)
        return brio__error_at(error, BRIO_ERROR_INPUT, file, 0, 0, NULL, "the file is empty");
    double have = brio__memory_available();
    if ((double)about.st_size >
        have / 4) /* the text, the draft that grows by doubling, and the mesh */
        return brio__error_at(
            error, BRIO_ERROR_TOO_LARGE, file, 0, 0, NULL,
            "the file has %.3g GB: too much to read with %.3g GB of memory; use a coarser mesh",
            (double)about.st_size * 1e-9, have * 1e-9);
    *text = brio__alloc((size_t)about.st_size + 1, 1);
    if (!*text)
        return brio__error_at(error, BRIO_ERROR_MEMORY, file, 0, 0, NULL,
                              "out of memory while reading the file");
    *size = fread(*text, 1, (size_t)about.st_size, stream);
    (*text)[*size] = 0;
    if (*size == (size_t)about.st_size) return BRIO_OK;
    brio__free(*text);
    *text = NULL;
    return brio__error_at(error, BRIO_ERROR_FILE, file, 0, 0, NULL, "cannot be read: %s",
                          ferror(stream) ? strerror(errno) : "the file became shorter meanwhile");
}

BrioStatus brio__read_file(const char *file, char **text, size_t *size, BrioError *error)
{
    *text = NULL;
    *size = 0;
    struct stat about; /* before opening: opening a pipe would wait for its writer */
    if (stat(file, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
        return brio__error_at(error, BRIO_ERROR_FILE, file, 0, 0, NULL,
                              "this is not a regular file");
    FILE *stream = fopen(file, "rb");
    if (!stream && errno == ENOENT)
        return brio__error_at(error, BRIO_ERROR_FILE, file, 0, 0, NULL, "there is no such file");
    if (!stream)
        return brio__error_at(error, BRIO_ERROR_FILE, file, 0, 0, NULL, "cannot be opened: %s",
                              strerror(errno));
    BrioStatus status = read_open_file(stream, file, text, size, error);
    fclose(stream);
    return status;
}

/* ---- registry --------------------------------------------------------------------------- */

static const BrioMeshReader *const readers[] = {
#define READER(symbol) &brio__reader_##symbol,
#include "readers.def"
#undef READER
};

const BrioMeshReader *brio__mesh_reader_at(int i)
{
    return i >= 0 && i < (int)BRIO_COUNT(readers) ? readers[i] : NULL;
}

/* The part of the last name from its last dot; "" if it has none. */
static const char *extension_of(const char *file)
{
    const char *slash = strrchr(file, '/'), *dot = strrchr(file, '.');
    return dot && (!slash || dot > slash) ? dot : "";
}

static BrioStatus find_reader(const char *file, const BrioMeshReader **reader, BrioError *error)
{
    const char *extension = extension_of(file);
    char list[256] = "";
    for (size_t i = 0; i < BRIO_COUNT(readers); i++) {
        if (!strcasecmp(readers[i]->extension, extension)) {
            *reader = readers[i];
            return BRIO_OK;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", readers[i]->extension);
    }
    if (!extension[0])
        return brio__error_at(error, BRIO_ERROR_UNSUPPORTED, file, 0, 0, NULL,
                              "the name has no extension that tells the format; brio reads %s",
                              list);
    return brio__error_at(error, BRIO_ERROR_UNSUPPORTED, file, 0, 0, NULL,
                          "brio does not read meshes of type \"%.20s\"; it reads %s", extension,
                          list);
}

BrioStatus brio__mesh_parse(const char *file, const char *text, size_t size, BrioMesh **mesh,
                            BrioError *error)
{
    const BrioMeshReader *reader;
    *mesh = NULL;
    BRIO_CHECK(find_reader(file, &reader, error));
    if (size == 0)
        return brio__error_at(error, BRIO_ERROR_INPUT, file, 0, 0, NULL, "the file is empty");
    return reader->read(file, text, size, mesh, error);
}

/* The OBJ that serves where a file is not there; false: there is none, or none is needed. */
static bool find_stand_in(const char *file, char *other, size_t size, const BrioMeshReader **reader)
{
    struct stat about;
    int stem = (int)(extension_of(file) - file);
    if (!extension_of(file)[0] || find_reader(file, reader, NULL) != BRIO_OK || !(*reader)->reduce)
        return false;
    if (stat(file, &about) == 0 || snprintf(other, size, "%.*s.obj", stem, file) >= (int)size)
        return false;
    return stat(other, &about) == 0;
}

bool brio__mesh_file_exists(const char *file)
{
    const BrioMeshReader *reader;
    struct stat about;
    char other[4096];
    return stat(file, &about) == 0 || find_stand_in(file, other, sizeof other, &reader);
}

static BrioStatus read_stand_in(const char *other, const BrioMeshReader *reader, BrioMesh **mesh,
                                BrioError *error)
{
    BRIO_CHECK(brio_mesh_read(other, mesh, error));
    BrioStatus status = reader->reduce(*mesh);
    if (status == BRIO_OK) return BRIO_OK;
    brio_mesh_free(*mesh);
    *mesh = NULL;
    return brio__no_memory(error);
}

BrioStatus brio_mesh_read(const char *file, BrioMesh **mesh, BrioError *error)
{
    if (error) *error = (BrioError){0};
    if (!mesh || !file) return brio__error(error, BRIO_ERROR_ARGUMENT, "file name or mesh is NULL");
    *mesh = NULL;
    const BrioMeshReader *reader;
    char *text;
    size_t size;
    struct stat about;
    char other[4096];
    if (find_stand_in(file, other, sizeof other, &reader))
        return read_stand_in(other, reader, mesh, error);
    /* A directory or a missing file is the better thing to say than that its extension is
     * unknown. */
    if (stat(file, &about) || S_ISDIR(about.st_mode))
        return brio__read_file(file, &text, &size, error);
    BRIO_CHECK(find_reader(file, &reader, error));
    BRIO_CHECK(brio__read_file(file, &text, &size, error));
    BrioStatus status = reader->read(file, text, size, mesh, error);
    brio__free(text);
    return status;
}

BrioStatus brio__mesh_read_broken(const char *file, int64_t *count, BrioMesh **mesh,
                                  BrioError *error)
{
    *count = 0;
    left_out = count;
    BrioStatus status = brio_mesh_read(file, mesh, error);
    left_out = NULL;
    return status;
}
