/* Pages that commands show, and the port at which they serve them. */
#include "commands.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

bool open_in_browser(const char *path)
{
    int status;
    if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY")) return false;
    pid_t child = fork();
    if (child == 0) {
        setsid(); /* Ctrl-C in this terminal is not meant for the browser */
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(127);
        execlp("xdg-open", "xdg-open", path, (char *)NULL);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static void *open_copy(void *address)
{
    open_in_browser(address);
    free(address);
    return NULL;
}

void open_while_serving(const char *address)
{
    pthread_t thread;
    char *copy = strdup(address);
    if (copy && pthread_create(&thread, NULL, open_copy, copy) == 0)
        pthread_detach(thread);
    else
        free(copy);
}

int listen_here(int port, int *got)
{
    struct sockaddr_in place = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof place;
    int yes = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0) return -1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&place, sizeof place) != 0 || listen(listener, 64) != 0 ||
        getsockname(listener, (struct sockaddr *)&place, &size) != 0) {
        int reason = errno;
        close(listener);
        errno = reason;
        return -1;
    }
    *got = ntohs(place.sin_port);
    return listener;
}
