// Shapes and grids that the Vulkan backend passes to its shaders.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "graphs/layout.h"

namespace {

using ferrule::vulkan::Capabilities;
using ferrule::vulkan::Dispatch;
using ferrule::vulkan::Layout;
using ferrule::vulkan::layout_of;
using ferrule::vulkan::set_grid;
using Axes = std::vector<int64_t>;

Axes shape_of(const Layout& layout) { return {layout.shape, layout.shape + layout.rank}; }
Axes strides_of(const Layout& layout) { return {layout.strides, layout.strides + layout.rank}; }

Layout layout(const Axes& shape, const Axes& strides) { return layout_of(7, shape, strides); }

TEST(VulkanLayout, ContiguousAxesAreMerged) {
  const Layout found = layout({2, 3, 4}, {12, 4, 1});
  EXPECT_EQ(found.value, 7u);
  EXPECT_EQ(shape_of(found), Axes({24}));
  EXPECT_EQ(strides_of(found), Axes({1}));
}

TEST(VulkanLayout, AxesOfSizeOneAreDroppedForAnyStride) {
  const Layout found = layout({1, 3, 1, 4, 1}, {999, 4, -5, 1, 0});
  EXPECT_EQ(shape_of(found), Axes({12}));
  EXPECT_EQ(layout({}, {}).rank, 0u);
  EXPECT_EQ(layout({1, 1}, {3, 5}).rank, 0u);
}

TEST(VulkanLayout, TheLastAxisComesFirst) {
  const Layout found = layout({2, 3, 4}, {1, 2, 6});
  EXPECT_EQ(shape_of(found), Axes({4, 3, 2}));
  EXPECT_EQ(strides_of(found), Axes({6, 2, 1}));
}

TEST(VulkanLayout, BroadcastAxesAreMerged) {
  const Layout found = layout({5, 2, 3}, {1, 0, 0});
  EXPECT_EQ(shape_of(found), Axes({6, 5}));
  EXPECT_EQ(strides_of(found), Axes({0, 1}));
}

TEST(VulkanLayout, ReversedAxesAreMerged) {
  EXPECT_EQ(strides_of(layout({3, 4}, {-4, -1})), Axes({-1}));
  EXPECT_EQ(strides_of(layout({3, 4}, {4, -1})), Axes({-1, 4}));
}

uint64_t invocations(const Dispatch& dispatch) {
  uint64_t product = dispatch.constants[0];
  for (const uint32_t groups : dispatch.groups) product *= groups;
  return product;
}

TEST(VulkanLayout, GridsCoverTheirElementsWithinTheLimits) {
  Capabilities device;
  device.max_workgroup = 64;
  device.max_groups = {10, 7, 5};
  for (uint64_t count = 0; count <= 64 * 10 * 7 * 5; count += count < 2000 ? 1 : 97) {
    Dispatch dispatch;
    set_grid(dispatch, count, device);
    EXPECT_EQ(dispatch.constants, std::vector<uint32_t>({64, 1, 1}));
    EXPECT_GE(invocations(dispatch), count);
    for (size_t axis = 0; axis < 3; ++axis) {
      EXPECT_GE(dispatch.groups[axis], 1u);
      EXPECT_LE(dispatch.groups[axis], device.max_groups[axis]) << count;
    }
    if (count > 64 * 10 * 7) {
      EXPECT_LT(invocations(dispatch), count + count / 2 + 64) << count;
    }
  }
}

TEST(VulkanLayout, ElementCountBeyondTheGridLimitsIsRefused) {
  Capabilities device;
  device.max_workgroup = 64;
  device.max_groups = {10, 7, 5};
  Dispatch dispatch;
  EXPECT_THROW(set_grid(dispatch, 64 * 10 * 7 * 5 + 1, device), ferrule::sdk::Error);
  EXPECT_THROW(set_grid(dispatch, UINT64_MAX, device), ferrule::sdk::Error);
}

}  // namespace
