/* brio mesh: looks at meshes, converts and repairs them, and has surfaces filled with tets. */
#include "commands.h"
#include "progress.h"

#include "internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ---- info ------------------------------------------------------------------------------- */

enum { MAX_FINDINGS = 10 };

typedef struct Findings {
    int count;
    char text[MAX_FINDINGS][320];
} Findings;

#define FIND(f, ...)                                                                \
    ((f)->count < MAX_FINDINGS                                                      \
         ? (void)snprintf((f)->text[(f)->count++], sizeof(f)->text[0], __VA_ARGS__) \
         : (void)0)

static void collect(const BrioMeasure *m, Findings *f)
{
    const char *element = m->tets ? "tets" : "triangles";
    if (m->inverted)
        FIND(f,
             "%lld tets are inverted, the first is tet %lld; swap two of its vertices, or repair "
             "the mesh",
             (long long)m->inverted, (long long)m->first_inverted);
    if (m->flat)
        FIND(f, "%lld %s are flat, the first is no. %lld; remove them, or repair the mesh",
             (long long)m->flat, element, (long long)m->first_flat);
    if (m->unused && m->unused < m->vertices)
        FIND(f, "%lld vertices belong to no element", (long long)m->unused);
    if (m->open_edges)
        FIND(f,
             "the surface is open: %lld edges belong to one triangle only, the first joins "
             "vertices %d and %d",
             (long long)m->open_edges, m->first_open[0], m->first_open[1]);
    if (m->branching_edges)
        FIND(f,
             "the surface branches: %lld edges belong to more than two triangles, the first joins "
             "vertices %d and %d",
             (long long)m->branching_edges, m->first_branching[0], m->first_branching[1]);
    if (m->turned_edges)
        FIND(f,
             "the triangles at %lld edges have inconsistent orientation, first at the edge of "
             "vertices %d and %d",
             (long long)m->turned_edges, m->first_turned[0], m->first_turned[1]);
    if (m->intersections)
        FIND(f,
             "the surface intersects itself: %lld edges intersect a triangle, first the edge of "
             "vertices %d and %d with triangle %lld",
             (long long)m->intersections, m->first.edge[0], m->first.edge[1],
             (long long)m->first.triangle);
    if (!m->tets && m->volume < 0)
        FIND(f, "the surface looks inward: it encloses %.6g m3", m->volume);
}

static const char *surface_word(const BrioMeasure *m)
{
    if (m->branching_edges) return "branching";
    return m->open_edges     ? "open"
           : m->turned_edges ? "closed, but not of one orientation"
                             : "closed";
}

static void put_vector(BrioJson *json, const char *name, const double v[3])
{
    brio__json_open(json, name, '[');
    for (int k = 0; k < 3; k++) brio__json_real(json, NULL, v[k]);
    brio__json_close(json, ']');
}

static void info_json(const char *name, const BrioMeasure *m, const Findings *found)
{
    BrioJson json = {.file = stdout};
    brio__json_open(&json, NULL, '{');
    brio__json_text(&json, "mesh", name);
    const struct {
        const char *name;
        int64_t value;
    } counts[] = {{"vertices", m->vertices},
                  {"unused_vertices", m->unused},
                  {"tets", m->tets},
                  {"triangles", m->triangles},
                  {"lines", m->lines},
                  {"components", m->components},
                  {"edges", m->edges},
                  {"open_edges", m->open_edges},
                  {"non_manifold_edges", m->branching_edges},
                  {"turned_edges", m->turned_edges},
                  {"inverted", m->inverted},
                  {"flat", m->flat},
                  {"self_intersections", m->intersections},
                  {"worst_element", m->quality_worst}};
    for (size_t i = 0; i < BRIO_COUNT(counts); i++)
        brio__json_integer(&json, counts[i].name, counts[i].value);
    brio__json_boolean(&json, "closed", m->triangles > 0 && !m->open_edges && !m->branching_edges);
    put_vector(&json, "low", m->low);
    put_vector(&json, "high", m->high);
    const struct {
        const char *name;
        double value;
    } reals[] = {{"volume", m->volume},
                 {"area", m->area},
                 {"edge_least", m->edge_min},
                 {"edge_mean", m->edge_mean},
                 {"edge_most", m->edge_max},
                 {"quality_least", m->quality_min},
                 {"quality_mean", m->quality_mean},
                 {"angle_least", m->angle_min},
                 {"angle_most", m->angle_max}};
    for (size_t i = 0; i < BRIO_COUNT(reals); i++)
        if (isfinite(reals[i].value)) brio__json_real(&json, reals[i].name, reals[i].value);
    brio__json_open(&json, "quality_histogram", '[');
    for (int b = 0; b < BRIO_QUALITY_BINS; b++) brio__json_integer(&json, NULL, m->quality[b]);
    brio__json_close(&json, ']');
    brio__json_open(&json, "findings", '[');
    for (int i = 0; i < found->count; i++) brio__json_text(&json, NULL, found->text[i]);
    brio__json_close(&json, ']');
    brio__json_close(&json, '}');
}

static void info_text(const char *name, const BrioMeasure *m, const Findings *found)
{
    char vertices[32], tets[32], triangles[32];
    int64_t elements = m->tets ? m->tets : m->triangles, max = 1;
    count_text(m->vertices, vertices, sizeof vertices);
    count_text(m->tets, tets, sizeof tets);
    count_text(m->triangles, triangles, sizeof triangles);
    printf("%s\n    %s vertices, ", name, vertices);
    if (m->tets) printf("%s tets, ", tets);
    printf("%s triangles%s", triangles, m->tets ? " of their surface" : "");
    if (m->lines) printf(", %lld lines", (long long)m->lines);
    printf("; %lld %s\n", (long long)m->components,
           m->components == 1 ? "component" : "components");
    printf("    box          %.6g %.6g %.6g to %.6g %.6g %.6g\n", m->low[0], m->low[1], m->low[2],
           m->high[0], m->high[1], m->high[2]);
    if (isfinite(m->volume)) printf("    volume       %.6g\n", m->volume);
    if (m->triangles) printf("    area         %.6g\n", m->area);
    if (m->edges)
        printf("    edges        %.4g to %.4g, mean %.4g\n", m->edge_min, m->edge_max,
               m->edge_mean);
    if (elements) {
        printf("    angles       %.1f to %.1f degrees %s\n", m->angle_min, m->angle_max,
               m->tets ? "between faces of tets" : "in corners of triangles");
        printf(
            "    quality      %.3f at %s %lld, mean %.3f (1 is regular, 0 flat, below 0.1 poor)\n",
            m->quality_min, m->tets ? "tet" : "triangle", (long long)m->quality_worst,
            m->quality_mean);
        for (int b = 0; b < BRIO_QUALITY_BINS; b++) max = BRIO_MAX(max, m->quality[b]);
        for (int b = 0; b < BRIO_QUALITY_BINS; b++) {
            char count[32];
            count_text(m->quality[b], count, sizeof count);
            printf("      %.1f to %.1f %9s ", b / 10.0, (b + 1) / 10.0, count);
            for (int64_t k = 0; k < (40 * m->quality[b] + max - 1) / max; k++) putchar('#');
            putchar('\n');
        }
    }
    if (m->triangles) printf("    surface      %s\n", surface_word(m));
    for (int i = 0; i < found->count; i++) printf("  ! %s\n", found->text[i]);
}

/* ---- what the command line gave --------------------------------------------------------- */

typedef struct Given {
    const char *word[3]; /* what to do, then files */
    int words;
    const char *out, *tool;
    double edge, quality;
    double merge, gap; /* of repair; merge negative: not given */
    bool force, json, ascii, binary;
} Given;

static int show(const Given *g, const char *name, BrioMesh *mesh)
{
    BrioMeasure m;
    BrioError error = {0};
    Findings found = {0};
    if (brio__measure(mesh, &m, &error) != BRIO_OK) {
        if (!error.file[0]) snprintf(error.file, sizeof error.file, "%s", name);
        return say_error(&error, EXIT_FAILED);
    }
    collect(&m, &found);
    (g->json ? info_json : info_text)(name, &m, &found);
    return EXIT_DONE;
}

static int info(const Given *g)
{
    BrioMesh *mesh = NULL;
    BrioError error = {0};
    if (g->words != 2) return usage_error(&command_mesh, "which mesh? brio mesh info FILE");
    if (brio_mesh_read(g->word[1], &mesh, &error) != BRIO_OK) return say_error(&error, EXIT_USAGE);
    int code = show(g, g->word[1], mesh);
    brio_mesh_free(mesh);
    return code;
}

/* ---- writing ---------------------------------------------------------------------------- */

static int write_one(const Given *g, const char *name, const BrioMesh *mesh, bool ascii,
                     void (*write)(const BrioMesh *, bool, FILE *))
{
    ResultFile result;
    if (!create_file(&command_mesh, name, g->force, "give another name", &result))
        return EXIT_USAGE;
    write(mesh, ascii, result.file);
    return finish_file(&command_mesh, &result, BRIO_OK);
}

/* The format of a result, and whether it can be as the options say: to be asked before the work. */
static int find_writer(const Given *g, const char *name, const BrioMeshWriter **writer)
{
    BrioError error = {0};
    if (brio__mesh_writer(name, writer, &error) != BRIO_OK) return say_error(&error, EXIT_USAGE);
    const BrioMeshWriter *w = *writer;
    if (g->ascii && !w->has_ascii)
        return usage_error(&command_mesh, "%s is never text", w->extension);
    if (g->binary && !w->has_binary)
        return usage_error(&command_mesh, "%s is always text: leave --binary out", w->extension);
    return EXIT_DONE;
}

static int write_mesh(const Given *g, const char *name, BrioMesh *mesh)
{
    const BrioMeshWriter *w;
    BrioError error = {0};
    char note[320];
    if (find_writer(g, name, &w) != EXIT_DONE) return EXIT_USAGE;
    if (brio__mesh_fit(w, mesh, note, sizeof note, &error) != BRIO_OK) {
        if (!error.file[0]) snprintf(error.file, sizeof error.file, "%s", name);
        return say_error(&error, EXIT_USAGE);
    }
    bool ascii = g->ascii || !w->has_binary;
    char *other = w->second ? brio__mesh_partner(name, w->second) : NULL;
    if (w->second && !other) return usage_error(&command_mesh, "out of memory");
    if (other && !g->force && access(other, F_OK) == 0) {
        usage_error(&command_mesh, "%s already exists: give another name, or --force to replace it",
                    other);
        brio__free(other);
        return EXIT_USAGE;
    }
    int code = write_one(g, name, mesh, ascii, w->write);
    if (code == EXIT_DONE && other) code = write_one(g, other, mesh, ascii, w->write_second);
    if (code == EXIT_DONE && !g->json) {
        printf("%s%s%s: %lld vertices", name, other ? " and " : "", other ? other : "",
               (long long)mesh->vertex_count);
        if (mesh->tet_count) printf(", %lld tets", (long long)mesh->tet_count);
        if (mesh->triangle_count) printf(", %lld triangles", (long long)mesh->triangle_count);
        if (mesh->edge_count) printf(", %lld lines", (long long)mesh->edge_count);
        putchar('\n');
        if (note[0]) printf("  %s\n", note);
        if (w->single && !ascii)
            printf("  binary %s rounds coordinates to single precision; --ascii keeps all digits\n",
                   w->extension);
    }
    brio__free(other);
    return code;
}

static int convert(const Given *g)
{
    BrioMesh *mesh = NULL;
    BrioError error = {0};
    const char *out = g->words == 3 ? g->word[2] : g->out;
    if (g->words < 2 || !out || (g->words == 3 && g->out))
        return usage_error(&command_mesh, "from which mesh to which? brio mesh convert IN OUT");
    if (brio_mesh_read(g->word[1], &mesh, &error) != BRIO_OK) return say_error(&error, EXIT_USAGE);
    int code = write_mesh(g, out, mesh);
    if (code == EXIT_DONE && g->json) code = show(g, out, mesh);
    brio_mesh_free(mesh);
    return code;
}

/* ---- repair ----------------------------------------------------------------------------- */

static void put_repair(const BrioRepair *r)
{
    const BrioUntangled *u = &r->untangled;
    const struct {
        int64_t count;
        const char *one, *many;
    } done[] = {{r->merged, "vertex merged with another", "vertices merged with others"},
                {r->degenerate, "degenerate element removed", "degenerate elements removed"},
                {r->duplicate, "duplicate element removed", "duplicate elements removed"},
                {r->turned, "element reoriented", "elements reoriented"},
                {r->unused, "unused vertex removed", "unused vertices removed"}};
    int count = 0;
    for (size_t i = 0; i < BRIO_COUNT(done); i++) {
        if (!done[i].count) continue;
        printf("  %lld %s\n", (long long)done[i].count,
               done[i].count == 1 ? done[i].one : done[i].many);
        count++;
    }
    if (u->before > u->after)
        printf(
            "  %lld of %lld intersections removed: vertices moved by up to %.4g m (vertex %lld)\n",
            (long long)(u->before - u->after), (long long)u->before, u->shift,
            (long long)u->vertex);
    if (u->before && !u->after) puts("  no intersection is left: proved without rounding");
    if (!count && !u->before) puts("  nothing to repair");
    if (r->conflicts)
        printf("  ! the surface has one side only: %lld edges cannot be oriented\n",
               (long long)r->conflicts);
    for (int i = 0; i < u->left_count; i++) {
        int a = u->left[i][0], b = u->left[i][1];
        if (a == b)
            printf("  ! component %d still intersects itself\n", a);
        else
            printf("  ! components %d and %d still intersect\n", a, b);
    }
    if (u->after)
        printf("  ! %lld intersections could not be removed: cut or remodel these places\n",
               (long long)u->after);
}

static void repair_json(const char *name, const BrioRepair *r)
{
    BrioJson json = {.file = stdout};
    brio__json_open(&json, NULL, '{');
    brio__json_text(&json, "mesh", name);
    brio__json_real(&json, "merge_distance", r->merge);
    brio__json_integer(&json, "merged_vertices", r->merged);
    brio__json_integer(&json, "degenerate", r->degenerate);
    brio__json_integer(&json, "duplicate", r->duplicate);
    brio__json_integer(&json, "turned", r->turned);
    brio__json_integer(&json, "unoriented_edges", r->conflicts);
    brio__json_integer(&json, "unused_vertices", r->unused);
    brio__json_integer(&json, "components", r->components);
    brio__json_integer(&json, "intersections_before", r->untangled.before);
    brio__json_integer(&json, "intersections_after", r->untangled.after);
    brio__json_real(&json, "largest_shift", r->untangled.shift);
    brio__json_close(&json, '}');
}

static int repair(const Given *g)
{
    BrioMesh *mesh = NULL;
    BrioError error = {0};
    BrioRepair report;
    const BrioMeshWriter *w;
    const BrioRepairOptions options = {.merge = g->merge, .gap = g->gap};
    int64_t twice;
    if (g->words != 2 || !g->out)
        return usage_error(&command_mesh, "which mesh, and where to? brio mesh repair IN -o OUT");
    if (find_writer(g, g->out, &w) != EXIT_DONE) return EXIT_USAGE;
    if (!g->force && access(g->out, F_OK) == 0)
        return usage_error(&command_mesh,
                           "%s already exists: give another name, or --force to replace it",
                           g->out);
    if (brio__mesh_read_broken(g->word[1], &twice, &mesh, &error) != BRIO_OK)
        return say_error(&error, EXIT_USAGE);
    int code = EXIT_DONE;
    if (brio__mesh_repair(mesh, &options, &report, &error) != BRIO_OK) {
        if (!error.file[0]) snprintf(error.file, sizeof error.file, "%s", g->word[1]);
        code = say_error(&error, EXIT_USAGE);
    } else {
        report.degenerate += twice;
        if (!g->json) printf("%s\n", g->word[1]);
        (g->json ? repair_json(g->word[1], &report) : put_repair(&report));
        /* single precision could bring intersections back */
        Given exactly = *g;
        if (w->single && !g->binary) exactly.ascii = true;
        code = write_mesh(&exactly, g->out, mesh);
        if (code == EXIT_DONE && report.untangled.after) code = EXIT_FAILED;
    }
    brio_mesh_free(mesh);
    return code;
}

/* ---- tets ------------------------------------------------------------------------------- */

bool watch_tetrahedralise(const char *tool, double seconds)
{
    static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
    /* put back at the end: what comes then may not ask for stop_wanted */
    static struct sigaction before[BRIO_COUNT(stops)];
    static bool running;
    static double shown;
    char text[32];
    if (running != (tool != NULL)) {
        for (size_t i = 0; i < BRIO_COUNT(stops); i++)
            sigaction(stops[i], tool ? NULL : &before[i], tool ? &before[i] : NULL);
        if (tool) catch_signals();
        running = tool != NULL;
        shown = 0;
    }
    if (!tool) return false;
    seconds_text(seconds, text, sizeof text);
    if (seconds > shown + (isatty(2) ? 0.2 : 10)) {
        shown = seconds;
        progress_text("filling the surface with tets (%s): %s", tool, text);
    }
    return stop_wanted;
}

static int tetrahedralise(const Given *g)
{
    BrioMesh *surface = NULL, *solid = NULL;
    BrioError error = {0};
    const BrioMeshWriter *w;
    if (g->words != 2 || !g->out)
        return usage_error(
            &command_mesh,
            "which surface, and where to? brio mesh tetrahedralise SURFACE -o BODY.msh");
    if (find_writer(g, g->out, &w) != EXIT_DONE) return EXIT_USAGE;
    if (!w->tets)
        return usage_error(&command_mesh,
                           "%s cannot store tets: use .msh, .mesh, .vtk, .vtu or "
                           ".node",
                           w->extension);
    if (!g->force && access(g->out, F_OK) == 0)
        return usage_error(&command_mesh,
                           "%s already exists: give another name, or --force to replace it",
                           g->out);
    if (brio_mesh_read(g->word[1], &surface, &error) != BRIO_OK)
        return say_error(&error, EXIT_USAGE);
    const BrioTetOptions options = {.edge = g->edge, .quality = g->quality, .tool = g->tool};
    const char *used = "";
    int code = EXIT_DONE;
    if (surface->tet_count) {
        code = usage_error(
            &command_mesh,
            "%s has %lld tets already; to fill its surface again, convert it to .obj first",
            g->word[1], (long long)surface->tet_count);
    } else {
        double start = brio__seconds();
        BrioStatus status =
            brio__tetrahedralise(surface, g->word[1], &options, &solid, &used, &error);
        progress_clear();
        char seconds[32];
        seconds_text(brio__seconds() - start, seconds, sizeof seconds);
        if (status != BRIO_OK)
            code = say_error(&error, stop_wanted ? EXIT_FAILED : EXIT_USAGE);
        else if (!g->json)
            printf("filled by %s in %s\n", used, seconds);
    }
    if (code == EXIT_DONE) code = write_mesh(g, g->out, solid);
    if (code == EXIT_DONE) code = show(g, g->out, solid);
    brio_mesh_free(surface);
    brio_mesh_free(solid);
    return code;
}

/* ---- command ---------------------------------------------------------------------------- */

enum { OUT, FORCE, ASCII, BINARY, EDGE, QUALITY, WITH, MERGE, GAP, JSON };

static bool read_number(const char *option, const char *text, double min, double *value)
{
    char *end;
    *value = strtod(text, &end);
    if (end != text && !*end && isfinite(*value) && *value >= min && *value > 0) return true;
    if (min > 0)
        usage_error(&command_mesh, "%s %s: expected a number of at least %g", option, text, min);
    else
        usage_error(&command_mesh, "%s %s: expected a positive number", option, text);
    return false;
}

static int run(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(const Given *);
    } tasks[] = {{"info", info},
                 {"convert", convert},
                 {"repair", repair},
                 {"tetrahedralise", tetrahedralise},
                 {"tetrahedralize", tetrahedralise}};
    static const char *const names[] = {"info", "convert", "repair", "tetrahedralise"};
    Arguments a = {.command = &command_mesh, .argc = argc, .argv = argv, .at = 1};
    Given g = {.merge = -1};
    for (int option; (option = argument_next(&a)) != ARGUMENT_END;) {
        switch (option) {
        case ARGUMENT_BAD: return a.exit;
        case ARGUMENT_WORD:
            if (g.words == (int)BRIO_COUNT(g.word))
                return usage_error(a.command, "too many words: \"%s\"", a.value);
            g.word[g.words++] = a.value;
            break;
        case OUT: g.out = a.value; break;
        case FORCE: g.force = true; break;
        case ASCII: g.ascii = true; break;
        case BINARY: g.binary = true; break;
        case JSON: g.json = true; break;
        case EDGE:
            if (!read_number("--edge", a.value, 0, &g.edge)) return EXIT_USAGE;
            break;
        case QUALITY:
            if (!read_number("--quality", a.value, BRIO_TET_QUALITY_MIN, &g.quality))
                return EXIT_USAGE;
            break;
        case MERGE:
            if (strcmp(a.value, "0") == 0)
                g.merge = 0;
            else if (!read_number("--merge", a.value, 0, &g.merge))
                return EXIT_USAGE;
            break;
        case GAP:
            if (!read_number("--gap", a.value, 0, &g.gap)) return EXIT_USAGE;
            break;
        case WITH:
            if (strcmp(a.value, "tetgen") && strcmp(a.value, "gmsh"))
                return usage_error(a.command, "--with %s: expected tetgen or gmsh", a.value);
            g.tool = a.value;
            break;
        }
    }
    if (g.ascii && g.binary) return usage_error(a.command, "--ascii or --binary, not both");
    if (!g.words)
        return usage_error(
            a.command, "what to do? info, convert, repair or tetrahedralise; see `brio help mesh`");
    for (size_t i = 0; i < BRIO_COUNT(tasks); i++)
        if (!strcmp(g.word[0], tasks[i].name)) return tasks[i].run(&g);
    return unknown_name(a.command, "task", g.word[0], names, (int)BRIO_COUNT(names));
}

static const Option options[] = {
    [OUT] = {"--out", 'o', "FILE", "Where the mesh goes; the extension selects the format."},
    [FORCE] = {"--force", 'f', NULL, "Replace that file if it exists."},
    [ASCII] = {"--ascii", 0, NULL,
               "Write text even if the format has a binary form (.ply, .stl, .vtk, .vtu, .msh)."},
    [BINARY] = {"--binary", 0, NULL, "Write binary data; the default where the format has it."},
    [EDGE] = {"--edge", 0, "LENGTH",
              "tetrahedralise: maximum edge length, approximately; default: as in the surface."},
    [QUALITY] = {"--quality", 0, "Q",
                 "tetrahedralise with tetgen: maximum ratio of circumradius to shortest edge, "
                 "from 1.1; default: 1.4."},
    [WITH] = {"--with", 0, "tetgen|gmsh",
              "tetrahedralise: the program; default: tetgen, or gmsh if only that is installed."},
    [MERGE] = {"--merge", 0, "LENGTH",
               "repair: merge vertices closer than this; default: 1e-7 of the size of the mesh."},
    [GAP] = {"--gap", 0, "LENGTH",
             "repair: distance between surfaces that intersected; default: a thousandth of the "
             "mean edge."},
    [JSON] = {"--json", 0, NULL, "The properties of the mesh as one JSON object."},
    {0}};

const Command command_mesh = {
    .name = "mesh",
    .summary = "Inspect, convert or repair a mesh, or fill a surface with tets.",
    .synopsis = "info FILE [--json]\nconvert IN OUT [--ascii|--binary] [--force] [--json]\nrepair "
                "IN -o OUT "
                "[--merge LENGTH] [--gap LENGTH] "
                "[--force] [--json]\ntetrahedralise SURFACE "
                "-o BODY [--edge LENGTH] [--quality Q] [--with tetgen|gmsh] [--force] [--json]",
    .about = "The extension selects the format. .obj, .off, .ply and .stl store surfaces; .vtk, "
             ".vtu, .msh and .mesh also tets; .node and .ele (a pair; name either one) only "
             "tets.\n"
             "info prints counts, box, volume, area, edge lengths, angles and a histogram of the "
             "elements' quality (the mean ratio: 1 is regular, 0 flat); lines that start with ! "
             "are findings: inverted or flat elements, open or branching edges, triangles with "
             "inconsistent orientation, self-intersections of the surface (exact arithmetic).\n"
             "convert keeps the vertices, tets, triangles and lines that the other format can "
             "store and says what it left out. A solid in a surface format becomes its surface.\n"
             "repair merges vertices at the same place and removes degenerate elements, "
             "duplicate elements and vertices without elements. It orients triangles "
             "consistently, closed components outward. It then moves vertices, as little as it "
             "can, until no surface intersects another or itself: it shifts overlapping "
             "components as a whole and bends sheets and components that intersect themselves. It "
             "says what it did and how far vertices moved. An exact test finds the intersections "
             "that are left. If there are any, it names the components (counted from 0 in the "
             "order of their first vertices), writes the result and exits with 1. It does not "
             "close holes and does not cut.\n"
             "tetrahedralise fills a closed surface with tets. It calls tetgen or gmsh, which "
             "must be installed (Debian: apt-get install tetgen). The vertices of the surface "
             "come first, in their order. Components inside others are cavities. It rejects open "
             "or intersecting surfaces and says where. A scene does the same automatically for a "
             "body with `mesh: surface.obj` and `kind: solid`.\n"
             "Exit code 0: done. 1: stopped, not written, or intersections are left. 2: a file is "
             "not valid, or cannot be filled.",
    .options = options,
    .examples = "brio mesh info bunny.obj\nbrio mesh convert bunny.ply bunny.stl\nbrio mesh repair "
                "jacket.obj -o jacket-repaired.obj\nbrio mesh "
                "tetrahedralise bunny.obj -o bunny.msh --edge 0.02",
    .run = run,
};
