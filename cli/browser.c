/* Pages that commands show. */
#include "commands.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

bool open_in_browser(const char *path)
{
    int status;
    if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY")) return false;
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(127);
        execlp("xdg-open", "xdg-open", path, (char *)NULL);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}
