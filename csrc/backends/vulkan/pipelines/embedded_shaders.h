// The compiled shaders, embedded in the module by Shaders.cmake. Only embedded_shaders.cpp includes their words, about
// a million.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ferrule::vulkan {

// The SPIR-V of kernels/<name>.comp. The name of a shader with variants includes the variant: "elementwise.basic".
// Throws FE_INTERNAL if there is none.
std::span<const uint32_t> find_shader(std::string_view name);
bool has_shader(std::string_view name);

}  // namespace ferrule::vulkan
