// Graphs under construction, and compiled graphs.
#include "graphs.h"

#include "environment.h"
#include "interruption.h"
#include "numpy_array.h"
#include "python_references.h"
#include "text.h"
#include "values.h"

#include "module_parts.h"

#include <array>
#include <memory>
#include <optional>

namespace ferrule::python {
namespace {

// Marks the weak inputs of an op, which promote like numbers; empty if `weak` is. Raises invalid_argument unless `weak`
// is empty or has one entry per input.
std::vector<fe_number> marks_of(const std::vector<bool>& weak, std::size_t inputs) {
  if (!weak.empty() && weak.size() != inputs)
    raise(FE_INVALID_ARGUMENT, "weak has " + std::to_string(weak.size()) + " marks for " + std::to_string(inputs) +
                                   " inputs, and must have one for each or none");
  std::vector<fe_number> marks(weak.size());
  for (std::size_t i = 0; i < weak.size(); ++i) marks[i].kind = weak[i] ? FE_NUMBER_WEAK : FE_NUMBER_NONE;
  return marks;
}

class Graph : public BoundClass {
 public:
  explicit Graph(const Device& device) {
    fe_graph* handle = nullptr;
    check(fe_graph_create(device.get(), &handle));
    handle_.reset(handle);
  }

  uint32_t input(const Text& name, py::handle dtype, py::handle sizes, const py::object& element_strides) {
    const std::vector<int64_t> shape = shape_of(sizes);
    std::vector<int64_t> strides;
    if (!element_strides.is_none()) strides = shape_of(element_strides);
    if (!element_strides.is_none() && strides.size() != shape.size())
      raise(FE_INVALID_ARGUMENT, "input '" + name.string() + "' needs a stride for each dimension");
    uint32_t value = 0;
    check(fe_graph_input(handle_.get(), name.c_str(), dtype_of(dtype), static_cast<int32_t>(shape.size()), shape.data(),
                         element_strides.is_none() ? nullptr : strides.data(), &value));
    return value;
  }

  uint32_t constant(const Text& name, const ArrayPointer& array) {
    const ArrayPointer arrays[] = {array};
    make_computed(arrays);
    fe_array* const handle = handles_of(arrays)[0];
    uint32_t value = 0;
    check(without_gil([&] { return fe_graph_constant(handle_.get(), name.c_str(), handle, &value); }));
    return value;
  }

  uint32_t scalar(py::handle dtype, py::handle number) {
    const fe_dtype id = dtype_of(dtype);
    const fe_scalar bytes = scalar_of(number, id);
    uint32_t value = 0;
    check(fe_graph_scalar(handle_.get(), id, bytes, &value));
    return value;
  }

  // Records an op and returns the values of its outputs.
  std::vector<uint32_t> apply(const Text& op, const std::vector<uint32_t>& inputs, const std::vector<bool>& weak,
                              const py::dict& attributes, const Device* device) {
    const std::vector<fe_number> marks = marks_of(weak, inputs.size());
    const CallAttributes given(attributes);
    std::vector<uint32_t> values(std::max<std::size_t>(fe_op_output_count(op.c_str()), 1));
    check(fe_graph_apply(handle_.get(), op.c_str(), inputs.data(), marks.empty() ? nullptr : marks.data(),
                         inputs.size(), given.data(), given.size(), device == nullptr ? nullptr : device->get(),
                         values.data(), values.size()));
    return values;
  }

  void output(uint32_t value) { check(fe_graph_output(handle_.get(), value)); }

  py::tuple type(uint32_t value) const {
    const auto info =
        filled<fe_array_info>([&](fe_array_info* out) { return fe_graph_value_type(handle_.get(), value, out); });
    return py::make_tuple(numpy_dtype(info.dtype), shape_tuple(info));
  }

  std::string text(const Text& format) const {
    fe_string* string = nullptr;
    check(fe_graph_text(handle_.get(), format.c_str(), &string));
    return take_text(string);
  }

  std::shared_ptr<Compiled> compile(const Text& fallback, bool fuse, bool guard) const {
    auto compiled = std::make_shared<Compiled>();
    fe_compile_options options{};
    options.struct_size = sizeof options;
    options.fallback = fallback.c_str();
    options.unfused = fuse ? 0 : 1;
    options.guarded = guard ? 1 : 0;
    fe_compiled* handle = nullptr;
    check(without_gil_reading_environment([&] { return fe_graph_compile(handle_.get(), &options, &handle); }));
    compiled->handle.reset(handle);
    // The compiled graph decides: another thread may have recorded more nodes since.
    const auto info =
        filled<fe_compiled_info>([&](fe_compiled_info* out) { return fe_compiled_info_get(handle, out); });
    compiled->outputs = info.output_count;
    compiled->scalar_dtypes.resize(info.scalar_count);
    compiled->scalar_defaults.resize(info.scalar_count);
    for (uint32_t i = 0; i < info.scalar_count; ++i)
      check(fe_compiled_scalar(handle, i, &compiled->scalar_dtypes[i], &compiled->scalar_defaults[i]));
    drain();
    return compiled;
  }

 private:
  GraphHandle handle_;
};

// Whether something was computed: the first computation reads the number of threads from the environment.
bool has_computed = false;

// compute(arrays, scalars, out): returns the list of new arrays, with None for each result that was written to `out`.
py::list call(const std::shared_ptr<Compiled>& compiled, const std::vector<ArrayPointer>& arrays,
              const std::vector<py::object>& scalars, const std::optional<std::vector<NumpyArray>>& out) {
  make_computed(arrays);
  const std::vector<fe_array*> handles = handles_of(arrays);
  std::vector<Destination> destinations;
  if (out) {
    if (out->size() != compiled->outputs)
      raise(FE_INVALID_ARGUMENT,
            "out: the graph has " + std::to_string(compiled->outputs) + " outputs, not " + std::to_string(out->size()));
    for (const NumpyArray& array : *out)
      destinations.push_back({array.mutable_data(), static_cast<uint64_t>(array.byte_size())});
  }
  std::vector<ArrayHandle> results(compiled->outputs);
  compute(*compiled, handles, scalars, destinations, {}, results);
  py::list list;
  for (ArrayHandle& result : results) {
    if (out)
      list.append(py::none());
    else
      list.append(array_of(std::move(result)));
  }
  drain();
  return list;
}

void compute_by(fe_error* (*function)(fe_array* const*, size_t, fe_cancel_function, void*),
                const std::vector<fe_array*>& arrays) {
  Interruption interruption;
  interruption.check(without_gil_reading_environment_once(
      has_computed, [&] { return function(arrays.data(), arrays.size(), Interruption::poll, &interruption); }));
}

// Raises invalid_argument if one is None.
bool are_computed(std::span<const ArrayPointer> arrays) {
  bool are = true;
  for (const ArrayPointer& array : arrays) are = require_array(array).is_computed() && are;
  return are;
}

std::string json_of(const Compiled& compiled, fe_error* (*get)(const fe_compiled*, fe_string**)) {
  fe_string* text = nullptr;
  check(get(compiled.handle.get(), &text));
  return take_text(text);
}

}  // namespace

std::vector<ArrayPointer> arrays_in(PyObject* sequence) {
  const auto items = py::reinterpret_steal<py::object>(PySequence_Fast(sequence, "takes a sequence of arrays"));
  if (!items) raise_python_error();
  std::vector<ArrayPointer> arrays;
  arrays.reserve(static_cast<std::size_t>(PySequence_Fast_GET_SIZE(items.ptr())));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.ptr()); ++i) {
    PyObject* const item = PySequence_Fast_GET_ITEM(items.ptr(), i);
    if (!ArrayPointer::check_(item)) raise_type_error("takes a sequence of arrays");
    arrays.push_back(py::reinterpret_borrow<ArrayPointer>(item));
  }
  return arrays;
}

Array& require_array(const ArrayPointer& pointer) {
  Array* const array = pointer.get();
  if (array == nullptr) raise(FE_INVALID_ARGUMENT, "one of the arrays is None");
  return *array;
}

std::vector<fe_array*> handles_of(std::span<const ArrayPointer> arrays) {
  std::vector<fe_array*> handles;
  handles.reserve(arrays.size());
  for (const ArrayPointer& array : arrays) handles.push_back(require_array(array).get());
  return handles;
}

void make_computed(std::span<const ArrayPointer> arrays) {
  if (!are_computed(arrays)) submit(arrays);
}

void submit(std::span<const ArrayPointer> arrays) { compute_by(fe_submit, handles_of(arrays)); }

void evaluate(std::span<const ArrayPointer> arrays) {
  const std::vector<fe_array*> handles = handles_of(arrays);
  if (fe_is_ready(handles.data(), handles.size()) != 1) compute_by(fe_eval, handles);
}

const uint8_t* Donation::marks_of(std::size_t inputs) const {
  if (marks.empty()) return nullptr;
  if (marks.size() != inputs)
    raise(FE_INVALID_ARGUMENT, "there are " + std::to_string(marks.size()) + " marks of donated inputs for " +
                                   std::to_string(inputs) + " inputs");
  return marks.data();
}

void compute(const Compiled& compiled, std::span<fe_array* const> inputs, std::span<const py::object> scalars,
             std::span<const Destination> destinations, const Donation& donation, std::span<ArrayHandle> results) {
  std::vector<fe_scalar> values;
  if (!scalars.empty()) {
    values = compiled.scalar_defaults;
    if (scalars.size() > values.size()) raise(FE_INVALID_ARGUMENT, "more scalars than the graph has");
    for (std::size_t i = 0; i < scalars.size(); ++i) values[i] = scalar_of(scalars[i], compiled.scalar_dtypes[i]);
  }
  std::vector<void*> memory;
  std::vector<uint64_t> bytes;
  for (const Destination& destination : destinations) {
    memory.push_back(destination.memory);
    bytes.push_back(destination.bytes);
  }
  std::array<fe_array*, 4> few{};
  std::vector<fe_array*> many(results.size() > few.size() ? results.size() : 0, nullptr);
  fe_array** const made = many.empty() ? few.data() : many.data();
  Interruption interruption;
  fe_compute_options options{};
  options.struct_size = sizeof options;
  options.scalars = values.data();
  options.scalar_count = values.size();
  options.out_memory = destinations.empty() ? nullptr : memory.data();
  options.out_bytes = bytes.data();
  options.donated = donation.marks_of(inputs.size());
  options.donated_to = donation.to.c_str();
  options.cancel = Interruption::poll;
  options.cancel_argument = &interruption;
  fe_error* const error = without_gil_reading_environment_once(has_computed, [&] {
    return fe_compute(compiled.handle.get(), inputs.data(), inputs.size(), &options, made, results.size());
  });
  for (std::size_t i = 0; i < results.size(); ++i) results[i].reset(made[i]);
  interruption.check(error);
}

void bind_graphs(py::module_& module) {
  bound_class<Graph>(module, "Graph")
      .def(py::init<const Device&>(), argument("device"))
      .def("input", &Graph::input, argument("name"), argument_or_none("dtype"), argument_or_none("shape"),
           argument_or_none("strides"))
      .def("constant", &Graph::constant, argument("name"), argument_or_none("array"))
      .def("scalar", &Graph::scalar, argument_or_none("dtype"), argument_or_none("value"))
      .def("apply", &Graph::apply, argument("op"), argument("inputs"), argument("weak"), argument("attributes"),
           argument_or_none("device"))
      .def("output", &Graph::output, argument("value"))
      .def("type", &Graph::type, argument("value"))
      .def("text", &Graph::text, argument("format"))
      .def("compile", &Graph::compile, argument("fallback"), argument("fuse"), argument("guard"));
  bound_class<Compiled, std::shared_ptr<Compiled>>(module, "Compiled")
      .def("compute", &call, argument("arrays"), argument("scalars"), argument_or_none("out"))
      .def("plan", [](const Compiled& self) { return json_of(self, fe_compiled_plan); })
      .def("placement", [](const Compiled& self) { return json_of(self, fe_compiled_placement); });
}

}  // namespace ferrule::python
