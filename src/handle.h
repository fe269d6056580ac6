/* Handles: objects of the public interface that know whether they are alive.
 *
 * A program may pass a pointer that it has freed. The library keeps a list of all living handles
 * and looks the address up there, so nothing of a freed object is read. If the address was given to
 * a new object of the same kind meanwhile, the pointer is taken for the new one. */
#ifndef BRIO_HANDLE_H
#define BRIO_HANDLE_H

#include "base.h"

typedef enum BrioHandleKind {
    BRIO_HANDLE_SIM = 1,
    BRIO_HANDLE_SYSTEM,
    BRIO_HANDLE_STATE,
    BRIO_HANDLE_BUILDER
} BrioHandleKind;

/* Memory for a handle, filled with zeros and aligned like that of brio__alloc; NULL if it fails. */
void *brio__handle_create(size_t size, BrioHandleKind kind);
/* False: it is NULL, it was freed, or it is of another kind. */
bool brio__handle_lives(const void *handle, BrioHandleKind kind);
/* Of a handle that lives. */
void brio__handle_free(void *handle);

#define BRIO_LIVES(KIND, handle) brio__handle_lives(handle, BRIO_HANDLE_##KIND)

#endif
