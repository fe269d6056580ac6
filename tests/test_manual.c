/* The manuals are true: every command that README.md and docs/ show is run, in the order of its
 * page, and every scene that they print is checked.
 *
 * A page's commands are the lines of its ```console blocks that begin with "$ ". Its scenes are the
 * ```yaml blocks that begin with "brio: 1", saved under the last name `NAME.yaml` before them. A
 * page begins in an empty folder in which brio and build/brio are the program. What makes the
 * project itself (make) is left to those who test that. What docs/troubleshooting.md says that brio
 * says, stands in the sources. */
#include "program.h"

#include "base.h"
#include "emulated.h"

static int commands, scenes, left_out, link_count;
static bool no_bunny; /* it cannot be had */

static bool starts(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* Its output goes to .log. */
static bool succeeds(const char *line)
{
    char command[2048];
    snprintf(command, sizeof command, "{ %s\n} >.log 2>&1 </dev/null", line);
    return system(command) == 0;
}

/* Whether a line needs what is not here, or makes the project itself. */
static bool is_left_out(const char *line)
{
    bool can_fill = has_program("tetgen") || has_program("gmsh");
    if (starts(line, "npm install bunny"))
        no_bunny = !can_fill || !has_program("npm") || !succeeds(line);
    if ((no_bunny && strstr(line, "bunny")) ||
        (!can_fill && (strstr(line, "tetrahedralise") || strstr(line, "filled.yaml"))))
        return true;
    return starts(line, "make ") || starts(line, "brio playground") || starts(line, "brio view") ||
           (strstr(line, ".mp4") && !has_program("ffmpeg"));
}

static void run_line(const char *page, int number, const char *line)
{
    double before = brio__seconds();
    if (!succeeds(line)) fail_msg("%s:%d: $ %s\n%s", page, number, line, read_all(".log", NULL));
    double took = brio__seconds() - before;
    if (took > 2)
        print_message("%s:%d: $ %s: %.1f s\n", strrchr(page, '/') + 1, number, line, took);
}

/* The last `NAME.yaml` before `end`. */
static void scene_name(const char *page, const char *end, char *name, size_t size)
{
    snprintf(name, size, "scene.yaml");
    for (const char *found = page; (found = strstr(found, ".yaml`")) && found < end; found++) {
        const char *begin = found;
        while (begin > page && begin[-1] != '`') begin--;
        if (memchr(begin, '/', (size_t)(found - begin)) ||
            memchr(begin, '\n', (size_t)(found - begin)))
            continue;
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
                /* the integrator that its page writes: the test of the installed library builds and
                 * runs it */
                left_out++;
            } else if (kind == YAML && starts(block, "brio: 1")) {
                char check[128];
                scene_name(page, line, name, sizeof name);
                write_text(name, block);
                snprintf(check, sizeof check, "brio check %s", name);
                if (is_left_out(check)) {
                    left_out++;
                } else {
                    run_line(file, number, check);
                    scenes++;
                }
            }
            kind = kind != TEXT                 ? TEXT
                   : !strcmp(now, "```console") ? CONSOLE
                   : !strcmp(now, "```yaml")    ? YAML
                                                : OTHER;
            block[0] = 0;
        } else if (kind == CONSOLE && starts(now, "$ ")) {
            if (is_left_out(now + 2)) {
                left_out++;
            } else {
                run_line(file, number, now + 2);
                commands++;
            }
        } else if (kind == YAML) {
            size_t used = strlen(block);
            snprintf(block + used, sizeof block - used, "%s\n", now);
        }
    }
    assert_int_equal(kind, TEXT);
    assert_int_equal(chdir(".."), 0);
    free(page);
}

/* README.md and the pages of docs/, or every nth of them. */
static void each_page(void (*look)(const char *file), int every)
{
    char *names[256], path[4096];
    int count = 0;
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
        if (i % every == 0) look(names[i]);
        free(names[i]);
    }
}

static void manuals(void **state)
{
    (void)state;
    char path[4096];
    snprintf(path, sizeof path, "%s/bin:%s", work_folder, getenv("PATH"));
    assert_int_equal(mkdir("bin", 0777), 0);
    assert_int_equal(symlink(program(), "bin/brio"), 0);
    assert_int_equal(setenv("PATH", path, 1), 0);
    each_page(read_page, EMULATED ? 4 : 1);
    print_message("%d commands run, %d scenes checked; %d left to those who make the project or "
                  "need what is not here\n",
                  commands, scenes, left_out);
    assert_true(EMULATED || (commands > 20 && scenes > 2));
}

static void read_links(const char *file)
{
    char *page = read_all(file, NULL);
    for (const char *at = page; (at = strstr(at, "](")); at++) {
        char target[4096];
        int length = (int)strcspn(at + 2, ")#"), folder = (int)(strrchr(file, '/') - file);
        if (starts(at + 2, "http") || length == 0) continue;
        snprintf(target, sizeof target, "%.*s/%.*s", folder, file, length, at + 2);
        if (access(target, R_OK)) fail_msg("%s: the link to %.*s is broken", file, length, at + 2);
        link_count++;
    }
    free(page);
}

/* Links from one page to another lead somewhere. */
static void links(void **state)
{
    (void)state;
    each_page(read_links, 1);
    print_message("%d links\n", link_count);
    assert_true(link_count > 30);
}

/* All that src/ and cli/ say: their sources, adjacent strings joined, \" as it is printed. */
static char *sentences;
static size_t sentence_bytes;

static int add_sentences(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)walk;
    const char *dot = strrchr(path, '.');
    if (kind != FTW_F || !dot || (strcmp(dot, ".c") && strcmp(dot, ".h"))) return 0;
    char *text = read_all(path, NULL);
    sentences = realloc(sentences, sentence_bytes + (size_t)info->st_size + 2);
    assert_true(text && sentences);
    for (const char *from = text; *from; from++) {
        if (*from == '"' && from[1 + strspn(from + 1, " \n")] == '"' && from > text &&
            from[-1] != '\\')
            from += 1 + strspn(from + 1, " \n");
        else if (*from != '\\' || from[1] != '"')
            sentences[sentence_bytes++] = *from;
    }
    sentences[sentence_bytes++] = '\n';
    sentences[sentence_bytes] = 0;
    free(text);
    return 0;
}

/* The messages that docs/troubleshooting.md explains: the code in the first column of its tables,
 * in which "…" is what is filled in. */
static void messages(void **state)
{
    (void)state;
    assert_int_equal(nftw(BRIO_SOURCE_DIR "/src", add_sentences, 16, 0), 0);
    assert_int_equal(nftw(BRIO_SOURCE_DIR "/cli", add_sentences, 16, 0), 0);
    char *page = read_all(BRIO_SOURCE_DIR "/docs/troubleshooting.md", NULL);
    assert_non_null(page);
    int count = 0;
    for (char *line = page, *next; (next = strchr(line, '\n')); line = next + 1) {
        char cell[1024];
        snprintf(cell, sizeof cell, "%.*s",
                 starts(line, "| ") ? (int)(strchr(line + 2, '|') - line) : 0, line);
        for (char *begin = cell, *end;
             (begin = strchr(begin, '`')) && (end = strchr(begin + 1, '`')); begin = end + 1) {
            *end = 0;
            for (char *piece = begin + 1, *after; piece; piece = after) {
                after = strstr(piece, "…");
                if (after) *after = 0, after += strlen("…");
                if (!strstr(sentences, piece))
                    fail_msg("docs/troubleshooting.md: brio nowhere says \"%s\"", piece);
            }
            count++;
        }
    }
    print_message("%d messages\n", count);
    assert_true(count > 15);
    free(page);
    free(sentences);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(links), cmocka_unit_test(messages),
                                       cmocka_unit_test(manuals)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
