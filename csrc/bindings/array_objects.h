// The Python class ferrule.Array, and functions that take its objects without pybind11's calls, each of which costs as
// much as recording a small op.
#pragma once

#include "array_handle.h"

#include <span>

namespace ferrule::python {

// The handle of a ferrule.Array; null for any other object, and for an array that is being traced.
ArrayPointer handle_in(PyObject* object);
// The handles of several objects; false if one of them is null.
bool handles_in(std::span<PyObject* const> objects, std::span<ArrayPointer> handles);
// Makes a new ferrule.Array.
py::object wrap(ArrayHandle result);

inline py::object not_implemented() { return py::reinterpret_borrow<py::object>(Py_NotImplemented); }

// A method definition with METH_FASTCALL.
inline PyMethodDef fast_method(const char* name, PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t),
                               const char* text) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL, text};
}

// Adds such a function to the module. The definition is kept until the process ends.
inline void define_function(py::module_& module, PyMethodDef& definition) {
  module.attr(definition.ml_name) =
      py::reinterpret_steal<py::object>(PyCFunction_NewEx(&definition, nullptr, module.attr("__name__").ptr()));
}

}  // namespace ferrule::python
