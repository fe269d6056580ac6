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
static const double slope = 10 * 3.14159265358979323846 / 180, column_time = 0.5;

typedef struct Column {
    bool finished;
    double base; /* m: way of the lowest cube down the slope */
    double slip; /* m: largest of a cube over the one below it */
} Column;

/* Cubes of the scene splash on a floor. */
static BrioSim *column(Report *r, const char *integrator, double mu)
{
    char cubes[2048];
    int size = 0;
    for (int i = 0; i < CUBES; i++)
        size += snprintf(cubes + size, sizeof cubes - (size_t)size,
                         "  - shape: {type: box, size: [0.03, 0.03, 0.03], cells: [2, 2, 2]}\n"
                         "    material: {type: neo-hookean, E: 5e4, nu: 0.45, rho: 1000}\n"
                         "    transform: {translate: [0, %.17g, 0]}\n",
                         0.0154 + 0.0304 * i);
    return report_scene(r,
                        "time: {h: 1/120}\ngravity: [0, -9.8, 0]\nintegrator: %s\nsolver: "
                        "{tol: 0.001}\ncontact: {type: ipc, dhat: 0.5e-3, kappa: 1e5, mu: %g, "
                        "epsv: 1e-3}\nobstacles: [{type: plane, normal: [0, 1, 0]}]\nbodies:\n%s",
                        integrator, mu, cubes);
}

static Column stand(Report *r, const char *integrator, double mu)
{
    Column o = {.base = NAN, .slip = NAN};
    BrioSim *sim = column(r, integrator, mu);
    if (!sim) return o;
    double first[CUBES][3], c[CUBES][3];
    const double leaning[3] = {9.8 * sin(slope), -9.8 * cos(slope), 0};
    o.finished = brio_sim_settle(sim, NULL) == BRIO_OK &&
                 brio_sim_set_gravity(sim, leaning, NULL) == BRIO_OK;
    for (int i = 0; i < CUBES; i++) centre_of(sim, i, first[i]);
    o.finished =
        o.finished && report_steps(r, sim, lround(column_time * 120), INFINITY, integrator);
    if (!o.finished) report_note(r, "%s ends: %s", integrator, brio_sim_reason(sim));
    for (int i = 0; i < CUBES; i++) centre_of(sim, i, c[i]);
    o.base = c[0][0] - first[0][0];
    o.slip = 0;
    for (int i = 1; i < CUBES; i++) o.slip = brio__larger(o.slip, fabs(c[i][0] - c[i - 1][0]));
    brio_sim_free(sim);
    return o;
}

static void figure2(Report *r)
{
    static const char *const methods[2] = {"a-search", YOU2026_PRINTED};
    static const char *const name[2] = {"A-search", "as printed"};
    const double mu = 0.25, less = 0.1, t = column_time;
    if (!report_part(r, "figure 2: a column of %d cubes on a slope of 10 degrees, %g s", CUBES, t))
        return;
    report_note(r, "The picture: \"static friction holds columns of cubes together\". At rest, and "
                   "then on a slope "
                   "of tan 10 = 0.18 friction of 0.25 holds a column, and of 0.1 does not.");
    for (int m = 0; m < 2; m++) {
        Column sticks = stand(r, methods[m], mu), sliding = stand(r, methods[m], less);
        report_bound(r, 1e3 * sticks.base, -1.5, 1.5, "%s, mu = 0.25: the lowest cube moves by, mm",
                     name[m]);
        report_bound(r, 1e3 * sticks.slip, 0, 1.5, "%s, mu = 0.25: slip of neighbours, mm",
                     name[m]);
        report_bound(r, 1e3 * sliding.base, 10, INFINITY, "%s, mu = 0.1: it slides, mm (%.0f)",
                     name[m], 500 * 9.8 * (sin(slope) - less * cos(slope)) * t * t);
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
    int64_t iterations;
} Bounces;

static Bounces bounce(Report *r, const char *integrator, double seconds, const char *what)
{
    const double radius = 0.075;
    Bounces b = {.finished = true, .lowest = INFINITY};
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
        report_bound(r, b[m].lowest, -0.2, INFINITY, "%s: the net holds it: lowest centre, m",
                     methods[m].name);
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
    .chosen = "the column and its slope, the net's size; 1.5 mm for \"holds\", twice for "
              "\"multiple\"",
    .minutes = 0.5,
    .parts = true,
    .run = pictures,
};
