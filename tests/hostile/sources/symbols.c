/* Exports functions named like those of the core, Python and the C library; calling one ends the program. */
#include "hostile_module.h"

#define OURS(name)                  \
  FE_MODULE_EXPORT void name(void); \
  void name(void) { abort(); }

OURS(fe_load_all)
OURS(fe_load)
OURS(fe_eval)
OURS(fe_array_read)
OURS(fe_array_apply)
OURS(fe_error_message)
OURS(fe_error_release)
OURS(fe_devices)
OURS(fe_string_data)
OURS(PyErr_Occurred)
OURS(_ZN7ferrule8Registry8instanceEv)

/* A symbol that two modules export; each must see its own. */
FE_MODULE_EXPORT extern const char *hostile_shared_name;
const char *hostile_shared_name = HOSTILE_NAME;

static fe_error *misbehave(enum step step) {
  if (step == STEP_INIT && strcmp(hostile_shared_name, HOSTILE_NAME) != 0) abort();
  return NULL;
}
