// ferrule's errors as Python exceptions. The classes are Python's (ferrule/errors.py); here they are only raised.
#pragma once

#include <ferrule/ferrule.h>
#include <pybind11/pybind11.h>

#include <chrono>
#include <string>
#include <thread>

namespace ferrule::python {

namespace py = pybind11;

// The exception for an error, which is released. With the GIL.
py::object exception_of(fe_error* error);
// Raises the exception for an error, which is released; nothing for success. With the GIL.
void check(fe_error* error);
[[noreturn]] void raise(fe_code code, const std::string& message);

// Gives the GIL away for as long as it exists. A thread that wants it back when Python is going away is ended by
// Python, which unwinds it: that would be the end of the process in any function that lets no exception out. It stays
// where it is instead, until the process ends.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

// Calls a function of the API without the GIL. Whatever may wait for a queue or compute is called so: the thread that
// it waits for may be asking Python for signals.
template <class Function>
fe_error* without_gil(Function function) {
  const WithoutGil no_gil;
  return function();
}

// True when Python is going away: what it owned is then left as it is.
bool is_finalizing() noexcept;

void bind_errors(py::module_& module);

}  // namespace ferrule::python
