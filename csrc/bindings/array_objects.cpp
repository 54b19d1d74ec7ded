#include "array_objects.h"

#include "graphs.h"
#include "lending.h"
#include "parts.h"
#include "values.h"

#include <structmember.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace ferrule::python {
namespace {

PyTypeObject* array_class = nullptr;
Py_ssize_t handle_offset = 0;  // of its one slot, which holds an Array or, while tracing, a symbol

PyObject*& handle_slot(PyObject* object) {
  return *reinterpret_cast<PyObject**>(reinterpret_cast<std::byte*>(object) + handle_offset);
}

void set_array_class(const py::type& type) {
  const py::object slot = type.attr("_handle");
  if (Py_TYPE(slot.ptr()) != &PyMemberDescr_Type) throw py::type_error("set_array_class: _handle is no slot");
  handle_offset = reinterpret_cast<PyMemberDescrObject*>(slot.ptr())->d_member->offset;
  array_class = reinterpret_cast<PyTypeObject*>(type.inc_ref().ptr());
}

bool is_plain_number(PyObject* object) {
  return PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyBool_Check(object);
}

// Without the GIL, as recording may compute.
PyObject* apply_plain(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return returned([&]() -> py::object {
    constexpr std::size_t most = 8;
    const auto operands = static_cast<std::size_t>(count) - 1;
    if (count < 2 || operands > most) return not_implemented();
    std::array<ArrayPointer, most> arrays;  // held: `x[key] = value` gives x another one
    std::array<fe_array*, most> handles{};
    std::array<fe_number, most> numbers{};
    bool has_array = false, has_number = false;
    for (std::size_t i = 0; i < operands; ++i) {
      PyObject* const operand = arguments[i + 1];
      if (is_plain_number(operand)) {
        has_number = true;
        continue;
      }
      arrays[i] = handle_in(operand);
      if (!arrays[i]) return not_implemented();
      handles[i] = arrays[i]->get();
      has_array = true;
    }
    if (!has_array) return not_implemented();
    for (std::size_t i = 0; i < operands; ++i)  // now, as a number may be none that this call can take
      if (!arrays[i]) numbers[i] = number_of(arguments[i + 1]);
    const char* const op = PyUnicode_AsUTF8(arguments[0]);
    if (!op) throw py::error_already_set();
    fe_array* out = nullptr;
    check(without_gil([&] {
      return fe_array_apply(op, handles.data(), has_number ? numbers.data() : nullptr, operands, nullptr, 0, &out, 1);
    }));
    return wrapped(ArrayHandle(out));
  });
}

PyObject* evaluate_plain(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return returned([&]() -> py::object {
    constexpr Py_ssize_t most = 8;
    if (count > most) return not_implemented();
    std::array<ArrayPointer, most> arrays;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      arrays[i] = handle_in(arguments[i]);
      if (!arrays[i]) return not_implemented();
    }
    evaluate(std::span(arrays).first(static_cast<std::size_t>(count)));
    drain();
    return py::none();
  });
}

PyMethodDef apply_definition =
    fast_method("apply_plain", apply_plain,
                "apply_plain(op, *operands): what an op with one output and no attributes makes of arrays and Python's "
                "numbers, of which one at least is an array; NotImplemented when an operand is anything else");
PyMethodDef evaluate_definition = fast_method(
    "evaluate_plain", evaluate_plain, "evaluate_plain(*arrays): None, or NotImplemented when one is anything else");

void define(py::module_& module, PyMethodDef& definition) {
  module.attr(definition.ml_name) =
      py::reinterpret_steal<py::object>(PyCFunction_NewEx(&definition, nullptr, module.attr("__name__").ptr()));
}

}  // namespace

ArrayPointer handle_in(PyObject* object) {
  if (Py_TYPE(object) != array_class) return {};
  PyObject* const handle = handle_slot(object);
  if (handle == nullptr || array_in(handle) == nullptr) return {};
  return py::reinterpret_borrow<ArrayPointer>(handle);
}

py::object wrapped(ArrayHandle result) {
  ArrayPointer handle = array_of(std::move(result));
  py::object object = py::reinterpret_steal<py::object>(array_class->tp_alloc(array_class, 0));
  if (!object) throw py::error_already_set();
  handle_slot(object.ptr()) = handle.release().ptr();
  return object;
}

void bind_array_objects(py::module_& module) {
  module.def("set_array_class", &set_array_class, py::arg("type"));
  define(module, apply_definition);
  define(module, evaluate_definition);
}

}  // namespace ferrule::python
