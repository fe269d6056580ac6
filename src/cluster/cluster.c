#include "cluster.h"

#include "split.h"

#include <petscksp.h>
#include <petscsf.h>

#include <stdlib.h>
#include <string.h>

static bool started;
static int process, processes = 1;

int brio__cluster_process(void) { return process; }

bool brio__cluster_launched(void)
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

BrioStatus brio__cluster_start(BrioError *error)
{
    if (started) return BRIO_OK;
    static const char *const fixed[] = {"-options_left 0", "-no_signal_handler"};
    if (PetscInitializeNoArguments())
        return brio__error(error, BRIO_ERROR_UNSUPPORTED, "PETSc and MPI could not be started");
    started = true;
    PetscPushErrorHandler(say_petsc, NULL);
    MPI_Comm_rank(PETSC_COMM_WORLD, &process);
    MPI_Comm_size(PETSC_COMM_WORLD, &processes);
    for (size_t i = 0; i < BRIO_COUNT(fixed); i++) PetscOptionsInsertString(NULL, fixed[i]);
    return BRIO_OK;
}

void brio__cluster_stop(void)
{
    if (started) PetscFinalize();
    started = false;
}

void brio__cluster_version(char *text, size_t size)
{
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(mpi, &length); /* allowed before MPI_Init */
    mpi[strcspn(mpi, ",\n")] = 0;
    snprintf(text, size, "PETSc %d.%d.%d, %s", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR,
             PETSC_VERSION_SUBMINOR, mpi);
}

void brio__cluster_abort(const char *why)
{
    fprintf(stderr, "brio: process %d of %d cannot go on: %s\n", process, processes, why);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static void must(bool fine, const char *what)
{
    if (!fine) brio__cluster_abort(what);
}

BrioStatus brio__cluster_same(BrioStatus status, BrioError *error)
{
    if (processes == 1) return status;
    int code = status;
    MPI_Bcast(&code, 1, MPI_INT, 0, PETSC_COMM_WORLD);
    if (code != BRIO_OK && error) MPI_Bcast(error, sizeof *error, MPI_BYTE, 0, PETSC_COMM_WORLD);
    return (BrioStatus)code;
}

/* ---- messages --------------------------------------------------------------------------- */

/* Ghosts are leaves, owned blocks are roots; a unit is three numbers. */
typedef struct Channel {
    PetscSF ghosts;
    MPI_Datatype point;
} Channel;

static void sum(BrioShare *share, double *value, int64_t count)
{
    (void)share;
    MPI_Allreduce(MPI_IN_PLACE, value, (int)count, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD);
}

static void most(BrioShare *share, double *value, int64_t count)
{
    (void)share;
    MPI_Allreduce(MPI_IN_PLACE, value, (int)count, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
}

static void spread(BrioShare *share, double *vector)
{
    Channel *c = share->channel;
    must(!PetscSFBcastBegin(c->ghosts, c->point, vector, vector, MPI_REPLACE) &&
             !PetscSFBcastEnd(c->ghosts, c->point, vector, vector, MPI_REPLACE),
         "ghosts could not be sent");
}

static void complete(BrioShare *share, double *vector)
{
    Channel *c = share->channel;
    must(!PetscSFReduceBegin(c->ghosts, c->point, vector, vector, MPIU_SUM) &&
             !PetscSFReduceEnd(c->ghosts, c->point, vector, vector, MPIU_SUM),
         "shares could not be added up");
    spread(share, vector);
}

static void tell(BrioShare *share, int from, void *data, size_t size)
{
    (void)share;
    MPI_Bcast(data, (int)size, MPI_BYTE, from, PETSC_COMM_WORLD);
}

static void collect(BrioShare *share, const double *value, const int64_t *number,
                    const uint8_t *tells, int64_t count, int width, int64_t begin, int64_t end,
                    double *out)
{
    int here = 0, *counts = NULL, *starts = NULL, all = 0;
    for (int64_t i = 0; i < count; i++)
        here += (!tells || tells[i]) && number[i] >= begin && number[i] < end;
    int64_t *place = brio__alloc((size_t)here + 1, sizeof *place), *places = NULL;
    double *kept = brio__alloc((size_t)here * (size_t)width + 1, sizeof *kept), *values = NULL;
    must(place && kept, "out of memory while the state was collected");
    int at = 0;
    for (int64_t i = 0; i < count; i++) {
        if ((tells && !tells[i]) || number[i] < begin || number[i] >= end) continue;
        place[at] = number[i] - begin;
        memcpy(kept + (int64_t)at++ * width, value + i * width, (size_t)width * sizeof *value);
    }
    if (share->process == 0) {
        counts = brio__calloc((size_t)share->processes, sizeof *counts);
        starts = brio__calloc((size_t)share->processes, sizeof *starts);
        must(counts && starts, "out of memory while the state was collected");
    }
    MPI_Gather(&here, 1, MPI_INT, counts, 1, MPI_INT, 0, PETSC_COMM_WORLD);
    for (int p = 0; counts && p < share->processes; p++) starts[p] = all, all += counts[p];
    if (share->process == 0) {
        places = brio__alloc((size_t)all + 1, sizeof *places);
        values = brio__alloc((size_t)all * (size_t)width + 1, sizeof *values);
        must(places && values, "out of memory while the state was collected");
    }
    MPI_Gatherv(place, here, MPI_INT64_T, places, counts, starts, MPI_INT64_T, 0, PETSC_COMM_WORLD);
    for (int p = 0; counts && p < share->processes; p++) starts[p] *= width, counts[p] *= width;
    MPI_Gatherv(kept, here * width, MPI_DOUBLE, values, counts, starts, MPI_DOUBLE, 0,
                PETSC_COMM_WORLD);
    for (int i = 0; i < all; i++)
        memcpy(out + places[i] * width, values + (int64_t)i * width, (size_t)width * sizeof *out);
    void *arrays[] = {counts, starts, place, places, kept, values};
    for (size_t i = 0; i < BRIO_COUNT(arrays); i++) brio__free(arrays[i]);
}

/* PETSc counts the calls of MPI, ours too. */
static void traffic(BrioShare *share, double sent[3])
{
    (void)share;
    sent[0] = petsc_isend_ct + petsc_send_ct;
    sent[1] = petsc_isend_len + petsc_send_len;
    sent[2] = petsc_allreduce_ct + petsc_gather_ct + petsc_scatter_ct;
}

static void destroy(BrioShare *share)
{
    Channel *c = share->channel;
    if (c && started) {
        PetscSFDestroy(&c->ghosts);
        MPI_Type_free(&c->point);
    }
    brio__free(c);
    brio__share_free(share);
}

static void open_channel(BrioSystem *system, const int32_t *ghost)
{
    BrioShare *share = system->share;
    PetscInt ghosts = system->block_count - share->owned, *leaf = NULL;
    PetscSFNode *root = NULL;
    Channel *c = brio__calloc(1, sizeof *c);
    must(c && !PetscMalloc1(ghosts, &leaf) && !PetscMalloc1(ghosts, &root), "out of memory");
    for (PetscInt i = 0; i < ghosts; i++) {
        leaf[i] = share->owned + i;
        root[i] = (PetscSFNode){.rank = ghost[2 * i], .index = ghost[2 * i + 1]};
    }
    MPI_Type_contiguous(3, MPI_DOUBLE, &c->point);
    MPI_Type_commit(&c->point);
    must(!PetscSFCreate(PETSC_COMM_WORLD, &c->ghosts) &&
             !PetscSFSetGraph(c->ghosts, share->owned, ghosts, leaf, PETSC_OWN_POINTER, root,
                              PETSC_OWN_POINTER) &&
             !PetscSFSetUp(c->ghosts),
         "the ghosts could not be set up");
    share->channel = c;
    share->sum = sum;
    share->most = most;
    share->spread = spread;
    share->complete = complete;
    share->tell = tell;
    share->collect = collect;
    share->traffic = traffic;
    share->destroy = destroy;
}

/* ---- who owns what ---------------------------------------------------------------------- */

/* Vertices of the graph are coordinate blocks, edges are elements that have both. */
static BrioStatus graph_of(const BrioSystem *s, PetscInt **start_out, PetscInt **neighbour_out)
{
    BrioEvaluator *evaluator;
    int64_t *start = NULL;
    int32_t *neighbour = NULL;
    BRIO_CHECK(brio__evaluator_create(s, s->term, s->term_count, &evaluator));
    BrioStatus status = brio__evaluator_graph(evaluator, &start, &neighbour);
    brio__evaluator_free(evaluator);
    if (status == BRIO_OK && start[s->block_count] > INT32_MAX) status = BRIO_ERROR_TOO_LARGE;
    if (status == BRIO_OK && (PetscMalloc1((size_t)s->block_count + 1, start_out) ||
                              PetscMalloc1((size_t)start[s->block_count] + 1, neighbour_out)))
        status = BRIO_ERROR_MEMORY;
    for (int64_t b = 0; status == BRIO_OK && b <= s->block_count; b++)
        (*start_out)[b] = (PetscInt)start[b];
    for (int64_t k = 0; status == BRIO_OK && k < start[s->block_count]; k++)
        (*neighbour_out)[k] = neighbour[k];
    brio__free(start);
    brio__free(neighbour);
    return status;
}

/* On one process: graphs are small beside what is computed on them. */
static BrioStatus partition(const BrioSystem *s, int32_t **owner_out)
{
    PetscInt *start = NULL, *neighbour = NULL;
    int32_t *owner = brio__calloc((size_t)s->block_count, sizeof *owner);
    if (!owner) return BRIO_ERROR_MEMORY;
    *owner_out = owner;
    if (processes == 1) return BRIO_OK;
    if (s->block_count < 8 * processes) { /* too few for a partitioner: by number */
        for (int64_t b = 0; b < s->block_count; b++)
            owner[b] = (int32_t)(b * processes / s->block_count);
        return BRIO_OK;
    }
    /* with more threads it finds other parts in every run */
    setenv("SCOTCH_PTHREAD_NUMBER", "1", 1);
    BrioStatus status = graph_of(s, &start, &neighbour);
    Mat graph = NULL;
    MatPartitioning parts = NULL;
    IS result = NULL;
    const PetscInt *found = NULL;
    if (status == BRIO_OK) {
        bool fine = !MatCreateMPIAdj(PETSC_COMM_SELF, s->block_count, s->block_count, start,
                                     neighbour, NULL, &graph) &&
                    !MatPartitioningCreate(PETSC_COMM_SELF, &parts) &&
                    !MatPartitioningSetAdjacency(parts, graph) &&
                    !MatPartitioningSetNParts(parts, processes) &&
                    !MatPartitioningSetType(parts, MATPARTITIONINGPTSCOTCH) &&
                    !MatPartitioningSetFromOptions(parts) &&
                    !MatPartitioningApply(parts, &result) && !ISGetIndices(result, &found);
        status = fine ? BRIO_OK : BRIO_ERROR_UNSUPPORTED;
    }
    for (int32_t b = 0; status == BRIO_OK && b < s->block_count; b++) owner[b] = (int32_t)found[b];
    if (found) ISRestoreIndices(result, &found);
    ISDestroy(&result);
    MatPartitioningDestroy(&parts);
    MatDestroy(&graph); /* and the arrays */
    if (status != BRIO_OK) brio__free(owner), *owner_out = NULL;
    return status;
}

/* ---- sharing out ------------------------------------------------------------------------ */

enum { PIECE = 1 << 30 }; /* bytes of one message */

static void send(int to, const char *bytes, size_t size)
{
    uint64_t length = size;
    MPI_Send(&length, 1, MPI_UINT64_T, to, 0, PETSC_COMM_WORLD);
    for (size_t at = 0; at < size; at += PIECE)
        MPI_Send(bytes + at, (int)BRIO_MIN(size - at, (size_t)PIECE), MPI_BYTE, to, 1,
                 PETSC_COMM_WORLD);
}

static char *receive(size_t *size)
{
    uint64_t length;
    MPI_Recv(&length, 1, MPI_UINT64_T, 0, 0, PETSC_COMM_WORLD, MPI_STATUS_IGNORE);
    char *bytes = brio__alloc(length, 1);
    must(bytes, "out of memory for its share of the scene");
    for (size_t at = 0; at < length; at += PIECE)
        MPI_Recv(bytes + at, (int)BRIO_MIN(length - at, (size_t)PIECE), MPI_BYTE, 0, 1,
                 PETSC_COMM_WORLD, MPI_STATUS_IGNORE);
    *size = length;
    return bytes;
}

/* What a process that has read no scene needs of it. Names are those of tables that all processes
 * have. */
typedef struct Settings {
    double end, fps, h, values[BRIO_MAX_VALUES], damping_values[BRIO_MAX_DAMPING][BRIO_MAX_VALUES];
    char integrator[64], solver[32], linear[32], linear_options[1024],
        damping[BRIO_MAX_DAMPING][64], format[BRIO_MOST_FORMATS][16], isa[16];
    BrioSolverOptions options; /* its texts come from those above */
    int64_t every, energy_every;
    int damping_count, format_count, probe_count;
    bool motion, velocities;
} Settings;

static void settings_of(const BrioScene *scene, Settings *n)
{
    const BrioSimDef *def = &scene->def;
    *n = (Settings){.end = scene->end,
                    .fps = scene->fps,
                    .h = def->h,
                    .options = def->solver,
                    .every = scene->every,
                    .energy_every = scene->energy_every,
                    .damping_count = def->damping_count,
                    .format_count = scene->format_count,
                    .probe_count = scene->probe_count,
                    .motion = scene->motion,
                    .velocities = scene->velocities};
    memcpy(n->values, def->values, sizeof n->values);
    snprintf(n->integrator, sizeof n->integrator, "%s", def->integrator);
    snprintf(n->solver, sizeof n->solver, "%s", def->solver.type);
    snprintf(n->linear, sizeof n->linear, "%s", def->solver.linear);
    snprintf(n->linear_options, sizeof n->linear_options, "%s",
             def->solver.linear_options ? def->solver.linear_options : "");
    for (int i = 0; i < def->damping_count; i++) {
        snprintf(n->damping[i], sizeof n->damping[i], "%s", def->damping[i].type);
        memcpy(n->damping_values[i], def->damping[i].values, sizeof n->damping_values[i]);
    }
    for (int i = 0; i < scene->format_count; i++)
        snprintf(n->format[i], sizeof n->format[i], "%s", scene->format[i]->name);
}

static BrioScene *scene_of(const Settings *n)
{
    static char linear_options[1024];
    BrioScene *scene = brio__calloc(1, sizeof *scene);
    must(scene, "out of memory");
    scene->end = n->end;
    scene->fps = n->fps;
    scene->every = n->every;
    scene->energy_every = n->energy_every;
    scene->motion = n->motion;
    scene->velocities = n->velocities;
    scene->file = brio__strdup("");
    scene->title = brio__strdup("");
    scene->def = (BrioSimDef){.h = n->h, .solver = n->options, .damping_count = n->damping_count};
    const BrioIntegrator *integrator = brio_integrator(n->integrator);
    const BrioLinearType *linear = brio__linear_type(n->linear);
    must(integrator && linear, "another brio runs on another process");
    scene->def.integrator = integrator->name;
    scene->def.solver.linear = linear->name;
    snprintf(linear_options, sizeof linear_options, "%s", n->linear_options);
    scene->def.solver.linear_options = n->linear_options[0] ? linear_options : NULL;
    scene->def.solver.type = brio__solver_type(n->solver);
    memcpy(scene->def.values, n->values, sizeof n->values);
    for (int i = 0; i < n->damping_count; i++) {
        for (int k = 0; brio_damping_at(k); k++)
            if (!strcmp(brio_damping_at(k), n->damping[i]))
                scene->def.damping[i].type = brio_damping_at(k);
        memcpy(scene->def.damping[i].values, n->damping_values[i], sizeof n->damping_values[i]);
    }
    for (int i = 0; i < n->format_count; i++) scene->format[i] = brio__frames(n->format[i]);
    scene->format_count = n->format_count;
    return scene;
}

/* Process 0: one share after the other, its own last. */
static BrioStatus share_out(BrioScene *scene, uint64_t hash, int32_t **local_of, BrioSystem **own,
                            BrioState **own_state, int32_t **own_ghost)
{
    BrioSystem *whole = scene->system;
    BrioDivision d = {0};
    int32_t *owner = NULL;
    int64_t *probe = brio__alloc((size_t)scene->probe_count + 1, sizeof *probe);
    *local_of = brio__alloc((size_t)whole->vertex_count, sizeof **local_of);
    BrioStatus status = probe && *local_of ? partition(whole, &owner) : BRIO_ERROR_MEMORY;
    for (int i = 0; status == BRIO_OK && i < scene->probe_count; i++)
        probe[i] = whole->body[scene->probe[i].body].first + scene->probe[i].vertex;
    if (status == BRIO_OK)
        status = brio__division_create(whole, processes, owner, probe, scene->probe_count, &d);
    brio__free(probe);
    status = brio__cluster_same(status, NULL);
    if (status != BRIO_OK) return status;
    for (int p = processes - 1; p >= 0; p--) {
        BrioSystem *share;
        BrioState *state;
        int32_t *ghost;
        must(brio__split(whole, scene->state, &d, p, &share, &state, &ghost,
                         p == 0 ? *local_of : NULL) == BRIO_OK,
             "out of memory while the scene was shared out");
        share->share->scene = hash;
        if (p == 0) {
            *own = share, *own_state = state, *own_ghost = ghost;
            break;
        }
        char *bytes;
        size_t size;
        must(brio__pack(share, state, ghost, &bytes, &size) == BRIO_OK,
             "out of memory while the scene was shared out");
        brio_system_free(share);
        brio_state_free(state);
        brio__free(ghost);
        send(p, bytes, size);
        brio__free(bytes);
    }
    brio__division_free(&d);
    return BRIO_OK;
}

BrioStatus brio__cluster_split(BrioScene **scene, uint64_t hash, int32_t **local_of,
                               BrioError *error)
{
    static Settings settings;
    BrioSystem *own = NULL;
    BrioState *state = NULL;
    int32_t *ghost = NULL;
    *local_of = NULL;
    if (process == 0) {
        BrioSolverOptions *o = &(*scene)->def.solver;
        if (!strcmp(o->linear, "auto")) o->linear = brio__linear_type("petsc")->name;
        settings_of(*scene, &settings);
        snprintf(settings.isa, sizeof settings.isa, "%s", brio_isa());
    }
    MPI_Bcast(&settings, sizeof settings, MPI_BYTE, 0, PETSC_COMM_WORLD);
    must(!strcmp(settings.isa, brio_isa()),
         "its machine has another instruction set than that of process 0, which gives other last "
         "bits; set BRIO_ISA to one that all have");
    if (process == 0) {
        BrioStatus status = share_out(*scene, hash, local_of, &own, &state, &ghost);
        if (status != BRIO_OK)
            return brio__error(error, status, "the scene could not be shared out: %s",
                               brio_status_text(status));
        brio_system_free((*scene)->system);
        brio_state_free((*scene)->state);
        brio__free((*scene)->rest);
        (*scene)->rest = NULL;
        for (int i = 0; i < (*scene)->probe_count; i++) { /* their numbers here */
            BrioProbe *p = &(*scene)->probe[i];
            p->vertex = (int32_t)((*local_of)[own->share->body[p->body].first + p->vertex] -
                                  own->body[p->body].first);
        }
    } else {
        BrioStatus status = brio__cluster_same(BRIO_OK, NULL);
        if (status != BRIO_OK)
            return brio__error(error, status, "the scene could not be shared out");
        size_t size;
        char *bytes = receive(&size);
        must(brio__unpack(bytes, size, &own, &state, &ghost) == BRIO_OK,
             "out of memory for its share of the scene");
        brio__free(bytes);
        *scene = scene_of(&settings);
    }
    open_channel(own, ghost);
    brio__free(ghost);
    (*scene)->system = own;
    (*scene)->state = state;
    return BRIO_OK;
}
