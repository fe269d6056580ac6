/* A thousand random operations on each of three scenes: no value that is not finite, every jump of
 * the energy in the books, and a checkpoint in the middle that leads to the same bits. Then what an
 * edit costs, by size. */
#include "sim/edit.h"

#include <stdlib.h>
#include <unistd.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include "editing.h"

static void three_thousand(void **unused)
{
    (void)unused;
    char file[] = "/tmp/brio-edit-XXXXXX";
    close(mkstemp(file));
    for (int scene = 0; scene < EDITING_SCENES; scene++)
        edit_many(scene, 1000, 100 + (uint64_t)scene, file);
    unlink(file);
}

/* A box of n^3 cells and a small one that comes: seconds of the edit, and of a step before it and
 * of the one after it, which orders and factors again. Nothing is asserted: clocks are not to be
 * trusted in tests. */
static void cost(void **unused)
{
    (void)unused;
    for (int n = 8; n <= 32; n *= 2) {
        BrioBuilder *b;
        BrioSystem *system;
        BrioState *state;
        BrioSim *sim;
        BrioError error = {0};
        BrioBodyDef def = brio_default_body();
        BrioContactDef contact = brio_default_contact();
        BrioMesh *mesh = editing_box(1, n);
        def.name = "large";
        def.mesh = mesh;
        brio_default_material("stable-neo-hookean", &def.material, &error);
        brio_material_set(&def.material, "rho", 500, &error);
        BrioStatus status = brio_builder_create(&b, &error);
        if (status == BRIO_OK) status = brio_builder_body(b, &def, NULL, &error);
        brio_builder_contact(b, &contact);
        if (status == BRIO_OK) status = brio_builder_finish(b, &system, &state, &error);
        brio_builder_free(b);
        brio_mesh_free(mesh);
        BrioSimDef options = brio_default_sim("backward-euler");
        if (status == BRIO_OK) status = brio_sim_create(system, state, &options, &sim, &error);
        for (int k = 0; k < 2 && status == BRIO_OK; k++) status = brio_sim_step(sim, &error);
        double t[5] = {brio__seconds()};
        if (status == BRIO_OK) status = brio_sim_step(sim, &error);
        t[1] = brio__seconds();
        if (status == BRIO_OK) status = brio_sim_edit(sim, &b, &error);
        t[2] = brio__seconds();
        if (status == BRIO_OK)
            status = editing_add(b, "small", EDITING_SOLID, (double[3]){0, 3, 0}, NULL, &error);
        if (status == BRIO_OK) status = brio_sim_commit(sim, b, &error);
        t[3] = brio__seconds();
        if (status == BRIO_OK) status = brio_sim_step(sim, &error);
        t[4] = brio__seconds();
        if (status != BRIO_OK) fail_msg("%s", error.message);
        int64_t tets;
        brio_body_tets(brio_sim_system(sim), 0, &tets);
        print_message("%lld tets: step %.1f ms; begin an edit %.1f ms, commit %.1f ms, next step "
                      "%.1f ms\n",
                      (long long)tets, 1e3 * (t[1] - t[0]), 1e3 * (t[2] - t[1]),
                      1e3 * (t[3] - t[2]), 1e3 * (t[4] - t[3]));
        brio_sim_free(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(three_thousand), cmocka_unit_test(cost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
