/* References of citations.def as BibTeX entries. */
#ifndef BRIO_BIBTEX_H
#define BRIO_BIBTEX_H

#include <stdio.h>

/* Writes the entry of a reference "Authors. Title. Where, when." under its key. */
void bibtex_print(FILE *file, const char *key, const char *text);

#endif
