/* Extended position-based dynamics in substeps [Macklin2016; Macklin2019]: springs as constraints
 * C = |x_b - x_a| - l with the compliance 1/k, and tets of stable-neo-hookean [Macklin2021] as two,
 *
 *     C_D = sqrt(tr F^T F), compliance 1/(mu V),    C_H = det F - 1 - mu/lambda, 1/(lambda V),
 *
 * whose energies add up to V psi up to a constant. A substep of length k = h/substeps goes freely
 * to q + k v + k^2 M^-1 F (weight and damping), and then `iterations` times over all constraints,
 * in their order, each of which moves its own points at once:
 *
 *     dlambda = -(C + c lambda)/(sum w |grad C|^2 + c),    c = compliance/k^2,
 *     x += w grad C dlambda,    lambda += dlambda,    w = 1/m;
 *
 * then v = (q' - q)/k. Iterations converge to C + c lambda = 0, so that how stiff things look does
 * not depend on how many there are, as it does without compliance (pbd_verlet.c); few of them look
 * softer. The limit is backward Euler's step of the same potential where constraints do not turn,
 * and near it where they do: points were moved along the directions of earlier iterates. Many
 * substeps of one iteration are the better use of the same work [Macklin2019]: the error of an
 * iteration falls with the square of the substep.
 *
 * The two constraints of a tet are solved together, from 2 x 2 numbers. At rest they oppose each
 * other, and one after the other they would have to converge to rest in every substep (the paper's
 * way); together they stay there exactly.
 *
 * Springs of no length (attachments, hands at the mean of their points) are three constraints, one
 * for each coordinate: their direction means nothing. Planes (contact by penalty) push only:
 * lambda >= 0. Moves of a constraint add up to no momentum and no
 * angular momentum, so free bodies keep the former, and the latter up to the turn of a substep. */
#include "integrator.h"

#include "brio/tets.h"

enum { Q, V, NEXT, PUSH, LAMBDA };

static const BrioField fields[] = {
    {"substeps", BRIO_INTEGER, "", 20, 1, 100000, 0, "Number of substeps per step."},
    {"iterations", BRIO_INTEGER, "", 1, 1, 100000, 0,
     "Passes over all springs and tets per substep; more passes come closer to backward Euler."},
    {0}};

/* A substep at work. */
typedef struct Substep {
    BrioStepper *s;
    double k;        /* its length */
    double *q;       /* positions that constraints move */
    const double *x; /* world positions of fixed vertices */
    int64_t slot;    /* of the next constraint's lambda */
    bool first;      /* no lambda yet */
} Substep;

/* Room for a number of each constraint: scratch vectors one after the other; NULL: no more. */
static double *next_lambda(Substep *u)
{
    int64_t n = brio_stepper_coordinates(u->s), vector = n > 0 ? u->slot / n : 0;
    if (n == 0 || LAMBDA + vector >= BRIO_SCRATCH) return NULL;
    double *lambda = brio_stepper_scratch(u->s, LAMBDA + (int)vector) + u->slot % n;
    u->slot++;
    if (u->first) *lambda = 0;
    return lambda;
}

/* dlambda of a constraint with the value C and sum w |grad C|^2. */
static double multiplier(const Substep *u, double C, double w, double stiffness, double lambda)
{
    double c = 1 / (stiffness * u->k * u->k);
    return -(C + c * lambda) / (w + c);
}

/* A spring of no length between two points with w = 1/m, 0 for one that is fixed. */
static bool move_together(Substep *u, double stiffness, double *const end[2], const double w[2],
                          const double d[3])
{
    for (int r = 0; r < 3; r++) {
        double *lambda = next_lambda(u);
        if (!lambda) return false;
        double change = multiplier(u, d[r], w[0] + w[1], stiffness, *lambda);
        *lambda += change;
        if (end[0]) end[0][r] -= w[0] * change;
        if (end[1]) end[1][r] += w[1] * change;
    }
    return true;
}

static bool move_spring(Substep *u, const BrioSpring *spring)
{
    double *end[2], d[3], w[2], square = 0;
    for (int e = 0; e < 2; e++) {
        end[e] = spring->coordinate[e] >= 0 ? u->q + spring->coordinate[e] : NULL;
        w[e] = end[e] ? 1 / spring->mass[e] : 0;
    }
    for (int r = 0; r < 3; r++) {
        d[r] = (end[1] ? end[1][r] : u->x[3 * spring->vertex[1] + r]) -
               (end[0] ? end[0][r] : u->x[3 * spring->vertex[0] + r]);
        square += d[r] * d[r];
    }
    if (spring->length == 0) return move_together(u, spring->stiffness, end, w, d);
    double *lambda = next_lambda(u), distance = sqrt(square);
    if (!lambda) return false;
    if (distance == 0) return true;
    double change =
        multiplier(u, distance - spring->length, w[0] + w[1], spring->stiffness, *lambda);
    *lambda += change;
    for (int r = 0; r < 3; r++) {
        if (end[0]) end[0][r] -= w[0] * change * d[r] / distance;
        if (end[1]) end[1][r] += w[1] * change * d[r] / distance;
    }
    return true;
}

static bool move_springs(Substep *u)
{
    BrioSpring spring;
    for (int64_t i = 0; brio_stepper_spring(u->s, i, &spring); i++) {
        bool moves = spring.active && (spring.coordinate[0] >= 0 || spring.coordinate[1] >= 0);
        if (moves && !move_spring(u, &spring)) return false;
    }
    return true;
}

static bool move_tet(Substep *u, const BrioTet *t)
{
    const double *x[4];
    for (int k = 0; k < 4; k++)
        x[k] = t->coordinate[k] >= 0 ? u->q + t->coordinate[k] : u->x + 3 * t->vertex[k];
    double F[3][3], cofactor[3][3], J = brio_tet_deform(t, x, F, cofactor), size = 0;
    double slope[2][4][3], A[2][2] = {{0}}, b[2], change[2];
    double *lambda[2] = {next_lambda(u), next_lambda(u)};
    if (!lambda[0] || !lambda[1]) return false;
    for (int i = 0; i < 9; i++) size += F[i / 3][i % 3] * F[i / 3][i % 3];
    size = sqrt(size);
    if (!(size > 0)) return true; /* all vertices at one point: there is no direction */
    for (int k = 0; k < 4; k++) {
        double w = t->coordinate[k] >= 0 ? 1 / t->mass[k] : 0;
        for (int r = 0; r < 3; r++) {
            slope[0][k][r] = slope[1][k][r] = 0;
            for (int c = 0; c < 3; c++) {
                slope[0][k][r] += F[r][c] / size * t->slope[k][c];
                slope[1][k][r] += cofactor[r][c] * t->slope[k][c];
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++) A[i][j] += w * slope[i][k][r] * slope[j][k][r];
        }
    }
    const double C[2] = {size, J - 1 - t->mu / t->lambda}, stiffness[2] = {t->mu, t->lambda};
    for (int i = 0; i < 2; i++) {
        double c = 1 / (stiffness[i] * t->volume * u->k * u->k);
        A[i][i] += c;
        b[i] = -(C[i] + c * *lambda[i]);
    }
    double det = A[0][0] * A[1][1] - A[0][1] * A[1][0];
    change[0] = (A[1][1] * b[0] - A[0][1] * b[1]) / det;
    change[1] = (A[0][0] * b[1] - A[1][0] * b[0]) / det;
    for (int i = 0; i < 2; i++) {
        *lambda[i] += change[i];
        for (int k = 0; k < 4; k++)
            for (int r = 0; t->coordinate[k] >= 0 && r < 3; r++)
                u->q[t->coordinate[k] + r] += change[i] / t->mass[k] * slope[i][k][r];
    }
    return true;
}

static bool move_tets(Substep *u)
{
    BrioTet tet;
    for (int64_t i = 0; brio_stepper_tet(u->s, i, &tet); i++)
        if (!move_tet(u, &tet)) return false;
    return true;
}

static bool move_hands(Substep *u)
{
    BrioPull pull;
    for (int i = 0; brio_stepper_pull(u->s, i, &pull); i++) {
        double w = 0;
        for (int e = 0; e < pull.count; e++) w += pull.weight[e] * pull.weight[e] / pull.mass[e];
        for (int r = 0; r < 3; r++) {
            double *lambda = next_lambda(u), C = -pull.point[r];
            if (!lambda) return false;
            for (int e = 0; e < pull.count; e++) C += pull.weight[e] * u->q[pull.coordinate[e] + r];
            double change = multiplier(u, C, w, pull.stiffness, *lambda);
            *lambda += change;
            for (int e = 0; e < pull.count; e++)
                u->q[pull.coordinate[e] + r] += pull.weight[e] / pull.mass[e] * change;
        }
    }
    return true;
}

static bool move_planes(Substep *u)
{
    BrioPlane plane;
    for (int i = 0; brio_stepper_plane(u->s, i, &plane); i++)
        for (int64_t e = 0; e < plane.count; e++) {
            double mass, *lambda = next_lambda(u), C = -plane.gap;
            int64_t at = brio_stepper_plane_mass(u->s, i, e, &mass);
            if (!lambda) return false;
            if (at < 0) continue;
            for (int r = 0; r < 3; r++) C += plane.normal[r] * (u->q[at + r] - plane.point[r]);
            double change = multiplier(u, C, 1 / mass, plane.stiffness, *lambda);
            change = fmax(change, -*lambda);
            *lambda += change;
            for (int r = 0; r < 3; r++) u->q[at + r] += change / mass * plane.normal[r];
        }
    return true;
}

/* From (Q, V) at a time to the end of the substep. */
static BrioStatus advance(BrioStepper *s, double k, double time, double share, int iterations)
{
    double *q = brio_stepper_scratch(s, Q), *v = brio_stepper_scratch(s, V), g[3];
    double *next = brio_stepper_scratch(s, NEXT), *push = brio_stepper_scratch(s, PUSH);
    int64_t n = brio_stepper_coordinates(s);
    brio_stepper_damping_force(s, q, v, k, share, push);
    brio_stepper_mass_solve(s, push, push);
    brio_stepper_gravity(s, g);
    for (int64_t i = 0; i < n; i++) push[i] += g[i % 3];
    brio_stepper_combine(s, 1, q, k, v, next);
    brio_stepper_combine(s, 1, next, k * k, push, next);
    /* fixed vertices where they are going */
    Substep u = {s, k, next, brio_stepper_positions(s, q, time + k), 0, true};
    for (int i = 0; i < iterations; i++) {
        if (brio_stepper_stopped(s, i)) return BRIO_STOPPED;
        u.slot = 0;
        u.first = i == 0;
        if (!move_springs(&u) || !move_tets(&u) || !move_hands(&u) || !move_planes(&u))
            return brio_stepper_fail(s, BRIO_ERROR_UNSUPPORTED,
                                     "xpbd has room for 36 constraints per coordinate of a vertex, "
                                     "and there are more; use another integrator");
    }
    brio_stepper_combine(s, 1 / k, next, -1 / k, q, v);
    brio_stepper_combine(s, 1, next, 0, next, q);
    return BRIO_OK;
}

static BrioStatus step(BrioStepper *s, double h)
{
    double *q = brio_stepper_scratch(s, Q), *v = brio_stepper_scratch(s, V);
    int substeps = (int)brio_stepper_value(s, "substeps");
    int iterations = (int)brio_stepper_value(s, "iterations");
    brio_stepper_combine(s, 1, brio_stepper_q(s), 0, brio_stepper_q(s), q);
    brio_stepper_combine(s, 1, brio_stepper_v(s), 0, brio_stepper_v(s), v);
    for (int i = 0; i < substeps; i++) {
        double time = brio_stepper_time(s) + i * h / substeps;
        BRIO_CHECK(advance(s, h / substeps, time, 1.0 / substeps, iterations));
    }
    brio_stepper_count_iterations(s, substeps * iterations);
    return brio_stepper_accept(s, h, q, v);
}

BRIO_INTEGRATOR(xpbd){
    .name = "xpbd",
    .summary = "Position-based with compliance, in substeps: an approximate backward Euler without "
               "matrices. Springs, and solids of stable-neo-hookean.",
    .citation = "Macklin2016",
    .traits = BRIO_IMPLICIT | BRIO_SPRINGS_ONLY | BRIO_TAKES_TETS,
    .fields = fields,
    .step = step,
};
