// Tests of the choice of copies that the Vulkan backend performs in tiles.
#include "graphs/compile_graph.h"

#include <string>

#include "graph_view.h"

namespace ferrule::test {
namespace {

using vulkan::Capabilities;
using vulkan::Dispatch;
using vulkan::Plan;

class VulkanCopy : public PlansNodes {
 protected:
  static Axes contiguous(const Axes& shape) {
    Axes strides(shape.size());
    int64_t stride = 1;
    for (size_t axis = shape.size(); axis-- > 0; stride *= shape[axis]) strides[axis] = stride;
    return strides;
  }
  static Dispatch copy(const Axes& shape, const Axes& strides, std::string_view dtype = "float32",
                       const Capabilities& device = {}) {
    return only_dispatch("copy", nullptr, dtype, shape, strides, dtype, device);
  }
  static Dispatch only_dispatch(std::string_view op, const void* attributes, std::string_view from, const Axes& shape,
                                const Axes& strides, std::string_view to, const Capabilities& device = {}) {
    View view;
    view.input(from, shape, strides);
    view.output(to, shape, contiguous(shape));
    const Plan plan = vulkan::plan_of(view.planned(op, attributes), device);
    EXPECT_TRUE(plan.support.supported) << plan.support.reason;
    EXPECT_EQ(plan.launches.size(), 1u);
    return plan.launches.at(0);
  }
};

TEST_F(VulkanCopy, TransposedItemsOfEverySizeUseTiles) {
  for (const DTypeRow& row : dtype_rows) {
    if (row.block_bytes > 8) continue;
    EXPECT_EQ(copy({100, 257}, {1, 100}, row.name).shader, "transpose.u" + std::to_string(8 * row.block_bytes))
        << row.name;
  }
}

TEST_F(VulkanCopy, PermutationsOfTheInnermostAxisUseTiles) {
  EXPECT_EQ(copy({5, 17, 33}, {561, 1, 17}).shader, "transpose.u32");
  EXPECT_EQ(copy({17, 5, 33}, {1, 561, 17}).shader, "transpose.u32");
  EXPECT_EQ(copy({3, 9, 2, 8, 4}, {1, 3, 27, 54, 432}).shader, "elementwise.basic") << "the nearest axis is narrow";
  EXPECT_EQ(copy({9, 3, 2, 4, 8}, {1, 9, 27, 54, 216}).shader, "transpose.u32");
  EXPECT_EQ(copy({2, 3, 4, 9}, {1, 2, 6, 24}).shader, "elementwise.basic");
  EXPECT_EQ(copy({2, 3, 4, 9}, {12, 4, 1, 24}).shader, "transpose.u32") << "axes that continue each other are one";
}

TEST_F(VulkanCopy, ReversedStridedAndBroadcastAxesUseTiles) {
  EXPECT_EQ(copy({100, 257}, {-1, 100}).shader, "transpose.u32");
  EXPECT_EQ(copy({100, 257}, {1, -100}).shader, "transpose.u32");
  EXPECT_EQ(copy({50, 257}, {2, 100}).shader, "transpose.u32");
  EXPECT_EQ(copy({50, 3, 257}, {1, 0, 100}).shader, "transpose.u32");
}

TEST_F(VulkanCopy, OtherCopiesAreElementwise) {
  EXPECT_EQ(copy({100, 257}, {257, 1}).shader, "elementwise.basic");
  EXPECT_EQ(copy({100, 257}, {514, 2}).shader, "elementwise.basic");
  EXPECT_EQ(copy({100, 257}, {-257, -1}).shader, "elementwise.basic");
  EXPECT_EQ(copy({5, 17, 33}, {33, 165, 1}).shader, "elementwise.basic") << "rows stay whole";
  EXPECT_EQ(copy({100, 257}, {1, 0}).shader, "elementwise.basic");
  EXPECT_EQ(copy({7, 1000}, {1, 7}).shader, "elementwise.basic");
  EXPECT_EQ(copy({1000, 7}, {1, 1000}).shader, "elementwise.basic");
  EXPECT_EQ(copy({0, 8, 8}, {64, 1, 8}).shader, "elementwise.basic");
  EXPECT_EQ(copy({}, {}).shader, "elementwise.basic");
  EXPECT_EQ(copy({100, 257}, {8, 800}).shader, "transpose.u32") << "two in a line of 64 bytes";
  EXPECT_EQ(copy({100, 257}, {9, 900}).shader, "elementwise.basic");
  EXPECT_EQ(copy({100, 257}, {9, 900}, "float16").shader, "transpose.u16");
}

TEST_F(VulkanCopy, ConversionsAndOtherOpsAreElementwise) {
  const fe_astype_attributes to_int{sizeof(to_int), dtype_id("int32")};
  EXPECT_EQ(only_dispatch("astype", &to_int, "float32", {100, 257}, {1, 100}, "int32").shader, "elementwise.basic");
  EXPECT_EQ(only_dispatch("negative", nullptr, "float32", {100, 257}, {1, 100}, "float32").shader, "elementwise.basic");
}

TEST_F(VulkanCopy, EachTileIsOneWorkgroupWithinTheDeviceLimits) {
  EXPECT_EQ(copy({100, 257}, {1, 100}, "float32", {.max_workgroup = 1024}).constants,
            std::vector<uint32_t>({256, 1, 1}));
  const Capabilities device = {.max_workgroup = 64, .max_groups = {10, 7, 5}};
  const Dispatch found = copy({5, 100, 257}, {25700, 1, 100}, "float32", device);
  EXPECT_EQ(found.constants, std::vector<uint32_t>({64, 1, 1}));
  uint64_t groups = 1;
  for (size_t axis = 0; axis < 3; ++axis) {
    EXPECT_LE(found.groups[axis], device.max_groups[axis]);
    groups *= found.groups[axis];
  }
  EXPECT_GE(groups, 5u * 4 * 9);
}

}  // namespace
}  // namespace ferrule::test
