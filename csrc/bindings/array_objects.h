// ferrule.Array, the Python class, and functions that take its objects without pybind11's conversions: one of those
// costs as much as recording a small op.
#pragma once

#include "array_handle.h"

#include <exception>
#include <new>
#include <span>

namespace ferrule::python {

// The Array inside of a ferrule.Array; null for any other object, and while it is traced.
ArrayPointer handle_in(PyObject* object);
// Those of as many objects; false when one of them is null.
bool handles_in(std::span<PyObject* const> objects, std::span<ArrayPointer> handles);
// A new ferrule.Array.
py::object wrapped(ArrayHandle result);

// What a function of Python's C API returns: the function's object, or null with the exception set.
template <class Function>
PyObject* returned(Function function) noexcept {
  try {
    return py::object(function()).release().ptr();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

inline py::object not_implemented() { return py::reinterpret_borrow<py::object>(Py_NotImplemented); }

// A definition of METH_FASTCALL.
inline PyMethodDef fast_method(const char* name, PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t),
                               const char* text) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL, text};
}

}  // namespace ferrule::python
