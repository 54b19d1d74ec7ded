// MTLCommandQueue. The command buffers of a queue run on an OS thread of the queue's, one after the other.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

#include "metal/simulated/device.h"
#include "metal/simulated/labelled.h"

namespace simulated {

class CommandBuffer;

// An OS thread that does work in order. Threads of queues that ended are used again; they live as long as the process.
class Worker {
 public:
  static Worker& take();
  void give_back();
  void add(std::function<void()> work);
  bool is_calling_thread() const;

 private:
  Worker();
  void run();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
};

// Threads that have told programs of the end of a command buffer, and have yet to release it.
void begin_release();
void wait_for_releases();

class CommandQueue : public Object {
 public:
  static const objc::Class& own_class();
  CommandQueue(Device& device, std::size_t most);
  ~CommandQueue();
  Device& device() const { return *device_; }
  // Whether a handler of one of its command buffers calls.
  bool runs_on_calling_thread() const { return worker_.is_calling_thread(); }
  // A command buffer gets its place in the order, if it has none yet.
  void enqueue(CommandBuffer& buffer);
  // It runs when all before it are committed.
  void commit(CommandBuffer& buffer);
  // A command buffer has ended, or was freed: another one may be made. `was_enqueued` if it never ran, but has a place.
  void end(CommandBuffer& buffer, bool was_committed);

 private:
  Object* command_buffer();
  Object* unretained_command_buffer();
  Object* make_buffer(const char* selector, bool is_retaining);
  Object* its_device() const { return device_.get(); }
  const Owned<Device> device_;
  const std::size_t most_;
  Worker& worker_;
  std::mutex mutex_;
  std::condition_variable ended_;
  struct Place {
    CommandBuffer* buffer;
    bool is_committed;
  };
  std::deque<Place> order_;
  std::size_t made_ = 0, committed_ = 0;  // command buffers that have not ended

 public:
  Label label;
};

}  // namespace simulated
