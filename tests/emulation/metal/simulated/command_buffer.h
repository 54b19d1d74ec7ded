// MTLCommandBuffer.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "metal/objc/blocks.h"
#include "metal/simulated/command_queue.h"
#include "metal/simulated/work.h"

namespace simulated {

class CommandBuffer : public Object {
 public:
  static const objc::Class& own_class();
  CommandBuffer(CommandQueue& queue, bool is_retaining)
      : Object(own_class()), queue_(&queue), is_retaining_(is_retaining) {}
  ~CommandBuffer();

  Device& device() const { return queue_->device(); }
  // Keeps an object that a command uses, unless references are unretained.
  void keep(Object* object);
  // Its encoder has ended, or was freed.
  void end_encoder();
  // Runs it on the calling thread, which is the queue's.
  void run();

 private:
  // Numbers of MTLCommandBufferStatus.
  enum class Status : std::uint8_t { not_enqueued, enqueued, committed, scheduled, completed, error };

  Object* compute_encoder();
  Object* compute_encoder_of(std::size_t dispatch_type);
  Object* blit_encoder();
  void signal(Object* event, std::uint64_t value);
  void wait(Object* event, std::uint64_t value);
  void enqueue();
  void commit();
  void wait_until_completed();
  void wait_until_scheduled();
  void add_scheduled(void* block);
  void add_completed(void* block);
  std::size_t get_status() const;
  Object* get_error() const;
  double kernel_start() const;
  double kernel_end() const;
  double gpu_start() const;
  double gpu_end() const;
  bool retains() const { return is_retaining_; }
  Object* queue() const { return queue_.get(); }
  Object* its_device() const { return &device(); }

  // False, and a fault, if nothing can be encoded now.
  bool can_encode(const char* selector) const;
  Pass& add_pass();
  void add_event(Pass::Kind kind, Object* event, std::uint64_t value, const char* selector);
  bool is_committed() const;
  // Waits until the condition holds; a wait that never ends is a fault.
  template <class Condition>
  void wait_until(const char* selector, const Condition& condition);
  void run_all();
  void fail(CommandBufferError code, const std::string& text);
  double time_of(const double& member) const;

  const Owned<CommandQueue> queue_;
  const bool is_retaining_;
  std::vector<std::unique_ptr<Pass>> passes_;
  std::vector<Owned<Object>> kept_;
  mutable std::mutex mutex_;  // of all that follows
  mutable std::condition_variable changed_;
  Status status_ = Status::not_enqueued;
  bool has_encoder_ = false, has_ended_ = false;
  std::uint64_t number_ = 0;  // of commits in the process
  Owned<objc::Error> error_;
  double kernel_start_ = 0, kernel_end_ = 0, gpu_start_ = 0, gpu_end_ = 0;
  std::vector<objc::KeptBlock> scheduled_, completed_;

 public:
  Label label;
};

}  // namespace simulated
