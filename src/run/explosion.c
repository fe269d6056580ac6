/* The budget of energy of a scene, and the judgement of a state by it (explosion.h). */
#include "explosion.h"

#include "../mesh/quality.h"
#include "../sim/ledger.h"
#include "../vec.h"

#include <string.h>

enum { SAMPLES = 200 }; /* of the scripts, over the run */
#define SANE 2          /* a state with up to so many times its budget is called sane */
#define GUARD 10        /* scripts may do so many times the work that is estimated */

static double motion_energy(const BrioLedger *l) { return l->total - l->gravity; }

/* ---- what the scene is ------------------------------------------------------------------ */

/* The extent of the whole and the shortest edge of a body, from world positions. */
static void measure(BrioExplosion *e, const BrioSystem *s, const double *x)
{
    double low[3], high[3], square = 0;
    for (int r = 0; r < 3; r++) {
        low[r] = INFINITY, high[r] = -INFINITY;
        for (int64_t v = 0; v < s->vertex_count; v++) {
            low[r] = fmin(low[r], x[3 * v + r]);
            high[r] = fmax(high[r], x[3 * v + r]);
        }
        low[r] = brio__partition_min(s->partition, low[r]);
        high[r] = brio__partition_max(s->partition, high[r]);
        square += (high[r] - low[r]) * (high[r] - low[r]);
    }
    e->extent = sqrt(square);
    e->edge = INFINITY;
    for (int i = 0; i < s->body_count; i++)
        e->edge = fmin(e->edge, brio__body_quality(&s->body[i], x).edge_min);
    e->edge = brio__partition_min(s->partition, e->edge);
}

/* The energy of all terms of a part of the ledger, at world positions. */
static double energy_of(BrioSim *sim, int part, const double *x)
{
    const BrioSystem *s = sim->system;
    double sum = 0;
    brio__evaluate(brio__potential_elements(sim->stepper->potential), sim->state->param, x, NULL,
                   sim->term_energy);
    for (int t = 0; t < s->term_count; t++)
        if ((int)brio__element(s->term[t].energy)->part == part) sum += sim->term_energy[t];
    brio__partition_sum(s->partition, &sum, 1);
    return isfinite(sum) ? fabs(sum) : INFINITY;
}

/* Y(way): the elastic energy when every edge has grown by as much as the shortest one would if one
 * of its ends was moved by `way`, and that of attachments whose anchors have moved by it. */
static double stretched(const BrioExplosion *e, BrioSim *sim, double way, const double *x,
                        double *at)
{
    const BrioSystem *s = sim->system;
    double factor = 1 + (e->edge > 0 && e->edge < INFINITY ? way / e->edge : 0);
    for (int64_t k = 0; k < 3 * s->vertex_count; k++) at[k] = factor * x[k];
    double elastic = energy_of(sim, BRIO_LEDGER_ELASTIC, at);
    memcpy(at, x, 3 * (size_t)s->vertex_count * sizeof *at);
    for (int64_t i = 0; i < s->fixed_count; i++)
        if (brio__system_owner(s, s->fixed[i]) < 0) at[3 * (int64_t)s->fixed[i]] += way;
    return elastic + energy_of(sim, BRIO_LEDGER_ATTACHMENT, at);
}

static double fastest_fixed(const BrioSystem *s, const double *v)
{
    double fastest = 0;
    for (int64_t i = 0; i < s->fixed_count; i++)
        fastest = fmax(fastest, brio__hypot3(v + 3 * (int64_t)s->fixed[i]));
    return brio__partition_max(s->partition, fastest);
}

/* How fast and how far scripts move, until the end. */
static void follow_scripts(BrioExplosion *e, BrioSim *sim, double end, const double *x, double *at)
{
    const BrioSystem *s = sim->system;
    for (int k = 0; s->scripted_count && k <= SAMPLES; k++) {
        double t = end * k / SAMPLES, way = 0;
        brio__system_velocities(s, sim->state, sim->state->v, t, at);
        e->script_speed = fmax(e->script_speed, fastest_fixed(s, at));
        brio__system_fixed(s, sim->state, t, at);
        for (int64_t i = 0; i < s->fixed_count; i++) {
            int64_t v = 3 * (int64_t)s->fixed[i];
            way = fmax(way, brio__hypot_distance3(at + v, x + v));
        }
        e->script_way = fmax(e->script_way, brio__partition_max(s->partition, way));
    }
}

BrioStatus brio__explosion_begin(BrioExplosion *e, BrioSim *sim, double end)
{
    const BrioSystem *s = sim->system;
    const BrioSolverType *type = sim->stepper->solver->type;
    BrioLedger first;
    size_t world = 3 * (size_t)s->vertex_count;
    double *x = brio__alloc(world + 1, sizeof *x), *other = brio__alloc(world + 1, sizeof *other);
    double g = 0;
    if (!x || !other) {
        brio__free(x);
        brio__free(other);
        return BRIO_ERROR_MEMORY;
    }
    *e = (BrioExplosion){.tol = sim->stepper->solver->options.tol};
    brio__ledger(sim, &first);
    brio__system_positions(s, sim->state, sim->state->q, sim->state->time, x);
    for (int64_t v = 0; v < s->vertex_count; v++) e->mass += s->vertex_mass[v];
    brio__partition_sum(s->partition, &e->mass, 1);
    if (s->gravity_term >= 0) g = brio__hypot3(sim->state->param + s->term[s->gravity_term].params);
    e->first = first.total;
    e->initial = fabs(motion_energy(&first));
    e->gravity = first.gravity;
    e->weight = e->mass * g;
    e->fall = g * sim->h;
    e->kinetic_only =
        type->unfinished || sim->stepper->traits & (BRIO_SPRINGS_ONLY | BRIO_LINEARISED);
    measure(e, s, x);
    follow_scripts(e, sim, end, x, other);
    e->by_tol = stretched(e, sim, e->tol * sim->h, x, other);
    if (s->scripted_count) {
        e->by_run = stretched(e, sim, e->edge + e->script_way, x, other);
        e->by_step = stretched(e, sim, e->script_speed * sim->h, x, other);
    }
    brio__free(x);
    brio__free(other);
    return BRIO_OK;
}

/* ---- judgement -------------------------------------------------------------------------- */

/* What came from outside: what is booked, as far as scripts can have done it. */
static double work_from_outside(const BrioExplosion *e, const BrioSystem *s, const BrioLedger *l)
{
    double work = fabs(l->added), taken = 0;
    for (int i = 0; i < BRIO_LOSSES; i++) {
        work += fmax(-l->dissipated_by[i], 0);
        taken += fmax(l->dissipated_by[i], 0);
    }
    if (s->scripted_count == 0) return work;
    double able = e->weight * e->script_way + 2 * e->mass * e->script_speed * e->script_speed;
    return fmin(work, GUARD * (able + e->by_run) + taken);
}

static double budget_of(const BrioExplosion *e, const BrioSystem *s, const BrioLedger *l)
{
    double work = work_from_outside(e, s, l);
    double aim = isnan(l->target) ? 0 : fmax(l->target - e->first - l->added, 0);
    double released = fmax(e->gravity - l->gravity, 0);
    double by_script = 2 * e->mass * e->script_speed * e->script_speed + e->by_step;
    double step_fall = e->mass * e->fall * e->fall / 2;
    double solves = e->mass * e->tol * e->tol * (double)(l->step + 1) / 2 + e->by_tol;
    return e->initial + work + released + e->weight * e->extent + step_fall + by_script + aim +
           solves;
}

/* The vertex of a body that moves fastest, from the world velocities that the ledger leaves. */
static void name_fastest(const BrioSim *sim, char *text, size_t size)
{
    const BrioSystem *s = sim->system;
    double fastest = 0;
    int64_t vertex = -1;
    for (int64_t v = 0; v < s->body_vertices; v++) {
        double speed = brio__hypot3(sim->world + 3 * v);
        if (!(speed > fastest)) continue;
        fastest = speed;
        vertex = v;
    }
    text[0] = 0;
    int owner = vertex < 0 || s->partition ? -1 : brio__system_owner(s, vertex);
    if (owner < 0 || owner >= s->body_count) return;
    snprintf(text, size, "; fastest is vertex %lld of body \"%s\" with %.3g m/s",
             (long long)(vertex - s->body[owner].first), s->body[owner].name, fastest);
}

static const char *remedy(const BrioSim *sim)
{
    unsigned traits = sim->stepper->traits;
    if (!(traits & BRIO_IMPLICIT))
        return "use a shorter time.h (`brio stability` prints the longest stable one) or an "
               "implicit integrator, such as backward-euler";
    if (sim->stepper->solver->type->unfinished)
        return "use integrator: backward-euler, solver: newton, more iterations or a shorter "
               "time.h";
    return traits & BRIO_DISSIPATIVE
               ? "use a shorter time.h or a smaller solver.tol"
               : "use a shorter time.h, a smaller solver.tol, or an integrator that cannot gain "
                 "energy, such as backward-euler";
}

bool brio__explosion_judge(BrioExplosion *e, BrioSim *sim, const BrioLedger *l, char *text,
                           size_t size)
{
    const BrioSystem *s = sim->system;
    if (s->scripted_count) e->script_speed = fmax(e->script_speed, fastest_fixed(s, sim->world));
    double budget = budget_of(e, s, l);
    double energy = motion_energy(l);
    if (e->kinetic_only) {
        budget += fmax(l->kinetic - energy, 0); /* what a potential below zero has released */
        energy = l->kinetic;
    }
    if (energy <= SANE * budget) {
        e->sane_step = l->step;
        e->sane_time = l->time;
    }
    if (energy <= BRIO_EXPLOSION * budget) return false;
    char fastest[192];
    name_fastest(sim, fastest, sizeof fastest);
    e->exploded = true;
    e->energy = energy;
    e->budget = budget;
    e->step = l->step;
    e->time = l->time;
    snprintf(text, size,
             "step %lld, t = %.6g s: %s energy is %.3g J, and the scene can cause at most %.3g "
             "J%s; the last sane state is that of step %lld, t = %.6g s; %s",
             (long long)l->step, l->time, e->kinetic_only ? "the kinetic" : "kinetic and elastic",
             energy, budget, fastest, (long long)e->sane_step, e->sane_time, remedy(sim));
    return true;
}

void brio__explosion_json(BrioJson *json, const BrioExplosion *e)
{
    brio__json_open(json, "explosion", '{');
    brio__json_integer(json, "step", e->step);
    brio__json_real(json, "time", e->time);
    brio__json_real(json, "energy", e->energy);
    brio__json_real(json, "budget", e->budget);
    brio__json_integer(json, "sane_step", e->sane_step);
    brio__json_real(json, "sane_time", e->sane_time);
    brio__json_close(json, '}');
}
