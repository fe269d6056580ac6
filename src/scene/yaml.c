/* YAML 1.2 through libfyaml's events. Scalars come as their text: libfyaml never gets to guess
 * types. What a scene has no use for and what hides meaning (anchors, aliases, merge keys, tags,
 * several documents) is rejected with a sentence. */
#include "parse.h"

#ifdef BRIO_HAVE_LIBFYAML

#include <libfyaml.h>
#include <stdlib.h>
#include <string.h>

enum { RESERVE = 65536 }; /* bytes: many times of what fy_parser_set_string allocates */

static void swallow(struct fy_diag *diag, void *user, const char *text, size_t length)
{
    (void)diag, (void)user, (void)text, (void)length;
}

/* libfyaml's words and ours; the first row that occurs in the message is taken. */
static const char *const plain_words[][2] = {
    {"invalid multiline plain key",
     "this value runs on into the next line, which holds a key: check the indentation"},
    {"invalid nested block mapping on the same line",
     "a second \": \" in the same line: put the text into quotes, or the inner key into its own "
     "line"},
    {"invalid indentation in mapping", "the indentation fits no key above"},
    {"did not find expected key", "expected a key, as in `key: value`: check the indentation"},
    {"invalid block mapping key on same line", "two keys in one line: put each into its own line"},
    {"invalid scalar at the end of block sequence",
     "expected \"- \" like the other elements of the list"},
    {"did not find expected '-' indicator", "expected \"- \" like the other elements of the list"},
    {"wrongly indented sequence item",
     "this \"- \" is not in line with the other elements of the list"},
    {"wrong indendation in sequence",
     "this \"- \" is not in line with the other elements of the list"},
    {"block sequence on the same line as a mapping key",
     "start the list (\"- \") in the line after the key"},
    {"without closing quote", "the quote is never closed"},
    {"invalid escape", "not a valid escape in double quotes: write \\\\ for a backslash"},
    {"double-quoted scalar has invalid",
     "not a valid escape in double quotes: write \\\\ for a backslash"},
    {"extra closing", "closes a bracket that was never opened"},
    {"mismatched flow", "this bracket does not match the open one: [ needs ], { needs }"},
    {"missing comma in flow", "expected a comma, or the closing bracket"},
    {"comma in the beginning", "a comma without a value before it"},
    {"extra comma", "a comma without a value before it"},
    {"could not find expected ':'", "expected \": \" after this key"},
    {"missing ':'", "expected \": \" after this key"},
    {"plain scalar cannot start", "a text cannot start with this character: put it into quotes"},
    {"missing document start", "expected the end of the document"},
    {"invalid content after document end", "expected the end of the document"},
    {"depth limit", "nested too deeply"},
    {"tab", "a tab is not allowed here; use spaces"},
};

/* Where a line starts, or `end` if there is none. */
static const char *line_start(const char *text, const char *end, int line)
{
    for (; line > 1 && text < end; line--) {
        const char *feed = memchr(text, '\n', (size_t)(end - text));
        text = feed ? feed + 1 : end;
    }
    return text;
}

/* A tab in the indentation of line `first` or the next is what the user got wrong, whatever
 * libfyaml made of it. Returns its line, or 0. */
static int indent_tab(const char *text, const char *end, int first, int *column)
{
    const char *start = line_start(text, end, first);
    for (int line = first; line <= first + 1; line++) {
        const char *p = start;
        while (p < end && *p == ' ') p++;
        if (p < end && *p == '\t') {
            *column = (int)(p - start) + 1;
            return line;
        }
        start = line_start(start, end, 2);
    }
    return 0;
}

static BrioStatus syntax_error(BrioBuild *build, const char *text, size_t size,
                               struct fy_diag *diag)
{
    void *iterator = NULL;
    struct fy_diag_error *found = fy_diag_errors_iterate(diag, &iterator);
    if (!found || !found->msg) return brio__build_error(build, 0, 0, "not valid YAML");
    int line = BRIO_MAX(found->line, 1), column = BRIO_MAX(found->column, 1), tab_column = 0;
    int tab_line = indent_tab(text, text + size, line, &tab_column);
    if (tab_line > 0)
        return brio__build_error(build, tab_line, tab_column,
                                 "a tab is used for indentation; use spaces");
    const BrioNode *open = build->depth > 0 ? build->open[build->depth - 1] : NULL;
    const char *rest = line_start(text, text + size, line);
    bool at_end = !rest[strspn(rest, " \t\n")];
    if (open && (strstr(found->msg, "without a closing") ||
                 (at_end && strstr(found->msg, "missing comma"))))
        return brio__build_error(build, open->line, open->column, "this %s has no closing \"%s\"",
                                 open->kind == BRIO_NODE_LIST ? "list" : "map",
                                 open->kind == BRIO_NODE_LIST ? "]" : "}");
    /* to the quote itself */
    if (strstr(found->msg, "without closing quote") && column > 1) column--;
    for (size_t i = 0; i < BRIO_COUNT(plain_words); i++)
        if (strstr(found->msg, plain_words[i][0]))
            return brio__build_error(build, line, column, "%s", plain_words[i][1]);
    return brio__build_error(build, line, column, "not valid YAML: %s", found->msg);
}

static BrioStatus scalar(BrioBuild *build, struct fy_event *event, int line, int column)
{
    size_t length = 0;
    const char *text = event->scalar.value ? fy_token_get_text(event->scalar.value, &length) : "";
    if (!text) return BRIO_ERROR_MEMORY;
    enum fy_scalar_style style =
        event->scalar.value ? fy_token_scalar_style(event->scalar.value) : FYSS_PLAIN;
    bool in_quotes = style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED;
    if (in_quotes && column > 1) column--; /* libfyaml's place is behind the quote */
    if (brio__build_wants_key(build)) {
        if (!in_quotes && length == 2 && !memcmp(text, "<<", 2))
            return brio__build_error(build, line, column,
                                     "merge keys (<<) are not supported; write the keys out");
        return brio__build_key(build, text, length, line, column);
    }
    return brio__build_scalar(build, text, length, style != FYSS_PLAIN, line, column);
}

static BrioStatus take_event(BrioBuild *build, struct fy_event *event, int *documents)
{
    const struct fy_mark *mark = fy_event_start_mark(event);
    int line = mark ? mark->line + 1 : 0, column = mark ? mark->column + 1 : 0;
    bool starts = event->type == FYET_SCALAR || event->type == FYET_SEQUENCE_START ||
                  event->type == FYET_MAPPING_START;
    struct fy_token *anchor = starts ? fy_event_get_anchor_token(event) : NULL;
    struct fy_token *tag = starts ? fy_event_get_tag_token(event) : NULL;
    const struct fy_mark *sign = anchor || tag ? fy_token_start_mark(anchor ? anchor : tag) : NULL;
    if (sign) line = sign->line + 1, column = BRIO_MAX(sign->column + (anchor ? 0 : 1), 1);
    if (anchor)
        return brio__build_error(build, line, column,
                                 "anchors (&) are not supported; write the value where it is used");
    if (tag)
        return brio__build_error(build, line, column,
                                 "tags (!) are not supported; write the value alone");
    if (event->type != FYET_SCALAR && starts && brio__build_wants_key(build))
        return brio__build_error(build, line, column,
                                 "a key must be plain text, not a list or a map");
    switch (event->type) {
    case FYET_DOCUMENT_START:
        if (++*documents > 1)
            return brio__build_error(build, line, column,
                                     "a second document starts here; only one is allowed");
        return BRIO_OK;
    case FYET_ALIAS:
        if (column > 1) column--; /* libfyaml's place is behind the star */
        return brio__build_error(build, line, column,
                                 "aliases (*) are not supported; write the value out");
    case FYET_SCALAR: return scalar(build, event, line, column);
    case FYET_SEQUENCE_START: return brio__build_open(build, BRIO_NODE_LIST, line, column);
    case FYET_MAPPING_START: return brio__build_open(build, BRIO_NODE_MAP, line, column);
    case FYET_SEQUENCE_END:
    case FYET_MAPPING_END: return brio__build_close(build);
    default: return BRIO_OK;
    }
}

BrioStatus brio__yaml_parse(BrioBuild *build, const char *text, size_t size)
{
    struct fy_diag_cfg quiet;
    fy_diag_cfg_default(&quiet);
    quiet.fp = NULL;
    quiet.output_fn = swallow;
    quiet.colorize = false;
    struct fy_diag *diag = fy_diag_create(&quiet);
    if (!diag) return BRIO_ERROR_MEMORY;
    fy_diag_set_collect_errors(diag, true);
    struct fy_parse_cfg configuration = {.flags = FYPCF_QUIET | FYPCF_DEFAULT_VERSION_1_2 |
                                                  FYPCF_JSON_NONE | FYPCF_DISABLE_MMAP_OPT,
                                         .diag = diag};
    struct fy_parser *parser = fy_parser_create(&configuration);
    if (!parser) {
        fy_diag_destroy(diag);
        return BRIO_ERROR_MEMORY;
    }

    /* libfyaml 0.7 reads through NULL if the next call cannot allocate. So memory is asked for
     * first, and given back right before. */
    void *reserve = malloc(RESERVE);
    BrioStatus status = reserve ? BRIO_OK : BRIO_ERROR_MEMORY;
    free(reserve);
    if (status == BRIO_OK && fy_parser_set_string(parser, text, size)) status = BRIO_ERROR_MEMORY;
    bool ended = false;
    int documents = 0;
    while (status == BRIO_OK && !ended) {
        struct fy_event *event = fy_parser_parse(parser);
        if (!event) {
            status = syntax_error(build, text, size, diag);
            break;
        }
        ended = event->type == FYET_STREAM_END;
        status = take_event(build, event, &documents);
        fy_parser_event_free(parser, event);
    }
    fy_parser_destroy(parser);
    fy_diag_destroy(diag);
    return status;
}

#endif
