/* Readers of the parts of a scene file. The first section has small readers over rows of the
 * schema (read.c); then follows one reader for each part, in the file that is named after it. */
#ifndef BRIO_SCENE_READ_H
#define BRIO_SCENE_READ_H

#include "../build/builder.h"
#include "scene.h"
#include "schema.h"

/* ---- rows and values -------------------------------------------------------------------- */

/* Reads a map by the rows of its section: rejects unknown and missing keys and values of the wrong
 * type or out of range, and stores what is given in `into` (NULL: stores nothing). Values that are
 * not given stay as they are. */
BrioStatus brio__read_keys(BrioNode *map, const BrioKey *keys, void *into, BrioError *error);

BrioStatus brio__expect(const BrioNode *node, BrioNodeKind kind, BrioError *error);
/* `name` is none of the names: says so at the node, with the nearest. */
BrioStatus brio__no_such(const BrioNode *node, const char *what, const char *name,
                         const char *const *names, int count, BrioError *error);
/* The name in `x: name` or in `x: {type: name, ...}`, and the node that holds it. */
BrioStatus brio__type_of(BrioNode *node, const char **type, BrioError *error);
BrioNode *brio__type_node(BrioNode *node);
/* Parameters of a plug-in from the same node; a bare name means the defaults. */
BrioStatus brio__values_of(BrioNode *node, const BrioField *fields, double *values,
                           BrioError *error);
/* A file named in the scene: relative to the scene file. It must be there; `place`: or not. */
BrioStatus brio__file_place(const BrioScene *scene, const BrioNode *node, char *path, size_t size,
                            BrioError *error);
BrioStatus brio__file_path(const BrioScene *scene, const BrioNode *node, char *path, size_t size,
                           BrioError *error);
/* Passes on an error of another module: at the node, unless it has a place of its own. */
BrioStatus brio__at_node(const BrioNode *node, BrioStatus status, BrioError *error,
                         const BrioError *inner);

/* ---- parts of a scene ------------------------------------------------------------------- */

BrioStatus brio__read_time(BrioNode *root, BrioScene *scene, BrioError *error);
BrioStatus brio__read_integrator(BrioNode *root, BrioScene *scene, BrioError *error);
BrioStatus brio__read_solver(BrioNode *root, BrioScene *scene, BrioError *error);
BrioStatus brio__read_damping(BrioNode *root, BrioScene *scene, BrioError *error);
BrioStatus brio__read_output(BrioNode *root, BrioScene *scene, BrioError *error);
BrioStatus brio__read_probes(BrioNode *root, BrioScene *scene, BrioError *error);
BrioStatus brio__read_constraints(BrioNode *root, BrioBuilder *builder, BrioError *error);
BrioStatus brio__read_stitches(BrioNode *root, BrioBuilder *builder, BrioError *error);
BrioStatus brio__read_forces(BrioNode *root, BrioBuilder *builder, BrioError *error);

/* A material: a name of `materials`, of a preset or of a type, alone or as the type of a map that
 * changes some of its values. */
BrioStatus brio__read_material(BrioNode *materials, BrioNode *node, BrioMaterial *material,
                               BrioError *error);
/* Every material is checked, used or not. */
BrioStatus brio__read_materials(BrioNode *materials, BrioError *error);
BrioStatus brio__read_bodies(BrioNode *root, BrioScene *scene, BrioBuilder *builder,
                             BrioError *error);

/* Contact and obstacles come before the bodies, pairs of bodies after them. */
BrioStatus brio__read_contact(BrioNode *root, const BrioScene *scene, BrioBuilder *builder,
                              BrioError *error);
/* Obstacles for a simulation that runs, by the contact law that it has. */
BrioStatus brio__read_more_obstacles(BrioNode *root, const BrioScene *scene, BrioBuilder *builder,
                                     BrioError *error);
/* The member that a field of a contact law sets; NULL: none of that name. */
double *brio__contact_member(BrioContactDef *def, const char *field);
BrioStatus brio__read_pairs(BrioNode *root, BrioBuilder *builder, BrioError *error);

/* X -> linear X + translate, row by row. */
typedef struct BrioPlacement {
    double linear[9], translate[3];
} BrioPlacement;
BrioPlacement brio__placement(void); /* as it is */
/* The length of an axis of any size after it is brought near 1 by a power of two, which is exact:
 * squares would overflow or vanish. 0: it has none. */
double brio__axis_length(double n[3]);
/* `node` may be NULL. */
BrioStatus brio__read_transform(BrioNode *node, BrioPlacement *placement, BrioError *error);

/* How points move: `script` and `sequence` of an entry (motion.c). What the script points to is
 * allocated: brio__free_script frees it, also after an error. */
typedef struct BrioSequenceKeys {
    double fps, start;
    BrioInterpolation interpolation;
} BrioSequenceKeys;
#define BRIO_SEQUENCE_KEYS(type, member)                                                           \
    {KEY_OTHER("sequence", "a file, or a list of files",                                           \
               "Positions over time that replace those of the mesh (docs/motion.md): .pc2, .mdd, " \
               ".glb, .csv, or one mesh per frame, such as walk_####.obj.")},                      \
        {KEY_REAL("fps", "1/s", 24, KEY_POSITIVE, 1e9,                                             \
                  "Frames per second of files without times."),                                    \
         KEY_INTO(type, member.fps)},                                                              \
        {KEY_CHOICE("interpolation", "linear|cubic|monotone", 0,                                   \
                    "Between frames, poses and keys. cubic: smooth curves. monotone: smooth, and " \
                    "never beyond the values at both ends."),                                      \
         KEY_INTO(type, member.interpolation)},                                                    \
    {                                                                                              \
        KEY_REAL("start", "s", 0, -1e9, 1e9,                                                       \
                 "Time of the first frame; added to the times in the file."),                      \
            KEY_INTO(type, member.start)                                                           \
    }
/* Refuses keys of sequences where there is none. */
BrioStatus brio__check_motion_keys(BrioNode *entry, BrioError *error);
/* `moves`: whether there is any motion. */
BrioStatus brio__read_motion(const BrioScene *scene, BrioNode *entry, const BrioSequenceKeys *keys,
                             BrioScript *script, bool *moves, BrioError *error);
void brio__free_script(BrioScript *script);

/* ---- where scenes are ------------------------------------------------------------------- */

/* Why there is no scene of this name, with the one that was probably meant. */
BrioStatus brio__scene_missing(const char *name, BrioError *error);

#endif
