/* Runs as pictures: what the motions of one or several runs look like at an instant. All of them
 * are seen by one camera and coloured by one scale, so that they can stand side by side. */
#ifndef BRIO_STAGE_H
#define BRIO_STAGE_H

#include "../output/shade.h"
#include "raster.h"

typedef enum BrioColouring {
    BRIO_COLOUR_BODY,
    BRIO_COLOUR_STRAIN,
    BRIO_COLOUR_SPEED,
    BRIO_COLOUR_COUNT
} BrioColouring;
typedef enum BrioObstacleStyle {
    BRIO_OBSTACLES_SOLID,
    BRIO_OBSTACLES_GLASS,
    BRIO_OBSTACLES_NONE
} BrioObstacleStyle;

/* A texture of a body or an obstacle by name; without a name, of all bodies that have texture
 * coordinates and no texture of their own. */
typedef struct BrioStageTexture {
    const char *name;
    const BrioTexture *texture;
} BrioStageTexture;

#define BRIO_STAGE_ANGLE 26.0 /* degrees: of the picture's height */

typedef struct BrioStageDef {
    int width, height; /* of one picture, pixels */
    BrioColouring colouring;
    double max; /* value at the upper end of the colours; NAN: from the motion */
    bool lines; /* draw the mesh */
    BrioObstacleStyle obstacles;
    BrioBackground background;
    bool no_ground;            /* no floor below the bodies (one that is an obstacle is drawn) */
    double eye[3], target[3];  /* NAN: chosen so that everything is seen at all times */
    double azimuth, elevation; /* degrees from +z towards +x and upwards; NAN: chosen */
    double zoom;               /* 1: everything fits */
    bool follow;               /* the camera goes with the bodies; then eye and target are NAN */
    bool own_scales;           /* colours by value: a scale for each body */
    bool checks;               /* bodies have checks of their undeformed shape */
    double shutter;            /* s: how long a picture is exposed; 0: an instant */
    const BrioStageTexture *texture; /* the stage keeps using them */
    int texture_count;
} BrioStageDef;
BrioStageDef brio__stage_defaults(void);

typedef struct BrioStage {
    BrioStageDef def;
    int motion_count;
    BrioMotionFile **motion;
    BrioView view;
    double target[3];       /* where the camera looks */
    double max;             /* of what colours show, a round number */
    struct StagePart *part; /* of all motions */
    float *x, *scratch, *before, *after, *value;
    float *own_max;   /* of each part, with own_scales */
    uint32_t *light;  /* sums of squares, with a shutter */
    float (*path)[3]; /* of the camera, with follow */
    double eye[3];    /* of the camera; with `follow` relative to its path */
    float side[3];    /* largest box of the bodies at an instant */
    BrioFacet *facet;
    int64_t facet_room;
    BrioRaster *raster;
    float thick, low[3], high[3]; /* radius of springs; box of the bodies over all times */
    float largest;                /* radius of what casts shadows, at any time */
} BrioStage;

/* The stage keeps using the motions. */
BrioStatus brio__stage_create(const BrioStageDef *def, BrioMotionFile **motion, int count,
                              BrioStage **stage, BrioError *error);
void brio__stage_free(BrioStage *stage);
/* Motion `which` at a time, into rows of `pitch` bytes. */
BrioStatus brio__stage_draw(BrioStage *stage, int which, double time, uint8_t *rgb, size_t pitch,
                            BrioError *error);
/* The camera, the floor and the panes, from the motions. */
BrioStatus brio__stage_camera(BrioStage *stage, BrioError *error);
/* The eye of a camera that follows, at a time of a motion. */
void brio__stage_follow(BrioStage *stage, int which, double time);
/* The next number of 1, 1.5, 2, 3, ... times a power of ten. */
double brio__stage_round_up(double value);
/* What the colours mean, at the right edge of a picture of this size; nothing if they tell bodies
 * apart. */
void brio__stage_legend(const BrioStage *stage, uint8_t *rgb, size_t pitch, int width, int height);

/* The largest principal strain |sigma - 1| of the triangles at each vertex, or of the edges; `area`
 * is scratch of the same length. */
void brio__surface_strain(const BrioMotionPart *part, const float *x, float *strain, float *area);

#endif
