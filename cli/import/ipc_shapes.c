/* Shapes and obstacles of a scene of IPC: their meshes, placements, boundary conditions. A shape is
 * x = R S X + t with R = Rx Ry Rz. */
#include "ipc.h"

#include <string.h>
#include <unistd.h>

/* Rx Ry Rz, the angles in degrees. */
static void turn_euler(const double degrees[3], double out[3][3])
{
    double part[3][3];
    import_turn((const double[]){1, 0, 0}, degrees[0] * PI / 180, out);
    import_turn((const double[]){0, 1, 0}, degrees[1] * PI / 180, part);
    import_multiply(out, part, out);
    import_turn((const double[]){0, 0, 1}, degrees[2] * PI / 180, part);
    import_multiply(out, part, out);
}

/* ---- meshes ----------------------------------------------------------------------------- */

/* Beside the scene, or in a folder above it; false: not there. */
bool ipc_find_file(const Reader *r, const char *given, char *path, size_t size)
{
    const char *slash = strrchr(r->name, '/');
    char folder[3000];
    if (given[0] == '/') {
        snprintf(path, size, "%s", given);
        return access(path, R_OK) == 0;
    }
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - r->name) + 1 : 2,
             slash ? r->name : "./");
    for (int up = 0; up < 8; up++) {
        if (snprintf(path, size, "%s%s", folder, given) < (int)size && access(path, R_OK) == 0)
            return true;
        if (strlen(folder) + 4 > sizeof folder) break;
        strcat(folder, "../");
    }
    return false;
}

static BrioStatus no_file(const Reader *r, int word)
{
    const char *given = r->word[word];
    if (given[0] == '/') return ipc_fail(r, word, "there is no file %.200s", given);
    return ipc_fail(r, word,
                    "there is no file \"%.200s\" next to the scene or in a folder above it; put "
                    "it there, or correct the name",
                    given);
}

void ipc_place(const Shape *s, const double *X, double *x)
{
    double y[3];
    for (int k = 0; k < 3; k++) y[k] = s->scale[k] * X[k];
    import_apply(((Shape *)s)->rotate, y, x);
    for (int k = 0; k < 3; k++) x[k] += s->translate[k];
}

Shape *ipc_add_shape(Reader *r)
{
    Scene *s = r->scene;
    if (s->shapes == s->shape_room) {
        int room = BRIO_MAX(8, 2 * s->shape_room);
        Shape *grown = brio__realloc(s->shape, (size_t)s->shapes, (size_t)room, sizeof *grown);
        if (!grown) return NULL;
        s->shape = grown;
        s->shape_room = room;
    }
    Shape *shape = &s->shape[s->shapes++];
    *shape = (Shape){.line = r->line,
                     .scale = {1, 1, 1},
                     .rotate = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                     .density = -1,
                     .E = -1,
                     .nu = -1,
                     .count = {1, 1, 1}};
    return shape;
}

BrioStatus ipc_no_memory(const Reader *r)
{
    return brio__error(r->error, BRIO_ERROR_MEMORY, "out of memory");
}

/* x.pt and x.seg; where they are missing, the vertices or edges of x.obj, as the other code has
 * it. */
static BrioStatus take_parts(Reader *r, int word, char *path, size_t size, BrioMesh **mesh,
                             Extract extract)
{
    char other[1024];
    if (ipc_find_file(r, r->word[word], path, size)) return brio_mesh_read(path, mesh, r->error);
    const char *dot = strrchr(r->word[word], '.');
    snprintf(other, sizeof other, "%.*s.obj", (int)BRIO_MIN(dot - r->word[word], 1000),
             r->word[word]);
    if (!ipc_find_file(r, other, path, size)) return no_file(r, word);
    BRIO_CHECK(brio_mesh_read(path, mesh, r->error));
    if (extract == EXTRACT_SEGMENTS && (*mesh)->edge_count == 0)
        BRIO_CHECK(brio__mesh_edges_from_triangles(*mesh));
    (*mesh)->triangle_count = 0;
    if (extract == EXTRACT_POINTS) (*mesh)->edge_count = 0;
    return BRIO_OK;
}

BrioStatus ipc_take_mesh(Reader *r, char *path, size_t size, BrioMesh **mesh, Extract *extract,
                         bool *lost)
{
    const char *word;
    BRIO_CHECK(ipc_take_word(r, "the name of a mesh", &word));
    const char *dot = strrchr(word, '.');
    *extract = dot && !strcmp(dot, ".seg")  ? EXTRACT_SEGMENTS
               : dot && !strcmp(dot, ".pt") ? EXTRACT_POINTS
                                            : EXTRACT_ALL;
    if (*extract != EXTRACT_ALL) {
        *lost = !import_reads(dot);
        return take_parts(r, r->used - 1, path, size, mesh, *extract);
    }
    if (!ipc_find_file(r, word, path, size)) return no_file(r, r->used - 1);
    return brio_mesh_read(path, mesh, r->error);
}

/* ---- shapes ----------------------------------------------------------------------------- */

const char *ipc_part_name(Extract extract)
{
    return extract == EXTRACT_POINTS ? "points (.pt)" : "segments (.seg)";
}

BrioStatus ipc_take_shape_mesh(Reader *r, Shape *shape)
{
    BRIO_CHECK(ipc_take_mesh(r, shape->path, sizeof shape->path, &shape->mesh, &shape->extract,
                             &shape->lost));
    const char *dot = strrchr(shape->path, '.');
    bool solid = dot && (!strcmp(dot, ".msh") || !strcmp(dot, ".ele") || !strcmp(dot, ".mesh"));
    if (solid && brio__mesh_is_flat(shape->mesh))
        return ipc_fail(r, r->used - 1,
                        "the mesh %.200s is two-dimensional (flat triangles, no tets); brio "
                        "imports scenes in three dimensions",
                        shape->path);
    if (shape->lost)
        import_loss(r->report, shape->line, "shape: brio has no obstacles of %s; left out",
                    ipc_part_name(shape->extract));
    return BRIO_OK;
}

static BrioStatus take_extras(Reader *r, Shape *shape)
{
    while (r->used < r->words) {
        const char *word = r->word[r->used++];
        double v[12];
        if (word[0] == '#') break;
        if (!strcmp(word, "material")) {
            BRIO_CHECK(ipc_take_numbers(r, "density, Young's modulus and Poisson's ratio", 3, v));
            shape->density = v[0], shape->E = v[1], shape->nu = v[2];
        } else if (!strcmp(word, "linearVelocity") || !strcmp(word, "angularVelocity")) {
            bool angular = word[0] == 'a';
            BRIO_CHECK(ipc_take_numbers(r, "a velocity", 3, v));
            for (int k = 0; k < 3; k++)
                (angular ? shape->motion.angular : shape->motion.linear)[k] =
                    angular ? v[k] * PI / 180 : v[k];
            shape->kinematic = true;
        } else if (!strcmp(word, "initVel")) {
            BRIO_CHECK(ipc_take_numbers(r, "a first velocity", 6, v));
            for (int k = 0; k < 3; k++)
                shape->first[k] = v[k], shape->first_angular[k] = v[3 + k] * PI / 180;
            shape->thrown = true;
        } else if (!strcmp(word, "DBC")) {
            if (shape->holds == MAX_HOLDS)
                return ipc_fail(r, r->used - 1, "more than %d DBC of one shape", MAX_HOLDS);
            Hold *h = &shape->hold[shape->holds++];
            *h = (Hold){.line = r->line, .end = INFINITY};
            BRIO_CHECK(
                ipc_take_numbers(r, "two corners, a velocity and an angular velocity", 12, v));
            for (int k = 0; k < 3; k++)
                h->low[k] = v[k], h->high[k] = v[3 + k], h->linear[k] = v[6 + k],
                h->angular[k] = v[9 + k] * PI / 180;
            if (ipc_take_optional(r, &h->start)) ipc_take_optional(r, &h->end);
        } else if (!strcmp(word, "NBC")) {
            BRIO_CHECK(ipc_take_numbers(r, "two corners and an acceleration", 9, v));
            bool force = v[6] != 0 || v[7] != 0 || v[8] != 0;
            while (ipc_take_optional(r, v)) continue;
            if (force)
                import_loss(r->report, r->line,
                            "NBC: brio has no force on a part of a body; left out");
        } else if (!strcmp(word, "meshSeq")) {
            BRIO_CHECK(ipc_take_word(r, "a folder", &word));
            shape->kinematic = true;
            snprintf(shape->sequence, sizeof shape->sequence, "%s", word);
        } else {
            /* as the other code does, which goes on with the next word that it knows */
            while (ipc_take_optional(r, v)) continue;
            import_note(r->report, r->line,
                        "\"%.40s\" is no part of a shape that is known; left out", word);
        }
    }
    return BRIO_OK;
}

/* A line of `shapes`: mesh, translation, rotation, scale, and more. */
static BrioStatus take_shape(Reader *r)
{
    double degrees[3];
    Shape *shape = ipc_add_shape(r);
    if (!shape) return ipc_no_memory(r);
    BRIO_CHECK(ipc_take_shape_mesh(r, shape));
    BRIO_CHECK(ipc_take_numbers(r, "a translation", 3, shape->translate));
    BRIO_CHECK(ipc_take_numbers(r, "a rotation", 3, degrees));
    BRIO_CHECK(ipc_take_numbers(r, "a scale", 3, shape->scale));
    turn_euler(degrees, shape->rotate);
    return take_extras(r, shape);
}

BrioStatus ipc_take_shapes(Reader *r)
{
    const char *word;
    int count;
    BRIO_CHECK(ipc_take_word(r, "\"input\"", &word));
    if (strcmp(word, "input"))
        return ipc_fail(
            r, r->used - 1,
            "shapes of type \"%.40s\" are not known; brio reads \"input\": meshes from files",
            word);
    BRIO_CHECK(ipc_take_count(r, "the number of shapes", 100000, &count));
    for (int i = 0; i < count; i++) {
        if (!ipc_next_line(r))
            return brio__error_at(r->error, BRIO_ERROR_INPUT, r->name, r->next, 0, NULL,
                                  "expected shape no. %d of %d, found the end of the file", i + 1,
                                  count);
        BRIO_CHECK(take_shape(r));
    }
    return BRIO_OK;
}

BrioStatus ipc_take_matrix(Reader *r)
{
    const char *word;
    int count[3];
    double corner[3] = {0, 0, 0};
    BRIO_CHECK(ipc_take_word(r, "\"input\"", &word));
    for (int k = 0; k < 3; k++)
        BRIO_CHECK(ipc_take_count(r, "the number of copies", 1000, &count[k]));
    for (int k = 0; k < 3; k++) ipc_take_optional(r, &corner[k]);
    int before = r->scene->shapes; /* the number of the shape */
    if (!ipc_next_line(r))
        return brio__error_at(r->error, BRIO_ERROR_INPUT, r->name, r->next, 0, NULL,
                              "expected the shape of shapeMatrix, found the end of the file");
    BRIO_CHECK(take_shape(r));
    Shape *shape = &r->scene->shape[before];
    for (int k = 0; k < 3; k++) {
        if (count[k] < 1)
            return ipc_fail(r, 0, "shapeMatrix with no copies along one axis; remove it");
        shape->count[k] = count[k];
        shape->step[k] = shape->translate[k];
        shape->translate[k] = corner[k];
    }
    return BRIO_OK;
}

/* ---- obstacles -------------------------------------------------------------------------- */

static Obstacle *add_obstacle(Reader *r)
{
    Scene *s = r->scene;
    if (s->obstacles == s->obstacle_room) {
        int room = BRIO_MAX(8, 2 * s->obstacle_room);
        Obstacle *grown =
            brio__realloc(s->obstacle, (size_t)s->obstacles, (size_t)room, sizeof *grown);
        if (!grown) return NULL;
        s->obstacle = grown;
        s->obstacle_room = room;
    }
    Obstacle *o = &s->obstacle[s->obstacles++];
    *o = (Obstacle){.line = r->line,
                    .normal = {0, 1, 0},
                    .scale = 1,
                    .rotate = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    return o;
}

BrioStatus ipc_take_ground(Reader *r)
{
    Obstacle *o = add_obstacle(r);
    double v[2];
    if (!o) return ipc_no_memory(r);
    BRIO_CHECK(ipc_take_numbers(r, "friction and height", 2, v));
    o->plane = true;
    o->friction = v[0];
    o->point[1] = v[1];
    return BRIO_OK;
}

BrioStatus ipc_take_half_space(Reader *r)
{
    Obstacle *o = add_obstacle(r);
    double v[8];
    if (!o) return ipc_no_memory(r);
    BRIO_CHECK(ipc_take_numbers(r, "a point, a normal, a stiffness and a friction", 8, v));
    o->plane = true;
    memcpy(o->point, v, sizeof o->point);
    memcpy(o->normal, v + 3, sizeof o->normal);
    o->friction = v[7];
    return BRIO_OK;
}

/* Its middle (the mean of the vertices) goes to the origin, its largest extent becomes `scale`. */
BrioStatus ipc_take_mesh_obstacle(Reader *r)
{
    Obstacle *o = add_obstacle(r);
    double v[6], degrees[3], low[3], high[3], mean[3] = {0, 0, 0}, extent = 0;
    if (!o) return ipc_no_memory(r);
    BRIO_CHECK(ipc_take_mesh(r, o->path, sizeof o->path, &o->mesh, &o->extract, &o->lost));
    BRIO_CHECK(ipc_take_numbers(r, "an origin, a scale, a stiffness and a friction", 6, v));
    o->friction = v[5];
    if (r->used < r->words && !strcmp(r->word[r->used], "rotate")) {
        r->used++;
        BRIO_CHECK(ipc_take_numbers(r, "a rotation", 3, degrees));
        turn_euler(degrees, o->rotate);
    }
    if (o->lost)
        import_loss(r->report, o->line, "meshCO: brio has no obstacles of %s; left out",
                    ipc_part_name(o->extract));
    memcpy(o->origin, v, sizeof o->origin);
    o->size = v[3];
    import_box_of(o->mesh, low, high);
    for (int64_t i = 0; i < 3 * o->mesh->vertex_count; i++)
        mean[i % 3] += o->mesh->x[i] / (double)o->mesh->vertex_count;
    for (int k = 0; k < 3; k++) extent = fmax(extent, high[k] - low[k]);
    o->scale = extent > 0 ? v[3] / extent : 1;
    import_apply(o->rotate, mean, mean);
    for (int k = 0; k < 3; k++) o->point[k] = v[k] - o->scale * mean[k];
    return BRIO_OK;
}
