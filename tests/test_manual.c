/* The manuals are true: every command that README.md and docs/ show is run, in the order of its page, and every scene that they print is checked.
 *
 * A page's commands are the lines of its ```console blocks that begin with "$ ". Its scenes are the ```yaml blocks that begin with "brio: 1", saved under the last
 * name `NAME.yaml` before them. A page begins in an empty folder in which brio and build/brio are the program. What makes the project itself (make) is left to those
 * who test that. */
#include "program.h"

#include "base.h"

static int commands, scenes, left_out;
static bool no_bunny; /* it cannot be had, or nothing fills it with tets */

static bool starts(const char *text, const char *with) { return !strncmp(text, with, strlen(with)); }

static bool has_program(const char *name)
{
    char line[256];
    snprintf(line, sizeof line, "command -v %s >/dev/null 2>&1", name);
    return system(line) == 0;
}

static void run_line(const char *page, int number, const char *line)
{
    if (starts(line, "npm install bunny")) {
        char command[256];
        snprintf(command, sizeof command, "%s >.log 2>&1 </dev/null", line);
        no_bunny = (!has_program("tetgen") && !has_program("gmsh")) || !has_program("npm") || system(command);
        if (!no_bunny) return;
    }
    if (no_bunny && strstr(line, "bunny")) {
        left_out++;
        return;
    }
    if (starts(line, "make ") || starts(line, "brio playground") || starts(line, "brio view") || (strstr(line, ".mp4") && !has_program("ffmpeg"))) {
        left_out++;
        return;
    }
    char command[2048];
    snprintf(command, sizeof command, "{ %s\n} >.log 2>&1 </dev/null", line);
    commands++;
    double before = brio__seconds();
    int status = system(command);
    double took = brio__seconds() - before;
    if (took > 2) print_message("%s:%d: $ %s: %.1f s\n", strrchr(page, '/') + 1, number, line, took);
    if (status == 0) return;
    char *log = read_all(".log", NULL);
    fail_msg("%s:%d: $ %s\n%s", page, number, line, log ? log : "");
}

/* The last `NAME.yaml` before `end`. */
static void scene_name(const char *page, const char *end, char *name, size_t size)
{
    snprintf(name, size, "scene.yaml");
    for (const char *found = page; (found = strstr(found, ".yaml`")) && found < end; found++) {
        const char *begin = found;
        while (begin > page && begin[-1] != '`') begin--;
        if (memchr(begin, '/', (size_t)(found - begin)) || memchr(begin, '\n', (size_t)(found - begin))) continue;
        snprintf(name, size, "%.*s.yaml", (int)(found - begin), begin);
    }
}

static void read_page(const char *file)
{
    char *page = read_all(file, NULL), name[64], block[65536] = "", folder[64];
    assert_non_null(page);
    static int pages;
    snprintf(folder, sizeof folder, "page-%d", pages++);
    assert_int_equal(mkdir(folder, 0777), 0);
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mkdir("build", 0777), 0);
    assert_int_equal(symlink(program(), "build/brio"), 0);
    enum { TEXT, CONSOLE, YAML, OTHER } kind = TEXT;
    int number = 0;
    for (char *line = page, *next; *line; line = next) {
        size_t length = strcspn(line, "\n");
        next = line + length + (line[length] == '\n');
        number++;
        char now[4096];
        snprintf(now, sizeof now, "%.*s", (int)length, line);
        if (starts(now, "```")) {
            if (kind == YAML && strstr(block, "integrator: leapfrog")) {
                left_out++; /* the integrator that its page writes: the test of the installed library builds and runs it */
            } else if (kind == YAML && starts(block, "brio: 1")) {
                char check[128];
                scene_name(page, line, name, sizeof name);
                write_text(name, block);
                snprintf(check, sizeof check, "brio check %s", name);
                run_line(file, number, check);
                commands--;
                scenes++;
            }
            kind = kind != TEXT ? TEXT : !strcmp(now, "```console") ? CONSOLE : !strcmp(now, "```yaml") ? YAML : OTHER;
            block[0] = 0;
        } else if (kind == CONSOLE && starts(now, "$ ")) {
            run_line(file, number, now + 2);
        } else if (kind == YAML) {
            size_t used = strlen(block);
            snprintf(block + used, sizeof block - used, "%s\n", now);
        }
    }
    assert_int_equal(kind, TEXT);
    assert_int_equal(chdir(".."), 0);
    free(page);
}

static void manuals(void **state)
{
    (void)state;
    char path[4096], *names[256];
    int count = 0;
    snprintf(path, sizeof path, "%s/bin:%s", work_folder, getenv("PATH"));
    assert_int_equal(mkdir("bin", 0777), 0);
    assert_int_equal(symlink(program(), "bin/brio"), 0);
    assert_int_equal(setenv("PATH", path, 1), 0);
    names[count++] = strdup(BRIO_SOURCE_DIR "/README.md");
    DIR *listing = opendir(BRIO_SOURCE_DIR "/docs");
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing)) && count < 256;) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".md")) continue;
        snprintf(path, sizeof path, "%s/docs/%s", BRIO_SOURCE_DIR, entry->d_name);
        names[count++] = strdup(path);
    }
    closedir(listing);
    for (int i = 0; i < count; i++) {
        read_page(names[i]);
        free(names[i]);
    }
    print_message("%d commands run, %d scenes checked; %d left to those who make the project or need what is not here\n", commands, scenes, left_out);
    assert_true(commands > 20 && scenes > 2);
}

/* Links from one page to another lead somewhere. */
static void links(void **state)
{
    (void)state;
    int count = 0;
    DIR *listing = opendir(BRIO_SOURCE_DIR "/docs");
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing));) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".md")) continue;
        char path[4096];
        snprintf(path, sizeof path, "%s/docs/%s", BRIO_SOURCE_DIR, entry->d_name);
        char *page = read_all(path, NULL);
        for (const char *at = page; (at = strstr(at, "](")); at++) {
            char target[4096];
            int length = (int)strcspn(at + 2, ")#");
            if (starts(at + 2, "http") || length == 0) continue;
            snprintf(target, sizeof target, "%s/docs/%.*s", BRIO_SOURCE_DIR, length, at + 2);
            if (access(target, R_OK)) fail_msg("docs/%s: the link to %.*s leads nowhere", entry->d_name, length, at + 2);
            count++;
        }
        free(page);
    }
    closedir(listing);
    print_message("%d links\n", count);
    assert_true(count > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(links), cmocka_unit_test(manuals)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
