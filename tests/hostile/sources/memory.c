/* Takes 10 GB during init: heap memory or, with HOSTILE_SHARED, shared memory, which no heap limit counts. */
#define _GNU_SOURCE
#include "hostile_module.h"

#include <sys/mman.h>

#define GREED ((size_t)10 << 30)

static fe_error *misbehave(enum step step) {
  if (step != STEP_INIT) return NULL;
#if defined(HOSTILE_SHARED)
  char *memory = mmap(NULL, GREED, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) memory = NULL;
#else
  char *memory = malloc(GREED);
#endif
  if (memory == NULL) return hostile_host->error_create(FE_OUT_OF_MEMORY, "hostile module: there are no 10 GB for it");
  for (size_t i = 0; i < GREED; i += 4096) ((volatile char *)memory)[i] = 1;
  return NULL;
}
