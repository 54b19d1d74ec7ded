// Elementwise programs as the text of a kernel of their own (kernels/elementwise/generated_program.h): straight-line
// code, in which each value is a variable. It computes what the table-driven kernels compute, with the same bits.
#pragma once

#include <optional>
#include <string>

#include "graphs/plan.h"
#include "parameters/elementwise.h"

namespace ferrule::cuda {

// A kernel for a launch of launch_of(body).
struct ElementwiseText {
  // Depends on instructions, formats, accesses and rank alone. Shapes, strides, addresses and scalars are parameters.
  std::string text;
  bool has_math = false;  // it calls functions whose bits depend on CUDA's version, such as exp
  uint32_t blocks = 0;    // of the launch
};

// Size of a program: elements and instructions.
struct ProgramSize {
  uint64_t count;
  uint32_t instructions;
};
ProgramSize program_size(const Launch& launch);

// The kernel is called `name`. None if its values need more registers than a thread has, or more blocks
// than a grid has.
std::optional<ElementwiseText> elementwise_text(const Launch& launch, const std::string& name);

// The launch of the generated kernel: another grid, and parameters without the instructions.
Launch generated_launch(Launch launch, const ElementwiseText& text);

}  // namespace ferrule::cuda
