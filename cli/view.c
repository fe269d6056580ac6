/* brio view: the report of a run in a browser. */
#include "commands.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PRINT };

/* Older than the results: the run was continued, or was killed before it could write one. */
static bool is_old(const char *folder, const char *report)
{
    struct stat page, energy;
    char path[4200];
    snprintf(path, sizeof path, "%s/energy.csv", folder);
    if (stat(path, &energy)) return false; /* a comparison, which always has its page */
    return stat(report, &page) || page.st_mtim.tv_sec < energy.st_mtim.tv_sec ||
           (page.st_mtim.tv_sec == energy.st_mtim.tv_sec &&
            page.st_mtim.tv_nsec < energy.st_mtim.tv_nsec);
}

static int run(int argc, char **argv)
{
    Arguments a = {.command = &command_view, .argc = argc, .argv = argv, .at = 1};
    const char *folder = NULL;
    char path[4200], *whole;
    bool print = false;
    struct stat info;
    BrioError error = {0};
    int option;
    while ((option = argument_next(&a)) != ARGUMENT_END) {
        if (option == ARGUMENT_BAD) return a.exit;
        if (option == PRINT)
            print = true;
        else if (folder)
            return usage_error(a.command, "one run at a time: \"%s\" and \"%s\"", folder, a.value);
        else
            folder = a.value;
    }
    if (!folder)
        return usage_error(
            a.command, "which run? Give a folder that `brio run` or `brio compare` has written");
    if (stat(folder, &info) || !S_ISDIR(info.st_mode))
        return usage_error(
            a.command,
            "there is no folder \"%s\": give one that `brio run` or `brio compare` has written",
            folder);
    snprintf(path, sizeof path, "%s/report.html", folder);
    if (is_old(folder, path) && report_of_run(folder, &error) != BRIO_OK)
        return say_error(&error, EXIT_FAILED);
    if (stat(path, &info))
        return usage_error(a.command, "%s contains neither a report nor a run to make one from",
                           folder);
    whole = realpath(path, NULL);
    const char *shown = whole ? whole : path;
    bool screen = getenv("DISPLAY") || getenv("WAYLAND_DISPLAY");
    if (print || !open_in_browser(shown)) puts(shown);
    fflush(stdout); /* before what is said about it */
    if (!print && !screen)
        fprintf(stderr, "brio view: there is no display here; open the file above in a browser\n");
    free(whole);
    return EXIT_DONE;
}

static const Option options[] = {[PRINT] = {"--print", 'p', NULL,
                                            "Only print the path of the "
                                            "report."},
                                 {0}};

const Command command_view = {
    .name = "view",
    .summary = "Open the report of a run in a browser.",
    .synopsis = "RUN [--print]",
    .about = "RUN is a folder that `brio run` or `brio compare` has written. Opens its "
             "report.html, which needs no server. Without a display it prints the path. If the "
             "run was killed or continued, the report is missing or out of date; the command then "
             "writes it again.",
    .options = options,
    .examples = "brio view cloth-out",
    .run = run,
};
