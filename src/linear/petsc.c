/* PETSc's solvers, for matrices whose rows several processes hold: conjugate gradients
 * preconditioned by smoothed aggregation [Balay2022] with the rigid motions as near-null space, or
 * whatever the options ask for.
 *
 * Each process has the contribution to A that its elements give, in rows of its own and of ghosts.
 * Blocks in rows of ghosts are sent to their owners, who add up what they have and what they
 * receive in the order of processes: PETSc's own way of doing that adds messages as they come in,
 * which gives other last bits in every run. Blocks outside the pattern of A (contacts) get places
 * when they first appear, and keep them while they come and go.
 *
 * The interpolation of the multigrid is kept from solve to solve until it has become too old to be
 * worth it; it is then made for the rigid motions of the positions as they are. */
#include "blas.h"
#include "overlay.h"

#include "../processes.h"

#include <petscksp.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the solvers, unless the scene's options say otherwise. Products by the backend: the others add
 * up in the order of messages, and it is for several processes only. */
static const char defaults[] =
    "-ksp_type cg -ksp_norm_type natural -pc_type gamg -pc_gamg_coarse_eq_limit 600 "
    "-pc_gamg_process_eq_limit 1000 -mg_levels_ksp_type chebyshev -mg_levels_pc_type jacobi";
static const char for_several[] = " -matptap_via backend";
#define COARSE 600 /* rows of the coarsest matrix in `defaults` */

#define TOO_OLD 1.3 /* times the iterations that the interpolation began with */

/* Blocks of rows of ghosts: how many go to each process and come from each, and where they are. */
typedef struct Post {
    int *send, *send_start, *receive, *receive_start; /* in blocks, by process */
    int64_t send_count, receive_count;
    PetscInt *row, *column; /* of what is received, in the matrix */
    double *sent, *received;
} Post;

typedef struct Petsc {
    const BrioLinearOptions *options;
    BrioPartition *partition;
    MPI_Comm comm;
    int32_t n, owned;
    PetscInt *number; /* of each block in the distributed matrix */
    int *owner;       /* of each block */
    /* of each process: the number of its first block; then how many there are */
    PetscInt *first_of;
    Post post;
    /* of what is sent: twice the place among the blocks of A and then of the keys, plus 1 for its
     * transpose */
    int64_t *entry;
    Mat A;
    KSP ksp, plain; /* plain: with a simple preconditioner; NULL until it is needed */
    Vec b, x;
    int64_t key_count; /* blocks outside the pattern that have places: sorted */
    uint64_t *key;
    PetscInt *rows; /* scratch: of the longest column */
    double *values, *key_value;
    int64_t iterations;
    /* iterations of the first and of the last solve with this interpolation; 0: none yet */
    PetscInt first, last;
} Petsc;

/* A process without blocks has no array of PETSc's. */
static void copy_owned(const Petsc *s, const double *from, double *to)
{
    if (s->owned > 0) memcpy(to, from, 3 * (size_t)s->owned * sizeof *to);
}

static void post_free(Post *p)
{
    void *arrays[] = {p->send, p->send_start, p->receive, p->receive_start,
                      p->row,  p->column,     p->sent,    p->received};
    for (size_t i = 0; i < BRIO_COUNT(arrays); i++) brio__free(arrays[i]);
    *p = (Post){0};
}

static void petsc_destroy(void *self)
{
    Petsc *s = self;
    KSPDestroy(&s->ksp);
    KSPDestroy(&s->plain);
    MatDestroy(&s->A);
    VecDestroy(&s->b);
    VecDestroy(&s->x);
    post_free(&s->post);
    void *arrays[] = {s->number, s->owner, s->first_of, s->entry,
                      s->key,    s->rows,  s->values,   s->key_value};
    for (size_t i = 0; i < BRIO_COUNT(arrays); i++) brio__free(arrays[i]);
    brio__free(s);
}

/* ---- the pattern ------------------------------------------------------------------------ */

/* Calls use(context, row, column, place) for all blocks that there are: of A both triangles, then
 * of the keys. */
typedef void EntryUse(void *context, int32_t row, int32_t column, int64_t place);

static void each_entry(const Petsc *s, const BrioMatrix *A, EntryUse *use, void *context)
{
    for (int32_t J = 0; J < A->n; J++)
        for (int64_t k = A->start[J]; k < A->start[J + 1]; k++) {
            use(context, A->row[k], J, 2 * k);
            if (A->row[k] != J) use(context, J, A->row[k], 2 * k + 1);
        }
    for (int64_t i = 0; i < s->key_count; i++) {
        int32_t a = (int32_t)(s->key[i] >> 32), b = (int32_t)(uint32_t)s->key[i];
        use(context, a, b, 2 * (A->start[A->n] + i));
        if (a != b) use(context, b, a, 2 * (A->start[A->n] + i) + 1);
    }
}

typedef struct Plan {
    Petsc *s;
    int64_t own;       /* entries in own rows */
    uint64_t *place;   /* of them: own row << 32 | column of the matrix */
    PetscInt *foreign; /* row and column of what is sent */
    int64_t *next;     /* of each process */
} Plan;

static void count_entry(void *context, int32_t row, int32_t column, int64_t place)
{
    (void)column, (void)place;
    Plan *p = context;
    if (row < p->s->owned)
        p->own++;
    else
        p->s->post.send[p->s->owner[row]]++;
}

static void keep_entry(void *context, int32_t row, int32_t column, int64_t place)
{
    Plan *p = context;
    Petsc *s = p->s;
    if (row < s->owned) {
        p->place[p->own++] = (uint64_t)row << 32 | (uint32_t)s->number[column];
        return;
    }
    int64_t at = p->next[s->owner[row]]++;
    s->entry[at] = place;
    p->foreign[2 * at] = s->number[row];
    p->foreign[2 * at + 1] = s->number[column];
}

static int processes_of(const Petsc *s) { return s->partition ? s->partition->processes : 1; }
static int process_of(const Petsc *s) { return s->partition ? s->partition->process : 0; }

/* Sends `width` numbers of a type for each block in rows of ghosts to the rows' owners. */
static void exchange(const Petsc *s, const void *sent, void *received, int width,
                     MPI_Datatype number)
{
    if (!s->partition) return;
    MPI_Datatype unit;
    MPI_Type_contiguous(width, number, &unit);
    MPI_Type_commit(&unit);
    MPI_Alltoallv(sent, s->post.send, s->post.send_start, unit, received, s->post.receive,
                  s->post.receive_start, unit, s->comm);
    MPI_Type_free(&unit);
}

/* Who sends what, and all places of own rows, each once, in order. */
static BrioStatus plan_post(Petsc *s, const BrioMatrix *A, uint64_t **places, int64_t *count)
{
    int processes = processes_of(s);
    Post *post = &s->post;
    Plan p = {.s = s};
    post_free(post);
    brio__free(s->entry);
    post->send = brio__calloc((size_t)processes, sizeof *post->send);
    post->send_start = brio__calloc((size_t)processes, sizeof *post->send_start);
    post->receive = brio__calloc((size_t)processes, sizeof *post->receive);
    post->receive_start = brio__calloc((size_t)processes, sizeof *post->receive_start);
    p.next = brio__calloc((size_t)processes, sizeof *p.next);
    s->entry = NULL;
    if (!post->send || !post->send_start || !post->receive || !post->receive_start || !p.next)
        return BRIO_ERROR_MEMORY;
    each_entry(s, A, count_entry, &p);
    if (s->partition) MPI_Alltoall(post->send, 1, MPI_INT, post->receive, 1, MPI_INT, s->comm);
    for (int k = 0; k < processes; k++) {
        post->send_start[k] = (int)post->send_count;
        post->receive_start[k] = (int)post->receive_count;
        p.next[k] = post->send_count;
        post->send_count += post->send[k];
        post->receive_count += post->receive[k];
    }
    int64_t own = p.own;
    p.own = 0;
    p.place = brio__alloc((size_t)(own + post->receive_count) + 1, sizeof *p.place);
    p.foreign = brio__alloc(2 * (size_t)post->send_count + 1, sizeof *p.foreign);
    s->entry = brio__alloc((size_t)post->send_count + 1, sizeof *s->entry);
    post->row = brio__alloc((size_t)post->receive_count + 1, sizeof *post->row);
    post->column = brio__alloc((size_t)post->receive_count + 1, sizeof *post->column);
    post->sent = brio__alloc(9 * (size_t)post->send_count + 1, sizeof *post->sent);
    post->received = brio__alloc(9 * (size_t)post->receive_count + 1, sizeof *post->received);
    PetscInt *pairs = brio__alloc(2 * (size_t)post->receive_count + 1, sizeof *pairs);
    bool fine = p.place && p.foreign && s->entry && post->row && post->column && post->sent &&
                post->received && pairs;
    BrioStatus status = brio__partition_agree(s->partition, fine ? BRIO_OK : BRIO_ERROR_MEMORY);
    if (status == BRIO_OK) {
        each_entry(s, A, keep_entry, &p);
        exchange(s, p.foreign, pairs, 2, MPIU_INT);
        for (int64_t k = 0; k < post->receive_count; k++) {
            post->row[k] = pairs[2 * k];
            post->column[k] = pairs[2 * k + 1];
            p.place[own + k] = (uint64_t)(pairs[2 * k] - s->first_of[process_of(s)]) << 32 |
                               (uint32_t)pairs[2 * k + 1];
        }
        qsort(p.place, (size_t)(own + post->receive_count), sizeof *p.place, brio__ascending_keys);
        *count = 0;
        for (int64_t k = 0; k < own + post->receive_count; k++)
            if (k == 0 || p.place[k] != p.place[k - 1]) p.place[(*count)++] = p.place[k];
        *places = p.place;
    } else {
        brio__free(p.place);
    }
    brio__free(p.next);
    brio__free(p.foreign);
    brio__free(pairs);
    return status;
}

static PetscErrorCode allocate(Petsc *s, const uint64_t *place, int64_t count)
{
    PetscInt *near, *far, *near_upper, *far_upper, low = s->first_of[process_of(s)],
                                                   high = low + s->owned;
    PetscCall(
        PetscCalloc4(s->owned, &near, s->owned, &far, s->owned, &near_upper, s->owned, &far_upper));
    for (int64_t k = 0; k < count; k++) {
        PetscInt row = (PetscInt)(place[k] >> 32), column = (PetscInt)(uint32_t)place[k];
        (column >= low && column < high ? near : far)[row]++;
    }
    MatDestroy(&s->A);
    PetscCall(MatCreate(s->comm, &s->A));
    PetscCall(MatSetType(s->A, MATAIJ));
    PetscCall(MatSetSizes(s->A, 3 * s->owned, 3 * s->owned, PETSC_DETERMINE, PETSC_DETERMINE));
    PetscCall(MatSetBlockSize(s->A, 3));
    PetscCall(MatXAIJSetPreallocation(s->A, 3, near, far, near_upper, far_upper));
    PetscCall(PetscFree4(near, far, near_upper, far_upper));
    PetscCall(MatSetOption(s->A, MAT_SPD, PETSC_TRUE));
    PetscCall(MatSetOption(s->A, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
    PetscCall(MatSetOption(s->A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_TRUE));
    PetscCall(MatSetOption(s->A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
    return 0;
}

/* A matrix with places for A and the keys. */
static BrioStatus make_matrix(Petsc *s, const BrioMatrix *A)
{
    uint64_t *place = NULL;
    int64_t count = 0;
    BRIO_CHECK(plan_post(s, A, &place, &count));
    BrioStatus status = allocate(s, place, count) ? BRIO_ERROR_MEMORY : BRIO_OK;
    brio__free(place);
    KSPDestroy(&s->ksp);
    KSPDestroy(&s->plain);
    brio__free(s->key_value);
    s->key_value = brio__alloc(9 * (size_t)s->key_count + 1, sizeof *s->key_value);
    return status == BRIO_OK && !s->key_value ? BRIO_ERROR_MEMORY : status;
}

/* ---- life ------------------------------------------------------------------------------- */

static BrioStatus number_blocks(Petsc *s)
{
    int processes = processes_of(s);
    PetscInt own = s->owned, at = 0;
    double *spread = brio__alloc(3 * (size_t)s->n + 1, sizeof *spread);
    if (!spread) return BRIO_ERROR_MEMORY;
    if (s->partition)
        MPI_Allgather(&own, 1, MPIU_INT, s->first_of, 1, MPIU_INT, s->comm);
    else
        s->first_of[0] = own;
    for (int p = 0; p <= processes; p++) {
        PetscInt count = p < processes ? s->first_of[p] : 0;
        s->first_of[p] = at;
        at += count;
    }
    for (int32_t b = 0; b < s->n; b++) {
        spread[3 * (int64_t)b] = b < s->owned ? (double)s->first_of[process_of(s)] + b : -1;
        spread[3 * (int64_t)b + 1] = process_of(s);
    }
    brio__partition_spread(s->partition, spread);
    for (int32_t b = 0; b < s->n; b++) {
        s->number[b] = (PetscInt)spread[3 * (int64_t)b];
        s->owner[b] = (int)spread[3 * (int64_t)b + 1];
    }
    brio__free(spread);
    return BRIO_OK;
}

/* Each part that nothing joins with others keeps six rows on all levels. So a matrix of many parts
 * has no coarse level with few rows, and GAMG, which goes on to look for one, then fails. */
static PetscErrorCode choose_options(const Petsc *s)
{
    PetscCall(PetscOptionsInsertString(NULL, defaults));
    if (processes_of(s) > 1) {
        char coarse[64];
        snprintf(coarse, sizeof coarse, "-pc_gamg_coarse_eq_limit %lld",
                 COARSE + 6 * (long long)s->partition->component_count);
        PetscCall(PetscOptionsInsertString(NULL, for_several));
        PetscCall(PetscOptionsInsertString(NULL, coarse));
    }
    if (s->options->text) PetscCall(PetscOptionsInsertString(NULL, s->options->text));
    return 0;
}

static BrioStatus petsc_create(const BrioMatrix *A, const BrioLinearOptions *options, void **self)
{
    *self = NULL;
    BRIO_CHECK(brio__processes_start(NULL));
    brio__blas_single();
    Petsc *s = brio__calloc(1, sizeof *s);
    if (!s) return BRIO_ERROR_MEMORY;
    s->options = options;
    s->partition = options->partition;
    s->comm = s->partition ? PETSC_COMM_WORLD : PETSC_COMM_SELF;
    s->n = A->n;
    s->owned = s->partition ? s->partition->owned : A->n;
    int64_t longest = 1;
    for (int32_t J = 0; J < A->n; J++) longest = BRIO_MAX(longest, A->start[J + 1] - A->start[J]);
    s->number = brio__alloc((size_t)A->n + 1, sizeof *s->number);
    s->owner = brio__alloc((size_t)A->n + 1, sizeof *s->owner);
    s->first_of = brio__calloc((size_t)processes_of(s) + 1, sizeof *s->first_of);
    s->rows = brio__alloc((size_t)longest, sizeof *s->rows);
    s->values = brio__alloc(9 * (size_t)longest, sizeof *s->values);
    BrioStatus status = s->number && s->owner && s->first_of && s->rows && s->values
                            ? number_blocks(s)
                            : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK && choose_options(s)) status = BRIO_ERROR_INPUT;
    if (status == BRIO_OK) status = make_matrix(s, A);
    if (status == BRIO_OK && (VecCreateMPI(s->comm, 3 * s->owned, PETSC_DETERMINE, &s->b) ||
                              VecSetBlockSize(s->b, 3) || VecDuplicate(s->b, &s->x)))
        status = BRIO_ERROR_MEMORY;
    if (status == BRIO_OK)
        *self = s;
    else
        petsc_destroy(s);
    return status;
}

/* A solver with an interpolation for the positions as they are. */
static PetscErrorCode make_solver(Petsc *s)
{
    const BrioLinearOptions *o = s->options;
    KSPDestroy(&s->ksp);
    PetscCall(KSPCreate(s->comm, &s->ksp));
    PetscCall(KSPSetTolerances(s->ksp, o->tol > 0 ? o->tol : 1e-8, 1e-300, 1e10,
                               o->max_iterations > 0 ? o->max_iterations : 10000));
    PetscCall(KSPSetFromOptions(s->ksp));
    s->first = s->last = 0;
    if (!o->position) return 0;
    Vec position;
    MatNullSpace rigid;
    double *at;
    PetscCall(VecDuplicate(s->b, &position));
    PetscCall(VecGetArray(position, &at));
    copy_owned(s, o->position, at);
    PetscCall(VecRestoreArray(position, &at));
    PetscCall(MatNullSpaceCreateRigidBody(position, &rigid));
    PetscCall(MatSetNearNullSpace(s->A, rigid));
    PetscCall(MatNullSpaceDestroy(&rigid));
    PetscCall(VecDestroy(&position));
    return 0;
}

/* ---- numbers ---------------------------------------------------------------------------- */

static void transpose(const double H[9], double to[9])
{
    for (int k = 0; k < 9; k++) to[k % 3 * 3 + k / 3] = H[k];
}

/* Block k of column J, row by row; of the diagonal the lower half counts. */
static void block_of(const BrioMatrix *A, int32_t J, int64_t k, double H[9])
{
    int64_t stride = brio__matrix_stride(A, J);
    const double *from = A->value + brio__matrix_slot(A, J, k);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            H[3 * r + c] = A->row[k] == J && c > r ? from[r * stride + c] : from[c * stride + r];
}

/* The blocks of a column as a column, and those below the diagonal as a row: what is in own
 * rows. */
static PetscErrorCode add_column(Petsc *s, const BrioMatrix *A, int32_t J)
{
    int64_t first = A->start[J], rows = 0;
    for (int64_t k = first; k < A->start[J + 1]; k++) {
        if (A->row[k] >= s->owned) continue;
        block_of(A, J, k, s->values + 9 * rows);
        s->rows[rows++] = s->number[A->row[k]];
    }
    if (rows)
        PetscCall(MatSetValuesBlocked(s->A, (PetscInt)rows, s->rows, 1, &s->number[J], s->values,
                                      ADD_VALUES));
    int64_t count = A->start[J + 1] - first - 1, stride = 3 * (count + 1);
    if (J >= s->owned || count == 0) return 0;
    const double *from = A->value + 9 * first;
    for (int64_t k = 0; k < count; k++) s->rows[k] = s->number[A->row[first + 1 + k]];
    for (int c = 0; c < 3; c++)
        for (int64_t k = 0; k < 3 * count; k++)
            s->values[c * 3 * count + k] = from[c * stride + 3 + k];
    return MatSetValuesBlocked(s->A, 1, &s->number[J], (PetscInt)count, s->rows, s->values,
                               ADD_VALUES);
}

static PetscErrorCode add_key(Petsc *s, int64_t i)
{
    int32_t a = (int32_t)(s->key[i] >> 32), b = (int32_t)(uint32_t)s->key[i];
    double turned[9];
    transpose(s->key_value + 9 * i, turned);
    if (a < s->owned)
        PetscCall(MatSetValuesBlocked(s->A, 1, &s->number[a], 1, &s->number[b],
                                      s->key_value + 9 * i, ADD_VALUES));
    if (b < s->owned && a != b)
        PetscCall(
            MatSetValuesBlocked(s->A, 1, &s->number[b], 1, &s->number[a], turned, ADD_VALUES));
    return 0;
}

/* What goes to the owners of ghosts. Places ascend in each process's part, but not from one to the
 * next: columns are searched for. */
static void pack(Petsc *s, const BrioMatrix *A)
{
    int32_t J = 0;
    for (int64_t i = 0; i < s->post.send_count; i++) {
        int64_t k = s->entry[i] / 2;
        double H[9];
        if (k >= A->start[A->n]) {
            memcpy(H, s->key_value + 9 * (k - A->start[A->n]), sizeof H);
        } else {
            if (k < A->start[J]) J = 0;
            while (k >= A->start[J + 1]) J++;
            block_of(A, J, k, H);
        }
        if (s->entry[i] % 2)
            transpose(H, s->post.sent + 9 * i);
        else
            memcpy(s->post.sent + 9 * i, H, sizeof H);
    }
}

static PetscErrorCode fill(Petsc *s, const BrioMatrix *A)
{
    pack(s, A);
    exchange(s, s->post.sent, s->post.received, 9, MPI_DOUBLE);
    PetscCall(MatZeroEntries(s->A));
    for (int32_t J = 0; J < A->n; J++) PetscCall(add_column(s, A, J));
    for (int64_t i = 0; i < s->key_count; i++) PetscCall(add_key(s, i));
    for (int64_t i = 0; i < s->post.receive_count; i++)
        PetscCall(MatSetValuesBlocked(s->A, 1, &s->post.row[i], 1, &s->post.column[i],
                                      s->post.received + 9 * i, ADD_VALUES));
    PetscCall(MatAssemblyBegin(s->A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(s->A, MAT_FINAL_ASSEMBLY));
    return 0;
}

/* The index of a key that has a place; -1: none. */
static int64_t find_key(const Petsc *s, uint64_t key, int64_t count)
{
    const uint64_t *found =
        count ? bsearch(&key, s->key, (size_t)count, sizeof key, brio__ascending_keys) : NULL;
    return found ? found - s->key : -1;
}

/* Adds the keys of blocks that are neither in A nor among those that have places; false without
 * memory. */
static bool take_keys(Petsc *s, const BrioMatrix *A, const BrioOverlay *overlay, int64_t *added)
{
    int64_t count = brio__overlay_count(overlay), known = s->key_count;
    uint64_t *more =
        brio__realloc(s->key, (size_t)known, (size_t)(known + count) + 1, sizeof *more);
    if (!more) return false;
    s->key = more;
    *added = 0;
    for (int64_t i = 0; i < count; i++) {
        int32_t a, b;
        bool transposed;
        brio__overlay_at(overlay, i, &a, &b);
        uint64_t key = (uint64_t)a << 32 | (uint32_t)b;
        if (brio__matrix_find(A, a, b, &transposed) < 0 && find_key(s, key, known) < 0)
            s->key[known + (*added)++] = key;
    }
    s->key_count += *added;
    qsort(s->key, (size_t)s->key_count, sizeof *s->key, brio__ascending_keys);
    return true;
}

/* Values of the keys; blocks that A has too are added there. */
static void sort_overlay(Petsc *s, BrioMatrix *A, const BrioOverlay *overlay)
{
    memset(s->key_value, 0, 9 * (size_t)s->key_count * sizeof *s->key_value);
    for (int64_t i = 0; i < brio__overlay_count(overlay); i++) {
        int32_t a, b;
        bool transposed;
        const double *H = brio__overlay_at(overlay, i, &a, &b);
        int64_t block = brio__matrix_find(A, a, b, &transposed);
        int64_t at = block < 0 ? find_key(s, (uint64_t)a << 32 | (uint32_t)b, s->key_count) : -1;
        if (at >= 0) memcpy(s->key_value + 9 * at, H, 9 * sizeof *H);
        if (block < 0) continue;
        int32_t J = BRIO_MIN(a, b);
        double *to = A->value + brio__matrix_slot(A, J, block);
        int64_t stride = brio__matrix_stride(A, J);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                to[c * stride + r] += transposed ? H[3 * c + r] : H[3 * r + c];
    }
}

static BrioStatus make_places(Petsc *s, const BrioMatrix *A, BrioOverlay *overlay)
{
    int64_t added = 0;
    double before = brio__seconds();
    bool fine = take_keys(s, A, overlay, &added);
    BRIO_CHECK(brio__partition_agree(s->partition, fine ? BRIO_OK : BRIO_ERROR_MEMORY));
    if (!brio__partition_any(s->partition, added > 0)) return BRIO_OK;
    BRIO_CHECK(make_matrix(s, A));
    brio__overlay_settle(overlay, brio__seconds() - before);
    return BRIO_OK;
}

/* After an error PETSc's solvers are in no defined state, in which freeing them crashes too. */
static BrioStatus abandon_solvers(Petsc *s)
{
    s->ksp = s->plain = NULL;
    return BRIO_ERROR_INPUT;
}

static BrioStatus petsc_factor(void *self, BrioMatrix *A, BrioOverlay *overlay)
{
    Petsc *s = self;
    if (overlay) {
        BRIO_CHECK(make_places(s, A, overlay));
        sort_overlay(s, A, overlay);
    }
    PC pc;
    PCFailedReason failed;
    if (fill(s, A)) return BRIO_ERROR_MEMORY;
    bool old = !s->ksp || (s->first && (double)s->last > TOO_OLD * (double)s->first + 2);
    if ((old && make_solver(s)) || KSPSetOperators(s->ksp, s->A, s->A) || KSPGetPC(s->ksp, &pc) ||
        KSPSetUp(s->ksp) || PCGetFailedReason(pc, &failed))
        return abandon_solvers(s);
    if (failed) KSPDestroy(&s->ksp);
    return failed ? BRIO_NOT_POSITIVE_DEFINITE : BRIO_OK;
}

/* A preconditioner that is as definite as the matrix is, for where multigrid is not. */
static PetscErrorCode make_plain_solver(Petsc *s)
{
    PC pc;
    PetscCall(KSPCreate(s->comm, &s->plain));
    PetscCall(KSPSetOptionsPrefix(s->plain, "plain_"));
    PetscCall(KSPSetType(s->plain, KSPCG));
    PetscCall(KSPSetNormType(s->plain, KSP_NORM_NATURAL));
    PetscCall(KSPGetPC(s->plain, &pc));
    PetscCall(PCSetType(pc, PCPBJACOBI));
    PetscCall(KSPSetTolerances(s->plain, s->options->tol > 0 ? s->options->tol : 1e-8, 1e-300, 1e10,
                               20000));
    return 0;
}

/* Tells how it went. */
static PetscErrorCode run(Petsc *s, KSP ksp, KSPConvergedReason *reason)
{
    PetscInt iterations;
    PetscCall(KSPSetOperators(ksp, s->A, s->A));
    PetscCall(KSPSolve(ksp, s->b, s->x));
    PetscCall(KSPGetConvergedReason(ksp, reason));
    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    s->iterations += iterations;
    if (ksp != s->ksp || *reason < 0) return 0;
    s->last = iterations;
    if (!s->first) s->first = BRIO_MAX(iterations, 1);
    return 0;
}

/* A step along which x.A x < 0 shows that the matrix is not definite; all other trouble is the
 * preconditioner's, which is then built again or not used. */
static PetscErrorCode run_safely(Petsc *s, KSPConvergedReason *reason)
{
    PetscCall(run(s, s->ksp, reason));
    if (*reason < 0 && *reason != KSP_DIVERGED_INDEFINITE_MAT && s->first) {
        PetscCall(make_solver(s));
        PetscCall(run(s, s->ksp, reason));
    }
    if (*reason < 0 && *reason != KSP_DIVERGED_INDEFINITE_MAT) {
        if (!s->plain) PetscCall(make_plain_solver(s));
        PetscCall(run(s, s->plain, reason));
    }
    /* what was made for this matrix is no good for the next */
    if (*reason < 0) KSPDestroy(&s->ksp);
    return 0;
}

static BrioStatus solve_one(Petsc *s, double *x)
{
    double *at;
    KSPConvergedReason reason;
    if (VecGetArray(s->b, &at)) return BRIO_ERROR_MEMORY;
    copy_owned(s, x, at);
    if (VecRestoreArray(s->b, &at) || run_safely(s, &reason)) return abandon_solvers(s);
    if (reason == KSP_DIVERGED_INDEFINITE_MAT || reason == KSP_DIVERGED_PC_FAILED)
        return BRIO_NOT_POSITIVE_DEFINITE;
    if (reason == KSP_DIVERGED_NANORINF) return BRIO_NOT_FINITE;
    if (reason < 0) return BRIO_NOT_CONVERGED;
    /* solvers that do not look at curvature may have solved with a matrix that is not definite */
    PetscScalar descent;
    if (VecDot(s->b, s->x, &descent)) return BRIO_ERROR_INPUT;
    if (descent < 0) return BRIO_NOT_POSITIVE_DEFINITE;
    if (VecGetArray(s->x, &at)) return BRIO_ERROR_MEMORY;
    copy_owned(s, at, x);
    if (VecRestoreArray(s->x, &at)) return BRIO_ERROR_MEMORY;
    brio__partition_spread(s->partition, x);
    return BRIO_OK;
}

static BrioStatus petsc_solve(void *self, const BrioMatrix *A, int k, double *x)
{
    for (int j = 0; j < k; j++) BRIO_CHECK(solve_one(self, x + 3 * (int64_t)A->n * j));
    return BRIO_OK;
}

static void petsc_stats(const void *self, BrioLinearStats *stats)
{
    const Petsc *s = self;
    MatInfo info = {0};
    MatGetInfo(s->A, MAT_LOCAL, &info);
    stats->iterations = s->iterations;
    stats->bytes = info.memory;
}

const BrioLinearType brio__solver_petsc = {
    .name = "petsc",
    .summary = "Iterative, for several processes: PETSc's conjugate gradients with algebraic "
               "multigrid, or what its options say.",
    .citation = "Balay2022",
    .create = petsc_create,
    .factor_partitions = petsc_factor,
    .solve = petsc_solve,
    .stats = petsc_stats,
    .destroy = petsc_destroy,
};
