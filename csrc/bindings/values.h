// dtypes, shapes, scalars and attributes between Python and C.
#pragma once

#include "errors.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ferrule::python {

// The dtype of a numpy.dtype, of something numpy.dtype() takes, or of a name; raises invalid_argument for others.
fe_dtype dtype_of(py::handle value);
// The numpy.dtype.
py::object numpy_dtype(fe_dtype dtype);

// A tuple of sizes.
py::tuple shape_tuple(const fe_array_info& info);
// At most FE_MAX_RANK sizes; raises invalid_argument for more.
std::vector<int64_t> shape_of(py::handle sizes);

// A Python number in a dtype; raises invalid_argument when an integer does not fit.
fe_scalar scalar_of(py::handle value, fe_dtype dtype);

// A dict of int, float, bool, str, dtype and sequences of int as the JSON object that ops take. None is left out.
std::string attributes_json(const py::dict& attributes);

void bind_values(py::module_& module);

}  // namespace ferrule::python
