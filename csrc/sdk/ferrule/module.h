/* What a module's source ends with: its constant, and the symbols that it exports. C11, also valid C++.
 *
 * FE_DEFINE_MODULE(score, init) defines the constant `ferrule_module_<name>[_<variant>]`, by which a static program
 * lists the module; `score` may be NULL. ferrule_add_module names the constant and compiles FE_EXPORT_MODULE in a
 * file of its own, in shared builds only. Without CMake, define FERRULE_MODULE_SYMBOL, _NAME and _VARIANT (and
 * FERRULE_MODULE_PREFERENCE, 0 unless defined) and write both. */
#ifndef FERRULE_MODULE_H
#define FERRULE_MODULE_H

#include <ferrule/backend.h>

#ifdef __cplusplus
#define FE_MODULE_LINKAGE extern "C"
#else
#define FE_MODULE_LINKAGE extern
#endif

#if defined(FERRULE_MODULE_SYMBOL) && defined(FERRULE_MODULE_NAME) && defined(FERRULE_MODULE_VARIANT)
#ifndef FERRULE_MODULE_PREFERENCE
#define FERRULE_MODULE_PREFERENCE 0
#endif
FE_MODULE_LINKAGE const fe_static_module FERRULE_MODULE_SYMBOL;
static const fe_abi fe_this_module_abi = FE_ABI_INITIALIZER;
#define FE_DEFINE_MODULE(score, init)                                                                          \
  const fe_static_module FERRULE_MODULE_SYMBOL = {                                                             \
      sizeof(fe_static_module), FERRULE_MODULE_NAME, FERRULE_MODULE_VARIANT, &fe_this_module_abi, score, init, \
      FERRULE_MODULE_PREFERENCE};
#endif

/* A module without a score can run wherever it can be opened: 1. */
#define FE_EXPORT_MODULE(symbol)                                                                    \
  FE_MODULE_LINKAGE const fe_static_module symbol;                                                  \
  FE_MODULE_LINKAGE FE_MODULE_EXPORT const fe_abi ferrule_backend_abi;                              \
  FE_MODULE_LINKAGE FE_MODULE_EXPORT int ferrule_backend_score(void);                               \
  FE_MODULE_LINKAGE FE_MODULE_EXPORT fe_error *ferrule_backend_init(const fe_host *, fe_backend *); \
  const fe_abi ferrule_backend_abi = FE_ABI_INITIALIZER;                                            \
  int ferrule_backend_score(void) { return symbol.score ? symbol.score() : 1; }                     \
  fe_error *ferrule_backend_init(const fe_host *host, fe_backend *out) { return symbol.init(host, out); }

#endif
