/* Shipped scenes under decay come to rest and stay where they are: what lies or hangs neither
 * trembles nor creeps. Coarser than they ship, and with targets that decay to below any rest, so
 * that alpha ends at 0. Every accepted state is judged by exact predicates on the way.
 *
 * Two things go on by nature: the die on ice (mu = 0) slides, and a ball that has left the stairs
 * rolls (nothing in the model resists rolling), so that a box takes the ball's place. TOLERANCE for
 * the last second: 0.1 mm; friction holds what lies on a slope only at a speed, so that for what is
 * heaped up (splash) epsv is lowered from 1 mm/s to 0.01 mm/s; the ball in the net, which has no
 * friction, may still sway by 0.5 mm. */
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

typedef struct Case {
    const char *scene;
    double seconds, max; /* m in the last second */
    const char *slides;  /* a body that may move on, or NULL */
    const char *sets[12];
} Case;

static const Case cases[] = {
    {"dice",
     4,
     1e-4,
     "die0",
     {"integrator.decay=0.5", "integrator.ground=0", "bodies.0.shape.cells=2",
      "bodies.1.shape.cells=2", "bodies.2.shape.cells=2", "bodies.3.shape.cells=2",
      "bodies.4.shape.cells=2", "bodies.5.shape.cells=2", "bodies.6.shape.cells=2",
      "bodies.7.shape.cells=2"}},
    {"stairs",
     5,
     1e-4,
     NULL,
     {"integrator.decay=0.5", "integrator.ground=0",
      "bodies.0.shape={type: box, size: [0.2, 0.15, 0.18], cells: [4, 3, 4]}"}},
    {"splash",
     4,
     1e-4,
     NULL,
     {"contact.epsv=1e-5", "integrator.decay=0.3", "integrator.ground=0", "bodies.0.shape.cells=4",
      "bodies.1.array.count=[10,1,10]", "bodies.1.shape.cells=[1,1,1]"}},
    {"chain-net", 7, 5e-4, NULL, {"integrator.decay=0.3", "integrator.ground=-100"}},
};

static void rests(void **state)
{
    const Case *c = *state;
    BrioScene *scene = NULL;
    BrioSim *sim = NULL;
    BrioError error = {0};
    BrioExactWatch watch = {0};
    int sets = 0;
    while (sets < (int)BRIO_COUNT(c->sets) && c->sets[sets]) sets++;
    BrioStatus status = brio__scene_load(c->scene, c->sets, sets, &scene, &error);
    if (status == BRIO_OK) status = brio__scene_sim(scene, &sim, &error);
    brio__scene_free(scene);
    if (status != BRIO_OK) fail_msg("%s", error.message);
    const BrioSystem *system = sim->system;
    assert_int_equal(brio__exact_create(system, &watch.exact), BRIO_OK);
    sim->stepper->observe = brio__exact_watch;
    sim->stepper->observer = &watch;
    BrioLedger first, last;
    assert_int_equal(brio_sim_ledger(sim, &first), BRIO_OK);
    double *then = calloc(3 * (size_t)system->vertex_count, sizeof *then);
    double *now = calloc(3 * (size_t)system->vertex_count, sizeof *now);
    assert_true(then && now);
    int steps = (int)lround(c->seconds / sim->h), back = (int)lround(1 / sim->h);
    for (int k = 0; k < steps; k++) {
        if (k == steps - back)
            brio__system_positions(system, sim->state, sim->state->q, sim->state->time, then);
        if (brio_sim_step(sim, NULL) != BRIO_OK)
            fail_msg("%s, step %d: %s", c->scene, k + 1, brio_sim_reason(sim));
        brio__exact_watch(&watch, sim->state);
    }
    assert_int_equal(brio_sim_ledger(sim, &last), BRIO_OK);
    brio__system_positions(system, sim->state, sim->state->q, sim->state->time, now);
    double worst = 0, slid = 0;
    const char *who = "";
    for (int b = 0; b < system->body_count; b++)
        for (int64_t v = system->body[b].first; v < system->body[b].first + system->body[b].count;
             v++) {
            double way = hypot(hypot(now[3 * v] - then[3 * v], now[3 * v + 1] - then[3 * v + 1]),
                               now[3 * v + 2] - then[3 * v + 2]);
            if (c->slides && !strcmp(system->body[b].name, c->slides))
                slid = fmax(slid, way);
            else if (way > worst)
                worst = way, who = system->body[b].name;
        }
    print_message("%s, %d bodies, %g s: in the last second nothing moved more than %.4f mm (%s)%s; "
                  "kinetic energy %.1e J of %.3g J at first; %lld states, %lld intersections\n",
                  c->scene, system->body_count, c->seconds, 1e3 * worst, who,
                  c->slides ? ", what slides on ice aside" : "", last.kinetic, first.total,
                  (long long)watch.states, (long long)watch.intersections);
    if (c->slides) print_message("%s slid %.3f m\n", c->slides, slid);
    assert_true(worst < c->max);
    assert_true(!watch.intersections && !watch.inverted && !watch.behind && !watch.not_finite);
    free(then);
    free(now);
    brio__exact_free(watch.exact);
    brio_sim_free(sim);
}

int main(void)
{
    struct CMUnitTest tests[BRIO_COUNT(cases)];
    for (size_t k = 0; k < BRIO_COUNT(cases); k++)
        tests[k] = (struct CMUnitTest){cases[k].scene, rests, NULL, NULL, (void *)&cases[k]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
