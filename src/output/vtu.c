/* VTK unstructured grids, one file per frame, and the .pvd index that gives ParaView their times.
 *
 * Positions and velocities are doubles; solids are tets, triangle meshes triangles, springs without
 * triangles lines. From a motion alone, solids are their surfaces, and velocities stand in any
 * case. Arrays stand in the XML as base64: the number of bytes (64 bits) and the bytes, encoded as
 * one stream [VTK User's Guide, file formats]. */
#include "../base64.h"
#include "frames.h"
#include "html.h"

static void start(BrioBase64 *b, FILE *file, const char *type, const char *name, int components,
                  uint64_t bytes)
{
    *b = (BrioBase64){.file = file};
    fprintf(file,
            "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"binary\">\n",
            type, name, components);
    brio__base64_put(b, &bytes, sizeof bytes);
}

static void end(BrioBase64 *b)
{
    brio__base64_end(b);
    fputs("\n</DataArray>\n", b->file);
}

/* ---- cells ------------------------------------------------------------------------------ */

/* What a body is drawn as: `corners` vertices per cell. */
typedef struct Cells {
    int corners;
    int64_t count;
    const int32_t *vertex; /* NULL: every vertex is a cell */
    const BrioTerm *term;  /* or the elements of a term: a process writes those that are its own */
    int64_t first;
} Cells;

static int32_t corner_of(const Cells *cells, int64_t k)
{
    if (cells->term) {
        int place = (int)(k % cells->corners);
        int64_t vertex = brio__term_vertex(cells->term, k / cells->corners, place);
        return (int32_t)(vertex - cells->first);
    }
    return cells->vertex ? cells->vertex[k] : (int32_t)k;
}

/* What is without triangles: its edges, or else its vertices. */
static Cells thin_cells(int64_t edges, const int32_t *edge, int64_t vertices)
{
    return edges ? (Cells){.corners = 2, .count = edges, .vertex = edge}
                 : (Cells){.corners = 1, .count = vertices};
}

/* The bodies of the system, or the parts that are seen where only those are known. */
static int owner_count(const BrioFrame *frame)
{
    return frame->system ? frame->system->body_count : frame->motion->part_count;
}

static Cells cells_of(const BrioFrame *frame, int owner)
{
    if (!frame->system) {
        const BrioMotionPart *p = &frame->motion->part[owner];
        if (!brio__frame_shows(frame, owner)) return (Cells){0};
        return p->triangle_count
                   ? (Cells){.corners = 3, .count = p->triangle_count, .vertex = p->triangle}
                   : thin_cells(p->edge_count, p->edge, p->vertex_count);
    }
    const BrioBody *body = &frame->system->body[owner];
    const BrioTerm *term = &frame->system->term[body->term];
    if (frame->system->partition && body->mass_point < 0)
        return (Cells){.corners = term->energy->nodes,
                       .count = term->energy->nodes > 1 ? term->elements : 0,
                       .term = term,
                       .first = body->first};
    /* what moves as one is the first process's affair */
    if (!brio__partition_is_root(frame->system->partition)) return (Cells){0};
    if (body->tet_count)
        return (Cells){.corners = 4, .count = body->tet_count, .vertex = body->tet};
    if (body->triangle_count)
        return (Cells){.corners = 3, .count = body->triangle_count, .vertex = body->triangle};
    return thin_cells(body->edge_count, body->edge, body->count);
}

static int64_t vertices_of(const BrioFrame *frame, int owner)
{
    if (frame->system) return frame->system->body[owner].count;
    return brio__frame_shows(frame, owner) ? frame->motion->part[owner].vertex_count : 0;
}

/* Three numbers for each vertex of all owners. */
static void put_vertices(BrioBase64 *b, const BrioFrame *frame, const double *world,
                         const double *seen)
{
    if (frame->system) {
        brio__base64_put(b, world, 3 * (size_t)frame->system->body_vertices * sizeof *world);
        return;
    }
    for (int i = 0; i < frame->motion->part_count; i++) {
        brio__base64_put(b, seen, 3 * (size_t)vertices_of(frame, i) * sizeof *seen);
        seen += 3 * (size_t)frame->motion->part[i].vertex_count;
    }
}

static void write_cells(const BrioFrame *frame, FILE *file)
{
    /* VTK_VERTEX, VTK_LINE, VTK_TRIANGLE, VTK_TETRA */
    static const unsigned char type[] = {[1] = 1, [2] = 3, [3] = 5, [4] = 10};
    uint64_t count = 0, corners = 0;
    BrioBase64 b;
    for (int i = 0; i < owner_count(frame); i++) {
        Cells cells = cells_of(frame, i);
        count += (uint64_t)cells.count;
        corners += (uint64_t)cells.count * (uint64_t)cells.corners;
    }
    fputs("<Cells>\n", file);
    int64_t first = 0;
    start(&b, file, "Int32", "connectivity", 1, 4 * corners);
    for (int i = 0; i < owner_count(frame); i++) {
        Cells cells = cells_of(frame, i);
        for (int64_t k = 0; k < cells.count * cells.corners; k++) {
            int32_t vertex = (int32_t)first + corner_of(&cells, k);
            brio__base64_put(&b, &vertex, sizeof vertex);
        }
        first += vertices_of(frame, i);
    }
    end(&b);
    int64_t offset = 0;
    start(&b, file, "Int64", "offsets", 1, 8 * count);
    for (int i = 0; i < owner_count(frame); i++) {
        Cells cells = cells_of(frame, i);
        for (int64_t k = 0; k < cells.count; k++) {
            offset += cells.corners;
            brio__base64_put(&b, &offset, sizeof offset);
        }
    }
    end(&b);
    start(&b, file, "UInt8", "types", 1, count);
    for (int i = 0; i < owner_count(frame); i++) {
        Cells cells = cells_of(frame, i);
        for (int64_t k = 0; k < cells.count; k++) brio__base64_put(&b, &type[cells.corners], 1);
    }
    end(&b);
    fputs("</Cells>\n<CellData Scalars=\"body\">\n", file);
    start(&b, file, "Int32", "body", 1, 4 * count);
    for (int32_t i = 0; i < owner_count(frame); i++)
        for (int64_t k = cells_of(frame, i).count; k > 0; k--) brio__base64_put(&b, &i, sizeof i);
    end(&b);
    fputs("</CellData>\n", file);
}

static void write(const BrioFrame *frame, FILE *file)
{
    uint64_t vertices = 0, cells = 0;
    const uint16_t mark = 1;
    BrioBase64 b;
    for (int i = 0; i < owner_count(frame); i++) {
        cells += (uint64_t)cells_of(frame, i).count;
        vertices += (uint64_t)vertices_of(frame, i);
    }
    size_t bytes = (size_t)vertices * 3 * sizeof(double);
    fprintf(file,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
            "byte_order=\"%s\" "
            "header_type=\"UInt64\">\n<UnstructuredGrid>\n",
            *(const unsigned char *)&mark ? "LittleEndian" : "BigEndian");
    fprintf(file,
            "<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
            "format=\"ascii\">%.17g</DataArray>\n</FieldData>\n",
            frame->time);
    fprintf(file, "<Piece NumberOfPoints=\"%llu\" NumberOfCells=\"%llu\">\n<Points>\n",
            (unsigned long long)vertices, (unsigned long long)cells);
    start(&b, file, "Float64", "position", 3, bytes);
    put_vertices(&b, frame, frame->x, frame->seen);
    end(&b);
    fputs("</Points>\n<PointData Vectors=\"velocity\">\n", file);
    start(&b, file, "Float64", "velocity", 3, bytes);
    put_vertices(&b, frame, frame->v, frame->seen_v);
    end(&b);
    start(&b, file, "Int32", "body", 1, 4 * vertices);
    for (int32_t i = 0; i < owner_count(frame); i++)
        for (int64_t k = vertices_of(frame, i); k > 0; k--) brio__base64_put(&b, &i, sizeof i);
    end(&b);
    fputs("</PointData>\n", file);
    write_cells(frame, file);
    fputs("</Piece>\n</UnstructuredGrid>\n</VTKFile>\n", file);
}

extern const BrioFrameFormat brio__frames_vtu;

/* What the pieces have, and their names [VTK User's Guide, parallel XML formats]. */
static void join(const char *stem, int64_t number, int pieces, FILE *file)
{
    char name[256];
    fputs(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"PUnstructuredGrid\" version=\"1.0\" "
        "header_type=\"UInt64\">\n<PUnstructuredGrid GhostLevel=\"0\">\n"
        "<PPoints>\n<PDataArray type=\"Float64\" Name=\"position\" "
        "NumberOfComponents=\"3\"/>\n</PPoints>\n"
        "<PPointData Vectors=\"velocity\">\n<PDataArray type=\"Float64\" Name=\"velocity\" "
        "NumberOfComponents=\"3\"/>\n<PDataArray type=\"Int32\" Name=\"body\"/>\n</PPointData>\n"
        "<PCellData Scalars=\"body\">\n<PDataArray type=\"Int32\" Name=\"body\"/>\n</PCellData>\n",
        file);
    for (int p = 0; p < pieces; p++) {
        brio__frame_piece_name(&brio__frames_vtu, stem, number, p, name, sizeof name);
        fputs("<Piece Source=\"", file);
        brio__html_text(file, name);
        fputs("\"/>\n", file);
    }
    fputs("</PUnstructuredGrid>\n</VTKFile>\n", file);
}

static void write_index(const char *stem, const char *const *extension, const double *times,
                        int64_t count, FILE *file)
{
    fputs("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n<Collection>\n",
          file);
    for (int64_t k = 0; k < count; k++) {
        fprintf(file, "<DataSet timestep=\"%.17g\" file=\"", times[k]);
        brio__html_text(file, stem);
        fprintf(file, "_%06lld.%s\"/>\n", (long long)k, extension[k]);
    }
    fputs("</Collection>\n</VTKFile>\n", file);
}

BRIO_FRAMES(vtu){
    .name = "vtu",
    .extension = "vtu",
    .summary = "VTK unstructured grids with velocities, and frames.pvd for ParaView.",
    .write = write,
    .index_extension = "pvd",
    .index = write_index,
    .joint_extension = "pvtu",
    .join = join,
};
