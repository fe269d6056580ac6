/* brio bench elements: gradients and projected Hessians per second and core, compared with the
 * limits of the machine (flops, bytes) and with scalar code. */
#include "bench.h"

#include <string.h>

/* ---- elements --------------------------------------------------------------------------- */

extern const BrioEnergy brio__energy_neo_hookean_one_lane, brio__energy_corotated_one_lane;

/* The flops of one element, counted in the source: products, sums, quotients and roots as one each;
 * the Hessians with five sweeps of the eigenvalue iteration. */
typedef struct Kernel {
    const char *material;
    const BrioEnergy *one_lane;
    double gradient_flops, hessian_flops;
    double gradient_goal, hessian_goal; /* millions a second and core */
} Kernel;

static const Kernel kernels[] = {
    {"neo-hookean", &brio__energy_neo_hookean_one_lane, 255, 2150, 40, 3},
    {"corotated", &brio__energy_corotated_one_lane, 430, 2150, 20, 3},
};

typedef struct Bench {
    BrioSim *sim;
    const BrioTerm *term;
    double *gradient, *hessian, *energy, *x, *q_gradient;
    BrioEvaluator *evaluator;
} Bench;

enum { CHUNK = 256 };

/* Seconds for all elements once, the minimum of several rounds. what: 0 gradient, 1 projected
 * Hessian. */
static double time_kernel(const Bench *b, const BrioEnergy *energy, bool one_lane, int what)
{
    double best = INFINITY;
    for (int k = 0; k < TRIES; k++) {
        double before = brio__seconds();
        for (int64_t pack = 0; pack < b->term->packs; pack += CHUNK)
            for (int sub = 0; sub < (one_lane ? LANES : 1); sub++) {
                BrioBatch batch = {.begin = pack,
                                   .end = BRIO_MIN(pack + CHUNK, b->term->packs),
                                   .node = b->term->node + sub,
                                   .rest = b->term->rest + sub,
                                   .params = b->sim->state->param + b->term->params,
                                   .x = b->x,
                                   .project = true};
                batch.energy = what ? NULL : b->energy;
                batch.gradient = what ? NULL : b->gradient + sub;
                batch.hessian = what ? b->hessian + sub : NULL;
                energy->eval(&batch);
            }
        best = fmin(best, brio__seconds() - before);
    }
    return best;
}

static double time_evaluate(const Bench *b)
{
    double best = INFINITY;
    for (int k = 0; k < TRIES; k++) {
        double before = brio__seconds();
        brio__evaluate(b->evaluator, b->sim->state->param, b->x, b->q_gradient, NULL);
        best = fmin(best, brio__seconds() - before);
    }
    return best;
}

static bool start_elements(Bench *b, const char *material, int64_t tets)
{
    *b = (Bench){.sim = bench_bar(material, tets, "pcg", "symplectic-euler")};
    if (!b->sim) return false;
    b->term = &b->sim->system->term[0];
    b->evaluator = brio__potential_elements(b->sim->stepper->potential);
    b->gradient = brio__alloc((size_t)b->term->packs * LANES * 12, sizeof(double));
    b->hessian = brio__alloc((size_t)CHUNK * LANES * 90, sizeof(double));
    b->energy = brio__alloc((size_t)b->term->packs, sizeof(double));
    b->q_gradient = brio__alloc(3 * (size_t)b->sim->system->block_count, sizeof(double));
    b->x = b->sim->positions;
    if (!b->gradient || !b->hessian || !b->energy || !b->q_gradient) return false;
    brio__system_positions(b->sim->system, b->sim->state, b->sim->state->q, 0, b->x);
    memset(b->gradient, 0, (size_t)b->term->packs * LANES * 12 * sizeof(double));
    return true;
}

static void end_elements(Bench *b)
{
    brio_sim_free(b->sim);
    brio__free(b->gradient);
    brio__free(b->hessian);
    brio__free(b->energy);
    brio__free(b->q_gradient);
}

/* What the machine can do: flops a second, bytes per second read and written. */
typedef struct Limits {
    double flops, reading, writing;
} Limits;

/* The kernel of the machine's own instruction set compared with its limits. g, H: seconds for all.
 */
static void compare_limits(const Kernel *kernel, const Bench *b, const Limits *limits, bool large,
                           double g, double H)
{
    char text[160];
    double n = (double)b->term->elements;
    /* read: nodes 16, rest 80, positions 24 per vertex; written: 96 */
    double read_bytes = 16 + 80 + 24.0 * (double)b->sim->system->vertex_count / n;
    double limit = read_bytes / limits->reading + 96 / limits->writing;
    snprintf(text, sizeof text, "  gradient: fraction of the flop limit (%.0f per tet)",
             kernel->gradient_flops);
    figure("elements", text, 100 * kernel->gradient_flops * n / g / limits->flops, "%");
    if (large) {
        snprintf(text, sizeof text,
                 "  gradient: fraction of the bandwidth limit (%.0f B read, 96 B written per tet)",
                 read_bytes);
        figure("elements", text, 100 * limit * n / g, "%");
    }
    snprintf(text, sizeof text, "  Hessian: fraction of the flop limit (about %.0f per tet)",
             kernel->hessian_flops);
    figure("elements", text, 100 * kernel->hessian_flops * n / H / limits->flops, "%");
    figure("elements", "  gradient and sum per vertex", n / time_evaluate(b) * 1e-6, "million/s");
}

/* One material on many or few tets, with every instruction set and one lane. */
static bool measure_kernel(const Kernel *kernel, bool large, const Limits *limits)
{
    static const char *const names[] = {"one lane", "baseline", "avx2", "avx512"};
    const char *where = large ? "1M tets" : "8k tets, in cache";
    char text[160];
    Bench b;
    snprintf(text, sizeof text, "measuring %s on %s tets ...", kernel->material,
             large ? "1 million" : "8 thousand");
    say(text);
    bool started = start_elements(&b, kernel->material, large ? 1000000 : 8000);
    for (int isa = (int)brio__isa(); started && isa >= -1; isa--) {
        const BrioEnergy *energy =
            isa < 0 ? kernel->one_lane : brio__energy_for(kernel->material, (BrioIsa)isa);
        if (isa >= 0 && isa < (int)brio__isa() && !large) continue;
        double n = (double)b.term->elements;
        double g = time_kernel(&b, energy, isa < 0, 0);
        double H = time_kernel(&b, energy, isa < 0, 1);
        snprintf(text, sizeof text, "%s gradient, %s, %s", kernel->material, where, names[isa + 1]);
        figure("elements", text, n / g * 1e-6, "million/s");
        snprintf(text, sizeof text, "%s projected Hessian, %s, %s", kernel->material, where,
                 names[isa + 1]);
        figure("elements", text, n / H * 1e-6, "million/s");
        if (isa == (int)brio__isa()) compare_limits(kernel, &b, limits, large, g, H);
    }
    end_elements(&b);
    return started;
}

int bench_elements(void)
{
    Limits limits = {.flops = bench_flops(1)};
    bench_bandwidth(&limits.reading, &limits.writing);
    char text[160];
    snprintf(text, sizeof text, "elements: one core, %s, eight elements at a time", brio_isa());
    heading(text);
    figure("elements", "limit: fused multiply-adds", limits.flops * 1e-9, "GFlop/s");
    figure("elements", "limit: reading 96 MB", limits.reading * 1e-9, "GB/s");
    figure("elements", "limit: writing 96 MB", limits.writing * 1e-9, "GB/s");
    int threads = brio_threads();
    bool fine = true;
    brio_set_threads(1);
    for (size_t k = 0; k < BRIO_COUNT(kernels) && fine; k++)
        for (int large = 1; large >= 0 && fine; large--)
            fine = measure_kernel(&kernels[k], large, &limits);
    brio_set_threads(threads);
    return fine ? EXIT_DONE : EXIT_FAILED;
}
