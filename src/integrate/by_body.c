/* A-search by body: an alpha and an energy target for each account (potential/accounts.h).
 *
 * Split P = sum_c P_c, each with half of the energy of its contacts with others, and let
 * H_c = T_c + P_c, so that the sum of H_c is H. A contact of a and b exerts the forces f_a and f_b
 * along the ways u_a and u_b: the works W_a and W_b. Its energy changes by -(W_a + W_b) if it is
 * kept, of which half belongs to each side, so that
 *
 *     H_a gains (W_a - W_b)/2,    H_b gains (W_b - W_a)/2.
 *
 * Both are booked. Their sum is zero whatever f and u are.
 *
 * Impulses of contacts must be opposite, or momentum is lost. So accounts that touch at q_n or q'
 * are a group with one beta, the alpha of A-search for the group as a whole, and
 *
 *     v' = w - beta r(dv) - alpha_c (dv - r(dv)),
 *
 * where r is the rigid motion of each free component with the momenta of its argument: both momenta
 * are those of one alpha for the group. (Weights of their own for contacts, and not for the rigid
 * motions, would part them from the elements that answer them: a light vertex gets a velocity of
 * the small difference of two large forces.) The contacts' forces are those of the momenta,
 * f = (1 - beta) f' + beta f_n. Rigid motions go by their mean velocity, so that their kinetic
 * energy changes by exactly this work, and shape goes from q_n to q':
 *
 *     u = (q' - q_n) - r(q' - q_n) + h/2 r(v_n + w - beta dv).
 *
 * With the targets
 *
 *     E_c' = G_c + keep_c (E_c + added_c - eps_c - G_c) + passages
 *
 * alpha_c is the root of P_c + 1/2 |v'|^2 = E_c'. An account that touches no other is its own
 * group, and alpha_c = beta: A-search for it alone.
 *
 * Damping and friction take eps_c = grad D.(q' - q_n) over the coordinates of c. Friction between
 * two bodies may bring energy to one of them; the sum is what friction takes in all.
 * docs/results.md has measurements, and what failed. */
#include "by_body.h"

#include "../field.h"
#include "../potential/accounts.h"
#include "../potential/forces.h"

#include <string.h>

/* Numbers of an account in the state: at its first coordinate block in the history vectors, three
 * in each. ENERGY is H_c when the last step ended, WITH (of the first account alone) tells with
 * which parameters. */
enum { TARGET, ALPHA, ENERGY, PASSED, LOST, ADDED, GROUND, DECAYED, WITH };

static double *kept(const BrioAccounts *a, BrioState *state, int32_t c, int number)
{
    double *vector = state->past + (BRIO_BY_BODY + number / 3) * state->coordinates;
    return vector + 3 * (int64_t)a->first[c] + number % 3;
}

/* Rows of numbers by account, of one step. */
enum {
    NOW,    /* the target, as it changes */
    WAS,    /* and as it was at the start */
    GIVEN,  /* energy from outside */
    EPS,    /* taken by damping and friction, */
    RUB,    /* and what friction takes more with beta = 1 */
    KEEP,   /* what decay leaves */
    END,    /* P_c at the end; after them that of what has no account */
    MOVING, /* kinetic energy */
    LINEAR, /* w.p and dv.p */
    SQUARE,
    N0, /* passages of the contacts at q_n with v_n + w and with dv, */
    N1,
    E0, /* and of those at q' */
    E1,
    BETA,
    CHOSEN, /* alpha */
    PASS,
    EXCESS, /* sums over groups, at their roots */
    GROUP_LINEAR,
    GROUP_SQUARE,
    SIZE,
    ROOM,
    ROW_COUNT
};
_Static_assert((int)ROW_COUNT <= (int)BRIO_ACCOUNT_ROWS, "accounts have room for all rows");

static double *row(const BrioStepper *s, int k)
{
    return s->accounts->row + k * (s->accounts->count + 1);
}

/* scratch vectors */
enum { SHARED = 24, SHARED_P, WAY, WAY_CHANGE, GRADIENT, RUBS, VECTOR, OWN };

/* ---- what it is used for ---------------------------------------------------------------- */

int brio_stepper_by_body(const BrioStepper *s)
{
    BRIO_NEEDS_OR(s, 0);
    double asked = brio_stepper_value(s, "by_body");
    if (!isnan(asked)) return asked != 0;
    for (int i = 0; i < s->system->body_count; i++)
        if (s->system->body[i].decay > 0 || s->system->body[i].energy_scale > 0) return true;
    return false;
}

bool brio__by_body_is_used(const BrioStepper *s)
{
    return brio__fields_offset(s->integrator->fields, "by_body") >= 0 && brio_stepper_by_body(s) &&
           isnan(brio_stepper_value(s, "alpha"));
}

/* Those of the first body of an account that has one; two different ones are an error. */
static BrioStatus control(BrioStepper *s, int32_t c, double *decay, double *scale)
{
    const BrioAccounts *a = s->accounts;
    char reason[400];
    int by[2] = {-1, -1};
    *decay = *scale = 0;
    for (int i = 0; i < s->system->body_count; i++) {
        const double own[2] = {s->system->body[i].decay, s->system->body[i].energy_scale};
        double *all[2] = {decay, scale};
        for (int k = 0; a->of_body[i] == c && k < 2; k++) {
            if (!(own[k] > 0)) continue;
            if (by[k] >= 0 && own[k] != *all[k]) {
                snprintf(reason, sizeof reason,
                         "bodies \"%.100s\" and \"%.100s\" are tied together and have one energy: "
                         "give both the same %s",
                         s->system->body[by[k]].name, s->system->body[i].name,
                         k ? "energy_scale" : "decay");
                return brio_stepper_fail(s, BRIO_ERROR_INPUT, reason);
            }
            *all[k] = own[k];
            by[k] = i;
        }
    }
    return BRIO_OK;
}

static BrioStatus check(BrioStepper *s)
{
    const char *reason = NULL;
    if (!s->components || s->state->history < BRIO_BY_BODY + BRIO_BY_BODY_VECTORS)
        return brio_stepper_fail(s, BRIO_ERROR_ARGUMENT,
                                 "energy by body needs BRIO_USES_COMPONENTS and room in the "
                                 "history: see brio/integrator.h");
    if (s->system->partition) reason = "by_body works on one process";
    if (brio_stepper_unfinished(s) || brio_stepper_value(s, "gain") > 1)
        reason = "by_body needs solves that end when they are solved, and no gain: use the solver "
                 "newton, or by_body: false";
    if (reason) return brio_stepper_fail(s, BRIO_ERROR_INPUT, reason);
    return s->accounts ? BRIO_OK : brio__accounts_create(s->system, s->components, &s->accounts);
}

/* ---- the start of a step ---------------------------------------------------------------- */

/* P_c and T_c + P_c at coordinates of the state's time. */
static void potentials(BrioStepper *s, const double *q, double time, double *energy)
{
    brio__system_positions(s->system, s->state, q, time, s->x);
    brio__accounts_potential(s->accounts, s->potential, &(BrioPose){s->state, s->x, time}, energy);
}

static void kinetic(BrioStepper *s, const double *v, double *energy)
{
    brio__mass_multiply(s->system, v, s->difference);
    brio__accounts_dot(s->accounts, v, s->difference, energy);
    for (int32_t c = 0; c < s->accounts->count; c++) energy[c] /= 2;
}

static void energies(BrioStepper *s, double *energy)
{
    double *moving = row(s, MOVING);
    potentials(s, s->state->q, s->state->time, energy);
    kinetic(s, s->state->v, moving);
    for (int32_t c = 0; c < s->accounts->count; c++) energy[c] += moving[c];
}

/* Ground levels: those of the settled scene, or a number in J that is shared by mass. */
static BrioStatus grounds(BrioStepper *s)
{
    const BrioAccounts *a = s->accounts;
    double ground = brio_stepper_value(s, "ground"), *level = row(s, ROOM), mass = 0;
    double t = s->state->time;
    if (ground == INFINITY) {
        double *q = brio_stepper_scratch(s, VECTOR);
        BRIO_CHECK(brio_stepper_minimise(
            s, &(BrioObjective){.s = 1, .a = 1, .time = t, .h = 1, .massless = 1}, q));
        potentials(s, q, t, level);
    } else {
        memset(level, 0, ((size_t)a->count + 1) * sizeof *level);
        for (int32_t b = 0; b < s->system->block_count; b++) {
            mass += s->system->mass[b];
            if (a->of_block[b] >= 0) level[a->of_block[b]] += ground * s->system->mass[b];
        }
        for (int32_t c = 0; c < a->count; c++) level[c] /= mass > 0 ? mass : 1;
    }
    for (int32_t c = 0; c < a->count; c++) *kept(a, s->state, c, GROUND) = level[c];
    return BRIO_OK;
}

/* First targets; or, after the state was set from outside, the energies with what the target of
 * all is off them, by kinetic energy. */
static BrioStatus first_targets(BrioStepper *s)
{
    const BrioAccounts *a = s->accounts;
    double *now = row(s, NOW), *moving = row(s, MOVING), all = 0, moves = 0;
    bool first = isnan(s->state->target);
    BRIO_CHECK(grounds(s));
    energies(s, now);
    for (int32_t c = 0; c <= a->count; c++) all += now[c];
    for (int32_t c = 0; c < a->count; c++) moves += moving[c];
    for (int32_t c = 0; c < a->count; c++) {
        double decay, scale, ground = *kept(a, s->state, c, GROUND);
        BRIO_CHECK(control(s, c, &decay, &scale));
        if (!(scale > 0)) scale = brio_stepper_value(s, "energy_scale");
        if (first)
            now[c] = ground + scale * (now[c] - ground);
        else if (moves > 0)
            now[c] += (s->state->target - all) * moving[c] / moves;
        for (int k = PASSED; first && k <= DECAYED; k++)
            if (k != GROUND) *kept(a, s->state, c, k) = 0;
    }
    brio_stepper_set_history_used(s, BRIO_BY_BODY + BRIO_BY_BODY_VECTORS);
    return BRIO_OK;
}

/* Targets at the start of the step. What was changed from outside since the last step, or by
 * filters of velocities at its end, has changed the energy, and the target by as much. */
static BrioStatus targets(BrioStepper *s)
{
    const BrioAccounts *a = s->accounts;
    double *now = row(s, NOW), *energy = row(s, ROOM);
    if (brio_stepper_history_used(s) == 0 || a->count == 0) return first_targets(s);
    bool changed =
        brio_stepper_dampers(s) || *kept(a, s->state, 0, WITH) != brio_stepper_fingerprint(s, 0);
    if (changed) energies(s, energy);
    for (int32_t c = 0; c < a->count; c++) {
        now[c] = *kept(a, s->state, c, TARGET);
        if (changed) now[c] += energy[c] - *kept(a, s->state, c, ENERGY);
    }
    return BRIO_OK;
}

/* ---- works ------------------------------------------------------------------------------ */

/* What damping and friction take of each account. */
static void losses(BrioStepper *s, const BrioByBody *b)
{
    double *eps = row(s, EPS), *room = row(s, ROOM), *rub = row(s, RUB);
    double *f = brio_stepper_scratch(s, RUBS), *way = s->difference;
    int32_t count = s->accounts->count;
    BrioObjective objective = {.s = b->h * b->h, .a = 1, .time = s->state->time + b->h, .h = b->h};
    memset(eps, 0, ((size_t)count + 1) * sizeof *eps);
    memset(rub, 0, ((size_t)count + 1) * sizeof *rub);
    bool rubs = b->fraction > 0 && brio_stepper_friction_shift(s, &objective, b->q, f);
    if (!rubs) brio__combine(s->system, 0, b->q, 0, b->q, f);
    brio__combine(s->system, 1, b->q, -1, s->state->q, way);
    for (int i = 0; i < s->dissipation->count; i++) {
        brio__accounts_dot(s->accounts, s->impulse[i], way, room);
        for (int32_t c = 0; c < count; c++) eps[c] += room[c];
    }
    if (!rubs) return;
    brio__combine(s->system, b->fraction, f, 0, f, f);
    brio__accounts_dot(s->accounts, f, way, rub);
    for (int32_t c = 0; c < count; c++) rub[c] = -rub[c];
}

/* The work of those who move the fixed vertices of bodies and attachments, and of obstacles through
 * the contacts of surfaces. */
static void add_scripts(BrioStepper *s, const BrioByBody *b, double *given)
{
    BrioAccounts *a = s->accounts;
    const BrioSystem *system = s->system;
    double end = s->state->time + b->h, *gradient = brio_stepper_scratch(s, VECTOR);
    BrioPassage to = {.account = a->of_vertex, .u = a->world, .weight = 0.5, .brought = given};
    if (system->scripted_count == 0) return;
    brio__stepper_hold(s, b->q, end, 1);
    memset(a->world, 0, 3 * (size_t)system->vertex_count * sizeof *a->world);
    for (int64_t i = 0; i < system->fixed_count; i++)
        for (int r = 0; r < 3; r++) {
            int64_t k = 3 * i + r, vertex = system->fixed[i];
            double way = s->fixed[2][k] - s->fixed[0][k];
            a->world[3 * vertex + r] = way;
            if (a->of_vertex[vertex] >= 0)
                given[a->of_vertex[vertex]] += (s->fixed[1][k] + s->fixed[3][k]) / 2 * way;
        }
    for (int k = 0; k < 2; k++) {
        double time = k ? end : s->state->time;
        brio__system_positions(system, s->state, k ? b->q : s->state->q, time, s->x);
        brio__potential_contact_gradient(s->potential, &(BrioPose){s->state, s->x, time}, gradient);
        brio__potential_pass(s->potential, &to);
    }
}

/* Half of what potentials of forces change by at each end of the step. */
static void add_varying(BrioStepper *s, const BrioByBody *b, double *given)
{
    BrioAccounts *a = s->accounts;
    double start = s->state->time, end = start + b->h, *energy = row(s, ROOM);
    BrioSplit split = {a->of_vertex, a->count, energy};
    if (!brio__forces_vary(s->system)) return;
    for (int k = 0; k < 4; k++) {
        memset(energy, 0, ((size_t)a->count + 1) * sizeof *energy);
        brio__system_positions(s->system, s->state, k / 2 ? b->q : s->state->q, k / 2 ? end : start,
                               s->x);
        brio__forces_split(s->potential, &(BrioPose){s->state, s->x, k % 2 ? end : start}, &split);
        for (int32_t c = 0; c < a->count; c++) given[c] += (k % 2 ? 0.5 : -0.5) * energy[c];
    }
}

/* Energy from outside: the work of whoever moves fixed vertices, and what potentials of forces
 * change by as time goes on, as stepper_books.c has them. What no account can be told for is shared
 * by mass. */
static void additions(BrioStepper *s, const BrioByBody *b)
{
    const BrioAccounts *a = s->accounts;
    double *given = row(s, GIVEN), *mass = row(s, ROOM), all = 0, added, dissipated, left;
    memset(given, 0, ((size_t)a->count + 1) * sizeof *given);
    if (s->system->scripted_count == 0 && s->system->force_count == 0) return;
    brio_stepper_work(s, b->q, b->h, &added, &dissipated);
    left = added - dissipated;
    for (int32_t c = 0; c <= a->count; c++) left += row(s, EPS)[c]; /* works that pass through */
    add_scripts(s, b, given);
    add_varying(s, b, given);
    memset(mass, 0, ((size_t)a->count + 1) * sizeof *mass);
    for (int32_t k = 0; k < s->system->block_count; k++) {
        all += s->system->mass[k];
        if (a->of_block[k] >= 0) mass[a->of_block[k]] += s->system->mass[k];
    }
    for (int32_t c = 0; c < a->count; c++) left -= given[c];
    for (int32_t c = 0; c < a->count && all > 0; c++) given[c] += left * mass[c] / all;
}

/* ---- contacts --------------------------------------------------------------------------- */

/* The rigid motions of free components in a velocity field, at the pose of the end. */
static void rigid_part(BrioStepper *s, const BrioByBody *b, const double *v, double *rigid)
{
    double *p = s->difference;
    brio__mass_multiply(s->system, v, p);
    brio_stepper_rigid(s, b->q, &(BrioImpulse){b->q, p, 1}, 1, rigid, NULL);
}

/* Contacts do work along u - beta u1: the rigid motions have that of their mean
 * velocity, shape goes from q_n to q'. */
static void ways(BrioStepper *s, const BrioByBody *b, double *u, double *u1)
{
    double *rigid = brio_stepper_scratch(s, VECTOR), h = b->h;
    brio__combine(s->system, 1, b->q, -1, s->state->q, u);
    rigid_part(s, b, u, rigid);
    brio__combine(s->system, 1, u, -1, rigid, u);
    brio__combine(s->system, h / 2, s->state->v, h / 2, b->w, u1);
    rigid_part(s, b, u1, rigid);
    brio__combine(s->system, 1, u, 1, rigid, u);
    brio__combine(s->system, h / 2, brio_stepper_scratch(s, SHARED), 0, u, u1);
}

/* The groups that touch at a pose, and the energy that passes through its contacts, for both
 * displacements. */
static void contacts_at(BrioStepper *s, const double *q, double time, const double *const way[2],
                        double *const passed[2])
{
    BrioAccounts *a = s->accounts;
    double *gradient = brio_stepper_scratch(s, GRADIENT);
    BrioPassage to = {.account = a->of_vertex, .u = a->world, .weight = 1, .group = a->group};
    brio__system_positions(s->system, s->state, q, time, s->x);
    brio__potential_contact_gradient(s->potential, &(BrioPose){s->state, s->x, time}, gradient);
    for (int k = 0; k < 2; k++) {
        memset(passed[k], 0, ((size_t)a->count + 1) * sizeof *passed[k]);
        brio__system_directions(s->system, way[k], a->world);
        to.passed = passed[k];
        brio__potential_pass(s->potential, &to);
    }
}

/* r(dv) and M r(dv), who touches whom, and passages. */
static void shared_change(BrioStepper *s, const BrioByBody *b)
{
    double *dv = brio_stepper_scratch(s, SHARED), *u = brio_stepper_scratch(s, WAY);
    double *u1 = brio_stepper_scratch(s, WAY_CHANGE), time = s->state->time;
    const double *const way[2] = {u, u1};
    rigid_part(s, b, b->dv, dv);
    brio__mass_multiply(s->system, dv, brio_stepper_scratch(s, SHARED_P));
    ways(s, b, u, u1);
    brio__accounts_separate(s->accounts);
    contacts_at(s, s->state->q, time, way, (double *const[2]){row(s, N0), row(s, N1)});
    contacts_at(s, b->q, time + b->h, way, (double *const[2]){row(s, E0), row(s, E1)});
}

/* ---- alphas ----------------------------------------------------------------------------- */

/* Targets without passages: decay acts on what losses leave. */
static BrioStatus aim(BrioStepper *s, const BrioByBody *b)
{
    const BrioAccounts *a = s->accounts;
    double *now = row(s, NOW), *keep = row(s, KEEP);
    memcpy(row(s, WAS), now, (size_t)a->count * sizeof *now);
    for (int32_t c = 0; c < a->count; c++) {
        double ground = *kept(a, s->state, c, GROUND), decay, scale;
        BRIO_CHECK(control(s, c, &decay, &scale));
        keep[c] = decay > 0 ? exp(-b->h / decay) : b->keeps;
        now[c] = ground + keep[c] * (now[c] + row(s, GIVEN)[c] - row(s, EPS)[c] - ground);
    }
    return BRIO_OK;
}

/* The alpha of each group as a whole. */
static void search_groups(BrioStepper *s, const BrioByBody *b)
{
    const BrioAccounts *a = s->accounts;
    double *beta = row(s, BETA), *excess = row(s, EXCESS), *linear = row(s, GROUP_LINEAR);
    double *square = row(s, GROUP_SQUARE), *size = row(s, SIZE), *scale = row(s, ROOM);
    for (int32_t c = 0; c < a->count; c++) {
        int32_t g = brio__accounts_group(a, c); /* the minimum of the group: it comes first */
        if (g == c) excess[g] = linear[g] = square[g] = size[g] = scale[g] = 0;
        scale[g] += fabs(row(s, END)[c]) + row(s, MOVING)[c] + fabs(row(s, NOW)[c]);
        excess[g] += row(s, END)[c] + row(s, MOVING)[c] - row(s, NOW)[c];
        linear[g] += row(s, LINEAR)[c] - row(s, KEEP)[c] * row(s, RUB)[c];
        square[g] += row(s, SQUARE)[c];
        size[g]++;
    }
    for (int32_t c = 0; c < a->count; c++) {
        int32_t g = brio__accounts_group(a, c);
        size[c] = size[g];
        BrioSearch search = {excess[g], linear[g], square[g], scale[g], b->min, b->max};
        beta[c] = g == c ? b->search(&search) : beta[g];
    }
}

/* What passes through contacts, and the alphas of accounts that touch others. v: w - beta r(dv). */
static void search_accounts(BrioStepper *s, const BrioByBody *b, const double *v)
{
    const BrioAccounts *a = s->accounts;
    double *own = brio_stepper_scratch(s, OWN), *p = brio_stepper_scratch(s, VECTOR);
    double *pass = row(s, PASS), *now = row(s, NOW), *alpha = row(s, CHOSEN);
    const double *beta = row(s, BETA);
    brio__combine(s->system, 1, b->dv, -1, brio_stepper_scratch(s, SHARED), own);
    brio__combine(s->system, 1, b->p, -1, brio_stepper_scratch(s, SHARED_P), p);
    brio__accounts_dot(a, v, p, row(s, LINEAR));
    brio__accounts_dot(a, own, p, row(s, SQUARE));
    kinetic(s, v, row(s, MOVING));
    for (int32_t c = 0; c < a->count; c++) {
        double x = beta[c];
        pass[c] =
            (1 - x) * (row(s, E0)[c] - x * row(s, E1)[c]) + x * (row(s, N0)[c] - x * row(s, N1)[c]);
        now[c] += pass[c] - x * row(s, KEEP)[c] * row(s, RUB)[c];
        double energy = row(s, END)[c] + row(s, MOVING)[c];
        BrioSearch search = {.excess = energy - now[c],
                             .linear = row(s, LINEAR)[c],
                             .square = row(s, SQUARE)[c],
                             .scale = fabs(row(s, END)[c]) + row(s, MOVING)[c] + fabs(now[c]),
                             .min = b->min,
                             .max = b->max};
        alpha[c] = row(s, SIZE)[c] > 1 ? b->search(&search) : x;
    }
}

/* ---- the end of a step ------------------------------------------------------------------ */

static void book(BrioStepper *s)
{
    const BrioAccounts *a = s->accounts;
    double target = row(s, END)[a->count], sum = 0, weight = 0;
    for (int32_t c = 0; c < a->count; c++) {
        double lost = row(s, EPS)[c] + row(s, BETA)[c] * row(s, RUB)[c];
        double gained = row(s, GIVEN)[c] + row(s, PASS)[c] - lost;
        *kept(a, s->state, c, TARGET) = row(s, NOW)[c];
        *kept(a, s->state, c, ALPHA) = row(s, CHOSEN)[c];
        *kept(a, s->state, c, ENERGY) = row(s, END)[c] + row(s, MOVING)[c];
        *kept(a, s->state, c, PASSED) += row(s, PASS)[c];
        *kept(a, s->state, c, LOST) += lost;
        *kept(a, s->state, c, ADDED) += row(s, GIVEN)[c];
        *kept(a, s->state, c, DECAYED) += row(s, WAS)[c] + gained - row(s, NOW)[c];
        target += row(s, NOW)[c];
        sum += row(s, SQUARE)[c] * row(s, CHOSEN)[c];
        weight += row(s, SQUARE)[c];
    }
    if (a->count) *kept(a, s->state, 0, WITH) = brio_stepper_fingerprint(s, 0);
    /* the mean of the alphas by how much they move */
    brio_stepper_set_target(s, target, weight > 0 ? sum / weight : 1);
}

BrioStatus brio_stepper_end_by_body(BrioStepper *s, const BrioByBody *b)
{
    BRIO_NEEDS_OR(s && b && b->q && b->w && b->dv && b->p && b->search, BRIO_ERROR_ARGUMENT);
    BRIO_CHECK(check(s));
    const BrioAccounts *a = s->accounts;
    double *v = b->w, *rubs = brio_stepper_scratch(s, RUBS);
    int friction = s->dissipation->friction;
    BRIO_CHECK(targets(s));
    losses(s, b);
    additions(s, b);
    shared_change(s, b);
    potentials(s, b->q, s->state->time + b->h, row(s, END));
    kinetic(s, b->w, row(s, MOVING));
    brio__accounts_dot(a, b->w, b->p, row(s, LINEAR));
    brio__accounts_dot(a, b->dv, b->p, row(s, SQUARE));
    BRIO_CHECK(aim(s, b));
    search_groups(s, b);
    brio__accounts_subtract(a, row(s, BETA), brio_stepper_scratch(s, SHARED), v);
    search_accounts(s, b, v);
    brio__accounts_subtract(a, row(s, CHOSEN), brio_stepper_scratch(s, OWN), v);
    if (friction >= 0) brio__accounts_subtract(a, row(s, BETA), rubs, s->impulse[friction]);
    kinetic(s, v, row(s, MOVING));
    book(s);
    return brio_stepper_accept(s, b->h, b->q, v);
}

/* ---- what tables ask -------------------------------------------------------------------- */

int brio__by_body_count(const BrioStepper *s)
{
    return brio__by_body_is_used(s) && s->accounts ? s->accounts->count : 0;
}

const char *brio__by_body_name(const BrioStepper *s, int account)
{
    return s->system->body[s->accounts->body[account]].name;
}

void brio__by_body_books(BrioStepper *s, BrioState *state, BrioBodyBooks *books)
{
    const BrioAccounts *a = s->accounts;
    double *energy = row(s, ROOM), *moving = row(s, MOVING);
    brio__system_positions(s->system, state, state->q, state->time, s->x);
    brio__accounts_potential(a, s->potential, &(BrioPose){state, s->x, state->time}, energy);
    kinetic(s, state->v, moving);
    for (int32_t c = 0; c < a->count; c++) {
        bool known = state->history_used > 0;
        books[c] = (BrioBodyBooks){.energy = energy[c] + moving[c], .target = NAN, .alpha = NAN};
        if (!known) continue;
        books[c].target = *kept(a, state, c, TARGET);
        books[c].alpha = *kept(a, state, c, ALPHA);
        books[c].passed = *kept(a, state, c, PASSED);
        books[c].lost = *kept(a, state, c, LOST);
        books[c].added = *kept(a, state, c, ADDED);
        books[c].decayed = *kept(a, state, c, DECAYED);
    }
}
