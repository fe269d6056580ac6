/* brio convert: the motion of a run in a format that other programs read. */
#include "commands.h"
#include "progress.h"

#include "internal.h"

#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Convert {
    const char *run, *out;
    const BrioFrameFormat *format;
    char folder[4096], stem[128];
    int64_t every;
    bool all, force, quiet;
    double started, shown;
} Convert;

/* By the extension, of an index too. */
static const BrioFrameFormat *format_of(const char *extension)
{
    for (int i = 0; brio__frames_at(i); i++) {
        const BrioFrameFormat *format = brio__frames_at(i);
        if (!strcasecmp(extension, format->extension) ||
            (format->index && !strcasecmp(extension, format->index_extension)))
            return format;
    }
    return NULL;
}

static int split_name(Convert *c)
{
    const char *slash = strrchr(c->out, '/');
    const char *name = slash ? slash + 1 : c->out;
    const char *dot = strrchr(name, '.');
    char list[256] = "";
    for (int i = 0; brio__frames_at(i); i++) {
        const BrioFrameFormat *format = brio__frames_at(i);
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s.%s", i ? ", " : "",
                 format->index ? format->index_extension : format->extension);
    }
    c->format = dot ? format_of(dot + 1) : NULL;
    if (!c->format || dot == name)
        return usage_error(&command_convert,
                           "-o %s: expected a name that ends in one of %s, .gif, .webm, .mp4",
                           c->out, list);
    if ((size_t)(dot - name) >= sizeof c->stem ||
        (slash && (size_t)(slash - c->out) >= sizeof c->folder))
        return usage_error(&command_convert, "-o %s: the name is too long", c->out);
    snprintf(c->stem, sizeof c->stem, "%.*s", (int)(dot - name), name);
    snprintf(c->folder, sizeof c->folder, "%.*s", slash ? BRIO_MAX((int)(slash - c->out), 1) : 1,
             slash ? c->out : ".");
    return EXIT_DONE;
}

static bool show(void *user, int64_t done, int64_t total)
{
    Convert *c = user;
    double now = brio__seconds();
    char left[32];
    if (stop_wanted) return false;
    if (c->quiet || now - c->shown < (isatty(STDERR_FILENO) ? 0.1 : 10)) return true;
    c->shown = now;
    seconds_text((now - c->started) / (double)done * (double)BRIO_MAX(total - done, 0), left,
                 sizeof left);
    progress_text("%3.0f %%  ETA %s", fmin(floor(100.0 * (double)done / (double)total), 100), left);
    return true;
}

/* Existing files are replaced only with --force. */
static BrioStatus refuse_present(const Convert *c, const BrioFilm *film, const BrioFolder *folder,
                                 BrioError *error)
{
    char name[256];
    struct stat info;
    for (int64_t i = 0;
         !c->force && brio__film_file(film, c->format, c->stem, i, name, sizeof name); i++)
        if (fstatat(folder->fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0)
            return brio__error(error, BRIO_ERROR_EXISTS,
                               "%s/%s already exists: give another name, or --force to replace it",
                               c->folder, name);
    return BRIO_OK;
}

static void report(const Convert *c, const BrioFilm *film)
{
    char first[256] = "", last[256] = "", name[256];
    int64_t files = 0;
    for (; brio__film_file(film, c->format, c->stem, files, name, sizeof name); files++) {
        if (files == 0) snprintf(first, sizeof first, "%s", name);
        snprintf(last, sizeof last, "%s", name);
    }
    const char *folder = strcmp(c->folder, ".") ? c->folder : "";
    const char *slash = folder[0] && strcmp(folder, "/") ? "/" : "";
    printf("%s%s%s%s%s%s%s: %lld frame%s, t = %g to %g s, %g frames per second\n", folder, slash,
           first, files > 1 ? " ... " : "", files > 1 ? folder : "", files > 1 ? slash : "",
           files > 1 ? last : "", (long long)film->count, film->count == 1 ? "" : "s",
           brio__film_time(film, 0), brio__film_time(film, film->count - 1), film->motion->fps);
    if (c->format->rest_shape)
        printf("  in Blender: import the .obj, add the modifier Mesh Cache with the .%s, and set "
               "the scene to %g frames per second\n",
               c->format->extension, film->motion->fps);
}

static int convert(Convert *c)
{
    BrioMotionFile *motion = NULL;
    BrioFilm *film = NULL;
    BrioFolder folder = {.fd = -1};
    BrioError error = {0};
    BrioStatus status = brio__motion_open(c->run, &motion, &error);
    if (status == BRIO_OK) status = brio__film_create(motion, c->every, &film, &error);
    if (status == BRIO_OK) {
        film->all = c->all;
        film->progress = show;
        film->user = c;
        status = brio__folder_open(c->folder, true, &folder, &error);
    }
    if (status == BRIO_OK) status = refuse_present(c, film, &folder, &error);
    int code = status == BRIO_OK ? EXIT_DONE : EXIT_USAGE;
    if (status == BRIO_OK) {
        c->started = c->shown = brio__seconds();
        locale_t before = brio__c_locale_enter();
        status = brio__film_write(film, c->format, &folder, c->stem, &error);
        brio__c_locale_leave(before);
        progress_clear();
        if (status != BRIO_OK)
            code = EXIT_FAILED;
        else if (!c->quiet)
            report(c, film);
    }
    if (status != BRIO_OK) say_error(&error, code);
    brio__folder_close(&folder);
    brio__film_free(film);
    brio__motion_free(motion);
    return code;
}

/* Films are drawn: `brio render` makes them. */
static bool is_film(const char *name)
{
    static const char *const endings[] = {".mp4", ".webm", ".gif"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < BRIO_COUNT(endings); i++)
        if (!strcasecmp(dot, endings[i])) return true;
    return false;
}

static int render_film(const Convert *c)
{
    char *argv[8] = {"render", "-o", (char *)c->out};
    int argc = 3;
    if (c->every > 1 || c->all)
        return usage_error(&command_convert,
                           "--every and --all are not for films: `brio render` has --fps, --speed "
                           "and --obstacles");
    if (c->force) argv[argc++] = "--force";
    if (c->quiet) argv[argc++] = "--quiet";
    argv[argc++] = "--"; /* a folder may begin with a dash */
    argv[argc++] = (char *)c->run;
    return command_find("render")->run(argc, argv);
}

enum { OUT, FORCE, EVERY, ALL, QUIET };

static int run(int argc, char **argv)
{
    Arguments a = {.command = &command_convert, .argc = argc, .argv = argv, .at = 1};
    Convert c = {.every = 1};
    int option;
    while ((option = argument_next(&a)) != ARGUMENT_END) {
        switch (option) {
        case OUT: c.out = a.value; break;
        case FORCE: c.force = true; break;
        case EVERY:
            if (!read_count(a.command, "--every", a.value, 1000000000, &c.every)) return EXIT_USAGE;
            break;
        case ALL: c.all = true; break;
        case QUIET: c.quiet = true; break;
        case ARGUMENT_WORD:
            if (c.run)
                return usage_error(a.command, "one run at a time: \"%s\" and \"%s\"", c.run,
                                   a.value);
            c.run = a.value;
            break;
        default: return a.exit;
        }
    }
    if (!c.run)
        return usage_error(a.command, "which run? Give a folder that `brio run` has written");
    if (!c.out)
        return usage_error(a.command,
                           "missing -o: use -o x.glb, x.usda, x.pc2, x.mdd, x.pvd, x.obj or x.ply");
    if (is_film(c.out)) return render_film(&c);
    int code = split_name(&c);
    if (code != EXIT_DONE) return code;
    catch_signals();
    return convert(&c);
}

static const Option options[] = {
    [OUT] = {"--out", 'o', "FILE", "File to write; its extension selects the format."},
    [FORCE] = {"--force", 'f', NULL, "Replace existing files."},
    [EVERY] = {"--every", 0, "N", "Write every Nth frame only."},
    [ALL] = {"--all", 'a', NULL, "Include obstacles and rods; default: bodies only."},
    [QUIET] = {"--quiet", 'q', NULL, "No progress; errors only."},
    {0}};

const Command command_convert = {
    .name = "convert",
    .summary = "Export the motion of a run to other programs: Blender, USD, glTF, ParaView.",
    .synopsis =
        "RUN -o x.glb|x.usda|x.pc2|x.mdd|x.pvd|x.obj|x.ply|x.gif|x.webm [--every N] [--all] "
        "[--force]",
    .about =
        "RUN is a folder that `brio run` has written. The command exports the motion stored there "
        "(motion.bin, 24 bits per coordinate) at the scene's frames per second, with the names of "
        "the bodies. Bodies from OBJ files keep their polygons, texture coordinates and groups. "
        "For a body with a `surface`, the surface is exported.\n"
        "\n"
        "  x.glb   one file: glTF 2.0 with morph targets, for browsers, game engines, Blender\n"
        "  x.usda  one file: USD with points, velocities and bounds at every frame\n"
        "  x.pc2   point cache and rest shape x.obj, for Mesh Cache modifiers (Blender, 3ds Max)\n"
        "  x.mdd   likewise; several bodies: x-BODY.pc2, x-BODY.mdd\n"
        "  x.pvd   x_000000.vtu, ... with velocities and the index x.pvd, for ParaView\n"
        "  x.obj   x_000000.obj, ..., which every program reads\n"
        "  x.ply   x_000000.ply, ... with velocities\n"
        "  x.gif   a film, as `brio render` makes it with its defaults; x.webm, x.mp4 likewise\n"
        "\n"
        "Velocities are those of the simulation if the scene has `output: {velocities: true}` or "
        "lists usda there. Otherwise they are differences of positions between frames. The run "
        "itself can write the same formats: `output: {frames: [glb]}`.\n"
        "Exit code 0: written. 1: it could not be written. 2: the run or the command is not valid.",
    .options = options,
    .examples = "brio convert cloth-out -o cloth.glb\n"
                "brio convert cloth-out -o cloth.pc2      # and cloth.obj: import it in Blender, "
                "add a Mesh Cache modifier\n"
                "brio convert dice-out -o caches/dice.usda --all",
    .run = run,
};
