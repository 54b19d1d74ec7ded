/* Starts threads that outlive close: blocked in a system call or, with HOSTILE_RUNNING, running its own code. */
#include "hostile_module.h"

#include <pthread.h>

static void *stay(void *argument) {
#if defined(HOSTILE_RUNNING)
  for (volatile unsigned long i = 0;; ++i) usleep(100);
#else
  for (;;) pause();
#endif
  return argument;
}

static fe_error *misbehave(enum step step) {
  pthread_t thread;
  for (int i = 0; step == STEP_DEVICE_OPEN && i < 3; ++i)
    if (pthread_create(&thread, NULL, stay, NULL) != 0) abort();
  return NULL;
}
