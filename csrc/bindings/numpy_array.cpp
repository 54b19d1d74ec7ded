#include "numpy_array.h"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/npy_2_compat.h>

#include <array>
#include <utility>

namespace ferrule::python {
namespace {

PyArrayObject* inside(const py::object& array) { return reinterpret_cast<PyArrayObject*>(array.ptr()); }

using Sizes = std::array<npy_intp, FE_MAX_RANK>;

// Raises invalid_argument for more dimensions than ferrule's arrays have.
Sizes sizes_of(std::span<const int64_t> numbers) {
  Sizes sizes{};
  if (numbers.size() > sizes.size())
    raise(FE_INVALID_ARGUMENT,
          "an array has at most " + std::to_string(FE_MAX_RANK) + " dimensions, not " + std::to_string(numbers.size()));
  for (std::size_t i = 0; i < numbers.size(); ++i) sizes[i] = static_cast<npy_intp>(numbers[i]);
  return sizes;
}

NumpyArray new_from_descriptor(py::handle dtype, std::span<const int64_t> shape, npy_intp* strides, void* memory,
                               int flags) {
  Sizes sizes = sizes_of(shape);
  // NewFromDescr takes the reference to the dtype over.
  PyObject* const array =
      PyArray_NewFromDescr(&PyArray_Type, reinterpret_cast<PyArray_Descr*>(dtype.inc_ref().ptr()),
                           static_cast<int>(shape.size()), sizes.data(), strides, memory, flags, nullptr);
  if (array == nullptr) raise_python_error();
  return py::reinterpret_steal<NumpyArray>(array);
}

}  // namespace

bool is_numpy_array(PyObject* object) noexcept { return PyArray_Check(object) != 0; }

const void* NumpyArray::data() const { return PyArray_DATA(inside(*this)); }

void* NumpyArray::mutable_data() const {
  if (PyArray_FailUnlessWriteable(inside(*this), "array") != 0) raise_python_error();
  if (!PyArray_ISCARRAY(inside(*this))) throw py::value_error("the array is not C-contiguous and aligned");
  return PyArray_DATA(inside(*this));
}

std::vector<int64_t> NumpyArray::shape() const {
  const npy_intp* const sizes = PyArray_DIMS(inside(*this));
  return {sizes, sizes + PyArray_NDIM(inside(*this))};
}

std::vector<int64_t> NumpyArray::strides() const {
  const npy_intp* const strides = PyArray_STRIDES(inside(*this));
  return {strides, strides + PyArray_NDIM(inside(*this))};
}

int64_t NumpyArray::item_size() const { return PyArray_ITEMSIZE(inside(*this)); }
int64_t NumpyArray::byte_size() const { return PyArray_NBYTES(inside(*this)); }

py::object NumpyArray::dtype() const {
  return py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(PyArray_DESCR(inside(*this))));
}

bool NumpyArray::is_writable() const { return PyArray_ISWRITEABLE(inside(*this)); }

bool NumpyArray::is_plain() const {
  PyArrayObject* const array = inside(*this);
  const int type = PyArray_TYPE(array);
  const bool is_number = PyTypeNum_ISBOOL(type) || PyTypeNum_ISNUMBER(type);
  const bool is_long = type == NPY_LONGDOUBLE || type == NPY_CLONGDOUBLE;
  return PyArray_CheckExact(ptr()) && PyArray_BASE(array) == nullptr && is_number && !is_long &&
         PyArray_ISBEHAVED_RO(array) && PyArray_NDIM(array) <= FE_MAX_RANK;
}

NumpyArray new_numpy_array(py::handle dtype, std::span<const int64_t> shape) {
  return new_from_descriptor(dtype, shape, nullptr, nullptr, 0);
}

NumpyArray numpy_view(py::handle dtype, std::span<const int64_t> shape, std::span<const int64_t> strides, void* memory,
                      bool writable, py::object owner) {
  Sizes steps = sizes_of(strides);
  NumpyArray array = new_from_descriptor(dtype, shape, strides.empty() ? nullptr : steps.data(), memory,
                                         writable ? NPY_ARRAY_WRITEABLE : 0);
  // Takes the reference to the owner over, also when it fails.
  if (PyArray_SetBaseObject(inside(array), owner.release().ptr()) != 0) raise_python_error();
  return array;
}

void import_numpy() {
  if (PyArray_ImportNumPyAPI() != 0) raise_python_error();
}

}  // namespace ferrule::python
