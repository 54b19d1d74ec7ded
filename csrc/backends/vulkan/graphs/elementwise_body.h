// Elementwise ops as calls of the functions of kernels/elementwise/, which are spliced into a shader: kernels/elementwise.comp, or
// one that computes something of its own and lets them follow.
#pragma once

#include <string>
#include <vector>

#include "graphs/layout.h"
#include "graphs/plan.h"

namespace ferrule::vulkan {

// What is spliced, and what it touches. `operands` is what the shader finds as `operands` of
// kernels/elementwise/operand_access.glsl: first those that are read, then those that are written.
struct Body {
  std::vector<Call> calls;
  std::vector<Layout> operands;
  std::vector<uint32_t> reads, writes;  // values of the view
  bool uses_float64 = false;            // and so needs a variant of the shader that has it
};

// A node of one elementwise op, or of `fused`. Throws FE_UNSUPPORTED for what there is no function for.
Body body_of(const PlannedNode& node);

// What follows the result of an op that is not elementwise: its body, if the node has one, and the stores. The shader's
// function `result_f32` (no parameters; or `result_i64`, ...) gives the result's element in what its dtype is computed
// in, unrounded: it is rounded first of all, so that fused equals unfused. The node's inputs from `own_inputs` on are
// those of the body from value 1 on. The element that `element` counts is that of the outputs' shape.
Body epilogue_of(const PlannedNode& node, uint32_t own_inputs);

// The dtype of what an op that is not elementwise computes, before its epilogue.
fe_dtype own_dtype(const PlannedNode& node);

// Has a dispatch end with it: the shader finds the operands' layouts directly behind its own parameters.
void finish_with(Body body, Dispatch& dispatch);

}  // namespace ferrule::vulkan
