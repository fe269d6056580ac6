/* Requests as RFC 9112 writes them: a line with method, target and version, lines of fields, an
 * empty line. Fields that decide something may be there once only. */
#include "request.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

size_t request_length(const char *text, size_t size)
{
    for (size_t k = 3; k < size; k++)
        if (!memcmp(text + k - 3, "\r\n\r\n", 4)) return k + 1;
    return 0;
}

/* The value of ?token=... */
static const char *take_token(char *target)
{
    char *query = strchr(target, '?');
    if (!query) return "";
    *query++ = 0;
    for (char *pair; (pair = strsep(&query, "&"));)
        if (!strncmp(pair, "token=", 6)) return pair + 6;
    return "";
}

static char *trimmed(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t", text[length - 1])) text[--length] = 0;
    return text;
}

/* A word of a list such as "keep-alive, Upgrade". */
static bool lists(const char *text, const char *word)
{
    size_t length = strlen(word);
    while (*text) {
        text += strspn(text, ", \t");
        size_t now = strcspn(text, ", \t");
        if (now == length && !strncasecmp(text, word, length)) return true;
        text += now;
    }
    return false;
}

/* Takes a value that must not come twice. */
static bool take(const char **value, const char *text)
{
    if ((*value)[0]) return false;
    *value = text;
    return true;
}

static bool take_field(Request *r, char *line, bool *connection, bool *websocket)
{
    char *colon = strchr(line, ':');
    if (!colon || colon == line || strcspn(line, " \t") < (size_t)(colon - line)) return false;
    *colon = 0;
    const char *text = trimmed(colon + 1);
    if (!strcasecmp(line, "Host")) return take(&r->host, text);
    if (!strcasecmp(line, "Origin")) return take(&r->origin, text);
    if (!strcasecmp(line, "Sec-WebSocket-Key")) return take(&r->key, text);
    if (!strcasecmp(line, "Sec-WebSocket-Version")) return take(&r->version, text);
    if (!strcasecmp(line, "Connection") && lists(text, "upgrade")) *connection = true;
    if (!strcasecmp(line, "Upgrade") && lists(text, "websocket")) *websocket = true;
    /* none of the requests that are answered has a body */
    return strcasecmp(line, "Transfer-Encoding") &&
           (strcasecmp(line, "Content-Length") || !strcmp(text, "0"));
}

bool request_parse(char *head, size_t length, Request *r)
{
    bool connection = false, websocket = false;
    *r = (Request){"", "", "", "", "", "", "", false};
    if (length < 4 || memchr(head, 0, length)) return false;
    head[length - 2] = 0; /* the empty line */
    char *rest = head, *line = strsep(&rest, "\n");
    size_t end = strlen(line);
    if (end == 0 || line[end - 1] != '\r') return false;
    line[end - 1] = 0;
    r->method = strsep(&line, " ");
    char *target = line ? strsep(&line, " ") : NULL;
    if (!target || target[0] != '/' || !line || strncmp(line, "HTTP/1.", 7) || strlen(line) != 8)
        return false;
    r->token = take_token(target);
    r->path = target;
    while (rest && *rest) {
        line = strsep(&rest, "\n");
        end = strlen(line);
        if (end == 0 || line[end - 1] != '\r') return false;
        line[end - 1] = 0;
        if (!take_field(r, line, &connection, &websocket)) return false;
    }
    r->upgrade = connection && websocket;
    return true;
}

bool request_is_own(const char *host, int port, bool origin)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    char own[64];
    for (int i = 0; i < 2; i++) {
        snprintf(own, sizeof own, "%s%s:%d", origin ? "http://" : "", names[i], port);
        if (!strcasecmp(host, own)) return true;
    }
    return false;
}

bool request_same_token(const char *given, const char *token)
{
    size_t size = strlen(token);
    unsigned differs = strlen(given) != size;
    if (differs) given = token;
    for (size_t k = 0; k < size; k++)
        differs |= (unsigned)((unsigned char)given[k] ^ (unsigned char)token[k]);
    return differs == 0;
}
