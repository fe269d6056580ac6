/* Sentences that an outside campaign missed: limits are known when a scene is read, static problems
 * name what is free, and messages give the remedy that fits. */
#include "program.h"

#define BOX                                                                       \
    "bodies:\n  - {shape: {type: box, size: [0.2, 0.2, 0.2], cells: [1, 1, 1]}, " \
    "material: jelly, transform: {translate: [0, 0.11, 0]}"

static void expect(const Outcome *o, int code, const char *said)
{
    if (o->code != code || !strstr(o->err, said))
        fail_msg("code %d, no '%s' in: %.1000s", o->code, said, o->err);
}

/* A name that results could not hold is rejected before anything is computed. */
static void long_names(void **unused)
{
    (void)unused;
    static char text[12000], name[5001];
    memset(name, 'n', 5000);
    for (int length = 255; length <= 5000; length += 4745) {
        snprintf(text, sizeof text, "time: {h: 1/60, end: 1/60}\n%s, name: %.*s}\n", BOX, length,
                 name);
        write_text("long.yaml", text);
        const Outcome *o = BRIO("run", "long.yaml", "-o", "long", "--force", "--quiet");
        if (length == 255)
            assert_int_equal(o->code, 0);
        else
            expect(o, 2, "bodies[0]: the name of a body has 5000 bytes, and the maximum is");
        o = BRIO("view", "long", "--print");
        if (length == 255) assert_int_equal(o->code, 0);
    }
    snprintf(
        text, sizeof text,
        "contact: {type: ipc}\nobstacles: [{type: plane, normal: [0, 1, 0], name: %.*s}]\n%s}\n",
        256, name, BOX);
    write_text("long.yaml", text);
    expect(BRIO("check", "long.yaml"), 2, "the name of an obstacle has 256 bytes");
}

/* Which rigid motions are free is said; what is held is solved. */
static void static_problems(void **unused)
{
    (void)unused;
    /* nothing is below it */
    write_text("falls.yaml", "time: {h: 1/100, end: 0.02}\nintegrator: static\n" BOX "}\n");
    const Outcome *o = BRIO("run", "falls.yaml", "-o", "falls", "--force", "--quiet", "--set",
                            "bodies.0.shape.cells=[2,2,2]");
    expect(
        o, 1,
        "nothing holds body \"body0\" against moving along x, y, z or turning about x, y, z; fix");
    assert_null(strstr(o->err, "trying")); /* shorter steps would not help */
    /* it finds the plane, and could lie anywhere on it */
    write_text(
        "free.yaml",
        "time: {h: 1/100, end: 0.02}\nintegrator: static\n"
        "contact: {type: ipc, dhat: 1e-3}\nobstacles: [{type: plane, normal: [0, 1, 0]}]\n" BOX
        "}\n");
    expect(BRIO("run", "free.yaml", "-o", "free", "--force", "--quiet", "--set",
                "bodies.0.shape.cells=[2,2,2]"),
           0, "nothing holds body \"body0\" against moving along x, z or turning about y, so the");
    const char *const near = "bodies.0.transform.translate=[0,0.1005,0]";
    expect(BRIO("settle", "free.yaml", "-o", "free", "--force", "--set", near), 0,
           "nothing holds body \"body0\" against moving along x, z or turning about y, so the");
    write_text("held.yaml", "time: {h: 1/100, end: 0.02}\nintegrator: static\n" BOX
                            ", fix: [{vertices: [0, 1, 2]}]}\n");
    o = BRIO("run", "held.yaml", "-o", "held", "--force", "--quiet");
    assert_int_equal(o->code, 0);
    assert_null(strstr(o->err, "nothing holds"));
    /* a single vertex at the origin, which its spring lets go far for its own coordinates */
    write_text("spring.yaml", "time: {h: 1/100, end: 0.02}\nintegrator: static\nbodies:\n"
                              "  - {name: s, shape: {type: line, length: 1, cells: 1}, kind: "
                              "springs, material: {type: hooke, k: 1000, vertex_mass: 1}, "
                              "transform: {rotate: [[0, 0, 1], -90], translate: [0, 1, 0]}, "
                              "fix: [{vertices: [0]}]}\n");
    expect(BRIO("settle", "spring.yaml", "-o", "spring", "--force"), 0, "");
}

static void messages(void **unused)
{
    (void)unused;
    write_text("rows.yaml", BOX ", state: rows.csv}\n");
    write_text("rows.csv", "nan,0,0,0,0,0\n0,0,0,0,0,0\n");
    expect(BRIO("check", "rows.yaml"), 2, "rows.csv:1:1: expected a finite number");
    write_text("rows.csv", "inf 0 0 0 0 0\n");
    expect(BRIO("check", "rows.yaml"), 2, "rows.csv:1:1: expected a finite number");
    write_text("rows.csv", "name,y,z,vx,vy,vz\n0,0,0,0,0,nan\n");
    expect(BRIO("check", "rows.yaml"), 2, "rows.csv:2:11: expected a finite number");

    write_text("fraction.json", "{\"time\": {\"h\": \"1/60\", \"end\": \"1/30\"}, \"bodies\": "
                                "[{\"shape\": {\"type\": \"box\"}, \"material\": \"jelly\"}]}\n");
    const Outcome *o = BRIO("run", "fraction.json", "-o", "fraction", "--quiet");
    assert_int_equal(o->code, 0);
    /* a solution as good as none: what falls would stand still */
    expect(BRIO("check", "fraction.json", "--set", "solver.linear_tol=1"), 2,
           "linear_tol = 1 is out of range: must be between 1e-16 and 0.9");
    write_text("quoted.yaml", "time: {h: \"0.01\"}\n" BOX "}\n");
    expect(BRIO("check", "quoted.yaml"), 2, "found the text \"0.01\"; remove the quotes");

    write_text("fps.yaml", "time: {h: 1/60, fps: 1e300}\n" BOX "}\n");
    expect(BRIO("check", "fps.yaml"), 2, "must be positive and at most 1e+09");
}

/* --resume is for runs; a full disk elsewhere has another remedy. */
static void full_disks(void **unused)
{
    (void)unused;
    write_text("short.yaml", "time: {h: 1/60, end: 1/30}\n" BOX "}\n");
    if (access("/dev/full", W_OK) != 0) {
        print_message("SKIPPED: there is no /dev/full\n");
        return;
    }
    assert_int_equal(BRIO("run", "short.yaml", "-o", "short", "--quiet")->code, 0);
    assert_int_equal(mkdir("full", 0777), 0);
    assert_int_equal(symlink("/dev/full", "full/state.csv.tmp"), 0);
    const Outcome *o = BRIO("convert", "short", "/dev/full");
    assert_int_not_equal(o->code, 0);
    assert_null(strstr(o->err, "--resume"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_names),
        cmocka_unit_test(static_problems),
        cmocka_unit_test(messages),
        cmocka_unit_test(full_disks),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
