/* Ether drag [Dinev2018, Eq. 31]: every vertex is braked by the force -k v, wherever it goes;
 * D_n = k/(2h) |q - q_n|^2 (with the velocity (q - q_n)/h, or what the method takes for it). */
#include "damping.h"

typedef struct Drag {
    const BrioSystem *system;
    double *vertices; /* that each coordinate block stands for */
} Drag;

static void destroy(void *self)
{
    Drag *d = self;
    if (d) brio__free(d->vertices);
    brio__free(d);
}

/* How many vertices a coordinate block stands for: one, or a fourth of an affine body's, as if
 * these were spread like its mass. */
static BrioStatus create(const BrioSystem *system, const double *values, void **self)
{
    (void)values;
    Drag *d = brio__calloc(1, sizeof *d);
    if (!d) return BRIO_ERROR_MEMORY;
    d->system = system;
    d->vertices = brio__calloc((size_t)system->block_count, sizeof *d->vertices);
    if (!d->vertices) return destroy(d), BRIO_ERROR_MEMORY;
    for (int b = 0; b < system->body_count; b++) {
        int64_t count, first = brio__body_masses(&system->body[b], &count);
        for (int64_t v = first; v < first + count; v++)
            if (system->map_start[v] < system->map_start[v + 1])
                d->vertices[system->map_block[system->map_start[v]]] =
                    (double)(system->partition ? system->partition->body[b].vertices
                                               : system->body[b].count) /
                    (double)count;
    }
    *self = d;
    return BRIO_OK;
}

static double potential(void *self, const double *values, const BrioState *state,
                        const BrioMotion *motion, double *gradient)
{
    const Drag *drag = self;
    double sum = 0, rate = values[0] / motion->over;
    for (int64_t i = 0; i < state->coordinates; i++) {
        double c = rate * drag->vertices[i / 3], d = motion->q[i] - motion->from[i];
        if (i < 3 * (int64_t)brio__owned(drag->system)) sum += c * d * d;
        if (gradient) gradient[i] += c * d;
    }
    brio__partition_sum(drag->system->partition, &sum, 1);
    return sum / 2;
}

static BrioStatus assemble(void *self, const double *values, const BrioState *state,
                           const BrioMotion *motion, double weight, bool project,
                           BrioLinear *matrix)
{
    (void)state;
    (void)project;
    const Drag *drag = self;
    brio__assemble_diagonal(drag->system, drag->vertices, weight * values[0] / motion->over,
                            matrix);
    return BRIO_OK;
}

static void force(void *self, const double *values, const BrioState *state, const double *q,
                  const double *v, double time, double h, double *f)
{
    (void)q;
    (void)time;
    (void)h;
    const Drag *drag = self;
    for (int64_t i = 0; i < state->coordinates; i++)
        f[i] -= values[0] * drag->vertices[i / 3] * v[i];
}

static const BrioField fields[] = {{"k", BRIO_REAL, "N s/m", 0.001, 0, 1e15, 0,
                                    "Drag coefficient of every vertex: the force is "
                                    "-k v."},
                                   {0}};

BRIO_DAMPING_MODEL(ether_drag){
    .name = "ether-drag",
    .summary = "Damps every motion, also falling and rotation, as if the body moved through honey.",
    .citation = "Dinev2018",
    .brakes_translation = true,
    .brakes_rotation = true,
    .fields = fields,
    .create = create,
    .destroy = destroy,
    .potential = potential,
    .assemble = assemble,
    .force = force,
};
