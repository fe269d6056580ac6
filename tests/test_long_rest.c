/* Shipped scenes under decay come to rest and stay where they are: what lies or hangs neither
 * trembles nor creeps. Coarser than they ship, and with targets that decay to below any rest, so
 * that alpha ends at 0. Every accepted state is judged by exact predicates on the way.
 *
 *     test_long_rest [SCENE]
 *
 * Two things go on by nature: the die on ice (mu = 0) slides, and a ball that has left the stairs
 * rolls (nothing in the model resists rolling), so that a box takes the ball's place. TOLERANCE for
 * the last second: 0.1 mm; friction holds what lies on a slope only at a speed, so that for what is
 * heaped up (splash) epsv is lowered from 1 mm/s to 0.01 mm/s; the ball in the net, which has no
 * friction, may still sway by 0.5 mm. How it falls into the net is chaotic, and so is the moment
 * when its swing begins to die out; then the amplitude falls to 0.4 in each second. It gets 9 s:
 * after 7 s it swayed by 0.3 to 0.8 mm, depending on the last digits of the build.
 *
 * The heavy ball on the cubes of splash rocks on them about its place of rest, at 1 Hz, by half a
 * millimetre after three seconds. Nothing but the integrator damps that: backward Euler takes
 * h omega^2 = 0.33 of the energy of such a swing in a second. So there creep and swing are told
 * apart. Creep is how the mean place changes in a second. Means are taken over T = 2 s with the
 * weights 1 + cos(2 pi t/T), in which swings of frequency 2/T and more all but vanish (2.7 % at
 * most, none at 2/T); slower ones count as creep. TOLERANCE: 0.1 mm as for the others. And the
 * swing must die out as backward Euler's do: of the largest kinetic energy of a second at most
 * exp(-h (4 pi/T)^2) = 0.72 is left in the next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "contact/exact.h"
#include "scene/scene.h"
#include "sim/sim.h"

static const char *only; /* scene, from the command line */

typedef struct Case {
    const char *scene;
    double seconds, max; /* m in the last second */
    const char *slides;  /* a body that may move on, or NULL */
    bool swings;         /* about a place of rest: creep is what counts */
    const char *sets[12];
} Case;

static const Case cases[] = {
    {"dice",
     4,
     1e-4,
     "die0",
     false,
     {"integrator.decay=0.5", "integrator.ground=0", "bodies.0.shape.cells=2",
      "bodies.1.shape.cells=2", "bodies.2.shape.cells=2", "bodies.3.shape.cells=2",
      "bodies.4.shape.cells=2", "bodies.5.shape.cells=2", "bodies.6.shape.cells=2",
      "bodies.7.shape.cells=2"}},
    {"stairs",
     5,
     1e-4,
     NULL,
     false,
     {"integrator.decay=0.5", "integrator.ground=0",
      "bodies.0.shape={type: box, size: [0.2, 0.15, 0.18], cells: [4, 3, 4]}"}},
    {"splash",
     6,
     1e-4,
     NULL,
     true,
     {"contact.epsv=1e-5", "integrator.decay=0.3", "integrator.ground=0", "bodies.0.shape.cells=4",
      "bodies.1.array.count=[10,1,10]", "bodies.1.shape.cells=[1,1,1]"}},
    {"chain-net", 9, 5e-4, NULL, false, {"integrator.decay=0.3", "integrator.ground=-100"}},
};

/* Where everything was a second before the end, and is: at an instant, or in the mean. */
typedef struct Places {
    double *then, *now, *x;
    int64_t count;
    double weight[2];
    double lively[2]; /* J: the largest kinetic energy in the second before the last, and in it */
} Places;

/* The state `left` seconds before the end. */
static void look(Places *p, const Case *c, BrioSim *sim, double left)
{
    static const double window = 2; /* s */
    const double pi = acos(-1);
    brio__system_positions(sim->system, sim->state, sim->state->q, sim->state->time, p->x);
    for (int k = 0; k < 2; k++) {
        double *sum = k ? p->now : p->then, since = left - (c->swings ? window / 2 : 0) - (1 - k);
        double weight = fabs(since) < sim->h / 2;
        if (c->swings) weight = fabs(since) < window / 2 ? 1 + cos(2 * pi * since / window) : 0;
        for (int64_t i = 0; i < p->count && weight > 0; i++) sum[i] += weight * p->x[i];
        p->weight[k] += weight;
    }
    if (left > 2 - sim->h / 2) return;
    BrioLedger now;
    assert_int_equal(brio_sim_ledger(sim, &now), BRIO_OK);
    int last = left < 1 - sim->h / 2;
    p->lively[last] = brio__larger(p->lively[last], now.kinetic);
}

/* The largest way of a vertex, without the body that slides; `slid`: that of this one. */
static double largest_way(const Places *p, const Case *c, const BrioSystem *system,
                          const char **who, double *slid)
{
    double worst = 0;
    for (int b = 0; b < system->body_count; b++)
        for (int64_t v = system->body[b].first; v < system->body[b].first + system->body[b].count;
             v++) {
            double way[3];
            for (int r = 0; r < 3; r++)
                way[r] = p->now[3 * v + r] / p->weight[1] - p->then[3 * v + r] / p->weight[0];
            double length = hypot(hypot(way[0], way[1]), way[2]);
            if (c->slides && !strcmp(system->body[b].name, c->slides))
                *slid = brio__larger(*slid, length);
            else if (length > worst)
                worst = length, *who = system->body[b].name;
        }
    return worst;
}

static BrioSim *load(const Case *c)
{
    BrioScene *scene = NULL;
    BrioSim *sim = NULL;
    BrioError error = {0};
    int sets = 0;
    while (sets < (int)BRIO_COUNT(c->sets) && c->sets[sets]) sets++;
    BrioStatus status = brio__scene_load(c->scene, c->sets, sets, &scene, &error);
    if (status == BRIO_OK) status = brio__scene_sim(scene, &sim, &error);
    brio__scene_free(scene);
    if (status != BRIO_OK) fail_msg("%s", error.message);
    return sim;
}

static void rests(void **state)
{
    const Case *c = *state;
    if (only && strcmp(only, c->scene)) skip();
    BrioSim *sim = load(c);
    BrioExactWatch watch = {0};
    const BrioSystem *system = sim->system;
    assert_int_equal(brio__exact_create(system, &watch.exact), BRIO_OK);
    sim->stepper->observe = brio__exact_watch;
    sim->stepper->observer = &watch;
    BrioLedger first;
    assert_int_equal(brio_sim_ledger(sim, &first), BRIO_OK);
    Places places = {.count = 3 * system->vertex_count};
    double *room = calloc(3 * (size_t)places.count, sizeof *room);
    assert_non_null(room);
    places.then = room, places.now = room + places.count, places.x = room + 2 * places.count;
    int steps = (int)lround(c->seconds / sim->h);
    for (int k = 0; k < steps; k++) {
        if (brio_sim_step(sim, NULL) != BRIO_OK)
            fail_msg("%s, step %d: %s", c->scene, k + 1, brio_sim_reason(sim));
        brio__exact_watch(&watch, sim->state);
        look(&places, c, sim, (steps - k - 1) * sim->h);
    }
    double slid = 0;
    const char *who = "";
    double worst = largest_way(&places, c, system, &who, &slid);
    print_message("%s, %d bodies, %g s: in the last second nothing %s more than %.4f mm (%s)%s; "
                  "kinetic energy up to %.1e J, %.1e J the second before, of %.3g J at first; %lld "
                  "states, %lld intersections\n",
                  c->scene, system->body_count, c->seconds, c->swings ? "crept" : "moved",
                  1e3 * worst, who, c->slides ? ", what slides on ice aside" : "", places.lively[1],
                  places.lively[0], first.total, (long long)watch.states,
                  (long long)watch.intersections);
    if (c->slides) print_message("%s slid %.3f m\n", c->slides, slid);
    assert_true(worst < c->max);
    if (c->swings) assert_true(places.lively[1] < 0.72 * places.lively[0]);
    assert_true(!watch.intersections && !watch.inverted && !watch.behind && !watch.not_finite);
    free(room);
    brio__exact_free(watch.exact);
    brio_sim_free(sim);
}

int main(int argc, char **argv)
{
    if (argc > 1) only = argv[1];
    struct CMUnitTest tests[BRIO_COUNT(cases)];
    for (size_t k = 0; k < BRIO_COUNT(cases); k++)
        tests[k] = (struct CMUnitTest){cases[k].scene, rests, NULL, NULL, (void *)&cases[k]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
