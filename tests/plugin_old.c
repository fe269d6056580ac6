/* A plug-in of another binary interface, for test_plugin. */
#include "brio/brio.h"

BRIO_API extern const int brio_plugin_abi;
BRIO_API const int brio_plugin_abi = 1;
BRIO_API BrioStatus brio_plugin(BrioError *error);
BrioStatus brio_plugin(BrioError *error)
{
    (void)error;
    return BRIO_OK;
}
