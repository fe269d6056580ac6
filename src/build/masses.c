/* Masses. M is lumped: rho V/4 of a tet goes to each of its corners, areal A/3 of a triangle,
 * rho l/2 of an edge; vertex_mass is the mass of every vertex. An affine body of density rho and
 * volume V has four mass points of rho V/4 (affine.h), and its own vertices have none. */
#include "build.h"

static double triangle_area(const double *a, const double *b, const double *c)
{
    double n[3];
    brio__triangle_normal(a, b, c, n);
    return 0.5 * brio__norm3(n);
}

/* A tet gives a quarter of its mass to each corner, a triangle a third, an edge a half. */
static void lump(const BrioMesh *mesh, double density, double *mass)
{
    const double *x = mesh->x;
    if (mesh->tet_count) {
        for (int64_t t = 0; t < mesh->tet_count; t++) {
            const int32_t *n = mesh->tet + 4 * t;
            double part = density *
                          brio__tet_volume6(x + 3 * (int64_t)n[0], x + 3 * (int64_t)n[1],
                                            x + 3 * (int64_t)n[2], x + 3 * (int64_t)n[3]) /
                          24;
            for (int k = 0; k < 4; k++) mass[n[k]] += part;
        }
    } else if (mesh->triangle_count) {
        for (int64_t t = 0; t < mesh->triangle_count; t++) {
            const int32_t *n = mesh->triangle + 3 * t;
            double part =
                density *
                triangle_area(x + 3 * (int64_t)n[0], x + 3 * (int64_t)n[1], x + 3 * (int64_t)n[2]) /
                3;
            for (int k = 0; k < 3; k++) mass[n[k]] += part;
        }
    } else {
        for (int64_t e = 0; e < mesh->edge_count; e++) {
            const int32_t *n = mesh->edge + 2 * e;
            double part =
                density * brio__distance3(x + 3 * (int64_t)n[0], x + 3 * (int64_t)n[1]) / 2;
            for (int k = 0; k < 2; k++) mass[n[k]] += part;
        }
    }
}

BrioStatus brio__lumped_masses(BrioBodyPlan *plan, BrioError *error)
{
    const double *values = plan->values;
    const BrioField *fields = plan->energy->fields;
    int vertex_mass = brio__fields_offset(fields, "vertex_mass");
    int rho = brio__fields_offset(fields, "rho");
    bool each = vertex_mass >= 0 && !isnan(values[vertex_mass]);
    bool density = rho >= 0 && !isnan(values[rho]);
    if (each == density)
        return brio__error(error, BRIO_ERROR_INPUT,
                           each ? "both vertex_mass and rho are given: remove one"
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

BrioStatus brio__shell_masses(BrioBodyPlan *plan, BrioError *error)
{
    (void)error;
    lump(plan->mesh, plan->sheet.areal, plan->mass);
    return BRIO_OK;
}

BrioStatus brio__affine_masses(BrioBodyPlan *plan, BrioError *error)
{
    const BrioMesh *mesh = plan->mesh;
    BRIO_CHECK(brio__affine_body(mesh, &plan->affine, error));
    plan->point_mass =
        plan->values[brio__fields_offset(plan->energy->fields, "rho")] * plan->affine.volume / 4;
    if (!(plan->point_mass > 0) || isinf(plan->point_mass))
        return brio__error(error, BRIO_ERROR_INPUT, "the body would have mass %g kg",
                           4 * plan->point_mass);
    plan->weight = brio__alloc((size_t)mesh->vertex_count * 4, sizeof(double));
    if (!plan->weight) return brio__no_memory(error);
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        brio__affine_weights(&plan->affine, mesh->x + 3 * v, plan->weight + 4 * v);
    return BRIO_OK;
}

BrioStatus brio__build_masses(const BrioBuilder *b, BrioSystem *s)
{
    s->vertex_mass = brio__calloc((size_t)s->vertex_count, sizeof(double));
    s->mass = brio__calloc((size_t)s->block_count, sizeof(double));
    if (!s->vertex_mass || !s->mass) return BRIO_ERROR_MEMORY;
    for (int i = 0; i < b->body_count; i++) {
        int64_t count, first = brio__body_masses(&s->body[i], &count);
        for (int64_t v = 0; v < count; v++) {
            int32_t k = s->map_start[first + v];
            const BrioBodyPlan *plan = &b->body[i];
            if (s->body[i].cage)
                s->vertex_mass[first + v] = brio__cage_mass(plan, &s->body[i], v);
            else
                s->vertex_mass[first + v] = plan->weight ? plan->point_mass : plan->mass[v];
            if (k < s->map_start[first + v + 1])
                s->mass[s->map_block[k]] = s->vertex_mass[first + v];
        }
    }
    return BRIO_OK;
}
