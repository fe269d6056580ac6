/* One description of the file, visit(), serves for writing and reading; the checksum is FNV-1a. A
 * file is rejected unless scene, instruction set and sizes are those that are expected. */
#include "checkpoint.h"

#include "../handle.h"
#include "../sim/edit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char letters[8] = "brio-ckp";
/* A state of another shape is another version. docs/formats.md has the policy: what the version
 * before wrote is read. */
enum { FORMAT = 7, OLDEST = 3, VERSION = FORMAT << 16 | sizeof(BrioState) };
#define BYTE_ORDER_MARK 0x0102030405060708u

/* ---- what is a scene -------------------------------------------------------------------- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return text ? brio__hash(hash, text, strlen(text) + 1) : brio__hash(hash, "\1", 2);
}

static bool is_end(const BrioNode *node, int depth)
{
    return depth == 2 && node->key && !strcmp(node->key, "end") && node->parent->key &&
           !strcmp(node->parent->key, "time");
}

static uint64_t hash_node(uint64_t hash, const BrioNode *node, int depth)
{
    if (is_end(node, depth)) return hash;
    /* `time` was made for it */
    if (depth == 1 && node->count == 1 && is_end(node->child[0], 2)) return hash;
    int32_t head[3] = {(int32_t)node->kind, node->quoted,
                       node->kind == BRIO_NODE_LIST ? node->count : 0};
    hash = brio__hash(hash, head, sizeof head);
    hash = hash_text(hash, node->key);
    hash = hash_text(hash, node->text);
    for (int i = 0; i < node->count; i++) hash = hash_node(hash, node->child[i], depth + 1);
    return hash;
}

static uint64_t hash_terms(uint64_t hash, const BrioSystem *s)
{
    for (int t = 0; t < s->term_count; t++) {
        const BrioTerm *term = &s->term[t];
        size_t lanes = (size_t)term->packs * LANES;
        hash = hash_text(hash, term->energy->name);
        hash =
            brio__hash(hash, term->node, lanes * (size_t)term->energy->nodes * sizeof *term->node);
        hash =
            brio__hash(hash, term->rest, lanes * (size_t)term->energy->rest * sizeof *term->rest);
    }
    return hash;
}

static uint64_t hash_system(uint64_t hash, const BrioSystem *s)
{
    hash = hash_terms(hash, s);
    for (int i = 0; i < s->body_count; i++) { /* what is seen goes into results */
        const BrioSkin *skin = s->body[i].skin;
        if (!skin) continue;
        hash = brio__hash(hash, skin->triangle,
                          3 * (size_t)skin->triangle_count * sizeof *skin->triangle);
        if (skin->faces && skin->faces->uv)
            hash = brio__hash(hash, skin->faces->uv,
                              2 * (size_t)skin->faces->uv_count * sizeof *skin->faces->uv);
        if (skin->weight)
            hash = brio__hash(hash, skin->weight,
                              (size_t)skin->start[skin->vertex_count] * sizeof *skin->weight);
    }
    return hash;
}

uint64_t brio__scene_hash(const BrioScene *scene, const BrioSystem *s, const BrioState *first)
{
    uint64_t hash = hash_system(hash_node(BRIO_HASH_START, scene->tree, 0), s);
    const struct {
        const double *values;
        int64_t count;
    } part[] = {{first->q, first->coordinates},
                {first->v, first->coordinates},
                {first->anchor, first->fixed},
                {first->param, first->params}};
    for (size_t i = 0; i < BRIO_COUNT(part); i++)
        hash = brio__hash(hash, part[i].values, (size_t)part[i].count * sizeof(double));
    return hash;
}

/* ---- one description for writing and reading -------------------------------------------- */

/* Until format 5 the state ended where that of automatic steps begins: there it has zeros, which
 * fill its block. (Where pointers have 32 bits they do not, and such files are not read.) */
static const bool same_block = (offsetof(BrioState, next_h) + BRIO_ALIGN - 1) / BRIO_ALIGN ==
                               (sizeof(BrioState) + BRIO_ALIGN - 1) / BRIO_ALIGN;
static bool readable(uint32_t version)
{
    uint32_t format = version >> 16, end = offsetof(BrioState, next_h);
    if (format < OLDEST || format > FORMAT || (format < 6 && !same_block)) return false;
    return (version & 0xffff) == (format < 6 ? end : sizeof(BrioState));
}

typedef struct Stream {
    uint32_t format; /* of the file that is read */
    FILE *file;      /* of processes that write together: NULL of all but the first */
    BrioPartition *partition;
    bool reading;
    bool broken; /* ended too early, or does not fit */
    bool out_of_memory;
    uint64_t hash;
} Stream;

static void visit_bytes(Stream *s, void *data, size_t size)
{
    if (s->broken || size == 0 || !s->file) return;
    if (s->reading)
        s->broken = fread(data, 1, size, s->file) != size;
    else
        s->broken = fwrite(data, 1, size, s->file) != size;
    s->hash = brio__hash(s->hash, data, size);
}

#define VISIT(s, field) visit_bytes(s, &(field), sizeof(field))

static void visit_head(Stream *s, BrioCheckpoint *c, char found[8], uint32_t *version,
                       uint64_t *mark)
{
    visit_bytes(s, found, 8);
    VISIT(s, *version);
    VISIT(s, *mark);
    VISIT(s, c->scene);
    VISIT(s, c->isa);
}

/* Whether so many things can be left of the file: no forged count asks for more memory than that. A
 * count below zero is none. */
static bool has_left(Stream *s, uint64_t count, size_t size)
{
    struct stat info;
    long at = s->file ? ftell(s->file) : -1;
    return at >= 0 && fstat(fileno(s->file), &info) == 0 && info.st_size >= at &&
           count <= (uint64_t)(info.st_size - at) / size;
}

static void visit_nothing(Stream *s, size_t bytes)
{
    char zero[256] = {0};
    for (size_t at = 0; at < bytes; at += sizeof zero)
        visit_bytes(s, zero, BRIO_MIN(bytes - at, sizeof zero));
}

/* An array of the whole of which processes have partitions, piece by piece: `width` numbers for
 * each of `all`. */
static void visit_shared(Stream *s, double *value, const int64_t *number, const uint8_t *writes,
                         int64_t count, int64_t all, int width)
{
    enum { PIECE = 1 << 18 };
    double *piece = brio__alloc((size_t)(PIECE * width), sizeof *piece);
    bool memory = s->reading ? piece != NULL : !brio__partition_any(s->partition, !piece);
    if (!memory) s->broken = s->out_of_memory = true;
    for (int64_t begin = 0; memory && begin < all; begin += PIECE) {
        int64_t end = BRIO_MIN(all, begin + PIECE);
        size_t bytes = (size_t)(end - begin) * (size_t)width * sizeof *piece;
        memset(piece, 0, bytes);
        if (!s->reading)
            s->partition->collect(s->partition, value, number, writes, count, width, begin, end,
                                  piece);
        if (s->partition->status != BRIO_OK) s->broken = true;
        visit_bytes(s, piece, bytes);
        for (int64_t i = 0; s->reading && i < count; i++)
            if (number[i] >= begin && number[i] < end)
                memcpy(value + i * width, piece + (number[i] - begin) * width,
                       (size_t)width * sizeof *piece);
    }
    brio__free(piece);
}

/* The same bytes as of a state that is whole. */
static void visit_partitions(Stream *s, BrioState *state, BrioState *head)
{
    const BrioPartition *partition = s->partition;
    const int64_t blocks = state->coordinates / 3, history = state->history;
    size_t begin[5], at = sizeof *head;
    head->coordinates = 3 * partition->blocks;
    head->fixed = 3 * partition->fixed_vertices;
    head->params = partition->params;
    head->bytes = brio__state_layout(head, begin);
    BrioState whole = *head;
    VISIT(s, *head);
    if (s->reading) {
        if (s->broken || head->bytes != whole.bytes || head->coordinates != whole.coordinates ||
            head->fixed != whole.fixed || head->params != whole.params ||
            head->history != history) {
            s->broken = true;
            return;
        }
        head->coordinates = state->coordinates, head->fixed = state->fixed,
        head->params = state->params, head->bytes = state->bytes;
        head->q = state->q, head->v = state->v, head->anchor = state->anchor,
        head->param = state->param, head->past = state->past;
        *state = *head;
    }
    const struct {
        double *value;
        const int64_t *number;
        const uint8_t *writes;
        int64_t count, all;
        int width;
    } part[4] = {{state->q, partition->block, NULL, s->reading ? blocks : partition->owned,
                  partition->blocks, 3},
                 {state->v, partition->block, NULL, s->reading ? blocks : partition->owned,
                  partition->blocks, 3},
                 {state->anchor, partition->fixed, partition->writes_fixed, state->fixed / 3,
                  partition->fixed_vertices, 3},
                 {state->param, partition->param, partition->writes_param, state->params,
                  partition->params, 1}};
    for (int i = 0; i < 5; i++) {
        visit_nothing(s, begin[i] - at);
        at = begin[i];
        for (int64_t k = 0; i == 4 && k < history; k++) {
            visit_shared(s, state->past + k * state->coordinates, part[0].number, NULL,
                         part[0].count, partition->blocks, 3);
            at += 3 * (size_t)partition->blocks * sizeof(double);
        }
        if (i == 4) break;
        visit_shared(s, part[i].value, part[i].number, part[i].writes, part[i].count, part[i].all,
                     part[i].width);
        at += (size_t)(part[i].all * part[i].width) * sizeof(double);
    }
    visit_nothing(s, whole.bytes - at);
}

/* The whole block, so that nothing of the state can be forgotten; its pointers mean nothing in a
 * file. */
static void visit_state(Stream *s, BrioState *state)
{
    BrioState head = *state;
    head.q = head.v = head.anchor = head.param = head.past = NULL;
    if (s->partition) {
        visit_partitions(s, state, &head);
        return;
    }
    VISIT(s, head);
    if (s->reading) {
        if (s->broken || head.bytes != state->bytes || head.coordinates != state->coordinates ||
            head.fixed != state->fixed || head.params != state->params ||
            head.history != state->history) {
            s->broken = true;
            return;
        }
        head.q = state->q, head.v = state->v, head.anchor = state->anchor,
        head.param = state->param, head.past = state->past;
        *state = head;
    }
    visit_bytes(s, (char *)state + sizeof *state, state->bytes - sizeof *state);
}

/* The plans of an edited simulation. */
static void visit_image(Stream *s, unsigned char **image, uint64_t *size)
{
    if (s->reading && s->format < 5) return; /* which had none */
    VISIT(s, *size);
    if (s->reading && !has_left(s, *size, 1)) s->broken = true;
    if (s->reading && !s->broken && *size) {
        *image = brio__alloc(*size, 1);
        if (!*image) s->broken = s->out_of_memory = true;
    }
    visit_bytes(s, *image, *size);
}

static void visit_counts(Stream *s, BrioCheckpoint *c)
{
#define X(name) VISIT(s, c->totals.solve.name);
    BRIO_PHASE_LIST(X)
#undef X
    VISIT(s, c->totals.solve.minimisations);
    VISIT(s, c->totals.solve.iterations);
    VISIT(s, c->totals.solve.evaluations);
    VISIT(s, c->totals.solve.roundoff);
    if (!s->reading || s->format >= 4) {
        VISIT(s, c->totals.solve.friction_renewals);
        VISIT(s, c->totals.solve.friction_open);
    }
    VISIT(s, c->totals.setup);
    VISIT(s, c->totals.output);
    VISIT(s, c->totals.wall);
    VISIT(s, c->totals.halved_steps);
    VISIT(s, c->totals.deepest_halving);
    if (!s->reading || s->format >= 6) {
        VISIT(s, c->totals.rejected_steps);
        VISIT(s, c->totals.shortest);
        VISIT(s, c->totals.longest);
    }
    VISIT(s, c->totals.sessions);
    VISIT(s, c->totals.initial_energy);
    VISIT(s, c->totals.last_energy);
    VISIT(s, c->energy.length);
    VISIT(s, c->probes.length);
    VISIT(s, c->motion.length);
    if (!s->reading || s->format >= 7) {
        VISIT(s, c->energy.hash);
        VISIT(s, c->probes.hash);
        VISIT(s, c->motion.hash);
    }
    VISIT(s, c->motion_stride);
    VISIT(s, c->frames_passed);
    VISIT(s, c->frame_count);
    if (s->reading && !has_left(s, (uint64_t)c->frame_count, sizeof(double))) s->broken = true;
    if (s->reading && !s->broken) {
        c->frame_time = brio__alloc((size_t)c->frame_count + 1, sizeof(double));
        if (!c->frame_time) s->broken = s->out_of_memory = true;
    }
    visit_bytes(s, c->frame_time, (size_t)c->frame_count * sizeof(double));
}

static void visit(Stream *s, BrioCheckpoint *c, BrioState *state)
{
    visit_counts(s, c);
    visit_state(s, state);
}

/* ---- writing ---------------------------------------------------------------------------- */

/* `sync`: it is on the disk before it is in its place. */
static BrioStatus write_named(const BrioFolder *folder, const char *name, BrioCheckpoint *c,
                              unsigned char *image, uint64_t image_size, BrioState *state,
                              BrioPartition *partition, bool sync, BrioError *error)
{
    FILE *file = NULL;
    char found[8];
    uint32_t version = VERSION;
    uint64_t mark = BYTE_ORDER_MARK;
    BrioStatus status = brio__partition_is_root(partition)
                            ? brio__replace_begin(folder, name, &file, error)
                            : BRIO_OK;
    BRIO_CHECK(brio__partition_agree(partition, status));
    Stream s = {.file = file, .partition = partition, .hash = BRIO_HASH_START};
    memcpy(found, letters, sizeof found);
    visit_head(&s, c, found, &version, &mark);
    visit_image(&s, &image, &image_size);
    visit(&s, c, state);
    uint64_t sum = s.hash;
    visit_bytes(&s, &sum, sizeof sum);
    if (file && s.broken && !ferror(file)) { /* no memory: the last one stays */
        brio__replace_cancel(folder, name, file);
        return brio__partition_agree(
            partition,
            brio__error(error, BRIO_ERROR_MEMORY, "out of memory for %s/%s", folder->path, name));
    }
    if (file) status = brio__replace_end(folder, name, file, sync, error);
    return brio__partition_agree(partition, status);
}

BrioStatus brio__checkpoint_write(const BrioFolder *folder, BrioCheckpoint *c, BrioState *state,
                                  BrioPartition *partition, BrioError *error)
{
    return write_named(folder, BRIO_CHECKPOINT_NAME, c, NULL, 0, state, partition, true, error);
}

BrioStatus brio__checkpoint_keep(const BrioFolder *folder, int64_t number, BrioCheckpoint *c,
                                 BrioState *state, BrioError *error)
{
    BrioFolder inside = {.fd = -1};
    char name[32];
    snprintf(name, sizeof name, "%06lld", (long long)number);
    BRIO_CHECK(brio__folder_inside(folder, BRIO_CHECKPOINT_FOLDER, true, &inside, error));
    BrioStatus status = write_named(&inside, name, c, NULL, 0, state, NULL, false, error);
    brio__folder_close(&inside);
    return status;
}

/* ---- reading ---------------------------------------------------------------------------- */

static BrioStatus refuse(const BrioFolder *folder, BrioError *error, const char *why)
{
    return brio__error(error, BRIO_ERROR_INPUT, "%s/%s %s", folder->path, BRIO_CHECKPOINT_NAME,
                       why);
}

/* The last eight bytes are the checksum of those before. */
static bool whole(FILE *file)
{
    unsigned char buffer[65536 + 8];
    size_t kept = 0, got;
    uint64_t hash = BRIO_HASH_START, sum;
    while ((got = fread(buffer + kept, 1, sizeof buffer - kept, file)) > 0) {
        kept += got;
        if (kept <= 8) continue;
        hash = brio__hash(hash, buffer, kept - 8);
        memmove(buffer, buffer + kept - 8, 8);
        kept = 8;
    }
    if (kept < 8 || ferror(file)) return false;
    memcpy(&sum, buffer, sizeof sum);
    return sum == hash;
}

static BrioStatus read_open(const BrioFolder *folder, FILE *file, BrioCheckpoint *c,
                            BrioState *state, BrioPartition *partition, BrioError *error)
{
    static const char *const damaged =
        "is damaged or cut off: the run cannot be continued; start again with --force";
    BrioCheckpoint found = {0};
    char first[8] = "";
    uint32_t version = 0;
    uint64_t mark = 0;
    Stream s = {.file = file, .partition = partition, .reading = true};
    visit_head(&s, &found, first, &version, &mark);
    if (s.broken || memcmp(first, letters, sizeof first)) return refuse(folder, error, damaged);
    if (mark != BYTE_ORDER_MARK)
        return refuse(folder, error,
                      "was written on a machine with another byte order; start again with --force");
    if (!readable(version))
        return refuse(
            folder, error,
            "was written by another version of brio; continue with that version, or start "
            "again with --force");
    s.format = version >> 16;
    rewind(file);
    if (!whole(file)) return refuse(folder, error, damaged);
    found.isa[sizeof found.isa - 1] = 0;
    if (c->isa[0] && strcmp(found.isa, c->isa))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "%s/%s was made with the instruction set %s and this run would use %s, "
                           "which gives other last bits; set "
                           "BRIO_ISA=%s, or start again with --force",
                           folder->path, BRIO_CHECKPOINT_NAME, found.isa, c->isa, found.isa);
    if (c->scene && found.scene != c->scene)
        return refuse(folder, error,
                      "belongs to another scene, or the scene or one of its files was changed "
                      "(only time.end may be); run the "
                      "scene as it was, or start again with --force");
    rewind(file);
    s.broken = false;
    unsigned char *image = NULL;
    uint64_t image_size = 0;
    visit_head(&s, &found, first, &version, &mark);
    visit_image(&s, &image, &image_size);
    brio__free(image);
    if (image_size) return refuse(folder, error, "belongs to a simulation that was edited");
    visit(&s, &found, state);
    if (s.broken) {
        brio__free(found.frame_time);
        if (s.out_of_memory) return brio__no_memory(error);
        return refuse(folder, error, damaged);
    }
    *c = found;
    return BRIO_OK;
}

BrioStatus brio__checkpoint_read(const BrioFolder *folder, BrioCheckpoint *checkpoint,
                                 BrioState *state, BrioPartition *partition, BrioError *error)
{
    int fd = openat(folder->fd, BRIO_CHECKPOINT_NAME, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    if (!file) {
        int reason = errno;
        if (fd >= 0) close(fd);
        return brio__error(error, BRIO_ERROR_FILE, "cannot read %s/%s: %s", folder->path,
                           BRIO_CHECKPOINT_NAME, strerror(reason));
    }
    BrioState *copy = NULL;
    BrioStatus status = brio_state_copy(state, &copy, NULL);
    if (status == BRIO_OK) status = read_open(folder, file, checkpoint, copy, partition, error);
    if (status == BRIO_OK) brio_state_assign(state, copy);
    brio_state_free(copy);
    fclose(file);
    return status;
}

bool brio__checkpoint_exists(const BrioFolder *folder)
{
    struct stat info;
    return fstatat(folder->fd, BRIO_CHECKPOINT_NAME, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

/* ---- checkpoints of a simulation without a run ------------------------------------------ */

/* The folder of a file, and its name in it. */
static BrioStatus open_folder_of(const char *file, BrioFolder *folder, const char **name,
                                 BrioError *error)
{
    char path[4096];
    const char *slash = strrchr(file, '/');
    *name = slash ? slash + 1 : file;
    int length = slash == file ? 1 : slash ? (int)(slash - file) : 1;
    if (!**name || length >= (int)sizeof path)
        return brio__error(error, BRIO_ERROR_ARGUMENT, "\"%s\" is not the name of a file", file);
    snprintf(path, sizeof path, "%.*s", length, slash ? file : ".");
    return brio__folder_open(path, false, folder, error);
}

BrioStatus brio_sim_save(BrioSim *sim, const char *file, int replace, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(SIM, sim) && file, error);
    if (error) *error = (BrioError){0};
    BrioFolder folder = {.fd = -1};
    struct stat info;
    const char *name;
    unsigned char *image;
    size_t size;
    BrioCheckpoint c = {.scene = sim->edited ? hash_terms(BRIO_HASH_START, sim->system)
                                             : hash_system(BRIO_HASH_START, sim->system)};
    snprintf(c.isa, sizeof c.isa, "%s", brio_isa());
    BRIO_CHECK(open_folder_of(file, &folder, &name, error));
    BrioStatus told = brio__sim_image(sim, &image, &size, error);
    if (told != BRIO_OK) {
        brio__folder_close(&folder);
        return told;
    }
    BrioStatus status =
        !replace && fstatat(folder.fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0
            ? brio__error(error, BRIO_ERROR_EXISTS,
                          "%s already exists: give another name, or ask to replace it", file)
            : write_named(&folder, name, &c, image, size, sim->state, NULL, true, error);
    if (status == BRIO_OK) status = brio__folder_sync(&folder, error);
    brio__free(image);
    brio__folder_close(&folder);
    return status;
}

/* A file that is open, and what was found in it so far. */
typedef struct Reading {
    const char *name;
    Stream stream;
    BrioCheckpoint found;
    unsigned char *image;
    uint64_t image_size;
} Reading;

/* To where the counts begin, when all before them is what it should be. `system`: it must have the
 * same bodies; NULL: any. */
static BrioStatus read_head(const BrioSystem *system, Reading *r, BrioError *error)
{
    char first[8] = "";
    uint32_t version = 0;
    uint64_t mark = 0;
    Stream *s = &r->stream;
    visit_head(s, &r->found, first, &version, &mark);
    if (s->broken || memcmp(first, letters, sizeof first))
        return brio__error(error, BRIO_ERROR_INPUT, "%s is no checkpoint, or is cut off", r->name);
    if (mark != BYTE_ORDER_MARK || !readable(version))
        return brio__error(
            error, BRIO_ERROR_INPUT,
            "%s was written by another version of brio, or on another kind of machine", r->name);
    s->format = version >> 16;
    if (s->format >= 5) VISIT(s, r->image_size);
    if (system && !s->broken && !r->image_size &&
        r->found.scene != hash_system(BRIO_HASH_START, system))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "%s belongs to other bodies than those of this simulation: load the "
                           "scene that it was saved from",
                           r->name);
    rewind(s->file);
    if (!whole(s->file))
        return brio__error(error, BRIO_ERROR_INPUT, "%s is damaged or cut off", r->name);
    rewind(s->file);
    s->broken = false;
    r->image_size = 0;
    visit_head(s, &r->found, first, &version, &mark);
    visit_image(s, &r->image, &r->image_size);
    if (!s->broken) return BRIO_OK;
    return s->out_of_memory
               ? brio__no_memory(error)
               : brio__error(error, BRIO_ERROR_INPUT, "%s is damaged or cut off", r->name);
}

static BrioStatus read_state(const BrioSim *sim, Reading *r, BrioState *state, BrioError *error)
{
    visit(&r->stream, &r->found, state);
    brio__free(r->found.frame_time);
    if (!r->stream.broken) return BRIO_OK;
    if (r->stream.out_of_memory) return brio__no_memory(error);
    return brio__error(error, BRIO_ERROR_INPUT,
                       "%s was saved under an integrator that remembers another number of "
                       "steps than %s: set that integrator first",
                       r->name, sim->stepper->integrator->name);
}

/* The bodies of an edited simulation are in the file. */
static BrioStatus restore_edited(BrioSim *sim, Reading *r, BrioError *error)
{
    BrioSystem *system;
    BrioState *state;
    BRIO_CHECK(brio__sim_prepare(sim, r->image, r->image_size, &system, &state, error));
    BrioStatus status =
        r->found.scene == hash_terms(BRIO_HASH_START, system)
            ? read_state(sim, r, state, error)
            : brio__error(error, BRIO_ERROR_INPUT, "%s: its bodies are damaged", r->name);
    if (status == BRIO_OK) status = brio__sim_adopt(sim, system, &state, error);
    if (status == BRIO_OK) return BRIO_OK;
    brio_system_free(system);
    brio_state_free(state);
    return status;
}

static BrioStatus restore_same(BrioSim *sim, Reading *r, BrioError *error)
{
    BrioState *copy = NULL;
    BrioStatus status = brio_state_copy(sim->state, &copy, error);
    if (status == BRIO_OK) status = read_state(sim, r, copy, error);
    if (status == BRIO_OK) brio_state_assign(sim->state, copy);
    brio_state_free(copy);
    return status;
}

int brio_checkpoint_has_bodies(const char *name)
{
    BRIO_NEEDS_OR(name, -1);
    FILE *file = fopen(name, "re");
    if (!file) return -1;
    BrioCheckpoint found = {0};
    char first[8] = "";
    uint32_t version = 0;
    uint64_t mark = 0, size = 0;
    Stream s = {.file = file, .reading = true};
    visit_head(&s, &found, first, &version, &mark);
    if (version >> 16 >= 5) VISIT(&s, size); /* before, files had no bodies */
    fclose(file);
    bool known = !s.broken && !memcmp(first, letters, sizeof first);
    return known && mark == BYTE_ORDER_MARK && readable(version) ? size > 0 : -1;
}

BrioStatus brio_sim_restore(BrioSim *sim, const char *name, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(SIM, sim) && name, error);
    if (error) *error = (BrioError){0};
    FILE *file = fopen(name, "re");
    if (!file)
        return brio__error(error, BRIO_ERROR_FILE, "cannot read %s: %s", name, strerror(errno));
    Reading r = {.name = name, .stream = {.file = file, .reading = true}};
    BrioStatus status = read_head(sim->system, &r, error);
    if (status == BRIO_OK)
        status = r.image_size ? restore_edited(sim, &r, error) : restore_same(sim, &r, error);
    brio__free(r.image);
    fclose(file);
    return status;
}

/* ---- a checkpoint as the start of another run -------------------------------------------- */

/* The state as it stands in the file, of whatever shape; positions and velocities are taken. */
static BrioStatus take_motion(Reading *r, double h, BrioState *state, BrioError *error)
{
    Stream *s = &r->stream;
    BrioState head = {0};
    size_t begin[5];
    visit_counts(s, &r->found);
    brio__free(r->found.frame_time);
    VISIT(s, head);
    if (s->broken) return brio__error(error, BRIO_ERROR_INPUT, "%s is damaged", r->name);
    if (head.coordinates != state->coordinates)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "%s holds %lld coordinates and the scene has %lld: bodies, their "
                           "meshes or their fixed vertices were changed, so the run must start "
                           "again",
                           r->name, (long long)head.coordinates, (long long)state->coordinates);
    bool fits = head.bytes == brio__state_layout(&head, begin);
    size_t bytes = (size_t)head.coordinates * sizeof(double);
    fits = fits && !fseek(s->file, (long)(begin[0] - sizeof head), SEEK_CUR);
    fits = fits && fread(state->q, 1, bytes, s->file) == bytes;
    fits = fits && !fseek(s->file, (long)(begin[1] - begin[0] - bytes), SEEK_CUR);
    fits = fits && fread(state->v, 1, bytes, s->file) == bytes;
    if (!fits) return brio__error(error, BRIO_ERROR_INPUT, "%s is damaged", r->name);
    state->time = head.time;
    state->time_error = head.time_error;
    state->step = llround(head.time / h);
    return BRIO_OK;
}

BrioStatus brio__checkpoint_start(const char *name, double h, BrioState *state, BrioError *error)
{
    FILE *file = fopen(name, "re");
    if (!file)
        return brio__error(error, BRIO_ERROR_FILE, "cannot read %s: %s", name, strerror(errno));
    Reading r = {.name = name, .stream = {.file = file, .reading = true}};
    BrioStatus status = read_head(NULL, &r, error);
    if (status == BRIO_OK && r.image_size)
        status = brio__error(error, BRIO_ERROR_INPUT,
                             "%s belongs to a simulation that was edited: give one of a run", name);
    if (status == BRIO_OK) status = take_motion(&r, h, state, error);
    brio__free(r.image);
    fclose(file);
    return status;
}

/* What is known of the steps before; the ledger starts at zero. */
static void take_memory(BrioState *state, const BrioState *found)
{
    state->step = found->step;
    state->history_used = found->history_used;
    state->last_h = found->last_h;
    state->target = found->target;
    state->alpha = found->alpha;
    memcpy(state->memo, found->memo, sizeof state->memo);
    memcpy(state->past, found->past,
           (size_t)(state->coordinates * state->history) * sizeof *state->past);
    state->next_h = found->next_h;
    state->last_error = found->last_error;
}

/* `found`: a copy of the simulation's state, to be filled. */
static BrioStatus recall(Reading *r, uint64_t scene, BrioSim *sim, BrioState *found,
                         BrioError *error)
{
    Stream *s = &r->stream;
    BrioState head = {0};
    BRIO_CHECK(read_head(NULL, r, error));
    visit_counts(s, &r->found);
    brio__free(r->found.frame_time);
    long begin = ftell(s->file);
    VISIT(s, head);
    if (s->broken || begin < 0 || fseek(s->file, begin, SEEK_SET))
        return brio__error(error, BRIO_ERROR_INPUT, "%s is damaged", r->name);
    bool same = brio__partition_any(s->partition, scene && scene == r->found.scene);
    if (same) visit_state(s, found);
    if (s->out_of_memory) return brio__no_memory(error);
    double excess = head.target - r->found.totals.last_energy;
    if (same && !s->broken)
        take_memory(sim->state, found);
    else if (!isnan(excess) && (sim->stepper->traits & BRIO_ENERGY_CONTROLLED))
        sim->state->target = brio__sim_energy(sim) + excess;
    return BRIO_OK;
}

BrioStatus brio__checkpoint_recall(const char *name, uint64_t scene, BrioSim *sim, BrioError *error)
{
    FILE *file = fopen(name, "re");
    if (!file)
        return brio__error(error, BRIO_ERROR_FILE, "cannot read %s: %s", name, strerror(errno));
    Reading r = {.name = name,
                 .stream = {.file = file, .partition = sim->system->partition, .reading = true}};
    BrioState *found = NULL;
    BrioStatus status = brio_state_copy(sim->state, &found, error);
    if (status == BRIO_OK) status = recall(&r, scene, sim, found, error);
    brio_state_free(found);
    brio__free(r.image);
    fclose(file);
    return status;
}
