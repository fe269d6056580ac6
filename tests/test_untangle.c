/* Bodies that begin too close or intersect: untangled and proved, or refused by name. */
#include "program.h"

#include "memory.h"

#include "mesh/measure.h"
#include "mesh/repair.h"
#include "sim/apart.h"
#include "tangles.h"

static void all_tangles(void **unused)
{
    (void)unused;
    write_tangled_meshes();
    for (size_t i = 0; i < BRIO_COUNT(tangles); i++) brio_sim_free(untangle_as_told(&tangles[i]));
}

static const Tangle *find_tangle(const char *name)
{
    for (size_t i = 0; i < BRIO_COUNT(tangles); i++)
        if (!strcmp(tangles[i].name, name)) return &tangles[i];
    fail_msg("no tangle \"%s\"", name);
    return NULL;
}

/* Boxes that decimal numbers put on each other: refused, unless they are untangled. */
static void touching(void **unused)
{
    (void)unused;
    static const char scene[] =
        "{contact: {type: ipc, dhat: 5e-4, kappa: 1e4, start: %s}, bodies: "
        "[{name: a, " BOX SOLID "}, {name: b, " BOX AT(0.01, 0.1, 0.02) SOLID "}]}";
    char text[2048];
    BrioSim *sim = NULL;
    int length = snprintf(text, sizeof text, scene, "strict");
    assert_int_equal(brio_sim_parse(text, (size_t)length, "touching", &sim, NULL),
                     BRIO_ERROR_INPUT);
    sim = parse(scene, "untangle");
    prove(sim);
    assert_true(sim->untangled.shift > 2.4e-4 && sim->untangled.shift < 6e-4);
    step(sim, 1);
    brio_sim_free(sim);
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
        for (int k = 0; k < 3; k++) {
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
    brio_set_threads(1);
    for (int i = 0; i < 2; i++) brio_sim_free(sim[i]);
}

/* Each allocation fails once: refused for want of memory, and nothing is left behind. */
static void failing_memory(void **unused)
{
    (void)unused;
    Memory memory;
    static const char *const names[] = {"cloth dips into a ball", "boxes by 1 %"};
    int64_t count = 0;
    for (size_t i = 0; i < BRIO_COUNT(names); i++) {
        BrioSim *sim = untangle(find_tangle(names[i]), NULL);
        const BrioSystem *s = sim->system;
        size_t bytes = 3 * (size_t)s->vertex_count * sizeof(double);
        double *x = malloc(bytes), *start = malloc(bytes);
        BrioUntangled report;
        /* back to where they intersect */
        const double *rest = s->surface->rest;
        memcpy(start, brio__sim_world(sim), bytes);
        for (int32_t v = 0; v < s->surface->vertex_count; v++)
            memcpy(start + 3 * (int64_t)s->surface->vertex[v], rest + 3 * (int64_t)v,
                   3 * sizeof *rest);
        for (int64_t k = 0;; k++) {
            memcpy(x, start, bytes);
            memory_start(&memory, k, false);
            BrioStatus status = brio__system_untangle(s, sim->state, 5e-4, x, &report);
            brio_set_allocator(NULL);
            assert_int_equal(memory.live, 0);
            if (!memory.failed) {
                assert_int_equal(status, BRIO_OK);
                assert_true(report.before > 0 && report.after == 0);
                break;
            }
            assert_int_equal(status, BRIO_ERROR_MEMORY);
            assert_memory_equal(x, start, bytes);
            count++;
        }
        free(x);
        free(start);
        brio_sim_free(sim);
    }
    print_message("%lld allocations failed once each\n", (long long)count);
    assert_true(count > 40);
}

/* ---- what begins inside dhat ------------------------------------------------------------ */

/* Two boxes 0.05 of dhat apart above a floor at 0.7 of it. */
#define NEAR                                                                                    \
    "{time: {h: 0.01, end: 0.3}, integrator: %s, contact: {type: ipc, dhat: 1e-3, kappa: 1e5, " \
    "start: %s}, bodies: [{name: low, " BOX SOLID "}, {name: top, " BOX AT(0, 0.10005, 0) SOLID \
        "}], obstacles: [{type: plane, name: floor, point: [0, -0.0507, 0], normal: [0, 1, 0]}]}"

static void named(void **unused)
{
    (void)unused;
    BrioSim *sim = parse(NEAR, "a-search", "strict");
    BrioStart start;
    char text[512];
    brio__sim_start(sim, &start);
    assert_int_equal(start.pairs, 2);
    assert_string_equal(brio__owner_name(sim->system, start.pair[0].owner[1]), "top");
    assert_string_equal(brio__owner_name(sim->system, start.pair[1].owner[1]), "floor");
    assert_true(fabs(start.pair[0].gap - 5e-5) < 1e-12);
    assert_true(fabs(start.pair[1].gap - 7e-4) < 1e-12);
    assert_true(fabs(start.lift - 1 * 9.8 * 0.1) < 1e-9);
    assert_true(start.energy == ledger(sim).contact && start.energy > 50);
    assert_true(brio__sim_pressed_text(sim, text, sizeof text));
    assert_non_null(strstr(text, "\"low\" and \"top\" 0.05 of it apart"));
    assert_non_null(strstr(text, "contact.start: relax"));
    brio_sim_free(sim);
    sim = parse(NEAR, "a-search", "relax");
    assert_false(brio__sim_pressed_text(sim, text, sizeof text));
    brio_sim_free(sim);
}

/* Of a method that keeps the energy: at once, the barriers' energy becomes motion; where they grow,
 * the boxes come to rest at the same distance with next to none. What was added is what lifts them,
 * and the books balance: the remainder of the whole way is below a thousandth of the energy. */
static void relaxed(void **unused)
{
    (void)unused;
    BrioSim *strict = parse(NEAR, "a-search", "strict"), *sim = parse(NEAR, "a-search", "relax");
    step(strict, 1);
    assert_true(ledger(strict).kinetic > 50);
    brio_sim_free(strict);
    assert_true(ledger(sim).contact == 0);
    assert_true(fabs(brio__sim_relaxed(sim) - 0.05) < 1e-9);
    double most = 0;
    for (int i = 0; i < 20; i++) {
        step(sim, 1);
        most = brio__larger(most, ledger(sim).kinetic);
    }
    BrioLedger l = ledger(sim);
    print_message("relaxed: at most %.2g J of motion, %.2g J added, remainder %.2g J of %.3g J\n",
                  most, l.added, l.remainder, l.total);
    assert_true(brio__sim_relaxed(sim) == 1);
    assert_true(most < 0.05);
    assert_true(l.added > 0 && l.added < 0.01);
    assert_true(fabs(l.remainder) < 1e-3 * l.total);
    assert_true(l.min_distance > 0.5e-3);
    brio_sim_free(sim);
}

/* A run that goes on from a copy of the state, with other threads, has the same bits. */
static void resumed(void **unused)
{
    (void)unused;
    brio_set_threads(1);
    BrioSim *sim = parse(NEAR, "bdf2", "relax"), *other = parse(NEAR, "bdf2", "relax");
    step(sim, 5);
    assert_true(brio__sim_relaxed(sim) < 1);
    brio_state_assign(other->state, sim->state);
    step(sim, 10);
    brio_set_threads(2);
    step(other, 10);
    brio_set_threads(1);
    assert_memory_equal(sim->state->q, other->state->q,
                        (size_t)sim->state->coordinates * sizeof(double));
    assert_true(sim->state->added == other->state->added);
    brio_sim_free(sim);
    brio_sim_free(other);
}

static void checked(void **unused)
{
    (void)unused;
    char text[4096];
    snprintf(text, sizeof text, NEAR, "bdf2", "strict");
    write_text("near.yaml", text);
    const Outcome *o = BRIO("check", "near.yaml", "--json");
    assert_int_equal(o->code, 0);
    assert_non_null(strstr(o->out, "\"of_dhat\": 0.0"));
    assert_non_null(strstr(o->out, "use contact.start: relax"));
    o = BRIO("check", "near.yaml", "--set", "contact.start=relax");
    assert_int_equal(o->code, 0);
    assert_non_null(strstr(o->out, "barriers start without force, at 0.05 of dhat"));
    o = BRIO("check", "near.yaml", "--set", "bodies.1.transform.translate=[0,0.09,0]");
    assert_int_equal(o->code, 1);
    assert_non_null(strstr(o->out, "contact.start: untangle"));
    o = BRIO("check", "near.yaml", "--set", "bodies.1.transform.translate=[0,0.09,0]", "--set",
             "contact.start=untangle", "--force");
    assert_int_equal(o->code, 0);
    assert_non_null(strstr(o->out, "proved by the exact test"));
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

/* The program: never over a file that already exists, exit 1 if something is left. */
static void repair_program(void **unused)
{
    (void)unused;
    write_soup();
    BRIO("mesh", "repair", "soup.obj", "-o", "done.obj");
    const Outcome *o = BRIO("mesh", "repair", "soup.obj", "-o", "done.obj");
    assert_int_equal(o->code, 2);
    assert_non_null(strstr(o->err, "already exists"));
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
    brio_set_threads(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_tangles),    cmocka_unit_test(steps),
        cmocka_unit_test(touching),       cmocka_unit_test(only_positions),
        cmocka_unit_test(failing_memory), cmocka_unit_test(named),
        cmocka_unit_test(relaxed),        cmocka_unit_test(resumed),
        cmocka_unit_test(checked),        cmocka_unit_test(repair_soup),
        cmocka_unit_test(repair_tets),    cmocka_unit_test(repair_program)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
