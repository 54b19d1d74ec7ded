/* Sends ZOO_SIGNAL to its parent process when it is opened; with ZOO_STAYS it then continues. */
#include "zoo.h"

#include <signal.h>

static fe_error *misbehave(enum step step) {
  if (step != STEP_INIT) return NULL;
  kill(getppid(), ZOO_SIGNAL);
#if defined(ZOO_STAYS)
  for (;;) pause();
#endif
  return NULL;
}
