#include "metal/simulated/command_queue.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "metal/objc/faults.h"
#include "metal/simulated/command_buffer.h"

namespace simulated {

using objc::create;
using objc::method;

namespace {

constinit std::mutex idle_mutex;
std::vector<Worker*>& idle() {
  static auto& all = *new std::vector<Worker*>();
  return all;
}

constexpr std::size_t most_buffers_of_queue = 64;  // newCommandQueue's
constinit std::atomic<int> releases = 0;

}  // namespace

void begin_release() { ++releases; }

void wait_for_releases() {
  while (releases != 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
}

Worker& Worker::take() {
  const std::scoped_lock lock(idle_mutex);
  if (idle().empty()) return *new Worker();
  Worker* const one = idle().back();
  idle().pop_back();
  return *one;
}

void Worker::give_back() {
  const std::scoped_lock lock(idle_mutex);
  idle().push_back(this);
}

Worker::Worker() {
  std::thread([this] { run(); }).detach();
}

void Worker::add(std::function<void()> work) {
  {
    const std::scoped_lock lock(mutex_);
    work_.push_back(std::move(work));
  }
  changed_.notify_all();
}

void Worker::run() {
  for (;;) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !work_.empty(); });
      work = std::move(work_.front());
      work_.pop_front();
    }
    void* const pool = objc::push_pool();
    work();
    objc::pop_pool(pool);
  }
}

CommandQueue::CommandQueue(Device& device) : Object(own_class()), device_(&device), worker_(Worker::take()) {}

// No command buffer lives any more, because each one retains its queue.
CommandQueue::~CommandQueue() { worker_.give_back(); }

Object* CommandQueue::command_buffer() {
  if (fails("commandBuffer")) return nullptr;
  std::unique_lock lock(mutex_);
  while (made_ == most_buffers_of_queue) {
    if (committed_ == 0) {
      lock.unlock();
      objc::report_fault("-[MTLCommandQueue commandBuffer]: waits for ever, because none of the " +
                         std::to_string(most_buffers_of_queue) + " command buffers of the queue is committed");
      return nullptr;
    }
    ended_.wait(lock);
  }
  ++made_;
  lock.unlock();
  return objc::autoreleased(create<CommandBuffer>(*this));
}

void CommandQueue::commit(CommandBuffer& buffer) {
  objc::retain(&buffer);  // until it has run
  const std::scoped_lock lock(mutex_);
  ++committed_;
  worker_.add([run = &buffer] {
    run->run();
    objc::release(run);
    --releases;
  });
}

void CommandQueue::end(bool was_committed) {
  {
    const std::scoped_lock lock(mutex_);
    --made_;
    if (was_committed) --committed_;
  }
  ended_.notify_all();
}

const objc::Class& CommandQueue::own_class() {
  static const auto& one = *new objc::Class("MTLCommandQueue", &objc::root_class(), objc::Class::Kind::inner, nullptr,
                                            {method<&CommandQueue::command_buffer>("commandBuffer")});
  return one;
}

}  // namespace simulated
