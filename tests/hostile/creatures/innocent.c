/* Nothing is wrong with it: what the others are measured against. */
#include "zoo.h"

static fe_error *misbehave(enum step step) { return (void)step, NULL; }
