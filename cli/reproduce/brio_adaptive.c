/* Automatic steps compared with fixed ones: error against work on eleven scenes, and what predicts
 * the error of a step of A-search (docs/adaptive.md, docs/results.md). Not of a paper: brio's
 * own.
 */
#include "reproduce.h"

#include "internal.h"

#include <string.h>
#include <time.h>

typedef struct Trial {
    const char *name;
    const char *integrator, *reference;
    const char *scene; /* YAML behind `time` and `integrator` */
    double seconds;
    double fps;
    int coarse, fine;   /* fixed steps are 1/(fps 2^k) s, k from one to the other */
    int reference_fine; /* and that of the reference */
    double tol;         /* the largest tolerance; each of the following is a fourth */
    bool event;         /* something hits something: held to twice the efficiency */
} Trial;

enum { TOLERANCES = 5, MAX_POINTS = 16 };

static const Trial trials[] = {
    {.name = "a cube falls flat on a plane",
     .integrator = "bdf2",
     .reference = "bdf2",
     .scene = "contact: {type: ipc, dhat: 5e-3, kappa: 1e5}\n"
              "damping: [{type: rayleigh, alpha: 0, beta: 0.002}]\n"
              "bodies:\n"
              "  - shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}\n"
              "    material: {type: neo-hookean, E: 3e5, nu: 0.3, rho: 1000}\n"
              "    transform: {translate: [0, 0.65, 0]}\n"
              "obstacles: [{type: plane, point: [0, 0, 0], normal: [0, 1, 0]}]\n",
     .seconds = 1,
     .fps = 25,
     .coarse = 2,
     .fine = 8,
     .reference_fine = 11,
     .tol = 1e-3,
     .event = true},
    {.name = "a cube falls on its edge",
     .integrator = "bdf2",
     .reference = "bdf2",
     .scene = "contact: {type: ipc, dhat: 5e-3, kappa: 1e5}\n"
              "damping: [{type: rayleigh, alpha: 0, beta: 0.002}]\n"
              "bodies:\n"
              "  - shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}\n"
              "    material: {type: neo-hookean, E: 3e5, nu: 0.3, rho: 1000}\n"
              "    transform: {translate: [0, 0.65, 0], rotate: [[0, 0, 1], 20]}\n"
              "obstacles: [{type: plane, point: [0, 0, 0], normal: [0, 1, 0]}]\n",
     .seconds = 0.6,
     .fps = 25,
     .coarse = 2,
     .fine = 8,
     .reference_fine = 11,
     .tol = 1e-3,
     .event = true},
    {.name = "two cubes hit each other",
     .integrator = "bdf2",
     .reference = "bdf2",
     .scene = "gravity: [0, 0, 0]\n"
              "contact: {type: ipc, dhat: 5e-3, kappa: 1e5}\n"
              "damping: [{type: rayleigh, alpha: 0, beta: 0.002}]\n"
              "materials:\n"
              "  rubber: {type: neo-hookean, E: 3e5, nu: 0.3, rho: 1000}\n"
              "bodies:\n"
              "  - shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}\n"
              "    material: rubber\n"
              "    velocity: {linear: [1, 0, 0]}\n"
              "  - shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}\n"
              "    material: rubber\n"
              "    transform: {translate: [0.6, 0.03, 0.02]}\n",
     .seconds = 1,
     .fps = 25,
     .coarse = 2,
     .fine = 8,
     .reference_fine = 11,
     .tol = 1e-3,
     .event = true},
    {.name = "a bar flies against a wall (penalty)",
     .integrator = "bdf2",
     .reference = "bdf2",
     .scene = "gravity: [0, 0, 0]\n"
              "contact: {type: penalty, dhat: 2e-3, kappa: 1e5}\n"
              "bodies:\n"
              "  - shape: {type: box, size: [0.2, 0.05, 0.05], cells: [4, 1, 1]}\n"
              "    material: {type: corotated, E: 1e6, nu: 0.3, rho: 1000}\n"
              "    transform: {translate: [0.8, 0, 0]}\n"
              "    velocity: {linear: [-1, 0, 0]}\n"
              "obstacles: [{type: plane, point: [0, 0, 0], normal: [1, 0, 0]}]\n",
     .seconds = 1.2,
     .fps = 25,
     .coarse = 2,
     .fine = 8,
     .reference_fine = 11,
     .tol = 1e-3,
     .event = true},
    {.name = "backward Euler: a cube falls, lands, lies",
     .integrator = "backward-euler",
     .reference = "bdf2",
     .scene = "contact: {type: ipc, dhat: 2e-3, kappa: 1e5}\n"
              "damping: [{type: rayleigh, alpha: 0, beta: 0.002}]\n"
              "bodies:\n"
              "  - shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}\n"
              "    material: {type: neo-hookean, E: 1e5, nu: 0.3, rho: 1000}\n"
              "    transform: {translate: [0, 0.3, 0]}\n"
              "obstacles: [{type: plane, point: [0, 0, 0], normal: [0, 1, 0]}]\n",
     .seconds = 2,
     .fps = 25,
     .coarse = 1,
     .fine = 7,
     .reference_fine = 11,
     .tol = 2e-3,
     .event = true},
    {.name = "A-search: two cubes hit each other",
     .integrator = "a-search",
     .reference = "bdf2",
     .scene = "gravity: [0, 0, 0]\n"
              "contact: {type: ipc, dhat: 5e-3, kappa: 1e5}\n"
              "damping: [{type: rayleigh, alpha: 0, beta: 0.002}]\n"
              "materials:\n"
              "  rubber: {type: neo-hookean, E: 3e5, nu: 0.3, rho: 1000}\n"
              "bodies:\n"
              "  - shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}\n"
              "    material: rubber\n"
              "    velocity: {linear: [1, 0, 0]}\n"
              "  - shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}\n"
              "    material: rubber\n"
              "    transform: {translate: [0.6, 0.03, 0.02]}\n",
     .seconds = 1,
     .fps = 25,
     .coarse = 2,
     .fine = 8,
     .reference_fine = 11,
     .tol = 2e-3,
     .event = true},
    {.name = "a bar is let go and comes to rest",
     .integrator = "bdf2",
     .reference = "bdf2",
     .scene = "damping: [{type: rayleigh, alpha: 4, beta: 0.002}]\n"
              "bodies:\n"
              "  - shape: {type: box, size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}\n"
              "    material: {type: corotated, E: 2e5, nu: 0.3, rho: 1000}\n"
              "    fix: [{box: [[-0.21, -1, -1], [-0.19, 1, 1]]}]\n",
     .seconds = 3,
     .fps = 10,
     .coarse = 1,
     .fine = 7,
     .reference_fine = 10,
     .tol = 2e-3},
    {.name = "a bar that is jerked once",
     .integrator = "bdf2",
     .reference = "bdf2",
     .scene = "gravity: [0, 0, 0]\n"
              "damping: [{type: rayleigh, alpha: 2, beta: 0.003}]\n"
              "bodies:\n"
              "  - shape: {type: box, size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}\n"
              "    material: {type: corotated, E: 5e5, nu: 0.3, rho: 1000}\n"
              "    fix:\n"
              "      - box: [[-0.21, -1, -1], [-0.19, 1, 1]]\n"
              "        script: {poses: [{t: 0}, {t: 1}, {t: 1.05, translate: [0, 0.05, 0]}]}\n",
     .seconds = 3,
     .fps = 10,
     .coarse = 2,
     .fine = 8,
     .reference_fine = 11,
     .tol = 1e-3},
    {.name = "a pendulum of springs swings",
     .integrator = "bdf2",
     .reference = "bdf2",
     .scene = "bodies:\n"
              "  - kind: springs\n"
              "    shape: {type: line, length: 1, cells: 4}\n"
              "    material: {type: hooke, k: 500, vertex_mass: 0.1}\n"
              "    fix: [{vertices: [0]}]\n",
     .seconds = 1,
     .fps = 10,
     .coarse = 2,
     .fine = 8,
     .reference_fine = 11,
     .tol = 1e-3},
    {.name = "trapezoidal rule: a bar swings",
     .integrator = "trapezoidal",
     .reference = "trapezoidal",
     .scene = "bodies:\n"
              "  - shape: {type: box, size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}\n"
              "    material: {type: corotated, E: 5e4, nu: 0.3, rho: 1000}\n"
              "    fix: [{box: [[-0.21, -1, -1], [-0.19, 1, 1]]}]\n",
     .seconds = 1,
     .fps = 10,
     .coarse = 2,
     .fine = 7,
     .reference_fine = 10,
     .tol = 1e-3},
    {.name = "TR-BDF2: a spinning cube comes to rest",
     .integrator = "tr-bdf2",
     .reference = "tr-bdf2",
     .scene = "gravity: [0, 0, 0]\n"
              "damping: [{type: rayleigh, alpha: 3, beta: 0.001}]\n"
              "bodies:\n"
              "  - shape: {type: box, size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}\n"
              "    material: {type: corotated, E: 5e4, nu: 0.3, rho: 1000}\n"
              "    velocity: {angular: [0, 0, 10]}\n",
     .seconds = 2,
     .fps = 10,
     .coarse = 2,
     .fine = 7,
     .reference_fine = 9,
     .tol = 1e-4},
};

/* ---- runs ----------------------------------------------------------------------------------- */

/* Positions of all vertices at all frames. */
typedef struct Film {
    int64_t frames, numbers; /* numbers of a frame */
    double *x;
    double iterations, solves, seconds; /* work: Newton iterations, minimisations, CPU time */
    int64_t steps, rejected;
    bool whole;
} Film;

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void take_frame(BrioSim *sim, Film *film, int64_t frame)
{
    double *x = film->x + frame * film->numbers;
    for (int b = 0; b < sim->system->body_count; b++) {
        brio_sim_positions(sim, b, x);
        x += 3 * sim->system->body[b].count;
    }
}

static Film run_scene(Report *r, const Trial *t, const char *integrator, const char *time)
{
    Film film = {0};
    BrioSim *sim = report_scene(r, "time: {%s, fps: %g}\nintegrator: %s\nsolver: {tol: 1e-7}\n%s",
                                time, t->fps, integrator, t->scene);
    if (!sim) return film;
    for (int b = 0; b < sim->system->body_count; b++)
        film.numbers += 3 * sim->system->body[b].count;
    film.frames = (int64_t)lround(t->seconds * t->fps);
    film.x = brio__alloc((size_t)(film.frames * film.numbers), sizeof *film.x);
    film.whole = film.x;
    double start = cpu_seconds();
    for (int64_t k = 0; film.whole && k < film.frames; k++) {
        while (film.whole && brio_sim_time(sim) * t->fps < (double)(k + 1) - 1e-6) {
            film.whole = brio_sim_step(sim, NULL) == BRIO_OK;
            film.rejected += brio_sim_steps(sim).rejected;
            film.steps++;
        }
        if (film.whole) take_frame(sim, &film, k);
        report_progress(r, (double)k / (double)film.frames, "%s: %s", t->name, time);
    }
    film.seconds = cpu_seconds() - start;
    film.iterations = (double)sim->stepper->solver->totals.iterations;
    film.solves = (double)sim->stepper->solver->totals.minimisations;
    brio_sim_free(sim);
    return film;
}

static double distance(const Film *film, const Film *reference)
{
    double sum = 0;
    int64_t count = film->frames * film->numbers;
    if (!film->whole || !reference->whole) return NAN;
    for (int64_t i = 0; i < count; i++)
        sum += (film->x[i] - reference->x[i]) * (film->x[i] - reference->x[i]);
    return sqrt(3 * sum / (double)count);
}

/* ---- error against work --------------------------------------------------------------------- */

typedef struct Point {
    double error, iterations, seconds;
} Point;

/* The work of fixed steps for an error, between two of them, as powers; NAN outside of them. */
static double work_for(const Point *fixed, int count, double error, size_t what)
{
    double best = NAN;
    for (int i = 0; i + 1 < count; i++) {
        double e[2] = {fixed[i].error, fixed[i + 1].error}, w[2];
        if (!((e[0] >= error && error >= e[1]) || (e[1] >= error && error >= e[0]))) continue;
        for (int k = 0; k < 2; k++) memcpy(&w[k], (const char *)&fixed[i + k] + what, sizeof w[k]);
        double part = e[0] == e[1] ? 0 : log(error / e[0]) / log(e[1] / e[0]);
        double work = w[0] * pow(w[1] / w[0], part);
        best = isnan(best) ? work : fmin(best, work);
    }
    return best;
}

static Point measure(Report *r, const Trial *t, const Film *reference, const char *time, FILE *file)
{
    Film film = run_scene(r, t, t->integrator, time);
    Point p = {distance(&film, reference), film.iterations, film.seconds};
    report_number(r, NAN, p.error, "%s: %lld steps + %lld, %g iterations, %.2f s", time,
                  (long long)film.steps, (long long)film.rejected, film.iterations, film.seconds);
    if (file)
        fprintf(file, "\"%s\",%s,\"%s\",%.6g,%lld,%lld,%g,%g,%.4g\n", t->name, t->integrator, time,
                p.error, (long long)film.steps, (long long)film.rejected, film.solves,
                film.iterations, film.seconds);
    brio__free(film.x);
    return p;
}

/* The geometric mean, over the tolerances, of how much more work fixed steps are for the same
 * error; in Newton iterations. NAN: their errors do not overlap. */
static double run_trial(Report *r, const Trial *t, FILE *file)
{
    char time[64];
    Point fixed[MAX_POINTS], chosen[TOLERANCES];
    int count = 0, compared = 0;
    double gain = 0, faster = 0;
    snprintf(time, sizeof time, "h: %.17g", exp2(-t->reference_fine) / t->fps);
    Film reference = run_scene(r, t, t->reference, time);
    report_section(r, "%s (%s, %g s): error in m; fixed steps, then automatic ones", t->name,
                   t->integrator, t->seconds);
    for (int k = t->coarse; k <= t->fine; k++) {
        snprintf(time, sizeof time, "h: 1/%g", t->fps * exp2(k));
        fixed[count++] = measure(r, t, &reference, time, file);
    }
    for (int k = 0; k < TOLERANCES; k++) {
        snprintf(time, sizeof time, "h: auto, tol: %.3g", t->tol * pow(4, -k));
        chosen[k] = measure(r, t, &reference, time, file);
        double work = work_for(fixed, count, chosen[k].error, offsetof(Point, iterations));
        double clock = work_for(fixed, count, chosen[k].error, offsetof(Point, seconds));
        if (isnan(work)) continue;
        gain += log(work / chosen[k].iterations);
        faster += log(clock / chosen[k].seconds);
        compared++;
    }
    brio__free(reference.x);
    if (!compared) {
        report_fact(r, false, "%s: errors of fixed and automatic steps overlap", t->name);
        return NAN;
    }
    gain = exp(gain / compared);
    report_number(r, NAN, exp(faster / compared), "CPU time of fixed steps over automatic ones");
    report_bound(r, gain, t->event ? 2 : 1, INFINITY,
                 "work of the best fixed step over that of automatic ones, same error, %d "
                 "tolerances",
                 compared);
    return gain;
}

/* ---- what tells the error of A-search ------------------------------------------------------- */

enum { BY_VELOCITY, BY_ALPHA, BY_CORRECTION, BY_ENERGY, BY_HALVES, ESTIMATES, STEPS = 60 };
static const char *const estimate_names[ESTIMATES] = {
    "h/2 |v' - v|", "|1 - alpha|", "h |v' - (q' - q)/h|", "h sqrt(2 |T(v') - T((q' - q)/h)|/m)",
    "two halves"};

/* Ranks of values, ties in their order. */
static void rank(const double *value, double *place)
{
    for (int i = 0; i < STEPS; i++) {
        place[i] = 0;
        for (int j = 0; j < STEPS; j++)
            place[i] += value[j] < value[i] || (value[j] == value[i] && j < i);
    }
}

/* Spearman's correlation of ranks. */
static double correlation(const double *a, const double *b)
{
    double x[STEPS], y[STEPS], sum = 0;
    rank(a, x);
    rank(b, y);
    for (int i = 0; i < STEPS; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
    return 1 - 6 * sum / (STEPS * ((double)STEPS * STEPS - 1));
}

static double largest(int64_t n, const double *a, const double *b)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) most = brio__larger(most, fabs(a[i] - b[i]));
    return most;
}

/* From the state of `from`, `count` steps to h. */
static bool follow(BrioSim *sim, const BrioState *from, double h, int count)
{
    brio_state_assign(sim->state, from);
    for (int k = 0; k < count; k++)
        if (brio_sim_step_by(sim, h / count, NULL) != BRIO_OK) return false;
    return true;
}

/* One step of h by A-search and what estimates its error; `truth` is that. */
static bool look(BrioSim *sim, BrioSim *halves, BrioSim *fine, BrioState *before, double h,
                 double estimate[ESTIMATES], double *truth)
{
    BrioState *now = sim->state;
    int64_t n = now->coordinates;
    double way = 0, energy = 0, mass = 0;
    brio_state_assign(before, now);
    if (!follow(fine, before, h, 64) || !follow(halves, before, h, 2) ||
        brio_sim_step_by(sim, h, NULL) != BRIO_OK)
        return false;
    double *w = brio_stepper_scratch(sim->stepper, 0), *p = brio_stepper_scratch(sim->stepper, 1);
    brio_stepper_combine(sim->stepper, 1 / h, now->q, -1 / h, before->q, w);
    for (int64_t i = 0; i < n; i++) way = brio__larger(way, fabs(now->v[i] - w[i]));
    energy =
        fabs(brio_stepper_kinetic(sim->stepper, now->v) - brio_stepper_kinetic(sim->stepper, w));
    for (int64_t i = 0; i < n; i++) w[i] = 1;
    brio_stepper_mass_multiply(sim->stepper, w, p);
    for (int64_t i = 0; i < n; i++) mass += p[i] / 3;
    estimate[BY_VELOCITY] = h / 2 * largest(n, now->v, before->v);
    estimate[BY_ALPHA] = fabs(1 - now->alpha);
    estimate[BY_CORRECTION] = h * way;
    estimate[BY_ENERGY] = h * sqrt(2 * energy / mass);
    estimate[BY_HALVES] = largest(n, now->q, halves->state->q);
    *truth = largest(n, now->q, fine->state->q);
    return true;
}

static BrioSim *make_bar(Report *r, const char *integrator, const char *scene)
{
    return report_scene(r, "integrator: %s\nsolver: {tol: 1e-9}\n%s", integrator, scene);
}

/* Over steps of lengths that go up and down between 1/30 and 1/300 s: which of them is large where
 * the error is large? */
static void which_estimate(Report *r, const char *name, const char *scene)
{
    BrioSim *sim = make_bar(r, "a-search", scene), *halves = make_bar(r, "a-search", scene);
    BrioSim *fine = make_bar(r, "{type: tr-bdf2}", scene);
    BrioState *before = NULL;
    double value[ESTIMATES][STEPS], truth[STEPS], e[ESTIMATES], ratio[ESTIMATES] = {0};
    bool all = sim && halves && fine && brio_state_copy(sim->state, &before, NULL) == BRIO_OK;
    for (int k = 0; all && k < STEPS; k++) {
        double h = 1.0 / 30 * pow(10, -0.5 + 0.5 * cos(0.7 * k));
        all = look(sim, halves, fine, before, h, e, &truth[k]);
        for (int i = 0; all && i < ESTIMATES; i++) {
            value[i][k] = e[i];
            ratio[i] += log(fmax(e[i], 1e-300) / truth[k]) / STEPS;
        }
    }
    report_section(r, "A-search, %s: rank correlation of an estimate with the error of a step",
                   name);
    for (int i = 0; all && i < ESTIMATES; i++)
        report_number(r, NAN, correlation(value[i], truth), "%s (%.2g times it)", estimate_names[i],
                      exp(ratio[i]));
    report_fact(r, all, "all steps were taken");
    if (all)
        report_bound(r, correlation(value[BY_VELOCITY], truth),
                     fmax(correlation(value[BY_ALPHA], truth), 0.5), 1,
                     "the change of velocity tells more than alpha");
    brio_state_free(before);
    brio_sim_free(sim);
    brio_sim_free(halves);
    brio_sim_free(fine);
}

/* ---- all ------------------------------------------------------------------------------------ */

static void run(Report *r)
{
    FILE *file = report_file(r, "brio-adaptive.csv");
    int better = 0, twice = 0;
    if (file) fprintf(file, "scene,integrator,time,error,steps,rejected,solves,iterations,cpu\n");
    for (size_t i = 0; i < BRIO_COUNT(trials); i++) {
        double gain = run_trial(r, &trials[i], file);
        better += gain >= 1;
        twice += trials[i].event && gain >= 2;
    }
    report_section(r, "all eleven");
    report_bound(r, better, 8, INFINITY, "scenes on which automatic steps are at least as good");
    report_bound(r, twice, 4, INFINITY, "scenes with events on which they are twice as good");
    which_estimate(r, "a bar swings",
                   "bodies:\n"
                   "  - shape: {type: box, size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}\n"
                   "    material: {type: corotated, E: 5e4, nu: 0.3, rho: 1000}\n"
                   "    fix: [{box: [[-0.21, -1, -1], [-0.19, 1, 1]]}]\n");
    which_estimate(r, "a cube turns freely",
                   "gravity: [0, 0, 0]\n"
                   "bodies:\n"
                   "  - shape: {type: box, size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}\n"
                   "    material: {type: corotated, E: 5e4, nu: 0.3, rho: 1000}\n"
                   "    velocity: {angular: [3, 5, 10]}\n");
    report_close(r, file);
}

REPRODUCTION(brio_adaptive){
    .name = "brio-adaptive",
    .paper = "Brio2026",
    .summary = "automatic steps compared with fixed ones: error against work on eleven scenes",
    .about = "The error is the root mean square, over frames and vertices, of the distance from "
             "a reference of the same method in short steps. Work is counted in Newton "
             "iterations, those of rejected steps included; fixed steps are interpolated to the "
             "same error. The last part: what tells the error of a step of A-search.",
    .minutes = 0.4,
    .run = run,
};
