/* Cages: a coarse lattice of tets that carries a dense surface. brio.h includes this.
 *
 * A body of a solid's material whose BrioBodyDef has `cage` > 0 takes a surface of triangles (or
 * the surface of its tets). The lattice has about `cage` cells along the longest side of the box
 * around it. The body's vertices stay those of the mesh, in their order: positions, velocities,
 * contact, forces, attachments and hands are of the surface. Coordinates and mass are in the nodes
 * of the lattice: four of them carry each vertex. A fixed vertex fixes the nodes that carry it.
 * Setting positions and velocities takes the nearest ones that the nodes can represent. */
#ifndef BRIO_CAGE_API_H
#define BRIO_CAGE_API_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct BrioCageInfo {
    int64_t cells; /* cubes that contain a part of the body */
    int64_t nodes, tets;
    double edge;     /* m, of a cube */
    double enclosed; /* m3: the volume of the body */
    int closed;      /* 0: the surface is open, and `enclosed` is an estimate */
    int pieces;      /* of the lattice, which no tets join */
    int components;  /* of the surface: more than pieces, if cells are shared */
} BrioCageInfo;

/* Of a body; ERROR_ARGUMENT if it has no cage. */
BRIO_API BrioStatus brio_body_cage(const BrioSystem *system, int body, BrioCageInfo *info);
/* The corners of the tets, four nodes each; NULL and 0 without a cage. */
BRIO_API const int32_t *brio_body_cage_tets(const BrioSystem *system, int body, int64_t *count);
/* The four nodes of each vertex and their weights, whose sum is 1. */
BRIO_API BrioStatus brio_body_cage_weights(const BrioSystem *system, int body,
                                           const int32_t **nodes, const double **weights);
/* Where the nodes are, 3 each; nothing without a cage. */
BRIO_API void brio_sim_cage_positions(const BrioSim *sim, int body, double *x);

#ifdef __cplusplus
}
#endif

#endif
