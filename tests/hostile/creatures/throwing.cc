// Throws a C++ exception of its own type from the step ZOO_STEP.
#include "zoo.h"

#include <stdexcept>

namespace {
struct Surprise : std::runtime_error {
  using std::runtime_error::runtime_error;
};
}  // namespace

static fe_error *misbehave(enum step step) {
  if (step == ZOO_STEP) throw Surprise("thrown by the zoo");
  return nullptr;
}
