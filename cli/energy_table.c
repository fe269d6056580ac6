/* energy.csv of a run, read by columns: for reports and pictures. */
#include "energy_table.h"

#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The next whole line: one without its end is still being written, or was when the run was
 * killed. */
static bool next_line(char **line, size_t *room, FILE *file)
{
    ssize_t length = getline(line, room, file);
    return length > 0 && (*line)[length - 1] == '\n';
}

static void read_row(EnergyTable *l, char *line, double *row)
{
    char *at = line;
    for (int k = 0; k < l->column_count; k++) {
        size_t length = strcspn(at, ",\n");
        char end = at[length];
        at[length] = 0;
        row[k] = length ? strtod(at, NULL) : NAN;
        at += length + (end == ',');
        if (end != ',') end = 0;
        if (!end && k + 1 < l->column_count) {
            for (k++; k < l->column_count; k++) row[k] = NAN;
            return;
        }
    }
}

BrioStatus energy_table_read(const char *folder, EnergyTable *l, BrioError *error)
{
    char path[4200], *line = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "%s/energy.csv", folder);
    FILE *file = fopen(path, "r");
    if (!file)
        return brio__error(error, BRIO_ERROR_FILE, "cannot read %s: %s", path, strerror(errno));
    while (next_line(&line, &room, file)) l->all_rows++;
    l->all_rows = BRIO_MAX(l->all_rows - 1, 0);
    l->every = l->all_rows / MAX_ROWS + 1;
    rewind(file);
    BrioStatus status = BRIO_OK;
    if (next_line(&line, &room, file))
        for (char *rest = line, *name;
             l->column_count < MAX_COLUMNS && (name = strsep(&rest, ",\n")) && name[0];)
            snprintf(l->name[l->column_count++], sizeof l->name[0], "%s", name);
    for (int k = 0; status == BRIO_OK && k < l->column_count; k++) {
        l->column[k] = brio__alloc((size_t)(l->all_rows / l->every) + 2, sizeof(double));
        if (!l->column[k]) status = brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    }
    for (int64_t n = 0; status == BRIO_OK && n < l->all_rows && next_line(&line, &room, file);
         n++) {
        if (n % l->every && n + 1 < l->all_rows) continue;
        read_row(l, line, l->last);
        for (int k = 0; k < l->column_count; k++) l->column[k][l->rows] = l->last[k];
        l->rows++;
    }
    free(line);
    fclose(file);
    if (status == BRIO_OK && l->rows == 0)
        status = brio__error(error, BRIO_ERROR_INPUT, "%s has no rows", path);
    return status;
}

int energy_table_column(const EnergyTable *l, const char *name)
{
    for (int k = 0; k < l->column_count; k++)
        if (!strcmp(l->name[k], name)) return k;
    return -1;
}

void energy_table_free(EnergyTable *l)
{
    for (int k = 0; k < l->column_count; k++) brio__free(l->column[k]);
    *l = (EnergyTable){0};
}
