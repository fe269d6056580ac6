/* What scenes mean: which vertices an entry chooses, how transforms turn, what copies of an array
 * begin with, whom a name stands for. */
#include "program.h"

#include "simulate.h"

#define SHAPE "shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}"
#define BOX SHAPE ", material: jelly"

/* A list may hold a vertex again and again, and be longer than the body. */
static void lists_of_vertices(void **unused)
{
    (void)unused;
    BrioSim *sim = parse("bodies:\n  - {" BOX ", fix: [{vertices: [0, 0, 0, 0, 0, 0, 0, 0, 5]}], "
                         "attach: [{vertices: [1, 1, 1, 1, 1, 1, 1, 1, 1, 2]}]}\n");
    assert_int_equal(sim->system->map_start[5], sim->system->map_start[6]); /* it has no block */
    assert_int_equal(sim->system->fixed_count, 2 + 10);
    brio_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists_of_vertices)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
