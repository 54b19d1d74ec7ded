// The clock of a device beside the host's.
#pragma once

#include <mutex>
#include <optional>

#include "device/entry_points.h"

namespace ferrule::vulkan {

class Context;

// The host's monotonic clock, as Vulkan knows it.
#if defined(_WIN32)
inline constexpr VkTimeDomainEXT host_time_domain = VK_TIME_DOMAIN_QUERY_PERFORMANCE_COUNTER_EXT;
#elif defined(__APPLE__)
inline constexpr VkTimeDomainEXT host_time_domain = VK_TIME_DOMAIN_CLOCK_MONOTONIC_RAW_EXT;
#else
inline constexpr VkTimeDomainEXT host_time_domain = VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT;
#endif

// Of a device that has one (PhysicalDevice::has_clock). Any thread.
class Clock {
 public:
  explicit Clock(const Context& context) : context_(context) {}
  // When a timestamp was written, of which so many bits count: nanoseconds of the host's monotonic clock; nothing when
  // the driver does not tell. Both clocks are looked at again every 100 ms, as they drift apart.
  std::optional<uint64_t> host_ns(uint64_t timestamp, uint32_t bits) noexcept;

 private:
  struct ClockReading {
    uint64_t device = 0, host_ns = 0;
  };
  std::optional<ClockReading> now() const;

  const Context& context_;
  std::mutex mutex_;
  ClockReading last_;
};

}  // namespace ferrule::vulkan
