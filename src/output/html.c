/* Styles and elements of a page in one file. */
#include "html.h"

#include <stdarg.h>
#include <string.h>

/* Pictures have a white ground of their own; tables wider than the page scroll by themselves. */
static const char style[] =
    ":root { color-scheme: light dark; --ground: #ffffff; --ink: #1d1f23; --faint: #62666d; "
    "--line: #d9dce1; --band: #f4f5f7; --bad: #b3261e; }\n"
    "@media (prefers-color-scheme: dark) { :root { --ground: #16181c; --ink: #e4e6ea; --faint: "
    "#9a9fa8; --line: #363a41; --band: #1f2227; --bad: #ff8a80; } }\n"
    "body { margin: 0 auto; padding: 1.5rem; max-width: 84rem; background: var(--ground); color: "
    "var(--ink); font: 16px/1.5 system-ui, sans-serif; }\n"
    "h1 { font-size: 1.6rem; margin: 0 0 0.5rem; } h2 { font-size: 1.2rem; margin: 2rem 0 0.5rem; "
    "}\n"
    "p, li { max-width: 60rem; } .note { color: var(--faint); font-size: 0.875rem; }\n"
    ".scroll { overflow-x: auto; }\n"
    "table { border-collapse: collapse; font-size: 0.8125rem; font-variant-numeric: tabular-nums; "
    "}\n"
    "th, td { padding: 0.3rem 0.45rem; text-align: right; white-space: nowrap; border-bottom: 1px "
    "solid var(--line); vertical-align: top; }\n"
    "th { font-weight: 600; border-bottom-width: 2px; } th small { display: block; color: "
    "var(--faint); font-weight: 400; }\n"
    "td.words, th.words { text-align: left; } td.long { white-space: normal; min-width: 12rem; } "
    ".bad { color: var(--bad); }\n"
    "tbody tr:nth-child(even) { background: var(--band); }\n"
    ".figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(30rem, 100%), "
    "1fr)); gap: 1rem; align-items: start; }\n"
    "figure { margin: 0; } figure svg { max-width: 100%; height: auto; border: 1px solid "
    "var(--line); border-radius: 4px; }\n"
    "pre { padding: 0.8rem 1rem; overflow-x: auto; background: var(--band); border: 1px solid "
    "var(--line); border-radius: 4px; font-size: 0.8125rem; }\n"
    "code { font-family: ui-monospace, monospace; }\n"
    ".verdict { border-left: 4px solid #3f7fae; padding: 0.1rem 0 0.1rem 0.9rem; } .verdict.bad { "
    "border-color: var(--bad); color: var(--ink); background: #b3261e14; border-radius: 0 6px 6px "
    "0; "
    "padding: 0.6rem 0.9rem; max-width: 60rem; }\n"
    ".verdict.bad strong { color: var(--bad); font-size: 1.25rem; } p.verdict.bad strong { "
    "font-size: inherit; } .verdict p, .verdict ul { margin: 0; } .verdict ul { padding-left: "
    "1.2rem; "
    "}\n"
    "td.bad { font-weight: 600; }\n"
    ".bar { display: inline-block; height: 0.7em; background: #3f7fae; border-radius: 2px; } "
    "caption { text-align: left; padding: 0.2rem 0; } summary { cursor: pointer; }\n"
    "@page { margin: 14mm; }\n"
    "@media print { :root { color-scheme: light; --ground: #ffffff; --ink: #1d1f23; --faint: "
    "#55595f; "
    "--line: #d9dce1; --band: #f4f5f7; --bad: #b3261e; } body { max-width: none; padding: 0; "
    "font-size: 10pt; } h1 { font-size: 18pt; } h2 { font-size: 13pt; break-after: avoid; } .note "
    "{ "
    "font-size: 8.5pt; } .figures { grid-template-columns: 1fr 1fr; gap: 4mm; } .scroll { "
    "overflow: "
    "visible; } table { font-size: 7pt; } th, td { padding: 0.1rem 0.25rem; } td.long { min-width: "
    "0; } thead { display: table-header-group; } figure, table, tr, .verdict { break-inside: "
    "avoid; } pre "
    "{ "
    "white-space: pre-wrap; font-size: 7.5pt; } }\n";

void brio__html_text(FILE *file, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&': fputs("&amp;", file); break;
        case '<': fputs("&lt;", file); break;
        case '>': fputs("&gt;", file); break;
        case '"': fputs("&quot;", file); break;
        default: fputc(*text, file);
        }
    }
}

void brio__html_element(FILE *file, const char *tag, const char *format, ...)
{
    char text[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    fprintf(file, "<%s>", tag);
    brio__html_text(file, text);
    fprintf(file, "</%.*s>\n", (int)strcspn(tag, " "), tag);
}

void brio__html_begin(FILE *file, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
          file);
    brio__html_text(file, title);
    fprintf(file, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", style);
}

void brio__html_end(FILE *file) { fputs("</body>\n</html>\n", file); }
