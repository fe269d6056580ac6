/* Obstacles: those with a formula for the signed distance (planes, solids, height fields), and
 * meshes of triangles, segments or points that stand still or follow a script (barriers). They are
 * numbered together in the order of the calls. */
#include "build.h"

#include "../handle.h"

BrioObstacleDef brio_default_obstacle(void)
{
    return (BrioObstacleDef){.linear = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
}

/* The next obstacle's: the lowest that is free. */
int brio__obstacle_number(const BrioBuilder *builder)
{
    int number = 0;
    while (number < builder->obstacle_count && !builder->obstacle[number].removed) number++;
    return number;
}

/* Takes over the mesh, which may be NULL. */
static BrioStatus add_obstacle(BrioBuilder *builder, const char *name, int analytic, BrioMesh *mesh,
                               int script, BrioError *error)
{
    char default_name[32];
    int number = brio__obstacle_number(builder);
    for (int k = number; !name; k++) { /* another may have the name of this number */
        snprintf(default_name, sizeof default_name, "obstacle%d", k);
        if (brio__builder_find_obstacle(builder, default_name) < 0) name = default_name;
    }
    BrioStatus status = BRIO_OK;
    if (!name[0])
        status = brio__error(error, BRIO_ERROR_INPUT, "an obstacle's name must not be empty");
    if (status == BRIO_OK) status = brio__check_name("an obstacle", name, error);
    if (status == BRIO_OK && brio__builder_find_obstacle(builder, name) >= 0)
        status = brio__error(error, BRIO_ERROR_INPUT,
                             "two obstacles are called \"%s\": give each a name of its own", name);
    BrioObstaclePlan *grown = status != BRIO_OK ? NULL
                              : number < builder->obstacle_count
                                  ? builder->obstacle
                                  : brio__room_for_one(builder->obstacle, number, sizeof *grown);
    if (grown) builder->obstacle = grown;
    char *copy = grown ? brio__strdup(name) : NULL;
    if (status == BRIO_OK && !copy) status = brio__no_memory(error);
    if (status != BRIO_OK) {
        brio_mesh_free(mesh);
        return status;
    }
    if (number < builder->obstacle_count)
        brio__free(builder->obstacle[number].name);
    else
        builder->obstacle_count++;
    builder->obstacle[number] =
        (BrioObstaclePlan){.name = copy, .analytic = analytic, .mesh = mesh, .script = script};
    if (mesh) builder->obstacle_vertices += mesh->vertex_count;
    return BRIO_OK;
}

BrioStatus brio_builder_obstacle(BrioBuilder *builder, const BrioObstacleDef *def, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder) && def, error);
    BrioMesh *mesh = NULL;
    int script;
    BRIO_CHECK(brio__builder_open(builder, error));
    if (!def->mesh || def->mesh->vertex_count == 0)
        return brio__error(error, BRIO_ERROR_INPUT, "an obstacle needs a mesh");
    BRIO_CHECK(brio__mesh_check(def->mesh, error));
    BRIO_CHECK(brio__plan_mesh(def->mesh, def->linear, def->translate, &mesh, error));
    BrioStatus status = mesh->tet_count ? brio__mesh_surface(mesh, error) : BRIO_OK;
    if (def->mesh->faces && !mesh->tet_count &&
        brio__faces_triangles(def->mesh->faces) == mesh->triangle_count &&
        !(mesh->faces = brio__faces_copy(def->mesh->faces)))
        status = brio__no_memory(error);
    if (status == BRIO_OK && mesh->triangle_count > 0)
        mesh->edge_count = 0; /* the surface is what bodies meet */
    else if (status == BRIO_OK && mesh->edge_count > 0)
        status = brio__mesh_check_springs(mesh, error);
    if (status == BRIO_OK)
        status = brio__plan_script(builder, def->script,
                                   &(BrioScriptPoints){.count = mesh->vertex_count,
                                                       .of = mesh->vertex_count,
                                                       .base = mesh->x,
                                                       .linear = def->linear,
                                                       .translate = def->translate},
                                   &script, error);
    if (status == BRIO_OK) return add_obstacle(builder, def->name, -1, mesh, script, error);
    brio_mesh_free(mesh);
    return status;
}

static BrioStatus add_analytic(BrioBuilder *builder, const char *name,
                               const BrioFormulaPlan *analytic, BrioError *error)
{
    BrioFormulaPlan *grown =
        brio__room_for_one(builder->analytic, builder->analytic_count, sizeof *analytic);
    if (!grown) return brio__no_memory(error);
    builder->analytic = grown;
    BRIO_CHECK(add_obstacle(builder, name, builder->analytic_count, NULL, 0, error));
    grown[builder->analytic_count++] = *analytic;
    return BRIO_OK;
}

BrioStatus brio_builder_plane(BrioBuilder *builder, const char *name, const double point[3],
                              const double normal[3], BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder) && point && normal, error);
    BrioFormulaPlan created = {.type = brio__obstacle_type("plane"),
                               .obstacle = brio__obstacle_number(builder)};
    const double values[6] = {point[0], point[1], point[2], normal[0], normal[1], normal[2]};
    BRIO_CHECK(brio__builder_open(builder, error));
    BRIO_CHECK(created.type->prepare(values, created.data, error));
    return add_analytic(builder, name, &created, error);
}

BrioStatus brio_builder_solid(BrioBuilder *builder, const char *name, const char *shape,
                              const double *values, const double linear[9],
                              const double translate[3], BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder) && shape && values && linear && translate, error);
    const BrioField *fields = brio_shape_fields(shape);
    BrioFormulaPlan created = {.type = brio__obstacle_type(shape),
                               .obstacle = brio__obstacle_number(builder)};
    BRIO_CHECK(brio__builder_open(builder, error));
    if (!created.type || !fields)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "there is no formula for the distance from a %s (`brio list obstacles` "
                           "names those that have one): use one of them, or triangles with "
                           "contact of type ipc",
                           shape);
    BRIO_CHECK(brio__fields_check(fields, values, error));
    double own[BRIO_MAX_VALUES]; /* without what divides a shape into cells */
    int count = 0;
    for (const BrioField *f = created.type->fields; f->name; f++)
        for (int k = 0; k < brio__field_width(f); k++)
            own[count++] = values[brio__fields_offset(fields, f->name) + k];
    BRIO_CHECK(brio__obstacle_place(created.type, own, linear, translate, created.data, error));
    return add_analytic(builder, name, &created, error);
}

BrioStatus brio_builder_heightfield(BrioBuilder *builder, const char *name, int columns, int rows,
                                    const double *height, double spacing, const double linear[9],
                                    const double translate[3], BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder) && height && linear && translate, error);
    BrioFormulaPlan created = {.type = brio__obstacle_type("heightfield"),
                               .obstacle = brio__obstacle_number(builder)};
    BRIO_CHECK(brio__builder_open(builder, error));
    BRIO_CHECK(
        brio__obstacle_place(created.type, &spacing, linear, translate, created.data, error));
    BRIO_CHECK(created.type->table(&spacing, columns, rows, height, &created.table, error));
    BrioStatus status = add_analytic(builder, name, &created, error);
    if (status != BRIO_OK) brio__free(created.table);
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

BrioStatus brio__build_obstacles(const BrioBuilder *b, BrioSystem *s)
{
    int64_t first = s->vertex_count - b->obstacle_vertices;
    s->obstacle = brio__calloc((size_t)b->obstacle_count, sizeof *s->obstacle);
    if (!s->obstacle) return BRIO_ERROR_MEMORY;
    s->obstacle_count = b->obstacle_count;
    for (int i = 0; i < b->obstacle_count; i++) {
        const BrioObstaclePlan *plan = &b->obstacle[i];
        const BrioMesh *mesh = plan->mesh;
        BrioObstacle *to = &s->obstacle[i];
        const double *table = plan->analytic >= 0 ? b->analytic[plan->analytic].table : NULL;
        *to = (BrioObstacle){.name = brio__strdup(plan->name),
                             .analytic = plan->analytic,
                             .first = first,
                             .bends = plan->bends};
        if (table) to->table = brio__copy_of(table, (int64_t)table[0], sizeof *table);
        if (!to->name || (table && !to->table)) return BRIO_ERROR_MEMORY;
        if (!mesh) continue;
        to->count = mesh->vertex_count;
        to->triangle_count = mesh->triangle_count;
        to->edge_count = mesh->edge_count;
        if (!brio__copy_indices(mesh->triangle, 3 * mesh->triangle_count, &to->triangle) ||
            !brio__copy_indices(mesh->edge, 2 * mesh->edge_count, &to->edge))
            return BRIO_ERROR_MEMORY;
        if (mesh->faces && !(to->faces = brio__faces_copy(mesh->faces))) return BRIO_ERROR_MEMORY;
        first += mesh->vertex_count;
    }
    return BRIO_OK;
}
