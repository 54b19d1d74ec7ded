/* Stops itself as a debugger would, so waiting for its exit does not return. HOSTILE_SIGNAL selects another signal. */
#include "hostile_module.h"

#include <signal.h>

#ifndef HOSTILE_SIGNAL
#define HOSTILE_SIGNAL SIGSTOP
#endif

static fe_error *misbehave(enum step step) {
  if (step == STEP_COMPILE) raise(HOSTILE_SIGNAL);
  return NULL;
}
