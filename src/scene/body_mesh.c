/* What a body is made of and what is seen of it: `shape` or `mesh`, `springs`, `surface`. */
#include "bodies.h"

#include "../mesh/tetrahedralise.h"

#include <string.h>

typedef struct Surface {
    int linear; /* weights: each point follows its tet alone */
} Surface;

static const BrioKey surface_keys[] = {
    {KEY_FILE("mesh",
              "File of the surface, relative to the scene file. Its coordinates are those of the "
              "body's mesh. Polygons, textures and groups of an OBJ file are kept."),
     KEY_REQUIRED},
    {KEY_CHOICE("weights", "smooth|linear", 0,
                "How points follow the tets. smooth: without creases. linear: each point follows "
                "its own tet only."),
     KEY_INTO(Surface, linear)},
    KEY_END};
BRIO_SECTION(surface){"bodies[].surface", "A detailed surface", surface_keys};

/* A surface as a solid: tets fill it. */
static BrioStatus fill_surface(BrioBodyWork *w, const BrioNode *mesh, const char *path,
                               BrioError *error)
{
    BrioTetOptions options = {.edge = isnan(w->edge) ? 0 : w->edge};
    BrioError inner = {0};
    BrioMesh *solid = NULL;
    BrioStatus status = brio__tetrahedralise_cached(path, w->mesh, &options, &solid, &inner);
    if (status != BRIO_OK) return brio__at_node(mesh, status, error, &inner);
    solid->groups = w->mesh->groups; /* the vertices of the surface come first */
    w->mesh->groups = NULL;
    if (w->mesh->faces)
        w->filled = w->mesh;
    else
        brio_mesh_free(w->mesh);
    w->mesh = solid;
    return BRIO_OK;
}

static BrioStatus read_mesh_file(BrioBodyWork *w, const BrioNode *mesh, BrioError *error)
{
    char path[4096];
    BrioError inner = {0};
    BRIO_CHECK(brio__file_path(w->scene, mesh, path, sizeof path, error));
    BrioStatus status = brio_mesh_read(path, &w->mesh, &inner);
    if (status != BRIO_OK) return brio__at_node(mesh, status, error, &inner);
    bool surface = w->mesh->tet_count == 0 && w->mesh->triangle_count > 0;
    if (surface && w->def.cage && isnan(w->edge)) return BRIO_OK;
    if (surface && w->def.kind == BRIO_KIND_SOLID) return fill_surface(w, mesh, path, error);
    if (isnan(w->edge)) return BRIO_OK;
    return brio__node_error(
        brio__node_get(w->node, "edge"), error,
        surface ? "edge needs kind: solid, which fills the surface with tets"
                : "edge is for surfaces to be filled with tets, and this mesh is not one");
}

static BrioStatus read_shape(BrioBodyWork *w, BrioNode *shape, BrioError *error)
{
    const char *type, *names[64];
    double values[BRIO_MAX_VALUES];
    int count = 0;
    BrioError inner = {0};
    if (!isnan(w->edge))
        return brio__node_error(
            brio__node_get(w->node, "edge"), error,
            "edge is for the mesh of a surface; a shape has numbers of its own for that");
    BRIO_CHECK(brio__type_of(shape, &type, error));
    for (; count < (int)BRIO_COUNT(names) && brio__shape_at(count); count++)
        names[count] = brio__shape_at(count)->name;
    if (!brio__shape(type))
        return brio__no_such(brio__type_node(shape), "shape", type, names, count, error);
    BRIO_CHECK(brio__values_of(shape, brio__shape(type)->fields, values, error));
    BrioStatus status = brio_mesh_shape(type, values, &w->mesh, &inner);
    return status == BRIO_OK ? BRIO_OK : brio__at_node(shape, status, error, &inner);
}

BrioStatus brio__read_body_mesh(BrioBodyWork *w, BrioError *error)
{
    BrioNode *shape = brio__node_get(w->node, "shape");
    BrioNode *mesh = brio__node_get(w->node, "mesh");
    /* --set bodies.0.shape=null --set bodies.0.mesh=FILE */
    if (shape && shape->kind == BRIO_NODE_SCALAR && !shape->quoted && !strcmp(shape->text, "null"))
        shape = NULL;
    if (!shape == !mesh)
        return brio__node_error(w->node, error,
                                shape ? "give shape or mesh, not both"
                                      : "missing key: a body needs a shape or a mesh");
    return mesh ? read_mesh_file(w, mesh, error) : read_shape(w, shape, error);
}

/* Springs from a file replace the edges of the mesh. */
BrioStatus brio__read_springs(BrioBodyWork *w, BrioError *error)
{
    BrioNode *node = brio__node_get(w->node, "springs");
    if (!node) return BRIO_OK;
    char path[4096];
    double *table;
    int64_t rows;
    BRIO_CHECK(brio__file_path(w->scene, node, path, sizeof path, error));
    BRIO_CHECK(brio__csv_read(path, 4, &table, &rows, error));
    brio__free(w->mesh->edge);
    brio__free(w->mesh->edge_kind);
    w->mesh->edge_kind = NULL;
    w->mesh->edge = brio__alloc((size_t)rows * 2, sizeof *w->mesh->edge);
    w->spring = brio__alloc((size_t)rows * 2, sizeof *w->spring);
    w->mesh->edge_count = w->mesh->edge ? rows : 0;
    BrioStatus status = w->mesh->edge && w->spring ? BRIO_OK : brio__no_memory(error);
    for (int64_t i = 0; status == BRIO_OK && i < rows; i++)
        for (int k = 0; status == BRIO_OK && k < 2; k++) {
            double v = table[4 * i + k];
            if (v != floor(v) || v < 0 || v >= (double)w->mesh->vertex_count)
                status =
                    brio__error_at(error, BRIO_ERROR_INPUT, path, 0, 0, NULL,
                                   "spring %lld names vertex %g: the body has vertices 0 to %lld",
                                   (long long)i, v, (long long)w->mesh->vertex_count - 1);
            else
                w->mesh->edge[2 * i + k] = (int32_t)v;
            w->spring[2 * i + k] = table[4 * i + 2 + k];
        }
    brio__free(table);
    w->def.spring = w->spring;
    return status;
}

/* What is to be seen of a body, until there is a system to give it to. */
struct BrioAppearance {
    BrioFaces *faces; /* of its own mesh */
    BrioSkin *skin;   /* a surface that rides on it */
};

static struct BrioAppearance *add_appearance(BrioScene *scene)
{
    if ((scene->appearance_count & (scene->appearance_count - 1)) == 0) { /* a power of two: full */
        struct BrioAppearance *grown =
            brio__realloc(scene->appearance, (size_t)scene->appearance_count,
                          2 * (size_t)scene->appearance_count + 1, sizeof *grown);
        if (!grown) return NULL;
        scene->appearance = grown;
    }
    scene->appearance[scene->appearance_count] = (struct BrioAppearance){0};
    return &scene->appearance[scene->appearance_count++];
}

void brio__scene_free_looks(BrioScene *scene)
{
    for (int i = 0; i < scene->appearance_count; i++) {
        brio__faces_free(scene->appearance[i].faces);
        brio__skin_free(scene->appearance[i].skin);
    }
    brio__free(scene->appearance);
    scene->appearance = NULL;
    scene->appearance_count = 0;
}

BrioStatus brio__scene_give_looks(BrioScene *scene, BrioError *error)
{
    for (int i = 0; i < scene->appearance_count; i++) {
        BrioBody *body = &scene->system->body[i];
        struct BrioAppearance *appearance = &scene->appearance[i];
        body->skin = appearance->skin;
        appearance->skin = NULL;
        if (body->triangle_count == 0) { /* a body of points shows them, and no faces */
            brio__faces_free(appearance->faces);
            appearance->faces = NULL;
        }
        if (appearance->faces && brio__skin_faces(appearance->faces, body->triangle,
                                                  body->triangle_count, &body->skin) != BRIO_OK)
            return brio__no_memory(error);
    }
    brio__scene_free_looks(scene);
    return BRIO_OK;
}

/* A filled surface is seen as its file has it, on the first vertices of the body. */
static BrioStatus show_filled(BrioBodyWork *w, BrioSkin **skin, BrioError *error)
{
    const BrioMesh *surface = w->filled, *mesh = w->mesh;
    size_t size = 3 * (size_t)surface->vertex_count;
    BrioEmbedding how;
    double *points = brio__alloc(size, sizeof *points);
    if (!points) return brio__no_memory(error);
    for (int64_t v = 0; v < surface->vertex_count; v++)
        brio__body_place(&w->def, surface->x + 3 * v, points + 3 * v);
    bool first = mesh->vertex_count >= surface->vertex_count &&
                 !memcmp(mesh->x, surface->x, size * sizeof *points);
    BrioStatus status =
        first ? brio__skin_carry(surface, points, skin)
              : brio__skin_embed(w->scene->rest + 3 * w->first, mesh->vertex_count, mesh->tet,
                                 mesh->tet_count, surface, points, false, &how, skin);
    brio__free(points);
    return status == BRIO_OK ? BRIO_OK : brio__no_memory(error);
}

static BrioStatus embed(BrioBodyWork *w, const BrioNode *node, const BrioMesh *surface, bool smooth,
                        BrioSkin **skin, BrioError *error)
{
    const BrioMesh *mesh = w->mesh;
    BrioEmbedding how;
    if (mesh->tet_count == 0)
        return brio__node_error(node, error,
                                "a surface needs tets that carry it, and the body's mesh has "
                                "none; give a mesh of tets, or use the surface itself as mesh");
    if (surface->triangle_count == 0)
        return brio__node_error(node, error, "the surface has no triangles");
    double *points = brio__alloc(3 * (size_t)surface->vertex_count, sizeof *points);
    if (!points) return brio__no_memory(error);
    for (int64_t v = 0; v < surface->vertex_count; v++)
        brio__body_place(&w->def, surface->x + 3 * v, points + 3 * v);
    BrioStatus status =
        brio__skin_embed(w->scene->rest + 3 * w->first, mesh->vertex_count, mesh->tet,
                         mesh->tet_count, surface, points, smooth, &how, skin);
    brio__free(points);
    if (status != BRIO_OK) return brio__no_memory(error);
    if (how.far)
        brio__log(BRIO_LOG_WARNING,
                  "%s:%d: %lld of %lld points of the surface are far outside the tets, no. %lld "
                  "by %.3g m: they follow the nearest tet, which may look torn; make the tets "
                  "enclose the surface, and give both in the same position and unit",
                  w->scene->file, node->line, (long long)how.far, (long long)surface->vertex_count,
                  (long long)how.farthest, how.distance);
    return BRIO_OK;
}

BrioStatus brio__read_surface(BrioBodyWork *w, BrioError *error)
{
    BrioNode *node = brio__node_get(w->node, "surface"), *file = node;
    BrioMesh *surface = NULL;
    BrioError inner = {0};
    Surface values;
    char path[4096];
    struct BrioAppearance *appearance = add_appearance(w->scene);
    if (!appearance) return brio__no_memory(error);
    if (!node && w->filled) return show_filled(w, &appearance->skin, error);
    if (!node) {
        appearance->faces = w->mesh->faces;
        w->mesh->faces = NULL;
        return BRIO_OK;
    }
    brio__key_defaults(surface_keys, &values);
    if (node->kind == BRIO_NODE_MAP) {
        BRIO_CHECK(brio__read_keys(node, surface_keys, &values, error));
        file = brio__node_get(node, "mesh");
    }
    BRIO_CHECK(brio__file_path(w->scene, file, path, sizeof path, error));
    BrioStatus status = brio_mesh_read(path, &surface, &inner);
    if (status == BRIO_OK && surface->tet_count) status = brio__mesh_surface(surface, &inner);
    status = status == BRIO_OK ? embed(w, file, surface, !values.linear, &appearance->skin, error)
                               : brio__at_node(file, status, error, &inner);
    brio_mesh_free(surface);
    return status;
}
