// Calls of traced functions: from the arguments' signature to a compiled graph, and from there to the results, without
// running Python code when all arguments are arrays.
#include "array_objects.h"
#include "graphs.h"
#include "lending.h"
#include "text.h"

#include "parts.h"

#include <pybind11/stl.h>

#include <array>
#include <memory>

namespace ferrule::python {
namespace {

// The core's cache of compiled graphs, with what Python does before and behind each.
class Calls {
 public:
  explicit Calls(std::size_t capacity) : handle_(created(capacity)) {}
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;
  ~Calls() {
    handle_.reset();
    drain();  // the graphs that it alone had
  }

  // The results of a call, or NotImplemented when no graph is compiled for it. `structure` stands for all but the
  // arrays.
  py::object run(int64_t structure, std::span<const ArrayPointer> arrays, const py::list& numbers,
                 const Donation& donation) {
    make_computed(arrays);
    const std::vector<fe_array*> inputs = handles_of(arrays);
    fe_compiled* compiled = nullptr;
    void* graph = nullptr;
    check(fe_calls_find(handle_.get(), structure, inputs.data(), inputs.size(), &compiled, &graph));
    const CompiledHandle keeps_graph(compiled);
    if (graph == nullptr) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
    return results_of(*static_cast<const Graph*>(graph), inputs, numbers, donation);
  }

  // Keeps the graph of such calls, and gives the results of this one.
  py::object add(int64_t structure, const std::vector<ArrayPointer>& arrays, const py::list& numbers,
                 const std::shared_ptr<Compiled>& compiled, const py::object& operands, const py::object& finish,
                 const Donation& donation) {
    make_computed(arrays);
    const std::vector<fe_array*> inputs = handles_of(arrays);
    auto graph = std::make_unique<Graph>(Graph{compiled, operands, finish});
    fe_compiled* kept = nullptr;
    void* kept_graph = nullptr;
    check(fe_calls_add(handle_.get(), structure, inputs.data(), inputs.size(), compiled->handle.get(), graph.release(),
                       let_go, &kept, &kept_graph));
    const CompiledHandle keeps_graph(kept);
    return results_of(*static_cast<const Graph*>(kept_graph), inputs, numbers, donation);
  }

  void clear() {
    fe_calls_clear(handle_.get());
    drain();
  }

  py::tuple info() const {
    fe_calls_info info{};
    info.struct_size = sizeof info;
    check(fe_calls_info_get(handle_.get(), &info));
    return py::make_tuple(info.hits, info.misses, info.capacity, info.size);
  }

 private:
  struct Graph {
    std::shared_ptr<Compiled> compiled;
    py::object operands;  // None: a call's numbers are the graph's first scalars; else called with the list of them
    py::object finish;    // None: one array is the result; else called with the list of them and that of the numbers
  };

  static fe_calls* created(std::size_t capacity) {
    fe_calls* calls = nullptr;
    check(fe_calls_create(capacity == 0 ? 1 : capacity, &calls));
    return calls;
  }

  static void end(void* graph) { delete static_cast<Graph*>(graph); }
  static void let_go(void* graph) { with_gil_later(end, graph); }

  py::object results_of(const Graph& graph, std::span<fe_array* const> inputs, const py::list& numbers,
                        const Donation& donation) {
    std::vector<py::object> scalars;
    const py::object operands = graph.operands.is_none() ? py::object(numbers) : graph.operands(numbers);
    for (const py::handle number : operands) scalars.push_back(py::reinterpret_borrow<py::object>(number));
    std::vector<ArrayHandle> results = compute(*graph.compiled, inputs, scalars, {}, donation);
    if ((++calls_ & 15U) == 0) drain();
    if (graph.finish.is_none()) return wrapped(std::move(results[0]));
    py::list list;
    for (ArrayHandle& result : results) list.append(wrapped(std::move(result)));
    return graph.finish(list, numbers);
  }

  CallsHandle handle_;
  std::size_t calls_ = 0;
};

// The call of a function whose arguments all are arrays: its structure is the number of them, negated.
PyObject* call_plain(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return returned([&]() -> py::object {
    constexpr Py_ssize_t most = 16;
    if (count == 0 || count > most) return not_implemented();
    std::array<ArrayPointer, most> arrays;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      arrays[i] = handle_in(arguments[i]);
      if (!arrays[i]) return not_implemented();
    }
    auto& calls =
        *static_cast<Calls*>(reinterpret_cast<py::detail::instance*>(self)->get_value_and_holder().value_ptr());
    return calls.run(-count, std::span(arrays).first(static_cast<std::size_t>(count)), py::list(), {});
  });
}

PyMethodDef plain_definition =
    fast_method("plain", call_plain,
                "plain(*arrays): the results, or NotImplemented when the call is not so plain or no graph is compiled "
                "for it");

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
          [](Calls& self, int64_t structure, const std::vector<ArrayPointer>& arrays, const py::list& numbers,
             std::vector<uint8_t> donated, const Text& to) {
            return self.run(structure, arrays, numbers, {std::move(donated), to.string()});
          },
          py::arg("structure"), py::arg("arrays"), py::arg("numbers"), py::arg("donated") = py::tuple(),
          py::arg("donated_to") = "")
      .def(
          "add",
          [](Calls& self, int64_t structure, const std::vector<ArrayPointer>& arrays, const py::list& numbers,
             const std::shared_ptr<Compiled>& compiled, const py::object& operands, const py::object& finish,
             std::vector<uint8_t> donated, const Text& to) {
            return self.add(structure, arrays, numbers, compiled, operands, finish, {std::move(donated), to.string()});
          },
          py::arg("structure"), py::arg("arrays"), py::arg("numbers"), py::arg("compiled").none(false),
          py::arg("operands"), py::arg("finish"), py::arg("donated") = py::tuple(), py::arg("donated_to") = "")
      .def("clear", &Calls::clear)
      .def("info", &Calls::info);
}

}  // namespace ferrule::python
