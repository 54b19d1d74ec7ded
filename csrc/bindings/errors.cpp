#include "errors.h"

#include "bound_classes.h"
#include "interruption.h"

namespace ferrule::python {
namespace {

// ferrule.errors.error_of(code, message); kept until the process ends.
PyObject* make_exception = nullptr;

py::object exception(fe_code code, const char* message) {
  py::object text = py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(message, static_cast<Py_ssize_t>(std::char_traits<char>::length(message)), "replace"));
  if (make_exception == nullptr) return py::reinterpret_borrow<py::object>(PyExc_RuntimeError)(text);
  return call_python(make_exception, py::int_(static_cast<int>(code)), text);
}

[[noreturn]] void raise_instance(const py::object& instance) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(instance.ptr())), instance.ptr());
  raise_python_error();
}

}  // namespace

py::object exception_of(fe_error* error) {
  py::object instance;
  if (fe_error_code(error) == FE_CANCELLED) instance = Interruption::take_raised();
  if (!instance) instance = exception(fe_error_code(error), fe_error_message(error));
  fe_error_release(error);
  return instance;
}

void check(fe_error* error) {
  if (error != nullptr) raise_instance(exception_of(error));
}

void raise(fe_code code, const std::string& message) { raise_instance(exception(code, message.c_str())); }

void bind_errors(py::module_& module) {
  module.def(
      "set_error_factory", [](const py::object& factory) { make_exception = factory.inc_ref().ptr(); },
      argument("factory"));
}

}  // namespace ferrule::python
