/* Obstacles that the program moves. A move is a script of its own kind, in the state: over the next
 * h each vertex goes from its anchor by a shift (system.c), so that steps push bodies that it
 * touches as they do under scripts (solve/push.c), and book the work. */
#include "edit.h"

#include "../handle.h"
#include "../build/build.h"

#include <string.h>

/* ---- questions -------------------------------------------------------------------------- */

static const BrioObstacle *obstacle_at(const BrioSystem *s, int obstacle)
{
    return obstacle >= 0 && obstacle < s->obstacle_count ? &s->obstacle[obstacle] : NULL;
}

int brio_system_obstacles(const BrioSystem *system)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SYSTEM, system), 0);
    return system->obstacle_count;
}

int brio_system_obstacle(const BrioSystem *system, const char *name)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SYSTEM, system) && name, -1);
    for (int i = 0; name[0] && i < system->obstacle_count; i++)
        if (!strcmp(system->obstacle[i].name, name)) return i;
    return -1;
}

const char *brio_obstacle_name(const BrioSystem *system, int obstacle)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SYSTEM, system), NULL);
    const BrioObstacle *o = obstacle_at(system, obstacle);
    return o ? o->name : NULL;
}

int64_t brio_obstacle_vertices(const BrioSystem *system, int obstacle)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SYSTEM, system), 0);
    const BrioObstacle *o = obstacle_at(system, obstacle);
    return o ? o->count : 0;
}

const int32_t *brio_obstacle_triangles(const BrioSystem *system, int obstacle, int64_t *count)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SYSTEM, system) && count, NULL);
    const BrioObstacle *o = obstacle_at(system, obstacle);
    *count = o ? o->triangle_count : 0;
    return o ? o->triangle : NULL;
}

void brio_sim_obstacle_positions(const BrioSim *sim, int obstacle, double *x)
{
    BRIO_NEEDS_OR_NOTHING(BRIO_LIVES(SIM, sim) && x);
    const BrioObstacle *o = obstacle_at(sim->system, obstacle);
    if (!o || o->count == 0) return;
    brio__system_fixed(sim->system, sim->state, sim->state->time, sim->world);
    memcpy(x, sim->world + 3 * o->first, 3 * (size_t)o->count * sizeof *x);
}

/* ---- moves ------------------------------------------------------------------------------ */

static BrioStatus check(BrioSim *sim, int obstacle, BrioError *error)
{
    const BrioSystem *s = sim->system;
    if (!obstacle_at(s, obstacle) || (s->plans && s->plans->obstacle[obstacle].removed))
        return brio__error(error, BRIO_ERROR_ARGUMENT, "there is no obstacle %d", obstacle);
    if (s->obstacle[obstacle].count == 0)
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "obstacle \"%s\" has a formula, not vertices: add it as a mesh to move "
                           "it, or remove it and add it elsewhere",
                           s->obstacle[obstacle].name);
    return BRIO_OK;
}

/* Its vertices follow the program from now on, and may bend it. */
static BrioStatus take_over(BrioSim *sim, int obstacle, bool bends, BrioError *error)
{
    const BrioObstaclePlan *now =
        sim->system->plans ? &sim->system->plans->obstacle[obstacle] : NULL;
    BrioBuilder *edit;
    if (now && now->driven && (now->bends || !bends)) return BRIO_OK;
    BRIO_CHECK(brio_sim_edit(sim, &edit, error));
    BrioObstaclePlan *plan = &edit->obstacle[obstacle];
    BrioScript still = brio_default_script();
    BrioStatus status = plan->driven ? BRIO_OK
                                     : brio__plan_script(edit, &still, &(BrioScriptPoints){0},
                                                         &plan->script, error);
    plan->driven = true;
    plan->bends |= bends;
    if (status == BRIO_OK) status = brio__edit_finish(sim, edit, error);
    brio_builder_free(edit);
    return status;
}

/* From where the vertices are now to x, over h. */
static void aim(BrioSim *sim, int obstacle, const double *x)
{
    const BrioSystem *s = sim->system;
    BrioState *state = sim->state;
    const BrioScripted *set = brio__driven_set(s, obstacle);
    double *param = state->param + set->driven;
    brio__system_fixed(s, state, state->time, sim->world);
    for (int64_t k = 0; k < set->count; k++) {
        int64_t vertex = s->fixed[set->fixed[k]];
        const double *now = sim->world + 3 * vertex,
                     *to = x + 3 * (vertex - s->obstacle[obstacle].first);
        for (int r = 0; r < 3; r++) {
            state->anchor[3 * (int64_t)set->fixed[k] + r] = now[r];
            param[2 + 3 * k + r] = to[r] - now[r];
        }
    }
    param[0] = state->time;
    param[1] = state->time + sim->h;
}

static BrioStatus move(BrioSim *sim, int obstacle, const double *x, bool bends, BrioError *error)
{
    for (int64_t i = 0; i < 3 * sim->system->obstacle[obstacle].count; i++)
        if (!isfinite(x[i]))
            return brio__error(error, BRIO_ERROR_ARGUMENT,
                               "an obstacle cannot go to a place that is not finite");
    BRIO_CHECK(take_over(sim, obstacle, bends, error));
    aim(sim, obstacle, x);
    return BRIO_OK;
}

BrioStatus brio_sim_move_obstacle_to(BrioSim *sim, int obstacle, const double *x, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(SIM, sim) && x, error);
    if (error) *error = (BrioError){0};
    BRIO_CHECK(check(sim, obstacle, error));
    return move(sim, obstacle, x, true, error);
}

BrioStatus brio_sim_move_obstacle(BrioSim *sim, int obstacle, const double linear[9],
                                  const double translate[3], BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(SIM, sim) && linear && translate, error);
    if (error) *error = (BrioError){0};
    BRIO_CHECK(check(sim, obstacle, error));
    if (!sim->system->plans) {
        BrioBuilder *none;
        return brio_sim_edit(sim, &none, error); /* which says why not */
    }
    const BrioMesh *mesh = sim->system->plans->obstacle[obstacle].mesh;
    double *x = brio__alloc(3 * (size_t)mesh->vertex_count, sizeof *x);
    if (!x) return brio__no_memory(error);
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        for (int r = 0; r < 3; r++) {
            x[3 * v + r] = translate[r];
            for (int c = 0; c < 3; c++) x[3 * v + r] += linear[3 * r + c] * mesh->x[3 * v + c];
        }
    BrioStatus status = move(sim, obstacle, x, false, error);
    brio__free(x);
    return status;
}
