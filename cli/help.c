/* brio help: the commands, one command, the scene reference. */
#include "commands.h"
#include "reference.h"

#include <string.h>

enum { COLUMNS = 100 };

/* The first line continues one that has `indent` columns already. */
static void print_hanging(FILE *file, const char *text, int indent)
{
    int take = (int)strlen(text), room = COLUMNS + 10 - indent;
    if (take > room) {
        take = room;
        while (take > 0 && text[take] != ' ') take--;
    }
    fprintf(file, "%.*s\n", take, text);
    if (text[take]) print_wrapped(file, text + take + 1, indent, COLUMNS + 10);
}

void print_help(const Command *c, FILE *file)
{
    fprintf(file, "brio %s: %s\n\n", c->name, c->summary);
    char before[64];
    snprintf(before, sizeof before, "    brio %s ", c->name);
    print_lines(file, before, c->synopsis);
    fputc('\n', file);
    print_wrapped(file, c->about, 0, COLUMNS);
    if (c->options && c->options[0].name) fputs("\nOptions\n", file);
    for (const Option *o = c->options; o && o->name; o++) {
        char left[64], brief[8] = "    ";
        if (!o->summary) continue;
        if (o->letter) snprintf(brief, sizeof brief, "-%c, ", o->letter);
        snprintf(left, sizeof left, "%s%s%s%s", brief, o->name, o->value ? " " : "",
                 o->value ? o->value : "");
        fprintf(file, "  %-26s  ", left);
        print_hanging(file, o->summary, 30);
    }
    fputs("\nExamples\n", file);
    print_wrapped(file, c->examples, 4, 1000);
}

/* docs/commands.md */
static void print_commands(FILE *file)
{
    fputs("# The commands\n"
          "\n"
          "<!-- Written by `brio help commands --markdown`: change the tables in cli/, not this "
          "file. -->\n"
          "\n"
          "Exit codes: 0: done. 1: the run or check failed; the message has what and where. 2: "
          "bad input or usage. Results go to the standard output, messages to the standard "
          "error.\n"
          "\n"
          "| command | |\n"
          "|---|---|\n",
          file);
    for (int i = 0; command_at(i); i++)
        fprintf(file, "| [%s](#brio-%s) | %s |\n", command_at(i)->name, command_at(i)->name,
                command_at(i)->summary);
    for (int i = 0; command_at(i); i++) {
        const Command *c = command_at(i);
        char before[64];
        snprintf(before, sizeof before, "brio %s ", c->name);
        fprintf(file, "\n## brio %s\n\n%s\n\n```text\n", c->name, c->summary);
        print_lines(file, before, c->synopsis);
        fprintf(file, "```\n\n%s\n", c->about);
        if (c->options && c->options[0].name) fputs("\n| option | |\n|---|---|\n", file);
        for (const Option *o = c->options; o && o->name; o++) {
            char brief[8] = "";
            if (o->letter) snprintf(brief, sizeof brief, "-%c, ", o->letter);
            if (o->summary)
                fprintf(file, "| `%s%s%s%s` | %s |\n", brief, o->name, o->value ? " " : "",
                        o->value ? o->value : "", o->summary);
        }
        fputs("\n```text\n", file);
        print_lines(file, "", c->examples);
        fputs("```\n", file);
    }
}

static void overview(void)
{
    printf("brio %s: simulation of soft bodies, cloth and contact.\n\n", brio_version());
    for (int i = 0; command_at(i); i++)
        printf("  brio %-10s %s\n", command_at(i)->name, command_at(i)->summary);
    puts("\n"
         "Start with `brio run demo`. `brio help run` explains a command, `brio help scene` the "
         "scene file,\n"
         "`brio help contact` one of its keys, `brio help a-search` a method. "
         "`brio --version` says what this build can do.");
}

/* ---- the manual page -------------------------------------------------------------------- */

static void man_text(const char *text)
{
    bool start = true;
    for (; *text; text++) {
        if (start && (*text == '.' || *text == '\'')) fputs("\\&", stdout);
        start = *text == '\n';
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else if (*text == '\n')
            fputs("\n.PP\n", stdout);
        else
            putchar(*text);
    }
}

static void man_lines(const char *before, const char *text)
{
    while (*text) {
        char line[512];
        int length = (int)strcspn(text, "\n");
        snprintf(line, sizeof line, "%s%.*s", before, length, text);
        man_text(line);
        puts("\n.br");
        text += length + (text[length] == '\n');
    }
}

static void man_page(void)
{
    printf(".TH BRIO 1 \"\" \"brio %s\" \"User Commands\"\n.SH NAME\nbrio \\- simulate soft "
           "bodies, cloth and contact\n.SH SYNOPSIS\n.nf\n",
           brio_version());
    for (int i = 0; command_at(i); i++) {
        char before[64];
        snprintf(before, sizeof before, "brio %s ", command_at(i)->name);
        man_lines(before, command_at(i)->synopsis);
    }
    puts(".fi\n.SH DESCRIPTION\nbrio simulates deformable bodies. Scenes are text files; `brio "
         "help scene` is their reference, and `brio run demo` a start.\n.SH COMMANDS");
    for (int i = 0; command_at(i); i++) {
        const Command *c = command_at(i);
        printf(".SS brio %s\n", c->name);
        man_text(c->summary);
        puts("\n.PP");
        man_text(c->about);
        putchar('\n');
        for (const Option *o = c->options; o && o->name; o++) {
            char left[128];
            if (!o->summary) continue;
            snprintf(left, sizeof left, "%s%s%s", o->name, o->value ? " " : "",
                     o->value ? o->value : "");
            puts(".TP");
            if (o->letter) printf("\\fB\\-%c\\fR, ", o->letter);
            fputs("\\fB", stdout);
            man_text(left);
            fputs("\\fR\n", stdout);
            man_text(o->summary);
            putchar('\n');
        }
        puts(".PP\nExamples:\n.PP\n.RS\n.nf");
        man_lines("", c->examples);
        puts(".fi\n.RE");
    }
    puts(".SH EXIT STATUS\n0: done. 1: the run or check failed or was stopped. 2: bad input or "
         "usage; nothing was written.\n"
         ".SH ENVIRONMENT\n"
         ".TP\n\\fBBRIO_ISA\\fR\nThe instruction set to use: baseline, avx2 or avx512.\n"
         ".TP\n\\fBBRIO_MEMORY_LIMIT\\fR\nBytes of memory that brio assumes to have.\n"
         ".TP\n\\fBOPENBLAS_CORETYPE\\fR\nThe kernels of OpenBLAS, which linear: cholesky uses; "
         "without it brio names those that fit the processor.");
}

enum { MARKDOWN, MAN };

static int run(int argc, char **argv)
{
    Arguments a = {.command = &command_help, .argc = argc, .argv = argv, .at = 1};
    const char *name = NULL;
    bool markdown = false, man = false;
    int option;
    while ((option = argument_next(&a)) != ARGUMENT_END) {
        if (option == MARKDOWN)
            markdown = true;
        else if (option == MAN)
            man = true;
        else if (option == ARGUMENT_WORD && !name)
            name = a.value;
        else
            return option == ARGUMENT_WORD ? usage_error(a.command, "one command at a time")
                                           : a.exit;
    }
    if (man) {
        man_page();
        return EXIT_DONE;
    }
    if (!name) {
        overview();
        return EXIT_DONE;
    }
    if (!strcmp(name, "scene")) {
        print_reference(stdout, markdown);
        return EXIT_DONE;
    }
    if (!strcmp(name, "commands")) {
        if (markdown) print_commands(stdout);
        for (int i = 0; command_at(i) && !markdown; i++) {
            if (i) puts("");
            print_help(command_at(i), stdout);
        }
        return EXIT_DONE;
    }
    const Command *command = command_find(name);
    if (!command && print_topic(stdout, name)) return EXIT_DONE;
    if (!command) {
        const char *names[64], *topic = nearest_topic(name);
        int count = command_names(names, BRIO_COUNT(names) - 2);
        names[count++] = "scene";
        names[count++] = "commands";
        if (topic && !brio__nearest(name, names, count))
            return unknown_name(a.command, "key or method", name, &topic, 1);
        return unknown_name(a.command, "command", name, names, count);
    }
    print_help(command, stdout);
    return EXIT_DONE;
}

static const Option options[] = {
    [MARKDOWN] = {"--markdown", 0, NULL, "As Markdown (docs/scene.md, docs/commands.md)."},
    [MAN] = {"--man", 0, NULL, "All commands as a manual page (`man brio`)."},
    {0}};

const Command command_help = {
    .name = "help",
    .summary = "Explain a command or the scene file.",
    .synopsis = "[COMMAND|NAME]\nscene|commands [--markdown]\n--man",
    .about = "Without a name: lists all commands. `scene` is the reference of the scene file: "
             "every key with its type, default and meaning, and the parameters of shapes, "
             "materials, damping models, integrators and solvers. `commands` is the help of all "
             "commands. NAME is a key of the scene file (`contact`, `dhat`, `solver.tol`), or an "
             "integrator, a material, a shape and so on: brio prints its part of the reference.",
    .options = options,
    .examples =
        "brio help run\nbrio help scene\nbrio help contact\nbrio help dhat\nbrio help a-search",
    .run = run,
    .word = command_name_at,
};
