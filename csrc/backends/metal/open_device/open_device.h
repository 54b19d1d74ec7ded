// An open device, shared by its queues and executables.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "buffers/memory.h"
#include "device/physical_device.h"
#include "pipelines/pipelines.h"

namespace ferrule::metal {

// The faults that tests make an open device produce. Numbers count from 1; 0: no fault.
struct Faults {
  explicit Faults(const sdk::Options& options)
      : out_of_memory_at(options.integer("out_of_memory_at", 0)),
        device_lost_at(options.integer("device_lost_at", 0)),
        execution_fails_at(options.integer("execution_fails_at", 0)),
        library_fails_at(options.integer("library_fails_at", 0)) {}

  const int64_t out_of_memory_at;
  const int64_t device_lost_at;
  const int64_t execution_fails_at;
  const int64_t library_fails_at;
  std::atomic<int64_t> allocations{0};
  std::atomic<int64_t> executions{0};
  std::atomic<int64_t> libraries{0};
};

// Thread-safe.
class OpenDevice {
 public:
  // Metal truncates the sizes of copies to 32 bits, and those of fills from macOS 26 on, without an error
  // (github.com/pytorch/pytorch/issues/124335 and pull/164108, github.com/JuliaGPU/Metal.jl/issues/710).
  static constexpr int64_t default_blit_bytes = int64_t{1} << 30;

  OpenDevice(PhysicalDevice physical, const sdk::Options& options)
      : faults_(options),
        blit_bytes_(static_cast<uint64_t>(std::max<int64_t>(4, options.integer("blit_bytes", default_blit_bytes)))),
        physical_(std::move(physical)),
        pipelines_(physical_, static_cast<uint64_t>(std::max<int64_t>(
                                  0, options.integer("archive_bytes", BinaryArchive::default_max_bytes)))) {}

  const PhysicalDevice& physical() const { return physical_; }
  const std::string& name() const { return physical_.description.name; }
  Id device() const { return physical_.device.get(); }
  HostAllocations& host_allocations() { return host_allocations_; }
  BorrowedMemory& borrowed_memory() { return borrowed_memory_; }
  Pipelines& pipelines() { return pipelines_; }
  Faults& faults() { return faults_; }
  // The most bytes of a copy or a fill.
  uint64_t blit_bytes() const { return blit_bytes_; }

  // The error of all work since the device was lost; none if it is not lost.
  std::optional<sdk::Error> loss() const {
    const std::lock_guard lock(mutex_);
    return loss_;
  }
  void lose(const sdk::Error& error) {
    const std::lock_guard lock(mutex_);
    if (!loss_) loss_ = error;
  }

 private:
  Faults faults_;
  const uint64_t blit_bytes_;
  PhysicalDevice physical_;
  HostAllocations host_allocations_;
  BorrowedMemory borrowed_memory_;
  Pipelines pipelines_;
  mutable std::mutex mutex_;
  std::optional<sdk::Error> loss_;
};

// The error of a command buffer that failed, as its NSError says it. A device that was removed, or whose access was
// revoked, is lost.
sdk::Error error_of(const std::string& device, Id error);

// Seconds of the clock of GPUStartTime, in nanoseconds of the host's monotonic clock.
uint64_t host_ns_of(double seconds);

}  // namespace ferrule::metal
