/* Field tables: defaults, one value by name, types and ranges with a sentence; and the list of
 * citations. */
#include "field.h"

#include "number.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

int brio__field_width(const BrioField *field)
{
    return field->type == BRIO_VECTOR ? 3 : field->type == BRIO_LIST ? 1 + BRIO_MAX_LIST : 1;
}

/* The k-th word of "one|two|three"; its length through `length`. NULL past the last. */
static const char *word_at(const char *words, int k, int *length)
{
    for (; k > 0 && (words = strchr(words, '|')); k--) words++;
    if (words) *length = (int)strcspn(words, "|");
    return words;
}

BrioWord brio__field_word(const BrioField *field, int k)
{
    int length = 0;
    BrioWord word = {""};
    const char *at =
        word_at(field->unit ? field->unit : "", field->type == BRIO_CHOICE ? k : k + 1, &length);
    if (at) snprintf(word.text, sizeof word.text, "%.*s", length, at);
    return word;
}

BrioWord brio__field_unit(const BrioField *field)
{
    int length = 0;
    BrioWord unit = {""};
    const char *at = word_at(field->unit ? field->unit : "", 0, &length);
    if (field->type != BRIO_CHOICE) snprintf(unit.text, sizeof unit.text, "%.*s", length, at);
    return unit;
}

int brio__fields_count(const BrioField *fields)
{
    int count = 0;
    while (fields && fields[count].name) count++;
    return count;
}

/* The row of a name, or NULL; `offset` is where its values start. */
static const BrioField *find_field(const BrioField *fields, const char *name, int *offset)
{
    *offset = 0;
    for (const BrioField *field = fields; field && field->name; field++) {
        if (!strcmp(field->name, name)) return field;
        *offset += brio__field_width(field);
    }
    return NULL;
}

int brio__fields_offset(const BrioField *fields, const char *name)
{
    int offset;
    return find_field(fields, name, &offset) ? offset : -1;
}

void brio_fields_defaults(const BrioField *fields, double *values)
{
    BRIO_NEEDS_OR_NOTHING(values);
    for (const BrioField *field = fields; field && field->name; field++)
        for (int i = 0; i < brio__field_width(field); i++)
            *values++ = field->type == BRIO_LIST ? 0 : field->default_value;
}

/* ---- ranges ----------------------------------------------------------------------------- */

#define TINY 1e-100 /* a bound nearer to zero than this only says which side of zero is meant */

static BrioNumberText number(double value) { return brio__real_text(value, 6); }

/* The round number that a bound excludes by a hair (nextafter(0.5, 0) excludes 0.5), or the bound
 * itself. */
static double round_bound(double bound)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g", bound);
    double round = strtod(text, NULL);
    return fabs(round - bound) <= 1e-11 * fabs(bound) ? round : bound;
}

static void range_text(const BrioField *field, char *text, size_t size)
{
    bool below = field->min > -DBL_MAX, above = field->max < DBL_MAX;
    double min = round_bound(field->min), max = round_bound(field->max);
    char low[64] = "", high[64] = "";
    if (below && field->min > 0 && field->min <= TINY)
        snprintf(low, sizeof low, "positive");
    else if (below)
        snprintf(low, sizeof low, "%s %s", field->min > min ? "more than" : "at least",
                 number(min).text);
    if (above && field->max < 0 && field->max >= -TINY)
        snprintf(high, sizeof high, "negative");
    else if (above)
        snprintf(high, sizeof high, "%s %s", field->max < max ? "less than" : "at most",
                 number(max).text);
    if (below && above && field->min == min && field->max == max && !(min > 0 && min <= TINY))
        snprintf(text, size, "must be between %s and %s", number(min).text, number(max).text);
    else
        snprintf(text, size, "must be %s%s%s", low, below && above ? " and " : "", high);
}

static BrioStatus check_value(const BrioField *field, int component, double value, BrioError *error)
{
    char name[128];
    BrioWord unit = brio__field_unit(field);
    if (field->type == BRIO_VECTOR || field->type == BRIO_LIST)
        snprintf(name, sizeof name, "%s[%d]", field->name, component);
    else
        snprintf(name, sizeof name, "%s", field->name);
    if (value == field->default_value ||
        (isnan(value) && isnan(field->default_value) && !field->required))
        return BRIO_OK;
    if (isnan(value) && isnan(field->default_value))
        return brio__error(error, BRIO_ERROR_INPUT, "%s has no value, and no default", name);
    if (field->type == BRIO_BOOLEAN) {
        if (value == 0 || value == 1) return BRIO_OK;
        return brio__error(error, BRIO_ERROR_INPUT, "%s = %s is neither true (1) nor false (0)",
                           name, number(value).text);
    }
    if (field->type == BRIO_CHOICE) {
        if (value >= 0 && value == floor(value) && value < 64 &&
            brio__field_word(field, (int)value).text[0])
            return BRIO_OK;
        return brio__error(error, BRIO_ERROR_INPUT, "%s = %s is not one of %s", name,
                           number(value).text, field->unit);
    }
    if (value == INFINITY && field->type == BRIO_REAL && brio__field_word(field, 0).text[0])
        return BRIO_OK;
    if (!isfinite(value))
        return brio__error(error, BRIO_ERROR_INPUT, "%s = %s is not a finite number", name,
                           number(value).text);
    if (field->type == BRIO_INTEGER && value != floor(value))
        return brio__error(error, BRIO_ERROR_INPUT, "%s = %s is not an integer", name,
                           number(value).text);
    if (value >= field->min && value <= field->max) return BRIO_OK;
    char range[192];
    range_text(field, range, sizeof range);
    return brio__error(error, BRIO_ERROR_INPUT, "%s = %s%s%s is out of range: %s", name,
                       number(value).text, unit.text[0] ? " " : "", unit.text, range);
}

BrioStatus brio__fields_check(const BrioField *fields, const double *values, BrioError *error)
{
    for (const BrioField *field = fields; field && field->name;
         values += brio__field_width(field++)) {
        bool list = field->type == BRIO_LIST;
        if (list &&
            !(values[0] >= 0 && values[0] <= BRIO_MAX_LIST && values[0] == floor(values[0])))
            return brio__error(error, BRIO_ERROR_INPUT, "%s holds %s numbers: at most %d",
                               field->name, number(values[0]).text, BRIO_MAX_LIST);
        int count = list ? (int)values[0] : brio__field_width(field);
        for (int i = 0; i < count; i++) BRIO_CHECK(check_value(field, i, values[i + list], error));
    }
    return BRIO_OK;
}

static void list_names(const BrioField *fields, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (; fields && fields->name && used < size; fields++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", fields->name);
}

BrioStatus brio_fields_set(const BrioField *fields, double *values, const char *name,
                           const double *value, BrioError *error)
{
    BRIO_NEEDS(values && name && value, error);
    if (error) *error = (BrioError){0};
    int offset;
    const BrioField *field = name ? find_field(fields, name, &offset) : NULL;
    if (!field) {
        char names[512];
        list_names(fields, names, sizeof names);
        return brio__error(error, BRIO_ERROR_ARGUMENT, "no field \"%s\": there are %s",
                           name ? name : "", names[0] ? names : "none");
    }
    if (!value) return brio__error(error, BRIO_ERROR_ARGUMENT, "no value for %s", name);
    const BrioField row[2] = {*field, {0}};
    BrioError inner = {0};
    if (brio__fields_check(row, value, &inner) != BRIO_OK)
        return brio__error(error, BRIO_ERROR_ARGUMENT, "%s", inner.message);
    memcpy(values + offset, value, (size_t)brio__field_width(field) * sizeof *value);
    return BRIO_OK;
}

/* ---- citations -------------------------------------------------------------------------- */

static const struct {
    const char *key, *text;
} citations[] = {
#define X(key, text) {#key, text},
#include "citations.def"
#undef X
};

const char *brio__citation(const char *key)
{
    for (size_t i = 0; i < BRIO_COUNT(citations); i++)
        if (!strcmp(citations[i].key, key)) return citations[i].text;
    return NULL;
}

const char *brio__citation_at(int i)
{
    return i >= 0 && (size_t)i < BRIO_COUNT(citations) ? citations[i].key : NULL;
}
