/* The initial state of a body: `velocity`, `state`, `deform`. */
#include "bodies.h"

#include "drum.h"

#include <string.h>

static const BrioKey velocity_keys[] = {
    {KEY_VECTOR("linear", "m/s", 0, "Velocity of every vertex."),
     KEY_INTO(BrioBodyWork, def.velocity)},
    {KEY_VECTOR("angular", "rad/s", 0, "Angular velocity."), KEY_INTO(BrioBodyWork, def.angular)},
    {KEY_MATRIX("gradient", "1/s",
                "Additional velocity that grows linearly: this matrix times the distance vector "
                "from `about`."),
     KEY_INTO(BrioBodyWork, gradient)},
    {KEY_VECTOR("about", "m", 0, "Centre of the rotation and of the gradient."),
     KEY_INTO(BrioBodyWork, def.about)},
    {KEY_MAP("mode", "An additional vibration.")},
    KEY_END};
BRIO_SECTION(velocity){"bodies[].velocity", "Initial velocity", velocity_keys};

static const BrioKey mode_keys[] = {
    {KEY_CHOICE("type", "drum", NAN,
                "A vibration of a round drum, J_m(j r/R) cos(m phi) along the normal, phi from the "
                "x axis."),
     KEY_REQUIRED},
    {KEY_INTEGER("m", 0, 0, 100, "Nodal diameters."), KEY_INTO(BrioDrum, m)},
    {KEY_INTEGER("n", 1, 1, 100,
                 "Nodal circles, the rim included: j is the n-th zero of the Bessel function J_m."),
     KEY_INTO(BrioDrum, n)},
    {KEY_REAL("amplitude", "m/s", 1, -1e9, 1e9, "Maximum speed."), KEY_INTO(BrioDrum, amplitude)},
    {KEY_REAL("radius", "m", NAN, KEY_POSITIVE, 1e9,
              "Radius R of the drum; nothing moves outside it."),
     KEY_WORDS("to the farthest vertex"), KEY_INTO(BrioDrum, radius)},
    {KEY_VECTOR("centre", "m", NAN, "Centre of the drum."),
     KEY_WORDS("the middle of the body's box"), KEY_INTO(BrioDrum, centre)},
    {KEY_VECTOR("normal", "", NAN, "Direction of the motion; any length."),
     KEY_WORDS("the mean normal of the triangles"), KEY_INTO(BrioDrum, normal)},
    KEY_END};
BRIO_SECTION(mode){"bodies[].velocity.mode", "Initial vibration", mode_keys};

typedef struct Deform {
    double twist, bend[3], scatter;
    int64_t seed;
} Deform;

static const BrioKey deform_keys[] = {
    {KEY_REAL("twist", "degrees", 0, -36000, 36000,
              "Rotation of the end with the largest x about the x direction through the body's "
              "centre; it grows linearly from the other end."),
     KEY_INTO(Deform, twist)},
    {KEY_VECTOR("bend", "m", 0,
                "Displacement of that end; it grows with the square of the distance from the "
                "other end."),
     KEY_INTO(Deform, bend)},
    {KEY_MAP("pull", "A region that is pulled out.")},
    {KEY_REAL("scatter", "m", 0, 0, 1e9,
              "Maximum random displacement of each vertex along x, y and z."),
     KEY_INTO(Deform, scatter)},
    {KEY_INTEGER("seed", 1, 0, 0x1p53,
                 "Seed of the random displacements: the same seed gives the "
                 "same displacements."),
     KEY_INTO(Deform, seed)},
    KEY_END};
BRIO_SECTION(deform){"bodies[].deform", "Initial deformation of a body", deform_keys};

typedef struct Pull {
    double sphere[4], by[3];
} Pull;

static const BrioKey pull_keys[] = {
    {KEY_BALL("sphere", "[[x, y, z], radius]",
              "The region: full displacement at the centre, none outside the radius."),
     KEY_REQUIRED, KEY_INTO(Pull, sphere)},
    {KEY_VECTOR("by", "m", NAN, "Displacement at the centre."), KEY_REQUIRED, KEY_INTO(Pull, by)},
    KEY_END};
BRIO_SECTION(pull){"bodies[].deform.pull", "A region that is pulled out", pull_keys};

BrioStatus brio__read_velocity(BrioBodyWork *w, BrioError *error)
{
    BrioNode *node = brio__node_get(w->node, "velocity");
    brio__key_defaults(velocity_keys, w);
    return node ? brio__read_keys(node, velocity_keys, w, error) : BRIO_OK;
}

static BrioStatus read_mode(BrioNode *node, BrioDrum *drum, BrioError *error)
{
    brio__key_defaults(mode_keys, drum);
    BRIO_CHECK(brio__read_keys(node, mode_keys, drum, error));
    BrioNode *normal = brio__node_get(node, "normal");
    if (normal && !(hypot(hypot(drum->normal[0], drum->normal[1]), drum->normal[2]) > 0))
        return brio__node_error(normal, error, "the normal has no length");
    return BRIO_OK;
}

static BrioStatus read_state(BrioBodyWork *w, BrioError *error)
{
    BrioNode *node = brio__node_get(w->node, "state");
    if (!node) return BRIO_OK;
    char path[4096];
    int64_t rows;
    BRIO_CHECK(brio__file_path(w->scene, node, path, sizeof path, error));
    BRIO_CHECK(brio__csv_read(path, 6, &w->state, &rows, error));
    if (rows != w->mesh->vertex_count)
        return brio__node_error(node, error, "the file has %lld rows and the body %lld vertices",
                                (long long)rows, (long long)w->mesh->vertex_count);
    for (int64_t k = 0; k < 3 * rows; k++) w->state[6 * (k / 3) + k % 3] += w->shift[k % 3];
    w->def.state = w->state;
    return BRIO_OK;
}

/* A state to add velocities to: the rest shape, standing still, unless there is one. */
static BrioStatus need_state(BrioBodyWork *w, BrioError *error)
{
    if (w->state) return BRIO_OK;
    int64_t vertices = w->mesh->vertex_count;
    w->state = brio__calloc(6 * (size_t)vertices, sizeof *w->state);
    if (!w->state) return brio__no_memory(error);
    for (int64_t k = 0; k < vertices; k++)
        brio__body_place(&w->def, w->mesh->x + 3 * k, w->state + 6 * k);
    w->def.state = w->state;
    return BRIO_OK;
}

/* Adds v = G (x - about) to the initial velocities. */
static BrioStatus add_gradient(BrioBodyWork *w, BrioError *error)
{
    const double *G = w->gradient;
    if (isnan(G[0])) return BRIO_OK;
    BRIO_CHECK(need_state(w, error));
    for (int64_t k = 0; k < w->mesh->vertex_count; k++) {
        double *x = w->state + 6 * k, *v = x + 3;
        for (int i = 0; i < 9; i++) v[i / 3] += G[i] * (x[i % 3] - w->def.about[i % 3]);
    }
    return BRIO_OK;
}

/* The vibration of `velocity` is added to the initial velocities. */
static BrioStatus add_mode(BrioBodyWork *w, BrioError *error)
{
    BrioNode *velocity = brio__node_get(w->node, "velocity");
    BrioNode *mode = velocity ? brio__node_get(velocity, "mode") : NULL;
    int64_t vertices = w->mesh->vertex_count;
    BrioDrum drum;
    if (!mode) return BRIO_OK;
    BRIO_CHECK(read_mode(mode, &drum, error));
    for (int r = 0; r < 3; r++) drum.centre[r] += w->shift[r]; /* NAN stays: not given */
    if (w->mesh->triangle_count == 0 && isnan(drum.normal[0]))
        return brio__node_error(mode, error,
                                "this mesh has no triangles to take a normal from: give normal");
    BRIO_CHECK(need_state(w, error));
    double *x = brio__alloc(6 * (size_t)vertices, sizeof *x), *v = x ? x + 3 * vertices : NULL;
    if (!x) return brio__no_memory(error);
    for (int64_t k = 0; k < vertices; k++) {
        memcpy(x + 3 * k, w->state + 6 * k, 3 * sizeof *x);
        memset(v + 3 * k, 0, 3 * sizeof *v);
    }
    brio__drum_add(&drum, w->mesh, x, v);
    for (int64_t k = 0; k < 3 * vertices; k++) w->state[6 * (k / 3) + 3 + k % 3] += v[k];
    brio__free(x);
    return BRIO_OK;
}

/* Shifts what lies in a ball, by (1 - (r/R)^2)^2 of it at the distance r from its centre. */
static BrioStatus pull(BrioBodyWork *w, BrioNode *node, BrioError *error)
{
    Pull p;
    BRIO_CHECK(brio__read_keys(node, pull_keys, &p, error));
    BrioNode *sphere = brio__node_get(node, "sphere");
    double centre[3], radius = p.sphere[3];
    for (int r = 0; r < 3; r++) centre[r] = p.sphere[r] + w->shift[r];
    if (!(radius > 0))
        return brio__node_error(sphere->child[1], error, "the radius = %g must be positive",
                                radius);
    int64_t pulled = 0;
    for (int64_t v = 0; v < w->mesh->vertex_count; v++) {
        double *x = w->state + 6 * v;
        double r = hypot(hypot(x[0] - centre[0], x[1] - centre[1]), x[2] - centre[2]) / radius;
        double weight = r < 1 ? (1 - r * r) * (1 - r * r) : 0;
        for (int k = 0; k < 3; k++) x[k] += weight * p.by[k];
        pulled += r < 1;
    }
    return pulled ? BRIO_OK : brio__node_error(sphere, error, "no vertex lies in this sphere");
}

/* Turns cross-sections about the middle line along x, and bends that line. */
static BrioStatus twist_and_bend(BrioBodyWork *w, const BrioNode *node, const Deform *d,
                                 BrioError *error)
{
    double low[3] = {INFINITY, INFINITY, INFINITY};
    double high[3] = {-INFINITY, -INFINITY, -INFINITY};
    int64_t n = w->mesh->vertex_count;
    if (d->twist == 0 && d->bend[0] == 0 && d->bend[1] == 0 && d->bend[2] == 0) return BRIO_OK;
    for (int64_t v = 0; v < n; v++)
        for (int r = 0; r < 3; r++) {
            low[r] = fmin(low[r], w->state[6 * v + r]);
            high[r] = fmax(high[r], w->state[6 * v + r]);
        }
    if (!(high[0] > low[0]))
        return brio__node_error(node, error,
                                "the body has no length along x to twist or bend it over");
    for (int64_t v = 0; v < n; v++) {
        double *x = w->state + 6 * v;
        double fraction = (x[0] - low[0]) / (high[0] - low[0]);
        double angle = fraction * d->twist * 3.14159265358979323846 / 180;
        double middle[2] = {(low[1] + high[1]) / 2, (low[2] + high[2]) / 2};
        double y = x[1] - middle[0];
        double z = x[2] - middle[1];
        x[1] = middle[0] + cos(angle) * y - sin(angle) * z;
        x[2] = middle[1] + sin(angle) * y + cos(angle) * z;
        for (int r = 0; r < 3; r++) x[r] += d->bend[r] * fraction * fraction;
    }
    return BRIO_OK;
}

/* Makes a state of the rest shape, turned about x and bent, pulled and scattered. */
static BrioStatus read_deform(BrioBodyWork *w, BrioError *error)
{
    BrioNode *node = brio__node_get(w->node, "deform"), *pulled;
    Deform d;
    if (!node) return BRIO_OK;
    if (w->state) return brio__node_error(node, error, "give either state or deform");
    brio__key_defaults(deform_keys, &d);
    BRIO_CHECK(brio__read_keys(node, deform_keys, &d, error));
    BRIO_CHECK(need_state(w, error)); /* `velocity` is added to its velocities */
    BRIO_CHECK(twist_and_bend(w, node, &d, error));
    if ((pulled = brio__node_get(node, "pull"))) BRIO_CHECK(pull(w, pulled, error));
    BrioRandom random = {(uint64_t)d.seed};
    for (int64_t k = 0; k < 3 * w->mesh->vertex_count && d.scatter > 0; k++)
        w->state[6 * (k / 3) + k % 3] += d.scatter * (2 * brio__random(&random) - 1);
    return BRIO_OK;
}

BrioStatus brio__read_initial_state(BrioBodyWork *w, BrioError *error)
{
    BRIO_CHECK(read_state(w, error));
    BRIO_CHECK(read_deform(w, error));
    BRIO_CHECK(add_gradient(w, error));
    return add_mode(w, error);
}
