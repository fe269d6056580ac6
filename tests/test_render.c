/* brio render: pictures decoded again and looked at where a known vertex must be, shadows, sheets,
 * films, and the file that they are made of. */
#define _GNU_SOURCE
#include "program.h"

#include "run/run.h"
#include "picture/png.h"
#include "picture/stage.h"
#include "vecf.h"

#if __has_include(<zlib.h>)
#include <zlib.h>

/* ---- pictures --------------------------------------------------------------------------- */

typedef struct Image {
    int width, height;
    uint8_t *rgb;
} Image;

static uint32_t word(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Every chunk's checksum, the compressed data and all five filters, by the book. */
static Image decode(const char *name)
{
    size_t size = 0, used = 0;
    uint8_t *file = (uint8_t *)read_all(name, &size), *packed;
    Image image = {0};
    assert_non_null(file);
    assert_true(size > 57 && !memcmp(file, "\x89PNG\r\n\x1a\n", 8));
    packed = malloc(size);
    for (size_t at = 8; at + 12 <= size;) {
        uint32_t length = word(file + at);
        assert_true(at + 12 + length <= size);
        assert_int_equal(word(file + at + 8 + length),
                         crc32(crc32(0, NULL, 0), file + at + 4, length + 4));
        if (!memcmp(file + at + 4, "IHDR", 4)) {
            image.width = (int)word(file + at + 8);
            image.height = (int)word(file + at + 12);
            assert_memory_equal(file + at + 16, "\10\2\0\0\0", 5);
        } else if (!memcmp(file + at + 4, "IDAT", 4)) {
            memcpy(packed + used, file + at + 8, length);
            used += length;
        }
        at += 12 + length;
    }
    size_t row = 3 * (size_t)image.width;
    uLongf bytes = (uLongf)((row + 1) * (size_t)image.height);
    uint8_t *raw = malloc(bytes);
    assert_int_equal(uncompress(raw, &bytes, packed, (uLong)used), Z_OK);
    assert_int_equal(bytes, (row + 1) * (size_t)image.height);
    image.rgb = calloc(row, (size_t)image.height);
    for (int j = 0; j < image.height; j++)
        for (size_t k = 0; k < row; k++) {
            uint8_t *at = image.rgb + (size_t)j * row + k;
            int a = k >= 3 ? at[-3] : 0;
            int b = j ? at[-(long)row] : 0;
            int c = j && k >= 3 ? at[-(long)row - 3] : 0;
            int p = a + b - c;
            int filter = raw[(size_t)j * (row + 1)];
            int paeth = abs(p - a) <= abs(p - b) && abs(p - a) <= abs(p - c) ? a
                        : abs(p - b) <= abs(p - c)                           ? b
                                                                             : c;
            assert_true(filter <= 4);
            *at = (uint8_t)(raw[(size_t)j * (row + 1) + 1 + k] + (filter == 0   ? 0
                                                                  : filter == 1 ? a
                                                                  : filter == 2 ? b
                                                                  : filter == 3 ? (a + b) / 2
                                                                                : paeth));
        }
    free(raw);
    free(packed);
    free(file);
    return image;
}

static const uint8_t *pixel(const Image *image, double x, double y)
{
    assert_true(x >= 0 && y >= 0 && x < image->width && y < image->height);
    return image->rgb + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
}

static int light_of(const uint8_t *p) { return (p[0] + p[1] + p[2]) / 3; }
static int colour_of(const uint8_t *p) /* how far from grey */
{
    int max = BRIO_MAX(p[0], BRIO_MAX(p[1], p[2])), min = BRIO_MIN(p[0], BRIO_MIN(p[1], p[2]));
    return max - min;
}

static const char block_scene[] =
    "brio: 1\ntime: {h: 1/20, end: 0.5, fps: 20}\ngravity: [0, 0, 0]\nintegrator: "
    "backward-euler\ncontact: {type: penalty, kappa: 1e4, dhat: 1e-3}\n"
    "bodies:\n  - name: block\n    shape: {type: box, size: [0.2, 0.2, 0.2], cells: [2, 2, 2]}\n   "
    " material: {type: neo-hookean, E: 1e5, nu: 0.3, rho: 1000}\n"
    "    transform: {translate: [0, 0.35, 0]}\n    velocity: {linear: [0.4, 0, 0]}\n"
    "obstacles:\n  - {type: plane, point: [0, 0, 0], normal: [0, 1, 0]}\n";

/* The run that most tests draw, made once. */
static void block_run(void)
{
    struct stat info;
    if (stat("block/motion.bin", &info) == 0) return;
    write_text("block.yaml", block_scene);
    const Outcome *o = BRIO("run", "block.yaml", "-o", "block", "--quiet");
    if (o->code) print_error("%s", o->err);
    assert_int_equal(o->code, 0);
}

static BrioStage *stage_of(const char *folder, int width, int height, double zoom,
                           BrioMotionFile **motion)
{
    BrioStageDef def = brio__stage_defaults();
    BrioStage *stage;
    BrioError error = {0};
    def.width = width;
    def.height = height;
    def.zoom = zoom;
    assert_int_equal(brio__motion_open(folder, motion, &error), BRIO_OK);
    assert_int_equal(brio__stage_create(&def, motion, 1, &stage, &error), BRIO_OK);
    return stage;
}

static void a_body_where_it_is(void **state)
{
    (void)state;
    block_run();
    const Outcome *o = BRIO("render", "block", "-o", "block.png", "--size", "400x300", "--time",
                            "0", "--zoom", "0.4", "--background", "studio");
    if (o->code) print_error("%s", o->err);
    assert_int_equal(o->code, 0);
    Image image = decode("block.png");
    BrioMotionFile *motion;
    BrioStage *stage = stage_of("block", image.width, image.height, 0.4, &motion);
    assert_int_equal(image.width, 400);
    assert_int_equal(image.height, 300);
    double centre[3] = {0, 0.35, 0}, at[2], depth, shade[3], lit[3], other[2];
    float light[3];
    assert_true(brio__view_project(&stage->view, centre, at, &depth));
    const uint8_t *body = pixel(&image, at[0], at[1]), *corner = pixel(&image, 4, 4);
    print_message("body (%.1f, %.1f): %d %d %d, background %d %d %d\n", at[0], at[1], body[0],
                  body[1], body[2], corner[0], corner[1], corner[2]);
    assert_true(body[2] > body[0] + 40); /* blue, the first of the palette */
    assert_true(colour_of(corner) < 25 && light_of(corner) > 200);
    /* a vertex of the surface, a little inside of the silhouette, and a point well outside */
    double vertex[3] = {0.09, 0.44, 0.09}, outside[3] = {-0.25, 0.6, 0};
    assert_true(brio__view_project(&stage->view, vertex, other, NULL));
    assert_true(colour_of(pixel(&image, other[0], other[1])) > 40);
    assert_true(brio__view_project(&stage->view, outside, other, NULL));
    assert_true(colour_of(pixel(&image, other[0], other[1])) < 25);
    /* the middle of the shadow, and the same distance from the body on the other side */
    brio__view_light(&stage->view, light);
    for (int k = 0; k < 3; k++) {
        shade[k] = centre[k] - 0.35 / light[1] * light[k];
        lit[k] = k == 1 ? 0 : centre[k] + 0.35 / light[1] * light[k];
    }
    assert_true(brio__view_project(&stage->view, shade, at, &depth) &&
                brio__view_project(&stage->view, lit, other, NULL));
    int dark = light_of(pixel(&image, at[0], at[1]));
    int bright = light_of(pixel(&image, other[0], other[1]));
    print_message("shadow %d, ground %d\n", dark, bright);
    assert_true(dark + 25 < bright);
    brio__stage_free(stage);
    brio__motion_free(motion);
    free(image.rgb);
}

/* With a camera at a given place the picture grows with the zoom, whatever that is. */
static void zoom_of_a_camera(void **state)
{
    (void)state;
    block_run();
    const double zoom[] = {1, 100, 2, 0.5, 0.2, 0.1, 0.05, 0.01}, x[3] = {0.1, 0.45, 0.1};
    double first[2] = {0, 0};
    for (size_t i = 0; i < sizeof zoom / sizeof *zoom; i++) {
        BrioStageDef def = brio__stage_defaults();
        BrioMotionFile *motion;
        BrioStage *stage;
        double at[2];
        def.zoom = zoom[i];
        for (int r = 0; r < 3; r++) {
            def.eye[r] = (double[]){0, 0.35, 1.6}[r];
            def.target[r] = (double[]){0, 0.35, 0}[r];
        }
        assert_int_equal(brio__motion_open("block", &motion, NULL), BRIO_OK);
        assert_int_equal(brio__stage_create(&def, &motion, 1, &stage, NULL), BRIO_OK);
        assert_true(brio__view_project(&stage->view, x, at, NULL));
        at[0] -= 0.5 * def.width;
        at[1] -= 0.5 * def.height;
        if (i == 0) memcpy(first, at, sizeof first);
        print_message("zoom %g: %.3f to the right, %.3f up\n", zoom[i], at[0], -at[1]);
        assert_true(first[0] > 100 && first[1] < -100);
        for (int r = 0; r < 2; r++)
            assert_true(fabs(at[r] - zoom[i] * first[r]) < 1e-9 * fabs(first[r]) * (1 + zoom[i]));
        brio__stage_free(stage);
        brio__motion_free(motion);
    }
}

/* A camera that looks straight down or up is turned by the azimuth like one that nearly does. */
static void azimuth_from_above(void **state)
{
    (void)state;
    block_run();
    const double x[3] = {0.1, 0.35, 0.03};
    for (int turn = -270; turn <= 270; turn += 45)
        for (int up = -90; up <= 90; up += 180) {
            double at[2][2];
            for (int near = 0; near < 2; near++) {
                BrioStageDef def = brio__stage_defaults();
                BrioMotionFile *motion;
                BrioStage *stage;
                def.azimuth = turn;
                def.elevation = near ? up * (1 - 1e-7) : up;
                assert_int_equal(brio__motion_open("block", &motion, NULL), BRIO_OK);
                assert_int_equal(brio__stage_create(&def, &motion, 1, &stage, NULL), BRIO_OK);
                assert_true(brio__view_project(&stage->view, x, at[near], NULL));
                brio__stage_free(stage);
                brio__motion_free(motion);
            }
            for (int r = 0; r < 2; r++) assert_true(fabs(at[1][r] - at[0][r]) < 0.01);
        }
}

/* A block that stands on the floor, before one of the backgrounds, seen from a low place. */
static Image standing_block(const char *background)
{
    struct stat info;
    if (stat("standing/motion.bin", &info)) {
        write_text("standing.yaml", block_scene);
        assert_int_equal(BRIO("run", "standing.yaml", "-o", "standing", "--quiet", "--set",
                              "bodies.0.transform.translate=[0, 0.101, 0]", "--set",
                              "bodies.0.velocity.linear=[0, 0, 0]", "--set", "time.end=0.05")
                             ->code,
                         0);
    }
    const Outcome *o =
        BRIO("render", "standing", "-o", "standing.png", "--force", "--size", "320x240", "--time",
             "0", "--background", background, "--camera", "0,0.35,1.6", "--target", "0,0.2,0");
    if (o->code) print_error("%s", o->err);
    assert_int_equal(o->code, 0);
    return decode("standing.png");
}

/* Blue above, a ground that fades into the horizon without a line, darker next to the block's foot
 * and open again farther away. */
static void sky_and_ground(void **state)
{
    (void)state;
    Image sky = standing_block("sky");
    const uint8_t *top = pixel(&sky, 4, 0);
    assert_true(top[2] > top[0] + 8);
    int step = 0;
    for (int j = 1; j < 240; j++) /* left of the block and its shadow */
        for (int k = 0; k < 3; k++)
            step = BRIO_MAX(step, abs(pixel(&sky, 4, j)[k] - pixel(&sky, 4, j - 1)[k]));
    print_message("largest step from row to row: %d\n", step);
    assert_true(step <= 4);
    /* the lit side's foot, and the same floor farther away, between the lines of the grid */
    BrioView view = {.width = 320, .height = 240};
    const double eye[3] = {0, 0.35, 1.6}, target[3] = {0, 0.2, 0};
    const double foot[3] = {-0.112, 0, 0.03}, away[3] = {-0.33, 0, 0.03};
    double at[2], other[2];
    brio__view_aim(&view, eye, target, BRIO_STAGE_ANGLE * 3.14159265358979 / 180);
    assert_true(brio__view_project(&view, foot, at, NULL));
    assert_true(brio__view_project(&view, away, other, NULL));
    const uint8_t *ground = pixel(&sky, other[0], other[1]);
    assert_true(ground[0] > ground[2]);
    int dark = light_of(pixel(&sky, at[0], at[1]));
    int open = light_of(ground);
    print_message("floor next to the foot %d, away from it %d\n", dark, open);
    assert_true(dark + 10 < open);
    Image studio = standing_block("studio"), white = standing_block("white");
    assert_true(colour_of(pixel(&studio, 4, 0)) < 10);
    for (int k = 0; k < 3; k++) assert_int_equal(pixel(&white, 4, 0)[k], 255);
    assert_true(light_of(pixel(&white, at[0], at[1])) < 245);
    free(sky.rgb);
    free(studio.rgb);
    free(white.rgb);
}

/* Along a fold of a sheet some facets lean over. One whose smooth normals look at the eye is as
 * light as its neighbours, and not a dark speck. */
static void no_specks_in_folds(void **state)
{
    (void)state;
    enum { WIDE = 120, HIGH = 60 };
    static uint8_t rgb[3 * WIDE * HIGH];
    BrioView view = {.width = WIDE, .height = HIGH, .radius = 2, .size = 2, .floor = -5};
    const double eye[3] = {0, 0, 4}, target[3] = {0, 0, 0};
    brio__view_aim(&view, eye, target, 0.5);
    BrioFacet facet[2] = {{.flags = 0}, {.flags = 0}};
    for (int f = 0; f < 2; f++)
        for (int k = 0; k < 3; k++) {
            BrioCorner *c = &facet[f].corner[f ? 2 - k : k];
            *c = (BrioCorner){.x = {(f ? 0.6f : -0.6f) + (k == 1   ? 0.5f
                                                          : k == 0 ? -0.5f
                                                                   : 0),
                                    k == 2 ? 0.5f : -0.5f, 0},
                              .n = {0, 0, 1},
                              .c = {0.5f, 0.5f, 0.5f}};
        }
    BrioRaster *raster;
    assert_int_equal(brio__raster_create(&raster), BRIO_OK);
    assert_int_equal(brio__raster_draw(raster, &view, facet, 2, rgb, (size_t)3 * WIDE), BRIO_OK);
    double at[2][2];
    int light[2];
    for (int f = 0; f < 2; f++) {
        const double middle[3] = {f ? 0.6 : -0.6, -0.15, 0};
        assert_true(brio__view_project(&view, middle, at[f], NULL));
        light[f] = light_of(rgb + 3 * ((size_t)at[f][1] * WIDE + (size_t)at[f][0]));
    }
    print_message("facet %d, facet that leans over %d\n", light[0], light[1]);
    assert_true(light[0] > 100);
    assert_true(abs(light[0] - light[1]) <= 4);
    brio__raster_free(raster);
}

/* A picture of a few facets, in a square around its middle: the largest difference of two pixels
 * next to each other, and the lightest one. */
static int roughness(const BrioView *view, const BrioFacet *facet, int64_t count, int around,
                     int *light)
{
    uint8_t *rgb = calloc(3 * (size_t)view->width, (size_t)view->height);
    BrioRaster *raster;
    assert_int_equal(brio__raster_create(&raster), BRIO_OK);
    assert_int_equal(brio__raster_draw(raster, view, facet, count, rgb, 3 * (size_t)view->width),
                     BRIO_OK);
    int step = 0;
    *light = 0;
    for (int j = view->height / 2 - around; j <= view->height / 2 + around; j++)
        for (int i = view->width / 2 - around; i <= view->width / 2 + around; i++) {
            const uint8_t *at = rgb + 3 * ((size_t)j * (size_t)view->width + (size_t)i);
            *light = BRIO_MAX(*light, light_of(at));
            step = BRIO_MAX(step, abs(light_of(at) - light_of(at - 3)));
        }
    brio__raster_free(raster);
    free(rgb);
    return step;
}

/* At the outline of a sheet, some of a facet's smooth normals point away from the eye, which still
 * sees its front. The sheet turns towards the light there: nothing of it is as dark as its back. */
static void no_dark_outlines(void **state)
{
    (void)state;
    BrioView view = {.width = 64, .height = 64, .radius = 2, .size = 2, .floor = -5};
    const double eye[3] = {0, 0, 4}, target[3] = {0, 0, 0};
    brio__view_aim(&view, eye, target, 0.1);
    static const float corner[3][2] = {{-0.3f, 0}, {1, -1}, {1, 1}};
    BrioFacet facet = {.flags = 0};
    for (int k = 0; k < 3; k++)
        facet.corner[k] = (BrioCorner){.x = {corner[k][0], corner[k][1], 0},
                                       .n = {-0.8f, 0, k ? 0.6f : -0.6f},
                                       .c = {0.5f, 0.5f, 0.5f}};
    int light, step = roughness(&view, &facet, 1, 20, &light);
    print_message("lightest %d, largest step %d\n", light, step);
    assert_true(light > 160 && step < 30); /* 132 and 7 with the back's light */
}

/* A pit that is open to the key light: its walls are nearer to the light than its bottom on all
 * sides, and shade nothing. */
static void no_dark_patches_in_pits(void **state)
{
    (void)state;
    enum { SIDES = 8 };
    BrioView view = {.width = 64, .height = 64, .radius = 50, .size = 50, .floor = -500};
    const double eye[3] = {0, 0, 4}, target[3] = {0, 0, 0};
    brio__view_aim(&view, eye, target, 0.1);
    BrioFacet facet[SIDES] = {{.flags = 0}};
    float axis[3], across[3], other[3];
    brio__view_light(&view, axis);
    brio__cross3f(axis, (const float[3]){0, 0, 1}, across);
    brio__normalise3f(across);
    brio__cross3f(axis, across, other);
    for (int f = 0; f < SIDES; f++)
        for (int k = 0; k < 3; k++) {
            BrioCorner *c = &facet[f].corner[k];
            double turn = 2 * 3.14159265358979 * (f + k - 1) / SIDES, wide = k ? 4 : 0;
            for (int r = 0; r < 3; r++) {
                c->x[r] =
                    (float)(wide * (cos(turn) * across[r] + sin(turn) * other[r] + 0.8 * axis[r]));
                c->n[r] = axis[r];
                c->c[r] = 0.5f;
            }
        }
    int light, step = roughness(&view, facet, SIDES, 20, &light);
    print_message("lightest %d, largest step %d\n", light, step);
    assert_true(light > 160 && step < 30); /* 216 and 92 with the walls' shadow */
}

static void the_same_for_any_number_of_threads(void **state)
{
    (void)state;
    block_run();
    assert_int_equal(BRIO("render", "block", "-o", "one.png", "--size", "333x201", "-j", "1",
                          "--color", "speed", "--wire", "--stamp")
                         ->code,
                     0);
    assert_int_equal(BRIO("render", "block", "-o", "two.png", "--size", "333x201", "-j", "2",
                          "--color", "speed", "--wire", "--stamp")
                         ->code,
                     0);
    assert_int_equal(BRIO("render", "block", "-o", "five.png", "--size", "333x201", "-j", "5",
                          "--color", "speed", "--wire", "--stamp")
                         ->code,
                     0);
    assert_true(same_file("one.png", "two.png"));
    assert_true(same_file("one.png", "five.png"));
}

static void a_sheet(void **state)
{
    (void)state;
    block_run();
    assert_int_equal(
        BRIO("render", "block", "-o", "sheet.png", "--sheet", "6", "--size", "120x100", "--plain")
            ->code,
        0);
    Image image = decode("sheet.png");
    assert_int_equal(image.width, 360);
    assert_int_equal(image.height, 200);
    BrioMotionFile *motion;
    BrioStage *stage = stage_of("block", 120, 100, 1, &motion);
    for (int k = 0; k < 6; k++) { /* it flies by 0.4 m/s to the right */
        double centre[3] = {0.4 * 0.5 * k / 5, 0.35, 0}, at[2];
        assert_true(brio__view_project(&stage->view, centre, at, NULL));
        const uint8_t *p = pixel(&image, at[0] + 120 * (k % 3), at[1] + 100 * (k / 3));
        assert_true(p[2] > p[0] + 30);
    }
    brio__stage_free(stage);
    brio__motion_free(motion);
    free(image.rgb);
    /* two runs have a row each */
    assert_int_equal(
        BRIO("render", "block", "block", "-o", "rows.png", "--sheet", "3", "--size", "100x90")
            ->code,
        0);
    image = decode("rows.png");
    assert_int_equal(image.width, 300);
    assert_int_equal(image.height, 180);
    free(image.rgb);
}

/* Whether a pixel has the colour of the curve. */
static bool on_curve(const Image *image, int x, int y)
{
    const uint8_t *p = pixel(image, x, y);
    return abs(p[0] - 0x1f) < 24 && abs(p[1] - 0x5f) < 24 && abs(p[2] - 0xa8) < 24;
}

/* The first row from the top in which the curve covers a column; -1: none. */
static int curve_row(const Image *image, int x)
{
    for (int y = image->height * 3 / 4; y < image->height; y++)
        if (on_curve(image, x, y)) return y;
    return -1;
}

/* --energy: the curve of energy.csv until the time of the picture, at the lower edge, on one scale
 * for all runs. */
static void energy_curve(void **state)
{
    (void)state;
    block_run();
    assert_int_equal(BRIO("run", "block.yaml", "-o", "falling", "-q", "--force")->code, 0);
    write_text("falling/energy.csv", "time,total\n0,4\n0.125,4\n0.25,2\n0.5,1\n");
    assert_int_equal(BRIO("render", "falling", "-o", "curve.png", "--size", "400x600", "--time",
                          "0.4", "--energy", "--plain")
                         ->code,
                     0);
    Image image = decode("curve.png");
    int first = curve_row(&image, 40), middle = curve_row(&image, 180),
        last = curve_row(&image, 300);
    print_message("rows of the curve: %d, %d, %d\n", first, middle, last);
    assert_true(first > 450 && middle > first + 20 && last > middle + 6 && last < 600);
    assert_int_equal(curve_row(&image, 350), -1); /* not yet */
    free(image.rgb);
    /* a second run with more energy: the same curve is lower */
    assert_int_equal(BRIO("run", "block.yaml", "-o", "rich", "-q", "--force")->code, 0);
    write_text("rich/energy.csv", "time,total\n0,8\n0.5,8\n");
    assert_int_equal(BRIO("render", "falling", "rich", "-o", "curves.png", "--size", "400x600",
                          "--time", "0.4", "--energy", "--plain")
                         ->code,
                     0);
    image = decode("curves.png");
    assert_true(curve_row(&image, 40) > first + 20);
    assert_int_equal(curve_row(&image, 440), first);
    free(image.rgb);
    assert_int_equal(unlink("rich/energy.csv"), 0);
    const Outcome *o = BRIO("render", "rich", "-o", "none.png", "--energy");
    assert_int_equal(o->code, 2);
    assert_string_equal(o->err, "cannot read rich/energy.csv: No such file or directory\n");
}

/* Colours by value: a body that is pulled to twice its length shows the upper end, one that moves
 * as a whole shows one colour. */
static void colours_show_values(void **state)
{
    (void)state;
    block_run();
    assert_int_equal(BRIO("render", "block", "-o", "speed.png", "--size", "300x200", "--time",
                          "0.25", "--color", "speed", "--max", "0.4")
                         ->code,
                     0);
    assert_int_equal(BRIO("render", "block", "-o", "strain.png", "--size", "300x200", "--time",
                          "0.25", "--color", "strain", "--max", "0.1")
                         ->code,
                     0);
    Image fast = decode("speed.png"), calm = decode("strain.png");
    BrioMotionFile *motion;
    BrioStage *stage = stage_of("block", 300, 200, 1, &motion);
    double centre[3] = {0.1, 0.35, 0}, at[2];
    assert_true(brio__view_project(&stage->view, centre, at, NULL));
    const uint8_t *p = pixel(&fast, at[0], at[1]), *q = pixel(&calm, at[0], at[1]);
    print_message("0.4 m/s of 0.4: %d %d %d; no strain: %d %d %d\n", p[0], p[1], p[2], q[0], q[1],
                  q[2]);
    assert_true(p[0] > p[2] + 60); /* red */
    assert_true(q[2] > q[0] + 40); /* blue */
    brio__stage_free(stage);
    brio__motion_free(motion);
    free(fast.rgb);
    free(calm.rgb);
}

/* A camera that follows: the block flies steadily, and stays where it is in the picture. */
static void a_camera_that_follows(void **state)
{
    (void)state;
    block_run();
    assert_int_equal(BRIO("render", "block", "-o", "follow.png", "--sheet", "3", "--size",
                          "120x100", "--plain", "--follow")
                         ->code,
                     0);
    Image image = decode("follow.png");
    int first[3], last[3];
    for (int k = 0; k < 3; k++) {
        first[k] = 120;
        last[k] = 0;
        for (int i = 0; i < 120; i++)
            if (colour_of(pixel(&image, i + 120 * k, 50)) > 40) {
                first[k] = BRIO_MIN(first[k], i);
                last[k] = i;
            }
    }
    print_message("the block from %d to %d, %d to %d, %d to %d\n", first[0], last[0], first[1],
                  last[1], first[2], last[2]);
    assert_true(last[0] - first[0] > 50); /* nearer than where all its way is seen */
    for (int k = 1; k < 3; k++) {
        assert_in_range(first[k] + 1 - first[0], 0, 2);
        assert_in_range(last[k] + 1 - last[0], 0, 2);
    }
    free(image.rgb);
}

/* Of a row of pixels: how often it changes from light to dark, and how many are neither body nor
 * background. */
static void read_row(const Image *image, int *changes, int *between)
{
    int row = image->height / 2, before = -1;
    *changes = *between = 0;
    for (int i = 0; i < image->width; i++) {
        const uint8_t *p = pixel(image, i, row);
        if (colour_of(p) < 25) continue;
        *between += colour_of(p) < 60;
        int light = light_of(p);
        if (before >= 0 && abs(light - before) > 20) ++*changes;
        before = light;
    }
}

/* Checks are seen as changes along a row; blur makes the edges of what moves soft. */
static void checks_and_blur(void **state)
{
    (void)state;
    block_run();
    static const char *const options[][2] = {
        {"--plain", NULL}, {"--checks", NULL}, {"--blur", "1"}};
    int changes[3], between[3];
    for (int k = 0; k < 3; k++) {
        assert_int_equal(BRIO("render", "block", "-o", "row.png", "--force", "--size", "300x200",
                              "--time", "0.25", options[k][0], options[k][1])
                             ->code,
                         0);
        Image image = decode("row.png");
        read_row(&image, &changes[k], &between[k]);
        free(image.rgb);
    }
    print_message("changes: %d, with checks %d; soft pixels: %d, with blur %d\n", changes[0],
                  changes[1], between[0], between[2]);
    assert_true(changes[1] >= changes[0] + 6);
    assert_true(between[2] >= between[0] + 6);
}

/* A slow body next to a fast one: with a scale of its own it shows the upper end, too. */
static void own_scales(void **state)
{
    (void)state;
    write_text("pair.yaml",
               "brio: 1\ntime: {h: 1/20, end: 0.2, fps: 20}\ngravity: [0, 0, 0]\nbodies:\n"
               "  - {name: fast, shape: {type: box, size: [0.2, 0.2, 0.2], cells: [1, 1, 1]}, "
               "material: {type: neo-hookean}, velocity: {linear: [0, 0, 1]}}\n"
               "  - {name: slow, shape: {type: box, size: [0.2, 0.2, 0.2], cells: [1, 1, 1]}, "
               "material: {type: neo-hookean}, transform: {translate: [0.5, 0, 0]}, velocity: "
               "{linear: [0, 0, 0.1]}}\n");
    assert_int_equal(BRIO("run", "pair.yaml", "-o", "pair", "-q")->code, 0);
    BrioMotionFile *motion;
    BrioStage *stage = stage_of("pair", 300, 200, 1, &motion);
    double centre[3] = {0.5, 0, 0.02}, at[2];
    assert_true(brio__view_project(&stage->view, centre, at, NULL));
    static const char *const options[] = {"--plain", "--own-scales"};
    int red[2];
    for (int k = 0; k < 2; k++) {
        assert_int_equal(BRIO("render", "pair", "-o", "pair.png", "--force", "--size", "300x200",
                              "--color", "speed", options[k])
                             ->code,
                         0);
        Image image = decode("pair.png");
        const uint8_t *p = pixel(&image, at[0], at[1]);
        red[k] = p[0] - p[2];
        free(image.rgb);
    }
    print_message("the slow body, red less blue: %d, with its own scale %d\n", red[0], red[1]);
    assert_true(red[0] < 0 && red[1] > 40);
    brio__stage_free(stage);
    brio__motion_free(motion);
}

/* ---- other kinds of bodies -------------------------------------------------------------- */

/* At the projections of a part's vertices the picture must have colour; at least `fraction` of them
 * (others may be hidden or on an edge). */
static void assert_drawn(const char *name, const char *scene, double fraction)
{
    char file[64], folder[64], picture[64];
    snprintf(file, sizeof file, "%s.yaml", name);
    snprintf(folder, sizeof folder, "%s-run", name);
    snprintf(picture, sizeof picture, "%s.png", name);
    write_text(file, scene);
    const Outcome *o = BRIO("run", file, "-o", folder, "-q");
    if (o->code) print_error("%s", o->err);
    assert_int_equal(o->code, 0);
    o = BRIO("render", folder, "-o", picture, "--size", "400x300");
    if (o->code) print_error("%s", o->err);
    assert_int_equal(o->code, 0);
    Image image = decode(picture);
    BrioMotionFile *motion;
    BrioStage *stage = stage_of(folder, 400, 300, 1, &motion);
    float *x = malloc(3 * (size_t)motion->vertex_count * sizeof *x);
    assert_int_equal(brio__motion_positions(motion, motion->frame_count - 1, x, NULL), BRIO_OK);
    int seen = 0, count = motion->part[0].vertex_count;
    for (int v = 0; v < count; v++) {
        double at[2];
        if (brio__view_project(&stage->view, (const double[]){x[3 * v], x[3 * v + 1], x[3 * v + 2]},
                               at, NULL) &&
            at[0] >= 0 && at[1] >= 0 && at[0] < 400 && at[1] < 300)
            seen += colour_of(pixel(&image, at[0], at[1])) > 30;
    }
    print_message("%s: %d of %d vertices are seen\n", name, seen, count);
    assert_true(seen >= fraction * count);
    free(x);
    brio__stage_free(stage);
    brio__motion_free(motion);
    free(image.rgb);
}

static void every_kind_of_body(void **state)
{
    (void)state;
    assert_drawn(
        "springs",
        "brio: 1\ntime: {h: 1/100, end: 0.05, fps: 100}\nintegrator: backward-euler\nbodies:\n  - "
        "{name: rope, shape: {type: line, length: 1, cells: 12}, kind: springs,"
        " material: {type: hooke, k: 100, vertex_mass: 0.01}, fix: [{vertices: [0]}]}\n",
        1);
    assert_drawn(
        "points",
        "brio: 1\ntime: {h: 1/100, end: 0.05, fps: 100}\nintegrator: variational\nbodies:\n  - "
        "{name: chain, shape: {type: line, length: 1, cells: 3}, kind: points,"
        " material: {type: mass, vertex_mass: 0.2}, fix: [{vertices: [0]}]}\nconstraints:\n  - "
        "{type: rod, a: [chain, 0], b: [chain, 1]}\n",
        1);
    assert_drawn(
        "shell",
        "brio: 1\ntime: {h: 1/100, end: 0.05, fps: 100}\nintegrator: backward-euler\nbodies:\n  - "
        "{name: sheet, shape: {type: disk, radius: 0.1, rings: 6},"
        " material: {type: membrane-neo-hookean, E: 1e5, nu: 0.3, thickness: 0.001, areal: 0.4}, "
        "fix: [{boundary: true}]}\n",
        0.8);
    assert_drawn("meets",
                 "brio: 1\ntime: {h: 1/100, end: 0.05, fps: 100}\nintegrator: "
                 "backward-euler\ncontact: {type: penalty, kappa: 1e4, dhat: 1e-3}\nbodies:\n"
                 "  - {name: ball, shape: {type: ball, radius: 0.1, cells: 4}, material: {type: "
                 "neo-hookean, E: 1e5, nu: 0.3, rho: 1000}, transform: {translate: [0, 0.4, 0]}}\n"
                 "obstacles:\n  - {type: plane, normal: [0, 1, 0]}\n  - {type: plane, point: "
                 "[-0.5, 0, 0], normal: [1, 0, 0]}\n",
                 0.5);
}

/* ---- films ------------------------------------------------------------------------------ */

static void a_film(void **state)
{
    (void)state;
    block_run();
    if (!has_program("ffmpeg") || !has_program("ffprobe")) {
        print_message("SKIPPED: there is no ffmpeg\n");
        return;
    }
    const Outcome *o = BRIO("render", "block", "-o", "block.mp4", "--size", "161x120", "-q");
    if (o->code) print_error("%s", o->err);
    assert_int_equal(o->code, 0);
    assert_string_equal(o->err, "");
    assert_int_equal(
        system("ffprobe -v error -count_frames -select_streams v:0 -show_entries "
               "stream=width,height,r_frame_rate,nb_read_frames -of csv=p=0 block.mp4 >probe"),
        0);
    char *probe = read_all("probe", NULL);
    print_message("ffprobe: %s", probe);
    /* 0.5 s at 20 a second and the first; even sides */
    assert_string_equal(probe, "162,120,20/1,11\n");
    free(probe);
    o = BRIO("render", "block", "-o", "slow.mp4", "--size", "160x120", "-q", "--speed", "0.5",
             "--from", "0.1");
    assert_int_equal(o->code, 0);
    assert_int_equal(system("ffprobe -v error -count_frames -select_streams v:0 -show_entries "
                            "stream=nb_read_frames -of csv=p=0 slow.mp4 >probe"),
                     0);
    probe = read_all("probe", NULL);
    assert_string_equal(probe, "17\n");
    free(probe);
    /* the other formats; and `convert` knows who makes films */
    for (int i = 0; i < 2; i++) {
        const char *other = i ? "block.webm" : "block.gif";
        char line[256];
        if (i)
            o = BRIO("render", "block", "-o", other, "--size", "160x120", "-q");
        else
            o = BRIO("convert", "block", "-o", other, "--quiet");
        assert_string_equal(o->err, "");
        assert_int_equal(o->code, 0);
        snprintf(line, sizeof line,
                 "ffprobe -v error -count_frames -select_streams v:0 -show_entries "
                 "stream=codec_name,nb_read_frames -of csv=p=0 %s >probe",
                 other);
        assert_int_equal(system(line), 0);
        probe = read_all("probe", NULL);
        assert_non_null(probe);
        print_message("%s: %s", other, probe ? probe : "nothing");
        assert_string_equal(probe, i ? "vp9,11\n" : "gif,11\n");
        free(probe);
    }
    o = BRIO("render", "block", "-o", "block.mp4", "--size", "160x120");
    assert_int_equal(o->code, 2);
    assert_string_equal(
        o->err,
        "brio render: block.mp4 already exists: give another name, or --force to replace it\n");
}

static void without_ffmpeg(void **state)
{
    (void)state;
    block_run();
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/nonexistent", 1);
    const Outcome *o = BRIO("render", "block", "-o", "none.mp4", "--size", "160x120");
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(o->code, 1);
    assert_string_equal(o->err,
                        "brio render: films need the program ffmpeg, which is not installed "
                        "(Debian: apt-get install ffmpeg). Pictures do not: -o x.png, --sheet 12, "
                        "or numbered frames with -o frame-%04d.png\n");
    assert_int_not_equal(access("none.mp4", F_OK), 0);
    assert_int_not_equal(access("none.mp4.part", F_OK), 0);
    o = BRIO("render", "block", "-o", "frame-%03d.png", "--size", "64x48", "-q");
    assert_int_equal(o->code, 0);
    assert_int_equal(access("frame-000.png", F_OK), 0);
    assert_int_equal(access("frame-010.png", F_OK), 0);
    assert_int_not_equal(access("frame-011.png", F_OK), 0);
}

/* ffmpeg takes a name for what it is, and files of the user next to it stay. */
static void names_of_films(void **state)
{
    (void)state;
    static const char *const names[] = {"-block.gif", "run:1.gif", "a b.gif"};
    block_run();
    if (!has_program("ffmpeg")) {
        print_message("SKIPPED: there is no ffmpeg\n");
        return;
    }
    write_text("a b.gif.part", "mine");
    for (size_t i = 0; i < BRIO_COUNT(names); i++) {
        const Outcome *o =
            BRIO("render", "block", "-o", names[i], "--size", "32x32", "--from", "0.4", "-q");
        assert_string_equal(o->err, "");
        assert_int_equal(o->code, 0);
        assert_int_equal(access(names[i], F_OK), 0);
    }
    char *text = read_all("a b.gif.part", NULL);
    assert_string_equal(text, "mine");
    free(text);
    assert_int_equal(symlink("block", "-run"), 0);
    const Outcome *o = BRIO("convert", "-o", "dash.gif", "-q", "--", "-run");
    assert_string_equal(o->err, "");
    assert_int_equal(o->code, 0);
}

/* Ctrl-C ends a film also while ffmpeg reads nothing. */
static void ffmpeg_that_hangs(void **state)
{
    (void)state;
    block_run();
    char *before = strdup(getenv("PATH")), path[600];
    snprintf(path, sizeof path, "%s/bin:/usr/bin:/bin", work_folder);
    mkdir("bin", 0777);
    write_text("bin/ffmpeg", "#!/bin/sh\necho $$ >pid\nexec sleep 600\n");
    chmod("bin/ffmpeg", 0777);
    setenv("PATH", path, 1);
    pid_t child = start_program((const char *const[]){"render", "block", "-o", "hangs.mp4",
                                                      "--size", "320x240", "-q", NULL},
                                0);
    setenv("PATH", before, 1);
    free(before);
    for (int i = 0; i < 600 && access("pid", F_OK); i++) pause_for(0.05);
    pause_for(0.5);
    kill(child, SIGINT);
    int status = 0;
    for (int i = 0; i < 1200 && waitpid(child, &status, WNOHANG) == 0; i++) pause_for(0.05);
    bool ended = kill(child, 0) != 0;
    char *pid = read_all("pid", NULL), *text = read_all(".err", NULL);
    assert_non_null(pid);
    if (!ended) kill(child, SIGKILL), wait_program(child);
    bool gone = kill((pid_t)atol(pid), 0) != 0;
    if (!gone) kill((pid_t)atol(pid), SIGKILL);
    assert_true(ended && gone);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_string_equal(text, "brio render: stopped on request; no film was left\n");
    assert_int_equal(access("hangs.mp4", F_OK), -1);
    free(pid);
    free(text);
    unlink("bin/ffmpeg");
}

/* The motion of a run from a checkpoint does not begin at 0. */
static void a_run_that_begins_later(void **state)
{
    (void)state;
    block_run();
    assert_int_equal(BRIO("run", "block.yaml", "-o", "later", "-q", "--from", "block/checkpoint",
                          "--set", "time.end=0.6")
                         ->code,
                     0);
    const Outcome *o = BRIO("render", "later", "-o", "later-%02d.png", "--size", "64x48");
    assert_string_equal(o->out, "later-%02d.png: 3 pictures, 64 x 48\n");
    assert_int_equal(o->code, 0);
}

/* ---- the motion ------------------------------------------------------------------------- */

/* Obstacles with a formula are drawn, and a table of heights may be a file. */
static void formulas_are_drawn(void **state)
{
    (void)state;
    write_text("heights.csv", "# rows along z\n0, 0.1, 0\n0.1, 0.2, 0.1\n");
    write_text("formulas.yaml",
               "brio: 1\ntime: {h: 0.01, end: 0.02}\ncontact: {type: cubic}\nobstacles:\n"
               "  - {type: heightfield, name: ground, file: heights.csv}\n"
               "  - {type: capsule, name: log, formula: true, transform: {translate: [0, 2, 0]}}\n"
               "  - {type: plane, normal: [0, 1, 0], point: [0, -1, 0]}\n"
               "bodies:\n  - {shape: {type: box, cells: [1, 1, 1]}, material: {type: neo-hookean}, "
               "transform: {translate: [2, 2, 0]}}\n");
    const Outcome *o = BRIO("run", "formulas.yaml", "-o", "formulas", "--quiet");
    if (o->code) print_error("%s", o->err);
    assert_int_equal(o->code, 0);
    BrioMotionFile *motion;
    BrioError error = {0};
    assert_int_equal(brio__motion_open("formulas", &motion, &error), BRIO_OK);
    assert_int_equal(motion->part_count, 3);
    assert_int_equal(motion->plane_count, 1);
    assert_string_equal(motion->part[1].name, "ground");
    assert_int_equal(motion->part[1].triangle_count, 2 * 8 * 4); /* cells of 4 x 4 */
    assert_string_equal(motion->part[2].name, "log");
    assert_true(motion->part[2].triangle_count > 100);
    brio__motion_free(motion);
}

static void positions_are_kept(void **state)
{
    (void)state;
    block_run();
    BrioScene *scene;
    BrioSim *sim;
    BrioMotionFile *motion;
    BrioError error = {0};
    assert_int_equal(brio__run_load("block", &scene, &sim, &error), BRIO_OK);
    assert_int_equal(brio__motion_open("block", &motion, &error), BRIO_OK);
    assert_int_equal(motion->frame_count, 11);
    assert_int_equal(motion->part_count, 1);
    assert_int_equal(motion->plane_count, 1);
    assert_int_equal(motion->part[0].vertex_count, 26); /* of 27: one is inside */
    assert_true(fabs(motion->time[10] - 0.5) < 1e-12);
    double *x = malloc(3 * (size_t)sim->system->vertex_count * sizeof *x), worst = 0;
    float *y = malloc(3 * (size_t)motion->vertex_count * sizeof *y);
    brio__system_positions(sim->system, sim->state, sim->state->q, sim->state->time, x);
    assert_int_equal(brio__motion_positions(motion, 10, y, &error), BRIO_OK);
    for (int v = 0; v < motion->part[0].vertex_count; v++)
        for (int r = 0; r < 3; r++)
            worst = brio__larger(worst, fabs(y[3 * v + r] - x[3 * motion->part[0].vertex[v] + r]));
    print_message("farthest from the state: %.2g m, half a step is %.2g m\n", worst,
                  0.5 * 0.2 / 0xffffff);
    /* half a step, and single precision at half a metre */
    assert_true(worst < 0.5 * 0.21 / 0xffffff + 1e-7);
    free(x);
    free(y);
    brio__motion_free(motion);
    brio_sim_free(sim);
    brio__scene_free(scene);
}

static void damaged_motion(void **state)
{
    (void)state;
    block_run();
    size_t size = 0;
    char *bytes = read_all("block/motion.bin", &size);
    BrioMotionFile *motion;
    mkdir("hurt", 0777);
    /* any length: a sentence, or the frames that are whole */
    for (size_t cut = 0; cut < size; cut += cut < 400 ? 7 : 211) {
        BrioError error = {0};
        write_bytes("hurt/motion.bin", bytes, cut);
        if (brio__motion_open("hurt", &motion, &error) == BRIO_OK) {
            assert_true(motion->frame_count < 11);
            brio__motion_free(motion);
        } else {
            assert_non_null(strstr(error.message, "run the scene again"));
        }
    }
    BrioRandom random = {4};
    for (int k = 0; k < 400; k++) { /* any byte: nothing is read out of bounds */
        char *copy = malloc(size);
        BrioError error = {0};
        memcpy(copy, bytes, size);
        copy[(size_t)(brio__random(&random) * 1200)] = (char)(256 * brio__random(&random));
        write_bytes("hurt/motion.bin", copy, size);
        if (brio__motion_open("hurt", &motion, &error) == BRIO_OK) {
            float *x = malloc(3 * (size_t)motion->vertex_count * sizeof *x);
            assert_int_equal(brio__motion_positions(motion, 0, x, &error), BRIO_OK);
            free(x);
            brio__motion_free(motion);
        }
        free(copy);
    }
    free(bytes);
}

static void bad_input(void **state)
{
    (void)state;
    block_run();
    write_text("plain.yaml", block_scene);
    assert_int_equal(
        BRIO("run", "plain.yaml", "-o", "still", "-q", "--set", "output.motion=false")->code, 0);
    assert_int_not_equal(access("still/motion.bin", F_OK), 0);
    const struct {
        const char *argument[7], *err;
    } cases[] = {
        {{"render"}, "brio render: which run? Give a folder that `brio run` has written\n"},
        {{"render", "block"},
         "brio render: missing -o: use -o x.png for a picture or -o x.mp4 for a film\n"},
        {{"render", "nowhere", "-o", "a.png"},
         "there is no folder \"nowhere\": give one that `brio run` has written\n"},
        {{"render", "still", "-o", "a.png"},
         "still has no motion.bin, the stored motion: run the scene again without `output: "
         "{motion: "
         "false}`\n"},
        {{"render", "block", "-o", "a.png", "--frame", "1.7"},
         "brio render: --frame 1.7: expected an integer; --time takes seconds\n"},
        {{"render", "block", "-o", "a.avi"},
         "brio render: -o a.avi: expected a name that ends in .png, .mp4, .webm or .gif; "
         "frame-%04d.png gives numbered pictures\n"},
        {{"render", "block", "-o", "a.png", "--own-scales"},
         "brio render: --own-scales needs --color strain or speed, without --max\n"},
        {{"render", "block", "-o", "a.png", "--follow", "--target", "0,0,0"},
         "brio render: --follow chooses where the camera is: not together with --camera or "
         "--target\n"},
        {{"render", "block", "-o", "a.png", "--size", "wide"},
         "brio render: --size wide: expected WIDTHxHEIGHT in pixels, from 16x16 to 16384x16384, as "
         "in 1280x720\n"},
        {{"render", "block", "-o", "a.png", "--time", "9"},
         "brio render: --time 9: the run ends at 0.5 s\n"},
        {{"render", "block", "-o", "a.png", "--frame", "11"},
         "brio render: --frame 11: there are frames 0 to 10\n"},
        {{"render", "block", "-o", "a.png", "--color", "stran"},
         "brio render: no colouring \"stran\"; did you mean \"strain\"?\n"},
        {{"render", "block", "-o", "a.png", "--background", "skye"},
         "brio render: no background \"skye\"; did you mean \"sky\"?\n"},
        {{"render", "block", "-o", "a.png", "--camera", "1,2"},
         "brio render: --camera 1,2: expected three numbers, as in 1,0.5,2\n"},
        {{"render", "block", "-o", "a.mp4", "--sheet", "3"},
         "brio render: --time, --frame and --sheet are for one picture, not for a film\n"},
        {{"view"},
         "brio view: which run? Give a folder that `brio run` or `brio compare` has written\n"},
        {{"view", "nowhere"},
         "brio view: there is no folder \"nowhere\": give one that `brio run` or `brio compare` "
         "has written\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *arguments[8] = {0};
        for (int k = 0; k < 7; k++) arguments[k] = cases[i].argument[k];
        const Outcome *o = run_limited(0, arguments);
        assert_string_equal(o->err, cases[i].err);
        assert_int_equal(o->code, 2);
        assert_int_not_equal(access("a.png", F_OK), 0);
    }
}

/* A picture that cannot be written leaves nothing behind. */
static void full_disk(void **state)
{
    (void)state;
    block_run();
    const char *const arguments[] = {"render", "block",   "-o", "large.png",
                                     "--size", "400x300", NULL};
    if (!files_can_be_limited()) return;
    const Outcome *o = run_limited(4096, arguments);
    assert_int_equal(o->code, 1);
    assert_non_null(strstr(o->err, "cannot write large.png"));
    assert_int_not_equal(access("large.png", F_OK), 0);
    /* --force replaces a picture by a whole one only, and leaves nothing else */
    write_text("large.png", "mine");
    int files = count_files(".");
    o = run_limited(4096, (const char *const[]){"render", "block", "-o", "large.png", "--size",
                                                "400x300", "--force", NULL});
    assert_int_equal(o->code, 1);
    char *text = read_all("large.png", NULL);
    assert_string_equal(text, "mine");
    free(text);
    assert_int_equal(count_files("."), files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_where_it_is),
        cmocka_unit_test(zoom_of_a_camera),
        cmocka_unit_test(azimuth_from_above),
        cmocka_unit_test(sky_and_ground),
        cmocka_unit_test(no_specks_in_folds),
        cmocka_unit_test(no_dark_outlines),
        cmocka_unit_test(no_dark_patches_in_pits),
        cmocka_unit_test(the_same_for_any_number_of_threads),
        cmocka_unit_test(a_sheet),
        cmocka_unit_test(energy_curve),
        cmocka_unit_test(colours_show_values),
        cmocka_unit_test(a_camera_that_follows),
        cmocka_unit_test(checks_and_blur),
        cmocka_unit_test(own_scales),
        cmocka_unit_test(every_kind_of_body),
        cmocka_unit_test(a_film),
        cmocka_unit_test(without_ffmpeg),
        cmocka_unit_test(names_of_films),
        cmocka_unit_test(ffmpeg_that_hangs),
        cmocka_unit_test(a_run_that_begins_later),
        cmocka_unit_test(formulas_are_drawn),
        cmocka_unit_test(positions_are_kept),
        cmocka_unit_test(damaged_motion),
        cmocka_unit_test(bad_input),
        cmocka_unit_test(full_disk),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}

#else
int main(void)
{
    puts("SKIPPED: there is no zlib to read pictures with");
    return 77;
}
#endif
