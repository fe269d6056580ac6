/* Rigid motions that a static problem leaves free.
 *
 * Let R_k, k = 1..6, be the rigid motions of a component (what elements hold together): shifts
 * along the axes, and turns about them through its centre, over its size. A motion is free if
 * R_k' K R_k vanishes, where K is the Hessian of the potential, contact included. Elements alone
 * resist no rigid motion, so what is left comes from fixed points, attachments and contact.
 * Round-off leaves about 1e-16 of the sum of |K|, and what a solve leaves unbalanced some 1e-9; a
 * support as soft as 1e-7 of the body's own stiffness counts as none. */
#include "free_motions.h"

#include "../potential/components.h"

#include <string.h>

#define SOFT 1e-7
enum { MAX_COMPONENTS = 64 }; /* of more than that, only the first are looked at */

/* The motion k of a component as a vector of the length of q. */
static void rigid(const BrioSystem *s, const int32_t *component, int32_t which, const double *q,
                  const double centre[3], double size, int k, double *motion)
{
    memset(motion, 0, 3 * (size_t)s->block_count * sizeof *motion);
    for (int64_t b = 0; b < s->block_count; b++) {
        if (component[b] != which) continue;
        if (k < 3) {
            motion[3 * b + k] = 1;
            continue;
        }
        int i = (k + 1) % 3, j = (k + 2) % 3;
        motion[3 * b + i] = -(q[3 * b + j] - centre[j]) / size;
        motion[3 * b + j] = (q[3 * b + i] - centre[i]) / size;
    }
}

/* The centre of a component; returns its size, and how many blocks it has. */
static double measure(const BrioSystem *s, const int32_t *component, int32_t which, const double *q,
                      double centre[3], int64_t *count)
{
    double size = 0;
    *count = 0;
    for (int r = 0; r < 3; r++) centre[r] = 0;
    for (int64_t b = 0; b < s->block_count; b++) {
        if (component[b] != which) continue;
        for (int r = 0; r < 3; r++) centre[r] += q[3 * b + r];
        ++*count;
    }
    for (int r = 0; r < 3; r++) centre[r] /= (double)*count;
    for (int64_t b = 0; b < s->block_count; b++)
        for (int r = 0; component[b] == which && r < 3; r++)
            size = fmax(size, fabs(q[3 * b + r] - centre[r]));
    return size;
}

/* A stiffness to compare with: |K z|/|z| of numbers z without a pattern. */
static double stiffness(BrioSolver *s, const int32_t *component, int32_t which, double *z,
                        double *Kz)
{
    BrioRandom random = {1};
    double top = 0, below = 0;
    int64_t n = 3 * (int64_t)s->system->block_count;
    for (int64_t i = 0; i < n; i++)
        z[i] = component[i / 3] == which ? brio__random(&random) - 0.5 : 0;
    brio__linear_multiply(s->linear, z, Kz);
    for (int64_t i = 0; i < n; i++) {
        top += Kz[i] * Kz[i];
        below += z[i] * z[i];
    }
    return sqrt(top / fmax(below, 1e-300));
}

static const char *body_of(const BrioSystem *s, const int32_t *component, int32_t which)
{
    for (int64_t v = 0; v < s->vertex_count; v++) {
        int32_t m = s->map_start[v];
        if (m == s->map_start[v + 1] || component[s->map_block[m]] != which) continue;
        int owner = brio__system_owner(s, v);
        return owner >= 0 && owner < s->body_count ? s->body[owner].name : NULL;
    }
    return NULL;
}

static void name_motions(const bool is_free[6], char *text, size_t size)
{
    static const char axis[] = "xyz";
    size_t used = strlen(text);
    for (int turn = 0; turn < 2; turn++) {
        bool first = true;
        for (int r = 0; r < 3 && used < size; r++) {
            if (!is_free[3 * turn + r]) continue;
            const char *verb = turn ? "turning about" : "moving along";
            used += first ? (size_t)snprintf(text + used, size - used, "%s%s %c",
                                             text[used - 1] == ' ' ? "" : " or ", verb, axis[r])
                          : (size_t)snprintf(text + used, size - used, ", %c", axis[r]);
            first = false;
        }
    }
}

/* Whether a component has free motions; adds them to the text. */
static bool examine(BrioSolver *s, const double *q, const int32_t *component, int32_t which,
                    double *motion, double *pull, char *text, size_t size)
{
    const BrioSystem *system = s->system;
    double centre[3];
    int64_t count;
    bool is_free[6], any = false;
    double extent = measure(system, component, which, q, centre, &count);
    double scale = stiffness(s, component, which, motion, pull) * (double)count;
    const char *name = body_of(system, component, which);
    for (int k = 0; k < 6; k++) {
        double curvature = 0;
        is_free[k] = k < 3 || extent > 0;
        if (!is_free[k]) continue;
        rigid(system, component, which, q, centre, extent, k, motion);
        brio__linear_multiply(s->linear, motion, pull);
        for (int64_t i = 0; i < 3 * (int64_t)system->block_count; i++)
            curvature += motion[i] * pull[i];
        is_free[k] = fabs(curvature) <= SOFT * scale;
        any |= is_free[k];
    }
    if (!any || !name) return false;
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%sbody \"%.60s\" against ", used ? "; nor " : "", name);
    name_motions(is_free, text, size);
    return true;
}

bool brio__free_motions(BrioSolver *s, const BrioState *state, const double *q, double time,
                        char *text, size_t size)
{
    const BrioSystem *system = s->system;
    size_t n = 3 * (size_t)system->block_count;
    int32_t *component = brio__alloc((size_t)system->block_count, sizeof *component), count = 0;
    double *motion = brio__alloc(n, sizeof *motion), *pull = brio__alloc(n, sizeof *pull);
    double *x = brio__alloc(3 * (size_t)system->vertex_count, sizeof *x);
    bool *fixed = NULL, any = false;
    text[0] = 0;
    if (component && motion && pull && x && !system->partition &&
        brio__components_find(system, component, &count, &fixed) == BRIO_OK &&
        brio__solver_prepare(s, state) == BRIO_OK) {
        brio__system_positions(system, state, q, time, x);
        brio__assemble_masses(system, 0, s->linear);
        if (brio__potential_hessian(s->potential, &(BrioPose){state, x, time}, 1, false,
                                    s->linear) == BRIO_OK)
            for (int32_t c = 0; c < BRIO_MIN(count, MAX_COMPONENTS); c++)
                any |= !fixed[c] && examine(s, q, component, c, motion, pull, text, size);
    }
    brio__free(component);
    brio__free(motion);
    brio__free(pull);
    brio__free(x);
    brio__free(fixed);
    return any;
}

static void widen(int64_t count, const double *x, double *low, double *high)
{
    for (int64_t i = 0; i < count; i++) {
        *low = fmin(*low, x[i]);
        *high = fmax(*high, x[i]);
    }
}

/* Of coordinates and of vertices: one free vertex alone has no size, and coordinates of affine
 * bodies are not positions. */
bool brio__exceeds_scene(BrioSolver *s, const BrioState *state, double distance)
{
    double low = INFINITY, high = -INFINITY, *x = s->dx;
    brio__system_positions(s->system, state, state->q, state->time, x);
    widen(state->coordinates, state->q, &low, &high);
    widen(3 * s->system->vertex_count, x, &low, &high);
    return !(distance <= 1e3 * (high - low));
}

static bool moved_too_far(BrioSolver *s, const BrioState *state, const double *q)
{
    double distance = 0;
    for (int64_t i = 0; i < state->coordinates; i++)
        distance = fmax(distance, fabs(q[i] - state->q[i]));
    return brio__exceeds_scene(s, state, distance);
}

BrioStatus brio__refuse_free_motions(BrioSolver *s, const BrioState *state, double time,
                                     const double *q, BrioStatus status)
{
    static const char *const remedy = "fix or attach it, or let it come to rest with "
                                      "backward-euler and damping";
    bool failed = status != BRIO_OK || moved_too_far(s, state, q);
    char text[500];
    if (status < 0 || s->system->partition || (!failed && state->step > 0)) return status;
    for (int b = 0; b < s->system->body_count; b++) /* bar1d has no y and z to speak of */
        if (s->system->term[s->system->body[b].term].energy->traits & BRIO_ENERGY_ALONG_X)
            return status;
    if (!brio__free_motions(s, state, failed ? state->q : q, time, text, sizeof text))
        return status;
    if (!failed) {
        brio__log(BRIO_LOG_WARNING,
                  "the static problem has more than one solution: nothing holds %s, so the rest "
                  "position is arbitrary; %s",
                  text, remedy);
        return status;
    }
    s->unsolvable = true;
    snprintf(s->message, sizeof s->message,
             "the static problem has no unique solution: nothing holds %s; %s", text, remedy);
    return status == BRIO_OK ? BRIO_STEP_REJECTED : status;
}
