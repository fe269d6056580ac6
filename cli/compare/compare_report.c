/* The output of `brio compare`: tables on the terminal, compare.csv, compare.json, plots,
 * report.html. */
#include "compare_parts.h"
#include "report.h"
#include "table.h"

#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *key, *head, *unit;
    int table, digits;
} quantities[QUANTITY_COUNT] = {
#define X(symbol, key, head, unit, table, digits) [symbol] = {key, head, unit, table, digits},
    QUANTITY_LIST(X)
#undef X
};

static const char *const outcome_names[] = {"not run",  "refused", "completed",
                                            "exploded", "failed",  "stopped"};
const char *trial_outcome_name(TrialOutcome outcome) { return outcome_names[outcome]; }

/* ---- words ------------------------------------------------------------------------------ */

static bool has(const Comparison *c, Quantity q)
{
    for (int i = 0; i < c->trial_count; i++)
        if (!isnan(c->trial[i].value[q])) return true;
    return false;
}

static const char *reference_mark(const Comparison *c, const Trial *t)
{
    return t == c->reference ? " (reference)" : "";
}

/* Energy is judged by the remainder: what damping takes and scripts bring is not the method's. */
void trial_verdict(const Comparison *c, const Trial *t, char *text, size_t size)
{
    double percent = t->value[REMAINDER_PERCENT], above = t->value[ABOVE_PERCENT];
    if (t->outcome == TRIAL_EXPLODED) {
        snprintf(text, size, "exploded at %.3g s", t->value[REACHED]);
        return;
    }
    if (t->outcome == TRIAL_FAILED || t->outcome == TRIAL_STOPPED) {
        snprintf(text, size, "%s at %.3g s", t->outcome == TRIAL_FAILED ? "failed" : "stopped",
                 t->value[REACHED]);
        return;
    }
    if (t->outcome != TRIAL_COMPLETED || isnan(percent)) {
        snprintf(text, size, "%s",
                 t->outcome == TRIAL_COMPLETED ? "completed; there is no energy to compare with"
                                               : trial_outcome_name(t->outcome));
        return;
    }
    int used;
    if (fabs(percent) < 0.05)
        used = snprintf(text, size, "keeps its energy to %.1g %%", fmax(fabs(percent), 1e-10));
    else if (percent > 1000)
        used = snprintf(text, size, "gains %.3g J, %.3g times the energy", t->value[REMAINDER],
                        percent / 100);
    else if (percent > 0)
        used = snprintf(text, size, "gains %.3g J (%.3g %%)", t->value[REMAINDER], percent);
    else if (c->scale_is_first && percent > -100)
        used = snprintf(text, size, "keeps %.3g %% of its energy", 100 + percent);
    else
        used = snprintf(text, size, "loses %.3g J (%.3g %%)", -t->value[REMAINDER], -percent);
    if (t->value[DISSIPATED] != 0)
        used += snprintf(text + used, size - (size_t)used, ", damping aside");
    if (above > 1000 && above > 2 * fabs(percent))
        snprintf(text + used, size - (size_t)used,
                 ", up to %.3g times the energy above the initial one during the run", above / 100);
    else if (above > 5 && above > 2 * fabs(percent))
        snprintf(text + used, size - (size_t)used,
                 ", up to %.3g %% above the initial one during "
                 "the run",
                 above);
}

int comparison_notes(const Comparison *c, char text[MAX_NOTES][512])
{
    int count = 0;
    bool exploded = false, failed = c->reference && c->reference->outcome != TRIAL_COMPLETED;
    double finest = c->size[c->size_count - 1].h;
    if (c->scale_is_first)
        snprintf(
            text[count++], sizeof text[0],
            "%% are of %.5g J, the kinetic and elastic energy of the initial state (attachments "
            "and contact included).",
            c->scale);
    else if (!isnan(c->scale))
        snprintf(text[count++], sizeof text[0],
                 "%% are relative to %.5g J, the largest kinetic and elastic energy during the "
                 "run (attachments and contact included; the median of all trials that reached "
                 "the end), without the energy of gravity.",
                 c->scale);
    for (int i = 0; i < c->trial_count; i++) exploded |= c->trial[i].outcome == TRIAL_EXPLODED;
    if (exploded)
        snprintf(text[count++], sizeof text[0],
                 "Exploded: kinetic and elastic energy beyond %g times the sum of the initial "
                 "energy and what gravity and moved points can add.",
                 TRIAL_EXPLOSION);
    if (c->is_known && !c->keeps_linear && !c->keeps_angular)
        snprintf(text[count++], sizeof text[0],
                 "The scene does not keep momentum (gravity, fixed vertices, obstacles or "
                 "damping), so its change means nothing.");
    if (c->reference && !failed && has(c, ERROR))
        snprintf(text[count++], sizeof text[0],
                 "Errors are against %s with h = %s s: positions of all vertices at the end, root "
                 "mean square weighted by mass.",
                 c->reference->method->label, c->reference->size->text);
    if (has(c, NEAR_TOTAL))
        snprintf(
            text[count++], sizeof text[0],
            "The last table is how far each is off the reference, the root mean square over %lld "
            "instants: momenta in %% of what the mass has with the energy that %% are of; "
            "spectrum: 0 %% has the same vibration up to %.3g Hz, 100 %% none in common.%s",
            (long long)c->track_count, 0.5 / c->track_step,
            c->reference_was_kept ? " The reference is that of an earlier comparison." : "");
    if (failed)
        snprintf(
            text[count++], sizeof text[0],
            "The reference %s with h = %s s did not reach the end (%s): errors are not against it.",
            c->reference->method->label, c->reference->size->text,
            trial_outcome_name(c->reference->outcome));
    if (c->reference && !failed && has(c, ERROR) && c->reference->size->h > 0.3 * finest)
        snprintf(text[count++], sizeof text[0],
                 "The step of the reference is not much smaller than %s s: errors there include "
                 "those of the reference.",
                 c->size[c->size_count - 1].text);
    if (c->errors_are_estimates)
        snprintf(text[count++], sizeof text[0],
                 "Errors are estimates: each method against the positions to which its own three "
                 "smallest steps converge (all vertices at the end, root "
                 "mean square weighted by mass).");
    return count;
}

/* Why a trial did not complete, in full; false: it did, or the trial before (the same method with a
 * larger step) has said the same. */
static bool reason_line(const Comparison *c, const Trial *t, char *text, size_t size)
{
    if (!t->reason[0] ||
        (t > c->trial && t[-1].method == t->method && !strcmp(t[-1].reason, t->reason)))
        return false;
    if (t->outcome == TRIAL_REFUSED)
        snprintf(text, size, "%s: refused: %s", t->method->label, t->reason);
    else
        snprintf(text, size, "%s, h = %s: %s", t->method->label, t->size->text, t->reason);
    return true;
}

/* A number as in the tables, or nothing. */
static const char *number_text(const Trial *t, Quantity q, char text[32])
{
    text[0] = 0;
    if (!isnan(t->value[q])) snprintf(text, 32, "%.*g", quantities[q].digits, t->value[q]);
    return text;
}

/* ---- the terminal ----------------------------------------------------------------------- */

/* At most so many letters, the last a dot where more followed. */
static void short_label(const Comparison *c, const Trial *t, char text[200])
{
    enum { MAX = 24 };
    snprintf(text, 200, "%s%s", t->method->label, reference_mark(c, t));
    if (strlen(text) <= MAX) return;
    int at = MAX - 1;
    while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80) at--;
    snprintf(text + at, 200 - (size_t)at, "…");
}

/* Columns that no trial has anything for are left out. */
static void print_table(const Comparison *c, int which)
{
    TableColumn columns[QUANTITY_COUNT + 3] = {{"integrator", NULL, true}, {"h", "s", false}};
    Quantity shown[QUANTITY_COUNT];
    int count = 0;
    char label[200], text[32];
    for (int q = 0; q < QUANTITY_COUNT; q++) {
        if (quantities[q].table != which || !has(c, (Quantity)q)) continue;
        columns[2 + count] = (TableColumn){quantities[q].head, quantities[q].unit, false};
        shown[count++] = (Quantity)q;
    }
    bool outcome = which == ENERGY_TABLE;
    if (count == 0 && !outcome) return;
    if (outcome) columns[2 + count] = (TableColumn){"outcome", NULL, true};
    Table table = {.columns = 2 + count + outcome, .column = columns};
    for (int i = 0; i < c->trial_count; i++) {
        const Trial *t = &c->trial[i];
        short_label(c, t, label);
        table_cell(&table, "%s", label);
        table_cell(&table, "%s", t->size->text);
        for (int k = 0; k < count; k++) table_cell(&table, "%s", number_text(t, shown[k], text));
        if (outcome) table_cell(&table, "%s", trial_outcome_name(t->outcome));
    }
    table_print(&table, stdout, 2);
    putchar('\n');
}

void comparison_print(const Comparison *c)
{
    char text[MAX_NOTES][512], line[1600];
    printf("%s%s%d integrator%s, %d step size%s, to t = %g s\n\n", c->scene->title,
           c->scene->title[0] ? ": " : "", c->method_count, c->method_count == 1 ? "" : "s",
           c->size_count, c->size_count == 1 ? "" : "s", c->scene->end);
    print_table(c, ENERGY_TABLE);
    print_table(c, COST_TABLE);
    print_table(c, NEAR_TABLE);
    for (int i = 0; i < c->trial_count; i++)
        if (reason_line(c, &c->trial[i], line, sizeof line)) print_wrapped(stdout, line, 2, 110);
    int count = comparison_notes(c, text);
    for (int i = 0; i < count; i++) print_wrapped(stdout, text[i], 2, 110);
    printf("\n  %s/report.html  table, plots and scene: open it in a browser\n  %s/compare.csv, "
           "compare.json  all numbers\n",
           c->out, c->out);
}

/* ---- tables as files -------------------------------------------------------------------- */

static void csv_text(FILE *file, const char *text)
{
    bool quoted = strpbrk(text, ",\"\n\r") != NULL;
    if (quoted) fputc('"', file);
    for (; *text; text++) {
        if (*text == '"') fputc('"', file);
        fputc(*text, file);
    }
    if (quoted) fputc('"', file);
}

static BrioStatus write_csv(const Comparison *c, FILE *file)
{
    char verdict[200];
    fputs("integrator,h,outcome", file);
    for (int q = 0; q < QUANTITY_COUNT; q++) fprintf(file, ",%s", quantities[q].key);
    fputs(",reference,verdict,reason\n", file);
    for (int i = 0; i < c->trial_count; i++) {
        const Trial *t = &c->trial[i];
        csv_text(file, t->method->label);
        fprintf(file, ",%.17g,%s", t->size->h, trial_outcome_name(t->outcome));
        for (int q = 0; q < QUANTITY_COUNT; q++) {
            fputc(',', file);
            if (!isnan(t->value[q])) fprintf(file, "%.17g", t->value[q]);
        }
        trial_verdict(c, t, verdict, sizeof verdict);
        fprintf(file, ",%d,", t == c->reference);
        csv_text(file, verdict);
        fputc(',', file);
        csv_text(file, t->reason);
        fputc('\n', file);
    }
    return BRIO_OK;
}

static void json_trial(const Comparison *c, const Trial *t, BrioJson *json)
{
    char verdict[200];
    trial_verdict(c, t, verdict, sizeof verdict);
    brio__json_open(json, NULL, '{');
    brio__json_text(json, "integrator", t->method->label);
    brio__json_text(json, "set", t->method->assignment);
    brio__json_real(json, "h", t->size->h);
    brio__json_boolean(json, "reference", t == c->reference);
    brio__json_text(json, "outcome", trial_outcome_name(t->outcome));
    brio__json_text(json, "verdict", verdict);
    brio__json_text(json, "reason", t->reason[0] ? t->reason : NULL);
    for (int q = 0; q < QUANTITY_COUNT; q++) {
        bool counts = q == STEPS || q == NEWTON || q == HALVED;
        if (counts && !isnan(t->value[q]))
            brio__json_integer(json, quantities[q].key, (int64_t)t->value[q]);
        else
            brio__json_real(json, quantities[q].key, t->value[q]);
    }
    brio__json_close(json, '}');
}

void comparison_json(const Comparison *c, FILE *file)
{
    BrioJson json = {.file = file};
    char text[MAX_NOTES][512];
    bool complete = true;
    for (int i = 0; i < c->trial_count; i++)
        complete &= c->trial[i].outcome != TRIAL_WAITING && c->trial[i].outcome != TRIAL_STOPPED;
    brio__json_open(&json, NULL, '{');
    brio__json_text(&json, "title", c->scene->title);
    brio__json_text(&json, "out", c->out);
    brio__json_boolean(&json, "complete", complete);
    brio__json_text(&json, "version", brio_version());
    brio__json_text(&json, "isa", brio_isa());
    brio__json_integer(&json, "threads", brio_threads());
    brio__json_real(&json, "end", c->scene->end);
    brio__json_real(&json, "percent_of", c->scale);
    brio__json_text(&json, "percent_of_what",
                    isnan(c->scale)     ? NULL
                    : c->scale_is_first ? "first kinetic and elastic energy"
                                        : "largest kinetic and elastic energy, median");
    brio__json_boolean(&json, "keeps_momentum", c->keeps_linear);
    brio__json_boolean(&json, "keeps_angular_momentum", c->keeps_angular);
    brio__json_text(&json, "errors",
                    !has(c, ERROR)            ? NULL
                    : c->errors_are_estimates ? "extrapolation"
                                              : "reference");
    brio__json_open(&json, "trials", '[');
    for (int i = 0; i < c->trial_count; i++) json_trial(c, &c->trial[i], &json);
    brio__json_close(&json, ']');
    brio__json_open(&json, "notes", '[');
    int count = comparison_notes(c, text);
    for (int i = 0; i < count; i++) brio__json_text(&json, NULL, text[i]);
    brio__json_close(&json, ']');
    brio__json_text(&json, "scene_file", c->scene->file);
    brio__json_key(&json, "scene");
    brio__tree_json(c->scene->tree, 2, file);
    brio__json_close(&json, '}');
}

static BrioStatus write_json(const Comparison *c, FILE *file)
{
    comparison_json(c, file);
    return BRIO_OK;
}

/* ---- report.html ------------------------------------------------------------------------ */

static void html_table(const Comparison *c, int which, FILE *file)
{
    char label[200], text[1500];
    bool shown[QUANTITY_COUNT];
    fputs("<div class=\"scroll\"><table>\n<thead><tr>", file);
    report_head(file, "integrator", "", true);
    report_head(file, "h", "s", false);
    if (which == ENERGY_TABLE) report_head(file, "verdict", "", true);
    for (int q = 0; q < QUANTITY_COUNT; q++) {
        shown[q] = quantities[q].table == which && has(c, (Quantity)q);
        if (shown[q]) report_head(file, quantities[q].head, quantities[q].unit, false);
    }
    fputs("</tr></thead>\n<tbody>\n", file);
    for (int i = 0; i < c->trial_count; i++) {
        const Trial *t = &c->trial[i];
        snprintf(label, sizeof label, "%s%s", t->method->label, reference_mark(c, t));
        fputs("<tr>", file);
        report_cell(file, "words", label);
        report_cell(file, "", t->size->text);
        if (which == ENERGY_TABLE) {
            trial_verdict(c, t, text, sizeof text);
            report_cell(file, t->outcome == TRIAL_COMPLETED ? "words long" : "words long bad",
                        text);
        }
        for (int q = 0; q < QUANTITY_COUNT; q++)
            if (shown[q]) report_cell(file, "", number_text(t, (Quantity)q, text));
        fputs("</tr>\n", file);
    }
    fputs("</tbody>\n</table></div>\n", file);
}

/* The file as the user wrote it, and what the command line changed of it. */
static void html_scene(const Comparison *c, FILE *file)
{
    char text[4097];
    size_t got;
    brio__html_element(file, "h2", "The scene");
    if (c->given.set_count) {
        fputs("<p>Changed on the command line:", file);
        for (int i = 0; i < c->given.set_count; i++) {
            fputs(i ? ", <code>" : " <code>", file);
            brio__html_text(file, c->given.sets[i]);
            fputs("</code>", file);
        }
        fputs("</p>\n", file);
    }
    FILE *scene = fopen(c->scene->file, "r");
    if (!scene) {
        brio__html_element(file, "p", "%s cannot be read any more; compare.json holds it.",
                           c->scene->file);
        return;
    }
    fputs("<pre><code>", file);
    while ((got = fread(text, 1, sizeof text - 1, scene)) > 0) {
        text[got] = 0;
        brio__html_text(file, text);
    }
    fputs("</code></pre>\n", file);
    fclose(scene);
}

/* The trials whose motion was kept, side by side. */
static void html_motions(const Comparison *c, Report *report)
{
    BrioMotionFile *motion[REPORT_MAX_RUNS];
    char label[REPORT_MAX_RUNS][320];
    const char *labels[REPORT_MAX_RUNS];
    int count = 0, left_out = 0;
    for (int i = 0; i < c->trial_count; i++) {
        const Trial *t = &c->trial[i];
        if (t->outcome == TRIAL_WAITING || t->outcome == TRIAL_REFUSED) continue;
        if (!t->motion || count == REPORT_MAX_RUNS) {
            left_out++;
            continue;
        }
        int used = snprintf(label[count], sizeof label[0],
                            c->size_count > 1 || c->is_extra ? "%s, h = %s s" : "%s",
                            t->method->label, t->size->text);
        if (t->outcome == TRIAL_EXPLODED || t->outcome == TRIAL_FAILED)
            snprintf(label[count] + used, sizeof label[0] - (size_t)used, ": %s at %.3g s",
                     trial_outcome_name(t->outcome), t->value[REACHED]);
        labels[count] = label[count];
        motion[count++] = t->motion;
    }
    report_motions(report, motion, labels, count);
    if (count && left_out)
        brio__html_element(report->file, "p class=\"note\"",
                           "Each method is shown with its largest step; the motion of %d other "
                           "trials is not shown.",
                           left_out);
}

/* First of all: what exploded or failed. */
static void html_outcomes(const Comparison *c, FILE *file)
{
    static const TrialOutcome bad[] = {TRIAL_EXPLODED, TRIAL_FAILED};
    for (size_t b = 0; b < BRIO_COUNT(bad); b++) {
        const Method *last = NULL;
        bool begun = false;
        for (int i = 0; i < c->trial_count; i++) {
            const Trial *t = &c->trial[i];
            if (t->outcome != bad[b]) continue;
            if (!begun)
                fprintf(file, "<p class=\"verdict bad\"><strong>%s</strong>: ",
                        bad[b] == TRIAL_EXPLODED ? "Exploded" : "Failed");
            if (t->method != last) {
                fputs(begun ? "; " : "", file);
                brio__html_text(file, t->method->label);
                fputs(" with h = ", file);
            } else {
                fputs(", ", file);
            }
            fprintf(file, "%s", t->size->text);
            last = t->method;
            begun = true;
        }
        if (begun) fputs(" s.</p>\n", file);
    }
}

static BrioStatus write_html(const Comparison *c, FILE *file)
{
    char notes[MAX_NOTES][512], line[1600];
    const char *title = c->scene->title[0] ? c->scene->title : c->given.name;
    bool drawn;
    Report report;
    report_begin(&report, file, title);
    brio__html_element(file, "h1", "%s: integrators compared", title);
    brio__html_element(
        file, "p",
        "%d integrator%s with %d step size%s each, from the same initial state to t = %g s.",
        c->method_count, c->method_count == 1 ? "" : "s", c->size_count,
        c->size_count == 1 ? "" : "s", c->scene->end);
    html_outcomes(c, file);
    html_motions(c, &report);
    brio__html_element(file, "h2", "Energy");
    html_table(c, ENERGY_TABLE, file);
    for (int i = 0; i < c->trial_count; i++)
        if (reason_line(c, &c->trial[i], line, sizeof line))
            brio__html_element(file, "p class=\"note\"", "%s", line);
    brio__html_element(file, "h2", "Momentum, accuracy, cost");
    html_table(c, COST_TABLE, file);
    if (has(c, NEAR_TOTAL)) {
        brio__html_element(file, "h2", "Distance from the reference");
        html_table(c, NEAR_TABLE, file);
    }
    int count = comparison_notes(c, notes);
    for (int i = 0; i < count; i++) brio__html_element(file, "p class=\"note\"", "%s", notes[i]);
    brio__html_element(file, "h2", "Plots");
    fputs("<div class=\"figures\">\n", file);
    BrioStatus status = BRIO_OK;
    for (size_t i = 0; status == BRIO_OK && comparison_picture(i); i++)
        status = comparison_draw(c, i, NULL, &report, &drawn);
    fputs("</div>\n", file);
    html_scene(c, file);
    brio__html_element(file, "p class=\"note\"",
                       "brio %s, %d threads, %s. Change: total energy at the end minus the "
                       "initial one; above: its largest excess over the initial one; remainder: "
                       "the part of the change that neither damping nor scripted motion explains; "
                       "unfinished: the part of the remainder that the solver left over. All "
                       "numbers: compare.csv, compare.json.",
                       brio_version(), brio_threads(), brio_isa());
    BrioStatus ended = report_end(&report);
    return status == BRIO_OK ? ended : status;
}

/* ---- files ------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    BrioStatus (*write)(const Comparison *comparison, FILE *file);
} documents[] = {
    {"compare.csv", write_csv}, {"compare.json", write_json}, {"report.html", write_html}};

BrioStatus comparison_refuse_existing(const BrioFolder *folder, BrioError *error)
{
    struct stat info;
    for (size_t i = 0;; i++) {
        const char *name = i < BRIO_COUNT(documents)
                               ? documents[i].name
                               : comparison_picture(i - BRIO_COUNT(documents));
        if (!name) return BRIO_OK;
        if (fstatat(folder->fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0)
            return brio__error(
                error, BRIO_ERROR_EXISTS,
                "%s/%s already exists: --force replaces it, -o chooses another folder",
                folder->path, name);
    }
}

static BrioStatus close_file(const BrioFolder *folder, const char *name, FILE *file,
                             BrioStatus status, BrioError *error)
{
    BrioStatus closed = brio__replace_end(folder, name, file, false, error);
    if (status == BRIO_OK) return closed;
    unlinkat(folder->fd, name, 0);
    return brio__error(error, status, "%s/%s: %s", folder->path, name, brio_status_text(status));
}

BrioStatus comparison_write(const Comparison *c, const BrioFolder *folder, BrioError *error)
{
    FILE *file;
    bool drawn;
    for (size_t i = 0; i < BRIO_COUNT(documents); i++) {
        BRIO_CHECK(brio__replace_begin(folder, documents[i].name, &file, error));
        BRIO_CHECK(close_file(folder, documents[i].name, file, documents[i].write(c, file), error));
    }
    const char *name;
    for (size_t i = 0; (name = comparison_picture(i)); i++) {
        BrioStatus status = comparison_draw(c, i, NULL, NULL, &drawn);
        if (status != BRIO_OK) return brio__error(error, status, "%s", brio_status_text(status));
        if (!drawn) {
            unlinkat(folder->fd, name, 0);
            continue;
        }
        BRIO_CHECK(brio__replace_begin(folder, name, &file, error));
        BRIO_CHECK(
            close_file(folder, name, file, comparison_draw(c, i, file, NULL, &drawn), error));
    }
    return BRIO_OK;
}
