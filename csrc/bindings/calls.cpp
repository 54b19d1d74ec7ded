// Calls of traced functions: from the arguments' signature to a compiled graph, and from there to the results, without
// running Python code when all arguments are arrays.
#include "graphs.h"
#include "lending.h"

#include "parts.h"

#include <pybind11/stl.h>

#include <list>
#include <string_view>
#include <unordered_map>

namespace ferrule::python {
namespace {

// ferrule.Array, the Python class, whose one slot `_handle` holds an Array or, while tracing, a symbol.
PyTypeObject* array_class = nullptr;
PyObject* handle_name = nullptr;
PyObject* no_arguments = nullptr;
PyTypeObject* handle_class = nullptr;

// The Array inside of a Python object, or null when there is none.
Array* handle_in(PyObject* object) {
  if (Py_TYPE(object) != array_class) return nullptr;
  PyObject* const handle = PyObject_GetAttr(object, handle_name);
  if (handle == nullptr) throw py::error_already_set();
  Array* array = nullptr;
  if (Py_TYPE(handle) == handle_class)
    array = static_cast<Array*>(reinterpret_cast<py::detail::instance*>(handle)->get_value_and_holder().value_ptr());
  Py_DECREF(handle);  // the object keeps it
  return array;
}

// A new ferrule.Array; takes the reference over.
py::object wrapped(fe_array* result) {
  const py::object handle = py::cast(std::make_unique<Array>(result));
  py::object object = py::reinterpret_steal<py::object>(array_class->tp_new(array_class, no_arguments, nullptr));
  if (!object || PyObject_SetAttr(object.ptr(), handle_name, handle.ptr()) != 0) throw py::error_already_set();
  return object;
}

template <class Number>
void append(std::string& key, Number number) {
  key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

bool is_contiguous(const fe_array_info& info) {
  int64_t expected = 1;
  for (int32_t axis = info.rank; axis-- > 0; expected *= info.shape[axis])
    if (info.shape[axis] != 1 && info.strides[axis] != expected) return info.nbytes == 0;
  return true;
}

// What a graph is compiled for: where an array lies, its dtype and shape, and its strides unless it is contiguous.
void append_signature(std::string& key, Array& array) {
  const fe_array_info& info = array.info();
  append(key, array.device_id());
  append(key, info.dtype);
  append(key, info.rank);
  for (int32_t axis = 0; axis < info.rank; ++axis) append(key, info.shape[axis]);
  const bool contiguous = is_contiguous(info);
  append(key, contiguous);
  for (int32_t axis = 0; !contiguous && axis < info.rank; ++axis) append(key, info.strides[axis]);
}

class Calls {
 public:
  explicit Calls(std::size_t capacity) : capacity_(capacity == 0 ? 1 : capacity) {}

  // Key of a call: `structure` stands for all but the arrays.
  static std::string key_of(int64_t structure, std::span<Array* const> arrays) {
    make_computed(arrays);
    std::string key;
    key.reserve(8 + arrays.size() * 48);
    append(key, structure);
    for (Array* array : arrays) append_signature(key, *array);
    return key;
  }

  // The results of a call, or nothing when no graph is compiled for it.
  py::object run(int64_t structure, std::span<Array* const> arrays, std::span<const py::handle> scalars) {
    const auto found = entries_.find(key_of(structure, arrays));
    if (found == entries_.end()) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
    ++hits_;
    order_.splice(order_.begin(), order_, found->second);
    const Entry& entry = *found->second;
    const std::shared_ptr<Compiled> compiled = entry.compiled;  // another thread may evict it meanwhile
    const py::object finish = entry.finish;
    std::vector<fe_array*> handles;
    handles.reserve(arrays.size());
    for (const Array* array : arrays) handles.push_back(array->get());
    const std::vector<fe_array*> results = compute(*compiled, handles, scalars, {});
    if ((++calls_ & 15U) == 0) drain();
    if (finish.is_none()) return wrapped(results[0]);
    py::list list;
    for (fe_array* result : results) list.append(wrapped(result));
    return finish(list);
  }

  void insert(int64_t structure, const std::vector<Array*>& arrays, const std::shared_ptr<Compiled>& compiled,
              const py::object& finish) {
    ++misses_;
    --hits_;  // of the run that follows
    std::string key = key_of(structure, arrays);
    if (const auto found = entries_.find(key); found != entries_.end()) {
      order_.erase(found->second);
      entries_.erase(found);
    }
    while (order_.size() >= capacity_) {
      entries_.erase(std::string_view(order_.back().key));
      order_.pop_back();
    }
    order_.push_front({std::move(key), compiled, finish});
    entries_.emplace(order_.front().key, order_.begin());
  }

  void clear() {
    entries_.clear();
    order_.clear();
  }
  py::tuple info() const { return py::make_tuple(hits_, misses_, capacity_, order_.size()); }

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<Compiled> compiled;
    py::object finish;  // None: one array is the result; else called with the list of them
  };
  std::size_t capacity_;
  std::size_t hits_ = 0, misses_ = 0, calls_ = 0;
  std::list<Entry> order_;  // the last used first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> entries_;
};

// The call of a function whose arguments all are arrays: its structure is the number of them, negated.
PyObject* call_plain(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  try {
    constexpr Py_ssize_t most = 16;
    if (count == 0 || count > most) Py_RETURN_NOTIMPLEMENTED;
    Array* arrays[most];
    for (Py_ssize_t i = 0; i < count; ++i) {
      arrays[i] = handle_in(arguments[i]);
      if (arrays[i] == nullptr) Py_RETURN_NOTIMPLEMENTED;
    }
    auto& calls =
        *static_cast<Calls*>(reinterpret_cast<py::detail::instance*>(self)->get_value_and_holder().value_ptr());
    return calls.run(-count, std::span<Array* const>(arrays, static_cast<std::size_t>(count)), {}).release().ptr();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

PyMethodDef plain_definition = {
    "plain", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call_plain)), METH_FASTCALL,
    "plain(*arrays): the results, or NotImplemented when the call is not so plain or no graph is compiled for it"};

}  // namespace

void bind_calls(py::module_& module) {
  py::class_<Calls>(module, "Calls")
      .def(py::init<std::size_t>(), py::arg("capacity"))
      .def("plain",
           [](const py::object& self) {
             return py::reinterpret_steal<py::object>(PyCFunction_New(&plain_definition, self.ptr()));
           })
      .def(
          "run",
          [](Calls& self, int64_t structure, const std::vector<Array*>& arrays,
             const std::vector<py::object>& scalars) {
            const std::vector<py::handle> numbers(scalars.begin(), scalars.end());
            return self.run(structure, arrays, numbers);
          },
          py::arg("structure"), py::arg("arrays"), py::arg("scalars"))
      .def("insert", &Calls::insert, py::arg("structure"), py::arg("arrays"), py::arg("compiled"), py::arg("finish"))
      .def("clear", &Calls::clear)
      .def("info", &Calls::info);
  handle_class = reinterpret_cast<PyTypeObject*>(py::type::of<Array>().release().ptr());
  handle_name = PyUnicode_InternFromString("_handle");
  no_arguments = PyTuple_New(0);
  module.def(
      "set_array_class",
      [](const py::type& type) { array_class = reinterpret_cast<PyTypeObject*>(type.inc_ref().ptr()); },
      py::arg("type"));
}

}  // namespace ferrule::python
