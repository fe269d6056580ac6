/* Shapes of IPC that move through a sequence of meshes, one for each step: FOLDER/0.obj is where
 * the shape is at the end of the first. A scene of brio can say turns and shifts at a constant
 * rate; any other sequence is lost. */
#include "ipc.h"

#include <string.h>

/* Files of meshes have few digits. */
#define SEQUENCE_ACCURACY 1e-4

typedef struct Sequence {
    const Shape *shape;
    char folder[4096];
    const char *ending; /* ".obj" */
    int corner[3];      /* three vertices that are not on a line */
    double size;
} Sequence;

static BrioMesh *read_frame(const Sequence *s, int frame)
{
    char name[5000];
    BrioMesh *mesh = NULL;
    snprintf(name, sizeof name, "%s/%d%s", s->folder, frame, s->ending);
    if (brio_mesh_read(name, &mesh, NULL) != BRIO_OK) return NULL;
    if (mesh->vertex_count == s->shape->mesh->vertex_count) return mesh;
    brio_mesh_free(mesh);
    return NULL;
}

/* The orthonormal frame of three points, its vectors as columns. */
static bool frame_of(double x[3][3], double F[3][3])
{
    double u[3], v[3], along = 0, length = 0, height = 0;
    for (int k = 0; k < 3; k++) u[k] = x[1][k] - x[0][k], length += u[k] * u[k];
    for (int k = 0; k < 3; k++) u[k] /= sqrt(length), along += u[k] * (x[2][k] - x[0][k]);
    for (int k = 0; k < 3; k++) {
        v[k] = x[2][k] - x[0][k] - along * u[k];
        height += v[k] * v[k];
    }
    if (!(length > 0 && height > 0)) return false;
    for (int k = 0; k < 3; k++) {
        F[k][0] = u[k];
        F[k][1] = v[k] / sqrt(height);
    }
    for (int k = 0; k < 3; k++) {
        int l = (k + 1) % 3, m = (k + 2) % 3;
        F[k][2] = F[l][0] * F[m][1] - F[m][0] * F[l][1];
    }
    return true;
}

static bool map_at(const void *data, int step, double A[3][3], double b[3])
{
    const Sequence *s = data;
    double before[3][3], after[3][3], F[3][3], G[3][3], x[3], y[3];
    BrioMesh *mesh = read_frame(s, step - 1);
    if (!mesh) return false;
    for (int i = 0; i < 3; i++) {
        ipc_place(s->shape, s->shape->mesh->x + 3 * (int64_t)s->corner[i], before[i]);
        memcpy(after[i], mesh->x + 3 * (int64_t)s->corner[i], sizeof after[i]);
    }
    bool rigid = frame_of(before, F) && frame_of(after, G);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            A[r][c] = G[r][0] * F[c][0] + G[r][1] * F[c][1] + G[r][2] * F[c][2];
    import_apply(A, before[0], b);
    for (int k = 0; k < 3; k++) b[k] = after[0][k] - b[k];
    for (int64_t v = 0; rigid && v < mesh->vertex_count; v++) {
        ipc_place(s->shape, s->shape->mesh->x + 3 * v, x);
        import_apply(A, x, y);
        for (int k = 0; k < 3; k++)
            rigid &= fabs(y[k] + b[k] - mesh->x[3 * v + k]) <= SEQUENCE_ACCURACY * s->size;
    }
    brio_mesh_free(mesh);
    return rigid;
}

/* The vertex that is farthest from a line through two points (from the first, if they are one). */
static int farthest(const Shape *shape, const double from[3], const double to[3], double *distance)
{
    const BrioMesh *mesh = shape->mesh;
    int found = 0;
    *distance = 0;
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        double x[3], far = 0, along = 0, length = 0;
        ipc_place(shape, mesh->x + 3 * v, x);
        for (int k = 0; k < 3; k++) {
            far += (x[k] - from[k]) * (x[k] - from[k]);
            along += (x[k] - from[k]) * (to[k] - from[k]);
            length += (to[k] - from[k]) * (to[k] - from[k]);
        }
        if (length > 0) far -= along * along / length;
        if (far <= *distance) continue;
        *distance = far;
        found = (int)v;
    }
    *distance = sqrt(*distance);
    return found;
}

static void find_corners(Sequence *s)
{
    double first[3], second[3], height;
    s->corner[0] = 0;
    ipc_place(s->shape, s->shape->mesh->x, first);
    s->corner[1] = farthest(s->shape, first, first, &s->size);
    ipc_place(s->shape, s->shape->mesh->x + 3 * (int64_t)s->corner[1], second);
    s->corner[2] = farthest(s->shape, first, second, &height);
}

static bool take_sequence(Reader *r, Shape *shape)
{
    Sequence s = {.shape = shape, .ending = ipc_is_solid(shape) ? ".msh" : ".obj"};
    double low[3], high[3], middle[3];
    ImportTurn turn;
    if (!ipc_find_file(r, shape->sequence, s.folder, sizeof s.folder)) return false;
    find_corners(&s);
    ipc_shape_box(shape, low, high);
    for (int k = 0; k < 3; k++) middle[k] = (low[k] + high[k]) / 2;
    int steps = (int)fmin(ceil(r->scene->end / r->scene->h - 1e-9), 100000);
    if (!import_find_turn(map_at, &s, steps, r->scene->h, middle, s.size, SEQUENCE_ACCURACY, &turn))
        return false;
    memcpy(shape->motion.linear, turn.linear, sizeof turn.linear);
    memcpy(shape->motion.angular, turn.angular, sizeof turn.angular);
    memcpy(shape->motion.about, turn.about, sizeof turn.about);
    shape->motion.pivoted = true;
    return true;
}

void ipc_take_sequences(Reader *r)
{
    for (int i = 0; i < r->scene->shapes; i++) {
        Shape *shape = &r->scene->shape[i];
        if (!shape->sequence[0] || take_sequence(r, shape)) continue;
        import_loss(r->report, shape->line,
                    "meshSeq: brio moves obstacles by turns and shifts at a constant rate, and the "
                    "meshes 0, 1, ... of \"%.100s\" are no such motion, or not there for every "
                    "step; this one stays where it is",
                    shape->sequence);
    }
}
