/* Materials with the numbers of a real substance, by name: one line each in presets.def.
 * docs/materials.md has the sources of the numbers. */
#ifndef BRIO_MATERIAL_H
#define BRIO_MATERIAL_H

typedef struct BrioPreset {
    const char *name, *type; /* "rubber", "neo-hookean" */
    const char *summary;
    struct {
        const char *field; /* NULL: no more */
        double value;
    } value[8];
} BrioPreset;

const BrioPreset *brio__preset(const char *name); /* NULL: no such preset */
const BrioPreset *brio__preset_at(int i);         /* NULL past the last */

#endif
