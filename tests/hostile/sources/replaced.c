/* Changes its own file in the probe, but not in the process that opens it: HOSTILE_REPLACEMENT is moved over it or,
 * with HOSTILE_REWRITTEN, the file grows. */
#define _GNU_SOURCE
#include "hostile_module.h"

#include <dlfcn.h>

static fe_error *misbehave(enum step step) {
  const char *other = getenv("HOSTILE_REPLACEMENT");
  Dl_info self;
  if (step != STEP_CLOSE || other == NULL || access(other, R_OK) != 0) return NULL;
  if (dladdr((void *)&hostile_host, &self) == 0) abort();
#if defined(HOSTILE_REWRITTEN)
  const int file = open(self.dli_fname, O_WRONLY | O_APPEND);
  if (write(file, "and more", 8) != 8) abort();
  close(file);
  unlink(other);
#else
  if (rename(other, self.dli_fname) != 0) abort();
#endif
  return NULL;
}
