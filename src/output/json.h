/* A small writer of JSON: keeps commas and indentation, escapes strings, writes numbers that read
 * back as the same bits and null for those that JSON does not have. */
#ifndef BRIO_JSON_H
#define BRIO_JSON_H

#include "../base.h"

typedef struct BrioJson {
    FILE *file;
    int depth;  /* open objects and lists */
    bool first; /* nothing stands in the innermost one yet */
    bool flat;  /* all on one line */
} BrioJson;

/* In an object every value has a key; in a list (and at the top) key is NULL. */
void brio__json_open(BrioJson *json, const char *key, char bracket);      /* '{' or '[' */
void brio__json_close(BrioJson *json, char bracket);                      /* '}' or ']' */
void brio__json_text(BrioJson *json, const char *key, const char *value); /* NULL: null */
void brio__json_real(BrioJson *json, const char *key, double value);
void brio__json_integer(BrioJson *json, const char *key, int64_t value);
void brio__json_boolean(BrioJson *json, const char *key, bool value);
void brio__json_key(BrioJson *json, const char *key); /* the caller writes the value itself */

#endif
