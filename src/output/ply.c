/* PLY, binary, little endian: the surfaces of all bodies as one mesh, with velocities, the number
 * of the body of each vertex and face, and, where a body has them, texture coordinates of the
 * corners of faces (list property texcoord, as MeshLab and Blender write it). */
#include "film.h"

typedef struct Counts {
    int64_t vertices, faces, edges;
    bool textured;
} Counts;

static int64_t faces_of(const BrioMotionPart *p)
{
    return p->faces ? p->faces->count : p->triangle_count;
}

static Counts count(const BrioFrame *frame)
{
    Counts c = {0};
    for (int i = 0; i < frame->motion->part_count; i++) {
        const BrioMotionPart *p = &frame->motion->part[i];
        if (!brio__frame_shows(frame, i)) continue;
        c.vertices += p->vertex_count;
        c.faces += faces_of(p);
        c.edges += p->edge_count;
        c.textured |= p->faces && p->faces->corner_uv;
    }
    return c;
}

/* Polygons of more than 255 corners do not fit a list that counts in bytes: their lists count in
 * 32 bits. */
static void write_face(const BrioMotionPart *p, int64_t face, int32_t first, int32_t body,
                       bool textured, FILE *file)
{
    const BrioFaces *f = p->faces;
    int32_t corners = f ? f->start[face + 1] - f->start[face] : 3;
    brio__put32(file, &corners, 1, false);
    for (int32_t c = 0; c < corners; c++) {
        int32_t vertex = first + (f ? f->vertex[f->start[face] + c] : p->triangle[3 * face + c]);
        brio__put32(file, &vertex, 1, false);
    }
    if (textured) {
        int32_t numbers = f && f->corner_uv ? 2 * corners : 0;
        brio__put32(file, &numbers, 1, false);
        for (int32_t c = 0; c < numbers / 2; c++) {
            int32_t at = f->corner_uv[f->start[face] + c];
            float uv[2] = {at >= 0 ? (float)f->uv[2 * at] : 0,
                           at >= 0 ? (float)f->uv[2 * at + 1] : 0};
            brio__put32(file, uv, 2, false);
        }
    }
    brio__put32(file, &body, 1, false);
}

static void write(const BrioFrame *frame, FILE *file)
{
    const BrioMotionFile *m = frame->motion;
    Counts all = count(frame);
    fprintf(file, "ply\nformat binary_little_endian 1.0\ncomment brio, t = %.17g s\n", frame->time);
    for (int i = 0; i < m->part_count; i++) {
        if (!brio__frame_shows(frame, i)) continue;
        fprintf(file, "comment body %d ", i);
        for (const char *at = m->part[i].name; *at; at++)
            fputc((unsigned char)*at < 0x20 || *at == 0x7f ? '_' : *at, file);
        fputc('\n', file);
    }
    fprintf(file,
            "element vertex %lld\nproperty float x\nproperty float y\nproperty float z\nproperty "
            "float vx\nproperty float vy\nproperty float vz\nproperty int body\n"
            "element face %lld\nproperty list int int vertex_indices\n%sproperty int body\n",
            (long long)all.vertices, (long long)all.faces,
            all.textured ? "property list int float texcoord\n" : "");
    if (all.edges)
        fprintf(file, "element edge %lld\nproperty int vertex1\nproperty int vertex2\n",
                (long long)all.edges);
    fputs("end_header\n", file);
    const double *x = frame->seen, *v = frame->seen_v;
    for (int32_t i = 0; i < m->part_count; i++) {
        for (int64_t k = 0; brio__frame_shows(frame, i) && k < m->part[i].vertex_count; k++) {
            float numbers[6] = {
                (float)x[3 * k],         (float)x[3 * k + 1],         (float)x[3 * k + 2],
                v ? (float)v[3 * k] : 0, v ? (float)v[3 * k + 1] : 0, v ? (float)v[3 * k + 2] : 0};
            brio__put32(file, numbers, 6, false);
            brio__put32(file, &i, 1, false);
        }
        if (frame->only < 0) x += 3 * (size_t)m->part[i].vertex_count;
        if (frame->only < 0 && v) v += 3 * (size_t)m->part[i].vertex_count;
    }
    for (int32_t i = 0, first = 0; i < m->part_count; i++) {
        if (!brio__frame_shows(frame, i)) continue;
        for (int64_t k = 0; k < faces_of(&m->part[i]); k++)
            write_face(&m->part[i], k, first, i, all.textured, file);
        first += m->part[i].vertex_count;
    }
    for (int32_t i = 0, first = 0; i < m->part_count; i++) {
        if (!brio__frame_shows(frame, i)) continue;
        for (int64_t k = 0; k < 2 * (int64_t)m->part[i].edge_count; k++) {
            int32_t vertex = first + m->part[i].edge[k];
            brio__put32(file, &vertex, 1, false);
        }
        first += m->part[i].vertex_count;
    }
}

BRIO_FRAMES(ply){
    .name = "ply",
    .extension = "ply",
    .summary = "PLY, binary: surfaces of all bodies as one mesh, with velocities.",
    .write = write,
};
