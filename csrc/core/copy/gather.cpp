#include "core/copy/gather.h"

#include "core/memory/queue.h"
#include "core/registry/device.h"

#include <atomic>

namespace ferrule {
namespace {

constinit std::atomic<GatherByGraph> by_graph{nullptr};

std::optional<StridedArray> gather_by_graph(const StridedArray& from, Device& device) {
  const GatherByGraph function = by_graph.load(std::memory_order_relaxed);
  return function ? function(from, device) : std::nullopt;
}

}  // namespace

void set_gather_by_graph(GatherByGraph function) noexcept { by_graph.store(function, std::memory_order_relaxed); }

std::optional<StridedArray> gather_on_device(const StridedArray& from) {
  Device& device = *from.data.storage->device();
  const fe_backend& table = device.table();
  if (!table.queue_create) return std::nullopt;
  if (!table.copy_strided) return gather_by_graph(from, device);
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
    return gather_by_graph(from, device);
  return to;
}

}  // namespace ferrule
