/* What slides over triangles in one plane: all combinations of test_flat.c. */
#define EVERY_KAPPA
#include "test_flat.c"
