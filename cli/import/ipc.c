/* Text scenes of the reference code of incremental potential contact [Li2020]: one keyword a line,
 * its values behind it, `#` for comments, a backslash at the end of a line to go on in the next.
 *
 * Shapes are placed one by one; then `rotateModel` turns all of them, and `size` scales all to that
 * largest extent and moves the lowest corner to the origin. Surfaces (.obj) and shapes with a
 * prescribed velocity are kinematic: obstacles here. Boxes of boundary conditions are relative to
 * the box of the mesh before it is placed. */
#include "ipc.h"

#include <string.h>

/* ---- keywords --------------------------------------------------------------------------- */

static BrioStatus take_energy(Reader *r)
{
    const char *word;
    BRIO_CHECK(ipc_take_word(r, "NH or FCR", &word));
    snprintf(r->scene->energy, sizeof r->scene->energy, "%s", word);
    r->scene->energy_line = r->line;
    if (strcmp(word, "FCR") && strcmp(word, "NH"))
        import_note(r->report, r->line, "energy \"%.40s\" is unknown; using neo-hookean", word);
    return BRIO_OK;
}

static BrioStatus take_integration(Reader *r)
{
    const char *word;
    BRIO_CHECK(ipc_take_word(r, "BE or NM", &word));
    snprintf(r->scene->integrator, sizeof r->scene->integrator, "%s", word);
    if (!strcmp(word, "NM")) {
        if (ipc_take_optional(r, &r->scene->beta)) ipc_take_optional(r, &r->scene->gamma);
    } else if (strcmp(word, "BE")) {
        import_note(r->report, r->line,
                    "timeIntegration \"%.40s\" is unknown; using backward-euler", word);
    }
    return BRIO_OK;
}

static BrioStatus take_time(Reader *r)
{
    double v[2];
    BRIO_CHECK(ipc_take_numbers(r, "duration and time step", 2, v));
    if (!(v[0] > 0 && v[1] > 0))
        return ipc_fail(r, 0, "time %g %g: duration and step must be positive", v[0], v[1]);
    r->scene->end = v[0];
    r->scene->h = v[1];
    return BRIO_OK;
}

static BrioStatus take_script(Reader *r)
{
    const char *word;
    BRIO_CHECK(ipc_take_word(r, "the name of a script", &word));
    snprintf(r->scene->script, sizeof r->scene->script, "%s", word);
    r->scene->script_line = r->line;
    double count;
    if (ipc_take_optional(r, &count) && count >= 1)
        BRIO_CHECK(ipc_take_numbers(r, "a value of the script", 1, &r->scene->script_value));
    return BRIO_OK;
}

static BrioStatus take_tol(Reader *r)
{
    int count;
    double value;
    BRIO_CHECK(ipc_take_count(r, "the number of tolerances", 1000000, &count));
    int line = r->line;
    for (int i = 0; i < count; i++) {
        BRIO_CHECK(ipc_take_below(r, "a tolerance", &value));
        r->scene->tol = i ? fmin(r->scene->tol, value) : value;
    }
    if (count > 1)
        import_note(r->report, line,
                    "tol: brio has one tolerance for all steps; using the smallest of the %d",
                    count);
    return BRIO_OK;
}

static BrioStatus take_tuning(Reader *r)
{
    int count;
    double value;
    BRIO_CHECK(ipc_take_count(r, "the number of values", 64, &count));
    int line = r->line;
    for (int i = 0; i < count; i++) {
        BRIO_CHECK(ipc_take_below(r, "a value", &value));
        if (i == 0 && value != 0)
            import_note(r->report, line,
                        "tuning: the stiffness of contact %g is adapted there; here it is chosen "
                        "by the weights (kappa: auto)",
                        value);
        if (i == 2) r->scene->dhat = value;
        if (i == 5) r->scene->epsv = value;
    }
    return BRIO_OK;
}

static BrioStatus take_solver(Reader *r)
{
    const char *word;
    BRIO_CHECK(ipc_take_word(r, "a solver", &word));
    if (strcmp(word, "interiorPoint") && strcmp(word, "IP"))
        import_note(r->report, r->line,
                    "constraintSolver %.40s: brio has the barrier (interiorPoint); that is taken",
                    word);
    return BRIO_OK;
}

/* Sections for other solvers than the barrier are passed over. */
static BrioStatus take_section(Reader *r)
{
    bool ours = false;
    int line = r->line;
    for (; r->used < r->words; r->used++) {
        const char *word = r->word[r->used];
        if (!strcmp(word, "end") || !strcmp(word, "interiorPoint") || !strcmp(word, "IP"))
            ours = true;
    }
    if (ours) return BRIO_OK;
    while (ipc_next_line(r))
        if (r->words > 1 && !strcmp(r->word[0], "section") && !strcmp(r->word[1], "end")) break;
    r->used = r->words;
    import_note(r->report, line, "section: settings of other solvers than the barrier; left out");
    return BRIO_OK;
}

static BrioStatus take_flag(Reader *r)
{
    if (!strcmp(r->word[0], "turnOffGravity")) r->scene->gravity = false;
    if (!strcmp(r->word[0], "selfCollisionOn")) r->scene->self_collision = true;
    if (!strcmp(r->word[0], "selfCollisionOff")) r->scene->self_collision = false;
    if (!strcmp(r->word[0], "useAbsParameters")) r->scene->absolute = true;
    return BRIO_OK;
}

static BrioStatus take_single_shape(Reader *r)
{
    const char *word;
    BRIO_CHECK(ipc_take_word(r, "\"input\"", &word));
    Shape *shape = ipc_add_shape(r);
    if (!shape) return ipc_no_memory(r);
    return ipc_take_shape_mesh(r, shape);
}

static BrioStatus take_rotation(Reader *r)
{
    double v[4];
    BRIO_CHECK(ipc_take_numbers(r, "an axis and an angle", 4, v));
    memcpy(r->scene->rotate_axis, v, sizeof r->scene->rotate_axis);
    r->scene->rotate_degrees = v[3];
    return BRIO_OK;
}

static BrioStatus take_restart(Reader *r)
{
    import_loss(r->report, r->line,
                "restart: the scene starts there from a state of the other program, and here from "
                "rest");
    return BRIO_OK;
}

/* Keywords with nothing to take over, and why. */
static const struct {
    const char *name, *why;
} ignored[] = {
    {"warmStart", "brio starts every step from its own prediction"},
    {"view", "brio render and brio view find their own camera"},
    {"zoom", "brio render and brio view find their own camera"},
    {"cameraTracking", "brio render and brio view find their own camera"},
    {"playBackSpeed", "brio render --speed sets the speed of a film"},
    {"appendStr", "brio run -o names the folder"},
    {"disableCout", "the nearest option is brio run --quiet"},
    {"exactCCD",
     "brio's collision detection is conservative by itself; brio check --exact proves a run"},
    {"CCDMethod",
     "brio's collision detection is conservative by itself; brio check --exact proves a run"},
    {"ccdMethod",
     "brio's collision detection is conservative by itself; brio check --exact proves a run"},
    {"CCDTolerance", "brio's collision detection has no tolerance to choose"},
    {"ccdTolerance", "brio's collision detection has no tolerance to choose"},
    {"linearSolver", "brio chooses by the size of the scene; solver.linear in a scene names one"},
    {"linSysSolver", "brio chooses by the size of the scene; solver.linear in a scene names one"},
    {"kappaMinMultiplier", "the stiffness of contact is chosen by the weights (kappa: auto)"},
    {"minBarrierStiffnessScale", "the stiffness of contact is chosen by the weights (kappa: auto)"},
    {"constraintType", "a setting of other solvers than the barrier"},
    {"constraintOffset", "a setting of other solvers than the barrier"},
    {"QPSolver", "a setting of other solvers than the barrier"},
    {"useActiveSetConvergence", "a setting of other solvers than the barrier"},
    {"noActiveSetConvergence", "a setting of other solvers than the barrier"},
    {"fricIterAmt", "brio renews friction's normal forces and directions until they stay; "
                    "contact.friction_iterations in a scene limits that"},
    {"NBCTimeRange", "brio has no force on a part of a body"},
};

typedef struct Keyword {
    const char *name;
    BrioStatus (*take)(Reader *);
    size_t value; /* of one number: its place in Scene */
    double min;
} Keyword;

#define NUMBER(name, member, min)                \
    {                                            \
        name, NULL, offsetof(Scene, member), min \
    }

static const Keyword keywords[] = {
    {.name = "energy", .take = take_energy},
    {.name = "timeIntegration", .take = take_integration},
    {.name = "time", .take = take_time},
    {.name = "script", .take = take_script},
    {.name = "shapes", .take = ipc_take_shapes},
    {.name = "shape", .take = take_single_shape},
    {.name = "shapeMatrix", .take = ipc_take_matrix},
    {.name = "ground", .take = ipc_take_ground},
    {.name = "halfSpace", .take = ipc_take_half_space},
    {.name = "meshCO", .take = ipc_take_mesh_obstacle},
    {.name = "tol", .take = take_tol},
    {.name = "tuning", .take = take_tuning},
    {.name = "constraintSolver", .take = take_solver},
    {.name = "section", .take = take_section},
    {.name = "rotateModel", .take = take_rotation},
    {.name = "restart", .take = take_restart},
    {.name = "turnOffGravity", .take = take_flag},
    {.name = "selfCollisionOn", .take = take_flag},
    {.name = "selfCollisionOff", .take = take_flag},
    {.name = "useAbsParameters", .take = take_flag},
    NUMBER("size", size, -1e300),
    NUMBER("density", density, 1e-300),
    NUMBER("selfFric", friction, -1e300),
    NUMBER("dHat", dhat, 1e-300),
    NUMBER("epsv", epsv, 1e-300),
    NUMBER("eps_v", epsv, 1e-300),
    NUMBER("handleRatio", handle, 1e-300),
    NUMBER("dampingStiff", damping_stiffness, -1e300),
    NUMBER("dampingRatio", damping_ratio, -1e300),
};

static BrioStatus take_line(Reader *r)
{
    Scene *s = r->scene;
    const char *name = r->word[0];
    double v[2];
    r->used = 1;
    if (!strcmp(name, "stiffness")) {
        BRIO_CHECK(ipc_take_numbers(r, "Young's modulus and Poisson's ratio", 2, v));
        s->E = v[0], s->nu = v[1];
        return BRIO_OK;
    }
    if (!strcmp(name, "DBCTimeRange")) {
        BRIO_CHECK(ipc_take_numbers(r, "two times", 2, v));
        s->hold_from = v[0], s->hold_to = v[1];
        return BRIO_OK;
    }
    for (size_t i = 0; i < BRIO_COUNT(keywords); i++) {
        const Keyword *k = &keywords[i];
        if (strcmp(name, k->name)) continue;
        if (k->take) return k->take(r);
        BRIO_CHECK(ipc_take_numbers(r, "a value", 1, v));
        if (!(v[0] >= k->min)) return ipc_fail(r, 1, "%s is %g; it must be positive", name, v[0]);
        memcpy((char *)s + k->value, v, sizeof *v);
        if (!strncmp(name, "damping", 7)) s->damping_line = r->line;
        return BRIO_OK;
    }
    for (size_t i = 0; i < BRIO_COUNT(ignored); i++)
        if (!strcmp(name, ignored[i].name)) {
            import_note(r->report, r->line, "%s: %s; left out", name, ignored[i].why);
            return BRIO_OK;
        }
    const char *names[BRIO_COUNT(keywords) + 2] = {"stiffness", "DBCTimeRange"}, *nearest;
    char shown[48];
    snprintf(shown, sizeof shown, "%s", name);
    for (char *c = shown; *c; c++)
        if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e) *c = '?';
    for (size_t i = 0; i < BRIO_COUNT(keywords); i++) names[i + 2] = keywords[i].name;
    nearest = brio__nearest(name, names, (int)BRIO_COUNT(names));
    import_note(r->report, r->line, "\"%s\" is not a known keyword%s%s%s; left out", shown,
                nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    return BRIO_OK;
}

/* ---- the import ------------------------------------------------------------------------- */

BrioStatus import_ipc(const char *name, const char *folder, FILE *out, ImportReport *report,
                      BrioError *error)
{
    Scene scene = {.energy = "NH",
                   .integrator = "BE",
                   .script = "null",
                   .beta = 0.25,
                   .gamma = 0.5,
                   .size = -1,
                   .end = 5,
                   .h = 0.025,
                   .density = 1000,
                   .E = 1e5,
                   .nu = 0.4,
                   .handle = 0.01,
                   .dhat = 1e-3,
                   .epsv = 1e-3,
                   .tol = 1e-2,
                   .hold_to = INFINITY,
                   .script_value = NAN,
                   .gravity = true,
                   .self_collision = true};
    Reader r = {.name = name, .next = 1, .scene = &scene, .report = report, .error = error};
    size_t size;
    BRIO_CHECK(brio__read_file(name, &r.text, &size, error));
    BrioStatus status = BRIO_OK;
    if (memchr(r.text, 0, size))
        status = brio__error_at(error, BRIO_ERROR_INPUT, name, 0, 0, NULL,
                                "the file holds a byte 0: this is no text");
    r.at = r.text;
    while (status == BRIO_OK && ipc_next_line(&r)) status = take_line(&r);
    if (status == BRIO_OK && !scene.shapes)
        status = brio__error_at(error, BRIO_ERROR_INPUT, name, 0, 0, NULL,
                                "the scene has no shapes (\"shapes input N\" and N lines): this is "
                                "no scene of IPC, or it is empty");
    if (status == BRIO_OK) {
        locale_t before = brio__c_locale_enter();
        status = ipc_write_scene(&r, folder, out);
        brio__c_locale_leave(before);
    }
    for (int i = 0; i < scene.shapes; i++)
        if (!scene.shape[i].borrowed) brio_mesh_free(scene.shape[i].mesh);
    for (int i = 0; i < scene.obstacles; i++) brio_mesh_free(scene.obstacle[i].mesh);
    brio__free(scene.shape);
    brio__free(scene.obstacle);
    brio__free(r.text);
    return status;
}
