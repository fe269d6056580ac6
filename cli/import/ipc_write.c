/* A scene of IPC, read and placed, as a scene of brio. */
#include "ipc.h"

#include <string.h>

/* ---- writing ---------------------------------------------------------------------------- */

/* Fifteen digits: what was computed on the way ends in round numbers where it should. */
static void put(FILE *out, double value) { fprintf(out, "%.15g", value + 0.0); }

static void put3(FILE *out, const char *key, const double v[3])
{
    fprintf(out, "%s[", key);
    for (int k = 0; k < 3; k++) {
        if (k) fputs(", ", out);
        put(out, v[k]);
    }
    fputc(']', out);
}

/* A text in quotes. */
static void put_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static bool is_zero(const double v[3]) { return v[0] == 0 && v[1] == 0 && v[2] == 0; }

static void put_transform(FILE *out, double scale[3], double rotate[3][3],
                          const double translate[3])
{
    double axis[3], degrees = ipc_axis_of(rotate, axis);
    fputs("    transform: {scale: ", out);
    if (scale[0] == scale[1] && scale[1] == scale[2])
        put(out, scale[0]);
    else
        put3(out, "", scale);
    if (fabs(degrees) > 1e-12) {
        put3(out, ", rotate: [", axis);
        fputs(", ", out);
        put(out, degrees);
        fputc(']', out);
    }
    put3(out, ", translate: ", translate);
    fputs("}\n", out);
}

static void put_script(FILE *out, const double linear[3], const double angular[3],
                       const double about[3], double start, double end)
{
    fputs("script: {", out);
    put3(out, "velocity: ", linear);
    if (!is_zero(angular)) {
        put3(out, ", angular: ", angular);
        put3(out, ", about: ", about);
    }
    if (start > 0) fputs(", start: ", out), put(out, start);
    if (isfinite(end)) fputs(", end: ", out), put(out, end);
    fputc('}', out);
}

/* The vertices of a shape inside a box, given by `inside`, as a list; their own box's middle to
 * `about`. */
typedef struct Chosen {
    int64_t count;
    double low[3], high[3], about[3];
} Chosen;

/* `relative`: the box is of the mesh before it is placed. Vertices in `taken` (unless NULL) are
 * held already; with a list, what it names is taken. */
static Chosen choose(const Shape *s, const double low[3], const double high[3], bool relative,
                     uint8_t *taken, FILE *list, int64_t max)
{
    Chosen c = {.low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
    for (int64_t v = 0; v < s->mesh->vertex_count && c.count < max; v++) {
        const double *X = s->mesh->x + 3 * v;
        double x[3];
        ipc_place(s, X, x);
        bool in = true;
        for (int k = 0; k < 3; k++)
            in &= (relative ? X : x)[k] >= low[k] && (relative ? X : x)[k] <= high[k];
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

static void put_chosen(FILE *out, const Shape *s, const double low[3], const double high[3],
                       bool relative, uint8_t *taken, int64_t max)
{
    fputs("      - vertices: [", out);
    choose(s, low, high, relative, taken, out, max);
    fputs("]\n", out);
}

static void put_way_and_back(FILE *out, const Shape *shape, double end)
{
    const double time[3] = {0, shape->turns, end};
    const double way[3] = {0, shape->turns, 2 * shape->turns - end};
    fputs("script: {keys: [", out);
    for (int t = 0; t < 3; t++) {
        fputs(t ? ", [" : "[", out);
        put(out, time[t]);
        for (int k = 0; k < 3; k++) fputs(", ", out), put(out, way[t] * shape->linear[k]);
        fputc(']', out);
    }
    fputs("]}", out);
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
        put(out, time[t]);
        for (int k = 0; k < 3; k++) fputs(", ", out), put(out, shift[k]);
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
        turning += !is_zero(s->hold[k].angular);
        same++;
    }
    if (first < i && !turning) return; /* with the first of them */
    Chosen c = choose(s, from, to, true, f->taken, NULL, INT64_MAX);
    if (!c.count) {
        import_note(f->r->report, h->line,
                    "DBC: no vertex is in the box, or all of them are held by another DBC; left "
                    "out");
        return;
    }
    open_fix(f);
    put_chosen(f->out, s, from, to, true, f->taken, INT64_MAX);
    fputs("        ", f->out);
    if (same > 1 && !turning)
        put_keys(f->out, s, h, f->r->scene->end);
    else
        put_script(f->out, h->linear, h->angular, c.about, h->start, h->end);
    fputc('\n', f->out);
    if (isfinite(h->end) && (same == 1 || turning))
        import_note(f->r->report, h->line,
                    "DBC: after its time range the vertices are free there; here they are held "
                    "where they are");
}

/* What grip i of the script takes of the shape; low and high are the box of everything. */
static void put_grip(Fixing *f, const Script *script, int i, const double low[3],
                     const double high[3])
{
    const Grip *g = &script->grip[i];
    double from[3], to[3], middle[3];
    for (int k = 0; k < 3; k++) {
        double size = high[k] - low[k], a = g->low[k], b = g->high[k];
        if (g->ends && k == 0 && i == 0) b = f->r->scene->handle;
        if (g->ends && k == 0 && i == 1) a = 1 - f->r->scene->handle;
        from[k] = a < 0 ? -1e300 : low[k] + a * size;
        to[k] = b > 1 ? 1e300 : low[k] + b * size;
        middle[k] = (low[k] + high[k]) / 2;
    }
    if (!choose(f->shape, from, to, false, f->taken, NULL, INT64_MAX).count) return;
    open_fix(f);
    put_chosen(f->out, f->shape, from, to, false, f->taken, script->one ? 1 : INT64_MAX);
    if (g->twist == 0 && is_zero(g->velocity)) return;
    fputs("        ", f->out);
    put_script(f->out, g->velocity, (const double[]){g->twist, 0, 0}, middle, 0, INFINITY);
    fputc('\n', f->out);
}

static BrioStatus put_holds(Reader *r, FILE *out, const Shape *s, const Script *script,
                            const double box_low[3], const double box_high[3])
{
    double low[3], high[3];
    Fixing f = {.r = r, .out = out, .shape = s};
    f.taken = brio__calloc((size_t)s->mesh->vertex_count, 1);
    if (!f.taken) return ipc_no_memory(r);
    ipc_box_of(s->mesh, low, high);
    for (int i = 0; i < s->holds; i++) put_hold(&f, i, low, high);
    for (int i = 0; i < script->grips; i++) put_grip(&f, script, i, box_low, box_high);
    brio__free(f.taken);
    return BRIO_OK;
}

static void put_material(FILE *out, const Scene *s, const Shape *shape)
{
    fprintf(out, "{type: %s, E: ", strcmp(s->energy, "FCR") ? "neo-hookean" : "corotated");
    put(out, shape && shape->E > 0 ? shape->E : s->E);
    fputs(", nu: ", out);
    put(out, shape && shape->E > 0 ? shape->nu : s->nu);
    fputs(", rho: ", out);
    put(out, shape && shape->density > 0 ? shape->density : s->density);
    fputs("}\n", out);
}

static bool own_material(const Shape *s) { return s->density > 0 && s->E > 0; }

/* Kinematic shapes are obstacles: surfaces always, solids if they have a velocity. */
static bool is_obstacle(const Shape *s) { return s->kinematic || s->mesh->tet_count == 0; }

static BrioStatus put_bodies(Reader *r, FILE *out, const char *folder, const Script *script,
                             const double low[3], const double high[3])
{
    const Scene *s = r->scene;
    char path[4096];
    fputs("bodies:\n", out);
    for (int i = 0; i < s->shapes; i++) {
        Shape *shape = &s->shape[i];
        if (is_obstacle(shape)) continue;
        ipc_relative_path(folder, shape->path, path, sizeof path);
        fprintf(out, "  - name: %s\n    mesh: ", shape->name);
        put_text(out, path);
        fputs("\n    kind: solid\n    material: ", out);
        if (own_material(shape))
            fprintf(out, "material%d\n", i);
        else
            fputs("material\n", out);
        put_transform(out, shape->scale, shape->rotate, shape->translate);
        if (shape->thrown) {
            double from[3], to[3];
            ipc_box_of(shape->mesh, from, to);
            Chosen all = choose(shape, from, to, true, NULL, NULL, INT64_MAX);
            put3(out, "    velocity: {linear: ", shape->first);
            if (!is_zero(shape->first_angular)) {
                put3(out, ", angular: ", shape->first_angular);
                put3(out, ", about: ", all.about);
            }
            fputs("}\n", out);
        }
        if (shape->count[0] * shape->count[1] * shape->count[2] > 1) {
            fprintf(out, "    array: {count: [%d, %d, %d]", shape->count[0], shape->count[1],
                    shape->count[2]);
            put3(out, ", spacing: ", shape->step);
            fputs("}\n", out);
        }
        BRIO_CHECK(put_holds(r, out, shape, script, low, high));
        r->report->bodies += shape->count[0] * shape->count[1] * shape->count[2];
    }
    return BRIO_OK;
}

static void put_obstacles(Reader *r, FILE *out, const char *folder)
{
    const Scene *s = r->scene;
    char path[4096];
    fputs("obstacles:\n", out);
    for (int i = 0; i < s->shapes; i++) {
        Shape *shape = &s->shape[i];
        if (!is_obstacle(shape)) continue;
        ipc_relative_path(folder, shape->path, path, sizeof path);
        fprintf(out, "  - name: %s\n    type: mesh\n    mesh: ", shape->name);
        put_text(out, path);
        fputc('\n', out);
        put_transform(out, shape->scale, shape->rotate, shape->translate);
        if (!is_zero(shape->linear) || !is_zero(shape->angular)) {
            double low[3], high[3];
            ipc_box_of(shape->mesh, low, high);
            Chosen all = choose(shape, low, high, true, NULL, NULL, INT64_MAX);
            fputs("    ", out);
            if (shape->turns > 0 && shape->turns < s->end)
                put_way_and_back(out, shape, s->end);
            else
                put_script(out, shape->linear, shape->angular, all.about, 0, INFINITY);
            fputc('\n', out);
        }
        if (shape->count[0] * shape->count[1] * shape->count[2] > 1)
            import_note(r->report, shape->line,
                        "shapeMatrix of a surface: only its first copy is taken");
        if (shape->thrown || shape->holds)
            import_note(r->report, shape->line,
                        "initVel and DBC have no meaning for a shape that is not simulated");
        r->report->obstacles++;
    }
    for (int i = 0; i < s->obstacles; i++) {
        Obstacle *o = &s->obstacle[i];
        fprintf(out, "  - name: obstacle%d\n", i);
        if (o->plane) {
            put3(out, "    type: plane\n    point: ", o->point);
            put3(out, "\n    normal: ", o->normal);
            fputc('\n', out);
        } else {
            ipc_relative_path(folder, o->path, path, sizeof path);
            fputs("    type: mesh\n    mesh: ", out);
            put_text(out, path);
            fputc('\n', out);
            put_transform(out, (double[]){o->scale, o->scale, o->scale}, o->rotate, o->point);
        }
        r->report->obstacles++;
    }
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
            fprintf(out, "    - {between: [%s, obstacle%d], mu: ", name, o);
            put(out, s->obstacle[o].friction);
            fputs("}\n", out);
        }
    }
}

static void put_contact(FILE *out, const Scene *s, double unit)
{
    bool differs = false;
    for (int i = 0; i < s->obstacles; i++)
        differs |= s->obstacle[i].friction != fmax(s->friction, 0);
    fputs("contact:\n  type: ipc\n  dhat: ", out);
    put(out, s->dhat * unit);
    fputs("\n  kappa: auto\n  mu: ", out);
    put(out, fmax(s->friction, 0));
    fputs("\n  epsv: ", out);
    put(out, s->epsv * unit);
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
        ipc_short_name(s->shape[i].path, base, sizeof base);
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
    put(out, s->beta);
    fputs(", gamma: ", out);
    put(out, s->gamma);
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
    put(out, stiffness / (s->h * s->h));
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
    put(out, s->h);
    fputs(", end: ", out);
    put(out, s->end);
    fputs(", fps: ", out);
    put(out, fmin(1 / s->h, 60));
    put3(out, "}\ngravity: ", (const double[]){0, s->gravity ? -9.80665 : 0, 0});
    put_integrator(out, s);
    fputs("solver: {tol: ", out);
    put(out, s->tol * diagonal);
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

BrioStatus ipc_write_scene(Reader *r, const char *folder, FILE *out)
{
    Scene *s = r->scene;
    double low[3], high[3];
    int bodies = 0, surfaces = 0;
    const Script *script = ipc_find_script(r);
    BRIO_CHECK(ipc_place_all(r));
    ipc_apply_script(s, script);
    ipc_whole_box(s, true, low, high);
    double diagonal = ipc_diagonal_of(low, high), unit = s->absolute ? 1 : diagonal;
    ipc_whole_box(s, false, low, high);
    double lift = script->lift_diagonal * ipc_diagonal_of(low, high) +
                  script->lift_height * (high[1] - low[1]);
    for (int i = 0; i < s->shapes; i++) {
        s->shape[i].translate[1] += lift;
        bodies += !is_obstacle(&s->shape[i]);
        surfaces += is_obstacle(&s->shape[i]);
    }
    low[1] += lift;
    high[1] += lift;
    if (!bodies)
        return brio__error_at(r->error, BRIO_ERROR_INPUT, r->name, 0, 0, NULL,
                              "the scene has no body to simulate: a shape with tets and without a "
                              "prescribed velocity");
    name_shapes(s);
    put_settings(out, r, diagonal);
    if (s->self_collision || surfaces || s->obstacles) put_contact(out, s, unit);
    put_materials(out, s);
    BRIO_CHECK(put_bodies(r, out, folder, script, low, high));
    if (surfaces || s->obstacles) put_obstacles(r, out, folder);
    return BRIO_OK;
}
