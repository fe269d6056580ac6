/* A scene file read into a system, its initial state and the settings of a run. Nothing is written
 * anywhere. */
#ifndef BRIO_SCENE_H
#define BRIO_SCENE_H

#include "../output/frames.h"
#include "../sim/sim.h"
#include "tree.h"

typedef struct BrioProbe {
    char *name;
    int body;
    int32_t vertex;
} BrioProbe;

typedef struct BrioScene {
    char *file;
    BrioNode *tree;           /* the document with all --set applied: goes into run.json */
    char *title;              /* "" if none */
    double end, fps;          /* s, 1/s */
    double tol, h_min, h_max; /* of automatic steps, as the scene says it: m, s; INFINITY: auto */
    BrioSimDef def;
    BrioSystem *system; /* NULL once brio__scene_sim has taken them */
    BrioState *state;
    double *rest; /* rest shapes of all bodies, in place: 3 for each of their vertices */
    int probe_count;
    BrioProbe *probe;
    int format_count; /* of frames */
    const BrioFrameFormat *format[BRIO_MAX_FORMATS];
    int64_t every; /* write every Nth frame */
    int64_t energy_every;
    int64_t checkpoints;               /* keep one of every Nth frame; 0: none */
    bool motion;                       /* keep the motion, for pictures */
    bool velocities;                   /* and velocities with it */
    struct BrioAppearance *appearance; /* of each body, what the system will be given as its skin */
    int appearance_count;
} BrioScene;

/* Finds, reads and builds a scene. `name` is a file or the name of a scene that ships with brio;
 * `sets` are assignments as of --set. */
BrioStatus brio__scene_load(const char *name, const char *const *sets, int set_count,
                            BrioScene **scene, BrioError *error);
/* The same from text in memory; files that it names are relative to the folder of `name`. */
BrioStatus brio__scene_parse(const char *text, size_t size, const char *name, BrioScene **scene,
                             BrioError *error);
BrioStatus brio__scene_open(const BrioSource *source, BrioScene **scene, BrioError *error);
/* An integrator and its values without a scene: `sets` may assign integrator.NAME only. */
BrioStatus brio__scene_integrator(const char *name, const char *const *sets, int set_count,
                                  BrioSimDef *def, BrioError *error);
/* A part of a scene, `materials`, `bodies`, `obstacles`, `constraints`, `stitches` and `forces`,
 * into the edit of a simulation that runs (edit.h). */
BrioStatus brio__scene_add(BrioNode *part, BrioBuilder *edit, BrioError *error);
void brio__scene_free(BrioScene *scene);
/* The simulation of a loaded scene, which keeps the rest. */
BrioStatus brio__scene_sim(BrioScene *scene, BrioSim **sim, BrioError *error);

/* Whether its frames are written as films too, which are made of the motion. */
bool brio__scene_films(const BrioScene *scene);

/* The path of a scene that ships (false: none of that name). */
bool brio__scene_path(const char *name, char *path, size_t size);

/* ---- tables of numbers ------------------------------------------------------------------ */

/* Reads rows of `columns` numbers separated by commas or blanks; a first line of words and lines
 * that start with # are passed over. */
BrioStatus brio__csv_read(const char *file, int columns, double **values, int64_t *rows,
                          BrioError *error);
/* The same with as many columns as the first row has. */
BrioStatus brio__csv_grid(const char *file, double **values, int *columns, int64_t *rows,
                          BrioError *error);

#endif
