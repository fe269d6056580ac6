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

/* The initial positions of the eight vertices of a box that is turned, and where one of them is by
 * a pose at 1 s. */
static void turned_box(const char *rotate, double x[27])
{
    BrioSim *sim = parse("bodies:\n  - {" BOX ", transform: {rotate: %s}, fix: [{vertices: [7], "
                         "script: {poses: [{t: 0}, {t: 1, rotate: %s}]}}]}\n",
                         rotate, rotate);
    double *world = calloc(3 * (size_t)sim->system->vertex_count, sizeof *world);
    brio_sim_positions(sim, 0, x);
    brio__system_fixed(sim->system, sim->state, 1, world);
    memcpy(x + 24, world + 21, 3 * sizeof *x);
    free(world);
    brio_sim_free(sim);
}

/* An axis has any length: its squares may overflow or vanish. Whole turns are exact. */
static void axes_and_angles(void **unused)
{
    (void)unused;
    static const char *const same[][2] = {{"[[1, 2, 2], 33]", "[[1.6e160, 3.2e160, 3.2e160], 33]"},
                                          {"[[1, 0, 0], 33]", "[[1e-200, 0, 0], 33]"},
                                          {"[[0, 1, 0], 90]", "[[0, 1e300, 0], 90]"}};
    double x[27], y[27];
    for (size_t i = 0; i < BRIO_COUNT(same); i++) {
        turned_box(same[i][0], x);
        turned_box(same[i][1], y);
        for (int k = 0; k < 27; k++) assert_true(fabs(x[k] - y[k]) < 1e-16);
    }
    turned_box("[[0, 0, 1], 0]", x);
    turned_box("[[0, 0, 1], 3.6e21]", y);
    assert_memory_equal(x, y, 24 * sizeof *x);
}

/* Copies are apart, and begin as the first one does. */
static void copies_of_an_array(void **unused)
{
    (void)unused;
    static const char drum[] =
        "shape: {type: disk, rings: 2}, material: {type: hooke, vertex_mass: 1}, velocity: {mode: "
        "{type: drum, centre: [0.1, 0, 0], radius: 0.4}}";
    static const char *const initial[] = {
        BOX ", state: box.csv",
        BOX ", deform: {pull: {sphere: [[0.05, 0.05, 0.05], 0.06], by: [0.01, 0, 0]}}",
        drum,
    };
    char rows[1024] = "";
    for (int v = 0, used = 0; v < 8; v++)
        used += snprintf(rows + used, sizeof rows - (size_t)used, "%g,%g,%g,%d,0,0\n",
                         0.2 * (v & 1), 0.1 * (v >> 1 & 1), 0.1 * (v >> 2), v);
    write_text("box.csv", rows);
    for (size_t i = 0; i < BRIO_COUNT(initial); i++) {
        BrioSim *sim = parse("gravity: [0, 0, 0]\nbodies:\n  - {%s, array: {count: [2, 1, 2], "
                             "spacing: [2, 1, 4]}}\n",
                             initial[i]);
        double x[2][256], v[2][256], speed = 0;
        int64_t n = 3 * sim->system->body[0].count;
        assert_true(n < 256);
        for (int copy = 1; copy < 4; copy++) {
            const double shift[3] = {2 * (copy % 2), 0, 4 * (copy / 2)};
            for (int k = 0; k < 2; k++) {
                brio_sim_positions(sim, k ? copy : 0, x[k]);
                brio_sim_velocities(sim, k ? copy : 0, v[k]);
            }
            for (int64_t k = 0; k < n; k++) {
                speed = fmax(speed, fabs(v[1][k]));
                assert_true(fabs(x[1][k] - x[0][k] - shift[k % 3]) < 1e-14);
                assert_true(fabs(v[1][k] - v[0][k]) < 1e-12);
            }
        }
        assert_true(speed > 0 || i == 1);
        brio_sim_free(sim);
    }
}

static bool excluded(const BrioSim *sim, int a, int b)
{
    const BrioSystem *s = sim->system;
    return s->excluded[a * (s->body_count + s->obstacle_count) + b];
}

/* Names of pairs: a body, a copy, all copies of an array, a material. Body "link.7" is no copy of
 * body "link", as modellers call things. */
static void names_of_pairs(void **unused)
{
    (void)unused;
    static const struct {
        const char *pair;
        bool with_floor[5];
    } cases[] = {{"[link, floor]", {true}},
                 {"[link.7, floor]", {false, true}},
                 {"[bead, floor]", {false, false, true, true}},
                 {"[bead.1, floor]", {false, false, false, true}},
                 {"[rubber, floor]", {false, true, false, false, true}},
                 {"[body3, floor]", {false, false, false, false, true}}};
    for (size_t i = 0; i < BRIO_COUNT(cases); i++) {
        BrioSim *sim = parse(
            "contact: {type: ipc, exclude: [%s]}\nobstacles: [{type: plane, name: floor, normal: "
            "[0, 1, 0]}]\nbodies:\n"
            "  - {name: link, " BOX ", transform: {translate: [0, 1, 0]}}\n"
            "  - {name: link.7, " SHAPE ", material: rubber, transform: {translate: [1, 1, 0]}}\n"
            "  - {name: bead, " BOX ", transform: {translate: [2, 1, 0]}, array: {count: [2, 1, "
            "1], spacing: [1, 1, 1]}}\n"
            "  - {" SHAPE ", material: rubber, transform: {translate: [4, 1, 0]}}\n",
            cases[i].pair);
        for (int body = 0; body < 5; body++)
            if (excluded(sim, body, 5) != cases[i].with_floor[body])
                fail_msg("%s: body %d", cases[i].pair, body);
        brio_sim_free(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_vertices), cmocka_unit_test(axes_and_angles),
        cmocka_unit_test(copies_of_an_array), cmocka_unit_test(names_of_pairs)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
