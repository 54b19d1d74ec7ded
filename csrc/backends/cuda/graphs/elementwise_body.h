// Elementwise ops as programs of parameters/elementwise.h.
#pragma once

#include <ferrule/cpp/body.hpp>

#include <optional>
#include <vector>

#include "graphs/plan.h"
#include "parameters/elementwise.h"

namespace ferrule::cuda {

// A program, and the values of the graph view that are its operands.
struct Body {
  struct Place {
    uint32_t value;
    bool is_written, is_scalar;
    bool is_computed = false;  // by the op that the body is fused to: `value` is unused
  };
  std::vector<elementwise::Operand> operands;
  std::vector<Place> places;  // of the operands
  std::vector<elementwise::Instruction> instructions;
  uint32_t slots = 0;
  bool is_wide = false;     // some value has 64 bits
  bool has_faults = false;  // pow of integers
  uint64_t count = 0;       // elements
  uint32_t rank = 0;
  bool is_near = false;
  int64_t shape[max_rank] = {};  // the last axis first
};

// The body of a node, which is one elementwise op or `fused`. Throws FE_UNSUPPORTED if a function is missing.
Body body_of(const PlannedNode& node);

// The ops that are fused to an op that is not elementwise. Operand 0 is what that op computes, rounded to own_dtype(),
// in the order of the results. The node's inputs from `own_inputs` on are the body's values from 1 on.
Body epilogue_of(const PlannedNode& node, uint32_t own_inputs);

using sdk::own_dtype;

// Whether it is a SmallProgram of values of up to 32 bits, which kernels run on what they computed.
bool is_epilogue(const Body& body);
elementwise::SmallProgram epilogue_program(const Body& body);

// Binds the operands in memory of the program at `offset` of the launch's parameters. `computed`: see launch_of; a
// kernel that has what it computed in registers needs no address.
void bind_operands(const Body& body, Launch& launch, size_t offset, std::optional<uint64_t> computed = std::nullopt);

// The launch that runs a body by itself. What the op before it computed is `computed` bytes from the start of the
// node's scratch memory.
Launch launch_of(const Body& body, uint64_t computed = 0);

}  // namespace ferrule::cuda
