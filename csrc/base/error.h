// The exception type of ferrule's C++ code. It is not thrown across shared objects: core/api converts it to fe_error.
#pragma once

#include <ferrule/types.h>
#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace ferrule {

class Error : public std::runtime_error {
 public:
  Error(fe_code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  fe_code code() const noexcept { return code_; }

 private:
  fe_code code_;
};

// Throws an Error with a message formatted by fmt.
template <class... Arguments>
[[noreturn]] void fail(fe_code code, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw Error(code, fmt::format(format, std::forward<Arguments>(arguments)...));
}

template <class... Arguments>
[[noreturn]] void fail_argument(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw Error(FE_INVALID_ARGUMENT, fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace ferrule
