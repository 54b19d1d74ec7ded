// A queue of a device: an MTLCommandQueue.
#pragma once

#include "queues/timeline.h"

namespace ferrule::metal {

class Queue final : public sdk::Queue {
 public:
  explicit Queue(std::shared_ptr<OpenDevice> device)
      : device_(std::move(device)), timeline_(std::make_shared<Timeline>(device_)) {}
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue() override;

  // Each does nothing while the device is lost; the next event reports it.
  void copy_from_host(const MemoryPointer& to, uint64_t to_offset, const void* from, uint64_t size);
  void copy_to_host(void* to, const MemoryPointer& from, uint64_t from_offset, uint64_t size);
  void copy(const MemoryPointer& to, uint64_t to_offset, const MemoryPointer& from, uint64_t from_offset,
            uint64_t size);
  void fill(const MemoryPointer& to, uint64_t to_offset, std::span<const std::byte> pattern, uint64_t size);
  // Commits the work of a graph (Timeline::submit).
  void execute(std::vector<MemoryPointer> touched, const Timeline::Encode& encode, std::shared_ptr<void> keep_alive,
               Timeline::After after);
  // Counts an execution, which fails or loses the device if tests choose it.
  void count_execution();

  std::unique_ptr<sdk::Event> record() override;
  void reset() override { timeline_->reset(); }
  void wait_for(sdk::Event& event) override;

 private:
  // The device copies between parts of buffers that do not overlap.
  uint64_t blit(const MemoryPointer& to, uint64_t to_offset, const MemoryPointer& from, uint64_t from_offset,
                uint64_t size);

  std::shared_ptr<OpenDevice> device_;
  std::shared_ptr<Timeline> timeline_;
};

}  // namespace ferrule::metal
