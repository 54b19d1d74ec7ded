/* Sends HOSTILE_SIGNAL to its parent process when it is opened; with HOSTILE_STAYS it then continues. */
#include "hostile_module.h"

#include <signal.h>

static fe_error *misbehave(enum step step) {
  if (step != STEP_INIT) return NULL;
  kill(getppid(), HOSTILE_SIGNAL);
#if defined(HOSTILE_STAYS)
  for (;;) pause();
#endif
  return NULL;
}
