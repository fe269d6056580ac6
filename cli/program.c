/* The program brio: all that it does is in brio_command (main.c), which the Python package calls
 * too. */
#include "commands.h"

int main(int argc, char **argv) { return brio_command(argc, argv); }
