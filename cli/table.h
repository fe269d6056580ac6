/* Tables for the terminal: a row of heads, a row of units if there are any, columns aligned,
 * numbers to the right. */
#ifndef BRIO_TABLE_H
#define BRIO_TABLE_H

#include "internal.h"

typedef struct TableColumn {
    const char *head, *unit; /* unit: NULL or "" if none */
    bool left;               /* words; otherwise to the right, for numbers */
} TableColumn;

/* Start with .columns and .column set and the rest zero; cells are given row by row. */
typedef struct Table {
    int columns;
    const TableColumn *column;
    int64_t count, room; /* cells */
    char **cell;
    bool failed; /* no memory: what could not be kept is printed as ... */
} Table;

void table_cell(Table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* significant ones; "-" for what is not a number */
void table_number(Table *table, double value, int digits);
/* Prints, each line indented, and frees the cells: the table is as at the start. */
void table_print(Table *table, FILE *file, int indent);

#endif
