// An open device, in the SDK's interface.
#pragma once

#include "cublaslt/products.h"
#include "device/open_device.h"
#include "nvrtc/generated_kernels.h"

namespace ferrule::cuda {

class Device final : public sdk::Device {
 public:
  explicit Device(std::shared_ptr<OpenDevice> device)
      : device_(std::move(device)), generated_(*device_), products_(*device_) {}
  static std::vector<sdk::OptionDescription> options();

  std::unique_ptr<sdk::Buffer> allocate(uint64_t size, uint64_t alignment) override;
  std::unique_ptr<sdk::Buffer> borrow(void* pointer, uint64_t size, fe_access access) override;
  std::unique_ptr<sdk::Buffer> import(const fe_native_memory& memory, uint64_t size, fe_access access) override;
  std::pair<uint64_t, uint64_t> memory() override;
  void* host_allocate(uint64_t size) override;
  void host_free(void* pointer) override;
  std::unique_ptr<sdk::Queue> create_queue(fe_queue_kind kind) override;
  void copy_from_host(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, const void* from, uint64_t size) override;
  void copy_to_host(sdk::Queue* queue, void* to, sdk::Buffer& from, uint64_t from_offset, uint64_t size) override;
  void copy(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, sdk::Buffer& from, uint64_t from_offset,
            uint64_t size) override;
  void copy_peer(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, sdk::Device& from_device, sdk::Buffer& from,
                 uint64_t from_offset, uint64_t size) override;
  void fill(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, std::span<const std::byte> pattern,
            uint64_t size) override;
  void let_native_wait(void* stream, sdk::Event& event) override;
  sdk::Support supports(const sdk::Node& node) override;
  std::unique_ptr<sdk::Executable> compile(const fe_graph_view& view) override;

 private:
  std::shared_ptr<OpenDevice> device_;
  GeneratedKernels generated_;
  LibraryProducts products_;
};

}  // namespace ferrule::cuda
