// Throws a C++ exception of its own type from the step HOSTILE_STEP.
#include "hostile_module.h"

#include <stdexcept>

namespace {
struct Surprise : std::runtime_error {
  using std::runtime_error::runtime_error;
};
}  // namespace

static fe_error *misbehave(enum step step) {
  if (step == HOSTILE_STEP) throw Surprise("thrown by the hostile module");
  return nullptr;
}
