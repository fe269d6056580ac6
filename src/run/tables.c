/* The columns of energy.csv, probes.csv and state.csv, as `%.17g`. */
#include "tables.h"

#include "../number.h"
#include "../sim/ledger.h"

#include <string.h>

/* The columns that users rely on come first, in this order; new ones go to the end. */
static const char head[] =
    "step,time,kinetic,elastic,gravity,contact,potential,total,target,alpha,added,dissipated,px,py,"
    "pz,lx,ly,lz,"
    "comx,comy,comz,iterations,contacts,min_distance,attachment,halvings,remainder,unfinished,rods";

/* A row that the writer will get. */
typedef struct Row {
    BrioWriter *writer;
    BrioError *error;
    BrioStatus status;
    bool begun;
} Row;

static void put(Row *row, const char *text, int length)
{
    if (row->status == BRIO_OK)
        row->status = brio__writer_put(row->writer, text, (size_t)length, row->error);
    row->begun = true;
}

static void add_real(Row *row, double value)
{
    char text[40];
    int used = 0;
    if (row->begun) text[used++] = ',';
    if (!isnan(value)) used += snprintf(text + used, sizeof text - (size_t)used, "%.17g", value);
    put(row, text, used);
}

static void add_integer(Row *row, int64_t value)
{
    char text[40];
    put(row, text, snprintf(text, sizeof text, "%s%lld", row->begun ? "," : "", (long long)value));
}

/* A column of a body, without what would break the table. */
static BrioStatus column(BrioWriter *writer, const char *what, const char *name, BrioError *error)
{
    BRIO_CHECK(brio__writer_put(writer, what, strlen(what), error));
    for (size_t length = strlen(name), at; length > 0; name += at, length -= at) {
        at = strcspn(name, ",\"\n\r");
        if (at == 0) at = 1;
        BRIO_CHECK(brio__writer_put(writer, strchr(",\"\n\r", name[0]) ? "_" : name, at, error));
    }
    return BRIO_OK;
}

/* Bodies whose books are written; with more of them there are none. */
enum { BOOKS = 64 };

static BrioStatus by_body_head(BrioWriter *writer, const BrioSim *sim, BrioError *error)
{
    static const char *const what[] = {",energy.", ",target.", ",alpha.",  ",passed.",
                                       ",lost.",   ",added.",  ",decayed."};
    int count = brio__ledger_accounts(sim);
    for (int c = 0; c < count && count <= BOOKS; c++)
        for (size_t k = 0; k < BRIO_COUNT(what); k++)
            BRIO_CHECK(column(writer, what[k], brio__ledger_account(sim, c), error));
    return BRIO_OK;
}

/* Then what there is of it: elastic energy by body if there are several, dissipation by damping
 * model (numbered if one acts twice). */
BrioStatus brio__energy_head(BrioWriter *writer, const BrioSim *sim, BrioError *error)
{
    const BrioDissipation *losses = sim->stepper->dissipation;
    char text[256];
    BRIO_CHECK(brio__writer_put(writer, head, sizeof head - 1, error));
    for (int b = 0; sim->system->body_count > 1 && b < sim->system->body_count; b++)
        BRIO_CHECK(column(writer, ",elastic.", sim->system->body[b].name, error));
    if (sim->system->force_count) BRIO_CHECK(brio__writer_put(writer, ",forces", 7, error));
    if (sim->control) BRIO_CHECK(brio__writer_put(writer, ",h,rejected", 11, error));
    for (int i = 0; i < losses->count; i++) {
        int earlier = 0;
        for (int k = 0; k < i; k++) earlier += losses->damper[k].model == losses->damper[i].model;
        int used = snprintf(text, sizeof text, ",dissipated.%s", losses->damper[i].model->name);
        if (earlier) used += snprintf(text + used, sizeof text - (size_t)used, ".%d", earlier + 1);
        BRIO_CHECK(brio__writer_put(writer, text, (size_t)used, error));
    }
    BRIO_CHECK(by_body_head(writer, sim, error));
    return brio__writer_put(writer, "\n", 1, error);
}

/* Books by body, where a-search keeps them. */
static void add_by_body(Row *row, const BrioSim *sim)
{
    BrioBodyBooks books[BOOKS];
    int count = brio__ledger_accounts(sim);
    if (count == 0 || count > BOOKS) return;
    brio__ledger_books(sim, books);
    for (int c = 0; c < count; c++) {
        const double numbers[] = {books[c].energy, books[c].target, books[c].alpha,
                                  books[c].passed, books[c].lost,   books[c].added,
                                  books[c].decayed};
        for (size_t k = 0; k < BRIO_COUNT(numbers); k++) add_real(row, numbers[k]);
    }
}

BrioStatus brio__energy_row(BrioWriter *writer, const BrioSim *sim, const BrioLedger *l,
                            BrioError *error)
{
    const BrioSystem *system = sim->system;
    const BrioDissipation *losses = sim->stepper->dissipation;
    const double parts[] = {l->time,    l->kinetic,   l->elastic,   l->gravity,
                            l->contact, l->potential, l->total,     l->target,
                            l->alpha,   l->added,     l->dissipated};
    Row row = {.writer = writer, .error = error};
    add_integer(&row, l->step);
    for (size_t i = 0; i < BRIO_COUNT(parts); i++) add_real(&row, parts[i]);
    for (int r = 0; r < 3; r++) add_real(&row, l->momentum[r]);
    for (int r = 0; r < 3; r++) add_real(&row, l->angular[r]);
    for (int r = 0; r < 3; r++) add_real(&row, l->centre[r]);
    add_integer(&row, l->iterations);
    add_integer(&row, l->contacts);
    add_real(&row, l->min_distance);
    add_real(&row, l->attachment);
    add_integer(&row, sim->stepper->halvings);
    add_real(&row, l->remainder);
    add_real(&row, l->unfinished);
    add_real(&row, l->rods);
    /* as the ledger left them */
    for (int b = 0; system->body_count > 1 && b < system->body_count; b++)
        add_real(&row, brio__body_energy(&system->body[b], sim->term_energy));
    if (system->force_count) add_real(&row, sim->force_energy);
    if (sim->control) {
        BrioSteps steps = brio_sim_steps(sim);
        add_real(&row, l->step > 0 ? steps.h : NAN);
        add_integer(&row, l->step > 0 ? steps.rejected : 0);
    }
    for (int i = 0; i < losses->count; i++) add_real(&row, l->dissipated_by[i]);
    add_by_body(&row, sim);
    put(&row, "\n", 1);
    return row.status;
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

BrioStatus brio__probes_row(BrioWriter *writer, const BrioScene *scene, const BrioSystem *system,
                            int64_t step, double time, const double *x, BrioError *error)
{
    char text[128];
    int used = snprintf(text, sizeof text, "%lld,%.17g", (long long)step, time);
    BRIO_CHECK(brio__writer_put(writer, text, (size_t)used, error));
    for (int i = 0; i < scene->probe_count; i++) {
        const double *point =
            x + 3 * (system->body[scene->probe[i].body].first + scene->probe[i].vertex);
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
        fprintf(file, "%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", x[3 * k], x[3 * k + 1], x[3 * k + 2],
                v[3 * k], v[3 * k + 1], v[3 * k + 2]);
    brio__c_locale_leave(before);
}
