/* USD as text: one mesh a body with its points, velocities and bounds at every frame. Polygons,
 * texture coordinates (primvars:st) and groups are those of the body's file. Springs without a
 * surface are linear curves, bodies without elements points. Times are frames, timeCodesPerSecond
 * of them a second. */
#include "film.h"

#include <string.h>

/* What of a prim changes with time: a point of the part for each of its points. */
typedef struct Prim {
    const BrioMotionPart *part;
    int64_t count;
    const int32_t *vertex; /* NULL: the vertices in their order */
} Prim;

static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/* Names are identifiers, and `number` makes them different. */
static void identifier(const char *name, int64_t number, bool twin, char *text, size_t size)
{
    size_t used = 0;
    if (!letter(name[0])) text[used++] = '_';
    for (const char *at = name; *at && used + 24 < size; at++)
        text[used++] = letter(*at) || (*at >= '0' && *at <= '9') ? *at : '_';
    text[used] = 0;
    if (twin || strcmp(text, name)) snprintf(text + used, size - used, "_%lld", (long long)number);
}

static void quoted(const char *text, FILE *file)
{
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') fputc('\\', file);
        fputc((unsigned char)*text < 0x20 ? ' ' : *text, file);
    }
    fputc('"', file);
}

static void write_points(const Prim *prim, const float *x, FILE *file)
{
    fputc('[', file);
    for (int64_t k = 0; k < prim->count; k++) {
        const float *p = x + 3 * (prim->vertex ? prim->vertex[k] : k);
        fprintf(file, k ? ", (%.9g, %.9g, %.9g)" : "(%.9g, %.9g, %.9g)", p[0], p[1], p[2]);
    }
    fputc(']', file);
}

static void write_extent(const Prim *prim, const float *x, FILE *file)
{
    float low[3] = {0, 0, 0}, high[3] = {0, 0, 0};
    for (int64_t k = 0; k < prim->count; k++)
        for (int r = 0; r < 3; r++) {
            float value = x[3 * (prim->vertex ? prim->vertex[k] : k) + r];
            low[r] = k ? fminf(low[r], value) : value;
            high[r] = k ? fmaxf(high[r], value) : value;
        }
    fprintf(file, "[(%.9g, %.9g, %.9g), (%.9g, %.9g, %.9g)]", low[0], low[1], low[2], high[0],
            high[1], high[2]);
}

/* The first value as the default, for programs that do not look at times, and all of them as
 * samples. */
typedef enum Attribute { POINTS, VELOCITIES, EXTENT } Attribute;

static BrioStatus write_samples(BrioFilm *film, int part, const Prim *prim, Attribute what,
                                FILE *file, BrioError *error)
{
    static const char *const names[] = {"point3f[] points", "vector3f[] velocities",
                                        "float3[] extent"};
    bool moves = !film->motion->part[part].still && film->count > 1;
    for (int64_t k = -1; k < (moves ? film->count : 0); k++) {
        int64_t frame = BRIO_MAX(k, 0);
        if (what == VELOCITIES)
            BRIO_CHECK(brio__film_velocities(film, frame, part, error));
        else
            BRIO_CHECK(brio__film_positions(film, frame, part, error));
        if (k < 0)
            fprintf(file, "        %s = ", names[what]);
        else
            fprintf(file, "            %.17g: ", brio__film_code(film, frame));
        if (what == EXTENT)
            write_extent(prim, film->x, file);
        else
            write_points(prim, what == VELOCITIES ? film->v : film->x, file);
        fputs(k < 0 ? "\n" : ",\n", file);
        if (k < 0 && moves) fprintf(file, "        %s.timeSamples = {\n", names[what]);
    }
    if (moves) fputs("        }\n", file);
    return BRIO_OK;
}

/* ---- what does not change --------------------------------------------------------------- */

static void write_integers(const char *name, const int32_t *values, int64_t count, FILE *file)
{
    fprintf(file, "        int[] %s = [", name);
    for (int64_t k = 0; k < count; k++) fprintf(file, k ? ", %d" : "%d", values[k]);
    fputs("]\n", file);
}

static void write_counts(const char *name, const int32_t *start, int64_t count, int32_t each,
                         FILE *file)
{
    fprintf(file, "        int[] %s = [", name);
    for (int64_t k = 0; k < count; k++)
        fprintf(file, k ? ", %d" : "%d", start ? start[k + 1] - start[k] : each);
    fputs("]\n", file);
}

static void write_textures(const BrioFaces *f, FILE *file)
{
    fputs("        texCoord2f[] primvars:st = [", file);
    for (int64_t k = 0; k < f->uv_count; k++)
        fprintf(file, k ? ", (%.9g, %.9g)" : "(%.9g, %.9g)", f->uv[2 * k], f->uv[2 * k + 1]);
    fputs("] (\n            interpolation = \"faceVarying\"\n        )\n        int[] "
          "primvars:st:indices = [",
          file);
    for (int32_t c = 0; c < f->start[f->count]; c++)
        fprintf(file, c ? ", %d" : "%d", BRIO_MAX(f->corner_uv[c], 0));
    fputs("]\n", file);
}

static void write_groups(const BrioFaces *f, FILE *file)
{
    for (int32_t g = 0; g < f->group_count; g++) {
        char name[320];
        int twins = 0;
        int64_t used = 0;
        for (int32_t other = 0; other < f->group_count; other++)
            twins += !strcmp(f->group[other], f->group[g]);
        identifier(f->group[g], g, twins > 1, name, sizeof name);
        fprintf(file,
                "\n        def GeomSubset \"%s\"\n        {\n            uniform token elementType "
                "= \"face\"\n            uniform token familyName = \"group\"\n            int[] "
                "indices = [",
                name);
        for (int64_t k = 0; k < f->count; k++)
            if (f->face_group[k] == g) fprintf(file, used++ ? ", %lld" : "%lld", (long long)k);
        fputs("]\n        }\n", file);
    }
}

static void write_mesh(const BrioMotionPart *p, FILE *file)
{
    const BrioFaces *f = p->faces;
    write_counts("faceVertexCounts", f ? f->start : NULL, f ? f->count : p->triangle_count, 3,
                 file);
    write_integers("faceVertexIndices", f ? f->vertex : p->triangle,
                   f ? f->start[f->count] : 3 * (int64_t)p->triangle_count, file);
    fprintf(file,
            "        uniform token orientation = \"rightHanded\"\n        uniform token "
            "subdivisionScheme = \"none\"\n        uniform bool doubleSided = %d\n",
            p->closed == 0);
    if (f && f->corner_uv) write_textures(f, file);
}

/* Widths for things that have none: a hundredth of the body's size. */
static double width_of(const BrioMotionPart *p)
{
    float low[3] = {INFINITY, INFINITY, INFINITY};
    float high[3] = {-INFINITY, -INFINITY, -INFINITY};
    float size = 0;
    for (int64_t k = 0; k < 3 * (int64_t)p->vertex_count; k++)
        low[k % 3] = fminf(low[k % 3], p->rest[k]), high[k % 3] = fmaxf(high[k % 3], p->rest[k]);
    for (int r = 0; r < 3; r++) size = fmaxf(size, high[r] - low[r]);
    return size > 0 ? 0.01 * size : 0.01;
}

static BrioStatus write_part(BrioFilm *film, int part, FILE *file, BrioError *error)
{
    const BrioMotionPart *p = &film->motion->part[part];
    bool mesh = p->triangle_count > 0, curves = !mesh && p->edge_count;
    Prim prim = {p, curves ? 2 * (int64_t)p->edge_count : p->vertex_count, curves ? p->edge : NULL};
    int twins = 0;
    char name[320];
    for (int i = 0; i < film->motion->part_count; i++)
        twins += !strcmp(film->motion->part[i].name, p->name);
    identifier(p->name, part, twins > 1, name, sizeof name);
    fprintf(file, "\n    def %s \"%s\"\n    {\n        custom string brio:name = ",
            mesh     ? "Mesh"
            : curves ? "BasisCurves"
                     : "Points",
            name);
    quoted(p->name, file);
    fputc('\n', file);
    if (mesh) write_mesh(p, file);
    if (curves) {
        fputs("        uniform token type = \"linear\"\n", file);
        write_counts("curveVertexCounts", NULL, p->edge_count, 2, file);
    }
    if (!mesh)
        fprintf(file,
                "        float[] widths = [%.6g] (\n            interpolation = \"constant\"\n     "
                "   )\n",
                width_of(p));
    BRIO_CHECK(write_samples(film, part, &prim, EXTENT, file, error));
    BRIO_CHECK(write_samples(film, part, &prim, POINTS, file, error));
    BRIO_CHECK(write_samples(film, part, &prim, VELOCITIES, file, error));
    if (mesh && p->faces && p->faces->face_group) write_groups(p->faces, file);
    fputs("    }\n", file);
    return BRIO_OK;
}

static BrioStatus write(BrioFilm *film, int part, FILE *file, BrioError *error)
{
    (void)part;       /* all of them */
    film->total *= 2; /* points and bounds are two passes */
    fprintf(file,
            "#usda 1.0\n(\n    defaultPrim = \"brio\"\n    startTimeCode = %.17g\n    endTimeCode "
            "= %.17g\n    timeCodesPerSecond = %.17g\n    framesPerSecond = %.17g\n"
            "    metersPerUnit = 1\n    upAxis = \"Y\"\n)\n\ndef Xform \"brio\"\n{",
            brio__film_code(film, 0), brio__film_code(film, film->count - 1), film->motion->fps,
            film->motion->fps);
    for (int i = 0; i < film->motion->part_count; i++)
        if (brio__film_shows(film, i)) BRIO_CHECK(write_part(film, i, file, error));
    fputs("}\n", file);
    return BRIO_OK;
}

BRIO_FRAMES(usda){
    .name = "usda",
    .extension = "usda",
    .summary = "USD as text: all bodies with points and velocities at every frame.",
    .film = write,
    .velocities = true,
};
