/* Materials and settings of a scene of polyfem, and the scene of brio that is made of all. */
#include "polyfem.h"

#include <string.h>

/* ---- materials -------------------------------------------------------------------------- */

static const struct {
    const char *there, *here, *note;
} types[] = {
    {"NeoHookean", "neo-hookean", NULL},
    {"SaintVenant", "stvk", NULL},
    {"FixedCorotational", "fixed-corotated", NULL},
    {"MooneyRivlin", "mooney-rivlin",
     "MooneyRivlin: the change of volume costs k/2 ln^2 J there and k/2 (J - 1)^2 here, which is "
     "the same for small changes"},
    {"LinearElasticity", "corotated",
     "LinearElasticity: brio has no material that treats rotations as strain; using corotated, "
     "which is the same without rotations"},
    {"HookeLinearElasticity", "corotated",
     "HookeLinearElasticity: brio has no material that treats rotations as strain; using "
     "corotated, which is the same without rotations"},
};

/* A number of a material that is the same everywhere and always. */
static BrioStatus take_constant(Poly *p, Value map, const char *key, Dimension d, double standard,
                                double *value)
{
    Value given = poly_get(map, key);
    Quantity q;
    *value = standard;
    if (!given.count) return BRIO_OK;
    BRIO_CHECK(poly_quantity(p, poly_first(given), d, &q));
    if (q.uses)
        poly_loss(p, poly_first(given), "%s varies in space; using its initial value at the origin",
                  key);
    *value = poly_evaluate(p, &q, (const double[3]){0, 0, 0}, 0);
    return BRIO_OK;
}

static BrioStatus take_moduli(Poly *p, Value map, Material *m)
{
    const Dimension pressure = {-1, 1, -2};
    double lambda, mu;
    BRIO_CHECK(take_constant(p, map, "E", pressure, NAN, &m->E));
    BRIO_CHECK(take_constant(p, map, "nu", (Dimension){0, 0, 0}, NAN, &m->nu));
    BRIO_CHECK(take_constant(p, map, "lambda", pressure, NAN, &lambda));
    BRIO_CHECK(take_constant(p, map, "mu", pressure, NAN, &mu));
    if (isnan(m->E) || isnan(m->nu)) {
        m->E = mu * (3 * lambda + 2 * mu) / (lambda + mu);
        m->nu = lambda / (2 * (lambda + mu));
    }
    if (!isnan(m->E) && !isnan(m->nu)) return BRIO_OK;
    return brio__node_error(
        poly_first(map), p->error, "a material of type %.40s needs E and nu, or lambda and mu%s",
        poly_text(poly_get(map, "type"), "?"),
        brio__node_get(m->node, "elasticity_tensor") ? "; brio has no elasticity tensors" : "");
}

static BrioStatus take_material(Poly *p, BrioNode *node, Material *m)
{
    static const char *const keys[] = {"type", "id",  "E",  "nu", "lambda", "mu",     "rho",
                                       "phi",  "psi", "c1", "c2", "k",      "density"};
    const Dimension density = {-3, 1, 0}, pressure = {-1, 1, -2};
    Value map = {.node = {node}, .count = 1}, value = poly_get(map, "type");
    double damping[2];
    *m = (Material){.node = node, .line = node->line};
    if (node->kind != BRIO_NODE_MAP) return brio__node_error(node, p->error, "expected a material");
    const char *type = poly_text(value, "");
    for (size_t i = 0; i < BRIO_COUNT(types); i++) {
        if (strcmp(types[i].there, type)) continue;
        snprintf(m->type, sizeof m->type, "%s", types[i].here);
        if (types[i].note) poly_note(p, poly_first(value), "%s", types[i].note);
    }
    if (!m->type[0]) {
        snprintf(m->type, sizeof m->type, "neo-hookean");
        poly_loss(p, value.count ? poly_first(value) : node,
                  "brio has no material of type \"%.40s\"; using neo-hookean with its E and nu",
                  type);
    } else {
        poly_unknown(p, map, "a material", keys, (int)BRIO_COUNT(keys));
    }
    value = poly_get(map, "id");
    if (value.count) BRIO_CHECK(poly_ids(p, poly_first(value), m->id, 64, &m->ids));
    BRIO_CHECK(take_constant(p, map, "rho", density, 1, &m->rho));
    if (!poly_get(map, "rho").count) m->rho = pow(p->length, -3) * p->mass;
    if (poly_get(map, "density").count)
        BRIO_CHECK(take_constant(p, map, "density", density, 1, &m->rho));
    BRIO_CHECK(take_constant(p, map, "phi", (Dimension){0, 0, 0}, 0, &damping[0]));
    BRIO_CHECK(take_constant(p, map, "psi", (Dimension){0, 0, 0}, 0, &damping[1]));
    if (damping[0] != 0 || damping[1] != 0)
        poly_loss(p, node,
                  "phi, psi: brio has no viscosity of a material; `damping` of a scene is "
                  "for all bodies");
    if (strcmp(m->type, "mooney-rivlin")) return take_moduli(p, map, m);
    BRIO_CHECK(take_constant(p, map, "c1", pressure, NAN, &m->c1));
    BRIO_CHECK(take_constant(p, map, "c2", pressure, NAN, &m->c2));
    BRIO_CHECK(take_constant(p, map, "k", pressure, NAN, &m->kappa));
    if (!isnan(m->c1) && !isnan(m->c2) && !isnan(m->kappa)) return BRIO_OK;
    return brio__node_error(node, p->error, "a material of type MooneyRivlin needs c1, c2 and k");
}

BrioStatus poly_read_materials(Poly *p)
{
    BrioNode *list = poly_first(poly_get(p->root, "materials"));
    if (!list) return brio__node_error(p->document[0], p->error, "the scene has no \"materials\"");
    bool many = list->kind == BRIO_NODE_LIST;
    int count = many ? list->count : 1;
    p->material = brio__calloc((size_t)count + 1, sizeof *p->material);
    if (!p->material) return poly_no_memory(p);
    for (int i = 0; i < count; i++)
        BRIO_CHECK(take_material(p, many ? list->child[i] : list, &p->material[p->materials++]));
    return BRIO_OK;
}

/* By the id of the body; a single material without one is that of all. */
static BrioStatus find_material(Poly *p, Geometry *g)
{
    for (int i = 0; i < p->materials; i++) {
        const Material *m = &p->material[i];
        bool own = m->ids == 0 && (p->materials == 1 || g->volume_id == 0);
        for (int k = 0; k < m->ids; k++) own |= m->id[k] == g->volume_id;
        if (!own) continue;
        g->material = i;
        return BRIO_OK;
    }
    if (p->materials == 1 && !brio__node_get(g->node, "volume_selection")) return BRIO_OK;
    return brio__node_error(g->node, p->error, "no material has the id %lld of this body%s",
                            (long long)g->volume_id,
                            brio__node_get(g->node, "volume_selection")
                                ? ""
                                : " (ids in the file of a mesh are not read; give the body a "
                                  "volume_selection)");
}

static void put_materials(const Poly *p)
{
    fputs("materials:\n", p->out);
    for (int i = 0; i < p->materials; i++) {
        const Material *m = &p->material[i];
        fprintf(p->out, "  material%d: {type: %s, ", i, m->type);
        bool mooney = !strcmp(m->type, "mooney-rivlin");
        fputs(mooney ? "c1: " : "E: ", p->out);
        import_put(p->out, mooney ? m->c1 : m->E);
        fputs(mooney ? ", c2: " : ", nu: ", p->out);
        import_put(p->out, mooney ? m->c2 : m->nu);
        if (mooney) {
            fputs(", kappa: ", p->out);
            import_put(p->out, m->kappa);
        }
        fputs(", rho: ", p->out);
        import_put(p->out, m->rho);
        fputs("}\n", p->out);
    }
}

/* ---- settings --------------------------------------------------------------------------- */

/* "BDF2" and {"type": "BDF", "steps": 2} are the same. */
static BrioStatus put_integrator(Poly *p)
{
    static const char *const keys[] = {"type", "steps", "beta", "gamma"};
    Value map = poly_get(poly_get(p->root, "time"), "integrator"), value = poly_get(map, "type");
    double steps = 1, beta = 0.25, gamma = 0.5;
    const BrioNode *node = poly_first(map);
    const char *type = poly_text(map, "ImplicitEuler");
    if (node && node->kind == BRIO_NODE_MAP) {
        poly_unknown(p, map, "integrator", keys, (int)BRIO_COUNT(keys));
        type = poly_text(value, "");
        BRIO_CHECK(poly_real(p, poly_get(map, "steps"), 1, &steps));
        BRIO_CHECK(poly_real(p, poly_get(map, "beta"), 0.25, &beta));
        BRIO_CHECK(poly_real(p, poly_get(map, "gamma"), 0.5, &gamma));
    }
    bool bdf = !strncmp(type, "BDF", 3);
    if (bdf && type[3]) steps = type[3] - '0';
    if (p->is_static) {
        fputs("integrator: static\n", p->out);
    } else if (!strcmp(type, "ImplicitNewmark")) {
        fputs("integrator: {type: newmark, beta: ", p->out);
        import_put(p->out, beta);
        fputs(", gamma: ", p->out);
        import_put(p->out, fmax(gamma, 0.5));
        fputs("}\n", p->out);
        if (gamma < 0.5)
            poly_loss(p, node,
                      "gamma: below 1/2 the method gains energy, and brio rejects it; using 1/2");
    } else if (bdf && steps >= 2) {
        fprintf(p->out, "integrator: bdf%d\n", (int)fmin(steps, 4));
        if (steps > 4)
            poly_loss(p, node,
                      "integrator: brio has BDF up to order 4; using order 4 instead of "
                      "%g",
                      steps);
    } else {
        fputs("integrator: backward-euler\n", p->out);
        if (!bdf && strcmp(type, "ImplicitEuler"))
            poly_loss(p, node, "integrator \"%.40s\" is unknown; using backward-euler", type);
    }
    return BRIO_OK;
}

static BrioStatus put_gravity(Poly *p)
{
    BrioNode *node = poly_first(poly_get(poly_get(p->root, "boundary_conditions"), "rhs"));
    double gravity[3] = {0, 0, 0};
    Quantity q[3];
    unsigned uses;
    if (node && (node->kind != BRIO_NODE_LIST || node->count)) {
        BRIO_CHECK(poly_quantities(p, node, (Dimension){1, 0, -2}, q, &uses));
        if (uses)
            poly_loss(p, node,
                      "rhs: it varies in space or time, and brio's gravity is constant; using its "
                      "initial value at the origin");
        /* the right-hand side is that of div sigma = rhs, per mass */
        for (int k = 0; k < 3; k++)
            gravity[k] = -poly_evaluate(p, &q[k], (const double[3]){0, 0, 0}, 0);
    }
    import_put3(p->out, "gravity: ", gravity);
    fputc('\n', p->out);
    return BRIO_OK;
}

static BrioStatus put_solver(Poly *p)
{
    static const char *const keys[] = {"max_threads", "linear",          "adjoint_linear",
                                       "nonlinear",   "advanced",        "augmented_lagrangian",
                                       "contact",     "rayleigh_damping"};
    Value solver = poly_get(p->root, "solver"), map = poly_get(solver, "nonlinear");
    double delta, iterations, gradient;
    poly_unknown(p, solver, "solver", keys, (int)BRIO_COUNT(keys));
    if (poly_get(solver, "linear").count)
        poly_note(p, poly_first(poly_get(solver, "linear")),
                  "linear: brio chooses by the size of the scene; solver.linear in a scene names "
                  "one; left out");
    if (poly_get(solver, "augmented_lagrangian").count)
        poly_note(
            p, poly_first(poly_get(solver, "augmented_lagrangian")),
            "augmented_lagrangian: brio moves fixed vertices as far as contact lets them; left "
            "out");
    Value step = poly_get(map, "x_delta"), slope = poly_get(map, "grad_norm");
    if (!step.count) step = poly_get(map, "x_delta_tol");
    if (!slope.count) slope = poly_get(map, "grad_norm_tol");
    BRIO_CHECK(poly_real(p, step, 0, &delta));
    BRIO_CHECK(poly_real(p, poly_get(map, "max_iterations"), 0, &iterations));
    BRIO_CHECK(poly_real(p, slope, 0, &gradient));
    /* below brio's default it is not what ends a solve there */
    if (delta * p->length / p->h < 1e-8) delta = 0;
    if (gradient > 0)
        poly_note(p, poly_first(slope),
                  "grad_norm: brio's tolerance is one of velocities (solver.tol); left out");
    if (!(delta > 0) && !(iterations >= 1)) return BRIO_OK;
    fputs("solver: {", p->out);
    if (delta > 0) {
        fputs("tol: ", p->out);
        import_put(p->out, delta * p->length / p->h);
    }
    if (iterations >= 1) {
        fputs(delta > 0 ? ", max_iterations: " : "max_iterations: ", p->out);
        import_put(p->out, iterations);
    }
    fputs("}\n", p->out);
    return BRIO_OK;
}

static BrioStatus put_damping(Poly *p)
{
    BrioNode *list = poly_first(poly_get(poly_get(p->root, "solver"), "rayleigh_damping"));
    for (int i = 0; list && list->kind == BRIO_NODE_LIST && i < list->count; i++) {
        Value map = {.node = {list->child[i]}, .count = 1}, form = poly_get(map, "form");
        double ratio, stiffness, h = p->h / p->time;
        BRIO_CHECK(poly_real(p, poly_get(map, "stiffness_ratio"), 0, &ratio));
        BRIO_CHECK(poly_real(p, poly_get(map, "stiffness"), 0, &stiffness));
        if (ratio > 0) stiffness = 0.75 * ratio * h * h * h;
        if (!(stiffness > 0)) continue;
        if (!form.count || strcmp(poly_text(form, ""), "elasticity")) {
            poly_loss(p, list->child[i],
                      "rayleigh_damping: brio damps elasticity, not contact or "
                      "friction; left out");
            continue;
        }
        fputs("damping:\n  - {type: rayleigh, beta: ", p->out);
        import_put(p->out, stiffness / (h * h) * p->time);
        fputs("}\n", p->out);
        break;
    }
    return BRIO_OK;
}

/* The shortest edge of the bodies' surfaces, by which the other code chooses dhat. */
static double shortest_edge(const Poly *p)
{
    double shortest = INFINITY;
    for (int i = 0; i < p->geometries; i++) {
        const Geometry *g = &p->geometry[i];
        for (int64_t t = 0; !g->obstacle && t < 3 * g->mesh->triangle_count; t++) {
            int64_t next = t % 3 == 2 ? t - 2 : t + 1;
            double a[3], b[3];
            poly_place(g, g->mesh->x + 3 * (int64_t)g->mesh->triangle[t], a);
            poly_place(g, g->mesh->x + 3 * (int64_t)g->mesh->triangle[next], b);
            shortest = fmin(shortest, brio__distance3(a, b));
        }
    }
    return shortest;
}

static BrioStatus put_contact(Poly *p)
{
    static const char *const keys[] = {"enabled",
                                       "dhat",
                                       "dhat_percentage",
                                       "epsv",
                                       "collision_mesh",
                                       "periodic",
                                       "adhesion",
                                       "friction_coefficient",
                                       "use_area_weighting",
                                       "use_physical_barrier",
                                       "use_convergent_formulation",
                                       "use_improved_max_operator"};
    Value map = poly_get(p->root, "contact"),
          solver = poly_get(poly_get(p->root, "solver"), "contact");
    Value given = poly_get(map, "dhat"), stiffness = poly_get(solver, "barrier_stiffness");
    double dhat, part, mu, epsv, renewals;
    poly_unknown(p, map, "contact", keys, (int)BRIO_COUNT(keys));
    if (!p->contact) return BRIO_OK;
    BRIO_CHECK(poly_real(p, given, 1e-3, &dhat));
    BRIO_CHECK(poly_real(p, poly_get(map, "dhat_percentage"), 0.8, &part));
    BRIO_CHECK(poly_real(p, poly_get(map, "friction_coefficient"), 0, &mu));
    BRIO_CHECK(poly_real(p, poly_get(map, "epsv"), 1e-3, &epsv));
    BRIO_CHECK(poly_real(p, poly_get(solver, "friction_iterations"), 1, &renewals));
    dhat *= p->length;
    if (!given.count && dhat > shortest_edge(p)) dhat = part * shortest_edge(p);
    fputs("contact:\n  type: ipc\n  dhat: ", p->out);
    import_put(p->out, dhat);
    fputs("\n  kappa: auto\n  mu: ", p->out);
    import_put(p->out, mu);
    fputs("\n  epsv: ", p->out);
    import_put(p->out, epsv * p->length / p->time);
    if (mu > 0 && poly_get(solver, "friction_iterations").count) {
        fputs("\n  friction_iterations: ", p->out);
        import_put(p->out, renewals >= 0 ? renewals : 0);
    }
    fputc('\n', p->out);
    if (strcmp(poly_text(stiffness, "adaptive"), "adaptive"))
        poly_note(p, poly_first(stiffness),
                  "barrier_stiffness: it belongs to another form of the barrier; here it is "
                  "automatic (kappa: auto)");
    if (poly_is_true(poly_get(map, "periodic"), false))
        poly_loss(p, poly_first(poly_get(map, "periodic")), "periodic: brio has no periodic cells");
    if (poly_is_true(poly_get(poly_get(map, "adhesion"), "adhesion_enabled"), false))
        poly_loss(p, poly_first(poly_get(map, "adhesion")),
                  "adhesion: brio's contact does not "
                  "stick");
    if (poly_get(map, "collision_mesh").count)
        poly_note(p, poly_first(poly_get(map, "collision_mesh")),
                  "collision_mesh: brio's contact is that of the bodies' own surfaces; left out");
    if (poly_is_true(poly_get(map, "use_convergent_formulation"), false))
        poly_note(p, poly_first(poly_get(map, "use_convergent_formulation")),
                  "use_convergent_formulation: brio has its own weights of contacts; left out");
    return BRIO_OK;
}

/* ---- bodies ----------------------------------------------------------------------------- */

/* The first velocity of a body, by its id. */
static BrioStatus put_velocity(Poly *p, const Geometry *g)
{
    BrioNode *list = poly_first(poly_get(poly_get(p->root, "initial_conditions"), "velocity"));
    for (int i = 0; list && list->kind == BRIO_NODE_LIST && i < list->count; i++) {
        BrioNode *value = brio__node_get(list->child[i], "value");
        BrioNode *named = brio__node_get(list->child[i], "id");
        int64_t id[64];
        int ids = 0;
        Quantity q[3];
        unsigned uses;
        double v[3];
        if (!value) return brio__node_error(list->child[i], p->error, "expected \"value\"");
        if (named) BRIO_CHECK(poly_ids(p, named, id, 64, &ids));
        bool own = ids == 0;
        for (int k = 0; k < ids; k++) own |= id[k] == g->volume_id;
        if (!own) continue;
        BRIO_CHECK(poly_quantities(p, value, (Dimension){1, 0, -1}, q, &uses));
        if (uses & (FORMULA_X | FORMULA_Y | FORMULA_Z))
            poly_loss(p, value, "velocity: it varies in space; using its value at the origin");
        for (int k = 0; k < 3; k++) v[k] = poly_evaluate(p, &q[k], (const double[3]){0, 0, 0}, 0);
        if (import_is_zero(v)) return BRIO_OK;
        import_put3(p->out, "    velocity: {linear: ", v);
        fputs("}\n", p->out);
        return BRIO_OK;
    }
    return BRIO_OK;
}

static BrioStatus put_bodies(Poly *p, BrioNode *conditions, int64_t *total)
{
    char path[4096];
    int entries = conditions && conditions->kind == BRIO_NODE_LIST ? conditions->count : 0;
    fputs("bodies:\n", p->out);
    for (int i = 0; i < p->geometries; i++) {
        Geometry *g = &p->geometry[i];
        if (g->obstacle) continue;
        BRIO_CHECK(find_material(p, g));
        import_relative_path(p->folder, g->path, path, sizeof path);
        fprintf(p->out, "  - name: %s\n    mesh: ", g->name);
        import_put_text(p->out, path);
        fprintf(p->out, "\n    kind: solid\n    material: material%d\n", g->material);
        import_put_transform(p->out, g->scale, g->rotate, g->translate);
        BRIO_CHECK(put_velocity(p, g));
        uint8_t *taken = brio__calloc((size_t)g->mesh->vertex_count + 1, 1);
        if (!taken) return poly_no_memory(p);
        bool opened = false;
        BrioStatus status = BRIO_OK;
        for (int k = 0; k < entries && status == BRIO_OK; k++)
            if (conditions->child[k]->kind == BRIO_NODE_MAP)
                status = poly_put_fix(p, g, conditions->child[k], taken, &opened, &total[k]);
        brio__free(taken);
        BRIO_CHECK(status);
        p->report->bodies++;
    }
    return BRIO_OK;
}

/* The first entry of a list of displacements for an obstacle: its number, -1 if there is none. */
static BrioStatus find_entry(Poly *p, const Geometry *g, const BrioNode *list, int *found)
{
    *found = -1;
    for (int i = 0; list && list->kind == BRIO_NODE_LIST && i < list->count && *found < 0; i++) {
        BrioNode *named = brio__node_get(list->child[i], "id");
        int64_t id[64];
        int ids;
        if (list->child[i]->kind != BRIO_NODE_MAP) continue;
        if (!named) return brio__node_error(list->child[i], p->error, "expected \"id\"");
        BRIO_CHECK(poly_ids(p, named, id, 64, &ids));
        if (!ids) *found = i;
        for (int k = 0; k < ids && g->surface_id >= 0; k++)
            if (id[k] == g->surface_id) *found = i;
    }
    return BRIO_OK;
}

/* How an obstacle moves: by a boundary condition, or by obstacle_displacements, which are stronger;
 * NULL: not at all. */
static BrioStatus find_motion(Poly *p, const Geometry *g, int64_t *total, BrioNode **found)
{
    Value map = poly_get(p->root, "boundary_conditions");
    BrioNode *moved = poly_first(poly_get(map, "obstacle_displacements"));
    BrioNode *fixed = poly_first(poly_get(map, "dirichlet_boundary"));
    int entry;
    *found = NULL;
    if (g->surface_id < 0) return BRIO_OK;
    BRIO_CHECK(find_entry(p, g, fixed, &entry));
    if (entry >= 0) {
        *found = fixed->child[entry];
        total[entry]++;
    }
    BRIO_CHECK(find_entry(p, g, moved, &entry));
    if (entry >= 0) *found = moved->child[entry];
    return BRIO_OK;
}

static BrioStatus put_obstacle(Poly *p, Geometry *g, int64_t *total)
{
    char path[4096];
    BrioNode *motion;
    fprintf(p->out, "  - name: %s\n", g->name);
    p->report->obstacles++;
    if (!g->mesh) {
        import_put3(p->out, "    type: plane\n    point: ", g->point);
        import_put3(p->out, "\n    normal: ", g->normal);
        fputc('\n', p->out);
        return BRIO_OK;
    }
    import_relative_path(p->folder, g->path, path, sizeof path);
    if (g->extract)
        BRIO_CHECK(import_parts(p->folder, g->path, g->extract == 1, g->mesh, path, sizeof path,
                                p->error));
    fputs("    type: mesh\n    mesh: ", p->out);
    import_put_text(p->out, path);
    fputc('\n', p->out);
    import_put_transform(p->out, g->scale, g->rotate, g->translate);
    BRIO_CHECK(find_motion(p, g, total, &motion));
    return motion ? poly_put_motion(p, g, motion) : BRIO_OK;
}

/* Conditions that no scene of brio has. */
static void say_losses(Poly *p)
{
    static const char *const keys[] = {"rhs",
                                       "dirichlet_boundary",
                                       "neumann_boundary",
                                       "normal_aligned_neumann_boundary",
                                       "pressure_boundary",
                                       "pressure_cavity",
                                       "obstacle_displacements",
                                       "periodic_boundary"};
    static const char *const first_keys[] = {"solution", "velocity", "acceleration"};
    Value map = poly_get(p->root, "boundary_conditions"), value;
    Value first = poly_get(p->root, "initial_conditions");
    poly_unknown(p, map, "boundary_conditions", keys, (int)BRIO_COUNT(keys));
    poly_unknown(p, first, "initial_conditions", first_keys, (int)BRIO_COUNT(first_keys));
    for (int i = 2; i < 6; i++) {
        value = poly_get(map, keys[i]);
        if (value.count && poly_first(value)->count)
            poly_loss(p, poly_first(value), "%s: brio has no force on a part of a body; left out",
                      keys[i]);
    }
    value = poly_get(map, "periodic_boundary");
    if (poly_is_true(poly_get(value, "enabled"), false))
        poly_loss(p, poly_first(value), "periodic_boundary: brio has no periodic cells; left out");
    for (int i = 0; i < 3; i += 2) {
        value = poly_get(first, first_keys[i]);
        if (value.count && poly_first(value)->count)
            poly_loss(p, poly_first(value), "%s: bodies start at their rest shape here; left out",
                      first_keys[i]);
    }
}

/* Conditions that no face has, and those of files. */
static void say_unused(Poly *p, BrioNode *conditions, const int64_t *total)
{
    for (int k = 0; conditions && conditions->kind == BRIO_NODE_LIST && k < conditions->count;
         k++) {
        BrioNode *entry = conditions->child[k];
        if (entry->kind != BRIO_NODE_MAP)
            poly_loss(p, entry, "dirichlet_boundary: tables of vertices are not taken; left out");
        else if (!total[k])
            poly_loss(p, entry,
                      "dirichlet_boundary: no face is selected with this id (ids in the "
                      "file of a mesh are not read); left out");
    }
}

static BrioStatus put_settings(Poly *p)
{
    fputs("# imported from ", p->out);
    for (const char *c = p->name; *c; c++)
        fputc((unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c, p->out);
    fputs("\nbrio: 1\ntime: {h: ", p->out);
    import_put(p->out, p->h);
    fputs(", end: ", p->out);
    import_put(p->out, p->end);
    fputs(", fps: ", p->out);
    import_put(p->out, fmin(1 / p->h, 60));
    fputs("}\n", p->out);
    BRIO_CHECK(put_gravity(p));
    BRIO_CHECK(put_integrator(p));
    BRIO_CHECK(put_solver(p));
    BRIO_CHECK(put_damping(p));
    return put_contact(p);
}

static BrioStatus put_obstacles(Poly *p, int64_t *total)
{
    int obstacles = 0;
    for (int i = 0; i < p->geometries; i++) {
        Geometry *g = &p->geometry[i];
        if (!g->obstacle || g->lost) continue;
        if (!p->contact) {
            poly_note(p, g->node,
                      "an obstacle, but contact is not enabled: it does nothing there; left out");
            continue;
        }
        if (!obstacles++) fputs("obstacles:\n", p->out);
        BRIO_CHECK(put_obstacle(p, g, total));
    }
    return BRIO_OK;
}

BrioStatus poly_write(Poly *p)
{
    BrioNode *conditions =
        poly_first(poly_get(poly_get(p->root, "boundary_conditions"), "dirichlet_boundary"));
    BRIO_CHECK(put_settings(p));
    put_materials(p);
    say_losses(p);
    int64_t *total = brio__calloc((size_t)(conditions ? conditions->count : 0) + 1, sizeof *total);
    if (!total) return poly_no_memory(p);
    BrioStatus status = put_bodies(p, conditions, total);
    if (status == BRIO_OK) status = put_obstacles(p, total);
    if (status == BRIO_OK) say_unused(p, conditions, total);
    brio__free(total);
    return status;
}
