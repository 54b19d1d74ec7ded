// Elementwise ops as calls of the functions of kernels/elementwise/. The calls are spliced into a shader:
// kernels/elementwise.comp, or a shader whose own result they process.
#pragma once

#include <ferrule/cpp/body.hpp>

#include <string>
#include <vector>

#include "graphs/layout.h"
#include "graphs/plan.h"

namespace ferrule::vulkan {

// The spliced calls, and the operands they access. `operands` becomes the shader's `operands` of
// kernels/elementwise/operand_access.glsl: first those that are read, then those that are written.
struct Body {
  std::vector<Call> calls;
  std::vector<Layout> operands;
  std::vector<uint32_t> reads, writes;  // values of the graph view
  bool uses_float64 = false;            // needs the shader variant with float64
};

// The body of a node, which is one elementwise op or `fused`. Throws FE_UNSUPPORTED if a function is missing.
Body body_of(const PlannedNode& node);

// The body of arange: the element's number times the step, plus the start, both of which are in the dtype that they are
// computed in, int64 or float64.
Body arange_body(const PlannedNode& node);

// The epilogue of an op that is not elementwise: its body, if the node has one, and the stores. The shader's function
// `result_f32` (no parameters; or `result_i64`, ...) returns the element of the result, unrounded, in the type that its
// dtype is computed in. The epilogue rounds it first, so that fused equals unfused. The node's inputs from `own_inputs`
// on are the body's values from 1 on. `element` counts in the outputs' shape.
Body epilogue_of(const PlannedNode& node, uint32_t own_inputs);

using sdk::own_dtype;

// Adds the body to a dispatch. The shader finds the operands' layouts directly after its own parameters.
void finish_with(Body body, Dispatch& dispatch);

}  // namespace ferrule::vulkan
