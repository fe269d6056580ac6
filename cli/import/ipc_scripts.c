/* Scripts of the code of incremental potential contact: which vertices they hold or move, and how,
 * which shapes they drive, and what of them no scene of brio can say. The other code looks at its
 * conditions once per step, before it moves anything; so does this one. */
#include "ipc.h"

#include <string.h>

/* ---- motions of whole obstacles ---------------------------------------------------------- */

/* Steps of a closing gap until it is at most `limit`, or below it. */
static double steps_to(double gap, double limit, double by)
{
    return fmax(ceil((gap - limit) / by - 1e-9), 0);
}
static double steps_below(double gap, double limit, double by)
{
    return fmax(floor((gap - limit) / by + 1e-9) + 1, 0);
}

/* False, and said so, if the script moves more shapes than there are. */
static bool has_shapes(Reader *r, int count)
{
    if (r->scene->shapes >= count) return true;
    import_loss(r->report, r->scene->script_line,
                "script %s moves the first %d shapes, and the scene has %d; nothing is moved by it",
                r->scene->script, count, r->scene->shapes);
    return false;
}

static void drive(Reader *r, const Script *script)
{
    Scene *s = r->scene;
    if (!has_shapes(r, script->drives)) return;
    for (int i = 0; i < script->drives; i++) {
        s->shape[i].kinematic = true;
        memcpy(s->shape[i].motion.linear, script->drive[i].linear, sizeof script->drive[i].linear);
        memcpy(s->shape[i].motion.angular, script->drive[i].angular,
               sizeof script->drive[i].angular);
    }
}

/* The first shapes come together, and move back when the first two are 0.1 apart along x. */
static void squash(Reader *r, const Script *script)
{
    Scene *s = r->scene;
    double low[2][3], high[2][3];
    drive(r, script);
    if (s->shapes < script->drives) return;
    for (int i = 0; i < 2; i++) ipc_shape_box(&s->shape[i], low[i], high[i]);
    double steps = steps_below(low[1][0] - high[0][0], 0.1, 2 * s->h);
    for (int i = 0; i < script->drives; i++) {
        Motion *m = &s->shape[i].motion;
        m->turns = steps * s->h;
        for (int k = 0; k < 3 && steps == 0; k++) m->linear[k] = -m->linear[k];
    }
}

/* Of the shapes without tets, those of the second half come down until they are 0.1 above those of
 * the first. */
static void bed(Reader *r, const Script *script)
{
    (void)script;
    Scene *s = r->scene;
    double low[3], high[3], top = INFINITY, bottom = -INFINITY;
    int half = (s->shapes + 1) / 2;
    for (int i = 0; i < s->shapes; i++) {
        if (ipc_is_solid(&s->shape[i])) continue;
        ipc_shape_box(&s->shape[i], low, high);
        if (i >= half)
            top = fmin(top, low[1]);
        else
            bottom = fmax(bottom, high[1]);
    }
    double steps = steps_to(top - bottom, 0.1, s->h);
    for (int i = half; i < s->shapes && steps > 0; i++) {
        if (ipc_is_solid(&s->shape[i])) continue;
        s->shape[i].motion.linear[1] = -1;
        s->shape[i].motion.stops = isfinite(steps) ? steps * s->h : 0;
    }
}

/* The first shape is a piston that comes down into the second. */
static void squeeze(Reader *r, const Script *script)
{
    (void)script;
    Scene *s = r->scene;
    double low[2][3], high[2][3];
    if (!has_shapes(r, 2)) return;
    for (int i = 0; i < 2; i++) ipc_shape_box(&s->shape[i], low[i], high[i]);
    double floor = low[1][1] + (high[1][1] - low[1][1]) / 3.8 * 0.9;
    double steps = steps_to(high[0][1], floor, 0.3 * s->h);
    if (steps == 0 || ipc_is_solid(&s->shape[0])) return;
    s->shape[0].motion.linear[1] = -0.3;
    s->shape[0].motion.stops = steps * s->h;
}

/* The second shape turns about z through its lower right edge until it is 0.05 above the ground. */
static void hammer(Reader *r, const Script *script)
{
    (void)script;
    Scene *s = r->scene;
    double low[3], high[3];
    if (!has_shapes(r, 2)) return;
    Shape *shape = &s->shape[1];
    Motion *m = &shape->motion;
    shape->kinematic = true;
    ipc_shape_box(shape, low, high);
    m->angular[2] = PI / 6;
    m->pivoted = true;
    memcpy(m->about, (double[]){high[0], low[1], (low[2] + high[2]) / 2}, sizeof m->about);
    for (double n = 0; n * s->h < s->end; n++) {
        double t = n * s->h, lowest = INFINITY;
        double c = cos(m->angular[2] * t), d = sin(m->angular[2] * t);
        for (int64_t v = 0; v < shape->mesh->vertex_count; v++) {
            double x[3];
            ipc_place(shape, shape->mesh->x + 3 * v, x);
            lowest =
                fmin(lowest, m->about[1] + d * (x[0] - m->about[0]) + c * (x[1] - m->about[1]));
        }
        if (lowest > 0.05) continue;
        m->stops = t;
        if (t == 0) m->angular[2] = 0;
        return;
    }
}

/* The second shape moves down and back until it is 0.001 above the ground. */
static void cut(Reader *r, const Script *script)
{
    (void)script;
    Scene *s = r->scene;
    double low[3], high[3];
    if (!has_shapes(r, 2)) return;
    s->shape[1].kinematic = true;
    ipc_shape_box(&s->shape[1], low, high);
    double steps = steps_to(low[1], 0.001, s->h);
    if (steps == 0) return;
    s->shape[1].motion.linear[1] = s->shape[1].motion.linear[2] = -1;
    s->shape[1].motion.stops = steps * s->h;
}

/* The first meshCO; false, and said so, if there are fewer. */
static bool mesh_obstacles(Reader *r, int count, Obstacle **found)
{
    int n = 0;
    for (int i = 0; i < r->scene->obstacles && n < count; i++)
        if (!r->scene->obstacle[i].plane) found[n++] = &r->scene->obstacle[i];
    if (n == count) return true;
    import_loss(r->report, r->scene->script_line,
                "script %s moves the first %d meshCO, and the scene has %d; nothing is moved by it",
                r->scene->script, count, n);
    return false;
}

static void mesh_squash(Reader *r, const Script *script)
{
    Obstacle *o[2];
    if (!mesh_obstacles(r, script->mesh_drives, o)) return;
    double h = r->scene->h;
    double steps = steps_below(o[1]->origin[0] - o[0]->origin[0], 1.5, 2 * h);
    for (int i = 0; i < 2; i++) {
        o[i]->motion.linear[0] = (i == 0) == (steps > 0) ? 1 : -1;
        o[i]->motion.turns = steps * h;
    }
}

static void pivot(Obstacle *o, double height)
{
    o->motion.pivoted = true;
    memcpy(o->motion.about, o->origin, sizeof o->origin);
    o->motion.about[1] += height;
}

static void mesh_fold(Reader *r, const Script *script)
{
    Obstacle *o[2];
    if (!mesh_obstacles(r, script->mesh_drives, o)) return;
    for (int i = 0; i < 2; i++) {
        o[i]->motion.angular[2] = PI;
        pivot(o[i], (i ? -0.5 : 0.5) * o[i]->size);
    }
}

static void mesh_roll(Reader *r, const Script *script)
{
    Obstacle *o[4];
    if (!mesh_obstacles(r, script->mesh_drives, o)) return;
    for (int i = 0; i < 4; i++) {
        o[i]->motion.angular[i < 2 ? 0 : 2] = i == 0 || i == 3 ? PI / 2 : -PI / 2;
        pivot(o[i], 0);
    }
}

/* What is left of the middle is thrown to the right. */
static void left_hits_right(Reader *r, const Script *script)
{
    (void)script;
    Scene *s = r->scene;
    double low[3], high[3], from[3], to[3];
    ipc_whole_box(s, false, low, high);
    double middle = (low[0] + high[0]) / 2;
    for (int i = 0; i < s->shapes; i++) {
        Shape *shape = &s->shape[i];
        if (!ipc_is_solid(shape)) continue;
        ipc_shape_box(shape, from, to);
        if (to[0] < middle) {
            shape->thrown = true;
            shape->first[0] = 1;
        } else if (from[0] < middle) {
            import_loss(r->report, s->script_line,
                        "script leftHitRight: the shape of line %d lies on both sides of the "
                        "middle, and brio has one initial velocity per body; it starts at rest",
                        shape->line);
        }
    }
}

/* All bodies along x, as fast as the script's first value says. */
static void throw_along_x(Reader *r, const Script *script)
{
    (void)script;
    Scene *s = r->scene;
    for (int i = 0; i < s->shapes; i++) {
        if (s->shape[i].kinematic || !ipc_is_solid(&s->shape[i])) continue;
        s->shape[i].thrown = true;
        s->shape[i].first[0] = isnan(s->script_value) ? 1000 : s->script_value;
    }
}

/* ---- the table -------------------------------------------------------------------------- */

#define ANY -1, -1, -1
#define ALL 2, 2, 2
#define EVERYWHERE .low = {ANY}, .high = {ALL}
#define LEFT EVERYWHERE, .end = -1
#define RIGHT EVERYWHERE, .end = 1
#define BELOW(part) .low = {ANY}, .high = {2, part, 2}
#define ABOVE(part) .low = {-1, part, -1}, .high = {ALL}
#define PIN(i)                                                                                    \
    {                                                                                             \
        .low = {(i) / 7.0 - 0.0025, 0.995, -1}, .high = {(i) / 7.0 + 0.0025, 2, 2}, .velocity = { \
            0.04 * (7 - (i)) / 7,                                                                 \
            0,                                                                                    \
            0                                                                                     \
        }                                                                                         \
    }
#define NO_FORCE "brio has no force on a part of a body; that force is left out"
#define NO_PLANE "brio's planes do not move; they stay where they are"
#define NO_SHAPE                                                                    \
    "it starts from another shape than the rest shape, which brio's deform cannot " \
    "say; all starts at rest"

static const Script scripts[] = {
    {.name = "null"},
    {.name = "DCOFix"},
    {.name = "fallNoShift"},
    {.name = "fall", .lift_diagonal = 0.5},
    {.name = "hang", .pick = PICK_LAST, .grips = 2, .grip = {{LEFT}, {RIGHT}}},
    {.name = "hang2", .grips = 1, .grip = {{ABOVE(0.99)}}},
    {.name = "hangTopLeft",
     .grips = 2,
     .grip = {{.low = {-1, 0.99, 0.99}, .high = {ALL}, .end = -1},
              {.low = {-1, 0.99, -1}, .high = {2, 2, 0.01}, .end = -1}}},
    {.name = "hangLeft", .grips = 1, .grip = {{LEFT}}},
    {.name = "stamp", .grips = 1, .grip = {{LEFT}}},
    {.name = "stampTopLeft",
     .grips = 1,
     .grip = {{.low = {-1, 0.99, -1}, .high = {ALL}, .end = -1}}},
    {.name = "stampBoth", .grips = 2, .grip = {{LEFT}, {RIGHT}}},
    {.name = "undstamp",
     .grips = 1,
     .course = COURSE_SWINGS,
     .from = -0.6,
     .to = 0.6,
     .grip = {{LEFT, .velocity = {0, 1.8, 0}}}},
    {.name = "stampInv", .loss = NO_SHAPE},
    {.name = "stand", .grips = 1, .grip = {{BELOW(0.01)}}},
    {.name = "standInv", .loss = NO_SHAPE},
    {.name = "scaleF", .loss = NO_SHAPE},
    {.name = "onepoint", .loss = NO_SHAPE},
    {.name = "random", .loss = NO_SHAPE},
    {.name = "swing",
     .lift_height = 1.3,
     .grips = 1,
     .grip = {{.low = {ANY}, .high = {0.05, 2, 2}}}},
    {.name = "topbottomfix", .grips = 2, .grip = {{BELOW(0.02)}, {ABOVE(0.98)}}},
    {.name = "fixLowerHalf", .grips = 1, .grip = {{BELOW(0.5)}}},
    {.name = "corner",
     .grips = 3,
     .grip = {{.low = {ANY}, .high = {0.01, 2, 2}},
              {.low = {0.01, -1, -1}, .high = {2, 0.01, 2}},
              {.low = {0.01, 0.01, -1}, .high = {2, 2, 0.01}}}},
    {.name = "push",
     .grips = 2,
     .course = COURSE_ENDS,
     .lead = 1,
     .from = -0.5,
     .grip = {{BELOW(0.01)}, {ABOVE(0.99), .velocity = {0, -1, 0}}}},
    {.name = "tear",
     .grips = 2,
     .course = COURSE_SWINGS,
     .lead = 1,
     .from = -4,
     .grip = {{BELOW(0.01)}, {ABOVE(0.99), .velocity = {-5, 0, 0}}}},
    {.name = "upndown",
     .grips = 2,
     .course = COURSE_SWINGS,
     .from = -0.6,
     .to = 0.6,
     .grip = {{LEFT, .velocity = {0, 1.8, 0}}, {RIGHT, .velocity = {0, -1.8, 0}}}},
    {.name = "dragdown",
     .lift_diagonal = 0.5,
     .grips = 1,
     .grip = {{.low = {0.42, -1, -1}, .high = {0.52, 0.1, 2}, .velocity = {0, -1.5, 0}}}},
    {.name = "dragright",
     .lift_diagonal = 0.5,
     .grips = 1,
     .grip = {{.low = {0.96, -1, -1}, .high = {ALL}, .velocity = {0.5, 0, 0}}}},
    {.name = "toggleTop",
     .grips = 1,
     .course = COURSE_ENDS,
     .from = -0.1,
     .grip = {{ABOVE(0.98), .velocity = {-0.5, 0, 0}, .released = true}}},
    {.name = "fixRightMost1",
     .pick = PICK_FIRST,
     .grips = 1,
     .grip = {{.low = {0.999, -1, -1}, .high = {ALL}}}},
    {.name = "pushRightMost1",
     .pick = PICK_FIRST,
     .grips = 1,
     .grip = {{.low = {0.999, -1, -1}, .high = {ALL}, .velocity = {-0.15, 0, 0}}}},
    {.name = "stretch",
     .grips = 2,
     .grip = {{LEFT, .velocity = {-0.1, 0, 0}}, {RIGHT, .velocity = {0.1, 0, 0}}}},
    {.name = "stretchAndPause", /* until the leading vertex is at x = -0.28: ipc_way */
     .grips = 2,
     .course = COURSE_ENDS,
     .grip = {{.low = {ANY}, .high = {0.01, 2, 2}, .velocity = {-1, 0, 0}},
              {.low = {0.99, -1, -1}, .high = {ALL}, .velocity = {1, 0, 0}}}},
    {.name = "squash",
     .grips = 2,
     .grip = {{LEFT, .velocity = {0.03, 0, 0}}, {RIGHT, .velocity = {-0.03, 0, 0}}}},
    {.name = "stretchnsquash",
     .grips = 2,
     .course = COURSE_SWINGS,
     .from = -0.8,
     .to = 0.4,
     .grip = {{LEFT, .velocity = {-0.9, 0, 0}}, {RIGHT, .velocity = {0.9, 0, 0}}}},
    {.name = "bend", .grips = 2, .grip = {{LEFT, .bend = -0.05 * PI}, {RIGHT, .bend = 0.05 * PI}}},
    {.name = "twist", .grips = 2, .grip = {{LEFT, .twist = -0.4 * PI}, {RIGHT, .twist = 0.4 * PI}}},
    {.name = "twistnstretch",
     .grips = 2,
     .grip = {{LEFT, .twist = -0.1 * PI, .velocity = {-0.1, 0, 0}},
              {RIGHT, .twist = 0.1 * PI, .velocity = {0.1, 0, 0}}}},
    {.name = "twistnsns",
     .grips = 2,
     .course = COURSE_SWINGS,
     .from = -1.2,
     .to = 0.4,
     .grip = {{LEFT, .twist = -0.4 * PI, .velocity = {-1.2, 0, 0}},
              {RIGHT, .twist = 0.4 * PI, .velocity = {1.2, 0, 0}}}},
    {.name = "twistnsns_old",
     .grips = 2,
     .course = COURSE_SWINGS,
     .from = -0.8,
     .to = 0.4,
     .grip = {{LEFT, .twist = -0.4 * PI, .velocity = {-0.9, 0, 0}},
              {RIGHT, .twist = 0.4 * PI, .velocity = {0.9, 0, 0}}}},
    {.name = "rubberBandPull",
     .grips = 3,
     .course = COURSE_ENDS,
     .lead = 2,
     .from = -5,
     .grip = {{BELOW(0.02), .velocity = {0, -0.2, 0}},
              {ABOVE(0.98), .velocity = {0, 0.2, 0}},
              {.low = {-1, 0.48, -1},
               .high = {2, 0.52, 2},
               .velocity = {-2.5, 0, 0},
               .released = true}}},
    {.name = "fourLegPull",
     .grips = 4,
     .course = COURSE_ENDS,
     .lead = 3,
     .from = -5,
     .grip = {{.low = {-1, 0.871, -1}, .high = {0.16, 2, 2}},
              {.low = {0.84, 0.84, -1}, .high = {ALL}, .velocity = {2.5, 0, 0}, .released = true},
              {.low = {0.75, -1, -1},
               .high = {2, 0.02, 2},
               .velocity = {2.5, -3.5, 0},
               .released = true},
              {.low = {ANY}, .high = {0.25, 0.02, 2}, .velocity = {0, -3.5, 0}, .released = true}}},
    {.name = "headTailPull",
     .grips = 3,
     .course = COURSE_ENDS,
     .to = 4.5,
     .grip = {{.low = {ANY}, .high = {2, 2, 0.02}, .velocity = {3.5, 0, 0}, .released = true},
              {.low = {-1, -1, 0.98}, .high = {ALL}, .velocity = {3.5, 0, 0}, .released = true},
              {.low = {-1, -1, 0.46}, .high = {2, 2, 0.54}}}},
    {.name = "curtain",
     .grips = 8,
     .grip = {PIN(0), PIN(1), PIN(2), PIN(3), PIN(4), PIN(5), PIN(6), PIN(7)}},
    {.name = "leftHitRight", .apply = left_hits_right},
    {.name = "drop", .throws = {0, -1, 0}},
    {.name = "XYRotate",
     .loss = "its first velocity is that of some vertices only, which brio's bodies cannot have; "
             "all starts at rest"},
    {.name = "NMFixBottomDragLeft", .grips = 1, .grip = {{BELOW(0.05)}}, .loss = NO_FORCE},
    {.name = "NMFixBottomDragForward", .grips = 1, .grip = {{BELOW(0.05)}}, .loss = NO_FORCE},
    {.name = "utopiaComparison", .grips = 1, .grip = {{BELOW(1e-4)}}, .loss = NO_FORCE},
    {.name = "ACOSquash", .loss = NO_PLANE},
    {.name = "ACOSquash6", .loss = NO_PLANE},
    {.name = "ACOSquashShear", .loss = NO_PLANE},
    {.name = "MCOSquash", .mesh_drives = 2, .apply = mesh_squash},
    {.name = "MCORotSquash", .mesh_drives = 2, .apply = mesh_fold},
    {.name = "MCORotCylinders", .mesh_drives = 4, .apply = mesh_roll},
    {.name = "DCOBallHitWall", .apply = throw_along_x},
    {.name = "DCOSquash",
     .apply = squash,
     .drives = 2,
     .drive = {{.linear = {1, 0, 0}}, {.linear = {-1, 0, 0}}}},
    {.name = "DCOSquash6",
     .apply = squash,
     .drives = 6,
     .drive = {{.linear = {1, 0, 0}},
               {.linear = {-1, 0, 0}},
               {.linear = {0, 1, 0}},
               {.linear = {0, -1, 0}},
               {.linear = {0, 0, 1}},
               {.linear = {0, 0, -1}}}},
    {.name = "DCORotCylinders",
     .apply = drive,
     .drives = 4,
     .drive = {{.angular = {PI / 2, 0, 0}},
               {.angular = {-PI / 2, 0, 0}},
               {.angular = {0, 0, -PI / 2}},
               {.angular = {0, 0, PI / 2}}}},
    {.name = "DCOVerschoorRoller",
     .apply = drive,
     .drives = 6,
     .drive = {{.angular = {0, 0, -4}},
               {.angular = {0, 0, -2}},
               {.angular = {0, 0, 2}},
               {.angular = {0, 0, 4}},
               {.angular = {2, 0, 0}},
               {.angular = {-2, 0, 0}}}},
    {.name = "DCOSegBedSquash", .apply = bed},
    {.name = "DCOSqueezeOut", .apply = squeeze},
    {.name = "DCOHammerWalnut", .apply = hammer},
    {.name = "DCOCut", .apply = cut},
    {.name = "meshSeqFromFile",
     .loss = "brio does not move obstacles by a sequence of meshes; they stay where they are"},
};

const Script *ipc_find_script(Reader *r)
{
    const char *names[BRIO_COUNT(scripts)];
    for (size_t i = 0; i < BRIO_COUNT(scripts); i++) {
        names[i] = scripts[i].name;
        if (strcmp(scripts[i].name, r->scene->script)) continue;
        if (scripts[i].loss)
            import_loss(r->report, r->scene->script_line, "script %s: %s", scripts[i].name,
                        scripts[i].loss);
        return &scripts[i];
    }
    const char *nearest = brio__nearest(r->scene->script, names, (int)BRIO_COUNT(names));
    import_loss(r->report, r->scene->script_line,
                "script %.40s is not known%s%s%s; it fixes and moves nothing", r->scene->script,
                nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    return &scripts[0];
}

void ipc_apply_script(Reader *r, const Script *script)
{
    Scene *s = r->scene;
    const double *v = script->throws;
    if (script->apply) script->apply(r, script);
    for (int i = 0; i < s->shapes && (v[0] != 0 || v[1] != 0 || v[2] != 0); i++) {
        if (!ipc_is_solid(&s->shape[i])) continue;
        s->shape[i].thrown = true;
        memcpy(s->shape[i].first, v, sizeof s->shape[i].first);
    }
}

/* ---- the way of grips -------------------------------------------------------------------- */

void ipc_way(const Scene *s, const Script *script, const double x[3], Way *way)
{
    const double *v = script->grip[script->lead].velocity;
    int axis = v[0] != 0 ? 0 : v[1] != 0 ? 1 : 2, max = (int)BRIO_COUNT(way->time) - 2;
    double from = script->from, to = script->to, sign = 1, net = 0, round = 1e-9;
    if (!strcmp(script->name, "stretchAndPause")) from = fmin(-0.28 - x[0], -1e-300);
    *way = (Way){.count = 1, .ends = INFINITY};
    if (script->course == COURSE_ON) return;
    for (double n = 0; n * s->h < s->end && way->count < max; n++, net += sign) {
        double at = v[axis] * net * s->h;
        bool bound = (from < 0 && at <= from + round) || (to > 0 && at >= to - round);
        if (!bound) continue;
        way->time[way->count] = n * s->h;
        way->way[way->count++] = net * s->h;
        if (script->course == COURSE_ENDS) {
            way->ends = n * s->h;
            return;
        }
        sign = -sign;
    }
    if (way->count == 1) return;
    double last = way->time[way->count - 1];
    way->time[way->count] = s->end;
    way->way[way->count] = way->way[way->count - 1] + sign * (s->end - last);
    way->count++;
}
