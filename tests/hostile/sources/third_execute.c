/* Crashes at its third execute, so no probe notices. */
#include "hostile_module.h"

static fe_error *misbehave(enum step step) {
  static int executes;
  if (step == STEP_EXECUTE && ++executes == 3) *(volatile int *)16 = 1;
  return NULL;
}
