/* Fills the init table or device properties incorrectly: see the macros of hostile_module.h that select the fault. */
#define _GNU_SOURCE
#include <string.h>
#if defined(_WIN32)
#include <windows.h>
#else
#include <sys/mman.h>
#endif

/* An unterminated string: the page after it is not mapped. */
__attribute__((unused)) static const char *endless(void) {
#if defined(_WIN32)
  DWORD before;
  char *pages = VirtualAlloc(NULL, 8192, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
  memset(pages, 'a', 8192);
  VirtualProtect(pages + 4096, 4096, PAGE_NOACCESS, &before);
#else
  char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(pages, 'a', 8192);
  mprotect(pages + 4096, 4096, PROT_NONE);
#endif
  return pages;
}
/* A very long terminated string. */
__attribute__((unused)) static const char *long_string(void) {
  static char text[(4 << 20) + 1];
  memset(text, 'a', sizeof text - 1);
  return text;
}

#include "hostile_module.h"

static fe_error *misbehave(enum step step) {
#if defined(HOSTILE_ERROR)
  if (step == STEP_INIT) return hostile_host->error_create(HOSTILE_ERROR_CODE, HOSTILE_ERROR);
#endif
#if defined(HOSTILE_FORGED_ERROR)
  if (step == STEP_INIT) return (fe_error *)HOSTILE_FORGED_ERROR;
#endif
  return (void)step, NULL;
}
