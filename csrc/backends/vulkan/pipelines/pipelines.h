// The compiled shaders of one device.
#pragma once

#include <ferrule/cpp/idle_cache.hpp>

#include <atomic>
#include <cstdint>
#include <memory>

#include "device/context.h"
#include "pipelines/dispatch.h"
#include "pipelines/pipeline_cache.h"
#include "pipelines/splice.h"

namespace ferrule::vulkan {

// Push constants: the Push of kernels/shader_interface.glsl.
struct Push {
  uint64_t addresses;
  uint64_t parameters;
  uint32_t scratch, fault;  // indices of the address table
};

// A compiled shader; it lives as long as the graphs that it was recorded into.
class Pipeline {
 public:
  Pipeline(const Context& context, VkPipeline handle) : context_(context), handle_(handle) {}
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline() { context_.api().DestroyPipeline(context_.device(), handle_, nullptr); }
  VkPipeline handle() const { return handle_; }

 private:
  const Context& context_;
  VkPipeline handle_;
};
using PipelinePointer = std::shared_ptr<const Pipeline>;

// Makes each pipeline once, and keeps the `max_idle` most recently used of those that no graph uses. Thread-safe.
class Pipelines {
 public:
  Pipelines(Context& context, size_t max_idle);
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  // Throws FE_INTERNAL, with the driver's result, if the driver cannot compile it.
  PipelinePointer get(const Dispatch& dispatch);
  VkPipelineLayout layout() const { return layout_; }
  // Saves the compiled code for the next process.
  void save() noexcept;
  size_t count() const { return pipelines_.count(); }

 private:
  PipelinePointer make(const Dispatch& dispatch) const;

  Context& context_;
  FloatControls float_controls_;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  PipelineCache cache_;
  std::atomic<bool> has_new_{false};  // pipelines were made since the cache was saved
  sdk::IdleCache<Pipeline> pipelines_;
};

}  // namespace ferrule::vulkan
