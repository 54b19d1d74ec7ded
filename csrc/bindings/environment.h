// The environment for calls without the GIL. Python changes the environment with the GIL held; the system has no lock.
#pragma once

#include "errors.h"

#include <string>
#include <vector>

namespace ferrule::python {

// A copy of the environment, which the core reads on this thread during its lifetime. Made and destroyed with the GIL.
class EnvironmentSnapshot {
 public:
  EnvironmentSnapshot();
  ~EnvironmentSnapshot();
  EnvironmentSnapshot(const EnvironmentSnapshot&) = delete;
  EnvironmentSnapshot& operator=(const EnvironmentSnapshot&) = delete;

 private:
  std::string text_;
  std::vector<char*> block_;
  [[maybe_unused]] char* const*
      before_;  // of the outer call, if this one is made by a signal handler during a computation
};

// without_gil() for calls that read environment variables: that load, open devices, or compile.
template <class Function>
fe_error* without_gil_reading_environment(Function function) {
  const EnvironmentSnapshot environment;
  return without_gil(function);
}

// without_gil_reading_environment() for calls that only read the environment until one of them has succeeded, which
// sets `is_done`.
template <class Function>
fe_error* without_gil_reading_environment_once(bool& is_done, Function function) {
  if (is_done) return without_gil(function);
  fe_error* const error = without_gil_reading_environment(function);
  if (error == nullptr) is_done = true;
  return error;
}

}  // namespace ferrule::python
