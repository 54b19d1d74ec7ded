#include "commands/timestamps.h"

namespace ferrule::vulkan {
namespace {

constexpr uint32_t made_at_once = 64;

}  // namespace

Timestamps::Timestamps(const Context& context, uint32_t count) : context_(context) {
  auto info = typed<VkQueryPoolCreateInfo>(VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO);
  info.queryType = VK_QUERY_TYPE_TIMESTAMP;
  info.queryCount = count;
  check(context_.api().CreateQueryPool(context_.device(), &info, nullptr, &pool_), "vkCreateQueryPool");
  reset(0, count);
}

Timestamps::~Timestamps() { context_.api().DestroyQueryPool(context_.device(), pool_, nullptr); }

void Timestamps::reset(uint32_t which, uint32_t count) {
  context_.api().ResetQueryPool(context_.device(), pool_, which, count);
}

void Timestamps::write(VkCommandBuffer commands, VkPipelineStageFlagBits stage, uint32_t which) const {
  context_.api().CmdWriteTimestamp(commands, stage, pool_, which);
}

std::optional<uint64_t> Timestamps::read(uint32_t which) const {
  uint64_t time = 0;
  const VkResult result = context_.api().GetQueryPoolResults(context_.device(), pool_, which, 1, sizeof time, &time,
                                                             sizeof time, VK_QUERY_RESULT_64_BIT);
  if (result != VK_SUCCESS) return std::nullopt;
  return time;
}

Timestamp TimestampPool::take() {
  if (free_.empty()) {
    free_.reserve(made_at_once * (made_.size() + 1));  // so that give_back does not allocate
    made_.push_back(std::make_unique<Timestamps>(context_, made_at_once));
    for (uint32_t i = 0; i < made_at_once; ++i) free_.push_back({made_.back().get(), i});
  }
  const Timestamp taken = free_.back();
  free_.pop_back();
  return taken;
}

void TimestampPool::give_back(const Timestamp& timestamp) {
  if (timestamp.all == nullptr) return;
  timestamp.all->reset(timestamp.which);
  free_.push_back(timestamp);
}

}  // namespace ferrule::vulkan
