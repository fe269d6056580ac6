/* Results that appear under their name when they are whole: a command that fails, is interrupted or
 * killed leaves what stood there. */
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void partial_name(const char *name, char *text, size_t size)
{
    enum { LONGEST = 235 }; /* file systems allow 255 bytes */
    const char *slash = strrchr(name, '/');
    size_t folder = slash ? (size_t)(slash - name) + 1 : 0;
    size_t length = BRIO_MIN(strlen(name), folder + LONGEST);
    snprintf(text, size, "%.*s.%ld.part", (int)length, name, (long)getpid());
}

/* Devices and pipes are written as they are; of a link, what it names is replaced. */
static int open_result(const char *name, bool force, ResultFile *result)
{
    struct stat info;
    if (force && stat(name, &info) == 0 && !S_ISREG(info.st_mode))
        return open(name, O_WRONLY | O_CLOEXEC);
    if (!force && lstat(name, &info) == 0) {
        errno = EEXIST;
        return -1;
    }
    bool there = stat(name, &info) == 0;
    char *whole = realpath(name, NULL);
    int used = snprintf(result->place, sizeof result->place, "%s", whole ? whole : name);
    free(whole);
    if (used >= (int)sizeof result->place) {
        errno = ENAMETOOLONG;
        return -1;
    }
    partial_name(result->place, result->partial, sizeof result->partial);
    int fd = open(result->partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 && there) fchmod(fd, info.st_mode & 0777); /* it keeps who may read it */
    return fd;
}

bool create_file(const Command *command, const char *name, bool force, const char *instead,
                 ResultFile *result)
{
    signal(SIGXFSZ, SIG_IGN);
    *result = (ResultFile){.name = name};
    int fd = open_result(name, force, result);
    result->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (result->file) return true;
    int reason = errno;
    if (fd >= 0) close(fd);
    if (fd >= 0 && result->partial[0]) unlink(result->partial);
    if (reason == EEXIST)
        usage_error(command, "%s already exists: %s, or --force to replace it", name, instead);
    else
        usage_error(command, "cannot write %s: %s", name, strerror(reason));
    return false;
}

int finish_file(const Command *command, ResultFile *result, BrioStatus status)
{
    bool failed = ferror(result->file) != 0;
    int reason = failed ? errno : 0;
    if (fclose(result->file) && !failed) failed = true, reason = errno;
    if (status == BRIO_OK && !failed && result->partial[0] &&
        rename(result->partial, result->place))
        failed = true, reason = errno;
    if (status == BRIO_OK && !failed) return EXIT_DONE;
    if (result->partial[0]) unlink(result->partial);
    usage_error(command, "cannot write %s: %s", result->name,
                status != BRIO_OK ? brio_status_text(status) : strerror(reason ? reason : EIO));
    return EXIT_FAILED;
}
