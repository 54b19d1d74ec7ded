/* Macros that define a module's constant and its exported symbols. C11, also valid C++.
 *
 * FE_DEFINE_MODULE(score, init), at the end of the module's source, defines the fe_static_module constant
 * `ferrule_module_<name>[_<variant>]`, which a program that links the module statically lists. `score`: an
 * fe_score_function or NULL. FE_EXPORT_MODULE(symbol) defines the three exported symbols from that constant.
 * The CMake function ferrule_add_module defines the macros below and compiles FE_EXPORT_MODULE in a separate file, in
 * shared builds only. Without CMake, define FERRULE_MODULE_SYMBOL (the constant), FERRULE_MODULE_NAME and
 * FERRULE_MODULE_VARIANT (strings), and optionally FERRULE_MODULE_PREFERENCE (an integer, default 0), and use both. */
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

/* The score of a module without a score function is 1: it can run wherever it can be opened. */
#define FE_EXPORT_MODULE(symbol)                                                                    \
  FE_MODULE_LINKAGE const fe_static_module symbol;                                                  \
  FE_MODULE_LINKAGE FE_MODULE_EXPORT const fe_abi ferrule_backend_abi;                              \
  FE_MODULE_LINKAGE FE_MODULE_EXPORT int ferrule_backend_score(void);                               \
  FE_MODULE_LINKAGE FE_MODULE_EXPORT fe_error *ferrule_backend_init(const fe_host *, fe_backend *); \
  const fe_abi ferrule_backend_abi = FE_ABI_INITIALIZER;                                            \
  int ferrule_backend_score(void) { return symbol.score ? symbol.score() : 1; }                     \
  fe_error *ferrule_backend_init(const fe_host *host, fe_backend *out) { return symbol.init(host, out); }

#endif
