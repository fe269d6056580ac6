/* libFuzzer targets for the mesh readers, one program for each (cmake/fuzz.cmake): BRIO_FUZZ_READER
 * is its extension, and the input is the file; without it the first byte chooses the reader. For
 * TetGen the first '%' separates the .node from the .ele. The corpus begins with the seeds of
 * mesh_seeds.h. Whatever a reader accepts goes on through checks, surface, edges and adjacency, and
 * through every writer and back. Whatever it refuses must have a sentence of printable text. */
#include "mesh_seeds.h"

#include "mesh/mesh.h"
#include "mesh/readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool condition)
{
    if (!condition) abort();
}

/* What is written must be read again with the same counts. */
static void write_and_read(const BrioMesh *mesh)
{
    for (int i = 0; brio__mesh_writer_at(i); i++) {
        const BrioMeshWriter *w = brio__mesh_writer_at(i);
        if (!w->tets || w->second) continue; /* the formats that hold everything */
        char file[16], *text = NULL;
        size_t size = 0;
        FILE *stream = open_memstream(&text, &size);
        w->write(mesh, mesh->vertex_count % 2, stream);
        fclose(stream);
        snprintf(file, sizeof file, "x%s", w->extension);
        BrioMesh *again = NULL;
        expect(brio__mesh_parse(file, text, size, &again, NULL) == BRIO_OK);
        expect(again->vertex_count == mesh->vertex_count && again->tet_count == mesh->tet_count &&
               again->triangle_count == mesh->triangle_count &&
               again->edge_count == mesh->edge_count);
        expect(!memcmp(again->x, mesh->x, 3 * (size_t)mesh->vertex_count * sizeof *mesh->x));
        brio_mesh_free(again);
        free(text);
    }
}

static void use(BrioMesh *mesh)
{
    BrioError error = {0};
    int64_t *start;
    int32_t *neighbour;
    /* points alone are not written (brio__mesh_fit) */
    if (mesh->tet_count + mesh->triangle_count + mesh->edge_count > 0) write_and_read(mesh);
    expect(brio__mesh_check(mesh, &error) == BRIO_OK);
    if (brio__mesh_check_solid(mesh, &error) != BRIO_OK) expect(error.message[0] != 0);
    error = (BrioError){0};
    if (brio__mesh_check_springs(mesh, &error) != BRIO_OK) expect(error.message[0] != 0);
    error = (BrioError){0};
    if (brio__mesh_surface(mesh, &error) != BRIO_OK) expect(error.message[0] != 0);
    expect(brio__mesh_edges_from_triangles(mesh) == BRIO_OK);
    expect(brio__mesh_check(mesh, NULL) == BRIO_OK);
    expect(brio__mesh_adjacency(mesh, &start, &neighbour) == BRIO_OK);
    brio__free(start);
    brio__free(neighbour);
}

#ifdef BRIO_FUZZ_READER
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Writes the seeds into the corpus, the first folder of the command line, before it is read. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static Seed seed[MAX_SEEDS];
    const char *corpus = NULL;
    for (int i = 1; i < *argc && !corpus; i++)
        if ((*argv)[i][0] != '-') corpus = (*argv)[i];
    int count = corpus ? make_seeds(seed) : 0;
    for (int i = 0; i < count; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/seed-%d", corpus, i);
        FILE *file = strcmp(seed[i].extension, BRIO_FUZZ_READER) ? NULL : fopen(name, "wb");
        if (!file) continue;
        fwrite(seed[i].data, 1, seed[i].size, file);
        fclose(file);
    }
    free_seeds(seed, count);
    return 0;
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) return 0;
#ifdef BRIO_FUZZ_READER
    const char *extension = BRIO_FUZZ_READER, *text = (const char *)data;
    size_t length = size;
#else
    int readers = 0;
    while (brio__mesh_reader_at(readers)) readers++;
    const char *extension = brio__mesh_reader_at(data[0] % readers)->extension;
    const char *text = (const char *)data + 1;
    size_t length = size - 1;
#endif
    char file[32];
    snprintf(file, sizeof file, "fuzz%s", extension);
    BrioMesh *mesh = NULL;
    BrioError error = {0};
    BrioStatus status;
    if (!strcmp(extension, ".node") || !strcmp(extension, ".ele")) {
        const char *cut = length ? memchr(text, '%', length) : NULL;
        size_t node = cut ? (size_t)(cut - text) : length;
        status =
            brio__tetgen_parse("fuzz.node", text, node, "fuzz.ele", cut ? cut + 1 : text + length,
                               cut ? length - node - 1 : 0, &mesh, &error);
    } else {
        status = brio__mesh_parse(file, text, length, &mesh, &error);
    }
    if (status == BRIO_OK) {
        use(mesh);
        brio_mesh_free(mesh);
    } else {
        expect(status < 0 && mesh == NULL && error.status == status && error.message[0] &&
               error.file[0]);
        for (const char *c = error.message; *c; c++) expect(*c >= 0x20 && *c < 0x7f);
    }
    return 0;
}
