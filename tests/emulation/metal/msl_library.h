// Libraries in the Metal Shading Language (MSL), compiled for the CPU and run on the emulator's fibers: one fiber for
// each GPU thread (docs/develop/emulators.md). clang compiles the text with the headers of msl/, and what it compiles
// is kept in a folder on disk.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "emulation/block.h"

namespace emulation::metal {

constexpr unsigned most_bindings = 31;                      // buffers of a kernel
constexpr unsigned most_threads_per_threadgroup = 1024;     // of any kernel
constexpr std::size_t most_threadgroup_memory = 32 * 1024;  // bytes of a threadgroup

struct CompileOptions {
  bool fast_math = true;  // false: as MTLCompileOptions.fastMathEnabled = NO
};

// An error of the compiler; what() is its log.
class CompileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Argument {
  enum class Kind : std::uint8_t { device_buffer, constant_buffer };
  Kind kind = Kind::device_buffer;
  unsigned index = 0;
  std::string name;
  std::size_t least_bytes = 0;  // that a kernel reads through a reference; 0 for a pointer
};

class Library;
struct Dispatch;

// A kernel. Lives as long as its library.
class Function {
 public:
  const std::string& name() const { return name_; }
  const std::vector<Argument>& arguments() const { return arguments_; }
  // Largest number of threads of a threadgroup: the kernel's own limit, else 1024.
  unsigned most_threads() const { return most_threads_; }

 private:
  friend class Library;
  friend void run(const Dispatch& dispatch, Order order, std::uint64_t seed);
  std::string name_;
  std::vector<Argument> arguments_;
  unsigned most_threads_ = most_threads_per_threadgroup;
  void (*entry_)(const void* call) = nullptr;
};

class Library {
 public:
  // Throws CompileError.
  static std::shared_ptr<Library> compile(std::string_view text, const CompileOptions& options);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();

  const Function* find(std::string_view name) const;  // null if there is none

 private:
  Library() = default;
  bool load(const std::string& path);
  void* handle_ = nullptr;  // of dlopen
  std::vector<Function> functions_;
};

// Memory that a kernel may use.
struct Binding {
  void* address = nullptr;
  std::size_t bytes = 0;  // from the offset to the end of the buffer
};

struct Dispatch {
  std::shared_ptr<const Library> library;
  const Function* function = nullptr;
  std::array<Binding, most_bindings> buffers;
  Index groups{1, 1, 1}, threads{1, 1, 1};
};

// Runs a kernel, and returns when it has ended. Throws KernelError for a fault of the kernel or of its arguments.
void run(const Dispatch& dispatch, Order order, std::uint64_t seed);

}  // namespace emulation::metal
