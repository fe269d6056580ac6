/* brio playground: opens the page that `make playground` built. */
#include "commands.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Beside the program, where it was built, or where it was installed. */
static bool find_page(char *path, size_t size)
{
    static const char *const places[] = {"playground.html", "../share/brio/playground.html"};
    char program[3900];
    struct stat info;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) return false;
    program[length] = 0;
    char *slash = strrchr(program, '/');
    if (slash) *slash = 0;
    for (size_t i = 0; i < BRIO_COUNT(places); i++) {
        snprintf(path, size, "%s/%s", program, places[i]);
        if (stat(path, &info) == 0) return true;
    }
    return false;
}

enum { PRINT };

static int run(int argc, char **argv)
{
    Arguments a = {.command = &command_playground, .argc = argc, .argv = argv, .at = 1};
    bool print = false;
    int option;
    while ((option = argument_next(&a)) != ARGUMENT_END) {
        if (option == PRINT)
            print = true;
        else
            return option == ARGUMENT_WORD ? usage_error(a.command, "takes no words, and \"%s\" is one", a.value) : a.exit;
    }
    char path[4096];
    if (!find_page(path, sizeof path)) {
        fprintf(stderr, "brio playground: the page is not built; in brio's source folder: make playground\n");
        return EXIT_FAILED;
    }
    if (print || !open_in_browser(path))
        printf("%s\n", path);
    else
        printf("Opened %s\n", path);
    return EXIT_DONE;
}

static const Option options[] = {[PRINT] = {"--print", 0, NULL, "Only say where the page is."}, {0}};

const Command command_playground = {
    .name = "playground",
    .summary = "Open the playground: the engine in a page of the browser.",
    .synopsis = "[--print]",
    .about = "Cloth to grab, soft bodies, the energy as a dial, the phase plane, stability diagrams, two integrators side by side. The page is one file "
             "that needs no server and no network; `make playground` builds it. Where no browser can be opened, its path is printed.",
    .options = options,
    .examples = "brio playground\nbrio playground --print",
    .run = run,
};
