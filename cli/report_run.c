/* report.html of a run: the scene and the verdict in words, the motion, the ledger over
 * time, where the time went, and tables for print. All of it comes from the files in the folder, so
 * that a report can be made of every run, also of one that was killed. */
#include "energy_table.h"
#include "report.h"
#include "results.h"

#include "internal.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TABLE_ROWS = 12 };

typedef struct RunReport {
    const char *folder;
    BrioNode *root; /* run.json */
    EnergyTable ledger;
    BrioMotionFile *motion; /* NULL: none */
    char motion_trouble[1024];
    Report report;
} RunReport;

/* ---- reading ---------------------------------------------------------------------------- */

static double number_at(BrioNode *map, const char *key)
{
    BrioNode *node = map && map->kind == BRIO_NODE_MAP ? brio__node_get(map, key) : NULL;
    double value;
    return node && node->text && brio__node_real(node, &value, NULL) == BRIO_OK ? value : NAN;
}

static const char *text_at(BrioNode *map, const char *key, const char *otherwise)
{
    BrioNode *node = map && map->kind == BRIO_NODE_MAP ? brio__node_get(map, key) : NULL;
    return node && node->text && node->text[0] && strcmp(node->text, "null") ? node->text
                                                                             : otherwise;
}

static BrioNode *map_at(BrioNode *map, const char *key)
{
    BrioNode *node = map && map->kind == BRIO_NODE_MAP ? brio__node_get(map, key) : NULL;
    return node && node->kind == BRIO_NODE_MAP ? node : NULL;
}

static double last_of(const EnergyTable *l, const char *name)
{
    int k = energy_table_column(l, name);
    return k < 0 ? NAN : l->last[k];
}

/* The column, if it says anything: a number that is not zero. */
static const double *telling(const EnergyTable *l, const char *name)
{
    int k = energy_table_column(l, name);
    for (int64_t n = 0; k >= 0 && n < l->rows; n++)
        if (isfinite(l->column[k][n]) && l->column[k][n] != 0) return l->column[k];
    return NULL;
}

/* ---- charts ----------------------------------------------------------------------------- */

typedef struct ChartDef {
    const char *title, *label, *about;
    bool log;
    struct {
        const char *column, *name;
        int colour;
        bool dashed;
    } series[7];
} ChartDef;

#define EXPLOSION "The explosion" /* a chart of runs that exploded */

static const ChartDef charts[] = {
    {"Energy",
     "energy [J]",
     "Total is the sum of the others. The target is the energy that an energy-controlled "
     "integrator aims at.",
     false,
     {{"kinetic", "kinetic", 2, false},
      {"elastic", "elastic", 1, false},
      {"gravity", "gravity", 3, false},
      {"contact", "contact", 4, false},
      {"attachment", "attachments", 6, false},
      {"total", "total", 7, false},
      {"target", "target", 5, true}}},
    {EXPLOSION,
     "energy [J]",
     "All rows of energy.csv, on a logarithmic axis: a straight line is growth by the same factor "
     "in "
     "every step.",
     true,
     {{"kinetic", "kinetic", 2, false}, {"elastic", "elastic", 1, false}}},
    {"Where energy came from and went",
     "energy [J]",
     "Since the start: energy added by moved points and changes, energy removed by damping and "
     "friction, and the remainder, which is the effect of the method.",
     false,
     {{"added", "added", 3, false},
      {"dissipated", "dissipated", 2, false},
      {"remainder", "remainder", 7, false}}},
    {"Linear momentum",
     "momentum [kg m/s]",
     NULL,
     false,
     {{"px", "x", 1, false}, {"py", "y", 2, false}, {"pz", "z", 3, false}}},
    {"Angular momentum",
     "angular momentum [kg m²/s]",
     "About the origin.",
     false,
     {{"lx", "x", 1, false}, {"ly", "y", 2, false}, {"lz", "z", 3, false}}},
    {"alpha",
     "alpha",
     "How an energy-controlled method mixes its momenta.",
     false,
     {{"alpha", "alpha", 1, false}}},
    {"Iterations",
     "iterations per step",
     NULL,
     false,
     {{"iterations", "iterations", 1, false}, {"halvings", "halvings of the step", 2, false}}},
    {"Contacts", "pairs in contact", NULL, false, {{"contacts", "contacts", 1, false}}},
    {"Smallest distance",
     "distance [m]",
     "Of what may touch.",
     true,
     {{"min_distance", "smallest distance", 1, false}}},
};

/* Rows for charts: of a run that exploded those of sane states, or nothing else would be seen. */
static int64_t chart_rows(const RunReport *r, int time)
{
    const EnergyTable *l = &r->ledger;
    BrioNode *explosion = map_at(r->root, "explosion");
    int64_t rows = 0;
    if (!explosion) return l->rows;
    while (rows < l->rows && l->column[time][rows] <= number_at(explosion, "sane_time")) rows++;
    return rows;
}

static void put_charts(RunReport *r)
{
    const EnergyTable *l = &r->ledger;
    int time = energy_table_column(l, "time");
    if (time < 0) return;
    int64_t rows = chart_rows(r, time);
    if (rows < l->rows)
        brio__html_element(r->report.file, "p",
                           "The charts end at the last sane state, except that of the explosion.");
    fputs("<div class=\"figures\">\n", r->report.file);
    for (size_t c = 0; c < BRIO_COUNT(charts); c++) {
        BrioPlotSeries series[BRIO_COUNT(charts[0].series)];
        int count = 0;
        bool explosion = !strcmp(charts[c].title, EXPLOSION);
        if (explosion && rows == l->rows) continue;
        for (size_t k = 0; k < BRIO_COUNT(series) && charts[c].series[k].column; k++) {
            const double *y = telling(l, charts[c].series[k].column);
            if (!y) continue;
            series[count++] = (BrioPlotSeries){.name = charts[c].series[k].name,
                                               .count = explosion ? l->rows : rows,
                                               .x = l->column[time],
                                               .y = y,
                                               .colour = charts[c].series[k].colour,
                                               .dashed = charts[c].series[k].dashed};
        }
        BrioPlot plot = {.title = charts[c].title,
                         .x = {.label = "time [s]"},
                         .y = {.label = charts[c].label, .log = charts[c].log},
                         .series_count = count,
                         .series = series};
        if (count) report_chart(&r->report, &plot, charts[c].about);
    }
    fputs("</div>\n", r->report.file);
}

/* ---- words ------------------------------------------------------------------------------ */

/* What the method did to the energy, against the largest kinetic and elastic energy on the way. */
static void energy_sentence(const EnergyTable *l, char *text, size_t size)
{
    static const char *const parts[] = {"kinetic", "elastic", "contact", "attachment"};
    double largest = 0, remainder = last_of(l, "remainder");
    for (int64_t n = 0; n < l->rows; n++) {
        double sum = 0;
        for (size_t k = 0; k < BRIO_COUNT(parts); k++) {
            int c = energy_table_column(l, parts[k]);
            if (c >= 0 && isfinite(l->column[c][n])) sum += fabs(l->column[c][n]);
        }
        largest = fmax(largest, sum);
    }
    double percent = 100 * remainder / largest;
    text[0] = 0;
    if (!(largest > 0) || !isfinite(percent)) return;
    if (fabs(percent) < 0.05)
        snprintf(text, size,
                 "The method kept the energy to %.1g %% of the largest kinetic and elastic energy "
                 "(%.4g J).",
                 fmax(fabs(percent), 1e-10), largest);
    else
        snprintf(text, size,
                 "The method itself %s %.4g J, %.3g %% of the largest kinetic and elastic energy "
                 "(%.4g J).",
                 percent < 0 ? "took" : "added", fabs(remainder), fabs(percent), largest);
}

/* A run that did not complete says so first: the verdict, then what happened and what helps, one
 * clause a line. */
static void put_trouble(const RunReport *r)
{
    FILE *file = r->report.file;
    const char *verdict = text_at(r->root, "verdict", "unknown");
    const char *reason = text_at(r->root, "reason", "");
    if (!strcmp(verdict, "completed")) return;
    fprintf(file, "<div class=\"verdict bad\" role=\"alert\"><p><strong>%c%s</strong></p>\n<ul>\n",
            toupper((unsigned char)verdict[0]), verdict + 1);
    while (*reason) {
        char clause[1024];
        const char *end = strstr(reason, "; ");
        size_t length = end ? (size_t)(end - reason) : strlen(reason);
        snprintf(clause, sizeof clause, "%.*s", (int)BRIO_MIN(length, sizeof clause - 1), reason);
        clause[0] = (char)toupper((unsigned char)clause[0]);
        brio__html_element(file, "li", "%s.", clause);
        reason += length + (end ? 2 : 0);
    }
    fputs("</ul></div>\n", file);
}

static void put_words(RunReport *r)
{
    FILE *file = r->report.file;
    BrioNode *totals = map_at(r->root, "totals"), *sizes = map_at(r->root, "sizes");
    const EnergyTable *l = &r->ledger;
    const char *verdict = text_at(r->root, "verdict", "unknown");
    char label[256], text[512], wall[32], vertices[32];
    run_label(r->folder, label, sizeof label);
    seconds_text(number_at(map_at(r->root, "wall"), "total"), wall, sizeof wall);
    count_text((int64_t)number_at(sizes, "vertices"), vertices, sizeof vertices);
    double bodies = number_at(sizes, "bodies");
    double steps = number_at(totals, "steps");
    double iterations = number_at(totals, "newton_iterations");
    double halved = number_at(totals, "halved_steps");
    brio__html_element(
        file, "p",
        "%g bod%s with %s vertices, stepped by %s, to t = %.6g s in %g steps and %s of wall time.",
        bodies, bodies == 1 ? "y" : "ies", vertices, label, number_at(totals, "time"), steps, wall);
    bool complete = !strcmp(verdict, "completed");
    fputs(complete ? "<p class=\"verdict\"><strong>Completed</strong>. " : "<p>", file);
    if (!map_at(r->root, "explosion")) {
        energy_sentence(l, text, sizeof text);
        brio__html_text(file, text);
    }
    snprintf(text, sizeof text, " Total energy %.6g J at the start, %.6g J at the end.",
             number_at(totals, "first_energy"), number_at(totals, "last_energy"));
    brio__html_text(file, text);
    double miss = last_of(l, "total") - last_of(l, "target");
    if (isfinite(miss)) {
        snprintf(text, sizeof text,
                 " It ended %.2g J from the energy that the integrator aims at, decay included.",
                 fabs(miss));
        brio__html_text(file, text);
    }
    if (steps > 0 && iterations > 0) {
        snprintf(text, sizeof text, " %.3g solver iterations per step", iterations / steps);
        brio__html_text(file, text);
        if (halved > 0)
            snprintf(text, sizeof text, "; %g steps had to be done in halves.", halved);
        else
            snprintf(text, sizeof text, "; no step had to be halved.");
        brio__html_text(file, text);
    }
    int near = energy_table_column(l, "min_distance");
    double nearest = INFINITY;
    for (int64_t n = 0; near >= 0 && n < l->rows; n++)
        nearest = fmin(nearest, isfinite(l->column[near][n]) ? l->column[near][n] : INFINITY);
    if (isfinite(nearest)) {
        snprintf(text, sizeof text, " The smallest distance was %.3g m.", nearest);
        brio__html_text(file, text);
    }
    fputs("</p>\n", file);
}

/* ---- tables ----------------------------------------------------------------------------- */

static void put_ledger_table(const RunReport *r)
{
    static const struct {
        const char *column, *head, *unit;
    } shown[] = {{"step", "step", ""},
                 {"time", "time", "s"},
                 {"kinetic", "kinetic", "J"},
                 {"elastic", "elastic", "J"},
                 {"gravity", "gravity", "J"},
                 {"contact", "contact", "J"},
                 {"total", "total", "J"},
                 {"target", "target", "J"},
                 {"alpha", "alpha", ""},
                 {"added", "added", "J"},
                 {"dissipated", "dissipated", "J"},
                 {"remainder", "remainder", "J"},
                 {"iterations", "iterations", ""},
                 {"contacts", "contacts", ""},
                 {"min_distance", "distance", "m"}};
    const EnergyTable *l = &r->ledger;
    FILE *file = r->report.file;
    char text[32];
    fputs("<div class=\"scroll\"><table id=\"ledger\">\n<caption class=\"note\">The ledger at some "
          "instants; energy.csv has all.</caption>\n<thead><tr>",
          file);
    for (size_t k = 0; k < BRIO_COUNT(shown); k++)
        if (k < 2 || telling(l, shown[k].column))
            report_head(file, shown[k].head, shown[k].unit, false);
    fputs("</tr></thead>\n<tbody>\n", file);
    int64_t rows = BRIO_MIN(l->rows, TABLE_ROWS + 1);
    for (int64_t i = 0; i < rows; i++) {
        int64_t n = rows > 1 ? i * (l->rows - 1) / (rows - 1) : 0;
        fputs("<tr>", file);
        for (size_t k = 0; k < BRIO_COUNT(shown); k++) {
            int c = energy_table_column(l, shown[k].column);
            if (c < 0 || (k >= 2 && !telling(l, shown[k].column))) continue;
            text[0] = 0;
            if (isfinite(l->column[c][n]))
                snprintf(text, sizeof text, k == 0 ? "%.0f" : "%.5g", l->column[c][n]);
            report_cell(file, "", text);
        }
        fputs("</tr>\n", file);
    }
    fputs("</tbody>\n</table></div>\n", file);
}

static void put_phases(const RunReport *r)
{
    FILE *file = r->report.file;
    BrioNode *wall = map_at(r->root, "wall");
    double total = number_at(wall, "total");
    if (!wall || !(total > 0)) return;
    brio__html_element(file, "h2", "Time by phase");
    fputs("<div class=\"scroll\"><table id=\"phases\">\n<thead><tr>", file);
    report_head(file, "phase", "", true);
    report_head(file, "time", "s", false);
    report_head(file, "fraction", "%", false);
    fputs("<th class=\"words\" aria-hidden=\"true\"></th></tr></thead>\n<tbody>\n", file);
    for (int i = 0; i < wall->count; i++) {
        double seconds = number_at(wall, wall->child[i]->key), percent = 100 * seconds / total;
        char text[32];
        if (!strcmp(wall->child[i]->key, "total") || !(seconds > 0)) continue;
        fputs("<tr>", file);
        report_cell(file, "words", wall->child[i]->key);
        snprintf(text, sizeof text, "%.3g", seconds);
        report_cell(file, "", text);
        snprintf(text, sizeof text, "%.1f", percent);
        report_cell(file, "", text);
        fprintf(file,
                "<td class=\"words\" aria-hidden=\"true\"><span class=\"bar\" "
                "style=\"width:%.1frem\"></span></td></tr>\n",
                0.16 * percent);
    }
    fputs("</tbody>\n</table></div>\n", file);
}

static void put_scene(const RunReport *r)
{
    FILE *file = r->report.file;
    BrioNode *scene = map_at(r->root, "scene");
    char *text = NULL;
    size_t size = 0;
    FILE *memory = scene ? open_memstream(&text, &size) : NULL;
    if (!memory) return;
    BrioStatus status = brio__tree_json(scene, 0, memory);
    if (brio__text_close(memory, &text) == BRIO_OK && status == BRIO_OK) {
        brio__html_element(file, "h2", "The scene");
        fputs("<details><summary>As it was run (run.json)</summary><pre><code>", file);
        brio__html_text(file, text);
        fputs("</code></pre></details>\n", file);
    }
    free(text);
}

/* ---- the page --------------------------------------------------------------------------- */

static BrioStatus write_page(RunReport *r, FILE *file)
{
    const char *title = text_at(r->root, "title", "A run of brio"), *label = title;
    report_begin(&r->report, file, title);
    brio__html_element(file, "h1", "%s", title);
    put_trouble(r);
    put_words(r);
    if (r->motion)
        report_motions(&r->report, &r->motion, &label, 1);
    else
        brio__html_element(file, "p class=\"note\"", "The motion is not shown: %s.",
                           r->motion_trouble);
    brio__html_element(file, "h2", "Energy, momentum, work");
    if (r->ledger.every > 1)
        brio__html_element(file, "p class=\"note\"",
                           "Of %lld rows in energy.csv every %lld%s is drawn.",
                           (long long)r->ledger.all_rows, (long long)r->ledger.every,
                           report_ordinal(r->ledger.every));
    put_charts(r);
    put_phases(r);
    brio__html_element(file, "h2", "The ledger");
    put_ledger_table(r);
    put_scene(r);
    brio__html_element(
        file, "p class=\"note\"",
        "brio %s, %s threads, %s, scene file %s. Next to this page: energy.csv (every step), "
        "run.json, %s (the motion; `brio render` makes pictures and films of it).",
        text_at(r->root, "version", "?"), text_at(r->root, "threads", "?"),
        text_at(r->root, "isa", "?"), text_at(r->root, "scene_file", "?"), BRIO_MOTION_NAME);
    return report_end(&r->report);
}

BrioStatus report_of_run(const char *folder, BrioError *error)
{
    RunReport r = {.folder = folder};
    BrioFolder out = {.fd = -1};
    BrioError trouble = {0};
    char path[4200];
    FILE *file = NULL;
    snprintf(path, sizeof path, "%s/run.json", folder);
    BrioStatus status = brio__tree_read(path, &r.root, error);
    if (status == BRIO_OK) status = energy_table_read(folder, &r.ledger, error);
    if (status == BRIO_OK && brio__motion_open(folder, &r.motion, &trouble) != BRIO_OK)
        snprintf(r.motion_trouble, sizeof r.motion_trouble, "%s", trouble.message);
    if (status == BRIO_OK) status = brio__folder_open(folder, false, &out, error);
    if (status == BRIO_OK) status = brio__replace_begin(&out, "report.html", &file, error);
    if (status == BRIO_OK) {
        BrioStatus written = write_page(&r, file);
        status = brio__replace_end(&out, "report.html", file, false, error);
        if (written != BRIO_OK) {
            unlinkat(out.fd, "report.html", 0);
            status = brio__error(error, written, "%s/report.html: %s", folder,
                                 brio_status_text(written));
        }
    }
    brio__folder_close(&out);
    brio__motion_free(r.motion);
    energy_table_free(&r.ledger);
    brio__tree_free(r.root);
    return status;
}
