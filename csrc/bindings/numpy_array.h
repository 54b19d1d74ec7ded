// NumPy's arrays, by NumPy's C API.
#pragma once

#include "errors.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ferrule::python {

bool is_numpy_array(PyObject* object) noexcept;

// A numpy.ndarray. Sizes and strides are in bytes, as NumPy's.
class NumpyArray : public py::object {
 public:
  PYBIND11_OBJECT_DEFAULT(NumpyArray, py::object, is_numpy_array)
  const void* data() const;
  // Raises ValueError unless it is C-contiguous, aligned and writable.
  void* mutable_data() const;
  std::vector<int64_t> shape() const;
  std::vector<int64_t> strides() const;
  int64_t item_size() const;
  int64_t byte_size() const;
  py::object dtype() const;
  bool is_writable() const;
  // Whether it is no instance of a subclass, owns its memory, which is aligned, and has bools or numbers of a dtype
  // that ferrule has in native byte order.
  bool is_plain() const;
};

// A new array with memory of its own, which is not initialised.
NumpyArray new_numpy_array(py::handle dtype, std::span<const int64_t> shape);
// An array over memory that `owner` keeps alive. `strides` in bytes; empty: C-contiguous.
NumpyArray numpy_view(py::handle dtype, std::span<const int64_t> shape, std::span<const int64_t> strides, void* memory,
                      bool writable, py::object owner);

// Imports NumPy; called once, when the extension is imported.
void import_numpy();

}  // namespace ferrule::python

template <>
struct pybind11::detail::handle_type_name<ferrule::python::NumpyArray> {
  static constexpr auto name = const_name("numpy.ndarray");
};
