/* Numbers are written with the fewest digits that read back as the same bits, in the C locale. */
#include "number.h"

#include <stdlib.h>

locale_t brio__c_locale_enter(void)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return c ? uselocale(c) : (locale_t)0;
}

void brio__c_locale_leave(locale_t before)
{
    if (!before) return;
    locale_t c = uselocale(before);
    if (c && c != LC_GLOBAL_LOCALE && c != before) freelocale(c);
}

double brio__text_real(const char *text, char **end)
{
    locale_t before = brio__c_locale_enter();
    if (!before) {
        if (end) *end = (char *)text;
        return NAN;
    }
    double value = strtod(text, end);
    brio__c_locale_leave(before);
    return value;
}

BrioNumberText brio__real_text(double value, int digits)
{
    BrioNumberText result;
    locale_t before = brio__c_locale_enter();
    for (; digits <= 17; digits++) {
        snprintf(result.text, sizeof result.text, "%.*g", digits, value);
        if (strtod(result.text, NULL) == value) break;
    }
    brio__c_locale_leave(before);
    return result;
}
