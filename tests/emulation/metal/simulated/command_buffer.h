// MTLCommandBuffer.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "metal/simulated/command_queue.h"
#include "metal/simulated/work.h"

namespace simulated {

class CommandBuffer : public Object {
 public:
  static const objc::Class& own_class();
  explicit CommandBuffer(CommandQueue& queue) : Object(own_class()), queue_(&queue) {}
  ~CommandBuffer();

  Device& device() const { return queue_->device(); }
  // Keeps an object that a command uses.
  void keep(Object* object) { kept_.emplace_back(object); }
  // Its encoder has ended, or was freed.
  void end_encoder();
  // Runs it on the calling thread, which is the queue's.
  void run();

 private:
  // Numbers of MTLCommandBufferStatus.
  enum class Status : std::uint8_t { not_enqueued, committed = 2, scheduled, completed, error };

  Object* compute_encoder(std::size_t dispatch_type);
  Object* blit_encoder();
  void signal(Object* event, std::uint64_t value);
  void wait(Object* event, std::uint64_t value);
  void commit();
  void wait_until_completed();
  std::size_t get_status() const;
  Object* get_error() const;
  double gpu_start() const;
  double gpu_end() const;

  // False, and a fault, if nothing can be encoded now.
  bool can_encode(const char* selector) const;
  Pass& add_pass();
  void add_event(Pass::Kind kind, Object* event, std::uint64_t value, const char* selector);
  bool is_committed() const;
  void run_all();
  void fail(CommandBufferError code, const std::string& text);
  double time_of(const double& member) const;

  const Owned<CommandQueue> queue_;
  std::vector<std::unique_ptr<Pass>> passes_;
  std::vector<Owned<Object>> kept_;
  mutable std::mutex mutex_;  // of all that follows
  mutable std::condition_variable changed_;
  Status status_ = Status::not_enqueued;
  bool has_encoder_ = false, has_ended_ = false;
  std::uint64_t number_ = 0;  // of commits in the process
  Owned<objc::Error> error_;
  double gpu_start_ = 0, gpu_end_ = 0;
};

}  // namespace simulated
