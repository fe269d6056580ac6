/* --set PATH=VALUE: the path is walked as far as it exists, the value is parsed below it, and only
 * then is the tree changed: if anything fails it is as before. */
#include "node.h"

#include <stdarg.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- --set ------------------------------------------------------------------------------ */

typedef struct Path {
    int count;
    struct {
        const char *text;
        int length;
    } part[BRIO_TREE_DEPTH];
} Path;

/* "bodies.0.material" or "bodies[0].material" as parts that point into the text. */
static bool split_path(const char *text, size_t length, Path *path)
{
    const char *end = text + length;
    path->count = 0;
    while (text < end) {
        const char *stop = text;
        bool index = *text == '[';
        if (index) {
            if (path->count == 0) return false;
            stop = ++text;
            while (stop < end && *stop >= '0' && *stop <= '9') stop++;
            if (stop == end || *stop != ']') return false;
        } else {
            while (stop < end && *stop != '.' && *stop != '[' && *stop != ']') stop++;
        }
        if (stop == text || path->count == BRIO_TREE_DEPTH) return false;
        path->part[path->count].text = text;
        path->part[path->count++].length = (int)(stop - text);
        text = stop + index;
        if (text < end && *text != '.' && *text != '[') return false;
        if (text < end && *text == '.' && ++text == end) return false;
    }
    return path->count > 0;
}

static bool is_index(const Path *path, int i)
{
    for (int k = 0; k < path->part[i].length; k++)
        if (!isdigit((unsigned char)path->part[i].text[k])) return false;
    return true;
}

static BrioStatus set_error(const char *name, BrioStatus status, BrioError *error,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));
static BrioStatus set_error(const char *name, BrioStatus status, BrioError *error,
                            const char *format, ...)
{
    char message[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return brio__error_at(error, status, name, 0, 0, NULL, "%s", message);
}

/* The element of a list that part i of the path names. */
static BrioStatus find_element(BrioNode *list, const Path *path, int i, const char *name,
                               BrioNode **element, BrioError *error)
{
    char place[128];
    brio__node_path(list, place, sizeof place);
    const char *called = place[0] ? place : "the document";
    BrioExcerpt part;
    snprintf(part.text, sizeof part.text, "%.*s", BRIO_MIN(path->part[i].length, 40),
             path->part[i].text);
    if (list->count == 0)
        return set_error(name, BRIO_ERROR_INPUT, error, "%s is an empty list", called);
    if (!is_index(path, i))
        return set_error(name, BRIO_ERROR_INPUT, error,
                         "%s is a list: expected an index from 0 to %d, found \"%s\"", called,
                         list->count - 1, part.text);
    long number = path->part[i].length > 9 ? list->count : strtol(part.text, NULL, 10);
    if (number >= list->count)
        return set_error(name, BRIO_ERROR_INPUT, error,
                         "%s has no element %s: it has %d, counted from 0", called, part.text,
                         list->count);
    *element = list->child[number];
    return BRIO_OK;
}

/* Walks down as far as the path exists. `at` is the deepest node found, `depth` the parts that led
 * to it. */
static BrioStatus walk(BrioNode *root, const Path *path, const char *name, BrioNode **at,
                       int *depth, BrioError *error)
{
    BrioNode *node = root;
    int i = 0;
    while (i < path->count && node->kind != BRIO_NODE_SCALAR) {
        BrioNode *next = NULL;
        if (node->kind == BRIO_NODE_LIST)
            BRIO_CHECK(find_element(node, path, i, name, &next, error));
        for (int k = 0; node->kind == BRIO_NODE_MAP && k < node->count && !next; k++)
            if (!strncmp(node->child[k]->key, path->part[i].text, (size_t)path->part[i].length) &&
                !node->child[k]->key[path->part[i].length])
                next = node->child[k];
        if (!next) break;
        node = next;
        i++;
    }
    *at = node;
    *depth = i;
    return BRIO_OK;
}

/* Maps around `value` for the parts first..last-1 of the path; takes `value` over, also when it
 * fails. */
static BrioNode *wrap(BrioNode *value, const Path *path, int first, int last)
{
    for (int i = last - 1; i >= first && value; i--) {
        BrioNode *map = brio__node_create(BRIO_NODE_MAP, value->file, true, path->part[i].text,
                                          (size_t)path->part[i].length, NULL, 0);
        if (map) map->line = map->column = map->key_line = map->key_column = 1;
        if (!map || brio__node_add(map, value) != BRIO_OK) {
            brio__tree_free(map);
            brio__tree_free(value);
            return NULL;
        }
        value = map;
    }
    return value;
}

/* X becomes {type: X}, or an empty map if it is nothing or if `child` is the type itself; then
 * `child` is added. All or nothing. */
static BrioStatus add_below_scalar(BrioNode *scalar, BrioNode *child)
{
    BrioNode shape = {.kind = BRIO_NODE_MAP}, *type = NULL;
    BrioStatus status = BRIO_OK;
    if (!brio__node_is_nothing(scalar) && strcmp(child->key, "type")) {
        type = brio__node_create(BRIO_NODE_SCALAR, scalar->file, false, "type", 4, scalar->text,
                                 strlen(scalar->text));
        status = type ? brio__node_add(&shape, type) : BRIO_ERROR_MEMORY;
    }
    if (status == BRIO_OK) status = brio__node_add(&shape, child);
    if (status != BRIO_OK) {
        brio__tree_free(type);
        brio__free(shape.child);
        child->parent = NULL;
        return status;
    }
    if (type) {
        type->quoted = scalar->quoted;
        type->line = type->key_line = scalar->line;
        type->column = type->key_column = scalar->column;
        type->parent = scalar;
    }
    child->parent = scalar;
    scalar->kind = BRIO_NODE_MAP;
    scalar->text = NULL;
    scalar->quoted = false;
    scalar->child = shape.child;
    scalar->count = shape.count;
    return BRIO_OK;
}

static BrioStatus parse_value(const char *text, const char *name, const Path *path,
                              BrioNode **value, BrioError *error)
{
    const int last = path->count - 1;
    char *key = brio__alloc((size_t)path->part[last].length + 1, 1);
    if (!key) return set_error(name, BRIO_ERROR_MEMORY, error, "out of memory");
    memcpy(key, path->part[last].text, (size_t)path->part[last].length);
    key[path->part[last].length] = 0;
    BrioBuild build = {.name = name, .root_key = key, .around = path->count, .error = error};
    BrioStatus status;
#ifndef BRIO_HAVE_LIBFYAML
    /* On the command line a bare word or a fraction is a value as it is in YAML. */
    const char *start = text + strspn(text, " ");
    if (!strchr("[{\"", *start)) {
        char *copy = NULL;
        size_t length = 0;
        status = brio__build_normalise(start, strlen(start), name, &copy, &length, error);
        while (length > 0 && copy[length - 1] == ' ') length--;
        if (status == BRIO_OK)
            status = brio__build_scalar(&build, copy, length, false, 1, 1 + (int)(start - text));
        brio__free(copy);
    } else
#endif
        status = brio__build_run(&build, BRIO_FRONT_END, text, strlen(text));
    brio__free(key);
    if (status == BRIO_ERROR_MEMORY) set_error(name, status, error, "out of memory");
    *value = build.root;
    return status;
}

/* The key of a map that the part of a path at `depth` resembles; NULL: none. */
static const char *nearest_key(const BrioNode *at, const Path *path, int depth)
{
    enum { MAX_KEYS = 64 };
    const char *keys[MAX_KEYS];
    char word[64];
    int count = 0;
    for (int i = 0; at->kind == BRIO_NODE_MAP && i < at->count && count < MAX_KEYS; i++)
        keys[count++] = at->child[i]->key;
    snprintf(word, sizeof word, "%.*s", (int)path->part[depth].length, path->part[depth].text);
    return brio__nearest(word, keys, count);
}

/* A number in the path asks for an element of a list: `at` is what the parts before `depth` lead
 * to, and nothing lies below. */
static BrioStatus refuse_missing_list(const BrioNode *at, const Path *path, int depth,
                                      const char *name, BrioError *error)
{
    char place[128], keys[256] = "";
    brio__node_path(at, place, sizeof place);
    const char *called = place[0] ? place : "the document";
    size_t used = 0;
    for (int i = 0; at->kind == BRIO_NODE_MAP && i < at->count && used < sizeof keys; i++)
        used += (size_t)snprintf(keys + used, sizeof keys - used, "%s%s", i > 0 ? ", " : "",
                                 at->child[i]->key);
    if (depth < path->count && is_index(path, depth)) {
        if (at->kind == BRIO_NODE_SCALAR)
            return set_error(name, BRIO_ERROR_INPUT, error, "%s is %s, not a list", called,
                             brio__node_what(at).text);
        return set_error(name, BRIO_ERROR_INPUT, error, "%s is a map, not a list; its keys: %s",
                         called, keys);
    }
    for (int i = depth + 1; i < path->count; i++) {
        int length = (int)(path->part[i - 1].text + path->part[i - 1].length - path->part[0].text);
        if (!is_index(path, i)) continue;
        const char *nearest = nearest_key(at, path, depth);
        if (nearest)
            return set_error(name, BRIO_ERROR_INPUT, error,
                             "there is no list %.*s; did you mean \"%s\"?", length,
                             path->part[0].text, nearest);
        return set_error(name, BRIO_ERROR_INPUT, error,
                         "there is no list %.*s; set the whole list, as in %.*s=[...]", length,
                         path->part[0].text, length, path->part[0].text);
    }
    return BRIO_OK;
}

static BrioStatus apply(BrioNode *root, const Path *path, const char *text, const char *name,
                        BrioError *error)
{
    BrioNode *at, *value = NULL;
    int depth;
    BRIO_CHECK(walk(root, path, name, &at, &depth, error));
    BRIO_CHECK(refuse_missing_list(at, path, depth, name, error));
    BRIO_CHECK(parse_value(text, name, path, &value, error));
    if (depth == path->count) { /* replace what is there */
        value->key_line = value->key_column = 1;
        BrioNode *parent = at->parent;
        if (parent->kind == BRIO_NODE_LIST) {
            value->key = NULL;
            value->key_line = value->key_column = 0;
        }
        parent->child[brio__node_index(at)] = value;
        value->parent = parent;
        brio__tree_free(at);
        return BRIO_OK;
    }
    value = wrap(value, path, depth, path->count - 1);
    BrioStatus status = !value                         ? BRIO_ERROR_MEMORY
                        : at->kind == BRIO_NODE_SCALAR ? add_below_scalar(at, value)
                                                       : brio__node_add(at, value);
    if (status == BRIO_OK) return BRIO_OK;
    brio__tree_free(value);
    return set_error(name, status, error, "out of memory");
}

BrioStatus brio__tree_set(BrioNode *root, const char *assignment, BrioError *error)
{
    const char *equals = strchr(assignment, '=');
    size_t length = equals ? (size_t)(equals - assignment) : strlen(assignment);
    char *checked = NULL;
    size_t checked_length = 0;
    BRIO_CHECK(
        brio__build_normalise(assignment, length, "--set", &checked, &checked_length, error));
    Path path;
    BrioStatus status;
    if (memchr(checked, '\n', checked_length) || !split_path(checked, checked_length, &path))
        status = set_error("--set", BRIO_ERROR_INPUT, error,
                           "expected PATH=VALUE, as in bodies.0.material.E=1e6, found \"%s\"",
                           brio__excerpt(assignment).text);
    else if (!equals || !equals[1 + strspn(equals + 1, " ")])
        status = set_error("--set", BRIO_ERROR_INPUT, error,
                           "expected PATH=VALUE, found no value for \"%s\"",
                           brio__excerpt(checked).text);
    else {
        char *name = brio__alloc(checked_length + 8, 1);
        status = name ? BRIO_OK : set_error("--set", BRIO_ERROR_MEMORY, error, "out of memory");
        if (name) {
            snprintf(name, checked_length + 8, "--set %s", checked);
            status = apply(root, &path, equals + 1, name, error);
        }
        brio__free(name);
    }
    brio__free(checked);
    return status;
}
