/* The schema of scene files: every key is one row with its name, type, unit, default, range and
 * sentence. Reader, messages, `brio help scene`, docs/scene.md and `brio list keys` use these rows.
 *
 * A row extends BrioField, the row of a plug-in's parameter, by what only scenes have: text, files,
 * lists, maps, and the place in a struct to which the value goes.
 *
 * To add a key: add a row to the table of its section, in the file that reads the section. A row
 * with KEY_INTO stores its value by itself. To add a section: end its table with BRIO_SECTION and
 * add a line to sections.def. */
#ifndef BRIO_SCHEMA_H
#define BRIO_SCHEMA_H

#include "../field.h"

#include <float.h>
#include <stddef.h>

/* What the value looks like in the file. */
typedef enum BrioKeyForm {
    BRIO_KEY_FIELD,  /* as the type of the field says */
    BRIO_KEY_SCALE,  /* three numbers, or one that stands for all three */
    BRIO_KEY_COUNTS, /* three integers */
    BRIO_KEY_BALL,   /* [[x, y, z], number]: four numbers */
    BRIO_KEY_BOX,    /* [[x, y, z], [x, y, z]]: six */
    BRIO_KEY_MATRIX, /* three rows of three numbers: nine */
    BRIO_KEY_TEXT,
    BRIO_KEY_FILE, /* relative to the scene file */
    BRIO_KEY_LIST,
    BRIO_KEY_MAP,
    BRIO_KEY_OTHER /* several forms, such as a name or a map: `takes` says which */
} BrioKeyForm;

/* The C type of the member that receives the value. */
typedef enum BrioStore {
    BRIO_STORE_NONE, /* the section's own code reads the key */
    BRIO_STORE_REAL,
    BRIO_STORE_REALS, /* an array of double */
    BRIO_STORE_INT,
    BRIO_STORE_INT64,
    BRIO_STORE_BOOL,
    BRIO_STORE_TEXT
} BrioStore;

typedef struct BrioKey {
    BrioField field; /* without a field's form only name, unit, required and summary count */
    BrioKeyForm form;
    BrioStore store;
    size_t offset;
    const char *takes;        /* what is expected, in words; NULL: as the form has it */
    const char *words;        /* the default in words; NULL: it is a number or a text */
    const char *text;         /* default of a text, may be NULL */
    const double *components; /* default of several numbers; NULL: field.default_value for each */
} BrioKey;

typedef struct BrioSection {
    const char *path, *summary;
    const BrioKey *keys; /* ends with a row whose name is NULL */
} BrioSection;
const BrioSection *brio__scene_section_at(int i);         /* NULL past the last */
const BrioSection *brio__scene_section(const char *path); /* NULL: none of that path */

enum { BRIO_KEY_MAX_NUMBERS = 1 + BRIO_MAX_LIST };
int brio__key_width(const BrioKey *key); /* numbers that it takes */
/* Writes the defaults of all rows that have a place in the struct `into`. */
void brio__key_defaults(const BrioKey *keys, void *into);
/* Writes a row's numbers to its place. */
void brio__key_store(const BrioKey *key, const double *values, void *into);
/* Names of the keys, at most `max` of them; their count. */
int brio__key_names(const BrioKey *keys, const char **names, int max);

/* ---- rows ------------------------------------------------------------------------------- */

/* A table of rows reads
 *     {KEY_REAL("h", "s", 1. / 30, KEY_POSITIVE, 1e6, "Time step."), KEY_INTO(BrioScene, def.h)},
 *     {KEY_FILE("mesh", "The surface."), KEY_REQUIRED},
 * and ends with KEY_END. */

#define KEY_POSITIVE 1e-300 /* minimum of a value that must be above zero */

/* name, unit, default, minimum, maximum, sentence */
#define KEY_REAL(key, unit_of, value, low, high, sentence) \
    KEY_NUMBER(BRIO_KEY_FIELD, BRIO_REAL, key, unit_of, value, low, high, sentence)
#define KEY_INTEGER(key, value, low, high, sentence) \
    KEY_NUMBER(BRIO_KEY_FIELD, BRIO_INTEGER, key, "", value, low, high, sentence)
#define KEY_SCALE(key, value, low, high, sentence) \
    KEY_NUMBER(BRIO_KEY_SCALE, BRIO_VECTOR, key, "", value, low, high, sentence)
#define KEY_COUNTS(key, low, high, sentence) \
    KEY_NUMBER(BRIO_KEY_COUNTS, BRIO_INTEGER, key, "", NAN, low, high, sentence)
/* name, words to choose from, number of the default, sentence */
#define KEY_CHOICE(key, choices, value, sentence) \
    KEY_NUMBER(BRIO_KEY_FIELD, BRIO_CHOICE, key, choices, value, 0, 0, sentence)
#define KEY_BOOLEAN(key, value, sentence) \
    KEY_NUMBER(BRIO_KEY_FIELD, BRIO_BOOLEAN, key, "", value, 0, 1, sentence)
/* name, unit, default of each component, sentence */
#define KEY_VECTOR(key, unit_of, value, sentence) \
    KEY_NUMBER(BRIO_KEY_FIELD, BRIO_VECTOR, key, unit_of, value, -DBL_MAX, DBL_MAX, sentence)
#define KEY_BALL(key, what, sentence) KEY_NUMBERS(BRIO_KEY_BALL, key, "", sentence), KEY_TAKES(what)
#define KEY_BOX(key, sentence) KEY_NUMBERS(BRIO_KEY_BOX, key, "", sentence)
#define KEY_MATRIX(key, unit_of, sentence) KEY_NUMBERS(BRIO_KEY_MATRIX, key, unit_of, sentence)
/* name, sentence */
#define KEY_TEXT(key, sentence) KEY_NUMBERS(BRIO_KEY_TEXT, key, "", sentence)
#define KEY_FILE(key, sentence) KEY_NUMBERS(BRIO_KEY_FILE, key, "", sentence)
#define KEY_LIST(key, sentence) KEY_NUMBERS(BRIO_KEY_LIST, key, "", sentence)
#define KEY_MAP(key, sentence) KEY_NUMBERS(BRIO_KEY_MAP, key, "", sentence)
/* name, what it takes, sentence */
#define KEY_OTHER(key, what, sentence) \
    KEY_NUMBERS(BRIO_KEY_OTHER, key, "", sentence), KEY_TAKES(what)

#define KEY_END            \
    {                      \
        .field.name = NULL \
    }

/* What else a row may say. */
#define KEY_REQUIRED .field.required = 1
#define KEY_TAKES(what) .takes = what
#define KEY_WORDS(of_default) .words = of_default /* the default in words */
#define KEY_DEFAULT(of_text) .text = of_text      /* of a text or a name */
#define KEY_COMPONENTS(...) \
    .components = (const double[]) { __VA_ARGS__ }
/* The member of a struct that receives the value. */
#define KEY_INTO(type, member) \
    .offset = offsetof(type, member), .store = KEY_STORE(((type *)0)->member)

#define KEY_NUMBER(looks, kind, key, unit_of, value, low, high, sentence)        \
    .form = looks, .field.name = key, .field.type = kind, .field.unit = unit_of, \
    .field.default_value = value, .field.min = low, .field.max = high, .field.summary = sentence
#define KEY_NUMBERS(looks, key, unit_of, sentence) \
    KEY_NUMBER(looks, BRIO_REAL, key, unit_of, NAN, -DBL_MAX, DBL_MAX, sentence)
#define KEY_STORE(member) \
    _Generic((member),              \
        double: BRIO_STORE_REAL,    \
        double *: BRIO_STORE_REALS, \
        int: BRIO_STORE_INT,        \
        unsigned: BRIO_STORE_INT,   \
        int64_t: BRIO_STORE_INT64,  \
        bool: BRIO_STORE_BOOL,      \
        const char *: BRIO_STORE_TEXT)

#define BRIO_SECTION(symbol)                         \
    extern const BrioSection brio__section_##symbol; \
    const BrioSection brio__section_##symbol =

#endif
