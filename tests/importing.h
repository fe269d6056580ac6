/* What the tests of imports share: meshes of brio's own shapes as files. */
#ifndef BRIO_TESTS_IMPORTING_H
#define BRIO_TESTS_IMPORTING_H

#include "program.h"

#include "mesh/mesh.h"

/* A shape with the first values of its table replaced, written as `name`. */
static inline void write_shape(const char *shape, const double *size, int sizes, const char *name)
{
    double values[BRIO_MAX_VALUES];
    BrioMesh *mesh;
    const BrioMeshWriter *w;
    char note[320];
    brio_fields_defaults(brio_shape_fields(shape), values);
    for (int i = 0; i < sizes; i++) values[i] = size[i];
    assert_int_equal(brio_mesh_shape(shape, values, &mesh, NULL), BRIO_OK);
    assert_int_equal(brio__mesh_writer(name, &w, NULL), BRIO_OK);
    assert_int_equal(brio__mesh_fit(w, mesh, note, sizeof note, NULL), BRIO_OK);
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    w->write(mesh, true, file);
    assert_int_equal(fclose(file), 0);
    brio_mesh_free(mesh);
}

/* A file below tests/ into the work folder; false: it is not there. */
static inline bool copy_input(const char *from, const char *to)
{
    char path[512];
    size_t size = 0;
    snprintf(path, sizeof path, BRIO_SOURCE_DIR "/tests/%s", from);
    char *text = read_all(path, &size);
    if (!text) return false;
    write_bytes(to, text, size);
    free(text);
    return true;
}

#endif
