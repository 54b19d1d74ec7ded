/* Faulty ABI data. ZOO_ABI is the whole declaration; ZOO_GOOD is the correct one, except for the macros of abi.h that
 * are replaced here: ZOO_MAGIC, ZOO_MAJOR, ZOO_SIZE. */
#define ZOO_OWN_ABI
#include <ferrule/abi.h>
#include <unistd.h>

#define ZOO_GOOD FE_ABI_INITIALIZER
#define EXPORT FE_MODULE_EXPORT __attribute__((used))

#if defined(ZOO_MAGIC)
#undef FE_ABI_MAGIC
#define FE_ABI_MAGIC ZOO_MAGIC
#endif
#if defined(ZOO_MAJOR)
#undef FE_ABI_MAJOR
#define FE_ABI_MAJOR ZOO_MAJOR
#endif
#if defined(ZOO_SIZE) /* the size that the initialiser states */
#define sizeof(type) ZOO_SIZE
#endif

ZOO_ABI

#undef sizeof

#include "zoo.h"

static fe_error *misbehave(enum step step) {
#if defined(ZOO_CHANGES_ABI)
  if (step == STEP_OPEN) ferrule_backend_abi.major = 7;
#endif
  return (void)step, NULL;
}
