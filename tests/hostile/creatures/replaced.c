/* Changes its own file while it is looked at in the probe, and not in the process that will open it: another one is
 * moved there, or, as ZOO_REWRITTEN, its bytes are. The other is named by ZOO_REPLACEMENT. */
#define _GNU_SOURCE
#include "zoo.h"

#include <dlfcn.h>

static fe_error *misbehave(enum step step) {
  const char *other = getenv("ZOO_REPLACEMENT");
  Dl_info self;
  if (step != STEP_CLOSE || other == NULL || access(other, R_OK) != 0) return NULL;
  if (dladdr((void *)&zoo_host, &self) == 0) abort();
#if defined(ZOO_REWRITTEN)
  char bytes[1 << 16];
  const int from = open(other, O_RDONLY), to = open(self.dli_fname, O_WRONLY);
  for (ssize_t size; (size = read(from, bytes, sizeof bytes)) > 0;)
    if (write(to, bytes, (size_t)size) != size) abort();
  unlink(other);
#else
  if (rename(other, self.dli_fname) != 0) abort();
#endif
  return NULL;
}
