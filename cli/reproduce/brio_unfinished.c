/* Solves that end early (docs/results.md): a step of k iterations is a finished step of other
 * stiffnesses, A-1 with the forces that acted is stable on these, and with gradients at the end it
 * is not. By formula on one vertex, by the matrix of a step on a net, and by long runs. Not of a
 * paper: brio's own. */
#include "brio_trials.h"

#include <complex.h>
#include <string.h>

static const double STIFFNESS = 1000; /* N/m, of each spring; vertices have 1 kg */
static const double SMALL = 1e-7;     /* m: forces are linear to about this, relatively */

/* ---- A-1 with gradients instead of the forces that acted --------------------------------- */

static BrioStatus gradient_step(BrioStepper *s, double h)
{
    BRIO_CHECK(trial_euler(s, h));
    double *w = brio_stepper_scratch(s, TRIAL_W), *p = brio_stepper_scratch(s, TRIAL_P);
    brio_stepper_mass_solve(s, p, p);
    brio_stepper_combine(s, 1, w, -1, p, w);
    return brio_stepper_accept(s, h, brio_stepper_scratch(s, TRIAL_Q), w);
}

static const BrioIntegrator by_gradients = {
    .name = "a-1-by-gradients",
    .summary = "A-1 whose momenta take the gradients at both ends, as if solves were finished.",
    .citation = "You2026",
    .order = 1,
    .traits = BRIO_IMPLICIT,
    .step = gradient_step,
};

/* ---- nets ------------------------------------------------------------------------------- */

enum { CELLS = 5, SIDE = CELLS + 1, VERTICES = SIDE * SIDE, EDGES = 4 * SIDE * SIDE };
enum { FREE = (CELLS - 1) * (CELLS - 1), N = 3 * FREE };

/* Where iterations end, and of what. */
typedef struct Way {
    const char *name, *integrator, *solver;
    bool passes; /* the integrator counts them, not the solver */
    double stretch;
} Way;

typedef struct Net {
    double x[3 * VERTICES], spring[2 * EDGES];
    int32_t edge[2 * EDGES], fixed[VERTICES];
    int vertices, edges, fixed_count;
} Net;

static void add_edge(Net *net, int a, int b, double stretch)
{
    double square = 0;
    for (int c = 0; c < 3; c++)
        square += (net->x[3 * a + c] - net->x[3 * b + c]) * (net->x[3 * a + c] - net->x[3 * b + c]);
    net->edge[2 * net->edges] = a;
    net->edge[2 * net->edges + 1] = b;
    net->spring[2 * net->edges] = STIFFNESS;
    net->spring[2 * net->edges + 1] = sqrt(square) / stretch;
    net->edges++;
}

/* A square of 1 m with diagonals, fixed along its sides. */
static void make_square(Net *net, double stretch)
{
    *net = (Net){.vertices = VERTICES};
    for (int v = 0; v < VERTICES; v++) {
        int i = v / SIDE, j = v % SIDE;
        net->x[3 * v] = (double)i / CELLS;
        net->x[3 * v + 2] = (double)j / CELLS;
        if (i == 0 || j == 0 || i == CELLS || j == CELLS) net->fixed[net->fixed_count++] = v;
    }
    for (int v = 0; v < VERTICES; v++) {
        int i = v / SIDE, j = v % SIDE;
        if (j < CELLS) add_edge(net, v, v + 1, stretch);
        if (i < CELLS) add_edge(net, v, v + SIDE, stretch);
        if (i < CELLS && j < CELLS) add_edge(net, v, v + SIDE + 1, stretch);
        if (i < CELLS && j < CELLS) add_edge(net, v + 1, v + SIDE, stretch);
    }
}

/* A vertex between two fixed ones. */
static void make_line(Net *net, double stretch)
{
    *net = (Net){.vertices = 3, .fixed = {0, 2}, .fixed_count = 2};
    for (int v = 0; v < 3; v++) net->x[3 * v] = v / 2.;
    add_edge(net, 0, 1, stretch);
    add_edge(net, 1, 2, stretch);
}

static BrioStatus build(const Net *net, BrioSystem **system, BrioState **state, BrioError *error)
{
    const BrioMesh mesh = {.vertex_count = net->vertices,
                           .edge_count = net->edges,
                           .x = (double *)net->x,
                           .edge = (int32_t *)net->edge};
    BrioBodyDef body = brio_default_body();
    BrioBuilder *builder;
    body.name = "net";
    body.mesh = &mesh;
    body.spring = net->spring;
    BRIO_CHECK(brio_default_material("hooke", &body.material, error));
    BRIO_CHECK(brio_material_set(&body.material, "vertex_mass", 1, error));
    BRIO_CHECK(brio_builder_create(&builder, error));
    BrioStatus status = brio_builder_body(builder, &body, NULL, error);
    if (status == BRIO_OK)
        status = brio_builder_fix(builder, 0, net->fixed, net->fixed_count, NULL, error);
    if (status == BRIO_OK) brio_builder_gravity(builder, (double[3]){0});
    if (status == BRIO_OK) status = brio_builder_finish(builder, system, state, error);
    brio_builder_free(builder);
    return status;
}

static BrioSim *make(Report *r, const Net *net, const Way *way, int iterations, double h)
{
    BrioSystem *system = NULL;
    BrioState *state = NULL;
    BrioSim *sim = NULL;
    BrioError error = {0};
    BrioSimDef def = brio_default_sim(way->integrator);
    def.h = h;
    def.solver.type = way->solver;
    def.solver.iterations = iterations;
    def.solver.max_halvings = 0;
    if (way->passes) {
        const BrioField *fields = brio_integrator(way->integrator)->fields;
        brio_fields_set(fields, def.values, "substeps", &(double){1}, NULL);
        brio_fields_set(fields, def.values, "iterations", &(double){iterations}, NULL);
    }
    BrioStatus status = build(net, &system, &state, &error);
    if (status == BRIO_OK) status = brio_sim_create(system, state, &def, &sim, &error);
    if (status == BRIO_OK) return sim;
    report_fact(r, false, "the net cannot be made: %s", brio_status_text(status));
    return NULL;
}

/* ---- one vertex ------------------------------------------------------------------------- */

/* Across two springs the stiffness is K = 2k (1 - 1/stretch), and local/global has L = 2k. */
enum { ACROSS = 1 }; /* the coordinate */

/* Where (x, v) goes. */
static bool respond(Report *r, const char *integrator, int k, double h, int steps, double x,
                    double v, double out[2])
{
    static Net net;
    const Way way = {integrator, integrator, "local-global", false, 2};
    make_line(&net, way.stretch);
    BrioSim *sim = make(r, &net, &way, k, h);
    if (!sim) return false;
    sim->state->q[ACROSS] = SMALL * x;
    sim->state->v[ACROSS] = SMALL * v;
    bool fine = true;
    for (int i = 0; i < steps; i++) fine = fine && brio_sim_step(sim, NULL) == BRIO_OK;
    out[0] = sim->state->q[ACROSS] / SMALL;
    out[1] = sim->state->v[ACROSS] / SMALL;
    brio_sim_free(sim);
    return fine;
}

/* The largest H_n/H_m of all steps after the first (whose force at the start is a gradient), and
 * the bound on it: the condition number of the form that a step keeps, in (w x, v). */
static bool largest_growth(Report *r, int k, double h, double *growth)
{
    static Net net;
    const Way way = {"a-1", "a-1", "local-global", false, 2};
    double low = INFINITY;
    make_line(&net, way.stretch);
    BrioSim *sim = make(r, &net, &way, k, h);
    if (!sim) return false;
    sim->state->q[ACROSS] = SMALL;
    *growth = 0;
    bool fine = true;
    for (int i = 0; i < 3000 && fine; i++) {
        fine = brio_sim_step(sim, NULL) == BRIO_OK;
        double x = sim->state->q[ACROSS], v = sim->state->v[ACROSS];
        double energy = STIFFNESS * x * x / 2 + v * v / 2;
        low = fmin(low, energy);
        *growth = brio__larger(*growth, energy / low);
    }
    brio_sim_free(sim);
    return fine;
}

static double condition(double z2, double soft2)
{
    double a = soft2 / z2 * (1 + soft2), b = -soft2 / (2 * sqrt(z2)), d = 1;
    double mean = (a + d) / 2, half = sqrt((a - d) * (a - d) / 4 + b * b);
    return (mean + half) / (mean - half);
}

static void one_vertex(Report *r)
{
    static const double steps[] = {0.03, 0.1, 1};
    static const int counts[] = {1, 2, 3, 10};
    if (!report_part(r, "one vertex between stretched springs, local/global: formula and engine"))
        return;
    for (size_t i = 0; i < BRIO_COUNT(steps); i++) {
        double h = steps[i], z2 = h * h * STIFFNESS, all = h * h * 2 * STIFFNESS, far = 0, det = 0;
        double other = 0, grown = 0;
        for (size_t m = 0; m < BRIO_COUNT(counts); m++) {
            double left = pow(1 - (1 + z2) / (1 + all), counts[m]), x[2], v[2], gx[2], gv[2], most;
            double ratio = (1 + left * z2) / (1 + z2), soft2 = 1 / ratio - 1;
            /* no force acts before the first step from x = 0: then v' = v, v'' = s v */
            if (!respond(r, "a-1", counts[m], h, 2, 0, 1, v) ||
                !respond(r, "backward-euler", counts[m], h, 1, 1, 0, x) ||
                !respond(r, by_gradients.name, counts[m], h, 1, 1, 0, gx) ||
                !respond(r, by_gradients.name, counts[m], h, 1, 0, 1, gv) ||
                !largest_growth(r, counts[m], h, &most))
                return report_fact(r, false, "a step failed");
            far = brio__larger(far, fabs(x[0] / ratio - 1));
            det = brio__larger(det, fabs(v[1] / ratio - 1));
            det = brio__larger(det, fabs(v[0] / (h * ratio * (1 + ratio)) - 1));
            double area = gx[0] * gv[1] - gv[0] * gx[1];
            other = brio__larger(other, fabs(area / (1 + left * z2) - 1));
            grown = brio__larger(grown, most / condition(z2, soft2));
            report_number(r, 1 + left * z2, area,
                          "h = %g s, %d iterations: determinant with gradients", h, counts[m]);
        }
        report_bound(r, far, 0, 1e-6, "h = %g s: positions, relative distance from (U1)", h);
        report_bound(r, det, 0, 1e-6, "h = %g s: two steps of A-1, relative distance from (U1)", h);
        report_bound(r, other, 0, 1e-6, "h = %g s: determinant with gradients, from (U3)", h);
        /* forces are linear to SMALL^2 over the length of a spring, a millionth in 3000 steps */
        report_bound(r, grown, 0.2, 1 + 1e-6, "h = %g s: largest growth in 3000 steps over (U2)",
                     h);
    }
}

/* ---- the matrix of a net ---------------------------------------------------------------- */

/* q' = S h v from rest: its columns. */
static bool measure(Report *r, const Way *way, int iterations, double h, double *S)
{
    static Net net;
    make_square(&net, way->stretch);
    BrioSim *sim = make(r, &net, way, iterations, h);
    BrioState *first = NULL;
    if (!sim) return false;
    bool fine =
        sim->state->coordinates == N && brio_state_copy(sim->state, &first, NULL) == BRIO_OK;
    for (int c = 0; c < N && fine; c++) {
        memcpy(sim->state->q, first->q, sizeof *S * N);
        memset(sim->state->v, 0, sizeof *S * N);
        brio__state_forget(sim->state);
        sim->state->v[c] = SMALL / h;
        fine = fine && brio_sim_step(sim, NULL) == BRIO_OK;
        for (int i = 0; i < N; i++) S[i * N + c] = (sim->state->q[i] - first->q[i]) / SMALL;
    }
    brio_state_free(first);
    brio_sim_free(sim);
    return fine;
}

/* The largest |mu| of mu^2 - 2 half mu + det = 0. */
static double radius_of(double complex half, double complex det)
{
    double complex root = csqrt(half * half - det);
    return brio__larger(cabs(half + root), cabs(half - root));
}

/* Only the rows and columns of x and z; returns how many there are. */
static int keep_plane(double *S)
{
    int n = 0;
    for (int i = 0; i < N; i++)
        for (int c = 0; c < N; c++)
            if (i % 3 != ACROSS && c % 3 != ACROSS) S[n++] = S[i * N + c];
    return 2 * FREE;
}

/* How much a small motion under A-1 and vertex block descent grows per step, if that is expected to
 * be `radius`: as long as it takes to grow 1e7 times. */
static double measured_growth(Report *r, int iterations, double h, double radius)
{
    static const Way way = {"A-1", "a-1", "vbd", false, 1.5};
    static Net net;
    int quarter = (int)ceil(log(1e7) / log(radius) / 4);
    double most[4] = {0};
    make_square(&net, way.stretch);
    BrioSim *sim = make(r, &net, &way, iterations, h);
    if (!sim) return NAN;
    for (int i = 0; i < N; i++) sim->state->v[i] = 1e-10 * sin(1 + i * i);
    for (int k = 0; k < 4 * quarter; k++) {
        if (brio_sim_step(sim, NULL) != BRIO_OK) break;
        for (int i = 0; i < N; i++)
            most[k / quarter] = brio__larger(most[k / quarter], fabs(sim->state->v[i]));
    }
    brio_sim_free(sim);
    return pow(most[3] / most[2], 1. / quarter);
}

static void net_matrix(Report *r)
{
    static const Way ways[] = {
        {"local/global", "backward-euler", "local-global", false, 1.5},
        {"vertex block descent", "backward-euler", "vbd", false, 1.5},
        {"XPBD, springs at rest, in their plane", "xpbd", "newton", true, 1},
    };
    static const int counts[] = {1, 2, 5, 10};
    static const double h = 0.1;
    static double S[N * N], re[N], im[N];
    if (!report_part(r, "a net of 16 vertices, 48 eigenvalues of S; radius of A-1 by them")) return;
    for (size_t i = 0; i < BRIO_COUNT(ways); i++)
        for (size_t m = 0; m < BRIO_COUNT(counts); m++) {
            double low = INFINITY, high = -INFINITY, side = 0, radius = 0, own = 0;
            int n = N;
            if (!measure(r, &ways[i], counts[m], h, S))
                return report_fact(r, false, "%s: a step failed", ways[i].name);
            if (ways[i].passes) n = keep_plane(S); /* nothing holds it across */
            if (brio__eigenvalues(n, S, re, im) != BRIO_OK)
                return report_fact(r, false, "%s: no eigenvalues", ways[i].name);
            for (int k = 0; k < n; k++) {
                low = fmin(low, re[k]);
                high = brio__larger(high, re[k]);
                side = brio__larger(side, fabs(im[k]));
                radius = brio__larger(radius, radius_of((1 + re[k] + im[k] * I) / 2, 1));
                own = brio__larger(own, radius_of(re[k] + im[k] * I, re[k] + im[k] * I));
            }
            report_number(r, NAN, radius, "%s, %d: real %.3f to %.3f, imaginary to %.4f",
                          ways[i].name, counts[m], low, high, side);
            /* a pair of eigenvalues that are nearly one has an error of the root of that of S */
            if (ways[i].passes)
                report_bound(r, own, 0, 1, "%s, %d: its own velocities do not grow", ways[i].name,
                             counts[m]);
            /* modes of almost this growth beat with it */
            if (i == 1 && radius > 1.001)
                report_value(r, radius, measured_growth(r, counts[m], h, radius), (radius - 1) / 10,
                             "%s, %d: growth of A-1 per step, by S and by a run", ways[i].name,
                             counts[m]);
            if (i == 0)
                report_bound(r, radius, 1, 1 + 2e-3, "%s, %d: A-1 does not grow", ways[i].name,
                             counts[m]);
        }
}

/* ---- long runs -------------------------------------------------------------------------- */

/* What a run did with the energy above that of rest: the largest over the first; and the largest of
 * the second half of the run over that of the first half. INFINITY: it exploded. */
typedef struct Growth {
    double most, later;
} Growth;

static Growth run_net(Report *r, const Way *way, int iterations, double size)
{
    enum { STEPS = 2000 };
    static Net net;
    BrioLedger rest, now;
    double half[2] = {0, 0};
    make_square(&net, way->stretch);
    BrioSim *sim = make(r, &net, way, iterations, 0.1);
    if (!sim) return (Growth){NAN, NAN};
    brio_sim_ledger(sim, &rest);
    uint32_t random = 1;
    for (int i = 0; i < N; i++) {
        random = random * 1664525u + 1013904223u;
        sim->state->q[i] += 2 * size * ((double)random / 4294967296. - 0.5);
    }
    brio_sim_ledger(sim, &now);
    double first = now.total - rest.total, limit = 1e6 * first;
    bool fine = true;
    for (int k = 0; k < STEPS && fine; k++) {
        double *most = &half[2 * k / STEPS];
        fine = brio_sim_step(sim, NULL) == BRIO_OK && brio_sim_ledger(sim, &now) == BRIO_OK;
        *most = brio__larger(*most, now.total - rest.total);
        fine = fine && *most < limit;
        report_progress(r, (double)k / STEPS, "%s", way->name);
    }
    brio_sim_free(sim);
    if (!fine) return (Growth){INFINITY, INFINITY};
    return (Growth){brio__larger(half[0], half[1]) / first, half[1] / half[0]};
}

static void long_runs(Report *r, double size)
{
    static const Way ways[] = {
        {"A-1, local/global", "a-1", "local-global", false, 1.5},
        {"A-1, vertex block descent", "a-1", "vbd", false, 1.5},
        {"A-search, local/global", "a-search", "local-global", false, 1.5},
        {"A-search, vertex block descent", "a-search", "vbd", false, 1.5},
        {"A-1 with gradients, local/global", "a-1-by-gradients", "local-global", false, 1.5},
        {"A-1 with gradients, vertex block descent", "a-1-by-gradients", "vbd", false, 1.5},
    };
    static const int counts[] = {1, 2, 4, 10};
    if (!report_part(r, "the net moved by up to %g mm, 2000 steps of 0.1 s: energy over the first",
                     1000 * size))
        return;
    for (size_t i = 0; i < BRIO_COUNT(ways); i++)
        for (size_t m = 0; m < BRIO_COUNT(counts); m++) {
            Growth g = run_net(r, &ways[i], counts[m], size);
            report_number(r, NAN, g.most, "%s, %d iterations: largest", ways[i].name, counts[m]);
            /* half of a run may miss the largest of a motion that does not repeat */
            if (size < 0.01 && i == 0)
                report_bound(r, g.later, 0, 1.1, "%s, %d iterations: second half over first",
                             ways[i].name, counts[m]);
        }
}

static void run(Report *r)
{
    if (!brio_integrator(by_gradients.name)) brio_register_integrator(&by_gradients, NULL);
    one_vertex(r);
    net_matrix(r);
    long_runs(r, 1e-3);
    long_runs(r, 0.1);
}

REPRODUCTION(brio_unfinished){
    .name = "brio-unfinished",
    .paper = "Brio2026",
    .summary = "unfinished solves: steps of k iterations are steps of other stiffnesses",
    .about = "k iterations of a solver that starts where inertia leads make q' = S (q + h v). With "
             "the forces that acted, A-1 does not grow if S has real eigenvalues from -3 to 1; "
             "with gradients at the end it does. Measured on one vertex against the formula, on a "
             "net by the matrix of a step, and in long runs.",
    .minutes = 1,
    .parts = true,
    .run = run,
};
