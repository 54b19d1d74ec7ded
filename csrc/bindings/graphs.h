// Compiled graphs, which graphs.cpp makes and calls.cpp runs.
#pragma once

#include "array_handle.h"

#include <span>
#include <string>
#include <vector>

namespace ferrule::python {

struct Compiled : BoundClass {
  CompiledHandle handle;
  std::size_t outputs = 0;
  // Dtypes and default values of the graph's scalars.
  std::vector<fe_dtype> scalar_dtypes;
  std::vector<fe_scalar> scalar_defaults;
};

// Memory that a result is written to; null memory for a new array.
struct Destination {
  void* memory = nullptr;
  uint64_t bytes = 0;
};

// The inputs that a call donates, one mark each or none at all, and the name of the call in errors.
struct Donation {
  std::vector<uint8_t> marks;
  std::string to;
  // Null if there are no marks; raises invalid_argument unless there is one per input.
  const uint8_t* marks_of(std::size_t inputs) const;
};

// Computes without the GIL. Inputs are computed arrays. `scalars` replaces the values of the graph's first scalars.
// `results` receives all outputs, null for one that was written to its destination. There is no destination or one per
// output.
void compute(const Compiled& compiled, std::span<fe_array* const> inputs, std::span<const py::object> scalars,
             std::span<const Destination> destinations, const Donation& donation, std::span<ArrayHandle> results);

// Submits the arrays that are not computed yet. Raises invalid_argument if one is None.
void make_computed(std::span<const ArrayPointer> arrays);
// The same; raises for donated arrays, too.
void submit(std::span<const ArrayPointer> arrays);
// The same; returns when the arrays are computed.
void evaluate(std::span<const ArrayPointer> arrays);

// References to the arrays of a Python sequence; raises TypeError for other objects than arrays and None.
std::vector<ArrayPointer> arrays_in(PyObject* sequence);
// The array; raises invalid_argument for None.
Array& require_array(const ArrayPointer& array);
// The handles are valid as long as the arrays. Raises as require_array() does.
std::vector<fe_array*> handles_of(std::span<const ArrayPointer> arrays);

}  // namespace ferrule::python
