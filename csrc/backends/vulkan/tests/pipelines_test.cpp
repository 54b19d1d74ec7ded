// Compiled shaders of the Vulkan backend: which are kept and which are destroyed.
#include "pipelines/pipelines.h"

#include "device_fixture.h"

#include <atomic>
#include <thread>

namespace ferrule::test {
namespace {

using vulkan::PipelinePointer;

class VulkanPipelines : public VulkanContext {
 protected:
  static vulkan::Dispatch dispatch(uint32_t workgroup) {
    vulkan::Dispatch dispatch;
    dispatch.shader = "iota.u32";
    dispatch.constants = {workgroup, 1, 1};
    return dispatch;
  }
};

TEST_F(VulkanPipelines, UnusedPipelinesAreEvictedLeastRecentlyUsedFirst) {
  vulkan::Pipelines pipelines(*context, 2);
  for (uint32_t workgroup = 1; workgroup <= 5; ++workgroup) pipelines.get(dispatch(workgroup));
  EXPECT_LE(pipelines.count(), 3u);  // the last one was in use when it was created
  const VkPipeline five = pipelines.get(dispatch(5))->handle();
  pipelines.get(dispatch(6));
  EXPECT_EQ(pipelines.get(dispatch(5))->handle(), five);
}

TEST_F(VulkanPipelines, PipelinesInUseAreNeverEvicted) {
  vulkan::Pipelines pipelines(*context, 0);
  std::vector<PipelinePointer> used;
  for (uint32_t workgroup = 1; workgroup <= 8; ++workgroup) used.push_back(pipelines.get(dispatch(workgroup)));
  EXPECT_EQ(pipelines.count(), 8u);
  for (uint32_t workgroup = 1; workgroup <= 8; ++workgroup)
    EXPECT_EQ(pipelines.get(dispatch(workgroup)), used[workgroup - 1]);
  used.clear();
  const PipelinePointer last = pipelines.get(dispatch(9));
  EXPECT_EQ(pipelines.count(), 1u);
}

TEST_F(VulkanPipelines, EightThreadsGetTheirPipelines) {
  vulkan::Pipelines pipelines(*context, 3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (uint32_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (uint32_t turn = 0; turn < 50; ++turn) {
        const PipelinePointer first = pipelines.get(dispatch(1 + (t + turn) % 6));
        if (first->handle() == VK_NULL_HANDLE || pipelines.get(dispatch(1 + (t + turn) % 6)) != first) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  pipelines.get(dispatch(7));
  EXPECT_LE(pipelines.count(), 4u);
}

}  // namespace
}  // namespace ferrule::test
