// Compiles and runs kernels in MSL for a program in another language, such as Python with ctypes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "metal/msl_library.h"

namespace {

using emulation::metal::Library;

// A text is compiled once, also one that is refused.
struct Compiled {
  std::shared_ptr<const Library> library;
  std::exception_ptr refusal;
};

std::shared_ptr<const Library> library_of(const std::string& text) {
  static std::map<std::string, Compiled> compiled;
  const auto [found, is_new] = compiled.try_emplace(text);
  Compiled& one = found->second;
  if (is_new) {
    try {
      one.library = Library::compile(text, {.fast_math = false});
    } catch (...) {
      one.refusal = std::current_exception();
    }
  }
  if (one.refusal != nullptr) std::rethrow_exception(one.refusal);
  return one.library;
}

}  // namespace

extern "C" {

// Runs `function` of a library, compiled with fast math disabled, on a grid of `groups` threadgroups along x, y and z,
// of `threads` threads in a row. Buffer i is bound where addresses[i] is not null; there are 31. Returns 0, or 1 and
// writes the reason to `error`. Calls must not overlap.
[[gnu::visibility("default")]] int emulated_msl_run(const char* text, const char* function, void* const* addresses,
                                                    const std::size_t* sizes, const std::uint32_t* groups,
                                                    std::uint32_t threads, char* error, std::size_t error_size) {
  try {
    emulation::metal::Dispatch dispatch;
    dispatch.library = library_of(text);
    dispatch.function = dispatch.library->find(function);
    if (dispatch.function == nullptr) throw std::runtime_error(std::string("there is no kernel ") + function);
    for (std::size_t i = 0; i < dispatch.buffers.size(); ++i) dispatch.buffers[i] = {addresses[i], sizes[i]};
    dispatch.groups = {groups[0], groups[1], groups[2]};
    dispatch.threads.x = threads;
    emulation::metal::run(dispatch, emulation::Order::random, 1);
    return 0;
  } catch (const std::exception& problem) {
    const std::size_t length = std::min(std::strlen(problem.what()), error_size - 1);
    std::memcpy(error, problem.what(), length);
    error[length] = '\0';
    return 1;
  }
}

}  // extern "C"
