// An open Vulkan device; most other classes hold one.
#pragma once

#include <array>
#include <atomic>
#include <mutex>

#include "device/clock.h"
#include "device/physical_device.h"
#include "queues/recordings.h"

namespace ferrule::vulkan {

class HostAllocations;
class Memory;
class Pipelines;

// The faults that tests make an open device produce. Numbers count from 1; 0 is never.
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
class Context {
 public:
  Context(std::shared_ptr<Instance> instance, const PhysicalDevice& physical, const sdk::Options& options);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

  VkDevice device() const { return device_; }
  const DeviceFunctions& api() const { return functions_; }
  const PhysicalDevice& physical() const { return physical_; }
  const VkPhysicalDeviceLimits& limits() const { return physical_.properties.limits; }
  const Capabilities& capabilities() const { return physical_.capabilities; }
  Instance& instance() const { return *instance_; }
  Memory& memory() { return *memory_; }
  HostAllocations& host_allocations() { return *host_allocations_; }
  Pipelines& pipelines() { return *pipelines_; }
  Recordings& recordings() { return *recordings_; }
  Faults& faults() { return faults_; }

  // Each engine has one Vulkan queue, which ferrule's queues share. Work submitted to it earlier precedes later work in
  // the order that barriers use. An engine without a queue of its own uses the computing one.
  const EngineQueue& queue(Engine engine) const {
    const std::optional<EngineQueue>& own = physical_.queues.at(static_cast<size_t>(engine));
    return own ? *own : *physical_.queues.front();
  }
  // Without duplicates.
  std::vector<uint32_t> queue_families() const;
  // See Clock.
  bool tells_times(Engine engine) const { return physical_.has_clock && queue(engine).timestamp_bits != 0; }
  std::optional<uint64_t> host_ns(uint64_t timestamp, Engine engine) {
    return clock_.host_ns(timestamp, queue(engine).timestamp_bits);
  }
  // Returns VK_ERROR_DEVICE_LOST and submits nothing between a loss and recover().
  VkResult submit(Engine engine, const VkSubmitInfo& info);

  // The error that says why the device is lost; null if it is not lost. All queues of a lost device are lost. A second
  // loss changes nothing.
  std::shared_ptr<const sdk::Error> loss() const;
  void lose(const sdk::Error& error);
  // For tests: loses the device when all submitted work is done, and before any more is submitted.
  void lose_when_idle(const sdk::Error& error);
  void recover();

 private:
  void create_device();

  std::shared_ptr<Instance> instance_;
  PhysicalDevice physical_;
  Faults faults_;
  VkDevice device_ = VK_NULL_HANDLE;
  DeviceFunctions functions_;
  struct OpenQueue {
    VkQueue handle = VK_NULL_HANDLE;
    std::mutex submitting = {};
  };
  OpenQueue& open_queue(Engine engine) {
    const auto own = static_cast<size_t>(engine);
    return queues_.at(physical_.queues.at(own) ? own : 0);
  }
  std::array<OpenQueue, engine_count> queues_;
  Clock clock_{*this};
  mutable std::mutex loss_mutex_;
  std::shared_ptr<const sdk::Error> loss_;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<HostAllocations> host_allocations_;
  std::unique_ptr<Pipelines> pipelines_;
  std::unique_ptr<Recordings> recordings_;
};

}  // namespace ferrule::vulkan
