/* libFuzzer target for checkpoints: the input, with its checksum made right, is restored into a
 * simulation of a box. A forged checkpoint may hold any numbers of the right sizes; whatever is
 * refused leaves a simulation that steps on. The seed is written into the corpus. */
#define _GNU_SOURCE
#include "writer.h"

#include "brio/brio.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static BrioSim *sim;

static void expect(bool condition)
{
    if (!condition) abort();
}

static void make_sim(void)
{
    char name[] = "/tmp/brio-fuzz-XXXXXX.yaml";
    BrioError error = {0};
    int fd = mkstemps(name, 5);
    expect(fd >= 0);
    dprintf(fd, "bodies: [{shape: {type: box, cells: [1, 1, 1]}, material: {type: corotated}}]\n"
                "integrator: bdf2\n");
    close(fd);
    expect(brio_sim_load(name, &sim, &error) == BRIO_OK);
    unlink(name);
}

/* The corpus is the first folder of the command line. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    BrioError error = {0};
    make_sim();
    for (int i = 1; i < *argc; i++) {
        char seed[4096];
        if ((*argv)[i][0] == '-') continue;
        snprintf(seed, sizeof seed, "%s/box", (*argv)[i]);
        expect(brio_sim_step(sim, &error) == BRIO_OK);
        brio_sim_save(sim, seed, 1, &error);
        break;
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 8) return 0;
    int fd = memfd_create("checkpoint", 0);
    char name[64];
    uint64_t sum = brio__hash(BRIO_HASH_START, data, size - 8);
    if (fd < 0 || write(fd, data, size - 8) < 0 || write(fd, &sum, 8) != 8) abort();
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    BrioError error = {0};
    BrioStatus status = brio_sim_restore(sim, name, &error);
    close(fd);
    expect(status == BRIO_OK || error.message[0]);
    if (status == BRIO_OK) { /* any numbers: begin again */
        brio_sim_free(sim);
        make_sim();
    }
    return 0;
}
