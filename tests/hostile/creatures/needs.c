/* Calls a function of another library. */
#include "zoo.h"

int zoo_from_elsewhere(void);

static fe_error *misbehave(enum step step) {
  if (step == STEP_INIT && zoo_from_elsewhere() != 42) abort();
  return NULL;
}
