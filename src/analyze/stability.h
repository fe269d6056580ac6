/* Linear stability, measured: the oscillator m x'' = -k x - d x' is built in the engine, unit
 * states are fed to an integrator's own code, and its matrix is read off [Shinya2004, Sec. 2;
 * You2026, App. C].
 *
 * The state is (x, v). A method that remembers earlier steps is a map of (x, v, what it remembers),
 * whose matrix is its companion matrix: the largest modulus of its eigenvalues decides on stability
 * all the same. */
#ifndef BRIO_STABILITY_H
#define BRIO_STABILITY_H

#include "../sim/sim.h"

enum { BRIO_AMPLIFICATION_MAX = 16 };

typedef struct BrioAmplification {
    int size; /* 2, and one for each vector that the method remembers */
    double matrix[BRIO_AMPLIFICATION_MAX * BRIO_AMPLIFICATION_MAX]; /* row by row, size x size */
    double det, trace;
    /* the largest modulus of an eigenvalue */
    double radius;
    /* eigenvalues, largest modulus first */
    double re[BRIO_AMPLIFICATION_MAX], im[BRIO_AMPLIFICATION_MAX];
} BrioAmplification;

/* An oscillator of mass m under an integrator: `def` gives its name and values; its h, solver and
 * damping are not used. Refused (ERROR_UNSUPPORTED) are methods that have no matrix, with a
 * sentence that says why and what can be asked instead. */
typedef struct BrioOscillator BrioOscillator;
BrioStatus brio__oscillator_create(const BrioSimDef *def, double m, BrioOscillator **oscillator,
                                   BrioError *error);
void brio__oscillator_free(BrioOscillator *oscillator);

/* The matrix for a stiffness k > 0 (N/m), a drag d >= 0 (N s/m) and a step h (s). Positive
 * statuses: a step could not be done, or the response to a combination is not the combination of
 * responses. The determinant of a 2 x 2 matrix is free of cancellation. */
BrioStatus brio__oscillator_measure(BrioOscillator *oscillator, double k, double d, double h,
                                    BrioAmplification *amplification, BrioError *error);

/* Whether no vibration grows: the radius is at most 1 up to round-off, in the dimensionless numbers
 * X = h d/m and Y = h^2 k/m. A step that cannot be done is not stable. */
bool brio__oscillator_is_stable(BrioOscillator *oscillator, double X, double Y);
/* The largest h sqrt(k/m) up to which undamped vibrations do not grow, by bisection; 0: they grow
 * at every step; INFINITY: at none up to 10^3. */
double brio__oscillator_limit(BrioOscillator *oscillator);
/* The largest stable Y for a given X, up to `max`; 0: none. The largest over all X up to `max`,
 * and where it is. */
double brio__oscillator_highest(BrioOscillator *oscillator, double X, double max);
double brio__oscillator_peak(BrioOscillator *oscillator, double max, double *X);

#endif
