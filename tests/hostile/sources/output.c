/* Prints thirty megabytes while it computes or, with HOSTILE_ENDLESS, prints forever during init. */
#include "hostile_module.h"

static void print(unsigned long lines) {
  for (unsigned long i = 0; i < lines; ++i) {
    fputs("hostile: the quick brown fox jumps over the lazy dog \x1b[31m\xff and over the edge of UTF-8 as well\n",
          stdout);
    if (i % 1000 == 0) fputs("hostile: a thousand lines\n", stderr);
  }
}

static fe_error *misbehave(enum step step) {
#if defined(HOSTILE_ENDLESS)
  if (step == STEP_INIT) print(~0ul);
#else
  if (step == STEP_EXECUTE) print(350000);
#endif
  return NULL;
}
