/* Field tables and the scene reference, for `brio list` and `brio help scene`. */
#ifndef BRIO_REFERENCE_H
#define BRIO_REFERENCE_H

#include "internal.h"

typedef struct FieldText {
    char type[64], standard[48], range[160];
} FieldText;
FieldText field_text(const BrioField *field);

/* A key of a scene in words: what it takes, with unit and range, and its default. */
typedef struct KeyText {
    char takes[320], initial[128];
} KeyText;
KeyText key_text(const BrioKey *key);

/* One thing of a family that users choose by name. */
typedef struct Entry {
    const char *name, *summary, *citation; /* citation: key or NULL */
    const BrioField *fields;               /* may be NULL */
    const char *note;                      /* "order 2, implicit", or NULL */
    const BrioKey *keys;                   /* of a section of a scene; otherwise NULL */
} Entry;

typedef struct Family {
    const char *name;                /* "integrators" */
    const char *where;               /* where a scene says it */
    const char *empty;               /* what to say if there are none */
    bool (*at)(int i, Entry *entry); /* false past the last */
} Family;
const Family *family_at(int i);                     /* NULL past the last */
void family_json(FILE *file, const Family *family); /* its entries with all parameters */

void print_reference(FILE *file, bool markdown);
/* What is known by this name: keys of a scene (contact, dhat, solver.tol), integrators, materials,
 * shapes and others. false: nothing. */
bool print_topic(FILE *file, const char *name);
const char *nearest_topic(const char *name); /* NULL: none is near */

#endif
