/* From a text to a tree: bytes are checked and lines ended alike (normalise), a front end reports
 * what it finds, and the build makes the nodes, keeps the limits and refuses duplicate keys. */
#include "node.h"
#include "../utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
        int step = brio__utf8_bytes(bytes + i, length - i);
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
    BrioNode *node = brio__node_create(kind, open ? open->file : build->name, !open, key,
                                       key ? strlen(key) : 0, text, length);
    if (!node) return BRIO_ERROR_MEMORY;
    node->line = line;
    node->column = column;
    node->key_line = build->has_key ? build->key_line : 1;
    node->key_column = build->has_key ? build->key_column : 1;
    if (!key) node->key_line = node->key_column = 0;
    build->has_key = false;
    if (open && brio__node_add(open, node) != BRIO_OK) {
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
                                brio__excerpt(second->key).text, first->key_line, second->key_line);
}

/* Copies a text with line feeds for all line ends and without byte order mark, zeros behind it;
 * refuses what is not text. */
BrioStatus brio__build_normalise(const char *text, size_t size, const char *name, char **copy,
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
    size_t i = brio__utf8_mark(text, size), n = 0;
    int line = 1, column = 1;
    while (i < size) {
        unsigned char c = from[i];
        int bytes = brio__utf8_bytes(from + i, size - i);
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

BrioStatus brio__build_run(BrioBuild *build, BrioFrontEnd *front_end, const char *text, size_t size)
{
    char *copy = NULL;
    size_t length = 0;
    BrioStatus status =
        brio__build_normalise(text, size, build->name, &copy, &length, build->error);
    if (status == BRIO_OK) status = front_end(build, copy, length);
    brio__free(copy);
    brio__free(build->key);
    build->key = NULL;
    if (status == BRIO_OK &&
        (!build->root || (brio__node_is_nothing(build->root) && !build->root->text[0])))
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
    BrioStatus status = brio__build_run(&build, front_end, text, size);
    *root = build.root;
    return status;
}

BrioStatus brio__tree_parse(const char *text, size_t size, const char *name, BrioNode **root,
                            BrioError *error)
{
    return brio__tree_parse_with(BRIO_FRONT_END, text, size, name, root, error);
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
