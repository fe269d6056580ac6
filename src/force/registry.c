/* The registry of forces, their factors in time and place, and the volume of closed surfaces. */
#include "force.h"

#include "../field.h"
#include "../vec.h"
#include "brio/plugin.h"

#include <string.h>

#define FORCE(symbol) extern const BrioForceType brio__force_##symbol;
#include "list.def"
#undef FORCE

static const BrioForceType *const table[] = {
#define FORCE(symbol) &brio__force_##symbol,
#include "list.def"
#undef FORCE
};

enum { MAX = 64 };
static BrioForceType registered[MAX];
static int registered_count;

const BrioForceType *brio__force_type_at(int i)
{
    if (i >= 0 && i < (int)BRIO_COUNT(table)) return table[i];
    i -= (int)BRIO_COUNT(table);
    return i >= 0 && i < registered_count ? &registered[i] : NULL;
}

const BrioForceType *brio__force_type(const char *name)
{
    const BrioForceType *type;
    for (int i = 0; name && (type = brio__force_type_at(i)); i++)
        if (!strcmp(type->name, name)) return type;
    return NULL;
}

double brio__force_call(const BrioForce *force, const BrioForceCall *call)
{
    const BrioForceTypeDef *def = force->type->def;
    if (def) return def->function(def->user, force->values, call);
    return force->function(force->user, call);
}

void brio__force_free(BrioForce *force)
{
    brio__free(force->name);
    brio__free(force->formula);
    brio__free(force->key);
    brio__free(force->path);
    brio__free(force->vertex);
    brio__free(force->weight);
    brio__free(force->triangle);
}

void brio__force_between(const double *row, int64_t count, int width, double time, double *value)
{
    int64_t step = width + 1, low = 0, high = count - 1;
    if (!(time > row[0])) high = 0;
    if (time >= row[step * high]) low = high;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (row[step * middle] <= time)
            low = middle;
        else
            high = middle;
    }
    const double *a = row + step * low, *b = row + step * high;
    double part = high > low ? (time - a[0]) / (b[0] - a[0]) : 0;
    for (int k = 0; k < width; k++) value[k] = a[1 + k] + part * (b[1 + k] - a[1 + k]);
}

double brio__force_factor(const BrioForce *force, const double x[3], double time)
{
    double factor = 1;
    if (force->key_count) brio__force_between(force->key, force->key_count, 1, time, &factor);
    if (force->formula_count == 1 && !force->type->own_formula)
        factor *= brio__formula_value(force->formula, x, time);
    return factor;
}

void brio__force_push(const BrioForce *force, const double x[3], double time, double f[3])
{
    double factor = brio__force_factor(force, x, time);
    if (force->type->push) {
        force->type->push(force, x, time, f);
    } else {
        force->type->energy(force, x, time, false, f, NULL);
        for (int r = 0; r < 3; r++) f[r] = -f[r];
    }
    for (int r = 0; r < 3; r++) f[r] *= factor;
}

double brio__force_volume(const BrioForce *force, const double *x)
{
    double sum = 0;
    const double *o = x + 3 * (int64_t)force->triangle[0];
    for (int64_t t = 0; t < force->triangle_count; t++) {
        double corner[3][3];
        for (int k = 0; k < 3; k++)
            brio__subtract3(x + 3 * (int64_t)force->triangle[3 * t + k], o, corner[k]);
        sum += brio__triple3(corner[0], corner[1], corner[2]);
    }
    return sum / 6;
}

/* ---- public ----------------------------------------------------------------------------- */

const char *brio_force_at(int i)
{
    return brio__force_type_at(i) ? brio__force_type_at(i)->name : NULL;
}

const BrioField *brio_force_fields(const char *type)
{
    BRIO_NEEDS_OR(type, NULL);
    const BrioForceType *found = brio__force_type(type);
    return found ? found->fields : NULL;
}

BrioStatus brio_register_force(const BrioForceTypeDef *def, BrioError *error)
{
    static const BrioField none[] = {{0}};
    BRIO_NEEDS(def, error);
    if (error) *error = (BrioError){0};
    if (!def->name || !def->name[0] || !def->function)
        return brio__error(error, BRIO_ERROR_ARGUMENT, "a force needs a name and a function");
    if (brio__force_type(def->name))
        return brio__error(error, BRIO_ERROR_ARGUMENT,
                           "there is a force \"%s\" already; choose another name", def->name);
    const BrioField *fields = def->fields ? def->fields : none;
    if (brio__fields_count(fields) > BRIO_MAX_VALUES)
        return brio__error(error, BRIO_ERROR_ARGUMENT,
                           "force %s: its fields need more than the maximum of %d values",
                           def->name, BRIO_MAX_VALUES);
    if (registered_count == MAX)
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "%d forces are registered already, and there is no room for more", MAX);
    registered[registered_count++] = (BrioForceType){.name = def->name,
                                                     .summary = def->summary ? def->summary : "",
                                                     .citation = def->citation,
                                                     .fields = fields,
                                                     .called = true,
                                                     .def = def};
    return BRIO_OK;
}
