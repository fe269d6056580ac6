/* Whether a run has exploded: more energy than all causes of the scene can give.
 *
 * The motion energy is W = kinetic + potential without gravity (elastic, contact, attachments).
 * For the exact motion the books say, at any time,
 *
 *     W(t) = W(0) + A(t) - D(t) + R(t),
 *
 * A the work of scripts, hands and other causes from outside (`added`), D >= 0 what damping and
 * friction took, R the energy of gravity that was released since the start. So W never exceeds
 *
 *     B(t) = |W(0)| + |A| + R+ + M g d + M g^2 h^2/2 + 2 M u^2 + Y(u h) + T+
 *            + M tol^2 (n + 1)/2 + Y(h tol),
 *
 * with what a method may get wrong for a good reason: the order of a fall through the size d of the
 * scene or during a step h; what a script of speed u does within a step, where neither end of the
 * step shows the force: a light body leaves a moving wall at 2 u, elements are stretched by u h; T,
 * what the integrator aims at above the books (a-search: energy_scale, ground); and n solves that
 * each leave an error of tol. Y(w) is the elastic energy when all edges grow by the factor 1 + w/e,
 * e the shortest edge of a body, and that of attachments pulled by w. The run has exploded if W is
 * more than BRIO_EXPLOSION times B: ten times the speed that anything in the scene explains. An
 * unstable method passes any such bound, for its error grows by a factor per step; a stable one
 * does not come near.
 *
 * A itself is force times way, and may be as absurd as the forces of an explosion are. It counts up
 * to what was dissipated and ten times what scripts can do, M g l + 2 M u^2 + Y(e + l), l being the
 * way of the scripted vertex that goes farthest.
 *
 * Methods that end a step before it is solved (local-global), that solve a linear step
 * (linearly-implicit-euler stretches what turns, and takes it back in the next step) or that ignore
 * forces (pbd-verlet) leave stretch that no energy has paid for: of these only the kinetic energy
 * is judged. */
#ifndef BRIO_EXPLOSION_H
#define BRIO_EXPLOSION_H

#include "../output/json.h"
#include "../scene/scene.h"

#define BRIO_EXPLOSION 100

typedef struct BrioExplosion {
    double first;            /* J: total energy of the initial state, */
    double initial, gravity; /* |W(0)|, and the energy of gravity then */
    double mass, weight;     /* kg; M g in N */
    double extent, edge;     /* m: of the scene; the shortest of bodies */
    double by_run, by_step;  /* J: Y of the way of scripts, and of that in a step */
    double by_tol;           /* J: Y of what a solve may leave */
    double script_speed, script_way;
    double fall; /* m/s: g h */
    double tol;  /* m/s */
    bool kinetic_only;
    /* once it has exploded */
    bool exploded;
    double energy, budget; /* J: W and B */
    int64_t step, sane_step;
    double time, sane_time;
} BrioExplosion;

/* Of a simulation in its initial state, which `end` seconds are to follow. All processes call
 * these. */
BrioStatus brio__explosion_begin(BrioExplosion *explosion, BrioSim *sim, double end);
/* Whether the state has exploded whose ledger has just been made; `text` then says what, when, what
 * the last sane state was and what to do. */
bool brio__explosion_judge(BrioExplosion *explosion, BrioSim *sim, const BrioLedger *ledger,
                           char *text, size_t size);
void brio__explosion_json(BrioJson *json, const BrioExplosion *explosion);

#endif
