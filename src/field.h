/* Field tables and citations: what the registries have in common. */
#ifndef BRIO_FIELD_H
#define BRIO_FIELD_H

#include "base.h"

int brio__field_width(const BrioField *field); /* values that it takes */
typedef struct BrioWord {
    char text[48];
} BrioWord;
/* the k-th choice, or word instead of a number; empty past the last */
BrioWord brio__field_word(const BrioField *field, int k);
BrioWord brio__field_unit(const BrioField *field); /* without such words */
/* into the values; -1: no such field */
int brio__fields_offset(const BrioField *fields, const char *name);
int brio__fields_count(const BrioField *fields);
/* Checks values against types and ranges: the message names field, value, range and unit. */
BrioStatus brio__fields_check(const BrioField *fields, const double *values, BrioError *error);

/* The full reference of a citation key ("You2026"), or NULL; i-th key for enumeration, NULL past
 * the last. */
const char *brio__citation(const char *key);
const char *brio__citation_at(int i);

#endif
