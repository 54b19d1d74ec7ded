// A queue of a device: a CUDA stream.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "parameters/common.h"
#include "memory/buffer.h"
#include "queues/event.h"

namespace ferrule::cuda {

class Queue final : public sdk::Queue {
 public:
  explicit Queue(std::shared_ptr<OpenDevice> device);
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  // Waits for its work, for a limited time.
  ~Queue() override;

  // Each does nothing while the device is lost; the next event reports it.
  void copy_from_host(Buffer& to, uint64_t to_offset, const void* from, uint64_t size);
  void copy_to_host(void* to, Buffer& from, uint64_t from_offset, uint64_t size);
  void copy(Buffer& to, uint64_t to_offset, Buffer& from, uint64_t from_offset, uint64_t size);
  void copy_peer(Buffer& to, uint64_t to_offset, Buffer& from, uint64_t from_offset, uint64_t size);
  void fill(Buffer& to, uint64_t to_offset, std::span<const std::byte> pattern, uint64_t size);
  // Runs a kernel with one parameter.
  void launch(const LoadedKernel& kernel, dim3 grid, dim3 block, const void* parameters, uint32_t shared_memory);

  // Held by each call that gives the queue work: makes the device current. False if the device is lost.
  class Work {
   public:
    explicit Work(Queue& queue);
    explicit operator bool() const { return is_possible_; }

   private:
    const DeviceScope scope_;
    const bool is_possible_;
  };
  [[nodiscard]] Work begin() { return Work(*this); }
  // Notes the error of a call. Throws unless it is the loss of the device.
  void finish(cudaError_t error, const char* call);
  cudaStream_t stream() const { return stream_; }
  OpenDevice& device() const { return *device_; }
  // The record for faults of the kernels that the queue is given until the next event, which reads it.
  Address fault_record();
  // The next event tells the times of an execution's nodes.
  void add_traced(TracedNodes traced) { traced_.push_back(std::move(traced)); }

  std::unique_ptr<sdk::Event> record() override;
  void reset() override;
  void wait_for(sdk::Event& event) override;
  void* native() override { return stream_; }

 private:
  void forget_arrived_faults();

  std::shared_ptr<OpenDevice> device_;
  cudaStream_t stream_ = nullptr;
  void* faults_ = nullptr;  // a Fault in device memory, whose bytes are 0 if `has_faults_`
  bool has_faults_ = false;
  // Copies of it that may still be written, and what the stream passes then: an event may be released before.
  std::vector<std::pair<std::shared_ptr<const Mark>, std::shared_ptr<const Fault>>> arriving_faults_;
  // Since the last event:
  bool may_have_fault_ = false;
  std::vector<TracedNodes> traced_;
};

}  // namespace ferrule::cuda
