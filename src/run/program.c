/* Runs for programs that see the public header only: brio_run, brio_run_open. */
#include "run.h"

typedef struct Teller {
    const BrioRunDef *def;
    BrioProgress last;
    volatile sig_atomic_t stop;
} Teller;

static void tell_program(void *user, const BrioRunProgress *p)
{
    Teller *teller = user;
    teller->last = (BrioProgress){.step = p->step,
                                  .steps = p->steps,
                                  .time = p->time,
                                  .end = p->end,
                                  .energy = p->energy,
                                  .inside = p->inside};
    if (teller->def->progress && teller->def->progress(teller->def->user, &teller->last))
        teller->stop = 1;
    teller->last.inside = NULL; /* gone with this call */
}

BrioRunDef brio_default_run(void) { return (BrioRunDef){.source = brio_default_source()}; }

BrioStatus brio_run(const BrioRunDef *def, BrioProgress *last, BrioError *error)
{
    BRIO_NEEDS(def, error);
    BrioScene *scene = NULL;
    BrioRunResult result = {0};
    Teller teller = {.def = def};
    BrioRunOptions options = {.out = def->out,
                              .force = def->force,
                              .resume = def->resume,
                              .stop = &teller.stop,
                              .progress = tell_program,
                              .user = &teller};
    if (error) *error = (BrioError){0};
    if (!def->out || !def->out[0])
        return brio__error(error, BRIO_ERROR_ARGUMENT, "a run needs a folder for its results");
    if (def->force && def->resume)
        return brio__error(error, BRIO_ERROR_ARGUMENT,
                           "force starts again and resume continues: give one of them");
    BRIO_CHECK(brio__scene_open(&def->source, &scene, error));
    BrioStatus status = brio__run(scene, &options, &result, error);
    if (status != BRIO_OK)
        brio__error(error, status, "%s",
                    result.reason[0] ? result.reason : brio_status_text(status));
    teller.last.end = scene->end;
    teller.last.step = result.step;
    teller.last.steps = result.steps;
    teller.last.time = result.time;
    teller.last.energy = result.totals.last_energy;
    if (last) *last = teller.last;
    brio__scene_free(scene);
    return status;
}

BrioStatus brio_run_open(const char *folder, BrioSim **sim, BrioError *error)
{
    BRIO_NEEDS(folder && sim, error);
    BrioScene *scene = NULL;
    if (error) *error = (BrioError){0};
    BRIO_CHECK(brio__run_load(folder, &scene, sim, error));
    brio__scene_free(scene);
    return BRIO_OK;
}
