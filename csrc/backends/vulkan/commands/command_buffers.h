// Reusable command buffers of one engine.
#pragma once

#include <functional>
#include <mutex>

#include "device/context.h"

namespace ferrule::vulkan {

class Commands {
 public:
  using Record = std::function<void(VkCommandBuffer)>;

  Commands(const Context& context, Engine engine);
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;
  ~Commands();

  // A command buffer with what `record` writes. It runs after all that was submitted to the engine before and sees its
  // results; the host sees its own. Not thread-safe; throws what `record` throws.
  VkCommandBuffer recorded(const Record& record);
  // Thread-safe. Call it when the device is done with the commands. Does not allocate.
  void give_back(VkCommandBuffer commands);

 private:
  VkCommandBuffer take();
  void write(VkCommandBuffer commands, const Record& record);

  const Context& context_;
  const Engine engine_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  std::mutex mutex_;
  size_t made_ = 0;
  std::vector<VkCommandBuffer> free_;
};

// The pipeline stages in which an engine accesses memory.
VkPipelineStageFlags stages_of(Engine engine);

// Makes earlier writes in `from` visible to later accesses in `to`.
void barrier(const DeviceFunctions& api, VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags written,
             VkPipelineStageFlags to, VkAccessFlags touched);

}  // namespace ferrule::vulkan
