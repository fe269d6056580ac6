/* The progress bar of a terminal, and plain lines now and then without one. */
#include "progress.h"

#include "commands.h"

#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool shown; /* a line of ours stands on the terminal */

void progress_clear(void)
{
    if (!shown) return;
    fputs("\r\033[K", stderr);
    shown = false;
}

static int terminal_width(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void progress_text(const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r%.*s\033[K", terminal_width() - 1, text);
        shown = true;
    } else {
        fprintf(stderr, "%s\n", text);
    }
    fflush(stderr);
}

/* A narrow terminal shows the beginning, so what matters comes first. */
static int describe_iteration(const BrioIteration *now, char *text, size_t size)
{
    char left[96] = "", halved[48] = "", moved[64] = "", limit[192] = "";
    if (!isnan(now->speed))
        snprintf(left, sizeof left, " at %.2g m/s (tolerance %.2g)", now->speed, now->tol);
    if (now->limit[1])
        snprintf(limit, sizeof limit, "  limited by \"%.60s\" and \"%.60s\", %.2g m apart",
                 now->limit[0], now->limit[1], now->distance);
    else if (now->limit[0])
        snprintf(limit, sizeof limit, "  limited by an element of \"%.60s\"", now->limit[0]);
    if (now->halvings) snprintf(halved, sizeof halved, "  in pieces of 1/%d", 1 << now->halvings);
    if (now->moved < 1)
        snprintf(moved, sizeof moved, "  scripts at %.3g %% of their path", 100 * now->moved);
    return snprintf(text, size, "iteration %d%s  %d contacts%s%s%s", now->iteration, left,
                    now->contacts, limit, halved, moved);
}

/* What a long step is doing. */
static int describe_inside(const BrioRunProgress *p, char *text, size_t size)
{
    char wall[32], iteration[512];
    seconds_text(p->inside_wall, wall, sizeof wall);
    describe_iteration(p->inside, iteration, sizeof iteration);
    return snprintf(text, size, "step %lld of %lld, %s: %s", (long long)p->inside->step,
                    (long long)p->steps, wall, iteration);
}

int progress_watch(void *user, const BrioIteration *iteration)
{
    static double start = -1, last;
    (void)user;
    double now = brio__seconds();
    char text[512];
    if (start < 0) start = last = now;
    bool terminal = isatty(STDERR_FILENO);
    if (now - start < 1 || now - last < (terminal ? 0.1 : 10)) return 0;
    last = now;
    describe_iteration(iteration, text, sizeof text);
    progress_text("%s", text);
    return 0;
}

/* How much of the run is done, 0 to 1. */
static double fraction_of(const BrioRunProgress *p)
{
    if (p->h > 0) return p->end > 0 ? fmin(p->time / p->end, 1) : 1;
    return p->steps > 0 ? (double)p->step / (double)p->steps : 1;
}

/* Everything but the bar. */
static int describe(const BrioRunProgress *p, char *text, size_t size)
{
    char wall[32], left[32] = "", contacts[64] = "", step[32] = "";
    if (p->inside) return describe_inside(p, text, size);
    int64_t done = p->step - p->first, more = p->steps - p->step;
    seconds_text(p->wall, wall, sizeof wall);
    if (done > 0 && more > 0) {
        char eta[24];
        seconds_text(p->wall / (double)done * (double)more, eta, sizeof eta);
        snprintf(left, sizeof left, ", ETA %s", eta);
    }
    if (p->h > 0) snprintf(step, sizeof step, "  h = %.2g s", p->h);
    if (p->contacts > 0)
        snprintf(contacts, sizeof contacts, "  %d contacts, closest %.2g m", p->contacts,
                 p->distance);
    return snprintf(text, size,
                    "%3.0f %%  t = %.3f of %g s%s  wall %s%s  E = %.5g J  %d iteration%s%s",
                    floor(100 * fraction_of(p)), p->time, p->end, step, wall, left, p->energy,
                    p->iterations, p->iterations == 1 ? "" : "s", contacts);
}

static void show_line(const BrioRunProgress *p)
{
    char text[640], bar[128];
    int width = terminal_width() - 1;
    int length = describe(p, text, sizeof text);
    int room = BRIO_MIN(width - length - 3, 30);
    room = BRIO_MAX(room, 0);
    int full = (int)((double)room * fraction_of(p));
    memset(bar, '#', (size_t)full);
    memset(bar + full, '.', (size_t)(room - full));
    bar[room] = 0;
    fprintf(stderr, room >= 5 ? "\r[%s] %.*s\033[K" : "\r%.0s%.*s\033[K", bar, width, text);
    fflush(stderr);
    shown = true;
}

void progress_show(void *user, const BrioRunProgress *p)
{
    static double last = -1;
    (void)user;
    bool terminal = isatty(STDERR_FILENO),
         edge = !p->inside && (p->step == p->first || p->step >= p->steps);
    if (!edge && p->wall - last < (terminal ? 0.1 : 10)) return;
    last = p->wall;
    if (terminal) {
        show_line(p);
        return;
    }
    char text[640];
    describe(p, text, sizeof text);
    fprintf(stderr, "%s\n", text);
}

void progress_lines(void *user, const BrioRunProgress *p)
{
    static double last = -1;
    (void)user;
    bool edge = !p->inside && (p->step == p->first || p->step >= p->steps);
    if (!edge && p->wall - last < 0.05) return;
    last = p->wall;
    BrioJson json = {.file = stdout, .flat = true};
    brio__json_open(&json, NULL, '{');
    brio__json_integer(&json, "step", p->step);
    brio__json_integer(&json, "steps", p->steps);
    brio__json_integer(&json, "first", p->first);
    brio__json_integer(&json, "frames", p->frames);
    brio__json_real(&json, "time", p->time);
    if (p->h > 0) brio__json_real(&json, "h", p->h);
    brio__json_real(&json, "end", p->end);
    brio__json_real(&json, "wall", p->wall);
    brio__json_real(&json, "energy", p->energy);
    brio__json_integer(&json, "iterations", p->inside ? p->inside->iteration : p->iterations);
    brio__json_integer(&json, "contacts", p->inside ? p->inside->contacts : p->contacts);
    brio__json_real(&json, "inside", p->inside ? p->inside_wall : 0);
    brio__json_close(&json, '}');
    if (fflush(stdout)) __atomic_store_n(&stop_wanted, 1, __ATOMIC_RELAXED);
}
