/* A scene of IPC during reading, and the shared parts of the importer. */
#ifndef BRIO_IPC_H
#define BRIO_IPC_H

#include "import.h"

enum { MAX_WORDS = 400, MAX_HOLDS = 32 };

typedef struct Hold {
    int line;
    double low[3], high[3]; /* relative to the mesh's box */
    double linear[3], angular[3], start, end;
} Hold;

/* How an obstacle moves: along `linear`, and about `about` by `angular` (rad/s). */
typedef struct Motion {
    double linear[3], angular[3], about[3];
    bool pivoted; /* `about` is given; otherwise the middle of the obstacle's box */
    double turns; /* when it moves back, s; 0: never */
    double stops; /* when it stops, s; 0: never */
} Motion;

/* What a shape or an obstacle is made of: points (.pt) and segments (.seg) have a mesh of vertices
 * and edges. */
typedef enum Extract { EXTRACT_ALL, EXTRACT_SEGMENTS, EXTRACT_POINTS } Extract;

typedef struct Shape {
    int line;
    char path[4096], name[64];
    char sequence[1024]; /* the folder of the meshes that it moves through; "": none */
    BrioMesh *mesh;
    Extract extract;
    bool lost;     /* cannot be written; it keeps its number and its place in the box of all */
    bool borrowed; /* the mesh is another shape's */
    double translate[3], rotate[3][3], scale[3];
    double density, E, nu; /* negative: of the scene */
    bool kinematic, thrown;
    Motion motion;                     /* of a kinematic one */
    double first[3], first_angular[3]; /* of one that is thrown */
    Hold hold[MAX_HOLDS];
    int holds;
    int count[3]; /* copies in a lattice */
    double step[3];
    double along[4]; /* x before rotateModel: along[0..2].X + along[3] */
} Shape;

typedef struct Obstacle {
    int line;
    bool plane;
    char path[4096];
    BrioMesh *mesh;
    Extract extract;
    bool lost;
    double point[3], normal[3]; /* of a plane */
    double scale, rotate[3][3]; /* of a mesh */
    double origin[3], size;     /* of a mesh, as given */
    double friction;
    Motion motion;
} Obstacle;

typedef struct Scene {
    Shape *shape;
    int shapes, shape_room;
    Obstacle *obstacle;
    int obstacles, obstacle_room;
    char energy[8], integrator[8], script[32];
    int energy_line, script_line, damping_line;
    double beta, gamma;
    double size, end, h, density, E, nu, damping_stiffness, damping_ratio;
    double rotate_axis[3], rotate_degrees, handle;
    /* by the diagonal of the solids: tol, and dhat and epsv unless `absolute` */
    double dhat, epsv, tol, friction;
    double hold_from, hold_to;
    double ends[2];      /* of the box of everything along x, before rotateModel */
    double script_value; /* the first behind the script's name; NAN: none */
    bool gravity, self_collision, absolute;
} Scene;

typedef struct Reader {
    const char *name;
    char *text, *at; /* `at`: the next line */
    int next;        /* its number */
    int line;        /* of the words, which may go on over several */
    char *word[MAX_WORDS];
    const char *line_start;
    int words, used;
    Scene *scene;
    ImportReport *report;
    BrioError *error;
} Reader;

/* A script of the other code: parts of the whole box (fractions of its extent) that are held or
 * moved, and by how much all is lifted first. */
typedef struct Grip {
    double low[3], high[3], velocity[3];
    double twist; /* about x through the middle, rad/s */
    double bend;  /* about z through the last of its vertices, rad/s */
    /* the box ends at handleRatio from one end along x: -1 the left, 1 the right one; 0: it does
     * not */
    int end;
    bool released; /* at the way's end; otherwise it stops there */
} Grip;

typedef struct Drive {
    double linear[3], angular[3]; /* rad/s, about the middle of the shape's box */
} Drive;

typedef enum Pick { PICK_ALL, PICK_FIRST, PICK_LAST } Pick;

/* What ends the way of grips: turning back at both bounds again and again, or an end. */
typedef enum Course { COURSE_ON, COURSE_SWINGS, COURSE_ENDS } Course;

typedef struct Script {
    const char *name;
    const char *loss; /* what of it no scene of brio can say; NULL: nothing */
    double lift_diagonal, lift_height;
    int grips;
    Pick pick; /* of the vertices of each grip */
    Grip grip[8];
    /* the way of grip `lead` along its axis, at whose bounds all grips turn or end */
    Course course;
    int lead;
    double from, to; /* 0: no bound */
    int drives;      /* of the first shapes, which are kinematic */
    Drive drive[6];
    int mesh_drives; /* of the first meshCO */
    /* More than the table can say; before all is lifted. */
    void (*apply)(Reader *r, const struct Script *script);
    double throws[3]; /* first velocity of all bodies */
} Script;

/* Times at which the grips of a script turn or end, as steps of the other code have it: up to
 * time[i] they have moved as far as in the time way[i] at their velocities. */
typedef struct Way {
    int count;
    double time[1024], way[1024];
    double ends; /* when they stop or are let go; INFINITY: never */
} Way;

/* An error at a word of the line, counted from 0. */
BrioStatus ipc_fail(const Reader *r, int word, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Cuts the next line that holds words into them; false: the file ends. */
bool ipc_next_line(Reader *r);

/* ---- words: each takes the next ones of the line, or says what is missing */

BrioStatus ipc_take_word(Reader *r, const char *what, const char **word);
BrioStatus ipc_take_numbers(Reader *r, const char *what, int count, double *value);
/* A number if one follows. */
bool ipc_take_optional(Reader *r, double *value);
BrioStatus ipc_take_count(Reader *r, const char *what, int max, int *count);
/* The next of the numbers that stand below their keyword, one line after the other. */
BrioStatus ipc_take_below(Reader *r, const char *what, double *value);

/* ---- placement: x = rotate scale X + translate */

void ipc_place(const Shape *s, const double *X, double *x);
Shape *ipc_add_shape(Reader *r);
BrioStatus ipc_no_memory(const Reader *r);
/* The word at `used`, the name of a mesh. `*lost`: its format is one that no obstacle can have. */
BrioStatus ipc_take_mesh(Reader *r, char *path, size_t size, BrioMesh **mesh, Extract *extract,
                         bool *lost);
BrioStatus ipc_take_shape_mesh(Reader *r, Shape *shape);
const char *ipc_part_name(Extract extract);
/* Beside the scene, or in a folder above it; false: not there. */
bool ipc_find_file(const Reader *r, const char *given, char *path, size_t size);

/* ---- keywords, one function each */

BrioStatus ipc_take_shapes(Reader *r);
BrioStatus ipc_take_matrix(Reader *r);
BrioStatus ipc_take_ground(Reader *r);
BrioStatus ipc_take_half_space(Reader *r);
/* Its middle (the mean of the vertices) goes to the origin, its largest extent becomes `scale`. */
BrioStatus ipc_take_mesh_obstacle(Reader *r);

/* ---- the whole */

/* Shapes that move through a sequence of meshes, as far as that is a turn or a shift. */
void ipc_take_sequences(Reader *r);
void ipc_shape_box(const Shape *shape, double low[3], double high[3]); /* with all copies */
void ipc_whole_box(const Scene *s, bool only_solids, double low[3], double high[3]);
double ipc_diagonal_of(const double low[3], const double high[3]);
/* rotateModel, then size. Copies of a lattice become shapes of their own where brio has no
 * lattice for them. */
BrioStatus ipc_place_all(Reader *r, const Script *script);
const Script *ipc_find_script(Reader *r);
/* What the script moves as a whole; before all is lifted. */
void ipc_apply_script(Reader *r, const Script *script);
/* The box of grip i in a scene of that box. */
void ipc_grip_box(const Scene *s, const Grip *grip, const double low[3], const double high[3],
                  double from[3], double to[3]);
bool ipc_inside(const double x[3], const double low[3], const double high[3]);
/* Whether vertex X of a shape is at the end along x that a grip is of, before rotateModel. */
bool ipc_at_end(const Scene *s, const Grip *grip, const Shape *shape, const double *X);
/* The first or last vertex of all shapes that a grip takes in a box: its shape (-1: none), number
 * and place. */
int ipc_pick(const Scene *s, const Grip *grip, const double low[3], const double high[3], bool last,
             int64_t *vertex, double x[3]);
/* The way of the script's grips; x is the place of the last vertex of the leading one. */
void ipc_way(const Scene *s, const Script *script, const double x[3], Way *way);
bool ipc_is_solid(const Shape *s);
BrioStatus ipc_write_scene(Reader *r, const char *folder, FILE *out);

#endif
