/* Streams into memory (memory_text.h): the end of one, with its outcome. */
#include "memory_text.h"

#include <stdlib.h>

BrioStatus brio__text_close(FILE *file, char **text)
{
    bool failed = ferror(file) != 0;
    if (fclose(file) || failed || !*text) {
        free(*text);
        *text = NULL;
        return BRIO_ERROR_MEMORY;
    }
    return BRIO_OK;
}
