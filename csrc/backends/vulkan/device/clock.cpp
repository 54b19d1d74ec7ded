#include "device/clock.h"

#include <array>
#include <cmath>

#include "device/context.h"

#if defined(_WIN32)
#include <windows.h>
#endif

namespace ferrule::vulkan {
namespace {

constexpr uint64_t trusted_ns = 100'000'000;

uint64_t ns_of_host_time(uint64_t time) {
#if defined(_WIN32)
  LARGE_INTEGER frequency;
  QueryPerformanceFrequency(&frequency);
  const auto per_second = static_cast<uint64_t>(frequency.QuadPart);
  return time / per_second * 1'000'000'000 + time % per_second * 1'000'000'000 / per_second;
#else
  return time;
#endif
}

}  // namespace

std::optional<Clock::ClockReading> Clock::now() const {
  std::array<VkCalibratedTimestampInfoEXT, 2> infos{};
  for (auto& info : infos) info = typed<VkCalibratedTimestampInfoEXT>(VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT);
  infos[0].timeDomain = VK_TIME_DOMAIN_DEVICE_EXT;
  infos[1].timeDomain = host_time_domain;
  std::array<uint64_t, 2> times{};
  uint64_t deviation = 0;
  const VkResult result = context_.api().GetCalibratedTimestampsEXT(
      context_.device(), static_cast<uint32_t>(infos.size()), infos.data(), times.data(), &deviation);
  if (result != VK_SUCCESS) return std::nullopt;
  return ClockReading{times[0], ns_of_host_time(times[1])};
}

std::optional<uint64_t> Clock::host_ns(uint64_t timestamp, uint32_t bits) noexcept {
  const std::lock_guard lock(mutex_);
  if (sdk::monotonic_ns() - last_.host_ns > trusted_ns) {
    const std::optional<ClockReading> found = now();
    if (!found) return std::nullopt;
    last_ = *found;
  }
  // The shortest distance, forwards or backwards, because timestamps wrap around.
  const uint32_t unused = 64 - bits;
  const auto ticks = static_cast<int64_t>((timestamp - last_.device) << unused) >> unused;
  const double ns = static_cast<double>(ticks) * static_cast<double>(context_.limits().timestampPeriod);
  return last_.host_ns + static_cast<uint64_t>(std::llround(ns));
}

}  // namespace ferrule::vulkan
