/* Nodes of a document, their places and paths, and what messages say of them.
 *
 * A node is one block: the struct, then the file name (of a root or of the top of a --set only; the
 * nodes below point to it), the key and the text. A node therefore never outlives the name that it
 * points to, and is freed with one call. */
#include "node.h"
#include "../utf8.h"

#include <stdarg.h>
#include <string.h>

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
BrioNode *brio__node_create(BrioNodeKind kind, const char *name, bool own_name, const char *key,
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
BrioStatus brio__node_add(BrioNode *parent, BrioNode *child)
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

int brio__node_index(const BrioNode *node)
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
        snprintf(path + used, size - used, "[%d]", brio__node_index(node));
}

/* ---- texts in messages ------------------------------------------------------------------ */

/* The beginning of a text on one line, for messages. */
BrioExcerpt brio__excerpt(const char *text)
{
    enum { MAX = 48 };
    BrioExcerpt result;
    size_t size = strlen(text), used = 0;
    while (used < size) {
        int bytes = BRIO_MAX(brio__utf8_bytes((const unsigned char *)text + used, size - used), 1);
        if (used + (size_t)bytes > MAX) break;
        memcpy(result.text + used, text + used, (size_t)bytes);
        if ((unsigned char)text[used] < 0x20 || text[used] == 0x7f) result.text[used] = ' ';
        used += (size_t)bytes;
    }
    snprintf(result.text + used, sizeof result.text - used, "%s", used < size ? "..." : "");
    return result;
}

bool brio__node_is_nothing(const BrioNode *node)
{
    if (node->kind != BRIO_NODE_SCALAR || node->quoted) return false;
    return !node->text[0] || !strcmp(node->text, "~") || !strcasecmp(node->text, "null");
}

/* What a node is, as a message says it. */
BrioExcerpt brio__node_what(const BrioNode *node)
{
    if (node->kind == BRIO_NODE_LIST) return (BrioExcerpt){"a list"};
    if (node->kind == BRIO_NODE_MAP) return (BrioExcerpt){"a map"};
    if (brio__node_is_nothing(node)) return (BrioExcerpt){"nothing"};
    BrioExcerpt text = brio__excerpt(node->text), result;
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

BrioStatus brio__node_unknown_key(const BrioNode *child, const char *const *names, int count,
                                  BrioError *error)
{
    BrioExcerpt key = brio__excerpt(child->key);
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
        if (!map->child[i]->used) return brio__node_unknown_key(map->child[i], names, count, error);
    return BRIO_OK;
}
