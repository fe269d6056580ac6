/* The program under mpirun: every process runs main, the first one prints. */
#include "commands.h"

#ifdef BRIO_HAVE_MPI
#include "internal.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static char last_words[4608];

/* The others wait for this process in vain: nothing can be saved, the job ends. */
static void on_loss(const char *why)
{
    fprintf(stderr, "brio: process %d of %d cannot go on: %s\n", brio__process(), brio__processes(),
            why);
    fflush(stderr);
    brio__processes_abort();
}

bool cluster_begin(void)
{
    BrioError error = {0};
    if (!brio__processes_launched()) return true;
    brio__processes_on_loss(on_loss);
    brio_set_threads(1); /* processes share the cores; --threads changes it */
    if (brio__processes_start(&error) == BRIO_OK) return true;
    say_error(&error, EXIT_FAILED);
    return false;
}

void cluster_end(void) { brio__processes_stop(); }
bool cluster_is_root(void) { return brio__process() == 0; }
bool cluster_is_one(void) { return !brio__processes_launched(); }
BrioStatus cluster_same(BrioStatus status, BrioError *error)
{
    return brio__processes_same(status, error);
}

/* mpirun ends all processes this way when one of them is gone. The current step will never end:
 * nothing more can be saved. */
static void on_end(int number)
{
    stop_wanted = 1;
    signal(number, SIG_DFL);
    ssize_t written = write(STDERR_FILENO, last_words, strlen(last_words));
    (void)written;
}

static void on_stop(int number)
{
    (void)number;
    stop_wanted = 1;
}

void cluster_last_words(const char *out)
{
    if (!brio__processes_launched()) return;
    signal(SIGUSR1, on_stop); /* which mpirun passes on, and Slurm sends before the time is over */
    if (!cluster_is_root()) return;
    snprintf(last_words, sizeof last_words,
             "\nbrio: the job is being ended from outside, because a process died or someone "
             "stopped it; the last checkpoint is in %s: --resume continues from it, on any number "
             "of processes\n",
             out);
    signal(SIGTERM, on_end);
}

#else

#include <stdlib.h>

/* Processes that know nothing of each other would write the same results. */
bool cluster_begin(void)
{
    const char *size = getenv("OMPI_COMM_WORLD_SIZE"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!size || atoi(size) < 2) return true;
    if (rank && atoi(rank) == 0)
        fprintf(stderr,
                "brio: mpirun has started %s processes, and this brio was built for one: `make "
                "MPI=1` builds one for several (docs/cluster.md)\n",
                size);
    return false;
}

void cluster_end(void) {}
bool cluster_is_root(void) { return true; }
bool cluster_is_one(void) { return true; }
void cluster_last_words(const char *out) { (void)out; }

BrioStatus cluster_same(BrioStatus status, BrioError *error)
{
    (void)error;
    return status;
}
#endif
