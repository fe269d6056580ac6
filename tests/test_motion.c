/* Motion sequences, scripts with sequences, poses and formulas, obstacles of triangles for penalty
 * contact, coordinates that are fixed alone: readers against what was written, closed forms,
 * differences, the ledger, threads, memory that fails. */
#include "program.h"

#include "emulated.h"
#include "memory.h"
#include "mesh/sequence.h"
#include "potential/colliders.h"
#include "simulate.h"

#include "moving.h"

static double random_number(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

/* ---- files ------------------------------------------------------------------------------ */

/* Three frames of a tetrahedron, numbers that floats hold. */
static BrioSequence *small(void)
{
    static const double X[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    BrioSequence *s = NULL;
    assert_int_equal(brio_sequence_create(3, 4, &s, NULL), BRIO_OK);
    for (int k = 0; k < 3; k++) {
        s->time[k] = 0.25 * k;
        for (int i = 0; i < 12; i++) s->x[12 * k + i] = X[i] + 0.5 * k * (i % 3 == 0);
    }
    return s;
}

static void put(FILE *file, const void *data, size_t size, bool big)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++) fputc(bytes[big ? size - 1 - i : i], file);
}

static void write_cache(const char *name, const BrioSequence *s, bool mdd)
{
    FILE *file = fopen(name, "w");
    int32_t frames = (int32_t)s->frame_count, points = (int32_t)s->vertex_count, one = 1;
    float zero = 0, rate = 1;
    assert_non_null(file);
    if (!mdd) fwrite("POINTCACHE2", 1, 12, file);
    if (mdd)
        put(file, &frames, 4, true), put(file, &points, 4, true);
    else
        put(file, &one, 4, false), put(file, &points, 4, false), put(file, &zero, 4, false),
            put(file, &rate, 4, false), put(file, &frames, 4, false);
    for (int k = 0; mdd && k < frames; k++) put(file, &(float){(float)s->time[k]}, 4, true);
    for (int64_t i = 0; i < 3 * s->frame_count * s->vertex_count; i++)
        put(file, &(float){(float)s->x[i]}, 4, mdd);
    assert_int_equal(fclose(file), 0);
}

static BrioSequence *read_one(const char *name, double fps, double start)
{
    BrioSequence *s = NULL;
    BrioError error = {0};
    if (brio_sequence_read(&name, 1, fps, start, &s, &error) != BRIO_OK)
        fail_msg("%s", error.message);
    return s;
}

static void same(const BrioSequence *a, const BrioSequence *b, double later)
{
    assert_int_equal(a->frame_count, b->frame_count);
    assert_int_equal(a->vertex_count, b->vertex_count);
    for (int64_t k = 0; k < a->frame_count; k++)
        assert_true(fabs(a->time[k] - b->time[k] - later) < 1e-12);
    for (int64_t i = 0; i < 3 * a->frame_count * a->vertex_count; i++)
        assert_true(a->x[i] == b->x[i]);
}

static void files_are_read(void **state)
{
    (void)state;
    BrioSequence *s = small(), *t;
    char text[4096] = "t,x,y,z\n", name[32];
    size_t used = strlen(text);
    write_cache("a.pc2", s, false);
    write_cache("a.mdd", s, true);
    for (int k = 0; k < 12; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%g,%g,%g,%g\n", s->time[k / 4],
                                 s->x[3 * k], s->x[3 * k + 1], s->x[3 * k + 2]);
    write_text("a.csv", text);
    for (int k = 0; k < 3; k++) { /* not in the order of their names */
        used = 0;
        for (int v = 0; v < 4; v++)
            used += (size_t)snprintf(text + used, sizeof text - used, "v %g %g %g\n",
                                     s->x[12 * k + 3 * v], s->x[12 * k + 3 * v + 1],
                                     s->x[12 * k + 3 * v + 2]);
        snprintf(text + used, sizeof text - used, "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
        snprintf(name, sizeof name, "walk_%d.obj", 9 + k);
        write_text(name, text);
    }
    same(t = read_one("a.pc2", 4, 2), s, 2), brio_sequence_free(t);
    same(t = read_one("a.mdd", 4, 1), s, 1), brio_sequence_free(t);
    same(t = read_one("a.csv", 4, 0), s, 0), brio_sequence_free(t);
    same(t = read_one("walk_##.obj", 4, 0), s, 0);
    assert_int_equal(t->triangle_count, 4);
    double x[12], v[12];
    brio_sequence_at(t, 0.375, x, v);
    assert_true(fabs(x[0] - 0.75) < 1e-15 && fabs(v[0] - 2) < 1e-12);
    brio_sequence_at(t, 7, x, v);
    assert_true(x[0] == 1 && v[0] == 0);
    brio_sequence_free(t);
    brio_sequence_free(s);
    write_text("k.csv", "0, 0, 0, 0, 1, 0, 0, 0\n2, 1, 0, 0, 0, 0, 1, 0\n");
    t = read_one("k.csv", 24, 0);
    assert_int_equal(t->pose_count, 2);
    brio_sequence_free(t);
    write_text("mark.csv", "\xef\xbb\xbft;x;y;z\r\n0;1;2;3\r\n1;2;3;4.5"); /* as spreadsheets do */
    t = read_one("mark.csv", 24, 0);
    assert_true(t->pose_count == 2 && t->pose[1] == 1 && t->pose[BRIO_POSE_NUMBERS + 3] == 4.5);
    brio_sequence_free(t);
}

/* What brio writes as glTF comes back. */
static void own_glb_is_read(void **state)
{
    (void)state;
    write_text("drop.yaml", "brio: 1\ntime: {h: 1/50, end: 0.1, fps: 50}\ngravity: [0, -10, 0]\n"
                            "bodies: [{name: b, shape: {type: box, cells: [1, 1, 1]}, material: "
                            "{type: neo-hookean}}]\noutput: {frames: [glb]}\n");
    assert_int_equal(BRIO("run", "drop.yaml", "-o", "drop", "--quiet")->code, 0);
    assert_int_equal(BRIO("convert", "drop", "-o", "drop.glb")->code, 0);
    const char *name = "drop.glb";
    BrioSequence *s = read_one(name, 24, 0);
    assert_int_equal(s->frame_count, 6);
    assert_int_equal(s->vertex_count, 8);
    assert_int_equal(s->triangle_count, 12);
    /* backward Euler: n (n + 1)/2 g h^2 */
    for (int v = 0; v < 8; v++) {
        double fallen = s->x[3 * v + 1] - s->x[3 * (5 * 8 + v) + 1];
        assert_true(fabs(fallen - 15 * 10 / 2500.0) < 1e-3);
    }
    brio_sequence_free(s);
    size_t size = 0;
    char *bytes = read_all(name, &size);
    uint64_t seed = 5;
    for (int k = 0; k < 400; k++) { /* cut, and changed: a sentence or a sequence, no crash */
        size_t cut = k < 200 ? size * (size_t)k / 200 : size;
        char *copy = malloc(cut + 1);
        memcpy(copy, bytes, cut);
        copy[cut] = 0;
        for (int i = 0; k >= 200 && i < 1 + k % 8; i++)
            copy[(size_t)(random_number(&seed) * (double)cut)] = (char)(k + 31 * i);
        BrioSequence *t = NULL;
        BrioError error = {0};
        BrioStatus status = brio__sequence_parse("x.glb", copy, cut, 24, 0, &t, &error);
        assert_true(status == BRIO_OK ? t != NULL : t == NULL && error.message[0]);
        brio_sequence_free(t);
        free(copy);
    }
    free(bytes);
}

/* A binary glTF of a description and its numbers, each accessor being a view of its own. */
typedef struct GlbFile {
    char text[8192], bytes[16384], bin[4096];
    size_t used, size;
    int views;
    char accessors[2048], buffer_views[2048];
} GlbFile;

static int add_numbers(GlbFile *m, const void *numbers, size_t size, int count, int component,
                       const char *type, const char *more)
{
    size_t a = strlen(m->accessors), b = strlen(m->buffer_views);
    snprintf(m->accessors + a, sizeof m->accessors - a,
             "%s{\"bufferView\":%d,\"componentType\":%d,\"count\":%d,\"type\":\"%s\"%s}",
             m->views ? "," : "", m->views, component, count, type, more);
    snprintf(m->buffer_views + b, sizeof m->buffer_views - b,
             "%s{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu}", m->views ? "," : "", m->used,
             size);
    assert_true(m->used + size <= sizeof m->bin);
    memcpy(m->bin + m->used, numbers, size);
    m->used = (m->used + size + 3) / 4 * 4;
    return m->views++;
}

static BrioStatus parse_glb(GlbFile *m, const char *rest, double fps, BrioSequence **s,
                            BrioError *error)
{
    int length = snprintf(m->text, sizeof m->text,
                          "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":%zu}],"
                          "\"accessors\":[%s],\"bufferViews\":[%s],%s}",
                          m->used, m->accessors, m->buffer_views, rest);
    while (length % 4) m->text[length++] = ' ';
    uint32_t head[5] = {0x46546c67, 2, 0, (uint32_t)length, 0x4e4f534a};
    uint32_t next[2] = {(uint32_t)m->used, 0x004e4942};
    m->size = sizeof head + (size_t)length + sizeof next + m->used;
    head[2] = (uint32_t)m->size;
    memcpy(m->bytes, head, sizeof head);
    memcpy(m->bytes + sizeof head, m->text, (size_t)length);
    memcpy(m->bytes + sizeof head + length, next, sizeof next);
    memcpy(m->bytes + sizeof head + length + sizeof next, m->bin, m->used);
    m->bytes[m->size] = 0;
    return brio__sequence_parse("some.glb", m->bytes, m->size, fps, 0, s, error);
}

/* Nodes that turn, go along splines and jump, in each other: at every frame as by hand.
 * TOLERANCE 1e-6 m: numbers of the file are floats. */
static void nodes_of_glb_move(void **state)
{
    (void)state;
    static GlbFile m;
    static const float X[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0.5f};
    static const float turn_time[3] = {0, 1, 2};
    const float r = (float)sqrt(0.5); /* the last one is -q of 180 degrees: the same rotation */
    const float turn[12] = {0, 0, 0, 1, 0, 0, r, r, 0, 0, -1, 0};
    static const float spline_time[2] = {0, 2};
    static const float spline[18] = {7, 7, 7, 0.5f, -1, 0.25f, 1, 2, 0, 0, -1, 3, 1, 0, 2, 8, 8, 8};
    static const float jump_time[2] = {0, 1.5f}, jump[6] = {1, 0, 0, 4, 0, 0};
    BrioSequence *s = NULL;
    BrioError error = {0};
    m = (GlbFile){0};
    add_numbers(&m, X, sizeof X, 3, 5126, "VEC3", "");
    add_numbers(&m, turn_time, sizeof turn_time, 3, 5126, "SCALAR", "");
    add_numbers(&m, turn, sizeof turn, 3, 5126, "VEC4", "");
    add_numbers(&m, spline_time, sizeof spline_time, 2, 5126, "SCALAR", "");
    add_numbers(&m, spline, sizeof spline, 6, 5126, "VEC3", "");
    add_numbers(&m, jump_time, sizeof jump_time, 2, 5126, "SCALAR", "");
    add_numbers(&m, jump, sizeof jump, 2, 5126, "VEC3", "");
    static const char rest[] =
        "\"nodes\":[{\"children\":[1],\"scale\":[2,2,2]},{\"mesh\":0}],"
        "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],\"animations\":[{"
        "\"samplers\":[{\"input\":1,\"output\":2},"
        "{\"input\":3,\"output\":4,\"interpolation\":\"CUBICSPLINE\"},"
        "{\"input\":5,\"output\":6,\"interpolation\":\"STEP\"}],\"channels\":["
        "{\"sampler\":0,\"target\":{\"node\":1,\"path\":\"rotation\"}},"
        "{\"sampler\":1,\"target\":{\"node\":1,\"path\":\"translation\"}},"
        "{\"sampler\":2,\"target\":{\"node\":0,\"path\":\"translation\"}}]}]";
    if (parse_glb(&m, rest, 24, &s, &error) != BRIO_OK) fail_msg("%s", error.message);
    assert_int_equal(s->vertex_count, 3);
    assert_true(s->frame_count >= 49 && s->time[0] == 0 && s->time[s->frame_count - 1] == 2);
    double off = 0;
    for (int64_t k = 0; k < s->frame_count; k++) {
        double t = s->time[k], a = t * M_PI / 2, p = t / 2, p2 = p * p, p3 = p2 * p;
        double way[3], from[3] = {t < 1.5 ? 1 : 4, 0, 0};
        for (int i = 0; i < 3; i++)
            way[i] = (2 * p3 - 3 * p2 + 1) * spline[3 + i] + 2 * (p3 - 2 * p2 + p) * spline[6 + i] +
                     (3 * p2 - 2 * p3) * spline[12 + i] + 2 * (p3 - p2) * spline[9 + i];
        for (int v = 0; v < 3; v++) {
            const float *o = X + 3 * v;
            const double y[3] = {cos(a) * o[0] - sin(a) * o[1], sin(a) * o[0] + cos(a) * o[1],
                                 o[2]};
            for (int i = 0; i < 3; i++)
                off = brio__larger(off,
                                   fabs(s->x[3 * (3 * k + v) + i] - from[i] - 2 * (y[i] + way[i])));
        }
    }
    print_message("%d frames, off by %.1e m\n", (int)s->frame_count, off);
    assert_true(off < 1e-6);
    brio_sequence_free(s);
}

/* Morph targets that no animation moves: weights of the node, or else of its mesh. */
static void targets_of_glb_have_weights(void **state)
{
    (void)state;
    static GlbFile m;
    static const float X[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, up[9] = {0, 0, 1, 0, 0, 1, 0, 0, 1};
    for (int own = 0; own < 2; own++) {
        BrioSequence *s = NULL;
        BrioError error = {0};
        char rest[512];
        m = (GlbFile){0};
        add_numbers(&m, X, sizeof X, 3, 5126, "VEC3", "");
        add_numbers(&m, up, sizeof up, 3, 5126, "VEC3", "");
        snprintf(rest, sizeof rest,
                 "\"nodes\":[{\"mesh\":0%s}],\"meshes\":[{\"weights\":[0.25],\"primitives\":[{"
                 "\"attributes\":{\"POSITION\":0},\"targets\":[{\"POSITION\":1}]}]}]",
                 own ? ",\"weights\":[0.75]" : "");
        if (parse_glb(&m, rest, 24, &s, &error) != BRIO_OK) fail_msg("%s", error.message);
        for (int v = 0; v < 3; v++) assert_true(s->x[3 * v + 2] == (own ? 0.75 : 0.25));
        brio_sequence_free(s);
    }
}

/* Five vertices as a list of triangles, a strip, a fan, and as points. */
static void triangles_of_glb(void **state)
{
    (void)state;
    static GlbFile m;
    static const float X[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 2, 0};
    static const struct {
        int mode, count;
        int32_t triangle[9];
    } modes[] = {{4, 1, {0, 1, 2}},
                 {5, 3, {0, 1, 2, 1, 3, 2, 2, 3, 4}},
                 {6, 3, {1, 2, 0, 2, 3, 0, 3, 4, 0}},
                 {0, 0, {0}}};
    for (size_t i = 0; i < BRIO_COUNT(modes); i++) {
        BrioSequence *s = NULL;
        BrioError error = {0};
        char rest[256];
        m = (GlbFile){0};
        add_numbers(&m, X, sizeof X, 5, 5126, "VEC3", "");
        snprintf(rest, sizeof rest,
                 "\"nodes\":[{\"mesh\":0}],\"meshes\":[{\"primitives\":[{\"attributes\":{"
                 "\"POSITION\":0},\"mode\":%d}]}]",
                 modes[i].mode);
        if (parse_glb(&m, rest, 24, &s, &error) != BRIO_OK) fail_msg("%s", error.message);
        assert_int_equal(s->triangle_count, modes[i].count);
        for (int k = 0; k < 3 * modes[i].count; k++)
            assert_int_equal(s->triangle[k], modes[i].triangle[k]);
        brio_sequence_free(s);
    }
}

/* A bar of three vertices on two bones, of which the upper one bends: weights in bytes, joints in
 * bytes or shorts, in one set or two. The place of the mesh's own node does not count. */
static void skins_of_glb_bend(void **state)
{
    (void)state;
    static GlbFile m;
    static const float X[9] = {0, 0, 0, 0, 1, 0, 0, 2, 0.25f};
    static const uint8_t joint[12] = {0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0};
    static const uint8_t weight[12] = {255, 0, 0, 0, 204, 51, 0, 0, 255, 0, 0, 0};
    static const float bind[32] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0,  0, 1,
                                   1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -1, 0, 1};
    const float time[2] = {0, 1}, r = (float)sqrt(0.5), turn[8] = {0, 0, 0, 1, 0, 0, r, r};
    static const double share[3] = {0, 0.2, 1};
    static const char format[] =
        "\"nodes\":[{\"mesh\":0,\"skin\":0,\"translation\":[9,9,9]},{\"children\":[2]},"
        "{\"translation\":[0,1,0]}],\"skins\":[{\"joints\":[1,2],\"inverseBindMatrices\":3}],"
        "\"animations\":[{\"samplers\":[{\"input\":4,\"output\":5}],"
        "\"channels\":[{\"sampler\":0,\"target\":{\"node\":2,\"path\":\"rotation\"}}]}],"
        "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"JOINTS_0\":1,"
        "\"WEIGHTS_0\":2%s}}]}]";
    /* the first set without its second joint, which is in the other set */
    static const uint8_t first[12] = {255, 0, 0, 0, 204, 0, 0, 0, 255, 0, 0, 0};
    static const uint8_t second[12] = {0, 0, 0, 0, 0, 51, 0, 0, 0, 0, 0, 0};
    for (int kind = 0; kind < 3; kind++) {
        bool wide = kind == 1, sets = kind == 2;
        uint16_t joint16[12], weight16[12];
        BrioSequence *s = NULL;
        BrioError error = {0};
        for (int i = 0; i < 12; i++)
            joint16[i] = joint[i], weight16[i] = (uint16_t)(257 * weight[i]);
        m = (GlbFile){0};
        add_numbers(&m, X, sizeof X, 3, 5126, "VEC3", "");
        if (wide) {
            add_numbers(&m, joint16, sizeof joint16, 3, 5123, "VEC4", "");
            add_numbers(&m, weight16, sizeof weight16, 3, 5123, "VEC4", ",\"normalized\":true");
        } else {
            add_numbers(&m, joint, sizeof joint, 3, 5121, "VEC4", "");
            add_numbers(&m, sets ? first : weight, sizeof weight, 3, 5121, "VEC4",
                        ",\"normalized\":true");
        }
        add_numbers(&m, bind, sizeof bind, 2, 5126, "MAT4", "");
        add_numbers(&m, time, sizeof time, 2, 5126, "SCALAR", "");
        add_numbers(&m, turn, sizeof turn, 2, 5126, "VEC4", "");
        add_numbers(&m, second, sizeof second, 3, 5121, "VEC4", ",\"normalized\":true");
        char rest[1024];
        snprintf(rest, sizeof rest, format, sets ? ",\"JOINTS_1\":1,\"WEIGHTS_1\":6" : "");
        if (parse_glb(&m, rest, 10, &s, &error) != BRIO_OK) fail_msg("%s", error.message);
        assert_int_equal(s->vertex_count, 3);
        assert_int_equal(s->frame_count, 11);
        double off = 0;
        for (int64_t k = 0; k < s->frame_count; k++)
            for (int v = 0; v < 3; v++) {
                double a = s->time[k] * M_PI / 2, y = X[3 * v + 1] - 1, w = share[v];
                const double turned[3] = {-sin(a) * y, 1 + cos(a) * y, X[3 * v + 2]};
                for (int i = 0; i < 3; i++) {
                    double expected = (1 - w) * X[3 * v + i] + w * turned[i];
                    off = brio__larger(off, fabs(s->x[3 * (3 * k + v) + i] - expected));
                }
            }
        print_message("skin: off by %.1e m\n", off);
        assert_true(off < 1e-6); /* TOLERANCE: floats */
        brio_sequence_free(s);
        /* a joint that there is not */
        m.bin[36] = 2;
        assert_int_equal(parse_glb(&m, rest, 10, &s, &error), BRIO_ERROR_INPUT);
        assert_non_null(strstr(error.message, "skin 0 is not as glTF has it"));
    }
}

static void bad_files_get_a_sentence(void **state)
{
    (void)state;
    BrioSequence *s = small();
    static const char *const names[] = {"b.pc2", "b.mdd"};
    write_cache(names[0], s, false);
    write_cache(names[1], s, true);
    brio_sequence_free(s);
    for (int f = 0; f < 2; f++) {
        size_t size = 0;
        char *bytes = read_all(names[f], &size);
        for (size_t cut = 0; cut < size; cut++) {
            BrioSequence *t = NULL;
            BrioError error = {0};
            assert_true(brio__sequence_parse(names[f], bytes, cut, 24, 0, &t, &error) < 0);
            assert_true(error.message[0] && !t);
        }
        free(bytes);
    }
    static const struct {
        const char *text, *message;
    } tables[] = {{"0,1\n", "rows of 2 numbers"},
                  {"0,1,2,3\n0,1,2\n", "this row has 3 numbers"},
                  {"0,1,x,3\n", "expected a finite number"},
                  {"0,1,2,3\n0,1,2,3\n1,2,3,4\n", "not a multiple"},
                  {"t;x;y;z\n0,0;0,1;1,2;0,3\n", "this row has commas and semicolons"},
                  {"0,0,0,0,0,0,0,0\n", "quaternion"},
                  {"1,0,0,0,1,0,0,0\n0,0,0,0,1,0,0,0\n", "must rise"}};
    for (size_t i = 0; i < BRIO_COUNT(tables); i++) {
        BrioSequence *t = NULL;
        BrioError error = {0};
        assert_true(brio__sequence_parse("c.csv", tables[i].text, strlen(tables[i].text), 24, 0, &t,
                                         &error) < 0);
        if (!strstr(error.message, tables[i].message)) fail_msg("%s", error.message);
    }
}

/* ---- scripts ---------------------------------------------------------------------------- */

static void fixed_positions(BrioSim *sim, double t, double *x, double *v)
{
    brio__system_fixed(sim->system, sim->state, t, x);
    brio__system_velocities(sim->system, sim->state, sim->state->v, t, v);
}

/* Positions are those of the formulas above BrioScript, and velocities their rates. */
static void scripts_move_as_said(void **state)
{
    (void)state;
    write_text("row.csv", "0, 0, 0, 0, 0, 0, 1\n1, 0, 1, 0, 0, 2, 1\n");
    BrioSim *sim = parse(
        "bodies:\n  - shape: {type: box, size: [1, 1, 1], cells: [1, 1, 1]}\n    material: {type: "
        "stvk}\n    fix:\n"
        "      - {vertices: [0], script: {formula: [0.1*sin(3*t)*x, t^2, 0]}}\n"
        "      - {vertices: [1], script: {about: [1, 0, 0], poses: [{t: 0}, {t: 2, translate: [0, "
        "4, 0], rotate: [[0, 0, 1], 90], scale: 3}]}}\n"
        "      - {vertices: [2, 3], sequence: row.csv, script: {velocity: [1, 0, 0], angular: [0, "
        "0, 1]}}\n");
    const BrioSystem *s = sim->system;
    size_t world = 3 * (size_t)s->vertex_count;
    double *x = calloc(8 * world, sizeof *x), *v = x + world, *a = v + world, *b = a + world;
    double *X = b + world, *none = X + world;
    fixed_positions(sim, 0, X, none);
    for (int k = 0; k < 40; k++) {
        double t = 0.013 + 0.0471 * k, e = 1e-6;
        fixed_positions(sim, t, x, v);
        fixed_positions(sim, t - e, a, none);
        fixed_positions(sim, t + e, b, none);
        for (int i = 0; i < 12; i++)
            if (fabs(t - 1) > 1e-3) assert_true(fabs((b[i] - a[i]) / (2 * e) - v[i]) < 1e-7);
        assert_true(fabs(x[0] - X[0] - 0.1 * sin(3 * t) * X[0]) < 1e-14);
        assert_true(fabs(x[1] - X[1] - t * t) < 1e-14);
        /* a quarter turn in two seconds, about (1, 0, 0), while it grows and rises */
        double p = fmin(t / 2, 1), c = cos(p * M_PI / 2), n = sin(p * M_PI / 2), f = 1 + 2 * p;
        double dx = X[3] - 1, dy = X[4];
        assert_true(fabs(x[3] - (1 + f * (c * dx - n * dy))) < 1e-13);
        assert_true(fabs(x[4] - (f * (n * dx + c * dy) + 4 * p)) < 1e-13);
        /* the sequence, then turned about z and shifted */
        double y = fmin(t, 1);
        assert_true(fabs(x[6] - (-sin(t) * y + t)) < 1e-13 && fabs(x[7] - cos(t) * y) < 1e-13);
        assert_true(fabs(x[9] - (-sin(t) * 2 * y + t)) < 1e-13 && fabs(x[11] - 1) < 1e-14);
    }
    free(x);
    brio_sim_free(sim);
}

/* Formulas that have no value before the start or after the end have velocities there.
 * TOLERANCE 4e-3 m/s: t^1.5 over the 1e-5 s of the difference. */
static void formulas_begin_and_end(void **state)
{
    (void)state;
    BrioSim *sim = parse(
        "bodies:\n  - shape: {type: box, size: [1, 1, 1], cells: [1, 1, 1]}\n    material: {type: "
        "stvk}\n    fix: [{vertices: [0], script: {start: 0, end: 2, formula: [t^1.5, (2 - t)^1.5, "
        "0]}}]\n");
    double x[3 * 8], v[3 * 8];
    assert_int_equal(sim->system->vertex_count, 8);
    for (int k = 0; k < 2; k++) {
        double t = k ? 2 - 1e-6 : 0;
        fixed_positions(sim, t, x, v);
        assert_true(fabs(v[0] - 1.5 * sqrt(t)) < 4e-3 && fabs(v[1] + 1.5 * sqrt(2 - t)) < 4e-3);
    }
    assert_true(isfinite(ledger(sim).momentum[0]));
    brio_sim_free(sim);
}

/* Vertices 0 to 3 of a cube that move by keys, by poses that turn about other axes each time, and
 * by frames, all of them samples of smooth motions at rest before 0 and after 2 s. */
static BrioSim *sampled_motion(const char *by, int samples)
{
    char text[16384], row[4096] = "";
    int used = 0, rows = 0;
    double step = 2.0 / samples;
    for (int k = 0; k <= samples; k++) {
        double t = step * k, s = sin(M_PI * t / 2) * sin(M_PI * t / 2);
        rows += snprintf(row + rows, sizeof row - (size_t)rows, "%.17g, %.17g, 0, 0, 0, 1, %.17g\n",
                         t, s, s * s);
    }
    write_text("curve.csv", row);
    used += snprintf(text, sizeof text,
                     "bodies:\n  - shape: {type: box, size: [1, 1, 1], cells: [1, 1, 1]}\n    "
                     "material: {type: stvk}\n    fix:\n      - {vertices: [2, 3], interpolation: "
                     "%s, sequence: curve.csv}\n      - {vertices: [0], interpolation: %s, script: "
                     "{keys: [",
                     by, by);
    for (int k = 0; k <= samples; k++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s[%.17g, %.17g, 0, 0]",
                         k ? ", " : "", step * k, pow(sin(M_PI * step * k / 2), 2));
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "]}}\n      - {vertices: [1], interpolation: %s, script: {poses: [", by);
    for (int k = 0; k <= samples; k++) {
        double t = step * k, s = sin(M_PI * t / 2);
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "%s{t: %.17g, rotate: [[%.17g, %.17g, 1], %.17g], scale: %.17g}",
                         k ? ", " : "", t, cos(t), sin(t), 100 * s * s, 1 + s * s);
    }
    snprintf(text + used, sizeof text - (size_t)used, "]}}\n");
    BrioSim *sim = NULL;
    BrioError error = {0};
    if (brio_sim_parse(text, strlen(text), "test", &sim, &error) != BRIO_OK)
        fail_msg("%s", error.message);
    return sim;
}

/* The largest distance of vertex i from where `fine` has it, in (0, 2) s. */
static double curve_error(BrioSim *coarse, BrioSim *fine, int i)
{
    size_t world = 3 * (size_t)coarse->system->vertex_count;
    double *x = calloc(4 * world, sizeof *x), *y = x + world, *v = y + world, most = 0;
    for (int k = 1; k < 200; k++) {
        fixed_positions(coarse, 0.01 * k, x, v);
        fixed_positions(fine, 0.01 * k, y, v);
        for (int r = 0; r < 3; r++) most = brio__larger(most, fabs(x[3 * i + r] - y[3 * i + r]));
    }
    free(x);
    return most;
}

/* Cubic motions have continuous velocities, which are the rates of positions, and the third order
 * in the distance of their rows: 2^3 = 8, and 6 leaves room for terms of higher order. Linear ones
 * have the second. */
static void curves_are_smooth(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        const char *by = ((const char *[]){"linear", "cubic", "monotone"})[kind];
        BrioSim *fine = sampled_motion("cubic", 64), *sim[2];
        for (int k = 0; k < 2; k++) sim[k] = sampled_motion(by, 8 << k);
        size_t world = 3 * (size_t)fine->system->vertex_count;
        double *x = calloc(6 * world, sizeof *x), *v = x + world, *a = v + world, *b = a + world;
        double *w = b + world, *none = w + world, jump = 0;
        for (int k = 0; k < 60; k++) {
            double t = 0.013 + 0.0331 * k, e = 1e-6;
            fixed_positions(sim[0], t, x, v);
            fixed_positions(sim[0], t - e, a, none);
            fixed_positions(sim[0], t + e, b, none);
            for (int i = 0; i < 12; i++) assert_true(fabs((b[i] - a[i]) / (2 * e) - v[i]) < 1e-7);
        }
        for (int k = 0; k <= 8; k++) { /* at the rows, from both sides */
            fixed_positions(sim[0], 0.25 * k - 1e-9, a, v);
            fixed_positions(sim[0], 0.25 * k + 1e-9, b, w);
            for (int i = 0; i < 12; i++) jump = brio__larger(jump, fabs(v[i] - w[i]));
        }
        for (int i = 0; i < 3; i++) {
            double coarse = curve_error(sim[0], fine, i), half = curve_error(sim[1], fine, i);
            printf("    %s, %s: error %.2g m, %.2g m with half the distance of rows\n", by,
                   ((const char *[]){"keys", "poses", "frames"})[i], coarse, half);
            assert_true(coarse > (kind == 1 ? 6 : 2.5) * half);
        }
        printf("    %s: velocities jump by %.2g m/s\n", by, jump);
        assert_true(kind == 0 ? jump > 0.1 : jump < 1e-6);
        for (int k = 0; k < 2; k++) brio_sim_free(sim[k]);
        brio_sim_free(fine);
        free(x);
    }
}

/* A monotone curve is never beyond its rows, and what rests between two of them stays at rest; a
 * cubic one swings. Rows at unequal distances. */
static void monotone_stays_between(void **state)
{
    static const double time[] = {0, 1, 1.1, 3, 4, 4.5, 7}, value[] = {0, 0, 1, 1, 5, 4, 4};
    (void)state;
    double beyond[2] = {0, 0};
    for (int kind = 0; kind < 2; kind++)
        for (int k = 0; k <= 7000; k++) {
            BrioFramePlace at = brio__frame_place(time, 1, 7, 0.001 * k);
            double four[4] = {value[at.before], value[at.frame], value[at.next], value[at.after]};
            double rate, low = fmin(four[1], four[2]), high = fmax(four[1], four[2]);
            double y = brio__between(&at, BRIO_INTERPOLATION_CUBIC + kind, four, &rate);
            beyond[kind] = brio__larger(beyond[kind], fmax(low - y, y - high));
            if (kind == 1 && low == high) assert_true(y == low && rate == 0);
        }
    printf("    beyond the rows: cubic %.3f, monotone %.2g\n", beyond[0], beyond[1]);
    assert_true(beyond[0] > 0.1 && beyond[1] < 1e-15);
}

/* Springs to moving points follow with their weights, and the ledger has the work. */
static void attachments_follow(void **state)
{
    (void)state;
    BrioSim *sim = parse(
        "time: {h: 0.01}\ngravity: [0, 0, 0]\nintegrator: implicit-midpoint\nsolver: {tol: "
        "1e-12}\nbodies:\n  - {name: b, shape: {type: box, size: [1, 1, 1], cells: [1, 1, 1]}, "
        "material: {type: neo-hookean, E: 1e5, rho: 100}, attach: [{box: [[-1, -1, -1], [1, 1, "
        "1]], k: 100, weights: [1, 2, 1, 0, 1, 1, 1, 1], script: {formula: [0.1*t^2, 0, 0]}}]}\n");
    assert_int_equal(sim->system->term[1].elements, 7); /* one has no weight */
    BrioLedger first = ledger(sim);
    step(sim, 40);
    BrioLedger last = ledger(sim);
    double balance = last.total - first.total - last.added;
    printf("    work of moved points %.6g J, balance %.2g J\n", last.added, balance);
    assert_true(last.added > 1e-3 && fabs(balance) < 2e-3 * last.added);
    brio_sim_free(sim);
}

/* ---- coordinates that are fixed alone --------------------------------------------------- */

#define HALF(extra)                                                                             \
    "time: {h: 0.01}\ngravity: [0, -9.8, 0]\nintegrator: %s\nsolver: {type: %s}\nbodies:\n  - " \
    "{name: b, shape: {type: box, size: [0.1, 0.2, 0.1], cells: [%d, 2, 2]}, material: {type: " \
    "%s, "                                                                                      \
    "E: 1e4, nu: 0.3, rho: 1000}, " extra

/* Half of a symmetric body whose cut slides in its plane moves as the whole does, and fixed
 * coordinates have the bits that they began with. */
static void half_is_half_of_whole(void **state)
{
    static const char *const methods[] = {"backward-euler", "bdf2", "a-search", "symplectic-euler",
                                          "rk4"};
    (void)state;
    for (int k = 0; k < 6; k++) {
        const char *method = methods[k % 5], *solver = k == 5 ? "local-global" : "newton";
        const char *material = k == 5 ? "corotated" : "neo-hookean";
        int explicit = k == 3 || k == 4;
        BrioSim *sim = parse(
            HALF("fix: [{box: [[-1, 0.099, -1], [1, 1, 1]]}, {box: [[-1, -1, -1], [0.001, 1, 1]], "
                 "axes: [x]}], transform: {translate: [0.05, 0, 0]}, velocity: {linear: [1, 0, "
                 "0.1]}}\n"),
            method, solver, 2, material);
        const BrioSystem *s = sim->system;
        assert_non_null(s->axes);
        double *q = malloc((size_t)sim->state->coordinates * sizeof *q);
        memcpy(q, sim->state->q, (size_t)sim->state->coordinates * sizeof *q);
        step(sim, explicit ? 2 : 20);
        int kept = 0, moved = 0;
        for (int32_t b = 0; b < s->block_count; b++)
            for (int r = 0; r < 3; r++) {
                bool fixed = s->axes[b] >> r & 1;
                assert_true(!fixed || (sim->state->q[3 * b + r] == q[3 * b + r] &&
                                       sim->state->v[3 * b + r] == 0));
                kept += fixed;
                moved += !fixed && sim->state->q[3 * b + r] != q[3 * b + r];
            }
        assert_true(kept == 6 && moved > 30);
        BrioLedger l = ledger(sim);
        assert_true(isfinite(l.total));
        free(q);
        brio_sim_free(sim);
    }
}

/* Weight along a fixed coordinate does not move it: an implicit step starts with free fall. */
static void fixed_coordinates_do_not_fall(void **state)
{
    static const char *const methods[] = {"backward-euler", "trapezoidal", "a-search",
                                          "implicit-midpoint", "rk4"};
    static const char *const solvers[] = {"newton", "root", "local-global", "vbd"};
    (void)state;
    for (int k = 0; k < 8; k++) {
        BrioSim *sim = parse(
            "integrator: %s\nsolver: %s\ntime: {h: 1/100}\ngravity: [0, -9.8, 0]\nbodies:\n"
            "  - {shape: {type: line, cells: 3}, kind: springs, material: {type: hooke, k: 100, "
            "vertex_mass: 0.1}, fix: [{vertices: [0], axes: [y]}]}\n",
            methods[k < 5 ? k : 0], solvers[k < 5 ? 0 : k - 4]);
        double x[12], y[12];
        brio_sim_positions(sim, 0, x);
        step(sim, 5);
        brio_sim_positions(sim, 0, y);
        if (y[1] != x[1]) fail_msg("%d: from %.9g m to %.9g m", k, x[1], y[1]);
        assert_true(y[4] < x[4]);
        brio_sim_free(sim);
    }
}

/* Velocities that are set leave fixed coordinates alone, and no energy is lost by it.
 * TOLERANCE 1e-12 J of 0.15 J: round-off. */
static void set_velocities_leave_fixed_coordinates(void **state)
{
    static const char *const methods[] = {"backward-euler", "symplectic-euler"};
    const double v[6] = {0, 1, 2, 0, 1, 2};
    (void)state;
    for (int k = 0; k < 2; k++) {
        BrioSim *sim = parse("integrator: %s\ntime: {h: 1/100}\ngravity: [0, 0, 0]\nbodies:\n"
                             "  - {shape: {type: line, cells: 1}, kind: points, material: "
                             "{type: mass, vertex_mass: 0.1}, fix: [{vertices: [0], axes: [y]}]}\n",
                             methods[k]);
        double x[6], y[6];
        brio_sim_positions(sim, 0, x);
        assert_int_equal(brio_sim_set_velocities(sim, 0, v, NULL), BRIO_OK);
        double before = ledger(sim).total;
        step(sim, 5);
        brio_sim_positions(sim, 0, y);
        assert_true(y[1] == x[1] && y[2] > x[2]);
        assert_true(fabs(ledger(sim).total - before) < 1e-12);
        brio_sim_free(sim);
    }
}

/* Statics, where nothing but the elements holds the fixed coordinates: a bar between rollers,
 * pressed by its ends, is stretched along y only. u = -rho g y^2/(2 M) with M = lambda + 2 mu. */
static void confined_column_settles(void **state)
{
    (void)state;
    BrioSim *sim = parse(
        "integrator: static\ngravity: [0, -9.8, 0]\nbodies:\n  - {name: b, shape: {type: box, "
        "size: "
        "[0.1, 1, 0.1], cells: [1, 20, 1]}, material: {type: stvk, E: 1e7, nu: 0.25, rho: 1000}, "
        "fix: [{box: [[-1, 0.499, -1], [1, 1, 1]]}, {box: [[-1, -1, -1], [1, 1, 1]], axes: [x, "
        "z]}]}\n");
    step(sim, 1);
    double x[3], E = 1e7, nu = 0.25, M = E * (1 - nu) / ((1 + nu) * (1 - 2 * nu)), least = 0;
    for (int v = 0; v < brio_body_vertices(sim->system, 0); v++) {
        double *all = malloc(3 * (size_t)sim->system->vertex_count * sizeof *all);
        brio__system_positions(sim->system, sim->state, sim->state->q, 0, all);
        memcpy(x, all + 3 * v, sizeof x);
        free(all);
        least = fmin(least, x[1]);
    }
    double exact = -0.5 - 1000 * 9.8 / (2 * M);
    printf("    end of the column %.9f m, exact (linear) %.9f m\n", least, exact);
    assert_true(fabs(least - exact) < 2e-3 * (1000 * 9.8 / (2 * M))); /* large strains: 1e-3 */
    brio_sim_free(sim);
}

/* ---- obstacles of triangles for contact by springs --------------------------------------- */

static BrioSim *on_box(const char *contact, const char *rest)
{
    return parse("time: {h: 0.005}\ngravity: [0, -10, 0]\nintegrator: backward-euler\nsolver: "
                 "{tol: 1e-10}\ncontact: {%s}\nobstacles:\n  - {type: box, name: slab, size: [2, "
                 "0.2, 2], cells: [3, 1, 3], formula: false, transform: {translate: [0, -0.1, "
                 "0]}%s}\nbodies:\n  - {name: b, shape: {type: box, size: [0.1, 0.1, 0.1], cells: "
                 "[2, 2, 2]}, material: {type: neo-hookean, E: 1e5, rho: 1000}, transform: "
                 "{translate: [0.03, 0.06, 0.02]}}\n",
                 contact, rest);
}

/* Gradient and Hessian of the springs by differences, inside, outside and in a dent; and the force
 * on the mesh is the opposite. */
static void springs_are_differentiated(void **state)
{
    (void)state;
    BrioSim *sim =
        parse("time: {h: 0.005}\ngravity: [0, 0, 0]\ncontact: {type: penalty, kappa: 100, "
              "dhat: 0.08}\nobstacles:\n  - {type: stairs, name: s, count: 3}\nbodies:\n  - "
              "{name: b, shape: {type: box, size: [0.4, 0.2, 0.3], cells: [3, 2, 2]}, "
              "material: {type: neo-hookean, E: 1, rho: 1000}, transform: {translate: "
              "[0.4, 0.28, 0.02]}}\n");
    const BrioSystem *s = sim->system;
    BrioPotential *P = sim->stepper->potential;
    int64_t n = sim->state->coordinates, world = 3 * s->vertex_count, hits;
    double *x = calloc((size_t)(world + 6 * n), sizeof *x), *q = x + world, *d = q + n, *g = d + n;
    double *g0 = g + n;
    uint64_t seed = 3;
    assert_non_null(brio__potential_colliders(P));
    for (int pose = 0; pose < 6; pose++) {
        for (int64_t i = 0; i < n; i++) {
            q[i] = sim->state->q[i] + 0.03 * (random_number(&seed) - 0.5);
            d[i] = random_number(&seed) - 0.5;
        }
        double slope[2], E0 = 0, dE = 0;
        for (int k = 0; k < 3; k++) { /* at q, and ever nearer */
            double h = k == 0 ? 0 : k == 1 ? 1e-4 : 1e-5;
            for (int64_t i = 0; i < n; i++) g[i] = q[i] + h * d[i];
            brio__system_positions(s, sim->state, g, 0, x);
            BrioSum sum =
                brio__potential_evaluate(P, &(BrioPose){sim->state, x, 0}, k ? g : g0, NULL);
            if (k == 0) {
                E0 = sum.energy;
                for (int64_t i = 0; i < n; i++) dE += g0[i] * d[i];
                brio__colliders_find(brio__potential_colliders(P), x, 0.08, &hits);
                assert_true(hits > 3);
            } else {
                slope[k - 1] = fabs(sum.energy - E0 - h * dE);
            }
        }
        double order = log10(slope[0] / slope[1]);
        printf("    %lld hits, order of the gradient %.2f\n", (long long)hits, order);
        assert_true(order > 1.8 || slope[1] < 1e-12);
    }
    free(x);
    brio_sim_free(sim);
}

/* A block on a slab of triangles rests where springs carry it, and goes with the slab. */
static void slab_carries_and_drags(void **state)
{
    (void)state;
    BrioSim *sim = on_box("type: penalty, kappa: 1e3, dhat: 0.01, mu: 0.6",
                          ", script: {velocity: [0.2, 0, 0], start: 1}");
    assert_non_null(brio__potential_colliders(sim->stepper->potential));
    step(sim, 200);
    BrioLedger rest = ledger(sim);
    /* nine springs carry 1 kg: d = dhat - m g/(9 kappa) */
    double low = INFINITY;
    double *x = malloc(3 * (size_t)sim->system->vertex_count * sizeof *x);
    brio__system_positions(sim->system, sim->state, sim->state->q, 1, x);
    for (int v = 0; v < 27; v++) low = fmin(low, x[3 * v + 1]);
    printf("    lowest vertex %.6f m, springs of the mean force %.6f m\n", low, 0.01 - 10 / 9e3);
    assert_true(fabs(low - (0.01 - 10 / 9e3)) < 1e-3 && rest.kinetic < 1e-6);
    step(sim, 300);
    BrioLedger moved = ledger(sim);
    printf("    after 1.5 seconds on the slab: %.4f m/s\n", moved.momentum[0]);
    assert_true(fabs(moved.momentum[0] - 0.2) < 5e-3); /* 1 kg; creeping at epsv */
    double balance = moved.total - rest.total - (moved.added - rest.added) +
                     (moved.dissipated - rest.dissipated);
    assert_true(balance < 1e-6); /* backward Euler loses, and adds nothing */
    free(x);
    brio_sim_free(sim);
}

/* ---- nothing goes through --------------------------------------------------------------- */

static void hit_by_ball(double speed, const char *contact, double h)
{
    double way = 0.5, time = way / speed;
    int steps = (int)ceil(time / h);
    BrioSim *sim = parse(
        "time: {h: %.17g}\ngravity: [0, 0, 0]\nintegrator: backward-euler\nsolver: {tol: 1e-3}\n"
        "contact: {%s}\nobstacles:\n  - {type: sphere, name: ball, radius: 0.1, subdivisions: 3, "
        "formula: "
        "false, transform: {translate: [0.003, -0.13, 0.004]}, script: {velocity: [0, %g, 0]}}\n"
        "bodies:\n  - {name: cloth, shape: {type: grid, width: 0.5, depth: 0.5, cells_x: 10, "
        "cells_z: 10}, kind: shell, material: {type: membrane-neo-hookean, E: 2e7, nu: 0.3, "
        "thickness: 5e-4, areal: 0.2}}\n",
        h, contact, speed);
    for (int k = 0; k < BRIO_MIN(steps, 40); k++) {
        step(sim, 1);
        double *x = malloc(3 * (size_t)sim->system->vertex_count * sizeof *x);
        brio__system_positions(sim->system, sim->state, sim->state->q, sim->state->time, x);
        /* the vertex above the ball stays above its centre */
        double centre = -0.13 + speed * sim->state->time;
        if (!(x[3 * 60 + 1] > centre))
            fail_msg("%s, %g m/s, step %d: vertex 60 at %g m, the ball's centre at %g m", contact,
                     speed, k, x[3 * 60 + 1], centre);
        free(x);
        assert_int_equal(meets_obstacle(sim), 0);
    }
    brio_sim_free(sim);
}

static void nothing_goes_through(void **state)
{
    (void)state;
    static const double speeds[] = {1, 10, 100};
    for (size_t i = EMULATED ? BRIO_COUNT(speeds) - 1 : 0; i < BRIO_COUNT(speeds); i++) {
        printf("    %g m/s\n", speeds[i]);
        hit_by_ball(speeds[i], "type: ipc", 1. / 60);
        hit_by_ball(speeds[i], "type: penalty, kappa: 1e4, dhat: 0.03", 1. / 60);
    }
}

/* ---- threads, memory -------------------------------------------------------------------- */

static BrioSim *dressed(const char *contact)
{
    return parse(
        "time: {h: 1/60}\ngravity: [0, -9.8, 0]\nintegrator: backward-euler\nsolver: {tol: "
        "1e-3}\ncontact: {%s}\nobstacles:\n  - {type: figure, name: f, of: cactus, size: "
        "0.4, cells: 8, sequence: wave.pc2, fps: 60}\nbodies:\n  - {name: cloth, shape: "
        "{type: grid, width: 0.4, depth: 0.4, cells_x: 10, cells_z: 10}, kind: shell, "
        "material: {type: membrane-neo-hookean, E: 5e4, nu: 0.3, thickness: 5e-4, areal: "
        "0.2}, transform: {translate: [0, 0.42, 0]}}\n",
        contact);
}

static void threads_and_sequence(void **state)
{
    (void)state;
    BrioMesh *mesh = NULL;
    BrioSequence *s = waving(30, 60, 8, &mesh);
    write_cache("wave.pc2", s, false);
    static const char *const laws[] = {"type: ipc, mu: 0.3",
                                       "type: penalty, kappa: 200, dhat: 0.02, mu: 0.3"};
    for (int k = 0; k < 2; k++) {
        double *q[2];
        int64_t n = 0;
        for (int threads = 1; threads <= 2; threads++) {
            brio_set_threads(threads);
            BrioSim *sim = dressed(laws[k]);
            for (int i = 0; i < 12; i++) {
                step(sim, 1);
                assert_int_equal(meets_obstacle(sim), 0);
            }
            n = sim->state->coordinates;
            q[threads - 1] = malloc((size_t)n * sizeof(double));
            memcpy(q[threads - 1], sim->state->q, (size_t)n * sizeof(double));
            brio_sim_free(sim);
        }
        assert_memory_equal(q[0], q[1], (size_t)n * sizeof(double));
        free(q[0]);
        free(q[1]);
    }
    brio_set_threads(1);
    brio_sequence_free(s);
    brio_mesh_free(mesh);
}

/* A scene names the files of a sequence by a pattern, relative to itself. */
static void scene_takes_a_pattern(void **state)
{
    (void)state;
    write_text("step_1.obj", "v -1 -2 -1\nv 1 -2 -1\nv 0 -2 1\nf 1 3 2\n");
    write_text("step_2.obj", "v -1 -1 -1\nv 1 -1 -1\nv 0 -1 1\nf 1 3 2\n");
    BrioSim *sim =
        parse("contact: {type: ipc}\nobstacles: [{type: mesh, sequence: step_#.obj, fps: 2, "
              "interpolation: monotone}]\nbodies:\n  - {shape: {type: box, size: [0.1, 0.1, 0.1], "
              "cells: [1, 1, 1]}, material: {type: stvk}}\n");
    const BrioSystem *s = sim->system;
    double *x = calloc(3 * (size_t)s->vertex_count, sizeof *x);
    brio__system_fixed(s, sim->state, 0.25, x);
    assert_true(fabs(x[3 * s->obstacle[0].first + 1] + 1.5) < 1e-14);
    free(x);
    brio_sim_free(sim);
}

/* Keys that would do nothing. */
static void what_does_nothing_is_refused(void **state)
{
    (void)state;
    static const char *const refused[][2] = {{"interpolation: cubic", "1:79: interpolation is for"},
                                             {"fps: 24", "1:79: fps is for a sequence"},
                                             {"start: 2", "1:79: start is for a sequence"},
                                             {"script: {poses: []}", "there are no poses"},
                                             {"script: {keys: []}", "there are no keys"}};
    for (size_t i = 0; i < BRIO_COUNT(refused); i++) {
        char text[1024], message[1200];
        BrioSim *sim = NULL;
        BrioError error = {0};
        int length = snprintf(text, sizeof text,
                              "obstacles: [{type: box, cells: [1, 1, 1], transform: {translate: "
                              "[0, -2, 0]}, %s}]\ncontact: {type: penalty}\nbodies:\n  - {shape: "
                              "{type: box, cells: [1, 1, 1]}, material: {type: stvk}}\n",
                              refused[i][0]);
        assert_int_not_equal(brio_sim_parse(text, (size_t)length, "test", &sim, &error), BRIO_OK);
        snprintf(message, sizeof message, "%d:%d: %s", error.line, error.column, error.message);
        if (!strstr(message, refused[i][1]))
            fail_msg("\"%s\" is not in: %s", refused[i][1], message);
    }
}

static void memory_may_fail(void **state)
{
    (void)state;
    static const char scene[] =
        "contact: {type: penalty, dhat: 0.01}\nobstacles: [{type: box, name: o, cells: [1, 1, 1], "
        "script: {poses: [{t: 0}, {t: 1, translate: [1, 0, 0]}]}, transform: {translate: [0, -2, "
        "0]}}]\nbodies:\n  - {shape: {type: box, cells: [1, 1, 1]}, material: {type: stvk}, "
        "fix: [{vertices: [0, 1], sequence: row.csv}, {normal: [[1, 0, 0], 10], axes: [x]}], "
        "attach: [{vertices: [5], weights: [2], script: {formula: [t, 0, 0]}}]}\n";
    Memory m;
    memory_start(&m, -1, false);
    BrioSim *sim = NULL;
    BrioError error = {0};
    BrioStatus status = brio_sim_parse(scene, strlen(scene), "test", &sim, &error);
    brio_sim_free(sim);
    brio_set_allocator(NULL);
    if (status != BRIO_OK) fail_msg("%s", error.message);
    int64_t calls = m.calls;
    assert_int_equal(m.live, 0);
    for (int64_t at = 0; at < calls; at++) {
        sim = NULL;
        memory_start(&m, at, false);
        status = brio_sim_parse(scene, strlen(scene), "test", &sim, &error);
        brio_sim_free(sim);
        brio_set_allocator(NULL);
        if (m.failed && status == BRIO_OK) continue; /* what saves time only */
        assert_true(status < 0);
        assert_int_equal(m.live, 0);
    }
}

int main(void)
{
    brio_set_threads(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read),
        cmocka_unit_test(own_glb_is_read),
        cmocka_unit_test(targets_of_glb_have_weights),
        cmocka_unit_test(formulas_begin_and_end),
        cmocka_unit_test(nodes_of_glb_move),
        cmocka_unit_test(triangles_of_glb),
        cmocka_unit_test(skins_of_glb_bend),
        cmocka_unit_test(bad_files_get_a_sentence),
        cmocka_unit_test(scripts_move_as_said),
        cmocka_unit_test(curves_are_smooth),
        cmocka_unit_test(monotone_stays_between),
        cmocka_unit_test(attachments_follow),
        cmocka_unit_test(half_is_half_of_whole),
        cmocka_unit_test(fixed_coordinates_do_not_fall),
        cmocka_unit_test(set_velocities_leave_fixed_coordinates),
        cmocka_unit_test(confined_column_settles),
        cmocka_unit_test(springs_are_differentiated),
        cmocka_unit_test(slab_carries_and_drags),
        cmocka_unit_test(nothing_goes_through),
        cmocka_unit_test(threads_and_sequence),
        cmocka_unit_test(what_does_nothing_is_refused),
        cmocka_unit_test(scene_takes_a_pattern),
        cmocka_unit_test(memory_may_fail),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
