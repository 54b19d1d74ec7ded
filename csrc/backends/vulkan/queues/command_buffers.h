// Command buffers for one engine, used again and again.
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

  // What `record` writes, after and in sight of all that was submitted to the engine before, and then in sight of the
  // host. By one thread at a time; throws what `record` throws.
  VkCommandBuffer recorded(const Record& record);
  // Any thread may do that, when the device is done with them. Needs no memory.
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

// Where an engine works with memory.
VkPipelineStageFlags stages_of(Engine engine);

// What `from` has written before is visible to what touches it in `to` after.
void barrier(const DeviceFunctions& api, VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags written,
             VkPipelineStageFlags to, VkAccessFlags touched);

}  // namespace ferrule::vulkan
