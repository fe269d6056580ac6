/* Files for other programs, read back by small readers of their own: sizes, values against the
 * simulation's doubles, faces and textures as they were given, the same bytes after an
 * interruption. And surfaces that ride on tets. */
#include "program.h"

#include "memory.h"
#include "output/film.h"
#include "run/run.h"

static const char cloth_obj[] =
    "o sheet\n"
    "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 0 1\nv 1 0 1\nv 2 0 1\nv 0 0 2\nv 1 0 2\nv 2 0 2\n"
    "vt 0 0\nvt 0.5 0\nvt 1 0\nvt 0 0.5\nvt 0.5 0.5\nvt 1 0.5\nvt 0 1\nvt 0.5 1\nvt 1 1\nvt 0.25 "
    "0.75\n"
    "f 1/1 4/4 5/5 2/2\nf 2/2 5/5 6/6 3/3\n"
    "g far side\n"
    "f 4/4 7/7 8/10 5/5\nf 5/5 8/8 9/9\nf 5/5 9/9 6/6\n";
static const char octahedron_obj[] =
    "v 0.4 0 0\nv -0.4 0 0\nv 0 0.4 0\nv 0 -0.4 0\nv 0 0 0.4\nv 0 0 -0.4\nvn 0 1 0\nvn 0 -1 0\n"
    "f 1//1 3//1 5//1\nf 3//1 2//1 5//1\nf 2//2 4//2 5//2\nf 4//2 1//2 5//2\nf 3//1 1//1 6//1\nf "
    "2//1 3//1 6//1\nf 4//2 2//2 6//2\nf 1//2 4//2 6//2\n";
static const char scene_text[] = "time: {h: 1/100, end: 0.2, fps: 50}\n"
                                 "bodies:\n"
                                 "  - name: cloth\n"
                                 "    mesh: cloth.obj\n"
                                 "    material: {type: hooke, rho: 1, k: 50}\n"
                                 "    fix: [{vertices: [0, 2]}]\n"
                                 "  - name: rope\n"
                                 "    shape: {type: line, cells: 3}\n"
                                 "    material: {type: hooke, rho: 1}\n"
                                 "    fix: [{vertices: [0]}]\n"
                                 "  - name: a gem\n"
                                 "    shape: {type: box, size: [1, 1, 1], cells: [2, 2, 2]}\n"
                                 "    surface: gem.obj\n"
                                 "    transform: {translate: [5, 1, 0], scale: 0.5}\n"
                                 "    material: {type: neo-hookean, E: 1e4}\n"
                                 "    velocity: {angular: [1, 2, 3]}\n"
                                 "output: {frames: [vtu, obj, ply, glb, usda, pc2, mdd]}\n";
enum { FRAMES = 11, CLOTH = 0, ROPE = 1, GEM = 2, BODIES = 3 };
static const int vertices[BODIES] = {9, 4, 6};
static const char *const names[BODIES] = {"cloth", "rope", "a gem"}, *const file_names[BODIES] = {
                                                                         "cloth", "rope", "a_gem"};

/* Positions and velocities of what is seen at every frame, from the simulation itself. */
static double truth_x[FRAMES][19][3], truth_v[FRAMES][19][3];
static const int first_vertex[BODIES] = {0, 9, 13};

static BrioScene *load(void)
{
    BrioScene *scene = NULL;
    BrioError error = {0};
    write_text("cloth.obj", cloth_obj);
    write_text("gem.obj", octahedron_obj);
    write_text("scene.yaml", scene_text);
    if (brio__scene_load("scene.yaml", NULL, 0, &scene, &error) != BRIO_OK)
        fail_msg("%s", error.message);
    return scene;
}

static void keep_truth(const BrioSim *sim, const double *world, double to[19][3])
{
    const BrioSystem *s = sim->system;
    memcpy(to[0], world + 3 * s->body[CLOTH].first, 9 * sizeof *to);
    memcpy(to[9], world + 3 * s->body[ROPE].first, 4 * sizeof *to);
    brio__skin_map(s->body[GEM].skin, world + 3 * s->body[GEM].first, to[13]);
}

static void make_run(const char *out, sig_atomic_t *stop,
                     void (*progress)(void *, const BrioRunProgress *), bool resume)
{
    BrioScene *scene = load();
    BrioRunOptions options = {
        .out = out, .stop = stop, .progress = progress, .resume = resume, .checkpoint_steps = 3};
    BrioRunResult result;
    BrioError error = {0};
    BrioStatus status = brio__run(scene, &options, &result, &error);
    if (status != BRIO_OK && status != BRIO_STOPPED) fail_msg("%s", error.message);
    brio__scene_free(scene);
}

static int set_up(void **state)
{
    BrioSim *sim;
    BrioError error = {0};
    if (enter_folder(state)) return -1;
    BrioScene *scene = load();
    if (brio__scene_sim(scene, &sim, &error) != BRIO_OK) return -1;
    double *world = malloc(3 * (size_t)sim->system->vertex_count * sizeof *world);
    for (int k = 0; k < FRAMES; k++) {
        const BrioState *s = sim->state;
        brio__system_positions(sim->system, s, s->q, s->time, world);
        keep_truth(sim, world, truth_x[k]);
        brio__system_velocities(sim->system, s, s->v, s->time, world);
        keep_truth(sim, world, truth_v[k]);
        for (int step = 0; step < 2; step++)
            if (brio_sim_step(sim, NULL) != BRIO_OK) return -1;
    }
    free(world);
    brio_sim_free(sim);
    brio__scene_free(scene);
    make_run("run", NULL, NULL, false);
    return 0;
}

/* The farthest of a body's vertices at a frame. */
static double farthest(int body, int frame, const float *x)
{
    double worst = 0;
    for (int v = 0; v < 3 * vertices[body]; v++)
        worst = brio__larger(worst, fabs(x[v] - truth_x[frame][first_vertex[body] + v / 3][v % 3]));
    return worst;
}

static float float_at(const char *at, bool big)
{
    unsigned char b[4];
    float value;
    for (int k = 0; k < 4; k++) b[k] = (unsigned char)at[big ? 3 - k : k];
    memcpy(&value, b, 4);
    return value;
}

static int32_t integer_at(const char *at, bool big)
{
    float bits = float_at(at, big);
    int32_t value;
    memcpy(&value, &bits, 4);
    return value;
}

#define CLOSE 2e-6 /* m: single precision at five metres, and 24 bits of the body's box */

/* ---- point caches ----------------------------------------------------------------------- */

static void point_caches(void **state)
{
    (void)state;
    double worst = 0;
    for (int body = 0; body < BODIES; body++)
        for (int big = 0; big < 2; big++) {
            char name[64];
            size_t size = 0;
            snprintf(name, sizeof name, "run/frames/frames-%s.%s", file_names[body],
                     big ? "mdd" : "pc2");
            char *bytes = read_all(name, &size);
            assert_non_null(bytes);
            size_t head = big ? 8 + 4 * FRAMES : 32;
            assert_int_equal(size, head + 12 * (size_t)vertices[body] * FRAMES);
            if (big) {
                assert_int_equal(integer_at(bytes, true), FRAMES);
                assert_int_equal(integer_at(bytes + 4, true), vertices[body]);
                for (int k = 0; k < FRAMES; k++)
                    assert_true(fabs(float_at(bytes + 8 + 4 * k, true) - k / 50.0) < 1e-6);
            } else {
                assert_memory_equal(bytes, "POINTCACHE2", 12);
                assert_int_equal(integer_at(bytes + 12, false), 1);
                assert_int_equal(integer_at(bytes + 16, false), vertices[body]);
                assert_true(float_at(bytes + 20, false) == 0 && float_at(bytes + 24, false) == 1);
                assert_int_equal(integer_at(bytes + 28, false), FRAMES);
            }
            for (int k = 0; k < FRAMES; k++) {
                float x[32];
                for (int v = 0; v < 3 * vertices[body]; v++)
                    x[v] = float_at(bytes + head + 4 * (size_t)(3 * vertices[body] * k + v), big);
                worst = brio__larger(worst, farthest(body, k, x));
            }
            free(bytes);
        }
    print_message("farthest vertex of the point caches: %.2g m\n", worst);
    assert_true(worst < CLOSE);
    /* the rest shape, with faces as they were given */
    char *text = read_all("run/frames/frames-cloth.obj", NULL);
    assert_non_null(strstr(text, "f 1/1 4/4 5/5 2/2\nf 2/2 5/5 6/6 3/3\ng far side\nf 4/4 7/7 8/10 "
                                 "5/5\nf 5/5 8/8 9/9\nf 5/5 9/9 6/6\n"));
    assert_non_null(strstr(text, "o cloth\nv 0 0 0\nv 1 0 0\n"));
    assert_non_null(strstr(text, "vt 0.25 0.75\n"));
    free(text);
    text = read_all("run/frames/frames-rope.obj", NULL);
    assert_non_null(strstr(text, "l 1 2\nl 2 3\nl 3 4\n"));
    free(text);
}

/* ---- sequences -------------------------------------------------------------------------- */

static void obj_frames(void **state)
{
    (void)state;
    double worst = 0;
    for (int k = 0; k < FRAMES; k++) {
        char name[64];
        int v = 0, faces = 0, textures = 0, normals = 0;
        snprintf(name, sizeof name, "run/frames/frame_%06d.obj", k);
        char *text = read_all(name, NULL);
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
            double x[3];
            faces += line[0] == 'f';
            textures += !strncmp(line, "vt", 2);
            normals += !strncmp(line, "vn", 2);
            if (sscanf(line, "v %lf %lf %lf", x, x + 1, x + 2) != 3) continue;
            assert_true(v < 19);
            for (int r = 0; r < 3; r++) worst = brio__larger(worst, fabs(x[r] - truth_x[k][v][r]));
            v++;
        }
        assert_int_equal(v, 19);
        assert_int_equal(faces, 5 + 8);
        assert_int_equal(textures, 10);
        assert_int_equal(normals, 10); /* of the gem, upper and lower: five corners each */
        free(text);
    }
    print_message("farthest vertex of OBJ frames: %.2g m\n", worst);
    assert_true(worst < 1e-8); /* nine digits */
}

static void ply_frames(void **state)
{
    (void)state;
    double worst = 0, fastest = 0;
    for (int k = 0; k < FRAMES; k++) {
        char name[64];
        size_t size = 0;
        snprintf(name, sizeof name, "run/frames/frame_%06d.ply", k);
        char *bytes = read_all(name, &size), *at = strstr(bytes, "end_header\n");
        assert_non_null(at);
        assert_non_null(strstr(bytes, "element vertex 19\n"));
        assert_non_null(strstr(bytes, "element face 13\n"));
        assert_non_null(strstr(bytes, "element edge 3\n"));
        at += strlen("end_header\n");
        for (int v = 0; v < 19; v++, at += 28) {
            for (int r = 0; r < 3; r++) {
                worst = brio__larger(worst, fabs(float_at(at + 4 * r, false) - truth_x[k][v][r]));
                fastest = brio__larger(fastest,
                                       fabs(float_at(at + 12 + 4 * r, false) - truth_v[k][v][r]));
            }
            assert_int_equal(integer_at(at + 24, false), v < 9 ? CLOTH : v < 13 ? ROPE : GEM);
        }
        int quads = 0, textured = 0;
        for (int f = 0; f < 13; f++) {
            int32_t corners = integer_at(at, false);
            int32_t numbers = integer_at(at + 4 + 4 * corners, false);
            quads += corners == 4;
            for (int c = 0; c < corners; c++)
                assert_in_range(integer_at(at + 4 + 4 * c, false), f < 5 ? 0 : 13, f < 5 ? 8 : 18);
            assert_int_equal(numbers, f < 5 ? 2 * corners : 0);
            textured += numbers > 0;
            if (f == 2)
                assert_true(float_at(at + 8 + 4 * corners + 16, false) == 0.25f &&
                            float_at(at + 8 + 4 * corners + 20, false) == 0.75f);
            at += 12 + 4 * (corners + numbers);
        }
        assert_int_equal(quads, 3);
        assert_int_equal(textured, 5);
        assert_int_equal(integer_at(at, false), 9); /* the rope's first edge */
        assert_int_equal(at + 24 - bytes, size);
        free(bytes);
    }
    print_message("farthest vertex of PLY frames: %.2g m, velocities off by %.2g m/s\n", worst,
                  fastest);
    assert_true(worst < CLOSE && fastest < CLOSE);
}

/* ---- USD -------------------------------------------------------------------------------- */

/* The numbers of the sample at a time of an attribute, after `from`. */
static const char *usd_sample(const char *from, const char *attribute, int time, float *to,
                              int count)
{
    char key[96];
    snprintf(key, sizeof key, "%s.timeSamples = {", attribute);
    const char *at = strstr(from, key);
    assert_non_null(at);
    snprintf(key, sizeof key, "\n            %d: [", time);
    at = strstr(at, key);
    assert_non_null(at);
    at += strlen(key);
    for (int k = 0; k < count; k++) {
        at += strspn(at, "(), ");
        to[k] = strtof(at, (char **)&at);
    }
    assert_true(at[0] == ')' && at[1] == ']');
    return at;
}

static void usd(void **state)
{
    (void)state;
    double worst = 0, fastest = 0;
    char *text = read_all("run/frames/frames.usda", NULL);
    assert_non_null(text);
    assert_true(!strncmp(text, "#usda 1.0\n", 10));
    assert_non_null(
        strstr(text, "startTimeCode = 0\n    endTimeCode = 10\n    timeCodesPerSecond = 50\n"));
    assert_non_null(strstr(text, "metersPerUnit = 1\n    upAxis = \"Y\"\n"));
    static const char *const prims[BODIES] = {"def Mesh \"cloth\"", "def BasisCurves \"rope\"",
                                              "def Mesh \"a_gem_2\""};
    for (int body = 0; body < BODIES; body++) {
        const char *prim = strstr(text, prims[body]);
        assert_non_null(prim);
        int count = body == ROPE ? 18 : 3 * vertices[body];
        for (int k = 0; k < FRAMES; k++) {
            float x[32], v[32], box[6];
            usd_sample(prim, "point3f[] points", k, x, count);
            usd_sample(prim, "vector3f[] velocities", k, v, count);
            usd_sample(prim, "float3[] extent", k, box, 6);
            for (int n = 0; n < count; n++) {
                int vertex = body == ROPE ? (n / 3 + 1) / 2 : n / 3;
                worst = brio__larger(worst,
                                     fabs(x[n] - truth_x[k][first_vertex[body] + vertex][n % 3]));
                fastest = brio__larger(fastest,
                                       fabs(v[n] - truth_v[k][first_vertex[body] + vertex][n % 3]));
                assert_true(box[n % 3] <= x[n] && x[n] <= box[3 + n % 3]);
            }
        }
    }
    assert_non_null(
        strstr(text, "int[] faceVertexCounts = [4, 4, 4, 3, 3]\n        int[] faceVertexIndices = "
                     "[0, 3, 4, 1, 1, 4, 5, 2, 3, 6, 7, 4, 4, 7, 8, 4, 8, 5]\n"));
    assert_non_null(strstr(
        text,
        "int[] primvars:st:indices = [0, 3, 4, 1, 1, 4, 5, 2, 3, 6, 9, 4, 4, 7, 8, 4, 8, 5]\n"));
    assert_non_null(strstr(text, "def GeomSubset \"far_side_1\""));
    assert_non_null(strstr(text, "custom string brio:name = \"a gem\""));
    free(text);
    print_message("farthest point of the usda: %.2g m, velocities off by %.2g m/s\n", worst,
                  fastest);
    assert_true(worst < CLOSE && fastest < CLOSE);
}

/* ---- glTF ------------------------------------------------------------------------------- */

typedef struct Gltf {
    char *bytes;
    const char *data;
    BrioNode *root;
} Gltf;

static BrioNode *member(BrioNode *map, const char *key)
{
    BrioNode *node = brio__node_get(map, key);
    if (!node) fail_msg("no %s", key);
    return node;
}

static int64_t integer_of(BrioNode *map, const char *key, int64_t standard)
{
    BrioNode *node = brio__node_get(map, key);
    int64_t value = standard;
    if (node) assert_int_equal(brio__node_integer(node, &value, NULL), BRIO_OK);
    return value;
}

static Gltf read_glb(const char *name)
{
    Gltf g = {0};
    size_t size = 0;
    BrioError error = {0};
    g.bytes = read_all(name, &size);
    assert_non_null(g.bytes);
    int32_t json = integer_at(g.bytes + 12, false), data = integer_at(g.bytes + 20 + json, false);
    assert_memory_equal(g.bytes, "glTF\2\0\0\0", 8);
    assert_int_equal(integer_at(g.bytes + 8, false), size);
    assert_memory_equal(g.bytes + 16, "JSON", 4);
    assert_memory_equal(g.bytes + 24 + json, "BIN", 4);
    assert_int_equal(28 + (size_t)json + (size_t)data, size);
    assert_true(json % 4 == 0 && data % 4 == 0);
    g.data = g.bytes + 28 + json;
    if (brio__tree_parse(g.bytes + 20, (size_t)json, "glb.json", &g.root, &error) != BRIO_OK)
        fail_msg("%s", error.message);
    return g;
}

/* Numbers of 32 bits of an accessor, sparse or not; the bounds are checked. */
static char *accessor(const Gltf *g, int64_t number, int width, int64_t *count)
{
    BrioNode *a = member(g->root, "accessors")->child[number];
    BrioNode *views = member(g->root, "bufferViews");
    BrioNode *sparse = brio__node_get(a, "sparse");
    *count = integer_of(a, "count", -1);
    char *out = calloc((size_t)*count * (size_t)width + 1, 4);
    if (brio__node_get(a, "bufferView")) {
        BrioNode *view = views->child[integer_of(a, "bufferView", 0)];
        int64_t stride = integer_of(view, "byteStride", 4 * width);
        int64_t from = integer_of(view, "byteOffset", 0) + integer_of(a, "byteOffset", 0);
        assert_true(integer_of(a, "byteOffset", 0) + *count * stride <=
                    integer_of(view, "byteLength", 0));
        for (int64_t k = 0; k < *count; k++)
            memcpy(out + 4 * width * k, g->data + from + k * stride, 4 * (size_t)width);
    } else {
        assert_non_null(sparse);
    }
    if (sparse) {
        BrioNode *index = member(sparse, "indices"), *value = member(sparse, "values");
        int64_t at = integer_of(views->child[integer_of(index, "bufferView", 0)], "byteOffset", 0) +
                     integer_of(index, "byteOffset", 0);
        int64_t last = -1;
        int64_t from =
            integer_of(views->child[integer_of(value, "bufferView", 0)], "byteOffset", 0) +
            integer_of(value, "byteOffset", 0);
        for (int64_t k = 0; k < integer_of(sparse, "count", 0); k++) {
            int32_t place = integer_at(g->data + at + 4 * k, false);
            assert_true(place > last && place < *count);
            last = place;
            memcpy(out + 4 * width * place, g->data + from + 4 * width * k, 4 * (size_t)width);
        }
    }
    BrioNode *low = brio__node_get(a, "min"), *high = brio__node_get(a, "max");
    for (int r = 0; low && r < width; r++) {
        double min, max;
        float found[2] = {INFINITY, -INFINITY};
        assert_int_equal(brio__node_real(low->child[r], &min, NULL), BRIO_OK);
        assert_int_equal(brio__node_real(high->child[r], &max, NULL), BRIO_OK);
        for (int64_t k = 0; k < *count; k++)
            found[0] = fminf(found[0], float_at(out + 4 * (width * k + r), false)),
            found[1] = fmaxf(found[1], float_at(out + 4 * (width * k + r), false));
        assert_true(found[0] == (float)min && found[1] == (float)max);
    }
    return out;
}

static void gltf(void **state)
{
    (void)state;
    Gltf g = read_glb("run/frames/frames.glb");
    double worst = 0, longest = 0;
    for (int body = 0; body < BODIES; body++) {
        BrioNode *mesh = member(g.root, "meshes")->child[body],
                 *node = member(g.root, "nodes")->child[body],
                 *primitive = member(mesh, "primitives")->child[0],
                 *attributes = member(primitive, "attributes"),
                 *targets = member(primitive, "targets");
        assert_string_equal(member(node, "name")->text, names[body]);
        assert_int_equal(integer_of(primitive, "mode", 4), body == ROPE ? 1 : 4);
        assert_int_equal(targets->count, FRAMES - 1);
        int64_t count, indices;
        int which[64];
        float *base = (float *)accessor(&g, integer_of(attributes, "POSITION", -1), 3, &count);
        int32_t *index = (int32_t *)accessor(&g, integer_of(primitive, "indices", -1), 1, &indices);
        /* a texture seam, or an edge that the file shades sharply, divides vertices */
        assert_int_equal(count, body == CLOTH ? 10 : body == ROPE ? 4 : 10);
        assert_int_equal(indices, body == CLOTH ? 24 : body == ROPE ? 6 : 24);
        for (int64_t k = 0; k < indices; k++) assert_in_range(index[k], 0, count - 1);
        for (int64_t v = 0; v < count; v++) {
            which[v] = -1;
            for (int k = 0; k < vertices[body]; k++) {
                double d = 0;
                for (int r = 0; r < 3; r++)
                    d = brio__larger(d,
                                     fabs(base[3 * v + r] - truth_x[0][first_vertex[body] + k][r]));
                if (d < CLOSE) which[v] = k;
            }
            assert_true(which[v] >= 0);
        }
        for (int k = 1; k < FRAMES; k++) {
            float *delta =
                (float *)accessor(&g, integer_of(targets->child[k - 1], "POSITION", -1), 3, &count);
            for (int64_t n = 0; n < 3 * count; n++)
                worst =
                    brio__larger(worst, fabs(base[n] + (double)delta[n] -
                                             truth_x[k][first_vertex[body] + which[n / 3]][n % 3]));
            free(delta);
        }
        if (body != ROPE) {
            float *normal = (float *)accessor(&g, integer_of(attributes, "NORMAL", -1), 3, &count);
            float *bent =
                (float *)accessor(&g, integer_of(targets->child[9], "NORMAL", -1), 3, &count);
            for (int64_t v = 0; v < count; v++)
                for (int end = 0; end < 2; end++) {
                    double square = 0;
                    for (int r = 0; r < 3; r++)
                        square += pow(normal[3 * v + r] + (end ? (double)bent[3 * v + r] : 0), 2);
                    longest = brio__larger(longest, fabs(sqrt(square) - 1));
                }
            if (body == CLOTH) assert_true(normal[1] > 0.999f); /* flat, seen from above */
            free(normal);
            free(bent);
        }
        if (body == CLOTH) {
            bool seam = false;
            float *uv = (float *)accessor(&g, integer_of(attributes, "TEXCOORD_0", -1), 2, &count);
            /* v runs downwards */
            for (int64_t v = 0; v < count; v++)
                seam |= which[v] == 7 && uv[2 * v] == 0.25f && uv[2 * v + 1] == 0.25f;
            assert_true(seam);
            free(uv);
        }
        free(base);
        free(index);
    }
    BrioNode *sampler = member(member(g.root, "animations")->child[0], "samplers")->child[0];
    int64_t count;
    float *time = (float *)accessor(&g, integer_of(sampler, "input", -1), 1, &count);
    assert_int_equal(count, FRAMES);
    for (int k = 0; k < FRAMES; k++) assert_true(fabs(time[k] - k / 50.0) < 1e-6);
    float *weight = (float *)accessor(&g, integer_of(sampler, "output", -1), 1, &count);
    assert_int_equal(count, FRAMES * (FRAMES - 1));
    for (int k = 0; k < FRAMES; k++)
        for (int target = 0; target < FRAMES - 1; target++)
            assert_true(weight[k * (FRAMES - 1) + target] == (target == k - 1));
    free(time);
    free(weight);
    brio__tree_free(g.root);
    free(g.bytes);
    print_message("farthest vertex of the glb: %.2g m, normals differ from length 1 by %.2g\n",
                  worst, longest);
    /* normals that turn by less than 1e-4 count as at rest */
    assert_true(worst < CLOSE && longest < 2e-4);
}

/* ---- interruption, conversion ----------------------------------------------------------- */

static sig_atomic_t stop;

static void stop_at_seven(void *user, const BrioRunProgress *progress)
{
    (void)user;
    if (progress->step == 7) stop = 1;
}

static void same_files(const char *a, const char *b, int min)
{
    DIR *listing = opendir(a);
    assert_non_null(listing);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(listing));) {
        char one[600], other[600];
        size_t size = 0, other_size = 0;
        if (entry->d_name[0] == '.') continue;
        snprintf(one, sizeof one, "%s/%s", a, entry->d_name);
        snprintf(other, sizeof other, "%s/%s", b, entry->d_name);
        char *bytes = read_all(one, &size), *others = read_all(other, &other_size);
        if (!others || size != other_size || memcmp(bytes, others, size))
            fail_msg("%s differs", other);
        free(bytes);
        free(others);
        count++;
    }
    closedir(listing);
    assert_true(count >= min);
}

static void interrupted(void **state)
{
    (void)state;
    stop = 0;
    make_run("broken", &stop, stop_at_seven, false);
    char *text = read_all("broken/frames/frames.usda", NULL);
    assert_non_null(text); /* what there is up to then */
    assert_non_null(strstr(text, "endTimeCode = 3\n"));
    free(text);
    stop = 0;
    make_run("broken", &stop, NULL, true);
    same_files("run/frames", "broken/frames", 3 * FRAMES + 1 + 2 + 3 * 3);
    size_t size = 0, other = 0;
    char *a = read_all("run/motion.bin", &size), *b = read_all("broken/motion.bin", &other);
    assert_int_equal(size, other);
    assert_memory_equal(a, b, size);
    free(a);
    free(b);
    assert_int_equal(BRIO("run", "scene.yaml", "-o", "broken", "--force", "--quiet", "--set",
                          "time.end=0.02", "--set", "output.frames=[obj]")
                         ->code,
                     0);
    /* --force takes the films along */
    assert_int_not_equal(access("broken/frames/frames.glb", F_OK), 0);
    assert_int_not_equal(access("broken/frames/frames-cloth.pc2", F_OK), 0);
    remove_tree("broken");
}

static void converted(void **state)
{
    (void)state;
    static const char *const extensions[] = {"glb", "usda", "pc2", "mdd"};
    for (size_t i = 0; i < BRIO_COUNT(extensions); i++) {
        char name[64];
        snprintf(name, sizeof name, "made/frames.%s", extensions[i]);
        const Outcome *o = BRIO("convert", "run", "-o", name, "--force");
        if (o->code) fail_msg("%s", o->err);
        assert_non_null(strstr(o->out, "11 frames, t = 0 to 0.2 s, 50 frames per second"));
    }
    same_files("made", "run/frames", 2 + 3 * 3);
    const Outcome *o = BRIO("convert", "run", "-o", "made/frames.glb");
    assert_int_equal(o->code, 2);
    assert_string_equal(
        o->err, "made/frames.glb already exists: give another name, or --force to replace it\n");
    o = BRIO("convert", "run", "-o", "x.abc");
    assert_int_equal(o->code, 2);
    assert_string_equal(o->err, "brio convert: -o x.abc: expected a name that ends in one of .pvd, "
                                ".obj, .ply, .glb, .usda, .pc2, .mdd, .npy, .gif, .webm, .mp4\n");
    o = BRIO("convert", "nowhere", "-o", "x.glb");
    assert_int_equal(o->code, 2);
    assert_string_equal(o->err,
                        "there is no folder \"nowhere\": give one that `brio run` has written\n");
    assert_int_equal(BRIO("convert", "run", "-o", "every.ply", "--every", "5")->code, 0);
    assert_int_equal(access("every_000002.ply", F_OK), 0);
    assert_int_not_equal(access("every_000003.ply", F_OK), 0);
    assert_int_equal(BRIO("convert", "run", "-o", "par.pvd", "-q")->code, 0);
    char *text = read_all("par.pvd", NULL);
    assert_non_null(strstr(text, "file=\"par_000010.vtu\"/>"));
    free(text);
    text = read_all("par_000010.vtu", NULL);
    /* eight triangles of the cloth, three lines, eight of the gem */
    assert_non_null(strstr(text, "NumberOfPoints=\"19\" NumberOfCells=\"19\""));
    free(text);
    if (!files_can_be_limited()) return;
    o = run_limited(20000, (const char *const[]){"convert", "run", "-o", "large.usda", NULL});
    assert_int_equal(o->code, 1);
    assert_non_null(strstr(o->err, "cannot write ./large.usda: File too large"));
    assert_int_not_equal(access("large.usda", F_OK), 0);
    assert_int_not_equal(access("large.usda.tmp", F_OK), 0);
}

/* Without the simulation's velocities, those between frames are taken. */
static void velocities_from_positions(void **state)
{
    (void)state;
    write_text("fall.yaml",
               "time: {h: 1/1000, end: 0.2, fps: 50}\nintegrator: implicit-midpoint\nbodies:\n  - "
               "shape: {type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n");
    assert_int_equal(BRIO("run", "fall.yaml", "-o", "fall", "-q")->code, 0);
    assert_int_equal(BRIO("convert", "fall", "-o", "fall.usda", "-q")->code, 0);
    char *text = read_all("fall.usda", NULL);
    float v[24];
    usd_sample(strstr(text, "def Mesh"), "vector3f[] velocities", 5, v, 24);
    print_message("free fall after 0.1 s: %.6f m/s\n", v[1]);
    /* central differences are exact for a parabola */
    assert_true(fabs(v[1] + 0.98) < 1e-5 && fabs(v[0]) < 1e-5);
    usd_sample(strstr(text, "def Mesh"), "vector3f[] velocities", 0, v, 24);
    assert_true(fabs(v[1] + 0.098) < 1e-5); /* but at its ends */
    free(text);
    assert_int_equal(
        BRIO("run", "fall.yaml", "-o", "fall", "-q", "--force", "--set", "output.velocities=true")
            ->code,
        0);
    assert_int_equal(BRIO("convert", "fall", "-o", "fall.usda", "-q", "--force")->code, 0);
    text = read_all("fall.usda", NULL);
    for (int k = 0; k <= 10; k++) {
        usd_sample(strstr(text, "def Mesh"), "vector3f[] velocities", k, v, 24);
        assert_true(fabs(v[1] + 9.8 * k / 50) < 1e-6 && fabs(v[0]) < 1e-6);
    }
    free(text);
}

/* ---- faces ------------------------------------------------------------------------------ */

static char logged[2048];

static void keep_log(void *user, BrioLogLevel level, const char *message)
{
    (void)user;
    if (level >= BRIO_LOG_WARNING) snprintf(logged, sizeof logged, "%s", message);
}

static void obj_faces(void **state)
{
    (void)state;
    BrioMesh *mesh;
    BrioError error = {0};
    assert_int_equal(brio__mesh_parse("cloth.obj", cloth_obj, strlen(cloth_obj), &mesh, &error),
                     BRIO_OK);
    const BrioFaces *f = mesh->faces;
    assert_non_null(f);
    assert_int_equal(mesh->triangle_count, 8);
    assert_int_equal(f->count, 5);
    assert_int_equal(brio__faces_triangles(f), 8);
    int32_t corner[24];
    brio__faces_fan(f, corner);
    for (int k = 0; k < 24; k++) assert_int_equal(f->vertex[corner[k]], mesh->triangle[k]);
    assert_int_equal(f->uv_count, 10);
    assert_null(f->corner_normal);
    assert_int_equal(f->group_count, 2);
    assert_string_equal(f->group[0], "sheet");
    assert_string_equal(f->group[1], "far side");
    assert_int_equal(f->face_group[1], 0);
    assert_int_equal(f->face_group[2], 1);
    brio_mesh_free(mesh);
    const char plain[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf 1 2 3\n";
    assert_int_equal(brio__mesh_parse("x.obj", plain, strlen(plain), &mesh, &error), BRIO_OK);
    assert_null(mesh->faces); /* nothing beyond its triangle */
    brio_mesh_free(mesh);
    const char back[] =
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nvn 0 0 1\nf -3/-3/-1 -2/-2/-1 -1/9/7\n";
    brio_set_log(keep_log, NULL);
    assert_int_equal(brio__mesh_parse("x.obj", back, strlen(back), &mesh, &error), BRIO_OK);
    brio_set_log(NULL, NULL);
    assert_string_equal(logged, "x.obj: 2 corners of faces name a vt or vn that the file does not "
                                "have; these are ignored");
    f = mesh->faces;
    assert_true(f->corner_uv[0] == 0 && f->corner_uv[1] == 1 && f->corner_uv[2] == -1 &&
                f->corner_normal[0] == 0 && f->corner_normal[2] == -1);
    brio_mesh_free(mesh);
}

/* A closed surface that looks inward is turned by an affine body: so are the faces that results
 * show. */
static void turned_faces(void **state)
{
    (void)state;
    BrioScene *scene;
    BrioError error = {0};
    write_text("cube.obj",
               "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
               "f 1 2 3 4\nf 5 8 7 6\nf 1 5 6 2\nf 2 6 7 3\nf 3 7 8 4\nf 4 8 5 1\n");
    write_text(
        "turn.yaml",
        "bodies:\n  - mesh: cube.obj\n    kind: affine\n    material: {type: affine, E: 1e6}\n");
    if (brio__scene_load("turn.yaml", NULL, 0, &scene, &error) != BRIO_OK)
        fail_msg("%s", error.message);
    const BrioBody *body = &scene->system->body[0];
    assert_non_null(body->skin);
    assert_int_equal(body->skin->faces->count, 6);
    double volume6 = 0;
    for (int64_t t = 0; t < body->skin->triangle_count; t++) {
        const int32_t *n = body->skin->triangle + 3 * t;
        const double origin[3] = {0, 0, 0};
        volume6 += brio__tet_volume6(origin, scene->rest + 3 * n[0], scene->rest + 3 * n[1],
                                     scene->rest + 3 * n[2]);
    }
    print_message("volume that the faces enclose: %.17g\n", volume6 / 6);
    assert_true(fabs(volume6 / 6 - 1) < 1e-12);
    brio__scene_free(scene);
}

/* ---- surfaces that ride on tets --------------------------------------------------------- */

static BrioMesh *ball(int cells)
{
    BrioMesh *mesh;
    double values[BRIO_MAX_VALUES];
    brio_fields_defaults(brio_shape_fields("box"), values);
    brio_fields_set(brio_shape_fields("box"), values, "cells", (double[]){cells, cells, cells},
                    NULL);
    assert_int_equal(brio_mesh_shape("box", values, &mesh, NULL), BRIO_OK);
    BrioRandom random = {3};
    /* no two tets alike */
    for (int64_t k = 0; k < 3 * mesh->vertex_count; k++)
        mesh->x[k] += 0.15 / cells * (brio__random(&random) - 0.5);
    return mesh;
}

static BrioSkin *embed(const BrioMesh *mesh, const double *points, int64_t count, bool smooth,
                       BrioEmbedding *how)
{
    BrioSkin *skin;
    int32_t none[3] = {0, 1, 2};
    BrioMesh surface = {
        .vertex_count = count, .triangle_count = 1, .x = (double *)points, .triangle = none};
    assert_int_equal(brio__skin_embed(mesh->x, mesh->vertex_count, mesh->tet, mesh->tet_count,
                                      &surface, points, smooth, how, &skin),
                     BRIO_OK);
    return skin;
}

/* Points x -> A x + b, also outside of the body, for both weights. */
static void affine_motions(void **state)
{
    (void)state;
    enum { COUNT = 400 };
    BrioMesh *mesh = ball(3);
    BrioRandom random = {7};
    double points[3 * COUNT], seen[3 * COUNT];
    double *x = malloc(3 * (size_t)mesh->vertex_count * sizeof *x);
    /* the body is the unit cube */
    for (int k = 0; k < 3 * COUNT; k++) points[k] = 1.6 * (brio__random(&random) - 0.5);
    for (int smooth = 0; smooth < 2; smooth++) {
        BrioEmbedding how;
        BrioSkin *skin = embed(mesh, points, COUNT, smooth, &how);
        double worst = 0, sum_off = 0;
        assert_true(how.outside > 50 && how.outside < 350 && how.far == 0);
        for (int trial = 0; trial < 8; trial++) {
            double a[9], b[3], c = cos(trial), s = sin(trial);
            const double turn[9] = {c, -s, 0, s, c, 0, 0, 0, 1};
            /* rigid, then any */
            for (int k = 0; k < 9; k++) a[k] = trial < 4 ? turn[k] : brio__random_normal(&random);
            for (int r = 0; r < 3; r++) b[r] = brio__random_normal(&random);
            for (int64_t v = 0; v < mesh->vertex_count; v++)
                for (int r = 0; r < 3; r++)
                    x[3 * v + r] = b[r] + a[3 * r] * mesh->x[3 * v] +
                                   a[3 * r + 1] * mesh->x[3 * v + 1] +
                                   a[3 * r + 2] * mesh->x[3 * v + 2];
            brio__skin_map(skin, x, seen);
            for (int v = 0; v < COUNT; v++)
                for (int r = 0; r < 3; r++)
                    worst =
                        brio__larger(worst, fabs(seen[3 * v + r] - b[r] - a[3 * r] * points[3 * v] -
                                                 a[3 * r + 1] * points[3 * v + 1] -
                                                 a[3 * r + 2] * points[3 * v + 2]));
        }
        for (int64_t v = 0; v < COUNT; v++) {
            double sum = 0;
            for (int64_t k = skin->start[v]; k < skin->start[v + 1]; k++) sum += skin->weight[k];
            sum_off = brio__larger(sum_off, fabs(sum - 1));
        }
        print_message(
            "%s: affine motions off by %.2g, sums of weights by %.2g, %.1f vertices a point\n",
            smooth ? "smooth" : "linear", worst, sum_off, (double)skin->start[COUNT] / COUNT);
        assert_true(worst < 3e-14 && sum_off < 3e-15);
        brio__skin_free(skin);
    }
    free(x);
    brio_mesh_free(mesh);
}

/* Across every inner face: two points on both sides, a hair apart, and the gradients there. */
static void continuous(void **state)
{
    (void)state;
    BrioMesh *mesh = ball(4);
    enum { MAX = 4000 };
    double *points = malloc(4 * 3 * MAX * sizeof *points);
    double *seen = malloc(4 * 3 * MAX * sizeof *seen);
    double *x = malloc(3 * (size_t)mesh->vertex_count * sizeof *x);
    const double hair = 1e-9, step = 1e-4;
    int count = 0;
    for (int64_t t = 0; t < mesh->tet_count && count < MAX; t++)
        for (int f = 0; f < 4 && count < MAX; f++) {
            double centre[3] = {0, 0, 0}, away[3] = {0, 0, 0}, length = 0;
            for (int k = 0; k < 4; k++)
                for (int r = 0; r < 3; r++) {
                    double y = mesh->x[3 * (int64_t)mesh->tet[4 * t + k] + r];
                    centre[r] += k == f ? 0 : y / 3;
                    away[r] += k == f ? -y : y / 3;
                }
            for (int r = 0; r < 3; r++) length += away[r] * away[r];
            /* and the faces next to it too: at the border gradients are one-sided */
            bool inner = true;
            for (int r = 0; r < 3; r++) inner = inner && fabs(centre[r]) < 0.2;
            if (!inner) continue;
            const double at[4] = {-step, -hair, hair, step};
            for (int k = 0; k < 4; k++)
                for (int r = 0; r < 3; r++)
                    points[3 * (4 * count + k) + r] = centre[r] + at[k] * away[r] / sqrt(length);
            count++;
        }
    for (int64_t v = 0; v < mesh->vertex_count; v++) { /* bent and twisted: quadratic */
        const double *p = mesh->x + 3 * v;
        x[3 * v] = p[0] + 0.3 * p[1] * p[1];
        x[3 * v + 1] = p[1] - 0.2 * p[0] * p[2];
        x[3 * v + 2] = p[2] + 0.4 * p[0] * p[0] - 0.1 * p[1] * p[2];
    }
    double kink[2];
    for (int smooth = 0; smooth < 2; smooth++) {
        BrioEmbedding how;
        BrioSkin *skin = embed(mesh, points, 4 * count, smooth, &how);
        double jump = 0, sum = 0;
        brio__skin_map(skin, x, seen);
        for (int i = 0; i < count; i++) {
            double square = 0;
            for (int r = 0; r < 3; r++) {
                const double *y = seen + 12 * i + r;
                jump = brio__larger(jump, fabs(y[6] - y[3]));
                square += pow((y[9] - y[6]) / (step - hair) - (y[3] - y[0]) / (step - hair), 2);
            }
            sum += square;
        }
        kink[smooth] = sqrt(sum / count);
        print_message(
            "%s: across %d faces positions jump by %.2g, gradients by %.3g (mean square)\n",
            smooth ? "smooth" : "linear", count, jump, kink[smooth]);
        assert_int_equal(how.outside, 0);
        assert_true(jump < 1e-8); /* two hairs, stretched */
        brio__skin_free(skin);
    }
    assert_true(count > 100);
    assert_true(kink[1] < 0.5 * kink[0]);
    free(points);
    free(seen);
    free(x);
    brio_mesh_free(mesh);
}

/* A point in the place of a vertex goes with it, whatever happens. */
static void vertices_are_kept(void **state)
{
    (void)state;
    BrioMesh *mesh = ball(2);
    BrioEmbedding how;
    BrioRandom random = {11};
    double *x = malloc(3 * (size_t)mesh->vertex_count * sizeof *x);
    double *seen = malloc(3 * (size_t)mesh->vertex_count * sizeof *seen);
    double worst = 0;
    for (int64_t k = 0; k < 3 * mesh->vertex_count; k++) x[k] = brio__random(&random);
    for (int smooth = 0; smooth < 2; smooth++) {
        BrioSkin *skin = embed(mesh, mesh->x, mesh->vertex_count, smooth, &how);
        brio__skin_map(skin, x, seen);
        for (int64_t k = 0; k < 3 * mesh->vertex_count; k++)
            worst = brio__larger(worst, fabs(seen[k] - x[k]));
        brio__skin_free(skin);
    }
    print_message("points in the place of vertices: off by %.2g\n", worst);
    assert_true(worst < 1e-13);
    free(x);
    free(seen);
    brio_mesh_free(mesh);
}

static void far_outside(void **state)
{
    (void)state;
    BrioScene *scene;
    BrioError error = {0};
    write_text("gem.obj", octahedron_obj);
    write_text("far.yaml",
               "bodies:\n  - shape: {type: box, size: [0.2, 0.2, 0.2], cells: [2, 2, 2]}\n    "
               "surface: {mesh: gem.obj, weights: linear}\n    material: {type: neo-hookean}\n");
    brio_set_log(keep_log, NULL);
    assert_int_equal(brio__scene_load("far.yaml", NULL, 0, &scene, &error), BRIO_OK);
    brio_set_log(NULL, NULL);
    assert_string_equal(logged,
                        "far.yaml:3: 6 of 6 points of the surface are far outside the tets, no. 0 "
                        "by 0.3 m: they follow the nearest tet, which may look torn; make the "
                        "tets enclose the surface, and give both in the same position and unit");
    brio__scene_free(scene);
}

/* ---- damage and lack of memory ---------------------------------------------------------- */

static void damaged(void **state)
{
    (void)state;
    size_t size = 0;
    char *bytes = read_all("run/motion.bin", &size), *copy = malloc(size);
    BrioRandom random = {5};
    int opened = 0;
    mkdir("hurt", 0777);
    for (int k = 0; k < 1500; k++) {
        BrioMotionFile *motion;
        BrioFilm *film;
        BrioError error = {0};
        memcpy(copy, bytes, size);
        copy[(size_t)(brio__random(&random) * (double)BRIO_MIN(size, 5000))] =
            (char)(256 * brio__random(&random));
        write_bytes("hurt/motion.bin", copy, size);
        if (brio__motion_open("hurt", &motion, &error) != BRIO_OK) continue;
        opened++;
        assert_int_equal(brio__film_create(motion, 1, &film, &error), BRIO_OK);
        for (int i = 0; i < motion->part_count && motion->vertex_count < 10000; i++)
            assert_int_equal(brio__film_positions(film, film->count - 1, i, &error), BRIO_OK);
        brio__film_free(film);
        brio__motion_free(motion);
    }
    print_message("%d of 1500 damaged motions could be read\n", opened);
    free(bytes);
    free(copy);
}

static void no_memory(void **state)
{
    (void)state;
    Memory memory;
    bool done = false;
    brio__scene_free(load()); /* its files */
    for (int64_t n = 0; !done; n = n < 50 ? n + 1 : n + 1 + n / 12) {
        BrioScene *scene = NULL;
        BrioRunResult result = {0};
        BrioRunOptions options = {.out = "memory", .force = true, .checkpoint_steps = 5};
        BrioError error = {0};
        const char *sets[] = {"time.end=0.04"};
        memory_start(&memory, n, true);
        BrioStatus status = brio__scene_load("scene.yaml", sets, 1, &scene, &error);
        if (status == BRIO_OK) {
            status = brio__run(scene, &options, &result, &error);
            brio__scene_free(scene);
        }
        if (status != BRIO_OK && !error.message[0] && !result.reason[0])
            fail_msg("no sentence after %lld allocations", (long long)n);
        assert_int_equal(memory.live, 0);
        done = status == BRIO_OK;
    }
    brio_set_allocator(NULL);
    remove_tree("memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(point_caches),
        cmocka_unit_test(obj_frames),
        cmocka_unit_test(ply_frames),
        cmocka_unit_test(usd),
        cmocka_unit_test(gltf),
        cmocka_unit_test(interrupted),
        cmocka_unit_test(converted),
        cmocka_unit_test(velocities_from_positions),
        cmocka_unit_test(obj_faces),
        cmocka_unit_test(turned_faces),
        cmocka_unit_test(affine_motions),
        cmocka_unit_test(continuous),
        cmocka_unit_test(vertices_are_kept),
        cmocka_unit_test(far_outside),
        cmocka_unit_test(damaged),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, set_up, leave_folder);
}
