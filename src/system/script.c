/* Scripts: where points without coordinates are at a time, b(t), and how fast (brio/motion.h).
 *
 * Of a point that starts at X:
 *
 *     Y = X + shift of the sequence + f(t, X),
 *     Z = c + R S (Y - c) + T,      Z' = [w] R S (Y - c) + R S' (Y - c) + R S Y' + T',
 *
 * c = `about`, by the poses: between two of them T and S are linear, and R = exp(p [a]) R_k turns
 * about the axis a at a constant rate, w = a/(t_{k+1} - t_k). Then the whole turns and goes with
 * constant velocities, and is shifted by keys. */
#include "system.h"

#include "../mesh/sequence.h"
#include "../vec.h"

#include <string.h>

/* s: of the difference that gives the rate of a formula. */
#define FORMULA_TIME 1e-5

void brio__scripted_free(BrioScripted *set)
{
    brio__free((void *)set->script.keys);
    brio__free((void *)set->script.poses);
    brio__free(set->fixed);
    brio__free(set->frame_time);
    brio__free(set->shift);
    brio__free(set->row);
    brio__free(set->formula);
}

bool brio__follows_data(const BrioSystem *system)
{
    bool any = false;
    for (int i = 0; i < system->scripted_count; i++) {
        const BrioScripted *set = &system->scripted[i];
        any |= set->shift || set->formula || set->script.pose_count;
    }
    return any;
}

/* ---- poses ------------------------------------------------------------------------------ */

/* A = R S, its rate, and the shift with its rate. */
typedef struct Pose {
    double A[9], rate[9], shift[3], shift_rate[3];
} Pose;

/* The matrix of a quaternion w x y z of any length. */
static void rotation(const double q[4], double R[9])
{
    double n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], f = 2 / n;
    double w = q[0], x = q[1], y = q[2], z = q[3];
    R[0] = 1 - f * (y * y + z * z), R[1] = f * (x * y - w * z), R[2] = f * (x * z + w * y);
    R[3] = f * (x * y + w * z), R[4] = 1 - f * (x * x + z * z), R[5] = f * (y * z - w * x);
    R[6] = f * (x * z - w * y), R[7] = f * (y * z + w * x), R[8] = 1 - f * (x * x + y * y);
}

/* The quaternion a part of the way from a to b, and the turning from one to the other as a
 * vector. */
static void turn(const double a[4], const double b[4], double part, double q[4], double way[3])
{
    /* d = b a^-1, the shorter way */
    double d[4] = {a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]};
    for (int r = 0; r < 3; r++) {
        int i = 1 + (r + 1) % 3, j = 1 + (r + 2) % 3;
        d[1 + r] = a[0] * b[1 + r] - b[0] * a[1 + r] - (b[i] * a[j] - b[j] * a[i]);
    }
    double sign = d[0] < 0 ? -1 : 1, size = brio__norm3(d + 1);
    double half = atan2(size, sign * d[0]); /* half of the angle */
    double c = cos(part * half), s = size > 0 ? sign * sin(part * half) / size : 0;
    double e[4] = {c, s * d[1], s * d[2], s * d[3]};
    q[0] = e[0] * a[0] - e[1] * a[1] - e[2] * a[2] - e[3] * a[3];
    for (int r = 0; r < 3; r++) {
        int i = 1 + (r + 1) % 3, j = 1 + (r + 2) % 3;
        q[1 + r] = e[0] * a[1 + r] + a[0] * e[1 + r] + (e[i] * a[j] - e[j] * a[i]);
        way[r] = size > 0 ? 2 * half * sign * d[1 + r] / size : 0;
    }
}

static Pose pose_at(const BrioScript *script, double time)
{
    const double *rows = script->poses;
    Pose pose;
    int64_t n = script->pose_count, k = 0;
    while (k < n && rows[BRIO_POSE_NUMBERS * k] <= time) k++;
    const double *a = rows + BRIO_POSE_NUMBERS * BRIO_MAX(k - 1, 0);
    const double *b = rows + BRIO_POSE_NUMBERS * BRIO_MIN(k, n - 1);
    double length = b[0] - a[0], part = length > 0 ? (time - a[0]) / length : 0;
    double rate = length > 0 ? 1 / length : 0, q[4], way[3], R[9];
    turn(a + 4, b + 4, part, q, way);
    rotation(q, R);
    for (int r = 0; r < 3; r++) {
        pose.shift[r] = a[1 + r] + part * (b[1 + r] - a[1 + r]);
        pose.shift_rate[r] = rate * (b[1 + r] - a[1 + r]);
        for (int c = 0; c < 3; c++)
            pose.A[3 * r + c] = R[3 * r + c] * (a[8 + c] + part * (b[8 + c] - a[8 + c]));
    }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            int i = (r + 1) % 3, j = (r + 2) % 3;
            pose.rate[3 * r + c] = rate * (way[i] * pose.A[3 * j + c] - way[j] * pose.A[3 * i + c] +
                                           R[3 * r + c] * (b[8 + c] - a[8 + c]));
        }
    return pose;
}

static void apply_pose(const Pose *pose, const double about[3], double x[3], double v[3])
{
    double d[3], w[3];
    brio__subtract3(x, about, d);
    memcpy(w, v, sizeof w);
    for (int r = 0; r < 3; r++) {
        x[r] = about[r] + brio__dot3(pose->A + 3 * r, d) + pose->shift[r];
        v[r] = brio__dot3(pose->rate + 3 * r, d) + brio__dot3(pose->A + 3 * r, w) +
               pose->shift_rate[r];
    }
}

/* ---- turns and shifts ------------------------------------------------------------------- */

static void script_shift(const BrioScript *script, double time, double shift[3], double rate[3])
{
    const double *keys = script->keys;
    int64_t n = script->key_count, k = 0;
    for (int r = 0; r < 3; r++) shift[r] = rate[r] = 0;
    if (n == 0) return;
    while (k < n && keys[4 * k] <= time) k++;
    const double *a = keys + 4 * BRIO_MAX(k - 1, 0), *b = keys + 4 * BRIO_MIN(k, n - 1);
    double length = b[0] - a[0], part = length > 0 ? (time - a[0]) / length : 0;
    for (int r = 0; r < 3; r++) {
        shift[r] = a[1 + r] + part * (b[1 + r] - a[1 + r]);
        if (length > 0) rate[r] = (b[1 + r] - a[1 + r]) / length;
    }
}

/* Where a point that starts at X is at a time: Rodrigues' rotation, then shifts; and its velocity v
 * from then on. */
static void script_move(const BrioScript *script, double time, const double *X, double *x,
                        double *v)
{
    double elapsed = fmin(fmax(time, script->start), script->end) - script->start;
    const double *w = script->angular;
    double rate = brio__norm3(w), shift[3], shift_rate[3];
    bool moves = time >= script->start && time < script->end;
    double d[3], y[3];
    for (int r = 0; r < 3; r++) y[r] = d[r] = X[r] - script->about[r];
    if (rate > 0) {
        double n[3] = {w[0] / rate, w[1] / rate, w[2] / rate};
        double c = cos(rate * elapsed);
        double s = sin(rate * elapsed);
        double along = brio__dot3(n, d);
        for (int r = 0; r < 3; r++) {
            int p = (r + 1) % 3, q = (r + 2) % 3;
            y[r] = c * d[r] + s * (n[p] * d[q] - n[q] * d[p]) + (1 - c) * along * n[r];
        }
    }
    script_shift(script, time, shift, shift_rate);
    for (int r = 0; r < 3; r++) {
        int p = (r + 1) % 3, q = (r + 2) % 3;
        x[r] = script->about[r] + y[r] + script->velocity[r] * elapsed + shift[r];
        v[r] = shift_rate[r] + (moves ? script->velocity[r] + w[p] * y[q] - w[q] * y[p] : 0);
    }
}

/* ---- all of it -------------------------------------------------------------------------- */

/* A script at a time: what its points share. */
typedef struct Instant {
    const BrioScripted *set;
    double time;
    BrioFramePlace place;
    Pose pose;
} Instant;

static Instant instant(const BrioScripted *set, double time)
{
    Instant at = {.set = set, .time = time};
    if (set->shift) at.place = brio__frame_place(set->frame_time, set->frame_count, time);
    if (set->script.pose_count) at.pose = pose_at(&set->script, time);
    return at;
}

static void add_formula(const Instant *at, const double X[3], double x[3], double v[3])
{
    const BrioScript *script = &at->set->script;
    double time = fmin(fmax(at->time, script->start), script->end);
    bool moves = at->time >= script->start && at->time < script->end;
    for (int r = 0; r < 3; r++) {
        const BrioFormula *f = &at->set->formula[r];
        x[r] += brio__formula_value(f, X, time);
        if (v && moves && f->uses & BRIO_FORMULA_TIME)
            v[r] += (brio__formula_value(f, X, time + FORMULA_TIME) -
                     brio__formula_value(f, X, time - FORMULA_TIME)) /
                    (2 * FORMULA_TIME);
    }
}

/* A vertex of an obstacle that the program moves: number k of its set, with the anchor X. A time
 * that misses t1 by rounding is t1. */
static void driven_move(const double *param, int64_t k, double time, const double *X, double *x,
                        double *v)
{
    double length = param[1] - param[0], left = param[1] - time;
    const double *shift = param + 2 + 3 * k;
    bool ended = !(left > 1e-9 * length), moves = !ended && time >= param[0];
    double part = ended ? 1 : moves ? (time - param[0]) / length : 0;
    for (int r = 0; r < 3; r++) {
        x[r] = X[r] + part * shift[r];
        if (v) v[r] = moves ? shift[r] / length : 0;
    }
}

/* Where vertex k of the set is, which starts at X, and, if wanted, its velocity. */
static void move(const Instant *at, const BrioState *state, int64_t k, double *x, double *v)
{
    const BrioScripted *set = at->set;
    const double *X = state->anchor + 3 * (int64_t)set->fixed[k];
    double none[3];
    if (set->driven) {
        driven_move(state->param + set->driven, k, at->time, X, x, v);
        return;
    }
    if (!set->shift && !set->formula && !set->script.pose_count) {
        script_move(&set->script, at->time, X, x, v ? v : none);
        return;
    }
    double y[3] = {X[0], X[1], X[2]}, w[3] = {0, 0, 0}, turned[3], rest[3];
    if (set->shift) {
        const double *a = set->shift + 3 * (at->place.frame * set->row_count + set->row[k]);
        const double *b = set->shift + 3 * (at->place.next * set->row_count + set->row[k]);
        for (int r = 0; r < 3; r++) {
            y[r] += a[r] + at->place.part * (b[r] - a[r]);
            w[r] = at->place.rate * (b[r] - a[r]);
        }
    }
    if (set->formula) add_formula(at, X, y, v ? w : NULL);
    if (set->script.pose_count) apply_pose(&at->pose, set->script.about, y, w);
    script_move(&set->script, at->time, y, x, v ? v : none);
    if (!v) return;
    /* the script is affine in y: what it makes of w is a difference */
    for (int r = 0; r < 3; r++) rest[r] = set->script.about[r] + w[r];
    script_move(&set->script, at->time, rest, turned, none);
    script_move(&set->script, at->time, set->script.about, rest, none);
    for (int r = 0; r < 3; r++) v[r] += turned[r] - rest[r];
}

void brio__system_fixed(const BrioSystem *system, const BrioState *state, double time, double *x)
{
    for (int64_t i = 0; i < system->fixed_count; i++)
        for (int r = 0; r < 3; r++) x[3 * (int64_t)system->fixed[i] + r] = state->anchor[3 * i + r];
    for (int s = 0; s < system->scripted_count; s++) {
        const BrioScripted *set = &system->scripted[s];
        Instant at = instant(set, time);
        for (int64_t k = 0; k < set->count; k++) {
            move(&at, state, k, x + 3 * (int64_t)system->fixed[set->fixed[k]], NULL);
        }
    }
}

void brio__scripts_velocities(const BrioSystem *system, const BrioState *state, double time,
                              double *w)
{
    for (int s = 0; s < system->scripted_count; s++) {
        const BrioScripted *set = &system->scripted[s];
        Instant at = instant(set, time);
        for (int64_t k = 0; k < set->count; k++) {
            double x[3];
            move(&at, state, k, x, w + 3 * (int64_t)system->fixed[set->fixed[k]]);
        }
    }
}
