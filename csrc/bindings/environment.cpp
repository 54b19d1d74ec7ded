#include "environment.h"

#include <cstddef>

#if defined(__APPLE__)
#include <crt_externs.h>
#elif !defined(_WIN32)
#include <unistd.h>
#if !defined(__GLIBC__)  // glibc declares it in unistd.h
extern char** environ;
#endif
#endif

namespace ferrule::python {
#if defined(_WIN32)

// Windows locks its environment, so the core reads it at any time.
EnvironmentSnapshot::EnvironmentSnapshot() : before_(nullptr) {}
EnvironmentSnapshot::~EnvironmentSnapshot() = default;

#else
namespace {

char** system_block() noexcept {
#if defined(__APPLE__)
  return *_NSGetEnviron();
#else
  return environ;
#endif
}

using Setter = void (*)(char* const* variables);

// The environment that the core reads on this thread; null: that of the process.
constinit thread_local char* const* current = nullptr;

Setter setter() {
  static const auto found = reinterpret_cast<Setter>(fe_get_proc(FE_SET_THREAD_ENVIRONMENT));
  return found;
}

void set_current(char* const* block) {
  current = block;
  setter()(block);
}

}  // namespace

EnvironmentSnapshot::EnvironmentSnapshot() : before_(current) {
  // Few allocations: each search for a device makes a copy.
  text_.reserve(4096);
  std::vector<std::size_t> begins;
  begins.reserve(64);
  for (char** place = system_block(); place != nullptr && *place != nullptr; ++place) {
    begins.push_back(text_.size());
    text_.append(*place).push_back('\0');
  }
  block_.reserve(begins.size() + 1);
  for (const std::size_t begin : begins) block_.push_back(text_.data() + begin);
  block_.push_back(nullptr);
  set_current(block_.data());
}

EnvironmentSnapshot::~EnvironmentSnapshot() { set_current(before_); }

#endif
}  // namespace ferrule::python
