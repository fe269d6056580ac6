/* The registry of contact laws: laws.def as a table and what programs register, found by name; and
 * the energies of a law, which are named after what it acts with and the law ("plane-ipc").
 *
 * Kernels and friction know the parameters of a law and not the law. So each of the registered
 * laws has functions of its own, made by SLOT below, that say for which of them the shared kernels
 * are called. */
#include "law.h"

#include "../energy/registered_law.h"
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

enum { MAX_LAWS = BRIO_MAX_REGISTERED_LAWS, MAX_ENERGIES = 10, MAX_NAME = 64 };
static BrioLaw registered[MAX_LAWS];
static const BrioLawDef *definition[MAX_LAWS];
static int registered_count;

const BrioLaw *brio__law_at(int i)
{
    if (i >= 0 && i < (int)BRIO_COUNT(laws)) return laws[i];
    i -= (int)BRIO_COUNT(laws);
    return i >= 0 && i < registered_count ? &registered[i] : NULL;
}

int brio__law_find(const char *name)
{
    for (int i = 0; brio__law_at(i); i++)
        if (!strcmp(brio__law_at(i)->name, name)) return i;
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
    char name[2 * MAX_NAME];
    snprintf(name, sizeof name, "%s-%s", with, law->name);
    return brio__energy(name);
}

const char *brio_law_at(int i) { return brio__law_at(i) ? brio__law_at(i)->name : NULL; }

/* ---- laws that are registered at run time ----------------------------------------------- */

static const BrioField fields[] = {BRIO_REGISTERED_LAW_FIELDS, {0}};

static _Thread_local const BrioLawDef *in_use;

const BrioLawDef *brio__law_in_use(void) { return in_use; }

static void evaluate(int law, int energy, const BrioBatch *batch)
{
    in_use = definition[law];
    brio__registered_law_kernels()->energy[energy].eval(batch);
    in_use = NULL;
}

static double friction(int law, const double *params, double mu, double d)
{
    double gap = d - params[BRIO_LAW_THICKNESS], dhat = params[BRIO_LAW_DHAT], b[3] = {0};
    const BrioLawDef *def = definition[law];
    if (!(gap > 0 && gap < dhat)) return 0;
    def->eval(def->user, params[BRIO_LAW_KAPPA], dhat, 1, &gap, &b[0], &b[1], &b[2]);
    return -mu * b[1];
}

#define EVAL(law, energy) \
    static void eval_##law##_##energy(const BrioBatch *batch) { evaluate(law, energy, batch); }
#define SLOT(law)                                                           \
    EVAL(law, 0)                                                            \
    EVAL(law, 1)                                                            \
    EVAL(law, 2)                                                            \
    EVAL(law, 3)                                                            \
    EVAL(law, 4)                                                            \
    EVAL(law, 5)                                                            \
    EVAL(law, 6)                                                            \
    EVAL(law, 7)                                                            \
    EVAL(law, 8)                                                            \
    EVAL(law, 9)                                                            \
    static double friction_##law(const double *params, double mu, double d) \
    {                                                                       \
        return friction(law, params, mu, d);                                \
    }
SLOT(0)
SLOT(1)
SLOT(2)
SLOT(3)

typedef void Eval(const BrioBatch *batch);
#define EVALS(law)                                                                          \
    {                                                                                       \
        eval_##law##_0, eval_##law##_1, eval_##law##_2, eval_##law##_3, eval_##law##_4,     \
            eval_##law##_5, eval_##law##_6, eval_##law##_7, eval_##law##_8, eval_##law##_9, \
    }
static Eval *const evals[MAX_LAWS][MAX_ENERGIES] = {EVALS(0), EVALS(1), EVALS(2), EVALS(3)};
static double (*const frictions[MAX_LAWS])(const double *, double, double) = {
    friction_0, friction_1, friction_2, friction_3};

/* The energies of the kernels under the names of the law. */
static BrioStatus add_energies(const BrioLawDef *def, BrioError *error)
{
    static char names[MAX_LAWS][MAX_ENERGIES][2 * MAX_NAME];
    static BrioEnergy energies[MAX_LAWS][MAX_ENERGIES];
    const BrioLawKernels *kernels = brio__registered_law_kernels();
    int law = registered_count;
    if (kernels->count > MAX_ENERGIES)
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "contact laws have %d energies: more than can be registered",
                           kernels->count);
    for (int i = 0; i < kernels->count; i++) {
        const BrioEnergy *from = &kernels->energy[i];
        size_t prefix = strlen(from->name) - strlen("-registered");
        snprintf(names[law][i], sizeof names[law][i], "%.*s-%s", (int)prefix, from->name,
                 def->name);
        energies[law][i] = *from;
        energies[law][i].name = names[law][i];
        energies[law][i].citation = def->citation;
        energies[law][i].eval = evals[law][i];
    }
    return brio__register_energies(energies[law], kernels->count, error);
}

/* What a law must be, at some gaps: finite, pushing apart, convex, and nothing at dhat. */
static BrioStatus try_law(const BrioLawDef *def, BrioError *error)
{
    enum { COUNT = 7 };
    const double dhat = 1e-3, kappa = 1;
    const double gap[COUNT] = {1e-9, 1e-6, 1e-5, 1e-4, 5e-4, 9e-4, dhat * (1 - 1e-9)};
    double b[3][COUNT] = {{0}};
    def->eval(def->user, kappa, dhat, COUNT, gap, b[0], b[1], b[2]);
    for (int i = 0; i < COUNT; i++)
        if (!isfinite(b[0][i]) || !isfinite(b[1][i]) || !isfinite(b[2][i]) || b[0][i] < 0 ||
            b[1][i] > 0 || b[2][i] < 0)
            return brio__error(error, BRIO_ERROR_ARGUMENT,
                               "law %s: at a gap of %g m of dhat = %g m it gives b = %g J, "
                               "b' = %g N, b'' = %g N/m; b and b'' must not be negative, b' not "
                               "positive, and all finite",
                               def->name, gap[i], dhat, b[0][i], b[1][i], b[2][i]);
    const int end = COUNT - 1;
    if (b[0][end] > 1e-6 * b[0][4] || -b[1][end] > -1e-6 * b[1][4])
        return brio__error(error, BRIO_ERROR_ARGUMENT,
                           "law %s: b and b' must go to 0 at dhat; there they are %g J and %g N",
                           def->name, b[0][end], b[1][end]);
    return BRIO_OK;
}

BrioStatus brio_register_law(const BrioLawDef *def, BrioError *error)
{
    BRIO_NEEDS(def, error);
    if (error) *error = (BrioError){0};
    if (!def->name || !def->name[0] || strlen(def->name) >= MAX_NAME || !def->eval)
        return brio__error(error, BRIO_ERROR_ARGUMENT,
                           "a contact law needs a name of less than %d letters and a function",
                           MAX_NAME);
    if (brio__law_find(def->name) >= 0)
        return brio__error(error, BRIO_ERROR_ARGUMENT,
                           "there is a contact law \"%s\" already; choose another name", def->name);
    if (registered_count == MAX_LAWS)
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "%d contact laws are registered already, and there is no room for more",
                           MAX_LAWS);
    BRIO_CHECK(try_law(def, error));
    BRIO_CHECK(add_energies(def, error));
    definition[registered_count] = def;
    registered[registered_count] =
        (BrioLaw){.name = def->name,
                  .summary = def->summary ? def->summary : "",
                  .citation = def->citation,
                  .traits = BRIO_LAW_FORBIDS | (def->unbounded ? BRIO_LAW_UNBOUNDED : 0),
                  .fields = fields,
                  .force = frictions[registered_count]};
    registered_count++;
    return BRIO_OK;
}
