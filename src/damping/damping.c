/* The registry of damping models. */
#include "damping.h"

#include "../field.h"

#include <string.h>

#define DAMPING(symbol) extern const BrioDampingModel brio__damping_##symbol;
#include "list.def"
#undef DAMPING

static const BrioDampingModel *const table[] = {
#define DAMPING(symbol) &brio__damping_##symbol,
#include "list.def"
#undef DAMPING
};

const BrioDampingModel *brio__damping_model_at(int i)
{
    return i >= 0 && i < (int)BRIO_COUNT(table) ? table[i] : NULL;
}

const BrioDampingModel *brio__damping_model(const char *name)
{
    for (size_t i = 0; name && i < BRIO_COUNT(table); i++)
        if (!strcmp(table[i]->name, name)) return table[i];
    return NULL;
}

const char *brio_damping_at(int i)
{
    return brio__damping_model_at(i) ? brio__damping_model_at(i)->name : NULL;
}

const BrioField *brio_damping_fields(const char *type)
{
    BRIO_NEEDS_OR(type, NULL);
    const BrioDampingModel *model = brio__damping_model(type);
    return model ? model->fields : NULL;
}

BrioStatus brio_default_damping(const char *type, BrioDamping *damping, BrioError *error)
{
    BRIO_NEEDS(type && damping, error);
    if (error) *error = (BrioError){0};
    const BrioDampingModel *model = brio__damping_model(type);
    if (!model) return brio__error(error, BRIO_ERROR_ARGUMENT, "no damping model \"%s\"", type);
    *damping = (BrioDamping){.type = model->name};
    brio_fields_defaults(model->fields, damping->values);
    return BRIO_OK;
}

BrioStatus brio_damping_set(BrioDamping *damping, const char *name, double value, BrioError *error)
{
    BRIO_NEEDS(damping && name, error);
    if (error) *error = (BrioError){0};
    const BrioDampingModel *model = damping->type ? brio__damping_model(damping->type) : NULL;
    if (!model)
        return brio__error(error, BRIO_ERROR_ARGUMENT, "no damping model \"%s\"",
                           damping->type ? damping->type : "");
    return brio_fields_set(model->fields, damping->values, name, &value, error);
}

BrioStatus brio__elastic_evaluator(const BrioSystem *system, BrioTerm **terms, int *count,
                                   BrioEvaluator **evaluator)
{
    BrioTerm *chosen = brio__calloc((size_t)system->term_count + 1, sizeof *chosen);
    if (!chosen) return BRIO_ERROR_MEMORY;
    *count = 0;
    for (int t = 0; t < system->term_count; t++)
        if (brio__energy_is_elastic(system->term[t].energy)) chosen[(*count)++] = system->term[t];
    BrioStatus status = brio__evaluator_create(system, chosen, *count, evaluator);
    if (status == BRIO_OK) {
        *terms = chosen;
    } else {
        *count = 0;
        brio__free(chosen);
    }
    return status;
}
