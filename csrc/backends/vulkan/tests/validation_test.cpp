// Messages of the validation layer when it instruments shaders with address checks ("GPU-assisted").
#include "pipelines/pipelines.h"

#include "device_fixture.h"

namespace ferrule::test {
namespace {

class VulkanGpuAssisted : public VulkanContext {
 protected:
  // iota.u32, with parameters at that address.
  void run_with_parameters_at(uint64_t address) {
    const vulkan::Allocation fault = allocate(256);
    vulkan::Dispatch dispatch;
    dispatch.shader = "iota.u32";
    dispatch.constants = {1, 1, 1};
    const vulkan::PipelinePointer pipeline = context->pipelines().get(dispatch);
    const vulkan::Push push{fault.address, address, 0, 0};
    vulkan::Queue queue(context);
    queue.submit({}, [&](VkCommandBuffer commands) {
      const auto& vk = context->api();
      vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->handle());
      vk.CmdPushConstants(commands, context->pipelines().layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push, &push);
      vk.CmdDispatch(commands, 1, 1, 1);
    });
    queue.record()->wait(-1);
  }

 private:
  const Variable enabled_{"VK_LAYER_ENABLES", "VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT"};
};

TEST_F(VulkanGpuAssisted, AcceptsValidAddresses) {
  const vulkan::Allocation zeros = allocate(256);
  vulkan::Queue queue(context);
  queue.submit({&zeros}, [&](VkCommandBuffer commands) {
    context->api().CmdFillBuffer(commands, zeros.buffer, zeros.offset, 256, 0);  // a count of zero
  });
  queue.record()->wait(-1);
  run_with_parameters_at(zeros.address);
}

TEST_F(VulkanGpuAssisted, FindsAnInvalidAddress) {
  run_with_parameters_at(uint64_t{1} << 40);
  const auto finding = instance->take_finding();
  ASSERT_TRUE(finding);
  EXPECT_NE(finding->find("Device address 0x10000000000 access out of bounds"), std::string::npos) << *finding;
  Log::instance().take();
}

}  // namespace
}  // namespace ferrule::test
