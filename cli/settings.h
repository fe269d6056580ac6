/* `brio check`: the values that a run will have. */
#ifndef BRIO_CLI_SETTINGS_H
#define BRIO_CLI_SETTINGS_H

#include "internal.h"

void show_settings(const BrioScene *scene);
void settings_json(const BrioScene *scene, BrioJson *json);

#endif
