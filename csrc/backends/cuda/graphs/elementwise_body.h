// Elementwise ops as programs of parameters/elementwise.h.
#pragma once

#include <vector>

#include "graphs/plan.h"
#include "parameters/elementwise.h"

namespace ferrule::cuda {

// A program, and the values of the graph view that are its operands.
struct Body {
  struct Place {
    uint32_t value;
    bool is_written, is_scalar;
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

// The launch that runs a body by itself.
Launch launch_of(const Body& body, const Capabilities& capabilities);

}  // namespace ferrule::cuda
