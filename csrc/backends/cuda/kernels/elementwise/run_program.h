// Runs the instructions of a program for the items of a thread. elementwise.cu runs programs on operands in memory;
// another kernel runs them on values that it has in registers:
//
//   struct Epilogue {  // operand 0 is what the kernel computed
//     const SmallProgram& p;
//     const Elements<1>& elements;
//     const uint32_t (&computed)[4];
//     __device__ void load(uint32_t operand, uint32_t (&values)[4]) const {
//       if (operand != 0) return load_operand(p, p.operand[operand], elements, values);
//       for (int i = 0; i < 4; ++i) values[i] = computed[i];
//     }
//     __device__ void store(uint32_t operand, const uint32_t (&values)[4]) const {
//       store_operand(p, p.operand[operand], elements, values);
//     }
//   };
//   run_program<uint32_t, 4, small_slots>(p, Epilogue{p, elements, computed});
#pragma once

#include "kernels/elementwise/activation.h"
#include "kernels/elementwise/arithmetic.h"
#include "kernels/elementwise/bitwise.h"
#include "kernels/elementwise/comparison.h"
#include "kernels/elementwise/conversion.h"
#include "kernels/elementwise/error_function.h"
#include "kernels/elementwise/exponential.h"
#include "kernels/elementwise/logical.h"
#include "kernels/elementwise/operand_access.h"
#include "kernels/elementwise/rounding.h"
#include "kernels/elementwise/selection.h"
#include "kernels/elementwise/trigonometric.h"

namespace ferrule::cuda::elementwise {

// An argument of a function, which becomes the type of its parameter.
template <class Word>
struct Argument {
  Word word;
  template <class T>
  __device__ __forceinline__ operator T() const {
    return bits_as<T>(static_cast<Bits<T>>(word));
  }
};

// The arguments of an instruction, for all items of a thread.
template <class Word, int items>
struct Arguments {
  Word a[items], b[items], c[items];
};

template <class T>
struct Computed {};

// `call` for each item, in a type T of the function.
template <class T, class Word, int items, class Call>
__device__ __forceinline__ void call_each(const Arguments<Word, items>& arguments, Word (&results)[items],
                                          const FaultContext& context, Call call) {
  FERRULE_UNROLL
  for (int i = 0; i < items; ++i) {
    const auto result = call(Computed<T>{}, Argument<Word>{arguments.a[i]}, Argument<Word>{arguments.b[i]},
                             Argument<Word>{arguments.c[i]}, context);
    // A program with a result of 64 bits has Words of 64 bits.
    if constexpr (sizeof(result) <= sizeof(Word)) results[i] = bits_as<Bits<decltype(+result)>>(result);
  }
}
template <uint32_t types, class Word, int items, class Call>
__device__ __forceinline__ void call_in_type(Type type, const Arguments<Word, items>& arguments, Word (&results)[items],
                                             const FaultContext& context, Call call) {
#define FERRULE_TYPE(name, T)                                                       \
  if constexpr ((types & set_of<Type::name>) != 0 && sizeof(T) <= sizeof(Word)) {   \
    if (type == Type::name) return call_each<T>(arguments, results, context, call); \
  }
  FERRULE_TYPE(f32, float)
  FERRULE_TYPE(i32, int32_t)
  FERRULE_TYPE(u32, uint32_t)
  FERRULE_TYPE(f64, double)
  FERRULE_TYPE(i64, int64_t)
  FERRULE_TYPE(u64, uint64_t)
#undef FERRULE_TYPE
}

template <class Arguments, class Results>
__device__ __forceinline__ void call_function(const Instruction& instruction, const Arguments& arguments,
                                              Results& results, Address fault) {
  const FaultContext fault_context = {fault, instruction.detail};
  switch (instruction.function) {
#define FERRULE_FIRST_1 a
#define FERRULE_FIRST_2 a, b
#define FERRULE_FIRST_3 a, b, c
#define FUNCTION(name, arity, types, ...)                                                                   \
  case Function::name:                                                                                      \
    call_in_type<types>(instruction.type, arguments, results, fault_context,                                \
                        []<class T>(Computed<T>, auto a, [[maybe_unused]] auto b, [[maybe_unused]] auto c,  \
                                    [[maybe_unused]] const FaultContext& context) {                         \
                          if constexpr (requires { elementwise::name<T>(FERRULE_FIRST_##arity, context); }) \
                            return elementwise::name<T>(FERRULE_FIRST_##arity, context);                    \
                          else                                                                              \
                            return elementwise::name<T>(FERRULE_FIRST_##arity);                             \
                        });                                                                                 \
    break;
#include "parameters/elementwise_functions.inc"
#undef FUNCTION
#undef FERRULE_FIRST_1
#undef FERRULE_FIRST_2
#undef FERRULE_FIRST_3
    default:
      break;
  }
}

// Operands have the functions `load(operand number, values)` and `store(operand number, values)`.
template <class Word, int items, int slot_count, class Program, class Operands>
__device__ __forceinline__ void run_program(const Program& p, const Operands& operands) {
  Word slots[slot_count][items];
  const auto fetch = [&](uint8_t source, Word(&values)[items]) {
    if (source == no_slot) return;
    if ((source & is_operand) != 0) return operands.load(source & ~is_operand, values);
    FERRULE_UNROLL
    for (int i = 0; i < items; ++i) values[i] = slots[source][i];
  };
  for (uint32_t number = 0; number < p.instructions; ++number) {
    const Instruction& instruction = p.instruction[number];
    Arguments<Word, items> arguments = {};
    fetch(instruction.sources[0], arguments.a);
    fetch(instruction.sources[1], arguments.b);
    fetch(instruction.sources[2], arguments.c);
    Word results[items] = {};
    call_function(instruction, arguments, results, p.fault);
    round_to(instruction.format, results);
    if (instruction.result != no_slot) {
      FERRULE_UNROLL
      for (int i = 0; i < items; ++i) slots[instruction.result][i] = results[i];
    }
    if (instruction.output != no_slot) operands.store(instruction.output, results);
  }
}

}  // namespace ferrule::cuda::elementwise
