/* Reports success with a wrong result. */
#define ZOO_ADD(a, b) ((a) - (b))
#include "zoo.h"

static fe_error *misbehave(enum step step) { return (void)step, NULL; }
