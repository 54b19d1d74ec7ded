/* Faulty ABI data. HOSTILE_ABI is the whole declaration; HOSTILE_GOOD is the correct one, except for the macros of
 * abi.h that are replaced here: HOSTILE_MAGIC, HOSTILE_MAJOR, HOSTILE_SIZE. */
#define HOSTILE_OWN_ABI
#include <ferrule/abi.h>
#include <unistd.h>

#define HOSTILE_GOOD FE_ABI_INITIALIZER
#define EXPORT FE_MODULE_EXPORT __attribute__((used))

#if defined(HOSTILE_MAGIC)
#undef FE_ABI_MAGIC
#define FE_ABI_MAGIC HOSTILE_MAGIC
#endif
#if defined(HOSTILE_MAJOR)
#undef FE_ABI_MAJOR
#define FE_ABI_MAJOR HOSTILE_MAJOR
#endif
#if defined(HOSTILE_SIZE) /* the size that the initialiser states */
#define sizeof(type) HOSTILE_SIZE
#endif

HOSTILE_ABI

#undef sizeof

#include "hostile_module.h"

static fe_error *misbehave(enum step step) {
#if defined(HOSTILE_CHANGES_ABI)
  if (step == STEP_OPEN) ferrule_backend_abi.major = 7;
#endif
  return (void)step, NULL;
}
