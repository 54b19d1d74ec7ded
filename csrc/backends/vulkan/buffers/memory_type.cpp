#include "buffers/memory_type.h"

#include <algorithm>

namespace ferrule::vulkan {
namespace {

constexpr VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
constexpr VkMemoryPropertyFlags coherent = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkMemoryPropertyFlags cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;

// The required properties, and those wanted and not wanted, most important first.
struct Wish {
  VkMemoryPropertyFlags needed;
  VkMemoryPropertyFlags wanted[2];
  VkMemoryPropertyFlags unwanted;
};

Wish wish_of(Use use, bool is_one_memory) {
  switch (use) {
    case Use::device:
      if (is_one_memory) return {0, {local, visible | coherent}, 0};
      return {0, {local, 0}, visible};  // a card's host-visible device memory is often small
    case Use::upload:
      return {visible | coherent, {0, 0}, cached | local};  // written once, in order: caches do not help
    case Use::download:
      return {visible, {cached, coherent}, local};  // reading uncached memory is very slow
    case Use::exchange:
      return {visible | coherent, {cached, 0}, local};
  }
  return {};
}

int score_of(VkMemoryPropertyFlags flags, const Wish& wish) {
  const auto has = [&](VkMemoryPropertyFlags some) { return some != 0 && (flags & some) == some ? 1 : 0; };
  return 8 * has(wish.wanted[0]) + 4 * has(wish.wanted[1]) - ((flags & wish.unwanted) != 0 ? 1 : 0);
}

}  // namespace

std::optional<uint32_t> choose_memory_type(const VkPhysicalDeviceMemoryProperties& memory, uint32_t allowed, Use use,
                                           bool is_one_memory) {
  const Wish wish = wish_of(use, is_one_memory);
  std::optional<uint32_t> best;
  int best_score = 0;
  for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
    const VkMemoryPropertyFlags flags = memory.memoryTypes[i].propertyFlags;
    // Skips types with other properties (protected, lazily allocated, uncached), which only special uses need.
    if ((allowed >> i & 1) == 0 || (flags & ~(local | visible | coherent | cached)) != 0) continue;
    if ((flags & wish.needed) != wish.needed) continue;
    const int score = score_of(flags, wish);
    if (best && score <= best_score) continue;  // drivers list the best type first
    best = i;
    best_score = score;
  }
  return best;
}

bool is_one_memory(VkPhysicalDeviceType type, const VkPhysicalDeviceMemoryProperties& memory) {
  if (type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU || type == VK_PHYSICAL_DEVICE_TYPE_CPU) return true;
  return std::all_of(memory.memoryHeaps, memory.memoryHeaps + memory.memoryHeapCount,
                     [](const VkMemoryHeap& heap) { return (heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0; });
}

}  // namespace ferrule::vulkan
