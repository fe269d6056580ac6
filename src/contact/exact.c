/* The surfaces of a system for the search, and what else a state may have wrong: vertices that are
 * not finite, inverted tets, vertices behind planes. */
#include "exact.h"

#include "../mesh/predicate.h"

struct BrioExact {
    const BrioSystem *system;
    BrioIntersector in;
    double *x;
};

/* The surface of a body or obstacle, and what messages call it. */
typedef struct Part {
    const char *kind, *name;
    BrioExactPart surface;
} Part;

static Part part_of(const BrioSystem *s, int owner)
{
    if (owner >= s->body_count) {
        const BrioObstacle *o = &s->obstacle[owner - s->body_count];
        return (Part){.kind = "obstacle",
                      .name = o->name,
                      .surface = {.first = o->first,
                                  .triangle_count = o->triangle_count,
                                  .edge_count = o->edge_count,
                                  .triangle = o->triangle,
                                  .edge = o->edge}};
    }
    const BrioBody *b = &s->body[owner];
    Part part = {.kind = "body", .name = b->name, .surface.first = b->first};
    if (s->term[b->term].energy->traits & BRIO_ENERGY_ALONG_X) return part; /* has no sides */
    part.surface.triangle_count = b->triangle_count;
    part.surface.triangle = b->triangle;
    part.surface.edge_count = b->triangle_count ? 0 : b->edge_count;
    part.surface.edge = b->edge;
    return part;
}

/* Vertices that nothing moves: two such things cannot do anything about meeting. */
static bool fixed(const void *system, const int32_t *vertex, int count)
{
    const BrioSystem *s = system;
    for (int i = 0; i < count; i++)
        if (s->map_start[vertex[i] + 1] > s->map_start[vertex[i]]) return false;
    return true;
}

/* Two owners that the scene has taken out of contact. */
static bool excluded(const void *system, int a, int b) { return brio__excluded(system, a, b); }

BrioStatus brio__exact_create(const BrioSystem *system, BrioExact **exact)
{
    int owners = brio__owner_count(system);
    BrioExactPart *part = brio__alloc((size_t)owners + 1, sizeof *part);
    BrioExact *created = brio__calloc(1, sizeof *created);
    BrioStatus status = created && part ? BRIO_OK : BRIO_ERROR_MEMORY;
    *exact = NULL;
    if (status == BRIO_OK) {
        created->system = system;
        created->x = brio__alloc(3 * (size_t)system->vertex_count, sizeof *created->x);
        for (int i = 0; i < owners; i++) part[i] = part_of(system, i).surface;
        status =
            created->x ? brio__intersector_create(part, owners, &created->in) : BRIO_ERROR_MEMORY;
        created->in.fixed = fixed;
        created->in.excluded = excluded;
        created->in.context = system;
    }
    brio__free(part);
    if (status == BRIO_OK)
        *exact = created;
    else
        brio__exact_free(created);
    return status;
}

void brio__exact_free(BrioExact *exact)
{
    if (!exact) return;
    brio__intersector_free(&exact->in);
    brio__free(exact->x);
    brio__free(exact);
}

const BrioExactSurface *brio__exact_surface(const BrioExact *exact) { return &exact->in.surface; }

int64_t brio__exact_find(BrioExact *exact, const double *x, BrioIntersection *found, int64_t room)
{
    return brio__intersector_find(&exact->in, x, found, room, NULL);
}

int64_t brio__exact_intersections(const BrioSystem *system, const double *x,
                                  BrioIntersection *found, int64_t room)
{
    BrioExact *exact;
    if (brio__exact_create(system, &exact) != BRIO_OK) return -1;
    int64_t count = brio__exact_find(exact, x, found, room);
    brio__exact_free(exact);
    return count;
}

/* ---- a whole state ---------------------------------------------------------------------- */

static void check_tets(const BrioSystem *s, const double *x, BrioExactReport *report)
{
    for (int i = 0; i < s->body_count; i++) {
        const BrioBody *b = &s->body[i];
        if (!(s->term[b->term].energy->traits & BRIO_ENERGY_INFINITE)) continue;
        const int32_t *tet = b->cage ? b->cage->tet : b->tet;
        int64_t first = b->cage ? b->mass_point : b->first;
        for (int64_t t = 0; t < (b->cage ? b->cage->tet_count : b->tet_count); t++) {
            const double *p[4];
            for (int k = 0; k < 4; k++) p[k] = x + 3 * (first + tet[4 * t + k]);
            if (brio__exact_orient3d(p[0], p[1], p[2], p[3]) > 0 || report->inverted++) continue;
            report->inverted_body = i;
            report->first_inverted = t;
        }
    }
}

/* The plane is the one that is stored: its unit normal was rounded when the scene was read, which
 * turned it by some 1e-16; from there on the sign of n.(x - p) is exact. Of other obstacles with a
 * formula, the distance in doubles must be positive. */
static void check_planes(const BrioSystem *s, const double *x, BrioExactReport *report)
{
    for (int i = 0; i < s->term_count; i++) {
        const BrioTerm *term = &s->term[i];
        if (term->energy->element != BRIO_ELEMENT_CONTACT ||
            !(term->energy->traits & BRIO_ENERGY_INFINITE))
            continue;
        _Alignas(sizeof(double) * LANES) double distance[LANES];
        bool plane = term->energy->rest == BRIO_PLANE_REST;
        for (int64_t e = 0; e < term->elements; e++) {
            const double *rest = term->rest + e / LANES * term->energy->rest * LANES + e % LANES;
            double n[3] = {0}, p[3] = {0};
            if (!plane && e % LANES == 0)
                brio__obstacle_distances(term, NULL, e / LANES, x, distance);
            for (int r = 0; plane && r < 3; r++) {
                n[r] = rest[(1 + r) * LANES];
                p[r] = rest[(4 + r) * LANES];
            }
            bool front =
                plane ? brio__exact_side(n, p, x + term->node[e]) > 0 : distance[e % LANES] > 0;
            if (front || report->behind++) continue;
            report->behind_obstacle = term->obstacle;
            report->first_behind = term->node[e] / 3;
        }
    }
}

void brio__exact_check_positions(BrioExact *exact, const double *x, BrioExactReport *report)
{
    const BrioSystem *s = exact->system;
    *report = (BrioExactReport){0};
    for (int64_t v = 0; v < s->vertex_count; v++)
        if (!(isfinite(x[3 * v]) && isfinite(x[3 * v + 1]) && isfinite(x[3 * v + 2])) &&
            report->not_finite++ == 0)
            report->first_vertex = v;
    if (report->not_finite) return;
    report->intersections =
        brio__intersector_find(&exact->in, x, &report->first, 1, &report->pairs);
    check_tets(s, x, report);
    check_planes(s, x, report);
}

void brio__exact_check(BrioExact *exact, const BrioState *state, BrioExactReport *report)
{
    brio__system_positions(exact->system, state, state->q, state->time, exact->x);
    brio__exact_check_positions(exact, exact->x, report);
}

void brio__exact_watch(void *watch, const BrioState *state)
{
    BrioExactWatch *w = watch;
    BrioExactReport report;
    double before = brio__seconds();
    brio__exact_check(w->exact, state, &report);
    w->states++;
    w->pairs += report.pairs;
    w->intersections += report.intersections;
    w->inverted += report.inverted;
    w->behind += report.behind;
    w->not_finite += report.not_finite;
    w->seconds += brio__seconds() - before;
    if (w->failed || brio__exact_fine(&report)) return;
    w->failed = true;
    w->step = state->step;
    w->time = state->time;
    brio__exact_text(w->exact->system, &report, w->reason, sizeof w->reason);
}

/* ---- in words --------------------------------------------------------------------------- */

/* The body of a world vertex, -1: of none (an anchor). */
static int body_of(const BrioSystem *s, int64_t vertex)
{
    for (int i = 0; i < s->body_count; i++)
        if (vertex >= s->body[i].first && vertex < s->body[i].first + s->body[i].count) return i;
    return -1;
}

void brio__intersection_text(const BrioSystem *s, const BrioIntersection *at, char *text,
                             size_t size)
{
    Part a = part_of(s, at->owner[0]), b = part_of(s, at->owner[1]);
    int used = snprintf(text, size, "edge (%lld %lld) of %s \"%.64s\" meets ",
                        (long long)(at->edge[0] - a.surface.first),
                        (long long)(at->edge[1] - a.surface.first), a.kind, a.name);
    if (used < 0 || (size_t)used >= size) return;
    if (at->triangle >= 0)
        snprintf(text + used, size - (size_t)used, "triangle %lld of %s \"%.64s\"",
                 (long long)at->triangle, b.kind, b.name);
    else
        snprintf(text + used, size - (size_t)used, "edge (%lld %lld) of %s \"%.64s\"",
                 (long long)(at->other[0] - b.surface.first),
                 (long long)(at->other[1] - b.surface.first), b.kind, b.name);
}

void brio__exact_text(const BrioSystem *s, const BrioExactReport *r, char *text, size_t size)
{
    int64_t vertex = r->not_finite ? r->first_vertex : r->first_behind;
    int body = body_of(s, vertex);
    long long own = body >= 0 ? (long long)(vertex - s->body[body].first) : (long long)vertex;
    const char *name = body >= 0 ? s->body[body].name : "(none)";
    text[0] = 0;
    if (r->not_finite)
        snprintf(text, size, "vertex %lld of body \"%.64s\" has coordinates that are not finite",
                 own, name);
    else if (r->intersections)
        brio__intersection_text(s, &r->first, text, size);
    else if (r->inverted)
        snprintf(text, size, "tet %lld of body \"%.64s\" has no positive volume",
                 (long long)r->first_inverted, s->body[r->inverted_body].name);
    else if (r->behind)
        snprintf(text, size, "vertex %lld of body \"%.64s\" is on or behind obstacle \"%.64s\"",
                 own, name, s->obstacle[r->behind_obstacle].name);
}
