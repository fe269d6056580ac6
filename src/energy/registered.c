/* Energies that a program registers at run time: between the lanes of the kernels and functions
 * that take one element after the other.
 *
 * Rest data of an element: weight, rest length or volume, rest positions. */
#include "../field.h"
#include "../vec.h"
#include "energy.h"
#include "registered_law.h"

#include <string.h>

enum { MAX = 128, NODES = 4, SIZE = 3 * NODES };

static BrioEnergy registered[MAX];
static int registered_count;

const BrioEnergy *brio__registered_energy_at(int i)
{
    return i >= 0 && i < registered_count ? &registered[i] : NULL;
}

/* ---- the nearest semidefinite matrix ---------------------------------------------------- */

/* Eigenvectors by Jacobi's rotations; A = V diag V^T with the negative part of the diagonal left
 * out. */
static void make_semidefinite(int n, double *A)
{
    double V[SIZE * SIZE] = {0}, D[SIZE * SIZE], scale = 0;
    memcpy(D, A, (size_t)(n * n) * sizeof *D);
    for (int i = 0; i < n; i++) V[i * n + i] = 1;
    for (int i = 0; i < n * n; i++) scale = fmax(scale, fabs(A[i]));
    if (!(scale > 0) || isinf(scale)) return;
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                double a = D[p * n + q];
                off = fmax(off, fabs(a));
                if (fabs(a) < 1e-300) continue;
                double theta = (D[q * n + q] - D[p * n + p]) / (2 * a);
                double t = copysign(1, theta) / (fabs(theta) + hypot(1, theta));
                double c = 1 / sqrt(1 + t * t);
                double s = t * c;
                for (int k = 0; k < n; k++) {
                    double kp = D[k * n + p], kq = D[k * n + q];
                    D[k * n + p] = c * kp - s * kq;
                    D[k * n + q] = s * kp + c * kq;
                }
                for (int k = 0; k < n; k++) {
                    double pk = D[p * n + k];
                    double qk = D[q * n + k];
                    double vp = V[k * n + p];
                    double vq = V[k * n + q];
                    D[p * n + k] = c * pk - s * qk;
                    D[q * n + k] = s * pk + c * qk;
                    V[k * n + p] = c * vp - s * vq;
                    V[k * n + q] = s * vp + c * vq;
                }
            }
        if (off <= 1e-16 * scale) break;
    }
    for (int k = 0; k < n; k++) {
        if (D[k * n + k] >= 0) continue;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) A[i * n + j] -= D[k * n + k] * V[i * n + k] * V[j * n + k];
    }
}

/* ---- lanes and elements ----------------------------------------------------------------- */

/* Elements [first, first + count) of the batch, where `room` has
 * (2 + 3 * 3 nodes + (3 nodes)^2) count numbers and one more for each. */
static void evaluate(const BrioBatch *batch, int nodes, int64_t first, int64_t count, double *room)
{
    int size = 3 * nodes, rests = 2 + size;
    bool second = batch->hessian, slope = batch->gradient;
    double *weight = room, *length = weight + count, *rest = length + count,
           *x = rest + count * size, *energy = x + count * size, *gradient = energy + count,
           *hessian = gradient + count * size;
    for (int64_t e = 0; e < count; e++) {
        int64_t pack = (first + e) / LANES, lane_number = (first + e) % LANES;
        const double *data = batch->rest + pack * rests * LANES + lane_number;
        const int32_t *node = batch->node + pack * nodes * LANES + lane_number;
        weight[e] = data[0];
        length[e] = data[LANES];
        for (int k = 0; k < size; k++) rest[e * size + k] = data[(2 + k) * LANES];
        for (int k = 0; k < nodes; k++)
            memcpy(x + e * size + 3 * k, batch->x + node[k * LANES], 3 * sizeof *x);
    }
    memset(energy, 0, (size_t)(count * (1 + size + (second ? size * size : 0))) * sizeof *energy);
    BrioElements elements = {.count = count,
                             .nodes = nodes,
                             .values = batch->params,
                             .weight = weight,
                             .size = length,
                             .rest = rest,
                             .x = x,
                             .energy = energy,
                             .gradient = slope ? gradient : NULL,
                             .hessian = second ? hessian : NULL};
    bool failed = batch->def->eval(batch->def->user, &elements) != BRIO_OK;
    for (int64_t e = 0; e < count; e++) {
        int64_t pack = (first + e) / LANES, lane_number = (first + e) % LANES;
        bool filling = weight[e] == 0; /* it repeats the last element of a pack that is not full */
        if (batch->energy) batch->energy[pack] += filling ? 0 : failed ? INFINITY : energy[e];
        for (int k = 0; slope && k < size; k++)
            batch->gradient[(pack * size + k) * LANES + lane_number] =
                filling || failed ? 0 : gradient[e * size + k];
        if (!second) continue;
        double *H = hessian + e * size * size;
        double *out =
            batch->hessian + (pack - batch->begin) * brio__pairs(nodes) * 9 * LANES + lane_number;
        if (filling || failed) memset(H, 0, (size_t)(size * size) * sizeof *H);
        if (batch->project) make_semidefinite(size, H);
        for (int i = 0; i < nodes; i++)
            for (int j = 0; j <= i; j++)
                for (int r = 0; r < 9; r++)
                    out[(brio__pair(i, j) * 9 + r) * LANES] =
                        H[(3 * i + r / 3) * size + 3 * j + r % 3];
    }
}

/* As many elements at a time as fit on the stack. */
static void eval(const BrioBatch *batch)
{
    enum { ROOM = 16384 };
    double room[ROOM];
    int nodes = batch->def->kind == BRIO_KIND_SPRINGS ? 2 : 4, size = 3 * nodes;
    int64_t max = ROOM / (3 + 3 * size + (batch->hessian ? size * size : 0)) / LANES * LANES;
    for (int64_t pack = batch->begin; batch->energy && pack < batch->end; pack++)
        batch->energy[pack] = 0;
    for (int64_t first = batch->begin * LANES; first < batch->end * LANES; first += max)
        evaluate(batch, nodes, first, BRIO_MIN(max, batch->end * LANES - first), room);
}

static void rest_spring(const double *X, double scale, double length, double *rest)
{
    rest[0] = scale;
    rest[1] = isnan(length) ? brio__distance3(X + 3, X) : length;
    memcpy(rest + 2, X, 6 * sizeof *X);
}

static void rest_tet(const double *X, double scale, double length, double *rest)
{
    (void)length;
    double a[3], b[3], c[3];
    brio__subtract3(X + 3, X, a);
    brio__subtract3(X + 6, X, b);
    brio__subtract3(X + 9, X, c);
    rest[0] = scale;
    rest[1] = brio__triple3(a, b, c) / 6;
    memcpy(rest + 2, X, 12 * sizeof *X);
}

static double spring_magnitude(const double *rest) { return rest[0] * rest[1] * rest[1]; }
static double tet_magnitude(const double *rest) { return rest[1]; }

/* ---- registration ----------------------------------------------------------------------- */

BrioStatus brio__register_energies(const BrioEnergy *energies, int count, BrioError *error)
{
    if (registered_count + count > MAX)
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "%d energies are registered already, and there is no room for more",
                           registered_count);
    for (int i = 0; i < count; i++) registered[registered_count++] = energies[i];
    return BRIO_OK;
}

BrioEnergyDef brio_default_energy(void) { return (BrioEnergyDef){.kind = BRIO_KIND_SPRINGS}; }

BrioStatus brio_register_energy(const BrioEnergyDef *def, BrioError *error)
{
    if (error) *error = (BrioError){0};
    if (!def || !def->name || !def->name[0] || !def->eval || !def->fields)
        return brio__error(error, BRIO_ERROR_ARGUMENT,
                           "an energy needs a name, a field table and a function");
    if (brio__energy(def->name))
        return brio__error(error, BRIO_ERROR_ARGUMENT,
                           "there is an energy \"%s\" already; choose another name", def->name);
    if (def->kind != BRIO_KIND_SPRINGS && def->kind != BRIO_KIND_SOLID)
        return brio__error(
            error, BRIO_ERROR_ARGUMENT,
            "energy %s: only energies of springs and of solids can be registered at run time",
            def->name);
    for (const BrioField *f = def->fields; f->name; f++)
        if (f->type != BRIO_REAL && f->type != BRIO_INTEGER)
            return brio__error(error, BRIO_ERROR_ARGUMENT, "energy %s: field %s is not a number",
                               def->name, f->name);
    int count = brio__fields_count(def->fields);
    bool spring = def->kind == BRIO_KIND_SPRINGS;
    if (count > BRIO_MAX_VALUES)
        return brio__error(error, BRIO_ERROR_ARGUMENT,
                           "energy %s: %d fields are more than the maximum of %d", def->name, count,
                           BRIO_MAX_VALUES);
    if (brio__fields_offset(def->fields, "rho") < 0 &&
        !(spring && brio__fields_offset(def->fields, "vertex_mass") >= 0))
        return brio__error(error, BRIO_ERROR_ARGUMENT,
                           "energy %s: it has no mass; give it a field rho%s", def->name,
                           spring ? " or vertex_mass" : "");
    if (registered_count == MAX)
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "%d energies are registered already, and there is no room for more",
                           MAX);
    registered[registered_count++] =
        (BrioEnergy){.name = def->name,
                     .summary = def->summary ? def->summary : "",
                     .citation = def->citation,
                     .element = spring ? BRIO_ELEMENT_SPRING : BRIO_ELEMENT_TET,
                     .nodes = spring ? 2 : 4,
                     .rest = spring ? 8 : 14,
                     .params = count,
                     .fields = def->fields,
                     .rest_shape = spring ? rest_spring : rest_tet,
                     .magnitude = spring ? spring_magnitude : tet_magnitude,
                     .eval = eval,
                     .def = def};
    return BRIO_OK;
}
