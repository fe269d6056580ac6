/* brio render --texture: PNG files of every kind are read, damaged ones are rejected with a
 * sentence, and pictures appear where texture coordinates put them, filtered. */
#define _GNU_SOURCE
#include "program.h"

#include "picture/png.h"
#include "picture/stage.h"

#if __has_include(<zlib.h>)
#include <zlib.h>

/* ---- PNG files -------------------------------------------------------------------------- */

typedef struct Bytes {
    uint8_t *data;
    size_t size;
} Bytes;

static void put_number(Bytes *b, uint32_t number)
{
    for (int k = 0; k < 4; k++) b->data[b->size++] = (uint8_t)(number >> (24 - 8 * k));
}

static void put_chunk(Bytes *b, const char *kind, const uint8_t *data, size_t size)
{
    put_number(b, (uint32_t)size);
    size_t from = b->size;
    memcpy(b->data + b->size, kind, 4);
    if (size) memcpy(b->data + b->size + 4, data, size);
    b->size += 4 + size;
    put_number(b, (uint32_t)crc32(crc32(0, NULL, 0), b->data + from, (uInt)(size + 4)));
}

static int predict(int filter, int a, int b, int c)
{
    int p = a + b - c, to_a = abs(p - a), to_b = abs(p - b), to_c = abs(p - c);
    switch (filter) {
    case 1: return a;
    case 2: return b;
    case 3: return (a + b) / 2;
    case 4: return to_a <= to_b && to_a <= to_c ? a : to_b <= to_c ? b : c;
    default: return 0;
    }
}

/* A file of rows of packed samples; row j has filter j % 5, and the pixels are in two chunks. */
static Bytes png_of(int width, int height, int depth, int kind, size_t step, const uint8_t *rows,
                    size_t row, const uint8_t *palette, size_t colours, int interlaced)
{
    Bytes b = {malloc(100000), 0};
    uint8_t raw[4000], packed[8000], head[13] = {0};
    assert_true((row + 1) * (size_t)height <= sizeof raw);
    for (int j = 0; j < height; j++) {
        uint8_t *out = raw + (size_t)j * (row + 1);
        *out++ = (uint8_t)(j % 5);
        for (size_t k = 0; k < row; k++) {
            const uint8_t *at = rows + (size_t)j * row + k;
            int a = k >= step ? at[-(long)step] : 0, up = j ? at[-(long)row] : 0;
            int corner = j && k >= step ? at[-(long)row - (long)step] : 0;
            out[k] = (uint8_t)(*at - predict(j % 5, a, up, corner));
        }
    }
    uLongf length = sizeof packed;
    assert_int_equal(compress(packed, &length, raw, (uLong)((row + 1) * (size_t)height)), Z_OK);
    memcpy(b.data, "\x89PNG\r\n\x1a\n", 8);
    b.size = 8;
    head[3] = (uint8_t)width;
    head[7] = (uint8_t)height;
    head[8] = (uint8_t)depth;
    head[9] = (uint8_t)kind;
    head[12] = (uint8_t)interlaced;
    put_chunk(&b, "IHDR", head, sizeof head);
    put_chunk(&b, "tIME", head, 7); /* which nobody needs */
    if (palette) {
        const uint8_t opacity[2] = {255, 128};
        put_chunk(&b, "PLTE", palette, 3 * colours);
        put_chunk(&b, "tRNS", opacity, sizeof opacity);
    }
    put_chunk(&b, "IDAT", packed, length / 2);
    put_chunk(&b, "IDAT", packed + length / 2, length - length / 2);
    put_chunk(&b, "IEND", NULL, 0);
    return b;
}

enum { WIDE = 13, HIGH = 11 };

static void every_kind_of_pixels(void **state)
{
    (void)state;
    static const struct {
        int kind, channels, depth;
    } kinds[] = {{0, 1, 1}, {0, 1, 2},  {0, 1, 4},  {0, 1, 8}, {0, 1, 16},
                 {2, 3, 8}, {2, 3, 16}, {3, 1, 1},  {3, 1, 2}, {3, 1, 4},
                 {3, 1, 8}, {4, 2, 8},  {4, 2, 16}, {6, 4, 8}, {6, 4, 16}};
    BrioRandom random = {7};
    uint8_t palette[768];
    for (int k = 0; k < 768; k++) palette[k] = (uint8_t)(7 * k + 3);
    for (size_t n = 0; n < BRIO_COUNT(kinds); n++) {
        int depth = kinds[n].depth, channels = kinds[n].channels,
            max = (1 << BRIO_MIN(depth, 8)) - 1;
        size_t row = ((size_t)(WIDE * channels * depth) + 7) / 8;
        uint8_t rows[HIGH * WIDE * 8] = {0}, expected[HIGH * WIDE][4], *rgba;
        for (int j = 0; j < HIGH; j++)
            for (int i = 0; i < WIDE; i++) {
                int value[4] = {0, 0, 0, 255};
                uint8_t *out = expected[j * WIDE + i];
                for (int c = 0; c < channels; c++) {
                    value[c] = (int)(brio__random(&random) * (max + 1));
                    int bit = (i * channels + c) * depth;
                    uint8_t *at = rows + (size_t)j * row + bit / 8;
                    if (depth >= 8)
                        at[0] = (uint8_t)value[c];
                    else
                        at[0] |= (uint8_t)(value[c] << (8 - depth - bit % 8));
                    if (depth == 16) at[1] = (uint8_t)(256 * brio__random(&random));
                }
                for (int c = 0; c < 3; c++)
                    out[c] = kinds[n].kind == 3
                                 ? palette[3 * value[0] + c]
                                 : (uint8_t)(value[channels < 3 ? 0 : c] * 255 / max);
                out[3] = kinds[n].kind == 3   ? (value[0] == 1 ? 128 : 255)
                         : kinds[n].kind == 4 ? (uint8_t)value[1]
                                              : (uint8_t)value[3];
            }
        int width, height;
        BrioError error = {0};
        size_t step = (size_t)BRIO_MAX(channels * depth / 8, 1);
        Bytes file = png_of(WIDE, HIGH, depth, kinds[n].kind, step, rows, row,
                            kinds[n].kind == 3 ? palette : NULL, (size_t)max + 1, 0);
        BrioStatus status =
            brio__png_read("a.png", file.data, file.size, &rgba, &width, &height, &error);
        if (status) print_error("kind %d, %d bits: %s\n", kinds[n].kind, depth, error.message);
        assert_int_equal(status, BRIO_OK);
        assert_int_equal(width, WIDE);
        assert_int_equal(height, HIGH);
        assert_memory_equal(rgba, expected, sizeof expected);
        brio__free(rgba);
        free(file.data);
    }
}

/* Without a palette tRNS names one colour, all bits of it, whose pixels are transparent. */
static void a_transparent_colour(void **state)
{
    (void)state;
    static const struct {
        int kind, channels, depth;
    } kinds[] = {{0, 1, 1}, {0, 1, 4}, {0, 1, 8}, {0, 1, 16}, {2, 3, 8}, {2, 3, 16}};
    for (size_t n = 0; n < BRIO_COUNT(kinds); n++) {
        int depth = kinds[n].depth, channels = kinds[n].channels, width, height, seen = 0;
        size_t row = ((size_t)(WIDE * channels * depth) + 7) / 8;
        uint8_t rows[HIGH * WIDE * 6], key[6], *rgba;
        BrioError error = {0};
        memset(rows, 0x5a, sizeof rows); /* of 1 and 4 bits not all pixels are alike */
        if (depth >= 8) rows[row / 2] = 0x5b;
        for (int c = 0; c < channels; c++) {
            key[2 * c] = depth == 16 ? 0x5a : 0;
            key[2 * c + 1] = depth == 1 ? 1 : depth == 4 ? 5 : 0x5a;
        }
        Bytes file = png_of(WIDE, HIGH, depth, kinds[n].kind,
                            (size_t)BRIO_MAX(channels * depth / 8, 1), rows, row, NULL, 0, 0);
        Bytes keyed = {malloc(file.size + 20), 33}; /* signature and head */
        memcpy(keyed.data, file.data, 33);
        put_chunk(&keyed, "tRNS", key, 2 * (size_t)channels);
        memcpy(keyed.data + keyed.size, file.data + 33, file.size - 33);
        keyed.size += file.size - 33;
        assert_int_equal(
            brio__png_read("a.png", keyed.data, keyed.size, &rgba, &width, &height, &error),
            BRIO_OK);
        for (int j = 0; j < HIGH; j++)
            for (int i = 0; i < WIDE; i++) {
                /* 0x5a is 01011010 */
                bool same = depth == 1   ? 0x5a >> (7 - i % 8) & 1
                            : depth == 4 ? i % 2 == 0
                                         : j > 0 || (size_t)i != row / 2 / (row / WIDE);
                assert_int_equal(rgba[4 * (j * WIDE + i) + 3], same ? 0 : 255);
                seen += same;
            }
        assert_true(seen > 0 && seen < WIDE * HIGH);
        brio__free(rgba);
        free(keyed.data);
        free(file.data);
    }
}

/* Any length and any changed byte: the same picture or a sentence. */
static void damaged_files(void **state)
{
    (void)state;
    uint8_t rows[HIGH * WIDE * 3], *rgba;
    int width, height;
    for (size_t k = 0; k < sizeof rows; k++) rows[k] = (uint8_t)(k * k);
    Bytes file = png_of(WIDE, HIGH, 8, 2, 3, rows, 3 * WIDE, NULL, 0, 0);
    uint8_t *copy = malloc(file.size);
    int refused = 0;
    for (size_t cut = 0; cut < file.size; cut++) {
        BrioError error = {0};
        memcpy(copy, file.data, cut); /* a block of its own: a sanitizer sees what is read beyond */
        uint8_t *part = malloc(cut + !cut);
        memcpy(part, copy, cut);
        if (brio__png_read("a.png", part, cut, &rgba, &width, &height, &error) != BRIO_OK) {
            assert_non_null(strstr(error.message, "a.png: "));
            assert_null(rgba);
            refused++;
        }
        brio__free(rgba);
        free(part);
    }
    print_message("%d of %d lengths are rejected\n", refused, (int)file.size);
    assert_true(refused >= (int)file.size - 12);
    for (size_t at = 0; at < file.size; at++) {
        BrioError error = {0};
        memcpy(copy, file.data, file.size);
        copy[at] ^= 0x21;
        if (brio__png_read("a.png", copy, file.size, &rgba, &width, &height, &error) != BRIO_OK)
            assert_non_null(strstr(error.message, "a.png: "));
        brio__free(rgba);
    }
    free(copy);
    free(file.data);
    BrioError error = {0};
    file = png_of(WIDE, HIGH, 8, 2, 3, rows, 3 * WIDE, NULL, 0, 1);
    assert_int_not_equal(
        brio__png_read("a.png", file.data, file.size, &rgba, &width, &height, &error), BRIO_OK);
    assert_string_equal(error.message, "a.png: interlaced PNG files are not supported; save it "
                                       "without interlacing");
    free(file.data);
}

/* ---- filters ---------------------------------------------------------------------------- */

/* From afar, fine stripes are their mean; close by, a texel is itself; beyond its edges a texture
 * repeats; what is not opaque does not count. */
static void filters(void **state)
{
    (void)state;
    enum { N = 64 };
    static uint8_t rgba[N * N][4];
    for (int k = 0; k < N * N; k++) {
        uint8_t white = k % 2 ? 255 : 0;
        memcpy(rgba[k], (uint8_t[]){white, white, white, 255}, 4);
    }
    BrioTexture *t;
    float colour[4];
    assert_int_equal(brio__texture_create(rgba[0], N, N, &t), BRIO_OK);
    const float wide[4][2] = {{0, 0}, {0.9f, 0}, {0, 0.9f}, {0.9f, 0.9f}};
    brio__texture_mean(t, wide, 4, colour);
    assert_float_equal(colour[0], 0.5, 0.001);
    assert_float_equal(colour[3], 1, 0.0001);
    for (int i = -3; i < 3; i++) {
        const float close[1][2] = {{((float)i + 0.5f) / N + 2, -0.3f}};
        brio__texture_mean(t, close, 1, colour);
        assert_float_equal(colour[1], (i & 1), 0.001);
    }
    const float strange[3][2] = {{NAN, 0}, {0, 0.5f}, {0, INFINITY}};
    for (int first = 0; first < 2; first++) {
        brio__texture_mean(t, &strange[first], 2, colour);
        assert_true(colour[3] == 0);
    }
    brio__texture_free(t);
    for (int k = 0; k < N * N; k++) rgba[k][3] = k % 2 ? 255 : 0;
    assert_int_equal(brio__texture_create(rgba[0], N, N, &t), BRIO_OK);
    brio__texture_mean(t, wide, 4, colour);
    assert_float_equal(colour[0], 0.5, 0.001); /* white, half of it */
    assert_float_equal(colour[3], 0.5, 0.001);
    brio__texture_free(t);
    /* sides that are no powers of two, down to one texel */
    assert_int_equal(brio__texture_create(rgba[0], 5, 1, &t), BRIO_OK);
    const float far[2][2] = {{-40, -40}, {40, 40}};
    brio__texture_mean(t, far, 2, colour);
    assert_float_equal(colour[3], 0.4, 0.001);
    brio__texture_free(t);
}

/* ---- pictures --------------------------------------------------------------------------- */

/* A square of two faces in the plane z = 0, with the picture upright on it, and a box. */
static void make_run(void)
{
    static const uint8_t colours[4][3] = {
        {220, 30, 30}, {30, 200, 30}, {30, 30, 220}, {230, 220, 20}};
    uint8_t rgb[16 * 16 * 3];
    if (access("square/motion.bin", F_OK) == 0) return;
    for (int j = 0; j < 16; j++)
        for (int i = 0; i < 16; i++)
            memcpy(rgb + 3 * (16 * j + i), colours[2 * (j / 8) + i / 8], 3);
    FILE *file = fopen("four.png", "wb");
    assert_int_equal(brio__png_write(file, rgb, 16, 16), BRIO_OK);
    fclose(file);
    write_text("square.obj", "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\n"
                             "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nf 1/1 2/2 3/3 4/4\n");
    write_text("square.yaml",
               "brio: 1\ntime: {h: 1/20, end: 0.1, fps: 20}\ngravity: [0, 0, 0]\nbodies:\n"
               "  - {name: square, mesh: square.obj, material: {type: membrane-stvk, thickness: "
               "1e-3, rho: 1000}}\n"
               "  - {name: box, shape: {type: box, cells: [1, 1, 1], size: [0.1, 0.1, 0.1]}, "
               "material: {type: neo-hookean}, transform: {translate: [0, 0, -1]}}\n");
    const Outcome *o = BRIO("run", "square.yaml", "-o", "square", "-q");
    if (o->code) print_error("%s", o->err);
    assert_int_equal(o->code, 0);
}

static void upright_on_its_body(void **state)
{
    (void)state;
    make_run();
    static const char *const options[] = {"four.png", "square=four.png"};
    for (int k = 0; k < 2; k++) {
        const Outcome *o =
            BRIO("render", "square", "-o", "square.png", "--force", "--size", "240x240",
                 "--azimuth", "0", "--elevation", "0", "--texture", options[k], "-q");
        if (o->code) print_error("%s", o->err);
        assert_int_equal(o->code, 0);
        char *data;
        size_t size = 0;
        uint8_t *rgba;
        int width, height;
        BrioError error = {0};
        data = read_all("square.png", &size);
        assert_int_equal(
            brio__png_read("square.png", (uint8_t *)data, size, &rgba, &width, &height, &error),
            BRIO_OK);
        free(data);
        BrioStageDef def = brio__stage_defaults();
        BrioMotionFile *motion;
        BrioStage *stage;
        def.width = def.height = 240;
        def.azimuth = def.elevation = 0;
        assert_int_equal(brio__motion_open("square", &motion, &error), BRIO_OK);
        assert_int_equal(brio__stage_create(&def, &motion, 1, &stage, &error), BRIO_OK);
        for (int q = 0; q < 4; q++) { /* from the upper left one, as in the file */
            const double centre[3] = {q % 2 ? 0.5 : -0.5, q / 2 ? -0.5 : 0.5, 0};
            double at[2];
            assert_true(brio__view_project(&stage->view, centre, at, NULL));
            const uint8_t *p = rgba + 4 * ((size_t)at[1] * 240 + (size_t)at[0]);
            print_message("quarter %d: %d %d %d\n", q, p[0], p[1], p[2]);
            bool red = p[0] > 1.5 * p[2] && p[0] > 90, green = p[1] > 1.5 * p[2] && p[1] > 90;
            assert_int_equal(red, q == 0 || q == 3);
            assert_int_equal(green, q == 1 || q == 3);
            if (q == 2) assert_true(p[2] > 1.5 * p[0] && p[2] > 1.5 * p[1]);
        }
        brio__stage_free(stage);
        brio__motion_free(motion);
        brio__free(rgba);
    }
}

static void sentences(void **state)
{
    (void)state;
    make_run();
    write_text("text.png", "hello");
    static const struct {
        const char *argument[2], *err;
    } cases[] = {
        {{"text.png"}, "text.png: this is not a PNG file\n"},
        {{"nowhere.png"}, "nowhere.png: there is no such file\n"},
        {{"sqare=four.png"},
         "--texture: no body or obstacle \"sqare\"; did you mean \"square\"?\n"},
        {{"box=four.png"},
         "--texture: box has no texture coordinates; use a mesh from an OBJ file with vt lines (in "
         "Blender: UV > Unwrap, then export)\n"},
        {{"four.png", "--color=strain"},
         "brio render: --texture needs --color body, the default\n"},
    };
    for (size_t i = 0; i < BRIO_COUNT(cases); i++) {
        const Outcome *o = BRIO("render", "square", "-o", "no.png", "--texture",
                                cases[i].argument[0], cases[i].argument[1]);
        assert_string_equal(o->err, cases[i].err);
        assert_int_equal(o->code, 2);
        assert_int_not_equal(access("no.png", F_OK), 0);
    }
}

int main(void)
{
    uint8_t *rgba;
    int width, height;
    BrioError error = {0};
    brio__png_read("", (const uint8_t *)"", 0, &rgba, &width, &height, &error);
    if (strstr(error.message, "without zlib")) {
        puts("SKIPPED: this brio was built without zlib, so it cannot read PNG files");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_pixels), cmocka_unit_test(a_transparent_colour),
        cmocka_unit_test(damaged_files),        cmocka_unit_test(filters),
        cmocka_unit_test(upright_on_its_body),  cmocka_unit_test(sentences),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
#else
int main(void)
{
    puts("SKIPPED: zlib is not installed");
    return 77;
}
#endif
