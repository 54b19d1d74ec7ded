#include "environment.h"

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
  for (char** place = system_block(); place != nullptr && *place != nullptr; ++place) variables_.emplace_back(*place);
  block_.reserve(variables_.size() + 1);
  for (std::string& variable : variables_) block_.push_back(variable.data());
  block_.push_back(nullptr);
  set_current(block_.data());
}

EnvironmentSnapshot::~EnvironmentSnapshot() { set_current(before_); }

#endif
}  // namespace ferrule::python
