/* What an integrator includes: the public interface and nothing of brio's insides. It is one file
 * and one line in list.def; a program can register the same file at run time. */
#ifndef BRIO_INTEGRATOR_H
#define BRIO_INTEGRATOR_H

#include "brio/brio.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define BRIO_CHECK(call)                        \
    do {                                        \
        BrioStatus status_ = (call);            \
        if (status_ != BRIO_OK) return status_; \
    } while (0)

#define BRIO_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BRIO_MIN(a, b) ((a) < (b) ? (a) : (b))

#define BRIO_INTEGRATOR(symbol)                            \
    extern const BrioIntegrator brio__integrator_##symbol; \
    const BrioIntegrator brio__integrator_##symbol =

#endif
