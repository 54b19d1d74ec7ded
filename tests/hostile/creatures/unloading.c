/* Its destructor, which runs when it is unmapped, or else when the program ends, crashes or hangs. */
#include "zoo.h"

static fe_error *misbehave(enum step step) { return (void)step, NULL; }

__attribute__((destructor)) static void unload(void) {
#if defined(ZOO_HANGS)
  for (;;) pause();
#else
  *(volatile int *)16 = 1;
#endif
}
