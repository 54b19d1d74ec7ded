/* A well-behaved module whose step ZOO_STEP returns an error. */
#include "zoo.h"

static fe_error *misbehave(enum step step) {
  return step == ZOO_STEP ? zoo_host->error_create(FE_DEVICE_LOST, "zoo: the device fell off the bus") : NULL;
}
