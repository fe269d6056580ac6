/* brio bench: the speed of the engine on this machine, compared with the limits of the machine. */
#include "bench.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

volatile double bench_sink;

/* ---- printing: a table for people, or one JSON object ----------------------------------- */

bool bench_by_figure;
static bool json;
static int json_rows;
static BrioNode *against; /* results of an earlier run; NULL: none */

void heading(const char *text)
{
    if (!json) printf("\n%s\n", text);
}

/* The same figure of the earlier run, NAN without one. */
static double earlier_value(const char *bench, const char *name)
{
    const BrioNode *results = against ? brio__node_get(against, "results") : NULL;
    for (int i = 0; results && i < results->count; i++) {
        BrioNode *row = results->child[i];
        BrioNode *its_bench = brio__node_get(row, "bench"), *its_name = brio__node_get(row, "name");
        BrioNode *its_value = brio__node_get(row, "value");
        double value;
        if (its_bench && its_name && its_value && its_bench->text && its_name->text &&
            !strcmp(its_bench->text, bench) && !strcmp(its_name->text, name) &&
            brio__node_real(its_value, &value, NULL) == BRIO_OK)
            return value;
    }
    return NAN;
}

/* One figure: name, value, unit, and how it compares. */
void figure(const char *bench, const char *name, double value, const char *unit)
{
    double before = earlier_value(bench, name);
    if (json) {
        printf("%s\n  {\"bench\": \"%s\", \"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\"",
               json_rows++ ? "," : "", bench, name, value, unit);
        if (!isnan(before)) printf(", \"before\": %.6g, \"ratio\": %.4g", before, value / before);
        printf("}");
    } else {
        printf("  %-58s %10.4g %s", name, value, unit);
        if (!isnan(before)) printf("  (before %.4g: %.3f times)", before, value / before);
        printf("\n");
    }
    fflush(stdout);
}

/* Reads what `brio bench --json` wrote. */
static bool read_against(const char *file)
{
    BrioError error = {0};
    BrioStatus status = brio__tree_read(file, &against, &error);
    if (status == BRIO_OK) {
        const BrioNode *results =
            against->kind == BRIO_NODE_MAP ? brio__node_get(against, "results") : NULL;
        bool rows = results && results->kind == BRIO_NODE_LIST;
        for (int i = 0; rows && i < results->count; i++)
            rows = results->child[i]->kind == BRIO_NODE_MAP;
        if (rows) return true;
        fprintf(stderr, "brio bench: %s has no list `results`: is it from brio bench --json?\n",
                file);
        return false;
    }
    char message[2048];
    brio_error_text(&error, message, sizeof message);
    fprintf(stderr, "brio bench: %s\n", message);
    return false;
}

void say(const char *text) { fprintf(stderr, "%s\n", text); }

/* ---- memory: what the library holds, counted where it asks for it; CHOLMOD's factor does not pass
 * here ---- */

int64_t bench_fixed, bench_asked; /* bytes, calls */

static void *count_allocate(void *user, size_t size)
{
    (void)user;
    void *memory = malloc(size);
    __atomic_add_fetch(&bench_asked, 1, __ATOMIC_RELAXED);
    if (memory)
        __atomic_add_fetch(&bench_fixed, (int64_t)malloc_usable_size(memory), __ATOMIC_RELAXED);
    return memory;
}

static void count_release(void *user, void *memory)
{
    (void)user;
    __atomic_sub_fetch(&bench_fixed, (int64_t)malloc_usable_size(memory), __ATOMIC_RELAXED);
    free(memory);
}

/* ---- bodies to measure on --------------------------------------------------------------- */

static BrioStatus bar_mesh(int64_t tets, const double size[3], double cells[3], BrioMesh **mesh,
                           BrioError *error)
{
    double values[BRIO_MAX_VALUES], side = cbrt((double)tets / 24), six = 6;
    const BrioField *fields = brio_shape_fields("box");
    cells[0] = round(4 * side);
    cells[1] = cells[2] = round(side);
    brio_fields_defaults(fields, values);
    brio_fields_set(fields, values, "size", size, NULL);
    brio_fields_set(fields, values, "cells", cells, NULL);
    brio_fields_set(fields, values, "tets", &six, NULL);
    return brio_mesh_shape("box", values, mesh, error);
}

/* Positions and velocities: twisted about its axis, and every vertex moved a little. NULL: no
 * memory. */
static double *bent_state(const BrioMesh *mesh, double jitter)
{
    double *first = brio__alloc((size_t)mesh->vertex_count * 6, sizeof *first);
    BrioRandom random = {1};
    for (int64_t v = 0; first && v < mesh->vertex_count; v++) {
        const double *X = mesh->x + 3 * v;
        double angle = 1.5 * X[0], c = cos(angle), s = sin(angle);
        double x[3] = {X[0], c * X[1] - s * X[2], s * X[1] + c * X[2]};
        for (int r = 0; r < 3; r++) {
            first[6 * v + r] = x[r] + jitter * (brio__random(&random) - 0.5);
            first[6 * v + 3 + r] = 0;
        }
    }
    return first;
}

/* The system of the bar, which is fixed at one end. */
static BrioStatus bar_system(const BrioMesh *mesh, const double *first, const char *material,
                             double length, BrioSystem **system, BrioState **state,
                             BrioError *error)
{
    BrioBuilder *builder = NULL;
    BrioBodyDef def = brio_default_body();
    double gravity[3] = {0, -9.8, 0};
    def.name = "bar";
    def.mesh = mesh;
    def.state = first;
    BrioStatus status = brio_default_material(material, &def.material, NULL);
    if (status == BRIO_OK) status = brio_builder_create(&builder, NULL);
    if (status == BRIO_OK) {
        brio_builder_gravity(builder, gravity);
        status = brio_builder_body(builder, &def, NULL, error);
    }
    for (int32_t v = 0; status == BRIO_OK && v < mesh->vertex_count; v++)
        if (mesh->x[3 * (int64_t)v] < -0.5 * length + 1e-9)
            status = brio_builder_fix(builder, 0, &v, 1, NULL, error);
    if (status == BRIO_OK) status = brio_builder_finish(builder, system, state, error);
    brio_builder_free(builder);
    return status;
}

BrioSim *bench_bar(const char *material, int64_t tets, const char *linear, const char *integrator)
{
    BrioSimDef def = brio_default_sim(integrator);
    def.solver.linear = linear;
    def.solver.tol = 1e-3;
    return bench_bar_with(material, tets, &def);
}

BrioSim *bench_bar_with(const char *material, int64_t tets, const BrioSimDef *def)
{
    const double size[3] = {0.4, 0.1, 0.1};
    double cells[3], *first = NULL;
    BrioMesh *mesh = NULL;
    BrioSystem *system = NULL;
    BrioState *state = NULL;
    BrioSim *sim = NULL;
    BrioError error = {0};
    BrioStatus status = bar_mesh(tets, size, cells, &mesh, &error);
    if (status == BRIO_OK) {
        first = bent_state(mesh, 0.02 * size[1] / cells[1]);
        if (!first) status = BRIO_ERROR_MEMORY;
    }
    if (status == BRIO_OK)
        status = bar_system(mesh, first, material, size[0], &system, &state, &error);
    brio_mesh_free(mesh);
    brio__free(first);
    if (status == BRIO_OK) status = brio_sim_create(system, state, def, &sim, &error);
    if (status == BRIO_OK) return sim;
    fprintf(stderr, "brio bench: %s: %s\n", brio_status_text(status), error.message);
    return NULL;
}

BrioSim *bench_scene(const char *name, const char *set)
{
    BrioScene *scene = NULL;
    BrioSim *sim = NULL;
    BrioError error = {0};
    char text[2048];
    BrioStatus status = brio__scene_load(name, &set, set ? 1 : 0, &scene, &error);
    if (status == BRIO_OK) status = brio__scene_sim(scene, &sim, &error);
    brio__scene_free(scene);
    if (status == BRIO_OK) return sim;
    brio_error_text(&error, text, sizeof text);
    fprintf(stderr, "brio bench: %s\n", text);
    return NULL;
}

/* ---- command ---------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int (*run)(void);
} benches[] = {
#define BENCH(bar, name, about) {#name, bench_##name},
#include "list.def"
#undef BENCH
};

static const Option options[] = {
    {"--json", 0, NULL, "One JSON object on the standard output."},
    {"--threads", 0, "N", "Number of threads. Default: one per core."},
    {"--against", 0, "FILE", "Compare with the results of an earlier --json."},
    {0}};

static int run(int argc, char **argv)
{
    Arguments arguments = {.command = &command_bench, .argc = argc, .argv = argv, .at = 1};
    const char *chosen = NULL;
    int64_t threads = 0;
    for (int option; (option = argument_next(&arguments)) != ARGUMENT_END;) {
        if (option == ARGUMENT_BAD) return arguments.exit;
        if (option == 0) json = true;
        if (option == 1 &&
            !read_count(&command_bench, "--threads", arguments.value, 1024, &threads))
            return EXIT_USAGE;
        if (option == 2 && !read_against(arguments.value)) return EXIT_USAGE;
        if (option == ARGUMENT_WORD) {
            const char *names[BRIO_COUNT(benches)];
            for (size_t i = 0; i < BRIO_COUNT(benches); i++) {
                names[i] = benches[i].name;
                if (!strcmp(names[i], arguments.value)) chosen = names[i];
            }
            if (!chosen)
                return unknown_name(&command_bench, "bench", arguments.value, names,
                                    (int)BRIO_COUNT(benches));
        }
    }
    brio_set_threads((int)threads);
    brio_set_allocator(&(BrioAllocator){count_allocate, count_release, NULL});
    bench_by_figure = json || against;
    if (json)
        printf("{\"version\": \"%s\", \"isa\": \"%s\", \"blas\": \"%s\", \"threads\": %d, "
               "\"results\": [",
               brio_version(), brio_isa(), brio__blas_name(), brio_threads());
    int exit = EXIT_DONE;
    for (size_t i = 0; i < BRIO_COUNT(benches) && exit == EXIT_DONE; i++)
        if (!chosen || chosen == benches[i].name) exit = benches[i].run();
    if (json) printf("\n]}\n");
    brio__tree_free(against);
    return exit;
}

const Command command_bench = {
    .name = "bench",
    .summary = "Measure the speed of the engine on this machine.",
    .synopsis = "["
#define BENCH(bar, name, about) bar #name
#include "list.def"
#undef BENCH
                "] [--json] [--threads N] [--against FILE]",
    .about =
#define BENCH(bar, name, about) #name ": " about "\n"
#include "list.def"
#undef BENCH
        "All other figures are the minimum of several runs. Timings on a busy machine mean little.",
    .options = options,
    .examples = "brio bench elements\nbrio bench --json > bench.json\n"
                "brio bench newton --against bench.json",
    .run = run,
};
