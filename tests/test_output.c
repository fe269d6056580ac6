/* Writers, checkpoints, frames, JSON and records, without the program around them. */
#include "program.h"

#include <locale.h>

#include "memory.h"
#include "run/tables.h"
#include "output/json.h"
#include "output/motion.h"
#include "run/record.h"
#include "run/run.h"

static BrioFolder folder;

static int set_up(void **state)
{
    BrioError error = {0};
    return enter_folder(state) || brio__folder_open("out/inner", true, &folder, &error) != BRIO_OK;
}

static int tear_down(void **state)
{
    brio__folder_close(&folder);
    return leave_folder(state);
}

static void assert_file(const char *name, const char *expected)
{
    char path[300];
    snprintf(path, sizeof path, "out/inner/%s", name);
    char *text = read_all(path, NULL);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

static void files_that_grow(void **state)
{
    (void)state;
    BrioWriter w;
    BrioError error = {0};
    assert_int_equal(brio__writer_open(&folder, "table", (BrioExtent){0}, &w, &error), BRIO_OK);
    assert_int_equal(brio__writer_put(&w, "one\ntwo\n", 8, &error), BRIO_OK);
    assert_int_equal(w.written.length, 8);
    assert_true(w.written.hash == brio__hash(BRIO_HASH_START, "one\ntwo\n", 8));
    assert_int_equal(brio__writer_sync(&w, &error), BRIO_OK);
    assert_file("table", "one\ntwo\n");
    assert_int_equal(brio__writer_put(&w, "lost", 4, &error), BRIO_OK);
    brio__writer_cut(&w, 8);
    assert_file("table", "one\ntwo\n");
    BrioExtent four = {4, brio__hash(BRIO_HASH_START, "one\n", 4)};
    assert_int_equal(brio__writer_open(&folder, "table", four, &w, &error), BRIO_OK);
    assert_int_equal(brio__writer_put(&w, "2\n", 2, &error), BRIO_OK);
    BrioExtent six = w.written;
    assert_true(six.length == 6 && six.hash == brio__hash(BRIO_HASH_START, "one\n2\n", 6));
    brio__writer_close(&w);
    assert_file("table", "one\n2\n");
    write_text("out/inner/table", "one\n3\n and more");
    assert_int_equal(brio__writer_open(&folder, "table", six, &w, &error), BRIO_ERROR_INPUT);
    assert_string_equal(error.message, "out/inner/table was changed after the run; put the file "
                                       "back as it was, or start again with --force");
    assert_file("table", "one\n3\n and more");
    error = (BrioError){0};
    six.hash = 0; /* not known: as it is */
    assert_int_equal(brio__writer_open(&folder, "table", six, &w, &error), BRIO_OK);
    assert_true(w.written.hash == brio__hash(BRIO_HASH_START, "one\n3\n", 6));
    brio__writer_close(&w);
    BrioExtent seven = {.length = 7};
    assert_int_equal(brio__writer_open(&folder, "table", seven, &w, &error), BRIO_ERROR_INPUT);
    assert_string_equal(error.message, "out/inner/table has 6 bytes and the checkpoint 7: it was "
                                       "changed after the run; start again with --force");
    error = (BrioError){0};
    assert_int_equal(brio__writer_open(&folder, "nothing", seven, &w, &error), BRIO_ERROR_FILE);
    assert_string_equal(error.message, "cannot write out/inner/nothing: No such file or directory");
}

static void full_device(void **state)
{
    (void)state;
    BrioError error = {0};
    if (access("/dev/full", W_OK)) {
        print_message("SKIPPED: there is no /dev/full\n");
        return;
    }
    BrioFolder devices;
    BrioWriter w = {0};
    assert_int_equal(brio__folder_open("/dev", false, &devices, &error), BRIO_OK);
    w = (BrioWriter){.folder = &devices, .name = "full", .file = fopen("/dev/full", "w")};
    assert_int_equal(brio__writer_put(&w, "x", 1, &error), BRIO_OK); /* still in the buffer */
    assert_int_equal(brio__writer_sync(&w, &error), BRIO_ERROR_FILE);
    assert_string_equal(
        error.message,
        "cannot write /dev/full: No space left on device; free some space, then try again");
    assert_int_equal(brio__writer_put(&w, "x", 1, &error), BRIO_ERROR_FILE); /* and stays so */
    brio__writer_close(&w);
    brio__folder_close(&devices);
}

static void files_that_are_replaced(void **state)
{
    (void)state;
    FILE *file;
    BrioError error = {0};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(brio__replace_begin(&folder, "whole", &file, &error), BRIO_OK);
        fprintf(file, "version %d", i);
        /* the old one is there until the new one is complete */
        if (i) assert_file("whole", "version 0");
        assert_int_equal(brio__replace_end(&folder, "whole", file, true, &error), BRIO_OK);
    }
    assert_file("whole", "version 1");
    assert_int_equal(access("out/inner/whole.tmp", F_OK), -1);
    char longest[256] = "", path[300]; /* a name without room for another ending */
    memset(longest, 'n', sizeof longest - 1);
    snprintf(path, sizeof path, "out/inner/%s", longest);
    write_text(path, "old");
    assert_int_equal(brio__replace_begin(&folder, longest, &file, &error), BRIO_OK);
    brio__replace_cancel(&folder, longest, file);
    assert_file(longest, "old");
    assert_int_equal(unlink(path), 0);
}

static void json_texts(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    BrioJson json = {.file = file, .flat = true};
    brio__json_open(&json, NULL, '{');
    brio__json_text(&json, "a\"b", "line\nend\\ \x01");
    brio__json_real(&json, "tenth", 0.1);
    brio__json_real(&json, "nan", NAN);
    brio__json_integer(&json, "large", INT64_MAX);
    brio__json_open(&json, "list", '[');
    brio__json_boolean(&json, NULL, true);
    brio__json_text(&json, NULL, NULL);
    brio__json_text(&json, NULL, "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82");
    brio__json_text(&json, NULL,
                    "bl\xf6"
                    "ck \xe2\x82"); /* Latin-1; a character that was cut */
    brio__json_close(&json, ']');
    brio__json_close(&json, '}');
    fclose(file);
    assert_string_equal(
        text, "{\"a\\\"b\": \"line\\nend\\\\ \\u0001\", \"tenth\": 0.1, \"nan\": null, \"large\": "
              "9223372036854775807, \"list\": [true, null, "
              "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82\", "
              "\"bl\xef\xbf\xbd"
              "ck \xef\xbf\xbd\xef\xbf\xbd\"]}\n");
    free(text);
}

/* ---- a small scene ---------------------------------------------------------------------- */

static const char scene_text[] = "time: {h: 1/100, end: 0.1, fps: 50}\n"
                                 "bodies:\n"
                                 "  - name: cube\n"
                                 "    shape: {type: box, cells: [2, 1, 1]}\n"
                                 "    material: {type: neo-hookean, E: 1e4}\n"
                                 "    velocity: {angular: [1, 2, 3]}\n"
                                 "  - name: rope\n"
                                 "    shape: {type: line, cells: 3}\n"
                                 "    material: {type: hooke, rho: 1}\n"
                                 "    fix: [{vertices: [0]}]\n"
                                 "  - name: sheet\n"
                                 "    shape: {type: grid, cells_x: 2, cells_z: 2}\n"
                                 "    material: {type: hooke, rho: 1}\n"
                                 "output: {frames: [vtu, obj]}\n"
                                 "probes: [{name: end, body: rope, vertex: 3}]\n";

static BrioScene *load(void)
{
    BrioScene *scene = NULL;
    BrioError error = {0};
    write_text("scene.yaml", scene_text);
    if (brio__scene_load("scene.yaml", NULL, 0, &scene, &error) != BRIO_OK)
        fail_msg("%s", error.message);
    return scene;
}

static void checkpoint_round_trip(void **state)
{
    (void)state;
    BrioScene *scene = load();
    BrioState *s = scene->state, *back;
    BrioError error = {0};
    double times[] = {0, 0.1, 0.25};
    BrioCheckpoint c = {.scene = 42,
                        .isa = "some",
                        .energy = {7, 70},
                        .probes = {8, 80},
                        .motion = {9, 90},
                        .frames_passed = 9,
                        .frame_count = 3,
                        .frame_time = times};
    c.totals.wall = 1.5;
    c.totals.solve.iterations = 77;
    s->step = 11;
    s->time = 1.0 / 3;
    s->target = 5;
    assert_int_equal(brio_state_copy(s, &back, NULL), BRIO_OK);
    assert_int_equal(brio__checkpoint_write(&folder, &c, s, NULL, &error), BRIO_OK);
    back->step = 0;
    back->q[0] = back->v[1] = back->param[0] = -1;
    BrioCheckpoint d = {.scene = 42, .isa = "some"};
    assert_int_equal(brio__checkpoint_read(&folder, &d, back, NULL, &error), BRIO_OK);
    assert_int_equal(back->step, 11);
    assert_memory_equal(back->q, s->q, (size_t)s->coordinates * sizeof(double));
    assert_memory_equal(back->v, s->v, (size_t)s->coordinates * sizeof(double));
    assert_memory_equal(back->anchor, s->anchor, (size_t)s->fixed * sizeof(double));
    assert_memory_equal(back->param, s->param, (size_t)s->params * sizeof(double));
    assert_true(back->time == s->time && back->target == 5);
    assert_int_equal(d.frame_count, 3);
    assert_memory_equal(d.frame_time, times, sizeof times);
    assert_int_equal(d.totals.solve.iterations, 77);
    assert_true(d.energy.length == 7 && d.probes.length == 8 && d.motion.length == 9);
    assert_true(d.energy.hash == 70 && d.probes.hash == 80 && d.motion.hash == 90);
    brio__free(d.frame_time);

    /* another scene, and a file that any single byte may have changed in: refused, the state
     * untouched */
    d = (BrioCheckpoint){.scene = 43, .isa = "some"};
    assert_int_equal(brio__checkpoint_read(&folder, &d, back, NULL, &error), BRIO_ERROR_INPUT);
    size_t size = 0;
    char *good = read_all("out/inner/checkpoint", &size);
    for (size_t i = 0; i < size; i += 1 + size / 300) {
        good[i] ^= 1;
        write_bytes("out/inner/checkpoint", good, size);
        good[i] ^= 1;
        error = (BrioError){0};
        d = (BrioCheckpoint){.scene = 42, .isa = "some"};
        assert_int_equal(brio__checkpoint_read(&folder, &d, back, NULL, &error), BRIO_ERROR_INPUT);
        assert_true(error.message[0]);
        assert_int_equal(back->step, 11);
    }
    free(good);
    brio_state_free(back);
    brio__scene_free(scene);
}

static void scene_hash(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        bool same;
    } cases[] = {{"time.end=7", true},
                 {"time.h=1/99", false},
                 {"bodies.0.material.E=2e4", false},
                 {"output.every=2", false},
                 {"gravity=[0, 0, 0]", false}};
    BrioScene *scene = load();
    uint64_t hash = brio__scene_hash(scene, scene->system, scene->state);
    brio__scene_free(scene);
    for (size_t i = 0; i < BRIO_COUNT(cases); i++) {
        BrioError error = {0};
        assert_int_equal(brio__scene_load("scene.yaml", &cases[i].set, 1, &scene, &error), BRIO_OK);
        assert_int_equal(brio__scene_hash(scene, scene->system, scene->state) == hash,
                         cases[i].same);
        brio__scene_free(scene);
    }
}

/* ---- frames ----------------------------------------------------------------------------- */

/* The bytes of a DataArray, without the length before them; freed by the caller. */
static unsigned char *decode(const char *text, const char *name, size_t *size)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char mark[64];
    snprintf(mark, sizeof mark, "Name=\"%s\"", name);
    const char *at = strstr(text, mark);
    assert_non_null(at);
    at = strchr(at, '\n') + 1;
    size_t count = strcspn(at, "\n"), used = 0;
    assert_int_equal(count % 4, 0);
    unsigned char *bytes = malloc(count + 8);
    for (size_t i = 0; i < count; i += 4) {
        uint32_t group = 0;
        int pads = (at[i + 2] == '=') + (at[i + 3] == '=');
        for (size_t k = 0; k < 4; k++)
            group = group << 6 |
                    (uint32_t)(at[i + k] == '=' ? 0 : strchr(letters, at[i + k]) - letters);
        for (int k = 0; k < 3 - pads; k++) bytes[used++] = (unsigned char)(group >> (16 - 8 * k));
    }
    uint64_t length;
    memcpy(&length, bytes, sizeof length);
    assert_int_equal(length, used - 8);
    memmove(bytes, bytes + 8, used - 8);
    *size = used - 8;
    return bytes;
}

static void frames(void **state)
{
    (void)state;
    BrioScene *scene = load();
    const BrioSystem *s = scene->system;
    double *x = brio__alloc(3 * (size_t)s->vertex_count, sizeof *x),
           *v = brio__alloc(3 * (size_t)s->vertex_count, sizeof *v);
    brio__system_positions(s, scene->state, scene->state->q, 0, x);
    brio__system_velocities(s, scene->state, scene->state->v, 0, v);
    BrioMotionFile *motion;
    assert_int_equal(brio__motion_create(s, scene->rest, x, 30, 0, false, &motion), BRIO_OK);
    double *seen = brio__alloc(6 * (size_t)motion->vertex_count, sizeof *seen);
    brio__motion_seen(motion, x, false, seen);
    BrioFrame frame = {
        .system = s, .time = 0.5, .x = x, .v = v, .motion = motion, .only = -1, .seen = seen};
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    brio__frames("vtu")->write(&frame, file);
    fclose(file);
    unsigned char *array = decode(text, "position", &size);
    assert_int_equal(size, 24 * (size_t)s->body_vertices);
    assert_memory_equal(array, x, size);
    free(array);
    array = decode(text, "velocity", &size);
    assert_memory_equal(array, v, size);
    free(array);
    array = decode(text, "types", &size); /* 10 tets, 3 lines, 8 triangles */
    assert_int_equal(size, 21);
    assert_int_equal(array[0], 10);
    assert_int_equal(array[10], 3);
    assert_int_equal(array[13], 5);
    free(array);
    array = decode(text, "connectivity", &size);
    assert_int_equal(size, 4 * (10 * 4 + 3 * 2 + 8 * 3));
    for (size_t i = 0; i < size / 4; i++)
        assert_in_range(((int32_t *)array)[i], 0, s->body_vertices - 1);
    free(array);
    free(text);

    file = open_memstream(&text, &size);
    brio__frames("obj")->write(&frame, file);
    fclose(file);
    int vertices = 0, faces = 0, lines = 0;
    for (char *at = text; at; at = strchr(at, '\n'), at = at ? at + 1 : NULL) {
        vertices += !strncmp(at, "v ", 2);
        faces += !strncmp(at, "f ", 2);
        lines += !strncmp(at, "l ", 2);
    }
    assert_int_equal(vertices, s->body_vertices);
    assert_int_equal(faces, 20 + 8); /* boundary of two cells: ten squares */
    assert_int_equal(lines, 3);
    assert_non_null(strstr(text, "\no rope\n"));
    free(text);
    brio__motion_free(motion);
    brio__free(seen);
    brio__free(x);
    brio__free(v);
    brio__scene_free(scene);
}

/* ---- without memory --------------------------------------------------------------------- */

/* A run that is without memory at any point ends with a status, leaks nothing, and can be done
 * again. */
static void no_memory(void **state)
{
    (void)state;
    BrioRunOptions options = {.out = "memory", .force = true, .checkpoint_steps = 2};
    write_text("scene.yaml", scene_text);
    Memory memory;
    bool done = false;
    for (int64_t n = 0; !done; n = n < 100 ? n + 1 : n + 1 + n / 40) {
        BrioScene *scene = NULL;
        BrioRunResult result = {0};
        BrioError error = {0};
        memory_start(&memory, n, true);
        BrioStatus status = brio__scene_load("scene.yaml", NULL, 0, &scene, &error);
        if (status == BRIO_OK) {
            status = brio__run(scene, &options, &result, &error);
            brio__scene_free(scene);
        }
        if (status != BRIO_OK && !error.message[0] && !result.reason[0])
            fail_msg("no sentence after %lld allocations", (long long)n);
        assert_int_equal(memory.live, 0);
        done = status == BRIO_OK;
        if (!done) assert_true(status < 0);
    }
    brio_set_allocator(NULL);
    remove_tree("memory");
}

static char *text_of(const char *out, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", out, name);
    char *text = read_all(path, NULL);
    assert_non_null(text);
    return text;
}

/* The first number with this key. */
static double number_of(const char *json, const char *key)
{
    char mark[64];
    snprintf(mark, sizeof mark, "\"%s\": ", key);
    const char *at = strstr(json, mark);
    if (!at) fail_msg("no %s", key);
    return strtod(at + strlen(mark), NULL);
}

/* How long a run took, by its run.json. What the phases took is no more than the whole. */
static double wall_of(const char *json)
{
    const char *wall = strstr(json, "\"wall\": {"), *end = strchr(wall, '}');
    double total = number_of(wall, "total"), sum = -total;
    for (const char *at = strchr(wall, ':') + 1; (at = strchr(at, ':')) && at < end; at++)
        sum += strtod(at + 1, NULL);
    assert_true(total > 0 && sum <= total * (1 + 1e-9)); /* round-off */
    return total;
}

/* The driver as a program without a command line uses it: a hook sees every step and can stop the
 * run. Nothing stays open, frames hold whole bodies, and run.json counts from the beginning. */
static sig_atomic_t stop;
static int64_t stop_at;

static void watch(void *user, const BrioRunProgress *progress)
{
    int64_t *seen = user;
    assert_int_equal(progress->steps, 10);
    *seen = progress->step;
    if (progress->step == stop_at) stop = 1;
}

static int open_files(void)
{
    int count = 0;
    DIR *all = opendir("/proc/self/fd");
    while (all && readdir(all)) count++;
    if (all) closedir(all);
    return count;
}

static void headless_run(void **state)
{
    (void)state;
    int64_t seen = -1;
    stop_at = 4;
    BrioScene *scene = load();
    BrioRunOptions options = {.out = "headless", .progress = watch, .user = &seen, .stop = &stop};
    BrioRunResult result;
    BrioError error = {0};
    int before = open_files();
    double begin = brio__seconds();
    assert_int_equal(brio__run(scene, &options, &result, &error), BRIO_STOPPED);
    assert_int_equal(seen, 4);
    assert_int_equal(result.step, 4);
    assert_int_equal(result.verdict, BRIO_VERDICT_STOPPED);
    brio__scene_free(scene);
    stop = stop_at = 0;
    scene = load();
    options.resume = true;
    assert_int_equal(brio__run(scene, &options, &result, &error), BRIO_OK);
    assert_true(result.resumed);
    assert_int_equal(result.step, 10);
    assert_int_equal(result.frame_count, 6);
    assert_int_equal(result.totals.sessions, 2);
    brio__scene_free(scene);
    double took = brio__seconds() - begin;
    char *json = text_of("headless", "run.json"),
         *vtu = text_of("headless/frames", "frame_000005.vtu");
    assert_true(wall_of(json) <= took);
    assert_true(number_of(json, "factor_nonzeros") > 0);
    assert_true(number_of(json, "tets") == 10 && number_of(json, "vertices") == 12 + 4 + 9);
    size_t size;
    unsigned char *types = decode(vtu, "types", &size); /* 10 tets, 3 lines, 8 triangles */
    assert_int_equal(size, 21);
    assert_int_equal(types[0], 10);
    free(types);
    free(decode(vtu, "velocity", &size));
    assert_int_equal(size, 24 * (12 + 4 + 9));
    free(vtu);
    free(json);
    assert_int_equal(open_files(), before);
    remove_tree("headless");
}

/* In the place of the new run.json, at the end of a run. */
static void obstruct(void *user, const BrioRunProgress *progress)
{
    if (progress->step == progress->steps) assert_int_equal(mkdir(user, 0777), 0);
}

/* Whoever asks the result and whoever asks the status learns the same: a run whose verdict could
 * not be written has failed. */
static void a_verdict_that_cannot_be_written(void **state)
{
    (void)state;
    BrioScene *scene = load();
    BrioRunOptions options = {
        .out = "obstructed", .progress = obstruct, .user = "obstructed/run.json.tmp"};
    BrioRunResult result;
    BrioError error = {0};
    assert_int_equal(brio__run(scene, &options, &result, &error), BRIO_ERROR_FILE);
    assert_int_equal(result.verdict, BRIO_VERDICT_FAILED);
    assert_non_null(strstr(error.message, "cannot write obstructed/run.json"));
    assert_string_equal(result.reason, error.message);
    assert_int_equal(result.step, 10);
    brio__scene_free(scene);
    remove_tree("obstructed");
}

/* Columns of energy.csv can be told apart, also where a model of damping acts twice. */
static void columns_have_names_of_their_own(void **state)
{
    (void)state;
    static const char *const set = "damping=[{type: rayleigh, alpha: 1}, {type: rayleigh, beta: "
                                   "1e-4}, {type: ether-drag, k: 1}]";
    write_text("scene.yaml", scene_text);
    BrioScene *scene = NULL;
    BrioRunResult result;
    BrioError error = {0};
    BrioRunOptions options = {.out = "columns"};
    if (brio__scene_load("scene.yaml", &set, 1, &scene, &error)) fail_msg("%s", error.message);
    assert_int_equal(brio__run(scene, &options, &result, &error), BRIO_OK);
    brio__scene_free(scene);
    char *table = text_of("columns", "energy.csv"), *name[64];
    int count = 0, models = 0;
    *strchr(table, '\n') = 0;
    for (char *at = strtok(table, ","); at; at = strtok(NULL, ",")) {
        models += strstr(at, "dissipated.") == at;
        for (int k = 0; k < count; k++) assert_string_not_equal(at, name[k]);
        assert_true(count < 64);
        name[count++] = at;
    }
    assert_int_equal(models, 3);
    free(table);
    remove_tree("columns");
}

/* ---- a simulation that somebody else steps ---------------------------------------------- */

/* A cube that slides on a slab; five iterations are not enough for some of its steps. */
static const char sliding[] =
    "time: {h: 1/100, end: 0.1, fps: 50}\n"
    "gravity: [0, -10, 0]\n"
    "integrator: backward-euler\n"
    "solver: {max_iterations: 5}\n"
    "contact: {type: ipc, dhat: 0.01, mu: 0.3}\n"
    "obstacles: [{type: box, formula: false, size: [2, 0.2, 2], cells: [1, 1, 1], transform: "
    "{translate: [0, -0.1, 0]}}]\n"
    "bodies:\n"
    "  - name: cube\n"
    "    shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}\n"
    "    material: {type: neo-hookean, E: 1e4, rho: 1000}\n"
    "    transform: {translate: [0, 0.08, 0]}\n"
    "    velocity: {linear: [2, -2, 0]}\n"
    "probes: [{name: end, body: cube, vertex: 3}]\n"
    "output: {velocities: true}\n";

static BrioSim *open_sim(const char *text, BrioScene **scene)
{
    BrioSim *sim = NULL;
    BrioError error = {0};
    if (brio__scene_parse(text, strlen(text), "record", scene, &error) != BRIO_OK)
        fail_msg("%s", error.message);
    assert_int_equal(brio__scene_sim(*scene, &sim, &error), BRIO_OK);
    return sim;
}

static BrioRecord *record_begin(const BrioScene *scene, BrioSim *sim, const char *out)
{
    BrioRecord *record = NULL;
    BrioError error = {0};
    if (brio__record_begin(scene, sim, out, &record, &error) != BRIO_OK)
        fail_msg("%s", error.message);
    return record;
}

static void record_steps(BrioRecord *record, BrioSim *sim, int count)
{
    BrioLedger l;
    for (int k = 0; k < count; k++) {
        assert_int_equal(brio_sim_step(sim, NULL), BRIO_OK);
        assert_int_equal(brio_sim_ledger(sim, &l), BRIO_OK);
        assert_int_equal(brio__record_step(record, &l, NULL), BRIO_OK);
    }
}

/* The rows of a table are those of another one from `first` on, but for their steps and times,
 * which count from there. TOLERANCE 1e-12 s: a difference of times. */
static void same_rows(const char *part, const char *whole, const char *name, int first, int steps)
{
    char *a = text_of(part, name), *b = text_of(whole, name), *x = a, *y = b;
    for (int line = -1; line <= steps; line++) {
        size_t head = 0;
        if (line >= 0) {
            assert_int_equal(strtol(x, &x, 10), line);
            assert_true(fabs(strtod(x + 1, &x) - 0.01 * line) < 1e-12);
            while (line == 0 && strtol(y, NULL, 10) != first) y = strchr(y, '\n') + 1;
            assert_int_equal(strtol(y, &y, 10), line + first);
            strtod(y + 1, &y);
        }
        head = strcspn(x, "\n") + 1;
        assert_int_equal(head, strcspn(y, "\n") + 1);
        assert_memory_equal(x, y, head);
        x += head, y += head;
    }
    assert_int_equal(*x, 0);
    free(a);
    free(b);
}

/* Likewise the frames of a motion, of which a run of 0.01 s steps has one every other step; the
 * head (what stands still, triangles, weights) is the same. */
static void same_motion(const char *part, const char *whole, int first, int steps)
{
    BrioMotionFile *a, *b;
    size_t size = 0, other_size = 0;
    char path[2][128];
    assert_int_equal(brio__motion_open(part, &a, NULL), BRIO_OK);
    assert_int_equal(brio__motion_open(whole, &b, NULL), BRIO_OK);
    assert_int_equal(a->frame_count, steps / 2 + 1);
    assert_true(a->velocities && a->fps == 50);
    snprintf(path[0], sizeof path[0], "%s/" BRIO_MOTION_NAME, part);
    snprintf(path[1], sizeof path[1], "%s/" BRIO_MOTION_NAME, whole);
    char *bytes = read_all(path[0], &size), *other = read_all(path[1], &other_size);
    size_t head = (size_t)a->head_bytes, frame = a->frame_bytes;
    assert_true(head == (size_t)b->head_bytes && frame == b->frame_bytes);
    assert_memory_equal(bytes, other, head);
    for (size_t k = 0; k < (size_t)a->frame_count; k++) {
        size_t at = head + k * frame, from = at + (size_t)first / 2 * frame;
        assert_true(fabs(a->time[k] - 0.02 * (double)k) < 1e-12);
        assert_true(at + frame <= size && from + frame <= other_size);
        assert_memory_equal(bytes + at + 8, other + from + 8, frame - 8); /* behind the time */
    }
    free(bytes);
    free(other);
    brio__motion_free(a);
    brio__motion_free(b);
}

/* Work is counted from the beginning of a record, wherever the simulation comes from: two records
 * add up to a run, or, where that looks at the ledger more often, to what the solver has done. What
 * the phases took is no more than the whole. */
static void same_totals(const char *first, const char *second, const char *whole,
                        const BrioSolveTotals *done)
{
    static const char *const sums[] = {"steps",
                                       "minimisations",
                                       "newton_iterations",
                                       "factorisations",
                                       "friction_renewals",
                                       "friction_unconverged",
                                       "pattern_analyses",
                                       "halved_steps",
                                       "roundoff_convergences",
                                       "evaluations",
                                       "contact_searches",
                                       "contact_candidates"};
    const double looked[] = {(double)done->evaluations, (double)done->searches,
                             (double)done->candidates};
    char *a = text_of(first, "run.json"), *b = text_of(second, "run.json");
    char *all = text_of(whole, "run.json");
    for (int i = 0; i < 12; i++) {
        double one = number_of(a, sums[i]), other = number_of(b, sums[i]);
        double expected = i < 9 ? number_of(all, sums[i]) : looked[i - 9];
        if (one + other != expected || (i > 8 && expected == 0))
            fail_msg("%s: %g and %g of %g", sums[i], one, other, expected);
    }
    double one = number_of(a, "deepest_halving"), other = number_of(b, "deepest_halving");
    assert_true(fmax(one, other) == number_of(all, "deepest_halving") && number_of(all, "steps"));
    assert_true(number_of(all, "halved_steps") > 0);
    assert_true(number_of(a, "first_energy") == number_of(all, "first_energy"));
    assert_true(number_of(a, "last_energy") == number_of(b, "first_energy"));
    assert_true(number_of(b, "last_energy") == number_of(all, "last_energy"));
    assert_true(fabs(number_of(strstr(b, "\"totals\""), "time") - 0.06) < 1e-12);
    assert_true(number_of(b, "frames") == 4 && number_of(b, "sessions") == 1);
    assert_true(number_of(a, "from_step") == 0 && number_of(b, "from_step") == 4);
    assert_true(number_of(a, "from_time") == 0 && fabs(number_of(b, "from_time") - 0.04) < 1e-12);
    wall_of(b);
    free(a);
    free(b);
    free(all);
}

/* Two records of a simulation that follow each other hold what a run holds, and are read as such.
 * The solver has worked before. */
static void records_are_a_run(void **state)
{
    (void)state;
    BrioScene *scene = NULL;
    BrioError error = {0};
    write_text("sliding.yaml", sliding);
    assert_int_equal(brio__scene_load("sliding.yaml", NULL, 0, &scene, &error), BRIO_OK);
    BrioRunResult result;
    assert_int_equal(brio__run(scene, &(BrioRunOptions){.out = "whole"}, &result, &error), BRIO_OK);
    brio__scene_free(scene);
    BrioSim *sim = open_sim(sliding, &scene);
    BrioSolveTotals *t = &sim->stepper->solver->totals;
    t->gradient = t->line_search = 1000;
    t->minimisations = t->iterations = t->evaluations = t->roundoff = 1000;
    t->friction_renewals = t->friction_open = t->factorisations = 1000;
    BrioRecord *record;
    /* never into a run, although that could go on */
    assert_int_equal(brio__record_begin(scene, sim, "whole", &record, &error), BRIO_ERROR_EXISTS);
    const BrioSolveTotals before = *t;
    double clock = brio__seconds();
    record = record_begin(scene, sim, "first");
    record_steps(record, sim, 4);
    assert_int_equal(brio__record_end(record, BRIO_VERDICT_COMPLETED, NULL, NULL, &error), BRIO_OK);
    record = record_begin(scene, sim, "second");
    char *json = text_of("second", "run.json");
    assert_non_null(strstr(json, "\"verdict\": \"running\""));
    assert_true(number_of(json, "newton_iterations") == 0);
    free(json);
    record_steps(record, sim, 6);
    assert_true(fabs(brio__record_time(record) - 0.06) < 1e-12);
    assert_int_equal(brio__record_end(record, BRIO_VERDICT_COMPLETED, NULL, NULL, &error), BRIO_OK);
    BrioSolveTotals done = {.evaluations = t->evaluations - before.evaluations,
                            .searches = t->searches - before.searches,
                            .candidates = t->candidates - before.candidates};
    brio_sim_free(sim);
    brio__scene_free(scene);
    same_rows("first", "whole", "energy.csv", 0, 4);
    same_rows("second", "whole", "energy.csv", 4, 6);
    same_rows("first", "whole", "probes.csv", 0, 4);
    same_rows("second", "whole", "probes.csv", 4, 6);
    same_motion("first", "whole", 0, 4);
    same_motion("second", "whole", 4, 6);
    same_totals("first", "second", "whole", &done);
    json =
        text_of("first", "run.json"); /* the clock began with the record, and writing takes time */
    assert_true(number_of(json, "total") <= brio__seconds() - clock);
    assert_true(number_of(json, "output") > 0);
    free(json);
    assert_int_equal(brio__run_scene("second", &scene, &error), BRIO_OK);
    assert_int_equal(scene->probe_count, 1);
    brio__scene_free(scene);
    remove_tree("whole"), remove_tree("first"), remove_tree("second");
}

/* run.json lists what was changed, when, and why it ended: all counted from the beginning. */
static void records_say_what_happened(void **state)
{
    (void)state;
    enum { NOTES = 50 };
    BrioScene *scene = NULL;
    BrioError error = {0};
    char note[32];
    BrioSim *sim =
        open_sim("time: {h: 1/8, fps: 8}\nbodies: [{shape: {type: line, cells: 1}, kind: "
                 "points, material: {type: mass, vertex_mass: 1}}]\n",
                 &scene);
    for (int k = 0; k < 3; k++) assert_int_equal(brio_sim_step(sim, NULL), BRIO_OK);
    BrioRecord *record = record_begin(scene, sim, "notes");
    for (int k = 0; k < NOTES; k++) {
        snprintf(note, sizeof note, "note %d", k);
        brio__record_note(record, note);
        if (k % 10 == 9) record_steps(record, sim, 1);
    }
    BrioExplosion e = {.exploded = true,
                       .step = 7,
                       .time = 7 / 8.,
                       .sane_step = 5,
                       .sane_time = 5 / 8.,
                       .energy = 3,
                       .budget = 2};
    assert_int_equal(brio__record_end(record, BRIO_VERDICT_EXPLODED, "too fast", &e, &error),
                     BRIO_OK);
    char *json = text_of("notes", "run.json"), *at = strstr(json, "\"live\"");
    assert_true(number_of(at, "from_step") == 3 && number_of(at, "from_time") == 3 / 8.);
    for (int k = 0; k < NOTES; k++) {
        snprintf(note, sizeof note, "\"change\": \"note %d\"", k);
        at = strstr(at, "\"step\"");
        assert_true(number_of(at, "step") == k / 10 && number_of(at, "time") == k / 10 / 8.);
        assert_true(strstr(at, "\"change\"") == strstr(at, note));
        at = strstr(at, note);
        assert_non_null(at);
    }
    at = strstr(json, "\"explosion\"");
    assert_true(number_of(at, "step") == 4 && number_of(at, "time") == 4 / 8.);
    assert_true(number_of(at, "sane_step") == 2 && number_of(at, "sane_time") == 2 / 8.);
    assert_non_null(strstr(json, "\"verdict\": \"exploded\""));
    assert_non_null(strstr(json, "\"reason\": \"too fast\""));
    free(json);
    BrioScene *again = NULL;
    assert_int_equal(brio__run_scene("notes", &again, &error), BRIO_OK);
    brio__scene_free(again);
    /* sane before the record began */
    record = record_begin(scene, sim, "late");
    e.sane_step = 7, e.sane_time = 7 / 8.;
    assert_int_equal(brio__record_end(record, BRIO_VERDICT_EXPLODED, NULL, &e, &error), BRIO_OK);
    json = text_of("late", "run.json");
    assert_true(number_of(json, "sane_step") == 0 && number_of(json, "sane_time") == 0);
    free(json);
    brio_sim_free(sim);
    brio__scene_free(scene);
    remove_tree("notes"), remove_tree("late");
}

/* A record that cannot begin says why and leaves nothing open; results are never overwritten. */
static void records_are_refused(void **state)
{
    (void)state;
    BrioScene *scene = NULL;
    BrioRecord *record = NULL;
    BrioError error = {0};
    BrioSim *sim = open_sim(sliding, &scene);
    locale_t before = uselocale((locale_t)0);
    int files = open_files();
    record = record_begin(scene, sim, "kept");
    assert_int_equal(brio__record_end(record, BRIO_VERDICT_STOPPED, NULL, NULL, &error), BRIO_OK);
    assert_int_equal(brio__record_begin(scene, sim, "kept", &record, &error), BRIO_ERROR_EXISTS);
    assert_null(record);
    char *json = text_of("kept", "run.json");
    assert_non_null(strstr(json, "\"verdict\": \"stopped\""));
    free(json);
    record = record_begin(scene, sim, "gone");
    remove_tree("gone"); /* and with it the place of run.json */
    error = (BrioError){0};
    assert_true(brio__record_end(record, BRIO_VERDICT_STOPPED, NULL, NULL, &error) < 0);
    assert_non_null(strstr(error.message, "cannot write gone/run.json"));
    for (int64_t at = 0, done = 0; !done; at++) {
        Memory memory;
        memory_start(&memory, at, false);
        BrioStatus status = brio__record_begin(scene, sim, "memory", &record, &error);
        assert_int_equal(status == BRIO_OK, record != NULL);
        for (int k = 0; record && k < 40; k++) brio__record_note(record, "note");
        if (record) status = brio__record_end(record, BRIO_VERDICT_STOPPED, NULL, NULL, &error);
        brio_set_allocator(NULL);
        done = !memory.failed;
        if (done) assert_int_equal(status, BRIO_OK);
        assert_int_equal(memory.live, 0);
        remove_tree("memory");
    }
    error = (BrioError){0};
    sim->state->v[0] = NAN;
    assert_int_equal(brio__record_begin(scene, sim, "nan", &record, &error), BRIO_NOT_FINITE);
    assert_non_null(strstr(error.message, "restart, then record"));
    assert_int_equal(open_files(), files);
    assert_true(uselocale((locale_t)0) == before);
    brio_sim_free(sim);
    brio__scene_free(scene);
    remove_tree("kept");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_that_grow),
        cmocka_unit_test(full_device),
        cmocka_unit_test(files_that_are_replaced),
        cmocka_unit_test(json_texts),
        cmocka_unit_test(checkpoint_round_trip),
        cmocka_unit_test(scene_hash),
        cmocka_unit_test(frames),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(headless_run),
        cmocka_unit_test(columns_have_names_of_their_own),
        cmocka_unit_test(a_verdict_that_cannot_be_written),
        cmocka_unit_test(records_are_a_run),
        cmocka_unit_test(records_say_what_happened),
        cmocka_unit_test(records_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
