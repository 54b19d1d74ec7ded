// Elementwise ops as a program: instructions over values of one element. The host writes it
// (graphs/elementwise_body.h), and the kernels of kernels/elementwise/ run it for every element. Every op is a function
// of elementwise_functions.inc.
#pragma once

#include "parameters/common.h"

namespace ferrule::cuda::elementwise {

// Format of a stored element.
enum class Format : uint8_t { boolean, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64 };

// The type that a function computes in: of `boolean` u32, which is 0 or 1; of narrow integers i32 and u32; of f16 and
// bf16 f32.
enum class Type : uint8_t { i32, u32, i64, u64, f32, f64 };

enum class Function : uint16_t {
#define FUNCTION(name, ...) name,
#include "parameters/elementwise_functions.inc"
#undef FUNCTION
  count
};

enum class Access : uint8_t {
  flat,      // element i is at item i
  single,    // all elements are at item 0
  constant,  // the item itself is in `address`
  strided,   // strides of the program's shape
};

// Memory that is read or written.
struct Operand {
  Address address;
  int64_t strides[max_rank];  // in elements, of the program's shape
  Format format;
  Access access;
  uint8_t unused[6];
};

// A source of an instruction: a slot, or an operand that is read.
inline constexpr uint8_t is_operand = 0x80, no_slot = 0xff;

// slots[result] = as(format, function<type>(sources...)), and the same into the operand `output`.
struct Instruction {
  Function function;
  Type type;
  Format format;       // to which the result is rounded or wrapped; a function that ends in this type leaves it so
  uint8_t sources[3];  // no_slot behind the last one
  uint8_t result;      // a slot, or no_slot
  uint8_t output;      // an operand, or no_slot
  uint8_t unused[3];
  uint32_t detail;  // pow of integers: the fe_dtype, for its fault
};

// A program of up to `Operands` operands and `Instructions` instructions. Kernels take the first bytes of it.
template <int Operands, int Instructions>
struct Program {
  uint64_t count;  // elements
  Address fault;
  uint32_t operands, instructions;
  uint32_t rank, is_near;  // of the shape; 1 if element numbers and all offsets fit in 31 bits
  uint32_t is_narrow;      // 1 if no operand in memory has items of more than 16 bits
  uint32_t unused;
  int64_t shape[max_rank];  // the last axis first
  Operand operand[Operands];
  Instruction instruction[Instructions];
};
// Slots of values that a kernel of each size keeps.
inline constexpr int small_operands = 6, small_instructions = 8, small_slots = 6;
inline constexpr int large_operands = 128, large_instructions = 128, large_slots = 127;
using SmallProgram = Program<small_operands, small_instructions>;
using LargeProgram = Program<large_operands, large_instructions>;

// The parameters of a kernel that is generated from a program: the program up to its last operand.
template <int Operands>
struct OperandTable {
  uint64_t count;
  Address fault;
  uint32_t operands, instructions, rank, is_near, is_narrow, unused;
  int64_t shape[max_rank];
  Operand operand[Operands];
};

}  // namespace ferrule::cuda::elementwise
