// Host API: the op set, threads, statistics, logging, deferred work.
#include "core/api/handles.h"
#include "core/environment.h"
#include "core/lazy/queued_releases.h"
#include "core/log.h"
#include "core/registry/module_calls.h"
#include "core/threads/pool.h"
#include "ops/describe.h"
#include "base/json_text.h"
#include "ops/table.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

using namespace ferrule;

namespace {

// Values for the required attributes that suit a first input of this shape.
std::vector<ops::NamedAttribute> plausible_attributes(const ops::Row& row, DType dtype, const Shape& shape) {
  std::vector<ops::NamedAttribute> attributes;
  if (row.bounded_axis) attributes.push_back({"size", int64_t{1}});
  for (std::size_t i = 0; i < row.attribute_count; ++i) {
    const ops::AttributeRow& attribute = row.attributes[i];
    const std::string name = attribute.name;
    if (!attribute.required) continue;
    // `size` is that of the shapes below, and of a real transform of as many elements.
    if (attribute.type == ops::AttributeType::integer)
      attributes.push_back({name, int64_t{name == "size" && row.input_count > 0 ? 2 : 1}});
    if (attribute.type == ops::AttributeType::dtype) attributes.push_back({name, dtype});
    if (attribute.type != ops::AttributeType::integers) continue;
    std::vector<int64_t> list(shape.size(), 1);  // suits part sizes, steps and padding
    if (name == "shape" || name == "sizes") list.assign(shape.begin(), shape.end());
    if (name == "axes") std::iota(list.rbegin(), list.rend(), 0);
    if (name == "starts") list.assign(shape.size(), 0);
    attributes.push_back({name, list});
  }
  return attributes;
}

bool has_dtype_attribute(const ops::Row& row) {
  return std::any_of(row.attributes.begin(), row.attributes.begin() + row.attribute_count,
                     [](const ops::AttributeRow& attribute) { return attribute.type == ops::AttributeType::dtype; });
}

// A graph of one call with inputs of these dtypes, in the first of some shapes that the op's rule accepts; its outputs
// are the graph's.
Graph plausible_graph(const ops::Row& row, std::span<const DType> inputs, DType dtype, int64_t size) {
  const Shape square{size, size}, line{size}, none{};
  // Shapes of the first input, the others and the last, in order: for products and elementwise ops, for attention with
  // a length, for compress, for ops with scalars, for update_slice, for scatter, for bincount, for arange.
  const std::array<Shape, 3> candidates[] = {{square, square, square}, {square, square, none}, {square, line, line},
                                             {line, none, none},       {line, line, none},     {square, line, square},
                                             {line, line, line},       {none, none, none}};
  for (const auto& [first, others, last] : candidates) {
    Graph graph;
    std::vector<ValueId> values;
    values.reserve(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i)
      values.push_back(graph.add_input("", {inputs[i], i == 0 ? first : i + 1 < inputs.size() ? others : last}));
    try {
      graph.outputs = graph.add_call(row, values, plausible_attributes(row, dtype, first));
      return graph;
    } catch (const Error& error) {
      if (error.code() != FE_INVALID_ARGUMENT) throw;
    }
  }
  fail(FE_UNSUPPORTED, "{}: takes no such dtypes", row.name);
}

}  // namespace

extern "C" {

fe_error* fe_ops(fe_string** json) {
  return guarded([&] { give_text("ops", json, ops::describe_ops()); });
}

size_t fe_op_output_count(const char* op) {
  const ops::Row* const row = op ? ops::find_op(op) : nullptr;
  return row ? row->output_count : 0;
}

fe_dtype fe_dtype_by_name(const char* name) {
  const DTypeRow* const row = name ? find_dtype(std::string_view(name)) : nullptr;
  return row ? static_cast<fe_dtype>(row->dtype) : 0;
}
const char* fe_dtype_name(fe_dtype dtype) {
  const DTypeRow* const row = find_dtype(dtype);
  return row ? row->name : nullptr;
}
const fe_dtype_info* fe_dtype_info_get(fe_dtype dtype) { return info_of(dtype); }

fe_error* fe_supports(fe_device* device, const char* op, const fe_dtype* dtypes, size_t count, int* out) {
  return guarded([&] {
    given(device, "supports", "device");
    given(out, "supports", "out") = 0;
    const ops::Row& row = ops::op_named(&given(op, "supports", "op"));
    if (count > 0) given(dtypes, row.name, "dtypes");
    if (count == 0) fail_argument("supports: {} needs the dtype of an input", row.name);
    const size_t input_count = count == row.input_count + 1 && has_dtype_attribute(row) ? count - 1 : count;
    int64_t size = 2;  // of each axis: whole blocks of all dtypes
    for (size_t i = 0; i < count; ++i) size = std::max(size, block_elements(dtype_from("supports", dtypes[i])));
    std::vector<DType> inputs;
    inputs.reserve(input_count);
    for (size_t i = 0; i < input_count; ++i) inputs.push_back(dtype_from("supports", dtypes[i]));
    // The dtype of the attribute, or of the first input.
    const DType dtype = dtype_from("supports", dtypes[input_count < count ? input_count : 0]);
    try {
      build_executable(plausible_graph(row, inputs, dtype, size), device->device, Fallback::error, true);
      *out = 1;
    } catch (const Error& error) {
      if (error.code() != FE_UNSUPPORTED && error.code() != FE_INVALID_ARGUMENT) throw;
    }
  });
}

fe_error* fe_set_thread_count(uint32_t count) {
  return guarded([&] { set_thread_count(count); });
}
uint32_t fe_thread_count(void) { return thread_count(); }

fe_error* fe_stats(fe_string** json) {
  return guarded([&] {
    const ExecutionCounters& counters = execution_counters();
    JsonText stats;
    stats.begin_object()
        .member("compiles", counters.compiles.load())
        .member("executions", counters.executions.load())
        .member("cache_hits", counters.cache_hits.load())
        .member("transfers", counters.transfers.load())
        .member("threads", thread_count())
        .end_object();
    give_text("stats", json, stats.take());
  });
}

void fe_set_log_callback(fe_log_callback callback, void* argument) {
  set_log_callback(callback, argument, LogDelivery::queued);
}
void fe_set_log_level(fe_log_level level) { set_log_level(level); }
size_t fe_drain(void) { return drain_releases() + drain_log(); }
void* fe_get_proc(const char* name) {
  const std::string_view wanted = name ? name : "";
  if (wanted == FE_SET_LOAD_STEP_CALLBACK) return reinterpret_cast<void*>(&set_step_callback);
#if !defined(_WIN32)
  if (wanted == FE_SET_THREAD_ENVIRONMENT) return reinterpret_cast<void*>(&set_thread_environment);
#endif
  return nullptr;
}
}
