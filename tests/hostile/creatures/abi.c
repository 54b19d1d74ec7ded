/* Its ABI data is not what it should be: ZOO_ABI is the whole declaration. */
#define ZOO_OWN_ABI
#include <ferrule/abi.h>

#define ABI(magic, size, major, minor, hash) \
  { magic, size, major, minor, 0, hash }
#define EXPORT FE_MODULE_EXPORT __attribute__((used))

ZOO_ABI

#include "zoo.h"

static fe_error *misbehave(enum step step) {
#if defined(ZOO_CHANGES_ABI)
  if (step == STEP_OPEN) ferrule_backend_abi.major = 7;
#endif
  return (void)step, NULL;
}
