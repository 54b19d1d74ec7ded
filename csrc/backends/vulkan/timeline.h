// What a queue has submitted, by the values that semaphores pass: who waits for which, and with what error.
#pragma once

#include <list>
#include <optional>

#include "commands.h"
#include "touched.h"

namespace ferrule::vulkan {

// Between two resets of a queue. Its first error is that of all its work from then on.
struct Era {
  std::optional<sdk::Error> error;
  uint64_t from = 0;     // the first value that the error holds for
  bool is_lost = false;  // no value is passed any more
};

// Work is submitted by one thread at a time; any thread may wait. All of it is numbered as it comes; each engine has a
// semaphore that passes the numbers of its own work. An engine does one thing after the other, and waits for the other
// engine only where its work touches the same memory.
class Timeline {
 public:
  struct Moment {
    std::array<uint64_t, most_engines> values{};  // by Engine; 0 where nothing is to be waited for
    std::shared_ptr<Era> era = {};
    bool was_poisoned = false;

    uint64_t end() const { return *std::max_element(values.begin(), values.end()); }
  };

  explicit Timeline(std::shared_ptr<Context> context);
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;
  ~Timeline();

  // Returns when this work is done. Without effect while there is an error: waits tell. Work of an engine that the
  // device does not have is the computing one's. See Queue::submit.
  Moment submit(Engine engine, const Touched& touched, const Commands::Record& record, std::shared_ptr<void> keep_alive,
                std::function<void()> after);
  // When all is done that was submitted so far; and when that is done which touches this memory.
  Moment now() const;
  Moment last_use(const Touched& touched) const;
  bool has_passed(const Moment& moment);
  // Waits until the work up to then is done; throws FE_TIMEOUT when `timeout_ns` >= 0 passes.
  void pass(const Moment& moment, int64_t timeout_ns);
  // Throws the error of that work, too.
  void wait(const Moment& moment, int64_t timeout_ns);
  // Waits for all work, though not for ever; false when it is not known to be over. A device may go on for a while
  // after it was lost: that is waited for, too.
  bool ends();

  void poison(const sdk::Error& error);
  bool is_poisoned() const;
  // Waits for all work, and forgets its error. Throws when it cannot wait.
  void reset();

 private:
  struct Submission {
    uint64_t value;
    Touched touched;
    VkCommandBuffer commands;
    std::shared_ptr<void> keep_alive;
    std::function<void()> after;
    std::shared_ptr<Era> era;
  };
  // What is given to one engine.
  struct Lane {
    Lane(const Context& context, Engine engine);
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;
    ~Lane();
    size_t index() const { return static_cast<size_t>(engine); }
    uint64_t last_use(const Touched& touched) const;
    const Context& context;
    const Engine engine;
    Commands commands;
    VkSemaphore semaphore = VK_NULL_HANDLE;
    uint64_t last = 0;
    uint64_t retired = 0;  // is known to be done
    std::list<Submission> pending = {};
  };
  Lane& lane_of(Engine engine) const { return *lanes_[std::min(static_cast<size_t>(engine), lanes_.size() - 1)]; }
  VkResult submit(const Lane& lane, const Submission& submission);
  VkResult wait_for_semaphores(const Moment& moment, int64_t timeout_ns) const;
  uint64_t passed_value(const Lane& lane);
  void retire();
  static void run_after(const Submission& submission);
  void lose(const char* call);

  std::shared_ptr<Context> context_;
  std::vector<std::unique_ptr<Lane>> lanes_;  // by Engine
  mutable std::mutex mutex_;
  uint64_t last_ = 0;
  std::shared_ptr<Era> era_ = std::make_shared<Era>();
};

}  // namespace ferrule::vulkan
