/* Caged bodies: a solid of which the surface is dense and the tets are few (mesh/cage.h).
 *
 * The body's vertices are those of the surface, in the order of its file, and have no mass; the
 * nodes of the cage are its mass points, each with a coordinate block. So x = J q with the
 * barycentric weights of the cage in J: contact, attachments, hands, forces and output see the
 * surface itself, and what acts on a vertex reaches the nodes that carry it by J^T.
 *
 *     m_i = rho int phi N_i dV,     E = sum_t fill_t V_t W(F_t).
 *
 * A fixed vertex fixes the nodes that carry it. Vertices that share some of them ride on these. */
#include "build.h"

BrioStatus brio__cage_fits(const BrioBodyPlan *plan, BrioError *error)
{
    if (plan->kind->kind == BRIO_KIND_SOLID || plan->kind->kind == BRIO_KIND_AFFINE) return BRIO_OK;
    return brio__error(error, BRIO_ERROR_INPUT,
                       "a cage is for solids, and material %s makes this body kind %s; remove "
                       "cage, or use a material of solids",
                       plan->energy->name, plan->kind->name);
}

BrioStatus brio__cage_shape(BrioBodyPlan *plan, int cells, BrioError *error)
{
    BrioMesh *mesh = plan->mesh;
    if (mesh->tet_count) {
        BRIO_CHECK(brio__mesh_check_solid(mesh, error));
        BRIO_CHECK(brio__mesh_surface(mesh, error));
    }
    mesh->tet_count = mesh->edge_count = 0;
    return brio__cage_create(mesh, cells, &plan->cage, error);
}

static double density(const BrioBodyPlan *plan)
{
    int rho = brio__fields_offset(plan->energy->fields, "rho");
    return rho < 0 ? NAN : plan->values[rho];
}

double brio__cage_mass(const BrioBodyPlan *plan, const BrioBody *body, int64_t node)
{
    return density(plan) * body->cage->volume[node];
}

BrioStatus brio__cage_masses(BrioBodyPlan *plan, BrioError *error)
{
    const BrioCage *cage = plan->cage;
    size_t nodes = (size_t)cage->node_count;
    if (!(density(plan) * cage->enclosed > 0) || isinf(density(plan) * cage->enclosed))
        return brio__error(error, BRIO_ERROR_INPUT, "the body would have mass %g kg",
                           density(plan) * cage->enclosed);
    plan->node_x = brio__alloc(3 * nodes, sizeof *plan->node_x);
    plan->node_v = brio__calloc(3 * nodes, sizeof *plan->node_v);
    plan->node_fix = brio__alloc(nodes, sizeof *plan->node_fix);
    plan->node_block = brio__calloc(nodes, sizeof *plan->node_block);
    if (!plan->node_x || !plan->node_v || !plan->node_fix || !plan->node_block)
        return brio__no_memory(error);
    for (size_t i = 0; i < nodes; i++) plan->node_fix[i] = -1;
    return BRIO_OK;
}

/* Rest positions and rigid velocities are those of the nodes themselves; what a state has in
 * addition is fitted. */
BrioStatus brio__cage_state(const BrioBodyDef *def, BrioBodyPlan *plan, BrioError *error)
{
    const BrioCage *cage = plan->cage;
    size_t nodes = 3 * (size_t)cage->node_count, vertices = 3 * (size_t)cage->vertex_count;
    memcpy(plan->node_x, cage->x, nodes * sizeof *cage->x);
    if (def->state) {
        double *v = brio__alloc(vertices, sizeof *v);
        BrioStatus status = v ? brio__cage_fit(cage, plan->x, plan->node_x) : BRIO_ERROR_MEMORY;
        for (size_t k = 0; status == BRIO_OK && k < vertices; k++)
            v[k] = def->state[6 * (k / 3) + 3 + k % 3];
        if (status == BRIO_OK) status = brio__cage_fit(cage, v, plan->node_v);
        brio__free(v);
        if (status != BRIO_OK) return brio__no_memory(error);
    }
    for (int64_t i = 0; i < cage->node_count; i++)
        for (int r = 0; r < 3; r++) {
            int p = (r + 1) % 3, q = (r + 2) % 3;
            const double *x = plan->node_x + 3 * i;
            plan->node_v[3 * i + r] += def->velocity[r] + def->angular[p] * (x[q] - def->about[q]) -
                                       def->angular[q] * (x[p] - def->about[p]);
        }
    return BRIO_OK;
}

BrioStatus brio__cage_terms(const BrioBodyPlan *plan, BrioSystem *s, int body)
{
    const BrioCage *cage = s->body[body].cage;
    BrioTerm *term;
    BRIO_CHECK(brio__start_term(s, plan->energy, body, cage->tet_count, &term));
    s->body[body].term_count++;
    for (int64_t t = 0; t < cage->tet_count; t++) {
        int32_t vertex[4];
        double X[12];
        for (int k = 0; k < 4; k++) {
            int32_t node = cage->tet[4 * t + k];
            vertex[k] = (int32_t)s->body[body].mass_point + node;
            memcpy(X + 3 * k, cage->x + 3 * (int64_t)node, 3 * sizeof *X);
        }
        brio__set_element(term, t, vertex, X, cage->fill[t], NAN);
    }
    return BRIO_OK;
}

BrioStatus brio__cage_fix(BrioBodyPlan *plan, const int32_t *vertices, int64_t count, int script,
                          BrioError *error)
{
    const BrioCage *cage = plan->cage;
    for (int pass = 0; pass < 2; pass++) /* the first only checks */
        for (int64_t i = 0; i < count; i++)
            for (int64_t k = 4 * (int64_t)vertices[i]; k < 4 * (int64_t)vertices[i] + 4; k++) {
                int32_t *fix = &plan->node_fix[cage->node[k]];
                if (cage->weight[k] == 0) continue;
                if (*fix >= 0 && *fix != script)
                    return brio__error(error, BRIO_ERROR_INPUT,
                                       "vertex %d of body \"%s\" shares a cell of its cage with a "
                                       "vertex that is fixed in another way: use more cells, so "
                                       "that the two are more than %.3g m apart",
                                       vertices[i], plan->name, 2 * cage->edge);
                if (pass) *fix = script;
            }
    for (int64_t i = 0; i < count; i++) plan->fix[vertices[i]] = script;
    return BRIO_OK;
}

int64_t brio__cage_carrier(const BrioBody *body, int64_t vertex)
{
    int k = 0;
    while (k < 3 && body->cage->weight[4 * vertex + k] == 0) k++;
    return body->cage->node[4 * vertex + k];
}

/* 1/K = sum_k w_k^2 / K_k, as of springs that share a force. */
void brio__cage_stiffness(const BrioBody *body, double *K)
{
    const BrioCage *cage = body->cage;
    for (int64_t v = 0; cage && v < body->count; v++) {
        double soft = 0;
        for (int64_t k = 4 * v; k < 4 * v + 4; k++)
            if (cage->weight[k] > 0)
                soft += cage->weight[k] * cage->weight[k] / K[body->mass_point + cage->node[k]];
        K[body->first + v] = soft > 0 ? 1 / soft : 0;
    }
}
