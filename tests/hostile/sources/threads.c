/* Starts threads that outlive close: blocked in a system call or, with HOSTILE_RUNNING, running its own code. */
#include "hostile_module.h"

#if defined(_WIN32)
typedef HANDLE pthread_t;
#define usleep(microseconds) Sleep(1)
#define pthread_create(thread, attributes, start, argument) \
  ((*(thread) = CreateThread(attributes, 0, start, argument, 0, NULL)) == NULL)
#define STAY static DWORD WINAPI stay(void *argument)
#else
#include <pthread.h>
#define STAY static void *stay(void *argument)
#endif

STAY {
#if defined(HOSTILE_RUNNING)
  for (volatile unsigned long i = argument != NULL;; ++i) usleep(100);
#else
  for (;; (void)argument) pause();
#endif
  return 0;
}

static fe_error *misbehave(enum step step) {
  pthread_t thread;
  for (int i = 0; step == STEP_DEVICE_OPEN && i < 3; ++i)
    if (pthread_create(&thread, NULL, stay, NULL) != 0) abort();
  return NULL;
}
