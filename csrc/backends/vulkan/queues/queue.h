// A queue of a device, on one of its engines. Work is done in order. The host does work itself, at once, if no pending
// work touches the same memory.
#pragma once

#include "buffers/staging.h"
#include "open_device/open_device.h"
#include "queues/timeline.h"

namespace ferrule::vulkan {

class Queue final : public sdk::Queue {
 public:
  explicit Queue(std::shared_ptr<OpenDevice> context, Engine engine = Engine::computing);
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  // Waits for its work, for a limited time.
  ~Queue() override;

  // Submits one execution: the commands that `record` writes. They run after all earlier work of the queue and see its
  // results. When they are done, `keep_alive` is released, and the next thread that waits or submits runs `after`. If
  // `after` throws, this is the error of the next event, unless that has one already. `after` may not call the queue,
  // and does not run if the device was lost. Does nothing while the device is lost; the next event reports it.
  void submit(const AllocationSet& touched, const Commands::Record& record, std::shared_ptr<void> keep_alive = {},
              std::function<void()> after = {});

  // Memory of OpenDevice::host_allocations is accessed in the queue's order. Other host memory is accessed before these
  // functions return.
  void copy_from_host(const Allocation& to, uint64_t to_offset, const void* from, uint64_t size);
  void copy_to_host(void* to, const Allocation& from, uint64_t from_offset, uint64_t size);
  void copy(const Allocation& to, uint64_t to_offset, const Allocation& from, uint64_t from_offset, uint64_t size);
  // Fills from the offset on with the pattern, of 1, 2, 4, 8 or 16 bytes.
  void fill(const Allocation& to, uint64_t to_offset, std::span<const std::byte> pattern, uint64_t size);

  // Whether executions can be traced.
  bool tells_times() const { return context_->tells_times(engine_); }

  std::unique_ptr<sdk::Event> record() override;
  void reset() override;
  void wait_for(sdk::Event& event) override;

 private:
  uint64_t submit_copy(const Allocation& to, uint64_t to_offset, const Allocation& from, uint64_t from_offset,
                       uint64_t size, std::shared_ptr<void> keep_alive = {});
  void fill_words(const Allocation& to, uint64_t to_offset, std::span<const std::byte> pattern, uint64_t size);
  bool wait_until_done(uint64_t value);
  uint64_t last_use_of(const Allocation& memory, const Allocation* host);
  void stage_upload(const Allocation& to, uint64_t to_offset, const char* from, uint64_t size);
  void stage_download(char* to, const Allocation& from, uint64_t from_offset, uint64_t size);

  std::shared_ptr<OpenDevice> context_;
  const Engine engine_;
  std::shared_ptr<Timeline> timeline_;  // shared with events
  Staging upload_, download_;
};

}  // namespace ferrule::vulkan
