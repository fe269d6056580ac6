/* Text scenes of the reference code of incremental potential contact [Li2020]: one keyword a line,
 * its values behind it, `#` for comments, a backslash at the end of a line to go on in the next.
 *
 * Its shapes are x = R S X + t with R = Rx Ry Rz; then `rotateModel` turns all of them, and `size`
 * scales all to that largest extent and moves the lowest corner to the origin. Surfaces (.obj) and
 * shapes with a prescribed velocity are kinematic: obstacles here. Boxes of boundary conditions are
 * relative to the box of the mesh before it is placed. */
#include "import.h"

#include "internal.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

#define PI 3.14159265358979323846
enum { MOST_WORDS = 400, MOST_HOLDS = 32 };

/* ---- data ------------------------------------------------------------------------------- */

typedef struct Hold {
    int line;
    double low[3], high[3]; /* relative to the mesh's box */
    double linear[3], angular[3], start, end;
} Hold;

typedef struct Shape {
    int line;
    char path[4096], name[64];
    BrioMesh *mesh;
    bool borrowed; /* the mesh is another shape's */
    double translate[3], rotate[3][3], scale[3];
    double density, E, nu; /* negative: of the scene */
    bool kinematic, thrown;
    double linear[3], angular[3];      /* of a kinematic one */
    double turns;                      /* when it moves back; 0: never */
    double first[3], first_angular[3]; /* of one that is thrown */
    Hold hold[MOST_HOLDS];
    int holds;
    int count[3]; /* copies in a lattice */
    double step[3];
} Shape;

typedef struct Obstacle {
    int line;
    bool plane;
    char path[4096];
    BrioMesh *mesh;
    double point[3], normal[3]; /* of a plane */
    double scale, rotate[3][3]; /* of a mesh */
    double friction;
} Obstacle;

typedef struct Scene {
    Shape *shape;
    int shapes, shape_room;
    Obstacle *obstacle;
    int obstacles, obstacle_room;
    char energy[8], integrator[8], script[32];
    int energy_line, script_line, damping_line;
    double beta, gamma;
    double size, end, h, density, E, nu, damping_stiffness, damping_ratio;
    double rotate_axis[3], rotate_degrees, handle;
    /* by the diagonal of the solids: tol, and dhat and epsv unless `absolute` */
    double dhat, epsv, tol, friction;
    double hold_from, hold_to;
    double script_value; /* the first behind the script's name; NAN: none */
    bool gravity, self_collision, absolute;
} Scene;

typedef struct Reader {
    const char *name;
    char *text, *at; /* `at`: the next line */
    int next;        /* its number */
    int line;        /* of the words, which may go on over several */
    char *word[MOST_WORDS];
    const char *line_start;
    int words, used;
    Scene *scene;
    ImportReport *report;
    BrioError *error;
} Reader;

/* ---- words ------------------------------------------------------------------------------ */

static BrioStatus fail(const Reader *r, int word, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static BrioStatus fail(const Reader *r, int word, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e) *c = '?';
    int column = word < r->words ? (int)(r->word[word] - r->line_start) + 1 : 0;
    return brio__error_at(r->error, BRIO_ERROR_INPUT, r->name, r->line, column, NULL, "%s", text);
}

/* Cuts the next line that holds words into them; false: the file ends. */
static bool next_line(Reader *r)
{
    r->words = r->used = 0;
    bool goes_on = false;
    while (*r->at && (r->words == 0 || goes_on)) {
        char *line = r->at, *end = line + strcspn(line, "\n");
        if (!goes_on) {
            r->line = r->next;
            r->line_start = line;
        }
        r->next++;
        r->at = *end ? end + 1 : end;
        *end = 0;
        goes_on = false;
        for (char *c = line; *c;) {
            c += strspn(c, " \t\r\f\v");
            if (!*c || (r->words == 0 && *c == '#')) break;
            if (*c == '\\' && !c[1 + strspn(c + 1, " \t\r")]) {
                goes_on = true;
                break;
            }
            char *stop = c + strcspn(c, " \t\r\f\v");
            bool last = !*stop;
            *stop = 0;
            if (r->words < MOST_WORDS) r->word[r->words++] = c;
            c = last ? stop : stop + 1;
        }
    }
    return r->words > 0;
}

static BrioStatus take_word(Reader *r, const char *what, const char **word)
{
    *word = "";
    if (r->used >= r->words)
        return fail(r, r->words, "expected %s after \"%.40s\", found the end of the line", what,
                    r->word[r->words - 1]);
    *word = r->word[r->used++];
    return BRIO_OK;
}

static bool is_number(const char *text, double *value)
{
    char *end;
    *value = brio__text_real(text, &end);
    return end != text && !*end && isfinite(*value);
}

static BrioStatus take_numbers(Reader *r, const char *what, int count, double *value)
{
    for (int i = 0; i < count; i++) {
        const char *word;
        value[i] = 0;
        BRIO_CHECK(take_word(r, what, &word));
        if (!is_number(word, &value[i]))
            return fail(r, r->used - 1, "expected %s, a number, found \"%.40s\"", what, word);
    }
    return BRIO_OK;
}

/* A number if one follows. */
static bool take_optional(Reader *r, double *value)
{
    if (r->used >= r->words || !is_number(r->word[r->used], value)) return false;
    r->used++;
    return true;
}

static BrioStatus take_count(Reader *r, const char *what, int most, int *count)
{
    double value;
    *count = 0;
    BRIO_CHECK(take_numbers(r, what, 1, &value));
    if (value != floor(value) || value < 0 || value > most)
        return fail(r, r->used - 1, "%s is %g; it must be a whole number from 0 to %d", what, value,
                    most);
    *count = (int)value;
    return BRIO_OK;
}

/* The next of the numbers that stand below their keyword, one line after the other. */
static BrioStatus take_below(Reader *r, const char *what, double *value)
{
    *value = 0;
    if (r->used >= r->words && !next_line(r))
        return brio__error_at(r->error, BRIO_ERROR_INPUT, r->name, r->next, 0, NULL,
                              "expected %s, found the end of the file", what);
    return take_numbers(r, what, 1, value);
}

/* ---- small matrices --------------------------------------------------------------------- */

static void multiply(double a[3][3], double b[3][3], double out[3][3])
{
    double c[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
    memcpy(out, c, sizeof c);
}

static void apply(double a[3][3], const double *x, double *y)
{
    double z[3];
    for (int i = 0; i < 3; i++) z[i] = a[i][0] * x[0] + a[i][1] * x[1] + a[i][2] * x[2];
    memcpy(y, z, sizeof z);
}

static void turn(const double axis[3], double radians, double out[3][3]) /* Rodrigues */
{
    double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    double c = cos(radians);
    double s = sin(radians);
    double u[3];
    for (int i = 0; i < 3; i++) u[i] = length > 0 ? axis[i] / length : 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out[i][j] = (i == j) * c + u[i] * u[j] * (1 - c);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out[j][i] += s * u[k];
        out[i][j] -= s * u[k];
    }
}

/* Rx Ry Rz, the angles in degrees. */
static void turn_euler(const double degrees[3], double out[3][3])
{
    double part[3][3];
    turn((const double[]){1, 0, 0}, degrees[0] * PI / 180, out);
    turn((const double[]){0, 1, 0}, degrees[1] * PI / 180, part);
    multiply(out, part, out);
    turn((const double[]){0, 0, 1}, degrees[2] * PI / 180, part);
    multiply(out, part, out);
}

/* The axis and angle of a rotation, by its quaternion. */
static double axis_of(double m[3][3], double axis[3])
{
    double q[4] = {1 + m[0][0] + m[1][1] + m[2][2], 1 + m[0][0] - m[1][1] - m[2][2],
                   1 - m[0][0] + m[1][1] - m[2][2], 1 - m[0][0] - m[1][1] + m[2][2]};
    int largest = 0;
    for (int i = 1; i < 4; i++)
        if (q[i] > q[largest]) largest = i;
    double r = sqrt(q[largest]) / 2, w, v[3];
    if (largest == 0) {
        w = r;
        for (int i = 0; i < 3; i++)
            v[i] = (m[(i + 2) % 3][(i + 1) % 3] - m[(i + 1) % 3][(i + 2) % 3]) / (4 * r);
    } else {
        int i = largest - 1, j = (i + 1) % 3, k = (i + 2) % 3;
        v[i] = r;
        v[j] = (m[i][j] + m[j][i]) / (4 * r);
        v[k] = (m[i][k] + m[k][i]) / (4 * r);
        w = (m[k][j] - m[j][k]) / (4 * r);
    }
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int i = 0; i < 3; i++) axis[i] = length > 1e-15 ? v[i] / length : i == 0;
    return length > 1e-15 ? 2 * atan2(length, w) * 180 / PI : 0;
}

/* ---- meshes ----------------------------------------------------------------------------- */

/* Beside the scene, or in a folder above it. */
static BrioStatus find_mesh(Reader *r, int word, char *path, size_t size)
{
    const char *given = r->word[word], *slash = strrchr(r->name, '/');
    char folder[3000];
    if (given[0] == '/') {
        snprintf(path, size, "%s", given);
        if (access(path, R_OK) == 0) return BRIO_OK;
        return fail(r, word, "there is no file %.200s", given);
    }
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - r->name) + 1 : 2,
             slash ? r->name : "./");
    for (int up = 0; up < 8; up++) {
        if (snprintf(path, size, "%s%s", folder, given) < (int)size && access(path, R_OK) == 0)
            return BRIO_OK;
        if (strlen(folder) + 4 > sizeof folder) break;
        strcat(folder, "../");
    }
    return fail(r, word,
                "there is no file \"%.200s\" beside the scene or in a folder above it; put it "
                "there, or correct the name",
                given);
}

/* A path from a folder; both exist. */
static void relative_path(const char *folder, const char *file, char *out, size_t size)
{
    char *from = realpath(folder, NULL), *to = realpath(file, NULL);
    snprintf(out, size, "%s", file);
    if (from && to) {
        size_t common = 0, i = 0;
        for (; from[i] && from[i] == to[i]; i++)
            if (from[i] == '/') common = i + 1;
        if (!from[i] && to[i] == '/') common = i + 1; /* the folder is above the file */
        out[0] = 0;
        size_t used = 0;
        if (common <= strlen(from))
            for (const char *c = from + common; *c;) {
                used += (size_t)snprintf(out + used, used < size ? size - used : 0, "../");
                c += strcspn(c, "/");
                c += *c == '/';
            }
        snprintf(out + used, used < size ? size - used : 0, "%s", to + common);
    }
    free(from);
    free(to);
}

static void box_of(const BrioMesh *mesh, double low[3], double high[3])
{
    for (int k = 0; k < 3; k++) low[k] = INFINITY, high[k] = -INFINITY;
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++) {
        low[i % 3] = fmin(low[i % 3], mesh->x[i]);
        high[i % 3] = fmax(high[i % 3], mesh->x[i]);
    }
}

static void place(const Shape *s, const double *X, double *x)
{
    double y[3];
    for (int k = 0; k < 3; k++) y[k] = s->scale[k] * X[k];
    apply(((Shape *)s)->rotate, y, x);
    for (int k = 0; k < 3; k++) x[k] += s->translate[k];
}

static Shape *add_shape(Reader *r)
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

static BrioStatus no_memory(const Reader *r)
{
    return brio__error(r->error, BRIO_ERROR_MEMORY, "out of memory");
}

/* The word at `used`, the name of a mesh. */
static BrioStatus take_mesh(Reader *r, char *path, size_t size, BrioMesh **mesh)
{
    const char *word;
    BRIO_CHECK(take_word(r, "the name of a mesh", &word));
    const char *dot = strrchr(word, '.');
    if (dot && (!strcmp(dot, ".seg") || !strcmp(dot, ".pt"))) {
        path[0] = 0;
        return BRIO_OK;
    }
    BRIO_CHECK(find_mesh(r, r->used - 1, path, size));
    return brio_mesh_read(path, mesh, r->error);
}

static void short_name(const char *path, char *name, size_t size)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    snprintf(name, size, "%.*s", dot && dot > base ? (int)BRIO_MIN(dot - base, 40) : 40, base);
    for (char *c = name; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
              *c == '-' || *c == '_'))
            *c = '-';
}

/* ---- shapes ----------------------------------------------------------------------------- */

static BrioStatus take_extras(Reader *r, Shape *shape)
{
    while (r->used < r->words) {
        const char *word = r->word[r->used++];
        double v[12];
        if (word[0] == '#') break;
        if (!strcmp(word, "material")) {
            BRIO_CHECK(take_numbers(r, "density, Young's modulus and Poisson's ratio", 3, v));
            shape->density = v[0], shape->E = v[1], shape->nu = v[2];
        } else if (!strcmp(word, "linearVelocity") || !strcmp(word, "angularVelocity")) {
            bool angular = word[0] == 'a';
            BRIO_CHECK(take_numbers(r, "a velocity", 3, v));
            for (int k = 0; k < 3; k++)
                (angular ? shape->angular : shape->linear)[k] = angular ? v[k] * PI / 180 : v[k];
            shape->kinematic = true;
        } else if (!strcmp(word, "initVel")) {
            BRIO_CHECK(take_numbers(r, "a first velocity", 6, v));
            for (int k = 0; k < 3; k++)
                shape->first[k] = v[k], shape->first_angular[k] = v[3 + k] * PI / 180;
            shape->thrown = true;
        } else if (!strcmp(word, "DBC")) {
            if (shape->holds == MOST_HOLDS)
                return fail(r, r->used - 1, "more than %d DBC of one shape", MOST_HOLDS);
            Hold *h = &shape->hold[shape->holds++];
            *h = (Hold){.line = r->line, .start = r->scene->hold_from, .end = r->scene->hold_to};
            BRIO_CHECK(take_numbers(r, "two corners, a velocity and an angular velocity", 12, v));
            for (int k = 0; k < 3; k++)
                h->low[k] = v[k], h->high[k] = v[3 + k], h->linear[k] = v[6 + k],
                h->angular[k] = v[9 + k] * PI / 180;
            if (take_optional(r, &h->start)) take_optional(r, &h->end);
        } else if (!strcmp(word, "NBC")) {
            BRIO_CHECK(take_numbers(r, "two corners and an acceleration", 9, v));
            while (take_optional(r, v)) continue;
            import_note(r->report, r->line, "NBC: brio has no force on a part of a body; left out");
        } else if (!strcmp(word, "meshSeq")) {
            BRIO_CHECK(take_word(r, "a folder", &word));
            shape->kinematic = true;
            import_note(r->report, r->line,
                        "meshSeq: brio does not move obstacles by a sequence of meshes; this one "
                        "stays where it is");
        } else {
            import_note(r->report, r->line,
                        "\"%.40s\" is not known, nor is what follows it on this line; left out",
                        word);
            break;
        }
    }
    return BRIO_OK;
}

/* A line of `shapes`: mesh, translation, rotation, scale, and more. */
static BrioStatus take_shape(Reader *r)
{
    double degrees[3];
    Shape *shape = add_shape(r);
    if (!shape) return no_memory(r);
    BRIO_CHECK(take_mesh(r, shape->path, sizeof shape->path, &shape->mesh));
    BRIO_CHECK(take_numbers(r, "a translation", 3, shape->translate));
    BRIO_CHECK(take_numbers(r, "a rotation", 3, degrees));
    BRIO_CHECK(take_numbers(r, "a scale", 3, shape->scale));
    turn_euler(degrees, shape->rotate);
    BRIO_CHECK(take_extras(r, shape));
    if (shape->mesh) return BRIO_OK;
    import_note(
        r->report, shape->line,
        "shape: brio's obstacles are surfaces; points (.pt) and segments (.seg) are left out");
    r->scene->shapes--;
    return BRIO_OK;
}

static BrioStatus take_shapes(Reader *r)
{
    const char *word;
    int count;
    BRIO_CHECK(take_word(r, "\"input\"", &word));
    if (strcmp(word, "input"))
        return fail(
            r, r->used - 1,
            "shapes of type \"%.40s\" are not known; brio reads \"input\": meshes from files",
            word);
    BRIO_CHECK(take_count(r, "the number of shapes", 100000, &count));
    for (int i = 0; i < count; i++) {
        if (!next_line(r))
            return brio__error_at(r->error, BRIO_ERROR_INPUT, r->name, r->next, 0, NULL,
                                  "expected shape no. %d of %d, found the end of the file", i + 1,
                                  count);
        BRIO_CHECK(take_shape(r));
    }
    return BRIO_OK;
}

static BrioStatus take_matrix(Reader *r)
{
    const char *word;
    int count[3];
    double corner[3] = {0, 0, 0};
    BRIO_CHECK(take_word(r, "\"input\"", &word));
    for (int k = 0; k < 3; k++) BRIO_CHECK(take_count(r, "the number of copies", 1000, &count[k]));
    for (int k = 0; k < 3; k++) take_optional(r, &corner[k]);
    int before = r->scene->shapes;
    if (!next_line(r))
        return brio__error_at(r->error, BRIO_ERROR_INPUT, r->name, r->next, 0, NULL,
                              "expected the shape of shapeMatrix, found the end of the file");
    BRIO_CHECK(take_shape(r));
    if (r->scene->shapes == before) return BRIO_OK;
    Shape *shape = &r->scene->shape[before];
    for (int k = 0; k < 3; k++) {
        if (count[k] < 1)
            return fail(r, 0, "shapeMatrix with no copies along one axis; leave it out");
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

static BrioStatus take_ground(Reader *r)
{
    Obstacle *o = add_obstacle(r);
    double v[2];
    if (!o) return no_memory(r);
    BRIO_CHECK(take_numbers(r, "friction and height", 2, v));
    o->plane = true;
    o->friction = v[0];
    o->point[1] = v[1];
    return BRIO_OK;
}

static BrioStatus take_half_space(Reader *r)
{
    Obstacle *o = add_obstacle(r);
    double v[8];
    if (!o) return no_memory(r);
    BRIO_CHECK(take_numbers(r, "a point, a normal, a stiffness and a friction", 8, v));
    o->plane = true;
    memcpy(o->point, v, sizeof o->point);
    memcpy(o->normal, v + 3, sizeof o->normal);
    o->friction = v[7];
    return BRIO_OK;
}

/* Its middle (the mean of the vertices) goes to the origin, its largest extent becomes `scale`. */
static BrioStatus take_mesh_obstacle(Reader *r)
{
    Obstacle *o = add_obstacle(r);
    double v[6], degrees[3], low[3], high[3], mean[3] = {0, 0, 0}, extent = 0;
    if (!o) return no_memory(r);
    BRIO_CHECK(take_mesh(r, o->path, sizeof o->path, &o->mesh));
    BRIO_CHECK(take_numbers(r, "an origin, a scale, a stiffness and a friction", 6, v));
    o->friction = v[5];
    if (r->used < r->words && !strcmp(r->word[r->used], "rotate")) {
        r->used++;
        BRIO_CHECK(take_numbers(r, "a rotation", 3, degrees));
        turn_euler(degrees, o->rotate);
    }
    if (!o->mesh) {
        import_note(r->report, o->line,
                    "meshCO: brio's obstacles are surfaces; points and segments are left out");
        r->scene->obstacles--;
        return BRIO_OK;
    }
    box_of(o->mesh, low, high);
    for (int64_t i = 0; i < 3 * o->mesh->vertex_count; i++)
        mean[i % 3] += o->mesh->x[i] / (double)o->mesh->vertex_count;
    for (int k = 0; k < 3; k++) extent = fmax(extent, high[k] - low[k]);
    o->scale = extent > 0 ? v[3] / extent : 1;
    apply(o->rotate, mean, mean);
    for (int k = 0; k < 3; k++) o->point[k] = v[k] - o->scale * mean[k];
    return BRIO_OK;
}

/* ---- keywords --------------------------------------------------------------------------- */

static BrioStatus take_energy(Reader *r)
{
    const char *word;
    BRIO_CHECK(take_word(r, "NH or FCR", &word));
    snprintf(r->scene->energy, sizeof r->scene->energy, "%s", word);
    r->scene->energy_line = r->line;
    if (!strcmp(word, "FCR"))
        import_note(r->report, r->line,
                    "energy FCR: brio has no fixed corotated material; taken is corotated, which "
                    "is the same up to second order of the strain");
    else if (strcmp(word, "NH"))
        import_note(r->report, r->line, "energy \"%.40s\" is not known; taken is neo-hookean",
                    word);
    return BRIO_OK;
}

static BrioStatus take_integration(Reader *r)
{
    const char *word;
    BRIO_CHECK(take_word(r, "BE or NM", &word));
    snprintf(r->scene->integrator, sizeof r->scene->integrator, "%s", word);
    if (!strcmp(word, "NM")) {
        if (take_optional(r, &r->scene->beta)) take_optional(r, &r->scene->gamma);
    } else if (strcmp(word, "BE")) {
        import_note(r->report, r->line,
                    "timeIntegration \"%.40s\" is not known; taken is backward-euler", word);
    }
    return BRIO_OK;
}

static BrioStatus take_time(Reader *r)
{
    double v[2];
    BRIO_CHECK(take_numbers(r, "duration and time step", 2, v));
    if (!(v[0] > 0 && v[1] > 0))
        return fail(r, 0, "time %g %g: duration and step must be positive", v[0], v[1]);
    r->scene->end = v[0];
    r->scene->h = v[1];
    return BRIO_OK;
}

static BrioStatus take_script(Reader *r)
{
    const char *word;
    BRIO_CHECK(take_word(r, "the name of a script", &word));
    snprintf(r->scene->script, sizeof r->scene->script, "%s", word);
    r->scene->script_line = r->line;
    double count;
    if (take_optional(r, &count) && count >= 1)
        BRIO_CHECK(take_numbers(r, "a value of the script", 1, &r->scene->script_value));
    return BRIO_OK;
}

static BrioStatus take_tol(Reader *r)
{
    int count;
    double value;
    BRIO_CHECK(take_count(r, "the number of tolerances", 1000000, &count));
    int line = r->line;
    for (int i = 0; i < count; i++) {
        BRIO_CHECK(take_below(r, "a tolerance", &value));
        r->scene->tol = i ? fmin(r->scene->tol, value) : value;
    }
    if (count > 1)
        import_note(r->report, line,
                    "tol: brio has one tolerance for all steps; taken is the least of the %d",
                    count);
    return BRIO_OK;
}

static BrioStatus take_tuning(Reader *r)
{
    int count;
    double value;
    BRIO_CHECK(take_count(r, "the number of values", 64, &count));
    int line = r->line;
    for (int i = 0; i < count; i++) {
        BRIO_CHECK(take_below(r, "a value", &value));
        if (i == 0 && value != 0)
            import_note(r->report, line,
                        "tuning: the stiffness of contact %g is adapted there; here it is chosen "
                        "by the weights (kappa: auto)",
                        value);
        if (i == 2) r->scene->dhat = value;
        if (i == 5) r->scene->epsv = value;
    }
    return BRIO_OK;
}

static BrioStatus take_solver(Reader *r)
{
    const char *word;
    BRIO_CHECK(take_word(r, "a solver", &word));
    if (strcmp(word, "interiorPoint") && strcmp(word, "IP"))
        import_note(r->report, r->line,
                    "constraintSolver %.40s: brio has the barrier (interiorPoint); that is taken",
                    word);
    return BRIO_OK;
}

/* Sections for other solvers than the barrier are passed over. */
static BrioStatus take_section(Reader *r)
{
    bool ours = false;
    int line = r->line;
    for (; r->used < r->words; r->used++) {
        const char *word = r->word[r->used];
        if (!strcmp(word, "end") || !strcmp(word, "interiorPoint") || !strcmp(word, "IP"))
            ours = true;
    }
    if (ours) return BRIO_OK;
    while (next_line(r))
        if (r->words > 1 && !strcmp(r->word[0], "section") && !strcmp(r->word[1], "end")) break;
    r->used = r->words;
    import_note(r->report, line, "section: settings of other solvers than the barrier; left out");
    return BRIO_OK;
}

static BrioStatus take_flag(Reader *r)
{
    if (!strcmp(r->word[0], "turnOffGravity")) r->scene->gravity = false;
    if (!strcmp(r->word[0], "selfCollisionOn")) r->scene->self_collision = true;
    if (!strcmp(r->word[0], "selfCollisionOff")) r->scene->self_collision = false;
    if (!strcmp(r->word[0], "useAbsParameters")) r->scene->absolute = true;
    return BRIO_OK;
}

static BrioStatus take_single_shape(Reader *r)
{
    const char *word;
    BRIO_CHECK(take_word(r, "\"input\"", &word));
    Shape *shape = add_shape(r);
    if (!shape) return no_memory(r);
    BRIO_CHECK(take_mesh(r, shape->path, sizeof shape->path, &shape->mesh));
    if (shape->mesh) return BRIO_OK;
    import_note(
        r->report, shape->line,
        "shape: brio's obstacles are surfaces; points (.pt) and segments (.seg) are left out");
    r->scene->shapes--;
    return BRIO_OK;
}

static BrioStatus take_rotation(Reader *r)
{
    double v[4];
    BRIO_CHECK(take_numbers(r, "an axis and an angle", 4, v));
    memcpy(r->scene->rotate_axis, v, sizeof r->scene->rotate_axis);
    r->scene->rotate_degrees = v[3];
    return BRIO_OK;
}

/* Keywords with nothing to take over, and why. */
static const struct {
    const char *name, *why;
} ignored[] = {
    {"warmStart", "brio starts every step from its own prediction"},
    {"view", "brio render and brio view find their own camera"},
    {"zoom", "brio render and brio view find their own camera"},
    {"cameraTracking", "brio render and brio view find their own camera"},
    {"playBackSpeed", "brio render --speed sets the speed of a film"},
    {"appendStr", "brio run -o names the folder"},
    {"disableCout", "brio run --quiet is what comes nearest"},
    {"exactCCD",
     "brio's collision detection is conservative by itself; brio check --exact proves a run"},
    {"CCDMethod",
     "brio's collision detection is conservative by itself; brio check --exact proves a run"},
    {"ccdMethod",
     "brio's collision detection is conservative by itself; brio check --exact proves a run"},
    {"CCDTolerance", "brio's collision detection has no tolerance to choose"},
    {"ccdTolerance", "brio's collision detection has no tolerance to choose"},
    {"linearSolver", "brio chooses by the size of the scene; solver.linear in a scene names one"},
    {"linSysSolver", "brio chooses by the size of the scene; solver.linear in a scene names one"},
    {"kappaMinMultiplier", "the stiffness of contact is chosen by the weights (kappa: auto)"},
    {"minBarrierStiffnessScale", "the stiffness of contact is chosen by the weights (kappa: auto)"},
    {"constraintType", "a setting of other solvers than the barrier"},
    {"constraintOffset", "a setting of other solvers than the barrier"},
    {"QPSolver", "a setting of other solvers than the barrier"},
    {"useActiveSetConvergence", "a setting of other solvers than the barrier"},
    {"noActiveSetConvergence", "a setting of other solvers than the barrier"},
    {"fricIterAmt",
     "brio renews friction's normal forces and directions once a step, as the default there does"},
    {"restart", "brio run --resume continues a run of brio, not of another program"},
    {"NBCTimeRange", "brio has no force on a part of a body"},
};

typedef struct Keyword {
    const char *name;
    BrioStatus (*take)(Reader *);
    size_t value; /* of one number: its place in Scene */
    double least;
} Keyword;
#define NUMBER(name, member, least)                \
    {                                              \
        name, NULL, offsetof(Scene, member), least \
    }

static const Keyword keywords[] = {
    {.name = "energy", .take = take_energy},
    {.name = "timeIntegration", .take = take_integration},
    {.name = "time", .take = take_time},
    {.name = "script", .take = take_script},
    {.name = "shapes", .take = take_shapes},
    {.name = "shape", .take = take_single_shape},
    {.name = "shapeMatrix", .take = take_matrix},
    {.name = "ground", .take = take_ground},
    {.name = "halfSpace", .take = take_half_space},
    {.name = "meshCO", .take = take_mesh_obstacle},
    {.name = "tol", .take = take_tol},
    {.name = "tuning", .take = take_tuning},
    {.name = "constraintSolver", .take = take_solver},
    {.name = "section", .take = take_section},
    {.name = "rotateModel", .take = take_rotation},
    {.name = "turnOffGravity", .take = take_flag},
    {.name = "selfCollisionOn", .take = take_flag},
    {.name = "selfCollisionOff", .take = take_flag},
    {.name = "useAbsParameters", .take = take_flag},
    NUMBER("size", size, -1e300),
    NUMBER("density", density, 1e-300),
    NUMBER("selfFric", friction, -1e300),
    NUMBER("dHat", dhat, 1e-300),
    NUMBER("epsv", epsv, 1e-300),
    NUMBER("eps_v", epsv, 1e-300),
    NUMBER("handleRatio", handle, 1e-300),
    NUMBER("dampingStiff", damping_stiffness, -1e300),
    NUMBER("dampingRatio", damping_ratio, -1e300),
};

static BrioStatus take_line(Reader *r)
{
    Scene *s = r->scene;
    const char *name = r->word[0];
    double v[2];
    r->used = 1;
    if (!strcmp(name, "stiffness")) {
        BRIO_CHECK(take_numbers(r, "Young's modulus and Poisson's ratio", 2, v));
        s->E = v[0], s->nu = v[1];
        return BRIO_OK;
    }
    if (!strcmp(name, "DBCTimeRange")) {
        BRIO_CHECK(take_numbers(r, "two times", 2, v));
        s->hold_from = v[0], s->hold_to = v[1];
        for (int i = 0; i < s->shapes; i++)
            for (int k = 0; k < s->shape[i].holds; k++)
                s->shape[i].hold[k].start = v[0], s->shape[i].hold[k].end = v[1];
        return BRIO_OK;
    }
    for (size_t i = 0; i < BRIO_COUNT(keywords); i++) {
        const Keyword *k = &keywords[i];
        if (strcmp(name, k->name)) continue;
        if (k->take) return k->take(r);
        BRIO_CHECK(take_numbers(r, "a value", 1, v));
        if (!(v[0] >= k->least)) return fail(r, 1, "%s is %g; it must be positive", name, v[0]);
        memcpy((char *)s + k->value, v, sizeof *v);
        if (!strncmp(name, "damping", 7)) s->damping_line = r->line;
        return BRIO_OK;
    }
    for (size_t i = 0; i < BRIO_COUNT(ignored); i++)
        if (!strcmp(name, ignored[i].name)) {
            import_note(r->report, r->line, "%s: %s; left out", name, ignored[i].why);
            return BRIO_OK;
        }
    const char *names[BRIO_COUNT(keywords) + 2] = {"stiffness", "DBCTimeRange"}, *nearest;
    char shown[48];
    snprintf(shown, sizeof shown, "%s", name);
    for (char *c = shown; *c; c++)
        if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e) *c = '?';
    for (size_t i = 0; i < BRIO_COUNT(keywords); i++) names[i + 2] = keywords[i].name;
    nearest = brio__nearest(name, names, (int)BRIO_COUNT(names));
    import_note(r->report, r->line, "\"%s\" is not a keyword that brio knows%s%s%s; left out",
                shown, nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                nearest ? "\"?" : "");
    return BRIO_OK;
}

/* ---- the whole -------------------------------------------------------------------------- */

static void add_to_box(const Shape *shape, double low[3], double high[3])
{
    for (int64_t v = 0; v < shape->mesh->vertex_count; v++) {
        double x[3];
        place(shape, shape->mesh->x + 3 * v, x);
        for (int k = 0; k < 3; k++) {
            double last = x[k] + shape->step[k] * (shape->count[k] - 1);
            low[k] = fmin(low[k], fmin(x[k], last));
            high[k] = fmax(high[k], fmax(x[k], last));
        }
    }
}

static void whole_box(const Scene *s, bool only_solids, double low[3], double high[3])
{
    for (int k = 0; k < 3; k++) low[k] = INFINITY, high[k] = -INFINITY;
    for (int i = 0; i < s->shapes; i++)
        if (!only_solids || s->shape[i].mesh->tet_count > 0) add_to_box(&s->shape[i], low, high);
}

static double diagonal_of(const double low[3], const double high[3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += (high[k] - low[k]) * (high[k] - low[k]);
    return sqrt(sum);
}

/* Copies of a lattice as shapes of their own: brio's lattices are along the axes. */
static BrioStatus expand(Reader *r)
{
    int given = r->scene->shapes;
    for (int i = 0; i < given; i++) {
        Shape first = r->scene->shape[i];
        for (int c = 1; c < first.count[0] * first.count[1] * first.count[2]; c++) {
            Shape *copy = add_shape(r);
            if (!copy) return no_memory(r);
            const int at[3] = {c % first.count[0], c / first.count[0] % first.count[1],
                               c / first.count[0] / first.count[1]};
            *copy = first;
            copy->borrowed = true;
            for (int k = 0; k < 3; k++)
                copy->translate[k] += at[k] * first.step[k], copy->count[k] = 1;
        }
        for (int k = 0; k < 3; k++) r->scene->shape[i].count[k] = 1;
    }
    return BRIO_OK;
}

/* rotateModel, then size. */
static BrioStatus place_all(Reader *r)
{
    Scene *s = r->scene;
    double low[3], high[3], extent = 0, all[3][3];
    if (s->rotate_degrees != 0) {
        BRIO_CHECK(expand(r));
        whole_box(s, false, low, high);
        turn(s->rotate_axis, s->rotate_degrees * PI / 180, all);
        for (int i = 0; i < s->shapes; i++) {
            Shape *shape = &s->shape[i];
            multiply(all, shape->rotate, shape->rotate);
            /* half the extent, wherever the box is */
            for (int k = 0; k < 3; k++) shape->translate[k] -= (high[k] - low[k]) / 2;
            apply(all, shape->translate, shape->translate);
            for (int k = 0; k < 3; k++) shape->translate[k] += (high[k] - low[k]) / 2;
        }
    }
    if (s->size > 0) {
        whole_box(s, false, low, high);
        for (int k = 0; k < 3; k++) extent = fmax(extent, high[k] - low[k]);
        double scale = extent > 0 ? s->size / extent : 1;
        for (int i = 0; i < s->shapes; i++)
            for (int k = 0; k < 3; k++) {
                s->shape[i].scale[k] *= scale;
                s->shape[i].step[k] *= scale;
                s->shape[i].translate[k] = scale * (s->shape[i].translate[k] - low[k]);
            }
    }
    return BRIO_OK;
}

/* ---- scripts ---------------------------------------------------------------------------- */

/* A script of the other code: parts of the whole box (shares of its extent) that are held or moved,
 * and by how much all is lifted first. */
typedef struct Grip {
    double low[3], high[3], velocity[3], twist; /* twist: about x through the middle, rad/s */
    /* the box ends at handleRatio from one end along x: low or high is replaced by it */
    bool ends;
} Grip;

typedef struct Drive {
    double linear[3], angular[3]; /* rad/s, about the middle of the shape's box */
} Drive;

#define ANY -1, -1, -1
#define ALL 2, 2, 2
typedef struct Script {
    const char *name;
    double lift_diagonal, lift_height;
    int grips;
    bool one; /* only the first vertex */
    Grip grip[3];
    int drives; /* of the first shapes, which are kinematic */
    Drive drive[6];
    bool turns;  /* they move back when the first two are 0.1 apart along x */
    bool throws; /* all bodies along x, as fast as its first value says */
} Script;

static const Script scripts[] = {
    {.name = "null"},
    {.name = "DCOFix"},
    {.name = "fallNoShift"},
    {.name = "fall", .lift_diagonal = 0.5},
    {.name = "hang2", .grips = 1, .grip = {{.low = {-1, 0.99, -1}, .high = {ALL}}}},
    {.name = "stand", .grips = 1, .grip = {{.low = {ANY}, .high = {2, 0.01, 2}}}},
    {.name = "swing",
     .lift_height = 1.3,
     .grips = 1,
     .grip = {{.low = {ANY}, .high = {0.05, 2, 2}}}},
    {.name = "topbottomfix",
     .grips = 2,
     .grip = {{.low = {ANY}, .high = {2, 0.02, 2}}, {.low = {-1, 0.98, -1}, .high = {ALL}}}},
    {.name = "fixLowerHalf", .grips = 1, .grip = {{.low = {ANY}, .high = {2, 0.5, 2}}}},
    {.name = "corner",
     .grips = 3,
     .grip = {{.low = {ANY}, .high = {0.01, 2, 2}},
              {.low = {0.01, -1, -1}, .high = {2, 0.01, 2}},
              {.low = {0.01, 0.01, -1}, .high = {2, 2, 0.01}}}},
    {.name = "dragdown",
     .lift_diagonal = 0.5,
     .grips = 1,
     .grip = {{.low = {0.42, -1, -1}, .high = {0.52, 0.1, 2}, .velocity = {0, -1.5, 0}}}},
    {.name = "dragright",
     .lift_diagonal = 0.5,
     .grips = 1,
     .grip = {{.low = {0.96, -1, -1}, .high = {ALL}, .velocity = {0.5, 0, 0}}}},
    {.name = "fixRightMost1",
     .one = true,
     .grips = 1,
     .grip = {{.low = {0.999, -1, -1}, .high = {ALL}}}},
    {.name = "pushRightMost1",
     .one = true,
     .grips = 1,
     .grip = {{.low = {0.999, -1, -1}, .high = {ALL}, .velocity = {-0.15, 0, 0}}}},
    {.name = "stretch",
     .grips = 2,
     .grip = {{.low = {ANY}, .high = {ALL}, .velocity = {-0.1, 0, 0}, .ends = true},
              {.low = {ANY}, .high = {ALL}, .velocity = {0.1, 0, 0}, .ends = true}}},
    {.name = "squash",
     .grips = 2,
     .grip = {{.low = {ANY}, .high = {ALL}, .velocity = {0.03, 0, 0}, .ends = true},
              {.low = {ANY}, .high = {ALL}, .velocity = {-0.03, 0, 0}, .ends = true}}},
    {.name = "twist",
     .grips = 2,
     .grip = {{.low = {ANY}, .high = {ALL}, .twist = -0.4 * PI, .ends = true},
              {.low = {ANY}, .high = {ALL}, .twist = 0.4 * PI, .ends = true}}},
    {.name = "DCOBallHitWall", .throws = true},
    {.name = "DCOSquash",
     .turns = true,
     .drives = 2,
     .drive = {{.linear = {1, 0, 0}}, {.linear = {-1, 0, 0}}}},
    {.name = "DCOSquash6",
     .turns = true,
     .drives = 6,
     .drive = {{.linear = {1, 0, 0}},
               {.linear = {-1, 0, 0}},
               {.linear = {0, 1, 0}},
               {.linear = {0, -1, 0}},
               {.linear = {0, 0, 1}},
               {.linear = {0, 0, -1}}}},
    {.name = "DCORotCylinders",
     .drives = 4,
     .drive = {{.angular = {PI / 2, 0, 0}},
               {.angular = {-PI / 2, 0, 0}},
               {.angular = {0, 0, -PI / 2}},
               {.angular = {0, 0, PI / 2}}}},
    {.name = "DCOVerschoorRoller",
     .drives = 6,
     .drive = {{.angular = {0, 0, -4}},
               {.angular = {0, 0, -2}},
               {.angular = {0, 0, 2}},
               {.angular = {0, 0, 4}},
               {.angular = {2, 0, 0}},
               {.angular = {-2, 0, 0}}}},
    {.name = "twistnstretch",
     .grips = 2,
     .grip =
         {{.low = {ANY}, .high = {ALL}, .twist = -0.1 * PI, .velocity = {-0.1, 0, 0}, .ends = true},
          {.low = {ANY}, .high = {ALL}, .twist = 0.1 * PI, .velocity = {0.1, 0, 0}, .ends = true}}},
};

static const Script *find_script(Reader *r)
{
    for (size_t i = 0; i < BRIO_COUNT(scripts); i++)
        if (!strcmp(scripts[i].name, r->scene->script)) return &scripts[i];
    import_note(r->report, r->scene->script_line,
                "script %.30s: brio knows null, fall, hang2, stand, twist, stretch and other "
                "simple ones, not this; left out: nothing is held or moved by it",
                r->scene->script);
    return &scripts[0];
}

/* What the script moves as a whole; before all is lifted. */
static void apply_script(Scene *s, const Script *script)
{
    for (int i = 0; i < s->shapes && i < script->drives; i++) {
        s->shape[i].kinematic = true;
        memcpy(s->shape[i].linear, script->drive[i].linear, sizeof s->shape[i].linear);
        memcpy(s->shape[i].angular, script->drive[i].angular, sizeof s->shape[i].angular);
    }
    if (script->turns && s->shapes > 1) { /* looked at once a step, and both come nearer */
        double low[2][3], high[2][3];
        for (int i = 0; i < 2; i++) {
            for (int k = 0; k < 3; k++) low[i][k] = INFINITY, high[i][k] = -INFINITY;
            add_to_box(&s->shape[i], low[i], high[i]);
        }
        double steps = floor((low[1][0] - high[0][0] - 0.1) / (2 * s->h)) + 1;
        for (int i = 0; i < s->shapes && i < script->drives; i++)
            s->shape[i].turns = fmax(steps, 0) * s->h;
    }
    for (int i = 0; script->throws && i < s->shapes; i++) {
        if (s->shape[i].kinematic || s->shape[i].mesh->tet_count == 0) continue;
        s->shape[i].thrown = true;
        s->shape[i].first[0] = isnan(s->script_value) ? 1000 : s->script_value;
    }
}

/* ---- writing ---------------------------------------------------------------------------- */

/* Fifteen digits: what was computed on the way ends in round numbers where it should. */
static void put(FILE *out, double value) { fprintf(out, "%.15g", value + 0.0); }

static void put3(FILE *out, const char *key, const double v[3])
{
    fprintf(out, "%s[", key);
    for (int k = 0; k < 3; k++) {
        if (k) fputs(", ", out);
        put(out, v[k]);
    }
    fputc(']', out);
}

/* A text in quotes. */
static void put_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static bool is_zero(const double v[3]) { return v[0] == 0 && v[1] == 0 && v[2] == 0; }

static void put_transform(FILE *out, double scale[3], double rotate[3][3],
                          const double translate[3])
{
    double axis[3], degrees = axis_of(rotate, axis);
    fputs("    transform: {scale: ", out);
    if (scale[0] == scale[1] && scale[1] == scale[2])
        put(out, scale[0]);
    else
        put3(out, "", scale);
    if (fabs(degrees) > 1e-12) {
        put3(out, ", rotate: [", axis);
        fputs(", ", out);
        put(out, degrees);
        fputc(']', out);
    }
    put3(out, ", translate: ", translate);
    fputs("}\n", out);
}

static void put_script(FILE *out, const double linear[3], const double angular[3],
                       const double about[3], double start, double end)
{
    fputs("script: {", out);
    put3(out, "velocity: ", linear);
    if (!is_zero(angular)) {
        put3(out, ", angular: ", angular);
        put3(out, ", about: ", about);
    }
    if (start > 0) fputs(", start: ", out), put(out, start);
    if (isfinite(end)) fputs(", end: ", out), put(out, end);
    fputc('}', out);
}

/* The vertices of a shape inside a box, given by `inside`, as a list; their own box's middle to
 * `about`. */
typedef struct Chosen {
    int64_t count;
    double low[3], high[3], about[3];
} Chosen;

/* `relative`: the box is of the mesh before it is placed. Vertices in `taken` (unless NULL) are
 * held already; with a list, what it names is taken. */
static Chosen choose(const Shape *s, const double low[3], const double high[3], bool relative,
                     uint8_t *taken, FILE *list, int64_t most)
{
    Chosen c = {.low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
    for (int64_t v = 0; v < s->mesh->vertex_count && c.count < most; v++) {
        const double *X = s->mesh->x + 3 * v;
        double x[3];
        place(s, X, x);
        bool in = true;
        for (int k = 0; k < 3; k++)
            in &= (relative ? X : x)[k] >= low[k] && (relative ? X : x)[k] <= high[k];
        if (!in || (taken && taken[v])) continue;
        if (list) {
            fprintf(list, "%s%lld", c.count ? ", " : "", (long long)v);
            taken[v] = 1;
        }
        c.count++;
        for (int k = 0; k < 3; k++) {
            c.low[k] = fmin(c.low[k], x[k]);
            c.high[k] = fmax(c.high[k], x[k]);
            c.about[k] = (c.low[k] + c.high[k]) / 2;
        }
    }
    return c;
}

static void put_chosen(FILE *out, const Shape *s, const double low[3], const double high[3],
                       bool relative, uint8_t *taken, int64_t most)
{
    fputs("      - vertices: [", out);
    choose(s, low, high, relative, taken, out, most);
    fputs("]\n", out);
}

static void put_way_and_back(FILE *out, const Shape *shape, double end)
{
    const double time[3] = {0, shape->turns, end};
    const double way[3] = {0, shape->turns, 2 * shape->turns - end};
    fputs("script: {keys: [", out);
    for (int t = 0; t < 3; t++) {
        fputs(t ? ", [" : "[", out);
        put(out, time[t]);
        for (int k = 0; k < 3; k++) fputs(", ", out), put(out, way[t] * shape->linear[k]);
        fputc(']', out);
    }
    fputs("]}", out);
}

static bool same_box(const Hold *a, const Hold *b)
{
    return !memcmp(a->low, b->low, sizeof a->low) && !memcmp(a->high, b->high, sizeof a->high);
}

/* Several motions of the same vertices, one after the other: shifts at the times at which one
 * begins or ends. */
static void put_keys(FILE *out, const Shape *s, const Hold *h, double end)
{
    double time[2 * MOST_HOLDS], shift[3] = {0, 0, 0};
    int times = 0;
    for (int i = 0; i < s->holds; i++)
        if (same_box(h, &s->hold[i])) {
            time[times++] = fmax(s->hold[i].start, 0);
            time[times++] = fmin(s->hold[i].end, fmax(end, s->hold[i].start));
        }
    qsort(time, (size_t)times, sizeof *time, brio__ascending);
    fputs("script: {keys: [", out);
    for (int t = 0; t < times; t++) {
        if (t && time[t] == time[t - 1]) continue;
        for (int i = 0; t && i < s->holds; i++) {
            const Hold *o = &s->hold[i];
            if (!same_box(h, o) || o->start >= time[t] || o->end < time[t]) continue;
            for (int k = 0; k < 3; k++) shift[k] += o->linear[k] * (time[t] - time[t - 1]);
        }
        fputs(t ? ", [" : "[", out);
        put(out, time[t]);
        for (int k = 0; k < 3; k++) fputs(", ", out), put(out, shift[k]);
        fputc(']', out);
    }
    fputs("]}", out);
}

static BrioStatus put_holds(Reader *r, FILE *out, const Shape *s, const Script *script,
                            const double box_low[3], const double box_high[3])
{
    double low[3], high[3], middle[3];
    bool opened = false;
    uint8_t *taken = brio__calloc((size_t)s->mesh->vertex_count, 1);
    if (!taken) return no_memory(r);
    box_of(s->mesh, low, high);
    for (int i = 0; i < s->holds; i++) {
        const Hold *h = &s->hold[i];
        double from[3], to[3];
        for (int k = 0; k < 3; k++) {
            from[k] = low[k] + h->low[k] * (high[k] - low[k]);
            to[k] = low[k] + h->high[k] * (high[k] - low[k]);
        }
        int first = i, turning = 0, same = 0;
        for (int k = 0; k < s->holds; k++) {
            if (!same_box(h, &s->hold[k])) continue;
            first = BRIO_MIN(first, k);
            turning += !is_zero(s->hold[k].angular);
            same++;
        }
        if (first < i && !turning) continue; /* with the first of them */
        Chosen c = choose(s, from, to, true, taken, NULL, INT64_MAX);
        if (!c.count) {
            import_note(
                r->report, h->line,
                "DBC: no vertex is in the box, or all of them are held by another DBC; left out");
            continue;
        }
        if (!opened) fputs("    fix:\n", out);
        opened = true;
        put_chosen(out, s, from, to, true, taken, INT64_MAX);
        fputs("        ", out);
        if (same > 1 && !turning)
            put_keys(out, s, h, r->scene->end);
        else
            put_script(out, h->linear, h->angular, c.about, h->start, h->end);
        fputc('\n', out);
        if (isfinite(h->end) && (same == 1 || turning))
            import_note(r->report, h->line,
                        "DBC: after its time range the vertices are free there; here they are held "
                        "where they are");
    }
    for (int k = 0; k < 3; k++) middle[k] = (box_low[k] + box_high[k]) / 2;
    for (int i = 0; i < script->grips; i++) {
        const Grip *g = &script->grip[i];
        double from[3], to[3];
        for (int k = 0; k < 3; k++) {
            double size = box_high[k] - box_low[k], a = g->low[k], b = g->high[k];
            if (g->ends && k == 0 && i == 0) b = r->scene->handle;
            if (g->ends && k == 0 && i == 1) a = 1 - r->scene->handle;
            from[k] = a < 0 ? -1e300 : box_low[k] + a * size;
            to[k] = b > 1 ? 1e300 : box_low[k] + b * size;
        }
        if (!choose(s, from, to, false, taken, NULL, INT64_MAX).count) continue;
        if (!opened) fputs("    fix:\n", out);
        opened = true;
        put_chosen(out, s, from, to, false, taken, script->one ? 1 : INT64_MAX);
        if (g->twist == 0 && is_zero(g->velocity)) continue;
        fputs("        ", out);
        put_script(out, g->velocity, (const double[]){g->twist, 0, 0}, middle, 0, INFINITY);
        fputc('\n', out);
    }
    brio__free(taken);
    return BRIO_OK;
}

static void put_material(FILE *out, const Scene *s, const Shape *shape)
{
    fprintf(out, "{type: %s, E: ", strcmp(s->energy, "FCR") ? "neo-hookean" : "corotated");
    put(out, shape && shape->E > 0 ? shape->E : s->E);
    fputs(", nu: ", out);
    put(out, shape && shape->E > 0 ? shape->nu : s->nu);
    fputs(", rho: ", out);
    put(out, shape && shape->density > 0 ? shape->density : s->density);
    fputs("}\n", out);
}

static bool own_material(const Shape *s) { return s->density > 0 && s->E > 0; }

/* Kinematic shapes are obstacles: surfaces always, solids if they have a velocity. */
static bool is_obstacle(const Shape *s) { return s->kinematic || s->mesh->tet_count == 0; }

static BrioStatus put_bodies(Reader *r, FILE *out, const char *folder, const Script *script,
                             const double low[3], const double high[3])
{
    const Scene *s = r->scene;
    char path[4096];
    fputs("bodies:\n", out);
    for (int i = 0; i < s->shapes; i++) {
        Shape *shape = &s->shape[i];
        if (is_obstacle(shape)) continue;
        relative_path(folder, shape->path, path, sizeof path);
        fprintf(out, "  - name: %s\n    mesh: ", shape->name);
        put_text(out, path);
        fputs("\n    kind: solid\n    material: ", out);
        if (own_material(shape))
            fprintf(out, "material%d\n", i);
        else
            fputs("material\n", out);
        put_transform(out, shape->scale, shape->rotate, shape->translate);
        if (shape->thrown) {
            double from[3], to[3];
            box_of(shape->mesh, from, to);
            Chosen all = choose(shape, from, to, true, NULL, NULL, INT64_MAX);
            put3(out, "    velocity: {linear: ", shape->first);
            if (!is_zero(shape->first_angular)) {
                put3(out, ", angular: ", shape->first_angular);
                put3(out, ", about: ", all.about);
            }
            fputs("}\n", out);
        }
        if (shape->count[0] * shape->count[1] * shape->count[2] > 1) {
            fprintf(out, "    array: {count: [%d, %d, %d]", shape->count[0], shape->count[1],
                    shape->count[2]);
            put3(out, ", spacing: ", shape->step);
            fputs("}\n", out);
        }
        BRIO_CHECK(put_holds(r, out, shape, script, low, high));
        r->report->bodies += shape->count[0] * shape->count[1] * shape->count[2];
    }
    return BRIO_OK;
}

static void put_obstacles(Reader *r, FILE *out, const char *folder)
{
    const Scene *s = r->scene;
    char path[4096];
    fputs("obstacles:\n", out);
    for (int i = 0; i < s->shapes; i++) {
        Shape *shape = &s->shape[i];
        if (!is_obstacle(shape)) continue;
        relative_path(folder, shape->path, path, sizeof path);
        fprintf(out, "  - name: %s\n    type: mesh\n    mesh: ", shape->name);
        put_text(out, path);
        fputc('\n', out);
        put_transform(out, shape->scale, shape->rotate, shape->translate);
        if (!is_zero(shape->linear) || !is_zero(shape->angular)) {
            double low[3], high[3];
            box_of(shape->mesh, low, high);
            Chosen all = choose(shape, low, high, true, NULL, NULL, INT64_MAX);
            fputs("    ", out);
            if (shape->turns > 0 && shape->turns < s->end)
                put_way_and_back(out, shape, s->end);
            else
                put_script(out, shape->linear, shape->angular, all.about, 0, INFINITY);
            fputc('\n', out);
        }
        if (shape->count[0] * shape->count[1] * shape->count[2] > 1)
            import_note(r->report, shape->line,
                        "shapeMatrix of a surface: only its first copy is taken");
        if (shape->thrown || shape->holds)
            import_note(r->report, shape->line,
                        "initVel and DBC have no meaning for a shape that is not simulated");
        r->report->obstacles++;
    }
    for (int i = 0; i < s->obstacles; i++) {
        Obstacle *o = &s->obstacle[i];
        fprintf(out, "  - name: obstacle%d\n", i);
        if (o->plane) {
            put3(out, "    type: plane\n    point: ", o->point);
            put3(out, "\n    normal: ", o->normal);
            fputc('\n', out);
        } else {
            relative_path(folder, o->path, path, sizeof path);
            fputs("    type: mesh\n    mesh: ", out);
            put_text(out, path);
            fputc('\n', out);
            put_transform(out, (double[]){o->scale, o->scale, o->scale}, o->rotate, o->point);
        }
        r->report->obstacles++;
    }
}

/* All pairs of material names of bodies. */
static void put_pairs(FILE *out, const Scene *s, bool with_obstacles)
{
    bool shared = false;
    for (int i = 0; i < s->shapes; i++)
        shared |= !is_obstacle(&s->shape[i]) && !own_material(&s->shape[i]);
    bool first = true;
    for (int i = -1; i < s->shapes; i++) { /* -1: the material of the scene */
        if (i < 0 ? !shared : is_obstacle(&s->shape[i]) || !own_material(&s->shape[i])) continue;
        char name[32];
        snprintf(name, sizeof name, i < 0 ? "material" : "material%d", i);
        for (int j = i; !with_obstacles && j < s->shapes; j++) {
            if (j < 0 ? !shared : is_obstacle(&s->shape[j]) || !own_material(&s->shape[j]))
                continue;
            char other[32];
            snprintf(other, sizeof other, j < 0 ? "material" : "material%d", j);
            fprintf(out, "%s[%s, %s]", first ? "" : ", ", name, other);
            first = false;
        }
        for (int o = 0; with_obstacles && o < s->obstacles; o++) {
            fprintf(out, "    - {between: [%s, obstacle%d], mu: ", name, o);
            put(out, s->obstacle[o].friction);
            fputs("}\n", out);
        }
    }
}

static void put_contact(FILE *out, const Scene *s, double unit)
{
    bool differs = false;
    for (int i = 0; i < s->obstacles; i++)
        differs |= s->obstacle[i].friction != fmax(s->friction, 0);
    fputs("contact:\n  type: ipc\n  dhat: ", out);
    put(out, s->dhat * unit);
    fputs("\n  kappa: auto\n  mu: ", out);
    put(out, fmax(s->friction, 0));
    fputs("\n  epsv: ", out);
    put(out, s->epsv * unit);
    fputc('\n', out);
    if (differs) {
        fputs("  friction:\n", out);
        put_pairs(out, s, true);
    }
    if (!s->self_collision) {
        fputs("  exclude: [", out);
        put_pairs(out, s, false);
        fputs("]\n", out);
    }
}

static void name_shapes(Scene *s)
{
    for (int i = 0; i < s->shapes; i++) {
        char base[48];
        short_name(s->shape[i].path, base, sizeof base);
        snprintf(s->shape[i].name, sizeof s->shape[i].name, "%s-%d", base, i);
    }
}

static BrioStatus write_scene(Reader *r, const char *folder, FILE *out)
{
    Scene *s = r->scene;
    double low[3], high[3];
    int bodies = 0, surfaces = 0;
    const Script *script = find_script(r);
    BRIO_CHECK(place_all(r));
    apply_script(s, script);
    whole_box(s, true, low, high);
    double diagonal = diagonal_of(low, high), unit = s->absolute ? 1 : diagonal;
    whole_box(s, false, low, high);
    double lift =
        script->lift_diagonal * diagonal_of(low, high) + script->lift_height * (high[1] - low[1]);
    for (int i = 0; i < s->shapes; i++) {
        s->shape[i].translate[1] += lift;
        bodies += !is_obstacle(&s->shape[i]);
        surfaces += is_obstacle(&s->shape[i]);
    }
    low[1] += lift;
    high[1] += lift;
    if (!bodies)
        return brio__error_at(r->error, BRIO_ERROR_INPUT, r->name, 0, 0, NULL,
                              "the scene has no body to simulate: a shape with tets and without a "
                              "prescribed velocity");
    name_shapes(s);
    fputs("# imported from ", out);
    for (const char *c = r->name; *c; c++)
        fputc((unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c, out);
    fputs("\nbrio: 1\ntime: {h: ", out);
    put(out, s->h);
    fputs(", end: ", out);
    put(out, s->end);
    fputs(", fps: ", out);
    put(out, fmin(1 / s->h, 60));
    put3(out, "}\ngravity: ", (const double[]){0, s->gravity ? -9.80665 : 0, 0});
    if (!strcmp(s->integrator, "NM")) {
        fputs("\nintegrator: {type: newmark, beta: ", out);
        put(out, s->beta);
        fputs(", gamma: ", out);
        put(out, s->gamma);
        fputs("}\n", out);
    } else {
        fputs("\nintegrator: backward-euler\n", out);
    }
    fputs("solver: {tol: ", out);
    put(out, s->tol * diagonal);
    fputs("}\n", out);
    double stiffness = s->damping_ratio > 0 ? 0.75 * fmin(s->damping_ratio, 1) * s->h * s->h * s->h
                                            : fmax(s->damping_stiffness, 0);
    /* whose step weighs forces by beta h^2, and damping by what backward Euler has */
    if (!strcmp(s->integrator, "NM") && s->beta > 0) stiffness /= s->beta;
    if (stiffness > 0) {
        fputs("damping:\n  - {type: rayleigh, beta: ", out);
        put(out, stiffness / (s->h * s->h));
        fputs("}\n", out);
    }
    if (s->self_collision || surfaces || s->obstacles) put_contact(out, s, unit);
    fputs("materials:\n  material: ", out);
    put_material(out, s, NULL);
    for (int i = 0; i < s->shapes; i++) {
        if (is_obstacle(&s->shape[i]) || !own_material(&s->shape[i])) continue;
        fprintf(out, "  material%d: ", i);
        put_material(out, s, &s->shape[i]);
    }
    BRIO_CHECK(put_bodies(r, out, folder, script, low, high));
    if (surfaces || s->obstacles) put_obstacles(r, out, folder);
    return BRIO_OK;
}

BrioStatus import_ipc(const char *name, const char *folder, FILE *out, ImportReport *report,
                      BrioError *error)
{
    Scene scene = {.energy = "NH",
                   .integrator = "BE",
                   .script = "null",
                   .beta = 0.25,
                   .gamma = 0.5,
                   .size = -1,
                   .end = 5,
                   .h = 0.025,
                   .density = 1000,
                   .E = 1e5,
                   .nu = 0.4,
                   .handle = 0.01,
                   .dhat = 1e-3,
                   .epsv = 1e-3,
                   .tol = 1e-2,
                   .hold_to = INFINITY,
                   .script_value = NAN,
                   .gravity = true,
                   .self_collision = true};
    Reader r = {.name = name, .next = 1, .scene = &scene, .report = report, .error = error};
    size_t size;
    BRIO_CHECK(brio__read_file(name, &r.text, &size, error));
    BrioStatus status = BRIO_OK;
    if (memchr(r.text, 0, size))
        status = brio__error_at(error, BRIO_ERROR_INPUT, name, 0, 0, NULL,
                                "the file holds a byte 0: this is no text");
    r.at = r.text;
    while (status == BRIO_OK && next_line(&r)) status = take_line(&r);
    if (status == BRIO_OK && !scene.shapes)
        status = brio__error_at(error, BRIO_ERROR_INPUT, name, 0, 0, NULL,
                                "the scene has no shapes (\"shapes input N\" and N lines): this is "
                                "no scene of IPC, or it is empty");
    if (status == BRIO_OK) {
        locale_t before = brio__c_locale_enter();
        status = write_scene(&r, folder, out);
        brio__c_locale_leave(before);
    }
    for (int i = 0; i < scene.shapes; i++)
        if (!scene.shape[i].borrowed) brio_mesh_free(scene.shape[i].mesh);
    for (int i = 0; i < scene.obstacles; i++) brio_mesh_free(scene.obstacle[i].mesh);
    brio__free(scene.shape);
    brio__free(scene.obstacle);
    brio__free(r.text);
    return status;
}
