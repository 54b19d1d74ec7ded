// An open Vulkan device: a context with its memory, compiled shaders and recordings.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "buffers/device_memory.h"
#include "buffers/host_allocations.h"
#include "commands/recordings.h"
#include "device/context.h"
#include "pipelines/pipelines.h"

namespace ferrule::vulkan {

// The faults that tests make an open device produce. Numbers count from 1; 0: no fault.
struct Faults {
  explicit Faults(const sdk::Options& options)
      : out_of_memory_at(options.integer("out_of_memory_at", 0)),
        device_lost_at(options.integer("device_lost_at", 0)),
        shader_fails_at(options.integer("shader_fails_at", 0)) {}

  const int64_t out_of_memory_at;
  const int64_t device_lost_at;
  const int64_t shader_fails_at;
  std::atomic<int64_t> allocations{0};
  std::atomic<int64_t> executions{0};
  std::atomic<int64_t> shaders{0};
};

// Shared by the device, its queues and its executables. Thread-safe.
class OpenDevice final : public Context {
 public:
  OpenDevice(std::shared_ptr<Instance> instance, const PhysicalDevice& physical, const sdk::Options& options);

  Memory& memory() { return memory_; }
  HostAllocations& host_allocations() { return host_allocations_; }
  Pipelines& pipelines() { return pipelines_; }
  Recordings& recordings() { return recordings_; }
  Faults& faults() { return faults_; }

 private:
  Faults faults_;
  Memory memory_;
  HostAllocations host_allocations_;
  Pipelines pipelines_;
  Recordings recordings_;
};

}  // namespace ferrule::vulkan
