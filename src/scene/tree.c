/* The tree of a document: building it within limits, changing it by path (--set), reading values
 * with complaints that name the place, writing it as JSON.
 *
 * A node is one block: the struct, then the file name (of a root or of the top of a --set only; the
 * nodes below point to it), the key and the text. A node therefore never outlives the name that it
 * points to, and is freed with one call. */
#include "tree.h"

#include "../field.h"
#include "../number.h"
#include "parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#ifdef BRIO_HAVE_LIBFYAML
static BrioFrontEnd *const front_end_here = brio__yaml_parse;
#else
static BrioFrontEnd *const front_end_here = brio__json_parse;
#endif

/* ---- nodes ------------------------------------------------------------------------------ */

static char *put(char **end, const char *text, size_t length)
{
    char *start = *end;
    memcpy(start, text, length);
    start[length] = 0;
    *end += length + 1;
    return start;
}

/* `name` is copied into the node if `own_name`. Key and text may be NULL. */
static BrioNode *make_node(BrioNodeKind kind, const char *name, bool own_name, const char *key,
                           size_t key_length, const char *text, size_t length)
{
    size_t name_length = own_name ? strlen(name) : 0;
    BrioNode *node = brio__alloc(sizeof *node + name_length + key_length + length + 3, 1);
    if (!node) return NULL;
    *node = (BrioNode){.kind = kind, .file = name};
    char *end = (char *)(node + 1);
    if (own_name) node->file = put(&end, name, name_length);
    if (key) node->key = put(&end, key, key_length);
    if (text) node->text = put(&end, text, length);
    return node;
}

void brio__tree_free(BrioNode *root)
{
    if (!root) return;
    for (int i = 0; i < root->count; i++) brio__tree_free(root->child[i]);
    brio__free(root->child);
    brio__free(root);
}

/* Room for four children, then for 8, 16, ...: it is full when the count is zero or such a
 * number. */
static BrioStatus add_child(BrioNode *parent, BrioNode *child)
{
    size_t count = (size_t)parent->count;
    if (count == 0 || (count >= 4 && (count & (count - 1)) == 0)) {
        BrioNode **grown =
            brio__realloc(parent->child, count, BRIO_MAX(2 * count, (size_t)4), sizeof *grown);
        if (!grown) return BRIO_ERROR_MEMORY;
        parent->child = grown;
    }
    parent->child[parent->count++] = child;
    child->parent = parent;
    return BRIO_OK;
}

static BrioNode *find_child(const BrioNode *map, const char *key)
{
    for (int i = 0; map->kind == BRIO_NODE_MAP && i < map->count; i++)
        if (!strcmp(map->child[i]->key, key)) return map->child[i];
    return NULL;
}

BrioNode *brio__node_get(BrioNode *map, const char *key)
{
    BrioNode *child = map ? find_child(map, key) : NULL;
    if (child) child->used = true;
    return child;
}

static int index_in_parent(const BrioNode *node)
{
    int i = 0;
    while (node->parent->child[i] != node) i++;
    return i;
}

void brio__node_path(const BrioNode *node, char *path, size_t size)
{
    if (size == 0) return;
    path[0] = 0;
    if (!node || !node->parent) return;
    brio__node_path(node->parent, path, size);
    size_t used = strlen(path);
    if (node->key)
        snprintf(path + used, size - used, "%s%s", used > 0 ? "." : "", node->key);
    else
        snprintf(path + used, size - used, "[%d]", index_in_parent(node));
}

/* ---- texts in messages ------------------------------------------------------------------ */

/* Bytes of the UTF-8 character at `text`, 0 if it is not one (overlong forms, surrogates and what
 * lies behind U+10FFFF included). */
static int character_bytes(const unsigned char *text, size_t size)
{
    unsigned char c = text[0];
    int bytes = c < 0x80                ? 1
                : c >= 0xc2 && c < 0xe0 ? 2
                : c >= 0xe0 && c < 0xf0 ? 3
                : c >= 0xf0 && c < 0xf5 ? 4
                                        : 0;
    if (bytes == 0 || (size_t)bytes > size) return 0;
    for (int i = 1; i < bytes; i++)
        if ((text[i] & 0xc0) != 0x80) return 0;
    if ((c == 0xe0 && text[1] < 0xa0) || (c == 0xed && text[1] >= 0xa0)) return 0;
    if ((c == 0xf0 && text[1] < 0x90) || (c == 0xf4 && text[1] >= 0x90)) return 0;
    return bytes;
}

typedef struct Excerpt {
    char text[64];
} Excerpt;

/* The beginning of a text on one line, for messages. */
static Excerpt excerpt(const char *text)
{
    enum { MOST = 48 };
    Excerpt result;
    size_t size = strlen(text), used = 0;
    while (used < size) {
        int bytes = BRIO_MAX(character_bytes((const unsigned char *)text + used, size - used), 1);
        if (used + (size_t)bytes > MOST) break;
        memcpy(result.text + used, text + used, (size_t)bytes);
        if ((unsigned char)text[used] < 0x20 || text[used] == 0x7f) result.text[used] = ' ';
        used += (size_t)bytes;
    }
    snprintf(result.text + used, sizeof result.text - used, "%s", used < size ? "..." : "");
    return result;
}

static bool is_nothing(const BrioNode *node)
{
    if (node->kind != BRIO_NODE_SCALAR || node->quoted) return false;
    return !node->text[0] || !strcmp(node->text, "~") || !strcasecmp(node->text, "null");
}

/* What a node is, as a message says it. */
static Excerpt what_is(const BrioNode *node)
{
    if (node->kind == BRIO_NODE_LIST) return (Excerpt){"a list"};
    if (node->kind == BRIO_NODE_MAP) return (Excerpt){"a map"};
    if (is_nothing(node)) return (Excerpt){"nothing"};
    Excerpt text = excerpt(node->text), result;
    snprintf(result.text, sizeof result.text, "\"%.51s\"", text.text);
    return result;
}

static BrioStatus vfail(const BrioNode *node, bool at_key, BrioError *error, const char *format,
                        va_list arguments)
{
    char path[sizeof error->path], message[sizeof error->message];
    vsnprintf(message, sizeof message, format, arguments);
    brio__node_path(at_key ? node->parent : node, path, sizeof path);
    return brio__error_at(error, BRIO_ERROR_INPUT, node->file, at_key ? node->key_line : node->line,
                          at_key ? node->key_column : node->column, path, "%s", message);
}

BrioStatus brio__node_error(const BrioNode *node, BrioError *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    BrioStatus status = vfail(node, false, error, format, arguments);
    va_end(arguments);
    return status;
}

BrioStatus brio__node_key_error(const BrioNode *node, BrioError *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    BrioStatus status = vfail(node, node->key != NULL, error, format, arguments);
    va_end(arguments);
    return status;
}

static BrioStatus unknown_key(const BrioNode *child, const char *const *names, int count,
                              BrioError *error)
{
    Excerpt key = excerpt(child->key);
    if (count == 0)
        return brio__node_key_error(child, error, "unknown key \"%s\"; no key is valid here",
                                    key.text);
    const char *nearest = brio__nearest(child->key, names, count);
    if (nearest)
        return brio__node_key_error(child, error, "unknown key \"%s\"; did you mean \"%s\"?",
                                    key.text, nearest);
    char list[800] = "";
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof list; i++)
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", names[i]);
    return brio__node_key_error(child, error, "unknown key \"%s\"; valid keys: %s", key.text, list);
}

BrioStatus brio__node_unknown(const BrioNode *map, const char *const *names, int count,
                              BrioError *error)
{
    for (int i = 0; map->kind == BRIO_NODE_MAP && i < map->count; i++)
        if (!map->child[i]->used) return unknown_key(map->child[i], names, count, error);
    return BRIO_OK;
}

/* ---- building --------------------------------------------------------------------------- */

BrioStatus brio__build_error(BrioBuild *build, int line, int column, const char *format, ...)
{
    char message[sizeof build->error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return brio__error_at(build->error, BRIO_ERROR_INPUT, build->name, line, column, NULL, "%s",
                          message);
}

static BrioNode *innermost(const BrioBuild *build)
{
    return build->depth > 0 ? build->open[build->depth - 1] : NULL;
}

bool brio__build_wants_key(const BrioBuild *build)
{
    const BrioNode *open = innermost(build);
    return open && open->kind == BRIO_NODE_MAP && !build->has_key;
}

/* Escapes can make what no text file holds: zero bytes and halves of surrogate pairs. */
static BrioStatus check_scalar(BrioBuild *build, const char *text, size_t length, int line,
                               int column)
{
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t i = 0; i < length;) {
        int step = character_bytes(bytes + i, length - i);
        if (step == 0 || bytes[i] == 0)
            return brio__build_error(build, line, column,
                                     "this text holds an escape that is not a character");
        i += (size_t)step;
    }
    return BRIO_OK;
}

BrioStatus brio__build_key(BrioBuild *build, const char *text, size_t length, int line, int column)
{
    BrioNode *map = innermost(build);
    if (line <= 0) line = map->line, column = map->column;
    if (length == 0)
        return brio__build_error(build, line, column, "a key is missing before the \":\"");
    BRIO_CHECK(check_scalar(build, text, length, line, column));
    if (length >= build->key_space) {
        char *grown = brio__realloc(build->key, 0, 2 * length + 64, 1);
        if (!grown) return BRIO_ERROR_MEMORY;
        build->key = grown;
        build->key_space = 2 * length + 64;
    }
    memcpy(build->key, text, length);
    build->key[length] = 0;
    build->key_line = line;
    build->key_column = column;
    build->has_key = true;
    /* Where a front end has no better place, a map starts at its first key. */
    bool before = map->line == 0 || line < map->line || (line == map->line && column < map->column);
    if (map->count == 0 && before) {
        map->line = line;
        map->column = column;
    }
    return BRIO_OK;
}

static BrioStatus add_node(BrioBuild *build, BrioNodeKind kind, const char *text, size_t length,
                           int line, int column, BrioNode **added)
{
    BrioNode *open = innermost(build);
    if (line <= 0 && build->has_key) line = build->key_line, column = build->key_column;
    if (line <= 0 && open) line = open->line, column = open->column;
    if (build->root && !open)
        return brio__build_error(build, line, column, "expected the end of the document");
    if (++build->nodes > BRIO_TREE_NODES)
        return brio__build_error(
            build, line, column,
            "the document holds more than %d values; put large data into files of its own",
            BRIO_TREE_NODES);
    const char *key = build->has_key ? build->key : open ? NULL : build->root_key;
    BrioNode *node = make_node(kind, open ? open->file : build->name, !open, key,
                               key ? strlen(key) : 0, text, length);
    if (!node) return BRIO_ERROR_MEMORY;
    node->line = line;
    node->column = column;
    node->key_line = build->has_key ? build->key_line : 1;
    node->key_column = build->has_key ? build->key_column : 1;
    if (!key) node->key_line = node->key_column = 0;
    build->has_key = false;
    if (open && add_child(open, node) != BRIO_OK) {
        brio__tree_free(node);
        return BRIO_ERROR_MEMORY;
    }
    if (!open) build->root = node;
    *added = node;
    return BRIO_OK;
}

BrioStatus brio__build_scalar(BrioBuild *build, const char *text, size_t length, bool quoted,
                              int line, int column)
{
    BrioNode *node = NULL;
    BRIO_CHECK(check_scalar(build, text, length, line, column));
    BRIO_CHECK(add_node(build, BRIO_NODE_SCALAR, text, length, line, column, &node));
    node->quoted = quoted;
    return BRIO_OK;
}

BrioStatus brio__build_open(BrioBuild *build, BrioNodeKind kind, int line, int column)
{
    BrioNode *node = NULL;
    if (build->around + build->depth >= BRIO_TREE_DEPTH)
        return brio__build_error(build, line, column,
                                 "lists and maps are nested deeper than %d levels",
                                 BRIO_TREE_DEPTH);
    BRIO_CHECK(add_node(build, kind, NULL, 0, line, column, &node));
    build->open[build->depth++] = node;
    return BRIO_OK;
}

static int by_key_then_place(const void *a, const void *b)
{
    const BrioNode *const *const *left = a, *const *const *right = b;
    int order = strcmp((**left)->key, (**right)->key);
    return order ? order : (*left > *right) - (*left < *right);
}

/* The first child whose key stands earlier in the map, and that earlier one; NULL if all differ. */
static BrioStatus find_duplicate(const BrioNode *map, const BrioNode **first,
                                 const BrioNode **second)
{
    enum { FEW = 16 };
    *first = *second = NULL;
    if (map->count <= FEW) {
        for (int i = 1; i < map->count && !*second; i++)
            for (int j = 0; j < i && !*second; j++)
                if (!strcmp(map->child[i]->key, map->child[j]->key))
                    *first = map->child[j], *second = map->child[i];
        return BRIO_OK;
    }
    BrioNode ***sorted = brio__alloc((size_t)map->count, sizeof *sorted), **earliest = NULL;
    if (!sorted) return BRIO_ERROR_MEMORY;
    for (int i = 0; i < map->count; i++) sorted[i] = map->child + i;
    qsort(sorted, (size_t)map->count, sizeof *sorted, by_key_then_place);
    for (int i = 1; i < map->count; i++)
        if (!strcmp((*sorted[i - 1])->key, (*sorted[i])->key) &&
            (!earliest || sorted[i] < earliest)) {
            earliest = sorted[i];
            *first = *sorted[i - 1];
            *second = *earliest;
        }
    brio__free(sorted);
    return BRIO_OK;
}

BrioStatus brio__build_close(BrioBuild *build)
{
    BrioNode *node = build->open[--build->depth];
    if (node->kind != BRIO_NODE_MAP) return BRIO_OK;
    const BrioNode *first, *second;
    BRIO_CHECK(find_duplicate(node, &first, &second));
    if (!second) return BRIO_OK;
    return brio__node_key_error(second, build->error,
                                "key \"%s\" is given twice, in line %d and in line %d",
                                excerpt(second->key).text, first->key_line, second->key_line);
}

/* Copies a text with line feeds for all line ends and without byte order mark, zeros behind it;
 * refuses what is not text. */
static BrioStatus normalise(const char *text, size_t size, const char *name, char **copy,
                            size_t *length, BrioError *error)
{
    enum { PADDING = 64 }; /* parsers may look ahead */
    if (size > BRIO_TREE_BYTES)
        return brio__error_at(error, BRIO_ERROR_INPUT, name, 0, 0, NULL,
                              "is larger than 256 MB; put large data into files of its own");
    const unsigned char *from = (const unsigned char *)text;
    if (size >= 2 && ((from[0] == 0xff && from[1] == 0xfe) || (from[0] == 0xfe && from[1] == 0xff)))
        return brio__error_at(error, BRIO_ERROR_INPUT, name, 0, 0, NULL,
                              "is UTF-16 text; save it as UTF-8");
    char *to = brio__alloc(size + PADDING, 1);
    if (!to) return brio__error_at(error, BRIO_ERROR_MEMORY, name, 0, 0, NULL, "out of memory");
    size_t i = size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0, n = 0;
    int line = 1, column = 1;
    while (i < size) {
        unsigned char c = from[i];
        int bytes = character_bytes(from + i, size - i);
        bool control = (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f ||
                       (c == 0xc2 && bytes == 2 && from[i + 1] < 0xa0);
        if (bytes == 0 || control) {
            brio__free(to);
            return brio__error_at(error, BRIO_ERROR_INPUT, name, line, column, NULL,
                                  bytes == 0
                                      ? "byte 0x%02x is not UTF-8; save the document as UTF-8 text"
                                      : "control character 0x%02x: this is not a text document",
                                  bytes == 2 ? from[i + 1] : c);
        }
        if (c == '\r' && i + 1 < size && from[i + 1] == '\n') {
            i++;
            continue;
        }
        if (c == '\r' || c == '\n') {
            to[n++] = '\n';
            i++;
            line++;
            column = 1;
            continue;
        }
        memcpy(to + n, from + i, (size_t)bytes);
        n += (size_t)bytes;
        i += (size_t)bytes;
        column++;
    }
    memset(to + n, 0, size + PADDING - n);
    *copy = to;
    *length = n;
    return BRIO_OK;
}

static BrioStatus run_build(BrioBuild *build, BrioFrontEnd *front_end, const char *text,
                            size_t size)
{
    char *copy = NULL;
    size_t length = 0;
    BrioStatus status = normalise(text, size, build->name, &copy, &length, build->error);
    if (status == BRIO_OK) status = front_end(build, copy, length);
    brio__free(copy);
    brio__free(build->key);
    build->key = NULL;
    if (status == BRIO_OK && (!build->root || (is_nothing(build->root) && !build->root->text[0])))
        status = brio__build_error(build, 0, 0, "the document is empty");
    if (status == BRIO_ERROR_MEMORY)
        brio__error_at(build->error, status, build->name, 0, 0, NULL, "out of memory");
    if (status != BRIO_OK) {
        brio__tree_free(build->root);
        build->root = NULL;
    }
    return status;
}

BrioStatus brio__tree_parse_with(BrioFrontEnd *front_end, const char *text, size_t size,
                                 const char *name, BrioNode **root, BrioError *error)
{
    BrioBuild build = {.name = name, .error = error};
    BrioStatus status = run_build(&build, front_end, text, size);
    *root = build.root;
    return status;
}

BrioStatus brio__tree_parse(const char *text, size_t size, const char *name, BrioNode **root,
                            BrioError *error)
{
    return brio__tree_parse_with(front_end_here, text, size, name, root, error);
}

/* Reads to the end, since a pipe does not know its size. One byte more than allowed is enough. */
static BrioStatus read_all(FILE *stream, char **text, size_t *size)
{
    size_t space = 0;
    for (;;) {
        if (*size == space) {
            size_t larger = BRIO_MIN(BRIO_MAX(4 * space, (size_t)16384), BRIO_TREE_BYTES + 1);
            char *grown = brio__realloc(*text, *size, larger, 1);
            if (!grown) return BRIO_ERROR_MEMORY;
            *text = grown;
            space = larger;
        }
        size_t got = fread(*text + *size, 1, space - *size, stream);
        *size += got;
        if (*size > BRIO_TREE_BYTES || (got == 0 && feof(stream))) return BRIO_OK;
        if (ferror(stream)) return BRIO_ERROR_FILE;
    }
}

BrioStatus brio__tree_read(const char *file, BrioNode **root, BrioError *error)
{
    *root = NULL;
    struct stat facts;
    FILE *stream = fopen(file, "rb");
    if (!stream)
        return brio__error_at(error, BRIO_ERROR_FILE, file, 0, 0, NULL, "cannot be read: %s",
                              strerror(errno));
    if (fstat(fileno(stream), &facts) == 0 && S_ISDIR(facts.st_mode)) {
        fclose(stream);
        return brio__error_at(error, BRIO_ERROR_FILE, file, 0, 0, NULL,
                              "cannot be read: it is a directory");
    }
    char *text = NULL;
    size_t size = 0;
    errno = 0;
    BrioStatus status = read_all(stream, &text, &size);
    if (status == BRIO_ERROR_FILE)
        brio__error_at(error, status, file, 0, 0, NULL, "cannot be read: %s", strerror(errno));
    if (status == BRIO_ERROR_MEMORY)
        brio__error_at(error, status, file, 0, 0, NULL, "out of memory");
    fclose(stream);
    if (status == BRIO_OK) status = brio__tree_parse(text, size, file, root, error);
    brio__free(text);
    return status;
}

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
    Excerpt part;
    snprintf(part.text, sizeof part.text, "%.*s", BRIO_MIN(path->part[i].length, 40),
             path->part[i].text);
    if (list->count == 0)
        return set_error(name, BRIO_ERROR_INPUT, error, "%s is an empty list", called);
    if (!is_index(path, i))
        return set_error(name, BRIO_ERROR_INPUT, error,
                         "%s is a list: expected a number from 0 to %d, found \"%s\"", called,
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
        BrioNode *map = make_node(BRIO_NODE_MAP, value->file, true, path->part[i].text,
                                  (size_t)path->part[i].length, NULL, 0);
        if (map) map->line = map->column = map->key_line = map->key_column = 1;
        if (!map || add_child(map, value) != BRIO_OK) {
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
    if (!is_nothing(scalar) && strcmp(child->key, "type")) {
        type = make_node(BRIO_NODE_SCALAR, scalar->file, false, "type", 4, scalar->text,
                         strlen(scalar->text));
        status = type ? add_child(&shape, type) : BRIO_ERROR_MEMORY;
    }
    if (status == BRIO_OK) status = add_child(&shape, child);
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
        status = normalise(start, strlen(start), name, &copy, &length, error);
        while (length > 0 && copy[length - 1] == ' ') length--;
        if (status == BRIO_OK)
            status = brio__build_scalar(&build, copy, length, false, 1, 1 + (int)(start - text));
        brio__free(copy);
    } else
#endif
        status = run_build(&build, front_end_here, text, strlen(text));
    brio__free(key);
    if (status == BRIO_ERROR_MEMORY) set_error(name, status, error, "out of memory");
    *value = build.root;
    return status;
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
                             what_is(at).text);
        return set_error(name, BRIO_ERROR_INPUT, error, "%s is a map, not a list; its keys: %s",
                         called, keys);
    }
    for (int i = depth + 1; i < path->count; i++) {
        int length = (int)(path->part[i - 1].text + path->part[i - 1].length - path->part[0].text);
        if (is_index(path, i))
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
        parent->child[index_in_parent(at)] = value;
        value->parent = parent;
        brio__tree_free(at);
        return BRIO_OK;
    }
    value = wrap(value, path, depth, path->count - 1);
    BrioStatus status = !value                         ? BRIO_ERROR_MEMORY
                        : at->kind == BRIO_NODE_SCALAR ? add_below_scalar(at, value)
                                                       : add_child(at, value);
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
    BRIO_CHECK(normalise(assignment, length, "--set", &checked, &checked_length, error));
    Path path;
    BrioStatus status;
    if (memchr(checked, '\n', checked_length) || !split_path(checked, checked_length, &path))
        status = set_error("--set", BRIO_ERROR_INPUT, error,
                           "expected PATH=VALUE, as in bodies.0.material.E=1e6, found \"%s\"",
                           excerpt(assignment).text);
    else if (!equals || !equals[1 + strspn(equals + 1, " ")])
        status = set_error("--set", BRIO_ERROR_INPUT, error,
                           "expected PATH=VALUE, found no value for \"%s\"", excerpt(checked).text);
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

/* ---- values ----------------------------------------------------------------------------- */

static const char *skip_digits(const char *p)
{
    while (isdigit((unsigned char)*p)) p++;
    return p;
}

/* The end of an unsigned decimal number at `p`, or NULL. */
static const char *decimal_end(const char *p)
{
    const char *whole = skip_digits(p);
    const char *end = *whole == '.' ? skip_digits(whole + 1) : whole;
    if (end - p == (*whole == '.')) return NULL; /* no digit */
    if (*end == 'e' || *end == 'E') {
        const char *exponent = end + 1 + (end[1] == '+' || end[1] == '-');
        end = skip_digits(exponent);
        if (end == exponent) return NULL;
    }
    return end;
}

typedef enum NumberKind { NOT_A_NUMBER, NUMBER, NOT_FINITE, DIVIDED_BY_ZERO } NumberKind;

static NumberKind read_number(const char *text, double *value)
{
    const char *p = text + (*text == '+' || *text == '-');
    const char *word = p + (*p == '.');
    if (!strcasecmp(word, "nan") || !strcasecmp(word, "inf") || !strcasecmp(word, "infinity"))
        return NOT_FINITE;
    const char *end = decimal_end(p), *slash = NULL;
    if (end && *end == '/') {
        slash = end;
        end = decimal_end(slash + 1);
    }
    if (!end || *end) return NOT_A_NUMBER;
    double top = brio__text_real(text, NULL), bottom = slash ? brio__text_real(slash + 1, NULL) : 1;
    if (bottom == 0) return DIVIDED_BY_ZERO;
    *value = top / bottom;
    return isfinite(top) && isfinite(bottom) && isfinite(*value) ? NUMBER : NOT_FINITE;
}

BrioStatus brio__node_real(const BrioNode *node, double *value, BrioError *error)
{
    if (node->kind != BRIO_NODE_SCALAR || is_nothing(node))
        return brio__node_error(node, error, "expected a number, found %s", what_is(node).text);
    double number = 0;
    NumberKind kind = read_number(node->text, &number);
    if (node->quoted && kind == NUMBER)
        return brio__node_error(node, error,
                                "expected a number, found the text %s; remove the quotes",
                                what_is(node).text);
    if (kind == NOT_FINITE)
        return brio__node_error(node, error, "expected a finite number, found %s",
                                what_is(node).text);
    if (kind == DIVIDED_BY_ZERO)
        return brio__node_error(node, error,
                                "expected a finite number, found a division by zero, %s",
                                what_is(node).text);
    if (kind != NUMBER)
        return brio__node_error(node, error, "expected a number, found %s", what_is(node).text);
    *value = number;
    return BRIO_OK;
}

BrioStatus brio__node_integer(const BrioNode *node, int64_t *value, BrioError *error)
{
    if (node->kind != BRIO_NODE_SCALAR || is_nothing(node))
        return brio__node_error(node, error, "expected a whole number, found %s",
                                what_is(node).text);
    double number;
    if (!node->quoted && read_number(node->text, &number) == NOT_A_NUMBER)
        return brio__node_error(node, error, "expected a whole number, found %s",
                                what_is(node).text);
    BRIO_CHECK(brio__node_real(node, &number, error));
    if (number != floor(number))
        return brio__node_error(node, error, "expected a whole number, found %s",
                                excerpt(node->text).text);
    const char *first = node->text + (node->text[0] == '+' || node->text[0] == '-');
    bool exact = !*skip_digits(first); /* digits only: no rounding on the way */
    errno = 0;
    long long whole = exact ? strtoll(node->text, NULL, 10) : 0;
    if (errno == ERANGE || (!exact && fabs(number) > 0x1p53))
        return brio__node_error(node, error, "%s is too large for a whole number",
                                excerpt(node->text).text);
    *value = exact ? (int64_t)whole : (int64_t)number;
    return BRIO_OK;
}

static bool read_boolean(const BrioNode *node, bool *value)
{
    if (node->kind != BRIO_NODE_SCALAR || node->quoted) return false;
    *value = !strcasecmp(node->text, "true") || !strcasecmp(node->text, "yes");
    return *value || !strcasecmp(node->text, "false") || !strcasecmp(node->text, "no");
}

BrioStatus brio__node_boolean(const BrioNode *node, bool *value, BrioError *error)
{
    bool result;
    if (!read_boolean(node, &result))
        return brio__node_error(node, error, "expected true or false, found %s",
                                what_is(node).text);
    *value = result;
    return BRIO_OK;
}

BrioStatus brio__node_text(const BrioNode *node, const char **value, BrioError *error)
{
    if (node->kind != BRIO_NODE_SCALAR || is_nothing(node))
        return brio__node_error(node, error, "expected text, found %s", what_is(node).text);
    *value = node->text;
    return BRIO_OK;
}

BrioStatus brio__node_reals(const BrioNode *node, double *values, int count, BrioError *error)
{
    const char *plural = count == 1 ? "" : "s";
    if (node->kind != BRIO_NODE_LIST)
        return brio__node_error(node, error, "expected a list of %d number%s, found %s", count,
                                plural, what_is(node).text);
    if (node->count != count)
        return brio__node_error(node, error, "expected a list of %d number%s, found %d", count,
                                plural, node->count);
    for (int i = 0; i < count; i++) BRIO_CHECK(brio__node_real(node->child[i], values + i, error));
    return BRIO_OK;
}

/* ---- field tables ----------------------------------------------------------------------- */

/* The complaint of the field table about one value (components `width` wide), at the value's
 * place. */
static BrioStatus check_field(const BrioNode *node, const BrioField *field, const double *values,
                              BrioError *error)
{
    const BrioField table[2] = {*field, {0}};
    BrioError complaint = {0};
    if (brio__fields_check(table, values, &complaint) == BRIO_OK) return BRIO_OK;
    return brio__node_error(node, error, "%s", complaint.message);
}

/* Numbers of a list, or of a list of lists row by row, or one number, after their count. */
static BrioStatus read_list(const BrioNode *node, const BrioField *field, double *values,
                            BrioError *error)
{
    if (node->kind == BRIO_NODE_LIST) {
        for (int i = 0; i < node->count; i++)
            BRIO_CHECK(read_list(node->child[i], field, values, error));
        return BRIO_OK;
    }
    if (values[0] == BRIO_LIST_MOST)
        return brio__node_error(node, error, "%s holds more than %d numbers", field->name,
                                BRIO_LIST_MOST);
    BRIO_CHECK(brio__node_real(node, &values[1 + (int)values[0]], error));
    values[0]++;
    return BRIO_OK;
}

/* Which of the words the node is; -1: none. */
static int read_word(const BrioNode *node, const BrioField *field)
{
    for (int k = 0; node->kind == BRIO_NODE_SCALAR && brio__field_word(field, k).text[0]; k++)
        if (!strcmp(node->text, brio__field_word(field, k).text)) return k;
    return -1;
}

static BrioStatus no_such_word(const BrioNode *node, const BrioField *field, BrioError *error)
{
    BrioWord words[64];
    const char *names[64];
    int count = 0;
    for (; count < 64 && (words[count] = brio__field_word(field, count)).text[0]; count++)
        names[count] = words[count].text;
    const char *nearest =
        node->kind == BRIO_NODE_SCALAR ? brio__nearest(node->text, names, count) : NULL;
    if (nearest)
        return brio__node_error(node, error, "%s cannot be \"%s\"; did you mean \"%s\"?",
                                field->name, node->text, nearest);
    return brio__node_error(node, error, "%s must be one of %s, found %s", field->name, field->unit,
                            what_is(node).text);
}

BrioStatus brio__node_field(const BrioNode *node, const BrioField *field, double *values,
                            BrioError *error)
{
    int64_t whole = 0;
    bool flag = false;
    switch (field->type) {
    case BRIO_REAL:
        if (read_word(node, field) >= 0)
            values[0] = INFINITY;
        else
            BRIO_CHECK(brio__node_real(node, values, error));
        break;
    case BRIO_CHOICE:
        values[0] = read_word(node, field);
        if (values[0] < 0) return no_such_word(node, field, error);
        break;
    case BRIO_LIST: BRIO_CHECK(read_list(node, field, values, error)); break;
    case BRIO_INTEGER:
        BRIO_CHECK(brio__node_integer(node, &whole, error));
        values[0] = (double)whole;
        break;
    case BRIO_BOOLEAN:
        BRIO_CHECK(brio__node_boolean(node, &flag, error));
        values[0] = flag;
        break;
    case BRIO_VECTOR: BRIO_CHECK(brio__node_reals(node, values, 3, error)); break;
    }
    return check_field(node, field, values, error);
}

static bool is_one_of(const char *word, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(word, words[i])) return true;
    return false;
}

static BrioStatus unknown_field(const BrioNode *child, const BrioField *fields,
                                const char *const *also, int also_count, BrioError *error)
{
    int rows = brio__fields_count(fields), count = 0;
    const char **names = brio__alloc((size_t)rows + (size_t)also_count + 1, sizeof *names);
    if (!names) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    for (int i = 0; i < also_count; i++) names[count++] = also[i];
    for (int i = 0; i < rows; i++) names[count++] = fields[i].name;
    BrioStatus status = unknown_key(child, names, count, error);
    brio__free(names);
    return status;
}

BrioStatus brio__node_missing(const BrioNode *map, const BrioField *field, BrioError *error)
{
    BrioWord unit = brio__field_unit(field);
    char message[512];
    snprintf(message, sizeof message, "missing key \"%s\"%s%s%s: %s", field->name,
             unit.text[0] ? " (" : "", unit.text, unit.text[0] ? ")" : "",
             field->summary ? field->summary : "it has no default");
    return map ? brio__node_error(map, error, "%s", message)
               : brio__error(error, BRIO_ERROR_INPUT, "%s", message);
}

BrioStatus brio__node_change_fields(BrioNode *map, const BrioField *fields, const char *const *also,
                                    int also_count, double *values, BrioError *error)
{
    if (!also) also_count = 0;
    if (map && map->kind != BRIO_NODE_MAP)
        return brio__node_error(map, error, "expected a map, found %s", what_is(map).text);
    for (int i = 0; map && i < map->count; i++) {
        BrioNode *child = map->child[i];
        const BrioField *field = fields;
        int offset = 0;
        while (field && field->name && strcmp(field->name, child->key))
            offset += brio__field_width(field++);
        if (field && field->name) {
            child->used = true;
            BRIO_CHECK(brio__node_field(child, field, values + offset, error));
        } else if (!is_one_of(child->key, also, also_count)) {
            return unknown_field(child, fields, also, also_count, error);
        }
    }
    const double *value = values;
    for (const BrioField *field = fields; field && field->name;
         value += brio__field_width(field++)) {
        if (!field->required || !isnan(*value)) continue;
        return brio__node_missing(map, field, error);
    }
    return BRIO_OK;
}

BrioStatus brio__node_fields(BrioNode *map, const BrioField *fields, const char *const *also,
                             int also_count, double *values, BrioError *error)
{
    double *value = values;
    brio_fields_defaults(fields, values);
    for (const BrioField *field = fields; field && field->name; value += brio__field_width(field++))
        if (field->required) *value = NAN;
    return brio__node_change_fields(map, fields, also, also_count, values, error);
}

/* ---- JSON ------------------------------------------------------------------------------- */

static void write_string(const char *text, FILE *file)
{
    fputc('"', file);
    for (const char *p = text; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else if (c == '\n')
            fputs("\\n", file);
        else if (c < 0x20 || c == 0x7f)
            fprintf(file, "\\u%04x", c);
        else if (c == 0xc2 &&
                 (unsigned char)p[1] < 0xa0) /* U+0080 to U+009F, control characters too */
            fprintf(file, "\\u%04x", (unsigned char)*++p);
        else
            fputc(c, file);
    }
    fputc('"', file);
}

/* What our numbers allow and JSON does not: a plus, leading zeros, no digit beside the point, a
 * slash. */
static bool is_json_number(const char *text)
{
    const char *p = text + (*text == '-');
    const char *whole = skip_digits(p);
    if (whole == p || (*p == '0' && whole > p + 1)) return false;
    if (*whole == '.' && !isdigit((unsigned char)whole[1])) return false;
    const char *end = decimal_end(p);
    return end && !*end;
}

static void write_scalar(const BrioNode *node, FILE *file)
{
    bool flag;
    double number;
    if (node->quoted)
        write_string(node->text, file);
    else if (is_nothing(node))
        fputs("null", file);
    else if (read_boolean(node, &flag))
        fputs(flag ? "true" : "false", file);
    else if (read_number(node->text, &number) != NUMBER)
        write_string(node->text, file);
    else if (is_json_number(node->text))
        fputs(node->text, file);
    else
        fputs(brio__real_text(number, 15).text, file);
}

static void start_line(int indent, FILE *file)
{
    if (indent < 0) return;
    fprintf(file, "\n%*s", indent, "");
}

static void write_node(const BrioNode *node, int indent, FILE *file)
{
    if (node->kind == BRIO_NODE_SCALAR) {
        write_scalar(node, file);
        return;
    }
    bool is_map = node->kind == BRIO_NODE_MAP, nested = is_map;
    for (int i = 0; i < node->count; i++) nested |= node->child[i]->kind != BRIO_NODE_SCALAR;
    int inner = indent < 0 || !nested ? -1 : indent + 2; /* a list of scalars stays on its line */
    fputc(is_map ? '{' : '[', file);
    for (int i = 0; i < node->count; i++) {
        if (i > 0) fputs(inner < 0 ? ", " : ",", file);
        start_line(inner, file);
        if (is_map) {
            write_string(node->child[i]->key, file);
            fputs(": ", file);
        }
        write_node(node->child[i], inner, file);
    }
    if (inner >= 0 && node->count > 0) start_line(indent, file);
    fputc(is_map ? '}' : ']', file);
}

BrioStatus brio__tree_json(const BrioNode *root, int indent, FILE *file)
{
    write_node(root, indent, file);
    return ferror(file) ? BRIO_ERROR_FILE : BRIO_OK;
}
