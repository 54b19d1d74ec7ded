// ferrule's errors as Python exceptions. The exception classes are in ferrule/errors.py.
#pragma once

#include <ferrule/ferrule.h>
#include <pybind11/gil_simple.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <exception>
#include <new>
#include <string>
#include <thread>

namespace ferrule::python {

namespace py = pybind11;

// Releases the error and returns its exception. Needs the GIL.
py::object exception_of(fe_error* error);
// Releases the error and raises its exception; does nothing for null. Needs the GIL.
void check(fe_error* error);
[[noreturn]] void raise(fe_code code, const std::string& message);
// Throws the Python exception that is set.
[[noreturn]] inline void raise_python_error() { throw py::error_already_set(); }
[[noreturn]] inline void raise_type_error(const char* message) {
  PyErr_SetString(PyExc_TypeError, message);
  raise_python_error();
}

// Calls a function of Python's C API that runs Python code or waits for the GIL. While Python finalizes, versions up to
// 3.13 unwind a thread that then wants the GIL, which would run destructors of Python objects without it and terminate
// the process in noexcept functions. This function lets such a thread sleep until the process ends. `function` owns no
// objects.
template <class Function>
auto running_python(Function function) {
  try {
    return function();
  } catch (...) {  // nothing else is thrown through C functions
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

// Calls a Python function.
template <class... Arguments>
py::object call_python(py::handle function, const Arguments&... arguments) {
  PyObject* const given[] = {arguments.ptr()...};
  PyObject* const result =
      running_python([&] { return PyObject_Vectorcall(function.ptr(), given, sizeof...(arguments), nullptr); });
  if (result == nullptr) raise_python_error();
  return py::reinterpret_steal<py::object>(result);
}

// Calls `function` and converts exceptions, for a function of Python's C API: returns the object, or null with the
// Python exception set.
template <class Function>
PyObject* call_guarded(Function function) noexcept {
  try {
    return py::object(function()).release().ptr();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const py::builtin_exception& error) {
    error.set_error();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

// Releases the GIL during its lifetime.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() {
    running_python([this] { PyEval_RestoreThread(state_); });
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

// Calls a function of the API without the GIL. Calls that may compute, wait for a queue, or wait for a lock under which
// the core calls a module need this: the thread that they wait for may need the GIL to check for signals, or to run a
// callback. Releasing an object waits for such a lock only if it is the last use of a device that was retired.
template <class Function>
fe_error* without_gil(Function function) {
  const WithoutGil no_gil;
  return function();
}

void bind_errors(py::module_& module);

}  // namespace ferrule::python
