// The instructions of a fused node, for modules that write programs or shaders for them.
#pragma once

#include <ferrule/graph_view.h>

#include <span>
#include <utility>
#include <vector>

namespace ferrule::sdk {

// The values of a body: `values`, which are its inputs, and what `apply(instruction, inputs)` gives for each
// instruction. fe_body.outputs are numbers of them.
template <class Value, class Apply>
std::vector<Value> values_of(const fe_body& body, std::vector<Value> values, const Apply& apply) {
  values.reserve(values.size() + body.instruction_count);
  std::vector<Value> inputs;
  for (uint32_t i = 0; i < body.instruction_count; ++i) {
    const fe_instruction& instruction = *body.instructions[i];
    inputs.clear();
    for (uint32_t k = 0; k < instruction.input_count; ++k) inputs.push_back(values[instruction.inputs[k]]);
    values.push_back(apply(instruction, std::span<const Value>(inputs)));
  }
  return values;
}

}  // namespace ferrule::sdk
