// The sources of the kernels, which Metal compiles when a graph needs them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ferrule::metal {

struct EmbeddedText {
  std::string_view name;  // as it is included: "elementwise/arithmetic.metal"
  std::string_view text;
};

std::span<const EmbeddedText> embedded_texts();

// The text with each line `#include "name"` of an embedded file replaced by that file, the first time it is included:
// Metal reads no files. Throws FE_INTERNAL for an unknown name.
std::string flattened(std::string_view text);

// The name of the embedded file that defines this function of elements ("op_exp"); empty if there is none.
std::string_view file_of_function(std::string_view function);

}  // namespace ferrule::metal
