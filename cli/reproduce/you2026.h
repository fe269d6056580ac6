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

/* A-search as the paper prints it: without exact flight and without momenta, which brio has by
 * default. The paper's claims are judged on both. */
#define YOU2026_PRINTED "{type: a-search, flight: false, momentum: false}"

/* The bar of table 2 (you2026_bar.c): wave speeds, 1/h and names of its columns and rows, and the
 * paper's speeds by stiffness (the fourth: soft and damped), step and method (BDF2, A-1,
 * A-search). */
extern const double you2026_wave_speed[3], you2026_inverse_h[4];
extern const char *const you2026_stiffness[3];
extern const double you2026_table2_values[4][4][3];
BrioSim *you2026_bar(Report *report, double c, double h, const char *integrator,
                     const char *damping);

#endif
