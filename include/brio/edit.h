/* Editing a running simulation: add and remove bodies, obstacles, constraints, forces and pins; cut
 * bodies; move obstacles; receive contact events; copy positions into buffers. docs/interaction.md.
 *
 * Part of brio.h, which includes it. Call these functions between steps, from the thread that
 * steps. The ledger books the change of energy in `added`. A call that fails changes nothing, and
 * `error` has the reason. Licence: MIT. */
#ifndef BRIO_BRIO_H
#include "brio.h"
#elif !defined(BRIO_EDIT_H)
#define BRIO_EDIT_H

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------------------------
 * Edits. An edit is a builder that starts with the current content of the simulation:
 *
 *     BrioBuilder *edit;
 *     brio_sim_edit(sim, &edit, &error);
 *     brio_builder_body(edit, &ball, &number, &error);      any function of the builder,
 *     brio_builder_remove_body(edit, 2, &error);            and those below
 *     brio_sim_commit(sim, edit, &error);
 *
 * The system is built once per commit, for any number of changes. Numbers of bodies and obstacles
 * stay. A removed one leaves its number free, with no vertices and the name "". The next one that
 * is added takes the lowest free number.
 * -------------------------------------------------------------------------------------- */

/* Begins an edit. brio_sim_commit applies it; brio_builder_free discards it. */
BRIO_API BrioStatus brio_sim_edit(BrioSim *sim, BrioBuilder **edit, BrioError *error);
/* Applies the edit. Bodies continue from their current positions; integrators discard their
 * history. If bodies would intersect, or if the integrator or the solver does not support an
 * addition, simulation and edit stay unchanged: change the edit and commit again, or free it. If
 * the call succeeds, it frees the edit. Pointers to systems and states from before are invalid: ask
 * for them again. */
BRIO_API BrioStatus brio_sim_commit(BrioSim *sim, BrioBuilder *edit, BrioError *error);

/* Whether a checkpoint (brio_sim_save) contains the bodies of an edited simulation. Restoring it
 * replaces the bodies of the simulation; pointers to systems and states are then invalid, as after
 * an edit. -1: it cannot be read. */
BRIO_API int brio_checkpoint_has_bodies(const char *file);

/* Also removes the pins, attachments, constraints and stitches of the body, and forces that act on
 * it only. The last moving body cannot be removed. */
BRIO_API BrioStatus brio_builder_remove_body(BrioBuilder *builder, int body, BrioError *error);
BRIO_API BrioStatus brio_builder_remove_obstacle(BrioBuilder *builder, int obstacle,
                                                 BrioError *error);
/* Remove the rod between two vertices, a constraint by name, all attachments of a vertex, a force
 * by name. */
BRIO_API BrioStatus brio_builder_remove_rod(BrioBuilder *builder, int body_a, int32_t vertex_a,
                                            int body_b, int32_t vertex_b, BrioError *error);
BRIO_API BrioStatus brio_builder_remove_constraint(BrioBuilder *builder, const char *name,
                                                   BrioError *error);
BRIO_API BrioStatus brio_builder_detach(BrioBuilder *builder, int body, int32_t vertex,
                                        BrioError *error);
BRIO_API BrioStatus brio_builder_remove_force(BrioBuilder *builder, const char *name,
                                              BrioError *error);
/* The opposite of brio_builder_fix, which pins vertices where they are, and of
 * brio_builder_fix_axes. The script of a pin uses
 * the time of the simulation: set its start to brio_sim_time. */
BRIO_API BrioStatus brio_builder_unfix(BrioBuilder *builder, int body, const int32_t *vertices,
                                       int64_t count, BrioError *error);

/* Cuts a body along a knife: `count` triangles with corners x[triangle[...]], in the current
 * positions.
 * Two elements of a solid or a shell that share a face or an edge separate if the line between
 * their centres intersects the knife. Vertices are duplicated; no element is cut. In a net, springs
 * and triangles that intersect the knife are removed. Vertices keep their
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

/* During the next h of the simulation the vertices of a mesh move on straight lines to new
 * positions, and rest there: X -> linear X + translate, row by row, of their original positions; or
 * `x`, 3 per vertex, which may change the shape of the obstacle. The obstacle pushes bodies in its
 * way and never passes through them; the ledger books the work. Call it before every step for an
 * animated collider. The first move of an obstacle builds the system again, and so does the first
 * that changes its shape; later ones cost nothing beyond the step. An obstacle with a formula
 * (plane, sphere, ...) cannot be
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
    /* N s: impulse of b on a in the step by contact without friction, h times the force at its end;
     * and the same with the magnitudes of all forces summed */
    double impulse[3], pressing;
    double place[3]; /* m: mean position of the contacts, weighted by their forces */
    double distance; /* m: minimum, without thickness; NAN if it ends */
} BrioContactEvent;

/* From now on steps record contacts, up to `most` pairs of bodies and obstacles; 0: off. A step
 * then evaluates contact two more times; it allocates nothing. */
BRIO_API BrioStatus brio_sim_note_contacts(BrioSim *sim, int most, BrioError *error);
/* The contacts of the last step, ordered by a and then b, bodies before obstacles. Returns their
 * number; writes at most `room` of them to `events` (may be NULL). If there were more than
 * brio_sim_note_contacts allows, the others are missing. */
BRIO_API int brio_sim_contacts(const BrioSim *sim, BrioContactEvent *events, int room);

/* --------------------------------------------------------------------------------------
 * Positions and normals for drawing
 * -------------------------------------------------------------------------------------- */

/* Buffers of the caller for the vertices of a body, float or double; each may be NULL. A vertex
 * starts `stride` bytes after the previous one (0: three numbers each). */
typedef struct BrioVertexBuffers {
    float *position_float, *normal_float, *velocity_float;
    double *position, *normal, *velocity;
    size_t stride;
} BrioVertexBuffers;

/* The drawn surface of a body: its own, or the detailed surface that it carries. Number of
 * vertices; triangles, which are constant until an edit. */
BRIO_API int64_t brio_body_drawn_vertices(const BrioSystem *system, int body);
BRIO_API const int32_t *brio_body_drawn_triangles(const BrioSystem *system, int body,
                                                  int64_t *count);
/* The normal of a vertex is the mean of the triangles around it, weighted by area, with length 1;
 * zero without triangles. Nothing is allocated. */
BRIO_API BrioStatus brio_sim_draw(const BrioSim *sim, int body, const BrioVertexBuffers *buffers,
                                  BrioError *error);
/* The positions of a body in the state itself, 3 per vertex, without a copy. This needs a body
 * whose vertices all have their own coordinates (no pins, not affine); otherwise NULL. Valid until
 * the next edit or change of integrator; steps change it. */
BRIO_API const double *brio_sim_positions_view(const BrioSim *sim, int body);

#ifdef __cplusplus
}
#endif

#endif
