#include "csv.h"

#include "../number.h"

#include <string.h>

/* The columns that users rely on come first, in this order; new ones go to the end. */
static const char head[] =
    "step,time,kinetic,elastic,gravity,contact,potential,total,target,alpha,added,dissipated,px,py,pz,lx,ly,lz,"
    "comx,comy,comz,iterations,contacts,min_distance,attachment,halvings,rods\n";

typedef struct Row {
    char text[1024];
    size_t used;
} Row;

static void add_real(Row *row, double value)
{
    if (row->used) row->text[row->used++] = ',';
    if (!isnan(value))
        row->used += (size_t)snprintf(row->text + row->used, sizeof row->text - row->used, "%.17g", value);
}

static void add_integer(Row *row, int64_t value)
{
    row->used += (size_t)snprintf(row->text + row->used, sizeof row->text - row->used, "%s%lld", row->used ? "," : "",
                                  (long long)value);
}

BrioStatus brio__energy_head(BrioWriter *writer, BrioError *error)
{
    return brio__writer_put(writer, head, sizeof head - 1, error);
}

BrioStatus brio__energy_row(BrioWriter *writer, const BrioLedger *l, int halvings, BrioError *error)
{
    const double parts[] = {l->time,  l->kinetic, l->elastic, l->gravity, l->contact,   l->potential,
                            l->total, l->target,  l->alpha,   l->added,   l->dissipated};
    Row row = {.used = 0};
    add_integer(&row, l->step);
    for (size_t i = 0; i < BRIO_COUNT(parts); i++) add_real(&row, parts[i]);
    for (int r = 0; r < 3; r++) add_real(&row, l->momentum[r]);
    for (int r = 0; r < 3; r++) add_real(&row, l->angular[r]);
    for (int r = 0; r < 3; r++) add_real(&row, l->centre[r]);
    add_integer(&row, l->iterations);
    add_integer(&row, l->contacts);
    add_real(&row, l->min_distance);
    add_real(&row, l->attachment);
    add_integer(&row, halvings);
    add_real(&row, l->rods);
    row.text[row.used++] = '\n';
    return brio__writer_put(writer, row.text, row.used, error);
}

BrioStatus brio__probes_head(BrioWriter *writer, const BrioScene *scene, BrioError *error)
{
    BRIO_CHECK(brio__writer_put(writer, "step,time", 9, error));
    for (int i = 0; i < scene->probe_count; i++)
        for (int r = 0; r < 3; r++) {
            const char *name = scene->probe[i].name, column[3] = {'.', (char)('x' + r), 0};
            BRIO_CHECK(brio__writer_put(writer, ",", 1, error));
            BRIO_CHECK(brio__writer_put(writer, name, strlen(name), error));
            BRIO_CHECK(brio__writer_put(writer, column, 2, error));
        }
    return brio__writer_put(writer, "\n", 1, error);
}

BrioStatus brio__probes_row(BrioWriter *writer, const BrioScene *scene, const BrioSystem *system, int64_t step,
                            double time, const double *x, BrioError *error)
{
    char text[128];
    int used = snprintf(text, sizeof text, "%lld,%.17g", (long long)step, time);
    BRIO_CHECK(brio__writer_put(writer, text, (size_t)used, error));
    for (int i = 0; i < scene->probe_count; i++) {
        const double *point = x + 3 * (system->body[scene->probe[i].body].first + scene->probe[i].vertex);
        used = snprintf(text, sizeof text, ",%.17g,%.17g,%.17g", point[0], point[1], point[2]);
        BRIO_CHECK(brio__writer_put(writer, text, (size_t)used, error));
    }
    return brio__writer_put(writer, "\n", 1, error);
}

void brio__state_csv(FILE *file, const BrioBody *body, const double *x, const double *v)
{
    locale_t before = brio__c_locale_enter();
    fputs("x,y,z,vx,vy,vz\n", file);
    for (int64_t k = body->first; k < body->first + body->count; k++)
        fprintf(file, "%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", x[3 * k], x[3 * k + 1], x[3 * k + 2], v[3 * k],
                v[3 * k + 1], v[3 * k + 2]);
    brio__c_locale_leave(before);
}
