/* Editing a simulation while it runs: bodies, obstacles, constraints, forces, pins and cuts come
 * and go; obstacles move; contacts tell what they do; positions go into the caller's buffers.
 * docs/interaction.md.
 *
 * Part of brio.h, which includes it. All of it is done between steps, from the thread that steps.
 * What an edit does to the energy is booked in the ledger's `added`. What is refused changes
 * nothing, and `error` says why. Licence: MIT. */
#ifndef BRIO_BRIO_H
#include "brio.h"
#elif !defined(BRIO_EDIT_H)
#define BRIO_EDIT_H

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------------------------
 * Edits. An edit is a builder that begins with all that the simulation has, as it is now:
 *
 *     BrioBuilder *edit;
 *     brio_sim_edit(sim, &edit, &error);
 *     brio_builder_body(edit, &ball, &number, &error);      any function of the builder,
 *     brio_builder_remove_body(edit, 2, &error);            and those below
 *     brio_sim_commit(sim, edit, &error);
 *
 * However many changes there are, the system is made once, when they are committed. Numbers of
 * bodies and obstacles stay. One that is removed leaves its number free, with no vertices and the
 * name "", and the next one that is added takes the lowest free number.
 * -------------------------------------------------------------------------------------- */

/* Begins an edit. Without brio_sim_commit nothing comes of it: then brio_builder_free ends it. */
BRIO_API BrioStatus brio_sim_edit(BrioSim *sim, BrioBuilder **edit, BrioError *error);
/* Makes the changes. Bodies go on from where they are; integrators forget earlier steps. If bodies
 * would intersect, or the integrator or the solver cannot take what was added, the simulation stays
 * as it was, and so does the edit: change it and commit it again, or free it. If all goes well it
 * is freed here. Systems and states that were asked for before are gone: ask for them again. */
BRIO_API BrioStatus brio_sim_commit(BrioSim *sim, BrioBuilder *edit, BrioError *error);

/* Whether a checkpoint (brio_sim_save) holds the bodies of a simulation that was edited. Restoring
 * it makes them anew, whatever the simulation has; systems and states are then others, as after an
 * edit. -1: it cannot be read. */
BRIO_API int brio_checkpoint_has_bodies(const char *file);

/* With the body go its pins, its attachments, constraints and stitches, and the forces that act on
 * it alone. The last body that moves stays. */
BRIO_API BrioStatus brio_builder_remove_body(BrioBuilder *builder, int body, BrioError *error);
BRIO_API BrioStatus brio_builder_remove_obstacle(BrioBuilder *builder, int obstacle,
                                                 BrioError *error);
/* The rod between two vertices, the constraint of a name, all attachments of a vertex, the force of
 * a name. */
BRIO_API BrioStatus brio_builder_remove_rod(BrioBuilder *builder, int body_a, int32_t vertex_a,
                                            int body_b, int32_t vertex_b, BrioError *error);
BRIO_API BrioStatus brio_builder_remove_constraint(BrioBuilder *builder, const char *name,
                                                   BrioError *error);
BRIO_API BrioStatus brio_builder_detach(BrioBuilder *builder, int body, int32_t vertex,
                                        BrioError *error);
BRIO_API BrioStatus brio_builder_remove_force(BrioBuilder *builder, const char *name,
                                              BrioError *error);
/* The opposite of brio_builder_fix, which pins vertices where they are. A script of a pin runs by
 * the time of the simulation: let it start at brio_sim_time. */
BRIO_API BrioStatus brio_builder_unfix(BrioBuilder *builder, int body, const int32_t *vertices,
                                       int64_t count, BrioError *error);

/* Cuts a body along a knife: `count` triangles with corners x[triangle[...]], as bodies are now.
 * Two elements of a solid or a shell that share a face or an edge come apart if the line between
 * their centres meets the knife; vertices are divided between them, and no element is cut. Of a
 * net, springs that meet the knife are removed, and triangles with them. Vertices keep their
 * numbers, new ones come after them. Under contact by barriers both sides move back from the cut by
 * half of dhat. `cuts` (may be NULL) receives how many faces, edges or springs were cut. */
BRIO_API BrioStatus brio_builder_cut(BrioBuilder *builder, int body, const double *x,
                                     const int32_t *triangle, int64_t count, int64_t *cuts,
                                     BrioError *error);
/* The same along a plane without end. */
BRIO_API BrioStatus brio_builder_cut_plane(BrioBuilder *builder, int body, const double point[3],
                                           const double normal[3], int64_t *cuts, BrioError *error);

/* --------------------------------------------------------------------------------------
 * Obstacles that the program moves
 * -------------------------------------------------------------------------------------- */

BRIO_API int brio_system_obstacles(const BrioSystem *system);
/* -1: none of that name */
BRIO_API int brio_system_obstacle(const BrioSystem *system, const char *name);
BRIO_API const char *brio_obstacle_name(const BrioSystem *system, int obstacle);
BRIO_API int64_t brio_obstacle_vertices(const BrioSystem *system, int obstacle);
BRIO_API const int32_t *brio_obstacle_triangles(const BrioSystem *system, int obstacle,
                                                int64_t *count);
/* Of a mesh: 3 per vertex. */
BRIO_API void brio_sim_obstacle_positions(const BrioSim *sim, int obstacle, double *x);

/* Over the next h of the simulation, the vertices of a mesh go straight to new places, and rest
 * there: X -> linear X + translate, row by row, of where they were added; or `x`, 3 per vertex,
 * which may give the obstacle another shape. What is in the way is pushed, never passed through,
 * and the ledger books the work. Called before every step, it is the motion of an animated
 * collider. The first move of an obstacle makes the system anew, as does the first that bends it;
 * later ones cost nothing but the step. An obstacle with a formula (plane, sphere, ...) cannot be
 * moved: remove it and add it elsewhere. */
BRIO_API BrioStatus brio_sim_move_obstacle(BrioSim *sim, int obstacle, const double linear[9],
                                           const double translate[3], BrioError *error);
BRIO_API BrioStatus brio_sim_move_obstacle_to(BrioSim *sim, int obstacle, const double *x,
                                              BrioError *error);

/* --------------------------------------------------------------------------------------
 * Contact events
 * -------------------------------------------------------------------------------------- */

typedef enum BrioContactChange {
    BRIO_CONTACT_BEGINS, /* they were apart before the step */
    BRIO_CONTACT_STAYS,
    BRIO_CONTACT_ENDS /* they are apart after it */
} BrioContactChange;

/* Two bodies, or a body and an obstacle, that are closer than dhat (beyond thickness). */
typedef struct BrioContactEvent {
    int a, b; /* a body, and a body >= a (a itself: self-contact) or BRIO_OBSTACLE(k) */
    BrioContactChange change;
    int64_t contacts; /* pairs of vertices, edges and triangles; 0 if it ends */
    /* N s: what b gave to a in the step by contact without friction, h times the force at its
     * end; and the same with the sizes of all forces added up */
    double impulse[3], pressing;
    double place[3]; /* m: the middle of the contacts, weighted by their forces */
    double distance; /* m: the smallest, without thickness; NAN if it ends */
} BrioContactEvent;

/* From now on steps note what touches, up to `most` pairs of bodies and obstacles; 0: no longer.
 * A step then evaluates contact twice more, and allocates nothing. */
BRIO_API BrioStatus brio_sim_note_contacts(BrioSim *sim, int most, BrioError *error);
/* Those of the last step, ordered by a and then b, bodies before obstacles: how many there were, of
 * which `room` at most are written to `events` (may be NULL). More than noted: only these are
 * there. */
BRIO_API int brio_sim_contacts(const BrioSim *sim, BrioContactEvent *events, int room);

/* --------------------------------------------------------------------------------------
 * Positions and normals for drawing
 * -------------------------------------------------------------------------------------- */

/* Where vertices of a body go: buffers of the caller, float or double, each of which may be NULL.
 * A vertex begins `stride` bytes after the one before it (0: three numbers each). */
typedef struct BrioVertexBuffers {
    float *position_float, *normal_float, *velocity_float;
    double *position, *normal, *velocity;
    size_t stride;
} BrioVertexBuffers;

/* What is drawn of a body: its surface, or the detailed surface that rides on it. How many
 * vertices; its triangles, which stay as they are until an edit. */
BRIO_API int64_t brio_body_drawn_vertices(const BrioSystem *system, int body);
BRIO_API const int32_t *brio_body_drawn_triangles(const BrioSystem *system, int body,
                                                  int64_t *count);
/* Normals are those of the triangles around a vertex, weighted by their areas, of length 1; zero
 * where there are none. Nothing is allocated. */
BRIO_API BrioStatus brio_sim_draw(const BrioSim *sim, int body, const BrioVertexBuffers *buffers,
                                  BrioError *error);
/* The positions of a body in the state itself, 3 per vertex, without a copy: where every vertex has
 * coordinates of its own (no pins, not affine). NULL: it has no such layout. Valid until the next
 * edit or another integrator; steps change it. */
BRIO_API const double *brio_sim_positions_view(const BrioSim *sim, int body);

#ifdef __cplusplus
}
#endif

#endif
