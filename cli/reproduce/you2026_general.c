/* [You2026], the general method (Eq. 6-8, 15-16): decoupled methods and the search for alpha over
 * several tableaus; appendix D: decoupled methods of second order; Sec. 4.2: the coupled pairs. */
#include "you2026.h"

typedef struct Tableau {
    const char *name, *settings; /* of the integrator `decoupled`, after its type */
    int order;
} Tableau;

static const Tableau tableaus[] = {
    {"backward Euler", "tableau: backward-euler", 1},
    {"SDIRK2", "tableau: sdirk2", 2},
    {"sdirk2-wide", "tableau: sdirk2-wide", 2},
    {"SDIRK3", "tableau: sdirk3", 3},
    {"three stages, gamma = 1",
     "tableau: own, A: [[1, 0, 0], [-0.70710678118654752, 1, 0], [-0.70710678118654752, "
     "0.70710678118654752, 1]], b: [-0.70710678118654752, 0.70710678118654752, 1]",
     2},
};
enum { EULER, TABLEAUS = BRIO_COUNT(tableaus) };

/* ---- the bar of table 2 ----------------------------------------------------------------- */

typedef struct Bounce {
    bool finished;
    double speed;   /* of the centre of mass at the end, m/s */
    double kept;    /* last energy over the first */
    double highest; /* largest energy over the first */
    double time;    /* s: how far it came */
} Bounce;

static Bounce bounce(Report *r, double c, double h, const char *integrator, const char *what)
{
    Bounce b = {.speed = NAN, .kept = NAN, .highest = -INFINITY};
    BrioSim *sim = you2026_bar(r, c, h, integrator, "");
    BrioLedger first, now;
    if (!sim) return b;
    b.finished = brio_sim_ledger(sim, &first) == BRIO_OK;
    int64_t steps = (int64_t)round(5 / h);
    for (int64_t k = 0; k < steps && b.finished; k++) {
        b.finished = brio_sim_step(sim, NULL) == BRIO_OK && brio_sim_ledger(sim, &now) == BRIO_OK;
        if (!b.finished) break;
        b.highest = brio__larger(b.highest, now.total / first.total);
        b.time = now.time;
        if (b.highest > 100) b.finished = false;
        if (k % 16 == 0) report_progress(r, (double)k / (double)steps, "%s", what);
    }
    if (b.finished) {
        b.speed = now.momentum[0] / 10;
        b.kept = now.total / first.total;
    }
    brio_sim_free(sim);
    return b;
}

/* All nine cells with one method; their mean distance from the paper's at 1/30000, cells that end
 * early counting as 1. `energy`: the largest distance of the last energy from the first. */
static double bar_columns(Report *r, const char *name, const char *integrator, double *energy)
{
    double off = 0;
    *energy = 0;
    for (int c = 0; c < 3; c++)
        for (int h = 0; h < 3; h++) {
            char what[96];
            double fine = you2026_table2_values[c][3][1];
            snprintf(what, sizeof what, "%s, %s bar, h = 1/%g s", name, you2026_stiffness[c],
                     you2026_inverse_h[h]);
            Bounce b = bounce(r, you2026_wave_speed[c], 1 / you2026_inverse_h[h], integrator, what);
            if (b.finished)
                report_number(r, fine, b.speed, "%s: energy x %.3f, at most x %.3f", what, b.kept,
                              b.highest);
            else
                report_note(r, "%s: ends at %.3f s, energy up to %.3g times the first", what,
                            b.time, b.highest);
            off += (b.finished ? fabs(b.speed - fine) : 1) / 9;
            *energy = brio__larger(*energy, b.finished ? fabs(b.kept - 1) : 1);
        }
    return off;
}

/* ---- order ------------------------------------------------------------------------------ */

/* A soft box, stretched and spinning, after 0.064 s: positions of its eight vertices. */
static bool box_after(Report *r, const char *integrator, int steps, double x[24])
{
    BrioSim *sim = report_scene(
        r,
        "time: {h: %.17g}\ngravity: [0, -9.8, 0]\nintegrator: %s\nsolver: {tol: 1e-12}\nbodies:\n"
        "  - shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}\n"
        "    material: {type: stable-neo-hookean, E: 2e3, nu: 0.3, rho: 1000}\n"
        "    velocity: {angular: [0, 0, 3]}\n",
        0.064 / steps, integrator);
    if (!sim) return false;
    brio_sim_positions(sim, 0, x);
    for (int v = 0; v < 8; v++) x[3 * v] *= 1.3;
    brio_sim_set_positions(sim, 0, x, NULL);
    bool fine = report_steps(r, sim, steps, INFINITY, "order");
    brio_sim_positions(sim, 0, x);
    brio_sim_free(sim);
    return fine;
}

static double order_of(Report *r, const char *integrator, const double exact[24])
{
    double x[24], error[2] = {0};
    for (int k = 0; k < 2; k++) {
        if (!box_after(r, integrator, 64 << k, x)) return NAN;
        for (int i = 0; i < 24; i++) error[k] = brio__larger(error[k], fabs(x[i] - exact[i]));
    }
    return log2(error[0] / error[1]);
}

static void general(Report *r)
{
    char integrator[TABLEAUS][320];
    double exact[24], off[TABLEAUS], energy[TABLEAUS];
    for (int k = 0; k < TABLEAUS; k++)
        snprintf(integrator[k], sizeof integrator[k], "{type: decoupled, %s, alpha: search}",
                 tableaus[k].settings);
    report_section(r,
                   "order of alpha-search: a soft box, stretched and spinning, 64 and 128 steps");
    if (!box_after(r, "rk4", 2048, exact)) return;
    for (int k = 0; k < TABLEAUS; k++)
        report_value(r, tableaus[k].order, order_of(r, integrator[k], exact), 0.2,
                     "%s: order (dv is of order h^(p+1))", tableaus[k].name);
    for (int k = 0; k < TABLEAUS; k++) {
        report_section(r, "alpha-search over %s: final speed, m/s; at the left A-1 at 1/30000",
                       tableaus[k].name);
        off[k] = bar_columns(r, tableaus[k].name, integrator[k], &energy[k]);
    }
    report_section(r, "nine cells of table 2: mean distance of the speed from A-1's at 1/30000 s");
    for (int k = 0; k < TABLEAUS; k++) report_number(r, NAN, off[k], "%s", tableaus[k].name);
    for (int k = 0; k < TABLEAUS; k++)
        report_bound(r, energy[k], 0, 0.05,
                     "%s: largest distance of the last energy from the first", tableaus[k].name);
    for (int k = 1; k < TABLEAUS; k++)
        report_bound(r, off[k], 0, off[EULER], "%s: speeds no farther off than over backward Euler",
                     tableaus[k].name);
}

REPRODUCTION(you2026_general){
    .name = "you2026-general",
    .paper = "You2026",
    .summary = "Eq. 6-8, 15-16: the search for alpha over five tableaus: order, energy, table 2",
    .about =
        "The paper has the method for any Runge-Kutta method and shows it for implicit Euler. "
        "The bar is that of you2026-table2. A run ends when its energy is 100 times the first "
        "or a step fails; such cells count with a distance of 1. The adjoint of SDIRK3 couples "
        "its stages.",
    .chosen = "the tableaus; the box of the orders; the bound of 0.05 on energies",
    .minutes = 3,
    .run = general,
};

/* ---- appendix D: decoupled methods of second order -------------------------------------- */

/* Extremes of the trace for h^2 k/m from 1e-6 to `end`, and the trace there; NAN: no matrix. */
static double traces(const char *integrator, const char *tableau, double end, double *min,
                     double *max)
{
    char set[64];
    const char *const sets[] = {set};
    BrioSimDef def;
    BrioOscillator *o = NULL;
    BrioAmplification a = {.trace = NAN};
    snprintf(set, sizeof set, "integrator.tableau=%s", tableau);
    *min = INFINITY, *max = -INFINITY;
    BrioStatus status = brio__scene_integrator(integrator, sets, 1, &def, NULL);
    if (status == BRIO_OK) status = brio__oscillator_create(&def, 1, &o, NULL);
    for (double Y = 1e-6; Y < 1.001 * end && status == BRIO_OK; Y *= 1.002) {
        status = brio__oscillator_measure(o, Y, 0, 1, &a, NULL);
        *min = fmin(*min, a.trace), *max = brio__larger(*max, a.trace);
    }
    brio__oscillator_free(o);
    return status == BRIO_OK ? a.trace : NAN;
}

/* Sec. 4.2: the coupled pair of SDIRK2 has a trace without bound, which grows with h^2 k/m. */
static void pairs(Report *r)
{
    double min, max;
    report_section(r, "trace of the coupled, symplectic pair (Sec. 4.2)");
    double near = traces("partitioned", "sdirk2", 1e4, &min, &max);
    double far = traces("partitioned", "sdirk2", 1e8, &min, &max);
    report_number(r, NAN, near, "pair over SDIRK2 at h^2 k/m = 1e4");
    report_bound(r, fabs(far / near), 1e3, INFINITY,
                 "at 1e8, over that at 1e4: grows without bound");
    double euler = traces("partitioned", "backward-euler", 1e4, &min, &max);
    report_value(r, 2 - 1e4, euler, 30, "pair over backward Euler at 1e4: symplectic Euler, 2 - Y");
    traces("decoupled", "backward-euler", 1e8, &min, &max);
    report_bound(r, min, 1, 2, "decoupled over backward Euler (A-1), up to 1e8: least");
    report_bound(r, max, 1, 2, "  largest");
}

/* The decoupled method over BDF2 on an oscillator with h^2 k/m = Y: positions by backward,
 * velocities by forward differentiation, both from two steps. The characteristic polynomial of its
 * matrix on (u, v, u-, v-), with u = sqrt(k/m) x [Faddeev and LeVerrier]. */
static void two_step_polynomial(double Y, double c[5])
{
    const double w = sqrt(Y), d = 2.25 + Y;
    const double A[4][4] = {
        {3 / d, 2 * w / d, -0.75 / d, -w / (2 * d)}, {0, 4, 2 * w, -3}, {1, 0, 0, 0}, {0, 1, 0, 0}};
    double B[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    c[0] = 1;
    for (int k = 1; k <= 4; k++) {
        double AB[4][4] = {{0}}, trace = 0;
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                for (int l = 0; l < 4; l++) AB[i][j] += A[i][l] * B[l][j];
        for (int i = 0; i < 4; i++) trace += AB[i][i];
        c[k] = -trace / k;
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) B[i][j] = AB[i][j] + (i == j ? c[k] : 0);
    }
}

static void two_steps(Report *r)
{
    double worst = 0, c[5], at_three, at_one;
    report_section(r, "decoupled BDF2 (matrix by hand: brio does not have the method)");
    for (double Y = 1e-6; Y < 1e6; Y *= 1.1) {
        two_step_polynomial(Y, c);
        double size = fabs(c[1]) + fabs(c[2]);
        worst = brio__larger(worst, brio__larger(fabs(c[4] - 1), fabs(c[3] - c[1]) / size));
    }
    report_bound(r, worst, 0, 1e-13,
                 "\"linearly symplectic\": coefficients read alike from both ends, to");
    two_step_polynomial(0, c);
    at_three = (((3 + c[1]) * 3 + c[2]) * 3 + c[3]) * 3 + c[4];
    at_one = 1 + c[1] + c[2] + c[3] + c[4];
    report_value(r, 0, at_three, 1e-12, "\"not zero stable\": polynomial for h = 0 at the root 3");
    report_value(r, 0, at_one, 1e-12, "  at the root 1");
}

static void second_order(Report *r)
{
    double min, max;
    report_section(r, "trace of the step's matrix for h^2 k/m from 1e-6 to 1e12");
    double last = traces("decoupled", "sdirk2", 1e12, &min, &max);
    report_value(r, -sqrt(2) - 0.5, last, 1e-3, "sdirk2, gamma = 1 - 1/sqrt 2: limit");
    report_value(r, -2.16, min, 0.005, "  least");
    last = traces("decoupled", "sdirk2-wide", 1e12, &min, &max);
    report_bound(r, min, -2, 2, "sdirk2-wide, gamma = 1 + 1/sqrt 2: least");
    report_bound(r, max, -2, 2, "  largest: stable at every step (the paper: there is none)");
    report_value(r, sqrt(2) - 0.5, last, 1e-3, "  limit, sqrt 2 - 1/2 by our derivation");
    pairs(r);
    two_steps(r);
    report_section(r, "table 2 with sdirk2-wide: final speed less A-1's at the same step, m/s");
    for (int c = 0; c < 3; c++)
        for (int h = 0; h < 3; h++) {
            char what[64];
            snprintf(what, sizeof what, "%s bar, h = 1/%g s", you2026_stiffness[c],
                     you2026_inverse_h[h]);
            Bounce b = bounce(r, you2026_wave_speed[c], 1 / you2026_inverse_h[h],
                              "{type: decoupled, tableau: sdirk2-wide}", what);
            report_bound(r, b.speed - you2026_table2_values[c][h][1], -0.03, 0.03,
                         "%s (A-1 %.3f, at 1/30000 %.3f)", what, you2026_table2_values[c][h][1],
                         you2026_table2_values[c][3][1]);
        }
}

REPRODUCTION(you2026_appendix_d){
    .name = "you2026-appendix-d",
    .paper = "You2026",
    .summary = "appendix D: a decoupled method of second order that is stable at every step; BDF2",
    .about = "The paper says that no decoupled method over a stiffly accurate tableau of two "
             "stages and order two is stable at every step. SDIRK2 with the larger root of "
             "gamma^2 - 2 gamma + 1/2 is one; docs/decoupled.md has the derivation and the family.",
    .chosen = "the bound of 0.03 m/s between the bar's speeds and A-1's",
    .minutes = 0.5,
    .run = second_order,
};
