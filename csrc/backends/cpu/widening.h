// Half operands for kernels that know float32 only: a copy in scratch memory before or after the kernel.
#pragma once

#include "body.h"
#include "operands.h"

namespace ferrule::cpu {

// A half operand and its float32 form, whose axes lie in memory in the same order: both are walked as memory lies.
struct Widening {
  Operand from;  // axes in the order of memory, without those that repeat elements
  Operand wide;
};
Widening widening(const Operand& half);

// A copy between an operand in a half dtype and its contiguous float32 form.
struct Conversion {
  Body body;
  Address from, to;
  LocalMemory local{};  // that the body computes in, without an address
};
Conversion conversion(const Operand& from, Address from_address, DType to, Address to_address);

}  // namespace ferrule::cpu
