/* Fills the init table or device properties incorrectly: see the macros of zoo.h that select the fault. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <string.h>

/* An unterminated string: the page after it is not mapped. */
__attribute__((unused)) static const char *endless(void) {
  char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(pages, 'a', 8192);
  mprotect(pages + 4096, 4096, PROT_NONE);
  return pages;
}
/* A very long terminated string. */
__attribute__((unused)) static const char *long_string(void) {
  static char text[(4 << 20) + 1];
  memset(text, 'a', sizeof text - 1);
  return text;
}

#include "zoo.h"

static fe_error *misbehave(enum step step) {
#if defined(ZOO_ERROR)
  if (step == STEP_INIT) return zoo_host->error_create(ZOO_ERROR_CODE, ZOO_ERROR);
#endif
#if defined(ZOO_FORGED_ERROR)
  if (step == STEP_INIT) return (fe_error *)ZOO_FORGED_ERROR;
#endif
  return (void)step, NULL;
}
