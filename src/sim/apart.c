/* Whether bodies and obstacles start apart, as barriers require.
 *
 * Intersections are found exactly. A pair that is apart by rounding errors only, as bodies are that
 * decimal numbers put exactly on each other, cannot move either: collision detection keeps 64 u of
 * the largest coordinate, u = 2^-53 (contact/ccd.c), and so allows no step. Such a pair is
 * rejected, with the distance that its bodies lack. */
#include "apart.h"

#include "../contact/exact.h"
#include "../contact/law.h"
#include "ledger.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Of the largest coordinate: nearer than this is touching. Sixteen times what collision detection
 * keeps, since it counts the coordinates of the step as well. */
#define TOUCHING (1024 * 0x1p-53)

/* Of dhat: how far bodies that touch are pressed into each other, to be untangled. */
#define PRESS 1e-5

/* Of dhat: so near, a barrier holds more energy than what rests on it ever gives it. */
#define PRESSED 0.5
/* Of what lifts a body by its own size: so much energy of the barriers is seen as motion. */
#define SEEN 0.01

/* How much dhat grows in a step at most: the energy that this adds falls with its third power. */
#define FASTEST 1.5
/* Of dhat: how little it may be at first. Barriers that are thinner carry nothing; the energy of
 * those that are pressed then is the square of this less than with dhat. */
#define THINNEST 0.01

/* The pair that is nearest to touching, and what it lacks. */
typedef struct Nearest {
    BrioLimit limit;
    double gap; /* m: its distance without thickness */
    /* what it must be larger than: `relative` of its largest coordinate, and `absolute` */
    double margin, relative;
} Nearest;

static void compare(Nearest *nearest, const BrioLimit *limit, double gap, double size)
{
    double margin = nearest->relative * size;
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
            compare(nearest, &limit, pairs->distance[e] - thickness, largest(12, at));
        }
    }
}

/* Calls `visit` with every vertex that may meet an obstacle with a formula, and its distance. */
typedef void VisitFormula(void *context, const BrioTerm *term, int64_t element, double gap);

static void visit_formulas(const BrioSim *sim, const double *x, VisitFormula *visit, void *context)
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
            visit(context, term, i, distance[i % LANES] - thickness);
        }
    }
}

typedef struct Comparing {
    const double *x;
    Nearest *nearest;
} Comparing;

static void compare_formula(void *context, const BrioTerm *term, int64_t element, double gap)
{
    const Comparing *c = context;
    BrioLimit limit = {.term = term, .element = element};
    const double *at = c->x + 3 * (int64_t)brio__term_vertex(term, element, 0);
    compare(c->nearest, &limit, gap, largest(3, at));
}

static BrioStatus refuse(const BrioSim *sim, const Nearest *nearest, BrioError *error)
{
    const BrioSystem *s = sim->system;
    char name[320];
    double dhat = sim->state->param[s->contact_params + BRIO_CONTACT_DHAT];
    brio__limit_text(s, &nearest->limit, name, sizeof name);
    return brio__error(error, BRIO_ERROR_INPUT,
                       "%s start %.3g m apart, which rounding cannot tell from touching (%.2g m): "
                       "move one of them away from the other by contact.dhat = %.3g m "
                       "(bodies.N.transform.translate)",
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
                       "%s in the initial state, one of %lld intersections: with contact: %s "
                       "bodies must start apart; move them with bodies.N.transform.translate, or "
                       "use contact.start: untangle (`brio check` lists and draws all)",
                       text, (long long)count, brio__law_at(system->law)->name);
}

/* The nearest pair at x, if it is nearer than its margin. */
static bool find(BrioSim *sim, const double *x, Nearest *nearest)
{
    if (sim->system->surface) compare_pairs(sim, x, nearest);
    visit_formulas(sim, x, compare_formula, &(Comparing){x, nearest});
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

const char *brio__owner_name(const BrioSystem *s, int owner)
{
    return owner < s->body_count ? s->body[owner].name : s->obstacle[owner - s->body_count].name;
}

/* snprintf to the end of a text, as far as there is room. */
static void append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

/* ---- bodies that intersect -------------------------------------------------------------- */

static BrioStatus refuse_tangle(const BrioSystem *s, const BrioUntangled *r, BrioError *error)
{
    char names[320] = "";
    for (int i = 0; i < r->left_count; i++) {
        append(names, sizeof names, "%s\"%.24s\" and ", i ? ", " : "",
               brio__owner_name(s, r->left[i][0]));
        if (r->left[i][0] == r->left[i][1])
            append(names, sizeof names, "itself");
        else
            append(names, sizeof names, "\"%.24s\"", brio__owner_name(s, r->left[i][1]));
    }
    if (r->after == 0)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "contact.start: untangle leaves %lld vertices behind an obstacle",
                           (long long)r->behind);
    return brio__error(error, BRIO_ERROR_INPUT,
                       "contact.start: untangle cannot separate %s: %lld of %lld intersections "
                       "are left; move them apart by hand, or exclude them from contact",
                       names, (long long)r->after, (long long)r->before);
}

/* ---- dhat of the state --------------------------------------------------------------------- */

static double dhat_now(const BrioSim *sim)
{
    return sim->state->param[sim->system->contact_params + BRIO_CONTACT_DHAT];
}

/* Of surfaces and of obstacles with a formula. */
static void set_dhat(BrioSim *sim, double dhat)
{
    const BrioSystem *s = sim->system;
    sim->state->param[s->contact_params + BRIO_CONTACT_DHAT] = dhat;
    for (int k = 0; k < s->analytic_count; k++)
        sim->state->param[s->term[s->analytic_term + k].params + BRIO_CONTACT_DHAT] = dhat;
}

static bool relaxes(const BrioSim *sim)
{
    return sim->system->barrier && sim->system->start != BRIO_START_STRICT;
}

/* ---- what begins inside dhat ------------------------------------------------------------ */

/* Pairs by their owners, in a table of no more than a step may have on the stack. */
enum { SLOTS = 2 * BRIO_START_PAIRS };
typedef struct Insides {
    double min;          /* m: the smallest distance of all */
    BrioStart *start;    /* NULL: only the smallest distance */
    int16_t slot[SLOTS]; /* 1 + the place in start->pair; 0: free */
} Insides;

static void add_inside(const BrioSystem *s, Insides *in, int64_t vertex, int other, double gap)
{
    BrioStart *start = in->start;
    in->min = fmin(in->min, gap);
    if (!start) return;
    int owner = brio__system_owner(s, vertex);
    int a = BRIO_MIN(owner, other), b = BRIO_MAX(owner, other);
    int at = (int)(((uint32_t)a * 2654435761u + (uint32_t)b * 40503u) % SLOTS);
    start->contacts++;
    for (;; at = (at + 1) % SLOTS) {
        if (!in->slot[at]) break;
        BrioStartPair *pair = &start->pair[in->slot[at] - 1];
        if (pair->owner[0] != a || pair->owner[1] != b) continue;
        pair->contacts++;
        pair->gap = fmin(pair->gap, gap);
        return;
    }
    start->more |= start->pairs == BRIO_START_PAIRS;
    if (start->more) return;
    start->pair[start->pairs++] = (BrioStartPair){{a, b}, 1, gap};
    in->slot[at] = (int16_t)start->pairs;
}

static void collect_pairs(BrioSim *sim, const double *x, Insides *in)
{
    const BrioSystem *s = sim->system;
    BrioContact *contact = brio__potential_contact(sim->stepper->potential);
    const double *param = sim->state->param;
    double thickness = param[s->contact_params + BRIO_CONTACT_THICKNESS], min;
    brio__contact_count(contact, param, x, &min, NULL);
    for (int kind = 0; kind < BRIO_PAIR_VERTEX_VERTEX; kind++) {
        const BrioPairs *pairs = brio__contact_pairs(contact, kind);
        for (int64_t e = 0; e < pairs->term.elements; e++)
            add_inside(s, in, brio__pairs_vertex(pairs, e, 0),
                       brio__system_owner(s, brio__pairs_vertex(pairs, e, 3)),
                       pairs->distance[e] - thickness);
    }
}

typedef struct Collecting {
    const BrioSystem *system;
    double dhat;
    Insides *in;
} Collecting;

static void collect_formula(void *context, const BrioTerm *term, int64_t element, double gap)
{
    const Collecting *c = context;
    if (gap < c->dhat)
        add_inside(c->system, c->in, brio__term_vertex(term, element, 0),
                   c->system->body_count + term->obstacle, gap);
}

static void collect(BrioSim *sim, double dhat, Insides *in)
{
    const double *x = brio__sim_world(sim);
    in->min = INFINITY;
    if (sim->system->surface) collect_pairs(sim, x, in);
    visit_formulas(sim, x, collect_formula, &(Collecting){sim->system, dhat, in});
}

static int by_gap(const void *a, const void *b)
{
    const BrioStartPair *x = a, *y = b;
    if (x->gap != y->gap) return x->gap < y->gap ? -1 : 1;
    if (x->owner[0] != y->owner[0]) return x->owner[0] - y->owner[0];
    return x->owner[1] - y->owner[1];
}

/* What it takes to lift a body by the largest side of its box, J. */
static double lift_of(BrioSim *sim, int body)
{
    const BrioSystem *s = sim->system;
    const double *g = sim->state->param + s->term[s->gravity_term].params;
    BrioMeshQuality q = brio__body_quality(&s->body[body], sim->positions);
    double size = 0, weight = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    for (int r = 0; r < 3; r++) size = fmax(size, q.high[r] - q.low[r]);
    return brio__body_mass(s, body) * (weight > 0 ? weight : 9.8) * size;
}

/* The lightest of the bodies, by what lifts it. */
static void find_lightest(BrioSim *sim, BrioStart *start)
{
    for (int i = 0; i < 2 * start->pairs; i++) {
        int owner = start->pair[i / 2].owner[i % 2];
        double lift = owner < sim->system->body_count ? lift_of(sim, owner) : 0;
        if (!(lift > 0) || (start->lifted >= 0 && lift >= start->lift)) continue;
        start->lift = lift;
        start->lifted = owner;
    }
}

void brio__sim_start(BrioSim *sim, BrioStart *start)
{
    start->pairs = 0;
    start->contacts = 0;
    start->energy = start->lift = 0;
    start->lifted = -1;
    start->more = false;
    if (!sim->system->barrier) return;
    Insides in = {.start = start};
    BrioLedger ledger;
    double now = dhat_now(sim);
    start->dhat = relaxes(sim) ? sim->system->dhat : now;
    set_dhat(sim, start->dhat);
    collect(sim, start->dhat, &in);
    if (start->pairs > 0) {
        brio__ledger(sim, &ledger);
        start->energy = ledger.contact;
        find_lightest(sim, start);
        qsort(start->pair, (size_t)start->pairs, sizeof *start->pair, by_gap);
    }
    set_dhat(sim, now);
}

static void centre_of(const double *x, int64_t first, int64_t count, double c[3])
{
    c[0] = c[1] = c[2] = 0;
    for (int64_t v = first; v < first + count; v++)
        for (int r = 0; r < 3; r++) c[r] += x[3 * v + r] / (double)count;
}

/* World positions; bodies that rounding cannot tell from touching do not intersect there. Pressed
 * into each other a little, they do, and are parted like others. */
static bool positions_to_part(BrioSim *sim, double sign, double *x)
{
    bool touching = false;
    const BrioSystem *s = sim->system;
    BrioStart start;
    brio__sim_start(sim, &start); /* the ledger takes sim->world too */
    memcpy(x, brio__sim_world(sim), 3 * (size_t)s->vertex_count * sizeof *x);
    for (int i = 0; i < start.pairs; i++) {
        const BrioStartPair *p = &start.pair[i];
        int other = p->owner[1] - s->body_count; /* an obstacle, or negative */
        if (p->owner[0] == p->owner[1] || (other >= 0 && !s->obstacle[other].count)) continue;
        const BrioBody *a = &s->body[p->owner[0]], *b = other < 0 ? &s->body[p->owner[1]] : NULL;
        double from[3], to[3], way = sign * PRESS * start.dhat;
        if (p->gap > TOUCHING * largest(3 * (int)a->count, x + 3 * a->first)) continue;
        touching = true;
        centre_of(x, a->first, a->count, from);
        centre_of(x, b ? b->first : s->obstacle[other].first,
                  b ? b->count : s->obstacle[other].count, to);
        double distance =
            sqrt((to[0] - from[0]) * (to[0] - from[0]) + (to[1] - from[1]) * (to[1] - from[1]) +
                 (to[2] - from[2]) * (to[2] - from[2]));
        for (int64_t v = a->first; distance > 0 && v < a->first + a->count; v++)
            for (int r = 0; s->map_start[v + 1] > s->map_start[v] && r < 3; r++)
                x[3 * v + r] += way * (to[r] - from[r]) / distance;
    }
    return touching;
}

/* Once with what touches pressed towards each other. What still touches, as links of a chain do, is
 * pressed the other way; the shifts of both then add up to a bound of the largest. */
static BrioStatus untangle(BrioSim *sim, BrioUntangled *r, BrioError *error)
{
    const BrioSystem *s = sim->system;
    const double *param = sim->state->param + s->contact_params;
    double *x = sim->world, margin = param[BRIO_CONTACT_DHAT] + param[BRIO_CONTACT_THICKNESS];
    for (int k = 0; k < 2; k++) {
        BrioUntangled now;
        bool touching = positions_to_part(sim, k ? -1 : 1, x);
        if (k && !touching) break;
        BRIO_CHECK(brio__system_untangle(s, sim->state, margin, x, &now));
        if (now.vertex >= 0 && now.shift > r->shift) r->vertex = now.vertex, r->part = now.part;
        r->before += now.before;
        r->shift += now.shift;
        r->moved = BRIO_MAX(r->moved, now.moved);
        r->after = now.after;
        r->behind = now.behind;
        r->left_count = now.left_count;
        memcpy(r->left, now.left, sizeof r->left);
        if (r->after || r->behind) break;
        if (now.vertex < 0) continue;
        for (int i = 0; i < s->body_count; i++)
            BRIO_CHECK(
                brio__sim_set_vertices(sim, i, x + 3 * s->body[i].first, sim->state->q, error));
    }
    return BRIO_OK;
}

BrioStatus brio__sim_untangle(BrioSim *sim, BrioError *error)
{
    const BrioSystem *s = sim->system;
    BrioUntangled *r = &sim->untangled;
    char text[160];
    *r = (BrioUntangled){.vertex = -1};
    if (s->start != BRIO_START_UNTANGLE || !s->barrier || sim->state->step > 0) return BRIO_OK;
    if (s->partition || s->constraint_count)
        return brio__error(
            error, BRIO_ERROR_UNSUPPORTED, "contact.start: untangle does not support %s",
            s->partition ? "several processes" : "rods and joints, which it would pull apart");
    BRIO_CHECK(untangle(sim, r, error));
    if (r->after || r->behind) return refuse_tangle(s, r, error);
    if (r->vertex < 0) return BRIO_OK;
    brio__untangled_text(s, r, text, sizeof text);
    brio__log(BRIO_LOG_INFO, "untangled %lld intersections: moved %s", (long long)r->before, text);
    return BRIO_OK;
}

bool brio__start_matters(const BrioStart *start)
{
    for (int i = 0; i < start->pairs; i++)
        if (start->pair[i].owner[0] != start->pair[i].owner[1] &&
            start->pair[i].gap < PRESSED * start->dhat)
            return true;
    return start->lifted >= 0 && start->energy > SEEN * start->lift;
}

void brio__start_text(const BrioSystem *s, const BrioStart *start, char *text, size_t size)
{
    text[0] = 0;
    append(text, size, "%s%d pair%s of bodies begin%s inside contact.dhat = %.3g m: ",
           start->more ? "more than " : "", start->pairs, start->pairs == 1 ? "" : "s",
           start->pairs == 1 ? "s" : "", start->dhat);
    for (int i = 0; i < BRIO_MIN(start->pairs, BRIO_START_SHOWN); i++) {
        const BrioStartPair *p = &start->pair[i];
        append(text, size, "%s\"%.24s\" and ", i ? ", " : "", brio__owner_name(s, p->owner[0]));
        if (p->owner[0] == p->owner[1])
            append(text, size, "itself");
        else
            append(text, size, "\"%.24s\"", brio__owner_name(s, p->owner[1]));
        append(text, size, " %.2g of it apart (%lld contact%s)", p->gap / start->dhat,
               (long long)p->contacts, p->contacts == 1 ? "" : "s");
    }
    if (start->pairs > BRIO_START_SHOWN)
        append(text, size, " and %d more", start->pairs - BRIO_START_SHOWN);
    append(text, size, "; the barrier holds %.3g J", start->energy);
    if (start->lifted >= 0)
        append(text, size, ", %.2g of the energy that lifts \"%.24s\" by its own size",
               start->energy / start->lift, s->body[start->lifted].name);
}

bool brio__sim_pressed_text(BrioSim *sim, char *text, size_t size)
{
    BrioStart start;
    if (sim->system->partition || relaxes(sim)) return false;
    brio__sim_start(sim, &start);
    if (!brio__start_matters(&start)) return false;
    brio__start_text(sim->system, &start, text, size);
    append(text, size, "%s", BRIO_START_REMEDY);
    return true;
}

/* ---- barriers that grow ----------------------------------------------------------------- */

double brio__sim_relaxed(const BrioSim *sim)
{
    return relaxes(sim) ? dhat_now(sim) / sim->system->dhat : 1;
}

void brio__sim_relax_begin(BrioSim *sim)
{
    Insides in = {0};
    if (!relaxes(sim) || sim->state->step > 0) return;
    collect(sim, dhat_now(sim), &in);
    double min = brio__partition_min(sim->system->partition, in.min);
    /* what touches is rejected by others */
    if (min > 0 && min < dhat_now(sim)) set_dhat(sim, fmax(min, THINNEST * dhat_now(sim)));
}

double brio__sim_relax_step(BrioSim *sim, double h)
{
    double now = dhat_now(sim), full = sim->system->dhat;
    if (!relaxes(sim) || now == full || sim->state->step == 0) return now;
    double left = sim->system->relax_time - sim->state->time;
    double factor = left > h ? fmin(FASTEST, pow(full / now, h / left)) : FASTEST;
    set_dhat(sim, fmin(full, factor * now));
    return now;
}

void brio__sim_relax_stepped(BrioSim *sim, double before, bool done)
{
    double now = dhat_now(sim), energy;
    if (now == before) return;
    energy = done ? brio__sim_energy(sim) : 0;
    set_dhat(sim, before);
    if (!done) return;
    brio__sim_add(sim, energy - brio__sim_energy(sim));
    set_dhat(sim, now);
}

double brio__sim_relax_end(BrioSim *sim)
{
    double now = dhat_now(sim), before;
    if (!relaxes(sim) || now == sim->system->dhat) return now;
    before = brio__sim_energy(sim);
    set_dhat(sim, sim->system->dhat);
    brio__sim_book(sim, before);
    return now;
}
