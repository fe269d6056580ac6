/* Scenes on one to four processes against the ordinary program: the numbers, the bits, checkpoints,
 * pieces of frames, messages. */
#include "program.h"

#include <math.h>

/* mpirun refuses root without these, and more processes than cores without --oversubscribe;
 * processes that wait must let others work. */
static int enter(void **state)
{
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);
    return enter_folder(state);
}

static char said[65536];

/* brio on so many processes (0: without mpirun); what it says goes into `said`. */
static int brio(int processes, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int brio(int processes, const char *format, ...)
{
    char arguments[1024], command[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(arguments, sizeof arguments, format, list);
    va_end(list);
    char launch[64] = "";
    if (processes) snprintf(launch, sizeof launch, "mpirun --oversubscribe -n %d", processes);
    snprintf(command, sizeof command, "%s %s %s >.said 2>&1", launch, program(), arguments);
    int code = system(command);
    char *text = read_all(".said", NULL);
    snprintf(said, sizeof said, "%s", text ? text : "");
    free(text);
    return WIFEXITED(code) ? WEXITSTATUS(code) : -1;
}

static void run(int processes, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void run(int processes, const char *format, ...)
{
    char arguments[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(arguments, sizeof arguments, format, list);
    va_end(list);
    if (brio(processes, "%s", arguments))
        fail_msg("brio %s on %d processes: %s", arguments, processes, said);
}

/* The largest difference of two tables, each column's over its largest number, or over 1. Columns
 * that say how it was computed are left out, and alpha, which is any number where nothing changes
 * the velocities. */
static double difference(const char *one, const char *other, const char *name)
{
    static const char *const left_out[] = {"alpha", "iterations", "halvings", "remainder",
                                           "unfinished"};
    enum { COLUMNS = 64, ROWS = 400 };
    static double value[2][ROWS][COLUMNS];
    static char column[COLUMNS][64];
    int columns = 0, rows[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        char path[256], *save, *line_save;
        snprintf(path, sizeof path, "%s/%s", k ? other : one, name);
        char *text = read_all(path, NULL);
        if (!text) fail_msg("there is no %s", path);
        char *line = strtok_r(text, "\n", &line_save);
        columns = 0;
        for (char *word = strtok_r(line, ",", &save); word && columns < COLUMNS;
             word = strtok_r(NULL, ",", &save))
            snprintf(column[columns++], sizeof column[0], "%s", word);
        while ((line = strtok_r(NULL, "\n", &line_save)) && rows[k] < ROWS) {
            double *row = value[k][rows[k]++];
            for (int c = 0; c < columns; c++) {
                row[c] = line && *line ? strtod(line, &line) : 0;
                if (line && *line == ',') line++;
            }
        }
        free(text);
    }
    assert_int_equal(rows[0], rows[1]);
    double worst = 0;
    for (int c = 0; c < columns; c++) {
        bool skip = false;
        double max = 1, apart = 0;
        for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
            skip |= !strcmp(column[c], left_out[i]);
        for (int r = 0; !skip && r < rows[0]; r++) {
            max = fmax(max, fabs(value[0][r][c]));
            apart = fmax(apart, fabs(value[0][r][c] - value[1][r][c]));
            assert_true(isfinite(value[1][r][c]));
        }
        worst = fmax(worst, apart / max);
    }
    return worst;
}

static const char *scene_path(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, BRIO_SOURCE_DIR "/tests/cluster/%s.yaml", name);
    return path;
}

static void scene_case(const char *name, double end, double long_end)
{
    run(0, "run %s -o one --force --exact --set time.end=%.17g", scene_path(name), long_end);
    for (int processes = 1; processes <= 4; processes++) {
        if (processes == 3)
            run(0, "run %s -o one --force --exact --set time.end=%.17g", scene_path(name), end);
        run(processes, "run %s -o several --force --exact --set time.end=%.17g", scene_path(name),
            processes < 3 ? long_end : end);
        assert_non_null(strstr(said, "no intersection, no inverted element"));
        double energies = difference("one", "several", "energy.csv");
        double probes = difference("one", "several", "probes.csv");
        printf("  %s, %d process%s: energies and momenta %.1e, probes %.1e\n", name, processes,
               processes > 1 ? "es" : "", energies, probes);
        assert_true(energies < 1e-8 && probes < 1e-8);
    }
}

static void spin(void **state) { (void)state, scene_case("spin", 30 / 60., 100 / 60.); }
static void twist(void **state) { (void)state, scene_case("twist", 30 / 30., 100 / 30.); }
static void rayleigh(void **state) { (void)state, scene_case("rayleigh", 0.3, 1); }
static void ball(void **state) { (void)state, scene_case("ball", 0.3, 1); }
static void rub(void **state) { (void)state, scene_case("rub", 0.3, 1); }
/* Each cube keeps six rows on the coarsest level of multigrid (petsc.c). */
static void many(void **state) { (void)state, scene_case("many", 0.02, 0.02); }

/* Processes that own nothing take part in what the others decide. */
static void crowd(void **state)
{
    (void)state;
    run(0, "run %s -o one --force", scene_path("tiny"));
    run(9, "run %s -o several --force", scene_path("tiny"));
    double energies = difference("one", "several", "energy.csv");
    double probes = difference("one", "several", "probes.csv");
    printf("  seven free vertices on 9 processes: energies and momenta %.1e, probes %.1e\n",
           energies, probes);
    assert_true(energies < 1e-8 && probes < 1e-8);
}

static void same_bytes(const char *one, const char *other, const char *name)
{
    char path[256];
    size_t size[2];
    snprintf(path, sizeof path, "%s/%s", one, name);
    char *a = read_all(path, &size[0]);
    snprintf(path, sizeof path, "%s/%s", other, name);
    char *b = read_all(path, &size[1]);
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(a, b, size[0]);
    free(a);
    free(b);
}

/* A fixed number of processes gives the same bits twice. */
static void bits(void **state)
{
    (void)state;
    static const char *const scenes[] = {"ball", "rub", "twist", "ball"};
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 2; k++)
            run(4 - i % 3, "run %s -o %s --force --set time.end=0.2", scene_path(scenes[i]),
                k ? "again" : "once");
        same_bytes("once", "again", "energy.csv");
        same_bytes("once", "again", "probes.csv");
        same_bytes("once", "again", "motion.bin");
    }
}

/* What one number of processes began another ends, one process without mpirun too. */
static void resumed(void **state)
{
    (void)state;
    run(0, "run %s -o whole --force --set time.end=0.4", scene_path("rub"));
    run(3, "run %s -o pieces --force --set time.end=0.1", scene_path("rub"));
    run(2, "run %s -o pieces --resume --set time.end=0.2", scene_path("rub"));
    run(0, "run %s -o pieces --resume --set time.end=0.3", scene_path("rub"));
    run(4, "run %s -o pieces --resume --set time.end=0.4", scene_path("rub"));
    double energies = difference("whole", "pieces", "energy.csv");
    double probes = difference("whole", "pieces", "probes.csv");
    printf("  begun on 3 processes, continued on 2, on one and on 4: energies and momenta %.1e, "
           "probes %.1e\n",
           energies, probes);
    assert_true(energies < 1e-8 && probes < 1e-8);
}

/* Starts a run of 3 processes into the folder `broken`; once some steps are done, has the shell run
 * `signal` with the number of mpirun, and waits for the end. What was said is in .said. */
static void break_run(const char *signal)
{
    char command[1024];
    remove_tree("broken");
    snprintf(command, sizeof command,
             "mpirun --oversubscribe -n 3 %s run %s -o broken --set time.end=0.5 "
             "--checkpoint-every 2 >.said 2>&1 & echo $! >.pid",
             program(), scene_path("rub"));
    assert_int_equal(system(command), 0);
    for (int tries = 0; tries < 6000; tries++) { /* until some steps are done */
        size_t size = 0;
        char *rows = read_all("broken/energy.csv", &size);
        free(rows);
        if (size > 4000) break;
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    char *pid = read_all(".pid", NULL);
    snprintf(command, sizeof command, "mpirun=%d; %s", atoi(pid), signal);
    assert_int_equal(system(command), 0);
    bool ended = false;
    for (int tries = 0; tries < 6000 && !ended; tries++) {
        ended = kill(atoi(pid), 0) != 0;
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    assert_true(ended);
    free(pid);
}

static void must_have_said(const char *words)
{
    char *text = read_all(".said", NULL);
    if (!strstr(text, words)) fail_msg("no sentence: %s", text);
    free(text);
}

/* Continues what was broken on 2 processes, and compares it with the whole. */
static void mend_run(const char *what)
{
    run(2, "run %s -o broken --resume --set time.end=0.5", scene_path("rub"));
    double energies = difference("whole", "broken", "energy.csv");
    double probes = difference("whole", "broken", "probes.csv");
    printf("  %s, continued on 2: energies and momenta %.1e, probes %.1e\n", what, energies,
           probes);
    assert_true(energies < 1e-8 && probes < 1e-8);
}

/* One process is killed: the job ends with a sentence, and goes on from its checkpoint. */
static void killed(void **state)
{
    (void)state;
    run(0, "run %s -o whole --force --set time.end=0.5", scene_path("rub"));
    break_run("kill -KILL $(pgrep -P $mpirun | tail -1)");
    must_have_said("the last checkpoint is in broken: --resume continues from it");
    mend_run("a process of 3 killed");
}

/* A signal that mpirun passes on reaches the processes at different moments: they agree in which
 * iteration they stop. */
static void stopped(void **state)
{
    (void)state;
    run(0, "run %s -o whole --force --set time.end=0.5", scene_path("rub"));
    for (int trial = 0; trial < 3; trial++) {
        break_run("kill -USR1 $mpirun");
        must_have_said("stopped: stopped on request at t = ");
        mend_run("3 processes stopped");
    }
}

static long cells_of(const char *path)
{
    char *text = read_all(path, NULL), *at = text ? strstr(text, "NumberOfCells=\"") : NULL;
    if (!at) fail_msg("there is no piece %s", path);
    long cells = atol(at + strlen("NumberOfCells=\""));
    free(text);
    return cells;
}

/* What the vertices of each object in an OBJ reach along the axes: low and high of x, y, z. */
static int extents_of(const char *path, double extent[8][6])
{
    char *text = read_all(path, NULL), *save;
    int objects = 0;
    if (!text) fail_msg("there is no %s", path);
    for (char *at = strtok_r(text, "\n", &save); at; at = strtok_r(NULL, "\n", &save)) {
        if (at[0] == 'o' && at[1] == ' ') {
            assert_true(objects < 8);
            for (int k = 0; k < 6; k++) extent[objects][k] = k % 2 ? -INFINITY : INFINITY;
            objects++;
        }
        if (at[0] != 'v' || at[1] != ' ') continue;
        assert_true(objects > 0);
        double *e = extent[objects - 1];
        char *number = at + 1;
        for (int k = 0; k < 6; k += 2) {
            double x = strtod(number, &number);
            e[k] = fmin(e[k], x);
            e[k + 1] = fmax(e[k + 1], x);
        }
    }
    free(text);
    return objects;
}

/* Each process writes its elements, all of them once. What is seen is where it is on one
 * process. TOLERANCE 1e-6 m: OBJ files are of surfaces with float coordinates. */
static void pieces(void **state)
{
    (void)state;
    run(3, "run %s -o framed --force --set time.end=0.1 --set 'output={frames: [vtu, obj]}'",
        scene_path("rub"));
    long cells = 0;
    for (int p = 0; p < 3; p++) {
        char path[256];
        snprintf(path, sizeof path, "framed/frames/frame_000002_p%d.vtu", p);
        cells += cells_of(path);
    }
    assert_int_equal(cells, 240 + 135);
    char *joint = read_all("framed/frames/frame_000002.pvtu", NULL);
    char *index = read_all("framed/frames/frames.pvd", NULL);
    assert_non_null(joint);
    assert_non_null(index);
    assert_non_null(strstr(joint, "<Piece Source=\"frame_000002_p2.vtu\"/>"));
    assert_non_null(strstr(index, "file=\"frame_000002.pvtu\""));
    free(joint);
    free(index);
    run(0, "run %s -o alone --force --set time.end=0.1 --set 'output={frames: [obj]}'",
        scene_path("rub"));
    double several[8][6], one[8][6];
    int objects = extents_of("alone/frames/frame_000003.obj", one);
    assert_true(objects >= 2);
    assert_int_equal(extents_of("framed/frames/frame_000003.obj", several), objects);
    for (int i = 0; i < 6 * objects; i++)
        if (!(fabs(several[i / 6][i % 6] - one[i / 6][i % 6]) < 1e-6))
            fail_msg("object %d reaches %g m, and %g m on one process", i / 6,
                     several[i / 6][i % 6], one[i / 6][i % 6]);
}

/* The index names the files of each session. */
static void pieces_and_wholes(void **state)
{
    (void)state;
    run(2, "run %s -o mixed --force --set time.end=0.05 --set 'output={frames: [vtu]}'",
        scene_path("rub"));
    write_text("mixed/frames/frame_000002.pvtu", "of a session that was killed");
    run(0, "run %s -o mixed --resume --set time.end=0.1 --set 'output={frames: [vtu]}'",
        scene_path("rub"));
    char *index = read_all("mixed/frames/frames.pvd", NULL);
    assert_non_null(index);
    assert_non_null(strstr(index, "file=\"frame_000001.pvtu\""));
    assert_non_null(strstr(index, "file=\"frame_000002.vtu\""));
    assert_null(strstr(index, "frame_000001.vtu"));
    free(index);
}

/* A checkpoint counts frames, so all pieces of them are on the disk before it. A process that is
 * traced cannot look for leaks. */
static void pieces_are_synced(void **state)
{
    (void)state;
    char command[2048];
    snprintf(command, sizeof command,
             "ASAN_OPTIONS=detect_leaks=0 strace -f -qq -y -o .calls -e trace=fsync mpirun "
             "--oversubscribe -n 3 %s run %s -o "
             "synced --force --set time.end=0.1 --set 'output={frames: [vtu]}' >.said 2>&1",
             program(), scene_path("rub"));
    if (!has_program("strace") || system("strace -o .calls true")) {
        printf("SKIPPED: there is no strace, or it may not trace here\n");
        return;
    }
    assert_int_equal(system(command), 0);
    char *calls = read_all(".calls", NULL);
    assert_non_null(calls);
    for (int p = 0; p < 3; p++) {
        char name[64];
        snprintf(name, sizeof name, "frames/frame_000002_p%d.vtu>", p);
        assert_non_null(strstr(calls, name));
    }
    assert_non_null(strstr(calls, "frames/frame_000002.pvtu>"));
    free(calls);
}

/* Other solvers of PETSc by its options, with the same results. */
static void options(void **state)
{
    (void)state;
    static const char *const choice[] = {
        "-pc_type hypre -pc_hypre_boomeramg_numfunctions 3",
        "-ksp_type preonly -pc_type cholesky -pc_factor_mat_solver_type mumps"};
    run(0, "run %s -o one --force --set time.end=0.2", scene_path("rayleigh"));
    for (size_t i = 0; i < 2; i++) {
        run(2,
            "run %s -o several --force --set time.end=0.2 --set 'solver.linear={type: petsc, "
            "options: \"%s\"}'",
            scene_path("rayleigh"), choice[i]);
        double energies = difference("one", "several", "energy.csv");
        printf("  %s: energies and momenta %.1e\n", choice[i], energies);
        assert_true(energies < 1e-8);
    }
}

static void messages(void **state)
{
    (void)state;
    assert_int_equal(brio(2, "run nothing-of-that-name"), 2);
    assert_non_null(strstr(said, "there is no scene \"nothing-of-that-name\""));
    assert_int_equal(brio(2, "run %s -o refused --set solver=local-global", scene_path("spin")), 2);
    assert_non_null(strstr(said, "solver: local-global: on one process only in this version of "
                                 "brio; run the scene without mpirun"));
    assert_int_equal(brio(2, "run %s -o refused --set solver.linear=ldlt", scene_path("spin")), 2);
    assert_non_null(strstr(said, "with several use solver: {linear: petsc}"));
    assert_int_equal(brio(2, "run %s -o refused --set time.h=auto", scene_path("spin")), 2);
    assert_non_null(strstr(said, "time.h: auto: on one process only in this version of brio"));
    assert_int_equal(access("refused", F_OK), -1);
    run(0, "--version");
    assert_non_null(strstr(said, "PETSc 3."));
    run(2, "run %s -o there --set time.end=0.05", scene_path("spin"));
    /* results are not overwritten */
    assert_int_equal(brio(2, "run %s -o there", scene_path("spin")), 2);
    assert_non_null(strstr(said, "--force"));
}

int main(void)
{
    if (system("command -v mpirun >/dev/null 2>&1")) {
        printf("SKIPPED: there is no mpirun; apt-get install openmpi-bin\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spin),
        cmocka_unit_test(twist),
        cmocka_unit_test(rayleigh),
        cmocka_unit_test(ball),
        cmocka_unit_test(rub),
        cmocka_unit_test(many),
        cmocka_unit_test(crowd),
        cmocka_unit_test(bits),
        cmocka_unit_test(resumed),
        cmocka_unit_test(killed),
        cmocka_unit_test(stopped),
        cmocka_unit_test(pieces),
        cmocka_unit_test(pieces_and_wholes),
        cmocka_unit_test(pieces_are_synced),
        cmocka_unit_test(options),
        cmocka_unit_test(messages),
    };
    return cmocka_run_group_tests(tests, enter, leave_folder);
}
