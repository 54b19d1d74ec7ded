// Calls of traced functions: from the arguments' signature to a compiled graph, and from there to the results, without
// running Python code when all arguments are arrays.
#include "graphs.h"
#include "lending.h"

#include "parts.h"

#include <pybind11/stl.h>

#include <array>
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
ArrayPointer handle_in(PyObject* object) {
  if (Py_TYPE(object) != array_class) return nullptr;
  const py::object handle = py::reinterpret_steal<py::object>(PyObject_GetAttr(object, handle_name));
  if (!handle) throw py::error_already_set();
  if (Py_TYPE(handle.ptr()) != handle_class) return nullptr;
  auto part = reinterpret_cast<py::detail::instance*>(handle.ptr())->get_value_and_holder();
  return part.holder_constructed() ? part.holder<ArrayPointer>() : nullptr;
}

// A new ferrule.Array.
py::object wrapped(ArrayHandle result) {
  const py::object handle = py::cast(std::make_shared<Array>(std::move(result)));
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
  static std::string key_of(int64_t structure, std::span<const ArrayPointer> arrays) {
    make_computed(arrays);
    std::string key;
    key.reserve(8 + arrays.size() * 48);
    append(key, structure);
    for (const ArrayPointer& array : arrays) append_signature(key, *array);
    return key;
  }

  // The results of a call, or NotImplemented when no graph is compiled for it.
  py::object run(int64_t structure, std::span<const ArrayPointer> arrays, const py::list& numbers) {
    const auto found = entries_.find(key_of(structure, arrays));
    if (found == entries_.end()) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
    ++hits_;
    order_.splice(order_.begin(), order_, found->second);
    const Graph graph = found->second->graph;  // a copy: what runs below may evict the entry
    return results_of(graph, arrays, numbers);
  }

  // Keeps the graph of such calls, and gives the results of this one.
  py::object add(int64_t structure, const std::vector<ArrayPointer>& arrays, const py::list& numbers,
                 const std::shared_ptr<Compiled>& compiled, const py::object& operands, const py::object& finish) {
    const Graph graph{compiled, operands, finish};
    std::string key = key_of(structure, arrays);
    {
      // Ends last: an entry's end may run Python code, which may call this.
      std::list<Entry> gone;
      ++misses_;
      // Another thread has traced the same meanwhile: its graph stays.
      if (const auto found = entries_.find(key); found != entries_.end()) {
        order_.splice(order_.begin(), order_, found->second);
        return results_of(Graph(found->second->graph), arrays, numbers);
      }
      while (order_.size() >= capacity_) {
        entries_.erase(order_.back().key);
        gone.splice(gone.end(), order_, std::prev(order_.end()));
      }
      order_.push_front({std::move(key), graph});
      entries_.emplace(order_.front().key, order_.begin());
    }
    return results_of(graph, arrays, numbers);
  }

  void clear() {
    decltype(order_) gone;  // ends after both are empty, as in add()
    entries_.clear();
    order_.swap(gone);
  }
  py::tuple info() const { return py::make_tuple(hits_, misses_, capacity_, order_.size()); }

 private:
  struct Graph {
    std::shared_ptr<Compiled> compiled;
    py::object operands;  // None: a call's numbers are the graph's first scalars; else called with the list of them
    py::object finish;    // None: one array is the result; else called with the list of them and that of the numbers
  };
  struct Entry {
    std::string key;
    Graph graph;
  };

  py::object results_of(const Graph& graph, std::span<const ArrayPointer> arrays, const py::list& numbers) {
    std::vector<py::object> scalars;
    const py::object operands = graph.operands.is_none() ? py::object(numbers) : graph.operands(numbers);
    for (const py::handle number : operands) scalars.push_back(py::reinterpret_borrow<py::object>(number));
    std::vector<ArrayHandle> results = compute(*graph.compiled, handles_of(arrays), scalars, {});
    if ((++calls_ & 15U) == 0) drain();
    if (graph.finish.is_none()) return wrapped(std::move(results[0]));
    py::list list;
    for (ArrayHandle& result : results) list.append(wrapped(std::move(result)));
    return graph.finish(list, numbers);
  }

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
    std::array<ArrayPointer, most> arrays;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      arrays[i] = handle_in(arguments[i]);
      if (arrays[i] == nullptr) Py_RETURN_NOTIMPLEMENTED;
    }
    auto& calls =
        *static_cast<Calls*>(reinterpret_cast<py::detail::instance*>(self)->get_value_and_holder().value_ptr());
    return calls.run(-count, std::span(arrays).first(static_cast<std::size_t>(count)), py::list()).release().ptr();
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
          [](Calls& self, int64_t structure, const std::vector<ArrayPointer>& arrays, const py::list& numbers) {
            return self.run(structure, arrays, numbers);
          },
          py::arg("structure"), py::arg("arrays"), py::arg("numbers"))
      .def("add", &Calls::add, py::arg("structure"), py::arg("arrays"), py::arg("numbers"),
           py::arg("compiled").none(false), py::arg("operands"), py::arg("finish"))
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
