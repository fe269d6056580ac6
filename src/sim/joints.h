/* Stitches that break at the end of a step. */
#ifndef BRIO_JOINTS_H
#define BRIO_JOINTS_H

#include "sim.h"

#include <string.h>

void brio__sim_break_stitches(BrioSim *sim);

#endif
