/* What the readers of a body share (bodies.c, body_mesh.c, initial.c, fix.c). */
#ifndef BRIO_SCENE_BODIES_H
#define BRIO_SCENE_BODIES_H

#include "../mesh/mesh.h"
#include "read.h"

/* A body while it is read. */
typedef struct BrioBodyWork {
    BrioScene *scene;
    BrioBuilder *builder;
    BrioNode *node;
    BrioMesh *mesh;
    BrioMesh *filled; /* the surface that tets were made to fill, if its file has faces; owned */
    BrioBodyDef def;
    double shift[3];    /* m, of a copy of an array */
    double edge;        /* m, of a surface that is filled with tets; NAN: not given */
    double gradient[9]; /* 1/s, of `velocity`; NAN: not given */
    int body;
    double *state, *spring, *x; /* owned */
    int32_t *chosen;
    BrioScript script;
    int64_t first; /* its first vertex among those of all bodies */
} BrioBodyWork;

/* `x` = `linear` X + `translate` of the body's transform */
void brio__body_place(const BrioBodyDef *def, const double *X, double *x);

/* Its mesh from `shape` or `mesh`, and `springs` instead of its edges. */
BrioStatus brio__read_body_mesh(BrioBodyWork *w, BrioError *error);
BrioStatus brio__read_springs(BrioBodyWork *w, BrioError *error);
/* After the rest shape: the surface, or the faces as the body's own file has them. */
BrioStatus brio__read_surface(BrioBodyWork *w, BrioError *error);
/* What is to be seen of bodies is given to the finished system, or freed. */
BrioStatus brio__scene_give_looks(BrioScene *scene, BrioError *error);
void brio__scene_free_looks(BrioScene *scene);

/* `velocity` but for its gradient and mode, which need the mesh. */
BrioStatus brio__read_velocity(BrioBodyWork *w, BrioError *error);
/* The initial state: `state` or `deform`, then the gradient and the mode of `velocity`. */
BrioStatus brio__read_initial_state(BrioBodyWork *w, BrioError *error);

/* `fix` and `attach` */
BrioStatus brio__read_fixed(BrioBodyWork *w, BrioError *error);

#endif
