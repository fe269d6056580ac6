/* Drops the permissions that a scene does not need: `--sandbox`. */
#ifndef BRIO_CLI_SANDBOX_H
#define BRIO_CLI_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

/* From here on, for this process and for good: files are read only beneath the folder of the scene
 * and in the folders of system libraries, written only beneath `out` (NULL: nowhere; made if it is
 * not there), no program is started, no connection opened, memory and files have limits.
 * Call it before there are threads. False, with a sentence, where the kernel cannot do that: then
 * the caller must not go on. */
bool sandbox_enter(const char *scene, const char *out, char *why, size_t size);

#endif
