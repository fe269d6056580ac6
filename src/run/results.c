/* Which files in a folder are results of brio: what --force may remove, and what is not overwritten
 * without it. */
#include "run.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The checkpoint goes first, so that what is left of removed results is never continued. */
static const char *const names[] = {BRIO_CHECKPOINT_NAME, "energy.csv",  "probes.csv", "motion.bin",
                                    "run.json",           "report.html", "state.csv"};

/* `text` without `prefix`, or NULL. */
static const char *after(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) ? NULL : text + length;
}

/* Digits, then just `rest`. */
static bool numbered(const char *text, const char *rest)
{
    const char *start = text;
    while (isdigit((unsigned char)*text)) text++;
    return text > start && !strcmp(text, rest);
}

/* A file that a kill left half written: it goes with the results but is none. */
static bool unfinished(const char *found)
{
    size_t length = strlen(found);
    return length > 4 && !strcmp(found + length - 4, ".tmp");
}

static bool is_result(const char *found)
{
    char name[256];
    snprintf(name, sizeof name, "%s", found);
    if (unfinished(name)) name[strlen(name) - 4] = 0;
    for (size_t i = 0; i < BRIO_COUNT(names); i++)
        if (!strcmp(name, names[i])) return true;
    return after(name, "state-") && numbered(after(name, "state-"), ".csv");
}

/* ".glb" or "-BODY.pc2", what follows "frames" in the name of a film; ".obj" of a rest shape;
 * ".pvd" of an index. */
static bool is_film(const char *rest, const BrioFrameFormat *format)
{
    const char *dot = strrchr(rest, '.');
    if (!dot || (rest != dot && rest[0] != '-')) return false;
    if (format->index && rest == dot && !strcmp(dot + 1, format->index_extension)) return true;
    return format->film &&
           (!strcmp(dot + 1, format->extension) || (format->rest_shape && !strcmp(dot + 1, "obj")));
}

static bool is_frame(const char *found)
{
    char name[256], rest[64];
    snprintf(name, sizeof name, "%s", found);
    if (unfinished(name)) name[strlen(name) - 4] = 0;
    for (int i = 0; brio__frames_at(i); i++) {
        const BrioFrameFormat *format = brio__frames_at(i);
        snprintf(rest, sizeof rest, ".%s", format->extension);
        if (after(name, "frames") && is_film(after(name, "frames"), format)) return true;
        const char *number = after(name, "frame_");
        if (number && numbered(number, rest)) return true;
        if (!number || !format->joint_extension) continue;
        if (number[strspn(number, "0123456789")] == '_') { /* frame_000012_p3.vtu, a piece */
            const char *piece = after(number + strspn(number, "0123456789"), "_p");
            if (piece && numbered(piece, rest)) return true;
        }
        snprintf(rest, sizeof rest, ".%s", format->joint_extension);
        if (numbered(number, rest)) return true;
    }
    return false;
}

/* Counts the finished files that `matches`, or removes all of them if asked. -1: a failure, with
 * errno. */
static int sweep(const BrioFolder *folder, bool (*matches)(const char *), bool clear)
{
    int copy = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), count = 0;
    DIR *listing = copy < 0 ? NULL : fdopendir(copy);
    if (!listing) {
        int reason = errno;
        if (copy >= 0) close(copy);
        errno = reason;
        return -1;
    }
    for (struct dirent *entry; count >= 0 && (entry = readdir(listing));) {
        if (!matches(entry->d_name) || (!clear && unfinished(entry->d_name))) continue;
        count++;
        if (clear && unlinkat(folder->fd, entry->d_name, 0) && errno != ENOENT) count = -1;
    }
    int reason = errno;
    closedir(listing);
    errno = reason;
    return count;
}

static bool is_kept(const char *found)
{
    return numbered(found, "") || (unfinished(found) && numbered(found, ".tmp"));
}

/* Results in a folder inside, which goes too if it is empty then. */
static BrioStatus sweep_inside(const BrioFolder *folder, const char *name,
                               bool (*matches)(const char *), bool clear, int *count,
                               BrioError *error)
{
    BrioFolder inside;
    struct stat info;
    if (fstatat(folder->fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return BRIO_OK;
    BRIO_CHECK(brio__folder_inside(folder, name, false, &inside, error));
    int more = sweep(&inside, matches, clear);
    BrioStatus status = more < 0 ? brio__write_failed(&inside, "", errno, error) : BRIO_OK;
    *count += more;
    brio__folder_close(&inside);
    if (clear) unlinkat(folder->fd, name, AT_REMOVEDIR); /* stays if it holds something else */
    return status;
}

static BrioStatus sweep_all(const BrioFolder *folder, bool clear, int *count, BrioError *error)
{
    if (clear && unlinkat(folder->fd, BRIO_CHECKPOINT_NAME, 0) && errno != ENOENT)
        return brio__write_failed(folder, BRIO_CHECKPOINT_NAME, errno, error);
    *count = sweep(folder, is_result, clear);
    if (*count < 0) return brio__write_failed(folder, "", errno, error);
    BRIO_CHECK(sweep_inside(folder, "frames", is_frame, clear, count, error));
    return sweep_inside(folder, BRIO_CHECKPOINT_FOLDER, is_kept, clear, count, error);
}

BrioStatus brio__results_open(const char *out, bool force, bool keep, BrioFolder *folder,
                              BrioError *error)
{
    int count = 0;
    struct stat info;
    bool exists = stat(out, &info) == 0;
    BRIO_CHECK(brio__folder_open(out, !exists, folder, error));
    BrioStatus status = BRIO_OK;
    if (flock(folder->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        status = brio__error(
            error, BRIO_ERROR_EXISTS,
            "another brio is writing to %s: wait for it, or choose another folder with -o", out);
    if (status == BRIO_OK && faccessat(folder->fd, ".", W_OK | X_OK, AT_EACCESS))
        status = brio__write_failed(folder, "", errno, error);
    if (status == BRIO_OK) status = sweep_all(folder, false, &count, error);
    if (status == BRIO_OK && count > 0 && !force && !keep)
        status = brio__error(error, BRIO_ERROR_EXISTS,
                             "%s holds results of an earlier run: --resume continues it, --force "
                             "replaces it, -o chooses another folder",
                             out);
    if (status == BRIO_OK && count > 0 && force) status = sweep_all(folder, true, &count, error);
    if (status == BRIO_OK && keep && count > 0 && !brio__checkpoint_exists(folder))
        status = brio__error(
            error, BRIO_ERROR_EXISTS,
            "%s holds results but no checkpoint to continue from: --force starts again", out);
    if (status != BRIO_OK) brio__folder_close(folder);
    return status;
}
