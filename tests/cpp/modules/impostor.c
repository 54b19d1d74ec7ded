/* A module that also exports names of the core's and of other modules': whoever took them for his own would end. */
#define ferrule_backend_init the_init
#include "module.c"  // NOLINT(bugprone-suspicious-include): it is that module, and more
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
