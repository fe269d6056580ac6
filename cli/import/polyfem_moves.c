/* Displacements of a scene of polyfem as scripts: of fixed vertices and of obstacles. */
#include "polyfem.h"

#include <string.h>

/* ---- displacements ----------------------------------------------------------------------- */

enum { MAX_STEPS = 200000, MAX_KEYS = 1000000 };

static int steps_of(const Poly *p) { return (int)fmin(ceil(p->end / p->h - 1e-9), MAX_STEPS); }

/* Says when a formula of time goes on after its last key. */
static void say_end(const Poly *p, const Quantity q[3])
{
    int steps = steps_of(p);
    if (p->end / p->h - steps < 0.5) return;
    for (int k = 0; k < 3; k++)
        if (q[k].uses & FORMULA_T)
            poly_loss(p, q[k].node,
                      "value: keys of %d steps are the maximum; the motion ends after %g s here",
                      steps, steps * p->h);
}

/* The script of what is moved by u(t) from x: a velocity if u is one, otherwise keys at the ends of
 * steps, without those on the line between their neighbours. */
static void put_displacement(const Poly *p, const Quantity q[3], const double x[3],
                             const char *indent)
{
    int steps = steps_of(p);
    double last[3] = {0, 0, 0}, at = 0, end[3], size = 0;
    bool straight = true;
    for (int k = 0; k < 3; k++) {
        end[k] = poly_evaluate(p, &q[k], x, steps * p->h);
        for (int i = 1; i <= steps; i++)
            size = fmax(size, fabs(poly_evaluate(p, &q[k], x, i * p->h)));
        size = fmax(size, fabs(poly_evaluate(p, &q[k], x, p->end)));
    }
    if (size == 0) return;
    for (int i = 1; i <= steps && straight; i++)
        for (int k = 0; k < 3; k++)
            straight &=
                fabs(poly_evaluate(p, &q[k], x, i * p->h) - end[k] * i / steps) < 1e-12 * size;
    for (int k = 0; k < 3 && p->end > steps * p->h; k++) /* there are more steps */
        straight &= fabs(poly_evaluate(p, &q[k], x, p->end) - end[k] * p->end / (steps * p->h)) <
                    1e-9 * size;
    fprintf(p->out, "%sscript: {", indent);
    if (straight) {
        for (int k = 0; k < 3; k++) end[k] /= steps * p->h;
        import_put3(p->out, "velocity: ", end);
        fputs("}\n", p->out);
        return;
    }
    say_end(p, q);
    fputs("keys: [[0, 0, 0, 0]", p->out);
    for (int i = 1; i <= steps; i++) {
        double u[3], next[3], t = i * p->h;
        bool between = i < steps;
        for (int k = 0; k < 3; k++) {
            u[k] = poly_evaluate(p, &q[k], x, t);
            next[k] = poly_evaluate(p, &q[k], x, t + p->h);
            double line = last[k] + (next[k] - last[k]) * (t - at) / (t + p->h - at);
            between &= fabs(u[k] - line) < 1e-12 * size;
        }
        if (between) continue;
        fputs(", [", p->out);
        import_put(p->out, t);
        for (int k = 0; k < 3; k++) fputs(", ", p->out), import_put(p->out, u[k]);
        fputc(']', p->out);
        at = t;
        memcpy(last, u, sizeof last);
    }
    fputs("]}\n", p->out);
}

/* The values of an entry of displacements; `*usable`: they can be said. */
static BrioStatus take_displacement(Poly *p, BrioNode *node, Quantity q[3], unsigned *uses,
                                    bool *usable)
{
    static const char *const keys[] = {"id", "value", "dimension", "time_reference",
                                       "interpolation"};
    Value map = {.node = {node}, .count = 1};
    BrioNode *value = brio__node_get(node, "value");
    BrioNode *reference = brio__node_get(node, "time_reference");
    BrioNode *interpolation = brio__node_get(node, "interpolation");
    BrioNode *dimension = brio__node_get(node, "dimension");
    *usable = false;
    poly_unknown(p, map, "a boundary condition", keys, (int)BRIO_COUNT(keys));
    if (!value) return brio__node_error(node, p->error, "expected \"value\"");
    if (reference && reference->count) {
        poly_loss(p, node, "time_reference: tables of displacements are not taken; left out");
        return BRIO_OK;
    }
    if (interpolation && interpolation->count) {
        poly_loss(p, node, "interpolation: its meaning is unclear; left out");
        return BRIO_OK;
    }
    int along = 0, given = 0;
    for (int k = 0; dimension && dimension->kind == BRIO_NODE_LIST && k < dimension->count; k++) {
        given++;
        along += !strcmp(dimension->child[k]->text ? dimension->child[k]->text : "", "true");
    }
    if (given && along < given) {
        if (along)
            poly_loss(p, node,
                      "dimension: here vertices are fixed along all axes or none, not along %d of "
                      "them; left out",
                      along);
        return BRIO_OK;
    }
    *usable = true;
    return poly_quantities(p, value, (Dimension){1, 0, 0}, q, uses);
}

static void put_turn(const Poly *p, const ImportTurn *turn, const char *indent)
{
    fputs(indent, p->out);
    import_put_script(p->out, turn->linear, turn->angular, turn->about, 0, INFINITY);
    fputc('\n', p->out);
}

#define TURN_ACCURACY 1e-9 /* formulas are exact but for rounding */

/* Displacements around a place. */
typedef struct Displaced {
    const Poly *p;
    const Quantity *q;
    double middle[3], size;
} Displaced;

/* A and b by four points, and a fifth that must agree. */
static bool affine_at(const void *data, int step, double A[3][3], double b[3])
{
    const Displaced *d = data;
    double at[5][3], image[5][3], y[3];
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < 3; k++) {
            at[i][k] = d->middle[k] + (i == k + 1 ? d->size : 0);
            if (i == 4) at[i][k] = d->middle[k] - d->size * (0.3 + 0.2 * k);
        }
        for (int k = 0; k < 3; k++)
            image[i][k] = at[i][k] + poly_evaluate(d->p, &d->q[k], at[i], step * d->p->h);
    }
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++) A[r][k] = (image[k + 1][r] - image[0][r]) / d->size;
    import_apply(A, d->middle, b);
    for (int k = 0; k < 3; k++) b[k] = image[0][k] - b[k];
    import_apply(A, at[4], y);
    for (int k = 0; k < 3; k++)
        if (!(fabs(y[k] + b[k] - image[4][k]) <= TURN_ACCURACY * d->size)) return false;
    return true;
}

/* Whether the displacements of these vertices (NULL: of all) are a turn. */
static bool find_turn(const Poly *p, const Geometry *g, const Quantity q[3], const uint8_t *chosen,
                      ImportTurn *turn)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double middle[3], size = 0;
    for (int64_t v = 0; v < g->mesh->vertex_count; v++) {
        double x[3];
        if (chosen && !chosen[v]) continue;
        poly_place(g, g->mesh->x + 3 * v, x);
        for (int k = 0; k < 3; k++) low[k] = fmin(low[k], x[k]), high[k] = fmax(high[k], x[k]);
    }
    for (int k = 0; k < 3; k++) {
        middle[k] = (low[k] + high[k]) / 2;
        size = fmax(size, high[k] - low[k]);
    }
    Displaced d = {p, q, {middle[0], middle[1], middle[2]}, size};
    return import_find_turn(affine_at, &d, steps_of(p), p->h, middle, size, TURN_ACCURACY, turn);
}

BrioStatus poly_put_fix(Poly *p, const Geometry *g, BrioNode *node, uint8_t *taken, bool *opened,
                        int64_t *total)
{
    Quantity q[3];
    unsigned uses;
    bool usable;
    int64_t id[64], found = 0;
    int ids;
    BrioNode *named = brio__node_get(node, "id");
    if (!named) return brio__node_error(node, p->error, "expected \"id\"");
    BRIO_CHECK(poly_ids(p, named, id, 64, &ids));
    uint8_t *chosen = brio__calloc((size_t)g->mesh->vertex_count + 1, 1);
    if (!chosen) return poly_no_memory(p);
    BrioStatus status = poly_choose(p, g, id, ids, chosen, &found);
    int64_t losses = p->report->losses, lines = p->report->count;
    if (status == BRIO_OK) status = take_displacement(p, node, q, &uses, &usable);
    if (status != BRIO_OK || !usable || !found) {
        /* said once, by the body that has the faces, or by none */
        if (status == BRIO_OK && !found) import_forget(p->report, lines, losses);
        if (status == BRIO_OK && !usable) *total += found;
        brio__free(chosen);
        return status;
    }
    *total += found;
    bool apart = uses & (FORMULA_X | FORMULA_Y | FORMULA_Z);
    ImportTurn turn;
    bool turns = apart && find_turn(p, g, q, chosen, &turn);
    apart &= !turns;
    if (apart && (double)found * steps_of(p) > MAX_KEYS) {
        poly_loss(p, node,
                  "value: a formula of the place for %lld vertices and %d steps is too much "
                  "for a scene; left out",
                  (long long)found, steps_of(p));
        brio__free(chosen);
        return BRIO_OK;
    }
    int64_t written = 0;
    for (int64_t v = 0; v < g->mesh->vertex_count; v++) {
        double x[3];
        if (!chosen[v] || taken[v]) continue;
        taken[v] = 1;
        if (!*opened) fputs("    fix:\n", p->out);
        *opened = true;
        if (!apart) {
            fprintf(p->out, written++ ? ", %lld" : "      - vertices: [%lld", (long long)v);
            continue;
        }
        poly_place(g, g->mesh->x + 3 * v, x);
        fprintf(p->out, "      - vertices: [%lld]\n", (long long)v);
        put_displacement(p, q, x, "        ");
    }
    if (written) fputs("]\n", p->out);
    if (written && turns) put_turn(p, &turn, "        ");
    if (written && !turns) put_displacement(p, q, (const double[3]){0, 0, 0}, "        ");
    brio__free(chosen);
    return BRIO_OK;
}

BrioStatus poly_put_motion(Poly *p, const Geometry *g, BrioNode *motion)
{
    Quantity q[3];
    unsigned uses;
    bool usable;
    BRIO_CHECK(take_displacement(p, motion, q, &uses, &usable));
    if (!usable) return BRIO_OK;
    ImportTurn turn;
    if (!(uses & (FORMULA_X | FORMULA_Y | FORMULA_Z)))
        put_displacement(p, q, (const double[3]){0, 0, 0}, "    ");
    else if (find_turn(p, g, q, NULL, &turn))
        put_turn(p, &turn, "    ");
    else
        poly_loss(
            p, motion,
            "obstacle_displacements: obstacles are shifted, or turned at a constant rate, as a "
            "whole here, and the formula is neither; left out");
    return BRIO_OK;
}
