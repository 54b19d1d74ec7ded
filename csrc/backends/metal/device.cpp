#include "device.h"

#include "graphs/compile_graph.h"
#include "queues/queue.h"

namespace ferrule::metal {
namespace {

Queue& cast(sdk::Queue* queue) { return static_cast<Queue&>(*queue); }
const MemoryPointer& memory_of(sdk::Buffer& buffer) { return static_cast<Buffer&>(buffer).memory(); }

// Metal's buffers begin at a page.
constexpr uint64_t most_alignment = 4096;

}  // namespace

std::vector<sdk::OptionDescription> Device::options() {
  return {{"archive_bytes", "integer",
           "the largest archive of compiled pipelines that is kept on disk (60 MiB); 0: none is read or written"},
          {"blit_bytes", "integer", "for tests: the most bytes that the device copies or fills at once (1 GiB)"},
          {"out_of_memory_at", "integer", "for tests: the n-th allocation fails"},
          {"device_lost_at", "integer", "for tests: the n-th execution loses the device; its event reports it"},
          {"execution_fails_at", "integer", "for tests: the n-th execution fails; its event reports it"},
          {"library_fails_at", "integer", "for tests: the n-th kernel that graphs ask for cannot be compiled"}};
}

std::unique_ptr<sdk::Buffer> Device::allocate(uint64_t size, uint64_t alignment) {
  Faults& faults = device_->faults();
  const int64_t number = ++faults.allocations;
  if (number == faults.out_of_memory_at)
    throw sdk::Error(FE_OUT_OF_MEMORY, device_->name() + " has no " + std::to_string(size) +
                                           " bytes left at allocation " + std::to_string(number) + ", as requested");
  if (alignment > most_alignment)
    throw sdk::Error(FE_UNSUPPORTED, "metal: memory is aligned to " + std::to_string(most_alignment) +
                                         " bytes, not to " + std::to_string(alignment));
  return std::make_unique<Buffer>(metal::allocate(device_->physical(), size, Place::device));
}

std::unique_ptr<sdk::Buffer> Device::borrow(void* pointer, uint64_t size, fe_access) {
  return std::make_unique<Buffer>(device_->borrowed_memory().lease(device_->physical(), pointer, size));
}

std::pair<uint64_t, uint64_t> Device::memory() {
  const AutoreleasePool pool;
  const uint64_t total = device_->physical().description.total_memory;
  const auto used = send<Unsigned>(device_->device(), Message::current_allocated_size);
  return {total - std::min<uint64_t>(total, used), total};
}

void* Device::host_allocate(uint64_t size) {
  return device_->host_allocations().add(metal::allocate(device_->physical(), size, Place::shared));
}

void Device::host_free(void* pointer) { device_->host_allocations().remove(pointer); }

std::unique_ptr<sdk::Queue> Device::create_queue(fe_queue_kind) { return std::make_unique<Queue>(device_); }

void Device::copy_from_host(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, const void* from, uint64_t size) {
  cast(queue).copy_from_host(memory_of(to), to_offset, from, size);
}

void Device::copy_to_host(sdk::Queue* queue, void* to, sdk::Buffer& from, uint64_t from_offset, uint64_t size) {
  cast(queue).copy_to_host(to, memory_of(from), from_offset, size);
}

void Device::copy(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, sdk::Buffer& from, uint64_t from_offset,
                  uint64_t size) {
  cast(queue).copy(memory_of(to), to_offset, memory_of(from), from_offset, size);
}

void Device::fill(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, std::span<const std::byte> pattern,
                  uint64_t size) {
  cast(queue).fill(memory_of(to), to_offset, pattern, size);
}

sdk::Support Device::supports(const sdk::Node& node) {
  return plan_of(PlannedNode(node.view(), node.index()), device_->physical().capabilities).support;
}

std::unique_ptr<sdk::Executable> Device::compile(const fe_graph_view& view) { return compile_graph(device_, view); }

}  // namespace ferrule::metal
