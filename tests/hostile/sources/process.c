/* Changes process-wide state in the step HOSTILE_STEP, as some libraries do; HOSTILE_CHANGE selects the change. */
#define _GNU_SOURCE
#include "hostile_module.h"

#include <fenv.h>
#include <locale.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif
#if defined(_WIN32)
#include <direct.h>
#define chdir _chdir
#define setenv(name, value, replaces) _putenv_s(name, value)
#define unsetenv(name) _putenv_s(name, "")
#else
#include <signal.h>
#include <sys/stat.h>
#endif

#define CHANGE __attribute__((unused)) static void

CHANGE locale(void) {
  setenv("LC_ALL", "C.UTF-8", 1);
  if (setlocale(LC_ALL, "") == NULL) abort();
}
/* The effect of linking with -ffast-math on the whole process. */
CHANGE flush_to_zero(void) {
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040);
#elif defined(__aarch64__)
  __asm__ volatile("msr fpcr, %0" ::"r"((uint64_t)1 << 24));
#endif
}
CHANGE rounding(void) { fesetround(FE_UPWARD); }
CHANGE directory(void) {
  if (chdir("/") != 0) abort();
}
CHANGE environment(void) {
  setenv("HOSTILE_WAS_HERE", "1", 1);
  unsetenv("LANG");
}
#if !defined(_WIN32)
static void ignore(int number) { (void)number; }
CHANGE handlers(void) {
  signal(SIGSEGV, ignore);
  signal(SIGTERM, ignore);
}
CHANGE blocked_signals(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
}
CHANGE traps(void) { feenableexcept(FE_DIVBYZERO | FE_INVALID); }
CHANGE mask(void) { umask(0); }
CHANGE descriptors(void) {
  for (int i = 0; i < 1024; ++i) close(i);
}
/* The process's standard output becomes a file of the module. */
CHANGE output(void) {
  const int file = open("/dev/null", O_WRONLY);
  dup2(file, 1);
  dup2(file, 2);
  close(file);
}
/* Leaks descriptors. */
CHANGE leaks(void) {
  for (int i = 0; i < 100; ++i)
    if (open("/dev/null", O_RDONLY) < 0) abort();
}
#endif

static fe_error *misbehave(enum step step) {
  if (step == HOSTILE_STEP) HOSTILE_CHANGE();
  return NULL;
}
