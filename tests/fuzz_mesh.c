/* libFuzzer target for the mesh readers. The first byte chooses the reader, the rest is the file; for TetGen the
 * first '%' separates the .node from the .ele. Whatever a reader accepts goes on through checks, surface, edges
 * and adjacency. Whatever it refuses must have a sentence of printable text.
 *
 *     clang -g -O1 -std=gnu17 -fsanitize=fuzzer,address,undefined -Iinclude -Isrc \
 *         tests/fuzz_mesh.c $(ls src/mesh/?*.c) src/base.c src/field.c -lm -o fuzz_mesh
 *     ./fuzz_mesh -max_total_time=180 -rss_limit_mb=1024 */
#include "mesh/mesh.h"
#include "mesh/readers.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool condition)
{
    if (!condition) abort();
}

static void use(BrioMesh *mesh)
{
    BrioError error = {0};
    int64_t *start;
    int32_t *neighbour;
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) return 0;
    int readers = 0;
    while (brio__mesh_reader_at(readers)) readers++;
    const char *extension = brio__mesh_reader_at(data[0] % readers)->extension, *text = (const char *)data + 1;
    size_t length = size - 1;
    char file[32];
    snprintf(file, sizeof file, "fuzz%s", extension);
    BrioMesh *mesh = NULL;
    BrioError error = {0};
    BrioStatus status;
    if (!strcmp(extension, ".node") || !strcmp(extension, ".ele")) {
        const char *cut = length ? memchr(text, '%', length) : NULL;
        size_t node = cut ? (size_t)(cut - text) : length;
        status = brio__tetgen_parse("fuzz.node", text, node, "fuzz.ele", cut ? cut + 1 : text + length,
                                    cut ? length - node - 1 : 0, &mesh, &error);
    } else {
        status = brio__mesh_parse(file, text, length, &mesh, &error);
    }
    if (status == BRIO_OK) {
        use(mesh);
        brio_mesh_free(mesh);
    } else {
        expect(status < 0 && mesh == NULL && error.status == status && error.message[0] && error.file[0]);
        for (const char *c = error.message; *c; c++) expect(*c >= 0x20 && *c < 0x7f);
    }
    return 0;
}
