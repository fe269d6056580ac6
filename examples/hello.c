/* Loads a scene, lifts its first body and throws it upward, steps it, prints its energies. Nothing
 * is written.
 *
 *     cc hello.c -o hello $(pkg-config --cflags --libs brio) && ./hello scene.yaml */
#include <brio/brio.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    BrioSim *sim;
    BrioError error = {0};
    if (brio_sim_load(argc > 1 ? argv[1] : "wound-bar", &sim, &error))
        return fprintf(stderr, "%s\n", error.message), 2;
    int64_t n = brio_body_vertices(brio_sim_system(sim), 0);
    double *x = malloc(sizeof *x * 3 * n), *v = malloc(sizeof *v * 3 * n);
    if (!x || !v) return 1;
    brio_sim_positions(sim, 0, x);
    brio_sim_velocities(sim, 0, v);
    for (int64_t i = 0; i < n; i++) x[3 * i + 1] += 0.001, v[3 * i + 1] += 0.5; /* y is up */
    if (brio_sim_set_positions(sim, 0, x, &error) || brio_sim_set_velocities(sim, 0, v, &error))
        return fprintf(stderr, "%s\n", error.message), 1;
    for (int k = 0; k < 10; k++) {
        BrioLedger now;
        if (brio_sim_step(sim, &error) || brio_sim_ledger(sim, &now))
            return fprintf(stderr, "%s\n", error.message), 1;
        printf("t = %.3f s: kinetic %.4f + potential %.4f = %.4f J\n", now.time, now.kinetic,
               now.potential, now.total);
    }
    brio_sim_free(sim);
    free(x), free(v);
}
