/* Closed surfaces for affine bodies and obstacles: chain link, stairs. */
#include "shapes.h"

/* ---- chain link ------------------------------------------------------------------------- */

static const BrioField chain_link_fields[] = {
    BRIO_LENGTH("length", 0.07, "Extent along x, centred at the origin."),
    BRIO_LENGTH("width", 0.045, "Extent along z, at most the length."),
    BRIO_LENGTH("thickness", 0.01, "Diameter of the wire, less than half the width."),
    {"bend", BRIO_INTEGER, "", 6, 2, 10000, 0, "Segments of each half circle."},
    {"straight", BRIO_INTEGER, "", 2, 1, 10000, 0, "Segments of each straight part."},
    {"around", BRIO_INTEGER, "", 6, 3, 10000, 0, "Vertices around the wire."},
    {0},
};

/* The middle line is a stadium in the plane y = 0; circles stand across it. */
static BrioStatus make_chain_link(const double *values, BrioMesh **mesh, BrioError *error)
{
    double length = values[0];
    double width = values[1];
    double wire = values[2] / 2;
    double radius = width / 2 - wire;
    double half = (length - width) / 2;
    int64_t bend = (int64_t)values[3], straight = (int64_t)values[4], around = (int64_t)values[5];
    *mesh = NULL;
    if (!(half >= 0))
        return brio__error(error, BRIO_ERROR_INPUT, "width = %g m is more than length = %g m",
                           width, length);
    if (!(radius > wire))
        return brio__error(
            error, BRIO_ERROR_INPUT,
            "thickness = %g m closes the link: it must be less than half of width = %g m", 2 * wire,
            width);
    if (half <= 1e-9 * length) straight = 0; /* a torus */
    int64_t side = bend + straight, count = 2 * side;
    BRIO_CHECK(brio__mesh_create(count * around, 0, 2 * count * around, 0, mesh, error));
    BrioMesh *created = *mesh;
    int32_t *triangle = created->triangle;
    for (int64_t i = 0; i < count; i++) {
        /* a half circle from z < 0 to z > 0 at the right, then a straight part to the left; the
         * same again, turned by half */
        int64_t on = i % side;
        double turn = on < bend ? (double)on / (double)bend : 1, sign = i < side ? 1 : -1;
        /* outward */
        double nx = sin(3.14159265358979323846 * turn), nz = -cos(3.14159265358979323846 * turn);
        double x = on <= bend ? half : half * (1 - 2 * (double)(on - bend) / (double)straight);
        for (int64_t j = 0; j < around; j++) {
            double angle = 6.28318530717958647692 * ((double)j / (double)around);
            double out = radius + wire * cos(angle);
            double *p = created->x + 3 * (i * around + j);
            p[0] = sign * (x + out * nx);
            p[1] = wire * sin(angle);
            p[2] = sign * out * nz;
            int64_t a = i * around + j;
            int64_t b = (i + 1) % count * around + j;
            int64_t c = i * around + (j + 1) % around;
            int64_t d = (i + 1) % count * around + (j + 1) % around;
            const int64_t falling[6] = {a, d, b, a, c, d}, rising[6] = {a, c, b, b, c, d};
            for (int k = 0; k < 6; k++) *triangle++ = (int32_t)((i + j) % 2 ? rising : falling)[k];
        }
    }
    return brio__shape_edges(mesh, error);
}

const BrioShape brio__shape_chain_link = {
    .name = "chain-link",
    .summary = "the closed surface of a link of a chain: round wire, two half circles and straight "
               "parts along x",
    .kind = "springs",
    .fields = chain_link_fields,
    .make = make_chain_link,
};

/* ---- stairs ----------------------------------------------------------------------------- */

static const BrioField stairs_fields[] = {
    {"count", BRIO_INTEGER, "", 5, 1, 300, 0, "Number of steps."},
    BRIO_LENGTH("width", 1, "Extent along z, centred at z = 0."),
    BRIO_LENGTH("height", 0.15, "Height of each step, along y from y = 0."),
    BRIO_LENGTH("depth", 0.25, "Depth of each step, along x from x = 0; they rise along x."),
    {"across", BRIO_INTEGER, "", 4, 1, 100, 0, "Cells along z."},
    {0},
};

/* Blocks (i, j, k) with j <= i and what lies between them and the air: two triangles for every such
 * face. */
typedef struct Stairs {
    int64_t count, across, vertices, triangles;
    int32_t *number; /* of lattice points; -1: not on the surface */
    BrioMesh *mesh;  /* NULL: counting */
} Stairs;

static bool is_full(const Stairs *s, const int64_t at[3])
{
    return at[0] >= 0 && at[0] < s->count && at[1] >= 0 && at[1] <= at[0] && at[2] >= 0 &&
           at[2] < s->across;
}

static void put_faces(Stairs *s)
{
    int64_t stride[3] = {1, s->count + 1, (s->count + 1) * (s->count + 1)}, at[3];
    for (at[2] = 0; at[2] < s->across; at[2]++)
        for (at[0] = 0; at[0] < s->count; at[0]++)
            for (at[1] = 0; at[1] <= at[0]; at[1]++)
                for (int face = 0; face < 6; face++) {
                    int axis = face / 2, high = face % 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
                    int64_t next[3] = {at[0], at[1], at[2]};
                    next[axis] += high ? 1 : -1;
                    if (is_full(s, next)) continue;
                    int64_t base = at[0] * stride[0] + at[1] * stride[1] + at[2] * stride[2] +
                                   high * stride[axis];
                    /* counterclockwise from the high side */
                    int64_t corner[4] = {base, base + stride[u], base + stride[u] + stride[v],
                                         base + stride[v]};
                    bool rising = (at[0] + at[1] + at[2]) % 2;
                    static const int cut[2][6] = {{0, 1, 2, 0, 2, 3}, {0, 1, 3, 1, 2, 3}};
                    for (int k = 0; k < 6; k++) {
                        int64_t point = corner[cut[rising][high ? k : 5 - k]];
                        if (s->mesh)
                            s->mesh->triangle[3 * s->triangles + k] = s->number[point];
                        else if (s->number[point] < 0)
                            s->number[point] = (int32_t)s->vertices++;
                    }
                    s->triangles += 2;
                }
}

static BrioStatus make_stairs(const double *values, BrioMesh **mesh, BrioError *error)
{
    Stairs s = {.count = (int64_t)values[0], .across = (int64_t)values[4]};
    double width = values[1], height = values[2], depth = values[3];
    int64_t row = s.count + 1, points = row * row * (s.across + 1);
    *mesh = NULL;
    s.number = brio__alloc((size_t)points, sizeof *s.number);
    if (!s.number) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory for stairs");
    for (int64_t i = 0; i < points; i++) s.number[i] = -1;
    put_faces(&s);
    BrioStatus status = brio__mesh_create(s.vertices, 0, s.triangles, 0, mesh, error);
    if (status == BRIO_OK) {
        s.mesh = *mesh;
        s.triangles = 0;
        put_faces(&s);
        for (int64_t i = 0; i < points; i++) {
            if (s.number[i] < 0) continue;
            double *x = (*mesh)->x + 3 * (int64_t)s.number[i];
            x[0] = depth * (double)(i % row);
            x[1] = height * (double)(i / row % row);
            x[2] = width * ((double)(2 * (i / (row * row)) - s.across) / (double)(2 * s.across));
        }
    }
    brio__free(s.number);
    return status == BRIO_OK ? brio__shape_edges(mesh, error) : status;
}

const BrioShape brio__shape_stairs = {
    .name = "stairs",
    .summary = "the closed surface of stairs that rise along x from the origin, centred in z",
    .kind = "springs",
    .fields = stairs_fields,
    .make = make_stairs,
};
