/* The registry of integrators: those of list.def, and those that programs register. */
#include "stepper.h"

#include <string.h>

#define INTEGRATOR(symbol) extern const BrioIntegrator brio__integrator_##symbol;
#include "list.def"
#undef INTEGRATOR

enum {
    BUILT_IN = 0
#define INTEGRATOR(symbol) +1
#include "list.def"
#undef INTEGRATOR
    ,
    MAX = BUILT_IN + 64
};

static const BrioIntegrator *table[MAX] = {
#define INTEGRATOR(symbol) &brio__integrator_##symbol,
#include "list.def"
#undef INTEGRATOR
};
static int table_count = BUILT_IN;

const BrioIntegrator *brio_integrator_at(int i)
{
    return i >= 0 && i < table_count ? table[i] : NULL;
}

const BrioIntegrator *brio_integrator(const char *name)
{
    BRIO_NEEDS_OR(name, NULL);
    for (int i = 0; i < table_count; i++)
        if (!strcmp(table[i]->name, name)) return table[i];
    return NULL;
}

BrioStatus brio_register_integrator(const BrioIntegrator *integrator, BrioError *error)
{
    BRIO_NEEDS(integrator, error);
    if (error) *error = (BrioError){0};
    if (!integrator || !integrator->name || !integrator->step)
        return brio__error(error, BRIO_ERROR_ARGUMENT, "an integrator needs a name and a step");
    if (brio_integrator(integrator->name))
        return brio__error(error, BRIO_ERROR_ARGUMENT,
                           "there is an integrator \"%s\" already; choose another name",
                           integrator->name);
    if (table_count == MAX)
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "%d integrators are registered already, and there is no room for more",
                           MAX);
    table[table_count++] = integrator;
    return BRIO_OK;
}
