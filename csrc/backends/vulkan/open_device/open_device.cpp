#include "open_device/open_device.h"

#include <string>
#include <string_view>
#include <utility>

#include "pipelines/embedded_shaders.h"

namespace ferrule::vulkan {
namespace {

// The shader variant for the option cooperative_matrices.
std::string_view cooperative_matrices(const PhysicalDevice& device, const std::string& wanted) {
  if (wanted == "no") return "";
  if (wanted != "yes" && wanted != "simulated")
    throw sdk::Error(FE_INVALID_ARGUMENT,
                     "option cooperative_matrices is '" + wanted + "', and must be no, yes or simulated");
  const auto need = [&](bool is_there, const char* what) {
    if (!is_there) throw sdk::Error(FE_UNSUPPORTED, "option cooperative_matrices is '" + wanted + "', and " + what);
  };
  const Capabilities& capabilities = device.capabilities;
  need(capabilities.float16, "the device does not compute in float16");
  need(capabilities.subgroup_size >= 8 && capabilities.subgroup_size <= 128 && capabilities.max_workgroup >= 128,
       "the device has no full subgroups of 8 to 128 invocations");
  if (wanted == "simulated") return "simulated";
  need(has_shader("matmul_cooperative.subgroup_khr_f16"),
       "this module was built by a GLSL compiler without them (glslang 13 or newer has them)");
  need(device.has_cooperative_matrices, "the device has none of 16 by 16 float16 with sums in float32");
  return "khr";
}

size_t idle_pipelines(const sdk::Options& options) {
  const int64_t most = options.integer("idle_pipelines", 128);
  if (most < 0)
    throw sdk::Error(FE_INVALID_ARGUMENT, "option idle_pipelines is '" + std::to_string(most) + "', and must be >= 0");
  return static_cast<size_t>(most);
}

// The device with the capabilities that the options leave it.
PhysicalDevice with_options(PhysicalDevice device, const sdk::Options& options) {
  Capabilities& capabilities = device.capabilities;
  if (!options.boolean("subgroups", true)) capabilities.subgroup_size = 1;
  capabilities.cooperative_matrices = cooperative_matrices(device, options.text("cooperative_matrices", "no"));
  return device;
}

}  // namespace

OpenDevice::OpenDevice(std::shared_ptr<Instance> instance, const PhysicalDevice& physical, const sdk::Options& options)
    : Context(std::move(instance), with_options(physical, options)),
      faults_(options),
      memory_(*this),
      host_allocations_(memory_),
      pipelines_(*this, idle_pipelines(options)),
      recordings_(*this) {}

}  // namespace ferrule::vulkan
