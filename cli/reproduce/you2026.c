/* Reproductions of [You2026]. */
#include "reproduce.h"

static void table2(Report *r)
{
    report_section(r, "bars");
}

REPRODUCTION(you2026_table2){
    .name = "you2026-table2",
    .paper = "You2026",
    .summary = "final speed of a bar that bounces off a wall",
    .minutes = 1,
    .run = table2,
};
