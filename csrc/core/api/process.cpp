// Host API: ops and dtypes, threads, statistics, logging, deferred work.
#include "core/api/handles.h"
#include "core/environment.h"
#include "core/executor/execution_counters.h"
#include "core/lazy/queued_releases.h"
#include "core/log.h"
#include "core/registry/module_calls.h"
#include "core/threads/pool.h"
#include "ops/sample_call.h"
#include "ops/table.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

using namespace ferrule;

namespace {

bool has_dtype_attribute(const ops::Row& row) {
  return std::any_of(row.attributes.begin(), row.attributes.begin() + row.attribute_count,
                     [](const ops::AttributeRow& attribute) { return attribute.type == ops::AttributeType::dtype; });
}

// A graph of one call with inputs of these dtypes, whose outputs are the graph's. `dtype` is that of the attribute.
Graph graph_of_call(const ops::Row& row, std::span<const DType> inputs, DType dtype) {
  int64_t unit = block_elements(dtype);  // whole blocks of all dtypes
  for (const DType input : inputs) unit = std::max<int64_t>(unit, block_elements(input));
  std::vector<ops::NamedAttribute> more;
  if (row.bounded_axis) more.push_back({"size", int64_t{1}});
  const std::optional<ops::SampleCall> call = ops::sample_call(row, inputs, dtype, unit, more);
  if (!call) fail(FE_UNSUPPORTED, "{}: takes no such dtypes", row.name);
  Graph graph;
  std::vector<ValueId> values;
  values.reserve(inputs.size());
  for (const TensorType& type : call->inputs) values.push_back(graph.add_input("", type));
  graph.outputs = graph.add_call(row, values, call->given);
  return graph;
}

}  // namespace

extern "C" {

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
    std::vector<DType> inputs;
    inputs.reserve(input_count);
    for (size_t i = 0; i < input_count; ++i) inputs.push_back(dtype_from("supports", dtypes[i]));
    // The dtype of the attribute, or of the first input.
    const DType dtype = dtype_from("supports", dtypes[input_count < count ? input_count : 0]);
    try {
      build_executable(graph_of_call(row, inputs, dtype), device->device, Fallback::error, true);
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

fe_error* fe_stats_get(fe_stats* out) {
  return guarded([&] {
    const ExecutionCounters& counters = execution_counters();
    fe_stats stats{};
    stats.compiles = counters.compiles.load();
    stats.executions = counters.executions.load();
    stats.cache_hits = counters.cache_hits.load();
    stats.transfers = counters.transfers.load();
    stats.threads = thread_count();
    fill_struct("stats", out, stats);
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
