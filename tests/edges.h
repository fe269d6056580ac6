/* Graphs in tests: lists of edges. */
#ifndef BRIO_TEST_EDGES_H
#define BRIO_TEST_EDGES_H

#include <stdint.h>
#include <stdlib.h>

typedef struct Edges {
    int32_t (*edge)[2];
    int64_t count, room;
} Edges;

static void add_edge(Edges *e, int32_t a, int32_t b)
{
    if (e->count == e->room) {
        e->room = 2 * e->room + 64;
        e->edge = realloc(e->edge, (size_t)e->room * sizeof *e->edge);
    }
    e->edge[e->count][0] = a;
    e->edge[e->count++][1] = b;
}

/* The vertices of a box of cells, six tets each. */
static void add_box(Edges *e, int32_t first, int nx, int ny, int nz)
{
    static const int step[7][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0},
                                   {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++)
                for (int s = 0; s < 7; s++) {
                    int X = x + step[s][0], Y = y + step[s][1], Z = z + step[s][2];
                    if (X < nx && Y < ny && Z < nz)
                        add_edge(e, first + (z * ny + y) * nx + x, first + (Z * ny + Y) * nx + X);
                }
}

#endif
