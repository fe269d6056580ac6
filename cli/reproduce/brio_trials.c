/* Free cubes and other bodies that brio's own results are measured on: how they are made, and the
 * fractions of their energy over a run. */
#include "brio_trials.h"

const Trial free_cubes[FREE_CUBES] = {
    {.name = "free spin, soft: corotated, E = 5e4 Pa, stretched by 20 %, 10 rad/s",
     .body = "corotated, E: 5e4",
     .stretch = 0.2,
     .spin = 10,
     .inverse_h = 30,
     .seconds = 10,
     .reference = "verlet",
     .reference_inverse_h = 6000,
     .free = true},
    {.name = "free spin, stiff: neo-Hookean, E = 1e6 Pa, stretched by 5 %, 15 rad/s",
     .body = "neo-hookean, E: 1e6",
     .stretch = 0.05,
     .spin = 15,
     .inverse_h = 30,
     .seconds = 10,
     .reference = "verlet",
     .reference_inverse_h = 6000,
     .free = true},
    {.name = "free spin, not stretched: corotated, E = 5e4 Pa, 15 rad/s",
     .body = "corotated, E: 5e4",
     .spin = 15,
     .inverse_h = 30,
     .seconds = 10,
     .reference = "verlet",
     .reference_inverse_h = 6000,
     .free = true},
};

/* ---- what a run did --------------------------------------------------------------------- */

/* The kinetic energy of the rigid motion of each body: its momenta are those of the body. */
static double rigid_energy(BrioSim *sim)
{
    const BrioSystem *s = sim->system;
    double energy = 0, *x = sim->world;
    double *v = brio__alloc(3 * (size_t)s->vertex_count, sizeof *v);
    if (!v) abort();
    brio__system_positions(s, sim->state, sim->state->q, sim->state->time, x);
    brio__system_velocities(s, sim->state, sim->state->v, sim->state->time, v);
    for (int b = 0; b < s->body_count; b++) {
        int64_t count, first = brio__body_masses(&s->body[b], &count);
        double mass = 0, centre[3] = {0}, speed[3] = {0}, L[3] = {0}, I[3][3] = {{0}}, w[3];
        for (int64_t i = first; i < first + count; i++) {
            mass += s->vertex_mass[i];
            for (int r = 0; r < 3; r++) {
                centre[r] += s->vertex_mass[i] * x[3 * i + r];
                speed[r] += s->vertex_mass[i] * v[3 * i + r];
            }
        }
        for (int r = 0; r < 3; r++) centre[r] /= mass, speed[r] /= mass;
        for (int64_t i = first; i < first + count; i++) {
            double d[3], m = s->vertex_mass[i];
            for (int r = 0; r < 3; r++) d[r] = x[3 * i + r] - centre[r];
            double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            for (int r = 0; r < 3; r++) {
                int j = (r + 1) % 3, k = (r + 2) % 3;
                L[r] += m * (d[j] * v[3 * i + k] - d[k] * v[3 * i + j]);
                for (int c = 0; c < 3; c++) I[r][c] += m * ((r == c ? square : 0) - d[r] * d[c]);
            }
        }
        brio__solve_inertia(I, L, w);
        for (int r = 0; r < 3; r++) energy += (mass * speed[r] * speed[r] + w[r] * L[r]) / 2;
    }
    brio__free(v);
    return energy;
}

static double change_of(const double now[3], const double first[3])
{
    double sum = 0;
    for (int r = 0; r < 3; r++) sum += (now[r] - first[r]) * (now[r] - first[r]);
    return sqrt(sum);
}

double trial_length(const double a[3]) { return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

Outcome trial_watch(Report *r, BrioSim *sim, double seconds, const char *what)
{
    Outcome o = {.created = true, .finished = true};
    BrioLedger first, now;
    int64_t steps = (int64_t)round(seconds / sim->h), every = BRIO_MAX(steps / 600, 1);
    double sum = 0;
    int64_t late = 0, count = 0;
    brio_sim_ledger(sim, &first);
    double turning = trial_length(first.angular), moving = trial_length(first.momentum);
    for (int64_t k = 1; k <= steps && o.finished; k++) {
        o.finished = brio_sim_step(sim, NULL) == BRIO_OK;
        if (!o.finished || k % every) continue;
        if (brio_sim_ledger(sim, &now) != BRIO_OK) break;
        double rigid = rigid_energy(sim);
        o.rigid += rigid;
        o.vibrating += now.kinetic - rigid;
        o.elastic += now.elastic;
        sum += now.kinetic + now.elastic;
        count++;
        o.lowest = fmin(o.lowest, now.total - first.total);
        o.highest = brio__larger(o.highest, now.total - first.total);
        double off = isnan(now.target) ? 0 : fabs(now.total - now.target);
        o.miss = brio__larger(o.miss, off);
        if (2 * k > steps) {
            o.settled += off;
            late++;
        }
        turning = brio__larger(turning, trial_length(now.angular));
        moving = brio__larger(moving, trial_length(now.momentum));
        o.angular = brio__larger(o.angular, change_of(now.angular, first.angular));
        o.linear = brio__larger(o.linear, change_of(now.momentum, first.momentum));
        o.seconds = now.time;
        report_progress(r, (double)k / (double)steps, "%s", what);
    }
    double scale = fmax(first.kinetic + first.elastic, sum / (double)count);
    o.rigid /= sum, o.vibrating /= sum, o.elastic /= sum;
    o.lowest /= scale, o.highest /= scale, o.miss /= scale;
    o.settled /= scale * (double)late;
    if (turning > 0) o.angular /= turning;
    /* a body that stays where it is has next to none: then its spin over a metre counts */
    if (moving > 0) o.linear /= fmax(moving, turning);
    return o;
}

/* ---- cubes ------------------------------------------------------------------------------ */

static const double axis[3] = {1, 2, 3};

BrioSim *trial_cube(Report *r, const Trial *t, const char *integrator, double inverse_h)
{
    enum { VERTICES = 64 };
    double x[3 * VERTICES], v[3 * VERTICES], size = trial_length(axis);
    BrioSim *sim = report_scene(
        r,
        "time: {h: %.17g}\ngravity: [0, 0, 0]\nintegrator: %s\nsolver: {tol: 1e-9}\nbodies:\n"
        "  - shape: {type: box, size: [0.1, 0.1, 0.1], cells: [3, 3, 3]}\n"
        "    material: {type: %s, nu: 0.3, rho: 1000}\n",
        1 / inverse_h, integrator, t->body);
    if (!sim) return NULL;
    brio_sim_positions(sim, 0, x);
    for (int i = 0; i < VERTICES; i++) x[3 * i] *= 1 + t->stretch;
    for (int i = 0; i < VERTICES; i++)
        for (int c = 0; c < 3; c++) {
            int j = (c + 1) % 3, k = (c + 2) % 3;
            v[3 * i + c] = t->spin / size * (axis[j] * x[3 * i + k] - axis[k] * x[3 * i + j]);
        }
    brio_sim_set_positions(sim, 0, x, NULL);
    brio_sim_set_velocities(sim, 0, v, NULL);
    return sim;
}

/* ---- integrators ------------------------------------------------------------------------ */

BrioStatus trial_euler(BrioStepper *s, double h)
{
    double *q = brio_stepper_scratch(s, TRIAL_Q), *w = brio_stepper_scratch(s, TRIAL_W);
    double *p = brio_stepper_scratch(s, TRIAL_P), *target = brio_stepper_scratch(s, TRIAL_P + 1);
    const double *q_n = brio_stepper_q(s);
    double t = brio_stepper_time(s);
    BrioObjective objective = {.target = target, .s = h * h, .a = 1, .time = t + h, .h = h};
    brio_stepper_combine(s, 1, q_n, h, brio_stepper_v(s), target);
    BRIO_CHECK(brio_stepper_minimise(s, &objective, q));
    brio_stepper_combine(s, 1 / h, q, -1 / h, q_n, w);
    brio_stepper_potential(s, q_n, t, p);
    brio_stepper_potential(s, q, t + h, target);
    brio_stepper_combine(s, h, p, -h, target, p);
    return BRIO_OK;
}
