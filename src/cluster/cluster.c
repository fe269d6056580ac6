/* The messages of a partition over PETSc's star forests, the partition of a system, and how process
 * 0 shares a scene out. A failure of one process becomes the status of all wherever they can still
 * agree on it. */
#include "cluster.h"

#include "../processes.h"
#include "split.h"

#include <petscksp.h>
#include <petscsf.h>

#include <stdlib.h>
#include <string.h>

/* ---- messages --------------------------------------------------------------------------- */

/* Ghosts are leaves, owned blocks are roots; a unit is three numbers. */
typedef struct Channel {
    PetscSF ghosts;
    MPI_Datatype point;
} Channel;

/* Of an operation that the others wait in. */
static void lose(BrioPartition *partition, const char *why)
{
    partition->status = BRIO_ERROR_UNSUPPORTED;
    brio__processes_lose(why);
}

static void sum(BrioPartition *partition, double *value, int64_t count)
{
    (void)partition;
    MPI_Allreduce(MPI_IN_PLACE, value, (int)count, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD);
}

static void max(BrioPartition *partition, double *value, int64_t count)
{
    (void)partition;
    MPI_Allreduce(MPI_IN_PLACE, value, (int)count, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
}

static void spread(BrioPartition *partition, double *vector)
{
    Channel *c = partition->channel;
    bool sent = !PetscSFBcastBegin(c->ghosts, c->point, vector, vector, MPI_REPLACE) &&
                !PetscSFBcastEnd(c->ghosts, c->point, vector, vector, MPI_REPLACE);
    if (!sent) lose(partition, "ghosts could not be sent");
}

static void complete(BrioPartition *partition, double *vector)
{
    Channel *c = partition->channel;
    bool added = !PetscSFReduceBegin(c->ghosts, c->point, vector, vector, MPIU_SUM) &&
                 !PetscSFReduceEnd(c->ghosts, c->point, vector, vector, MPIU_SUM);
    if (!added) lose(partition, "parts of processes could not be added up");
    spread(partition, vector);
}

static void broadcast(BrioPartition *partition, int from, void *data, size_t size)
{
    (void)partition;
    MPI_Bcast(data, (int)size, MPI_BYTE, from, PETSC_COMM_WORLD);
}

/* What this process contributes to a global vector: places in [begin, end) and their numbers. */
typedef struct Given {
    int count;
    int64_t *place;
    double *value;
} Given;

static bool give(const double *value, const int64_t *number, const uint8_t *writes, int64_t count,
                 int width, int64_t begin, int64_t end, Given *given)
{
    *given = (Given){0};
    for (int64_t i = 0; i < count; i++)
        given->count += (!writes || writes[i]) && number[i] >= begin && number[i] < end;
    given->place = brio__alloc((size_t)given->count + 1, sizeof *given->place);
    given->value = brio__alloc((size_t)given->count * (size_t)width + 1, sizeof *given->value);
    if (!given->place || !given->value) return false;
    int at = 0;
    for (int64_t i = 0; i < count; i++) {
        if ((writes && !writes[i]) || number[i] < begin || number[i] >= end) continue;
        given->place[at] = number[i] - begin;
        memcpy(given->value + (int64_t)at++ * width, value + i * width,
               (size_t)width * sizeof *value);
    }
    return true;
}

/* Whether all processes have the memory that they need; if not, the partition has failed on all. */
static bool all_have(BrioPartition *partition, bool memory)
{
    if (!brio__partition_any(partition, !memory)) return true;
    if (partition->status == BRIO_OK) partition->status = BRIO_ERROR_MEMORY;
    return false;
}

static void collect(BrioPartition *partition, const double *value, const int64_t *number,
                    const uint8_t *writes, int64_t count, int width, int64_t begin, int64_t end,
                    double *out)
{
    Given here;
    int *counts = brio__calloc((size_t)partition->processes, sizeof *counts);
    int *starts = brio__calloc((size_t)partition->processes, sizeof *starts), all = 0;
    int64_t *places = NULL;
    double *values = NULL;
    bool memory = give(value, number, writes, count, width, begin, end, &here) && counts && starts;
    if (!all_have(partition, memory)) goto done;
    MPI_Gather(&here.count, 1, MPI_INT, counts, 1, MPI_INT, 0, PETSC_COMM_WORLD);
    for (int p = 0; partition->process == 0 && p < partition->processes; p++) {
        starts[p] = all;
        all += counts[p];
    }
    places = brio__alloc((size_t)all + 1, sizeof *places);
    values = brio__alloc((size_t)all * (size_t)width + 1, sizeof *values);
    if (!all_have(partition, places && values)) goto done;
    MPI_Gatherv(here.place, here.count, MPI_INT64_T, places, counts, starts, MPI_INT64_T, 0,
                PETSC_COMM_WORLD);
    for (int p = 0; p < partition->processes; p++) {
        starts[p] *= width;
        counts[p] *= width;
    }
    MPI_Gatherv(here.value, here.count * width, MPI_DOUBLE, values, counts, starts, MPI_DOUBLE, 0,
                PETSC_COMM_WORLD);
    for (int i = 0; i < all; i++)
        memcpy(out + places[i] * width, values + (int64_t)i * width, (size_t)width * sizeof *out);
done:;
    void *arrays[] = {counts, starts, here.place, places, here.value, values};
    for (size_t i = 0; i < BRIO_COUNT(arrays); i++) brio__free(arrays[i]);
}

/* PETSc counts the calls of MPI, ours too. */
static void traffic(BrioPartition *partition, double sent[3])
{
    (void)partition;
    sent[0] = petsc_isend_ct + petsc_send_ct;
    sent[1] = petsc_isend_len + petsc_send_len;
    sent[2] = petsc_allreduce_ct + petsc_gather_ct + petsc_scatter_ct;
}

static void destroy(BrioPartition *partition)
{
    Channel *c = partition->channel;
    if (c && brio__processes_launched()) {
        PetscSFDestroy(&c->ghosts);
        MPI_Type_free(&c->point);
    }
    brio__free(c);
    brio__partition_free(partition);
}

static BrioStatus open_channel(BrioSystem *system, const int32_t *ghost)
{
    BrioPartition *partition = system->partition;
    PetscInt ghosts = system->block_count - partition->owned, *leaf = NULL;
    PetscSFNode *root = NULL;
    Channel *c = brio__calloc(1, sizeof *c);
    bool memory = c && !PetscMalloc1(ghosts, &leaf) && !PetscMalloc1(ghosts, &root);
    BrioStatus status = brio__processes_agree(memory ? BRIO_OK : BRIO_ERROR_MEMORY, NULL);
    if (status != BRIO_OK) {
        PetscFree(leaf);
        PetscFree(root);
        brio__free(c);
        return status;
    }
    for (PetscInt i = 0; i < ghosts; i++) {
        leaf[i] = partition->owned + i;
        root[i] = (PetscSFNode){.rank = ghost[2 * i], .index = ghost[2 * i + 1]};
    }
    MPI_Type_contiguous(3, MPI_DOUBLE, &c->point);
    MPI_Type_commit(&c->point);
    bool allocated = !PetscSFCreate(PETSC_COMM_WORLD, &c->ghosts) &&
                     !PetscSFSetGraph(c->ghosts, partition->owned, ghosts, leaf, PETSC_OWN_POINTER,
                                      root, PETSC_OWN_POINTER) &&
                     !PetscSFSetUp(c->ghosts);
    if (!allocated) lose(partition, "the ghosts could not be set up");
    partition->channel = c;
    partition->sum = sum;
    partition->max = max;
    partition->spread = spread;
    partition->complete = complete;
    partition->broadcast = broadcast;
    partition->collect = collect;
    partition->traffic = traffic;
    partition->destroy = destroy;
    return partition->status;
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

/* On one process: graphs are small compared with the work done on them. */
static BrioStatus choose_owners(const BrioSystem *s, int32_t **owner_out)
{
    PetscInt *start = NULL, *neighbour = NULL;
    int32_t *owner = brio__calloc((size_t)s->block_count, sizeof *owner);
    if (!owner) return BRIO_ERROR_MEMORY;
    *owner_out = owner;
    int processes = brio__processes();
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

/* A length, the answer whether there is memory for it, and then the bytes. A length of zero says
 * that there will be none. */
static bool send(int to, const char *bytes, size_t size)
{
    uint64_t length = bytes ? size : 0;
    int taken = 0;
    MPI_Send(&length, 1, MPI_UINT64_T, to, 0, PETSC_COMM_WORLD);
    if (length) MPI_Recv(&taken, 1, MPI_INT, to, 2, PETSC_COMM_WORLD, MPI_STATUS_IGNORE);
    for (size_t at = 0; taken && at < size; at += PIECE)
        MPI_Send(bytes + at, (int)BRIO_MIN(size - at, (size_t)PIECE), MPI_BYTE, to, 1,
                 PETSC_COMM_WORLD);
    return taken;
}

/* NULL: process 0 has none for this process, or there is no memory for it. */
static char *receive(size_t *size)
{
    uint64_t length;
    MPI_Recv(&length, 1, MPI_UINT64_T, 0, 0, PETSC_COMM_WORLD, MPI_STATUS_IGNORE);
    char *bytes = length ? brio__alloc(length, 1) : NULL;
    int taken = bytes != NULL;
    if (length) MPI_Send(&taken, 1, MPI_INT, 0, 2, PETSC_COMM_WORLD);
    for (size_t at = 0; taken && at < length; at += PIECE)
        MPI_Recv(bytes + at, (int)BRIO_MIN(length - at, (size_t)PIECE), MPI_BYTE, 0, 1,
                 PETSC_COMM_WORLD, MPI_STATUS_IGNORE);
    *size = length;
    return bytes;
}

/* What a process that has read no scene needs of it. Names are those of tables that all processes
 * have. */
typedef struct Settings {
    double end, fps, h, tol, values[BRIO_MAX_VALUES];
    double damping_values[BRIO_MAX_DAMPING][BRIO_MAX_VALUES];
    char integrator[64], solver[32], linear[32], linear_options[1024],
        damping[BRIO_MAX_DAMPING][64], format[BRIO_MAX_FORMATS][16], isa[16];
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
                    .tol = def->tol,
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

static BrioStatus scene_of(const Settings *n, BrioScene **created, BrioError *error)
{
    static char linear_options[1024];
    const BrioIntegrator *integrator = brio_integrator(n->integrator);
    const BrioLinearType *linear = brio__linear_type(n->linear);
    *created = NULL;
    if (!integrator || !linear)
        return brio__error(error, BRIO_ERROR_UNSUPPORTED, "another brio runs on process %d",
                           brio__process());
    BrioScene *scene = brio__calloc(1, sizeof *scene);
    if (!scene) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    scene->end = n->end;
    scene->fps = n->fps;
    scene->every = n->every;
    scene->energy_every = n->energy_every;
    scene->motion = n->motion;
    scene->velocities = n->velocities;
    scene->file = brio__strdup("");
    scene->title = brio__strdup("");
    scene->def = (BrioSimDef){
        .h = n->h, .tol = n->tol, .solver = n->options, .damping_count = n->damping_count};
    scene->def.integrator = integrator->name;
    scene->def.solver.linear = linear->name;
    snprintf(linear_options, sizeof linear_options, "%s", n->linear_options);
    scene->def.solver.linear_options = n->linear_options[0] ? linear_options : NULL;
    scene->def.solver.type = brio__solver_type(n->solver)->name;
    memcpy(scene->def.values, n->values, sizeof n->values);
    for (int i = 0; i < n->damping_count; i++) {
        for (int k = 0; brio_damping_at(k); k++)
            if (!strcmp(brio_damping_at(k), n->damping[i]))
                scene->def.damping[i].type = brio_damping_at(k);
        memcpy(scene->def.damping[i].values, n->damping_values[i], sizeof n->damping_values[i]);
    }
    for (int i = 0; i < n->format_count; i++) scene->format[i] = brio__frames(n->format[i]);
    scene->format_count = n->format_count;
    *created = scene;
    return BRIO_OK;
}

/* What one process holds of the scene. */
typedef struct Piece {
    BrioSystem *system;
    BrioState *state;
    int32_t *ghost;
} Piece;

static void free_piece(Piece *piece)
{
    brio_system_free(piece->system);
    brio_state_free(piece->state);
    brio__free(piece->ghost);
    *piece = (Piece){0};
}

static BrioStatus divide(BrioScene *scene, BrioDivision *division)
{
    BrioSystem *whole = scene->system;
    int32_t *owner = NULL;
    int64_t *probe = brio__alloc((size_t)scene->probe_count + 1, sizeof *probe);
    BrioStatus status = probe ? choose_owners(whole, &owner) : BRIO_ERROR_MEMORY;
    for (int i = 0; status == BRIO_OK && i < scene->probe_count; i++)
        probe[i] = whole->body[scene->probe[i].body].first + scene->probe[i].vertex;
    if (status == BRIO_OK)
        status = brio__division_create(whole, brio__processes(), owner, probe, scene->probe_count,
                                       division);
    brio__free(probe);
    return status;
}

/* Process 0: one piece after the other, its own last. After a failure all others are told that
 * there is none for them. */
static BrioStatus distribute_scene(BrioScene *scene, uint64_t hash, int32_t **local_of, Piece *own)
{
    BrioSystem *whole = scene->system;
    BrioDivision d = {0};
    *local_of = brio__alloc((size_t)whole->vertex_count, sizeof **local_of);
    BrioStatus status = *local_of ? divide(scene, &d) : BRIO_ERROR_MEMORY;
    for (int p = brio__processes() - 1; p >= 0; p--) {
        Piece piece = {0};
        char *bytes = NULL;
        size_t size = 0;
        if (status == BRIO_OK)
            status = brio__split(whole, scene->state, &d, p, &piece.system, &piece.state,
                                 &piece.ghost, p == 0 ? *local_of : NULL);
        if (status == BRIO_OK) piece.system->partition->scene = hash;
        if (p == 0) {
            *own = piece;
            break;
        }
        if (status == BRIO_OK)
            status = brio__message_pack(piece.system, piece.state, piece.ghost, &bytes, &size);
        free_piece(&piece);
        if (!send(p, bytes, size) && status == BRIO_OK) status = BRIO_ERROR_MEMORY;
        brio__free(bytes);
    }
    brio__division_free(&d);
    return status;
}

/* Process 0 keeps the scene, with its own piece for the system, and probes in the numbers there. */
static void take_piece(BrioScene *scene, const Piece *own, const int32_t *local_of)
{
    brio_system_free(scene->system);
    brio_state_free(scene->state);
    brio__free(scene->rest);
    scene->rest = NULL;
    for (int i = 0; i < scene->probe_count; i++) {
        BrioProbe *p = &scene->probe[i];
        p->vertex = (int32_t)(local_of[own->system->partition->body[p->body].first + p->vertex] -
                              own->system->body[p->body].first);
    }
}

static bool has_cages(const BrioSystem *system)
{
    for (int i = 0; i < system->body_count; i++)
        if (system->body[i].cage) return true;
    return false;
}

/* The settings of process 0 on all, which must compute with the same instructions. */
static BrioStatus spread_settings(BrioScene *scene, Settings *settings, BrioError *error)
{
    if (brio__process() == 0) {
        BrioSolverOptions *o = &scene->def.solver;
        if (!strcmp(o->linear, "auto")) o->linear = brio__linear_type("petsc")->name;
        settings_of(scene, settings);
        snprintf(settings->isa, sizeof settings->isa, "%s", brio_isa());
    }
    MPI_Bcast(settings, sizeof *settings, MPI_BYTE, 0, PETSC_COMM_WORLD);
    BrioStatus status = BRIO_OK;
    if (brio__process() == 0 && scene->system->force_count)
        status = brio__error(error, BRIO_ERROR_UNSUPPORTED,
                             "forces: on one process only in this version of brio; run the scene "
                             "without mpirun");
    else if (brio__process() == 0 && has_cages(scene->system))
        status = brio__error(error, BRIO_ERROR_UNSUPPORTED,
                             "bodies with a cage: on one process only in this version of brio; run "
                             "the scene without mpirun");
    else if (brio__process() == 0 && (brio__follows_data(scene->system) || scene->system->axes ||
                                      scene->system->collider_params >= 0))
        status = brio__error(error, BRIO_ERROR_UNSUPPORTED,
                             "sequences, poses and formulas of scripts, axes of fix, and obstacles "
                             "of triangles with contact between vertices: on one process only in "
                             "this version of brio; run the scene without mpirun");
    else if (strcmp(settings->isa, brio_isa()))
        status = brio__error(error, BRIO_ERROR_UNSUPPORTED,
                             "the machine of process %d has another instruction set (%s) than that "
                             "of process 0 (%s), which gives other last bits; set BRIO_ISA to one "
                             "that all have",
                             brio__process(), brio_isa(), settings->isa);
    return brio__processes_agree(status, error);
}

static BrioStatus no_piece(BrioStatus status, BrioError *error)
{
    return brio__error(error, status, "the scene could not be shared out: %s",
                       brio_status_text(status));
}

BrioStatus brio__cluster_split(BrioScene **scene, uint64_t hash, int32_t **local_of,
                               BrioError *error)
{
    static Settings settings;
    BrioError own_error = {0};
    Piece own = {0};
    BrioScene *created = NULL;
    BrioStatus status;
    if (!error) error = &own_error;
    *local_of = NULL;
    BRIO_CHECK(spread_settings(*scene, &settings, error));
    if (brio__process() == 0) {
        status = distribute_scene(*scene, hash, local_of, &own);
        if (status != BRIO_OK) no_piece(status, error);
    } else {
        size_t size;
        char *bytes = receive(&size);
        status = bytes ? brio__message_unpack(bytes, size, &own.system, &own.state, &own.ghost)
                       : BRIO_ERROR_MEMORY;
        brio__free(bytes);
        if (status != BRIO_OK) no_piece(status, error);
        if (status == BRIO_OK) status = scene_of(&settings, &created, error);
    }
    status = brio__processes_agree(status, error);
    if (status == BRIO_OK) {
        status = open_channel(own.system, own.ghost);
        if (status != BRIO_OK) no_piece(status, error);
    }
    if (status != BRIO_OK) {
        brio__scene_free(created);
        free_piece(&own);
        brio__free(*local_of);
        *local_of = NULL;
        return status;
    }
    brio__free(own.ghost);
    if (brio__process() == 0)
        take_piece(*scene, &own, *local_of);
    else
        *scene = created;
    (*scene)->system = own.system;
    (*scene)->state = own.state;
    return BRIO_OK;
}
