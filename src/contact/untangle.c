/* A system as parts that untangling moves, and obstacles with a formula as its walls. The way out
 * of such an obstacle is the gradient of its distance, by differences of a millionth of its depth.
 */
#include "untangle.h"

#include "contact.h"
#include "../vec.h"

#include <string.h>

#define TOUCHING (1024 * 0x1p-53) /* of the largest coordinate, as sim/apart.c has it */

typedef struct Walls {
    const BrioSystem *system;
    const BrioState *state;
} Walls;

static bool excluded(const void *context, int a, int b)
{
    return brio__excluded(((const Walls *)context)->system, a, b);
}

/* The contact of a vertex with the obstacle of a term; its elements ascend by vertex. -1: none. */
static int64_t element_of(const BrioTerm *term, int64_t vertex)
{
    int64_t low = 0, high = term->elements;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (brio__term_vertex(term, middle, 0) < vertex)
            low = middle + 1;
        else
            high = middle;
    }
    return low < term->elements && brio__term_vertex(term, low, 0) == vertex ? low : -1;
}

/* The distance of x, and its gradient: six points around x are the other lanes. */
static double distance_at(const BrioTerm *term, const BrioState *state, int64_t element,
                          const double x[3], double n[3])
{
    const BrioEnergy *energy = term->energy;
    int32_t node[LANES];
    _Alignas(sizeof(double) * LANES) double at[3 * LANES], distance[LANES];
    double step = 1e-6 * fmax(1e-3, fmax(fabs(x[0]), fmax(fabs(x[1]), fabs(x[2]))));
    for (int i = 0; i < LANES; i++) {
        node[i] = 3 * i;
        memcpy(at + 3 * i, x, 3 * sizeof *at);
        if (i >= 1 && i <= 6) at[3 * i + (i - 1) / 2] += i % 2 ? step : -step;
    }
    energy->eval(&(BrioBatch){.end = 1,
                              .node = node,
                              .rest = term->rest + element / LANES * energy->rest * LANES,
                              .params = state->param + term->params,
                              .table = term->table,
                              .x = at,
                              .distance = distance});
    for (int r = 0; r < 3; r++) n[r] = distance[1 + 2 * r] - distance[2 + 2 * r];
    brio__normalise3(n);
    return distance[0];
}

static double depth(const void *context, int64_t vertex, const double x[3], double out[3])
{
    const Walls *w = context;
    const BrioSystem *s = w->system;
    double deepest = -INFINITY;
    for (int k = 0; k < s->analytic_count; k++) {
        const BrioTerm *term = &s->term[s->analytic_term + k];
        int64_t element = element_of(term, vertex);
        double n[3], thickness = 0;
        if (element < 0) continue;
        if (term->energy->params > BRIO_CONTACT_THICKNESS)
            thickness = w->state->param[term->params + BRIO_CONTACT_THICKNESS];
        /* a vertex that rounding cannot tell from touching counts as behind */
        double size = fmax(fabs(x[0]), fmax(fabs(x[1]), fabs(x[2])));
        double d = thickness + TOUCHING * size - distance_at(term, w->state, element, x, n);
        if (!(d > deepest)) continue;
        deepest = d;
        memcpy(out, n, sizeof n);
    }
    return deepest;
}

static bool is_fixed(const BrioSystem *s, int64_t vertex)
{
    return s->map_start[vertex + 1] == s->map_start[vertex];
}

static BrioTanglePart part_of(const BrioSystem *s, int owner)
{
    if (owner >= s->body_count) {
        const BrioObstacle *o = &s->obstacle[owner - s->body_count];
        return (BrioTanglePart){.first = o->first,
                                .count = o->count,
                                .triangle_count = o->triangle_count,
                                .triangle = o->triangle,
                                .motion = BRIO_TANGLE_STANDS};
    }
    const BrioBody *b = &s->body[owner];
    BrioTanglePart part = {.first = b->first, .count = b->count, .motion = BRIO_TANGLE_STANDS};
    if (s->term[b->term].energy->traits & BRIO_ENERGY_ALONG_X) return part; /* has no sides */
    part.triangle_count = b->triangle_count;
    part.triangle = b->triangle;
    part.edge_count = b->edge_count;
    part.edge = b->edge;
    part.tet_count = b->tet_count;
    part.tet = b->tet;
    part.motion = b->mass_point >= 0 ? BRIO_TANGLE_SHIFTS : BRIO_TANGLE_BENDS;
    bool any = false;
    for (int64_t v = b->first; v < b->first + b->count; v++) any |= !is_fixed(s, v);
    if (!any) part.motion = BRIO_TANGLE_STANDS;
    return part;
}

BrioStatus brio__system_untangle(const BrioSystem *s, const BrioState *state, double margin,
                                 double *x, BrioUntangled *report)
{
    int owners = brio__owner_count(s);
    Walls walls = {s, state};
    BrioTanglePart *part = brio__alloc((size_t)owners + 1, sizeof *part);
    bool *fixed = brio__alloc((size_t)s->vertex_count + 1, sizeof *fixed);
    BrioStatus status = part && fixed ? BRIO_OK : BRIO_ERROR_MEMORY;
    *report = (BrioUntangled){.vertex = -1};
    if (status == BRIO_OK) {
        for (int i = 0; i < owners; i++) part[i] = part_of(s, i);
        for (int64_t v = 0; v < s->vertex_count; v++) fixed[v] = is_fixed(s, v);
        BrioTangle tangle = {.part_count = owners,
                             .part = part,
                             .vertex_count = s->vertex_count,
                             .x = x,
                             .fixed = fixed,
                             .margin = margin,
                             .excluded = excluded,
                             .depth = s->analytic_count ? depth : NULL,
                             .context = &walls};
        status = brio__untangle(&tangle, report);
    }
    brio__free(part);
    brio__free(fixed);
    return status;
}

void brio__untangled_text(const BrioSystem *s, const BrioUntangled *report, char *text, size_t size)
{
    if (report->vertex < 0) {
        snprintf(text, size, "nothing");
        return;
    }
    const BrioBody *b = &s->body[report->part];
    snprintf(text, size, "%d bod%s by up to %.3g m (vertex %lld of \"%.64s\")", report->moved,
             report->moved == 1 ? "y" : "ies", report->shift,
             (long long)(report->vertex - b->first), b->name);
}
