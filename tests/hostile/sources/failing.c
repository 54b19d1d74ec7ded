/* A well-behaved module whose step HOSTILE_STEP returns an error. */
#include "hostile_module.h"

static fe_error *misbehave(enum step step) {
  return step == HOSTILE_STEP
             ? hostile_host->error_create(FE_DEVICE_LOST, "hostile module: the device fell off the bus")
             : NULL;
}
