/* libFuzzer target for the readers of sequences (.pc2, .mdd, .csv, .glb): the first byte chooses
 * one, the rest is the file. What is accepted is sound and can be looked up at any time; what is
 * refused has a sentence. */
#include "mesh/sequence.h"

#include "brio/motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool condition)
{
    if (!condition) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const name[] = {"x.pc2", "x.mdd", "x.csv", "x.glb"};
    if (!size) return 0;
    char *text = malloc(size); /* the file and a NUL */
    if (!text) return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    BrioSequence *sequence = NULL;
    BrioError error = {0};
    BrioStatus status =
        brio__sequence_parse(name[data[0] % 4], text, size - 1, 24, 0, &sequence, &error);
    free(text);
    if (status != BRIO_OK) {
        expect(!sequence && error.message[0]);
        return 0;
    }
    expect(brio__sequence_check(sequence, &error) == BRIO_OK);
    for (int k = -1; k <= 3 && sequence->frame_count; k++) { /* none: poses only */
        BrioFramePlace at = brio__frame_place(sequence->time, 1, sequence->frame_count, 0.3 * k);
        expect(at.before >= 0 && at.before <= at.frame && at.frame < sequence->frame_count);
        expect(at.after >= at.next && at.after < sequence->frame_count);
        expect(at.next >= at.frame && at.next < sequence->frame_count);
        expect(at.part >= 0 && at.part <= 1);
    }
    brio_sequence_free(sequence);
    return 0;
}
