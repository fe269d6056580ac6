/* libFuzzer target: whatever the bytes, parsing, --set and JSON neither crash nor leak nor print,
 * and the JSON that comes out reads back as the same JSON. The input is a document, a zero, and
 * assignments with zeros between them.
 *
 *     clang -g -O1 -std=gnu17 -fsanitize=fuzzer,address,undefined -DBRIO_HAVE_LIBFYAML \
 *         -Isrc -Iinclude tests/fuzz_tree.c src/scene/tree*.c src/scene/yaml.c src/scene/json.c \
 *         src/field.c src/base.c -lfyaml -lm */
#include "scene/parse.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* libfyaml 0.7 loses 512 bytes on some quoted texts that it refuses. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfyaml"; }

/* The tree as text; the caller frees it. */
static char *json_text(const BrioNode *root, int indent)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file || brio__tree_json(root, indent, file) != BRIO_OK) abort();
    fclose(file);
    return text;
}

static void read_back(const BrioNode *root)
{
    for (int indent = -1; indent <= 0; indent++) {
        char *text = json_text(root, indent), *again;
        BrioNode *copy = NULL;
        BrioError error = {0};
        if (brio__tree_parse_with(brio__json_parse, text, strlen(text), "json", &copy, &error) !=
            BRIO_OK)
            abort();
        again = json_text(copy, indent);
        if (strcmp(text, again)) abort();
        brio__tree_free(copy);
        free(again);
        free(text);
    }
}

/* Every value is asked for as everything that it might be. */
static void read_values(BrioNode *node)
{
    double real, reals[3];
    int64_t integer;
    bool boolean;
    const char *text;
    BrioError error = {0};
    brio__node_real(node, &real, &error);
    brio__node_integer(node, &integer, NULL);
    brio__node_boolean(node, &boolean, NULL);
    brio__node_text(node, &text, NULL);
    brio__node_reals(node, reals, 3, NULL);
    for (int i = 0; i < node->count; i++) read_values(node->child[i]);
}

static void try_document(BrioFrontEnd *front_end, const char *document, size_t size,
                         const char *sets, const char *end)
{
    BrioNode *root = NULL;
    BrioError error = {0};
    BrioStatus status = brio__tree_parse_with(front_end, document, size, "fuzz", &root, &error);
    if (status != BRIO_OK) {
        if (root || !error.message[0]) abort();
        return;
    }
    read_values(root);
    read_back(root);
    for (; sets < end; sets += strlen(sets) + 1) {
        BrioError complaint = {0};
        if (brio__tree_set(root, sets, &complaint) != BRIO_OK && !complaint.message[0]) abort();
    }
    read_values(root);
    read_back(root);
    brio__tree_free(root);
}

/* libfyaml 0.7.12 loses some 100 bytes for a text like '''''''''''''' (five or more doubled quotes
 * in a row). */
static bool runs_into_known_leak(const uint8_t *data, size_t size)
{
    int run = 0;
    for (size_t i = 0; i < size && run < 8; i++) run = data[i] == '\'' ? run + 1 : 0;
    return run >= 8;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (runs_into_known_leak(data, size)) return 0;
    char *text = malloc(size + 1);
    if (!text) return 0;
    if (size > 0) memcpy(text, data, size);
    text[size] = 0;
    const char *end = text + size, *zero = memchr(text, 0, size);
    const char *sets = zero ? zero + 1 : end;
    size_t length = zero ? (size_t)(zero - text) : size;
    try_document(brio__json_parse, text, length, sets, end);
#ifdef BRIO_HAVE_LIBFYAML
    try_document(brio__yaml_parse, text, length, sets, end);
#endif
    free(text);
    return 0;
}
