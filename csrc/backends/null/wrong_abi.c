/* A module that must be refused before its code runs: its major, or the hash of its minor, differs from the core's. */
#include <ferrule/abi.h>

#include <stdlib.h>

FE_MODULE_EXPORT extern const fe_abi ferrule_backend_abi;
const fe_abi ferrule_backend_abi = {
    FE_ABI_MAGIC, sizeof(fe_abi), FE_ABI_MAJOR + WRONG_MAJOR, FE_ABI_MINOR, 1, {FE_LAYOUT_HASH ^ WRONG_HASH}};

FE_MODULE_EXPORT int ferrule_backend_score(void);
FE_MODULE_EXPORT fe_error *ferrule_backend_init(const void *host, void *out);

int ferrule_backend_score(void) { abort(); }

fe_error *ferrule_backend_init(const void *host, void *out) {
  (void)host;
  (void)out;
  abort();
}
