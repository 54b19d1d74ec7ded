// Compiled graphs, as graphs.cpp makes them and calls.cpp runs them.
#pragma once

#include "array_handle.h"

#include <span>
#include <string>
#include <vector>

namespace ferrule::python {

struct Compiled {
  CompiledHandle handle;
  std::size_t outputs = 0;
  // All scalars of the graph: their dtypes, and the values that hold unless a call says otherwise.
  std::vector<fe_dtype> scalar_dtypes;
  std::vector<fe_scalar> scalar_defaults;
};

// Where a result is written instead of into a new array; null memory for a new array.
struct Destination {
  void* memory = nullptr;
  uint64_t bytes = 0;
};

// The inputs that a call gives away, one mark each or none at all, and what errors call the call.
struct Donation {
  std::vector<uint8_t> marks;
  std::string to;
  // Null for none; raises invalid_argument unless there is one for each.
  const uint8_t* marks_of(std::size_t inputs) const;
};

// Computes without the GIL. Inputs are computed arrays. `scalars` replaces the first values of the graph's scalars.
// `results` are all that the graph has; one is null where it was written to its destination, of which there are none or
// all.
void compute(const Compiled& compiled, std::span<fe_array* const> inputs, std::span<const py::object> scalars,
             std::span<const Destination> destinations, const Donation& donation, std::span<ArrayHandle> results);

// Gives the computing of those that are not computed to their devices. Raises invalid_argument for None among them.
void make_computed(std::span<const ArrayPointer> arrays);
// The same, and raises for those that were donated.
void submit(std::span<const ArrayPointer> arrays);
// The same, and returns when they are there.
void evaluate(std::span<const ArrayPointer> arrays);

// The array; raises invalid_argument for None.
Array& given(const ArrayPointer& array);
// Valid as long as the arrays live; raises as given() does.
std::vector<fe_array*> handles_of(std::span<const ArrayPointer> arrays);

}  // namespace ferrule::python
