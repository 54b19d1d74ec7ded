#include "array_handle.h"

#include "module_parts.h"
#include "values.h"

#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace ferrule::python {
namespace {

struct ArrayObject {
  PyObject_HEAD Array array;
};

PyTypeObject* array_type = nullptr;

void deallocate(PyObject* object) {
  std::destroy_at(&reinterpret_cast<ArrayObject*>(object)->array);
  free_object(object);
}

// Strides in elements; None unless the array is computed.
py::object strides_of(Array& self) {
  if (!self.is_computed()) return py::none();
  const fe_array_info info = self.info();
  return integers_tuple({info.strides, static_cast<std::size_t>(info.rank)});
}

// Address of the bytes; None if the host cannot access them.
py::object address_of(const Array& self) {
  const std::optional<void*> pointer = self.host_pointer();
  return pointer ? py::object(py::int_(reinterpret_cast<uintptr_t>(*pointer))) : py::object(py::none());
}

Device device_of(const Array& self) {
  fe_device* handle = nullptr;
  check(fe_array_device(self.get(), &handle));
  return Device(handle);
}

std::string placement_of(const Array& self) {
  fe_string* text = nullptr;
  check(fe_array_placement(self.get(), &text));
  return take_text(text);
}

// A property of the class; `get` takes the Array.
template <auto get>
PyGetSetDef property(const char* name) {
  constexpr auto read = [](PyObject* self, void*) {
    return call_guarded([self]() -> py::object {
      auto value = get(reinterpret_cast<ArrayObject*>(self)->array);
      if constexpr (std::is_base_of_v<py::object, decltype(value)>)
        return value;
      else
        return py::cast(std::move(value));
    });
  };
  return {name, read, nullptr, nullptr, nullptr};
}

PyGetSetDef properties[] = {
    property<[](const Array& self) { return shape_tuple(self.info()); }>("shape"),
    property<[](const Array& self) { return numpy_dtype(self.info().dtype); }>("dtype"),
    property<[](const Array& self) { return self.info().rank; }>("ndim"),
    property<[](const Array& self) { return self.info().nbytes; }>("nbytes"),
    property<[](const Array& self) { return self.info().identity; }>("identity"),
    property<[](Array& self) { return self.is_computed(); }>("computed"),
    property<[](const Array& self) {
      fe_array* const handle = self.get();
      return fe_is_ready(&handle, 1) != 0;
    }>("ready"),
    property<strides_of>("strides"),
    property<address_of>("address"),
    property<device_of>("device"),
    property<placement_of>("placement"),
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

py::object make_type() {
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
      {Py_tp_getset, properties},
      {Py_tp_doc, const_cast<char*>("A handle of an array. The public class is ferrule.Array.")},
      {0, nullptr},
  };
  return class_of({"ferrule._ferrule.Array", sizeof(ArrayObject), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots});
}

}  // namespace

fe_array_info Array::info() const {
  fe_array_info info{};
  info.struct_size = sizeof info;
  check(fe_array_info_get(handle_.get(), &info));
  return info;
}

std::optional<void*> Array::host_pointer() const {
  void* pointer = nullptr;
  fe_error* const error = without_gil([&] { return fe_array_host_pointer(get(), &pointer); });
  if (error != nullptr && fe_error_code(error) == FE_UNSUPPORTED) {
    fe_error_release(error);
    return std::nullopt;
  }
  check(error);
  return pointer;
}

bool Array::is_computed() {
  if (!is_computed_) is_computed_ = info().computed != 0;
  return is_computed_;
}

Array* array_in(PyObject* object) noexcept {
  return Py_TYPE(object) == array_type ? &reinterpret_cast<ArrayObject*>(object)->array : nullptr;
}

ArrayPointer array_of(ArrayHandle handle) {
  py::object object = new_object(array_type);
  new (&reinterpret_cast<ArrayObject*>(object.ptr())->array) Array(std::move(handle));
  return py::reinterpret_steal<ArrayPointer>(object.release());
}

void bind_array_handle(py::module_& module) {
  py::object type = make_type();
  array_type = reinterpret_cast<PyTypeObject*>(type.inc_ref().ptr());
  module.attr("Array") = type;
}

}  // namespace ferrule::python
