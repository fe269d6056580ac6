/* The library in ten lines: load a scene, step it, ask for its energy. */
#include <brio/brio.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    BrioSim *sim;
    BrioLedger now;
    BrioError error = {0};
    if (brio_sim_load(argc > 1 ? argv[1] : "wound-bar", &sim, &error))
        return fprintf(stderr, "%s\n", error.message), 2;
    while (!brio_sim_step(sim, &error) && !brio_sim_ledger(sim, &now) && now.time < 0.1)
        printf("t = %.3f s: %.4f J\n", now.time, now.total);
    brio_sim_free(sim);
}
