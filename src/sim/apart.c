/* Whether bodies and obstacles begin apart, as barriers need it.
 *
 * Intersections are found exactly. A pair that is apart by rounding errors only, as bodies are that
 * decimal numbers put exactly on each other, cannot move either: collision detection keeps 64 u of
 * the largest coordinate, u = 2^-53 (contact/ccd.c), and so allows no step. Such a pair is refused,
 * with the distance that its bodies lack. */
#include "apart.h"

#include "../contact/exact.h"
#include "../contact/law.h"

/* Of the largest coordinate: nearer than this is touching. Sixteen times what collision detection
 * keeps, since it counts the coordinates of the step as well. */
#define TOUCHING (1024 * 0x1p-53)

/* Of dhat: so near, a barrier holds more energy than what rests on it ever gives it. */
#define PRESSED 0.5

/* The pair that is nearest to touching, and what it lacks. */
typedef struct Nearest {
    BrioLimit limit;
    double gap; /* m: its distance without thickness */
    /* what it must be larger than: `relative` of its largest coordinate, and `absolute` */
    double margin, relative, absolute;
    bool of_two; /* pairs of one body with itself do not count */
} Nearest;

static void compare(Nearest *nearest, const BrioLimit *limit, double gap, double size)
{
    double margin = fmax(nearest->relative * size, nearest->absolute);
    if (!(gap <= margin) || (nearest->limit.term && !(gap < nearest->gap))) return;
    nearest->limit = *limit;
    nearest->gap = gap;
    nearest->margin = margin;
}

static double largest(int count, const double *x)
{
    double max = 0;
    for (int i = 0; i < count; i++) max = fmax(max, fabs(x[i]));
    return max;
}

static void compare_pairs(BrioSim *sim, const double *x, Nearest *nearest)
{
    BrioContact *contact = brio__potential_contact(sim->stepper->potential);
    const double *param = sim->state->param;
    double thickness = param[sim->system->contact_params + BRIO_CONTACT_THICKNESS], min;
    brio__contact_count(contact, param, x, &min, NULL); /* measures all pairs */
    for (int kind = 0; kind < BRIO_PAIR_VERTEX_VERTEX; kind++) {
        const BrioPairs *pairs = brio__contact_pairs(contact, kind);
        for (int64_t e = 0; e < pairs->term.elements; e++) {
            double at[12];
            BrioLimit limit = {.term = &pairs->term, .element = e};
            brio__pairs_positions(pairs, e, x, at);
            brio__pairs_vertices(pairs, e, limit.vertex);
            if (nearest->of_two && brio__system_owner(sim->system, limit.vertex[0]) ==
                                       brio__system_owner(sim->system, limit.vertex[3]))
                continue;
            compare(nearest, &limit, pairs->distance[e] - thickness, largest(12, at));
        }
    }
}

static void compare_formulas(const BrioSim *sim, const double *x, Nearest *nearest)
{
    const BrioSystem *s = sim->system;
    for (int k = 0; k < s->analytic_count; k++) {
        const BrioTerm *term = &s->term[s->analytic_term + k];
        const double *param = sim->state->param + term->params;
        _Alignas(sizeof(double) * LANES) double distance[LANES];
        double thickness = 0;
        if (term->energy->params > BRIO_CONTACT_THICKNESS)
            thickness = param[BRIO_CONTACT_THICKNESS];
        for (int64_t i = 0; i < term->elements; i++) {
            if (i % LANES == 0)
                brio__obstacle_distances(term, sim->state->param, i / LANES, x, distance);
            BrioLimit limit = {.term = term, .element = i};
            const double *at = x + 3 * (int64_t)brio__term_vertex(term, i, 0);
            compare(nearest, &limit, distance[i % LANES] - thickness, largest(3, at));
        }
    }
}

static BrioStatus refuse(const BrioSim *sim, const Nearest *nearest, BrioError *error)
{
    const BrioSystem *s = sim->system;
    char name[320];
    double dhat = sim->state->param[s->contact_params + BRIO_CONTACT_DHAT];
    brio__limit_text(s, &nearest->limit, name, sizeof name);
    return brio__error(error, BRIO_ERROR_INPUT,
                       "%s begin %.3g m apart, which rounding cannot tell from touching (%.2g m): "
                       "move one of them away from the other by contact.dhat = %.3g m "
                       "(bodies.N.transform.translate), where they do not feel each other yet",
                       name, nearest->gap, nearest->margin, dhat);
}

static BrioStatus check_intersections(const BrioSystem *system, const double *x, BrioError *error)
{
    BrioIntersection first;
    char text[320];
    int64_t count = system->surface ? brio__exact_intersections(system, x, &first, 1) : 0;
    if (count < 0) return BRIO_ERROR_MEMORY;
    if (count == 0) return BRIO_OK;
    brio__intersection_text(system, &first, text, sizeof text);
    return brio__error(error, BRIO_ERROR_INPUT,
                       "%s in the first state, and %lld more pair%s so: contact: %s needs bodies "
                       "that are apart; `brio check` lists them and draws them",
                       text, (long long)count - 1, count == 2 ? "" : "s",
                       brio__law_at(system->law)->name);
}

/* The nearest pair at x, if it is nearer than its margin. */
static bool find(BrioSim *sim, const double *x, Nearest *nearest)
{
    if (sim->system->surface) compare_pairs(sim, x, nearest);
    compare_formulas(sim, x, nearest);
    return nearest->limit.term;
}

BrioStatus brio__sim_check_apart(BrioSim *sim, const double *x, BrioError *error)
{
    Nearest nearest = {.gap = INFINITY, .relative = TOUCHING};
    if (!sim->system->barrier) return BRIO_OK;
    BRIO_CHECK(check_intersections(sim->system, x, error));
    /* what does touch has its own sentence */
    return find(sim, x, &nearest) && nearest.gap > 0 ? refuse(sim, &nearest, error) : BRIO_OK;
}

bool brio__sim_pressed_text(BrioSim *sim, char *text, size_t size)
{
    const BrioSystem *s = sim->system;
    char name[320];
    if (!s->barrier) return false;
    double dhat = sim->state->param[s->contact_params + BRIO_CONTACT_DHAT];
    Nearest nearest = {.gap = INFINITY, .absolute = PRESSED * dhat, .of_two = true};
    if (!find(sim, brio__sim_world(sim), &nearest)) return false;
    brio__limit_text(s, &nearest.limit, name, sizeof name);
    snprintf(text, size,
             "%s begin %.3g m apart, %.2g of contact.dhat: unless something presses them together, "
             "the barrier throws them apart at once; move one of them away from the other by "
             "%.3g m",
             name, nearest.gap, nearest.gap / dhat, dhat - nearest.gap);
    return true;
}
