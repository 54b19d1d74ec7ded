// The sources that generated kernels include, embedded in the module by EmbedHeaders.cmake.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ferrule::cuda {

struct KernelHeader {
  const char* name;  // as it is included: "kernels/device.h"
  std::string_view text;
};

std::span<const KernelHeader> kernel_headers();

}  // namespace ferrule::cuda
