/* `transform` of bodies and of obstacles: where something starts. */
#include "read.h"

typedef struct Transform {
    double scale[3], rotate[4], translate[3];
} Transform;

static const BrioKey transform_keys[] = {
    {KEY_SCALE("scale", 1, KEY_POSITIVE, DBL_MAX, "Scale factor; three numbers: one per axis."),
     KEY_INTO(Transform, scale)},
    {KEY_BALL("rotate", "[[x, y, z], degrees]", "Rotation about an axis through the origin."),
     KEY_INTO(Transform, rotate)},
    {KEY_VECTOR("translate", "m", 0, "Translation."), KEY_INTO(Transform, translate)},
    KEY_END};
BRIO_SECTION(transform){"bodies[].transform", "Transform of a mesh", transform_keys};

double brio__axis_length(double n[3])
{
    int power;
    frexp(fmax(fabs(n[0]), fmax(fabs(n[1]), fabs(n[2]))), &power);
    for (int r = 0; r < 3; r++) n[r] = ldexp(n[r], -power);
    return sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
}

BrioPlacement brio__placement(void)
{
    return (BrioPlacement){.linear = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
}

/* The rotation by an angle about the axis n, by Rodrigues' formula:
 * R = c I + s [n]x + (1 - c) n n^T for n of length 1. */
static void rotation(const double n[3], double length, double degrees, double R[9])
{
    double angle = degrees * 3.14159265358979323846 / 180;
    /* quarter turns exactly, so that boxes stay boxes */
    double quarter = degrees / 90, c = cos(angle), s = sin(angle);
    if (quarter == floor(quarter)) {
        angle = fmod(quarter, 4) * 3.14159265358979323846 / 2;
        c = round(cos(angle));
        s = round(sin(angle));
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double cross = i == j ? 0 : ((j - i + 3) % 3 == 1 ? -1 : 1) * n[3 - i - j] / length;
            R[3 * i + j] = c * (i == j) + s * cross + (1 - c) * n[i] * n[j] / (length * length);
        }
}

BrioStatus brio__read_transform(BrioNode *node, BrioPlacement *placement, BrioError *error)
{
    double R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    Transform t;
    brio__key_defaults(transform_keys, &t);
    if (!node) return BRIO_OK;
    BRIO_CHECK(brio__read_keys(node, transform_keys, &t, error));
    double *n = t.rotate;
    if (!isnan(n[0])) {
        double length = brio__axis_length(n);
        if (!(length > 0))
            return brio__node_error(brio__node_get(node, "rotate")->child[0], error,
                                    "the axis has no length");
        rotation(n, length, t.rotate[3], R);
    }
    for (int i = 0; i < 9; i++) placement->linear[i] = R[i] * t.scale[i % 3];
    for (int r = 0; r < 3; r++) placement->translate[r] = t.translate[r];
    return BRIO_OK;
}
