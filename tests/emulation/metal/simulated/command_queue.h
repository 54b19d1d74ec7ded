// MTLCommandQueue. The command buffers of a queue run on an OS thread of the queue's, one after the other.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

#include "metal/simulated/device.h"

namespace simulated {

class CommandBuffer;

// An OS thread that does work in order. Threads of queues that ended are used again; they live as long as the process.
class Worker {
 public:
  static Worker& take();
  void give_back();
  void add(std::function<void()> work);

 private:
  Worker();
  void run();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
};

// Threads that have ended a command buffer, and have yet to release it.
void begin_release();
void wait_for_releases();

class CommandQueue : public Object {
 public:
  static const objc::Class& own_class();
  explicit CommandQueue(Device& device);
  ~CommandQueue();
  Device& device() const { return *device_; }
  // It runs after all that were committed before.
  void commit(CommandBuffer& buffer);
  // A command buffer has ended, or was freed: another one may be made.
  void end(bool was_committed);

 private:
  Object* command_buffer();
  const Owned<Device> device_;
  Worker& worker_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t made_ = 0, committed_ = 0;  // command buffers that have not ended
};

}  // namespace simulated
