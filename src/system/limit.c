/* What limits a motion, as text: "tet 17 of body "cube" (vertices 3 8 12 40)". */
#include "limit.h"

#include <string.h>

/* The number of a world vertex among those of its body. */
static long long own_number(const BrioSystem *s, int32_t vertex, int body)
{
    return s->partition ? s->partition->vertex[vertex] - s->partition->body[body].first
                        : vertex - s->body[body].first;
}

/* "vertex 3 of body "cube"", "triangle 4 5 6 of obstacle "stairs"": world vertices of one owner. */
static int vertices_text(const BrioSystem *s, const int32_t *vertex, int count, const char *what,
                         char *text, size_t size)
{
    int owner = brio__system_owner(s, vertex[0]);
    const BrioBody *body = owner < s->body_count ? &s->body[owner] : NULL;
    const BrioObstacle *obstacle = body ? NULL : &s->obstacle[owner - s->body_count];
    int used = snprintf(text, size, "%s", what);
    for (int k = 0; k < count && used < (int)size; k++)
        used += snprintf(text + used, size - (size_t)used, " %lld",
                         body ? own_number(s, vertex[k], owner)
                              : (long long)(vertex[k] - obstacle->first));
    if (used < (int)size)
        used += snprintf(text + used, size - (size_t)used, " of %s \"%s\"",
                         body ? "body" : "obstacle", body ? body->name : obstacle->name);
    return used;
}

static void pair_text(const BrioSystem *s, const BrioLimit *limit, char *text, size_t size)
{
    static const char *const names[] = {"", "vertex", "edge", "triangle"};
    bool vertex_face = !strncmp(limit->term->energy->name, "vertex-face-", 12);
    int split = vertex_face ? 1 : 2, count = 4 - split;
    /* an edge or a vertex has its last node again */
    while (vertex_face && count > 1 && limit->vertex[count] == limit->vertex[count - 1]) count--;
    int used = vertices_text(s, limit->vertex, split, vertex_face ? "vertex" : "edge", text, size);
    if (used < (int)size) used += snprintf(text + used, size - (size_t)used, " and ");
    if (used < (int)size)
        used += vertices_text(s, limit->vertex + split, count, names[count], text + used,
                              size - (size_t)used);
    if (limit->distance > 0 && used < (int)size)
        snprintf(text + used, size - (size_t)used, " (%.3g m apart)", limit->distance);
}

void brio__limit_text(const BrioSystem *s, const BrioLimit *limit, char *text, size_t size)
{
    if (!limit->term) {
        snprintf(text, size, "no element");
        return;
    }
    const BrioTerm *term = limit->term;
    if (term->energy->element == BRIO_ELEMENT_PAIR) {
        pair_text(s, limit, text, size);
        return;
    }
    int32_t node = brio__term_vertex(term, limit->element, 0);
    int body = brio__system_owner(s, node); /* attachments begin with the body's vertex */
    if (term->energy->element == BRIO_ELEMENT_CONTACT) {
        snprintf(text, size, "vertex %lld of body \"%s\" and obstacle \"%s\"",
                 own_number(s, node, body), s->body[body].name, s->obstacle[term->obstacle].name);
        return;
    }
    if (term->energy->element == BRIO_ELEMENT_AFFINE) {
        snprintf(text, size, "affine body \"%s\"", s->body[term->body].name);
        return;
    }
    int used =
        snprintf(text, size, "%s %lld of body \"%s\" (vertices", brio__element(term->energy)->name,
                 (long long)limit->element, s->body[body].name);
    for (int k = 0; k < term->energy->nodes && used < (int)size; k++)
        if (brio__term_vertex(term, limit->element, k) <
            s->body_vertices) /* the point of an attachment has no number */
            used += snprintf(text + used, size - (size_t)used, " %lld",
                             own_number(s, brio__term_vertex(term, limit->element, k), body));
    if (used < (int)size) snprintf(text + used, size - (size_t)used, ")");
}

/* What stands where a limit is another process's. */
static const BrioTerm elsewhere;

double brio__limit_join(const BrioSystem *s, double step, BrioLimit *limit)
{
    if (!s->partition) return step;
    double min = brio__partition_min(s->partition, step);
    double first = brio__partition_min(
        s->partition, limit->term && step == min ? s->partition->process : s->partition->processes);
    if (first == s->partition->processes)
        limit->term = NULL;
    else if (first != s->partition->process)
        limit->term = &elsewhere;
    return min;
}

bool brio__limit_is_here(const BrioLimit *limit)
{
    return limit->term && limit->term != &elsewhere;
}
