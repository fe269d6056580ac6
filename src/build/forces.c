/* Forces: what a definition says is checked and copied at once; which vertices and triangles they
 * act on, and the weights of these, are found when the bodies are complete.
 *
 * The weight of a vertex is 1, its mass, a quarter of the rest volume of its tets, a third of the
 * rest area of its triangles, or its fraction of the mass of all chosen ones. */
#include "build.h"

#include "../handle.h"
#include "brio/plugin.h"

#include <stdlib.h>

void brio__free_force_plan(BrioForcePlan *plan)
{
    brio__force_free(&plan->force);
    brio__free(plan->bodies);
    brio__free(plan->vertices);
    brio__free(plan->chosen);
}

int brio__builder_force_at_fault(const BrioBuilder *builder) { return builder->force_at_fault; }

/* ---- the definition --------------------------------------------------------------------- */

static BrioStatus no_such_type(const char *type, BrioError *error)
{
    const char *names[64];
    int count = 0;
    while (count < (int)BRIO_COUNT(names) && brio__force_type_at(count)) {
        names[count] = brio__force_type_at(count)->name;
        count++;
    }
    return brio__no_such_name("force", type ? type : "", names, count, error);
}

BrioStatus brio_default_force(const char *type, BrioForceDef *def, BrioError *error)
{
    BRIO_NEEDS(type && def, error);
    if (error) *error = (BrioError){0};
    const BrioForceType *found = brio__force_type(type);
    if (!found) return no_such_type(type, error);
    *def = (BrioForceDef){.type = found->name};
    for (int k = 0; k < 6; k++) def->box[k] = NAN;
    for (int k = 0; k < 4; k++) def->sphere[k] = NAN;
    brio_fields_defaults(found->fields, def->values);
    return BRIO_OK;
}

BrioStatus brio_force_set(BrioForceDef *def, const char *name, const double *value,
                          BrioError *error)
{
    BRIO_NEEDS(def && name && value, error);
    if (error) *error = (BrioError){0};
    const BrioForceType *type = brio__force_type(def->type);
    if (!type) return no_such_type(def->type, error);
    return brio_fields_set(type->fields, def->values, name, value, error);
}

static BrioStatus check_rows(const char *what, const double *row, int64_t count, int width,
                             BrioError *error)
{
    for (int64_t i = 0; i < count; i++) {
        for (int k = 0; k < width; k++)
            if (!isfinite(row[width * i + k]))
                return brio__error(error, BRIO_ERROR_INPUT, "%s: row %lld is not finite", what,
                                   (long long)i);
        if (i > 0 && !(row[width * i] > row[width * (i - 1)]))
            return brio__error(error, BRIO_ERROR_INPUT,
                               "%s: times must ascend, and %g s follows %g s", what, row[width * i],
                               row[width * (i - 1)]);
    }
    return BRIO_OK;
}

static BrioStatus check_formulas(const BrioForceType *type, const BrioForceDef *def,
                                 BrioError *error)
{
    if (def->formula_count == 0 && type->own_formula)
        return brio__error(error, BRIO_ERROR_INPUT, "the force %s needs a formula", type->name);
    if (def->formula_count == 0 || def->formula_count == 1) return BRIO_OK;
    if (def->formula_count == 3 && type->three) return BRIO_OK;
    return brio__error(error, BRIO_ERROR_INPUT, "the force %s takes one formula%s", type->name,
                       type->three ? ", or three" : "");
}

/* Counts without arrays, as a program may hand them in. */
static BrioStatus check_arrays(const BrioForceDef *def, BrioError *error)
{
    bool missing = def->body_count < 0 || (def->body_count && !def->bodies) ||
                   def->vertex_count < 0 || (def->vertex_count && !def->vertices) ||
                   def->key_count < 0 || (def->key_count && !def->keys) || def->path_count < 0 ||
                   (def->path_count && !def->path) || def->formula_count < 0 ||
                   def->formula_count > 3;
    for (int i = 0; !missing && i < def->formula_count; i++) missing = !def->formula[i];
    return missing ? brio__error(error, BRIO_ERROR_ARGUMENT,
                                 "a list of the force is missing, or its count is wrong")
                   : BRIO_OK;
}

static BrioStatus check_definition(const BrioBuilder *b, const BrioForceType *type,
                                   const BrioForceDef *def, BrioError *error)
{
    BRIO_CHECK(check_arrays(def, error));
    BRIO_CHECK(brio__fields_check(type->fields, def->values, error));
    if (type->fits) BRIO_CHECK(type->fits(def->values, error));
    BRIO_CHECK(check_rows("keys", def->keys, def->key_count, 2, error));
    BRIO_CHECK(check_rows("path", def->path, def->path_count, 4, error));
    BRIO_CHECK(check_formulas(type, def, error));
    if (def->path_count && !type->path)
        return brio__error(error, BRIO_ERROR_INPUT, "the force %s takes no path", type->name);
    if ((type->called && !type->def) != (def->function != NULL))
        return brio__error(error, BRIO_ERROR_ARGUMENT, "the force %s %s a function", type->name,
                           type->called && !type->def ? "needs" : "takes no");
    for (int i = 0; i < def->body_count; i++)
        if (def->bodies[i] < 0 || def->bodies[i] >= b->body_count)
            return brio__error(error, BRIO_ERROR_ARGUMENT, "there is no body %d", def->bodies[i]);
    if (def->vertex_count && def->body_count != 1)
        return brio__error(error, BRIO_ERROR_INPUT, "vertices by number need one body");
    if (def->vertex_count && (type->triangle || type->volume))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "the force %s acts on surfaces, not on single "
                           "vertices",
                           type->name);
    for (int64_t i = 0; i < def->vertex_count; i++)
        BRIO_CHECK(brio__builder_check_vertex(b, def->bodies[0], def->vertices[i], error));
    if (type->volume && (!isnan(def->box[0]) || !isnan(def->sphere[0])))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "the force %s acts on whole bodies: leave box and sphere out",
                           type->name);
    return BRIO_OK;
}

static BrioStatus compile(BrioForce *force, const BrioForceDef *def, BrioError *error)
{
    unsigned uses = 0;
    force->formula_count = def->formula_count;
    if (def->formula_count)
        force->formula = brio__calloc((size_t)def->formula_count, sizeof *force->formula);
    if (def->formula_count && !force->formula) return brio__no_memory(error);
    for (int i = 0; i < def->formula_count; i++) {
        BrioError inner = {0};
        int column;
        BrioStatus status =
            brio__formula_compile(def->formula[i], &force->formula[i], &column, &inner);
        if (status != BRIO_OK)
            return brio__error(error, status, "formula \"%s\", column %d: %s", def->formula[i],
                               column, inner.message);
        uses |= force->formula[i].uses;
    }
    const BrioForceType *type = force->type;
    bool placed = (uses & BRIO_FORMULA_PLACE) && !type->own_formula;
    if (placed && (type->volume || type->called))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "the factor of the force %s is one number: its formula may use t only",
                           type->name);
    force->conservative = type->def      ? type->def->has_potential != 0
                          : type->called ? def->has_potential != 0
                                         : !type->push && !type->triangle && !placed;
    force->varies =
        def->key_count > 1 || def->path_count > 1 || type->called || (uses & BRIO_FORMULA_TIME);
    return BRIO_OK;
}

/* "force0", ...: the first from the number of forces on that is free. */
static void name_force(const BrioBuilder *b, char name[32])
{
    bool taken = true;
    for (int number = b->force_count; taken; number++) {
        snprintf(name, 32, "force%d", number);
        taken = false;
        for (int i = 0; i < b->force_count; i++) taken |= !strcmp(b->force[i].force.name, name);
    }
}

static BrioStatus make_plan(const BrioBuilder *b, const BrioForceDef *def, BrioForcePlan *plan,
                            BrioError *error)
{
    BrioForce *force = &plan->force;
    char name[32];
    bool complete = true;
    name_force(b, name);
    force->type = brio__force_type(def->type);
    force->name = brio__strdup(def->name ? def->name : name);
    force->function = def->function;
    force->user = def->user;
    force->key_count = def->key_count;
    force->path_count = def->path_count;
    memcpy(force->values, def->values, sizeof force->values);
    memcpy(plan->box, def->box, sizeof plan->box);
    memcpy(plan->sphere, def->sphere, sizeof plan->sphere);
    force->key = brio__copy_any(def->keys, 2 * def->key_count, sizeof(double), &complete);
    force->path = brio__copy_any(def->path, 4 * def->path_count, sizeof(double), &complete);
    plan->body_count = def->body_count;
    plan->bodies = brio__copy_any(def->bodies, def->body_count, sizeof(int), &complete);
    plan->vertex_count = def->vertex_count;
    plan->vertices = brio__copy_any(def->vertices, def->vertex_count, sizeof(int32_t), &complete);
    return complete && force->name ? compile(force, def, error) : brio__no_memory(error);
}

BrioStatus brio_builder_force(BrioBuilder *builder, const BrioForceDef *def, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder) && def, error);
    BrioForcePlan created = {0};
    BRIO_CHECK(brio__builder_open(builder, error));
    const BrioForceType *type = brio__force_type(def->type);
    if (!type) return no_such_type(def->type, error);
    BRIO_CHECK(check_definition(builder, type, def, error));
    BrioStatus status = make_plan(builder, def, &created, error);
    BrioForcePlan *grown = NULL;
    if (status == BRIO_OK) {
        grown = brio__room_for_one(builder->force, builder->force_count, sizeof created);
        if (!grown) status = brio__no_memory(error);
    }
    if (status != BRIO_OK) {
        brio__free_force_plan(&created);
        return status;
    }
    builder->force = grown;
    grown[builder->force_count++] = created;
    return BRIO_OK;
}

/* ---- what it acts on -------------------------------------------------------------------- */

static bool in_region(const BrioForcePlan *plan, const double *x)
{
    bool in = true;
    for (int r = 0; r < 3 && !isnan(plan->box[0]); r++)
        in = in && x[r] >= plan->box[r] && x[r] <= plan->box[3 + r];
    if (!isnan(plan->sphere[0]))
        in = in && brio__hypot_distance3(x, plan->sphere) <= plan->sphere[3];
    return in;
}

int64_t brio__force_chooses(const BrioForcePlan *plan, const BrioBodyPlan *of, int body,
                            uint8_t *on)
{
    int64_t count = 0, vertices = of->mesh->vertex_count;
    const double *x = of->start && plan->force.kept ? of->start : of->x;
    for (int64_t v = 0; v < vertices; v++)
        on[v] = !plan->vertex_count && !plan->chosen && in_region(plan, x + 3 * v);
    for (int64_t i = 0; i < plan->vertex_count; i++) {
        int32_t v = plan->vertices[i];
        on[v] = !plan->chosen && in_region(plan, x + 3 * (int64_t)v);
    }
    for (int64_t i = 0; i < plan->chosen_count; i++)
        if (plan->chosen[2 * i] == body) on[plan->chosen[2 * i + 1]] = 1;
    for (int64_t v = 0; v < vertices; v++) count += on[v];
    return count;
}

/* Adds a part of the measure of an element of the rest shape to each of its corners. */
static void add_measure(const BrioBody *body, const double *x, bool area, double *measure)
{
    int nodes = area ? 3 : 4;
    int64_t count = area ? body->triangle_count : body->tet_count;
    const int32_t *element = area ? body->triangle : body->tet;
    for (int64_t e = 0; e < count; e++) {
        const int32_t *n = element + nodes * e;
        const double *a = x + 3 * (int64_t)n[0];
        double normal[3], d[3], size;
        brio__triangle_normal(a, x + 3 * (int64_t)n[1], x + 3 * (int64_t)n[2], normal);
        if (area) {
            size = brio__norm3(normal) / 2;
        } else {
            brio__subtract3(x + 3 * (int64_t)n[3], a, d);
            size = fabs(brio__dot3(normal, d)) / 6;
        }
        for (int k = 0; k < nodes; k++) measure[n[k]] += size / nodes;
    }
}

/* Weights of all vertices of a body by `per`. */
static BrioStatus weigh(const BrioForcePlan *plan, const BrioBodyPlan *body, const BrioBody *built,
                        int per, double *measure, BrioError *error)
{
    for (int64_t v = 0; v < built->count; v++) {
        measure[v] = per == BRIO_PER_VERTEX;
        if ((per == BRIO_PER_MASS || per == BRIO_PER_TOTAL) && body->mass)
            measure[v] = body->mass[v];
    }
    if ((per == BRIO_PER_AREA && !built->triangle_count) ||
        (per == BRIO_PER_VOLUME && !built->tet_count))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "force \"%s\" is per %s, and body \"%s\" has no %s; use per: mass",
                           plan->force.name, per == BRIO_PER_AREA ? "area" : "volume", body->name,
                           per == BRIO_PER_AREA ? "surface" : "tets");
    if (per == BRIO_PER_AREA || per == BRIO_PER_VOLUME)
        add_measure(built, body->mesh->x, per == BRIO_PER_AREA, measure);
    return BRIO_OK;
}

/* The value of `per`, which is first in its table; a kind without it acts on each vertex. */
static int per_of(const BrioForceType *type, const double *values)
{
    const BrioField *first = type->fields;
    return first->name && !strcmp(first->name, "per") ? (int)values[0] : BRIO_PER_VERTEX;
}

static BrioStatus room(BrioForce *force, int64_t vertices, BrioError *error)
{
    size_t old = (size_t)force->vertex_count, now = old + (size_t)vertices;
    int32_t *vertex = brio__realloc(force->vertex, old, now + 1, sizeof *vertex);
    if (vertex) force->vertex = vertex;
    double *weight = brio__realloc(force->weight, old, now + 1, sizeof *weight);
    if (weight) force->weight = weight;
    return vertex && weight ? BRIO_OK : brio__no_memory(error);
}

/* The mass of an affine or caged body is in its mass points. */
static BrioStatus add_mass_points(const BrioForcePlan *plan, const BrioSystem *s, int body,
                                  bool whole, BrioForce *force, BrioError *error)
{
    if (!whole)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "force \"%s\" is per mass, and the %s \"%s\" has its mass as a whole; "
                           "remove vertices, box and sphere, or use per: area",
                           plan->force.name, s->body[body].cage ? "caged body" : "affine body",
                           s->body[body].name);
    int64_t points, first = brio__body_masses(&s->body[body], &points);
    BRIO_CHECK(room(force, points, error));
    for (int64_t v = first; v < first + points; v++) {
        force->vertex[force->vertex_count] = (int32_t)v;
        force->weight[force->vertex_count++] = s->vertex_mass[v];
    }
    return BRIO_OK;
}

static BrioStatus add_vertices(const BrioForcePlan *plan, const BrioBuilder *b, const BrioSystem *s,
                               int body, uint8_t *on, double *measure, BrioForce *force,
                               BrioError *error)
{
    const BrioBodyPlan *of = &b->body[body];
    int per = per_of(force->type, force->values);
    int64_t count = brio__force_chooses(plan, of, body, on), vertices = of->mesh->vertex_count;
    if (count == 0) return BRIO_OK;
    if (s->body[body].mass_point >= 0 && (per == BRIO_PER_MASS || per == BRIO_PER_TOTAL))
        return add_mass_points(plan, s, body, count == vertices, force, error);
    BRIO_CHECK(weigh(plan, of, &s->body[body], per, measure, error));
    BRIO_CHECK(room(force, count, error));
    for (int64_t v = 0; v < vertices; v++) {
        if (!on[v]) continue;
        force->vertex[force->vertex_count] = (int32_t)(s->body[body].first + v);
        force->weight[force->vertex_count++] = measure[v];
    }
    return BRIO_OK;
}

static BrioStatus add_triangles(const BrioForcePlan *plan, const BrioBuilder *b,
                                const BrioSystem *s, int body, uint8_t *on, BrioForce *force,
                                BrioError *error)
{
    const BrioBody *built = &s->body[body];
    if (!built->triangle_count)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "force \"%s\" acts on surfaces, and body \"%s\" has none: name the "
                           "bodies that it acts on",
                           plan->force.name, s->body[body].name);
    size_t old = 3 * (size_t)force->triangle_count, more = 3 * (size_t)built->triangle_count;
    int32_t *grown = brio__realloc(force->triangle, old, old + more, sizeof *grown);
    if (!grown) return brio__no_memory(error);
    force->triangle = grown;
    brio__force_chooses(plan, &b->body[body], body, on);
    for (int64_t t = 0; t < built->triangle_count; t++) {
        const int32_t *n = built->triangle + 3 * t;
        if (!on[n[0]] || !on[n[1]] || !on[n[2]]) continue;
        for (int k = 0; k < 3; k++)
            grown[3 * force->triangle_count + k] = (int32_t)(s->body[body].first + n[k]);
        force->triangle_count++;
    }
    return BRIO_OK;
}

/* An edge of a triangle, and which way it goes. */
typedef struct Side {
    uint64_t key;
    int64_t way;
} Side;

/* Every side must be met as often in one direction as in the other. */
static BrioStatus check_closed(const BrioForce *force, const char *body, BrioError *error)
{
    int64_t count = 3 * force->triangle_count, way = 0;
    Side *side = brio__alloc((size_t)count, sizeof *side);
    if (!side) return brio__no_memory(error);
    for (int64_t i = 0; i < count; i++) {
        int32_t a = force->triangle[i], c = force->triangle[i % 3 == 2 ? i - 2 : i + 1];
        side[i] = (Side){(uint64_t)BRIO_MIN(a, c) << 32 | (uint64_t)BRIO_MAX(a, c), a < c ? 1 : -1};
    }
    qsort(side, (size_t)count, sizeof *side, brio__ascending_keys);
    bool closed = true;
    for (int64_t i = 0; i < count && closed; i++) {
        way += side[i].way;
        if (i + 1 == count || side[i + 1].key != side[i].key) closed = way == 0;
    }
    brio__free(side);
    if (closed) return BRIO_OK;
    return brio__error(error, BRIO_ERROR_INPUT,
                       "the surface of body \"%s\" is not closed, so it encloses no volume for the "
                       "force %s; close its holes (brio check mesh), or name other bodies",
                       body, force->type->name);
}

/* A copy of the force of a plan, without what it acts on. */
static BrioStatus start_force(const BrioForce *from, int plan, int body, BrioSystem *s,
                              BrioForce **started)
{
    bool complete = true;
    BrioForce *force = &s->force[s->force_count++];
    *force = *from;
    force->plan = plan;
    force->body = body;
    force->name = brio__strdup(from->name);
    force->formula =
        brio__copy_any(from->formula, from->formula_count, sizeof *from->formula, &complete);
    force->key = brio__copy_any(from->key, 2 * from->key_count, sizeof(double), &complete);
    force->path = brio__copy_any(from->path, 4 * from->path_count, sizeof(double), &complete);
    force->param = s->param_count++;
    *started = force;
    return complete && force->name ? BRIO_OK : BRIO_ERROR_MEMORY;
}

/* ---- all forces ------------------------------------------------------------------------- */

typedef struct Work {
    BrioBuilder *b;
    BrioSystem *s;
    uint8_t *on;
    double *measure;
} Work;

static bool acts_on(const BrioForcePlan *plan, int body)
{
    bool named = plan->body_count == 0;
    for (int i = 0; i < plan->body_count; i++) named |= plan->bodies[i] == body;
    return named;
}

/* The volume at the start, by the body's own vertex numbers. */
static double initial_volume(const BrioBodyPlan *plan, int64_t first, BrioForce *force)
{
    for (int64_t i = 0; i < 3 * force->triangle_count; i++) force->triangle[i] -= (int32_t)first;
    double V = brio__force_volume(force, plan->start ? plan->start : plan->x);
    for (int64_t i = 0; i < 3 * force->triangle_count; i++) force->triangle[i] += (int32_t)first;
    return V;
}

static BrioStatus add_body(Work *w, const BrioForcePlan *plan, int body, BrioForce *force,
                           BrioError *error)
{
    if (brio__moves_along_x(&w->b->body[body]))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "force \"%s\" would push body \"%s\" in y or z: a bar1d moves along x "
                           "only; name other bodies",
                           plan->force.name, w->b->body[body].name);
    if (!plan->force.type->triangle && !plan->force.type->volume)
        return add_vertices(plan, w->b, w->s, body, w->on, w->measure, force, error);
    BRIO_CHECK(add_triangles(plan, w->b, w->s, body, w->on, force, error));
    if (!plan->force.type->volume) return BRIO_OK;
    BRIO_CHECK(check_closed(force, w->b->body[body].name, error));
    force->rest_volume = initial_volume(&w->b->body[body], w->s->body[body].first, force);
    if (force->rest_volume != 0) return BRIO_OK;
    return brio__error(error, BRIO_ERROR_INPUT, "body \"%s\" encloses no volume at the start",
                       w->b->body[body].name);
}

/* Of a volume one force for each body, of all others one. */
static BrioStatus add_force(Work *w, int number, BrioError *error)
{
    const BrioForcePlan *plan = &w->b->force[number];
    BrioForce *force = NULL;
    bool each = plan->force.type->volume != NULL;
    double total = 0;
    for (int body = 0; body < w->b->body_count; body++) {
        if (!acts_on(plan, body) || w->b->body[body].removed) continue;
        if ((!force || each) &&
            start_force(&plan->force, number, each ? body : -1, w->s, &force) != BRIO_OK)
            return brio__no_memory(error);
        BRIO_CHECK(add_body(w, plan, body, force, error));
    }
    bool idle = !force || force->vertex_count + force->triangle_count == 0;
    if (idle && plan->force.kept) return BRIO_OK; /* what it acted on was removed */
    if (idle)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "force \"%s\" acts on nothing: no vertex is inside its box or sphere",
                           plan->force.name);
    for (int64_t i = 0; i < force->vertex_count; i++) total += force->weight[i];
    if (per_of(force->type, force->values) != BRIO_PER_TOTAL) return BRIO_OK;
    if (!(total > 0))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "force \"%s\" is distributed by mass, and the bodies that it acts on "
                           "have none",
                           plan->force.name);
    for (int64_t i = 0; i < force->vertex_count; i++) force->weight[i] /= total;
    return BRIO_OK;
}

BrioStatus brio__build_forces(BrioBuilder *b, BrioSystem *s, BrioError *error)
{
    if (!b->force_count) return BRIO_OK;
    size_t most = 1, vertices = 0;
    for (int i = 0; i < b->force_count; i++)
        most += b->force[i].force.type->volume ? (size_t)b->body_count : 1;
    for (int i = 0; i < b->body_count; i++)
        vertices = BRIO_MAX(vertices, (size_t)b->body[i].mesh->vertex_count);
    s->force = brio__calloc(most, sizeof *s->force);
    Work w = {b, s, brio__calloc(vertices, 1), brio__calloc(vertices, sizeof(double))};
    BrioStatus status = s->force && w.on && w.measure ? BRIO_OK : brio__no_memory(error);
    for (int i = 0; status == BRIO_OK && i < b->force_count; i++) {
        b->force_at_fault = i;
        status = add_force(&w, i, error);
    }
    if (status == BRIO_OK) b->force_at_fault = -1;
    brio__free(w.on);
    brio__free(w.measure);
    return status;
}
