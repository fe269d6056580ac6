/* The list of sections of a scene file, and what all rows have in common: how many numbers a row
 * takes, its default, and how a value gets into the struct of its section. */
#include "schema.h"

#include <string.h>

#define SECTION(symbol) extern const BrioSection brio__section_##symbol;
#include "sections.def"
#undef SECTION

static const BrioSection *const sections[] = {
#define SECTION(symbol) &brio__section_##symbol,
#include "sections.def"
#undef SECTION
};

const BrioSection *brio__scene_section_at(int i)
{
    return i >= 0 && i < (int)BRIO_COUNT(sections) ? sections[i] : NULL;
}

const BrioSection *brio__scene_section(const char *path)
{
    for (size_t i = 0; i < BRIO_COUNT(sections); i++)
        if (!strcmp(sections[i]->path, path)) return sections[i];
    return NULL;
}

int brio__key_width(const BrioKey *key)
{
    switch (key->form) {
    case BRIO_KEY_FIELD: return brio__field_width(&key->field);
    case BRIO_KEY_SCALE:
    case BRIO_KEY_COUNTS: return 3;
    case BRIO_KEY_BALL: return 4;
    case BRIO_KEY_BOX: return 6;
    case BRIO_KEY_MATRIX: return 9;
    default: return 0;
    }
}

void brio__key_store(const BrioKey *key, const double *values, void *into)
{
    char *place = (char *)into + key->offset;
    switch (key->store) {
    case BRIO_STORE_REAL: *(double *)place = values[0]; break;
    case BRIO_STORE_REALS:
        memcpy(place, values, (size_t)brio__key_width(key) * sizeof *values);
        break;
    case BRIO_STORE_INT: *(int *)place = (int)values[0]; break;
    case BRIO_STORE_INT64: *(int64_t *)place = (int64_t)values[0]; break;
    case BRIO_STORE_BOOL: *(bool *)place = values[0] != 0; break;
    case BRIO_STORE_TEXT:
    case BRIO_STORE_NONE: break;
    }
}

void brio__key_defaults(const BrioKey *keys, void *into)
{
    for (const BrioKey *key = keys; key->field.name; key++) {
        double values[BRIO_KEY_MAX_NUMBERS];
        int width = brio__key_width(key);
        if (key->store == BRIO_STORE_TEXT) *(const char **)((char *)into + key->offset) = key->text;
        for (int i = 0; i < width; i++)
            values[i] = key->components ? key->components[i] : key->field.default_value;
        /* an integer has no value for "none": what is required is given anyway */
        if (width > 0 &&
            (!isnan(values[0]) || key->store == BRIO_STORE_REAL || key->store == BRIO_STORE_REALS))
            brio__key_store(key, values, into);
    }
}

int brio__key_names(const BrioKey *keys, const char **names, int max)
{
    int count = 0;
    for (; keys[count].field.name && count < max; count++) names[count] = keys[count].field.name;
    return count;
}
