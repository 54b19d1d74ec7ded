// What the driver made of our shaders, kept on disk for the next process.
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
  // A driver adds to it whatever it compiles, and takes nothing out: beyond so many bytes a new one begins.
  explicit PipelineCache(Context& context, size_t most_bytes = size_t{64} << 20);
  PipelineCache(const PipelineCache&) = delete;
  PipelineCache& operator=(const PipelineCache&) = delete;

  // VK_NULL_HANDLE when the driver has none: everything works without one, only later.
  using Pointer = std::shared_ptr<const VkPipelineCache>;
  Pointer get() const;
  // Writes it where the driver has added to it since. To be called when what was to be compiled is: nothing of a driver
  // may be called when a process ends.
  void save() noexcept;

 private:
  // Of bytes that another process has kept.
  Pointer made_of(const std::vector<uint8_t>& bytes) const;
  std::vector<uint8_t> data() const;

  Context& context_;
  const size_t most_bytes_;
  std::string key_;
  std::mutex saving_;
  mutable std::mutex mutex_;  // of the pointer
  Pointer cache_;
  std::vector<uint8_t> saved_;  // as it lies on disk
};

// Whether bytes begin as those of this device's driver do: some drivers believe whatever they are given. (Vulkan 1.2,
// 10.6.3, VkPipelineCacheHeaderVersionOne.)
bool is_cache_of(const VkPhysicalDeviceProperties& device, const std::vector<uint8_t>& bytes);

}  // namespace ferrule::vulkan
