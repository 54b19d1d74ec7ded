/* Leaves processes behind when it computes; HOSTILE_CHILD selects the kind. */
#define _GNU_SOURCE
#include "hostile_module.h"

#define CHILD __attribute__((unused)) static void

#if defined(_WIN32)

CHILD child(void) {
  wchar_t command[] = L"cmd.exe /c pause & rem " HOSTILE_NAME;
  PROCESS_INFORMATION made;
  STARTUPINFOW start;
  memset(&start, 0, sizeof start);
  start.cb = sizeof start;
  if (!CreateProcessW(NULL, command, NULL, NULL, FALSE, CREATE_NEW_CONSOLE, NULL, NULL, &start, &made)) abort();
}
CHILD swarm(void) {
  for (int i = 0; i < 10; ++i) child();
}

#else

#include <signal.h>

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

#endif

static fe_error *misbehave(enum step step) {
  if (step == STEP_EXECUTE) HOSTILE_CHILD();
  return NULL;
}
