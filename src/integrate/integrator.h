/* The header of integrators: the public interface and four macros, no internals of brio. It
 * is one file and one line in list.def; a program can register the same file at run time. */
#ifndef BRIO_INTEGRATOR_H
#define BRIO_INTEGRATOR_H

#include "../macros.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define BRIO_INTEGRATOR(symbol)                            \
    extern const BrioIntegrator brio__integrator_##symbol; \
    const BrioIntegrator brio__integrator_##symbol =

#endif
