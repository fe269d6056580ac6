/* The program as a user meets it: results, interruption and resuming to the same bytes, full disks,
 * help. */
#include "program.h"

#include "base.h"
#include "scene/tree.h"

/* About a second of work: many cheap steps, frames in both formats, a probe. */
static const char scene_text[] = "title: Jelly\n"
                                 "time: {h: 1/200, end: 1.5, fps: 40}\n"
                                 "integrator: implicit-midpoint\n"
                                 "solver: {tol: 1e-7}\n"
                                 "bodies:\n"
                                 "  - name: jelly\n"
                                 "    shape: {type: box, size: [0.3, 0.2, 0.2], cells: [5, 3, 3]}\n"
                                 "    material: {type: neo-hookean, E: 5e4, nu: 0.4}\n"
                                 "    velocity: {angular: [3, 0, 1]}\n"
                                 "    fix:\n"
                                 "      - {box: [[-1, -1, -1], [-0.149, 1, 1]]}\n"
                                 "probes:\n"
                                 "  - {name: tip, body: jelly, vertex: 5}\n"
                                 "output: {frames: [vtu, obj]}\n";

static const char columns[] = "step,time,kinetic,elastic,gravity,contact,potential,total,target,"
                              "alpha,added,dissipated,px,py,pz,lx,ly,lz,"
                              "comx,comy,comz,iterations,contacts,min_distance";

/* Tables and all frames of two runs, byte for byte. */
static void assert_same_results(const char *a, const char *b)
{
    static const char *const names[] = {"energy.csv", "probes.csv", "motion.bin"};
    char x[512], y[512];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(x, sizeof x, "%s/%s", a, names[i]);
        snprintf(y, sizeof y, "%s/%s", b, names[i]);
        assert_true(same_file(x, y));
    }
    snprintf(x, sizeof x, "%s/frames", a);
    snprintf(y, sizeof y, "%s/frames", b);
    assert_int_equal(count_files(x), count_files(y));
    DIR *listing = opendir(x);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing));) {
        if (entry->d_name[0] == '.') continue;
        snprintf(x, sizeof x, "%s/frames/%.64s", a, entry->d_name);
        snprintf(y, sizeof y, "%s/frames/%.64s", b, entry->d_name);
        assert_true(same_file(x, y));
    }
    closedir(listing);
}

/* A key at the top of a JSON text, which must be valid JSON. */
static void assert_json(const char *text, const char *key, const char *expected)
{
    BrioNode *root = NULL;
    BrioError error = {0};
    if (brio__tree_parse(text, strlen(text), "json", &root, &error) != BRIO_OK)
        fail_msg("%d:%d: %s\n%s", error.line, error.column, error.message, text);
    if (key) {
        BrioNode *node = brio__node_get(root, key);
        assert_non_null(node);
        assert_string_equal(node->text ? node->text : "", expected);
    }
    brio__tree_free(root);
}

static void assert_verdict(const char *out, const char *expected)
{
    char path[512];
    snprintf(path, sizeof path, "%s/run.json", out);
    char *text = read_all(path, NULL);
    assert_non_null(text);
    assert_json(text, "verdict", expected);
    free(text);
}

static int rows(const char *file)
{
    char *text = read_all(file, NULL);
    int count = 0;
    for (char *at = text; at && (at = strchr(at, '\n')); at++) count++;
    free(text);
    return count;
}

/* The uninterrupted run that others are compared with, made once. */
static double reference_seconds;

static const char *reference(void)
{
    write_text("scene.yaml", scene_text);
    if (reference_seconds > 0) return "reference";
    double start = brio__seconds();
    const Outcome *o = BRIO("run", "scene.yaml", "-o", "reference", "--threads", "1", "--quiet");
    if (o->code) print_error("%s", o->err);
    assert_int_equal(o->code, 0);
    reference_seconds = brio__seconds() - start;
    return "reference";
}

/* ---- results ---------------------------------------------------------------------------- */

static void results(void **state)
{
    (void)state;
    reference();
    char *energy = read_all("reference/energy.csv", NULL),
         *probes = read_all("reference/probes.csv", NULL),
         *pvd = read_all("reference/frames/frames.pvd", NULL);
    assert_non_null(energy);
    assert_memory_equal(energy, columns, sizeof columns - 1);
    assert_int_equal(rows("reference/energy.csv"), 302); /* head, initial state, 300 steps */
    assert_memory_equal(probes, "step,time,tip.x,tip.y,tip.z\n0,0,", 32);
    assert_int_equal(rows("reference/probes.csv"), 302);
    /* 1.5 s at 40 a second, and the first */
    assert_int_equal(count_files("reference/frames"), 2 * 61 + 1);
    assert_non_null(strstr(pvd, "<DataSet timestep=\"0\" file=\"frame_000000.vtu\"/>"));
    assert_non_null(strstr(pvd, "file=\"frame_000060.vtu\"/>"));
    assert_verdict("reference", "completed");
    assert_int_equal(count_files("reference"), 7);
    free(energy);
    free(probes);
    free(pvd);
}

static void default_folder_and_json(void **state)
{
    (void)state;
    reference();
    const Outcome *o = BRIO("run", "scene.yaml", "--set", "time.end=0.05", "--json");
    assert_int_equal(o->code, 0);
    assert_json(o->out, "verdict", "completed");
    assert_json(o->out, "out", "scene-out");
    assert_verdict("scene-out", "completed");
    remove_tree("scene-out");
    o = BRIO("run", "scene.yaml", "--set", "time.end=0.05", "--quiet");
    assert_int_equal(o->code, 0);
    assert_string_equal(o->out, "");
    assert_string_equal(o->err, "");
    remove_tree("scene-out");
}

static void thinning(void **state)
{
    (void)state;
    reference();
    const Outcome *o = BRIO("run", "scene.yaml", "-o", "thin", "-q", "--set",
                            "output={frames: [obj], every: 10, energy_every: 100}");
    assert_int_equal(o->code, 0);
    assert_int_equal(rows("thin/energy.csv"), 5);
    assert_int_equal(count_files("thin/frames"), 7);
    remove_tree("thin");
}

static void existing_results_are_kept(void **state)
{
    (void)state;
    reference();
    const Outcome *o = BRIO("run", "scene.yaml", "-o", "kept", "-q", "--set", "time.end=0.1");
    assert_int_equal(o->code, 0);
    char *before = read_all("kept/energy.csv", NULL);
    write_text("kept/notes.txt", "mine");
    write_text("kept/frames/frame_cover.vtu", "mine");
    o = BRIO("run", "scene.yaml", "-o", "kept", "-q");
    assert_int_equal(o->code, 2);
    assert_string_equal(
        o->err,
        "kept holds results of an earlier run: --resume continues it, --force replaces it, -o "
        "chooses another folder\n");
    char *after = read_all("kept/energy.csv", NULL);
    assert_string_equal(before, after);
    o = BRIO("run", "scene.yaml", "-o", "kept", "-q", "--force", "--set", "time.end=0.05");
    assert_int_equal(o->code, 0);
    assert_int_equal(rows("kept/energy.csv"), 12);
    assert_int_equal(count_files("kept/frames"), 2 * 3 + 1 + 1);
    char *notes = read_all("kept/notes.txt", NULL);
    char *cover = read_all("kept/frames/frame_cover.vtu", NULL);
    assert_string_equal(notes, "mine");
    assert_string_equal(cover, "mine");
    o = BRIO("run", "scene.yaml", "-o", "kept", "--force", "--resume");
    assert_int_equal(o->code, 2);
    free(before);
    free(after);
    free(notes);
    free(cover);
    remove_tree("kept");
}

static void nothing_outside(void **state)
{
    (void)state;
    reference();
    assert_int_equal(mkdir("linked", 0777), 0);
    assert_int_equal(mkdir("elsewhere", 0777), 0);
    assert_int_equal(symlink("../elsewhere", "linked/frames"), 0);
    const Outcome *o = BRIO("run", "scene.yaml", "-o", "linked", "-q");
    assert_int_equal(o->code, 2);
    assert_non_null(strstr(o->err, "cannot write linked/frames"));
    assert_int_equal(count_files("elsewhere"), 0);
    unlink("linked/frames");
    write_text("target", "mine");
    assert_int_equal(symlink("../target", "linked/energy.csv"), 0);
    o = BRIO("run", "scene.yaml", "-o", "linked", "-q", "--force", "--set", "time.end=0.05");
    assert_int_equal(o->code, 0);
    char *target = read_all("target", NULL);
    assert_string_equal(target, "mine");
    free(target);
    remove_tree("linked");
    remove_tree("elsewhere");
    o = BRIO("run", "scene.yaml", "-o", "target/out");
    assert_int_equal(o->code, 2);
    assert_string_equal(o->err, "cannot write target/out: Not a directory; there is a file or a "
                                "link where a folder is needed\n");
    o = BRIO("run", "scene.yaml", "-o", "/proc/nothing");
    assert_int_equal(o->code, 2);
    assert_non_null(strstr(o->err, "cannot write /proc/nothing: "));
}

/* ---- the same bits ---------------------------------------------------------------------- */

static void threads_do_not_matter(void **state)
{
    (void)state;
    reference();
    const Outcome *o = BRIO("run", "scene.yaml", "-o", "two", "--threads", "2", "--quiet");
    assert_int_equal(o->code, 0);
    assert_same_results("reference", "two");
    remove_tree("two");
}

static void killed_and_resumed(void **state)
{
    (void)state;
    reference();
    BrioRandom random = {(uint64_t)getpid()};
    for (int trial = 0; trial < 5; trial++) {
        int kills = 0;
        for (; kills < 3; kills++) { /* several times within one run */
            pid_t child = start_program(
                (const char *const[]){"run", "scene.yaml", "-o", "killed", "--resume", "-q",
                                      "--checkpoint-every", trial % 2 ? "7" : "1", "--threads",
                                      trial % 2 ? "2" : "1", NULL},
                0);
            pause_for(reference_seconds * 0.8 * brio__random(&random));
            kill(child, SIGKILL);
            if (wait_program(child) != -SIGKILL) break; /* was faster */
        }
        const Outcome *o = BRIO("run", "scene.yaml", "-o", "killed", "--resume", "-q");
        if (o->code) print_error("%s", o->err);
        assert_int_equal(o->code, 0);
        assert_same_results("reference", "killed");
        assert_verdict("killed", "completed");
        remove_tree("killed");
    }
}

/* Killed while the very first checkpoint was being written: there is nothing yet, and the run
 * starts. */
static void killed_at_the_start(void **state)
{
    (void)state;
    reference();
    assert_int_equal(mkdir("begun", 0777), 0);
    write_text("begun/checkpoint.tmp", "half");
    const Outcome *o = BRIO("run", "scene.yaml", "-o", "begun", "--resume", "-q");
    assert_int_equal(o->code, 0);
    assert_same_results("reference", "begun");
    remove_tree("begun");
}

static void interrupted_and_resumed(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM};
    reference();
    for (int i = 0; i < 2; i++) {
        pid_t child =
            start_program((const char *const[]){"run", "scene.yaml", "-o", "stopped", NULL}, 0);
        double wait = 0;
        while (access("stopped/run.json", F_OK) && wait < 20) pause_for(0.01), wait += 0.01;
        kill(child, signals[i]);
        assert_int_equal(wait_program(child), 1);
        char *err = read_all(".err", NULL);
        assert_non_null(strstr(err, "stopped: stopped on request at t = "));
        free(err);
        assert_verdict("stopped", "stopped");
        const Outcome *o = BRIO("run", "scene.yaml", "-o", "stopped", "--resume");
        assert_int_equal(o->code, 0);
        assert_verdict("stopped", "completed");
        assert_same_results("reference", "stopped");
        o = BRIO("run", "scene.yaml", "-o", "stopped", "--resume");
        assert_int_equal(o->code, 0);
        assert_non_null(strstr(o->out, "stopped is already complete"));
        assert_same_results("reference", "stopped");
        remove_tree("stopped");
    }
}

static void lengthened(void **state)
{
    (void)state;
    reference();
    const Outcome *o = BRIO("run", "scene.yaml", "-o", "longer", "-q", "--set", "time.end=0.73");
    assert_int_equal(o->code, 0);
    o = BRIO("run", "scene.yaml", "-o", "longer", "-q", "--resume");
    assert_int_equal(o->code, 0);
    assert_same_results("reference", "longer");
    o = BRIO("run", "scene.yaml", "-o", "longer", "-q", "--resume", "--set",
             "bodies.0.material.E=6e4");
    assert_int_equal(o->code, 2);
    assert_string_equal(
        o->err, "longer/checkpoint belongs to another scene, or the scene or one of its files was "
                "changed (only time.end may be); "
                "run the scene as it was, or start again with --force\n");
    assert_same_results("reference", "longer");
    remove_tree("longer");
}

/* ---- what goes wrong -------------------------------------------------------------------- */

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZER 1
#endif
#endif

static void full_disk(void **state)
{
    (void)state;
#ifdef THREAD_SANITIZER
    print_message("SKIPPED: the thread sanitizer itself dies when files may not grow\n");
    return;
#endif
    if (!files_can_be_limited()) return;
    reference();
    const Outcome *o =
        run_limited(60000, (const char *const[]){"run", "scene.yaml", "-o", "full", "-q",
                                                 "--checkpoint-every", "20", NULL});
    assert_int_equal(o->code, 1);
    assert_string_equal(
        o->err,
        "failed: cannot write full/energy.csv: File too large; the file may not grow further "
        "(ulimit -f); the last checkpoint is in full\n");
    assert_verdict("full", "failed");
    o = BRIO("run", "scene.yaml", "-o", "full", "-q", "--resume");
    assert_int_equal(o->code, 0);
    assert_same_results("reference", "full");
    remove_tree("full");
    o = run_limited(2000, (const char *const[]){"run", "scene.yaml", "-o", "full", "-q", NULL});
    assert_true(o->code == 1 || o->code == 2);
    assert_non_null(strstr(o->err, "File too large"));
    remove_tree("full");
}

/* A single byte of a table or of the motion that is not what the run wrote: nothing is appended. */
static void each_table_is_checked(void)
{
    const char *const names[] = {"energy.csv", "probes.csv", "motion.bin"};
    for (size_t i = 0; i < BRIO_COUNT(names); i++) {
        char path[64], expected[200];
        size_t size = 0;
        snprintf(path, sizeof path, "damaged/%s", names[i]);
        char *bytes = read_all(path, &size);
        assert_non_null(bytes);
        bytes[size / 2] ^= 1;
        write_bytes(path, bytes, size);
        const Outcome *o = BRIO("run", "scene.yaml", "-o", "damaged", "-q", "--resume");
        assert_int_equal(o->code, 2);
        snprintf(expected, sizeof expected,
                 "%s was changed after the run; put the file back as it was, or start again with "
                 "--force\n",
                 path);
        assert_string_equal(o->err, expected);
        bytes[size / 2] ^= 1;
        write_bytes(path, bytes, size);
        free(bytes);
    }
}

static void damaged_checkpoints(void **state)
{
    (void)state;
    size_t size = 0;
    reference();
    const Outcome *o = BRIO("run", "scene.yaml", "-o", "damaged", "-q", "--set", "time.end=0.1");
    assert_int_equal(o->code, 0);
    char *good = read_all("damaged/checkpoint", &size);
    const char *refusal = "damaged/checkpoint is damaged or cut off: the run cannot be continued; "
                          "start again with --force\n";
    const size_t lengths[] = {0, 1, 20, 100, size / 2, size - 1};
    for (size_t i = 0; i < BRIO_COUNT(lengths); i++) {
        write_bytes("damaged/checkpoint", good, lengths[i]);
        o = BRIO("run", "scene.yaml", "-o", "damaged", "-q", "--resume");
        assert_int_equal(o->code, 2);
        assert_string_equal(o->err, refusal);
    }
    const size_t places[] = {0, 60, 200, size / 2, size - 1};
    for (size_t i = 0; i < BRIO_COUNT(places); i++) {
        good[places[i]] ^= 4;
        write_bytes("damaged/checkpoint", good, size);
        good[places[i]] ^= 4;
        o = BRIO("run", "scene.yaml", "-o", "damaged", "-q", "--resume");
        assert_int_equal(o->code, 2);
        assert_string_equal(o->err, refusal);
    }
    write_bytes("damaged/checkpoint", good, size);
    free(good);
    each_table_is_checked();
    assert_int_equal(truncate("damaged/energy.csv", 100), 0);
    o = BRIO("run", "scene.yaml", "-o", "damaged", "-q", "--resume");
    assert_int_equal(o->code, 2);
    assert_non_null(strstr(o->err, "damaged/energy.csv has 100 bytes and the checkpoint "));
    unlink("damaged/checkpoint");
    o = BRIO("run", "scene.yaml", "-o", "damaged", "-q", "--resume");
    assert_int_equal(o->code, 2);
    assert_string_equal(
        o->err, "damaged holds results but no checkpoint to continue from: --force starts again\n");
    remove_tree("damaged");
}

static void other_instruction_set(void **state)
{
    (void)state;
    reference();
    if (!strcmp(brio_isa(), "baseline")) {
        print_message("SKIPPED: this machine has one instruction set only\n");
        return;
    }
    const Outcome *o = BRIO("run", "scene.yaml", "-o", "isa", "-q", "--set", "time.end=0.05");
    assert_int_equal(o->code, 0);
    setenv("BRIO_ISA", "baseline", 1);
    o = BRIO("run", "scene.yaml", "-o", "isa", "-q", "--resume");
    unsetenv("BRIO_ISA");
    assert_int_equal(o->code, 2);
    assert_non_null(strstr(
        o->err, "and this run would use baseline, which gives other last bits; set BRIO_ISA="));
    remove_tree("isa");
}

static void step_that_fails(void **state)
{
    (void)state;
    reference();
    const Outcome *o = BRIO("run", "scene.yaml", "-o", "bad", "-q", "--set",
                            "solver={max_iterations: 1, max_halvings: 1}");
    assert_int_equal(o->code, 1);
    assert_non_null(strstr(
        o->err, "failed: step 1 (from t = 0 s, h = 0.005 s): Newton stopped after 2 iterations"));
    assert_verdict("bad", "failed");
    assert_int_equal(rows("bad/energy.csv"), 2);
    assert_int_equal(access("bad/checkpoint", F_OK), 0);
    remove_tree("bad");
}

static void two_runs_in_one_folder(void **state)
{
    (void)state;
    reference();
    pid_t child = start_program((const char *const[]){"run", "scene.yaml", "-o", "busy", "-q",
                                                      "--set", "time.end=100", NULL},
                                0);
    double wait = 0;
    while (access("busy/run.json", F_OK) && wait < 20) pause_for(0.01), wait += 0.01;
    const Outcome *o = BRIO("run", "scene.yaml", "-o", "busy", "-q", "--force");
    assert_int_equal(o->code, 2);
    assert_string_equal(
        o->err, "another brio is writing to busy: wait for it, or choose another folder with -o\n");
    kill(child, SIGKILL);
    wait_program(child);
    remove_tree("busy");
}

static void usage(void **state)
{
    (void)state;
    static const struct {
        const char *arguments[4], *message;
    } wrong[] = {
        {{"rum", "x"}, "brio: no command \"rum\"; did you mean \"run\"?\n"},
        {{"run"}, "brio run: which scene? Give a file or a name of `brio list scenes`\n"},
        {{"run", "demo", "--frce"}, "brio run: no option --frce; did you mean --force?\n"},
        {{"run", "demo", "--set"}, "brio run: --set needs a value: PATH=VALUE\n"},
        {{"run", "demo", "--quiet=yes"}, "brio run: --quiet takes no value\n"},
        {{"run", "demo", "--threads", "0"},
         "brio run: --threads 0: expected an integer from 1 to 1024\n"},
        {{"run", "demo", "cloth"}, "brio run: one scene at a time: \"demo\" and \"cloth\"\n"},
        {{"run", "demo", "--force", "--resume"},
         "brio run: --force starts again and --resume continues: give one of them\n"},
        {{"list", "integrator"},
         "brio list: no list \"integrator\"; did you mean \"integrators\"?\n"},
        {{"cite", "neohookean"},
         "brio cite: no citation for \"neohookean\"; did you mean \"neo-hookean\"?\n"},
        {{"cite", "nobody"}, "brio cite: no citation for \"nobody\"; `brio cite` lists all keys\n"},
        {{"settle", "cloth", "--quiet"},
         "brio settle: no option --quiet; see `brio help settle`\n"},
        {{"help", "rum"}, "brio help: no command \"rum\"; did you mean \"run\"?\n"},
        {{"help", "dhatt"}, "brio help: no key or method \"dhatt\"; did you mean \"dhat\"?\n"},
        {{"check"}, "brio check: which scene or mesh?\n"},
        {{"stability"},
         "brio stability: which scene? Or an oscillator: --integrator NAME --k K --m M --d D --h "
         "H\n"},
        {{"stability", "cloth", "--k", "3"},
         "brio stability: --k, --m, --d and --h are for an oscillator and need --integrator "
         "NAME\n"},
        {{"stability", "cloth", "--d0", "-1"},
         "brio stability: --d0 -1: expected a number of at least 0, such as 0.5 or 1/30\n"},
        {{"spectrum"},
         "brio spectrum: which results? Give the folder that `brio run` has written\n"},
        {{"spectrum", "a", "b"}, "brio spectrum: one folder at a time: \"a\" and \"b\"\n"},
        {{"spectrum", "a", "--modes", "0"},
         "brio spectrum: --modes 0: expected an integer from 1 to 3000\n"},
        {{"spectrum", "nowhere"},
         "there is no folder \"nowhere\": give one that `brio run` has written\n"},
    };
    for (size_t i = 0; i < BRIO_COUNT(wrong); i++) {
        const char *arguments[5] = {0};
        memcpy(arguments, wrong[i].arguments, sizeof wrong[i].arguments);
        const Outcome *o = run_limited(0, arguments);
        assert_string_equal(o->err, wrong[i].message);
        assert_int_equal(o->code, 2);
    }
}

/* ---- other commands --------------------------------------------------------------------- */

static void lists_and_citations(void **state)
{
    (void)state;
    static const char *const lists[] = {"integrators", "energies", "materials", "damping",
                                        "solvers",     "shapes",   "scenes",    "frames",
                                        "meshes",      "keys"};
    for (size_t i = 0; i < BRIO_COUNT(lists); i++) {
        const Outcome *o = BRIO("list", lists[i], "--json");
        assert_int_equal(o->code, 0);
        assert_json(o->out, NULL, NULL);
        o = BRIO("list", lists[i], "--verbose");
        assert_int_equal(o->code, 0);
        assert_true(o->out[0]);
    }
    const Outcome *o = BRIO("list", "--json");
    assert_json(o->out, NULL, NULL);
    assert_non_null(strstr(o->out, "\"name\": \"integrators\""));
    o = BRIO("list", "damping", "--json");
    assert_non_null(strstr(o->out, "\"name\": \"rayleigh\""));
    o = BRIO("list", "materials", "--json");
    assert_non_null(strstr(o->out, "\"name\": \"E\""));
    assert_non_null(strstr(o->out, "\"max\": 1e+15")); /* and by its name of version 0.1 */
    assert_non_null(strstr(o->out, "\"most\": 1e+15"));
    for (int i = 0; brio_integrator_at(i); i++) { /* every citation key has its text */
        o = BRIO("cite", brio_integrator_at(i)->name);
        assert_int_equal(o->code, 0);
        assert_true(strlen(o->out) > 60);
    }
    o = BRIO("cite");
    assert_int_equal(o->code, 0);
    assert_non_null(strstr(o->out, "Smith2018"));
}

/* Every reference makes an entry; three are compared as a whole: an article with pages, one with an
 * article number and a particle in a name, a reference without an author. */
static void bibtex(void **state)
{
    (void)state;
    static const struct {
        const char *name, *entry;
    } expected[] = {
        {"verlet",
         "@article{Swope1982,\n  author = {William C. Swope and Hans C. Andersen and Peter H. "
         "Berens "
         "and Kent R. Wilson},\n  title = {{A computer simulation method for the calculation of "
         "equilibrium constants for the formation of physical clusters of molecules: application "
         "to small water clusters}},\n  journal = {Journal of Chemical Physics},\n  volume = {76},"
         "\n  number = {1},\n  pages = {637--649},\n  year = {1982}\n}\n"},
        {"Smith2018",
         "@article{Smith2018,\n  author = {Breannan Smith and Fernando de Goes and Theodore Kim},\n"
         "  title = {{Stable neo-Hookean flesh simulation}},\n  journal = {ACM Transactions on "
         "Graphics},\n  volume = {37},\n  number = {2},\n  articleno = {12},\n  year = "
         "{2018}\n}\n"},
        {"Gentle2025",
         "@misc{Gentle2025,\n  title = {{Hopefully the most gentle introduction to simulation}},\n"
         "  howpublished = {An illustrated primer on physics-based simulation for graphics, web "
         "page, 18 September 2025},\n  year = {2025}\n}\n"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_string_equal(BRIO("cite", expected[i].name, "--bibtex")->out, expected[i].entry);
    assert_non_null(strstr(BRIO("cite", "brio", "--bibtex")->out, "author = {{The brio authors}}"));
    const Outcome *o = BRIO("cite", "--bibtex");
    int entries = 0, keys = 0;
    for (const char *at = o->out; (at = strstr(at, "\n  year = {")); at++) {
        assert_true(at[11] == '1' || at[11] == '2'); /* a year was found */
        entries++;
    }
    o = BRIO("cite");
    for (const char *at = o->out; *at; at++) keys += *at == '\n';
    assert_int_equal(entries, keys);
}

static void help(void **state)
{
    (void)state;
    const Outcome *o = BRIO("help");
    assert_int_equal(o->code, 0);
    static const char *const commands[] = {"run",    "compare",  "check",      "stability",
                                           "settle", "spectrum", "playground", "list",
                                           "cite",   "bench",    "help"};
    for (size_t i = 0; i < BRIO_COUNT(commands); i++) {
        o = BRIO("help", commands[i]);
        assert_int_equal(o->code, 0);
        assert_non_null(strstr(o->out, "\nExamples\n    brio "));
        static char before[sizeof o->out];
        memcpy(before, o->out, sizeof before);
        o = BRIO(commands[i], "--help");
        assert_string_equal(o->out, before);
    }
    /* keys of a scene, methods and other names: their part of the reference */
    static const char *const topics[][2] = {{"contact", "friction_iterations"},
                                            {"fix", "bodies[].fix[]"},
                                            {"gravity", "Acceleration of free fall."},
                                            {"a-search", "alpha_max"},
                                            {"jelly", "{type: neo-hookean"},
                                            {"dhat", "Parameter of laws, `contact:"},
                                            {"solver.tol", "Solver: solver\n  tol"},
                                            {"contact.dhat", "  ipc, cubic\n"},
                                            {"alpha_max", "a-search"}};
    for (size_t i = 0; i < BRIO_COUNT(topics); i++) {
        o = BRIO("help", topics[i][0]);
        assert_int_equal(o->code, 0);
        assert_non_null(strstr(o->out, topics[i][1]));
    }
    o = BRIO("--version");
    assert_int_equal(o->code, 0);
    assert_non_null(strstr(o->out, brio_version()));
    o = BRIO("--versio");
    assert_int_equal(o->code, 2);
    assert_string_equal(o->err, "brio: no option \"--versio\"; did you mean \"--version\"?\n");
}

static void scene_reference_is_current(void **state)
{
    (void)state;
#ifndef BRIO_HAVE_CHOLMOD
    print_message("SKIPPED: the page lists the solvers of a full build\n");
    return;
#endif
    const Outcome *o = BRIO("help", "scene", "--markdown");
    assert_int_equal(o->code, 0);
    char *page = read_all(BRIO_SOURCE_DIR "/docs/scene.md", NULL);
    assert_non_null(page);
    if (strcmp(page, o->out))
        fail_msg("docs/scene.md is out of date: brio help scene --markdown >docs/scene.md");
    free(page);
    o = BRIO("help", "commands", "--markdown");
    assert_int_equal(o->code, 0);
    page = read_all(BRIO_SOURCE_DIR "/docs/commands.md", NULL);
    assert_non_null(page);
    if (strcmp(page, o->out))
        fail_msg(
            "docs/commands.md is out of date: brio help commands --markdown >docs/commands.md");
    free(page);
    o = BRIO("list", "integrators", "--markdown");
    assert_int_equal(o->code, 0);
    page = read_all(BRIO_SOURCE_DIR "/README.md", NULL);
    assert_non_null(page);
    if (!strstr(page, o->out))
        fail_msg("the methods of README.md are out of date: brio list integrators --markdown");
    free(page);
    o = BRIO("help", "scene");
    assert_int_equal(o->code, 0);
    assert_non_null(strstr(o->out, "energy_every"));
}

/* An equilibrium is a state from which nothing moves. */
static void settle_then_run(void **state)
{
    (void)state;
    reference();
    const Outcome *o =
        BRIO("settle", "scene.yaml", "-o", "settled", "--set", "solver.tol=1e-10", "--json");
    if (o->code) print_error("%s", o->err);
    assert_int_equal(o->code, 0);
    assert_json(o->out, "verdict", "settled");
    assert_int_equal(count_files("settled"), 2);
    assert_int_equal(count_files("settled/frames"), 3);
    o = BRIO("settle", "scene.yaml", "-o", "settled");
    assert_int_equal(o->code, 2);
    o = BRIO("run", "scene.yaml", "-o", "still", "-q", "--set", "bodies.0.state=settled/state.csv",
             "--set", "bodies.0.velocity={}", "--set", "time.end=0.1");
    assert_int_equal(o->code, 0);
    char *table = read_all("still/energy.csv", NULL), *last = strrchr(table, '\n');
    *last = 0;
    double time, kinetic;
    int step;
    assert_int_equal(sscanf(strrchr(table, '\n') + 1, "%d,%lf,%lf", &step, &time, &kinetic), 3);
    assert_int_equal(step, 20);
    assert_true(kinetic < 1e-12); /* J; the swing of the same bar reaches 0.1 J */
    free(table);
    remove_tree("settled");
    remove_tree("still");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results),
        cmocka_unit_test(default_folder_and_json),
        cmocka_unit_test(thinning),
        cmocka_unit_test(existing_results_are_kept),
        cmocka_unit_test(nothing_outside),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(killed_and_resumed),
        cmocka_unit_test(killed_at_the_start),
        cmocka_unit_test(interrupted_and_resumed),
        cmocka_unit_test(lengthened),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(damaged_checkpoints),
        cmocka_unit_test(other_instruction_set),
        cmocka_unit_test(step_that_fails),
        cmocka_unit_test(two_runs_in_one_folder),
        cmocka_unit_test(usage),
        cmocka_unit_test(lists_and_citations),
        cmocka_unit_test(bibtex),
        cmocka_unit_test(help),
        cmocka_unit_test(scene_reference_is_current),
        cmocka_unit_test(settle_then_run),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
