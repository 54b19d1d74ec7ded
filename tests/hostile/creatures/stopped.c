/* Stops itself as a debugger would, so waiting for its exit does not return. ZOO_SIGNAL selects another signal. */
#include "zoo.h"

#include <signal.h>

#ifndef ZOO_SIGNAL
#define ZOO_SIGNAL SIGSTOP
#endif

static fe_error *misbehave(enum step step) {
  if (step == STEP_COMPILE) raise(ZOO_SIGNAL);
  return NULL;
}
