/* Three backgrounds. `sky`: blue above, pale at the horizon, and a ground that fades into it with
 * the distance, so that there is no line. `studio`: one soft gradient for all. `white`: for paper.
 * Shadows and what stands close above darken the ground in all of them. */
#include "scenery.h"

#include "../vecf.h"
#include "tone.h"

/* of the sky above, of the horizon, of the ground near the bodies */
static const unsigned colours[BRIO_BACKGROUND_COUNT][3] = {
    [BRIO_BACKGROUND_SKY] = {0x5a9bd8, 0xe9f1f7, 0xe7e2d9},
    [BRIO_BACKGROUND_STUDIO] = {0xf4f6f9, 0xf4f6f9, 0xdfe3e8},
    [BRIO_BACKGROUND_WHITE] = {0xffffff, 0xffffff, 0xffffff},
};

void brio__scenery_set(BrioScenery *s, const BrioView *view, const BrioLights *lights)
{
    const unsigned *colour = colours[view->background];
    s->view = view;
    s->lights = lights;
    brio__colour_linear(colour[0], s->top);
    brio__colour_linear(colour[1], s->horizon);
    brio__colour_linear(colour[2], s->ground);
}

/* The ray through a place of the picture, at the depth 1. */
static void ray_at(const BrioView *view, double i, double j, double d[3])
{
    double a = (i - 0.5 * view->width) / view->scale;
    double b = (0.5 * view->height - j) / view->scale;
    for (int k = 0; k < 3; k++) d[k] = view->forward[k] + a * view->right[k] + b * view->up[k];
}

/* Where a ray hits the floor; false: it does not. */
static bool floor_hit(const BrioView *view, const double d[3], float x[3], double *depth)
{
    if (!(d[1] < -1e-6) || view->eye[1] <= view->floor) return false;
    *depth = (view->floor - view->eye[1]) / d[1];
    for (int k = 0; k < 3; k++) x[k] = (float)(view->eye[k] + *depth * d[k]);
    return true;
}

/* The fraction of a pixel that lines every `step` cover, given the pixel's width on the floor. */
static float grid_coverage(float x, float step, float width, float pixel)
{
    float off = fabsf(x - step * roundf(x / step));
    return clamp01(0.5f + (0.5f * width - off) / pixel) * fminf(1, width / pixel) *
           (1 - smooth(0.15f, 0.4f, pixel / step));
}

/* Lines on a floor that is an obstacle. */
static float grid_lines(const BrioView *view, float i, float j, const float x[3], float away)
{
    double beside[3], beyond[3], other;
    float p[3], q[3];
    ray_at(view, i + 1, j, beside);
    ray_at(view, i, j + 1, beyond);
    if (!view->grid || !floor_hit(view, beside, p, &other) || !floor_hit(view, beyond, q, &other))
        return 0;
    float px = hypotf(p[0] - x[0], q[0] - x[0]) + 1e-12f;
    float pz = hypotf(p[2] - x[2], q[2] - x[2]) + 1e-12f;
    float thin = 0.012f * view->grid_step;
    return fmaxf(grid_coverage(x[0], view->grid_step, thin, px),
                 grid_coverage(x[2], view->grid_step, thin, pz)) *
           (1 - smooth(1.2f, 4.5f, away));
}

/* Without a shadow. */
static void plain_colour(const BrioScenery *s, const double d[3], float row, bool floor, float away,
                         float c[3])
{
    double up = d[1] / sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    float t = s->view->background == BRIO_BACKGROUND_STUDIO ? smooth(0, 1, row)
              : floor                                       ? expf(-0.02f * away * away)
                                                            : 0;
    /* begins below the horizon: cameras look down, and pictures end there */
    float high = 1 - expf(-5 * fmaxf((float)up + 0.15f, 0));
    for (int k = 0; k < 3; k++) c[k] = mix(mix(s->horizon[k], s->top[k], high), s->ground[k], t);
}

double brio__scenery_behind(const BrioScenery *s, float i, float j, float c[3])
{
    static const float up[3] = {0, 1, 0};
    const BrioView *view = s->view;
    float x[3], away = 0, dark = 1;
    double d[3], depth = -1;
    ray_at(view, i, j, d);
    bool floor = view->ground && floor_hit(view, d, x, &depth);
    if (floor) away = hypotf(x[0] - view->centre[0], x[2] - view->centre[2]) / view->size;
    plain_colour(s, d, j / (float)view->height, floor, away, c);
    float shadow = floor ? 1 - brio__lights_key(s->lights, x, up) : 0;
    if (floor)
        dark = (1 - 0.62f * (1 - brio__lights_floor(s->lights, x))) *
               (1 - 0.22f * grid_lines(view, i, j, x, away));
    for (int k = 0; k < 3; k++)
        c[k] = uncompressed(c[k] * dark * (1 - (0.52f - 0.08f * (float)k) * shadow));
    return depth;
}

void brio__scenery_panes(const BrioScenery *scenery, float i, float j, double depth, float c[3])
{
    const BrioView *view = scenery->view;
    double d[3];
    ray_at(view, i, j, d);
    for (int w = 0; w < view->wall_count; w++) {
        const float *p = view->wall[w], *n = p + 3, *s = p + 6, *t = p + 9;
        double along = 0;
        double gap = 0;
        float x[3];
        for (int k = 0; k < 3; k++) {
            along += d[k] * n[k];
            gap += (p[k] - view->eye[k]) * n[k];
        }
        double at = gap / along;
        if (!(at > 0) || !(at < depth)) continue;
        for (int k = 0; k < 3; k++) x[k] = (float)(view->eye[k] + at * d[k]) - p[k];
        float u = brio__dot3f(x, s) / brio__dot3f(s, s);
        float v = brio__dot3f(x, t) / brio__dot3f(t, t);
        float edge = fmaxf(fabsf(u), fabsf(v));
        if (edge > 1) continue;
        float fraction = edge > 0.985f ? 0.5f : 0.24f;
        for (int k = 0; k < 3; k++)
            c[k] = mix(c[k], (k == 2 ? 0.62f : k == 1 ? 0.55f : 0.47f), fraction);
    }
}
