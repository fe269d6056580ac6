/* brio: simulation of soft bodies, cloth and contact.
 *
 * This header and those that it includes are the public interface and its documentation. The data
 * flow:
 *
 *     scene file or builder -> BrioSystem (constant) + BrioState (small, copyable)
 *                           -> integrator -> minimise -> energies, linear solver -> next state
 *
 * Conventions. SI units, y is up, angles in radians unless a name says degrees. Arrays of points
 * hold x, y, z per vertex. The library never prints and never exits: it calls the log hook.
 *
 * Errors. Functions that can fail return a BrioStatus. Zero means success. Positive values are
 * numerical outcomes that the caller may act on. Negative values are errors. Functions whose
 * failure needs an explanation take a `BrioError *error` as the last argument. It receives a
 * sentence if they fail; it may be NULL. A function that fails leaves its outputs and the object
 * unchanged.
 *
 * Arguments. A pointer must not be NULL unless its description allows it. A handle (BrioSim,
 * BrioSystem, BrioState, BrioBuilder) must be alive. Every function checks both. If an argument is
 * not valid, the function changes nothing and returns BRIO_ERROR_ARGUMENT. A function without a
 * status returns NULL, NAN, 0 for a count, -1 for an index, or nothing. Functions that free accept
 * NULL and freed handles. A freed handle is recognised by its address: if a new object of the same
 * kind has that address, the call goes to the new object. Not checked: lengths of arrays, freed
 * plain structs such as BrioMesh, a stepper outside its step, and use of one object from two
 * threads at once.
 *
 * Definitions. A function that creates an object takes a struct that describes it.
 * brio_default_NAME returns that struct with default values: call it, then set the members that
 * differ.
 * Licence: MIT. */
#ifndef BRIO_BRIO_H
#define BRIO_BRIO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define BRIO_API __attribute__((visibility("default")))
#else
#define BRIO_API
#endif

#define BRIO_VERSION_MAJOR 0
#define BRIO_VERSION_MINOR 1
#define BRIO_VERSION_PATCH 0
/* The binary interface, the number in libbrio.so.N. It changes when a program compiled for an
 * earlier version might fail with the new library: a struct, a constant or the parameters of a
 * function changed, or something was removed. New functions and new structs do not change it. A
 * program that loads the library at run time compares this number with brio_abi(). */
#define BRIO_ABI 2

/* --------------------------------------------------------------------------------------
 * Status
 * -------------------------------------------------------------------------------------- */

/* One list of all outcomes: X(name, value, text). The sign carries the severity. */
#define BRIO_STATUS_LIST(X)                                                              \
    X(OK, 0, "fine")                                                                     \
    X(NOT_CONVERGED, 1, "the iteration limit was reached before the tolerance")          \
    X(LINE_SEARCH_STALLED, 2, "no step along the search direction lowers the objective") \
    X(NOT_POSITIVE_DEFINITE, 3, "the matrix is not positive definite")                   \
    X(STEP_REJECTED, 4, "the step leads to a state that is not allowed")                 \
    X(NOT_FINITE, 5, "a value is not finite")                                            \
    X(STOPPED, 6, "stopped on request")                                                  \
    X(EXPLODED, 7, "the energy is beyond anything that the scene can cause")             \
    X(ERROR_MEMORY, -1, "out of memory")                                                 \
    X(ERROR_ARGUMENT, -2, "an argument is not valid")                                    \
    X(ERROR_INPUT, -3, "the input is not valid")                                         \
    X(ERROR_FILE, -4, "a file cannot be read or written")                                \
    X(ERROR_UNSUPPORTED, -5, "not supported by this build or this method")               \
    X(ERROR_EXISTS, -6, "results exist already and would be overwritten")                \
    X(ERROR_TOO_LARGE, -7, "the problem does not fit into memory")

typedef enum BrioStatus {
#define X(name, value, text) BRIO_##name = value,
    BRIO_STATUS_LIST(X)
#undef X
} BrioStatus;

BRIO_API const char *brio_status_name(BrioStatus status); /* "NOT_CONVERGED" */
BRIO_API const char *brio_status_text(BrioStatus status); /* the sentence of the list */

/* Where and why a file was rejected. `line` and `column` count from 1; 0 means
 * unknown. */
typedef struct BrioError {
    BrioStatus status;
    int line, column;
    char file[512];
    char path[128];     /* path in the document: bodies[0].material */
    char message[1024]; /* what was expected, and the remedy */
} BrioError;

/* "scene.yaml:12:17: bodies[0].material: no material "ruber"; did you mean "rubber"?" */
BRIO_API void brio_error_text(const BrioError *error, char *text, size_t size);

BRIO_API const char *brio_version(void); /* "0.1.0" */
BRIO_API int brio_abi(void);             /* BRIO_ABI of the library that is loaded */

/* --------------------------------------------------------------------------------------
 * Hooks: log, memory, threads. Set them before anything else. They apply to the whole process.
 * -------------------------------------------------------------------------------------- */

typedef enum BrioLogLevel {
    BRIO_LOG_DEBUG,
    BRIO_LOG_INFO,
    BRIO_LOG_WARNING,
    BRIO_LOG_ERROR
} BrioLogLevel;
typedef void BrioLogFn(void *user, BrioLogLevel level, const char *message);
BRIO_API void brio_set_log(BrioLogFn *log, void *user); /* NULL: silence (the default) */

typedef struct BrioAllocator {
    void *(*allocate)(void *user, size_t size); /* aligned like malloc; NULL on failure */
    void (*release)(void *user, void *block);
    void *user;
} BrioAllocator;
BRIO_API void brio_set_allocator(const BrioAllocator *allocator); /* NULL: malloc and free */

BRIO_API void brio_set_threads(int threads); /* 0: one per core. Results do not depend on it. */
BRIO_API int brio_threads(void);
/* "avx512", "avx2" or "baseline"; BRIO_ISA in the environment forces one */
BRIO_API const char *brio_isa(void);

/* --------------------------------------------------------------------------------------
 * Fields: every parameter that a user can set is described by one row of a table. The scene reader,
 * the documentation, `brio list` and the playground's sliders read the same rows.
 * -------------------------------------------------------------------------------------- */

typedef enum BrioFieldType {
    BRIO_REAL,
    BRIO_INTEGER,
    BRIO_VECTOR,
    BRIO_BOOLEAN,
    BRIO_CHOICE,
    BRIO_LIST
} BrioFieldType;

typedef struct BrioField {
    const char *name;
    /* BRIO_VECTOR takes three values, BRIO_LIST 1 + BRIO_MAX_LIST, the others one */
    BrioFieldType type;
    /* "Pa", "" for none. "J|rest": the word may replace the number and is stored as INFINITY. For a
     * BRIO_CHOICE the words to choose from, "inner|outer"; the stored value is the index, from 0 */
    const char *unit;
    /* default (each component of a vector); NAN: no default, see `required`; a list is empty */
    double default_value;
    /* allowed range, ends included; use nextafter-like values to exclude an end */
    double min, max;
    int required;
    const char *summary; /* one sentence */
} BrioField;

/* A table ends with a row whose name is NULL. Values are stored one after the other. A list (in a
 * scene: a number, a list of numbers, or a list of such lists, row by row) is stored as its length
 * and then its numbers. */
#define BRIO_MAX_LIST 40
#define BRIO_MAX_VALUES 112

/* --------------------------------------------------------------------------------------
 * Meshes
 * -------------------------------------------------------------------------------------- */

/* Faces as a file has them: polygons (triangle[] holds their fans, in the same order), textures,
 * smoothing, groups. Corners of face f are start[f] to start[f + 1] - 1. */
typedef struct BrioFaces {
    int64_t count;   /* faces */
    int32_t *start;  /* count + 1 */
    int32_t *vertex; /* of each corner */
    int64_t uv_count;
    double *uv;         /* uv_count x 2 */
    int32_t *corner_uv; /* of each corner, -1: none; NULL: none at all */
    int64_t normal_count;
    /* corners at a vertex that share a number are shaded as one smooth surface; -1: none; NULL:
     * none at all */
    int32_t *corner_normal;
    int32_t group_count;
    char **group;        /* names of objects or groups */
    int32_t *face_group; /* of each face, -1: none; NULL: none at all */
} BrioFaces;

/* Named sets of vertices: those of group g are vertex[start[g]] to vertex[start[g + 1] - 1],
 * ascending. */
typedef struct BrioVertexGroups {
    int32_t count;
    char **name;
    int64_t *start; /* count + 1 */
    int32_t *vertex;
} BrioVertexGroups;

typedef struct BrioMesh {
    int64_t vertex_count, tet_count, triangle_count, edge_count;
    double *x;          /* vertex_count x 3 */
    int32_t *tet;       /* tet_count x 4, positively oriented: det(x1-x0, x2-x0, x3-x0) > 0 */
    int32_t *triangle;  /* triangle_count x 3; for a solid, filled by brio_mesh_surface, outward */
    int32_t *edge;      /* edge_count x 2: lines and springs */
    uint8_t *edge_kind; /* edge_count, or NULL: BRIO_EDGE_* */
    /* what the file contains about faces other than triangles; NULL: nothing. Copied to results;
     * the simulation does not need it */
    BrioFaces *faces;
    BrioVertexGroups *groups; /* physical groups of a Gmsh file; NULL: none */
} BrioMesh;

enum { BRIO_EDGE_STRUCTURAL = 0, BRIO_EDGE_SHEAR = 1, BRIO_EDGE_BEND = 2 };

/* Reads a mesh by its file extension: .msh (Gmsh), .mesh (Medit), .node or .ele (TetGen), .obj,
 * .off, .ply, .stl, .vtk, .vtu. */
BRIO_API BrioStatus brio_mesh_read(const char *file, BrioMesh **mesh, BrioError *error);

/* Makes a mesh of a named shape ("box", "ball", ... see `brio list shapes`) from the values of its
 * field table; start from brio_fields_defaults and change values with brio_fields_set. NULL: the
 * defaults. */
BRIO_API BrioStatus brio_mesh_shape(const char *shape, const double *values, BrioMesh **mesh,
                                    BrioError *error);
BRIO_API const BrioField *brio_shape_fields(const char *shape); /* NULL: no such shape */
BRIO_API const char *brio_shape_at(int i); /* names, i = 0, 1, ...; NULL past the last */

/* Fills triangle[] with the boundary of the tets, outward; a mesh without tets keeps its
 * triangles. */
BRIO_API BrioStatus brio_mesh_surface(BrioMesh *mesh, BrioError *error);
BRIO_API void brio_mesh_free(BrioMesh *mesh);

/* Values of a field table: its defaults, and one value (or vector) by name. */
BRIO_API void brio_fields_defaults(const BrioField *fields, double *values);
BRIO_API BrioStatus brio_fields_set(const BrioField *fields, double *values, const char *name,
                                    const double *value, BrioError *error);

/* --------------------------------------------------------------------------------------
 * Building a system from C. (Most programs load a scene file instead: next section.)
 * -------------------------------------------------------------------------------------- */

typedef struct BrioSystem BrioSystem; /* constant during a run: topology, masses, rest shapes */
/* time, coordinates, velocities, live parameters, history */
typedef struct BrioState BrioState;
typedef struct BrioBuilder BrioBuilder;
#include "motion.h" /* scripts and motion sequences */

typedef struct BrioMaterial {
    const char *type;               /* "neo-hookean", ...: `brio list materials` */
    double values[BRIO_MAX_VALUES]; /* of the material's field table */
} BrioMaterial;

/* With its defaults; or the name of a preset, with its type and numbers. */
BRIO_API BrioStatus brio_default_material(const char *type, BrioMaterial *material,
                                          BrioError *error);
BRIO_API BrioStatus brio_material_set(BrioMaterial *material, const char *name, double value,
                                      BrioError *error);
BRIO_API const char *brio_material_at(int i); /* names, i = 0, 1, ...; NULL past the last */
/* likewise, of presets ("rubber", "silk", ...: docs/materials.md) */
BRIO_API const char *brio_preset_at(int i);
BRIO_API const BrioField *brio_material_fields(const char *type); /* NULL: no such material */

/* AUTO takes the kind from the material. A bar1d is a line of edges that moves along x only. Points
 * are vertices with mass and without elements. A shell is a sheet of triangles. An affine body has
 * twelve coordinates for any mesh (tets or a closed surface). It moves as x = A X + p, and the
 * material `affine` keeps A close to a rotation. If the material is that of a solid, the body uses
 * its E and rho. */
typedef enum BrioKind {
    BRIO_KIND_AUTO,
    BRIO_KIND_SOLID,
    BRIO_KIND_SPRINGS,
    BRIO_KIND_BAR1D,
    BRIO_KIND_POINTS,
    BRIO_KIND_AFFINE,
    BRIO_KIND_SHELL
} BrioKind;

typedef struct BrioBodyDef {
    const char *name;
    const BrioMesh *mesh; /* rest shape before `transform`; copied */
    BrioKind kind;
    BrioMaterial material;
    double linear[9]; /* transform: X -> linear X + translate, row by row */
    double translate[3];
    double velocity[3]; /* m/s */
    double angular[3];  /* rad/s, about `about` */
    double about[3];
    /* optional vertex_count x 6: x, y, z, vx, vy, vz instead of the rest pose */
    const double *state;
    const double *spring; /* optional edge_count x 2: k, rest length of each edge (kind springs) */
    int cage;             /* cells along the longest side of a cage (cage.h); 0: none */
    /* of a-search, which then controls energy by body: as the integrator's fields, for this body
     * alone; 0: as the integrator has it */
    double decay; /* s */
    double energy_scale;
} BrioBodyDef;
BRIO_API BrioBodyDef brio_default_body(void);

BRIO_API BrioStatus brio_builder_create(BrioBuilder **builder, BrioError *error);
BRIO_API void brio_builder_free(BrioBuilder *builder);
BRIO_API void brio_builder_gravity(BrioBuilder *builder, const double gravity[3]);
/* Returns the body's number through `body` (may be NULL). The error names the bad element or
 * vertex. */
BRIO_API BrioStatus brio_builder_body(BrioBuilder *builder, const BrioBodyDef *def, int *body,
                                      BrioError *error);
BRIO_API BrioStatus brio_builder_fix(BrioBuilder *builder, int body, const int32_t *vertices,
                                     int64_t count,
                                     /* script: may be NULL */
                                     const BrioScript *script, BrioError *error);
/* A spring of stiffness k (N/m) and rest length zero from a vertex to a point. */
BRIO_API BrioStatus brio_builder_attach(BrioBuilder *builder, int body, int32_t vertex,
                                        const double point[3], double k, const BrioScript *script,
                                        BrioError *error);
/* A rigid rod: two vertices, of one body or of two, keep the distance `length`. NAN: the distance
 * in the initial state; a given length must equal it. Other constraints: constraint.h. */
BRIO_API BrioStatus brio_builder_rod(BrioBuilder *builder, int body_a, int32_t vertex_a, int body_b,
                                     int32_t vertex_b, double length, BrioError *error);
/* Forces in addition to gravity (docs/forces.md): "constant", "wind", ...: `brio list forces`.
 * Those with a potential are part of P. The others act as forces of the step. The ledger books the
 * work of both. */
BRIO_API const char *brio_force_at(int i); /* names, i = 0, 1, ...; NULL past the last */
BRIO_API const BrioField *brio_force_fields(const char *type); /* NULL: no such force */

/* For the type "function": the vertices, one after the other, and the requested outputs. */
typedef struct BrioForceCall {
    double time; /* s */
    int64_t count;
    const double *x; /* count x 3: positions */
    const double *v; /* count x 3: velocities; NULL: the force has a potential */
    /* count x 3 (N), initially zero; with a potential: minus its gradient. NULL: not requested */
    double *force;
    /* count x 6: xx, xy, xz, yy, yz, zz of the Hessian of the potential with respect to each single
     * vertex, initially zero; NULL: not requested */
    double *hessian;
} BrioForceCall;
/* Returns the potential in J; the value is ignored if the force has no potential. The function must
 * depend on its arguments only: the same call gives the same numbers. */
typedef double BrioForceFunction(void *user, const BrioForceCall *call);

typedef struct BrioForceDef {
    const char *name; /* NULL: "force0", ... */
    const char *type;
    double values[BRIO_MAX_VALUES]; /* of the type's field table */
    /* Which bodies, by number; none: all. Of these bodies the vertices that are initially inside
     * `box` (two corners) and `sphere` (centre, radius), unless NAN. Or, for one body, those in
     * `vertices`. */
    int body_count;
    const int *bodies;
    int64_t vertex_count;
    const int32_t *vertices;
    double box[6], sphere[4];
    /* The factor of the force: rows t, factor, linear in between; times a formula of t, x, y, z.
     * Both are optional. "constant" also takes three formulas, one per component. For "potential"
     * the formula is the potential. */
    int64_t key_count;
    const double *keys;
    int formula_count;
    const char *formula[3];
    /* of "spring": rows t, x, y, z of the point */
    int64_t path_count;
    const double *path;
    /* of "function" */
    BrioForceFunction *function;
    void *user;
    int has_potential; /* the function returns one, and its force is minus the gradient */
} BrioForceDef;
BRIO_API BrioStatus brio_default_force(const char *type, BrioForceDef *def, BrioError *error);
/* Sets one value by name; three numbers for a vector. */
BRIO_API BrioStatus brio_force_set(BrioForceDef *def, const char *name, const double *value,
                                   BrioError *error);
/* Call it after adding the bodies that the force acts on. Everything except `user` is copied.
 * Forces are numbered from 0. */
BRIO_API BrioStatus brio_builder_force(BrioBuilder *builder, const BrioForceDef *def,
                                       BrioError *error);

/* Contact of bodies with each other, with themselves and with obstacles. Barriers, -kappa (d -
 * dhat)^2 ln(d/dhat) at a distance d < dhat (beyond `thickness`), let nothing through [Li2020].
 * They need an integrator with the trait BRIO_END_IS_SOLVED. Penalties are springs of stiffness
 * kappa. They push vertices away from an obstacle that is closer than dhat and, with `self`, from
 * vertices that are closer than that. They do not prevent penetration. */
/* Value that brio chooses from meshes, masses and stiffness (docs/defaults.md). */
#define BRIO_AUTO INFINITY

/* How to treat bodies that start too close. */
typedef enum BrioContactStart {
    BRIO_START_STRICT,  /* reject intersections; barriers act at once */
    BRIO_START_RELAX,   /* barriers start without force and grow to dhat */
    BRIO_START_UNTANGLE /* move intersecting bodies apart first, then relax */
} BrioContactStart;
typedef struct BrioContactDef {
    /* "ipc", "cubic", "penalty" ...: `brio list laws`; NULL: ipc */
    const char *law;
    /* m; BRIO_AUTO: a tenth of the smallest median edge of a body, at most 1/250 of the size of the
     * smallest body */
    double dhat;
    /* m, for penalties: vertices repel below this distance, those of one body only if they are
     * farther apart at rest; 0: never */
    double self;
    double kappa;     /* N/m; BRIO_AUTO or NAN: per pair of bodies, from their stiffness */
    double thickness; /* m: minimum distance between surfaces */
    double mu;        /* friction coefficient, unless brio_builder_friction sets another */
    /* m/s: friction sticks below this speed; BRIO_AUTO: 3e-4 of the speed that the smallest body
     * reaches when it falls by its own size */
    double epsv;
    /* how often a solve updates the normal forces of friction. 1: at the start of the step only; 0:
     * until the friction force no longer changes */
    int friction_iterations;
    BrioContactStart start;
    double relax_time; /* s: time in which barriers grow to dhat; for relax and untangle */
} BrioContactDef;
/* ipc, strict, relax_time 0.1, and all other values BRIO_AUTO or 0 */
BRIO_API BrioContactDef brio_default_contact(void);
/* Without it, bodies collide with planes only, through such barriers. */
BRIO_API void brio_builder_contact(BrioBuilder *builder, const BrioContactDef *def);
/* A plane that keeps vertices on the side that `normal` (any length) points to. `name` may be
 * NULL. Obstacles of all kinds are numbered together from 0. */
BRIO_API BrioStatus brio_builder_plane(BrioBuilder *builder, const char *name,
                                       const double point[3], const double normal[3],
                                       BrioError *error);
/* A solid given by its signed distance: "sphere", "box", "cylinder" or "capsule" with the values of
 * the shape's field table (brio_shape_fields; values that describe its mesh are ignored). X ->
 * linear X + translate, row by row, where linear is a rotation. For all contact laws. Only vertices
 * collide with it, not edges and faces. */
BRIO_API BrioStatus brio_builder_solid(BrioBuilder *builder, const char *name, const char *shape,
                                       const double *values, const double linear[9],
                                       const double translate[3], BrioError *error);
/* Ground given by heights: `rows` rows along z of `columns` heights along x, `spacing` apart,
 * centred at the origin, with a smooth surface through them. The transform is as above. */
BRIO_API BrioStatus brio_builder_heightfield(BrioBuilder *builder, const char *name, int columns,
                                             int rows, const double *height, double spacing,
                                             const double linear[9], const double translate[3],
                                             BrioError *error);
/* An obstacle made of the triangles of the mesh's surface; without triangles of its segments;
 * without segments of its vertices as points. It is at rest or follows a script. X -> linear X +
 * translate,
 * row by row. For contact by barriers. */
typedef struct BrioObstacleDef {
    const char *name;     /* NULL: "obstacle0", ... */
    const BrioMesh *mesh; /* copied */
    double linear[9], translate[3];
    const BrioScript *script; /* may be NULL; copied */
} BrioObstacleDef;
BRIO_API BrioObstacleDef brio_default_obstacle(void);
BRIO_API BrioStatus brio_builder_obstacle(BrioBuilder *builder, const BrioObstacleDef *def,
                                          BrioError *error);
/* Two bodies or obstacles by number, BRIO_OBSTACLE(k) for obstacles: sets their friction
 * coefficient; lets them pass through each other. Both numbers may be the same body: contact with
 * itself. */
#define BRIO_OBSTACLE(k) (-1 - (k))
BRIO_API BrioStatus brio_builder_friction(BrioBuilder *builder, int a, int b, double mu,
                                          BrioError *error);
BRIO_API BrioStatus brio_builder_exclude(BrioBuilder *builder, int a, int b, BrioError *error);
/* Fails if the initial state touches a plane or is behind it, unless contact untangles. */
BRIO_API BrioStatus brio_builder_finish(BrioBuilder *builder, BrioSystem **system,
                                        BrioState **state, BrioError *error);

BRIO_API void brio_system_free(BrioSystem *system);
BRIO_API int64_t brio_system_vertices(const BrioSystem *system);    /* of all bodies */
BRIO_API int64_t brio_system_coordinates(const BrioSystem *system); /* length of q and v */
BRIO_API int brio_system_bodies(const BrioSystem *system);
/* -1: none of that name */
BRIO_API int brio_system_body(const BrioSystem *system, const char *name);
BRIO_API const char *brio_body_name(const BrioSystem *system, int body);
BRIO_API int64_t brio_body_vertices(const BrioSystem *system, int body);
/* surface */
BRIO_API const int32_t *brio_body_triangles(const BrioSystem *system, int body, int64_t *count);
/* springs; other bodies have none */
BRIO_API const int32_t *brio_body_edges(const BrioSystem *system, int body, int64_t *count);
BRIO_API const int32_t *brio_body_tets(const BrioSystem *system, int body, int64_t *count);

BRIO_API BrioStatus brio_state_copy(const BrioState *from, BrioState **copy, BrioError *error);
BRIO_API void brio_state_assign(BrioState *to, const BrioState *from); /* of the same system */
BRIO_API void brio_state_free(BrioState *state);
/* Coordinates and their velocities, 3 per coordinate block, read-only. They are valid as long as
 * the state exists. brio_sim_set_positions changes them. */
BRIO_API const double *brio_state_q(const BrioState *state);
BRIO_API const double *brio_state_v(const BrioState *state);

/* --------------------------------------------------------------------------------------
 * Simulating
 * -------------------------------------------------------------------------------------- */

typedef struct BrioSim BrioSim; /* a system, its state, an integrator and a solver */

/* Purpose of a solve; it determines tol if that is BRIO_AUTO. */
typedef enum BrioQuality {
    BRIO_QUALITY_AUTO, /* film with barrier contact, exact without */
    /* 1e-2 of the speed of the smallest body after it fell by its own size */
    BRIO_QUALITY_PREVIEW,
    BRIO_QUALITY_FILM, /* 3e-4 of it; with friction 0.01 epsv */
    BRIO_QUALITY_EXACT /* 1e-8 m/s */
} BrioQuality;

typedef struct BrioSolverOptions {
    /* "newton": minimises; "root": solves gradient = 0 with the merit |gradient|^2/2, for
     * comparison; "local-global": a fixed number of iterations with a constant matrix, for real
     * time */
    const char *type;
    const char *linear; /* "auto", "cholesky", "ldlt", "pcg", "petsc": `brio list solvers` */
    double tol;         /* m/s: Newton stops when max|dq|/h < tol; BRIO_AUTO: by `quality` */
    int max_iterations;
    double linear_tol; /* relative residual of iterative linear solvers */
    int max_halvings;  /* how often a failed step is halved and tried again */
    /* of local-global */
    int iterations;       /* in every solve */
    int single_precision; /* of the constant factor: 0 no, 1 yes, 2 half if it is large */
    /* past iterations that L-BFGS uses; -1: 0 if all energies are projections, otherwise 5 */
    int memory;
    /* options of linear solvers that have their own (petsc: "-pc_type ..."); NULL: none */
    const char *linear_options;
    BrioQuality quality;
} BrioSolverOptions;
BRIO_API BrioSolverOptions brio_default_solver(void);

/* A damping model with its values; several may act together. */
typedef struct BrioDamping {
    const char *type;               /* "rayleigh", ...: `brio list damping` */
    double values[BRIO_MAX_VALUES]; /* of the model's field table */
} BrioDamping;
enum { BRIO_MAX_DAMPING = 8 };
BRIO_API BrioStatus brio_default_damping(const char *type, BrioDamping *damping, BrioError *error);
BRIO_API BrioStatus brio_damping_set(BrioDamping *damping, const char *name, double value,
                                     BrioError *error);
BRIO_API const char *brio_damping_at(int i); /* names, i = 0, 1, ...; NULL past the last */
BRIO_API const BrioField *brio_damping_fields(const char *type); /* NULL: no such model */

typedef struct BrioSimDef {
    double h;                       /* s; of automatic steps the longest */
    const char *integrator;         /* `brio list integrators` */
    double values[BRIO_MAX_VALUES]; /* of the integrator's field table */
    int damping_count;
    BrioDamping damping[BRIO_MAX_DAMPING];
    BrioSolverOptions solver;
    /* Automatic steps, docs/adaptive.md. m: steps are as long as their estimated error of positions
     * is not above it; BRIO_AUTO: a thousandth of the size of the smallest body; 0: every step is
     * h. The shortest step in s, 0: h/2^20. Instants k/fps are met exactly; 0: there are none. */
    double tol, h_min, fps;
} BrioSimDef;
BRIO_API BrioSimDef brio_default_sim(const char *integrator); /* with the integrator's defaults */

/* Takes ownership of system and state: brio_sim_free frees them. If the call fails, it frees them
 * at once. */
BRIO_API BrioStatus brio_sim_create(BrioSystem *system, BrioState *state, const BrioSimDef *def,
                                    BrioSim **sim, BrioError *error);
/* Loads a scene file. Nothing is written anywhere. */
BRIO_API BrioStatus brio_sim_load(const char *scene, BrioSim **sim, BrioError *error);
/* The same from text in memory. Messages call it `name`; mesh files are relative to its folder. */
BRIO_API BrioStatus brio_sim_parse(const char *text, size_t size, const char *name, BrioSim **sim,
                                   BrioError *error);
/* Where a scene comes from: a file or the name of a scene that ships; or `text`, and then `name` as
 * above. `sets` are changes as for the option --set, such as "time.h=1/120". */
typedef struct BrioSource {
    const char *name;
    const char *text; /* NULL: from the file */
    size_t size;
    const char *const *sets;
    int set_count;
} BrioSource;
BRIO_API BrioSource brio_default_source(void); /* empty: set at least the name */
BRIO_API BrioStatus brio_sim_open(const BrioSource *source, BrioSim **sim, BrioError *error);
BRIO_API const char *brio_scenes_folder(void); /* of the scenes that ship, NAME.yaml */
BRIO_API void brio_sim_free(BrioSim *sim);

/* One step with the scene's h, or with any h. Automatic steps choose their h; a given h is taken as
 * it is. A step that cannot be solved is halved and tried again. If that fails too, the state stays
 * unchanged and `error` has the reason. */
BRIO_API BrioStatus brio_sim_step(BrioSim *sim, BrioError *error);
BRIO_API BrioStatus brio_sim_step_by(BrioSim *sim, double h, BrioError *error);
/* One iteration of a solve within a step, for a watch function. */
typedef struct BrioIteration {
    int64_t step;   /* number of the step, from 1 */
    double time, h; /* s: start of the step, or of the current half of it; its length */
    int halvings;   /* how often the step was halved for it; 0: the whole step */
    int iteration;  /* iterations of this solve that are done, from 0 */
    /* m/s: max|dq|/h of the last iteration, and the value below which the solve ends. `speed` is
     * NAN before the first iteration. Both are NAN for solvers with a fixed number of
     * iterations. */
    double speed, tol;
    int contacts; /* pairs closer than dhat, as in the ledger; of this process */
    /* fraction of their path in this step that scripted vertices have covered */
    double moved;
    /* names of the bodies or obstacles whose distance limited the last iteration; the first alone:
     * its elements would have inverted; NULL: no limit */
    const char *limit[2];
    double distance; /* m, between the two; NAN: not a pair */
} BrioIteration;
/* Not 0: end the step here. */
typedef int BrioWatchFn(void *user, const BrioIteration *iteration);
/* Sets a function that every iteration of a step and of brio_sim_settle calls (NULL: none, the
 * default), also between the trials of a line search. It is called from the thread that steps. It
 * may read its argument, but nothing else of the simulation. If it ends a step, the step returns
 * BRIO_STOPPED and the state is unchanged, to the bit. Nothing is allocated. */
BRIO_API void brio_sim_watch(BrioSim *sim, BrioWatchFn *watch, void *user);
/* Static equilibrium; velocities become zero. */
BRIO_API BrioStatus brio_sim_settle(BrioSim *sim, BrioError *error);
/* The sentence of the last call that failed; steps clear it. */
BRIO_API const char *brio_sim_reason(const BrioSim *sim);

BRIO_API const BrioSystem *brio_sim_system(const BrioSim *sim);
BRIO_API BrioState *brio_sim_state(BrioSim *sim);
BRIO_API double brio_sim_time(const BrioSim *sim);
/* s: of brio_sim_step; of automatic steps the last one, and before the first the longest */
BRIO_API double brio_sim_h(const BrioSim *sim);
/* How long steps are. */
typedef struct BrioSteps {
    int automatic;
    int rejected;             /* tries of the last step that did not count */
    double tol, h_min, h_max; /* m, s; if not automatic: NAN, and h */
    double h, next_h;         /* s: of the last step, and the one to try next */
    double error;             /* m: estimate of the last step; NAN: none */
} BrioSteps;
BRIO_API BrioSteps brio_sim_steps(const BrioSim *sim);

/* Positions and velocities of a body's vertices (3 per vertex). Setting does not move vertices
 * without coordinates (fixed ones). It fails if it would move a bar1d in y or z. An affine body
 * takes the nearest affine motion (least squares over its vertices). */
BRIO_API void brio_sim_positions(const BrioSim *sim, int body, double *x);
BRIO_API void brio_sim_velocities(const BrioSim *sim, int body, double *v);
BRIO_API BrioStatus brio_sim_set_positions(BrioSim *sim, int body, const double *x,
                                           BrioError *error);
BRIO_API BrioStatus brio_sim_set_velocities(BrioSim *sim, int body, const double *v,
                                            BrioError *error);

/* Gravity from now on; the jump of the potential is booked in `added`. */
BRIO_API BrioStatus brio_sim_set_gravity(BrioSim *sim, const double gravity[3], BrioError *error);

/* Forces: their number; the index of a force by name (-1: none); a factor for a force from now on
 * (initially 1). The jump of the potential is booked in `added`. The energy of all forces with a
 * potential is part of the ledger's `potential`. */
BRIO_API int brio_system_forces(const BrioSystem *system);
BRIO_API int brio_system_force(const BrioSystem *system, const char *name);
BRIO_API BrioStatus brio_sim_set_force(BrioSim *sim, int force, double factor, BrioError *error);
BRIO_API double brio_sim_force_energy(BrioSim *sim);

/* Energies and momenta of the system at one time. Gravity energy is -sum m g.x, zero at the
 * origin. */
typedef struct BrioLedger {
    double time, kinetic, elastic, gravity, attachment, contact, potential, total;
    double target, alpha; /* of energy-controlled integrators; NAN with others */
    /* J added by changes from outside, and removed by damping models */
    double added, dissipated;
    double dissipated_by[BRIO_MAX_DAMPING + 1]; /* `dissipated` by model, then friction */
    /* total - initial total - added + dissipated: the effect of the method */
    double remainder;
    /* part of the remainder: the work of forces that the solves left unbalanced */
    double unfinished;
    double momentum[3], angular[3]; /* angular momentum about the origin */
    double centre[3];               /* centre of mass of everything */
    double friction;                /* J of `dissipated` that friction removed */
    /* m: minimum distance of a vertex from a plane, or of a pair in contact; NAN without either */
    double min_distance;
    /* drift of constraints: largest |g| over its length; NAN without constraints */
    double rods;
    int64_t step;
    int iterations; /* Newton iterations of the last step */
    /* pairs closer than dhat: vertices and planes, vertices and triangles, edges and edges */
    int contacts;
} BrioLedger;
BRIO_API BrioStatus brio_sim_ledger(BrioSim *sim, BrioLedger *ledger);
BRIO_API double brio_sim_body_energy(BrioSim *sim, int body); /* elastic energy of one body */

/* Checkpoints: saves the whole state to a file, and restores it into a simulation with the same
 * bodies and an integrator with as much history. The simulation then continues to the same bits. An
 * existing file is kept (ERROR_EXISTS) unless `replace` is set; it is replaced atomically. If
 * restoring fails, the simulation is unchanged. */
BRIO_API BrioStatus brio_sim_save(BrioSim *sim, const char *file, int replace, BrioError *error);
BRIO_API BrioStatus brio_sim_restore(BrioSim *sim, const char *file, BrioError *error);

/* A run with its results in a folder, as `brio run` writes them, to the same bytes: energy.csv,
 * probes.csv, frames, motion, run.json, a checkpoint. (`brio view` writes the page report.html.) */
typedef struct BrioProgress {
    int64_t step, steps;
    double time, end; /* s, simulated */
    double energy;    /* total, J */
    /* within a long step: its current iteration; NULL: between steps */
    const BrioIteration *inside;
} BrioProgress;
typedef struct BrioRunDef {
    BrioSource source;
    const char *out; /* folder */
    int force;       /* replace earlier results of brio there; otherwise ERROR_EXISTS */
    int resume;      /* continue from the checkpoint there, if there is one */
    /* called before the first step, after every step, and ten times per second within a step that
     * takes more than a second. A return value other than 0 ends the run with a checkpoint. May be
     * NULL */
    int (*progress)(void *user, const BrioProgress *progress);
    void *user;
} BrioRunDef;
BRIO_API BrioRunDef brio_default_run(void); /* empty: set the source and the folder */
/* BRIO_OK: completed. BRIO_STOPPED: stopped on request; it can be resumed. BRIO_EXPLODED: the
 * energy is far above what the scene can cause (docs/explosions.md). Unless the status is OK,
 * `error` has the reason. `last` (may be NULL) receives the progress at the end. */
BRIO_API BrioStatus brio_run(const BrioRunDef *def, BrioProgress *last, BrioError *error);
/* Opens a simulation in the state in which brio_run or `brio run` left its folder. Nothing is
 * written. */
BRIO_API BrioStatus brio_run_open(const char *folder, BrioSim **sim, BrioError *error);

/* --------------------------------------------------------------------------------------
 * Changing a running simulation: docs/interaction.md.
 *
 * Call these functions between steps, from the thread that steps. The ledger books the exact change
 * of energy in `added`; the target of integrators that control energy moves with it [Dinev2018,
 * Alg. 1]. A call that fails changes nothing, and `error` has the reason. Reading positions, hands
 * or the ledger changes nothing either.
 * -------------------------------------------------------------------------------------- */

/* A hand pulls a point of a body with a spring of rest length zero, E = k/2 |grip - point|^2. It
 * starts at the grip, where it exerts no force. `k` (N/m) is the stiffness; NAN: (2 pi 5/s)^2 times
 * the body's mass, with which the body hangs about 1 cm below the hand. Up to BRIO_MAX_HANDS hands
 * act at the same time. `hand` receives a number from 0, or -1 if there is none.
 *
 * A hand is part of the state: copies and checkpoints include it. Adding, moving or removing hands
 * does not factor or analyse a matrix again. */
enum { BRIO_MAX_HANDS = 16 };
/* Grabs the point of a body's surface nearest to `point`, or the nearest vertex if the body has no
 * triangles; body -1: of all bodies. A grip does not use fixed vertices: those of the triangle are
 * left out. If all of them are fixed, the call fails. If a net of springs has triangles whose sides
 * are not springs, the hand grabs the nearest side that is a spring. */
BRIO_API BrioStatus brio_sim_grab(BrioSim *sim, int body, const double point[3], double k,
                                  int *hand, BrioError *error);
BRIO_API BrioStatus brio_sim_grab_vertex(BrioSim *sim, int body, int64_t vertex, double k,
                                         int *hand, BrioError *error);
/* For a mouse: grabs where the ray first hits a body's surface, from either side. For bodies
 * without triangles it takes the vertex nearest to the ray in angle, up to 0.02 rad, if no surface
 * is in front of it. BRIO_OK and the hand -1: it hits nothing. `hit` (may be NULL) receives the
 * point. Obstacles do not block the ray. */
BRIO_API BrioStatus brio_sim_grab_ray(BrioSim *sim, const double origin[3],
                                      const double direction[3], double k, int *hand, double hit[3],
                                      BrioError *error);
/* Moves the hand to a point; a bar1d follows along x only. Nothing is allocated; only the energy of
 * this hand is evaluated. */
BRIO_API BrioStatus brio_sim_drag(BrioSim *sim, int hand, const double point[3], BrioError *error);
BRIO_API BrioStatus brio_sim_release(BrioSim *sim, int hand, BrioError *error);

typedef struct BrioHand {
    int body;
    int64_t vertex[3]; /* of the body; -1: no more */
    double weight[3];  /* of these vertices: grip = sum weight x */
    double k;
    double point[3]; /* where the hand is, */
    double grip[3];  /* where the grip is: the force on the body is k (point - grip) */
} BrioHand;
/* BRIO_ERROR_ARGUMENT: there is no such hand */
BRIO_API BrioStatus brio_sim_hand(const BrioSim *sim, int hand, BrioHand *out);

/* Attachments of the scene, in order: their number; one of them as a hand; moves one to another
 * point. Moving fails for an attachment that follows a script. */
BRIO_API int brio_sim_attachments(const BrioSim *sim);
BRIO_API BrioStatus brio_sim_attachment(const BrioSim *sim, int i, BrioHand *out);
BRIO_API BrioStatus brio_sim_move_attachment(BrioSim *sim, int i, const double point[3],
                                             BrioError *error);

/* Parameters of a body's material by the names of its field table. Setting fails for those that
 * determine masses or rest shapes (rho, vertex_mass, pretension, ...). */
/* "hooke"; NULL: no such body */
BRIO_API const char *brio_body_material(const BrioSystem *system, int body);
BRIO_API BrioStatus brio_sim_material(const BrioSim *sim, int body, const char *name,
                                      double *value);
BRIO_API BrioStatus brio_sim_set_material(BrioSim *sim, int body, const char *name, double value,
                                          BrioError *error);

/* Values of the simulation's damping models, i = 0, 1, ... To switch one on later, create it with
 * strength 0. They are not part of the state. */
BRIO_API const char *brio_sim_damping_type(const BrioSim *sim, int i); /* NULL past the last */
BRIO_API BrioStatus brio_sim_damping(const BrioSim *sim, int i, const char *name, double *value);
BRIO_API BrioStatus brio_sim_set_damping(BrioSim *sim, int i, const char *name, double value,
                                         BrioError *error);

/* Uses another integrator, or other values of the current one, from now on (NULL: the defaults).
 * Its history starts empty. An integrator that controls energy starts with the current energy as
 * its target; if only values change, it keeps its target. The state may move in memory: call
 * brio_sim_state again. */
BRIO_API BrioStatus brio_sim_set_integrator(BrioSim *sim, const char *name, const double *values,
                                            BrioError *error);
/* its name; values (may be NULL): BRIO_MAX_VALUES */
BRIO_API const char *brio_sim_integrator(const BrioSim *sim, double *values);

/* --------------------------------------------------------------------------------------
 * Writing an energy at run time: a material for bodies of springs or tets whose energy is your own
 * function. Scenes use it by name like any other. (Energies in the tree are faster: they
 * compute eight elements at once. docs/energy.md.)
 * -------------------------------------------------------------------------------------- */

/* Elements to evaluate, one after the other, with `nodes` vertices each: 2 for a spring, 4 for a
 * tet. */
typedef struct BrioElements {
    int64_t count;
    int nodes;
    const double *values; /* of the field table, in its order */
    /* count: for a spring its own stiffness divided by the first field, otherwise 1. Multiply the
     * energy by it. (0: ignored) */
    const double *weight;
    const double *size; /* count: rest length of a spring (m), rest volume of a tet (m3) */
    const double *rest; /* count x nodes x 3: rest positions */
    const double *x;    /* count x nodes x 3: positions */
    /* count (J); INFINITY: the state is forbidden. All three are initially zero. */
    double *energy;
    double *gradient; /* count x nodes x 3, or NULL: not requested */
    /* count x (3 nodes) x (3 nodes), symmetric, or NULL: not requested. brio projects it where it
     * must be semidefinite */
    double *hessian;
} BrioElements;

typedef struct BrioEnergyDef {
    const char *name, *summary, *citation; /* citation: may be NULL */
    BrioKind kind;                         /* BRIO_KIND_SPRINGS or BRIO_KIND_SOLID */
    /* numbers only; masses come from a field "rho" or, for springs, "vertex_mass" */
    const BrioField *fields;
    void *user;
    /* Called from several threads at once. Anything but BRIO_OK: these elements forbid the state,
     * and a step that cannot avoid it fails. */
    BrioStatus (*eval)(void *user, const BrioElements *elements);
} BrioEnergyDef;
BRIO_API BrioEnergyDef brio_default_energy(void); /* for springs: set name, fields and eval */
/* `def` and what it points to must stay in memory. ERROR_ARGUMENT: the name is taken, or something
 * is missing. */
BRIO_API BrioStatus brio_register_energy(const BrioEnergyDef *def, BrioError *error);

#ifdef __cplusplus
}
#endif

#include "cage.h"       /* coarse cages of dense surfaces */
#include "ccd.h"        /* continuous collision detection of single pairs */
#include "constraint.h" /* constraints and stitches */
#include "edit.h"       /* editing a running simulation */
#include "integrator.h" /* writing an integrator */

#ifndef BRIO_NO_OLD_NAMES
#include "renamed.h" /* the names of version 0.1 */
#endif
#endif
