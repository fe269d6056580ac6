/* Contact events: which bodies and obstacles touch before and after a step, and what they give each
 * other.
 *
 * A pair of owners touches if two of their surfaces are closer than dhat. Both sets are functions
 * of positions alone, so events depend on the step and on nothing before it. The impulse is
 * h times the force -grad E of the contacts at the end of the step, which is what backward Euler
 * gave them; other methods weight the forces of both ends. */
#include "sim.h"

#include "../handle.h"
#include "../contact/contact.h"
#include "../vec.h"

#include <string.h>

/* Two owners: bodies come first, then obstacles. */
typedef struct Note {
    int owner[2]; /* ascending */
    int64_t contacts;
    double force[3], size;      /* N on the first; sum of the sizes */
    double place[3], middle[3]; /* sums: weighted by size, and without weights */
    double distance;
} Note;

typedef struct Set {
    int count;
    Note *note; /* by owners */
} Set;

struct BrioNotes {
    int most;
    Set before, after;
    int count;
    BrioContactEvent *event; /* 2 * most: nothing that ends is what begins */
};

void brio__notes_free(struct BrioNotes *notes)
{
    if (!notes) return;
    brio__free(notes->before.note);
    brio__free(notes->after.note);
    brio__free(notes->event);
    brio__free(notes);
}

BrioStatus brio_sim_note_contacts(BrioSim *sim, int most, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(SIM, sim), error);
    struct BrioNotes *created = NULL;
    if (error) *error = (BrioError){0};
    if (sim->system->partition)
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "contact events are for simulations on one process");
    if (most < 0 || most > 1 << 20)
        return brio__error(error, BRIO_ERROR_ARGUMENT,
                           "room for %d pairs in contact: it must be between 0 and %d", most,
                           1 << 20);
    if (most > 0) {
        created = brio__calloc(1, sizeof *created);
        if (!created) return brio__no_memory(error);
        created->most = most;
        created->before.note = brio__alloc((size_t)most, sizeof(Note));
        created->after.note = brio__alloc((size_t)most, sizeof(Note));
        created->event = brio__alloc(2 * (size_t)most, sizeof *created->event);
        if (!created->before.note || !created->after.note || !created->event) {
            brio__notes_free(created);
            return brio__no_memory(error);
        }
    }
    brio__notes_free(sim->notes);
    sim->notes = created;
    return BRIO_OK;
}

int brio_sim_contacts(const BrioSim *sim, BrioContactEvent *events, int room)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SIM, sim), 0);
    int count = sim->notes ? sim->notes->count : 0;
    if (events && room > 0 && count > 0)
        memcpy(events, sim->notes->event, (size_t)BRIO_MIN(count, room) * sizeof *events);
    return count;
}

/* ---- who touches ------------------------------------------------------------------------ */

static int compare(const Note *note, int a, int b)
{
    if (note->owner[0] != a) return note->owner[0] < a ? -1 : 1;
    return note->owner[1] < b ? -1 : note->owner[1] > b;
}

/* The note of two owners, made if there is room; NULL: there is none. */
static Note *find(Set *set, int most, int a, int b)
{
    int low = 0, high = set->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (compare(&set->note[middle], a, b) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < set->count && compare(&set->note[low], a, b) == 0) return &set->note[low];
    if (set->count == most) return NULL;
    memmove(set->note + low + 1, set->note + low, (size_t)(set->count++ - low) * sizeof *set->note);
    set->note[low] = (Note){.owner = {a, b}, .distance = INFINITY};
    return &set->note[low];
}

/* A contact of two owners: the force on the first, where it is, and how far they are apart. */
static void add(Set *set, int most, const int owner[2], const double force[3],
                const double place[3], double distance)
{
    bool turn = owner[0] > owner[1];
    Note *note = find(set, most, owner[turn], owner[!turn]);
    if (!note) return;
    double size = brio__norm3(force);
    note->contacts++;
    note->size += size;
    note->distance = fmin(note->distance, distance);
    for (int r = 0; r < 3; r++) {
        note->force[r] += turn ? -force[r] : force[r];
        note->place[r] += size * place[r];
        note->middle[r] += place[r];
    }
}

static void add_pair(const BrioSystem *s, const BrioPairs *pairs, int kind, int64_t e,
                     const double *x, double thickness, struct BrioNotes *notes, Set *set)
{
    const int first = kind == BRIO_PAIR_EDGE_EDGE || kind == BRIO_PAIR_PARALLEL ? 2 : 1;
    const int last = kind == BRIO_PAIR_VERTEX_VERTEX ? 1 : 3;
    int32_t vertex[4];
    brio__pairs_vertices(pairs, e, vertex);
    const int owner[2] = {brio__system_owner(s, vertex[0]), brio__system_owner(s, vertex[last])};
    double force[3] = {0, 0, 0}, place[3] = {0, 0, 0}, sum = 0;
    for (int k = 0; k <= last; k++) {
        const double *g = pairs->gradient + (e / LANES * 4 + k) * 3 * LANES + e % LANES;
        const double own[3] = {g[0], g[LANES], g[2 * LANES]};
        double size = brio__norm3(own);
        sum += size;
        for (int r = 0; r < 3; r++) {
            if (k < first) force[r] -= own[r];
            place[r] += size * x[3 * (int64_t)vertex[k] + r];
        }
    }
    for (int r = 0; r < 3; r++) place[r] = sum > 0 ? place[r] / sum : x[3 * (int64_t)vertex[0] + r];
    add(set, notes->most, owner, force, place, pairs->distance[e] - thickness);
}

static void collect_pairs(BrioSim *sim, const double *x, Set *set)
{
    const BrioSystem *s = sim->system;
    BrioContact *contact = brio__potential_contact(sim->stepper->potential);
    const double *param = sim->state->param;
    double min;
    if (!contact) return;
    brio__contact_count(contact, param, x, &min, NULL);          /* distances */
    brio__contact_evaluate(contact, param, x, NULL, sim->world); /* and gradients */
    for (int kind = 0; kind < BRIO_PAIR_KINDS; kind++) {
        const BrioPairs *pairs = brio__contact_pairs(contact, kind);
        for (int64_t e = 0; e < pairs->term.elements; e++)
            add_pair(s, pairs, kind, e, x, param[s->contact_params + BRIO_CONTACT_THICKNESS],
                     sim->notes, set);
    }
}

static void collect_formula(BrioSim *sim, const BrioTerm *term, const double *x, Set *set)
{
    const BrioSystem *s = sim->system;
    const double *param = sim->state->param + term->params;
    const double thickness =
        term->energy->params > BRIO_CONTACT_THICKNESS ? param[BRIO_CONTACT_THICKNESS] : 0;
    _Alignas(sizeof(double) * LANES) double distance[LANES], gradient[3 * LANES];
    for (int64_t pack = 0; pack < term->packs; pack++) {
        bool near = false;
        brio__obstacle_distances(term, sim->state->param, pack, x, distance);
        for (int i = 0; i < LANES; i++) near |= distance[i] < thickness + param[BRIO_CONTACT_DHAT];
        if (!near) continue;
        term->energy->eval(&(BrioBatch){.end = 1,
                                        .node = term->node + pack * LANES,
                                        .rest = term->rest + pack * term->energy->rest * LANES,
                                        .params = param,
                                        .table = term->table,
                                        .x = x,
                                        .gradient = gradient});
        for (int i = 0; i < LANES && pack * LANES + i < term->elements; i++) {
            if (!(distance[i] < thickness + param[BRIO_CONTACT_DHAT])) continue;
            int64_t vertex = brio__term_vertex(term, pack * LANES + i, 0);
            const int owner[2] = {brio__system_owner(s, vertex), s->body_count + term->obstacle};
            const double f[3] = {-gradient[i], -gradient[LANES + i], -gradient[2 * LANES + i]};
            add(set, sim->notes->most, owner, f, x + 3 * vertex, distance[i] - thickness);
        }
    }
}

static void collect(BrioSim *sim, Set *set)
{
    const BrioSystem *s = sim->system;
    const double *x = brio__sim_world(sim);
    set->count = 0;
    collect_pairs(sim, x, set);
    for (int k = 0; k < s->analytic_count; k++)
        collect_formula(sim, &s->term[s->analytic_term + k], x, set);
}

/* ---- events ----------------------------------------------------------------------------- */

static void report(struct BrioNotes *notes, const BrioSystem *s, const Note *note,
                   BrioContactChange change, double h)
{
    bool ends = change == BRIO_CONTACT_ENDS;
    int b = note->owner[1];
    BrioContactEvent *event = &notes->event[notes->count++];
    *event = (BrioContactEvent){.a = note->owner[0],
                                .b = b < s->body_count ? b : BRIO_OBSTACLE(b - s->body_count),
                                .change = change,
                                .contacts = ends ? 0 : note->contacts,
                                .pressing = ends ? 0 : h * note->size,
                                .distance = ends ? NAN : note->distance};
    for (int r = 0; r < 3; r++) {
        event->impulse[r] = ends ? 0 : h * note->force[r];
        event->place[r] =
            note->size > 0 ? note->place[r] / note->size : note->middle[r] / (double)note->contacts;
    }
}

void brio__notes_begin(BrioSim *sim)
{
    if (sim->notes) collect(sim, &sim->notes->before);
}

void brio__notes_end(BrioSim *sim, double h, bool done)
{
    struct BrioNotes *notes = sim->notes;
    if (!notes || !done) return;
    const Set *before = &notes->before, *after = &notes->after;
    collect(sim, &notes->after);
    notes->count = 0;
    for (int i = 0, k = 0; i < before->count || k < after->count;) {
        const Note *old = i < before->count ? &before->note[i] : NULL;
        const Note *now = k < after->count ? &after->note[k] : NULL;
        int order = !old ? 1 : !now ? -1 : compare(old, now->owner[0], now->owner[1]);
        BrioContactChange change = order < 0   ? BRIO_CONTACT_ENDS
                                   : order > 0 ? BRIO_CONTACT_BEGINS
                                               : BRIO_CONTACT_STAYS;
        report(notes, sim->system, order < 0 ? old : now, change, h);
        i += order <= 0;
        k += order >= 0;
    }
}
