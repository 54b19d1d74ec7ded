// Checks whether the objects that traced functions read from outside are those that they read when they were traced.
#pragma once

#include "numpy_array.h"

namespace ferrule::python {

// Whether what a traced function reads is unchanged: its `_watched` are the Reads of
// python/ferrule/graphs/closed_over.py, or None. False also where only Python code can tell.
bool reads_are_unchanged(PyObject* traced);

// The bytes of an array, or of some of its elements if there are many.
py::bytes sample_of(const NumpyArray& array);

}  // namespace ferrule::python
