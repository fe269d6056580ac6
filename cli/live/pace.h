/* How often frames go out. */
#ifndef BRIO_PACE_H
#define BRIO_PACE_H

#include <math.h>
#include <stdbool.h>

/* Whether a frame is due at `now` (s): on average at most one every `every` seconds. *next is when
 * the next one is due, and may lie up to `every` in the past: steps as long as `every` come a
 * little early or late, and each of them gets its frame. */
static inline bool pace_frame_is_due(double *next, double now, double every)
{
    if (now < *next) return false;
    *next = fmax(*next + every, now - every);
    return true;
}

#endif
