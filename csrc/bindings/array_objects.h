// The Python class ferrule.Array, and functions that take its objects without nanobind's conversions, each of which
// costs as much as recording a small op.
#pragma once

#include "array_handle.h"

#include <exception>
#include <new>
#include <span>

namespace ferrule::python {

// The handle of a ferrule.Array; null for any other object, and for an array that is being traced.
ArrayPointer handle_in(PyObject* object);
// The handles of several objects; false if one of them is null.
bool handles_in(std::span<PyObject* const> objects, std::span<ArrayPointer> handles);
// Makes a new ferrule.Array.
nb::object wrapped(ArrayHandle result);

// Calls `function` for a function of Python's C API: returns its object, or null with the Python exception set.
template <class Function>
PyObject* returned(Function function) noexcept {
  try {
    return nb::object(function()).release().ptr();
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

inline nb::object not_implemented() { return nb::borrow<nb::object>(Py_NotImplemented); }

// A method definition with METH_FASTCALL.
inline PyMethodDef fast_method(const char* name, PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t),
                               const char* text) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL, text};
}

}  // namespace ferrule::python
