/* The registry of procedural shapes. */
#include "shapes.h"

#include <string.h>

static const BrioShape *const shapes[] = {
#define SHAPE(symbol) &brio__shape_##symbol,
#include "shapes.def"
#undef SHAPE
};

const BrioShape *brio__shape_at(int i)
{
    return i >= 0 && i < (int)BRIO_COUNT(shapes) ? shapes[i] : NULL;
}

const BrioShape *brio__shape(const char *name)
{
    for (size_t i = 0; name && i < BRIO_COUNT(shapes); i++)
        if (!strcmp(shapes[i]->name, name)) return shapes[i];
    return NULL;
}

const char *brio_shape_at(int i) { return brio__shape_at(i) ? brio__shape_at(i)->name : NULL; }

const BrioField *brio_shape_fields(const char *shape)
{
    const BrioShape *found = brio__shape(shape);
    return found ? found->fields : NULL;
}

BrioStatus brio_mesh_shape(const char *shape, const double *values, BrioMesh **mesh,
                           BrioError *error)
{
    if (error) *error = (BrioError){0};
    if (!mesh) return brio__error(error, BRIO_ERROR_ARGUMENT, "mesh is NULL");
    *mesh = NULL;
    const BrioShape *found = brio__shape(shape);
    if (!found) {
        const char *names[BRIO_COUNT(shapes)];
        char list[512] = "";
        for (size_t i = 0; i < BRIO_COUNT(shapes); i++) {
            names[i] = shapes[i]->name;
            size_t used = strlen(list);
            snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
        }
        const char *nearest = shape ? brio__nearest(shape, names, (int)BRIO_COUNT(names)) : NULL;
        if (nearest)
            return brio__error(error, BRIO_ERROR_ARGUMENT,
                               "no shape \"%.80s\"; did you mean \"%s\"?", shape, nearest);
        return brio__error(error, BRIO_ERROR_ARGUMENT, "no shape \"%.80s\"; there are %s",
                           shape ? shape : "", list);
    }
    double standard[BRIO_MAX_VALUES];
    if (!values) {
        brio_fields_defaults(found->fields, standard);
        values = standard;
    }
    BRIO_CHECK(brio__fields_check(found->fields, values, error));
    return found->make(values, mesh, error);
}
