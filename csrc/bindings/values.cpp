#include "values.h"

#include "bound_classes.h"
#include "text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>

namespace ferrule::python {
namespace {

// numpy.dtype objects by fe_dtype, kept until the process ends.
std::array<PyObject*, 64> dtypes_by_id{};

// numpy.dtype, looked up when the extension is imported: an import during a call might release the GIL.
PyObject* dtype_class = nullptr;

py::object numpy_dtype_from(py::handle value) { return py::handle(dtype_class)(value); }

// Returns the object that represents the block dtype of a name; kept until the process ends.
PyObject* make_block_dtype = nullptr;

// Whether it is a NumPy dtype, or the object that represents a block dtype, which NumPy does not have.
bool is_dtype(py::handle value) {
  if (PyObject_IsInstance(value.ptr(), dtype_class) == 1) return true;
  return value.ptr() != nullptr &&
         std::find(dtypes_by_id.begin(), dtypes_by_id.end(), value.ptr()) != dtypes_by_id.end();
}

// A number for messages. Python refuses to print an int of thousands of digits.
std::string shown(py::handle value) {
  if (PyLong_Check(value.ptr())) {
    const auto bits = py::cast<std::size_t>(value.attr("bit_length")());
    if (bits > 512) return "an int of " + std::to_string(bits) + " bits";
  }
  return py::cast<std::string>(py::str(value));
}

int64_t integer_of(py::handle value) {
  const py::object index = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!index) raise_python_error();
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow != 0) raise(FE_INVALID_ARGUMENT, shown(index) + " does not fit into 64 bits");
  if (number == -1 && PyErr_Occurred() != nullptr) raise_python_error();
  return number;
}

// Converts what Python's complex() takes, except a str.
std::complex<double> complex_of(py::handle value) {
  py::object number = py::reinterpret_borrow<py::object>(value);
  if (PyComplex_Check(value.ptr()) == 0) {
    if (PyUnicode_Check(value.ptr()) != 0) raise_type_error("must be a number, not str");
    number = py::handle(reinterpret_cast<PyObject*>(&PyComplex_Type))(value);
  }
  return {PyComplex_RealAsDouble(number.ptr()), PyComplex_ImagAsDouble(number.ptr())};
}

double real_of(const char* name, py::handle value) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) raise_python_error();
  if (!std::isfinite(number)) raise(FE_INVALID_ARGUMENT, std::string("attribute '") + name + "' is not finite");
  return number;
}

// The dtype of NumPy or of ml_dtypes, or the object of a block dtype. ml_dtypes is imported when it is first needed:
// most programs do not need it.
py::object named_dtype(const fe_dtype_info& info) {
  const char* const name = info.name;
  if (info.dtype_class == FE_CLASS_BLOCK) {
    if (make_block_dtype == nullptr) raise(FE_INTERNAL, std::string(name) + ": set_block_dtype_factory was not called");
    return py::handle(make_block_dtype)(name);
  }
  try {
    return numpy_dtype_from(py::str(name));
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError)) throw;  // NumPy has no dtype of that name
  }
  try {
    return numpy_dtype_from(py::module_::import("ml_dtypes").attr(name));
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_ImportError)) throw;
    raise(FE_UNSUPPORTED, std::string(name) + " arrays need the Python package ml_dtypes (pip install ml_dtypes): " +
                              py::cast<std::string>(py::str(error.value())));
  }
}

template <class T>
void store(fe_scalar& scalar, T value) {
  std::memcpy(scalar.bytes, &value, sizeof value);
}

void store_uint64(fe_scalar& scalar, py::handle value) {
  const py::object index = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!index) raise_python_error();
  const unsigned long long number = PyLong_AsUnsignedLongLong(index.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    raise(FE_INVALID_ARGUMENT, shown(index) + " does not fit into uint64");
  }
  store(scalar, static_cast<uint64_t>(number));
}

void store_integer(fe_scalar& scalar, py::handle value, const fe_dtype_info& dtype) {
  const bool is_unsigned = dtype.dtype_class == FE_CLASS_UNSIGNED;
  const auto bits = static_cast<int>(8 * dtype.block_bytes);
  if (is_unsigned && bits == 64) return store_uint64(scalar, value);
  const int64_t number = integer_of(value);
  const int64_t lowest = is_unsigned ? 0 : bits == 64 ? INT64_MIN : -(int64_t{1} << (bits - 1));
  const int64_t highest = is_unsigned  ? (int64_t{1} << bits) - 1
                          : bits == 64 ? INT64_MAX
                                       : (int64_t{1} << (bits - 1)) - 1;
  if (number < lowest || number > highest)
    raise(FE_INVALID_ARGUMENT, std::to_string(number) + " does not fit into " + dtype.name);
  std::memcpy(scalar.bytes, &number, dtype.block_bytes);  // every machine that ferrule runs on is little-endian
}

}  // namespace

py::object numpy_dtype(fe_dtype dtype) {
  if (dtype < dtypes_by_id.size() && dtypes_by_id[dtype] != nullptr)
    return py::reinterpret_borrow<py::object>(dtypes_by_id[dtype]);
  py::object made = named_dtype(*fe_dtype_info_get(dtype));
  if (dtype < dtypes_by_id.size()) dtypes_by_id[dtype] = made.inc_ref().ptr();
  return made;
}

fe_dtype dtype_of(py::handle value) {
  for (fe_dtype id = 0; id < dtypes_by_id.size(); ++id)
    if (dtypes_by_id[id] == value.ptr() && value.ptr() != nullptr) return id;
  if (PyUnicode_Check(value.ptr()))  // NumPy only knows "bfloat16" after ml_dtypes was imported
    if (const fe_dtype id = fe_dtype_by_name(text_of(value).c_str()); id != 0) return id;
  const auto name = py::cast<std::string>(py::str(numpy_dtype_from(value).attr("name")));
  const fe_dtype id = fe_dtype_by_name(name.c_str());
  if (id == 0) raise(FE_INVALID_ARGUMENT, "dtype " + name + " is not supported");
  numpy_dtype(id);
  return id;
}

py::tuple integers_tuple(std::span<const int64_t> numbers) {
  auto tuple = py::reinterpret_steal<py::tuple>(PyTuple_New(static_cast<Py_ssize_t>(numbers.size())));
  if (!tuple) raise_python_error();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    PyObject* const number = PyLong_FromLongLong(numbers[i]);
    if (number == nullptr) raise_python_error();
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), number);
  }
  return tuple;
}

std::vector<int64_t> shape_of(py::handle sizes) {
  std::vector<int64_t> shape;
  for (const py::handle size : py::reinterpret_borrow<py::object>(sizes)) shape.push_back(integer_of(size));
  if (shape.size() > FE_MAX_RANK)
    raise(FE_INVALID_ARGUMENT,
          "an array has at most " + std::to_string(FE_MAX_RANK) + " dimensions, not " + std::to_string(shape.size()));
  return shape;
}

fe_scalar scalar_of(py::handle value, fe_dtype dtype) {
  fe_scalar scalar{};
  const fe_dtype_info* const info = fe_dtype_info_get(dtype);
  const std::string name = info == nullptr ? "" : info->name;
  switch (info == nullptr ? static_cast<uint32_t>(FE_CLASS_COUNT) : info->dtype_class) {
    case FE_CLASS_BOOL: {
      const int truth = PyObject_IsTrue(value.ptr());
      if (truth < 0) raise_python_error();
      store(scalar, static_cast<uint8_t>(truth));
      break;
    }
    case FE_CLASS_FLOAT: {
      const double number = PyFloat_AsDouble(value.ptr());
      if (number == -1 && PyErr_Occurred() != nullptr) {
        if (PyErr_ExceptionMatches(PyExc_OverflowError) == 0) raise_python_error();
        PyErr_Clear();
        raise(FE_INVALID_ARGUMENT, shown(value) + " does not fit into " + name);
      }
      check(fe_scalar_from(dtype, number, &scalar));
      break;
    }
    case FE_CLASS_COMPLEX: {
      const std::complex<double> number = complex_of(value);
      if (info->block_bytes == sizeof(std::complex<float>))
        store(scalar, std::complex<float>(static_cast<float>(number.real()), static_cast<float>(number.imag())));
      else
        store(scalar, number);
      break;
    }
    case FE_CLASS_UNSIGNED:
    case FE_CLASS_SIGNED:
      store_integer(scalar, value, *info);
      break;
    default:
      raise(FE_INVALID_ARGUMENT, "dtype '" + name + "' has no scalars");
  }
  return scalar;
}

fe_number number_of(const char* op, py::handle value) {
  fe_number number{};
  if (PyBool_Check(value.ptr()) != 0) {
    number = {FE_NUMBER_BOOL, value.ptr() == Py_True ? 1 : 0, 0, 0};
  } else if (PyFloat_Check(value.ptr()) != 0) {
    number = {FE_NUMBER_FLOAT64, 0, PyFloat_AsDouble(value.ptr()), 0};
  } else if (PyComplex_Check(value.ptr()) != 0) {
    const std::complex<double> of = complex_of(value);
    number = {FE_NUMBER_COMPLEX128, 0, of.real(), of.imag()};
  } else if (PyLong_Check(value.ptr()) != 0) {
    int overflow = 0;
    number = {FE_NUMBER_INT64, PyLong_AsLongLongAndOverflow(value.ptr(), &overflow), 0, 0};
    if (overflow == 0) return number;
    const unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(value.ptr()) : 0;
    if (overflow > 0 && PyErr_Occurred() == nullptr) return {FE_NUMBER_UINT64, static_cast<int64_t>(large), 0, 0};
    PyErr_Clear();
    number = {FE_NUMBER_WIDE_INTEGER, 0, PyLong_AsDouble(value.ptr()), 0};
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      raise(FE_INVALID_ARGUMENT, std::string(op) + ": " + shown(value) + " does not fit into float64");
    }
  }
  return number;
}

CallAttributes::CallAttributes(const py::dict& attributes) {
  list_.reserve(attributes.size());
  for (const auto& [known_key, known_value] : attributes) {
    // Owned references, because converting a value runs Python code, which may change the dict.
    const auto key = py::reinterpret_borrow<py::object>(known_key);
    const auto value = py::reinterpret_borrow<py::object>(known_value);
    if (!value.is_none()) add(key, value);
  }
}

std::optional<int64_t> integer_within(PyObject* value, const fe_dtype_info& dtype) {
  if (!PyLong_CheckExact(value)) return std::nullopt;
  int overflow = 0;
  const int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow);
  const auto bits = static_cast<int>(8 * dtype.block_bytes);
  const bool is_unsigned = dtype.dtype_class == FE_CLASS_UNSIGNED;
  if (overflow != 0 || (is_unsigned && number < 0)) return std::nullopt;
  if (bits < 64 && (is_unsigned ? number >> bits != 0 : number >> (bits - 1) != 0 && number >> (bits - 1) != -1))
    return std::nullopt;
  return number;
}

bool CallAttributes::are_plain(PyObject* attributes) {
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t place = 0; PyDict_Next(attributes, &place, &key, &value) != 0;) {
    if (PyTuple_CheckExact(value)) {
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); ++i)
        if (!PyLong_CheckExact(PyTuple_GET_ITEM(value, i))) return false;
    } else if (!PyLong_CheckExact(value) && !PyBool_Check(value) && !PyFloat_CheckExact(value) &&
               !PyUnicode_CheckExact(value) && !is_dtype(value)) {
      return false;
    }
  }
  return true;
}

void CallAttributes::add(py::handle key, py::handle value) {
  fe_attribute attribute{};
  attribute.struct_size = sizeof attribute;
  attribute.name = texts_.emplace_back(text_of(key).string()).c_str();
  PyObject* const object = value.ptr();
  if (PyBool_Check(object)) {
    attribute.kind = FE_ATTRIBUTE_BOOL;
    attribute.integer = object == Py_True;
  } else if (PyFloat_Check(object)) {
    attribute.kind = FE_ATTRIBUTE_FLOAT64;
    attribute.real = real_of(attribute.name, value);
  } else if (PyUnicode_Check(object)) {
    attribute.kind = FE_ATTRIBUTE_STRING;
    attribute.string = texts_.emplace_back(text_of(value).string()).c_str();
  } else if (is_dtype(value)) {
    attribute.kind = FE_ATTRIBUTE_DTYPE;
    attribute.dtype = dtype_of(value);
  } else if (PyIndex_Check(object)) {
    attribute.kind = FE_ATTRIBUTE_INT64;
    attribute.integer = integer_of(value);
  } else if (PySequence_Check(object)) {
    add_sequence(attribute, value);
  } else if (PyNumber_Check(object)) {
    attribute.kind = FE_ATTRIBUTE_FLOAT64;
    attribute.real = real_of(attribute.name, value);
  } else {
    raise(FE_INVALID_ARGUMENT, std::string("attribute '") + attribute.name + "' is a " +
                                   py::cast<std::string>(py::type::of(value).attr("__name__")));
  }
  list_.push_back(attribute);
}

// Adds a list of integers, or of reals if an element is not an integer.
void CallAttributes::add_sequence(fe_attribute& attribute, py::handle value) {
  std::vector<int64_t> integers;
  std::vector<double> reals;
  for (const py::handle item : py::reinterpret_borrow<py::object>(value)) {
    const bool is_real = PyFloat_Check(item.ptr()) != 0;
    if (!is_real && PyIndex_Check(item.ptr()) == 0)
      raise(FE_INVALID_ARGUMENT,
            std::string("attribute '") + attribute.name + "' holds numbers, not " + shown(py::repr(item)));
    if (is_real && reals.empty()) reals.assign(integers.begin(), integers.end());
    if (is_real || !reals.empty())
      reals.push_back(real_of(attribute.name, item));
    else
      integers.push_back(integer_of(item));
  }
  if (reals.empty()) {
    attribute.kind = FE_ATTRIBUTE_INT64_LIST;
    const std::vector<int64_t>& kept = integers_.emplace_back(std::move(integers));
    attribute.integers = {kept.data(), kept.size()};
  } else {
    attribute.kind = FE_ATTRIBUTE_FLOAT64_LIST;
    const std::vector<double>& kept = reals_.emplace_back(std::move(reals));
    attribute.reals = {kept.data(), kept.size()};
  }
}

void bind_values(py::module_& module) {
  dtype_class = py::object(py::module_::import("numpy").attr("dtype")).release().ptr();
  module.def(
      "set_block_dtype_factory", [](const py::object& factory) { make_block_dtype = factory.inc_ref().ptr(); },
      argument("factory"));
  module.def(
      "dtype", [](py::handle dtype) { return numpy_dtype(dtype_of(dtype)); }, argument_or_none("dtype"));
}

}  // namespace ferrule::python
