/* The script of report.html, bundled by cmake/report.cmake and put into the program. */
#ifndef BRIO_REPORT_SCRIPT_H
#define BRIO_REPORT_SCRIPT_H

#include <stdint.h>

extern const uint8_t report_script[], report_script_end[]; /* a zlib stream */

#endif
