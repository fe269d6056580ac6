/* A run inside a step (inside.h). */
#include "inside.h"

#include "../number.h"
#include "../sim/sim.h"

/* s: of a step before its progress is reported, and between two reports */
static const double patience = 1, pause_between = 0.1;

bool brio__inside_stop_asked(const BrioInside *in)
{
    const volatile sig_atomic_t *stop = in->options->stop;
    return stop && __atomic_load_n(stop, __ATOMIC_RELAXED);
}

/* As BrioWatchFn: in every iteration of a step. */
static int look_inside(void *user, const BrioIteration *iteration)
{
    BrioInside *in = user;
    double now = brio__seconds();
    if (brio__inside_stop_asked(in)) return 1;
    if (now - in->start < patience || now - in->told < pause_between) return 0;
    in->told = now;
    in->tell(in->run, iteration, now - in->start);
    return brio__inside_stop_asked(in);
}

BrioStatus brio__inside_create(BrioInside *in, BrioSim *sim, BrioError *error)
{
    in->sim = sim;
    brio_sim_watch(sim, look_inside, in);
    return in->options->control ? brio_state_copy(sim->state, &in->kept, error) : BRIO_OK;
}

void brio__inside_free(BrioInside *in) { brio_state_free(in->kept); }

void brio__inside_enter(BrioInside *in)
{
    BrioRunControl *control = in->options->control;
    in->totals = in->sim->stepper->solver->totals;
    in->start = in->told = brio__seconds();
    if (!control) return;
    brio_state_assign(in->kept, in->sim->state);
    pthread_mutex_lock(&control->mutex);
    control->inside = in;
    control->phase = BRIO_RUN_STEPPING;
    pthread_mutex_unlock(&control->mutex);
}

void brio__inside_leave(const BrioInside *in)
{
    BrioRunControl *control = in->options->control;
    if (!control) return;
    pthread_mutex_lock(&control->mutex);
    control->phase = BRIO_RUN_WRITING;
    pthread_mutex_unlock(&control->mutex);
}

BrioStatus brio__inside_step(BrioInside *in)
{
    brio__inside_enter(in);
    BrioStatus status = brio_sim_step(in->sim, NULL);
    brio__inside_leave(in);
    if (status == BRIO_STOPPED) in->sim->stepper->solver->totals = in->totals;
    return status;
}

bool brio__run_end(BrioRunControl *control, BrioRunResult *result, BrioStatus *status,
                   BrioError *error)
{
    /* locked for good: the run's thread waits for it in brio__inside_leave */
    pthread_mutex_lock(&control->mutex);
    if (control->phase == BRIO_RUN_WRITING) {
        pthread_mutex_unlock(&control->mutex);
        return false;
    }
    *status = BRIO_STOPPED;
    *result = (BrioRunResult){.verdict = BRIO_VERDICT_STOPPED};
    if (control->phase == BRIO_RUN_SETUP) {
        brio__error(error, BRIO_STOPPED, "stopped on request before anything was written");
        return true;
    }
    const BrioInside *in = control->inside;
    BrioSolver solver = {.totals = in->totals};
    BrioStepper stepper = {.solver = &solver};
    BrioSim sim = {.system = in->sim->system, .state = in->kept, .stepper = &stepper};
    locale_t before = brio__c_locale_enter();
    *status = in->end(in->run, &sim, result, error);
    brio__c_locale_leave(before);
    return true;
}
