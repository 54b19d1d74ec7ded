#include "device.h"

#include "graphs/compile_graph.h"
#include "queues/event.h"
#include "queues/queue.h"

namespace ferrule::cuda {
namespace {

constexpr uint64_t most_alignment = 256;  // of the memory that the driver gives out

Queue& cast(sdk::Queue* queue) { return static_cast<Queue&>(*queue); }
Buffer& cast(sdk::Buffer& buffer) { return static_cast<Buffer&>(buffer); }

}  // namespace

std::vector<sdk::OptionDescription> Device::options() {
  return {{"memory_limit", "integer", "bytes that buffers of the device may have in all (default: 0, no limit)"},
          {"graphs", "boolean", "executables are replayed as CUDA graphs (the default)"},
          {"nvrtc", "text",
           "the file of NVRTC's library, which compiles kernels of fused ops; 0: none (default: searched)"},
          {"generate_from", "integer", "elements from which on fused ops have a kernel compiled (default: 65536)"},
          {"cublaslt", "text", "1: cuBLASLt computes matrix products; or the file of its library (default: 0)"},
          {"tf32", "boolean", "products of float32 round their operands to tf32, from compute capability 8.0 on"},
          {"out_of_memory_at", "integer", "for tests: the n-th allocation fails"},
          {"device_lost_at", "integer", "for tests: the n-th execution loses the device; its event reports it"}};
}

std::unique_ptr<sdk::Buffer> Device::allocate(uint64_t size, uint64_t alignment) {
  if (alignment > most_alignment)
    throw sdk::Error(FE_UNSUPPORTED, "CUDA aligns memory to 256 bytes, not to " + std::to_string(alignment));
  return Buffer::allocate(device_, size);
}

std::unique_ptr<sdk::Buffer> Device::borrow(void* pointer, uint64_t size, fe_access access) {
  return Buffer::borrow(device_, pointer, size, access);
}

std::unique_ptr<sdk::Buffer> Device::import(const fe_native_memory& memory, uint64_t, fe_access) {
  return Buffer::import(device_, memory);
}

std::pair<uint64_t, uint64_t> Device::memory() { return device_->free_and_total(); }

void* Device::host_allocate(uint64_t size) {
  const auto use = device_->use();
  void* pointer = nullptr;
  device_->check(cudaHostAlloc(&pointer, size, cudaHostAllocDefault), "cudaHostAlloc");
  try {
    add_host_allocation(pointer, size);
  } catch (...) {
    host_free(pointer);
    throw;
  }
  return pointer;
}

void Device::host_free(void* pointer) {
  remove_host_allocation(pointer);
  const DeviceScope scope(device_->physical().number);
  if (cudaFreeHost(pointer) != cudaSuccess) cudaGetLastError();
}

std::unique_ptr<sdk::Queue> Device::create_queue(fe_queue_kind) { return std::make_unique<Queue>(device_); }

void Device::copy_from_host(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, const void* from, uint64_t size) {
  cast(queue).copy_from_host(cast(to), to_offset, from, size);
}

void Device::copy_to_host(sdk::Queue* queue, void* to, sdk::Buffer& from, uint64_t from_offset, uint64_t size) {
  cast(queue).copy_to_host(to, cast(from), from_offset, size);
}

void Device::copy(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, sdk::Buffer& from, uint64_t from_offset,
                  uint64_t size) {
  cast(queue).copy(cast(to), to_offset, cast(from), from_offset, size);
}

void Device::copy_peer(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, sdk::Device&, sdk::Buffer& from,
                       uint64_t from_offset, uint64_t size) {
  cast(queue).copy_peer(cast(to), to_offset, cast(from), from_offset, size);
}

void Device::fill(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, std::span<const std::byte> pattern,
                  uint64_t size) {
  cast(queue).fill(cast(to), to_offset, pattern, size);
}

void Device::let_native_wait(void* stream, sdk::Event& event) {
  const auto use = device_->use();
  const auto& own = static_cast<const Event&>(event);
  if (const auto loss = own.loss()) throw *loss;  // the memory has nothing that the stream could use
  device_->check(own.let_wait(static_cast<cudaStream_t>(stream)), "cudaStreamWaitEvent");
}

sdk::Support Device::supports(const sdk::Node& node) {
  return plan_of(PlannedNode(node.view(), node.index()), device_->capabilities()).support;
}

std::unique_ptr<sdk::Executable> Device::compile(const fe_graph_view& view) {
  return compile_graph(device_, generated_, products_, view);
}

}  // namespace ferrule::cuda
