/* The plain faults, in each step: ZOO_FAULT is what happens, ZOO_STEP where. */
#define _GNU_SOURCE
#include "zoo.h"

#include <signal.h>

__attribute__((unused)) static void crash(void) { *(volatile int *)16 = 1; }
/* As a dead lock or a driver that waits for its hardware: no signal but SIGKILL ends it. */
__attribute__((unused)) static void hang(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
  for (;;) pause();
}
/* In vain for a supervisor that looks at processor time alone, or at waiting alone. */
__attribute__((unused)) static void spin(void) {
  for (volatile unsigned long i = 0;; ++i) continue;
}
__attribute__((unused)) static void leave(void) { exit(3); }
__attribute__((unused)) static void leave_at_once(void) { _exit(0); }
__attribute__((unused)) static int recurse(volatile char *above) {
  volatile char here[4096];
  here[0] = above[0];
  return recurse(here) + here[0];
}
__attribute__((unused)) static void overflow(void) {
  volatile char first[1] = {0};
  recurse(first);
}

static fe_error *misbehave(enum step step) {
  if (step == ZOO_STEP) ZOO_FAULT();
  return NULL;
}
