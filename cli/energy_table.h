/* energy.csv of a run, read by columns: for reports and pictures. */
#ifndef BRIO_ENERGY_TABLE_H
#define BRIO_ENERGY_TABLE_H

#include "commands.h"

enum { MAX_COLUMNS = 96, MAX_ROWS = 5000 };

/* Long runs are thinned to MAX_ROWS rows; the last one is always there. */
typedef struct EnergyTable {
    int column_count;
    char name[MAX_COLUMNS][64];
    double *column[MAX_COLUMNS];
    int64_t rows, all_rows, every;
    double last[MAX_COLUMNS];
} EnergyTable;

/* `table` is zero before. It is freed also if reading fails. */
BrioStatus energy_table_read(const char *folder, EnergyTable *table, BrioError *error);
void energy_table_free(EnergyTable *table);
/* The number of a column by name; -1: there is none. */
int energy_table_column(const EnergyTable *table, const char *name);

#endif
