// Graphs.
#include "core/api/handles.h"
#include "core/api/json_arguments.h"
#include "ops/table.h"

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

}  // namespace

extern "C" {

fe_error* fe_graph_create(fe_device* device, fe_graph** out) {
  return guarded([&] {
    given(device, "graph_create", "device");
    given(out, "graph_create", "out");
    auto graph = std::make_unique<fe_graph>();
    graph->device = device->device;
    *out = graph.release();
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
    *value = graph->graph.add_input(name ? name : "", type, layout);
  });
}

fe_error* fe_graph_constant(fe_graph* graph, const char* name, fe_array* array, uint32_t* value) {
  return guarded([&] {
    given(graph, "graph_constant", "graph");
    given(array, "graph_constant", "array");
    given(value, "graph_constant", "value");
    const ArrayPointer list[] = {array->array};
    evaluate(list);
    const ArrayPointer constant = snapshot(array->array);
    *value =
        graph->graph.add_constant(name ? name : "", constant->type(), constant->view().view, constant->placement());
  });
}

fe_error* fe_graph_scalar(fe_graph* graph, fe_dtype dtype, fe_scalar value, uint32_t* value_out) {
  return guarded([&] {
    given(graph, "graph_scalar", "graph");
    given(value_out, "graph_scalar", "value") = graph->graph.add_scalar(dtype_from("graph_scalar", dtype), value);
  });
}

fe_error* fe_graph_apply(fe_graph* graph, const char* op, const uint32_t* inputs, const uint8_t* weak, size_t count,
                         const char* attributes_json, fe_device* device, uint32_t* value) {
  return guarded([&] {
    given(graph, "graph_apply", "graph");
    given(value, "graph_apply", "value");
    const ops::Row& row = ops::op_named(&given(op, "graph_apply", "op"));
    if (count > 0) given(inputs, row.name, "inputs");
    bool flags[64] = {};
    if (weak && count > 64) fail_argument("{}: {} inputs, some of them numbers; at most 64", row.name, count);
    for (size_t i = 0; weak && i < count; ++i) flags[i] = weak[i] != 0;
    if (device) graph->others.push_back(device->device);
    *value = graph->graph.add(row, {inputs, count}, parse_attributes(row, attributes_json),
                              device ? device->device.get() : nullptr, {flags, weak ? count : 0});
  });
}

fe_error* fe_graph_output(fe_graph* graph, uint32_t value) {
  return guarded([&] {
    check_value("graph_output", given(graph, "graph_output", "graph").graph, value);
    graph->graph.outputs.push_back(value);
  });
}

fe_error* fe_graph_value_type(const fe_graph* graph, uint32_t value, fe_array_info* out) {
  return guarded([&] {
    const Graph& of = given(graph, "graph_value_type", "graph").graph;
    check_value("graph_value_type", of, value);
    given(out, "graph_value_type", "out");
    if (out->struct_size != sizeof(fe_array_info))
      fail_argument("graph_value_type: struct_size is {}, not {}", out->struct_size, sizeof(fe_array_info));
    const TensorType& type = of.type(value);
    const Strides strides = contiguous_strides(type.shape);
    *out = {};
    out->struct_size = sizeof(fe_array_info);
    out->dtype = static_cast<fe_dtype>(type.dtype);
    out->rank = type.shape.rank();
    std::copy(type.shape.begin(), type.shape.end(), out->shape);
    std::copy(strides.begin(), strides.end(), out->strides);
    out->nbytes = byte_count(type);
  });
}

fe_error* fe_graph_text(const fe_graph* graph, const char* format, fe_string** out) {
  return guarded([&] {
    const Graph& of = given(graph, "graph_text", "graph").graph;
    const std::string wanted = &given(format, "graph_text", "format");
    if (wanted == "text") return give_text("graph_text", out, to_text(of));
    if (wanted == "dot") return give_text("graph_text", out, to_dot(of));
    if (wanted == "json") return give_text("graph_text", out, to_json(of));
    fail_argument("graph_text: format is 'text', 'dot' or 'json', not '{}'", wanted);
  });
}

fe_error* fe_graph_compile(fe_graph* graph, const char* options_json, fe_compiled** out) {
  return guarded([&] {
    given(graph, "graph_compile", "graph");
    given(out, "graph_compile", "out");
    Fallback fallback = Fallback::warn;
    bool fuse = true, guard = false;
    const nlohmann::json options = parse_object("graph_compile", options_json);
    for (const auto& [key, value] : options.items()) {
      if (key == "fallback" && value.is_string())
        fallback = fallback_from(value.get<std::string>());
      else if (key == "fuse" && value.is_boolean())
        fuse = value.get<bool>();
      else if (key == "guard" && value.is_boolean())
        guard = value.get<bool>();
      else
        fail_argument("graph_compile: option {}: {} is not one; there are fallback (a string), fuse and guard (bools)",
                      key, value.dump());
    }
    for (const auto& other : graph->others) other->open();
    auto compiled = std::make_unique<fe_compiled>();
    compiled->executable = build_executable(graph->graph, graph->device, fallback, fuse, guard);
    compiled->device = graph->device;
    compiled->scalars = graph->graph.scalar_defaults;
    for (ValueId scalar : graph->graph.scalars) compiled->scalar_dtypes.push_back(graph->graph.type(scalar).dtype);
    *out = compiled.release();
  });
}

void fe_compiled_release(fe_compiled* compiled) { delete compiled; }

fe_error* fe_compiled_plan(const fe_compiled* compiled, fe_string** json) {
  return guarded([&] {
    give_text("compiled_plan", json, plan_to_json(given(compiled, "compiled_plan", "compiled").executable->plan()));
  });
}

fe_error* fe_compiled_placement(const fe_compiled* compiled, fe_string** json) {
  return guarded([&] {
    give_text("compiled_placement", json,
              placement_to_json(given(compiled, "compiled_placement", "compiled").executable->plan()));
  });
}

fe_error* fe_compute(fe_compiled* compiled, fe_array* const* inputs, size_t input_count, const fe_scalar* scalars,
                     size_t scalar_count, void* const* out_memory, const uint64_t* out_bytes, fe_array** outputs,
                     size_t output_count, fe_cancel_function cancel, void* argument) {
  return guarded([&] {
    given(compiled, "compute", "compiled");
    if (input_count > 0) given(inputs, "compute", "inputs");
    if (output_count > 0) given(outputs, "compute", "outputs");
    const Plan& plan = compiled->executable->plan();
    if (output_count != plan.outputs.size())
      fail_argument("compute: the graph has {} outputs, not {}", plan.outputs.size(), output_count);
    std::vector<TypedView> views;
    views.reserve(input_count);
    for (size_t i = 0; i < input_count; ++i) {
      const ArrayPointer& array = given(inputs[i], "compute", "an input").array;
      if (array->state() != Array::State::computed) evaluate({&array, 1}, {cancel, argument});
      views.push_back(array->view());
    }
    std::vector<fe_scalar> changed;
    std::span<const fe_scalar> values = compiled->scalars;
    if (scalars && scalar_count > 0) {
      if (scalar_count > compiled->scalars.size())
        fail_argument("compute: the graph has {} scalars, not {}", compiled->scalars.size(), scalar_count);
      changed = compiled->scalars;
      for (size_t i = 0; i < scalar_count; ++i) changed[i] = checked_scalar(compiled->scalar_dtypes[i], scalars[i]);
      values = changed;
    }
    std::vector<OutputMemory> memory;
    if (out_memory) {
      given(out_bytes, "compute", "out_bytes");
      for (size_t i = 0; i < output_count; ++i) memory.push_back({out_memory[i], out_bytes[i]});
    }
    std::vector<TypedView> results = compiled->executable->compute(views, values, memory, {cancel, argument});
    std::vector<std::unique_ptr<fe_array>> handles;
    for (size_t i = 0; i < output_count; ++i) {
      const bool written = out_memory && out_memory[i];
      handles.push_back(written ? nullptr
                                : std::make_unique<fe_array>(Array::computed(results[i].type, compiled->device,
                                                                             std::move(results[i].view), "")));
    }
    for (size_t i = 0; i < output_count; ++i) outputs[i] = handles[i].release();
  });
}
}
