// Contiguous copies of strided arrays, made by their own device in its queue.
#include "core/error.h"
#include "core/executor/executable.h"
#include "core/executor/executable_cache.h"
#include "core/executor/run.h"
#include "core/key.h"
#include "core/memory/queue.h"
#include "core/sync/immortal.h"
#include "ops/table.h"

#include <optional>
#include <string>

namespace ferrule {
namespace {

// Graphs of one node, for devices without copy_strided.
struct Gathers : ExecutableCache<std::shared_ptr<Executable>> {
  Gathers() : ExecutableCache(64) {}
};
Gathers& gathers() { return Immortal<Gathers>::get(); }

std::shared_ptr<Executable> compiled_gather(const StridedArray& from, Device& device) {
  Key key;
  key.add(&device);
  key.add(from.type);
  key.add(from.data.strides);
  if (std::shared_ptr<Executable> found = gathers().find(key.bytes())) return found;
  Graph graph;
  Node node;
  node.op = &ops::op_named("copy");
  node.attributes = ops::shared({});
  node.inputs = {graph.add_input("x", from.type, from.data.strides)};
  graph.outputs = graph.add_checked(std::move(node), std::span(&from.type, 1));
  return gathers().insert(std::string(key.bytes()),
                          build_executable(std::move(graph), device.shared_from_this(), Fallback::error, true));
}

std::optional<StridedArray> gathered_by_graph(const StridedArray& from, Device& device) {
  try {
    std::vector<StridedArray> results = compiled_gather(from, device)->compute({&from, 1}, {});
    if (is_contiguous(from.type.shape, results[0].data.strides)) return std::move(results[0]);
  } catch (const Error& error) {
    if (error.code() != FE_UNSUPPORTED) throw;
  }
  return std::nullopt;
}

}  // namespace

std::optional<StridedArray> gathered(const StridedArray& from) {
  Device& device = *from.data.storage->device();
  const fe_backend& table = device.table();
  if (!table.queue_create) return std::nullopt;
  if (!table.copy_strided) return gathered_by_graph(from, device);
  StridedArray to = new_array(device.shared_from_this(), from.type);
  const DType dtype = from.type.dtype;
  Dims shape = from.type.shape, to_strides = byte_strides_of(dtype, to.data.strides),
       from_strides = byte_strides_of(dtype, from.data.strides);
  const int last = shape.rank() - 1;
  if (block_elements(dtype) > 1) {  // copies whole blocks
    shape[last] /= block_elements(dtype);
    to_strides[last] = from_strides[last] = block_bytes(dtype);
  }
  fe_strided_copy copy{};
  copy.struct_size = sizeof copy;
  copy.to = to.data.storage->buffer();
  copy.to_offset = to.data.storage->buffer_offset();
  copy.from = from.data.storage->buffer();
  copy.from_offset = buffer_offset(from);
  copy.item_size = static_cast<uint32_t>(block_bytes(dtype));
  copy.rank = shape.rank();
  copy.shape = shape.data();
  copy.to_strides = to_strides.data();
  copy.from_strides = from_strides.data();
  Submission work(device, FE_QUEUE_COMPUTE,
                  {"a copy of " + to_string(from.type), static_cast<uint64_t>(byte_count(from.type))});
  work.reads(from.data.storage);
  work.writes(to.data.storage);
  if (!work.is_given([&](fe_module_queue* queue) { return table.copy_strided(device.open(), queue, &copy); }))
    return gathered_by_graph(from, device);
  return to;
}

void clear_gathers() { gathers().clear(); }

}  // namespace ferrule
