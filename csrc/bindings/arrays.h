// Arrays of NumPy's memory.
#pragma once

#include "array_handle.h"
#include "numpy_array.h"

namespace ferrule::python {

// An array of a plain NumPy array (NumpyArray::is_plain), borrowed where that is possible, on the device of another.
ArrayPointer beside(const Array& other, const NumpyArray& source);

}  // namespace ferrule::python
