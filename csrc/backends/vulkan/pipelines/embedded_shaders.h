// The compiled shaders, embedded in the module by Shaders.cmake. Only embedded_shaders.cpp includes their words, a
// million of them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ferrule::vulkan {

// SPIR-V of kernels/<name>.comp; of a shader with variants the name is "elementwise.basic". Throws FE_INTERNAL for one
// that is not there.
std::span<const uint32_t> find_shader(std::string_view name);
bool has_shader(std::string_view name);

}  // namespace ferrule::vulkan
