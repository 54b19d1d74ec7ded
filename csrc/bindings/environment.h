// The environment for calls without the GIL: Python changes it with the GIL held, and the system has no lock for it.
#pragma once

#include "errors.h"

#include <string>
#include <vector>

namespace ferrule::python {

// A copy of the environment, which is what the core reads on this thread for as long as it exists. With the GIL.
class EnvironmentSnapshot {
 public:
  EnvironmentSnapshot();
  ~EnvironmentSnapshot();
  EnvironmentSnapshot(const EnvironmentSnapshot&) = delete;
  EnvironmentSnapshot& operator=(const EnvironmentSnapshot&) = delete;

 private:
  std::vector<std::string> variables_;
  std::vector<char*> block_;
  char* const* before_;  // of a call that this one is made within: by a signal handler, while it computes
};

// without_gil() for calls that read environment variables: loads, what opens devices, compiles.
template <class Function>
fe_error* without_gil_reading_environment(Function function) {
  const EnvironmentSnapshot environment;
  return without_gil(function);
}

// The same for calls that read it until one of their kind was successful: `is_done` says so.
template <class Function>
fe_error* without_gil_reading_environment_once(bool& is_done, Function function) {
  if (is_done) return without_gil(function);
  fe_error* const error = without_gil_reading_environment(function);
  if (error == nullptr) is_done = true;
  return error;
}

}  // namespace ferrule::python
