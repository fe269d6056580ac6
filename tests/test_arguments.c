/* The rule of brio.h about arguments, on every function of the public headers: what is NULL and
 * must not be, and handles that were freed, are rejected. Each call runs in a process of its own,
 * so that a crash has a name. */
#include "brio/by_body.h"
#include "brio/matrices.h"
#include "brio/plugin.h"
#include "brio/stages.h"
#include "brio/tets.h"
#include "sim/sim.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

/* ---- what the calls are given ----------------------------------------------------------- */

static const char scene[] = "bodies: [{shape: {type: box, cells: [1, 1, 1]}, "
                            "material: {type: neo-hookean, E: 1e5}}]\n";
static const char name[] = "box";

static BrioSim *sim, *dead_sim, *other_sim;
static const BrioSystem *system_;
static BrioSystem *dead_system, *other_system;
static BrioState *state, *dead_state, *other_state;
static BrioBuilder *builder, *dead_builder;
static BrioMesh *mesh, plain_mesh;
static BrioError error;
static char text[8];
static double numbers[4096];
static int32_t indices[16];
static int64_t count;
static int number;
static BrioMaterial material;
static BrioBodyDef body;
static BrioForceDef force;
static BrioContactDef contact;
static BrioObstacleDef obstacle;
static BrioScript script;
static BrioSimDef definition;
static BrioDamping damping;
static BrioSource source;
static BrioProgress progress;
static BrioLedger ledger;
static BrioHand hand;
static BrioObjective objective = {.target = numbers, .s = 1, .a = 1, .h = 1};
static BrioSolution solution;
static double first_alpha(const BrioSearch *search) { return search->min; }
/* of an integrator that has no components */
static BrioByBody by_body = {
    .h = 1, .q = numbers, .w = numbers, .dv = numbers, .p = numbers, .search = first_alpha};
static BrioSpring spring;
static BrioTet tet;
static BrioPull pull;
static BrioPlane plane;
static BrioConstraintDef constraint;
static BrioStitchDef stitch;
static BrioSequence *sequence, still;
static const char *const files = name;
static BrioCageInfo cage;
static BrioTriplets triplets;
static const int32_t *nodes;
static const double *weights;
static BrioField fields[] = {{"k", BRIO_REAL, "N/m", 1000, 1e-300, 1e15, 0, "Stiffness."}, {0}};

static BrioBuilder *with_body(void)
{
    BrioBuilder *created = NULL;
    BrioMesh *box = NULL;
    body = brio_default_body();
    assert_int_equal(brio_mesh_shape("box", NULL, &box, NULL), BRIO_OK);
    assert_int_equal(brio_default_material("neo-hookean", &body.material, NULL), BRIO_OK);
    assert_int_equal(brio_material_set(&body.material, "E", 1e5, NULL), BRIO_OK);
    body.name = "a";
    body.mesh = box;
    assert_int_equal(brio_builder_create(&created, NULL), BRIO_OK);
    BrioError why = {0};
    if (brio_builder_body(created, &body, NULL, &why)) fail_msg("%s", why.message);
    brio_mesh_free(box);
    body.mesh = &plain_mesh;
    return created;
}

static void make_pair(BrioSystem **created, BrioState **begun)
{
    BrioBuilder *b = with_body();
    assert_int_equal(brio_builder_finish(b, created, begun, NULL), BRIO_OK);
    brio_builder_free(b);
}

static BrioSystem *new_system(void)
{
    BrioSystem *created;
    BrioState *begun;
    make_pair(&created, &begun);
    brio_state_free(begun);
    return created;
}

static BrioState *new_state(void)
{
    BrioSystem *created;
    BrioState *begun;
    make_pair(&created, &begun);
    brio_system_free(created);
    return begun;
}

static int prepare(void **unused)
{
    (void)unused;
    assert_int_equal(brio_sim_parse(scene, strlen(scene), "test", &sim, &error), BRIO_OK);
    system_ = brio_sim_system(sim);
    state = brio_sim_state(sim);
    builder = with_body();
    dead_builder = with_body();
    make_pair(&dead_system, &dead_state);
    assert_int_equal(brio_sim_parse(scene, strlen(scene), "test", &dead_sim, &error), BRIO_OK);
    brio_sim_free(dead_sim);
    brio_system_free(dead_system);
    brio_state_free(dead_state);
    brio_builder_free(dead_builder);
    contact = brio_default_contact();
    definition = brio_default_sim("backward-euler");
    return 0;
}

static int tidy(void **unused)
{
    (void)unused;
    brio_sim_free(sim);
    brio_builder_free(builder);
    return 0;
}

/* ---- the calls -------------------------------------------------------------------------- */

static bool ERROR(BrioStatus status) { return status == BRIO_ERROR_ARGUMENT; }
static bool NONE(const void *pointer) { return !pointer; }
static bool NOT_A_NUMBER(double value) { return isnan(value); }
static bool ZERO(int64_t value) { return value == 0; }
static bool ONE(int64_t value) { return value == 1; }
static bool MINUS_ONE(int64_t value) { return value == -1; }
#define NOTHING(call) (call, true)

#define system system_ /* the handle, not the function of stdlib.h */
typedef struct Row {
    const char *function, *call;
    int line; /* of arguments.def; 0: no pointers */
} Row;
static const Row rows[] = {
#define ARGUMENT(function, answer, call) {#function, #call, __LINE__},
#define NO_POINTERS(function) {#function, "", 0},
#include "arguments.def"
#undef ARGUMENT
#undef NO_POINTERS
};

/* Runs the call in that line; whether it answered as it should. */
static bool answers(int line)
{
    switch (line) {
#define ARGUMENT(function, answer, call) \
    case __LINE__:                       \
        return answer(call);
#define NO_POINTERS(function)
#include "arguments.def"
#undef ARGUMENT
#undef NO_POINTERS
    }
    return false;
}
#undef system

static void every_call_is_refused(void **unused)
{
    (void)unused;
    int wrong = 0, calls = 0;
    for (size_t i = 0; i < BRIO_COUNT(rows); i++) {
        if (!rows[i].line) continue;
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            error = (BrioError){0};
            _exit(answers(rows[i].line) ? 0 : 1);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        calls++;
        if (status == 0) continue;
        wrong++;
        print_message("%s %s\n", rows[i].call,
                      WIFSIGNALED(status) ? "crashed" : "gave another answer");
    }
    print_message("%d calls, %d wrong\n", calls, wrong);
    assert_int_equal(wrong, 0);
}

/* Definitions that hold nothing, and counts without an array. */
static void empty_definitions_are_refused(void **unused)
{
    (void)unused;
    BrioMesh counts = {.vertex_count = 4, .tet_count = 1};
    BrioMesh corners = {.vertex_count = 4, .x = numbers, .tet_count = 1, .triangle_count = 1};
    BrioBodyDef hollow = body;
    BrioScript keys = {.end = 1, .key_count = 2};
    BrioForceDef lists;
    assert_int_equal(brio_default_force("constant", &lists, NULL), BRIO_OK);
    lists.body_count = 1;
    assert_true(brio_builder_body(builder, &(BrioBodyDef){0}, NULL, NULL) < 0);
    hollow.name = "b";
    for (int k = 0; k < 2; k++) {
        hollow.mesh = k ? &counts : &corners;
        assert_true(brio_builder_body(builder, &hollow, NULL, NULL) < 0);
        assert_true(brio_builder_obstacle(builder, &(BrioObstacleDef){.mesh = hollow.mesh}, NULL) <
                    0);
    }
    assert_true(brio_builder_obstacle(builder, &(BrioObstacleDef){0}, NULL) < 0);
    assert_true(brio_builder_force(builder, &(BrioForceDef){0}, NULL) < 0);
    assert_true(brio_builder_force(builder, &lists, NULL) < 0);
    assert_true(brio_builder_fix(builder, 0, indices, 1, &keys, NULL) < 0);
    assert_true(brio_builder_attach(builder, 0, 0, numbers, 1, &keys, NULL) < 0);
    assert_true(brio_sim_open(&(BrioSource){0}, &other_sim, NULL) < 0);
    assert_true(brio_sim_open(&(BrioSource){.name = name, .set_count = 1}, &other_sim, NULL) < 0);
    assert_true(brio_run(&(BrioRunDef){0}, NULL, NULL) < 0);
    assert_true(brio_run(&(BrioRunDef){.out = "/nonexistent"}, NULL, NULL) < 0);
    assert_true(brio_register_energy(&(BrioEnergyDef){0}, NULL) < 0);
    assert_true(brio_register_integrator(&(BrioIntegrator){0}, NULL) < 0);
    assert_true(brio_material_set(&(BrioMaterial){0}, name, 1, NULL) < 0);
    assert_true(brio_damping_set(&(BrioDamping){0}, name, 1, NULL) < 0);
    assert_true(brio_sim_create(new_system(), new_state(), &(BrioSimDef){0}, &other_sim, NULL) < 0);
    brio_builder_contact(builder, &(BrioContactDef){0});
}

/* An integrator gets no vector or number beyond those that there are, and impulses beyond the last
 * that counts change nothing. */
static void nothing_beyond_the_last(void **unused)
{
    (void)unused;
    static const char search[] = "integrator: a-search\nbodies: [{shape: {type: box, cells: [1, 1, "
                                 "1]}, material: {type: neo-hookean, E: 1e5}}]\n";
    BrioSim *own = NULL;
    assert_int_equal(brio_sim_parse(search, strlen(search), "test", &own, &error), BRIO_OK);
    BrioStepper *s = own->stepper;
    int history = brio_integrator("a-search")->history;
    assert_true(brio_stepper_scratch(s, 0) && brio_stepper_scratch(s, BRIO_SCRATCH - 1));
    assert_false(brio_stepper_scratch(s, -1) || brio_stepper_scratch(s, BRIO_SCRATCH));
    assert_true(brio_stepper_room(s, 0) && brio_stepper_room(s, BRIO_ROOM - 1));
    assert_false(brio_stepper_room(s, -1) || brio_stepper_room(s, BRIO_ROOM));
    assert_true(brio_stepper_history(s, 0) && brio_stepper_history(s, history - 1));
    assert_false(brio_stepper_history(s, -1) || brio_stepper_history(s, history));
    const double *q = brio_stepper_q(s);
    double p[24] = {1, 2, 3, 4}, v[2][24];
    BrioImpulse impulse[BRIO_IMPULSES + 3];
    for (int k = 0; k < BRIO_IMPULSES + 3; k++) impulse[k] = (BrioImpulse){q, p, k + 1};
    brio_stepper_rigid(s, q, impulse, BRIO_IMPULSES, v[0], NULL);
    brio_stepper_rigid(s, q, impulse, BRIO_IMPULSES + 3, v[1], NULL);
    assert_true(v[0][0] != 0);
    assert_memory_equal(v[0], v[1], sizeof v[0]);
    brio_sim_free(own);
}

/* A list of fewer than none is empty, whatever the body is. */
static void negative_counts_are_none(void **unused)
{
    (void)unused;
    const int none = 100000000;
    assert_int_equal(brio_builder_fix(builder, none, NULL, -1, NULL, NULL), BRIO_OK);
    assert_int_equal(brio_builder_fix_axes(builder, none, NULL, -1, 1, NULL), BRIO_OK);
    assert_int_equal(brio_builder_attach_all(builder, none, NULL, -1, NULL, 1, NULL, NULL, NULL),
                     BRIO_OK);
}

/* What is rejected says so, and names the function. */
static void refusals_have_a_sentence(void **unused)
{
    (void)unused;
    error = (BrioError){0};
    assert_int_equal(brio_sim_step(dead_sim, &error), BRIO_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "brio_sim_step: an argument is NULL"));
    assert_int_equal(brio_sim_step(sim, &error), BRIO_OK);
}

/* A program may use one BrioError for all calls: each leaves its own sentence. */
static void old_sentences_go(void **unused)
{
    (void)unused;
    static const char old[] = "the sentence of an earlier call";
    const double nowhere[3] = {0, NAN, 0};
    const BrioField *of_box = brio_shape_fields(name);
    BrioMaterial hooke;
    BrioForceDef constant;
    BrioDamping rayleigh;
    BrioConstraintDef rod;
    assert_int_equal(brio_default_material("hooke", &hooke, NULL), BRIO_OK);
    assert_int_equal(brio_default_force("constant", &constant, NULL), BRIO_OK);
    assert_int_equal(brio_default_damping("rayleigh", &rayleigh, NULL), BRIO_OK);
    assert_int_equal(brio_default_constraint("rod", &rod, NULL), BRIO_OK);
    enum { CALLS = 26 };
    for (int i = 0; i < CALLS; i++) {
        error = (BrioError){.status = BRIO_ERROR_INPUT};
        snprintf(error.message, sizeof error.message, "%s", old);
        const BrioStatus status[] = {
            i == 0 ? brio_sim_step_by(sim, -1, &error) : 0,
            i == 1 ? brio_sim_drag(sim, 3, numbers, &error) : 0,
            i == 2 ? brio_sim_grab(sim, 9, numbers, 1, &number, &error) : 0,
            i == 3 ? brio_sim_set_force(sim, 9, 1, &error) : 0,
            i == 4 ? brio_sim_set_material(sim, 0, old, 1, &error) : 0,
            i == 5 ? brio_sim_set_integrator(sim, old, NULL, &error) : 0,
            i == 6 ? brio_sim_set_positions(sim, 9, numbers, &error) : 0,
            i == 7 ? brio_sim_set_gravity(sim, nowhere, &error) : 0,
            i == 8 ? brio_sim_set_damping(sim, 0, old, 1, &error) : 0,
            i == 9 ? brio_sim_save(sim, "/nowhere/at/all", 1, &error) : 0,
            i == 10 ? brio_sim_restore(sim, "/nowhere/at/all", &error) : 0,
            i == 11 ? brio_sim_parse(name, 3, name, &other_sim, &error) : 0,
            i == 12 ? brio_sim_load("/nowhere/at/all", &other_sim, &error) : 0,
            i == 13 ? brio_fields_set(of_box, numbers, old, numbers, &error) : 0,
            i == 14 ? brio_default_material(old, &hooke, &error) : 0,
            i == 15 ? brio_material_set(&hooke, old, 1, &error) : 0,
            i == 16 ? brio_default_force(old, &constant, &error) : 0,
            i == 17 ? brio_force_set(&constant, old, numbers, &error) : 0,
            i == 18 ? brio_default_damping(old, &rayleigh, &error) : 0,
            i == 19 ? brio_damping_set(&rayleigh, old, 1, &error) : 0,
            i == 20 ? brio_default_constraint(old, &rod, &error) : 0,
            i == 21 ? brio_constraint_set(&rod, old, 1, &error) : 0,
            i == 22 ? brio_sequence_create(-1, 3, &sequence, &error) : 0,
            i == 23 ? brio_register_energy(&(BrioEnergyDef){0}, &error) : 0,
            i == 24 ? brio_register_integrator(&(BrioIntegrator){0}, &error) : 0,
            i == 25 ? brio_sim_release(sim, 3, &error) : 0,
        };
        assert_int_equal(BRIO_COUNT(status), CALLS);
        assert_int_not_equal(status[i], BRIO_OK);
        assert_int_equal(error.status, status[i]);
        if (!strcmp(error.message, old)) fail_msg("call %d keeps the old sentence", i);
    }
}

/* ---- no function is left out ------------------------------------------------------------ */

static bool has_row(const char *function, size_t length)
{
    for (size_t i = 0; i < BRIO_COUNT(rows); i++)
        if (strlen(rows[i].function) == length && !strncmp(rows[i].function, function, length))
            return true;
    return false;
}

/* The functions of a header that have no row. */
static int missing_in(const char *header, int *functions)
{
    int missing = 0;
    for (const char *at = header; (at = strstr(at, "\nBRIO_API ")); at++) {
        const char *begin = strstr(at, "brio_");
        size_t length = begin ? strcspn(begin, "(") : 0;
        ++*functions;
        if (length && has_row(begin, length)) continue;
        print_message("%.*s has no row in tests/arguments.def\n", (int)length, begin);
        missing++;
    }
    return missing;
}

static void every_function_has_a_row(void **unused)
{
    (void)unused;
    int missing = 0, functions = 0;
    DIR *folder = opendir(BRIO_SOURCE_DIR "/include/brio");
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        static char content[1 << 20];
        char path[600];
        if (!strstr(entry->d_name, ".h")) continue;
        snprintf(path, sizeof path, BRIO_SOURCE_DIR "/include/brio/%s", entry->d_name);
        FILE *stream = fopen(path, "r");
        assert_non_null(stream);
        content[fread(content, 1, sizeof content - 1, stream)] = 0;
        fclose(stream);
        missing += missing_in(content, &functions);
    }
    closedir(folder);
    print_message("%d functions\n", functions);
    assert_true(functions >= 190);
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_has_a_row),
        cmocka_unit_test(every_call_is_refused),
        cmocka_unit_test(empty_definitions_are_refused),
        cmocka_unit_test(nothing_beyond_the_last),
        cmocka_unit_test(negative_counts_are_none),
        cmocka_unit_test(refusals_have_a_sentence),
        cmocka_unit_test(old_sentences_go),
    };
    return cmocka_run_group_tests(tests, prepare, tidy);
}
