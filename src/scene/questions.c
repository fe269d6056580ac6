/* Questions to a scene (questions.h). The bounds:
 *
 *     density          1 to 23,000 kg/m3     aerogel to osmium (22,590)
 *     mass per area    0.001 to 10,000 kg/m2 thinner than any foil, thicker than armour
 *     Young's modulus  1 to 1.3e12 Pa        weaker than any gel, stiffer than diamond
 *     size             0.1 mm to 50 m        only where there is gravity
 *     mass             1e-9 to 1e6 kg        likewise
 *     speed            1000 m/s              a rifle's bullet
 *     gravity          100 m/s2              four times Jupiter's: cm/s2 or mm/s2 taken for m/s2
 *
 * An explicit method amplifies the fastest vibration by the radius of its own matrix per step
 * (analyze/stability.h); the fastest frequency is that of the stiffness at the initial state. */
#include "questions.h"

#include "../analyze/modes.h"
#include "../analyze/stability.h"
#include "../contact/exact.h"
#include "../field.h"
#include "../mesh/quality.h"
#include "../vec.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define LIGHT 299792458.0 /* m/s */
#define FAST 1000.0       /* m/s */
#define GROWTH 100.0      /* of vibrations until the end */

/* What is known of a body; NAN: nothing. */
typedef struct Facts {
    double size, mass;
    double speed;        /* m/s: of its fastest vertex */
    double rho, areal;   /* kg/m3, kg/m2 */
    double E;            /* Pa */
    double weight_by_E;  /* rho g size / E: strain under its own weight */
    double way_per_step; /* in units of its size */
} Facts;

typedef struct Asking {
    const BrioScene *scene;
    const BrioSystem *system;
    BrioQuestions *questions;
    double gravity; /* m/s2 */
    double *x, *v;  /* world, of the initial state */
    Facts *facts;   /* of each body */
} Asking;

static void ask(Asking *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void ask(Asking *a, const char *format, ...)
{
    BrioQuestions *q = a->questions;
    va_list arguments;
    if (q->count == BRIO_MAX_QUESTIONS) return;
    va_start(arguments, format);
    vsnprintf(q->text[q->count++], sizeof q->text[0], format, arguments);
    va_end(arguments);
}

/* ---- bodies ----------------------------------------------------------------------------- */

static void material_facts(const Asking *a, int i, Facts *f)
{
    const BrioBody *b = &a->system->body[i];
    const BrioField *field = a->system->term[b->term].energy->fields;
    f->rho = f->areal = f->E = NAN;
    for (; field && field->name; field++) {
        int at = brio__fields_offset(a->system->term[b->term].energy->fields, field->name);
        double value = a->scene->state->param[b->values + at];
        if (field->type != BRIO_REAL || !field->unit) continue;
        if (!strcmp(field->unit, "kg/m3")) f->rho = value;
        if (!strcmp(field->unit, "kg/m2") && !strcmp(field->name, "areal")) f->areal = value;
        if (!strcmp(field->unit, "Pa") && !strcmp(field->name, "E")) f->E = value;
    }
}

static void learn_body(Asking *a, int i)
{
    const BrioBody *b = &a->system->body[i];
    Facts *f = &a->facts[i];
    BrioMeshQuality q = brio__body_quality(b, a->x);
    double h = a->scene->def.h;
    f->size = brio__hypot_distance3(q.high, q.low);
    f->mass = brio__body_mass(a->system, i);
    for (int64_t v = b->first; v < b->first + b->count; v++)
        f->speed = fmax(f->speed, brio__hypot3(a->v + 3 * v));
    material_facts(a, i, f);
    f->weight_by_E = f->rho * a->gravity * f->size / f->E;
    f->way_per_step = f->size > 0 ? (f->speed * h + a->gravity * h * h / 2) / f->size : NAN;
}

/* The first body one of whose facts is outside of a range, -1 if none is; `who` names it and says
 * how many more there are. */
static int find_odd(const Asking *a, size_t fact, double low, double high, char *who, size_t size)
{
    int found = -1, more = 0;
    for (int i = 0; i < a->system->body_count; i++) {
        double value;
        memcpy(&value, (const char *)&a->facts[i] + fact, sizeof value);
        if (!(value < low || value > high)) continue;
        if (found < 0)
            found = i;
        else
            more++;
    }
    if (found < 0) return -1;
    int used = snprintf(who, size, "body \"%s\"", a->system->body[found].name);
    if (more && used > 0 && (size_t)used < size)
        snprintf(who + used, size - (size_t)used, " (and %d more)", more);
    return found;
}

#define ODD(fact, low, high) find_odd(a, offsetof(Facts, fact), low, high, who, sizeof who)

static void ask_sizes(Asking *a)
{
    char who[192];
    if (a->gravity == 0) return;
    int i = ODD(size, 1e-4, INFINITY);
    if (i >= 0)
        ask(a,
            "%s is only %.3g m large: brio takes metres, and a mesh in kilometres or one that is "
            "scaled twice looks so; transform: {scale: 1000} enlarges it",
            who, a->facts[i].size);
    int large = ODD(size, 0, 50);
    if (large < 0) large = ODD(mass, 0, 1e6);
    if (large >= 0)
        ask(a,
            "%s is %.3g m large and has a mass of %.3g kg: brio takes metres, and a mesh in "
            "millimetres looks so; transform: {scale: 0.001} makes it %.3g m",
            who, a->facts[large].size, a->facts[large].mass, 0.001 * a->facts[large].size);
    i = ODD(mass, 1e-9, INFINITY);
    if (i >= 0)
        ask(a,
            "%s has a mass of only %.3g kg, less than a grain of dust: look at its size (m), rho "
            "or vertex_mass (kg)",
            who, a->facts[i].mass);
    i = large >= 0 ? -1 : ODD(weight_by_E, -INFINITY, 20);
    if (i >= 0)
        ask(a,
            "%s is %.3g times too soft to carry its own weight (rho g size = %.3g Pa, E = %.3g "
            "Pa) and will lie flat; use a larger E, or a smaller body if its mesh is not in "
            "metres",
            who, a->facts[i].weight_by_E, a->facts[i].weight_by_E * a->facts[i].E, a->facts[i].E);
}

static void ask_materials(Asking *a)
{
    char who[192];
    int i = ODD(rho, 1, 23000);
    if (i >= 0)
        ask(a, "%s has a density of %.3g kg/m3, %s; rho is in kg/m3: water has 1000, steel 7850",
            who, a->facts[i].rho, a->facts[i].rho < 1 ? "less than air" : "more than any metal");
    i = ODD(areal, 1e-3, 1e4);
    if (i >= 0)
        ask(a,
            "%s has a mass per area of %.3g kg/m2, %s; areal is in kg/m2: cotton has 0.15, steel "
            "of 1 mm 7.9",
            who, a->facts[i].areal,
            a->facts[i].areal < 1e-3 ? "less than any foil" : "more than a metre of steel");
    i = ODD(E, 1, 1.3e12);
    if (i >= 0)
        ask(a,
            "%s has E = %.3g Pa, %s; E is in Pa: jelly has 1e4, rubber 1e6, wood 1e10, steel 2e11",
            who, a->facts[i].E, a->facts[i].E < 1 ? "softer than any gel" : "stiffer than diamond");
}

/* ---- motion and time -------------------------------------------------------------------- */

static const char *how_fast(double speed)
{
    return speed > LIGHT ? "faster than light" : "faster than a rifle bullet";
}

/* The fastest vertex that a script moves, at instants over the run. */
static double script_speed(Asking *a)
{
    double fastest = 0;
    for (int k = 0; a->system->scripted_count && k <= 20; k++) {
        brio__system_velocities(a->system, a->scene->state, a->scene->state->v,
                                a->scene->end * k / 20, a->v);
        for (int64_t i = 0; i < a->system->fixed_count; i++)
            fastest = fmax(fastest, brio__hypot3(a->v + 3 * (int64_t)a->system->fixed[i]));
    }
    return fastest;
}

static void ask_speeds(Asking *a)
{
    char who[192];
    int i = ODD(speed, 0, FAST);
    if (i >= 0)
        ask(a,
            "%s starts with %.3g m/s, %s; velocity is in m/s and rad/s, and `about` should be "
            "near the rotating body",
            who, a->facts[i].speed, how_fast(a->facts[i].speed));
    double script = script_speed(a);
    if (script > FAST)
        ask(a, "a script moves vertices with %.3g m/s, %s; velocities are in m/s, times in s",
            script, how_fast(script));
    if (a->gravity > 100)
        ask(a,
            "gravity of %.4g m/s2 is %.3g times that of the earth: it is in m/s2, not in cm/s2 or "
            "mm/s2; use gravity: [0, -9.8, 0] and lengths in metres",
            a->gravity, a->gravity / 9.8);
}

/* In which a body moves by about its own size. */
static double step_of_own_size(const Asking *a, int body)
{
    const Facts *f = &a->facts[body];
    double h = INFINITY;
    if (f->speed > 0) h = f->size / f->speed;
    if (a->gravity > 0) h = fmin(h, sqrt(2 * f->size / a->gravity));
    return h;
}

static void ask_steps(Asking *a)
{
    const BrioScene *scene = a->scene;
    double h = scene->def.h, steps = scene->end / h;
    char who[192];
    if (!strcmp(scene->def.integrator, "static")) return;
    if (scene->def.solver.tol >= 1 && scene->def.solver.tol != BRIO_AUTO)
        ask(a,
            "solver.tol = %.3g m/s: Newton may leave every vertex with an error of that speed; "
            "1e-3 of the speeds in play is a good choice for pictures",
            scene->def.solver.tol);
    if (scene->def.tol != 0) return; /* automatic steps */
    if (scene->end > 0 && h > 1.000001 * scene->end)
        ask(a,
            "time.h = %.4g s is longer than time.end = %.4g s: the whole run is one step, which "
            "ends at t = %.4g s; use time.h = %.2g or less",
            h, scene->end, h, scene->end / 30);
    if (steps > 1e8)
        ask(a,
            "time.end / time.h are %.3g steps: at a thousand steps per second that takes %.3g "
            "days; "
            "use a longer time.h or an earlier time.end",
            steps, steps / 1000 / 86400);
    int i = ODD(way_per_step, 0, 10);
    if (i >= 0)
        ask(a,
            "%s moves %.3g times its own size (%.3g m) in a step of %.3g s: its collisions are "
            "not resolved; use time.h = %.2g or less",
            who, a->facts[i].way_per_step, a->facts[i].size, h, step_of_own_size(a, i));
}

/* ---- explicit methods ------------------------------------------------------------------- */

/* rad/s; 0 if it cannot be found. */
static double highest_frequency(const Asking *a)
{
    BrioStiffness *stiffness = NULL;
    double k0 = 0;
    int64_t iterations;
    if (brio__stiffness_create(a->system, &stiffness) != BRIO_OK) return 0;
    /* not converged: the best so far */
    if (brio__stiffness_at(stiffness, a->scene->state, a->x) == BRIO_OK)
        brio__stiffness_largest(stiffness, 0.01, 1000, &k0, &iterations);
    brio__stiffness_free(stiffness);
    return isfinite(k0) ? sqrt(fabs(k0)) : 0;
}

static void ask_stability(Asking *a)
{
    const BrioSimDef *def = &a->scene->def;
    BrioOscillator *oscillator = NULL;
    BrioAmplification of = {0};
    if (def->tol != 0) return; /* what grows is an error, which steps avoid */
    if (brio_integrator(def->integrator)->traits & BRIO_IMPLICIT) return;
    /* a method without a matrix has no limit either */
    if (brio__oscillator_create(def, 1, &oscillator, NULL) != BRIO_OK) return;
    double omega = highest_frequency(a), limit = brio__oscillator_limit(oscillator) / omega;
    double steps = a->scene->end / def->h, growth = 0;
    if (omega > 0 &&
        brio__oscillator_measure(oscillator, omega * omega, 0, def->h, &of, NULL) == BRIO_OK)
        growth = steps * log10(fmax(of.radius, 1));
    brio__oscillator_free(oscillator);
    if (!(omega > 0)) return;
    if (limit > 0 && def->h > limit)
        ask(a,
            "h = %.3g s is above the limit of %s, %.3g s: use time.h=%.2g or less, or an implicit "
            "method",
            def->h, def->integrator, limit, 0.9 * limit);
    else if (limit == 0 && growth > log10(GROWTH))
        ask(a,
            "%s lets vibrations grow at every step, here to 1e%.0f times until the end: use "
            "symplectic-euler, or an implicit method",
            def->integrator, fmin(growth, 1e6));
}

/* ---- contact ---------------------------------------------------------------------------- */

BrioStatus brio__surface_edges(const BrioScene *scene, BrioSurfaceEdges *edges)
{
    const BrioSystem *s = scene->system;
    BrioExact *exact = NULL;
    *edges = (BrioSurfaceEdges){.dhat = NAN};
    if (!brio__has_barriers(s)) return BRIO_OK;
    BRIO_CHECK(brio__exact_create(s, &exact));
    const BrioExactSurface *f = brio__exact_surface(exact);
    double *length = brio__alloc((size_t)f->edge_count + 1, sizeof *length);
    int64_t count = 0;
    for (int64_t e = 0; length && e < f->edge_count; e++) {
        const int32_t *n = f->edge + 2 * e;
        if (n[0] < s->body_vertices && n[1] < s->body_vertices)
            length[count++] =
                brio__distance3(scene->rest + 3 * (int64_t)n[0], scene->rest + 3 * (int64_t)n[1]);
    }
    if (count > 0) {
        qsort(length, (size_t)count, sizeof *length, brio__ascending);
        *edges =
            (BrioSurfaceEdges){.count = count,
                               .dhat = scene->state->param[s->contact_params + BRIO_CONTACT_DHAT],
                               .min = length[0],
                               .median = length[count / 2]};
    }
    BrioStatus status = length ? BRIO_OK : BRIO_ERROR_MEMORY;
    brio__free(length);
    brio__exact_free(exact);
    return status;
}

/* Whether dhat goes with the rest lengths of the surfaces' edges. */
static BrioStatus ask_dhat(Asking *a)
{
    BrioSurfaceEdges e;
    BRIO_CHECK(brio__surface_edges(a->scene, &e));
    if (e.count == 0) return BRIO_OK;
    double fitting = fmin(0.5 * e.min, 0.05 * e.median);
    if (e.dhat > e.min || e.dhat > e.median / 2)
        ask(a,
            "contact.dhat = %.3g m is larger than %s (%.3g m): neighbours at rest are within "
            "reach of the barrier and would repel each other; use contact.dhat=%.2g or less, or "
            "a coarser mesh",
            e.dhat,
            e.dhat > e.min ? "the shortest edge of a surface"
                           : "half the median edge of the surfaces",
            e.dhat > e.min ? e.min : e.median / 2, fitting);
    else if (e.dhat < 1e-3 * e.median)
        ask(a,
            "contact.dhat = %.3g m is less than a thousandth of the median edge (%.3g m): such a "
            "thin barrier is stiff and needs many iterations; try contact.dhat=%.2g",
            e.dhat, e.median, fitting);
    return BRIO_OK;
}

static const char *owner_name(const BrioSystem *s, int owner)
{
    return owner < s->body_count ? s->body[owner].name : s->obstacle[owner - s->body_count].name;
}

/* Points and lines have no size: in space a point practically always misses them. */
static void ask_points(Asking *a)
{
    const BrioSystem *s = a->system;
    const BrioSurface *f = s->surface;
    if (!f || !s->barrier || a->scene->state->param[s->contact_params + BRIO_CONTACT_THICKNESS] > 0)
        return;
    for (int i = 0; i < f->part_count; i++)
        for (int j = 0; j < f->part_count; j++) {
            const BrioSurfacePart *p = &f->part[i], *q = &f->part[j];
            const BrioTreeNode *first = &f->node[p->root], *second = &f->node[q->root];
            if (f->primitive[first->first].corners > 1 || f->primitive[second->first].corners > 2 ||
                (i == j && first->count < 2) || !(p->moves || q->moves) ||
                brio__excluded(s, p->owner, q->owner))
                continue;
            ask(a,
                "the points of \"%s\" pass %s%s%s: points and lines have no size, so they never "
                "collide; set contact.thickness to the distance that they should keep",
                owner_name(s, p->owner), i == j ? "each other" : "\"",
                i == j ? "" : owner_name(s, q->owner), i == j ? "" : "\"");
            return;
        }
}

/* ---- all of them ------------------------------------------------------------------------ */

static bool controls_bodies(const BrioIntegrator *integrator)
{
    return brio__fields_offset(integrator->fields, "by_body") >= 0;
}

/* Energies of their own, where the integrator does not control them. */
static void ask_control(Asking *a)
{
    const char *name = a->scene->def.integrator, *other = "";
    if (controls_bodies(brio_integrator(name))) return;
    for (int i = 0; brio_integrator_at(i) && !*other; i++)
        if (controls_bodies(brio_integrator_at(i))) other = brio_integrator_at(i)->name;
    for (int i = 0; i < a->system->body_count; i++) {
        const BrioBody *body = &a->system->body[i];
        if (!(body->decay > 0) && !(body->energy_scale > 0)) continue;
        ask(a, "body \"%s\" has a decay or energy_scale of its own, which %s ignores: use %s",
            body->name, name, other);
        return;
    }
}

static BrioStatus ask_all(Asking *a)
{
    const BrioSystem *s = a->system;
    const BrioState *state = a->scene->state;
    brio__system_positions(s, state, state->q, state->time, a->x);
    brio__system_velocities(s, state, state->v, state->time, a->v);
    if (s->gravity_term >= 0)
        a->gravity = brio__hypot3(state->param + s->term[s->gravity_term].params);
    for (int i = 0; i < s->body_count; i++) learn_body(a, i);
    ask_steps(a);
    ask_sizes(a);
    ask_materials(a);
    ask_speeds(a);
    ask_stability(a);
    ask_control(a);
    ask_points(a);
    return ask_dhat(a);
}

BrioStatus brio__scene_questions(const BrioScene *scene, BrioQuestions *questions)
{
    const BrioSystem *s = scene->system;
    size_t world = 3 * (size_t)s->vertex_count + 1;
    Asking a = {.scene = scene, .system = s, .questions = questions};
    questions->count = 0;
    a.x = brio__alloc(world, sizeof *a.x);
    a.v = brio__alloc(world, sizeof *a.v);
    a.facts = brio__calloc((size_t)s->body_count + 1, sizeof *a.facts);
    BrioStatus status = a.x && a.v && a.facts ? ask_all(&a) : BRIO_ERROR_MEMORY;
    brio__free(a.x);
    brio__free(a.v);
    brio__free(a.facts);
    return status;
}
