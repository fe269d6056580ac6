/* What run.json says of earlier results. */
#include "results.h"

#include "internal.h"

#include <string.h>

void step_text(double h, char *text, size_t size)
{
    double whole = round(1 / h);
    if (whole >= 2 && whole < 1e9 && fabs(whole * h - 1) < 1e-9)
        snprintf(text, size, "1/%.0f", whole);
    else
        snprintf(text, size, "%.6g", h);
}

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
        BrioNode *integrator = brio__node_get(scene, "integrator");
        BrioNode *time = brio__node_get(scene, "time");
        if (integrator && integrator->kind == BRIO_NODE_MAP)
            integrator = brio__node_get(integrator, "type");
        BrioNode *h = time && time->kind == BRIO_NODE_MAP ? brio__node_get(time, "h") : NULL;
        double step;
        char words[40] = "1/30";
        if (h && brio__node_real(h, &step, NULL) == BRIO_OK) step_text(step, words, sizeof words);
        if (integrator && integrator->text)
            snprintf(text, size, "%s, h = %s s", integrator->text, words);
    }
    brio__tree_free(root);
}
