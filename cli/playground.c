/* brio playground: opens the page that `make playground` built, or serves it to browsers of this
 * machine. */
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Beside the program, where it was built, or where it was installed. */
static bool find_page(char *path, size_t size)
{
    static const char *const places[] = {"playground.html", "../share/brio/playground.html"};
    char program[3900];
    struct stat info;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) return false;
    program[length] = 0;
    char *slash = strrchr(program, '/');
    if (slash) *slash = 0;
    for (size_t i = 0; i < BRIO_COUNT(places); i++) {
        snprintf(path, size, "%s/%s", program, places[i]);
        if (stat(path, &info) == 0) return true;
    }
    return false;
}

/* ---- server ----------------------------------------------------------------------------- */

enum {
    USUAL_PORT = 8737,
    MAX_REQUEST = 8192, /* bytes of a request's head */
    MAX_CLIENTS = 64,
    PATIENCE = 30, /* seconds for one client */
    REQUEST = 5    /* of them, until it has said what it wants */
};

/* Serves the page and its engine with threads; nothing else. */
static const struct {
    const char *address, *file, *type;
} served[] = {
    {"/", "playground.html", "text/html; charset=utf-8"},
    {"/playground.html", "playground.html", "text/html; charset=utf-8"},
    {"/playground-threads.js", "playground-threads.js", "text/javascript"},
    {"/playground-threads.worker.js", "playground-threads.worker.js", "text/javascript"},
    {"/playground-threads.wasm", "playground-threads.wasm", "application/wasm"},
};

static bool send_all(int to, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t sent = write(to, data, size);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        data += sent;
        size -= (size_t)sent;
    }
    return true;
}

/* The last three lines make the page cross-origin isolated: without them there is no memory that
 * threads could share. */
static bool send_head(int to, const char *status, const char *type, long long size)
{
    char head[512];
    int length =
        snprintf(head, sizeof head,
                 "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %lld\r\nConnection: "
                 "close\r\nCache-Control: no-cache\r\n"
                 "Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Embedder-Policy: "
                 "require-corp\r\nCross-Origin-Resource-Policy: same-origin\r\n\r\n",
                 status, type, size);
    return send_all(to, head, (size_t)length);
}

static void refuse_request(int to, const char *status)
{
    char text[64];
    int length = snprintf(text, sizeof text, "%s\n", status);
    if (send_head(to, status, "text/plain", length)) send_all(to, text, (size_t)length);
}

/* One request: GET or HEAD of an address of the list. */
static void answer_client(int client, const char *folder)
{
    char request[MAX_REQUEST + 1], path[4200], block[65536];
    size_t have = 0;
    request[0] = 0;
    while (!strstr(request, "\r\n\r\n") && !strstr(request, "\n\n")) {
        ssize_t got = have < MAX_REQUEST ? read(client, request + have, MAX_REQUEST - have) : 0;
        if (got < 0 && errno == EINTR) continue;
        if (have == MAX_REQUEST)
            return refuse_request(client, "431 Request Header Fields Too Large");
        if (got <= 0 || memchr(request + have, 0, (size_t)got))
            return refuse_request(client, "400 Bad Request");
        have += (size_t)got;
        request[have] = 0;
    }
    alarm(PATIENCE);
    size_t method = strcspn(request, " \r\n"), line = strcspn(request, "\r\n");
    char *address = request + method + 1;
    char *version = request[method] == ' ' ? strchr(address, ' ') : NULL;
    if (!version || version > request + line || strncmp(version, " HTTP/1.", 8))
        return refuse_request(client, "400 Bad Request");
    request[method] = *version = 0;
    bool head = !strcmp(request, "HEAD");
    if (!head && strcmp(request, "GET")) return refuse_request(client, "405 Method Not Allowed");
    address[strcspn(address, "?#")] = 0;
    for (size_t i = 0; i < BRIO_COUNT(served); i++) {
        struct stat info;
        if (strcmp(address, served[i].address)) continue;
        snprintf(path, sizeof path, "%s/%s", folder, served[i].file);
        int file = open(path, O_RDONLY);
        if (file < 0 || fstat(file, &info) != 0) break;
        if (!send_head(client, "200 OK", served[i].type, (long long)info.st_size) || head) return;
        for (ssize_t got; (got = read(file, block, sizeof block)) > 0;)
            if (!send_all(client, block, (size_t)got)) return;
        return;
    }
    refuse_request(client, "404 Not Found");
}

/* The processes of clients, the oldest first. */
typedef struct Clients {
    pid_t process[MAX_CLIENTS];
    int count;
} Clients;

/* Forgets those that have ended; if there is no room, ends the oldest, so that clients that say
 * nothing keep nobody waiting. */
static void make_room(Clients *c)
{
    int kept = 0;
    for (int i = 0; i < c->count; i++)
        if (waitpid(c->process[i], NULL, WNOHANG) == 0) c->process[kept++] = c->process[i];
    c->count = kept;
    if (c->count < MAX_CLIENTS) return;
    kill(c->process[0], SIGKILL);
    waitpid(c->process[0], NULL, 0);
    memmove(c->process, c->process + 1, (size_t)--c->count * sizeof *c->process);
}

/* In the process of a client, which an alarm ends. */
static void attend(int client, const char *folder)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    alarm(REQUEST);
    answer_client(client, folder);
    /* what is not read yet would otherwise make the answer be lost */
    shutdown(client, SHUT_WR);
    for (char rest[1024]; read(client, rest, sizeof rest) > 0;) continue;
    _exit(0);
}

static int serve(const char *page, int port, bool print)
{
    char folder[4096], address[64];
    Clients clients = {.count = 0};
    int got, listener = listen_here(port ? port : USUAL_PORT, &got);
    if (listener < 0 && !port) listener = listen_here(0, &got);
    if (listener < 0) {
        fprintf(stderr,
                "brio playground: port %d cannot be had: %s; leave the number out for one that is "
                "free\n",
                port, strerror(errno));
        return EXIT_FAILED;
    }
    snprintf(folder, sizeof folder, "%s", page);
    *strrchr(folder, '/') = 0;
    snprintf(address, sizeof address, "http://127.0.0.1:%d/", got);
    printf("%s\nOnly browsers on this machine reach it; Ctrl-C ends it.\n", address);
    fflush(stdout);
    catch_signals();
    if (!print) open_while_serving(address);
    while (!stop_wanted) {
        if (poll(&(struct pollfd){.fd = listener, .events = POLLIN}, 1, 1000) <= 0) continue;
        make_room(&clients);
        int client = accept(listener, NULL, NULL);
        if (client < 0) continue;
        pid_t child = fork();
        if (child == 0) {
            close(listener);
            attend(client, folder);
        }
        if (child > 0) clients.process[clients.count++] = child;
        close(client);
    }
    close(listener);
    return EXIT_DONE;
}

/* ---- command ---------------------------------------------------------------------------- */

enum { PRINT, SERVE };

static int run(int argc, char **argv)
{
    Arguments a = {.command = &command_playground, .argc = argc, .argv = argv, .at = 1};
    bool print = false, server = false;
    const char *word = NULL;
    int64_t port = 0;
    int option;
    while ((option = argument_next(&a)) != ARGUMENT_END) {
        if (option == PRINT)
            print = true;
        else if (option == SERVE)
            server = true;
        else if (option == ARGUMENT_WORD && !word)
            word = a.value;
        else
            return option == ARGUMENT_WORD
                       ? usage_error(
                             a.command,
                             "takes one word, the port to serve at, and \"%s\" is a second one",
                             a.value)
                       : a.exit;
    }
    if (word && !server)
        return usage_error(a.command, "takes no words without --serve, and \"%s\" is one", word);
    if (word && !read_count(a.command, "--serve", word, 65535, &port)) return EXIT_USAGE;
    char path[4096];
    if (!find_page(path, sizeof path)) {
        fprintf(
            stderr,
            "brio playground: the page is not built; in brio's source folder: make playground\n");
        return EXIT_FAILED;
    }
    if (server) return serve(path, (int)port, print);
    if (print || !open_in_browser(path))
        printf("%s\n", path);
    else
        printf("Opened %s\n", path);
    return EXIT_DONE;
}

static const Option options[] = {
    [PRINT] = {"--print", 0, NULL, "Only print the path of the page."},
    [SERVE] =
        {"--serve", 0, NULL,
         "Serve the page at http://127.0.0.1:PORT/, 8737 unless a number follows, until Ctrl-C."},
    {0}};

const Command command_playground = {
    .name = "playground",
    .summary = "Open the playground, a web page with the engine inside.",
    .synopsis = "[--print]\n--serve [PORT] [--print]",
    .about = "A guide in eight chapters; cloth to grab, soft bodies, the energy as a dial, the "
             "phase plane, stability "
             "diagrams, two integrators side by side. The page is one file that needs no server "
             "and no network; `make playground` builds it. If no browser can be opened, the "
             "command prints the path.\n"
             "\n"
             "Opened as a file, the page has one thread: browsers allow more only for pages that "
             "a server sends with certain headers. --serve sends the page with these headers, to "
             "browsers on this machine only. The engine then has one thread per core.",
    .options = options,
    .examples = "brio playground\nbrio playground --serve\nbrio playground --print",
    .run = run,
};
