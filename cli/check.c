/* brio check: the content of a scene or mesh, its problems, and the longest stable time step.
 *
 * The highest frequency is the square root of the largest eigenvalue of M^-1 K at the initial
 * state, K the exact Hessian of the potential, by the power method; a symplectic step is stable up
 * to h = 2/omega [Hairer2006, I.1]. */
#include "proof.h"
#include "settings.h"

#include "internal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ---- sizes and shapes ------------------------------------------------------------------- */

static void quality_json(BrioJson *json, const BrioMeshQuality *q, int64_t tets)
{
    brio__json_open(json, "low", '[');
    for (int r = 0; r < 3; r++) brio__json_real(json, NULL, q->low[r]);
    brio__json_close(json, ']');
    brio__json_open(json, "high", '[');
    for (int r = 0; r < 3; r++) brio__json_real(json, NULL, q->high[r]);
    brio__json_close(json, ']');
    brio__json_real(json, "edge_least", q->edge_min);
    brio__json_real(json, "edge_most", q->edge_max);
    if (!tets) return;
    brio__json_real(json, "volume", q->volume);
    brio__json_real(json, "tet_volume_least", q->tet_min);
    brio__json_real(json, "tet_volume_most", q->tet_max);
    brio__json_real(json, "worst_shape", q->worst);
    brio__json_integer(json, "worst_tet", q->worst_tet);
    brio__json_integer(json, "inverted", q->inverted);
}

static void quality_text(const BrioMeshQuality *q, int64_t tets)
{
    printf("    box          %.6g %.6g %.6g to %.6g %.6g %.6g m\n", q->low[0], q->low[1], q->low[2],
           q->high[0], q->high[1], q->high[2]);
    if (q->edge_max > 0) printf("    edges        %.4g to %.4g m\n", q->edge_min, q->edge_max);
    if (!tets) return;
    printf("    volume       %.6g m3, of a tet %.4g to %.4g m3\n", q->volume, q->tet_min,
           q->tet_max);
    printf("    worst shape  %.3g at tet %lld (1 is a regular tet, above 20 is poor)\n", q->worst,
           (long long)q->worst_tet);
}

/* ---- findings --------------------------------------------------------------------------- */

typedef struct Findings {
    int count;
    bool fatal; /* one of them is */
    char text[16 + BRIO_MAX_QUESTIONS][512];
    bool forbids[16 + BRIO_MAX_QUESTIONS]; /* the scene cannot be run */
} Findings;

static void find(Findings *f, bool fatal, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void find(Findings *f, bool fatal, const char *format, ...)
{
    va_list arguments;
    f->fatal |= fatal;
    if (f->count == (int)BRIO_COUNT(f->text)) return;
    f->forbids[f->count] = fatal;
    va_start(arguments, format);
    vsnprintf(f->text[f->count++], sizeof f->text[0], format, arguments);
    va_end(arguments);
}

static int conclude(const Findings *f, BrioJson *json, const char *what)
{
    if (json) {
        brio__json_open(json, "findings", '[');
        for (int i = 0; i < f->count; i++) brio__json_text(json, NULL, f->text[i]);
        brio__json_close(json, ']');
        brio__json_open(json, "warnings", '[');
        for (int i = 0; i < f->count; i++)
            if (!f->forbids[i]) brio__json_text(json, NULL, f->text[i]);
        brio__json_close(json, ']');
        brio__json_boolean(json, "runnable", !f->fatal);
        brio__json_close(json, '}');
    } else {
        for (int i = 0; i < f->count; i++) printf("  ! %s\n", f->text[i]);
        printf("%s\n", f->fatal ? "not runnable" : what);
    }
    return f->fatal ? EXIT_FAILED : EXIT_DONE;
}

/* ---- meshes ----------------------------------------------------------------------------- */

/* A .json is a mesh if it has positions and no bodies: scenes may be JSON too. */
static bool json_is_mesh(const char *name)
{
    char *text = NULL;
    size_t size;
    BrioError ignored = {0};
    if (brio__read_file(name, &text, &size, &ignored) != BRIO_OK) return false;
    bool mesh = strstr(text, "positions") && !strstr(text, "\"bodies\"");
    brio__free(text);
    return mesh;
}

static bool is_mesh(const char *name)
{
    const char *dot = strrchr(name, '.');
    if (dot && !strcasecmp(dot, ".json")) return json_is_mesh(name);
    for (int i = 0; dot && brio__mesh_reader_at(i); i++)
        if (!strcasecmp(dot, brio__mesh_reader_at(i)->extension)) return true;
    return false;
}

static BrioMeshQuality quality_of(const BrioMesh *mesh)
{
    return brio__quality(&(BrioMeshView){.x = mesh->x,
                                         .vertices = mesh->vertex_count,
                                         .tets = mesh->tet_count,
                                         .tet = mesh->tet,
                                         .edges = mesh->edge_count,
                                         .edge = mesh->edge,
                                         .triangles = mesh->triangle_count,
                                         .triangle = mesh->triangle});
}

static int check_mesh(const char *name, bool as_json)
{
    BrioMesh *mesh = NULL;
    BrioError error = {0}, wrong = {0};
    Findings found = {0};
    if (brio_mesh_read(name, &mesh, &error) != BRIO_OK) return say_error(&error, EXIT_USAGE);
    int64_t given = mesh->triangle_count, tets = mesh->tet_count;
    BrioStatus status = brio__mesh_check(mesh, &wrong);
    if (status == BRIO_OK && tets) status = brio__mesh_check_solid(mesh, &wrong);
    if (status == BRIO_OK && tets) status = brio__mesh_surface(mesh, &wrong);
    if (status == BRIO_OK && !tets && !mesh->edge_count)
        status = brio__mesh_edges_from_triangles(mesh);
    if (status == BRIO_OK && !tets) status = brio__mesh_check_springs(mesh, &wrong);
    if (status != BRIO_OK)
        find(&found, true, "%s", wrong.message[0] ? wrong.message : brio_status_text(status));
    BrioMeshQuality q = quality_of(mesh);
    BrioMeasure m = {0};
    BrioStatus measured = brio__measure(mesh, &m, &wrong);
    if (status == BRIO_OK && measured != BRIO_OK) find(&found, true, "%s", wrong.message);
    int64_t open = measured == BRIO_OK ? m.open_edges + m.branching_edges : -1; /* -1: not known */
    if (tets && q.worst > BRIO_POOR_SHAPE)
        find(&found, false,
             "tet %lld is badly shaped (%.3g; 1 is a regular tet): it will need small steps",
             (long long)q.worst_tet, q.worst);
    if (!tets && open > 0)
        find(&found, false,
             "the surface is not closed: %lld edges do not belong to exactly two triangles",
             (long long)open);
    if (m.intersections)
        find(&found, false,
             "the surface intersects itself: %lld edges intersect a triangle, first the edge of "
             "vertices %d and %d with triangle %lld",
             (long long)m.intersections, m.first.edge[0], m.first.edge[1],
             (long long)m.first.triangle);
    BrioJson json = {.file = stdout};
    if (as_json) {
        brio__json_open(&json, NULL, '{');
        brio__json_text(&json, "mesh", name);
        brio__json_integer(&json, "vertices", mesh->vertex_count);
        brio__json_integer(&json, "tets", tets);
        brio__json_integer(&json, "triangles", mesh->triangle_count);
        brio__json_integer(&json, "edges", tets ? 0 : mesh->edge_count);
        brio__json_boolean(&json, "closed", mesh->triangle_count > 0 && open == 0);
        quality_json(&json, &q, tets);
    } else {
        printf("%s\n    %lld vertices, %lld tets, %lld triangles%s, %lld edges\n", name,
               (long long)mesh->vertex_count, (long long)tets, (long long)mesh->triangle_count,
               tets && given != mesh->triangle_count ? " (boundary of the tets)" : "",
               (long long)(tets ? 0 : mesh->edge_count));
        quality_text(&q, tets);
        if (mesh->triangle_count) printf("    surface      %s\n", open == 0 ? "closed" : "open");
    }
    brio_mesh_free(mesh);
    return conclude(&found, as_json ? &json : NULL,
                    tets ? "usable as a solid" : "usable as springs");
}

/* ---- scenes ----------------------------------------------------------------------------- */

static void cage_json(BrioJson *json, const BrioCage *c)
{
    brio__json_open(json, "cage", '{');
    brio__json_integer(json, "cells", c->cells);
    brio__json_integer(json, "nodes", c->node_count);
    brio__json_real(json, "edge", c->edge);
    brio__json_real(json, "volume", c->enclosed);
    brio__json_boolean(json, "closed", c->closed);
    brio__json_integer(json, "pieces", c->pieces);
    brio__json_integer(json, "components", c->components);
    brio__json_close(json, '}');
}

static void cage_text(const BrioCage *c)
{
    printf("    cage         %lld cells of %.4g m, %lld nodes; the surface %s %.6g m3\n",
           (long long)c->cells, c->edge, (long long)c->node_count,
           c->closed ? "encloses" : "is open and encloses about", c->enclosed);
    if (c->components != c->pieces)
        printf("    cage         %d components of the surface on %d %s of the cage: components in "
               "the same cells move together\n",
               c->components, c->pieces, c->pieces == 1 ? "piece" : "pieces");
}

static void check_body(const BrioSystem *s, int i, const double *x, BrioJson *json, Findings *found)
{
    const BrioBody *b = &s->body[i];
    const BrioEnergy *energy = s->term[b->term].energy;
    char vertices[32], tets[32], springs[32];
    BrioMeshQuality q = brio__body_quality(b, x);
    double mass = brio__body_mass(s, i);
    int64_t elements = b->cage ? b->cage->tet_count : b->tet_count;
    if (q.inverted) {
        const int32_t *n = (b->cage ? b->cage->tet : b->tet) + 4 * q.first_inverted;
        bool fatal = energy->traits & BRIO_ENERGY_INFINITE;
        find(found, fatal,
             "body \"%s\": %lld tets are inverted in the initial state, the first is tet %lld "
             "(vertices %d %d %d %d)%s",
             b->name, (long long)q.inverted, (long long)q.first_inverted, n[0], n[1], n[2], n[3],
             fatal ? "; its material forbids that: correct `state`, or use stable-neo-hookean"
                   : "");
    } else if (q.worst > BRIO_POOR_SHAPE) {
        find(found, false,
             "body \"%s\": tet %lld is badly shaped (%.3g; 1 is a regular tet): it needs small "
             "steps",
             b->name, (long long)q.worst_tet, q.worst);
    }
    if (json) {
        brio__json_open(json, NULL, '{');
        brio__json_text(json, "name", b->name);
        brio__json_text(json, "material", energy->name);
        brio__json_integer(json, "vertices", b->count);
        brio__json_integer(json, "tets", elements);
        brio__json_integer(json, "triangles", b->triangle_count);
        brio__json_integer(json, "springs", b->edge_count);
        brio__json_real(json, "mass", mass);
        if (b->cage) cage_json(json, b->cage);
        quality_json(json, &q, elements);
        brio__json_close(json, '}');
        return;
    }
    count_text(b->count, vertices, sizeof vertices);
    count_text(elements, tets, sizeof tets);
    bool faces = energy->element == BRIO_ELEMENT_AFFINE || energy->element == BRIO_ELEMENT_TRIANGLE;
    count_text(faces ? b->triangle_count : b->edge_count, springs, sizeof springs);
    printf("  body \"%s\": %s vertices, %s %s, %s\n", b->name, vertices, elements ? tets : springs,
           b->cage                                 ? "tets of a cage"
           : elements                              ? "tets"
           : faces                                 ? "triangles"
           : energy->element == BRIO_ELEMENT_BAR   ? "bar elements"
           : energy->element == BRIO_ELEMENT_POINT ? "edges"
                                                   : "springs",
           energy->name);
    printf("    mass         %.6g kg\n", mass);
    if (b->cage) cage_text(b->cage);
    quality_text(&q, elements);
}

/* ---- intersections of the initial state --------------------------------------------------- */

enum { SHOWN = 5, MAX_WRITTEN = 100000 };

static void show_dhat(const BrioScene *scene, BrioJson *json)
{
    BrioSurfaceEdges e;
    if (brio__surface_edges(scene, &e) != BRIO_OK || e.count == 0) return;
    if (json) {
        brio__json_real(json, "dhat", e.dhat);
        brio__json_real(json, "surface_edge_least", e.min);
        brio__json_real(json, "surface_edge_median", e.median);
    } else {
        printf("  contact        dhat = %.4g m; edges of the surfaces from %.4g m, half of them "
               "below %.4g m\n",
               e.dhat, e.min, e.median);
    }
}

typedef struct Picture {
    const char *name;
    bool force;
} Picture;

/* An existing file stays, and the verdict does not depend on it. */
static bool is_there(const char *picture)
{
    if (access(picture, F_OK) != 0) return false;
    fprintf(stderr,
            "brio check: %s already exists and was not replaced; give --force, or another name "
            "with -o\n",
            picture);
    return true;
}

/* Which vertices are part of an intersection, by body and obstacle, in their own numbers. */
static void show_vertices(const BrioSystem *s, const BrioIntersection *list, int64_t count,
                          BrioJson *json)
{
    uint8_t *meets = brio__calloc((size_t)s->vertex_count + 1, 1);
    for (int64_t i = 0; meets && i < count; i++) {
        for (int k = 0; k < 2; k++) meets[list[i].edge[k]] = 1;
        for (int k = 0; k < 3; k++)
            if (list[i].other[k] >= 0) meets[list[i].other[k]] = 1;
    }
    brio__json_open(json, "intersecting_vertices", '[');
    for (int i = 0; meets && i < s->body_count + s->obstacle_count; i++) {
        bool is_body = i < s->body_count, named = false;
        const BrioObstacle *o = is_body ? NULL : &s->obstacle[i - s->body_count];
        int64_t first = is_body ? s->body[i].first : o->first;
        int64_t vertices = is_body ? s->body[i].count : o->count;
        for (int64_t v = 0; v < vertices; v++) {
            if (!meets[first + v]) continue;
            if (!named) {
                brio__json_open(json, NULL, '{');
                brio__json_text(json, is_body ? "body" : "obstacle", brio__owner_name(s, i));
                brio__json_open(json, "vertices", '[');
                named = true;
            }
            brio__json_integer(json, NULL, v);
        }
        if (!named) continue;
        brio__json_close(json, ']');
        brio__json_close(json, '}');
    }
    brio__json_close(json, ']');
    brio__free(meets);
}

/* An exit code: of writing the picture. */
static int check_intersections(const BrioScene *scene, const double *x, const Picture *picture,
                               BrioJson *json, Findings *found)
{
    const BrioSystem *s = scene->system;
    BrioExact *exact = NULL;
    BrioIntersection *list = NULL;
    int code = EXIT_DONE;
    if (brio__exact_create(s, &exact) != BRIO_OK)
        return usage_error(&command_check, "out of memory");
    show_dhat(scene, json);
    int64_t count = brio__exact_find(exact, x, NULL, 0), stored = BRIO_MIN(count, MAX_WRITTEN);
    if (count) list = brio__alloc((size_t)stored, sizeof *list);
    if (count && !list) {
        brio__exact_free(exact);
        return usage_error(&command_check, "out of memory");
    }
    brio__exact_find(exact, x, list, stored);
    if (json) {
        brio__json_integer(json, "intersections", count);
        brio__json_open(json, "intersecting", '[');
    } else if (count) {
        printf("  intersections  %lld in the initial state:\n", (long long)count);
    }
    for (int64_t i = 0; i < BRIO_MIN(count, SHOWN); i++) {
        char text[320];
        brio__intersection_text(s, &list[i], text, sizeof text);
        if (json)
            brio__json_text(json, NULL, text);
        else
            printf("    %s\n", text);
    }
    if (count > SHOWN && !json) printf("    and %lld more\n", (long long)(count - SHOWN));
    if (json) brio__json_close(json, ']');
    if (json) show_vertices(s, list, stored, json);
    if (count && s->barrier && s->start == BRIO_START_UNTANGLE) {
        if (!json) printf("    contact.start: untangle parts them, see below\n");
    } else if (count) {
        bool forbidden = brio__has_barriers(s);
        find(found, forbidden, "%lld pairs of edges and triangles intersect in the initial state%s",
             (long long)count,
             forbidden ? ": bodies with contact must start apart; move them with "
                         "bodies.N.transform.translate, or use contact.start: untangle"
                       : "; without contact they do not feel each other");
        bool kept = !picture->force && is_there(picture->name);
        if (!kept) code = write_intersections(picture->name, picture->force, x, list, stored);
        if (!kept && code == EXIT_DONE && !json)
            printf("    written to %s%s\n", picture->name,
                   stored < count ? ", not all of them" : "");
    }
    brio__free(list);
    brio__exact_free(exact);
    return code;
}

/* What begins inside dhat, and whether that throws bodies apart. */
static void check_start(BrioSim *sim, BrioJson *json, Findings *found)
{
    const BrioSystem *s = sim->system;
    BrioStart start;
    char text[sizeof found->text[0]];
    brio__sim_start(sim, &start);
    if (json) {
        brio__json_open(json, "start", '{');
        brio__json_integer(json, "contacts", start.contacts);
        brio__json_real(json, "energy", start.energy);
        brio__json_real(json, "dhat_factor", brio__sim_relaxed(sim));
        brio__json_open(json, "pairs", '[');
        for (int i = 0; i < start.pairs; i++) {
            brio__json_open(json, NULL, '{');
            for (int k = 0; k < 2; k++)
                brio__json_text(json, k ? "b" : "a", brio__owner_name(s, start.pair[i].owner[k]));
            brio__json_integer(json, "contacts", start.pair[i].contacts);
            brio__json_real(json, "distance", start.pair[i].gap);
            brio__json_real(json, "of_dhat", start.pair[i].gap / start.dhat);
            brio__json_close(json, '}');
        }
        brio__json_close(json, ']');
        brio__json_close(json, '}');
    }
    if (brio__sim_pressed_text(sim, text, sizeof text)) {
        find(found, false, "%s", text);
    } else if (start.pairs && !json) {
        brio__start_text(s, &start, text, sizeof text);
        printf("  start          %s\n", text);
        if (brio__sim_relaxed(sim) < 1)
            printf("    contact.start: barriers start without force, at %.2g of dhat, and grow "
                   "within %g s\n",
                   brio__sim_relaxed(sim), s->relax_time);
    }
}

/* What untangling has moved. */
static void show_untangled(const BrioSim *sim, BrioJson *json)
{
    const BrioUntangled *r = &sim->untangled;
    char text[160];
    if (sim->system->start != BRIO_START_UNTANGLE) return;
    brio__untangled_text(sim->system, r, text, sizeof text);
    if (!json) {
        printf("  untangled      %lld intersections: moved %s; proved by the exact test\n",
               (long long)r->before, text);
        return;
    }
    brio__json_open(json, "untangled", '{');
    brio__json_integer(json, "intersections", r->before);
    brio__json_integer(json, "left", r->after);
    brio__json_integer(json, "moved_bodies", r->moved);
    brio__json_real(json, "largest_shift", r->shift);
    brio__json_text(json, "body", r->vertex < 0 ? "" : sim->system->body[r->part].name);
    brio__json_close(json, '}');
}

/* Of BrioEstimate. */
static const char *const estimate_names[] = {"two half steps, at three times the price",
                                             "differences of velocities", "the method itself",
                                             "none"};

static void say_automatic(const BrioSteps *steps, const BrioIntegrator *integrator)
{
    printf("  time step      chosen by brio, from %.3g s to %.3g s, with %s\n", steps->h_min,
           steps->h_max, integrator->name);
    printf("    tolerance %.3g m for the error of a step, estimated by %s\n", steps->tol,
           estimate_names[integrator->estimate]);
}

/* What solves leave over must be less than what steps may err by. */
static void check_automatic(const BrioSim *sim, const BrioSteps *steps, Findings *found)
{
    double left = sim->stepper->solver->options.tol * steps->h_max;
    if (steps->automatic && left > steps->tol)
        find(found, false,
             "time.tol = %.3g m is less than what the solver may leave over in the longest step, "
             "solver.tol times %.3g s = %.3g m: steps will be shorter than necessary; use "
             "solver.tol = %.1g",
             steps->tol, steps->h_max, left, steps->tol / steps->h_max / 10);
}

static void advise(BrioScene *scene, BrioJson *json, Findings *found)
{
    BrioSim *sim = NULL;
    BrioError error = {0};
    const BrioIntegrator *integrator = brio_integrator(scene->def.integrator);
    bool implicit = integrator->traits & BRIO_IMPLICIT;
    double h = scene->def.h, k0 = NAN;
    BrioStiffness *stiffness = NULL;
    BrioStatus status = brio__scene_sim(scene, &sim, &error);
    if (status == BRIO_OK) status = brio__stiffness_create(sim->system, &stiffness);
    if (status != BRIO_OK) {
        find(found, true, "%s", error.message[0] ? error.message : brio_status_text(status));
        brio_sim_free(sim);
        return;
    }
    show_untangled(sim, json);
    check_start(sim, json, found);
    int64_t iterations;
    brio__system_positions(sim->system, sim->state, sim->state->q, sim->state->time, sim->world);
    /* not converged: the best so far */
    if (brio__stiffness_at(stiffness, sim->state, sim->world) == BRIO_OK)
        brio__stiffness_largest(stiffness, 0.01, 1000, &k0, &iterations);
    brio__stiffness_free(stiffness);
    BrioSteps steps = brio_sim_steps(sim);
    check_automatic(sim, &steps, found);
    brio_sim_free(sim);
    double omega = sqrt(fabs(k0)), max = omega > 0 ? 2 / omega : INFINITY;
    if (json) {
        brio__json_real(json, "h", h);
        if (steps.automatic) {
            brio__json_real(json, "tol", steps.tol);
            brio__json_real(json, "h_min", steps.h_min);
            brio__json_text(json, "estimate", estimate_names[integrator->estimate]);
        }
        brio__json_real(json, "highest_frequency", omega);
        brio__json_real(json, "h_explicit", max);
    } else {
        if (steps.automatic)
            say_automatic(&steps, integrator);
        else
            printf("  time step      h = %.6g s with %s\n", h, integrator->name);
        printf("    highest frequency of the mesh about %.4g rad/s: symplectic-euler is stable up "
               "to h = %.3g s\n",
               omega, max);
        if (implicit && !steps.automatic)
            printf("    vibrations faster than %.3g rad/s (2/h) are not resolved by a step\n",
                   2 / h);
    }
}

static void add_questions(const BrioScene *scene, Findings *found)
{
    BrioQuestions *questions = brio__alloc(1, sizeof *questions);
    if (!questions || brio__scene_questions(scene, questions) != BRIO_OK)
        find(found, false, "out of memory: not everything was checked");
    for (int i = 0; questions && i < questions->count; i++)
        find(found, false, "%s", questions->text[i]);
    brio__free(questions);
}

void say_questions(const BrioScene *scene)
{
    BrioQuestions *questions = brio__alloc(1, sizeof *questions);
    if (questions && brio__scene_questions(scene, questions) == BRIO_OK)
        for (int i = 0; i < questions->count; i++)
            fprintf(stderr, "warning: %s\n", questions->text[i]);
    brio__free(questions);
}

static int check_scene(const char *name, const char *const *sets, int set_count,
                       const Picture *picture, bool as_json)
{
    BrioScene *scene = NULL;
    BrioError error = {0};
    Findings found = {0};
    if (brio__scene_load(name, sets, set_count, &scene, &error) != BRIO_OK)
        return say_error(&error, EXIT_USAGE);
    const BrioSystem *s = scene->system;
    double *x = brio__alloc(3 * (size_t)s->vertex_count, sizeof *x);
    if (!x) {
        brio__scene_free(scene);
        return usage_error(&command_check, "out of memory");
    }
    brio__system_positions(s, scene->state, scene->state->q, scene->state->time, x);
    BrioJson json = {.file = stdout};
    if (as_json) {
        brio__json_open(&json, NULL, '{');
        brio__json_text(&json, "scene", scene->file);
        brio__json_text(&json, "title", scene->title);
        brio__json_integer(&json, "steps", brio__scene_steps(scene));
        brio__json_integer(&json, "vertices", s->body_vertices);
        brio__json_integer(&json, "held", s->fixed_count);
        brio__json_integer(&json, "coordinates", 3 * (int64_t)s->block_count);
        brio__json_open(&json, "bodies", '[');
    } else {
        char coordinates[32], fixed[32], of_obstacles[64] = "", count[32];
        int64_t own = 0; /* of bodies; obstacles' vertices come after theirs */
        for (int64_t k = 0; k < s->fixed_count; k++) own += s->fixed[k] < s->body_vertices;
        count_text(3 * (int64_t)s->block_count, coordinates, sizeof coordinates);
        count_text(own, fixed, sizeof fixed);
        count_text(s->fixed_count - own, count, sizeof count);
        if (s->fixed_count > own)
            snprintf(of_obstacles, sizeof of_obstacles, " (and %s of obstacles)", count);
        printf("%s%s%s\n", scene->file, scene->title[0] ? ": " : "", scene->title);
        printf("  %d %s, %s coordinates, %s points fixed or scripted%s, %s%lld steps to t = %g s\n",
               s->body_count, s->body_count == 1 ? "body" : "bodies", coordinates, fixed,
               of_obstacles, scene->def.tol != 0 ? "at least " : "",
               (long long)brio__scene_steps(scene), scene->end);
    }
    for (int i = 0; i < s->body_count; i++) check_body(s, i, x, as_json ? &json : NULL, &found);
    if (as_json) brio__json_close(&json, ']');
    int written = check_intersections(scene, x, picture, as_json ? &json : NULL, &found);
    add_questions(scene, &found);
    if (as_json)
        settings_json(scene, &json);
    else
        show_settings(scene);
    if (!found.fatal) advise(scene, as_json ? &json : NULL, &found);
    brio__free(x);
    brio__scene_free(scene);
    int code = conclude(&found, as_json ? &json : NULL, "runnable");
    return code == EXIT_DONE ? written : code;
}

enum { SET, EXACT, OUT, FORCE, THREADS, JSON, PLUGIN };

static int run(int argc, char **argv)
{
    Arguments a = {.command = &command_check, .argc = argc, .argv = argv, .at = 1};
    SceneArguments given = {0};
    int option;
    bool json = false, exact = false;
    Picture picture = {0};
    while ((option = argument_next(&a)) != ARGUMENT_END) {
        switch (option) {
        case JSON: json = true; break;
        case EXACT: exact = true; break;
        case OUT: picture.name = a.value; break;
        case FORCE: picture.force = true; break;
        default:
            if (!scene_argument(&a, option, &given)) return a.exit;
        }
    }
    if (!given.name)
        return usage_error(a.command, exact ? "which run? Give a folder that `brio run` has written"
                                            : "which scene or mesh?");
    if (exact && (given.set_count || picture.name || picture.force))
        return usage_error(a.command,
                           "--exact proves a run as it was: it does not take --set, -o or --force");
    if (exact) return prove_run(given.name, json);
    if (!picture.name) picture.name = "check-intersections.obj";
    if (is_mesh(given.name))
        return given.set_count ? usage_error(a.command, "--set is for scenes, not for meshes")
                               : check_mesh(given.name, json);
    return check_scene(given.name, given.sets, given.set_count, &picture, json);
}

static const Option options[] = {
    [SET] = {"--set", 's', "PATH=VALUE", "Change a value of the scene first."},
    [EXACT] = {"--exact", 0, NULL,
               "Prove a run: replay it and check every accepted state with exact arithmetic."},
    [OUT] = {"--out", 'o', "FILE.obj",
             "Where to write intersections, if any; default: check-intersections.obj."},
    [FORCE] = {"--force", 'f', NULL, "Replace that file if it exists."},
    [THREADS] = {"--threads", 'j', "N",
                 "Number of threads; results do not depend on it. Default: one per core."},
    [JSON] = {"--json", 0, NULL, "The findings as one JSON object."},
    [PLUGIN] = OPTION_PLUGIN,
    {0}};

const Command command_check = {
    .name = "check",
    .summary = "Check a scene or mesh for bad elements and intersections, or prove that a run had "
               "none.",
    .synopsis = "SCENE|MESH [--set PATH=VALUE]... [-o FILE.obj] [--force] [--threads N] "
                "[--json]\n--exact RUN [--threads N] [--json]",
    .about = "Prints counts, masses, volumes, edge lengths, the worst element, intersections of "
             "the initial state (decided with exact arithmetic; bodies that touch intersect) and "
             "the longest stable time step of an explicit method. Lines that start with ! are "
             "problems, or values that are allowed but unlikely. If there are intersections, the "
             "command writes an OBJ file of the edges and triangles that intersect. It writes no "
             "other file.\n"
             "With --exact, RUN is a folder of `brio run`, finished or interrupted. The command "
             "replays the run to the last row of energy.csv; every row must be the same to the "
             "last bit. It checks every accepted state, also those within halved steps, for "
             "intersections, inverted elements and vertices behind planes.\n"
             "Exit code 0: runnable, or proved. 1: not runnable, for example because an element "
             "is inverted or bodies with contact intersect; or not proved. 2: the file is not "
             "valid.",
    .options = options,
    .examples = "brio check scenes/cantilever.yaml\nbrio check bunny.msh --json\nbrio run demo -o "
                "demo && brio check --exact demo",
    .run = run,
};
