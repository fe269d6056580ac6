/* The scene of IPC as a whole: copies of a lattice, all shapes turned and scaled, boxes, and
 * vertices by their place. */
#include "ipc.h"

#include <string.h>

enum { MAX_SHAPES = 20000 }; /* with the copies that are written one by one */

bool ipc_is_solid(const Shape *s) { return s->mesh->tet_count > 0; }

static void add_to_box(const Shape *shape, double low[3], double high[3])
{
    for (int64_t v = 0; v < shape->mesh->vertex_count; v++) {
        double x[3];
        ipc_place(shape, shape->mesh->x + 3 * v, x);
        for (int k = 0; k < 3; k++) {
            double last = x[k] + shape->step[k] * (shape->count[k] - 1);
            low[k] = fmin(low[k], fmin(x[k], last));
            high[k] = fmax(high[k], fmax(x[k], last));
        }
    }
}

void ipc_shape_box(const Shape *shape, double low[3], double high[3])
{
    for (int k = 0; k < 3; k++) low[k] = INFINITY, high[k] = -INFINITY;
    add_to_box(shape, low, high);
}

void ipc_whole_box(const Scene *s, bool only_solids, double low[3], double high[3])
{
    for (int k = 0; k < 3; k++) low[k] = INFINITY, high[k] = -INFINITY;
    for (int i = 0; i < s->shapes; i++)
        if (!only_solids || ipc_is_solid(&s->shape[i])) add_to_box(&s->shape[i], low, high);
}

double ipc_diagonal_of(const double low[3], const double high[3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += (high[k] - low[k]) * (high[k] - low[k]);
    return sqrt(sum);
}

static int64_t copies_of(const Shape *s)
{
    return (int64_t)s->count[0] * s->count[1] * s->count[2];
}

/* Copies of a lattice as shapes of their own, in the order of the other code: z counts fastest.
 * All of them, or those of obstacles only: brio has lattices of bodies along the axes. */
static BrioStatus expand(Reader *r, bool all)
{
    Scene *s = r->scene;
    Shape *given = s->shape;
    int count = s->shapes;
    int64_t total = 0;
    for (int i = 0; i < count; i++)
        total += all || !ipc_is_solid(&given[i]) || given[i].kinematic ? copies_of(&given[i]) : 1;
    if (total == count) return BRIO_OK;
    if (total > MAX_SHAPES)
        return brio__error_at(r->error, BRIO_ERROR_INPUT, r->name, given[0].line, 0, NULL,
                              "shapeMatrix: %lld shapes have to be written one by one, and %d is "
                              "the maximum; make the lattices smaller",
                              (long long)total, MAX_SHAPES);
    Shape *grown = brio__alloc((size_t)total, sizeof *grown);
    if (!grown) return ipc_no_memory(r);
    int64_t at = 0;
    for (int i = 0; i < count; i++) {
        const Shape *first = &given[i];
        bool apart = all || !ipc_is_solid(first) || first->kinematic;
        int64_t copies = apart ? copies_of(first) : 1;
        for (int64_t c = 0; c < copies; c++) {
            Shape *copy = &grown[at++];
            const int64_t place[3] = {c / first->count[2] / first->count[1],
                                      c / first->count[2] % first->count[1], c % first->count[2]};
            *copy = *first;
            copy->borrowed = first->borrowed || c > 0;
            for (int k = 0; k < 3 && apart; k++) {
                copy->translate[k] += (double)place[k] * first->step[k];
                copy->count[k] = 1;
            }
        }
    }
    brio__free(given);
    s->shape = grown;
    s->shapes = s->shape_room = (int)total;
    return BRIO_OK;
}

/* What is at the ends along x before all is turned: the box reaches from `low` to `high`. */
static void keep_ends(Scene *s, double low, double high)
{
    s->ends[0] = low;
    s->ends[1] = high;
    for (int i = 0; i < s->shapes; i++) {
        Shape *shape = &s->shape[i];
        for (int k = 0; k < 3; k++) shape->along[k] = shape->rotate[0][k] * shape->scale[k];
        shape->along[3] = shape->translate[0];
    }
}

BrioStatus ipc_place_all(Reader *r, const Script *script)
{
    Scene *s = r->scene;
    double low[3], high[3], extent = 0, all[3][3];
    /* scripts count the copies, and take vertices by their place */
    BRIO_CHECK(
        expand(r, s->rotate_degrees != 0 || script->grips || script->drives || script->apply));
    if (s->rotate_degrees != 0) {
        ipc_whole_box(s, false, low, high);
        keep_ends(s, low[0], high[0]);
        import_turn(s->rotate_axis, s->rotate_degrees * PI / 180, all);
        for (int i = 0; i < s->shapes; i++) {
            Shape *shape = &s->shape[i];
            import_multiply(all, shape->rotate, shape->rotate);
            /* half the extent, wherever the box is */
            for (int k = 0; k < 3; k++) shape->translate[k] -= (high[k] - low[k]) / 2;
            import_apply(all, shape->translate, shape->translate);
            for (int k = 0; k < 3; k++) shape->translate[k] += (high[k] - low[k]) / 2;
        }
    }
    if (s->size > 0) {
        ipc_whole_box(s, false, low, high);
        for (int k = 0; k < 3; k++) extent = fmax(extent, high[k] - low[k]);
        double scale = extent > 0 ? s->size / extent : 1;
        for (int i = 0; i < s->shapes; i++)
            for (int k = 0; k < 3; k++) {
                s->shape[i].scale[k] *= scale;
                s->shape[i].step[k] *= scale;
                s->shape[i].translate[k] = scale * (s->shape[i].translate[k] - low[k]);
            }
    }
    return BRIO_OK;
}

/* ---- vertices by their place ------------------------------------------------------------ */

void ipc_grip_box(const Scene *s, const Grip *grip, const double low[3], const double high[3],
                  double from[3], double to[3])
{
    for (int k = 0; k < 3; k++) {
        double size = high[k] - low[k], a = grip->low[k], b = grip->high[k];
        if (s->rotate_degrees == 0 && grip->end < 0 && k == 0) b = s->handle;
        if (s->rotate_degrees == 0 && grip->end > 0 && k == 0) a = 1 - s->handle;
        from[k] = a < 0 ? -1e300 : low[k] + a * size;
        to[k] = b > 1 ? 1e300 : low[k] + b * size;
    }
}

bool ipc_inside(const double x[3], const double low[3], const double high[3])
{
    for (int k = 0; k < 3; k++)
        if (!(x[k] >= low[k] && x[k] <= high[k])) return false;
    return true;
}

bool ipc_at_end(const Scene *s, const Grip *grip, const Shape *shape, const double *X)
{
    if (!grip->end || s->rotate_degrees == 0) return true;
    double x = shape->along[3], part = s->handle * (s->ends[1] - s->ends[0]);
    for (int k = 0; k < 3; k++) x += shape->along[k] * X[k];
    return grip->end < 0 ? x <= s->ends[0] + part : x >= s->ends[1] - part;
}

int ipc_pick(const Scene *s, const Grip *grip, const double low[3], const double high[3], bool last,
             int64_t *vertex, double x[3])
{
    int found = -1;
    for (int i = 0; i < s->shapes; i++) {
        const Shape *shape = &s->shape[i];
        for (int64_t v = 0; v < shape->mesh->vertex_count; v++) {
            double y[3];
            ipc_place(shape, shape->mesh->x + 3 * v, y);
            if (!ipc_inside(y, low, high)) continue;
            if (!ipc_at_end(s, grip, shape, shape->mesh->x + 3 * v)) continue;
            found = i;
            *vertex = v;
            memcpy(x, y, sizeof y);
            if (!last) return found;
        }
    }
    return found;
}
