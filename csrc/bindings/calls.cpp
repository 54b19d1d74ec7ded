// Calls of traced functions: finds the compiled graph for the arguments' signature and computes the results. If all
// arguments are arrays, no Python code runs.
#include "array_objects.h"
#include "closed_over.h"
#include "graphs.h"
#include "python_references.h"
#include "text.h"

#include "module_parts.h"

#include <structmember.h>

#include <array>
#include <cstddef>
#include <memory>
#include <unordered_set>

namespace ferrule::python {
namespace {

// The core's cache of compiled graphs, with the Python functions to call before and after each.
class Calls : public BoundClass {
 public:
  explicit Calls(std::size_t capacity) : handle_(created(capacity)) {}
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;
  ~Calls() {
    handle_.reset();
    drain();  // releases graphs that only it owned
  }

  // The results of a call; NotImplemented if no graph is compiled for it. `structure` identifies everything but the
  // arrays.
  py::object run(int64_t structure, std::span<const ArrayPointer> arrays, const py::list& numbers,
                 const Donation& donation) {
    make_computed(arrays);
    return run_computed(structure, handles_of(arrays), &numbers, donation);
  }

  // The results of a call whose arguments are all arrays; its structure is their negated number. NotImplemented if they
  // are not all arrays, or no graph is compiled for the call.
  py::object run_plain(PyObject* arguments) {
    constexpr std::size_t most = 16;
    const auto count = static_cast<std::size_t>(PyTuple_Size(arguments));
    if (count == 0 || count > most) return not_implemented();
    std::array<PyObject*, most> objects{};
    for (std::size_t i = 0; i < count; ++i) objects[i] = PyTuple_GetItem(arguments, static_cast<Py_ssize_t>(i));
    std::array<ArrayPointer, most> arrays;
    if (!handles_in(std::span(objects).first(count), arrays)) return not_implemented();
    std::array<fe_array*, most> inputs{};
    for (std::size_t i = 0; i < count; ++i) inputs[i] = arrays[i]->get();
    make_computed(std::span(arrays).first(count));
    return run_computed(-static_cast<int64_t>(count), std::span(inputs).first(count), nullptr, {});
  }

  // Adds the graph for such calls and returns the results of this one.
  py::object add(int64_t structure, const std::vector<ArrayPointer>& arrays, const py::list& numbers,
                 const std::shared_ptr<Compiled>& compiled, const py::object& operands, const py::object& finish,
                 const Donation& donation) {
    make_computed(arrays);
    const std::vector<fe_array*> inputs = handles_of(arrays);
    auto graph = std::make_unique<Graph>(Graph{compiled, operands, finish, graphs_});
    graphs_->insert(graph.get());
    fe_compiled* kept = nullptr;
    void* kept_graph = nullptr;
    check(fe_calls_add(handle_.get(), structure, inputs.data(), donation.marks_of(inputs.size()), inputs.size(),
                       compiled->handle.get(), graph.release(), release_entry, &kept, &kept_graph));
    const CompiledHandle keeps_graph(kept);
    return results_of(*static_cast<const Graph*>(kept_graph), inputs, &numbers, donation);
  }

  void clear() {
    fe_calls_clear(handle_.get());
    drain();
  }

  // For Python's collector: the functions may refer to the traced function, which refers to this object.
  int visit(visitproc visit, void* arg) const {
    for (const Graph* const graph : *graphs_) {
      Py_VISIT(graph->operands.ptr());
      Py_VISIT(graph->finish.ptr());
    }
    return 0;
  }

  py::tuple info() const {
    const auto info =
        filled<fe_calls_info>([this](fe_calls_info* out) { return fe_calls_info_get(handle_.get(), out); });
    return py::make_tuple(info.hits, info.misses, info.capacity, info.size);
  }

 private:
  struct Graph;
  using Graphs = std::unordered_set<Graph*>;  // changed with the GIL
  struct Graph {
    std::shared_ptr<Compiled> compiled;
    py::object operands;  // None: the call's numbers are the graph's first scalars; else called with their list
    py::object finish;    // None: the result is one array; else called with the lists of arrays and numbers
    std::shared_ptr<Graphs> all;
  };

  static fe_calls* created(std::size_t capacity) {
    fe_calls* calls = nullptr;
    check(fe_calls_create(capacity == 0 ? 1 : capacity, &calls));
    return calls;
  }

  static void end(void* entry) {
    const std::unique_ptr<Graph> graph(static_cast<Graph*>(entry));
    graph->all->erase(graph.get());
  }
  static void release_entry(void* graph) { with_gil_later(end, graph); }

  py::object run_computed(int64_t structure, std::span<fe_array* const> inputs, const py::list* numbers,
                          const Donation& donation) {
    fe_compiled* compiled = nullptr;
    void* graph = nullptr;
    check(fe_calls_find(handle_.get(), structure, inputs.data(), donation.marks_of(inputs.size()), inputs.size(),
                        &compiled, &graph));
    const CompiledHandle keeps_graph(compiled);
    if (graph == nullptr) return not_implemented();
    return results_of(*static_cast<const Graph*>(graph), inputs, numbers, donation);
  }

  // `numbers`: null if the call has none.
  py::object results_of(const Graph& graph, std::span<fe_array* const> inputs, const py::list* numbers,
                        const Donation& donation) {
    std::vector<py::object> scalars;
    if (numbers != nullptr) {
      const py::object operands =
          graph.operands.is_none() ? py::object(*numbers) : call_python(graph.operands, *numbers);
      for (const py::handle number : operands) scalars.push_back(py::reinterpret_borrow<py::object>(number));
    }
    if ((++calls_ & 15U) == 0) drain();
    if (graph.finish.is_none()) {
      ArrayHandle result;
      compute(*graph.compiled, inputs, scalars, {}, donation, {&result, 1});
      return wrap(std::move(result));
    }
    std::vector<ArrayHandle> results(graph.compiled->outputs);
    compute(*graph.compiled, inputs, scalars, {}, donation, results);
    py::list list;
    for (ArrayHandle& result : results) list.append(wrap(std::move(result)));
    return call_python(graph.finish, list, numbers != nullptr ? *numbers : py::list());
  }

  CallsHandle handle_;
  std::shared_ptr<Graphs> graphs_ = std::make_shared<Graphs>();  // those of which the cache or a call keeps an entry
  std::size_t calls_ = 0;
};

// The base class of the objects that ferrule.graph makes. A call tries the compiled graphs, else calls Python code.
struct TracedCall {
  PyObject_HEAD PyObject* calls;  // a Calls; null before __init__
  char is_plain;                  // whether run_plain may answer calls without keywords
};

PyTypeObject* calls_type = nullptr;

Calls* calls_in(PyObject* object) {
  if (object == nullptr || Py_TYPE(object) != calls_type) return nullptr;
  const auto held = reinterpret_cast<py::detail::instance*>(object)->get_value_and_holder();
  return held.holder_constructed() ? held.value_ptr<Calls>() : nullptr;
}

int visit_calls(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(reinterpret_cast<PyObject*>(Py_TYPE(self)));
  const Calls* const calls = calls_in(self);
  return calls == nullptr ? 0 : calls->visit(visit, arg);
}

int clear_calls(PyObject* self) {
  if (Calls* const calls = calls_in(self)) calls->clear();
  return 0;
}

PyObject* call_traced(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const fe_dtype float32 = fe_dtype_by_name("float32");
  return call_guarded([&]() -> py::object {
    const auto& traced = *reinterpret_cast<const TracedCall*>(self);
    const auto given = py::reinterpret_borrow<py::tuple>(arguments);
    const bool has_keywords = keywords != nullptr && PyDict_Size(keywords) > 0;
    // The structures of calls with another default dtype have other numbers, which only Python code knows.
    if (traced.is_plain != 0 && !has_keywords && fe_default_dtype() == float32 && reads_are_unchanged(self)) {
      const auto keeps_calls = py::reinterpret_borrow<py::object>(traced.calls);
      Calls* const calls = calls_in(traced.calls);
      if (calls == nullptr) raise(FE_INVALID_ARGUMENT, "graph: it was not initialised");
      try {
        py::object result = calls->run_plain(arguments);
        if (!result.is(not_implemented())) return result;
      } catch (const py::error_already_set& error) {
        call_python(py::handle(self).attr("_explain"), error.value(), given);  // raises a more detailed error
        throw;
      }
    }
    return call_python(py::handle(self).attr("_call"), given,
                       keywords == nullptr ? py::dict() : py::reinterpret_borrow<py::dict>(keywords));
  });
}

int visit_traced(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(reinterpret_cast<PyObject*>(Py_TYPE(self)));
  Py_VISIT(reinterpret_cast<TracedCall*>(self)->calls);
  return 0;
}

int clear_traced(PyObject* self) {
  Py_CLEAR(reinterpret_cast<TracedCall*>(self)->calls);
  return 0;
}

void end_traced(PyObject* self) {
  PyObject_GC_UnTrack(self);
  clear_traced(self);
  free_object(self);
}

py::object traced_call_type() {
  static PyMemberDef members[] = {
      {"_calls", T_OBJECT_EX, offsetof(TracedCall, calls), 0, "its compiled graphs"},
      {"_is_plain", T_BOOL, offsetof(TracedCall, is_plain), 0, "whether a call of arrays alone needs no Python code"},
      {nullptr, 0, 0, 0, nullptr},
  };
  PyType_Slot slots[] = {
      {Py_tp_call, reinterpret_cast<void*>(call_traced)},
      {Py_tp_dealloc, reinterpret_cast<void*>(end_traced)},
      {Py_tp_traverse, reinterpret_cast<void*>(visit_traced)},
      {Py_tp_clear, reinterpret_cast<void*>(clear_traced)},
      {Py_tp_members, members},
      {Py_tp_doc, const_cast<char*>("The call of a traced function.")},
      {0, nullptr},
  };
  return class_of({"ferrule._ferrule.TracedCall", sizeof(TracedCall), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots});
}

}  // namespace

void bind_calls(py::module_& module) {
  auto calls = bound_class<Calls>(module, "Calls", py::custom_type_setup([](PyHeapTypeObject* type) {
                                    type->ht_type.tp_flags |= Py_TPFLAGS_HAVE_GC;
                                    type->ht_type.tp_traverse = visit_calls;
                                    type->ht_type.tp_clear = clear_calls;
                                  }));
  calls_type = reinterpret_cast<PyTypeObject*>(calls.ptr());
  module.attr("TracedCall") = traced_call_type();
  module.def("sample_of", &sample_of, argument("array"));
  calls.def(py::init<std::size_t>(), argument("capacity"))
      .def(
          "run",
          [](Calls& self, int64_t structure, const std::vector<ArrayPointer>& arrays, const py::list& numbers,
             std::vector<uint8_t> donated, const Text& to) {
            return self.run(structure, arrays, numbers, {std::move(donated), to.string()});
          },
          argument("structure"), argument("arrays"), argument("numbers"), argument("donated") = py::tuple(),
          argument("donated_to") = "")
      .def(
          "add",
          [](Calls& self, int64_t structure, const std::vector<ArrayPointer>& arrays, const py::list& numbers,
             const std::shared_ptr<Compiled>& compiled, const py::object& operands, const py::object& finish,
             std::vector<uint8_t> donated, const Text& to) {
            return self.add(structure, arrays, numbers, compiled, operands, finish, {std::move(donated), to.string()});
          },
          argument("structure"), argument("arrays"), argument("numbers"), argument("compiled"),
          argument_or_none("operands"), argument_or_none("finish"), argument("donated") = py::tuple(),
          argument("donated_to") = "")
      .def("clear", &Calls::clear)
      .def("info", &Calls::info);
}

}  // namespace ferrule::python
