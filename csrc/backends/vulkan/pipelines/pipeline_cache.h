// The driver's compiled shaders, kept on disk for the next process.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/context.h"

namespace ferrule::vulkan {

class PipelineCache {
 public:
  // Drivers only add to a cache: when it exceeds `max_bytes`, a new one begins.
  explicit PipelineCache(Context& context, size_t max_bytes = size_t{64} << 20);
  PipelineCache(const PipelineCache&) = delete;
  PipelineCache& operator=(const PipelineCache&) = delete;

  // VK_NULL_HANDLE if the driver has no cache: compilation then only takes longer.
  using Pointer = std::shared_ptr<const VkPipelineCache>;
  Pointer get() const;
  // Writes the cache to disk if the driver has added to it. Call it after compiling, because no function of a driver
  // may be called when a process ends.
  void save() noexcept;

 private:
  // Makes a cache from bytes that another process has kept.
  Pointer made_of(const std::vector<uint8_t>& bytes) const;
  std::vector<uint8_t> data() const;

  Context& context_;
  const size_t max_bytes_;
  std::string key_;
  std::mutex saving_;
  mutable std::mutex mutex_;  // guards the pointer
  Pointer cache_;
  std::vector<uint8_t> saved_;  // the contents on disk
};

// Whether bytes begin with a cache header of this device's driver, because some drivers accept any bytes. (Vulkan 1.2,
// 10.6.3, VkPipelineCacheHeaderVersionOne.)
bool is_cache_of(const VkPhysicalDeviceProperties& device, const std::vector<uint8_t>& bytes);

}  // namespace ferrule::vulkan
