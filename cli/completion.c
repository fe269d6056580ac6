/* brio completion: scripts that complete commands, options and names in a shell, from the tables of
 * the commands. */
#include "commands.h"
#include "reference.h"

#include <ctype.h>
#include <string.h>

/* the last with commas between them */
typedef enum Values {
    VALUES_NONE,
    VALUES_FILES,
    VALUES_FOLDERS,
    VALUES_INTEGRATOR,
    VALUES_INTEGRATORS
} Values;

/* What follows an option. */
static Values values_of(const Option *option)
{
    if (!strcmp(option->name, "--integrator")) return VALUES_INTEGRATOR;
    if (!strcmp(option->name, "--integrators")) return VALUES_INTEGRATORS;
    if (!strncmp(option->value, "FOLDER", 6)) return VALUES_FOLDERS;
    return !strncmp(option->value, "FILE", 4) ? VALUES_FILES : VALUES_NONE;
}

/* What stands without an option, by the first word of the synopsis: a scene, a folder of results,
 * or one of the words that it lists. */
static Values places_of(const Command *c)
{
    const char *s = c->synopsis;
    if (!strncmp(s, "SCENE", 5)) return VALUES_FILES;
    return !strncmp(s, "RUN", 3) ? VALUES_FOLDERS : VALUES_NONE;
}

static void print_family(const char *name)
{
    Entry e;
    for (int k = 0; family_at(k); k++)
        for (int i = 0; !strcmp(family_at(k)->name, name) && family_at(k)->at(i, &e); i++)
            printf("%s ", e.name);
}

static void print_words(const Command *c)
{
    if (places_of(c) == VALUES_FILES) print_family("scenes");
    for (int i = 0; c->word && c->word(i); i++) printf("%s ", c->word(i));
    for (const char *line = c->synopsis; line;
         line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        /* "bash|zsh|fish" */
        for (const char *word = line + (*line == '['); islower((unsigned char)*word);) {
            int length = (int)strcspn(word, "| ]\n");
            printf("%.*s ", length, word);
            word += length + (word[length] == '|');
        }
}

/* Text within single quotes; of zsh, with colons and brackets escaped. */
static void print_quoted(const char *text, bool zsh)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (zsh && strchr("[]:\\", *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void bash(void)
{
    puts("# Completion of brio for bash: source it, or put it into "
         "/usr/share/bash-completion/completions/brio.\n"
         "_brio()\n{\n"
         "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} "
         "options= words= files= before=\n"
         "    COMPREPLY=()\n"
         "    if [ \"$COMP_CWORD\" -eq 1 ]; then");
    printf("        mapfile -t COMPREPLY < <(compgen -W '--help --version ");
    for (int i = 0; command_at(i); i++) printf("%s ", command_at(i)->name);
    puts("' -- \"$current\")\n        return\n    fi\n"
         "    case ${COMP_WORDS[1]}:$previous in");
    for (int i = 0; command_at(i); i++)
        for (const Option *o = command_at(i)->options; o && o->name; o++) {
            static const char *const found[] = {
                [VALUES_NONE] = "",
                [VALUES_FILES] = "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < "
                                 "<(compgen -f -- \"$current\");",
                [VALUES_FOLDERS] = "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < "
                                   "<(compgen -d -- \"$current\");",
                [VALUES_INTEGRATOR] = "mapfile -t COMPREPLY < <(compgen -W '",
                [VALUES_INTEGRATORS] =
                    "compopt -o nospace 2>/dev/null; before=${current%\"${current##*,}\"}; mapfile "
                    "-t COMPREPLY < <(compgen -P \"$before\" -W '"};
            if (!o->value) continue;
            printf("    %s:%s", command_at(i)->name, o->name);
            if (o->letter) printf(" | %s:-%c", command_at(i)->name, o->letter);
            printf(") %s", found[values_of(o)]);
            if (values_of(o) >= VALUES_INTEGRATOR) {
                print_family("integrators");
                printf("' -- \"${current##*,}\");");
            }
            puts(" return ;;");
        }
    puts("    esac\n    case ${COMP_WORDS[1]} in");
    for (int i = 0; command_at(i); i++) {
        const Command *c = command_at(i);
        printf("    %s) words='", c->name);
        print_words(c);
        printf("' files=%s options='--help ", places_of(c) == VALUES_FILES     ? "-f"
                                              : places_of(c) == VALUES_FOLDERS ? "-d"
                                                                               : "");
        for (const Option *o = c->options; o && o->name; o++)
            if (o->summary) printf("%s ", o->name);
        puts("' ;;");
    }
    puts("    esac\n"
         "    case $current in\n"
         "    -*) mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\") ;;\n"
         "    *)\n"
         "        [ -n \"$files\" ] && compopt -o filenames 2>/dev/null\n"
         "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\"; [ -n \"$files\" "
         "] && compgen $files -- \"$current\")\n"
         "        ;;\n"
         "    esac\n}\n"
         "complete -F _brio brio");
}

static void zsh(void)
{
    static const char *const action[] = {
        [VALUES_NONE] = "", [VALUES_FILES] = "_files", [VALUES_FOLDERS] = "_files -/"};
    puts("#compdef brio\n# Completion of brio for zsh: a file _brio in a folder of "
         "$fpath.\n_brio()\n{\n    local -a commands\n    commands=(");
    for (int i = 0; command_at(i); i++) {
        printf("        '%s:", command_at(i)->name);
        print_quoted(command_at(i)->summary, true);
        puts("'");
    }
    puts("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        "
         "return\n    fi\n    shift words\n    (( CURRENT-- ))\n    case $words[1] in");
    for (int i = 0; command_at(i); i++) {
        const Command *c = command_at(i);
        printf("    %s)\n        _arguments \\\n", c->name);
        for (const Option *o = c->options; o && o->name; o++) {
            if (!o->summary) continue;
            if (o->letter)
                printf("            '*'{-%c,%s}'[", o->letter, o->name);
            else
                printf("            '*%s[", o->name);
            print_quoted(o->summary, true);
            printf("]");
            if (o->value) {
                printf(":");
                print_quoted(o->value, true);
                printf(":");
                if (values_of(o) >= VALUES_INTEGRATOR) {
                    printf(values_of(o) == VALUES_INTEGRATORS ? "_values -s , integrator " : "(");
                    print_family("integrators");
                    if (values_of(o) == VALUES_INTEGRATOR) printf(")");
                } else {
                    printf("%s", action[values_of(o)]);
                }
            }
            puts("' \\");
        }
        printf("            '*: : _alternative \"words:name:(");
        print_words(c);
        printf(")\"%s'\n        ;;\n", places_of(c) == VALUES_FILES ? " \"files:file:_files\""
                                       : places_of(c) == VALUES_FOLDERS
                                           ? " \"folders:folder:_files -/\""
                                           : "");
    }
    puts("    esac\n}\n(( $+functions[compdef] )) && compdef _brio brio");
}

static void fish(void)
{
    puts("# Completion of brio for fish: a file brio.fish in ~/.config/fish/completions or "
         "/usr/share/fish/vendor_completions.d.\ncomplete -c brio -f");
    for (int i = 0; command_at(i); i++) {
        const Command *c = command_at(i);
        printf("complete -c brio -n __fish_use_subcommand -a %s -d '", c->name);
        print_quoted(c->summary, false);
        printf("'\ncomplete -c brio -n '__fish_seen_subcommand_from %s' -a '", c->name);
        print_words(c);
        puts("'");
        if (places_of(c) != VALUES_NONE)
            printf("complete -c brio -n '__fish_seen_subcommand_from %s' -%s\n", c->name,
                   places_of(c) == VALUES_FILES ? "F" : "a '(__fish_complete_directories)'");
        for (const Option *o = c->options; o && o->name; o++) {
            if (!o->summary) continue;
            printf("complete -c brio -n '__fish_seen_subcommand_from %s' -l %s", c->name,
                   o->name + 2);
            if (o->letter) printf(" -s %c", o->letter);
            if (o->value) {
                Values values = values_of(o);
                printf(values == VALUES_FILES ? " -r -F" : " -x");
                if (values == VALUES_FOLDERS) printf(" -a '(__fish_complete_directories)'");
                if (values >= VALUES_INTEGRATOR) {
                    printf(" -a '%s", values == VALUES_INTEGRATORS ? "(__fish_append , " : "");
                    print_family("integrators");
                    printf("%s'", values == VALUES_INTEGRATORS ? ")" : "");
                }
            }
            printf(" -d '");
            print_quoted(o->summary, false);
            puts("'");
        }
    }
}

static int run(int argc, char **argv)
{
    static const char *const names[] = {"bash", "zsh", "fish"};
    static void (*const write[])(void) = {bash, zsh, fish};
    Arguments a = {.command = &command_completion, .argc = argc, .argv = argv, .at = 1};
    const char *shell = NULL;
    int option;
    while ((option = argument_next(&a)) != ARGUMENT_END) {
        if (option != ARGUMENT_WORD) return a.exit;
        if (shell)
            return usage_error(a.command, "one shell at a time: \"%s\" and \"%s\"", shell, a.value);
        shell = a.value;
    }
    if (!shell) return usage_error(a.command, "for which shell? bash, zsh or fish");
    for (int i = 0; i < (int)BRIO_COUNT(names); i++)
        if (!strcmp(shell, names[i])) {
            write[i]();
            return EXIT_DONE;
        }
    return unknown_name(a.command, "shell", shell, names, BRIO_COUNT(names));
}

const Command command_completion = {
    .name = "completion",
    .summary = "Print a script that completes commands, options and names in a shell.",
    .synopsis = "bash|zsh|fish",
    .about = "Prints a script for the shell. With it the Tab key completes commands, options, "
             "scenes and integrators. `make install` installs all three. Without it: for bash, "
             "put the line of the example into ~/.bashrc; for fish, write the output to "
             "~/.config/fish/completions/brio.fish; for zsh, write it to a file _brio in a folder "
             "of $fpath. (fish finds what is installed under /usr, and under /usr/local where "
             "XDG_DATA_DIRS names /usr/local/share; bash needs Debian's package bash-completion "
             "for both.)",
    .examples = "source <(brio completion bash)\nbrio completion fish > "
                "~/.config/fish/completions/brio.fish",
    .run = run,
};
