/* Files of the version before (docs/formats.md): a checkpoint of format 3 goes on to the same bits,
 * a motion of version 1 is drawn, and what comes from later versions is rejected with a sentence.
 */
#include "program.h"
// clang-format off
#include "output/motion.h"
#include "sim/sim.h"
#include "writer.h"
// clang-format on

static const char scene[] = "time: {h: 1/60, end: 1/30}\n"
                            "bodies: [{shape: {type: box, cells: [1, 1, 1]}, material: jelly}]\n";

static void put_version(char *bytes, size_t size, uint32_t version)
{
    memcpy(bytes + 8, &version, sizeof version);
    uint64_t sum = brio__hash(BRIO_HASH_START, bytes, size - sizeof sum);
    memcpy(bytes + size - sizeof sum, &sum, sizeof sum);
}

/* What format 3 did not have: the counts of friction, after ten times and four counts. */
static size_t make_old(char *bytes, size_t size)
{
    enum { HEAD = 8 + 4 + 8 + 8 + 16, AT = HEAD + 10 * 8 + 4 * 8, NEW = 2 * 8, BODIES = 8 };
    memmove(bytes + HEAD, bytes + HEAD + BODIES, size - HEAD - BODIES); /* format 5 */
    size -= BODIES;
    memmove(bytes + AT, bytes + AT + NEW, size - AT - NEW);
    size -= NEW;
    enum { STEPS = AT + 5 * 8, LENGTHS = 3 * 8 }; /* format 6: rejected, shortest, longest */
    memmove(bytes + STEPS, bytes + STEPS + LENGTHS, size - STEPS - LENGTHS);
    size -= LENGTHS;
    enum { TABLES = STEPS + 6 * 8, HASHES = 3 * 8 }; /* format 7, after three counts and lengths */
    memmove(bytes + TABLES, bytes + TABLES + HASHES, size - TABLES - HASHES);
    size -= HASHES;
    /* and the state ended before what is known of automatic steps */
    put_version(bytes, size, 3u << 16 | (uint32_t)offsetof(BrioState, next_h));
    return size;
}

static void old_checkpoints(void **unused)
{
    (void)unused;
    BrioSim *a = NULL, *b = NULL;
    BrioError error = {0};
    assert_int_equal(brio_sim_parse(scene, strlen(scene), "a", &a, NULL), BRIO_OK);
    assert_int_equal(brio_sim_parse(scene, strlen(scene), "a", &b, NULL), BRIO_OK);
    assert_int_equal(brio_sim_step(a, NULL), BRIO_OK);
    assert_int_equal(brio_sim_save(a, "saved", 1, NULL), BRIO_OK);
    size_t size;
    char *bytes = read_all("saved", &size);
    uint32_t version;
    memcpy(&version, bytes + 8, sizeof version);
    put_version(bytes, size, version + (1 << 16));
    write_bytes("next", bytes, size);
    assert_int_equal(brio_sim_restore(b, "next", &error), BRIO_ERROR_INPUT);
    assert_non_null(strstr(error.message, "was written by another version of brio"));
    size = make_old(bytes, size);
    write_bytes("old", bytes, size);
    bytes[100] ^= 1;
    write_bytes("damaged", bytes, size);
    free(bytes);
    assert_int_equal(brio_sim_restore(b, "damaged", NULL), BRIO_ERROR_INPUT);
    assert_true(brio_sim_time(b) == 0);
    assert_int_equal(brio_sim_restore(b, "old", NULL), BRIO_OK);
    for (int k = 0; k < 2; k++) {
        assert_memory_equal(a->state->q, b->state->q, (size_t)a->state->coordinates * 8);
        assert_memory_equal(a->state->v, b->state->v, (size_t)a->state->coordinates * 8);
        assert_int_equal(brio_sim_step(a, NULL), BRIO_OK);
        assert_int_equal(brio_sim_step(b, NULL), BRIO_OK);
    }
    brio_sim_free(a);
    brio_sim_free(b);
}

/* A forged count of frames with the right checksum: no more memory is asked for than the file can
 * fill. */
static void forged_counts(void **unused)
{
    (void)unused;
    static const uint64_t forged[] = {1ull << 60, UINT64_MAX, 1ull << 40, 1000};
    enum {
        HEAD = 8 + 4 + 8 + 8 + 16,
        BODIES = 8,
        COUNT = HEAD + BODIES + (10 + 6 + 8 + 6 + 5) * 8
    };
    BrioSim *sim = NULL;
    size_t size;
    uint64_t count;
    assert_int_equal(brio_sim_parse(scene, strlen(scene), "a", &sim, NULL), BRIO_OK);
    write_text("f.yaml", scene);
    assert_int_equal(
        BRIO("run", "f.yaml", "-o", "forged", "--quiet", "--set", "output.frames=[obj]")->code, 0);
    char *bytes = read_all("forged/checkpoint", &size);
    memcpy(&count, bytes + COUNT, sizeof count);
    assert_int_equal(count, 2);
    free(bytes);
    assert_int_equal(brio_sim_save(sim, "counted", 1, NULL), BRIO_OK);
    bytes = read_all("counted", &size);
    for (size_t k = 0; k < sizeof forged / sizeof *forged; k++) {
        uint32_t version;
        memcpy(&version, bytes + 8, sizeof version);
        memcpy(bytes + COUNT, &forged[k], sizeof forged[k]);
        put_version(bytes, size, version);
        write_bytes("counted", bytes, size);
        assert_int_equal(brio_sim_restore(sim, "counted", NULL), BRIO_ERROR_INPUT);
    }
    free(bytes);
    brio_sim_free(sim);
}

/* Format 5 of a file with bodies: the state ended earlier, and there were no counts of automatic
 * steps and no hashes of tables. */
static size_t make_fifth(char *bytes, size_t size)
{
    enum { HEAD = 8 + 4 + 8 + 8 + 16, LENGTHS = 3 * 8, HASHES = 3 * 8 };
    uint64_t image;
    memcpy(&image, bytes + HEAD, sizeof image);
    size_t at = HEAD + sizeof image + image + (10 + 4 + 2 + 5) * 8;
    memmove(bytes + at, bytes + at + LENGTHS, size - at - LENGTHS);
    size -= LENGTHS;
    at += 6 * 8; /* as above */
    memmove(bytes + at, bytes + at + HASHES, size - at - HASHES);
    size -= HASHES;
    put_version(bytes, size, 5u << 16 | (uint32_t)offsetof(BrioState, next_h));
    return size;
}

/* Whoever restores a file with bodies has to let go of pointers into the simulation, so that files
 * of all formats must say whether they have them. */
static void old_checkpoints_say_whether_they_have_bodies(void **unused)
{
    (void)unused;
    BrioSim *a = NULL, *b = NULL;
    BrioBuilder *edit = NULL;
    const int32_t corner = 0;
    assert_int_equal(brio_sim_parse(scene, strlen(scene), "a", &a, NULL), BRIO_OK);
    assert_int_equal(brio_sim_parse(scene, strlen(scene), "a", &b, NULL), BRIO_OK);
    assert_int_equal(brio_sim_save(a, "plain", 1, NULL), BRIO_OK);
    assert_int_equal(brio_checkpoint_has_bodies("plain"), 0);
    size_t size = 0;
    char *bytes = read_all("plain", &size);
    write_bytes("third", bytes, make_old(bytes, size));
    assert_int_equal(brio_checkpoint_has_bodies("third"), 0);
    write_bytes("cut", bytes, 20);
    assert_int_equal(brio_checkpoint_has_bodies("cut"), -1);
    put_version(bytes, size, 2u << 16 | (uint32_t)offsetof(BrioState, next_h));
    write_bytes("second", bytes, size);
    assert_int_equal(brio_checkpoint_has_bodies("second"), -1);
    free(bytes);
    assert_int_equal(brio_checkpoint_has_bodies("no such file"), -1);

    assert_int_equal(brio_sim_edit(a, &edit, NULL), BRIO_OK);
    assert_int_equal(brio_builder_fix(edit, 0, &corner, 1, NULL, NULL), BRIO_OK);
    assert_int_equal(brio_sim_commit(a, edit, NULL), BRIO_OK);
    assert_int_equal(brio_sim_step(a, NULL), BRIO_OK);
    assert_int_equal(brio_sim_save(a, "edited", 1, NULL), BRIO_OK);
    assert_int_equal(brio_checkpoint_has_bodies("edited"), 1);
    bytes = read_all("edited", &size);
    write_bytes("fifth", bytes, make_fifth(bytes, size));
    free(bytes);
    assert_int_equal(brio_checkpoint_has_bodies("fifth"), 1);
    assert_int_equal(b->state->fixed, 0);
    assert_int_equal(brio_sim_restore(b, "fifth", NULL), BRIO_OK);
    assert_int_equal(b->state->fixed, 3);
    assert_memory_equal(a->state->q, b->state->q, (size_t)a->state->coordinates * 8);
    brio_sim_free(a);
    brio_sim_free(b);
}

/* The checkpoint in the folder of a run, too: --resume ends with the bytes of a whole run. */
static void old_runs(void **unused)
{
    (void)unused;
    write_text("s.yaml", scene);
    assert_int_equal(BRIO("run", "s.yaml", "-o", "whole", "--quiet", "--set", "time.end=0.1")->code,
                     0);
    assert_int_equal(BRIO("run", "s.yaml", "-o", "part", "--quiet")->code, 0);
    size_t size = 0;
    char *bytes = read_all("part/checkpoint", &size);
    assert_non_null(bytes);
    write_bytes("part/checkpoint", bytes, make_old(bytes, size));
    free(bytes);
    const Outcome *o =
        BRIO("run", "s.yaml", "-o", "part", "--quiet", "--resume", "--set", "time.end=0.1");
    if (o->code) fail_msg("%s", o->err);
    assert_true(same_file("whole/energy.csv", "part/energy.csv"));
    assert_true(same_file("whole/motion.bin", "part/motion.bin"));
}

/* A triangle in two frames, as version 1 wrote it. */
static void write_old_motion(uint32_t version)
{
    const uint32_t first[2] = {version, 0x01020304u};
    const double fps = 30, times[2] = {0, 1.0 / 30};
    const int64_t stride = 1;
    const int32_t counts[2] = {1, 0}, head[7] = {1, 0, 0, 0, 3, 1, 0};
    const int32_t vertex[3] = {0, 1, 2}, triangle[3] = {0, 1, 2};
    const float rest[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    uint64_t length = 8 + sizeof first + sizeof length + sizeof fps + sizeof stride +
                      sizeof counts + sizeof head + 1 + sizeof vertex + sizeof rest +
                      sizeof triangle;
    FILE *file = fopen("motion.bin", "w");
    assert_non_null(file);
    fwrite("brio-mot", 1, 8, file);
    fwrite(first, sizeof first, 1, file);
    fwrite(&length, sizeof length, 1, file);
    fwrite(&fps, sizeof fps, 1, file);
    fwrite(&stride, sizeof stride, 1, file);
    fwrite(counts, sizeof counts, 1, file);
    fwrite(head, sizeof head, 1, file);
    fwrite("a", 1, 1, file);
    fwrite(vertex, sizeof vertex, 1, file);
    fwrite(rest, sizeof rest, 1, file);
    fwrite(triangle, sizeof triangle, 1, file);
    for (int k = 0; k < 2; k++) {
        const float place[4] = {(float)k, 0, 0, 0.5f};
        const uint16_t number[9] = {0, 0, 0, 2, 0, 0, 0, 65535, 0};
        fwrite(&times[k], sizeof times[k], 1, file);
        fwrite(place, sizeof place, 1, file);
        fwrite(number, sizeof number, 1, file);
    }
    assert_int_equal(fclose(file), 0);
}

static void old_motions(void **unused)
{
    (void)unused;
    BrioMotionFile *motion;
    BrioError error = {0};
    float x[9];
    write_old_motion(1);
    if (brio__motion_open(".", &motion, &error)) fail_msg("%s", error.message);
    assert_int_equal(motion->frame_count, 2);
    assert_int_equal(motion->part_count, 1);
    for (int k = 0; k < 2; k++) {
        const float expected[9] = {(float)k, 0, 0, (float)(k + 1), 0, 0, (float)k, 32767.5f, 0};
        assert_int_equal(brio__motion_positions(motion, k, x, &error), BRIO_OK);
        assert_memory_equal(x, expected, sizeof x);
    }
    brio__motion_free(motion);
    write_old_motion(3);
    assert_int_equal(brio__motion_open(".", &motion, &error), BRIO_ERROR_INPUT);
    assert_non_null(strstr(error.message, "written by another version of brio"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(old_checkpoints),
        cmocka_unit_test(old_checkpoints_say_whether_they_have_bodies),
        cmocka_unit_test(forged_counts),
        cmocka_unit_test(old_runs),
        cmocka_unit_test(old_motions),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
