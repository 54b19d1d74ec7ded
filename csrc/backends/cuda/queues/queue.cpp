#include "queues/queue.h"

#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "parameters/fill.h"

namespace ferrule::cuda {
namespace {

constexpr auto longest_wait = std::chrono::seconds(30);  // for a queue's last work
constexpr uint32_t fill_threads = 256, most_fill_blocks = 4096;

void* host_side(const Buffer& buffer, uint64_t offset) { return reinterpret_cast<void*>(buffer.address() + offset); }

// A place in a buffer; without one, in memory that has no seams.
struct Place {
  const Buffer* buffer = nullptr;
  uint64_t offset = 0;
};

// Calls `copy(begin, size)` for the parts of `size` bytes that may be copied at once: the driver refuses a copy that
// spans two registrations of host memory.
template <class Copy>
cudaError_t copy_in_parts(uint64_t size, Place a, Place b, Copy copy) {
  cudaError_t error = cudaSuccess;
  for (uint64_t begin = 0; begin < size && error == cudaSuccess;) {
    uint64_t part = size - begin;
    for (const Place& place : {a, b})
      if (place.buffer != nullptr) part = place.buffer->copied_at_once(place.offset + begin, part);
    error = copy(begin, part);
    begin += part;
  }
  return error;
}

}  // namespace

Queue::Work::Work(Queue& queue) : scope_(queue.device_->physical().number), is_possible_(!queue.device_->loss()) {
  if (is_possible_) queue.device_->check(scope_.error(), "cudaSetDevice");
}

// An execution allocates nothing: nobody would free unused memory for it and try again.
Queue::Queue(std::shared_ptr<OpenDevice> device) : device_(std::move(device)) {
  const auto use = device_->use();
  faults_ = device_->allocate(sizeof(Fault));
  const cudaError_t error = cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
  if (error == cudaSuccess) return;
  device_->free(faults_, sizeof(Fault));
  device_->check(error, "cudaStreamCreateWithFlags");
}

Queue::~Queue() {
  const DeviceScope scope(device_->physical().number);
  try {
    const auto deadline = std::chrono::steady_clock::now() + longest_wait;
    // A query that fails for another reason than a loss says nothing about the work.
    const auto is_finished = [&] {
      const cudaError_t error = cudaStreamQuery(stream_);
      if (error != cudaErrorNotReady) device_->note(error, "cudaStreamQuery");
      return error == cudaSuccess;
    };
    while (!device_->loss() && !is_finished()) {
      if (std::chrono::steady_clock::now() > deadline) {
        sdk::host->log(FE_LOG_WARNING, "cuda: a queue did not finish; it is leaked");
        new decltype(arriving_faults_)(std::move(arriving_faults_));
        return;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    if (device_->loss() && cudaStreamSynchronize(stream_) != cudaSuccess) cudaGetLastError();
    if (cudaStreamDestroy(stream_) != cudaSuccess) cudaGetLastError();
    device_->free(faults_, sizeof(Fault));
  } catch (const std::exception&) {  // no memory to report with
  }
}

void Queue::finish(cudaError_t error, const char* call) {
  if (device_->note(error, call) && !device_->loss()) device_->check(error, call);
}

void Queue::copy_from_host(Buffer& to, uint64_t to_offset, const void* from, uint64_t size) {
  if (size == 0) return;
  const Work work = begin();
  if (!work) return;
  const auto copy = [&](uint64_t at, uint64_t bytes) {
    return cudaMemcpyAsync(host_side(to, to_offset + at), static_cast<const std::byte*>(from) + at, bytes,
                           cudaMemcpyDefault, stream_);
  };
  finish(copy_in_parts(size, {&to, to_offset}, {}, copy), "cudaMemcpyAsync");
}

void Queue::copy_to_host(void* to, Buffer& from, uint64_t from_offset, uint64_t size) {
  if (size == 0) return;
  const Work work = begin();
  if (!work) return;
  const auto copy = [&](uint64_t at, uint64_t bytes) {
    return cudaMemcpyAsync(static_cast<std::byte*>(to) + at, host_side(from, from_offset + at), bytes,
                           cudaMemcpyDefault, stream_);
  };
  finish(copy_in_parts(size, {}, {&from, from_offset}, copy), "cudaMemcpyAsync");
}

void Queue::copy(Buffer& to, uint64_t to_offset, Buffer& from, uint64_t from_offset, uint64_t size) {
  if (size == 0) return;
  const Work work = begin();
  if (!work) return;
  const auto copy = [&](uint64_t at, uint64_t bytes) {
    return cudaMemcpyAsync(host_side(to, to_offset + at), host_side(from, from_offset + at), bytes, cudaMemcpyDefault,
                           stream_);
  };
  finish(copy_in_parts(size, {&to, to_offset}, {&from, from_offset}, copy), "cudaMemcpyAsync");
}

void Queue::copy_peer(Buffer& to, uint64_t to_offset, Buffer& from, uint64_t from_offset, uint64_t size) {
  if (!from.is_of_device() || !to.is_of_device()) return copy(to, to_offset, from, from_offset, size);
  if (size == 0) return;
  const Work work = begin();
  if (!work) return;
  finish(cudaMemcpyPeerAsync(host_side(to, to_offset), to.device().physical().number, host_side(from, from_offset),
                             from.device().physical().number, size, stream_),
         "cudaMemcpyPeerAsync");
}

void Queue::fill(Buffer& to, uint64_t to_offset, std::span<const std::byte> pattern, uint64_t size) {
  if (size == 0) return;
  const Work work = begin();
  if (!work) return;
  if (pattern.size() == 1) {
    const int value = std::to_integer<int>(pattern[0]);
    const auto set = [&](uint64_t at, uint64_t bytes) {
      return cudaMemsetAsync(host_side(to, to_offset + at), value, bytes, stream_);
    };
    finish(copy_in_parts(size, {&to, to_offset}, {}, set), "cudaMemsetAsync");
    return;
  }
  FillParameters p{.to = to.address() + to_offset, .count = size / pattern.size(), .pattern = {}};
  std::memcpy(p.pattern, pattern.data(), pattern.size());
  const auto blocks =
      static_cast<uint32_t>(std::min<uint64_t>(most_fill_blocks, (p.count + fill_threads - 1) / fill_threads));
  launch(device_->kernel("fill.u" + std::to_string(8 * pattern.size()), 0), {blocks, 1, 1}, {fill_threads, 1, 1}, &p,
         0);
}

void Queue::launch(const LoadedKernel& kernel, dim3 grid, dim3 block, const void* parameters, uint32_t shared_memory) {
  void* arguments[] = {const_cast<void*>(parameters)};
  finish(cudaLaunchKernel(kernel.function, grid, block, arguments, shared_memory, stream_), "cudaLaunchKernel");
}

Address Queue::fault_record() {
  if (!has_faults_) device_->check(cudaMemsetAsync(faults_, 0, sizeof(Fault), stream_), "cudaMemsetAsync");
  has_faults_ = true;
  may_have_fault_ = true;
  return reinterpret_cast<Address>(faults_);
}

std::unique_ptr<sdk::Event> Queue::record() {
  if (const auto loss = device_->loss()) return std::make_unique<Event>(device_, loss);
  const auto use = device_->use();
  std::unique_ptr<Event> event;
  Aftermath aftermath;
  try {
    event = std::make_unique<Event>(device_);
    if (may_have_fault_) {
      const std::shared_ptr<Fault> fault = device_->take_fault_copy();
      arriving_faults_.emplace_back(event->mark(), fault);
      device_->check(cudaMemcpyAsync(fault.get(), faults_, sizeof(Fault), cudaMemcpyDefault, stream_),
                     "cudaMemcpyAsync");
      device_->check(cudaMemsetAsync(faults_, 0, sizeof(Fault), stream_), "cudaMemsetAsync");
      aftermath.fault = fault;
      may_have_fault_ = false;
    }
    aftermath.traced = std::exchange(traced_, {});
    event->record(stream_, std::move(aftermath));
  } catch (const sdk::Error&) {
    if (const auto loss = device_->loss()) return std::make_unique<Event>(device_, loss);
    throw;
  }
  forget_arrived_faults();
  return event;
}

void Queue::forget_arrived_faults() {
  for (size_t i = arriving_faults_.size(); i-- > 0;) {
    const cudaError_t error = cudaEventQuery(arriving_faults_[i].first->get());
    if (error != cudaSuccess) cudaGetLastError();
    if (error != cudaSuccess && !is_lasting(error)) continue;  // to a lost device nothing arrives any more
    arriving_faults_.erase(arriving_faults_.begin(), arriving_faults_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    return;
  }
}

void Queue::reset() {
  const auto use = device_->use();
  const cudaError_t error = cudaStreamSynchronize(stream_);
  device_->note(error, "cudaStreamSynchronize");
  if (const auto loss = device_->loss()) throw sdk::Error(*loss);
  device_->check(error, "cudaStreamSynchronize");
}

void Queue::wait_for(sdk::Event& event) {
  if (const Work work = begin()) finish(static_cast<const Event&>(event).let_wait(stream_), "cudaStreamWaitEvent");
}

}  // namespace ferrule::cuda
