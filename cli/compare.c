/* brio compare: one scene with many integrators and step sizes.
 *
 * Every trial starts from the same first state and ends at the same instant: where time.end is no
 * multiple of h, the last step is shorter. Distances of end positions are |x - y| = sqrt(sum m_i
 * |x_i - y_i|^2 / sum m_i). Against a reference x* the order between two step sizes is ln(e_1/e_2)
 * / ln(h_1/h_2). Without one, three step sizes h_1 > h_2 > h_3 of a method with x = x* + C h^p give
 *
 *     |x_1 - x_2| / |x_2 - x_3| = (h_1^p - h_2^p) / (h_2^p - h_3^p),      x* = x_3 + (x_3 - x_2)
 * h_3^p / (h_2^p - h_3^p)
 *
 * [Richardson1911]; p is found by bisection, so that the ratios need not be equal. */
#include "compare.h"

#include "internal.h"
#include "progress.h"
#include "report.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { MOST_SAMPLES = 20000 }; /* of a trial */

/* ---- what was asked for ----------------------------------------------------------------- */

/* Cuts the next piece off a list, at a comma outside of braces, brackets and quotes; NULL at the
 * end. Blanks around it go. */
static char *next_piece(char **rest)
{
    char *start = *rest, quote = 0;
    int depth = 0;
    if (!start) return NULL;
    char *at = start;
    for (; *at; at++) {
        if (quote) {
            if (*at == quote) quote = 0;
        } else if (*at == '"' || *at == '\'') {
            quote = *at;
        } else if (*at == '{' || *at == '[') {
            depth++;
        } else if (*at == '}' || *at == ']') {
            depth--;
        } else if (*at == ',' && depth == 0) {
            break;
        }
    }
    *rest = *at ? at + 1 : NULL;
    *at = 0;
    while (at > start && isspace((unsigned char)at[-1])) *--at = 0;
    while (isspace((unsigned char)*start)) start++;
    return start;
}

/* "key=value" and the node that --set makes of it, in a tree that the caller frees. */
static BrioStatus assign(const char *key, const char *value, char **assignment, BrioNode **root,
                         BrioError *error)
{
    size_t size = strlen(key) + strlen(value) + 2;
    *assignment = brio__alloc(size, 1);
    if (!*assignment) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    snprintf(*assignment, size, "%s=%s", key, value);
    BRIO_CHECK(brio__tree_parse("{}", 2, "", root, error));
    return brio__tree_set(*root, *assignment, error);
}

/* "a-search", or "a-search decay=10" of {type: a-search, decay: 10}. */
static BrioStatus make_label(const BrioNode *node, const char *type, char *label, size_t size,
                             BrioError *error)
{
    size_t used = (size_t)snprintf(label, size, "%s", type);
    for (int i = 0; node->kind == BRIO_NODE_MAP && i < node->count && used < size; i++) {
        const BrioNode *child = node->child[i];
        char *text = NULL;
        size_t length;
        if (!strcmp(child->key, "type")) continue;
        FILE *file = open_memstream(&text, &length);
        if (!file) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
        BrioStatus status = brio__tree_json(child, -1, file);
        if (fclose(file) && status == BRIO_OK) status = BRIO_ERROR_MEMORY;
        if (status == BRIO_OK)
            used += (size_t)snprintf(label + used, size - used, " %s=%s", child->key,
                                     child->kind == BRIO_NODE_SCALAR ? child->text : text);
        free(text);
        if (status != BRIO_OK) return brio__error(error, status, "%s", brio_status_text(status));
    }
    return BRIO_OK;
}

/* Names and parameters are checked here, before anything runs; what a scene has against an
 * integrator is for its trial to say. */
static BrioStatus check_method(BrioNode *root, Method *method, BrioError *error)
{
    static const char *const type_key[] = {"type"};
    BrioNode *node = brio__node_get(root, "integrator");
    BrioNode *type = node->kind == BRIO_NODE_MAP ? brio__node_get(node, "type") : node;
    const char *name, *names[128];
    double values[BRIO_MAX_VALUES];
    char reason[256];
    int count = 0;
    if (!type)
        return brio__node_error(node, error, "missing key \"type\": {type: a-search, decay: 10}");
    BRIO_CHECK(brio__node_text(type, &name, error));
    const BrioIntegrator *integrator = brio_integrator(name);
    if (!integrator) {
        for (; count < (int)BRIO_COUNT(names) && brio_integrator_at(count); count++)
            names[count] = brio_integrator_at(count)->name;
        const char *nearest = brio__nearest(name, names, count);
        if (nearest)
            return brio__node_error(type, error, "no integrator \"%s\"; did you mean \"%s\"?", name,
                                    nearest);
        return brio__node_error(type, error, "no integrator \"%s\"; see `brio list integrators`",
                                name);
    }
    brio_fields_defaults(integrator->fields, values);
    if (node->kind == BRIO_NODE_MAP)
        BRIO_CHECK(brio__node_fields(node, integrator->fields, type_key, 1, values, error));
    unsigned traits = integrator->traits;
    if (integrator->check && integrator->check(values, &traits, reason, sizeof reason) != BRIO_OK)
        return brio__node_error(node, error, "%s", reason);
    return make_label(node, name, method->label, sizeof method->label, error);
}

static BrioStatus read_method(const char *text, Method *method, BrioError *error)
{
    BrioNode *root = NULL;
    if (!text[0])
        return brio__error(error, BRIO_ERROR_INPUT, "an integrator is missing beside a comma");
    BrioStatus status = assign("integrator", text, &method->assignment, &root, error);
    if (status == BRIO_OK) status = check_method(root, method, error);
    brio__tree_free(root);
    return status;
}

static BrioStatus read_size(const char *text, StepSize *size, BrioError *error)
{
    BrioNode *root = NULL;
    if (!text[0])
        return brio__error(error, BRIO_ERROR_INPUT, "a step size is missing beside a comma");
    BrioStatus status = assign("time.h", text, &size->assignment, &root, error);
    if (status == BRIO_OK) {
        BrioNode *node = brio__node_get(brio__node_get(root, "time"), "h");
        size->text = strchr(size->assignment, '=') + 1;
        status = brio__node_real(node, &size->h, error);
        if (status == BRIO_OK && !(size->h > 0))
            status = brio__node_error(node, error, "a step size must be positive");
    }
    brio__tree_free(root);
    return status;
}

static int by_size(const void *a, const void *b)
{
    double x = ((const StepSize *)a)->h, y = ((const StepSize *)b)->h;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* The place in a message is that of the option. */
static BrioStatus at_option(const char *option, BrioStatus status, BrioError *error)
{
    if (status == BRIO_OK) return BRIO_OK;
    snprintf(error->file, sizeof error->file, "%s", option);
    error->path[0] = 0;
    error->line = error->column = 0;
    return status;
}

static BrioStatus read_lists(Comparison *c, char *methods, char *sizes, char *reference,
                             BrioError *error)
{
    for (char *piece; (piece = next_piece(&methods));) {
        if (c->method_count == MOST_METHODS)
            return at_option("--integrators",
                             brio__error(error, BRIO_ERROR_INPUT, "more than %d", MOST_METHODS),
                             error);
        BRIO_CHECK(at_option("--integrators",
                             read_method(piece, &c->method[c->method_count++], error), error));
        for (int i = 0; i < c->method_count - 1; i++)
            if (!strcmp(c->method[i].label, c->method[c->method_count - 1].label))
                return at_option("--integrators",
                                 brio__error(error, BRIO_ERROR_INPUT, "%s stands there twice",
                                             c->method[i].label),
                                 error);
    }
    for (char *piece; (piece = next_piece(&sizes));) {
        if (c->size_count == MOST_SIZES)
            return at_option(
                "--h", brio__error(error, BRIO_ERROR_INPUT, "more than %d", MOST_SIZES), error);
        BRIO_CHECK(at_option("--h", read_size(piece, &c->size[c->size_count++], error), error));
        for (int i = 0; i < c->size_count - 1; i++)
            if (c->size[i].h == c->size[c->size_count - 1].h)
                return at_option("--h",
                                 brio__error(error, BRIO_ERROR_INPUT, "%s and %s are the same",
                                             c->size[i].text, piece),
                                 error);
    }
    qsort(c->size, (size_t)c->size_count, sizeof *c->size, by_size);
    if (!reference) return BRIO_OK;
    char *at = strrchr(reference, '@');
    if (!at)
        return at_option("--reference",
                         brio__error(error, BRIO_ERROR_INPUT, "expected NAME@h, as in rk4@1/10000"),
                         error);
    *at = 0;
    BRIO_CHECK(at_option("--reference", read_method(reference, &c->method[c->method_count], error),
                         error));
    return at_option("--reference", read_size(at + 1, &c->size[MOST_SIZES], error), error);
}

/* ---- trials ----------------------------------------------------------------------------- */

static double length3(const double v[3]) { return hypot(hypot(v[0], v[1]), v[2]); }
static double distance3(const double a[3], const double b[3])
{
    return length3((const double[]){a[0] - b[0], a[1] - b[1], a[2] - b[2]});
}

/* Without gravity, whose zero is anywhere. */
static double motion_energy(const BrioLedger *l)
{
    return l->kinetic + fabs(l->elastic) + fabs(l->attachment) + fabs(l->contact);
}

static BrioStatus load(const Comparison *c, const char *method, const char *size, BrioScene **scene,
                       BrioError *error)
{
    const char *sets[MOST_SETS + 2];
    int count = 0;
    for (; count < c->given.set_count; count++) sets[count] = c->given.sets[count];
    if (method) sets[count++] = method;
    if (size) sets[count++] = size;
    return brio__scene_load(c->given.name, sets, count, scene, error);
}

/* What holds for all trials, from the first that can be made. */
static BrioStatus learn(Comparison *c, BrioSim *sim, const BrioLedger *first)
{
    const BrioSystem *s = sim->system;
    const BrioDissipation *losses = sim->stepper->dissipation;
    if (c->is_known) return BRIO_OK;
    c->vertex_count = s->body_vertices;
    c->vertex_mass = brio__alloc((size_t)s->body_vertices, sizeof(double));
    if (!c->vertex_mass) return BRIO_ERROR_MEMORY;
    /* that of an affine body is spread over its vertices */
    for (int i = 0; i < s->body_count; i++) {
        int64_t count, at = brio__body_masses(&s->body[i], &count);
        for (int64_t v = 0; v < s->body[i].count; v++) {
            double m = count == s->body[i].count
                           ? s->vertex_mass[at + v]
                           : s->vertex_mass[at] * (double)count / (double)s->body[i].count;
            c->vertex_mass[s->body[i].first + v] = m;
            c->mass += m;
        }
    }
    c->first_motion = motion_energy(first);
    c->gravity =
        s->gravity_term < 0 ? 0 : length3(sim->state->param + s->term[s->gravity_term].params);
    c->keeps_linear = c->keeps_angular =
        c->gravity == 0 && s->held_count == 0 && s->obstacle_count == 0;
    for (int i = 0; i < losses->count; i++) {
        c->keeps_linear &= !losses->damper[i].model->brakes_translation;
        c->keeps_angular &= !losses->damper[i].model->brakes_rotation;
    }
    c->is_known = true;
    return BRIO_OK;
}

static void observe(const Comparison *c, Trial *t, const BrioLedger *l, const BrioLedger *first,
                    bool keep)
{
    double change = l->total - first->total;
    double linear = distance3(l->momentum, first->momentum);
    double angular = distance3(l->angular, first->angular);
    t->largest = fmax(t->largest, motion_energy(l));
    t->value[STEPS] = (double)l->step;
    t->value[REACHED] = l->time;
    t->value[CHANGE] = change;
    t->value[ABOVE] = fmax(t->value[ABOVE], change); /* from NAN on */
    t->value[REMAINDER] = l->remainder;
    t->value[UNFINISHED] = l->unfinished;
    t->value[ADDED] = l->added;
    t->value[DISSIPATED] = l->dissipated;
    if (c->keeps_linear) t->value[LINEAR] = fmax(t->value[LINEAR], linear);
    if (c->keeps_angular) t->value[ANGULAR] = fmax(t->value[ANGULAR], angular);
    if (!keep) return;
    const double sample[CURVE_COUNT] = {
        [CURVE_TIME] = l->time,  [CURVE_CHANGE] = change,   [CURVE_KINETIC] = l->kinetic,
        [CURVE_LINEAR] = linear, [CURVE_ANGULAR] = angular, [CURVE_ALPHA] = l->alpha};
    for (int k = 0; k < CURVE_COUNT; k++) t->curve[k][t->sample_count] = sample[k];
    t->sample_count++;
}

static void show(Comparison *c, const Trial *t, const BrioLedger *l)
{
    double now = brio__seconds();
    double share = c->planned_steps > 0 ? c->done_steps / c->planned_steps : 1;
    double wall = now - c->started;
    char spent[32], left[48] = "";
    if (c->quiet || now - c->shown < (isatty(STDERR_FILENO) ? 0.1 : 10)) return;
    c->shown = now;
    seconds_text(wall, spent, sizeof spent);
    if (share > 0 && share < 1) {
        char eta[24];
        seconds_text(wall / share * (1 - share), eta, sizeof eta);
        snprintf(left, sizeof left, ", ETA %s", eta);
    }
    progress_text(
        "%3.0f %%  %d of %d: %s, h = %s  t = %.3f of %g s  wall %s%s  E = %.5g J  %d iterations",
        floor(100 * share), (int)(t - c->trial) + 1, c->trial_count, t->method->label,
        t->size->text, l->time, c->scene->end, spent, left, l->total, l->iterations);
}

/* The motion goes to a file without a name, from which the report reads it. Reports do without it
 * where this fails. */
static void tape_drop(Comparison *c)
{
    brio__motion_free(c->tape);
    if (c->tape_file) fclose(c->tape_file);
    c->tape = NULL;
    c->tape_file = NULL;
}

/* A frame whenever an instant k/fps is reached or passed; `before` is the time of the last step,
 * negative at the start. */
static void tape_frame(Comparison *c, const Trial *t, const BrioSim *sim, double before)
{
    const BrioState *state = sim->state;
    double fps = c->tape ? c->tape->fps : 1;
    double now = floor(state->time * fps + 1e-6);
    double last = before < 0 ? -1 : floor(before * fps + 1e-6);
    if (!c->tape || now <= last || c->tape_instants++ % c->tape->stride) return;
    brio__system_positions(sim->system, state, state->q, state->time, t->x);
    brio__motion_frame(c->tape, state->time, t->x, NULL);
    if (fwrite(c->tape->buffer, 1, c->tape->frame_bytes, c->tape_file) != c->tape->frame_bytes)
        tape_drop(c);
}

static void tape_begin(Comparison *c, const Trial *t, const BrioScene *scene, const BrioSim *sim,
                       int64_t steps)
{
    char *head = NULL;
    size_t size = 0;
    c->tape_instants = 0;
    if (c->tape_count >= REPORT_MOST_RUNS || !scene->motion) return;
    brio__system_positions(sim->system, sim->state, sim->state->q, sim->state->time, t->x);
    c->tape_file = tmpfile();
    bool whole = c->tape_file &&
                 brio__motion_create(sim->system, scene->rest, t->x, scene->fps,
                                     fmin(scene->end * scene->fps, (double)steps) + 1, false,
                                     &c->tape) == BRIO_OK &&
                 brio__motion_head(c->tape, &head, &size) == BRIO_OK &&
                 fwrite(head, 1, size, c->tape_file) == size;
    free(head);
    if (!whole)
        tape_drop(c);
    else
        tape_frame(c, t, sim, -1);
}

/* What explodes leaves the picture, and would make everything else a dot. */
static void tape_end(Comparison *c, Trial *t)
{
    if (c->tape && t->outcome != TRIAL_EXPLODED && fflush(c->tape_file) == 0) {
        FILE *file = c->tape_file;
        c->tape_file = NULL; /* the motion closes it */
        if (brio__motion_read(file, "the motion", &t->motion, NULL) == BRIO_OK) c->tape_count++;
    }
    tape_drop(c);
}

/* Steps to the end; what stops it on the way is a result. */
static TrialOutcome advance(Comparison *c, Trial *t, BrioSim *sim, const BrioLedger *first,
                            int64_t steps)
{
    BrioLedger l = *first;
    int64_t every = steps / MOST_SAMPLES + 1;
    double h = t->size->h;
    double end = c->scene->end;
    double fall = 0.5 * c->mass * c->gravity * end * c->gravity * end;
    bool shorter = fabs((double)steps * h - end) > 1e-6 * h;
    t->value[WALL] = t->value[HALVED] = 0;
    for (int64_t k = 1; k <= steps; k++) {
        if (stop_wanted) {
            snprintf(t->reason, sizeof t->reason, "stopped on request at t = %.5g s",
                     sim->state->time);
            return TRIAL_STOPPED;
        }
        double clock = brio__seconds(), before = sim->state->time;
        BrioStatus status =
            brio_sim_step_by(sim, k == steps && shorter ? end - sim->state->time : h, NULL);
        t->value[WALL] += brio__seconds() - clock;
        t->value[HALVED] += sim->stepper->halvings > 0;
        c->done_steps++;
        if (status != BRIO_OK) {
            snprintf(t->reason, sizeof t->reason, "failed at t = %.5g s: %s", sim->state->time,
                     brio_sim_reason(sim)[0] ? brio_sim_reason(sim) : brio_status_text(status));
            return TRIAL_FAILED;
        }
        if (brio_sim_ledger(sim, &l) != BRIO_OK) {
            snprintf(t->reason, sizeof t->reason,
                     "exploded at t = %.5g s: the energy is not a finite number", sim->state->time);
            return TRIAL_EXPLODED;
        }
        observe(c, t, &l, first, k % every == 0 || k == steps);
        tape_frame(c, t, sim, before);
        double usual = c->first_motion + fall + fabs(l.added);
        if (usual > 0 && motion_energy(&l) > TRIAL_EXPLOSION * usual) {
            snprintf(t->reason, sizeof t->reason,
                     "exploded at t = %.5g s: kinetic and elastic energy passed %.3g J", l.time,
                     TRIAL_EXPLOSION * usual);
            return TRIAL_EXPLODED;
        }
        show(c, t, &l);
    }
    return TRIAL_COMPLETED;
}

static BrioStatus start(Comparison *c, Trial *t, BrioSim *sim, int64_t steps, BrioLedger *first)
{
    size_t room = (size_t)(steps / (steps / MOST_SAMPLES + 1)) + 3;
    BRIO_CHECK(brio_sim_ledger(sim, first));
    BRIO_CHECK(learn(c, sim, first));
    t->x = brio__alloc(3 * (size_t)sim->system->vertex_count, sizeof(double));
    bool whole = t->x != NULL;
    for (int k = 0; k < CURVE_COUNT; k++)
        whole &= (t->curve[k] = brio__alloc(room, sizeof(double))) != NULL;
    return whole ? BRIO_OK : BRIO_ERROR_MEMORY;
}

static void perform(Comparison *c, Trial *t)
{
    BrioScene *scene = NULL;
    BrioSim *sim = NULL;
    BrioError error = {0};
    BrioLedger first;
    double before = c->done_steps, planned = ceil(c->scene->end / t->size->h - 1e-6);
    BrioStatus status = load(c, t->method->assignment, t->size->assignment, &scene, &error);
    if (status == BRIO_OK) status = brio__scene_sim(scene, &sim, &error);
    int64_t steps = status == BRIO_OK ? brio__scene_steps(scene) : 0;
    if (status == BRIO_OK && (status = start(c, t, sim, steps, &first)) != BRIO_OK)
        brio__error(&error, status, "%s", brio_status_text(status));
    if (status == BRIO_OK) {
        observe(c, t, &first, &first, true);
        tape_begin(c, t, scene, sim, steps);
        t->outcome = advance(c, t, sim, &first, steps);
        tape_end(c, t);
        t->value[NEWTON] = (double)sim->stepper->solver->totals.iterations;
        if (t->value[STEPS] > 0) t->value[STEP_TIME] = 1000 * t->value[WALL] / t->value[STEPS];
        if (t->value[WALL] > 0) t->value[SPEED] = t->value[REACHED] / t->value[WALL];
        brio__system_positions(sim->system, sim->state, sim->state->q, sim->state->time, t->x);
    } else {
        t->outcome = TRIAL_REFUSED;
        snprintf(t->reason, sizeof t->reason, "%s", error.message);
    }
    c->done_steps = before + planned;
    brio_sim_free(sim);
    brio__scene_free(scene);
}

/* ---- orders and errors ------------------------------------------------------------------ */

static double separation(const Comparison *c, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t v = 0; v < c->vertex_count; v++)
        for (int r = 0; r < 3; r++)
            sum +=
                c->vertex_mass[v] * (x[3 * v + r] - y[3 * v + r]) * (x[3 * v + r] - y[3 * v + r]);
    return sqrt(sum / c->mass);
}

/* p of (h0^p - h1^p)/(h1^p - h2^p) = ratio, which grows with p; NAN: no p from 0.01 to 12, the
 * trials do not converge (yet). */
static double order_of_three(const double h[3], double ratio)
{
    double low = 0.01, high = 12;
    double a = log(h[0] / h[1]), b = log(h[1] / h[2]);
#define RATIO(p) (expm1((p)*a) / -expm1(-(p)*b))
    if (!(ratio >= RATIO(low)) || !(ratio <= RATIO(high))) return NAN;
    for (int k = 0; k < 60; k++) {
        double middle = 0.5 * (low + high);
        *(RATIO(middle) < ratio ? &low : &high) = middle;
    }
#undef RATIO
    return 0.5 * (low + high);
}

static void against_reference(const Comparison *c, Trial **t, int count)
{
    for (int i = 0; i < count; i++) {
        if (t[i] == c->reference) continue;
        t[i]->value[ERROR] = separation(c, t[i]->x, c->reference->x);
        if (i == 0 || !(t[i]->value[ERROR] > 0) || !(t[i - 1]->value[ERROR] > 0)) continue;
        t[i]->value[ORDER] = log(t[i - 1]->value[ERROR] / t[i]->value[ERROR]) /
                             log(t[i - 1]->size->h / t[i]->size->h);
    }
}

static BrioStatus by_extrapolation(Comparison *c, Trial **t, int count)
{
    for (int i = 2; i < count; i++) {
        const double h[3] = {t[i - 2]->size->h, t[i - 1]->size->h, t[i]->size->h};
        t[i]->value[ORDER] = order_of_three(h, separation(c, t[i - 2]->x, t[i - 1]->x) /
                                                   separation(c, t[i - 1]->x, t[i]->x));
    }
    if (count < 3 || isnan(t[count - 1]->value[ORDER])) return BRIO_OK;
    const Trial *last = t[count - 1], *before = t[count - 2];
    double *limit = brio__alloc(3 * (size_t)c->vertex_count, sizeof(double));
    double share = 1 / expm1(last->value[ORDER] * log(before->size->h / last->size->h));
    if (!limit) return BRIO_ERROR_MEMORY;
    for (int64_t k = 0; k < 3 * c->vertex_count; k++)
        limit[k] = last->x[k] + share * (last->x[k] - before->x[k]);
    for (int i = 0; i < count; i++) t[i]->value[ERROR] = separation(c, t[i]->x, limit);
    c->errors_are_estimates = true;
    brio__free(limit);
    return BRIO_OK;
}

static BrioStatus measure_errors(Comparison *c)
{
    bool reference = c->reference && c->reference->outcome == TRIAL_COMPLETED;
    for (int m = 0; m < c->method_count; m++) {
        Trial *found[MOST_SIZES];
        int count = 0;
        for (int k = 0; k < c->size_count; k++) {
            Trial *t = &c->trial[m * c->size_count + k];
            if (t->outcome == TRIAL_COMPLETED) found[count++] = t;
        }
        if (reference)
            against_reference(c, found, count);
        else
            BRIO_CHECK(by_extrapolation(c, found, count));
    }
    return BRIO_OK;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static BrioStatus measure_shares(Comparison *c)
{
    double *largest = brio__alloc((size_t)c->trial_count, sizeof(double));
    size_t count = 0;
    bool driven = c->gravity > 0;
    if (!largest) return BRIO_ERROR_MEMORY;
    for (int i = 0; i < c->trial_count; i++) {
        if (c->trial[i].outcome == TRIAL_COMPLETED) largest[count++] = c->trial[i].largest;
        driven |= fabs(c->trial[i].value[ADDED]) > 1e-3 * c->first_motion;
    }
    qsort(largest, count, sizeof *largest, ascending);
    c->scale_is_first = !driven && c->first_motion > 0;
    c->scale = c->scale_is_first ? c->first_motion : count ? largest[(count - 1) / 2] : NAN;
    if (!(c->scale > 0)) c->scale = NAN;
    brio__free(largest);
    static const Quantity shares[][2] = {
        {CHANGE, CHANGE_SHARE}, {ABOVE, ABOVE_SHARE}, {REMAINDER, REMAINDER_SHARE}};
    for (int i = 0; i < c->trial_count; i++)
        for (size_t k = 0; k < BRIO_COUNT(shares); k++)
            c->trial[i].value[shares[k][1]] = 100 * c->trial[i].value[shares[k][0]] / c->scale;
    return BRIO_OK;
}

/* ---- the command ------------------------------------------------------------------------ */

/* The scene by itself; if its own integrator is what is wrong, with the first that fits. */
static BrioStatus load_scene(Comparison *c, BrioError *error)
{
    BrioStatus status = load(c, NULL, NULL, &c->scene, error);
    for (int i = 0; status != BRIO_OK && i < c->method_count; i++) {
        BrioError other = {0};
        if (load(c, c->method[i].assignment, NULL, &c->scene, &other) == BRIO_OK) return BRIO_OK;
    }
    return status;
}

static BrioStatus plan(Comparison *c, bool has_reference, BrioError *error)
{
    if (c->size_count == 0) { /* the scene's own, or that of a scene which names none */
        BrioNode *time = brio__node_get(c->scene->tree, "time");
        BrioNode *h = time ? brio__node_get(time, "h") : NULL;
        BRIO_CHECK(read_size(h && h->text ? h->text : "1/30", &c->size[c->size_count++], error));
    }
    c->trial_count = c->method_count * c->size_count;
    c->trial = brio__calloc((size_t)c->trial_count + 1, sizeof *c->trial);
    if (!c->trial) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    for (int i = 0; i < c->trial_count; i++) {
        c->trial[i].method = &c->method[i / c->size_count];
        c->trial[i].size = &c->size[i % c->size_count];
        if (has_reference && !strcmp(c->trial[i].method->label, c->method[c->method_count].label) &&
            c->trial[i].size->h == c->size[MOST_SIZES].h)
            c->reference = &c->trial[i];
    }
    if (has_reference && !c->reference) {
        c->reference = &c->trial[c->trial_count++];
        c->reference->method = &c->method[c->method_count];
        c->reference->size = &c->size[MOST_SIZES];
        c->is_extra = true;
    }
    for (int i = 0; i < c->trial_count; i++) {
        for (int q = 0; q < QUANTITY_COUNT; q++) c->trial[i].value[q] = NAN;
        double steps = ceil(c->scene->end / c->trial[i].size->h - 1e-6);
        if (!(steps <= 1e12))
            return brio__error(error, BRIO_ERROR_INPUT,
                               "%g s in steps of %s s are %g steps: more than 1e12", c->scene->end,
                               c->trial[i].size->text, steps);
        c->planned_steps += steps;
    }
    return BRIO_OK;
}

static BrioStatus open_folder(const Comparison *c, BrioFolder *folder, BrioError *error)
{
    BRIO_CHECK(brio__folder_open(c->out, true, folder, error));
    if (flock(folder->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return brio__error(
            error, BRIO_ERROR_EXISTS,
            "another brio is writing to %s: wait for it, or choose another folder with -o", c->out);
    if (faccessat(folder->fd, ".", W_OK | X_OK, 0))
        return brio__write_failed(folder, "", errno, error);
    return c->force ? BRIO_OK : comparison_refuse_existing(folder, error);
}

static int compare(Comparison *c, const BrioFolder *folder)
{
    BrioError error = {0};
    int ran = 0, complete = 0;
    catch_signals();
    /* what the scene has to warn of was said when it was loaded, and would be again for each
     * trial */
    brio_set_log(NULL, NULL);
    c->started = c->shown = brio__seconds();
    for (int i = 0; i < c->trial_count && !stop_wanted; i++) perform(c, &c->trial[i]);
    progress_clear();
    for (int i = 0; i < c->trial_count; i++) {
        TrialOutcome outcome = c->trial[i].outcome;
        ran += outcome != TRIAL_WAITING && outcome != TRIAL_REFUSED;
        complete += outcome != TRIAL_WAITING && outcome != TRIAL_STOPPED;
    }
    BrioStatus status = measure_shares(c);
    if (status == BRIO_OK) status = measure_errors(c);
    if (status != BRIO_OK) brio__error(&error, status, "%s", brio_status_text(status));
    if (status == BRIO_OK) status = comparison_write(c, folder, &error);
    if (status == BRIO_OK && c->json) comparison_json(c, stdout);
    if (status == BRIO_OK && !c->json) comparison_print(c);
    if (status != BRIO_OK) return say_error(&error, EXIT_FAILED);
    if (complete < c->trial_count) {
        fprintf(stderr,
                "brio compare: stopped on request: %d of %d trials are complete and in %s\n",
                complete, c->trial_count, c->out);
        return EXIT_FAILED;
    }
    if (ran == 0)
        fprintf(stderr,
                "brio compare: the scene goes with none of these integrators; see the reasons "
                "above or in %s/report.html\n",
                c->out);
    return ran ? EXIT_DONE : EXIT_FAILED;
}

static void release(Comparison *c)
{
    for (int i = 0; c->trial && i < c->trial_count; i++) {
        brio__free(c->trial[i].x);
        brio__motion_free(c->trial[i].motion);
        for (int k = 0; k < CURVE_COUNT; k++) brio__free(c->trial[i].curve[k]);
    }
    for (int i = 0; i <= MOST_METHODS; i++) brio__free(c->method[i].assignment);
    for (int i = 0; i <= MOST_SIZES; i++) brio__free(c->size[i].assignment);
    brio__free(c->trial);
    brio__free(c->vertex_mass);
    brio__scene_free(c->scene);
}

/* --set of what is compared would have no effect. */
static bool sets_compared(const char *set, const char *key)
{
    size_t length = strlen(key);
    return !strncmp(set, key, length) && strchr("=.[", set[length]);
}

enum { INTEGRATORS, SIZES, REFERENCE, OUT, FORCE, SET, THREADS, QUIET, JSON };

static int run(int argc, char **argv)
{
    Arguments a = {.command = &command_compare, .argc = argc, .argv = argv, .at = 1};
    static Comparison c;
    const char *lists[3] = {NULL};
    char standard[512];
    int option;
    while ((option = argument_next(&a)) != ARGUMENT_END) {
        switch (option) {
        case INTEGRATORS: lists[0] = a.value; break;
        case SIZES: lists[1] = a.value; break;
        case REFERENCE: lists[2] = a.value; break;
        case OUT: c.out = a.value; break;
        case FORCE: c.force = true; break;
        case QUIET: c.quiet = true; break;
        case JSON: c.json = true; break;
        default:
            if (!scene_argument(&a, option, &c.given)) return a.exit;
        }
    }
    if (!c.given.name)
        return usage_error(a.command, "which scene? Give a file or a name of `brio list scenes`");
    if (!lists[0])
        return usage_error(
            a.command,
            "which integrators? Give --integrators a,b,c with names of `brio list integrators`");
    for (int i = 0; i < c.given.set_count; i++) {
        if (sets_compared(c.given.sets[i], "integrator"))
            return usage_error(a.command,
                               "--set %s: integrators are given by --integrators, with parameters "
                               "as '{type: a-search, decay: 10}'",
                               c.given.sets[i]);
        if (lists[1] && sets_compared(c.given.sets[i], "time.h"))
            return usage_error(a.command, "--set %s: step sizes are given by --h", c.given.sets[i]);
    }
    default_folder(c.given.name, "-compared", standard, sizeof standard);
    if (!c.out) c.out = standard;

    BrioError error = {0};
    BrioFolder folder = {.fd = -1};
    char *copies[3];
    BrioStatus status = BRIO_OK;
    for (int i = 0; i < 3; i++) {
        copies[i] = lists[i] ? brio__strdup(lists[i]) : NULL;
        if (lists[i] && !copies[i])
            status = brio__error(&error, BRIO_ERROR_MEMORY, "out of memory");
    }
    if (status == BRIO_OK) status = read_lists(&c, copies[0], copies[1], copies[2], &error);
    if (status == BRIO_OK) status = load_scene(&c, &error);
    if (status == BRIO_OK) status = plan(&c, lists[2] != NULL, &error);
    if (status == BRIO_OK) status = open_folder(&c, &folder, &error);
    int code = status == BRIO_OK ? compare(&c, &folder) : say_error(&error, EXIT_USAGE);
    brio__folder_close(&folder);
    for (int i = 0; i < 3; i++) brio__free(copies[i]);
    release(&c);
    return code;
}

static const Option options[] = {
    [INTEGRATORS] = {"--integrators", 'i', "LIST",
                     "bdf2,a-search or, with parameters, 'bdf2,{type: a-search, decay: 10}'."},
    [SIZES] = {"--h", 0, "LIST", "Step sizes in s: 1/30,1/120. Otherwise the scene's own."},
    [REFERENCE] = {"--reference", 0, "NAME@h",
                   "Measure errors against this run: trapezoidal@1/5000."},
    [OUT] = {"--out", 'o', "FOLDER",
             "Where results go; otherwise NAME-compared in the current folder."},
    [FORCE] =
        {"--force", 'f', NULL,
         "Replace an earlier comparison in the folder (only files that this command writes)."},
    [SET] = {"--set", 's', "PATH=VALUE",
             "Change a value of the scene, for all trials: solver.tol=1e-9, time.end=2."},
    [THREADS] = {"--threads", 'j', "N",
                 "Threads; results do not depend on it, times do. Otherwise one per core."},
    [QUIET] = {"--quiet", 'q', NULL, "No progress."},
    [JSON] = {"--json", 0, NULL,
              "The result as one JSON object on the standard output, as in compare.json."},
    {0}};

const Command command_compare = {
    .name = "compare",
    .summary = "One scene with many integrators and step sizes.",
    .synopsis = "SCENE --integrators LIST [--h LIST] [--reference NAME@h] [-o FOLDER] [--force] "
                "[--set PATH=VALUE]... [--json]",
    .about = "Runs the scene once for every integrator and step size, all from the same first "
             "state to the same end, and prints what each does to "
             "energy and momentum, how exact it is and what it costs. The folder receives "
             "report.html (table, plots and the scene in one file; open "
             "it in a browser), compare.csv, compare.json and the plots as SVG.\n\n"
             "Reading the table. \"change\" is the total energy at the end less that of the first "
             "state, \"above\" the most that it was above the "
             "first on the way; the line below the table says what their percentages are taken of "
             "(never of gravity's energy, whose zero is "
             "anywhere). \"remainder\" is the part of the change that neither damping nor moved "
             "points explain: what the method itself did; "
             "\"unfinished\" is what of it the solver left over, and a smaller solver.tol makes it "
             "smaller. Momenta are shown where the scene keeps "
             "them: without gravity, fixed vertices and obstacles. \"real time\" is simulated over "
             "wall time.\n\n"
             "Order and error. The error is the distance of all vertices from the reference at the "
             "end, the root mean square weighted by mass. "
             "Without --reference, three or more step sizes tell by Richardson's extrapolation to "
             "which positions a method converges, "
             "and how fast: a method of order 2 has a quarter of the error at half the step. Steps "
             "that are too long for the vibrations of the scene show no "
             "order at all; choose a short time.end and a small solver.tol to measure one.\n\n"
             "A method that the scene refuses, that fails or whose energy explodes is a row with "
             "its reason. Ctrl-C ends after the step "
             "at hand and keeps what is finished.\n"
             "Exit code 0: all trials were run, whatever became of them. 1: none could run, or "
             "stopped. 2: the scene or the command is not "
             "valid; nothing was written.",
    .options = options,
    .examples = "brio compare cloth --integrators backward-euler,bdf2,a-search --h 1/30,1/120\n"
                "brio compare demo --integrators 'bdf2,{type: a-search, decay: 10}' -o lively\n"
                "brio compare spinning-cube --integrators backward-euler,trapezoidal --h "
                "1/100,1/200,1/400 --set time.end=0.1\n"
                "brio compare cantilever --integrators bdf2,sdirk2 --h 1/60,1/120 --reference "
                "trapezoidal@1/2000",
    .run = run,
};
