#include "queues/event.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace ferrule::cuda {
namespace {

// An op of a Fault, by its id.
std::string op_of(const Fault& fault) {
  const char* const name = sdk::host->op_name(fault.what);
  return name != nullptr ? name : "an op";
}

std::string sentence_of(const Fault& fault) {
  if (fault.kind == Fault::power) {
    const char* const dtype = sdk::host->dtype_name(fault.what);
    return std::string("pow: ") + (dtype != nullptr ? dtype : "an integer") +
           " to a negative integer power has no integer result";
  }
  if (fault.kind == Fault::length)
    return op_of(fault) + ": kv_length " + std::to_string(fault.found) + " is not between 0 and " +
           std::to_string(fault.limit);
  return op_of(fault) + ": index " + std::to_string(fault.found) + " is out of bounds for axis " +
         std::to_string(fault.axis) + " with size " + std::to_string(fault.limit);
}

}  // namespace

Mark::Mark(bool is_timed) {
  check(cudaEventCreateWithFlags(&event_, is_timed ? cudaEventDefault : cudaEventDisableTiming),
        "cudaEventCreateWithFlags");
}

Mark::~Mark() {
  if (event_ != nullptr && cudaEventDestroy(event_) != cudaSuccess) cudaGetLastError();
}

Event::Event(std::shared_ptr<OpenDevice> device, cudaStream_t stream, Aftermath aftermath)
    : device_(std::move(device)), aftermath_(std::move(aftermath)) {
  const bool is_timed = sdk::is_tracing();
  if (is_timed) since_ = device_->now();
  auto mark = std::make_unique<Mark>(is_timed);
  earliest_ns_ = sdk::monotonic_ns();
  const cudaError_t error = cudaEventRecord(mark->get(), stream);
  if (!device_->note(error, "cudaEventRecord")) {
    mark_ = std::move(mark);
    return;
  }
  loss_ = device_->loss();
  if (!loss_) throw error_of(error, "cudaEventRecord");
}

bool Event::done() {
  if (!mark_) return true;
  const cudaError_t error = cudaEventQuery(mark_->get());
  if (error == cudaSuccess) tell_times();
  return error != cudaErrorNotReady;
}

void Event::wait(int64_t timeout_ns) {
  if (!mark_) throw *loss_;
  cudaError_t error = cudaSuccess;
  if (timeout_ns < 0) {
    error = cudaEventSynchronize(mark_->get());
  } else {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(timeout_ns);
    while ((error = cudaEventQuery(mark_->get())) == cudaErrorNotReady) {
      const auto left = deadline - std::chrono::steady_clock::now();
      if (left <= left.zero()) throw sdk::Error(FE_TIMEOUT, device_->name() + " has not finished in time");
      std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, std::chrono::microseconds(50)));
    }
  }
  if (device_->note(error, "work before an event")) {
    if (const auto loss = device_->loss()) throw *loss;
    throw error_of(error, "cudaEventSynchronize");
  }
  tell_times();
  const std::shared_ptr<const Fault>& fault = aftermath_.fault;
  if (fault && fault->kind != Fault::none) throw sdk::Error(FE_INVALID_ARGUMENT, sentence_of(*fault));
}

uint64_t Event::time() {
  if (!mark_ || !since_) throw sdk::Error(FE_UNSUPPORTED, "nobody traced when the event was recorded");
  return since_->host_ns_of(mark_->get(), earliest_ns_);
}

void Event::tell_times() {
  const std::lock_guard lock(mutex_);
  for (const TracedNodes& traced : std::exchange(aftermath_.traced, {})) {
    uint64_t begin = traced.since->host_ns_of(traced.marks.front().get(), traced.earliest_ns);
    for (size_t i = 0; i < traced.nodes.size(); ++i) {
      const uint64_t end = traced.since->host_ns_of(traced.marks[i + 1].get(), begin);
      traced.trace(traced.argument, traced.nodes[i], begin, end);
      begin = end;
    }
  }
}

void Event::let_wait(cudaStream_t stream) const {
  if (mark_) check(cudaStreamWaitEvent(stream, mark_->get(), 0), "cudaStreamWaitEvent");
}

}  // namespace ferrule::cuda
