/* UTF-8 as RFC 3629 defines it: characters of one to four bytes, without overlong forms, surrogates
 * and what lies behind U+10FFFF. */
#include "utf8.h"

#include <string.h>

int brio__utf8_bytes(const unsigned char *text, size_t size)
{
    unsigned char c = text[0];
    int bytes = c < 0x80                ? 1
                : c >= 0xc2 && c < 0xe0 ? 2
                : c >= 0xe0 && c < 0xf0 ? 3
                : c >= 0xf0 && c < 0xf5 ? 4
                                        : 0;
    if (bytes == 0 || (size_t)bytes > size) return 0;
    for (int i = 1; i < bytes; i++)
        if ((text[i] & 0xc0) != 0x80) return 0;
    if ((c == 0xe0 && text[1] < 0xa0) || (c == 0xed && text[1] >= 0xa0)) return 0;
    if ((c == 0xf0 && text[1] < 0x90) || (c == 0xf4 && text[1] >= 0x90)) return 0;
    return bytes;
}

size_t brio__utf8_mark(const char *text, size_t size)
{
    return size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
}
