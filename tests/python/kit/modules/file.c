/* A module whose file is correct unless a MUTANT_ macro is defined. None of its code ever runs. */
#include <ferrule/backend.h>

#if defined(MUTANT_HASH)
#define HASH (FE_LAYOUT_HASH ^ 1)
#else
#define HASH FE_LAYOUT_HASH
#endif
#if defined(MUTANT_MAJOR)
#define MAJOR (FE_ABI_MAJOR + 1)
#else
#define MAJOR FE_ABI_MAJOR
#endif
#if defined(MUTANT_MAGIC)
#define MAGIC 42
#else
#define MAGIC FE_ABI_MAGIC
#endif

#if defined(MUTANT_ABI_WITHOUT_BYTES)
FE_MODULE_EXPORT fe_abi ferrule_backend_abi; /* in .bss, so the file does not contain it */
#elif !defined(MUTANT_NO_ABI)
FE_MODULE_EXPORT const fe_abi ferrule_backend_abi = {MAGIC, sizeof(fe_abi), MAJOR, FE_ABI_MINOR, 1, {HASH}};
#endif

#if !defined(MUTANT_NO_INIT)
FE_MODULE_EXPORT fe_error *ferrule_backend_init(const fe_host *host, fe_backend *out);
fe_error *ferrule_backend_init(const fe_host *host, fe_backend *out) {
  (void)out;
  return host->error_create(FE_UNSUPPORTED, "this module is a file");
}
#endif

#if defined(MUTANT_SYMBOL)
FE_MODULE_EXPORT int mine(void);
int mine(void) { return 1; }
#endif

#if defined(MUTANT_UNDEFINED)
int nobody_has_this(void);
FE_MODULE_EXPORT int ferrule_backend_score(void);
int ferrule_backend_score(void) { return nobody_has_this(); }
#endif

#if defined(MUTANT_CONSTRUCTOR)
static volatile int ran;
__attribute__((constructor)) static void run(void) { ran = 1; }
#endif

#if defined(MUTANT_CTORS)
static void run_old(void) {}
__attribute__((section(".ctors"), used)) static void (*const old[])(void) = {run_old};
#endif

#if defined(MUTANT_INIT_FUNCTION)
void own_init(void);
void own_init(void) {}
#endif
