/* The scene of IPC as a whole: all shapes turned and scaled, and the motions that scripts of the
 * other code prescribe. */
#include "ipc.h"

#include <string.h>

/* ---- the whole -------------------------------------------------------------------------- */

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

void ipc_whole_box(const Scene *s, bool only_solids, double low[3], double high[3])
{
    for (int k = 0; k < 3; k++) low[k] = INFINITY, high[k] = -INFINITY;
    for (int i = 0; i < s->shapes; i++)
        if (!only_solids || s->shape[i].mesh->tet_count > 0) add_to_box(&s->shape[i], low, high);
}

double ipc_diagonal_of(const double low[3], const double high[3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += (high[k] - low[k]) * (high[k] - low[k]);
    return sqrt(sum);
}

/* Copies of a lattice as shapes of their own: brio's lattices are along the axes. */
static BrioStatus expand(Reader *r)
{
    int given = r->scene->shapes;
    for (int i = 0; i < given; i++) {
        Shape first = r->scene->shape[i];
        for (int c = 1; c < first.count[0] * first.count[1] * first.count[2]; c++) {
            Shape *copy = ipc_add_shape(r);
            if (!copy) return ipc_no_memory(r);
            const int at[3] = {c % first.count[0], c / first.count[0] % first.count[1],
                               c / first.count[0] / first.count[1]};
            *copy = first;
            copy->borrowed = true;
            for (int k = 0; k < 3; k++)
                copy->translate[k] += at[k] * first.step[k], copy->count[k] = 1;
        }
        for (int k = 0; k < 3; k++) r->scene->shape[i].count[k] = 1;
    }
    return BRIO_OK;
}

/* rotateModel, then size. */
BrioStatus ipc_place_all(Reader *r)
{
    Scene *s = r->scene;
    double low[3], high[3], extent = 0, all[3][3];
    if (s->rotate_degrees != 0) {
        BRIO_CHECK(expand(r));
        ipc_whole_box(s, false, low, high);
        ipc_turn(s->rotate_axis, s->rotate_degrees * PI / 180, all);
        for (int i = 0; i < s->shapes; i++) {
            Shape *shape = &s->shape[i];
            ipc_multiply(all, shape->rotate, shape->rotate);
            /* half the extent, wherever the box is */
            for (int k = 0; k < 3; k++) shape->translate[k] -= (high[k] - low[k]) / 2;
            ipc_apply(all, shape->translate, shape->translate);
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

/* ---- scripts ---------------------------------------------------------------------------- */

#define ANY -1, -1, -1

#define ALL 2, 2, 2

static const Script scripts[] = {
    {.name = "null"},
    {.name = "DCOFix"},
    {.name = "fallNoShift"},
    {.name = "fall", .lift_diagonal = 0.5},
    {.name = "hang2", .grips = 1, .grip = {{.low = {-1, 0.99, -1}, .high = {ALL}}}},
    {.name = "stand", .grips = 1, .grip = {{.low = {ANY}, .high = {2, 0.01, 2}}}},
    {.name = "swing",
     .lift_height = 1.3,
     .grips = 1,
     .grip = {{.low = {ANY}, .high = {0.05, 2, 2}}}},
    {.name = "topbottomfix",
     .grips = 2,
     .grip = {{.low = {ANY}, .high = {2, 0.02, 2}}, {.low = {-1, 0.98, -1}, .high = {ALL}}}},
    {.name = "fixLowerHalf", .grips = 1, .grip = {{.low = {ANY}, .high = {2, 0.5, 2}}}},
    {.name = "corner",
     .grips = 3,
     .grip = {{.low = {ANY}, .high = {0.01, 2, 2}},
              {.low = {0.01, -1, -1}, .high = {2, 0.01, 2}},
              {.low = {0.01, 0.01, -1}, .high = {2, 2, 0.01}}}},
    {.name = "dragdown",
     .lift_diagonal = 0.5,
     .grips = 1,
     .grip = {{.low = {0.42, -1, -1}, .high = {0.52, 0.1, 2}, .velocity = {0, -1.5, 0}}}},
    {.name = "dragright",
     .lift_diagonal = 0.5,
     .grips = 1,
     .grip = {{.low = {0.96, -1, -1}, .high = {ALL}, .velocity = {0.5, 0, 0}}}},
    {.name = "fixRightMost1",
     .one = true,
     .grips = 1,
     .grip = {{.low = {0.999, -1, -1}, .high = {ALL}}}},
    {.name = "pushRightMost1",
     .one = true,
     .grips = 1,
     .grip = {{.low = {0.999, -1, -1}, .high = {ALL}, .velocity = {-0.15, 0, 0}}}},
    {.name = "stretch",
     .grips = 2,
     .grip = {{.low = {ANY}, .high = {ALL}, .velocity = {-0.1, 0, 0}, .ends = true},
              {.low = {ANY}, .high = {ALL}, .velocity = {0.1, 0, 0}, .ends = true}}},
    {.name = "squash",
     .grips = 2,
     .grip = {{.low = {ANY}, .high = {ALL}, .velocity = {0.03, 0, 0}, .ends = true},
              {.low = {ANY}, .high = {ALL}, .velocity = {-0.03, 0, 0}, .ends = true}}},
    {.name = "twist",
     .grips = 2,
     .grip = {{.low = {ANY}, .high = {ALL}, .twist = -0.4 * PI, .ends = true},
              {.low = {ANY}, .high = {ALL}, .twist = 0.4 * PI, .ends = true}}},
    {.name = "DCOBallHitWall", .throws = true},
    {.name = "DCOSquash",
     .turns = true,
     .drives = 2,
     .drive = {{.linear = {1, 0, 0}}, {.linear = {-1, 0, 0}}}},
    {.name = "DCOSquash6",
     .turns = true,
     .drives = 6,
     .drive = {{.linear = {1, 0, 0}},
               {.linear = {-1, 0, 0}},
               {.linear = {0, 1, 0}},
               {.linear = {0, -1, 0}},
               {.linear = {0, 0, 1}},
               {.linear = {0, 0, -1}}}},
    {.name = "DCORotCylinders",
     .drives = 4,
     .drive = {{.angular = {PI / 2, 0, 0}},
               {.angular = {-PI / 2, 0, 0}},
               {.angular = {0, 0, -PI / 2}},
               {.angular = {0, 0, PI / 2}}}},
    {.name = "DCOVerschoorRoller",
     .drives = 6,
     .drive = {{.angular = {0, 0, -4}},
               {.angular = {0, 0, -2}},
               {.angular = {0, 0, 2}},
               {.angular = {0, 0, 4}},
               {.angular = {2, 0, 0}},
               {.angular = {-2, 0, 0}}}},
    {.name = "twistnstretch",
     .grips = 2,
     .grip =
         {{.low = {ANY}, .high = {ALL}, .twist = -0.1 * PI, .velocity = {-0.1, 0, 0}, .ends = true},
          {.low = {ANY}, .high = {ALL}, .twist = 0.1 * PI, .velocity = {0.1, 0, 0}, .ends = true}}},
};

const Script *ipc_find_script(Reader *r)
{
    for (size_t i = 0; i < BRIO_COUNT(scripts); i++)
        if (!strcmp(scripts[i].name, r->scene->script)) return &scripts[i];
    import_note(r->report, r->scene->script_line,
                "script %.30s: brio knows null, fall, hang2, stand, twist, stretch and other "
                "simple ones, not this; left out: nothing is held or moved by it",
                r->scene->script);
    return &scripts[0];
}

/* What the script moves as a whole; before all is lifted. */
void ipc_apply_script(Scene *s, const Script *script)
{
    for (int i = 0; i < s->shapes && i < script->drives; i++) {
        s->shape[i].kinematic = true;
        memcpy(s->shape[i].linear, script->drive[i].linear, sizeof s->shape[i].linear);
        memcpy(s->shape[i].angular, script->drive[i].angular, sizeof s->shape[i].angular);
    }
    if (script->turns && s->shapes > 1) { /* looked at once a step, and both come nearer */
        double low[2][3], high[2][3];
        for (int i = 0; i < 2; i++) {
            for (int k = 0; k < 3; k++) low[i][k] = INFINITY, high[i][k] = -INFINITY;
            add_to_box(&s->shape[i], low[i], high[i]);
        }
        double steps = floor((low[1][0] - high[0][0] - 0.1) / (2 * s->h)) + 1;
        for (int i = 0; i < s->shapes && i < script->drives; i++)
            s->shape[i].turns = fmax(steps, 0) * s->h;
    }
    for (int i = 0; script->throws && i < s->shapes; i++) {
        if (s->shape[i].kinematic || s->shape[i].mesh->tet_count == 0) continue;
        s->shape[i].thrown = true;
        s->shape[i].first[0] = isnan(s->script_value) ? 1000 : s->script_value;
    }
}
