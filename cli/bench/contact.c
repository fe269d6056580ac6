/* brio bench contact: the phases of a Newton iteration from a thousand to a hundred thousand
 * contacts. */
#include "bench.h"

/* Two layers of affine boxes on the ground, those above each on four below, n by n and n-1 by
 * n-1. */
static BrioSim *layers(int n)
{
    char text[1400];
    BrioSim *sim = NULL;
    BrioError error = {0};
    int length =
        snprintf(text, sizeof text,
                 "time: {h: 1/120, end: 1}\nintegrator: backward-euler\nsolver: {tol: 1e-3}\n"
                 "contact: {type: ipc, dhat: 1e-3, kappa: 1e5, mu: 0.3, epsv: 1e-3}\n"
                 "obstacles: [{type: plane, point: [0, 0, 0], normal: [0, 1, 0]}]\n"
                 "bodies:\n"
                 "  - {name: below, shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}, "
                 "kind: affine, material: {type: corotated, E: 1e8, rho: 500},"
                 " array: {count: [%d, 1, %d], spacing: [0.11, 0.11, 0.11]}, transform: "
                 "{translate: [0, 0.0508, 0]}}\n"
                 "  - {name: above, shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}, "
                 "kind: affine, material: {type: corotated, E: 1e8, rho: 500},"
                 " array: {count: [%d, 1, %d], spacing: [0.11, 0.11, 0.11]}, transform: "
                 "{translate: [0, 0.1514, 0]}}\n",
                 n, n, n - 1, n - 1);
    if (brio_sim_parse(text, (size_t)length, "layers", &sim, &error) == BRIO_OK) return sim;
    char message[1024];
    brio_error_text(&error, message, sizeof message);
    fprintf(stderr, "brio bench: %s\n", message);
    return NULL;
}

enum { STEPS = 2 };

/* Milliseconds of a Newton iteration by phase; `all` seconds over so many iterations. */
static void print_phases(const BrioSolveTotals *from, const BrioSolveTotals *to, double all,
                         int contacts)
{
    char text[160];
    double iterations = (double)(to->iterations - from->iterations);
    struct {
        const char *name;
        double seconds;
        int width;
    } phase[] = {{"all", all, 6},
                 {"broad phase", to->broad_phase - from->broad_phase, 12},
                 {"ccd", to->ccd - from->ccd, 8},
                 {"barriers", to->contact - from->contact, 8},
                 {"analysis", to->analysis - from->analysis, 8},
                 {"factor", to->factor - from->factor, 8},
                 {"solve", to->solve - from->solve, 8},
                 {"rest", all, 8}};
    for (size_t k = 0; k < BRIO_COUNT(phase); k++) {
        if (k > 0 && k + 1 < BRIO_COUNT(phase))
            phase[BRIO_COUNT(phase) - 1].seconds -= phase[k].seconds;
        double ms = 1e3 * phase[k].seconds / iterations;
        snprintf(text, sizeof text, "%d contacts, a Newton iteration: %s", contacts, phase[k].name);
        if (bench_by_figure)
            figure("contact", text, ms, "ms");
        else
            printf(" %*.3g", phase[k].width, ms);
    }
}

static bool measure_layers(int size)
{
    BrioSim *sim = layers(size);
    if (!sim) return false;
    const BrioSolveTotals *totals = &sim->stepper->solver->totals;
    BrioStatus status =
        brio_sim_step(sim, NULL); /* the first makes and fills what the others use */
    BrioSolveTotals before = *totals;
    double start = brio__seconds();
    for (int n = 0; n < STEPS && status == BRIO_OK; n++) status = brio_sim_step(sim, NULL);
    double all = brio__seconds() - start;
    BrioLedger ledger = {0};
    if (status == BRIO_OK) status = brio_sim_ledger(sim, &ledger);
    if (status == BRIO_OK) {
        if (!bench_by_figure)
            printf("  %8d %8d %14.3g", ledger.contacts, sim->system->body_count,
                   (double)(totals->iterations - before.iterations) / STEPS);
        print_phases(&before, totals, all, ledger.contacts);
        if (!bench_by_figure) printf("\n");
        fflush(stdout);
    } else {
        fprintf(stderr, "brio bench: %s\n", brio_sim_reason(sim));
    }
    brio_sim_free(sim);
    return status == BRIO_OK;
}

int bench_contact(void)
{
    static const int sizes[] = {5, 13, 37, 56};
    char text[400];
    snprintf(text, sizeof text,
             "contact: layers of affine boxes on each other, friction, h = 1/120 s, %d threads; ms "
             "of a Newton iteration by phase\n"
             "  contacts   bodies  Newton a step    all  broad phase      ccd  barriers  analysis  "
             " factor    solve     rest",
             brio_threads());
    heading(text);
    for (size_t i = 0; i < BRIO_COUNT(sizes); i++)
        if (!measure_layers(sizes[i])) return EXIT_FAILED;
    return EXIT_DONE;
}
