// dtypes, shapes, scalars and attributes between Python and C.
#pragma once

#include "errors.h"

#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ferrule::python {

// The dtype of a numpy.dtype, of anything that numpy.dtype() accepts, or of a name; raises invalid_argument for others.
fe_dtype dtype_of(py::handle value);
// The numpy.dtype.
py::object numpy_dtype(fe_dtype dtype);

py::tuple integers_tuple(std::span<const int64_t> numbers);
// A tuple of sizes.
inline py::tuple shape_tuple(const fe_array_info& info) {
  return integers_tuple({info.shape, static_cast<std::size_t>(info.rank)});
}
// A shape from a sequence of sizes; raises invalid_argument for more than FE_MAX_RANK.
std::vector<int64_t> shape_of(py::handle sizes);

// Converts a Python number to a dtype; raises invalid_argument if an integer does not fit.
fe_scalar scalar_of(py::handle value, fe_dtype dtype);

// A Python int that an integer dtype has and that fits into int64, else nothing. No other object is converted.
std::optional<int64_t> integer_within(PyObject* value, const fe_dtype_info& dtype);

// A Python int, float, bool or complex as an operand of `op`; of kind FE_NUMBER_NONE for anything else.
fe_number number_of(const char* op, py::handle value);

// The attributes of a call from a dict of int, float, bool, str, dtype and sequences of numbers. None values are
// skipped.
class CallAttributes {
 public:
  explicit CallAttributes(const py::dict& attributes);
  // Whether all values have exactly such types, and sequences are tuples of int.
  static bool are_plain(PyObject* attributes);
  const fe_attribute* data() const { return list_.data(); }
  std::size_t size() const { return list_.size(); }

 private:
  void add(py::handle key, py::handle value);
  void add_sequence(fe_attribute& attribute, py::handle value);

  std::vector<fe_attribute> list_;
  std::list<std::string> texts_;
  std::list<std::vector<int64_t>> integers_;
  std::list<std::vector<double>> reals_;
};

void bind_values(py::module_& module);

}  // namespace ferrule::python
