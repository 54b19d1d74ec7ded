// Whether a module was built for the interface that this core has.
#pragma once

#include "module_file/abi_version.h"

#include <string>

namespace ferrule {

// "" when they fit, else why not, as a part of a sentence about the module. docs/abi.md states the rules.
std::string abi_complaint(const module_file::AbiVersion& module,
                          const module_file::AbiVersion& core = module_file::own_abi());

// The same of what a module shows in this process, which is also held against fe_abi itself.
std::string abi_complaint(const fe_abi* abi, module_file::AbiVersion& version);

}  // namespace ferrule
