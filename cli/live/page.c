/* The page as the build has made it (web/live), compressed; of no length where it could not be
 * made. */
#include "page.h"

__asm__(".section .rodata\n"
        ".balign 16\n"
        ".global live_page\n"
        "live_page:\n"
        ".incbin \"" BRIO_LIVE_PAGE "\"\n"
        ".global live_page_end\n"
        "live_page_end:\n"
        ".byte 0\n"
        ".previous\n");
