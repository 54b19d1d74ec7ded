/* A module built with invalid headers. Any of its code leaves a mark when it runs; none may run. */
#include <ferrule/backend.h>

#include <stdio.h>
#include <stdlib.h>

static void mark(const char *what) {
  FILE *const file = fopen(getenv("SKEW_MARKS"), "a");
  if (file == NULL) abort();
  fprintf(file, "%s\n", what);
  fclose(file);
}

__attribute__((constructor)) static void opened(void) { mark("opened"); }

FE_MODULE_EXPORT extern const fe_abi ferrule_backend_abi;
const fe_abi ferrule_backend_abi = FE_ABI_INITIALIZER;

FE_MODULE_EXPORT int ferrule_backend_score(void);
int ferrule_backend_score(void) { return mark("score"), 1; }

FE_MODULE_EXPORT fe_error *ferrule_backend_init(const fe_host *host, fe_backend *out);
fe_error *ferrule_backend_init(const fe_host *host, fe_backend *out) {
  (void)out;
  mark("init");
  return host->error_create(FE_INTERNAL, "a refused module was initialised");
}
