/* From bodies, materials, fixed vertices, attachments, rods and obstacles to a system and its first
 * state. */
#include "builder.h"

#include "affine.h"
#include "contact/contact.h"
#include "contact/law.h"
#include "contact/obstacle.h"
#include "field.h"
#include "mesh/mesh.h"
#include "presets.h"

#include <string.h>

typedef struct BodyPlan {
    char *name;
    const BrioEnergy *energy;
    /* of the material's fields, and what the energy makes of them */
    double values[BRIO_MAX_VALUES], params[BRIO_MAX_VALUES];
    BrioMesh *mesh;    /* with the transform applied: the rest shape */
    double *x, *v;     /* first state */
    double *mass;      /* per vertex; of an affine body none */
    BrioAffine affine; /* of an affine body, and its vertices' weights (four each) */
    double *weight;    /* NULL: not affine */
    double point_mass; /* a quarter of its mass */
    double *spring;    /* edge_count x 2: weight, rest length; NULL: 1 and from the mesh */
    BrioSheet sheet;   /* of shells */
    int64_t hinge_count;
    int32_t *hinge; /* x 4; NULL: no bending */
    int32_t *fix;   /* per vertex: -1 free, otherwise which script (0: stands still) */
} BodyPlan;

typedef struct Attachment {
    int body;
    int32_t vertex;
    double point[3], k;
    int script;
} Attachment;

typedef struct Rod {
    int body[2];
    int32_t vertex[2];
    double length;
} Rod;

/* An obstacle with a formula: what its energy's rest_shape takes after the vertex. */
typedef struct Plane {
    const BrioObstacleType *type;
    double data[BRIO_OBSTACLE_DATA]; /* point and unit normal of a plane */
    double *table;                   /* moves to the system */
    int obstacle;
} Plane;

typedef struct ObstaclePlan {
    char *name;
    int plane;      /* -1: a mesh */
    BrioMesh *mesh; /* with the transform applied */
    int script;
} ObstaclePlan;

/* What was said about two bodies or obstacles. */
typedef struct PairPlan {
    int a, b;
    double mu; /* NAN: nothing */
    bool excluded;
} PairPlan;

struct BrioBuilder {
    bool finished; /* what it held is part of a system now */
    double need;   /* bytes that simulating the bodies so far takes, about */
    double gravity[3];
    int body_count;
    BodyPlan *body;
    int script_count; /* script 0 stands still */
    BrioScript *script;
    int64_t attachment_count;
    Attachment *attachment;
    BrioContactDef contact;
    bool contact_asked; /* bodies meet each other too */
    int plane_count;
    Plane *plane;
    int obstacle_count;
    ObstaclePlan *obstacle;
    int obstacle_at_fault; /* -1: none */
    int64_t obstacle_vertices;
    int pair_count;
    PairPlan *pair;
    int rod_count;
    Rod *rod;
    int rod_at_fault; /* -1: none */
};

/* What every call begins with. */
static BrioStatus check_open(const BrioBuilder *builder, BrioError *error)
{
    if (error) *error = (BrioError){0};
    if (!builder->finished) return BRIO_OK;
    return brio__error(error, BRIO_ERROR_ARGUMENT,
                       "this builder was finished already: begin another one");
}

/* Room for one more element in an array of `count`, which doubles at the powers of two; NULL if
 * there is no memory, and the array is kept. */
static void *room_for_one(void *array, int64_t count, size_t size)
{
    return count & (count - 1)
               ? array
               : brio__realloc(array, (size_t)count, count ? 2 * (size_t)count : 1, size);
}

static BrioStatus no_memory(BrioError *error)
{
    return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
}

BrioStatus brio_builder_create(BrioBuilder **builder)
{
    BrioBuilder *made = brio__calloc(1, sizeof *made);
    if (!made) return BRIO_ERROR_MEMORY;
    made->script = brio__calloc(1, sizeof *made->script);
    if (!made->script) {
        brio__free(made);
        return BRIO_ERROR_MEMORY;
    }
    made->script[0] = brio_script();
    made->script_count = 1;
    made->obstacle_at_fault = made->rod_at_fault = -1;
    made->contact = brio_contact_def();
    *builder = made;
    return BRIO_OK;
}

static void free_plan(BodyPlan *plan)
{
    brio__free(plan->name);
    brio_mesh_free(plan->mesh);
    brio__free(plan->x);
    brio__free(plan->v);
    brio__free(plan->mass);
    brio__free(plan->spring);
    brio__free(plan->weight);
    brio__free(plan->hinge);
    brio__free(plan->fix);
}

void brio_builder_free(BrioBuilder *builder)
{
    if (!builder) return;
    for (int i = 0; i < builder->body_count; i++) free_plan(&builder->body[i]);
    for (int i = 0; i < builder->script_count; i++) brio__free((void *)builder->script[i].keys);
    brio__free(builder->body);
    brio__free(builder->script);
    brio__free(builder->attachment);
    for (int i = 0; i < builder->obstacle_count; i++) {
        brio__free(builder->obstacle[i].name);
        brio_mesh_free(builder->obstacle[i].mesh);
    }
    brio__free(builder->obstacle);
    for (int k = 0; k < builder->plane_count; k++) brio__free(builder->plane[k].table);
    brio__free(builder->plane);
    brio__free(builder->pair);
    brio__free(builder->rod);
    brio__free(builder);
}

void brio_builder_gravity(BrioBuilder *builder, const double gravity[3])
{
    memcpy(builder->gravity, gravity, sizeof builder->gravity);
}

BrioBodyDef brio_body_def(void) { return (BrioBodyDef){.linear = {1, 0, 0, 0, 1, 0, 0, 0, 1}}; }

BrioScript brio_script(void) { return (BrioScript){.end = INFINITY}; }

BrioStatus brio_material(const char *type, BrioMaterial *material)
{
    const BrioPreset *preset = brio__preset(type);
    const BrioEnergy *energy = brio__energy(preset ? preset->type : type);
    if (!energy || !brio__energy_is_material(energy)) return BRIO_ERROR_ARGUMENT;
    *material = (BrioMaterial){.type = energy->name};
    brio_fields_defaults(energy->fields, material->values);
    for (int i = 0; preset && preset->value[i].field; i++)
        BRIO_CHECK(brio_material_set(material, preset->value[i].field, preset->value[i].value));
    return BRIO_OK;
}

const char *brio_material_at(int i)
{
    for (int k = 0; brio__energy_at(k); k++)
        if (brio__energy_is_material(brio__energy_at(k)) && i-- == 0)
            return brio__energy_at(k)->name;
    return NULL;
}

const BrioField *brio_material_fields(const char *type)
{
    const BrioEnergy *energy = brio__energy(type);
    return energy && brio__energy_is_material(energy) ? energy->fields : NULL;
}

BrioStatus brio_material_set(BrioMaterial *material, const char *name, double value)
{
    const BrioEnergy *energy = brio__energy(material->type);
    return energy ? brio_fields_set(energy->fields, material->values, name, &value)
                  : BRIO_ERROR_ARGUMENT;
}

/* ---- masses ----------------------------------------------------------------------------- */

static double distance(const double *a, const double *b)
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

static double triangle_area(const double *a, const double *b, const double *c)
{
    double n[3];
    for (int r = 0; r < 3; r++) {
        int p = (r + 1) % 3, q = (r + 2) % 3;
        n[r] = (b[p] - a[p]) * (c[q] - a[q]) - (b[q] - a[q]) * (c[p] - a[p]);
    }
    return 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
}

/* A tet gives a quarter of its mass to each corner, a triangle a third, an edge a half. */
static void lump(const BrioMesh *mesh, double density, double *mass)
{
    if (mesh->tet_count) {
        for (int64_t t = 0; t < mesh->tet_count; t++) {
            const int32_t *n = mesh->tet + 4 * t;
            const double *x = mesh->x;
            double share = density *
                           brio__tet_volume6(x + 3 * (int64_t)n[0], x + 3 * (int64_t)n[1],
                                             x + 3 * (int64_t)n[2], x + 3 * (int64_t)n[3]) /
                           24;
            for (int k = 0; k < 4; k++) mass[n[k]] += share;
        }
    } else if (mesh->triangle_count) {
        for (int64_t t = 0; t < mesh->triangle_count; t++) {
            const int32_t *n = mesh->triangle + 3 * t;
            double share = density *
                           triangle_area(mesh->x + 3 * (int64_t)n[0], mesh->x + 3 * (int64_t)n[1],
                                         mesh->x + 3 * (int64_t)n[2]) /
                           3;
            for (int k = 0; k < 3; k++) mass[n[k]] += share;
        }
    } else {
        for (int64_t e = 0; e < mesh->edge_count; e++) {
            const int32_t *n = mesh->edge + 2 * e;
            double share =
                density * distance(mesh->x + 3 * (int64_t)n[0], mesh->x + 3 * (int64_t)n[1]) / 2;
            for (int k = 0; k < 2; k++) mass[n[k]] += share;
        }
    }
}

/* ---- bodies ----------------------------------------------------------------------------- */

static BrioStatus copy_mesh(const BrioMesh *from, const double linear[9], const double translate[3],
                            BrioMesh **copy, BrioError *error)
{
    BRIO_CHECK(brio__mesh_create(from->vertex_count, from->tet_count, from->triangle_count,
                                 from->edge_count, copy, error));
    BrioMesh *mesh = *copy;
    if (from->tet_count)
        memcpy(mesh->tet, from->tet, (size_t)from->tet_count * 4 * sizeof *mesh->tet);
    if (from->triangle_count)
        memcpy(mesh->triangle, from->triangle,
               (size_t)from->triangle_count * 3 * sizeof *mesh->triangle);
    if (from->edge_count)
        memcpy(mesh->edge, from->edge, (size_t)from->edge_count * 2 * sizeof *mesh->edge);
    for (int64_t v = 0; v < from->vertex_count; v++)
        for (int r = 0; r < 3; r++) {
            double x = translate[r];
            for (int c = 0; c < 3; c++) x += linear[3 * r + c] * from->x[3 * v + c];
            mesh->x[3 * v + r] = x;
        }
    return BRIO_OK;
}

static const char *const kind_names[] = {
    [BRIO_KIND_SOLID] = "solid",   [BRIO_KIND_SPRINGS] = "springs", [BRIO_KIND_BAR1D] = "bar1d",
    [BRIO_KIND_POINTS] = "points", [BRIO_KIND_AFFINE] = "affine",   [BRIO_KIND_SHELL] = "shell"};

static BrioKind kind_of(const BrioEnergy *energy)
{
    if (energy->element == BRIO_ELEMENT_BAR) return BRIO_KIND_BAR1D;
    if (energy->element == BRIO_ELEMENT_POINT) return BRIO_KIND_POINTS;
    if (energy->element == BRIO_ELEMENT_AFFINE) return BRIO_KIND_AFFINE;
    if (energy->element == BRIO_ELEMENT_TRIANGLE) return BRIO_KIND_SHELL;
    return energy->element == BRIO_ELEMENT_TET ? BRIO_KIND_SOLID : BRIO_KIND_SPRINGS;
}

/* An affine body of the material of a solid has its stiffness and density. */
static BrioStatus affine_values(const BrioBodyDef *def, const BrioEnergy **energy, double *values,
                                BrioError *error)
{
    const BrioEnergy *affine = brio__energy("affine");
    const char *const names[] = {"E", "rho"};
    for (int k = 0; k < 2; k++) {
        int from = brio__fields_offset((*energy)->fields, names[k]);
        if ((*energy)->element != BRIO_ELEMENT_TET || from < 0)
            return brio__error(error, BRIO_ERROR_INPUT,
                               "a body of kind affine needs E and rho, and material %s does not "
                               "give both; take material affine",
                               (*energy)->name);
        values[brio__fields_offset(affine->fields, names[k])] = def->material.values[from];
    }
    *energy = affine;
    return BRIO_OK;
}

static bool moves_along_x(const BodyPlan *plan)
{
    return plan->energy->traits & BRIO_ENERGY_ALONG_X;
}

static BrioStatus choose_energy(const BrioBodyDef *def, BodyPlan *plan, double *values,
                                BrioError *error)
{
    const char *type = def->material.type ? def->material.type : "";
    plan->energy = brio__energy(type);
    if (!plan->energy || !brio__energy_is_material(plan->energy))
        return brio__error(error, BRIO_ERROR_INPUT, "no material type \"%s\"", type);
    memcpy(values, def->material.values, sizeof def->material.values);
    BRIO_CHECK(brio__fields_check(plan->energy->fields, values, error));
    if (def->kind == BRIO_KIND_AFFINE && kind_of(plan->energy) != BRIO_KIND_AFFINE)
        BRIO_CHECK(affine_values(def, &plan->energy, values, error));
    BrioKind kind = kind_of(plan->energy);
    if (def->kind != BRIO_KIND_AUTO && def->kind != kind)
        return brio__error(error, BRIO_ERROR_INPUT, "material %s is for bodies of kind %s, not %s",
                           type, kind_names[kind], kind_names[def->kind]);
    if (kind == BRIO_KIND_BAR1D &&
        (def->mesh->edge_count == 0 || def->mesh->triangle_count || def->mesh->tet_count))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "a bar1d needs edges and nothing else, and this mesh has %lld edges, "
                           "%lld triangles and %lld tets; take shape: {type: line}",
                           (long long)def->mesh->edge_count, (long long)def->mesh->triangle_count,
                           (long long)def->mesh->tet_count);
    if (kind == BRIO_KIND_SOLID && def->mesh->tet_count == 0)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "a solid needs tets, and this mesh has none (%lld vertices, %lld "
                           "triangles); give a mesh of tets, or "
                           "kind: solid to have its closed surface filled with them, or kind: "
                           "springs with material hooke",
                           (long long)def->mesh->vertex_count,
                           (long long)def->mesh->triangle_count);
    if (kind == BRIO_KIND_SHELL && (def->mesh->tet_count || def->mesh->triangle_count == 0))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "a shell needs triangles and no tets, and this mesh has %lld triangles "
                           "and %lld tets; take shape: {type: grid}, disk or sphere, a "
                           "mesh of a surface, or a material of solids",
                           (long long)def->mesh->triangle_count, (long long)def->mesh->tet_count);
    if (plan->energy->sheet) BRIO_CHECK(plan->energy->sheet(values, &plan->sheet, error));
    if (plan->energy->prepare) return plan->energy->prepare(values, plan->params, error);
    memcpy(plan->params, values, sizeof(double) * (size_t)plan->energy->params);
    return BRIO_OK;
}

static BrioStatus body_masses(const double *values, BodyPlan *plan, BrioError *error)
{
    const BrioField *fields = plan->energy->fields;
    int vertex_mass = brio__fields_offset(fields, "vertex_mass");
    int rho = brio__fields_offset(fields, "rho");
    if (plan->energy->sheet) {
        lump(plan->mesh, plan->sheet.areal, plan->mass);
        return BRIO_OK;
    }
    bool each = vertex_mass >= 0 && !isnan(values[vertex_mass]);
    bool density = rho >= 0 && !isnan(values[rho]);
    if (each == density)
        return brio__error(error, BRIO_ERROR_INPUT,
                           each ? "both vertex_mass and rho are given: leave one out"
                                : "the material has no mass: give vertex_mass or rho");
    if (each)
        for (int64_t v = 0; v < plan->mesh->vertex_count; v++) plan->mass[v] = values[vertex_mass];
    else
        lump(plan->mesh, values[rho], plan->mass);
    for (int64_t v = 0; v < plan->mesh->vertex_count; v++)
        if (!(plan->mass[v] > 0) || isinf(plan->mass[v]))
            return brio__error(
                error, BRIO_ERROR_INPUT,
                "vertex %lld would have mass %g kg: every vertex needs a positive mass",
                (long long)v, plan->mass[v]);
    return BRIO_OK;
}

static BrioStatus affine_masses(const double *values, BodyPlan *plan, BrioError *error)
{
    const BrioMesh *mesh = plan->mesh;
    BRIO_CHECK(brio__affine_body(mesh, &plan->affine, error));
    plan->point_mass =
        values[brio__fields_offset(plan->energy->fields, "rho")] * plan->affine.volume / 4;
    if (!(plan->point_mass > 0) || isinf(plan->point_mass))
        return brio__error(error, BRIO_ERROR_INPUT, "the body would have mass %g kg",
                           4 * plan->point_mass);
    plan->weight = brio__alloc((size_t)mesh->vertex_count * 4, sizeof(double));
    if (!plan->weight) return no_memory(error);
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        brio__affine_weights(&plan->affine, mesh->x + 3 * v, plan->weight + 4 * v);
    return BRIO_OK;
}

static BrioStatus spring_rests(const BrioBodyDef *def, BodyPlan *plan, BrioError *error)
{
    if (!def->spring) return BRIO_OK;
    if (plan->energy->element != BRIO_ELEMENT_SPRING)
        return brio__error(
            error, BRIO_ERROR_INPUT,
            "springs of its own are for a body of kind springs, and %s makes this one a %s",
            plan->energy->name, kind_names[kind_of(plan->energy)]);
    int64_t count = plan->mesh->edge_count;
    if (def->mesh->edge_count != count)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "springs of its own need a mesh with their edges");
    plan->spring = brio__alloc((size_t)count * 2, sizeof(double));
    if (!plan->spring) return no_memory(error);
    for (int64_t e = 0; e < count; e++) {
        double k = def->spring[2 * e], rest = def->spring[2 * e + 1];
        if (!(k > 0) || isinf(k) || !(rest >= 0) || isinf(rest))
            return brio__error(error, BRIO_ERROR_INPUT,
                               "spring %lld has k = %g N/m and rest length %g m: k must be "
                               "positive, the length not negative",
                               (long long)e, k, rest);
        plan->spring[2 * e] = k / plan->params[0];
        plan->spring[2 * e + 1] = rest;
    }
    return BRIO_OK;
}

/* Every edge of a bar1d lies along x and points to where x rises. */
static BrioStatus check_along_x(const BodyPlan *plan, BrioError *error)
{
    const BrioMesh *mesh = plan->mesh;
    for (int64_t e = 0; e < mesh->edge_count; e++) {
        const int32_t *n = mesh->edge + 2 * e;
        const double *a = mesh->x + 3 * (int64_t)n[0], *b = mesh->x + 3 * (int64_t)n[1];
        double length = b[0] - a[0];
        if (!(length > 0) || fabs(b[1] - a[1]) > 1e-9 * length ||
            fabs(b[2] - a[2]) > 1e-9 * length) /* round-off of a turn about x */
            return brio__error(error, BRIO_ERROR_INPUT,
                               "edge %lld (vertices %d %d) goes along [%g, %g, %g]: a bar1d moves "
                               "along x only, so its edges must point along +x; leave "
                               "rotations out",
                               (long long)e, n[0], n[1], b[0] - a[0], b[1] - a[1], b[2] - a[2]);
    }
    return BRIO_OK;
}

static BrioStatus first_state(const BrioBodyDef *def, BodyPlan *plan, BrioError *error)
{
    for (int64_t v = 0; v < plan->mesh->vertex_count; v++) {
        double *x = plan->x + 3 * v, *w = plan->v + 3 * v;
        const double *given = def->state ? def->state + 6 * v : NULL;
        memcpy(x, given ? given : plan->mesh->x + 3 * v, 3 * sizeof *x);
        for (int r = 0; r < 3; r++) {
            int p = (r + 1) % 3, q = (r + 2) % 3;
            w[r] = def->velocity[r] + def->angular[p] * (x[q] - def->about[q]) -
                   def->angular[q] * (x[p] - def->about[p]);
            if (given) w[r] += given[3 + r];
            if (!isfinite(x[r]) || !isfinite(w[r]))
                return brio__error(
                    error, BRIO_ERROR_INPUT,
                    "the first position or velocity of vertex %lld is not a finite number",
                    (long long)v);
        }
        const double *X = plan->mesh->x + 3 * v;
        if (moves_along_x(plan) && (w[1] != 0 || w[2] != 0 || x[1] != X[1] || x[2] != X[2]))
            return brio__error(error, BRIO_ERROR_INPUT,
                               "vertex %lld would start at y = %g, z = %g m with %g and %g m/s "
                               "along these: a bar1d moves along x only, so it starts at "
                               "rest in y and z, where its shape is (y = %g, z = %g m)",
                               (long long)v, x[1], x[2], w[1], w[2], X[1], X[2]);
    }
    return BRIO_OK;
}

static BrioStatus plan_body(const BrioBodyDef *def, BodyPlan *plan, BrioError *error)
{
    const double *values = plan->values;
    BRIO_CHECK(choose_energy(def, plan, plan->values, error));
    BRIO_CHECK(brio__mesh_check(def->mesh, error));
    BRIO_CHECK(copy_mesh(def->mesh, def->linear, def->translate, &plan->mesh, error));
    bool affine = plan->energy->element == BRIO_ELEMENT_AFFINE;
    if (plan->energy->element == BRIO_ELEMENT_TET || (affine && plan->mesh->tet_count)) {
        BRIO_CHECK(brio__mesh_check_solid(plan->mesh, error));
        BRIO_CHECK(brio__mesh_surface(plan->mesh, error));
    } else if (affine) {
        BRIO_CHECK(brio__mesh_close(plan->mesh, error));
        plan->mesh->edge_count = 0; /* no springs */
    } else if (plan->energy->element == BRIO_ELEMENT_TRIANGLE) {
        plan->mesh->edge_count = 0; /* springs of the shape, if it has some, play no part */
        BRIO_CHECK(brio__mesh_check_shell(plan->mesh, error));
        BRIO_CHECK(brio__mesh_hinges(plan->mesh, &plan->hinge, &plan->hinge_count, error));
    } else if (plan->energy->element != BRIO_ELEMENT_POINT) {
        if (plan->mesh->edge_count == 0 && brio__mesh_edges_from_triangles(plan->mesh) != BRIO_OK)
            return no_memory(error);
        BRIO_CHECK(brio__mesh_check_springs(plan->mesh, error));
        if (moves_along_x(plan)) BRIO_CHECK(check_along_x(plan, error));
    }
    size_t n = (size_t)plan->mesh->vertex_count;
    plan->x = brio__alloc(3 * n, sizeof(double));
    plan->v = brio__alloc(3 * n, sizeof(double));
    plan->mass = brio__calloc(n, sizeof(double));
    plan->fix = brio__alloc(n, sizeof *plan->fix);
    plan->name = brio__strdup(def->name);
    if (!plan->x || !plan->v || !plan->mass || !plan->fix || !plan->name) return no_memory(error);
    for (size_t v = 0; v < n; v++) plan->fix[v] = -1;
    BRIO_CHECK((affine ? affine_masses : body_masses)(values, plan, error));
    BRIO_CHECK(spring_rests(def, plan, error));
    return first_state(def, plan, error);
}

BrioStatus brio_builder_body(BrioBuilder *builder, const BrioBodyDef *def, int *body,
                             BrioError *error)
{
    BRIO_CHECK(check_open(builder, error));
    if (!def->name || !def->name[0])
        return brio__error(error, BRIO_ERROR_INPUT, "a body needs a name");
    if (!def->mesh || def->mesh->vertex_count == 0)
        return brio__error(error, BRIO_ERROR_INPUT, "body \"%s\" has no vertices", def->name);
    for (int i = 0; i < builder->body_count; i++)
        if (!strcmp(builder->body[i].name, def->name))
            return brio__error(error, BRIO_ERROR_INPUT,
                               "two bodies are called \"%s\": give each a name of its own",
                               def->name);
    double need = builder->need + brio__mesh_need(def->mesh->vertex_count, def->mesh->tet_count,
                                                  def->mesh->triangle_count, def->mesh->edge_count);
    if (need > brio__memory_available())
        return brio__error(error, BRIO_ERROR_TOO_LARGE,
                           "with body \"%s\" the scene needs about %.3g GB to simulate, and %.3g "
                           "GB are available; use coarser meshes",
                           def->name, need * 1e-9, brio__memory_available() * 1e-9);
    BodyPlan plan = {0};
    BrioStatus status = plan_body(def, &plan, error);
    BodyPlan *grown = NULL;
    if (status == BRIO_OK) {
        grown = room_for_one(builder->body, builder->body_count, sizeof plan);
        if (!grown) status = no_memory(error);
    }
    if (status != BRIO_OK) {
        free_plan(&plan);
        return status;
    }
    builder->body = grown;
    builder->need = need;
    grown[builder->body_count] = plan;
    if (body) *body = builder->body_count;
    builder->body_count++;
    return BRIO_OK;
}

/* ---- fixed vertices and attachments ----------------------------------------------------- */

static BrioStatus add_script(BrioBuilder *builder, const BrioScript *script, int *number,
                             BrioError *error)
{
    *number = 0;
    if (!script) return BRIO_OK;
    if (!isfinite(script->start) || !(script->end >= script->start))
        return brio__error(error, BRIO_ERROR_INPUT, "a script must not end before it starts");
    bool finite = true;
    for (int r = 0; r < 3; r++)
        finite &= isfinite(script->velocity[r]) && isfinite(script->angular[r]) &&
                  isfinite(script->about[r]);
    for (int64_t k = 0; k < 4 * script->key_count; k++) finite &= isfinite(script->keys[k]) != 0;
    if (!finite)
        return brio__error(error, BRIO_ERROR_INPUT, "a script has a number that is not finite");
    for (int64_t k = 0; k < script->key_count; k++)
        if (k > 0 && !(script->keys[4 * k] > script->keys[4 * (k - 1)]))
            return brio__error(
                error, BRIO_ERROR_INPUT,
                "the times of a script's keys must rise: key %lld is at %g s, after one at %g s",
                (long long)k, script->keys[4 * k], script->keys[4 * (k - 1)]);
    BrioScript copy = *script;
    double *keys = NULL;
    if (script->key_count) {
        keys = brio__alloc((size_t)script->key_count * 4, sizeof *keys);
        if (!keys) return no_memory(error);
        memcpy(keys, script->keys, (size_t)script->key_count * 4 * sizeof *keys);
    }
    copy.keys = keys;
    BrioScript *grown = room_for_one(builder->script, builder->script_count, sizeof copy);
    if (!grown) {
        brio__free(keys);
        return no_memory(error);
    }
    builder->script = grown;
    grown[builder->script_count] = copy;
    *number = builder->script_count++;
    return BRIO_OK;
}

BrioStatus brio__builder_check_vertex(const BrioBuilder *builder, int body, int64_t vertex,
                                      BrioError *error)
{
    if (body < 0 || body >= builder->body_count)
        return brio__error(error, BRIO_ERROR_ARGUMENT, "there is no body %d", body);
    const BodyPlan *plan = &builder->body[body];
    if (vertex < 0 || vertex >= plan->mesh->vertex_count)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "body \"%s\" has no vertex %lld: it has vertices 0 to %lld", plan->name,
                           (long long)vertex, (long long)plan->mesh->vertex_count - 1);
    return BRIO_OK;
}

/* The points that hold a bar1d move along x only too. */
static BrioStatus check_script_along_x(const BodyPlan *plan, const BrioScript *script,
                                       BrioError *error)
{
    if (!script || !moves_along_x(plan)) return BRIO_OK;
    bool across = script->velocity[1] != 0 || script->velocity[2] != 0;
    for (int r = 0; r < 3; r++) across |= script->angular[r] != 0;
    for (int64_t k = 0; k < script->key_count; k++)
        across |= script->keys[4 * k + 2] != 0 || script->keys[4 * k + 3] != 0;
    if (!across) return BRIO_OK;
    return brio__error(
        error, BRIO_ERROR_INPUT,
        "the script moves points of body \"%s\" in y or z: a bar1d moves along x only", plan->name);
}

/* An affine body is held as a whole or not at all. */
static BrioStatus check_whole(BodyPlan *plan, const int32_t *vertices, int64_t count,
                              BrioError *error)
{
    if (!plan->weight) return BRIO_OK;
    int64_t n = plan->mesh->vertex_count, distinct = 0;
    bool *seen = brio__calloc((size_t)n, sizeof *seen);
    if (!seen) return no_memory(error);
    for (int64_t i = 0; i < count; i++) {
        distinct += !seen[vertices[i]];
        seen[vertices[i]] = true;
    }
    brio__free(seen);
    if (distinct == n) return BRIO_OK;
    return brio__error(error, BRIO_ERROR_INPUT,
                       "%lld of the %lld vertices of the affine body \"%s\" cannot be fixed alone: "
                       "fix all of them, or attach these",
                       (long long)distinct, (long long)n, plan->name);
}

BrioStatus brio_builder_fix(BrioBuilder *builder, int body, const int32_t *vertices, int64_t count,
                            const BrioScript *script, BrioError *error)
{
    int number;
    BRIO_CHECK(check_open(builder, error));
    for (int64_t i = 0; i < count; i++)
        BRIO_CHECK(brio__builder_check_vertex(builder, body, vertices[i], error));
    if (count > 0) BRIO_CHECK(check_whole(&builder->body[body], vertices, count, error));
    if (count > 0) BRIO_CHECK(check_script_along_x(&builder->body[body], script, error));
    BRIO_CHECK(add_script(builder, script, &number, error));
    for (int64_t i = 0; i < count; i++) builder->body[body].fix[vertices[i]] = number;
    return BRIO_OK;
}

BrioStatus brio_builder_attach(BrioBuilder *builder, int body, int32_t vertex,
                               const double point[3], double k, const BrioScript *script,
                               BrioError *error)
{
    Attachment made = {.body = body, .vertex = vertex, .k = k};
    BRIO_CHECK(check_open(builder, error));
    BRIO_CHECK(brio__builder_check_vertex(builder, body, vertex, error));
    if (!(k > 0) || isinf(k))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "the attachment's stiffness k = %g N/m must be positive", k);
    for (int r = 0; r < 3; r++) {
        made.point[r] = point[r];
        if (!isfinite(point[r]))
            return brio__error(error, BRIO_ERROR_INPUT, "the attachment's point is not finite");
    }
    const BodyPlan *plan = &builder->body[body];
    const double *x = plan->x + 3 * (int64_t)vertex;
    if (moves_along_x(plan) && (point[1] != x[1] || point[2] != x[2]))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "the point [%g, %g, %g] pulls vertex %d of body \"%s\" in y or z: a "
                           "bar1d moves along x only",
                           point[0], point[1], point[2], vertex, plan->name);
    BRIO_CHECK(check_script_along_x(plan, script, error));
    BRIO_CHECK(add_script(builder, script, &made.script, error));
    Attachment *grown = room_for_one(builder->attachment, builder->attachment_count, sizeof made);
    if (!grown) return no_memory(error);
    builder->attachment = grown;
    grown[builder->attachment_count++] = made;
    return BRIO_OK;
}

/* ---- rods ------------------------------------------------------------------------------- */

int brio__builder_find(const BrioBuilder *builder, const char *name)
{
    for (int i = 0; i < builder->body_count; i++)
        if (!strcmp(builder->body[i].name, name)) return i;
    return -1;
}

const char *brio__builder_name(const BrioBuilder *builder, int body)
{
    return body >= 0 && body < builder->body_count ? builder->body[body].name : NULL;
}

BrioStatus brio_builder_rod(BrioBuilder *builder, int body_a, int32_t vertex_a, int body_b,
                            int32_t vertex_b, double length, BrioError *error)
{
    Rod made = {{body_a, body_b}, {vertex_a, vertex_b}, length};
    BRIO_CHECK(check_open(builder, error));
    for (int k = 0; k < 2; k++) {
        BRIO_CHECK(brio__builder_check_vertex(builder, made.body[k], made.vertex[k], error));
        if (moves_along_x(&builder->body[made.body[k]]))
            return brio__error(
                error, BRIO_ERROR_INPUT,
                "a rod at body \"%s\" would push it in y or z: a bar1d moves along x only",
                builder->body[made.body[k]].name);
    }
    if (body_a == body_b && vertex_a == vertex_b)
        return brio__error(
            error, BRIO_ERROR_INPUT,
            "both ends of the rod are vertex %d of body \"%s\": a rod needs two vertices", vertex_a,
            builder->body[body_a].name);
    if (!isnan(length) && (!(length > 0) || isinf(length)))
        return brio__error(error, BRIO_ERROR_INPUT, "the rod's length = %g m must be positive",
                           length);
    double apart = distance(builder->body[body_a].x + 3 * (int64_t)vertex_a,
                            builder->body[body_b].x + 3 * (int64_t)vertex_b);
    if (!(apart > 0))
        return brio__error(
            error, BRIO_ERROR_INPUT,
            "the ends of the rod are at the same place in the first state: a rod needs a length");
    if (isnan(length)) made.length = apart;
    if (fabs(apart - made.length) > 1e-6 * made.length)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "the ends of the rod are %.9g m apart in the first state, and its "
                           "length is %.9g m: move them, or leave length out",
                           apart, length);
    for (int i = 0; i < builder->rod_count; i++) {
        const Rod *other = &builder->rod[i];
        for (int k = 0; k < 2; k++)
            if (other->body[0] == made.body[k] && other->vertex[0] == made.vertex[k] &&
                other->body[1] == made.body[1 - k] && other->vertex[1] == made.vertex[1 - k])
                return brio__error(error, BRIO_ERROR_INPUT,
                                   "rod %d joins the same two vertices: leave one out", i);
    }
    Rod *grown = room_for_one(builder->rod, builder->rod_count, sizeof made);
    if (!grown) return no_memory(error);
    builder->rod = grown;
    grown[builder->rod_count++] = made;
    return BRIO_OK;
}

int brio__builder_rod_at_fault(const BrioBuilder *builder) { return builder->rod_at_fault; }

/* ---- obstacles -------------------------------------------------------------------------- */

BrioContactDef brio_contact_def(void)
{
    return (BrioContactDef){.dhat = 1e-3, .kappa = 1e5, .epsv = 1e-3};
}

void brio_builder_contact(BrioBuilder *builder, const BrioContactDef *def)
{
    const BrioLaw *law = brio__law_at(brio__law_find(def->law ? def->law : "ipc"));
    builder->contact = *def;
    builder->contact.law = law ? law->name : ""; /* refused when the builder is finished */
    builder->contact_asked = true;
}

/* NULL: there is none of that name. */
static const BrioLaw *law_of(const BrioBuilder *b)
{
    return brio__law_at(brio__law_find(b->contact.law ? b->contact.law : "ipc"));
}

static bool by_vertices(const BrioBuilder *b) { return law_of(b)->traits & BRIO_LAW_VERTICES; }

BrioObstacleDef brio_obstacle_def(void)
{
    return (BrioObstacleDef){.linear = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
}

/* Takes over the mesh, which may be NULL. */
static BrioStatus add_obstacle(BrioBuilder *builder, const char *name, int plane, BrioMesh *mesh,
                               int script, BrioError *error)
{
    char standard[32];
    snprintf(standard, sizeof standard, "obstacle%d", builder->obstacle_count);
    if (!name) name = standard;
    BrioStatus status = BRIO_OK;
    if (!name[0])
        status = brio__error(error, BRIO_ERROR_INPUT, "an obstacle's name must not be empty");
    for (int i = 0; i < builder->obstacle_count; i++)
        if (!strcmp(builder->obstacle[i].name, name))
            status =
                brio__error(error, BRIO_ERROR_INPUT,
                            "two obstacles are called \"%s\": give each a name of its own", name);
    ObstaclePlan *grown =
        status == BRIO_OK ? room_for_one(builder->obstacle, builder->obstacle_count, sizeof *grown)
                          : NULL;
    if (grown) builder->obstacle = grown;
    char *copy = grown ? brio__strdup(name) : NULL;
    if (status == BRIO_OK && !copy) status = no_memory(error);
    if (status != BRIO_OK) {
        brio_mesh_free(mesh);
        return status;
    }
    builder->obstacle[builder->obstacle_count++] = (ObstaclePlan){copy, plane, mesh, script};
    if (mesh) builder->obstacle_vertices += mesh->vertex_count;
    return BRIO_OK;
}

BrioStatus brio_builder_obstacle(BrioBuilder *builder, const BrioObstacleDef *def, BrioError *error)
{
    BrioMesh *mesh = NULL;
    int script;
    BRIO_CHECK(check_open(builder, error));
    if (!def->mesh || def->mesh->vertex_count == 0)
        return brio__error(error, BRIO_ERROR_INPUT, "an obstacle needs a mesh");
    BRIO_CHECK(brio__mesh_check(def->mesh, error));
    BRIO_CHECK(copy_mesh(def->mesh, def->linear, def->translate, &mesh, error));
    BrioStatus status = mesh->tet_count ? brio__mesh_surface(mesh, error) : BRIO_OK;
    if (status == BRIO_OK && mesh->triangle_count == 0)
        status = brio__error(error, BRIO_ERROR_INPUT,
                             "an obstacle needs triangles, and this mesh has none");
    if (status == BRIO_OK) status = add_script(builder, def->script, &script, error);
    if (status == BRIO_OK) return add_obstacle(builder, def->name, -1, mesh, script, error);
    brio_mesh_free(mesh);
    return status;
}

static BrioStatus add_pair(BrioBuilder *builder, const PairPlan *pair, BrioError *error)
{
    PairPlan *grown = room_for_one(builder->pair, builder->pair_count, sizeof *grown);
    if (!grown) return no_memory(error);
    builder->pair = grown;
    grown[builder->pair_count++] = *pair;
    return BRIO_OK;
}

BrioStatus brio_builder_friction(BrioBuilder *builder, int a, int b, double mu, BrioError *error)
{
    BRIO_CHECK(check_open(builder, error));
    if (!(mu >= 0) || isinf(mu))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "the coefficient of friction %g must not be negative", mu);
    return add_pair(builder, &(PairPlan){a, b, mu, false}, error);
}

BrioStatus brio_builder_exclude(BrioBuilder *builder, int a, int b, BrioError *error)
{
    BRIO_CHECK(check_open(builder, error));
    return add_pair(builder, &(PairPlan){a, b, NAN, true}, error);
}

static BrioStatus add_plane(BrioBuilder *builder, const char *name, const Plane *plane,
                            BrioError *error)
{
    Plane *grown = room_for_one(builder->plane, builder->plane_count, sizeof *plane);
    if (!grown) return no_memory(error);
    builder->plane = grown;
    BRIO_CHECK(add_obstacle(builder, name, builder->plane_count, NULL, 0, error));
    grown[builder->plane_count++] = *plane;
    return BRIO_OK;
}

BrioStatus brio_builder_plane(BrioBuilder *builder, const char *name, const double point[3],
                              const double normal[3], BrioError *error)
{
    Plane made = {.type = brio__obstacle_type("plane"), .obstacle = builder->obstacle_count};
    const double values[6] = {point[0], point[1], point[2], normal[0], normal[1], normal[2]};
    BRIO_CHECK(check_open(builder, error));
    BRIO_CHECK(made.type->prepare(values, made.data, error));
    return add_plane(builder, name, &made, error);
}

BrioStatus brio_builder_solid(BrioBuilder *builder, const char *name, const char *shape,
                              const double *values, const double linear[9],
                              const double translate[3], BrioError *error)
{
    const BrioField *fields = brio_shape_fields(shape);
    Plane made = {.type = brio__obstacle_type(shape), .obstacle = builder->obstacle_count};
    BRIO_CHECK(check_open(builder, error));
    if (!made.type || !fields)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "there is no formula for the distance from a %s (`brio list obstacles` "
                           "names those that have one): take one of them, or triangles with "
                           "contact of type ipc",
                           shape);
    BRIO_CHECK(brio__fields_check(fields, values, error));
    double own[BRIO_MAX_VALUES]; /* without what divides a shape into cells */
    int count = 0;
    for (const BrioField *f = made.type->fields; f->name; f++)
        for (int k = 0; k < brio__field_width(f); k++)
            own[count++] = values[brio__fields_offset(fields, f->name) + k];
    BRIO_CHECK(brio__obstacle_place(made.type, own, linear, translate, made.data, error));
    return add_plane(builder, name, &made, error);
}

BrioStatus brio_builder_heightfield(BrioBuilder *builder, const char *name, int columns, int rows,
                                    const double *height, double spacing, const double linear[9],
                                    const double translate[3], BrioError *error)
{
    Plane made = {.type = brio__obstacle_type("heightfield"), .obstacle = builder->obstacle_count};
    BRIO_CHECK(check_open(builder, error));
    BRIO_CHECK(brio__obstacle_place(made.type, &spacing, linear, translate, made.data, error));
    BRIO_CHECK(made.type->table(&spacing, columns, rows, height, &made.table, error));
    BrioStatus status = add_plane(builder, name, &made, error);
    if (status != BRIO_OK) brio__free(made.table);
    return status;
}

int brio__builder_obstacle_at_fault(const BrioBuilder *builder)
{
    return builder->obstacle_at_fault;
}

int brio__builder_find_obstacle(const BrioBuilder *builder, const char *name)
{
    for (int i = 0; i < builder->obstacle_count; i++)
        if (!strcmp(builder->obstacle[i].name, name)) return i;
    return -1;
}

const char *brio__builder_obstacle_name(const BrioBuilder *builder, int obstacle)
{
    return obstacle >= 0 && obstacle < builder->obstacle_count ? builder->obstacle[obstacle].name
                                                               : NULL;
}

/* ---- from the plan to the system -------------------------------------------------------- */

/* Whether a world vertex has coordinates, and the script that holds it if not. */
static int32_t vertex_script(const BrioBuilder *b, const BrioSystem *s, int64_t vertex)
{
    int64_t past = vertex - s->body_vertices;
    if (past >= 0 && past < b->attachment_count) return b->attachment[past].script;
    int owner = brio__system_owner(s, vertex);
    if (owner >= s->body_count) return b->obstacle[owner - s->body_count].script;
    /* mass points go with the whole body */
    return b->body[owner].fix[past < 0 ? vertex - s->body[owner].first : 0];
}

static BrioStatus build_bodies(const BrioBuilder *b, BrioSystem *s)
{
    s->body = brio__calloc((size_t)b->body_count, sizeof *s->body);
    if (!s->body) return BRIO_ERROR_MEMORY;
    s->body_count = b->body_count;
    for (int i = 0; i < b->body_count; i++) {
        BodyPlan *plan = &b->body[i];
        BrioMesh *mesh = plan->mesh;
        s->body[i] = (BrioBody){.first = s->body_vertices,
                                .mass_point = -1,
                                .count = mesh->vertex_count,
                                .triangle_count = mesh->triangle_count,
                                .edge_count = mesh->edge_count,
                                .tet_count = mesh->tet_count};
        s->body_vertices += mesh->vertex_count;
        /* names and connectivity move from the plan to the system */
        s->body[i].name = plan->name;
        s->body[i].triangle = mesh->triangle;
        s->body[i].edge = mesh->edge;
        s->body[i].tet = mesh->tet;
        plan->name = NULL;
        mesh->triangle = mesh->edge = mesh->tet = NULL;
    }
    s->vertex_count = s->body_vertices + b->attachment_count;
    for (int i = 0; i < b->body_count; i++)
        if (b->body[i].weight) {
            s->body[i].mass_point = s->vertex_count;
            s->vertex_count += 4;
        }
    s->vertex_count += b->obstacle_vertices;
    return s->vertex_count < INT32_MAX / 3 ? BRIO_OK : BRIO_ERROR_TOO_LARGE;
}

static BrioStatus build_obstacles(const BrioBuilder *b, BrioSystem *s)
{
    int64_t first = s->vertex_count - b->obstacle_vertices;
    s->obstacle = brio__calloc((size_t)b->obstacle_count, sizeof *s->obstacle);
    if (!s->obstacle) return BRIO_ERROR_MEMORY;
    s->obstacle_count = b->obstacle_count;
    for (int i = 0; i < b->obstacle_count; i++) {
        ObstaclePlan *plan = &b->obstacle[i];
        s->obstacle[i] = (BrioObstacle){.name = plan->name, .plane = plan->plane, .first = first};
        plan->name = NULL;
        if (plan->plane >= 0) {
            s->obstacle[i].table = b->plane[plan->plane].table;
            b->plane[plan->plane].table = NULL;
        }
        if (!plan->mesh) continue;
        s->obstacle[i].count = plan->mesh->vertex_count;
        s->obstacle[i].triangle_count = plan->mesh->triangle_count;
        s->obstacle[i].triangle = plan->mesh->triangle;
        plan->mesh->triangle = NULL;
        first += plan->mesh->vertex_count;
    }
    return BRIO_OK;
}

static BrioStatus build_map(const BrioBuilder *b, BrioSystem *s)
{
    int64_t entries = 0, n = s->vertex_count;
    s->map_start = brio__alloc((size_t)n + 1, sizeof *s->map_start);
    if (!s->map_start) return BRIO_ERROR_MEMORY;
    for (int pass = 0; pass < 2; pass++) {
        if (pass) {
            s->map_block = brio__alloc((size_t)entries, sizeof *s->map_block);
            s->map_weight = brio__alloc((size_t)entries, sizeof *s->map_weight);
            s->held = brio__alloc((size_t)s->held_count, sizeof *s->held);
            if (!s->map_block || !s->map_weight || !s->held) return BRIO_ERROR_MEMORY;
        }
        int32_t block = 0;
        entries = s->held_count = 0;
        for (int i = 0; i < s->body_count; i++) {
            const BodyPlan *plan = &b->body[i];
            for (int64_t v = 0; v < s->body[i].count; v++) {
                int own = plan->fix[v] >= 0 ? 0 : plan->weight ? 4 : 1;
                s->map_start[s->body[i].first + v] = (int32_t)entries;
                if (own == 0 && pass) s->held[s->held_count] = (int32_t)(s->body[i].first + v);
                s->held_count += own == 0;
                for (int k = 0; k < own; k++, entries++)
                    if (pass) {
                        s->map_block[entries] = block + k;
                        s->map_weight[entries] = plan->weight ? plan->weight[4 * v + k] : 1;
                    }
                if (!plan->weight) block += own;
            }
            if (plan->weight && plan->fix[0] < 0) block += 4;
        }
        for (int64_t v = s->body_vertices; v < s->body_vertices + b->attachment_count; v++) {
            s->map_start[v] = (int32_t)entries;
            if (pass) s->held[s->held_count] = (int32_t)v;
            s->held_count++;
        }
        for (int i = 0; i < s->body_count; i++)
            for (int k = 0; s->body[i].mass_point >= 0 && k < 4; k++) {
                int64_t v = s->body[i].mass_point + k;
                bool held = b->body[i].fix[0] >= 0;
                s->map_start[v] = (int32_t)entries;
                if (pass && held) s->held[s->held_count] = (int32_t)v;
                if (pass && !held) {
                    s->map_block[entries] = s->map_block[s->map_start[s->body[i].first] + k];
                    s->map_weight[entries] = 1;
                }
                s->held_count += held;
                entries += !held;
            }
        for (int64_t v = n - b->obstacle_vertices; v < n; v++) {
            s->map_start[v] = (int32_t)entries;
            if (pass) s->held[s->held_count] = (int32_t)v;
            s->held_count++;
        }
        s->map_start[n] = (int32_t)entries;
        s->block_count = block;
    }
    return BRIO_OK;
}

static BrioStatus build_masses(const BrioBuilder *b, BrioSystem *s)
{
    s->vertex_mass = brio__calloc((size_t)s->vertex_count, sizeof(double));
    s->mass = brio__calloc((size_t)s->block_count, sizeof(double));
    if (!s->vertex_mass || !s->mass) return BRIO_ERROR_MEMORY;
    for (int i = 0; i < b->body_count; i++) {
        int64_t count, first = brio__body_masses(&s->body[i], &count);
        for (int64_t v = 0; v < count; v++) {
            int32_t k = s->map_start[first + v];
            s->vertex_mass[first + v] =
                b->body[i].weight ? b->body[i].point_mass : b->body[i].mass[v];
            if (k < s->map_start[first + v + 1])
                s->mass[s->map_block[k]] = s->vertex_mass[first + v];
        }
    }
    return BRIO_OK;
}

/* A term with room for its elements; element e's lane data is filled by set_element. */
static BrioStatus start_term(BrioSystem *s, const BrioEnergy *energy, int body, int64_t elements,
                             BrioTerm **started)
{
    BrioTerm *term = &s->term[s->term_count];
    *term = (BrioTerm){.energy = energy,
                       .body = body,
                       .elements = elements,
                       .blocks = (elements + LANES - 1) / LANES,
                       .params = s->param_count};
    term->node =
        brio__alloc((size_t)term->blocks * LANES * (size_t)energy->nodes, sizeof *term->node);
    term->rest =
        brio__alloc((size_t)term->blocks * LANES * (size_t)energy->rest, sizeof *term->rest);
    s->term_count++;
    s->param_count += energy->params;
    if (energy->live) { /* read as lanes: aligned */
        term->live = (s->param_count + LANES - 1) / LANES * LANES;
        s->param_count = term->live + (int)term->blocks * LANES * energy->live;
    }
    *started = term;
    return term->node && term->rest ? BRIO_OK : BRIO_ERROR_MEMORY;
}

static void set_element(BrioTerm *term, int64_t e, const int32_t *vertex, const double *X,
                        double scale, double length)
{
    const BrioEnergy *energy = term->energy;
    double rest[16];
    energy->rest_shape(X, scale, length, rest);
    /* the last element fills its block, weightless */
    int64_t last = e == term->elements - 1 ? term->blocks * LANES : e + 1;
    for (int64_t i = e; i < last; i++) {
        int64_t block = i / LANES, lane_number = i % LANES;
        for (int k = 0; k < energy->nodes; k++)
            term->node[(block * energy->nodes + k) * LANES + lane_number] = 3 * vertex[k];
        for (int k = 0; k < energy->rest; k++)
            term->rest[(block * energy->rest + k) * LANES + lane_number] =
                i > e && k == 0 ? 0 : rest[k];
    }
}

/* One element on the four mass points, with the weight of the whole body. */
static BrioStatus affine_term(const BodyPlan *plan, BrioSystem *s, int body)
{
    BrioTerm *term;
    const double *X = plan->affine.point;
    int32_t first = (int32_t)s->body[body].mass_point;
    int32_t vertex[4] = {first, first + 1, first + 2, first + 3};
    BRIO_CHECK(start_term(s, plan->energy, body, 1, &term));
    s->body[body].term_count++;
    set_element(term, 0, vertex, X,
                6 * plan->affine.volume / brio__tet_volume6(X, X + 3, X + 6, X + 9), NAN);
    return BRIO_OK;
}

/* One term of a body over elements of the body's own vertices; `length` is what the energy's
 * rest_shape takes. */
static BrioStatus body_term(const BodyPlan *plan, BrioSystem *s, int body, const BrioEnergy *energy,
                            const int32_t *element, int64_t elements, double length)
{
    BrioBody *b = &s->body[body];
    BrioTerm *term;
    BRIO_CHECK(start_term(s, energy, body, elements, &term));
    b->term_count++;
    for (int64_t e = 0; e < term->elements; e++) {
        int32_t vertex[4];
        double X[12];
        for (int k = 0; k < energy->nodes; k++) {
            int32_t own = element[energy->nodes * e + k];
            vertex[k] = (int32_t)b->first + own;
            memcpy(X + 3 * k, plan->mesh->x + 3 * (int64_t)own, 3 * sizeof *X);
        }
        set_element(term, e, vertex, X, plan->spring ? plan->spring[2 * e] : 1,
                    plan->spring ? plan->spring[2 * e + 1] : length);
    }
    return BRIO_OK;
}

static BrioStatus elastic_terms(const BodyPlan *plan, BrioSystem *s, int body)
{
    BrioBody *b = &s->body[body];
    b->term = s->term_count;
    switch (plan->energy->element) {
    case BRIO_ELEMENT_AFFINE: return affine_term(plan, s, body);
    case BRIO_ELEMENT_TET: return body_term(plan, s, body, plan->energy, b->tet, b->tet_count, NAN);
    case BRIO_ELEMENT_POINT: return body_term(plan, s, body, plan->energy, NULL, 0, NAN);
    case BRIO_ELEMENT_TRIANGLE:
        BRIO_CHECK(body_term(plan, s, body, plan->energy, b->triangle, b->triangle_count,
                             plan->sheet.stretch));
        if (plan->sheet.bending == 0 || plan->hinge_count == 0) return BRIO_OK;
        return body_term(plan, s, body, brio__energy("hinge"), plan->hinge, plan->hinge_count, NAN);
    default: return body_term(plan, s, body, plan->energy, b->edge, b->edge_count, NAN);
    }
}

/* A vertex that has coordinates may meet every plane and solid that its body is not excluded
 * from. */
static bool may_meet(const BrioSystem *s, int body, int64_t vertex, int obstacle)
{
    int owners = s->body_count + s->obstacle_count;
    return s->map_start[vertex + 1] > s->map_start[vertex] &&
           !(s->excluded && s->excluded[body * owners + s->body_count + obstacle]);
}

static BrioStatus contact_terms(const BrioBuilder *b, BrioSystem *s)
{
    s->plane_term = s->term_count;
    s->plane_count = b->plane_count;
    s->law = brio__law_find(law_of(b)->name);
    s->barrier = law_of(b)->traits & BRIO_LAW_FORBIDS;
    s->epsv = b->contact.epsv;
    for (int k = 0; k < b->plane_count; k++) {
        BrioTerm *term;
        const Plane *plane = &b->plane[k];
        double X[16] = {0};
        int64_t contacts = 0;
        for (int i = 0; i < s->body_count; i++)
            for (int64_t v = s->body[i].first; v < s->body[i].first + s->body[i].count; v++)
                contacts += may_meet(s, i, v, plane->obstacle);
        BRIO_CHECK(
            start_term(s, brio__law_energy(law_of(b), plane->type->name), -1, contacts, &term));
        term->obstacle = plane->obstacle;
        term->table = s->obstacle[plane->obstacle].table;
        memcpy(X + 3, plane->data, sizeof plane->data);
        contacts = 0;
        for (int i = 0; i < s->body_count; i++)
            for (int32_t v = (int32_t)s->body[i].first; v < s->body[i].first + s->body[i].count;
                 v++)
                if (may_meet(s, i, v, plane->obstacle))
                    set_element(term, contacts++, &v, X, 1, NAN);
    }
    return BRIO_OK;
}

static BrioStatus build_terms(const BrioBuilder *b, BrioSystem *s)
{
    s->term = brio__calloc(2 * (size_t)b->body_count + 2 + (size_t)b->plane_count, sizeof *s->term);
    if (!s->term) return BRIO_ERROR_MEMORY;
    BrioTerm *term;
    for (int i = 0; i < b->body_count; i++) BRIO_CHECK(elastic_terms(&b->body[i], s, i));
    if (b->attachment_count) {
        BRIO_CHECK(start_term(s, brio__energy("attachment"), -1, b->attachment_count, &term));
        for (int64_t a = 0; a < b->attachment_count; a++) {
            const Attachment *at = &b->attachment[a];
            int32_t vertex[2] = {(int32_t)s->body[at->body].first + at->vertex,
                                 (int32_t)(s->body_vertices + a)};
            double X[6] = {0};
            set_element(term, a, vertex, X, at->k, NAN);
        }
    }
    s->gravity_term = s->term_count; /* always there: gravity may be switched on while running */
    int64_t masses = 0, e = 0;
    for (int i = 0; i < s->body_count; i++) {
        int64_t count;
        brio__body_masses(&s->body[i], &count);
        masses += count;
    }
    BRIO_CHECK(start_term(s, brio__energy("gravity"), -1, masses, &term));
    for (int i = 0; i < s->body_count; i++) {
        int64_t count, first = brio__body_masses(&s->body[i], &count);
        for (int64_t v = first; v < first + count; v++) {
            int32_t vertex = (int32_t)v;
            double X[3] = {0};
            set_element(term, e++, &vertex, X, s->vertex_mass[v],
                        moves_along_x(&b->body[i]) ? 0 : 1);
        }
    }
    BRIO_CHECK(contact_terms(b, s));
    s->contact_params = s->param_count;
    s->param_count += BRIO_CONTACT_PARAMS;
    for (int i = 0; i < s->body_count; i++) {
        s->body[i].values = s->param_count;
        s->param_count += brio__fields_count(b->body[i].energy->fields); /* one number each */
    }
    return BRIO_OK;
}

/* Vertices may have been fixed after a rod was joined to them. */
static BrioStatus check_rods(BrioBuilder *b, BrioError *error)
{
    for (int i = 0; i < b->rod_count; i++) {
        const Rod *rod = &b->rod[i];
        int held = 0;
        b->rod_at_fault = i;
        for (int k = 0; k < 2; k++) {
            const BodyPlan *plan = &b->body[rod->body[k]];
            held += plan->fix[rod->vertex[k]] >= 0;
            if (plan->fix[rod->vertex[k]] > 0)
                return brio__error(error, BRIO_ERROR_INPUT,
                                   "vertex %d of body \"%s\" is moved by a script: the ends of a "
                                   "rod are free or stand still in this version of brio",
                                   rod->vertex[k], plan->name);
        }
        if (held == 2)
            return brio__error(error, BRIO_ERROR_INPUT,
                               "both ends of rod %d are fixed: leave it out", i);
    }
    b->rod_at_fault = -1;
    return BRIO_OK;
}

static BrioStatus build_rods(const BrioBuilder *b, BrioSystem *s)
{
    s->rod = brio__calloc((size_t)b->rod_count, sizeof *s->rod);
    if (!s->rod) return BRIO_ERROR_MEMORY;
    s->rod_count = b->rod_count;
    for (int i = 0; i < b->rod_count; i++) {
        s->rod[i].length = b->rod[i].length;
        for (int k = 0; k < 2; k++)
            s->rod[i].vertex[k] = (int32_t)s->body[b->rod[i].body[k]].first + b->rod[i].vertex[k];
    }
    return BRIO_OK;
}

static BrioStatus build_scripts(BrioBuilder *b, BrioSystem *s)
{
    s->scripted = brio__calloc((size_t)b->script_count, sizeof *s->scripted);
    int64_t *count = brio__calloc((size_t)b->script_count, sizeof *count);
    BrioStatus status = s->scripted && count ? BRIO_OK : BRIO_ERROR_MEMORY;
    for (int pass = 0; status == BRIO_OK && pass < 2; pass++) {
        for (int k = 1; pass && k < b->script_count; k++) {
            BrioScripted *set = &s->scripted[k - 1];
            set->script = b->script[k];
            b->script[k].keys = NULL;
            set->held = brio__alloc((size_t)count[k], sizeof *set->held);
            s->scripted_count = k;
            if (!set->held) status = BRIO_ERROR_MEMORY;
        }
        for (int64_t i = 0; status == BRIO_OK && i < s->held_count; i++) {
            int32_t script = vertex_script(b, s, s->held[i]);
            if (script == 0) continue;
            if (pass) s->scripted[script - 1].held[s->scripted[script - 1].count++] = (int32_t)i;
            count[script]++;
        }
    }
    brio__free(count);
    return status;
}

/* What `auto` is: kappa dhat is twenty weights of the heaviest body, on this planet where there is
 * no gravity. */
static double stiffness_of_contact(const BrioBuilder *b, const BrioSystem *s)
{
    if (!isnan(b->contact.kappa)) return b->contact.kappa;
    double heaviest = 0, g = hypot(hypot(b->gravity[0], b->gravity[1]), b->gravity[2]);
    for (int i = 0; i < s->body_count; i++) {
        double mass = 0;
        int64_t count, first = brio__body_masses(&s->body[i], &count);
        for (int64_t v = first; v < first + count; v++) mass += s->vertex_mass[v];
        heaviest = fmax(heaviest, mass);
    }
    return 20 * heaviest * (g > 0 ? g : 9.8) / b->contact.dhat;
}

/* Number among bodies and obstacles; -1: there is none of that number. */
static int owner_of(const BrioSystem *s, int number)
{
    int owner = number >= 0 ? number : s->body_count - 1 - number;
    return number < s->body_count && owner < s->body_count + s->obstacle_count ? owner : -1;
}

/* What is known of pairs of bodies and obstacles. */
static BrioStatus build_pairs(const BrioBuilder *b, BrioSystem *s, BrioError *error)
{
    int owners = s->body_count + s->obstacle_count;
    size_t pairs = (size_t)owners * (size_t)owners;
    bool rubs = b->contact.mu > 0, excludes = false;
    for (int i = 0; i < b->pair_count; i++) {
        rubs |= b->pair[i].mu > 0;
        excludes |= b->pair[i].excluded;
    }
    if (rubs) s->friction = brio__alloc(pairs, sizeof *s->friction);
    if (excludes) s->excluded = brio__calloc(pairs, sizeof *s->excluded);
    if ((rubs && !s->friction) || (excludes && !s->excluded)) return no_memory(error);
    for (size_t k = 0; rubs && k < pairs; k++) s->friction[k] = b->contact.mu;
    for (int i = 0; i < b->pair_count; i++) {
        const PairPlan *pair = &b->pair[i];
        int x = owner_of(s, pair->a), y = owner_of(s, pair->b);
        if (x < 0 || y < 0)
            return brio__error(error, BRIO_ERROR_ARGUMENT, "there is no body or obstacle %d",
                               x < 0 ? pair->a : pair->b);
        if (rubs && !isnan(pair->mu))
            s->friction[x * owners + y] = s->friction[y * owners + x] = pair->mu;
        if (pair->excluded) s->excluded[x * owners + y] = s->excluded[y * owners + x] = true;
    }
    return BRIO_OK;
}

static BrioStatus build_contact(const BrioBuilder *b, BrioSystem *s, BrioError *error)
{
    if (!b->contact_asked || (by_vertices(b) && b->contact.self == 0)) return BRIO_OK;
    double *X = brio__calloc(6 * (size_t)s->vertex_count, sizeof *X), *x = X + 3 * s->vertex_count;
    if (!X) return no_memory(error);
    for (int i = 0; i < s->body_count; i++) {
        memcpy(X + 3 * s->body[i].first, b->body[i].mesh->x,
               3 * (size_t)s->body[i].count * sizeof *x);
        memcpy(x + 3 * s->body[i].first, b->body[i].x, 3 * (size_t)s->body[i].count * sizeof *x);
    }
    for (int i = 0; i < s->obstacle_count; i++)
        for (int k = 0; k < 2 && s->obstacle[i].count; k++)
            memcpy((k ? x : X) + 3 * s->obstacle[i].first, b->obstacle[i].mesh->x,
                   3 * (size_t)s->obstacle[i].count * sizeof *x);
    BrioStatus status = brio__surface_create(s, X, x, &s->surface);
    brio__free(X);
    return status == BRIO_OK ? BRIO_OK : no_memory(error);
}

static void fill_state(const BrioBuilder *b, const BrioSystem *s, BrioState *state)
{
    for (int i = 0; i < s->body_count; i++) {
        const BodyPlan *plan = &b->body[i];
        const BrioBody *body = &s->body[i];
        memcpy(state->param + s->term[body->term].params, plan->params,
               (size_t)plan->energy->params * sizeof(double));
        memcpy(state->param + body->values, plan->values,
               (size_t)brio__fields_count(plan->energy->fields) * sizeof(double));
        if (body->term_count > 1)
            state->param[s->term[body->term + 1].params] = plan->sheet.bending;
        if (plan->weight) {
            int32_t k = s->map_start[body->first];
            if (k == s->map_start[body->first + 1]) continue;
            brio__affine_fit(body->count, plan->weight, plan->x,
                             state->q + 3 * (int64_t)s->map_block[k]);
            brio__affine_fit(body->count, plan->weight, plan->v,
                             state->v + 3 * (int64_t)s->map_block[k]);
            continue;
        }
        for (int64_t v = 0; v < body->count; v++) {
            int32_t k = s->map_start[body->first + v];
            if (k == s->map_start[body->first + v + 1]) continue;
            memcpy(state->q + 3 * (int64_t)s->map_block[k], plan->x + 3 * v, 3 * sizeof(double));
            memcpy(state->v + 3 * (int64_t)s->map_block[k], plan->v + 3 * v, 3 * sizeof(double));
        }
    }
    for (int64_t i = 0; i < s->held_count; i++) {
        int64_t vertex = s->held[i], past = vertex - s->body_vertices;
        if (past >= b->attachment_count) break; /* mass points and obstacles are last */
        int body = brio__system_owner(s, vertex);
        memcpy(state->anchor + 3 * i,
               past >= 0 ? b->attachment[past].point
                         : b->body[body].x + 3 * (vertex - s->body[body].first),
               3 * sizeof(double));
    }
    int64_t held = s->held_count - b->obstacle_vertices;
    for (int i = 0; i < s->obstacle_count; i++)
        if (s->obstacle[i].count)
            memcpy(state->anchor +
                       3 * (held + s->obstacle[i].first - (s->vertex_count - b->obstacle_vertices)),
                   b->obstacle[i].mesh->x, 3 * (size_t)s->obstacle[i].count * sizeof(double));
    for (int i = s->body_count - 1; i >= 0; i--)
        if (b->body[i].weight && b->body[i].fix[0] >= 0) {
            held -= 4;
            brio__affine_fit(s->body[i].count, b->body[i].weight, b->body[i].x,
                             state->anchor + 3 * held);
        }
    memcpy(state->param + s->term[s->gravity_term].params, b->gravity, sizeof b->gravity);
    for (int k = 0; k <= s->plane_count; k++) { /* the last time for contact without planes */
        const BrioContactDef *c = &b->contact;
        bool self = by_vertices(b) && k == s->plane_count;
        const double params[] = {[BRIO_CONTACT_KAPPA] = stiffness_of_contact(b, s),
                                 [BRIO_CONTACT_DHAT] = self ? c->self : c->dhat,
                                 [BRIO_CONTACT_THICKNESS] = self ? 0 : c->thickness};
        int most =
            k < s->plane_count ? s->term[s->plane_term + k].energy->params : BRIO_CONTACT_PARAMS;
        memcpy(state->param +
                   (k < s->plane_count ? s->term[s->plane_term + k].params : s->contact_params),
               params, (size_t)most * sizeof *params);
    }
    for (int t = 0; t < s->term_count; t++)
        for (int64_t k = 0; k < s->term[t].blocks * LANES * s->term[t].energy->live; k++)
            state->param[s->term[t].live + k] = 1;
}

/* A bar1d is pushed along x only if the plane stands across it. */
static BrioStatus check_planes(BrioBuilder *b, BrioError *error)
{
    const BrioContactDef *c = &b->contact;
    if (!law_of(b))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "there is no contact law of that name: `brio list laws` has them");
    if (!(c->dhat == 0 && brio__law_default(law_of(b), "dhat", 1) == 0) &&
        (!(c->dhat > 0) || isinf(c->dhat) || c->kappa <= 0 || isinf(c->kappa)))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "contact with dhat = %g m and kappa = %g N/m: both must be positive",
                           c->dhat, c->kappa);
    if (!(c->self >= 0) || isinf(c->self) || (c->self > 0 && !by_vertices(b)))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "contact with self = %g m: it is the distance below which vertices push "
                           "each other apart, of contact of type penalty",
                           c->self);
    if (!(c->thickness >= 0) || isinf(c->thickness) || !(c->mu >= 0) || isinf(c->mu) ||
        !(c->epsv > 0) || isinf(c->epsv))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "contact with thickness = %g m, mu = %g and epsv = %g m/s: none may be "
                           "negative, and epsv must be positive",
                           c->thickness, c->mu, c->epsv);
    for (int i = 0; i < b->obstacle_count; i++) {
        if (b->obstacle[i].plane >= 0 || !by_vertices(b)) continue;
        b->obstacle_at_fault = i;
        return brio__error(error, BRIO_ERROR_INPUT,
                           "obstacle \"%s\" is a mesh, which is for contact of types ipc and cubic",
                           b->obstacle[i].name);
    }
    for (int k = 0; k < b->plane_count; k++)
        for (int i = 0; i < b->body_count; i++) {
            const double *n = b->plane[k].data + 3;
            if (!moves_along_x(&b->body[i]) || (!b->plane[k].type->mesh && n[1] == 0 && n[2] == 0))
                continue;
            b->obstacle_at_fault = b->plane[k].obstacle;
            if (b->plane[k].type->mesh)
                return brio__error(error, BRIO_ERROR_INPUT,
                                   "obstacle \"%s\" would push body \"%s\" in y or z: a bar1d "
                                   "moves along x only, so its obstacles are planes across x",
                                   b->obstacle[b->plane[k].obstacle].name, b->body[i].name);
            return brio__error(error, BRIO_ERROR_INPUT,
                               "obstacle %d with normal [%g, %g, %g] would push body \"%s\" in y "
                               "or z: a bar1d moves along x only, so its obstacles "
                               "need a normal along x",
                               b->plane[k].obstacle, n[0], n[1], n[2], b->body[i].name);
        }
    return BRIO_OK;
}

static BrioStatus check_distances(BrioBuilder *b, const BrioSystem *s, const BrioState *state,
                                  BrioError *error)
{
    if (s->plane_count == 0 || !s->barrier) return BRIO_OK;
    double *x = brio__alloc(3 * (size_t)s->vertex_count, sizeof *x);
    if (!x) return no_memory(error);
    BrioStatus status = BRIO_OK;
    _Alignas(sizeof(double) * LANES) double distance[LANES];
    brio__system_positions(s, state, state->q, state->time, x);
    for (int k = 0; k < s->plane_count && status == BRIO_OK; k++) {
        const BrioTerm *term = &s->term[s->plane_term + k];
        for (int64_t e = 0; e < term->elements && status == BRIO_OK; e++) {
            if (e % LANES == 0)
                brio__obstacle_distances(term, state->param, e / LANES, x, distance);
            double d = distance[e % LANES];
            if (d > b->contact.thickness) continue;
            int64_t vertex = term->node[e] / 3; /* one node: blocks of eight in a row */
            int body = brio__system_owner(s, vertex);
            b->obstacle_at_fault = term->obstacle;
            status =
                brio__error(error, BRIO_ERROR_INPUT,
                            "vertex %lld of body \"%s\" %s obstacle \"%s\" (distance %g m): begin "
                            "in front of it",
                            (long long)(vertex - s->body[body].first), s->body[body].name,
                            d < 0 ? "is behind" : "touches", s->obstacle[term->obstacle].name, d);
        }
    }
    brio__free(x);
    return status;
}

static BrioStatus build(BrioBuilder *b, BrioSystem *s, BrioState **state, BrioError *error)
{
    BrioStatus status = build_bodies(b, s);
    if (status == BRIO_ERROR_TOO_LARGE)
        return brio__error(error, status,
                           "the scene has %lld vertices: more than %d are not supported",
                           (long long)s->vertex_count, INT32_MAX / 3);
    if (status == BRIO_OK) status = build_obstacles(b, s);
    if (status == BRIO_OK) status = build_map(b, s);
    if (status != BRIO_OK) return no_memory(error);
    if (s->block_count == 0)
        return brio__error(error, BRIO_ERROR_INPUT, "every vertex is fixed: nothing can move");
    BRIO_CHECK(build_pairs(b, s, error));
    if (build_masses(b, s) != BRIO_OK || build_terms(b, s) != BRIO_OK ||
        build_rods(b, s) != BRIO_OK || build_scripts(b, s) != BRIO_OK)
        return no_memory(error);
    BRIO_CHECK(build_contact(b, s, error));
    if (brio__state_create(s, 0, state) != BRIO_OK) return no_memory(error);
    fill_state(b, s, *state);
    BrioStatus apart = check_distances(b, s, *state, error);
    if (apart != BRIO_OK) {
        brio_state_free(*state);
        *state = NULL;
    }
    return apart;
}

BrioStatus brio_builder_finish(BrioBuilder *builder, BrioSystem **system, BrioState **state,
                               BrioError *error)
{
    BRIO_CHECK(check_open(builder, error));
    if (builder->body_count == 0)
        return brio__error(error, BRIO_ERROR_INPUT, "there are no bodies");
    for (int r = 0; r < 3; r++)
        if (!isfinite(builder->gravity[r]))
            return brio__error(error, BRIO_ERROR_INPUT, "gravity is not finite");
    BRIO_CHECK(check_planes(builder, error));
    BRIO_CHECK(check_rods(builder, error));
    BrioSystem *made = brio__calloc(1, sizeof *made);
    if (!made) return no_memory(error);
    builder->finished = true;
    BrioStatus status = build(builder, made, state, error);
    if (status == BRIO_OK)
        *system = made;
    else
        brio_system_free(made);
    return status;
}
