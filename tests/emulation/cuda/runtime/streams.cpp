// Streams, which are OS threads, and events.
#include <algorithm>
#include <atomic>
#include <chrono>

#include "cuda/runtime/state.h"

using namespace emulation;

namespace {

// Counts how often the event was recorded and how often a stream has passed it, and when. Streams that have yet to pass
// it share this state, so the event may be destroyed before.
struct EventState {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t recorded = 0, passed = 0;
  std::chrono::steady_clock::time_point when;
};

}  // namespace

struct EmulatedEvent {
  EmulatedEvent(Device& of, bool timed) : device(of), has_time(timed), state(std::make_shared<EventState>()) {}
  Device& device;
  const bool has_time;
  const std::shared_ptr<EventState> state;
};

EmulatedStream::~EmulatedStream() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread.join();
}

void EmulatedStream::add(EmulatedNode node) {
  if (captured != nullptr) {
    if (!captured->nodes.empty()) node.dependencies = {captured->nodes.size() - 1};
    captured->nodes.push_back(std::make_unique<EmulatedNode>(std::move(node)));
    return;
  }
  const std::uint64_t number = node.is_counted() ? number_operations(1) : 0;
  {
    const std::scoped_lock lock(mutex_);
    work_.push_back({std::move(node), number});
  }
  changed_.notify_all();
}

void EmulatedStream::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ending_ || !work_.empty(); });
    if (work_.empty()) return;
    const Work work = std::move(work_.front());
    work_.pop_front();
    busy_ = true;
    lock.unlock();
    run_node(device, work.node, work.number);
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

std::uint64_t emulation::number_operations(std::uint64_t count) {
  static constinit std::atomic<std::uint64_t> next{1};
  return next.fetch_add(count);
}

void emulation::run_node(Device& device, const EmulatedNode& node, std::uint64_t number) {
  if (node.kind != EmulatedNode::Kind::bookkeeping) {
    if (health(device) != cudaSuccess) return;  // nothing runs after a fault
    if (number != 0 && number == settings().fault_at) {
      set_fault(device, settings().fault,
                "operation " + std::to_string(number) + " fails because FERRULE_EMULATION_FAULT_AT says so");
      return;
    }
  }
  if (node.kind == EmulatedNode::Kind::kernel)
    run_call(device, node.kernel);
  else
    node.other();
}

void EmulatedStream::synchronize() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return work_.empty() && !busy_; });
}

bool EmulatedStream::idle() {
  const std::scoped_lock lock(mutex_);
  return work_.empty() && !busy_;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data) {
  if (const cudaError_t error = begin_device_call("cudaLaunchHostFunc"); error != cudaSuccess) return noted(error);
  if (stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = health(stream->device); error != cudaSuccess) return noted(error);
  if (function == nullptr) return noted(cudaErrorInvalidValue);
  stream->add(EmulatedNode::Kind::host_function, [=] { function(user_data); });
  return cudaSuccess;
}

namespace {

constinit std::mutex list_mutex;
std::vector<EmulatedStream*>& streams() {
  static auto& all = *new std::vector<EmulatedStream*>();
  return all;
}

}  // namespace

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  if (const cudaError_t error = begin_device_call("cudaStreamCreateWithFlags"); error != cudaSuccess)
    return noted(error);
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  if (stream == nullptr || flags > 1) return noted(cudaErrorInvalidValue);
  *stream = new EmulatedStream(current_device());
  log_made("stream");
  const std::scoped_lock lock(list_mutex);
  streams().push_back(*stream);
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (const cudaError_t error = begin_device_call("cudaStreamDestroy"); error != cudaSuccess) return noted(error);
  if (stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  {
    const std::scoped_lock lock(list_mutex);
    std::erase(streams(), stream);
  }
  Device& device = stream->device;
  delete stream;
  log_ended("stream");
  return noted(health(device));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (const cudaError_t error = begin_unsafe_call("cudaStreamSynchronize"); error != cudaSuccess) return noted(error);
  if (stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (stream->captured != nullptr) return noted(cudaErrorStreamCaptureUnsupported);
  stream->synchronize();
  return noted(health(stream->device));
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (const cudaError_t error = begin_unsafe_call("cudaStreamQuery"); error != cudaSuccess) return noted(error);
  if (stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = health(stream->device); error != cudaSuccess) return noted(error);
  return stream->idle() ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaDeviceSynchronize() {
  if (const cudaError_t error = begin_unsafe_call("cudaDeviceSynchronize"); error != cudaSuccess) return noted(error);
  if (const cudaError_t error = availability(); error != cudaSuccess) return noted(error);
  std::vector<EmulatedStream*> own;
  {
    const std::scoped_lock lock(list_mutex);
    for (EmulatedStream* stream : streams())
      if (&stream->device == &current_device()) own.push_back(stream);
  }
  for (EmulatedStream* stream : own) stream->synchronize();
  return noted(health());
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  if (const cudaError_t error = begin_device_call("cudaEventCreateWithFlags"); error != cudaSuccess)
    return noted(error);
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  if (event == nullptr || flags > 7) return noted(cudaErrorInvalidValue);
  *event = new EmulatedEvent(current_device(), (flags & cudaEventDisableTiming) == 0);
  log_made("event");
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (const cudaError_t error = begin_device_call("cudaEventDestroy"); error != cudaSuccess) return noted(error);
  if (event == nullptr) return noted(cudaErrorInvalidResourceHandle);
  Device& device = event->device;
  delete event;
  log_ended("event");
  return noted(health(device));
}

// The stream must be of the event's device.
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (const cudaError_t error = begin_device_call("cudaEventRecord"); error != cudaSuccess) return noted(error);
  if (event == nullptr || stream == nullptr || &event->device != &stream->device)
    return noted(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = health(stream->device); error != cudaSuccess) return noted(error);
  if (stream->captured != nullptr) return noted(cudaErrorStreamCaptureUnsupported);
  std::uint64_t number = 0;
  {
    const std::scoped_lock lock(event->state->mutex);
    number = ++event->state->recorded;
  }
  stream->add(EmulatedNode::Kind::bookkeeping, [state = event->state, number] {
    const std::scoped_lock lock(state->mutex);
    state->passed = std::max(state->passed, number);
    state->when = std::chrono::steady_clock::now();
    state->changed.notify_all();
  });
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (const cudaError_t error = begin_device_call("cudaStreamWaitEvent"); error != cudaSuccess) return noted(error);
  if (event == nullptr || stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  // No work can be given to the default streams, so that nothing has to wait.
  if (stream == cudaStreamLegacy || stream == cudaStreamPerThread) return noted(health(event->device));
  for (Device* const device : {&stream->device, &event->device})
    if (const cudaError_t error = health(*device); error != cudaSuccess) return noted(error);
  if (stream->captured != nullptr) return noted(cudaErrorStreamCaptureUnsupported);
  std::uint64_t number = 0;
  {
    const std::scoped_lock lock(event->state->mutex);
    number = event->state->recorded;
  }
  stream->add(EmulatedNode::Kind::bookkeeping, [state = event->state, number] {
    std::unique_lock lock(state->mutex);
    state->changed.wait(lock, [&] { return state->passed >= number; });
  });
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (const cudaError_t error = begin_unsafe_call("cudaEventQuery"); error != cudaSuccess) return noted(error);
  if (event == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = health(event->device); error != cudaSuccess) return noted(error);
  const std::scoped_lock lock(event->state->mutex);
  return event->state->passed >= event->state->recorded ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (const cudaError_t error = begin_unsafe_call("cudaEventSynchronize"); error != cudaSuccess) return noted(error);
  if (event == nullptr) return noted(cudaErrorInvalidResourceHandle);
  {
    std::unique_lock lock(event->state->mutex);
    event->state->changed.wait(lock, [&] { return event->state->passed >= event->state->recorded; });
  }
  return noted(health(event->device));
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  if (const cudaError_t error = begin_device_call("cudaEventElapsedTime"); error != cudaSuccess) return noted(error);
  if (begin == nullptr || end == nullptr || begin == end || !begin->has_time || !end->has_time)
    return noted(cudaErrorInvalidResourceHandle);
  const std::scoped_lock lock(begin->state->mutex, end->state->mutex);
  for (const cudaEvent_t event : {begin, end})
    if (event->state->recorded == 0) return noted(cudaErrorInvalidResourceHandle);
  for (const cudaEvent_t event : {begin, end})
    if (event->state->passed < event->state->recorded) return cudaErrorNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(end->state->when - begin->state->when).count();
  return cudaSuccess;
}
