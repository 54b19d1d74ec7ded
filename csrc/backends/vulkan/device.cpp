#include "device.h"

#include "buffers/device_memory.h"
#include "buffers/host_allocations.h"
#include "graphs/compile_graph.h"
#include "queues/queue.h"

namespace ferrule::vulkan {
namespace {

Queue& cast(sdk::Queue* queue) { return static_cast<Queue&>(*queue); }
const Allocation& allocation_of(sdk::Buffer& buffer) { return static_cast<Buffer&>(buffer).allocation(); }

}  // namespace

std::vector<sdk::OptionDescription> Device::options() {
  return {{"validate", "boolean", "Vulkan's validation layer checks each call, and logs what it finds as errors"},
          {"subgroups", "boolean", "kernels exchange values within subgroups (the default) where the device can"},
          {"cooperative_matrices", "text",
           "no (the default); yes: float16 matrices are multiplied by the device's matrix units, in an order of their "
           "own; simulated: by shaders that only look as if, for tests"},
          {"idle_pipelines", "integer",
           "number of compiled shaders kept after their last graph, most recently used first (default: 128)"},
          {"out_of_memory_at", "integer", "for tests: the n-th allocation fails"},
          {"device_lost_at", "integer", "for tests: the n-th execution loses the device; its event reports it"},
          {"shader_fails_at", "integer", "for tests: the driver cannot compile the n-th shader that graphs ask for"}};
}

std::unique_ptr<sdk::Buffer> Device::allocate(uint64_t size, uint64_t alignment) {
  Faults& faults = context_->faults();
  const int64_t number = ++faults.allocations;
  if (number == faults.out_of_memory_at)
    throw sdk::Error(FE_OUT_OF_MEMORY, context_->physical().description.name + " has no " + std::to_string(size) +
                                           " bytes left at allocation " + std::to_string(number) + ", as requested");
  return std::make_unique<Buffer>(context_->memory().allocate(size, alignment, Use::device));
}

std::unique_ptr<sdk::Buffer> Device::borrow(void* pointer, uint64_t size, fe_access) {
  return std::make_unique<Buffer>(context_->memory().borrow(pointer, size));
}

std::pair<uint64_t, uint64_t> Device::memory() { return context_->memory().free_and_total(); }

void* Device::host_allocate(uint64_t size) { return context_->host_allocations().allocate(size); }

void Device::host_free(void* pointer) { context_->host_allocations().free(pointer); }

std::unique_ptr<sdk::Queue> Device::create_queue(fe_queue_kind kind) {
  const Engine engine = kind == FE_QUEUE_UPLOAD     ? Engine::uploading
                        : kind == FE_QUEUE_DOWNLOAD ? Engine::downloading
                                                    : Engine::computing;
  return std::make_unique<Queue>(context_, engine);
}

void Device::copy_from_host(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, const void* from, uint64_t size) {
  cast(queue).copy_from_host(allocation_of(to), to_offset, from, size);
}

void Device::copy_to_host(sdk::Queue* queue, void* to, sdk::Buffer& from, uint64_t from_offset, uint64_t size) {
  cast(queue).copy_to_host(to, allocation_of(from), from_offset, size);
}

void Device::copy(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, sdk::Buffer& from, uint64_t from_offset,
                  uint64_t size) {
  cast(queue).copy(allocation_of(to), to_offset, allocation_of(from), from_offset, size);
}

void Device::fill(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, std::span<const std::byte> pattern,
                  uint64_t size) {
  cast(queue).fill(allocation_of(to), to_offset, pattern, size);
}

sdk::Support Device::supports(const sdk::Node& node) {
  return supports_node(*context_, PlannedNode(node.view(), node.index()));
}

std::unique_ptr<sdk::Executable> Device::compile(const fe_graph_view& view) { return compile_graph(context_, view); }

}  // namespace ferrule::vulkan
