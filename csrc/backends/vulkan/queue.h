// A queue of a device. Everything given to it is done in order, as far as can be told from the memory: where the device
// has an engine that copies, a copy goes on beside the executions that do not touch what it touches.
#pragma once

#include "staging.h"
#include "timeline.h"

namespace ferrule::vulkan {

class Queue final : public sdk::Queue {
 public:
  explicit Queue(std::shared_ptr<Context> context);
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  // Waits for its work, though not for ever.
  ~Queue() override;

  // One execution: the commands that `record` writes, after and in sight of all executions, and of all copies that
  // touch the same memory, before. When they are done, `keep_alive` is let go of, and `after` is run by who waits or
  // submits next: what it throws is the error of the next event, unless that has one already. It may not call the
  // queue, and is not run if the device was lost. Does nothing while the device is lost: the next event tells.
  void submit(const Touched& touched, const Commands::Record& record, std::shared_ptr<void> keep_alive = {},
              std::function<void()> after = {});

  // The host's memory is read, or written, when these return.
  void copy_from_host(const Allocation& to, uint64_t to_offset, const void* from, uint64_t size);
  void copy_to_host(void* to, const Allocation& from, uint64_t from_offset, uint64_t size);
  void copy(const Allocation& to, uint64_t to_offset, const Allocation& from, uint64_t from_offset, uint64_t size);
  // Repeats the pattern, of 1, 2, 4, 8 or 16 bytes, from the offset on.
  void fill(const Allocation& to, uint64_t to_offset, std::span<const std::byte> pattern, uint64_t size);

  std::unique_ptr<sdk::Event> record() override;
  void reset() override;
  void wait_for(sdk::Event& event) override;

 private:
  Moment submit_copy(const Allocation& to, uint64_t to_offset, const Allocation& from, uint64_t from_offset,
                     uint64_t size, std::shared_ptr<void> keep_alive = {});
  void fill_words(const Allocation& to, uint64_t to_offset, std::span<const std::byte> pattern, uint64_t size);
  bool settles(const Moment& moment);

  std::shared_ptr<Context> context_;
  std::shared_ptr<Timeline> timeline_;  // events share it
  Staging upload_, download_;
};

}  // namespace ferrule::vulkan
