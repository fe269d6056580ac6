/* A run that another program follows: frames as NumPy arrays while it runs, progress as lines of
 * JSON, checkpoints of frames and runs that start from them, vertices of intersections. */
#include "program.h"

#include <math.h>

#define MESH "v 0 1 0\nv 1 1 0.25\nv 0.125 1 1\nv 5 1 5\nv 6 1 5\nv 5 1 6\nf 1 2 3\nf 4 5 6\n"
#define SCENE                                                                                    \
    "time: {h: 1/48, end: 0.5, fps: 24}\nintegrator: %s\n"                                       \
    "bodies:\n  - {name: first, mesh: a.obj, material: cotton, velocity: {linear: [1, 2, 3]}}\n" \
    "  - {name: second, mesh: a.obj, material: cotton, transform: {translate: [0, 2, 0]},\n"     \
    "     fix: [{vertices: [0]}]}\n"                                                             \
    "output: {frames: [npy], checkpoints: 2}\n"

static void write_scene(const char *name, const char *integrator)
{
    char text[1024];
    snprintf(text, sizeof text, SCENE, integrator);
    write_text("a.obj", MESH);
    write_text(name, text);
}

/* The numbers of an array; its head must be what NumPy asks for. */
static const double *numbers(char *bytes, size_t size, int rows)
{
    char wanted[128];
    size_t head = (unsigned char)bytes[8] + 256 * (size_t)(unsigned char)bytes[9];
    assert_memory_equal(bytes, "\x93NUMPY\1\0", 8);
    assert_int_equal((10 + head) % 64, 0);
    assert_int_equal(bytes[10 + head - 1], '\n');
    snprintf(wanted, sizeof wanted, "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, 6), }",
             rows);
    assert_memory_equal(bytes + 10, wanted, strlen(wanted));
    assert_int_equal(size, 10 + head + 48 * (size_t)rows);
    return (const double *)(bytes + 10 + head);
}

static void arrays(void **state)
{
    (void)state;
    static const double first[3][6] = {
        {0, 1, 0, 1, 2, 3}, {1, 1, 0.25, 1, 2, 3}, {0.125, 1, 1, 1, 2, 3}};
    write_scene("scene.yaml", "backward-euler");
    assert_int_equal(BRIO("run", "scene.yaml", "-o", "arrays", "--quiet")->code, 0);
    assert_int_equal(count_files("arrays/frames"), 13);
    size_t size = 0;
    char *bytes = read_all("arrays/frames/frame_000000.npy", &size);
    assert_non_null(bytes);
    const double *x = numbers(bytes, size, 12);
    assert_memory_equal(x, first, sizeof first);
    for (int k = 0; k < 3; k++) /* the second body, two metres above and at rest */
        assert_true(x[36 + 6 * k + 1] == 3 && x[36 + 6 * k] == first[k][0] &&
                    x[36 + 6 * k + 4] == 0);
    free(bytes);
    bytes = read_all("arrays/frames/frame_000012.npy", &size);
    x = numbers(bytes, size, 12);
    assert_true(x[36] == 0 && x[37] == 3 && x[38] == 0); /* fixed */
    assert_true(x[4] < -2);                              /* in free fall for half a second */
    free(bytes);
}

/* The frames of a run from frame `start` of the whole on are the whole's own. */
static void same_frames(const char *run, int start)
{
    char a[64], b[64];
    for (int k = start; k <= 12; k++) {
        snprintf(a, sizeof a, "whole/frames/frame_%06d.npy", k);
        snprintf(b, sizeof b, "%s/frames/frame_%06d.npy", run, k - start);
        assert_true(same_file(a, b));
    }
}

/* Every kind of method goes on from a kept checkpoint of the same scene to the same bits: of one
 * step, with past positions, accelerations, an energy target; with contact. And again
 * from a checkpoint of such a run, with another end. */
static void from_checkpoint(void **state)
{
    (void)state;
    static const char *const method[] = {
        "backward-euler",
        "bdf2",
        "bdf4",
        "generalized-alpha",
        "{type: a-search, decay: 0.3, ground: -1}",
        "energy-budget",
        ("bdf2\ncontact: {type: ipc, mu: 0.3, start: relax}\n"
         "obstacles: [{type: plane, point: [0, 0.5, 0], normal: [0, 1, 0]}]")};
    for (int m = 0; m < (int)(sizeof method / sizeof *method); m++) {
        print_message("%s\n", method[m]);
        write_scene("scene.yaml", method[m]);
        assert_int_equal(BRIO("run", "scene.yaml", "-o", "whole", "--quiet", "--force")->code, 0);
        assert_int_equal(count_files("whole/checkpoints"), 7);
        const Outcome *o = BRIO("run", "scene.yaml", "-o", "rest", "--quiet", "--force", "--from",
                                "whole/checkpoints/000004");
        assert_int_equal(o->code, 0);
        assert_int_equal(count_files("rest/frames"), 9);
        same_frames("rest", 4);
        assert_int_equal(count_files("rest/checkpoints"), 5); /* named by frames of the whole */
        assert_int_equal(access("rest/checkpoints/000004", F_OK), 0);
        o = BRIO("run", "scene.yaml", "-o", "last", "--quiet", "--force", "--from",
                 "rest/checkpoints/000008", "--set", "time.end=0.6");
        assert_int_equal(o->code, 0);
        same_frames("last", 8);
    }
    /* --force removes kept checkpoints too, and leaves what is not ours */
    write_text("rest/checkpoints/notes", "mine\n");
    assert_int_equal(BRIO("run", "scene.yaml", "-o", "rest", "--quiet", "--force", "--set",
                          "output.checkpoints=0")
                         ->code,
                     0);
    assert_int_equal(count_files("rest/checkpoints"), 1);
}

/* Another material, gravity and method from the same positions; other bodies are rejected. */
static void from_another(void **state)
{
    (void)state;
    write_scene("scene.yaml", "bdf2");
    assert_int_equal(BRIO("run", "scene.yaml", "-o", "one", "--quiet")->code, 0);
    const char *kept = "one/checkpoints/000006";
    const Outcome *o = BRIO("run", "scene.yaml", "-o", "two", "--from", kept, "--set",
                            "integrator=a-search", "--set", "gravity=[0, 3, 0]", "--set",
                            "bodies.0.material=silk", "--set", "time.h=1/96", "--json");
    assert_int_equal(o->code, 0);
    assert_non_null(strstr(o->out, "\"steps\": 48")); /* counted from the start, of the new h */
    size_t size = 0;
    char *before = read_all("one/frames/frame_000006.npy", &size);
    char *after = read_all("two/frames/frame_000000.npy", &size);
    assert_memory_equal(numbers(before, size, 12), numbers(after, size, 12), 12 * 48);
    free(before);
    free(after);
    o = BRIO("run", "scene.yaml", "-o", "three", "--from", kept, "--set",
             "bodies.1.fix=[{vertices: [0, 1]}]");
    assert_int_equal(o->code, 2);
    assert_non_null(strstr(o->err, "one/checkpoints/000006 holds 33 coordinates and the scene has "
                                   "30"));
    assert_int_not_equal(access("three/run.json", F_OK), 0);
    assert_int_equal(BRIO("run", "scene.yaml", "-o", "three", "--from", "nothing")->code, 2);
    size_t length = 0;
    char *bytes = read_all(kept, &length);
    write_bytes("cut", bytes, length / 2);
    bytes[length / 2] ^= 1;
    write_bytes("damaged", bytes, length);
    free(bytes);
    o = BRIO("run", "scene.yaml", "-o", "three", "--from", "cut");
    assert_int_equal(o->code, 2);
    o = BRIO("run", "scene.yaml", "-o", "three", "--from", "damaged");
    assert_int_equal(o->code, 2);
    assert_non_null(strstr(o->err, "damaged is damaged or cut off"));
    o = BRIO("run", "scene.yaml", "-o", "three", "--from", "scene.yaml");
    assert_int_equal(o->code, 2);
    assert_non_null(strstr(o->err, "scene.yaml is no checkpoint"));
}

/* Such a run is continued with the same start, to the same bits as in one go. */
static void from_and_resumed(void **state)
{
    (void)state;
    char a[64], b[64];
    write_scene("scene.yaml", "a-search");
    assert_int_equal(BRIO("run", "scene.yaml", "-o", "source", "--quiet")->code, 0);
    const char *kept = "source/checkpoints/000004";
    assert_int_equal(BRIO("run", "scene.yaml", "-o", "once", "--quiet", "--from", kept)->code, 0);
    assert_int_equal(
        BRIO("run", "scene.yaml", "-o", "twice", "--quiet", "--from", kept, "--set", "time.end=0.3")
            ->code,
        0);
    assert_int_equal(BRIO("run", "scene.yaml", "-o", "twice", "--quiet", "--resume")->code, 2);
    const Outcome *o =
        BRIO("run", "scene.yaml", "-o", "twice", "--quiet", "--resume", "--from", kept);
    assert_int_equal(o->code, 0);
    for (int k = 0; k < 9; k++) {
        snprintf(a, sizeof a, "once/frames/frame_%06d.npy", k);
        snprintf(b, sizeof b, "twice/frames/frame_%06d.npy", k);
        assert_true(same_file(a, b));
    }
    assert_true(same_file("once/energy.csv", "twice/energy.csv"));
}

/* A number of the last row of a table. */
static double last_of(const char *file, const char *column)
{
    char *text = read_all(file, NULL);
    assert_non_null(text);
    char *row = strrchr(text, '\n'); /* after the last row */
    *row = 0;
    row = strrchr(text, '\n') + 1;
    char *head = text, *end = strchr(text, '\n');
    *end = 0;
    for (;;) {
        size_t length = strcspn(head, ",");
        assert_true(head[length] && row[strcspn(row, ",")]); /* not the last column */
        if (length == strlen(column) && !strncmp(head, column, length)) break;
        head += length + 1;
        row += strcspn(row, ",") + 1;
    }
    double value = strtod(row, NULL);
    free(text);
    return value;
}

/* In flight the energy stays above a target that decays: who starts again in between does not
 * take it for the new target. */
static void from_with_target(void **state)
{
    (void)state;
    write_scene("scene.yaml", "{type: a-search, decay: 0.3, ground: -1}");
    assert_int_equal(BRIO("run", "scene.yaml", "-o", "decays", "--quiet")->code, 0);
    assert_int_equal(
        BRIO("run", "scene.yaml", "-o", "goes-on", "--quiet", "--from", "decays/checkpoints/000006")
            ->code,
        0);
    assert_int_equal(BRIO("run", "scene.yaml", "-o", "other", "--quiet", "--set", "title=another",
                          "--from", "decays/checkpoints/000006")
                         ->code,
                     0);
    double whole = last_of("decays/energy.csv", "target"),
           same = last_of("goes-on/energy.csv", "target"),
           rest = last_of("other/energy.csv", "target"),
           energy = last_of("decays/energy.csv", "total");
    print_message("target %.6g J, of the rest alone %.6g J; energy %.6g J\n", whole, rest, energy);
    assert_true(same == whole);
    assert_true(energy > whole + 0.1);
    /* a changed scene starts without what the method remembers next to it: a little changes */
    assert_true(fabs(rest - whole) < 0.01 * (energy - whole));
}

static void lines(void **state)
{
    (void)state;
    int count = 0, last = -1, step = 0;
    write_scene("scene.yaml", "backward-euler");
    const Outcome *o = BRIO("run", "scene.yaml", "-o", "lines", "--json-lines");
    assert_int_equal(o->code, 0);
    assert_string_equal(o->err, "");
    const char *verdict = NULL;
    for (const char *at = o->out; *at; count++) {
        const char *end = strchr(at, '\n');
        assert_non_null(end); /* every line is whole, and an object */
        assert_true(at[0] == '{' && end[-1] == '}');
        assert_null(verdict); /* the summary is the last one */
        const char *found = strstr(at, "\"verdict\": \"completed\"");
        if (found && found < end)
            verdict = found;
        else
            assert_int_equal(sscanf(at, "{\"step\": %d, \"steps\": 24", &step), 1);
        assert_true(verdict || step > last);
        last = step;
        at = end + 1;
    }
    assert_non_null(verdict);
    assert_true(count >= 3 && last == 24);
}

static void vertices(void **state)
{
    (void)state;
    write_text("flat.obj",
               "v -1 0 -1\nv 1 0 -1\nv 0 0 1\nv 5 0 5\nv 6 0 5\nv 5 0 6\nf 1 2 3\nf 4 5 6\n");
    write_text("upright.obj", "v 7 9 5\nv 8 9 5\nv 7 9 6\nv -0.2 1 0\nv 0.2 1 0\nv 0 -1 0.1\nf 1 2 "
                              "3\nf 4 5 6\n");
    write_text("meet.yaml", "contact: ipc\nbodies:\n  - {name: flat, mesh: flat.obj, material: "
                            "cotton}\nobstacles:\n  - {type: mesh, name: up, mesh: upright.obj}\n");
    const Outcome *o = BRIO("check", "meet.yaml", "--json");
    assert_int_equal(o->code, 1);
    const char *at = strstr(o->out, "\"intersecting_vertices\": [");
    assert_non_null(at);
    char plain[512];
    size_t used = 0;
    for (; *at && used < sizeof plain - 1; at++)
        if (*at != ' ' && *at != '\n') plain[used++] = *at;
    plain[used] = 0;
    const char wanted[] = "\"intersecting_vertices\":[{\"body\":\"flat\",\"vertices\":[0,1,2]},"
                          "{\"obstacle\":\"up\",\"vertices\":[3,4,5]}]";
    assert_memory_equal(plain, wanted, strlen(wanted));
    o = BRIO("check", "meet.yaml", "--json", "--set", "obstacles.0.transform.translate=[0, 3, 0]");
    assert_int_equal(o->code, 0);
    assert_non_null(strstr(o->out, "\"intersecting_vertices\": []"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays),           cmocka_unit_test(from_checkpoint),
        cmocka_unit_test(from_another),     cmocka_unit_test(from_and_resumed),
        cmocka_unit_test(from_with_target), cmocka_unit_test(lines),
        cmocka_unit_test(vertices)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
