// Converts between the C++ type Error and fe_error, which is passed between shared objects.
#pragma once

#include "base/error.h"

#include <ferrule/types.h>

#include <memory>
#include <string_view>
#include <type_traits>

namespace ferrule {

// Makes an error with a copy of the message. Never null: when out of memory, a static error is returned.
fe_error* make_error(fe_code code, std::string_view message) noexcept;
fe_error* to_error(const Error& error) noexcept;
// The error for the exception being handled. Call it only inside a catch block.
fe_error* to_error_of_current_exception() noexcept;

// The code and message of an error; FE_OK and "" for null.
fe_code code_of(const fe_error* error) noexcept;
const char* message_of(const fe_error* error) noexcept;
void release(fe_error* error) noexcept;

struct ErrorRelease {
  void operator()(fe_error* error) const noexcept { release(error); }
};
using ErrorPointer = std::unique_ptr<fe_error, ErrorRelease>;

// Throws the error that a module's function returned, as an Error, and releases it. Does nothing for null.
void check(fe_error* error);

// Runs a function and returns its exception as an fe_error, for callers that must not see exceptions.
template <class Function>
fe_error* guarded(Function&& function) noexcept {
  try {
    if constexpr (std::is_convertible_v<std::invoke_result_t<Function>, fe_error*>) {
      return function();
    } else {
      function();
      return nullptr;
    }
  } catch (...) {
    return to_error_of_current_exception();
  }
}

// The name of a code in messages and JSON: "invalid_argument".
const char* name_of(fe_code code) noexcept;

}  // namespace ferrule
