/* Where the scenes are that ship with brio, and which one was meant by a name that is not there. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include "read.h"

#if defined(__linux__) && !defined(__EMSCRIPTEN__)
#include <dlfcn.h>
#endif
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The scenes of a source tree, from the folder of a program or library that was built in it: build/
 * or build/tests/. No path of the machine that builds is in the program, so that the same sources
 * give the same bytes. */
static bool in_source_tree(const char *program, char *folder, size_t size)
{
    struct stat info;
    const char *from[2] = {program, NULL};
#if defined(__linux__) && !defined(__EMSCRIPTEN__)
    char own[3900] = "";
    Dl_info library;
    if (dladdr(brio_version(), &library) && library.dli_fname) {
        snprintf(own, sizeof own, "%s", library.dli_fname);
        char *slash = strrchr(own, '/');
        if (slash) *slash = 0;
        from[1] = slash ? own : ".";
    }
#endif
    for (int k = 0; k < 2; k++)
        for (int up = 1; from[k] && up <= 2; up++) {
            char one[4096];
            snprintf(one, sizeof one, "%s/%sscenes/cloth.yaml", from[k],
                     up == 1 ? "../" : "../../");
            if (stat(one, &info) != 0) continue;
            snprintf(folder, size, "%s/%sscenes", from[k], up == 1 ? "../" : "../../");
            return true;
        }
    return false;
}

const char *brio_scenes_folder(void)
{
    static char folder[4096];
    struct stat info;
    char program[3900];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length > 0) { /* next to an installed program */
        program[length] = 0;
        char *slash = strrchr(program, '/');
        if (slash) *slash = 0;
        snprintf(folder, sizeof folder, "%s/../share/brio/scenes", program);
        if (stat(folder, &info) == 0) return folder;
    }
#if defined(__linux__) && !defined(__EMSCRIPTEN__)
    /* next to an installed library, whatever program loaded it: lib/ or lib/ARCHITECTURE/ */
    Dl_info library;
    for (int up = 1; dladdr(brio_version(), &library) && library.dli_fname && up <= 2; up++) {
        const char *slash = strrchr(library.dli_fname, '/');
        snprintf(folder, sizeof folder, "%.*s/%sshare/brio/scenes",
                 slash ? (int)(slash - library.dli_fname) : 1, slash ? library.dli_fname : ".",
                 up == 1 ? "../" : "../../");
        if (stat(folder, &info) == 0) return folder;
    }
#endif
    if (in_source_tree(length > 0 ? program : NULL, folder, sizeof folder)) return folder;
#ifdef BRIO_INSTALL_SCENES
    return BRIO_INSTALL_SCENES;
#else
    return ".";
#endif
}

bool brio__scene_path(const char *name, char *path, size_t size)
{
    struct stat info;
    if (strchr(name, '/') || name[0] == '.') return false;
    if (snprintf(path, size, "%s/%s.yaml", brio_scenes_folder(), name) >= (int)size) return false;
    return stat(path, &info) == 0;
}

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

/* The scene file of a folder whose name (without .yaml, if it is `bare`) is nearest to `word`. */
static bool nearest_scene(const char *folder, const char *word, bool bare, char *name, size_t size)
{
    enum { MAX = 256, LETTERS = 64 };
    char names[MAX][LETTERS];
    const char *list[MAX], *nearest = NULL;
    int count = 0;
    DIR *listing = opendir(folder);
    for (struct dirent *entry; listing && count < MAX && (entry = readdir(listing));) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || (strcmp(dot, ".yaml") && strcmp(dot, ".yml") && strcmp(dot, ".json")) ||
            strlen(entry->d_name) >= LETTERS)
            continue;
        snprintf(names[count++], LETTERS, "%.*s", bare ? (int)(dot - entry->d_name) : LETTERS - 1,
                 entry->d_name);
    }
    if (listing) closedir(listing);
    qsort(names, (size_t)count, LETTERS, by_name);
    for (int i = 0; i < count; i++) list[i] = names[i];
    nearest = brio__nearest(word, list, count);
    snprintf(name, size, "%s", nearest ? nearest : "");
    return nearest;
}

BrioStatus brio__scene_missing(const char *name, BrioError *error)
{
    char folder[4096] = ".", near[64];
    const char *slash = strrchr(name, '/'), *word = slash ? slash + 1 : name;
    if (slash) snprintf(folder, sizeof folder, "%.*s", BRIO_MAX((int)(slash - name), 1), name);
    bool file = strchr(name, '.') || slash;
    if (nearest_scene(file ? folder : brio_scenes_folder(), word, !file, near, sizeof near)) {
        if (!file)
            return brio__error(error, BRIO_ERROR_FILE,
                               "there is no scene \"%s\"; did you mean \"%s\"?", name, near);
        return brio__error_at(error, BRIO_ERROR_FILE, name, 0, 0, NULL,
                              "there is no such file; did you mean \"%.*s%s\"?", (int)(word - name),
                              name, near);
    }
    if (file)
        return brio__error_at(error, BRIO_ERROR_FILE, name, 0, 0, NULL,
                              "there is no such file (scenes that ship have names without .yaml: "
                              "`brio list scenes`)");
    return brio__error(error, BRIO_ERROR_FILE,
                       "there is no scene \"%s\": neither a file nor one that ships with brio (see "
                       "`brio list scenes`)",
                       name);
}
