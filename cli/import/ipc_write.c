/* A scene of IPC, read and placed, as a scene of brio. */
#include "ipc.h"

#include <string.h>

/* ---- writing ---------------------------------------------------------------------------- */

/* The vertices of a shape inside a box, given by `inside`, as a list; their own box's middle to
 * `about`. */
typedef struct Chosen {
    int64_t count;
    double low[3], high[3], about[3];
} Chosen;

/* Without a grip the box is of the mesh before it is placed. Vertices in `taken` (unless NULL) are
 * held already; with a list, what it names is taken. */
static Chosen choose(const Scene *scene, const Shape *s, const double low[3], const double high[3],
                     const Grip *grip, uint8_t *taken, FILE *list)
{
    Chosen c = {.low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
    for (int64_t v = 0; v < s->mesh->vertex_count; v++) {
        const double *X = s->mesh->x + 3 * v;
        double x[3];
        ipc_place(s, X, x);
        bool in = ipc_inside(grip ? x : X, low, high);
        in = in && (!grip || ipc_at_end(scene, grip, s, X));
        if (!in || (taken && taken[v])) continue;
        if (list) {
            fprintf(list, "%s%lld", c.count ? ", " : "", (long long)v);
            taken[v] = 1;
        }
        c.count++;
        for (int k = 0; k < 3; k++) {
            c.low[k] = fmin(c.low[k], x[k]);
            c.high[k] = fmax(c.high[k], x[k]);
            c.about[k] = (c.low[k] + c.high[k]) / 2;
        }
    }
    return c;
}

static void put_chosen(FILE *out, const Scene *scene, const Shape *s, const double low[3],
                       const double high[3], const Grip *grip, uint8_t *taken)
{
    fputs("      - vertices: [", out);
    choose(scene, s, low, high, grip, taken, out);
    fputs("]\n", out);
}

/* The motion of an obstacle; `middle` of its box. */
static void put_motion(FILE *out, const Motion *m, const double middle[3], double end)
{
    if (import_is_zero(m->linear) && import_is_zero(m->angular)) return;
    fputs("    ", out);
    if (m->turns > 0 && m->turns < end) {
        fputs("script: {", out);
        import_put_ways(out, m->linear, 3, (const double[]){0, m->turns, end},
                        (const double[]){0, m->turns, 2 * m->turns - end});
        fputs("}\n", out);
        return;
    }
    import_put_script(out, m->linear, m->angular, m->pivoted ? m->about : middle, 0,
                      m->stops > 0 ? m->stops : INFINITY);
    fputc('\n', out);
}

static bool same_box(const Hold *a, const Hold *b)
{
    return !memcmp(a->low, b->low, sizeof a->low) && !memcmp(a->high, b->high, sizeof a->high);
}

/* Several motions of the same vertices, one after the other: shifts at the times at which one
 * begins or ends. */
static void put_keys(FILE *out, const Shape *s, const Hold *h, double end)
{
    double time[2 * MAX_HOLDS], shift[3] = {0, 0, 0};
    int times = 0;
    for (int i = 0; i < s->holds; i++)
        if (same_box(h, &s->hold[i])) {
            time[times++] = fmax(s->hold[i].start, 0);
            time[times++] = fmin(s->hold[i].end, fmax(end, s->hold[i].start));
        }
    qsort(time, (size_t)times, sizeof *time, brio__ascending);
    fputs("script: {keys: [", out);
    for (int t = 0; t < times; t++) {
        if (t && time[t] == time[t - 1]) continue;
        for (int i = 0; t && i < s->holds; i++) {
            const Hold *o = &s->hold[i];
            if (!same_box(h, o) || o->start >= time[t] || o->end < time[t]) continue;
            for (int k = 0; k < 3; k++) shift[k] += o->linear[k] * (time[t] - time[t - 1]);
        }
        fputs(t ? ", [" : "[", out);
        import_put(out, time[t]);
        for (int k = 0; k < 3; k++) fputs(", ", out), import_put(out, shift[k]);
        fputc(']', out);
    }
    fputs("]}", out);
}

/* The entries of `fix` of one body. */
typedef struct Fixing {
    Reader *r;
    FILE *out;
    const Shape *shape;
    uint8_t *taken; /* vertices that are fixed already */
    bool opened;    /* the key stands */
} Fixing;

static void open_fix(Fixing *f)
{
    if (!f->opened) fputs("    fix:\n", f->out);
    f->opened = true;
}

/* Says from when to when the vertices of hold i are free in the other code: before, between and
 * after the time ranges of those with its box. */
static void note_freedom(Fixing *f, int i)
{
    const Shape *s = f->shape;
    double end = f->r->scene->end, h = f->r->scene->h, covered = 0;
    for (bool grown = true; grown;) {
        grown = false;
        for (int k = 0; k < s->holds; k++) {
            const Hold *o = &s->hold[k];
            if (!same_box(&s->hold[i], o) || o->start > covered + h / 2) continue;
            if (fmin(o->end, end) <= covered) continue;
            covered = fmin(o->end, end);
            grown = true;
        }
    }
    if (covered < end - h / 2)
        import_loss(f->r->report, s->hold[i].line,
                    "DBC: from %g s on the vertices are free there, until another time range; "
                    "here they stay fixed",
                    covered);
}

/* A boundary condition of the shape, given by a box relative to that of its mesh. */
static void put_hold(Fixing *f, int i, const double low[3], const double high[3])
{
    const Shape *s = f->shape;
    const Hold *h = &s->hold[i];
    double from[3], to[3];
    for (int k = 0; k < 3; k++) {
        from[k] = low[k] + h->low[k] * (high[k] - low[k]);
        to[k] = low[k] + h->high[k] * (high[k] - low[k]);
    }
    int first = i, turning = 0, same = 0;
    for (int k = 0; k < s->holds; k++) {
        if (!same_box(h, &s->hold[k])) continue;
        first = BRIO_MIN(first, k);
        turning += !import_is_zero(s->hold[k].angular);
        same++;
    }
    if (first < i && turning)
        import_loss(f->r->report, h->line,
                    "DBC: a second motion of rotating vertices; brio uses the first only");
    if (first < i) return; /* with the first of them */
    const Scene *scene = f->r->scene;
    Chosen c = choose(scene, s, from, to, NULL, f->taken, NULL);
    if (!c.count) {
        import_note(
            f->r->report, h->line,
            "DBC: no vertex of the surface is in the box, or another DBC fixes all of them; "
            "left out");
        return;
    }
    open_fix(f);
    put_chosen(f->out, scene, s, from, to, NULL, f->taken);
    fputs("        ", f->out);
    if (same > 1 && !turning)
        put_keys(f->out, s, h, f->r->scene->end);
    else
        import_put_script(f->out, h->linear, h->angular, c.about, h->start, h->end);
    fputc('\n', f->out);
    note_freedom(f, i);
}

/* How the vertices of a grip move; `pivot` is the last of them. */
static void put_grip_motion(FILE *out, const Grip *g, const Way *way, const double middle[3],
                            const double pivot[3])
{
    const double angular[3] = {g->twist, 0, g->bend};
    const double *about = g->bend != 0 ? pivot : middle;
    if (import_is_zero(g->velocity) && import_is_zero(angular)) return;
    fputs("        ", out);
    if (way->count > 1 && !isfinite(way->ends)) {
        fputs("script: {", out);
        if (!import_is_zero(angular)) {
            import_put3(out, "angular: ", angular);
            import_put3(out, ", about: ", about);
            fputs(", ", out);
        }
        import_put_ways(out, g->velocity, way->count, way->time, way->way);
        fputc('}', out);
    } else {
        import_put_script(out, g->velocity, angular, about, 0, way->ends);
    }
    fputc('\n', out);
}

/* What grip i of the script takes of the shape; low and high are the box of everything. */
static void put_grip(Fixing *f, const Script *script, int i, const Way *way, const double low[3],
                     const double high[3])
{
    const Scene *scene = f->r->scene;
    const Grip *g = &script->grip[i];
    double from[3], to[3], pivot[3] = {0, 0, 0}, middle[3];
    int64_t vertex = 0;
    for (int k = 0; k < 3; k++) middle[k] = (low[k] + high[k]) / 2;
    ipc_grip_box(scene, g, low, high, from, to);
    int owner = script->pick == PICK_ALL && g->bend == 0
                    ? -1
                    : ipc_pick(scene, g, from, to, script->pick != PICK_FIRST, &vertex, pivot);
    if (script->pick != PICK_ALL) {
        if (owner < 0 || &scene->shape[owner] != f->shape || f->taken[vertex]) return;
        open_fix(f);
        fprintf(f->out, "      - vertices: [%lld]\n", (long long)vertex);
        f->taken[vertex] = 1;
    } else {
        if (!choose(scene, f->shape, from, to, g, f->taken, NULL).count) return;
        open_fix(f);
        put_chosen(f->out, scene, f->shape, from, to, g, f->taken);
    }
    put_grip_motion(f->out, g, way, middle, pivot);
}

enum { WITHIN = 2 }; /* in `taken`: no vertex of the surface */

/* Boundary conditions of boxes are of vertices of the surface only; those of scripts are of all. */
static BrioStatus put_surface_holds(Fixing *f)
{
    BrioMesh *mesh = f->shape->mesh;
    double low[3], high[3];
    BRIO_CHECK(brio__mesh_surface(mesh, f->r->error));
    memset(f->taken, WITHIN, (size_t)mesh->vertex_count);
    for (int64_t i = 0; i < 3 * mesh->triangle_count; i++) f->taken[mesh->triangle[i]] = 0;
    import_box_of(mesh, low, high);
    for (int i = 0; i < f->shape->holds; i++) put_hold(f, i, low, high);
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        if (f->taken[v] == WITHIN) f->taken[v] = 0;
    return BRIO_OK;
}

static BrioStatus put_holds(Reader *r, FILE *out, const Shape *s, const Script *script,
                            const Way *way, const double box_low[3], const double box_high[3])
{
    Fixing f = {.r = r, .out = out, .shape = s};
    f.taken = brio__calloc((size_t)s->mesh->vertex_count, 1);
    if (!f.taken) return ipc_no_memory(r);
    BrioStatus status = s->holds ? put_surface_holds(&f) : BRIO_OK;
    for (int i = 0; i < script->grips; i++) put_grip(&f, script, i, way, box_low, box_high);
    brio__free(f.taken);
    return status;
}

static void put_material(FILE *out, const Scene *s, const Shape *shape)
{
    fprintf(out, "{type: %s, E: ", strcmp(s->energy, "FCR") ? "neo-hookean" : "fixed-corotated");
    import_put(out, shape && shape->E > 0 ? shape->E : s->E);
    fputs(", nu: ", out);
    import_put(out, shape && shape->E > 0 ? shape->nu : s->nu);
    fputs(", rho: ", out);
    import_put(out, shape && shape->density > 0 ? shape->density : s->density);
    fputs("}\n", out);
}

static bool own_material(const Shape *s) { return s->density > 0 && s->E > 0; }

/* Kinematic shapes are obstacles: surfaces always, solids if they have a velocity. */
static bool is_obstacle(const Shape *s) { return s->kinematic || !ipc_is_solid(s); }

/* When the grips of the script turn or end, and what cannot be said of it. */
static void find_way(Reader *r, const Script *script, const double low[3], const double high[3],
                     Way *way)
{
    const Scene *s = r->scene;
    double from[3], to[3], x[3] = {0, 0, 0};
    int64_t vertex;
    if (script->grips) {
        ipc_grip_box(s, &script->grip[script->lead], low, high, from, to);
        ipc_pick(s, &script->grip[script->lead], from, to, true, &vertex, x);
    }
    ipc_way(s, script, x, way);
    bool released = false;
    for (int i = 0; i < script->grips; i++) released |= script->grip[i].released;
    if (released && way->ends < s->end)
        import_loss(r->report, s->script_line,
                    "script %s: from %g s on vertices are released there; here they stay fixed",
                    script->name, way->ends);
    bool passed = false; /* a meshCO that has to be passed */
    for (int i = 0; i < s->obstacles; i++) passed |= !s->obstacle[i].plane;
    if (!strcmp(script->name, "dragright") && passed)
        import_note(r->report, s->script_line,
                    "script dragright: when all has passed the meshCO the vertices are let go "
                    "there; here they are drawn on");
    if (!strcmp(script->name, "dragright") && !passed)
        import_loss(r->report, s->script_line,
                    "script dragright: the vertices are let go at once there, since no meshCO has "
                    "to be passed; here they are drawn on");
}

static BrioStatus put_bodies(Reader *r, FILE *out, const char *folder, const Script *script,
                             const double low[3], const double high[3])
{
    Way way;
    find_way(r, script, low, high, &way);
    const Scene *s = r->scene;
    char path[4096];
    fputs("bodies:\n", out);
    for (int i = 0; i < s->shapes; i++) {
        Shape *shape = &s->shape[i];
        if (is_obstacle(shape)) continue;
        import_relative_path(folder, shape->path, path, sizeof path);
        fprintf(out, "  - name: %s\n    mesh: ", shape->name);
        import_put_text(out, path);
        fputs("\n    kind: solid\n    material: ", out);
        if (own_material(shape))
            fprintf(out, "material%d\n", i);
        else
            fputs("material\n", out);
        import_put_transform(out, shape->scale, shape->rotate, shape->translate);
        if (shape->thrown) {
            double from[3], to[3];
            import_box_of(shape->mesh, from, to);
            Chosen all = choose(s, shape, from, to, NULL, NULL, NULL);
            import_put3(out, "    velocity: {linear: ", shape->first);
            if (!import_is_zero(shape->first_angular)) {
                import_put3(out, ", angular: ", shape->first_angular);
                import_put3(out, ", about: ", all.about);
            }
            fputs("}\n", out);
        }
        if (shape->count[0] * shape->count[1] * shape->count[2] > 1) {
            fprintf(out, "    array: {count: [%d, %d, %d]", shape->count[0], shape->count[1],
                    shape->count[2]);
            import_put3(out, ", spacing: ", shape->step);
            fputs("}\n", out);
        }
        BRIO_CHECK(put_holds(r, out, shape, script, &way, low, high));
        r->report->bodies += shape->count[0] * shape->count[1] * shape->count[2];
    }
    return BRIO_OK;
}

/* The file of an obstacle, relative to the scene. The points or edges of a surface are written as a
 * file of their own next to it. */
static BrioStatus put_file(Reader *r, FILE *out, const char *folder, const char *path,
                           Extract extract, const BrioMesh *mesh)
{
    const char *dot = strrchr(path, '.');
    char relative[4096];
    import_relative_path(folder, path, relative, sizeof relative);
    if (extract != EXTRACT_ALL && dot && !strcmp(dot, ".obj"))
        BRIO_CHECK(import_parts(folder, path, extract == EXTRACT_POINTS, mesh, relative,
                                sizeof relative, r->error));
    fputs("    type: mesh\n    mesh: ", out);
    import_put_text(out, relative);
    fputc('\n', out);
    return BRIO_OK;
}

/* Vertices of an obstacle that a boundary condition moves: all of them alike, or not at all. */
static void move_by_holds(Reader *r, Shape *shape)
{
    double low[3], high[3];
    import_box_of(shape->mesh, low, high);
    for (int i = 0; i < shape->holds; i++) {
        const Hold *h = &shape->hold[i];
        bool whole = shape->holds == 1;
        for (int k = 0; k < 3; k++) whole &= h->low[k] <= 0 && h->high[k] >= 1;
        if (import_is_zero(h->linear) && import_is_zero(h->angular)) continue;
        if (!whole || h->start > 0) {
            import_loss(r->report, h->line,
                        "DBC: it moves a part of an obstacle, or moves it at several times, which "
                        "brio's obstacles cannot; left out");
            continue;
        }
        memcpy(shape->motion.linear, h->linear, sizeof h->linear);
        memcpy(shape->motion.angular, h->angular, sizeof h->angular);
        shape->motion.stops = isfinite(h->end) ? h->end : 0;
    }
    if (shape->thrown)
        import_note(r->report, shape->line,
                    "initVel has no meaning for a shape that is not simulated");
}

static BrioStatus put_obstacles(Reader *r, FILE *out, const char *folder)
{
    const Scene *s = r->scene;
    fputs("obstacles:\n", out);
    for (int i = 0; i < s->shapes; i++) {
        Shape *shape = &s->shape[i];
        double low[3], high[3], middle[3];
        if (!is_obstacle(shape) || shape->lost) continue;
        fprintf(out, "  - name: %s\n", shape->name);
        BRIO_CHECK(put_file(r, out, folder, shape->path, shape->extract, shape->mesh));
        import_put_transform(out, shape->scale, shape->rotate, shape->translate);
        move_by_holds(r, shape);
        ipc_shape_box(shape, low, high);
        for (int k = 0; k < 3; k++) middle[k] = (low[k] + high[k]) / 2;
        put_motion(out, &shape->motion, middle, s->end);
        r->report->obstacles++;
    }
    for (int i = 0; i < s->obstacles; i++) {
        Obstacle *o = &s->obstacle[i];
        if (o->lost) continue;
        fprintf(out, "  - name: obstacle%d\n", i);
        if (o->plane) {
            import_put3(out, "    type: plane\n    point: ", o->point);
            import_put3(out, "\n    normal: ", o->normal);
            fputc('\n', out);
        } else {
            BRIO_CHECK(put_file(r, out, folder, o->path, o->extract, o->mesh));
            import_put_transform(out, (double[]){o->scale, o->scale, o->scale}, o->rotate,
                                 o->point);
            put_motion(out, &o->motion, o->origin, s->end);
        }
        r->report->obstacles++;
    }
    return BRIO_OK;
}

/* All pairs of material names of bodies. */
static void put_pairs(FILE *out, const Scene *s, bool with_obstacles)
{
    bool shared = false;
    for (int i = 0; i < s->shapes; i++)
        shared |= !is_obstacle(&s->shape[i]) && !own_material(&s->shape[i]);
    bool first = true;
    for (int i = -1; i < s->shapes; i++) { /* -1: the material of the scene */
        if (i < 0 ? !shared : is_obstacle(&s->shape[i]) || !own_material(&s->shape[i])) continue;
        char name[32];
        snprintf(name, sizeof name, i < 0 ? "material" : "material%d", i);
        for (int j = i; !with_obstacles && j < s->shapes; j++) {
            if (j < 0 ? !shared : is_obstacle(&s->shape[j]) || !own_material(&s->shape[j]))
                continue;
            char other[32];
            snprintf(other, sizeof other, j < 0 ? "material" : "material%d", j);
            fprintf(out, "%s[%s, %s]", first ? "" : ", ", name, other);
            first = false;
        }
        for (int o = 0; with_obstacles && o < s->obstacles; o++) {
            if (s->obstacle[o].lost) continue;
            fprintf(out, "    - {between: [%s, obstacle%d], mu: ", name, o);
            import_put(out, s->obstacle[o].friction);
            fputs("}\n", out);
        }
    }
}

static void put_contact(FILE *out, const Scene *s, double unit)
{
    bool differs = false;
    for (int i = 0; i < s->obstacles; i++)
        differs |= !s->obstacle[i].lost && s->obstacle[i].friction != fmax(s->friction, 0);
    fputs("contact:\n  type: ipc\n  dhat: ", out);
    import_put(out, s->dhat * unit);
    fputs("\n  kappa: auto\n  mu: ", out);
    import_put(out, fmax(s->friction, 0));
    fputs("\n  epsv: ", out);
    import_put(out, s->epsv * unit);
    fputc('\n', out);
    if (differs) {
        fputs("  friction:\n", out);
        put_pairs(out, s, true);
    }
    if (!s->self_collision) {
        fputs("  exclude: [", out);
        put_pairs(out, s, false);
        fputs("]\n", out);
    }
}

static void name_shapes(Scene *s)
{
    for (int i = 0; i < s->shapes; i++) {
        char base[48];
        import_short_name(s->shape[i].path, base, sizeof base);
        snprintf(s->shape[i].name, sizeof s->shape[i].name, "%s-%d", base, i);
    }
}

static void put_integrator(FILE *out, const Scene *s)
{
    if (strcmp(s->integrator, "NM")) {
        fputs("\nintegrator: backward-euler\n", out);
        return;
    }
    fputs("\nintegrator: {type: newmark, beta: ", out);
    import_put(out, s->beta);
    fputs(", gamma: ", out);
    import_put(out, s->gamma);
    fputs("}\n", out);
}

static void put_damping(FILE *out, const Scene *s)
{
    double stiffness = s->damping_ratio > 0 ? 0.75 * fmin(s->damping_ratio, 1) * s->h * s->h * s->h
                                            : fmax(s->damping_stiffness, 0);
    /* whose step weighs forces by beta h^2, and damping by what backward Euler has */
    if (!strcmp(s->integrator, "NM") && s->beta > 0) stiffness /= s->beta;
    if (stiffness <= 0) return;
    fputs("damping:\n  - {type: rayleigh, beta: ", out);
    import_put(out, stiffness / (s->h * s->h));
    fputs("}\n", out);
}

/* Everything but bodies, obstacles and materials; `diagonal` of the solids. */
static void put_settings(FILE *out, const Reader *r, double diagonal)
{
    const Scene *s = r->scene;
    fputs("# imported from ", out);
    for (const char *c = r->name; *c; c++)
        fputc((unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c, out);
    fputs("\nbrio: 1\ntime: {h: ", out);
    import_put(out, s->h);
    fputs(", end: ", out);
    import_put(out, s->end);
    fputs(", fps: ", out);
    import_put(out, fmin(1 / s->h, 60));
    import_put3(out, "}\ngravity: ", (const double[]){0, s->gravity ? -9.80665 : 0, 0});
    put_integrator(out, s);
    fputs("solver: {tol: ", out);
    import_put(out, s->tol * diagonal);
    fputs("}\n", out);
    put_damping(out, s);
}

static void put_materials(FILE *out, const Scene *s)
{
    fputs("materials:\n  material: ", out);
    put_material(out, s, NULL);
    for (int i = 0; i < s->shapes; i++) {
        if (is_obstacle(&s->shape[i]) || !own_material(&s->shape[i])) continue;
        fprintf(out, "  material%d: ", i);
        put_material(out, s, &s->shape[i]);
    }
}

/* A boundary condition acts in its own time range as far as that lies in the range of all. */
static void limit_holds(Reader *r)
{
    const Scene *scene = r->scene;
    for (int i = 0; i < scene->shapes; i++) {
        Shape *s = &scene->shape[i];
        int kept = 0;
        for (int k = 0; k < s->holds; k++) {
            Hold h = s->hold[k];
            h.start = fmax(h.start, scene->hold_from);
            h.end = fmin(h.end, scene->hold_to);
            if (h.start < h.end)
                s->hold[kept++] = h;
            else
                import_note(r->report, h.line, "DBC: its time range is empty; left out");
        }
        s->holds = kept;
    }
}

BrioStatus ipc_write_scene(Reader *r, const char *folder, FILE *out)
{
    Scene *s = r->scene;
    double low[3], high[3];
    int bodies = 0, obstacles = 0;
    const Script *script = ipc_find_script(r);
    limit_holds(r);
    BRIO_CHECK(ipc_place_all(r, script));
    ipc_apply_script(r, script);
    ipc_take_sequences(r);
    ipc_whole_box(s, true, low, high);
    double diagonal = ipc_diagonal_of(low, high), unit = s->absolute ? 1 : diagonal;
    ipc_whole_box(s, false, low, high);
    double lift = script->lift_diagonal * ipc_diagonal_of(low, high) +
                  script->lift_height * (high[1] - low[1]);
    for (int i = 0; i < s->shapes; i++) {
        s->shape[i].translate[1] += lift;
        bodies += !is_obstacle(&s->shape[i]);
        obstacles += is_obstacle(&s->shape[i]) && !s->shape[i].lost;
    }
    for (int i = 0; i < s->obstacles; i++) obstacles += !s->obstacle[i].lost;
    low[1] += lift;
    high[1] += lift;
    if (!bodies)
        return brio__error_at(r->error, BRIO_ERROR_INPUT, r->name, 0, 0, NULL,
                              "the scene has no body to simulate: a shape with tets and without a "
                              "prescribed velocity");
    name_shapes(s);
    put_settings(out, r, diagonal);
    if (s->self_collision || obstacles) put_contact(out, s, unit);
    put_materials(out, s);
    BRIO_CHECK(put_bodies(r, out, folder, script, low, high));
    return obstacles ? put_obstacles(r, out, folder) : BRIO_OK;
}
