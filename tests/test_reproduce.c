/* brio reproduce: verdicts, errata, and the page of --all. */
#include "program.h"

#include "base.h"
#include "scene/tree.h"

static BrioNode *parsed(const char *text)
{
    BrioNode *root = NULL;
    BrioError error = {0};
    if (brio__tree_parse(text, strlen(text), "json", &root, &error) != BRIO_OK)
        fail_msg("%s\n%s", error.message, text);
    return root;
}

static int count_of(BrioNode *root, const char *key)
{
    BrioNode *node = brio__node_get(root, key);
    assert_non_null(node);
    return atoi(node->text);
}

/* The formulas of docs/errata.md hold, and the paper's do not. */
static void errata(void **state)
{
    (void)state;
    const Outcome *o = BRIO("reproduce", "you2026-collisions", "--json");
    assert_int_equal(o->code, 0);
    BrioNode *root = parsed(o->out);
    assert_int_equal(count_of(root, "met"), 14);
    assert_int_equal(count_of(root, "missed"), 0);
    assert_int_equal(count_of(root, "refuted"), 2);
    brio__tree_free(root);
}

/* Statements of docs/results.md that are quick to measure; parts by --only. */
static void results(void **state)
{
    (void)state;
    const Outcome *o = BRIO("reproduce", "brio-unfinished", "--json");
    assert_int_equal(o->code, 0);
    BrioNode *root = parsed(o->out);
    assert_int_equal(count_of(root, "missed"), 0);
    assert_true(count_of(root, "met") >= 20);
    brio__tree_free(root);
    o = BRIO("reproduce", "brio-momentum", "--only", "stiff vibrations", "--json");
    assert_int_equal(o->code, 0);
    root = parsed(o->out);
    assert_int_equal(count_of(root, "met"), 5);
    brio__tree_free(root);
    o = BRIO("reproduce", "brio-momentum", "--only", "no such part");
    assert_int_equal(o->code, 2);
    assert_non_null(strstr(o->err, "no part with \"no such part\""));
    o = BRIO("reproduce", "you2026-collisions", "--only", "x");
    assert_int_equal(o->code, 2);
    assert_non_null(strstr(o->err, "no parts to choose from"));
}

static void usage(void **state)
{
    (void)state;
    assert_int_equal(BRIO("reproduce", "--all")->code, 2);
    assert_int_equal(BRIO("reproduce", "--report", "x")->code, 2);
    assert_int_equal(BRIO("reproduce", "gentle2025-phase", "--report", "x", "--json")->code, 2);
    assert_int_equal(BRIO("reproduce", "gentle2025-phas", "--report", "x")->code, 2);
    assert_int_equal(BRIO("reproduce", "--all", "--report", "x", "gentle2025-phase")->code, 2);
    assert_int_equal(access("x", F_OK), -1);
}

/* A program away from its scenes says so; no line of the paper is missed for that. */
static void scene_absent(void **state)
{
    (void)state;
    size_t size = 0;
    assert_int_equal(mkdir("away", 0777), 0);
    char *bytes = read_all(program(), &size);
    assert_non_null(bytes);
    write_bytes("away/brio", bytes, size);
    free(bytes);
    assert_int_equal(chmod("away/brio", 0755), 0);
    char *before = getenv("BRIO_PROGRAM") ? strdup(getenv("BRIO_PROGRAM")) : NULL;
    setenv("BRIO_PROGRAM", "away/brio", 1);
    const Outcome *o = BRIO("list", "scenes");
    if (strstr(o->out, "cube-soft")) {
        puts("SKIPPED: brio is installed on this machine, so its scenes are found everywhere");
    } else {
        o = BRIO("reproduce", "you2026-table1");
        assert_int_equal(o->code, 2);
        assert_non_null(strstr(o->err, "needs the scene \"cube-soft\", which is not in "));
        assert_null(strstr(o->out, "MISSED"));
        assert_null(strstr(o->out, "missed,"));
        o = BRIO("reproduce", "--all", "--report", "nothing");
        assert_int_equal(o->code, 2);
        assert_int_equal(count_files("nothing"), 0);
    }
    if (before)
        setenv("BRIO_PROGRAM", before, 1);
    else
        unsetenv("BRIO_PROGRAM");
    free(before);
}

/* Causes and stored figures name reproductions that exist. */
static void tables(void **state)
{
    static const char *const names[] = {
#define CAUSE(reproduction, words, cause) reproduction,
#include "../cli/reproduce/causes.def"
#undef CAUSE
#define STORED(reproduction, key, value, date, commit) reproduction,
#include "../cli/reproduce/stored.def"
#undef STORED
    };
    (void)state;
    BrioNode *list = parsed(BRIO("reproduce", "list", "--json")->out);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        bool found = false;
        for (int i = 0; i < list->count; i++)
            found |= !strcmp(names[k], brio__node_get(list->child[i], "name")->text);
        if (!found) fail_msg("no reproduction \"%s\"", names[k]);
    }
    brio__tree_free(list);
}

/* Every entry but one has a result of this commit, so --resume runs that one and makes the page. */
static void page(void **state)
{
    (void)state;
    const char *rest = "dinev2018-fig18";
    const Outcome *o = BRIO("reproduce", rest, "--json");
    BrioNode *one = parsed(o->out);
    const char *commit = brio__node_get(one, "commit")->text;
    assert_int_equal(mkdir("all", 0777), 0);
    BrioNode *list = parsed(BRIO("reproduce", "list", "--json")->out);
    assert_true(list->count > 30);
    for (int i = 0; i < list->count; i++) {
        const char *name = brio__node_get(list->child[i], "name")->text;
        char path[256], text[1024];
        if (!strcmp(name, rest)) continue;
        snprintf(path, sizeof path, "all/%s.json", name);
        snprintf(text, sizeof text,
                 "{\"name\": \"%s\", \"commit\": \"%s\", \"lines\": [{\"section\": \"part\"}, "
                 "{\"what\": \"a | b <c>\", \"paper\": 1.5, \"ours\": null, \"verdict\": "
                 "\"MISSED\"}, {\"note\": \"no more\"}], \"met\": 0, \"missed\": 1, \"refuted\": "
                 "0, \"seconds\": 2}",
                 name, commit);
        write_text(path, text);
    }
    o = BRIO("reproduce", "--all", "--report", "all", "--resume");
    if (o->code != 0) fail_msg("exit %d: %s%s", o->code, o->out, o->err);
    assert_non_null(strstr(o->out, rest));
    assert_null(strstr(o->out, "you2026-table1:"));
    char *html = read_all("all/reproduction.html", NULL),
         *md = read_all("all/reproduction.md", NULL);
    assert_non_null(html);
    assert_non_null(md);
    assert_non_null(strstr(html, "a | b &lt;c&gt;"));
    assert_non_null(strstr(html, "bad\">MISSED"));
    assert_non_null(strstr(md, "a \\| b <c>"));
    assert_non_null(strstr(md, "### dinev2018-fig18"));
    free(html);
    free(md);
    /* one result is renewed; the others, of another commit too, stay on the page */
    write_text("all/gentle2025-cloth.json",
               "{\"commit\": \"older\", \"about\": \"As it was then.\", \"lines\": [], "
               "\"met\": 7, \"missed\": 0, \"refuted\": 0, \"seconds\": 1, "
               "\"cpu_seconds\": 3}");
    o = BRIO("reproduce", "gentle2025-phase", "--report", "all");
    assert_int_equal(o->code, 0);
    md = read_all("all/reproduction.md", NULL);
    assert_non_null(md);
    assert_non_null(strstr(md, "7 met, 0 missed, 0 refuted; 3.0 s; commit older."));
    assert_non_null(strstr(md, "As it was then."));
    assert_non_null(strstr(md, "| forward Euler moves out in every step |"));
    assert_non_null(strstr(md, "| you2026-table1 | a \\| b <c> | 1.5 |  |  | not known |"));
    free(md);
    brio__tree_free(one);
    brio__tree_free(list);
}

/* --fine --resume takes the figures of an interrupted program and runs what is missing. */
static void resumed(void **state)
{
    static const char part[] = "stiff ball, affine";
    (void)state;
    assert_int_equal(mkdir("night", 0777), 0);
    write_text(
        "night/stored.def",
        "STORED(\"you2026-table1-contact\", \"stiff ball, affine, BDF2, 1/3000: kept\", 0.125, "
        "\"2001-02-03\", \"then\")\n"
        "STORED(\"you2026-table1-contact\", \"stiff ball, affine, BDF2, 1/3000: iterations\", "
        "77, \"2001-02-03\", \"then\")\n"
        "STORED(\"you2026-table1-contact\", \"stiff ball, affine, BDF2, 1/3000: seconds\", 5, "
        "\"2001-02-03\", \"then\")\n");
    const Outcome *o = BRIO("reproduce", "you2026-table1-contact", "--only", part, "--fine",
                            "--resume", "-o", "night");
    assert_int_equal(o->code, 0);
    assert_non_null(strstr(o->out, "seconds (stored 2001-02-03, then)"));
    char *all = read_all("night/stored.def", NULL);
    assert_non_null(all);
    assert_non_null(strstr(all, "stiff ball, affine, A-search, 1/120: seconds"));
    const char *first = strstr(all, "BDF2, 1/3000: seconds");
    assert_non_null(first);
    assert_null(strstr(first + 1, "BDF2, 1/3000: seconds"));
    free(all);
    o = BRIO("reproduce", "you2026-table1-contact", "--resume");
    assert_int_equal(o->code, 2);
    assert_non_null(strstr(o->err, "--resume needs --report FOLDER, or --fine and -o FOLDER"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resumed), cmocka_unit_test(errata),       cmocka_unit_test(results),
        cmocka_unit_test(usage),   cmocka_unit_test(scene_absent), cmocka_unit_test(tables),
        cmocka_unit_test(page),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
