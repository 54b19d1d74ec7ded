// _ferrule.Array, the Python object that owns an array handle. It is defined without nanobind, whose objects take as
// long to create and destroy as recording a small op, and twice the memory.
#pragma once

#include "handles.h"

#include <utility>

namespace ferrule::python {

// The array handle inside the Python object.
class Array {
 public:
  explicit Array(ArrayHandle handle) : handle_(std::move(handle)) {}
  fe_array* get() const noexcept { return handle_.get(); }
  // dtype, rank and shape never change; strides are valid once it is computed.
  fe_array_info info() const;
  // Once true it stays true, even if the array is donated.
  bool is_computed();

 private:
  ArrayHandle handle_;
  bool is_computed_ = false;
};

// Creates a class with the CPython API, without nanobind.
inline nb::object class_of(PyType_Spec spec) {
  nb::object type = nb::steal<nb::object>(PyType_FromSpec(&spec));
  if (!type) raise_python_error();
  return type;
}

// Memory for a new object of a class that was created so, set to zero.
inline nb::object new_object(PyTypeObject* type) {
  PyObject* const object = PyType_GenericAlloc(type, 0);
  if (object == nullptr) raise_python_error();
  return nb::steal<nb::object>(object);
}

// The end of such an object, which the Python class of it may extend: frees its memory.
inline void free_object(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

// The Array of an object of this class; null for any other object.
Array* array_in(PyObject* object) noexcept;

// An owned reference to an object of this class, or to None if the caller passed None. Every call that uses an array
// holds one, because `x[key] = value` may replace the handle of a ferrule.Array at any time, even while a call computes
// without the GIL.
class ArrayPointer : public nb::object {
 public:
  NB_OBJECT_DEFAULT(ArrayPointer, nb::object, "ferrule._ferrule.Array | None", is_array_or_none)
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
struct nanobind::detail::type_caster<ferrule::python::Array> {
  static constexpr auto Name = const_name("ferrule._ferrule.Array");
  template <class T>
  using Cast = precise_cast_t<T>;
  template <class T>
  static constexpr bool can_cast() {
    return true;
  }
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    array_ = ferrule::python::array_in(source.ptr());
    return array_ != nullptr;
  }
  explicit operator ferrule::python::Array*() { return array_; }
  explicit operator ferrule::python::Array&() { return *array_; }

 private:
  ferrule::python::Array* array_ = nullptr;
};
