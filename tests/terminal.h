/* The program at a terminal of its own. */
#ifndef BRIO_TEST_TERMINAL_H
#define BRIO_TEST_TERMINAL_H

#include "program.h"

#include <stdlib.h>
#include <sys/ioctl.h>

/* Starts the program with the arguments up to NULL; its errors and its progress go to a terminal of
 * so many columns, whose other end is *master. -1: there is none to be had, which is told. */
static inline pid_t start_at_terminal(const char *const *arguments, int columns, int *master)
{
    const char *argv[64] = {"brio"};
    for (int count = 1; arguments[count - 1]; count++) argv[count] = arguments[count - 1];
    *master = posix_openpt(O_RDWR | O_NOCTTY);
    if (*master < 0 || grantpt(*master) || unlockpt(*master)) {
        print_message("SKIPPED: no terminal to be had\n");
        if (*master >= 0) close(*master);
        return -1;
    }
    struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)columns};
    ioctl(*master, TIOCSWINSZ, &size);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0) return child;
    int terminal = open(ptsname(*master), O_RDWR | O_NOCTTY), none = open("/dev/null", O_RDWR);
    dup2(none, 0);
    dup2(none, 1);
    dup2(terminal, 2);
    close(*master);
    execv(program(), (char *const *)argv);
    _exit(127);
}

#endif
