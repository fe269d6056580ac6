/* A scene of polyfem during reading, and the shared parts of the importer. */
#ifndef BRIO_POLYFEM_H
#define BRIO_POLYFEM_H

#include "import.h"

#include "formula.h"

/* A value of the document: its own, and behind it those of the documents named by `common`, of
 * which a map takes the keys that it does not have. */
enum { MAX_DOCUMENTS = 4 };
typedef struct Value {
    BrioNode *node[MAX_DOCUMENTS];
    int count;
} Value;

/* A number, or a formula of x, y, z and t; times `factor` it is in SI units. */
typedef struct Quantity {
    const BrioNode *node;
    const char *formula; /* NULL: a number */
    double value, factor;
    unsigned uses; /* FORMULA_X ...: what it depends on */
} Quantity;

/* Powers of length, mass and time. */
typedef struct Dimension {
    int length, mass, time;
} Dimension;

enum { SELECT_ALL, SELECT_BOX, SELECT_BALL, SELECT_CYLINDER, SELECT_HALF, SELECT_SIDES };
typedef struct Selection {
    int kind;
    int64_t id;
    double a[3], b[3], radius; /* corners; centre; ends of the axis; point and normal */
} Selection;

typedef struct Geometry {
    BrioNode *node;
    char path[4096], name[64];
    BrioMesh *mesh; /* NULL: a plane */
    bool borrowed;  /* the mesh is another's */
    bool obstacle, lost;
    int extract; /* 0: what the mesh has, 2: its edges, 1: its points */
    double scale[3], rotate[3][3], translate[3];
    double point[3], normal[3]; /* of a plane */
    int64_t surface_id;         /* of an obstacle; -1: none */
    int64_t volume_id;
    int material;
} Geometry;

typedef struct Material {
    BrioNode *node;
    int64_t id[64]; /* the bodies' that have it */
    int ids;        /* 0: of all */
    char type[24];  /* of brio */
    int line;
    double E, nu, rho, c1, c2, kappa;
} Material;

typedef struct Poly {
    const char *name, *folder;
    ImportReport *report;
    BrioError *error;
    FILE *out;
    BrioNode *document[MAX_DOCUMENTS];
    Value root;
    char base[3000];           /* the folder of names of files; ends with / */
    double length, mass, time; /* the units of the file in SI */
    double start, h, end;      /* s; `end` counts from `start` */
    bool is_static, contact;
    Geometry *geometry;
    int geometries, geometry_room;
    Material *material;
    int materials;
} Poly;

/* ---- reading: keys that are absent or null give an empty value */

Value poly_get(Value map, const char *key);
static inline BrioNode *poly_first(Value value) { return value.count ? value.node[0] : NULL; }
bool poly_is_true(Value value, bool standard);
/* The text of a scalar; of anything else "". */
const char *poly_text(Value value, const char *standard);
BrioStatus poly_real(const Poly *p, Value value, double standard, double *number);
BrioStatus poly_vector(const Poly *p, const BrioNode *node, double v[3]);
BrioStatus poly_unit(const Poly *p, const BrioNode *node, double *factor); /* in SI */
BrioStatus poly_quantity(const Poly *p, const BrioNode *node, Dimension dimension, Quantity *q);
/* At x (m) and t (s from the start of the run). */
double poly_evaluate(const Poly *p, const Quantity *q, const double x[3], double t);
/* The three values of a list; true if all of them are numbers that depend on nothing. */
BrioStatus poly_quantities(const Poly *p, const BrioNode *list, Dimension dimension, Quantity q[3],
                           unsigned *uses);
/* Ids of an entry: a number, a list, or "all" (count 0). */
BrioStatus poly_ids(const Poly *p, const BrioNode *node, int64_t *id, int max, int *count);

void poly_note(const Poly *p, const BrioNode *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void poly_loss(const Poly *p, const BrioNode *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Says which keys of a map are not known. */
void poly_unknown(const Poly *p, Value map, const char *what, const char *const *names, int count);
BrioStatus poly_no_memory(const Poly *p);

/* ---- parts */

BrioStatus poly_read_geometry(Poly *p);
void poly_place(const Geometry *g, const double *X, double *x);
/* Marks with 1 the vertices of a body on faces or at points whose selection has one of the ids (all
 * of the boundary for count 0); returns how many. */
BrioStatus poly_choose(Poly *p, const Geometry *g, const int64_t *id, int count, uint8_t *chosen,
                       int64_t *found);
BrioStatus poly_read_materials(Poly *p);
/* The entries of `fix` of one body that a boundary condition makes; `taken` are vertices that are
 * fixed already, `*opened` says that the key stands, `*total` counts what the condition is for. */
BrioStatus poly_put_fix(Poly *p, const Geometry *g, BrioNode *node, uint8_t *taken, bool *opened,
                        int64_t *total);
/* The script of an obstacle. */
BrioStatus poly_put_motion(Poly *p, const Geometry *g, BrioNode *motion);
BrioStatus poly_write(Poly *p);

#endif
