// An open null device.
#pragma once

#include "memory.h"
#include "queue.h"

namespace ferrule::null {

class Device final : public sdk::Device {
 public:
  static std::vector<sdk::OptionDescription> options();
  Device(const sdk::Options& options, uint32_t index, std::shared_ptr<Schedule> schedule);

  std::unique_ptr<sdk::Buffer> allocate(uint64_t size, uint64_t alignment) override;
  std::pair<uint64_t, uint64_t> memory() override { return {budget_->free(), budget_->size()}; }
  std::unique_ptr<sdk::Buffer> import(const fe_native_memory& from, uint64_t size, fe_access access) override;
  void* host_allocate(uint64_t size) override;
  void host_free(void* pointer) override;
  std::unique_ptr<sdk::Queue> create_queue(fe_queue_kind) override { return std::make_unique<Queue>(shared_); }
  void let_native_wait(void* stream, sdk::Event& event) override { static_cast<Queue*>(stream)->wait_for(event); }

  void copy_from_host(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, const void* from, uint64_t size) override;
  void copy_to_host(sdk::Queue* queue, void* to, sdk::Buffer& from, uint64_t from_offset, uint64_t size) override;
  void copy(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, sdk::Buffer& from, uint64_t from_offset,
            uint64_t size) override;
  void copy_peer(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, sdk::Device& from_device, sdk::Buffer& from,
                 uint64_t from_offset, uint64_t size) override;
  void copy_strided(sdk::Queue* queue, const sdk::StridedCopy& copy) override;
  void fill(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, std::span<const std::byte> pattern,
            uint64_t size) override;

  sdk::Support supports(const sdk::Node& node) override;
  sdk::PreparedForm prepared_form(const sdk::Node& node, uint32_t input) override;
  void prepare(const sdk::Node& node, uint32_t input, const fe_binding& from, const fe_binding& to) override;
  std::unique_ptr<sdk::Executable> compile(const fe_graph_view& view) override;

 private:
  // Gives the queue work that moves `bytes` bytes.
  void move(sdk::Queue* queue, uint64_t bytes, std::function<void()> effect);
  void move(sdk::Queue* queue, void* to, const void* from, uint64_t size);

  const uint32_t index_;
  const bool is_hidden_;
  const bool has_host_memory_;
  const std::string without_;           // the op that it does not support
  std::shared_ptr<Computer> computer_;  // null: outputs are zeros
  std::shared_ptr<MemoryBudget> budget_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace ferrule::null
