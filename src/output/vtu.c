/* VTK unstructured grids, one file a frame, and the .pvd index that gives ParaView their times.
 *
 * Positions and velocities are doubles; solids are tets, triangle meshes triangles, springs without triangles lines.
 * Arrays stand in the XML as base64: the number of bytes (64 bits) and the bytes, encoded as one stream [VTK User's
 * Guide, file formats]. */
#include "frames.h"

#include <string.h>

/* ---- base64 ------------------------------------------------------------------------------------- */

typedef struct Base64 {
    FILE *file;
    unsigned char rest[3];
    int used;
    int column;
    char out[4096];
} Base64;

static void put_triple(Base64 *b, const unsigned char *t, int bytes)
{
    static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *out = b->out + b->column;
    out[0] = letter[t[0] >> 2];
    out[1] = letter[(t[0] & 3) << 4 | t[1] >> 4];
    out[2] = bytes > 1 ? letter[(t[1] & 15) << 2 | t[2] >> 6] : '=';
    out[3] = bytes > 2 ? letter[t[2] & 63] : '=';
    b->column += 4;
    if (b->column < (int)sizeof b->out) return;
    fwrite(b->out, 1, sizeof b->out, b->file);
    b->column = 0;
}

static void put(Base64 *b, const void *data, size_t size)
{
    const unsigned char *at = data, *end = at + size;
    while (b->used > 0 && at < end) {
        b->rest[b->used++] = *at++;
        if (b->used < 3) continue;
        put_triple(b, b->rest, 3);
        b->used = 0;
    }
    for (; end - at >= 3; at += 3) put_triple(b, at, 3);
    while (at < end) b->rest[b->used++] = *at++;
}

static void finish(Base64 *b)
{
    if (b->used) {
        memset(b->rest + b->used, 0, (size_t)(3 - b->used));
        put_triple(b, b->rest, b->used);
    }
    fwrite(b->out, 1, (size_t)b->column, b->file);
}

static void start(Base64 *b, FILE *file, const char *type, const char *name, int components, uint64_t bytes)
{
    *b = (Base64){.file = file};
    fprintf(file, "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"binary\">\n", type, name,
            components);
    put(b, &bytes, sizeof bytes);
}

static void end(Base64 *b)
{
    finish(b);
    fputs("\n</DataArray>\n", b->file);
}

/* ---- cells -------------------------------------------------------------------------------------- */

/* What a body is drawn as: `corners` vertices a cell. */
typedef struct Cells {
    int corners;
    int64_t count;
    const int32_t *vertex;
} Cells;

static Cells cells_of(const BrioBody *body)
{
    if (body->tet_count) return (Cells){4, body->tet_count, body->tet};
    if (body->triangle_count) return (Cells){3, body->triangle_count, body->triangle};
    return (Cells){2, body->edge_count, body->edge};
}

static void write_cells(const BrioSystem *s, FILE *file)
{
    static const unsigned char type[] = {[2] = 3, [3] = 5, [4] = 10}; /* VTK_LINE, VTK_TRIANGLE, VTK_TETRA */
    uint64_t count = 0, corners = 0;
    Base64 b;
    for (int i = 0; i < s->body_count; i++) {
        Cells cells = cells_of(&s->body[i]);
        count += (uint64_t)cells.count;
        corners += (uint64_t)cells.count * (uint64_t)cells.corners;
    }
    fputs("<Cells>\n", file);
    start(&b, file, "Int32", "connectivity", 1, 4 * corners);
    for (int i = 0; i < s->body_count; i++) {
        Cells cells = cells_of(&s->body[i]);
        for (int64_t k = 0; k < cells.count * cells.corners; k++) {
            int32_t vertex = (int32_t)s->body[i].first + cells.vertex[k];
            put(&b, &vertex, sizeof vertex);
        }
    }
    end(&b);
    int64_t offset = 0;
    start(&b, file, "Int64", "offsets", 1, 8 * count);
    for (int i = 0; i < s->body_count; i++) {
        Cells cells = cells_of(&s->body[i]);
        for (int64_t k = 0; k < cells.count; k++) {
            offset += cells.corners;
            put(&b, &offset, sizeof offset);
        }
    }
    end(&b);
    start(&b, file, "UInt8", "types", 1, count);
    for (int i = 0; i < s->body_count; i++) {
        Cells cells = cells_of(&s->body[i]);
        for (int64_t k = 0; k < cells.count; k++) put(&b, &type[cells.corners], 1);
    }
    end(&b);
    fputs("</Cells>\n<CellData Scalars=\"body\">\n", file);
    start(&b, file, "Int32", "body", 1, 4 * count);
    for (int32_t i = 0; i < s->body_count; i++)
        for (int64_t k = cells_of(&s->body[i]).count; k > 0; k--) put(&b, &i, sizeof i);
    end(&b);
    fputs("</CellData>\n", file);
}

static void write(const BrioFrame *frame, FILE *file)
{
    const BrioSystem *s = frame->system;
    uint64_t vertices = (uint64_t)s->body_vertices, cells = 0;
    size_t bytes = (size_t)vertices * 3 * sizeof(double);
    const uint16_t mark = 1;
    Base64 b;
    for (int i = 0; i < s->body_count; i++) cells += (uint64_t)cells_of(&s->body[i]).count;
    fprintf(file,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"%s\" "
            "header_type=\"UInt64\">\n<UnstructuredGrid>\n",
            *(const unsigned char *)&mark ? "LittleEndian" : "BigEndian");
    fprintf(file,
            "<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
            "format=\"ascii\">%.17g</DataArray>\n</FieldData>\n",
            frame->time);
    fprintf(file, "<Piece NumberOfPoints=\"%llu\" NumberOfCells=\"%llu\">\n<Points>\n", (unsigned long long)vertices,
            (unsigned long long)cells);
    start(&b, file, "Float64", "position", 3, bytes);
    put(&b, frame->x, bytes);
    end(&b);
    fputs("</Points>\n<PointData Vectors=\"velocity\">\n", file);
    start(&b, file, "Float64", "velocity", 3, bytes);
    put(&b, frame->v, bytes);
    end(&b);
    start(&b, file, "Int32", "body", 1, 4 * vertices);
    for (int32_t i = 0; i < s->body_count; i++)
        for (int64_t k = s->body[i].count; k > 0; k--) put(&b, &i, sizeof i);
    end(&b);
    fputs("</PointData>\n", file);
    write_cells(s, file);
    fputs("</Piece>\n</UnstructuredGrid>\n</VTKFile>\n", file);
}

extern const BrioFrameFormat brio__frames_vtu;

static void write_index(const double *times, int64_t count, FILE *file)
{
    char name[64];
    fputs("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n<Collection>\n", file);
    for (int64_t k = 0; k < count; k++) {
        brio__frame_name(&brio__frames_vtu, k, name, sizeof name);
        fprintf(file, "<DataSet timestep=\"%.17g\" file=\"%s\"/>\n", times[k], name);
    }
    fputs("</Collection>\n</VTKFile>\n", file);
}

BRIO_FRAMES(vtu){
    .name = "vtu",
    .extension = "vtu",
    .summary = "VTK unstructured grids with velocities, and frames.pvd for ParaView.",
    .write = write,
    .index_name = "frames.pvd",
    .index = write_index,
};
