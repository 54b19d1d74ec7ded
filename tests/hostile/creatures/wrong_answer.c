/* Computes, says that all went well, and is wrong. */
#define ZOO_ADD(a, b) ((a) - (b))
#include "zoo.h"

static fe_error *misbehave(enum step step) { return (void)step, NULL; }
