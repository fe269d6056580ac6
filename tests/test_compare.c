/* brio compare: what its table says of a scene whose answers are known, orders, explosions,
 * refusals, files. */
#include "program.h"

#include "base.h"
#include "scene/tree.h"

/* A soft chain that spins freely and vibrates along itself: keeps energy and both momenta, slow
 * against every step here. */
static const char chain[] = "title: Chain <soft>\ngravity: [0, 0, 0]\ntime: {h: 1/50, end: "
                            "0.4}\nintegrator: backward-euler\nsolver: {tol: 1e-12}\n"
                            "bodies:\n  - name: chain\n    shape: {type: line, length: 1, cells: "
                            "3}\n    material: {type: hooke, k: 20, vertex_mass: 0.5}\n"
                            "    velocity: {linear: [0.3, 0, 0], angular: [0, 0, 2]}\n";

static BrioNode *parsed(const char *text)
{
    BrioNode *root = NULL;
    BrioError error = {0};
    if (brio__tree_parse(text, strlen(text), "json", &root, &error) != BRIO_OK)
        fail_msg("%s\n%s", error.message, text);
    return root;
}

static BrioNode *member(BrioNode *map, const char *key)
{
    BrioNode *node = brio__node_get(map, key);
    if (!node) fail_msg("no key %s", key);
    return node;
}

static double number(BrioNode *map, const char *key)
{
    const char *text = member(map, key)->text;
    return strcmp(text, "null") ? strtod(text, NULL) : NAN;
}

static bool file_has(const char *name, const char *text)
{
    char *all = read_all(name, NULL);
    if (!all) fail_msg("no file %s", name);
    bool found = strstr(all, text) != NULL;
    free(all);
    return found;
}

static void check_code(const Outcome *o, int code)
{
    if (o->code != code) fail_msg("exit %d instead of %d: %s%s", o->code, code, o->out, o->err);
}

/* TOLERANCE 0.1: the next power of h at the steps used. */
static void orders(void **state)
{
    (void)state;
    static const double expected[] = {1, 2, 2};
    write_text("chain.yaml", chain);
    const char *const methods =
        "backward-euler,trapezoidal, {type: runge-kutta, A: [[1/2]], b: [1]}";
    const Outcome *o = BRIO("compare", "chain.yaml", "--integrators", methods, "--h",
                            "1/200,1/50,1/100", "-o", "three", "--json", "-q");
    check_code(o, 0);
    assert_string_equal(o->err, "");
    BrioNode *root = parsed(o->out), *trials = member(root, "trials");
    assert_int_equal(trials->count, 9);
    assert_string_equal(member(root, "errors")->text, "extrapolation");
    assert_string_equal(member(root, "complete")->text, "true");
    for (int m = 0; m < 3; m++) {
        BrioNode *last = trials->child[3 * m + 2], *first = trials->child[3 * m];
        print_message("%s: order %.4f by extrapolation, errors %.3e to %.3e\n",
                      member(last, "integrator")->text, number(last, "order"),
                      number(first, "position_error"), number(last, "position_error"));
        assert_true(fabs(number(first, "h") - 0.02) < 1e-15); /* sorted: from large to small */
        assert_true(fabs(number(last, "h") - 0.005) < 1e-15);
        assert_true(isnan(number(first, "order")));
        assert_true(fabs(number(last, "order") - expected[m]) < 0.1);
        assert_true(number(first, "position_error") > 1.8 * number(last, "position_error"));
    }
    assert_string_equal(member(trials->child[6], "integrator")->text,
                        "runge-kutta A=[[0.5]] b=[1]");
    brio__tree_free(root);

    o = BRIO("compare", "chain.yaml", "--integrators", "backward-euler,trapezoidal", "--h",
             "1/100,1/200", "--reference", "rk4@1/4000", "-o", "two", "--json", "-q");
    check_code(o, 0);
    assert_non_null(strstr(o->err, "--reference is written NAME:h now")); /* @ is of version 0.1 */
    root = parsed(o->out);
    trials = member(root, "trials");
    assert_int_equal(trials->count, 5);
    assert_string_equal(member(root, "errors")->text, "reference");
    assert_string_equal(member(trials->child[4], "reference")->text, "true");
    for (int m = 0; m < 2; m++) {
        BrioNode *large = trials->child[2 * m], *small = trials->child[2 * m + 1];
        double ratio = number(large, "position_error") / number(small, "position_error");
        print_message("%s: order %.4f against rk4\n", member(small, "integrator")->text,
                      number(small, "order"));
        assert_true(fabs(number(small, "order") - expected[m]) < 0.1);
        assert_true(fabs(number(small, "order") - log2(ratio)) < 1e-9);
    }
    assert_true(isnan(number(trials->child[4], "position_error")));
    brio__tree_free(root);
    assert_true(file_has("two/work-precision.svg", "Error at the end against wall time"));
    assert_true(file_has("two/convergence.svg", "backward-euler: slope 1.0") ||
                file_has("two/convergence.svg", "backward-euler: slope 0.9"));
    assert_true(file_has("two/convergence.svg", "trapezoidal: slope 2.0") ||
                file_has("two/convergence.svg", "trapezoidal: slope 1.9"));
    assert_true(file_has("two/convergence.svg", ">slope 2<"));
}

/* How near trials are to a reference over the whole time, which a second comparison takes from the
 * folder. A method of order 2 is nearer in all than backward Euler, and nearer at half the step. */
static void nearness(void **state)
{
    (void)state;
    static const char *const keys[] = {"off_energy_percent", "off_kinetic_percent",
                                       "off_elastic_percent", "off_spectrum_percent"};
    double first[4][4];
    write_text("chain.yaml", chain);
    for (int k = 0; k < 2; k++) {
        const Outcome *o =
            BRIO("compare", "chain.yaml", "-i", "backward-euler,trapezoidal", "--h", "1/50,1/100",
                 "--reference", "rk4:1/4000", "-o", "near", "--json", "-q", "--force");
        check_code(o, 0);
        BrioNode *root = parsed(o->out), *trials = member(root, "trials");
        assert_int_equal(trials->count, 5);
        bool kept = strstr(o->out, "The reference is that of an earlier comparison") != NULL;
        assert_int_equal(kept, k);
        for (int t = 0; t < 4; t++)
            for (size_t q = 0; q < BRIO_COUNT(keys); q++) {
                double value = number(trials->child[t], keys[q]);
                if (k == 0) first[t][q] = value;
                assert_true(value == first[t][q]); /* the same bits */
            }
        /* the scene keeps momentum, so its centre goes straight; TOLERANCE: linear between steps */
        assert_true(number(trials->child[3], "off_momentum_percent") < 1e-9);
        assert_true(number(trials->child[3], "off_path") < 1e-9);
        assert_true(isnan(number(trials->child[4], "off_energy_percent"))); /* of itself */
        assert_true(number(trials->child[4], "cpu") >= 0);
        brio__tree_free(root);
    }
    for (size_t q = 0; q < BRIO_COUNT(keys); q++) {
        print_message("%s: %.3g %.3g, %.3g %.3g\n", keys[q], first[0][q], first[1][q], first[2][q],
                      first[3][q]);
        assert_true(first[1][q] < first[0][q] && first[3][q] < first[2][q]);
        assert_true(first[3][q] < first[1][q]);
    }
    assert_true(file_has("near/report.html", "Distance from the reference"));
    /* without a step: 1/50 of the finest */
    const Outcome *o = BRIO("compare", "chain.yaml", "-i", "trapezoidal", "--reference", "rk4",
                            "-o", "alone-reference", "--json", "-q", "--force");
    check_code(o, 0);
    BrioNode *root = parsed(o->out);
    assert_true(fabs(number(member(root, "trials")->child[1], "h") - 1. / 2500) < 1e-12);
    brio__tree_free(root);
}

/* Columns against what `brio run` writes for the same scene: the same steps, so the same bits. */
static void columns(void **state)
{
    (void)state;
    write_text("chain.yaml", chain);
    check_code(
        BRIO("run", "chain.yaml", "-o", "alone", "-q", "--force", "--set", "integrator=bdf2"), 0);
    const Outcome *o = BRIO("compare", "chain.yaml", "-i", "bdf2,implicit-midpoint", "-o",
                            "columns", "--json", "-q");
    check_code(o, 0);
    BrioNode *root = parsed(o->out);
    BrioNode *trials = member(root, "trials");
    BrioNode *bdf2 = trials->child[0];
    BrioNode *midpoint = trials->child[1];
    char *rows = read_all("alone/energy.csv", NULL), *row = strchr(rows, '\n') + 1;
    double first[8] = {0}, last[8] = {0}, above = 0;
    while (*row) {
        char *at = row;
        for (int k = 0; k < 8; k++) {
            last[k] = strtod(at, &at);
            at += *at == ',';
        }
        if (last[0] == 0) memcpy(first, last, sizeof first);
        above = brio__larger(above, last[7] - first[7]);
        row = strchr(row, '\n') + 1;
    }
    free(rows);
    print_message(
        "bdf2: change %.17g J, of brio run %.17g J; midpoint: momentum %.1e, angular %.1e\n",
        number(bdf2, "energy_change"), last[7] - first[7], number(midpoint, "momentum_change"),
        number(midpoint, "angular_momentum_change"));
    assert_int_equal(number(bdf2, "steps"), 20);
    assert_true(number(bdf2, "end") == last[1]);
    assert_true(number(bdf2, "energy_change") == last[7] - first[7]);
    assert_true(number(bdf2, "highest_above") == above);
    assert_true(number(root, "percent_of") == first[2] + first[3]);
    assert_string_equal(member(root, "percent_of_what")->text, "first kinetic and elastic energy");
    assert_true(fabs(number(bdf2, "energy_change_percent") -
                     100 * number(bdf2, "energy_change") / number(root, "percent_of")) < 1e-12);
    assert_true(number(bdf2, "newton_iterations") >= 20);
    assert_true(fabs(number(bdf2, "ms_per_step") - 50 * number(bdf2, "wall")) < 1e-9);
    assert_true(fabs(number(bdf2, "real_time_factor") * number(bdf2, "wall") - 0.4) < 1e-9);
    assert_true(isnan(number(bdf2, "order")));
    assert_string_equal(member(root, "keeps_momentum")->text, "true");
    /* tol 1e-12 m/s of a kg at a metre, 20 times */
    assert_true(number(midpoint, "angular_momentum_change") < 1e-11);
    assert_true(number(bdf2, "angular_momentum_change") > 1e-6);
    brio__tree_free(root);
    assert_true(
        file_has("columns/report.html", "<h1>Chain &lt;soft&gt;: integrators compared</h1>"));
    assert_true(file_has("columns/report.html", "title: Chain &lt;soft&gt;\n"));
    assert_true(file_has("columns/report.html", "<svg xmlns="));
    assert_false(file_has("columns/report.html", "src=\"http"));
    assert_true(file_has("columns/angular-momentum.svg", "Change of angular momentum"));
    char *csv = read_all("columns/compare.csv", NULL);
    char *json = read_all("columns/compare.json", NULL);
    assert_memory_equal(csv, "integrator,h,outcome,steps,end,energy_change,", 45);
    assert_non_null(strstr(csv, "\nbdf2,0.02"));
    root = parsed(json);
    assert_int_equal(member(root, "trials")->count, 2);
    assert_string_equal(member(member(root, "scene"), "title")->text, "Chain <soft>");
    brio__tree_free(root);
    free(csv);
    free(json);

    check_code(BRIO("compare", "chain.yaml", "-i",
                    "backward-euler,{type: a-search, decay: [[0, 5], [1, 2]]}", "--h", "0.03", "-o",
                    "words", "-q"),
               0);
    assert_true(file_has("words/alpha.svg", "alpha"));
    o = BRIO("compare", "chain.yaml", "-i",
             "backward-euler,{type: a-search, decay: [[0, 5], [1, 2]]}", "--h", "0.03", "-o",
             "words", "-q", "--force");
    check_code(o, 0);
    print_message("%s", o->out);
    /* bytes: … is three */
    for (const char *line = o->out; *line; line = strchr(line, '\n') + 1)
        assert_true(strcspn(line, "\n") <= 122);
    /* the last step is shorter */
    assert_non_null(strstr(o->out, "\n  backward-euler            0.03     14  0.4 "));
    assert_non_null(strstr(o->out, "\n  a-search decay=[[0, 5],…  0.03     14  0.4 "));
    assert_non_null(strstr(o->out, "the kinetic and elastic energy of the initial state"));
}

/* Where gravity's zero lies does not matter, and a scene that begins at rest has a scale as
 * well. */
static void gravity(void **state)
{
    (void)state;
    double percent[2];
    for (int k = 0; k < 2; k++) {
        char text[512];
        snprintf(text, sizeof text,
                 "gravity: [0, -9.8, 0]\ntime: {h: 1/50, end: 0.5}\nsolver: {tol: "
                 "1e-11}\nbodies:\n  - shape: {type: line, length: 1, cells: 2}\n"
                 "    material: {type: hooke, k: 50, vertex_mass: 0.1}\n    transform: {translate: "
                 "[0, %d, 0]}\n    fix: [{vertices: [0]}]\n",
                 1000 * k);
        write_text("pendulum.yaml", text);
        const Outcome *o = BRIO("compare", "pendulum.yaml", "-i", "backward-euler", "-o",
                                "pendulum", "--json", "-q", "--force");
        check_code(o, 0);
        BrioNode *root = parsed(o->out), *trial = member(root, "trials")->child[0];
        percent[k] = number(trial, "energy_change_percent");
        assert_true(isnan(number(trial, "momentum_change")));
        assert_string_equal(member(root, "percent_of_what")->text,
                            "largest kinetic and elastic energy, median");
        brio__tree_free(root);
    }
    print_message("change %.9f %% at height 0, %.9f %% at 1000 m\n", percent[0], percent[1]);
    assert_true(percent[0] < -1);
    /* 1000 m carry 1e-13 of round-off each */
    assert_true(fabs(percent[1] - percent[0]) < 1e-6 * fabs(percent[0]));
}

static void rows_that_fail(void **state)
{
    (void)state;
    write_text("chain.yaml", chain);
    const Outcome *o =
        BRIO("compare", "chain.yaml", "-i", "forward-euler,trapezoidal", "--h", "1/2", "--set",
             "time.end=100", "-o", "boom", "--json", "-q", "--set", "bodies.0.material.k=1e5");
    check_code(o, 0);
    BrioNode *root = parsed(o->out), *trials = member(root, "trials");
    assert_string_equal(member(trials->child[0], "outcome")->text, "exploded");
    assert_string_equal(member(trials->child[1], "outcome")->text, "completed");
    print_message("%s; %s; %s\n", member(trials->child[0], "reason")->text,
                  member(trials->child[0], "verdict")->text,
                  member(trials->child[1], "verdict")->text);
    assert_memory_equal(member(trials->child[0], "reason")->text, "exploded at t = ", 16);
    assert_memory_equal(member(trials->child[0], "verdict")->text, "exploded at ", 12);
    assert_true(number(trials->child[0], "end") < 100);
    assert_true(number(trials->child[0], "highest_above") > 1e6 * number(root, "percent_of"));
    brio__tree_free(root);
    assert_true(file_has("boom/energy.svg", "cut off: it goes up to"));
    assert_true(
        file_has("boom/report.html", "<strong>Exploded</strong>: forward-euler with h = 1/2 s"));

    write_text("wall.yaml",
               "gravity: [0, 0, 0]\ntime: {h: 1/100, end: 0.1}\ncontact: {type: ipc}\nbodies:\n  - "
               "shape: {type: line, length: 1, cells: 3}\n    kind: bar1d\n"
               "    material: {type: neo-hookean-1d, E: 10, rho: 10}\n    transform: {translate: "
               "[0.1, 0, 0]}\n"
               "obstacles:\n  - {type: plane, point: [0, 0, 0], normal: [1, 0, 0]}\n");
    o = BRIO("compare", "wall.yaml", "-i", "symplectic-euler,bdf2", "-o", "wall", "-q");
    check_code(o, 0);
    assert_non_null(strstr(o->out, "\n  symplectic-euler  1/100 "));
    assert_non_null(strstr(o->out, "  refused\n"));
    assert_non_null(strstr(o->out, "  completed\n"));
    assert_non_null(strstr(
        o->out, "\n  symplectic-euler: refused: symplectic-euler does not support contact: ipc: "));
    assert_true(file_has("wall/compare.csv", "symplectic-euler,0.01,refused,,,"));
    o = BRIO("compare", "wall.yaml", "-i", "symplectic-euler,rk4", "-o", "none", "-q");
    check_code(o, 1);
    assert_string_equal(o->err, "brio compare: the scene supports none of these integrators; see "
                                "the reasons above or in none/report.html\n");

    /* a step that the solver gives up on */
    o = BRIO("compare", "chain.yaml", "-i", "backward-euler,symplectic-euler", "-o", "fails", "-q",
             "--json", "--set", "solver={tol: 1e-12, max_iterations: 1, max_halvings: 0}");
    check_code(o, 0);
    root = parsed(o->out);
    trials = member(root, "trials");
    print_message("%s\n", member(trials->child[0], "reason")->text);
    assert_string_equal(member(trials->child[0], "outcome")->text, "failed");
    assert_memory_equal(member(trials->child[0], "reason")->text, "failed at t = 0 s: ", 19);
    assert_string_equal(member(trials->child[1], "outcome")->text, "completed");
    brio__tree_free(root);
}

static void no_overwriting(void **state)
{
    (void)state;
    write_text("chain.yaml", chain);
    mkdir("mine", 0777);
    write_text("mine/report.html", "mine");
    write_text("mine/other.txt", "other");
    const Outcome *o = BRIO("compare", "chain.yaml", "-i", "bdf2", "-o", "mine", "-q");
    check_code(o, 2);
    assert_string_equal(
        o->err,
        "mine/report.html already exists: --force replaces it, -o chooses another folder\n");
    assert_string_equal(o->out, "");
    assert_int_equal(count_files("mine"), 2);
    assert_true(file_has("mine/report.html", "mine"));
    check_code(BRIO("compare", "chain.yaml", "-i", "bdf2", "-o", "mine", "-q", "--force"), 0);
    assert_true(file_has("mine/report.html", "</html>"));
    assert_true(file_has("mine/other.txt", "other"));
    check_code(BRIO("compare", "chain.yaml", "-i", "bdf2", "-q"), 0);
    assert_true(file_has("chain-compared/report.html", "</html>"));
    if (!files_can_be_limited()) return;
    o = run_limited(1500, (const char *const[]){"compare", "chain.yaml", "-i", "bdf2", "-o", "full",
                                                "-q", NULL});
    check_code(o, 1);
    assert_memory_equal(o->err, "cannot write full/", 18);
}

static void stopping(void **state)
{
    (void)state;
    write_text("chain.yaml", chain);
    pid_t child =
        start_program((const char *const[]){"compare", "chain.yaml", "-i", "bdf2,backward-euler",
                                            "-o", "stopped", "--h", "1/50", "--reference",
                                            "trapezoidal@1e-7", "--set", "time.end=20", NULL},
                      0);
    for (int i = 0; i < 1000 && access("stopped", F_OK); i++) pause_for(0.01);
    pause_for(1); /* the first two are done in a moment, the third takes minutes */
    kill(child, SIGINT);
    assert_int_equal(wait_program(child), 1);
    char *out = read_all(".out", NULL);
    char *err = read_all(".err", NULL);
    char *json = read_all("stopped/compare.json", NULL);
    if (!out || !err || !json) fail_msg("what it said or wrote is missing");
    print_message("%s", err);
    assert_non_null(strstr(err, "brio compare: stopped on request: "));
    assert_non_null(strstr(out, ": stopped on request at t = "));
    BrioNode *root = parsed(json);
    assert_string_equal(member(root, "complete")->text, "false");
    assert_string_not_equal(member(member(root, "trials")->child[2], "outcome")->text, "completed");
    brio__tree_free(root);
    free(out);
    free(err);
    free(json);
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *argument[10], *message;
    } list[] = {
        {{"compare"}, "brio compare: which scene? Give a file or a name of `brio list scenes`\n"},
        {{"compare", "chain.yaml"},
         "brio compare: which integrators? Give --integrators a,b,c with names of `brio list "
         "integrators`\n"},
        {{"compare", "chain.yaml", "-i", "bdf2,bfd3"},
         "--integrators: no integrator \"bfd3\"; did you mean \"bdf3\"?\n"},
        {{"compare", "chain.yaml", "-i", "bdf2,,bdf3"},
         "--integrators: an integrator is missing next to a comma\n"},
        {{"compare", "chain.yaml", "-i", "bdf2,{type: bdf2}"},
         "--integrators: bdf2 is listed twice\n"},
        {{"compare", "chain.yaml", "-i", "{decay: 1}"},
         "--integrators: missing key \"type\": {type: a-search, decay: 10}\n"},
        {{"compare", "chain.yaml", "-i", "{type: a-search, decai: 1}"},
         "--integrators: unknown key \"decai\"; did you mean \"decay\"?\n"},
        {{"compare", "chain.yaml", "-i", "bdf2", "--h", "1/30,0"},
         "--h: a step size must be positive\n"},
        {{"compare", "chain.yaml", "-i", "bdf2", "--h", "1/50,0.02"},
         "--h: 1/50 and 0.02 are the same\n"},
        {{"compare", "chain.yaml", "-i", "bdf2", "--reference", "rk5:1/1000"},
         "--reference: no integrator \"rk5\"; did you mean \"rk2\"?\n"},
        {{"compare", "chain.yaml", "-i", "bdf2", "--reference", "rk4:0"},
         "--reference: a step size must be positive\n"},
        {{"compare", "chain.yaml", "-i", "bdf2", "--set", "integrator.decay=1"},
         "brio compare: --set integrator.decay=1: integrators are given by --integrators, with "
         "parameters as '{type: a-search, decay: 10}'\n"},
        {{"compare", "chain.yaml", "-i", "bdf2", "--h", "1/30", "--set", "time.h=1"},
         "brio compare: --set time.h=1: step sizes are given by --h\n"},
        {{"compare", "chain.yaml", "-i", "bdf2", "--h", "1e-13"},
         "0.4 s in steps of 1e-13 s are 4e+12 steps: more than 1e12\n"},
        {{"compare", "chain.yaml", "-i", "bdf2", "--set", "time.h=auto"},
         "the scene leaves its steps to brio (time.h: auto), and methods are compared at fixed "
         "ones: give them with --h, for a scene without time.tol, time.h_min and time.h_max\n"},
        {{"compare", "chain.yaml", "-i", "bdf2", "--set", "time.ende=1"},
         "--set time.ende: time: unknown key \"ende\"; did you mean \"end\"?\n"},
    };
    write_text("chain.yaml", chain);
    remove_tree("chain-compared");
    for (size_t i = 0; i < BRIO_COUNT(list); i++) {
        const Outcome *o = run_limited(0, list[i].argument);
        if (strcmp(o->err, list[i].message))
            fail_msg("expected %sgot      %s", list[i].message, o->err);
        assert_int_equal(o->code, 2);
        assert_string_equal(o->out, "");
    }
    assert_int_equal(access("chain-compared", F_OK), -1); /* nothing was written */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders),         cmocka_unit_test(nearness),
        cmocka_unit_test(columns),        cmocka_unit_test(gravity),
        cmocka_unit_test(rows_that_fail), cmocka_unit_test(no_overwriting),
        cmocka_unit_test(stopping),       cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
