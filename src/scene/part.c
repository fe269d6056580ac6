/* A part of a scene that is added to a simulation that runs: its bodies, obstacles, constraints,
 * stitches and forces go into an edit, by the readers of whole scenes. */
#include "bodies.h"

static BrioStatus read_part(BrioNode *part, BrioScene *scene, BrioBuilder *edit, BrioError *error)
{
    static const char *const names[] = {"materials",   "bodies",   "obstacles",
                                        "constraints", "stitches", "forces"};
    BRIO_CHECK(brio__expect(part, BRIO_NODE_MAP, error));
    for (size_t i = 0; i < BRIO_COUNT(names); i++) {
        BrioNode *node = brio__node_get(part, names[i]);
        if (node) BRIO_CHECK(brio__expect(node, i ? BRIO_NODE_LIST : BRIO_NODE_MAP, error));
    }
    BRIO_CHECK(brio__node_unknown(part, names, BRIO_COUNT(names), error));
    BRIO_CHECK(brio__read_more_obstacles(part, scene, edit, error));
    if (brio__node_get(part, "bodies")) BRIO_CHECK(brio__read_bodies(part, scene, edit, error));
    BRIO_CHECK(brio__read_constraints(part, edit, error));
    BRIO_CHECK(brio__read_stitches(part, edit, error));
    return brio__read_forces(part, edit, error);
}

/* A detailed surface (`surface`) is given to whole scenes only: such a body shows its own. */
static BrioStatus without_surfaces(BrioNode *part, BrioError *error)
{
    BrioNode *bodies = brio__node_get(part, "bodies");
    for (int i = 0; bodies && i < bodies->count; i++) {
        BrioNode *body = bodies->child[i];
        BrioNode *surface = body->kind == BRIO_NODE_MAP ? brio__node_get(body, "surface") : NULL;
        if (surface)
            return brio__node_key_error(surface, error,
                                        "a body that is added to a running simulation shows its "
                                        "own surface: remove this key, or add the body at the "
                                        "start");
    }
    return BRIO_OK;
}

BrioStatus brio__scene_add(BrioNode *part, BrioBuilder *edit, BrioError *error)
{
    char file[] = "scene";
    BrioScene scene = {.file = file};
    BrioStatus status = read_part(part, &scene, edit, error);
    if (status == BRIO_OK) status = without_surfaces(part, error);
    brio__scene_free_looks(&scene);
    brio__free(scene.rest);
    return status;
}
