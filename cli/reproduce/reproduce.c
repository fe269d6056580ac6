/* brio reproduce: tables and figures of papers, compared with our numbers. */
#include "reproduce.h"

#include "commands.h"
#include "internal.h"
#include "progress.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define REPRODUCE(symbol) extern const Reproduction reproduction_##symbol;
#include "list.def"
#undef REPRODUCE

static const Reproduction *const table[] = {
#define REPRODUCE(symbol) &reproduction_##symbol,
#include "list.def"
#undef REPRODUCE
};

const Reproduction *reproduction_at(int i)
{
    return i >= 0 && i < (int)BRIO_COUNT(table) ? table[i] : NULL;
}

#ifndef BRIO_COMMIT
#define BRIO_COMMIT "unknown"
#endif

const char *reproduction_commit(void) { return BRIO_COMMIT; }

struct Report {
    const Reproduction *what;
    BrioJson *json;  /* NULL: none is written */
    bool words;      /* lines for people on the standard output */
    const char *out; /* folder for files, or NULL */
    bool force, fine, resume;
    const char *only; /* part of a heading: other parts are left out; NULL: all of them */
    int parts;        /* that were run */
    int met, missed, refuted;
    char absent[128]; /* a scene that should have shipped with this program; "": none */
    double started, shown;
    double cpu; /* s of processor time when it began */
};

/* ---- lines ------------------------------------------------------------------------------ */

static char *label_of(const char *format, va_list list)
{
    static char text[512];
    vsnprintf(text, sizeof text, format, list);
    return text;
}

#define LABEL(label, format)                    \
    va_list list;                               \
    va_start(list, format);                     \
    const char *label = label_of(format, list); \
    va_end(list)

static void line(Report *r, const char *label, double paper, double ours, const char *limit,
                 const char *verdict)
{
    progress_clear();
    if (r->json) {
        brio__json_open(r->json, NULL, '{');
        brio__json_text(r->json, "what", label);
        brio__json_real(r->json, "paper", paper);
        brio__json_real(r->json, "ours", ours);
        if (limit[0]) brio__json_text(r->json, "limit", limit);
        if (verdict[0]) brio__json_text(r->json, "verdict", verdict);
        brio__json_close(r->json, '}');
    }
    if (!r->words) return;
    char theirs[32] = "", own[32] = "";
    if (!isnan(paper)) snprintf(theirs, sizeof theirs, "%.6g", paper);
    if (!isnan(ours)) snprintf(own, sizeof own, "%.6g", ours);
    printf("  %-62s %11s %12s  %-22s %s\n", label, theirs, own, limit, verdict);
    fflush(stdout);
}

static const char *judge(Report *r, bool met)
{
    *(met ? &r->met : &r->missed) += 1;
    return met ? "met" : "MISSED";
}

static void head(Report *r, const char *label)
{
    progress_clear();
    if (r->json) {
        brio__json_open(r->json, NULL, '{');
        brio__json_text(r->json, "section", label);
        brio__json_close(r->json, '}');
    }
    if (r->words) {
        printf("\n%s\n  %-62s %11s %12s  %-22s %s\n", label, "", "paper", "ours", "limit",
               "verdict");
    }
}

void report_section(Report *r, const char *format, ...)
{
    LABEL(label, format);
    head(r, label);
}

bool report_part(Report *r, const char *format, ...)
{
    LABEL(label, format);
    if (r->only && !strstr(label, r->only)) return false;
    r->parts++;
    head(r, label);
    return true;
}

void report_value(Report *r, double paper, double ours, double tolerance, const char *format, ...)
{
    LABEL(label, format);
    char limit[48];
    snprintf(limit, sizeof limit, "+- %.3g", tolerance);
    line(r, label, paper, ours, limit, judge(r, fabs(ours - paper) <= tolerance));
}

void report_bound(Report *r, double ours, double min, double max, const char *format, ...)
{
    LABEL(label, format);
    char limit[64];
    if (isinf(min))
        snprintf(limit, sizeof limit, "at most %.4g", max);
    else if (isinf(max) && min == nextafter(0, 1))
        snprintf(limit, sizeof limit, "above 0");
    else if (isinf(max))
        snprintf(limit, sizeof limit, "at least %.4g", min);
    else
        snprintf(limit, sizeof limit, "%.4g to %.4g", min, max);
    line(r, label, NAN, ours, limit, judge(r, ours >= min && ours <= max));
}

void report_erratum(Report *r, double paper, double ours, double tolerance, const char *format, ...)
{
    LABEL(label, format);
    char limit[48];
    bool differs = fabs(ours - paper) > tolerance;
    snprintf(limit, sizeof limit, "differs by > %.3g", tolerance);
    *(differs ? &r->refuted : &r->missed) += 1;
    line(r, label, paper, ours, limit, differs ? "refuted" : "MISSED");
}

void report_fact(Report *r, bool holds, const char *format, ...)
{
    LABEL(label, format);
    line(r, label, NAN, NAN, "", judge(r, holds));
}

void report_number(Report *r, double paper, double ours, const char *format, ...)
{
    LABEL(label, format);
    line(r, label, paper, ours, "", "");
}

void report_note(Report *r, const char *format, ...)
{
    LABEL(label, format);
    progress_clear();
    if (r->json) {
        brio__json_open(r->json, NULL, '{');
        brio__json_text(r->json, "note", label);
        brio__json_close(r->json, '}');
    }
    if (r->words) print_wrapped(stdout, label, 2, 110);
}

/* ---- simulations ------------------------------------------------------------------------ */

BrioSim *report_scene(Report *r, const char *format, ...)
{
    char text[8192];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    BrioSim *sim = NULL;
    BrioError error = {0};
    if (length < (int)sizeof text &&
        brio_sim_parse(text, (size_t)length, r->what->name, &sim, &error) == BRIO_OK)
        return sim;
    char message[2048];
    brio_error_text(&error, message, sizeof message);
    report_fact(r, false, "the scene cannot be made: %s", message);
    return NULL;
}

void report_progress(Report *r, double fraction, const char *format, ...)
{
    LABEL(label, format);
    double now = brio__seconds();
    bool terminal = isatty(STDERR_FILENO);
    if (now - r->shown < (terminal ? 0.2 : 20)) return;
    r->shown = now;
    char wall[32];
    seconds_text(now - r->started, wall, sizeof wall);
    progress_text("%3.0f %%  %s  wall %s", 100 * fraction, label, wall);
}

bool report_has(Report *r, const char *name)
{
    char path[4096];
    bool found = brio__scene_path(name, path, sizeof path);
    if (!found && !r->absent[0]) snprintf(r->absent, sizeof r->absent, "%s", name);
    return found;
}

BrioSim *report_shipped(Report *r, const char *name, const char *const *sets, int count,
                        BrioScene **scene)
{
    if (scene) *scene = NULL;
    if (!report_has(r, name)) return NULL;
    BrioScene *created = NULL;
    BrioSim *sim = NULL;
    BrioError error = {0};
    BrioStatus status = brio__scene_load(name, sets, count, &created, &error);
    if (status == BRIO_OK) status = brio__scene_sim(created, &sim, &error);
    if (scene) *scene = status == BRIO_OK ? created : NULL;
    if (!scene || status != BRIO_OK) brio__scene_free(created);
    if (status == BRIO_OK) return sim;
    char message[2048];
    brio_error_text(&error, message, sizeof message);
    report_fact(r, false, "%s cannot be made: %s", name, message);
    return NULL;
}

bool report_steps(Report *r, BrioSim *sim, int64_t steps, double max, const char *what)
{
    for (int64_t k = 0; k < steps; k++) {
        if (brio_sim_step(sim, NULL) != BRIO_OK) return false;
        if (isfinite(max)) {
            BrioLedger ledger;
            if (brio_sim_ledger(sim, &ledger) != BRIO_OK || ledger.total > max) return false;
        }
        if (k % 16 == 0) report_progress(r, (double)k / (double)steps, "%s", what);
    }
    return true;
}

bool report_fine(const Report *r) { return r->fine; }

/* ---- ensembles -------------------------------------------------------------------------- */

Quartiles report_quartiles(double *value, int count)
{
    int n = 0;
    for (int i = 0; i < count; i++)
        if (!isnan(value[i])) value[n++] = value[i];
    if (n == 0) return (Quartiles){0, NAN, NAN, NAN};
    qsort(value, (size_t)n, sizeof *value, brio__ascending);
    double at[3];
    for (int k = 0; k < 3; k++) {
        double place = (k + 1) * (n - 1) / 4.0;
        int below = (int)place;
        at[k] = value[below];
        if (below + 1 < n) at[k] += (place - below) * (value[below + 1] - value[below]);
    }
    return (Quartiles){n, at[0], at[1], at[2]};
}

void report_perturb(BrioSim *sim, int start, double speed)
{
    const BrioSystem *system = brio_sim_system(sim);
    for (int b = 0; start > 0 && b < brio_system_bodies(system); b++) {
        int64_t n = brio_body_vertices(system, b);
        double *v = brio__alloc(3 * (size_t)n, sizeof *v);
        /* three angles of a sequence that repeats for no start and body [golden ratio] */
        double turn = 2 * 3.14159265358979323846 * fmod(0.6180339887498949 * (start * 131 + b), 1);
        double up = fmod(0.7548776662466927 * (start * 131 + b), 1) * 2 - 1;
        double across = sqrt(1 - up * up);
        if (!v) abort();
        brio_sim_velocities(sim, b, v);
        for (int64_t i = 0; i < n; i++) {
            v[3 * i] += speed * across * cos(turn);
            v[3 * i + 1] += speed * up;
            v[3 * i + 2] += speed * across * sin(turn);
        }
        brio_sim_set_velocities(sim, b, v, NULL);
        brio__free(v);
    }
}

/* ---- stored figures --------------------------------------------------------------------- */

static const struct {
    const char *reproduction, *key;
    double value;
    const char *date, *commit;
} stored[] = {
#define STORED(reproduction, key, value, date, commit) {reproduction, key, value, date, commit},
#include "stored.def"
#undef STORED
    {NULL, NULL, NAN, NULL, NULL}};

/* A line of a file stored.def. */
typedef struct Figure {
    char reproduction[64], key[160], date[32], commit[64];
    double value;
} Figure;

/* The figure in FOLDER/stored.def, the last of that key. */
static bool stored_in_folder(const Report *r, const char *key, Figure *found)
{
    char path[4096], text[1024];
    bool any = false;
    if (!r->resume || !r->fine || !r->out) return false;
    snprintf(path, sizeof path, "%s/stored.def", r->out);
    FILE *file = fopen(path, "r");
    while (file && fgets(text, sizeof text, file)) {
        Figure f;
        if (sscanf(text, "STORED(\"%63[^\"]\", \"%159[^\"]\", %lf, \"%31[^\"]\", \"%63[^\"]\")",
                   f.reproduction, f.key, &f.value, f.date, f.commit) == 5 &&
            !strcmp(f.reproduction, r->what->name) && !strcmp(f.key, key)) {
            *found = f;
            any = true;
        }
    }
    if (file) fclose(file);
    return any;
}

bool report_is_done(const Report *r, const char *key)
{
    Figure f;
    return stored_in_folder(r, key, &f);
}

double report_stored(Report *r, double paper, const char *key, const char *what)
{
    Figure f;
    if (stored_in_folder(r, key, &f)) {
        report_number(r, paper, f.value, "%s (stored %s, %s)", what, f.date, f.commit);
        return f.value;
    }
    for (int i = 0; stored[i].key; i++)
        if (!strcmp(stored[i].reproduction, r->what->name) && !strcmp(stored[i].key, key)) {
            report_number(r, paper, stored[i].value, "%s (stored %s, %s)", what, stored[i].date,
                          stored[i].commit);
            return stored[i].value;
        }
    report_number(r, paper, NAN, "%s (not stored yet: --fine)", what);
    return NAN;
}

void report_store(Report *r, const char *key, double value)
{
    char path[4096], date[32] = "";
    time_t now = time(NULL);
    if (!r->fine || !r->out || isnan(value)) return;
    mkdir(r->out, 0777);
    snprintf(path, sizeof path, "%s/stored.def", r->out);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    FILE *file = fopen(path, "a");
    if (!file) return report_fact(r, false, "%s cannot be written: %s", path, strerror(errno));
    fprintf(file, "STORED(\"%s\", \"%s\", %.9g, \"%s\", \"%s\")\n", r->what->name, key, value, date,
            reproduction_commit());
    report_close(r, file);
}

/* ---- files ------------------------------------------------------------------------------ */

FILE *report_file(Report *r, const char *name)
{
    char path[4096];
    if (!r->out) return NULL;
    if (mkdir(r->out, 0777) != 0 && errno != EEXIST) {
        report_fact(r, false, "the folder %s cannot be made: %s", r->out, strerror(errno));
        r->out = NULL;
        return NULL;
    }
    snprintf(path, sizeof path, "%s/%s", r->out, name);
    FILE *file = fopen(path, r->force ? "w" : "wx");
    if (!file)
        report_fact(r, false, "%s cannot be written: %s", path,
                    errno == EEXIST ? "it exists; --force overwrites it" : strerror(errno));
    return file;
}

void report_close(Report *r, FILE *file)
{
    if (!file) return;
    bool bad = ferror(file);
    if (fclose(file) != 0 || bad) report_fact(r, false, "a file in %s cannot be written", r->out);
}

/* ---- the command ------------------------------------------------------------------------ */

enum { OUT, FORCE, FINE, ONLY, ALL, REPORT, RESUME, JSON, THREADS };

static void list_all(bool as_json)
{
    BrioJson json = {.file = stdout};
    if (as_json) brio__json_open(&json, NULL, '[');
    for (int i = 0; reproduction_at(i); i++) {
        const Reproduction *what = reproduction_at(i);
        if (!as_json) {
            printf("%-24s %s (%s, about %.2g min)\n", what->name, what->summary, what->paper,
                   what->minutes);
            continue;
        }
        brio__json_open(&json, NULL, '{');
        brio__json_text(&json, "name", what->name);
        brio__json_text(&json, "paper", what->paper);
        brio__json_text(&json, "summary", what->summary);
        brio__json_real(&json, "minutes", what->minutes);
        brio__json_close(&json, '}');
    }
    if (as_json) brio__json_close(&json, ']');
}

/* Processor time of all threads, s. */
static double cpu_seconds(void)
{
    struct timespec now;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0
               ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec
               : NAN;
}

/* One reproduction: its lines, then its counts. */
static int reproduce(Report *r)
{
    char wall[32], date[32] = "";
    time_t today = time(NULL);
    BrioJson *json = r->json;
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&today));
    r->met = r->missed = r->refuted = 0;
    r->absent[0] = 0;
    if (json) {
        brio__json_open(json, NULL, '{');
        brio__json_text(json, "name", r->what->name);
        brio__json_text(json, "paper", brio__citation(r->what->paper));
        brio__json_text(json, "commit", reproduction_commit());
        brio__json_text(json, "date", date);
        if (r->fine) brio__json_text(json, "with", "--fine");
        brio__json_text(json, "summary", r->what->summary);
        if (r->what->about) brio__json_text(json, "about", r->what->about);
        if (r->what->chosen) brio__json_text(json, "chosen", r->what->chosen);
        brio__json_open(json, "lines", '[');
    }
    if (r->words) {
        printf("%s: %s\n", r->what->name, r->what->summary);
        print_wrapped(stdout, brio__citation(r->what->paper), 2, 110);
        if (r->what->about) print_wrapped(stdout, r->what->about, 2, 110);
        if (r->what->chosen) {
            char text[2048];
            snprintf(text, sizeof text, "Chosen by us: %s.", r->what->chosen);
            print_wrapped(stdout, text, 2, 110);
        }
    }
    r->started = r->shown = brio__seconds();
    r->cpu = cpu_seconds();
    r->what->run(r);
    progress_clear();
    double seconds = brio__seconds() - r->started;
    seconds_text(seconds, wall, sizeof wall);
    if (json) {
        brio__json_close(json, ']');
        brio__json_integer(json, "met", r->met);
        brio__json_integer(json, "missed", r->missed);
        brio__json_integer(json, "refuted", r->refuted);
        if (r->absent[0]) brio__json_text(json, "absent", r->absent);
        brio__json_real(json, "seconds", seconds);
        brio__json_real(json, "cpu_seconds", cpu_seconds() - r->cpu);
        brio__json_close(json, '}');
    }
    if (r->absent[0])
        return usage_error(&command_reproduce,
                           "%s needs the scene \"%s\", which is not in %s: use brio as installed, "
                           "or in the source tree that it was built in",
                           r->what->name, r->absent, brio_scenes_folder());
    if (r->words)
        printf("\n%s: %d met, %d missed, %d refuted, %s\n", r->what->name, r->met, r->missed,
               r->refuted, wall);
    return r->missed ? EXIT_FAILED : EXIT_DONE;
}

/* r->what into FOLDER/NAME.json. */
static BrioStatus reproduce_into(Report *r, BrioFolder *folder, int *result, BrioError *error)
{
    char name[128];
    FILE *file;
    snprintf(name, sizeof name, "%s.json", r->what->name);
    BrioStatus status = brio__replace_begin(folder, name, &file, error);
    if (status != BRIO_OK) return status;
    BrioJson json = {.file = file};
    r->json = &json;
    *result = reproduce(r);
    if (*result == EXIT_USAGE) {
        brio__replace_cancel(folder, name, file);
        return BRIO_OK;
    }
    puts("");
    return brio__replace_end(folder, name, file, true, error);
}

/* One of them, or all if r->what is NULL, and the page of what the folder then holds. The page is
 * renewed after each one, and --resume keeps those that this commit has made already. */
static int reproduce_page(Report *r)
{
    BrioFolder folder = {.fd = -1};
    BrioError error = {0};
    const Reproduction *only = r->what;
    int exit = EXIT_DONE, result = EXIT_DONE;
    BrioStatus status = brio__folder_open(r->out, true, &folder, &error);
    for (int i = 0; status == BRIO_OK && reproduction_at(i); i++) {
        char name[128];
        r->what = reproduction_at(i);
        snprintf(name, sizeof name, "%s.json", r->what->name);
        if (only && r->what != only) continue;
        if (r->resume && reproduction_is_done(r->out, name)) continue;
        status = reproduce_into(r, &folder, &result, &error);
        if (result == EXIT_USAGE) break;
        if (result != EXIT_DONE) exit = EXIT_FAILED;
        if (status == BRIO_OK) status = reproduction_page(&folder, &error);
    }
    if (status == BRIO_OK && result != EXIT_USAGE) status = reproduction_page(&folder, &error);
    brio__folder_close(&folder);
    if (status != BRIO_OK) return say_error(&error, EXIT_FAILED);
    if (result == EXIT_USAGE) return result;
    printf("%s/reproduction.html and reproduction.md have all of it.\n", r->out);
    return exit;
}

static const Reproduction *find_reproduction(const char *name, int *exit)
{
    const char *names[128];
    const Reproduction *found = NULL;
    int count = 0;
    for (; count < (int)BRIO_COUNT(names) && reproduction_at(count); count++) {
        names[count] = reproduction_at(count)->name;
        if (!strcmp(names[count], name)) found = reproduction_at(count);
    }
    if (!found) *exit = unknown_name(&command_reproduce, "reproduction", name, names, count);
    return found;
}

static int run(int argc, char **argv)
{
    Arguments a = {.command = &command_reproduce, .argc = argc, .argv = argv, .at = 1};
    const char *name = NULL;
    bool as_json = false, all = false;
    const char *page = NULL;
    Report r = {0};
    int option, exit;
    int64_t threads;
    while ((option = argument_next(&a)) != ARGUMENT_END) switch (option) {
        case OUT: r.out = a.value; break;
        case FORCE: r.force = true; break;
        case FINE: r.fine = true; break;
        case ONLY: r.only = a.value; break;
        case JSON: as_json = true; break;
        case ALL: all = true; break;
        case REPORT: page = a.value; break;
        case RESUME: r.resume = true; break;
        case THREADS:
            if (!read_count(a.command, "--threads", a.value, 4096, &threads)) return EXIT_USAGE;
            brio_set_threads((int)threads);
            break;
        case ARGUMENT_WORD:
            if (name)
                return usage_error(a.command, "one name at a time: \"%s\" and \"%s\"", name,
                                   a.value);
            name = a.value;
            break;
        default: return a.exit;
        }
    r.words = !as_json;
    if (all ? !page || name : page && !name)
        return usage_error(a.command, "--all needs --report FOLDER and no name; --report FOLDER "
                                      "needs --all or a name");
    if (page && (as_json || r.out || r.only))
        return usage_error(a.command, "--report FOLDER goes without --json, --out and --only");
    if (!page && (!name || !strcmp(name, "list"))) {
        list_all(as_json);
        return EXIT_DONE;
    }
    r.what = all ? NULL : find_reproduction(name, &exit);
    if (!all && !r.what) return exit;
    if (page) {
        r.out = page;
        r.force = true; /* plots of an earlier time, in a folder that the user named for them */
        return reproduce_page(&r);
    }
    if (r.resume && !(r.fine && r.out))
        return usage_error(a.command, "--resume needs --report FOLDER, or --fine and -o FOLDER");
    if (r.only && !r.what->parts)
        return usage_error(a.command, "%s has no parts to choose from; remove --only", name);
    BrioJson json = {.file = stdout};
    r.json = as_json ? &json : NULL;
    exit = reproduce(&r);
    if (r.only && !r.parts)
        return usage_error(a.command, "%s has no part with \"%s\" in its heading", name, r.only);
    return exit;
}

static const Option options[] = {
    [OUT] = {"--out", 'o', "FOLDER", "Write plots and tables there as well."},
    [FORCE] = {"--force", 0, NULL, "Overwrite files of that name in FOLDER."},
    [FINE] = {"--fine", 0, NULL,
              "Also run what takes hours: references at short steps, runs whose figures are "
              "stored."},
    [ONLY] =
        {"--only", 0, "WORDS",
         "Run only the parts with these words in their headings, where a reproduction has parts."},
    [ALL] = {"--all", 0, NULL, "All of them, one after another (about an hour of processor time)."},
    [REPORT] = {"--report", 0, "FOLDER",
                "Write results, plots and one page of all claims there. With a NAME: run that one, "
                "and keep the other results of the folder."},
    [RESUME] =
        {"--resume", 'r', NULL,
         "With --report: keep results of this version that are already in FOLDER. With --fine: "
         "keep long runs whose figures are in FOLDER/stored.def."},
    [JSON] = {"--json", 0, NULL, "As JSON."},
    [THREADS] = {"--threads", 0, "N", "Number of threads; the results do not depend on it."},
    {0}};

static const char *name_at(int i) { return reproduction_at(i) ? reproduction_at(i)->name : NULL; }

const Command command_reproduce = {
    .name = "reproduce",
    .summary = "Compare a table or figure of a paper with our numbers.",
    .synopsis = "[list]\nNAME [-o FOLDER] [--fine] [--resume] [--only WORDS]\nNAME --report FOLDER "
                "[--fine] "
                "[--resume]\n--all --report FOLDER [--resume] [--fine]",
    .about =
        "Repeats the experiment and prints the paper's figure next to ours, with the "
        "tolerance and a verdict for each line. The exit code is 1 if a line is missed, and "
        "2 if a scene that it needs is not there. The first lines say which values the paper "
        "leaves out and how we found them; \"Chosen "
        "by us\" names what the paper does not state. \"refuted\" marks a statement of a "
        "paper that does not hold; docs/errata.md derives what holds instead. Figures of runs "
        "of hours are stored with date and commit; --fine runs them again, and with --resume goes "
        "on where it was interrupted.",
    .options = options,
    .examples = "brio reproduce list\nbrio reproduce you2026-table2\nbrio reproduce "
                "shinya2004-regions -o plots",
    .run = run,
    .word = name_at,
};
