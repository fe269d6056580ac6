/* report.html: what the page says without its script, and in a real browser what its charts and its
 * motion show (web/report/test.mjs). */
#define _GNU_SOURCE
#include "program.h"

#include "base.h"

static const char block_scene[] =
    "brio: 1\ntitle: A <soft> block\ntime: {h: 1/60, end: 1, fps: 30}\ngravity: [0, -9.8, "
    "0]\nintegrator: a-search\ncontact: {type: penalty, kappa: 1e4, dhat: 1e-3}\n"
    "bodies:\n  - name: block\n    shape: {type: box, size: [0.2, 0.2, 0.2], cells: [3, 3, 3]}\n   "
    " material: {type: neo-hookean, E: 1e5, nu: 0.3, rho: 1000}\n"
    "    transform: {translate: [0, 0.35, 0]}\n    velocity: {linear: [0.6, 0, 0], angular: [0, 2, "
    "1]}\n"
    "obstacles:\n  - {type: plane, point: [0, 0, 0], normal: [0, 1, 0]}\nprobes:\n  - {name: "
    "corner, body: block, vertex: 0}\n";

/* 10 404 vertices on springs, soft enough for a cheap explicit method, each with a velocity of its
 * own: nothing to be saved by smoothness. */
static void write_large(void)
{
    enum { SIDE = 102 };
    BrioRandom random = {7};
    FILE *file = fopen("start.csv", "w");
    fputs("x,y,z,vx,vy,vz\n", file);
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++)
            fprintf(file, "%.9g,0,%.9g,%.9g,%.9g,%.9g\n", i / (SIDE - 1.0) - 0.5,
                    j / (SIDE - 1.0) - 0.5, 0.02 * brio__random_normal(&random),
                    0.02 * brio__random_normal(&random), 0.02 * brio__random_normal(&random));
    fclose(file);
    write_text(
        "large.yaml",
        "brio: 1\ntitle: Ten thousand\ntime: {h: 1/30, end: 10, fps: 30}\ngravity: [0, 0, "
        "0]\nintegrator: symplectic-euler\nbodies:\n  - name: sheet\n"
        "    shape: {type: grid, width: 1, depth: 1, cells_x: 101, cells_z: 101}\n    kind: "
        "springs\n    material: {type: hooke, k: 0.02, vertex_mass: 0.01}\n    state: start.csv\n");
}

static void run_once(const char *folder, const char *const *arguments)
{
    struct stat info;
    if (stat(folder, &info) == 0) return;
    write_text("block.yaml", block_scene);
    const Outcome *o = run_limited(0, arguments);
    if (o->code) print_error("%s", o->err);
    assert_int_equal(o->code, 0);
}

static void make_block(void)
{
    run_once("block", (const char *const[]){"run", "block.yaml", "-o", "block", "-q", NULL});
}

static char *page_of(const char *folder)
{
    char name[300];
    snprintf(name, sizeof name, "%s/report.html", folder);
    char *text = read_all(name, NULL);
    assert_non_null(text);
    return text;
}

static void words_and_tables(void **state)
{
    (void)state;
    make_block();
    char *page = page_of("block");
    assert_non_null(strstr(page, "<h1>A &lt;soft&gt; block</h1>"));
    assert_non_null(strstr(
        page,
        "<p>1 body with 64 vertices, stepped by a-search, h = 1/60 s, to t = 1 s in 60 steps"));
    assert_non_null(strstr(page, "<strong>Completed</strong>"));
    assert_non_null(strstr(page, "<table id=\"ledger\">"));
    assert_non_null(strstr(page, "<table id=\"phases\">"));
    assert_non_null(strstr(page, "<svg xmlns="));
    assert_non_null(strstr(page, "&quot;title&quot;: &quot;A &lt;soft&gt; block&quot;"));
    assert_null(strstr(page, "src=\"http"));
    assert_null(strstr(page, "href="));
    free(page);
}

/* A run that stops has a report that says so, and --resume renews it; one that was removed is made
 * again by `brio view`. */
static void reports_follow_the_run(void **state)
{
    (void)state;
    make_block();
    char *whole = page_of("block");
    remove_tree("part");
    assert_int_equal(BRIO("run", "block.yaml", "-o", "part", "-q", "--set", "time.end=0.5")->code,
                     0);
    char *half = page_of("part");
    assert_non_null(strstr(half, "to t = 0.5 s in 30 steps"));
    assert_int_equal(BRIO("run", "block.yaml", "-o", "part", "-q", "--resume")->code, 0);
    char *grown = page_of("part");
    assert_non_null(strstr(grown, "to t = 1 s in 60 steps"));
    size_t a = 0, b = 0;
    char *x = read_all("block/motion.bin", &a), *y = read_all("part/motion.bin", &b);
    assert_int_equal(a, b);
    assert_memory_equal(x, y, a);
    assert_int_equal(unlink("part/report.html"), 0);
    unsetenv("DISPLAY");
    unsetenv("WAYLAND_DISPLAY");
    const Outcome *o = BRIO("view", "part");
    assert_int_equal(o->code, 0);
    assert_non_null(strstr(o->out, "/part/report.html\n"));
    assert_string_equal(o->err,
                        "brio view: there is no display here; open the file above in a browser\n");
    char *again = page_of("part");
    assert_non_null(strstr(again, "to t = 1 s in 60 steps"));
    free(whole), free(half), free(grown), free(again), free(x), free(y);
}

/* The end of a table that is still being written, or was when the run was killed, is no row. */
static void half_a_row(void **state)
{
    (void)state;
    write_text("block.yaml", block_scene);
    remove_tree("torn");
    assert_int_equal(BRIO("run", "block.yaml", "-o", "torn", "-q", "--set", "time.end=0.1")->code,
                     0);
    size_t size = 0;
    char *table = read_all("torn/energy.csv", &size), *last = table + size - 2;
    while (last[-1] != '\n') last--;
    assert_memory_equal(last, "6,", 2);
    write_bytes("torn/energy.csv", table, (size_t)(last - table) + 40);
    free(table);
    assert_int_equal(BRIO("view", "torn", "--print")->code, 0);
    char *page = page_of("torn");
    assert_non_null(strstr(page, "<tr><td>5</td>"));
    assert_null(strstr(page, "<tr><td>6</td>"));
    free(page);
}

/* A report that cannot be written is no failure of the run: results are there, a warning says what
 * is missing, and nothing claims that the page exists. */
static void a_run_without_its_report_is_done(void **state)
{
    (void)state;
    write_text("block.yaml", block_scene);
    remove_tree("bare");
    assert_int_equal(BRIO("run", "block.yaml", "-o", "bare", "-q", "--set", "time.end=0.1")->code,
                     0);
    assert_int_equal(unlink("bare/report.html"), 0);
    assert_int_equal(mkdir("bare/report.html", 0777), 0);
    const Outcome *o =
        BRIO("run", "block.yaml", "-o", "bare", "--resume", "--json", "--set", "time.end=0.2");
    print_message("%s", o->err);
    assert_int_equal(o->code, 0);
    const char *warning = strstr(o->err, "warning: the results are complete, only the report is "
                                         "missing: cannot write bare/report.html: ");
    assert_non_null(warning);
    assert_non_null(strstr(warning, "`brio view bare` writes it\n"));
    assert_non_null(strstr(o->out, "\"verdict\": \"completed\""));
    assert_null(strstr(o->out, "report.html"));
    o = BRIO("run", "block.yaml", "-o", "bare", "--resume", "--set", "time.end=0.3");
    assert_int_equal(o->code, 0);
    assert_null(strstr(o->out, "report.html"));
    assert_int_equal(rmdir("bare/report.html"), 0);
    assert_int_equal(BRIO("view", "bare")->code, 0);
    char *page = page_of("bare");
    assert_non_null(strstr(page, "to t = 0.3 s in 18 steps"));
    free(page);
}

/* Of a long run every second row is drawn, or every third, and the page says so in English. */
static void a_long_run_says_which_rows(void **state)
{
    (void)state;
    make_block();
    remove_tree("long");
    assert_int_equal(BRIO("run", "block.yaml", "-o", "long", "-q", "--set", "time.end=0.1")->code,
                     0);
    char *rows = read_all("long/energy.csv", NULL), *last = strrchr(rows, '\n');
    *last = 0;
    last = strrchr(rows, '\n') + 1;
    for (int more = 1; more <= 2; more++) {
        FILE *file = fopen("long/energy.csv", "a");
        for (int k = 0; k < 5100; k++) fprintf(file, "%s\n", last);
        fclose(file);
        unlink("long/report.html");
        assert_int_equal(BRIO("view", "long", "--print")->code, 0);
        char *page = page_of("long");
        assert_non_null(strstr(page, more == 1 ? "every 2nd is drawn" : "every 3rd is drawn"));
        free(page);
    }
    free(rows);
}

static void in_a_browser(void **state)
{
    (void)state;
    char command[4096], *script;
    make_block();
    run_once("both", (const char *const[]){"compare", "block.yaml", "--integrators",
                                           "backward-euler,a-search", "--h", "1/60,1/120,1/240",
                                           "--reference", "a-search:1/960", "--set", "time.end=0.4",
                                           "-o", "both", "-q", NULL});
    write_large();
    run_once("large", (const char *const[]){"run", "large.yaml", "-o", "large", "-q", NULL});
    script = page_of("block");
    bool interactive = strstr(script, "id=\"brio-data\"") != NULL;
    free(script);
    if (!interactive || !has_program("node")) {
        print_message("SKIPPED: %s\n",
                      interactive ? "there is no node"
                                  : "brio was built without npm, so its reports have no script");
        return;
    }
    snprintf(command, sizeof command,
             "node '%s/web/report/test.mjs' block both large '%s' >browser.log 2>&1",
             BRIO_SOURCE_DIR, BRIO_REPORT_MODULES);
    int status = system(command), code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    char *log = read_all("browser.log", NULL);
    print_message("%s", log);
    free(log);
    assert_true(code == 0 || code == 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_tables),
        cmocka_unit_test(reports_follow_the_run),
        cmocka_unit_test(a_run_without_its_report_is_done),
        cmocka_unit_test(half_a_row),
        cmocka_unit_test(a_long_run_says_which_rows),
        cmocka_unit_test(in_a_browser),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
