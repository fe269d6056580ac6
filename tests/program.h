/* Drives the program as a user does: fork and exec without a shell, in a folder of its own that is
 * removed at the end. For tests only. */
#ifndef BRIO_TEST_PROGRAM_H
#define BRIO_TEST_PROGRAM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* nftw */
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct Outcome {
    int code; /* exit code, or -signal */
    char out[1 << 18], err[65536];
} Outcome;

static char work_folder[256];

static inline void write_bytes(const char *name, const void *data, size_t size)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline void write_text(const char *name, const char *text)
{
    write_bytes(name, text, strlen(text));
}

/* The whole file and a zero; freed by the caller. NULL: not there. */
static inline char *read_all(const char *name, size_t *size)
{
    FILE *file = fopen(name, "r");
    if (size) *size = 0;
    if (!file) return NULL;
    char *text = NULL;
    size_t used = 0, got;
    do {
        text = realloc(text, used + 65537);
        assert_non_null(text);
        got = fread(text + used, 1, 65536, file);
        used += got;
    } while (got);
    fclose(file);
    text[used] = 0;
    if (size) *size = used;
    return text;
}

/* Whether two files have the same bytes; says so if not. */
static inline bool same_file(const char *a, const char *b)
{
    size_t m = 0, n = 0;
    char *x = read_all(a, &m), *y = read_all(b, &n);
    bool same = x && y && m == n && !memcmp(x, y, m);
    if (!same) print_error("%s and %s differ\n", a, b);
    free(x);
    free(y);
    return same;
}

static inline int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind, (void)walk;
    return remove(path);
}

static inline void remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline bool has_program(const char *name)
{
    char command[128];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", name);
    return system(command) == 0;
}

/* Setup and teardown of a group: an empty folder as current one. */
static inline int enter_folder(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(work_folder, sizeof work_folder, "%s/brio-test-XXXXXX", base ? base : "/tmp");
    return mkdtemp(work_folder) && chdir(work_folder) == 0 ? 0 : -1;
}

static inline int leave_folder(void **state)
{
    (void)state;
    if (chdir("/") == 0) remove_tree(work_folder);
    return 0;
}

static inline const char *program(void)
{
    const char *path = getenv("BRIO_PROGRAM");
    return path && path[0] ? path : BRIO_PROGRAM;
}

/* Starts the program with the arguments up to NULL; `file_limit` > 0: no file may grow beyond so
 * many bytes. */
static inline pid_t start_program(const char *const *arguments, long file_limit)
{
    const char *argv[64] = {"brio"};
    int count = 1;
    for (; arguments[count - 1]; count++) argv[count] = arguments[count - 1];
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0) return child;
    int out = open(".out", O_WRONLY | O_CREAT | O_TRUNC, 0666),
        err = open(".err", O_WRONLY | O_CREAT | O_TRUNC, 0666), in = open("/dev/null", O_RDONLY);
    dup2(in, 0);
    dup2(out, 1);
    dup2(err, 2);
    if (file_limit > 0)
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){(rlim_t)file_limit, (rlim_t)file_limit});
    execv(program(), (char *const *)argv);
    _exit(127);
}

static inline int wait_program(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static inline void copy_text(char *to, size_t size, const char *file)
{
    char *text = read_all(file, NULL);
    snprintf(to, size, "%s", text ? text : "");
    free(text);
    unlink(file);
}

/* Not where a program ends with files of counters of lines: then says so. */
static inline bool files_can_be_limited(void)
{
#ifdef BRIO_COUNTED
    print_message("SKIPPED: counters of lines do not fit into files that may not grow\n");
    return false;
#else
    return true;
#endif
}

static inline const Outcome *run_limited(long file_limit, const char *const *arguments)
{
    static Outcome outcome;
    outcome.code = wait_program(start_program(arguments, file_limit));
    copy_text(outcome.out, sizeof outcome.out, ".out");
    copy_text(outcome.err, sizeof outcome.err, ".err");
    return &outcome;
}

#define BRIO(...) run_limited(0, (const char *const[]){__VA_ARGS__, NULL})

static inline int count_files(const char *folder)
{
    int count = 0;
    DIR *listing = opendir(folder);
    for (struct dirent *entry; listing && (entry = readdir(listing));)
        count += entry->d_name[0] != '.';
    if (listing) closedir(listing);
    return count;
}

static inline void pause_for(double seconds)
{
    struct timespec time = {.tv_sec = (time_t)seconds,
                            .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&time, &time) && errno == EINTR) {}
}

#endif
