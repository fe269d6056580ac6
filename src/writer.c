/* Files relative to an open folder, without following links; replacements are written under a
 * temporary name, synced and renamed. */
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- folders ---------------------------------------------------------------------------- */

static const char *remedy(int reason)
{
    switch (reason) {
    case ENOSPC:
    case EDQUOT: return "; free some space, then try again";
    case EFBIG: return "; the file may not grow further (ulimit -f)";
    case EACCES:
    case EPERM:
    case EROFS: return "; choose another folder with -o";
    case ENOTDIR:
    case ELOOP: return "; there is a file or a link where a folder is needed";
    }
    return "";
}

BrioStatus brio__write_failed(const BrioFolder *folder, const char *name, int reason,
                              BrioError *error)
{
    return brio__error(error, BRIO_ERROR_FILE, "cannot write %s%s%s: %s%s", folder->path,
                       name[0] ? "/" : "", name, strerror(reason ? reason : EIO), remedy(reason));
}

/* The folders above `path` (which is changed in between and put back), then itself. */
static int make_folders(char *path)
{
    for (char *at = path + 1; *at; at++) {
        if (*at != '/') continue;
        *at = 0;
        int failed = mkdir(path, 0777);
        *at = '/';
        if (failed && errno != EEXIST) return -1;
    }
    return mkdir(path, 0777) && errno != EEXIST ? -1 : 0;
}

BrioStatus brio__folder_open(const char *path, bool make, BrioFolder *folder, BrioError *error)
{
    folder->fd = -1;
    if (!path[0] ||
        snprintf(folder->path, sizeof folder->path, "%s", path) >= (int)sizeof folder->path)
        return brio__error(error, BRIO_ERROR_FILE, "the name of the output folder is %s",
                           path[0] ? "too long" : "empty");
    if (make && make_folders(folder->path)) return brio__write_failed(folder, "", errno, error);
    folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return folder->fd < 0 ? brio__write_failed(folder, "", errno, error) : BRIO_OK;
}

BrioStatus brio__folder_inside(const BrioFolder *parent, const char *name, bool make,
                               BrioFolder *folder, BrioError *error)
{
    folder->fd = -1;
    if (snprintf(folder->path, sizeof folder->path, "%s/%s", parent->path, name) >=
        (int)sizeof folder->path)
        return brio__write_failed(parent, name, ENAMETOOLONG, error);
    if (make && mkdirat(parent->fd, name, 0777) && errno != EEXIST)
        return brio__write_failed(folder, "", errno, error);
    folder->fd = openat(parent->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return folder->fd < 0 ? brio__write_failed(folder, "", errno, error) : BRIO_OK;
}

BrioStatus brio__folder_sync(const BrioFolder *folder, BrioError *error)
{
    /* some file systems cannot sync a folder, and need not */
    if (fsync(folder->fd) && errno != EINVAL) return brio__write_failed(folder, "", errno, error);
    return BRIO_OK;
}

void brio__folder_close(BrioFolder *folder)
{
    if (folder->fd >= 0) close(folder->fd);
    folder->fd = -1;
}

/* ---- files that grow -------------------------------------------------------------------- */

/* Whether the file begins with these bytes. Their hash is filled in if it is not known. */
static BrioStatus check_extent(const BrioFolder *folder, const char *name, int fd,
                               BrioExtent *extent, BrioError *error)
{
    char buffer[65536];
    uint64_t hash = BRIO_HASH_START;
    int64_t at = 0;
    while (at < extent->length) {
        int64_t left = extent->length - at;
        size_t room = left < (int64_t)sizeof buffer ? (size_t)left : sizeof buffer;
        ssize_t got = pread(fd, buffer, room, at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return brio__error(error, BRIO_ERROR_FILE, "cannot read %s/%s: %s", folder->path, name,
                               strerror(errno));
        if (got == 0)
            return brio__error(error, BRIO_ERROR_INPUT,
                               "%s/%s has %lld bytes and the checkpoint %lld: it was changed after "
                               "the run; start again with --force",
                               folder->path, name, (long long)at, (long long)extent->length);
        hash = brio__hash(hash, buffer, (size_t)got);
        at += got;
    }
    if (extent->hash && extent->hash != hash)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "%s/%s was changed after the run; put the file back as it was, or start "
                           "again with --force",
                           folder->path, name);
    extent->hash = hash;
    return BRIO_OK;
}

BrioStatus brio__writer_open(const BrioFolder *folder, const char *name, BrioExtent from,
                             BrioWriter *writer, BrioError *error)
{
    *writer = (BrioWriter){.folder = folder, .name = name};
    int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | (from.length > 0 ? 0 : O_CREAT);
    int fd = openat(folder->fd, name, flags, 0666);
    if (fd < 0) return brio__write_failed(folder, name, errno, error);
    BrioStatus status = check_extent(folder, name, fd, &from, error);
    if (status != BRIO_OK) {
        close(fd);
        return status;
    }
    writer->written = from;
    if (ftruncate(fd, from.length) || lseek(fd, from.length, SEEK_SET) < 0 ||
        !(writer->file = fdopen(fd, "w"))) {
        int reason = errno;
        close(fd);
        return brio__write_failed(folder, name, reason, error);
    }
    return BRIO_OK;
}

static BrioStatus failed(BrioWriter *writer, BrioError *error)
{
    if (!writer->reason) writer->reason = errno ? errno : EIO;
    return brio__write_failed(writer->folder, writer->name, writer->reason, error);
}

BrioStatus brio__writer_put(BrioWriter *writer, const char *text, size_t size, BrioError *error)
{
    errno = writer->reason;
    if (writer->reason || fwrite(text, 1, size, writer->file) != size) return failed(writer, error);
    writer->written.length += (int64_t)size;
    writer->written.hash = brio__hash(writer->written.hash, text, size);
    return BRIO_OK;
}

BrioStatus brio__writer_sync(BrioWriter *writer, BrioError *error)
{
    errno = writer->reason;
    if (writer->reason || fflush(writer->file) || (fsync(fileno(writer->file)) && errno != EINVAL))
        return failed(writer, error);
    return BRIO_OK;
}

void brio__writer_cut(BrioWriter *writer, int64_t length)
{
    if (!writer->file) return;
    int fd = fileno(writer->file), copy = dup(fd);
    brio__writer_close(writer); /* what the buffer still holds may reach the file: cut afterwards */
    if (copy < 0) return;
    if (ftruncate(copy, length))
        brio__log(BRIO_LOG_DEBUG, "%s could not be cut: %s", writer->name, strerror(errno));
    close(copy);
}

void brio__writer_close(BrioWriter *writer)
{
    if (writer->file) fclose(writer->file);
    writer->file = NULL;
}

/* ---- files that are replaced ------------------------------------------------------------ */

/* Another name, also of one that is as long as names may be. */
static void temporary(const char *name, char text[256]) { snprintf(text, 256, "%.251s.tmp", name); }

BrioStatus brio__replace_begin(const BrioFolder *folder, const char *name, FILE **file,
                               BrioError *error)
{
    char other[256];
    temporary(name, other);
    if (unlinkat(folder->fd, other, 0) && errno != ENOENT)
        return brio__write_failed(folder, other, errno, error);
    int fd = openat(folder->fd, other, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0) return brio__write_failed(folder, name, errno, error);
    *file = fdopen(fd, "w");
    if (*file) return BRIO_OK;
    int reason = errno;
    close(fd);
    unlinkat(folder->fd, other, 0);
    return brio__write_failed(folder, name, reason, error);
}

BrioStatus brio__replace_end(const BrioFolder *folder, const char *name, FILE *file, bool sync,
                             BrioError *error)
{
    char other[256];
    int reason = 0;
    temporary(name, other);
    if (fflush(file)) reason = errno;
    if (ferror(file) &&
        !reason) { /* some write failed before: the one who asked next gets the reason */
        ssize_t written = write(fileno(file), "", 1);
        reason = written < 0 ? errno : EIO;
    }
    if (!reason && sync && fsync(fileno(file)) && errno != EINVAL) reason = errno;
    if (fclose(file) && !reason) reason = errno;
    if (!reason && renameat(folder->fd, other, folder->fd, name)) reason = errno;
    if (!reason) return BRIO_OK;
    unlinkat(folder->fd, other, 0);
    return brio__write_failed(folder, name, reason, error);
}

void brio__replace_cancel(const BrioFolder *folder, const char *name, FILE *file)
{
    char other[256];
    temporary(name, other);
    fclose(file);
    unlinkat(folder->fd, other, 0);
}

uint64_t brio__hash(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < size; i++) hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

/* The folder of a run that is not there; `brio run NAME` writes to NAME-out. */
BrioStatus brio__no_folder(const char *out, BrioError *error)
{
    struct stat info;
    char other[4200];
    snprintf(other, sizeof other, "%s-out", out);
    if (stat(other, &info) == 0 && S_ISDIR(info.st_mode))
        return brio__error(error, BRIO_ERROR_FILE,
                           "there is no folder \"%s\"; did you mean \"%s\"?", out, other);
    return brio__error(error, BRIO_ERROR_FILE,
                       "there is no folder \"%s\": give one that `brio run` has written", out);
}
