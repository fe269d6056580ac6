/* brio spectrum: the energy of a run's last state by eigenmode.
 *
 * With modes K phi = w^2 M phi about the rest shape, u = sum a_k phi_k and v = sum b_k phi_k, mode
 * k holds the kinetic energy b_k^2/2 and the potential w_k^2 a_k^2/2. The modes are a basis, so
 * that the kinetic energies add up to that of the state; the potentials do as far as the elastic
 * energy is quadratic in u. A free body is brought back by its best rigid motion first: u then is
 * deformation only, and v is seen from the turned body. */
#include "internal.h"
#include "commands.h"
#include "table.h"

#include <string.h>

typedef struct Motion {
    bool is_free;
    double turn, shift; /* rad, m: what was taken away */
} Motion;

typedef struct Work {
    const char *run;
    BrioScene *scene;
    BrioSim *sim;
    BrioStiffness *stiffness;
    BrioModes modes;
    BrioLedger ledger;
    Motion *motion;    /* per body */
    double *reference; /* world: rest shapes, attachment points where they are now */
    double *x, *v;     /* world, as of the last state */
    double *u, *w;     /* coordinates: displacement, velocity */
    double *a, *b;     /* amplitudes of the modes */
    /* the last: % of the vibrations up to each */
    double *frequency, *kinetic, *potential, *total, *cumulative;
    uint8_t *shown;
    double prestress; /* J: elastic and attachments at the reference */
    bool fixed_moved;
    int zeros, unstable;
    double sum[3]; /* kinetic, potential, total over all modes */
} Work;

/* ---- projection ------------------------------------------------------------------------- */

/* Nothing holds the body: all its vertices have coordinates and no attachment pulls at it. */
static bool is_free(const BrioSystem *s, const BrioBody *body)
{
    for (int64_t v = body->first; v < body->first + body->count; v++)
        if (s->map_start[v] == s->map_start[v + 1]) return false;
    for (int t = 0; t < s->term_count; t++) {
        const BrioTerm *term = &s->term[t];
        if (term->energy->element != BRIO_ELEMENT_ANCHOR) continue;
        for (int64_t i = 0; i < term->elements; i++) {
            int64_t vertex = brio__term_vertex(term, i, 0);
            if (vertex >= body->first && vertex < body->first + body->count) return false;
        }
    }
    return true;
}

/* u and w of one body, in the frame of its rest shape. */
static BrioStatus project_body(Work *k, int number)
{
    const BrioSystem *s = k->sim->system;
    const BrioBody *body = &s->body[number];
    int64_t count, first = brio__body_masses(body, &count);
    const double *X = k->reference + 3 * first, *x = k->x + 3 * first, *v = k->v + 3 * first;
    double R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, t[3] = {0}, centre[3] = {0}, mass = 0, size = 0;
    Motion *motion = &k->motion[number];
    motion->is_free = is_free(s, body);
    for (int64_t i = 0; i < count; i++) size = fmax(size, brio__hypot_distance3(X, X + 3 * i));
    if (motion->is_free) {
        BRIO_CHECK(brio__rigid_fit(count, s->vertex_mass + first, X, x, R, t));
        motion->turn =
            atan2(hypot(hypot(R[7] - R[5], R[2] - R[6]), R[3] - R[1]), R[0] + R[4] + R[8] - 1);
        for (int64_t i = 0; i < count; i++) {
            mass += s->vertex_mass[first + i];
            for (int r = 0; r < 3; r++)
                centre[r] += s->vertex_mass[first + i] * (x[3 * i + r] - X[3 * i + r]);
        }
        motion->shift = hypot(hypot(centre[0], centre[1]), centre[2]) / mass;
    }
    for (int64_t i = 0; i < count; i++) {
        int32_t at = s->map_start[first + i];
        if (at == s->map_start[first + i + 1]) {
            k->fixed_moved |= brio__hypot_distance3(x + 3 * i, X + 3 * i) > 1e-9 * size;
            continue;
        }
        int64_t block = s->map_block[at];
        for (int r = 0; r < 3; r++) {
            double back = 0, speed = 0;
            for (int c = 0; c < 3; c++) {
                back += R[3 * c + r] * (x[3 * i + c] - t[c]);
                speed += R[3 * c + r] * v[3 * i + c];
            }
            k->u[3 * block + r] = back - X[3 * i + r];
            k->w[3 * block + r] = speed;
        }
    }
    return BRIO_OK;
}

static void energies(Work *k)
{
    const BrioModes *modes = &k->modes;
    double sum = 0;
    for (int i = 0; i < modes->n; i++) {
        double squared = modes->squared[i];
        bool zero = fabs(squared) <= modes->zero, unstable = !zero && squared < 0;
        k->zeros += zero;
        k->unstable += unstable;
        k->frequency[i] = zero ? 0 : unstable ? NAN : sqrt(squared) / (2 * M_PI);
        k->kinetic[i] = 0.5 * k->b[i] * k->b[i];
        k->potential[i] = zero ? 0 : 0.5 * squared * k->a[i] * k->a[i];
        k->total[i] = k->kinetic[i] + k->potential[i];
        k->sum[0] += k->kinetic[i];
        k->sum[1] += k->potential[i];
    }
    k->sum[2] = k->sum[0] + k->sum[1];
    for (int i = 0; i < modes->n; i++)
        k->cumulative[i] = sum += k->frequency[i] != 0 ? k->total[i] : 0;
    for (int i = 0; i < modes->n; i++) k->cumulative[i] *= 100 / (sum != 0 ? sum : 1);
}

static BrioStatus prepare(Work *k, BrioError *error)
{
    const BrioSystem *s = k->sim->system;
    BrioState *state = k->sim->state;
    size_t world = 3 * (size_t)s->vertex_count, n = 3 * (size_t)s->block_count;
    double **vectors[] = {&k->u,       &k->w,         &k->a,     &k->b,         &k->frequency,
                          &k->kinetic, &k->potential, &k->total, &k->cumulative};
    bool whole = true;
    for (size_t i = 0; i < BRIO_COUNT(vectors); i++)
        whole &= (*vectors[i] = brio__calloc(n, sizeof(double))) != NULL;
    k->reference = brio__alloc(world, sizeof(double));
    k->x = brio__alloc(world, sizeof(double));
    k->v = brio__alloc(world, sizeof(double));
    k->shown = brio__calloc(n, 1);
    k->motion = brio__calloc((size_t)s->body_count, sizeof *k->motion);
    if (!whole || !k->reference || !k->x || !k->v || !k->shown || !k->motion)
        return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    brio__system_positions(s, state, state->q, state->time, k->x);
    brio__system_velocities(s, state, state->v, state->time, k->v);
    memcpy(k->reference, k->x, world * sizeof(double));
    memcpy(k->reference, k->scene->rest, 3 * (size_t)s->body_vertices * sizeof(double));
    for (int b = 0; b < s->body_count; b++)
        if (s->body[b].cage)
            memcpy(k->reference + 3 * s->body[b].mass_point, s->body[b].cage->x,
                   3 * (size_t)s->body[b].cage->node_count * sizeof(double));
        else if (s->body[b].mass_point >= 0 &&
                 s->map_start[s->body[b].first] < s->map_start[s->body[b].first + 1])
            brio__affine_fit(s->body[b].count, s->map_weight + s->map_start[s->body[b].first],
                             k->reference + 3 * s->body[b].first,
                             k->reference + 3 * s->body[b].mass_point);
    if (brio_sim_ledger(k->sim, &k->ledger) != BRIO_OK)
        return brio__error(error, BRIO_NOT_FINITE, "the last state of %s is not finite", k->run);
    double *energy = k->sim->term_energy;
    BrioEvaluator *elements = brio__potential_elements(k->sim->stepper->potential);
    brio__evaluate(elements, state->param, k->reference, NULL, energy);
    for (int t = 0; t < s->term_count; t++)
        if (t != s->gravity_term) k->prestress += energy[t];
    if (k->prestress <= brio__evaluate_noise(elements, state->param, energy)) k->prestress = 0;
    return BRIO_OK;
}

static BrioStatus analyse(Work *k, BrioError *error)
{
    BRIO_CHECK(brio__run_load(k->run, &k->scene, &k->sim, error));
    BRIO_CHECK(prepare(k, error));
    const BrioSystem *s = k->sim->system;
    BrioStatus status = BRIO_OK;
    for (int i = 0; status == BRIO_OK && i < s->body_count; i++) status = project_body(k, i);
    if (status == BRIO_OK) status = brio__stiffness_create(s, &k->stiffness);
    if (status == BRIO_OK) status = brio__stiffness_at(k->stiffness, k->sim->state, k->reference);
    if (status != BRIO_OK) return brio__error(error, status, "%s", brio_status_text(status));
    BRIO_CHECK(brio__modes_create(k->stiffness, &k->modes, error));
    brio__modes_project(s, &k->modes, k->u, k->a, k->cumulative);
    brio__modes_project(s, &k->modes, k->w, k->b, k->cumulative);
    energies(k);
    return BRIO_OK;
}

/* Those of most energy among the modes that are not rigid, `max` of them. */
static void choose(Work *k, int64_t max)
{
    for (int64_t round = 0; round < max; round++) {
        int best = -1;
        for (int i = 0; i < k->modes.n; i++)
            if (k->frequency[i] != 0 && !k->shown[i] &&
                (best < 0 || fabs(k->total[i]) > fabs(k->total[best])))
                best = i;
        if (best < 0) return;
        k->shown[best] = 1;
    }
}

/* ---- what it says ----------------------------------------------------------------------- */

static double gravity(const Work *k)
{
    const BrioSystem *s = k->sim->system;
    const double *g = k->sim->state->param + s->term[s->gravity_term].params;
    return hypot(hypot(g[0], g[1]), g[2]);
}

static int notes(const Work *k, char text[6][320])
{
    int count = 0;
    double elastic = k->ledger.elastic + k->ledger.attachment;
    if (gravity(k) > 0 && k->zeros < k->modes.n)
        snprintf(text[count++], sizeof text[0],
                 "The modes are about the rest shape, without gravity: the sag of a hanging body "
                 "counts as potential energy of low modes.");
    if (k->fixed_moved)
        snprintf(text[count++], sizeof text[0],
                 "Held vertices are not where the rest shape has them: the strain that they force "
                 "on the body is not the modes' alone.");
    if (k->prestress > 1e-9 * fmax(fabs(elastic), 1e-300))
        snprintf(text[count++], sizeof text[0],
                 "The rest shape already holds %.6g J (springs of other lengths, attachments that "
                 "pull): potentials are quadratic parts about it.",
                 k->prestress);
    if (k->unstable)
        snprintf(text[count++], sizeof text[0],
                 "%d modes have w^2 < 0: the rest shape is compressed and unstable in them.",
                 k->unstable);
    if (fabs(k->sum[1] - elastic) > 0.1 * fmax(fabs(elastic), fabs(k->sum[1])) &&
        k->sum[1] > 1e-9 * k->sum[0])
        snprintf(text[count++], sizeof text[0],
                 "The potential energies of the modes sum to %.3g times the elastic energy: the "
                 "deformation is too large for linear modes to show more than a tendency.",
                 k->sum[1] / elastic);
    return count;
}

static void row(Table *table, const char *name, const char *frequency, const double energy[3],
                double fraction)
{
    table_cell(table, "%s", name);
    table_cell(table, "%s", frequency);
    for (int i = 0; i < 3; i++) table_number(table, energy[i], 5);
    if (isnan(fraction))
        table_cell(table, "%s", "");
    else
        table_cell(table, "%.2f", 100 * fraction);
}

static void print_table(const Work *k)
{
    static const TableColumn columns[] = {{"mode", NULL, true},    {"frequency", "Hz", false},
                                          {"kinetic", "J", false}, {"potential", "J", false},
                                          {"total", "J", false},   {"share", "%", false}};
    Table table = {.columns = BRIO_COUNT(columns), .column = columns};
    double rigid[3] = {0}, others[3] = {0}, whole = k->sum[2] != 0 ? k->sum[2] : 1;
    int other_count = 0;
    char name[64], frequency[32];
    for (int i = 0; i < k->modes.n; i++) {
        if (k->shown[i]) continue;
        double *to = k->frequency[i] == 0 ? rigid : others;
        other_count += k->frequency[i] != 0;
        to[0] += k->kinetic[i], to[1] += k->potential[i], to[2] += k->total[i];
    }
    if (k->zeros) {
        snprintf(name, sizeof name, "rigid (%d)", k->zeros);
        row(&table, name, "0", rigid, rigid[2] / whole);
    }
    for (int i = 0; i < k->modes.n; i++) {
        if (!k->shown[i]) continue;
        snprintf(name, sizeof name, "%d", i + 1);
        snprintf(frequency, sizeof frequency, isnan(k->frequency[i]) ? "unstable" : "%.5g",
                 k->frequency[i]);
        row(&table, name, frequency, (const double[]){k->kinetic[i], k->potential[i], k->total[i]},
            k->total[i] / whole);
    }
    if (other_count) {
        snprintf(name, sizeof name, "others (%d)", other_count);
        row(&table, name, "", others, others[2] / whole);
    }
    row(&table, "all modes", "", k->sum, k->sum[2] / whole);
    double elastic = k->ledger.elastic + k->ledger.attachment;
    row(&table, "true", "",
        (const double[]){k->ledger.kinetic, elastic, k->ledger.kinetic + elastic}, NAN);
    table_print(&table, stdout, 2);
}

static void print(const Work *k)
{
    const BrioSystem *s = k->sim->system;
    char text[6][320];
    printf("%s%s%s at t = %g s: %d modes about the rest shape, up to %.5g Hz\n", k->run,
           k->scene->title[0] ? ", " : "", k->scene->title, k->ledger.time, k->modes.n,
           k->frequency[k->modes.n - 1]);
    for (int i = 0; i < s->body_count; i++)
        if (k->motion[i].is_free)
            printf("  body \"%s\" is free: its best rigid motion (%.4g m, %.4g degrees) was "
                   "removed first\n",
                   s->body[i].name, k->motion[i].shift, k->motion[i].turn * 180 / M_PI);
    putchar('\n');
    print_table(k);
    printf("\n  %s\"true\" is the ledger: kinetic, and elastic%s instead of the potential.\n",
           k->zeros ? "\"rigid\" are the motions of no frequency; " : "",
           k->ledger.attachment != 0 ? " with attachments" : "");
    int count = notes(k, text);
    for (int i = 0; i < count; i++) print_wrapped(stdout, text[i], 2, 100);
}

static void print_json(const Work *k)
{
    BrioJson json = {.file = stdout};
    char text[6][320];
    brio__json_open(&json, NULL, '{');
    brio__json_text(&json, "run", k->run);
    brio__json_real(&json, "time", k->ledger.time);
    brio__json_integer(&json, "coordinates", k->modes.n);
    brio__json_integer(&json, "rigid_modes", k->zeros);
    brio__json_integer(&json, "unstable_modes", k->unstable);
    brio__json_real(&json, "kinetic", k->sum[0]);
    brio__json_real(&json, "potential", k->sum[1]);
    brio__json_real(&json, "total", k->sum[2]);
    brio__json_real(&json, "ledger_kinetic", k->ledger.kinetic);
    brio__json_real(&json, "ledger_elastic", k->ledger.elastic);
    brio__json_real(&json, "ledger_attachment", k->ledger.attachment);
    brio__json_real(&json, "ledger_gravity", k->ledger.gravity);
    brio__json_open(&json, "bodies", '[');
    for (int i = 0; i < k->sim->system->body_count; i++) {
        brio__json_open(&json, NULL, '{');
        brio__json_text(&json, "name", k->sim->system->body[i].name);
        brio__json_boolean(&json, "free", k->motion[i].is_free);
        brio__json_real(&json, "shift", k->motion[i].shift);
        brio__json_real(&json, "turn", k->motion[i].turn);
        brio__json_close(&json, '}');
    }
    brio__json_close(&json, ']');
    brio__json_open(&json, "modes", '[');
    for (int i = 0; i < k->modes.n; i++) {
        if (!k->shown[i] && k->frequency[i] != 0) continue;
        brio__json_key(&json, NULL);
        /* one line a mode */
        BrioJson line = {.file = stdout, .flat = true, .depth = 1, .first = true};
        fputc('{', stdout);
        brio__json_integer(&line, "mode", i + 1);
        brio__json_real(&line, "frequency", k->frequency[i]);
        brio__json_real(&line, "kinetic", k->kinetic[i]);
        brio__json_real(&line, "potential", k->potential[i]);
        brio__json_real(&line, "total", k->total[i]);
        fputc('}', stdout);
    }
    brio__json_close(&json, ']');
    brio__json_open(&json, "notes", '[');
    int count = notes(k, text);
    for (int i = 0; i < count; i++) brio__json_text(&json, NULL, text[i]);
    brio__json_close(&json, ']');
    brio__json_close(&json, '}');
}

/* ---- the picture ------------------------------------------------------------------------ */

static BrioStatus draw(const Work *k, FILE *file)
{
    char title[256];
    double max = 0;
    for (int i = 0; i < k->modes.n; i++) max = fmax(max, fmax(k->kinetic[i], k->potential[i]));
    if (!(max > 0)) max = 1;
    snprintf(title, sizeof title, "Energy by mode: %s, t = %g s",
             k->scene->title[0] ? k->scene->title : k->run, k->ledger.time);
    BrioPlotSeries energy[2] = {{.name = "kinetic",
                                 .mark = BRIO_PLOT_POINTS,
                                 .count = k->modes.n,
                                 .x = k->frequency,
                                 .y = k->kinetic},
                                {.name = "potential",
                                 .mark = BRIO_PLOT_POINTS,
                                 .count = k->modes.n,
                                 .x = k->frequency,
                                 .y = k->potential}};
    BrioPlotSeries fraction = {.count = k->modes.n, .x = k->frequency, .y = k->cumulative};
    BrioPlot plots[2] = {{.title = title,
                          .x = {.label = "frequency [Hz]"},
                          .y = {.label = "energy [J]",
                                .log = true,
                                .fixed = true,
                                .low = 1e-14 * max,
                                .high = 4 * max},
                          .series_count = 2,
                          .series = energy},
                         {.title = "Share of the vibrations' energy up to a frequency",
                          .x = {.label = "frequency [Hz]"},
                          .y = {.label = "%", .fixed = true, .low = 0, .high = 105},
                          .series_count = 1,
                          .series = &fraction}};
    return brio__plot_write(file, plots, 2, 1);
}

static int write_picture(const Work *k, const char *name, bool force)
{
    ResultFile result;
    if (!create_file(&command_spectrum, name, force, "give another name", &result))
        return EXIT_USAGE;
    return finish_file(&command_spectrum, &result, draw(k, result.file));
}

/* ---- the command ------------------------------------------------------------------------ */

static void release(Work *k)
{
    double *vectors[] = {k->reference, k->x,       k->v,         k->u,     k->w,         k->a, k->b,
                         k->frequency, k->kinetic, k->potential, k->total, k->cumulative};
    for (size_t i = 0; i < BRIO_COUNT(vectors); i++) brio__free(vectors[i]);
    brio__free(k->shown);
    brio__free(k->motion);
    brio__modes_free(&k->modes);
    brio__stiffness_free(k->stiffness);
    brio_sim_free(k->sim);
    brio__scene_free(k->scene);
}

enum { MODES, OUT, FORCE, THREADS, JSON, PLUGIN };

static int run(int argc, char **argv)
{
    Arguments a = {.command = &command_spectrum, .argc = argc, .argv = argv, .at = 1};
    Work k = {0};
    const char *picture = NULL;
    int64_t max = 0, threads;
    int option, code = EXIT_DONE;
    bool force = false, json = false;
    while ((option = argument_next(&a)) != ARGUMENT_END) {
        switch (option) {
        case MODES:
            if (!read_count(a.command, "--modes", a.value, BRIO_MODES_MAX, &max)) return EXIT_USAGE;
            break;
        case OUT: picture = a.value; break;
        case FORCE: force = true; break;
        case JSON: json = true; break;
        case THREADS:
            if (!read_count(a.command, "--threads", a.value, 1024, &threads)) return EXIT_USAGE;
            brio_set_threads((int)threads);
            break;
        case ARGUMENT_WORD:
            if (k.run)
                return usage_error(a.command, "one folder at a time: \"%s\" and \"%s\"", k.run,
                                   a.value);
            k.run = a.value;
            break;
        default: return a.exit;
        }
    }
    if (!k.run)
        return usage_error(a.command, "which results? Give the folder that `brio run` has written");
    BrioError error = {0};
    if (analyse(&k, &error) == BRIO_OK) {
        choose(&k, max ? max : json ? k.modes.n : 12);
        if (picture) code = write_picture(&k, picture, force);
        if (code == EXIT_DONE && json) print_json(&k);
        if (code == EXIT_DONE && !json) print(&k);
        if (code == EXIT_DONE && !json && picture)
            printf("  %s  energy against frequency\n", picture);
    } else {
        code =
            say_error(&error, error.status == BRIO_NOT_CONVERGED || error.status == BRIO_NOT_FINITE
                                  ? EXIT_FAILED
                                  : EXIT_USAGE);
    }
    release(&k);
    return code;
}

static const Option options[] = {
    [MODES] =
        {"--modes", 'n', "N",
         "How many modes to show: those with the most energy (default: 12; with --json all)."},
    [OUT] = {"--out", 'o', "FILE.svg", "Draw energy against frequency."},
    [FORCE] = {"--force", 'f', NULL, "Replace FILE.svg if it exists."},
    [THREADS] = {"--threads", 'j', "N", "Number of threads; results do not depend on it."},
    [JSON] = {"--json", 0, NULL, "The result as one JSON object on the standard output."},
    [PLUGIN] = OPTION_PLUGIN,
    {0}};

const Command command_spectrum = {
    .name = "spectrum",
    .summary = "Show the energy of a run's last state by eigenmode.",
    .synopsis = "RUN [--modes N] [-o FILE.svg] [--force] [--threads N] [--json]",
    .about = "Takes the scene from RUN/run.json and the last state from RUN/checkpoint. Computes "
             "all vibration modes K phi = w^2 M phi about the rest shape and prints the kinetic "
             "and potential energy of each. This shows which modes gain the energy that an "
             "integrator adds, and which lose the energy that it damps.\n"
             "\n"
             "Displacement u and velocity v are sums of the modes, which are orthonormal in the "
             "mass matrix: mode k holds 1/2 (phi_k . M v)^2 of kinetic energy and 1/2 w_k^2 "
             "(phi_k . M u)^2 of potential. The kinetic energies sum to the true one exactly. The "
             "potential energies do so for small strain; the line \"true\" shows the difference.\n"
             "\n"
             "Linear modes do not describe large rotations. So the command first undoes the best "
             "rigid motion of a free body (for a straight chain of springs: the smallest rotation "
             "and the mean shift). Its rigid velocity then appears in the modes of zero "
             "frequency, which share one line. Modes of equal frequency (a square beam bends "
             "alike in two directions) are unique only up to a mixture: read their sum. The "
             "rotation of a fixed body, such as a twisted or swinging one, is not undone.\n"
             "\n"
             "Gravity is constant and not part of the modes: the sag of a hanging body counts as "
             "potential energy of its low modes. The limit is 3000 coordinates, that is 1000 free "
             "vertices.",
    .options = options,
    .examples = "brio run cantilever -o beam && brio spectrum beam\nbrio spectrum beam --modes 30 "
                "-o beam.svg\nbrio spectrum beam --json",
    .run = run,
};
