/* Turns against the process that watches it, when it is opened: ZOO_SIGNAL is sent; as ZOO_STAYS it then goes on. */
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
