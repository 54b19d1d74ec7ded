// The function that a kernel calls for each element of its outputs, as text.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graphs/elementwise_text.h"
#include "graphs/plan.h"

namespace ferrule::metal {

// The host writes these definitions in front of the text of a kernel:
//   OPERAND_PARAMETERS  the arrays, as parameters of the kernel
//   Operands            a struct; `const Operands operands = OPERANDS;` in the kernel, whose parameters are `p`
//   ElementLayouts      the type of `p.layouts`, the last field of the kernel's parameters
//   compute(operands, element[, own])  computes the outputs' element of this number, in C order
struct ElementFunction {
  std::string text;
  std::vector<std::byte> layouts;       // the contents of ElementLayouts
  std::vector<uint32_t> reads, writes;  // values of the graph view, bound from [[buffer(first_buffer)]] on

  // Completes a dispatch that has the kernel's own text, parameters and reads.
  void finish(Dispatch& dispatch) const;
};

// Writes the function for elements of outputs of this shape.
ElementFunction element_function(const ElementCode& code, std::span<const int64_t> shape, uint32_t first_buffer);

// The function of a kernel that leaves parts of results in scratch memory: it stores `own` at place `element`.
ElementFunction partial_function(std::string_view type, uint32_t first_buffer);

}  // namespace ferrule::metal
