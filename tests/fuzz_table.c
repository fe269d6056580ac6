/* libFuzzer target for tables of numbers (states, springs, height fields, weights): the first byte
 * is the number of columns, 0 for as many as the first row has. What is read is finite. */
#define _GNU_SOURCE
#include "scene/scene.h"

#include <math.h>
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
    if (!size) return 0;
    int fd = memfd_create("table", 0), columns = data[0] % 8;
    char name[64];
    if (fd < 0 || write(fd, data + 1, size - 1) != (ssize_t)(size - 1)) abort();
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    double *values = NULL;
    int64_t rows = 0;
    BrioError error = {0};
    BrioStatus status = columns ? brio__csv_read(name, columns, &values, &rows, &error)
                                : brio__csv_grid(name, &values, &columns, &rows, &error);
    close(fd);
    if (status != BRIO_OK) {
        expect(!values && error.message[0]);
        return 0;
    }
    expect(rows > 0 && columns > 0);
    for (int64_t i = 0; i < rows * columns; i++) expect(isfinite(values[i]));
    brio__free(values);
    return 0;
}
