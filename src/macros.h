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

/* The arguments that a public function needs (brio.h, "Arguments"). If one is missing, the function
 * returns BRIO_ERROR_ARGUMENT with a message, another value, or nothing. */
#define BRIO_NEEDS(condition, error)                                    \
    do {                                                                \
        if (!(condition)) return brio__bad_argument((error), __func__); \
    } while (0)
#define BRIO_NEEDS_OR(condition, value) \
    do {                                \
        if (!(condition)) return value; \
    } while (0)
#define BRIO_NEEDS_OR_NOTHING(condition) \
    do {                                 \
        if (!(condition)) return;        \
    } while (0)

#define BRIO_MIN(a, b) ((a) < (b) ? (a) : (b))
#define BRIO_MAX(a, b) ((a) > (b) ? (a) : (b))
/* The larger of two numbers, NAN if one of them is: fmax passes over NAN, and a maximum error that
 * is judged must not. */
static inline double brio__larger(double a, double b) { return a > b || a != a ? a : b; }

#define BRIO_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
