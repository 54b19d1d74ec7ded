// x[key] for integers, slices, None and Ellipsis. The same in Python, which also takes numbers of traced functions, is
// in ferrule/functions/basic_keys.py.
#pragma once

#include "errors.h"

namespace ferrule::python {

// The part of a ferrule.Array as a view; null if Python code takes the key, or raises the error.
py::object basic_part(PyObject* array, PyObject* key);

// Python functions: make_key(items, shape) makes the step of a view, and join_steps(steps, step) joins steps.
void set_key_functions(const py::function& make_key, const py::function& join_steps);

}  // namespace ferrule::python
