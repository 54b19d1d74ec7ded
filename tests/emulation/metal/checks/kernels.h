// Runs kernels of a text on vectors of the host.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "metal/msl_library.h"

namespace emulation::metal {

constexpr CompileOptions safe_math{.fast_math = false};

// A kernel of a text, with its bindings.
class Kernel {
 public:
  explicit Kernel(std::string_view text, std::string_view name = "k", const CompileOptions& options = safe_math) {
    dispatch_.library =
        Library::compile("#include <metal_stdlib>\nusing namespace metal;\n" + std::string(text), options);
    dispatch_.function = dispatch_.library->find(name);
    if (dispatch_.function == nullptr) throw CompileError("no kernel " + std::string(name));
  }
  template <class T>
  Kernel& buffer(unsigned index, std::vector<T>& values) {
    dispatch_.buffers[index] = {values.data(), values.size() * sizeof(T)};
    return *this;
  }
  void run(unsigned groups, unsigned threads, Order order = Order::forward, std::uint64_t seed = 0) {
    dispatch_.groups = {groups, 1, 1};
    dispatch_.threads = {threads, 1, 1};
    emulation::metal::run(dispatch_, order, seed);
  }

 private:
  Dispatch dispatch_;
};

// The message of a fault; empty if there is none.
template <class Work>
std::string fault_of(const Work& work) {
  try {
    work();
  } catch (const KernelError& error) {
    return error.what();
  }
  return "";
}

// The compiler's log of a text that it refuses; empty if it takes the text.
inline std::string refusal_of_text(const std::string& text, const CompileOptions& options = safe_math) {
  try {
    Library::compile("#include <metal_stdlib>\nusing namespace metal;\n" + text, options);
  } catch (const CompileError& error) {
    return error.what();
  }
  return "";
}

}  // namespace emulation::metal
