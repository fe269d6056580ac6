/* libFuzzer target for the reader of motions. What it accepts is decoded and drawn over; what it
 * refuses must have a sentence. */
#define _GNU_SOURCE
#include "output/motion.h"
#include "picture/stage.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool condition)
{
    if (!condition) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    BrioMotionFile *motion;
    BrioError error = {0};
    int fd = memfd_create("motion", 0);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r+");
    if (!file || fwrite(data, 1, size, file) != size || fflush(file)) abort();
    if (brio__motion_read(file, "motion", &motion, &error) != BRIO_OK) {
        expect(error.message[0] != 0);
        return 0;
    }
    float *x = malloc((3 * (size_t)motion->vertex_count + 1) * sizeof *x), low[3], high[3];
    for (int64_t k = 0; x && k < BRIO_MIN(motion->frame_count, 3); k++)
        expect(brio__motion_positions(motion, k, x, &error) == BRIO_OK);
    for (int i = 0; i < motion->part_count; i++) {
        const BrioMotionPart *p = &motion->part[i];
        int32_t *slot = malloc((3 * (size_t)p->triangle_count + 1) * sizeof *slot);
        int32_t *vertex = malloc((3 * (size_t)p->triangle_count + 1) * sizeof *vertex);
        brio__motion_box(motion, i, x, low, high);
        expect(brio__smooth_slots(p->rest, p->vertex_count, p->triangle, p->triangle_count, slot,
                                  vertex) <= 3 * (int64_t)p->triangle_count);
        free(slot);
        free(vertex);
    }
    free(x);
    brio__motion_free(motion);
    return 0;
}
