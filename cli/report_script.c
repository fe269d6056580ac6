/* The script of report.html as the build has made it (web/report), compressed; of no length where
 * it could not be made. */
#include "report_script.h"

__asm__(".section .rodata\n"
        ".balign 16\n"
        ".global report_script\n"
        "report_script:\n"
        ".incbin \"" BRIO_REPORT_SCRIPT "\"\n"
        ".global report_script_end\n"
        "report_script_end:\n"
        ".byte 0\n"
        ".previous\n");
