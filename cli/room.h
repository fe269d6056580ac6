/* A full disk: a run waits until there is room. */
#ifndef BRIO_ROOM_H
#define BRIO_ROOM_H

#include <stdbool.h>

/* Whether a run into the folder failed for want of room, and there is room now: it says that it
 * waits, and looks once per second. False: another reason, or the user wants to stop. */
bool wait_for_room(const char *folder, const char *reason);

#endif
