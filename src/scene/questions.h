/* What is allowed in a scene but hardly meant: a mesh in millimetres, a step longer than the run, a
 * density below that of gases. Every question is one sentence: what, why it is odd, what to do.
 * They forbid nothing. */
#ifndef BRIO_QUESTIONS_H
#define BRIO_QUESTIONS_H

#include "scene.h"

enum { BRIO_MAX_QUESTIONS = 32 };
typedef struct BrioQuestions {
    int count;
    char text[BRIO_MAX_QUESTIONS][512];
} BrioQuestions;

/* For a scene that still owns its system and state. */
BrioStatus brio__scene_questions(const BrioScene *scene, BrioQuestions *questions);

/* Rest lengths of the edges of bodies' surfaces, and dhat; count is 0 where no barrier is. */
typedef struct BrioSurfaceEdges {
    int64_t count;
    double dhat, min, median;
} BrioSurfaceEdges;
BrioStatus brio__surface_edges(const BrioScene *scene, BrioSurfaceEdges *edges);

#endif
