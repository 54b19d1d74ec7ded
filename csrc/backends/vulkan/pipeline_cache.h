// What the driver made of our shaders, kept on disk for the next process.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "context.h"

namespace ferrule::vulkan {

class PipelineCache {
 public:
  explicit PipelineCache(Context& context);
  PipelineCache(const PipelineCache&) = delete;
  PipelineCache& operator=(const PipelineCache&) = delete;
  ~PipelineCache();

  // Null when the driver has none: everything works without one, only later.
  VkPipelineCache handle() const { return handle_; }
  // Writes it where the driver has added to it since. To be called when what was to be compiled is: nothing of a driver
  // may be called when a process ends.
  void save() noexcept;

 private:
  std::vector<uint8_t> data() const;

  Context& context_;
  std::string key_;
  VkPipelineCache handle_ = VK_NULL_HANDLE;
  std::mutex mutex_;
  std::vector<uint8_t> saved_;  // as it lies on disk
};

// Whether bytes begin as those of this device's driver do: some drivers believe whatever they are given. (Vulkan 1.2,
// 10.6.3, VkPipelineCacheHeaderVersionOne.)
bool is_cache_of(const VkPhysicalDeviceProperties& device, const std::vector<uint8_t>& bytes);

}  // namespace ferrule::vulkan
