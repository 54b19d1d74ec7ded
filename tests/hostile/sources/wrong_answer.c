/* Reports success with a wrong result. */
#define HOSTILE_ADD(a, b) ((a) - (b))
#include "hostile_module.h"

static fe_error *misbehave(enum step step) { return (void)step, NULL; }
