// The public functions and methods of the Python package. They forward calls to functions written in Python, and add
// advice to Python's error for a call that does not fit the function's signature. Everything else about them is as of
// the function itself: `isinstance(f, types.FunctionType)` is true, and help() and inspect.signature() describe it.
#include "array_handle.h"
#include "bound_classes.h"

#include "module_parts.h"

#include <structmember.h>

#include <cstddef>
#include <string>

namespace ferrule::python {
namespace {

struct PublicFunction {
  PyObject_HEAD vectorcallfunc call;
  PyObject* function;
  PyObject* module;  // the name of the module from which users import it
  PyObject* weak_references;
};

PyTypeObject* public_function_class = nullptr;
PyObject* advise = nullptr;  // ferrule.text.argument_names.advice; kept until the process ends

PublicFunction& public_function_of(PyObject* object) { return *reinterpret_cast<PublicFunction*>(object); }

// Raises the error of a call again, with advice if the function never ran: then the error has no traceback yet.
[[noreturn]] void raise_with_advice(PyObject* function, PyObject* const* arguments, std::size_t count,
                                    PyObject* names) {
  py::error_already_set error;
  if (error.trace() || advise == nullptr) throw error;
  py::tuple positional(count);
  for (std::size_t i = 0; i < count; ++i) positional[i] = py::handle(arguments[i]);
  const py::object advice = call_python(py::handle(advise), py::handle(function), positional,
                                        names == nullptr ? py::tuple() : py::reinterpret_borrow<py::tuple>(names));
  raise_type_error((py::cast<std::string>(py::str(error.value())) + py::cast<std::string>(advice)).c_str());
}

PyObject* call_function(PyObject* self, PyObject* const* arguments, std::size_t count, PyObject* names) {
  PyObject* const function = public_function_of(self).function;
  PyObject* const result = running_python([&] { return PyObject_Vectorcall(function, arguments, count, names); });
  if (result != nullptr || PyErr_ExceptionMatches(PyExc_TypeError) == 0) return result;
  return call_guarded([&]() -> py::object {
    raise_with_advice(function, arguments, static_cast<std::size_t>(PyVectorcall_NARGS(count)), names);
  });
}

PyObject* get_attribute(PyObject* self, PyObject* name) {
  const PublicFunction& called = public_function_of(self);
  if (PyUnicode_Check(name) == 0) return PyObject_GetAttr(called.function, name);  // it raises the error
  if (PyUnicode_CompareWithASCIIString(name, "__module__") == 0) return Py_NewRef(called.module);
  if (PyUnicode_CompareWithASCIIString(name, "__wrapped__") == 0) return Py_NewRef(called.function);
  return PyObject_GetAttr(called.function, name);
}

// help() reads this one by object.__getattribute__.
PyObject* get_documentation(PyObject* self, void*) {
  return PyObject_GetAttrString(public_function_of(self).function, "__doc__");
}

int set_attribute(PyObject* self, PyObject* name, PyObject* value) {
  return PyObject_SetAttr(public_function_of(self).function, name, value);
}

// A method of the object, if a class has the function.
PyObject* bind(PyObject* self, PyObject* object, PyObject*) {
  return object == nullptr || object == Py_None ? Py_NewRef(self) : PyMethod_New(self, object);
}

PyObject* represent(PyObject* self) { return PyObject_Repr(public_function_of(self).function); }

int visit(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(reinterpret_cast<PyObject*>(Py_TYPE(self)));
  Py_VISIT(public_function_of(self).function);
  return 0;
}

// There is no tp_clear: that of the function breaks cycles, and a call always finds a function.
void end(PyObject* self) {
  PyObject_GC_UnTrack(self);
  PyObject_ClearWeakRefs(self);
  Py_CLEAR(public_function_of(self).function);
  Py_CLEAR(public_function_of(self).module);
  free_object(self);
}

py::object make_class() {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(PublicFunction, call), READONLY, nullptr},
      {"__weaklistoffset__", T_PYSSIZET, offsetof(PublicFunction, weak_references), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr},
  };
  static PyGetSetDef properties[] = {
      {"__doc__", get_documentation, nullptr, nullptr, nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr},
  };
  PyType_Slot slots[] = {
      {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
      {Py_tp_getattro, reinterpret_cast<void*>(get_attribute)},
      {Py_tp_setattro, reinterpret_cast<void*>(set_attribute)},
      {Py_tp_descr_get, reinterpret_cast<void*>(bind)},
      {Py_tp_repr, reinterpret_cast<void*>(represent)},
      {Py_tp_traverse, reinterpret_cast<void*>(visit)},
      {Py_tp_dealloc, reinterpret_cast<void*>(end)},
      {Py_tp_members, members},
      {Py_tp_getset, properties},
      {0, nullptr},
  };
  return class_of({"ferrule._ferrule.PublicFunction", sizeof(PublicFunction), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
                   slots});
}

// A function that has several names for users has one object; the first name counts.
py::object public_object(const py::object& object, const py::str& module) {
  static py::handle known = py::dict().release();  // by function; kept until the process ends, as functions are
  if (!PyFunction_Check(object.ptr())) return object;
  if (PyObject* const found = PyDict_GetItemWithError(known.ptr(), object.ptr()))
    return py::reinterpret_borrow<py::object>(found);
  py::object made = new_object(public_function_class);
  PublicFunction& parts = public_function_of(made.ptr());
  parts.call = call_function;
  parts.function = py::object(object).release().ptr();
  parts.module = py::object(module).release().ptr();
  if (PyDict_SetItem(known.ptr(), object.ptr(), made.ptr()) != 0) raise_python_error();
  return made;
}

}  // namespace

void bind_public_functions(py::module_& module) {
  py::object made = make_class();
  public_function_class = reinterpret_cast<PyTypeObject*>(made.ptr());
  module.attr("PublicFunction") = made.release();  // kept until the process ends
  module.def("public", &public_object, argument_or_none("object"), argument("module"),
             "The public function that calls a function written in Python; any other object unchanged.");
  module.def(
      "set_call_advice", [](const py::object& function) { advise = function.inc_ref().ptr(); }, argument("function"));
}

}  // namespace ferrule::python
