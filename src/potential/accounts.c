/* Which bodies have an account together, sums by account, and groups of accounts that touch
 * (accounts.h). All sums run in the order of blocks, on one thread. */
#include "accounts.h"

#include "../sets.h"

#include <string.h>

void brio__accounts_join(int32_t *group, int32_t a, int32_t b)
{
    int32_t one = brio__set_root(group, a), other = brio__set_root(group, b);
    group[BRIO_MAX(one, other)] = BRIO_MIN(one, other);
}

int32_t brio__accounts_group(const BrioAccounts *a, int32_t account)
{
    return brio__set_root(a->group, account);
}

void brio__accounts_separate(BrioAccounts *a)
{
    for (int32_t c = 0; c < a->count; c++) a->group[c] = c;
}

/* Joins the bodies that a component has vertices of. `seen`: a body of each component, or -1;
 * `parent`: trees of bodies; `moves`: whether a body has coordinates. */
static void join_bodies(const BrioAccounts *a, const BrioComponents *components, int32_t *seen,
                        int32_t *parent, bool *moves)
{
    const BrioSystem *s = a->system;
    for (int32_t k = 0; k < components->count; k++) seen[k] = -1;
    for (int32_t i = 0; i < s->body_count; i++) parent[i] = i;
    for (int64_t v = 0; v < s->vertex_count; v++)
        for (int32_t m = s->map_start[v]; m < s->map_start[v + 1]; m++) {
            int32_t body = brio__system_owner(s, v), *first;
            if (body < 0 || body >= s->body_count) continue;
            moves[body] = true;
            first = &seen[components->component[s->map_block[m]]];
            if (*first < 0) *first = body;
            brio__accounts_join(parent, *first, body);
        }
}

static void number_accounts(BrioAccounts *a, int32_t *parent, const bool *moves)
{
    const BrioSystem *s = a->system;
    for (int32_t i = 0; i < s->body_count; i++) {
        int32_t root = brio__set_root(parent, i);
        a->of_body[i] = -1;
        if (!moves[i]) continue;
        if (root == i) a->body[a->count] = i;
        a->of_body[i] = root == i ? a->count++ : a->of_body[root];
    }
    for (int64_t v = 0; v < s->vertex_count; v++) {
        int body = brio__system_owner(s, v);
        a->of_vertex[v] = body >= 0 && body < s->body_count ? a->of_body[body] : -1;
    }
    for (int t = 0; t < s->term_count; t++) /* points of attachments */
        for (int64_t i = 0;
             s->term[t].energy->element == BRIO_ELEMENT_ANCHOR && i < s->term[t].elements; i++)
            a->of_vertex[brio__term_vertex(&s->term[t], i, 1)] =
                a->of_vertex[brio__term_vertex(&s->term[t], i, 0)];
    for (int32_t c = 0; c < a->count; c++) a->first[c] = -1;
    for (int64_t v = 0; v < s->vertex_count; v++)
        for (int32_t m = s->map_start[v]; m < s->map_start[v + 1]; m++)
            a->of_block[s->map_block[m]] = a->of_vertex[v];
    for (int32_t b = s->block_count - 1; b >= 0; b--)
        if (a->of_block[b] >= 0) a->first[a->of_block[b]] = b;
}

static bool create_arrays(BrioAccounts *a)
{
    const BrioSystem *s = a->system;
    size_t bodies = (size_t)s->body_count + 1;
    return (a->of_block = brio__calloc((size_t)s->block_count + 1, sizeof *a->of_block)) &&
           (a->of_vertex = brio__calloc((size_t)s->vertex_count + 1, sizeof *a->of_vertex)) &&
           (a->of_body = brio__calloc(bodies, sizeof *a->of_body)) &&
           (a->first = brio__calloc(bodies, sizeof *a->first)) &&
           (a->body = brio__calloc(bodies, sizeof *a->body)) &&
           (a->group = brio__calloc(bodies, sizeof *a->group)) &&
           (a->world = brio__calloc(3 * (size_t)s->vertex_count + 1, sizeof *a->world)) &&
           (a->dot = brio__calloc(bodies, sizeof *a->dot)) &&
           (a->row = brio__calloc(BRIO_ACCOUNT_ROWS * bodies, sizeof *a->row));
}

BrioStatus brio__accounts_create(const BrioSystem *system, const BrioComponents *components,
                                 BrioAccounts **accounts)
{
    BrioAccounts *a = brio__calloc(1, sizeof *a);
    if (!a) return BRIO_ERROR_MEMORY;
    a->system = system;
    int32_t *seen = brio__alloc((size_t)components->count + 1, sizeof *seen);
    int32_t *parent = brio__alloc((size_t)system->body_count + 1, sizeof *parent);
    bool *moves = brio__calloc((size_t)system->body_count + 1, sizeof *moves);
    bool all = create_arrays(a) && seen && parent && moves;
    if (all) {
        join_bodies(a, components, seen, parent, moves);
        number_accounts(a, parent, moves);
        brio__accounts_separate(a);
        *accounts = a;
    } else {
        brio__accounts_free(a);
    }
    brio__free(seen);
    brio__free(parent);
    brio__free(moves);
    return all ? BRIO_OK : BRIO_ERROR_MEMORY;
}

void brio__accounts_free(BrioAccounts *a)
{
    if (!a) return;
    brio__free(a->of_block);
    brio__free(a->of_vertex);
    brio__free(a->of_body);
    brio__free(a->first);
    brio__free(a->body);
    brio__free(a->group);
    brio__free(a->world);
    brio__free(a->dot);
    brio__free(a->row);
    brio__free(a);
}

void brio__accounts_dot(const BrioAccounts *a, const double *x, const double *y, double *dot)
{
    memset(dot, 0, ((size_t)a->count + 1) * sizeof *dot);
    for (int32_t b = 0; b < a->system->block_count; b++) {
        double sum = 0;
        for (int64_t k = 3 * (int64_t)b; k < 3 * (int64_t)b + 3; k++) sum += x[k] * y[k];
        dot[a->of_block[b] >= 0 ? a->of_block[b] : a->count] += sum;
    }
}

void brio__accounts_subtract(const BrioAccounts *a, const double *factor, const double *x,
                             double *v)
{
    for (int32_t b = 0; b < a->system->block_count; b++)
        for (int64_t k = 3 * (int64_t)b; a->of_block[b] >= 0 && k < 3 * (int64_t)b + 3; k++)
            v[k] -= factor[a->of_block[b]] * x[k];
}

void brio__accounts_potential(const BrioAccounts *a, BrioPotential *potential, const BrioPose *pose,
                              double *energy)
{
    memset(energy, 0, ((size_t)a->count + 1) * sizeof *energy);
    brio__potential_split(potential, pose, &(BrioSplit){a->of_vertex, a->count, energy});
}
