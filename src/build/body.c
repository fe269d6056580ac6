/* Bodies: from a definition to a plan. The material names the energy, the energy's element the kind
 * of body (kinds.c), and the kind checks the mesh, whose vertices are X -> linear X + translate.
 * The initial state is the given one, or the rest shape with velocities v + omega x (x - about). */
#include "build.h"

#include "../handle.h"

BrioBodyDef brio_default_body(void) { return (BrioBodyDef){.linear = {1, 0, 0, 0, 1, 0, 0, 0, 1}}; }

void brio__free_body_plan(BrioBodyPlan *plan)
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
    brio__free(plan->row);
    brio__free(plan->axes);
    brio__free(plan->start);
    brio__cage_free(plan->cage);
    brio__free(plan->node_x);
    brio__free(plan->node_v);
    brio__free(plan->node_fix);
    brio__free(plan->node_block);
}

BrioStatus brio__plan_mesh(const BrioMesh *from, const double linear[9], const double translate[3],
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
                               "give both; use material affine",
                               (*energy)->name);
        values[brio__fields_offset(affine->fields, names[k])] = def->material.values[from];
    }
    *energy = affine;
    return BRIO_OK;
}

/* The energy of the material, the kind of body that it makes, its values and parameters. */
static BrioStatus choose_energy(const BrioBodyDef *def, BrioBodyPlan *plan, BrioError *error)
{
    double *values = plan->values;
    const char *type = def->material.type ? def->material.type : "";
    plan->energy = brio__energy(type);
    if (!plan->energy || !brio__energy_is_material(plan->energy))
        return brio__error(error, BRIO_ERROR_INPUT, "no material type \"%s\"", type);
    memcpy(values, def->material.values, sizeof def->material.values);
    BRIO_CHECK(brio__fields_check(plan->energy->fields, values, error));
    if (def->kind == BRIO_KIND_AFFINE && plan->energy->element != BRIO_ELEMENT_AFFINE)
        BRIO_CHECK(affine_values(def, &plan->energy, values, error));
    plan->kind = brio__body_kind(plan->energy);
    if (def->kind != BRIO_KIND_AUTO && def->kind != plan->kind->kind)
        return brio__error(error, BRIO_ERROR_INPUT, "material %s is for bodies of kind %s, not %s",
                           type, plan->kind->name, brio__kind_name(def->kind));
    if (def->cage) BRIO_CHECK(brio__cage_fits(plan, error));
    if (plan->kind->require && !def->cage) BRIO_CHECK(plan->kind->require(def->mesh, error));
    if (plan->energy->sheet) BRIO_CHECK(plan->energy->sheet(values, &plan->sheet, error));
    if (plan->energy->prepare) return plan->energy->prepare(values, plan->params, error);
    memcpy(plan->params, values, sizeof(double) * (size_t)plan->energy->params);
    return BRIO_OK;
}

static BrioStatus spring_rests(const BrioBodyDef *def, BrioBodyPlan *plan, BrioError *error)
{
    if (!def->spring) return BRIO_OK;
    if (plan->energy->element != BRIO_ELEMENT_SPRING)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "its own springs need kind springs, and %s makes this body a %s",
                           plan->energy->name, plan->kind->name);
    int64_t count = plan->mesh->edge_count;
    if (def->mesh->edge_count != count)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "springs of its own need a mesh with their edges");
    plan->spring = brio__alloc((size_t)count * 2, sizeof(double));
    if (!plan->spring) return brio__no_memory(error);
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

static BrioStatus initial_state(const BrioBodyDef *def, BrioBodyPlan *plan, BrioError *error)
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
                    "the initial position or velocity of vertex %lld is not a finite number",
                    (long long)v);
        }
        const double *X = plan->mesh->x + 3 * v;
        if (brio__moves_along_x(plan) && (w[1] != 0 || w[2] != 0 || x[1] != X[1] || x[2] != X[2]))
            return brio__error(error, BRIO_ERROR_INPUT,
                               "vertex %lld would start at y = %g, z = %g m with %g and %g m/s "
                               "along these: a bar1d moves along x only, so it starts at "
                               "rest in y and z, where its shape is (y = %g, z = %g m)",
                               (long long)v, x[1], x[2], w[1], w[2], X[1], X[2]);
    }
    return BRIO_OK;
}

static BrioStatus control(const BrioBodyDef *def, BrioBodyPlan *plan, BrioError *error)
{
    plan->decay = def->decay;
    plan->energy_scale = def->energy_scale;
    if (def->decay >= 0 && isfinite(def->decay) && def->energy_scale >= 0 &&
        isfinite(def->energy_scale))
        return BRIO_OK;
    return brio__error(error, BRIO_ERROR_INPUT,
                       "body \"%s\" has decay = %g s and energy_scale = %g: both must be positive, "
                       "or 0 for those of the integrator",
                       def->name, def->decay, def->energy_scale);
}

static BrioStatus plan_body(const BrioBodyDef *def, BrioBodyPlan *plan, BrioError *error)
{
    BRIO_CHECK(choose_energy(def, plan, error));
    BRIO_CHECK(brio__mesh_check(def->mesh, error));
    BRIO_CHECK(brio__plan_mesh(def->mesh, def->linear, def->translate, &plan->mesh, error));
    bool caged = def->cage && plan->kind->kind == BRIO_KIND_SOLID;
    if (caged)
        BRIO_CHECK(brio__cage_shape(plan, def->cage, error));
    else if (plan->kind->shape)
        BRIO_CHECK(plan->kind->shape(plan, error));
    size_t n = (size_t)plan->mesh->vertex_count;
    plan->x = brio__alloc(3 * n, sizeof(double));
    plan->v = brio__alloc(3 * n, sizeof(double));
    plan->mass = brio__calloc(n, sizeof(double));
    plan->fix = brio__alloc(n, sizeof *plan->fix);
    plan->row = brio__calloc(n, sizeof *plan->row);
    plan->name = brio__strdup(def->name);
    if (!plan->x || !plan->v || !plan->mass || !plan->fix || !plan->row || !plan->name)
        return brio__no_memory(error);
    for (size_t v = 0; v < n; v++) plan->fix[v] = -1;
    memcpy(plan->linear, def->linear, sizeof plan->linear);
    memcpy(plan->translate, def->translate, sizeof plan->translate);
    BRIO_CHECK(control(def, plan, error));
    BRIO_CHECK(caged ? brio__cage_masses(plan, error) : plan->kind->masses(plan, error));
    BRIO_CHECK(spring_rests(def, plan, error));
    BRIO_CHECK(initial_state(def, plan, error));
    return caged ? brio__cage_state(def, plan, error) : BRIO_OK;
}

BrioStatus brio_builder_body(BrioBuilder *builder, const BrioBodyDef *def, int *body,
                             BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder) && def, error);
    BRIO_CHECK(brio__builder_open(builder, error));
    if (!def->name || !def->name[0])
        return brio__error(error, BRIO_ERROR_INPUT, "a body needs a name");
    BRIO_CHECK(brio__check_name("a body", def->name, error));
    if (!def->mesh || def->mesh->vertex_count == 0)
        return brio__error(error, BRIO_ERROR_INPUT, "body \"%s\" has no vertices", def->name);
    if (brio__builder_find(builder, def->name) >= 0)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "two bodies are called \"%s\": give each a name of its own", def->name);
    double need = builder->need + brio__mesh_need(def->mesh->vertex_count, def->mesh->tet_count,
                                                  def->mesh->triangle_count, def->mesh->edge_count);
    if (need > brio__memory_available())
        return brio__error(error, BRIO_ERROR_TOO_LARGE,
                           "with body \"%s\" the scene needs about %.3g GB to simulate, and %.3g "
                           "GB are available; use coarser meshes",
                           def->name, need * 1e-9, brio__memory_available() * 1e-9);
    BrioBodyPlan plan = {0};
    BrioStatus status = plan_body(def, &plan, error);
    BrioBodyPlan *grown = builder->body;
    int number = 0; /* the lowest that is free */
    while (number < builder->body_count && !grown[number].removed) number++;
    if (status == BRIO_OK && number == builder->body_count) {
        grown = brio__room_for_one(builder->body, builder->body_count, sizeof plan);
        if (!grown) status = brio__no_memory(error);
    }
    if (status != BRIO_OK) {
        brio__free_body_plan(&plan);
        return status;
    }
    builder->body = grown;
    builder->need = need;
    if (number < builder->body_count)
        brio__free_body_plan(&grown[number]);
    else
        builder->body_count++;
    grown[number] = plan;
    if (body) *body = number;
    return BRIO_OK;
}
