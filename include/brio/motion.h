/* How points without coordinates move: scripts, and sequences of positions from files
 * (docs/motion.md).
 *
 * Such points are fixed vertices, the points of attachments, and the vertices of obstacles.
 *
 * Part of brio.h, which includes it. Licence: MIT. */
#ifndef BRIO_BRIO_H
#include "brio.h"
#elif !defined(BRIO_MOTION_API_H)
#define BRIO_MOTION_API_H

#ifdef __cplusplus
extern "C" {
#endif

/* Positions of the same vertices at rising times, linear in between, at rest before the first and
 * after the last. A file of keyed transforms has `pose` instead, and no frames. */
typedef struct BrioSequence {
    int64_t frame_count, vertex_count;
    double *time; /* s, rising */
    double *x;    /* frame_count x vertex_count x 3, m */
    int64_t triangle_count;
    int32_t *triangle;  /* where the file has them */
    int64_t pose_count; /* rows t, shift, quaternion w x y z, scale: eleven numbers each */
    double *pose;
} BrioSequence;

enum { BRIO_POSE_NUMBERS = 11 };

/* Allocates frames, all zero. A sequence is in memory as a whole, at most 4 GB. */
BRIO_API BrioStatus brio_sequence_create(int64_t frames, int64_t vertices, BrioSequence **sequence,
                                         BrioError *error);
BRIO_API void brio_sequence_free(BrioSequence *sequence);
/* Reads one file of frames (.pc2, .mdd, .glb, .csv), or meshes: one file per frame, or one name
 * with `#` instead of the digits (walk_####.obj). `fps`: frames per second of files without times.
 * `start`: time of the first frame (s), or the offset that is added to the times in a file. */
BRIO_API BrioStatus brio_sequence_read(const char *const *files, int count, double fps,
                                       double start, BrioSequence **sequence, BrioError *error);
/* Positions and, unless NULL, velocities at a time: vertex_count x 3 each. */
BRIO_API void brio_sequence_at(const BrioSequence *sequence, double time, double *x, double *v);

/* How points without coordinates move. Of a point that starts at X:
 *
 *     Y = X, or where `sequence` has it, + formula(t, X)
 *     Z = about + R(t) S(t) (Y - about) + T(t)              by `poses`
 *     x = turned by `angular` about `about`, shifted by `velocity`, from `start` to `end`,
 *         and shifted by `keys` (rows t, dx, dy, dz).
 *
 * Before the first and after the last key or pose the motion rests there. In between, translation
 * and scale are linear, and rotation follows the shorter arc at a constant rate. */
typedef struct BrioScript {
    double start, end;
    double velocity[3], angular[3], about[3];
    int64_t key_count;
    const double *keys; /* copied, like all that follows */
    int64_t pose_count;
    const double *poses; /* rows of BRIO_POSE_NUMBERS */
    /* A row for each vertex of the body or obstacle, in the coordinates of its mesh before its
     * transform; or one for each of the vertices of the call. NULL: none. */
    const BrioSequence *sequence;
    /* m, of t (s) and of x, y, z at the start (docs/forces.md has the language); NULL: 0 */
    const char *formula[3];
} BrioScript;
BRIO_API BrioScript brio_default_script(void); /* at rest, from 0 to infinity */

/* As brio_builder_attach, for many vertices and one script. `points`: count x 3, or NULL: where
 * each vertex starts; a sequence gives them too. `weight`: factors of k, not negative (0: no
 * spring), or NULL: all 1. */
BRIO_API BrioStatus brio_builder_attach_all(BrioBuilder *builder, int body, const int32_t *vertices,
                                            int64_t count, const double *points, double k,
                                            const double *weight, const BrioScript *script,
                                            BrioError *error);

/* Fixes some coordinates of vertices: bit 0 x, bit 1 y, bit 2 z. These coordinates keep their
 * initial values, and the vertices slide along the others: symmetry planes, rollers. */
BRIO_API BrioStatus brio_builder_fix_axes(BrioBuilder *builder, int body, const int32_t *vertices,
                                          int64_t count, unsigned axes, BrioError *error);

#ifdef __cplusplus
}
#endif

#endif
