/* The registry of contact laws: laws.def as a table, found by name; and the energies of a law,
 * which are named after what it acts with and the law ("plane-ipc"). */
#include "law.h"

#include "../field.h"

#include <stdio.h>

#define LAW(symbol) extern const BrioLaw brio__law_##symbol;
#include "../energy/laws.def"
#undef LAW
static const BrioLaw *const laws[] = {
#define LAW(symbol) &brio__law_##symbol,
#include "../energy/laws.def"
#undef LAW
};

const BrioLaw *brio__law_at(int i) { return i >= 0 && i < (int)BRIO_COUNT(laws) ? laws[i] : NULL; }

int brio__law_find(const char *name)
{
    for (int i = 0; i < (int)BRIO_COUNT(laws); i++)
        if (!strcmp(laws[i]->name, name)) return i;
    return -1;
}

double brio__law_default(const BrioLaw *law, const char *field, double otherwise)
{
    for (const BrioField *f = law->fields; f->name; f++)
        if (!strcmp(f->name, field)) return f->default_value;
    return otherwise;
}

const BrioEnergy *brio__law_energy(const BrioLaw *law, const char *with)
{
    char name[64];
    snprintf(name, sizeof name, "%s-%s", with, law->name);
    return brio__energy(name);
}
