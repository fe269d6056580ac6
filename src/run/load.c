/* Earlier results, for commands that look at them. */
#include "run.h"

#include "../memory_text.h"
#include "../sim/ledger.h"

#include <stdlib.h>
#include <sys/stat.h>

/* The scene as text, from the document run.json. */
static BrioStatus scene_text(BrioNode *root, const char *path, char **text, size_t *size,
                             BrioError *error)
{
    BrioNode *scene = root->kind == BRIO_NODE_MAP ? brio__node_get(root, "scene") : NULL;
    if (!scene)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "%s holds no scene: it was not written by `brio run`", path);
    FILE *file = open_memstream(text, size);
    if (!file) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    BrioStatus status = brio__tree_json(scene, 0, file);
    if (brio__text_close(file, text)) status = BRIO_ERROR_MEMORY;
    return status == BRIO_OK ? BRIO_OK : brio__error(error, status, "%s", brio_status_text(status));
}

/* Its files are named relative to the scene file, and that relative to the folder in which the run
 * was started. */
BrioStatus brio__run_scene(const char *out, BrioScene **scene, BrioError *error)
{
    BrioNode *root = NULL;
    struct stat info;
    char path[4200];
    *scene = NULL;
    if (stat(out, &info) || !S_ISDIR(info.st_mode)) return brio__no_folder(out, error);
    snprintf(path, sizeof path, "%s/run.json", out);
    char *text = NULL;
    size_t size = 0;
    BrioError inner = {0};
    BRIO_CHECK(brio__tree_read(path, &root, error));
    BrioStatus status = scene_text(root, path, &text, &size, error);
    if (status == BRIO_OK) {
        BrioNode *file = brio__node_get(root, "scene_file");
        status =
            brio__scene_parse(text, size, file && file->text ? file->text : path, scene, &inner);
        if (status != BRIO_OK)
            brio__error(error, status,
                        "the scene kept in %s cannot be built again: %s%s%s; if files that it "
                        "names are missing, go to the folder in which "
                        "`brio run` was started",
                        path, inner.path, inner.path[0] ? ": " : "", inner.message);
    }
    free(text);
    brio__tree_free(root);
    return status;
}

/* Meshes may have been changed since the run: then the energy is not the one that was written. */
static BrioStatus check_energy(const char *out, const BrioScene *scene, BrioSim *sim,
                               const BrioCheckpoint *c, BrioError *error)
{
    BrioLedger l;
    if (c->energy.length == 0 || sim->state->step % scene->energy_every) return BRIO_OK;
    brio_sim_ledger(sim, &l);
    double scale = l.kinetic + fabs(l.elastic) + fabs(l.gravity) + fabs(l.attachment);
    if (fabs(l.total - c->totals.last_energy) <= 1e-6 * scale) return BRIO_OK;
    return brio__error(error, BRIO_ERROR_INPUT,
                       "%s: the energy of the last state is %.9g J with the scene's files as they "
                       "are now and was %.9g J in the run: the files have changed since; run the "
                       "scene again",
                       out, l.total, c->totals.last_energy);
}

BrioStatus brio__run_load(const char *out, BrioScene **scene, BrioSim **sim, BrioError *error)
{
    BrioFolder folder = {.fd = -1};
    BrioCheckpoint checkpoint = {0};
    struct stat info;
    *scene = NULL;
    *sim = NULL;
    if (stat(out, &info) || !S_ISDIR(info.st_mode)) return brio__no_folder(out, error);
    BRIO_CHECK(brio__folder_open(out, false, &folder, error));
    BrioStatus status = BRIO_OK;
    if (!brio__checkpoint_exists(&folder))
        status = brio__error(
            error, BRIO_ERROR_FILE,
            "%s contains no results of `brio run` (there is no %s): give the folder of a run", out,
            BRIO_CHECKPOINT_NAME);
    if (status == BRIO_OK) status = brio__run_scene(out, scene, error);
    if (status == BRIO_OK) status = brio__scene_sim(*scene, sim, error);
    if (status == BRIO_OK)
        status = brio__checkpoint_read(&folder, &checkpoint, (*sim)->state, NULL, error);
    if (status == BRIO_OK) status = check_energy(out, *scene, *sim, &checkpoint, error);
    brio__free(checkpoint.frame_time);
    brio__folder_close(&folder);
    if (status == BRIO_OK) return BRIO_OK;
    brio_sim_free(*sim);
    brio__scene_free(*scene);
    *sim = NULL;
    *scene = NULL;
    return status;
}
