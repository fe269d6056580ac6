/* The camera of a stage: it sees everything at all times, or follows the bodies; the floor and the
 * panes. */
#include "stage.h"

#include "../vecf.h"

#include <string.h>

enum { MAX_SCANNED = 240 };
#define FOLLOW_SPAN 0.8 /* s: over which the way of a camera that follows is smooth, at most */

/* Corners of the boxes of all bodies at the frames that are looked at: what must be in the
 * picture. */
typedef struct Corners {
    double (*x)[3];
    int64_t count, room;
} Corners;

/* Obstacles that are not much larger than the way of the bodies should be seen as well. */
static void add_obstacles(const BrioStage *s, const BrioMotionFile *m, Corners *c)
{
    for (int i = 0; i < m->part_count; i++) {
        float box[2][3], across = 0, way = 0;
        if (m->part[i].kind != BRIO_MOTION_OBSTACLE || s->def.obstacles == BRIO_OBSTACLES_NONE)
            continue;
        brio__motion_box(m, i, s->x, box[0], box[1]);
        for (int r = 0; r < 3; r++) {
            across = fmaxf(across, box[1][r] - box[0][r]);
            way = fmaxf(way, s->high[r] - s->low[r]);
        }
        for (int q = 0; across < 2 * way && q < 8; q++, c->count++)
            for (int r = 0; r < 3; r++) c->x[c->count][r] = box[q >> r & 1][r];
    }
}

/* ---- a camera that follows ---- */

/* Frames that are looked at; all of them where there are few. */
static int64_t scanned(const BrioMotionFile *m) { return BRIO_MIN(m->frame_count, MAX_SCANNED); }
static int64_t scanned_frame(const BrioMotionFile *m, int64_t k)
{
    return scanned(m) > 1 ? k * (m->frame_count - 1) / (scanned(m) - 1) : 0;
}

/* The box of all bodies together. */
static void whole_box(const BrioMotionFile *m, const float *x, float low[3], float high[3])
{
    float box[2][3];
    for (int r = 0; r < 3; r++) low[r] = INFINITY, high[r] = -INFINITY;
    for (int i = 0; i < m->part_count; i++) {
        if (m->part[i].kind == BRIO_MOTION_OBSTACLE || m->part[i].vertex_count == 0) continue;
        brio__motion_box(m, i, x, box[0], box[1]);
        for (int r = 0; r < 3; r++) {
            low[r] = fminf(low[r], box[0][r]);
            high[r] = fmaxf(high[r], box[1][r]);
        }
    }
}

/* The way of the middle of each motion's bodies, as a mean over as much time before as after, at
 * most FOLLOW_SPAN and a quarter of the run: the camera glides, it does not bounce along. Steady
 * motion is followed exactly. */
static BrioStatus find_path(BrioStage *s, int which, BrioError *error)
{
    BrioMotionFile *m = s->motion[which];
    float(*middle)[3] = brio__alloc(MAX_SCANNED, sizeof *middle);
    float(*path)[3] = s->path + (size_t)which * MAX_SCANNED;
    BrioStatus status = middle ? BRIO_OK : brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    for (int64_t k = 0; status == BRIO_OK && k < scanned(m); k++) {
        float low[3], high[3];
        status = brio__motion_positions(m, scanned_frame(m, k), s->x, error);
        whole_box(m, s->x, low, high);
        for (int r = 0; r < 3; r++) middle[k][r] = 0.5f * (low[r] + high[r]);
    }
    double first = m->time[0], last = m->time[m->frame_count - 1];
    double span = fmin(FOLLOW_SPAN, 0.25 * (last - first));
    for (int64_t k = 0; status == BRIO_OK && k < scanned(m); k++) {
        double sum[3] = {0}, weights = 0, now = m->time[scanned_frame(m, k)];
        double reach = fmax(fmin(span, fmin(now - first, last - now)), 1e-9);
        for (int64_t q = 0; q < scanned(m); q++) {
            double weight = 1 - fabs(m->time[scanned_frame(m, q)] - now) / reach;
            if (!(weight > 0)) continue;
            weights += weight;
            for (int r = 0; r < 3; r++) sum[r] += weight * middle[q][r];
        }
        for (int r = 0; r < 3; r++) path[k][r] = (float)(sum[r] / weights);
    }
    brio__free(middle);
    return status;
}

/* The place of the camera's target at a time, between the frames that were looked at. */
static void path_at(const BrioStage *s, int which, double time, double at[3])
{
    const BrioMotionFile *m = s->motion[which];
    const float(*path)[3] = (const float(*)[3])s->path + (size_t)which * MAX_SCANNED;
    int64_t k = 0;
    while (k + 2 < scanned(m) && m->time[scanned_frame(m, k + 1)] <= time) k++;
    int64_t next = BRIO_MIN(k + 1, scanned(m) - 1);
    double from = m->time[scanned_frame(m, k)], to = m->time[scanned_frame(m, next)];
    double t = to > from ? fmin(fmax((time - from) / (to - from), 0), 1) : 0;
    for (int r = 0; r < 3; r++) at[r] = path[k][r] + t * (path[next][r] - path[k][r]);
}

void brio__stage_follow(BrioStage *s, int which, double time)
{
    double at[3];
    if (!s->def.follow) return;
    path_at(s, which, time, at);
    for (int r = 0; r < 3; r++) s->view.eye[r] = s->eye[r] + at[r];
}

/* ---- what must be seen ---- */

static BrioStatus gather(BrioStage *s, Corners *c, BrioError *error)
{
    int64_t room = 0;
    for (int which = 0; which < s->motion_count; which++)
        room += 8 * (int64_t)s->motion[which]->part_count *
                (BRIO_MIN(s->motion[which]->frame_count, MAX_SCANNED) + 1);
    c->x = brio__alloc((size_t)room + 8, sizeof *c->x);
    if (!c->x) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    for (int r = 0; r < 3; r++) {
        s->low[r] = INFINITY;
        s->high[r] = -INFINITY;
    }
    for (int which = 0; which < s->motion_count; which++) {
        BrioMotionFile *m = s->motion[which];
        if (s->def.follow) BRIO_CHECK(find_path(s, which, error));
        for (int64_t k = 0; k < scanned(m); k++) {
            float low[3], high[3], half[3];
            double off[3] = {0};
            if (s->def.follow) path_at(s, which, m->time[scanned_frame(m, k)], off);
            BRIO_CHECK(brio__motion_positions(m, scanned_frame(m, k), s->x, error));
            for (int i = 0; i < m->part_count; i++) {
                float box[2][3];
                if (m->part[i].kind == BRIO_MOTION_OBSTACLE || m->part[i].vertex_count == 0)
                    continue;
                brio__motion_box(m, i, s->x, box[0], box[1]);
                for (int q = 0; q < 8; q++, c->count++)
                    for (int r = 0; r < 3; r++) c->x[c->count][r] = box[q >> r & 1][r] - off[r];
            }
            whole_box(m, s->x, low, high);
            for (int r = 0; r < 3; r++) {
                s->low[r] = fminf(s->low[r], low[r]);
                s->high[r] = fmaxf(s->high[r], high[r]);
                s->side[r] = fmaxf(s->side[r], high[r] - low[r]);
                half[r] = 0.5f * (high[r] - low[r]);
            }
            s->largest = fmaxf(s->largest, sqrtf(brio__dot3f(half, half)));
        }
        if (!s->def.follow) add_obstacles(s, m, c);
    }
    return BRIO_OK;
}

/* How far the eye must stand back along -forward from `target` for all corners to be within the
 * fraction `fill` of the picture. */
static double stand_back(const BrioView *v, const Corners *c, const double target[3], double fill)
{
    double tx = fill * 0.5 * v->width / v->scale;
    double ty = fill * 0.5 * v->height / v->scale;
    double distance = 0;
    for (int64_t k = 0; k < c->count; k++) {
        double along[3] = {0};
        for (int r = 0; r < 3; r++) {
            double d = c->x[k][r] - target[r];
            along[0] += d * v->right[r];
            along[1] += d * v->up[r];
            along[2] += d * v->forward[r];
        }
        distance = fmax(distance, fmax(fabs(along[0]) / tx, fabs(along[1]) / ty) - along[2]);
    }
    return distance;
}

/* Moves the target so that the visible bodies are in the middle of the picture. */
static void recentre(const BrioView *v, const Corners *c, double target[3])
{
    double low[2] = {INFINITY, INFINITY};
    double high[2] = {-INFINITY, -INFINITY};
    double pixel[2], depth;
    double far = 0;
    for (int64_t k = 0; k < c->count; k++) {
        if (!brio__view_project(v, c->x[k], pixel, &depth)) continue;
        for (int r = 0; r < 2; r++) {
            low[r] = fmin(low[r], pixel[r]);
            high[r] = fmax(high[r], pixel[r]);
        }
    }
    if (!(high[0] >= low[0])) return;
    for (int r = 0; r < 3; r++) far += (target[r] - v->eye[r]) * v->forward[r];
    double x = (0.5 * (low[0] + high[0]) - 0.5 * v->width) * far / v->scale;
    double y = (0.5 * v->height - 0.5 * (low[1] + high[1])) * far / v->scale;
    for (int r = 0; r < 3; r++) target[r] += x * v->right[r] + y * v->up[r];
}

/* Straight down or up the direction of the eye does not say what is to the right; the azimuth
 * does. */
static void turn_upright(BrioView *v, double azimuth)
{
    const double *q = v->right, *d = v->forward;
    if (isnan(azimuth) || hypot(d[0], d[2]) > 1e-9) return;
    v->right[0] = cos(azimuth);
    v->right[2] = -sin(azimuth);
    for (int r = 0; r < 3; r++)
        v->up[r] = q[(r + 1) % 3] * d[(r + 2) % 3] - q[(r + 2) % 3] * d[(r + 1) % 3];
}

static void aim(BrioStage *s, const Corners *c)
{
    const double degree = acos(-1.0) / 180, angle = BRIO_STAGE_ANGLE * degree;
    const BrioStageDef *d = &s->def;
    double target[3], side[3], flat, forward[3], eye[3];
    for (int r = 0; r < 3; r++) {
        side[r] = d->follow ? s->side[r] : s->high[r] - s->low[r];
        target[r] = d->follow             ? 0
                    : isnan(d->target[r]) ? 0.5 * (s->low[r] + s->high[r])
                                          : d->target[r];
    }
    if (!isnan(d->eye[0])) {
        brio__view_aim(&s->view, d->eye, target, angle);
        s->view.scale *= d->zoom; /* the eye stays: the picture grows */
        memcpy(s->target, target, sizeof target);
        return;
    }
    /* flat things are seen more from above, and what is long along z from the side */
    flat = fmin(side[1] / fmax(fmax(side[0], side[2]), 1e-30), 1);
    double elevation =
        (isnan(d->elevation) ? 14 + 20 * (1 - flat) * (1 - flat) : d->elevation) * degree;
    double azimuth = (isnan(d->azimuth) ? side[2] > 1.3 * side[0] ? 60 : 28 : d->azimuth) * degree;
    forward[0] = -sin(azimuth) * cos(elevation);
    forward[1] = -sin(elevation);
    forward[2] = -cos(azimuth) * cos(elevation);
    for (int round = 0; round < 4; round++) {
        for (int r = 0; r < 3; r++) eye[r] = target[r] - forward[r];
        brio__view_aim(&s->view, eye, target, angle);
        turn_upright(&s->view, d->azimuth * degree);
        double distance = stand_back(&s->view, c, target, 0.88) / d->zoom;
        for (int r = 0; r < 3; r++) eye[r] = target[r] - fmax(distance, 1e-6) * forward[r];
        brio__view_aim(&s->view, eye, target, angle);
        turn_upright(&s->view, d->azimuth * degree);
        memcpy(s->target, target, sizeof target);
        if (isnan(d->target[0]) && round < 3) recentre(&s->view, c, target);
    }
    memcpy(s->eye, s->view.eye, sizeof s->eye);
}

/* The floor: a horizontal plane that is an obstacle, if it is near; otherwise one below everything,
 * for the shadow. Other planes become panes. */
static void set_scenery(BrioStage *s)
{
    BrioView *v = &s->view;
    float size = 0, middle[3];
    for (int r = 0; r < 3; r++) {
        size = fmaxf(size, s->def.follow ? s->side[r] : s->high[r] - s->low[r]);
        middle[r] = 0.5f * (s->low[r] + s->high[r]);
    }
    size = fmaxf(size, 1e-6f);
    v->size = 0.5f * size;
    v->ground = !s->def.no_ground;
    v->floor = s->low[1] - 0.10f * size;
    const BrioMotionFile *m = s->motion[0];
    for (int k = 0; k < m->plane_count; k++) {
        const float *p = m->plane[k], *n = p + 3;
        if (n[1] > 0.999f && fabsf(p[1] - s->low[1]) < 2 * size) {
            v->ground = v->grid = true;
            v->floor = p[1];
        } else if (v->wall_count < (int)BRIO_COUNT(v->wall) &&
                   s->def.obstacles != BRIO_OBSTACLES_NONE) {
            float *w = v->wall[v->wall_count++];
            float off[3];
            float other[3] = {0, fabsf(n[1]) < 0.9f, fabsf(n[1]) >= 0.9f};
            float length;
            for (int r = 0; r < 3; r++) off[r] = middle[r] - p[r];
            length = brio__dot3f(off, n);
            brio__cross3f(other, n, w + 6);
            brio__normalise3f(w + 6);
            brio__cross3f(n, w + 6, w + 9);
            for (int r = 0; r < 3; r++) {
                w[r] = middle[r] - length * n[r];
                w[3 + r] = n[r];
                w[6 + r] *= 0.55f * size;
                w[9 + r] *= 0.55f * size;
            }
        }
    }
    v->grid_step = (float)brio__stage_round_up(0.09 * size);
}

BrioStatus brio__stage_camera(BrioStage *s, BrioError *error)
{
    Corners corners = {0};
    if (s->def.follow) {
        s->path = brio__alloc((size_t)s->motion_count * MAX_SCANNED, sizeof *s->path);
        if (!s->path) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    }
    BrioStatus status = gather(s, &corners, error);
    if (status == BRIO_OK && corners.count == 0)
        status = brio__error(error, BRIO_ERROR_INPUT, "the run has no bodies to draw");
    if (status == BRIO_OK && !(isfinite(s->low[0] + s->low[1] + s->low[2]) &&
                               isfinite(s->high[0] + s->high[1] + s->high[2])))
        status = brio__error(error, BRIO_ERROR_INPUT,
                             "positions of the run are not finite: it cannot be drawn");
    if (status == BRIO_OK) {
        set_scenery(s);
        aim(s, &corners);
    }
    brio__free(corners.x);
    return status;
}
