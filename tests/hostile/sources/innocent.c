/* A correct module, the baseline for the others. */
#include "hostile_module.h"

static fe_error *misbehave(enum step step) { return (void)step, NULL; }
