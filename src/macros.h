/* Macros that depend on the public interface only. An integrator may use them too, which sees
 * nothing else of brio's insides (integrate/integrator.h). */
#ifndef BRIO_MACROS_H
#define BRIO_MACROS_H

#include "brio/brio.h"

/* Returns the status of a call from the function around it, unless all is fine. */
#define BRIO_CHECK(call)                        \
    do {                                        \
        BrioStatus status_ = (call);            \
        if (status_ != BRIO_OK) return status_; \
    } while (0)

#define BRIO_MIN(a, b) ((a) < (b) ? (a) : (b))
#define BRIO_MAX(a, b) ((a) > (b) ? (a) : (b))
#define BRIO_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
