/* brio live: a scene that runs here and is seen, grabbed and changed in a browser. */
#include "commands.h"

#include "engine.h"
#include "page.h"
#include "server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { USUAL_PORT = 8747, TOKEN = 32 };
/* s: how long the engine has to end by itself, and how long it has if it records */
static const double patience = 1, record_patience = 20;

/* 128 random bits. */
static bool make_token(char token[TOKEN + 1])
{
    uint8_t bytes[TOKEN / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
    for (size_t k = 0; k < sizeof bytes; k++) snprintf(token + 2 * k, 3, "%02x", bytes[k]);
    return true;
}

static Server *start_server(Hub *hub, int port, const char *token)
{
    size_t size = (size_t)(live_page_end - live_page);
    Server *server = server_create(hub, port ? port : USUAL_PORT, token, live_page, size);
    if (!server && !port) server = server_create(hub, 0, token, live_page, size);
    if (!server)
        fprintf(stderr,
                "brio live: port %d cannot be had: %s; leave --port out for one that is free\n",
                port ? port : USUAL_PORT, strerror(errno));
    return server;
}

static bool read_flag(Hub *hub, const bool *flag)
{
    pthread_mutex_lock(&hub->mutex);
    bool value = *flag;
    pthread_mutex_unlock(&hub->mutex);
    return value;
}

/* Of the engine: Ctrl-C comes to the thread that polls. */
static void mask_signals(bool on)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(on ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

/* Serves until somebody asks to stop. False: the engine does not answer, and the program must end
 * by _exit. */
static bool serve(Engine *engine, Server *server, pthread_t thread)
{
    Hub *hub = engine->hub;
    while (!stop_wanted && !read_flag(hub, &hub->ended)) server_poll(server, 200);
    hub_end(hub);
    double asked = brio__seconds();
    while (!read_flag(hub, &hub->ended)) {
        double waited = brio__seconds() - asked;
        if (waited > (read_flag(hub, &hub->recording) ? record_patience : patience)) return false;
        server_poll(server, 20);
    }
    pthread_join(thread, NULL);
    return true;
}

/* Runs the engine and the server; returns the exit code. */
static int live(Engine *engine, Server *server, const char *token, bool open)
{
    char address[128];
    pthread_t thread;
    snprintf(address, sizeof address, "http://127.0.0.1:%d/?token=%s", server_port(server), token);
    printf("%s\nOnly browsers on this machine reach it, and only with this address. Ctrl-C ends "
           "it.\n",
           address);
    fflush(stdout);
    catch_signals();
    mask_signals(true);
    int failed = pthread_create(&thread, NULL, engine_work, engine);
    mask_signals(false); /* the browser must not inherit it */
    if (!failed && open) open_while_serving(address);
    if (failed) {
        fprintf(stderr, "brio live: no thread for the engine: %s\n", strerror(failed));
        return EXIT_FAILED;
    }
    if (serve(engine, server, thread)) return EXIT_DONE;
    server_free(server);
    fflush(NULL);
    _exit(EXIT_DONE);
}

enum { PORT, NO_OPEN, SET, THREADS, PLUGIN };

static int run(int argc, char **argv)
{
    Arguments a = {.command = &command_live, .argc = argc, .argv = argv, .at = 1};
    SceneArguments scene = {0};
    bool open = true;
    int64_t port = 0;
    for (int option; (option = argument_next(&a)) != ARGUMENT_END;) {
        if (option == NO_OPEN)
            open = false;
        else if (option == PORT) {
            if (!read_count(a.command, "--port", a.value, 65535, &port)) return EXIT_USAGE;
        } else if (!scene_argument(&a, option, &scene))
            return a.exit;
    }
    if (!scene.name)
        return usage_error(a.command, "which scene? Give a file or a name of `brio list scenes`");
    if (!cluster_is_one()) return usage_error(a.command, "runs in one process, without mpirun");
    if (live_page_end - live_page == 0) {
        fprintf(stderr, "brio live: this brio was built without its page, because npm was missing "
                        "or could not fetch the parts of the page; install npm and build again\n");
        return EXIT_FAILED;
    }
    char token[TOKEN + 1];
    Hub hub;
    Engine engine = {0};
    BrioError error = {0};
    if (!make_token(token) || !hub_create(&hub)) {
        fprintf(stderr, "brio live: %s\n", strerror(errno));
        return EXIT_FAILED;
    }
    catch_early_signals();
    int code = EXIT_FAILED;
    Server *server = NULL;
    if (engine_create(&engine, &hub, &scene, &error) != BRIO_OK)
        code = say_error(&error, EXIT_USAGE);
    else if ((server = start_server(&hub, (int)port, token)))
        code = live(&engine, server, token, open);
    server_free(server);
    engine_free(&engine);
    hub_free(&hub);
    return code;
}

static const Option options[] = {
    [PORT] = {"--port", 'p', "N", "Serve at this port; default: 8747, or any free port."},
    [NO_OPEN] = {"--no-open", 0, NULL, "Only print the address; do not open a browser."},
    [SET] = {"--set", 's', "PATH=VALUE", "Change a value of the scene: time.h=1/120."},
    [THREADS] = {"--threads", 'j', "N", "Threads of the engine. Default: one per core."},
    [PLUGIN] = OPTION_PLUGIN,
    {0}};

const Command command_live = {
    .name = "live",
    .summary = "Run a scene in a browser, where you can grab bodies and change settings.",
    .synopsis = "SCENE [--port N] [--no-open] [--set PATH=VALUE]... [--threads N]",
    .about =
        "Runs SCENE in the native engine and shows it in a browser on this machine. Drag a body "
        "to pull it; drag the background to rotate the view. The panel changes materials, damping, "
        "gravity, the step and the integrator during the run. Curves show the energies. Space "
        "plays and pauses, S makes one step, R restarts, N gives a nudge.\n"
        "\n"
        "The simulation runs in real time if the machine is fast enough. If a step fails or the "
        "motion explodes, the simulation pauses and shows the reason. Change something and play "
        "on, or restart.\n"
        "\n"
        "Record writes the motion from then on to NAME-live-1, NAME-live-2, ... in the current "
        "folder. These are runs that `brio view`, `brio render` and `brio convert` read. Nothing "
        "else is written.\n"
        "\n"
        "Only programs on this machine reach the server, and only with the token in the printed "
        "address. If you close the tab, the simulation continues: open the address again. A "
        "second browser may watch. Ctrl-C ends the program.",
    .options = options,
    .examples = "brio live cloth\nbrio live scenes/cloth.yaml --port 9000 --no-open\n"
                "brio live wound-bar --set integrator=a-search",
    .run = run,
};
