/* The tree of a document: both front ends, positions, limits, every sentence of a complaint, --set,
 * field tables read from maps, JSON, and what happens when memory runs out. */
#include "memory.h"
#include "scene/parse.h"

#include <float.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- helpers ---------------------------------------------------------------------------- */

static BrioNode *parse(const char *text)
{
    BrioNode *root = NULL;
    BrioError error = {0};
    BrioStatus status = brio__tree_parse(text, strlen(text), "s.yaml", &root, &error);
    if (status != BRIO_OK) print_error("%s: %s\n", text, error.message);
    assert_int_equal(status, BRIO_OK);
    assert_non_null(root);
    return root;
}

static void refused_bytes(BrioFrontEnd *front_end, const char *text, size_t size,
                          const char *message)
{
    BrioNode *root = (BrioNode *)&root;
    BrioError error = {0};
    char said[2048];
    assert_int_equal(brio__tree_parse_with(front_end, text, size, "s", &root, &error),
                     BRIO_ERROR_INPUT);
    assert_int_equal(error.status, BRIO_ERROR_INPUT);
    assert_null(root);
    brio_error_text(&error, said, sizeof said);
    assert_string_equal(said, message);
    assert_int_equal(brio__tree_parse_with(front_end, text, size, "s", &root, NULL),
                     BRIO_ERROR_INPUT);
}

static void json_refused(const char *text, const char *message)
{
    refused_bytes(brio__json_parse, text, strlen(text), message);
}

/* The tree as one line of JSON. */
static const char *json(const BrioNode *root, int indent)
{
    static char text[8192];
    memset(text, 0, sizeof text);
    FILE *file = fmemopen(text, sizeof text - 1, "w");
    assert_non_null(file);
    assert_int_equal(brio__tree_json(root, indent, file), BRIO_OK);
    fclose(file);
    return text;
}

static void set_refused(BrioNode *root, const char *assignment, const char *message)
{
    BrioError error = {0};
    char before[8192], said[2048];
    strcpy(before, json(root, -1));
    assert_int_not_equal(brio__tree_set(root, assignment, &error), BRIO_OK);
    brio_error_text(&error, said, sizeof said);
    assert_string_equal(said, message);
    assert_string_equal(json(root, -1), before);
}

static void set(BrioNode *root, const char *assignment)
{
    BrioError error = {0};
    BrioStatus status = brio__tree_set(root, assignment, &error);
    if (status != BRIO_OK) print_error("%s: %s\n", assignment, error.message);
    assert_int_equal(status, BRIO_OK);
}

/* The text of the error that the last call filled. */
static const char *said(const BrioError *error)
{
    static char text[2048];
    brio_error_text(error, text, sizeof text);
    return text;
}

/* ---- JSON front end --------------------------------------------------------------------- */

static void test_json_positions(void **state)
{
    (void)state;
    BrioNode *root = NULL;
    const char *text = "{\"a\": [1, \"é\", {\"b\": true}],\r\n \"c\": null}";
    assert_int_equal(brio__tree_parse_with(brio__json_parse, text, strlen(text), "s", &root, NULL),
                     BRIO_OK);
    assert_int_equal(root->kind, BRIO_NODE_MAP);
    assert_null(root->key);
    assert_int_equal(root->count, 2);
    BrioNode *a = brio__node_get(root, "a"), *c = brio__node_get(root, "c");
    assert_true(a->used && c->used && !a->child[0]->used);
    assert_int_equal(a->column, 7);
    assert_int_equal(a->key_column, 2);
    assert_string_equal(a->child[1]->text, "é");
    assert_true(a->child[1]->quoted && !a->child[0]->quoted);
    assert_int_equal(a->child[2]->column, 16);
    assert_int_equal(a->child[2]->child[0]->column, 22);
    assert_int_equal(c->line, 2);
    assert_int_equal(c->key_column, 2);
    assert_int_equal(c->column, 7);
    assert_null(brio__node_get(root, "x"));
    assert_null(brio__node_get(a, "x"));
    assert_null(brio__node_get(NULL, "x"));
    brio__tree_free(root);
    brio__tree_free(NULL);
}

static void test_json_refused(void **state)
{
    (void)state;
    json_refused("", "s: the document is empty");
    json_refused(" \n\t", "s: the document is empty");
    json_refused("{\"a\": 1/}", "s:1:7: expected a value (text goes into double quotes), found 1");
    json_refused("{\"a\": 0x10}",
                 "s:1:7: expected a value (text goes into double quotes), found 0");
    json_refused("[01]", "s:1:2: expected a value (text goes into double quotes), found 0");
    json_refused("[.5]", "s:1:2: expected a value (text goes into double quotes), found .");
    json_refused("[nan]", "s:1:2: expected a value (text goes into double quotes), found n");
    json_refused("[1,]", "s:1:4: expected a value (text goes into double quotes), found ]");
    json_refused("[1 2]", "s:1:4: expected a comma or ], found 2");
    json_refused("[1", "s:1:3: expected a comma or ], found the end");
    json_refused("{", "s:1:2: expected a comma or }, found the end");
    json_refused("{\"a\": ", "s:1:7: expected a value, found the end");
    json_refused("{\"a\"\n 1}", "s:2:2: expected a colon, found 1");
    json_refused("{a: 1}", "s:1:2: expected a key in double quotes, found a");
    json_refused("{\"a\": 1,}", "s:1:9: expected a key in double quotes, found }");
    json_refused("{\"\": 1}", "s:1:2: a key is missing before the \":\"");
    json_refused("[1] 2", "s:1:5: expected the end of the document, found 2");
    json_refused("[é]", "s:1:2: expected a value (text goes into double quotes), found é");
    json_refused("[\"ab", "s:1:2: the quote is never closed");
    json_refused("[\"ab\n\"]", "s:1:2: the quote is never closed");
    json_refused("[\"\\", "s:1:2: the quote is never closed");
    json_refused("[\"é\\q\"]",
                 "s:1:4: not a valid escape in double quotes: write \\\\ for a backslash");
    json_refused("[\"\\u12\"]",
                 "s:1:3: not a valid escape in double quotes: write \\\\ for a backslash");
    json_refused("[\"\\ud800\"]",
                 "s:1:3: not a valid escape in double quotes: write \\\\ for a backslash");
    json_refused("[\"\\udc00\"]",
                 "s:1:3: not a valid escape in double quotes: write \\\\ for a backslash");
    json_refused("[\"\\u0000\"]", "s:1:2: this text holds an escape that is not a character");
    json_refused("{\"a\": 1,\n \"b\": 2,\n \"a\": 3}",
                 "s:3:2: key \"a\" is given twice, in line 1 and in line 3");
    json_refused("{\"x\": {\"a\": 1, \"a\": 3}}",
                 "s:1:16: x: key \"a\" is given twice, in line 1 and in line 1");
}

static void test_not_text(void **state)
{
    (void)state;
    json_refused("[1,\n\x01]", "s:2:1: control character 0x01: this is not a text document");
    json_refused("[\x7f]", "s:1:2: control character 0x7f: this is not a text document");
    json_refused("[\xc2\x80]", "s:1:2: control character 0x80: this is not a text document");
    refused_bytes(brio__json_parse, "[1]\0", 4,
                  "s:1:4: control character 0x00: this is not a text document");
    json_refused("é[\xff]", "s:1:3: byte 0xff is not UTF-8; save the document as UTF-8 text");
    json_refused("\xc3", "s:1:1: byte 0xc3 is not UTF-8; save the document as UTF-8 text");
    json_refused("\xc0\x80", "s:1:1: byte 0xc0 is not UTF-8; save the document as UTF-8 text");
    json_refused("\xe0\x80\x80", "s:1:1: byte 0xe0 is not UTF-8; save the document as UTF-8 text");
    json_refused("\xed\xa0\x80", "s:1:1: byte 0xed is not UTF-8; save the document as UTF-8 text");
    json_refused("\xf0\x80\x80\x80",
                 "s:1:1: byte 0xf0 is not UTF-8; save the document as UTF-8 text");
    json_refused("\xf4\x90\x80\x80",
                 "s:1:1: byte 0xf4 is not UTF-8; save the document as UTF-8 text");
    json_refused("\xff\xfe[", "s: is UTF-16 text; save it as UTF-8");
    BrioNode *root = NULL;
    assert_int_equal(
        brio__tree_parse_with(brio__json_parse, "\xef\xbb\xbf[1]", 6, "s", &root, NULL), BRIO_OK);
    assert_int_equal(root->column, 1);
    brio__tree_free(root);
}

/* `depth` lists in each other. */
static char *nested(int depth)
{
    char *text = calloc(2 * (size_t)depth + 1, 1);
    assert_non_null(text);
    memset(text, '[', (size_t)depth);
    memset(text + depth, ']', (size_t)depth);
    return text;
}

/* A document of `count` ones. */
static char *long_list(size_t count)
{
    char *text = malloc(2 * count + 2);
    assert_non_null(text);
    for (size_t i = 0; i < count; i++) memcpy(text + 2 * i, i > 0 ? ",1" : "[1", 2);
    memcpy(text + 2 * count, "]", 2);
    return text;
}

static void check_limits(BrioFrontEnd *front_end)
{
    BrioNode *root = NULL;
    char *text = nested(BRIO_TREE_DEPTH);
    assert_int_equal(brio__tree_parse_with(front_end, text, strlen(text), "s", &root, NULL),
                     BRIO_OK);
    brio__tree_free(root);
    free(text);
    text = nested(BRIO_TREE_DEPTH + 1);
    refused_bytes(front_end, text, strlen(text),
                  "s:1:65: lists and maps are nested deeper than 64 levels");
    free(text);
    text = nested(100000);
    refused_bytes(front_end, text, strlen(text),
                  "s:1:65: lists and maps are nested deeper than 64 levels");
    free(text);
    text = long_list(BRIO_TREE_NODES);
    refused_bytes(front_end, text, strlen(text),
                  "s:1:4000000: the document holds more than 2000000 values; put large data into "
                  "files of its own");
    free(text);
}

static void test_limits(void **state)
{
    (void)state;
    check_limits(brio__json_parse);
    char *text = calloc(1, BRIO_TREE_BYTES + 1);
    assert_non_null(text);
    refused_bytes(brio__json_parse, text, BRIO_TREE_BYTES + 1,
                  "s: is larger than 256 MB; put large data into files of its own");
    free(text);
}

/* Many keys: the search for duplicates is not quadratic, and finds the first pair. */
static void test_many_keys(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    char *text = malloc(COUNT * 20 + 100), *end = text;
    assert_non_null(text);
    *end++ = '{';
    for (int i = 0; i < COUNT; i++) end += sprintf(end, "\"k%d\": %d,\n", (i * 7919) % COUNT, i);
    strcpy(end, "\"last\": 1}");
    BrioNode *root = NULL;
    assert_int_equal(brio__tree_parse_with(brio__json_parse, text, strlen(text), "s", &root, NULL),
                     BRIO_OK);
    assert_int_equal(root->count, COUNT + 1);
    brio__tree_free(root);
    strcpy(end, "\"k7919\": 1,\n\"k0\": 1}");
    json_refused(text, "s:100001:1: key \"k7919\" is given twice, in line 2 and in line 100001");
    free(text);
}

/* ---- YAML ------------------------------------------------------------------------------- */

#ifdef BRIO_HAVE_LIBFYAML

static void yaml_refused(const char *text, const char *message)
{
    refused_bytes(brio__yaml_parse, text, strlen(text), message);
}

static void same_tree(const BrioNode *a, const BrioNode *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->line, b->line);
    assert_int_equal(a->column, b->column);
    assert_int_equal(a->key_line, b->key_line);
    assert_int_equal(a->key_column, b->key_column);
    assert_int_equal(a->quoted, b->quoted);
    assert_string_equal(a->file, b->file);
    assert_true(!a->key == !b->key && !a->text == !b->text);
    if (a->key) assert_string_equal(a->key, b->key);
    if (a->text) assert_string_equal(a->text, b->text);
    assert_int_equal(a->count, b->count);
    for (int i = 0; i < a->count; i++) {
        assert_ptr_equal(a->child[i]->parent, a);
        same_tree(a->child[i], b->child[i]);
    }
}

static const char *const json_documents[] = {
    "{\"a\": 1}",
    "[]",
    "{}",
    "\"text\"",
    "7",
    "  [1, -2.5e-3, 1E5, 0.5, true, false, null]\n",
    "{\"a\": [1, [2, {\"b\": \"c\"}], {}],\n  \"d\" : {\"e\":\n 3},\n\n \"f\": \"\"}",
    "{\"é\": \"ü€😀\", \"b\": [\"x\", 1]}",
    "{\"a\\n\\t\\\"\\\\\\/b\": \"\\u00e9\\ud83d\\ude00\\b\\f\\r\"}",
    "{\"h\": 1/30, \"x\": [-1/3, 2.5/4]}",
    "{\"quoted\": \"1/30\", \"bare\": 30}",
};

static void test_front_ends_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < BRIO_COUNT(json_documents); i++) {
        BrioNode *a = NULL, *b = NULL;
        const char *text = json_documents[i];
        assert_int_equal(brio__tree_parse_with(brio__json_parse, text, strlen(text), "s", &a, NULL),
                         BRIO_OK);
        assert_int_equal(brio__tree_parse_with(brio__yaml_parse, text, strlen(text), "s", &b, NULL),
                         BRIO_OK);
        same_tree(a, b);
        brio__tree_free(a);
        brio__tree_free(b);
    }
}

static const char scene[] = "brio: 1\n"
                            "title: Soft cube            # a comment\n"
                            "time: {h: 1/30, end: 10}\n"
                            "gravity: [0, -9.8, 0]\n"
                            "integrator: a-search\n"
                            "bodies:\n"
                            "  - name: 'cube'\n"
                            "    material: {type: neo-hookean, E: 1e5}\n"
                            "    empty:\n"
                            "  - name: \"ball\"\r\n"
                            "    notes: |\n"
                            "      two\n"
                            "      lines\n";

static void test_yaml_positions(void **state)
{
    (void)state;
    BrioNode *root = parse(scene);
    char path[128], small[8];
    double h = 0;
    BrioNode *time = brio__node_get(root, "time"), *bodies = brio__node_get(root, "bodies");
    assert_string_equal(root->file, "s.yaml");
    assert_ptr_equal(bodies->child[0]->child[0]->file, root->file);
    assert_int_equal(time->line, 3);
    assert_int_equal(time->column, 7);
    assert_int_equal(time->child[0]->column, 11);
    assert_int_equal(time->child[0]->key_column, 8);
    assert_int_equal(brio__node_real(time->child[0], &h, NULL), BRIO_OK);
    assert_true(h == 1.0 / 30);
    assert_int_equal(bodies->line, 7);
    assert_int_equal(bodies->column, 3);
    BrioNode *cube = bodies->child[0], *ball = bodies->child[1];
    assert_int_equal(cube->line, 7);
    assert_int_equal(cube->column, 5);
    assert_int_equal(cube->child[0]->column, 11);
    assert_true(cube->child[0]->quoted);
    assert_int_equal(ball->child[0]->line, 10);
    assert_string_equal(ball->child[1]->text, "two\nlines\n");
    assert_true(ball->child[1]->quoted);
    assert_string_equal(cube->child[2]->text, "");
    assert_int_equal(cube->child[2]->line, 9);
    assert_int_equal(cube->child[2]->column, 5);
    brio__node_path(root, path, sizeof path);
    assert_string_equal(path, "");
    brio__node_path(cube->child[1]->child[1], path, sizeof path);
    assert_string_equal(path, "bodies[0].material.E");
    brio__node_path(ball, path, sizeof path);
    assert_string_equal(path, "bodies[1]");
    brio__node_path(ball, small, sizeof small);
    assert_string_equal(small, "bodies[");
    brio__tree_free(root);
}

static void test_yaml_refused(void **state)
{
    (void)state;
    yaml_refused("", "s: the document is empty");
    yaml_refused("# nothing\n", "s: the document is empty");
    yaml_refused("---\n...\n", "s: the document is empty");
    yaml_refused("a: 1\n---\nb: 2\n", "s:2:1: a second document starts here; only one is allowed");
    yaml_refused("a: &x 1\nb: *x",
                 "s:1:4: anchors (&) are not supported; write the value where it is used");
    yaml_refused("a: &x {b: 1}",
                 "s:1:4: anchors (&) are not supported; write the value where it is used");
    yaml_refused("a: *x", "s:1:4: aliases (*) are not supported; write the value out");
    yaml_refused("a:\n  <<: {b: 1}",
                 "s:2:3: merge keys (<<) are not supported; write the keys out");
    yaml_refused("a: !!int 3", "s:1:4: tags (!) are not supported; write the value alone");
    yaml_refused("? [a]\n: 1", "s:1:3: a key must be plain text, not a list or a map");
    yaml_refused("{{a: 1}: 2}", "s:1:2: a key must be plain text, not a list or a map");
    yaml_refused(": 1", "s:1:1: a key is missing before the \":\"");
    yaml_refused("a:\n\tb: 1", "s:2:1: a tab is used for indentation; use spaces");
    yaml_refused("a: 1\n  \tb: 2", "s:2:3: a tab is used for indentation; use spaces");
    yaml_refused("a:\n  b: 1\n c: 2", "s:3:2: the indentation fits no key above");
    yaml_refused(
        "a: 1\n b: 2",
        "s:1:4: this value runs on into the next line, which holds a key: check the indentation");
    yaml_refused(
        "a: b: c",
        "s:1:5: a second \": \" in the same line: put the text into quotes, or the inner key into "
        "its own line");
    yaml_refused("- a\nb: 1", "s:2:1: expected \"- \" like the other elements of the list");
    yaml_refused("x:\n  a: [1, 2\n", "s:2:6: this list has no closing \"]\"");
    yaml_refused("a: {b: 1", "s:1:4: this map has no closing \"}\"");
    yaml_refused("a: {b: 1]",
                 "s:1:9: this bracket does not match the open one: [ needs ], { needs }");
    yaml_refused("{a: 1}}", "s:1:7: closes a bracket that was never opened");
    yaml_refused("{a: 1} x", "s:1:8: expected the end of the document");
    yaml_refused("a: \"b", "s:1:4: the quote is never closed");
    yaml_refused("a: 'b", "s:1:4: the quote is never closed");
    yaml_refused("é: \"x\\q\"",
                 "s:1:6: not a valid escape in double quotes: write \\\\ for a backslash");
    yaml_refused("a: @x", "s:1:4: a text cannot start with this character: put it into quotes");
    yaml_refused("a: \"\\0\"", "s:1:4: this text holds an escape that is not a character");
    yaml_refused("E: 1\nnu: 2\n\nE: 3", "s:4:1: key \"E\" is given twice, in line 1 and in line 4");
    yaml_refused("b:\n- E: 1\n  E: 3",
                 "s:3:3: b[0]: key \"E\" is given twice, in line 2 and in line 3");
    yaml_refused("a: \x02", "s:1:4: control character 0x02: this is not a text document");
}

static void test_yaml_limits(void **state)
{
    (void)state;
    check_limits(brio__yaml_parse);
}

/* libfyaml would print its complaints; a library does not. */
static void test_silence(void **state)
{
    (void)state;
    char name[] = "/tmp/brio_tree_XXXXXX";
    int catcher = mkstemp(name), before = dup(2);
    assert_true(catcher >= 0 && before >= 0);
    fflush(stderr);
    dup2(catcher, 2);
    BrioNode *root = NULL;
    brio__tree_parse("a: [1", 5, "s", &root, NULL);
    brio__tree_parse("%YAML 9.9\n---\na: 1", 18, "s", &root, NULL);
    brio__tree_free(root);
    fflush(stderr);
    dup2(before, 2);
    close(before);
    struct stat facts;
    fstat(catcher, &facts);
    close(catcher);
    unlink(name);
    assert_int_equal(facts.st_size, 0);
}

#endif

/* ---- files ------------------------------------------------------------------------------ */

static void test_files(void **state)
{
    (void)state;
    BrioNode *root = NULL;
    BrioError error = {0};
    assert_int_equal(brio__tree_read("/nowhere/scene.yaml", &root, &error), BRIO_ERROR_FILE);
    assert_string_equal(said(&error),
                        "/nowhere/scene.yaml: cannot be read: No such file or directory");
    error = (BrioError){0};
    assert_int_equal(brio__tree_read("/tmp", &root, &error), BRIO_ERROR_FILE);
    assert_string_equal(said(&error), "/tmp: cannot be read: it is a directory");

    char name[] = "/tmp/brio_tree_XXXXXX";
    int file = mkstemp(name);
    assert_true(file >= 0);
    size_t count = 30000;
    char *text = long_list(count);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    free(text);
    assert_int_equal(brio__tree_read(name, &root, NULL), BRIO_OK);
    assert_int_equal(root->count, (int)count);
    assert_string_equal(root->file, name);
    brio__tree_free(root);

    error = (BrioError){0};
    assert_int_equal(ftruncate(file, 0), 0);
    assert_int_equal(brio__tree_read(name, &root, &error), BRIO_ERROR_INPUT);
    assert_string_equal(error.message, "the document is empty");
    error = (BrioError){0};
    assert_int_equal(ftruncate(file, (off_t)BRIO_TREE_BYTES + 5), 0); /* sparse */
    assert_int_equal(brio__tree_read(name, &root, &error), BRIO_ERROR_INPUT);
    assert_string_equal(error.message,
                        "is larger than 256 MB; put large data into files of its own");
    assert_null(root);
    close(file);
    error = (BrioError){0};
    chmod(name, 0);
    if (geteuid() != 0) { /* root may read everything */
        assert_int_equal(brio__tree_read(name, &root, &error), BRIO_ERROR_FILE);
        assert_string_equal(error.message, "cannot be read: Permission denied");
    }
    unlink(name);
}

/* ---- --set: the documents are JSON, so that both front ends read them ------------------- */

static const char settable[] =
    "{\"integrator\": \"a-search\", \"time\": {\"h\": 1},\n"
    " \"bodies\": [{\"material\": {\"E\": 1}}, 3], \"none\": null, \"list\": []}";

static void test_set(void **state)
{
    (void)state;
    BrioNode *root = parse(settable);
    const char *text;
    set(root, "time.h=1/120");
    BrioNode *h = brio__node_get(brio__node_get(root, "time"), "h");
    assert_string_equal(h->text, "1/120");
    assert_string_equal(h->file, "--set time.h");
    assert_int_equal(h->line, 1);
    assert_int_equal(h->column, 1);
    assert_false(h->quoted);
    set(root, "bodies.0.material.E=1e6");
    set(root, "bodies[1]= 4");
    set(root, "bodies.0.material.nu=0.3");
    set(root, "integrator.alpha_max=1.2");
    set(root, "integrator.decay=[[0, 1]]");
    set(root, "none.a=1");
    set(root, "solver.linear.name=pcg=x");
    set(root, "title=Two words");
    assert_string_equal(
        json(root, -1),
        "{\"integrator\": {\"type\": \"a-search\", \"alpha_max\": 1.2, \"decay\": [[0, 1]]}, "
        "\"time\": {\"h\": 0.008333333333333333}, "
        "\"bodies\": [{\"material\": {\"E\": 1e6, \"nu\": 0.3}}, 4], \"none\": {\"a\": 1}, "
        "\"list\": [], \"solver\": {\"linear\": {\"name\": \"pcg=x\"}}, \"title\": \"Two words\"}");
    BrioNode *integrator = brio__node_get(root, "integrator");
    BrioNode *type = brio__node_get(integrator, "type");
    assert_int_equal(brio__node_text(type, &text, NULL), BRIO_OK);
    assert_string_equal(text, "a-search");
    assert_string_equal(type->file, "s.yaml");
    assert_int_equal(type->column, 16);

    set(root, "integrator={\"type\": \"blend\"}");
    set(root, "integrator.type=bdf2");
    set(root, "bodies={}");
    set(root, "time=now");
    set(root, "time.type=then"); /* the type itself: nothing to keep */
    assert_string_equal(
        json(root, -1),
        "{\"integrator\": {\"type\": \"bdf2\"}, \"time\": {\"type\": \"then\"}, "
        "\"bodies\": {}, \"none\": {\"a\": 1}, \"list\": [], "
        "\"solver\": {\"linear\": {\"name\": \"pcg=x\"}}, \"title\": \"Two words\"}");
    brio__tree_free(root);
}

static void test_set_messages(void **state)
{
    (void)state;
    BrioNode *root = parse(settable);
    BrioError error = {0};
    double number;
    static const char *const keys[] = {"time", "integrator"};
    set_refused(root, "bodies.7=1",
                "--set bodies.7: bodies has no element 7: it has 2, counted from 0");
    set_refused(root, "bodies.99999999999999=1",
                "--set bodies.99999999999999: bodies has no element 99999999999999: it has 2, "
                "counted from 0");
    set_refused(root, "bodies.x.y=1",
                "--set bodies.x.y: bodies is a list: expected an index from 0 to 1, found \"x\"");
    set_refused(root, "list.0=1", "--set list.0: list is an empty list");
    set_refused(root, "time.0=1", "--set time.0: time is a map, not a list; its keys: h");
    set_refused(root, "0=1",
                "--set 0: the document is a map, not a list; its keys: integrator, time, bodies, "
                "none, list");
    set_refused(root, "time.h.0=1", "--set time.h.0: time.h is \"1\", not a list");
    set_refused(
        root, "damping.0.beta=1",
        "--set damping.0.beta: there is no list damping; set the whole list, as in damping=[...]");
    set_refused(root, "bodys.0.name=1",
                "--set bodys.0.name: there is no list bodys; did you mean \"bodies\"?");
    set_refused(root, "time.h", "--set: expected PATH=VALUE, found no value for \"time.h\"");
    set_refused(root, "time.h= ", "--set: expected PATH=VALUE, found no value for \"time.h\"");
    static const char *const bad[] = {"",       "=1",    "a..b=1", ".a=1",  "a.=1",    "a[=1",
                                      "a[x]=1", "a[1=1", "a]=1",   "[0]=1", "a[0]b=1", "a\nb=1"};
    for (size_t i = 0; i < BRIO_COUNT(bad); i++) {
        error = (BrioError){0};
        assert_int_equal(brio__tree_set(root, bad[i], &error), BRIO_ERROR_INPUT);
        assert_non_null(
            strstr(error.message, "expected PATH=VALUE, as in bodies.0.material.E=1e6, found \""));
        assert_string_equal(error.file, "--set");
    }
    set_refused(root, "a\xff=1",
                "--set:1:2: byte 0xff is not UTF-8; save the document as UTF-8 text");
    set_refused(root, "a=\x01", "--set a: control character 0x01: this is not a text document");

    char deep[400] = "a";
    for (int i = 0; i < 70; i++) strcat(deep, ".b");
    error = (BrioError){0};
    assert_int_equal(brio__tree_set(root, strcat(deep, "=1"), &error), BRIO_ERROR_INPUT);
    strcpy(deep, "a");
    for (int i = 0; i < 61; i++) strcat(deep, ".b"); /* 62 maps around the value */
    strcat(deep, "=[[[1]]]");
    error = (BrioError){0};
    assert_int_equal(brio__tree_set(root, deep, &error), BRIO_ERROR_INPUT);
    assert_string_equal(error.message, "lists and maps are nested deeper than 64 levels");
    strcpy(strchr(deep, '='), "=[[1]]");
    set(root, deep);
    set(root, "a=1");

    set(root, "time.h=abc");
    set(root, "tmie.x=1");
    error = (BrioError){0};
    brio__node_real(brio__node_get(brio__node_get(root, "time"), "h"), &number, &error);
    assert_string_equal(said(&error), "--set time.h: expected a number, found \"abc\"");
    error = (BrioError){0};
    brio__node_get(root, "integrator"), brio__node_get(root, "bodies"),
        brio__node_get(root, "none");
    brio__node_get(root, "list"), brio__node_get(root, "a");
    assert_int_equal(brio__node_unknown(root, keys, 2, &error), BRIO_ERROR_INPUT);
    assert_string_equal(said(&error), "--set tmie.x: unknown key \"tmie\"; did you mean \"time\"?");
    brio__tree_free(root);

    root = parse("[1, 2]");
    set(root, "1=3");
    set_refused(root, "2=3", "--set 2: the document has no element 2: it has 2, counted from 0");
    assert_string_equal(json(root, -1), "[1, 3]");
    brio__tree_free(root);
#ifdef BRIO_HAVE_LIBFYAML
    root = parse("integrator: a-search");
    set(root, "integrator={type: a-search, decay: 10}");
    assert_int_equal(brio__node_get(brio__node_get(root, "integrator"), "decay")->column, 25);
    set_refused(root, "integrator={type: a", "--set integrator: this map has no closing \"}\"");
    set_refused(
        root, "integrator.x=&a 1",
        "--set integrator.x: anchors (&) are not supported; write the value where it is used");
    assert_string_equal(json(root, -1),
                        "{\"integrator\": {\"type\": \"a-search\", \"decay\": 10}}");
    brio__tree_free(root);
#endif
}

/* ---- values ----------------------------------------------------------------------------- */

static BrioNode scalar(const char *text)
{
    return (BrioNode){.file = "s", .line = 3, .column = 4, .text = (char *)text};
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"1/30", 1.0 / 30}, {"-1/3", -1.0 / 3}, {"2.5e-3", 2.5e-3}, {"1e5", 1e5},
                {".5", 0.5},        {"+3", 3},          {"5.", 5},          {"007", 7},
                {"-0", 0},          {"1E+2", 100},      {"2.5/4", 0.625},   {"1e-400", 0},
                {"-.5e1", -5},      {"1e3/1e-3", 1e6}};
    static const struct {
        const char *text, *message;
    } bad[] = {{"nan", "expected a finite number, found \"nan\""},
               {".NaN", "expected a finite number, found \".NaN\""},
               {"-inf", "expected a finite number, found \"-inf\""},
               {".inf", "expected a finite number, found \".inf\""},
               {"Infinity", "expected a finite number, found \"Infinity\""},
               {"1e999", "expected a finite number, found \"1e999\""},
               {"1e300/1e-300", "expected a finite number, found \"1e300/1e-300\""},
               {"1/1e999", "expected a finite number, found \"1/1e999\""},
               {"1/0", "expected a finite number, found a division by zero, \"1/0\""},
               {"0x10", "expected a number, found \"0x10\""},
               {"1/-3", "expected a number, found \"1/-3\""},
               {"1/2/3", "expected a number, found \"1/2/3\""},
               {"1 /2", "expected a number, found \"1 /2\""},
               {"/2", "expected a number, found \"/2\""},
               {"1/", "expected a number, found \"1/\""},
               {".", "expected a number, found \".\""},
               {"1e", "expected a number, found \"1e\""},
               {"e5", "expected a number, found \"e5\""},
               {"--1", "expected a number, found \"--1\""},
               {"1,5", "expected a number, found \"1,5\""},
               {"two\nlines", "expected a number, found \"two lines\""},
               {"", "expected a number, found nothing"},
               {"~", "expected a number, found nothing"},
               {"null", "expected a number, found nothing"}};
    double value;
    for (size_t i = 0; i < BRIO_COUNT(good); i++) {
        BrioNode node = scalar(good[i].text);
        value = -1;
        assert_int_equal(brio__node_real(&node, &value, NULL), BRIO_OK);
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < BRIO_COUNT(bad); i++) {
        BrioNode node = scalar(bad[i].text);
        BrioError error = {0};
        value = 17;
        assert_int_equal(brio__node_real(&node, &value, &error), BRIO_ERROR_INPUT);
        assert_string_equal(error.message, bad[i].message);
        assert_int_equal(error.line, 3);
        assert_int_equal(error.column, 4);
        assert_true(value == 17);
    }
    BrioNode node = scalar("1");
    BrioError error = {0};
    node.quoted = true;
    brio__node_real(&node, &value, &error);
    assert_string_equal(error.message,
                        "expected a number, found the text \"1\"; remove the quotes");
    node = scalar("éééééééééééééééééééééééééééééééééé");
    error = (BrioError){0};
    brio__node_real(&node, &value, &error);
    assert_string_equal(error.message, "expected a number, found \"éééééééééééééééééééééééé...\"");
    node = (BrioNode){.kind = BRIO_NODE_LIST, .file = "s"};
    error = (BrioError){0};
    brio__node_real(&node, &value, &error);
    assert_string_equal(error.message, "expected a number, found a list");
    node.kind = BRIO_NODE_MAP;
    error = (BrioError){0};
    brio__node_real(&node, &value, &error);
    assert_string_equal(error.message, "expected a number, found a map");
}

static void test_integers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"12", 12}, {"-3", -3},
                {"+4", 4},  {"1e5", 100000},
                {"4/2", 2}, {"9223372036854775807", INT64_MAX},
                {"2.0", 2}, {"-9223372036854775808", INT64_MIN}};
    static const struct {
        const char *text, *message;
    } bad[] = {{"2.5", "expected an integer, found 2.5"},
               {"1/3", "expected an integer, found 1/3"},
               {"abc", "expected an integer, found \"abc\""},
               {"", "expected an integer, found nothing"},
               {"nan", "expected a finite number, found \"nan\""},
               {"9223372036854775808", "9223372036854775808 is too large for an integer"},
               {"1e30", "1e30 is too large for an integer"}};
    for (size_t i = 0; i < BRIO_COUNT(good); i++) {
        BrioNode node = scalar(good[i].text);
        int64_t value = 0;
        assert_int_equal(brio__node_integer(&node, &value, NULL), BRIO_OK);
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < BRIO_COUNT(bad); i++) {
        BrioNode node = scalar(bad[i].text);
        BrioError error = {0};
        int64_t value = 0;
        assert_int_equal(brio__node_integer(&node, &value, &error), BRIO_ERROR_INPUT);
        assert_string_equal(error.message, bad[i].message);
    }
}

static void test_other_values(void **state)
{
    (void)state;
    BrioNode *root = parse(
        "{\"a\": true, \"b\": false, \"c\": \"true\", \"d\": [1, 2], \"e\": \"\", \"f\": null,\n"
        " \"g\": [1, 2.5, [3]], \"h\": [-1, 1/4, 3], \"i\": 12}");
    BrioNode *a = brio__node_get(root, "a");
    BrioNode *b = brio__node_get(root, "b");
    BrioNode *c = brio__node_get(root, "c");
    BrioNode *d = brio__node_get(root, "d");
    BrioNode *e = brio__node_get(root, "e");
    BrioNode *f = brio__node_get(root, "f");
    BrioNode yes = scalar("yes"), no = scalar("No");
    BrioError error = {0};
    bool flag = false;
    const char *text;
    double reals[3];
    assert_true(brio__node_boolean(a, &flag, NULL) == BRIO_OK && flag);
    assert_true(brio__node_boolean(b, &flag, NULL) == BRIO_OK && !flag);
    assert_true(brio__node_boolean(&yes, &flag, NULL) == BRIO_OK && flag);
    assert_true(brio__node_boolean(&no, &flag, NULL) == BRIO_OK && !flag);
    brio__node_boolean(c, &flag, &error);
    assert_string_equal(said(&error), "s.yaml:1:30: c: expected true or false, found \"true\"");
    error = (BrioError){0};
    brio__node_boolean(d, &flag, &error);
    assert_string_equal(error.message, "expected true or false, found a list");

    assert_int_equal(brio__node_text(e, &text, NULL), BRIO_OK);
    assert_string_equal(text, "");
    assert_int_equal(brio__node_text(brio__node_get(root, "i"), &text, NULL), BRIO_OK);
    assert_string_equal(text, "12");
    error = (BrioError){0};
    brio__node_text(f, &text, &error);
    assert_string_equal(error.message, "expected text, found nothing");
    error = (BrioError){0};
    brio__node_text(root, &text, &error);
    assert_string_equal(said(&error), "s.yaml:1:1: expected text, found a map");

    assert_int_equal(brio__node_reals(brio__node_get(root, "h"), reals, 3, NULL), BRIO_OK);
    assert_true(reals[0] == -1 && reals[1] == 0.25 && reals[2] == 3);
    error = (BrioError){0};
    brio__node_reals(d, reals, 3, &error);
    assert_string_equal(said(&error), "s.yaml:1:43: d: expected a list of 3 numbers, found 2");
    error = (BrioError){0};
    brio__node_reals(a, reals, 1, &error);
    assert_string_equal(error.message, "expected a list of 1 number, found \"true\"");
    error = (BrioError){0};
    brio__node_reals(brio__node_get(root, "g"), reals, 3, &error);
    assert_string_equal(said(&error), "s.yaml:2:16: g[2]: expected a number, found a list");
    error = (BrioError){0};
    brio__node_key_error(root, &error, "x"); /* no key: the node's place */
    assert_string_equal(said(&error), "s.yaml:1:1: x");
    brio__tree_free(root);
}

/* ---- field tables ----------------------------------------------------------------------- */

static const BrioField fields[] = {
    {"E", BRIO_REAL, "Pa", 1e5, 0, INFINITY, 0, "Young's modulus."},
    {"nu", BRIO_REAL, "", 0.3, -0.99999999999999989, 0.49999999999999994, 0, "Poisson's ratio."},
    {"size", BRIO_VECTOR, "m", 1, 1e-300, INFINITY, 0, "Edge lengths."},
    {"cells", BRIO_INTEGER, "", 4, 1, 1000, 0, "Cells."},
    {"closed", BRIO_BOOLEAN, "", 0, 0, 1, 0, "Whether it is closed."},
    {"h", BRIO_REAL, "s", NAN, DBL_MIN, INFINITY, 1, "The time step."},
    {"alpha", BRIO_REAL, "", NAN, 0, 1, 0, "Fixed value."},
    {NULL, 0, NULL, 0, 0, 0, 0, NULL},
};

static void field_refused(const char *text, const char *message)
{
    static const char *const also[] = {"type"};
    BrioNode *root = parse(text);
    double values[BRIO_MAX_VALUES];
    BrioError error = {0};
    assert_int_equal(brio__node_fields(root, fields, also, 1, values, &error), BRIO_ERROR_INPUT);
    assert_string_equal(said(&error), message);
    brio__tree_free(root);
}

static void test_fields(void **state)
{
    (void)state;
    double values[BRIO_MAX_VALUES];
    static const char *const also[] = {"type"};
    BrioNode *root = parse("{\"type\": \"x\", \"E\": 0, \"size\": [1, 2, 1/2], \"cells\": 7, "
                           "\"closed\": true, \"h\": 1/30}");
    assert_int_equal(brio__node_fields(root, fields, also, 1, values, NULL), BRIO_OK);
    assert_true(values[0] == 0 && values[1] == 0.3 && values[2] == 1 && values[3] == 2 &&
                values[4] == 0.5);
    assert_true(values[5] == 7 && values[6] == 1 && values[7] == 1.0 / 30 && isnan(values[8]));
    assert_true(root->child[1]->used && !root->child[0]->used);
    BrioError error = {0};
    /* nobody has read the type */
    assert_int_equal(brio__node_unknown(root, also, 1, &error), BRIO_ERROR_INPUT);
    brio__node_get(root, "type");
    assert_int_equal(brio__node_unknown(root, also, 1, NULL), BRIO_OK);
    brio__tree_free(root);

    field_refused("{\"h\": 1, \"alhpa\": 1}",
                  "s.yaml:1:10: unknown key \"alhpa\"; did you mean \"alpha\"?");
    field_refused("{\"h\": 1, \"tpye\": 1}",
                  "s.yaml:1:10: unknown key \"tpye\"; did you mean \"type\"?");
    field_refused("{\"h\": 1, \"stiffness\": 1}",
                  "s.yaml:1:10: unknown key \"stiffness\"; valid keys: type, E, nu, size, cells, "
                  "closed, h, alpha");
    field_refused("{\"E\": -5}", "s.yaml:1:7: E: E = -5 Pa is out of range: must be at least 0");
    field_refused("{\"E\": [1]}", "s.yaml:1:7: E: expected a number, found a list");
    field_refused(
        "{\"nu\": 0.5}",
        "s.yaml:1:8: nu: nu = 0.5 is out of range: must be more than -1 and less than 0.5");
    field_refused("{\"size\": [1, 0, 1]}",
                  "s.yaml:1:10: size: size[1] = 0 m is out of range: must be positive");
    field_refused("{\"size\": [1, 0]}", "s.yaml:1:10: size: expected a list of 3 numbers, found 2");
    field_refused("{\"cells\": 2.5}", "s.yaml:1:11: cells: expected an integer, found 2.5");
    field_refused("{\"cells\": 0}",
                  "s.yaml:1:11: cells: cells = 0 is out of range: must be between 1 and 1000");
    field_refused("{\"closed\": 1}", "s.yaml:1:12: closed: expected true or false, found \"1\"");
    field_refused("{\"h\": 0}", "s.yaml:1:7: h: h = 0 s is out of range: must be positive");
    field_refused("{\"E\": 1}", "s.yaml:1:1: missing key \"h\" (s): The time step.");
    field_refused("[1]", "s.yaml:1:1: expected a map, found a list");
    field_refused("7", "s.yaml:1:1: expected a map, found \"7\"");

    error = (BrioError){0};
    assert_int_equal(brio__node_fields(NULL, fields, NULL, 0, values, &error), BRIO_ERROR_INPUT);
    assert_string_equal(said(&error), "missing key \"h\" (s): The time step.");
    root = parse("{\"a\": 1}");
    error = (BrioError){0};
    assert_int_equal(brio__node_fields(root, NULL, NULL, 0, values, &error), BRIO_ERROR_INPUT);
    assert_string_equal(said(&error), "s.yaml:1:2: unknown key \"a\"; no key is valid here");
    static const char *const a[] = {"a"};
    assert_int_equal(brio__node_fields(root, NULL, a, 1, values, NULL), BRIO_OK);
    brio__tree_free(root);
}

/* ---- JSON ------------------------------------------------------------------------------- */

static void test_json_output(void **state)
{
    (void)state;
    BrioNode *root =
        parse("{\"a\": [1, -0.5e3, 1/3, \"1/3\"], \"b\": {\"c\": [[], {}, [1]], \"d\": null},\n"
              " \"q\\\"\\\\\\n\\u0001\\u007f\\u0085é\": \"\\t\", \"e\": true}");
    assert_string_equal(json(root, -1),
                        "{\"a\": [1, -0.5e3, 0.3333333333333333, \"1/3\"], \"b\": {\"c\": [[], {}, "
                        "[1]], \"d\": null}, "
                        "\"q\\\"\\\\\\n\\u0001\\u007f\\u0085é\": \"\\u0009\", \"e\": true}");
    assert_string_equal(
        json(root, 2),
        "{\n    \"a\": [1, -0.5e3, 0.3333333333333333, \"1/3\"],\n    \"b\": {\n      \"c\": [\n"
        "        [],\n        {},\n        [1]\n      ],\n      \"d\": null\n    },\n"
        "    \"q\\\"\\\\\\n\\u0001\\u007f\\u0085é\": \"\\u0009\",\n    \"e\": true\n  }");
    brio__tree_free(root);
    static const struct {
        const char *text, *json;
    } cases[] = {{".5", "0.5"},
                 {"5.", "5"},
                 {"+3", "3"},
                 {"007", "7"},
                 {"-0", "-0"},
                 {"-.5", "-0.5"},
                 {"1/30", "0.03333333333333333"},
                 {"1E5", "1E5"},
                 {"1.e2", "100"},
                 {"nan", "\"nan\""},
                 {"1e999", "\"1e999\""},
                 {"1/0", "\"1/0\""},
                 {"yes", "true"},
                 {"NO", "false"},
                 {"~", "null"},
                 {"", "null"},
                 {"0x1", "\"0x1\""},
                 {"a-search", "\"a-search\""}};
    for (size_t i = 0; i < BRIO_COUNT(cases); i++) {
        BrioNode node = scalar(cases[i].text);
        assert_string_equal(json(&node, 0), cases[i].json);
    }
    root = parse("[1]");
    FILE *full = fopen("/dev/full", "w");
    if (full) {
        setvbuf(full, NULL, _IONBF, 0);
        assert_int_equal(brio__tree_json(root, 0, full), BRIO_ERROR_FILE);
        fclose(full);
    }
    brio__tree_free(root);
}

/* Numbers do not depend on the locale of the program. */
static void test_locale(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    bool found = false;
    for (size_t i = 0; i < BRIO_COUNT(names) && !found; i++)
        found = setlocale(LC_ALL, names[i]) != NULL;
    if (!found) {
        print_message("SKIPPED: no locale with a decimal comma is installed\n");
        return;
    }
    double value = 0;
    BrioNode node = scalar("2.5"), half = scalar(".5");
    assert_int_equal(brio__node_real(&node, &value, NULL), BRIO_OK);
    assert_true(value == 2.5);
    assert_string_equal(json(&half, 0), "0.5");
    setlocale(LC_ALL, "C");
}

/* ---- memory ----------------------------------------------------------------------------- */

static BrioStatus everything(BrioFrontEnd *front_end, BrioError *error)
{
    static const char *const also[] = {"integrator", "time", "bodies", "none", "list"};
    BrioNode *root = NULL;
    double values[BRIO_MAX_VALUES];
    BrioStatus status =
        brio__tree_parse_with(front_end, settable, strlen(settable), "s", &root, error);
    if (status == BRIO_OK) status = brio__tree_set(root, "integrator.alpha=1", error);
    if (status == BRIO_OK) status = brio__tree_set(root, "x.y.z=[1, 2, 3, 4, 5, 6]", error);
    if (status == BRIO_OK) status = brio__tree_set(root, "bodies.0.material.E=7", error);
    if (status == BRIO_OK) status = brio__node_fields(root, fields, also, 5, values, error);
    brio__tree_free(root);
    return status;
}

static void check_scarce_memory(BrioFrontEnd *front_end)
{
    Memory memory = {0};
    BrioStatus status = BRIO_ERROR_MEMORY;
    int n = 0;
    for (; n < 1000 && status == BRIO_ERROR_MEMORY; n++) {
        BrioError error = {0};
        memory_start(&memory, n, true);
        status = everything(front_end, &error);
        if (memory.live != 0 || error.status != status) break;
        if (status == BRIO_ERROR_MEMORY && strcmp(error.message, "out of memory")) break;
        if (status == BRIO_ERROR_INPUT &&
            strcmp(error.message, "unknown key \"x\"; did you mean \"E\"?"))
            break;
    }
    brio_set_allocator(NULL);
    assert_int_equal(memory.live, 0);
    /* the last complaint, about "x", needs memory too */
    assert_int_equal(status, BRIO_ERROR_INPUT);
    assert_in_range(n, 20, 999);
}

static void test_memory(void **state)
{
    (void)state;
    check_scarce_memory(brio__json_parse);
#ifdef BRIO_HAVE_LIBFYAML
    check_scarce_memory(brio__yaml_parse);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_positions),
        cmocka_unit_test(test_json_refused),
        cmocka_unit_test(test_not_text),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_many_keys),
#ifdef BRIO_HAVE_LIBFYAML
        cmocka_unit_test(test_front_ends_agree),
        cmocka_unit_test(test_yaml_positions),
        cmocka_unit_test(test_yaml_refused),
        cmocka_unit_test(test_yaml_limits),
        cmocka_unit_test(test_silence),
#endif
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_set_messages),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_other_values),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_json_output),
        cmocka_unit_test(test_locale),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
