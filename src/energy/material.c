/* Materials: the energies that a body can be made of, with the values of their fields; and presets,
 * which are a material and numbers of a real substance. */
#include "material.h"

#include "../field.h"
#include "energy.h"

#include <string.h>

static const BrioPreset presets[] = {
#define PRESET(name, type, summary, ...) {name, type, summary, {__VA_ARGS__}},
#include "presets.def"
#undef PRESET
};

const BrioPreset *brio__preset_at(int i)
{
    return i >= 0 && i < (int)BRIO_COUNT(presets) ? &presets[i] : NULL;
}

const BrioPreset *brio__preset(const char *name)
{
    for (size_t i = 0; i < BRIO_COUNT(presets); i++)
        if (!strcmp(presets[i].name, name)) return &presets[i];
    return NULL;
}

const char *brio_preset_at(int i) { return brio__preset_at(i) ? brio__preset_at(i)->name : NULL; }

/* "no material", with the name that was probably meant. */
static BrioStatus unknown(const char *name, BrioError *error)
{
    enum { NAMES = 256 };
    const char *names[NAMES];
    int count = 0;
    for (int i = 0; count < NAMES && brio_material_at(i); i++) names[count++] = brio_material_at(i);
    for (int i = 0; count < NAMES && brio_preset_at(i); i++) names[count++] = brio_preset_at(i);
    const char *nearest = brio__nearest(name, names, count);
    if (nearest)
        return brio__error(error, BRIO_ERROR_ARGUMENT,
                           "no material \"%.80s\"; did you mean \"%s\"?", name, nearest);
    return brio__error(error, BRIO_ERROR_ARGUMENT,
                       "no material \"%.80s\"; brio_material_at and brio_preset_at name them",
                       name);
}

BrioStatus brio_default_material(const char *type, BrioMaterial *material, BrioError *error)
{
    BRIO_NEEDS(type && material, error);
    if (error) *error = (BrioError){0};
    const BrioPreset *preset = brio__preset(type);
    const BrioEnergy *energy = brio__energy(preset ? preset->type : type);
    if (!energy || !brio__energy_is_material(energy)) return unknown(type, error);
    *material = (BrioMaterial){.type = energy->name};
    brio_fields_defaults(energy->fields, material->values);
    for (int i = 0; preset && preset->value[i].field; i++)
        BRIO_CHECK(
            brio_material_set(material, preset->value[i].field, preset->value[i].value, error));
    return BRIO_OK;
}

const char *brio_material_at(int i)
{
    for (int k = 0; brio__energy_at(k); k++)
        if (brio__energy_is_material(brio__energy_at(k)) && i-- == 0)
            return brio__energy_at(k)->name;
    return NULL;
}

const BrioField *brio_material_fields(const char *type)
{
    BRIO_NEEDS_OR(type, NULL);
    const BrioEnergy *energy = brio__energy(type);
    return energy && brio__energy_is_material(energy) ? energy->fields : NULL;
}

BrioStatus brio_material_set(BrioMaterial *material, const char *name, double value,
                             BrioError *error)
{
    BRIO_NEEDS(material && name, error);
    if (error) *error = (BrioError){0};
    const BrioEnergy *energy = material->type ? brio__energy(material->type) : NULL;
    if (!energy) return unknown(material->type ? material->type : "", error);
    return brio_fields_set(energy->fields, material->values, name, &value, error);
}
