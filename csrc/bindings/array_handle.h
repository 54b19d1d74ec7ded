// _ferrule.Array, the Python object that owns an array handle. It is defined without pybind11, whose objects take
// longer to create and destroy than recording a small op, and more memory.
#pragma once

#include "handles.h"

#include <optional>
#include <utility>

namespace ferrule::python {

// The array handle inside the Python object.
class Array {
 public:
  explicit Array(ArrayHandle handle) : handle_(std::move(handle)) {}
  fe_array* get() const noexcept { return handle_.get(); }
  // dtype, rank and shape never change; strides are valid once it is computed.
  fe_array_info info() const;
  // Address of the bytes of a computed array; empty if the host cannot access them. Waits for the last write.
  std::optional<void*> host_pointer() const;
  // Once true it stays true, even if the array is donated.
  bool is_computed();

 private:
  ArrayHandle handle_;
  bool is_computed_ = false;
};

// Creates a class with the CPython API, without pybind11.
inline py::object class_of(PyType_Spec spec) {
  py::object type = py::reinterpret_steal<py::object>(PyType_FromSpec(&spec));
  if (!type) raise_python_error();
  return type;
}

// Memory for a new object of a class that was created so, set to zero.
inline py::object new_object(PyTypeObject* type) {
  PyObject* const object = PyType_GenericAlloc(type, 0);
  if (object == nullptr) raise_python_error();
  return py::reinterpret_steal<py::object>(object);
}

// The end of such an object, which the Python class of it may extend: frees its memory.
inline void free_object(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  type->tp_free(object);
  Py_DECREF(type);
}

// The Array of an object of this class; null for any other object.
Array* array_in(PyObject* object) noexcept;

// An owned reference to an object of this class, or to None if the caller passed None. Every call that uses an array
// holds one, because `x[key] = value` may replace the handle of a ferrule.Array at any time, even while a call computes
// without the GIL.
class ArrayPointer : public py::object {
 public:
  PYBIND11_OBJECT_DEFAULT(ArrayPointer, py::object, is_array_or_none)
  Array* get() const noexcept { return ptr() == nullptr ? nullptr : array_in(ptr()); }
  Array* operator->() const noexcept { return get(); }

 private:
  static bool is_array_or_none(PyObject* object) noexcept { return object == Py_None || array_in(object) != nullptr; }
};

// Makes a new object.
ArrayPointer array_of(ArrayHandle handle);
inline ArrayPointer array_of(fe_array* handle) { return array_of(ArrayHandle(handle)); }

}  // namespace ferrule::python

template <>
struct pybind11::detail::handle_type_name<ferrule::python::ArrayPointer> {
  static constexpr auto name = const_name("ferrule._ferrule.Array | None");
};

template <>
class pybind11::detail::type_caster<ferrule::python::Array> {
 public:
  static constexpr auto name = const_name("ferrule._ferrule.Array");
  template <class T>
  using cast_op_type = pybind11::detail::cast_op_type<T>;
  bool load(handle source, bool) noexcept {
    array_ = ferrule::python::array_in(source.ptr());
    return array_ != nullptr;
  }
  explicit operator ferrule::python::Array*() { return array_; }
  explicit operator ferrule::python::Array&() { return *array_; }

 private:
  ferrule::python::Array* array_ = nullptr;
};
