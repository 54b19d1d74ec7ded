/* Crashes at its third execute, so no probe notices. */
#include "zoo.h"

static fe_error *misbehave(enum step step) {
  static int executes;
  if (step == STEP_EXECUTE && ++executes == 3) *(volatile int *)16 = 1;
  return NULL;
}
