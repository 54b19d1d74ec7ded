// x[key], x[key] = value and iteration: single elements of computed arrays without Python code, which does the rest.
#pragma once

#include "array_views.h"

namespace ferrule::python {

// Functions for the slots of the type. `self` is an object of Operators.
PyObject* get_item(PyObject* self, PyObject* key);
PyObject* get_item_at(PyObject* self, Py_ssize_t index);
int set_item(PyObject* self, PyObject* key, PyObject* value);
int set_item_at(PyObject* self, Py_ssize_t index, PyObject* value);
PyObject* iterate(PyObject* self);

// The Python functions for all other keys, values and arrays: get(x, key), set(x, key, value), and iterate(x), which
// returns the number of elements that iteration gives.
void set_item_functions(const py::function& get, const py::function& set, const py::function& iterate);

}  // namespace ferrule::python
