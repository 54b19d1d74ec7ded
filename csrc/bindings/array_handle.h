// _ferrule.Array, Python's object of an array's handle. pybind11 has no part in it: making and ending one of its
// objects takes as long as recording a small op, and twice the memory.
#pragma once

#include "handles.h"

#include <utility>

namespace ferrule::python {

// An array of the host API, which Python's object owns.
class Array {
 public:
  explicit Array(ArrayHandle handle) : handle_(std::move(handle)) {}
  fe_array* get() const noexcept { return handle_.get(); }
  // dtype, rank and shape never change; strides are valid where it is computed.
  fe_array_info info() const;
  // Stays true, also when the array is donated.
  bool is_computed();

 private:
  ArrayHandle handle_;
  bool is_computed_ = false;
};

// A class of CPython's own, without pybind11.
inline py::object class_of(PyType_Spec spec) {
  py::object type = py::reinterpret_steal<py::object>(PyType_FromSpec(&spec));
  if (!type) throw py::error_already_set();
  return type;
}

// The Array in an object of its class; null in any other object.
Array* array_in(PyObject* object) noexcept;

// A reference to an object of the class, or to None where a caller gave that. Every call that uses an array has one:
// `x[key] = value` gives a ferrule.Array another one at any time, also while a call computes without the GIL.
class ArrayPointer : public py::object {
 public:
  PYBIND11_OBJECT_DEFAULT(ArrayPointer, py::object, is_array_or_none)
  Array* get() const noexcept { return ptr() == nullptr ? nullptr : array_in(ptr()); }
  Array* operator->() const noexcept { return get(); }

 private:
  static bool is_array_or_none(PyObject* object) noexcept { return object == Py_None || array_in(object) != nullptr; }
};

// A new object.
ArrayPointer array_of(ArrayHandle handle);
inline ArrayPointer array_of(fe_array* handle) { return array_of(ArrayHandle(handle)); }

}  // namespace ferrule::python

template <>
class pybind11::detail::type_caster<ferrule::python::Array> {
 public:
  static constexpr auto name = const_name("ferrule._ferrule.Array");
  template <class T>
  using cast_op_type = pybind11::detail::cast_op_type<T>;
  bool load(handle source, bool) {
    array_ = ferrule::python::array_in(source.ptr());
    return array_ != nullptr;
  }
  operator ferrule::python::Array*() { return array_; }
  operator ferrule::python::Array&() { return *array_; }

 private:
  ferrule::python::Array* array_ = nullptr;
};
