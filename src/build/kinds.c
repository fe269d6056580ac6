/* Kinds of bodies, one row each in the table at the end: what a kind asks of a mesh, how the mesh
 * is completed, where its masses come from, and which terms its elements make.
 *
 * To add a kind of element: a row in energy/element.def, and a row here with the functions that
 * make its elements. (A kind that scenes and programs can name has a value of BrioKind too.) */
#include "build.h"

/* ---- solids: tets ----------------------------------------------------------------------- */

static BrioStatus require_tets(const BrioMesh *mesh, BrioError *error)
{
    if (mesh->tet_count == 0)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "a solid needs tets, and this mesh has none (%lld vertices, %lld "
                           "triangle%s%s); give a mesh of tets, or "
                           "kind: solid to have its closed surface filled with them, or kind: "
                           "springs with material hooke",
                           (long long)mesh->vertex_count, (long long)mesh->triangle_count,
                           mesh->triangle_count == 1 ? "" : "s",
                           brio__mesh_is_flat(mesh) ? "; it is two-dimensional" : "");
    return BRIO_OK;
}

static BrioStatus solid_shape(BrioBodyPlan *plan, BrioError *error)
{
    BRIO_CHECK(brio__mesh_check_solid(plan->mesh, error));
    return brio__mesh_surface(plan->mesh, error);
}

static BrioStatus solid_terms(const BrioBodyPlan *plan, BrioSystem *s, int body)
{
    const BrioBody *b = &s->body[body];
    if (b->cage) return brio__cage_terms(plan, s, body);
    return brio__body_term(plan, s, body, plan->energy, b->tet, b->tet_count, NAN);
}

/* ---- springs and bars: edges ------------------------------------------------------------ */

static BrioStatus require_edges(const BrioMesh *mesh, BrioError *error)
{
    if (mesh->edge_count == 0 || mesh->triangle_count || mesh->tet_count)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "a bar1d needs edges and nothing else, and this mesh has %lld edges, "
                           "%lld triangles and %lld tets; use shape: {type: line}",
                           (long long)mesh->edge_count, (long long)mesh->triangle_count,
                           (long long)mesh->tet_count);
    return BRIO_OK;
}

/* Every edge of a bar1d lies along x and points to where x rises. */
static BrioStatus check_along_x(const BrioBodyPlan *plan, BrioError *error)
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
                               "along x only, so its edges must point along +x; remove "
                               "rotations",
                               (long long)e, n[0], n[1], b[0] - a[0], b[1] - a[1], b[2] - a[2]);
    }
    return BRIO_OK;
}

/* A body without edges has a spring along every side of its triangles. */
static BrioStatus edge_shape(BrioBodyPlan *plan, BrioError *error)
{
    if (plan->mesh->edge_count == 0 && brio__mesh_edges_from_triangles(plan->mesh) != BRIO_OK)
        return brio__no_memory(error);
    BRIO_CHECK(brio__mesh_check_springs(plan->mesh, error));
    return brio__moves_along_x(plan) ? check_along_x(plan, error) : BRIO_OK;
}

static BrioStatus edge_terms(const BrioBodyPlan *plan, BrioSystem *s, int body)
{
    const BrioBody *b = &s->body[body];
    return brio__body_term(plan, s, body, plan->energy, b->edge, b->edge_count, NAN);
}

/* ---- points: no elements ---------------------------------------------------------------- */

/* Triangles and tets serve for masses by rho, and are no part of the body; edges are where rods
 * may be. */
static BrioStatus point_masses(BrioBodyPlan *plan, BrioError *error)
{
    BRIO_CHECK(brio__lumped_masses(plan, error));
    plan->mesh->triangle_count = plan->mesh->tet_count = 0;
    return BRIO_OK;
}

static BrioStatus point_terms(const BrioBodyPlan *plan, BrioSystem *s, int body)
{
    return brio__body_term(plan, s, body, plan->energy, NULL, 0, NAN);
}

/* ---- shells: triangles, and the hinges between them ------------------------------------- */

static BrioStatus require_triangles(const BrioMesh *mesh, BrioError *error)
{
    if (mesh->tet_count || mesh->triangle_count == 0)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "a shell needs triangles and no tets, and this mesh has %lld triangles "
                           "and %lld tets; use shape: {type: grid}, disk or sphere, a "
                           "mesh of a surface, or a material of solids",
                           (long long)mesh->triangle_count, (long long)mesh->tet_count);
    return BRIO_OK;
}

/* Edges of the shape are no springs here. */
static BrioStatus shell_shape(BrioBodyPlan *plan, BrioError *error)
{
    plan->mesh->edge_count = 0;
    BRIO_CHECK(brio__mesh_check_shell(plan->mesh, error));
    return brio__mesh_hinges(plan->mesh, &plan->hinge, &plan->hinge_count, error);
}

static BrioStatus shell_terms(const BrioBodyPlan *plan, BrioSystem *s, int body)
{
    const BrioBody *b = &s->body[body];
    BRIO_CHECK(brio__body_term(plan, s, body, plan->energy, b->triangle, b->triangle_count,
                               plan->sheet.stretch));
    if (plan->sheet.bending == 0 || plan->hinge_count == 0) return BRIO_OK;
    return brio__body_term(plan, s, body, brio__energy("hinge"), plan->hinge, plan->hinge_count,
                           NAN);
}

static void shell_params(const BrioBodyPlan *plan, const BrioSystem *s, int body, double *param)
{
    const BrioBody *b = &s->body[body];
    if (b->term_count > 1) param[s->term[b->term + 1].params] = plan->sheet.bending;
}

/* ---- affine bodies: four mass points ---------------------------------------------------- */

static BrioStatus affine_shape(BrioBodyPlan *plan, BrioError *error)
{
    if (plan->mesh->tet_count) return solid_shape(plan, error);
    BRIO_CHECK(brio__mesh_close(plan->mesh, error));
    plan->mesh->edge_count = 0; /* no springs */
    return BRIO_OK;
}

/* One element on the four mass points, with the weight of the whole body. */
static BrioStatus affine_terms(const BrioBodyPlan *plan, BrioSystem *s, int body)
{
    BrioTerm *term;
    const double *X = plan->affine.point;
    int32_t first = (int32_t)s->body[body].mass_point;
    int32_t vertex[4] = {first, first + 1, first + 2, first + 3};
    BRIO_CHECK(brio__start_term(s, plan->energy, body, 1, &term));
    s->body[body].term_count++;
    brio__set_element(term, 0, vertex, X,
                      6 * plan->affine.volume / brio__tet_volume6(X, X + 3, X + 6, X + 9), NAN);
    return BRIO_OK;
}

/* ---- the table -------------------------------------------------------------------------- */

static const BrioBodyKind kinds[] = {
    {.kind = BRIO_KIND_SOLID,
     .name = "solid",
     .element = BRIO_ELEMENT_TET,
     .require = require_tets,
     .shape = solid_shape,
     .masses = brio__lumped_masses,
     .terms = solid_terms},
    {.kind = BRIO_KIND_SHELL,
     .name = "shell",
     .element = BRIO_ELEMENT_TRIANGLE,
     .require = require_triangles,
     .shape = shell_shape,
     .masses = brio__shell_masses,
     .terms = shell_terms,
     .params = shell_params},
    {.kind = BRIO_KIND_SPRINGS,
     .name = "springs",
     .element = BRIO_ELEMENT_SPRING,
     .shape = edge_shape,
     .masses = brio__lumped_masses,
     .terms = edge_terms},
    {.kind = BRIO_KIND_BAR1D,
     .name = "bar1d",
     .element = BRIO_ELEMENT_BAR,
     .require = require_edges,
     .shape = edge_shape,
     .masses = brio__lumped_masses,
     .terms = edge_terms},
    {.kind = BRIO_KIND_POINTS,
     .name = "points",
     .element = BRIO_ELEMENT_POINT,
     .masses = point_masses,
     .terms = point_terms},
    {.kind = BRIO_KIND_AFFINE,
     .name = "affine",
     .element = BRIO_ELEMENT_AFFINE,
     .shape = affine_shape,
     .masses = brio__affine_masses,
     .terms = affine_terms},
};

const BrioBodyKind *brio__body_kind(const BrioEnergy *energy)
{
    for (size_t i = 0; i < BRIO_COUNT(kinds); i++)
        if (kinds[i].element == energy->element) return &kinds[i];
    return NULL;
}

const char *brio__kind_name(BrioKind kind)
{
    for (size_t i = 0; i < BRIO_COUNT(kinds); i++)
        if (kinds[i].kind == kind) return kinds[i].name;
    return "unknown";
}
