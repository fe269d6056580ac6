/* Asynchronous variational integrator [Lew2003; Thomaszewski2008]: every element has a time step of
 * its own. Here elements are springs, tets of stable-neo-hookean, attachments, hands, and contacts
 * with planes by penalty.
 *
 * Element e acts at the times j h/n_e, j = 0 ... n_e, by impulses of its force there times h/n_e
 * (half of it at both ends of the step):
 *
 *     v_a -= weight h/n_e M_a^-1 dV_e/dx_a,
 *
 * on its own vertices a alone, which before have gone freely from their last impulse to that time,
 * along their parabolas. A queue holds the elements by their next times. This follows from an
 * action in which the potential of every element is summed by the trapezoidal rule over its own
 * times: symplectic, both momenta are kept to round-off, and the step is symmetric: second order.
 * Where all n_e are the same it is Verlet's method in n_e parts. All times meet at the end of a
 * step, so that a step leads from a state to a state. (The papers let times fall where they will.)
 *
 * n_e is the smallest number with h/n_e <= safety 2/w_e. w_e^2 is the largest, over the vertices of
 * e, of the sum of the stiffness of all elements there over the mass: Gershgorin's bound of the
 * frequencies of that row. So a stiff spring shortens its own steps and those of its neighbours.
 * The stiffness of a tet is the one at rest: then n_e does not depend on the state, as symplectic
 * steps require. Only a deformation that more than doubles it counts with its own. Steps of
 * different length can resonate below this limit, too [Fong2008]; a smaller `safety` makes that
 * rare.
 *
 * Damping forces act for h/2 before and after all this, each time by Heun's method at a fixed pose
 * [Strang1968]: explicit. */
#include "integrator.h"

#include "brio/stages.h"
#include "brio/tets.h"

enum { Q, V, CLOCK, RATE, FIRST, THEN };

/* Numbers of each element in the vectors of brio_stepper_room: how often it acts in the step, how
 * often it did, the queue. The last array has where fixed vertices are at the start, three numbers
 * of each vertex. */
enum { TIMES, DONE, QUEUE, FIXED, ARRAYS, VECTORS = BRIO_ROOM / ARRAYS };

static const double MAX_ACTIONS = 1e7;

static const BrioField fields[] = {
    {"safety", BRIO_REAL, "", 0.5, 0.01, 1, 0,
     "Step of an element as a fraction of the longest that is stable."},
    {0}};

/* One element: up to four vertices that move, and how. */
typedef struct Part {
    int count;
    int64_t at[4];          /* first coordinates */
    double mass[4], row[4]; /* row: sum of the absolute values of its stiffness, N/m */
} Part;

typedef struct Course {
    BrioStepper *s;
    double h, g[3];
    double *q, *v, *clock;
    const double *x; /* world positions of fixed vertices at the end */
    /* elements in their order: springs, tets, hands, contacts */
    int64_t springs, tets, hands, elements, coordinates;
} Course;

static double *number(const Course *c, int array, int64_t e)
{
    int vector = array * VECTORS + (int)(e / c->coordinates);
    return brio_stepper_room(c->s, vector) + e % c->coordinates;
}

/* The plane and the number in it of a contact. */
static int64_t contact_of(const Course *c, int64_t e, int *i, BrioPlane *plane)
{
    int64_t k = e - c->springs - c->tets - c->hands;
    for (*i = 0; brio_stepper_plane(c->s, *i, plane) && k >= plane->count; (*i)++)
        k -= plane->count;
    return k;
}

/* Where a vertex is at a time of the step: one that moves has come there. */
static const double *place_of(const Course *c, int64_t coordinate, int64_t vertex, double time,
                              double place[3])
{
    if (coordinate >= 0) return c->q + coordinate;
    for (int r = 0; r < 3; r++) {
        double start = *number(c, FIXED, 3 * vertex + r);
        place[r] = start + time / c->h * (c->x[3 * vertex + r] - start);
    }
    return place;
}

/* ---- elements --------------------------------------------------------------------------- */

/* dpsi/dF of a tet at a time; returns a bound of the eigenvalues of d^2 psi/dF^2: those of
 * d^2 J/dF^2 are at most sqrt(2) |F|. */
static double stress_of(const Course *c, const BrioTet *t, double time, double stress[3][3])
{
    double place[4][3], F[3][3], cofactor[3][3], length = 0, area = 0;
    const double *x[4];
    for (int k = 0; k < 4; k++) x[k] = place_of(c, t->coordinate[k], t->vertex[k], time, place[k]);
    double J = brio_tet_deform(t, x, F, cofactor), pressure = t->lambda * (J - 1) - t->mu;
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++) {
            stress[r][k] = t->mu * F[r][k] + pressure * cofactor[r][k];
            length += F[r][k] * F[r][k];
            area += cofactor[r][k] * cofactor[r][k];
        }
    return t->mu + t->lambda * area + fabs(pressure) * sqrt(2 * length);
}

/* Sums of the stiffness of a tet over its vertices, by Gershgorin: |K_kl| <= V |psi''| |b_k| |b_l|
 * with the slopes b. */
static void tet_rows(const Course *c, const BrioTet *t, double row[4])
{
    double stress[3][3], now = stress_of(c, t, 0, stress), length[4], sum = 0;
    double rest = t->mu + 3 * t->lambda + sqrt(6) * t->mu; /* F = 1 */
    for (int k = 0; k < 4; k++) {
        double square = 0;
        for (int r = 0; r < 3; r++) square += t->slope[k][r] * t->slope[k][r];
        length[k] = sqrt(square);
        sum += length[k];
    }
    for (int k = 0; k < 4; k++)
        row[k] = t->volume * (now > 2 * rest ? now : rest) * length[k] * sum;
}

static Part part_of(const Course *c, int64_t e, bool with_rows)
{
    Part p = {0};
    BrioSpring spring;
    BrioTet tet;
    BrioPull pull;
    BrioPlane plane;
    int i;
    if (e < c->springs && brio_stepper_spring(c->s, e, &spring)) {
        bool both = spring.coordinate[0] >= 0 && spring.coordinate[1] >= 0;
        for (int k = 0; spring.active && k < 2; k++) {
            if (spring.coordinate[k] < 0) continue;
            p.at[p.count] = spring.coordinate[k];
            p.mass[p.count] = spring.mass[k];
            p.row[p.count++] = (both ? 2 : 1) * spring.stiffness;
        }
    } else if (e < c->springs + c->tets && brio_stepper_tet(c->s, e - c->springs, &tet)) {
        double row[4] = {0};
        if (with_rows) tet_rows(c, &tet, row);
        for (int k = 0; k < 4; k++) {
            if (tet.coordinate[k] < 0) continue;
            p.at[p.count] = tet.coordinate[k];
            p.mass[p.count] = tet.mass[k];
            p.row[p.count++] = row[k];
        }
    } else if (e < c->springs + c->tets + c->hands &&
               brio_stepper_pull(c->s, (int)(e - c->springs - c->tets), &pull)) {
        p.count = pull.count;
        for (int k = 0; k < pull.count; k++) {
            p.at[k] = pull.coordinate[k];
            p.mass[k] = pull.mass[k];
            p.row[k] = fabs(pull.weight[k]) * pull.stiffness;
        }
    } else {
        int64_t k = contact_of(c, e, &i, &plane);
        p.at[0] = brio_stepper_plane_mass(c->s, i, k, &p.mass[0]);
        p.row[0] = plane.stiffness;
        p.count = p.at[0] >= 0;
    }
    return p;
}

/* A vertex goes along its parabola to a time of the step. */
static void drift(const Course *c, int64_t at, double time)
{
    double dt = time - c->clock[at];
    for (int r = 0; r < 3; r++) {
        c->q[at + r] += dt * (c->v[at + r] + dt / 2 * c->g[r]);
        c->v[at + r] += dt * c->g[r];
    }
    c->clock[at] = time;
}

static void act_spring(const Course *c, int64_t e, double time, double duration)
{
    BrioSpring spring;
    double place[2][3], d[3], square = 0;
    const double *x[2];
    brio_stepper_spring(c->s, e, &spring);
    for (int k = 0; k < 2; k++)
        x[k] = place_of(c, spring.coordinate[k], spring.vertex[k], time, place[k]);
    for (int r = 0; r < 3; r++) {
        d[r] = x[1][r] - x[0][r];
        square += d[r] * d[r];
    }
    double distance = sqrt(square);
    double pull =
        spring.stiffness *
        (spring.length > 0 && distance > 0 ? 1 - spring.length / distance : spring.length == 0);
    for (int k = 0; k < 2; k++)
        for (int r = 0; r < 3 && spring.coordinate[k] >= 0; r++)
            c->v[spring.coordinate[k] + r] +=
                (k ? -1 : 1) * duration * pull * d[r] / spring.mass[k];
}

static void act_tet(const Course *c, int64_t i, double time, double duration)
{
    BrioTet t;
    double stress[3][3];
    brio_stepper_tet(c->s, i, &t);
    stress_of(c, &t, time, stress);
    for (int k = 0; k < 4; k++)
        for (int r = 0; r < 3 && t.coordinate[k] >= 0; r++) {
            double pull = 0;
            for (int j = 0; j < 3; j++) pull += stress[r][j] * t.slope[k][j];
            c->v[t.coordinate[k] + r] -= duration * t.volume * pull / t.mass[k];
        }
}

static void act_hand(const Course *c, int i, double duration)
{
    BrioPull pull;
    brio_stepper_pull(c->s, i, &pull);
    for (int r = 0; r < 3; r++) {
        double off = -pull.point[r];
        for (int k = 0; k < pull.count; k++) off += pull.weight[k] * c->q[pull.coordinate[k] + r];
        for (int k = 0; k < pull.count; k++)
            c->v[pull.coordinate[k] + r] -=
                duration * pull.stiffness * pull.weight[k] * off / pull.mass[k];
    }
}

static void act_contact(const Course *c, int64_t e, const Part *p, double duration)
{
    BrioPlane plane;
    int i;
    contact_of(c, e, &i, &plane);
    double off = -plane.gap;
    for (int r = 0; r < 3; r++) off += plane.normal[r] * (c->q[p->at[0] + r] - plane.point[r]);
    for (int r = 0; r < 3 && off < 0; r++)
        c->v[p->at[0] + r] -= duration * plane.stiffness * off * plane.normal[r] / p->mass[0];
}

/* ---- the queue -------------------------------------------------------------------------- */

static double time_of(const Course *c, int64_t e)
{
    return *number(c, DONE, e) * c->h / *number(c, TIMES, e);
}

/* Whether e comes before f: elements at one time act in their order. */
static bool before(const Course *c, int64_t e, int64_t f)
{
    double a = time_of(c, e), b = time_of(c, f);
    return a < b || (a == b && e < f);
}

/* The first of a queue of `count` goes down to where it belongs. */
static void sink(const Course *c, int64_t first, int64_t count)
{
    int64_t at = first, e = (int64_t)*number(c, QUEUE, first);
    for (int64_t next; (next = 2 * at + 1) < count; at = next) {
        int64_t f = (int64_t)*number(c, QUEUE, next);
        if (next + 1 < count) {
            int64_t other = (int64_t)*number(c, QUEUE, next + 1);
            if (before(c, other, f)) {
                f = other;
                next++;
            }
        }
        if (!before(c, f, e)) break;
        *number(c, QUEUE, at) = (double)f;
    }
    *number(c, QUEUE, at) = (double)e;
}

/* ---- a step ----------------------------------------------------------------------------- */

static void count_elements(Course *c)
{
    BrioSpring spring;
    BrioTet tet;
    BrioPull pull;
    BrioPlane plane;
    while (brio_stepper_spring(c->s, c->springs, &spring)) c->springs++;
    while (brio_stepper_tet(c->s, c->tets, &tet)) c->tets++;
    while (brio_stepper_pull(c->s, (int)c->hands, &pull)) c->hands++;
    c->elements = c->springs + c->tets + c->hands;
    for (int i = 0; brio_stepper_plane(c->s, i, &plane); i++) c->elements += plane.count;
}

/* Keeps where a fixed vertex begins. False: there is no room, because nearly all are fixed. */
static bool keep_fixed(const Course *c, int64_t coordinate, int64_t vertex, const double *x)
{
    if (coordinate >= 0) return true;
    if (3 * vertex + 2 >= VECTORS * c->coordinates) return false;
    for (int r = 0; r < 3; r++) *number(c, FIXED, 3 * vertex + r) = x[3 * vertex + r];
    return true;
}

/* Where fixed vertices of elements begin; their world positions at the end stay in c->x. */
static bool follow_fixed(Course *c)
{
    BrioSpring spring;
    BrioTet tet;
    double t = brio_stepper_time(c->s);
    const double *x = brio_stepper_positions(c->s, brio_stepper_q(c->s), t);
    bool fits = true;
    for (int64_t e = 0; fits && brio_stepper_spring(c->s, e, &spring); e++)
        for (int k = 0; k < 2; k++)
            fits = fits && keep_fixed(c, spring.coordinate[k], spring.vertex[k], x);
    for (int64_t e = 0; fits && brio_stepper_tet(c->s, e, &tet); e++)
        for (int k = 0; k < 4; k++)
            fits = fits && keep_fixed(c, tet.coordinate[k], tet.vertex[k], x);
    c->x = brio_stepper_positions(c->s, brio_stepper_q(c->s), t + c->h);
    return fits;
}

/* How often each element acts; their sum. */
static double choose_times(const Course *c)
{
    double *rate = brio_stepper_scratch(c->s, RATE), all = 0;
    double safety = brio_stepper_value(c->s, "safety");
    brio_stepper_combine(c->s, 0, c->q, 0, c->q, rate);
    for (int64_t e = 0; e < c->elements; e++) {
        Part p = part_of(c, e, true);
        for (int k = 0; k < p.count; k++) rate[p.at[k]] += p.row[k] / p.mass[k];
    }
    for (int64_t e = 0; e < c->elements; e++) {
        Part p = part_of(c, e, false);
        double square = 0;
        for (int k = 0; k < p.count; k++) square = fmax(square, rate[p.at[k]]);
        *number(c, TIMES, e) = fmax(ceil(c->h * sqrt(square) / (2 * safety)), 1);
        *number(c, DONE, e) = 0;
        *number(c, QUEUE, e) = (double)e; /* all at 0: in their order */
        all += *number(c, TIMES, e);
    }
    return all;
}

static BrioStatus run_queue(const Course *c)
{
    int64_t count = c->elements;
    for (int64_t events = 0; count > 0; events++) {
        int64_t e = (int64_t)*number(c, QUEUE, 0);
        double *done = number(c, DONE, e), times = *number(c, TIMES, e), time = time_of(c, e);
        double duration = (*done == 0 || *done == times ? 0.5 : 1) * c->h / times;
        Part p = part_of(c, e, false);
        if (events % 65536 == 0 && brio_stepper_stopped(c->s, 0)) return BRIO_STOPPED;
        for (int k = 0; k < p.count; k++) drift(c, p.at[k], time);
        if (p.count && e < c->springs)
            act_spring(c, e, time, duration);
        else if (p.count && e < c->springs + c->tets)
            act_tet(c, e - c->springs, time, duration);
        else if (p.count && e < c->springs + c->tets + c->hands)
            act_hand(c, (int)(e - c->springs - c->tets), duration);
        else if (p.count)
            act_contact(c, e, &p, duration);
        if (++*done > times) *number(c, QUEUE, 0) = *number(c, QUEUE, --count);
        if (count > 0) sink(c, 0, count);
    }
    for (int64_t at = 0; at < c->coordinates; at += 3) drift(c, at, c->h);
    return BRIO_OK;
}

/* v after h/2 of damping alone; each of the two forces is a quarter of the step's. */
static void brake(const Course *c)
{
    BrioStepper *s = c->s;
    double *first = brio_stepper_scratch(s, FIRST), *then = brio_stepper_scratch(s, THEN);
    double *slower = brio_stepper_scratch(s, RATE);
    if (!brio_stepper_damped(s)) return;
    brio_stepper_damping_force(s, c->q, c->v, c->h, 0.25, first);
    brio_stepper_mass_solve(s, first, first);
    brio_stepper_combine(s, 1, c->v, c->h / 2, first, slower);
    brio_stepper_damping_force(s, c->q, slower, c->h, 0.25, then);
    brio_stepper_mass_solve(s, then, then);
    brio_stepper_combine(s, 1, c->v, c->h / 4, first, c->v);
    brio_stepper_combine(s, 1, c->v, c->h / 4, then, c->v);
}

static BrioStatus step(BrioStepper *s, double h)
{
    Course c = {.s = s,
                .h = h,
                .q = brio_stepper_scratch(s, Q),
                .v = brio_stepper_scratch(s, V),
                .clock = brio_stepper_scratch(s, CLOCK),
                .coordinates = brio_stepper_coordinates(s)};
    count_elements(&c);
    brio_stepper_gravity(s, c.g);
    brio_stepper_combine(s, 1, brio_stepper_q(s), 0, brio_stepper_q(s), c.q);
    brio_stepper_combine(s, 1, brio_stepper_v(s), 0, brio_stepper_v(s), c.v);
    brio_stepper_combine(s, 0, c.q, 0, c.q, c.clock);
    if (c.coordinates == 0) return brio_stepper_accept(s, h, c.q, c.v);
    if (c.elements > VECTORS * c.coordinates)
        return brio_stepper_fail(s, BRIO_ERROR_UNSUPPORTED,
                                 "asynchronous has room for 72 springs, tets and contacts per "
                                 "vertex, and there are more; use another integrator");
    brake(&c);
    if (!follow_fixed(&c))
        return brio_stepper_fail(s, BRIO_ERROR_UNSUPPORTED,
                                 "asynchronous has room for 23 fixed vertices per vertex that "
                                 "moves, and there are more; use another integrator");
    double all = choose_times(&c);
    if (!(all <= MAX_ACTIONS * (double)c.elements) && c.elements > 0)
        return brio_stepper_fail(s, BRIO_STEP_REJECTED,
                                 "the elements need more than ten million steps of their own: use "
                                 "a shorter step or an implicit method");
    BRIO_CHECK(run_queue(&c));
    brake(&c);
    /* as many as passes over all elements */
    if (c.elements > 0) brio_stepper_count_iterations(s, (int)ceil(all / (double)c.elements));
    return brio_stepper_accept(s, h, c.q, c.v);
}

BRIO_INTEGRATOR(asynchronous){
    .name = "asynchronous",
    .summary = "Every spring and tet with a time step of its own, as long as its stiffness "
               "allows: explicit, second order, symplectic. Springs, and solids of "
               "stable-neo-hookean.",
    .citation = "Lew2003",
    .order = 2,
    .traits = BRIO_SYMPLECTIC | BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_KEEPS_ANGULAR_MOMENTUM |
              BRIO_SPRINGS_ONLY | BRIO_TAKES_TETS,
    .fields = fields,
    .step = step,
};
