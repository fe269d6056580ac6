/* Rigid motions of components (rigid.h). With the centre of mass c,
 *
 *     v_i = P/m + w x r_i,    r_i = x_i - c,    I w = S,    I = sum m_i (|r_i|^2 - r_i r_i^T),
 *
 * is the rigid motion with the momenta P and S (about c). */
#include "rigid.h"

#include <string.h>

/* What is known of a component: sums of the first pass over blocks and of the second, which then
 * make room for P/m and w. */
enum {
    MASS = 0,
    CENTRE = 1, /* at the pose of each impulse, and at q */
    LINEAR = CENTRE + 3 * (BRIO_IMPULSES + 1),
    ANGULAR = LINEAR + 3,
    INERTIA = ANGULAR + 3, /* row by row */
    ROW = INERTIA + 9
};

void brio__rigid_free(BrioRigid *r)
{
    if (!r) return;
    brio__free(r->row);
    brio__free(r->isolated);
    brio__free(r);
}

BrioStatus brio__rigid_create(const BrioComponents *components, BrioRigid **rigid)
{
    BrioRigid *r = brio__calloc(1, sizeof *r);
    if (!r) return BRIO_ERROR_MEMORY;
    r->components = components;
    r->row = brio__alloc(ROW * (size_t)components->count + 1, sizeof *r->row);
    r->isolated = brio__alloc((size_t)components->count + 1, sizeof *r->isolated);
    if (!r->row || !r->isolated) {
        brio__rigid_free(r);
        return BRIO_ERROR_MEMORY;
    }
    *rigid = r;
    return BRIO_OK;
}

/* C = cofactors of A; returns its determinant. */
static double cofactors(double A[3][3], double C[3][3])
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            int p = (r + 1) % 3, q = (r + 2) % 3, a = (c + 1) % 3, b = (c + 2) % 3;
            C[r][c] = A[p][a] * A[q][b] - A[p][b] * A[q][a];
        }
    return A[0][0] * C[0][0] + A[0][1] * C[0][1] + A[0][2] * C[0][2];
}

/* The inertia of a body on a line is singular along it, where L is zero: cofactors of a symmetric
 * matrix of rank two are a multiple of n n^T with n its null vector, which fills that direction. */
void brio__solve_inertia(double I[3][3], const double L[3], double w[3])
{
    double C[3][3];
    double trace = I[0][0] + I[1][1] + I[2][2];
    double det = cofactors(I, C);
    double size = C[0][0] + C[1][1] + C[2][2];
    for (int r = 0; r < 3; r++) w[r] = 0;
    if (!(size > 1e-24 * trace * trace)) return; /* a point */
    if (!(det > 1e-12 * trace * trace * trace)) {
        for (int k = 0; k < 9; k++) I[k / 3][k % 3] += trace * C[k / 3][k % 3] / size;
        det = cofactors(I, C);
    }
    for (int k = 0; k < 9; k++) w[k / 3] += C[k % 3][k / 3] * L[k % 3] / det;
}

/* ---- motions ---------------------------------------------------------------------------- */

static double *row_of(const BrioRigid *r, int64_t block)
{
    return r->row + ROW * (int64_t)r->components->component[block];
}

static void clear(const BrioRigid *r)
{
    memset(r->row, 0, ROW * (size_t)r->components->count * sizeof *r->row);
}

/* Rows [begin, end) of all components over processes. */
static void join(const BrioRigid *r, int begin, int end)
{
    BrioPartition *partition = r->components->system->partition;
    for (int32_t p = 0; partition && p < r->components->count; p++)
        brio__partition_sum(partition, r->row + ROW * (int64_t)p + begin, end - begin);
}

static void cross(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* Masses, and centres of mass at every pose. */
static void find_centres(const BrioRigid *r, const double *const *pose, int poses)
{
    const BrioComponents *f = r->components;
    for (int32_t b = 0; b < brio__owned(f->system); b++) {
        double *row = row_of(r, b), mass = f->system->mass[b];
        row[MASS] += mass;
        for (int k = 0; k < 3 * poses; k++)
            row[CENTRE + k] += mass * pose[k / 3][3 * (int64_t)b + k % 3];
    }
    join(r, MASS, LINEAR);
    for (int32_t p = 0; p < f->count; p++) {
        double *row = r->row + ROW * (int64_t)p;
        for (int k = 0; k < 3 * poses && row[MASS] > 0; k++) row[CENTRE + k] /= row[MASS];
    }
}

/* From the centre of mass of its component to a block, at pose k. */
static void arm(const double *row, const double *const *pose, int k, int64_t block, double d[3])
{
    for (int c = 0; c < 3; c++) d[c] = pose[k][3 * block + c] - row[CENTRE + 3 * k + c];
}

/* Momenta of the impulses, and the inertia at the last pose. */
static void add_momenta(const BrioRigid *r, const double *const *pose, const BrioImpulse *impulse,
                        int count)
{
    const BrioComponents *f = r->components;
    for (int32_t b = 0; b < brio__owned(f->system); b++) {
        double *row = row_of(r, b), d[3], moment[3];
        for (int k = 0; k < count; k++) {
            const double *p = impulse[k].p + 3 * (int64_t)b;
            arm(row, pose, k, b, d);
            cross(d, p, moment);
            for (int c = 0; c < 3; c++) {
                row[LINEAR + c] += impulse[k].scale * p[c];
                row[ANGULAR + c] += impulse[k].scale * moment[c];
            }
        }
        arm(row, pose, count, b, d);
        double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], mass = f->system->mass[b];
        for (int k = 0; k < 9; k++)
            row[INERTIA + k] += mass * ((k / 3 == k % 3 ? square : 0) - d[k / 3] * d[k % 3]);
    }
    join(r, LINEAR, ROW);
}

/* Replaces its momenta by the velocity of a component's centre and its angular velocity; `all`:
 * also for components that are not free. */
static void solve_component(const BrioRigid *r, int32_t component, bool all)
{
    double *row = r->row + ROW * (int64_t)component, *u = row + LINEAR, *w = row + ANGULAR;
    double I[3][3], S[3] = {w[0], w[1], w[2]};
    bool none = (r->components->fixed[component] && !all) || !(row[MASS] > 0);
    for (int c = 0; c < 3; c++) u[c] = none ? 0 : u[c] / row[MASS];
    for (int c = 0; c < 3; c++) w[c] = 0;
    if (none) return;
    memcpy(I, row + INERTIA, sizeof I);
    brio__solve_inertia(I, S, w);
}

void brio__rigid_motion(const BrioRigid *r, const double *q, const BrioImpulse *impulse, int count,
                        double *v, double *a)
{
    const BrioComponents *f = r->components;
    const double *pose[BRIO_IMPULSES + 1];
    count = BRIO_MIN(count, BRIO_IMPULSES);
    for (int k = 0; k < count; k++) pose[k] = impulse[k].q;
    pose[count] = q;
    clear(r);
    find_centres(r, pose, count + 1);
    add_momenta(r, pose, impulse, count);
    for (int32_t p = 0; p < f->count; p++) solve_component(r, p, false);
    for (int64_t b = 0; b < f->system->block_count; b++) {
        const double *row = row_of(r, b), *w = row + ANGULAR;
        double d[3], turn[3];
        arm(row, pose, count, b, d);
        cross(w, d, turn);
        for (int c = 0; c < 3; c++) v[3 * b + c] = row[LINEAR + c] + turn[c];
        if (a) cross(w, turn, a + 3 * b);
    }
}

/* y = R x, R the rotation by the vector t (its length is the angle) [Rodrigues]. */
static void rotate(const double t[3], const double x[3], double y[3])
{
    double once[3], twice[3], angle = sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]);
    double sine = angle > 1e-9 ? sin(angle) / angle : 1;
    double half = angle > 1e-9 ? sin(angle / 2) / (angle / 2) : 1;
    cross(t, x, once);
    cross(t, once, twice);
    for (int c = 0; c < 3; c++) y[c] = x[c] + sine * once[c] + half * half / 2 * twice[c];
}

void brio__rigid_way(const BrioRigid *r, const double *q, const double *p, double time, double *way)
{
    const BrioComponents *f = r->components;
    const double *const pose[2] = {q, q};
    clear(r);
    find_centres(r, pose, 2);
    add_momenta(r, pose, &(BrioImpulse){q, p, 1}, 1);
    for (int32_t k = 0; k < f->count; k++) {
        double *row = r->row + ROW * (int64_t)k, *w = row + ANGULAR, S[3] = {w[0], w[1], w[2]};
        double I[3][3], torque[3], change[3];
        solve_component(r, k, false);
        cross(S, w, torque);
        memcpy(I, row + INERTIA, sizeof I);
        brio__solve_inertia(I, torque, change);
        /* half way, and as an angle */
        for (int c = 0; c < 3 && !f->fixed[k]; c++) w[c] = time * (w[c] + time / 2 * change[c]);
    }
    for (int64_t b = 0; b < f->system->block_count; b++) {
        const double *row = row_of(r, b);
        double d[3], turned[3];
        arm(row, pose, 0, b, d);
        rotate(row + ANGULAR, d, turned);
        for (int c = 0; c < 3; c++) way[3 * b + c] = time * row[LINEAR + c] + turned[c] - d[c];
    }
}

/* In place of the velocity u of the centre: by how much a rotation about the axis of the screw (u,
 * w) takes it off its straight way. */
static void curve(const double w[3], double u[3])
{
    double once[3], twice[3], square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    double angle = sqrt(square);
    double first = angle > 1e-3 ? (1 - cos(angle)) / square : 0.5;
    double second = angle > 1e-3 ? (1 - sin(angle) / angle) / square : 1. / 6;
    cross(w, u, once);
    cross(w, once, twice);
    for (int c = 0; c < 3; c++) u[c] = first * once[c] + second * twice[c];
}

void brio__rigid_bend(const BrioRigid *r, const double *q, const double *step, double t,
                      double *way)
{
    const BrioComponents *f = r->components;
    const double *const pose[2] = {q, q};
    for (int64_t b = 0; b < f->system->block_count; b++)
        for (int c = 0; c < 3; c++) way[3 * b + c] = f->system->mass[b] * step[3 * b + c];
    clear(r);
    find_centres(r, pose, 2);
    add_momenta(r, pose, &(BrioImpulse){q, way, 1}, 1);
    for (int32_t p = 0; p < f->count; p++) {
        double *u = r->row + ROW * (int64_t)p + LINEAR, *w = r->row + ROW * (int64_t)p + ANGULAR;
        solve_component(r, p, true);
        for (int c = 0; c < 3; c++) {
            u[c] = f->fixed[p] ? t * u[c] : 0;
            w[c] *= t;
        }
        if (f->fixed[p]) curve(w, u);
    }
    for (int64_t b = 0; b < f->system->block_count; b++) {
        const double *row = row_of(r, b), *u = row + LINEAR, *w = row + ANGULAR;
        double d[3], turned[3], straight[3];
        arm(row, pose, 0, b, d);
        rotate(w, d, turned);
        cross(w, d, straight);
        for (int c = 0; c < 3; c++)
            way[3 * b + c] = t * step[3 * b + c] + u[c] + (turned[c] - d[c] - straight[c]);
    }
    brio__system_mask(f->system, way);
}

/* Internal forces of a component and their torques add up to round-off: at most this fraction of
 * all of them. */
static const double nothing = 1e-9;

/* Forces and torques of one gradient without weight, and the sums of their sizes. */
static void add_outside(const BrioRigid *r, const double *weight, const BrioImpulse *gradient)
{
    const BrioComponents *f = r->components;
    const double *const pose[1] = {gradient->q};
    clear(r);
    find_centres(r, pose, 1);
    for (int32_t b = 0; b < brio__owned(f->system); b++) {
        double *row = row_of(r, b), d[3], force[3], torque[3];
        arm(row, pose, 0, b, d);
        for (int c = 0; c < 3; c++)
            force[c] = gradient->p[3 * (int64_t)b + c] - weight[3 * (int64_t)b + c];
        cross(d, force, torque);
        double size = fabs(force[0]) + fabs(force[1]) + fabs(force[2]);
        for (int c = 0; c < 3; c++) {
            row[LINEAR + c] += force[c];
            row[ANGULAR + c] += torque[c];
        }
        row[INERTIA] += size;
        row[INERTIA + 1] += size * (fabs(d[0]) + fabs(d[1]) + fabs(d[2]));
    }
    join(r, LINEAR, ROW);
}

void brio__rigid_isolated(const BrioRigid *r, const double *weight, const BrioImpulse *gradient,
                          int count, const double *from, double *to)
{
    const BrioComponents *f = r->components;
    for (int32_t p = 0; p < f->count; p++) r->isolated[p] = !f->fixed[p];
    for (int k = 0; k < count; k++) {
        add_outside(r, weight, &gradient[k]);
        for (int32_t p = 0; p < f->count; p++) {
            const double *row = r->row + ROW * (int64_t)p;
            for (int c = 0; c < 3; c++)
                r->isolated[p] &= fabs(row[LINEAR + c]) <= nothing * row[INERTIA] &&
                                  fabs(row[ANGULAR + c]) <= nothing * row[INERTIA + 1];
        }
    }
    for (int64_t b = 0; b < f->system->block_count; b++)
        for (int c = 0; c < 3 && r->isolated[f->component[b]]; c++) to[3 * b + c] = from[3 * b + c];
}
