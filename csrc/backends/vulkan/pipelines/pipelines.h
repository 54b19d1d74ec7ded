// The compiled shaders of one device.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

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
  size_t count() const;

 private:
  struct Entry {
    std::string key;
    PipelinePointer pipeline;
  };
  PipelinePointer make(const Dispatch& dispatch) const;
  std::list<Entry> take_idle();

  Context& context_;
  FloatControls float_controls_;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  PipelineCache cache_;
  std::atomic<bool> has_new_{false};  // pipelines were made since the cache was saved
  const size_t max_idle_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_key_;
};

}  // namespace ferrule::vulkan
