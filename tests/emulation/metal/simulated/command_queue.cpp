#include "metal/simulated/command_queue.h"

#include <algorithm>
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

constinit std::atomic<int> releases = 0;
constinit thread_local const Worker* calling = nullptr;

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

bool Worker::is_calling_thread() const { return calling == this; }

void Worker::run() {
  calling = this;
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

CommandQueue::CommandQueue(Device& device, std::size_t most)
    : Object(own_class()), device_(&device), most_(most), worker_(Worker::take()) {}

// No command buffer lives any more, because each one retains its queue.
CommandQueue::~CommandQueue() { worker_.give_back(); }

Object* CommandQueue::make_buffer(const char* selector, bool is_retaining) {
  if (fails(selector)) return nullptr;
  std::unique_lock lock(mutex_);
  while (made_ == most_) {
    if (committed_ == 0) {
      lock.unlock();
      objc::report_fault(std::string("-[MTLCommandQueue ") + selector + "]: waits for ever, because none of the " +
                         std::to_string(most_) + " command buffers of the queue is committed");
      return nullptr;
    }
    ended_.wait(lock);
  }
  ++made_;
  lock.unlock();
  return objc::autoreleased(create<CommandBuffer>(*this, is_retaining));
}

Object* CommandQueue::command_buffer() { return make_buffer("commandBuffer", true); }
Object* CommandQueue::unretained_command_buffer() {
  return make_buffer("commandBufferWithUnretainedReferences", false);
}

void CommandQueue::enqueue(CommandBuffer& buffer) {
  const std::scoped_lock lock(mutex_);
  order_.push_back({&buffer, false});
}

void CommandQueue::commit(CommandBuffer& buffer) {
  objc::retain(&buffer);  // until it has run
  const std::scoped_lock lock(mutex_);
  ++committed_;
  for (Place& place : order_)
    if (place.buffer == &buffer) place.is_committed = true;
  for (; !order_.empty() && order_.front().is_committed; order_.pop_front())
    worker_.add([run = order_.front().buffer] {
      run->run();
      objc::release(run);
      --releases;
    });
}

void CommandQueue::end(CommandBuffer& buffer, bool was_committed) {
  {
    const std::scoped_lock lock(mutex_);
    --made_;
    if (was_committed)
      --committed_;
    else
      std::erase_if(order_, [&](const Place& place) { return place.buffer == &buffer; });
  }
  ended_.notify_all();
}

const objc::Class& CommandQueue::own_class() {
  static const auto& one = *new objc::Class(
      "MTLCommandQueue", &objc::root_class(), objc::Class::Kind::inner, nullptr,
      {method<&CommandQueue::command_buffer>("commandBuffer"),
       method<&CommandQueue::unretained_command_buffer>("commandBufferWithUnretainedReferences"),
       method<&CommandQueue::its_device>("device"), set_label<CommandQueue>(), get_label<CommandQueue>()});
  return one;
}

}  // namespace simulated
