/* Loading plug-ins (brio/plugin.h): shared objects that register integrators, energies, forces and
 * contact laws. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include "base.h"
#include "brio/plugin.h"

#include <string.h>

#ifdef __EMSCRIPTEN__

BrioStatus brio_load_plugin(const char *file, BrioError *error)
{
    BRIO_NEEDS(file, error);
    return brio__error(error, BRIO_ERROR_UNSUPPORTED, "%s: the page loads no plug-ins", file);
}

#else

#include <dlfcn.h>

enum { MAX = 256 };
static void *loaded[MAX];
static int loaded_count;

/* A library that a program has loaded for itself alone (as Python does) becomes visible to what is
 * loaded later, so that plug-ins find its functions. */
static void show_functions(void)
{
    Dl_info here;
    if (dladdr((const void *)&loaded_count, &here) && here.dli_fname)
        dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

static BrioStatus enter(const char *file, void *library, BrioError *error)
{
    const int *abi = dlsym(library, "brio_plugin_abi");
    BrioStatus (*entry)(BrioError *);
    *(void **)&entry = dlsym(library, "brio_plugin");
    if (!abi || !entry)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "%s is no plug-in of brio: it has no entry point. Define it with "
                           "BRIO_PLUGIN of brio/plugin.h",
                           file);
    if (*abi != brio_abi())
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "%s was compiled for the binary interface %d, and this brio has %d: "
                           "compile it again with the headers of brio %s",
                           file, *abi, brio_abi(), brio_version());
    BrioError reason = {0};
    BrioStatus status = entry(&reason);
    if (status == BRIO_OK) return BRIO_OK;
    return brio__error(error, status < 0 ? status : BRIO_ERROR_INPUT, "%s: %s", file,
                       reason.message[0] ? reason.message : brio_status_text(status));
}

BrioStatus brio_load_plugin(const char *file, BrioError *error)
{
    BRIO_NEEDS(file, error);
    char place[4096];
    int length = snprintf(place, sizeof place, "%s%s", strchr(file, '/') ? "" : "./", file);
    if (length >= (int)sizeof place)
        return brio__error(error, BRIO_ERROR_FILE, "the name of the plug-in is too long");
    if (loaded_count == MAX)
        return brio__error(error, BRIO_ERROR_UNSUPPORTED, "more than %d plug-ins", MAX);
    show_functions();
    void *library = dlopen(place, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library)
        return brio__error(error, BRIO_ERROR_FILE, "cannot load the plug-in: %s", dlerror());
    for (int i = 0; i < loaded_count; i++)
        if (loaded[i] == library) return BRIO_OK;
    BRIO_CHECK(enter(file, library, error));
    loaded[loaded_count++] = library;
    return BRIO_OK;
}

#endif
