/* What the reproductions of [You2026] share. */
#ifndef BRIO_YOU2026_H
#define BRIO_YOU2026_H

#include "internal.h"
#include "reproduce.h"

enum { SAMPLES = 302 }; /* every 1/30 s over 10 s */

typedef struct Method {
    const char *name, *integrator;
    double inverse_h;
} Method;

#endif
