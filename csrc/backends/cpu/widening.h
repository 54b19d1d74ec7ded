// Converts half operands for kernels that only support float32, by copies in scratch memory before or after the kernel.
#pragma once

#include "body.h"
#include "operands.h"

namespace ferrule::cpu {

// A half operand and its float32 form, with the same order of axes in memory, so that both are accessed in that order.
struct Widening {
  Operand from;  // axes in memory order, without axes that repeat elements
  Operand wide;
};
Widening widening(const Operand& half);

// A copy between an operand in a half dtype and its contiguous float32 form.
struct Conversion {
  Body body;
  Address from, to;
  LocalMemory local{};  // memory that the body needs, without an address
};
Conversion conversion(const Operand& from, Address from_address, DType to, Address to_address);

}  // namespace ferrule::cpu
