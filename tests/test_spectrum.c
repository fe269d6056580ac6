/* brio spectrum: a run whose state is one mode, a free body turned far, pictures, what is
 * refused. */
#include "program.h"

#include "base.h"
#include "scene/tree.h"

enum { N = 20 };
static const double k = 300, m = 0.05, length = 1;

static double chain_frequency(int j)
{
    return 2 * sqrt(k / m) * sin((2 * j - 1) * M_PI / (2 * (2 * N + 1))) / (2 * M_PI);
}

/* A chain held at its first vertex, in motion in its j-th mode along itself. */
static void write_chain(int j, double amplitude)
{
    FILE *state = fopen("first.csv", "w"), *springs = fopen("springs.csv", "w");
    for (int i = 0; i <= N; i++) {
        double shape = sin((2 * j - 1) * M_PI * i / (2 * N + 1));
        fprintf(state, "%.17g,0,0,%.17g,0,0\n", length * i / N + amplitude * shape,
                2 * M_PI * chain_frequency(j) * amplitude * shape);
        if (i < N) fprintf(springs, "%d,%d,%.17g,%.17g\n", i, i + 1, k, length / N);
    }
    fclose(state);
    fclose(springs);
    char text[512];
    snprintf(text, sizeof text,
             "title: Chain\ngravity: [0, 0, 0]\ntime: {h: 1/1000, end: 0.02}\nintegrator: "
             "implicit-midpoint\nsolver: {tol: 1e-9}\n"
             "bodies:\n  - name: chain\n    shape: {type: line, length: %g, cells: %d}\n    "
             "material: {type: hooke, k: 1, vertex_mass: %g}\n"
             "    springs: springs.csv\n    state: first.csv\n    fix:\n      - {vertices: [0]}\n",
             length, N, m);
    write_text("chain.yaml", text);
}

static double number(BrioNode *map, const char *key)
{
    BrioNode *node = brio__node_get(map, key);
    if (!node) fail_msg("no key %s", key);
    return strtod(node->text, NULL);
}

static BrioNode *parsed(const Outcome *o)
{
    BrioNode *root = NULL;
    BrioError error = {0};
    if (o->code) fail_msg("exit %d: %s", o->code, o->err);
    if (brio__tree_parse(o->out, strlen(o->out), "json", &root, &error) != BRIO_OK)
        fail_msg("%s\n%s", error.message, o->out);
    return root;
}

static void run_scene(const char *scene, const char *out)
{
    const Outcome *o = BRIO("run", scene, "-o", out, "-q", "--force");
    if (o->code) fail_msg("%s", o->err);
}

/* The scene starts from a state file, so the rest shape is not the initial state; springs along a
 * line have a quadratic energy, so the potentials are exact. TOLERANCE 1e-8: the solver's. */
static void one_mode(void **state)
{
    (void)state;
    for (int j = 1; j <= 7; j += 3) {
        write_chain(j, 1e-3);
        run_scene("chain.yaml", "chain");
        BrioNode *root = parsed(BRIO("spectrum", "chain", "--json"));
        double total = number(root, "total"), best = 0, frequency = 0;
        BrioNode *modes = brio__node_get(root, "modes");
        assert_int_equal(number(root, "rigid_modes"), 2 * N);
        assert_int_equal(modes->count, 3 * N);
        for (int i = 0; i < modes->count; i++)
            if (number(modes->child[i], "total") > best)
                best = number(modes->child[i], "total"),
                frequency = number(modes->child[i], "frequency");
        print_message(
            "mode %d: %.6f Hz (formula %.6f), share %.10f, potential / elastic - 1 = %.1e\n", j,
            frequency, chain_frequency(j), best / total,
            number(root, "potential") / number(root, "ledger_elastic") - 1);
        assert_true(fabs(frequency / chain_frequency(j) - 1) < 1e-9);
        assert_true(best / total > 1 - 1e-8);
        assert_true(fabs(number(root, "kinetic") / number(root, "ledger_kinetic") - 1) < 1e-10);
        assert_true(fabs(number(root, "potential") / number(root, "ledger_elastic") - 1) < 1e-8);
        assert_int_equal(brio__node_get(root, "notes")->count, 0);
        brio__tree_free(root);
    }
    const Outcome *o = BRIO("spectrum", "chain", "--modes", "1");
    assert_int_equal(o->code, 0);
    print_message("%s", o->out);
    assert_non_null(strstr(o->out, "\n  rigid (40) "));
    assert_non_null(strstr(o->out, "\n  47 "));
    assert_non_null(strstr(o->out, "\n  others (19) "));
    assert_non_null(strstr(o->out, "\n  all modes "));
    assert_non_null(strstr(o->out, "\n  true "));
}

/* A stiff cube that has turned far: all but a little is rigid, and the strain of the spin is what
 * its modes hold. */
static void free_and_turned(void **state)
{
    (void)state;
    write_text(
        "spin.yaml",
        "gravity: [0, 0, 0]\ntime: {h: 1/200, end: 0.5}\nintegrator: implicit-midpoint\nsolver: "
        "{tol: 1e-8}\n"
        "bodies:\n  - name: cube\n    shape: {type: box, size: [0.3, 0.2, 0.1], cells: [3, 2, 2]}\n"
        "    material: {type: neo-hookean, E: 1e6, nu: 0.3, rho: 1000}\n    velocity: {linear: [1, "
        "2, 0], angular: [0, 0, 5]}\n");
    run_scene("spin.yaml", "spin");
    BrioNode *root = parsed(BRIO("spectrum", "spin", "--json"));
    BrioNode *modes = brio__node_get(root, "modes");
    BrioNode *body = brio__node_get(root, "bodies")->child[0];
    double rigid = 0;
    for (int i = 0; i < 6; i++) rigid += number(modes->child[i], "kinetic");
    print_message("spin: %g m, %g degrees away, rigid share of the kinetic energy %.6f, potential "
                  "/ elastic %.4f\n",
                  number(body, "shift"), number(body, "turn") * 180 / M_PI,
                  rigid / number(root, "kinetic"),
                  number(root, "potential") / number(root, "ledger_elastic"));
    assert_int_equal(number(root, "rigid_modes"), 6);
    assert_string_equal(brio__node_get(body, "free")->text, "true");
    assert_true(fabs(number(body, "shift") - 0.5 * sqrt(5)) < 1e-6);
    /* 5 rad/s for half a second, less what stretching takes */
    assert_true(fabs(number(body, "turn") - 2.5) < 0.02);
    assert_true(rigid / number(root, "kinetic") > 0.999);
    assert_true(fabs(number(root, "kinetic") / number(root, "ledger_kinetic") - 1) < 1e-12);
    /* strain of 1 % */
    assert_true(fabs(number(root, "potential") / number(root, "ledger_elastic") - 1) < 0.05);
    brio__tree_free(root);
}

static void pictures(void **state)
{
    (void)state;
    write_chain(2, 1e-3);
    run_scene("chain.yaml", "chain");
    const Outcome *o = BRIO("spectrum", "chain", "-o", "chain.svg");
    assert_int_equal(o->code, 0);
    char *text = read_all("chain.svg", NULL);
    assert_non_null(text);
    assert_memory_equal(text, "<svg xmlns=", 11);
    assert_non_null(strstr(text, ">Energy by mode: Chain, t = 0.02 s</text>"));
    assert_non_null(strstr(text, "</svg>\n"));
    free(text);
    write_text("chain.svg", "mine");
    o = BRIO("spectrum", "chain", "-o", "chain.svg");
    assert_int_equal(o->code, 2);
    assert_string_equal(
        o->err,
        "brio spectrum: chain.svg already exists: give another name, or --force to replace it\n");
    assert_string_equal(o->out, "");
    text = read_all("chain.svg", NULL);
    assert_string_equal(text, "mine");
    free(text);
    assert_int_equal(BRIO("spectrum", "chain", "-o", "chain.svg", "--force")->code, 0);
    o = BRIO("spectrum", "chain", "-o", "no/such/folder.svg");
    assert_int_equal(o->code, 2);
    assert_string_equal(
        o->err, "brio spectrum: cannot write no/such/folder.svg: No such file or directory\n");
    if (!files_can_be_limited()) return;
    o = run_limited(2000, (const char *const[]){"spectrum", "chain", "-o", "full.svg", NULL});
    assert_int_equal(o->code, 1);
    assert_string_equal(o->err, "brio spectrum: cannot write full.svg: File too large\n");
    assert_null(read_all("full.svg", NULL));
}

static void refusals(void **state)
{
    (void)state;
    const Outcome *o = BRIO("spectrum", ".");
    assert_int_equal(o->code, 2);
    assert_string_equal(o->err, ". contains no results of `brio run` (there is no checkpoint): "
                                "give the folder of a run\n");
    write_chain(1, 1e-3);
    run_scene("chain.yaml", "chain");
    char *springs = read_all("springs.csv", NULL);
    springs[4] = '9'; /* the first spring: 300 to 900 N/m */
    write_text("springs.csv", springs);
    free(springs);
    o = BRIO("spectrum", "chain");
    assert_int_equal(o->code, 2);
    print_message("%s", o->err);
    assert_non_null(strstr(o->err, "the files have changed since; run the scene again\n"));
    unlink("springs.csv");
    o = BRIO("spectrum", "chain");
    assert_int_equal(o->code, 2);
    print_message("%s", o->err);
    assert_non_null(strstr(o->err, "go to the folder in which `brio run` was started\n"));
    write_text("large.yaml", "time: {h: 1/100, end: 1/100}\nbodies:\n  - shape: {type: box, size: "
                             "[1, 1, 1], cells: [10, 10, 9]}\n"
                             "    material: {type: stvk, E: 1e6, nu: 0.3, rho: 1000}\n");
    run_scene("large.yaml", "large");
    o = BRIO("spectrum", "large");
    assert_int_equal(o->code, 2);
    assert_string_equal(o->err, "there are 3630 coordinates, and all modes of more than 3000 take "
                                "too long: a coarser mesh of the same body has nearly the "
                                "same low modes\n");
    write_text("chain/run.json", "{\"title\": \"x\"}");
    o = BRIO("spectrum", "chain");
    assert_string_equal(o->err,
                        "chain/run.json holds no scene: it was not written by `brio run`\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_mode),
        cmocka_unit_test(free_and_turned),
        cmocka_unit_test(pictures),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
