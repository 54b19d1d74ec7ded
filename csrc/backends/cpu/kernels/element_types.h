// The C++ types of the elements of plain dtypes.
#pragma once

#include "half.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

template <class T>
constexpr bool is_float = static_cast<T>(0.5) != T(0);

// Calls f with a value of the type that represents a dtype; bool is uint8_t. Does nothing for other dtypes.
template <class F>
void with_type(DType dtype, F f) {
  switch (dtype) {
    case DType::boolean:
    case DType::u8:
      f(uint8_t{});
      break;
    case DType::i8:
      f(int8_t{});
      break;
    case DType::i16:
      f(int16_t{});
      break;
    case DType::i32:
      f(int32_t{});
      break;
    case DType::i64:
      f(int64_t{});
      break;
    case DType::u16:
      f(uint16_t{});
      break;
    case DType::u32:
      f(uint32_t{});
      break;
    case DType::u64:
      f(uint64_t{});
      break;
    case DType::f32:
      f(float{});
      break;
    case DType::f64:
      f(double{});
      break;
    case DType::f16:
      f(Float16{});
      break;
    case DType::bf16:
      f(BFloat16{});
      break;
    default:
      break;
  }
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
