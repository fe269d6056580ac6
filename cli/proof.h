/* What `brio check` does with exact predicates: intersections of a state, and the proof of a whole
 * run. */
#ifndef BRIO_PROOF_H
#define BRIO_PROOF_H

#include "internal.h"
#include "commands.h"

/* Replays the run whose results are in a folder, checks every accepted state and compares every row
 * of energy.csv. The exit code. */
int prove_run(const char *out, bool as_json);

/* Edges and triangles at x as an OBJ file; an existing file is replaced only with `force`. An
 * exit code, with a sentence on stderr. */
int write_intersections(const char *name, bool force, const double *x,
                        const BrioIntersection *found, int64_t count);

#endif
