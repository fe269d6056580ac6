/* Kinetic energy 1/2 v.M v of the coordinates; momenta of everything that moves, scripted vertices
 * included; potentials by term; distances from obstacles; how well constraints hold. */
#include "ledger.h"

#include <string.h>

static void add_contacts(BrioPotential *potential, const BrioState *state, const double *x,
                         BrioLedger *ledger)
{
    const BrioSystem *s = potential->system;
    BrioContact *pairs = brio__potential_contact(potential);
    double contacts = 0;
    if (pairs) {
        double min;
        contacts = (double)brio__contact_count(pairs, state->param, x, &min, NULL);
        if (min < INFINITY) ledger->min_distance = min;
    }
    for (int k = 0; k < s->analytic_count; k++) {
        const BrioTerm *term = &s->term[s->analytic_term + k];
        const double *param = state->param + term->params;
        _Alignas(sizeof(double) * LANES) double distance[LANES];
        double reach = param[BRIO_CONTACT_DHAT];
        if (term->energy->params > BRIO_CONTACT_THICKNESS) reach += param[BRIO_CONTACT_THICKNESS];
        for (int64_t i = 0; i < term->elements; i++) {
            if (i % LANES == 0)
                brio__obstacle_distances(term, state->param, i / LANES, x, distance);
            contacts += distance[i % LANES] < reach;
            /* NAN at first, which fmin passes over */
            ledger->min_distance = fmin(ledger->min_distance, distance[i % LANES]);
        }
    }
    brio__partition_sum(s->partition, &contacts, 1);
    ledger->contacts = (int)contacts;
    if (!s->partition) return;
    double min = brio__partition_min(s->partition,
                                     isnan(ledger->min_distance) ? INFINITY : ledger->min_distance);
    ledger->min_distance = min < INFINITY ? min : NAN;
}

/* The solver has room for the points of constraints. */
static void add_constraints(const BrioSystem *s, const BrioConstraints *c, const double *x,
                            BrioLedger *ledger)
{
    for (int i = 0; c && i < s->constraint_count; i++) {
        double *y = c->points + c->points_at[i];
        brio__constraint_points(&s->constraint[i], x, y);
        ledger->rods = fmax(ledger->rods, brio__constraint_violation(&s->constraint[i], y));
    }
}

/* Potentials by what they are of. */
static void add_potentials(BrioSim *sim, const double *x, BrioLedger *ledger)
{
    const BrioSystem *s = sim->system;
    BrioSum sum = brio__potential_evaluate(sim->stepper->potential,
                                           &(BrioPose){sim->state, x, sim->state->time}, NULL,
                                           sim->term_energy);
    ledger->potential = sum.energy;
    ledger->contact = sum.member[BRIO_MEMBER_contact] + sum.member[BRIO_MEMBER_colliders];
    ledger->attachment = sum.member[BRIO_MEMBER_hands];
    sim->force_energy = sum.member[BRIO_MEMBER_forces];
    double none = 0;
    double *const part[BRIO_LEDGER_PARTS] = {[BRIO_LEDGER_NONE] = &none,
                                             [BRIO_LEDGER_ELASTIC] = &ledger->elastic,
                                             [BRIO_LEDGER_GRAVITY] = &ledger->gravity,
                                             [BRIO_LEDGER_ATTACHMENT] = &ledger->attachment,
                                             [BRIO_LEDGER_CONTACT] = &ledger->contact};
    for (int t = 0; t < s->term_count; t++)
        *part[brio__element(s->term[t].energy)->part] += sim->term_energy[t];
}

static void add_losses(const BrioSim *sim, BrioLedger *ledger)
{
    const BrioState *state = sim->state;
    int friction = sim->stepper->dissipation->friction;
    if (friction >= 0) ledger->friction = state->dissipated[friction];
    ledger->dissipated = state->broken;
    for (int i = 0; i < BRIO_LOSSES; i++) {
        ledger->dissipated_by[i] = state->dissipated[i];
        ledger->dissipated += state->dissipated[i];
    }
}

/* Momenta and the centre of mass, given world positions; sim->world receives velocities. */
static void add_momenta(BrioSim *sim, const double *positions, BrioLedger *ledger)
{
    const BrioSystem *s = sim->system;
    /* mass first */
    double sum[10] = {0}, *momentum = sum + 1, *angular = sum + 4, *centre = sum + 7;
    brio__system_velocities(s, sim->state, sim->state->v, sim->state->time, sim->world);
    for (int64_t v = 0; v < s->vertex_count; v++) { /* ghosts have no mass here */
        const double *x = positions + 3 * v, *w = sim->world + 3 * v;
        double m = s->vertex_mass[v];
        sum[0] += m;
        for (int r = 0; r < 3; r++) {
            int p = (r + 1) % 3, q = (r + 2) % 3;
            momentum[r] += m * w[r];
            angular[r] += m * (x[p] * w[q] - x[q] * w[p]);
            centre[r] += m * x[r];
        }
    }
    brio__partition_sum(s->partition, sum, 10);
    for (int r = 0; r < 3; r++) {
        ledger->momentum[r] = momentum[r];
        ledger->angular[r] = angular[r];
        ledger->centre[r] = centre[r] / sum[0];
    }
}

void brio__ledger(BrioSim *sim, BrioLedger *ledger)
{
    const BrioState *state = sim->state;
    const double *x = brio__sim_world(sim);
    *ledger = (BrioLedger){.time = state->time,
                           .step = state->step,
                           .target = state->target,
                           .alpha = state->alpha,
                           .added = state->added,
                           .unfinished = state->unfinished,
                           .min_distance = NAN,
                           .rods = NAN};
    add_potentials(sim, x, ledger);
    add_contacts(sim->stepper->potential, state, x, ledger);
    add_constraints(sim->system, sim->stepper->solver->constraints, x, ledger);
    ledger->kinetic = brio_stepper_kinetic(sim->stepper, state->v);
    ledger->total = ledger->kinetic + ledger->potential;
    add_losses(sim, ledger);
    ledger->remainder = ledger->total - state->first - ledger->added + ledger->dissipated;
    add_momenta(sim, x, ledger);
}

int brio__ledger_accounts(const BrioSim *sim) { return brio__by_body_count(sim->stepper); }

const char *brio__ledger_account(const BrioSim *sim, int account)
{
    return brio__by_body_name(sim->stepper, account);
}

void brio__ledger_books(const BrioSim *sim, BrioBodyBooks *books)
{
    brio__by_body_books(sim->stepper, sim->state, books);
}
