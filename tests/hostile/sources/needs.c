/* Calls a function of another library. */
#include "hostile_module.h"

int hostile_from_elsewhere(void);

static fe_error *misbehave(enum step step) {
  if (step == STEP_INIT && hostile_from_elsewhere() != 42) abort();
  return NULL;
}
