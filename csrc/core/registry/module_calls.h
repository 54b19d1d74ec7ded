// Calls into a module, after which its code may be unmapped, and the name of the step of a load that makes them.
#pragma once

#include "core/error.h"

#include <utility>

namespace ferrule {

// Runs a function that calls into a module. A module must not let a C++ exception out; where one does, it ends here,
// while the code that knows how to destroy it is still mapped, and becomes an Error about `what`.
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

// Told which step of a load is about to call into a module: for a process that is watched from outside.
using StepCallback = void (*)(void* argument, const char* step);

// Null ends it. A load that is running on another thread may still call the former one.
void set_step_callback(StepCallback callback, void* argument) noexcept;
void begin_step(const char* step);

}  // namespace ferrule
