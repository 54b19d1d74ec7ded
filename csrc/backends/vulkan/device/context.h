// An open Vulkan device and its queues. OpenDevice adds what queues and executables share.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "device/clock.h"
#include "device/physical_device.h"

namespace ferrule::vulkan {

// Thread-safe. Exists only as a part of an OpenDevice.
class Context {
 public:
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  VkDevice device() const { return device_; }
  const DeviceFunctions& api() const { return functions_; }
  const PhysicalDevice& physical() const { return physical_; }
  const VkPhysicalDeviceLimits& limits() const { return physical_.properties.limits; }
  const Capabilities& capabilities() const { return physical_.capabilities; }
  Instance& instance() const { return *instance_; }

  // Each engine has one Vulkan queue, which ferrule's queues share. Work submitted to it earlier precedes later work in
  // the order that barriers use. An engine without a queue of its own uses the computing one.
  const EngineQueue& queue(Engine engine) const {
    const std::optional<EngineQueue>& own = physical_.queues.at(static_cast<size_t>(engine));
    return own ? *own : *physical_.queues.front();
  }
  // The queue families in use, without duplicates.
  std::vector<uint32_t> queue_families() const;
  // See Clock.
  bool tells_times(Engine engine) const { return physical_.has_clock && queue(engine).timestamp_bits != 0; }
  std::optional<uint64_t> host_ns(uint64_t timestamp, Engine engine) {
    return clock_.host_ns(timestamp, queue(engine).timestamp_bits);
  }
  // Returns VK_ERROR_DEVICE_LOST and submits nothing after a loss.
  VkResult submit(Engine engine, const VkSubmitInfo& info);

  // The error that says why the device is lost; null if it is not lost. All queues of a lost device are lost. A second
  // loss changes nothing.
  std::shared_ptr<const sdk::Error> loss() const;
  void lose(const sdk::Error& error);
  // For tests: loses the device when all submitted work is done, and before any more is submitted.
  void lose_when_idle(const sdk::Error& error);

 protected:
  // Enables the capabilities of `physical` that are optional.
  Context(std::shared_ptr<Instance> instance, const PhysicalDevice& physical);
  ~Context();

 private:
  void create_device();

  std::shared_ptr<Instance> instance_;
  PhysicalDevice physical_;
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
};

}  // namespace ferrule::vulkan
