/* Bodies that begin too close or intersect: untangled and proved, or refused by name. */
#include "program.h"

#include "mesh/measure.h"
#include "mesh/repair.h"
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

/* ---- brio mesh repair ------------------------------------------------------------------- */

/* Two cubes that overlap, as a soup of triangles with one of each fault. */
static const char soup_faults[] = "f 1 3 2\nf 4 5 6\nf 4 4 5\n";

static void write_soup(void)
{
    static const int quad[6][4] = {{0, 1, 3, 2}, {4, 6, 7, 5}, {0, 4, 5, 1},
                                   {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 5, 7, 3}};
    FILE *file = fopen("soup.obj", "w");
    assert_non_null(file);
    for (int cube = 0; cube < 2; cube++)
        for (int k = 0; k < 12; k++)
            for (int i = 0; i < 3; i++) {
                int corner = quad[k / 2][i == 0 ? 0 : i + k % 2];
                fprintf(file, "v %g %g %g\n", (corner >> 2 & 1) + 0.9 * cube,
                        (corner >> 1 & 1) + 0.3 * cube, (corner & 1) + 0.2 * cube);
            }
    fprintf(file, "v 5 5 5\n");
    for (int t = 1; t < 24; t++) fprintf(file, "f %d %d %d\n", 3 * t + 1, 3 * t + 2, 3 * t + 3);
    fputs(soup_faults, file);
    fclose(file);
}

static void repair_soup(void **unused)
{
    (void)unused;
    BrioMesh *mesh = NULL;
    BrioRepair r;
    BrioMeasure m;
    int64_t twice;
    const BrioRepairOptions options = {.merge = -1};
    write_soup();
    assert_int_not_equal(brio_mesh_read("soup.obj", &mesh, NULL), BRIO_OK);
    assert_int_equal(brio__mesh_read_broken("soup.obj", &twice, &mesh, NULL), BRIO_OK);
    assert_int_equal(twice, 1);
    assert_int_equal(brio__mesh_repair(mesh, &options, &r, NULL), BRIO_OK);
    assert_int_equal(r.merged, 72 - 16);
    assert_int_equal(r.duplicate, 1);
    assert_int_equal(r.turned, 1);
    assert_int_equal(r.unused, 1);
    assert_int_equal(r.components, 2);
    assert_true(r.untangled.before > 0);
    assert_int_equal(r.untangled.after, 0);
    /* by 0.1 along x, half each, and half the gap */
    assert_true(r.untangled.shift > 0.05 && r.untangled.shift < 0.0507);
    assert_int_equal(brio__measure(mesh, &m, NULL), BRIO_OK);
    assert_int_equal(m.vertices, 16);
    assert_int_equal(m.triangles, 24);
    assert_int_equal(m.open_edges + m.branching_edges + m.turned_edges + m.intersections, 0);
    assert_true(fabs(m.volume - 2) < 1e-12);
    brio_mesh_free(mesh);
}

/* Of tets: those that are turned around, and a body that meets itself; it keeps positive tets. */
static void repair_tets(void **unused)
{
    (void)unused;
    BrioMesh *mesh = NULL;
    BrioRepair r;
    BrioMeasure m;
    const BrioRepairOptions options = {.merge = -1};
    write_tangled_meshes();
    assert_int_equal(brio_mesh_read("ring.msh", &mesh, NULL), BRIO_OK);
    int32_t swap = mesh->tet[0];
    mesh->tet[0] = mesh->tet[1];
    mesh->tet[1] = swap;
    assert_int_equal(brio__mesh_repair(mesh, &options, &r, NULL), BRIO_OK);
    assert_int_equal(r.turned, 1);
    assert_true(r.untangled.before > 0);
    assert_int_equal(r.untangled.after, 0);
    assert_int_equal(brio__measure(mesh, &m, NULL), BRIO_OK);
    assert_int_equal(m.inverted + m.intersections, 0);
    brio_mesh_free(mesh);
}

/* The program: never over a file that is there, exit 1 if something is left. */
static void repair_program(void **unused)
{
    (void)unused;
    write_soup();
    BRIO("mesh", "repair", "soup.obj", "-o", "done.obj");
    const Outcome *o = BRIO("mesh", "repair", "soup.obj", "-o", "done.obj");
    assert_int_equal(o->code, 2);
    assert_non_null(strstr(o->err, "there already"));
    o = BRIO("mesh", "repair", "soup.obj", "-o", "done.obj", "--force");
    assert_int_equal(o->code, 0);
    assert_non_null(strstr(o->out, "proved without rounding"));
    o = BRIO("mesh", "repair", "done.obj", "-o", "again.ply");
    assert_int_equal(o->code, 0);
    assert_non_null(strstr(o->out, "nothing to repair"));
    o = BRIO("mesh", "info", "again.ply", "--json");
    assert_non_null(strstr(o->out, "\"self_intersections\": 0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_tangles),    cmocka_unit_test(steps),
        cmocka_unit_test(only_positions), cmocka_unit_test(repair_soup),
        cmocka_unit_test(repair_tets),    cmocka_unit_test(repair_program)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
