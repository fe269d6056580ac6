/* Pages as one HTML file: nothing is fetched from anywhere, light and dark as the reader has it. */
#ifndef BRIO_HTML_H
#define BRIO_HTML_H

#include "../base.h"

/* Everything up to the body's first element, with the styles; and what follows the last. */
void brio__html_begin(FILE *file, const char *title);
void brio__html_end(FILE *file);
/* Text with &, < and the like written so that they are read as themselves. */
void brio__html_text(FILE *file, const char *text);
/* <tag>text</tag> in a line of its own; attributes may follow the tag's name, as in "p
 * class=\"note\"". */
void brio__html_element(FILE *file, const char *tag, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
