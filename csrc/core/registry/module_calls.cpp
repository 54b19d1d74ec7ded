#include "core/registry/module_calls.h"

#include "core/sync/immortal.h"
#include "core/sync/mutexes.h"

#include <mutex>

namespace ferrule {
namespace {

struct Step {
  BriefMutex mutex;
  StepCallback callback = nullptr;
  void* argument = nullptr;
};

}  // namespace

void set_step_callback(StepCallback callback, void* argument) noexcept {
  Step& step = Immortal<Step>::get();
  const std::scoped_lock lock(step.mutex);
  step.callback = callback;
  step.argument = argument;
}

void begin_step(const char* name) {
  Step& step = Immortal<Step>::get();
  StepCallback callback = nullptr;
  void* argument = nullptr;
  {
    const std::scoped_lock lock(step.mutex);
    callback = step.callback;
    argument = step.argument;
  }
  if (callback) callback(argument, name);
}

}  // namespace ferrule
