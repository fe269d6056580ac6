/* A scene as a whole: its file is parsed, its parts are read in order (each by the file that is
 * named after it), and the builder creates the system and the initial state from them. */
#include "bodies.h"
#include "../sim/control.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static const char default_integrator[] = "backward-euler";

typedef struct Top {
    int64_t version;
    const char *title;
    double gravity[3];
    int quality;
} Top;

static const BrioKey scene_keys[] = {
    {KEY_INTEGER("brio", 1, -DBL_MAX, DBL_MAX, "Version of the scene format."), KEY_TAKES("1"),
     KEY_INTO(Top, version)},
    {KEY_TEXT("title", "Name of the scene in reports."), KEY_DEFAULT(""), KEY_INTO(Top, title)},
    {KEY_MAP("time", "Time step, duration, frames per second.")},
    {KEY_VECTOR("gravity", "m/s2", 0, "Acceleration of free fall."), KEY_COMPONENTS(0, -9.8, 0),
     KEY_INTO(Top, gravity)},
    {KEY_OTHER("integrator", "a name, or a map with `type` and the integrator's parameters",
               "Time integration method: `brio list integrators`."),
     KEY_DEFAULT(default_integrator)},
    {KEY_OTHER("solver", "a name, or a map", "How the implicit step is solved."),
     KEY_WORDS("newton")},
    {KEY_MAP("materials", "Materials that bodies refer to by name."),
     KEY_TAKES("map of name: material")},
    {KEY_LIST("bodies", "The bodies to simulate; at least one."), KEY_TAKES("list of bodies"),
     KEY_REQUIRED},
    {KEY_LIST("probes", "Vertices whose positions are written to probes.csv.")},
    {KEY_MAP("output", "What the run writes.")},
    {KEY_CHOICE("quality", "auto|preview|film|exact", 0,
                "Accuracy of the steps if solver.tol is not given. preview: fast. film: for "
                "pictures. exact: for measurements. auto: film with barrier contact, otherwise "
                "exact. All of them are free of intersections."),
     KEY_INTO(Top, quality)},
    {KEY_OTHER("contact", "a name, or a map",
               "Contact of bodies with each other, with themselves and with obstacles. Without it "
               "they pass through each other.")},
    {KEY_LIST("damping", "Damping models that act together: `brio list damping`."),
     KEY_TAKES("list of names, or maps with `type` and the model's parameters"), KEY_WORDS("[]")},
    {KEY_LIST("obstacles",
              "Things that bodies collide with and cannot push: planes, shapes, meshes; needs "
              "contact.")},
    {KEY_LIST("forces", "Forces in addition to gravity: `brio list forces`.")},
    {KEY_LIST("constraints", "Rods and joints: `brio list constraints`; for integrators that "
                             "support them.")},
    {KEY_LIST("stitches", "Springs from points of a body to the nearest points of another.")},
    KEY_END};
BRIO_SECTION(scene){"", "The scene", scene_keys};

/* An error of the builder belongs to the part that is at fault. */
static BrioStatus finish_builder(BrioNode *root, BrioScene *scene, BrioBuilder *builder,
                                 BrioError *error)
{
    BrioError inner = {0};
    BrioStatus status = brio_builder_finish(builder, &scene->system, &scene->state, &inner);
    if (status == BRIO_OK) return brio__scene_give_looks(scene, error);
    int obstacle = brio__builder_obstacle_at_fault(builder);
    int constraint = brio__builder_constraint_at_fault(builder);
    const BrioNode *node = brio__node_get(root, "bodies");
    if (obstacle >= 0) node = brio__node_get(root, "obstacles")->child[obstacle];
    if (constraint >= 0) node = brio__node_get(root, "constraints")->child[constraint];
    int force = brio__builder_force_at_fault(builder);
    if (force >= 0) node = brio__node_get(root, "forces")->child[force];
    return brio__at_node(node, status, error, &inner);
}

/* Not every integrator supports obstacles or constraints. */
static BrioStatus check_integrator(BrioNode *root, const BrioScene *scene, BrioError *error)
{
    BrioError inner = {0};
    BrioNode *node = brio__node_get(root, "integrator");
    const BrioIntegrator *integrator = brio_integrator(scene->def.integrator);
    BrioStatus status = brio__sim_fits(scene->system, integrator, scene->def.values, &inner);
    if (status == BRIO_OK && scene->def.tol != 0)
        status = brio__control_fits(&scene->def, integrator, &inner);
    return status == BRIO_OK
               ? BRIO_OK
               : brio__at_node(node ? brio__type_node(node) : root, status, error, &inner);
}

static BrioStatus read_top(BrioNode *root, BrioScene *scene, BrioBuilder *builder, BrioError *error)
{
    Top top;
    brio__key_defaults(scene_keys, &top);
    BRIO_CHECK(brio__read_keys(root, scene_keys, &top, error));
    if (top.version != 1)
        return brio__node_error(brio__node_get(root, "brio"), error,
                                "this brio reads scene version 1, not %lld",
                                (long long)top.version);
    scene->title = brio__strdup(top.title);
    if (!scene->title) return brio__no_memory(error);
    brio_builder_gravity(builder, top.gravity);
    scene->def.solver.quality = (BrioQuality)top.quality;
    return BRIO_OK;
}

static BrioStatus read_scene(BrioScene *scene, BrioBuilder *builder, BrioError *error)
{
    BrioNode *root = scene->tree;
    BRIO_CHECK(read_top(root, scene, builder, error));
    BRIO_CHECK(brio__read_time(root, scene, error));
    BRIO_CHECK(brio__read_integrator(root, scene, error));
    BRIO_CHECK(brio__read_solver(root, scene, error));
    BRIO_CHECK(brio__read_damping(root, scene, error));
    BRIO_CHECK(brio__read_output(root, scene, error));
    BRIO_CHECK(brio__read_contact(root, scene, builder, error));
    BRIO_CHECK(brio__read_bodies(root, scene, builder, error));
    BRIO_CHECK(brio__read_pairs(root, builder, error));
    BRIO_CHECK(brio__read_constraints(root, builder, error));
    BRIO_CHECK(brio__read_stitches(root, builder, error));
    BRIO_CHECK(brio__read_forces(root, builder, error));
    BRIO_CHECK(finish_builder(root, scene, builder, error));
    BRIO_CHECK(check_integrator(root, scene, error));
    return brio__read_probes(root, scene, error);
}

/* ---- loading ---------------------------------------------------------------------------- */

/* `text` NULL: the file at `path` is read. */
static BrioStatus load(const char *path, const char *text, size_t size, const char *const *sets,
                       int set_count, BrioScene **out, BrioError *error)
{
    BrioScene *scene = brio__calloc(1, sizeof *scene);
    BrioBuilder *builder = NULL;
    if (!scene) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    scene->def = brio_default_sim(default_integrator);
    scene->file = brio__strdup(path);
    BrioStatus status = scene->file ? BRIO_OK : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK)
        status = text ? brio__tree_parse(text, size, path, &scene->tree, error)
                      : brio__tree_read(path, &scene->tree, error);
    for (int i = 0; status == BRIO_OK && i < set_count; i++)
        status = brio__tree_set(scene->tree, sets[i], error);
    if (status == BRIO_OK) status = brio_builder_create(&builder, NULL);
    if (status == BRIO_OK) status = read_scene(scene, builder, error);
    brio_builder_free(builder);
    if (status == BRIO_OK) {
        *out = scene;
        return BRIO_OK;
    }
    brio__scene_free(scene);
    return brio__error(error, status, "%s", brio_status_text(status));
}

BrioStatus brio__scene_load(const char *name, const char *const *sets, int set_count,
                            BrioScene **out, BrioError *error)
{
    char path[4096];
    struct stat info;
    /* a folder of results may be called as the scene is */
    bool file = stat(name, &info) == 0 && !S_ISDIR(info.st_mode);
    if (file || !brio__scene_path(name, path, sizeof path)) snprintf(path, sizeof path, "%s", name);
    if (stat(path, &info) != 0 && errno == ENOENT) return brio__scene_missing(name, error);
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        char run[4200];
        snprintf(run, sizeof run, "%s/run.json", path);
        if (stat(run, &info) == 0)
            return brio__error_at(error, BRIO_ERROR_FILE, name, 0, 0, NULL,
                                  "this is a folder of results, not a scene (`brio view` and `brio "
                                  "render` show it, `brio check --exact` proves it)");
    }
    return load(path, NULL, 0, sets, set_count, out, error);
}

BrioStatus brio__scene_parse(const char *text, size_t size, const char *name, BrioScene **scene,
                             BrioError *error)
{
    return load(name, text, size, NULL, 0, scene, error);
}

BrioSource brio_default_source(void) { return (BrioSource){0}; }

BrioStatus brio__scene_open(const BrioSource *source, BrioScene **scene, BrioError *error)
{
    if (!source->name || (source->set_count > 0 && !source->sets))
        return brio__error(error, BRIO_ERROR_ARGUMENT,
                           "a scene needs a name, and its changes a list");
    if (source->text)
        return load(source->name, source->text, source->size, source->sets, source->set_count,
                    scene, error);
    return brio__scene_load(source->name, source->sets, source->set_count, scene, error);
}

BrioStatus brio__scene_integrator(const char *name, const char *const *sets, int set_count,
                                  BrioSimDef *def, BrioError *error)
{
    static const char *const keys[] = {"integrator"};
    char first[256];
    BrioNode *root = NULL;
    BrioScene scene = {.def = brio_default_sim(default_integrator)};
    snprintf(first, sizeof first, "integrator=%s", name);
    BrioStatus status = brio__tree_parse("{}", 2, "--integrator", &root, error);
    if (status == BRIO_OK) status = brio__tree_set(root, first, error);
    for (int i = 0; status == BRIO_OK && i < set_count; i++)
        status = brio__tree_set(root, sets[i], error);
    if (status == BRIO_OK) status = brio__read_integrator(root, &scene, error);
    if (status == BRIO_OK) status = brio__node_unknown(root, keys, 1, error);
    if (status == BRIO_OK) *def = scene.def;
    brio__tree_free(root);
    return status;
}

void brio__scene_free(BrioScene *scene)
{
    if (!scene) return;
    brio__free(scene->file);
    brio__free(scene->title);
    brio__tree_free(scene->tree);
    brio_system_free(scene->system);
    brio_state_free(scene->state);
    brio__free(scene->rest);
    brio__scene_free_looks(scene);
    for (int i = 0; i < scene->probe_count; i++) brio__free(scene->probe[i].name);
    brio__free(scene->probe);
    brio__free(scene);
}

BrioStatus brio__scene_sim(BrioScene *scene, BrioSim **sim, BrioError *error)
{
    BrioSystem *system = scene->system;
    BrioState *state = scene->state;
    scene->system = NULL;
    scene->state = NULL;
    BrioError inner = {0};
    BrioStatus status = brio_sim_create(system, state, &scene->def, sim, &inner);
    if (status != BRIO_OK && error && error->status == BRIO_OK) {
        *error = inner;
        snprintf(error->file, sizeof error->file, "%s", scene->file);
    }
    return status;
}

/* The simulation alone is wanted: the rest of the scene goes. */
static BrioStatus sim_of(BrioStatus status, BrioScene *scene, BrioSim **sim, BrioError *error)
{
    if (status == BRIO_OK) {
        status = brio__scene_sim(scene, sim, error);
        brio__scene_free(scene);
    }
    return status;
}

BrioStatus brio_sim_load(const char *file, BrioSim **sim, BrioError *error)
{
    BRIO_NEEDS(file && sim, error);
    if (error) *error = (BrioError){0};
    BrioScene *scene = NULL;
    BrioStatus status = brio__scene_load(file, NULL, 0, &scene, error);
    return sim_of(status, scene, sim, error);
}

BrioStatus brio_sim_parse(const char *text, size_t size, const char *name, BrioSim **sim,
                          BrioError *error)
{
    BRIO_NEEDS(text && name && sim, error);
    if (error) *error = (BrioError){0};
    BrioScene *scene = NULL;
    BrioStatus status = brio__scene_parse(text, size, name, &scene, error);
    return sim_of(status, scene, sim, error);
}

BrioStatus brio_sim_open(const BrioSource *source, BrioSim **sim, BrioError *error)
{
    BRIO_NEEDS(source && sim, error);
    if (error) *error = (BrioError){0};
    BrioScene *scene = NULL;
    BrioStatus status = brio__scene_open(source, &scene, error);
    return sim_of(status, scene, sim, error);
}
