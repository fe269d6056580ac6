/* The program: finds the command, and has the code that all commands share. */
#include "commands.h"
#include "internal.h"
#include "progress.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const Command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "commands.def"
#undef COMMAND
};

const Command *command_at(int i)
{
    return i >= 0 && i < (int)BRIO_COUNT(commands) ? commands[i] : NULL;
}

const Command *command_find(const char *name)
{
    for (size_t i = 0; i < BRIO_COUNT(commands); i++)
        if (!strcmp(commands[i]->name, name)) return commands[i];
    return NULL;
}

const char *command_name_at(int i) { return command_at(i) ? command_at(i)->name : NULL; }

int command_names(const char **names, int max)
{
    int count = 0;
    for (; count < max && command_at(count); count++) names[count] = command_at(count)->name;
    return count;
}

/* ---- words ------------------------------------------------------------------------------ */

void seconds_text(double seconds, char *text, size_t size)
{
    long long whole = (long long)fmin(seconds, 1e15);
    if (seconds < 1)
        snprintf(text, size, "%.2f s", fmax(seconds, 0));
    else if (seconds < 100)
        snprintf(text, size, "%.1f s", seconds);
    else if (seconds < 6000)
        snprintf(text, size, "%lld:%02lld min", whole / 60, whole % 60);
    else
        snprintf(text, size, "%lld:%02lld:%02lld h", whole / 3600, whole / 60 % 60, whole % 60);
}

void count_text(int64_t count, char *text, size_t size)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)count);
    size_t used = 0;
    for (int i = 0; i < length && used + 2 < size; i++) {
        if (i > 0 && (length - i) % 3 == 0 && length > 4) text[used++] = ' ';
        text[used++] = digits[i];
    }
    text[used] = 0;
}

void print_wrapped(FILE *file, const char *text, int indent, int width)
{
    while (*text) {
        int line = (int)strcspn(text, "\n"), room = width - indent, take = line;
        if (line > room) {
            take = room;
            while (take > 0 && text[take] != ' ') take--;
            if (take == 0) take = (int)strcspn(text, " \n");
        }
        fprintf(file, "%*s%.*s\n", take ? indent : 0, "", take, text);
        text += take;
        if (*text == '\n' || *text == ' ') text++;
    }
}

void print_lines(FILE *file, const char *before, const char *lines)
{
    for (int length; *lines; lines += length + (lines[length] == '\n')) {
        length = (int)strcspn(lines, "\n");
        fprintf(file, "%s%.*s\n", before, length, lines);
    }
}

void default_folder(const char *scene, const char *ending, char *text, size_t size)
{
    const char *slash = strrchr(scene, '/');
    const char *name = slash ? slash + 1 : scene;
    const char *dot = strrchr(name, '.');
    int length = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    snprintf(text, size, "%.*s%s", length, name, ending);
}

/* ---- complaints ------------------------------------------------------------------------- */

int usage_error(const Command *command, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, command ? "brio %s: " : "brio: ", command ? command->name : "");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return EXIT_USAGE;
}

int unknown_name(const Command *command, const char *what, const char *word,
                 const char *const *names, int count)
{
    const char *nearest = brio__nearest(word, names, count);
    if (nearest)
        return usage_error(command, "no %s \"%s\"; did you mean \"%s\"?", what, word, nearest);
    if (command && count > 80)
        return usage_error(command, "no %s \"%s\"; `brio %s` lists all keys", what, word,
                           command->name);
    char list[2048] = "none";
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    return usage_error(command, "no %s \"%s\"; there are: %s", what, word, list);
}

int say_error(const BrioError *error, int code)
{
    char text[2048];
    brio_error_text(error, text, sizeof text);
    progress_clear();
    fprintf(stderr, "%s\n", text);
    return error->status == BRIO_STOPPED ? EXIT_FAILED : code;
}

static void say_log(void *user, BrioLogLevel level, const char *message)
{
    enum { MAX = 20 };
    static int told;
    (void)user;
    if (level < BRIO_LOG_WARNING || told > MAX || !cluster_is_root()) return;
    progress_clear();
    if (told++ < MAX)
        fprintf(stderr, "warning: %s\n", message);
    else
        fputs("warning: further warnings are not shown\n", stderr);
}

/* ---- arguments -------------------------------------------------------------------------- */

static int unknown_option(Arguments *a, const char *word, int length)
{
    const char *names[64];
    char name[64];
    int count = 0;
    snprintf(name, sizeof name, "%.*s", length, word);
    for (const Option *o = a->command->options; o && o->name && count < (int)BRIO_COUNT(names); o++)
        if (o->summary) names[count++] = o->name;
    const char *nearest = brio__nearest(name, names, count);
    a->exit = nearest ? usage_error(a->command, "no option %s; did you mean %s?", name, nearest)
                      : usage_error(a->command, "no option %s; see `brio help %s`", name,
                                    a->command->name);
    return ARGUMENT_BAD;
}

int argument_next(Arguments *a)
{
    if (a->at >= a->argc) return ARGUMENT_END;
    const char *word = a->argv[a->at++];
    a->value = word;
    if (a->words_only || word[0] != '-' || !word[1]) return ARGUMENT_WORD;
    if (!strcmp(word, "--")) {
        a->words_only = true;
        return argument_next(a);
    }
    if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
        print_help(a->command, stdout);
        a->exit = EXIT_DONE;
        return ARGUMENT_BAD;
    }
    bool brief = word[1] != '-';
    int length = brief ? 2 : (int)strcspn(word, "=");
    for (int i = 0; a->command->options && a->command->options[i].name; i++) {
        const Option *o = &a->command->options[i];
        if (brief ? o->letter != word[1]
                  : (int)strlen(o->name) != length || strncmp(o->name, word, (size_t)length))
            continue;
        const char *joined =
            brief ? (word[2] ? word + 2 : NULL) : (word[length] ? word + length + 1 : NULL);
        a->value = joined;
        if (!o->value && joined) {
            a->exit = usage_error(a->command, "%.*s takes no value", length, word);
            return ARGUMENT_BAD;
        }
        if (o->value && !joined) {
            if (a->at >= a->argc) {
                a->exit = usage_error(a->command, "%s needs a value: %s", word, o->value);
                return ARGUMENT_BAD;
            }
            a->value = a->argv[a->at++];
        }
        if (strcmp(o->name, "--plugin")) return i;
        BrioError error = {0};
        if (brio_load_plugin(a->value, &error) == BRIO_OK) return argument_next(a);
        a->exit = usage_error(a->command, "%s", error.message);
        return ARGUMENT_BAD;
    }
    return unknown_option(a, word, length);
}

bool scene_argument(Arguments *a, int option, SceneArguments *scene)
{
    const char *name = option >= 0 ? a->command->options[option].name : "";
    int64_t threads;
    if (option == ARGUMENT_BAD) return false;
    a->exit = EXIT_USAGE;
    if (option == ARGUMENT_WORD) {
        if (scene->name) {
            usage_error(a->command, "one scene at a time: \"%s\" and \"%s\"", scene->name,
                        a->value);
            return false;
        }
        scene->name = a->value;
    } else if (!strcmp(name, "--set")) {
        if (scene->set_count == MAX_SETS) {
            usage_error(a->command, "more than %d --set", MAX_SETS);
            return false;
        }
        scene->sets[scene->set_count++] = a->value;
    } else if (!strcmp(name, "--threads")) {
        if (!read_count(a->command, name, a->value, 1024, &threads)) return false;
        brio_set_threads((int)threads);
    }
    return true;
}

bool read_count(const Command *command, const char *option, const char *text, int64_t max,
                int64_t *value)
{
    char *end;
    *value = strtoll(text, &end, 10);
    if (isdigit((unsigned char)text[0]) && !*end && *value >= 1 && *value <= max) return true;
    usage_error(command, "%s %s: expected an integer from 1 to %lld", option, text, (long long)max);
    return false;
}

/* ---- signals ---------------------------------------------------------------------------- */

volatile sig_atomic_t stop_wanted;

static void on_signal(int number)
{
    __atomic_store_n(&stop_wanted, 1, __ATOMIC_RELAXED); /* other threads read it */
    signal(number, SIG_DFL);
}

int stop_watch(void *user, const BrioIteration *iteration)
{
    (void)user, (void)iteration;
    return stop_wanted;
}

static void on_early_signal(int number)
{
    static const char words[] = "stopped on request before anything was written\n";
    (void)number;
    ssize_t written = write(STDERR_FILENO, words, sizeof words - 1);
    (void)written;
    _exit(EXIT_FAILED);
}

static void set_handler(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    const int stops[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < BRIO_COUNT(stops); i++) sigaction(stops[i], &action, NULL);
}

void catch_early_signals(void) { set_handler(on_early_signal); }

void catch_signals(void)
{
    set_handler(on_signal);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}

/* ---- main ------------------------------------------------------------------------------- */

static int version(void)
{
    int integrators = 0, energies = 0;
    while (brio_integrator_at(integrators)) integrators++;
    while (brio__energy_at(energies)) energies++;
    printf("brio %s (ABI %d)\n", brio_version(), brio_abi());
    printf("instruction set  %s\n", brio_isa());
    printf("threads          %d\n", brio_threads());
    printf("linear solvers   ");
    for (int i = 0; brio__linear_at(i); i++)
        printf("%s%s", i ? ", " : "", brio__linear_at(i)->name);
#ifdef BRIO_HAVE_LIBFYAML
    printf("\nscenes           YAML and JSON\n");
#else
    printf("\nscenes           JSON\n");
#endif
#ifdef BRIO_HAVE_MPI
    char cluster[256];
    brio__processes_version(cluster, sizeof cluster);
    printf("processes        %s\n", cluster);
#else
    printf("processes        one (make MPI=1 builds for several)\n");
#endif
    printf("built in         %d integrators, %d energies\n", integrators, energies);
    return EXIT_DONE;
}

static int run_command(int argc, char **argv)
{
    if (argc < 2) {
        command_find("help")->run(1, argv);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (!strcmp(name, "--version") || !strcmp(name, "-V"))
        return cluster_is_root() ? version() : EXIT_DONE;
    if (!strcmp(name, "--help") || !strcmp(name, "-h")) name = "help";
    const Command *command = command_find(name);
    if (!command) {
        const char *names[64];
        int count = command_names(names, BRIO_COUNT(names));
        static const char *const common[] = {"--version", "--help"};
        return name[0] == '-' ? unknown_name(NULL, "option", name, common, BRIO_COUNT(common))
                              : unknown_name(NULL, "command", name, names, count);
    }
    /* the others are for one process */
    if (!cluster_is_root() && command != &command_run) return EXIT_DONE;
    return command->run(argc - 1, argv + 1);
}

/* A standard stream that is closed is held, unusable as it is: otherwise the next file that is
 * opened, such as energy.csv, would get what is printed. */
static void hold_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0) open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int brio_command(int argc, char **argv)
{
    hold_streams();
    locale_t before = brio__c_locale_enter(); /* that of a program around it may have commas */
    brio_set_log(say_log, NULL);
    brio__tetrahedralise_watch(watch_tetrahedralise);
    const char *isa = getenv("BRIO_ISA");
    if (isa && isa[0] && strcmp(isa, brio_isa()))
        fprintf(stderr,
                "brio: BRIO_ISA=%s is not one of baseline, avx2 and avx512, or this build or "
                "machine does "
                "not support it: using %s\n",
                isa, brio_isa());
    int code = EXIT_FAILED;
    if (cluster_begin()) {
        code = run_command(argc, argv);
        if (fflush(stdout) || ferror(stdout)) {
            fprintf(stderr, "brio: cannot write to the standard output\n");
            if (!code) code = EXIT_FAILED;
        }
        cluster_end();
    }
    brio__c_locale_leave(before);
    return code;
}
