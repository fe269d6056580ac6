/* Plug-ins: shared objects with integrators, energies, forces and contact laws of your own, which
 * every command takes with --plugin FILE.so; and the two kinds that are registered here.
 *
 * A plug-in has one entry point and says for which binary interface it was compiled:
 *
 *     #include <brio/plugin.h>
 *     BRIO_PLUGIN(error)
 *     {
 *         return brio_register_integrator(&mine, error);
 *     }
 *
 *     cc -shared -fPIC mine.c -o mine.so $(pkg-config --cflags brio)
 *     brio compare cloth --plugin ./mine.so --integrators bdf2,mine
 *
 * It does not need to be linked with the library: the program that loads it has all functions. A
 * plug-in runs with the permissions of the program. Load only plug-ins that you trust.
 *
 * Include it after or instead of brio.h; docs/plugins.md has the manual. Licence: MIT. */
#ifndef BRIO_PLUGIN_H
#define BRIO_PLUGIN_H

#include "brio.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a plug-in defines. The function registers its types. Any status but BRIO_OK rejects the
 * plug-in, with a message in `error`; types registered before that stay. */
extern BRIO_API const int brio_plugin_abi;
extern BRIO_API BrioStatus brio_plugin(BrioError *error);
#define BRIO_PLUGIN(error)                \
    const int brio_plugin_abi = BRIO_ABI; \
    BrioStatus brio_plugin(BrioError *error)

/* Loads a plug-in and calls its entry point. A file name without a slash refers to the current
 * folder. A plug-in that is already loaded is not loaded again. It stays loaded until the process
 * ends. UNSUPPORTED: it was compiled for another BRIO_ABI. */
BRIO_API BrioStatus brio_load_plugin(const char *file, BrioError *error);

/* --------------------------------------------------------------------------------------
 * A force: a type that scenes name like any other. (A function for one simulation alone:
 * brio_builder_force with the type "function".)
 * -------------------------------------------------------------------------------------- */

typedef struct BrioForceTypeDef {
    const char *name, *summary, *citation; /* summary, citation: may be NULL */
    const BrioField *fields;               /* NULL: no parameters */
    void *user;
    /* As BrioForceFunction, with the values of the field table. */
    double (*function)(void *user, const double *values, const BrioForceCall *call);
    int has_potential; /* the function returns one, and its force is minus the gradient */
} BrioForceTypeDef;
/* `def` and what it points to must stay in memory. ERROR_ARGUMENT: the name is taken, or something
 * is missing. */
BRIO_API BrioStatus brio_register_force(const BrioForceTypeDef *def, BrioError *error);

/* --------------------------------------------------------------------------------------
 * A contact law: a barrier b(g) of the gap g between surfaces, or between a vertex and an
 * obstacle. It acts below dhat and is infinite at g <= 0. As with `ipc`, the limit of every step
 * prevents surfaces from passing through each other. Scenes set kappa, dhat and thickness.
 * -------------------------------------------------------------------------------------- */

enum { BRIO_MAX_REGISTERED_LAWS = 4 };

typedef struct BrioLawDef {
    const char *name, *summary, *citation; /* summary, citation: may be NULL */
    void *user;
    /* b in J, b' in N and b'' in N/m at `count` gaps (m), 0 < gap < dhat: b' must not be positive,
     * b'' not negative, and b and b' must go to 0 at dhat. Called from several threads at once. */
    void (*eval)(void *user, double kappa, double dhat, int count, const double *gap, double *value,
                 double *slope, double *curvature);
    int unbounded; /* b' grows without bound towards 0: a contact carries any load */
} BrioLawDef;
/* As brio_register_force; up to BRIO_MAX_REGISTERED_LAWS. */
BRIO_API BrioStatus brio_register_law(const BrioLawDef *def, BrioError *error);
BRIO_API const char *brio_law_at(int i); /* names of laws, i = 0, 1, ...; NULL past the last */

#ifdef __cplusplus
}
#endif
#endif
