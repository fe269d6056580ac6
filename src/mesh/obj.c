/* Wavefront OBJ: vertices, faces, lines. Faces become fans of triangles; as what they were
 * (polygons, textures, which corners share a normal, objects and groups) they stay in mesh->faces,
 * for results. Negative numbers count back from the one read last. Everything else is passed
 * over. */
#include "readers.h"
#include "writers.h"

#include <stdlib.h>
#include <string.h>

/* What faces say beyond triangles. Numbers of textures and normals are judged at the end: they may
 * stand before what they name. */
typedef struct Corners {
    int64_t count, room;
    int32_t *vertex;
    int64_t *uv, *normal; /* from 0; -1: none */
    int64_t face_count, face_room;
    int32_t *start, *group; /* of each face: its first corner; its group, -1: none */
    int64_t uv_count, uv_room, normal_count;
    double *uvs;
    int32_t group_count, group_room;
    char **name;
    char *now;     /* the name for the faces that follow; NULL: none */
    bool used;     /* a face has it */
    bool polygons; /* one has more than three corners */
    bool uv_used, normal_used;
} Corners;

static void free_corners(Corners *c)
{
    for (int32_t g = 0; g < c->group_count; g++) brio__free(c->name[g]);
    brio__free(c->name);
    brio__free(c->now);
    brio__free(c->vertex);
    brio__free(c->uv);
    brio__free(c->normal);
    brio__free(c->start);
    brio__free(c->group);
    brio__free(c->uvs);
}

static BrioStatus no_memory(const BrioScan *scan)
{
    return brio__error_at(scan->error, BRIO_ERROR_MEMORY, scan->file, scan->line, 0, NULL,
                          "out of memory while reading the mesh");
}

/* Room for one more, of `width` numbers each. */
#define GROW(scan, array, count, room, width)                                                 \
    do {                                                                                      \
        void *grown_ = (count) < (room)                                                       \
                           ? (array)                                                          \
                           : brio__realloc((array), (size_t)(count), (size_t)(count)*2 + 256, \
                                           (width) * sizeof *(array));                        \
        if (!grown_) return no_memory(scan);                                                  \
        (array) = grown_;                                                                     \
    } while (0)

/* How many vertices the whole file has: faces may name later ones. */
static int64_t count_vertices(BrioScan scan)
{
    int64_t count = 0;
    while (brio__scan_next_line(&scan)) {
        count += scan.end - scan.at >= 2 && scan.at[0] == 'v' &&
                 (scan.at[1] == ' ' || scan.at[1] == '\t');
        brio__scan_skip_line(&scan);
    }
    return count;
}

/* A number behind a slash; what is none counts as not given. */
static int64_t number_after_slash(const char **at, const char *end, int64_t so_far)
{
    if (*at >= end || **at != '/') return -1;
    const char *start = ++*at;
    bool back = start < end && *start == '-';
    int64_t value = 0;
    for (*at += back; *at < end && **at >= '0' && **at <= '9'; (*at)++)
        value = BRIO_MIN(10 * value + (**at - '0'), (int64_t)1 << 40);
    return value == 0 ? -1 : back ? so_far - value : value - 1;
}

static BrioStatus read_corner(BrioScan *scan, const Corners *c, int64_t so_far, int64_t total,
                              int32_t *index, int64_t *uv, int64_t *normal)
{
    int64_t value;
    BRIO_CHECK(brio__scan_integer(scan, "the number of a vertex", 0, &value));
    if (value == 0)
        return brio__scan_error(scan, "there is no vertex 0: OBJ counts from 1, or back from -1");
    if (value > total)
        return brio__scan_error(scan, "there is no vertex %lld: the file has %lld",
                                (long long)value, (long long)total);
    if (value < -so_far)
        return brio__scan_error(scan, "there is no vertex %lld: there are %lld before this line",
                                (long long)value, (long long)so_far);
    value = value > 0 ? value - 1 : so_far + value;
    if (value > INT32_MAX)
        return brio__scan_error(scan, "there are too many vertices: at most %d", INT32_MAX);
    *index = (int32_t)value;
    const char *at = scan->at;
    *uv = number_after_slash(&at, scan->end, c->uv_count);
    *normal = number_after_slash(&at, scan->end, c->normal_count);
    brio__scan_skip_value(scan);
    return BRIO_OK;
}

static BrioStatus add_corner(BrioScan *scan, Corners *c, int32_t vertex, int64_t uv, int64_t normal)
{
    GROW(scan, c->vertex, c->count, c->room, 1);
    GROW(scan, c->uv, c->count, c->room, 1);
    GROW(scan, c->normal, c->count, c->room, 1);
    if (c->count >= c->room) c->room = 2 * c->count + 256;
    if (c->count == INT32_MAX)
        return brio__scan_error(scan, "there are too many corners of faces: at most %d", INT32_MAX);
    c->vertex[c->count] = vertex;
    c->uv[c->count] = uv;
    c->normal[c->count++] = normal;
    c->uv_used |= uv >= 0;
    c->normal_used |= normal >= 0;
    return BRIO_OK;
}

static BrioStatus add_face(BrioScan *scan, Corners *c)
{
    GROW(scan, c->start, c->face_count, c->face_room, 1);
    GROW(scan, c->group, c->face_count, c->face_room, 1);
    if (c->face_count >= c->face_room) c->face_room = 2 * c->face_count + 256;
    if (c->now && !c->used) {
        GROW(scan, c->name, c->group_count, c->group_room, 1);
        if (c->group_count >= c->group_room) c->group_room = 2 * c->group_count + 256;
        if (!(c->name[c->group_count] = brio__strdup(c->now))) return no_memory(scan);
        c->group_count++;
        c->used = true;
    }
    c->start[c->face_count] = (int32_t)c->count;
    c->group[c->face_count++] = c->now ? c->group_count - 1 : -1;
    return BRIO_OK;
}

/* A face (min = 3) or a line (min = 2). */
static BrioStatus read_chain(BrioScan *scan, BrioDraft *draft, Corners *c, int min, int64_t total)
{
    int32_t vertices[3];
    int64_t uv = -1, normal = -1, corners = 0;
    if (min == 3) BRIO_CHECK(add_face(scan, c));
    for (; brio__scan_more(scan) || corners < min; corners++) {
        int place = (int)BRIO_MIN(corners, min - 1);
        if (!brio__scan_more(scan))
            return brio__scan_error(scan, "a %s needs at least %d vertices, and this one has %d",
                                    min == 3 ? "face" : "line", min, (int)corners);
        BRIO_CHECK(
            read_corner(scan, c, draft->vertex_count, total, vertices + place, &uv, &normal));
        if (min == 3) BRIO_CHECK(add_corner(scan, c, vertices[place], uv, normal));
        if (corners < min - 1) continue;
        BRIO_CHECK(brio__draft_element(draft, scan, min, vertices));
        vertices[min - 2] = vertices[min - 1];
    }
    c->polygons |= min == 3 && corners > 3;
    return BRIO_OK;
}

static BrioStatus read_texture(BrioScan *scan, Corners *c)
{
    GROW(scan, c->uvs, c->uv_count, c->uv_room, 2);
    if (c->uv_count >= c->uv_room) c->uv_room = 2 * c->uv_count + 256;
    double *uv = c->uvs + 2 * c->uv_count++;
    uv[1] = 0;
    BRIO_CHECK(brio__scan_real(scan, "a texture coordinate of vt", c->uv_count, uv));
    return brio__scan_more(scan)
               ? brio__scan_real(scan, "a texture coordinate of vt", c->uv_count, uv + 1)
               : BRIO_OK;
}

/* The rest of the line, without blanks around it; control characters are replaced, so that it can
 * be written anywhere. */
static BrioStatus read_name(BrioScan *scan, Corners *c)
{
    brio__free(c->now);
    c->now = NULL;
    c->used = false;
    if (!brio__scan_more(scan)) return BRIO_OK;
    char name[256];
    size_t used = 0;
    for (const char *at = scan->at;
         at < scan->end && *at != '\n' && *at != '\r' && *at != '#' && used + 1 < sizeof name; at++)
        name[used++] = (unsigned char)*at < 0x20 || *at == 0x7f ? ' ' : *at;
    while (used > 0 && name[used - 1] == ' ') used--;
    name[used] = 0;
    return used == 0 || (c->now = brio__strdup(name)) ? BRIO_OK : no_memory(scan);
}

static BrioStatus parse(BrioScan *scan, BrioDraft *draft, Corners *c)
{
    BRIO_CHECK(brio__scan_ascii(scan));
    scan->by_line = scan->joins = true;
    scan->stop = '/';
    int64_t total = count_vertices(*scan);
    while (brio__scan_next_line(scan)) {
        char word[8];
        BRIO_CHECK(brio__scan_word(scan, "a statement", word, sizeof word));
        if (!strcmp(word, "v")) {
            double point[3];
            BRIO_CHECK(
                brio__scan_point(scan, "a coordinate of vertex", draft->vertex_count + 1, point));
            BRIO_CHECK(brio__draft_vertex(draft, scan, point));
        } else if (!strcmp(word, "f")) {
            BRIO_CHECK(read_chain(scan, draft, c, 3, total));
        } else if (!strcmp(word, "l")) {
            BRIO_CHECK(read_chain(scan, draft, c, 2, total));
        } else if (!strcmp(word, "vt")) {
            BRIO_CHECK(read_texture(scan, c));
        } else if (!strcmp(word, "vn")) {
            c->normal_count++;
        } else if (!strcmp(word, "o") || !strcmp(word, "g")) {
            BRIO_CHECK(read_name(scan, c));
        }
        brio__scan_skip_line(scan);
    }
    return BRIO_OK;
}

/* Indices of `from` that exist, -1 for the others; returns how many do not. */
static int64_t take_numbers(const int64_t *from, int64_t count, int64_t max, int32_t *to)
{
    int64_t missing = 0;
    for (int64_t k = 0; k < count; k++) {
        bool there = from[k] >= 0 && from[k] < max;
        missing += from[k] >= max;
        to[k] = there ? (int32_t)from[k] : -1;
    }
    return missing;
}

typedef struct Named {
    const char *name;
    int32_t number;
} Named;

static int compare_named(const void *a, const void *b)
{
    const Named *p = a, *q = b;
    int order = strcmp(p->name, q->name);
    return order ? order : (p->number > q->number) - (p->number < q->number);
}

/* Groups of one name are one group, in the place of the first: files open them again and again. */
static BrioStatus join_groups(Corners *c)
{
    int32_t count = c->group_count, kept = 0;
    if (count < 2) return BRIO_OK;
    Named *named = brio__alloc((size_t)count, sizeof *named);
    int32_t *place = brio__alloc((size_t)count, sizeof *place);
    if (!named || !place) {
        brio__free(named);
        brio__free(place);
        return BRIO_ERROR_MEMORY;
    }
    for (int32_t g = 0; g < count; g++) named[g] = (Named){c->name[g], g};
    qsort(named, (size_t)count, sizeof *named, compare_named);
    for (int32_t i = 0, first = 0; i < count; i++) {
        if (strcmp(named[i].name, named[first].name)) first = i;
        place[named[i].number] = named[first].number;
    }
    for (int32_t g = 0; g < count; g++) {
        if (place[g] == g) {
            place[g] = kept;
            c->name[kept++] = c->name[g];
        } else {
            place[g] = place[place[g]]; /* the first one has its new number */
            brio__free(c->name[g]);
        }
    }
    c->group_count = kept;
    for (int64_t f = 0; f < c->face_count; f++)
        if (c->group[f] >= 0) c->group[f] = place[c->group[f]];
    brio__free(named);
    brio__free(place);
    return BRIO_OK;
}

static BrioStatus keep_faces(Corners *c, const char *file, BrioMesh *mesh)
{
    bool uvs = c->uv_used && c->uv_count, normals = c->normal_used && c->normal_count;
    if (c->face_count == 0 || !(c->polygons || uvs || normals || c->group_count)) return BRIO_OK;
    if (c->uv_count > INT32_MAX || c->normal_count > INT32_MAX) return BRIO_ERROR_TOO_LARGE;
    BRIO_CHECK(join_groups(c));
    BrioFaces *f = brio__faces_create(c->face_count, c->count, uvs ? c->uv_count : 0,
                                      normals ? c->normal_count : 0, c->group_count);
    if (!f) return BRIO_ERROR_MEMORY;
    mesh->faces = f;
    memcpy(f->start, c->start, (size_t)c->face_count * sizeof *f->start);
    f->start[c->face_count] = (int32_t)c->count;
    memcpy(f->vertex, c->vertex, (size_t)c->count * sizeof *f->vertex);
    if (f->face_group)
        memcpy(f->face_group, c->group, (size_t)c->face_count * sizeof *f->face_group);
    for (int32_t g = 0; g < c->group_count; g++) {
        f->group[g] = c->name[g];
        c->name[g] = NULL;
    }
    if (uvs) memcpy(f->uv, c->uvs, 2 * (size_t)c->uv_count * sizeof *f->uv);
    int64_t missing =
        (uvs ? take_numbers(c->uv, c->count, c->uv_count, f->corner_uv) : 0) +
        (normals ? take_numbers(c->normal, c->count, c->normal_count, f->corner_normal) : 0);
    if (missing)
        brio__log(BRIO_LOG_WARNING,
                  "%s: %lld corners of faces name a vt or vn that the file does not have; these "
                  "are ignored",
                  file, (long long)missing);
    return BRIO_OK;
}

static BrioStatus read_obj(const char *file, const char *text, size_t size, BrioMesh **mesh,
                           BrioError *error)
{
    BrioScan scan;
    BrioDraft draft = {0};
    Corners corners = {0};
    brio__scan_start(&scan, file, text, size, '#', error);
    BrioStatus status = parse(&scan, &draft, &corners);
    status = brio__draft_finish(&draft, status, file, mesh, error);
    if (status == BRIO_OK && (status = keep_faces(&corners, file, *mesh)) != BRIO_OK) {
        brio_mesh_free(*mesh);
        *mesh = NULL;
        brio__error_at(error, status, file, 0, 0, NULL, "the faces cannot be kept: %s",
                       brio_status_text(status));
    }
    free_corners(&corners);
    return status;
}

const BrioMeshReader brio__reader_obj = {
    .extension = ".obj", .summary = "Wavefront OBJ", .read = read_obj};

/* ---- writing ---------------------------------------------------------------------------- */

static void write_obj(const BrioMesh *mesh, bool ascii, FILE *file)
{
    (void)ascii;
    brio__put_points(mesh, "v ", "\n", file);
    brio__put_elements(mesh->triangle, mesh->triangle_count, 3, 1, "f ", "\n", file);
    brio__put_elements(mesh->edge, mesh->edge_count, 2, 1, "l ", "\n", file);
}

const BrioMeshWriter brio__writer_obj = {
    .extension = ".obj", .triangles = true, .edges = true, .has_ascii = true, .write = write_obj};
