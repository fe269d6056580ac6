/* Constraints: the positions of their points, and the vertices that carry these
 * (constraint/constraint.h).
 *
 * A point of the initial state in a tet, or in the tet of an affine body's mass points, has the
 * weights w_k with sum w_k = 1 and sum w_k x_k = point; so have the points of a joint's frame,
 * which may be outside. On a shell the point must be on a triangle. All of it is found at once, so
 * that what cannot be is rejected where it is defined; vertices get their numbers in the system
 * when the bodies are complete. */
#include "build.h"

#include "../distance.h"
#include "../handle.h"

static const double near = 1e-6; /* of a length: what counts as none */

int brio__builder_constraint_at_fault(const BrioBuilder *builder)
{
    return builder->constraint_at_fault;
}

void brio__free_constraint_plan(BrioConstraintPlan *plan)
{
    brio__constraint_free(&plan->constraint);
    brio__free(plan->owner);
}

/* ---- points ----------------------------------------------------------------------------- */

/* Weights of the corners of a tet for a point, inside or outside; false: the tet is flat. */
static bool weights_in(const double *corner[4], const double point[3], double w[4])
{
    double edge[3][3], p[3], n[3], volume;
    for (int k = 0; k < 3; k++) brio__subtract3(corner[k + 1], corner[0], edge[k]);
    brio__subtract3(point, corner[0], p);
    volume = brio__triple3(edge[0], edge[1], edge[2]);
    if (!(fabs(volume) > 0)) return false;
    w[0] = 1;
    for (int k = 0; k < 3; k++) {
        brio__cross3(edge[(k + 1) % 3], edge[(k + 2) % 3], n);
        w[k + 1] = brio__dot3(p, n) / volume;
        w[0] -= w[k + 1];
    }
    return true;
}

/* What carries the points of one side of a joint. */
typedef struct Carrier {
    const BrioBodyPlan *body; /* NULL: the world */
    int32_t vertex[4];        /* -1 - k: mass points */
    double corner[4][3];
    int count;   /* 4: any place, 3: a triangle, on it only, 0: nothing found */
    double size; /* m: half the diagonal of the body */
} Carrier;

static double size_of(const BrioBodyPlan *body)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t v = 0; v < body->mesh->vertex_count; v++)
        for (int r = 0; r < 3; r++) {
            low[r] = fmin(low[r], body->x[3 * v + r]);
            high[r] = fmax(high[r], body->x[3 * v + r]);
        }
    return brio__distance3(low, high) / 2;
}

/* The tet that a point is in, or is least outside of. */
static void find_tet(Carrier *c, const double point[3], double *inside)
{
    const BrioMesh *mesh = c->body->mesh;
    *inside = -INFINITY;
    for (int64_t t = 0; t < mesh->tet_count; t++) {
        const double *corner[4];
        double w[4], least;
        for (int k = 0; k < 4; k++) corner[k] = c->body->x + 3 * (int64_t)mesh->tet[4 * t + k];
        if (!weights_in(corner, point, w)) continue;
        least = fmin(fmin(w[0], w[1]), fmin(w[2], w[3]));
        if (!(least > *inside)) continue;
        *inside = least;
        c->count = 4;
        memcpy(c->vertex, mesh->tet + 4 * t, sizeof c->vertex);
        for (int k = 0; k < 4; k++) memcpy(c->corner[k], corner[k], sizeof c->corner[k]);
    }
}

static void find_triangle(Carrier *c, const double point[3], double *distance)
{
    const BrioMesh *mesh = c->body->mesh;
    *distance = INFINITY;
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        double x[12], w[4];
        memcpy(x, point, 3 * sizeof *x);
        for (int k = 0; k < 3; k++)
            memcpy(x + 3 + 3 * k, c->body->x + 3 * (int64_t)mesh->triangle[3 * t + k],
                   3 * sizeof *x);
        double d = brio__closest_vertex_face(x, w);
        if (!(d < *distance)) continue;
        *distance = d;
        c->count = 3;
        memcpy(c->vertex, mesh->triangle + 3 * t, 3 * sizeof *c->vertex);
        memcpy(c->corner, x + 3, 9 * sizeof *x);
    }
}

/* What of a body carries the point `at`. `frame`: other points around it, too. */
static BrioStatus find_carrier(Carrier *c, const double at[3], bool vertex, bool frame,
                               BrioError *error)
{
    const BrioBodyPlan *body = c->body;
    double inside, distance;
    if (body->weight) {
        double y[12];
        brio__affine_fit(body->mesh->vertex_count, body->weight, body->x, y);
        c->count = 4;
        for (int k = 0; k < 4; k++) c->vertex[k] = -1 - k;
        memcpy(c->corner, y, sizeof c->corner);
        return BRIO_OK;
    }
    if (vertex && !frame) return BRIO_OK;
    if (body->mesh->tet_count) {
        find_tet(c, at, &inside);
        if (inside < -near)
            return brio__error(error, BRIO_ERROR_INPUT,
                               "the point [%g, %g, %g] is not inside body \"%s\": move it, or "
                               "make the body kind: affine, which carries every point",
                               at[0], at[1], at[2], body->name);
        return BRIO_OK;
    }
    if (frame)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "body \"%s\" has no volume, so nothing in it carries an axis: joints "
                           "are for solids and affine bodies",
                           body->name);
    find_triangle(c, at, &distance);
    if (c->count && distance <= near * c->size) return BRIO_OK;
    if (!c->count)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "body \"%s\" has no surface to carry a point: name a vertex",
                           body->name);
    return brio__error(error, BRIO_ERROR_INPUT,
                       "the point [%g, %g, %g] is %.3g m away from the surface of body \"%s\": "
                       "move it there, or name a vertex",
                       at[0], at[1], at[2], distance, body->name);
}

static void carry(const Carrier *c, int32_t vertex, const double y[3], BrioPoint *p)
{
    *p = (BrioPoint){0};
    if (!c->body) {
        memcpy(p->fixed, y, sizeof p->fixed);
    } else if (vertex >= 0) {
        p->count = 1;
        p->vertex[0] = vertex;
        p->weight[0] = 1;
    } else if (c->count == 4) {
        const double *corner[4] = {c->corner[0], c->corner[1], c->corner[2], c->corner[3]};
        p->count = 4;
        weights_in(corner, y, p->weight);
        memcpy(p->vertex, c->vertex, sizeof p->vertex);
    } else {
        double x[12], w[4];
        memcpy(x, y, 3 * sizeof *x);
        memcpy(x + 3, c->corner, 9 * sizeof *x);
        brio__closest_vertex_face(x, w);
        p->count = 3;
        for (int k = 0; k < 3; k++) {
            p->vertex[k] = c->vertex[k];
            p->weight[k] = -w[k + 1];
        }
    }
}

/* ---- the definition --------------------------------------------------------------------- */

static BrioStatus no_such_type(const char *type, BrioError *error)
{
    const char *names[64];
    int count = 0;
    while (count < (int)BRIO_COUNT(names) && brio__constraint_type_at(count)) {
        names[count] = brio__constraint_type_at(count)->name;
        count++;
    }
    return brio__no_such_name("constraint", type ? type : "", names, count, error);
}

BrioStatus brio_default_constraint(const char *type, BrioConstraintDef *def, BrioError *error)
{
    BRIO_NEEDS(type && def, error);
    if (error) *error = (BrioError){0};
    const BrioConstraintType *found = brio__constraint_type(type);
    if (!found) return no_such_type(type, error);
    *def = (BrioConstraintDef){.type = found->name,
                               .a = {-1, -1, {NAN, NAN, NAN}},
                               .b = {-1, -1, {NAN, NAN, NAN}},
                               .at = {NAN, NAN, NAN},
                               .axis = {NAN, NAN, NAN},
                               .collide = -1};
    brio_fields_defaults(found->fields, def->values);
    return BRIO_OK;
}

BrioStatus brio_constraint_set(BrioConstraintDef *def, const char *name, double value,
                               BrioError *error)
{
    BRIO_NEEDS(def && name, error);
    if (error) *error = (BrioError){0};
    const BrioConstraintType *type = brio__constraint_type(def->type);
    if (!type) return no_such_type(def->type, error);
    return brio_fields_set(type->fields, def->values, name, &value, error);
}

static BrioStatus check_end(const BrioBuilder *b, const BrioConstraintType *type,
                            const BrioEnd *end, BrioError *error)
{
    if (end->body == -1) return BRIO_OK;
    BRIO_CHECK(brio__builder_check_vertex(b, end->body, BRIO_MAX(end->vertex, 0), error));
    if (brio__moves_along_x(&b->body[end->body]))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "a %s at body \"%s\" would push it in y or z: a bar1d moves along x "
                           "only",
                           type->name, b->body[end->body].name);
    return BRIO_OK;
}

static bool same_place(const BrioEnd *a, const BrioEnd *b)
{
    return a->body == b->body && a->body >= 0 && a->vertex == b->vertex && a->vertex >= 0;
}

static BrioStatus check_ends(const BrioBuilder *b, const BrioConstraintType *type,
                             const BrioConstraintDef *def, BrioError *error)
{
    BRIO_CHECK(check_end(b, type, &def->a, error));
    BRIO_CHECK(check_end(b, type, &def->b, error));
    if (def->a.body < 0 && (def->b.body < 0 || !type->role_count))
        return brio__error(error, BRIO_ERROR_INPUT, "a %s needs a body", type->name);
    if (same_place(&def->a, &def->b))
        return brio__error(
            error, BRIO_ERROR_INPUT,
            "both ends of the %s are vertex %d of body \"%s\": a %s needs two vertices", type->name,
            def->a.vertex, b->body[def->a.body].name, type->name);
    if (type->bodies && def->a.body == def->b.body)
        return brio__error(error, BRIO_ERROR_INPUT, "a %s joins two bodies, or one to the world",
                           type->name);
    for (int i = 0; i < b->constraint_count; i++) {
        const BrioConstraintPlan *other = &b->constraint[i];
        bool same = other->constraint.type == type;
        for (int k = 0; k < 2; k++)
            if (same && same_place(&other->end[k], &def->a) &&
                same_place(&other->end[1 - k], &def->b))
                return brio__error(error, BRIO_ERROR_INPUT,
                                   "%s %d joins the same two vertices: remove one", type->name, i);
    }
    return BRIO_OK;
}

/* Where the two ends are in the initial state. */
static BrioStatus place_ends(const BrioBuilder *b, const BrioConstraintDef *def,
                             const BrioEnd end[2], double at[2][3], BrioError *error)
{
    for (int k = 0; k < 2; k++) {
        const double *from = end[k].vertex >= 0 && end[k].body >= 0
                                 ? b->body[end[k].body].x + 3 * (int64_t)end[k].vertex
                             : !isnan(end[k].point[0]) ? end[k].point
                                                       : def->at;
        /* what has no place of its own is where the other end is */
        const BrioEnd *other = &end[1 - k];
        if (isnan(from[0]) && other->vertex >= 0 && other->body >= 0)
            from = b->body[other->body].x + 3 * (int64_t)other->vertex;
        if (isnan(from[0]) && !isnan(other->point[0])) from = other->point;
        memcpy(at[k], from, 3 * sizeof(double));
        for (int r = 0; r < 3; r++)
            if (!isfinite(at[k][r]))
                return brio__error(error, BRIO_ERROR_INPUT,
                                   "a %s needs a place: give `at`, or vertices or points of its "
                                   "ends",
                                   def->type);
    }
    return BRIO_OK;
}

/* The points of a joint, into the plan, and their initial positions. */
static BrioStatus place_points(const BrioBuilder *b, const BrioConstraintDef *def,
                               BrioConstraintPlan *plan, double *y, BrioError *error)
{
    BrioConstraint *c = &plan->constraint;
    const BrioConstraintType *type = c->type;
    Carrier carrier[2] = {0};
    double at[2][3], axis[3] = {0, 1, 0};
    bool frame[2] = {false, false}, needs_axis = type->axis;
    for (int i = 0; i < c->point_count; i++)
        if (type->roles[i].place != BRIO_PLACE_AT) frame[type->roles[i].side] = needs_axis = true;
    if (needs_axis && !isnan(def->axis[0])) memcpy(axis, def->axis, sizeof axis);
    if (needs_axis &&
        (isnan(def->axis[0]) || !(brio__norm3(axis) > 0) || !isfinite(brio__norm3(axis))))
        return brio__error(error, BRIO_ERROR_INPUT, "a %s needs an axis: [x, y, z], not zero",
                           type->name);
    BRIO_CHECK(place_ends(b, def, plan->end, at, error));
    for (int k = 0; k < 2; k++) {
        if (plan->end[k].body < 0) continue;
        carrier[k].body = &b->body[plan->end[k].body];
        carrier[k].size = size_of(carrier[k].body);
        if (carrier[k].size > 0 && !(c->length > 0 && c->length < carrier[k].size))
            c->length = carrier[k].size;
        BRIO_CHECK(find_carrier(&carrier[k], at[k], plan->end[k].vertex >= 0, frame[k], error));
    }
    if (!(c->length > 0)) c->length = 1;
    brio__constraint_place(type, c->point_count, (const double(*)[3])at, axis, c->length, y);
    for (int i = 0; i < c->point_count; i++) {
        int side = type->roles[i].side;
        bool own = type->roles[i].place == BRIO_PLACE_AT && plan->end[side].body >= 0;
        carry(&carrier[side], own ? plan->end[side].vertex : -1, y + 3 * i, &c->point[i]);
        plan->owner[i] = plan->end[side].body;
    }
    return BRIO_OK;
}

/* All vertices of a body with its triangles. */
static BrioStatus whole_surface(const BrioBuilder *b, BrioConstraintPlan *plan, double *y,
                                BrioError *error)
{
    BrioConstraint *c = &plan->constraint;
    const BrioBodyPlan *body = &b->body[plan->end[0].body];
    const BrioMesh *mesh = body->mesh;
    if (!mesh->triangle_count)
        return brio__error(error, BRIO_ERROR_INPUT, "body \"%s\" has no surface: it has no volume",
                           body->name);
    c->triangle = brio__alloc(3 * (size_t)mesh->triangle_count, sizeof *c->triangle);
    if (!c->triangle) return brio__no_memory(error);
    c->triangle_count = mesh->triangle_count;
    memcpy(c->triangle, mesh->triangle, 3 * (size_t)mesh->triangle_count * sizeof *c->triangle);
    for (int v = 0; v < c->point_count; v++) {
        c->point[v] = (BrioPoint){.count = 1, .vertex = {v}, .weight = {1}};
        plan->owner[v] = plan->end[0].body;
    }
    memcpy(y, body->x, 3 * (size_t)c->point_count * sizeof *y);
    return BRIO_OK;
}

/* Whether the conditions hold at the start. */
static BrioStatus check_start(const BrioConstraint *c, const double *y, BrioError *error)
{
    double off = brio__constraint_violation(c, y);
    if (off <= near) return BRIO_OK;
    return brio__error(error, BRIO_ERROR_INPUT,
                       "the %s does not hold in the initial state: it is off by %.3g m; move its "
                       "ends so that it holds",
                       c->type->name, off * c->length);
}

static BrioStatus make_plan(const BrioBuilder *b, const BrioConstraintDef *def,
                            BrioConstraintPlan *plan, double **y, BrioError *error)
{
    BrioConstraint *c = &plan->constraint;
    const BrioConstraintType *type = c->type;
    char name[40];
    snprintf(name, sizeof name, "constraint%d", b->constraint_count);
    c->name = brio__strdup(def->name ? def->name : name);
    memcpy(c->values, def->values, sizeof c->values);
    plan->end[0] = def->a;
    plan->end[1] = def->b;
    for (int k = 0; k < 2; k++) c->body[k] = plan->end[k].body;
    int64_t points = type->points ? type->points(c->values) : type->role_count;
    if (!type->role_count) points = b->body[def->a.body].mesh->vertex_count;
    c->point_count = (int)points;
    c->point = brio__calloc((size_t)points, sizeof *c->point);
    plan->owner = brio__calloc((size_t)points, sizeof *plan->owner);
    *y = brio__calloc(3 * (size_t)points, sizeof **y);
    if (!c->name || !c->point || !plan->owner || !*y) return brio__no_memory(error);
    BRIO_CHECK(type->role_count ? place_points(b, def, plan, *y, error)
                                : whole_surface(b, plan, *y, error));
    BRIO_CHECK(type->begin(c, *y, error));
    return check_start(c, *y, error);
}

BrioStatus brio_builder_constraint(BrioBuilder *builder, const BrioConstraintDef *def,
                                   BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder) && def, error);
    BrioConstraintPlan created = {0};
    double *y = NULL;
    BRIO_CHECK(brio__builder_open(builder, error));
    const BrioConstraintType *type = brio__constraint_type(def->type);
    if (!type) return no_such_type(def->type, error);
    BRIO_CHECK(check_ends(builder, type, def, error));
    BRIO_CHECK(brio__fields_check(type->fields, def->values, error));
    created.constraint.type = type;
    BrioStatus status = make_plan(builder, def, &created, &y, error);
    brio__free(y);
    bool apart = def->collide < 0 ? type->bodies : !def->collide;
    if (status == BRIO_OK && apart && def->a.body >= 0 && def->b.body >= 0)
        status = brio_builder_exclude(builder, def->a.body, def->b.body, error);
    BrioConstraintPlan *grown = NULL;
    if (status == BRIO_OK) {
        grown = brio__room_for_one(builder->constraint, builder->constraint_count, sizeof created);
        if (!grown) status = brio__no_memory(error);
    }
    if (status != BRIO_OK) {
        brio__free_constraint_plan(&created);
        return status;
    }
    builder->constraint = grown;
    grown[builder->constraint_count++] = created;
    return BRIO_OK;
}

BrioStatus brio_builder_rod(BrioBuilder *builder, int body_a, int32_t vertex_a, int body_b,
                            int32_t vertex_b, double length, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder), error);
    BrioConstraintDef def;
    BRIO_CHECK(brio__builder_open(builder, error));
    BRIO_CHECK(brio__builder_check_vertex(builder, body_a, vertex_a, error));
    BRIO_CHECK(brio__builder_check_vertex(builder, body_b, vertex_b, error));
    BRIO_CHECK(brio_default_constraint(brio__constraint_type_at(0)->name, &def, error));
    if (!isnan(length) && (!(length > 0) || isinf(length)))
        return brio__error(error, BRIO_ERROR_INPUT, "the rod's length = %g m must be positive",
                           length);
    def.a = (BrioEnd){body_a, vertex_a, {NAN, NAN, NAN}};
    def.b = (BrioEnd){body_b, vertex_b, {NAN, NAN, NAN}};
    def.values[0] = length;
    return brio_builder_constraint(builder, &def, error);
}

/* ---- the system ------------------------------------------------------------------------- */

/* Vertices may have been fixed after a constraint was made. */
BrioStatus brio__check_constraints(BrioBuilder *b, BrioError *error)
{
    for (int i = 0; i < b->constraint_count; i++) {
        const BrioConstraintPlan *plan = &b->constraint[i];
        bool moves = false;
        b->constraint_at_fault = i;
        for (int p = 0; p < plan->constraint.point_count; p++)
            for (int k = 0; k < plan->constraint.point[p].count; k++) {
                const BrioBodyPlan *body = &b->body[plan->owner[p]];
                /* an affine body is fixed as a whole */
                int32_t vertex = BRIO_MAX(plan->constraint.point[p].vertex[k], 0);
                moves |= body->fix[vertex] < 0;
                if (body->fix[vertex] > 0)
                    return brio__error(error, BRIO_ERROR_INPUT,
                                       "vertex %d of body \"%s\" is moved by a script: the ends of "
                                       "a %s are free or stand still in this version of brio",
                                       vertex, body->name, plan->constraint.type->name);
            }
        if (!moves)
            return brio__error(error, BRIO_ERROR_INPUT, "both ends of %s %d are fixed: remove it",
                               plan->constraint.type->name, i);
    }
    b->constraint_at_fault = -1;
    return BRIO_OK;
}

BrioStatus brio__build_constraints(BrioBuilder *b, BrioSystem *s)
{
    s->constraint = brio__calloc((size_t)b->constraint_count, sizeof *s->constraint);
    if (!s->constraint) return BRIO_ERROR_MEMORY;
    s->constraint_count = b->constraint_count;
    for (int i = 0; i < b->constraint_count; i++) {
        const BrioConstraintPlan *plan = &b->constraint[i];
        BrioConstraint *c = &s->constraint[i];
        *c = plan->constraint; /* names and points are copied: the system keeps the plans */
        c->name = brio__strdup(c->name);
        c->point = brio__copy_of(plan->constraint.point, c->point_count, sizeof *c->point);
        if (!c->name || !c->point ||
            !brio__copy_indices(plan->constraint.triangle, 3 * c->triangle_count, &c->triangle)) {
            if (c->triangle == plan->constraint.triangle) c->triangle = NULL;
            return BRIO_ERROR_MEMORY;
        }
        c->first = s->row_count;
        s->row_count += c->rows;
        for (int p = 0; p < c->point_count; p++)
            for (int k = 0; k < c->point[p].count; k++) {
                const BrioBody *body = &s->body[plan->owner[p]];
                int32_t v = c->point[p].vertex[k];
                c->point[p].vertex[k] =
                    (int32_t)(v < 0 ? body->mass_point - 1 - v : body->first + v);
            }
    }
    return BRIO_OK;
}
