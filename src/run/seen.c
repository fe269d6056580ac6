/* The visible parts of a scene (seen.h). */
#include "seen.h"

BrioStatus brio__seen_create(const BrioScene *scene, int64_t steps, BrioMotionFile **motion,
                             BrioError *error)
{
    const BrioSystem *system = scene->system;
    const BrioState *state = scene->state;
    if (!scene->motion && !scene->format_count) return BRIO_OK;
    double instants = fmin(scene->end * scene->fps, (double)steps) + 1;
    double *x = brio__alloc(3 * (size_t)system->vertex_count, sizeof *x);
    BrioStatus status = x ? BRIO_OK : BRIO_ERROR_MEMORY;
    if (x) brio__system_positions(system, state, state->q, state->time, x);
    if (x)
        status =
            brio__motion_create(system, scene->rest, x, scene->fps,
                                brio__scene_films(scene) ? 0 : instants, scene->velocities, motion);
    brio__free(x);
    return status == BRIO_OK ? BRIO_OK : brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
}

void brio__seen_renumber(BrioMotionFile *motion, const BrioSystem *local_system,
                         const int32_t *local_of)
{
    for (int i = 0; motion && i < motion->part_count; i++) {
        BrioMotionPart *p = &motion->part[i];
        /* a shape with a formula has no world vertices */
        if (p->kind != BRIO_MOTION_BODY && (p->kind != BRIO_MOTION_OBSTACLE || p->first == 0))
            continue;
        int64_t first =
            p->kind == BRIO_MOTION_BODY ? local_system->body[i].first : local_of[p->first];
        for (int k = 0; k < p->carrier_count; k++)
            p->vertex[k] = (int32_t)(local_of[p->first + p->vertex[k]] - first);
        p->first = first;
    }
}
