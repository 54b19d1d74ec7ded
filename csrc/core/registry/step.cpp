#include "core/registry/step.h"

#include <atomic>

namespace ferrule {
namespace {

std::atomic<StepCallback> step_callback{nullptr};
std::atomic<void*> step_argument{nullptr};

}  // namespace

void set_step_callback(StepCallback callback, void* argument) noexcept {
  step_argument.store(argument);
  step_callback.store(callback);
}

void begin_step(const char* step) {
  if (const StepCallback callback = step_callback.load()) callback(step_argument.load(), step);
}

}  // namespace ferrule
