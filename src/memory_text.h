/* A stream that writes into memory, open_memstream, and one function to end it. */
#ifndef BRIO_MEMORY_TEXT_H
#define BRIO_MEMORY_TEXT_H

#include "base.h"

/* Closes the stream. If memory ran out before, the text is freed, *text is NULL and the status
 * BRIO_ERROR_MEMORY. (The C library may close such a stream without a complaint and leave NULL.) */
BrioStatus brio__text_close(FILE *file, char **text);

#endif
