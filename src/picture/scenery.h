/* What is behind the bodies: sky and ground, and panes in front of them. */
#ifndef BRIO_SCENERY_H
#define BRIO_SCENERY_H

#include "light.h"

typedef struct BrioScenery {
    const BrioView *view;
    const BrioLights *lights;
    float top[3], horizon[3], ground[3]; /* linear colours */
} BrioScenery;

void brio__scenery_set(BrioScenery *scenery, const BrioView *view, const BrioLights *lights);
/* The colour behind the bodies at a place of the picture. Returns the depth of the floor, or a
 * negative number. */
double brio__scenery_behind(const BrioScenery *scenery, float i, float j, float c[3]);
/* Panes in front of a depth tint what is behind them. */
void brio__scenery_panes(const BrioScenery *scenery, float i, float j, double depth, float c[3]);

#endif
