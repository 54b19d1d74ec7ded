/* Stops itself, as a debugger would; nothing that waits for its end is told. ZOO_SIGNAL is another signal. */
#include "zoo.h"

#include <signal.h>

#ifndef ZOO_SIGNAL
#define ZOO_SIGNAL SIGSTOP
#endif

static fe_error *misbehave(enum step step) {
  if (step == STEP_COMPILE) raise(ZOO_SIGNAL);
  return NULL;
}
