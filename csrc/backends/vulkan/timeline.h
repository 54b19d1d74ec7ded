// What a queue has submitted, by the values that a semaphore passes: who waits for which, and with what error.
#pragma once

#include <functional>
#include <list>
#include <mutex>
#include <optional>

#include "context.h"

namespace ferrule::vulkan {

// Between two resets of a queue. Its first error is that of all its work from then on.
struct Era {
  std::optional<sdk::Error> error;
  uint64_t from = 0;     // the first value that the error holds for
  bool is_lost = false;  // no value is passed any more
};

// Work is submitted by one thread at a time; any thread may wait.
class Timeline {
 public:
  using Record = std::function<void(VkCommandBuffer)>;
  struct Moment {
    uint64_t value;
    std::shared_ptr<Era> era;
    bool was_poisoned;
  };

  explicit Timeline(std::shared_ptr<Context> context);
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;
  ~Timeline();

  // Returns the value that is passed when the work is done. Without effect while there is an error: waits tell. See
  // Queue::submit.
  uint64_t submit(const Record& record, std::shared_ptr<void> keep_alive, std::function<void()> after);
  Moment now() const;
  bool has_passed(const Moment& moment);
  // Throws the error of the work up to then; FE_TIMEOUT when `timeout_ns` >= 0 passes.
  void wait(const Moment& moment, int64_t timeout_ns);

  void poison(const sdk::Error& error);
  bool is_poisoned() const;
  void reset();

 private:
  struct Submission {
    uint64_t value;
    VkCommandBuffer commands;
    std::shared_ptr<void> keep_alive;
    std::function<void()> after;
    std::shared_ptr<Era> era;
  };
  VkCommandBuffer take_commands();
  void record_into(VkCommandBuffer commands, const Record& record);
  uint64_t passed_value();
  void retire();
  static void run_after(const Submission& submission);
  void lose(const char* call);

  std::shared_ptr<Context> context_;
  VkSemaphore semaphore_ = VK_NULL_HANDLE;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  mutable std::mutex mutex_;
  uint64_t last_ = 0;
  std::shared_ptr<Era> era_ = std::make_shared<Era>();
  std::list<Submission> pending_;
  std::vector<VkCommandBuffer> free_commands_;
};

// What `from` has written before is visible to what touches it in `to` after.
void barrier(const DeviceFunctions& api, VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags written,
             VkPipelineStageFlags to, VkAccessFlags touched);
// What was submitted before, and recorded before in the same commands, is done and visible to what follows.
void full_barrier(const DeviceFunctions& api, VkCommandBuffer commands);

}  // namespace ferrule::vulkan
