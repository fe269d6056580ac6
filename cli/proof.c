/* The proof of a run: its scene is built again from run.json and stepped to the last row of
 * energy.csv, which every row must equal to the letter (a step is a function of system, state and
 * h, so the replay is the run); every accepted state on the way, those between the halves of a step
 * too, is checked by exact predicates. */
#include "proof.h"

#include "internal.h"
#include "progress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct Proof {
    const char *out;
    BrioScene *scene;
    BrioSim *sim;
    BrioExactWatch watch;
    FILE *table;
    char *line; /* of the table */
    size_t line_room;
    char *head;   /* its columns */
    int64_t last; /* step of the last row */
    double end;   /* its time */
    int64_t rows, different;
    char difference[512]; /* the first */
    char isa[16];         /* of the run */
    double nearest;       /* smallest distance of all rows, m */
    double energy;        /* of the last row, J */
    double start;
} Proof;

/* ---- rows ------------------------------------------------------------------------------- */

/* The next whole line of the table: one without its end was being written when the run was
 * killed. */
static bool next_line(Proof *p)
{
    ssize_t length = getline(&p->line, &p->line_room, p->table);
    if (length <= 0 || p->line[length - 1] != '\n') return false;
    p->line[length - 1] = 0;
    return true;
}

/* What the replay would write: the columns, or the row of the state as it is. Freed by the
 * caller. */
static BrioStatus own_line(Proof *p, bool head, char **text, BrioError *error)
{
    BrioFolder folder = {.fd = -1};
    BrioLedger ledger;
    size_t size;
    snprintf(folder.path, sizeof folder.path, "%s", p->out);
    BrioWriter writer = {
        .folder = &folder, .name = "energy.csv", .file = open_memstream(text, &size)};
    if (!writer.file) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    locale_t before = brio__c_locale_enter();
    BrioStatus status = BRIO_OK;
    if (head) {
        status = brio__energy_head(&writer, p->sim, error);
    } else {
        brio_sim_ledger(p->sim, &ledger);
        p->energy = ledger.total;
        p->nearest = fmin(p->nearest, ledger.min_distance);
        status = brio__energy_row(&writer, p->sim, &ledger, error);
    }
    brio__c_locale_leave(before);
    if (brio__text_close(writer.file, text) && status == BRIO_OK)
        status = brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    if (status == BRIO_OK && size > 0) (*text)[size - 1] = 0; /* without the end of the line */
    return status;
}

static int field_length(const char *text) { return (int)strcspn(text, ","); }

/* Names the first column in which two rows differ. */
static void describe_difference(Proof *p, const char *was, const char *is)
{
    const char *name = p->head;
    while (*was && *is && field_length(was) == field_length(is) &&
           !strncmp(was, is, (size_t)field_length(was))) {
        was += field_length(was), is += field_length(is), name += field_length(name);
        was += *was == ',', is += *is == ',', name += *name == ',';
    }
    snprintf(p->difference, sizeof p->difference,
             "step %lld, column %.*s: %.*s in energy.csv, %.*s in the replay",
             (long long)p->sim->state->step, field_length(name), name, field_length(was), was,
             field_length(is), is);
}

static BrioStatus compare_row(Proof *p, BrioError *error)
{
    char *own = NULL;
    BrioStatus status = own_line(p, false, &own, error);
    if (status == BRIO_OK) {
        p->rows++;
        if (strcmp(own, p->line) && p->different++ == 0) describe_difference(p, p->line, own);
    }
    free(own);
    return status;
}

/* ---- the replay ------------------------------------------------------------------------- */

/* Of run.json, "" if it does not say. */
static void read_isa(Proof *p)
{
    char path[4200];
    BrioNode *root = NULL;
    snprintf(path, sizeof path, "%s/run.json", p->out);
    if (brio__tree_read(path, &root, NULL) != BRIO_OK) return;
    BrioNode *isa = root->kind == BRIO_NODE_MAP ? brio__node_get(root, "isa") : NULL;
    if (isa && isa->text) snprintf(p->isa, sizeof p->isa, "%s", isa->text);
    brio__tree_free(root);
}

/* The table with its columns, which must be those of this brio, and the step of its last row. */
static BrioStatus open_table(Proof *p, BrioError *error)
{
    char path[4200], *own = NULL;
    snprintf(path, sizeof path, "%s/energy.csv", p->out);
    p->table = fopen(path, "re");
    if (!p->table)
        return brio__error(error, BRIO_ERROR_FILE, "cannot read %s: %s", path, strerror(errno));
    BRIO_CHECK(own_line(p, true, &own, error));
    bool same = next_line(p) && !strcmp(p->line, own);
    p->head = own;
    if (!same)
        return brio__error(
            error, BRIO_ERROR_INPUT,
            "%s has other columns than this brio writes: check it with the brio that wrote it",
            path);
    p->last = -1;
    while (next_line(p)) {
        char *time;
        p->last = strtoll(p->line, &time, 10);
        p->end = brio__text_real(time + (*time == ','), NULL);
    }
    if (p->last < 0)
        return brio__error(error, BRIO_ERROR_INPUT, "%s has no rows: nothing was run", path);
    rewind(p->table);
    next_line(p);
    return BRIO_OK;
}

static void show(const Proof *p)
{
    BrioRunProgress progress = {.step = p->sim->state->step,
                                .steps = p->last,
                                .time = p->sim->state->time,
                                .end = p->end,
                                .wall = brio__seconds() - p->start,
                                .energy = p->energy,
                                .iterations = p->sim->stepper->iterations};
    progress_show(NULL, &progress);
}

static BrioStatus replay(Proof *p, BrioError *error)
{
    BrioState *state = p->sim->state;
    p->sim->stepper->observe = brio__exact_watch;
    p->sim->stepper->observer = &p->watch;
    brio_sim_watch(p->sim, stop_watch, NULL);
    brio__exact_watch(&p->watch, state);
    while (next_line(p)) {
        int64_t step = strtoll(p->line, NULL, 10);
        while (state->step < step) {
            BrioStatus status = stop_wanted ? BRIO_STOPPED : brio_sim_step(p->sim, NULL);
            if (status == BRIO_STOPPED)
                return brio__error(error, BRIO_STOPPED,
                                   "stopped on request after step %lld: the rest was not checked",
                                   (long long)state->step);
            if (status != BRIO_OK)
                return brio__error(error, status,
                                   "the replay fails in step %lld, which is in energy.csv: %s",
                                   (long long)state->step + 1, brio_sim_reason(p->sim));
            brio__exact_watch(&p->watch, state);
            if (state->step < step) show(p);
        }
        BRIO_CHECK(compare_row(p, error));
        show(p); /* with the energy of this row */
    }
    return BRIO_OK;
}

/* ---- the verdict ------------------------------------------------------------------------ */

static void print_json(const Proof *p, bool proved, const BrioError *error)
{
    const BrioExactWatch *w = &p->watch;
    BrioJson json = {.file = stdout};
    brio__json_open(&json, NULL, '{');
    brio__json_text(&json, "run", p->out);
    brio__json_boolean(&json, "proved", proved);
    brio__json_integer(&json, "steps", p->sim->state->step);
    brio__json_integer(&json, "states", w->states);
    brio__json_integer(&json, "pairs", w->pairs);
    brio__json_integer(&json, "intersections", w->intersections);
    brio__json_integer(&json, "inverted", w->inverted);
    brio__json_integer(&json, "behind_planes", w->behind);
    brio__json_integer(&json, "not_finite", w->not_finite);
    brio__json_real(&json, "min_distance", p->nearest);
    brio__json_integer(&json, "rows", p->rows);
    brio__json_integer(&json, "rows_different", p->different);
    brio__json_text(&json, "first_difference", p->different ? p->difference : NULL);
    brio__json_text(&json, "first_failure", w->failed ? w->reason : NULL);
    brio__json_text(&json, "error", error->message[0] ? error->message : NULL);
    brio__json_real(&json, "wall", w->seconds);
    brio__json_close(&json, '}');
}

static void print_text(const Proof *p, bool proved)
{
    const BrioExactWatch *w = &p->watch;
    char pairs[32], wall[32];
    count_text(w->pairs, pairs, sizeof pairs);
    seconds_text(w->seconds, wall, sizeof wall);
    printf("%s: %lld steps replayed, %lld accepted states\n", p->out,
           (long long)p->sim->state->step, (long long)w->states);
    printf("  pairs of edges and triangles decided exactly  %s (in %s)\n", pairs, wall);
    printf("  intersections      %lld\n", (long long)w->intersections);
    printf("  inverted elements  %lld\n", (long long)w->inverted);
    printf("  behind planes      %lld\n", (long long)w->behind);
    if (w->not_finite) printf("  not finite         %lld\n", (long long)w->not_finite);
    if (!isnan(p->nearest)) printf("  smallest distance  %.6g m\n", p->nearest);
    if (w->failed)
        printf("  ! at t = %.9g s (after step %lld): %s\n", w->time, (long long)w->step, w->reason);
    if (p->different == 0) {
        printf("  rows of energy.csv %lld, all the same to the last bit\n", (long long)p->rows);
    } else {
        printf("  ! %lld of %lld rows of energy.csv differ, the first at %s\n",
               (long long)p->different, (long long)p->rows, p->difference);
        if (strcmp(p->isa, brio_isa()))
            printf("  ! the run was made with the instruction set %s and this is %s: other last "
                   "bits; set BRIO_ISA=%s if this machine has it\n",
                   p->isa, brio_isa(), p->isa);
        else
            printf("  ! the run was made by another build or on another machine, or the table was "
                   "changed: this result holds for the replay, not for the run\n");
    }
    printf("%s\n", proved ? "proved: no accepted state has an intersection" : "not proved");
}

int prove_run(const char *out, bool as_json)
{
    Proof p = {.out = out, .nearest = NAN, .start = brio__seconds()};
    BrioError error = {0};
    BrioStatus status = brio__run_scene(out, &p.scene, &error);
    if (status == BRIO_OK) status = brio__scene_sim(p.scene, &p.sim, &error);
    if (status == BRIO_OK && brio__exact_create(p.sim->system, &p.watch.exact) != BRIO_OK)
        status = brio__error(&error, BRIO_ERROR_MEMORY, "out of memory");
    if (status == BRIO_OK) status = open_table(&p, &error);
    bool ready = status == BRIO_OK;
    if (ready) {
        read_isa(&p);
        catch_signals();
        status = replay(&p, &error);
        progress_clear();
    }
    bool proved = status == BRIO_OK && !p.watch.failed && p.different == 0;
    int code = !ready ? EXIT_USAGE : proved ? EXIT_DONE : EXIT_FAILED;
    if (status != BRIO_OK) say_error(&error, code);
    if (ready && as_json) print_json(&p, proved, &error);
    if (ready && !as_json) print_text(&p, proved);
    if (p.table) fclose(p.table);
    free(p.line);
    free(p.head);
    brio__exact_free(p.watch.exact);
    brio_sim_free(p.sim);
    brio__scene_free(p.scene);
    return code;
}

/* ---- pictures --------------------------------------------------------------------------- */

int write_intersections(const char *name, bool force, const double *x,
                        const BrioIntersection *found, int64_t count)
{
    ResultFile result;
    if (!create_file(&command_check, name, force, "give another name with -o", &result))
        return EXIT_USAGE;
    FILE *file = result.file;
    locale_t before = brio__c_locale_enter();
    fputs("# edges (l) and what they intersect: triangles (f) or edges, pair by pair\n", file);
    for (int64_t i = 0; i < count; i++) {
        const BrioIntersection *at = &found[i];
        bool triangle = at->other[2] >= 0;
        const int32_t vertex[5] = {at->edge[0], at->edge[1], at->other[0], at->other[1],
                                   at->other[2]};
        for (int k = 0; k < 4 + triangle; k++) {
            const double *p = x + 3 * (int64_t)vertex[k];
            fprintf(file, "v %.17g %.17g %.17g\n", p[0], p[1], p[2]);
        }
        fputs(triangle ? "l -5 -4\nf -3 -2 -1\n" : "l -4 -3\nl -2 -1\n", file);
    }
    brio__c_locale_leave(before);
    return finish_file(&command_check, &result, BRIO_OK);
}
