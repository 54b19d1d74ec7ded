// Compiled shaders of one device.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "context.h"
#include "pipeline_cache.h"
#include "plan.h"
#include "splice.h"

namespace ferrule::vulkan {

// What a shader is pushed: kernels/common.glsl's Push.
struct Push {
  uint64_t addresses;
  uint64_t parameters;
  uint32_t scratch, fault;  // indices of the address table
};

// Makes each pipeline once. Any thread may ask.
class Pipelines {
 public:
  explicit Pipelines(Context& context);
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  // Throws FE_INTERNAL, with the driver's result, when the driver cannot compile it.
  VkPipeline get(const Dispatch& dispatch);
  VkPipelineLayout layout() const { return layout_; }
  // Keeps what was compiled for the next process.
  void save() noexcept;

 private:
  VkPipeline make(const Dispatch& dispatch) const;

  Context& context_;
  FloatControls float_controls_;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  PipelineCache cache_;
  std::atomic<bool> has_new_{false};  // pipelines that were made since the cache was saved
  std::mutex mutex_;
  std::map<std::string, VkPipeline> pipelines_;
};

}  // namespace ferrule::vulkan
