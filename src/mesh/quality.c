/* Sizes of a mesh and the shapes of its elements (quality.h). */
#include "quality.h"

#include "../vec.h"

static void add_tet(const BrioMeshView *m, int64_t t, BrioMeshQuality *q)
{
    const double *p[4];
    double longest = 0;
    for (int i = 0; i < 4; i++) p[i] = m->x + 3 * (int64_t)m->tet[4 * t + i];
    for (int i = 1; i < 4; i++)
        for (int j = 0; j < i; j++) {
            double length = brio__distance3(p[i], p[j]);
            longest = fmax(longest, length);
            q->edge_min = fmin(q->edge_min, length);
        }
    double volume = brio__tet_volume6(p[0], p[1], p[2], p[3]) / 6;
    double shape = volume > 0 ? longest * longest * longest / (6 * sqrt(2) * volume) : INFINITY;
    q->edge_max = fmax(q->edge_max, longest);
    q->volume += volume;
    q->tet_min = fmin(q->tet_min, volume);
    q->tet_max = fmax(q->tet_max, volume);
    if (shape > q->worst) q->worst = shape, q->worst_tet = t;
    if (!(volume > 0) && q->inverted++ == 0) q->first_inverted = t;
}

static void add_line(const BrioMeshView *m, int32_t a, int32_t b, BrioMeshQuality *q)
{
    double length = brio__distance3(m->x + 3 * (int64_t)a, m->x + 3 * (int64_t)b);
    q->edge_min = fmin(q->edge_min, length);
    q->edge_max = fmax(q->edge_max, length);
}

/* Edges count where there are no tets, those of triangles where there are neither. */
BrioMeshQuality brio__quality(const BrioMeshView *m)
{
    BrioMeshQuality q = {.low = {INFINITY, INFINITY, INFINITY},
                         .high = {-INFINITY, -INFINITY, -INFINITY},
                         .edge_min = INFINITY,
                         .tet_min = INFINITY,
                         .tet_max = -INFINITY,
                         .first_inverted = -1};
    for (int64_t v = 0; v < m->vertices; v++)
        for (int r = 0; r < 3; r++) {
            q.low[r] = fmin(q.low[r], m->x[3 * v + r]);
            q.high[r] = fmax(q.high[r], m->x[3 * v + r]);
        }
    for (int64_t t = 0; t < m->tets; t++) add_tet(m, t, &q);
    for (int64_t e = 0; !m->tets && e < m->edges; e++)
        add_line(m, m->edge[2 * e], m->edge[2 * e + 1], &q);
    for (int64_t t = 0; !m->tets && !m->edges && t < m->triangles; t++)
        for (int i = 0; i < 3; i++)
            add_line(m, m->triangle[3 * t + i], m->triangle[3 * t + (i + 1) % 3], &q);
    return q;
}
