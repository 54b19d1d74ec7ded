// Between the one C++ error type and the fe_error that crosses a shared object.
#pragma once

#include "ops/error.h"

#include <ferrule/types.h>

#include <memory>
#include <string_view>
#include <type_traits>

namespace ferrule {

// An error with a copy of the message. Out of memory gives a static error, so the result is never null.
fe_error* make_error(fe_code code, std::string_view message) noexcept;
fe_error* to_error(const Error& error) noexcept;
// Of the exception being handled; call it inside a catch block only.
fe_error* to_error_of_current_exception() noexcept;

// FE_OK and "" of null.
fe_code code_of(const fe_error* error) noexcept;
const char* message_of(const fe_error* error) noexcept;
void release(fe_error* error) noexcept;

struct ErrorRelease {
  void operator()(fe_error* error) const noexcept { release(error); }
};
using ErrorPointer = std::unique_ptr<fe_error, ErrorRelease>;

// Throws what a function of a module returned, as an Error; nothing for null. Releases it in any case.
void check(fe_error* error);

// Runs a function that may throw, for a caller that must not see exceptions.
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

// The word of a code, as in messages and JSON: "invalid_argument".
const char* name_of(fe_code code) noexcept;

}  // namespace ferrule
