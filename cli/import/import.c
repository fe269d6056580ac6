/* brio import: scenes of other programs as scenes of brio. */
#include "import.h"

#include <string.h>

static const struct {
    const char *name;
    BrioStatus (*convert)(const char *name, const char *folder, FILE *out, ImportReport *report,
                          BrioError *error);
} formats[] = {{"ipc", import_ipc}, {"polyfem", import_polyfem}};

enum { OUT, FORCE };

/* The scene must load: what is wrong with it is told now, not when it is run. */
static int try_scene(const char *name)
{
    BrioScene *scene = NULL;
    BrioError error = {0};
    if (brio__scene_load(name, NULL, 0, &scene, &error) != BRIO_OK) {
        fprintf(stderr, "brio import: the scene was written, but does not load:\n");
        return say_error(&error, EXIT_FAILED);
    }
    brio__scene_free(scene);
    return EXIT_DONE;
}

static int convert(int format, const char *in, const char *out, bool force)
{
    char folder[4096], *text = NULL;
    size_t size = 0;
    BrioError error = {0};
    ImportReport report = {.file = in};
    const char *slash = strrchr(out, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - out) + 1 : 2, slash ? out : "./");
    FILE *memory = open_memstream(&text, &size);
    if (!memory) return usage_error(&command_import, "out of memory");
    BrioStatus status = formats[format].convert(in, folder, memory, &report, &error);
    bool whole = brio__text_close(memory, &text) == BRIO_OK;
    int code = EXIT_DONE;
    if (status != BRIO_OK) {
        code = say_error(&error, EXIT_USAGE);
    } else if (!whole) {
        code = usage_error(&command_import, "out of memory");
    } else {
        ResultFile result;
        code = EXIT_USAGE;
        if (create_file(&command_import, out, force, "give another name with -o", &result)) {
            fwrite(text, 1, size, result.file); /* what fails shows when it is closed */
            code = finish_file(&command_import, &result, BRIO_OK);
        }
    }
    if (code == EXIT_DONE)
        printf("%s: %d %s, %d %s\n", out, report.bodies, report.bodies == 1 ? "body" : "bodies",
               report.obstacles, report.obstacles == 1 ? "obstacle" : "obstacles");
    for (int64_t i = 0; i < report.count; i++) {
        if (code == EXIT_DONE) printf("  %s\n", report.line[i]);
        brio__free(report.line[i]);
    }
    brio__free(report.line);
    free(text);
    if (code != EXIT_DONE) return code;
    code = try_scene(out);
    if (!report.losses) return code;
    fflush(stdout); /* its lines come first */
    fprintf(stderr,
            "brio import: %s moves differently from the original scene: %lld %s of it %s lost "
            "(LOST above)\n",
            out, (long long)report.losses, report.losses == 1 ? "part" : "parts",
            report.losses == 1 ? "is" : "are");
    return EXIT_FAILED;
}

/* True unless the line was said before: what several bodies share is said once. */
static bool add_line(ImportReport *report, int line, const char *mark, const char *format,
                     va_list arguments)
{
    char text[512];
    vsnprintf(text, sizeof text, format, arguments);
    char all[1024];
    snprintf(all, sizeof all, "%.300s:%d: %s%s", report->file, line, mark, text);
    for (int64_t i = report->count - 1; i >= 0 && i >= report->count - 64; i--)
        if (!strcmp(report->line[i], all)) return false;
    if (report->count == report->room) {
        int64_t room = BRIO_MAX((int64_t)16, 2 * report->room);
        char **grown =
            brio__realloc(report->line, (size_t)report->count, (size_t)room, sizeof *grown);
        if (!grown) return true;
        report->line = grown;
        report->room = room;
    }
    char *copy = brio__strdup(all);
    if (copy) report->line[report->count++] = copy;
    return true;
}

void import_note(ImportReport *report, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_line(report, line, "", format, arguments);
    va_end(arguments);
}

void import_loss(ImportReport *report, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (add_line(report, line, "LOST: ", format, arguments)) report->losses++;
    va_end(arguments);
}

void import_forget(ImportReport *report, int64_t count, int64_t losses)
{
    while (report->count > count) brio__free(report->line[--report->count]);
    report->losses = losses;
}

static int run(int argc, char **argv)
{
    Arguments a = {.command = &command_import, .argc = argc, .argv = argv, .at = 1};
    const char *word[2] = {NULL, NULL}, *out = NULL, *names[BRIO_COUNT(formats)];
    char standard[512];
    int words = 0;
    bool force = false;
    for (int option; (option = argument_next(&a)) != ARGUMENT_END;) {
        if (option == ARGUMENT_BAD) return a.exit;
        if (option == OUT) out = a.value;
        if (option == FORCE) force = true;
        if (option != ARGUMENT_WORD) continue;
        if (words == 2)
            return usage_error(a.command, "one scene at a time: \"%s\" and \"%s\"", word[1],
                               a.value);
        word[words++] = a.value;
    }
    if (words < 2)
        return usage_error(a.command, "which format and which file? brio import ipc SCENE.txt");
    default_folder(word[1], ".yaml", standard, sizeof standard);
    for (size_t i = 0; i < BRIO_COUNT(formats); i++) {
        names[i] = formats[i].name;
        if (!strcmp(word[0], formats[i].name))
            return convert((int)i, word[1], out ? out : standard, force);
    }
    return unknown_name(a.command, "format", word[0], names, (int)BRIO_COUNT(names));
}

static const Option options[] = {
    [OUT] = {"--out", 'o', "SCENE.yaml",
             "Where the scene goes; default: NAME.yaml in the current folder."},
    [FORCE] = {"--force", 'f', NULL, "Replace that file if it exists."},
    {0}};

const Command command_import = {
    .name = "import",
    .summary = "Convert a scene of another program into a scene of brio.",
    .synopsis = "ipc SCENE.txt [-o SCENE.yaml] [--force]\n"
                "polyfem SCENE.json [-o SCENE.yaml] [--force]",
    .about =
        "ipc: the text scenes of the reference code of incremental potential contact [Li2020]. "
        "Mesh names are relative to the root of that code; brio looks for the meshes next to the "
        "file and in the folders above it. The written scene names them relative to itself. "
        "Lengths that the other code measures in diagonals of the scene's box (dHat, epsv, tol) "
        "are converted to metres.\n"
        "polyfem: JSON scenes of three-dimensional elasticity with contact. Displacements that "
        "are formulas of time become keys of scripts, one for each step.\n"
        "It prints a line for everything that it did not convert, with the reason. Lines that "
        "affect the motion are marked LOST. It then loads the scene once to see that it can run.\n"
        "Exit code 0: the scene is written and loads, and nothing is lost. 1: it is written, but "
        "does not load, or something is lost. 2: the file is not valid; nothing is written.",
    .options = options,
    .examples = "brio import ipc input/tutorialExamples/2cubesFall.txt -o cubes.yaml && brio run "
                "cubes.yaml\n"
                "brio import polyfem drop-ball.json -o ball.yaml && brio run ball.yaml",
    .run = run,
};
