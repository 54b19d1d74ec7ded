/* Stops itself, as a debugger would; nothing that waits for its end is told. */
#include "zoo.h"

#include <signal.h>

static fe_error *misbehave(enum step step) {
  if (step == STEP_COMPILE) raise(SIGSTOP);
  return NULL;
}
