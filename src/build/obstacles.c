/* Obstacles: planes, solids with a signed distance (penalty contact), and triangles that stand
 * still or follow a script (barriers). They are numbered together in the order of the calls. */
#include "build.h"

/* Solids of penalty contact. */
typedef enum Solid { SPHERE, BOX, CYLINDER, CAPSULE, SOLIDS } Solid;

BrioObstacleDef brio_default_obstacle(void)
{
    return (BrioObstacleDef){.linear = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
}

/* Takes over the mesh, which may be NULL. */
static BrioStatus add_obstacle(BrioBuilder *builder, const char *name, int plane, BrioMesh *mesh,
                               int script, BrioError *error)
{
    char default_name[32];
    snprintf(default_name, sizeof default_name, "obstacle%d", builder->obstacle_count);
    if (!name) name = default_name;
    BrioStatus status = BRIO_OK;
    if (!name[0])
        status = brio__error(error, BRIO_ERROR_INPUT, "an obstacle's name must not be empty");
    if (brio__builder_find_obstacle(builder, name) >= 0)
        status = brio__error(error, BRIO_ERROR_INPUT,
                             "two obstacles are called \"%s\": give each a name of its own", name);
    BrioObstaclePlan *grown =
        status == BRIO_OK
            ? brio__room_for_one(builder->obstacle, builder->obstacle_count, sizeof *grown)
            : NULL;
    if (grown) builder->obstacle = grown;
    char *copy = grown ? brio__strdup(name) : NULL;
    if (status == BRIO_OK && !copy) status = brio__no_memory(error);
    if (status != BRIO_OK) {
        brio_mesh_free(mesh);
        return status;
    }
    builder->obstacle[builder->obstacle_count++] = (BrioObstaclePlan){copy, plane, mesh, script};
    if (mesh) builder->obstacle_vertices += mesh->vertex_count;
    return BRIO_OK;
}

BrioStatus brio_builder_obstacle(BrioBuilder *builder, const BrioObstacleDef *def, BrioError *error)
{
    BrioMesh *mesh = NULL;
    int script;
    BRIO_CHECK(brio__builder_open(builder, error));
    if (!def->mesh || def->mesh->vertex_count == 0)
        return brio__error(error, BRIO_ERROR_INPUT, "an obstacle needs a mesh");
    BRIO_CHECK(brio__mesh_check(def->mesh, error));
    BRIO_CHECK(brio__plan_mesh(def->mesh, def->linear, def->translate, &mesh, error));
    BrioStatus status = mesh->tet_count ? brio__mesh_surface(mesh, error) : BRIO_OK;
    if (status == BRIO_OK && mesh->triangle_count == 0)
        status = brio__error(error, BRIO_ERROR_INPUT,
                             "an obstacle needs triangles, and this mesh has none");
    if (status == BRIO_OK) status = brio__plan_script(builder, def->script, &script, error);
    if (status == BRIO_OK) return add_obstacle(builder, def->name, -1, mesh, script, error);
    brio_mesh_free(mesh);
    return status;
}

static BrioStatus add_plane(BrioBuilder *builder, const char *name, const BrioFormulaPlan *plane,
                            BrioError *error)
{
    BrioFormulaPlan *grown =
        brio__room_for_one(builder->plane, builder->plane_count, sizeof *plane);
    if (!grown) return brio__no_memory(error);
    builder->plane = grown;
    BRIO_CHECK(add_obstacle(builder, name, builder->plane_count, NULL, 0, error));
    grown[builder->plane_count++] = *plane;
    return BRIO_OK;
}

BrioStatus brio_builder_plane(BrioBuilder *builder, const char *name, const double point[3],
                              const double normal[3], BrioError *error)
{
    BrioFormulaPlan made = {.obstacle = builder->obstacle_count};
    BRIO_CHECK(brio__builder_open(builder, error));
    double length = brio__hypot3(normal);
    if (!(length > 0) || isinf(length))
        return brio__error(
            error, BRIO_ERROR_INPUT,
            "the normal [%g, %g, %g] of a plane must have a finite length, and not none", normal[0],
            normal[1], normal[2]);
    for (int r = 0; r < 3; r++) {
        made.data[r] = point[r];
        made.data[3 + r] = normal[r] / length;
        if (!isfinite(point[r]))
            return brio__error(error, BRIO_ERROR_INPUT, "the point of a plane is not finite");
    }
    return add_plane(builder, name, &made, error);
}

/* Half the extents and the radius of a solid of penalty contact: a sphere and a capsule are boxes
 * rounded by their radius. */
static BrioStatus solid_size(Solid kind, const char *shape, const double *values,
                             BrioFormulaPlan *made, BrioError *error)
{
    double *half = made->data + 9, *radius = made->data + 12;
    const BrioField *fields = brio_shape_fields(shape);
    BRIO_CHECK(brio__fields_check(fields, values, error));
    int size = brio__fields_offset(fields, "size");
    int round = brio__fields_offset(fields, "radius");
    int height = brio__fields_offset(fields, "height");
    if (kind == BOX) {
        for (int r = 0; r < 3; r++) half[r] = values[size + r] / 2;
    } else if (kind == CYLINDER) {
        made->solid = "cylinder-penalty";
        half[0] = half[2] = values[round];
        half[1] = values[height] / 2;
    } else {
        *radius = values[round];
        if (kind == CAPSULE) half[1] = values[height] / 2 - values[round];
        if (half[1] < 0)
            return brio__error(error, BRIO_ERROR_INPUT,
                               "height = %g m is less than twice the radius = %g m", values[height],
                               values[round]);
    }
    return BRIO_OK;
}

/* Centre and two axes of a solid; `linear` must be a rotation. */
static BrioStatus solid_place(const char *shape, const double linear[9], const double translate[3],
                              BrioFormulaPlan *made, BrioError *error)
{
    for (int r = 0; r < 3; r++) {
        made->data[r] = translate[r];
        if (!isfinite(translate[r]))
            return brio__error(error, BRIO_ERROR_INPUT, "the place of a solid is not finite");
        for (int c = 0; c < 3; c++) {
            double dot = 0;
            for (int k = 0; k < 3; k++) dot += linear[3 * k + r] * linear[3 * k + c];
            if (!(fabs(dot - (r == c)) < 1e-9))
                return brio__error(error, BRIO_ERROR_INPUT,
                                   "a solid of contact of type penalty cannot be scaled: give its "
                                   "size by the keys of the %s",
                                   shape);
            if (c < 2) made->data[3 + 3 * c + r] = linear[3 * r + c]; /* axes are columns */
        }
    }
    return BRIO_OK;
}

BrioStatus brio_builder_solid(BrioBuilder *builder, const char *name, const char *shape,
                              const double *values, const double linear[9],
                              const double translate[3], BrioError *error)
{
    static const char *const shapes[] = {
        [SPHERE] = "sphere", [BOX] = "box", [CYLINDER] = "cylinder", [CAPSULE] = "capsule"};
    BrioFormulaPlan made = {.obstacle = builder->obstacle_count, .solid = "box-penalty"};
    Solid kind = SPHERE;
    BRIO_CHECK(brio__builder_open(builder, error));
    while (kind < SOLIDS && strcmp(shapes[kind], shape)) kind++;
    if (kind == SOLIDS)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "contact of type penalty knows planes, spheres, boxes, cylinders and "
                           "capsules only: take one of them, or type: ipc");
    BRIO_CHECK(solid_size(kind, shape, values, &made, error));
    BRIO_CHECK(solid_place(shape, linear, translate, &made, error));
    return add_plane(builder, name, &made, error);
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
        BrioObstaclePlan *plan = &b->obstacle[i];
        s->obstacle[i] = (BrioObstacle){.name = plan->name, .plane = plan->plane, .first = first};
        plan->name = NULL;
        if (!plan->mesh) continue;
        s->obstacle[i].count = plan->mesh->vertex_count;
        s->obstacle[i].triangle_count = plan->mesh->triangle_count;
        s->obstacle[i].triangle = plan->mesh->triangle;
        plan->mesh->triangle = NULL;
        first += plan->mesh->vertex_count;
    }
    return BRIO_OK;
}
