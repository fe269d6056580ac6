/* Functions of a builder for the scene reader, beyond the public interface: names and their
 * numbers, and the cause of an error. */
#ifndef BRIO_BUILD_BUILDER_H
#define BRIO_BUILD_BUILDER_H

#include "../system/system.h"

/* Refuses a vertex that a body does not have. */
BrioStatus brio__builder_check_vertex(const BrioBuilder *builder, int body, int64_t vertex,
                                      BrioError *error);
/* The number of a body by its name; -1: none. */
int brio__builder_find(const BrioBuilder *builder, const char *name);
const char *brio__builder_name(const BrioBuilder *builder, int body); /* NULL past the last */

/* The law of its contact; "": bodies do not meet each other. */
const char *brio__builder_law(const BrioBuilder *builder);

/* The surface of a body, in its own vertex numbers. */
const int32_t *brio__builder_triangles(const BrioBuilder *builder, int body, int64_t *count);

/* Likewise of obstacles. */
int brio__builder_find_obstacle(const BrioBuilder *builder, const char *name);
const char *brio__builder_obstacle_name(const BrioBuilder *builder, int obstacle);

/* The obstacle because of which brio_builder_finish failed; -1: it was something else. */
int brio__builder_obstacle_at_fault(const BrioBuilder *builder);
/* Likewise the constraint, and the force. */
int brio__builder_constraint_at_fault(const BrioBuilder *builder);
int brio__builder_force_at_fault(const BrioBuilder *builder);

#endif
