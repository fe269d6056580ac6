/* The matrix of an integrator on the oscillator m x'' = -k x - d x', measured by running it; where
 * it is stable (stability.h). */
#include "stability.h"

#include "../field.h"
#include "eigen.h"

#include <float.h>
#include <string.h>

struct BrioOscillator {
    BrioSim *sim;
    BrioState *first; /* before any step */
    double m;
    int stiffness; /* where k stands among the state's parameters */
    int used;      /* vectors that the method remembers */
    double step;   /* of the present measurement */
};

/* ---- the oscillator --------------------------------------------------------------------- */

/* A vertex on a spring of no length to a fixed vertex at the origin: E = k/2 |x|^2. The vertex is
 * node 1. */
static BrioStatus build(double m, BrioSystem **system, BrioState **state, BrioError *error)
{
    double x[6] = {0, 0, 0, 1, 0, 0}, spring[2] = {1, 0};
    int32_t edge[2] = {0, 1}, fixed = 0;
    const BrioMesh mesh = {.vertex_count = 2, .edge_count = 1, .x = x, .edge = edge};
    BrioBodyDef body = brio_default_body();
    BrioBuilder *builder;
    body.name = "oscillator";
    body.mesh = &mesh;
    body.spring = spring;
    BRIO_CHECK(brio_default_material("hooke", &body.material, NULL));
    BRIO_CHECK(brio_material_set(&body.material, "k", 1, NULL));
    BRIO_CHECK(brio_material_set(&body.material, "vertex_mass", m, NULL));
    BRIO_CHECK(brio_builder_create(&builder, NULL));
    BrioStatus status = brio_builder_body(builder, &body, NULL, error);
    if (status == BRIO_OK) status = brio_builder_fix(builder, 0, &fixed, 1, NULL, error);
    if (status == BRIO_OK) status = brio_builder_finish(builder, system, state, error);
    brio_builder_free(builder);
    return status;
}

static BrioStatus refuse_without_matrix(const BrioIntegrator *integrator, const double *values,
                                        BrioError *error)
{
    static const struct {
        const char *name, *why;
    } table[] = {
        {"static", "static has no motion: every step is the equilibrium, for any state; `brio "
                   "settle` finds it"},
        {"pbd-verlet", "pbd-verlet ignores the stiffness k: it moves vertices towards the rest "
                       "lengths of the springs, as far as its iterations get; use another "
                       "method, for example backward-euler"},
    };
    for (size_t i = 0; i < BRIO_COUNT(table); i++)
        if (!strcmp(integrator->name, table[i].name))
            return brio__error(error, BRIO_ERROR_UNSUPPORTED, "%s", table[i].why);
    unsigned traits = integrator->traits;
    int alpha = brio__fields_offset(integrator->fields, "alpha");
    if (integrator->check) integrator->check(values, &traits, (char[1]){""}, 1);
    if (!(traits & BRIO_ENERGY_CONTROLLED) || (alpha >= 0 && !isnan(values[alpha]))) return BRIO_OK;
    return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                       "%s has no matrix: its steps depend on the energy of the state; %s",
                       integrator->name,
                       alpha >= 0 ? "fix its alpha: --set integrator.alpha=1"
                                  : "use the methods that it combines");
}

BrioStatus brio__oscillator_create(const BrioSimDef *def, double m, BrioOscillator **oscillator,
                                   BrioError *error)
{
    if (error) *error = (BrioError){0};
    const BrioIntegrator *integrator = def->integrator ? brio_integrator(def->integrator) : NULL;
    if (!integrator)
        return brio__error(error, BRIO_ERROR_INPUT, "no integrator \"%s\"",
                           def->integrator ? def->integrator : "");
    BRIO_CHECK(refuse_without_matrix(integrator, def->values, error));
    BrioSystem *system = NULL;
    BrioState *state = NULL;
    BRIO_CHECK(build(m, &system, &state, error));
    BrioOscillator *o = brio__calloc(1, sizeof *o);
    BrioSimDef own = brio_default_sim(integrator->name);
    memcpy(own.values, def->values, sizeof own.values);
    own.h = 1;
    own.damping_count = 1;
    BrioStatus status =
        o ? brio_default_damping("ether-drag", &own.damping[0], NULL) : BRIO_ERROR_MEMORY;
    own.solver.tol = 1e-300; /* to round-off */
    own.solver.linear_tol = 1e-14;
    own.solver.max_halvings = 0;
    if (status == BRIO_OK) {
        /* owns system and state from here on */
        status = brio_sim_create(system, state, &own, &o->sim, error);
    } else {
        brio_system_free(system);
        brio_state_free(state);
    }
    if (status == BRIO_OK) status = brio_state_copy(o->sim->state, &o->first, NULL);
    if (status != BRIO_OK) {
        brio__oscillator_free(o);
        return brio__error(error, status, "%s", brio_status_text(status));
    }
    o->m = m;
    o->stiffness = o->sim->system->term[o->sim->system->body[0].term].params;
    *oscillator = o;
    return BRIO_OK;
}

void brio__oscillator_free(BrioOscillator *o)
{
    if (!o) return;
    brio_sim_free(o->sim);
    brio_state_free(o->first);
    brio__free(o);
}

/* ---- its matrix ------------------------------------------------------------------------- */

/* One step from (x, v, remembered ones). */
static BrioStatus respond(BrioOscillator *o, const double *in, double *out, BrioError *error)
{
    BrioState *state = o->sim->state;
    int64_t n = state->coordinates;
    for (int64_t i = 0; i < n; i++) state->q[i] = state->v[i] = 0;
    for (int64_t i = 0; i < state->history * n; i++) state->past[i] = 0;
    brio__state_forget(state);
    state->q[0] = in[0];
    state->v[0] = in[1];
    for (int k = 0; k < o->used; k++) state->past[k * n] = in[2 + k];
    state->history_used = o->used;
    state->last_h = o->step;
    BrioStatus status = brio_sim_step_by(o->sim, o->step, NULL);
    if (status != BRIO_OK)
        return brio__error(error, status, "%s cannot do a step of %g s: %s",
                           o->sim->stepper->integrator->name, o->step, brio_sim_reason(o->sim));
    out[0] = state->q[0];
    out[1] = state->v[0];
    for (int k = 0; k < o->used; k++) out[2 + k] = state->past[k * n];
    return BRIO_OK;
}

/* Real steps, until the method remembers as much as it ever does. */
static BrioStatus fill_history(BrioOscillator *o, BrioError *error)
{
    BrioState *state = o->sim->state;
    o->used = 0;
    if (state->history == 0) return BRIO_OK;
    for (int64_t n = 0; n <= state->history && state->history_used < state->history; n++) {
        BrioStatus status = brio_sim_step_by(o->sim, o->step, NULL);
        if (status != BRIO_OK)
            return brio__error(error, status, "%s cannot do a step of %g s: %s",
                               o->sim->stepper->integrator->name, o->step, brio_sim_reason(o->sim));
    }
    o->used = (int)state->history_used;
    if (2 + o->used > BRIO_AMPLIFICATION_MAX)
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "%s remembers %d vectors, more than the %d that fit here",
                           o->sim->stepper->integrator->name, o->used, BRIO_AMPLIFICATION_MAX - 2);
    return BRIO_OK;
}

/* a d - b c with the error of its last rounding only [Kahan 2004]. */
static double difference_of_products(double a, double d, double b, double c)
{
    double bc = b * c, lost = fma(-b, c, bc);
    return fma(a, d, -bc) + lost;
}

/* The products of a 2 x 2 determinant may be far larger than it is (h^4 for explicit methods at
 * long steps), and entries are known to their last place only. Then the initial state is sheared
 * along the second, which changes no area, so that its image has hardly any velocity: the remaining
 * product does not cancel. */
static BrioStatus determinant_2(BrioOscillator *o, BrioAmplification *a, BrioError *error)
{
    const double *Q = a->matrix;
    a->det = difference_of_products(Q[0], Q[3], Q[1], Q[2]);
    if (!(fabs(Q[0] * Q[3]) > 64 * fabs(a->det)) || Q[3] == 0) return BRIO_OK;
    double in[2] = {1, -Q[2] / Q[3]}, out[2];
    BRIO_CHECK(respond(o, in, out, error));
    a->det = difference_of_products(out[0], Q[3], Q[1], out[1]);
    return BRIO_OK;
}

/* By elimination with pivots. */
static double determinant(int n, const double *matrix)
{
    long double A[BRIO_AMPLIFICATION_MAX][BRIO_AMPLIFICATION_MAX], det = 1;
    for (int i = 0; i < n * n; i++) A[i / n][i % n] = matrix[i];
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (fabsl(A[i][k]) > fabsl(A[pivot][k])) pivot = i;
        if (A[pivot][k] == 0) return 0;
        for (int j = 0; pivot != k && j < n; j++) {
            long double swap = A[k][j];
            A[k][j] = A[pivot][j], A[pivot][j] = swap;
        }
        det *= pivot == k ? A[k][k] : -A[k][k];
        for (int i = k + 1; i < n; i++) {
            long double factor = A[i][k] / A[k][k];
            for (int j = k; j < n; j++) A[i][j] -= factor * A[k][j];
        }
    }
    return (double)det;
}

/* A pair of eigenvalues from trace and determinant, whose accuracy it keeps. */
static void eigenvalues_2(BrioAmplification *a)
{
    double mean = a->trace / 2, square = fma(mean, mean, -a->det);
    if (square < 0) {
        a->re[0] = a->re[1] = mean;
        a->im[0] = sqrt(-square), a->im[1] = -a->im[0];
        a->radius = sqrt(a->det);
        return;
    }
    a->re[0] = mean + copysign(sqrt(square), mean);
    a->re[1] = a->re[0] != 0 ? a->det / a->re[0] : 0;
    a->im[0] = a->im[1] = 0;
    a->radius = fabs(a->re[0]);
}

/* TOLERANCE 1e-9 of the sum of the moduli, plus 1e-12 of what went in, for rows that (nearly)
 * vanish, plus the round-off of forces on the way: h^2 k/m = Y times as large as what went in,
 * they cancel where a method damps (TR-BDF2 at h w = 7100: 1e-8). */
static BrioStatus check_linear(BrioOscillator *o, const BrioAmplification *a, double Y,
                               BrioError *error)
{
    BrioRandom random = {7};
    int n = a->size;
    double least = 1e-12 + 16 * DBL_EPSILON * Y;
    for (int trial = 0; trial < 2; trial++) {
        double in[BRIO_AMPLIFICATION_MAX] = {0}, out[BRIO_AMPLIFICATION_MAX];
        for (int j = 0; j < n; j++)
            in[j] = brio__random_normal(&random) * (j == 1 ? 1 / o->step : 1);
        BRIO_CHECK(respond(o, in, out, error));
        double unit = fabs(in[0]) + o->step * fabs(in[1]); /* m */
        for (int i = 0; i < n; i++) {
            double sum = 0;
            double size = 1e9 * least * unit *
                          (i == 0   ? 1
                           : i == 1 ? 1 / o->step
                                    : fmax(1, 1 / o->step));
            for (int j = 0; j < n; j++)
                sum += a->matrix[i * n + j] * in[j], size += fabs(a->matrix[i * n + j] * in[j]);
            if (!(fabs(out[i] - sum) <= 1e-9 * size))
                return brio__error(
                    error, BRIO_STEP_REJECTED,
                    "%s is not linear on this oscillator: its response to a combination of states "
                    "differs from the combination of its responses by "
                    "%.3g of %.3g, so it has no matrix",
                    o->sim->stepper->integrator->name, fabs(out[i] - sum), size);
        }
    }
    return BRIO_OK;
}

BrioStatus brio__oscillator_measure(BrioOscillator *o, double k, double d, double h,
                                    BrioAmplification *a, BrioError *error)
{
    if (error) *error = (BrioError){0};
    if (!(k > 0) || !(d >= 0) || !(h > 0) || isinf(k) || isinf(d) || isinf(h))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "k = %g, d = %g, h = %g: the stiffness and the step must be positive, "
                           "the drag not negative",
                           k, d, h);
    brio_state_assign(o->sim->state, o->first);
    o->sim->state->param[o->stiffness] = k;
    o->sim->stepper->dissipation->damper[0].values[0] = d;
    o->step = h;
    BRIO_CHECK(fill_history(o, error));
    *a = (BrioAmplification){.size = 2 + o->used};
    long double trace = 0;
    for (int j = 0; j < a->size; j++) {
        double in[BRIO_AMPLIFICATION_MAX] = {0}, out[BRIO_AMPLIFICATION_MAX];
        in[j] = 1;
        BRIO_CHECK(respond(o, in, out, error));
        for (int i = 0; i < a->size; i++) a->matrix[i * a->size + j] = out[i];
        trace += out[j];
    }
    a->trace = (double)trace;
    BRIO_CHECK(check_linear(o, a, h * h * k / o->m, error));
    if (a->size == 2) {
        BRIO_CHECK(determinant_2(o, a, error));
        eigenvalues_2(a);
        return BRIO_OK;
    }
    a->det = determinant(a->size, a->matrix);
    BrioStatus status = brio__eigenvalues(a->size, a->matrix, a->re, a->im);
    if (status != BRIO_OK)
        return brio__error(error, status, "the eigenvalues could not be computed: %s",
                           brio_status_text(status));
    a->radius = hypot(a->re[0], a->im[0]);
    return BRIO_OK;
}

/* ---- where it is stable ----------------------------------------------------------------- */

/* A double eigenvalue is known to the root of the round-off. */
static const double slack = 1e-7;

bool brio__oscillator_is_stable(BrioOscillator *o, double X, double Y)
{
    BrioAmplification a;
    return brio__oscillator_measure(o, Y * o->m, X * o->m, 1, &a, NULL) == BRIO_OK &&
           a.radius <= 1 + slack;
}

double brio__oscillator_limit(BrioOscillator *o)
{
    /* h sqrt(k/m); second-order growth is 1e-6 here, far above the slack */
    double low = 0.05, high = low;
    if (!brio__oscillator_is_stable(o, 0, low * low)) return 0;
    while (brio__oscillator_is_stable(o, 0, high * high)) {
        low = high;
        high *= 1.04;
        if (high > 1e3) return INFINITY;
    }
    for (int n = 0; n < 60 && high - low > 1e-12 * high; n++) {
        double middle = (low + high) / 2;
        *(brio__oscillator_is_stable(o, 0, middle * middle) ? &low : &high) = middle;
    }
    return low;
}

/* The largest stable Y above `min`; 0: none. Looked for from `max` downward, since regions need
 * not begin at Y = 0. */
static double highest_above(BrioOscillator *o, double X, double min, double max)
{
    enum { LEVELS = 160 };
    double low = 0, high = max;
    for (int k = LEVELS; k > 0 && low == 0 && max * (k + 1) / LEVELS > min; k--) {
        double Y = max * k / LEVELS;
        if (brio__oscillator_is_stable(o, X, Y))
            low = Y;
        else
            high = Y;
    }
    if (low == 0 || low == max) return low;
    for (int n = 0; n < 50 && high - low > 1e-11 * high; n++) {
        double middle = (low + high) / 2;
        *(brio__oscillator_is_stable(o, X, middle) ? &low : &high) = middle;
    }
    return low;
}

double brio__oscillator_highest(BrioOscillator *o, double X, double max)
{
    return highest_above(o, X, 0, max);
}

double brio__oscillator_peak(BrioOscillator *o, double max, double *X)
{
    enum { COLUMNS = 80 };
    double width = max / COLUMNS, best = 0;
    *X = 0;
    for (int k = 0; k <= COLUMNS; k++) {
        double Y = highest_above(o, k * width, best, max);
        if (Y > best) best = Y, *X = k * width;
    }
    double ceiling = fmin(max, 1.2 * best);
    while (width > 1e-6 && best > 0) { /* to a neighbour if it is higher, otherwise nearer */
        double left = *X - width, right = *X + width;
        double Y = left >= 0 ? highest_above(o, left, best, ceiling) : 0;
        double Z = highest_above(o, right, best, ceiling);
        if (Y > best && Y >= Z)
            best = Y, *X = left;
        else if (Z > best)
            best = Z, *X = right;
        else
            width /= 2;
    }
    return best;
}
