/* brio cite: the publication behind an integrator, an energy or a solver. */
#include "bibtex.h"
#include "commands.h"
#include "reference.h"

#include "internal.h"

#include <string.h>

enum { JSON, BIBTEX };

/* The key that a name stands for; it may be a key itself. Collects the names on the way. */
static const char *find_key(const char *name, const char **names, int max, int *count)
{
    static const char *const cited[] = {"integrators", "energies", "laws", "solvers"};
    const char *key = strcmp(name, "brio") ? NULL : "Brio2026";
    Entry e;
    *count = 0;
    for (int f = 0; family_at(f); f++)
        for (size_t c = 0; c < BRIO_COUNT(cited); c++)
            for (int i = 0; !strcmp(family_at(f)->name, cited[c]) && family_at(f)->at(i, &e); i++) {
                if (!e.citation) continue;
                if (!strcmp(e.name, name)) key = e.citation;
                if (*count < max) names[(*count)++] = e.name;
            }
    for (int i = 0; brio__citation_at(i); i++) {
        if (!strcmp(brio__citation_at(i), name)) key = brio__citation_at(i);
        if (*count < max) names[(*count)++] = brio__citation_at(i);
    }
    return key;
}

static void list_all(int form)
{
    BrioJson out = {.file = stdout};
    if (form == JSON) brio__json_open(&out, NULL, '{');
    for (int i = 0; brio__citation_at(i); i++) {
        const char *key = brio__citation_at(i), *text = brio__citation(key);
        if (form == JSON)
            brio__json_text(&out, key, text);
        else if (form == BIBTEX)
            bibtex_print(stdout, key, text);
        else
            printf("%-14s %.90s...\n", key, text);
    }
    if (form == JSON) brio__json_close(&out, '}');
}

static void print_one(const char *name, const char *key, int form)
{
    const char *text = brio__citation(key) ? brio__citation(key) : "";
    if (form == JSON) {
        BrioJson out = {.file = stdout};
        brio__json_open(&out, NULL, '{');
        brio__json_text(&out, "name", name);
        brio__json_text(&out, "key", key);
        brio__json_text(&out, "text", text);
        brio__json_close(&out, '}');
    } else if (form == BIBTEX) {
        bibtex_print(stdout, key, text);
    } else {
        printf("[%s] %s\n", key, text);
    }
}

static int run(int argc, char **argv)
{
    Arguments a = {.command = &command_cite, .argc = argc, .argv = argv, .at = 1};
    const char *name = NULL, *names[256];
    int option, count, form = -1;
    while ((option = argument_next(&a)) != ARGUMENT_END) {
        if (option == JSON || option == BIBTEX)
            form = option;
        else if (option == ARGUMENT_WORD && !name)
            name = a.value;
        else
            return option == ARGUMENT_WORD
                       ? usage_error(a.command, "one name at a time: \"%s\" and \"%s\"", name,
                                     a.value)
                       : a.exit;
    }
    if (!name) {
        list_all(form);
        return EXIT_DONE;
    }
    const char *key = find_key(name, names, BRIO_COUNT(names), &count);
    if (!key) return unknown_name(a.command, "citation for", name, names, count);
    print_one(name, key, form);
    return EXIT_DONE;
}

static const Option options[] = {[JSON] = {"--json", 0, NULL, "As JSON."},
                                 [BIBTEX] = {"--bibtex", 0, NULL, "As BibTeX entries."},
                                 {0}};

const Command command_cite = {
    .name = "cite",
    .summary = "Print the publication of an integrator, an energy or a solver.",
    .synopsis = "[NAME] [--json | --bibtex]",
    .about = "NAME is an integrator, an energy, a material, a linear solver, a key such as "
             "Smith2018, or brio itself. Without a name: all keys.",
    .options = options,
    .examples = "brio cite neo-hookean\nbrio cite implicit-midpoint --bibtex\nbrio cite brio",
    .run = run,
};
