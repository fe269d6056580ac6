/* All tangles are simulated from where untangling leaves them: 20 steps, each state proved. */
#include "program.h"

#include "tangles.h"

static void twenty_steps(void **unused)
{
    (void)unused;
    write_tangled_meshes();
    for (size_t i = 0; i < BRIO_COUNT(tangles); i++) {
        BrioSim *sim = untangle_as_told(&tangles[i]);
        for (int k = 0; sim && k < 20; k++) {
            step(sim, 1);
            prove(sim);
        }
        brio_sim_free(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(twenty_steps)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
