/* Wavefront OBJ: one object a body, with the polygons, texture coordinates and groups of its file,
 * or its springs as lines where it has no surface. Normals are written where the file had some,
 * since they say which edges are sharp. */
#include "film.h"
#include "shade.h"

/* A name must stay on its line. */
static void write_name(const char *statement, const char *name, FILE *file)
{
    fprintf(file, "%s ", statement);
    for (const char *at = name; *at; at++)
        fputc((unsigned char)*at < 0x20 || *at == 0x7f ? '_' : *at, file);
    fputc('\n', file);
}

/* Numbers run from 1 through all objects. */
typedef struct Counts {
    long long vertex, uv, normal;
} Counts;

/* NULL: the file has none, or there is no memory for them: an OBJ can do without. */
static BrioShade *write_normals(const BrioMotionPart *p, const double *x, FILE *file)
{
    BrioShade *shade = NULL;
    if (!p->faces || !p->faces->corner_normal || brio__shade_create(p, &shade) != BRIO_OK)
        return NULL;
    float *single = brio__alloc(3 * (size_t)p->vertex_count, sizeof *single);
    float *normal = brio__alloc(3 * (size_t)shade->slot_count, sizeof *normal);
    for (int64_t k = 0; single && k < 3 * (int64_t)p->vertex_count; k++) single[k] = (float)x[k];
    if (single && normal) {
        brio__shade_normals(shade, single, normal);
        for (int64_t k = 0; k < shade->slot_count; k++)
            fprintf(file, "vn %.5g %.5g %.5g\n", normal[3 * k], normal[3 * k + 1],
                    normal[3 * k + 2]);
    } else {
        brio__shade_free(shade);
        shade = NULL;
    }
    brio__free(single);
    brio__free(normal);
    return shade;
}

/* The vertices that a file has of a part: its own, or all of its body in the order of its mesh, so
 * that numbers mean there what they mean in the scene. */
typedef struct Vertices {
    const double *x;
    int64_t count;
    const int32_t *number; /* of each of the part's own vertices; NULL: they are the vertices */
} Vertices;

static Vertices vertices_of(const BrioFrame *frame, int i, const double *seen)
{
    const BrioMotionPart *p = &frame->motion->part[i];
    if (!frame->system || p->kind != BRIO_MOTION_BODY || p->start)
        return (Vertices){seen, p->vertex_count, NULL};
    const BrioBody *body = &frame->system->body[i]; /* bodies are the first parts */
    return (Vertices){frame->x + 3 * (int64_t)body->first, body->count, p->vertex};
}

static long long number_of(const Vertices *vertices, const Counts *first, int32_t vertex)
{
    return first->vertex + (vertices->number ? vertices->number[vertex] : vertex);
}

static void write_faces(const BrioFaces *f, const BrioShade *shade, const Vertices *vertices,
                        const Counts *first, FILE *file)
{
    int32_t group = -1;
    for (int64_t k = 0; k < f->count; k++) {
        if (f->face_group && f->face_group[k] != group && f->face_group[k] >= 0)
            write_name("g", f->group[f->face_group[k]], file);
        if (f->face_group) group = f->face_group[k];
        fputc('f', file);
        for (int32_t c = f->start[k]; c < f->start[k + 1]; c++) {
            bool uv = f->corner_uv && f->corner_uv[c] >= 0;
            fprintf(file, " %lld", number_of(vertices, first, f->vertex[c]));
            if (uv) fprintf(file, "/%lld", first->uv + f->corner_uv[c]);
            if (shade)
                fprintf(file, uv ? "/%lld" : "//%lld", first->normal + shade->corner_slot[c]);
        }
        fputc('\n', file);
    }
}

static void write_elements(char letter, int corners, const int32_t *vertex, int64_t count,
                           const Vertices *vertices, const Counts *first, FILE *file)
{
    for (int64_t e = 0; e < count; e++) {
        fputc(letter, file);
        for (int c = 0; c < corners; c++)
            fprintf(file, " %lld", number_of(vertices, first, vertex[corners * e + c]));
        fputc('\n', file);
    }
}

static void write_part(const BrioMotionPart *p, const double *seen, const Vertices *vertices,
                       Counts *first, FILE *file)
{
    const BrioFaces *f = p->faces;
    const double *x = vertices->x;
    write_name("o", p->name, file);
    for (int64_t v = 0; v < vertices->count; v++)
        fprintf(file, "v %.9g %.9g %.9g\n", x[3 * v], x[3 * v + 1], x[3 * v + 2]);
    for (int64_t k = 0; f && k < f->uv_count; k++)
        fprintf(file, "vt %.9g %.9g\n", f->uv[2 * k], f->uv[2 * k + 1]);
    BrioShade *shade = write_normals(p, seen, file);
    if (f)
        write_faces(f, shade, vertices, first, file);
    else
        write_elements('f', 3, p->triangle, p->triangle_count, vertices, first, file);
    write_elements('l', 2, p->edge, p->edge_count, vertices, first, file);
    for (int32_t v = 0; p->triangle_count + p->edge_count == 0 && v < p->vertex_count; v++)
        write_elements('p', 1, &v, 1, vertices, first, file);
    first->vertex += vertices->count;
    first->uv += f ? f->uv_count : 0;
    first->normal += shade ? shade->slot_count : 0;
    brio__shade_free(shade);
}

static void write(const BrioFrame *frame, FILE *file)
{
    const double *seen = frame->seen;
    Counts first = {1, 1, 1};
    fprintf(file, "# brio, t = %.17g s\n", frame->time);
    for (int i = 0; i < frame->motion->part_count; i++) {
        const BrioMotionPart *p = &frame->motion->part[i];
        Vertices vertices = vertices_of(frame, i, seen);
        if (brio__frame_shows(frame, i)) write_part(p, seen, &vertices, &first, file);
        if (frame->only < 0) seen += 3 * (size_t)p->vertex_count;
    }
}

BRIO_FRAMES(obj){
    .name = "obj",
    .extension = "obj",
    .summary = "Wavefront OBJ, surfaces of all bodies: every 3D program reads it.",
    .write = write,
};
