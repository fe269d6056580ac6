/* Numbers as text with a decimal point, whatever locale the program has set. */
#ifndef BRIO_NUMBER_H
#define BRIO_NUMBER_H

#include "base.h"

#include <locale.h>

/* The calling thread prints and reads numbers in the "C" locale from here on; hand the result to
 * leave. */
locale_t brio__c_locale_enter(void);
void brio__c_locale_leave(locale_t before);

/* strtod in that locale. NAN and *end = text: the locale cannot be had (no memory). */
double brio__text_real(const char *text, char **end);

typedef struct BrioNumberText {
    char text[32];
} BrioNumberText;
/* The shortest decimal of at least so many digits that reads back as the same number. */
BrioNumberText brio__real_text(double value, int digits);

#endif
