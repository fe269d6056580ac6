/* Taking part in a simulation that runs: hands, attachments, materials and damping. Each change
 * books what it does to the energy: `added` and the target of energy control grow by the same jump
 * [Dinev2018, Alg. 1]. Integrators keep what they know of earlier steps when points move, as they
 * do when a script moves them; when materials change, accelerations and levels of rest are others,
 * and they forget. */
#include "../distance.h"
#include "../field.h"
#include "../handle.h"
#include "../potential/hands.h"
#include "sim.h"

#include <stdarg.h>
#include <string.h>

static BrioStatus refuse(BrioSim *sim, BrioError *error, BrioStatus status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static BrioStatus refuse(BrioSim *sim, BrioError *error, BrioStatus status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(sim->stepper->reason, sizeof sim->stepper->reason, format, list);
    va_end(list);
    return brio__sim_report(sim, status, error);
}

static bool finite3(const double *x) { return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]); }

/* ---- where to hold ---------------------------------------------------------------------- */

/* A place on a body: vertices in the world's numbers with their weights, and how far it is by the
 * measure of whoever looks. */
typedef struct Place {
    int body; /* -1: none */
    int32_t vertex[3];
    double weight[3];
    double distance;
} Place;

static void take_if_nearer(Place *best, const Place *other)
{
    if (best->body < 0 || other->distance < best->distance) *best = *other;
}

static double dot3(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static void sub3(const double *a, const double *b, double *d)
{
    for (int r = 0; r < 3; r++) d[r] = a[r] - b[r];
}

/* A triangle of a body, with its corners at world positions x. */
static Place triangle_at(const BrioSystem *s, int body, int64_t triangle, const double *x,
                         const double *corner[3])
{
    Place place = {.body = body};
    for (int i = 0; i < 3; i++) {
        place.vertex[i] = (int32_t)s->body[body].first + s->body[body].triangle[3 * triangle + i];
        corner[i] = x + 3 * (int64_t)place.vertex[i];
    }
    return place;
}

static Place nearest_place(const BrioSystem *s, const double *x, int body, const double *point)
{
    Place best = {.body = -1};
    for (int b = 0; b < s->body_count; b++) {
        if (body >= 0 && b != body) continue;
        const BrioBody *one = &s->body[b];
        double d[3];
        for (int64_t t = 0; t < one->triangle_count; t++) {
            const double *corner[3];
            Place now = triangle_at(s, b, t, x, corner);
            double pair[12], w[4];
            memcpy(pair, point, 3 * sizeof *pair);
            for (int i = 0; i < 3; i++) memcpy(pair + 3 + 3 * i, corner[i], 3 * sizeof *pair);
            now.distance = brio__closest_vertex_face(pair, w);
            for (int i = 0; i < 3; i++) now.weight[i] = -w[1 + i];
            take_if_nearer(&best, &now);
        }
        for (int64_t v = one->first; !one->triangle_count && v < one->first + one->count; v++) {
            sub3(x + 3 * v, point, d);
            take_if_nearer(&best, &(Place){b, {(int32_t)v, -1, -1}, {1, 0, 0}, sqrt(dot3(d, d))});
        }
    }
    return best;
}

/* How far along the unit direction a triangle is met, and with which weights; false: it is not
 * [Moeller and Trumbore 1997]. */
static bool meets(const double *o, const double *e, const double *a, const double *b,
                  const double *c, double w[3], double *distance)
{
    double ab[3], ac[3], ao[3];
    sub3(b, a, ab), sub3(c, a, ac), sub3(o, a, ao);
    double p[3] = {e[1] * ac[2] - e[2] * ac[1], e[2] * ac[0] - e[0] * ac[2],
                   e[0] * ac[1] - e[1] * ac[0]};
    double det = dot3(ab, p);
    if (det == 0) return false;
    double n[3] = {ao[1] * ab[2] - ao[2] * ab[1], ao[2] * ab[0] - ao[0] * ab[2],
                   ao[0] * ab[1] - ao[1] * ab[0]};
    w[1] = dot3(ao, p) / det, w[2] = dot3(e, n) / det, w[0] = 1 - w[1] - w[2];
    *distance = dot3(ac, n) / det;
    return w[0] >= 0 && w[1] >= 0 && w[2] >= 0 && *distance >= 0;
}

/* The nearest triangle, or the vertex that comes closest to the ray in angle, if that is in front
 * of it. */
static Place place_of_ray(const BrioSystem *s, const double *x, const double *origin,
                          const double *e)
{
    Place surface = {.body = -1}, vertex = {.body = -1};
    double min = 0.02;
    for (int b = 0; b < s->body_count; b++) {
        const BrioBody *one = &s->body[b];
        for (int64_t t = 0; t < one->triangle_count; t++) {
            const double *corner[3];
            Place now = triangle_at(s, b, t, x, corner);
            if (meets(origin, e, corner[0], corner[1], corner[2], now.weight, &now.distance))
                take_if_nearer(&surface, &now);
        }
        for (int64_t v = one->first; !one->triangle_count && v < one->first + one->count; v++) {
            double d[3];
            sub3(x + 3 * v, origin, d);
            double along = dot3(d, e), across = sqrt(fmax(dot3(d, d) - along * along, 0));
            if (!(along > 0) || !(across < min * along)) continue;
            min = across / along;
            vertex = (Place){b, {(int32_t)v, -1, -1}, {1, 0, 0}, along};
        }
    }
    return vertex.body >= 0 && (surface.body < 0 || vertex.distance < surface.distance) ? vertex
                                                                                        : surface;
}

static bool has_spring(const BrioBody *body, int32_t a, int32_t b)
{
    for (int64_t e = 0; e < body->edge_count; e++)
        if ((body->edge[2 * e] == a && body->edge[2 * e + 1] == b) ||
            (body->edge[2 * e] == b && body->edge[2 * e + 1] == a))
            return true;
    return false;
}

/* Matrices have blocks for vertices that share an element, and a triangle of a net may have sides
 * without a spring: then to the nearest side that has one. */
static void keep_to_springs(const BrioSystem *s, const double *x, Place *place)
{
    const BrioBody *body = &s->body[place->body];
    if (s->term[body->term].energy->element != BRIO_ELEMENT_SPRING || place->vertex[2] < 0) return;
    double p[3], min = INFINITY;
    int springs = 0, heaviest = 0;
    for (int r = 0; r < 3; r++) {
        p[r] = 0;
        for (int i = 0; i < 3; i++) p[r] += place->weight[i] * x[3 * (int64_t)place->vertex[i] + r];
        if (place->weight[r] > place->weight[heaviest]) heaviest = r;
    }
    Place nearest = {place->body, {place->vertex[heaviest], -1, -1}, {1, 0, 0}, place->distance};
    for (int i = 0; i < 3; i++) {
        int32_t va = place->vertex[i], vb = place->vertex[(i + 1) % 3];
        if (!has_spring(body, va - (int32_t)body->first, vb - (int32_t)body->first)) continue;
        const double *a = x + 3 * (int64_t)va;
        double ab[3], ap[3];
        sub3(x + 3 * (int64_t)vb, a, ab), sub3(p, a, ap);
        double square = dot3(ab, ab), t = square > 0 ? fmin(fmax(dot3(ap, ab) / square, 0), 1) : 0;
        double distance = dot3(ap, ap) - 2 * t * dot3(ap, ab) + t * t * square;
        springs++;
        if (!(distance < min)) continue;
        min = distance;
        nearest = (Place){place->body, {va, vb, -1}, {1 - t, t, 0}, place->distance};
    }
    if (springs < 3) *place = nearest;
}

/* ---- hands ------------------------------------------------------------------------------ */

/* Weights of free vertices only; none if all are fixed. */
static void lean_on_free(const BrioSystem *s, const Place *place, BrioGrip *grip)
{
    int free = 0;
    double sum = 0;
    *grip = (BrioGrip){.body = place->body, .vertex = {-1, -1, -1}};
    for (int i = 0; i < 3 && place->vertex[i] >= 0; i++) {
        int32_t v = place->vertex[i];
        if (s->map_start[v] == s->map_start[v + 1]) continue;
        grip->vertex[free] = v;
        grip->weight[free++] = place->weight[i];
        sum += place->weight[i];
    }
    for (int i = 0; i < free; i++)
        grip->weight[i] = sum > 1e-9 ? grip->weight[i] / sum : 1.0 / free;
}

static BrioStatus hold(BrioSim *sim, const Place *place, double k, int *hand, BrioError *error)
{
    const BrioSystem *s = sim->system;
    BrioState *state = sim->state;
    BrioGrip grip;
    int h = 0;
    while (h < BRIO_MAX_HANDS && state->hand[h].k != 0) h++;
    if (h == BRIO_MAX_HANDS)
        return refuse(sim, error, BRIO_ERROR_UNSUPPORTED,
                      "all %d hands are in use: release one first", BRIO_MAX_HANDS);
    lean_on_free(s, place, &grip);
    if (grip.vertex[0] < 0)
        return refuse(sim, error, BRIO_ERROR_ARGUMENT,
                      "body \"%s\" is fixed there (vertex %lld): a hand can grab only free "
                      "vertices",
                      s->body[place->body].name,
                      (long long)(place->vertex[0] - s->body[place->body].first));
    grip.k = isnan(k) ? 4 * M_PI * M_PI * 25 * brio__body_mass(s, place->body) : k;
    brio__grip_place(&grip, brio__sim_world(sim), grip.point);
    state->hand[h] = grip;
    *hand = h;
    return BRIO_OK;
}

static BrioStatus check_grab(BrioSim *sim, int body, const double *place, double k,
                             BrioError *error)
{
    if (body < -1 || body >= sim->system->body_count)
        return refuse(sim, error, BRIO_ERROR_ARGUMENT, "there is no body %d: the scene has %d",
                      body, sim->system->body_count);
    if (body >= 0 && sim->system->body[body].count == 0)
        return refuse(sim, error, BRIO_ERROR_ARGUMENT, "there is no body %d: it was removed", body);
    if (!finite3(place))
        return refuse(sim, error, BRIO_ERROR_ARGUMENT,
                      "a hand cannot be at a point that is not finite");
    if (!isnan(k) && (!(k > 0) || isinf(k)))
        return refuse(sim, error, BRIO_ERROR_ARGUMENT,
                      "a hand's stiffness k = %g N/m must be positive; NAN lets brio choose", k);
    return BRIO_OK;
}

BrioStatus brio_sim_grab(BrioSim *sim, int body, const double point[3], double k, int *hand,
                         BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(SIM, sim) && point && hand, error);
    *hand = -1;
    BRIO_CHECK(check_grab(sim, body, point, k, error));
    brio__system_positions(sim->system, sim->state, sim->state->q, sim->state->time, sim->world);
    Place place = nearest_place(sim->system, sim->world, body, point);
    keep_to_springs(sim->system, sim->world, &place);
    return hold(sim, &place, k, hand, error);
}

BrioStatus brio_sim_grab_vertex(BrioSim *sim, int body, int64_t vertex, double k, int *hand,
                                BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(SIM, sim) && hand, error);
    *hand = -1;
    BRIO_CHECK(check_grab(sim, BRIO_MAX(body, 0), (const double[3]){0, 0, 0}, k, error));
    if (body < 0 || vertex < 0 || vertex >= sim->system->body[body].count)
        return refuse(sim, error, BRIO_ERROR_ARGUMENT,
                      "there is no vertex %lld of body %d: count both from 0", (long long)vertex,
                      body);
    return hold(
        sim,
        &(Place){body, {(int32_t)(sim->system->body[body].first + vertex), -1, -1}, {1, 0, 0}, 0},
        k, hand, error);
}

BrioStatus brio_sim_grab_ray(BrioSim *sim, const double origin[3], const double direction[3],
                             double k, int *hand, double hit[3], BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(SIM, sim) && origin && direction && hand, error);
    *hand = -1;
    BRIO_CHECK(check_grab(sim, -1, origin, k, error));
    double length = hypot(hypot(direction[0], direction[1]), direction[2]);
    if (!(length > 0) || isinf(length))
        return refuse(sim, error, BRIO_ERROR_ARGUMENT,
                      "a ray needs a direction that is finite and not zero");
    double e[3] = {direction[0] / length, direction[1] / length, direction[2] / length};
    brio__system_positions(sim->system, sim->state, sim->state->q, sim->state->time, sim->world);
    Place place = place_of_ray(sim->system, sim->world, origin, e);
    if (place.body < 0) return BRIO_OK;
    for (int r = 0; hit && r < 3; r++) {
        hit[r] = 0;
        for (int i = 0; i < 3 && place.vertex[i] >= 0; i++)
            hit[r] += place.weight[i] * sim->world[3 * (int64_t)place.vertex[i] + r];
    }
    keep_to_springs(sim->system, sim->world, &place);
    return hold(sim, &place, k, hand, error);
}

static BrioGrip *hand_at(BrioSim *sim, int hand, BrioError *error)
{
    bool holds = hand >= 0 && hand < BRIO_MAX_HANDS && sim->state->hand[hand].k != 0;
    if (!holds)
        refuse(sim, error, BRIO_ERROR_ARGUMENT,
               "hand %d is not in use: it never grabbed anything, or was released", hand);
    return holds ? &sim->state->hand[hand] : NULL;
}

static BrioStatus refuse_far(BrioSim *sim, BrioError *error)
{
    return refuse(sim, error, BRIO_STEP_REJECTED,
                  "the point is so far away that the energy of the spring to it is too large for a "
                  "number");
}

BrioStatus brio_sim_drag(BrioSim *sim, int hand, const double point[3], BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(SIM, sim) && point, error);
    BrioGrip *grip = hand_at(sim, hand, error);
    if (!grip) return BRIO_ERROR_ARGUMENT;
    if (!finite3(point))
        return refuse(sim, error, BRIO_ERROR_ARGUMENT,
                      "a hand cannot be at a point that is not finite");
    const BrioSystem *s = sim->system;
    BrioGrip moved = *grip;
    int along = s->term[s->body[grip->body].term].energy->traits & BRIO_ENERGY_ALONG_X ? 1 : 3;
    memcpy(moved.point, point, (size_t)along * sizeof *point);
    const double *x = brio__sim_world(sim);
    double after = brio__grip_energy(&moved, x);
    if (!isfinite(after)) return refuse_far(sim, error);
    brio__sim_add(sim, after - brio__grip_energy(grip, x));
    *grip = moved;
    return BRIO_OK;
}

BrioStatus brio_sim_release(BrioSim *sim, int hand, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(SIM, sim), error);
    BrioGrip *grip = hand_at(sim, hand, error);
    if (!grip) return BRIO_ERROR_ARGUMENT;
    brio__sim_add(sim, -brio__grip_energy(grip, brio__sim_world(sim)));
    memset(grip, 0, sizeof *grip);
    return BRIO_OK;
}

BrioStatus brio_sim_hand(const BrioSim *sim, int hand, BrioHand *out)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SIM, sim) && out, BRIO_ERROR_ARGUMENT);
    if (hand < 0 || hand >= BRIO_MAX_HANDS || sim->state->hand[hand].k == 0)
        return BRIO_ERROR_ARGUMENT;
    const BrioGrip *grip = &sim->state->hand[hand];
    *out = (BrioHand){.body = grip->body, .k = grip->k};
    memcpy(out->weight, grip->weight, sizeof out->weight);
    memcpy(out->point, grip->point, sizeof out->point);
    for (int i = 0; i < 3; i++)
        out->vertex[i] =
            grip->vertex[i] < 0 ? -1 : grip->vertex[i] - sim->system->body[grip->body].first;
    brio__system_positions(sim->system, sim->state, sim->state->q, sim->state->time, sim->world);
    brio__grip_place(grip, sim->world, out->grip);
    return BRIO_OK;
}

/* ---- attachments ------------------------------------------------------------------------ */

static const BrioTerm *attachment_term(const BrioSystem *s)
{
    for (int t = 0; t < s->term_count; t++)
        if (s->term[t].energy->element == BRIO_ELEMENT_ANCHOR) return &s->term[t];
    return NULL;
}

int brio_sim_attachments(const BrioSim *sim)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SIM, sim), 0);
    const BrioTerm *term = attachment_term(sim->system);
    return term ? (int)term->elements : 0;
}

BrioStatus brio_sim_attachment(const BrioSim *sim, int i, BrioHand *out)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SIM, sim) && out, BRIO_ERROR_ARGUMENT);
    if (i < 0 || i >= brio_sim_attachments(sim)) return BRIO_ERROR_ARGUMENT;
    const BrioSystem *s = sim->system;
    const BrioTerm *term = attachment_term(s);
    int32_t vertex = brio__term_vertex(term, i, 0), point = brio__term_vertex(term, i, 1);
    int body = brio__system_owner(s, vertex);
    brio__system_positions(s, sim->state, sim->state->q, sim->state->time, sim->world);
    *out = (BrioHand){.body = body,
                      .vertex = {vertex - s->body[body].first, -1, -1},
                      .weight = {1, 0, 0},
                      .k = term->rest[i] * sim->state->param[term->live + i]};
    memcpy(out->point, sim->world + 3 * (int64_t)point, sizeof out->point);
    memcpy(out->grip, sim->world + 3 * (int64_t)vertex, sizeof out->grip);
    return BRIO_OK;
}

BrioStatus brio_sim_move_attachment(BrioSim *sim, int i, const double point[3], BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(SIM, sim) && point, error);
    const BrioSystem *s = sim->system;
    BrioHand now;
    if (brio_sim_attachment(sim, i, &now) != BRIO_OK)
        return refuse(sim, error, BRIO_ERROR_ARGUMENT,
                      "there is no attachment %d: the scene has %d", i, brio_sim_attachments(sim));
    if (!finite3(point))
        return refuse(sim, error, BRIO_ERROR_ARGUMENT,
                      "an attachment cannot be at a point that is not finite");
    int32_t vertex = brio__term_vertex(attachment_term(s), i, 1);
    int64_t fixed = brio__system_fixed_index(s, vertex);
    for (int k = 0; k < s->scripted_count; k++)
        for (int64_t n = 0; n < s->scripted[k].count; n++)
            if (s->scripted[k].fixed[n] == fixed)
                return refuse(sim, error, BRIO_ERROR_UNSUPPORTED,
                              "attachment %d follows a script of the scene: remove its script, or "
                              "grab the body with a hand",
                              i);
    bool along_x = s->term[s->body[now.body].term].energy->traits & BRIO_ENERGY_ALONG_X;
    int axes = along_x ? 1 : 3;
    double change = 0;
    for (int r = 0; r < axes; r++) {
        double from = now.grip[r] - now.point[r], to = now.grip[r] - point[r];
        change += now.k / 2 * (to * to - from * from);
    }
    if (!isfinite(change)) return refuse_far(sim, error);
    memcpy(sim->state->anchor + 3 * fixed, point, (size_t)axes * sizeof *point);
    brio__sim_add(sim, change);
    return BRIO_OK;
}

/* ---- materials -------------------------------------------------------------------------- */

const char *brio_body_material(const BrioSystem *system, int body)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SYSTEM, system), NULL);
    return body >= 0 && body < system->body_count
               ? system->term[system->body[body].term].energy->name
               : NULL;
}

BrioStatus brio_sim_material(const BrioSim *sim, int body, const char *name, double *value)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SIM, sim) && name && value, BRIO_ERROR_ARGUMENT);
    const BrioSystem *s = sim->system;
    int at = body >= 0 && body < s->body_count
                 ? brio__fields_offset(s->term[s->body[body].term].energy->fields, name)
                 : -1;
    if (at < 0) return BRIO_ERROR_ARGUMENT;
    *value = sim->state->param[s->body[body].values + at];
    return BRIO_OK;
}

static void list_fields(const BrioField *fields, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (; fields && fields->name && used < size; fields++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", fields->name);
}

/* What a material's field values become in the state: parameters, and the stiffness of a shell's
 * bending if it has hinges. */
typedef struct Prepared {
    double params[BRIO_MAX_VALUES];
    BrioSheet sheet;
} Prepared;

static BrioStatus make_material(const BrioEnergy *energy, const double *values, Prepared *prepared,
                                BrioError *error)
{
    *prepared = (Prepared){0};
    if (energy->sheet) BRIO_CHECK(energy->sheet(values, &prepared->sheet, error));
    if (energy->prepare) return energy->prepare(values, prepared->params, error);
    memcpy(prepared->params, values, (size_t)energy->params * sizeof *values);
    return BRIO_OK;
}

BrioStatus brio_sim_set_material(BrioSim *sim, int body, const char *name, double value,
                                 BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(SIM, sim) && name, error);
    const BrioSystem *s = sim->system;
    double *param = sim->state->param, values[BRIO_MAX_VALUES] = {0};
    if (body < 0 || body >= s->body_count)
        return refuse(sim, error, BRIO_ERROR_ARGUMENT, "there is no body %d: the scene has %d",
                      body, s->body_count);
    const BrioBody *b = &s->body[body];
    const BrioEnergy *energy = s->term[b->term].energy;
    size_t count = (size_t)brio__fields_count(energy->fields), params = (size_t)energy->params;
    int at = brio__fields_offset(energy->fields, name);
    char names[256];
    list_fields(energy->fields, names, sizeof names);
    if (at < 0)
        return refuse(sim, error, BRIO_ERROR_ARGUMENT,
                      "material %s of body \"%s\" has no \"%s\": it has %s", energy->name, b->name,
                      name, names);
    memcpy(values, param + b->values, count * sizeof *values);
    Prepared old, prepared;
    BrioError inner = {0};
    BRIO_CHECK(make_material(energy, values, &old, error));
    if (values[at] == value) return BRIO_OK;
    values[at] = value;
    BrioStatus status = brio__fields_check(energy->fields, values, &inner);
    if (status == BRIO_OK) status = make_material(energy, values, &prepared, &inner);
    if (status != BRIO_OK)
        return refuse(sim, error, BRIO_ERROR_ARGUMENT, "body \"%s\": %s", b->name, inner.message);
    bool bends = b->term_count > 1;
    bool same = !memcmp(old.params, prepared.params, params * sizeof(double)) &&
                (!bends || old.sheet.bending == prepared.sheet.bending);
    if (prepared.sheet.areal != old.sheet.areal || prepared.sheet.stretch != old.sheet.stretch ||
        same)
        return refuse(sim, error, BRIO_ERROR_UNSUPPORTED,
                      "%s of body \"%s\" determines its masses or rest shape, which are fixed "
                      "when the scene is loaded: change it there and load it again",
                      name, b->name);
    double before = brio__sim_energy(sim);
    for (int again = 0; again < 2; again++) { /* the second time: back */
        const Prepared *now = again ? &old : &prepared;
        memcpy(param + s->term[b->term].params, now->params, params * sizeof(double));
        if (bends) param[s->term[b->term + 1].params] = now->sheet.bending;
        if (!again && isfinite(brio__sim_energy(sim))) break;
        if (again)
            return refuse(sim, error, BRIO_STEP_REJECTED,
                          "with %s = %g the energy of body \"%s\" is too large for a number", name,
                          value, b->name);
    }
    param[b->values + at] = value;
    brio__state_forget(sim->state);
    brio__sim_book(sim, before);
    return BRIO_OK;
}

/* ---- damping ---------------------------------------------------------------------------- */

/* Without friction, which is none of them. */
static int damping_count(const BrioSim *sim)
{
    return brio__dissipation_asked(sim->stepper->dissipation);
}

const char *brio_sim_damping_type(const BrioSim *sim, int i)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SIM, sim), NULL);
    return i >= 0 && i < damping_count(sim) ? sim->stepper->dissipation->damper[i].model->name
                                            : NULL;
}

BrioStatus brio_sim_damping(const BrioSim *sim, int i, const char *name, double *value)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SIM, sim) && name && value, BRIO_ERROR_ARGUMENT);
    const BrioDamper *d =
        i >= 0 && i < damping_count(sim) ? &sim->stepper->dissipation->damper[i] : NULL;
    int at = d ? brio__fields_offset(d->model->fields, name) : -1;
    if (at < 0) return BRIO_ERROR_ARGUMENT;
    *value = d->values[at];
    return BRIO_OK;
}

BrioStatus brio_sim_set_damping(BrioSim *sim, int i, const char *name, double value,
                                BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(SIM, sim) && name, error);
    if (i < 0 || i >= damping_count(sim))
        return refuse(sim, error, BRIO_ERROR_ARGUMENT,
                      "there is no damping model %d: the simulation has %d; create it with one of "
                      "strength 0 to switch on later",
                      i, damping_count(sim));
    BrioDamper *d = &sim->stepper->dissipation->damper[i];
    double values[BRIO_MAX_VALUES];
    char names[256];
    BrioError inner = {0};
    memcpy(values, d->values, sizeof values);
    list_fields(d->model->fields, names, sizeof names);
    int at = brio__fields_offset(d->model->fields, name);
    if (at < 0)
        return refuse(sim, error, BRIO_ERROR_ARGUMENT, "damping %s has no \"%s\": it has %s",
                      d->model->name, name, names);
    values[at] = value;
    if (brio__fields_check(d->model->fields, values, &inner) != BRIO_OK)
        return refuse(sim, error, BRIO_ERROR_ARGUMENT, "damping %s: %s", d->model->name,
                      inner.message);
    memcpy(d->values, values, sizeof values);
    return BRIO_OK;
}
