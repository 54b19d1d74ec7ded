// Memory allocation of the Vulkan backend, and which devices it accepts.
#include "device_fixture.h"

#include <map>
#include <random>

namespace ferrule::test {
namespace {

using vulkan::Use;

TEST(VulkanFreeRanges, AllocationsNeverOverlapAndFreedRangesMerge) {
  std::mt19937 generator(11);
  constexpr uint64_t size = 1 << 16, base = 0x1040;
  vulkan::FreeRanges ranges(size);
  std::map<uint64_t, uint64_t> taken;
  for (int step = 0; step < 5000; ++step) {
    if (generator() % 2 && !taken.empty()) {
      const auto place = std::next(taken.begin(), static_cast<std::ptrdiff_t>(generator() % taken.size()));
      ranges.give_back(place->first, place->second);
      taken.erase(place);
    } else {
      const uint64_t bytes = 1 + generator() % 5000, alignment = uint64_t{1} << generator() % 12;
      const auto fit = ranges.find(bytes, alignment, base);
      if (!fit) continue;
      ranges.take(*fit, bytes);
      EXPECT_EQ((base + fit->offset) % alignment, 0u);
      EXPECT_LE(fit->offset + bytes, size);
      const auto after = taken.lower_bound(fit->offset);
      EXPECT_TRUE(after == taken.end() || fit->offset + bytes <= after->first);
      if (after != taken.begin()) {
        EXPECT_LE(std::prev(after)->first + std::prev(after)->second, fit->offset);
      }
      taken.emplace(fit->offset, bytes);
    }
  }
  for (const auto& [offset, bytes] : taken) ranges.give_back(offset, bytes);
  EXPECT_TRUE(ranges.is_all_free());
}

TEST(VulkanFreeRanges, AllocationUsesTheBestFit) {
  vulkan::FreeRanges ranges(1000);
  for (int i = 0; i < 10; ++i) ranges.take(*ranges.find(100, 1, 0), 100);
  ranges.give_back(0, 300);
  ranges.give_back(500, 100);
  EXPECT_EQ(ranges.find(80, 1, 0)->offset, 500u);
  EXPECT_EQ(ranges.find(101, 1, 0)->offset, 0u);
  EXPECT_FALSE(ranges.find(301, 1, 0));
}

TEST_F(VulkanContext, MemoryIsAllocatedInBlocksAndOneEmptyBlockIsKept) {
  vulkan::Memory& memory = context->memory();
  EXPECT_EQ(memory.block_count(), 0u);
  {
    std::vector<vulkan::Allocation> parts(40);
    for (vulkan::Allocation& part : parts) part = allocate(5 << 20);
    EXPECT_GE(memory.block_count(), 3u);
    const vulkan::Allocation own = allocate(20 << 20);
    EXPECT_EQ(own.offset, 0u);
  }
  EXPECT_EQ(memory.block_count(), 1u);
  EXPECT_NE(memory.allocate(100, 64, Use::upload).host, nullptr);
  EXPECT_NE(memory.allocate(100, 64, Use::download).host, nullptr);
}

VkPhysicalDeviceMemoryProperties table(std::vector<VkMemoryPropertyFlags> types) {
  VkPhysicalDeviceMemoryProperties out{};
  out.memoryTypeCount = static_cast<uint32_t>(types.size());
  for (size_t i = 0; i < types.size(); ++i) out.memoryTypes[i].propertyFlags = types[i];
  return out;
}

TEST(VulkanMemoryTypes, ChosenTypesFitEachUse) {
  constexpr VkMemoryPropertyFlags local = 1, visible = 2, coherent = 4, cached = 8, lazy = 16;
  const auto choose = [](const VkPhysicalDeviceMemoryProperties& types, Use use, bool is_one, uint32_t allowed = ~0u) {
    const auto found = vulkan::choose_memory_type(types, allowed, use, is_one);
    return found ? static_cast<int>(*found) : -1;
  };
  // Memory types as NVIDIA's driver lists them, then lavapipe's single one.
  const auto card = table({0, local, visible | coherent, visible | coherent | cached, local | visible | coherent});
  EXPECT_EQ(choose(card, Use::device, false), 1);
  EXPECT_EQ(choose(card, Use::upload, false), 2);
  EXPECT_EQ(choose(card, Use::download, false), 3);
  EXPECT_EQ(choose(card, Use::exchange, false), 3);
  EXPECT_EQ(choose(card, Use::device, false, 0b10101), 4);
  const auto one = table({local | visible | coherent | cached});
  for (const Use use : {Use::device, Use::upload, Use::download, Use::exchange}) EXPECT_EQ(choose(one, use, true), 0);
  const auto shared = table({local, local | visible | coherent, lazy | local});
  EXPECT_EQ(choose(shared, Use::device, true), 1);
  EXPECT_EQ(choose(table({local}), Use::upload, false), -1);
  EXPECT_EQ(choose(table({visible | cached, visible | coherent}), Use::download, false), 0);
  EXPECT_EQ(choose(table({visible | cached, visible | coherent}), Use::exchange, false), 1);
}

TEST(VulkanDevices, DeviceLackingFeaturesIsSkippedWithTheirNames) {
  vulkan::Features features;
  std::vector<VkQueueFamilyProperties> families(1);
  families[0].queueCount = 1;
  families[0].queueFlags = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
  EXPECT_EQ(vulkan::lacks(VK_API_VERSION_1_1, features, families), "Vulkan 1.2 (it has 1.1)");
  EXPECT_EQ(vulkan::lacks(VK_API_VERSION_1_2, features, families),
            "shaderInt64, shaderInt16, storageBuffer16BitAccess, shaderInt8, storageBuffer8BitAccess, "
            "scalarBlockLayout, bufferDeviceAddress, timelineSemaphore");
  features.core.features.shaderInt64 = features.core.features.shaderInt16 = VK_TRUE;
  features.vulkan11.storageBuffer16BitAccess = VK_TRUE;
  features.vulkan12.shaderInt8 = features.vulkan12.storageBuffer8BitAccess = features.vulkan12.scalarBlockLayout =
      features.vulkan12.bufferDeviceAddress = features.vulkan12.timelineSemaphore = VK_TRUE;
  EXPECT_EQ(vulkan::lacks(VK_API_VERSION_1_3, features, families), "");
  families[0].queueFlags = VK_QUEUE_GRAPHICS_BIT;
  EXPECT_EQ(vulkan::lacks(VK_API_VERSION_1_2, features, families), "a compute queue");
}

TEST(VulkanDevices, ComputeOnlyAndTransferOnlyQueueFamiliesArePreferred) {
  std::vector<VkQueueFamilyProperties> families(3);
  for (auto& family : families) family.queueCount = 1;
  families[0].queueFlags = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT;
  families[1].queueFlags = VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT;
  families[2].queueFlags = VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT;
  using Places = std::vector<std::pair<int, int>>;  // of the engines: family and index, -1 = none
  const auto places = [&] {
    Places out;
    for (const auto& queue : vulkan::choose_queues(families))
      out.emplace_back(queue ? static_cast<int>(queue->family) : -1, queue ? static_cast<int>(queue->index) : -1);
    return out;
  };
  constexpr std::pair none{-1, -1};
  // Downloads wait for computation; in the upload queue they would delay uploads.
  EXPECT_EQ(places(), (Places{{2, 0}, {1, 0}, none}));
  families[2].queueCount = 8;
  EXPECT_EQ(places(), (Places{{2, 0}, {1, 0}, {2, 1}}));
  families[1].queueCount = 3;
  EXPECT_EQ(places(), (Places{{2, 0}, {1, 0}, {1, 1}}));
  families[1].queueCount = 1;
  families.push_back(families[1]);
  EXPECT_EQ(places(), (Places{{2, 0}, {1, 0}, {3, 0}}));
  families.resize(1);
  EXPECT_EQ(places(), (Places{{0, 0}, none, none}));
  families[0].queueCount = 16;
  EXPECT_EQ(places(), (Places{{0, 0}, none, none}));
  families[0].queueFlags = VK_QUEUE_TRANSFER_BIT;
  EXPECT_EQ(places(), (Places{none, none, none}));
}

TEST(VulkanResults, ResultCodesBecomeTypedErrorsThatNameTheCall) {
  const auto error = [](VkResult result) { return outcome_of([&] { vulkan::check(result, "vkDoIt"); }); };
  EXPECT_EQ(error(VK_SUCCESS).code, FE_OK);
  EXPECT_EQ(error(VK_ERROR_OUT_OF_DEVICE_MEMORY).code, FE_OUT_OF_MEMORY);
  EXPECT_EQ(error(VK_ERROR_DEVICE_LOST).code, FE_DEVICE_LOST);
  EXPECT_EQ(error(VK_ERROR_FEATURE_NOT_PRESENT).code, FE_UNSUPPORTED);
  EXPECT_EQ(error(VK_ERROR_UNKNOWN).code, FE_INTERNAL);
  EXPECT_EQ(error(VK_ERROR_DEVICE_LOST).message, "vkDoIt came back with VK_ERROR_DEVICE_LOST");
  EXPECT_EQ(vulkan::name_of(static_cast<VkResult>(-123)), "the result -123");
}

}  // namespace
}  // namespace ferrule::test
