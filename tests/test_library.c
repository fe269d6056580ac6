/* The parts of the public header that other languages are built on: energies registered at run
 * time, scenes from a source with changes, runs, checkpoints, views. */
#include "energy/energy.h"
#include "sim/sim.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

/* ---- energies at run time --------------------------------------------------------------- */

/* Hooke's springs, an element after the other. `user` counts calls, and makes them fail where it is
 * negative. */
static BrioStatus springs(void *user, const BrioElements *e)
{
    atomic_int *count = user; /* several threads call */
    if (*count < 0) return BRIO_ERROR_ARGUMENT;
    ++*count;
    for (int64_t i = 0; i < e->count; i++) {
        const double *x = e->x + 6 * i;
        double d[3] = {x[3] - x[0], x[4] - x[1], x[5] - x[2]};
        double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        double k = e->values[0] * e->weight[i];
        double stretch = length - e->size[i];
        double across = k * stretch / length;
        e->energy[i] = k / 2 * stretch * stretch;
        for (int r = 0; r < 3; r++) {
            if (e->gradient)
                e->gradient[6 * i + r] = -across * d[r], e->gradient[6 * i + 3 + r] = across * d[r];
            for (int s = 0; e->hessian && s < 3; s++) {
                double K = (k - across) * d[r] * d[s] / (length * length) + (r == s ? across : 0);
                double *H = e->hessian + 36 * i;
                H[6 * r + s] = H[6 * (r + 3) + s + 3] = K;
                H[6 * r + s + 3] = H[6 * (r + 3) + s] = -K;
            }
        }
    }
    return BRIO_OK;
}

static const BrioField fields[] = {{"k", BRIO_REAL, "N/m", 1000, 1e-300, 1e15, 0, "Stiffness."},
                                   {"vertex_mass", BRIO_REAL, "kg", NAN, 1e-300, 1e15, 0, "Mass."},
                                   {"rho", BRIO_REAL, "kg/m2", NAN, 1e-300, 1e15, 0, "Density."},
                                   {0}};
static atomic_int calls;
static const BrioEnergyDef plain = {
    .name = "plain", .kind = BRIO_KIND_SPRINGS, .fields = fields, .user = &calls, .eval = springs};

static BrioSim *open_scene(const char *name, int count, const char *const *sets)
{
    BrioSim *sim = NULL;
    BrioError error = {0};
    BrioStatus status =
        brio_sim_open(&(BrioSource){.name = name, .sets = sets, .set_count = count}, &sim, &error);
    if (status) print_message("%s\n", error.message);
    assert_int_equal(status, BRIO_OK);
    return sim;
}

static void energy_equals_hooke(void **unused)
{
    (void)unused;
    /* elements do not fill their blocks */
    const char *const sets[] = {"solver.tol=1e-10", "bodies.0.shape.cells_x=13", "probes=[]",
                                "bodies.0.material.type=plain"};
    BrioSim *sim[2] = {open_scene("cloth", 3, sets), open_scene("cloth", 4, sets)};
    int64_t n = brio_system_coordinates(brio_sim_system(sim[0]));
    double max = 0;
    for (int k = 0; k < 20; k++) {
        for (int i = 0; i < 2; i++) assert_int_equal(brio_sim_step(sim[i], NULL), BRIO_OK);
        const double *a = brio_state_q(brio_sim_state(sim[0]));
        const double *b = brio_state_q(brio_sim_state(sim[1]));
        for (int64_t i = 0; i < n; i++) max = brio__larger(max, fabs(a[i] - b[i]));
    }
    print_message("%.2g m apart from hooke after 20 steps, %d calls\n", max, calls);
    assert_true(calls > 0 && max < 1e-11); /* both are solved to h tol = 2e-12 m, which adds up */
    double before = brio_sim_time(sim[1]);
    calls = -1;
    assert_int_not_equal(brio_sim_step(sim[1], NULL), BRIO_OK);
    assert_true(brio_sim_time(sim[1]) == before);
    calls = 0;
    assert_int_equal(brio_sim_step(sim[1], NULL), BRIO_OK);
    for (int i = 0; i < 2; i++) brio_sim_free(sim[i]);
}

/* The projected Hessian of a compressed spring: its eigenvalues are k along it, twice for the two
 * ends, and 0 instead of the negative ones across. */
static void projection(void **unused)
{
    (void)unused;
    const BrioEnergy *energy = brio__energy("plain");
    double params[3] = {10, 1, NAN};
    double X[6] = {0, 0, 0, 1, 0, 0};
    double x[6] = {0, 0, 0, 0.3, 0.4, 0};
    double rest[16], H[36], P[36];
    double n[3] = {0.6, 0.8, 0};
    energy->rest_shape(X, 1, NAN, rest);
    brio__energy_one(energy, params, rest, x, NULL, H, false);
    brio__energy_one(energy, params, rest, x, NULL, P, true);
    for (int r = 0; r < 6; r++)
        for (int s = 0; s < 6; s++) {
            double along = 10 * n[r % 3] * n[s % 3] * (r / 3 == s / 3 ? 1 : -1);
            assert_true(fabs(P[6 * r + s] - along) < 1e-13);
        }
    assert_true(H[14] < -1); /* z: across it */
}

static void energies_refused(void **unused)
{
    (void)unused;
    static const BrioField no_mass[] = {{"k", BRIO_REAL, "", 1, 0, 1, 0, ""}, {0}};
    static const BrioField vector[] = {{"rho", BRIO_VECTOR, "", 1, 0, 1, 0, ""}, {0}};
    const BrioEnergyDef wrong[] = {
        {.name = "a", .kind = BRIO_KIND_SPRINGS, .fields = fields},
        {.name = "a", .kind = BRIO_KIND_SPRINGS, .eval = springs},
        {.name = "hooke", .kind = BRIO_KIND_SPRINGS, .fields = fields, .eval = springs},
        {.name = "plain", .kind = BRIO_KIND_SPRINGS, .fields = fields, .eval = springs},
        {.name = "a", .kind = BRIO_KIND_SHELL, .fields = fields, .eval = springs},
        {.name = "a", .kind = BRIO_KIND_SPRINGS, .fields = no_mass, .eval = springs},
        {.name = "a", .kind = BRIO_KIND_SOLID, .fields = vector, .eval = springs}};
    const char *const said[] = {"needs a name",          "needs a name",
                                "\"hooke\" already",     "\"plain\" already",
                                "springs and of solids", "give it a field rho or vertex_mass",
                                "not a number"};
    for (size_t i = 0; i < BRIO_COUNT(wrong); i++) {
        BrioError error = {0};
        assert_int_equal(brio_register_energy(&wrong[i], &error), BRIO_ERROR_ARGUMENT);
        assert_non_null(strstr(error.message, said[i]));
    }
    assert_null(brio__energy("a"));
}

/* ---- errors ----------------------------------------------------------------------------- */

static void expect(BrioStatus status, BrioStatus expected, BrioError *error, const char *said)
{
    assert_int_equal(status, expected);
    assert_int_equal(error->status, expected);
    if (!strstr(error->message, said)) fail_msg("no '%s' in: %s", said, error->message);
    *error = (BrioError){0};
}

/* What is rejected is rejected with a sentence, in the last argument, wherever it comes from. */
static void refusals(void **unused)
{
    (void)unused;
    static const char scene[] = "gravity: [0, -9.8, 0]\n"
                                "bodies: [{shape: {type: box, cells: [1, 1, 1]}, "
                                "material: {type: neo-hookean, E: 1e5}}]\n";
    BrioError error = {0};
    BrioMaterial material;
    BrioDamping damping;
    BrioSim *sim = NULL;
    expect(brio_default_material("ruber", &material, &error), BRIO_ERROR_ARGUMENT, &error,
           "no material \"ruber\"; did you mean \"rubber\"?");
    expect(brio_default_material("porridge", &material, &error), BRIO_ERROR_ARGUMENT, &error,
           "no material \"porridge\"; brio_material_at and brio_preset_at name them");
    assert_int_equal(brio_default_material("hooke", &material, &error), BRIO_OK);
    expect(brio_material_set(&material, "E", 1, &error), BRIO_ERROR_ARGUMENT, &error,
           "no field \"E\": there are k, ");
    expect(brio_material_set(&material, "k", -1, &error), BRIO_ERROR_ARGUMENT, &error, "k = -1");
    expect(brio_default_damping("oil", &damping, &error), BRIO_ERROR_ARGUMENT, &error,
           "no damping model \"oil\"");
    expect(brio_register_integrator(brio_integrator("bdf2"), &error), BRIO_ERROR_ARGUMENT, &error,
           "\"bdf2\" already");
    expect(brio_register_integrator(&(BrioIntegrator){.name = "a"}, &error), BRIO_ERROR_ARGUMENT,
           &error, "needs a name and a step");
    assert_int_equal(brio_sim_parse(scene, strlen(scene), "test", &sim, &error), BRIO_OK);
    int64_t n = 3 * brio_body_vertices(brio_sim_system(sim), 0);
    double *x = calloc((size_t)n, sizeof *x);
    assert_non_null(x);
    expect(brio_sim_set_positions(sim, 0, x, &error), BRIO_STEP_REJECTED, &error, "forbidden");
    assert_non_null(strstr(brio_sim_reason(sim), "forbidden"));
    expect(brio_sim_set_velocities(sim, 7, x, &error), BRIO_ERROR_ARGUMENT, &error, "no body");
    x[0] = NAN;
    expect(brio_sim_set_velocities(sim, 0, x, &error), BRIO_ERROR_ARGUMENT, &error, "not finite");
    expect(brio_sim_set_gravity(sim, x, &error), BRIO_ERROR_ARGUMENT, &error, "not finite");
    expect(brio_sim_step_by(sim, 0, &error), BRIO_ERROR_ARGUMENT, &error, "must be positive");
    expect(brio_sim_release(sim, 3, &error), BRIO_ERROR_ARGUMENT, &error, "hand 3 is not in use");
    expect(brio_sim_set_integrator(sim, "bdf9", NULL, &error), BRIO_ERROR_ARGUMENT, &error,
           "no integrator \"bdf9\"");
    assert_int_equal(brio_sim_step(sim, &error), BRIO_OK);
    assert_int_equal(error.status, BRIO_OK);
    free(x);
    brio_sim_free(sim);
}

/* ---- checkpoints and runs --------------------------------------------------------------- */

static char folder[] = "/tmp/brio-library-XXXXXX";

static const char *at(const char *name)
{
    static char path[4][256];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

static void checkpoints(void **unused)
{
    (void)unused;
    const char *const sets[] = {"integrator=bdf2"};
    BrioSim *a = open_scene("cloth", 1, sets);
    BrioSim *b = open_scene("cloth", 1, sets);
    BrioSim *c = open_scene("cloth", 0, NULL);
    BrioSim *d = open_scene("spinning-cube", 0, NULL);
    BrioError error = {0};
    for (int k = 0; k < 3; k++) assert_int_equal(brio_sim_step(a, NULL), BRIO_OK);
    assert_int_equal(brio_sim_save(a, at("saved"), 0, &error), BRIO_OK);
    assert_int_equal(brio_sim_save(a, at("saved"), 0, &error), BRIO_ERROR_EXISTS);
    assert_int_equal(brio_sim_save(a, at("saved"), 1, NULL), BRIO_OK);
    assert_int_equal(brio_sim_restore(b, at("saved"), NULL), BRIO_OK);
    size_t bytes = (size_t)brio_system_coordinates(brio_sim_system(a)) * sizeof(double);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(brio_sim_step(a, NULL), BRIO_OK);
        assert_int_equal(brio_sim_step(b, NULL), BRIO_OK);
    }
    assert_memory_equal(brio_state_q(brio_sim_state(a)), brio_state_q(brio_sim_state(b)), bytes);
    assert_memory_equal(brio_state_v(brio_sim_state(a)), brio_state_v(brio_sim_state(b)), bytes);
    assert_int_equal(brio_sim_restore(c, at("saved"), NULL), BRIO_ERROR_INPUT);
    assert_int_equal(brio_sim_restore(d, at("saved"), NULL), BRIO_ERROR_INPUT);
    assert_int_equal(brio_sim_restore(a, at("none"), NULL), BRIO_ERROR_FILE);
    assert_int_equal(brio_sim_save(a, at("no/such"), 0, NULL), BRIO_ERROR_FILE);
    assert_int_equal(brio_sim_save(a, at(""), 0, NULL), BRIO_ERROR_ARGUMENT);
    FILE *file = fopen(at("saved"), "r+");
    struct stat info;
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &info), 0);
    assert_int_equal(ftruncate(fileno(file), info.st_size - 9), 0);
    fclose(file);
    assert_int_equal(brio_sim_restore(b, at("saved"), NULL), BRIO_ERROR_INPUT);
    assert_memory_equal(brio_state_q(brio_sim_state(a)), brio_state_q(brio_sim_state(b)), bytes);
    assert_true(brio_sim_h(a) == 1.0 / 60);
    brio_sim_free(a), brio_sim_free(b), brio_sim_free(c), brio_sim_free(d);
}

static int stop_at_four(void *user, const BrioProgress *progress)
{
    ++*(int *)user;
    return progress->step == 4;
}

static void runs(void **unused)
{
    (void)unused;
    static const char text[] =
        "{\"time\": {\"h\": 0.01, \"end\": 1}, \"bodies\": [{\"shape\": {\"type\": \"line\", "
        "\"length\": 1, \"cells\": 3}, \"material\": {\"type\": \"hooke\", \"vertex_mass\": 1}}]}";
    const char *const sets[] = {"time.end=0.1"}, *const bad[] = {"time.end=x"};
    int told = 0;
    BrioProgress last;
    BrioError error = {0};
    BrioSim *sim;
    char out[256];
    snprintf(out, sizeof out, "%s", at("run"));
    BrioRunDef def = {.source = {.name = "line",
                                 .text = text,
                                 .size = strlen(text),
                                 .sets = sets,
                                 .set_count = 1},
                      .out = out,
                      .progress = stop_at_four,
                      .user = &told};
    assert_int_equal(brio_run(&def, &last, &error), BRIO_STOPPED);
    assert_true(last.step == 4 && last.steps == 10 && told == 5);
    assert_int_equal(brio_run(&def, NULL, &error), BRIO_ERROR_EXISTS);
    def.progress = NULL;
    def.resume = 1;
    assert_int_equal(brio_run(&def, &last, &error), BRIO_OK);
    assert_true(last.step == 10 && fabs(last.time - 0.1) < 1e-15);
    def.force = 1;
    assert_int_equal(brio_run(&def, NULL, &error), BRIO_ERROR_ARGUMENT);
    def.source.sets = bad;
    def.resume = 0;
    assert_int_equal(brio_run(&def, NULL, &error), BRIO_ERROR_INPUT);
    assert_non_null(strstr(error.path, "time.end"));
    def.out = NULL;
    assert_int_equal(brio_run(&def, NULL, NULL), BRIO_ERROR_ARGUMENT);
    assert_int_equal(brio_run_open(out, &sim, &error), BRIO_OK);
    assert_true(brio_sim_time(sim) == last.time);
    int64_t count;
    assert_non_null(brio_body_edges(brio_sim_system(sim), 0, &count));
    assert_int_equal(count, 3);
    brio_body_tets(brio_sim_system(sim), 0, &count);
    assert_int_equal(count, 0);
    brio_body_edges(brio_sim_system(sim), 7, &count);
    assert_int_equal(count, 0);
    brio_sim_free(sim);
    assert_int_equal(brio_run_open(at("none"), &sim, &error), BRIO_ERROR_FILE);
    assert_int_equal(brio_sim_open(&(BrioSource){.text = text, .size = strlen(text)}, &sim, NULL),
                     BRIO_ERROR_ARGUMENT);
}

static int set_up(void **unused)
{
    (void)unused;
    BrioError error = {0};
    return !mkdtemp(folder) || brio_register_energy(&plain, &error) != BRIO_OK;
}

static int tear_down(void **unused)
{
    (void)unused;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_equals_hooke), cmocka_unit_test(projection),
        cmocka_unit_test(energies_refused),    cmocka_unit_test(refusals),
        cmocka_unit_test(checkpoints),         cmocka_unit_test(runs)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
