/* Tables of text with columns as wide as their longest entry. */
#include "table.h"

#include <stdarg.h>

static int letters(const char *text)
{
    int count = 0;
    for (; text && *text; text++) count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

void table_cell(Table *table, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (table->count == table->room) {
        int64_t room = 2 * table->room + 64;
        char **grown =
            brio__realloc(table->cell, (size_t)table->count, (size_t)room, sizeof *grown);
        if (!grown) {
            table->failed = true;
            return;
        }
        table->cell = grown;
        table->room = room;
    }
    table->cell[table->count++] = brio__strdup(text); /* NULL is printed as ... */
}

void table_number(Table *table, double value, int digits)
{
    if (isnan(value))
        table_cell(table, "-");
    else
        table_cell(table, "%.*g", digits, value);
}

/* Blanks at the end of a line are left out. */
static void put(FILE *file, const Table *table, int column, const int *width, const char *text,
                int indent, int *owed)
{
    int pad = width[column] - letters(text);
    bool left = table->column[column].left;
    *owed += column ? 2 : indent;
    if (!left) *owed += pad;
    if (text && text[0]) {
        fprintf(file, "%*s%s", *owed, "", text);
        *owed = 0;
    }
    if (left) *owed += pad;
    if (column == table->columns - 1) {
        fputc('\n', file);
        *owed = 0;
    }
}

void table_print(Table *table, FILE *file, int indent)
{
    enum { MAX = 32 };
    int width[MAX] = {0}, owed = 0;
    bool units = false;
    for (int c = 0; c < table->columns && c < MAX; c++) {
        width[c] = BRIO_MAX(letters(table->column[c].head), letters(table->column[c].unit));
        units |= table->column[c].unit && table->column[c].unit[0];
    }
    for (int64_t i = 0; i < table->count; i++) {
        const char *text = table->cell[i] ? table->cell[i] : "...";
        width[i % table->columns] = BRIO_MAX(width[i % table->columns], letters(text));
    }
    for (int c = 0; c < table->columns; c++)
        put(file, table, c, width, table->column[c].head, indent, &owed);
    for (int c = 0; units && c < table->columns; c++)
        put(file, table, c, width, table->column[c].unit, indent, &owed);
    for (int64_t i = 0; i < table->count; i++)
        put(file, table, (int)(i % table->columns), width, table->cell[i] ? table->cell[i] : "...",
            indent, &owed);
    if (table->count % table->columns) fputc('\n', file);
    if (table->failed) fprintf(file, "%*s(out of memory: the table is not whole)\n", indent, "");
    for (int64_t i = 0; i < table->count; i++) brio__free(table->cell[i]);
    brio__free(table->cell);
    *table = (Table){.columns = table->columns, .column = table->column};
}
