/* Leaves processes behind when it computes; HOSTILE_CHILD selects the kind. */
#define _GNU_SOURCE
#include "hostile_module.h"

#include <signal.h>

#define CHILD __attribute__((unused)) static void

static void stay(void) {
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  for (;;) pause();
}

CHILD child(void) {
  if (fork() == 0) stay();
}
/* A proper daemon: orphaned, in its own session. */
CHILD daemon_of_its_own(void) {
  const pid_t middle = fork();
  if (middle != 0) return;
  setsid();
  if (fork() == 0) stay();
  _exit(0);
}
/* Forks a new process every few milliseconds and exits; gives up after some seconds. */
CHILD fleeing(void) {
  if (fork() != 0) return;
  for (int i = 0; i < 2000; ++i) {
    setsid();
    usleep(3000);
    if (fork() != 0) _exit(0);
  }
  _exit(0);
}
/* A hundred processes at once. */
CHILD swarm(void) {
  for (int i = 0; i < 100; ++i)
    if (fork() == 0) stay();
}

static fe_error *misbehave(enum step step) {
  if (step == STEP_EXECUTE) HOSTILE_CHILD();
  return NULL;
}
