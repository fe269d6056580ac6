/* How a scene is stepped: `time`, `integrator`, `solver` and `damping`. */
#include "read.h"

#include <string.h>

static const BrioKey time_keys[] = {
    {KEY_REAL("h", "s|auto", 1. / 30, KEY_POSITIVE, 1e6,
              "Time step; auto: brio chooses every step so that its error stays below `tol` "
              "(docs/adaptive.md)."),
     KEY_WORDS("1/30"), KEY_INTO(BrioScene, def.h)},
    {KEY_REAL("tol", "m|auto", INFINITY, KEY_POSITIVE, 1e9,
              "With h: auto, the largest estimated position error of one step; auto: 1/1000 of the "
              "size of the smallest body."),
     KEY_WORDS("auto"), KEY_INTO(BrioScene, tol)},
    {KEY_REAL("h_min", "s|auto", INFINITY, KEY_POSITIVE, 1e6,
              "With h: auto, the shortest step, accepted whatever its error is; auto: a millionth "
              "of the longest."),
     KEY_WORDS("auto"), KEY_INTO(BrioScene, h_min)},
    {KEY_REAL("h_max", "s|auto", INFINITY, KEY_POSITIVE, 1e6,
              "With h: auto, the longest step; auto: one frame, 1/fps."),
     KEY_WORDS("auto"), KEY_INTO(BrioScene, h_max)},
    {KEY_REAL("end", "s", 10, 0, 1e9, "When the run ends."), KEY_INTO(BrioScene, end)},
    {KEY_REAL("fps", "1/s", 30, KEY_POSITIVE, 1e9,
              "Frames per second of simulated time; a step longer than a frame gives one frame per "
              "step."),
     KEY_INTO(BrioScene, fps)},
    KEY_END};
BRIO_SECTION(time){"time", "Time", time_keys};

static const BrioKey solver_keys[] = {
    {KEY_OTHER("type", "a name", "How an implicit step is solved: a name of `brio list solvers`."),
     KEY_DEFAULT("newton"), KEY_INTO(BrioSolverOptions, type)},
    {KEY_OTHER("linear", "a name, or a map",
               "Linear solver: `brio list solvers`. On several processes auto is petsc."),
     KEY_DEFAULT("auto"), KEY_INTO(BrioSolverOptions, linear)},
    {KEY_REAL("tol", "m/s|auto", INFINITY, KEY_POSITIVE, 1e9,
              "Newton stops when max|dq|/h is smaller; auto: from `quality`."),
     KEY_WORDS("auto"), KEY_INTO(BrioSolverOptions, tol)},
    {KEY_INTEGER("max_iterations", 100, 1, 1000000,
                 "Maximum number of Newton iterations before a step fails; each of the first "
                 "three halvings of a step doubles it."),
     KEY_INTO(BrioSolverOptions, max_iterations)},
    {KEY_REAL("linear_tol", "", 1e-6, 1e-16, 0.9,
              "Relative residual of iterative linear solvers; multilevel uses a larger one, up to "
              "0.05, while Newton is far from the solution."),
     KEY_INTO(BrioSolverOptions, linear_tol)},
    {KEY_INTEGER("max_halvings", 6, 0, 20, "How often brio halves a failed step and tries again."),
     KEY_INTO(BrioSolverOptions, max_halvings)},
    {KEY_INTEGER("iterations", 10, 1, 1000000,
                 "local-global, vbd: number of iterations of every solve."),
     KEY_INTO(BrioSolverOptions, iterations)},
    {KEY_CHOICE("precision", "double|single|auto", 2,
                "local-global: precision of the constant factor; residuals are always in double "
                "precision. auto: single, and half for factors of a million numbers and more."),
     KEY_INTO(BrioSolverOptions, single_precision)},
    {KEY_INTEGER("memory", -1, 0, 16,
                 "local-global: number of past iterations that L-BFGS uses; the default is 0 if "
                 "all materials are projections (springs, arap, corotated), otherwise 5."),
     KEY_WORDS("0 or 5"), KEY_INTO(BrioSolverOptions, memory)},
    KEY_END};
BRIO_SECTION(solver){"solver", "Solver", solver_keys};

static const BrioKey linear_keys[] = {
    {KEY_OTHER("type", "a name", "Linear solver: `brio list solvers`."), KEY_REQUIRED},
    {KEY_TEXT("options",
              "petsc: options of PETSc, as on its command line; they come after the options of "
              "brio (docs/cluster.md)."),
     KEY_INTO(BrioSolverOptions, linear_options)},
    KEY_END};
BRIO_SECTION(linear){"solver.linear", "A linear solver with options", linear_keys};

/* `h: auto` and the keys that belong to it. */
static BrioStatus read_automatic(BrioNode *node, BrioScene *scene, BrioError *error)
{
    static const char *const keys[] = {"tol", "h_min", "h_max"};
    BrioSimDef *def = &scene->def;
    bool automatic = isinf(def->h);
    for (size_t i = 0; node && !automatic && i < BRIO_COUNT(keys); i++) {
        BrioNode *key = brio__node_get(node, keys[i]);
        if (key)
            return brio__node_error(
                key, error, "%s is for automatic steps: use h: auto, or remove it", keys[i]);
    }
    if (!automatic) return BRIO_OK;
    def->tol = scene->tol;
    def->h_min = isinf(scene->h_min) ? 0 : scene->h_min;
    def->h = isinf(scene->h_max) ? 1 / scene->fps : scene->h_max;
    def->fps = scene->fps;
    if (def->h_min > def->h)
        return brio__node_error(brio__node_get(node, "h_min"), error,
                                "the shortest step, %g s, is longer than the longest, %g s (h_max)",
                                def->h_min, def->h);
    return BRIO_OK;
}

BrioStatus brio__read_time(BrioNode *root, BrioScene *scene, BrioError *error)
{
    BrioNode *node = brio__node_get(root, "time");
    brio__key_defaults(time_keys, scene);
    if (node) BRIO_CHECK(brio__read_keys(node, time_keys, scene, error));
    BRIO_CHECK(read_automatic(node, scene, error));
    if (scene->end / scene->def.h > 1e12)
        return brio__node_error(node ? node : root, error,
                                "%g s in steps of %g s are %g steps: more than 1e12", scene->end,
                                scene->def.h, scene->end / scene->def.h);
    return BRIO_OK;
}

BrioStatus brio__read_integrator(BrioNode *root, BrioScene *scene, BrioError *error)
{
    BrioNode *node = brio__node_get(root, "integrator");
    if (!node) return BRIO_OK;
    const char *type, *names[128];
    int count = 0;
    BRIO_CHECK(brio__type_of(node, &type, error));
    const BrioIntegrator *integrator = brio_integrator(type);
    for (; count < (int)BRIO_COUNT(names) && brio_integrator_at(count); count++)
        names[count] = brio_integrator_at(count)->name;
    if (!integrator)
        return brio__no_such(brio__type_node(node), "integrator", type, names, count, error);
    scene->def.integrator = integrator->name;
    BRIO_CHECK(brio__values_of(node, integrator->fields, scene->def.values, error));
    char reason[256];
    unsigned traits = integrator->traits;
    if (!integrator->check ||
        integrator->check(scene->def.values, &traits, reason, sizeof reason) == BRIO_OK)
        return BRIO_OK;
    return brio__node_error(node, error, "%s", reason);
}

static BrioStatus read_linear(BrioNode *node, BrioSolverOptions *options, BrioError *error)
{
    const char *type, *names[16];
    int count = 0;
    if (node->kind == BRIO_NODE_MAP) BRIO_CHECK(brio__read_keys(node, linear_keys, options, error));
    BRIO_CHECK(brio__type_of(node, &type, error));
    if (options->linear_options && strcmp(type, "petsc"))
        return brio__node_error(brio__node_get(node, "options"), error,
                                "%s takes no options: only petsc does", type);
#ifndef BRIO_HAVE_MPI
    if (!strcmp(type, "petsc"))
        return brio__node_error(
            brio__type_node(node), error,
            "this brio was built without petsc: `make MPI=1` builds one with it (docs/cluster.md)");
#endif
    const BrioLinearType *found = brio__linear_type(type);
    for (; count < (int)BRIO_COUNT(names) && brio__linear_at(count); count++)
        names[count] = brio__linear_at(count)->name;
    if (!found)
        return brio__no_such(brio__type_node(node), "linear solver", type, names, count, error);
    options->linear = found->name;
    return BRIO_OK;
}

BrioStatus brio__read_solver(BrioNode *root, BrioScene *scene, BrioError *error)
{
    BrioNode *node = brio__node_get(root, "solver"), *linear = NULL;
    BrioSolverOptions *options = &scene->def.solver;
    const char *type = options->type, *names[16];
    int count = 0;
    if (!node) return BRIO_OK;
    if (node->kind == BRIO_NODE_MAP) {
        BRIO_CHECK(brio__read_keys(node, solver_keys, options, error));
        linear = brio__node_get(node, "linear");
    }
    if (node->kind != BRIO_NODE_MAP || brio__node_get(node, "type"))
        BRIO_CHECK(brio__type_of(node, &type, error));
    const BrioSolverType *solver = brio__solver_type(type);
    for (; count < (int)BRIO_COUNT(names) && brio__solver_type_at(count); count++)
        names[count] = brio__solver_type_at(count)->name;
    if (!solver) return brio__no_such(brio__type_node(node), "solver", type, names, count, error);
    options->type = solver->name;
    return linear ? read_linear(linear, options, error) : BRIO_OK;
}

BrioStatus brio__read_damping(BrioNode *root, BrioScene *scene, BrioError *error)
{
    BrioNode *list = brio__node_get(root, "damping");
    if (!list) return BRIO_OK;
    if (list->count > BRIO_MAX_DAMPING)
        return brio__node_error(list, error, "%d damping models: at most %d can act together",
                                list->count, BRIO_MAX_DAMPING);
    for (int i = 0; i < list->count; i++) {
        BrioNode *node = list->child[i];
        const char *type, *names[64];
        int count = 0;
        BRIO_CHECK(brio__type_of(node, &type, error));
        for (; count < (int)BRIO_COUNT(names) && brio_damping_at(count); count++)
            names[count] = brio_damping_at(count);
        if (brio_default_damping(type, &scene->def.damping[i], NULL) != BRIO_OK)
            return brio__no_such(brio__type_node(node), "damping model", type, names, count, error);
        BRIO_CHECK(
            brio__values_of(node, brio_damping_fields(type), scene->def.damping[i].values, error));
        scene->def.damping_count++;
    }
    return BRIO_OK;
}
