/* What importers share: small matrices, paths, and the pieces of a scene file. */
#include "import.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ---- small matrices --------------------------------------------------------------------- */

void import_multiply(double a[3][3], double b[3][3], double out[3][3])
{
    double c[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
    memcpy(out, c, sizeof c);
}

void import_apply(double a[3][3], const double *x, double *y)
{
    double z[3];
    for (int i = 0; i < 3; i++) z[i] = a[i][0] * x[0] + a[i][1] * x[1] + a[i][2] * x[2];
    memcpy(y, z, sizeof z);
}

void import_turn(const double axis[3], double radians, double out[3][3]) /* Rodrigues */
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

/* The axis and angle of a rotation, by its quaternion. */
double import_axis_of(double m[3][3], double axis[3])
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

/* ---- files ------------------------------------------------------------------------------ */

/* A path from a folder; both exist. */
void import_relative_path(const char *folder, const char *file, char *out, size_t size)
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

void import_box_of(const BrioMesh *mesh, double low[3], double high[3])
{
    for (int k = 0; k < 3; k++) low[k] = INFINITY, high[k] = -INFINITY;
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++) {
        low[i % 3] = fmin(low[i % 3], mesh->x[i]);
        high[i % 3] = fmax(high[i % 3], mesh->x[i]);
    }
}

void import_short_name(const char *path, char *name, size_t size)
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

bool import_reads(const char *extension)
{
    const BrioMeshReader *reader;
    for (int i = 0; (reader = brio__mesh_reader_at(i)); i++)
        if (!strcmp(reader->extension, extension)) return true;
    return false;
}

/* Writes the bytes to a file that is not there; `*taken`: it is, with other bytes. */
static BrioStatus write_new(const char *name, const char *text, size_t size, bool *taken,
                            BrioError *error)
{
    char *before = NULL;
    size_t length = 0;
    *taken = false;
    if (access(name, F_OK) == 0) {
        BRIO_CHECK(brio__read_file(name, &before, &length, error));
        *taken = length != size || memcmp(before, text, size);
        brio__free(before);
        return BRIO_OK;
    }
    FILE *file = fopen(name, "w");
    bool written = file && fwrite(text, 1, size, file) == size;
    if (file && fclose(file)) written = false;
    if (written) return BRIO_OK;
    return brio__error(error, BRIO_ERROR_FILE, "cannot write %.300s: %s", name, strerror(errno));
}

BrioStatus import_parts(const char *folder, const char *path, bool points, const BrioMesh *mesh,
                        char *name, size_t size, BrioError *error)
{
    char base[64], whole[4096], *text = NULL;
    size_t length = 0;
    bool taken = true;
    import_short_name(path, base, sizeof base);
    FILE *file = open_memstream(&text, &length);
    if (!file) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++)
        fprintf(file, "%s%.17g%s", i % 3 ? " " : "v ", mesh->x[i], i % 3 == 2 ? "\n" : "");
    for (int64_t i = 0; !points && i < 2 * mesh->edge_count; i++)
        fprintf(file, "%s%d%s", i % 2 ? " " : "s ", mesh->edge[i] + 1, i % 2 ? "\n" : "");
    BrioStatus status = brio__text_close(file, &text) ? brio__no_memory(error) : BRIO_OK;
    for (int i = 1; status == BRIO_OK && taken; i++) {
        char number[16] = "";
        if (i > 1) snprintf(number, sizeof number, "-%d", i);
        snprintf(name, size, "%s%s%s", base, number, points ? ".pt" : ".seg");
        snprintf(whole, sizeof whole, "%.3900s%.100s", folder, name);
        status = write_new(whole, text, length, &taken, error);
    }
    free(text);
    return status;
}

/* ---- pieces of a scene ------------------------------------------------------------------- */

/* Fifteen digits: what was computed on the way ends in round numbers where it should. */
void import_put(FILE *out, double value) { fprintf(out, "%.15g", value + 0.0); }

void import_put3(FILE *out, const char *key, const double v[3])
{
    fprintf(out, "%s[", key);
    for (int k = 0; k < 3; k++) {
        if (k) fputs(", ", out);
        import_put(out, v[k]);
    }
    fputc(']', out);
}

/* A text in quotes. */
void import_put_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

bool import_is_zero(const double v[3]) { return v[0] == 0 && v[1] == 0 && v[2] == 0; }

void import_put_transform(FILE *out, double scale[3], double rotate[3][3],
                          const double translate[3])
{
    double axis[3], degrees = import_axis_of(rotate, axis);
    fputs("    transform: {scale: ", out);
    if (scale[0] == scale[1] && scale[1] == scale[2])
        import_put(out, scale[0]);
    else
        import_put3(out, "", scale);
    if (fabs(degrees) > 1e-12) {
        import_put3(out, ", rotate: [", axis);
        fputs(", ", out);
        import_put(out, degrees);
        fputc(']', out);
    }
    import_put3(out, ", translate: ", translate);
    fputs("}\n", out);
}

void import_put_script(FILE *out, const double linear[3], const double angular[3],
                       const double about[3], double start, double end)
{
    fputs("script: {", out);
    import_put3(out, "velocity: ", linear);
    if (!import_is_zero(angular)) {
        import_put3(out, ", angular: ", angular);
        import_put3(out, ", about: ", about);
    }
    if (start > 0) fputs(", start: ", out), import_put(out, start);
    if (isfinite(end)) fputs(", end: ", out), import_put(out, end);
    fputc('}', out);
}

/* The keys of a motion that goes `way` at `linear` up to each time. */
void import_put_ways(FILE *out, const double linear[3], int count, const double *time,
                     const double *way)
{
    fputs("keys: [", out);
    for (int t = 0; t < count; t++) {
        fputs(t ? ", [" : "[", out);
        import_put(out, time[t]);
        for (int k = 0; k < 3; k++) fputs(", ", out), import_put(out, way[t] * linear[k]);
        fputc(']', out);
    }
    fputc(']', out);
}
