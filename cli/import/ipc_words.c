/* Lines of a scene of IPC as words, and words as numbers; messages name line and column. */
#include "ipc.h"

#include <string.h>

/* ---- words ------------------------------------------------------------------------------ */

BrioStatus ipc_fail(const Reader *r, int word, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e) *c = '?';
    int column = word < r->words ? (int)(r->word[word] - r->line_start) + 1 : 0;
    return brio__error_at(r->error, BRIO_ERROR_INPUT, r->name, r->line, column, NULL, "%s", text);
}

/* Cuts the next line that holds words into them; false: the file ends. */
bool ipc_next_line(Reader *r)
{
    r->words = r->used = 0;
    bool goes_on = false;
    while (*r->at && (r->words == 0 || goes_on)) {
        char *line = r->at, *end = line + strcspn(line, "\n");
        if (!goes_on) {
            r->line = r->next;
            r->line_start = line;
        }
        r->next++;
        r->at = *end ? end + 1 : end;
        *end = 0;
        goes_on = false;
        for (char *c = line; *c;) {
            c += strspn(c, " \t\r\f\v");
            if (!*c || (r->words == 0 && *c == '#')) break;
            if (*c == '\\' && !c[1 + strspn(c + 1, " \t\r")]) {
                goes_on = true;
                break;
            }
            char *stop = c + strcspn(c, " \t\r\f\v");
            bool last = !*stop;
            *stop = 0;
            if (r->words < MAX_WORDS) r->word[r->words++] = c;
            c = last ? stop : stop + 1;
        }
    }
    return r->words > 0;
}

BrioStatus ipc_take_word(Reader *r, const char *what, const char **word)
{
    *word = "";
    if (r->used >= r->words)
        return ipc_fail(r, r->words, "expected %s after \"%.40s\", found the end of the line", what,
                        r->word[r->words - 1]);
    *word = r->word[r->used++];
    return BRIO_OK;
}

static bool is_number(const char *text, double *value)
{
    char *end;
    *value = brio__text_real(text, &end);
    return end != text && !*end && isfinite(*value);
}

BrioStatus ipc_take_numbers(Reader *r, const char *what, int count, double *value)
{
    for (int i = 0; i < count; i++) {
        const char *word;
        value[i] = 0;
        BRIO_CHECK(ipc_take_word(r, what, &word));
        if (!is_number(word, &value[i]))
            return ipc_fail(r, r->used - 1, "expected %s, a number, found \"%.40s\"", what, word);
    }
    return BRIO_OK;
}

/* A number if one follows. */
bool ipc_take_optional(Reader *r, double *value)
{
    if (r->used >= r->words || !is_number(r->word[r->used], value)) return false;
    r->used++;
    return true;
}

BrioStatus ipc_take_count(Reader *r, const char *what, int max, int *count)
{
    double value;
    *count = 0;
    BRIO_CHECK(ipc_take_numbers(r, what, 1, &value));
    if (value != floor(value) || value < 0 || value > max)
        return ipc_fail(r, r->used - 1, "%s is %g; it must be an integer from 0 to %d", what, value,
                        max);
    *count = (int)value;
    return BRIO_OK;
}

/* The next of the numbers that stand below their keyword, one line after the other. */
BrioStatus ipc_take_below(Reader *r, const char *what, double *value)
{
    *value = 0;
    if (r->used >= r->words && !ipc_next_line(r))
        return brio__error_at(r->error, BRIO_ERROR_INPUT, r->name, r->next, 0, NULL,
                              "expected %s, found the end of the file", what);
    return ipc_take_numbers(r, what, 1, value);
}
