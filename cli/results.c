#include "results.h"

#include "scene/tree.h"

#include <string.h>

void run_label(const char *folder, char *text, size_t size)
{
    char path[4200];
    BrioNode *root = NULL, *scene = NULL;
    const char *slash = strrchr(folder, '/');
    snprintf(text, size, "%s", slash && slash[1] ? slash + 1 : folder);
    snprintf(path, sizeof path, "%s/run.json", folder);
    if (brio__tree_read(path, &root, NULL) != BRIO_OK) return;
    if (root->kind == BRIO_NODE_MAP) scene = brio__node_get(root, "scene");
    if (scene && scene->kind == BRIO_NODE_MAP) {
        BrioNode *integrator = brio__node_get(scene, "integrator"), *time = brio__node_get(scene, "time");
        if (integrator && integrator->kind == BRIO_NODE_MAP) integrator = brio__node_get(integrator, "type");
        BrioNode *h = time && time->kind == BRIO_NODE_MAP ? brio__node_get(time, "h") : NULL;
        if (integrator && integrator->text) snprintf(text, size, h && h->text ? "%s, h = %s s" : "%s", integrator->text, h ? h->text : "");
    }
    brio__tree_free(root);
}
