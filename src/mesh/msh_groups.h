/* Physical groups of Gmsh files as named sets of vertices. */
#ifndef BRIO_MSH_GROUPS_H
#define BRIO_MSH_GROUPS_H

#include "mesh.h"
#include "scan.h"

typedef struct BrioPhysical {
    int64_t dimension, tag;
    char *name;
    int32_t *vertex; /* in the order of the elements, with repetitions */
    int64_t count, room;
} BrioPhysical;

/* An entity of version 4 in a group; one that is in several has a row for each. */
typedef struct BrioEntity {
    int64_t dimension, tag, physical;
} BrioEntity;

typedef struct BrioMshGroups {
    BrioPhysical *group; /* by dimension and tag */
    int64_t group_count;
    BrioEntity *entity; /* likewise */
    int64_t entity_count, entity_room;
} BrioMshGroups;

/* The sections $PhysicalNames and $Entities; `scan` stands behind the name of the section. One that
 * cannot be read names nothing: without groups the mesh is still a mesh. Only out of memory
 * fails. */
BrioStatus brio__msh_read_names(BrioMshGroups *groups, BrioScan scan);
BrioStatus brio__msh_read_entities(BrioMshGroups *groups, BrioScan scan, bool binary, bool old4);

/* Vertices of an element of a physical group (version 2), or of all groups of an entity. */
BrioStatus brio__msh_add_physical(BrioMshGroups *groups, int64_t dimension, int64_t physical,
                                  int corners, const int32_t *vertex);
BrioStatus brio__msh_add_entity(BrioMshGroups *groups, int64_t dimension, int64_t entity,
                                int corners, const int32_t *vertex);

/* The groups that have vertices; *result stays NULL where none has. */
BrioStatus brio__msh_finish_groups(const BrioMshGroups *groups, BrioVertexGroups **result);
void brio__msh_free_groups(BrioMshGroups *groups);

#endif
