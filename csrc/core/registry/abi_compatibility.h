// Checks whether a module was built for this core's interface.
#pragma once

#include "module_file/abi_version.h"

#include <string>

namespace ferrule {

// "" when module and core fit, else the reason, which completes a sentence about the module. The rules are in
// docs/develop/abi.md.
std::string abi_complaint(const module_file::AbiVersion& module,
                          const module_file::AbiVersion& core = module_file::own_abi());

// abi_complaint() for the constant of an opened module. Checks that `abi` is valid and stores what it says in
// `version`.
std::string abi_complaint(const fe_abi* abi, module_file::AbiVersion& version);

}  // namespace ferrule
