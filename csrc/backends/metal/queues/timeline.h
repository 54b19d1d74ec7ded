// The work of a queue: command buffers in the order of their commits, and the events between them.
#pragma once

#include <ferrule/cpp/timeline.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "open_device/open_device.h"

namespace ferrule::metal {

// An encoder that was just made, which may be null: messages to null do nothing, and results would be wrong.
inline Id checked_encoder(Id encoder) {
  if (encoder == nullptr) throw sdk::Error(FE_OUT_OF_MEMORY, "metal: a command buffer makes no encoder");
  return encoder;
}

// See sdk::Timeline.
struct Submissions {
  // It stays alive until the work is done. Two buffers may have the same bytes.
  struct Touched {
    std::vector<MemoryPointer> memory;
    bool intersects(const Touched& other) const;
  };
  struct Work {
    Owned commands;                     // an MTLCommandBuffer
    std::optional<sdk::Error> failure;  // that tests ask for
  };
  using Encode = std::function<void(Id command_buffer)>;
  // Gets the times of the work in nanoseconds of the host's clock.
  using After = std::function<void(uint64_t begin_ns, uint64_t end_ns)>;
  struct Signal {
    std::shared_ptr<OpenDevice> device;
    Owned event;  // an MTLSharedEvent, whose value is the number of the last work done
  };
  using Time = uint64_t;  // nanoseconds of the host's clock
};
using EventSpan = sdk::EventSpan<Submissions::Time>;

class Timeline final : public sdk::Timeline<Submissions> {
 public:
  explicit Timeline(std::shared_ptr<OpenDevice> device);

  // ---- for one thread at a time: the one that uses the queue

  // For tests: the next work ends with this error, like a command buffer that fails: its event is not signaled.
  void fail_next(sdk::Error error) { failure_ = std::move(error); }
  std::shared_ptr<const EventSpan> record() override;
  // Also waits for the work of a lost device, which may still access memory.
  void reset() override;

  // ---- thread-safe

  bool has_passed(uint64_t number) override;
  void pass(uint64_t number, int64_t timeout_ns) override;
  uint64_t time(const EventSpan& span) override;

 private:
  std::string label() const override { return "metal: a queue of " + device_->name(); }
  bool shares_device(const sdk::Timeline<Submissions>& other) const override {
    return device_ == static_cast<const Timeline&>(other).device_;
  }
  bool start(Submission& submission, const Submissions::Encode& encode) override;
  std::shared_ptr<const sdk::Error> loss() const override;
  uint64_t passed() override;
  void finish(Submission& submission, uint64_t& time) override;
  // Waits until some of the work up to that number is over.
  void wait_for_next(uint64_t number);

  const std::shared_ptr<OpenDevice> device_;
  Owned queue_;                        // an MTLCommandQueue
  std::optional<sdk::Error> failure_;  // of the next work
  std::mutex signaling_;               // guards the next member, and commits
  uint64_t committed_ = 0;             // the number of the last work that signals the event
};

}  // namespace ferrule::metal
