/* The motion of a run in one file, for pictures: what is seen of the scene (surfaces, springs,
 * rods, obstacles) and its positions at every instant k/fps. Reports and films are made of it; the
 * scene need not be built again.
 *
 *     the head    "brio-mot", version, mark of the byte order, bytes of the head; fps, stride,
 *                 counts; the parts; the planes
 *     a frame     time (double); for each part that moves: lowest corner (3 float), step (float),
 *                 3 integers of 24 bits per vertex; where velocities are kept, the same of them
 *
 * A position is corner + step * number, where 2^24 - 1 steps are the longest side of the part's box
 * at that instant: a body of 1 m has steps of 0.06 micrometres. Vertices inside of solids are left
 * out; of a surface that rides on tets, the vertices that carry it are kept, and the weights in the
 * head. All frames have the same length, and the file only grows, so that an interrupted run goes
 * on. Byte order is the machine's, and another one is rejected. */
#ifndef BRIO_MOTION_H
#define BRIO_MOTION_H

#include "../system/system.h"

#define BRIO_MOTION_NAME "motion.bin"

typedef enum BrioMotionKind {
    BRIO_MOTION_BODY,
    BRIO_MOTION_OBSTACLE,
    BRIO_MOTION_RODS,
    BRIO_MOTION_KINDS
} BrioMotionKind;

typedef struct BrioMotionPart {
    char *name;
    int32_t kind;
    int32_t closed; /* a solid: its inside is never seen */
    int32_t still;  /* stays at `rest` and is not in the frames */
    int32_t vertex_count, triangle_count, edge_count;
    int32_t carrier_count; /* vertices that are kept */
    /* which those are, in the numbers of the body or obstacle; of rods, world vertices */
    int32_t *vertex;
    int32_t *triangle, *edge; /* of the part's own vertices; edges where there are no triangles */
    int64_t first;            /* the world vertex that has the number 0; not in the file */
    /* undeformed, where strain is measured from; of what stands still, the positions */
    float *rest;
    /* a vertex is the sum of weight[k] * carrier[k], k = start[v] ... start[v + 1] - 1; NULL: the
     * carriers are the vertices */
    int32_t *start, *carrier;
    double *weight;
    /* polygons, textures, groups, of the part's own vertices; NULL: triangles only */
    BrioFaces *faces;
    size_t offset; /* of its numbers in a frame; not in the file */
} BrioMotionPart;

typedef struct BrioMotionFile {
    double fps;
    /* every Nth instant is kept, so that the file stays below BRIO_MOTION_MAX */
    int64_t stride;
    int part_count, plane_count;
    BrioMotionPart *part;
    float (*plane)[6];    /* point, unit normal */
    int64_t vertex_count; /* of all parts together */
    int32_t velocities;   /* not 0: stored with the positions */
    bool old;             /* a file of version 1, which is read only */
    size_t frame_bytes;
    double *scratch; /* carriers of a part */
    /* a motion that is read */
    FILE *file;
    int64_t head_bytes, frame_count;
    double *time;
    unsigned char *buffer; /* of a frame */
} BrioMotionFile;

#define BRIO_MOTION_MAX 5e8 /* bytes */

/* What is to be seen of a system; `rest` as in BrioScene, `x` the first world positions. `frames`:
 * how many instants there will be; 0: keep every one. */
BrioStatus brio__motion_create(const BrioSystem *system, const double *rest, const double *x,
                               double fps, double frames, bool velocities, BrioMotionFile **motion);
void brio__motion_free(BrioMotionFile *motion);

/* The bytes of the head; freed with free(). */
BrioStatus brio__motion_head(const BrioMotionFile *motion, char **bytes, size_t *size);
/* A frame, in motion->buffer, from world positions (and velocities, where they are kept). */
void brio__motion_frame(BrioMotionFile *motion, double time, const double *x, const double *v);
/* The vertices of all parts, one after the other, from world positions; or their velocities from
 * world velocities: then what stands still has none. */
void brio__motion_seen(BrioMotionFile *motion, const double *world, bool velocities, double *seen);

/* A motion that was written: of a run's folder, or of a stream, which it closes at the end (or if
 * it fails). A frame that is not whole is left out. */
BrioStatus brio__motion_open(const char *out, BrioMotionFile **motion, BrioError *error);
BrioStatus brio__motion_read(FILE *file, const char *name, BrioMotionFile **motion,
                             BrioError *error);
/* Positions of all parts, one after the other, at frame k. */
BrioStatus brio__motion_positions(BrioMotionFile *motion, int64_t k, float *x, BrioError *error);
/* Those of one part. */
BrioStatus brio__motion_part(BrioMotionFile *motion, int64_t k, int part, float *x,
                             BrioError *error);
/* Velocities of a part's vertices: those that were kept, or else differences of positions between
 * the frames before and after. `scratch`: as long as v. */
BrioStatus brio__motion_velocities(BrioMotionFile *motion, int64_t k, int part, float *v,
                                   float *scratch, BrioError *error);
/* Positions of all parts at any time, between two frames on the straight line. */
BrioStatus brio__motion_at(BrioMotionFile *motion, double time, float *x, float *scratch,
                           BrioError *error);
/* The frame at or next before a time. */
int64_t brio__motion_find(const BrioMotionFile *motion, double time);
/* The boxes of a part over a frame that was read last: low and high corner. */
void brio__motion_box(const BrioMotionFile *motion, int part, const float *x, float low[3],
                      float high[3]);

#endif
