/* brio stability: the matrix of an integrator on an oscillator, measured by running its own code;
 * or what a scene's stiffness means for every method: largest eigenvalue k0 of M^-1 K, longest
 * explicit steps, Rayleigh coefficients that keep explicit methods calm [Shinya2004, Sec. 3], and
 * the damping that each implicit method adds by itself. */
#include "commands.h"
#include "table.h"

#include "internal.h"

#include <string.h>

enum { INTEGRATOR, STIFFNESS, MASS, DRAG, STEP, SET, AIR, TERMINAL, JSON, PLUGIN };

typedef struct Request {
    SceneArguments given;
    const char *integrator, *number[JSON]; /* texts of the options that take a number */
    double value[JSON];
    bool json;
} Request;

/* Numbers may be fractions, as in scenes. */
static bool read_number(const Command *command, const char *option, const char *text, double min,
                        bool or_equal, double *value)
{
    BrioNode *node = NULL;
    BrioError error = {0};
    BrioStatus status = brio__tree_parse(text, strlen(text), option, &node, &error);
    if (status == BRIO_OK) status = brio__node_real(node, value, &error);
    brio__tree_free(node);
    if (status == BRIO_OK && (*value > min || (or_equal && *value == min))) return true;
    usage_error(command, "%s %s: expected a number %s %g, such as 0.5 or 1/30", option, text,
                or_equal ? "of at least" : "above", min);
    return false;
}

/* ---- an oscillator ---------------------------------------------------------------------- */

static void matrix_json(const BrioAmplification *a, const Request *r)
{
    BrioJson json = {.file = stdout};
    brio__json_open(&json, NULL, '{');
    brio__json_text(&json, "integrator", r->integrator);
    brio__json_real(&json, "k", r->value[STIFFNESS]);
    brio__json_real(&json, "m", r->value[MASS]);
    brio__json_real(&json, "d", r->value[DRAG]);
    brio__json_real(&json, "h", r->value[STEP]);
    brio__json_integer(&json, "size", a->size);
    brio__json_open(&json, "matrix", '[');
    for (int i = 0; i < a->size; i++) {
        brio__json_open(&json, NULL, '[');
        for (int j = 0; j < a->size; j++) brio__json_real(&json, NULL, a->matrix[i * a->size + j]);
        brio__json_close(&json, ']');
    }
    brio__json_close(&json, ']');
    brio__json_real(&json, "det", a->det);
    brio__json_real(&json, "trace", a->trace);
    brio__json_real(&json, "radius", a->radius);
    brio__json_open(&json, "eigenvalues", '[');
    for (int i = 0; i < a->size; i++) {
        brio__json_open(&json, NULL, '[');
        brio__json_real(&json, NULL, a->re[i]);
        brio__json_real(&json, NULL, a->im[i]);
        brio__json_close(&json, ']');
    }
    brio__json_close(&json, ']');
    brio__json_close(&json, '}');
}

static void matrix_text(const BrioAmplification *a, const Request *r)
{
    double k = r->value[STIFFNESS];
    double m = r->value[MASS];
    double d = r->value[DRAG];
    double h = r->value[STEP];
    double rate = -log(a->radius) / h;
    printf("%s on m x'' = -k x - d x' with k = %g N/m, m = %g kg, d = %g N s/m, h = %g s\n",
           r->integrator, k, m, d, h);
    printf("  X = h d/m = %.6g, Y = h^2 k/m = %.6g\n", h * d / m, h * h * k / m);
    printf("  matrix of (x, v%s\n", a->size > 2 ? ", the history of the method)" : ")");
    for (int i = 0; i < a->size; i++) {
        printf("   ");
        for (int j = 0; j < a->size; j++) printf(" %22.15g", a->matrix[i * a->size + j]);
        printf("\n");
    }
    printf("  determinant  %.15g\n  trace        %.15g\n", a->det, a->trace);
    printf("  eigenvalues ");
    for (int i = 0; i < a->size; i++)
        if (a->im[i] == 0)
            printf(" %.9g", a->re[i]);
        else if (a->im[i] > 0)
            printf(" %.9g +- %.9g i", a->re[i], a->im[i]);
    printf("\n  radius       %.15g: ", a->radius);
    if (fabs(a->radius - 1) < 1e-9)
        printf("oscillations keep their size\n");
    else if (a->radius < 1)
        printf("they decay at %.4g per second\n", rate);
    else
        printf("they grow at %.4g per second: not stable\n", -rate);
}

static int oscillator(const Command *command, Request *r)
{
    static const struct {
        int option;
        const char *name, *standard;
        double min;
        bool or_equal;
    } numbers[] = {{STIFFNESS, "--k", NULL, 0, false},
                   {MASS, "--m", "1", 0, false},
                   {DRAG, "--d", "0", 0, true},
                   {STEP, "--h", NULL, 0, false}};
    for (size_t i = 0; i < BRIO_COUNT(numbers); i++) {
        const char *text =
            r->number[numbers[i].option] ? r->number[numbers[i].option] : numbers[i].standard;
        if (!text)
            return usage_error(command,
                               "%s is missing: an oscillator needs --k (N/m) and --h (s); --m is 1 "
                               "kg and --d is 0 N s/m unless given",
                               numbers[i].name);
        if (!read_number(command, numbers[i].name, text, numbers[i].min, numbers[i].or_equal,
                         &r->value[numbers[i].option]))
            return EXIT_USAGE;
    }
    BrioSimDef def;
    BrioError error = {0};
    BrioOscillator *o = NULL;
    BrioAmplification a;
    BrioStatus status =
        brio__scene_integrator(r->integrator, r->given.sets, r->given.set_count, &def, &error);
    if (status == BRIO_OK) status = brio__oscillator_create(&def, r->value[MASS], &o, &error);
    if (status == BRIO_OK)
        status = brio__oscillator_measure(o, r->value[STIFFNESS], r->value[DRAG], r->value[STEP],
                                          &a, &error);
    brio__oscillator_free(o);
    if (status != BRIO_OK)
        return say_error(&error,
                         status > 0 || status == BRIO_ERROR_MEMORY ? EXIT_FAILED : EXIT_USAGE);
    if (r->json)
        matrix_json(&a, r);
    else
        matrix_text(&a, r);
    return EXIT_DONE;
}

/* ---- a scene ---------------------------------------------------------------------------- */

static const double safety = 1.5;      /* on k0 [Shinya2004, Sec. 5.3] */
static const double tolerance = 0.003; /* of k0 */
enum { LOW_MODES = 3, FREQUENCIES = LOW_MODES + 1, MAX_METHODS = 128 };

typedef struct Explicit {
    const BrioIntegrator *integrator;
    double limit; /* h sqrt(k0) without damping */
    double X, Y;  /* the highest point of the stable region */
} Explicit;

typedef struct Implicit {
    const BrioIntegrator *integrator;
    double rate[FREQUENCIES]; /* 1/s */
} Implicit;

typedef struct Analysis {
    const BrioScene *scene;
    BrioSim *sim;
    double k0, d0, gravity;
    bool converged;
    int64_t iterations;
    int frequency_count;
    double squared[FREQUENCIES]; /* w^2: the lowest modes, then the highest */
    /* they are modes; otherwise round numbers stand for the low ones */
    bool modes;
    int explicit_count, implicit_count;
    Explicit explicit_[MAX_METHODS];
    Implicit implicit[MAX_METHODS];
} Analysis;

/* The lowest vibrations if all modes can be had, otherwise 1, 10 and 100 Hz as far as they are
 * below the highest one. */
static BrioStatus find_frequencies(Analysis *a, BrioStiffness *stiffness)
{
    BrioModes modes = {0};
    BrioError unused = {0};
    BrioStatus status = 3 * (int64_t)a->sim->system->block_count <= BRIO_MODES_MAX
                            ? brio__modes_create(stiffness, &modes, &unused)
                            : BRIO_ERROR_TOO_LARGE;
    if (status == BRIO_ERROR_MEMORY) return status;
    a->modes = status == BRIO_OK;
    for (int i = 0; i < modes.n && a->frequency_count < LOW_MODES; i++)
        if (modes.squared[i] > modes.zero &&
            (a->frequency_count == 0 ||
             modes.squared[i] > 1.001 * a->squared[a->frequency_count - 1]))
            a->squared[a->frequency_count++] = modes.squared[i];
    brio__modes_free(&modes);
    for (double hertz = 1; !a->modes && a->frequency_count < LOW_MODES; hertz *= 10) {
        double w = 2 * M_PI * hertz;
        if (w * w >= a->k0) break;
        a->squared[a->frequency_count++] = w * w;
    }
    if (a->frequency_count == 0 || a->squared[a->frequency_count - 1] < 0.999 * a->k0)
        a->squared[a->frequency_count++] = a->k0;
    return BRIO_OK;
}

static BrioStatus measure_method(Analysis *a, const BrioIntegrator *integrator)
{
    BrioSimDef def = brio_default_sim(integrator->name);
    BrioOscillator *o = NULL;
    unsigned traits = integrator->traits;
    if (integrator->check) integrator->check(def.values, &traits, (char[1]){""}, 1);
    BrioStatus status = brio__oscillator_create(&def, 1, &o, NULL);
    if (status == BRIO_ERROR_UNSUPPORTED) return BRIO_OK; /* has no matrix */
    if (status != BRIO_OK) return status;
    if (traits & BRIO_IMPLICIT) {
        Implicit *m = &a->implicit[a->implicit_count++];
        m->integrator = integrator;
        for (int i = 0; i < a->frequency_count; i++) {
            BrioAmplification matrix;
            status = brio__oscillator_measure(o, a->squared[i], 0, a->scene->def.h, &matrix, NULL);
            m->rate[i] = status == BRIO_OK ? -log(matrix.radius) / a->scene->def.h : NAN;
        }
    } else {
        Explicit *m = &a->explicit_[a->explicit_count++];
        m->integrator = integrator;
        m->limit = brio__oscillator_limit(o);
        if (isfinite(m->limit)) m->Y = brio__oscillator_peak(o, 16, &m->X);
    }
    brio__oscillator_free(o);
    return BRIO_OK;
}

static BrioStatus analyse(Analysis *a, BrioError *error)
{
    const BrioSystem *s = a->sim->system;
    const BrioState *state = a->sim->state;
    BrioStiffness *stiffness = NULL;
    BrioStatus status = brio__stiffness_create(s, &stiffness);
    if (status == BRIO_OK) {
        brio__system_positions(s, state, state->q, state->time, a->sim->world);
        status = brio__stiffness_at(stiffness, state, a->sim->world);
        if (status == BRIO_OK)
            status = brio__stiffness_largest(stiffness, tolerance, 5000, &a->k0, &a->iterations);
        a->converged = status == BRIO_OK;
        if (status == BRIO_NOT_CONVERGED) status = BRIO_OK;
    }
    if (status == BRIO_OK && !(a->k0 > 0))
        status =
            brio__error(error, BRIO_STEP_REJECTED,
                        a->k0 < 0 ? "the stiffest mode at the initial state is one of buckling "
                                    "(eigenvalue %g 1/s2): settle the scene first, `brio settle`"
                                  : "nothing in the scene has a stiffness (largest eigenvalue %g "
                                    "1/s2): every step is stable",
                        a->k0);
    if (status == BRIO_OK) status = find_frequencies(a, stiffness);
    brio__stiffness_free(stiffness);
    for (int i = 0; status == BRIO_OK && brio_integrator_at(i) && i < MAX_METHODS; i++)
        status = measure_method(a, brio_integrator_at(i));
    return status == BRIO_OK ? BRIO_OK : brio__error(error, status, "%s", brio_status_text(status));
}

/* Eq. 30 for the point (X, Y): the fraction of the stiffness for a step that uses the whole region
 * at k = safety k0. */
static double stiffness_fraction(const Explicit *m, double k, double d0, double *h)
{
    *h = sqrt(m->Y / k);
    return *h * (m->X - d0 * *h) / m->Y;
}

static void undamped_text(const Analysis *a)
{
    double root = sqrt(a->k0);
    static const TableColumn first[] = {{"explicit, undamped", NULL, true},
                                        {"h_max", "s", false},
                                        {"with 1.5 k0", "s", false},
                                        {"h_max w", NULL, false},
                                        {"", NULL, true}};
    Table table = {.columns = 5, .column = first};
    for (int i = 0; i < a->explicit_count; i++) {
        const Explicit *m = &a->explicit_[i];
        bool scene = !strcmp(m->integrator->name, a->scene->def.integrator);
        table_cell(&table, "%s", m->integrator->name);
        if (isinf(m->limit)) {
            table_cell(&table, "any"), table_cell(&table, "any"), table_cell(&table, "-");
            table_cell(&table, "divides its step automatically");
            continue;
        }
        table_number(&table, m->limit / root, 4);
        table_number(&table, m->limit / sqrt(safety) / root, 4);
        table_number(&table, m->limit, 6);
        table_cell(&table, "%s",
                   m->limit == 0                       ? "grows at every step: needs damping"
                   : !scene                            ? ""
                   : a->scene->def.h > m->limit / root ? "the scene's h is too long"
                                                       : "the scene's h is below");
    }
    table_print(&table, stdout, 2);
}

static void damped_text(const Analysis *a)
{
    printf("\n  Rayleigh damping with which an explicit method is stable up to the highest point "
           "(X, Y) of its region, X = h d, Y = h^2 k, with 1.5 k0:\n");
    printf("  damping: [{type: rayleigh, alpha: d0, beta: ...}], d0 = %g 1/s", a->d0);
    if (a->d0 > 0 && a->gravity > 0) printf(" (falls at %.4g m/s in the end)", a->gravity / a->d0);
    printf("%s\n",
           a->d0 > 0 ? "" : "; slow modes are neutral without it: --d0, or --terminal-velocity");
    static const TableColumn second[] = {{"explicit, damped", NULL, true},
                                         {"X", NULL, false},
                                         {"Y", NULL, false},
                                         {"h", "s", false},
                                         {"beta", "s", false},
                                         {"", NULL, true}};
    Table table = {.columns = 6, .column = second};
    for (int i = 0; i < a->explicit_count; i++) {
        const Explicit *m = &a->explicit_[i];
        double h, beta;
        if (!(m->Y > 0)) continue;
        beta = stiffness_fraction(m, safety * a->k0, a->d0, &h);
        table_cell(&table, "%s", m->integrator->name);
        table_number(&table, m->X, 5);
        table_number(&table, m->Y, 5);
        table_number(&table, h, 4);
        table_number(&table, beta > 0 ? beta : 0, 4);
        table_cell(&table, "%s",
                   a->d0 * h >= 2 ? "h d0 is 2 or more: shorten h"
                   : m->X < 1e-6  ? "damping shortens its steps"
                                  : "");
    }
    table_print(&table, stdout, 2);
}

static void implicit_text(const Analysis *a)
{
    printf("\n  Damping that implicit methods add at h = %g s, 1/s (amplitudes fall as e^-rt; "
           "negative: grow), for %s:\n",
           a->scene->def.h,
           a->modes ? "the lowest modes and the highest" : "some frequencies and the highest mode");
    TableColumn third[1 + FREQUENCIES] = {{"implicit", NULL, true}};
    char head[FREQUENCIES][32];
    for (int i = 0; i < a->frequency_count; i++) {
        snprintf(head[i], sizeof head[i], "%.4g Hz", sqrt(a->squared[i]) / (2 * M_PI));
        third[1 + i] = (TableColumn){head[i], NULL, false};
    }
    Table table = {.columns = 1 + a->frequency_count, .column = third};
    for (int i = 0; i < a->implicit_count; i++) {
        table_cell(&table, "%s", a->implicit[i].integrator->name);
        for (int j = 0; j < a->frequency_count; j++) {
            double rate = a->implicit[i].rate[j];
            table_number(&table, fabs(rate * a->scene->def.h) < 1e-10 ? 0 : rate, 4);
        }
    }
    table_print(&table, stdout, 2);
}

static void analysis_text(const Analysis *a)
{
    double root = sqrt(a->k0);
    printf("%s%s%s\n", a->scene->file, a->scene->title[0] ? ": " : "", a->scene->title);
    printf(
        "  largest eigenvalue of M^-1 K at the initial state: k0 = %.6g 1/s2 (%.5g rad/s), after "
        "%lld iterations of the power method%s\n\n",
        a->k0, root, (long long)a->iterations,
        a->converged ? "" : ", not converged: a lower bound");
    undamped_text(a);
    damped_text(a);
    implicit_text(a);
    printf("  Methods that hold the energy to a target are not listed: they have no matrix of "
           "their own.\n");
}

static void analysis_json(const Analysis *a)
{
    BrioJson json = {.file = stdout};
    double root = sqrt(a->k0);
    brio__json_open(&json, NULL, '{');
    brio__json_text(&json, "scene", a->scene->file);
    brio__json_real(&json, "h", a->scene->def.h);
    brio__json_real(&json, "k0", a->k0);
    brio__json_integer(&json, "iterations", a->iterations);
    brio__json_boolean(&json, "converged", a->converged);
    brio__json_real(&json, "safety", safety);
    brio__json_real(&json, "d0", a->d0);
    brio__json_open(&json, "explicit", '[');
    for (int i = 0; i < a->explicit_count; i++) {
        const Explicit *m = &a->explicit_[i];
        double h = NAN, beta = m->Y > 0 ? stiffness_fraction(m, safety * a->k0, a->d0, &h) : NAN;
        brio__json_open(&json, NULL, '{');
        brio__json_text(&json, "integrator", m->integrator->name);
        brio__json_real(&json, "h_max", m->limit / root);
        brio__json_real(&json, "h_max_safe", m->limit / sqrt(safety) / root);
        brio__json_open(&json, "damped", '{');
        brio__json_real(&json, "X", m->X);
        brio__json_real(&json, "Y", m->Y);
        brio__json_real(&json, "h", h);
        brio__json_real(&json, "alpha", a->d0);
        brio__json_real(&json, "beta", fmax(beta, 0));
        brio__json_close(&json, '}');
        brio__json_close(&json, '}');
    }
    brio__json_close(&json, ']');
    brio__json_boolean(&json, "modes", a->modes);
    brio__json_open(&json, "frequencies", '[');
    for (int i = 0; i < a->frequency_count; i++)
        brio__json_real(&json, NULL, sqrt(a->squared[i]) / (2 * M_PI));
    brio__json_close(&json, ']');
    brio__json_open(&json, "implicit", '[');
    for (int i = 0; i < a->implicit_count; i++) {
        brio__json_open(&json, NULL, '{');
        brio__json_text(&json, "integrator", a->implicit[i].integrator->name);
        brio__json_open(&json, "damping", '[');
        for (int j = 0; j < a->frequency_count; j++)
            brio__json_real(&json, NULL, a->implicit[i].rate[j]);
        brio__json_close(&json, ']');
        brio__json_close(&json, '}');
    }
    brio__json_close(&json, ']');
    brio__json_close(&json, '}');
}

static int scene(const Command *command, Request *r)
{
    static Analysis a;
    BrioScene *loaded = NULL;
    BrioError error = {0};
    if (r->number[AIR] && r->number[TERMINAL])
        return usage_error(command, "--d0 and --terminal-velocity say the same: give one");
    if (r->number[AIR] && !read_number(command, "--d0", r->number[AIR], 0, true, &r->value[AIR]))
        return EXIT_USAGE;
    if (r->number[TERMINAL] && !read_number(command, "--terminal-velocity", r->number[TERMINAL], 0,
                                            false, &r->value[TERMINAL]))
        return EXIT_USAGE;
    if (brio__scene_load(r->given.name, r->given.sets, r->given.set_count, &loaded, &error) !=
        BRIO_OK)
        return say_error(&error, EXIT_USAGE);
    a.scene = loaded;
    BrioStatus status = brio__scene_sim(loaded, &a.sim, &error);
    int code = EXIT_DONE;
    if (status == BRIO_OK) {
        const double *g =
            a.sim->state->param + a.sim->system->term[a.sim->system->gravity_term].params;
        a.gravity = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
        a.d0 = r->value[AIR];
    }
    if (status == BRIO_OK && r->number[TERMINAL] && a.gravity == 0) {
        code = usage_error(
            command,
            "--terminal-velocity %s: the scene has no gravity, so nothing falls; give --d0 in 1/s",
            r->number[TERMINAL]);
    } else if (status == BRIO_OK) {
        if (r->number[TERMINAL]) a.d0 = a.gravity / r->value[TERMINAL];
        status = analyse(&a, &error);
    }
    if (status != BRIO_OK) code = say_error(&error, EXIT_FAILED);
    if (code == EXIT_DONE) (r->json ? analysis_json : analysis_text)(&a);
    brio_sim_free(a.sim);
    brio__scene_free(loaded);
    return code;
}

/* ---- the command ------------------------------------------------------------------------ */

static int run(int argc, char **argv)
{
    Arguments a = {.command = &command_stability, .argc = argc, .argv = argv, .at = 1};
    Request r = {0};
    int option;
    while ((option = argument_next(&a)) != ARGUMENT_END) switch (option) {
        case INTEGRATOR: r.integrator = a.value; break;
        case JSON: r.json = true; break;
        case STIFFNESS:
        case MASS:
        case DRAG:
        case STEP:
        case AIR:
        case TERMINAL: r.number[option] = a.value; break;
        default:
            if (!scene_argument(&a, option, &r.given)) return a.exit;
        }
    if (r.given.name && r.integrator)
        return usage_error(a.command,
                           "a scene or an oscillator: remove \"%s\" or --integrator; a scene's "
                           "integrator is set by --set integrator=%s",
                           r.given.name, r.integrator);
    if (r.integrator) {
        if (r.number[AIR] || r.number[TERMINAL])
            return usage_error(
                a.command,
                "--d0 and --terminal-velocity are for scenes; the drag of an oscillator is --d");
        return oscillator(a.command, &r);
    }
    if (!r.given.name)
        return usage_error(
            a.command, "which scene? Or an oscillator: --integrator NAME --k K --m M --d D --h H");
    if (r.number[STIFFNESS] || r.number[MASS] || r.number[DRAG] || r.number[STEP])
        return usage_error(
            a.command, "--k, --m, --d and --h are for an oscillator and need --integrator NAME");
    return scene(a.command, &r);
}

static const Option options[] = {
    [INTEGRATOR] = {"--integrator", 0, "NAME", "Its matrix on m x'' = -k x - d x'."},
    [STIFFNESS] = {"--k", 0, "K", "Stiffness of the oscillator, N/m."},
    [MASS] = {"--m", 0, "M", "Its mass, kg; default: 1."},
    [DRAG] = {"--d", 0, "D", "Its drag, N s/m; default: 0."},
    [STEP] = {"--h", 0, "H", "The step, s."},
    [SET] = {"--set", 's', "PATH=VALUE",
             "Change a value of the scene; with --integrator: integrator.NAME=VALUE."},
    [AIR] = {"--d0", 0, "RATE", "Air drag per mass for the Rayleigh coefficients, 1/s."},
    [TERMINAL] = {"--terminal-velocity", 0, "V",
                  "The same, given as the terminal velocity of a falling body, m/s."},
    [JSON] = {"--json", 0, NULL, "As one JSON object."},
    [PLUGIN] = OPTION_PLUGIN,
    {0}};

const Command command_stability = {
    .name = "stability",
    .summary = "Show which time steps are stable, and the numerical damping of each method.",
    .synopsis =
        "SCENE [--set PATH=VALUE]... [--d0 RATE | --terminal-velocity V] [--json]\n"
        "--integrator NAME --k K --h H [--m M] [--d D] [--set integrator.NAME=VALUE]... [--json]",
    .about =
        "With a scene: prints the largest eigenvalue k0 of M^-1 K at the initial state, the "
        "longest stable step of each explicit method (also with a safety factor of 1.5 on k0), "
        "Rayleigh coefficients for explicit methods, and the numerical damping of each implicit "
        "method at the scene's step.\n"
        "With an integrator: prints its matrix on an oscillator with the state (x, v), measured "
        "by running its own code on unit states. Methods with a history have a larger matrix. "
        "Methods that adapt to the energy of the state have no matrix unless their alpha is "
        "fixed.\n"
        "Exit code 0: done. 1: a step could not be done, or the method is not linear. 2: bad "
        "input, or a method without a matrix.",
    .options = options,
    .examples = "brio stability cloth --terminal-velocity 2\nbrio stability --integrator bdf2 --k "
                "1e4 --h 1/30 --json\n"
                "brio stability --integrator a-search --k 1e4 --h 1/30 --set integrator.alpha=1",
    .run = run,
};
