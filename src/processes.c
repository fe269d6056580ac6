/* PETSc is started once and never again: MPI allows no second start. */
#include "processes.h"

#include <petscsys.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool started;
static int process, processes = 1;

static void (*on_loss)(const char *why);

int brio__process(void) { return process; }
int brio__processes(void) { return processes; }

bool brio__processes_launched(void)
{
    static const char *const sign[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK",
                                       "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < BRIO_COUNT(sign); i++)
        if (getenv(sign[i])) return true;
    return false;
}

/* PETSc's own words, for what is a fault of a program or of its options. */
static PetscErrorCode say_petsc(MPI_Comm comm, int line, const char *function, const char *file,
                                PetscErrorCode code, PetscErrorType type, const char *message,
                                void *context)
{
    (void)comm, (void)line, (void)function, (void)file, (void)context;
    if (type == PETSC_ERROR_INITIAL && message && process == 0)
        brio__log(BRIO_LOG_ERROR, "PETSc: %s", message);
    return code;
}

/* Open MPI's processes look out for messages without a pause. Where there are more of them than
 * cores, those that wait must give their core to those that work. Asked for before MPI begins; a
 * choice of the user is kept. */
static void yield_where_cores_are_short(void)
{
    const char *here = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    if (here && atol(here) > sysconf(_SC_NPROCESSORS_ONLN))
        setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
}

BrioStatus brio__processes_start(BrioError *error)
{
    if (started) return BRIO_OK;
    static const char *const fixed[] = {"-options_left 0", "-no_signal_handler"};
    yield_where_cores_are_short();
    if (PetscInitializeNoArguments())
        return brio__error(error, BRIO_ERROR_UNSUPPORTED, "PETSc and MPI could not be started");
    started = true;
    PetscPushErrorHandler(say_petsc, NULL);
    MPI_Comm_rank(PETSC_COMM_WORLD, &process);
    MPI_Comm_size(PETSC_COMM_WORLD, &processes);
    for (size_t i = 0; i < BRIO_COUNT(fixed); i++) PetscOptionsInsertString(NULL, fixed[i]);
    return BRIO_OK;
}

void brio__processes_stop(void)
{
    if (started) PetscFinalize();
    started = false;
}

void brio__processes_version(char *text, size_t size)
{
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(mpi, &length); /* allowed before MPI_Init */
    mpi[strcspn(mpi, ",\n")] = 0;
    snprintf(text, size, "PETSc %d.%d.%d, %s", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR,
             PETSC_VERSION_SUBMINOR, mpi);
}

void brio__processes_on_loss(void (*lost)(const char *why)) { on_loss = lost; }

void brio__processes_lose(const char *why)
{
    if (on_loss)
        on_loss(why);
    else
        brio__log(BRIO_LOG_ERROR, "process %d of %d cannot go on: %s", process, processes, why);
}

void brio__processes_abort(void)
{
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

BrioStatus brio__processes_same(BrioStatus status, BrioError *error)
{
    if (processes == 1) return status;
    int code = status;
    MPI_Bcast(&code, 1, MPI_INT, 0, PETSC_COMM_WORLD);
    if (code != BRIO_OK && error) MPI_Bcast(error, sizeof *error, MPI_BYTE, 0, PETSC_COMM_WORLD);
    return (BrioStatus)code;
}

BrioStatus brio__processes_agree(BrioStatus status, BrioError *error)
{
    int first = status == BRIO_OK ? processes : process;
    int code = status;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD);
    if (first == processes) return BRIO_OK;
    MPI_Bcast(&code, 1, MPI_INT, first, PETSC_COMM_WORLD);
    if (error) MPI_Bcast(error, sizeof *error, MPI_BYTE, first, PETSC_COMM_WORLD);
    return (BrioStatus)code;
}
