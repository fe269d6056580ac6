/* Formulas of x, y, z and t, as scenes of polyfem have them (the language of tinyexpr). */
#ifndef BRIO_IMPORT_FORMULA_H
#define BRIO_IMPORT_FORMULA_H

#include <stdbool.h>

enum { FORMULA_X = 1, FORMULA_Y = 2, FORMULA_Z = 4, FORMULA_T = 8 };

/* The value at v = {x, y, z, t}. `uses` (may be NULL) says which of them the formula names. NULL if
 * all is well, otherwise the place in the text that is not understood. */
const char *formula_value(const char *text, const double v[4], double *value, unsigned *uses);

#endif
