#include "presets.h"

#include "base.h"

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
