/* A full disk: a run waits until there is room. The tables were cut to the last checkpoint when
 * writing failed, so that the run goes on from there, to the same bytes. */
#include "commands.h"
#include "room.h"

#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { ENOUGH = 16 << 20, SOME = 1 << 20, PATIENCE = 10 }; /* bytes free, or more of them; s */

/* Bytes that may still be written there; 0: not known. */
static double bytes_free(const char *folder)
{
    struct statvfs disk;
    return statvfs(folder, &disk) == 0 ? (double)disk.f_bavail * (double)disk.f_frsize : 0;
}

bool wait_for_room(const char *folder, const char *reason)
{
    if (!strstr(reason, strerror(ENOSPC)) && !strstr(reason, strerror(EDQUOT))) return false;
    double before = bytes_free(folder);
    fprintf(stderr,
            "brio run: %s; the run waits, and continues from its last checkpoint when there is "
            "room (Ctrl-C ends it)\n",
            reason);
    for (int seconds = 0; !stop_wanted; seconds++) {
        sleep(1);
        double now = bytes_free(folder);
        /* a quota does not show in what is free: then it is tried now and then */
        if (!stop_wanted && (now >= ENOUGH || now > before + SOME || seconds >= PATIENCE))
            return true;
    }
    return false;
}
