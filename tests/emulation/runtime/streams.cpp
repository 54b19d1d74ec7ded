#include <chrono>

#include "runtime/state.h"

using namespace emulation;

// How often it was recorded, how often the stream has passed it, and when.
struct EmulatedEvent {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t recorded = 0, passed = 0;
  std::chrono::steady_clock::time_point when;
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
    captured->nodes.push_back(std::make_unique<EmulatedNode>(std::move(node)));
    return;
  }
  {
    const std::scoped_lock lock(mutex_);
    work_.push_back(std::move(node));
  }
  changed_.notify_all();
}

void EmulatedStream::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ending_ || !work_.empty(); });
    if (work_.empty()) return;
    const EmulatedNode node = std::move(work_.front());
    work_.pop_front();
    busy_ = true;
    lock.unlock();
    if (node.other)
      node.other();
    else
      run_call(device, node.kernel);
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

void EmulatedStream::synchronize() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return work_.empty() && !busy_; });
}

bool EmulatedStream::idle() {
  const std::scoped_lock lock(mutex_);
  return work_.empty() && !busy_;
}

namespace {

std::mutex list_mutex;
std::vector<EmulatedStream*>& streams() {
  static auto& all = *new std::vector<EmulatedStream*>();
  return all;
}

}  // namespace

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  if (stream == nullptr || flags > 1) return noted(cudaErrorInvalidValue);
  *stream = new EmulatedStream(current_device());
  const std::scoped_lock lock(list_mutex);
  streams().push_back(*stream);
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  {
    const std::scoped_lock lock(list_mutex);
    std::erase(streams(), stream);
  }
  delete stream;
  return health();
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (stream->captured != nullptr) return noted(cudaErrorStreamCaptureUnsupported);
  stream->synchronize();
  return noted(health());
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  return stream->idle() ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaDeviceSynchronize() {
  if (devices().empty()) return noted(cudaErrorNoDevice);
  std::vector<EmulatedStream*> own;
  {
    const std::scoped_lock lock(list_mutex);
    for (EmulatedStream* stream : streams())
      if (&stream->device == &current_device()) own.push_back(stream);
  }
  for (EmulatedStream* stream : own) stream->synchronize();
  return noted(health());
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  if (event == nullptr) return noted(cudaErrorInvalidValue);
  *event = new EmulatedEvent();
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (event == nullptr) return noted(cudaErrorInvalidResourceHandle);
  // Streams that have yet to pass it refer to it.
  cudaEventSynchronize(event);
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (event == nullptr || stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  if (stream->captured != nullptr) return noted(cudaErrorStreamCaptureUnsupported);
  std::uint64_t number = 0;
  {
    const std::scoped_lock lock(event->mutex);
    number = ++event->recorded;
  }
  stream->add({{}, [event, number] {
                 const std::scoped_lock lock(event->mutex);
                 event->passed = std::max(event->passed, number);
                 event->when = std::chrono::steady_clock::now();
                 event->changed.notify_all();
               }});
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (event == nullptr || stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (stream->captured != nullptr) return noted(cudaErrorStreamCaptureUnsupported);
  std::uint64_t number = 0;
  {
    const std::scoped_lock lock(event->mutex);
    number = event->recorded;
  }
  stream->add({{}, [event, number] {
                 std::unique_lock lock(event->mutex);
                 event->changed.wait(lock, [&] { return event->passed >= number; });
               }});
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (event == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  const std::scoped_lock lock(event->mutex);
  return event->passed >= event->recorded ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (event == nullptr) return noted(cudaErrorInvalidResourceHandle);
  {
    std::unique_lock lock(event->mutex);
    event->changed.wait(lock, [&] { return event->passed >= event->recorded; });
  }
  return noted(health());
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  if (begin == nullptr || end == nullptr) return noted(cudaErrorInvalidResourceHandle);
  const std::scoped_lock lock(begin->mutex, end->mutex);
  if (begin->recorded == 0 || end->recorded == 0) return noted(cudaErrorInvalidResourceHandle);
  if (begin->passed < begin->recorded || end->passed < end->recorded) return cudaErrorNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(end->when - begin->when).count();
  return cudaSuccess;
}
