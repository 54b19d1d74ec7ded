#include "pipelines/pipelines.h"

#include "pipelines/embedded_shaders.h"

namespace ferrule::vulkan {
namespace {

// Dispatches with equal keys have equal code.
std::string key_of(const Dispatch& dispatch) {
  std::string key = dispatch.shader;
  for (const uint32_t constant : dispatch.constants) key += ' ' + std::to_string(constant);
  for (const Call& call : dispatch.calls) {
    key += '\n' + call.function;
    for (const Call::Argument& argument : call.arguments)
      key += (argument.is_literal ? " " : " %") + std::to_string(argument.value);
  }
  return key;
}

// Preserves signed zeros, infinities and NaN, and rounds to nearest even, as far as the device can guarantee it.
FloatControls float_controls_of(const Context& context) {
  auto controls =
      typed<VkPhysicalDeviceFloatControlsProperties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES);
  auto properties = typed<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
  properties.pNext = &controls;
  context.instance().api().GetPhysicalDeviceProperties2(context.physical().handle, &properties);
  const auto widths = [&](VkBool32 of16, VkBool32 of32, VkBool32 of64) {
    std::vector<uint32_t> list;
    if (of16 && context.capabilities().float16) list.push_back(16);
    if (of32) list.push_back(32);
    if (of64 && context.capabilities().float64) list.push_back(64);
    return list;
  };
  return {.denorm_preserve = widths(controls.shaderDenormPreserveFloat16, controls.shaderDenormPreserveFloat32,
                                    controls.shaderDenormPreserveFloat64),
          .signed_zero_inf_nan_preserve =
              widths(controls.shaderSignedZeroInfNanPreserveFloat16, controls.shaderSignedZeroInfNanPreserveFloat32,
                     controls.shaderSignedZeroInfNanPreserveFloat64),
          .rounding_mode_rte = widths(controls.shaderRoundingModeRTEFloat16, controls.shaderRoundingModeRTEFloat32,
                                      controls.shaderRoundingModeRTEFloat64)};
}

}  // namespace

Pipelines::Pipelines(Context& context, size_t max_idle)
    : context_(context), float_controls_(float_controls_of(context)), cache_(context), pipelines_(max_idle) {
  const auto& vk = context.api();
  const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(Push)};
  auto layout = typed<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &range;
  check(vk.CreatePipelineLayout(context.device(), &layout, nullptr, &layout_), "vkCreatePipelineLayout");
}

Pipelines::~Pipelines() {
  pipelines_.clear();
  context_.api().DestroyPipelineLayout(context_.device(), layout_, nullptr);
}

PipelinePointer Pipelines::get(const Dispatch& dispatch) {
  return pipelines_.get(key_of(dispatch), [&] {
    PipelinePointer made = make(dispatch);
    has_new_ = true;
    return made;
  });
}

void Pipelines::save() noexcept {
  if (has_new_.exchange(false)) cache_.save();
}

PipelinePointer Pipelines::make(const Dispatch& dispatch) const {
  const auto& vk = context_.api();
  const std::span<const uint32_t> shader = find_shader(dispatch.shader);
  const std::vector<uint32_t> words = dispatch.calls.empty()
                                          ? with_float_controls(shader, float_controls_)
                                          : with_float_controls(splice(shader, dispatch.calls), float_controls_);

  auto module_info = typed<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
  module_info.codeSize = 4 * words.size();
  module_info.pCode = words.data();
  VkShaderModule module = VK_NULL_HANDLE;
  check(vk.CreateShaderModule(context_.device(), &module_info, nullptr, &module), "vkCreateShaderModule");

  std::vector<VkSpecializationMapEntry> entries;
  entries.reserve(dispatch.constants.size());
  for (uint32_t i = 0; i < dispatch.constants.size(); ++i) entries.push_back({i, 4 * i, 4});
  const VkSpecializationInfo constants{static_cast<uint32_t>(entries.size()), entries.data(),
                                       4 * dispatch.constants.size(), dispatch.constants.data()};
  auto info = typed<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
  info.stage = typed<VkPipelineShaderStageCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO);
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  if (dispatch.has_full_subgroups) info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT;
  info.stage.module = module;
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = &constants;
  info.layout = layout_;
  VkPipeline pipeline = VK_NULL_HANDLE;
  const PipelineCache::Pointer cache = cache_.get();
  const VkResult result = vk.CreateComputePipelines(context_.device(), *cache, 1, &info, nullptr, &pipeline);
  vk.DestroyShaderModule(context_.device(), module, nullptr);
  check(result, "vkCreateComputePipelines");
  return std::make_shared<const Pipeline>(context_, pipeline);
}

}  // namespace ferrule::vulkan
