/* A look into a solve from outside: what it is doing, in numbers and names, and whether it is to
 * end. Whoever asks does so in every iteration, so nothing here is allocated, and what is told is
 * numbers that the solver already has; only distances from analytic obstacles are computed again.
 */
#include "problem.h"

/* Vertices closer than dhat to the obstacles of the terms of analytic contacts. */
static int64_t near_obstacles(const BrioSystem *s, const double *param, const double *x)
{
    int64_t count = 0;
    _Alignas(sizeof(double) * LANES) double distance[LANES];
    for (int k = 0; k < s->analytic_count; k++) {
        const BrioTerm *term = &s->term[s->analytic_term + k];
        const double *own = param + term->params;
        double reach = own[BRIO_CONTACT_DHAT];
        if (term->energy->params > BRIO_CONTACT_THICKNESS) reach += own[BRIO_CONTACT_THICKNESS];
        for (int64_t i = 0; i < term->elements; i++) {
            if (i % LANES == 0) brio__obstacle_distances(term, param, i / LANES, x, distance);
            count += distance[i % LANES] < reach;
        }
    }
    return count;
}

static int64_t contacts(const BrioSolver *s, const BrioState *state)
{
    const BrioContact *contact = brio__potential_contact(s->potential);
    int64_t count = near_obstacles(s->system, state->param, s->x);
    for (int kind = 0; contact && kind < BRIO_PAIR_KINDS; kind++)
        count += brio__contact_pairs(contact, kind)->term.elements;
    return count;
}

static const char *owner_name(const BrioSystem *s, int32_t vertex)
{
    int owner = brio__system_owner(s, vertex);
    return owner < s->body_count ? s->body[owner].name : s->obstacle[owner - s->body_count].name;
}

/* Who cut the last step short. */
static void name_limit(const BrioSolver *s, const BrioState *state, BrioIteration *now)
{
    const BrioLimit *limit = &s->limit;
    if (!brio__limit_is_here(limit)) return;
    const BrioTerm *term = limit->term;
    if (term->energy->element == BRIO_ELEMENT_PAIR) {
        now->limit[0] = owner_name(s->system, limit->vertex[0]);
        now->limit[1] = owner_name(s->system, limit->vertex[3]);
        now->distance = limit->distance;
        return;
    }
    now->limit[0] = owner_name(s->system, brio__term_vertex(term, limit->element, 0));
    if (term->energy->element != BRIO_ELEMENT_CONTACT) return;
    _Alignas(sizeof(double) * LANES) double distance[LANES];
    brio__obstacle_distances(term, state->param, limit->element / LANES, s->x, distance);
    now->limit[1] = s->system->obstacle[term->obstacle].name;
    now->distance = distance[limit->element % LANES];
}

BrioStatus brio__solver_stop(BrioSolver *s)
{
    snprintf(s->message, sizeof s->message, "stopped on request in iteration %d",
             s->iterations + 1);
    return BRIO_STOPPED;
}

BrioStatus brio__solver_ask(BrioSolver *s, const BrioState *state, double h)
{
    if (s->stopped) return BRIO_STOPPED;
    bool measured = !s->type->unfinished || s->massless;
    BrioIteration now = {.step = state->step + 1,
                         .time = state->time,
                         .h = h,
                         .halvings = s->halved,
                         .iteration = s->iterations,
                         .speed = measured && s->iterations > 0 ? s->speed : NAN,
                         .tol = measured ? s->options.tol : NAN,
                         .contacts = (int)BRIO_MIN(contacts(s, state), INT32_MAX),
                         .moved = s->script_fraction,
                         .distance = NAN};
    name_limit(s, state, &now);
    s->stopped = brio__partition_any(s->system->partition, s->watch(s->watcher, &now) != 0);
    return s->stopped ? brio__solver_stop(s) : BRIO_OK;
}
