/* Writes into every open pipe and socket, then crashes or, with HOSTILE_SUCCEEDS, exits. Writes garbage or, with
 * HOSTILE_FORGED, a probe's answer for a good module. */
#include "hostile_module.h"

#include <sys/stat.h>

#if defined(HOSTILE_FORGED)
static const char message[] = HOSTILE_FORGED;
#else
static const char message[] = "\xff\x00{\"state\": [[[[\x1b]\n\n\"loaded\n";
#endif

static fe_error *misbehave(enum step step) {
  if (step != STEP_COMPILE) return NULL;
  for (int i = 3; i < 1024; ++i) {
    struct stat status;
    if (fstat(i, &status) != 0 || !(S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode))) continue;
    if (write(i, message, sizeof message - 1) < 0) continue;
  }
#if defined(HOSTILE_SUCCEEDS)
  _exit(0);
#endif
  *(volatile int *)16 = 1;
  return NULL;
}
