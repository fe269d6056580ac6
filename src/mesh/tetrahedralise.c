/* Files for TetGen or Gmsh in a private folder, the process and its time limit, the result read
 * back and checked, and a cache of results by the hash of the surface and the options. */
#include "tetrahedralise.h"

#include "measure.h"
#include "predicate.h"
#include "../number.h"
#include "../sets.h"
#include "../writer.h"
#include "readers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#ifndef __EMSCRIPTEN__
#include <spawn.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static BrioTetWatch *watch;
void brio__tetrahedralise_watch(BrioTetWatch *given) { watch = given; }

static const char *const tools[] = {"tetgen", "gmsh"};

/* ---- components of the surface ---------------------------------------------------------- */

typedef struct Surface {
    BrioMesh *mesh;
    int32_t *component; /* of each triangle */
    int32_t components;
    bool *cavity;      /* of each component */
    double (*hole)[3]; /* of each cavity: a point inside */
} Surface;

static BrioStatus find_components(Surface *s)
{
    const BrioMesh *mesh = s->mesh;
    int32_t *parent = brio__alloc((size_t)mesh->vertex_count + 1, sizeof *parent);
    int32_t *number = brio__alloc((size_t)mesh->vertex_count + 1, sizeof *number);
    s->component = brio__alloc((size_t)mesh->triangle_count + 1, sizeof *s->component);
    BrioStatus status = parent && number && s->component ? BRIO_OK : BRIO_ERROR_MEMORY;
    for (int64_t v = 0; status == BRIO_OK && v < mesh->vertex_count; v++)
        parent[v] = (int32_t)v, number[v] = -1;
    for (int64_t k = 0; status == BRIO_OK && k < 3 * mesh->triangle_count; k++)
        parent[brio__set_root(parent, mesh->triangle[k])] =
            brio__set_root(parent, mesh->triangle[k / 3 * 3]);
    for (int64_t t = 0; status == BRIO_OK && t < mesh->triangle_count; t++) {
        int32_t root = brio__set_root(parent, mesh->triangle[3 * t]);
        if (number[root] < 0) number[root] = s->components++;
        s->component[t] = number[root];
    }
    brio__free(parent);
    brio__free(number);
    if (status == BRIO_OK) {
        s->cavity = brio__calloc((size_t)s->components + 1, sizeof *s->cavity);
        s->hole = brio__calloc((size_t)s->components + 1, sizeof *s->hole);
        if (!s->cavity || !s->hole) status = BRIO_ERROR_MEMORY;
    }
    return status;
}

/* Solid angle of a triangle seen from p, over 2 pi (Van Oosterom and Strackee). */
static double half_winding(const double *p, const double *x, const int32_t *v)
{
    double r[3][3], size[3], dots[3];
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) r[i][k] = x[3 * (int64_t)v[i] + k] - p[k];
        size[i] = sqrt(r[i][0] * r[i][0] + r[i][1] * r[i][1] + r[i][2] * r[i][2]);
    }
    for (int i = 0; i < 3; i++)
        dots[i] =
            r[i][0] * r[(i + 1) % 3][0] + r[i][1] * r[(i + 1) % 3][1] + r[i][2] * r[(i + 1) % 3][2];
    double volume = r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1]) +
                    r[0][1] * (r[1][2] * r[2][0] - r[1][0] * r[2][2]) +
                    r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]);
    return atan2(volume, size[0] * size[1] * size[2] + dots[0] * size[2] + dots[1] * size[0] +
                             dots[2] * size[1]) /
           3.14159265358979323846;
}

/* Cavities are the components inside an odd number of others. */
static BrioStatus find_cavities(Surface *s)
{
    const BrioMesh *mesh = s->mesh;
    double *winding = brio__alloc((size_t)s->components + 1, sizeof *winding);
    if (!winding) return BRIO_ERROR_MEMORY;
    for (int32_t c = 0; c < s->components; c++) {
        int64_t first = 0;
        int depth = 0;
        while (s->component[first] != c) first++;
        for (int32_t o = 0; o < s->components; o++) winding[o] = 0;
        for (int64_t t = 0; t < mesh->triangle_count; t++)
            if (s->component[t] != c)
                winding[s->component[t]] +=
                    half_winding(mesh->x + 3 * (int64_t)mesh->triangle[3 * first], mesh->x,
                                 mesh->triangle + 3 * t) /
                    2;
        for (int32_t o = 0; o < s->components; o++) depth += o != c && fabs(winding[o]) > 0.5;
        s->cavity[c] = depth % 2;
    }
    brio__free(winding);
    return BRIO_OK;
}

/* A point inside of a component, next to its largest triangle: no triangle is in between. */
static void find_hole(Surface *s, int32_t c)
{
    const BrioMesh *mesh = s->mesh;
    const double *x = mesh->x;
    double largest = -1, volume = 0, middle[3] = {0}, normal[3] = {0};
    int64_t chosen = 0;
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        if (s->component[t] != c) continue;
        const int32_t *v = mesh->triangle + 3 * t;
        const double *a = x + 3 * (int64_t)v[0];
        const double *b = x + 3 * (int64_t)v[1];
        const double *d = x + 3 * (int64_t)v[2];
        double n[3], square = 0;
        for (int k = 0; k < 3; k++) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            n[k] = (b[i] - a[i]) * (d[j] - a[j]) - (b[j] - a[j]) * (d[i] - a[i]);
            square += n[k] * n[k];
        }
        volume += brio__tet_volume6(x, a, b, d);
        if (square <= largest) continue;
        largest = square;
        chosen = t;
        for (int k = 0; k < 3; k++) {
            middle[k] = (a[k] + b[k] + d[k]) / 3;
            normal[k] = n[k] / sqrt(sqrt(square)); /* as long as the triangle */
        }
    }
    for (double step = volume > 0 ? -0.25 : 0.25; fabs(step) > 1e-9; step /= 2) {
        bool free = true;
        for (int k = 0; k < 3; k++) s->hole[c][k] = middle[k] + step * normal[k];
        for (int64_t t = 0; free && t < mesh->triangle_count; t++) {
            const int32_t *v = mesh->triangle + 3 * t;
            free = t == chosen ||
                   !brio__exact_segment_triangle(middle, s->hole[c], x + 3 * (int64_t)v[0],
                                                 x + 3 * (int64_t)v[1], x + 3 * (int64_t)v[2]);
        }
        if (free) return;
    }
}

static BrioStatus make_surface(const BrioMesh *given, const char *name, Surface *s,
                               BrioError *error)
{
    BrioError inner = {0};
    BRIO_CHECK(
        brio__mesh_create(given->vertex_count, 0, given->triangle_count, 0, &s->mesh, error));
    memcpy(s->mesh->x, given->x, 3 * (size_t)given->vertex_count * sizeof *given->x);
    if (given->triangle_count)
        memcpy(s->mesh->triangle, given->triangle,
               3 * (size_t)given->triangle_count * sizeof *given->triangle);
    BrioStatus status = brio__measure_closed(s->mesh, &inner);
    if (status != BRIO_OK)
        return brio__error_at(error, status, name, 0, 0, NULL, "%s, before tets can fill it",
                              inner.message);
    status = find_components(s);
    if (status == BRIO_OK) status = find_cavities(s);
    if (status != BRIO_OK)
        return brio__error(error, BRIO_ERROR_MEMORY, "out of memory for the surface of a mesh");
    for (int32_t c = 0; c < s->components; c++)
        if (s->cavity[c]) find_hole(s, c);
    return BRIO_OK;
}

static void free_surface(Surface *s)
{
    brio_mesh_free(s->mesh);
    brio__free(s->component);
    brio__free(s->cavity);
    brio__free(s->hole);
}

/* ---- programs --------------------------------------------------------------------------- */

/* Where a program is, along PATH. */
static bool find_program(const char *name, char *path, size_t size)
{
    const char *at = getenv("PATH");
    struct stat info;
    while (at && *at) {
        int length = (int)strcspn(at, ":");
        if (length && snprintf(path, size, "%.*s/%s", length, at, name) < (int)size &&
            stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0)
            return true;
        at += length;
        at += *at == ':';
    }
    return false;
}

typedef struct Run {
    char folder[512], log[560], program[4096];
    const char *tool;
} Run;

static BrioStatus find_tool(const char *wanted, Run *run, const char *name, BrioError *error)
{
    for (size_t i = 0; i < BRIO_COUNT(tools); i++)
        if ((!wanted || !strcmp(wanted, tools[i])) &&
            find_program(tools[i], run->program, sizeof run->program))
            return run->tool = tools[i], BRIO_OK;
    return brio__error_at(error, BRIO_ERROR_UNSUPPORTED, name, 0, 0, NULL,
                          "the file has a surface without tets, and %s installed to fill it: "
                          "install %s (Debian: apt-get install %s), use a mesh of tets, or, in a "
                          "scene, `cage: 10`",
                          wanted ? "the program named is not" : "neither tetgen nor gmsh is",
                          wanted ? wanted : "one of them", wanted ? wanted : "tetgen");
}

static void remove_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    for (const struct dirent *entry; list && (entry = readdir(list));)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            unlinkat(fd, entry->d_name, 0);
    if (list)
        closedir(list);
    else if (fd >= 0)
        close(fd);
    rmdir(folder);
}

#ifdef __EMSCRIPTEN__
static BrioStatus run_program(const Run *run, char *const argv[], const char *name,
                              BrioError *error)
{
    (void)argv;
    return brio__error_at(error, BRIO_ERROR_UNSUPPORTED, name, 0, 0, NULL,
                          "%s cannot run in a browser; give a mesh of tets", run->tool);
}
#else
/* The last line of the program's output that says something. */
static void last_words(const char *log, char *text, size_t size)
{
    FILE *file = fopen(log, "r");
    char line[512];
    text[0] = 0;
    while (file && fgets(line, sizeof line, file)) {
        size_t length = strcspn(line, "\r\n");
        while (length && line[length - 1] == ' ') length--;
        line[length] = 0;
        for (char *c = line; *c; c++)
            if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e) *c = '?';
        if (length > 1) snprintf(text, size, "%.200s", line + strspn(line, " "));
    }
    if (file) fclose(file);
}

/* Runs and waits; ended if the watch says so. */
static BrioStatus run_program(const Run *run, char *const argv[], const char *name,
                              BrioError *error)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0, reason = posix_spawn_file_actions_init(&actions);
    if (!reason) reason = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!reason)
        reason = posix_spawn_file_actions_addopen(&actions, 1, run->log,
                                                  O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (!reason) reason = posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (!reason) reason = posix_spawn(&child, run->program, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (reason)
        return brio__error_at(error, BRIO_ERROR_FILE, name, 0, 0, NULL, "%s cannot be started: %s",
                              run->program, strerror(reason));
    double start = brio__seconds();
    bool stopped = false;
    for (pid_t done; (done = waitpid(child, &status, WNOHANG)) != child;) {
        if (done < 0 && errno != EINTR)
            return brio__error_at(error, BRIO_ERROR_FILE, name, 0, 0, NULL, "%s was lost: %s",
                                  run->tool, strerror(errno));
        if (!stopped && watch && watch(run->tool, brio__seconds() - start)) {
            kill(child, SIGKILL);
            stopped = true;
        }
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    /* Ctrl-C reaches the program too, which may end before this loop has asked */
    stopped |= WIFSIGNALED(status) && watch && watch(run->tool, brio__seconds() - start);
    if (watch) watch(NULL, 0);
    if (stopped)
        return brio__error_at(error, BRIO_STOPPED, name, 0, 0, NULL, "%s was stopped", run->tool);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return BRIO_OK;
    char words[256];
    last_words(run->log, words, sizeof words);
    return brio__error_at(error, BRIO_ERROR_INPUT, name, 0, 0, NULL,
                          "%s could not fill the surface (%s %d)%s%s; try a coarser edge length, "
                          "or repair the surface",
                          run->tool, WIFEXITED(status) ? "exit code" : "signal",
                          WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
                          words[0] ? ": " : "", words);
}

#endif

static FILE *open_input(const Run *run, const char *base, char *path, size_t size, BrioError *error)
{
    snprintf(path, size, "%s/%s", run->folder, base);
    FILE *file = fopen(path, "w");
    if (!file) brio__error(error, BRIO_ERROR_FILE, "cannot write %s: %s", path, strerror(errno));
    return file;
}

static BrioStatus close_input(FILE *file, const char *path, BrioError *error)
{
    bool failed = ferror(file) != 0;
    if (fclose(file) || failed)
        return brio__error(error, BRIO_ERROR_FILE,
                           "cannot write %s: %s; make room, or set TMPDIR to a folder with more",
                           path, strerror(errno ? errno : EIO));
    return BRIO_OK;
}

/* ---- TetGen ----------------------------------------------------------------------------- */

/* Its .smesh: vertices, facets, holes, regions. */
static BrioStatus write_smesh(const Surface *s, FILE *file)
{
    const BrioMesh *mesh = s->mesh;
    int holes = 0;
    locale_t before = brio__c_locale_enter();
    fprintf(file, "%lld 3 0 0\n", (long long)mesh->vertex_count);
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        fprintf(file, "%lld %.17g %.17g %.17g\n", (long long)v, mesh->x[3 * v], mesh->x[3 * v + 1],
                mesh->x[3 * v + 2]);
    fprintf(file, "%lld 0\n", (long long)mesh->triangle_count);
    for (int64_t t = 0; t < mesh->triangle_count; t++)
        fprintf(file, "3 %d %d %d\n", mesh->triangle[3 * t], mesh->triangle[3 * t + 1],
                mesh->triangle[3 * t + 2]);
    for (int32_t c = 0; c < s->components; c++) holes += s->cavity[c];
    fprintf(file, "%d\n", holes);
    for (int32_t c = 0, h = 0; c < s->components; c++)
        if (s->cavity[c])
            fprintf(file, "%d %.17g %.17g %.17g\n", h++, s->hole[c][0], s->hole[c][1],
                    s->hole[c][2]);
    fputs("0\n", file);
    brio__c_locale_leave(before);
    return BRIO_OK;
}

static BrioStatus run_tetgen(const Run *run, const Surface *s, const char *name,
                             const BrioTetOptions *options, char *result, size_t size,
                             BrioError *error)
{
    char input[560], flags[128];
    FILE *file = open_input(run, "surface.smesh", input, sizeof input, error);
    if (!file) return BRIO_ERROR_FILE;
    write_smesh(s, file);
    BRIO_CHECK(close_input(file, input, error));
    locale_t before = brio__c_locale_enter();
    int used = snprintf(flags, sizeof flags, "-pzq%.6g",
                        options->quality > 0 ? options->quality : BRIO_TET_QUALITY);
    if (options->edge > 0) /* the volume of a regular tet */
        snprintf(flags + used, sizeof flags - (size_t)used, "a%.9e",
                 options->edge * options->edge * options->edge / (6 * sqrt(2)));
    else
        /* no new vertices on the surface */
        snprintf(flags + used, sizeof flags - (size_t)used, "Y");
    brio__c_locale_leave(before);
    BRIO_CHECK(
        run_program(run, (char *const[]){(char *)run->tool, flags, input, NULL}, name, error));
    snprintf(result, size, "%s/surface.1.ele", run->folder);
    return BRIO_OK;
}

/* ---- Gmsh ------------------------------------------------------------------------------- */

static BrioStatus run_gmsh(const Run *run, const Surface *s, const char *name,
                           const BrioTetOptions *options, char *result, size_t size,
                           BrioError *error)
{
    char input[560], script[560];
    const BrioMeshWriter *writer = NULL;
    if (s->components > 1)
        return brio__error_at(error, BRIO_ERROR_UNSUPPORTED, name, 0, 0, NULL,
                              "the surface has %d pieces, which brio can only have filled by "
                              "tetgen: install it (on Debian: apt-get install tetgen)",
                              s->components);
    BRIO_CHECK(brio__mesh_writer("surface.msh", &writer, error));
    FILE *file = open_input(run, "surface.msh", input, sizeof input, error);
    if (!file) return BRIO_ERROR_FILE;
    writer->write(s->mesh, true, file);
    BRIO_CHECK(close_input(file, input, error));
    file = open_input(run, "fill.geo", script, sizeof script, error);
    if (!file) return BRIO_ERROR_FILE;
    locale_t before = brio__c_locale_enter();
    fputs("Merge \"surface.msh\";\nSurface Loop(1) = {1};\nVolume(1) = {1};\nMesh.Optimize = "
          "1;\nMesh.SaveAll = 1;\n",
          file);
    if (options->edge > 0)
        fprintf(file, "Mesh.MeshSizeMax = %.17g;\nMesh.MeshSizeExtendFromBoundary = 0;\n",
                options->edge);
    brio__c_locale_leave(before);
    BRIO_CHECK(close_input(file, script, error));
    snprintf(result, size, "%s/result.msh", run->folder);
    return run_program(run,
                       (char *const[]){(char *)run->tool, "-3", "-nopopup", "-format", "msh41",
                                       "-v", "3", "-o", result, script, NULL},
                       name, error);
}

/* ---- results ---------------------------------------------------------------------------- */

/* The first vertices must be the surface's; what printing and reading rounded is put back. */
static bool keeps_vertices(const Surface *s, BrioMesh *solid)
{
    double size = 0;
    int64_t n = s->mesh->vertex_count;
    if (solid->vertex_count < n) return false;
    for (int64_t i = 0; i < 3 * n; i++) size = fmax(size, fabs(s->mesh->x[i]));
    for (int64_t i = 0; i < 3 * n; i++)
        if (!(fabs(s->mesh->x[i] - solid->x[i]) <= 1e-9 * size)) return false;
    memcpy(solid->x, s->mesh->x, 3 * (size_t)n * sizeof *solid->x);
    return true;
}

static BrioStatus fill(const Run *run, const Surface *s, const char *name,
                       const BrioTetOptions *options, BrioMesh **solid, BrioError *error)
{
    char result[560];
    BrioError inner = {0};
    BRIO_CHECK((!strcmp(run->tool, "gmsh") ? run_gmsh : run_tetgen)(run, s, name, options, result,
                                                                    sizeof result, error));
    BrioStatus status = brio_mesh_read(result, solid, &inner);
    if (status == BRIO_OK) {
        (*solid)->triangle_count = (*solid)->edge_count = 0;
        if (!keeps_vertices(s, *solid))
            brio__log(BRIO_LOG_WARNING, "%s: %s has renumbered the vertices", name, run->tool);
        status = brio__mesh_check_solid(*solid, &inner);
    }
    if (status == BRIO_OK) return BRIO_OK;
    return brio__error_at(error, status, name, 0, 0, NULL,
                          "the mesh that %s made cannot be used: %s", run->tool, inner.message);
}

BrioStatus brio__tetrahedralise(const BrioMesh *surface, const char *name,
                                const BrioTetOptions *options, BrioMesh **solid, const char **used,
                                BrioError *error)
{
    Surface s = {0};
    Run run = {.tool = NULL};
    *solid = NULL;
    BrioStatus status = find_tool(options->tool, &run, name, error);
    if (status == BRIO_OK) status = make_surface(surface, name, &s, error);
    if (status == BRIO_OK) {
        const char *base = getenv("TMPDIR");
        snprintf(run.folder, sizeof run.folder, "%.400s/brio-mesh-XXXXXX",
                 base && base[0] == '/' ? base : "/tmp");
        if (!mkdtemp(run.folder)) {
            status =
                brio__error(error, BRIO_ERROR_FILE,
                            "cannot make the folder %s: %s; set TMPDIR to one that can be written",
                            run.folder, strerror(errno));
        } else {
            snprintf(run.log, sizeof run.log, "%s/log", run.folder);
            status = fill(&run, &s, name, options, solid, error);
            remove_folder(run.folder);
        }
    }
    free_surface(&s);
    if (status != BRIO_OK) {
        brio_mesh_free(*solid);
        *solid = NULL;
    } else if (used) {
        *used = run.tool;
    }
    return status;
}

/* ---- the cache -------------------------------------------------------------------------- */

static bool cache_folder(char *path, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/') return snprintf(path, size, "%s/brio", cache) < (int)size;
    return home && home[0] == '/' && snprintf(path, size, "%s/.cache/brio", home) < (int)size;
}

/* From the file's bytes, the options and the program; 128 bits. */
static void cache_name(const char *text, size_t size, const BrioTetOptions *options,
                       const char *tool, char *name, size_t room)
{
    char key[128];
    snprintf(key, sizeof key, "1 %s %a %a", tool, options->edge,
             options->quality > 0 ? options->quality : BRIO_TET_QUALITY);
    uint64_t first = brio__hash(brio__hash(BRIO_HASH_START, key, strlen(key)), text, size);
    uint64_t second = brio__hash(~BRIO_HASH_START, text, size);
    second = brio__hash(second, key, strlen(key));
    snprintf(name, room, "%016llx%016llx.msh", (unsigned long long)first,
             (unsigned long long)second);
}

static BrioStatus write_cache(const char *folder, const char *name, const BrioMesh *mesh,
                              BrioError *error)
{
    BrioFolder into = {.fd = -1};
    FILE *file;
    const BrioMeshWriter *writer = NULL;
    BrioStatus status = brio__folder_open(folder, true, &into, error);
    if (status == BRIO_OK) status = brio__mesh_writer(name, &writer, error);
    if (status == BRIO_OK) status = brio__replace_begin(&into, name, &file, error);
    if (status == BRIO_OK) {
        writer->write(mesh, false, file);
        status = brio__replace_end(&into, name, file, false, error);
    }
    brio__folder_close(&into);
    return status;
}

BrioStatus brio__tetrahedralise_cached(const char *file, const BrioMesh *surface,
                                       const BrioTetOptions *options, BrioMesh **solid,
                                       BrioError *error)
{
    char folder[4000], path[4200], name[BRIO_COUNT(tools)][64], *text;
    size_t size;
    bool cached = cache_folder(folder, sizeof folder);
    *solid = NULL;
    BRIO_CHECK(brio__read_file(file, &text, &size, error));
    for (size_t i = 0; i < BRIO_COUNT(tools); i++)
        cache_name(text, size, options, tools[i], name[i], sizeof name[i]);
    brio__free(text);
    for (size_t i = 0; cached && i < BRIO_COUNT(tools); i++) { /* a damaged one is made again */
        snprintf(path, sizeof path, "%s/%s", folder, name[i]);
        if (brio_mesh_read(path, solid, NULL) == BRIO_OK &&
            brio__mesh_check_solid(*solid, NULL) == BRIO_OK)
            return BRIO_OK;
        brio_mesh_free(*solid);
        *solid = NULL;
    }
    const char *used;
    BrioError inner = {0};
    BRIO_CHECK(brio__tetrahedralise(surface, file, options, solid, &used, error));
    if (!cached)
        brio__log(
            BRIO_LOG_WARNING,
            "%s: its tets are not kept for the next time: neither XDG_CACHE_HOME nor HOME is set",
            file);
    else if (write_cache(folder, name[!strcmp(used, tools[1])], *solid, &inner) != BRIO_OK)
        brio__log(BRIO_LOG_WARNING, "%s: its tets are not kept for the next time: %s", file,
                  inner.message);
    return BRIO_OK;
}
