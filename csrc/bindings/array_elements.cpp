#include "array_elements.h"

#include "array_objects.h"
#include "basic_keys.h"
#include "graphs.h"
#include "module_parts.h"
#include "python_references.h"
#include "values.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <utility>

namespace ferrule::python {
namespace {

PyObject *get_any = nullptr, *set_any = nullptr, *count_any = nullptr;  // Python functions

using Indices = std::array<int64_t, FE_MAX_RANK>;

// One integer for each axis, within its bounds; counted from 0.
bool read_index(PyObject* item, int64_t size, int64_t& index) {
  if (!PyLong_CheckExact(item)) return false;
  int overflow = 0;
  index = PyLong_AsLongLongAndOverflow(item, &overflow);
  if (overflow != 0) return false;
  if (index < 0) index += size;
  return index >= 0 && index < size;
}

// The indices of a key that chooses one element; false for any other key.
bool read_indices(PyObject* key, const fe_array_info& info, Indices& indices) {
  if (info.rank == 1 && PyLong_CheckExact(key)) return read_index(key, info.shape[0], indices[0]);
  if (!PyTuple_CheckExact(key) || PyTuple_GET_SIZE(key) != info.rank || info.rank == 0) return false;
  for (int32_t axis = 0; axis < info.rank; ++axis)
    if (!read_index(PyTuple_GET_ITEM(key, axis), info.shape[axis], indices[static_cast<std::size_t>(axis)]))
      return false;
  return true;
}

// What a call of the core gave; null, too, where it failed: Python code then raises the error, with the caller's words.
ArrayHandle given_by(fe_error* error, fe_array* out) {
  fe_error_release(error);
  return ArrayHandle(error == nullptr ? out : nullptr);
}

// The element as a new ferrule.Array; null if the core cannot read it at once.
py::object element_of(const Array& array, const Indices& indices) {
  fe_array* out = nullptr;
  fe_error* const error = fe_array_element(array.get(), indices.data(), &out);
  ArrayHandle element = given_by(error, out);
  return element ? wrap(std::move(element)) : py::object();
}

bool is_chosen_by_indices(PyObject* key) { return PyLong_CheckExact(key) || PyTuple_CheckExact(key); }

// Computes the array if its device does so at once; false for a device with queues.
bool is_computed_at_once(const ArrayPointer& array) {
  if (array->is_computed()) return true;
  fe_device* handle = nullptr;
  check(fe_array_device(array->get(), &handle));
  const DeviceHandle device(handle);
  const auto details = filled<fe_device_details>([&](auto* out) { return fe_device_details_get(device.get(), out); });
  if ((details.capabilities & FE_CAPABILITY_ASYNCHRONOUS) != 0) return false;
  evaluate(std::span(&array, 1));
  return true;
}

// The number of an array or of a Python number, in a dtype that holds it exactly or with one rounding; empty
// for what Python code converts, or refuses.
std::optional<fe_scalar> number_in(PyObject* value, fe_dtype dtype) {
  const fe_dtype_info& info = *fe_dtype_info_get(dtype);
  if (ArrayPointer other = handle_in(value)) {
    const fe_array_info of = other->info();
    if (of.rank != 0 || of.dtype != dtype) return std::nullopt;
    if (!is_computed_at_once(other)) return std::nullopt;
    fe_scalar number{};
    int is_known = 0;
    check(fe_array_number(other->get(), &number, &is_known));
    return is_known != 0 ? std::optional(number) : std::nullopt;
  }
  const bool is_float = PyFloat_Check(value) != 0, is_integer = PyLong_CheckExact(value) != 0;
  switch (info.dtype_class) {
    case FE_CLASS_FLOAT: {
      if (!is_float && !is_integer) return std::nullopt;
      const double number = PyFloat_AsDouble(value);
      if (number == -1 && PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        return std::nullopt;
      }
      const bool is_exact = is_float || std::abs(number) <= 9007199254740992.0;  // 2^53
      const double largest = info.block_bytes == 8   ? std::numeric_limits<double>::max()
                             : info.block_bytes == 4 ? std::numeric_limits<float>::max()
                                                     : 0;  // narrower formats differ in what they do above their range
      if (!is_exact || largest == 0 || (std::isfinite(number) && std::abs(number) > largest)) return std::nullopt;
      fe_scalar scalar{};
      check(fe_scalar_from(dtype, number, &scalar));
      return scalar;
    }
    case FE_CLASS_SIGNED:
    case FE_CLASS_UNSIGNED: {
      const std::optional<int64_t> number = integer_within(value, info);
      if (!number) return std::nullopt;
      fe_scalar scalar{};
      std::memcpy(scalar.bytes, &*number, info.block_bytes);  // every machine that ferrule runs on is little-endian
      return scalar;
    }
    case FE_CLASS_BOOL: {
      if (PyBool_Check(value) == 0) return std::nullopt;
      fe_scalar scalar{};
      scalar.bytes[0] = value == Py_True ? 1 : 0;
      return scalar;
    }
    default:
      return std::nullopt;
  }
}

// The number of functions that are being traced. Assignments are left to Python code meanwhile, which notes the arrays
// from outside a traced function.
int traces = 0;

// Writes one element to the memory of an array that nobody shares; false if that cannot be done, which changes nothing.
bool set_element(PyObject* self, PyObject* key, PyObject* value) {
  Operators& array = *reinterpret_cast<Operators*>(self);
  Indices indices;
  std::optional<fe_scalar> number;
  {
    const ArrayPointer handle = handle_in(self);
    if (!handle || array.view != nullptr) return false;
    const fe_array_info info = handle->info();
    if (!read_indices(key, info, indices)) return false;
    number = number_in(value, info.dtype);
    if (!number || !is_computed_at_once(handle) || array.handle != handle.ptr()) return false;
  }
  // To compute lets other threads run, which may have assigned to the array, or may use its handle.
  if (array.view != nullptr || array.handle == nullptr || Py_REFCNT(array.handle) != 1) return false;
  set_views_stale(array);  // their handles share the memory
  if (array.handle == nullptr || Py_REFCNT(array.handle) != 1) return false;
  fe_array* out = nullptr;
  fe_error* const error = fe_array_with_element(array_in(array.handle)->get(), indices.data(), *number, &out);
  ArrayHandle changed = given_by(error, out);
  if (!changed) return false;
  set_handle_of(array, array_of(std::move(changed)));
  return true;
}

// Converts exceptions as call_guarded does; -1 for an exception.
template <class Function>
int set_guarded(Function function) {
  const auto done = py::reinterpret_steal<py::object>(call_guarded([&]() -> py::object {
    function();
    return py::none();
  }));
  return done ? 0 : -1;
}

[[noreturn]] void refuse_negative_index() {
  PyErr_SetString(PyExc_IndexError, "x[key]: a negative index is out of range");
  raise_python_error();
}

// Iterates over the first axis. The elements are those that the array has when each is read, as in NumPy.
struct ElementIterator {
  PyObject_HEAD PyObject* array;  // null at the end
  Py_ssize_t next, count;
};
PyTypeObject* iterator_type = nullptr;

ElementIterator& iterator_in(PyObject* object) { return *reinterpret_cast<ElementIterator*>(object); }

int visit_iterator(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(reinterpret_cast<PyObject*>(Py_TYPE(self)));
  Py_VISIT(iterator_in(self).array);
  return 0;
}

int clear_iterator(PyObject* self) {
  Py_CLEAR(iterator_in(self).array);
  return 0;
}

void end_iterator(PyObject* self) {
  PyObject_GC_UnTrack(self);
  clear_iterator(self);
  free_object(self);
}

PyObject* next_element(PyObject* self) {
  ElementIterator& iterator = iterator_in(self);
  if (iterator.array == nullptr) return nullptr;
  if (iterator.next >= iterator.count) {
    clear_iterator(self);
    return nullptr;
  }
  return get_item_at(iterator.array, iterator.next++);
}

PyObject* length_hint(PyObject* self, PyObject*) {
  const ElementIterator& iterator = iterator_in(self);
  return PyLong_FromSsize_t(iterator.array == nullptr ? 0 : iterator.count - iterator.next);
}

py::object make_iterator_type() {
  static PyMethodDef methods[] = {
      {"__length_hint__", length_hint, METH_NOARGS, "The number of elements that are left."},
      {nullptr, nullptr, 0, nullptr},
  };
  PyType_Slot slots[] = {
      {Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
      {Py_tp_iternext, reinterpret_cast<void*>(next_element)},
      {Py_tp_methods, methods},
      {Py_tp_traverse, reinterpret_cast<void*>(visit_iterator)},
      {Py_tp_clear, reinterpret_cast<void*>(clear_iterator)},
      {Py_tp_dealloc, reinterpret_cast<void*>(end_iterator)},
      {0, nullptr},
  };
  return class_of({"ferrule._ferrule.ElementIterator", sizeof(ElementIterator), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots});
}

// The number of an array with one element as a Python number, which is computed if its device does so at once;
// NotImplemented if the core cannot read it, or NumPy converts it.
PyObject* number_plain(PyObject*, PyObject* object) {
  return call_guarded([&]() -> py::object {
    const ArrayPointer array = handle_in(object);
    if (!array) return not_implemented();
    const fe_array_info info = array->info();
    const fe_dtype_info& dtype = *fe_dtype_info_get(info.dtype);
    for (int32_t axis = 0; axis < info.rank; ++axis)
      if (info.shape[axis] != 1) return not_implemented();
    try {
      if (!is_computed_at_once(array)) return not_implemented();
    } catch (py::error_already_set& error) {
      if (error.matches(PyExc_KeyboardInterrupt)) throw;
      return not_implemented();  // Python code computes it again and raises the error in its words
    }
    fe_scalar number{};
    int is_known = 0;
    if (fe_error* const error = fe_array_number(array->get(), &number, &is_known)) {
      fe_error_release(error);
      return not_implemented();
    }
    if (is_known == 0) return not_implemented();
    const uint64_t bytes = dtype.block_bytes;
    switch (dtype.dtype_class) {
      case FE_CLASS_BOOL:
        return py::bool_(number.bytes[0] != 0);
      case FE_CLASS_UNSIGNED: {
        uint64_t value = 0;
        std::memcpy(&value, number.bytes, bytes);
        return py::int_(value);
      }
      case FE_CLASS_SIGNED: {
        int64_t value = 0;
        std::memcpy(&value, number.bytes, bytes);
        const auto unused = static_cast<int>(64 - 8 * bytes);
        return py::int_(static_cast<int64_t>(static_cast<uint64_t>(value) << unused) >> unused);
      }
      case FE_CLASS_FLOAT:
        if (bytes == 8) return py::float_(number.f64);
        if (bytes == 4) return py::float_(static_cast<double>(number.f32));
        return not_implemented();
      default:
        return not_implemented();
    }
  });
}

PyMethodDef number_definition = {"number_plain", number_plain, METH_O,
                                 "number_plain(array): the Python number of an array with one element; "
                                 "NotImplemented if that takes more than reading it"};

}  // namespace

PyObject* get_item(PyObject* self, PyObject* key) {
  return call_guarded([&]() -> py::object {
    if (is_chosen_by_indices(key))
      if (const ArrayPointer handle = handle_in(self); handle && handle->is_computed()) {
        Indices indices;
        if (read_indices(key, handle->info(), indices))
          if (py::object element = element_of(*handle.get(), indices)) return element;
      }
    if (py::object part = basic_part(self, key)) return part;
    return call_python(get_any, py::handle(self), py::handle(key));
  });
}

// Python has added the length to a negative index.
PyObject* get_item_at(PyObject* self, Py_ssize_t index) {
  return call_guarded([&]() -> py::object {
    if (index < 0) refuse_negative_index();
    const py::int_ key(index);
    return py::reinterpret_steal<py::object>(get_item(self, key.ptr()));
  });
}

int set_item(PyObject* self, PyObject* key, PyObject* value) {
  return set_guarded([&] {
    if (value == nullptr)
      raise_type_error("del x[key]: an array never loses elements; x[mask] or ferrule.concat makes one without them");
    if (traces == 0 && is_chosen_by_indices(key) && set_element(self, key, value)) return;
    call_python(set_any, py::handle(self), py::handle(key), py::handle(value));
  });
}

int set_item_at(PyObject* self, Py_ssize_t index, PyObject* value) {
  return set_guarded([&] {
    if (index < 0) refuse_negative_index();
    const py::int_ key(index);
    if (set_item(self, key.ptr(), value) != 0) raise_python_error();
  });
}

PyObject* iterate(PyObject* self) {
  return call_guarded([&]() -> py::object {
    const ArrayPointer handle = handle_in(self);
    Py_ssize_t count = 0;
    if (handle && handle->info().rank > 0) {
      count = static_cast<Py_ssize_t>(handle->info().shape[0]);
    } else {
      count = py::cast<Py_ssize_t>(call_python(count_any, py::handle(self)));
    }
    py::object iterator = new_object(iterator_type);
    iterator_in(iterator.ptr()).array = Py_NewRef(self);
    iterator_in(iterator.ptr()).count = count;
    return iterator;
  });
}

void set_item_functions(const py::function& get, const py::function& set, const py::function& iterate) {
  get_any = get.inc_ref().ptr();
  set_any = set.inc_ref().ptr();
  count_any = iterate.inc_ref().ptr();
}

void bind_array_elements(py::module_& module) {
  py::object type = make_iterator_type();
  iterator_type = reinterpret_cast<PyTypeObject*>(type.release().ptr());  // kept until the process ends
  define_function(module, number_definition);
  module.def(
      "count_trace", [](int change) { traces += change; }, argument("change"));
}

}  // namespace ferrule::python
