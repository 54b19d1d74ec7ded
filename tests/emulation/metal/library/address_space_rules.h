// Metal Shading Language Specification, "Address Spaces": a pointer or a reference says the address space of what it
// points to. clang takes one without it.
#pragma once

#include <vector>

#include "metal/library/tokens.h"

namespace emulation::metal {

// Throws CompileError for a parameter, a variable, a field, a function's result or a cast without an address space.
void check_address_spaces(const std::vector<Token>& tokens);

}  // namespace emulation::metal
