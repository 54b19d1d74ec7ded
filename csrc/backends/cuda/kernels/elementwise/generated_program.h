// The text of a generated kernel (graphs/elementwise_text.h) calls these: the functions of the table-driven
// kernels, on values that have their own types, of operands whose formats and places the compiler knows.
//
//   FERRULE_KERNEL(generated, OperandTable<3>, block_threads) {
//     const TileElements<2, Adjacency::never> elements = {p.count, p.is_narrow};
//     if (!elements.has(0)) return;
//     const KnownShape<1, true> shape = {p.shape};
//     float x0[elements.items];
//     load<Format::f32, Access::flat>(shape, p.operand[0], elements, x0);
//     float v0[elements.items];
//     apply<calls::exp, float, Format::f32>({p.fault, 0}, v0, x0);
//     store<Format::f32, Access::flat>(shape, p.operand[2], elements, v0);
//   }
#pragma once

#include "kernels/elementwise/run_program.h"

namespace ferrule::cuda::elementwise {

// The type that values of a format are computed in.
template <Format format>
__device__ constexpr auto zero_of() {
  if constexpr (format == Format::boolean || format == Format::u8 || format == Format::u16 || format == Format::u32)
    return uint32_t{0};
  else if constexpr (format == Format::i8 || format == Format::i16 || format == Format::i32)
    return int32_t{0};
  else if constexpr (format == Format::i64)
    return int64_t{0};
  else if constexpr (format == Format::u64)
    return uint64_t{0};
  else if constexpr (format == Format::f64)
    return 0.0;
  else
    return 0.0f;
}
template <Format format>
using ComputedOf = decltype(zero_of<format>());

// Operand and Program with constants.
template <Format own_format, Access own_access>
struct KnownOperand {
  static constexpr Format format = own_format;
  static constexpr Access access = own_access;
  const Address& address;
  const int64_t (&strides)[max_rank];
};
template <uint32_t own_rank, bool near>
struct KnownShape {
  static constexpr uint32_t rank = own_rank, is_near = near ? 1 : 0;
  const int64_t (&shape)[max_rank];
};

template <Format format, Access access, class Shape, class Elements, class T, int items>
__device__ __forceinline__ void load(const Shape& shape, const Operand& operand, const Elements& elements,
                                     T (&values)[items]) {
  Bits<T> words[items];
  load_operand(shape, KnownOperand<format, access>{operand.address, operand.strides}, elements, words);
  FERRULE_UNROLL
  for (int i = 0; i < items; ++i) values[i] = bits_as<T>(words[i]);
}
template <Format format, Access access, class Shape, class Elements, class T, int items>
__device__ __forceinline__ void store(const Shape& shape, const Operand& operand, const Elements& elements,
                                      const T (&values)[items]) {
  Bits<T> words[items];
  FERRULE_UNROLL
  for (int i = 0; i < items; ++i) words[i] = bits_as<Bits<T>>(values[i]);
  store_operand(shape, KnownOperand<format, access>{operand.address, operand.strides}, elements, words);
}

// Each function as a type, whose call passes the context to a function that takes it.
namespace calls {
#define FUNCTION(name, arity, types, ...)                                                       \
  struct name {                                                                                 \
    template <class T, class... Arguments>                                                      \
    __device__ __forceinline__ static auto call(const FaultContext& context, Arguments... of) { \
      if constexpr (requires { elementwise::name<T>(of..., context); })                         \
        return elementwise::name<T>(of..., context);                                            \
      else                                                                                      \
        return elementwise::name<T>(of...);                                                     \
    }                                                                                           \
  };
#include "parameters/elementwise_functions.inc"
#undef FUNCTION
}  // namespace calls

// results = as(format, Function<T>(arguments...)), as an Instruction does.
template <class Function, class T, Format format, class Result, int items, class... Values>
__device__ __forceinline__ void apply(const FaultContext& context, Result (&results)[items],
                                      const Values (&... arguments)[items]) {
  Bits<Result> words[items];
  FERRULE_UNROLL
  for (int i = 0; i < items; ++i) {
    const auto result =
        Function::template call<T>(context, Argument<Bits<Values>>{bits_as<Bits<Values>>(arguments[i])}...);
    words[i] = static_cast<Bits<Result>>(bits_as<Bits<decltype(+result)>>(+result));
  }
  round_to(format, words);
  FERRULE_UNROLL
  for (int i = 0; i < items; ++i) results[i] = bits_as<Result>(words[i]);
}

}  // namespace ferrule::cuda::elementwise
