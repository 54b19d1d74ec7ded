// Whether a module was built for the interface that this core has.
#pragma once

#include <ferrule/abi.h>

#include <cstdint>
#include <string>

namespace ferrule {

// "" when it fits, else why not, as a part of a sentence about the module.
std::string abi_complaint(uint32_t major, uint32_t minor, uint64_t layout_hash);
std::string abi_complaint(const fe_abi& abi);

}  // namespace ferrule
