// Command buffers that run graphs. Each has its own pool, so that several threads can record at once. Pools use much
// memory, and some drivers never free all of it, so recordings of destroyed graphs are reused.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "device/context.h"

namespace ferrule::vulkan {

// A secondary command buffer for the computing engine.
class Recording {
 public:
  explicit Recording(const Context& context);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording();
  VkCommandBuffer commands() const { return commands_; }
  // Discards the recorded commands; they must not be pending.
  void reset();

 private:
  const Context& context_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
};

// Thread-safe.
class Recordings {
 public:
  explicit Recordings(const Context& context) : context_(context) { free_.reserve(max_free); }
  std::unique_ptr<Recording> take();
  void give_back(std::unique_ptr<Recording> recording) noexcept;

 private:
  static constexpr size_t max_free = 64;
  const Context& context_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Recording>> free_;
};

}  // namespace ferrule::vulkan
