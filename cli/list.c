/* brio list: integrators, materials, shapes and other choices, with parameters. */
#include "commands.h"
#include "reference.h"

#include <string.h>

static void print_fields(const BrioField *fields)
{
    for (const BrioField *f = fields; f && f->name; f++) {
        FieldText t = field_text(f);
        BrioWord unit = brio__field_unit(f);
        printf("    %-12s %s%s%s%s%s [%s]  %s\n", f->name, t.type, unit.text[0] ? ", " : "",
               unit.text, t.range[0] ? "; " : "", t.range, t.standard, f->summary);
    }
}

static void print_keys(const BrioKey *keys)
{
    for (const BrioKey *k = keys; k && k->field.name; k++) {
        KeyText t = key_text(k);
        printf("    %-15s %s%s%s%s  %s\n", k->field.name, t.takes, t.initial[0] ? " [" : "",
               t.initial, t.initial[0] ? "]" : "", k->field.summary);
    }
}

static void list_text(const Family *family, bool verbose)
{
    Entry e;
    int i = 0;
    for (; family->at(i, &e); i++) {
        printf("%-27s %s\n", e.name, e.summary);
        if (!verbose) continue;
        if (e.note || e.citation)
            printf("    %s%s%s%s\n", e.note ? e.note : "", e.citation ? " [" : "",
                   e.citation ? e.citation : "", e.citation ? "]" : "");
        print_fields(e.fields);
        print_keys(e.keys);
    }
    if (i == 0) puts(family->empty);
}

/* The table of README.md. */
static void list_markdown(const Family *family)
{
    Entry e;
    puts("| name | properties | |\n|---|---|---|");
    for (int i = 0; family->at(i, &e); i++)
        printf("| `%s` | %s | %s |\n", e.name, e.note ? e.note : "", e.summary);
}

/* The lists themselves. */
static void all_json(void)
{
    BrioJson json = {.file = stdout};
    brio__json_open(&json, NULL, '[');
    for (int i = 0; family_at(i); i++) {
        brio__json_open(&json, NULL, '{');
        brio__json_text(&json, "name", family_at(i)->name);
        brio__json_text(&json, "where", family_at(i)->where);
        brio__json_close(&json, '}');
    }
    brio__json_close(&json, ']');
}

enum { JSON, MARKDOWN, VERBOSE, PLUGIN };

static int run(int argc, char **argv)
{
    Arguments a = {.command = &command_list, .argc = argc, .argv = argv, .at = 1};
    const char *name = NULL, *names[32];
    const Family *family = NULL;
    bool json = false, markdown = false, verbose = false;
    int option, count = 0;
    while ((option = argument_next(&a)) != ARGUMENT_END) {
        if (option == JSON)
            json = true;
        else if (option == MARKDOWN)
            markdown = true;
        else if (option == VERBOSE)
            verbose = true;
        else if (option == ARGUMENT_WORD && !name)
            name = a.value;
        else
            return option == ARGUMENT_WORD
                       ? usage_error(a.command, "one list at a time: \"%s\" and \"%s\"", name,
                                     a.value)
                       : a.exit;
    }
    for (; count < (int)BRIO_COUNT(names) && family_at(count); count++) {
        names[count] = family_at(count)->name;
        if (name && !strcmp(name, names[count])) family = family_at(count);
    }
    if (name && !family) return unknown_name(a.command, "list", name, names, count);
    if (!family && json) {
        all_json();
        return EXIT_DONE;
    }
    if (!family) {
        for (int i = 0; i < count; i++) printf("%-12s %s\n", names[i], family_at(i)->where);
        return EXIT_DONE;
    }
    if (json)
        family_json(stdout, family);
    else if (markdown)
        list_markdown(family);
    else
        list_text(family, verbose);
    return EXIT_DONE;
}

static const Option options[] = {
    [JSON] = {"--json", 0, NULL, "As JSON, with all parameters: name, unit, default, range."},
    [MARKDOWN] = {"--markdown", 0, NULL, "As a table in Markdown."},
    [VERBOSE] = {"--verbose", 'v', NULL, "With parameters and citations."},
    [PLUGIN] = OPTION_PLUGIN,
    {0}};

const Command command_list = {
    .name = "list",
    .summary = "List integrators, materials, shapes, scenes and more.",
    .synopsis = "integrators|energies|materials|presets|laws|obstacles|damping|forces|constraints|"
                "solvers|shapes|"
                "scenes|frames|meshes|keys [--verbose | --json | --markdown]",
    .about = "Without a name: shows all lists, and the scene key that each belongs to.",
    .options = options,
    .examples = "brio list integrators\nbrio list materials --json",
    .run = run,
};
