/* Scripts: where points without coordinates are at a time, b(t), and how fast (brio/motion.h).
 *
 * Of a point that starts at X:
 *
 *     Y = X + shift of the sequence + f(t, X),
 *     Z = c + R S (Y - c) + T,      Z' = [w] R S (Y - c) + R S' (Y - c) + R S Y' + T',
 *
 * c = `about`, by the poses: between two of them T and S are linear, and R = exp(p [a]) R_k turns
 * about the axis a at a constant rate, w = a/(t_{k+1} - t_k). Then the whole turns and goes with
 * constant velocities, and is shifted by keys.
 *
 * With cubic interpolation R = exp([f]) R_k, where the rotation vector f(t) is a cubic from 0 to a.
 * Its rate is f' = w at the first pose and J(a)^-1 w at the second, w the angular velocity that the
 * two spans of a pose give it, and w = J(f) f' in between: it is continuous. J is the left Jacobian
 * of the rotations, J(f) = 1 + (1 - cos t)/t^2 [f] + (t - sin t)/t^3 [f]^2, t = |f|. */
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

/* q = exp of a rotation vector times a, as quaternions. */
static void turned_by(const double e[4], const double a[4], double q[4])
{
    q[0] = e[0] * a[0] - e[1] * a[1] - e[2] * a[2] - e[3] * a[3];
    for (int r = 0; r < 3; r++) {
        int i = 1 + (r + 1) % 3, j = 1 + (r + 2) % 3;
        q[1 + r] = e[0] * a[1 + r] + a[0] * e[1 + r] + (e[i] * a[j] - e[j] * a[i]);
    }
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
    turned_by(e, a, q);
    for (int r = 0; r < 3; r++) way[r] = size > 0 ? 2 * half * sign * d[1 + r] / size : 0;
}

/* y + one f x y + two f x (f x y). */
static void series(const double f[3], double one, double two, double y[3])
{
    double a[3], b[3];
    brio__cross3(f, y, a);
    brio__cross3(f, a, b);
    for (int r = 0; r < 3; r++) y[r] += one * a[r] + two * b[r];
}

/* y = J(f) y of the head of this file, and y = J(f)^-1 y. Below 1e-2 the next term of the series
 * is beyond the last digit. */
static void jacobian(const double f[3], double y[3])
{
    double t2 = brio__dot3(f, f), t = sqrt(t2);
    bool small = t < 1e-2;
    double one = small ? 0.5 - t2 / 24 * (1 - t2 / 30) : (1 - cos(t)) / t2;
    double two = small ? 1.0 / 6 - t2 / 120 * (1 - t2 / 42) : (t - sin(t)) / (t2 * t);
    series(f, one, two, y);
}

static void inverse_jacobian(const double f[3], double y[3])
{
    double t2 = brio__dot3(f, f), half = sqrt(t2) / 2;
    bool small = half < 5e-3;
    series(f, -0.5,
           small ? 1.0 / 12 + t2 / 720 * (1 + t2 / 42) : (1 - half * cos(half) / sin(half)) / t2,
           y);
}

/* The rotation of a cubic: its quaternion and its angular velocity. */
static void curved_turn(const BrioScript *script, const BrioFramePlace *at, double q[4],
                        double w[3])
{
    const double *rows = script->poses + 4, *a = rows + BRIO_POSE_NUMBERS * at->frame;
    double none[4], before[3], way[3], after[3], slope[2][3], f[3], e[4];
    turn(rows + BRIO_POSE_NUMBERS * at->before, a, 0, none, before);
    turn(a, rows + BRIO_POSE_NUMBERS * at->next, 0, none, way);
    turn(rows + BRIO_POSE_NUMBERS * at->next, rows + BRIO_POSE_NUMBERS * at->after, 0, none, after);
    for (int r = 0; r < 3; r++) {
        double here = way[r] * at->rate;
        double first = at->length_before > 0 ? before[r] / at->length_before : 0;
        double last = at->length_after > 0 ? after[r] / at->length_after : 0;
        slope[0][r] =
            brio__curve_slope(script->interpolation, first, at->length_before, here, at->length);
        slope[1][r] =
            brio__curve_slope(script->interpolation, here, at->length, last, at->length_after);
    }
    inverse_jacobian(way, slope[1]);
    for (int r = 0; r < 3; r++)
        f[r] = brio__hermite(at, 0, way[r], (double[]){slope[0][r], slope[1][r]}, &w[r]);
    double half = brio__norm3(f) / 2, s = half > 0 ? sin(half) / (2 * half) : 0.5;
    e[0] = cos(half);
    for (int r = 0; r < 3; r++) e[1 + r] = s * f[r];
    turned_by(e, a, q);
    jacobian(f, w);
}

/* Number `column` of the poses at a place. */
static double pose_number(const BrioScript *script, BrioInterpolation by, const BrioFramePlace *at,
                          int column, double *rate)
{
    const double *of = script->poses + column;
    double value[4] = {of[BRIO_POSE_NUMBERS * at->before], of[BRIO_POSE_NUMBERS * at->frame],
                       of[BRIO_POSE_NUMBERS * at->next], of[BRIO_POSE_NUMBERS * at->after]};
    return brio__between(at, by, value, rate);
}

static Pose pose_at(const BrioScript *script, double time)
{
    const double *rows = script->poses;
    BrioInterpolation by = script->interpolation;
    bool curved = by != BRIO_INTERPOLATION_LINEAR;
    BrioFramePlace at = brio__frame_place(rows, BRIO_POSE_NUMBERS, script->pose_count, time);
    double q[4], w[3], R[9], scale[3], scale_rate[3];
    Pose pose;
    if (curved && at.length > 0) {
        curved_turn(script, &at, q, w);
    } else {
        turn(rows + BRIO_POSE_NUMBERS * at.frame + 4, rows + BRIO_POSE_NUMBERS * at.next + 4,
             at.part, q, w);
        for (int r = 0; r < 3; r++) w[r] *= at.rate;
    }
    rotation(q, R);
    for (int r = 0; r < 3; r++) {
        pose.shift[r] = pose_number(script, by, &at, 1 + r, &pose.shift_rate[r]);
        /* a scale must stay positive */
        scale[r] = pose_number(script, curved ? BRIO_INTERPOLATION_MONOTONE : by, &at, 8 + r,
                               &scale_rate[r]);
    }
    for (int k = 0; k < 9; k++) pose.A[k] = R[k] * scale[k % 3];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            int i = (r + 1) % 3, j = (r + 2) % 3;
            pose.rate[3 * r + c] =
                w[i] * pose.A[3 * j + c] - w[j] * pose.A[3 * i + c] + R[3 * r + c] * scale_rate[c];
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
    for (int r = 0; r < 3; r++) shift[r] = rate[r] = 0;
    if (script->key_count == 0) return;
    BrioFramePlace at = brio__frame_place(keys, 4, script->key_count, time);
    for (int r = 0; r < 3; r++) {
        const double *of = keys + 1 + r;
        double value[4] = {of[4 * at.before], of[4 * at.frame], of[4 * at.next], of[4 * at.after]};
        shift[r] = brio__between(&at, script->interpolation, value, &rate[r]);
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
    if (set->shift) at.place = brio__frame_place(set->frame_time, 1, set->frame_count, time);
    if (set->script.pose_count) at.pose = pose_at(&set->script, time);
    return at;
}

static void add_frames(const Instant *at, int32_t row, double x[3], double v[3])
{
    const BrioScripted *set = at->set;
    const BrioFramePlace *place = &at->place;
    const int64_t frame[4] = {place->before, place->frame, place->next, place->after};
    for (int r = 0; r < 3; r++) {
        double value[4];
        for (int k = 0; k < 4; k++)
            value[k] = set->shift[3 * (frame[k] * set->row_count + row) + r];
        x[r] += brio__between(place, set->script.interpolation, value, &v[r]);
    }
}

/* By a central difference; from one side where the formula has no value on the other, before the
 * start or after the end. */
static double formula_rate(const BrioFormula *f, const double X[3], double time,
                           const BrioScript *script)
{
    double low = time - FORMULA_TIME, high = time + FORMULA_TIME;
    double change = brio__formula_value(f, X, high) - brio__formula_value(f, X, low);
    if (isfinite(change)) return change / (2 * FORMULA_TIME);
    low = fmax(low, script->start);
    high = fmin(high, script->end);
    return (brio__formula_value(f, X, high) - brio__formula_value(f, X, low)) / (high - low);
}

static void add_formula(const Instant *at, const double X[3], double x[3], double v[3])
{
    const BrioScript *script = &at->set->script;
    double time = fmin(fmax(at->time, script->start), script->end);
    bool moves = at->time >= script->start && at->time < script->end;
    for (int r = 0; r < 3; r++) {
        const BrioFormula *f = &at->set->formula[r];
        x[r] += brio__formula_value(f, X, time);
        if (v && moves && f->uses & BRIO_FORMULA_TIME) v[r] += formula_rate(f, X, time, script);
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
    if (set->shift) add_frames(at, set->row[k], y, w);
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
