/* Plates that scripts move against a ball, at any speed and step: what test_push.c and
 * test_long_push.c run and judge. One plate pushes the ball away; two close on it until half of its
 * height is left. Include after cmocka. */
#ifndef BRIO_TEST_PLATES_H
#define BRIO_TEST_PLATES_H

#include "contact/exact.h"
#include "scene/scene.h"

#include <string.h>

static const double plate_radius = 0.1, plate_gap = 0.005; /* m: of the ball, and to each plate */

typedef struct Plates {
    int count;    /* 1 or 2 */
    double speed; /* m/s, of each */
    double h, E;
    const char *integrator;
} Plates;

typedef struct Pushed {
    char reason[900]; /* why it ended; empty: it did not */
    BrioExactWatch watch;
    int64_t steps, iterations;
    int halvings;          /* the deepest */
    double low, high;      /* of the ball at the end */
    double aside;          /* how far its nearest vertex is from the plates' axis */
    double plate;          /* where the lower plate's face is then */
    double speed, nearest; /* of the ball's centre of mass, the largest; the smallest distance */
} Pushed;

static int plates_text(const Plates *p, char *text, size_t size)
{
    double way = plate_gap + (p->count == 2 ? plate_radius / 2 : 0), arrive = way / p->speed;
    double end = arrive + (p->count == 2 ? 3 * p->h : fmax(0.03, 4 * p->h));
    int used = snprintf(text, size,
                        "time: {h: %.17g, end: %.17g}\ngravity: [0, 0, 0]\nintegrator: %s\n"
                        "contact: {type: ipc}\nbodies:\n  - {name: ball, shape: {type: ball, "
                        "radius: %g, cells: 2}, material: {type: neo-hookean, E: %g, nu: 0.3, rho: "
                        "1000}}\nobstacles:\n",
                        p->h, p->count == 1 ? fmin(end, 60 * p->h + arrive) : end, p->integrator,
                        plate_radius, p->E);
    for (int i = 0; i < p->count; i++) {
        double side = i ? 1 : -1;
        char until[64] = "";
        if (p->count == 2) snprintf(until, sizeof until, ", end: %.17g", arrive);
        used += snprintf(text + used, size - (size_t)used,
                         "  - {name: plate%d, type: box, size: [1, 0.1, 1], cells: [1, 1, 1], "
                         "transform: {translate: [0, %.17g, 0]}, script: {velocity: [0, %.17g, "
                         "0]%s}}\n",
                         i, side * (plate_radius + plate_gap + 0.05), -side * p->speed, until);
    }
    return used;
}

static void plates_measure(BrioSim *sim, const Plates *p, Pushed *pushed)
{
    const BrioBody *ball = &sim->system->body[0];
    double x[3 * 512];
    BrioLedger ledger;
    assert_true(ball->count <= 512);
    assert_int_equal(brio_sim_ledger(sim, &ledger), BRIO_OK);
    brio_sim_positions(sim, 0, x);
    pushed->low = INFINITY;
    pushed->high = -INFINITY;
    pushed->aside = INFINITY;
    for (int64_t v = 0; v < ball->count; v++) {
        pushed->low = fmin(pushed->low, x[3 * v + 1]);
        pushed->high = brio__larger(pushed->high, x[3 * v + 1]);
        pushed->aside = fmin(pushed->aside, fmax(fabs(x[3 * v]), fabs(x[3 * v + 2])));
    }
    double mass = 0;
    for (int64_t v = ball->first; v < ball->first + ball->count; v++)
        mass += sim->system->vertex_mass[v];
    double way = brio_sim_time(sim) * p->speed;
    if (p->count == 2) way = fmin(way, plate_gap + plate_radius / 2);
    pushed->plate = way - plate_radius - plate_gap;
    pushed->speed = brio__larger(pushed->speed, fabs(ledger.momentum[1]) / mass);
    pushed->nearest = fmin(pushed->nearest, ledger.min_distance);
}

static void plates_run(const Plates *p, Pushed *pushed)
{
    char text[2048];
    BrioScene *scene = NULL;
    BrioSim *sim = NULL;
    BrioError error = {0};
    *pushed = (Pushed){.nearest = NAN};
    BrioExactWatch *w = &pushed->watch;
    int length = plates_text(p, text, sizeof text);
    assert_true(length < (int)sizeof text);
    BrioStatus status = brio__scene_parse(text, (size_t)length, "plates", &scene, &error);
    if (status == BRIO_OK) status = brio__scene_sim(scene, &sim, &error);
    if (status == BRIO_OK) status = brio__exact_create(sim->system, &w->exact);
    if (status != BRIO_OK) fail_msg("%s\n%s", error.message, text);
    sim->stepper->observe = brio__exact_watch;
    sim->stepper->observer = w;
    brio__exact_watch(w, sim->state);
    int64_t all = (int64_t)ceil(scene->end / p->h - 1e-6);
    for (int64_t n = 0; n < all && !pushed->reason[0]; n++) {
        status = brio_sim_step(sim, NULL);
        pushed->iterations += sim->stepper->iterations;
        pushed->halvings = BRIO_MAX(pushed->halvings, sim->stepper->halvings);
        if (status != BRIO_OK) {
            snprintf(pushed->reason, sizeof pushed->reason, "step %lld: %s", (long long)n + 1,
                     brio_sim_reason(sim));
            break;
        }
        pushed->steps++;
        brio__exact_watch(w, sim->state);
        plates_measure(sim, p, pushed);
        if (w->intersections || w->inverted || w->not_finite)
            snprintf(pushed->reason, sizeof pushed->reason, "t = %.6g s: %s", w->time, w->reason);
    }
    brio__exact_free(w->exact);
    w->exact = NULL;
    brio_sim_free(sim);
    brio__scene_free(scene);
}

/* Runs, prints a row, and says whether the ball is where it must be: in front of the plate that
 * pushes it and never faster than two and a half times that plate (an elastic blow gives twice its
 * speed); between the two that press it, unless it has slipped out from between them, since there
 * is no friction. */
static bool plates_pass(const Plates *p, Pushed *pushed)
{
    plates_run(p, pushed);
    bool ahead = pushed->low > pushed->plate && (p->count == 1 || pushed->high < -pushed->plate);
    if (p->count == 2) ahead |= pushed->aside > 0.5 - 2 * plate_radius;
    bool sane = p->count == 2 || pushed->speed <= 2.5 * p->speed;
    bool pass = !pushed->reason[0] && pushed->steps > 0 && ahead && sane;
    print_message("%d %6g %8.0f %7.0e %-15s %5lld %7.1f %4d %9.2e %9.3g  %s%s%s\n", p->count,
                  p->speed, 1 / p->h, p->E, p->integrator, (long long)pushed->steps,
                  (double)pushed->iterations / (double)BRIO_MAX(pushed->steps, 1), pushed->halvings,
                  pushed->nearest, pushed->speed, pass ? "passes" : pushed->reason,
                  !pushed->reason[0] && !ahead ? " behind" : "",
                  !pushed->reason[0] && !sane ? " too fast" : "");
    return pass;
}

static void plates_head(void)
{
    print_message("plates  m/s      1/h       E integrator      steps it/step halved nearest "
                  "fastest\n");
}

#endif
