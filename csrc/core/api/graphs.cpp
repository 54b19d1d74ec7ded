// Host API: graphs.
#include "core/api/attributes.h"
#include "core/api/handles.h"
#include "core/trace/trace.h"
#include "ops/table.h"

#include <algorithm>

using namespace ferrule;

namespace {

Fallback fallback_from(const std::string& word) {
  if (word == "warn") return Fallback::warn;
  if (word == "error") return Fallback::error;
  if (word == "allow") return Fallback::allow;
  fail_argument("graph_compile: fallback is 'warn', 'error' or 'allow', not '{}'", word);
}

void check_value(const char* function, const Graph& graph, uint32_t value) {
  if (value >= graph.values.size()) fail_argument("{}: the graph has no value %{}", function, value);
}

// The inputs that a call donates. After a call their handles are marked as donated; after a failed one, those that it
// may have written to.
class Donation : public Donor {
 public:
  Donation(std::span<fe_array* const> inputs, const fe_compute_options& options) : inputs_(inputs), options_(options) {}
  Donation(const Donation&) = delete;
  Donation& operator=(const Donation&) = delete;
  std::shared_ptr<Storage> take(std::size_t input, long holders) override {
    if (options_.donated[input] == 0 || inputs_[input]->array->handles > 1) return nullptr;
    taken_.reserve(taken_.size() + 1);
    std::shared_ptr<Storage> memory = inputs_[input]->array->donate_storage(1, holders);
    if (memory) taken_.emplace_back(input, memory);
    return memory;
  }

  void failed(bool has_written) noexcept override {
    for (const auto& [number, memory] : taken_) {
      if (has_written)
        inputs_[number]->donate(name(), ", which failed while it wrote there");
      else
        inputs_[number]->array->return_storage(memory);
    }
  }

  void finish() {
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (options_.donated && options_.donated[i] != 0) inputs_[i]->donate(name(), "");
  }

 private:
  std::span<fe_array* const> inputs_;
  const fe_compute_options& options_;
  const char* name() const { return options_.donated_to ? options_.donated_to : "a call"; }

  std::vector<std::pair<std::size_t, std::shared_ptr<Storage>>> taken_;
};

}  // namespace

extern "C" {

fe_error* fe_graph_create(fe_device* device, fe_graph** out) {
  return guarded([&] {
    given(device, "graph_create", "device");
    given(out, "graph_create", "out");
    *out = std::make_unique<fe_graph>(device->device).release();
  });
}

void fe_graph_release(fe_graph* graph) { delete graph; }

fe_error* fe_graph_input(fe_graph* graph, const char* name, fe_dtype dtype, int32_t rank, const int64_t* shape,
                         const int64_t* strides, uint32_t* value) {
  return guarded([&] {
    given(graph, "graph_input", "graph");
    given(value, "graph_input", "value");
    const TensorType type{dtype_from("graph_input", dtype), shape_from("graph_input", rank, shape)};
    Strides layout = contiguous_strides(type.shape);
    if (strides) layout = Strides(std::span(strides, type.shape.size()));
    *value = graph->record([&](Graph& to, auto&) { return to.add_input(name ? name : "", type, layout); });
  });
}

fe_error* fe_graph_constant(fe_graph* graph, const char* name, fe_array* array, uint32_t* value) {
  return guarded([&] {
    given(graph, "graph_constant", "graph");
    given(value, "graph_constant", "value");
    const ArrayPointer& given_array = array_of(array, "graph_constant", "array");
    evaluate({&given_array, 1});
    const ArrayPointer constant = snapshot(given_array);
    const StridedArray bytes = constant->strided_array();
    const std::string placement = constant->placement();  // takes a lock that must not be taken inside of record()
    *value = graph->record(
        [&](Graph& to, auto&) { return to.add_constant(name ? name : "", bytes.type, bytes.data, placement); });
  });
}

fe_error* fe_graph_scalar(fe_graph* graph, fe_dtype dtype, fe_scalar value, uint32_t* value_out) {
  return guarded([&] {
    given(graph, "graph_scalar", "graph");
    given(value_out, "graph_scalar", "value");
    const DType known = dtype_from("graph_scalar", dtype);
    *value_out = graph->record([&](Graph& to, auto&) { return to.add_scalar(known, value); });
  });
}

fe_error* fe_graph_apply(fe_graph* graph, const char* op, const uint32_t* inputs, const fe_number* numbers,
                         size_t count, const fe_attribute* attributes, size_t attribute_count, fe_device* device,
                         uint32_t* outputs, size_t output_count) {
  return guarded([&] {
    given(graph, "graph_apply", "graph");
    const ops::Row& row = ops::op_named(&given(op, "graph_apply", "op"));
    check_outputs(row, outputs, output_count);
    if (count > 0) given(inputs, row.name, "inputs");
    const TraceSpan span(FE_TRACE_RECORD, row.name);
    const std::vector<ops::OperandNumber> marks = numbers_of(row, numbers, count);
    const std::vector<ops::NamedAttribute> named = attributes_of(row, attributes, attribute_count);
    graph->record([&](Graph& to, auto& others) {
      const bool is_new = device && std::find(others.begin(), others.end(), device->device) == others.end();
      if (is_new) others.push_back(device->device);
      const std::vector<ValueId> values =
          to.add_call(row, {inputs, count}, named, device ? device->device.get() : nullptr, marks);
      std::copy(values.begin(), values.end(), outputs);
    });
  });
}

fe_error* fe_graph_output(fe_graph* graph, uint32_t value) {
  return guarded([&] {
    given(graph, "graph_output", "graph").record([&](Graph& to, auto&) {
      check_value("graph_output", to, value);
      to.outputs.push_back(value);
    });
  });
}

fe_error* fe_graph_value_type(const fe_graph* graph, uint32_t value, fe_array_info* out) {
  return guarded([&] {
    const TensorType type = given(graph, "graph_value_type", "graph").read([&](const Graph& of, const auto&) {
      check_value("graph_value_type", of, value);
      return of.type(value);
    });
    fill_struct("graph_value_type", out, info_of(type, contiguous_strides(type.shape)));
  });
}

fe_error* fe_graph_text(const fe_graph* graph, const char* format, fe_string** out) {
  return guarded([&] {
    given(graph, "graph_text", "graph");
    const std::string wanted = &given(format, "graph_text", "format");
    const auto write = wanted == "text" ? to_text : wanted == "dot" ? to_dot : wanted == "json" ? to_json : nullptr;
    if (!write) fail_argument("graph_text: format is 'text', 'dot' or 'json', not '{}'", wanted);
    give_text("graph_text", out, graph->read([&](const Graph& of, const auto&) { return write(of); }));
  });
}

fe_error* fe_graph_compile(fe_graph* graph, const fe_compile_options* given_options, fe_compiled** out) {
  return guarded([&] {
    given(graph, "graph_compile", "graph");
    given(out, "graph_compile", "out");
    const auto options = read_options("graph_compile", given_options);
    const Fallback fallback = options.fallback ? fallback_from(options.fallback) : Fallback::warn;
    // A copy, as other threads may record while it is compiled.
    auto [recorded, others] = graph->read([](const Graph& of, const auto& asked) { return std::pair(of, asked); });
    for (const auto& other : others) other->open();
    const auto compiled = std::make_shared<fe_compiled::Parts>();
    compiled->device = graph->device;
    compiled->scalars = recorded.scalar_defaults;
    for (const ValueId scalar : recorded.scalars)
      compiled->scalar_dtypes.push_back(static_cast<fe_dtype>(recorded.type(scalar).dtype));
    compiled->executable =
        build_executable(std::move(recorded), graph->device, fallback, options.unfused == 0, options.guarded != 0);
    *out = new fe_compiled(compiled);
  });
}

void fe_compiled_release(fe_compiled* compiled) {
  if (compiled && --compiled->references == 0) delete compiled;
}

fe_error* fe_compiled_info_get(const fe_compiled* compiled, fe_compiled_info* out) {
  return guarded([&] {
    const fe_compiled::Parts& of = *given(compiled, "compiled_info", "compiled").parts;
    const Plan& plan = of.executable->plan();
    fill_struct("compiled_info", out,
                {sizeof(fe_compiled_info), static_cast<uint32_t>(plan.inputs.size()),
                 static_cast<uint32_t>(of.scalars.size()), static_cast<uint32_t>(plan.outputs.size())});
  });
}

fe_error* fe_compiled_scalar(const fe_compiled* compiled, uint32_t scalar, fe_dtype* dtype, fe_scalar* value) {
  return guarded([&] {
    const fe_compiled::Parts& of = *given(compiled, "compiled_scalar", "compiled").parts;
    if (scalar >= of.scalars.size())
      fail_argument("compiled_scalar: the graph has {} scalars, and none with the number {}", of.scalars.size(),
                    scalar);
    if (dtype) *dtype = of.scalar_dtypes[scalar];
    if (value) *value = of.scalars[scalar];
  });
}

fe_error* fe_compiled_plan(const fe_compiled* compiled, fe_string** json) {
  return guarded([&] {
    give_text("compiled_plan", json,
              plan_to_json(given(compiled, "compiled_plan", "compiled").parts->executable->plan()));
  });
}

fe_error* fe_compiled_placement(const fe_compiled* compiled, fe_string** json) {
  return guarded([&] {
    give_text("compiled_placement", json,
              placement_to_json(given(compiled, "compiled_placement", "compiled").parts->executable->plan()));
  });
}

fe_error* fe_compute(fe_compiled* compiled, fe_array* const* inputs, size_t input_count,
                     const fe_compute_options* given_options, fe_array** outputs, size_t output_count) {
  return guarded([&] {
    const fe_compiled::Parts& parts = *given(compiled, "compute", "compiled").parts;
    const TraceSpan span(FE_TRACE_EVALUATE, "call");
    const auto options = read_options("compute", given_options);
    RunOptions how{{options.cancel, options.cancel_argument}, options.thread_limit};
    if (input_count > 0) given(inputs, "compute", "inputs");
    if (output_count > 0) given(outputs, "compute", "outputs");
    const Plan& plan = parts.executable->plan();
    if (output_count != plan.outputs.size())
      fail_argument("compute: the graph has {} outputs, not {}", plan.outputs.size(), output_count);
    std::vector<StridedArray> views;
    views.reserve(input_count);
    for (size_t i = 0; i < input_count; ++i) {
      const ArrayPointer& array = array_of(inputs[i], "compute", "an input");
      if (array->state() != Array::State::computed) evaluate({&array, 1}, how);
      views.push_back(array->strided_array());
    }
    std::vector<fe_scalar> changed;
    std::span<const fe_scalar> values = parts.scalars;
    if (options.scalar_count > 0) {
      given(options.scalars, "compute", "scalars");
      if (options.scalar_count > parts.scalars.size())
        fail_argument("compute: the graph has {} scalars, not {}", parts.scalars.size(), options.scalar_count);
      changed = parts.scalars;
      for (size_t i = 0; i < options.scalar_count; ++i)
        changed[i] = checked_scalar(static_cast<DType>(parts.scalar_dtypes[i]), options.scalars[i]);
      values = changed;
    }
    std::vector<OutputMemory> memory;
    if (options.out_memory) {
      given(options.out_bytes, "compute", "out_bytes");
      for (size_t i = 0; i < output_count; ++i) memory.push_back({options.out_memory[i], options.out_bytes[i]});
    }
    Donation donation({inputs, input_count}, options);
    if (options.donated) how.donor = &donation;
    std::vector<StridedArray> results = parts.executable->compute(views, values, memory, how);
    donation.finish();
    for (const StridedArray& result : results)
      if (options.wait != 0 && result.data.storage) result.data.storage->finish_write(how.cancel);
    std::vector<std::unique_ptr<fe_array>> handles;
    for (size_t i = 0; i < output_count; ++i) {
      const bool written = options.out_memory && options.out_memory[i];
      handles.push_back(written ? nullptr
                                : std::make_unique<fe_array>(
                                      Array::computed(results[i].type, parts.device, std::move(results[i].data), "")));
    }
    for (size_t i = 0; i < output_count; ++i) outputs[i] = handles[i].release();
  });
}
}
