/* brio playground --serve: the page and the engine next to it with the headers for shared memory,
 * to this machine only, whatever clients send. */
#include "loopback.h"

static pid_t server, second;
static int port;

/* What the server answers to these bytes, all of it. */
static const char *ask_bytes(const void *request, size_t size)
{
    static char answer[65536];
    size_t have = 0;
    int client = connect_to(htonl(INADDR_LOOPBACK), port);
    assert_true(client >= 0);
    for (size_t sent = 0; sent < size;) {
        ssize_t now = send(client, (const char *)request + sent, size - sent, MSG_NOSIGNAL);
        if (now <= 0) break; /* it need not read all of a request that it refuses */
        sent += (size_t)now;
    }
    shutdown(client, SHUT_WR);
    for (ssize_t got; have + 1 < sizeof answer &&
                      (got = recv(client, answer + have, sizeof answer - 1 - have, 0)) > 0;)
        have += (size_t)got;
    close(client);
    answer[have] = 0;
    return answer;
}

static const char *ask(const char *request) { return ask_bytes(request, strlen(request)); }
static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* The program finds the page next to itself: a copy of it, with a page of a few words. */
static int start(void **state)
{
    if (enter_folder(state) != 0) return -1;
    char command[1200], path[400], text[200] = "";
    snprintf(command, sizeof command, "cp '%s' brio", program());
    if (system(command) != 0) return -1;
    write_text("playground.html", "<p>the page</p>");
    write_text("playground-threads.wasm", "the engine");
    snprintf(path, sizeof path, "%s/brio", work_folder);
    setenv("BRIO_PROGRAM", path, 1);
    const char *const arguments[] = {"playground", "--serve", "--print", NULL};
    server = start_program(arguments, 0);
    for (int tries = 0; tries < 200 && sscanf(text, "http://127.0.0.1:%d/", &port) != 1; tries++) {
        pause_for(0.05);
        char *now = read_all(".out", NULL);
        snprintf(text, sizeof text, "%s", now ? now : "");
        free(now);
    }
    return port > 0 ? 0 : -1;
}

static void gives_the_page(void **state)
{
    (void)state;
    const char *answer = ask("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    assert_true(begins(answer, "HTTP/1.1 200 OK\r\n"));
    assert_non_null(strstr(answer, "\r\nCross-Origin-Opener-Policy: same-origin\r\n"));
    assert_non_null(strstr(answer, "\r\nCross-Origin-Embedder-Policy: require-corp\r\n"));
    assert_non_null(strstr(answer, "\r\nContent-Type: text/html; charset=utf-8\r\n"));
    assert_non_null(strstr(answer, "\r\nContent-Length: 15\r\n"));
    assert_string_equal(strstr(answer, "\r\n\r\n"), "\r\n\r\n<p>the page</p>");
    answer = ask("GET /playground-threads.wasm?x=1 HTTP/1.0\r\n\r\n");
    assert_non_null(strstr(answer, "\r\nContent-Type: application/wasm\r\n"));
    assert_string_equal(strstr(answer, "\r\n\r\n"), "\r\n\r\nthe engine");
    answer = ask("HEAD /playground.html HTTP/1.1\r\n\r\n");
    assert_true(begins(answer, "HTTP/1.1 200 OK\r\n"));
    assert_string_equal(strstr(answer, "\r\n\r\n"), "\r\n\r\n");
}

static void gives_nothing_else(void **state)
{
    (void)state;
    static const char *const addresses[] = {"/brio",
                                            "/../../../../etc/passwd",
                                            "//etc/passwd",
                                            "/playground.html/../brio",
                                            "/%2e%2e/brio",
                                            "/.out",
                                            "",
                                            "/playground-threads.js"};
    char request[200];
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        snprintf(request, sizeof request, "GET %s HTTP/1.1\r\n\r\n", addresses[i]);
        const char *answer = ask(request);
        if (!begins(answer, "HTTP/1.1 404 Not Found\r\n")) fail_msg("%s: %s", addresses[i], answer);
    }
    expect_closed_to_others(port);
}

static void bears_nonsense(void **state)
{
    (void)state;
    static char large[100000];
    memset(large, 'a', sizeof large);
    assert_true(begins(ask(""), "HTTP/1.1 400 "));
    assert_true(begins(ask("GET\r\n\r\n"), "HTTP/1.1 400 "));
    assert_true(begins(ask("GET /\r\n\r\n"), "HTTP/1.1 400 "));
    assert_true(begins(ask("GET /\r\nx: HTTP/1.1\r\n\r\n"), "HTTP/1.1 400 "));
    assert_true(begins(ask("\r\n\r\n"), "HTTP/1.1 400 "));
    assert_true(begins(ask("GET / HTTP/1.1\r\nHost"), "HTTP/1.1 400 "));
    assert_true(begins(ask("POST / HTTP/1.1\r\n\r\n"), "HTTP/1.1 405 "));
    assert_true(begins(ask_bytes("GET \0 HTTP/1.1\r\n\r\n", 18), "HTTP/1.1 400 "));
    assert_true(begins(ask_bytes(large, sizeof large), "HTTP/1.1 431 "));
    int idle[20]; /* browsers open connections ahead, and say nothing on them */
    for (int i = 0; i < 20; i++)
        assert_true((idle[i] = connect_to(htonl(INADDR_LOOPBACK), port)) >= 0);
    assert_true(begins(ask("GET / HTTP/1.1\r\n\r\n"), "HTTP/1.1 200 OK\r\n"));
    for (int i = 0; i < 20; i++) close(idle[i]);
}

/* More idle clients than the server attends to: the page comes before their time is up. */
static void idle_clients_keep_nobody_waiting(void **state)
{
    (void)state;
    int idle[150];
    for (int i = 0; i < 150; i++)
        assert_true((idle[i] = connect_to(htonl(INADDR_LOOPBACK), port)) >= 0);
    for (int i = 0; i < 3; i++)
        assert_true(begins(ask("GET / HTTP/1.1\r\n\r\n"), "HTTP/1.1 200 OK\r\n"));
    for (int i = 0; i < 150; i++) close(idle[i]);
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    char number[20];
    snprintf(number, sizeof number, "%d", port);
    const Outcome *o = BRIO("playground", "--serve", number); /* the first server is there */
    assert_int_equal(o->code, 1);
    assert_non_null(strstr(o->err, "cannot be had: Address already in use; leave the number out"));
    assert_int_equal(BRIO("playground", "--serve", "70000")->code, 2);
    assert_int_equal(BRIO("playground", "8000")->code, 2);
}

/* A browser that stays in front of xdg-open, and goes when the test does. */
static void serves_while_the_browser_is_open(void **state)
{
    (void)state;
    int first_port = port;
    unlink(".out");
    char path[2000], *before = strdup(getenv("PATH")), text[200] = "";
    assert_int_equal(mkdir("bin", 0777), 0);
    write_text("bin/xdg-open", "#!/bin/sh\nwhile [ -d bin ]; do sleep 0.1; done\n");
    assert_int_equal(chmod("bin/xdg-open", 0777), 0);
    snprintf(path, sizeof path, "%s/bin:%s", work_folder, before);
    setenv("PATH", path, 1);
    setenv("DISPLAY", ":77", 1);
    const char *const arguments[] = {"playground", "--serve", NULL};
    second = start_program(arguments, 0);
    setenv("PATH", before, 1);
    unsetenv("DISPLAY");
    free(before);
    for (int tries = 0; tries < 200 && sscanf(text, "http://127.0.0.1:%d/", &port) != 1; tries++) {
        pause_for(0.05);
        char *now = read_all(".out", NULL);
        snprintf(text, sizeof text, "%s", now ? now : "");
        free(now);
    }
    assert_true(begins(ask("GET / HTTP/1.1\r\n\r\n"), "HTTP/1.1 200 OK\r\n"));
    assert_int_equal(kill(second, SIGINT), 0);
    assert_int_equal(wait_program(second), 0);
    second = 0;
    assert_int_equal(unlink("bin/xdg-open"), 0);
    assert_int_equal(rmdir("bin"), 0);
    port = first_port;
}

static void ends_with_a_signal(void **state)
{
    (void)state;
    assert_int_equal(kill(server, SIGINT), 0);
    assert_int_equal(wait_program(server), 0);
    server = 0;
    assert_int_equal(connect_to(htonl(INADDR_LOOPBACK), port), -1);
}

static int stop(void **state)
{
    if (server > 0) kill(server, SIGKILL);
    if (second > 0) kill(second, SIGKILL);
    return leave_folder(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_page),     cmocka_unit_test(gives_nothing_else),
        cmocka_unit_test(bears_nonsense),     cmocka_unit_test(idle_clients_keep_nobody_waiting),
        cmocka_unit_test(says_what_is_wrong), cmocka_unit_test(serves_while_the_browser_is_open),
        cmocka_unit_test(ends_with_a_signal)};
    return cmocka_run_group_tests(tests, start, stop);
}
