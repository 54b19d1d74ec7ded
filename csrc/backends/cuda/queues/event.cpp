#include "queues/event.h"

#include <ferrule/cpp/faults.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

namespace ferrule::cuda {
namespace {

static_assert(uint32_t{sdk::Fault::length} == uint32_t{Fault::length} &&
              uint32_t{sdk::Fault::start} == uint32_t{Fault::start});

sdk::Error error_of(const Fault& fault) {
  const auto op = [&] {
    const char* const name = sdk::host->op_name(fault.what);
    return std::string(name != nullptr ? name : "an op");
  };
  return sdk::error_of({fault.kind, fault.what, fault.found, fault.limit, fault.axis}, op);
}

}  // namespace

Mark::Mark(OpenDevice& device, bool is_timed) : device_(device.physical().number) {
  device.check(cudaEventCreateWithFlags(&event_, is_timed ? cudaEventDefault : cudaEventDisableTiming),
               "cudaEventCreateWithFlags");
}

Mark::~Mark() {
  if (event_ == nullptr) return;
  const DeviceScope scope(device_);
  if (cudaEventDestroy(event_) != cudaSuccess) cudaGetLastError();
}

Event::Event(std::shared_ptr<OpenDevice> device) : device_(std::move(device)) {
  const bool is_timed = sdk::is_tracing();
  if (is_timed) since_ = device_->now();
  mark_ = std::make_shared<const Mark>(*device_, is_timed);
}

void Event::record(cudaStream_t stream, Aftermath aftermath) {
  aftermath_ = std::move(aftermath);
  earliest_ns_ = sdk::monotonic_ns();
  const cudaError_t error = cudaEventRecord(mark_->get(), stream);
  if (error == cudaSuccess) return;
  device_->note(error, "cudaEventRecord");
  loss_ = device_->loss();
  if (!loss_) device_->check(error, "cudaEventRecord");
  mark_.reset();
}

// A call that fails for another reason than a loss says nothing about the work.
cudaError_t Event::query() const {
  constexpr int attempts = 3;
  cudaError_t error = cudaSuccess;
  for (int i = 0; i < attempts; ++i) {
    error = cudaEventQuery(mark_->get());
    if (error == cudaSuccess || error == cudaErrorNotReady || is_lasting(error)) break;
    cudaGetLastError();
    // Somebody captures a stream, and DeviceScope could not tell the driver that the query does not concern it.
    if (error == cudaErrorStreamCaptureUnsupported) return cudaErrorNotReady;
  }
  return error;
}

bool Event::done() {
  if (!mark_) return true;
  const DeviceScope scope(device_->physical().number);
  const cudaError_t error = query();
  if (error == cudaSuccess) tell_times();
  return error == cudaSuccess || (is_lasting(error) && device_->note(error, "cudaEventQuery") && device_->loss());
}

void Event::wait(int64_t timeout_ns) {
  if (!mark_) throw *loss_;
  const DeviceScope scope(device_->physical().number);
  if (timeout_ns >= 0 || cudaEventSynchronize(mark_->get()) != cudaSuccess) {
    cudaGetLastError();
    constexpr int64_t longest_ns = std::numeric_limits<int64_t>::max() / 2;  // 146 years
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(std::min(timeout_ns, longest_ns));
    cudaError_t error = cudaSuccess;
    while ((error = query()) == cudaErrorNotReady) {
      const auto left = deadline - std::chrono::steady_clock::now();
      if (timeout_ns >= 0 && left <= left.zero())
        throw sdk::Error(FE_TIMEOUT, device_->name() + " has not finished in time");
      constexpr std::chrono::nanoseconds pause = std::chrono::microseconds(50);
      std::this_thread::sleep_for(timeout_ns >= 0 ? std::min<std::chrono::nanoseconds>(left, pause) : pause);
    }
    device_->check(error, "cudaEventQuery");
  }
  tell_times();
  const std::shared_ptr<const Fault>& fault = aftermath_.fault;
  if (fault && fault->kind != Fault::none) throw error_of(*fault);
}

uint64_t Event::time() {
  if (!mark_ || !since_) throw sdk::Error(FE_UNSUPPORTED, "nobody traced when the event was recorded");
  const DeviceScope scope(device_->physical().number);
  const cudaEvent_t event = mark_->get();
  return since_->host_ns_of({&event, 1}, earliest_ns_).front();
}

void Event::tell_times() noexcept try {
  const std::lock_guard lock(mutex_);
  for (const TracedNodes& traced : std::exchange(aftermath_.traced, {})) {
    std::vector<cudaEvent_t> events;
    events.reserve(traced.marks.size());
    for (const Mark& mark : traced.marks) events.push_back(mark.get());
    const std::vector<uint64_t> times = traced.since->host_ns_of(events, traced.earliest_ns);
    for (size_t i = 0; i < traced.nodes.size(); ++i)
      traced.trace(traced.argument, traced.nodes[i], times[i], times[i + 1]);
  }
} catch (const std::exception& error) {  // the work is done all the same
  sdk::host->log(FE_LOG_WARNING, ("cuda: the trace lacks nodes: " + std::string(error.what())).c_str());
}

cudaError_t Event::let_wait(cudaStream_t stream) const {
  return mark_ ? cudaStreamWaitEvent(stream, mark_->get(), 0) : cudaSuccess;
}

}  // namespace ferrule::cuda
