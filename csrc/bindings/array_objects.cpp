#include "array_objects.h"

#include "array_elements.h"
#include "array_views.h"
#include "arrays.h"
#include "basic_keys.h"
#include "graphs.h"
#include "module_parts.h"
#include "python_references.h"
#include "values.h"

#include <array>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace ferrule::python {
namespace {

PyTypeObject* array_class = nullptr;
PyObject* apply_operator = nullptr;  // a Python function

PyTypeObject* operators_class = nullptr;

Operators& operators_of(PyObject* object) { return *reinterpret_cast<Operators*>(object); }

// The same, of an argument that may be any object.
Operators& checked_operators_of(PyObject* object) {
  if (PyType_IsSubtype(Py_TYPE(object), operators_class) == 0) raise_type_error("takes a ferrule.Array");
  return operators_of(object);
}

// The handle, which is not null.
py::object existing_handle_of(PyObject* self) {
  PyObject* const handle = handle_of(operators_of(self));
  if (handle == nullptr) {
    PyErr_SetString(PyExc_AttributeError, "_handle");
    raise_python_error();
  }
  return py::reinterpret_borrow<py::object>(handle);
}

PyObject* get_handle(PyObject* self, void*) {
  return call_guarded([self] { return existing_handle_of(self); });
}

int give_handle(PyObject* self, PyObject* handle, void*) {
  set_handle_of(operators_of(self), py::reinterpret_borrow<py::object>(handle));
  return 0;
}

PyObject* get_shape(PyObject* self, void*) {
  return call_guarded([self]() -> py::object {
    const py::object handle = existing_handle_of(self);
    if (array_in(handle.ptr()) == nullptr) return handle.attr("shape");  // traced: a Python object
    const auto array = py::reinterpret_borrow<ArrayPointer>(handle);
    return shape_tuple(array->info());
  });
}

int visit_operators(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(reinterpret_cast<PyObject*>(Py_TYPE(self)));
  Py_VISIT(operators_of(self).handle);
  return visit_view(operators_of(self), visit, arg);
}

int clear_operators(PyObject* self) {
  forget_view(operators_of(self));
  Py_CLEAR(operators_of(self).handle);
  return 0;
}

void end_operators(PyObject* self) {
  PyObject_GC_UnTrack(self);
  clear_operators(self);
  free_object(self);
}

void set_array_class(const py::type& type, const py::function& apply, const py::function& make_view,
                     const py::function& get, const py::function& set, const py::function& iterate,
                     const py::function& make_key, const py::function& join_steps, const py::type& read_only) {
  auto* const given = reinterpret_cast<PyTypeObject*>(type.ptr());
  if (PyType_IsSubtype(given, operators_class) == 0) raise_type_error("set_array_class: takes a class of Operators");
  array_class = reinterpret_cast<PyTypeObject*>(type.inc_ref().ptr());
  apply_operator = apply.inc_ref().ptr();
  set_view_maker(make_view);
  set_read_only_step(read_only);
  set_item_functions(get, set, iterate);
  set_key_functions(make_key, join_steps);
}

// The attributes that NumPy looks up on each object before it calls `__array__`, and the texts of the errors. Python's
// own error costs more than all else of numpy.asarray(x).
struct Probe {
  PyObject* name;
  PyObject* error;
};
std::array<Probe, 2> probes{};

Probe probe(const char* name) {
  return {PyUnicode_InternFromString(name), PyUnicode_FromFormat("'Array' object has no attribute '%s'", name)};
}

PyObject* get_attribute(PyObject* self, PyObject* name) {
  if (Py_TYPE(self) == array_class)
    for (const Probe& probe : probes)
      if (name == probe.name) {
        PyErr_SetObject(PyExc_AttributeError, probe.error);
        return nullptr;
      }
  PyObject* const found = PyObject_GenericGetAttr(self, name);
  if (found != nullptr || PyErr_ExceptionMatches(PyExc_AttributeError) == 0) return found;
  if (PyUnicode_GET_LENGTH(name) == 0 || PyUnicode_READ_CHAR(name, 0) == '_') return nullptr;
  py::error_already_set error;
  if (PyObject_HasAttr(reinterpret_cast<PyObject*>(Py_TYPE(self)), name) != 0) {  // the error is the property's own
    error.restore();
    return nullptr;
  }
  return running_python([&] { return PyObject_CallMethod(self, "_explain_missing", "O", name); });
}

bool is_plain_number(PyObject* object) {
  return PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyBool_Check(object);
}

bool is_plain_numpy_array(PyObject* object) {
  return is_numpy_array(object) && py::reinterpret_borrow<NumpyArray>(object).is_plain();
}

// Whether an op's operands are all bools, of which the op has no sums and products, but NumPy's has: Python code
// records other ops for them.
bool is_left_to_python(std::string_view op, std::span<PyObject* const> operands, std::span<const ArrayPointer> arrays) {
  if (op != "add" && op != "multiply" && op != "matmul") return false;
  static const fe_dtype boolean = fe_dtype_by_name("bool");
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool is_bool = arrays[i] ? arrays[i]->info().dtype == boolean : PyBool_Check(operands[i]) != 0;
    if (!is_bool) return false;
  }
  return true;
}

// Records an op with one output and returns the new array; NotImplemented if an operand is neither an array nor a
// number, and for attributes that the core refuses, which Python code may convert. It releases the GIL, because
// recording may compute.
py::object try_apply(const char* op, std::span<PyObject* const> operands, const CallAttributes* attributes = nullptr) {
  constexpr std::size_t most = 8;
  const std::size_t count = operands.size();
  if (count > most) return not_implemented();
  std::array<ArrayPointer, most> arrays;  // owned, because `x[key] = value` may replace the handle of x
  std::array<fe_array*, most> handles{};
  std::array<fe_number, most> numbers{};
  const ArrayPointer* first = nullptr;
  bool has_number = false, has_numpy = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (is_plain_number(operands[i])) {
      has_number = true;
    } else if (is_plain_numpy_array(operands[i])) {
      has_numpy = true;
    } else {
      arrays[i] = handle_in(operands[i]);
      if (!arrays[i]) return not_implemented();
      if (first == nullptr) first = &arrays[i];
    }
  }
  if (first == nullptr) return not_implemented();
  for (std::size_t i = 0; has_numpy && i < count; ++i)
    if (is_numpy_array(operands[i])) arrays[i] = beside(*first->get(), py::reinterpret_borrow<NumpyArray>(operands[i]));
  for (std::size_t i = 0; i < count; ++i)
    if (arrays[i]) handles[i] = arrays[i]->get();
  try {
    for (std::size_t i = 0; i < count; ++i)
      if (!arrays[i]) numbers[i] = number_of(op, operands[i]);
  } catch (const py::error_already_set&) {
    return not_implemented();  // Python code raises the error, unless the op takes the truth of any int
  }
  fe_array* out = nullptr;
  fe_error* const error = without_gil([&] {
    return fe_array_apply(op, handles.data(), has_number ? numbers.data() : nullptr, count,
                          attributes == nullptr ? nullptr : attributes->data(),
                          attributes == nullptr ? 0 : attributes->size(), &out, 1);
  });
  const bool is_refused = error != nullptr && attributes != nullptr && fe_error_code(error) != FE_CANCELLED;
  if (error != nullptr && (is_refused || is_left_to_python(op, operands, arrays))) {
    fe_error_release(error);
    return not_implemented();
  }
  check(error);
  return wrap(ArrayHandle(out));
}

PyObject* apply_plain(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return call_guarded([&]() -> py::object {
    if (count == 0) return not_implemented();
    const char* const op = PyUnicode_AsUTF8AndSize(arguments[0], nullptr);
    if (op == nullptr) raise_python_error();
    return try_apply(op, std::span(arguments + 1, static_cast<std::size_t>(count) - 1));
  });
}

PyObject* apply_with(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return call_guarded([&]() -> py::object {
    constexpr const char* message = "apply_with: takes the name of an op, its operands, and a dict of attributes";
    if (count != 3 || PyUnicode_Check(arguments[0]) == 0 || PyDict_Check(arguments[2]) == 0) raise_type_error(message);
    if (!PyTuple_CheckExact(arguments[1]) || !CallAttributes::are_plain(arguments[2])) return not_implemented();
    const char* const op = PyUnicode_AsUTF8AndSize(arguments[0], nullptr);
    if (op == nullptr) raise_python_error();
    std::optional<CallAttributes> attributes;
    try {
      attributes.emplace(py::reinterpret_borrow<py::dict>(arguments[2]));
    } catch (const std::exception&) {
      return not_implemented();  // a number that does not fit: Python code raises the error in its words
    }
    const auto operand_count = static_cast<std::size_t>(PyTuple_GET_SIZE(arguments[1]));
    return try_apply(op, std::span(&PyTuple_GET_ITEM(arguments[1], 0), operand_count), &*attributes);
  });
}

// The operators of Array, as slots of the type, so that recording needs no Python code. Operands that cannot be
// recorded directly are passed to a Python function with the name of the op.
struct Operator {
  const char* op;
  int slot;
};
constexpr Operator binary_operators[] = {
    {"add", Py_nb_add},
    {"subtract", Py_nb_subtract},
    {"multiply", Py_nb_multiply},
    {"divide", Py_nb_true_divide},
    {"floor_divide", Py_nb_floor_divide},
    {"remainder", Py_nb_remainder},
    {"bitwise_left_shift", Py_nb_lshift},
    {"bitwise_right_shift", Py_nb_rshift},
    {"bitwise_and", Py_nb_and},
    {"bitwise_or", Py_nb_or},
    {"bitwise_xor", Py_nb_xor},
};
constexpr Operator unary_operators[] = {
    {"negative", Py_nb_negative},
    {"abs", Py_nb_absolute},
    {"bitwise_invert", Py_nb_invert},
};

template <class... Operands>
PyObject* operate(const char* op, Operands*... operand) {
  return call_guarded([&]() -> py::object {
    PyObject* const operands[] = {operand...};
    py::object result = try_apply(op, operands);
    if (!result.is(not_implemented())) return result;
    return call_python(apply_operator, py::str(op), py::handle(operand)...);
  });
}

bool is_matrix(PyObject* object) {
  if (is_plain_numpy_array(object)) return py::reinterpret_borrow<NumpyArray>(object).shape().size() >= 2;
  const ArrayPointer array = handle_in(object);
  return array && array->info().rank >= 2;
}

// Whether an op of the core compares the operands exactly; Python code makes other ops of the rest: integers of 64 bits
// with and without a sign, and integers with floats and with ints that their dtype does not have.
bool are_compared_as_they_are(PyObject* left, PyObject* right) {
  const auto is_integer = [](const fe_dtype_info& dtype) {
    return dtype.dtype_class == FE_CLASS_SIGNED || dtype.dtype_class == FE_CLASS_UNSIGNED;
  };
  const ArrayPointer first = handle_in(left), second = handle_in(right);
  if (!first && !second) return false;
  const fe_dtype dtype = (first ? first : second)->info().dtype;
  const fe_dtype_info& info = *fe_dtype_info_get(dtype);
  if (first && second) {
    const fe_dtype other = second->info().dtype;
    return dtype == other || !is_integer(info) || !is_integer(*fe_dtype_info_get(other));
  }
  PyObject* const number = first ? right : left;
  if (info.dtype_class == FE_CLASS_FLOAT) return is_plain_number(number);
  return is_integer(info) && integer_within(number, info).has_value();
}

// In the order of Py_LT to Py_GE.
constexpr const char* comparisons[] = {"less", "less_equal", "equal", "not_equal", "greater", "greater_equal"};
static_assert(Py_LT == 0 && Py_LE == 1 && Py_EQ == 2 && Py_NE == 3 && Py_GT == 4 && Py_GE == 5);

PyObject* compare(PyObject* left, PyObject* right, int order) {
  return call_guarded([&]() -> py::object {
    const char* const op = comparisons[order];
    PyObject* const operands[] = {left, right};
    if (are_compared_as_they_are(left, right)) {
      py::object result = try_apply(op, operands);
      if (!result.is(not_implemented())) return result;
    }
    return call_python(apply_operator, py::str(op), py::handle(left), py::handle(right));
  });
}

template <std::size_t number>
PyObject* operate_binary(PyObject* left, PyObject* right) {
  return operate(binary_operators[number].op, left, right);
}
template <std::size_t number>
PyObject* operate_unary(PyObject* x) {
  return operate(unary_operators[number].op, x);
}
PyObject* operate_power(PyObject* base, PyObject* exponent, PyObject* modulus) {
  if (modulus != Py_None) return Py_NewRef(Py_NotImplemented);
  return operate("pow", base, exponent);
}
// The op takes matrices and stacks of them; the Python function also takes vectors, and refuses numbers.
PyObject* operate_matmul(PyObject* left, PyObject* right) {
  return call_guarded([&]() -> py::object {
    PyObject* const operands[] = {left, right};
    if (is_matrix(left) && is_matrix(right)) {
      py::object result = try_apply("matmul", operands);
      if (!result.is(not_implemented())) return result;
    }
    return call_python(apply_operator, py::str("matmul"), py::handle(left), py::handle(right));
  });
}

// The memory of the elements, read-only, for memoryview() and bytearray(): that of the NumPy array that `__array__`
// gives without a copy; it is computed if need be. NumPy, too, asks for it, before it calls `__array__`: it passes
// PyBUF_FULL_RO, as memoryview() and bytearray() do, drops every error and then calls `__array__`. So nothing is
// computed for that request: a failure would be lost, or an interrupt.
int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  static PyObject* const extension = PyImport_AddModule("ferrule._ferrule");
  static PyObject* const view_plain = PyUnicode_InternFromString("view_plain");
  view->obj = nullptr;
  auto array = py::reinterpret_steal<py::object>(PyObject_CallMethodOneArg(extension, view_plain, self));
  if (array && array.is(not_implemented())) {
    bool may_read = flags != PyBUF_FULL_RO;
    if ((flags & PyBUF_WRITABLE) != 0) {
      may_read = false;
      PyErr_SetString(PyExc_ValueError, "buffer source array is read-only");  // as NumPy says it
    } else if (!may_read) {
      const auto is_ready = py::reinterpret_steal<py::object>(PyObject_GetAttrString(self, "is_ready"));
      may_read = is_ready.ptr() == Py_True;
      if (is_ready.ptr() == Py_False)
        PyErr_SetString(PyExc_BufferError, "the array is not computed: call ferrule.eval(x)");
    }
    const auto method =
        py::reinterpret_steal<py::object>(may_read ? PyObject_GetAttrString(self, "__array__") : nullptr);
    array = py::reinterpret_steal<py::object>(
        method ? PyObject_CallFunctionObjArgs(method.ptr(), Py_None, Py_False, nullptr) : nullptr);
  }
  return array ? PyObject_GetBuffer(array.ptr(), view, flags) : -1;
}

template <std::size_t... binary, std::size_t... unary>
py::object make_operators(std::index_sequence<binary...>, std::index_sequence<unary...>) {
  static PyGetSetDef properties[] = {
      {"_handle", get_handle, give_handle, "The array's handle.", nullptr},
      {"shape", get_shape, nullptr, "The number of elements along each axis.", nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr},
  };
  PyType_Slot slots[] = {
      {binary_operators[binary].slot, reinterpret_cast<void*>(operate_binary<binary>)}...,
      {unary_operators[unary].slot, reinterpret_cast<void*>(operate_unary<unary>)}...,
      {Py_nb_power, reinterpret_cast<void*>(operate_power)},
      {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
      {Py_nb_matrix_multiply, reinterpret_cast<void*>(operate_matmul)},
      {Py_mp_subscript, reinterpret_cast<void*>(get_item)},
      {Py_mp_ass_subscript, reinterpret_cast<void*>(set_item)},
      {Py_sq_item, reinterpret_cast<void*>(get_item_at)},
      {Py_sq_ass_item, reinterpret_cast<void*>(set_item_at)},
      {Py_tp_iter, reinterpret_cast<void*>(iterate)},
      {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
      {Py_tp_getattro, reinterpret_cast<void*>(get_attribute)},
      {Py_tp_getset, properties},
      {Py_tp_traverse, reinterpret_cast<void*>(visit_operators)},
      {Py_tp_clear, reinterpret_cast<void*>(clear_operators)},
      {Py_tp_dealloc, reinterpret_cast<void*>(end_operators)},
      {Py_tp_doc, const_cast<char*>("The handle, the shape and the operators of ferrule.Array.")},
      {0, nullptr},
  };
  return class_of({"ferrule._ferrule.Operators", sizeof(Operators), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots});
}

PyObject* evaluate_plain(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return call_guarded([&]() -> py::object {
    constexpr Py_ssize_t most = 8;
    if (count > most) return not_implemented();
    std::array<ArrayPointer, most> arrays;
    if (!handles_in(std::span(arguments, static_cast<std::size_t>(count)), arrays)) return not_implemented();
    evaluate(std::span(arrays).first(static_cast<std::size_t>(count)));
    drain();
    return py::none();
  });
}

// Atomically replaces the handle of an array that is no view, if the handle is still the expected one.
PyObject* replace_handle(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return call_guarded([&]() -> py::object {
    if (count != 3) raise_type_error("replace_handle: takes an array and two handles");
    Operators& array = checked_operators_of(arguments[0]);
    if (array.view != nullptr || array.handle != arguments[1]) return py::bool_(false);
    set_handle_of(array, py::reinterpret_borrow<py::object>(arguments[2]));
    return py::bool_(true);
  });
}

PyObject* make_view_of(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return call_guarded([&]() -> py::object {
    if (count != 4 || !PyTuple_Check(arguments[2]))
      raise_type_error("make_view: takes two arrays, a tuple of steps and a handle");
    make_view(checked_operators_of(arguments[0]), checked_operators_of(arguments[1]),
              py::reinterpret_borrow<py::tuple>(arguments[2]), arguments[3]);
    return py::reinterpret_borrow<py::object>(arguments[0]);
  });
}

PyObject* view_of(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return call_guarded([&]() -> py::object {
    if (count != 1) raise_type_error("view_of: takes an array");
    Operators& array = checked_operators_of(arguments[0]);
    if (array.view != nullptr) handle_of(array);  // ends views that nobody can tell from arrays of their own
    if (array.view == nullptr) return py::none();
    return py::make_tuple(py::handle(array.view->base), py::handle(array.view->steps));
  });
}

PyMethodDef apply_with_definition = fast_method(
    "apply_with", apply_with, "apply_with(op, operands, attributes): like apply_plain, with plain attributes");
PyMethodDef apply_definition =
    fast_method("apply_plain", apply_plain,
                "apply_plain(op, *operands): applies an op with one output and no attributes to arrays and Python "
                "numbers, at least one of which is an array; NotImplemented if an operand is neither");
PyMethodDef evaluate_definition =
    fast_method("evaluate_plain", evaluate_plain,
                "evaluate_plain(*arrays): computes arrays; NotImplemented if one is not an array");

PyMethodDef replace_definition =
    fast_method("replace_handle", replace_handle,
                "replace_handle(array, before, after): replaces the handle if it is `before`; returns whether it was");
PyMethodDef make_view_definition =
    fast_method("make_view", make_view_of,
                "make_view(array, base, steps, seen): makes the array, which was cut from the base when that had the "
                "handle `seen`, a view of it; returns it");
PyMethodDef view_of_definition =
    fast_method("view_of", view_of, "view_of(array): the base and the steps of a view; None of other arrays");

}  // namespace

ArrayPointer handle_in(PyObject* object) {
  if (Py_TYPE(object) != array_class) return {};
  PyObject* const handle = handle_of(operators_of(object));
  if (handle == nullptr || array_in(handle) == nullptr) return {};
  return py::reinterpret_borrow<ArrayPointer>(handle);
}

bool handles_in(std::span<PyObject* const> objects, std::span<ArrayPointer> handles) {
  for (std::size_t i = 0; i < objects.size(); ++i) {
    handles[i] = handle_in(objects[i]);
    if (!handles[i]) return false;
  }
  return true;
}

py::object wrap(ArrayHandle result) {
  ArrayPointer handle = array_of(std::move(result));
  py::object object = new_object(array_class);
  operators_of(object.ptr()).handle = handle.release().ptr();
  return object;
}

void bind_array_objects(py::module_& module) {
  module.def("set_array_class", &set_array_class, argument("type"), argument("apply_operator"), argument("make_view"),
             argument("get_item"), argument("set_item"), argument("iterate"), argument("make_key"),
             argument("join_steps"), argument("read_only"));
  module.def(
      "end_view", [](py::handle array) { end_view(checked_operators_of(array.ptr())); }, argument("array"),
      "Makes a view an array of its own, with its present value.");
  module.def(
      "views_of", [](py::handle array) { return views_of(checked_operators_of(array.ptr())); }, argument("array"),
      "The views of an array.");
  py::object operators = make_operators(std::make_index_sequence<std::size(binary_operators)>(),
                                        std::make_index_sequence<std::size(unary_operators)>());
  operators_class = reinterpret_cast<PyTypeObject*>(operators.ptr());
  module.attr("Operators") = operators.release();  // kept until the process ends
  probes = {probe("__array_struct__"), probe("__array_interface__")};
  define_function(module, apply_definition);
  define_function(module, apply_with_definition);
  define_function(module, evaluate_definition);
  define_function(module, replace_definition);
  define_function(module, make_view_definition);
  define_function(module, view_of_definition);
}

}  // namespace ferrule::python
