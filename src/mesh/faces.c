/* Faces as a file has them: polygons, textures, smoothing, groups; named sets of vertices. */
#include "mesh.h"

#include <string.h>

BrioFaces *brio__faces_create(int64_t faces, int64_t corners, int64_t uvs, int64_t normals,
                              int32_t groups)
{
    BrioFaces *f = brio__calloc(1, sizeof *f);
    if (!f) return NULL;
    f->count = faces;
    f->uv_count = uvs;
    f->normal_count = normals;
    f->group_count = groups;
    f->start = brio__calloc((size_t)faces + 1, sizeof *f->start);
    f->vertex = brio__calloc((size_t)corners + 1, sizeof *f->vertex);
    if (uvs) f->uv = brio__calloc((size_t)uvs, 2 * sizeof *f->uv);
    if (uvs) f->corner_uv = brio__calloc((size_t)corners + 1, sizeof *f->corner_uv);
    if (normals) f->corner_normal = brio__calloc((size_t)corners + 1, sizeof *f->corner_normal);
    if (groups) f->group = brio__calloc((size_t)groups, sizeof *f->group);
    if (groups) f->face_group = brio__calloc((size_t)faces + 1, sizeof *f->face_group);
    if (f->start && f->vertex && (!uvs || (f->uv && f->corner_uv)) &&
        (!normals || f->corner_normal) && (!groups || (f->group && f->face_group)))
        return f;
    brio__faces_free(f);
    return NULL;
}

BrioFaces *brio__faces_copy(const BrioFaces *from)
{
    size_t corners = (size_t)from->start[from->count];
    BrioFaces *f = brio__faces_create(from->count, (int64_t)corners, from->uv_count,
                                      from->normal_count, from->group_count);
    if (!f) return NULL;
    memcpy(f->start, from->start, ((size_t)from->count + 1) * sizeof *f->start);
    memcpy(f->vertex, from->vertex, corners * sizeof *f->vertex);
    if (f->uv) memcpy(f->uv, from->uv, 2 * (size_t)from->uv_count * sizeof *f->uv);
    if (f->corner_uv) memcpy(f->corner_uv, from->corner_uv, corners * sizeof *f->corner_uv);
    if (f->corner_normal)
        memcpy(f->corner_normal, from->corner_normal, corners * sizeof *f->corner_normal);
    if (f->face_group)
        memcpy(f->face_group, from->face_group, (size_t)from->count * sizeof *f->face_group);
    for (int32_t g = 0; g < f->group_count; g++)
        if (!(f->group[g] = brio__strdup(from->group[g]))) {
            brio__faces_free(f);
            return NULL;
        }
    return f;
}

void brio__vertex_groups_free(BrioVertexGroups *g)
{
    if (!g) return;
    for (int32_t i = 0; g->name && i < g->count; i++) brio__free(g->name[i]);
    brio__free(g->name);
    brio__free(g->start);
    brio__free(g->vertex);
    brio__free(g);
}

void brio__faces_free(BrioFaces *f)
{
    if (!f) return;
    for (int32_t g = 0; f->group && g < f->group_count; g++) brio__free(f->group[g]);
    brio__free(f->group);
    brio__free(f->face_group);
    brio__free(f->start);
    brio__free(f->vertex);
    brio__free(f->uv);
    brio__free(f->corner_uv);
    brio__free(f->corner_normal);
    brio__free(f);
}

int64_t brio__faces_triangles(const BrioFaces *f) { return f->start[f->count] - 2 * f->count; }

void brio__faces_fan(const BrioFaces *f, int32_t *corner)
{
    for (int64_t k = 0; k < f->count; k++)
        for (int32_t c = f->start[k] + 2; c < f->start[k + 1]; c++) {
            *corner++ = f->start[k];
            *corner++ = c - 1;
            *corner++ = c;
        }
}

static void turn(int32_t *first, int32_t *last)
{
    for (; first < last; first++, last--) {
        int32_t swap = *first;
        *first = *last;
        *last = swap;
    }
}

/* The first corner stays where it is, so that the fan stays the same triangles, in the other
 * order. */
void brio__faces_turn(BrioFaces *f, int64_t face)
{
    int32_t first = f->start[face] + 1, last = f->start[face + 1] - 1;
    turn(f->vertex + first, f->vertex + last);
    if (f->corner_uv) turn(f->corner_uv + first, f->corner_uv + last);
    if (f->corner_normal) turn(f->corner_normal + first, f->corner_normal + last);
}
