/* Commands: one file each and one line in commands.def.
 *
 * A command describes itself (what `brio help NAME` prints) and returns the exit code: 0 done, 1
 * the run or check failed, 2 bad input or usage. Complaints go to stderr, results to stdout. */
#ifndef BRIO_COMMANDS_H
#define BRIO_COMMANDS_H

#include "internal.h"

#include <signal.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

typedef struct Option {
    const char *name;    /* "--force" */
    char letter;         /* 'o' for -o, 0: none */
    const char *value;   /* what follows, NULL: a switch */
    const char *summary; /* NULL: not shown in the help */
} Option;

/* A row for every command that can use what a plug-in registers; argument_next does the rest. */
#define OPTION_PLUGIN                                                                     \
    {                                                                                     \
        "--plugin", 0, "FILE.so",                                                         \
            "Load a plug-in first: your own integrators, energies, forces, contact laws." \
    }

typedef struct Command {
    const char *name, *summary;
    const char *synopsis;              /* lines without "brio NAME" */
    const char *about;                 /* paragraphs */
    const Option *options;             /* ends with a row whose name is NULL; may be NULL */
    const char *examples;              /* lines */
    int (*run)(int argc, char **argv); /* argv[0] is the command's name */
    /* words that it accepts in addition to those of the synopsis, for completion: NULL past the
     * last; may be NULL */
    const char *(*word)(int i);
} Command;

/* What the program does with its arguments; its exit code. Once in a process. */
BRIO_API int brio_command(int argc, char **argv);

const Command *command_at(int i); /* NULL past the last */
const Command *command_find(const char *name);
int command_names(const char **names, int max);
const char *command_name_at(int i);                  /* NULL past the last */
void print_help(const Command *command, FILE *file); /* what `brio help NAME` shows */

#define COMMAND(name) extern const Command command_##name;
#include "commands.def"
#undef COMMAND

/* ---- arguments -------------------------------------------------------------------------- */

/* Walks through the arguments: --name value, --name=value, -x value, words. */
typedef struct Arguments {
    const Command *command;
    int argc;
    char **argv;
    int at;            /* start with 1 */
    bool words_only;   /* after -- */
    const char *value; /* of the option, or the word */
    int exit;          /* with ARGUMENT_BAD */
} Arguments;
/* otherwise the option's number in its table; plug-ins are loaded on the way */
enum { ARGUMENT_END = -1, ARGUMENT_WORD = -2, ARGUMENT_BAD = -3 };
int argument_next(Arguments *arguments);

/* "brio run: ..." on stderr; returns EXIT_USAGE. */
int usage_error(const Command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "...; did you mean ...?" or a list of the names. */
int unknown_name(const Command *command, const char *what, const char *word,
                 const char *const *names, int count);
/* The error as a sentence on stderr; returns `code`, or EXIT_FAILED if the user has stopped it. */
int say_error(const BrioError *error, int code);
/* What a scene hardly means, before it is run: a line each on stderr. */
void say_questions(const BrioScene *scene);
/* An integer of at least 1, or false with a sentence. */
bool read_count(const Command *command, const char *option, const char *text, int64_t max,
                int64_t *value);

/* A result, which is written under another name until it is whole. */
typedef struct ResultFile {
    FILE *file;
    const char *name;
    char place[4096], partial[4200]; /* partial "": a device, written in place */
} ResultFile;
/* Opens a file for a result: an existing one is replaced only with `force`, and when the new one is
 * whole. False with a sentence; `instead` says what else there is to do ("give another name"). A
 * file that may not grow is from then on an error of writing. */
bool create_file(const Command *command, const char *name, bool force, const char *instead,
                 ResultFile *result);
/* Closes it and puts it in place, or removes it, with a sentence, if `status` or writing failed;
 * the exit code. */
int finish_file(const Command *command, ResultFile *result, BrioStatus status);
/* Of a file that is not whole yet: next to it, and no other process has the same. */
void partial_name(const char *name, char *text, size_t size);

/* ---- signals ---------------------------------------------------------------------------- */

/* the user has asked to stop: end within the current iteration (stop_watch) */
extern volatile sig_atomic_t stop_wanted;
/* From now on Ctrl-C and the like set stop_wanted (a second one ends the program at once), and a
 * file that may not grow or a closed pipe is an error of writing, with a sentence. */
void catch_signals(void);
/* Until then they end the program at once, with a sentence: nothing has been written. */
void catch_early_signals(void);
/* For brio_sim_watch: ends a step when stop_wanted is set. */
int stop_watch(void *user, const BrioIteration *iteration);

/* Of a program that mpirun has started several times (cluster.c): only the first process prints. */
bool cluster_begin(void); /* false: it could not; a sentence was said */
void cluster_end(void);
bool cluster_is_root(void);
bool cluster_is_one(void); /* this process has all of the scene */
BrioStatus cluster_same(BrioStatus status, BrioError *error); /* of the first process, on all */
void cluster_last_words(const char *out); /* what is said when the job is ended from outside */

/* ---- scenes ----------------------------------------------------------------------------- */

enum { MAX_SETS = 256 };

/* What commands on scenes take alike: the scene's name, --set, --threads. */
typedef struct SceneArguments {
    const char *name, *sets[MAX_SETS];
    int set_count;
} SceneArguments;
/* Takes such an argument; anything else, or a bad one, is false with the exit code in
 * arguments->exit. */
bool scene_argument(Arguments *arguments, int option, SceneArguments *scene);

/* "cloth-out" of "some/where/cloth.yaml" */
void default_folder(const char *scene, const char *ending, char *text, size_t size);

/* ---- words ------------------------------------------------------------------------------ */

void seconds_text(double seconds, char *text, size_t size); /* "3.4 s", "2:05 min", "1:02:33 h" */
void count_text(int64_t count, char *text, size_t size);    /* "12 345" */
/* Breaks lines at `width`, each indented. */
void print_wrapped(FILE *file, const char *text, int indent, int width);
/* Lines, each with something before it. */
void print_lines(FILE *file, const char *before, const char *lines);

/* For brio__tetrahedralise_watch: shows how long it takes, and ends it when the user asks to
 * stop. */
bool watch_tetrahedralise(const char *tool, double seconds);

/* By xdg-open, without its output; false: there is no display, no such program or no browser. */
bool open_in_browser(const char *path);
/* The same, and returns at once: a browser may stay in front of xdg-open for as long as it is open.
 */
void open_while_serving(const char *address);
/* A socket that listens on this machine's own address only; port 0: any that is free. -1: errno
 * says why not. */
int listen_here(int port, int *got);

#endif
