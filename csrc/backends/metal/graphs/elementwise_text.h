// Elementwise ops as the text of a kernel: straight-line code in which each value is a variable. Its functions are
// those of kernels/elementwise/.
#pragma once

#include <ferrule/cpp/axes.hpp>
#include <ferrule/cpp/formats.hpp>

#include <initializer_list>
#include <string>
#include <vector>

#include "graphs/plan.h"

namespace ferrule::metal {

inline std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

// A dtype, as it is stored and as it is computed.
struct Format {
  std::string_view dtype, name;  // "float16", "f16"
  std::string_view stored;       // the type of MSL of an element in memory
  std::string_view computed;     // and of a variable
  // float16, bfloat16 and the float8: loaded and stored by functions, and rounded after each op.
  bool is_half = false;
};
const sdk::Formats<Format>& formats();

// The code that computes one element of each output, and the operands that it accesses. The code reads the offsets
// `at0`, `at1`, ... of the operands, and the pointers `array0`, `array1`, ...
struct ElementCode {
  struct Operand {
    uint32_t value;  // of the graph view
    const Format* format;
    sdk::Strides strides;  // in the outputs' shape, in elements; zero along broadcast axes
    bool is_written;
  };
  std::string text;
  std::vector<std::string_view> files;  // to include
  std::vector<Operand> operands;        // those that are read, then those that are written
  std::string_view own_type = {};       // of the variable `own`, the result of a kernel whose epilogue this is
};

// The code of a node, which is one elementwise op or `fused`. Throws FE_UNSUPPORTED if a function is missing.
ElementCode code_of(const PlannedNode& node);

// iota, the number of each element; or arange, whose inputs are the first element and the step.
ElementCode counting_code_of(const PlannedNode& node);

// The epilogue of an op that is not elementwise: its body, if the node has one, and the stores. `own` is the element of
// the result, unrounded, in the type that its dtype is computed in; it is rounded first, so that fused equals unfused.
// The node's inputs from `own_inputs` on are the body's values from 1 on.
ElementCode epilogue_of(const PlannedNode& node, uint32_t own_inputs);

using sdk::own_dtype;

}  // namespace ferrule::metal
