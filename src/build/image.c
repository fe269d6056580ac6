/* The plans of a builder as bytes, and back.
 *
 * One description, visit_builder, serves for writing and reading. Checkpoints of edited simulations
 * hold such an image: the scene file no longer describes the bodies. An edit begins with a
 * copy of the plans, which is an image that is read back.
 *
 * Energies, laws, obstacles and forces are written by name. A force that is a function of the
 * program is written by its address, which means something to this process only: whoever keeps an
 * image longer asks brio__builder_calls first.
 *
 * Whoever adds a member to a plan adds it here: the sizes below are checked when compiling. */
#include "build.h"

#include "../contact/law.h"

#if UINTPTR_MAX > 0xffffffffu
_Static_assert(sizeof(BrioBodyPlan) == 2376, "image.c must know every member of BrioBodyPlan");
_Static_assert(sizeof(BrioAttachmentPlan) == 56, "... of BrioAttachmentPlan");
_Static_assert(sizeof(BrioConstraintPlan) == 1064, "... of BrioConstraintPlan");
_Static_assert(sizeof(BrioStitchPlan) == 88, "... of BrioStitchPlan");
_Static_assert(sizeof(BrioScriptPlan) == 392, "... of BrioScriptPlan");
_Static_assert(sizeof(BrioObstaclePlan) == 32, "... of BrioObstaclePlan");
_Static_assert(sizeof(BrioPairPlan) == 24, "... of BrioPairPlan");
_Static_assert(sizeof(BrioContactDef) == 72, "... of BrioContactDef");
_Static_assert(sizeof(BrioForce) == 1048, "... of BrioForce");
_Static_assert(sizeof(BrioForcePlan) == 1176, "... of BrioForcePlan");
_Static_assert(sizeof(BrioBuilder) == 304, "... of BrioBuilder");
#endif

typedef struct Image {
    unsigned char *bytes;
    size_t size, room; /* reading: `size` is where it is, `room` the end */
    bool reading;
    bool no_memory, broken;
} Image;

static bool stopped(const Image *m) { return m->no_memory || m->broken; }

static void visit(Image *m, void *data, size_t size)
{
    if (stopped(m) || size == 0) return;
    if (m->reading) {
        if (size > m->room - m->size) {
            m->broken = true;
            return;
        }
        memcpy(data, m->bytes + m->size, size);
    } else {
        if (size > m->room - m->size) {
            size_t room = 2 * m->room + size + 4096;
            unsigned char *grown = brio__realloc(m->bytes, m->size, room, 1);
            m->no_memory = !grown;
            if (!grown) return;
            m->bytes = grown;
            m->room = room;
        }
        memcpy(m->bytes + m->size, data, size);
    }
    m->size += size;
}

#define VISIT(m, field) visit(m, &(field), sizeof(field))

/* How many there are: never more than bytes are left, so that products of it fit. */
static void visit_count(Image *m, int64_t *count)
{
    VISIT(m, *count);
    if (!m->reading || stopped(m)) return;
    m->broken = *count < 0 || (uint64_t)*count > m->room - m->size;
    if (m->broken) *count = 0;
}

/* An array of `count` elements, which is allocated when reading. `there`: an array of none is one.
 */
static void *visit_array(Image *m, const void *array, int64_t count, size_t size, bool there)
{
    void *data = (void *)array;
    if (m->reading) {
        if (stopped(m) || count < 0 || (size_t)count > (m->room - m->size) / size) {
            m->broken = true;
            return NULL;
        }
        data = there || count ? brio__alloc((size_t)count + 1, size) : NULL;
        m->no_memory = (there || count) && !data;
    }
    if (data) visit(m, data, (size_t)count * size);
    return data;
}

#define VISIT_ARRAY(m, array, count, there) \
    ((array) = visit_array(m, array, count, sizeof *(array), there))

/* An array that may be missing. */
#define VISIT_OPTIONAL(m, array, count)                             \
    do {                                                            \
        uint8_t has = (array) != NULL;                              \
        VISIT(m, has);                                              \
        if (has && !stopped(m)) VISIT_ARRAY(m, array, count, true); \
    } while (0)

static void visit_text(Image *m, char **text)
{
    int64_t length = *text ? (int64_t)strlen(*text) : 0;
    VISIT(m, length);
    *text = visit_array(m, *text, length, 1, true);
    if (m->reading && *text) (*text)[length] = 0;
}

/* A name that a registry knows; the text is only valid until the next. */
typedef struct Name {
    char text[64];
} Name;

static const char *visit_name(Image *m, const char *name, Name *room)
{
    memset(room, 0, sizeof *room);
    if (!m->reading) snprintf(room->text, sizeof room->text, "%s", name);
    VISIT(m, *room);
    room->text[sizeof room->text - 1] = 0;
    return room->text;
}

/* ---- plans ------------------------------------------------------------------------------ */

static void visit_mesh(Image *m, BrioMesh **mesh)
{
    if (m->reading && !(*mesh = brio__calloc(1, sizeof **mesh))) m->no_memory = true;
    if (stopped(m)) return;
    BrioMesh *to = *mesh;
    visit_count(m, &to->vertex_count);
    visit_count(m, &to->tet_count);
    visit_count(m, &to->triangle_count);
    visit_count(m, &to->edge_count);
    VISIT_ARRAY(m, to->x, 3 * to->vertex_count, true);
    VISIT_ARRAY(m, to->tet, 4 * to->tet_count, false);
    VISIT_ARRAY(m, to->triangle, 3 * to->triangle_count, false);
    VISIT_ARRAY(m, to->edge, 2 * to->edge_count, false);
    VISIT_OPTIONAL(m, to->edge_kind, to->edge_count);
}

static void visit_cage(Image *m, BrioBodyPlan *p)
{
    uint8_t has = p->cage != NULL;
    VISIT(m, has);
    if (!has || stopped(m)) return;
    if (m->reading && !(p->cage = brio__calloc(1, sizeof *p->cage))) m->no_memory = true;
    if (stopped(m)) return;
    BrioCage *c = p->cage;
    VISIT(m, c->edge);
    VISIT(m, c->cells);
    VISIT(m, c->pieces);
    VISIT(m, c->components);
    VISIT(m, c->closed);
    VISIT(m, c->enclosed);
    visit_count(m, &c->node_count);
    visit_count(m, &c->tet_count);
    visit_count(m, &c->vertex_count);
    VISIT_ARRAY(m, c->x, 3 * c->node_count, true);
    VISIT_ARRAY(m, c->volume, c->node_count, true);
    VISIT_ARRAY(m, c->tet, 4 * c->tet_count, true);
    VISIT_ARRAY(m, c->fill, c->tet_count, true);
    VISIT_ARRAY(m, c->node, 4 * c->vertex_count, true);
    VISIT_ARRAY(m, c->weight, 4 * c->vertex_count, true);
    VISIT_ARRAY(m, p->node_x, 3 * c->node_count, true);
    VISIT_ARRAY(m, p->node_v, 3 * c->node_count, true);
    VISIT_ARRAY(m, p->node_fix, c->node_count, true);
    VISIT_ARRAY(m, p->node_block, c->node_count, true);
}

static void visit_body(Image *m, BrioBodyPlan *p)
{
    Name room;
    const char *energy = visit_name(m, m->reading ? "" : p->energy->name, &room);
    if (m->reading) {
        p->energy = brio__energy(energy);
        m->broken |= !p->energy || !brio__energy_is_material(p->energy);
        if (m->broken) return;
        p->kind = brio__body_kind(p->energy);
    }
    visit_text(m, &p->name);
    VISIT(m, p->values);
    VISIT(m, p->params);
    visit_mesh(m, &p->mesh);
    if (stopped(m)) return;
    int64_t n = p->mesh->vertex_count;
    VISIT_ARRAY(m, p->x, 3 * n, true);
    VISIT_ARRAY(m, p->v, 3 * n, true);
    VISIT_ARRAY(m, p->mass, n, true);
    VISIT_ARRAY(m, p->fix, n, true);
    VISIT(m, p->affine);
    VISIT_OPTIONAL(m, p->weight, 4 * n);
    VISIT(m, p->point_mass);
    visit_cage(m, p);
    VISIT_OPTIONAL(m, p->spring, 2 * p->mesh->edge_count);
    VISIT(m, p->sheet);
    visit_count(m, &p->hinge_count);
    VISIT_OPTIONAL(m, p->hinge, 4 * p->hinge_count);
    VISIT_ARRAY(m, p->row, n, true);
    VISIT_OPTIONAL(m, p->axes, n);
    VISIT(m, p->linear);
    VISIT(m, p->translate);
    VISIT(m, p->decay);
    VISIT(m, p->energy_scale);
    VISIT_OPTIONAL(m, p->start, 3 * n);
    VISIT(m, p->removed);
}

static void visit_script(Image *m, BrioScriptPlan *p)
{
    BrioScript *s = &p->script;
    BrioScripted *data = &p->data;
    double *keys = (double *)s->keys, *poses = (double *)s->poses;
    VISIT(m, s->start);
    VISIT(m, s->end);
    VISIT(m, s->velocity);
    VISIT(m, s->angular);
    VISIT(m, s->about);
    visit_count(m, &s->key_count);
    VISIT_ARRAY(m, keys, 4 * s->key_count, false);
    s->keys = keys;
    visit_count(m, &s->pose_count);
    VISIT_ARRAY(m, poses, BRIO_POSE_NUMBERS * s->pose_count, false);
    s->poses = poses;
    visit_count(m, &data->frame_count);
    visit_count(m, &data->row_count);
    if (data->frame_count > 0)
        m->broken |= m->reading && (uint64_t)data->row_count > m->room / (size_t)data->frame_count;
    VISIT_OPTIONAL(m, data->frame_time, data->frame_count);
    VISIT_OPTIONAL(m, data->shift, 3 * data->frame_count * data->row_count);
    VISIT_OPTIONAL(m, data->formula, 3);
}

static void visit_obstacle(Image *m, BrioObstaclePlan *p)
{
    uint8_t has_mesh = p->mesh != NULL;
    visit_text(m, &p->name);
    VISIT(m, p->analytic);
    VISIT(m, has_mesh);
    if (has_mesh) visit_mesh(m, &p->mesh);
    VISIT(m, p->script);
    VISIT(m, p->removed);
    VISIT(m, p->driven);
    VISIT(m, p->bends);
}

static void visit_formula(Image *m, BrioFormulaPlan *p)
{
    Name room;
    const char *type = visit_name(m, m->reading ? "" : p->type->name, &room);
    if (m->reading) {
        p->type = brio__obstacle_type(type);
        m->broken |= !p->type;
    }
    int64_t count = p->table ? (int64_t)p->table[0] : 0;
    VISIT(m, p->data);
    VISIT(m, count);
    VISIT_ARRAY(m, p->table, count, false);
    if (m->reading && p->table && p->table[0] != (double)count) m->broken = true;
    VISIT(m, p->obstacle);
}

static void visit_force(Image *m, BrioForcePlan *p)
{
    Name room;
    BrioForce *f = &p->force;
    const char *type = visit_name(m, m->reading ? "" : f->type->name, &room);
    if (m->reading) {
        f->type = brio__force_type(type);
        m->broken |= !f->type;
    }
    visit_text(m, &f->name);
    VISIT(m, f->values);
    VISIT(m, f->formula_count);
    VISIT_ARRAY(m, f->formula, f->formula_count, false);
    visit_count(m, &f->key_count);
    VISIT_ARRAY(m, f->key, 2 * f->key_count, false);
    visit_count(m, &f->path_count);
    VISIT_ARRAY(m, f->path, 4 * f->path_count, false);
    VISIT(m, f->conservative);
    VISIT(m, f->varies);
    VISIT(m, f->function);
    VISIT(m, f->user);
    VISIT(m, p->body_count);
    VISIT_ARRAY(m, p->bodies, p->body_count, false);
    visit_count(m, &p->vertex_count);
    VISIT_ARRAY(m, p->vertices, p->vertex_count, false);
    VISIT(m, p->box);
    VISIT(m, p->sphere);
    visit_count(m, &p->chosen_count);
    VISIT_OPTIONAL(m, p->chosen, 2 * p->chosen_count);
}

/* An array of plans: allocated when reading, with room as brio__room_for_one expects it. */
static void *visit_plans(Image *m, void *plans, int64_t count, size_t size)
{
    if (!m->reading || stopped(m)) return plans;
    int64_t room = 1;
    while (room < count && room < INT32_MAX) room *= 2;
    m->broken |= count < 0 || (size_t)count > m->room;
    void *created = m->broken ? NULL : brio__calloc((size_t)room, size);
    m->no_memory |= !m->broken && !created;
    return created;
}

#define EACH(m, plan, count, visit_one)                        \
    do {                                                       \
        (plan) = visit_plans(m, plan, count, sizeof *(plan));  \
        if (stopped(m)) (count) = m->reading ? 0 : (count);    \
        for (int64_t i = 0; i < (count) && !stopped(m); i++) { \
            visit_one(m, &(plan)[i]);                          \
        }                                                      \
    } while (0)

static void visit_attachment(Image *m, BrioAttachmentPlan *p)
{
    VISIT(m, p->body);
    VISIT(m, p->vertex);
    VISIT(m, p->point);
    VISIT(m, p->k);
    VISIT(m, p->script);
    VISIT(m, p->row);
}

static void visit_constraint(Image *m, BrioConstraintPlan *p)
{
    Name room;
    BrioConstraint *c = &p->constraint;
    const char *type = visit_name(m, m->reading ? "" : c->type->name, &room);
    if (m->reading) {
        c->type = brio__constraint_type(type);
        m->broken |= !c->type;
    }
    visit_text(m, &c->name);
    VISIT(m, c->values);
    VISIT(m, c->body);
    VISIT(m, c->point_count);
    VISIT_ARRAY(m, c->point, c->point_count, true);
    VISIT(m, c->length);
    VISIT(m, c->rows);
    VISIT(m, c->one_sided);
    VISIT(m, c->rest);
    visit_count(m, &c->triangle_count);
    VISIT_ARRAY(m, c->triangle, 3 * c->triangle_count, false);
    VISIT(m, p->end);
    VISIT_ARRAY(m, p->owner, c->point_count, true);
}

static void visit_stitch(Image *m, BrioStitchPlan *p) { VISIT(m, *p); }

static void visit_pair(Image *m, BrioPairPlan *p)
{
    VISIT(m, p->a);
    VISIT(m, p->b);
    VISIT(m, p->mu);
    VISIT(m, p->excluded);
}

static void visit_contact(Image *m, BrioBuilder *b)
{
    Name room;
    const char *law = visit_name(m, m->reading ? "" : b->contact.law, &room);
    const BrioLaw *found = brio__law_at(brio__law_find(law));
    m->broken |= m->reading && !found;
    VISIT(m, b->contact.dhat);
    VISIT(m, b->contact.self);
    VISIT(m, b->contact.kappa);
    VISIT(m, b->contact.thickness);
    VISIT(m, b->contact.mu);
    VISIT(m, b->contact.epsv);
    VISIT(m, b->contact.friction_iterations);
    VISIT(m, b->contact.start);
    VISIT(m, b->contact.relax_time);
    VISIT(m, b->contact_asked);
    if (m->reading && found) b->contact.law = found->name;
}

/* Behind everything else, and only where a script is curved: images of before have none of it. */
static void visit_curves(Image *m, BrioBuilder *b)
{
    bool there = m->reading && m->size < m->room;
    for (int k = 0; !m->reading && k < b->script_count; k++)
        there |= b->script[k].script.interpolation != BRIO_INTERPOLATION_LINEAR;
    for (int k = 0; there && !stopped(m) && k < b->script_count; k++) {
        BrioInterpolation *by = &b->script[k].script.interpolation;
        VISIT(m, *by);
        m->broken |= m->reading && (unsigned)*by > BRIO_INTERPOLATION_MONOTONE;
    }
}

static void visit_builder(Image *m, BrioBuilder *b)
{
    VISIT(m, b->gravity);
    visit_contact(m, b);
    VISIT(m, b->body_count);
    EACH(m, b->body, b->body_count, visit_body);
    VISIT(m, b->script_count);
    EACH(m, b->script, b->script_count, visit_script);
    VISIT(m, b->attachment_count);
    EACH(m, b->attachment, b->attachment_count, visit_attachment);
    VISIT(m, b->analytic_count);
    EACH(m, b->analytic, b->analytic_count, visit_formula);
    VISIT(m, b->obstacle_count);
    EACH(m, b->obstacle, b->obstacle_count, visit_obstacle);
    VISIT(m, b->obstacle_vertices);
    VISIT(m, b->pair_count);
    EACH(m, b->pair, b->pair_count, visit_pair);
    VISIT(m, b->constraint_count);
    EACH(m, b->constraint, b->constraint_count, visit_constraint);
    VISIT(m, b->stitch_count);
    EACH(m, b->stitch, b->stitch_count, visit_stitch);
    VISIT(m, b->force_count);
    EACH(m, b->force, b->force_count, visit_force);
    visit_curves(m, b);
}

BrioStatus brio__builder_write(const BrioBuilder *builder, unsigned char **bytes, size_t *size)
{
    Image m = {0};
    visit_builder(&m, (BrioBuilder *)builder);
    if (m.no_memory) {
        brio__free(m.bytes);
        return BRIO_ERROR_MEMORY;
    }
    *bytes = m.bytes;
    *size = m.size;
    return BRIO_OK;
}

/* ---- what was read ---------------------------------------------------------------------- */

/* A row of a script that has rows. */
static bool row_fits(const BrioBuilder *b, int script, int64_t row)
{
    const BrioScripted *data = &b->script[script].data;
    return !data->shift || (row >= 0 && row < data->row_count);
}

static bool cage_fits(const BrioBuilder *b, const BrioBodyPlan *p)
{
    const BrioCage *c = p->cage;
    bool fits = c->vertex_count == p->mesh->vertex_count && c->node_count > 0;
    for (int64_t i = 0; fits && i < 4 * c->vertex_count; i++)
        fits = c->node[i] >= 0 && c->node[i] < c->node_count;
    for (int64_t v = 0; fits && v < c->vertex_count; v++) {
        const double *w = c->weight + 4 * v;
        fits = w[0] != 0 || w[1] != 0 || w[2] != 0 || w[3] != 0;
    }
    for (int64_t i = 0; fits && i < 4 * c->tet_count; i++)
        fits = c->tet[i] >= 0 && c->tet[i] < c->node_count;
    for (int64_t i = 0; fits && i < c->node_count; i++)
        fits = p->node_fix[i] >= -1 && p->node_fix[i] < b->script_count &&
               (p->node_fix[i] < 0 || row_fits(b, p->node_fix[i], 0));
    return fits;
}

static bool body_fits(const BrioBuilder *b, const BrioBodyPlan *p)
{
    bool fits = (p->removed && p->mesh->vertex_count == 0) ||
                (p->mesh->vertex_count > 0 && brio__mesh_check(p->mesh, NULL) == BRIO_OK);
    fits = fits && (p->kind->kind == BRIO_KIND_AFFINE) == (p->weight != NULL);
    if (p->cage) fits = fits && cage_fits(b, p);
    for (int64_t v = 0; fits && v < p->mesh->vertex_count; v++)
        fits = p->fix[v] >= -1 && p->fix[v] < b->script_count &&
               (p->fix[v] < 0 || row_fits(b, p->fix[v], p->row[v]));
    for (int64_t i = 0; fits && i < 4 * p->hinge_count; i++)
        fits = p->hinge && p->hinge[i] >= 0 && p->hinge[i] < p->mesh->vertex_count;
    return fits;
}

static bool vertex_fits(const BrioBuilder *b, int body, int64_t vertex)
{
    return brio__builder_check_vertex(b, body, vertex, NULL) == BRIO_OK;
}

static bool formulas_run(const BrioFormula *formula, int count)
{
    bool runs = true;
    for (int i = 0; runs && i < count; i++) runs = brio__formula_runs(&formula[i]);
    return runs;
}

static bool script_fits(const BrioScripted *data)
{
    bool frames = data->frame_count > 0 && data->row_count > 0;
    return (data->shift != NULL) == frames && (data->frame_time != NULL) == frames &&
           (!data->formula || formulas_run(data->formula, 3));
}

static bool formulas_fit(const BrioForce *f)
{
    bool fits = f->formula_count == 0
                    ? !f->type->own_formula
                    : f->formula_count == 1 || (f->formula_count == 3 && f->type->three);
    return fits && formulas_run(f->formula, f->formula_count) &&
           (f->type->called && !f->type->def) == (f->function != NULL);
}

static bool force_fits(const BrioBuilder *b, const BrioForcePlan *p)
{
    bool fits = p->vertex_count == 0 || p->body_count == 1;
    for (int i = 0; fits && i < p->body_count; i++)
        fits = p->bodies[i] >= 0 && p->bodies[i] < b->body_count;
    for (int64_t i = 0; fits && i < p->vertex_count; i++)
        fits = vertex_fits(b, p->bodies[0], p->vertices[i]);
    for (int64_t i = 0; fits && i < p->chosen_count; i++)
        fits = vertex_fits(b, p->chosen[2 * i], p->chosen[2 * i + 1]);
    return fits && formulas_fit(&p->force);
}

/* How many rows its kind writes with its values, wherever its points are. */
static int rows_of(const BrioConstraint *c)
{
    const double y[3 * BRIO_MAX_ROLES] = {0};
    BrioConstraint own = *c;
    BrioError ignored;
    own.triangle_count = 0;
    own.type->begin(&own, y, &ignored);
    return own.rows;
}

/* -1 - k: mass point k of an affine body. */
static bool constraint_fits(const BrioBuilder *b, int i)
{
    const BrioConstraintPlan *p = &b->constraint[i];
    const BrioConstraint *c = &p->constraint;
    int points = c->type->points ? c->type->points(c->values) : c->type->role_count;
    bool fits = c->rows == rows_of(c);
    fits = fits && (!c->type->role_count || c->point_count == points);
    for (int k = 0; fits && k < 2; k++) fits = c->body[k] >= -1 && c->body[k] < b->body_count;
    for (int k = 0; fits && k < c->point_count; k++) {
        fits = c->point[k].count >= 0 && c->point[k].count <= 4;
        for (int j = 0; fits && j < c->point[k].count; j++) {
            int32_t v = c->point[k].vertex[j];
            fits = vertex_fits(b, p->owner[k], v < 0 ? 0 : v) && v >= -4;
        }
    }
    for (int64_t k = 0; fits && k < 3 * c->triangle_count; k++)
        fits = c->triangle[k] >= 0 && c->triangle[k] < c->point_count;
    return fits;
}

static bool table_fits(const BrioFormulaPlan *p)
{
    if (!p->type->table || !p->table) return !p->type->table && !p->table;
    return p->table[0] >= BRIO_TABLE_OWN && p->type->table_fits(p->table);
}

/* Every index is within its range: a damaged file must not be fatal. */
static bool all_fits(const BrioBuilder *b)
{
    bool fits = b->script_count > 0;
    int64_t vertices = 0;
    for (int k = 0; fits && k < b->script_count; k++) fits = script_fits(&b->script[k].data);
    for (int i = 0; fits && i < b->body_count; i++) fits = body_fits(b, &b->body[i]);
    for (int64_t i = 0; fits && i < b->attachment_count; i++) {
        const BrioAttachmentPlan *p = &b->attachment[i];
        fits = vertex_fits(b, p->body, p->vertex) && p->script >= 0 &&
               p->script < b->script_count && row_fits(b, p->script, p->row);
    }
    for (int i = 0; fits && i < b->constraint_count; i++) fits = constraint_fits(b, i);
    for (int64_t i = 0; fits && i < b->stitch_count; i++)
        for (int k = 0; fits && k < 4; k++)
            fits = vertex_fits(b, b->stitch[i].body[k], b->stitch[i].vertex[k]);
    for (int i = 0; fits && i < b->obstacle_count; i++) {
        const BrioObstaclePlan *p = &b->obstacle[i];
        fits = p->analytic >= -1 && p->analytic < b->analytic_count && p->script >= 0 &&
               p->script < b->script_count && !(p->driven && (!p->script || !p->mesh));
        if (fits && p->mesh)
            fits = brio__mesh_check(p->mesh, NULL) == BRIO_OK &&
                   row_fits(b, p->script, p->mesh->vertex_count - 1);
        if (p->mesh) vertices += p->mesh->vertex_count;
    }
    for (int i = 0; fits && i < b->analytic_count; i++)
        fits = b->analytic[i].obstacle >= 0 && b->analytic[i].obstacle < b->obstacle_count &&
               b->obstacle[b->analytic[i].obstacle].analytic == i && table_fits(&b->analytic[i]);
    for (int i = 0; fits && i < b->force_count; i++) fits = force_fits(b, &b->force[i]);
    return fits && vertices == b->obstacle_vertices;
}

BrioStatus brio__builder_read(const unsigned char *bytes, size_t size, BrioBuilder **builder,
                              BrioError *error)
{
    BrioBuilder *b;
    BRIO_CHECK(brio_builder_create(&b, error));
    Image m = {.bytes = (unsigned char *)bytes, .room = size, .reading = true};
    brio__free(b->script);
    b->script = NULL;
    b->script_count = 0;
    visit_builder(&m, b);
    if (!stopped(&m) && all_fits(b)) {
        *builder = b;
        return BRIO_OK;
    }
    brio_builder_free(b);
    return m.no_memory ? brio__no_memory(error)
                       : brio__error(error, BRIO_ERROR_INPUT, "the edited bodies are damaged");
}
