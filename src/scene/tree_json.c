/* A tree as JSON, with fractions as numbers. */
#include "node.h"

#include "../number.h"

#include <ctype.h>

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

/* What our numbers allow and JSON does not: a plus, leading zeros, no digit on one side of the
 * point, a slash. */
static bool is_json_number(const char *text)
{
    const char *p = text + (*text == '-');
    const char *whole = brio__skip_digits(p);
    if (whole == p || (*p == '0' && whole > p + 1)) return false;
    if (*whole == '.' && !isdigit((unsigned char)whole[1])) return false;
    const char *end = brio__decimal_end(p);
    return end && !*end;
}

static void write_scalar(const BrioNode *node, FILE *file)
{
    bool flag;
    double number;
    if (node->quoted)
        write_string(node->text, file);
    else if (brio__node_is_nothing(node))
        fputs("null", file);
    else if (brio__node_is_boolean(node, &flag))
        fputs(flag ? "true" : "false", file);
    else if (brio__node_number(node->text, &number) != BRIO_NUMBER)
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
