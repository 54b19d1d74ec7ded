// An open device, in the SDK's interface.
#pragma once

#include "open_device/open_device.h"

namespace ferrule::metal {

class Device final : public sdk::Device {
 public:
  explicit Device(std::shared_ptr<OpenDevice> device) : device_(std::move(device)) {}
  static std::vector<sdk::OptionDescription> options();

  std::unique_ptr<sdk::Buffer> allocate(uint64_t size, uint64_t alignment) override;
  std::unique_ptr<sdk::Buffer> borrow(void* pointer, uint64_t size, fe_access access) override;
  std::pair<uint64_t, uint64_t> memory() override;
  void* host_allocate(uint64_t size) override;
  void host_free(void* pointer) override;
  std::unique_ptr<sdk::Queue> create_queue(fe_queue_kind kind) override;
  void copy_from_host(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, const void* from, uint64_t size) override;
  void copy_to_host(sdk::Queue* queue, void* to, sdk::Buffer& from, uint64_t from_offset, uint64_t size) override;
  void copy(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, sdk::Buffer& from, uint64_t from_offset,
            uint64_t size) override;
  void fill(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, std::span<const std::byte> pattern,
            uint64_t size) override;
  sdk::Support supports(const sdk::Node& node) override;
  std::unique_ptr<sdk::Executable> compile(const fe_graph_view& view) override;

 private:
  std::shared_ptr<OpenDevice> device_;
};

}  // namespace ferrule::metal
