/* Basic faults in each step: HOSTILE_FAULT is the fault, HOSTILE_STEP the step. */
#define _GNU_SOURCE
#include "hostile_module.h"

#include <signal.h>

__attribute__((unused)) static void crash(void) { *(volatile int *)16 = 1; }
/* Hangs like a deadlock or a driver waiting for its hardware: only SIGKILL ends it. */
__attribute__((unused)) static void hang(void) {
#if !defined(_WIN32)
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
#endif
  for (;;) pause();
}
/* A busy loop: the supervisor must limit CPU time as well as waiting. */
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
  if (step == HOSTILE_STEP) HOSTILE_FAULT();
  return NULL;
}
