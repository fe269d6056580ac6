/* Texts from outside, which may be cut or in another encoding. */
#ifndef BRIO_UTF8_H
#define BRIO_UTF8_H

#include <stddef.h>

/* Bytes of the UTF-8 character at `text`, 0 if it is not one (overlong forms, surrogates and what
 * lies behind U+10FFFF included). */
int brio__utf8_bytes(const unsigned char *text, size_t size);
/* Bytes of the mark that some editors put before UTF-8: 3, or 0 if there is none. */
size_t brio__utf8_mark(const char *text, size_t size);

#endif
