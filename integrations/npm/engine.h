/* What the parts of the engine for JavaScript share: worlds, and how they refuse.
 *
 * Everything is called through plain numbers: a world is a pointer, arrays are pointers into the
 * heap, texts are UTF-8. A call that can fail returns 0 for fine and otherwise a BrioStatus, or a
 * pointer that is NULL; web_status, web_reason, web_path, web_file, web_line and web_column say
 * what was wrong. Pointers that a call returns hold until the next call for that world. */
#ifndef BRIO_NPM_ENGINE_H
#define BRIO_NPM_ENGINE_H

#include "internal.h"

#include <emscripten/emscripten.h>

typedef struct World {
    BrioScene *scene; /* its settings; system and state are the simulation's */
    BrioSim *sim;
    double *x, *v;     /* of all world vertices */
    bool fresh;        /* x is that of the state */
    int32_t *triangle; /* of bodies, then of obstacles, in world vertices */
    int64_t triangles, body_triangles;
    int32_t *edge; /* springs, in world vertices */
    int64_t edges;
    int32_t *body_start;  /* first vertex of each body, and the end of the last */
    uint8_t *fixed;       /* per vertex of bodies: has no coordinates */
    float *drawn;         /* positions and then normals of what is drawn; NULL: not asked for yet */
    int64_t *drawn_start; /* of each body in `drawn`, in vertices, and the end of the last */
} World;

/* Remembers why; returns the status. `error` may be NULL or empty: then the status speaks. */
int refuse(const BrioError *error, BrioStatus status);
/* The same of a call of the simulation, which keeps its own sentence; 0 if it is fine. */
int answer(World *w, BrioStatus status);
/* An integrator and its values from "integrator={...}", in JSON, as `integrator` of a scene. */
BrioStatus integrator_values(const char *assignment, BrioSimDef *def, BrioError *error);
/* After an edit: creates the lists of objects to draw again. 0, or it is rejected: then the next
 * call that needs them tries again. */
int list_anew(World *w);
/* Of all world vertices, those of obstacles included; NULL: it is rejected. */
const double *web_positions(World *w);
const double *web_velocities(World *w);
/* Begins a text that a call returns; NULL: no memory, which has been refused. */
FILE *begin_text(void);
/* Ends it; NULL: no memory. */
const char *end_text(FILE *file);

#endif
