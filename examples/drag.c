/* Takes a cloth by the middle with a ray, as a mouse would, lifts it up in a second, makes it
 * stiffer and lets go; prints what the books say.
 *
 *     cc drag.c -o drag $(pkg-config --cflags --libs brio) -lm && ./drag cloth */
#include <brio/brio.h>
#include <math.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    BrioSim *sim;
    BrioError error = {0};
    if (brio_sim_load(argc > 1 ? argv[1] : "cloth", &sim, &error))
        return fprintf(stderr, "%s\n", error.message), 2;
    const double eye[3] = {0, 2, 0.1}, down[3] = {0, -1, 0};
    double hit[3];
    int hand;
    if (brio_sim_grab_ray(sim, eye, down, NAN, &hand, hit, &error))
        return fprintf(stderr, "%s\n", error.message), 1;
    if (hand < 0) return fprintf(stderr, "there is nothing below\n"), 1;
    if (brio_sim_set_integrator(sim, "a-search", NULL, &error))
        return fprintf(stderr, "%s\n", error.message), 1;
    for (int k = 0; k < 90; k++) {
        BrioHand grabbed;
        double to[3] = {hit[0], hit[1] + fmin(1, k / 60.0), hit[2]};
        if (k < 75) brio_sim_drag(sim, hand, to, NULL);
        if (k == 70) brio_sim_set_material(sim, 0, "k", 400, NULL);
        if (k % 15 == 0 && !brio_sim_hand(sim, hand, &grabbed))
            printf("hand at y = %.2f m, cloth at %.2f m\n", grabbed.point[1], grabbed.grip[1]);
        if (k == 75) brio_sim_release(sim, hand, NULL);
        if (brio_sim_step(sim, &error)) return fprintf(stderr, "%s\n", error.message), 1;
    }
    BrioLedger now;
    brio_sim_ledger(sim, &now);
    printf("put in %.2f J; kinetic %.2f J, potential %.2f J\n", now.added, now.kinetic,
           now.potential);
    brio_sim_free(sim);
}
