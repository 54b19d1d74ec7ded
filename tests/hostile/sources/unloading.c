/* Its destructor crashes or hangs. It runs when the module is unmapped or the program ends. */
#include "hostile_module.h"

static fe_error *misbehave(enum step step) { return (void)step, NULL; }

__attribute__((destructor)) static void unload(void) {
#if defined(HOSTILE_HANGS)
  for (;;) pause();
#else
  *(volatile int *)16 = 1;
#endif
}
