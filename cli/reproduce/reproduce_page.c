/* The page of `brio reproduce --all --report FOLDER`: every claim with the paper's figure, ours and
 * the verdict. It is made from the files NAME.json of the folder alone, as reproduction.md and
 * reproduction.html. */
#include "reproduce.h"

#include "commands.h"

#include <ctype.h>
#include <string.h>

typedef struct Counts {
    int entries, met, missed, refuted, numbers;
    double seconds; /* of the processor; on the clock, if that is not known */
} Counts;

/* A reproduction and the tree of its file; root NULL: it has not been run. */
typedef struct Entry {
    const Reproduction *what;
    BrioNode *root;
    Counts counts;
} Entry;

enum { MAX_ENTRIES = 128 };

static const struct {
    const char *paper, *what, *reason;
} untested[] = {
#define UNTESTED(paper, what, reason) {paper, what, reason},
#include "untested.def"
#undef UNTESTED
};

/* Why a line is missed. */
static const struct {
    const char *reproduction, *words, *cause;
} causes[] = {
#define CAUSE(reproduction, words, cause) {reproduction, words, cause},
#include "causes.def"
#undef CAUSE
};

static const char *cause_of(const char *reproduction, const char *claim)
{
    for (int i = 0; i < (int)BRIO_COUNT(causes); i++)
        if (!strcmp(causes[i].reproduction, reproduction) && strstr(claim, causes[i].words))
            return causes[i].cause;
    return "not known";
}

/* ---- reading ---------------------------------------------------------------------------- */

static const char *text_of(BrioNode *map, const char *key)
{
    BrioNode *node = brio__node_get(map, key);
    return node && node->kind == BRIO_NODE_SCALAR ? node->text : "";
}

static double real_of(BrioNode *map, const char *key)
{
    BrioNode *node = brio__node_get(map, key);
    double value;
    return node && brio__node_real(node, &value, NULL) == BRIO_OK ? value : NAN;
}

static BrioNode *read_result(const char *folder, const char *name)
{
    char path[4096 + 128];
    BrioNode *root = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (brio__tree_read(path, &root, NULL) != BRIO_OK) return NULL;
    BrioNode *lines = root->kind == BRIO_NODE_MAP ? brio__node_get(root, "lines") : NULL;
    if (lines && lines->kind == BRIO_NODE_LIST) return root;
    brio__tree_free(root);
    return NULL;
}

bool reproduction_is_done(const char *folder, const char *name)
{
    BrioNode *root = read_result(folder, name);
    bool done = root && !strcmp(text_of(root, "commit"), reproduction_commit()) &&
                !isnan(real_of(root, "seconds"));
    brio__tree_free(root);
    return done;
}

static void read_entry(const char *folder, const Reproduction *what, Entry *entry)
{
    char name[128];
    snprintf(name, sizeof name, "%s.json", what->name);
    *entry = (Entry){.what = what, .root = read_result(folder, name)};
    if (!entry->root) return;
    entry->counts = (Counts){.entries = 1,
                             .met = (int)real_of(entry->root, "met"),
                             .missed = (int)real_of(entry->root, "missed"),
                             .refuted = (int)real_of(entry->root, "refuted"),
                             .seconds = real_of(entry->root, "cpu_seconds")};
    if (isnan(entry->counts.seconds)) entry->counts.seconds = real_of(entry->root, "seconds");
    BrioNode *lines = brio__node_get(entry->root, "lines");
    for (int i = 0; i < lines->count; i++)
        if (text_of(lines->child[i], "what")[0] && !text_of(lines->child[i], "verdict")[0])
            entry->counts.numbers++;
}

static Counts add(Counts a, Counts b)
{
    return (Counts){a.entries + b.entries, a.met + b.met,         a.missed + b.missed,
                    a.refuted + b.refuted, a.numbers + b.numbers, a.seconds + b.seconds};
}

/* ---- writing, in both forms ------------------------------------------------------------- */

typedef struct Page {
    FILE *file;
    bool html;
} Page;

/* A cell of Markdown: | ends it. */
static void cell_text(Page *p, const char *text)
{
    if (p->html) {
        brio__html_text(p->file, text);
        return;
    }
    for (; *text; text++) {
        if (*text == '|') fputc('\\', p->file);
        fputc(*text, p->file);
    }
}

static void heading(Page *p, int level, const char *text)
{
    char tag[4] = {'h', (char)('0' + level), 0};
    if (p->html)
        brio__html_element(p->file, tag, "%s", text);
    else
        fprintf(p->file, "\n%.*s %s\n\n", level, "####", text);
}

/* Whether a line of Markdown may begin with it: not with what begins a list, heading or quote. */
static bool may_begin(const char *word, size_t length)
{
    if (strchr("#>|=", word[0]) || (length == 1 && strchr("-+*", word[0]))) return false;
    return !isdigit((unsigned char)word[0]) || (word[length - 1] != '.' && word[length - 1] != ')');
}

/* The length of the first word and of those after it that may not begin a line. */
static size_t together(const char *text)
{
    size_t length = strcspn(text, " ");
    for (;;) {
        const char *next = text + length + strspn(text + length, " ");
        size_t more = strcspn(next, " ");
        if (!*next || may_begin(next, more)) return length;
        length = (size_t)(next - text) + more;
    }
}

/* Markdown in lines of at most 100 columns, where words allow it. */
static void paragraph(Page *p, const char *text)
{
    if (p->html) {
        brio__html_element(p->file, "p", "%s", text);
        return;
    }
    for (size_t column = 0; *text; text += strspn(text, " ")) {
        size_t length = strcspn(text, " ");
        if (column && column + 1 + together(text) > 100 && may_begin(text, length)) {
            fputc('\n', p->file);
            column = 0;
        } else if (column) {
            fputc(' ', p->file);
            column++;
        }
        fwrite(text, 1, length, p->file);
        column += length;
        text += length;
    }
    fputs("\n\n", p->file);
}

static void row(Page *p, const char *const *cell, int count, bool head)
{
    const char *tag = head ? "th" : "td";
    fputs(p->html ? "<tr>" : "|", p->file);
    for (int i = 0; i < count; i++) {
        bool bad = !strcmp(cell[i], "MISSED");
        if (p->html)
            fprintf(p->file, "<%s class=\"words long%s\">", tag, bad ? " bad" : "");
        else
            fputc(' ', p->file);
        cell_text(p, cell[i]);
        if (p->html)
            fprintf(p->file, "</%s>", tag);
        else
            fputs(" |", p->file);
    }
    fputs(p->html ? "</tr>\n" : "\n", p->file);
    if (head && !p->html) {
        fputc('|', p->file);
        for (int i = 0; i < count; i++) fputs("---|", p->file);
        fputc('\n', p->file);
    }
}

static void table_begin(Page *p, const char *const *head, int count)
{
    if (p->html) fputs("<div class=\"scroll\"><table>\n", p->file);
    row(p, head, count, true);
}

static void table_end(Page *p) { fputs(p->html ? "</table></div>\n" : "\n", p->file); }

/* Lines of untested.def of a paper; NULL: of all. */
static int untested_of(const char *paper)
{
    int count = 0;
    for (int i = 0; i < (int)BRIO_COUNT(untested); i++)
        count += !paper || !strcmp(untested[i].paper, paper);
    return count;
}

static void counts_row(Page *p, const char *paper, Counts c)
{
    char text[7][32];
    snprintf(text[0], sizeof text[0], "%d", c.entries);
    snprintf(text[1], sizeof text[1], "%d", c.met + c.missed + c.refuted);
    snprintf(text[2], sizeof text[2], "%d", c.met);
    snprintf(text[3], sizeof text[3], "%d", c.missed);
    snprintf(text[4], sizeof text[4], "%d", c.refuted);
    snprintf(text[5], sizeof text[5], "%d", untested_of(paper));
    seconds_text(c.seconds, text[6], sizeof text[6]);
    const char *cells[] = {
        paper ? paper : "all", text[0], text[1], text[2], text[3], text[4], text[5], text[6]};
    row(p, cells, BRIO_COUNT(cells), false);
}

static void summary(Page *p, const Entry *entry, int count)
{
    static const char *const head[] = {"paper",  "experiments", "claims judged", "met",
                                       "missed", "refuted",     "not tested",    "time"};
    Counts all = {0};
    table_begin(p, head, BRIO_COUNT(head));
    for (int i = 0; i < count;) {
        const char *paper = entry[i].what->paper;
        Counts sum = {0};
        for (; i < count && !strcmp(entry[i].what->paper, paper); i++)
            sum = add(sum, entry[i].counts);
        counts_row(p, paper, sum);
        all = add(all, sum);
    }
    counts_row(p, NULL, all);
    table_end(p);
}

static void not_tested(Page *p, const Entry *entry, int count)
{
    static const char *const head[] = {"paper", "what", "reason"};
    heading(p, 2, "Not tested");
    table_begin(p, head, BRIO_COUNT(head));
    for (int i = 0; i < (int)BRIO_COUNT(untested); i++) {
        const char *cells[] = {untested[i].paper, untested[i].what, untested[i].reason};
        row(p, cells, BRIO_COUNT(cells), false);
    }
    for (int i = 0; i < count; i++) {
        const char *cells[] = {entry[i].what->paper, entry[i].what->name, "not run in this folder"};
        if (!entry[i].root) row(p, cells, BRIO_COUNT(cells), false);
    }
    table_end(p);
}

/* A line of dates and commits: results of one folder may be of several. */
static void origin_of(const Entry *entry, char *text, size_t size)
{
    char time[32];
    const Counts *c = &entry->counts;
    seconds_text(c->seconds, time, sizeof time);
    const char *with = text_of(entry->root, "with"), *date = text_of(entry->root, "date");
    snprintf(text, size, "%d met, %d missed, %d refuted; %s%s%s; %s%scommit %s.", c->met, c->missed,
             c->refuted, time, with[0] ? ", run with " : "", with, date, date[0] ? ", " : "",
             text_of(entry->root, "commit"));
}

static void number_text(double value, char text[32])
{
    text[0] = 0;
    if (!isnan(value)) snprintf(text, 32, "%.6g", value);
}

static void claims(Page *p, const Entry *entry)
{
    static const char *const head[] = {"claim", "paper", "brio", "limit", "verdict"};
    BrioNode *lines = brio__node_get(entry->root, "lines");
    bool open = false;
    for (int i = 0; i < lines->count; i++) {
        BrioNode *line = lines->child[i];
        char paper[32], ours[32];
        const char *what = text_of(line, "what");
        if (open && !what[0]) table_end(p), open = false;
        if (text_of(line, "section")[0]) heading(p, 4, text_of(line, "section"));
        if (text_of(line, "note")[0]) paragraph(p, text_of(line, "note"));
        if (!what[0]) continue;
        if (!open) table_begin(p, head, BRIO_COUNT(head));
        open = true;
        number_text(real_of(line, "paper"), paper);
        number_text(real_of(line, "ours"), ours);
        const char *cells[] = {what, paper, ours, text_of(line, "limit"), text_of(line, "verdict")};
        row(p, cells, BRIO_COUNT(cells), false);
    }
    if (open) table_end(p);
}

static void missed(Page *p, const Entry *entry, int count)
{
    static const char *const head[] = {"experiment", "claim", "paper", "brio", "limit", "cause"};
    heading(p, 2, "Missed");
    table_begin(p, head, BRIO_COUNT(head));
    for (int k = 0; k < count; k++) {
        BrioNode *lines = entry[k].root ? brio__node_get(entry[k].root, "lines") : NULL;
        for (int i = 0; lines && i < lines->count; i++) {
            BrioNode *line = lines->child[i];
            char paper[32], ours[32];
            if (strcmp(text_of(line, "verdict"), "MISSED") != 0) continue;
            number_text(real_of(line, "paper"), paper);
            number_text(real_of(line, "ours"), ours);
            const char *claim = text_of(line, "what"), *name = entry[k].what->name;
            const char *cells[] = {
                name, claim, paper, ours, text_of(line, "limit"), cause_of(name, claim)};
            row(p, cells, BRIO_COUNT(cells), false);
        }
    }
    table_end(p);
}

/* What was said of a result when it was made; older results have only today's words. */
static const char *words_of(const Entry *entry, const char *key, const char *today)
{
    const char *text = text_of(entry->root, key);
    return text[0] ? text : today;
}

static void one(Page *p, const Entry *entry)
{
    char text[2048];
    if (!entry->root) return;
    const Reproduction *what = entry->what;
    const char *about = words_of(entry, "about", what->about);
    const char *chosen = words_of(entry, "chosen", what->chosen);
    heading(p, 3, what->name);
    snprintf(text, sizeof text, "%s (%s).", words_of(entry, "summary", what->summary), what->paper);
    paragraph(p, text);
    if (about) paragraph(p, about);
    if (chosen) {
        snprintf(text, sizeof text, "Chosen by us: %s.", chosen);
        paragraph(p, text);
    }
    origin_of(entry, text, sizeof text);
    paragraph(p, text);
    claims(p, entry);
}

static void write_page(Page *p, const Entry *entry, int count)
{
    if (p->html) brio__html_begin(p->file, "brio: the papers, reproduced");
    heading(p, 1, "The papers, reproduced");
    paragraph(
        p, "Every table and figure that brio runs again, with the paper's figure, brio's, the "
           "limit and the verdict. Made by brio reproduce with --report FOLDER, all at once or one "
           "by one: each experiment says its processor time, its day and its commit.");
    paragraph(p, "met: within the limit. missed: not. refuted: a statement of the paper that does "
                 "not hold; docs/errata.md derives what holds instead. Without a verdict: a number "
                 "for information.");
    summary(p, entry, count);
    missed(p, entry, count);
    not_tested(p, entry, count);
    heading(p, 2, "Claims");
    for (int i = 0; i < count; i++) one(p, &entry[i]);
    if (p->html) brio__html_end(p->file);
}

BrioStatus reproduction_page(const BrioFolder *folder, BrioError *error)
{
    static const char *const names[] = {"reproduction.md", "reproduction.html"};
    Entry entry[MAX_ENTRIES];
    int count = 0;
    BrioStatus status = BRIO_OK;
    for (; count < MAX_ENTRIES && reproduction_at(count); count++)
        read_entry(folder->path, reproduction_at(count), &entry[count]);
    for (int i = 0; i < 2 && status == BRIO_OK; i++) {
        Page page = {.html = i == 1};
        status = brio__replace_begin(folder, names[i], &page.file, error);
        if (status != BRIO_OK) break;
        write_page(&page, entry, count);
        status = brio__replace_end(folder, names[i], page.file, false, error);
    }
    for (int i = 0; i < count; i++) brio__tree_free(entry[i].root);
    return status;
}
