/* What the pictures of [You2026] show, as numbers: columns of cubes that friction holds together
 * (figure 2), a ball that bounces on a net of chain links (figure 5). Figures 1, 6 and 15 are in
 * you2026_drops.c. */
#include "you2026.h"

#include <string.h>

/* Mean place of a body's vertices. */
static void centre_of(const BrioSim *sim, int body, double centre[3])
{
    int64_t n = brio_body_vertices(brio_sim_system(sim), body);
    double *x = brio__alloc(3 * (size_t)n, sizeof *x);
    if (!x) abort();
    brio_sim_positions(sim, body, x);
    for (int k = 0; k < 3; k++) {
        centre[k] = 0;
        for (int64_t i = 0; i < n; i++) centre[k] += x[3 * i + k] / (double)n;
    }
    brio__free(x);
}

/* ---- figure 2: a column of cubes on a slope ---------------------------------------------- */

enum { CUBES = 2 };
static const double degree = 3.14159265358979323846 / 180, column_time = 0.5, gravity = 9.8;

typedef struct Column {
    bool finished;
    double way;  /* m: of the centre of mass down the slope */
    double base; /* m: of the lowest cube */
    double slip; /* m: largest of a cube over the one below it */
} Column;

/* Cubes of the scene splash on a floor. */
static BrioSim *column(Report *r, const char *integrator, double rate, int count, double mu)
{
    char cubes[2048];
    int size = 0;
    for (int i = 0; i < count; i++)
        size += snprintf(cubes + size, sizeof cubes - (size_t)size,
                         "  - shape: {type: box, size: [0.03, 0.03, 0.03], cells: [2, 2, 2]}\n"
                         "    material: {type: neo-hookean, E: 5e4, nu: 0.45, rho: 1000}\n"
                         "    transform: {translate: [0, %.17g, 0]}\n",
                         0.0154 + 0.0304 * i);
    return report_scene(r,
                        "time: {h: %.17g}\ngravity: [0, -9.8, 0]\nintegrator: %s\nsolver: "
                        "{tol: 0.001}\ncontact: {type: ipc, dhat: 0.5e-3, kappa: 1e5, mu: %g, "
                        "epsv: 1e-3}\nobstacles: [{type: plane, normal: [0, 1, 0]}]\nbodies:\n%s",
                        1 / rate, integrator, mu, cubes);
}

/* A column of `count` cubes that settles on a floor, which then leans by `slope`. */
static Column stand(Report *r, const char *integrator, double rate, int count, double slope,
                    double mu)
{
    Column o = {.way = NAN, .base = NAN, .slip = NAN};
    BrioSim *sim = column(r, integrator, rate, count, mu);
    if (!sim) return o;
    double first[CUBES][3], c[CUBES][3];
    const double leaning[3] = {gravity * sin(slope), -gravity * cos(slope), 0};
    o.finished = brio_sim_settle(sim, NULL) == BRIO_OK &&
                 brio_sim_set_gravity(sim, leaning, NULL) == BRIO_OK;
    for (int i = 0; i < count; i++) centre_of(sim, i, first[i]);
    o.finished =
        o.finished && report_steps(r, sim, lround(column_time * rate), INFINITY, integrator);
    if (!o.finished) report_note(r, "%s ends: %s", integrator, brio_sim_reason(sim));
    o.way = o.slip = 0;
    for (int i = 0; i < count; i++) {
        centre_of(sim, i, c[i]);
        o.way += (c[i][0] - first[i][0]) / count;
        if (i > 0) o.slip = brio__larger(o.slip, fabs(c[i][0] - c[i - 1][0]));
    }
    o.base = c[0][0] - first[0][0];
    brio_sim_free(sim);
    return o;
}

/* Dynamic friction: a cube slides as a rigid block; a column falls over and slides on, as at short
 * steps (backward Euler at 1/4000 s; `reference`, mm). */
static void judge_sliding(Report *r, const char *integrator, const char *name, double reference)
{
    static const struct {
        double degrees, mu;
    } cases[2] = {{20, 0.25}, {10, 0.1}};
    for (int k = 0; k < 2; k++) {
        const double slope = cases[k].degrees * degree, mu = cases[k].mu;
        const double block = 500 * gravity * (sin(slope) - mu * cos(slope)) * pow(column_time, 2);
        Column o = stand(r, integrator, 120, 1, slope, mu);
        report_value(r, block, 1e3 * o.way, 0.05 * block,
                     "%s, mu = %g, %g degrees: way of one cube; a rigid block's, mm", name, mu,
                     cases[k].degrees);
    }
    Column o = stand(r, integrator, 120, CUBES, cases[0].degrees * degree, cases[0].mu);
    report_bound(
        r, 1e3 * o.way, 0.9 * reference, 1.1 * reference,
        "%s, mu = %g, %g degrees: way of the column, which falls over, mm (1/4000 s: %.0f)", name,
        cases[0].mu, cases[0].degrees, reference);
}

static void figure2(Report *r)
{
    static const char *const methods[2] = {"a-search", YOU2026_PRINTED};
    static const char *const name[2] = {"A-search", "as printed"};
    const double mu = 0.25;
    if (!report_part(r, "figure 2: a column of %d cubes on a slope, %g s", CUBES, column_time))
        return;
    report_note(r, "The picture: \"static friction holds columns of cubes together\", \"static and "
                   "dynamic frictional contact\". At rest, and then on a slope of tan 10 = 0.18, "
                   "the paper's friction of 0.25 holds a column. On one of tan 20 = 0.36 it does "
                   "not, and a friction of 0.1 does not on the first.");
    const Column fine = stand(r, "backward-euler", 4000, CUBES, 20 * degree, mu);
    for (int m = 0; m < 2; m++) {
        Column sticks = stand(r, methods[m], 120, CUBES, 10 * degree, mu);
        report_bound(r, 1e3 * sticks.base, -1, 1,
                     "%s, mu = %g, 10 degrees: the lowest cube moves by, mm", name[m], mu);
        report_bound(r, 1e3 * sticks.slip, 0, 1, "%s, mu = %g: slip of neighbours, mm", name[m],
                     mu);
        judge_sliding(r, methods[m], name[m], 1e3 * fine.way);
    }
}

/* ---- figure 5: a ball on a net ----------------------------------------------------------- */

enum { NET = 6, TOPS = 8 }; /* rings along an edge */

/* The scene chain-net with 6 x 6 rings instead of 10 x 10, coarser. */
static BrioSim *net(Report *r, const char *integrator)
{
    static const char ring[] = "{type: torus-surface, major: 0.015, minor: 0.003, segments: 12, "
                               "rings: 1}";
    static const char link[] = "{type: chain-link, length: 0.07, width: 0.03, thickness: 0.006, "
                               "bend: 4, straight: 2, around: 5}";
    const double d = 0.078, half = d * (NET - 1) / 2;
    return report_scene(
        r,
        "time: {h: 1/120}\ngravity: [0, -9.8, 0]\nintegrator: %s\nsolver: {tol: 0.01}\n"
        "contact: {type: ipc, dhat: 1e-3, kappa: 1e5}\nmaterials: {steel: {type: affine, E: 1e8, "
        "rho: 1000}}\nbodies:\n"
        "  - {shape: {type: sphere, radius: 0.075, subdivisions: 3}, material: steel, kind: "
        "affine, transform: {translate: [0.01, 0.3, 0.015]}}\n"
        "  - {shape: %s, material: steel, kind: affine, transform: {translate: [%g, 0, %g]}, "
        "array: {count: [%d, 1, %d], spacing: [%g, 1, %g]}}\n"
        "  - {shape: %s, material: steel, kind: affine, transform: {translate: [%g, 0, %g]}, "
        "array: {count: [%d, 1, 2], spacing: [%g, 1, %g]}, fix: [{box: [[-1, -1, -1], [1, 1, "
        "1]]}]}\n"
        "  - {shape: %s, material: steel, kind: affine, transform: {translate: [%g, 0, %g]}, "
        "array: {count: [2, 1, %d], spacing: [%g, 1, %g]}, fix: [{box: [[-1, -1, -1], [1, 1, "
        "1]]}]}\n"
        "  - {shape: %s, material: steel, kind: affine, transform: {rotate: [[1, 0, 0], 90], "
        "translate: [%g, 0, %g]}, array: {count: [%d, 1, %d], spacing: [%g, 1, %g]}}\n"
        "  - {shape: %s, material: steel, kind: affine, transform: {rotate: [[1, 1, 1], -120], "
        "translate: [%g, 0, %g]}, array: {count: [%d, 1, %d], spacing: [%g, 1, %g]}}\n",
        integrator, ring, d - half, d - half, NET - 2, NET - 2, d, d, /* inner rings */
        ring, -half, -half, NET, d, 2 * half,                         /* border along x */
        ring, -half, d - half, NET - 2, 2 * half, d,                  /* border along z */
        link, d / 2 - half, -half, NET - 1, NET, d, d,                /* links along x */
        link, -half, d / 2 - half, NET, NET - 1, d, d);
}

typedef struct Bounces {
    bool finished;
    int tops;         /* returns of the ball's centre to more than its radius above the net */
    double top[TOPS]; /* m */
    double end, wall; /* s */
    double lowest;    /* m: of the ball's centre */
    /* s and m: when and how far from the net's middle, along x or z, its centre passes the border;
     * NAN: it stays over the net */
    double left, aside;
    int64_t iterations;
} Bounces;

static Bounces bounce(Report *r, const char *integrator, double seconds, const char *what)
{
    const double radius = 0.075, border = 0.078 * (NET - 1) / 2;
    Bounces b = {.finished = true, .lowest = INFINITY, .left = NAN};
    double before = NAN, centre[3], begin = brio__seconds();
    bool rising = false;
    BrioSim *sim = net(r, integrator);
    if (!sim) return (Bounces){0};
    for (int k = 0; k < lround(seconds * 120) && b.finished; k++) {
        b.finished = brio_sim_step(sim, NULL) == BRIO_OK;
        if (!b.finished) break;
        b.iterations += sim->stepper->iterations;
        centre_of(sim, 0, centre);
        if (rising && centre[1] < before && before > radius && b.tops < TOPS)
            b.top[b.tops++] = before;
        rising = centre[1] > before;
        before = centre[1];
        b.lowest = fmin(b.lowest, before);
        double aside = fmax(fabs(centre[0]), fabs(centre[2]));
        b.aside = brio__larger(b.aside, aside);
        if (aside > border && isnan(b.left)) b.left = brio_sim_time(sim);
        report_progress(r, k / (seconds * 120), "net, %s", what);
    }
    b.end = brio_sim_time(sim);
    if (!b.finished) report_note(r, "%s ends at %.3f s: %s", what, b.end, brio_sim_reason(sim));
    brio_sim_free(sim);
    b.wall = brio__seconds() - begin;
    return b;
}

static void figure5(Report *r)
{
    static const Method methods[] = {
        {"A-search", "{type: a-search, energy_scale: 0.95}", 120},
        {"as printed", "{type: a-search, energy_scale: 0.95, flight: false, momentum: false}", 120},
        {"BDF2", "bdf2", 120}};
    Bounces b[3];
    if (!report_part(r, "figure 5: a ball on a net of %d x %d rings, 1.5 s", NET, NET)) return;
    report_note(r, "The picture and Sec. 5.3: \"multiple good ball bounces back above the net in "
                   "roughly the first half\", which is 1.5 s.");
    for (int m = 0; m < 3; m++) {
        b[m] = bounce(r, methods[m].integrator, 1.5, methods[m].name);
        report_number(r, NAN, b[m].tops,
                      "%s: bounces above the net (tops %.3f %.3f %.3f m; %lld iterations, %.0f s)",
                      methods[m].name, b[m].top[0], b[m].top[1], b[m].top[2],
                      (long long)b[m].iterations, b[m].wall);
    }
    for (int m = 0; m < 2; m++) {
        report_fact(r, b[m].finished, "%s: all steps", methods[m].name);
        report_bound(r, b[m].tops, 2, INFINITY, "%s: \"multiple\" bounces", methods[m].name);
        report_bound(r, b[m].lowest, -0.2, INFINITY,
                     "%s: the net holds it: lowest centre, m (%.3f m aside; leaves at %.2f s)",
                     methods[m].name, b[m].aside, b[m].left);
        report_bound(r, b[m].top[0] - b[2].top[0], nextafter(0, 1), INFINITY,
                     "%s: first bounce higher than BDF2's, by, m", methods[m].name);
    }
}

static void pictures(Report *r)
{
    figure2(r);
    figure5(r);
}

REPRODUCTION(you2026_pictures){
    .name = "you2026-pictures",
    .paper = "You2026",
    .summary = "figures 2 and 5: what their pictures show: a column held by friction, a ball on a "
               "net",
    .about = "A column of two cubes of figure 2, and a net of 6 x 6 rings for figure 5 (the scene "
             "chain-net has 10 x 10). Figures 1, 6 and 15 are judged in you2026-fig13, whole "
             "scenes in you2026-table1.",
    .chosen = "the column, its slopes and the friction of 0.1, the net's size; 1 mm for "
              "\"holds\" (IPC's friction creeps by 0.5 mm), 5 % of a block's way, 10 % of the "
              "column's, twice for \"multiple\"",
    .minutes = 0.5,
    .parts = true,
    .run = pictures,
};
