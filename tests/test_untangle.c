/* Bodies that begin too close or intersect: untangled and proved, or refused by name. */
#include "program.h"

#include "sim/apart.h"
#include "tangles.h"

/* What is parted moves no farther than the depth of the overlap asks for, within the limit of each
 * case, and is proved by the exact test. What is not names both. */
static void all_tangles(void **unused)
{
    (void)unused;
    write_tangled_meshes();
    for (size_t i = 0; i < BRIO_COUNT(tangles); i++) {
        const Tangle *t = &tangles[i];
        BrioError error = {0};
        double start = brio__seconds();
        BrioSim *sim = untangle(t, &error);
        if (!sim) {
            print_message("%-42s refused: %s\n", t->name, error.message);
            assert_true(t->most < 0);
            assert_non_null(strstr(error.message, "cannot part \"b\" and \"block\""));
            continue;
        }
        const BrioUntangled *r = &sim->untangled;
        double min = ledger(sim).min_distance;
        print_message(
            "%-42s %4lld intersections, largest shift %.5f m, %s %.2g dhat apart, %.2f s\n",
            t->name, (long long)r->before, r->shift, isnan(min) ? ">" : "",
            isnan(min) ? 1 : min / 5e-4, brio__seconds() - start);
        prove(sim);
        assert_true(r->shift <= t->most);
        assert_true((t->most > 0) == (r->shift > 0));
        brio_sim_free(sim);
    }
}

static const Tangle *find_tangle(const char *name)
{
    for (size_t i = 0; i < BRIO_COUNT(tangles); i++)
        if (!strcmp(tangles[i].name, name)) return &tangles[i];
    fail_msg("no tangle \"%s\"", name);
    return NULL;
}

/* They can be simulated from there, and stay apart. */
static void steps(void **unused)
{
    (void)unused;
    static const char *const names[] = {
        "boxes by 10 %",       "two links of a chain",          "cloth through a ball",
        "fold through itself", "box in the floor and in a box", "bars between walls"};
    write_tangled_meshes();
    for (size_t i = 0; i < BRIO_COUNT(names); i++) {
        BrioSim *sim = untangle(find_tangle(names[i]), NULL);
        assert_non_null(sim);
        for (int k = 0; k < 5; k++) {
            step(sim, 1);
            prove(sim);
        }
        brio_sim_free(sim);
    }
}

/* Rest shapes stay: only positions move. And the same bits for any number of threads. */
static void only_positions(void **unused)
{
    (void)unused;
    BrioSim *sim[2];
    for (int i = 0; i < 2; i++) {
        brio_set_threads(1 + i);
        sim[i] = untangle(find_tangle("boxes by 20 %"), NULL);
        assert_non_null(sim[i]);
    }
    assert_memory_equal(sim[0]->state->q, sim[1]->state->q,
                        (size_t)sim[0]->state->coordinates * sizeof(double));
    /* moved as a whole: no strain, but for rounding */
    assert_true(ledger(sim[0]).elastic < 1e-12);
    for (int i = 0; i < 2; i++) brio_sim_free(sim[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_tangles), cmocka_unit_test(steps),
                                       cmocka_unit_test(only_positions)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
