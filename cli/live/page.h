/* The page of `brio live`, bundled by cmake/report.cmake and put into the program. */
#ifndef BRIO_PAGE_H
#define BRIO_PAGE_H

#include <stdint.h>

extern const uint8_t live_page[], live_page_end[]; /* a zlib stream */

#endif
