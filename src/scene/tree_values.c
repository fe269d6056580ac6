/* Numbers, booleans, texts and lists of nodes, one by one and by field tables. A number is a
 * decimal or a fraction of two: 1/30, 2.5e-3. */
#include "node.h"

#include "../field.h"
#include "../number.h"

#include <errno.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- values ----------------------------------------------------------------------------- */

const char *brio__skip_digits(const char *p)
{
    while (isdigit((unsigned char)*p)) p++;
    return p;
}

/* The end of an unsigned decimal number at `p`, or NULL. */
const char *brio__decimal_end(const char *p)
{
    const char *whole = brio__skip_digits(p);
    const char *end = *whole == '.' ? brio__skip_digits(whole + 1) : whole;
    if (end - p == (*whole == '.')) return NULL; /* no digit */
    if (*end == 'e' || *end == 'E') {
        const char *exponent = end + 1 + (end[1] == '+' || end[1] == '-');
        end = brio__skip_digits(exponent);
        if (end == exponent) return NULL;
    }
    return end;
}

BrioNumberKind brio__node_number(const char *text, double *value)
{
    const char *p = text + (*text == '+' || *text == '-');
    const char *word = p + (*p == '.');
    if (!strcasecmp(word, "nan") || !strcasecmp(word, "inf") || !strcasecmp(word, "infinity"))
        return BRIO_NUMBER_INFINITE;
    const char *end = brio__decimal_end(p), *slash = NULL;
    if (end && *end == '/') {
        slash = end;
        end = brio__decimal_end(slash + 1);
    }
    if (!end || *end) return BRIO_NO_NUMBER;
    double top = brio__text_real(text, NULL), bottom = slash ? brio__text_real(slash + 1, NULL) : 1;
    if (bottom == 0) return BRIO_NUMBER_BY_ZERO;
    *value = top / bottom;
    return isfinite(top) && isfinite(bottom) && isfinite(*value) ? BRIO_NUMBER
                                                                 : BRIO_NUMBER_INFINITE;
}

/* A number followed by a unit, such as 16ms or 5 %. */
static bool has_unit(const char *text)
{
    const char *end = brio__decimal_end(text + (*text == '+' || *text == '-'));
    if (!end) return false;
    end += *end == ' ';
    return (isalpha((unsigned char)*end) && *end != 'x') || *end == '%';
}

BrioStatus brio__node_real(const BrioNode *node, double *value, BrioError *error)
{
    if (node->kind != BRIO_NODE_SCALAR || brio__node_is_nothing(node))
        return brio__node_error(node, error, "expected a number, found %s",
                                brio__node_what(node).text);
    double number = 0;
    BrioNumberKind kind = brio__node_number(node->text, &number);
    /* JSON can write a fraction in quotes only */
    if (node->quoted && kind == BRIO_NUMBER && !strchr(node->text, '/'))
        return brio__node_error(node, error,
                                "expected a number, found the text %s; remove the quotes",
                                brio__node_what(node).text);
    if (kind == BRIO_NUMBER_INFINITE)
        return brio__node_error(node, error, "expected a finite number, found %s",
                                brio__node_what(node).text);
    if (kind == BRIO_NUMBER_BY_ZERO)
        return brio__node_error(node, error,
                                "expected a finite number, found a division by zero, %s",
                                brio__node_what(node).text);
    if (kind != BRIO_NUMBER)
        return brio__node_error(node, error, "expected a number, found %s%s",
                                brio__node_what(node).text,
                                has_unit(node->text) ? "; write the number without a unit, in SI"
                                : node->kind == BRIO_NODE_SCALAR && strchr(node->text, '(')
                                    ? "; formulas go into keys named formula (docs/forces.md)"
                                    : "");
    *value = number;
    return BRIO_OK;
}

BrioStatus brio__node_integer(const BrioNode *node, int64_t *value, BrioError *error)
{
    if (node->kind != BRIO_NODE_SCALAR || brio__node_is_nothing(node))
        return brio__node_error(node, error, "expected an integer, found %s",
                                brio__node_what(node).text);
    double number;
    if (!node->quoted && brio__node_number(node->text, &number) == BRIO_NO_NUMBER)
        return brio__node_error(node, error, "expected an integer, found %s",
                                brio__node_what(node).text);
    BRIO_CHECK(brio__node_real(node, &number, error));
    if (number != floor(number))
        return brio__node_error(node, error, "expected an integer, found %s",
                                brio__excerpt(node->text).text);
    const char *first = node->text + (node->text[0] == '+' || node->text[0] == '-');
    bool exact = !*brio__skip_digits(first); /* digits only: no rounding on the way */
    errno = 0;
    long long whole = exact ? strtoll(node->text, NULL, 10) : 0;
    if (errno == ERANGE || (!exact && fabs(number) > 0x1p53))
        return brio__node_error(node, error, "%s is too large for an integer",
                                brio__excerpt(node->text).text);
    *value = exact ? (int64_t)whole : (int64_t)number;
    return BRIO_OK;
}

bool brio__node_is_boolean(const BrioNode *node, bool *value)
{
    if (node->kind != BRIO_NODE_SCALAR || node->quoted) return false;
    *value = !strcasecmp(node->text, "true") || !strcasecmp(node->text, "yes");
    return *value || !strcasecmp(node->text, "false") || !strcasecmp(node->text, "no");
}

BrioStatus brio__node_boolean(const BrioNode *node, bool *value, BrioError *error)
{
    bool result;
    if (!brio__node_is_boolean(node, &result))
        return brio__node_error(node, error, "expected true or false, found %s",
                                brio__node_what(node).text);
    *value = result;
    return BRIO_OK;
}

BrioStatus brio__node_text(const BrioNode *node, const char **value, BrioError *error)
{
    if (node->kind != BRIO_NODE_SCALAR || brio__node_is_nothing(node))
        return brio__node_error(node, error, "expected text, found %s", brio__node_what(node).text);
    *value = node->text;
    return BRIO_OK;
}

BrioStatus brio__node_reals(const BrioNode *node, double *values, int count, BrioError *error)
{
    const char *plural = count == 1 ? "" : "s";
    if (node->kind != BRIO_NODE_LIST)
        return brio__node_error(node, error, "expected a list of %d number%s, found %s", count,
                                plural, brio__node_what(node).text);
    if (node->count != count)
        return brio__node_error(node, error, "expected a list of %d number%s, found %d", count,
                                plural, node->count);
    for (int i = 0; i < count; i++) BRIO_CHECK(brio__node_real(node->child[i], values + i, error));
    return BRIO_OK;
}

/* ---- field tables ----------------------------------------------------------------------- */

/* The complaint of the field table about one value (components `width` wide), at the value's
 * place. */
static BrioStatus check_field(const BrioNode *node, const BrioField *field, const double *values,
                              BrioError *error)
{
    const BrioField table[2] = {*field, {0}};
    BrioError complaint = {0};
    if (brio__fields_check(table, values, &complaint) == BRIO_OK) return BRIO_OK;
    return brio__node_error(node, error, "%s", complaint.message);
}

/* Numbers of a list, or of a list of lists row by row, or one number, after their count. */
static BrioStatus read_list(const BrioNode *node, const BrioField *field, double *values,
                            BrioError *error)
{
    if (node->kind == BRIO_NODE_LIST) {
        for (int i = 0; i < node->count; i++)
            BRIO_CHECK(read_list(node->child[i], field, values, error));
        return BRIO_OK;
    }
    if (values[0] == BRIO_MAX_LIST)
        return brio__node_error(node, error, "%s holds more than %d numbers", field->name,
                                BRIO_MAX_LIST);
    BRIO_CHECK(brio__node_real(node, &values[1 + (int)values[0]], error));
    values[0]++;
    return BRIO_OK;
}

/* Which of the words the node is; -1: none. */
static int read_word(const BrioNode *node, const BrioField *field)
{
    for (int k = 0; node->kind == BRIO_NODE_SCALAR && brio__field_word(field, k).text[0]; k++)
        if (!strcmp(node->text, brio__field_word(field, k).text)) return k;
    return -1;
}

static BrioStatus no_such_word(const BrioNode *node, const BrioField *field, BrioError *error)
{
    BrioWord words[64];
    const char *names[64];
    int count = 0;
    for (; count < 64 && (words[count] = brio__field_word(field, count)).text[0]; count++)
        names[count] = words[count].text;
    const char *nearest =
        node->kind == BRIO_NODE_SCALAR ? brio__nearest(node->text, names, count) : NULL;
    if (nearest)
        return brio__node_error(node, error, "%s cannot be \"%s\"; did you mean \"%s\"?",
                                field->name, node->text, nearest);
    return brio__node_error(node, error, "%s must be one of %s, found %s", field->name, field->unit,
                            brio__node_what(node).text);
}

BrioStatus brio__node_field(const BrioNode *node, const BrioField *field, double *values,
                            BrioError *error)
{
    int64_t whole = 0;
    bool flag = false;
    switch (field->type) {
    case BRIO_REAL:
        if (read_word(node, field) >= 0)
            values[0] = INFINITY;
        else
            BRIO_CHECK(brio__node_real(node, values, error));
        break;
    case BRIO_CHOICE:
        values[0] = read_word(node, field);
        if (values[0] < 0) return no_such_word(node, field, error);
        break;
    case BRIO_LIST: BRIO_CHECK(read_list(node, field, values, error)); break;
    case BRIO_INTEGER:
        BRIO_CHECK(brio__node_integer(node, &whole, error));
        values[0] = (double)whole;
        break;
    case BRIO_BOOLEAN:
        BRIO_CHECK(brio__node_boolean(node, &flag, error));
        values[0] = flag;
        break;
    case BRIO_VECTOR: BRIO_CHECK(brio__node_reals(node, values, 3, error)); break;
    }
    return check_field(node, field, values, error);
}

static bool is_one_of(const char *word, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(word, words[i])) return true;
    return false;
}

static BrioStatus unknown_field(const BrioNode *child, const BrioField *fields,
                                const char *const *also, int also_count, BrioError *error)
{
    int rows = brio__fields_count(fields), count = 0;
    const char **names = brio__alloc((size_t)rows + (size_t)also_count + 1, sizeof *names);
    if (!names) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    for (int i = 0; i < also_count; i++) names[count++] = also[i];
    for (int i = 0; i < rows; i++) names[count++] = fields[i].name;
    BrioStatus status = brio__node_unknown_key(child, names, count, error);
    brio__free(names);
    return status;
}

BrioStatus brio__node_missing(const BrioNode *map, const BrioField *field, BrioError *error)
{
    BrioWord unit = brio__field_unit(field);
    char message[512];
    snprintf(message, sizeof message, "missing key \"%s\"%s%s%s: %s", field->name,
             unit.text[0] ? " (" : "", unit.text, unit.text[0] ? ")" : "",
             field->summary ? field->summary : "it has no default");
    return map ? brio__node_error(map, error, "%s", message)
               : brio__error(error, BRIO_ERROR_INPUT, "%s", message);
}

BrioStatus brio__node_change_fields(BrioNode *map, const BrioField *fields, const char *const *also,
                                    int also_count, double *values, BrioError *error)
{
    if (!also) also_count = 0;
    if (map && map->kind != BRIO_NODE_MAP)
        return brio__node_error(map, error, "expected a map, found %s", brio__node_what(map).text);
    for (int i = 0; map && i < map->count; i++) {
        BrioNode *child = map->child[i];
        const BrioField *field = fields;
        int offset = 0;
        while (field && field->name && strcmp(field->name, child->key))
            offset += brio__field_width(field++);
        if (field && field->name) {
            child->used = true;
            BRIO_CHECK(brio__node_field(child, field, values + offset, error));
        } else if (!is_one_of(child->key, also, also_count)) {
            return unknown_field(child, fields, also, also_count, error);
        }
    }
    const double *value = values;
    for (const BrioField *field = fields; field && field->name;
         value += brio__field_width(field++)) {
        if (!field->required || !isnan(*value)) continue;
        return brio__node_missing(map, field, error);
    }
    return BRIO_OK;
}

BrioStatus brio__node_fields(BrioNode *map, const BrioField *fields, const char *const *also,
                             int also_count, double *values, BrioError *error)
{
    double *value = values;
    brio_fields_defaults(fields, values);
    for (const BrioField *field = fields; field && field->name; value += brio__field_width(field++))
        if (field->required) *value = NAN;
    return brio__node_change_fields(map, fields, also, also_count, values, error);
}
