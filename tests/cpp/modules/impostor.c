/* A module that also exports names of the core and of other modules. Calling any of them ends the process. */
#define ferrule_backend_init the_init
#include "module.c"  // NOLINT(bugprone-suspicious-include): builds on that module
#undef ferrule_backend_init

#define FE_IMPOSTOR(name)           \
  FE_MODULE_EXPORT void name(void); \
  void name(void) { abort(); }
FE_IMPOSTOR(fe_load_all)
FE_IMPOSTOR(fe_devices)
FE_IMPOSTOR(fe_string_release)
FE_IMPOSTOR(fe_error_release)
FE_IMPOSTOR(fe_error_message)
FE_IMPOSTOR(fe_array_apply)
FE_IMPOSTOR(fe_compute)
FE_IMPOSTOR(ferrule_module_cpu)
FE_IMPOSTOR(ferrule_module_null)

FE_MODULE_EXPORT fe_error *ferrule_backend_init(const fe_host *given, fe_backend *out);
fe_error *ferrule_backend_init(const fe_host *given, fe_backend *out) { return the_init(given, out); }
