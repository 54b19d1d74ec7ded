// Calls into modules, whose code may be unmapped afterwards, and reports the current step of a load.
#pragma once

#include "core/error.h"

#include <utility>

namespace ferrule {

// Runs a function that calls into a module. Modules must not throw C++ exceptions. An exception of one is turned into
// an Error about `what` here, while the code that destroys it is still mapped.
template <class Function>
decltype(auto) call_module(const char* what, Function&& function) {
  try {
    return std::forward<Function>(function)();
  } catch (const Error&) {
    throw;
  } catch (...) {
    const ErrorPointer error(to_error_of_current_exception());
    fail(FE_INTERNAL, "its {} threw a C++ exception: {}", what, message_of(error.get()));
  }
}

// Called with the name of a step of a load before it calls into a module. ferrule-probe uses it to report the step.
using StepCallback = void (*)(void* argument, const char* step);

// Null removes the callback. A load on another thread may still call the previous one.
void set_step_callback(StepCallback callback, void* argument) noexcept;
void begin_step(const char* step);

}  // namespace ferrule
