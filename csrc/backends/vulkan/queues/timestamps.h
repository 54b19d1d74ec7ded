// Times at which a device passes points of its work.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "device/context.h"

namespace ferrule::vulkan {

// A number of times. Each is written by one submission, and may be read when that is done.
class Timestamps {
 public:
  Timestamps(const Context& context, uint32_t count);
  Timestamps(const Timestamps&) = delete;
  Timestamps& operator=(const Timestamps&) = delete;
  ~Timestamps();

  // Forgets what was written; nothing may be under way.
  void reset(uint32_t which, uint32_t count = 1);
  // When what was recorded before has passed that stage.
  void write(VkCommandBuffer commands, VkPipelineStageFlagBits stage, uint32_t which) const;
  // As the device counts. Nothing when it was not written.
  std::optional<uint64_t> read(uint32_t which) const;

 private:
  const Context& context_;
  VkQueryPool pool_ = VK_NULL_HANDLE;
};

// One of them, for a submission.
struct Timestamp {
  Timestamps* all = nullptr;  // null: none
  uint32_t which = 0;
};

// As many as are under way at a time.
class TimestampPool {
 public:
  explicit TimestampPool(const Context& context) : context_(context) {}
  Timestamp take();
  // Needs no memory.
  void give_back(const Timestamp& timestamp);

 private:
  const Context& context_;
  std::vector<std::unique_ptr<Timestamps>> made_;
  std::vector<Timestamp> free_;
};

}  // namespace ferrule::vulkan
