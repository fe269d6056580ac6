/* libFuzzer target for the reader of PNG files: the input, with the checksums of its chunks made
 * right, is a picture that a texture can be made of, or is rejected with a sentence. */
#include "picture/png.h"
#include "picture/texture.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool condition)
{
    if (!condition) abort();
}

static uint32_t crc(const uint8_t *data, size_t size)
{
    uint32_t sum = ~0u;
    for (size_t k = 0; k < size; k++) {
        sum ^= data[k];
        for (int bit = 0; bit < 8; bit++) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
    }
    return ~sum;
}

static void mend_checksums(uint8_t *data, size_t size)
{
    for (size_t at = 8; at + 12 <= size;) {
        size_t length = (size_t)data[at] << 24 | (size_t)data[at + 1] << 16 |
                        (size_t)data[at + 2] << 8 | data[at + 3];
        if (length > size - at - 12) return;
        uint32_t sum = crc(data + at + 4, length + 4);
        for (int k = 0; k < 4; k++)
            data[at + 8 + length + (size_t)k] = (uint8_t)(sum >> (24 - 8 * k));
        at += 12 + length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + !size), *rgba;
    int width, height;
    BrioError error = {0};
    if (!copy) return 0;
    memcpy(copy, data, size);
    mend_checksums(copy, size);
    if (brio__png_read("a.png", copy, size, &rgba, &width, &height, &error) == BRIO_OK) {
        BrioTexture *texture;
        float colour[4];
        const float uv[2][2] = {{-0.3f, 0.2f}, {1.7f, 0.9f}};
        expect(width > 0 && height > 0);
        if ((int64_t)width * height < 1 << 20 &&
            brio__texture_create(rgba, width, height, &texture) == BRIO_OK) {
            brio__texture_mean(texture, uv, 2, colour);
            for (int c = 0; c < 4; c++) expect(colour[c] >= 0 && colour[c] < 1.001f);
            brio__texture_free(texture);
        }
    } else {
        expect(error.message[0] != 0 && !rgba);
    }
    brio__free(rgba);
    free(copy);
    return 0;
}
