/* brio render: a picture (PNG), a sheet of pictures or a film (MP4) of one run, or of several side
 * by side. Drawn in software, without a display. */
#include "commands.h"
#include "progress.h"
#include "render_energy.h"
#include "results.h"

#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_RUNS = 8, MAX_SHEET = 64, MAX_PIXELS = 16384, MAX_TEXTURES = 64 };

typedef struct Render {
    const char *out;
    int run_count;
    const char *run[MAX_RUNS];
    BrioMotionFile *motion[MAX_RUNS];
    char label[MAX_RUNS][256];
    BrioStageDef def;
    BrioStage *stage;
    double time, fps, speed, from, to;
    double blur;                            /* fraction of a frame that the shutter is open */
    const char *texture_file[MAX_TEXTURES]; /* as given: FILE or BODY=FILE */
    char *texture_name[MAX_TEXTURES];
    BrioTexture *texture_data[MAX_TEXTURES];
    BrioStageTexture texture[MAX_TEXTURES];
    int64_t frame, sheet;
    bool stamp, plain, force, quiet, with_energy;
    EnergyCurve energy[MAX_RUNS]; /* with_energy: of each run, on one scale */
    double energy_range[2];
    int columns, rows; /* panels in a picture */
    int width, height; /* of the whole picture */
    size_t pitch;
    uint8_t *rgb;
} Render;

/* ---- pictures --------------------------------------------------------------------------- */

/* Words over whatever is drawn there, on a light ground of their own; `line` counts from the top of
 * the panel. */
static void write_words(Render *r, int column, int row, int line, unsigned colour, const char *text)
{
    float size = fmaxf(0.024f * (float)r->def.height, 8.5f);
    float x = (float)(column * r->def.width) + 1.1f * size;
    float y = (float)(row * r->def.height) + (2.2f + 1.9f * (float)line) * size;
    int left = (int)(x - 0.5f * size);
    int top = (int)(y - 1.45f * size);
    int wide = (int)(brio__text_width(text, size) + size);
    int high = (int)(1.9f * size);
    brio__box_draw(r->rgb, r->pitch, r->width, r->height, left, top, wide, high, 0xf2f4f7, 0.6f);
    brio__text_draw(r->rgb, r->pitch, r->width, r->height, x, y, size, colour, text);
}

static BrioStatus panel(Render *r, int column, int row, int which, double time, bool stamped,
                        int line, BrioError *error)
{
    int wide = r->def.width, high = r->def.height;
    uint8_t *at =
        r->rgb + (size_t)row * (size_t)high * r->pitch + 3 * (size_t)column * (size_t)wide;
    char text[64];
    BRIO_CHECK(brio__stage_draw(r->stage, which, time, at, r->pitch, error));
    if (r->with_energy)
        energy_curve_draw(&r->energy[which], (double[]){r->from, r->to}, r->energy_range, time, at,
                          r->pitch, wide, high);
    snprintf(text, sizeof text, "t = %.*f s", r->to < 0.1 ? 4 : 2, time);
    if (stamped) write_words(r, column, row, line, 0x50565e, text);
    if (row == 0 && column == r->columns - 1)
        brio__stage_legend(r->stage, at, r->pitch, wide, high);
    if (column) brio__box_draw(at, r->pitch, wide, high, 0, 0, 1, high, 0xffffff, 0.7f);
    if (row) brio__box_draw(at, r->pitch, wide, high, 0, 0, wide, 1, 0xffffff, 0.7f);
    return BRIO_OK;
}

static BrioStatus instant(Render *r, double time, BrioError *error)
{
    bool named = r->run_count > 1 && !r->plain;
    for (int k = 0; k < r->run_count; k++)
        BRIO_CHECK(panel(r, k % r->columns, k / r->columns, k, time, r->stamp, named, error));
    for (int k = 0; named && k < r->run_count; k++)
        write_words(r, k % r->columns, k / r->columns, 0, 0x30343a, r->label[k]);
    return BRIO_OK;
}

/* Instants at equal distances; one run fills rows, several have a row each. */
static BrioStatus sheet(Render *r, BrioError *error)
{
    for (int k = 0; k < r->run_count; k++)
        for (int i = 0; i < (int)r->sheet; i++) {
            double time =
                r->from + (r->sheet > 1 ? (r->to - r->from) * i / (double)(r->sheet - 1) : 0);
            int column = r->run_count > 1 ? i : i % r->columns;
            int row = r->run_count > 1 ? k : i / r->columns;
            BRIO_CHECK(panel(r, column, row, k, time, !r->plain, r->run_count > 1, error));
        }
    /* over the neighbouring panels */
    for (int k = 0; r->run_count > 1 && !r->plain && k < r->run_count; k++)
        write_words(r, 0, k, 0, 0x30343a, r->label[k]);
    for (int i = (int)r->sheet; r->run_count == 1 && i < r->columns * r->rows;
         i++) /* places that stay empty */
        brio__box_draw(r->rgb, r->pitch, r->width, r->height, i % r->columns * r->def.width,
                       i / r->columns * r->def.height, r->def.width, r->def.height, 0xeef1f4, 1);
    return BRIO_OK;
}

/* ---- files ------------------------------------------------------------------------------ */

static int write_png(const Render *r, const char *name)
{
    ResultFile result;
    if (!create_file(&command_render, name, r->force, "give another name", &result))
        return EXIT_USAGE;
    return finish_file(&command_render, &result,
                       brio__png_write(result.file, r->rgb, r->width, r->height));
}

static int64_t film_frames(const Render *r)
{
    return (int64_t)floor((r->to - r->from) / r->speed * r->fps + 1e-6) + 1;
}

static void show(const Render *r, int64_t done, int64_t all, double started, double *shown)
{
    double now = brio__seconds();
    char left[32];
    if (r->quiet || now - *shown < (isatty(STDERR_FILENO) ? 0.1 : 10)) return;
    *shown = now;
    seconds_text((now - started) / (double)done * (double)(all - done), left, sizeof left);
    progress_text("%3.0f %%  frame %lld of %lld, ETA %s", floor(100.0 * (double)done / (double)all),
                  (long long)done, (long long)all, left);
}

/* The formats of films, with what ffmpeg is told for each. */
typedef struct FilmFormat {
    const char *ending, *name;
    const char *options[16];
} FilmFormat;

static const FilmFormat film_formats[] = {
    {".mp4",
     "mp4",
     {"-c:v", "libx264", "-preset", "veryfast", "-crf", "18", "-pix_fmt", "yuv420p", "-movflags",
      "+faststart"}},
    {".webm",
     "webm",
     {"-c:v", "libvpx-vp9", "-crf", "30", "-b:v", "0", "-pix_fmt", "yuv420p", "-row-mt", "1",
      "-cpu-used", "4"}},
    /* the colours of the film itself, and it begins again at its end */
    {".gif",
     "gif",
     {"-filter_complex", "split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=bayer", "-loop",
      "0"}},
};

static bool ends(const char *name, const char *ending)
{
    size_t a = strlen(name), b = strlen(ending);
    return a > b && !strcasecmp(name + a - b, ending);
}

static const FilmFormat *film_format(const char *name)
{
    for (size_t i = 0; i < BRIO_COUNT(film_formats); i++)
        if (ends(name, film_formats[i].ending)) return &film_formats[i];
    return NULL;
}

/* Starts ffmpeg with its input at *input, which does not block. The second pipe closes when it has
 * been started and holds errno when it has not. */
static int start_ffmpeg(const Render *r, const char *name, pid_t *child, int *input)
{
    int data[2], trouble[2], reason = 0;
    char size[32], rate[40], target[4300];
    if (pipe(data)) return errno;
    if (pipe(trouble)) {
        reason = errno;
        close(data[0]);
        close(data[1]);
        return reason;
    }
    snprintf(size, sizeof size, "%dx%d", r->width, r->height);
    snprintf(rate, sizeof rate, "%.9g", r->fps);
    snprintf(target, sizeof target, "file:%s", name); /* no option and no protocol */
    *child = fork();
    if (*child == 0) {
        const FilmFormat *format = film_format(r->out);
        const char *argv[48] = {"ffmpeg",   "-nostdin", "-loglevel", "error",    "-y", "-f",
                                "rawvideo", "-pix_fmt", "rgb24",     "-s",       size, "-r",
                                rate,       "-i",       "-",         "-threads", "2",  "-an"};
        int used = 18;
        for (int i = 0; format->options[i]; i++) argv[used++] = format->options[i];
        argv[used++] = "-f";
        argv[used++] = format->name;
        argv[used++] = target;
        dup2(data[0], 0);
        close(data[0]);
        close(data[1]);
        close(trouble[0]);
        fcntl(trouble[1], F_SETFD, FD_CLOEXEC);
        signal(SIGINT, SIG_IGN); /* the film is closed properly by the end of its input */
        execvp(argv[0], (char *const *)argv);
        reason = errno;
        if (write(trouble[1], &reason, sizeof reason) < 0) _exit(126);
        _exit(127);
    }
    close(data[0]);
    close(trouble[1]);
    *input = data[1];
    fcntl(*input, F_SETFL, O_NONBLOCK);
    if (*child < 0)
        reason = errno;
    else if (read(trouble[0], &reason, sizeof reason) != sizeof reason)
        reason = 0;
    close(trouble[0]);
    return reason;
}

/* False: ffmpeg has ended, or the user has asked to stop while it reads nothing. */
static bool put_all(int fd, const uint8_t *data, size_t size)
{
    while (size > 0) {
        ssize_t put = write(fd, data, size);
        if (put > 0) {
            data += put;
            size -= (size_t)put;
        } else if (put < 0 && errno == EAGAIN && !stop_wanted) {
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, 100);
        } else if (put == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

/* How ffmpeg ended. A film that the user has stopped need not be finished. */
static int wait_for_ffmpeg(pid_t child)
{
    int status = 0;
    bool killed = false;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (stop_wanted && !killed) killed = kill(child, SIGKILL) == 0;
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    return status;
}

static int film(Render *r)
{
    int64_t count = film_frames(r), done = 0;
    double started = brio__seconds(), shown = started;
    char partial[4200];
    BrioError error = {0};
    pid_t child = -1;
    int input = -1;
    struct stat info;
    if (stat(r->out, &info) == 0 && !r->force)
        return usage_error(&command_render,
                           "%s already exists: give another name, or --force to replace it",
                           r->out);
    partial_name(r->out, partial, sizeof partial);
    int reason = start_ffmpeg(r, partial, &child, &input);
    if (reason) {
        close(input);
        if (child > 0) waitpid(child, NULL, 0);
        if (reason == ENOENT)
            fprintf(stderr,
                    "brio render: films need the program ffmpeg, which is not installed (Debian: "
                    "apt-get install ffmpeg). Pictures do not: -o %s, --sheet 12, or numbered "
                    "frames with -o frame-%%04d.png\n",
                    "x.png");
        else
            fprintf(stderr, "brio render: ffmpeg cannot be started: %s\n", strerror(reason));
        return EXIT_FAILED;
    }
    bool broken = false;
    BrioStatus drawn = BRIO_OK;
    for (; done < count && !stop_wanted && !broken && drawn == BRIO_OK; done++) {
        drawn = instant(r, r->from + (double)done * r->speed / r->fps, &error);
        if (drawn == BRIO_OK) broken = !put_all(input, r->rgb, r->pitch * (size_t)r->height);
        show(r, done + 1, count, started, &shown);
    }
    close(input);
    int status = wait_for_ffmpeg(child);
    progress_clear();
    bool complete = drawn == BRIO_OK && !stop_wanted && !broken && WIFEXITED(status) &&
                    WEXITSTATUS(status) == 0;
    if (complete && rename(partial, r->out) == 0) {
        char wall[32];
        seconds_text(brio__seconds() - started, wall, sizeof wall);
        if (!r->quiet)
            printf("%s: %lld frames, %d x %d, %g per second, in %s\n", r->out, (long long)count,
                   r->width, r->height, r->fps, wall);
        return EXIT_DONE;
    }
    reason = errno;
    unlink(partial);
    if (drawn != BRIO_OK) return say_error(&error, EXIT_FAILED);
    if (complete)
        fprintf(stderr, "brio render: cannot write %s: %s\n", r->out, strerror(reason));
    else if (stop_wanted)
        fprintf(stderr, "brio render: stopped on request; no film was left\n");
    else
        fprintf(stderr, "brio render: ffmpeg could not make %s; see its message above\n", r->out);
    return EXIT_FAILED;
}

static int numbered(Render *r)
{
    int64_t count = film_frames(r);
    double started = brio__seconds(), shown = started;
    char name[4200];
    BrioError error = {0};
    for (int64_t k = 0; k < count; k++) {
        if (stop_wanted) {
            progress_clear();
            fprintf(stderr, "brio render: stopped on request after %lld of %lld pictures\n",
                    (long long)k, (long long)count);
            return EXIT_FAILED;
        }
        const char *at = strchr(r->out, '%');
        int digits = (int)strtol(at + 1, NULL, 10), rest = (int)(strchr(at, 'd') - r->out) + 1;
        snprintf(name, sizeof name, "%.*s%0*lld%s", (int)(at - r->out), r->out, digits,
                 (long long)k, r->out + rest);
        if (instant(r, r->from + (double)k * r->speed / r->fps, &error) != BRIO_OK)
            return say_error(&error, EXIT_FAILED);
        int code = write_png(r, name);
        if (code != EXIT_DONE) return code;
        show(r, k + 1, count, started, &shown);
    }
    progress_clear();
    if (!r->quiet)
        printf("%s: %lld pictures, %d x %d\n", r->out, (long long)count, r->width, r->height);
    return EXIT_DONE;
}

static int still(Render *r)
{
    BrioError error = {0};
    BrioStatus status = r->sheet ? sheet(r, &error) : instant(r, r->time, &error);
    if (status != BRIO_OK) return say_error(&error, EXIT_FAILED);
    int code = write_png(r, r->out);
    if (code == EXIT_DONE && !r->quiet) printf("%s: %d x %d\n", r->out, r->width, r->height);
    return code;
}

/* ---- the command ------------------------------------------------------------------------ */

typedef enum Target { PICTURE, NUMBERED, FILM, NOTHING } Target;

static Target target_of(const char *out)
{
    const char *percent = strchr(out, '%');
    if (film_format(out) && !percent) return FILM;
    if (!ends(out, ".png")) return NOTHING;
    if (!percent) return PICTURE;
    const char *at = percent + 1;
    while (*at >= '0' && *at <= '9') at++;
    return at > percent + 1 && at - percent < 4 && *at == 'd' && !strchr(at, '%') ? NUMBERED
                                                                                  : NOTHING;
}

static bool read_number(const char *option, const char *text, double low, double high,
                        double *value)
{
    char *end;
    *value = strtod(text, &end);
    if (end == text || *end || !(*value >= low && *value <= high)) {
        usage_error(&command_render, "%s %s: expected a number from %g to %g", option, text, low,
                    high);
        return false;
    }
    return true;
}

static bool read_frame(const char *text, int64_t *frame)
{
    double number;
    if (!read_number("--frame", text, 0, 1e12, &number)) return false;
    *frame = (int64_t)number;
    if ((double)*frame == number) return true;
    usage_error(&command_render, "--frame %s: expected an integer; --time takes seconds", text);
    return false;
}

static bool read_point(const char *option, const char *text, double point[3])
{
    char rest;
    if (sscanf(text, "%lf,%lf,%lf%c", &point[0], &point[1], &point[2], &rest) == 3 &&
        isfinite(point[0]) && isfinite(point[1]) && isfinite(point[2]))
        return true;
    usage_error(&command_render, "%s %s: expected three numbers, as in 1,0.5,2", option, text);
    return false;
}

static bool read_size(const char *text, BrioStageDef *def)
{
    char rest;
    if (sscanf(text, "%dx%d%c", &def->width, &def->height, &rest) == 2 && def->width >= 16 &&
        def->height >= 16 && def->width <= MAX_PIXELS && def->height <= MAX_PIXELS)
        return true;
    usage_error(&command_render,
                "--size %s: expected WIDTHxHEIGHT in pixels, from 16x16 to %dx%d, as in 1280x720",
                text, MAX_PIXELS, MAX_PIXELS);
    return false;
}

static bool read_choice(const char *option, const char *text, const char *const *names, int count,
                        int *value)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(text, names[i])) {
            *value = i;
            return true;
        }
    unknown_name(&command_render, option, text, names, count);
    return false;
}

enum {
    OUT,
    FORCE,
    SIZE,
    TIME,
    FRAME,
    SHEET,
    FROM,
    TO,
    FPS,
    SPEED,
    COLOR,
    MAX,
    WIRE,
    OBSTACLES,
    BACKGROUND,
    NO_GROUND,
    CAMERA,
    TARGET,
    AZIMUTH,
    ELEVATION,
    ZOOM,
    FOLLOW,
    BLUR,
    CHECKS,
    TEXTURE,
    OWN_SCALES,
    ENERGY,
    STAMP,
    PLAIN,
    THREADS,
    QUIET
};

/* Options whose values are names. */
static bool take_choice(int option, const char *text, BrioStageDef *def)
{
    static const char *const colours[] = {"body", "strain", "speed"};
    static const char *const styles[] = {"solid", "glass", "none"};
    static const char *const backgrounds[] = {"sky", "studio", "white"};
    int choice = 0;
    if (option == COLOR) {
        if (!read_choice("colouring", text, colours, BRIO_COUNT(colours), &choice)) return false;
        def->colouring = (BrioColouring)choice;
    } else if (option == OBSTACLES) {
        if (!read_choice("look of obstacles", text, styles, BRIO_COUNT(styles), &choice))
            return false;
        def->obstacles = (BrioObstacleStyle)choice;
    } else {
        if (!read_choice("background", text, backgrounds, BRIO_COUNT(backgrounds), &choice))
            return false;
        def->background = (BrioBackground)choice;
    }
    return true;
}

static bool take(Arguments *a, int option, Render *r, bool *sized)
{
    const char *name = option >= 0 ? a->command->options[option].name : "", *v = a->value;
    int64_t threads;
    a->exit = EXIT_USAGE;
    switch (option) {
    case OUT: r->out = v; return true;
    case FORCE: r->force = true; return true;
    case SIZE: *sized = true; return read_size(v, &r->def);
    case TIME: return read_number(name, v, 0, 1e12, &r->time);
    case FRAME: return read_frame(v, &r->frame);
    case SHEET: return read_count(a->command, name, v, MAX_SHEET, &r->sheet);
    case FROM: return read_number(name, v, 0, 1e12, &r->from);
    case TO: return read_number(name, v, 0, 1e12, &r->to);
    case FPS: return read_number(name, v, 0.1, 1000, &r->fps);
    case SPEED: return read_number(name, v, 1e-6, 1e6, &r->speed);
    case MAX: return read_number(name, v, 1e-12, 1e12, &r->def.max);
    case WIRE: r->def.lines = true; return true;
    case COLOR:
    case OBSTACLES:
    case BACKGROUND: return take_choice(option, v, &r->def);
    case NO_GROUND: r->def.no_ground = true; return true;
    case CAMERA: return read_point(name, v, r->def.eye);
    case TARGET: return read_point(name, v, r->def.target);
    case AZIMUTH: return read_number(name, v, -360, 360, &r->def.azimuth);
    case ELEVATION: return read_number(name, v, -90, 90, &r->def.elevation);
    case ZOOM: return read_number(name, v, 0.01, 100, &r->def.zoom);
    case FOLLOW: r->def.follow = true; return true;
    case BLUR: return read_number(name, v, 0, 1, &r->blur);
    case CHECKS: r->def.checks = true; return true;
    case TEXTURE:
        if (r->def.texture_count == MAX_TEXTURES) {
            usage_error(a->command, "more than %d textures", MAX_TEXTURES);
            return false;
        }
        r->texture_file[r->def.texture_count++] = v;
        return true;
    case OWN_SCALES: r->def.own_scales = true; return true;
    case ENERGY: r->with_energy = true; return true;
    case STAMP: r->stamp = true; return true;
    case PLAIN: r->plain = true; return true;
    case QUIET: r->quiet = true; return true;
    case THREADS:
        if (!read_count(a->command, name, v, 1024, &threads)) return false;
        brio_set_threads((int)threads);
        return true;
    default:
        if (r->run_count == MAX_RUNS) {
            usage_error(a->command, "at most %d runs fit side by side", MAX_RUNS);
            return false;
        }
        r->run[r->run_count++] = v;
        return true;
    }
}

/* Times are of all runs together: until the last of them ends. */
static int settle_times(Render *r, Target target)
{
    double start = INFINITY, end = 0, fps = 0;
    for (int k = 0; k < r->run_count; k++) {
        start = fmin(start, r->motion[k]->time[0]);
        end = fmax(end, r->motion[k]->time[r->motion[k]->frame_count - 1]);
        fps = fmax(fps, r->motion[k]->fps);
    }
    if (isnan(r->from)) r->from = start; /* of a run from a checkpoint: not 0 */
    if (isnan(r->to)) r->to = end;
    if (isnan(r->fps)) r->fps = fmin(fps, 1000);
    r->def.shutter = r->blur * r->speed / r->fps;
    if (r->frame >= 0) {
        if (r->frame >= r->motion[0]->frame_count)
            return usage_error(&command_render, "--frame %lld: there are frames 0 to %lld",
                               (long long)r->frame, (long long)r->motion[0]->frame_count - 1);
        r->time = r->motion[0]->time[r->frame];
    }
    if (isnan(r->time)) r->time = end;
    if (r->time > end * (1 + 1e-9) + 1e-9)
        return usage_error(&command_render, "--time %g: the run ends at %g s", r->time, end);
    if (!(r->from <= r->to))
        return usage_error(&command_render, "--from %g is after --to %g", r->from, r->to);
    if (r->from > end)
        return usage_error(&command_render, "--from %g: the run ends at %g s", r->from, end);
    if (target != PICTURE && film_frames(r) > 1000000)
        return usage_error(
            &command_render,
            "the film would have %lld frames: choose --from, --to, --fps or a larger --speed",
            (long long)film_frames(r));
    return EXIT_DONE;
}

static int arrange(Render *r, Target target)
{
    if (r->sheet && r->run_count == 1) {
        r->columns = (int)ceil(sqrt((double)r->sheet * 1.2));
        r->columns = BRIO_MIN(r->columns, (int)r->sheet);
        r->rows = ((int)r->sheet + r->columns - 1) / r->columns;
        if (r->sheet % r->columns && r->sheet % (r->columns + 1) == 0)
            r->columns++, r->rows = (int)r->sheet / r->columns;
    } else {
        r->columns = r->sheet            ? (int)r->sheet
                     : r->run_count <= 4 ? r->run_count
                                         : (r->run_count + 1) / 2;
        r->rows = r->sheet ? r->run_count : (r->run_count + r->columns - 1) / r->columns;
    }
    if (target == FILM) { /* H.264 halves colours: even sides */
        r->def.width += r->def.width & 1;
        r->def.height += r->def.height & 1;
    }
    if ((int64_t)r->columns * r->def.width > MAX_PIXELS ||
        (int64_t)r->rows * r->def.height > MAX_PIXELS)
        return usage_error(&command_render,
                           "%d x %d pictures of %d x %d pixels: more than %d pixels wide or high; "
                           "choose a smaller --size",
                           r->columns, r->rows, r->def.width, r->def.height, MAX_PIXELS);
    r->width = r->columns * r->def.width;
    r->height = r->rows * r->def.height;
    r->pitch = 3 * (size_t)r->width;
    r->rgb = brio__calloc(r->pitch * (size_t)r->height, 1);
    if (!r->rgb)
        return usage_error(&command_render, "there is not enough memory for %d x %d pixels",
                           r->width, r->height);
    memset(r->rgb, 0xee, r->pitch * (size_t)r->height);
    return EXIT_DONE;
}

/* The files of --texture; what stands before = names a body. */
static BrioStatus load_textures(Render *r, BrioError *error)
{
    for (int k = 0; k < r->def.texture_count; k++) {
        const char *text = r->texture_file[k], *equals = strchr(text, '=');
        if (equals && !(r->texture_name[k] = brio__strdup(text)))
            return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
        if (equals) r->texture_name[k][equals - text] = 0;
        BRIO_CHECK(brio__texture_load(equals ? equals + 1 : text, &r->texture_data[k], error));
        r->texture[k] = (BrioStageTexture){r->texture_name[k], r->texture_data[k]};
    }
    r->def.texture = r->texture;
    return BRIO_OK;
}

static int make(Render *r, Target target)
{
    BrioError error = {0};
    if (load_textures(r, &error) != BRIO_OK) return say_error(&error, EXIT_USAGE);
    for (int k = 0; k < r->run_count; k++) {
        if (brio__motion_open(r->run[k], &r->motion[k], &error) != BRIO_OK)
            return say_error(&error, EXIT_USAGE);
        run_label(r->run[k], r->label[k], sizeof r->label[k]);
    }
    r->energy_range[0] = INFINITY;
    r->energy_range[1] = -INFINITY;
    for (int k = 0; r->with_energy && k < r->run_count; k++) {
        if (energy_curve_read(r->run[k], &r->energy[k], &error) != BRIO_OK)
            return say_error(&error, EXIT_USAGE);
        energy_curve_range(&r->energy[k], r->energy_range);
    }
    int code = settle_times(r, target);
    if (code == EXIT_DONE) code = arrange(r, target);
    if (code != EXIT_DONE) return code;
    if (brio__stage_create(&r->def, r->motion, r->run_count, &r->stage, &error) != BRIO_OK)
        return say_error(&error, EXIT_USAGE);
    catch_signals();
    return target == FILM ? film(r) : target == NUMBERED ? numbered(r) : still(r);
}

static int run(int argc, char **argv)
{
    Arguments a = {.command = &command_render, .argc = argc, .argv = argv, .at = 1};
    static Render r;
    bool sized = false;
    int option;
    r = (Render){.def = brio__stage_defaults(),
                 .time = NAN,
                 .fps = NAN,
                 .speed = 1,
                 .from = NAN,
                 .to = NAN,
                 .frame = -1};
    while ((option = argument_next(&a)) != ARGUMENT_END)
        if (option == ARGUMENT_BAD || !take(&a, option, &r, &sized)) return a.exit;
    if (r.run_count == 0)
        return usage_error(a.command, "which run? Give a folder that `brio run` has written");
    if (!r.out)
        return usage_error(a.command,
                           "missing -o: use -o x.png for a picture or -o x.mp4 for a film");
    Target target = target_of(r.out);
    if (target == NOTHING)
        return usage_error(a.command,
                           "-o %s: expected a name that ends in .png, .mp4, .webm or .gif; "
                           "frame-%%04d.png gives numbered pictures",
                           r.out);
    if (target != PICTURE && (r.sheet || r.frame >= 0 || !isnan(r.time)))
        return usage_error(a.command,
                           "--time, --frame and --sheet are for one picture, not for a film");
    if (r.sheet && (r.frame >= 0 || !isnan(r.time)))
        return usage_error(
            a.command,
            "--sheet shows instants from --from to --to: not together with --time or --frame");
    if (r.frame >= 0 && !isnan(r.time))
        return usage_error(a.command,
                           "--time and --frame name one instant twice: give one of them");
    if (r.def.follow && !(isnan(r.def.eye[0]) && isnan(r.def.target[0])))
        return usage_error(a.command,
                           "--follow chooses where the camera is: not together with --camera or "
                           "--target");
    if (r.def.own_scales && (r.def.colouring == BRIO_COLOUR_BODY || !isnan(r.def.max)))
        return usage_error(a.command, "--own-scales needs --color strain or speed, without --max");
    if (r.def.texture_count && r.def.colouring != BRIO_COLOUR_BODY)
        return usage_error(a.command, "--texture needs --color body, the default");
    if (!sized && r.sheet) r.def.width = 480, r.def.height = 360;
    if (!sized && !r.sheet && r.run_count > 1)
        r.def.width = r.run_count == 2 ? 800 : 640, r.def.height = r.run_count == 2 ? 720 : 560;
    int code = make(&r, target);
    brio__stage_free(r.stage);
    for (int k = 0; k < r.run_count; k++) {
        brio__motion_free(r.motion[k]);
        energy_curve_free(&r.energy[k]);
    }
    for (int k = 0; k < r.def.texture_count; k++) {
        brio__texture_free(r.texture_data[k]);
        brio__free(r.texture_name[k]);
    }
    brio__free(r.rgb);
    return code;
}

static const Option options[] = {
    [OUT] =
        {"--out", 'o', "FILE",
         "x.png: a picture; x.mp4, x.webm, x.gif: a film; frame-%04d.png: its pictures, numbered."},
    [FORCE] = {"--force", 'f', NULL, "Replace an existing file."},
    [SIZE] =
        {"--size", 0, "WxH",
         "Size in pixels of each picture, also side by side or on a sheet; default: 1280x720."},
    [TIME] = {"--time", 't', "SECONDS", "The time of a picture; default: the last."},
    [FRAME] = {"--frame", 0, "N", "The same by frame number, from 0."},
    [SHEET] = {"--sheet", 0, "N", "N equally spaced instants on one sheet; one row per run."},
    [FROM] = {"--from", 0, "SECONDS", "Start time of a film or sheet; default: that of the run."},
    [TO] = {"--to", 0, "SECONDS", "End time; default: the end of the run."},
    [FPS] = {"--fps", 0, "N", "Frames per second of a film; default: time.fps of the scene."},
    [SPEED] = {"--speed", 0, "FACTOR",
               "Simulated seconds per second of film; 0.25 is slow motion."},
    [COLOR] = {"--color", 'c', "body|strain|speed",
               "What colours show; strain and speed come with a scale."},
    [MAX] = {"--max", 0, "VALUE",
             "Strain (0.1 is 10 %) or speed (m/s) at the upper end of the scale; default: from "
             "the run."},
    [WIRE] = {"--wire", 'w', NULL, "Draw the edges of the mesh."},
    [OBSTACLES] = {"--obstacles", 0, "solid|glass|none", "How obstacles look; default: solid."},
    [BACKGROUND] = {"--background", 0, "sky|studio|white",
                    "Sky and ground, a soft grey, or white for paper; default: sky."},
    [NO_GROUND] = {"--no-ground", 0, NULL, "Do not add a floor below the bodies."},
    [CAMERA] = {"--camera", 0, "X,Y,Z",
                "Position of the camera; default: where everything is visible at all times."},
    [TARGET] = {"--target", 0, "X,Y,Z", "Point that the camera looks at."},
    [AZIMUTH] = {"--azimuth", 0, "DEGREES",
                 "Direction that the camera looks from: 0 from +z, 90 "
                 "from +x."},
    [ELEVATION] = {"--elevation", 0, "DEGREES",
                   "Angle above the horizon: 0 level, 90 straight "
                   "down."},
    [ZOOM] = {"--zoom", 0, "FACTOR", "Move closer than the default view: 2 is half the distance."},
    [FOLLOW] = {"--follow", 0, NULL,
                "Move the camera with the bodies instead of showing the whole scene."},
    [BLUR] = {"--blur", 0, "FRACTION",
              "Motion blur: the fraction of a frame that the shutter is open; 0.5 is usual."},
    [CHECKS] = {"--checks", 0, NULL,
                "Draw a checkerboard on the bodies, which shows stretch and rotation."},
    [TEXTURE] = {"--texture", 0, "[BODY=]FILE.png",
                 "Draw a picture on a body, or on all bodies with texture coordinates (vt lines of "
                 "an OBJ file)."},
    [OWN_SCALES] = {"--own-scales", 0, NULL,
                    "A separate colour scale for each body, up to its largest strain or speed."},
    [ENERGY] = {"--energy", 0, NULL,
                "Draw the curve of the total energy up to the time of the picture; several runs "
                "have one scale."},
    [STAMP] = {"--stamp", 0, NULL, "Write the time into the picture (default on a sheet)."},
    [PLAIN] = {"--plain", 0, NULL, "No names of integrators, no times."},
    [THREADS] = {"--threads", 'j', "N", "Number of threads; pictures do not depend on it."},
    [QUIET] = {"--quiet", 'q', NULL, "No progress; errors only."},
    {0}};

const Command command_render = {
    .name = "render",
    .summary = "Draw a picture or a film of a run.",
    .synopsis =
        "RUN... -o x.png [--time SECONDS | --sheet N] [--color body|strain|speed] [--size WxH]\n"
        "RUN... -o x.mp4|x.webm|x.gif [--speed FACTOR] [--fps N]",
    .about = "RUN is a folder that `brio run` has written. The command draws the motion stored "
             "there (motion.bin). Several runs appear side by side, with the same camera. "
             "Rendering uses the processor only: it needs no display and no graphics card. "
             "Pictures are the same to the last bit for any number of threads. Films need the "
             "program ffmpeg.\n"
             "\n"
             "Speed is measured between neighbouring frames. Strain is the largest |stretch - 1| "
             "of the surface relative to the rest shape.\n"
             "Exit code 0: written. 1: it could not be written. 2: the runs or the command are "
             "not valid.",
    .options = options,
    .examples = "brio render cloth-out -o cloth.png --time 1.2 --color strain\n"
                "brio render ball-out -o ball.mp4 --speed 0.5 --stamp\n"
                "brio render dice-out -o sheet.png --sheet 12\n"
                "brio render lively dull -o both.mp4 --energy\n"
                "brio render stairs-out -o stairs.mp4 --follow --blur 0.5\n"
                "brio render cloth-out -o cloth.gif --size 480x270 --fps 25\n"
                "brio render toy-out -o toy.png --texture toy=paint.png",
    .run = run,
};
