/* The curve of the energy over time that `brio render --energy` draws into its pictures. */
#ifndef BRIO_RENDER_ENERGY_H
#define BRIO_RENDER_ENERGY_H

#include "commands.h"

typedef struct EnergyCurve {
    int64_t count;
    double *time, *total; /* s, J: rows of energy.csv */
} EnergyCurve;

BrioStatus energy_curve_read(const char *folder, EnergyCurve *curve, BrioError *error);
void energy_curve_free(EnergyCurve *curve);
/* Widens a range to all energies of a curve. */
void energy_curve_range(const EnergyCurve *curve, double range[2]);
/* Draws the curve until `now` at the lower edge of a picture, with its value in J. The axes reach
 * from time[0] to time[1] and from range[0] to range[1]; a line marks the initial energy. */
void energy_curve_draw(const EnergyCurve *curve, const double time[2], const double range[2],
                       double now, uint8_t *rgb, size_t pitch, int width, int height);

#endif
