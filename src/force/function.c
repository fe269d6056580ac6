/* A force that a program computes: brio_builder_force with a function. It has no fields; who
 * evaluates it calls the function with all its vertices at once. */
#include "force.h"

static const BrioField fields[] = {{0}};

BRIO_FORCE(function){
    .name = "function",
    .summary = "A function of the program: forces on its vertices, with or without a potential.",
    .fields = fields,
    .called = true,
};
