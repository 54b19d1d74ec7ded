// Times at which a device reaches points of its work.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "device/context.h"

namespace ferrule::vulkan {

// A number of timestamps. Each is written by one submission, and can be read when that is done.
class Timestamps {
 public:
  Timestamps(const Context& context, uint32_t count);
  Timestamps(const Timestamps&) = delete;
  Timestamps& operator=(const Timestamps&) = delete;
  ~Timestamps();

  // Clears timestamps; they must not be in use.
  void reset(uint32_t which, uint32_t count = 1);
  // Writes the time at which all earlier commands have passed that stage.
  void write(VkCommandBuffer commands, VkPipelineStageFlagBits stage, uint32_t which) const;
  // Returns a timestamp in the device's ticks; empty if it was not written.
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

// Timestamps, as many as there are submissions in progress.
class TimestampPool {
 public:
  explicit TimestampPool(const Context& context) : context_(context) {}
  Timestamp take();
  // Does not allocate.
  void give_back(const Timestamp& timestamp);

 private:
  const Context& context_;
  std::vector<std::unique_ptr<Timestamps>> made_;
  std::vector<Timestamp> free_;
};

}  // namespace ferrule::vulkan
